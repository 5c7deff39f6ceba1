/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demand: how many items were asked for. Two cumulative counts: `granted` grows
 * by any thread's requests, `used` is the owner's. Their difference decides, so
 * there is no crossing of zero to race on. Saturates at INT64_MAX, which means
 * unbounded and is never used up (Reactive Streams 1.0.4, rule 3.17).
 */
#ifndef WEIR_BASE_DEMAND_H
#define WEIR_BASE_DEMAND_H

#include <assert.h>
#include <stdint.h>

#include <ck_pr.h>

/* The sum of two demands, `n` > 0. */
static inline int64_t weir__demand_sum(int64_t demand, int64_t n)
{
	return demand > INT64_MAX - n ? INT64_MAX : demand + n;
}

/*
 * Adds `n` > 0. Any thread; linearises at its swap. The release before the swap
 * covers what the demand pays for. The caller fences before it looks for a
 * waiting owner, as the swap orders nothing by itself.
 */
static inline void weir__demand_add(int64_t *granted, int64_t n)
{
	uint64_t *word = (uint64_t *)granted;
	uint64_t old = ck_pr_load_64(word), next;

	assert(n > 0);
	/* release: pairs with the acquire in weir__demand_left() */
	ck_pr_fence_release();
	do {
		next = (uint64_t)weir__demand_sum((int64_t)old, n);
	} while (!ck_pr_cas_64_value(word, old, next, &old));
}

/*
 * The demand that is left; negative is debt. `used` is negative if there was
 * some demand to begin with. Owner of `used`.
 */
static inline int64_t weir__demand_left(const int64_t *granted, int64_t used)
{
	int64_t sum = (int64_t)ck_pr_load_64((const uint64_t *)granted), left;

	/* acquire: what came before the request; pairs with the release in
	 * weir__demand_add() */
	ck_pr_fence_acquire();
	if (sum == INT64_MAX || __builtin_sub_overflow(sum, used, &left))
		return INT64_MAX;
	return left;
}

#endif
