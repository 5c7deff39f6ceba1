/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items that wait, one at a time, each until a flow that was made for it has
 * completed. That flow is nested behind an ignore, so it may have any items.
 */
#include <weir/flow_async.h>
#include <weir/flow_sink.h>

#include "executor/thread.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/shared/nest.h"

struct until_args {
	struct weir_flow *(*make)(void *item, void *context);
	void *context;
};

struct until {
	struct weir__nest nest; /* of the item that waits */
	void *item;
	bool waits;
};

static void until_close(struct weir__op *op)
{
	struct until *self = weir__op_state(op);

	weir__nest_close(&self->nest);
	if (self->waits)
		weir__op_drop_one(op->up[0], self->item);
	self->waits = false;
}

/* Takes an item, and makes its flow. False: upstream has none. */
static bool take_one(struct weir__op *op)
{
	const struct until_args *args = weir__op_args(op);
	struct until *self = weir__op_state(op);
	struct weir_flow *made;
	void *item;

	if (!weir__pull(op->up[0], &item, 1))
		return false;
	made = args->make(item, args->context);
	if (weir__nest_open_for_item(&self->nest, op, weir_flow_ignore(made))) {
		self->item = item;
		self->waits = true;
	} else {
		weir__op_drop_one(op->up[0], item);
	}
	return true;
}

/* True: the flow of the item that waits has completed. */
static bool is_due(struct weir__op *op, void **items, size_t room)
{
	struct until *self = weir__op_state(op);

	if (self->nest.op)
		(void)weir__pull(self->nest.op, items, room);
	if (!weir__nest_is_over(&self->nest, op))
		return false;
	weir__nest_close(&self->nest);
	return true;
}

static size_t until_pull(struct weir__op *op, void **items, size_t room)
{
	struct until *self = weir__op_state(op);
	/* where turns may block, an item goes out before the next is taken */
	size_t most = weir__thread.may_block ? weir__at_most(room, 1) : room;
	size_t n = 0, tries;
	bool looked = false; /* whether upstream has ended */

	for (tries = most; n < most && tries > 0; tries--) {
		looked = looked || !self->waits;
		if (!self->waits && !take_one(op))
			break;
		if (op->ended)
			return n;
		if (!self->waits)
			continue;
		if (!is_due(op, items + n, most - n))
			break;
		items[n++] = self->item;
		self->waits = false;
	}
	if (self->waits && room == 0)
		(void)is_due(op, items, 0);
	/* while an item waits, an end of upstream waits behind it */
	if (op->ended || self->waits)
		return n;
	if (!looked)
		weir__pull_none(op->up[0]);
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind until_kind = {
	.name = "delay_until",
	.state_size = sizeof(struct until),
	.pull = until_pull,
	.close = until_close,
	.stateless = true,
	.holds = true,
	.nests = true,
	.beside = true,
};

struct weir_flow *weir_flow_delay_until(
	struct weir_flow *flow,
	struct weir_flow *(*make)(void *item, void *context), void *context)
{
	struct until_args args = {make, context};

	return weir__flow_upon(&until_kind, flow, &args, sizeof(args), make);
}
