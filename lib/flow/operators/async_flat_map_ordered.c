/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows that are made for an item, several at once, whose items come in the
 * order of those that they were made for. The first one's items are emitted as
 * they come; those of each other flow wait in a queue of its own.
 */
#include <weir/flow_async.h>

#include <assert.h>
#include <errno.h>

#include "base/deque.h"
#include "base/memory.h"
#include "executor/thread.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/shared/nest.h"

struct ordered {
	struct weir_flow *(*make)(void *item, void *context);
	void *context;
	size_t breadth, prefetch;
};

/* A nested flow, and its items that wait. */
struct ordered_flow {
	struct weir__nest nest;
	struct weir__deque deque; /* of its slots */
};

struct ordering {
	struct ordered_flow *flows;
	struct weir__deque deque; /* of `flows` */
	void **slots;		  /* args->prefetch for each flow */
};

static void free_all(struct weir__op *op)
{
	const struct ordered *args = weir__op_args(op);
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct ordering *self = weir__op_state(op);

	weir__free(allocator, self->flows,
		   args->breadth * sizeof(*self->flows));
	weir__free(allocator, self->slots,
		   args->breadth * args->prefetch * sizeof(*self->slots));
	self->flows = NULL;
	self->slots = NULL;
}

static int ordered_open(struct weir__op *op)
{
	const struct ordered *args = weir__op_args(op);
	const struct weir_allocator *allocator = weir__op_allocator(op);
	struct ordering *self = weir__op_state(op);

	self->flows =
		weir__alloc(allocator, args->breadth * sizeof(*self->flows));
	self->slots = weir__alloc(allocator, args->breadth * args->prefetch *
						     sizeof(*self->slots));
	self->deque.capacity = args->breadth;
	if (self->flows && self->slots)
		return 0;
	free_all(op);
	return -ENOMEM;
}

/* The i-th of the open flows. */
static struct ordered_flow *nth(struct ordering *self, size_t i)
{
	return &self->flows[weir__deque_at(&self->deque, i)];
}

static void **slots_of(struct weir__op *op, const struct ordered_flow *flow)
{
	const struct ordered *args = weir__op_args(op);
	struct ordering *self = weir__op_state(op);

	return self->slots + (size_t)(flow - self->flows) * args->prefetch;
}

/* Closes the first of the open flows. */
static void close_first(struct weir__op *op)
{
	struct ordering *self = weir__op_state(op);
	struct ordered_flow *flow = nth(self, 0);

	while (flow->deque.n > 0)
		weir__op_drop_one(
			op, slots_of(op, flow)[weir__deque_pop(&flow->deque)]);
	weir__nest_close(&flow->nest);
	weir__deque_forget(&self->deque, 1);
}

static void ordered_close(struct weir__op *op)
{
	struct ordering *self = weir__op_state(op);

	while (self->deque.n > 0)
		close_first(op);
	free_all(op);
}

/* Opens as many nested flows as there are items and free places. */
static void open_more(struct weir__op *op, size_t room)
{
	const struct ordered *args = weir__op_args(op);
	struct ordering *self = weir__op_state(op);
	size_t tries = room ? op->island->ask : 0;
	struct ordered_flow *flow;
	void *item;

	/* it looks upstream only where it takes no item, as flat_map does */
	if (!room || weir__deque_is_full(&self->deque))
		weir__pull_none(op->up[0]);
	for (; tries > 0 && !weir__deque_is_full(&self->deque); tries--) {
		if (!weir__pull(op->up[0], &item, 1))
			break;
		flow = nth(self, self->deque.n);
		flow->deque = (struct weir__deque){.capacity = args->prefetch};
		if (weir__nest_open_for_item(&flow->nest, op,
					     args->make(item, args->context)))
			(void)weir__deque_push(&self->deque);
		if (op->ended)
			return;
	}
	if (room && tries == 0)
		weir__op_again(op);
}

/* Emits items of the first flow: those that wait, then others. */
static size_t take_first(struct weir__op *op, void **items, size_t room)
{
	struct ordered_flow *flow = nth(weir__op_state(op), 0);
	void **slots = slots_of(op, flow);
	size_t n = 0;

	while (n < room && flow->deque.n > 0)
		items[n++] = slots[weir__deque_pop(&flow->deque)];
	/* if items still wait, there is no room */
	return n + weir__pull(flow->nest.op, items + n, room - n);
}

/* Emits items of the first flow, and of the next ones as far as they have
 * ended; *closed is the number of these. */
static size_t take_in_order(struct weir__op *op, void **items, size_t room,
			    size_t *closed)
{
	struct ordering *self = weir__op_state(op);
	struct ordered_flow *flow;
	size_t n = 0;

	for (*closed = 0; self->deque.n > 0; ++*closed) {
		flow = nth(self, 0);
		n += take_first(op, items + n, room - n);
		if (flow->deque.n > 0 || !weir__nest_is_over(&flow->nest, op))
			break;
		close_first(op);
	}
	return n;
}

/*
 * Lets the flows behind the first fill their queues. With a `room` of 0 it only
 * looks for ends, and no flow blocks.
 */
static void fetch(struct weir__op *op, size_t room)
{
	struct ordering *self = weir__op_state(op);
	struct ordered_flow *flow;
	size_t i, at, n;

	for (i = 1; i < self->deque.n; i++) {
		flow = nth(self, i);
		at = weir__deque_at(&flow->deque, flow->deque.n);
		n = weir__at_most(weir__deque_room(&flow->deque),
				  flow->deque.capacity - at);
		n = weir__pull(flow->nest.op, slots_of(op, flow) + at,
			       room ? n : 0);
		for (; n > 0; n--)
			(void)weir__deque_push(&flow->deque);
	}
}

/* Where turns may block, others than the first flow are asked for more when the
 * items that are there have been published. */
static size_t ordered_pull_blocking(struct weir__op *op, void **items,
				    size_t room)
{
	const struct ordering *self = weir__op_state(op);
	size_t closed, got = take_in_order(op, items, room, &closed);

	if (op->ended)
		return got;
	open_more(op, got > 0 ? 0 : room);
	if (op->ended)
		return got;
	fetch(op, got > 0 ? 0 : room);
	if (self->deque.n == 0)
		(void)weir__op_follow(op);
	return got;
}

static size_t ordered_pull(struct weir__op *op, void **items, size_t room)
{
	struct ordering *self = weir__op_state(op);
	size_t got = 0, rounds = op->island->ask, closed;

	if (weir__thread.may_block)
		return ordered_pull_blocking(op, items, room);
	do {
		open_more(op, room - got);
		if (op->ended)
			return got;
		got += take_in_order(op, items + got, room - got, &closed);
		if (op->ended)
			return got;
	} while (closed > 0 && got < room && --rounds > 0);
	if (rounds == 0)
		weir__op_again(op);
	fetch(op, room);
	if (self->deque.n == 0)
		(void)weir__op_follow(op);
	return got;
}

static const struct weir__kind ordered_kind = {
	.name = "flat_map_ordered",
	.state_size = sizeof(struct ordering),
	.pull = ordered_pull,
	.open = ordered_open,
	.close = ordered_close,
	.holds = true,
	.makes = true,
	.nests = true,
	.delays = true,
};

struct weir_flow *weir_flow_flat_map_ordered(
	struct weir_flow *flow, size_t breadth, size_t prefetch,
	struct weir_flow *(*make)(void *item, void *context), void *context)
{
	struct ordered args = {make, context, breadth, prefetch};

	flow = weir__flow_upon(&ordered_kind, flow, &args, sizeof(args),
			       make && weir__size_valid(breadth) &&
				       weir__size_valid(prefetch));
	flow = weir__flow_wrong_size(flow, &ordered_kind, "breadth", breadth);
	return weir__flow_wrong_size(flow, &ordered_kind, "prefetch", prefetch);
}
