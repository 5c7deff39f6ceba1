/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/kit.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

/* --- Certificates --------------------------------------------------------- */

#define DAY (24l * 3600)

static EVP_PKEY *authority_key, *keys[CERTS];
static X509 *authority, *certs[CERTS];
static SSL_CTX *made[256];
static size_t n_made;

static void extend(X509 *cert, int nid, const char *value)
{
	X509V3_CTX with;
	X509_EXTENSION *extension;

	X509V3_set_ctx_nodb(&with);
	X509V3_set_ctx(&with, cert, cert, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &with, nid, value);
	assert_non_null(extension);
	assert_int_equal(X509_add_ext(cert, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

static X509 *begin_cert(EVP_PKEY *key, const char *name, long from)
{
	static long serial;
	X509 *cert = X509_new();
	X509_NAME *subject = X509_get_subject_name(cert);

	assert_int_equal(X509_set_version(cert, X509_VERSION_3), 1);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial);
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), from));
	assert_non_null(
		X509_gmtime_adj(X509_getm_notAfter(cert), from + 300 * DAY));
	assert_int_equal(X509_set_pubkey(cert, key), 1);
	assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
						    (const unsigned char *)name,
						    -1, -1, 0),
			 1);
	return cert;
}

static void sign(X509 *cert, X509 *by, EVP_PKEY *key)
{
	assert_int_equal(X509_set_issuer_name(cert, X509_get_subject_name(by)),
			 1);
	assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
}

static EVP_PKEY *new_key(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");

	assert_non_null(key);
	return key;
}

static void make_cert(enum tls_cert which, const char *name, const char *names,
		      long from)
{
	X509 *cert;

	keys[which] = new_key();
	cert = begin_cert(keys[which], name, from);
	extend(cert, NID_subject_alt_name, names);
	if (which == CERT_SELF)
		sign(cert, cert, keys[which]);
	else
		sign(cert, authority, authority_key);
	certs[which] = cert;
}

int tls_kit_begin(void **state)
{
	authority_key = new_key();
	authority = begin_cert(authority_key, "the authority", -DAY);
	extend(authority, NID_basic_constraints, "critical,CA:TRUE");
	sign(authority, authority, authority_key);
	make_cert(CERT_GOOD, "server.test", "DNS:server.test,IP:127.0.0.1",
		  -DAY);
	make_cert(CERT_OTHER, "other.test", "DNS:other.test", -DAY);
	make_cert(CERT_EXPIRED, "server.test", "DNS:server.test", -665 * DAY);
	make_cert(CERT_SELF, "server.test", "DNS:server.test", -DAY);
	make_cert(CERT_CLIENT, "client.test", "DNS:client.test", -DAY);
	return 0;
}

int tls_kit_end(void **state)
{
	size_t i;

	while (n_made > 0)
		SSL_CTX_free(made[--n_made]);
	for (i = 0; i < CERTS; i++) {
		EVP_PKEY_free(keys[i]);
		X509_free(certs[i]);
	}
	EVP_PKEY_free(authority_key);
	X509_free(authority);
	return 0;
}

static void file_of(const char *directory, const char *name, X509 *cert,
		    EVP_PKEY *key)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	if (cert)
		assert_int_equal(PEM_write_X509(file, cert), 1);
	else
		assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0,
						      NULL, NULL),
				 1);
	assert_int_equal(fclose(file), 0);
}

void tls_write_files(const char *directory)
{
	file_of(directory, "authority.pem", authority, NULL);
	file_of(directory, "cert.pem", certs[CERT_GOOD], NULL);
	file_of(directory, "key.pem", NULL, keys[CERT_GOOD]);
}

static SSL_CTX *new_ctx(const SSL_METHOD *method, int version)
{
	SSL_CTX *ctx = SSL_CTX_new(method);

	assert_non_null(ctx);
	assert_true(n_made < sizeof(made) / sizeof(*made));
	made[n_made++] = ctx;
	if (version) {
		assert_int_equal(SSL_CTX_set_min_proto_version(ctx, version),
				 1);
		assert_int_equal(SSL_CTX_set_max_proto_version(ctx, version),
				 1);
	}
	assert_int_equal(
		X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), authority), 1);
	return ctx;
}

static SSL_CTX *with_cert(SSL_CTX *ctx, enum tls_cert cert)
{
	assert_int_equal(SSL_CTX_use_certificate(ctx, certs[cert]), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(ctx, keys[cert]), 1);
	return ctx;
}

SSL_CTX *tls_server(enum tls_cert cert, int version)
{
	return with_cert(new_ctx(TLS_server_method(), version), cert);
}

SSL_CTX *tls_server_asking(int version)
{
	SSL_CTX *ctx = tls_server(CERT_GOOD, version);

	SSL_CTX_set_verify(
		ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return ctx;
}

SSL_CTX *tls_client(int version)
{
	return new_ctx(TLS_client_method(), version);
}

SSL_CTX *tls_client_with(enum tls_cert cert, int version)
{
	return with_cert(tls_client(version), cert);
}

/* --- A connection with TLS -------------------------------------------------- */

void tls_begin_with(struct tls_net *net, const struct kind *kind,
		    unsigned int side, SSL_CTX *ctx, SSL_CTX *peer_ctx,
		    const struct weir_tls_options *options,
		    const struct weir_connection_options *connection)
{
	const int on = 1;

	net->peer = NULL;
	net->side = side;
	net_begin(&net->net, kind);
	net_connect(&net->net, AF_INET, connection);
	assert_int_equal(setsockopt(net->net.peer, IPPROTO_TCP, TCP_NODELAY,
				    &on, sizeof(on)),
			 0);
	if (side == WE_ACCEPT)
		assert_int_equal(weir_tls_accept(net->net.connection, ctx,
						 options, NULL),
				 0);
	else
		assert_int_equal(weir_tls_connect(net->net.connection, ctx,
						  "server.test", options, NULL),
				 0);
	if (!peer_ctx)
		return;
	net->peer = SSL_new(peer_ctx);
	assert_non_null(net->peer);
	assert_int_equal(fcntl(net->net.peer, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(SSL_set_fd(net->peer, net->net.peer), 1);
	if (side == WE_ACCEPT)
		SSL_set_connect_state(net->peer);
	else
		SSL_set_accept_state(net->peer);
}

/* Those of each version are made once. */
static SSL_CTX *usual(bool server, int version)
{
	static SSL_CTX *ctxs[2][2];
	SSL_CTX **ctx = &ctxs[server][version == TLS1_3_VERSION];

	if (!*ctx)
		*ctx = server ? tls_server(CERT_GOOD, version)
			      : tls_client(version);
	return *ctx;
}

void tls_begin(struct tls_net *net, const struct kind *kind, unsigned int side,
	       int version)
{
	net->version = version;
	tls_begin_with(net, kind, side, usual(side == WE_ACCEPT, version),
		       usual(side == WE_CONNECT, version), NULL, NULL);
}

void tls_end(struct tls_net *net)
{
	SSL_free(net->peer);
	net_end(&net->net);
}

/* True: the call is made once more. */
static bool peer_waits(struct tls_net *net, int rc)
{
	switch (SSL_get_error(net->peer, rc)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		net_drive(&net->net);
		return true;
	default:
		return false;
	}
}

static int shake(struct tls_net *net)
{
	int rc;

	do {
		ERR_clear_error();
		rc = SSL_do_handshake(net->peer);
	} while (rc != 1 && peer_waits(net, rc));
	return rc;
}

void peer_handshake(struct tls_net *net)
{
	assert_int_equal(shake(net), 1);
}

void peer_send(struct tls_net *net, const void *bytes, size_t n)
{
	int rc;

	do {
		ERR_clear_error();
		rc = SSL_write(net->peer, bytes, (int)n);
	} while (rc <= 0 && peer_waits(net, rc));
	assert_int_equal(rc, n);
}

void peer_text(struct tls_net *net, const char *text)
{
	peer_send(net, text, strlen(text));
}

static int peer_read(struct tls_net *net, void *to, size_t n)
{
	int rc;

	do {
		ERR_clear_error();
		rc = SSL_read(net->peer, to, (int)n);
	} while (rc <= 0 && peer_waits(net, rc));
	return rc;
}

void peer_take(struct tls_net *net, void *bytes, size_t n)
{
	char *to = bytes;
	int got;

	while (n > 0) {
		got = peer_read(net, to, n);
		assert_true(got > 0);
		to += got;
		n -= (size_t)got;
	}
}

void peer_expect(struct tls_net *net, const char *text)
{
	size_t n = strlen(text);
	char got[256];

	assert_true(n <= sizeof(got));
	peer_take(net, got, n);
	assert_memory_equal(got, text, n);
}

void peer_end(struct tls_net *net)
{
	int rc;

	do {
		ERR_clear_error();
		rc = SSL_shutdown(net->peer);
	} while (rc < 0 && peer_waits(net, rc));
	assert_true(rc >= 0);
	assert_int_equal(shutdown(net->net.peer, SHUT_WR), 0);
}

void peer_expect_end(struct tls_net *net)
{
	char got;
	int rc = peer_read(net, &got, 1);

	assert_int_equal(rc, 0);
	assert_int_equal(SSL_get_error(net->peer, rc), SSL_ERROR_ZERO_RETURN);
}

void peer_close(struct tls_net *net)
{
	assert_int_equal(close(net->net.peer), 0);
	net->net.peer = -1;
}

static void assert_reason(const char *reason)
{
	unsigned long code = ERR_get_error();
	const char *text = ERR_reason_error_string(code);

	assert_non_null(text);
	if (!strstr(text, reason))
		fail_msg("the peer says: %s", text);
}

void peer_handshake_fails(struct tls_net *net, const char *reason)
{
	assert_true(shake(net) <= 0);
	assert_reason(reason);
}

void peer_read_fails(struct tls_net *net, const char *reason)
{
	char got;

	assert_true(peer_read(net, &got, 1) <= 0);
	assert_reason(reason);
}

void tls_over(struct tls_net *net, int code, const char *message)
{
	struct weir_error *error;

	assert_int_equal(weir_flow_run_wait(net->net.run, WEIR_FOREVER, NULL,
					    &error),
			 0);
	assert_non_null(error);
	if (error->code != code || !strstr(error->message, message))
		fail_msg("%d: %s", error->code, error->message);
	weir_error_unref(error);
	weir_flow_run_free(net->net.run);
	weir_flow_free(net->net.flow);
	net->net.run = NULL;
	net->net.flow = NULL;
}
