/* SPDX-License-Identifier: BSD-2-Clause */
/* See stream_kit.h. */
#include "stream_kit.h"

#include <errno.h>

#include <ck_pr.h>

#include "base/demand.h"

/* --- Subscribers ------------------------------------------------- */

struct taker {
	struct weir_subscriber subscriber;
	struct taking *taking;
};

static struct taking *taking_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct taker, subscriber)->taking;
}

static void check_before_end(const struct taking *taking)
{
	explorer_assert(taking->subscribed == 1);
	explorer_assert(taking->completes + taking->errors == 0);
}

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	struct taking *taking = taking_of(subscriber);

	taking->subscribed++;
	check_before_end(taking);
	taking->held = weir_subscription_ref(subscription);
	if (taking->first)
		weir_subscription_request(subscription, taking->first);
	return 0;
}

static int on_next(struct weir_subscriber *subscriber, void *item)
{
	struct taking *taking = taking_of(subscriber);
	struct token *token = item;

	check_before_end(taking);
	if (taking->refuses) {
		taking->refused++;
		return -EIO;
	}
	explorer_assert(token->value == MADE);
	token->value = DELIVERED;
	taking->seen++;
	return 0;
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	struct taking *taking = taking_of(subscriber);

	check_before_end(taking);
	taking->errors++;
	taking->code = error->code;
	return 0;
}

static int on_complete(struct weir_subscriber *subscriber)
{
	struct taking *taking = taking_of(subscriber);

	check_before_end(taking);
	taking->completes++;
	return 0;
}

static void taker_released(struct weir_subscriber *subscriber)
{
	struct taking *taking = taking_of(subscriber);

	taking->released++;
	explorer_free(weir_container_of(subscriber, struct taker, subscriber));
}

static const struct weir_subscriber_ops taker_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_error = on_error,
	.on_complete = on_complete,
	.released = taker_released,
};

void taker_new(struct taking *taking, int64_t first, const char *name)
{
	struct taker *taker = explorer_alloc(sizeof(*taker));

	explorer_name(taker, sizeof(*taker), name);
	taker->taking = taking;
	*taking = (struct taking){
		.subscriber = &taker->subscriber,
		.first = first,
	};
	explorer_assert(weir_subscriber_init(&taker->subscriber, &taker_ops) ==
			0);
}

void taker_let_go(struct taking *taking)
{
	struct weir_subscription *held = taking->held;

	taking->held = NULL;
	weir_subscription_unref(held);
}

void taker_is_over(struct taking *taking)
{
	if (!taking->subscriber)
		return;
	taker_let_go(taking);
	explorer_assert(taking->subscribed == 1);
	explorer_assert(taking->released == 1);
}

/* --- Publishers -------------------------------------------------- */

struct giver {
	struct weir_subscription subscription;
	struct giving *giving;
};

static struct giving *giving_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct giver, subscription)
		->giving;
}

static void request(struct weir_subscription *subscription, int64_t n)
{
	explorer_assert(n > 0);
	weir__demand_add(&giving_of(subscription)->requested, n);
}

static void cancel(struct weir_subscription *subscription)
{
	explorer_assert(ck_pr_faa_32(&giving_of(subscription)->cancels, 1) ==
			0);
}

static void giver_released(struct weir_subscription *subscription)
{
	giving_of(subscription)->released++;
	explorer_free(
		weir_container_of(subscription, struct giver, subscription));
}

static const struct weir_subscription_ops giver_ops = {
	.request = request,
	.cancel = cancel,
	.released = giver_released,
};

void giver_new(struct giving *giving, struct scene *s)
{
	struct giver *giver = explorer_alloc(sizeof(*giver));

	explorer_name(giver, sizeof(*giver), "giver");
	giver->giving = giving;
	*giving = (struct giving){
		.subscription = &giver->subscription,
		.items = &s->items,
		.tokens = s->tokens,
	};
}

void giver_begin(struct giving *giving)
{
	struct weir_subscription *subscription = giving->subscription;
	struct weir_subscriber *subscriber = giving->subscriber;

	giving->begun = true;
	explorer_assert(weir_subscription_init(subscription, &giver_ops,
					       giving->items) == 0);
	explorer_assert(
		subscriber->ops->on_subscribe(subscriber, subscription) == 0);
}

static struct token *next_token(struct giving *giving)
{
	struct token *token = &giving->tokens[giving->sent++];

	token->value = MADE;
	token->accepted = true;
	return token;
}

int giver_force(struct giving *giving)
{
	struct weir_subscriber *subscriber = giving->subscriber;
	struct token *token = next_token(giving);
	int rc = subscriber->ops->on_next(subscriber, token);

	token->accepted = rc == 0;
	return rc;
}

bool giver_give(struct giving *giving)
{
	if (weir__demand_left(&giving->requested, giving->sent) <= 0)
		return false;
	explorer_assert(giver_force(giving) == 0);
	return true;
}

void giver_give_two(struct giving *giving)
{
	struct weir_subscriber *subscriber = giving->subscriber;
	void *items[2];
	size_t taken = 0;

	explorer_assert(weir__demand_left(&giving->requested, giving->sent) >=
			2);
	items[0] = next_token(giving);
	items[1] = next_token(giving);
	explorer_assert(
		subscriber->ops->on_next_n(subscriber, items, 2, &taken) == 0);
	explorer_assert(taken == 2);
}

void giver_complete(struct giving *giving)
{
	struct weir_subscriber *subscriber = giving->subscriber;

	explorer_assert(subscriber->ops->on_complete(subscriber) == 0);
}

void giver_let_go(struct giving *giving)
{
	weir_subscriber_unref(giving->subscriber);
	giving->subscriber = NULL;
	if (giving->begun)
		weir_subscription_unref(giving->subscription);
	else
		giver_released(giving->subscription);
}
