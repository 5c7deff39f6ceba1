/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asking for items in batches. The operator above is told how many items may
 * come (kind->grant), or is fused and pulled. With b = max - min and max = k *
 * b + r:
 *
 * 1. After each batch it asks for as many as make `max` pending again, unless
 *    more than `min` are pending.
 * 2. The first ask is answered by k batches of b items and one of r, if r > 0.
 *    Behind the latter max - r are pending, more than `min`: nothing is asked
 *    for. These were asked for b at a time, by the k batches.
 * 3. Behind the first of them max - r - b are pending, so b + r are asked for;
 *    behind the k - 1 others, b.
 * 4. The b + r come as a batch of b and one of r, behind which all is as in 2.
 *
 * So a batch of r comes after k batches, and after k + 1 more each time.
 */
#include <weir/flow_rate.h>

#include <assert.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/op.h"

struct demand {
	uint32_t max, min;
};

struct demanding {
	uint32_t pending; /* asked for, and not emitted */
	uint32_t left;	  /* of the batch */
	uint32_t whole;	  /* batches of b before the next one of r */
};

/* The claims hold; a batch was asked for before it begins. */
static __attribute__((unused)) bool is_consistent(struct weir__op *op)
{
	const struct demand *args = weir__op_args(op);
	const struct demanding *self = weir__op_state(op);

	return self->left <= self->pending && self->pending <= args->max &&
	       self->left <= args->max - args->min;
}

static int demand_open(struct weir__op *op)
{
	const struct demand *args = weir__op_args(op);
	struct demanding *self = weir__op_state(op);

	assert(args->min < args->max);
	self->whole = args->max / (args->max - args->min);
	return 0;
}

/* Claim 1. All items that were emitted before have been taken. */
static void limit_ask(struct weir__op *op)
{
	const struct demand *args = weir__op_args(op);
	struct demanding *self = weir__op_state(op);
	struct weir__op *up = op->up[0];
	uint32_t n = args->max - self->pending;

	assert(self->pending <= args->max);
	if (self->pending > args->min)
		return;
	self->pending = args->max;
	if (up->kind->grant && !up->ended)
		up->kind->grant(up, n);
}

static void begin_batch(struct weir__op *op)
{
	const struct demand *args = weir__op_args(op);
	struct demanding *self = weir__op_state(op);
	uint32_t b = args->max - args->min, r = args->max % b;

	assert(self->left == 0);
	limit_ask(op);
	if (r == 0) {
		self->left = b;
	} else if (self->whole > 0) {
		self->left = b;
		self->whole--;
	} else {
		self->left = r;
		self->whole = args->max / b + 1;
	}
	assert(is_consistent(op));
}

static size_t demand_pull(struct weir__op *op, void **items, size_t room)
{
	struct demanding *self = weir__op_state(op);
	size_t n;

	assert(is_consistent(op));
	if (room > 0 && self->left == 0)
		begin_batch(op);
	n = weir__pull(op->up[0], items, weir__at_most(room, self->left));
	self->left -= (uint32_t)n;
	self->pending -= (uint32_t)n;
	assert(is_consistent(op));
	(void)weir__op_follow(op);
	return n;
}

/*
 * Builds the operators above. If the first can be granted items, or is fused,
 * it stays as it is; else it becomes an island of its own.
 */
static struct weir__op *build_above(const struct weir__build *build,
				    const struct weir_flow *flow)
{
	const struct demand *args = (const void *)flow->args;
	const struct weir_flow *up = flow->up[0];
	bool is_told = up->kind->boundary || up->kind->grant;
	struct weir__build above = *build;

	above.credit = args->max;
	if (is_told || build->nested)
		return weir__build(&above, up);
	return weir__build_cut(&above, up, NULL, args->max);
}

static struct weir__op *demand_build(struct weir__build *build,
				     const struct weir_flow *flow)
{
	return weir__op_upon(build, flow, build_above(build, flow));
}

/* `holds`: it asks before it takes. */
static const struct weir__kind demand_kind = {
	.name = "limit_rate",
	.state_size = sizeof(struct demanding),
	.open = demand_open,
	.pull = demand_pull,
	.build = demand_build,
	.holds = true,
	.cuts = true,
};

struct weir_flow *weir_flow_limit_rate(struct weir_flow *flow, size_t max,
				       size_t min)
{
	struct demand args = {(uint32_t)max, (uint32_t)min};

	flow = weir__flow_upon(&demand_kind, flow, &args, sizeof(args),
			       weir__size_valid(max) && min < max);
	flow = weir__flow_wrong_size(flow, &demand_kind, "max", max);
	return weir__flow_wrong(flow, &demand_kind, "min %zu is not below %zu",
				min, max);
}
