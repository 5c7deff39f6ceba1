/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop of operators that put out one item or none for each that they take.
 */
#ifndef WEIR_FLOW_EACH_H
#define WEIR_FLOW_EACH_H

#include "flow/flow.h"

/* What becomes of an item; or a negative errno, with the item as it was. */
enum {
	WEIR__EACH_DROP,     /* it is left out */
	WEIR__EACH_PUT,	     /* it goes on */
	WEIR__EACH_PUT_LAST, /* and the operator ends behind it */
	WEIR__EACH_END,	     /* it is left out, and the operator ends */
};

/* One by one through `step`, which the compiler puts in line. */
static inline size_t weir__each(struct weir__op *op, void **items, size_t room,
				int (*step)(struct weir__op *op, void **item))
{
	struct weir__op *up = op->up[0];
	size_t n = weir__pull(up, items, room), put = 0, i;
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
	if (!op->ended)
		(void)weir__op_follow(op);
	return put;
}

/* What a function that answers yes, no or an errno has said of an item. */
static inline int weir__each_if(int rc, int yes, int no)
{
	if (rc == 1)
		return yes;
	if (rc == 0)
		return no;
	return rc < 0 ? rc : -EINVAL;
}

#endif
