/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subscribers of a publisher over an out-port: the functions that they
 * call, and how the out-port hands out to them, as its sinks. A sink's room is
 * the subscriber's demand; handing out is calling on_next.
 *
 * `request` adds demand and unblocks the out-port by rule 2 of the firing
 * protocol (firing.c); `cancel` sets a bit and signals. Neither waits for
 * anything, calls user code, or recurses (3.3 to 3.5). Any thread calls them;
 * the owner does all else.
 */
#include <assert.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "base/demand.h"
#include "base/fence.h"
#include "base/memory.h"
#include "executor/registry.h"
#include "stream/reactive.h"

static struct weir_error not_positive = {
	.code = -EINVAL,
	.origin = "weir",
	.message = "3.9: non-positive subscription request",
};

static struct weir_error null_item = {
	.code = -EINVAL,
	.origin = "weir",
	.message = "2.13: a null item cannot be sent to a subscriber",
};

static struct weir_actor *actor_of(const struct weir_reactive_out *reactive)
{
	return reactive->out->port.actor;
}

static struct weir__out_subscription *out_subscription_of(
	struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct weir__out_subscription,
				 subscription);
}

void weir__reactive_out_want(struct weir_reactive_out *reactive)
{
	if (!reactive->source || ck_pr_load_32(&reactive->wanted))
		return;
	ck_pr_store_32(&reactive->wanted, 1);
	/* store -> load, rule 2; pairs with the fence of the arming */
	weir__fence_full();
	weir__port_unblock(&reactive->source->port);
}

static void request(struct weir_subscription *subscription, int64_t n)
{
	struct weir__out_subscription *sub = out_subscription_of(subscription);

	if (weir__out_subscription_state(sub) &
	    (WEIR__SUBSCRIPTION_GONE | WEIR__SUBSCRIPTION_OVER))
		return;
	if (n <= 0) {
		ck_pr_or_32(&sub->state, WEIR__SUBSCRIPTION_BAD);
		weir__actor_signal(actor_of(sub->reactive), WEIR__SIGNAL_PORTS);
		return;
	}
	weir__demand_add(&sub->granted, n);
	/* swap -> load, rule 2; pairs with the fence of the arming */
	ck_pr_fence_atomic_load();
	weir__port_unblock(&sub->reactive->out->port);
	weir__reactive_out_want(sub->reactive);
}

static void cancel(struct weir_subscription *subscription)
{
	struct weir__out_subscription *sub = out_subscription_of(subscription);

	if (weir__out_subscription_state(sub) &
	    (WEIR__SUBSCRIPTION_CANCELLED | WEIR__SUBSCRIPTION_OVER))
		return;
	ck_pr_or_32(&sub->state, WEIR__SUBSCRIPTION_CANCELLED);
	weir__actor_signal(actor_of(sub->reactive), WEIR__SIGNAL_PORTS);
}

static void subscription_released(struct weir_subscription *subscription)
{
	struct weir__out_subscription *sub = out_subscription_of(subscription);
	struct weir_actor *actor = actor_of(sub->reactive);

	weir__registry_await_look(actor->executor);
	weir__free(actor->executor->options.allocator, sub, sizeof(*sub));
	weir_actor_unref(actor);
}

static const struct weir_subscription_ops subscription_ops = {
	.request = request,
	.cancel = cancel,
	.released = subscription_released,
};

bool weir__subscription_drains(const struct weir_subscription *subscription,
			       const struct weir_executor *executor)
{
	const struct weir__out_subscription *sub =
		(const struct weir__out_subscription *)(const void *)
			subscription;

	_Static_assert(offsetof(struct weir__out_subscription, subscription) ==
			       0,
		       "a sub begins with its subscription");
	return subscription->ops == &subscription_ops &&
	       actor_of(sub->reactive)->executor == executor;
}

struct weir__out_subscription *weir__out_subscription_new(
	struct weir_reactive_out *reactive, struct weir_subscriber *subscriber)
{
	struct weir_actor *actor = actor_of(reactive);
	struct weir__out_subscription *sub =
		weir__alloc(actor->executor->options.allocator, sizeof(*sub));

	if (!sub)
		return NULL;
	(void)weir_subscription_init(&sub->subscription, &subscription_ops,
				     reactive->out->items);
	weir_actor_ref(actor);
	sub->reactive = reactive;
	sub->subscriber = weir_subscriber_ref(subscriber);
	return sub;
}

void weir__out_subscription_detach(struct weir__out_subscription *sub)
{
	struct weir_subscriber *subscriber = sub->subscriber;
	struct weir_actor *self;

	assert(subscriber);
	ck_pr_or_32(&sub->state, WEIR__SUBSCRIPTION_OVER);
	sub->subscriber = NULL;
	self = weir__step_out();
	weir_subscriber_unref(subscriber);
	weir_subscription_unref(&sub->subscription);
	weir__step_in(self);
}

void weir__broken(const struct weir_executor *executor,
		  struct weir_subscriber *subscriber, int rc)
{
	const struct weir_executor_options *options = &executor->options;

	if (options->broken)
		options->broken(subscriber, rc, options->context);
}

void weir__reactive_out_broken(struct weir_reactive_out *reactive,
			       struct weir_subscriber *subscriber, int rc)
{
	weir__broken(actor_of(reactive)->executor, subscriber, rc);
}

/*
 * Calls on_error, or on_complete if there is no error, unless the subscriber
 * has cancelled.
 */
static void send_end(struct weir__out_subscription *sub,
		     struct weir_error *error)
{
	struct weir_subscriber *subscriber = sub->subscriber;
	uint32_t state = weir__out_subscription_state(sub);
	struct weir_actor *self;
	int rc;

	if (state & (WEIR__SUBSCRIPTION_CANCELLED | WEIR__SUBSCRIPTION_BROKEN))
		return;
	if (state & WEIR__SUBSCRIPTION_BAD)
		error = &not_positive;
	else if (state & WEIR__SUBSCRIPTION_NULL)
		error = &null_item;
	/* there is one last signal (1.7) */
	assert(subscriber && !(state & WEIR__SUBSCRIPTION_OVER));
	/* before the signal: from then on the subscription counts as cancelled
	 * (1.6) */
	ck_pr_or_32(&sub->state, WEIR__SUBSCRIPTION_OVER);
	self = weir__step_out();
	rc = error ? subscriber->ops->on_error(subscriber, error)
		   : subscriber->ops->on_complete(subscriber);
	if (rc != 0)
		weir__reactive_out_broken(sub->reactive, subscriber, rc);
	weir__step_in(self);
}

/* --- As sinks of the out-port --------------------------------------------- */

static struct weir__out_subscription *out_subscription_at(
	struct weir__sink *sink)
{
	return weir_container_of(sink, struct weir__out_subscription, sink);
}

static uint32_t subscription_room(struct weir__sink *sink)
{
	struct weir__out_subscription *sub = out_subscription_at(sink);
	int64_t left = weir__demand_left(&sub->granted, sub->used);

	assert(left >= 0);
	return left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

/* Sends items one by one. Returns how many the subscriber has taken. */
static uint32_t send_each(struct weir__out_subscription *sub,
			  const struct weir__slot *slots, uint32_t n, int *rc)
{
	struct weir_subscriber *subscriber = sub->subscriber;
	uint32_t i;

	for (i = 0; i < n; i++) {
		/* 1.8: looked at before each item, as a cancel may come from
		 * inside on_next */
		if (weir__out_subscription_state(sub) & WEIR__SUBSCRIPTION_GONE)
			break;
		*rc = subscriber->ops->on_next(subscriber, slots[i].item);
		if (WEIR_UNLIKELY(*rc != 0))
			break;
	}
	return i;
}

static void *const *items_of(const struct weir__slot *slots)
{
	_Static_assert(sizeof(struct weir__slot) == sizeof(void *),
		       "slots are an array of items");
	return (void *const *)(const void *)slots;
}

/* All at once; the number taken. */
static uint32_t send_all(struct weir__out_subscription *sub,
			 const struct weir__slot *slots, uint32_t n, int *rc)
{
	struct weir_subscriber *subscriber = sub->subscriber;
	size_t taken = 0;

	if (weir__out_subscription_state(sub) & WEIR__SUBSCRIPTION_GONE)
		return 0;
	*rc = subscriber->ops->on_next_n(subscriber, items_of(slots), n,
					 &taken);
	return *rc == 0 || taken > n ? n : (uint32_t)taken;
}

static void subscription_drop(struct weir__out_subscription *sub,
			      const struct weir__slot *slots, uint32_t n)
{
	const struct weir_items *items = sub->subscription.items;
	uint32_t i;

	for (i = 0; items && items->drop && i < n; i++)
		items->drop(slots[i].item, items->context);
	if (n)
		weir__registry_dropped(actor_of(sub->reactive)->executor, n);
}

static void subscription_give(struct weir__sink *sink,
			      const struct weir__slot *slots, uint32_t n)
{
	struct weir__out_subscription *sub = out_subscription_at(sink);
	uint32_t good = weir__items_to_null(items_of(slots), n), taken;
	struct weir_actor *self = weir__step_out();
	int rc = 0;

	assert(n <= subscription_room(sink));
	if (good > 1 && sub->subscriber->ops->on_next_n)
		taken = send_all(sub, slots, good, &rc);
	else
		taken = send_each(sub, slots, good, &rc);
	if (WEIR_UNLIKELY(rc != 0))
		weir__reactive_out_broken(sub->reactive, sub->subscriber, rc);
	weir__step_in(self);
	sub->used += n;
	if (WEIR_LIKELY(taken == n && rc == 0))
		return;
	subscription_drop(sub, slots + taken, n - taken);
	if (rc != 0)
		ck_pr_or_32(&sub->state, WEIR__SUBSCRIPTION_BROKEN);
	else if (taken == good && good < n)
		ck_pr_or_32(&sub->state, WEIR__SUBSCRIPTION_NULL);
	/* The set of sinks changes between runs only. */
	weir__actor_signal(actor_of(sub->reactive), WEIR__SIGNAL_PORTS);
}

static bool subscription_gone(struct weir__sink *sink)
{
	return weir__out_subscription_state(out_subscription_at(sink)) &
	       WEIR__SUBSCRIPTION_GONE;
}

static void subscription_end(struct weir__sink *sink, struct weir_error *error)
{
	send_end(out_subscription_at(sink), error);
	weir__out_subscription_detach(out_subscription_at(sink));
}

static void subscription_left(struct weir__sink *sink)
{
	subscription_end(sink, NULL);
}

static WEIR__LOOKS void subscription_look(const struct weir__sink *sink,
					  struct weir__look *look)
{
	const struct weir__out_subscription *sub = weir_container_of(
		sink, const struct weir__out_subscription, sink);
	const struct weir_seen_demand half = {
		.subscription = &sub->subscription,
		.requested =
			(int64_t)ck_pr_load_64((const uint64_t *)&sub->granted),
		.sent = sub->used,
		.from_port = look->seen->port,
	};

	look->demand(look, &half);
}

static const struct weir__sink_ops sink_ops = {
	.look = subscription_look,
	.room = subscription_room,
	.give = subscription_give,
	.gone = subscription_gone,
	.left = subscription_left,
	.end = subscription_end,
};

void weir__out_subscription_attach(struct weir__out_subscription *sub)
{
	assert(!sub->sink.ops && sub->subscriber);
	sub->sink.ops = &sink_ops;
	weir__out_add(sub->reactive->out, &sub->sink);
}
