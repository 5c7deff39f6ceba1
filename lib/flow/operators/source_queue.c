/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue from any thread into a run. A lock is enough: it is held for a few
 * instructions, and the run takes it once for a batch.
 */
#include <weir/flow_source.h>

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "base/bounded.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/engine/start.h"

struct weir_flow_queue {
	const struct weir_items *items;
	uint32_t refs;		/* atomic: its maker, flows, the run */
	uint32_t claimed;	/* atomic: a run has the queue */
	struct weir__lock lock; /* for the rest */
	struct weir__op *op;	/* the run's, from its first pull on; held */
	bool waits;		/* `op` waits for items */
	struct weir_error *error;
	bool closed, gone; /* no more items come; the run takes none */
	bool overflowed;   /* an overflow has closed it */
	struct weir__bounded bounded;
	void *slots[];
};

static bool is_empty(const struct weir_flow_queue *queue)
{
	return queue->bounded.deque.n == 0;
}

/* Holds under the lock. A run that waits is woken as soon as there is an item
 * or an end. */
static __attribute__((unused)) bool is_consistent(
	const struct weir_flow_queue *queue)
{
	return (!queue->waits ||
		(queue->op && is_empty(queue) && !queue->closed)) &&
	       !(queue->op && queue->gone);
}

static void queue_drop(const struct weir_flow_queue *queue, void *item)
{
	if (queue->items && queue->items->drop)
		queue->items->drop(item, queue->items->context);
}

/* While no other thread uses the queue. */
static void drop_all(struct weir_flow_queue *queue)
{
	void *item;

	while (weir__bounded_take(&queue->bounded, queue->slots, &item, 1) > 0)
		queue_drop(queue, item);
}

static size_t size_of(size_t capacity)
{
	return sizeof(struct weir_flow_queue) + capacity * sizeof(void *);
}

static void queue_unref(struct weir_flow_queue *queue)
{
	if (!weir__unref(&queue->refs))
		return;
	drop_all(queue);
	weir_error_unref(queue->error);
	weir__free(weir_allocator_default(), queue,
		   size_of(queue->bounded.deque.capacity));
}

int weir_flow_queue_new(struct weir_flow_queue **queue, size_t capacity,
			enum weir_overflow overflow,
			const struct weir_items *items)
{
	struct weir_flow_queue *self;

	if (!queue)
		return -EINVAL;
	*queue = NULL;
	if (!weir__size_valid(capacity) || (capacity & (capacity - 1)) != 0 ||
	    !weir__overflow_valid(overflow))
		return -EINVAL;
	self = weir__alloc(weir_allocator_default(), size_of(capacity));
	if (!self)
		return -ENOMEM;
	self->bounded = (struct weir__bounded){
		.deque.capacity = capacity,
		.overflow = overflow,
	};
	self->items = items;
	self->refs = 1;
	*queue = self;
	return 0;
}

void weir_flow_queue_free(struct weir_flow_queue *queue)
{
	if (!queue)
		return;
	(void)weir_flow_queue_end(queue, NULL);
	queue_unref(queue);
}

/*
 * Wakes a run after the lock was released. The caller has taken a hold of the
 * operator for that, under the lock.
 */
static void wake(struct weir__op *op)
{
	if (!op)
		return;
	weir__op_wake(op);
	weir__op_unhold(op);
}

static struct weir__op *take_run(struct weir_flow_queue *queue)
{
	queue->waits = false;
	if (queue->op)
		weir__op_hold(queue->op);
	return queue->op;
}

/* A run is woken for items only if it waits for them. */
static struct weir__op *take_waiter(struct weir_flow_queue *queue)
{
	return queue->waits ? take_run(queue) : NULL;
}

/* Without the lock. */
static void drop_them(const struct weir_flow_queue *queue,
		      struct weir__dropped *dropped)
{
	size_t i;

	for (i = 0; i < dropped->n; i++)
		queue_drop(queue, dropped->items[i]);
	dropped->n = 0;
}

/* The rest of them. An item that a run takes meanwhile is not dropped. */
static void drop_rest(struct weir_flow_queue *queue)
{
	struct weir__dropped dropped = {.n = 0};

	do {
		drop_them(queue, &dropped);
		weir__lock(&queue->lock);
		if (!queue->gone)
			weir__bounded_spill(&queue->bounded, queue->slots,
					    &dropped);
		weir__unlock(&queue->lock);
	} while (dropped.n > 0);
}

/* Under the lock. */
static int offer(struct weir_flow_queue *queue, void *item,
		 struct weir__dropped *dropped, struct weir__op **op)
{
	int rc;

	if (queue->closed || queue->gone)
		return -EPIPE;
	rc = weir__bounded_offer(&queue->bounded, queue->slots, item, dropped);
	if (rc >= 0) {
		*op = take_waiter(queue);
	} else if (rc == -EOVERFLOW) {
		queue->closed = queue->overflowed = true;
		*op = take_run(queue);
	}
	assert(is_consistent(queue));
	return rc;
}

int weir_flow_queue_offer(struct weir_flow_queue *queue, void *item)
{
	struct weir__op *op = NULL;
	struct weir__dropped dropped;
	bool more;
	int rc;

	if (!queue)
		return -EINVAL;
	dropped.n = 0;
	weir__lock(&queue->lock);
	rc = offer(queue, item, &dropped, &op);
	more = rc > 0 && queue->bounded.n_doomed > 0;
	weir__unlock(&queue->lock);
	drop_them(queue, &dropped);
	if (more)
		drop_rest(queue);
	wake(op);
	return rc;
}

int weir_flow_queue_end(struct weir_flow_queue *queue, struct weir_error *error)
{
	struct weir__op *op = NULL;
	int rc = 0;

	if (!queue)
		return -EINVAL;
	weir__lock(&queue->lock);
	if (queue->closed) {
		rc = -EALREADY;
	} else {
		queue->closed = true;
		queue->error = weir_error_ref(error);
		op = take_run(queue);
	}
	weir__unlock(&queue->lock);
	wake(op);
	return rc;
}

/* --- The source ----------------------------------------------------------- */

static struct weir_flow_queue *queue_of(const struct weir_flow *flow)
{
	return *(struct weir_flow_queue *const *)(const void *)flow->args;
}

static const struct weir_items *queue_items(const struct weir_flow *flow)
{
	return queue_of(flow)->items;
}

/* Takes items; *over: no more will come. */
static size_t queue_take(struct weir__op *op, void **items, size_t room,
			 bool *over)
{
	struct weir_flow_queue *queue = queue_of(op->flow);
	size_t n;

	weir__lock(&queue->lock);
	n = weir__bounded_take(&queue->bounded, queue->slots, items, room);
	*over = queue->closed && is_empty(queue);
	if (!queue->op) {
		weir__op_hold(op);
		queue->op = op;
	}
	queue->waits = is_empty(queue) && n == 0 && !*over;
	assert(is_consistent(queue));
	weir__unlock(&queue->lock);
	return n;
}

static size_t queue_pull(struct weir__op *op, void **items, size_t room)
{
	const struct weir_flow_queue *queue = queue_of(op->flow);
	bool over;
	size_t n = queue_take(op, items, room, &over);

	/* a queue that is closed does not change any more */
	if (over && queue->overflowed)
		weir__op_fail(op, -EOVERFLOW, "the queue is full");
	else if (over)
		weir__op_end(op, queue->error);
	return n;
}

static size_t queue_drain(struct weir__op *op, void **items, size_t room)
{
	/* -EALREADY: it was closed before */
	(void)weir_flow_queue_end(queue_of(op->flow), NULL);
	return queue_pull(op, items, room);
}

/* The run takes no more items. */
static void queue_close(struct weir__op *op)
{
	struct weir_flow_queue *queue = queue_of(op->flow);
	struct weir__op *held;

	if (!weir__op_begun(op))
		return;
	weir__lock(&queue->lock);
	/* the queue has one run: see queue_claim() */
	assert(!queue->gone);
	queue->gone = true;
	held = queue->op;
	queue->op = NULL;
	queue->waits = false;
	assert(is_consistent(queue));
	weir__unlock(&queue->lock);
	/* no items are queued from now on: those left are ours */
	drop_all(queue);
	if (held)
		weir__op_unhold(held);
}

static void queue_flow_free(struct weir_flow *flow)
{
	queue_unref(queue_of(flow));
}

static int queue_claim(struct weir_flow *flow)
{
	return ck_pr_fas_32(&queue_of(flow)->claimed, 1) ? -EALREADY : 0;
}

static void queue_unclaim(struct weir_flow *flow)
{
	ck_pr_store_32(&queue_of(flow)->claimed, 0);
}

static const struct weir__kind queue_kind = {
	.name = "from_queue",
	.items = queue_items,
	.pull = queue_pull,
	.close = queue_close,
	.free = queue_flow_free,
	.claim = queue_claim,
	.unclaim = queue_unclaim,
	.source = true,
	.drain = queue_drain,
	.holds = true,
	.awaits = WEIR_WAIT_INPUT,
};

struct weir_flow *weir_flow_from_queue(struct weir_flow_queue *queue)
{
	struct weir_flow *flow =
		weir__flow_source(&queue_kind, &queue, sizeof(queue), queue);

	if (weir__flow_check(flow, NULL, NULL) == 0)
		weir__ref(&queue->refs);
	return flow;
}
