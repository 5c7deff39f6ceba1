/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of a pipeline with one queue in the middle: producer and the
 * transformers of the first half of the work before it, the others and the
 * consumer behind it.
 * Fused stages are called through a pointer each, as operators are.
 */
#ifndef WEIR_BENCH_FUSED_H
#define WEIR_BENCH_FUSED_H

#include "support.h"

struct fused {
	bench_stage_fn **stages;
	unsigned n_before, n_stages;
	uint64_t items;
	/* The two sides are written by different threads: a line each. */
	_Alignas(BENCH_CACHELINE) uint64_t next;
	_Alignas(BENCH_CACHELINE) struct bench_result got;
};

static inline void fused_init(struct fused *fused,
			      const struct bench_cell *cell, uint64_t items)
{
	*fused = (struct fused){
		.stages = bench_stages_new(cell),
		.n_before = bench_middle(cell),
		.n_stages = cell->stages,
		.items = items,
	};
}

static inline void fused_fini(struct fused *fused)
{
	bench_free(fused->stages);
}

/* The next item, through the stages before the queue. */
static inline void *fused_make(struct fused *fused, uint64_t i)
{
	uintptr_t x = i;

	for (unsigned s = 0; s < fused->n_before; s++)
		x = fused->stages[s](x);
	return (void *)x;
}

/* An item from the queue through the stages behind it. */
static inline uintptr_t fused_pass(struct fused *fused, void *item)
{
	uintptr_t x = (uintptr_t)item;

	for (unsigned s = fused->n_before; s < fused->n_stages; s++)
		x = fused->stages[s](x);
	return x;
}

static inline void fused_count(struct fused *fused, uint64_t n, uint64_t sum,
			       uint64_t last)
{
	fused->got.count += n;
	fused->got.sum += sum;
	fused->got.last = last;
}

/* One side of the queue: returns how many items it moved, 0 if it must wait. */
typedef uint64_t fused_side(void *pipeline);

/*
 * Both are inlined into their callers together with the sides, which a window
 * of 1 calls for every item.
 */
static inline uint64_t fused_by_turns(fused_side *before, fused_side *behind,
				      struct fused *fused, void *pipeline)
{
	uint64_t start = bench_now_ns();

	while (fused->got.count < fused->items) {
		before(pipeline);
		behind(pipeline);
	}
	return bench_now_ns() - start;
}

/* One side on a thread of its own, until its count *done reaches n. */
static inline void fused_spin(fused_side *side, void *pipeline,
			      const uint64_t *done, uint64_t n)
{
	unsigned n_idle = 0;

	while (*done < n) {
		if (side(pipeline) == 0)
			bench_spin(&n_idle);
		else
			n_idle = 0;
	}
}

#endif
