/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a transformer does: x + 1, or W6's work. Behind pointers that are read
 * from volatiles: neither inlining nor link-time optimisation can fold a chain
 * of them.
 */
#include "support.h"

#define TRIES 16
#define TRY_STEPS 20000u

static uintptr_t add_one(uintptr_t x)
{
	return x + 1;
}

static uintptr_t work(uintptr_t x)
{
	return bench_work(x, bench_steps());
}

static bench_stage_fn *volatile cheap = add_one;
static bench_stage_fn *volatile dear = work;

/* The fastest of some tries, since others may have the CPU meanwhile. */
static unsigned measure(void)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t start = bench_now_ns(), ns;
		uintptr_t x = bench_work(i, TRY_STEPS);

		__asm__ volatile("" : : "r"(x));
		ns = bench_now_ns() - start;
		if (ns < best)
			best = ns;
	}
	return (unsigned)(TRY_STEPS * UINT64_C(1000) / (best + 1)) + 1;
}

unsigned bench_steps(void)
{
	static unsigned steps;

	if (steps == 0)
		steps = measure();
	return steps;
}

bool bench_works(const struct bench_cell *cell, unsigned transformer)
{
	const struct bench_workload *workload = cell->workload;

	return workload && workload->works &&
	       workload->works(transformer, cell->stages);
}

unsigned bench_middle(const struct bench_cell *cell)
{
	unsigned before = 0, all = 0, i;

	for (i = 0; i < cell->stages; i++)
		all += bench_works(cell, i);
	if (all == 0)
		return cell->stages / 2;
	for (i = 0; i < cell->stages && 2 * before < all; i++)
		before += bench_works(cell, i);
	return i;
}

bench_stage_fn **bench_stages_new(const struct bench_cell *cell)
{
	bench_stage_fn **stages =
		bench_alloc((cell->stages + 1) * sizeof(*stages));

	for (unsigned i = 0; i < cell->stages; i++)
		stages[i] = bench_works(cell, i) ? dear : cheap;
	return stages;
}
