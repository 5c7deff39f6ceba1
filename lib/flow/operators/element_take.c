/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that emit the first items, or the items behind the first. */
#include <weir/flow_element.h>

#include <assert.h>
#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/element_each.h"

/* --- take ----------------------------------------------------------------- */

/* The `n` of take, drop and limit; the state has the part of it that is
 * left. */
static size_t n_of(const struct weir__op *op)
{
	return *(const size_t *)weir__op_args(op);
}

static struct weir_flow *counting(const struct weir__kind *kind,
				  struct weir_flow *flow, size_t n)
{
	return weir__flow_upon(kind, flow, &n, sizeof(n), true);
}

static int count_open(struct weir__op *op)
{
	*(size_t *)weir__op_state(op) = n_of(op);
	return 0;
}

static size_t take_pull(struct weir__op *op, void **items, size_t room)
{
	size_t *left = weir__op_state(op);
	size_t n = 0;

	if (*left > 0)
		n = weir__pull(op->up[0], items, *left < room ? *left : room);
	/* it never takes an item that it would have to drop */
	assert(n <= *left);
	*left -= n;
	if (*left == 0)
		weir__op_end(op, NULL);
	else
		(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind take_kind = {
	.name = "take",
	.state_size = sizeof(size_t),
	.open = count_open,
	.pull = take_pull,
};

struct weir_flow *weir_flow_take(struct weir_flow *flow, size_t n)
{
	return counting(&take_kind, flow, n);
}

/* --- drop ----------------------------------------------------------------- */

static size_t drop_pull(struct weir__op *op, void **items, size_t room)
{
	size_t *left = weir__op_state(op);
	size_t n = weir__pull(op->up[0], items, room), gone, i;

	gone = *left < n ? *left : n;
	if (gone > 0) {
		*left -= gone;
		weir__op_drop(op->up[0], items, gone);
		for (i = gone; i < n; i++)
			items[i - gone] = items[i];
	}
	(void)weir__op_follow(op);
	return n - gone;
}

static const struct weir__kind drop_kind = {
	.name = "drop",
	.state_size = sizeof(size_t),
	.open = count_open,
	.pull = drop_pull,
};

struct weir_flow *weir_flow_drop(struct weir_flow *flow, size_t n)
{
	return counting(&drop_kind, flow, n);
}

/* --- limit ---------------------------------------------------------------- */

static size_t limit_pull(struct weir__op *op, void **items, size_t room)
{
	size_t *left = weir__op_state(op);
	size_t n = weir__pull(op->up[0], items, room);

	if (n > *left) {
		weir__op_drop(op->up[0], items + *left, n - *left);
		n = *left;
		weir__op_fail(op, -EMSGSIZE, "more items than the limit");
		return n;
	}
	*left -= n;
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind limit_kind = {
	.name = "limit",
	.state_size = sizeof(size_t),
	.open = count_open,
	.pull = limit_pull,
};

struct weir_flow *weir_flow_limit(struct weir_flow *flow, size_t n)
{
	return counting(&limit_kind, flow, n);
}

/* --- limit_weighted ------------------------------------------------------- */

struct limit_weighted {
	uint64_t weight;
	uint64_t (*weigh)(void *item, void *context);
	void *context;
};

static int weighted_open(struct weir__op *op)
{
	const struct limit_weighted *args = weir__op_args(op);

	*(uint64_t *)weir__op_state(op) = args->weight;
	return 0;
}

static int weighted_step(struct weir__op *op, void **item)
{
	const struct limit_weighted *args = weir__op_args(op);
	uint64_t *left = weir__op_state(op);
	uint64_t weight = args->weigh(*item, args->context);

	if (weight > *left) {
		weir__op_fail(op, -EMSGSIZE, "more weight than the limit");
		return WEIR__EACH_END;
	}
	*left -= weight;
	return WEIR__EACH_PUT;
}

static size_t weighted_apply(struct weir__op *op, void **items, size_t n)
{
	return weir__each(op, items, n, weighted_step);
}

static const struct weir__kind weighted_kind = {
	.name = "limit_weighted",
	.state_size = sizeof(uint64_t),
	.open = weighted_open,
	.pull = weir__apply_pull,
	.apply = weighted_apply,
};

struct weir_flow *weir_flow_limit_weighted(
	struct weir_flow *flow, uint64_t weight,
	uint64_t (*weigh)(void *item, void *context), void *context)
{
	struct limit_weighted args = {weight, weigh, context};

	return weir__flow_upon(&weighted_kind, flow, &args, sizeof(args),
			       weigh);
}

/* --- take_while, drop_while ----------------------------------------------- */

struct while_ {
	int (*ask)(void *item, void *context);
	void *context;
	bool inclusive;
};

static int take_while_step(struct weir__op *op, void **item)
{
	const struct while_ *args = weir__op_args(op);

	return weir__each_if(args->ask(*item, args->context), WEIR__EACH_PUT,
			     args->inclusive ? WEIR__EACH_PUT_LAST
					     : WEIR__EACH_END);
}

static size_t take_while_apply(struct weir__op *op, void **items, size_t n)
{
	return weir__each(op, items, n, take_while_step);
}

static const struct weir__kind take_while_kind = {
	.name = "take_while",
	.pull = weir__apply_pull,
	.apply = take_while_apply,
};

struct weir_flow *weir_flow_take_while(struct weir_flow *flow,
				       int (*take)(void *item, void *context),
				       void *context, bool inclusive)
{
	struct while_ args = {take, context, inclusive};

	return weir__flow_upon(&take_while_kind, flow, &args, sizeof(args),
			       take);
}

static int drop_while_step(struct weir__op *op, void **item)
{
	const struct while_ *args = weir__op_args(op);
	bool *found = weir__op_state(op);
	int rc;

	if (*found)
		return WEIR__EACH_PUT;
	rc = weir__each_if(args->ask(*item, args->context), WEIR__EACH_DROP,
			   WEIR__EACH_PUT);
	*found = rc == WEIR__EACH_PUT;
	return rc;
}

static size_t drop_while_apply(struct weir__op *op, void **items, size_t n)
{
	return weir__each(op, items, n, drop_while_step);
}

static const struct weir__kind drop_while_kind = {
	.name = "drop_while",
	.state_size = sizeof(bool),
	.pull = weir__apply_pull,
	.apply = drop_while_apply,
};

struct weir_flow *weir_flow_drop_while(struct weir_flow *flow,
				       int (*drop)(void *item, void *context),
				       void *context)
{
	struct while_ args = {drop, context, false};

	return weir__flow_upon(&drop_while_kind, flow, &args, sizeof(args),
			       drop);
}
