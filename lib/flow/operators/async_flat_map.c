/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators over flows that are made for an item: flat_map, switch_map. */
#include <weir/flow_async.h>

#include <assert.h>
#include <errno.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/shared/array.h"
#include "flow/shared/nest.h"

/* --- Both of them -------------------------------------------------------- */

struct make {
	struct weir_flow *(*make)(void *item, void *context);
	void *context;
	size_t breadth;
};

/* Makes and opens the nested flow for an item. False: there is none. */
static bool open_for(struct weir__op *op, struct weir__nest *nest, void *item)
{
	const struct make *args = weir__op_args(op);

	return weir__nest_open_for_item(nest, op,
					args->make(item, args->context));
}

/* If upstream has failed, ends the operator at once. (If upstream has ended
 * well, the open nested flows go on to their ends.) */
static void fail_with_upstream(struct weir__op *op)
{
	if (op->up[0]->error)
		(void)weir__op_follow(op);
}

/* --- flat_map ------------------------------------------------------------ */

struct merging {
	struct weir__nest *nests; /* `n` of them are open, the first ones */
	size_t n;
	size_t first; /* to be taken from */
};

static int flat_map_open(struct weir__op *op)
{
	const struct make *args = weir__op_args(op);
	struct merging *self = weir__op_state(op);

	assert(self->n == 0);
	self->nests = weir__alloc(weir__op_allocator(op),
				  args->breadth * sizeof(*self->nests));
	return self->nests ? 0 : -ENOMEM;
}

static void flat_map_close(struct weir__op *op)
{
	const struct make *args = weir__op_args(op);
	struct merging *self = weir__op_state(op);

	assert(self->n <= args->breadth);
	while (self->n > 0)
		weir__nest_close(&self->nests[--self->n]);
	weir__free(weir__op_allocator(op), self->nests,
		   args->breadth * sizeof(*self->nests));
	self->nests = NULL;
}

/* Opens as many nested flows as there are items and free places. */
static void open_more(struct weir__op *op, size_t room)
{
	const struct make *args = weir__op_args(op);
	struct merging *self = weir__op_state(op);
	size_t tries = room ? op->island->ask : 0;
	void *item;

	/* it looks upstream only where it takes no item: with both, each of k
	 * nested operators would make twice as many calls as the one below */
	if (!room || self->n == args->breadth)
		weir__pull_none(op->up[0]);
	for (; tries > 0 && self->n < args->breadth; tries--) {
		if (!weir__pull(op->up[0], &item, 1))
			break;
		if (open_for(op, &self->nests[self->n], item))
			self->n++;
		if (op->ended)
			return;
	}
	fail_with_upstream(op);
	if (room && tries == 0)
		weir__op_again(op);
}

/* Takes items from each nested flow, beginning with another one each time;
 * *closed is the number of nested flows that have ended. */
static size_t take_from_all(struct weir__op *op, void **items, size_t room,
			    size_t *closed)
{
	struct merging *self = weir__op_state(op);
	size_t left = self->n, got = 0, at = self->first++;
	struct weir__nest *nest;

	for (; left > 0; left--) {
		if (at >= self->n)
			at = 0;
		/* as many are open as there are left, or more */
		assert(at < self->n);
		nest = &self->nests[at];
		got += weir__pull(nest->op, items + got, room - got);
		if (weir__nest_is_over(nest, op)) {
			weir__nest_close(nest);
			*nest = self->nests[--self->n];
			self->nests[self->n] = (struct weir__nest){0};
			++*closed;
		} else if (op->ended) {
			break;
		} else {
			at++;
		}
	}
	if (self->first >= self->n)
		self->first = 0;
	assert(got <= room);
	return got;
}

static size_t flat_map_pull(struct weir__op *op, void **items, size_t room)
{
	struct merging *self = weir__op_state(op);
	size_t got = 0, rounds = op->island->ask, closed;

	do {
		closed = 0;
		open_more(op, room - got);
		if (op->ended)
			return got;
		got += take_from_all(op, items + got, room - got, &closed);
		if (op->ended)
			return got;
	} while (closed > 0 && got < room && --rounds > 0);
	if (rounds == 0)
		weir__op_again(op);
	if (self->n == 0)
		(void)weir__op_follow(op);
	return got;
}

static const struct weir__kind flat_map_kind = {
	.name = "flat_map",
	.state_size = sizeof(struct merging),
	.pull = flat_map_pull,
	.open = flat_map_open,
	.close = flat_map_close,
	.holds = true,
	.makes = true,
	.nests = true,
	.delays = true,
};

struct weir_flow *weir_flow_flat_map(struct weir_flow *flow, size_t breadth,
				     struct weir_flow *(*make)(void *item,
							       void *context),
				     void *context)
{
	struct make args = {make, context, breadth};

	flow = weir__flow_upon(&flat_map_kind, flow, &args, sizeof(args),
			       make && weir__size_valid(breadth));
	return weir__flow_wrong_size(flow, &flat_map_kind, "breadth", breadth);
}

/* --- switch_map ---------------------------------------------------------- */

static void switch_map_close(struct weir__op *op)
{
	weir__nest_close(weir__op_state(op));
}

/* Switches to the flow of the last item that has come. */
static void switch_over(struct weir__op *op, void **items, size_t room)
{
	struct weir__nest *nest = weir__op_state(op);
	struct weir__op *up = op->up[0];
	struct weir__array batch;
	size_t left = op->island->ask, n;
	bool has_last = false;
	void *last = NULL;

	weir__array_init(&batch, op, items, room);
	do {
		n = weir__array_take(&batch, up);
		if (n == 0)
			break;
		if (has_last)
			weir__op_drop_one(up, last);
		weir__op_drop(up, batch.items, n - 1);
		last = batch.items[n - 1];
		has_last = true;
		left -= n;
	} while (n == batch.n && left >= n);
	weir__array_done(&batch, op);
	if (has_last) {
		weir__nest_close(nest);
		(void)open_for(op, nest, last);
		weir__op_again(op);
	}
	if (!op->ended)
		fail_with_upstream(op);
}

static size_t switch_map_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__nest *nest = weir__op_state(op);
	size_t n = 0;

	switch_over(op, items, room);
	if (op->ended)
		return 0;
	if (nest->op)
		n = weir__pull(nest->op, items, room);
	if (weir__nest_is_over(nest, op)) {
		weir__nest_close(nest);
		(void)weir__op_follow(op);
	}
	return n;
}

static const struct weir__kind switch_map_kind = {
	.name = "switch_map",
	.state_size = sizeof(struct weir__nest),
	.pull = switch_map_pull,
	.close = switch_map_close,
	.holds = true,
	.makes = true,
	.nests = true,
	.delays = true,
};

struct weir_flow *weir_flow_switch_map(struct weir_flow *flow,
				       struct weir_flow *(*make)(void *item,
								 void *context),
				       void *context)
{
	struct make args = {make, context, 1};

	return weir__flow_upon(&switch_map_kind, flow, &args, sizeof(args),
			       make);
}
