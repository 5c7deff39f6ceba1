/* SPDX-License-Identifier: BSD-2-Clause */
/* Items until, or from, the first sign of life of another flow. */
#include <weir/flow_combine.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"

/* The other flow may have any items: they are dropped. */
static const struct weir_items *until_items(const struct weir_flow *flow)
{
	return weir__flow_items(flow->up[0]);
}

/* True: the other flow has emitted an item, and is cancelled, or has ended. */
static bool has_come(struct weir__op *op, size_t room)
{
	struct weir__op *other = op->up[1];
	void *item;

	if (weir__pull(other, &item, weir__at_most(room, 1)) > 0) {
		weir__op_drop_one(other, item);
		weir__op_cancel(other);
	}
	return other->ended;
}

static size_t take_until_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n;

	if (has_come(op, room)) {
		weir__op_end(op, op->up[1]->error);
		return 0;
	}
	n = weir__pull(op->up[0], items, room);
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind take_until_kind = {
	.name = "take_until",
	.pull = take_until_pull,
	.items = until_items,
	.any_input = true,
};

struct weir_flow *weir_flow_take_until(struct weir_flow *flow,
				       struct weir_flow *other)
{
	struct weir_flow *both[] = {flow, other};

	return weir__flow_new(&take_until_kind, both, 2, NULL, 0, true);
}

static size_t skip_until_pull(struct weir__op *op, void **items, size_t room)
{
	bool passes = has_come(op, room);
	size_t n;

	if (passes && op->up[1]->error) {
		weir__op_end(op, op->up[1]->error);
		return 0;
	}
	n = weir__pull(op->up[0], items, room);
	if (!passes) {
		weir__op_drop(op->up[0], items, n);
		n = 0;
	}
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind skip_until_kind = {
	.name = "skip_until",
	.pull = skip_until_pull,
	.items = until_items,
	.any_input = true,
};

struct weir_flow *weir_flow_skip_until(struct weir_flow *flow,
				       struct weir_flow *other)
{
	struct weir_flow *both[] = {flow, other};

	return weir__flow_new(&skip_until_kind, both, 2, NULL, 0, true);
}
