/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that take items without demand: buffer, conflate and batch. */
#include <assert.h>
#include <errno.h>

#include "base/bounded.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/op.h"
#include "flow/shared/pipe.h"
#include "flow/shared/array.h"

/* --- buffer --------------------------------------------------------------- */

struct buffer {
	size_t n;
	enum weir_overflow strategy;
};

static struct weir__op *make_above(struct weir__build *build,
				   const struct weir_flow *flow)
{
	struct weir__build above = *build;

	return weir__build(&above, flow->up[0]);
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

/* --- conflate, batch ------------------------------------------------------ */

struct conflate {
	struct weir_flow_conflate_functions functions;
	void *context;
	uint64_t max; /* weight of an accumulator of several items */
	uint64_t (*weigh)(void *item, void *context); /* NULL: 1 each */
};

/* The accumulator that waits: it is taken back out of the pipe while items are
 * added to it. */
struct conflating {
	void *all;
	bool has_all;
	uint64_t weight; /* of the accumulator, here or in the pipe; <= max */
	bool has_next;	 /* an item that would make it too heavy */
	void *next;
	uint64_t next_weight;
};

/* Opens, also for a restart: the accumulator that waited is dropped. */
static int conflate_open(struct weir__op *op)
{
	struct conflating *self = weir__op_state(op);

	if (self->has_all)
		weir__op_drop_one(op, self->all);
	self->has_all = false;
	self->weight = 0;
	return 0;
}

static void conflate_close(struct weir__op *op)
{
	struct conflating *self = weir__op_state(op);

	if (self->has_next)
		weir__op_drop_one(op->up[0], self->next);
	self->has_next = false;
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

/* Adds the item, or lets it wait if the accumulator would become too heavy. */
static void add(struct weir__op *op, void *item, uint64_t weight)
{
	const struct conflate *args = weir__op_args(op);
	struct conflating *self = weir__op_state(op);
	uint64_t left = args->max - self->weight;
	int rc;

	if (self->has_all && weight > left) {
		/* no item is taken behind one that may not fit */
		assert(!self->has_next);
		self->has_next = true;
		self->next = item;
		self->next_weight = weight;
		return;
	}
	rc = conflate_one(op, item);
	if (WEIR_LIKELY(rc == 0)) {
		self->weight += weight < left ? weight : left;
		return;
	}
	weir__op_drop_one(op->up[0], item);
	(void)weir__op_survives(op, rc);
}

/* True: nothing may be added before the accumulator has left the pipe. */
static bool is_full(struct weir__op *op)
{
	const struct conflate *args = weir__op_args(op);
	struct conflating *self = weir__op_state(op);

	return (self->has_next || self->weight == args->max) &&
	       weir__pipe_waits(op);
}

/* Takes the accumulator back, if it is still there. */
static void take_back(struct weir__op *op)
{
	struct conflating *self = weir__op_state(op);

	/* between two pulls the accumulator is in the pipe */
	assert(!self->has_all);
	self->has_all = weir__pipe_take_back(op, &self->all);
	if (!self->has_all)
		self->weight = 0;
}

/* Takes items that weigh 1 each, as many as fit for all that is known: the
 * accumulator may have left the pipe. */
static void take_in(struct weir__op *op, void **items, size_t room)
{
	const struct conflate *args = weir__op_args(op);
	struct conflating *self = weir__op_state(op);
	uint64_t left = args->max - self->weight;
	struct weir__array batch;
	size_t n, i;

	weir__array_init(&batch, op, items, room);
	batch.n = weir__at_most(left ? left : args->max, batch.n);
	n = weir__array_take(&batch, op->up[0]);
	if (n > 0)
		take_back(op);
	for (i = 0; i < n && !op->ended; i++)
		add(op, batch.items[i], 1);
	weir__op_drop(op->up[0], batch.items + i, n - i);
	weir__array_done(&batch, op);
}

/* Takes items one at a time until one does not fit. */
static void weigh_in(struct weir__op *op)
{
	const struct conflate *args = weir__op_args(op);
	struct conflating *self = weir__op_state(op);
	uint32_t n = 0;
	void *item;

	do {
		if (!weir__pull(op->up[0], &item, 1))
			return;
		if (n == 0)
			take_back(op);
		add(op, item, args->weigh(item, args->context));
	} while (++n < WEIR__FEW && !op->ended && !self->has_next &&
		 self->weight < args->max);
}

static size_t conflate_pull(struct weir__op *op, void **items, size_t room)
{
	const struct conflate *args = weir__op_args(op);
	struct conflating *self = weir__op_state(op);
	size_t n;

	if (is_full(op)) {
		weir__pull_none(op->up[0]);
	} else if (self->has_next) {
		weir__pull_none(op->up[0]);
		self->has_next = false;
		take_back(op);
		add(op, self->next, self->next_weight);
		/* it was no good, and nothing was taken */
		if (!self->has_all)
			weir__op_again(op);
	} else if (args->weigh) {
		weigh_in(op);
	} else {
		take_in(op, items, room);
	}
	n = self->has_all;
	if (n)
		items[0] = self->all;
	self->has_all = false;
	if (!op->ended && !self->has_next)
		(void)weir__op_follow(op);
	return n;
}

static struct weir__op *conflate_build(struct weir__build *build,
				       const struct weir_flow *flow)
{
	return weir__pipe_build(build, flow, 1, WEIR_OVERFLOW_DROP_NEW,
				weir__op_new);
}

#define CONFLATES(called, seeds) \
	{ \
		.name = (called), .state_size = sizeof(struct conflating), \
		.keeps = sizeof(struct conflating), .open = conflate_open, \
		.pull = conflate_pull, .close = conflate_close, \
		.build = conflate_build, .needs_island = true, .holds = true, \
		.remakes = (seeds), \
	}

/* Without a `seed` the accumulator is one of the items; with it, it is what the
 * function makes. */
#define CONFLATES_EITHER(called) \
	{ \
		CONFLATES(called, false), CONFLATES(called, true) \
	}

static const struct weir__kind conflate_kinds[] = CONFLATES_EITHER("conflate");
static const struct weir__kind batch_kinds[] = CONFLATES_EITHER("batch");
static const struct weir__kind weighted_kinds[] =
	CONFLATES_EITHER("batch_weighted");

/* `kind` is the first of the two. */
static struct weir_flow *conflating(
	const struct weir__kind *kind, struct weir_flow *flow, uint64_t max,
	uint64_t (*weigh)(void *item, void *context),
	const struct weir_flow_conflate_functions *functions, void *context)
{
	struct conflate args = {
		.context = context,
		.max = max,
		.weigh = weigh,
	};

	if (functions)
		args.functions = *functions;
	kind += args.functions.seed != NULL;
	flow = weir__flow_upon(kind, flow, &args, sizeof(args),
			       max > 0 && functions && functions->add);
	return weir__flow_wrong_as(
		flow, kind, max == 0 ? "max is 0" : "functions lacks add");
}

struct weir_flow *weir_flow_conflate(
	struct weir_flow *flow,
	const struct weir_flow_conflate_functions *functions, void *context)
{
	return conflating(conflate_kinds, flow, UINT64_MAX, NULL, functions,
			  context);
}

struct weir_flow *weir_flow_batch(
	struct weir_flow *flow, uint64_t max,
	const struct weir_flow_conflate_functions *functions, void *context)
{
	return conflating(batch_kinds, flow, max, NULL, functions, context);
}

struct weir_flow *weir_flow_batch_weighted(
	struct weir_flow *flow, uint64_t max,
	uint64_t (*weigh)(void *item, void *context),
	const struct weir_flow_conflate_functions *functions, void *context)
{
	flow = conflating(weighted_kinds, flow, weigh ? max : 0, weigh,
			  functions, context);
	return weigh ? flow
		     : weir__flow_wrong_as(flow, weighted_kinds,
					   "weigh is NULL");
}
