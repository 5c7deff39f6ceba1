/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L1.batch: stages fused, one ring crossed in batches. What one asynchronous
 * boundary in a chain of operators costs at least; two threads wait for each
 * other by spinning.
 */
#include "fused.h"
#include "lane.h"
#include "who.h"

struct pipeline {
	struct fused fused;
	struct lane lane;
};

static uint64_t fill(void *argument)
{
	struct pipeline *p = argument;
	struct lane *lane = &p->lane;
	uint64_t first = p->fused.next;
	uint64_t n = lane_room_batch(lane), put = lane->put,
		 mask = lane->put_mask;
	void **slots = lane->put_slots;

	if (n > p->fused.items - first)
		n = p->fused.items - first;
	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		slots[(put + i) & mask] = fused_make(&p->fused, first + i);
	lane->put += n;
	p->fused.next += n;
	lane_publish_tail(lane);
	return n;
}

static uint64_t drain(void *argument)
{
	struct pipeline *p = argument;
	struct lane *lane = &p->lane;
	uint64_t n = lane_queued_batch(lane), take = lane->take;
	uint64_t mask = lane->take_mask;
	void **slots = lane->take_slots;
	uint64_t sum = 0;
	uintptr_t x = 0;

	if (n == 0)
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		x = fused_pass(&p->fused, slots[(take + i) & mask]);
		sum += x;
	}
	lane->take += n;
	fused_count(&p->fused, n, sum, x);
	lane_publish_head(lane);
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

int limits_batch(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	struct pipeline p;
	uint64_t elapsed_ns;

	fused_init(&p.fused, cell, items);
	lane_init(&p.lane, cell->window, cell->workers == 2);
	if (cell->workers == 2)
		elapsed_ns = bench_pair(run_before, run_behind, &p);
	else
		elapsed_ns = fused_by_turns(fill, drain, &p.fused, &p);
	*result = p.fused.got;
	result->elapsed_ns = elapsed_ns;
	lane_fini(&p.lane);
	fused_fini(&p.fused);
	return 0;
}
