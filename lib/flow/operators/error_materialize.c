/* SPDX-License-Identifier: BSD-2-Clause */
/* Items that say what a stream does, and what they say done. */
#include <weir/flow_error.h>

#include <errno.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"

/* --- Signals -------------------------------------------------------------- */

void weir_flow_signal_free(struct weir_flow_signal *signal)
{
	const struct weir_items *items;

	if (!signal)
		return;
	items = signal->items;
	if (signal->kind == WEIR_FLOW_SIGNAL_NEXT && items && items->drop)
		items->drop(signal->item, items->context);
	weir_error_unref(signal->error);
	weir__free(signal->allocator, signal, sizeof(*signal));
}

static void drop_signal(void *signal, void *context)
{
	weir_flow_signal_free(signal);
}

static const struct weir_items signal_items = {
	.drop = drop_signal,
	.name = "signals",
};

const struct weir_items *weir_flow_signal_items(void)
{
	return &signal_items;
}

static const struct weir_items *gives_signals(const struct weir_flow *flow)
{
	return &signal_items;
}

/* Of the operator above `op`. NULL: no memory, and `op` has failed. */
static struct weir_flow_signal *signal_new(struct weir__op *op,
					   enum weir_flow_signal_kind kind)
{
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct weir_flow_signal *signal =
		weir__alloc(allocator, sizeof(*signal));

	if (!signal) {
		weir__op_fail(op, -ENOMEM, "no memory for a signal");
		return NULL;
	}
	signal->kind = kind;
	signal->items = op->up[0]->items;
	signal->allocator = allocator;
	return signal;
}

/* --- materialize ---------------------------------------------------------- */

/* Puts a signal in the place of each item; returns how many there are. */
static size_t to_signals(struct weir__op *op, void **items, size_t n)
{
	struct weir_flow_signal *signal;
	size_t i;

	for (i = 0; i < n; i++) {
		signal = signal_new(op, WEIR_FLOW_SIGNAL_NEXT);
		if (!signal)
			break;
		signal->item = items[i];
		items[i] = signal;
	}
	weir__op_drop(op->up[0], items + i, n - i);
	return i;
}

static size_t materialize_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__op *up = op->up[0];
	size_t n = to_signals(op, items, weir__pull(up, items, room));
	struct weir_flow_signal *last;

	if (op->ended || !up->ended || n == room)
		return n;
	last = signal_new(op, up->error ? WEIR_FLOW_SIGNAL_FAIL
					: WEIR_FLOW_SIGNAL_COMPLETE);
	if (!last)
		return n;
	last->error = weir_error_ref(up->error);
	items[n++] = last;
	weir__op_end(op, NULL);
	return n;
}

static const struct weir__kind materialize_kind = {
	.name = "materialize",
	.items = gives_signals,
	.pull = materialize_pull,
	.holds = true,
	.makes = true,
};

struct weir_flow *weir_flow_materialize(struct weir_flow *flow)
{
	return weir__flow_upon(&materialize_kind, flow, NULL, 0, true);
}

/* --- dematerialize -------------------------------------------------------- */

/* Does what a signal says. True: *item was set. */
static bool do_as(struct weir__op *op, struct weir_flow_signal *signal,
		  void **item)
{
	bool has_item = signal->kind == WEIR_FLOW_SIGNAL_NEXT;

	if (has_item)
		*item = weir_flow_signal_take(signal);
	else if (signal->kind == WEIR_FLOW_SIGNAL_FAIL)
		weir__op_end(op, signal->error ? signal->error
					       : weir_error_of(-EINVAL));
	else if (signal->kind == WEIR_FLOW_SIGNAL_COMPLETE)
		weir__op_end(op, NULL);
	weir_flow_signal_free(signal);
	return has_item;
}

static size_t dematerialize_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__op *up = op->up[0];
	size_t n = weir__pull(up, items, room), put = 0, i;

	for (i = 0; i < n && !op->ended; i++)
		put += do_as(op, items[i], &items[put]);
	weir__op_drop(up, items + i, n - i);
	if (!op->ended)
		(void)weir__op_follow(op);
	return put;
}

static const char *takes_signals(const struct weir_flow *flow)
{
	const struct weir_items *given = weir__flow_items(flow->up[0]);

	if (given == &weir__items_any || (given && given->drop == drop_signal))
		return NULL;
	return "takes signals, see weir_flow_signal_items()";
}

static const struct weir__kind dematerialize_kind = {
	.name = "dematerialize",
	.pull = dematerialize_pull,
	.refuses = takes_signals,
	.makes = true,
	.remakes = true,
};

struct weir_flow *weir_flow_dematerialize(struct weir_flow *flow)
{
	return weir__flow_upon(&dematerialize_kind, flow, NULL, 0, true);
}
