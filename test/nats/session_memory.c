/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Test 15: without memory. Each allocation of ours fails in turn, in all that a
 * connection, a source and a sink do: that is an error or a message that comes
 * again, and nothing is left of it.
 */
#include "nats/kit.h"

#include <errno.h>

#define MESSAGES 3u

/* 0, or -ENOMEM. */
static int copy_all(struct nats_world *world, struct weir_nats *nats)
{
	const struct weir_nats_source_options from = {
		.stream = "S", .durable = "c", .window = 2};
	const struct weir_nats_sink_options into = {
		.subject = "T", .window = 2, .settle = true};
	struct weir_flow *flow;
	int rc;

	flow = weir_flow_take(weir_flow_from_nats(nats, &from), MESSAGES);
	flow = weir_flow_into_nats(flow, nats, &into);
	rc = weir_flow_run(flow, world->executor, NULL);
	weir_flow_free(flow);
	return rc;
}

static void each_allocation_that_fails_leaves_nothing(void **state)
{
	struct weir_nats_options options = {.timeout_ns = LONG};
	struct nats_heap heap;
	struct nats_world world;
	struct weir_nats *nats;
	size_t n_errors = 0;
	int rc;

	nats_begin(&world);
	options.url = world.server.url;
	nats_heap_init(&heap);
	do {
		server_stream(&world.server, "S");
		server_stream(&world.server, "T");
		server_consumer(&world.server, "S", (int64_t)SECOND / 10, -1);
		server_publish(&world.server, "S", 1, MESSAGES);
		heap.calls = 0;
		heap.fail++;
		rc = weir_nats_new(&nats, &options, &heap.allocator);
		if (rc == 0) {
			rc = copy_all(&world, nats);
			if (rc == 0)
				assert_int_equal(server_count(&world.server,
							      "T"),
						 MESSAGES);
			assert_int_equal(weir_nats_free(nats), 0);
		}
		assert_true(rc == 0 || rc == -ENOMEM);
		n_errors += rc < 0;
		assert_int_equal(heap.live, 0);
		(void)js_DeleteStream(world.server.js, "S", NULL, NULL);
		(void)js_DeleteStream(world.server.js, "T", NULL, NULL);
	} while (heap.calls >= heap.fail);
	/* a connection, its two clients, at least two texts */
	assert_true(n_errors >= 3);
	assert_true(heap.fail > 8);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_that_fails_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
