/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow that reads a connection. */
#include "net/kit.h"

#include "flow/world.h"

static struct net net;

static struct weir_flow *read_all(size_t block)
{
	return weir_flow_ignore(weir_connection_read(net.connection, block));
}

/* Gathers them as "a|b|". */
static int gather(void *item, void *context)
{
	struct weir_flow_bytes *bytes = item;

	strncat(context, bytes->data, bytes->n);
	strcat(context, "|");
	weir_flow_bytes_unref(bytes);
	return 0;
}

static void what_the_peer_sends_comes_in_blocks(void **state)
{
	char all[64];

	for_each_kind(kind)
	{
		all[0] = '\0';
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, NULL);
		send_text(net.peer, "abcdefgh");
		assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
		net_start(&net, weir_flow_for_each(
					weir_connection_read(net.connection, 3),
					gather, all));
		net_over(&net, 0, 0);
		assert_string_equal(all, "abc|def|gh|");
		net_end(&net);
	}
}

static void the_end_of_the_peer_ends_it_and_leaves_the_other_way(void **state)
{
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		net_start(&net, read_all(64));
		send_text(net.peer, "abc");
		assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
		net_over(&net, 0, 0);
		net_start(&net, weir_connection_write(text_flow("answer"),
						      net.connection));
		expect_text(&net, net.peer, "answer");
		expect_end(&net, net.peer);
		net_over(&net, 0, 6);
		net_end(&net);
	}
}

static void a_reset_fails_it(void **state)
{
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		net_start(&net, read_all(64));
		net_drive(&net);
		reset(net.peer);
		net.peer = -1;
		net_over(&net, -ECONNRESET, 0);
		net_end(&net);
	}
}

/* One item may pass, and no more is asked for. */
static void a_reset_is_known_without_demand(void **state)
{
	static struct flow_world world;
	struct flow_world *args = &world;
	struct weir_connection_counts counts;
	struct weir_flow *flow;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		world = (struct flow_world){.open = 1};
		flow = weir_connection_read(net.connection, 1);
		flow = weir__flow_upon(&gate_kind, flow, &args, sizeof(args),
				       true);
		net_start(&net, weir_flow_ignore(flow));
		send_text(net.peer, "abcdefgh");
		do {
			net_drive(&net);
			(void)weir_connection_count(net.connection, &counts);
		} while (counts.bytes_in < 1);
		reset(net.peer);
		net.peer = -1;
		net_over(&net, -ECONNRESET, 0);
		assert_int_equal(weir_connection_count(net.connection, &counts),
				 0);
		assert_int_equal(counts.bytes_in, 1);
		assert_int_equal(counts.error, -ECONNRESET);
		net_end(&net);
	}
}

/* As it is told to another call, if both flows make one at once. */
static void a_reset_that_was_told_to_another_call_is_none_the_less_one(
	void **state)
{
	socklen_t length = sizeof(int);
	int fd, code;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		fd = weir_connection_fd(net.connection);
		reset(net.peer);
		net.peer = -1;
		do
			assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR,
						    &code, &length),
					 0);
		while (code == 0);
		assert_int_equal(code, ECONNRESET);
		net_start(&net, read_all(8));
		net_over(&net, -ECONNRESET, 0);
		net_end(&net);
	}
}

/* With two runs, one of which hears of it first. */
static void a_reset_fails_both_ways(void **state)
{
	struct weir_flow_queue *queue;
	struct weir_flow_run *writes;
	struct weir_error *error;
	struct weir_flow *flow;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_INET, NULL);
		assert_int_equal(weir_flow_queue_new(
					 &queue, 1, WEIR_OVERFLOW_BACK_PRESSURE,
					 weir_flow_bytes_items()),
				 0);
		flow = weir_connection_write(weir_flow_from_queue(queue),
					     net.connection);
		net_start(&net, read_all(8));
		assert_int_equal(weir_flow_start(flow, net.place.executor, NULL,
						 &writes),
				 0);
		net_drive(&net);
		reset(net.peer);
		net.peer = -1;
		net_over(&net, -ECONNRESET, 0);
		assert_int_equal(weir_flow_run_wait(writes, WEIR_FOREVER, NULL,
						    &error),
				 0);
		assert_int_equal(error->code, -ECONNRESET);
		weir_error_unref(error);
		weir_flow_run_free(writes);
		weir_flow_free(flow);
		weir_flow_queue_free(queue);
		net_end(&net);
	}
}

/* The peer is gone already, so that the kernel has nothing new to tell. */
static void a_stop_is_told_where_nothing_is_watched(void **state)
{
	static struct flow_world world;
	struct flow_world *args = &world;
	struct weir_flow *flow;

	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, NULL);
		world = (struct flow_world){.open = 1};
		flow = weir_connection_read(net.connection, 1);
		flow = weir__flow_upon(&gate_kind, flow, &args, sizeof(args),
				       true);
		net_start(&net, weir_flow_ignore(flow));
		send_text(net.peer, "abc");
		assert_int_equal(close(net.peer), 0);
		net.peer = -1;
		net_drive(&net);
		/* nor is it woken by that again and again */
		if (net.place.sim)
			assert_int_equal(weir_sim_run(net.place.sim), 0);
		weir_connection_stop(net.connection);
		net_over(&net, -ECONNRESET, 0);
		net_end(&net);
	}
}

static void only_one_run_reads_it(void **state)
{
	struct weir_flow *other;
	struct weir_flow_run *run;

	net_begin(&net, &loop);
	net_connect(&net, AF_UNIX, NULL);
	other = read_all(8);
	net_start(&net, read_all(8));
	assert_int_equal(weir_flow_start(other, net.place.executor, NULL, &run),
			 -EALREADY);
	assert_int_equal(weir_flow_start(net.flow, net.place.executor, NULL,
					 &run),
			 -EALREADY);
	assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
	assert_int_equal(weir_flow_run_wait(net.run, WEIR_FOREVER, NULL, NULL),
			 0);
	/* also when it is over, and the connection is gone */
	assert_int_equal(weir_flow_start(other, net.place.executor, NULL, &run),
			 -EALREADY);
	weir_flow_free(other);
	weir_connection_unref(net.connection);
	net.connection = NULL;
	expect_end(&net, net.peer);
	assert_int_equal(weir_flow_start(net.flow, net.place.executor, NULL,
					 &run),
			 -EALREADY);
	net_end(&net);
}

/* --- Time ----------------------------------------------------------------- */

#define SECOND UINT64_C(1000000000)

static void at_second(double seconds)
{
	(void)weir_sim_run_until(net.place.sim, (uint64_t)(seconds * SECOND),
				 100000);
}

static void a_peer_that_sends_nothing_times_out(void **state)
{
	const struct weir_connection_options options = {.read_idle_ns = SECOND};

	net_begin(&net, &sim);
	net_connect(&net, AF_UNIX, &options);
	net_start(&net, read_all(8));
	at_second(0.9);
	send_text(net.peer, "abc");
	at_second(1.8);
	assert_false(net_is_over(&net));
	at_second(1.95);
	assert_true(net_is_over(&net));
	net_over(&net, -ETIMEDOUT, 0);
	net_end(&net);
}

static void time_without_demand_does_not_count(void **state)
{
	const struct weir_connection_options options = {.read_idle_ns = SECOND};
	struct weir_channel *channel;
	void *item;

	net_begin(&net, &sim);
	net_connect(&net, AF_UNIX, &options);
	assert_int_equal(weir_channel_new(&channel, 1, weir_flow_bytes_items(),
					  NULL),
			 0);
	net_start(&net,
		  weir_flow_into_channel(
			  weir_connection_read(net.connection, 1), channel));
	send_text(net.peer, "abcdefgh");
	at_second(5);
	assert_false(net_is_over(&net));
	while (weir_channel_try_take(channel, &item) == 0) {
		weir_flow_bytes_unref(item);
		at_second(5);
	}
	at_second(5.9);
	assert_false(net_is_over(&net));
	at_second(6.1);
	net_over(&net, -ETIMEDOUT, 0);
	assert_int_equal(weir_channel_free(channel), 0);
	net_end(&net);
}

/* --- A cancel ------------------------------------------------------------- */

/* It answers to the first byte, and wants no more. */
static void start_short(const struct weir_connection_options *options,
			const struct kind *kind, int family)
{
	struct weir_flow *flow;

	net_begin(&net, kind);
	net_connect(&net, family, options);
	flow = weir_flow_take(weir_connection_read(net.connection, 1), 1);
	net_start(&net, weir_connection_write(flow, net.connection));
}

static void what_is_not_read_any_more_resets_nothing(void **state)
{
	for_each_kind(kind)
	{
		start_short(NULL, *kind, AF_INET);
		weir_connection_unref(net.connection);
		net.connection = NULL;
		send_text(net.peer, "abcdefgh");
		expect_text(&net, net.peer, "a");
		expect_end(&net, net.peer);
		/* it still takes in */
		send_text(net.peer, "more");
		assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
		net_over(&net, 0, 1);
		net_end(&net);
	}
}

static void a_peer_that_sends_on_is_not_drained_for_ever(void **state)
{
	const struct weir_connection_options options = {.linger_bytes = 1000};
	char some[100] = {0};
	size_t sent = 0;

	for_each_kind(kind)
	{
		start_short(&options, *kind, AF_UNIX);
		send_text(net.peer, "a");
		expect_text(&net, net.peer, "a");
		for (sent = 0; !net_is_over(&net); net_drive(&net))
			if (sent < 1100)
				sent += (size_t)send(net.peer, some,
						     sizeof(some),
						     MSG_NOSIGNAL);
		assert_in_range(sent, 1000, 1100);
		net_over(&net, 0, 1);
		net_end(&net);
	}
}

static void a_silent_peer_is_not_waited_for_for_ever(void **state)
{
	start_short(NULL, &sim, AF_UNIX);
	send_text(net.peer, "abc");
	at_second(4.9);
	assert_false(net_is_over(&net));
	at_second(5.1);
	net_over(&net, 0, 1);
	net_end(&net);
}

static void what_is_there_behind_our_end_resets_nothing(void **state)
{
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, NULL);
		net_start(&net, weir_connection_write(text_flow("answer"),
						      net.connection));
		net_over(&net, 0, 6);
		send_text(net.peer, "abcdefgh");
		net_start(&net,
			  weir_flow_ignore(weir_flow_take(
				  weir_connection_read(net.connection, 1), 1)));
		net_over(&net, 0, 0);
		weir_connection_unref(net.connection);
		net.connection = NULL;
		expect_text(&net, net.peer, "answer");
		expect_end(&net, net.peer);
		net_end(&net);
	}
}

static void a_drain_reads_no_more_and_sends_what_was_read(void **state)
{
	for_each_kind(kind)
	{
		net_begin(&net, *kind);
		net_connect(&net, AF_UNIX, NULL);
		net_start(&net,
			  weir_connection_run(net.connection, NULL, NULL));
		send_text(net.peer, "abc");
		expect_text(&net, net.peer, "abc");
		weir_flow_run_end(net.run);
		expect_end(&net, net.peer);
		assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
		net_over(&net, 0, 3);
		net_end(&net);
	}
}

static void a_drain_waits_for_a_silent_peer_no_longer_than_allowed(void **state)
{
	net_begin(&net, &sim);
	net_connect(&net, AF_UNIX, NULL);
	net_start(&net, weir_connection_run(net.connection, NULL, NULL));
	send_text(net.peer, "abc");
	expect_text(&net, net.peer, "abc");
	weir_flow_run_end(net.run);
	at_second(4.9);
	assert_false(net_is_over(&net));
	at_second(5.1);
	assert_true(net_is_over(&net));
	net_over(&net, 0, 3);
	net_end(&net);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	const size_t huge = ((size_t)1 << 30) + 1;
	struct weir_flow *flows[4];

	net_begin(&net, &loop);
	net_connect(&net, AF_UNIX, NULL);
	flows[0] = weir_connection_read(NULL, 1);
	flows[1] = weir_connection_read(net.connection, 0);
	flows[2] = weir_connection_read(net.connection, huge);
	flows[3] = weir_connection_run(NULL, NULL, NULL);
	assert_refused_all(flows, 4);
	net_end(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_peer_sends_comes_in_blocks),
		cmocka_unit_test(
			the_end_of_the_peer_ends_it_and_leaves_the_other_way),
		cmocka_unit_test(a_reset_fails_it),
		cmocka_unit_test(a_reset_is_known_without_demand),
		cmocka_unit_test(
			a_reset_that_was_told_to_another_call_is_none_the_less_one),
		cmocka_unit_test(a_reset_fails_both_ways),
		cmocka_unit_test(a_stop_is_told_where_nothing_is_watched),
		cmocka_unit_test(only_one_run_reads_it),
		cmocka_unit_test(a_peer_that_sends_nothing_times_out),
		cmocka_unit_test(time_without_demand_does_not_count),
		cmocka_unit_test(what_is_not_read_any_more_resets_nothing),
		cmocka_unit_test(a_peer_that_sends_on_is_not_drained_for_ever),
		cmocka_unit_test(a_silent_peer_is_not_waited_for_for_ever),
		cmocka_unit_test(what_is_there_behind_our_end_resets_nothing),
		cmocka_unit_test(a_drain_reads_no_more_and_sends_what_was_read),
		cmocka_unit_test(
			a_drain_waits_for_a_silent_peer_no_longer_than_allowed),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
