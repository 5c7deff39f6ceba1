/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS upon connections, by OpenSSL 3. A library of its own, libweir-tls, which
 * is there where weir was built with OpenSSL: pkg-config weir-tls. weir.h does
 * not include this header.
 *
 * A server over TLS is one over TCP (connection.h) with one line more:
 *
 *	static struct weir_flow *echo(struct weir_connection *client, void *ctx)
 *	{
 *		if (weir_tls_accept(client, ctx, NULL, NULL) < 0)
 *			return NULL;
 *		return weir_connection_run(client, NULL, NULL);
 *	}
 *
 * 1. TLS is a layer of the connection (weir_connection_put_layer()): its two
 *    flows carry plain bytes from then on, with all that they do otherwise.
 *    Demand reaches the kernel both ways: while downstream wants nothing, one
 *    record is read ahead at most.
 * 2. The handshake is done by whichever flow runs, as soon as it runs, also
 *    without demand. So are key updates and session tickets.
 * 3. The end of the write flow is a close_notify and a FIN; a close_notify ends
 *    the read flow, and the write flow goes on (a half-close). An end of the
 *    peer without a close_notify is -EPROTO (`allow_truncation`).
 * 4. Renegotiation is refused. What the SSL_CTX says counts for all else:
 *    versions, ciphers, certificates, ALPN, sessions.
 * 5. When TLS fails, both flows do, with the reason that OpenSSL has as their
 *    message. The peer gets its alert, and the time of `linger_ns` to take it.
 *    -EPROTO: the peer does not speak TLS, does it wrongly, has sent an alert,
 *    or has ended without a close_notify. -EKEYREJECTED: its certificate is not
 *    accepted. -ETIMEDOUT: the handshake takes too long. -ENOMEM.
 * 6. What OpenSSL keeps for a connection is from malloc(3).
 */
#ifndef WEIR_TLS_H
#define WEIR_TLS_H

#include <weir/connection.h>

#ifdef __cplusplus
extern "C" {
#endif

/* OpenSSL's own names: SSL_CTX and SSL. */
struct ssl_ctx_st;
struct ssl_st;

/* 0 is the default of each. */
struct weir_tls_options {
	/* How long the handshake may take, from when a flow runs. 60 s;
	 * WEIR_FOREVER: no limit. Needs an executor with timers. */
	uint64_t handshake_ns;
	/* The peer may end without a close_notify, as some do: who can cut the
	 * connection can cut its bytes short then. */
	bool allow_truncation;
	/* Of a client: the certificate of the server is looked at as the SSL_CTX
	 * says (SSL_CTX_set_verify()), and its name is not. */
	bool no_verify;
	uint64_t reserved[4]; /* zero */
};

/*
 * Makes a connection that a client has opened one over TLS. `ctx` gets one more
 * reference. `options` is copied and may be NULL; `allocator` NULL means the
 * default one, and lives as long as the connection. 0. -EINVAL: null, something
 * in `reserved`. -EALREADY: the connection has a layer, or was read or written.
 * -ENOMEM, also where OpenSSL fails. An error changes nothing. Who calls this
 * has the connection to itself.
 */
WEIR_API WEIR_MUST_CHECK int weir_tls_accept(
	struct weir_connection *connection, struct ssl_ctx_st *ctx,
	const struct weir_tls_options *options,
	const struct weir_allocator *allocator);

/*
 * As weir_tls_accept(), of a connection to a server. `host`, which is copied, is
 * the name that the server is told (SNI) and that its certificate must have; an
 * IP address is looked for in the certificate only. The certificate must be of
 * an authority that `ctx` trusts (SSL_CTX_set_default_verify_paths()). -EINVAL:
 * also no `host`, unless there is `no_verify`, or one that is none.
 */
WEIR_API WEIR_MUST_CHECK int weir_tls_connect(
	struct weir_connection *connection, struct ssl_ctx_st *ctx,
	const char *host, const struct weir_tls_options *options,
	const struct weir_allocator *allocator);

/*
 * OpenSSL's object, borrowed: for what is agreed on (SSL_get_version(),
 * SSL_get0_alpn_selected(), SSL_get1_peer_certificate()), asked by functions of
 * the flow that reads, which know that the handshake is over when they have got
 * an item, and for what is to be set before a flow runs. NULL: the connection
 * has no TLS. Both flows use it, under a lock of their own.
 */
WEIR_API struct ssl_st *weir_tls_ssl(const struct weir_connection *connection);

#ifdef __cplusplus
}
#endif

#endif
