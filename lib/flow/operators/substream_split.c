/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a stream, one behind the other: each goes through a nested flow. */
#include <errno.h>

#include <weir/flow_substream.h>

#include "base/memory.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/operators/substream.h"

/* --- One behind the other ------------------------------------------------ */

struct split {
	/* Gives an item to its substream: 0. Else it is an error that a
	 * function of the user's has returned, and the item is the caller's. */
	int (*put)(struct weir__op *op, void *item);
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context);
	void *context;
	int (*is_edge)(void *item, void *context); /* of splits */
	struct weir_flow_window_options ends;	   /* of `window` */
};

struct splitting {
	struct weir__op_timer timer; /* of windows; must be first */
	struct weir__substream sub;  /* while its flow runs */
	void *slot[1];
	void *next; /* first of the next substream; waits for this one's end */
	bool has_next;
	bool inside; /* in a substream, though its flow may have ended */
	/* of `window` */
	bool took;	       /* an item, in this pull */
	uint64_t n;	       /* items of the window */
	uint64_t due_ns;       /* when its time has come */
	uint64_t quiet_due_ns; /* when it was quiet; WEIR_FOREVER: it is not */
};

static void split_close(struct weir__op *op)
{
	struct splitting *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
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
	self->n = 0;
	weir__substream_end(&self->sub, NULL);
}

/* Takes the next item, if there is one, and puts it into its substream. */
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
	rc = args->put(op, item);
	if (rc != 0) {
		weir__op_drop_one(op->up[0], item);
		(void)weir__op_survives(op, rc);
	}
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

/* The error of upstream, or of the boundary. */
static struct weir_error *error_above(const struct weir__op *op)
{
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		if (op->up[i]->error)
			return op->up[i]->error;
	return NULL;
}

/* Follows upstream's end. True: the substream gets no more items, or there is
 * none. */
static bool follow(struct weir__op *op)
{
	struct splitting *self = weir__op_state(op);

	if (!op->up[0]->ended || self->has_next)
		return false;
	if (!self->sub.nest.op) {
		weir__op_end(op, error_above(op));
		return true;
	}
	if (self->sub.over)
		return false;
	weir__substream_end(&self->sub, error_above(op));
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

#define SPLIT(called, puller) \
	.name = (called), .state_size = sizeof(struct splitting), \
	.pull = (puller), .close = split_close, .holds = true, .nests = true, \
	.keeps = sizeof(struct weir__op_timer), .awaits = WEIR_WAIT_TIME, \
	.delays = true

/* --- split_when, split_after --------------------------------------------- */

static int split_when_put(struct weir__op *op, void *item)
{
	const struct split *args = weir__op_args(op);
	struct splitting *self = weir__op_state(op);
	int is_edge = args->is_edge(item, args->context);

	if (is_edge != 0 && is_edge != 1)
		return is_edge;
	if (is_edge)
		leave(self);
	if (self->sub.nest.op && self->sub.over) {
		self->next = item;
		self->has_next = true;
	} else {
		split_give(op, item);
	}
	return 0;
}

static int split_after_put(struct weir__op *op, void *item)
{
	const struct split *args = weir__op_args(op);
	int is_edge = args->is_edge(item, args->context);

	if (is_edge != 0 && is_edge != 1)
		return is_edge;
	split_give(op, item);
	if (is_edge)
		leave(weir__op_state(op));
	return 0;
}

static const struct weir__kind split_when_kind = {
	SPLIT("split_when", split_pull),
};

struct weir_flow *weir_flow_split_when(
	struct weir_flow *flow, int (*begins)(void *item, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context)
{
	struct split args = {split_when_put, make, context, begins};

	return weir__flow_upon(&split_when_kind, flow, &args, sizeof(args),
			       begins && make);
}

static const struct weir__kind split_after_kind = {
	SPLIT("split_after", split_pull),
};

struct weir_flow *weir_flow_split_after(
	struct weir_flow *flow, int (*ends)(void *item, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context)
{
	struct split args = {split_after_put, make, context, ends};

	return weir__flow_upon(&split_after_kind, flow, &args, sizeof(args),
			       ends && make);
}

/* --- window -------------------------------------------------------------- */

static uint64_t after(const struct weir__op *op, uint64_t ns)
{
	return ns ? weir__later(weir__op_now(op), ns) : WEIR_FOREVER;
}

static int window_put(struct weir__op *op, void *item)
{
	const struct split *args = weir__op_args(op);
	struct splitting *self = weir__op_state(op);

	split_give(op, item);
	if (!self->inside)
		return 0;
	if (self->n++ == 0)
		self->due_ns = after(op, args->ends.within_ns);
	self->took = true;
	if (self->n == args->ends.n)
		leave(self);
	return 0;
}

/* A window is under way: notes whether it is quiet, and waits for its end.
 * `asks`: it has asked upstream for an item, and there was none. */
static void wait_for_end(struct weir__op *op, bool asks)
{
	const struct split *args = weir__op_args(op);
	struct splitting *self = weir__op_state(op);
	uint64_t at_ns;
	int rc = 0;

	if (!asks)
		self->quiet_due_ns = WEIR_FOREVER;
	else if (self->took || self->quiet_due_ns == WEIR_FOREVER)
		self->quiet_due_ns = after(op, args->ends.quiet_ns);
	self->took = false;
	at_ns = self->due_ns < self->quiet_due_ns ? self->due_ns
						  : self->quiet_due_ns;
	if (self->sub.nest.op && at_ns != WEIR_FOREVER)
		rc = weir__op_timer_at(&self->timer, op, at_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

static size_t window_pull(struct weir__op *op, void **items, size_t room)
{
	const struct split *args = weir__op_args(op);
	struct splitting *self = weir__op_state(op);
	bool timed = args->ends.within_ns || args->ends.quiet_ns;
	uint64_t now_ns;
	size_t n;

	if (timed && self->inside) {
		now_ns = weir__op_now(op);
		if (now_ns >= self->due_ns || now_ns >= self->quiet_due_ns)
			leave(self);
	}
	n = split_pull(op, items, room);
	if (timed && self->inside && !op->ended)
		wait_for_end(op, n < room && self->sub.waiting.n == 0);
	return n;
}

static const struct weir__kind window_kind = {
	SPLIT("window", window_pull),
};

static const char *wrong_with(const struct weir_flow_window_options *options)
{
	if (!options)
		return "options is NULL";
	if (!weir__reserved_zero(options->reserved))
		return "options->reserved is not zero";
	if (!options->n && !options->within_ns && !options->quiet_ns)
		return "options say nothing by which a window ends";
	return NULL;
}

struct weir_flow *weir_flow_window(
	struct weir_flow *flow, const struct weir_flow_window_options *options,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context)
{
	struct split args = {window_put, make, context};
	const char *why = make ? wrong_with(options) : "make is NULL";

	if (!why)
		args.ends = *options;
	flow = weir__flow_upon(&window_kind, flow, &args, sizeof(args), !why);
	return weir__flow_wrong_as(flow, &window_kind, why);
}

/* --- window_by ----------------------------------------------------------- */

static int window_by_put(struct weir__op *op, void *item)
{
	split_give(op, item);
	return 0;
}

/* True: there was a boundary, or several. */
static bool take_boundaries(struct weir__op *op, size_t room)
{
	struct weir__op *boundary = op->up[1];
	size_t left = room ? op->island->ask : 0;
	bool any = false;
	void *item;

	if (left == 0)
		weir__pull_none(boundary);
	for (; left > 0 && weir__pull(boundary, &item, 1) > 0; left--) {
		weir__op_drop_one(boundary, item);
		any = true;
	}
	return any;
}

static size_t window_by_pull(struct weir__op *op, void **items, size_t room)
{
	struct splitting *self = weir__op_state(op);

	if (take_boundaries(op, room) && self->inside)
		leave(self);
	if (op->up[1]->error)
		weir__op_cancel(op->up[0]);
	return split_pull(op, items, room);
}

/* The boundary may have any items: they are dropped. */
static const struct weir_items *window_by_items(const struct weir_flow *flow)
{
	return weir__flow_items(flow->up[0]);
}

static const struct weir__kind window_by_kind = {
	SPLIT("window_by", window_by_pull),
	.items = window_by_items,
	.any_input = true,
};

struct weir_flow *weir_flow_window_by(
	struct weir_flow *flow, struct weir_flow *boundary,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context)
{
	struct weir_flow *both[] = {flow, boundary};
	struct split args = {window_by_put, make, context};

	return weir__flow_new(&window_by_kind, both, 2, &args, sizeof(args),
			      make);
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
	error = weir__nest_open(&self->nest, op, flow, NULL);
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
