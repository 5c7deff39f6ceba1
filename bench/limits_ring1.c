/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L1.ring1: as L1.batch, but over a ck_ring item by item, where both sides read
 * the other's index for every item. What batching the crossing is worth.
 *
 * A ck_ring of n slots holds n - 1 items, so the ring has twice the window; the
 * producer is held to the window by the size it reads.
 */
#include <ck_ring.h>

#include "fused.h"
#include "who.h"

struct pipeline {
	struct fused fused;
	_Alignas(BENCH_CACHELINE) ck_ring_t ring;
	ck_ring_buffer_t *slots;
	unsigned window;
};

static uint64_t fill(void *argument)
{
	struct pipeline *p = argument;
	struct fused *fused = &p->fused;
	uint64_t first = fused->next;

	while (fused->next < fused->items) {
		void *item;

		if (ck_ring_size(&p->ring) >= p->window)
			break;
		item = fused_make(fused, fused->next);
		if (!ck_ring_enqueue_spsc(&p->ring, p->slots, item))
			break;
		fused->next++;
	}
	return fused->next - first;
}

static uint64_t drain(void *argument)
{
	struct pipeline *p = argument;
	uint64_t n = 0, sum = 0;
	uintptr_t x = 0;
	void *item;

	while (ck_ring_dequeue_spsc(&p->ring, p->slots, &item)) {
		x = fused_pass(&p->fused, item);
		sum += x;
		n++;
	}
	if (n > 0)
		fused_count(&p->fused, n, sum, x);
	return n;
}

static void run_before(void *argument)
{
	struct pipeline *p = argument;

	fused_spin(fill, p, &p->fused.next, p->fused.items);
}

static void run_behind(void *argument)
{
	struct pipeline *p = argument;

	fused_spin(drain, p, &p->fused.got.count, p->fused.items);
}

int limits_ring1(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	struct pipeline p;
	uint64_t elapsed_ns;

	fused_init(&p.fused, cell, items);
	p.window = cell->window;
	p.slots = bench_alloc(2 * p.window * sizeof(*p.slots));
	ck_ring_init(&p.ring, 2 * p.window);
	if (cell->workers == 2)
		elapsed_ns = bench_pair(run_before, run_behind, &p);
	else
		elapsed_ns = fused_by_turns(fill, drain, &p.fused, &p);
	*result = p.fused.got;
	result->elapsed_ns = elapsed_ns;
	bench_free(p.slots);
	fused_fini(&p.fused);
	return 0;
}
