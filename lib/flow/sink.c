/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that take all items. */
#include <weir/flow_sink.h>

#include "flow/flow.h"

/* --- for_each ---------------------------------------------------------------- */

struct for_each {
	int (*take)(void *item, void *context);
	void *context;
};

/* It asks for no more than a batch, whatever the room for what it puts out. */
static size_t for_each_pull(struct weir__op *op, void **items, size_t room)
{
	const struct for_each *args = weir__op_args(op);
	void *batch[WEIR_FLOW_BATCH];
	size_t n = weir__pull(op->up[0], batch, room ? WEIR_FLOW_BATCH : 0), i;
	int rc;

	for (i = 0; i < n && !op->ended; i++) {
		rc = args->take(batch[i], args->context);
		if (WEIR_LIKELY(rc == 0))
			continue;
		weir__op_drop_one(op->up[0], batch[i]);
		(void)weir__op_survives(op, rc);
	}
	weir__op_drop(op->up[0], batch + i, n - i);
	if (!op->ended && !weir__op_follow(op) && n > 0)
		weir__op_again(op);
	return 0;
}

static const struct weir__kind for_each_kind = {
	.name = "for_each",
	.pull = for_each_pull,
};

struct weir_flow *weir_flow_for_each(struct weir_flow *flow,
				     int (*take)(void *item, void *context),
				     void *context)
{
	struct for_each args = {take, context};

	return weir__flow_upon(&for_each_kind, flow, &args, sizeof(args), take);
}
