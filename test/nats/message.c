/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <errno.h>
#include <string.h>

#include "nats/message.h"

/* --- Ack subjects --------------------------------------------------------- */

static void ack_subjects_of_both_versions_are_read(void **state)
{
	static const char *const subjects[] = {
		"$JS.ACK.S.c.3.17.21.1700000000000000123.5",
		"$JS.ACK.hub.ACCHASH.S.c.3.17.21.1700000000000000123.5",
		"$JS.ACK._.ACCHASH.S.c.3.17.21.1700000000000000123.5.rnd",
	};
	struct weir__nats_meta meta;
	size_t i;

	for (i = 0; i < 3; i++) {
		memset(&meta, 0, sizeof(meta));
		assert_true(weir__nats_meta_parse(&meta, subjects[i]));
		assert_int_equal(meta.deliveries, 3);
		assert_int_equal(meta.sequence, 17);
		assert_int_equal(meta.consumer_sequence, 21);
		assert_true(meta.time == INT64_C(1700000000000000123));
		assert_int_equal(meta.pending, 5);
	}
}

static void what_is_no_ack_subject_is_refused(void **state)
{
	static const char *const subjects[] = {
		NULL,
		"",
		"$JS.ACK.",
		"$JS.ACK.S.c.3.17.21.1700",
		"$JS.ACK.S.c.3.17.21.1700.5.6",
		"$JS.ACK.S.c.x.17.21.1700.5",
		"$JS.ACK.S.c.3..21.1700.5",
		"$JS.ACK.S.c.3.17.21.1700.",
		"_INBOX.a.b.3.17.21.1700.5.6",
	};
	struct weir__nats_meta meta;
	size_t i;

	for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		assert_false(weir__nats_meta_parse(&meta, subjects[i]));
}

/* --- Settling ------------------------------------------------------------- */

/* The messages that have come, which the test holds. */
struct kept {
	struct weir_nats_message *messages[64];
	uint32_t n;
};

static int keep(void *item, void *context)
{
	struct kept *kept = context;

	kept->messages[kept->n] = item;
	__atomic_store_n(&kept->n, kept->n + 1, __ATOMIC_RELEASE);
	return 0;
}

struct wanted {
	struct kept *kept;
	uint32_t n;
};

static bool has(void *context)
{
	struct wanted *wanted = context;

	return __atomic_load_n(&wanted->kept->n, __ATOMIC_ACQUIRE) >= wanted->n;
}

static void await_kept(struct kept *kept, uint32_t n)
{
	struct wanted wanted = {kept, n};

	await(has, &wanted);
}

struct case_ {
	struct nats_world world;
	struct kept kept;
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

static void case_begin(struct case_ *it,
		       struct weir_nats_source_options options,
		       int64_t ack_wait_ns)
{
	memset(it, 0, sizeof(*it));
	nats_begin(&it->world);
	server_stream(&it->world.server, "S");
	server_stream(&it->world.server, "DEAD");
	server_consumer(&it->world.server, "S", ack_wait_ns, -1);
	it->flow = weir_flow_for_each(nats_source(&it->world, options), keep,
				      &it->kept);
	it->run = nats_start(&it->world, it->flow);
}

/* The test does not hold it any more. */
static void drop(struct weir_nats_message **message)
{
	weir_flow_bytes_unref((struct weir_flow_bytes *)*message);
	*message = NULL;
}

static void case_end(struct case_ *it)
{
	uint32_t i;

	weir_flow_run_stop(it->run, NULL);
	assert_int_equal(nats_wait(it->run, NULL), -ECANCELED);
	weir_flow_free(it->flow);
	for (i = 0; i < it->kept.n; i++)
		drop(&it->kept.messages[i]);
	nats_end(&it->world);
}

static void what_a_message_tells(void **state)
{
	struct weir_nats_message *message;
	struct case_ it;
	natsMsg *msg;

	case_begin(&it, (struct weir_nats_source_options){0}, 30 * SECOND);
	assert_int_equal(natsMsg_Create(&msg, "S.a", NULL, "hello", 5),
			 NATS_OK);
	assert_int_equal(natsMsgHeader_Set(msg, "Color", "red"), NATS_OK);
	assert_int_equal(js_PublishMsg(NULL, it.world.server.js, msg, NULL,
				       NULL),
			 NATS_OK);
	natsMsg_Destroy(msg);
	await_kept(&it.kept, 1);
	message = it.kept.messages[0];
	assert_int_equal(message->bytes.n, 5);
	assert_memory_equal(message->bytes.data, "hello", 5);
	assert_int_equal(weir_nats_message_sequence(message), 1);
	assert_int_equal(weir_nats_message_deliveries(message), 1);
	assert_int_equal(weir_nats_message_pending(message), 0);
	assert_true(weir_nats_message_time(message) > 0);
	assert_string_equal(weir_nats_message_subject(message), "S.a");
	assert_string_equal(weir_nats_message_header(message, "Color"), "red");
	assert_null(weir_nats_message_header(message, "Size"));
	assert_ptr_equal(weir_nats_message_of(&message->bytes), message);
	assert_int_equal(weir_nats_message_done(message), 0);
	drop(&it.kept.messages[0]);
	await(nothing_unsettled, &it.world.server);
	case_end(&it);
}

static void a_message_is_settled_once(void **state)
{
	struct weir_nats_message *message;
	struct case_ it;

	case_begin(&it, (struct weir_nats_source_options){0}, 30 * SECOND);
	server_publish(&it.world.server, "S", 1, 1);
	await_kept(&it.kept, 1);
	message = it.kept.messages[0];
	assert_int_equal(weir_nats_message_progress(message), 0);
	assert_int_equal(weir_nats_message_done(message), 0);
	assert_int_equal(weir_nats_message_done(message), -EALREADY);
	assert_int_equal(weir_nats_message_retry(message, 0), -EALREADY);
	assert_int_equal(weir_nats_message_dead(message, "why"), -EALREADY);
	assert_int_equal(weir_nats_message_progress(message), -EALREADY);
	drop(&it.kept.messages[0]);
	case_end(&it);
	assert_int_equal(weir_nats_message_done(NULL), -EINVAL);
	assert_null(weir_nats_message_of(NULL));
}

static void what_is_dropped_unsettled_comes_again(void **state)
{
	struct case_ it;

	case_begin(&it, (struct weir_nats_source_options){0}, 30 * SECOND);
	server_publish(&it.world.server, "S", 1, 1);
	await_kept(&it.kept, 1);
	drop(&it.kept.messages[0]);
	await_kept(&it.kept, 2);
	assert_int_equal(weir_nats_message_sequence(it.kept.messages[1]), 1);
	assert_int_equal(weir_nats_message_deliveries(it.kept.messages[1]), 2);
	assert_int_equal(weir_nats_message_done(it.kept.messages[1]), 0);
	drop(&it.kept.messages[1]);
	await(nothing_unsettled, &it.world.server);
	case_end(&it);
}

/* Each delay is as long as the one that was said; the clock is the server's. */
static void what_is_given_back_comes_when_its_delay_is_over(void **state)
{
	static const uint64_t backoff[] = {SECOND / 20, SECOND / 5};
	const struct weir_nats_source_options options = {.backoff = backoff,
							 .n_backoff = 2};
	uint64_t before;
	struct case_ it;

	case_begin(&it, options, 30 * SECOND);
	server_publish(&it.world.server, "S", 1, 1);
	await_kept(&it.kept, 1);
	before = weir__nats_now();
	drop(&it.kept.messages[0]);
	await_kept(&it.kept, 2);
	assert_true(weir__nats_now() - before >= backoff[0]);
	before = weir__nats_now();
	drop(&it.kept.messages[1]);
	await_kept(&it.kept, 3);
	assert_true(weir__nats_now() - before >= backoff[1]);
	before = weir__nats_now();
	assert_int_equal(
		weir_nats_message_retry(it.kept.messages[2], SECOND / 10), 0);
	drop(&it.kept.messages[2]);
	await_kept(&it.kept, 4);
	assert_true(weir__nats_now() - before >= SECOND / 10);
	drop(&it.kept.messages[3]);
	case_end(&it);
}

/* What is said of a message: the server and whoever listens are told. */
static void the_server_is_told_of_a_message_that_is_held(void **state)
{
	natsSubscription *told;
	struct case_ it;
	natsMsg *msg;
	int i;

	case_begin(&it, (struct weir_nats_source_options){0}, SECOND / 5);
	assert_int_equal(natsConnection_SubscribeSync(
				 &told, it.world.server.peer, "$JS.ACK.S.c.>"),
			 NATS_OK);
	assert_int_equal(natsConnection_Flush(it.world.server.peer), NATS_OK);
	server_publish(&it.world.server, "S", 1, 1);
	for (i = 0; i < 3; i++) {
		assert_int_equal(natsSubscription_NextMsg(&msg, told, 60000),
				 NATS_OK);
		assert_int_equal(natsMsg_GetDataLength(msg), 4);
		assert_memory_equal(natsMsg_GetData(msg), "+WPI", 4);
		natsMsg_Destroy(msg);
	}
	natsSubscription_Destroy(told);
	await_kept(&it.kept, 1);
	case_end(&it);
}

static void without_hold_it_does(void **state)
{
	struct case_ it;

	case_begin(&it, (struct weir_nats_source_options){.no_hold = true},
		   SECOND / 20);
	server_publish(&it.world.server, "S", 1, 1);
	await_kept(&it.kept, 2);
	assert_int_equal(weir_nats_message_deliveries(it.kept.messages[1]), 2);
	assert_int_equal(weir_nats_message_done(it.kept.messages[1]), 0);
	drop(&it.kept.messages[0]);
	drop(&it.kept.messages[1]);
	case_end(&it);
}

static bool one_is_dead(void *context)
{
	return server_count(context, "DEAD") == 1;
}

static void expect_dead(struct server *server, const char *deliveries,
			const char *reason)
{
	const char *value = NULL;
	natsMsg *msg;

	await(one_is_dead, server);
	assert_int_equal(js_GetMsg(&msg, server->js, "DEAD", 1, NULL, NULL),
			 NATS_OK);
	assert_int_equal(natsMsg_GetDataLength(msg), 1);
	assert_memory_equal(natsMsg_GetData(msg), "1", 1);
	assert_int_equal(natsMsgHeader_Get(msg, "Weir-Deliveries", &value),
			 NATS_OK);
	assert_string_equal(value, deliveries);
	assert_int_equal(natsMsgHeader_Get(msg, "Weir-Stream", &value),
			 NATS_OK);
	assert_string_equal(value, "S");
	/* one that is buried again is not stored again */
	assert_int_equal(natsMsgHeader_Get(msg, "Nats-Msg-Id", &value),
			 NATS_OK);
	assert_string_equal(value, "S.c.1.dead");
	assert_int_equal(natsMsgHeader_Get(msg, "Weir-Sequence", &value),
			 NATS_OK);
	assert_string_equal(value, "1");
	if (natsMsgHeader_Get(msg, "Weir-Reason", &value) != NATS_OK)
		value = NULL;
	if (reason)
		assert_string_equal(value, reason);
	else
		assert_null(value);
	natsMsg_Destroy(msg);
	await(nothing_unsettled, server);
}

/* Test 10. */
static void poison_is_dead_once_and_the_rest_flows(void **state)
{
	const struct weir_nats_source_options options = {
		.max_deliver = 3, .dead_subject = "DEAD"};
	struct weir_nats_message *message;
	struct case_ it;
	uint32_t i;

	case_begin(&it, options, 30 * SECOND);
	server_publish(&it.world.server, "S", 1, 10);
	for (i = 0; i < 12; i++) {
		await_kept(&it.kept, i + 1);
		message = it.kept.messages[i];
		if (weir_nats_message_sequence(message) > 1)
			assert_int_equal(weir_nats_message_done(message), 0);
		drop(&it.kept.messages[i]);
	}
	expect_dead(&it.world.server, "3", NULL);
	assert_int_equal(it.kept.n, 12);
	case_end(&it);
}

/* Somebody else is given it, and gives it back. */
static void give_back_once(struct server *server)
{
	natsMsg *msg;

	assert_int_equal(natsConnection_RequestString(
				 &msg, server->peer,
				 "$JS.API.CONSUMER.MSG.NEXT.S.c", "", 60000),
			 NATS_OK);
	assert_int_equal(natsConnection_PublishString(
				 server->peer, natsMsg_GetReply(msg), "-NAK"),
			 NATS_OK);
	natsMsg_Destroy(msg);
}

/* As one that ends each program that works on it. */
static void what_was_given_too_often_by_others_is_given_to_nobody(void **state)
{
	const struct weir_nats_source_options options = {
		.max_deliver = 2, .dead_subject = "DEAD"};
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct kept kept = {0};

	nats_begin(&world);
	server_stream(&world.server, "S");
	server_stream(&world.server, "DEAD");
	server_consumer(&world.server, "S", 30 * SECOND, -1);
	server_publish(&world.server, "S", 1, 1);
	give_back_once(&world.server);
	give_back_once(&world.server);
	flow = weir_flow_for_each(nats_source(&world, options), keep, &kept);
	run = nats_start(&world, flow);
	expect_dead(&world.server, "3", NULL);
	assert_int_equal(kept.n, 0);
	weir_flow_run_end(run);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	nats_end(&world);
}

static void one_may_be_dead_at_once_and_say_why(void **state)
{
	const struct weir_nats_source_options options = {
		.dead_subject = "DEAD"};
	struct case_ it;

	case_begin(&it, options, 30 * SECOND);
	server_publish(&it.world.server, "S", 1, 1);
	await_kept(&it.kept, 1);
	assert_int_equal(weir_nats_message_dead(it.kept.messages[0], "rotten"),
			 0);
	drop(&it.kept.messages[0]);
	expect_dead(&it.world.server, "1", "rotten");
	case_end(&it);
}

static void what_cannot_be_buried_comes_again(void **state)
{
	const struct weir_nats_source_options options = {
		.dead_subject = "nobody"};
	struct case_ it;

	case_begin(&it, options, 30 * SECOND);
	server_publish(&it.world.server, "S", 1, 1);
	await_kept(&it.kept, 1);
	assert_int_equal(weir_nats_message_dead(it.kept.messages[0], NULL), 0);
	drop(&it.kept.messages[0]);
	await_kept(&it.kept, 2);
	assert_int_equal(weir_nats_message_deliveries(it.kept.messages[1]), 2);
	drop(&it.kept.messages[1]);
	case_end(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ack_subjects_of_both_versions_are_read),
		cmocka_unit_test(what_is_no_ack_subject_is_refused),
		cmocka_unit_test(what_a_message_tells),
		cmocka_unit_test(a_message_is_settled_once),
		cmocka_unit_test(what_is_dropped_unsettled_comes_again),
		cmocka_unit_test(
			what_is_given_back_comes_when_its_delay_is_over),
		cmocka_unit_test(the_server_is_told_of_a_message_that_is_held),
		cmocka_unit_test(without_hold_it_does),
		cmocka_unit_test(poison_is_dead_once_and_the_rest_flows),
		cmocka_unit_test(
			what_was_given_too_often_by_others_is_given_to_nobody),
		cmocka_unit_test(one_may_be_dead_at_once_and_say_why),
		cmocka_unit_test(what_cannot_be_buried_comes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
