/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue from one who puts to several takers, who take runs of what is oldest,
 * whoever is free, and rest when there is nothing.
 *
 *  1. Never more is queued, taken or worked at than there are slots: who puts
 *     sees to it. So nothing is overwritten that nobody has taken.
 *  2. Who takes copies the slots first and then moves the head on, by a
 *     compare-and-swap: had one of them been overwritten since, the head would
 *     have passed it, and the swap fails. Indices have 64 bits and do not wrap.
 *  3. A taker that has found nothing sets its `rests`, and looks again. Who has
 *     published something looks at `rests` afterwards. A full fence lies
 *     between on both sides, so one of them sees the other. Who exchanges
 *     `rests` for 0 wakes it.
 *  4. A taker that does not rest needs no wake: it looks before it rests. One
 *     that goes away may have had a wake, and passes it on.
 */
#ifndef WEIR_PROCESS_QUEUE_H
#define WEIR_PROCESS_QUEUE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <ck_pr.h>

#include "base/fence.h"
#include "base/memory.h"

struct weir__queue {
	/* who puts; the tail is read by all */
	uint64_t tail __attribute__((aligned(WEIR__LINE)));
	uint64_t n_put; /* published or not */
	/* the takers' */
	uint64_t head __attribute__((aligned(WEIR__LINE)));
	/* seldom written; atomic */
	uint32_t n_resting __attribute__((aligned(WEIR__LINE)));
	uint32_t closed; /* what is queued is the last */
	/* constant */
	uint32_t mask;
	void **slots;
};

/* Nothing is there, and more may come. Any thread; a hint. */
static inline bool weir__queue_idle(const struct weir__queue *queue)
{
	return ck_pr_load_64(&queue->head) == ck_pr_load_64(&queue->tail) &&
	       !ck_pr_load_32(&queue->closed);
}

/* Somebody may have to be woken for what was stored before. Any thread. */
static inline bool weir__queue_rested(const struct weir__queue *queue)
{
	/* store -> load; pairs with the one in weir__queue_rest() */
	weir__fence_full();
	return ck_pr_load_32(&queue->n_resting) > 0;
}

/* Seen by takers when it is published. */
static inline void weir__queue_put(struct weir__queue *queue, void *item)
{
	ck_pr_store_ptr(&queue->slots[queue->n_put++ & queue->mask], item);
}

/* How many; then weir__queue_rested() is to be asked. */
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
 * Takes the oldest, up to `most` and, rounded down but for the last one, up to
 * a part of `parts` of what is there. How many. Linearises at the swap. Any
 * thread; lock-free.
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
		/* release: the copies before the swap (claim 2); pairs with
		 * the acquire of the head above, and through what is done with
		 * the items with who puts next */
		ck_pr_fence_release();
	} while (!ck_pr_cas_64_value(&queue->head, head, head + n, &head));
	return (uint32_t)n;
}

/* True: the taker rested, and does not any more: to be told. Any thread. */
static inline bool weir__queue_wake(struct weir__queue *queue, uint32_t *rests)
{
	if (!ck_pr_load_32(rests) || !ck_pr_fas_32(rests, 0))
		return false;
	ck_pr_dec_32(&queue->n_resting);
	return true;
}

/* The taker has found nothing, and rests, unless there is something after all. */
static inline void weir__queue_rest(struct weir__queue *queue, uint32_t *rests)
{
	ck_pr_inc_32(&queue->n_resting);
	/* after that: who sees it can take the count back */
	ck_pr_fence_atomic_store();
	ck_pr_store_32(rests, 1);
	/* store -> load; pairs with the one in weir__queue_rested() */
	weir__fence_full();
	if (!weir__queue_idle(queue))
		(void)weir__queue_wake(queue, rests);
}

#endif
