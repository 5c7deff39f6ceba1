/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items that come out later. They wait in one line, each with the time at which
 * it is due, so none overtakes another: one that is due early waits for those
 * before it.
 *
 * Where a full line drops items or fails, upstream is asked for more whether
 * downstream asks or not: the operator is the root of an island that writes
 * into a pipe for one item. What is due stays in the line, where it may be
 * dropped, until the pipe is empty.
 */
#include <weir/flow_rate.h>

#include <assert.h>
#include <errno.h>

#include "base/bounded.h"
#include "base/memory.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/shared/pipe.h"
#include "flow/shared/array.h"

struct delaying {
	struct weir__op_timer timer; /* must be first */
	struct weir__bounded line;
	uint64_t *due_ns; /* of each slot */
	void **slots;
};

static size_t line_size(const struct weir__op *op)
{
	const struct weir_flow_delay_options *args = weir__op_args(op);

	return args->n * (sizeof(uint64_t) + sizeof(void *));
}

static int delay_open(struct weir__op *op)
{
	const struct weir_flow_delay_options *args = weir__op_args(op);
	struct delaying *self = weir__op_state(op);

	self->due_ns = weir__alloc(weir__op_allocator(op), line_size(op));
	if (!self->due_ns)
		return -ENOMEM;
	self->slots = (void **)(void *)(self->due_ns + args->n);
	self->line = (struct weir__bounded){
		.deque.capacity = args->n,
		.overflow = args->overflow,
	};
	return 0;
}

static void delay_close(struct weir__op *op)
{
	struct delaying *self = weir__op_state(op);
	void *item;

	weir__op_timer_off(&self->timer);
	while (weir__bounded_take(&self->line, self->slots, &item, 1) > 0)
		weir__op_drop_one(op->up[0], item);
	weir__free(weir__op_allocator(op), self->due_ns, line_size(op));
	self->due_ns = NULL;
}

/* True: items never wait for room in the line. */
static bool is_lossy(const struct weir__op *op)
{
	const struct weir_flow_delay_options *args = weir__op_args(op);

	return args->overflow != WEIR_OVERFLOW_BACK_PRESSURE;
}

static uint64_t first_due(const struct delaying *self)
{
	return self->due_ns[self->line.deque.first];
}

/* --- Into the line -------------------------------------------------------- */

/* Puts an item into the line, which may be full; or drops it, or others. */
static void line_up(struct weir__op *op, void *item, uint64_t due_ns)
{
	struct delaying *self = weir__op_state(op);
	struct weir__dropped dropped = {.n = 0};
	int rc = weir__bounded_offer(&self->line, self->slots, item, &dropped);

	/* with back-pressure no item is taken without room */
	assert(rc != -EAGAIN);
	if (rc >= 0)
		self->due_ns[weir__deque_at(&self->line.deque,
					    self->line.deque.n - 1)] = due_ns;
	while (dropped.n > 0) {
		weir__op_drop(op->up[0], dropped.items, dropped.n);
		dropped.n = 0;
		weir__bounded_spill(&self->line, self->slots, &dropped);
	}
	if (rc == -EOVERFLOW) {
		weir__op_drop_one(op->up[0], item);
		weir__op_fail(op, -EOVERFLOW, "the delay is full");
	}
}

/*
 * An item has come: asks for how long it waits. Not inlined, or each of many
 * delays upon each other takes 64 bytes more of the stack.
 */
static __attribute__((noinline)) void delay_one(struct weir__op *op, void *item,
						uint64_t now_ns)
{
	const struct weir_flow_delay_options *args = weir__op_args(op);
	int64_t wait_ns = 0;

	if (args->delay)
		wait_ns = args->delay(item, args->context);
	if (WEIR_UNLIKELY(wait_ns < 0)) {
		weir__op_drop_one(op->up[0], item);
		(void)weir__op_survives(op, (int)wait_ns);
		return;
	}
	line_up(op, item,
		weir__later(now_ns,
			    args->delay ? (uint64_t)wait_ns : args->delay_ns));
}

/* Takes the items that there is room for; their delay begins now. */
static void take_some(struct weir__op *op, void **items, size_t room,
		      uint64_t now_ns)
{
	struct delaying *self = weir__op_state(op);
	size_t left = op->island->ask, n, i;
	struct weir__array batch;
	bool more;

	weir__array_init(&batch, op, items, room);
	do {
		/* without room it only looks, as any pull does */
		if (!is_lossy(op))
			batch.n = weir__at_most(
				weir__deque_room(&self->line.deque), batch.n);
		n = weir__array_take(&batch, op->up[0]);
		for (i = 0; i < n && !op->ended; i++)
			delay_one(op, batch.items[i], now_ns);
		weir__op_drop(op->up[0], batch.items + i, n - i);
		left -= n;
		more = n > 0 && n == batch.n && left >= n && !op->ended;
	} while (more &&
		 (is_lossy(op) || !weir__deque_is_full(&self->line.deque)));
	weir__array_done(&batch, op);
}

/* --- Out of it ------------------------------------------------------------ */

/* Takes the items that are due. */
static size_t take_due(struct delaying *self, void **items, size_t room,
		       uint64_t now_ns)
{
	const struct weir__deque *deque = &self->line.deque;
	size_t n = 0;

	while (n < room && n < deque->n &&
	       self->due_ns[weir__deque_at(deque, n)] <= now_ns)
		n++;
	return weir__bounded_take(&self->line, self->slots, items, n);
}

/* As long as another item comes, and the line is full, takes the first item
 * before its time. */
static size_t take_early(struct weir__op *op, void **items, size_t room,
			 uint64_t now_ns)
{
	struct delaying *self = weir__op_state(op);
	size_t n = 0;
	void *item;

	while (n < room && !op->ended &&
	       weir__deque_is_full(&self->line.deque) &&
	       weir__pull(op->up[0], &item, 1) > 0) {
		(void)weir__bounded_take(&self->line, self->slots, &items[n++],
					 1);
		delay_one(op, item, now_ns);
	}
	return n;
}

/* How many items may leave the line now. */
static size_t room_behind(const struct weir__op *op, size_t room)
{
	if (!is_lossy(op))
		return room;
	return weir__pipe_waits(op) ? 0 : weir__at_most(1, room);
}

static size_t delay_pull(struct weir__op *op, void **items, size_t room)
{
	const struct weir_flow_delay_options *args = weir__op_args(op);
	struct delaying *self = weir__op_state(op);
	size_t most = room_behind(op, room), n;
	uint64_t now_ns = weir__op_now(op);
	struct weir__op *up = op->up[0];
	int rc = 0;

	/* what is due need not be dropped */
	n = is_lossy(op) ? take_due(self, items, most, now_ns) : 0;
	take_some(op, items + n, room - n, now_ns);
	if (!op->ended)
		n += take_due(self, items + n, most - n, now_ns);
	if (!op->ended && args->emit_early)
		n += take_early(op, items + n, most - n, now_ns);
	if (op->ended)
		return n;
	if (up->ended && (up->error || self->line.deque.n == 0))
		weir__op_end(op, up->error);
	else if (self->line.deque.n > 0 && first_due(self) > now_ns)
		rc = weir__op_timer_at(&self->timer, op, first_due(self));
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
	return n;
}

/* --- Making it ------------------------------------------------------------ */

/* The pipe never overflows: it gets an item when it is empty. */
static struct weir__op *lossy_build(struct weir__build *build,
				    const struct weir_flow *flow)
{
	return weir__pipe_build(build, flow, 1, WEIR_OVERFLOW_DROP_NEW,
				weir__op_new);
}

/* A restart is a resume: only a function for one item fails. */
#define DELAY(called) \
	.name = (called), .state_size = sizeof(struct delaying), \
	.open = delay_open, .pull = delay_pull, .close = delay_close, \
	.keeps = sizeof(struct weir__op_timer), .awaits = WEIR_WAIT_TIME, \
	.stateless = true, .holds = true

static const struct weir__kind delay_kind = {DELAY("delay")};
static const struct weir__kind with_kind = {DELAY("delay_with")};
static const struct weir__kind lossy_kind = {
	DELAY("delay_with"),
	.build = lossy_build,
	.needs_island = true,
};

struct weir_flow *weir_flow_delay(struct weir_flow *flow, uint64_t delay_ns,
				  size_t n)
{
	struct weir_flow_delay_options args = {.delay_ns = delay_ns, .n = n};

	flow = weir__flow_upon(&delay_kind, flow, &args, sizeof(args),
			       weir__size_valid(n));
	return weir__flow_wrong_size(flow, &delay_kind, "n", n);
}

/* NULL: nothing, but for `n`. */
static const char *wrong_with(const struct weir_flow_delay_options *options)
{
	if (!weir__reserved_zero(options->reserved))
		return "options->reserved is not zero";
	if (options->delay && options->delay_ns)
		return "options has two delays";
	if (!weir__overflow_valid(options->overflow))
		return "no such overflow";
	if (options->emit_early && options->overflow)
		return "emit_early needs back-pressure";
	return NULL;
}

struct weir_flow *weir_flow_delay_with(
	struct weir_flow *flow, const struct weir_flow_delay_options *options)
{
	struct weir_flow_delay_options args = {0};
	const struct weir__kind *kind = &with_kind;
	const char *why = options ? wrong_with(options) : "options is NULL";

	if (!why)
		args = *options;
	if (args.overflow != WEIR_OVERFLOW_BACK_PRESSURE)
		kind = &lossy_kind;
	flow = weir__flow_upon(kind, flow, &args, sizeof(args),
			       !why && weir__size_valid(args.n));
	if (!why)
		return weir__flow_wrong_size(flow, kind, "n", args.n);
	return weir__flow_wrong_as(flow, kind, why);
}
