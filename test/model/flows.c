/* SPDX-License-Identifier: BSD-2-Clause */
/* The actors, subscribers and subscriptions of flows.h. */
#include "flows.h"

#include <errno.h>

#include <ck_pr.h>

#include "base/demand.h"

struct flow flow;

static struct weir_actor_ops ops[SCENE_ACTORS];
static void (*scene_released)(struct weir_actor *actor);

/* --- Actors --------------------------------------------------------------- */

/* What is attached to its ports goes with the actor. */
static void released(struct weir_actor *actor)
{
	struct node *node = weir_container_of(actor, struct node, actor);
	struct flow *f = weir_container_of(node->scene, struct flow, scene);
	uint32_t i = node->index;

	scene_released(actor);
	if (f->out[i])
		explorer_free(f->out[i]);
	if (f->in[i])
		explorer_free(f->in[i]);
}

static int signalled(struct weir_actor *actor)
{
	struct node *node = weir_container_of(actor, struct node, actor);
	struct flow *f = weir_container_of(node->scene, struct flow, scene);

	return f->failing == node ? -EIO : 0;
}

void flow_fail(struct flow *f, struct node *node)
{
	f->failing = node;
	weir_actor_signal(&node->actor);
}

/* Before it does anything. */
static void own_ops(struct node *node)
{
	struct weir_actor_ops *mine = &ops[node->index];

	if (node->actor.ops == mine)
		return;
	scene_released = node->actor.ops->released;
	*mine = *node->actor.ops;
	mine->released = released;
	mine->signalled = signalled;
	node->actor.ops = mine;
}

struct flow *flow_open(void *context)
{
	struct flow *f = context;

	scene_open(&f->scene, false);
	explorer_name(f, sizeof(*f), "flow");
	return f;
}

struct node *flow_source(struct flow *f, uint32_t n, bool fan)
{
	struct node *node = scene_source(&f->scene, 0, n - 1);
	struct weir_reactive_out *out = explorer_alloc(sizeof(*out));

	explorer_name(out, sizeof(*out), "reactive out");
	f->out[node->index] = out;
	own_ops(node);
	if (fan)
		explorer_assert(weir_out_fan(&node->out, WEIR_BALANCE, 2) == 0);
	explorer_assert(
		weir_reactive_out_init(out, &node->out,
				       &(struct weir_reactive_out_options){
					       .capacity = 2,
				       }) == 0);
	return node;
}

static uint32_t sink_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = weir_container_of(actor, struct node, actor);
	struct flow *f = weir_container_of(node->scene, struct flow, scene);

	scene_take(node, 0);
	if (node->fate->delivered == node->stop_after)
		weir_actor_finish(actor);
	if (node->fate->delivered == f->cancel_after)
		weir_in_cancel(&node->in[0]);
	return 1;
}

struct node *flow_sink(struct flow *f, size_t capacity, size_t prefetch)
{
	const struct weir_reactive_in_options options = {.prefetch = prefetch};
	struct node *node = scene_node(&f->scene, sink_turn);
	struct weir_reactive_in *in = explorer_alloc(sizeof(*in));

	explorer_name(in, sizeof(*in), "reactive in");
	f->in[node->index] = in;
	own_ops(node);
	explorer_assert(
		weir_in_init(&node->in[0], &node->actor, capacity, NULL) == 0);
	explorer_assert(weir_reactive_in_init(in, &node->in[0], &options) == 0);
	return node;
}

/* --- A subscriber by hand ------------------------------------------------- */

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

void flow_taker(struct flow *f, uint32_t i, int64_t first)
{
	struct taker *taker = explorer_alloc(sizeof(*taker));
	struct taking *taking = &f->takings[i];

	explorer_name(taker, sizeof(*taker), i ? "taker 1" : "taker 0");
	taker->taking = taking;
	*taking = (struct taking){
		.subscriber = &taker->subscriber,
		.first = first,
	};
	explorer_assert(weir_subscriber_init(&taker->subscriber, &taker_ops) ==
			0);
}

void flow_let_go(struct flow *f, uint32_t taker)
{
	struct weir_subscription *held = f->takings[taker].held;

	f->takings[taker].held = NULL;
	weir_subscription_unref(held);
}

void flow_subscribe(struct flow *f, uint32_t node,
		    struct weir_subscriber *subscriber)
{
	explorer_assert(weir_subscribe(&f->out[node]->publisher, subscriber) ==
			0);
}

void flow_subscribe_taker(struct flow *f, uint32_t i)
{
	flow_subscribe(f, 0, f->takings[i].subscriber);
}

/* --- A publisher by hand -------------------------------------------------- */

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

void flow_giver(struct flow *f, const struct node *sink)
{
	struct giver *giver = explorer_alloc(sizeof(*giver));

	explorer_name(giver, sizeof(*giver), "giver");
	giver->giving = &f->giving;
	f->giving = (struct giving){
		.subscription = &giver->subscription,
		.subscriber =
			weir_subscriber_ref(&f->in[sink->index]->subscriber),
	};
}

void flow_begin(struct flow *f)
{
	struct weir_subscription *subscription = f->giving.subscription;
	struct weir_subscriber *subscriber = f->giving.subscriber;

	explorer_assert(weir_subscription_init(subscription, &giver_ops,
					       &f->scene.items) == 0);
	explorer_assert(
		subscriber->ops->on_subscribe(subscriber, subscription) == 0);
}

/* Was requested. */
static struct token *next_token(struct flow *f)
{
	struct token *token = &f->scene.tokens[f->giving.sent++];

	token->value = MADE;
	token->accepted = true;
	return token;
}

bool flow_give(struct flow *f)
{
	struct giving *giving = &f->giving;
	struct weir_subscriber *subscriber = giving->subscriber;

	if (weir__demand_left(&giving->requested, giving->sent) <= 0)
		return false;
	explorer_assert(subscriber->ops->on_next(subscriber, next_token(f)) ==
			0);
	return true;
}

void flow_give_two(struct flow *f)
{
	struct giving *giving = &f->giving;
	struct weir_subscriber *subscriber = giving->subscriber;
	void *items[2];
	size_t taken = 0;

	explorer_assert(weir__demand_left(&giving->requested, giving->sent) >=
			2);
	items[0] = next_token(f);
	items[1] = next_token(f);
	explorer_assert(
		subscriber->ops->on_next_n(subscriber, items, 2, &taken) == 0);
	explorer_assert(taken == 2);
}

void flow_complete(struct flow *f)
{
	struct weir_subscriber *subscriber = f->giving.subscriber;

	explorer_assert(subscriber->ops->on_complete(subscriber) == 0);
}

void flow_giver_let_go(struct flow *f)
{
	weir_subscriber_unref(f->giving.subscriber);
	weir_subscription_unref(f->giving.subscription);
	f->giving.subscriber = NULL;
}

/* --- Threads and checks --------------------------------------------------- */

void slice_0(void *context)
{
	scene_run(context, 0);
}

void slice_1(void *context)
{
	scene_run(context, 1);
}

void work_0(void *context)
{
	while (scene_run(context, 0))
		;
}

void work_1(void *context)
{
	while (scene_run(context, 1))
		;
}

void flow_is_over(void *context)
{
	struct flow *f = context;
	uint32_t i;

	scene_settle(&f->scene);
	for (i = 0; i < FLOW_TAKERS; i++) {
		const struct taking *taking = &f->takings[i];

		if (!taking->subscriber)
			continue;
		flow_let_go(f, i);
		explorer_assert(taking->subscribed == 1);
		explorer_assert(taking->released == 1);
	}
	if (f->giving.subscriber)
		flow_giver_let_go(f);
	if (f->giving.subscription)
		explorer_assert(f->giving.released == 1);
	scene_is_over(&f->scene);
}
