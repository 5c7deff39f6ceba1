/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pipe has two ends, the reader and the writer. Each keeps the other's memory
 * from when they are made until its own close(). close() is called for both:
 * when the reader is closed, the writer ends, and the other way round.
 */
#include "flow/shared/pipe.h"

#include <assert.h>
#include <errno.h>

#include "base/bounded.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/engine/run.h"

struct weir__pipe {
	const struct weir_allocator *allocator;
	const char *name;
	struct weir__op *reader;     /* held by the writer; NULL: none yet */
	struct weir__island *writer; /* referenced by the reader */
	const struct weir_items *items;
	uint32_t refs;		/* atomic: reader, writer */
	struct weir__lock lock; /* for the rest */
	struct weir_error *error;
	bool closed; /* nothing more comes */
	bool failed; /* the queue was full, which fails the stream */
	bool gone;   /* the reader has closed */
	bool reader_waits, writer_waits;
	bool on_demand; /* constant */
	size_t asked;	/* on demand: how many more may be put */
	struct weir__bounded queue;
	void *slots[];
};

static size_t size_of(size_t capacity)
{
	return sizeof(struct weir__pipe) + capacity * sizeof(void *);
}

static void pipe_unref(struct weir__pipe *pipe)
{
	if (!weir__unref(&pipe->refs))
		return;
	weir_error_unref(pipe->error);
	weir__free(pipe->allocator, pipe, size_of(pipe->queue.deque.capacity));
}

static void pipe_drop(const struct weir__pipe *pipe, void *item)
{
	if (pipe->items && pipe->items->drop)
		pipe->items->drop(item, pipe->items->context);
}

/* --- Under the lock ------------------------------------------------------- */

static bool is_empty(const struct weir__pipe *pipe)
{
	return pipe->queue.deque.n == 0;
}

static size_t pipe_take(struct weir__pipe *pipe, void **items, size_t most)
{
	return weir__bounded_take(&pipe->queue, pipe->slots, items, most);
}

static bool take_flag(bool *flag)
{
	bool was = *flag;

	*flag = false;
	return was;
}

/* Puts the item, or drops it. */
static void put_one(struct weir__pipe *pipe, void *item,
		    struct weir__dropped *dropped)
{
	int rc = -EPIPE;

	if (!pipe->gone && !pipe->closed)
		rc = weir__bounded_offer(&pipe->queue, pipe->slots, item,
					 dropped);
	/* with back-pressure there is room: see may_put() */
	assert(rc != -EAGAIN);
	if (rc == -EOVERFLOW)
		pipe->failed = pipe->closed = true;
	if (rc == -EPIPE || rc == -EOVERFLOW)
		dropped->items[dropped->n++] = item;
}

/* --- The writer ----------------------------------------------------------- */

bool weir__pipe_waits(const struct weir__op *writer)
{
	struct weir__pipe *pipe = writer->island->end_state;
	bool waits;

	weir__lock(&pipe->lock);
	waits = !pipe->gone && !is_empty(pipe);
	pipe->writer_waits = waits;
	weir__unlock(&pipe->lock);
	return waits;
}

bool weir__pipe_take_back(const struct weir__op *writer, void **item)
{
	struct weir__pipe *pipe = writer->island->end_state;
	bool is_there;

	weir__lock(&pipe->lock);
	is_there = !pipe->gone && pipe_take(pipe, item, 1) > 0;
	weir__unlock(&pipe->lock);
	return is_there;
}

/* Puts the items. Items to be dropped are dropped without the lock, some at a
 * time. */
static void put(struct weir__pipe *pipe, void *const *items, size_t n)
{
	struct weir__dropped dropped;
	bool waits, more = n > 0;
	size_t i = 0;

	while (more) {
		dropped.n = 0;
		weir__lock(&pipe->lock);
		if (!pipe->gone)
			weir__bounded_spill(&pipe->queue, pipe->slots,
					    &dropped);
		while (i < n && dropped.n < WEIR__DROPPED_MAX) {
			pipe->asked -= pipe->asked > 0;
			put_one(pipe, items[i++], &dropped);
		}
		more = i < n || (!pipe->gone && pipe->queue.n_doomed > 0);
		waits = take_flag(&pipe->reader_waits) || pipe->failed;
		weir__unlock(&pipe->lock);
		while (dropped.n > 0)
			pipe_drop(pipe, dropped.items[--dropped.n]);
		if (waits)
			weir__op_wake(pipe->reader);
	}
}

/* How many items the writer may put now. After 0 the writer is woken when it
 * may put some. */
static size_t may_put(struct weir__pipe *pipe, bool *over)
{
	size_t n = WEIR_FLOW_BATCH;

	weir__lock(&pipe->lock);
	*over = pipe->gone || pipe->closed;
	if (pipe->on_demand)
		n = pipe->asked;
	else if (pipe->queue.overflow == WEIR_OVERFLOW_BACK_PRESSURE && !*over)
		n = weir__deque_room(&pipe->queue.deque);
	pipe->writer_waits = n == 0;
	weir__unlock(&pipe->lock);
	return n < WEIR_FLOW_BATCH ? n : WEIR_FLOW_BATCH;
}

static enum weir__found pipe_drive(struct weir__island *island, uint64_t n)
{
	struct weir__pipe *pipe = island->end_state;
	struct weir__op *root = island->root;
	_Alignas(WEIR__LINE) void *items[WEIR_FLOW_BATCH];
	size_t ask, got;
	bool over;

	while (n > 0) {
		ask = may_put(pipe, &over);
		if (over) {
			weir__op_cancel(root);
			return WEIR__FOUND_OVER;
		}
		if (ask > n)
			ask = (size_t)n;
		island->again = false;
		got = weir__pull(root, items, ask);
		put(pipe, items, got);
		if (root->ended)
			return WEIR__FOUND_OVER;
		if (got == 0 && !island->again)
			return WEIR__FOUND_NONE;
		/* without room the root may still have had a batch to do */
		n -= weir__at_most(n, ask ? ask : island->ask);
		if (weir_actor_interrupted(&island->actor))
			break;
	}
	return WEIR__FOUND_MORE;
}

static void pipe_over(struct weir__island *island, struct weir_error *error)
{
	struct weir__pipe *pipe = island->end_state;
	bool waits;

	weir__lock(&pipe->lock);
	/* an error comes with the end */
	assert(pipe->closed || !pipe->error);
	if (!pipe->closed)
		pipe->error = weir_error_ref(error);
	pipe->closed = true;
	waits = take_flag(&pipe->reader_waits);
	weir__unlock(&pipe->lock);
	if (waits)
		weir__op_wake(pipe->reader);
}

/* The writing island stops, whether its root had ended or not. */
static void pipe_stop(struct weir__island *island)
{
	struct weir__pipe *pipe = island->end_state;

	pipe_over(island, weir_error_of(-ECANCELED));
	if (pipe->reader)
		weir__op_unhold(pipe->reader);
	pipe->reader = NULL;
}

static void pipe_free(struct weir__island *island)
{
	pipe_unref(island->end_state);
}

static const struct weir__end pipe_end = {
	.drive = pipe_drive,
	.over = pipe_over,
	.close = pipe_stop,
	.free = pipe_free,
};

/* --- The reader ----------------------------------------------------------- */

static struct weir__pipe *pipe_of(struct weir__op *op)
{
	return *(struct weir__pipe **)weir__op_state(op);
}

/* `n` of the items for which there was `room` were taken. True: the writer is
 * to be woken. */
static bool note_taken(struct weir__pipe *pipe, size_t n, size_t room)
{
	if (!pipe->on_demand)
		return n > 0 && take_flag(&pipe->writer_waits);
	/* a look asks for nothing, and takes no demand back */
	if (room > 0)
		pipe->asked =
			weir__at_most(room - n, pipe->queue.deque.capacity);
	/* what is left was asked for by an earlier pull */
	assert(n == room || is_empty(pipe));
	return room > n && take_flag(&pipe->writer_waits);
}

static size_t read_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__pipe *pipe = pipe_of(op);
	bool over, failed, waits;
	size_t n = 0;

	weir__lock(&pipe->lock);
	failed = pipe->failed;
	if (!failed)
		n = pipe_take(pipe, items, room);
	over = pipe->closed && is_empty(pipe);
	pipe->reader_waits = !over && is_empty(pipe);
	waits = note_taken(pipe, n, room);
	weir__unlock(&pipe->lock);
	if (waits)
		weir_actor_signal(&pipe->writer->actor);
	if (failed)
		weir__op_fail(op, -EOVERFLOW, "the buffer is full");
	else if (over)
		weir__op_end(op, pipe->error);
	return n;
}

/* When `gone` is set, no other thread touches the queue. */
static void read_close(struct weir__op *op)
{
	struct weir__pipe *pipe = pipe_of(op);
	void *item;

	weir__lock(&pipe->lock);
	assert(!pipe->gone);
	pipe->gone = true;
	pipe->reader_waits = false;
	weir__unlock(&pipe->lock);
	while (pipe_take(pipe, &item, 1) > 0)
		pipe_drop(pipe, item);
	weir_actor_signal(&pipe->writer->actor);
	weir_actor_unref(&pipe->writer->actor);
	pipe_unref(pipe);
}

static bool read_has(struct weir__op *op)
{
	struct weir__pipe *pipe = pipe_of(op);
	bool has;

	weir__lock(&pipe->lock);
	has = !pipe->failed && !is_empty(pipe);
	weir__unlock(&pipe->lock);
	return has;
}

static const struct weir__kind read_kind = {
	.name = "buffer",
	.state_size = sizeof(struct weir__pipe *),
	.pull = read_pull,
	.has = read_has,
	.close = read_close,
	.holds = true,
};

/* --- Making it ------------------------------------------------------------ */

static struct weir__pipe *pipe_new(const struct weir__build *build, size_t n,
				   enum weir_overflow strategy, bool on_demand)
{
	const struct weir_allocator *allocator = build->run->allocator;
	struct weir__pipe *pipe;

	assert(n > 0);
	pipe = weir__alloc(allocator, size_of(n));
	if (!pipe)
		return NULL;
	pipe->allocator = allocator;
	pipe->queue = (struct weir__bounded){
		.deque.capacity = n,
		.overflow = strategy,
	};
	pipe->on_demand = on_demand;
	pipe->refs = 1;
	return pipe;
}

/* The writer, an island that has its pipe. NULL: no memory. */
static struct weir__island *writer_new(const struct weir__build *build,
				       struct weir__pipe *pipe)
{
	struct weir__island *island = NULL;

	if (pipe)
		island = weir__island_new(build->run, build->executor,
					  &pipe_end);
	if (!island) {
		if (pipe)
			pipe_unref(pipe);
		return NULL;
	}
	island->end_state = pipe;
	pipe->writer = island;
	return island;
}

static struct weir__op *reader_new(struct weir__build *build,
				   const struct weir_flow *flow,
				   struct weir__pipe *pipe)
{
	struct weir__op *op =
		weir__op_leaf(build, flow, &read_kind, pipe->items);

	if (!op) {
		*build->code = -ENOMEM;
		return NULL;
	}
	*(struct weir__pipe **)weir__op_state(op) = pipe;
	weir__ref(&pipe->refs);
	(void)weir_actor_ref(&pipe->writer->actor);
	weir__op_hold(op);
	pipe->reader = op;
	return op;
}

static struct weir__op *build_upon(
	struct weir__build *build, const struct weir_flow *flow,
	struct weir__pipe *pipe,
	struct weir__op *(*make)(struct weir__build *build,
				 const struct weir_flow *flow))
{
	struct weir__island *writer = writer_new(build, pipe);
	struct weir__island *island = build->island;
	struct weir__tree *tree = build->tree;
	struct weir__op *root;

	*build->code = -ENOMEM;
	if (!writer)
		return NULL;
	/* not in a copy, and the pipe is looked for again: a chain of pipes
	 * would need much of the stack */
	build->island = writer;
	build->tree = writer->tree;
	root = make(build, flow);
	build->island = island;
	build->tree = tree;
	if (!root || weir__island_ready(writer, root) < 0)
		return NULL;
	pipe = writer->end_state;
	pipe->items = root->items;
	return reader_new(build, flow, pipe);
}

struct weir__op *weir__pipe_build(
	struct weir__build *build, const struct weir_flow *flow, size_t n,
	enum weir_overflow strategy,
	struct weir__op *(*make)(struct weir__build *build,
				 const struct weir_flow *flow))
{
	return build_upon(build, flow, pipe_new(build, n, strategy, false),
			  make);
}

struct weir__op *weir__pipe_build_on_demand(
	struct weir__build *build, const struct weir_flow *flow,
	struct weir__op *(*make)(struct weir__build *build,
				 const struct weir_flow *flow))
{
	return build_upon(build, flow,
			  pipe_new(build, WEIR_FLOW_BATCH,
				   WEIR_OVERFLOW_BACK_PRESSURE, true),
			  make);
}
