/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher by hand, without any port: the numbers 1 to n, and then the end
 * or an error, to each of its subscribers from the start. It has no thread:
 * who requests is who delivers, unless somebody does already.
 */
#include "bridge.h"

#include <ck_pr.h>

#include "base/demand.h"

struct range {
	struct weir_publisher publisher;
	int64_t n;
	struct weir_error *error; /* behind the last; NULL: it ends well */
};

struct run {
	struct weir_subscription subscription;
	struct weir_subscriber *subscriber;
	struct weir_error *error;
	/* whoever has made `work` 1 */
	int64_t next, last;
	bool over;
	/* any thread, atomically */
	int64_t requested;
	uint32_t work; /* calls that have not been looked after */
	uint32_t bad;  /* request(n <= 0) */
	uint32_t cancelled;
};

/* No signal after this one; lets go of everybody. */
static void run_end(struct run *run)
{
	run->over = true;
	weir_subscriber_unref(run->subscriber);
	weir_error_unref(run->error);
	weir_subscription_unref(&run->subscription);
}

static void run_error(struct run *run, struct weir_error *error)
{
	(void)run->subscriber->ops->on_error(run->subscriber, error);
	run_end(run);
}

static struct weir_error not_positive = {
	.code = -EINVAL,
	.origin = "range",
	.message = "3.9: non-positive subscription request",
};

static void run_deliver(struct run *run)
{
	struct weir_subscriber *to = run->subscriber;

	while (!run->over) {
		if (ck_pr_load_32(&run->cancelled)) {
			run_end(run);
		} else if (ck_pr_load_32(&run->bad)) {
			run_error(run, &not_positive);
		} else if (run->next > run->last && run->error) {
			run_error(run, run->error);
		} else if (run->next > run->last) {
			(void)to->ops->on_complete(to);
			run_end(run);
		} else if (weir__demand_left(&run->requested, run->next - 1) >
			   0) {
			if (to->ops->on_next(to, (void *)run->next++) != 0)
				run_end(run); /* it is broken (2.13) */
		} else {
			return;
		}
	}
}

/* The caller holds a reference. */
static void run_work(struct run *run)
{
	uint32_t seen = 1;

	/* Whose call it is that finds no other does it for all (1.3, 3.3). */
	ck_pr_fence_release();
	if (ck_pr_faa_32(&run->work, 1) != 0)
		return;
	weir_subscription_ref(&run->subscription);
	do {
		ck_pr_fence_acquire();
		run_deliver(run);
		ck_pr_fence_release();
		seen = ck_pr_faa_32(&run->work, -seen) - seen;
	} while (seen != 0);
	weir_subscription_unref(&run->subscription);
}

static void run_request(struct weir_subscription *subscription, int64_t n)
{
	struct run *run =
		weir_container_of(subscription, struct run, subscription);

	if (n > 0)
		weir__demand_add(&run->requested, n);
	else
		ck_pr_store_32(&run->bad, 1);
	run_work(run);
}

static void run_cancel(struct weir_subscription *subscription)
{
	struct run *run =
		weir_container_of(subscription, struct run, subscription);

	ck_pr_store_32(&run->cancelled, 1);
	run_work(run);
}

static void run_released(struct weir_subscription *subscription)
{
	bridge_free(weir_container_of(subscription, struct run, subscription));
}

static const struct weir_subscription_ops run_ops = {
	.request = run_request,
	.cancel = run_cancel,
	.released = run_released,
};

static int range_subscribe(struct weir_publisher *publisher,
			   struct weir_subscriber *subscriber)
{
	struct range *range =
		weir_container_of(publisher, struct range, publisher);
	struct run *run;

	if (!subscriber)
		return -EINVAL;
	run = bridge_alloc(sizeof(*run));
	if (!run) {
		(void)weir_subscriber_reject(subscriber,
					     weir_error_of(-ENOMEM));
		return 0;
	}
	weir_subscription_init(&run->subscription, &run_ops, NULL);
	run->subscriber = weir_subscriber_ref(subscriber);
	run->error = weir_error_ref(range->error);
	run->next = 1;
	run->last = range->n;
	run->work = 1; /* nothing comes before on_subscribe has returned */
	weir_subscription_ref(&run->subscription);
	if (subscriber->ops->on_subscribe(subscriber, &run->subscription) != 0)
		ck_pr_store_32(&run->cancelled, 1);
	ck_pr_store_32(&run->work, 0);
	run_work(run);
	weir_subscription_unref(&run->subscription);
	return 0;
}

static const struct weir_publisher_ops range_ops = {
	.subscribe = range_subscribe,
};

static void range_free(void *publisher)
{
	struct range *range =
		weir_container_of(publisher, struct range, publisher);

	weir_error_unref(range->error);
	bridge_free(range);
}

JNIEXPORT jlong JNICALL Java_weir_Subjects_newRange(JNIEnv *env, jclass class,
						    jlong n, jthrowable error,
						    jint code)
{
	struct range *range = bridge_alloc(sizeof(*range));

	if (!range)
		return 0;
	range->publisher.ops = &range_ops;
	range->n = n;
	range->error = bridge_error_new(env, error);
	if (code)
		range->error = weir_error_format(code, "range", "as told");
	return bridge_held_new(&range->publisher, range_free);
}
