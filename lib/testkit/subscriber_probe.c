/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subscriber probe: records signals, checks that its publisher keeps the
 * rules, behaves as its options say. Signals come on any thread, and if the
 * publisher is wrong on two at once, or without any reference. No lock is held
 * while something is called that is not ours.
 */
#include "testkit/subscriber_probe.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ck_pr.h>

#include "base/options.h"

#define LIMIT 1000000

static struct weir_subscriber_probe *probe_of(
	struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct weir_subscriber_probe,
				 subscriber);
}

/* The publisher breaks a rule; the first one is kept. Under the lock. */
static void breaks(struct weir_subscriber_probe *probe, const char *rule)
{
	if (!probe->broken[0])
		strncpy(probe->broken, rule, sizeof(probe->broken) - 1);
}

/* Measures the stack between signals on one thread. Under the lock. */
static void measure(struct weir_subscriber_probe *probe, const void *frame)
{
	uintptr_t at = (uintptr_t)frame;

	if (!probe->highest || !pthread_equal(probe->thread, pthread_self())) {
		probe->thread = pthread_self();
		probe->lowest = probe->highest = at;
	}
	if (at < probe->lowest)
		probe->lowest = at;
	if (at > probe->highest)
		probe->highest = at;
	if (probe->highest - probe->lowest > probe->counts.stack)
		probe->counts.stack = probe->highest - probe->lowest;
}

/* Begins every signal, and takes the lock. `frame`: of the signal. */
static void enter(struct weir_subscriber_probe *probe, const void *frame)
{
	bool others;

	probe->serial++;
	/* relaxed, as any order would hide signals that have none */
	others = ck_pr_faa_32(&probe->inside, 1) > 0;
	pthread_mutex_lock(&probe->lock);
	if (others)
		breaks(probe, pthread_equal(probe->thread, pthread_self())
				      ? "3.3: a signal inside a signal"
				      : "1.3: two signals at once");
	measure(probe, frame);
	if (probe->ended)
		breaks(probe, "1.7: a signal after the last one");
	if (probe->failed) {
		breaks(probe, "2.13: a signal after one that has failed");
		probe->counts.after_fail++;
	}
	if (probe->cancelled)
		probe->counts.after_cancel++;
	if (!ck_pr_load_32(&probe->subscriber.refs))
		breaks(probe, "3.13: a signal to a subscriber of which the "
			      "publisher holds no reference");
}

/* The last step of every signal, without the lock. */
static int leave(struct weir_subscriber_probe *probe, int result)
{
	ck_pr_dec_32(&probe->inside);
	return result;
}

/* The last step of a signal that has no effect, with the lock. */
static int refuse(struct weir_subscriber_probe *probe, int result)
{
	pthread_mutex_unlock(&probe->lock);
	return leave(probe, result);
}

/* Under the lock. */
static int fail(struct weir_subscriber_probe *probe, int error)
{
	probe->failed = true;
	return error;
}

static void tell(struct weir_subscriber_probe *probe, enum weir_signal signal)
{
	if (probe->options.signalled)
		probe->options.signalled(probe, signal, probe->options.context);
}

/* Records an item, or refuses it with an error. Under the lock. */
static int record(struct weir_subscriber_probe *probe, void *item)
{
	struct weir_subscriber_probe_counts *counts = &probe->counts;
	int64_t came = counts->items + counts->refused;
	void **items;

	if (counts->requested < INT64_MAX && came >= counts->requested)
		breaks(probe, "1.1: more items than were requested");
	if (probe->failed || counts->items + 1 == probe->options.fail_at) {
		counts->refused++;
		return fail(probe, -EIO);
	}
	if (counts->items == probe->options.limit) {
		breaks(probe, "more items than the probe's limit");
		counts->refused++;
		return fail(probe, -EOVERFLOW);
	}
	assert(counts->items <= probe->room);
	if (counts->items == probe->room) {
		items = realloc(probe->items,
				sizeof(*items) * 2 * (size_t)probe->room);
		if (!items) {
			breaks(probe, "no memory to record an item");
			counts->refused++;
			return fail(probe, -ENOMEM);
		}
		probe->items = items;
		probe->room *= 2;
	}
	probe->items[counts->items++] = item;
	return 0;
}

static bool broken(struct weir_subscriber_probe *probe)
{
	bool is_broken;

	pthread_mutex_lock(&probe->lock);
	is_broken = probe->broken[0] != '\0';
	pthread_mutex_unlock(&probe->lock);
	return is_broken;
}

/*
 * Called inside the signal of item `number`, from 1. A publisher that breaks
 * the rules is not asked for more, because it might never come to an end.
 */
static void after_item(struct weir_subscriber_probe *probe, void *item,
		       int64_t number)
{
	const struct weir_items *items =
		probe->subscription ? probe->subscription->items : NULL;

	if (probe->options.drops && items && items->drop)
		items->drop(item, items->context);
	tell(probe, WEIR_SIGNAL_ON_NEXT);
	if (number == probe->options.cancel_at)
		weir_subscriber_probe_cancel(probe);
	if (broken(probe))
		weir_subscriber_probe_cancel(probe);
	else if (probe->options.request_each)
		weir_subscriber_probe_request(probe,
					      probe->options.request_each);
}

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	struct weir_subscriber_probe *probe = probe_of(subscriber);

	enter(probe, __builtin_frame_address(0));
	if (!subscription) {
		breaks(probe, "2.13: on_subscribe(NULL)");
		return refuse(probe, -EINVAL);
	}
	probe->counts.subscriptions++;
	if (probe->subscription) {
		breaks(probe, "2.12: on_subscribe for a second time");
		pthread_mutex_unlock(&probe->lock);
		weir_subscription_cancel(subscription);
		return leave(probe, 0);
	}
	probe->subscription = weir_subscription_ref(subscription);
	if (probe->options.fail_at == -1)
		return refuse(probe, fail(probe, -EIO));
	pthread_mutex_unlock(&probe->lock);
	tell(probe, WEIR_SIGNAL_ON_SUBSCRIBE);
	if (probe->options.request_first)
		weir_subscriber_probe_request(probe,
					      probe->options.request_first);
	if (probe->options.cancel_at == -1)
		weir_subscriber_probe_cancel(probe);
	return leave(probe, 0);
}

/* Both forms of on_next. *taken of the items were recorded. */
static int receive(struct weir_subscriber_probe *probe, void *const *items,
		   size_t n, size_t *taken)
{
	int64_t number = 0;
	int rc = 0;
	size_t i;

	if (!probe->subscription)
		breaks(probe, "1.9: on_next before on_subscribe");
	for (i = 0; i < n && rc == 0; i++) {
		if (!items[i]) {
			breaks(probe, "2.13: on_next(NULL)");
			rc = -EINVAL;
		} else {
			rc = record(probe, items[i]);
		}
		number = probe->counts.items;
		pthread_mutex_unlock(&probe->lock);
		if (rc == 0) {
			after_item(probe, items[i], number);
			++*taken;
		}
		pthread_mutex_lock(&probe->lock);
	}
	pthread_mutex_unlock(&probe->lock);
	return leave(probe, rc);
}

static int on_next(struct weir_subscriber *subscriber, void *item)
{
	struct weir_subscriber_probe *probe = probe_of(subscriber);
	size_t taken = 0;

	enter(probe, __builtin_frame_address(0));
	return receive(probe, &item, 1, &taken);
}

static int on_next_n(struct weir_subscriber *subscriber, void *const *items,
		     size_t n, size_t *taken)
{
	struct weir_subscriber_probe *probe = probe_of(subscriber);

	enter(probe, __builtin_frame_address(0));
	if (!items || !taken || !n) {
		breaks(probe, "2.13: on_next_n without items");
		return refuse(probe, -EINVAL);
	}
	return receive(probe, items, n, taken);
}

/* Handles the last signal. `count` counts signals of its kind. */
static int probe_end(struct weir_subscriber_probe *probe, uint32_t *count,
		     enum weir_signal signal)
{
	if (!probe->subscription)
		breaks(probe, "1.9: the last signal before on_subscribe");
	++*count;
	probe->ended = true;
	pthread_mutex_unlock(&probe->lock);
	tell(probe, signal);
	return leave(probe, 0);
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	struct weir_subscriber_probe *probe = probe_of(subscriber);

	enter(probe, __builtin_frame_address(0));
	if (!error) {
		breaks(probe, "2.13: on_error(NULL)");
		return refuse(probe, -EINVAL);
	}
	if (!probe->error)
		probe->error = weir_error_ref(error);
	return probe_end(probe, &probe->counts.errors, WEIR_SIGNAL_ON_ERROR);
}

static int on_complete(struct weir_subscriber *subscriber)
{
	struct weir_subscriber_probe *probe = probe_of(subscriber);

	enter(probe, __builtin_frame_address(0));
	return probe_end(probe, &probe->counts.completions,
			 WEIR_SIGNAL_ON_COMPLETE);
}

static void probe_released(struct weir_subscriber *subscriber)
{
	struct weir_subscriber_probe *probe = probe_of(subscriber);

	pthread_mutex_lock(&probe->lock);
	if (ck_pr_load_32(&probe->inside))
		breaks(probe, "3.13: released inside a signal");
	if (!probe->ended && !probe->cancelling && !probe->failed)
		breaks(probe, "3.13: released before its stream has ended");
	if (++probe->counts.released > 1)
		breaks(probe, "3.13: released for a second time");
	pthread_mutex_unlock(&probe->lock);
	tell(probe, WEIR_SIGNAL_RELEASED);
}

static const struct weir_subscriber_ops one_by_one_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_error = on_error,
	.on_complete = on_complete,
	.released = probe_released,
};

static const struct weir_subscriber_ops batches_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_next_n = on_next_n,
	.on_error = on_error,
	.on_complete = on_complete,
	.released = probe_released,
};

int weir_subscriber_probe_new(
	struct weir_subscriber_probe **probe, const struct weir_test_env *env,
	const struct weir_subscriber_probe_options *options)
{
	struct weir_subscriber_probe *made;

	if (!probe)
		return -EINVAL;
	*probe = NULL;
	if (options && !weir__reserved_zero(options->reserved))
		return -EINVAL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->room = 16;
	made->items = malloc(sizeof(*made->items) * (size_t)made->room);
	if (!made->items) {
		free(made);
		return -ENOMEM;
	}
	made->env = env;
	if (options)
		made->options = *options;
	if (!made->options.limit)
		made->options.limit = LIMIT;
	pthread_mutex_init(&made->lock, NULL);
	weir_subscriber_init(&made->subscriber, made->options.batches
							? &batches_ops
							: &one_by_one_ops);
	*probe = made;
	return 0;
}

int weir_subscriber_probe_free(struct weir_subscriber_probe *probe)
{
	const struct weir_items *items;
	int64_t i;

	if (!probe)
		return 0;
	weir_subscriber_probe_cancel(probe);
	(void)weir_test_settle(probe->env);
	if (ck_pr_load_32(&probe->subscriber.refs))
		return -EBUSY;
	/* acquire: the writes before the last reference was dropped; pairs with
	 * the release in weir_subscriber_unref() */
	ck_pr_fence_acquire();
	items = probe->subscription ? probe->subscription->items : NULL;
	for (i = 0; items && items->drop && !probe->options.drops &&
		    i < probe->counts.items;
	     i++)
		items->drop(probe->items[i], items->context);
	weir_error_unref(probe->error);
	weir_subscription_unref(probe->subscription);
	pthread_mutex_destroy(&probe->lock);
	free(probe->items);
	free(probe);
	return 0;
}

struct weir_subscriber *weir_subscriber_probe_base(
	struct weir_subscriber_probe *probe)
{
	return &probe->subscriber;
}

void weir_subscriber_probe_request(struct weir_subscriber_probe *probe,
				   int64_t n)
{
	struct weir_subscription *subscription;
	int64_t *requested = &probe->counts.requested;

	pthread_mutex_lock(&probe->lock);
	subscription = probe->subscription;
	if (subscription && n > 0 && !probe->cancelling && !probe->ended)
		*requested = *requested > INT64_MAX - n ? INT64_MAX
							: *requested + n;
	pthread_mutex_unlock(&probe->lock);
	weir_subscription_request(subscription, n);
}

void weir_subscriber_probe_cancel(struct weir_subscriber_probe *probe)
{
	struct weir_subscription *subscription;

	pthread_mutex_lock(&probe->lock);
	subscription = probe->subscription;
	if (subscription)
		probe->cancelling = true;
	pthread_mutex_unlock(&probe->lock);
	weir_subscription_cancel(subscription);
	pthread_mutex_lock(&probe->lock);
	if (subscription)
		probe->cancelled = true;
	pthread_mutex_unlock(&probe->lock);
}
