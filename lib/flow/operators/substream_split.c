/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a stream, one behind the other: each goes through a nested flow. */
#include <errno.h>

#include <weir/flow_substream.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/operators/substream.h"

/* --- split_when, split_after --------------------------------------------- */

struct split {
	int (*is_edge)(void *item, void *context);
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context);
	void *context;
	void (*put)(struct weir__op *op, void *item, bool is_edge);
};

struct splitting {
	struct weir__substream sub; /* while its flow runs */
	void *slot[1];
	void *next; /* first of the next substream; waits for this one's end */
	bool has_next;
	bool inside; /* in a substream, though its flow may have ended */
};

static void split_close(struct weir__op *op)
{
	struct splitting *self = weir__op_state(op);

	if (self->sub.nest.op)
		weir__substream_close(&self->sub);
	if (self->has_next)
		weir__op_drop_one(op->up[0], self->next);
	self->has_next = false;
}

/* Gives the item to the substream, which it may begin. */
static void split_give(struct weir__op *op, void *item)
{
	const struct split *args = weir__op_args(op);
	struct splitting *self = weir__op_state(op);
	struct weir__substream *sub = &self->sub;
	struct weir_flow *flow;

	if (!self->inside) {
		weir__substream_init(sub, op, self->slot, 1);
		flow = args->make(weir__inner_flow(&sub->inner), args->context);
		if (!weir__nest_open_for_item(&sub->nest, op, flow)) {
			weir__op_drop_one(op->up[0], item);
			return;
		}
		self->inside = true;
	}
	weir__substream_put(sub, item);
}

/* The items behind belong to another substream. */
static void leave(struct splitting *self)
{
	self->inside = false;
	weir__substream_end(&self->sub, NULL);
}

static void split_when_item(struct weir__op *op, void *item, bool is_edge)
{
	struct splitting *self = weir__op_state(op);

	if (is_edge)
		leave(self);
	if (self->sub.nest.op && self->sub.over) {
		self->next = item;
		self->has_next = true;
	} else {
		split_give(op, item);
	}
}

static void split_after_item(struct weir__op *op, void *item, bool is_edge)
{
	struct splitting *self = weir__op_state(op);

	split_give(op, item);
	if (is_edge)
		leave(self);
}

/* Takes the next item, if there is one, and asks which substream it is in. */
static bool look_at_one(struct weir__op *op)
{
	const struct split *args = weir__op_args(op);
	struct splitting *self = weir__op_state(op);
	void *item = self->next;
	int rc;

	if (self->has_next) {
		self->has_next = false;
		split_give(op, item);
		return true;
	}
	if (weir__pull(op->up[0], &item, 1) == 0)
		return false;
	rc = args->is_edge(item, args->context);
	if (rc == 0 || rc == 1) {
		args->put(op, item, rc);
		return true;
	}
	weir__op_drop_one(op->up[0], item);
	(void)weir__op_survives(op, rc);
	return true;
}

/* True: the substream has ended, or there is none; the items behind it may
 * come. */
static bool pull_sub(struct weir__op *op, void **items, size_t room,
		     size_t *got)
{
	struct splitting *self = weir__op_state(op);
	struct weir__substream *sub = &self->sub;

	if (!sub->nest.op)
		return true;
	*got += weir__substream_pull(sub, items + *got, room - *got);
	if (!weir__nest_is_over(&sub->nest, op))
		return false;
	weir__substream_close(sub);
	return true;
}

/* Follows upstream's end. True: the substream gets no more items, or there is
 * none. */
static bool follow(struct weir__op *op)
{
	struct splitting *self = weir__op_state(op);

	if (!op->up[0]->ended || self->has_next)
		return false;
	if (!self->sub.nest.op)
		return weir__op_follow(op);
	if (self->sub.over)
		return false;
	weir__substream_end(&self->sub, op->up[0]->error);
	return true;
}

static size_t split_pull(struct weir__op *op, void **items, size_t room)
{
	struct splitting *self = weir__op_state(op);
	size_t got = 0, tries = op->island->ask;
	bool looked = false;

	/* asking about items takes time; ends are passed on at once */
	while (!op->ended && tries > 0) {
		if (!pull_sub(op, items, room, &got) &&
		    (op->ended || self->sub.over || self->sub.waiting.n > 0))
			return got;
		/* once: see tell_item() in operator.c */
		if (got == room && !looked)
			weir__pull_none(op->up[0]);
		looked = looked || got == room || !self->has_next;
		if (got < room && look_at_one(op))
			tries--;
		else if (!follow(op))
			return got;
	}
	weir__op_again(op);
	return got;
}

static const struct weir__kind split_when_kind = {
	.name = "split_when",
	.state_size = sizeof(struct splitting),
	.pull = split_pull,
	.close = split_close,
	.holds = true,
	.nests = true,
};

struct weir_flow *weir_flow_split_when(
	struct weir_flow *flow, int (*begins)(void *item, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context)
{
	struct split args = {begins, make, context, split_when_item};

	return weir__flow_upon(&split_when_kind, flow, &args, sizeof(args),
			       begins && make);
}

static const struct weir__kind split_after_kind = {
	.name = "split_after",
	.state_size = sizeof(struct splitting),
	.pull = split_pull,
	.close = split_close,
	.holds = true,
	.nests = true,
};

struct weir_flow *weir_flow_split_after(
	struct weir_flow *flow, int (*ends)(void *item, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context)
{
	struct split args = {ends, make, context, split_after_item};

	return weir__flow_upon(&split_after_kind, flow, &args, sizeof(args),
			       ends && make);
}

/* --- prefix_and_tail ----------------------------------------------------- */

struct prefix {
	size_t n;
	struct weir_flow *(*make)(void *const *items, size_t n,
				  struct weir_flow *tail, void *context);
	void *context;
};

struct prefixed {
	struct weir__inner inner;
	struct weir__nest nest; /* of `tail`, when it is made */
	void **items;		/* of the prefix, until then */
	size_t n;
};

static size_t take_tail(struct weir__inner *inner, void **items, size_t room)
{
	struct weir__op *up = inner->around->up[0];
	size_t n = weir__pull(up, items, room);

	if (up->ended)
		weir__op_end(inner->source, up->error);
	return n;
}

static int prefix_open(struct weir__op *op)
{
	const struct prefix *args = weir__op_args(op);
	struct prefixed *self = weir__op_state(op);

	self->inner = (struct weir__inner){.around = op, .pull = take_tail};
	if (args->n == 0)
		return 0;
	self->items = weir__alloc(weir__op_allocator(op),
				  args->n * sizeof(*self->items));
	return self->items ? 0 : -ENOMEM;
}

static void free_prefix(struct weir__op *op)
{
	const struct prefix *args = weir__op_args(op);
	struct prefixed *self = weir__op_state(op);

	weir__free(weir__op_allocator(op), self->items,
		   args->n * sizeof(*self->items));
	self->items = NULL;
	self->n = 0;
}

static void prefix_close(struct weir__op *op)
{
	struct prefixed *self = weir__op_state(op);

	weir__nest_close(&self->nest);
	weir__op_drop(op->up[0], self->items, self->n);
	free_prefix(op);
}

/* Fills the prefix. True: it is complete. */
static bool fill_prefix(struct weir__op *op, size_t room)
{
	const struct prefix *args = weir__op_args(op);
	struct prefixed *self = weir__op_state(op);
	struct weir__op *up = op->up[0];
	size_t missing = weir__at_most(args->n - self->n, WEIR_FLOW_BATCH);

	if (missing)
		self->n += weir__pull(up, self->items + self->n,
				      room ? missing : 0);
	else
		weir__pull_none(up);
	if (self->n < args->n && up->ended && up->error)
		(void)weir__op_follow(op);
	return !op->ended && (up->ended || (room > 0 && self->n == args->n));
}

static void open_tail(struct weir__op *op)
{
	const struct prefix *args = weir__op_args(op);
	struct prefixed *self = weir__op_state(op);
	struct weir_flow *tail = weir__inner_flow(&self->inner);
	struct weir_flow *flow =
		args->make(self->items, self->n, tail, args->context);
	struct weir_error *error;

	free_prefix(op);
	error = weir__nest_open(&self->nest, op, flow);
	if (error)
		weir__op_end(op, error);
	weir_error_unref(error);
}

static size_t prefix_pull(struct weir__op *op, void **items, size_t room)
{
	struct prefixed *self = weir__op_state(op);
	size_t n;

	if (!self->nest.op && fill_prefix(op, room))
		open_tail(op);
	if (op->ended || !self->nest.op)
		return 0;
	n = weir__pull(self->nest.op, items, room);
	if (!self->inner.source)
		weir__op_cancel(op->up[0]);
	if (self->nest.op->ended)
		weir__op_end(op, self->nest.op->error);
	return n;
}

static const struct weir__kind prefix_kind = {
	.name = "prefix_and_tail",
	.state_size = sizeof(struct prefixed),
	.open = prefix_open,
	.pull = prefix_pull,
	.close = prefix_close,
	.holds = true,
	.nests = true,
};

struct weir_flow *weir_flow_prefix_and_tail(
	struct weir_flow *flow, size_t n,
	struct weir_flow *(*make)(void *const *items, size_t n,
				  struct weir_flow *tail, void *context),
	void *context)
{
	struct prefix args = {n, make, context};

	flow = weir__flow_upon(&prefix_kind, flow, &args, sizeof(args),
			       make && n <= WEIR_CAPACITY_MAX);
	if (!make)
		return weir__flow_wrong_as(flow, &prefix_kind, "make is NULL");
	return weir__flow_wrong(flow, &prefix_kind, "n %zu is above %u", n,
				WEIR_CAPACITY_MAX);
}
