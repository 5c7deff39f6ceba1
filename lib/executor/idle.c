/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a pool has nothing to do: for who wants to know that nothing more
 * will come, as tests do. It looks without stopping anybody.
 *
 *  1. A worker whose bit is set (park.c) runs no slice, and has nothing in the
 *     lists that are its own alone: it looks into them before it goes idle.
 *  2. Two looks at a worker find its bit set, and the slices it has run,
 *     counted before the first look and after the second, are the same. Then it
 *     ran none between the looks: it counts a slice before its bit is set again
 *     (release in park(), acquire here).
 *  3. Between the first looks at all and the second looks at all there is a
 *     time when no slice runs at all. What is queued then where all can take
 *     it, in rings and inboxes, stays queued until somebody runs it, which a
 *     worker does before it is idle again: so it is found there meanwhile, or
 *     2. does not hold.
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
		    !weir__inbox_empty(&worker->inbox))
			return true;
	}
	return !weir__inbox_empty(&pool->inbox);
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
