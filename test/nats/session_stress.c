/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that are settled by many threads, while the connection is cut: for
 * ThreadSanitizer. Each is done at least once, and what was made of it is stored
 * once.
 */
#include "nats/kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int make(struct weir_nats_message *message, uint64_t i,
		struct weir_flow_bytes **out, void *context)
{
	struct weir_flow_bytes *bytes = (struct weir_flow_bytes *)message;
	int rc = weir_flow_bytes_new(out, bytes->n, NULL);

	if (rc < 0)
		return rc;
	memcpy((*out)->data, bytes->data, bytes->n);
	return 2; /* the last */
}

/* Half of them come again. */
static int some_are_given_back(void *item, void *context)
{
	struct weir_nats_message *message = weir_nats_message_of(item);

	return weir_nats_message_deliveries(message) > 1 ||
	       weir_nats_message_sequence(message) % 2 == 0;
}

struct goal {
	struct nats_world *world;
	uint64_t n;
};

static bool is_stored(void *context)
{
	struct goal *goal = context;

	return server_count(&goal->world->server, "T") >= goal->n;
}

static void what_comes_through_threads_and_cuts_is_stored_once(void **state)
{
	const uint64_t n = test_count(8000) > 100 ? test_count(8000) : 100;
	const struct weir_nats_sink_options into = {.subject = "T",
						    .window = 32};
	struct weir_flow_run *run;
	struct nats_world world;
	struct weir_flow *flow;
	struct goal goal;
	uint64_t i;

	nats_begin_behind(&world);
	server_stream(&world.server, "S");
	server_stream(&world.server, "T");
	server_consumer(&world.server, "S", (int64_t)SECOND / 2, -1);
	server_publish(&world.server, "S", 1, n);
	flow = nats_source(&world,
			   (struct weir_nats_source_options){.window = 64});
	flow = weir_flow_async(flow, 16, NULL);
	flow = weir_flow_filter(flow, some_are_given_back, NULL);
	flow = weir_flow_async(flow, 16, NULL);
	flow = weir_flow_nats_process(flow, make, NULL, world.nats, &into);
	run = nats_start(&world, flow);
	for (i = 1; i <= 4; i++) {
		goal = (struct goal){&world, i * n / 4};
		await(is_stored, &goal);
		if (i < 4)
			proxy_cut(&world.proxy);
	}
	/* whose settling was lost comes again, and is not stored again */
	await(nothing_unsettled, &world.server);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	assert_int_equal(nats_wait(run, NULL), 0);
	weir_flow_free(flow);
	assert_int_equal(server_count(&world.server, "T"), n);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_comes_through_threads_and_cuts_is_stored_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
