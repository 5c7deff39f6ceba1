/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that take items without demand: buffer and conflate. */
#include <assert.h>
#include <errno.h>

#include "base/bounded.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/op.h"
#include "flow/operators/rate_pipe.h"
#include "flow/shared/array.h"

/* --- buffer --------------------------------------------------------------- */

struct buffer {
	size_t n;
	enum weir_overflow strategy;
};

static struct weir__op *make_above(struct weir__build *build,
				   const struct weir_flow *flow,
				   struct weir__pipe *pipe)
{
	return weir__build(build, flow->up[0]);
}

static struct weir__op *buffer_build(struct weir__build *build,
				     const struct weir_flow *flow)
{
	const struct buffer *args = (const void *)flow->args;

	return weir__pipe_build(build, flow, args->n, args->strategy,
				make_above);
}

static const struct weir__kind buffer_kind = {
	.name = "buffer",
	.build = buffer_build,
	.needs_island = true,
	.passes = true,
	.holds = true,
};

struct weir_flow *weir_flow_buffer(struct weir_flow *flow, size_t n,
				   enum weir_overflow strategy)
{
	struct buffer args = {n, strategy};
	bool valid = weir__size_valid(n) && weir__overflow_valid(strategy);

	flow = weir__flow_upon(&buffer_kind, flow, &args, sizeof(args), valid);
	flow = weir__flow_wrong_size(flow, &buffer_kind, "n", n);
	return weir__flow_wrong_as(flow, &buffer_kind, "no such strategy");
}

/* --- conflate ------------------------------------------------------------- */

struct conflate {
	struct weir_flow_conflate_functions functions;
	void *context;
};

/* The accumulator that waits: it is taken back out of the pipe while items are
 * added to it. */
struct conflating {
	struct weir__pipe *pipe;
	void *all;
	bool has_all;
};

/*
 * Opens, also for a restart: the accumulator that waited is dropped, the pipe
 * is kept.
 */
static int conflate_open(struct weir__op *op)
{
	struct conflating *self = weir__op_state(op);

	if (self->has_all)
		weir__op_drop_one(op, self->all);
	self->has_all = false;
	return 0;
}

/* Adds the item to the accumulator, or makes the accumulator of it: 0. */
static int conflate_one(struct weir__op *op, void *item)
{
	const struct conflate *args = weir__op_args(op);
	struct conflating *self = weir__op_state(op);
	int rc = 0;

	if (self->has_all)
		return args->functions.add(&self->all, item, args->context);
	if (args->functions.seed)
		rc = args->functions.seed(&item, args->context);
	if (rc == 0) {
		self->all = item;
		self->has_all = true;
	}
	return rc;
}

static size_t conflate_pull(struct weir__op *op, void **items, size_t room)
{
	struct conflating *self = weir__op_state(op);
	struct weir__op *up = op->up[0];
	struct weir__array batch;
	size_t n, i;
	int rc;

	weir__array_init(&batch, op, items, room);
	n = weir__array_take(&batch, up);
	/* between two pulls the accumulator is in the pipe */
	assert(!self->has_all);
	if (n > 0)
		self->has_all = weir__pipe_take_back(self->pipe, &self->all);
	for (i = 0; i < n && !op->ended; i++) {
		rc = conflate_one(op, batch.items[i]);
		if (WEIR_LIKELY(rc == 0))
			continue;
		weir__op_drop_one(up, batch.items[i]);
		(void)weir__op_survives(op, rc);
	}
	weir__op_drop(up, batch.items + i, n - i);
	weir__array_done(&batch, op);
	n = self->has_all;
	if (n)
		items[0] = self->all;
	self->has_all = false;
	if (!op->ended)
		(void)weir__op_follow(op);
	return n;
}

static struct weir__op *make_conflate(struct weir__build *build,
				      const struct weir_flow *flow,
				      struct weir__pipe *pipe)
{
	struct weir__op *op = weir__op_new(build, flow);

	if (op)
		((struct conflating *)weir__op_state(op))->pipe = pipe;
	return op;
}

static struct weir__op *conflate_build(struct weir__build *build,
				       const struct weir_flow *flow)
{
	return weir__pipe_build(build, flow, 1, WEIR_OVERFLOW_DROP_NEW,
				make_conflate);
}

static const struct weir__kind conflate_kind = {
	.name = "conflate",
	.state_size = sizeof(struct conflating),
	.keeps = sizeof(struct conflating),
	.open = conflate_open,
	.pull = conflate_pull,
	.build = conflate_build,
	.needs_island = true,
	.holds = true,
};

struct weir_flow *weir_flow_conflate(
	struct weir_flow *flow,
	const struct weir_flow_conflate_functions *functions, void *context)
{
	struct conflate args = {.context = context};

	if (functions)
		args.functions = *functions;
	return weir__flow_upon(&conflate_kind, flow, &args, sizeof(args),
			       functions && functions->add);
}
