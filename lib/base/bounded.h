/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded queue of items, which knows what becomes of an item that finds no
 * room. It has no lock: its user has one, and drops items without holding it.
 *
 * 1. An offer puts the items that have to be dropped into a struct
 *    weir__dropped, which its user empties when the lock is released.
 * 2. If they are more than there is place for, the oldest `n_doomed` elements
 *    are yet to be dropped. The new item is queued behind them. The user
 *    spills them, some at a time, before its next offer.
 * 3. A doomed item that is taken meanwhile is not dropped.
 */
#ifndef WEIR_BASE_BOUNDED_H
#define WEIR_BASE_BOUNDED_H

#include <weir/items.h>

#include "base/deque.h"

struct weir__bounded {
	struct weir__deque deque;
	size_t n_doomed; /* claim 2 */
	enum weir_overflow overflow;
};

/* Items dropped at once, while nobody else can use the queue. */
#define WEIR__DROPPED_MAX 64

struct weir__dropped {
	size_t n;
	void *items[WEIR__DROPPED_MAX];
};

/* True: there is such a policy. */
bool weir__overflow_valid(enum weir_overflow overflow);

/* Takes the oldest items, at most `most`, and returns how many. */
static inline size_t weir__bounded_take(struct weir__bounded *queue,
					void *const *slots, void **items,
					size_t most)
{
	struct weir__deque *deque = &queue->deque;
	size_t n = deque->n < most ? deque->n : most, i;

	for (i = 0; i < n; i++)
		items[i] = slots[weir__deque_at(deque, i)];
	weir__deque_forget(deque, n);
	queue->n_doomed -= queue->n_doomed < n ? queue->n_doomed : n;
	return n;
}

/* Drops doomed items, as far as there is place for them. */
void weir__bounded_spill(struct weir__bounded *queue, void *const *slots,
			 struct weir__dropped *dropped);

/*
 * Makes room in a full queue, or says what becomes of `item`. 1: there is room,
 * items are dropped. -ENOBUFS: the item is one of those dropped. -EAGAIN,
 * -EOVERFLOW: it is the caller's, who waits or fails.
 */
int weir__bounded_overflow(struct weir__bounded *queue, void *const *slots,
			   void *item, struct weir__dropped *dropped);

/* 0: the item is queued; 1: items are dropped for it. Else as above, and
 * nothing else has changed. There is place in *dropped. */
static inline int weir__bounded_offer(struct weir__bounded *queue, void **slots,
				      void *item, struct weir__dropped *dropped)
{
	int rc = 0;

	if (weir__deque_is_full(&queue->deque))
		rc = weir__bounded_overflow(queue, slots, item, dropped);
	if (rc >= 0)
		slots[weir__deque_push(&queue->deque)] = item;
	return rc;
}

#endif
