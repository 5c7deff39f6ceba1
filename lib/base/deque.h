/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A double-ended queue in an array of slots. A deque knows which slots are
 * used, and in which order; the array is its user's. So slots hold whatever the
 * user wants, and the user may move them into a longer array. A deque has no
 * lock: what it belongs to has one, or one thread.
 *
 * `first` is below `capacity`, and `n` at most `capacity`. The i-th oldest
 * element is in slot first + i, or as far behind slot 0 where the array ends.
 * No sum wraps: an array of that many slots would not fit into memory.
 */
#ifndef WEIR_BASE_DEQUE_H
#define WEIR_BASE_DEQUE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

/* All zero has no room. */
struct weir__deque {
	size_t capacity; /* slots there are */
	size_t first;	 /* the oldest element's slot */
	size_t n;	 /* elements */
};

static inline bool weir__deque_is_full(const struct weir__deque *deque)
{
	return deque->n == deque->capacity;
}

static inline size_t weir__deque_room(const struct weir__deque *deque)
{
	return deque->capacity - deque->n;
}

/* The slot of the i-th oldest element; with i == n, of the next one. */
static inline size_t weir__deque_at(const struct weir__deque *deque, size_t i)
{
	size_t at = deque->first + i;

	assert(deque->first < deque->capacity && i <= deque->n);
	return at < deque->capacity ? at : at - deque->capacity;
}

/* Adds an element, the youngest: the slot to put it into. */
static inline size_t weir__deque_push(struct weir__deque *deque)
{
	assert(!weir__deque_is_full(deque));
	return weir__deque_at(deque, deque->n++);
}

/* Takes out the `n` oldest elements, which the caller has read. */
static inline void weir__deque_forget(struct weir__deque *deque, size_t n)
{
	deque->first = weir__deque_at(deque, n);
	deque->n -= n;
}

/* Takes out the oldest element: the slot it is in. */
static inline size_t weir__deque_pop(struct weir__deque *deque)
{
	size_t slot = deque->first;

	weir__deque_forget(deque, 1);
	return slot;
}

/* Takes out the youngest element: the slot it is in. */
static inline size_t weir__deque_pop_last(struct weir__deque *deque)
{
	assert(deque->n > 0);
	return weir__deque_at(deque, --deque->n);
}

#endif
