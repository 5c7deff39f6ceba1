/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many connections at which nothing happens: they cost no wake and little memory,
 * and those that would stay so for ever are closed.
 */
#include "net/kit.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>

#define MANY 10000u
#define BYTES 3072u /* that each may take, with its run and its flow */
#define HOUR UINT64_C(3600000000000)
#define STEPS 10000000u

static struct net net; /* an executor, and nothing else */

/* As many descriptors as the process may have. */
static size_t raise_limit(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return limit.rlim_cur < DESCRIPTORS_MAX ? limit.rlim_cur
						: DESCRIPTORS_MAX;
}

/* `n`, or as many as there are descriptors for, with `each`. */
static size_t as_many(size_t n, size_t each)
{
	size_t most = (raise_limit() - 100) / each;

	if (n > most)
		print_message("%zu of %zu: the limit is low\n", most, n);
	return n < most ? n : most;
}

/* In the heap; 0 where nobody counts them, as with sanitizers. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
static size_t bytes_used(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}
#else
static size_t bytes_used(void)
{
	return 0;
}
#endif

/* --- Connections that are served ------------------------------------------ */

static struct served {
	int peer;
	struct weir_flow *flow;
	struct weir_flow_run *run;
} all[MANY];

static void serve_one(struct served *served)
{
	net_connect(&net, AF_UNIX, NULL);
	served->peer = net.peer;
	served->flow = weir_connection_run(net.connection, NULL, NULL);
	weir_connection_unref(net.connection);
	net.connection = NULL;
	net.peer = -1;
	assert_int_equal(weir_flow_start(served->flow, net.place.executor, NULL,
					 &served->run),
			 0);
}

static void end_one(struct served *served)
{
	struct weir_error *error;

	assert_int_equal(shutdown(served->peer, SHUT_WR), 0);
	assert_int_equal(
		weir_flow_run_wait(served->run, WEIR_FOREVER, NULL, &error), 0);
	assert_null(error);
	weir_flow_run_free(served->run);
	weir_flow_free(served->flow);
	assert_int_equal(close(served->peer), 0);
}

/* How many slices are run in an hour in which no peer does anything. */
static uint64_t hour(void)
{
	struct weir_sim *simulator = net.place.sim;

	return weir_sim_run_until(
		simulator, weir_executor_now(net.place.executor) + HOUR, STEPS);
}

static void look_at_bytes(size_t before, size_t n)
{
	size_t each = (bytes_used() - before) / n;

	if (before == 0)
		return;
	print_message("%zu bytes each of %zu connections\n", each, n);
	assert_in_range(each, 1, BYTES);
}

static void many_idle_connections_cost_no_wake_and_little_memory(void **state)
{
	size_t n = as_many(MANY, 2), before, i;

	net_begin(&net, &sim);
	serve_one(&all[0]); /* and what all have in common */
	net_drive(&net);
	before = bytes_used();
	for (i = 1; i < n; i++)
		serve_one(&all[i]);
	net_drive(&net);
	assert_int_equal(hour(), 0);
	look_at_bytes(before, n - 1);
	/* each of them is there */
	for (i = 0; i < n; i += 7) {
		send_text(all[i].peer, "hello");
		expect_text(&net, all[i].peer, "hello");
	}
	assert_int_equal(hour(), 0);
	look_at_bytes(before, n - 1);
	for (i = 0; i < n; i++)
		end_one(&all[i]);
	net_end(&net);
}

/* --- Pipes of which one peer has ended ------------------------------------ */

/* A pipe whose one peer has ended, and whose other one never does. */
static struct weir_flow *half_closed(int peers[2])
{
	const struct weir_connection_pipe_options limits = {
		.half_close_ns = HOUR / 2};
	struct weir_connection *pair[2];
	struct weir_flow *flow;
	int i;

	for (i = 0; i < 2; i++) {
		net_connect(&net, AF_UNIX, NULL);
		pair[i] = net.connection;
		peers[i] = net.peer;
		net.connection = NULL;
		net.peer = -1;
	}
	flow = weir_connection_pipe(pair[0], pair[1], &limits);
	weir_connection_unref(pair[0]);
	weir_connection_unref(pair[1]);
	send_text(peers[0], "bye");
	assert_int_equal(shutdown(peers[0], SHUT_WR), 0);
	return flow;
}

#define AT_ONCE 100

static void half_closed_round(void)
{
	struct weir_flow_run *runs[AT_ONCE];
	struct weir_flow *flows[AT_ONCE];
	int peers[AT_ONCE][2], i;
	size_t before = descriptors_count();
	struct weir_error *error;

	for (i = 0; i < AT_ONCE; i++) {
		flows[i] = half_closed(peers[i]);
		assert_int_equal(weir_flow_start(flows[i], net.place.executor,
						 NULL, &runs[i]),
				 0);
	}
	net_drive(&net);
	for (i = 0; i < AT_ONCE; i++)
		expect_text(&net, peers[i][1], "bye");
	(void)hour();
	for (i = 0; i < AT_ONCE; i++) {
		assert_int_equal(weir_flow_run_wait(runs[i], 0, NULL, &error),
				 0);
		assert_int_equal(error->code, -ETIMEDOUT);
		weir_error_unref(error);
		weir_flow_run_free(runs[i]);
		weir_flow_free(flows[i]);
	}
	/* nobody had to close his end for that */
	assert_int_equal(descriptors_count(), before + 2 * AT_ONCE);
	for (i = 0; i < AT_ONCE; i++) {
		assert_int_equal(close(peers[i][0]), 0);
		assert_int_equal(close(peers[i][1]), 0);
	}
}

static void silence_behind_an_end_leaves_no_descriptor(void **state)
{
	size_t rounds = test_soak() ? 200 : 10, i;

	net_begin(&net, &sim);
	serve_one(&all[0]); /* the executor has descriptors of its own */
	end_one(&all[0]);
	for (i = 0; i < rounds; i++)
		half_closed_round();
	net_end(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			many_idle_connections_cost_no_wake_and_little_memory),
		cmocka_unit_test(silence_behind_an_end_leaves_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
