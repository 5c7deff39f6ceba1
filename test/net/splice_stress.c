/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A proxy on a pool of threads, in front of an echo server there: clients that
 * end, reset or go on, and a thread that stops connections from outside.
 */
#include "net/kit.h"

#include "base/random.h"

#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

#define CLIENTS 3u
#define KEPT 16u

static struct net net;				 /* the proxy */
static char behind[WEIR_CONNECTION_ADDRESS_MAX]; /* of the echo server */
static uint32_t over;				 /* atomic */
/* References of connections that somebody may stop; atomic. */
static struct weir_connection *kept[KEPT];
static uint32_t n_joined, n_whole; /* atomic */

static void keep(struct weir_connection *connection, uint32_t i)
{
	struct weir_connection *old;

	(void)weir_connection_ref(connection);
	ck_pr_fence_release();
	old = ck_pr_fas_ptr(&kept[i % KEPT], connection);
	weir_connection_unref(old);
}

static struct weir_flow *echo(struct weir_connection *client, void *context)
{
	return weir_connection_run(client, NULL, NULL);
}

static struct weir_flow *join(struct weir_connection *server, void *client)
{
	uint32_t i = ck_pr_faa_32(&n_joined, 1);

	if (i % 4 == 0)
		keep(i % 8 ? server : client, i / 4);
	return weir_connection_pipe(client, server, NULL);
}

static struct weir_flow *relay(struct weir_connection *client, void *context)
{
	struct weir_flow *flow = weir_flow_connect(behind, NULL);

	return weir_flow_each_connection(flow, 1, join, client);
}

static void *stops(void *context)
{
	struct weir_connection_counts counts;
	struct weir_connection *one;
	uint64_t random = 7;
	uint32_t i;

	while (!ck_pr_load_32(&over)) {
		i = (uint32_t)(weir__splitmix(&random) % KEPT);
		one = ck_pr_fas_ptr(&kept[i], NULL);
		ck_pr_fence_acquire();
		if (one) {
			assert_int_equal(weir_connection_count(one, &counts),
					 0);
			if (i % 2)
				weir_connection_stop(one);
			weir_connection_unref(one);
		}
		(void)sched_yield();
	}
	return NULL;
}

/* All that was sent comes back behind the end, unless the proxy was stopped. */
static void end_well(int fd, size_t sent, size_t got)
{
	char some[2000];
	ssize_t n;

	(void)shutdown(fd, SHUT_WR);
	while ((n = recv(fd, some, sizeof(some), 0)) > 0)
		got += (size_t)n;
	if (n < 0)
		return;
	assert_int_equal(got, sent);
	ck_pr_inc_32(&n_whole);
}

/* Sends some, takes what comes back of it, and goes in one of several ways. */
static void *visit(void *context)
{
	uint64_t random = (uintptr_t)context;
	size_t rounds = test_count(400), i;
	char some[2000] = {0};

	for (i = 0; i < rounds; i++) {
		uint64_t drawn = weir__splitmix(&random);
		int fd = dial(net.address);
		ssize_t n = send(fd, some, drawn % sizeof(some) + 1,
				 MSG_NOSIGNAL),
			got = 0;

		if (n > 0 && drawn >> 60 < 12)
			got = recv(fd, some, sizeof(some), 0);
		switch (drawn >> 40 & 3) {
		case 0:
			reset(fd);
			break;
		case 1:
			close(fd);
			break;
		default:
			if (n > 0 && got >= 0)
				end_well(fd, (size_t)n, (size_t)got);
			close(fd);
		}
	}
	return NULL;
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

static void visit_all(void)
{
	pthread_t threads_of[CLIENTS + 1];
	uint32_t i;

	assert_int_equal(
		pthread_create(&threads_of[CLIENTS], NULL, stops, NULL), 0);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_create(&threads_of[i], NULL, visit,
						(void *)(uintptr_t)(i + 1)),
				 0);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_join(threads_of[i], NULL), 0);
	ck_pr_store_32(&over, 1);
	assert_int_equal(pthread_join(threads_of[CLIENTS], NULL), 0);
}

/* `ends`: it is drained, else stopped, while a client is there. */
static void proxy_all(bool ends)
{
	struct weir_flow_run *echoes;
	struct weir_flow *flow;
	struct weir_error *error;
	uint32_t i;
	int late;

	n_joined = n_whole = over = 0;
	net_begin(&net, &threads);
	echoes = start(&flow, echo);
	strcpy(behind, net.address);
	net.run = start(&net.flow, relay);
	visit_all();
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
	assert_true(n_whole > 0);
	weir_flow_run_end(echoes);
	assert_int_equal(weir_flow_run_wait(echoes, WEIR_FOREVER, NULL, NULL),
			 0);
	weir_flow_run_free(echoes);
	weir_flow_free(flow);
	/* some are joined after their clients have gone */
	for (i = 0; i < KEPT; i++) {
		weir_connection_unref(kept[i]);
		kept[i] = NULL;
	}
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
