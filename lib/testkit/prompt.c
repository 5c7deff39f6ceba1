/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demand and calls are counted by any thread; who counts `work` up from 0 sends
 * until nobody has counted any more. All of `work` is acquire and release: what
 * one sender has written, the next one sees.
 */
#include "testkit/prompt.h"

#include <assert.h>

#include <ck_pr.h>

#include "base/demand.h"

static struct weir__prompt *prompt_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct weir__prompt,
				 subscription);
}

/* The last signal has been sent, or none is wanted. The sender's. */
static void let_go(struct weir__prompt *prompt)
{
	struct weir_subscriber *subscriber = prompt->subscriber;

	assert(subscriber);
	prompt->subscriber = NULL;
	weir_subscriber_unref(subscriber);
	weir_subscription_unref(&prompt->subscription);
}

static void count_result(struct weir__prompt *prompt, int rc)
{
	if (rc == 0)
		return;
	/* relaxed: for who sends, and for the test when all has settled */
	ck_pr_inc_32(&prompt->failed);
	ck_pr_store_32(&prompt->cancelled, 1);
}

static void send(struct weir__prompt *prompt)
{
	const struct weir_subscriber_ops *ops;

	while (prompt->subscriber && !ck_pr_load_32(&prompt->cancelled)) {
		assert(prompt->next <= prompt->n);
		ops = prompt->subscriber->ops;
		if (prompt->next == prompt->n) {
			count_result(
				prompt,
				prompt->error
					? ops->on_error(prompt->subscriber,
							prompt->error)
					: ops->on_complete(prompt->subscriber));
			break;
		}
		if (weir__demand_left(&prompt->demand, prompt->next) <= 0)
			return;
		count_result(prompt, ops->on_next(prompt->subscriber,
						  prompt->item[prompt->next]));
		if (!ck_pr_load_32(&prompt->failed))
			prompt->next++;
	}
	if (prompt->subscriber)
		let_go(prompt);
}

/* Sends, by who has counted `work` up from 0, until nobody else has. */
static void send_all(struct weir__prompt *prompt)
{
	uint32_t seen = 1;

	do {
		/* acquire: what the last sender has written, and what was
		 * counted; pairs with the release below, and first_at_work() */
		ck_pr_fence_acquire();
		send(prompt);
		/* release: what we have written, to the next sender; pairs
		 * with the acquire above */
		ck_pr_fence_release();
		seen = ck_pr_faa_32(&prompt->work, -seen) - seen;
	} while (seen != 0);
}

static bool first_at_work(struct weir__prompt *prompt)
{
	/* release: what is counted; pairs with the acquire of who sends */
	ck_pr_fence_release();
	return ck_pr_faa_32(&prompt->work, 1) == 0;
}

static void work(struct weir__prompt *prompt)
{
	if (first_at_work(prompt))
		send_all(prompt);
}

static bool usable(struct weir__prompt *prompt)
{
	/* relaxed: a subscriber that calls then is wrong, seen or not */
	if (!ck_pr_load_32(&prompt->given_back))
		return true;
	ck_pr_inc_32(&prompt->misused);
	return false;
}

static void on_request(struct weir_subscription *subscription, int64_t n)
{
	struct weir__prompt *prompt = prompt_of(subscription);

	if (!usable(prompt))
		return;
	if (n <= 0)
		ck_pr_inc_32(&prompt->misused);
	else
		weir__demand_add(&prompt->demand, n);
	work(prompt);
}

static void on_cancel(struct weir_subscription *subscription)
{
	struct weir__prompt *prompt = prompt_of(subscription);

	if (!usable(prompt))
		return;
	/* relaxed: work() has the order */
	ck_pr_store_32(&prompt->cancelled, 1);
	work(prompt);
}

static void on_given_back(struct weir_subscription *subscription)
{
	/* release: our last touch; pairs with the acquire of who reuses it, in
	 * weir__prompt_is_given_back() */
	ck_pr_fence_release();
	ck_pr_store_32(&prompt_of(subscription)->given_back, 1);
}

static const struct weir_subscription_ops subscription_ops = {
	.request = on_request,
	.cancel = on_cancel,
	.released = on_given_back,
};

static int on_subscriber(struct weir_publisher *publisher,
			 struct weir_subscriber *subscriber)
{
	struct weir__prompt *prompt =
		weir_container_of(publisher, struct weir__prompt, publisher);
	int rc;

	if (!subscriber)
		return -EINVAL;
	prompt->subscribed = true;
	prompt->subscriber = weir_subscriber_ref(subscriber);
	/* At work, so that nothing is sent before on_subscribe is over. */
	ck_pr_inc_32(&prompt->work);
	rc = subscriber->ops->on_subscribe(subscriber, &prompt->subscription);
	count_result(prompt, rc);
	send_all(prompt);
	return 0;
}

static const struct weir_publisher_ops publisher_ops = {
	.subscribe = on_subscriber,
};

void weir__prompt_init(struct weir__prompt *prompt)
{
	prompt->publisher.ops = &publisher_ops;
	(void)weir_subscription_init(&prompt->subscription, &subscription_ops,
				     prompt->items);
}

void weir__prompt_stop(struct weir__prompt *prompt)
{
	ck_pr_store_32(&prompt->cancelled, 1);
	if (prompt->subscribed)
		work(prompt);
	else
		weir_subscription_unref(&prompt->subscription);
}

bool weir__prompt_is_given_back(struct weir__prompt *prompt)
{
	if (!ck_pr_load_32(&prompt->given_back))
		return false;
	/* acquire: everybody's last touch; pairs with the release in
	 * on_given_back() */
	ck_pr_fence_acquire();
	return true;
}
