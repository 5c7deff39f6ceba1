/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any thread counts demand and calls. The thread that counts `work` up from 0
 * sends, until no other thread has counted meanwhile. Every access of `work` is
 * acquire and release: the next sender sees everything that a sender has
 * written.
 */
#include "testkit/sync_publisher.h"

#include <assert.h>

#include <ck_pr.h>

#include "base/demand.h"

static struct weir__sync_publisher *sync_of(
	struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct weir__sync_publisher,
				 subscription);
}

/* The last signal has been sent, or none is wanted. The sender's. */
static void let_go(struct weir__sync_publisher *sync)
{
	struct weir_subscriber *subscriber = sync->subscriber;

	assert(subscriber);
	sync->subscriber = NULL;
	weir_subscriber_unref(subscriber);
	weir_subscription_unref(&sync->subscription);
}

static void count_result(struct weir__sync_publisher *sync, int rc)
{
	if (rc == 0)
		return;
	/* relaxed: read by the sender, and by the test when everything has
	 * settled */
	ck_pr_inc_32(&sync->failed);
	ck_pr_store_32(&sync->cancelled, 1);
}

static void send(struct weir__sync_publisher *sync)
{
	const struct weir_subscriber_ops *ops;

	while (sync->subscriber && !ck_pr_load_32(&sync->cancelled)) {
		assert(sync->next <= sync->n);
		ops = sync->subscriber->ops;
		if (sync->next == sync->n) {
			count_result(
				sync,
				sync->error
					? ops->on_error(sync->subscriber,
							sync->error)
					: ops->on_complete(sync->subscriber));
			break;
		}
		if (weir__demand_left(&sync->demand, sync->next) <= 0)
			return;
		count_result(sync, ops->on_next(sync->subscriber,
						sync->item[sync->next]));
		if (!ck_pr_load_32(&sync->failed))
			sync->next++;
	}
	if (sync->subscriber)
		let_go(sync);
}

/* Called by the thread that has counted `work` up from 0: sends until no other
 * thread has counted. */
static void send_all(struct weir__sync_publisher *sync)
{
	uint32_t seen = 1;

	do {
		/* acquire: the writes of the last sender, and the counts; pairs
		 * with the release below, and with first_at_work() */
		ck_pr_fence_acquire();
		send(sync);
		/* release: our writes, to the next sender; pairs with the
		 * acquire above */
		ck_pr_fence_release();
		seen = ck_pr_faa_32(&sync->work, -seen) - seen;
	} while (seen != 0);
}

static bool first_at_work(struct weir__sync_publisher *sync)
{
	/* release: the counts; pairs with the acquire of the sender */
	ck_pr_fence_release();
	return ck_pr_faa_32(&sync->work, 1) == 0;
}

static void work(struct weir__sync_publisher *sync)
{
	if (first_at_work(sync))
		send_all(sync);
}

static bool usable(struct weir__sync_publisher *sync)
{
	/* relaxed: a subscriber that calls then is wrong, seen or not */
	if (!ck_pr_load_32(&sync->released))
		return true;
	ck_pr_inc_32(&sync->misused);
	return false;
}

static void on_request(struct weir_subscription *subscription, int64_t n)
{
	struct weir__sync_publisher *sync = sync_of(subscription);

	if (!usable(sync))
		return;
	if (n <= 0)
		ck_pr_inc_32(&sync->misused);
	else
		weir__demand_add(&sync->demand, n);
	work(sync);
}

static void on_cancel(struct weir_subscription *subscription)
{
	struct weir__sync_publisher *sync = sync_of(subscription);

	if (!usable(sync))
		return;
	/* relaxed: work() has the order */
	ck_pr_store_32(&sync->cancelled, 1);
	work(sync);
}

static void on_released(struct weir_subscription *subscription)
{
	/* release: our last touch; pairs with the acquire in
	 * weir__sync_publisher_is_released(), before the memory is reused */
	ck_pr_fence_release();
	ck_pr_store_32(&sync_of(subscription)->released, 1);
}

static const struct weir_subscription_ops subscription_ops = {
	.request = on_request,
	.cancel = on_cancel,
	.released = on_released,
};

static int on_subscriber(struct weir_publisher *publisher,
			 struct weir_subscriber *subscriber)
{
	struct weir__sync_publisher *sync = weir_container_of(
		publisher, struct weir__sync_publisher, publisher);
	int rc;

	if (!subscriber)
		return -EINVAL;
	sync->subscribed = true;
	sync->subscriber = weir_subscriber_ref(subscriber);
	/* `work` is above 0, so that no signal is sent before on_subscribe is
	 * over. */
	ck_pr_inc_32(&sync->work);
	rc = subscriber->ops->on_subscribe(subscriber, &sync->subscription);
	count_result(sync, rc);
	send_all(sync);
	return 0;
}

static const struct weir_publisher_ops publisher_ops = {
	.subscribe = on_subscriber,
};

void weir__sync_publisher_init(struct weir__sync_publisher *sync)
{
	sync->publisher.ops = &publisher_ops;
	(void)weir_subscription_init(&sync->subscription, &subscription_ops,
				     sync->items);
}

void weir__sync_publisher_stop(struct weir__sync_publisher *sync)
{
	ck_pr_store_32(&sync->cancelled, 1);
	if (sync->subscribed)
		work(sync);
	else
		weir_subscription_unref(&sync->subscription);
}

bool weir__sync_publisher_is_released(struct weir__sync_publisher *sync)
{
	if (!ck_pr_load_32(&sync->released))
		return false;
	/* acquire: the last touch of every thread; pairs with the release in
	 * on_released() */
	ck_pr_fence_acquire();
	return true;
}
