/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <errno.h>
#include <string.h>

static void begin(struct nats_world *world)
{
	nats_begin(world);
}

static const char *const subjects[] = {"a.*", "b"};
static const struct weir_nats_stream full = {
	.name = "S",
	.subjects = subjects,
	.n_subjects = 2,
	.storage = WEIR_NATS_STORAGE_MEMORY,
	.retention = WEIR_NATS_RETENTION_WORK,
	.max_messages = 100,
	.max_bytes = 1000,
	.max_age_ns = 3600 * SECOND,
	.duplicates_ns = 60 * SECOND,
	.replicas = 1,
};
static const struct weir_nats_consumer whole = {
	.stream = "S",
	.durable = "c",
	.filter = "b",
	.ack_wait_ns = 7 * SECOND,
	.max_deliver = 5,
	.max_ack_pending = 77,
};

static void a_stream_is_made_and_then_found(void **state)
{
	struct nats_world world;
	jsStreamInfo *info;

	begin(&world);
	assert_int_equal(
		weir_nats_stream_ensure_wait(world.nats, &full, LONG, NULL), 0);
	assert_int_equal(js_GetStreamInfo(&info, world.server.js, "S", NULL,
					  NULL),
			 NATS_OK);
	assert_int_equal(info->Config->SubjectsLen, 2);
	assert_string_equal(info->Config->Subjects[0], "a.*");
	assert_int_equal(info->Config->Storage, js_MemoryStorage);
	assert_int_equal(info->Config->Retention, js_WorkQueuePolicy);
	assert_int_equal(info->Config->MaxMsgs, 100);
	assert_int_equal(info->Config->MaxBytes, 1000);
	assert_true(info->Config->MaxAge == (int64_t)(3600 * SECOND));
	assert_true(info->Config->Duplicates == (int64_t)(60 * SECOND));
	jsStreamInfo_Destroy(info);
	assert_int_equal(
		weir_nats_stream_ensure_wait(world.nats, &full, LONG, NULL), 0);
	nats_end(&world);
}

static void a_stream_that_differs_names_the_field(void **state)
{
	struct weir_nats_stream others[9];
	static const char *const fields[] = {"subjects",     "subjects",
					     "storage",	     "retention",
					     "max_messages", "max_bytes",
					     "max_age_ns",   "duplicates_ns",
					     "replicas"};
	struct nats_world world;
	const char *field;
	size_t i;

	for (i = 0; i < 9; i++)
		others[i] = full;
	others[0].n_subjects = 1;
	others[1].subjects = (const char *const[]){"a.*", "c"};
	others[2].storage = WEIR_NATS_STORAGE_FILE;
	others[3].retention = WEIR_NATS_RETENTION_LIMITS;
	others[4].max_messages++;
	others[5].max_bytes++;
	others[6].max_age_ns++;
	others[7].duplicates_ns++;
	others[8].replicas = 3;
	begin(&world);
	assert_int_equal(
		weir_nats_stream_ensure_wait(world.nats, &full, LONG, NULL), 0);
	for (i = 0; i < 9; i++) {
		field = NULL;
		assert_int_equal(weir_nats_stream_ensure_wait(
					 world.nats, &others[i], LONG, &field),
				 -EEXIST);
		assert_string_equal(field, fields[i]);
	}
	nats_end(&world);
}

static void a_consumer_is_made_and_then_found_or_differs(void **state)
{
	static const char *const fields[] = {"filter", "ack_wait_ns",
					     "max_deliver", "max_ack_pending"};
	struct weir_nats_consumer others[4] = {whole, whole, whole, whole};
	struct nats_world world;
	jsConsumerInfo *info;
	const char *field;
	size_t i;

	begin(&world);
	assert_int_equal(weir_nats_consumer_ensure_wait(world.nats, &whole,
							LONG, NULL),
			 -ENOENT);
	assert_int_equal(
		weir_nats_stream_ensure_wait(world.nats, &full, LONG, NULL), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_nats_consumer_ensure_wait(
					 world.nats, &whole, LONG, NULL),
				 0);
	assert_int_equal(js_GetConsumerInfo(&info, world.server.js, "S", "c",
					    NULL, NULL),
			 NATS_OK);
	assert_string_equal(info->Config->FilterSubject, "b");
	assert_int_equal(info->Config->MaxAckPending, 77);
	assert_int_equal(info->Config->MaxDeliver, 5);
	assert_true(info->Config->AckWait == (int64_t)(7 * SECOND));
	jsConsumerInfo_Destroy(info);
	others[0].filter = NULL;
	others[1].ack_wait_ns++;
	others[2].max_deliver++;
	others[3].max_ack_pending++;
	for (i = 0; i < 4; i++) {
		field = NULL;
		assert_int_equal(weir_nats_consumer_ensure_wait(
					 world.nats, &others[i], LONG, &field),
				 -EEXIST);
		assert_string_equal(field, fields[i]);
	}
	nats_end(&world);
}

static void bad_ones_are_refused(void **state)
{
	struct weir_nats_consumer consumer = whole;
	struct weir_nats_stream stream = full;
	struct nats_world world;

	begin(&world);
	assert_int_equal(weir_nats_stream_ensure_wait(NULL, &full, LONG, NULL),
			 -EINVAL);
	assert_int_equal(weir_nats_stream_ensure_wait(world.nats, NULL, LONG,
						      NULL),
			 -EINVAL);
	stream.reserved[3] = 1;
	assert_int_equal(weir_nats_stream_ensure_wait(world.nats, &stream, LONG,
						      NULL),
			 -EINVAL);
	stream = full;
	stream.name = "a.b";
	assert_int_equal(weir_nats_stream_ensure_wait(world.nats, &stream, LONG,
						      NULL),
			 -EINVAL);
	consumer.reserved[0] = 1;
	assert_int_equal(weir_nats_consumer_ensure_wait(world.nats, &consumer,
							LONG, NULL),
			 -EINVAL);
	consumer = whole;
	consumer.max_ack_pending = -1; /* which libnats tells nobody */
	assert_int_equal(weir_nats_consumer_ensure_wait(world.nats, &consumer,
							LONG, NULL),
			 -EINVAL);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_is_made_and_then_found),
		cmocka_unit_test(a_stream_that_differs_names_the_field),
		cmocka_unit_test(a_consumer_is_made_and_then_found_or_differs),
		cmocka_unit_test(bad_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
