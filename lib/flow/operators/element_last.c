/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that hold the last items. */
#include <weir/flow_element.h>

#include <errno.h>

#include "base/deque.h"
#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/shared/array.h"

/* The newest items, up to args->n of them. */
struct newest {
	void **slots;
	struct weir__deque held;
};

static size_t n_of(const struct weir__op *op)
{
	return *(const size_t *)weir__op_args(op);
}

static int last_open(struct weir__op *op)
{
	struct newest *self = weir__op_state(op);
	size_t size = n_of(op) * sizeof(*self->slots);

	if (size > 0)
		self->slots = weir__alloc(weir__op_allocator(op), size);
	self->held = (struct weir__deque){.capacity = n_of(op)};
	return size == 0 || self->slots ? 0 : -ENOMEM;
}

static void *take_oldest(struct newest *self)
{
	return self->slots[weir__deque_pop(&self->held)];
}

static void last_close(struct weir__op *op)
{
	struct newest *self = weir__op_state(op);

	while (self->held.n > 0)
		weir__op_drop_one(op->up[0], take_oldest(self));
	weir__free(weir__op_allocator(op), self->slots,
		   n_of(op) * sizeof(*self->slots));
	self->slots = NULL;
}

/* Holds the item; if as many are held as may be, *item is then the oldest of
 * them, and the result is true. */
static bool displaces(struct newest *self, void **item)
{
	bool is_full = weir__deque_is_full(&self->held);
	void *held = *item;

	if (self->held.capacity == 0)
		return true;
	if (is_full)
		*item = take_oldest(self);
	self->slots[weir__deque_push(&self->held)] = held;
	return is_full;
}

/* Holds the items, and leaves those in their array that are held no longer:
 * returns how many there are. */
static size_t displace(struct weir__op *op, void **items, size_t n)
{
	size_t put = 0, i;
	void *item;

	for (i = 0; i < n; i++) {
		item = items[i];
		if (displaces(weir__op_state(op), &item))
			items[put++] = item;
	}
	return put;
}

static struct weir_flow *holding(const struct weir__kind *kind,
				 struct weir_flow *flow, size_t n)
{
	flow = weir__flow_upon(kind, flow, &n, sizeof(n),
			       n <= WEIR_CAPACITY_MAX);
	return weir__flow_wrong(flow, kind, "n %zu is above %u", n,
				WEIR_CAPACITY_MAX);
}

/* --- take_last ------------------------------------------------------------ */

static void take_in(struct weir__op *op, void **items, size_t room)
{
	struct weir__array batch;
	size_t n;

	weir__array_init(&batch, op, items, room);
	n = weir__array_take(&batch, op->up[0]);
	n = displace(op, batch.items, n);
	weir__op_drop(op->up[0], batch.items, n);
	weir__array_done(&batch, op);
}

static size_t take_last_pull(struct weir__op *op, void **items, size_t room)
{
	struct newest *self = weir__op_state(op);
	struct weir__op *up = op->up[0];
	size_t n = 0;

	if (!up->ended)
		take_in(op, items, room);
	while (up->ended && !up->error && n < room && self->held.n > 0)
		items[n++] = take_oldest(self);
	if (up->ended && (up->error || self->held.n == 0))
		weir__op_end(op, up->error);
	return n;
}

static const struct weir__kind take_last_kind = {
	.name = "take_last",
	.state_size = sizeof(struct newest),
	.open = last_open,
	.pull = take_last_pull,
	.close = last_close,
	.holds = true,
};

struct weir_flow *weir_flow_take_last(struct weir_flow *flow, size_t n)
{
	return holding(&take_last_kind, flow, n);
}

/* --- drop_last ------------------------------------------------------------ */

static size_t drop_last_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = weir__pull(op->up[0], items, room);

	n = displace(op, items, n);
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind drop_last_kind = {
	.name = "drop_last",
	.state_size = sizeof(struct newest),
	.open = last_open,
	.pull = drop_last_pull,
	.close = last_close,
};

struct weir_flow *weir_flow_drop_last(struct weir_flow *flow, size_t n)
{
	return holding(&drop_last_kind, flow, n);
}
