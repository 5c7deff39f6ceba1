/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a pool has nothing to do, for programs that want to know that nothing
 * more will come, as tests do. The pool is looked at without being stopped.
 *
 *  1. A worker whose bit is set (park.c) runs no slice, and has nothing in the
 *     lists that are its own alone: it looks into them before it goes idle.
 *  2. Two looks at a worker find its bit set, and the number of slices that it
 *     has run is the same before the first look and after the second. Then the
 *     worker ran no slice between the looks: it counts a slice before it sets
 *     its bit again (release in park(), acquire here).
 *  3. Between the first looks at all workers and the second looks at all
 *     workers there is a time when no slice runs at all. A task that is queued
 *     then in a ring or an inbox, where any worker can take it, stays queued
 *     until a worker runs it, and a worker runs it before it is idle again. So
 *     a look finds the task, or claim 2 does not hold.
 */
#include "executor/worker.h"

static uint64_t all_slices(const struct weir_threads *pool, uint32_t n)
{
	uint64_t slices = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		slices += ck_pr_load_64(&pool->workers[i].slices);
	return slices;
}

static bool all_parked(const struct weir_threads *pool, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (weir__park_woken(&pool->park, i))
			return false;
	}
	return true;
}

static bool anything_queued(const struct weir_threads *pool, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct weir__worker *worker = &pool->workers[i];
		uint64_t tail = ck_pr_load_64(&worker->ring.tail);

		if ((int64_t)(tail - weir__ring_front(&worker->ring)) > 0 ||
		    !weir__mailbox_empty(&worker->inbox))
			return true;
	}
	return !weir__mailbox_empty(&pool->inbox);
}

bool weir_threads_idle(const struct weir_threads *threads)
{
	uint32_t n = ck_pr_load_32(&threads->running);
	uint64_t slices = all_slices(threads, n);
	bool idle;

	/* Each look before the next (claims 2 and 3). */
	ck_pr_fence_load();
	if (!all_parked(threads, n))
		return false;
	ck_pr_fence_load();
	if (anything_queued(threads, n))
		return false;
	ck_pr_fence_load();
	idle = all_parked(threads, n);
	/* acquire: what the slices have done; pairs with the release in
	 * park() */
	ck_pr_fence_acquire();
	return idle && all_slices(threads, n) == slices &&
	       ck_pr_load_32(&threads->running) == n;
}
