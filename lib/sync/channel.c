/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channels: a deque of n items and two queues of waiters under one short lock.
 *
 * A thread that changes the channel serves the queues before it drops the lock.
 * So outside of the lock, with
 *
 *	items = n - reserved_items	room = capacity - n - reserved_room
 *
 * these hold:
 *
 * - the first of `takers` wants more than `items`, and the first of `putters`
 *   more than `room`;
 * - if the channel has ended there are no putters, and takers only while n is
 *   above 0 (the items are reserved for ports, and may come back);
 * - likewise for waiters that wait for the end alone.
 *
 * A request of a thread or a callback moves its item when it is granted, by the
 * granting thread, so items and requests stay in order. A port is granted a
 * reservation and moves items in its turns. Every call linearises while it
 * holds the lock; a waiter that was granted something is woken after that.
 */
#include "sync/channel.h"

#include <errno.h>

#include <weir/in.h>

#include "sync/wake.h"
#include "base/deque.h"
#include "base/lock.h"
#include "base/memory.h"

static size_t size_of(size_t capacity)
{
	return sizeof(struct weir_channel) + capacity * sizeof(void *);
}

int weir_channel_new(struct weir_channel **channel, size_t capacity,
		     const struct weir_items *items,
		     const struct weir_allocator *allocator)
{
	struct weir_channel *self;

	if (!channel)
		return -EINVAL;
	*channel = NULL;
	if (!capacity || capacity > WEIR_CAPACITY_MAX)
		return -EINVAL;
	if (!allocator)
		allocator = weir_allocator_default();
	self = weir__alloc_lines(allocator, size_of(capacity));
	if (!self)
		return -ENOMEM;
	self->deque.capacity = capacity;
	self->items = items;
	self->allocator = allocator;
	*channel = self;
	return 0;
}

/* --- Under the lock ----------------------------------------------------- */

static size_t *reserved(struct weir_channel *self, enum weir__side side)
{
	return side == WEIR__TAKE ? &self->reserved_items
				  : &self->reserved_room;
}

static size_t available(const struct weir_channel *self, enum weir__side side)
{
	if (side == WEIR__TAKE)
		return self->deque.n - self->reserved_items;
	return weir__deque_room(&self->deque) - self->reserved_room;
}

static void push(struct weir_channel *self, void *item)
{
	self->slots[weir__deque_push(&self->deque)] = item;
}

static void *pop(struct weir_channel *self)
{
	return self->slots[weir__deque_pop(&self->deque)];
}

/* Grants a claim what it wants; the caller has checked that it is there. */
static void admit(struct weir_channel *self, enum weir__side side,
		  struct weir__claim *claim)
{
	claim->status = 0;
	if (claim->item && side == WEIR__TAKE)
		*claim->item = pop(self);
	else if (claim->item)
		push(self, *claim->item);
	else
		*reserved(self, side) += (size_t)claim->n;
}

/* No claim of this side will ever be granted again. */
static bool over(const struct weir_channel *self, enum weir__side side)
{
	return self->ended && (side == WEIR__PUT || !self->deque.n);
}

/* Without waiting: 0, -EAGAIN, or -EPIPE. */
static int try_claim(struct weir_channel *self, enum weir__side side,
		     struct weir__claim *claim)
{
	if (over(self, side))
		return -EPIPE;
	if (self->waiters[side].head ||
	    available(self, side) < (size_t)claim->n)
		return -EAGAIN;
	admit(self, side, claim);
	return 0;
}

/*
 * Serves the first of a queue. False: the queue is empty, or its first must go
 * on waiting.
 */
static bool serve_first(struct weir_channel *self, enum weir__side side,
			struct weir__fifo *granted)
{
	struct weir__waiters *waiters = &self->waiters[side];
	struct weir__claim *claim;
	size_t there = available(self, side);

	if (!waiters->head)
		return false;
	claim = weir_container_of(waiters->head, struct weir__claim, waiter);
	if (over(self, side)) {
		claim->status = -EPIPE;
	} else {
		/* before the end, the rest of a burst is all there will be */
		if (self->ended && there && there < (size_t)claim->n)
			claim->n = (int64_t)there;
		if (there < (size_t)claim->n)
			return false;
		admit(self, side, claim);
	}
	weir__granted_push(granted, weir__waiters_pop(waiters));
	return true;
}

static void serve(struct weir_channel *self, struct weir__fifo *granted)
{
	while (serve_first(self, WEIR__TAKE, granted) ||
	       serve_first(self, WEIR__PUT, granted))
		;
	while (over(self, WEIR__TAKE) && self->enders.head)
		weir__granted_push(granted, weir__waiters_pop(&self->enders));
}

/* --- Calls -------------------------------------------------------------- */

int weir__channel_claim(struct weir_channel *self, enum weir__side side,
			struct weir__claim *claim, bool queue)
{
	struct weir__fifo granted = {0};
	int rc;

	weir__lock(&self->lock);
	rc = try_claim(self, side, claim);
	if (rc == -EAGAIN && queue)
		weir__waiters_push(&self->waiters[side], &claim->waiter);
	if (rc == 0 || queue)
		serve(self, &granted);
	weir__unlock(&self->lock);
	weir__wake(&granted);
	return rc;
}

bool weir__channel_cancel(struct weir_channel *self, enum weir__side side,
			  struct weir__claim *claim)
{
	struct weir__fifo granted = {0};
	bool removed;

	weir__lock(&self->lock);
	removed = weir__waiters_remove(&self->waiters[side], &claim->waiter);
	if (removed)
		serve(self, &granted);
	weir__unlock(&self->lock);
	weir__wake(&granted);
	return removed;
}

void weir__channel_return(struct weir_channel *self, enum weir__side side,
			  size_t n)
{
	struct weir__fifo granted = {0};

	weir__lock(&self->lock);
	*reserved(self, side) -= n;
	serve(self, &granted);
	weir__unlock(&self->lock);
	weir__wake(&granted);
}

int weir__channel_move(struct weir_channel *self, enum weir__side side,
		       void **item)
{
	struct weir__fifo granted = {0};
	int rc = 0;

	weir__lock(&self->lock);
	--*reserved(self, side);
	if (side == WEIR__TAKE)
		*item = pop(self);
	else if (self->ended)
		rc = -EPIPE;
	else
		push(self, *item);
	serve(self, &granted);
	weir__unlock(&self->lock);
	weir__wake(&granted);
	return rc;
}

int weir__channel_await_end(struct weir_channel *self,
			    struct weir__waiter *waiter)
{
	int rc = 0;

	weir__lock(&self->lock);
	if (over(self, WEIR__TAKE))
		rc = -EPIPE;
	else
		weir__waiters_push(&self->enders, waiter);
	weir__unlock(&self->lock);
	return rc;
}

bool weir__channel_forget_end(struct weir_channel *self,
			      struct weir__waiter *waiter)
{
	bool removed;

	weir__lock(&self->lock);
	removed = weir__waiters_remove(&self->enders, waiter);
	weir__unlock(&self->lock);
	return removed;
}

void weir__channel_look(struct weir_channel *self,
			struct weir_seen_object *seen)
{
	const struct weir__waiters *waiters = self->waiters;

	*seen = (struct weir_seen_object){
		.object = self,
		.wait = WEIR_WAIT_CHANNEL,
		.capacity = self->deque.capacity,
	};
	weir__lock(&self->lock);
	seen->takers =
		weir__waiters_count(&waiters[WEIR__TAKE], WEIR_INSPECT_WAITERS);
	seen->putters =
		weir__waiters_count(&waiters[WEIR__PUT], WEIR_INSPECT_WAITERS);
	seen->fill = (int64_t)self->deque.n;
	seen->ended = self->ended;
	weir__unlock(&self->lock);
}

size_t weir__channel_capacity(const struct weir_channel *self)
{
	return self->deque.capacity;
}

const struct weir_items *weir__channel_items(const struct weir_channel *self)
{
	return self->items;
}

static int try_item(struct weir_channel *self, enum weir__side side,
		    void **item)
{
	struct weir__claim claim = {.n = 1, .item = item};

	return self && item ? weir__channel_claim(self, side, &claim, false)
			    : -EINVAL;
}

static int wait_item(struct weir_channel *self, enum weir__side side,
		     void **item, uint64_t timeout_ns)
{
	struct weir__parked_claim parked;
	int rc = self && item ? weir__wake_wait_allowed() : -EINVAL;

	if (rc < 0)
		return rc;
	weir__parked_claim_init(&parked);
	parked.claim.n = 1;
	parked.claim.item = item;
	rc = weir__channel_claim(self, side, &parked.claim, true);
	if (rc != -EAGAIN)
		return rc;
	rc = weir__wait(&parked.parked, timeout_ns);
	if (rc < 0 && weir__channel_cancel(self, side, &parked.claim))
		return rc;
	if (rc < 0)
		weir__parked_settle(&parked.parked);
	return parked.claim.status;
}

int weir_channel_try_put(struct weir_channel *self, void *item)
{
	return try_item(self, WEIR__PUT, &item);
}

int weir_channel_try_take(struct weir_channel *self, void **item)
{
	return try_item(self, WEIR__TAKE, item);
}

int weir_channel_put_wait(struct weir_channel *self, void *item,
			  uint64_t timeout_ns)
{
	return wait_item(self, WEIR__PUT, &item, timeout_ns);
}

int weir_channel_take_wait(struct weir_channel *self, void **item,
			   uint64_t timeout_ns)
{
	return wait_item(self, WEIR__TAKE, item, timeout_ns);
}

/* A request; `wake` calls its `done`. */
static int ask_item(struct weir_channel *self, enum weir__side side,
		    void **item, struct weir__claim *claim,
		    void (*wake)(struct weir__waiter *waiter))
{
	int rc;

	*claim = (struct weir__claim){
		.waiter.wake = wake,
		.n = 1,
		.item = item,
	};
	rc = weir__channel_claim(self, side, claim, true);
	if (rc == 0)
		weir__wake_one(&claim->waiter);
	return rc == -EAGAIN ? 0 : rc;
}

static void put_wake(struct weir__waiter *waiter)
{
	struct weir_put *put =
		weir_container_of(waiter, struct weir_put, claim.waiter);

	put->done(put, put->claim.status);
}

int weir_channel_put_async(struct weir_channel *self, struct weir_put *put)
{
	if (!self || !put || !put->done)
		return -EINVAL;
	return ask_item(self, WEIR__PUT, &put->item, &put->claim, put_wake);
}

bool weir_channel_cancel_put(struct weir_channel *self, struct weir_put *put)
{
	return self && put &&
	       weir__channel_cancel(self, WEIR__PUT, &put->claim);
}

static void take_wake(struct weir__waiter *waiter)
{
	struct weir_take *take =
		weir_container_of(waiter, struct weir_take, claim.waiter);

	take->done(take, take->claim.status);
}

int weir_channel_take_async(struct weir_channel *self, struct weir_take *take)
{
	if (!self || !take || !take->done)
		return -EINVAL;
	return ask_item(self, WEIR__TAKE, &take->item, &take->claim, take_wake);
}

bool weir_channel_cancel_take(struct weir_channel *self, struct weir_take *take)
{
	return self && take &&
	       weir__channel_cancel(self, WEIR__TAKE, &take->claim);
}

int weir_channel_end(struct weir_channel *self, struct weir_error *error)
{
	struct weir__fifo granted = {0};
	bool first;

	if (!self)
		return -EINVAL;
	weir__lock(&self->lock);
	first = !self->ended;
	if (first) {
		self->ended = true;
		self->error = weir_error_ref(error);
		serve(self, &granted);
	}
	weir__unlock(&self->lock);
	weir__wake(&granted);
	return first ? 0 : -EALREADY;
}

struct weir_error *weir_channel_error(struct weir_channel *self)
{
	struct weir_error *error;

	if (!self)
		return NULL;
	weir__lock(&self->lock);
	error = self->error;
	weir__unlock(&self->lock);
	return error;
}

size_t weir_channel_count(struct weir_channel *self)
{
	size_t count;

	if (!self)
		return 0;
	weir__lock(&self->lock);
	count = self->deque.n;
	weir__unlock(&self->lock);
	return count;
}

int weir_channel_free(struct weir_channel *self)
{
	bool busy;

	if (!self)
		return 0;
	/* behind the thread that ended the channel: its unlock is its last
	 * touch */
	weir__lock(&self->lock);
	busy = self->waiters[WEIR__PUT].head ||
	       self->waiters[WEIR__TAKE].head || self->enders.head ||
	       self->reserved_items || self->reserved_room;
	weir__unlock(&self->lock);
	if (busy)
		return -EBUSY;
	while (self->deque.n) {
		void *item = pop(self);

		if (self->items && self->items->drop)
			self->items->drop(item, self->items->context);
	}
	weir_error_unref(self->error);
	weir__free_lines(self->allocator, self, size_of(self->deque.capacity));
	return 0;
}
