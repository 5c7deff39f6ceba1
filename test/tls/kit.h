/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of TLS share: authorities and certificates, made anew in each
 * program, and a peer that is OpenSSL alone, over a socket of the test, which
 * does not block: the executor is driven while the peer waits.
 */
#ifndef WEIR_TEST_TLS_KIT_H
#define WEIR_TEST_TLS_KIT_H

#include "net/kit.h"

#include <fcntl.h>

#include <openssl/ssl.h>

#include <weir/tls.h>

/* --- Certificates --------------------------------------------------------- */

enum tls_cert {
	CERT_GOOD,    /* server.test and 127.0.0.1, of the authority */
	CERT_OTHER,   /* other.test */
	CERT_EXPIRED, /* server.test, a year ago */
	CERT_SELF,    /* server.test, by itself */
	CERT_CLIENT,  /* client.test, of the authority */
	CERTS,
};

/* With that certificate, or NULL for none, and the authority's. Lives until
 * tls_kit_end(). `version` is the only one that it speaks, or 0. */
SSL_CTX *tls_server(enum tls_cert cert, int version);
SSL_CTX *tls_client(int version);
/* A client that shows a certificate, and a server that asks for one. */
SSL_CTX *tls_client_with(enum tls_cert cert, int version);
SSL_CTX *tls_server_asking(int version);
/* Files of the authority, the good certificate and its key, in a directory. */
void tls_write_files(const char *directory);

/* Group functions of cmocka's. */
int tls_kit_begin(void **state);
int tls_kit_end(void **state);

/* --- A connection with TLS and its peer ------------------------------------- */

enum tls_side { WE_ACCEPT, WE_CONNECT };
static const int tls_versions[2] = {TLS1_2_VERSION, TLS1_3_VERSION};

#define for_each_case(kind, side, version) \
	for_each_kind( \
		kind) for (unsigned int side = 0; side < 2; \
			   side++) for (const int *version = tls_versions; \
					version < tls_versions + 2; version++)

struct tls_net {
	struct net net;
	SSL *peer;
	enum tls_side side;
	int version;
};

/* Over TCP, with the good certificate. Nothing has begun. */
void tls_begin(struct tls_net *net, const struct kind *kind, unsigned int side,
	       int version);
/* The same with all that may differ; NULL `peer_ctx`: the peer is a socket. */
void tls_begin_with(struct tls_net *net, const struct kind *kind,
		    unsigned int side, SSL_CTX *ctx, SSL_CTX *peer_ctx,
		    const struct weir_tls_options *options,
		    const struct weir_connection_options *connection);
void tls_end(struct tls_net *net);

/* Calls of the peer's, whose executor is driven meanwhile. */
void peer_handshake(struct tls_net *net);
void peer_send(struct tls_net *net, const void *bytes, size_t n);
void peer_text(struct tls_net *net, const char *text);
void peer_expect(struct tls_net *net, const char *text);
void peer_take(struct tls_net *net, void *bytes, size_t n);
/* Its close_notify, and a FIN. */
void peer_end(struct tls_net *net);
void peer_expect_end(struct tls_net *net);
/* It closes, and says nothing. */
void peer_close(struct tls_net *net);
/* Its call fails: with the reason that OpenSSL has. */
void peer_handshake_fails(struct tls_net *net, const char *reason);
void peer_read_fails(struct tls_net *net, const char *reason);

/* The run fails with this code, and a message that has this in it. */
void tls_over(struct tls_net *net, int code, const char *message);

#endif
