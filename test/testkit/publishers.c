/* SPDX-License-Identifier: BSD-2-Clause */
#include "testkit/publishers.h"

/* --- The server ----------------------------------------------------------- */

static void *ranges_main(void *context)
{
	struct ranges *ranges = context;
	struct range *range;

	pthread_mutex_lock(&ranges->lock);
	while (!ranges->stop || ranges->queue) {
		range = ranges->queue;
		if (!range) {
			pthread_cond_wait(&ranges->changed, &ranges->lock);
			continue;
		}
		ranges->queue = range->queued;
		ranges->busy = true;
		pthread_mutex_unlock(&ranges->lock);
		range_work(range);
		weir_subscription_unref(&range->subscription);
		pthread_mutex_lock(&ranges->lock);
		ranges->busy = false;
		pthread_cond_broadcast(&ranges->changed);
	}
	pthread_mutex_unlock(&ranges->lock);
	return NULL;
}

static int ranges_settle(void *context)
{
	struct ranges *ranges = context;

	pthread_mutex_lock(&ranges->lock);
	while (ranges->queue || ranges->busy)
		pthread_cond_wait(&ranges->changed, &ranges->lock);
	pthread_mutex_unlock(&ranges->lock);
	return 0;
}

static void ranges_serve(struct ranges *ranges, struct range *range)
{
	weir_subscription_ref(&range->subscription);
	pthread_mutex_lock(&ranges->lock);
	range->queued = ranges->queue;
	ranges->queue = range;
	pthread_cond_broadcast(&ranges->changed);
	pthread_mutex_unlock(&ranges->lock);
}

/* --- The subscription ----------------------------------------------------- */

/* Whether a request is answered at once by one who is at work already. */
static bool range_recurses(const struct range *range)
{
	if (!range_is(range, RECURSES) && !range_is(range, RECURSES_LATER) &&
	    !range_is(range, SENDS_INSIDE_ON_SUBSCRIBE))
		return false;
	if (!ck_pr_load_32(&range->work) ||
	    !pthread_equal(range->worker, pthread_self()))
		return false;
	return range_is(range, RECURSES) ||
	       (range_is(range, RECURSES_LATER) && range->next >= 3) ||
	       (range_is(range, SENDS_INSIDE_ON_SUBSCRIBE) &&
		!range->subscribed);
}

/* Something has changed: somebody has to be at work. */
static void range_wake(struct range *range)
{
	if (range_recurses(range)) {
		range->subscribed = true;
		range_drain(range);
		return;
	}
	/* release: what has changed; pairs with the acquire in range_work() */
	ck_pr_fence_release();
	if (ck_pr_faa_32(&range->work, 1) != 0)
		return;
	if (range->ranges->served)
		ranges_serve(range->ranges, range);
	else
		range_work(range);
}

static struct range *range_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct range, subscription);
}

/*
 * Until another thread is here too, so that one of the two is lost; not each
 * time, in tests that have no other.
 */
static void range_wait_for_another(struct range *range)
{
	uint32_t i;

	if (ck_pr_faa_32(&range->waits, 1) >= 3)
		return;
	ck_pr_inc_32(&range->granting);
	for (i = 0; i < 10000 && ck_pr_load_32(&range->granting) < 2; i++)
		sched_yield();
	if (i == 10000)
		ck_pr_dec_32(&range->granting);
}

static void range_grant(struct range *range, int64_t n)
{
	uint64_t *granted = (uint64_t *)&range->granted;
	uint64_t sum = ck_pr_load_64(granted) + (uint64_t)n;

	if (range_is(range, REPLACES_DEMAND)) {
		ck_pr_store_64(granted, (uint64_t)range->next + (uint64_t)n);
	} else if (range_is(range, WRAPS_DEMAND)) {
		ck_pr_store_64(granted, sum);
	} else if (range_is(range, LOSES_REQUESTS)) {
		range_wait_for_another(range);
		ck_pr_store_64(granted, sum);
	} else if (range_is(range, GREATEST_FAILS) && sum > INT64_MAX) {
		ck_pr_store_32(&range->refused, 1);
	} else if (range_is(range, SHARES_DEMAND) && range->subscriber) {
		weir__demand_add(&range->publisher->granted, n);
	} else {
		weir__demand_add(&range->granted, n);
	}
}

/* Without any order among those who do. */
static void range_send_at_once(struct range *range, int64_t n)
{
	struct weir_subscriber *subscriber = range->subscriber;
	struct ranges_item *item;
	int64_t i;

	for (; n > 0 && subscriber; n--) {
		i = (int64_t)ck_pr_faa_64((uint64_t *)&range->next, 1);
		if (i >= range->n)
			return;
		item = range_item(range, i);
		if (subscriber->ops->on_next(subscriber, item) != 0)
			ranges_item_drop(item, NULL);
	}
}

/* Of one whose stream is over: mistakes alone do anything then. */
static void range_request_late(struct range *range, int64_t n)
{
	struct weir_subscriber *subscriber = range->ranges->kept;
	struct ranges_item *item;

	if (!subscriber)
		return;
	if (n <= 0 && (range_is(range, REFUSES_AFTER_END) ||
		       range_is(range, REFUSES_AFTER_CANCEL)))
		subscriber->ops->on_error(subscriber, weir_error_of(-EINVAL));
	if (n > 0 && (range_is(range, SENDS_AFTER_COMPLETE) ||
		      range_is(range, SENDS_AFTER_FAILURE) ||
		      range_is(range, SENDS_AFTER_REFUSAL) ||
		      range_is(range, REQUEST_REVIVES))) {
		item = range_item(range, 0);
		if (subscriber->ops->on_next(subscriber, item) != 0)
			ranges_item_drop(item, NULL);
	}
}

/* Waits until no signal is handled by another thread. */
static void range_lock_out(struct range *range)
{
	pthread_mutex_lock(&range->locked);
	pthread_mutex_unlock(&range->locked);
}

/*
 * Long enough to be a sleep: one of a microsecond may be over before the thread
 * has gone to sleep, where another one takes the processor just then.
 */
static void range_sleep(void)
{
	const struct timespec time = {.tv_nsec = 1000 * 1000};

	nanosleep(&time, NULL);
}

static void range_request(struct weir_subscription *subscription, int64_t n)
{
	struct range *range = range_of(subscription);

	if (range_is(range, REQUEST_SLEEPS))
		range_sleep();
	if (range_is(range, REQUEST_LOCKED_OUT))
		range_lock_out(range);
	range_request_late(range, n);
	if (range_is(range, SENDS_AT_ONCE)) {
		range_send_at_once(range, n);
	} else if (n > 0) {
		range_grant(range, n);
		range_wake(range);
	} else if (!(n == 0 && range_is(range, ZERO_IS_FINE)) &&
		   !(n < 0 && range_is(range, NEGATIVE_IS_FINE)) &&
		   !(n == INT64_MIN && range_is(range, LEAST_IS_A_LOT))) {
		ck_pr_store_32(&range->refused, 1);
		if (!range_is(range, REFUSES_LATE))
			range_wake(range);
	}
}

static void range_cancel(struct weir_subscription *subscription)
{
	struct range *range = range_of(subscription);

	if (range_is(range, CANCEL_SLEEPS))
		range_sleep();
	if (range_is(range, CANCEL_LOCKED_OUT))
		range_lock_out(range);
	if (range_is(range, LETS_GO_TWICE) && range->cancelled && range->last) {
		weir_subscriber_unref(range->last);
		range->missed = range->last;
		range->last = NULL;
	}
	ck_pr_store_32(&range->cancelled, 1);
	if (range_is(range, LETS_GO_INSIDE))
		range_let_go(range, PUBLISHER_CORRECT);
	range_wake(range);
}

static void range_free(struct range *range)
{
	pthread_mutex_destroy(&range->locked);
	ck_pr_dec_32(&range->ranges->live);
	free(range);
}

static void range_released(struct weir_subscription *subscription)
{
	struct range *range = range_of(subscription), **at;
	struct ranges *ranges = range->ranges;

	pthread_mutex_lock(&ranges->lock);
	for (at = &ranges->all; *at != range; at = &(*at)->others)
		;
	*at = range->others;
	pthread_mutex_unlock(&ranges->lock);
	range_free(range);
}

static const struct weir_subscription_ops range_ops = {
	.request = range_request,
	.cancel = range_cancel,
	.released = range_released,
};

/* --- The publisher -------------------------------------------------------- */

static void ranges_reject(struct ranges *ranges,
			  struct weir_subscriber *subscriber, int code)
{
	enum broken_publisher broken = ranges->broken;

	weir_subscriber_ref(subscriber);
	if (broken == REJECTS_WITHOUT_ON_SUBSCRIBE)
		subscriber->ops->on_error(subscriber, weir_error_of(code));
	else if (broken == REJECTS_SILENTLY)
		(void)weir_subscriber_reject(subscriber, NULL);
	else
		(void)weir_subscriber_reject(subscriber, weir_error_of(code));
	if (broken == REJECTS_TWICE)
		(void)weir_subscriber_reject(subscriber, weir_error_of(code));
	if (broken == KEEPS_REJECTED && !ranges->kept)
		ranges->kept = weir_subscriber_ref(subscriber);
	weir_subscriber_unref(subscriber);
}

static void range_new(struct ranges_publisher *publisher,
		      struct weir_subscriber *subscriber)
{
	struct ranges *ranges = publisher->ranges;
	struct range *range = calloc(1, sizeof(*range));
	pthread_mutexattr_t recursive;

	assert_non_null(range);
	ck_pr_inc_32(&ranges->live);
	weir_subscription_init(&range->subscription, &range_ops, &ranges_items);
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&range->locked, &recursive);
	pthread_mutexattr_destroy(&recursive);
	range->ranges = ranges;
	range->publisher = publisher;
	range->n = publisher->n;
	range->fails = publisher->fails;
	range->subscriber = range->last = subscriber;
	if (ranges->broken != NO_REFERENCE)
		weir_subscriber_ref(subscriber);
	pthread_mutex_lock(&ranges->lock);
	range->others = ranges->all;
	ranges->all = range;
	pthread_mutex_unlock(&ranges->lock);
	range_wake(range);
}

static int ranges_subscribe(struct weir_publisher *publisher,
			    struct weir_subscriber *subscriber)
{
	struct ranges_publisher *self = weir_container_of(
		publisher, struct ranges_publisher, publisher);
	struct ranges *ranges = self->ranges;
	bool used = self->used;
	uint32_t most = ranges->factory.max_subscribers;

	if (!subscriber) {
		self->over = ranges->broken == NULL_SUBSCRIBER_COUNTS;
		return ranges->broken == NULL_SUBSCRIBER_IS_FINE ? 0 : -EINVAL;
	}
	if (ranges->broken == SUBSCRIBE_FAILS)
		return -EAGAIN;
	self->used = true;
	if (used && ranges->broken == SERVES_ONE_EVER)
		return 0;
	if (self->rejects) {
		ranges_reject(ranges, subscriber, -ECONNREFUSED);
	} else if (most && ck_pr_load_32(&self->active) >= most) {
		ranges_reject(ranges, subscriber, -EISCONN);
	} else {
		ck_pr_inc_32(&self->active);
		range_new(self, subscriber);
	}
	return 0;
}

static const struct weir_publisher_ops ranges_publisher_ops = {
	.subscribe = ranges_subscribe,
};

/* --- The factory ---------------------------------------------------------- */

static struct ranges_publisher *ranges_publisher_new(
	struct weir_publisher_factory *factory, int64_t n)
{
	struct ranges_publisher *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->publisher.ops = &ranges_publisher_ops;
	self->ranges = weir_container_of(factory, struct ranges, factory);
	self->n = n;
	ck_pr_inc_32(&self->ranges->live);
	return self;
}

static struct weir_publisher *ranges_create(
	struct weir_publisher_factory *factory, int64_t n)
{
	return &ranges_publisher_new(factory, n)->publisher;
}

static struct weir_publisher *ranges_create_rejecting(
	struct weir_publisher_factory *factory)
{
	struct ranges_publisher *self = ranges_publisher_new(factory, 3);

	self->rejects = true;
	return &self->publisher;
}

static struct weir_publisher *ranges_create_failing(
	struct weir_publisher_factory *factory, int64_t n)
{
	struct ranges_publisher *self = ranges_publisher_new(factory, n);

	self->fails = true;
	return &self->publisher;
}

/* What mistakes have kept, no mistake can use any more. */
static void ranges_release(struct weir_publisher_factory *factory,
			   struct weir_publisher *publisher)
{
	struct ranges *ranges =
		weir_container_of(factory, struct ranges, factory);
	struct range *range;

	weir_subscriber_unref(ranges->kept);
	ranges->kept = NULL;
	for (range = ranges->all; range; range = range->others) {
		if (range->subscriber && ranges->broken != NO_REFERENCE)
			weir_subscriber_unref(range->subscriber);
		weir_subscriber_ref(range->missed);
		range->subscriber = range->last = range->missed = NULL;
	}
	ck_pr_dec_32(&ranges->live);
	free(weir_container_of(publisher, struct ranges_publisher, publisher));
}

static bool ranges_is_item(struct weir_publisher_factory *factory,
			   const void *item, int64_t i)
{
	return ((const struct ranges_item *)item)->i == i;
}

static size_t ranges_live(struct weir_publisher_factory *factory)
{
	return ck_pr_load_32(
		&weir_container_of(factory, struct ranges, factory)->live);
}

void ranges_init(struct ranges *ranges, enum broken_publisher broken,
		 bool served)
{
	*ranges = (struct ranges){
		.factory =
			{
				.create = ranges_create,
				.create_rejecting = ranges_create_rejecting,
				.create_failing = ranges_create_failing,
				.release = ranges_release,
				.is_item = ranges_is_item,
				.live = ranges_live,
				.multicast = true,
			},
		.broken = broken,
		.served = served,
	};
	pthread_mutex_init(&ranges->lock, NULL);
	pthread_cond_init(&ranges->changed, NULL);
	if (!served)
		return;
	ranges->factory.env.settle = ranges_settle;
	ranges->factory.env.context = ranges;
	assert_int_equal(
		pthread_create(&ranges->thread, NULL, ranges_main, ranges), 0);
}

void ranges_fini(struct ranges *ranges)
{
	struct range *range;

	if (ranges->served) {
		pthread_mutex_lock(&ranges->lock);
		ranges->stop = true;
		pthread_cond_broadcast(&ranges->changed);
		pthread_mutex_unlock(&ranges->lock);
		pthread_join(ranges->thread, NULL);
	}
	if (ranges->leaked)
		ranges_item_drop(ranges->leaked, NULL);
	while ((range = ranges->all) != NULL) {
		ranges->all = range->others;
		range_free(range);
	}
	pthread_mutex_destroy(&ranges->lock);
	pthread_cond_destroy(&ranges->changed);
}
