/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The numbers that have come, each once, in order. */
struct seen {
	uint64_t n, sum, last;
	bool in_order;
};

static int see(void **item, void *context)
{
	struct seen *seen = context;
	uint64_t number = number_of(*item);

	seen->in_order = (seen->n == 0 || number > seen->last) &&
			 (seen->n == 0 || seen->in_order);
	seen->n++;
	seen->sum += number;
	seen->last = number;
	return 0;
}

static void begin(struct nats_world *world, uint64_t n)
{
	nats_begin(world);
	server_stream(&world->server, "S");
	server_consumer(&world->server, "S", 30 * (int64_t)SECOND, -1);
	if (n > 0)
		server_publish(&world->server, "S", 1, n);
}

static void messages_come_in_order_and_are_done(void **state)
{
	struct seen seen = {0};
	struct nats_world world;
	struct weir_flow *flow;

	begin(&world, 1000);
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_map(flow, see, &seen);
	flow = weir_flow_same_items(flow);
	flow = weir_flow_nats_done(flow);
	flow = weir_flow_take(flow, 1000);
	assert_int_equal(nats_run(&world, weir_flow_ignore(flow), NULL), 0);
	assert_int_equal(seen.n, 1000);
	assert_int_equal(seen.sum, 1000 * 1001 / 2);
	assert_true(seen.in_order);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	await(nothing_unsettled, &world.server);
	assert_int_equal(server_left(&world.server, "S"), 0);
	nats_end(&world);
}

/* Also what came when the run was over. */
static void what_a_cancelled_run_has_not_taken_is_given_back(void **state)
{
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow *flow;
	uint64_t i;

	begin(&world, 0);
	for (i = 1; i <= 20; i++) {
		server_publish(&world.server, "S", 3 * i - 2, 3 * i);
		flow = nats_source(&world,
				   (struct weir_nats_source_options){0});
		flow = weir_flow_take(weir_flow_nats_done(flow), 2);
		assert_int_equal(nats_run(&world, weir_flow_ignore(flow), NULL),
				 0);
		assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
		assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
		assert_int_equal(stats.done, 2 * i);
		assert_int_equal(stats.received + stats.excess,
				 stats.done + stats.retried);
	}
	nats_end(&world);
}

static int code_of(struct nats_world *world,
		   struct weir_nats_source_options options)
{
	return nats_run(world, weir_flow_ignore(nats_source(world, options)),
			NULL);
}

static void consumer(struct nats_world *world, int64_t max_ack_pending,
		     int64_t max_deliver, const char *deliver,
		     jsAckPolicy policy)
{
	jsConsumerConfig config;

	(void)js_DeleteConsumer(world->server.js, "S", "c", NULL, NULL);
	assert_int_equal(jsConsumerConfig_Init(&config), NATS_OK);
	config.Durable = "c";
	config.AckPolicy = policy;
	config.MaxAckPending = max_ack_pending;
	config.MaxDeliver = max_deliver;
	config.DeliverSubject = deliver;
	assert_int_equal(js_AddConsumer(NULL, world->server.js, "S", &config,
					NULL, NULL),
			 NATS_OK);
}

/* Test 9. */
static void a_consumer_that_would_stall_is_refused(void **state)
{
	const struct weir_nats_source_options small = {.window = 6,
						       .in_flight = 4};
	const struct weir_nats_source_options thrice = {.max_deliver = 3};
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;

	begin(&world, 0);
	consumer(&world, 9, -1, NULL, js_AckExplicit);
	assert_int_equal(code_of(&world, small), -EINVAL);
	consumer(&world, 10, -1, NULL, js_AckExplicit);
	flow = weir_flow_ignore(nats_source(&world, small));
	run = nats_start(&world, flow);
	server_publish(&world.server, "S", 1, 1);
	weir_flow_run_end(run);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	consumer(&world, 1000, 3, NULL, js_AckExplicit);
	assert_int_equal(code_of(&world, thrice), -EINVAL);
	consumer(&world, 1000, -1, "inbox", js_AckExplicit);
	assert_int_equal(code_of(&world, small), -EPROTOTYPE);
	consumer(&world, 1000, -1, NULL, js_AckAll);
	assert_int_equal(code_of(&world, small), -EINVAL);
	(void)js_DeleteConsumer(world.server.js, "S", "c", NULL, NULL);
	assert_int_equal(code_of(&world, small), -ENOENT);
	(void)js_DeleteStream(world.server.js, "S", NULL, NULL);
	assert_int_equal(code_of(&world, small), -ENOENT);
	nats_end(&world);
}

static bool one_waits(void *server)
{
	return server_waiting(server, "S") > 0;
}

static void a_consumer_that_is_deleted_ends_the_stream(void **state)
{
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;

	begin(&world, 0);
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_ignore(flow);
	run = nats_start(&world, flow);
	await(one_waits, &world.server);
	assert_int_equal(js_DeleteConsumer(world.server.js, "S", "c", NULL,
					   NULL),
			 NATS_OK);
	assert_int_equal(nats_wait(run, NULL), -ENOENT);
	weir_flow_free(flow);
	nats_end(&world);
}

#define HELD 1000u

struct held {
	struct weir_nats_message *messages[HELD];
	uint32_t n;
};

static int hold(void *item, void *context)
{
	struct held *held = context;

	held->messages[held->n] = item;
	__atomic_store_n(&held->n, held->n + 1, __ATOMIC_RELEASE);
	return 0;
}

static bool all_held(void *context)
{
	struct held *held = context;

	return __atomic_load_n(&held->n, __ATOMIC_ACQUIRE) == HELD;
}

/* Test 11. */
static void drain(bool by_run)
{
	static struct held held;
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	size_t i;

	memset(&held, 0, sizeof(held));
	begin(&world, 0);
	consumer(&world, 2 * HELD, -1, NULL, js_AckExplicit);
	server_publish(&world.server, "S", 1, HELD);
	flow = nats_source(&world,
			   (struct weir_nats_source_options){.window = HELD});
	flow = weir_flow_for_each(flow, hold, &held);
	run = nats_start(&world, flow);
	await(all_held, &held);
	if (by_run)
		weir_flow_run_end(run);
	assert_int_equal(weir_nats_free(world.nats), -EBUSY);
	/* it cannot be over, however long that takes */
	assert_int_equal(weir_nats_end_wait(world.nats, SECOND / 10),
			 -ETIMEDOUT);
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, NULL), -ETIMEDOUT);
	for (i = 0; i < HELD; i++) {
		assert_int_equal(weir_nats_message_done(held.messages[i]), 0);
		weir_flow_bytes_unref(
			(struct weir_flow_bytes *)held.messages[i]);
	}
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	await(nothing_unsettled, &world.server);
	assert_int_equal(server_left(&world.server, "S"), 0);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_int_equal(stats.done, HELD);
	assert_int_equal(stats.redelivered, 0);
	nats_end(&world);
}

static void a_drain_waits_for_what_is_unsettled(void **state)
{
	drain(true);
}

static void so_does_the_end_of_a_connection(void **state)
{
	drain(false);
}

static void a_drain_does_not_wait_longer_than_was_said(void **state)
{
	static struct held held;
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	size_t i;

	memset(&held, 0, sizeof(held));
	begin(&world, HELD);
	flow = nats_source(&world,
			   (struct weir_nats_source_options){
				   .window = 200, .drain_ns = SECOND / 10});
	flow = weir_flow_for_each(flow, hold, &held);
	run = nats_start(&world, flow);
	await(all_held, &held);
	weir_flow_run_end(run);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	for (i = 0; i < HELD; i++)
		weir_flow_bytes_unref(
			(struct weir_flow_bytes *)held.messages[i]);
	nats_end(&world);
}

/* --- Golden traces: test 6 ------------------------------------------------ */

/* What goes by on these subjects, up to "end". */
static void expect_trace(natsSubscription *seen, const char *const *lines,
			 size_t n)
{
	char line[200];
	natsMsg *msg;
	size_t i;

	for (i = 0; i < n; i++) {
		assert_int_equal(natsSubscription_NextMsg(&msg, seen, 60000),
				 NATS_OK);
		(void)snprintf(line, sizeof(line), "%.*s",
			       natsMsg_GetDataLength(msg),
			       natsMsg_GetData(msg));
		natsMsg_Destroy(msg);
		assert_string_equal(line, lines[i]);
	}
}

struct trace {
	uint64_t at, sequences[8], deliveries[8];
};

/* Gives the first message back once, and is done with all else. */
static int once_more(void **item, void *context)
{
	struct weir_nats_message *message = *item;
	struct trace *trace = context;

	trace->sequences[trace->at] = weir_nats_message_sequence(message);
	trace->deliveries[trace->at++] = weir_nats_message_deliveries(message);
	return weir_nats_message_sequence(message) == 1 &&
			       weir_nats_message_deliveries(message) == 1
		       ? weir_nats_message_retry(message, 0)
		       : weir_nats_message_done(message);
}

/* What is given back takes a request, too (fact 9). */
static void in_lock_step_each_is_asked_for_by_itself(void **state)
{
#define ASKING(n) \
	"{\"batch\":" n ",\"expires\":30000000000," \
	"\"idle_heartbeat\":5000000000}"
	static const char *const lines[] = {ASKING("1"), "-NAK", "+ACK"};
	struct trace trace = {0};
	natsSubscription *seen;
	struct nats_world world;
	struct weir_flow *flow;
	char line[200];
	natsMsg *msg;
	size_t i, n[3] = {0, 0, 0}, times[4] = {0, 0, 0, 0};

	begin(&world, 3);
	assert_int_equal(natsConnection_SubscribeSync(&seen, world.server.peer,
						      "$JS.*.>"),
			 NATS_OK);
	assert_int_equal(natsConnection_Flush(world.server.peer), NATS_OK);
	flow = nats_source(&world,
			   (struct weir_nats_source_options){.window = 1});
	flow = weir_flow_map(flow, once_more, &trace);
	flow = weir_flow_take(weir_flow_same_items(flow), 4);
	assert_int_equal(nats_run(&world, weir_flow_ignore(flow), NULL), 0);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	/* the server may have sent the second before it hears of the first */
	assert_int_equal(trace.sequences[0], 1);
	for (i = 0; i < 4; i++) {
		times[trace.sequences[i]]++;
		assert_int_equal(trace.deliveries[i],
				 times[trace.sequences[i]]);
	}
	assert_int_equal(times[1], 2);
	assert_int_equal(times[2], 1);
	assert_int_equal(times[3], 1);
	/* a fifth one may have been asked for when the flow was over */
	while (n[1] + n[2] < 4) {
		assert_int_equal(natsSubscription_NextMsg(&msg, seen, 60000),
				 NATS_OK);
		(void)snprintf(line, sizeof(line), "%.*s",
			       natsMsg_GetDataLength(msg),
			       natsMsg_GetData(msg));
		n[0] += strcmp(line, lines[0]) == 0;
		n[1] += strcmp(line, lines[1]) == 0;
		n[2] += strcmp(line, lines[2]) == 0;
		natsMsg_Destroy(msg);
	}
	assert_in_range(n[0], 4, 5);
	assert_int_equal(n[1], 1);
	assert_int_equal(n[2], 3);
	natsSubscription_Destroy(seen);
	nats_end(&world);
}

/* Requests are for half of the window at least. */
static void requests_are_as_large_as_was_said(void **state)
{
	static const char *const lines[] = {ASKING("8"), ASKING("4"),
					    ASKING("4"), ASKING("4")};
	natsSubscription *seen;
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	uint64_t i;

	begin(&world, 0);
	assert_int_equal(
		natsConnection_SubscribeSync(&seen, world.server.peer,
					     "$JS.API.CONSUMER.MSG.NEXT.S.c"),
		NATS_OK);
	assert_int_equal(natsConnection_Flush(world.server.peer), NATS_OK);
	flow = nats_source(&world,
			   (struct weir_nats_source_options){.window = 8});
	flow = weir_flow_ignore(weir_flow_nats_done(flow));
	run = nats_start(&world, flow);
	expect_trace(seen, lines, 1);
	for (i = 0; i < 3; i++) {
		server_publish(&world.server, "S", 4 * i + 1, 4 * i + 4);
		expect_trace(seen, lines + 1 + i, 1);
	}
	weir_flow_run_end(run);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	natsSubscription_Destroy(seen);
	nats_end(&world);
}

static void bad_options_make_a_failed_flow(void **state)
{
	const struct weir_nats_source_options bad[] = {
		{.stream = NULL, .durable = "c"},
		{.stream = "S", .durable = NULL},
		{.stream = "a.b", .durable = "c"},
		{.stream = "S", .durable = "c>"},
		{.stream = "S", .durable = "c", .window = 4, .refill = 5},
		{.stream = "S", .durable = "c", .expires_ns = SECOND - 1},
		{.stream = "S", .durable = "c", .max_deliver = -1},
		{.stream = "S", .durable = "c", .n_backoff = 1},
		{.stream = "S", .durable = "c", .reserved = {1}},
	};
	struct weir_nats *nats = (struct weir_nats *)(void *)&bad;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		flow = weir_flow_from_nats(nats, &bad[i]);
		assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
		weir_flow_free(flow);
	}
	flow = weir_flow_from_nats(NULL, &bad[0]);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	flow = weir_flow_from_nats(nats, NULL);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_consumer_that_would_stall_is_refused),
		cmocka_unit_test(a_consumer_that_is_deleted_ends_the_stream),
		cmocka_unit_test(a_drain_waits_for_what_is_unsettled),
		cmocka_unit_test(so_does_the_end_of_a_connection),
		cmocka_unit_test(a_drain_does_not_wait_longer_than_was_said),
		cmocka_unit_test(in_lock_step_each_is_asked_for_by_itself),
		cmocka_unit_test(requests_are_as_large_as_was_said),
		cmocka_unit_test(bad_options_make_a_failed_flow),
		cmocka_unit_test(
			what_a_cancelled_run_has_not_taken_is_given_back),
		cmocka_unit_test(messages_come_in_order_and_are_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
