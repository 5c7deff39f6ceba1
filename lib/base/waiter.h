/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A waiter (a callback or a parked thread, executor/wait.h) and a queue of
 * waiters, first come first served. Lists have no lock: the object that a list
 * belongs to has one.
 *
 * The rule that keeps memory safe: the thread that takes a waiter out of its
 * list, under that lock, owns the waiter. The waker takes it out and calls
 * `wake` once, without the lock. A waiting thread that gives up takes it out
 * and calls nothing; if it finds it gone already it must wait for the wake that
 * is on its way.
 */
#ifndef WEIR_BASE_WAITER_H
#define WEIR_BASE_WAITER_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/private.h>

static inline bool weir__waiters_empty(const struct weir__waiters *list)
{
	return !list->head;
}

/* `waiter` is in no list; goes to the end. */
static inline void weir__waiters_push(struct weir__waiters *list,
				      struct weir__waiter *waiter)
{
	waiter->next = NULL;
	waiter->prev = list->tail;
	waiter->listed = true;
	if (list->tail)
		list->tail->next = waiter;
	else
		list->head = waiter;
	list->tail = waiter;
}

/* How many there are, at most `most`. */
static inline uint32_t weir__waiters_count(const struct weir__waiters *list,
					   uint32_t most)
{
	const struct weir__waiter *waiter = list->head;
	uint32_t n;

	for (n = 0; waiter && n < most; n++)
		waiter = waiter->next;
	return n;
}

/*
 * True: the waiter was in this list and is not any more. False: it is in no
 * list.
 */
static inline bool weir__waiters_remove(struct weir__waiters *list,
					struct weir__waiter *waiter)
{
	if (!waiter->listed)
		return false;
	if (waiter->prev)
		waiter->prev->next = waiter->next;
	else
		list->head = waiter->next;
	if (waiter->next)
		waiter->next->prev = waiter->prev;
	else
		list->tail = waiter->prev;
	waiter->listed = false;
	return true;
}

/* Takes out the waiter that has waited longest, or returns NULL. */
static inline struct weir__waiter *weir__waiters_pop(struct weir__waiters *list)
{
	struct weir__waiter *first = list->head;

	if (first)
		weir__waiters_remove(list, first);
	return first;
}

#endif
