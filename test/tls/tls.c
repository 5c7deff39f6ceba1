/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection over TLS is used as one without. */
#include "tls/kit.h"

#include <netinet/in.h>

static struct tls_net net;

static void what_the_peer_sends_comes_back(void **state)
{
	for_each_case(kind, side, version)
	{
		tls_begin(&net, *kind, side, *version);
		net_start(&net.net,
			  weir_connection_run(net.net.connection, NULL, NULL));
		peer_handshake(&net);
		peer_text(&net, "hello");
		peer_expect(&net, "hello");
		peer_text(&net, "once more");
		peer_expect(&net, "once more");
		peer_end(&net);
		peer_expect_end(&net);
		net_over(&net.net, 0, 14);
		tls_end(&net);
	}
}

/* Neither flow needs the other one to run. */
static void who_only_reads_shakes_hands(void **state)
{
	for_each_case(kind, side, version)
	{
		tls_begin(&net, *kind, side, *version);
		net_start(&net.net, weir_flow_count(weir_connection_read(
					    net.net.connection, 3)));
		peer_handshake(&net);
		peer_text(&net, "nine here");
		peer_end(&net);
		net_over(&net.net, 0, 3);
		tls_end(&net);
	}
}

static void who_only_writes_shakes_hands(void **state)
{
	for_each_case(kind, side, version)
	{
		tls_begin(&net, *kind, side, *version);
		net_start(&net.net,
			  weir_connection_write(text_flow("nine here"),
						net.net.connection));
		peer_handshake(&net);
		peer_expect(&net, "nine here");
		peer_expect_end(&net);
		net_over(&net.net, 0, 9);
		tls_end(&net);
	}
}

static struct weir_flow *serve(struct weir_connection *client, void *ctx)
{
	if (weir_tls_accept(client, ctx, NULL, NULL) < 0)
		return NULL;
	return weir_connection_run(client, NULL, NULL);
}

static int heard[2];

static struct weir_flow *ask(struct weir_connection *server, void *ctx)
{
	struct weir_flow *ways[2];

	if (weir_tls_connect(server, ctx, "127.0.0.1", NULL, NULL) < 0)
		return NULL;
	ways[0] = weir_connection_write(text_flow("there and back"), server);
	ways[1] = weir_flow_write(weir_connection_read(server, 4096), heard[0]);
	return weir_flow_merge(ways, 2);
}

/* Both ends are ours, and are made as the pages show. */
static void a_client_of_ours_talks_to_a_server_of_ours(void **state)
{
	struct weir_listen_options options;
	struct weir_flow *flow;
	struct net client;
	char got[15] = {0};

	for_each_kind(kind)
	{
		net_begin(&net.net, *kind);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, heard), 0);
		options = listen_here(&net.net);
		flow = weir_flow_listen("127.0.0.1:0", &options);
		flow = weir_flow_each_connection(flow, 10, serve,
						 tls_server(CERT_GOOD, 0));
		net_start(&net.net, flow);
		client = net.net;
		flow = weir_flow_connect(net.net.address, NULL);
		flow = weir_flow_each_connection(flow, 1, ask, tls_client(0));
		net_start(&client, flow);
		net_over(&client, 0, 1);
		assert_int_equal(recv(heard[1], got, sizeof(got), MSG_DONTWAIT),
				 14);
		assert_string_equal(got, "there and back");
		weir_flow_run_end(net.net.run);
		net_over(&net.net, 0, 1);
		close(heard[0]);
		close(heard[1]);
		net_end(&net.net);
	}
}

static void what_was_agreed_on_is_told(void **state)
{
	static const unsigned char offers[] = "\x2h2\x8http/1.1";
	const unsigned char *name;
	unsigned int n;

	tls_begin(&net, &loop, WE_CONNECT, TLS1_3_VERSION);
	assert_int_equal(SSL_set_alpn_protos(weir_tls_ssl(net.net.connection),
					     offers, 12),
			 0);
	net_start(&net.net,
		  weir_connection_run(net.net.connection, NULL, NULL));
	peer_handshake(&net);
	peer_text(&net, "a");
	peer_expect(&net, "a");
	assert_string_equal(SSL_get_version(weir_tls_ssl(net.net.connection)),
			    "TLSv1.3");
	SSL_get0_alpn_selected(weir_tls_ssl(net.net.connection), &name, &n);
	assert_int_equal(n, 0);
	peer_end(&net);
	net_over(&net.net, 0, 1);
	tls_end(&net);
}

/* --- What is refused -------------------------------------------------------- */

static void bad_arguments_change_nothing(void **state)
{
	const struct weir_tls_options bad = {.reserved = {0, 1}};
	SSL_CTX *server = tls_server(CERT_GOOD, 0), *client = tls_client(0);
	struct weir_connection *connection;
	char longest[300];

	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	net_begin(&net.net, &loop);
	net_connect(&net.net, AF_INET, NULL);
	connection = net.net.connection;
	assert_int_equal(weir_tls_accept(NULL, server, NULL, NULL), -EINVAL);
	assert_int_equal(weir_tls_accept(connection, NULL, NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_tls_accept(connection, server, &bad, NULL),
			 -EINVAL);
	assert_int_equal(weir_tls_connect(NULL, client, "a", NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_tls_connect(connection, NULL, "a", NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_tls_connect(connection, client, NULL, NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_tls_connect(connection, client, "", NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_tls_connect(connection, client, longest, NULL,
					  NULL),
			 -EINVAL);
	assert_int_equal(weir_tls_connect(connection, client, "a", &bad, NULL),
			 -EINVAL);
	assert_null(weir_tls_ssl(connection));
	assert_null(weir_tls_ssl(NULL));
	/* it is plain still */
	net_start(&net.net, weir_connection_run(connection, NULL, NULL));
	send_text(net.net.peer, "plain");
	expect_text(&net.net, net.net.peer, "plain");
	assert_int_equal(weir_tls_accept(connection, server, NULL, NULL),
			 -EALREADY);
	assert_int_equal(shutdown(net.net.peer, SHUT_WR), 0);
	net_over(&net.net, 0, 5);
	net_end(&net.net);
}

static void a_second_layer_is_refused(void **state)
{
	SSL *ssl;

	tls_begin(&net, &loop, WE_ACCEPT, TLS1_3_VERSION);
	ssl = weir_tls_ssl(net.net.connection);
	assert_non_null(ssl);
	assert_int_equal(weir_tls_accept(net.net.connection,
					 tls_server(CERT_GOOD, 0), NULL, NULL),
			 -EALREADY);
	assert_int_equal(weir_tls_connect(net.net.connection, tls_client(0),
					  "a", NULL, NULL),
			 -EALREADY);
	assert_ptr_equal(weir_tls_ssl(net.net.connection), ssl);
	tls_end(&net);
}

static void a_pipe_of_connections_takes_none_with_tls(void **state)
{
	struct weir_connection *plain;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	int fds[2];

	tls_begin(&net, &loop, WE_ACCEPT, TLS1_3_VERSION);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(weir_connection_new(&plain, fds[0], NULL, NULL), 0);
	flow = weir_connection_pipe(plain, net.net.connection, NULL);
	assert_int_equal(weir_flow_start(flow, net.net.place.executor, NULL,
					 &run),
			 -ENOTSUP);
	weir_flow_free(flow);
	/* both can be run still */
	net_start(&net.net,
		  weir_connection_run(net.net.connection, NULL, NULL));
	peer_handshake(&net);
	peer_end(&net);
	net_over(&net.net, 0, 0);
	weir_connection_unref(plain);
	assert_int_equal(close(fds[1]), 0);
	tls_end(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_peer_sends_comes_back),
		cmocka_unit_test(who_only_reads_shakes_hands),
		cmocka_unit_test(who_only_writes_shakes_hands),
		cmocka_unit_test(a_client_of_ours_talks_to_a_server_of_ours),
		cmocka_unit_test(what_was_agreed_on_is_told),
		cmocka_unit_test(bad_arguments_change_nothing),
		cmocka_unit_test(a_second_layer_is_refused),
		cmocka_unit_test(a_pipe_of_connections_takes_none_with_tls),
	};

	return cmocka_run_group_tests(tests, tls_kit_begin, tls_kit_end);
}
