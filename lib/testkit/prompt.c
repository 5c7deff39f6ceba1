/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any thread counts demand and calls. The thread that counts `work` up from 0
 * sends, until no other thread has counted meanwhile. Every access of `work` is
 * acquire and release: the next sender sees everything that a sender has
 * written.
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
	/* relaxed: read by the sender, and by the test when everything has
	 * settled */
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

/* Called by the thread that has counted `work` up from 0: sends until no other
 * thread has counted. */
static void send_all(struct weir__prompt *prompt)
{
	uint32_t seen = 1;

	do {
		/* acquire: the writes of the last sender, and the counts; pairs
		 * with the release below, and with first_at_work() */
		ck_pr_fence_acquire();
		send(prompt);
		/* release: our writes, to the next sender; pairs with the
		 * acquire above */
		ck_pr_fence_release();
		seen = ck_pr_faa_32(&prompt->work, -seen) - seen;
	} while (seen != 0);
}

static bool first_at_work(struct weir__prompt *prompt)
{
	/* release: the counts; pairs with the acquire of the sender */
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
	/* release: our last touch; pairs with the acquire in
	 * weir__prompt_is_given_back(), before the memory is reused */
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
	/* `work` is above 0, so that no signal is sent before on_subscribe is
	 * over. */
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
	/* acquire: the last touch of every thread; pairs with the release in
	 * on_given_back() */
	ck_pr_fence_acquire();
	return true;
}
