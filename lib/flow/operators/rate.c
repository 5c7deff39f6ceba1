/* SPDX-License-Identifier: BSD-2-Clause */
/* Items at a rate, and later. */
#include <weir/flow_rate.h>

#include <assert.h>
#include <errno.h>

#include "base/deque.h"
#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/shared/array.h"

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

/* --- delay ---------------------------------------------------------------- */

struct delay {
	uint64_t delay_ns;
	size_t n;
};

struct delayed {
	void *item;
	uint64_t due_ns;
};

struct delaying {
	struct weir__op_timer timer; /* must be first */
	struct delayed *slots;
	struct weir__deque waiting;
};

static size_t delay_size(const struct weir__op *op)
{
	const struct delay *args = weir__op_args(op);

	return args->n * sizeof(struct delayed);
}

static int delay_open(struct weir__op *op)
{
	const struct delay *args = weir__op_args(op);
	struct delaying *self = weir__op_state(op);

	self->slots = weir__alloc(weir__op_allocator(op), delay_size(op));
	self->waiting = (struct weir__deque){.capacity = args->n};
	return self->slots ? 0 : -ENOMEM;
}

static void delay_close(struct weir__op *op)
{
	struct delaying *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
	while (self->waiting.n > 0)
		weir__op_drop_one(
			op->up[0],
			self->slots[weir__deque_pop(&self->waiting)].item);
	weir__free(weir__op_allocator(op), self->slots, delay_size(op));
	self->slots = NULL;
}

/* Takes the items that there is room for; their delay begins now. */
static void take_some(struct weir__op *op, void **items, size_t room,
		      uint64_t now_ns)
{
	const struct delay *args = weir__op_args(op);
	struct delaying *self = weir__op_state(op);
	size_t left = op->island->ask, n, i;
	uint64_t due_ns = weir__later(now_ns, args->delay_ns);
	struct weir__array batch;

	weir__array_init(&batch, op, items, room);
	do {
		/* without room it only looks, as any pull does */
		batch.n = weir__at_most(weir__deque_room(&self->waiting),
					batch.n);
		n = weir__array_take(&batch, op->up[0]);
		for (i = 0; i < n; i++)
			self->slots[weir__deque_push(&self->waiting)] =
				(struct delayed){batch.items[i], due_ns};
		left -= n;
	} while (n > 0 && n == batch.n && left >= n &&
		 !weir__deque_is_full(&self->waiting));
	weir__array_done(&batch, op);
}

/* Takes the items that are due. */
static size_t take_due(struct delaying *self, void **items, size_t room,
		       uint64_t now_ns)
{
	const struct delayed *delayed;
	size_t n;

	for (n = 0; n < room && n < self->waiting.n; n++) {
		delayed = &self->slots[weir__deque_at(&self->waiting, n)];
		if (delayed->due_ns > now_ns)
			break;
		items[n] = delayed->item;
	}
	weir__deque_forget(&self->waiting, n);
	return n;
}

static size_t delay_pull(struct weir__op *op, void **items, size_t room)
{
	struct delaying *self = weir__op_state(op);
	uint64_t now_ns = weir__op_now(op);
	struct weir__op *up = op->up[0];
	const struct delayed *first;
	size_t n;
	int rc = 0;

	take_some(op, items, room, now_ns);
	n = take_due(self, items, room, now_ns);
	first = &self->slots[self->waiting.first];
	if (up->ended && (up->error || self->waiting.n == 0))
		weir__op_end(op, up->error);
	else if (self->waiting.n > 0 && first->due_ns > now_ns)
		rc = weir__op_timer_at(&self->timer, op, first->due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
	return n;
}

static const struct weir__kind delay_kind = {
	.name = "delay",
	.state_size = sizeof(struct delaying),
	.open = delay_open,
	.pull = delay_pull,
	.close = delay_close,
	.keeps = sizeof(struct weir__op_timer),
	.holds = true,
};

struct weir_flow *weir_flow_delay(struct weir_flow *flow, uint64_t delay_ns,
				  size_t n)
{
	struct delay args = {delay_ns, n};

	flow = weir__flow_upon(&delay_kind, flow, &args, sizeof(args),
			       weir__size_valid(n));
	return weir__flow_wrong_size(flow, &delay_kind, "n", n);
}
