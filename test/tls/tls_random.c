/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client and a server, both of ours, whose calls are interrupted, give
 * nothing, or do less than they were asked: each byte comes back once, in its
 * place. And peers that send what is no TLS, or is TLS with bytes changed:
 * that never gets through.
 */
#include "tls/kit.h"

#include "base/random.h"
#include "kit/calls.h"

#define MOST 30000

static struct tls_net net;
static uint64_t drawn;

static uint64_t draw(uint64_t bound)
{
	return weir__splitmix(&drawn) % bound;
}

/* --- Bytes there and back ---------------------------------------------------- */

static char sent[MOST], got[MOST];
static size_t all, n_sent, n_got;

static int next_piece(void **state, void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	size_t n = draw(draw(3) ? 300 : 30000);

	if (n_sent == all)
		return 0;
	if (n > all - n_sent)
		n = all - n_sent;
	assert_int_equal(weir_flow_bytes_new(&bytes, n, NULL), 0);
	memcpy(bytes->data, sent + n_sent, n);
	n_sent += n;
	*item = bytes;
	return 1;
}

static int take_piece(void *item, void *context)
{
	const struct weir_flow_bytes *bytes = item;

	assert_true(bytes->n <= all - n_got);
	memcpy(got + n_got, bytes->data, bytes->n);
	n_got += bytes->n;
	return 1;
}

/* Cuts that the bytes do not notice. */
static struct weir_flow *between(struct weir_flow *flow)
{
	switch (draw(4)) {
	case 0:
		return weir_flow_async(flow, 1, NULL);
	case 1:
		return weir_flow_async(flow, 8, NULL);
	case 2:
		return weir_flow_buffer(flow, 16, WEIR_OVERFLOW_BACK_PRESSURE);
	default:
		return flow;
	}
}

static size_t draw_size(void)
{
	return draw(3) ? draw(30000) + 1 : draw(9) + 1;
}

/* The clock goes on while a call that was hindered is to be told of. */
static const struct weir_tls_options patient = {.handshake_ns = WEIR_FOREVER};

static struct weir_flow *echo(struct weir_connection *client, void *ctx)
{
	if (weir_tls_accept(client, ctx, &patient, NULL) < 0)
		return NULL;
	return weir_connection_write(
		between(weir_connection_read(client, draw_size())), client);
}

static struct weir_flow *talk(struct weir_connection *server, void *ctx)
{
	struct weir_flow *ways[2];

	if (weir_tls_connect(server, ctx, "server.test", &patient, NULL) < 0)
		return NULL;
	ways[0] = weir_flow_items(weir_flow_unfold(NULL, next_piece, NULL),
				  weir_flow_bytes_items());
	ways[0] = weir_connection_write(between(ways[0]), server);
	ways[1] = weir_flow_filter(weir_connection_read(server, draw_size()),
				   take_piece, NULL);
	ways[1] = weir_flow_count(ways[1]);
	return weir_flow_merge(ways, 2);
}

static enum weir_directive stop(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_STOP;
}

static void each_byte_comes_back_once(void **state)
{
	SSL_CTX *servers[2], *clients[2];
	struct weir_listen_options listen;
	struct weir_connect_options connect = {.connect_ns = 0};
	struct calls_laws laws;
	struct weir_flow *flow;
	struct net client;
	size_t i;

	for (i = 0; i < 2; i++) {
		servers[i] = tls_server(CERT_GOOD, tls_versions[i]);
		clients[i] = tls_client(tls_versions[i]);
	}
	for_each_seed(seed, test_count(320)) {
		drawn = seed;
		all = draw(MOST);
		n_sent = n_got = 0;
		for (i = 0; i < all; i++)
			sent[i] = (char)draw(256);
		net_begin(&net.net, &sim);
		listen = listen_here(&net.net);
		listen.connection.sndbuf = draw(2) ? 1 : 0;
		listen.connection.no_half_close = draw(2);
		connect.connection.sndbuf = draw(2) ? 1 : 0;
		i = draw(2);
		flow = weir_flow_listen("unix:@weir-tls-random", &listen);
		flow = weir_flow_each_connection(flow, 1, echo, servers[i]);
		net_start(&net.net, flow);
		client = net.net;
		flow = weir_flow_connect(net.net.address, &connect);
		flow = weir_flow_each_connection(flow, 1, talk, clients[i]);
		flow = weir_flow_supervise(flow, stop, NULL);
		laws = calls_draw(seed);
		/* behind which a pause waits for the clock */
		laws.lack = false;
		calls_by_seed(seed, &laws);
		net_start(&client, flow);
		net_over(&client, 0, 1);
		calls_plain();
		assert_int_equal(n_got, all);
		assert_memory_equal(sent, got, all);
		weir_flow_run_end(net.net.run);
		net_over(&net.net, 0, 1);
		net_end(&net.net);
	}
}

/* --- Bytes that are no TLS --------------------------------------------------- */

/* Gives the peer what has come, and sends what it has made, with some bytes
 * changed. False: we have ended. */
static bool exchange(bool change, size_t *n_changed)
{
	char bytes[4096];
	ssize_t n;
	size_t i;

	while ((n = recv(net.net.peer, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		assert_int_equal(
			BIO_write(SSL_get_rbio(net.peer), bytes, (int)n), n);
	if (n == 0 || errno != EAGAIN)
		return false;
	n = BIO_read(SSL_get_wbio(net.peer), bytes, sizeof(bytes));
	for (i = 0; change && n > 0 && i < (size_t)n; i++) {
		if (draw(400) == 0) {
			bytes[i] = (char)(bytes[i] ^ (1 << draw(8)));
			++*n_changed;
		}
	}
	if (n > 0 && send(net.net.peer, bytes, (size_t)n, MSG_NOSIGNAL) != n)
		return false;
	net_drive(&net.net);
	return true;
}

/* What comes out of a record that was changed is an error, or the handshake
 * goes another way; "secret" alone comes through. */
static void bytes_that_were_changed_do_not_get_through(void **state)
{
	SSL_CTX *servers[2], *clients[2];
	size_t n_changed, i, turns;
	struct weir_error *error;
	bool said;

	for (i = 0; i < 2; i++) {
		servers[i] = tls_server(CERT_GOOD, tls_versions[i]);
		clients[i] = tls_client(tls_versions[i]);
	}
	for_each_seed(seed, test_count(1600)) {
		drawn = seed;
		i = draw(2);
		n_changed = all = n_got = 0;
		all = MOST;
		if (draw(2))
			tls_begin_with(&net, &sim, WE_ACCEPT, servers[i],
				       clients[draw(2)], NULL, NULL);
		else
			tls_begin_with(&net, &sim, WE_CONNECT, clients[i],
				       servers[draw(2)], NULL, NULL);
		SSL_set_bio(net.peer, BIO_new(BIO_s_mem()),
			    BIO_new(BIO_s_mem()));
		net_start(&net.net,
			  weir_connection_write(
				  weir_flow_filter(weir_connection_read(
							   net.net.connection,
							   100),
						   take_piece, NULL),
				  net.net.connection));
		said = false;
		for (turns = 0; turns < 30; turns++) {
			if (SSL_do_handshake(net.peer) == 1)
				said |= SSL_write(net.peer, "secret", 6) == 6;
			if (!exchange(n_changed == 0 || draw(2), &n_changed))
				break;
		}
		(void)shutdown(net.net.peer, SHUT_WR);
		while (exchange(false, &n_changed) && !net_is_over(&net.net))
			net_drive(&net.net);
		peer_close(&net);
		assert_int_equal(weir_flow_run_wait(net.net.run, WEIR_FOREVER,
						    NULL, &error),
				 0);
		/* there was no close_notify */
		assert_non_null(error);
		assert_true(error->code == -EPROTO ||
			    error->code == -ECONNRESET ||
			    error->code == -EKEYREJECTED);
		weir_error_unref(error);
		assert_true(n_got % 6 == 0 && (said || n_got == 0));
		while (n_got > 0) {
			n_got -= 6;
			assert_memory_equal(got + n_got, "secret", 6);
		}
		tls_end(&net);
	}
}

/* Records of any type and length, with any bytes in them. */
static void noise_fails_the_handshake(void **state)
{
	SSL_CTX *server = tls_server(CERT_GOOD, 0), *client = tls_client(0);
	static char noise[5000];
	struct weir_error *error;
	size_t n, i;

	for_each_seed(seed, test_count(4000)) {
		unsigned int side;

		drawn = seed;
		side = (unsigned int)draw(2);
		n = draw(sizeof(noise) - 10) + 10;
		for (i = 0; i < n; i++)
			noise[i] = (char)draw(256);
		if (draw(4)) {
			noise[0] = (char)(20 + draw(5));
			noise[1] = 3;
			noise[2] = (char)draw(5);
			noise[3] = (char)draw(2);
			noise[5] = (char)draw(25);
			noise[6] = 0;
		}
		tls_begin_with(&net, &sim, side,
			       side == WE_ACCEPT ? server : client, NULL, NULL,
			       NULL);
		net_start(&net.net,
			  weir_connection_run(net.net.connection, NULL, NULL));
		assert_int_equal(send(net.net.peer, noise, n, MSG_NOSIGNAL), n);
		assert_int_equal(shutdown(net.net.peer, SHUT_WR), 0);
		assert_int_equal(weir_flow_run_wait(net.net.run, WEIR_FOREVER,
						    NULL, &error),
				 0);
		assert_non_null(error);
		assert_int_equal(error->code, -EPROTO);
		weir_error_unref(error);
		tls_end(&net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_comes_back_once),
		cmocka_unit_test(bytes_that_were_changed_do_not_get_through),
		cmocka_unit_test(noise_fails_the_handshake),
	};

	return cmocka_run_group_tests(tests, tls_kit_begin, tls_kit_end);
}
