/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers that are not accepted, or do not accept us: each side learns why. */
#include "tls/kit.h"

#include <openssl/err.h>

static struct tls_net net;

static void begin(const struct kind *kind, unsigned int side, SSL_CTX *ctx,
		  SSL_CTX *peer_ctx, const struct weir_tls_options *options)
{
	tls_begin_with(&net, kind, side, ctx, peer_ctx, options, NULL);
	net_start(&net.net,
		  weir_connection_run(net.net.connection, NULL, NULL));
}

/* --- Certificates --------------------------------------------------------- */

/* The server is told by an alert; in TLS 1.3 it is through by then. */
static void a_server_is_refused(enum tls_cert cert, const char *why,
				const char *alert)
{
	for_each_kind(kind)
	{
		for (size_t i = 0; i < 2; i++) {
			begin(*kind, WE_CONNECT, tls_client(tls_versions[i]),
			      tls_server(cert, tls_versions[i]), NULL);
			peer_handshake_fails(&net, alert);
			peer_close(&net);
			tls_over(&net, -EKEYREJECTED, why);
			tls_end(&net);
		}
	}
}

static void a_certificate_for_another_host_is_refused(void **state)
{
	a_server_is_refused(CERT_OTHER, "hostname mismatch", "bad certificate");
}

static void a_certificate_that_has_expired_is_refused(void **state)
{
	a_server_is_refused(CERT_EXPIRED, "certificate has expired",
			    "certificate expired");
}

static void a_certificate_of_no_authority_is_refused(void **state)
{
	a_server_is_refused(CERT_SELF, "self-signed certificate", "unknown ca");
}

static void who_does_not_verify_takes_any_certificate(void **state)
{
	const struct weir_tls_options options = {.no_verify = true};
	static const enum tls_cert certs[] = {CERT_OTHER, CERT_EXPIRED,
					      CERT_SELF};
	size_t i;

	for (i = 0; i < 3; i++) {
		begin(&loop, WE_CONNECT, tls_client(0), tls_server(certs[i], 0),
		      &options);
		peer_handshake(&net);
		peer_text(&net, "hello");
		peer_expect(&net, "hello");
		peer_end(&net);
		net_over(&net.net, 0, 5);
		tls_end(&net);
	}
}

/* As `host` the address that the certificate has, or another one. */
static void an_address_is_looked_for_in_the_certificate(void **state)
{
	static const char *const hosts[] = {"127.0.0.1", "127.0.0.2"};
	size_t i;

	for (i = 0; i < 2; i++) {
		net_begin(&net.net, &loop);
		net_connect(&net.net, AF_INET, NULL);
		assert_int_equal(weir_tls_connect(net.net.connection,
						  tls_client(0), hosts[i], NULL,
						  NULL),
				 0);
		net.peer = SSL_new(tls_server(CERT_GOOD, 0));
		assert_int_equal(SSL_set_fd(net.peer, net.net.peer), 1);
		assert_int_equal(fcntl(net.net.peer, F_SETFL, O_NONBLOCK), 0);
		SSL_set_accept_state(net.peer);
		net_start(&net.net,
			  weir_connection_run(net.net.connection, NULL, NULL));
		if (i == 0) {
			peer_handshake(&net);
			/* it is told no name */
			assert_null(SSL_get_servername(
				net.peer, TLSEXT_NAMETYPE_host_name));
			peer_end(&net);
			net_over(&net.net, 0, 0);
		} else {
			peer_handshake_fails(&net, "bad certificate");
			peer_close(&net);
			tls_over(&net, -EKEYREJECTED, "IP address mismatch");
		}
		tls_end(&net);
	}
}

static void the_server_is_told_the_name_of_the_host(void **state)
{
	begin(&loop, WE_CONNECT, tls_client(0), tls_server(CERT_GOOD, 0), NULL);
	peer_handshake(&net);
	assert_string_equal(SSL_get_servername(net.peer,
					       TLSEXT_NAMETYPE_host_name),
			    "server.test");
	peer_end(&net);
	net_over(&net.net, 0, 0);
	tls_end(&net);
}

static void a_client_without_a_certificate_is_refused(void **state)
{
	for_each_kind(kind)
	{
		for (size_t i = 0; i < 2; i++) {
			begin(*kind, WE_ACCEPT,
			      tls_server_asking(tls_versions[i]),
			      tls_client(tls_versions[i]), NULL);
			if (i == 0) {
				peer_handshake_fails(&net, "alert");
			} else {
				/* it is through, and learns of it behind */
				peer_handshake(&net);
				peer_read_fails(&net, "certificate required");
			}
			peer_close(&net);
			tls_over(&net, -EPROTO, "did not return a certificate");
			tls_end(&net);
		}
	}
}

static void a_client_of_no_authority_is_refused(void **state)
{
	for_each_kind(kind)
	{
		for (size_t i = 0; i < 2; i++) {
			begin(*kind, WE_ACCEPT,
			      tls_server_asking(tls_versions[i]),
			      tls_client_with(CERT_SELF, tls_versions[i]),
			      NULL);
			if (i == 0) {
				peer_handshake_fails(&net, "unknown ca");
			} else {
				peer_handshake(&net);
				peer_read_fails(&net, "unknown ca");
			}
			peer_close(&net);
			tls_over(&net, -EKEYREJECTED, "self-signed");
			tls_end(&net);
		}
	}
}

/* We are the client: behind our handshake, the server says no. */
static void we_are_told_why_we_are_refused(void **state)
{
	for_each_kind(kind)
	{
		for (size_t i = 0; i < 2; i++) {
			begin(*kind, WE_CONNECT, tls_client(tls_versions[i]),
			      tls_server_asking(tls_versions[i]), NULL);
			peer_handshake_fails(&net, "did not return");
			/* we linger until it ends */
			assert_int_equal(shutdown(net.net.peer, SHUT_WR), 0);
			tls_over(&net, -EPROTO, "alert");
			tls_end(&net);
		}
	}
}

static void no_common_version_is_told_to_both(void **state)
{
	for_each_kind(kind)
	{
		begin(*kind, WE_ACCEPT, tls_server(CERT_GOOD, TLS1_3_VERSION),
		      tls_client(TLS1_2_VERSION), NULL);
		peer_handshake_fails(&net, "alert protocol version");
		peer_close(&net);
		tls_over(&net, -EPROTO, "unsupported protocol");
		tls_end(&net);
	}
}

/* --- Other bytes ------------------------------------------------------------ */

static void plain_bytes_are_no_tls(void **state)
{
	static const char *const texts[] = {
		"GET / HTTP/1.1\r\n\r\n",
		"EHLO there\r\n",
		"\x16\x03\x01\xff\xff and so on, for more than a header",
	};
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 6; i++) {
			begin(*kind, (unsigned int)i / 3,
			      i / 3 == WE_ACCEPT ? tls_server(CERT_GOOD, 0)
						 : tls_client(0),
			      NULL, NULL);
			send_text(net.net.peer, texts[i % 3]);
			assert_int_equal(shutdown(net.net.peer, SHUT_WR), 0);
			tls_over(&net, -EPROTO, "");
			tls_end(&net);
		}
	}
}

/* A byte of a record is another one: the peer gets its alert, and no more. */
static void a_record_that_was_changed_is_refused(void **state)
{
	char record[64] = {23, 3, 3, 0, 40};

	for_each_kind(kind)
	{
		for (size_t i = 0; i < 2; i++) {
			tls_begin(&net, *kind, WE_ACCEPT, tls_versions[i]);
			net_start(&net.net,
				  weir_connection_run(net.net.connection, NULL,
						      NULL));
			peer_handshake(&net);
			peer_text(&net, "hello");
			peer_expect(&net, "hello");
			assert_int_equal(send(net.net.peer, record, 45,
					      MSG_NOSIGNAL),
					 45);
			peer_read_fails(&net, "bad record mac");
			peer_close(&net);
			tls_over(&net, -EPROTO, "bad record mac");
			tls_end(&net);
		}
	}
}

/* The peer asks for it, and waits for the answer. True: it waits on. */
static bool renegotiates(void)
{
	char got;
	int rc;

	ERR_clear_error();
	rc = SSL_do_handshake(net.peer);
	if (rc == 1)
		rc = SSL_read(net.peer, &got, 1);
	return SSL_get_error(net.peer, rc) == SSL_ERROR_WANT_READ;
}

static void renegotiation_is_refused(void **state)
{
	const char *reason;

	for_each_kind(kind)
	{
		for (unsigned int side = 0; side < 2; side++) {
			tls_begin(&net, *kind, side, TLS1_2_VERSION);
			net_start(&net.net,
				  weir_connection_run(net.net.connection, NULL,
						      NULL));
			peer_handshake(&net);
			assert_int_equal(SSL_renegotiate(net.peer), 1);
			while (renegotiates())
				net_drive(&net.net);
			reason = ERR_reason_error_string(ERR_get_error());
			assert_string_equal(reason ? reason : "none",
					    "no renegotiation");
			peer_close(&net);
			tls_over(&net, -EPROTO, "");
			tls_end(&net);
		}
	}
}

/* --- Time --------------------------------------------------------------------- */

static void a_handshake_that_takes_too_long_fails_both_flows(void **state)
{
	const struct weir_tls_options options = {.handshake_ns = 1000000};
	struct weir_flow *flow;
	struct weir_flow_run *reads;
	struct weir_error *error;

	for_each_kind(kind)
	{
		for (unsigned int side = 0; side < 2; side++) {
			tls_begin_with(&net, *kind, side,
				       side == WE_ACCEPT
					       ? tls_server(CERT_GOOD, 0)
					       : tls_client(0),
				       NULL, &options, NULL);
			flow = weir_flow_ignore(
				weir_connection_read(net.net.connection, 64));
			assert_int_equal(weir_flow_start(flow,
							 net.net.place.executor,
							 NULL, &reads),
					 0);
			net_start(&net.net,
				  weir_connection_write(text_flow("never"),
							net.net.connection));
			assert_int_equal(weir_flow_run_wait(reads, WEIR_FOREVER,
							    NULL, &error),
					 0);
			assert_int_equal(error->code, -ETIMEDOUT);
			weir_error_unref(error);
			weir_flow_run_free(reads);
			weir_flow_free(flow);
			net_over(&net.net, -ETIMEDOUT, 0);
			tls_end(&net);
		}
	}
}

/* One nanosecond before it nothing has happened, by the simulator's clock. */
static void a_handshake_has_a_minute_by_default(void **state)
{
	const uint64_t minute = UINT64_C(60000000000);
	struct weir_executor *executor;
	uint64_t began;

	tls_begin_with(&net, &sim, WE_ACCEPT, tls_server(CERT_GOOD, 0), NULL,
		       NULL, NULL);
	executor = net.net.place.executor;
	net_start(&net.net,
		  weir_connection_run(net.net.connection, NULL, NULL));
	began = weir_executor_now(executor);
	(void)weir_sim_run_until(net.net.place.sim, began + minute - 1, 100000);
	assert_false(net_is_over(&net.net));
	(void)weir_sim_run_until(net.net.place.sim, began + minute, 100000);
	assert_true(net_is_over(&net.net));
	tls_over(&net, -ETIMEDOUT, "handshake");
	tls_end(&net);
}

/* The limit is for the handshake alone. */
static void behind_the_handshake_there_is_no_limit(void **state)
{
	const uint64_t hour = UINT64_C(3600000000000);
	struct weir_executor *executor;

	tls_begin(&net, &sim, WE_ACCEPT, TLS1_3_VERSION);
	executor = net.net.place.executor;
	net_start(&net.net,
		  weir_connection_run(net.net.connection, NULL, NULL));
	peer_handshake(&net);
	peer_text(&net, "a");
	peer_expect(&net, "a");
	(void)weir_sim_run_until(net.net.place.sim,
				 weir_executor_now(executor) + hour, 100000);
	peer_text(&net, "b");
	peer_expect(&net, "b");
	peer_end(&net);
	net_over(&net.net, 0, 2);
	tls_end(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_certificate_for_another_host_is_refused),
		cmocka_unit_test(a_certificate_that_has_expired_is_refused),
		cmocka_unit_test(a_certificate_of_no_authority_is_refused),
		cmocka_unit_test(who_does_not_verify_takes_any_certificate),
		cmocka_unit_test(an_address_is_looked_for_in_the_certificate),
		cmocka_unit_test(the_server_is_told_the_name_of_the_host),
		cmocka_unit_test(a_client_without_a_certificate_is_refused),
		cmocka_unit_test(a_client_of_no_authority_is_refused),
		cmocka_unit_test(we_are_told_why_we_are_refused),
		cmocka_unit_test(no_common_version_is_told_to_both),
		cmocka_unit_test(plain_bytes_are_no_tls),
		cmocka_unit_test(a_record_that_was_changed_is_refused),
		cmocka_unit_test(renegotiation_is_refused),
		cmocka_unit_test(
			a_handshake_that_takes_too_long_fails_both_flows),
		cmocka_unit_test(a_handshake_has_a_minute_by_default),
		cmocka_unit_test(behind_the_handshake_there_is_no_limit),
	};

	return cmocka_run_group_tests(tests, tls_kit_begin, tls_kit_end);
}
