/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * References of subscribers and subscriptions under all interleavings: who
 * drops the last one releases it, once, and after all that the others did.
 */
#include <stddef.h>
#include <stdint.h>

#include <weir/stream.h>

#include "runner.h"

/* On the heap, and freed by `released`: a later touch is a failure. */
struct held {
	struct weir_subscription subscription;
	struct weir_subscriber subscriber;
	uint32_t written[2]; /* plain: by thread */
};

static struct world {
	struct held *held;
	uint32_t released; /* plain */
} world;

static void is_released(struct held *held)
{
	explorer_assert(held->written[0] == 1 && held->written[1] == 1);
	world.released++;
	explorer_free(held);
}

static void subscription_released(struct weir_subscription *subscription)
{
	is_released(weir_container_of(subscription, struct held, subscription));
}

static void subscriber_released(struct weir_subscriber *subscriber)
{
	is_released(weir_container_of(subscriber, struct held, subscriber));
}

static void no_request(struct weir_subscription *subscription, int64_t n)
{
}

static void no_cancel(struct weir_subscription *subscription)
{
}

static int no_subscription(struct weir_subscriber *subscriber,
			   struct weir_subscription *subscription)
{
	return 0;
}

static int no_item(struct weir_subscriber *subscriber, void *item)
{
	return 0;
}

static int no_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	return 0;
}

static int no_end(struct weir_subscriber *subscriber)
{
	return 0;
}

static const struct weir_subscription_ops subscription_ops = {
	.request = no_request,
	.cancel = no_cancel,
	.released = subscription_released,
};

static const struct weir_subscriber_ops subscriber_ops = {
	.on_subscribe = no_subscription,
	.on_next = no_item,
	.on_error = no_error,
	.on_complete = no_end,
	.released = subscriber_released,
};

static void two_hold_both(void *context)
{
	struct world *w = context;

	w->held = explorer_alloc(sizeof(*w->held));
	explorer_assert(weir_subscription_init(&w->held->subscription,
					       &subscription_ops, NULL) == 0);
	explorer_assert(weir_subscriber_init(&w->held->subscriber,
					     &subscriber_ops) == 0);
	weir_subscription_ref(&w->held->subscription);
	weir_subscriber_ref(&w->held->subscriber);
	weir_subscriber_ref(&w->held->subscriber);
	explorer_name(&w->held->subscription.refs, sizeof(uint32_t),
		      "subscription");
	explorer_name(&w->held->subscriber.refs, sizeof(uint32_t),
		      "subscriber");
}

static void write_down(struct world *w)
{
	w->held->written[explorer_thread()] = 1;
}

static void drops_subscription(void *context)
{
	struct world *w = context;

	write_down(w);
	weir_subscription_unref(&w->held->subscription);
}

/* Lends it once more, as who passes it on does. */
static void lends_subscription(void *context)
{
	struct world *w = context;
	struct weir_subscription *lent =
		weir_subscription_ref(&w->held->subscription);

	weir_subscription_unref(&w->held->subscription);
	write_down(w);
	weir_subscription_unref(lent);
}

static void drops_subscriber(void *context)
{
	struct world *w = context;

	write_down(w);
	weir_subscriber_unref(&w->held->subscriber);
}

static void lends_subscriber(void *context)
{
	struct world *w = context;
	struct weir_subscriber *lent =
		weir_subscriber_ref(&w->held->subscriber);

	weir_subscriber_unref(&w->held->subscriber);
	write_down(w);
	weir_subscriber_unref(lent);
}

static void released_once(void *context)
{
	const struct world *w = context;

	explorer_assert(w->released == 1);
	explorer_assert(explorer_allocated() == 0);
}

#define SCENARIO(...) \
	{ \
		.setup = two_hold_both, .check = released_once, \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "two drop a subscription",
		 .thread = {drops_subscription, drops_subscription}),
	SCENARIO(.name = "two lend a subscription",
		 .thread = {lends_subscription, lends_subscription}),
	SCENARIO(.name = "two drop a subscriber",
		 .thread = {drops_subscriber, drops_subscriber}),
	SCENARIO(.name = "two lend a subscriber",
		 .thread = {lends_subscriber, lends_subscriber}),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "the_last_one_releases", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/"},
};
const size_t n_model_cases = N_OF(model_cases);
