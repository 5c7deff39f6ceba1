/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue from one producer to several takers. A taker that is free takes
 * several of the oldest items, and rests when there are none.
 *
 * 1. The producer sees to it that no more items are queued, taken or under work
 *    than there are slots. So no item is overwritten before it is taken. 2. A
 *    taker copies the slots first, and then moves the head on by a
 *    compare-and-swap. If a slot was overwritten since, the head has passed it,
 *    and the swap fails. Indices have 64 bits and do not wrap. 3. A taker that
 *    has found no item sets its `parked`, and looks again. The producer
 *    publishes items, and then looks at `parked`. Both sides have a full fence
 *    between the write and the look, so one of them sees the other. The thread
 *    that exchanges `parked` for 0 wakes the taker. 4. A taker that does not
 *    rest needs no wake, because it looks before it rests. A taker that goes
 *    away may have got a wake, and passes it on.
 */
#ifndef WEIR_PROCESS_CALL_QUEUE_H
#define WEIR_PROCESS_CALL_QUEUE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <ck_pr.h>

#include "base/fence.h"
#include "base/memory.h"

struct weir__queue {
	/* the producer's; all read the tail */
	uint64_t tail __attribute__((aligned(WEIR__LINE)));
	uint64_t n_put; /* published or not */
	/* the takers' */
	uint64_t head __attribute__((aligned(WEIR__LINE)));
	/* seldom written; atomic */
	uint32_t n_parked __attribute__((aligned(WEIR__LINE)));
	uint32_t closed; /* no more items will come */
	/* constant */
	uint32_t mask;
	void **slots;
};

/* True: the queue is empty, and more may come. Any thread; a hint. */
static inline bool weir__queue_idle(const struct weir__queue *queue)
{
	return ck_pr_load_64(&queue->head) == ck_pr_load_64(&queue->tail) &&
	       !ck_pr_load_32(&queue->closed);
}

/* True: a taker may have to be woken for items stored before. Any thread. */
static inline bool weir__queue_has_parked(const struct weir__queue *queue)
{
	/* store -> load; pairs with the one in weir__queue_park() */
	weir__fence_full();
	return ck_pr_load_32(&queue->n_parked) > 0;
}

/* Puts an item; takers see it when it is published. */
static inline void weir__queue_put(struct weir__queue *queue, void *item)
{
	ck_pr_store_ptr(&queue->slots[queue->n_put++ & queue->mask], item);
}

/* Publishes the items that were put; returns how many. The caller then asks
 * weir__queue_has_parked(). */
static inline uint64_t weir__queue_publish(struct weir__queue *queue)
{
	uint64_t n = queue->n_put - queue->tail;

	/* claim 1 */
	assert(n <= (uint64_t)queue->mask + 1);
	/* release: the slots; pairs with the acquire in weir__queue_take() */
	ck_pr_fence_release();
	ck_pr_store_64(&queue->tail, queue->n_put);
	return n;
}

/*
 * Takes the oldest items and returns how many: at most `most`, and at most the
 * `parts`th part of those that are there, rounded down but at least one.
 * Linearises at the swap. Any thread; lock-free.
 */
static inline uint32_t weir__queue_take(struct weir__queue *queue, void **items,
					uint32_t most, uint32_t parts)
{
	uint64_t head = ck_pr_load_64(&queue->head), n;
	uint32_t i;

	assert(most > 0 && parts > 0);
	do {
		/* acquire: the tail is no older than the head, so not below */
		ck_pr_fence_acquire();
		n = ck_pr_load_64(&queue->tail) - head;
		/* acquire: the slots; pairs with the release in publish() */
		ck_pr_fence_acquire();
		if (n == 0)
			return 0;
		n = n > parts ? n / parts : 1;
		if (n > most)
			n = most;
		for (i = 0; i < n; i++)
			items[i] = ck_pr_load_ptr(
				&queue->slots[(head + i) & queue->mask]);
		/*
		 * release: the copies before the swap (claim 2); pairs with the
		 * acquire of the head above, and, through the work on the
		 * items, with the next put
		 */
		ck_pr_fence_release();
	} while (!ck_pr_cas_64_value(&queue->head, head, head + n, &head));
	return (uint32_t)n;
}

/* True: the taker was parked, and is not any more: to be told. Any thread. */
static inline bool weir__queue_wake(struct weir__queue *queue, uint32_t *parked)
{
	if (!ck_pr_load_32(parked) || !ck_pr_fas_32(parked, 0))
		return false;
	ck_pr_dec_32(&queue->n_parked);
	return true;
}

/* The taker has found no item, and parked, unless there is one after all. */
static inline void weir__queue_park(struct weir__queue *queue, uint32_t *parked)
{
	ck_pr_inc_32(&queue->n_parked);
	/* after the count: a thread that sees `parked` can take the count
	 * back */
	ck_pr_fence_atomic_store();
	ck_pr_store_32(parked, 1);
	/* store -> load; pairs with the one in weir__queue_has_parked() */
	weir__fence_full();
	if (!weir__queue_idle(queue))
		(void)weir__queue_wake(queue, parked);
}

#endif
