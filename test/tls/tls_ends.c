/* SPDX-License-Identifier: BSD-2-Clause */
/* The two ways of a connection over TLS end one after the other, in any order,
 * or are cut. */
#include "tls/kit.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

static struct tls_net net;

/* What we write is put into a queue; what we read is counted. */
static struct weir_flow_queue *queue;
static struct weir_flow_run *reads;
static struct weir_flow *reading;

static void start_both(void)
{
	struct weir_flow *flow;

	assert_int_equal(weir_flow_queue_new(&queue, 4,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     weir_flow_bytes_items()),
			 0);
	flow = weir_flow_from_queue(queue);
	net_start(&net.net, weir_connection_write(flow, net.net.connection));
	reading =
		weir_flow_ignore(weir_connection_read(net.net.connection, 64));
	assert_int_equal(weir_flow_start(reading, net.net.place.executor, NULL,
					 &reads),
			 0);
}

static void begin(const struct kind *kind, unsigned int side, int version)
{
	tls_begin(&net, kind, side, version);
	start_both();
	peer_handshake(&net);
	peer_text(&net, "hello");
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
	peer_expect(&net, "bye");
	peer_expect_end(&net);
	expect_end(&net.net, net.net.peer);
	net_over(&net.net, 0, 3);
}

/* The run that reads is over, with this code. */
static void reads_over(int code)
{
	struct weir_error *error;

	assert_int_equal(weir_flow_run_wait(reads, WEIR_FOREVER, NULL, &error),
			 0);
	if ((error ? error->code : 0) != code)
		fail_msg("%s", error ? error->message : "no error");
	weir_error_unref(error);
	weir_flow_run_free(reads);
	weir_flow_free(reading);
	reads = NULL;
}

static void end(void)
{
	weir_flow_queue_free(queue);
	tls_end(&net);
}

/* --- Well ----------------------------------------------------------------- */

static void the_peer_ends_first(void **state)
{
	for_each_case(kind, side, version)
	{
		begin(*kind, side, *version);
		peer_end(&net);
		reads_over(0);
		we_end();
		end();
	}
}

static void we_end_first(void **state)
{
	for_each_case(kind, side, version)
	{
		begin(*kind, side, *version);
		we_end();
		/* the other way goes on */
		peer_text(&net, "more");
		peer_end(&net);
		reads_over(0);
		end();
	}
}

static void both_end_at_once(void **state)
{
	for_each_case(kind, side, version)
	{
		begin(*kind, side, *version);
		peer_end(&net);
		we_end();
		reads_over(0);
		end();
	}
}

/* What is written then finds nobody. */
static void the_peer_closes_both_ways_first(void **state)
{
	struct weir_flow_bytes *bytes;

	for_each_case(kind, side, version)
	{
		begin(*kind, side, *version);
		peer_end(&net);
		reads_over(0);
		peer_close(&net);
		while (!net_is_over(&net.net)) {
			assert_int_equal(weir_flow_bytes_new(&bytes, 3, NULL),
					 0);
			memcpy(bytes->data, "bye", 3);
			if (weir_flow_queue_offer(queue, bytes) < 0)
				weir_flow_bytes_unref(bytes);
			net_drive(&net.net);
		}
		net_over(&net.net, -ECONNRESET, 0);
		end();
	}
}

/* Its TCP goes on, so no more than a record tells of it. */
static void a_close_notify_alone_ends_the_read_flow(void **state)
{
	for_each_case(kind, side, version)
	{
		begin(*kind, side, *version);
		assert_true(SSL_shutdown(net.peer) >= 0);
		reads_over(0);
		we_end();
		end();
	}
}

/* The same behind bytes that come with it, in one segment. */
static void a_close_notify_behind_bytes_ends_the_read_flow(void **state)
{
	const int on = 1, off = 0;

	for_each_case(kind, side, version)
	{
		begin(*kind, side, *version);
		assert_int_equal(setsockopt(net.net.peer, IPPROTO_TCP, TCP_CORK,
					    &on, sizeof(on)),
				 0);
		peer_text(&net, "the last");
		assert_true(SSL_shutdown(net.peer) >= 0);
		assert_int_equal(setsockopt(net.net.peer, IPPROTO_TCP, TCP_CORK,
					    &off, sizeof(off)),
				 0);
		reads_over(0);
		we_end();
		end();
	}
}

static void without_half_close_our_end_ends_the_read_flow(void **state)
{
	const struct weir_connection_options options = {.no_half_close = true};

	for_each_kind(kind)
	{
		tls_begin_with(&net, *kind, WE_ACCEPT, tls_server(CERT_GOOD, 0),
			       tls_client(0), NULL, &options);
		start_both();
		peer_handshake(&net);
		put("bye");
		assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
		peer_expect(&net, "bye");
		peer_expect_end(&net);
		peer_end(&net);
		reads_over(0);
		net_over(&net.net, 0, 3);
		end();
	}
}

/* An end is told behind the handshake, also if there was nothing to write. */
static void who_writes_nothing_shakes_hands_and_ends(void **state)
{
	for_each_case(kind, side, version)
	{
		tls_begin(&net, *kind, side, *version);
		start_both();
		assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
		peer_handshake(&net);
		peer_expect_end(&net);
		peer_end(&net);
		reads_over(0);
		net_over(&net.net, 0, 0);
		end();
	}
}

/* --- Not well ------------------------------------------------------------- */

static void a_peer_that_is_cut_off_fails_both_flows(void **state)
{
	for_each_case(kind, side, version)
	{
		begin(*kind, side, *version);
		assert_int_equal(shutdown(net.net.peer, SHUT_WR), 0);
		reads_over(-EPROTO);
		/* so that we need not wait for more of it */
		peer_close(&net);
		tls_over(&net, -EPROTO, "without a close_notify");
		end();
	}
}

static void a_peer_may_be_cut_off_where_that_is_allowed(void **state)
{
	const struct weir_tls_options options = {.allow_truncation = true};

	for_each_case(kind, side, version)
	{
		tls_begin_with(
			&net, *kind, side,
			side == WE_ACCEPT ? tls_server(CERT_GOOD, *version)
					  : tls_client(*version),
			side == WE_CONNECT ? tls_server(CERT_GOOD, *version)
					   : tls_client(*version),
			&options, NULL);
		start_both();
		peer_handshake(&net);
		peer_text(&net, "hello");
		assert_int_equal(shutdown(net.net.peer, SHUT_WR), 0);
		reads_over(0);
		we_end();
		end();
	}
}

/* Also where that would be allowed behind it. */
static void a_peer_that_ends_in_the_handshake_fails_both_flows(void **state)
{
	const struct weir_tls_options allowed = {.allow_truncation = true};
	const struct weir_tls_options *options[] = {NULL, &allowed};
	size_t i;

	for_each_kind(kind)
	{
		for (i = 0; i < 4; i++) {
			tls_begin_with(&net, *kind, (unsigned int)i / 2,
				       i / 2 == WE_ACCEPT
					       ? tls_server(CERT_GOOD, 0)
					       : tls_client(0),
				       NULL, options[i % 2], NULL);
			start_both();
			peer_close(&net);
			reads_over(-EPROTO);
			tls_over(&net, -EPROTO, "ended");
			end();
		}
	}
}

static void a_reset_fails_both_flows(void **state)
{
	for_each_case(kind, side, version)
	{
		begin(*kind, side, *version);
		reset(net.net.peer);
		net.net.peer = -1;
		reads_over(-ECONNRESET);
		net_over(&net.net, -ECONNRESET, 0);
		end();
	}
}

/* No peer takes half of an answer for all of it. */
static void an_upstream_that_fails_resets_the_peer(void **state)
{
	for_each_case(kind, side, version)
	{
		struct weir_error *error = weir_error_of(-EIO);

		begin(*kind, side, *version);
		put("half of it");
		peer_expect(&net, "half of it");
		assert_int_equal(weir_flow_queue_end(queue, error), 0);
		expect_reset(&net.net, net.net.peer);
		reads_over(-ECONNRESET);
		net_over(&net.net, -EIO, 0);
		end();
	}
}

static void a_stop_resets_the_peer_in_the_handshake(void **state)
{
	for_each_kind(kind)
	{
		tls_begin_with(&net, *kind, WE_ACCEPT, tls_server(CERT_GOOD, 0),
			       NULL, NULL, NULL);
		start_both();
		net_drive(&net.net);
		weir_connection_stop(net.net.connection);
		expect_reset(&net.net, net.net.peer);
		reads_over(-ECONNRESET);
		net_over(&net.net, -ECONNRESET, 0);
		end();
	}
}

/* The peer has all of the answer, though nobody takes what it sends. */
static void who_reads_no_more_lingers(void **state)
{
	static char much[100000], got[100000];

	memset(much, 'm', sizeof(much));
	for_each_case(kind, side, version)
	{
		tls_begin(&net, *kind, side, *version);
		start_both();
		peer_handshake(&net);
		weir_flow_run_stop(reads, NULL);
		peer_send(&net, much, 30000);
		put("the answer");
		assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
		peer_send(&net, much, 30000);
		peer_take(&net, got, 10);
		assert_memory_equal(got, "the answer", 10);
		peer_expect_end(&net);
		peer_end(&net);
		reads_over(-ECANCELED);
		net_over(&net.net, 0, 10);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peer_ends_first),
		cmocka_unit_test(we_end_first),
		cmocka_unit_test(both_end_at_once),
		cmocka_unit_test(the_peer_closes_both_ways_first),
		cmocka_unit_test(a_close_notify_alone_ends_the_read_flow),
		cmocka_unit_test(
			a_close_notify_behind_bytes_ends_the_read_flow),
		cmocka_unit_test(without_half_close_our_end_ends_the_read_flow),
		cmocka_unit_test(who_writes_nothing_shakes_hands_and_ends),
		cmocka_unit_test(a_peer_that_is_cut_off_fails_both_flows),
		cmocka_unit_test(a_peer_may_be_cut_off_where_that_is_allowed),
		cmocka_unit_test(
			a_peer_that_ends_in_the_handshake_fails_both_flows),
		cmocka_unit_test(a_reset_fails_both_flows),
		cmocka_unit_test(an_upstream_that_fails_resets_the_peer),
		cmocka_unit_test(a_stop_resets_the_peer_in_the_handshake),
		cmocka_unit_test(who_reads_no_more_lingers),
	};

	return cmocka_run_group_tests(tests, tls_kit_begin, tls_kit_end);
}
