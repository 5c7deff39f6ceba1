/* SPDX-License-Identifier: BSD-2-Clause */
/* Items that are made while none come. */
#include <weir/flow_rate.h>

#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

/* --- keep_alive ----------------------------------------------------------- */

struct keep_alive {
	uint64_t idle_ns;
	int (*make)(void **item, void *context);
	void *context;
};

struct keeping {
	struct weir__op_timer timer; /* must be first */
	uint64_t due_ns;	     /* an item is made */
};

static void begin(struct weir__op *op)
{
	const struct keep_alive *args = weir__op_args(op);
	struct keeping *self = weir__op_state(op);

	self->due_ns = weir__later(weir__op_now(op), args->idle_ns);
}

static int keep_alive_open(struct weir__op *op)
{
	begin(op);
	return 0;
}

static void keep_alive_close(struct weir__op *op)
{
	struct keeping *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
}

/* Returns how many items it has made: one, or none if that fails. */
static size_t make_one(struct weir__op *op, void **items)
{
	const struct keep_alive *args = weir__op_args(op);
	int rc = args->make(&items[0], args->context);

	if (rc != 0)
		(void)weir__op_survives(op, rc);
	return rc == 0;
}

static size_t keep_alive_pull(struct weir__op *op, void **items, size_t room)
{
	struct keeping *self = weir__op_state(op);
	size_t n = weir__pull(op->up[0], items, room);
	bool is_due;
	int rc = 0;

	if (weir__op_follow(op))
		return n;
	is_due = weir__op_now(op) >= self->due_ns;
	if (is_due && room == 0) /* downstream will ask */
		return 0;
	if (n > 0 || is_due)
		begin(op);
	if (n == 0 && is_due)
		n = make_one(op, items);
	if (!op->ended)
		rc = weir__op_timer_at(&self->timer, op, self->due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
	return n;
}

static const struct weir__kind keep_alive_kind = {
	.name = "keep_alive",
	.state_size = sizeof(struct keeping),
	.open = keep_alive_open,
	.pull = keep_alive_pull,
	.close = keep_alive_close,
	.keeps = sizeof(struct weir__op_timer),
	.awaits = WEIR_WAIT_TIME,
	.holds = true,
};

struct weir_flow *weir_flow_keep_alive(struct weir_flow *flow, uint64_t idle_ns,
				       int (*make)(void **item, void *context),
				       void *context)
{
	struct keep_alive args = {idle_ns, make, context};

	flow = weir__flow_upon(&keep_alive_kind, flow, &args, sizeof(args),
			       idle_ns > 0 && make);
	return weir__flow_wrong_as(flow, &keep_alive_kind,
				   make ? "idle_ns is 0" : "make is NULL");
}

/* --- extrapolate ---------------------------------------------------------- */

struct extrapolate {
	int (*make)(void *last, uint64_t i, void **item, void *context);
	void *context;
};

struct extrapolating {
	void *last; /* shared with downstream */
	bool has_last;
	bool is_done; /* no more items are made of it */
	uint64_t i;   /* how many were */
};

static void extrapolate_close(struct weir__op *op)
{
	struct extrapolating *self = weir__op_state(op);

	if (self->has_last)
		weir__op_drop_one(op->up[0], self->last);
	self->has_last = false;
}

/* If items can be dropped, they must be shared. */
static int extrapolate_open(struct weir__op *op)
{
	const struct weir_items *items = op->up[0]->items;

	return items && items->drop && !items->share ? -ENOTSUP : 0;
}

static void keep_last(struct weir__op *op, void *item)
{
	const struct weir_items *items = op->up[0]->items;
	int rc = items && items->share ? items->share(item, items->context) : 0;

	extrapolate_close(op);
	if (rc == 0)
		*(struct extrapolating *)weir__op_state(op) =
			(struct extrapolating){.last = item, .has_last = true};
	else
		weir__op_fail_code(op, rc, "an item could not be shared");
}

/* Returns how many items it has made of the last one: one or none. */
static size_t make_more(struct weir__op *op, void **items)
{
	const struct extrapolate *args = weir__op_args(op);
	struct extrapolating *self = weir__op_state(op);
	int rc = args->make(self->last, self->i++, &items[0], args->context);

	if (rc == 1)
		return 1;
	self->is_done = true;
	if (rc != 0)
		(void)weir__op_survives(op, rc);
	return 0;
}

static size_t extrapolate_pull(struct weir__op *op, void **items, size_t room)
{
	const struct extrapolating *self = weir__op_state(op);
	size_t n = weir__pull(op->up[0], items, room);

	if (!weir__op_follow(op) && n > 0)
		keep_last(op, items[n - 1]);
	else if (!op->ended && room > 0 && self->has_last && !self->is_done)
		n = make_more(op, items);
	return n;
}

static const struct weir__kind extrapolate_kind = {
	.name = "extrapolate",
	.state_size = sizeof(struct extrapolating),
	.open = extrapolate_open,
	.pull = extrapolate_pull,
	.close = extrapolate_close,
	.holds = true,
};

struct weir_flow *weir_flow_extrapolate(struct weir_flow *flow,
					int (*make)(void *last, uint64_t i,
						    void **item, void *context),
					void *context)
{
	struct extrapolate args = {make, context};

	flow = weir__flow_upon(&extrapolate_kind, flow, &args, sizeof(args),
			       make);
	return weir__flow_wrong_as(flow, &extrapolate_kind, "make is NULL");
}
