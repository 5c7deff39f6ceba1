/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/memory_kit.h"

/* One run of the flow with this heap: what it said. */
static int run_with_heap(struct weir_flow *flow, struct heap *heap)
{
	struct weir_executor_options options = {.allocator = &heap->allocator};
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	size_t fail = heap->fail;
	int rc;

	heap->fail = 0;
	assert_int_equal(weir_sim_new(&sim, 1, &options), 0);
	heap->fail = fail ? heap->calls + fail : 0;
	rc = weir_flow_start(flow, weir_sim_executor(sim), NULL, &run);
	if (rc == 0) {
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error), 0);
		rc = error ? error->code : 0;
		weir_error_unref(error);
		weir_flow_run_free(run);
	}
	assert_int_equal(weir_sim_free(sim), 0);
	return rc;
}

size_t assert_short_of_memory(struct weir_flow *flow, struct got *got, int code)
{
	int64_t live = n_live;
	size_t fail, n_failed = 0;
	struct heap heap;
	bool over = false;
	int rc;

	for (fail = 1; !over; fail++) {
		heap_init(&heap, fail);
		got->n = 0;
		rc = run_with_heap(flow, &heap);
		over = heap.calls < heap.fail;
		if (rc == -ENOMEM)
			n_failed++;
		else
			assert_int_equal(rc, code);
		assert_int_equal(n_live, live);
		assert_int_equal(heap.live, 0);
	}
	assert_true(n_failed > 0);
	return fail;
}
