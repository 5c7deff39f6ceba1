/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over out-ports: subscribers come, request, cancel and let go from
 * other threads while the actor sends, arms its port, and ends.
 */
#include "flows.h"

#include <errno.h>

static struct taking *taking(void *context, uint32_t i)
{
	return &((struct flow *)context)->takings[i];
}

static void request_one(void *context)
{
	weir_subscription_request(taking(context, 0)->held, 1);
}

static void request_none(void *context)
{
	weir_subscription_request(taking(context, 0)->held, 0);
}

static void cancel_0(void *context)
{
	weir_subscription_cancel(taking(context, 0)->held);
}

static void cancel_1(void *context)
{
	weir_subscription_cancel(taking(context, 1)->held);
}

static void let_go(void *context)
{
	flow_let_go(context, 0);
}

static void request_and_let_go(void *context)
{
	request_one(context);
	let_go(context);
}

static void cancel_and_let_go(void *context)
{
	cancel_0(context);
	let_go(context);
}

/* --- One subscriber ------------------------------------------------------- */

/* A source of `n` and its subscriber, who has requested `first`. */
static struct flow *subscribed(void *context, uint32_t n, int64_t first)
{
	struct flow *f = flow_open(context);

	flow_source(f, n, false);
	flow_taker(f, 0, first);
	scene_start(&f->scene);
	flow_subscribe_taker(f, 0);
	scene_run(&f->scene, 0);
	return f;
}

/* One item is sent, and the next slice is the one that arms. */
static void one_of_two_sent(void *context)
{
	subscribed(context, 2, 1);
	explorer_assert(taking(context, 0)->seen == 1);
}

static void one_of_three_sent(void *context)
{
	subscribed(context, 3, 1);
}

/* It rests, and has been woken by a request for all of them. */
static void all_requested(void *context, uint32_t n)
{
	struct flow *f = subscribed(context, n, 0);

	scene_settle(&f->scene);
	weir_subscription_request(taking(context, 0)->held, n);
}

static void last_requested(void *context)
{
	all_requested(context, 1);
}

static void two_requested(void *context)
{
	all_requested(context, 2);
}

/* It will not take any. */
static void refused(void *context)
{
	two_requested(context);
	taking(context, 0)->refuses = true;
}

static uint32_t null_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = weir_container_of(actor, struct node, actor);

	explorer_assert(weir_out_put(&node->out, NULL) == 0);
	return 1;
}

/* There is an item that cannot be sent. */
static void null_requested(void *context)
{
	two_requested(context);
	((struct flow *)context)->scene.nodes[0]->actor.turns = null_turn;
	((struct flow *)context)->scene.items.drop = NULL;
}

static void all_seen(void *context)
{
	struct flow *f = context;

	flow_is_over(context);
	explorer_assert(taking(f, 0)->completes == 1);
	explorer_assert(f->scene.fates[0].code == 0);
	explorer_assert(taking(f, 0)->seen ==
			(f->scene.tokens[2].accepted ? 3u : 2u));
}

/* It was not told of an end after it had cancelled, or of one. */
static void one_end_at_most(void *context)
{
	flow_is_over(context);
	explorer_assert(taking(context, 0)->errors == 0 ||
			taking(context, 0)->code == -EINVAL);
}

/* Who is broken is sent nothing more, whatever it asks for. */
static void no_more(void *context)
{
	const struct taking *t = taking(context, 0);

	flow_is_over(context);
	explorer_assert(t->refused <= 1 && !t->seen && !t->completes);
	explorer_assert(!t->refused || !t->errors);
}

static void one_end(void *context)
{
	flow_is_over(context);
	explorer_assert(taking(context, 0)->completes == 1);
}

/* --- Subscribing ---------------------------------------------------------- */

static void subscribe(void *context, uint32_t i)
{
	struct flow *f = context;
	struct weir_actor *actor = &f->scene.nodes[0]->actor;

	flow_subscribe_taker(f, i);
	weir_actor_unref(actor);
}

static void subscribe_0(void *context)
{
	subscribe(context, 0);
}

static void subscribe_1(void *context)
{
	subscribe(context, 1);
}

/* A source at rest; two hold it to subscribe to it. */
static struct flow *two_come(void *context, uint32_t n, bool fan)
{
	struct flow *f = flow_open(context);
	struct node *source = flow_source(f, n, fan);
	uint32_t i;

	for (i = 0; i < FLOW_TAKERS; i++) {
		flow_taker(f, i, 1);
		weir_actor_ref(&source->actor);
	}
	scene_start(&f->scene);
	scene_settle(&f->scene);
	return f;
}

static void two_come_at_the_end(void *context)
{
	struct flow *f = two_come(context, 1, false);

	weir_actor_stop(&f->scene.nodes[0]->actor);
}

static void two_come_at_the_failure(void *context)
{
	struct flow *f = two_come(context, 1, false);

	flow_fail(f, f->scene.nodes[0]);
}

static void two_come_for_one_place(void *context)
{
	struct flow *f = two_come(context, 2, false);

	weir_actor_signal(&f->scene.nodes[0]->actor);
}

static void two_come_for_two_places(void *context)
{
	struct flow *f = two_come(context, 2, true);

	weir_actor_signal(&f->scene.nodes[0]->actor);
}

/* Before it fails it may have taken one on, and rejected the other. */
static void everyone_is_told(void *context)
{
	struct flow *f = context;
	int code = f->failing ? -EIO : -ECANCELED;
	uint32_t i;

	flow_is_over(context);
	for (i = 0; i < FLOW_TAKERS; i++) {
		explorer_assert(taking(f, i)->errors == 1);
		explorer_assert(taking(f, i)->code == code ||
				(f->failing && taking(f, i)->code == -EISCONN));
	}
}

static void one_is_served(void *context)
{
	uint32_t served;

	scene_settle(context);
	served = taking(context, 0)->seen ? 0 : 1;
	explorer_assert(taking(context, served)->seen == 1);
	weir_subscription_request(taking(context, served)->held, 1);
	flow_is_over(context);
	explorer_assert(taking(context, served)->completes == 1);
	explorer_assert(taking(context, !served)->code == -EISCONN);
}

static void both_are_served(void *context)
{
	uint32_t i;

	flow_is_over(context);
	for (i = 0; i < FLOW_TAKERS; i++) {
		explorer_assert(taking(context, i)->completes == 1);
		explorer_assert(taking(context, i)->seen == 1);
	}
}

static void two_subscribed(void *context)
{
	struct flow *f = flow_open(context);
	uint32_t i;

	flow_source(f, 3, true);
	scene_start(&f->scene);
	for (i = 0; i < FLOW_TAKERS; i++) {
		flow_taker(f, i, 0);
		flow_subscribe_taker(f, i);
	}
	scene_settle(&f->scene);
	request_one(f);
}

/* The first has its item and leaves. */
static void one_leaves_and_one_comes(void *context)
{
	struct flow *f = flow_open(context);
	struct node *source = flow_source(f, 2, true);

	flow_taker(f, 0, 1);
	flow_taker(f, 1, 1);
	weir_actor_ref(&source->actor);
	scene_start(&f->scene);
	flow_subscribe_taker(f, 0);
	scene_settle(&f->scene);
	weir_actor_signal(&source->actor);
}

/* Who came in time is served, who came too late is told. */
static void the_other_has_an_end(void *context)
{
	const struct taking *t = taking(context, 1);

	flow_is_over(context);
	explorer_assert(taking(context, 0)->seen == 1);
	explorer_assert(!taking(context, 0)->errors);
	explorer_assert(t->completes ? t->seen == 1 : t->code == -ECANCELED);
}

static void both_have_left(void *context)
{
	struct flow *f = context;
	uint32_t i;

	flow_is_over(context);
	explorer_assert(f->scene.fates[0].cancelled == 1);
	for (i = 0; i < FLOW_TAKERS; i++)
		explorer_assert(!taking(context, i)->completes &&
				!taking(context, i)->errors);
}

/* --- Through an actor between --------------------------------------------- */

static void slice_other(void *context)
{
	scene_run(context, SCENE_ACTORS);
}

/* All who come get every item, and there is one. */
static struct flow *broadcast(void *context, uint32_t n, int64_t first)
{
	struct flow *f = flow_open(context);
	struct node *source = flow_source(f, n, false);

	explorer_assert(weir_out_fan(&source->out, WEIR_FAN_BROADCAST, 2) == 0);
	flow_taker(f, 0, first);
	scene_start(&f->scene);
	flow_subscribe_taker(f, 0);
	return f;
}

/* The source's next slice makes the actor between, and ends. */
static void one_to_be_sent(void *context)
{
	broadcast(context, 1, 1);
}

/* There is room for two; what is requested has been sent. */
static void one_of_three_between(void *context)
{
	struct flow *f = broadcast(context, 3, 1);

	scene_run(&f->scene, 0);
	scene_run(&f->scene, SCENE_ACTORS);
	explorer_assert(taking(f, 0)->subscribed == 1);
}

/* Nothing is requested, and the source is about to arm its port. */
static void all_armed(void *context)
{
	struct flow *f = broadcast(context, 1, 0);

	scene_settle(&f->scene);
	explorer_assert(f->scene.nodes[0]->first == 0);
	weir_actor_signal(&f->scene.nodes[0]->actor);
}

static void all_is_sent(void *context)
{
	flow_is_over(context);
	explorer_assert(taking(context, 0)->seen == 1);
	explorer_assert(taking(context, 0)->completes == 1);
}

static const struct explorer_scenario scenarios[] = {
	FLOW(.name = "a subscription and the end of its actor",
	     .setup = last_requested, .thread = {slice_0, let_go},
	     .check = one_end),
	FLOW(.name = "a late request and the end", .setup = last_requested,
	     .thread = {slice_0, request_and_let_go}, .check = one_end),
	FLOW(.name = "a cancel and the end", .setup = last_requested,
	     .thread = {slice_0, cancel_and_let_go}, .check = one_end_at_most),
	FLOW(.name = "a request while the port is armed",
	     .setup = one_of_two_sent, .thread = {work_0, request_one},
	     .check = all_seen),
	FLOW(.name = "two requests while the port is armed",
	     .setup = one_of_three_sent,
	     .thread = {slice_0, request_one, request_one}, .check = all_seen),
	FLOW(.name = "an item, a request and a cancel", .setup = two_requested,
	     .thread = {slice_0, request_one, cancel_0},
	     .check = one_end_at_most),
	FLOW(.name = "a bad request, a cancel and the end",
	     .setup = last_requested,
	     .thread = {slice_0, request_none, cancel_0},
	     .check = one_end_at_most),
	FLOW(.name = "a refused item and a bad request", .setup = refused,
	     .thread = {slice_0, request_none}, .check = no_more),
	FLOW(.name = "a refused item and a cancel", .setup = refused,
	     .thread = {slice_0, cancel_0}, .check = no_more),
	FLOW(.name = "a null item, a bad request and a cancel",
	     .setup = null_requested,
	     .thread = {slice_0, request_none, cancel_0},
	     .check = one_end_at_most),
	FLOW(.name = "two come when the stream ends",
	     .setup = two_come_at_the_end,
	     .thread = {slice_0, subscribe_0, subscribe_1},
	     .check = everyone_is_told),
	FLOW(.name = "two come when the stream fails",
	     .setup = two_come_at_the_failure,
	     .thread = {slice_0, subscribe_0, subscribe_1},
	     .check = everyone_is_told),
	FLOW(.name = "two come and there is one place",
	     .setup = two_come_for_one_place,
	     .thread = {slice_0, subscribe_0, subscribe_1},
	     .check = one_is_served),
	FLOW(.name = "two come and there are two places",
	     .setup = two_come_for_two_places,
	     .thread = {slice_0, subscribe_0, subscribe_1},
	     .check = both_are_served),
	FLOW(.name = "one leaves and one comes",
	     .setup = one_leaves_and_one_comes,
	     .thread = {slice_0, cancel_0, subscribe_1},
	     .check = the_other_has_an_end),
	FLOW(.name = "an actor between and the end", .setup = one_to_be_sent,
	     .thread = {slice_0, slice_other, slice_other},
	     .check = all_is_sent),
	FLOW(.name = "a first request of an actor between", .setup = all_armed,
	     .thread = {slice_0, slice_other, request_one},
	     .check = all_is_sent),
	FLOW(.name = "a request and a cancel of an actor between",
	     .setup = one_of_three_between,
	     .thread = {slice_0, slice_other, cancel_0},
	     .check = one_end_at_most),
	FLOW(.name = "two leave", .setup = two_subscribed,
	     .thread = {slice_0, cancel_0, cancel_1}, .check = both_have_left),
};

const struct scene_group publishers = SCENE_GROUP(scenarios);
