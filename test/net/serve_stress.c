/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections on a pool of threads, whose two flows run in two actors: peers
 * that end, reset or go on, and a thread that stops connections from outside.
 */
#include "net/stress_kit.h"

#include <ck_pr.h>

static struct net net;
static uint32_t n_served; /* atomic */

/* What is read goes to another actor, which writes it. */
static struct weir_flow *cut(struct weir_flow *flow, void *context)
{
	return weir_flow_async(flow, 4, NULL);
}

static struct weir_flow *serve(struct weir_connection *connection,
			       void *context)
{
	uint32_t i = ck_pr_faa_32(&n_served, 1);

	if (i % 4 == 0)
		stress_keep(connection, i / 4);
	return weir_connection_run(connection, i % 2 ? cut : NULL, NULL);
}

/* `ends`: it is drained, else stopped, while clients are there. */
static void serve_all(bool ends)
{
	struct weir_listen_options options = listen_here(&net);
	struct weir_error *error;
	struct weir_flow *flow;
	int late;

	n_served = 0;
	net_begin(&net, &threads);
	flow = weir_flow_listen("127.0.0.1:0", &options);
	net_start(&net, weir_flow_each_connection(flow, 64, serve, NULL));
	stress_visits(net.address, test_count(600));
	late = dial(net.address);
	if (ends)
		weir_flow_run_end(net.run);
	else
		weir_flow_run_stop(net.run, NULL);
	assert_int_equal(close(late), 0);
	assert_int_equal(
		weir_flow_run_wait(net.run, WEIR_FOREVER, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, ends ? 0 : -ECANCELED);
	weir_error_unref(error);
	stress_forget();
	net_end(&net);
}

static void connections_come_and_go_until_a_drain(void **state)
{
	serve_all(true);
}

static void connections_come_and_go_until_a_stop(void **state)
{
	serve_all(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_come_and_go_until_a_drain),
		cmocka_unit_test(connections_come_and_go_until_a_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
