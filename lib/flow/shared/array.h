/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The array into which an operator takes items that it does not emit as they
 * come. An array for a whole batch would need 2 KiB of the stack for each
 * operator. So it is, in this order:
 *
 * 1. The array that the operator was given, if that has room for a batch.
 * 2. The array of the island, which one operator uses at a time.
 * 3. The array that the operator was given, or a few slots on the stack,
 *    whichever has more room.
 */
#ifndef WEIR_FLOW_SHARED_ARRAY_H
#define WEIR_FLOW_SHARED_ARRAY_H

#include <assert.h>

#include "flow/engine/island.h"
#include "flow/engine/op.h"

#define WEIR__FEW 16u

struct weir__array {
	void **items;
	size_t n;	/* 0: there was no room, and no item is taken */
	void **scratch; /* not NULL: the island's array is used */
	void *few[WEIR__FEW];
};

/* Of a pull with `room`, until weir__array_done(). */
static inline void weir__array_init(struct weir__array *array,
				    const struct weir__op *op, void **items,
				    size_t room)
{
	struct weir__island *island = op->island;

	array->scratch = NULL;
	array->items = items;
	array->n = weir__at_most(room, WEIR_FLOW_BATCH);
	if (array->n == 0 || array->n == WEIR_FLOW_BATCH)
		return;
	if (WEIR_LIKELY(island->scratch)) {
		array->items = array->scratch = island->scratch;
		array->n = WEIR_FLOW_BATCH;
		island->scratch = NULL;
	} else if (array->n < WEIR__FEW) {
		array->items = array->few;
		array->n = WEIR__FEW;
	}
}

/* The items were put elsewhere: gives the island's array back. */
static inline void weir__array_done(const struct weir__array *array,
				    const struct weir__op *op)
{
	if (!array->scratch)
		return;
	assert(!op->island->scratch);
	op->island->scratch = array->scratch;
}

/* Pulls `up` into the array; returns how many items came. */
static inline size_t weir__array_take(struct weir__array *array,
				      struct weir__op *up)
{
	return weir__pull(up, array->items, array->n);
}

#endif
