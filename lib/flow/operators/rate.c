/* SPDX-License-Identifier: BSD-2-Clause */
/* Items at a rate. */
#include <weir/flow_rate.h>

#include <assert.h>
#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

/* --- throttle ------------------------------------------------------------- */

/*
 * The bucket's level is in units of 1 / per_ns of a token, so that it rises by
 * `n` each nanosecond, without rounding.
 */
struct throttling {
	struct weir__op_timer timer; /* must be first */
	void *item;
	bool has_item; /* it waits */
	int64_t cost;  /* its, in units; 0: none waits */
	int64_t level;
	uint64_t seen_ns; /* the level is as it was then */
};

static int64_t in_units(uint64_t n, uint64_t by)
{
	int64_t product;

	if (__builtin_mul_overflow(n, by, &product))
		return INT64_MAX;
	return product;
}

/*
 * The size of the bucket. Without a burst it has room for the item that waits.
 */
static int64_t most(const struct weir_flow_rate *rate,
		    const struct throttling *self)
{
	if (rate->burst == WEIR_FLOW_NO_BURST)
		return self->cost;
	return in_units(rate->burst, rate->per_ns);
}

static int throttle_open(struct weir__op *op)
{
	const struct weir_flow_rate *rate = weir__op_args(op);
	struct throttling *self = weir__op_state(op);

	self->level = most(rate, self);
	self->seen_ns = weir__op_now(op);
	return 0;
}

static void throttle_close(struct weir__op *op)
{
	struct throttling *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
	if (self->has_item)
		weir__op_drop_one(op->up[0], self->item);
	self->has_item = false;
}

static void rise(struct weir__op *op)
{
	const struct weir_flow_rate *rate = weir__op_args(op);
	struct throttling *self = weir__op_state(op);
	int64_t full = most(rate, self);
	uint64_t now_ns = weir__op_now(op);
	int64_t by = in_units(now_ns - self->seen_ns, rate->n);

	assert(self->seen_ns <= now_ns);
	assert(self->level <= full);
	self->seen_ns = now_ns;
	if (__builtin_add_overflow(self->level, by, &self->level) ||
	    self->level > full)
		self->level = full;
}

/* The level that the bucket must have before the item may pass. */
static int64_t needed(const struct weir_flow_rate *rate,
		      const struct throttling *self)
{
	int64_t full = most(rate, self);

	return self->cost < full ? self->cost : full;
}

static void wait_for(struct weir__op *op, int64_t level)
{
	const struct weir_flow_rate *rate = weir__op_args(op);
	struct throttling *self = weir__op_state(op);
	uint64_t missing = (uint64_t)level - (uint64_t)self->level;
	uint64_t wait_ns = missing / rate->n + (missing % rate->n != 0);
	int rc = weir__op_timer_at(&self->timer, op,
				   weir__later(self->seen_ns, wait_ns));

	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

/* False: there is none, or its cost could not be told. */
static bool take_item(struct weir__op *op)
{
	const struct weir_flow_rate *rate = weir__op_args(op);
	struct throttling *self = weir__op_state(op);
	int64_t cost;
	void *item;

	if (self->has_item)
		return true;
	if (!weir__pull(op->up[0], &item, 1))
		return false;
	cost = rate->cost ? rate->cost(item, rate->context) : 1;
	if (WEIR_UNLIKELY(cost < 0)) {
		weir__op_drop_one(op->up[0], item);
		(void)weir__op_survives(op, (int)cost);
		return false;
	}
	self->item = item;
	self->has_item = true;
	self->cost = in_units((uint64_t)cost, rate->per_ns);
	return true;
}

/* False: the item waits, or that is an error. */
static bool pays(struct weir__op *op)
{
	const struct weir_flow_rate *rate = weir__op_args(op);
	struct throttling *self = weir__op_state(op);
	int64_t level = needed(rate, self);

	assert(self->has_item);
	if (self->level < level) {
		if (rate->how == WEIR_FLOW_THROTTLE_ENFORCE)
			weir__op_fail(op, -EBUSY, "items come too fast");
		else
			wait_for(op, level);
		return false;
	}
	if (__builtin_sub_overflow(self->level, self->cost, &self->level))
		self->level = -INT64_MAX;
	self->has_item = false;
	self->cost = 0;
	return true;
}

static size_t throttle_pull(struct weir__op *op, void **items, size_t room)
{
	struct throttling *self = weir__op_state(op);
	bool asked = false;
	size_t n = 0;

	rise(op);
	while (n < room) {
		asked = asked || !self->has_item;
		if (!take_item(op))
			break;
		if (!pays(op))
			return n;
		items[n++] = self->item;
	}
	if (self->has_item)
		return n;
	if (!asked) /* rule 8 */
		weir__pull_none(op->up[0]);
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind throttle_kind = {
	.name = "throttle",
	.state_size = sizeof(struct throttling),
	.open = throttle_open,
	.pull = throttle_pull,
	.close = throttle_close,
	.keeps = sizeof(struct weir__op_timer),
	.awaits = WEIR_WAIT_TIME,
	.holds = true,
};

/* NULL: nothing. */
static const char *wrong_with(const struct weir_flow_rate *rate)
{
	if (!rate)
		return "rate is NULL";
	if (rate->n == 0)
		return "rate->n is 0";
	if (rate->per_ns == 0)
		return "rate->per_ns is 0";
	if ((int)rate->how < 0 || rate->how > WEIR_FLOW_THROTTLE_ENFORCE)
		return "rate->how is no way of throttling";
	if (rate->how == WEIR_FLOW_THROTTLE_ENFORCE &&
	    rate->burst == WEIR_FLOW_NO_BURST)
		return "a rate without burst cannot be enforced";
	return NULL;
}

struct weir_flow *weir_flow_throttle(struct weir_flow *flow,
				     const struct weir_flow_rate *rate)
{
	struct weir_flow_rate args = {0};
	const char *why = wrong_with(rate);

	if (!why)
		args = *rate;
	if (!args.burst)
		args.burst = args.n;
	flow = weir__flow_upon(&throttle_kind, flow, &args, sizeof(args), !why);
	return weir__flow_wrong_as(flow, &throttle_kind, why);
}
