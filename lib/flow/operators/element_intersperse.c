/* SPDX-License-Identifier: BSD-2-Clause */
/* Items that come between others. */
#include <weir/flow_element.h>

#include <assert.h>
#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

struct intersperse {
	struct weir_flow_intersperse_functions functions;
	void *context;
};

struct interspersing {
	void *item; /* there was room for what comes before it only */
	bool has_item;
	bool begun; /* what comes first was emitted */
};

static void intersperse_close(struct weir__op *op)
{
	struct interspersing *self = weir__op_state(op);

	if (self->has_item)
		weir__op_drop_one(op->up[0], self->item);
	self->has_item = false;
}

/* 1: *item was made; 0: there is none; or a negative errno. */
static int make(const struct intersperse *args,
		int (*function)(void **item, void *context), void **item)
{
	int rc = function ? function(item, args->context) : 0;

	if (rc != 0)
		return rc < 0 ? rc : -EINVAL;
	return function != NULL;
}

/*
 * Emits what comes before the item, and then the item, which waits if there is
 * no room for it. Returns how many items are in `items` now, of which `n` were
 * there.
 */
static size_t put_with(struct weir__op *op, void **items, size_t n, size_t room,
		       void *item)
{
	const struct intersperse *args = weir__op_args(op);
	struct interspersing *self = weir__op_state(op);
	int rc;

	assert(n < room && !self->has_item);
	rc = make(args,
		  self->begun ? args->functions.between : args->functions.start,
		  &items[n]);
	if (rc < 0) {
		weir__op_drop_one(op->up[0], item);
		(void)weir__op_survives(op, rc);
		return n;
	}
	self->begun = true;
	n += (size_t)rc;
	if (n < room)
		items[n++] = item;
	else
		*self = (struct interspersing){item, true, true};
	return n;
}

/* Upstream has completed, and no item waits. */
static size_t put_end(struct weir__op *op, void **items, size_t room)
{
	const struct intersperse *args = weir__op_args(op);
	struct interspersing *self = weir__op_state(op);
	size_t n = 0;
	int rc = 0;

	if (!self->begun && args->functions.start) {
		if (room == 0)
			return 0;
		rc = make(args, args->functions.start, &items[n]);
		n = rc > 0;
	}
	self->begun = true;
	if (rc >= 0 && args->functions.end) {
		if (n == room)
			return n;
		rc = make(args, args->functions.end, &items[n]);
		n += rc > 0;
	}
	if (rc < 0)
		weir__op_fail_code(op, rc, "a function failed");
	else
		weir__op_end(op, NULL);
	return n;
}

/*
 * With what comes before them, items need two slots each. So they are taken
 * into the end of the array, and moved to its beginning. If the number of slots
 * is odd, the last item may have to wait.
 */
static size_t intersperse_pull(struct weir__op *op, void **items, size_t room)
{
	struct interspersing *self = weir__op_state(op);
	struct weir__op *up = op->up[0];
	size_t n = 0, left, got, i;

	if (self->has_item && room == 0)
		return 0;
	if (self->has_item)
		items[n++] = self->item;
	self->has_item = false;
	left = (room - n + 1) / 2;
	got = weir__pull(up, items + room - left, left);
	for (i = 0; i < got && !op->ended; i++)
		n = put_with(op, items, n, room, items[room - left + i]);
	weir__op_drop(up, items + room - left + i, got - i);
	if (op->ended || self->has_item || !up->ended)
		return n;
	if (!up->error)
		return n + put_end(op, items + n, room - n);
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind intersperse_kind = {
	.name = "intersperse",
	.state_size = sizeof(struct interspersing),
	.pull = intersperse_pull,
	.close = intersperse_close,
	.holds = true,
};

struct weir_flow *weir_flow_intersperse(
	struct weir_flow *flow,
	const struct weir_flow_intersperse_functions *functions, void *context)
{
	struct intersperse args = {.context = context};

	if (functions)
		args.functions = *functions;
	flow = weir__flow_upon(&intersperse_kind, flow, &args, sizeof(args),
			       functions);
	return weir__flow_wrong_as(flow, &intersperse_kind,
				   "functions is NULL");
}
