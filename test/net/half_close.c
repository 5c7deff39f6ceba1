/* SPDX-License-Identifier: BSD-2-Clause */
/* The two ways of a connection end one after the other, in any order. */
#include "net/kit.h"

static struct net net;

/* What the server writes is put into a queue; what it reads is counted. */
static struct weir_flow_queue *queue;
static struct weir_flow_run *reads;
static struct weir_flow *reading;

static void begin(const struct kind *kind, int family)
{
	struct weir_flow *flow;

	net_begin(&net, kind);
	net_connect(&net, family, NULL);
	assert_int_equal(weir_flow_queue_new(&queue, 4,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     weir_flow_bytes_items()),
			 0);
	flow = weir_flow_from_queue(queue);
	net_start(&net, weir_connection_write(flow, net.connection));
	reading = weir_flow_ignore(weir_connection_read(net.connection, 64));
	assert_int_equal(
		weir_flow_start(reading, net.place.executor, NULL, &reads), 0);
	send_text(net.peer, "hello");
}

static void put(const char *text)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, strlen(text), NULL), 0);
	memcpy(bytes->data, text, strlen(text));
	assert_int_equal(weir_flow_queue_offer(queue, bytes), 0);
}

static void we_end(void)
{
	put("bye");
	assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
	expect_text(&net, net.peer, "bye");
	expect_end(&net, net.peer);
	net_over(&net, 0, 3);
}

static void peer_ends(void)
{
	struct weir_error *error;

	/* it may have before */
	(void)shutdown(net.peer, SHUT_WR);
	assert_int_equal(weir_flow_run_wait(reads, WEIR_FOREVER, NULL, &error),
			 0);
	assert_null(error);
	weir_flow_run_free(reads);
	weir_flow_free(reading);
}

static void end(void)
{
	weir_flow_queue_free(queue);
	net_end(&net);
}

static const int families[2] = {AF_INET, AF_UNIX};

static void the_peer_ends_first(void **state)
{
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			begin(*kind, families[i]);
			peer_ends();
			we_end();
			end();
		}
	}
}

static void we_end_first(void **state)
{
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			begin(*kind, families[i]);
			we_end();
			/* the other way goes on */
			send_text(net.peer, "more");
			peer_ends();
			end();
		}
	}
}

static void both_end_at_once(void **state)
{
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			begin(*kind, families[i]);
			assert_int_equal(shutdown(net.peer, SHUT_WR), 0);
			we_end();
			peer_ends();
			end();
		}
	}
}

/* It takes nothing, and its close resets nothing that was on its way. */
static void the_peer_closes_both_ways_first(void **state)
{
	struct weir_error *error;
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 2; i++) {
			begin(*kind, families[i]);
			assert_int_equal(close(net.peer), 0);
			net.peer = -1;
			assert_int_equal(weir_flow_run_wait(reads, WEIR_FOREVER,
							    NULL, &error),
					 0);
			assert_null(error);
			weir_flow_run_free(reads);
			weir_flow_free(reading);
			/* of TCP only the second one finds nobody */
			put("bye");
			while (families[i] == AF_INET && !net_is_over(&net)) {
				struct weir_connection_counts counts;

				net_drive(&net);
				(void)weir_connection_count(net.connection,
							    &counts);
				if (counts.error)
					break;
			}
			net_over(&net, -ECONNRESET, 0);
			end();
		}
	}
}

/* Nobody wakes up, and nothing is lost. */
static void a_peer_that_ended_and_is_silent_costs_nothing(void **state)
{
	size_t slices;

	net_begin(&net, &sim);
	net_connect(&net, AF_UNIX, NULL);
	assert_int_equal(weir_flow_queue_new(&queue, 4,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     weir_flow_bytes_items()),
			 0);
	net_start(&net, weir_connection_write(weir_flow_from_queue(queue),
					      net.connection));
	reading = weir_flow_ignore(weir_connection_read(net.connection, 64));
	assert_int_equal(
		weir_flow_start(reading, net.place.executor, NULL, &reads), 0);
	peer_ends();
	net_drive(&net);
	slices = weir_sim_run(net.place.sim);
	assert_int_equal(slices, 0);
	we_end();
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peer_ends_first),
		cmocka_unit_test(we_end_first),
		cmocka_unit_test(both_end_at_once),
		cmocka_unit_test(the_peer_closes_both_ways_first),
		cmocka_unit_test(a_peer_that_ended_and_is_silent_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
