/* SPDX-License-Identifier: BSD-2-Clause */
/* Two connections, joined. */
#include "net/splice_kit.h"

#include "actor/kit.h"
#include "flow/kit.h"

#include <poll.h>

#include <ck_pr.h>

/* --- Bytes and ends ------------------------------------------------------- */

static void bytes_go_both_ways(void **state)
{
	for_each_kind(kind)
	{
		for_each_pair(pair)
		{
			spliced_begin(*kind, *pair);
			send_text(spliced.peers[0], "question");
			expect_text(&spliced.net, spliced.peers[1], "question");
			send_text(spliced.peers[1], "answer");
			expect_text(&spliced.net, spliced.peers[0], "answer");
			send_text(spliced.peers[0], "more");
			expect_text(&spliced.net, spliced.peers[1], "more");
			spliced_peer_ends(0);
			spliced_peer_ends(1);
			net_over(&spliced.net, 0, 18);
			spliced_end();
		}
	}
}

/* The one that has not ended may go on. */
static void either_peer_may_end_first(void **state)
{
	int first;

	for_each_kind(kind)
	{
		for_each_pair(pair)
		{
			for (first = 0; first < 2; first++) {
				spliced_begin(*kind, *pair);
				send_text(spliced.peers[first], "bye");
				expect_text(&spliced.net, spliced.peers[!first],
					    "bye");
				spliced_peer_ends(first);
				send_text(spliced.peers[!first], "and more");
				expect_text(&spliced.net, spliced.peers[first],
					    "and more");
				assert_false(net_is_over(&spliced.net));
				spliced_peer_ends(!first);
				net_over(&spliced.net, 0, 11);
				spliced_end();
			}
		}
	}
}

static void say_bye(int i)
{
	send_text(spliced.peers[i], "bye");
	assert_int_equal(shutdown(spliced.peers[i], SHUT_WR), 0);
}

static void expect_both_byes(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		expect_text(&spliced.net, spliced.peers[i], "bye");
		expect_end(&spliced.net, spliced.peers[i]);
	}
	net_over(&spliced.net, 0, 6);
}

static void both_peers_may_end_at_once(void **state)
{
	int i;

	for_each_kind(kind)
	{
		for_each_pair(pair)
		{
			spliced_begin(*kind, *pair);
			for (i = 0; i < 2; i++)
				say_bye(i);
			expect_both_byes();
			spliced_end();
		}
	}
}

/* A read stops there, so a short piece is not all. */
static void urgent_data_holds_nothing_up(void **state)
{
	for_each_kind(kind)
	{
		spliced_begin(*kind, spliced_families[0]);
		assert_int_equal(send(spliced.peers[0], "ab", 2, MSG_OOB), 2);
		send_text(spliced.peers[0], "c");
		expect_text(&spliced.net, spliced.peers[1], "ac");
		spliced_peer_ends(0);
		spliced_peer_ends(1);
		net_over(&spliced.net, 0, 2);
		spliced_end();
	}
}

/* As after a short visit: all is there before the pipe begins. */
static void peers_may_have_ended_before_it_begins(void **state)
{
	int i;

	for_each_kind(kind)
	{
		net_begin(&spliced.net, *kind);
		for (i = 0; i < 2; i++) {
			spliced_make(i, AF_INET);
			say_bye(i);
		}
		net_start(&spliced.net,
			  weir_connection_pipe(spliced.joined[0],
					       spliced.joined[1], NULL));
		expect_both_byes();
		spliced_end();
	}
}

static void both_are_closed_when_it_is_over(void **state)
{
	int i;

	for_each_kind(kind)
	{
		spliced_begin(*kind, spliced_families[0]);
		for (i = 0; i < 2; i++) {
			weir_connection_unref(spliced.joined[i]);
			spliced.joined[i] = NULL;
		}
		send_text(spliced.peers[0], "abc");
		spliced_peer_ends(1);
		expect_text(&spliced.net, spliced.peers[1], "abc");
		spliced_peer_ends(0);
		net_over(&spliced.net, 0, 3);
		spliced_end(); /* no descriptor is left */
	}
}

static struct weir_flow *echo(struct weir_connection *client, void *context)
{
	return weir_connection_run(client, NULL, NULL);
}

static struct weir_flow *join(struct weir_connection *server, void *client)
{
	return weir_connection_pipe(client, server, NULL);
}

/* The client is borrowed until its run is over: after the connect, too. */
static struct weir_flow *relay(struct weir_connection *client, void *address)
{
	struct weir_flow *flow = weir_flow_connect(address, NULL);

	return weir_flow_each_connection(flow, 1, join, client);
}

static void a_server_joins_its_clients_to_another_server(void **state)
{
	char address[WEIR_CONNECTION_ADDRESS_MAX];
	struct weir_listen_options options;
	struct weir_flow_run *echoes;
	struct weir_flow *flows[2];
	int fd;

	for_each_kind(kind)
	{
		net_begin(&spliced.net, *kind);
		options = listen_here(&spliced.net);
		flows[0] = weir_flow_listen("127.0.0.1:0", &options);
		flows[0] = weir_flow_each_connection(flows[0], 9, echo, NULL);
		assert_int_equal(weir_flow_start(flows[0],
						 spliced.net.place.executor,
						 NULL, &echoes),
				 0);
		strcpy(address, spliced.net.address);
		flows[1] = weir_flow_listen("127.0.0.1:0", &options);
		net_start(&spliced.net, weir_flow_each_connection(
						flows[1], 9, relay, address));
		fd = dial(spliced.net.address);
		send_text(fd, "hello");
		expect_text(&spliced.net, fd, "hello");
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		expect_end(&spliced.net, fd);
		close(fd);
		weir_flow_run_end(spliced.net.run);
		net_over(&spliced.net, 0, 1);
		weir_flow_run_end(echoes);
		assert_int_equal(weir_flow_run_wait(echoes, WEIR_FOREVER, NULL,
						    NULL),
				 0);
		weir_flow_run_free(echoes);
		weir_flow_free(flows[0]);
		net_end(&spliced.net);
	}
}

/* --- Demand --------------------------------------------------------------- */

/* How many bytes the pipe holds on that way. */
static uint64_t held(int i)
{
	struct weir_connection_counts from, to;

	assert_int_equal(weir_connection_count(spliced.joined[!i], &to), 0);
	assert_int_equal(weir_connection_count(spliced.joined[i], &from), 0);
	return from.bytes_in - to.bytes_out;
}

/* Sends until nobody takes any more, and the pipe holds some. */
static size_t fill(int i)
{
	static const char some[65536];
	size_t sent = 0;
	int refused = 0;
	ssize_t n;

	while (refused < 1000 || held(i) == 0) {
		n = send(spliced.peers[i], some, sizeof(some),
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		sent += n > 0 ? (size_t)n : 0;
		refused = n > 0 ? 0 : refused + 1;
		net_drive(&spliced.net);
	}
	assert_true(held(i) <= 65536);
	return sent;
}

static void a_peer_that_takes_nothing_holds_up_its_sender_alone(void **state)
{
	char some[4096];
	size_t sent, got;
	ssize_t n;

	for_each_kind(kind)
	{
		spliced_begin(*kind, spliced_families[1]);
		sent = fill(0);
		/* the other way goes on */
		send_text(spliced.peers[1], "hello");
		expect_text(&spliced.net, spliced.peers[0], "hello");
		assert_int_equal(shutdown(spliced.peers[0], SHUT_WR), 0);
		for (got = 0; got<sent; got += n> 0 ? (size_t)n : 0) {
			n = recv(spliced.peers[1], some, sizeof(some),
				 MSG_DONTWAIT);
			assert_true(n > 0 || (n < 0 && errno == EAGAIN));
			net_drive(&spliced.net);
		}
		expect_end(&spliced.net, spliced.peers[1]);
		spliced_peer_ends(1);
		net_over(&spliced.net, 0, sent + 5);
		spliced_end();
	}
}

/* --- Time ----------------------------------------------------------------- */

#define SECOND UINT64_C(1000000000)

static void at_second(double seconds)
{
	(void)weir_sim_run_until(spliced.net.place.sim,
				 (uint64_t)(seconds * SECOND), 100000);
}

static void both_are_reset(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (spliced.peers[i] >= 0)
			expect_reset(&spliced.net, spliced.peers[i]);
}

static void silence_behind_an_end_is_not_waited_for_for_ever(void **state)
{
	spliced_begin(&sim, spliced_families[0]);
	at_second(500); /* before there is no limit */
	spliced_peer_ends(0);
	at_second(559);
	send_text(spliced.peers[1], "still here");
	expect_text(&spliced.net, spliced.peers[0], "still here");
	at_second(618);
	assert_false(net_is_over(&spliced.net));
	at_second(619.5);
	assert_true(net_is_over(&spliced.net));
	net_over(&spliced.net, -ETIMEDOUT, 0);
	expect_reset(&spliced.net, spliced.peers[0]);
	spliced_end();
}

/* It cannot be read yet, and is heard of all the same. */
static void an_end_behind_bytes_that_nobody_takes_counts(void **state)
{
	const struct weir_connection_pipe_options options = {
		.idle_ns = 10 * SECOND, .half_close_ns = SECOND};

	spliced_begin_with(&sim, spliced_families[1], &options);
	(void)fill(0);
	at_second(0.5);
	assert_int_equal(shutdown(spliced.peers[0], SHUT_WR), 0);
	at_second(1.4);
	assert_false(net_is_over(&spliced.net));
	at_second(1.6);
	assert_true(net_is_over(&spliced.net));
	net_over(&spliced.net, -ETIMEDOUT, 0);
	spliced_end();
}

static void bytes_of_either_way_put_the_idle_limit_off(void **state)
{
	const struct weir_connection_pipe_options options = {.idle_ns = SECOND};
	int i;

	spliced_begin_with(&sim, spliced_families[0], &options);
	for (i = 0; i < 4; i++) {
		at_second(0.9 * (i + 1));
		assert_false(net_is_over(&spliced.net));
		send_text(spliced.peers[i % 2], "tick");
		expect_text(&spliced.net, spliced.peers[!(i % 2)], "tick");
	}
	at_second(3.6 + 0.9);
	assert_false(net_is_over(&spliced.net));
	at_second(3.6 + 1.1);
	assert_true(net_is_over(&spliced.net));
	net_over(&spliced.net, -ETIMEDOUT, 0);
	both_are_reset();
	spliced_end();
}

/* The smaller limit counts, whichever that is. */
static void both_limits_hold_behind_an_end(void **state)
{
	const struct weir_connection_pipe_options options[2] = {
		{.idle_ns = SECOND, .half_close_ns = 5 * SECOND},
		{.idle_ns = 5 * SECOND, .half_close_ns = SECOND}};
	int i;

	for (i = 0; i < 2; i++) {
		spliced_begin_with(&sim, spliced_families[0], &options[i]);
		at_second(0.5);
		spliced_peer_ends(1);
		at_second(1.4);
		assert_false(net_is_over(&spliced.net));
		at_second(1.6);
		assert_true(net_is_over(&spliced.net));
		net_over(&spliced.net, -ETIMEDOUT, 0);
		spliced_end();
	}
}

static void a_drain_lets_it_go_on_to_its_end(void **state)
{
	for_each_kind(kind)
	{
		spliced_begin(*kind, spliced_families[0]);
		send_text(spliced.peers[0], "question");
		expect_text(&spliced.net, spliced.peers[1], "question");
		weir_flow_run_end(spliced.net.run);
		net_drive(&spliced.net);
		send_text(spliced.peers[1], "answer");
		expect_text(&spliced.net, spliced.peers[0], "answer");
		spliced_peer_ends(0);
		spliced_peer_ends(1);
		net_over(&spliced.net, 0, 14);
		spliced_end();
	}
}

static void a_drain_does_not_wait_for_silent_peers_for_ever(void **state)
{
	spliced_begin(&sim, spliced_families[0]);
	at_second(500);
	weir_flow_run_end(spliced.net.run);
	at_second(559);
	assert_false(net_is_over(&spliced.net));
	at_second(561);
	assert_true(net_is_over(&spliced.net));
	net_over(&spliced.net, -ETIMEDOUT, 0);
	spliced_end();
}

/* --- Errors --------------------------------------------------------------- */

static void a_reset_of_one_resets_the_other(void **state)
{
	struct weir_connection_counts counts;
	int i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			spliced_begin(*kind, spliced_families[0]);
			send_text(spliced.peers[i], "hello");
			expect_text(&spliced.net, spliced.peers[!i], "hello");
			reset(spliced.peers[i]);
			spliced.peers[i] = -1;
			net_over(&spliced.net, -ECONNRESET, 0);
			both_are_reset();
			assert_int_equal(weir_connection_count(
						 spliced.joined[i], &counts),
					 0);
			assert_int_equal(counts.error, -ECONNRESET);
			spliced_end();
		}
	}
}

/* Its own way is over, so nobody reads there any more. */
static void a_reset_behind_an_end_is_heard(void **state)
{
	int i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			spliced_begin(*kind, spliced_families[0]);
			spliced_peer_ends(i);
			reset(spliced.peers[i]);
			spliced.peers[i] = -1;
			net_over(&spliced.net, -ECONNRESET, 0);
			spliced_end();
		}
	}
}

static void a_reset_is_heard_while_nothing_can_be_carried(void **state)
{
	for_each_kind(kind)
	{
		spliced_begin(*kind, spliced_families[0]);
		(void)fill(0);
		reset(spliced.peers[0]);
		spliced.peers[0] = -1;
		net_over(&spliced.net, -ECONNRESET, 0);
		spliced_end();
	}
}

/* A write to it would raise SIGPIPE, which ends the program. */
static void a_peer_that_has_gone_raises_no_signal(void **state)
{
	for_each_kind(kind)
	{
		spliced_begin(*kind, spliced_families[1]);
		assert_int_equal(close(spliced.peers[1]), 0);
		spliced.peers[1] = -1;
		expect_end(&spliced.net, spliced.peers[0]);
		send_text(spliced.peers[0], "hello");
		net_over(&spliced.net, -ECONNRESET, 0);
		spliced_end();
	}
}

static void either_can_be_stopped_from_outside(void **state)
{
	int i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			spliced_begin(*kind, spliced_families[0]);
			send_text(spliced.peers[0], "hello");
			expect_text(&spliced.net, spliced.peers[1], "hello");
			weir_connection_stop(spliced.joined[i]);
			net_over(&spliced.net, -ECONNRESET, 0);
			both_are_reset();
			spliced_end();
		}
	}
}

static void a_stop_of_the_run_resets_both(void **state)
{
	int started;

	for_each_kind(kind)
	{
		for (started = 0; started < 2; started++) {
			spliced_begin(*kind, spliced_families[0]);
			if (started) {
				send_text(spliced.peers[0], "hello");
				expect_text(&spliced.net, spliced.peers[1],
					    "hello");
			}
			weir_flow_run_stop(spliced.net.run, NULL);
			net_over(&spliced.net, -ECANCELED, 0);
			both_are_reset();
			spliced_end();
		}
	}
}

static void a_flow_that_never_ran_leaves_both_as_they_were(void **state)
{
	net_begin(&spliced.net, &loop);
	spliced_make(0, AF_INET);
	spliced_make(1, AF_INET);
	weir_flow_free(weir_connection_pipe(spliced.joined[0],
					    spliced.joined[1], NULL));
	net_start(&spliced.net, weir_connection_pipe(spliced.joined[1],
						     spliced.joined[0], NULL));
	send_text(spliced.peers[0], "hello");
	expect_text(&spliced.net, spliced.peers[1], "hello");
	spliced_peer_ends(0);
	spliced_peer_ends(1);
	net_over(&spliced.net, 0, 5);
	spliced_end();
}

static void assert_already(struct weir_flow *flow)
{
	struct weir_flow_run *run;

	assert_int_equal(weir_flow_start(flow, spliced.net.place.executor, NULL,
					 &run),
			 -EALREADY);
	weir_flow_free(flow);
}

/* What is refused has taken nothing of either connection. */
static void it_has_all_flows_of_both(void **state)
{
	struct weir_connection *third;
	struct weir_flow *used;
	int peer;

	net_begin(&spliced.net, &loop);
	spliced_make(0, AF_INET);
	third = spliced.joined[0];
	peer = spliced.peers[0];
	spliced_make(0, AF_INET);
	spliced_make(1, AF_INET);
	used = weir_connection_pipe(spliced.joined[0], spliced.joined[1], NULL);
	net_start(&spliced.net,
		  weir_flow_ignore(weir_connection_read(spliced.joined[1], 1)));
	assert_already(used);
	assert_int_equal(shutdown(spliced.peers[1], SHUT_WR), 0);
	net_over(&spliced.net, 0, 0);
	net_start(&spliced.net,
		  weir_connection_pipe(spliced.joined[0], third, NULL));
	assert_already(weir_connection_read(spliced.joined[0], 1));
	assert_already(weir_connection_write(text_flow("x"), third));
	assert_already(weir_connection_pipe(spliced.joined[1], third, NULL));
	assert_already(weir_connection_pipe(third, spliced.joined[0], NULL));
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	assert_int_equal(shutdown(spliced.peers[0], SHUT_WR), 0);
	expect_end(&spliced.net, peer);
	assert_int_equal(weir_flow_run_wait(spliced.net.run, WEIR_FOREVER, NULL,
					    NULL),
			 0);
	assert_already(weir_connection_pipe(third, spliced.joined[0], NULL));
	weir_connection_unref(third);
	close(peer);
	spliced_end();
}

static void an_executor_must_watch_descriptors(void **state)
{
	spliced_begin(&direct, spliced_families[1]);
	spliced.net.place.kind->drive(&spliced.net.place);
	net_over(&spliced.net, -ENOTSUP, 0);
	spliced_end();
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	const struct weir_connection_pipe_options wrong = {.reserved = {0, 1}};
	struct weir_flow *flows[4];

	net_begin(&spliced.net, &loop);
	spliced_make(0, AF_UNIX);
	spliced_make(1, AF_UNIX);
	flows[0] = weir_connection_pipe(NULL, spliced.joined[1], NULL);
	flows[1] = weir_connection_pipe(spliced.joined[0], NULL, NULL);
	flows[2] = weir_connection_pipe(spliced.joined[0], spliced.joined[0],
					NULL);
	flows[3] = weir_connection_pipe(spliced.joined[0], spliced.joined[1],
					&wrong);
	assert_refused_all(flows, 4);
	spliced_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_both_ways),
		cmocka_unit_test(either_peer_may_end_first),
		cmocka_unit_test(both_peers_may_end_at_once),
		cmocka_unit_test(urgent_data_holds_nothing_up),
		cmocka_unit_test(peers_may_have_ended_before_it_begins),
		cmocka_unit_test(both_are_closed_when_it_is_over),
		cmocka_unit_test(a_server_joins_its_clients_to_another_server),
		cmocka_unit_test(
			a_peer_that_takes_nothing_holds_up_its_sender_alone),
		cmocka_unit_test(
			silence_behind_an_end_is_not_waited_for_for_ever),
		cmocka_unit_test(an_end_behind_bytes_that_nobody_takes_counts),
		cmocka_unit_test(bytes_of_either_way_put_the_idle_limit_off),
		cmocka_unit_test(both_limits_hold_behind_an_end),
		cmocka_unit_test(a_drain_lets_it_go_on_to_its_end),
		cmocka_unit_test(
			a_drain_does_not_wait_for_silent_peers_for_ever),
		cmocka_unit_test(a_reset_of_one_resets_the_other),
		cmocka_unit_test(a_reset_behind_an_end_is_heard),
		cmocka_unit_test(a_reset_is_heard_while_nothing_can_be_carried),
		cmocka_unit_test(a_peer_that_has_gone_raises_no_signal),
		cmocka_unit_test(either_can_be_stopped_from_outside),
		cmocka_unit_test(a_stop_of_the_run_resets_both),
		cmocka_unit_test(
			a_flow_that_never_ran_leaves_both_as_they_were),
		cmocka_unit_test(it_has_all_flows_of_both),
		cmocka_unit_test(an_executor_must_watch_descriptors),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
