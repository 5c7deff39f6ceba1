/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups that have items in common, or leave some out. */
#include <assert.h>
#include <errno.h>

#include <weir/flow_rate.h>
#include <weir/flow_sink.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/shared/array.h"
#include "flow/shared/list.h"

struct sliding {
	size_t n, step;
};

struct slide {
	struct weir_flow_list *list; /* NULL: none has begun */
	size_t n_old; /* items of `list` that were in the one before */
	size_t skip;  /* so many items come before the next list begins */
};

static void sliding_close(struct weir__op *op)
{
	struct slide *self = weir__op_state(op);

	weir_flow_list_free(self->list);
	self->list = NULL;
}

/* If items that come in several lists can be dropped, they must be shared. */
static int sliding_open(struct weir__op *op)
{
	const struct sliding *args = weir__op_args(op);
	const struct weir_items *items = op->up[0]->items;

	return args->step < args->n && items && items->drop && !items->share
		       ? -ENOTSUP
		       : 0;
}

static struct weir_flow_list *begin(struct weir__op *op)
{
	const struct sliding *args = weir__op_args(op);
	struct weir_flow_list *list = weir__list_new(op, args->n);

	if (!list)
		weir__op_fail(op, -ENOMEM, "no memory for a group");
	return list;
}

/* Begins the next list with the last items of this one. False: an error. */
static bool carry_over(struct weir__op *op, const struct weir_flow_list *full)
{
	const struct sliding *args = weir__op_args(op);
	const struct weir_items *items = op->up[0]->items;
	struct slide *self = weir__op_state(op);
	size_t i;
	int rc;

	self->list = begin(op);
	if (!self->list)
		return false;
	for (i = args->step; i < args->n; i++) {
		rc = items && items->share
			     ? items->share(full->items[i], items->context)
			     : 0;
		if (rc != 0) {
			weir__op_fail_code(op, rc,
					   "an item could not be shared");
			return false;
		}
		self->list->items[self->list->n++] = full->items[i];
	}
	self->n_old = self->list->n;
	return true;
}

/* Takes out the list that is full. NULL: an error. */
static struct weir_flow_list *take_full(struct weir__op *op)
{
	const struct sliding *args = weir__op_args(op);
	struct slide *self = weir__op_state(op);
	struct weir_flow_list *full = self->list;

	assert(full->n == args->n);
	self->list = NULL;
	self->n_old = 0;
	if (args->step > args->n)
		self->skip = args->step - args->n;
	if (args->step >= args->n || carry_over(op, full))
		return full;
	weir_flow_list_free(full);
	return NULL;
}

/* Drops items between two lists. */
static void skip(struct weir__op *op, void **items, size_t room)
{
	struct slide *self = weir__op_state(op);
	struct weir__array batch;
	size_t n;

	weir__array_init(&batch, op, items, room);
	batch.n = weir__at_most(self->skip, batch.n);
	n = weir__array_take(&batch, op->up[0]);
	self->skip -= n;
	weir__op_drop(op->up[0], batch.items, n);
	weir__array_done(&batch, op);
}

/* Takes the items that are there for the list. False: an error. */
static bool fill(struct weir__op *op)
{
	const struct sliding *args = weir__op_args(op);
	struct slide *self = weir__op_state(op);
	struct weir_flow_list *list = self->list;

	if (!list)
		list = self->list = begin(op);
	if (!list)
		return false;
	list->n +=
		weir__pull(op->up[0], list->items + list->n,
			   weir__at_most(args->n - list->n, WEIR_FLOW_BATCH));
	return true;
}

/* Takes items, and emits a list that is full then. */
static size_t slide(struct weir__op *op, void **items)
{
	const struct sliding *args = weir__op_args(op);
	struct slide *self = weir__op_state(op);
	struct weir_flow_list *full;

	if (!fill(op) || self->list->n < args->n)
		return 0;
	full = take_full(op);
	items[0] = full;
	return full != NULL;
}

static size_t sliding_pull(struct weir__op *op, void **items, size_t room)
{
	struct slide *self = weir__op_state(op);
	struct weir__op *up = op->up[0];
	size_t n = 0;

	if (self->skip > 0 || room == 0)
		skip(op, items, room);
	else
		n = slide(op, items);
	if (op->ended || !up->ended)
		return n;
	if (up->error || !self->list || self->list->n == self->n_old) {
		weir__op_end(op, up->error);
	} else if (n < room) {
		items[n++] = self->list;
		self->list = NULL;
		weir__op_end(op, NULL);
	}
	return n;
}

static const struct weir__kind sliding_kind = {
	.name = "sliding",
	.state_size = sizeof(struct slide),
	.items = weir__gives_lists,
	.open = sliding_open,
	.pull = sliding_pull,
	.close = sliding_close,
	.holds = true,
	.makes = true,
};

struct weir_flow *weir_flow_sliding(struct weir_flow *flow, size_t n,
				    size_t step)
{
	struct sliding args = {n, step};

	flow = weir__flow_upon(&sliding_kind, flow, &args, sizeof(args),
			       weir__size_valid(n) && weir__size_valid(step));
	flow = weir__flow_wrong_size(flow, &sliding_kind, "n", n);
	return weir__flow_wrong_size(flow, &sliding_kind, "step", step);
}
