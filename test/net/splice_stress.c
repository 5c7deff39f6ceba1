/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A proxy on a pool of threads, in front of an echo server there: clients that
 * end, reset or go on, and a thread that stops connections from outside.
 */
#include "net/stress_kit.h"

#include <ck_pr.h>

static struct net net;				 /* the proxy */
static char behind[WEIR_CONNECTION_ADDRESS_MAX]; /* of the echo server */
static uint32_t n_joined;			 /* atomic */

static struct weir_flow *echo(struct weir_connection *client, void *context)
{
	return weir_connection_run(client, NULL, NULL);
}

static struct weir_flow *join(struct weir_connection *server, void *client)
{
	uint32_t i = ck_pr_faa_32(&n_joined, 1);

	if (i % 4 == 0)
		stress_keep(i % 8 ? server : client, i / 4);
	return weir_connection_pipe(client, server, NULL);
}

static struct weir_flow *relay(struct weir_connection *client, void *context)
{
	struct weir_flow *flow = weir_flow_connect(behind, NULL);

	return weir_flow_each_connection(flow, 1, join, client);
}

static struct weir_flow_run *start(
	struct weir_flow **flow,
	struct weir_flow *(*serve)(struct weir_connection *connection,
				   void *context))
{
	struct weir_listen_options options = listen_here(&net);
	struct weir_flow_run *run;

	*flow = weir_flow_listen("127.0.0.1:0", &options);
	*flow = weir_flow_each_connection(*flow, 64, serve, NULL);
	assert_int_equal(weir_flow_start(*flow, net.place.executor, NULL, &run),
			 0);
	return run;
}

/* `ends`: it is drained, else stopped, while a client is there. */
static void proxy_all(bool ends)
{
	struct weir_flow_run *echoes;
	struct weir_flow *flow;
	struct weir_error *error;
	int late;

	n_joined = 0;
	net_begin(&net, &threads);
	echoes = start(&flow, echo);
	strcpy(behind, net.address);
	net.run = start(&net.flow, relay);
	stress_visits(net.address, test_count(400));
	late = dial(net.address);
	send_text(late, "late");
	assert_int_equal(shutdown(late, SHUT_WR), 0);
	if (ends)
		weir_flow_run_end(net.run);
	else
		weir_flow_run_stop(net.run, NULL);
	assert_int_equal(
		weir_flow_run_wait(net.run, WEIR_FOREVER, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, ends ? 0 : -ECANCELED);
	weir_error_unref(error);
	close(late);
	weir_flow_run_end(echoes);
	assert_int_equal(weir_flow_run_wait(echoes, WEIR_FOREVER, NULL, NULL),
			 0);
	weir_flow_run_free(echoes);
	weir_flow_free(flow);
	/* some are joined after their clients have gone */
	stress_forget();
	net_end(&net);
}

static void connections_come_and_go_until_a_drain(void **state)
{
	proxy_all(true);
}

static void connections_come_and_go_until_a_stop(void **state)
{
	proxy_all(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_come_and_go_until_a_drain),
		cmocka_unit_test(connections_come_and_go_until_a_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
