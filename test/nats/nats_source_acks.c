/* SPDX-License-Identifier: BSD-2-Clause */
/* A source whose messages are settled as they come. */
#include "nats/kit.h"

#include <errno.h>
#include <string.h>

static const struct weir_nats_consumer consumer = {.stream = "S",
						   .durable = "c",
						   .acks = WEIR_NATS_ACKS_NONE};
static const struct weir_nats_source_options none = {
	.window = 8,
	.acks = WEIR_NATS_ACKS_NONE};

static void begin(struct nats_world *world)
{
	nats_begin(world);
	server_stream(&world->server, "S");
	assert_int_equal(weir_nats_consumer_ensure_wait(world->nats, &consumer,
							LONG, NULL),
			 0);
}

struct seen {
	uint64_t last;
	struct weir_nats_message *first; /* kept */
};

static int see(void *item, void *context)
{
	struct seen *seen = context;

	assert_int_equal(number_of(item), seen->last + 1);
	assert_int_equal(weir_nats_message_sequence(item), seen->last + 1);
	if (++seen->last == 1)
		seen->first = item;
	else
		weir_flow_bytes_unref(item);
	return 0;
}

/* They are all dropped unsettled, and one is held still. */
static void nobody_settles_and_nothing_is_given_again(void **state)
{
	const uint64_t n = test_count(8000) + 100;
	struct weir_nats_stats stats;
	natsSubscription *settling;
	struct seen seen = {0};
	struct nats_world world;
	struct weir_flow *flow;
	natsMsg *msg;

	begin(&world);
	assert_int_equal(natsConnection_SubscribeSync(
				 &settling, world.server.peer, "$JS.ACK.>"),
			 NATS_OK);
	assert_int_equal(natsConnection_Flush(world.server.peer), NATS_OK);
	server_publish(&world.server, "S", 1, n);
	flow = weir_flow_take(nats_source(&world, none), n);
	flow = weir_flow_for_each(flow, see, &seen);
	assert_int_equal(nats_run(&world, flow, NULL), 0);
	assert_int_equal(seen.last, n);
	assert_int_equal(weir_nats_message_done(seen.first), -EALREADY);
	assert_int_equal(weir_nats_message_retry(seen.first, 0), -EALREADY);
	assert_int_equal(weir_nats_message_dead(seen.first, "why"), -EALREADY);
	assert_int_equal(weir_nats_message_progress(seen.first), -EALREADY);
	/* the connection does not wait for it, but it is held */
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	assert_int_equal(weir_nats_free(world.nats), -EBUSY);
	weir_flow_bytes_unref((struct weir_flow_bytes *)seen.first);
	assert_int_equal(server_left(&world.server, "S"), 0);
	assert_int_equal(server_unsettled(&world.server, "S"), 0);
	assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
	assert_int_equal(stats.received, n);
	assert_int_equal(stats.done + stats.retried + stats.dead, 0);
	/* and the server has heard nothing of them */
	assert_int_equal(natsConnection_PublishString(world.server.peer,
						      "$JS.ACK.end", "end"),
			 NATS_OK);
	assert_int_equal(natsSubscription_NextMsg(&msg, settling, 60000),
			 NATS_OK);
	assert_string_equal(natsMsg_GetSubject(msg), "$JS.ACK.end");
	natsMsg_Destroy(msg);
	natsSubscription_Destroy(settling);
	nats_end(&world);
}

/* Also what was refused, as nobody wanted it. */
static void what_is_on_its_way_when_a_run_ends_is_lost(void **state)
{
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow *flow;
	uint64_t i;

	begin(&world);
	for (i = 1; i <= 20; i++) {
		server_publish(&world.server, "S", 3 * i - 2, 3 * i);
		flow = weir_flow_take(nats_source(&world, none), 1);
		assert_int_equal(nats_run(&world, weir_flow_ignore(flow), NULL),
				 0);
		assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
		assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
		assert_int_equal(stats.received + stats.excess +
					 server_left(&world.server, "S"),
				 3 * i);
	}
	assert_true(stats.received > 20);
	assert_int_equal(stats.redelivered, 0);
	nats_end(&world);
}

static int code_of(struct nats_world *world,
		   struct weir_nats_source_options options)
{
	return nats_run(world, weir_flow_ignore(nats_source(world, options)),
			NULL);
}

static void the_source_and_its_consumer_must_agree(void **state)
{
	static const uint64_t backoff = SECOND;
	struct weir_nats_source_options bad[5] = {none, none, none, none, none};
	struct weir_nats_consumer other = consumer;
	struct nats_world world;
	const char *field;
	size_t i;

	begin(&world);
	assert_int_equal(code_of(&world, (struct weir_nats_source_options){0}),
			 -EINVAL);
	assert_int_equal(weir_nats_consumer_ensure_wait(world.nats, &consumer,
							LONG, NULL),
			 0);
	other.acks = WEIR_NATS_ACKS_EACH;
	assert_int_equal(weir_nats_consumer_ensure_wait(world.nats, &other,
							LONG, &field),
			 -EEXIST);
	assert_string_equal(field, "acks");
	other.acks = (enum weir_nats_acks)2;
	assert_int_equal(weir_nats_consumer_ensure_wait(world.nats, &other,
							LONG, NULL),
			 -EINVAL);
	(void)js_DeleteConsumer(world.server.js, "S", "c", NULL, NULL);
	server_consumer(&world.server, "S", (int64_t)SECOND, -1);
	assert_int_equal(code_of(&world, none), -EINVAL);
	bad[0].acks = (enum weir_nats_acks)2;
	bad[1].until_settled = true;
	bad[2].max_deliver = 3;
	bad[3].dead_subject = "DEAD";
	bad[4].backoff = &backoff;
	bad[4].n_backoff = 1;
	for (i = 0; i < 5; i++) {
		struct weir_flow *flow = nats_source(&world, bad[i]);

		assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
		weir_flow_free(flow);
	}
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_settles_and_nothing_is_given_again),
		cmocka_unit_test(what_is_on_its_way_when_a_run_ends_is_lost),
		cmocka_unit_test(the_source_and_its_consumer_must_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
