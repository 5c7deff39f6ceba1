/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that begin when they are first asked: their operators are made then, as
 * those of a nested flow. */
#include <weir/flow_source.h>

#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "flow/engine/subflow.h"
#include "flow/shared/nest.h"

struct late {
	struct weir_flow *(*make)(void *context); /* NULL: the flow above */
	void *context;
};

static struct weir_error *begin(struct weir__op *op)
{
	const struct late *args = weir__op_args(op);
	struct weir__nest *nest = weir__op_state(op);
	int code;

	if (args->make)
		return weir__nest_open(nest, op, args->make(args->context),
				       NULL);
	nest->op = weir__op_nest_up(op, 0, &code);
	return nest->op ? NULL
			: weir__op_error_code(op, code, "could not begin");
}

static void late_close(struct weir__op *op)
{
	weir__nest_close(weir__op_state(op));
}

static size_t late_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__nest *nest = weir__op_state(op);
	struct weir_error *error = nest->op ? NULL : begin(op);
	size_t n;

	if (error) {
		weir__op_end(op, error);
		weir_error_unref(error);
		return 0;
	}
	n = weir__pull(nest->op, items, room);
	if (nest->op->ended)
		weir__op_end(op, nest->op->error);
	return n;
}

/* What has not begun does not begin any more. */
static size_t late_drain(struct weir__op *op, void **items, size_t room)
{
	const struct weir__nest *nest = weir__op_state(op);

	if (nest->op)
		return late_pull(op, items, room);
	weir__op_end(op, NULL);
	return 0;
}

static const struct weir__kind defer_kind = {
	.name = "defer",
	.state_size = sizeof(struct weir__nest),
	.pull = late_pull,
	.drain = late_drain,
	.close = late_close,
	.holds = true,
	.source = true,
	.nests = true,
};

struct weir_flow *weir_flow_defer(struct weir_flow *(*make)(void *context),
				  void *context)
{
	struct late args = {make, context};

	return weir__flow_source(&defer_kind, &args, sizeof(args), make);
}

/* Tells at the start of the run what could not begin later. */
static int lazy_open(struct weir__op *op)
{
	const char *name = weir__flow_needs_island(op->flow->up[0],
						   op->island->actor.executor);

	return name ? -ENOTSUP : 0;
}

static const struct weir_items *lazy_items(const struct weir_flow *flow)
{
	return weir__flow_items(flow->up[0]);
}

static const struct weir__kind lazy_kind = {
	.name = "lazy",
	.state_size = sizeof(struct weir__nest),
	.pull = late_pull,
	.drain = late_drain,
	.open = lazy_open,
	.close = late_close,
	.items = lazy_items,
	.holds = true,
	.source = true,
	.nests = true,
	.lazy = true,
	.passes = true,
};

struct weir_flow *weir_flow_lazy(struct weir_flow *flow)
{
	struct late args = {NULL, NULL};

	return weir__flow_upon(&lazy_kind, flow, &args, sizeof(args), true);
}
