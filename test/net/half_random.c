/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ways of a connection, by calls that are interrupted, give nothing, or do
 * less than they were asked: each byte comes back once, in its place.
 */
#include "net/kit.h"

#include "base/random.h"
#include "kit/calls.h"

#include <stdio.h>

#define MOST 20000

static struct net net;
static uint64_t drawn;

static uint64_t draw(uint64_t bound)
{
	return weir__splitmix(&drawn) % bound;
}

/* Calls of the client, which are left alone. */
static ssize_t client_send(int client, const char *from, size_t n)
{
	ssize_t rc;

	calls_own(true);
	rc = send(client, from, n, MSG_DONTWAIT);
	calls_own(false);
	return rc;
}

static ssize_t client_recv(int client, char *to, size_t n)
{
	ssize_t rc;

	calls_own(true);
	rc = recv(client, to, n, MSG_DONTWAIT);
	calls_own(false);
	return rc;
}

/* Cuts that the bytes do not notice. */
static struct weir_flow *between(struct weir_flow *flow, void *context)
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

/* In blocks of a drawn size. */
static struct weir_flow *serve(struct weir_connection *connection,
			       void *context)
{
	struct weir_flow *flow =
		weir_connection_read(connection, draw(3) ? draw(9) + 1 : 4096);

	return weir_connection_write(between(flow, context), connection);
}

static int begin(uint64_t seed)
{
	/* without `lack`, behind which a pause waits for the clock */
	const struct calls_laws laws = {
		.interrupt = true, .again = true, .less = true};
	struct weir_listen_options options = listen_here(&net);
	struct weir_flow *flow;
	char name[64];

	/* no timer of the kernel's is in the way of its small buffers */
	(void)snprintf(name, sizeof(name), "unix:@weir-random-%d",
		       (int)getpid());
	drawn = seed;
	calls_by_seed(seed, &laws);
	net_begin(&net, &sim);
	options.connection.sndbuf = draw(2) ? 1 : 0;
	options.connection.no_half_close = draw(2);
	flow = weir_flow_listen(name, &options);
	net_start(&net, weir_flow_each_connection(flow, 1, serve, NULL));
	return dial(net.address);
}

static void each_byte_comes_back_once(void **state)
{
	static char sent[MOST], got[MOST];
	size_t all, n_sent, n_got, i;
	int client;
	ssize_t n;

	for_each_seed(seed, test_count(1600)) {
		client = begin(seed);
		all = draw(MOST);
		for (i = 0; i < all; i++)
			sent[i] = (char)draw(256);
		for (n_sent = n_got = 0; n_got < all;) {
			n = n_sent < all && draw(2)
				    ? client_send(client, sent + n_sent,
						  draw(all - n_sent) + 1)
				    : 0;
			n_sent += n > 0 ? (size_t)n : 0;
			net_drive(&net);
			n = draw(2) ? client_recv(client, got + n_got,
						  draw(all - n_got) + 1)
				    : 0;
			n_got += n > 0 ? (size_t)n : 0;
		}
		assert_memory_equal(sent, got, all);
		assert_int_equal(shutdown(client, SHUT_WR), 0);
		expect_end(&net, client);
		close(client);
		weir_flow_run_end(net.run);
		net_over(&net, 0, 1);
		net_end(&net);
		calls_plain();
	}
}

/* What comes back then is a beginning of what was sent. */
static void a_drain_cuts_nothing_out(void **state)
{
	static char sent[MOST], got[MOST + 1];
	size_t all, n_got, i;
	int client;
	ssize_t n;

	for_each_seed(seed, test_count(1600)) {
		client = begin(seed);
		all = draw(MOST) + 1;
		for (i = 0; i < all; i++)
			sent[i] = (char)draw(256);
		n = client_send(client, sent, all);
		assert_true(n > 0);
		for (i = draw(5); i > 0; i--)
			(void)weir_sim_step(net.place.sim);
		weir_flow_run_end(net.run);
		for (n_got = 0;;) {
			n = client_recv(client, got + n_got,
					sizeof(got) - n_got);
			if (n == 0 || (n < 0 && errno != EAGAIN))
				break;
			n_got += n > 0 ? (size_t)n : 0;
			net_drive(&net);
		}
		/* that was never accepted, it is reset */
		assert_true(n == 0 || (errno == ECONNRESET && n_got == 0));
		assert_true(n_got <= all);
		assert_memory_equal(sent, got, n_got);
		close(client);
		assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL,
						    NULL),
				 0);
		net_end(&net);
		calls_plain();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_comes_back_once),
		cmocka_unit_test(a_drain_cuts_nothing_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
