/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of items, by number, by weight and by time. */
#include <assert.h>
#include <errno.h>

#include <weir/flow_rate.h>
#include <weir/flow_sink.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/shared/list.h"

struct grouped {
	size_t n;
	uint64_t within_ns; /* 0: no time */
	uint64_t weight;
	uint64_t (*weigh)(void *item, void *context); /* NULL: not weighed */
	void *context;
	bool bounded; /* `weight` is the most, and not the least */
};

struct grouping {
	struct weir__op_timer timer; /* must be first */
	struct weir_flow_list *list; /* the group; NULL: none has begun */
	uint64_t weight;	     /* of it */
	uint64_t due_ns;
	void *next; /* would have made a bounded group too heavy */
	uint64_t next_weight;
	bool has_next;
};

static uint64_t due(const struct weir__op *op)
{
	const struct grouped *args = weir__op_args(op);

	return weir__later(weir__op_now(op), args->within_ns);
}

static int grouped_open(struct weir__op *op)
{
	const struct grouped *args = weir__op_args(op);
	struct grouping *self = weir__op_state(op);

	if (args->within_ns)
		self->due_ns = due(op);
	return 0;
}

static void grouped_close(struct weir__op *op)
{
	const struct grouped *args = weir__op_args(op);
	struct grouping *self = weir__op_state(op);

	if (args->within_ns)
		weir__op_timer_off(&self->timer);
	weir_flow_list_free(self->list);
	self->list = NULL;
	if (self->has_next)
		weir__op_drop_one(op->up[0], self->next);
	self->has_next = false;
}

/* Adds an item to the group. Its weight counts up to the weight that is
 * missing. */
static void add_weighed(struct grouping *self, const struct grouped *args,
			void *item, uint64_t weight)
{
	struct weir_flow_list *list = self->list;

	list->items[list->n++] = item;
	if (weight > args->weight - self->weight)
		weight = args->weight - self->weight;
	self->weight += weight;
}

/* Takes up to `n` items for the group, and none when it is heavy enough. */
static void take_weighed(struct weir__op *op, size_t n)
{
	const struct grouped *args = weir__op_args(op);
	struct grouping *self = weir__op_state(op);
	uint64_t weight;
	void *item;

	assert(self->weight <= args->weight);
	if (self->has_next) {
		/* the item that is kept comes first */
		assert(self->list->n == 0 && n > 0);
		self->has_next = false;
		add_weighed(self, args, self->next, self->next_weight);
		n--;
		/* rule 8: the item kept may be the whole group */
		if (n == 0 || self->weight == args->weight)
			weir__pull_none(op->up[0]);
	}
	for (; n > 0 && self->weight < args->weight; n--) {
		if (!weir__pull(op->up[0], &item, 1))
			return;
		weight = args->weigh(item, args->context);
		if (args->bounded && self->list->n > 0 &&
		    weight > args->weight - self->weight) {
			self->has_next = true;
			self->next = item;
			self->next_weight = weight;
			return;
		}
		add_weighed(self, args, item, weight);
	}
}

/* Takes the items that are there for the group. False: there is no memory. */
static bool fill(struct weir__op *op)
{
	const struct grouped *args = weir__op_args(op);
	struct grouping *self = weir__op_state(op);
	size_t missing;

	if (!self->list)
		self->list = weir__list_new(op, args->n);
	if (!self->list) {
		weir__op_fail(op, -ENOMEM, "no memory for a group");
		return false;
	}
	assert(self->list->n <= args->n);
	missing = weir__at_most(args->n - self->list->n, WEIR_FLOW_BATCH);
	if (args->weigh)
		take_weighed(op, missing);
	else
		self->list->n += weir__pull(
			op->up[0], self->list->items + self->list->n, missing);
	return true;
}

static bool is_full(const struct grouped *args, const struct grouping *self)
{
	return self->list->n == args->n || self->has_next ||
	       (args->weigh && self->weight == args->weight);
}

/* True: the group's time has come. An empty group begins its time anew. */
static bool time_is_up(struct weir__op *op)
{
	const struct grouped *args = weir__op_args(op);
	struct grouping *self = weir__op_state(op);

	if (!args->within_ns || weir__op_now(op) < self->due_ns)
		return false;
	self->due_ns = due(op);
	return true;
}

static void wait_for_time(struct weir__op *op)
{
	const struct grouped *args = weir__op_args(op);
	struct grouping *self = weir__op_state(op);
	int rc = 0;

	if (args->within_ns)
		rc = weir__op_timer_at(&self->timer, op, self->due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

static size_t put_group(struct weir__op *op, void **items)
{
	const struct grouped *args = weir__op_args(op);
	struct grouping *self = weir__op_state(op);

	/* a group has an item at least */
	assert(self->list && self->list->n > 0);
	items[0] = self->list;
	self->list = NULL;
	self->weight = 0;
	if (args->within_ns)
		self->due_ns = due(op);
	return 1;
}

/* Upstream has ended. True: the operator may end; not before a full group,
 * which is emitted before an error. */
static bool may_end(const struct grouped *args, const struct grouping *self,
		    const struct weir__op *up)
{
	return !self->has_next ||
	       (up->error && self->next_weight < args->weight);
}

static bool holds_none(const struct grouping *self)
{
	return !self->list || !self->list->n;
}

static size_t grouped_pull(struct weir__op *op, void **items, size_t room)
{
	const struct grouped *args = weir__op_args(op);
	struct grouping *self = weir__op_state(op);
	struct weir__op *up = op->up[0];
	bool full, up_done;
	size_t n = 0;

	if (room == 0) {
		weir__pull_none(up);
		if (up->ended && may_end(args, self, up) &&
		    (up->error || holds_none(self)))
			weir__op_end(op, up->error);
		return 0;
	}
	if (!fill(op))
		return 0;
	full = is_full(args, self);
	up_done = up->ended;
	if (self->list->n > 0 &&
	    (full || (up_done && !up->error) || time_is_up(op)))
		n = put_group(op, items);
	else
		(void)time_is_up(op);
	if (up_done && may_end(args, self, up))
		weir__op_end(op, up->error);
	else if (n == 0)
		wait_for_time(op);
	return n;
}

#define GROUPED(called) \
	{ \
		.name = (called), .state_size = sizeof(struct grouping), \
		.items = weir__gives_lists, .open = grouped_open, \
		.pull = grouped_pull, .close = grouped_close, \
		.keeps = sizeof(struct weir__op_timer), \
		.awaits = WEIR_WAIT_TIME, .holds = true, .makes = true, \
	}

static const struct weir__kind grouped_kind = GROUPED("grouped");
static const struct weir__kind within_kind = GROUPED("grouped_within");
static const struct weir__kind weighted_kind = GROUPED("grouped_weighted");
static const struct weir__kind up_to_kind = GROUPED("grouped_up_to");

struct weir_flow *weir_flow_grouped(struct weir_flow *flow, size_t n)
{
	struct grouped args = {.n = n};

	flow = weir__flow_upon(&grouped_kind, flow, &args, sizeof(args),
			       weir__size_valid(n));
	return weir__flow_wrong_size(flow, &grouped_kind, "n", n);
}

struct weir_flow *weir_flow_grouped_within(struct weir_flow *flow, size_t n,
					   uint64_t within_ns)
{
	struct grouped args = {.n = n, .within_ns = within_ns};

	flow = weir__flow_upon(&within_kind, flow, &args, sizeof(args),
			       weir__size_valid(n) && within_ns > 0);
	flow = weir__flow_wrong_size(flow, &within_kind, "n", n);
	return weir__flow_wrong(flow, &within_kind, "within_ns is 0");
}

struct weir_flow *weir_flow_grouped_weighted(
	struct weir_flow *flow, uint64_t weight,
	uint64_t (*weigh)(void *item, void *context), void *context, size_t n,
	uint64_t within_ns)
{
	struct grouped args = {n, within_ns, weight, weigh, context, false};

	flow = weir__flow_upon(&weighted_kind, flow, &args, sizeof(args),
			       weir__size_valid(n) && weigh && weight > 0);
	flow = weir__flow_wrong_size(flow, &weighted_kind, "n", n);
	return weir__flow_wrong_as(flow, &weighted_kind,
				   weigh ? "weight is 0" : "weigh is NULL");
}

struct weir_flow *weir_flow_grouped_up_to(
	struct weir_flow *flow, uint64_t weight,
	uint64_t (*weigh)(void *item, void *context), void *context, size_t n,
	uint64_t within_ns)
{
	struct grouped args = {n, within_ns, weight, weigh, context, true};

	flow = weir__flow_upon(&up_to_kind, flow, &args, sizeof(args),
			       weir__size_valid(n) && weigh && weight > 0);
	flow = weir__flow_wrong_size(flow, &up_to_kind, "n", n);
	return weir__flow_wrong_as(flow, &up_to_kind,
				   weigh ? "weight is 0" : "weigh is NULL");
}
