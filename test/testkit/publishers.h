/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher as somebody would write one by hand, and all the ways to get it
 * wrong: items 0 to n - 1, from the first on for each subscriber. Who requests
 * sends, on the calling thread, or a server thread does. `broken` says what is
 * wrong with it.
 *
 * Of each subscription one thread at a time is at work: who has counted `work`
 * up from 0. Others only count, and it goes round again.
 */
#ifndef WEIR_TEST_TESTKIT_PUBLISHERS_H
#define WEIR_TEST_TESTKIT_PUBLISHERS_H

#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <ck_pr.h>

#include <weir/testkit.h>

#include "base/demand.h"

/* Each is one mistake; the comment says which where the name does not. */
enum broken_publisher {
	PUBLISHER_CORRECT,
	/* 1.1, 1.2: items */
	OVERRUNS,	/* one more than was requested */
	IGNORES_DEMAND, /* sends all that there is */
	OVERRUNS_IN_BATCHES,
	SAME_VALUE,
	SWAPS_ITEMS,
	SKIPS_ITEM,
	REPEATS_ITEM,
	NULL_ITEM,
	ENDS_EARLY, /* before the last item */
	ENDS_LATE,  /* when all that was requested has come */
	/* 1.3 */
	SENDS_AT_ONCE, /* from every thread that requests */
	SENDS_INSIDE_ON_SUBSCRIBE,
	/* 1.4, 1.5, 1.7: the end */
	FAILURE_COMPLETES,
	FAILURE_IS_SILENT,
	FAILURE_NEEDS_DEMAND,
	NEVER_COMPLETES,
	COMPLETES_TWICE,
	COMPLETE_NEEDS_DEMAND,
	EMPTY_NEVER_COMPLETES,
	COMPLETES_AFTER_ERROR,
	FAILS_AFTER_COMPLETE,
	SENDS_AFTER_COMPLETE, /* items, when requested */
	SENDS_AFTER_FAILURE,
	/* 1.6, 3.9: refused requests */
	SENDS_AFTER_REFUSAL,
	ZERO_IS_FINE,
	NEGATIVE_IS_FINE,
	LEAST_IS_A_LOT, /* INT64_MIN */
	REFUSES_TWICE,
	REFUSES_LATE, /* with the next request */
	REFUSES_WRONGLY,
	REFUSES_AFTER_END,
	REFUSES_AFTER_CANCEL,
	/* 1.8, 3.6, 3.7, 3.12: cancel */
	IGNORES_CANCEL,
	COMPLETES_ON_CANCEL,
	FAILS_ON_CANCEL,
	REQUEST_REVIVES,
	LETS_GO_TWICE, /* of the subscriber that cancels twice */
	/* 1.9, 1.10, 1.11: subscribe */
	NULL_SUBSCRIBER_IS_FINE,
	NULL_SUBSCRIBER_COUNTS, /* as the first one, after which it ends */
	SUBSCRIBE_FAILS,	/* with an error, and no signal */
	NO_ON_SUBSCRIBE,
	ON_SUBSCRIBE_TWICE,
	NEXT_BEFORE_ON_SUBSCRIBE,
	REJECTS_WITHOUT_ON_SUBSCRIBE,
	REJECTS_SILENTLY, /* on_subscribe alone */
	REJECTS_TWICE,
	SERVES_ONE_EVER,  /* others hear nothing */
	SHARES_DEMAND,	  /* one's requests are everybody's */
	SHARES_ITEMS,	  /* each goes to one of them */
	LEAVING_ENDS_ALL, /* subscribers that leave end the others' streams */
	/* 2.13: a subscriber that has failed */
	SENDS_TO_FAILED,
	COMPLETES_FAILED,
	FAILS_FAILED,
	KEEPS_FAILED,
	LEAKS_REFUSED_ITEM,
	/* 3.3 */
	RECURSES,
	RECURSES_LATER, /* from the third item on */
	RECURSES_ALONE, /* each item on the stack of the one before */
	/* 3.4, 3.5 */
	REQUEST_SLEEPS, /* a moment */
	CANCEL_SLEEPS,
	REQUEST_LOCKED_OUT, /* while a signal is handled */
	CANCEL_LOCKED_OUT,
	/* 3.8, 3.17: demand */
	REPLACES_DEMAND,
	LOSES_REQUESTS, /* when there are two at once */
	WRAPS_DEMAND,
	GREATEST_FAILS, /* demand beyond the maximum is an error */
	/* 3.13 and memory; kept is the reference to the subscriber */
	KEEPS_CANCELLED,
	KEEPS_CANCELLED_IDLE, /* that has requested nothing */
	KEEPS_COMPLETED,
	KEEPS_AFTER_FAILURE,
	KEEPS_REFUSED,
	KEEPS_REJECTED,
	NO_REFERENCE,
	LETS_GO_EARLY,	/* before the last signal */
	LETS_GO_INSIDE, /* of a subscriber that cancels in on_next */
	LEAKS_SUBSCRIPTION,
	LEAKS_ITEM,
	N_BROKEN_PUBLISHERS,
};

struct range;

/* The factory, and the thread that serves. */
struct ranges {
	struct weir_publisher_factory factory;
	enum broken_publisher broken;
	uint32_t live; /* any thread */
	/* The server, if there is one. */
	bool served, busy, stop;
	pthread_t thread;
	pthread_mutex_t lock; /* over what follows, and `busy` and `stop` */
	pthread_cond_t changed;
	struct range *queue;
	/* For mistakes: */
	struct weir_subscriber *kept; /* a reference too many */
	struct range *all;	      /* that are not freed yet */
	struct ranges_item *leaked;
};

struct ranges_item {
	int64_t i;
	struct ranges *ranges;
};

struct ranges_publisher {
	struct weir_publisher publisher;
	struct ranges *ranges;
	int64_t n;
	bool fails, rejects;
	uint32_t active; /* subscribers; any thread */
	/* For mistakes: */
	bool used, over;
	int64_t next, granted; /* shared */
};

/* A subscription. */
struct range {
	struct weir_subscription subscription;
	struct ranges *ranges;
	struct ranges_publisher *publisher; /* while the stream goes on */
	int64_t n;
	bool fails;
	/* Any thread, atomically. */
	int64_t granted; /* cumulative */
	uint32_t work, cancelled, refused;
	/* Of who is at work. */
	struct weir_subscriber *subscriber;
	int64_t next; /* item to be sent */
	bool subscribed, ended;
	pthread_t worker;
	uint32_t depth;
	/* Under the lock of `ranges`. */
	struct range *queued, *others;
	pthread_mutex_t locked; /* for those who lock others out */
	uint32_t granting; /* threads that request at once, once it was two */
	uint32_t waits;	   /* of one of them for the other */
	/* For those who let go twice: of whom, and of whom they have. */
	struct weir_subscriber *last, *missed;
};

static inline bool range_is(const struct range *range,
			    enum broken_publisher broken)
{
	return range->ranges->broken == broken;
}

/* --- Items ---------------------------------------------------------------- */

static inline void ranges_item_drop(void *item, void *context)
{
	ck_pr_dec_32(&((struct ranges_item *)item)->ranges->live);
	free(item);
}

static const struct weir_items ranges_items = {.drop = ranges_item_drop};

/* What is item number `i` of the stream. */
static inline int64_t range_value(const struct range *range, int64_t i)
{
	if (range_is(range, SAME_VALUE))
		return 0;
	if (range_is(range, SWAPS_ITEMS))
		return i ^ 1;
	if (range_is(range, SKIPS_ITEM))
		return i + (i > 1);
	if (range_is(range, REPEATS_ITEM))
		return i - (i > 1);
	return i;
}

static inline struct ranges_item *range_item(struct range *range, int64_t i)
{
	struct ranges_item *item = malloc(sizeof(*item));

	assert_non_null(item);
	item->i = range_value(range, i);
	item->ranges = range->ranges;
	ck_pr_inc_32(&item->ranges->live);
	return item;
}

/* The subscriber has not taken it. */
static inline void range_item_refused(struct range *range,
				      struct ranges_item *item)
{
	if (range_is(range, LEAKS_REFUSED_ITEM) && !range->ranges->leaked)
		range->ranges->leaked = item;
	else if (item)
		ranges_item_drop(item, NULL);
}

/* --- Sending; by who is at work ------------------------------------------- */

static inline void range_keep(struct range *range)
{
	if (!range->ranges->kept)
		range->ranges->kept = weir_subscriber_ref(range->subscriber);
}

/* The stream is over; `mistake` keeps the subscriber. */
static inline void range_let_go(struct range *range,
				enum broken_publisher mistake)
{
	struct weir_subscriber *subscriber = range->subscriber;

	if (!subscriber)
		return;
	if (range_is(range, mistake))
		range_keep(range);
	if (range_is(range, LEAKS_ITEM) && !range->ranges->leaked)
		range->ranges->leaked = range_item(range, 0);
	range->subscriber = NULL;
	ck_pr_dec_32(&range->publisher->active);
	if (!range_is(range, NO_REFERENCE))
		weir_subscriber_unref(subscriber);
	if (!range_is(range, LEAKS_SUBSCRIPTION))
		weir_subscription_unref(&range->subscription);
}

static inline void range_end(struct range *range, int code,
			     enum broken_publisher mistake)
{
	struct weir_subscriber *subscriber = range->subscriber;
	const struct weir_subscriber_ops *ops = subscriber->ops;

	range->ended = true;
	if (range_is(range, LETS_GO_EARLY))
		weir_subscriber_unref(subscriber);
	if (code)
		ops->on_error(subscriber, weir_error_of(code));
	else
		ops->on_complete(subscriber);
	if (code ? range_is(range, COMPLETES_AFTER_ERROR)
		 : range_is(range, COMPLETES_TWICE))
		ops->on_complete(subscriber);
	if (code ? range_is(range, REFUSES_TWICE) && code == -EINVAL
		 : range_is(range, FAILS_AFTER_COMPLETE))
		ops->on_error(subscriber, weir_error_of(-EINVAL));
	if (range_is(range, LETS_GO_EARLY))
		weir_subscriber_ref(subscriber);
	if (range_is(range, SENDS_AFTER_COMPLETE) ||
	    range_is(range, SENDS_AFTER_FAILURE) ||
	    range_is(range, SENDS_AFTER_REFUSAL) ||
	    range_is(range, REFUSES_AFTER_END))
		range_keep(range);
	range_let_go(range, mistake);
}

static inline int64_t range_granted(const struct range *range)
{
	return (int64_t)ck_pr_load_64((const uint64_t *)&range->granted);
}

static inline int64_t range_left(const struct range *range)
{
	if (range_granted(range) < 0)
		return 0; /* by mistake */
	return weir__demand_left(range_is(range, SHARES_DEMAND)
					 ? &range->publisher->granted
					 : &range->granted,
				 range->next);
}

/* One by one, or up to four at once; false: the subscriber has failed. */
static inline bool range_send(struct range *range, int64_t n)
{
	struct weir_subscriber *subscriber = range->subscriber;
	void *items[5];
	size_t taken = 0, i;
	bool batch = subscriber->ops->on_next_n && n > 1;
	int rc;

	n = !batch ? 1 : n > 4 ? 4 : n;
	n += batch && range_is(range, OVERRUNS_IN_BATCHES);
	if (n > range->n - range->next)
		n = range->n - range->next;
	if (n <= 0)
		return true;
	if (range_is(range, SHARES_ITEMS))
		range->next = range->publisher->next++;
	for (i = 0; i < (size_t)n; i++)
		items[i] = range_item(range, range->next++);
	if (range_is(range, NULL_ITEM) && range->next == 2) {
		ranges_item_drop(items[0], NULL);
		items[0] = NULL;
	}
	rc = batch ? subscriber->ops->on_next_n(subscriber, items, (size_t)n,
						&taken)
		   : subscriber->ops->on_next(subscriber, items[0]);
	for (i = rc ? taken : (size_t)n; i < (size_t)n; i++)
		range_item_refused(range, items[i]);
	return rc == 0;
}

static inline void range_failed(struct range *range)
{
	struct weir_subscriber *subscriber = range->subscriber;

	if (range_is(range, COMPLETES_FAILED))
		subscriber->ops->on_complete(subscriber);
	if (range_is(range, FAILS_FAILED))
		subscriber->ops->on_error(subscriber, weir_error_of(-EIO));
	range_let_go(range, KEEPS_FAILED);
}

/* False: it has failed. */
static inline bool range_on_subscribe(struct range *range)
{
	struct weir_subscriber *subscriber = range->subscriber;
	int rc = 0;

	if (range_is(range, NEXT_BEFORE_ON_SUBSCRIBE))
		range_send(range, 1);
	if (!range_is(range, NO_ON_SUBSCRIBE))
		rc = subscriber->ops->on_subscribe(subscriber,
						   &range->subscription);
	if (range_is(range, ON_SUBSCRIBE_TWICE))
		rc = subscriber->ops->on_subscribe(subscriber,
						   &range->subscription);
	range->subscribed = true;
	return rc == 0 || range_is(range, SENDS_TO_FAILED);
}

/* What comes before items; true: that was all. */
static inline bool range_stops(struct range *range)
{
	struct weir_subscriber *subscriber = range->subscriber;

	if (ck_pr_load_32(&range->cancelled) &&
	    !range_is(range, IGNORES_CANCEL)) {
		if (range_is(range, COMPLETES_ON_CANCEL))
			subscriber->ops->on_complete(subscriber);
		if (range_is(range, FAILS_ON_CANCEL))
			subscriber->ops->on_error(subscriber,
						  weir_error_of(-ECANCELED));
		if (range_is(range, REQUEST_REVIVES) ||
		    range_is(range, REFUSES_AFTER_CANCEL))
			range_keep(range);
		if (range_is(range, LEAVING_ENDS_ALL))
			range->publisher->over = true;
		range_let_go(range, range_granted(range)
					    ? KEEPS_CANCELLED
					    : KEEPS_CANCELLED_IDLE);
		return true;
	}
	if (!ck_pr_load_32(&range->refused))
		return false;
	range_end(range, range_is(range, REFUSES_WRONGLY) ? -EIO : -EINVAL,
		  KEEPS_REFUSED);
	return true;
}

/* Nothing is left to send but the end. */
static inline bool range_over(const struct range *range)
{
	int64_t left = range_left(range);

	if (range->publisher->over)
		return true;
	if (range->next < range->n - (range_is(range, ENDS_EARLY) ? 1 : 0))
		return false;
	if (range->fails)
		return left > 0 || !range_is(range, FAILURE_NEEDS_DEMAND);
	return (left > 0 || !range_is(range, COMPLETE_NEEDS_DEMAND)) &&
	       (left == 0 || !range_is(range, ENDS_LATE));
}

/* How many may be sent now. */
static inline int64_t range_allowed(const struct range *range)
{
	int64_t left = range_left(range);

	if (range->next >= range->n)
		return 0;
	if (range_is(range, IGNORES_DEMAND))
		return INT64_MAX;
	return left + (range_is(range, OVERRUNS) && range_granted(range) > 0 &&
		       left < INT64_MAX);
}

static inline void range_finish(struct range *range)
{
	if (range->fails && range_is(range, FAILURE_IS_SILENT))
		range_let_go(range, PUBLISHER_CORRECT);
	else if (range->fails)
		range_end(range, range_is(range, FAILURE_COMPLETES) ? 0 : -EIO,
			  KEEPS_AFTER_FAILURE);
	else if (range_is(range, NEVER_COMPLETES) ||
		 (range_is(range, EMPTY_NEVER_COMPLETES) && range->n == 0))
		range_let_go(range, NEVER_COMPLETES);
	else
		range_end(range, 0, KEEPS_COMPLETED);
}

/* Sends what can be sent. */
static __attribute__((noinline)) void range_drain(struct range *range)
{
	while (range->subscriber) {
		bool fine = true;

		range->worker = pthread_self();
		if (!range->subscribed)
			fine = range_on_subscribe(range);
		else if (range_stops(range))
			return;
		else if (range_over(range)) {
			range_finish(range);
			return;
		} else if (range_allowed(range) > 0)
			fine = range_send(range, range_allowed(range));
		else
			return;
		if (!range->subscriber)
			return;
		if (!fine && !range_is(range, SENDS_TO_FAILED)) {
			range_failed(range);
			return;
		}
		if (range_is(range, RECURSES_ALONE) && range->depth < 1000) {
			range->depth++;
			range_drain(range);
			range->depth--;
		}
	}
}

/* Until nobody has counted `work` any more. */
static inline void range_work(struct range *range)
{
	bool locks = range_is(range, REQUEST_LOCKED_OUT) ||
		     range_is(range, CANCEL_LOCKED_OUT);
	uint32_t seen = 1;

	weir_subscription_ref(&range->subscription);
	do {
		/* acquire: what the last one at work has written */
		ck_pr_fence_acquire();
		if (locks)
			pthread_mutex_lock(&range->locked);
		range_drain(range);
		if (locks)
			pthread_mutex_unlock(&range->locked);
		/* release: to the next one */
		ck_pr_fence_release();
		seen = ck_pr_faa_32(&range->work, -seen) - seen;
	} while (seen != 0);
	weir_subscription_unref(&range->subscription);
}

/* --- The server ----------------------------------------------------------- */

static inline void *ranges_main(void *context)
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

static inline int ranges_settle(void *context)
{
	struct ranges *ranges = context;

	pthread_mutex_lock(&ranges->lock);
	while (ranges->queue || ranges->busy)
		pthread_cond_wait(&ranges->changed, &ranges->lock);
	pthread_mutex_unlock(&ranges->lock);
	return 0;
}

static inline void ranges_serve(struct ranges *ranges, struct range *range)
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
static inline bool range_recurses(const struct range *range)
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
static inline void range_wake(struct range *range)
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

static inline struct range *range_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct range, subscription);
}

/*
 * Until another thread is here too, so that one of the two is lost; not each
 * time, in tests that have no other.
 */
static inline void range_wait_for_another(struct range *range)
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

static inline void range_grant(struct range *range, int64_t n)
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
static inline void range_send_at_once(struct range *range, int64_t n)
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
static inline void range_request_late(struct range *range, int64_t n)
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
static inline void range_lock_out(struct range *range)
{
	pthread_mutex_lock(&range->locked);
	pthread_mutex_unlock(&range->locked);
}

static inline void range_sleep(void)
{
	const struct timespec time = {.tv_nsec = 1000};

	nanosleep(&time, NULL);
}

static inline void range_request(struct weir_subscription *subscription,
				 int64_t n)
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

static inline void range_cancel(struct weir_subscription *subscription)
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

static inline void range_free(struct range *range)
{
	pthread_mutex_destroy(&range->locked);
	ck_pr_dec_32(&range->ranges->live);
	free(range);
}

static inline void range_released(struct weir_subscription *subscription)
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

static inline void ranges_reject(struct ranges *ranges,
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

static inline void range_new(struct ranges_publisher *publisher,
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

static inline int ranges_subscribe(struct weir_publisher *publisher,
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

static inline struct ranges_publisher *ranges_publisher_new(
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

static inline struct weir_publisher *ranges_create(
	struct weir_publisher_factory *factory, int64_t n)
{
	return &ranges_publisher_new(factory, n)->publisher;
}

static inline struct weir_publisher *ranges_create_rejecting(
	struct weir_publisher_factory *factory)
{
	struct ranges_publisher *self = ranges_publisher_new(factory, 3);

	self->rejects = true;
	return &self->publisher;
}

static inline struct weir_publisher *ranges_create_failing(
	struct weir_publisher_factory *factory, int64_t n)
{
	struct ranges_publisher *self = ranges_publisher_new(factory, n);

	self->fails = true;
	return &self->publisher;
}

/* What mistakes have kept, no mistake can use any more. */
static inline void ranges_release(struct weir_publisher_factory *factory,
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

static inline bool ranges_is_item(struct weir_publisher_factory *factory,
				  const void *item, int64_t i)
{
	return ((const struct ranges_item *)item)->i == i;
}

static inline size_t ranges_live(struct weir_publisher_factory *factory)
{
	return ck_pr_load_32(
		&weir_container_of(factory, struct ranges, factory)->live);
}

static inline void ranges_init(struct ranges *ranges,
			       enum broken_publisher broken, bool served)
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

/* Frees what mistakes have leaked, too. */
static inline void ranges_fini(struct ranges *ranges)
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

#endif
