/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of a worker: bounded, first in first out. The owner pushes and
 * pops; any other thread may steal the oldest tasks. The owner does that
 * hundreds of times for each theft, so the owner's side is plain loads and
 * stores, and the thief pays for both: it makes every running thread of the
 * process pass a full fence (membarrier(2)) where the owner would need one.
 *
 *  1. The tasks are those in the slots of [head, tail) that are not NULL, never
 *     more than WEIR__RING_SIZE. Only the owner writes head and tail.
 *  2. `robbed` is 1 while a thief is at work: the thief sets it by a
 *     compare-and-swap, so there is one at a time, and clears it by a store.
 *     Before `taken`, which only that thief writes, nothing is left to steal.
 *  3. The owner claims slot i by storing head = i + 1, and then reads `robbed`.
 *     The thief sets `robbed`, and then reads head. A full fence lies between
 *     on both sides, so the owner reads 1 or the thief reads a head beyond i.
 *  4. If the owner reads 0 the slot is its own: a later thief looks at no slot
 *     before head, and an earlier thief has left: in a slot from which that one
 *     took a task the owner reads NULL (acquire and release on `robbed`).
 *  5. If the owner reads 1, owner and thief take slots by exchange with NULL,
 *     and the one that gets the task has it. The owner may have popped a slot
 *     that the thief looks at, after the thief read head, and filled it anew.
 *     But while `robbed` is 1 a popped slot is NULL, so the thief gets NULL or
 *     a task that is queued.
 *
 * Where there is no membarrier the owner makes its own fence. That is also what
 * the explorer sees and checks; the kernel's promise replaces it.
 */
#ifndef WEIR_EXECUTOR_RING_H
#define WEIR_EXECUTOR_RING_H

#include <stdbool.h>

#include <ck_pr.h>

#include <weir/executor.h>

#include "base/membarrier.h"
#include "base/memory.h"

#ifndef WEIR__RING_SIZE /* the explorer's is smaller */
#define WEIR__RING_SIZE 256u
#endif
#define WEIR__RING_MASK (WEIR__RING_SIZE - 1u)

struct weir__ring {
	/* The owner's; read by thieves. */
	uint64_t head __attribute__((aligned(WEIR__LINE)));
	uint64_t tail;
	struct weir_task *slots[WEIR__RING_SIZE]
		__attribute__((aligned(WEIR__LINE)));
	/* The thieves'; read by the owner. */
	uint64_t taken __attribute__((aligned(WEIR__LINE)));
	uint32_t robbed;
	/* Constant: thieves make the owner's fence. */
	bool remote;
};

/* Owner. False: the ring is full. */
static inline bool weir__ring_push(struct weir__ring *ring,
				   struct weir_task *task)
{
	uint64_t tail = ring->tail; /* only we write it */

	if (WEIR_UNLIKELY(tail - ring->head >= WEIR__RING_SIZE))
		return false;
	/* release: publishes the task to a thief that had its eye on what was
	 * in this slot before (claim 5); pairs with the second acquire in
	 * weir__ring_steal() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&ring->slots[tail & WEIR__RING_MASK], task);
	/* release: publishes the slot; pairs with the first acquire there */
	ck_pr_fence_release();
	ck_pr_store_64(&ring->tail, tail + 1);
	return true;
}

/* Owner. NULL: the ring is empty. */
static inline struct weir_task *weir__ring_pop(struct weir__ring *ring)
{
	uint64_t head = ring->head; /* only we write both */
	struct weir_task *task;

	while (head != ring->tail) {
		struct weir_task **slot = &ring->slots[head & WEIR__RING_MASK];

		ck_pr_store_64(&ring->head, ++head);
		/* pairs with the one in weir__ring_steal() (claim 3) */
		weir__fence_light(ring->remote);
		if (WEIR_UNLIKELY(ck_pr_load_32(&ring->robbed))) {
			/* No fence: we wrote the task ourselves. */
			task = ck_pr_fas_ptr(slot, NULL);
		} else {
			/* acquire: pairs with the release in
			 * weir__ring_steal() (claim 4) */
			ck_pr_fence_acquire();
			task = ck_pr_load_ptr(slot);
		}
		if (WEIR_LIKELY(task))
			return task;
	}
	return NULL;
}

/*
 * Any other thread: takes up to `most` of the oldest tasks, in order. Returns
 * how many; 0: the ring is empty, or another thief was faster.
 */
uint32_t weir__ring_steal(struct weir__ring *ring, struct weir_task **tasks,
			  uint32_t most);

/* The index of the oldest task that may be left to steal. A hint. */
static inline uint64_t weir__ring_front(const struct weir__ring *ring)
{
	uint64_t head = ck_pr_load_64(&ring->head);
	uint64_t taken = ck_pr_load_64(&ring->taken);

	return (int64_t)(taken - head) > 0 ? taken : head;
}

#endif
