/* SPDX-License-Identifier: BSD-2-Clause */
#include "executor/ring.h"

/*
 * The thief's fence of claim 3. False: the fence cannot be had, so do not
 * steal.
 */
static bool fence(const struct weir__ring *ring)
{
	if (ring->remote)
		return weir__membarrier();
	/* After the compare-and-swap; pairs with the light one in
	 * weir__ring_pop(). */
	ck_pr_fence_atomic_load();
	return true;
}

/* Takes tasks from the slots that neither the owner nor thieves have passed. */
static uint32_t take(struct weir__ring *ring, struct weir_task **tasks,
		     uint32_t most)
{
	uint64_t i = weir__ring_front(ring), tail = ck_pr_load_64(&ring->tail);
	uint32_t n = 0;

	/* acquire: the slots before tail; pairs with the second release in
	 * weir__ring_push() */
	ck_pr_fence_acquire();
	/* Signed: this tail may be older than head. */
	for (; (int64_t)(tail - i) > 0 && n < most; i++) {
		struct weir_task **slot = &ring->slots[i & WEIR__RING_MASK];

		if (ck_pr_load_ptr(slot)) {
			tasks[n] = ck_pr_fas_ptr(slot, NULL);
			n += tasks[n] != NULL;
		}
		ck_pr_store_64(&ring->taken, i + 1);
	}
	/* acquire: the tasks; pairs with the first release there */
	ck_pr_fence_acquire();
	return n;
}

uint32_t weir__ring_steal(struct weir__ring *ring, struct weir_task **tasks,
			  uint32_t most)
{
	uint32_t n = 0;

	/* One thief at a time; the fence that orders this is in fence(). */
	if (ck_pr_load_32(&ring->robbed) || !ck_pr_cas_32(&ring->robbed, 0, 1))
		return 0;
	if (fence(ring))
		n = take(ring, tasks, most);
	/* The exchanges are before this: the acquire in take() sees to that as
	 * well. Pairs with the acquire in weir__ring_pop() (claim 4). */
	ck_pr_store_32(&ring->robbed, 0);
	return n;
}
