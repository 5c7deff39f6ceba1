/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ck_pr.h>

static int text_of_number(void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRIdPTR, (intptr_t)*item);
	int rc = weir_flow_bytes_new(&bytes, (size_t)n, NULL);

	if (rc < 0)
		return rc;
	memcpy(bytes->data, text, (size_t)n);
	*item = bytes;
	return 0;
}

/* The texts of the numbers from `first` to `last`. */
static struct weir_flow *texts(int64_t first, int64_t last)
{
	struct weir_flow *flow = weir_flow_range(first, last);

	flow = weir_flow_map(flow, text_of_number, NULL);
	return weir_flow_items(flow, weir_flow_bytes_items());
}

static void begin(struct nats_world *world)
{
	nats_begin(world);
	server_stream(&world->server, "S");
	server_stream(&world->server, "T");
	server_consumer(&world->server, "S", 30 * (int64_t)SECOND, -1);
}

/* What is stored, by its number there. */
static uint64_t stored_at(struct server *server, const char *stream,
			  uint64_t sequence)
{
	natsMsg *msg = NULL;
	char text[24] = "";

	assert_int_equal(js_GetMsg(&msg, server->js, stream, sequence, NULL,
				   NULL),
			 NATS_OK);
	memcpy(text, natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg));
	natsMsg_Destroy(msg);
	return strtoull(text, NULL, 10);
}

static void expect_stored(struct server *server, uint64_t n)
{
	uint64_t i;

	assert_int_equal(server_count(server, "T"), n);
	for (i = 1; i <= n; i++)
		assert_int_equal(stored_at(server, "T", i), i);
}

static void items_are_stored_in_order_and_counted(void **state)
{
	const struct weir_nats_sink_options options = {.subject = "T"};
	struct nats_world world;
	struct weir_flow *flow;
	void *result;

	begin(&world);
	flow = weir_flow_into_nats(texts(1, 1000), world.nats, &options);
	assert_int_equal(nats_run(&world, flow, &result), 0);
	assert_int_equal((uintptr_t)result, 1000);
	expect_stored(&world.server, 1000);
	flow = weir_flow_into_nats(texts(1, 0), world.nats, &options);
	assert_int_equal(nats_run(&world, flow, &result), 0);
	assert_int_equal((uintptr_t)result, 0);
	nats_end(&world);
}

static int subject_of(void *item, char *subject, size_t size, void *context)
{
	(void)snprintf(subject, size, "T.%" PRIu64, number_of(item) % 2);
	return 0;
}

static int id_of(void *item, char *id, size_t size, void *context)
{
	(void)snprintf(id, size, "%" PRIu64, number_of(item) / 2);
	return 0;
}

static void functions_say_subjects_and_ids(void **state)
{
	const struct weir_nats_sink_options options = {.subject_of = subject_of,
						       .id_of = id_of};
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow *flow;
	natsMsg *msg;

	begin(&world);
	/* 2 and 3 have one id, and so on */
	flow = weir_flow_into_nats(texts(2, 9), world.nats, &options);
	assert_int_equal(nats_run(&world, flow, NULL), 0);
	assert_int_equal(server_count(&world.server, "T"), 4);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_int_equal(stats.published, 8);
	assert_int_equal(stats.duplicate, 4);
	assert_int_equal(js_GetMsg(&msg, world.server.js, "T", 1, NULL, NULL),
			 NATS_OK);
	assert_string_equal(natsMsg_GetSubject(msg), "T.0");
	natsMsg_Destroy(msg);
	nats_end(&world);
}

/* A stream T of that retention gets the same two messages before and behind a start
 * of its server, and the first one is done meanwhile: how often it was known. */
static uint64_t known_behind_a_start(enum weir_nats_retention retention)
{
	static const char *const subjects[] = {"T.*"};
	const struct weir_nats_stream stream = {.name = "T",
						.subjects = subjects,
						.n_subjects = 1,
						.retention = retention};
	const struct weir_nats_consumer consumer = {.stream = "T",
						    .durable = "c"};
	const struct weir_nats_source_options source = {.stream = "T",
							.durable = "c"};
	const struct weir_nats_sink_options sink = {.subject_of = subject_of,
						    .id_of = id_of};
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow *flow;

	nats_begin(&world);
	assert_int_equal(weir_nats_stream_ensure_wait(world.nats, &stream, LONG,
						      NULL),
			 0);
	assert_int_equal(weir_nats_consumer_ensure_wait(world.nats, &consumer,
							LONG, NULL),
			 0);
	flow = weir_flow_into_nats(texts(2, 5), world.nats, &sink);
	assert_int_equal(nats_run(&world, flow, NULL), 0);
	assert_int_equal(server_count(&world.server, "T"), 2);
	flow = weir_flow_from_nats(world.nats, &source);
	flow = weir_flow_take(weir_flow_nats_done(flow), 1);
	assert_int_equal(nats_run(&world, weir_flow_ignore(flow), NULL), 0);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	server_kill(&world.server, SIGTERM);
	server_again(&world.server);
	flow = weir_flow_into_nats(texts(2, 5), world.nats, &sink);
	assert_int_equal(nats_run(&world, flow, NULL), 0);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_int_equal(stats.published, 8);
	nats_end(&world);
	return stats.duplicate;
}

/* 2 and 3 have one id, and 4 and 5: before the start each was known once. */
static void ids_of_what_is_stored_are_known_behind_a_start(void **state)
{
	assert_int_equal(known_behind_a_start(WEIR_NATS_RETENTION_LIMITS),
			 2 + 4);
}

static void a_work_queue_forgets_then_what_was_done(void **state)
{
	/* the message that was done is stored again, once */
	assert_int_equal(known_behind_a_start(WEIR_NATS_RETENTION_WORK), 2 + 3);
}

static void what_was_stored_settles_its_message(void **state)
{
	const struct weir_nats_sink_options options = {.subject = "T",
						       .settle = true};
	struct nats_world world;
	struct weir_flow *flow;
	natsMsg *msg;
	const char *id;

	begin(&world);
	server_publish(&world.server, "S", 1, 100);
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_take(flow, 100);
	flow = weir_flow_into_nats(flow, world.nats, &options);
	assert_int_equal(nats_run(&world, flow, NULL), 0);
	expect_stored(&world.server, 100);
	assert_int_equal(js_GetMsg(&msg, world.server.js, "T", 7, NULL, NULL),
			 NATS_OK);
	assert_int_equal(natsMsgHeader_Get(msg, "Nats-Msg-Id", &id), NATS_OK);
	assert_string_equal(id, "S.7");
	natsMsg_Destroy(msg);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	await(nothing_unsettled, &world.server);
	assert_int_equal(server_left(&world.server, "S"), 0);
	nats_end(&world);
}

static void a_subject_that_no_stream_has_is_an_error(void **state)
{
	const struct weir_nats_sink_options options = {
		.subject = "nowhere", .timeout_ns = SECOND / 5};
	struct nats_world world;

	begin(&world);
	assert_int_equal(nats_run(&world,
				  weir_flow_into_nats(texts(1, 10), world.nats,
						      &options),
				  NULL),
			 -EAGAIN);
	nats_end(&world);
}

static void a_stream_that_is_full_is_an_error(void **state)
{
	const struct weir_nats_sink_options options = {.subject = "full"};
	jsStreamConfig config;
	struct nats_world world;

	begin(&world);
	assert_int_equal(jsStreamConfig_Init(&config), NATS_OK);
	config.Name = "full";
	config.MaxMsgs = 5;
	config.Discard = js_DiscardNew;
	assert_int_equal(js_AddStream(NULL, world.server.js, &config, NULL,
				      NULL),
			 NATS_OK);
	assert_int_equal(nats_run(&world,
				  weir_flow_into_nats(texts(1, 10), world.nats,
						      &options),
				  NULL),
			 -ENOSPC);
	assert_int_equal(server_count(&world.server, "full"), 5);
	nats_end(&world);
}

static int large(void **item, void *context)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, 2 << 20, NULL), 0);
	memset(bytes->data, 'x', bytes->n);
	*item = bytes;
	return 0;
}

static void an_item_that_is_too_large_is_an_error(void **state)
{
	const struct weir_nats_sink_options options = {.subject = "T"};
	struct nats_world world;
	struct weir_flow *flow;

	begin(&world);
	flow = weir_flow_map(weir_flow_range(1, 3), large, NULL);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_into_nats(flow, world.nats, &options);
	assert_int_equal(nats_run(&world, flow, NULL), -EMSGSIZE);
	nats_end(&world);
}

/* --- Transforming --------------------------------------------------------- */

/* `number` of them, but at most 3. */
static int make(struct weir_nats_message *message, uint64_t i,
		struct weir_flow_bytes **out, void *context)
{
	uint64_t n = number_of(message) % 4;
	void *item = (void *)(intptr_t)(number_of(message) * 10 + i);
	int rc;

	if (i >= n)
		return 0;
	rc = text_of_number(&item, NULL);
	if (rc < 0)
		return rc;
	*out = item;
	return i + 1 == n && n < 3 ? WEIR_NEXT_LAST : 1;
}

static struct weir_flow *process(struct nats_world *world, uint64_t n)
{
	const struct weir_nats_sink_options options = {.subject = "T",
						       .window = 5};
	struct weir_flow *flow;

	flow = nats_source(world, (struct weir_nats_source_options){0});
	flow = weir_flow_take(flow, n);
	return weir_flow_nats_process(flow, make, NULL, world->nats, &options);
}

static void messages_are_done_when_what_was_made_of_them_is_stored(void **state)
{
	struct nats_world world;
	uint64_t i, j, at = 1;
	void *result;

	begin(&world);
	server_publish(&world.server, "S", 1, 100);
	assert_int_equal(nats_run(&world, process(&world, 100), &result), 0);
	assert_int_equal((uintptr_t)result, 150);
	assert_int_equal(server_count(&world.server, "T"), 150);
	for (i = 1; i <= 100; i++)
		for (j = 0; j < i % 4; j++)
			assert_int_equal(stored_at(&world.server, "T", at++),
					 i * 10 + j);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	await(nothing_unsettled, &world.server);
	nats_end(&world);
}

/* The consumer forgets, as one whose server has died may. */
static void what_was_made_before_is_not_stored_twice(void **state)
{
	struct weir_nats_stats stats;
	struct nats_world world;

	begin(&world);
	server_publish(&world.server, "S", 1, 100);
	assert_int_equal(nats_run(&world, process(&world, 100), NULL), 0);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	assert_int_equal(js_DeleteConsumer(world.server.js, "S", "c", NULL,
					   NULL),
			 NATS_OK);
	server_consumer(&world.server, "S", 30 * (int64_t)SECOND, -1);
	assert_int_equal(nats_run(&world, process(&world, 100), NULL), 0);
	assert_int_equal(server_count(&world.server, "T"), 150);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_int_equal(stats.duplicate, 150);
	nats_end(&world);
}

static int make_none(struct weir_nats_message *message, uint64_t i,
		     struct weir_flow_bytes **out, void *context)
{
	return -EBADMSG;
}

static void what_cannot_be_made_fails_and_is_given_back(void **state)
{
	const struct weir_nats_sink_options options = {.subject = "T"};
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow *flow;

	begin(&world);
	server_publish(&world.server, "S", 1, 1);
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_nats_process(flow, make_none, NULL, world.nats,
				      &options);
	assert_int_equal(nats_run(&world, flow, NULL), -EBADMSG);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_int_equal(stats.done, 0);
	assert_true(stats.retried >= 1);
	nats_end(&world);
}

static void bad_options_make_a_failed_flow(void **state)
{
	const struct weir_nats_sink_options bad[] = {
		{0},
		{.subject = "a", .subject_of = subject_of},
		{.subject = ""},
		{.subject = "a.*"},
		{.subject = "a", .reserved = {1}},
		{.subject = "a", .window = (size_t)WEIR_CAPACITY_MAX + 1},
		{.subject = "a", .order = (enum weir_nats_order)2},
	};
	const struct weir_nats_sink_options good = {.subject = "a"};
	struct weir_nats *nats = (struct weir_nats *)&good;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		flow = weir_flow_into_nats(texts(1, 2), nats, &bad[i]);
		assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
		weir_flow_free(flow);
	}
	flow = weir_flow_into_nats(texts(1, 2), NULL, &good);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	flow = weir_flow_into_nats(texts(1, 2), nats, NULL);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	flow = weir_flow_nats_process(texts(1, 2), NULL, NULL, nats, &good);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	/* numbers are no bytes */
	flow = weir_flow_into_nats(weir_flow_range(1, 2), nats, &good);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
}

/* --- Items that are given back late ------------------------------------------ */

struct late {
	struct weir_allocator allocator;
	struct weir_flow_run *run; /* NULL: not told yet */
	uint32_t n;		   /* given back */
	int waited; /* what waiting for the end of the run says */
};

static void *late_take(size_t size, void *context)
{
	return malloc(size);
}

/* The first that is stored is given back by libnats' thread, when nothing else
 * holds the run up. */
static void late_give(void *memory, size_t size, void *context)
{
	struct late *late = context;
	struct weir_flow_run *run;

	free(memory);
	if (ck_pr_faa_32(&late->n, 1) > 0)
		return;
	while (!(run = ck_pr_load_ptr(&late->run)))
		(void)sched_yield();
	weir_flow_run_stop(run, NULL);
	late->waited = weir_flow_run_wait(run, SECOND / 20, NULL, NULL);
}

static int late_text(void **item, void *context)
{
	struct late *late = context;
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, 1, &late->allocator), 0);
	bytes->data[0] = 'x';
	*item = bytes;
	return 0;
}

static void a_run_is_not_over_before_its_items_are_given_back(void **state)
{
	const struct weir_nats_sink_options options = {.subject = "T"};
	struct late late = {.allocator = {late_take, late_give, &late}};
	struct nats_world world;
	struct weir_flow_run *run;
	struct weir_flow *flow;

	begin(&world);
	flow = weir_flow_map(weir_flow_range(1, 1000), late_text, &late);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_into_nats(flow, world.nats, &options);
	run = nats_start(&world, flow);
	ck_pr_store_ptr(&late.run, run);
	(void)nats_wait(run, NULL);
	assert_int_equal(late.waited, -ETIMEDOUT);
	weir_flow_free(flow);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_stored_in_order_and_counted),
		cmocka_unit_test(functions_say_subjects_and_ids),
		cmocka_unit_test(
			ids_of_what_is_stored_are_known_behind_a_start),
		cmocka_unit_test(a_work_queue_forgets_then_what_was_done),
		cmocka_unit_test(what_was_stored_settles_its_message),
		cmocka_unit_test(a_subject_that_no_stream_has_is_an_error),
		cmocka_unit_test(a_stream_that_is_full_is_an_error),
		cmocka_unit_test(an_item_that_is_too_large_is_an_error),
		cmocka_unit_test(
			messages_are_done_when_what_was_made_of_them_is_stored),
		cmocka_unit_test(what_was_made_before_is_not_stored_twice),
		cmocka_unit_test(what_cannot_be_made_fails_and_is_given_back),
		cmocka_unit_test(bad_options_make_a_failed_flow),
		cmocka_unit_test(
			a_run_is_not_over_before_its_items_are_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
