/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where operators take items to that they do not put out as they come: into the
 * array that they are given themselves, or a few on the stack where that is
 * shorter. An array of a batch would need 2 KiB of the stack for each operator.
 */
#ifndef WEIR_FLOW_ARRAY_H
#define WEIR_FLOW_ARRAY_H

#include "flow/flow.h"

#define WEIR__FEW 16u

struct weir__array {
	void **items;
	size_t n; /* 0: there was no room, and nothing is taken */
	void *few[WEIR__FEW];
};

/* Of a pull with `room`; what is in `items` then is nobody's. */
static inline void weir__array_init(struct weir__array *array, void **items,
				    size_t room)
{
	bool is_long = room >= WEIR__FEW;

	array->items = is_long ? items : array->few;
	array->n = is_long ? weir__at_most(room, WEIR_FLOW_BATCH)
			   : (room ? WEIR__FEW : 0);
}

/* Takes what comes; how many. */
static inline size_t weir__array_take(struct weir__array *array,
				      struct weir__op *up)
{
	return weir__pull(up, array->items, array->n);
}

#endif
