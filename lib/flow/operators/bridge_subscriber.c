/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source that subscribes to a publisher. Items come through a ring with one
 * producer and one consumer. The producer is the publisher, whose signals come
 * one after another (1.3). The consumer is the operator; only it requests and
 * cancels (2.7).
 *
 * - taken <= received <= requested <= taken + capacity. So the ring cannot be
 *   full; a publisher that sends more than was requested gets an error.
 * - The operator waits by rule 2 of the firing protocol: it sets `waits`, then
 *   looks again. The publisher publishes an item, then looks at `waits`, and
 *   wakes the operator.
 * - The last signal always wakes the operator: an operator that has got all
 *   items it asked for may never look again by itself, because downstream asks
 *   for no more (1.4, 1.5).
 *
 * In front of weir_flow_limit_rate() the operator requests exactly the items
 * that it is granted.
 *
 * The feed outlives the close of the operator, until the publisher releases the
 * subscriber. Until then it holds the operator.
 */
#include <weir/flow_bridge.h>

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "base/fence.h"
#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "inspect/trace.h"
#include "stream/reactive.h"

#define PREFETCH 16u

struct from {
	struct weir_publisher *publisher;
	size_t prefetch, refill;
};

/* feed->over, atomic; the publisher's, OPEN -> one of the others. */
enum {
	OPEN,
	ENDED,	/* by the last signal */
	REFUSED /* by us, so we cancel it */
};

struct feed {
	struct weir_subscriber subscriber;
	struct weir__op *op;
	struct weir_publisher *publisher;
	const struct weir_items *items; /* what the flow says they are */
	size_t size;
	uint32_t mask; /* of the ring */
	/* atomic: NULL -> a subscription, by the publisher; -> gone, by the
	 * operator */
	struct weir_subscription *subscription;

	/* The operator's; the first two are read by the publisher. */
	_Alignas(WEIR__LINE) int64_t requested; /* atomic */
	uint32_t waits;				/* atomic */
	uint32_t head;
	int64_t prefetch, refill;
	int64_t outstanding; /* requested and not taken */
	int64_t granted;     /* and not requested */
	bool subscribed;

	/* The publisher's; the first three are read by the operator. */
	_Alignas(WEIR__LINE) uint32_t tail; /* atomic */
	uint32_t over;			    /* atomic */
	struct weir_error *error;	    /* before `over` */
	const struct weir_items *sent;	    /* what the subscription says */
	int64_t received;

	void *slots[];
};

/* In feed->subscription: the operator takes no more items. */
static struct weir_subscription gone;

static struct weir_error mismatch = {
	.code = -EINVAL,
	.origin = "weir",
	.message = "the publisher's items are not those that the flow says",
};

static struct feed *feed_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct feed, subscriber);
}

static void feed_drop(const struct feed *feed, void *item)
{
	const struct weir_items *items = feed->sent ? feed->sent : feed->items;

	if (items && items->drop)
		items->drop(item, items->context);
}

/* --- The publisher's side ------------------------------------------------- */

/* Called after a swap has published something: rule 2. */
static void notify(struct feed *feed)
{
	/* swap -> load; pairs with the fence in must_wait() */
	ck_pr_fence_atomic_load();
	if (ck_pr_load_32(&feed->waits) && ck_pr_fas_32(&feed->waits, 0))
		weir__op_wake(feed->op);
}

/* The first end counts. */
static void feed_end(struct feed *feed, uint32_t how, struct weir_error *error)
{
	if (feed->over)
		return;
	feed->error = weir_error_ref(error);
	/* release: the error; pairs with the acquire in count() */
	ck_pr_fence_release();
	(void)ck_pr_fas_32(&feed->over, how);
	weir__op_wake(feed->op);
}

static bool same_items(const struct weir_items *a, const struct weir_items *b)
{
	return a == b || (a && b && a->drop == b->drop &&
			  a->share == b->share && a->context == b->context);
}

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	struct feed *feed;

	if (!subscription)
		return -EINVAL;
	feed = feed_of(subscriber);
	weir_subscription_ref(subscription);
	/* release: the subscription; pairs with the acquire in feed_look() */
	ck_pr_fence_release();
	if (!ck_pr_cas_ptr(&feed->subscription, NULL, subscription)) {
		weir_subscription_cancel(subscription); /* 2.5, or too late */
		weir_subscription_unref(subscription);
		return 0;
	}
	feed->sent = subscription->items;
	if (feed->sent && !same_items(feed->sent, feed->items))
		feed_end(feed, REFUSED, &mismatch);
	else
		notify(feed);
	return 0;
}

/* The number of items requested and not received. */
static int64_t expected(const struct feed *feed)
{
	int64_t requested =
		(int64_t)ck_pr_load_64((const uint64_t *)&feed->requested);

	/* acquire: the slots are free; pairs with the release in feed_ask() */
	ck_pr_fence_acquire();
	return requested - feed->received;
}

static bool is_late(const struct feed *feed)
{
	/* relaxed: late is late */
	return feed->over || ck_pr_load_ptr(&feed->subscription) == &gone;
}

/* Puts `n` items, no more than are expected. */
static void put(struct feed *feed, void *const *items, uint32_t n)
{
	uint32_t tail = feed->tail, i;

	for (i = 0; i < n; i++)
		feed->slots[(tail + i) & feed->mask] = items[i];
	feed->received += n;
	/* release: the items; pairs with the acquire in count() */
	ck_pr_fence_release();
	(void)ck_pr_fas_32(&feed->tail, tail + n);
	notify(feed);
}

static int on_next(struct weir_subscriber *subscriber, void *item)
{
	struct feed *feed = feed_of(subscriber);

	if (!item)
		return -EINVAL;
	if (is_late(feed)) { /* 2.8 */
		feed_drop(feed, item);
	} else if (expected(feed) > 0) {
		put(feed, &item, 1);
	} else {
		feed_end(feed, REFUSED, &weir__overflow);
		return -EOVERFLOW;
	}
	return 0;
}

static int on_next_n(struct weir_subscriber *subscriber, void *const *items,
		     size_t n, size_t *taken)
{
	struct feed *feed;
	uint32_t good;
	int64_t left;
	int rc = 0;

	if (!items || !taken)
		return -EINVAL;
	feed = feed_of(subscriber);
	left = expected(feed);
	good = weir__items_to_null(
		items, (uint32_t)((int64_t)n < left ? (int64_t)n : left));
	if (good && !is_late(feed)) {
		put(feed, items, good);
		*taken = good;
	}
	/* the items left are late, too many, or null */
	while (*taken < n && (rc = on_next(subscriber, items[*taken])) == 0)
		++*taken;
	return rc;
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	if (!error)
		return -EINVAL;
	feed_end(feed_of(subscriber), ENDED, error);
	return 0;
}

static int on_complete(struct weir_subscriber *subscriber)
{
	feed_end(feed_of(subscriber), ENDED, NULL);
	return 0;
}

/* --- The operator's side -------------------------------------------------- */

/* Items in the ring. */
static uint32_t count(const struct feed *feed)
{
	uint32_t tail = ck_pr_load_32(&feed->tail);

	/* acquire: the items; pairs with the release in put() */
	ck_pr_fence_acquire();
	return tail - feed->head;
}

/* relaxed: code that then reads items or the error has called count() */
static uint32_t is_over(const struct feed *feed)
{
	return ck_pr_load_32(&feed->over);
}

static struct weir_subscription *feed_look(const struct feed *feed)
{
	struct weir_subscription *subscription =
		ck_pr_load_ptr(&feed->subscription);

	/* acquire: the subscription; pairs with the release in
	 * on_subscribe() */
	ck_pr_fence_acquire();
	return subscription;
}

/* Items requested, and items that may be requested now, have places in the
 * ring. */
static __attribute__((unused)) bool is_consistent(const struct feed *feed)
{
	return feed->outstanding >= 0 && feed->granted >= 0 &&
	       feed->outstanding + feed->granted <= (int64_t)feed->mask + 1;
}

static size_t feed_take(struct feed *feed, void **items, size_t room)
{
	uint32_t n = count(feed), i;

	assert(n <= feed->outstanding);
	if (n > room)
		n = (uint32_t)room;
	for (i = 0; i < n; i++)
		items[i] = feed->slots[(feed->head + i) & feed->mask];
	feed->head += n;
	feed->outstanding -= n;
	assert(is_consistent(feed));
	return n;
}

/* How many items to request now: none, as long as there is no room for a
 * refill. */
static int64_t wanted(const struct feed *feed)
{
	int64_t room = feed->prefetch - feed->outstanding;

	if (feed->op->credit)
		return feed->granted;
	return room >= feed->refill ? room : 0;
}

/* True: there are items to request, and a subscription to request them from. */
static bool can_ask(const struct feed *feed)
{
	return wanted(feed) > 0 && feed_look(feed) && !is_over(feed);
}

/* May send signals before it returns. */
static void feed_ask(struct feed *feed)
{
	int64_t n = wanted(feed);
	struct weir_actor *self;

	if (!can_ask(feed))
		return;
	feed->outstanding += n;
	feed->granted = 0;
	assert(is_consistent(feed));
	/* release: slots were read; pairs with the acquire in expected() */
	ck_pr_fence_release();
	ck_pr_store_64((uint64_t *)&feed->requested,
		       (uint64_t)(feed->requested + n));
	self = weir__step_out();
	if (self)
		weir__trace_request(self, n);
	weir_subscription_request(feed_look(feed), n);
	weir__step_in(self);
}

/* False: the operator must look again. True: there is nothing to do until it is
 * woken. */
static bool must_wait(struct feed *feed, size_t room)
{
	if (count(feed) > 0)
		return room == 0;
	ck_pr_store_32(&feed->waits, 1);
	/* store -> load, rule 2; pairs with the fence in notify() */
	weir__fence_full();
	if (count(feed) == 0 && !is_over(feed) && !can_ask(feed))
		return true;
	ck_pr_store_32(&feed->waits, 0);
	return false;
}

static struct feed *state_of(struct weir__op *op)
{
	return *(struct feed **)weir__op_state(op);
}

static bool subscribe(struct weir__op *op, struct feed *feed)
{
	struct weir_actor *self;
	int rc;

	assert(!feed->subscribed);
	feed->subscribed = true;
	weir__op_hold(op);
	weir_subscriber_ref(&feed->subscriber);
	self = weir__step_out();
	rc = weir_publisher_subscribe(feed->publisher, &feed->subscriber);
	weir__step_in(self);
	if (rc < 0)
		weir__op_fail_code(op, rc, "the publisher takes no subscriber");
	return rc == 0;
}

/* Ends as the publisher has. If we have refused the publisher, the error begins
 * here. */
static void end_as(struct weir__op *op, const struct feed *feed, uint32_t over)
{
	if (over == REFUSED)
		weir__op_fail(op, feed->error->code, feed->error->message);
	else
		weir__op_end(op, over ? feed->error : NULL);
}

static size_t from_pull(struct weir__op *op, void **items, size_t room)
{
	struct feed *feed = state_of(op);
	uint32_t over;
	size_t n;

	if (!feed->subscribed && !subscribe(op, feed))
		return 0;
	do {
		/* read first: if it is over, all items have come */
		over = is_over(feed);
		n = feed_take(feed, items, room);
		if (over && count(feed) == 0) {
			end_as(op, feed, over);
			return n;
		}
		feed_ask(feed);
	} while (n == 0 && !must_wait(feed, room));
	return n;
}

/* A drain: takes the items that have come, and requests no more. */
static size_t from_drain(struct weir__op *op, void **items, size_t room)
{
	struct feed *feed = state_of(op);
	uint32_t over = is_over(feed);
	size_t n = feed_take(feed, items, room);

	if (count(feed) == 0)
		end_as(op, feed, over);
	else if (n == 0 && room > 0) /* items have come since: rule 2 of
				      * flow.h */
		weir__op_again(op);
	return n;
}

static void from_grant(struct weir__op *op, uint32_t n)
{
	assert(op->credit && n > 0);
	state_of(op)->granted += n;
	assert(is_consistent(state_of(op)));
}

/* --- Its life ------------------------------------------------------------- */

static void feed_free(struct feed *feed)
{
	void *item;

	while (feed_take(feed, &item, 1))
		feed_drop(feed, item);
	weir_error_unref(feed->error);
	weir__free_lines(weir__op_allocator(feed->op), feed, feed->size);
}

/* Neither the publisher nor the operator has it any more. */
static void feed_released(struct weir_subscriber *subscriber)
{
	struct weir__op *op = feed_of(subscriber)->op;

	feed_free(feed_of(subscriber));
	weir__op_unhold(op);
}

static const struct weir_subscriber_ops subscriber_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_next_n = on_next_n,
	.on_error = on_error,
	.on_complete = on_complete,
	.released = feed_released,
};

static int from_open(struct weir__op *op)
{
	const struct from *args = weir__op_args(op);
	size_t most = op->credit ? op->credit : args->prefetch;
	size_t capacity = 1, size;
	struct feed *feed;

	while (capacity < most)
		capacity *= 2;
	size = sizeof(*feed) + capacity * sizeof(void *);
	feed = weir__alloc_lines(weir__op_allocator(op), size);
	if (!feed)
		return -ENOMEM;
	(void)weir_subscriber_init(&feed->subscriber, &subscriber_ops);
	feed->op = op;
	feed->publisher = args->publisher;
	feed->items = op->items;
	feed->size = size;
	feed->mask = (uint32_t)capacity - 1;
	feed->prefetch = (int64_t)args->prefetch;
	feed->refill = (int64_t)args->refill;
	*(struct feed **)weir__op_state(op) = feed;
	return 0;
}

static void from_close(struct weir__op *op)
{
	struct feed *feed = state_of(op);
	struct weir_subscription *subscription;
	struct weir_actor *self;
	void *item;

	if (!feed->subscribed) {
		feed_free(feed);
		return;
	}
	subscription = ck_pr_fas_ptr(&feed->subscription, &gone);
	/* acquire: as in feed_look() */
	ck_pr_fence_acquire();
	while (feed_take(feed, &item, 1))
		feed_drop(feed, item);
	self = weir__step_out();
	/* 2.3: not after the last signal */
	if (subscription && is_over(feed) != ENDED)
		weir_subscription_cancel(subscription);
	weir_subscription_unref(subscription);
	weir_subscriber_unref(&feed->subscriber);
	weir__step_in(self);
}

static const struct weir__kind from_kind = {
	.name = "from_publisher",
	.state_size = sizeof(struct feed *),
	.open = from_open,
	.pull = from_pull,
	.close = from_close,
	.grant = from_grant,
	.source = true,
	.drain = from_drain,
	.holds = true,
};

struct weir_flow *weir_flow_from_publisher(struct weir_publisher *publisher,
					   size_t prefetch, size_t refill)
{
	struct from args = {publisher, prefetch ? prefetch : PREFETCH, refill};
	bool valid = publisher && args.prefetch <= WEIR_CAPACITY_MAX &&
		     refill <= args.prefetch;
	struct weir_flow *flow;

	if (!refill)
		args.refill = (args.prefetch + 1) / 2;
	flow = weir__flow_source(&from_kind, &args, sizeof(args), valid);
	if (!publisher)
		return weir__flow_wrong_as(flow, &from_kind,
					   "publisher is NULL");
	flow = weir__flow_wrong_size(flow, &from_kind, "prefetch",
				     args.prefetch);
	return weir__flow_wrong(flow, &from_kind,
				"refill %zu is above prefetch %zu", refill,
				args.prefetch);
}
