/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections on a pool of threads, whose two flows run in two actors: peers
 * that end, reset or go on, and a thread that stops connections from outside.
 */
#include "net/kit.h"

#include "base/random.h"

#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

#define CLIENTS 3u
#define KEPT 16u

static struct net net;
static uint32_t over; /* atomic */
/* References of connections that somebody may stop; atomic. */
static struct weir_connection *kept[KEPT];
static uint32_t n_served;

/* What is read goes to another actor, which writes it. */
static struct weir_flow *cut(struct weir_flow *flow, void *context)
{
	return weir_flow_async(flow, 4, NULL);
}

static struct weir_flow *serve(struct weir_connection *connection,
			       void *context)
{
	uint32_t i = ck_pr_faa_32(&n_served, 1);
	struct weir_connection *old;

	if (i % 4 == 0) {
		(void)weir_connection_ref(connection);
		ck_pr_fence_release();
		old = ck_pr_fas_ptr(&kept[i / 4 % KEPT], connection);
		weir_connection_unref(old);
	}
	return weir_connection_run(connection, i % 2 ? cut : NULL, NULL);
}

static void *stops(void *context)
{
	struct weir_connection *one;
	uint64_t random = 7;
	uint32_t i;

	while (!ck_pr_load_32(&over)) {
		i = (uint32_t)(weir__splitmix(&random) % KEPT);
		one = ck_pr_fas_ptr(&kept[i], NULL);
		ck_pr_fence_acquire();
		if (one) {
			struct weir_connection_counts counts;

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

/* Sends some, takes what comes back of it, and goes in one of several ways. */
static void *visit(void *context)
{
	uint64_t random = (uintptr_t)context;
	size_t rounds = test_count(600), i;
	char some[2000] = {0};

	for (i = 0; i < rounds; i++) {
		uint64_t drawn = weir__splitmix(&random);
		int fd = dial(net.address);
		ssize_t n =
			send(fd, some, drawn % sizeof(some) + 1, MSG_NOSIGNAL);

		if (n > 0 && drawn >> 60 < 12)
			(void)recv(fd, some, sizeof(some), 0);
		switch (drawn >> 40 & 3) {
		case 0:
			reset(fd);
			break;
		case 1:
			(void)shutdown(fd, SHUT_WR);
			while (recv(fd, some, sizeof(some), 0) > 0)
				;
			close(fd);
			break;
		default:
			close(fd);
		}
	}
	return NULL;
}

/* `ends`: it is drained, else stopped, while clients are there. */
static void serve_all(bool ends)
{
	struct weir_listen_options options = listen_here(&net);
	pthread_t threads_of[CLIENTS + 1];
	struct weir_error *error;
	struct weir_flow *flow;
	int late;
	uint32_t i;

	n_served = over = 0;
	net_begin(&net, &threads);
	flow = weir_flow_listen("127.0.0.1:0", &options);
	net_start(&net, weir_flow_each_connection(flow, 64, serve, NULL));
	assert_int_equal(
		pthread_create(&threads_of[CLIENTS], NULL, stops, NULL), 0);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_create(&threads_of[i], NULL, visit,
						(void *)(uintptr_t)(i + 1)),
				 0);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_join(threads_of[i], NULL), 0);
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
	ck_pr_store_32(&over, 1);
	assert_int_equal(pthread_join(threads_of[CLIENTS], NULL), 0);
	for (i = 0; i < KEPT; i++) {
		weir_connection_unref(kept[i]);
		kept[i] = NULL;
	}
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
