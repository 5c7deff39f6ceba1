/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract: reference counts of subscribers and subscriptions, and the
 * subscription of rejected subscribers.
 */
#include <weir/stream.h>

#include <stdbool.h>

#include <ck_pr.h>

#include "base/refcount.h"
#include "stream/reactive.h"

/* The subscriber that is being rejected on this thread has cancelled. */
static __thread bool rejected_cancels
	__attribute__((tls_model("initial-exec")));

int weir_subscription_init(struct weir_subscription *subscription,
			   const struct weir_subscription_ops *ops,
			   const struct weir_items *items)
{
	if (!subscription || !ops || !ops->request || !ops->cancel)
		return -EINVAL;
	subscription->ops = ops;
	subscription->items = items;
	subscription->refs = 1;
	return 0;
}

struct weir_subscription *weir_subscription_ref(
	struct weir_subscription *subscription)
{
	if (subscription)
		weir__ref(&subscription->refs);
	return subscription;
}

void weir_subscription_unref(struct weir_subscription *subscription)
{
	if (subscription && weir__unref(&subscription->refs) &&
	    subscription->ops->released)
		subscription->ops->released(subscription);
}

int weir_subscriber_init(struct weir_subscriber *subscriber,
			 const struct weir_subscriber_ops *ops)
{
	if (!subscriber || !ops || !ops->on_subscribe || !ops->on_next ||
	    !ops->on_error || !ops->on_complete)
		return -EINVAL;
	subscriber->ops = ops;
	subscriber->refs = 0;
	return 0;
}

struct weir_subscriber *weir_subscriber_ref(struct weir_subscriber *subscriber)
{
	/* relaxed: the caller keeps the subscriber there */
	if (subscriber && ck_pr_faa_32(&subscriber->refs, 1) == 0 &&
	    subscriber->ops->held)
		subscriber->ops->held(subscriber);
	return subscriber;
}

void weir_subscriber_unref(struct weir_subscriber *subscriber)
{
	if (subscriber && weir__unref(&subscriber->refs) &&
	    subscriber->ops->released)
		subscriber->ops->released(subscriber);
}

static void no_request(struct weir_subscription *subscription, int64_t n)
{
	(void)subscription;
	(void)n;
}

/* Called in on_subscribe, where it matters, on the rejecting thread. */
static void no_cancel(struct weir_subscription *subscription)
{
	(void)subscription;
	rejected_cancels = true;
}

static const struct weir_subscription_ops rejected_ops = {
	.request = no_request,
	.cancel = no_cancel,
};

/* Shared by all rejected subscribers; its own reference is never dropped. */
static struct weir_subscription rejected = {.ops = &rejected_ops, .refs = 1};

bool weir__subscription_rejected(const struct weir_subscription *subscription)
{
	return subscription == &rejected;
}

int weir_subscriber_reject(struct weir_subscriber *subscriber,
			   struct weir_error *error)
{
	bool outer = rejected_cancels, cancels;
	int rc;

	if (!subscriber || !subscriber->ops)
		return -EINVAL;
	weir_subscriber_ref(subscriber);
	rejected_cancels = false;
	rc = subscriber->ops->on_subscribe(subscriber, &rejected);
	cancels = rejected_cancels;
	rejected_cancels = outer;
	/* 1.8: the subscriber has another subscription, whose end this would
	 * seem to be (2.5) */
	if (rc == 0 && !cancels)
		rc = error ? subscriber->ops->on_error(subscriber, error)
			   : subscriber->ops->on_complete(subscriber);
	weir_subscriber_unref(subscriber);
	return rc;
}

int weir_publisher_subscribe(struct weir_publisher *publisher,
			     struct weir_subscriber *subscriber)
{
	if (!publisher || !publisher->ops || !publisher->ops->subscribe ||
	    !subscriber || !subscriber->ops)
		return -EINVAL;
	return publisher->ops->subscribe(publisher, subscriber);
}
