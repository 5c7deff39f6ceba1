/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of a worker: bounded, first in first out. The owner enqueues;
 * owner and thieves dequeue. It is ck_ring's single-producer/many-consumer
 * algorithm with the slots read and written by ck_pr operations: a thief that
 * loses the race has read a slot that may be written meanwhile, which with
 * plain accesses would be a data race, and CK 0.7.1 does not order that read
 * before the swap that validates it. The indices are 64 bits wide, so that a
 * thief that sleeps for ever so long cannot meet its old head again.
 *
 *  1. tail - head tasks are queued, never more than WEIR__RING_SIZE. Slot
 *     i & MASK holds task i from the store of tail = i + 1 to the swap that
 *     makes head i + 1. Who makes that swap has the task.
 *  2. A thief's slot is read after it was written: it reads tail after head,
 *     the slot after tail (acquire), and tail was stored after the slot
 *     (release).
 *  3. The task that a successful swap returns is the one the slot held: the
 *     slot is read before the swap, and written again only after the owner has
 *     read a head beyond it.
 */
#ifndef WEIR_EXECUTOR_RING_H
#define WEIR_EXECUTOR_RING_H

#include <stdbool.h>

#include <ck_pr.h>

#include <weir/executor.h>

#include "base/memory.h"

#define WEIR__RING_SIZE 256u
#define WEIR__RING_MASK (WEIR__RING_SIZE - 1u)

struct weir__ring {
	/* Owner and thieves, by swap. */
	uint64_t head __attribute__((aligned(WEIR__LINE)));
	/* Written by the owner, read by thieves. */
	uint64_t tail __attribute__((aligned(WEIR__LINE)));
	struct weir_task *slots[WEIR__RING_SIZE]
		__attribute__((aligned(WEIR__LINE)));
};

/* By the owner. False: it is full. */
static inline bool weir__ring_push(struct weir__ring *ring,
				   struct weir_task *task)
{
	uint64_t tail = ring->tail; /* only we write it */

	if (WEIR_UNLIKELY(tail - ck_pr_load_64(&ring->head) >= WEIR__RING_SIZE))
		return false;
	/* acquire: the thief's read of the slot is over, see
	 * weir__ring_steal() (claim 3) */
	ck_pr_fence_acquire();
	ck_pr_store_ptr(&ring->slots[tail & WEIR__RING_MASK], task);
	/* release: publishes slot and task; pairs with the acquire in
	 * weir__ring_steal() (claim 2) */
	ck_pr_fence_release();
	ck_pr_store_64(&ring->tail, tail + 1);
	return true;
}

/*
 * By the owner. NULL: it is empty. No fences: what the owner finds in tail,
 * slot and task it wrote itself, and nobody but itself writes the slot again.
 */
static inline struct weir_task *weir__ring_pop(struct weir__ring *ring)
{
	uint64_t head = ck_pr_load_64(&ring->head);
	struct weir_task *task;

	do {
		if (head == ring->tail)
			return NULL;
		task = ck_pr_load_ptr(&ring->slots[head & WEIR__RING_MASK]);
	} while (WEIR_UNLIKELY(
		!ck_pr_cas_64_value(&ring->head, head, head + 1, &head)));
	return task;
}

/* By anyone else. NULL: it is empty, or somebody was faster. */
static inline struct weir_task *weir__ring_steal(struct weir__ring *ring)
{
	uint64_t head = ck_pr_load_64(&ring->head);
	struct weir_task *task;

	/* load: tail is not older than head, so head <= tail (claim 1) */
	ck_pr_fence_load();
	if (head == ck_pr_load_64(&ring->tail))
		return NULL;
	/* acquire: pairs with the release in weir__ring_push() (claim 2) */
	ck_pr_fence_acquire();
	task = ck_pr_load_ptr(&ring->slots[head & WEIR__RING_MASK]);
	/* The slot is read before the swap lets the owner write it; pairs with
	 * the acquire in weir__ring_push() (claim 3). */
	ck_pr_fence_load_atomic();
	if (!ck_pr_cas_64(&ring->head, head, head + 1))
		return NULL;
	return task;
}

/* How many are queued: exact for the owner but for thieves, else a guess. */
static inline uint64_t weir__ring_length(const struct weir__ring *ring)
{
	uint64_t head = ck_pr_load_64(&ring->head);

	ck_pr_fence_load(); /* head <= tail, as above */
	return ck_pr_load_64(&ring->tail) - head;
}

#endif
