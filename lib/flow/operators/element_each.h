/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop of operators that emit one item or none for each item that they
 * take.
 */
#ifndef WEIR_FLOW_OPERATORS_ELEMENT_EACH_H
#define WEIR_FLOW_OPERATORS_ELEMENT_EACH_H

#include <errno.h>

#include "flow/engine/op.h"

/* Results of `step`, besides a negative errno, which leaves the item as
 * it was. */
enum {
	WEIR__EACH_DROP,     /* the item is dropped */
	WEIR__EACH_PUT,	     /* the item is emitted */
	WEIR__EACH_PUT_LAST, /* the same, and the operator ends */
	WEIR__EACH_END,	     /* the item is dropped, the operator ends */
};

/* Passes items one by one through `step`, which the compiler inlines; for
 * `apply` of a kind. */
static inline size_t weir__each(struct weir__op *op, void **items, size_t n,
				int (*step)(struct weir__op *op, void **item))
{
	struct weir__op *up = op->up[0];
	size_t put = 0, i;
	void *item;
	int rc;

	for (i = 0; i < n && !op->ended; i++) {
		item = items[i];
		rc = step(op, &item);
		if (WEIR_LIKELY(rc == WEIR__EACH_PUT ||
				rc == WEIR__EACH_PUT_LAST))
			items[put++] = item;
		else
			weir__op_drop_one(up, items[i]);
		if (rc == WEIR__EACH_PUT_LAST || rc == WEIR__EACH_END)
			weir__op_end(op, NULL);
		else if (WEIR_UNLIKELY(rc < 0 || rc > WEIR__EACH_END))
			(void)weir__op_survives(op, rc);
	}
	weir__op_drop(up, items + i, n - i);
	return put;
}

/* The result of `step` for a function of the user's that returns 1, 0 or an
 * errno. */
static inline int weir__each_if(int rc, int yes, int no)
{
	if (rc == 1)
		return yes;
	if (rc == 0)
		return no;
	return rc < 0 ? rc : -EINVAL;
}

#endif
