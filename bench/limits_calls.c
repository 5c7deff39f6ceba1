/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L0.calls: one loop with a function pointer per stage and no queue. What a
 * synchronous chain of operators costs that get one item a call: the limit for
 * fused flows, and what a queue between stages is compared with.
 */
#include "support.h"
#include "who.h"

static inline uint64_t run(bench_stage_fn **stages, unsigned n_stages,
			   uint64_t items, struct bench_result *result)
{
	uint64_t start = bench_now_ns();
	uint64_t sum = 0;
	uintptr_t x = 0;

	for (uint64_t i = 0; i < items; i++) {
		x = i;
		/* The item exists: the loop may not become its closed form. */
		__asm__ volatile("" : "+r"(x));
		for (unsigned s = 0; s < n_stages; s++)
			x = stages[s](x);
		sum += x;
	}
	result->count = items;
	result->sum = sum;
	result->last = x;
	return bench_now_ns() - start;
}

int limits_calls(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	bench_stage_fn **stages = bench_stages_new(cell);

	/* A limit has no test for stages that are not there. */
	if (cell->stages == 0)
		result->elapsed_ns = run(stages, 0, items, result);
	else if (cell->stages == 1)
		result->elapsed_ns = run(stages, 1, items, result);
	else
		result->elapsed_ns = run(stages, cell->stages, items, result);
	bench_free(stages);
	return 0;
}
