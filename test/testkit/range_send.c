/* SPDX-License-Identifier: BSD-2-Clause */
#include "testkit/range_send.h"

static void range_keep(struct range *range)
{
	if (!range->ranges->kept)
		range->ranges->kept = weir_subscriber_ref(range->subscriber);
}

void range_let_go(struct range *range, enum broken_publisher mistake)
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

static void range_end(struct range *range, int code,
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

static int64_t range_granted(const struct range *range)
{
	return (int64_t)ck_pr_load_64((const uint64_t *)&range->granted);
}

static int64_t range_left(const struct range *range)
{
	if (range_granted(range) < 0)
		return 0; /* by mistake */
	return weir__demand_left(range_is(range, SHARES_DEMAND)
					 ? &range->publisher->granted
					 : &range->granted,
				 range->next);
}

/* One by one, or up to four at once; false: the subscriber has failed. */
static bool range_send(struct range *range, int64_t n)
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

static void range_failed(struct range *range)
{
	struct weir_subscriber *subscriber = range->subscriber;

	if (range_is(range, COMPLETES_FAILED))
		subscriber->ops->on_complete(subscriber);
	if (range_is(range, FAILS_FAILED))
		subscriber->ops->on_error(subscriber, weir_error_of(-EIO));
	range_let_go(range, KEEPS_FAILED);
}

/* False: it has failed. */
static bool range_on_subscribe(struct range *range)
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
static bool range_stops(struct range *range)
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
static bool range_over(const struct range *range)
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
static int64_t range_allowed(const struct range *range)
{
	int64_t left = range_left(range);

	if (range->next >= range->n)
		return 0;
	if (range_is(range, IGNORES_DEMAND))
		return INT64_MAX;
	return left + (range_is(range, OVERRUNS) && range_granted(range) > 0 &&
		       left < INT64_MAX);
}

static void range_finish(struct range *range)
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
__attribute__((noinline)) void range_drain(struct range *range)
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

void range_work(struct range *range)
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
