/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * L1.park and L1.park0: the ring and batches of L1.batch, but a side that waits
 * goes to sleep on a futex: after as long as a wake across cores costs, or at
 * once. What a program pays that must be idle when there is nothing to do.
 */
#include "fused.h"
#include "lane.h"
#include "sleeper.h"
#include "who.h"

#define WAKE_NS 46000

struct pipeline {
	struct fused fused;
	struct lane lane;
	uint64_t spin_ns;
	struct sleeper producer, consumer;
};

static bool has_room(void *lane)
{
	return lane_room(lane) > 0;
}

static bool has_queued(void *lane)
{
	return lane_queued(lane) > 0;
}

/* Until look(lane). */
static inline void wait_for(bool (*look)(void *lane), struct lane *lane,
			    struct sleeper *self, uint64_t spin_ns)
{
	uint64_t end_ns = spin_ns ? bench_now_ns() + spin_ns : 0;

	while (spin_ns > 0 && bench_now_ns() < end_ns) {
		for (unsigned i = 0; i < 32; i++) {
			if (look(lane))
				return;
			ck_pr_stall();
		}
	}
	sleeper_wait(self, look, lane);
}

static void wake(struct sleeper *sleeper)
{
	/* after the exchange of the index; pairs with the fence in
	 * sleeper_wait() */
	ck_pr_fence_atomic_load();
	sleeper_wake(sleeper);
}

static void run_before(void *argument)
{
	struct pipeline *p = argument;
	struct fused *fused = &p->fused;
	struct lane *lane = &p->lane;

	while (fused->next < fused->items) {
		uint64_t n = lane_room_batch(lane);

		if (n == 0) {
			wait_for(has_room, lane, &p->producer, p->spin_ns);
			continue;
		}
		if (n > fused->items - fused->next)
			n = fused->items - fused->next;
		for (uint64_t i = 0; i < n; i++)
			lane_put(lane, fused_make(fused, fused->next + i));
		fused->next += n;
		/* release: the slots before the index */
		ck_pr_fence_release();
		ck_pr_fas_64(&lane->tail, lane->put);
		wake(&p->consumer);
	}
}

static void run_behind(void *argument)
{
	struct pipeline *p = argument;
	struct fused *fused = &p->fused;
	struct lane *lane = &p->lane;

	while (fused->got.count < fused->items) {
		uint64_t n = lane_queued_batch(lane);
		uint64_t sum = 0;
		uintptr_t x = 0;

		if (n == 0) {
			wait_for(has_queued, lane, &p->consumer, p->spin_ns);
			continue;
		}
		for (uint64_t i = 0; i < n; i++) {
			x = fused_pass(fused, lane_take(lane));
			sum += x;
		}
		fused_count(fused, n, sum, x);
		/* release: our reads before the index */
		ck_pr_fence_release();
		ck_pr_fas_64(&lane->head, lane->take);
		wake(&p->producer);
	}
}

static int run(const struct bench_cell *cell, uint64_t items, uint64_t spin_ns,
	       struct bench_result *result)
{
	struct pipeline p = {.spin_ns = spin_ns};
	uint64_t elapsed_ns;

	fused_init(&p.fused, cell, items);
	lane_init(&p.lane, cell->window, true);
	elapsed_ns = bench_pair(run_before, run_behind, &p);
	*result = p.fused.got;
	result->elapsed_ns = elapsed_ns;
	lane_fini(&p.lane);
	fused_fini(&p.fused);
	return 0;
}

int limits_park(const struct bench_cell *cell, uint64_t items,
		struct bench_result *result)
{
	return run(cell, items, WAKE_NS, result);
}

int limits_park0(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	return run(cell, items, 0, result);
}
