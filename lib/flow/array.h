/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where operators take items to that they do not put out as they come. An array of
 * a batch would need 2 KiB of the stack for each operator. So it is the one that
 * they are given themselves, if that is as large; or the stage's, which one of them
 * has at a time; or else what they are given, or a few on the stack.
 */
#ifndef WEIR_FLOW_ARRAY_H
#define WEIR_FLOW_ARRAY_H

#include <assert.h>

#include "flow/flow.h"

#define WEIR__FEW 16u

struct weir__array {
	void **items;
	size_t n;	/* 0: there was no room, and nothing is taken */
	void **scratch; /* the stage's, if it is that */
	void *few[WEIR__FEW];
};

/* Of a pull with `room`, until weir__array_done(). */
static inline void weir__array_init(struct weir__array *array,
				    const struct weir__op *op, void **items,
				    size_t room)
{
	struct weir__stage *stage = op->stage;

	array->scratch = NULL;
	array->items = items;
	array->n = weir__at_most(room, WEIR_FLOW_BATCH);
	if (array->n == 0 || array->n == WEIR_FLOW_BATCH)
		return;
	if (WEIR_LIKELY(stage->scratch)) {
		array->items = array->scratch = stage->scratch;
		array->n = WEIR_FLOW_BATCH;
		stage->scratch = NULL;
	} else if (array->n < WEIR__FEW) {
		array->items = array->few;
		array->n = WEIR__FEW;
	}
}

/* What was taken is put elsewhere. */
static inline void weir__array_done(const struct weir__array *array,
				    const struct weir__op *op)
{
	if (!array->scratch)
		return;
	assert(!op->stage->scratch);
	op->stage->scratch = array->scratch;
}

/* Takes what comes; how many. */
static inline size_t weir__array_take(struct weir__array *array,
				      struct weir__op *up)
{
	return weir__pull(up, array->items, array->n);
}

#endif
