/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS as a layer of a connection. Two flows use one SSL object, which is not for
 * two threads at once: so a lock is held while OpenSSL works on some records.
 *
 * What OpenSSL makes goes into memory (wire.h) and from there to the kernel. The
 * plain bytes of records of which the kernel does not have all are `held`: they
 * are counted as written as records go out, the last of them with the last byte.
 * So who writes comes again with them, and they are passed over then.
 */
#include <weir/tls.h>

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "tls/wire.h"

#define HANDSHAKE_NS UINT64_C(60000000000)
#define RECORD 16384u /* plain bytes */
#define AROUND 512u   /* the most that a record is longer */
#define AT_ONCE 4u    /* records that one call makes */
#define AHEAD (4u * (RECORD + AROUND))

struct tls {
	struct weir__tls_wire wire;
	pthread_mutex_t lock; /* over all of this */
	SSL *ssl;
	size_t held;
	bool told;    /* our close_notify is made */
	int code;     /* 0, or the negative errno with which it has failed */
	bool is_ours; /* TLS has, and not the socket */
	char message[160]; /* why */
};

/* --- How it fails --------------------------------------------------------- */

static void set_code(struct tls *self, int code, const char *message,
		     const char *more)
{
	self->code = code;
	self->is_ours = true;
	(void)snprintf(self->message, sizeof(self->message), "%s%s%s", message,
		       more ? ": " : "", more ? more : "");
}

/* What OpenSSL says first; what TLS says goes before what its ciphers say. */
static unsigned long take_reason(void)
{
	unsigned long first = ERR_get_error(), reason = first;

	while (reason != 0 && ERR_GET_LIB(reason) != ERR_LIB_SSL)
		reason = ERR_get_error();
	return reason ? reason : first;
}

static void set_reason(struct tls *self)
{
	unsigned long reason = take_reason();
	const char *text = ERR_reason_error_string(reason);
	long verified = SSL_get_verify_result(self->ssl);

	if (ERR_GET_REASON(reason) == ERR_R_MALLOC_FAILURE)
		self->code = -ENOMEM;
	else if (ERR_GET_REASON(reason) == SSL_R_CERTIFICATE_VERIFY_FAILED)
		set_code(self, -EKEYREJECTED, text,
			 X509_verify_cert_error_string(verified));
	else
		set_code(self, -EPROTO, text ? text : "TLS has failed", NULL);
}

/* OpenSSL has failed. */
static void fail(struct tls *self)
{
	if (self->code == 0) {
		if (self->wire.code < 0)
			self->code = self->wire.code;
		else if (self->wire.ended)
			set_code(self, -EPROTO,
				 "the peer has ended without a close_notify",
				 NULL);
		else
			set_reason(self);
	}
	ERR_clear_error();
}

/* The result of a call was `rc`, no success. -EAGAIN: it needs more bytes; 0:
 * the peer has ended; or how it has failed. */
static int judge(struct tls *self, int rc)
{
	switch (SSL_get_error(self->ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		if (SSL_is_init_finished(self->ssl))
			return 0;
		break;
	default:
		break;
	}
	fail(self);
	return self->code;
}

/* --- Calls ---------------------------------------------------------------- */

static void enter(struct tls *self, int fd)
{
	(void)pthread_mutex_lock(&self->lock);
	self->wire.fd = fd;
	self->wire.blind = self->wire.empty = false;
	ERR_clear_error();
}

static ssize_t leave(struct tls *self, ssize_t rc)
{
	(void)pthread_mutex_unlock(&self->lock);
	return rc;
}

/* What there is goes out. 0, -EAGAIN with *events, or how it has failed. */
static int flush(struct tls *self, short *events)
{
	size_t sent = 0;
	int rc = weir__tls_wire_flush(&self->wire, &sent);

	if (rc == -EAGAIN)
		*events |= POLLOUT;
	else if (rc < 0)
		fail(self);
	return rc;
}

static int handshake(struct tls *self, short *events)
{
	int rc, flushed;

	if (self->code < 0)
		return self->code;
	rc = SSL_do_handshake(self->ssl);
	rc = rc == 1 ? 0 : judge(self, rc);
	flushed = flush(self, events);
	if (rc == -EAGAIN)
		*events |= POLLIN;
	return rc < 0 ? rc : flushed;
}

static int tls_open(int fd, short *events, void *context)
{
	struct tls *self = context;

	enter(self, fd);
	return (int)leave(self, handshake(self, events));
}

/* --- Reading -------------------------------------------------------------- */

/* No demand: what comes in front of the next bytes is done, and these wait. */
static int look(struct tls *self)
{
	size_t n;
	char byte;
	int rc;

	if (SSL_pending(self->ssl) > 0)
		return 0;
	rc = SSL_peek_ex(self->ssl, &byte, 1, &n);
	return rc == 1 ? 0 : judge(self, rc);
}

/* The number of bytes; 0: the peer has ended; or -EAGAIN, or how it has failed;
 * if there are bytes the next call tells of these. */
static ssize_t fill(struct tls *self, char *to, size_t n, short *events)
{
	size_t sum = 0, got;
	int rc;

	while (sum < n) {
		rc = SSL_read_ex(self->ssl, to + sum, n - sum, &got);
		if (rc != 1) {
			rc = judge(self, rc);
			if (rc == -EAGAIN)
				*events |= POLLIN;
			return sum > 0 ? (ssize_t)sum : rc;
		}
		sum += got;
		self->wire.blind = true;
	}
	return (ssize_t)sum;
}

static ssize_t read_some(struct tls *self, char *to, size_t n, short *events)
{
	ssize_t rc;

	if (self->code < 0)
		return self->code;
	if (n > 0) {
		rc = fill(self, to, n, events);
	} else {
		rc = look(self);
		if (rc == -EAGAIN)
			*events |= POLLIN;
	}
	/* what answers the peer; a failure is told next time */
	(void)flush(self, events);
	return rc;
}

static ssize_t tls_read(void *to, size_t n, int fd, short *events,
			void *context)
{
	struct tls *self = context;

	enter(self, fd);
	return leave(self, read_some(self, to, n, events));
}

/* --- Writing -------------------------------------------------------------- */

/* Parts, from a place on. */
struct cursor {
	const struct iovec *parts;
	int n, i;
	size_t at; /* in part `i` */
};

static size_t cursor_left(const struct cursor *cursor)
{
	size_t left = 0;
	int i;

	for (i = cursor->i; i < cursor->n; i++)
		left += cursor->parts[i].iov_len;
	return left - cursor->at;
}

static void cursor_move(struct cursor *cursor, size_t n)
{
	size_t left;

	while (cursor->i < cursor->n) {
		left = cursor->parts[cursor->i].iov_len - cursor->at;
		if (n < left) {
			cursor->at += n;
			return;
		}
		n -= left;
		cursor->i++;
		cursor->at = 0;
	}
}

static void cursor_copy(struct cursor cursor, char *to, size_t n)
{
	size_t left;

	while (n > 0) {
		left = cursor.parts[cursor.i].iov_len - cursor.at;
		if (left > n)
			left = n;
		if (left > 0)
			memcpy(to,
			       (char *)cursor.parts[cursor.i].iov_base +
				       cursor.at,
			       left);
		to += left;
		n -= left;
		cursor_move(&cursor, left);
	}
}

/* One record, of up to `n` bytes. */
static int seal(struct tls *self, struct cursor *cursor, size_t n)
{
	const struct iovec *part;
	char copy[RECORD];
	const char *from = copy;
	size_t written;
	int rc;

	cursor_move(cursor, 0);
	part = &cursor->parts[cursor->i];
	if (part->iov_len - cursor->at >= n)
		from = (const char *)part->iov_base + cursor->at;
	else
		cursor_copy(*cursor, copy, n);
	rc = SSL_write_ex(self->ssl, from, n, &written);
	if (rc != 1) {
		/* it never waits: there is memory, and the handshake is over */
		fail(self);
		return self->code;
	}
	assert(written == n);
	self->held += n;
	cursor_move(cursor, n);
	return 0;
}

static int seal_some(struct tls *self, const struct iovec *parts, int n)
{
	struct cursor cursor = {.parts = parts, .n = n};
	size_t left = cursor_left(&cursor), next;
	int rc;

	if (left > AT_ONCE * RECORD)
		left = AT_ONCE * RECORD;
	rc = weir__tls_wire_reserve(&self->wire,
				    left + (left / RECORD + 1) * AROUND);
	if (rc < 0)
		fail(self);
	for (; rc == 0 && left > 0; left -= next) {
		next = left < RECORD ? left : RECORD;
		rc = seal(self, &cursor, next);
	}
	return rc;
}

/* As bytes go out, those that they were made of are written. */
static ssize_t unhold(struct tls *self, bool all, size_t sent)
{
	size_t n = self->held;

	if (!all && n > 0)
		n = sent < n - 1 ? sent : n - 1;
	self->held -= n;
	return n > 0 ? (ssize_t)n : -EAGAIN;
}

static ssize_t write_some(struct tls *self, const struct iovec *parts, int n,
			  short *events)
{
	size_t sent = 0;
	int rc = self->code;

	if (rc == 0 && self->held == 0)
		rc = seal_some(self, parts, n);
	if (rc < 0)
		return rc;
	rc = weir__tls_wire_flush(&self->wire, &sent);
	if (rc < 0 && rc != -EAGAIN) {
		fail(self);
		return self->code;
	}
	if (rc == -EAGAIN)
		*events |= POLLOUT;
	return unhold(self, rc == 0, sent);
}

static ssize_t tls_write(const struct iovec *parts, int n, int fd,
			 short *events, void *context)
{
	struct tls *self = context;

	enter(self, fd);
	return leave(self, write_some(self, parts, n, events));
}

/* --- The end -------------------------------------------------------------- */

static int end(struct tls *self, short *events)
{
	int rc = 0;

	if (!self->told && self->code == 0) {
		rc = SSL_shutdown(self->ssl);
		if (rc < 0) {
			fail(self);
			return self->code;
		}
		self->told = true;
	}
	return flush(self, events);
}

static int tls_end(int fd, short *events, void *context)
{
	struct tls *self = context;

	enter(self, fd);
	return (int)leave(self, end(self, events));
}

static const char *tls_reason(void *context)
{
	struct tls *self = context;
	const char *reason;

	(void)pthread_mutex_lock(&self->lock);
	reason = self->code < 0 && self->is_ours ? self->message : NULL;
	(void)pthread_mutex_unlock(&self->lock);
	return reason;
}

/* --- The layer ------------------------------------------------------------ */

static void destroy(struct tls *self)
{
	const struct weir_allocator *allocator = self->wire.allocator;

	SSL_free(self->ssl);
	weir__tls_wire_fini(&self->wire);
	(void)pthread_mutex_destroy(&self->lock);
	allocator->free(self, sizeof(*self), allocator->context);
}

static void tls_free(void *context)
{
	destroy(context);
}

static const struct weir_connection_layer_ops tls_layer = {
	.open = tls_open,
	.read = tls_read,
	.write = tls_write,
	.end = tls_end,
	.reason = tls_reason,
	.free = tls_free,
};

static int set_up(struct tls *self, SSL_CTX *ctx,
		  const struct weir_tls_options *options)
{
	BIO *bio;

	self->ssl = SSL_new(ctx);
	bio = self->ssl ? weir__tls_wire_bio(&self->wire) : NULL;
	if (!bio)
		return -ENOMEM;
	SSL_set_bio(self->ssl, bio, bio);
	(void)SSL_set_options(self->ssl, SSL_OP_NO_RENEGOTIATION);
	if (options && options->allow_truncation)
		(void)SSL_set_options(self->ssl, SSL_OP_IGNORE_UNEXPECTED_EOF);
	(void)SSL_set_mode(self->ssl,
			   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY |
				   SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	(void)SSL_set_split_send_fragment(self->ssl, RECORD);
	SSL_set_read_ahead(self->ssl, 1);
	SSL_set_default_read_buffer_len(self->ssl, AHEAD);
	return 0;
}

static struct tls *create(SSL_CTX *ctx, const struct weir_tls_options *options,
			  const struct weir_allocator *allocator)
{
	struct tls *self;

	if (!allocator)
		allocator = weir_allocator_default();
	self = allocator->alloc(sizeof(*self), allocator->context);
	if (!self)
		return NULL;
	memset(self, 0, sizeof(*self));
	self->wire.allocator = allocator;
	if (pthread_mutex_init(&self->lock, NULL) != 0) {
		allocator->free(self, sizeof(*self), allocator->context);
		return NULL;
	}
	if (set_up(self, ctx, options) < 0) {
		destroy(self);
		self = NULL;
	}
	ERR_clear_error();
	return self;
}

static bool is_valid(const struct weir_tls_options *options)
{
	size_t i;

	for (i = 0; options && i < 4; i++)
		if (options->reserved[i] != 0)
			return false;
	return true;
}

static int put(struct weir_connection *connection, struct tls *self,
	       const struct weir_tls_options *options)
{
	uint64_t handshake_ns = options ? options->handshake_ns : 0;
	int rc;

	rc = weir_connection_put_layer(connection, &tls_layer, self,
				       handshake_ns ? handshake_ns
						    : HANDSHAKE_NS);
	if (rc < 0)
		destroy(self);
	return rc;
}

int weir_tls_accept(struct weir_connection *connection, SSL_CTX *ctx,
		    const struct weir_tls_options *options,
		    const struct weir_allocator *allocator)
{
	struct tls *self;

	if (!connection || !ctx || !is_valid(options))
		return -EINVAL;
	self = create(ctx, options, allocator);
	if (!self)
		return -ENOMEM;
	SSL_set_accept_state(self->ssl);
	return put(connection, self, options);
}

/* The host's certificate is looked at. An address is no name to be told. */
static int expect(SSL *ssl, const char *host, bool verifies)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
	ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
	bool is_address = address != NULL;
	int rc = 1;

	ASN1_OCTET_STRING_free(address);
	if (!is_address)
		rc = SSL_set_tlsext_host_name(ssl, host);
	if (rc == 1 && verifies)
		rc = is_address ? X509_VERIFY_PARAM_set1_ip_asc(param, host)
				: X509_VERIFY_PARAM_set1_host(param, host, 0);
	if (verifies) {
		X509_VERIFY_PARAM_set_hostflags(
			param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
		SSL_set_verify(ssl, SSL_VERIFY_PEER,
			       SSL_get_verify_callback(ssl));
	}
	ERR_clear_error();
	return rc == 1 ? 0 : -ENOMEM;
}

int weir_tls_connect(struct weir_connection *connection, SSL_CTX *ctx,
		     const char *host, const struct weir_tls_options *options,
		     const struct weir_allocator *allocator)
{
	bool verifies = !options || !options->no_verify;
	struct tls *self;
	int rc = 0;

	if (!connection || !ctx || !is_valid(options) || (!host && verifies) ||
	    (host && (!*host || strlen(host) > TLSEXT_MAXLEN_host_name)))
		return -EINVAL;
	self = create(ctx, options, allocator);
	if (!self)
		return -ENOMEM;
	SSL_set_connect_state(self->ssl);
	if (host)
		rc = expect(self->ssl, host, verifies);
	if (rc < 0) {
		destroy(self);
		return rc;
	}
	return put(connection, self, options);
}

SSL *weir_tls_ssl(const struct weir_connection *connection)
{
	struct tls *self = weir_connection_layer(connection, &tls_layer);

	return self ? self->ssl : NULL;
}
