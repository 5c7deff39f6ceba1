/* SPDX-License-Identifier: BSD-2-Clause */
/* Each allocation of a connection's fails in turn, above and below a boundary. */
#include "nats/kit.h"

#include <errno.h>

#define ITEMS 3u

static const struct weir_nats_boundary boundary = {
	.name = "B",
	.partitions = 2,
	.ack_wait_ns = SECOND / 10,
	.window = 2,
};

static int to_bytes(void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, 8, NULL);

	if (rc == 0)
		*item = bytes;
	return rc;
}

static int run(struct nats_world *world, struct weir_flow *flow, void **result)
{
	int rc = weir_flow_run(flow, world->executor, result);

	weir_flow_free(flow);
	return rc;
}

/* 0, or -ENOMEM. */
static int give_and_take(struct nats_world *world, struct weir_nats *nats)
{
	struct weir_flow *flow = weir_flow_range(1, ITEMS);
	void *n = NULL;
	int rc;

	flow = weir_flow_items(weir_flow_map(flow, to_bytes, NULL),
			       weir_flow_bytes_items());
	rc = run(world, weir_flow_nats_give(flow, nats, &boundary), &n);
	if (rc < 0)
		return rc;
	assert_int_equal((uintptr_t)n, ITEMS);
	flow = weir_flow_nats_done(weir_flow_nats_take(nats, &boundary));
	rc = run(world, weir_flow_count(flow), &n);
	if (rc == 0)
		assert_true((uintptr_t)n >= ITEMS);
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
		assert_int_equal(weir_nats_boundary_ensure_wait(
					 world.nats, &boundary, LONG, NULL),
				 0);
		heap.calls = 0;
		heap.fail++;
		rc = weir_nats_new(&nats, &options, &heap.allocator);
		if (rc == 0) {
			rc = give_and_take(&world, nats);
			assert_int_equal(weir_nats_free(nats), 0);
		}
		assert_true(rc == 0 || rc == -ENOMEM);
		n_errors += rc < 0;
		assert_int_equal(heap.live, 0);
		(void)js_DeleteStream(world.server.js, "B", NULL, NULL);
	} while (heap.calls >= heap.fail);
	/* a connection, two sources, a sink and a probe of each part */
	assert_true(n_errors >= 6);
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_that_fails_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
