/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscribers over in-ports: a publisher on another thread subscribes, gives
 * and ends while the actor takes, requests, cancels and ends.
 */
#include "flows.h"

#include <errno.h>

#include <ck_pr.h>

#include "stream/reactive.h"

static void give(void *context)
{
	flow_give(context);
}

static void begin(void *context)
{
	flow_begin(context);
}

static void begin_and_complete(void *context)
{
	flow_begin(context);
	flow_complete(context);
	flow_giver_let_go(context);
}

static void begin_and_give(void *context)
{
	flow_begin(context);
	flow_give(context);
}

static void give_two(void *context)
{
	flow_give(context);
	flow_give(context);
}

static void give_two_at_once(void *context)
{
	flow_give_two(context);
}

static void give_and_complete(void *context)
{
	flow_give(context);
	flow_complete(context);
	flow_giver_let_go(context);
}

static void give_two_and_complete(void *context)
{
	flow_give(context);
	give_and_complete(context);
}

static void stop(void *context)
{
	struct scene *s = context;
	struct weir_actor *actor = &s->nodes[0]->actor;

	weir_actor_stop(actor);
	weir_actor_unref(actor);
}

static void drain(void *context)
{
	scene_drain(context, 0);
}

/* The sink is started and has no subscription yet. */
static struct flow *expected(void *context, size_t capacity)
{
	struct flow *f = flow_open(context);
	struct node *sink = flow_sink(f, capacity, 0);

	flow_giver(f, sink);
	scene_start(&f->scene);
	return f;
}

/* The sink has requested as much as it has room for, and rests. */
static struct flow *requested(void *context, size_t capacity)
{
	struct flow *f = expected(context, capacity);

	flow_begin(f);
	scene_settle(&f->scene);
	explorer_assert(f->giving.requested == (int64_t)capacity);
	return f;
}

static void new_sink(void *context)
{
	expected(context, 1);
}

static void new_sink_to_stop(void *context)
{
	struct flow *f = expected(context, 1);

	weir_actor_ref(&f->scene.nodes[0]->actor);
}

static void stopped_sink(void *context)
{
	weir_actor_stop(&expected(context, 1)->scene.nodes[0]->actor);
}

static void one_requested(void *context)
{
	requested(context, 1);
}

static void two_requested(void *context)
{
	requested(context, 2);
}

/* One of them has come, which the slice takes that is queued. */
static void one_of_two_came(void *context)
{
	flow_give(requested(context, 2));
}

static void one_of_four_came(void *context)
{
	flow_give(requested(context, 4));
}

static void stopped_after_one(void *context)
{
	struct flow *f = requested(context, 2);

	f->scene.nodes[0]->stop_after = 1;
	flow_give(f);
}

static void stopped_after_one_of_four(void *context)
{
	struct flow *f = requested(context, 4);

	f->scene.nodes[0]->stop_after = 1;
	flow_give(f);
}

static void cancelled_after_one(void *context)
{
	struct flow *f = requested(context, 4);

	f->cancel_after = 1;
	flow_give(f);
}

static void one_came_to_stop(void *context)
{
	struct flow *f = requested(context, 2);

	flow_give(f);
	weir_actor_ref(&f->scene.nodes[0]->actor);
}

/* What is to be told has been. */
static void all_taken(void *context)
{
	struct flow *f = context;

	scene_settle(&f->scene);
	if (f->giving.subscriber)
		flow_complete(f);
	flow_is_over(context);
	explorer_assert(f->scene.fates[0].ended == 1);
	explorer_assert(f->scene.fates[0].delivered == f->giving.sent);
	explorer_assert(f->giving.cancels == 0);
}

/* As much as it has taken was requested again. */
static void all_requested_again(void *context)
{
	struct flow *f = context;

	scene_settle(&f->scene);
	explorer_assert(f->giving.requested == f->giving.sent + 2);
	all_taken(context);
}

/* Cancelled, unless the end was first. */
static void is_over(void *context)
{
	struct flow *f = context;

	scene_settle(&f->scene);
	if (f->giving.subscriber)
		explorer_assert(f->giving.cancels == 1);
	flow_is_over(context);
}

/* Nothing is left that the drain waits for. */
static void is_drained(void *context)
{
	is_over(context);
	explorer_assert(((struct scene *)context)->drained == 1);
}

/* A cancelled sink waits for ever, and an item that comes late is dropped. */
static void late_items_are_dropped(void *context)
{
	struct flow *f = context;
	bool completed = !f->giving.subscriber;

	scene_settle(&f->scene);
	explorer_assert(completed || f->giving.cancels == 1);
	if (!completed)
		flow_give(f);
	explorer_assert(f->scene.fates[0].delivered == 1);
	if (!f->scene.fates[0].stopped)
		weir_actor_stop(&f->scene.nodes[0]->actor);
	flow_is_over(context);
}

/* --- A subscriber that stays ---------------------------------------------- */

/* One of four has come, of the first of several streams. */
static void one_of_several(void *context)
{
	struct flow *f = requested(context, 4);

	weir__reactive_in_stay(f->in[0]);
	flow_give(f);
}

static void one_of_several_to_stop(void *context)
{
	one_of_several(context);
	weir_actor_ref(&flow.scene.nodes[0]->actor);
}

/* All has come, and of the next publisher as much is requested as there is room
 * for, but for less than half of it, which is the least that is requested at
 * once. */
static void another_may_begin(void *context)
{
	struct flow *f = context;
	int64_t sent = f->giving.sent;

	scene_settle(&f->scene);
	explorer_assert(f->giving.cancels == 0 && f->giving.released == 1);
	explorer_assert(weir__reactive_in_alone(f->in[0]));
	explorer_assert(f->scene.fates[0].ended == 0);
	flow_giver(f, f->scene.nodes[0]);
	flow_begin(f);
	scene_settle(&f->scene);
	explorer_assert(f->giving.requested == 3 || f->giving.requested == 4);
	explorer_assert(f->scene.fates[0].delivered == sent);
	weir_actor_stop(&f->scene.nodes[0]->actor);
	is_over(context);
}

/* There will be another publisher. */
static void several_streams_of(struct flow *f)
{
	struct weir_reactive_in *in = f->in[0];

	weir__reactive_in_stay(in);
	giver_new(&f->second, &f->scene);
	f->second.subscriber = weir_subscriber_ref(&in->subscriber);
	f->second.tokens = &f->scene.tokens[2];
}

static void several_streams(void *context)
{
	several_streams_of(expected(context, 4));
}

static int64_t nothing(int64_t remaining, void *context)
{
	(void)remaining;
	(void)context;
	return 0;
}

/* Of the first one four are requested, and of the other nothing will be. */
static void four_of_the_first_alone(void *context)
{
	struct flow *f = requested(context, 4);

	several_streams_of(f);
	f->in[0]->options.demand = nothing;
}

static void begin_first(void *context)
{
	struct flow *f = context;

	flow_begin(f);
	ck_pr_store_32(&f->first_has_begun, 1);
	flow_complete(f);
	flow_giver_let_go(f);
}

/* It may be too early, and is cancelled then (2.5). */
static void begin_second(void *context)
{
	struct flow *f = context;

	if (ck_pr_load_32(&f->first_has_begun))
		giver_begin(&f->second);
}

/* Sends what nobody has requested of it. */
static void begin_second_and_give(void *context)
{
	struct flow *f = context;

	giver_begin(&f->second);
	if (f->second.cancels == 0)
		explorer_assert(giver_force(&f->second) == -EOVERFLOW);
}

static void both_were_there(void *context)
{
	struct flow *f = context;

	scene_settle(&f->scene);
	explorer_assert(f->giving.cancels == 0);
	if (f->second.begun && f->second.cancels == 0)
		explorer_assert(f->second.requested >= 3);
	giver_let_go(&f->second);
	weir_actor_stop(&f->scene.nodes[0]->actor);
	flow_is_over(context);
}

static void the_first_was_there(void *context)
{
	struct flow *f = context;
	struct fate *fate = &f->scene.fates[0];

	scene_settle(&f->scene);
	explorer_assert(f->giving.cancels == 0);
	explorer_assert(fate->delivered == 1);
	explorer_assert(fate->stopped == f->second.sent);
	explorer_assert(f->second.cancels == 1);
	if (fate->stopped)
		explorer_assert(fate->end_code == -EOVERFLOW);
	else
		weir_actor_stop(&f->scene.nodes[0]->actor);
	giver_let_go(&f->second);
	flow_is_over(context);
}

/* --- A subscriber that is done ------------------------------------------ */

static void subscribe_late(void *context)
{
	struct flow *f = context;
	struct weir_actor *source = &f->scene.nodes[1]->actor;
	struct weir_actor *sink = &f->scene.nodes[0]->actor;

	flow_subscribe(f, 1, &f->in[0]->subscriber);
	weir_actor_unref(source);
	weir_actor_unref(sink);
}

static void let_go(void *context)
{
	flow_giver_let_go(context);
}

/* The sink has ended, and its publisher is the last to hold it. */
static void both_have_ended(void *context)
{
	struct flow *f = requested(context, 1);
	uint32_t i;

	flow_source(f, 1, false);
	weir_actor_start(&f->scene.nodes[1]->actor);
	for (i = 0; i < 2; i++) {
		weir_actor_ref(&f->scene.nodes[i]->actor);
		weir_actor_stop(&f->scene.nodes[i]->actor);
	}
	scene_settle(&f->scene);
	explorer_assert(f->giving.cancels == 1);
}

/* The sink ends now, and the source, who does nothing but reject, has. */
static void both_end(void *context)
{
	struct flow *f = flow_open(context);
	uint32_t i;

	flow_sink(f, 1, 0);
	flow_source(f, 1, false);
	scene_start(&f->scene);
	for (i = 0; i < 2; i++) {
		weir_actor_ref(&f->scene.nodes[i]->actor);
		weir_actor_stop(&f->scene.nodes[i]->actor);
	}
	explorer_assert(scene_run(&f->scene, 1));
}

/* --- A publisher and a subscriber of ours --------------------------------- */

static void two_slices_0(void *context)
{
	slice_0(context);
	slice_0(context);
}

static void two_slices_1(void *context)
{
	slice_1(context);
	slice_1(context);
}

/* They are no link, and the first item has been requested. */
static void both(void *context, uint32_t n, uint32_t stop_after)
{
	struct flow *f = flow_open(context);

	flow_source(f, n, false);
	flow_sink(f, 1, 1)->stop_after = stop_after;
	scene_start(&f->scene);
	flow_subscribe(f, 0, &f->in[1]->subscriber);
	scene_run(&f->scene, 0);
	scene_run(&f->scene, 1);
}

static void two_items_for_one_place(void *context)
{
	both(context, 2, 0);
}

static void only_one_wanted(void *context)
{
	both(context, 2, 1);
}

static void both_are_over(void *context)
{
	struct flow *f = context;

	flow_is_over(context);
	explorer_assert(f->scene.fates[0].code == 0);
	explorer_assert(f->scene.fates[1].code == 0);
}

static void both_are_seen(void *context)
{
	struct flow *f = context;

	both_are_over(context);
	explorer_assert(f->scene.fates[1].delivered == 2);
	explorer_assert(f->scene.fates[1].ended == 1);
}

static const struct explorer_scenario scenarios[] = {
	FLOW(.name = "a subscription and a slice", .setup = new_sink,
	     .thread = {slice_0, begin}, .check = all_taken),
	FLOW(.name = "an empty stream and a slice", .setup = new_sink,
	     .thread = {slice_0, begin_and_complete}, .check = all_taken),
	FLOW(.name = "a subscription and the actor's end",
	     .setup = stopped_sink, .thread = {slice_0, begin},
	     .check = is_over),
	FLOW(.name = "a subscription, an item and a stop",
	     .setup = new_sink_to_stop,
	     .thread = {slice_0, begin_and_give, stop}, .check = is_over),
	FLOW(.name = "an item while the port is armed", .setup = one_requested,
	     .thread = {work_0, give_two_and_complete}, .check = all_taken),
	FLOW(.name = "an item and a request", .setup = one_of_two_came,
	     .thread = {work_0, give}, .check = all_requested_again),
	FLOW(.name = "two items and a slice", .setup = two_requested,
	     .thread = {work_0, give_two}, .check = all_requested_again),
	FLOW(.name = "two items at once and a slice", .setup = one_of_four_came,
	     .thread = {work_0, give_two_at_once}, .check = all_taken),
	FLOW(.name = "two items at once and a cancel",
	     .setup = cancelled_after_one,
	     .thread = {slice_0, give_two_at_once},
	     .check = late_items_are_dropped),
	FLOW(.name = "an item and the actor's end", .setup = stopped_after_one,
	     .thread = {slice_0, give}, .check = is_over),
	FLOW(.name = "the end and the actor's end", .setup = stopped_after_one,
	     .thread = {slice_0, give_and_complete}, .check = is_over),
	FLOW(.name = "items and a cancel", .setup = cancelled_after_one,
	     .thread = {slice_0, give_two}, .check = late_items_are_dropped),
	FLOW(.name = "the end and a cancel", .setup = cancelled_after_one,
	     .thread = {slice_0, give_and_complete},
	     .check = late_items_are_dropped),
	FLOW(.name = "an item, the end and a stop", .setup = one_came_to_stop,
	     .thread = {slice_0, give_and_complete, stop}, .check = is_over),
	FLOW(.name = "two items at once and the actor's end",
	     .setup = stopped_after_one_of_four,
	     .thread = {slice_0, give_two_at_once}, .check = is_over),
	FLOW(.name = "a subscription and a drain", .setup = new_sink,
	     .thread = {slice_0, begin, drain}, .check = is_drained),
	FLOW(.name = "items and a drain", .setup = one_of_two_came,
	     .thread = {slice_0, give_two, drain}, .check = is_drained),
	FLOW(.name = "the end and a drain", .setup = one_of_two_came,
	     .thread = {slice_0, give_and_complete, drain},
	     .check = is_drained),
	FLOW(.name = "the end of one of several streams",
	     .setup = one_of_several, .thread = {work_0, give_and_complete},
	     .check = another_may_begin),
	FLOW(.name = "the end of one of several, and a stop",
	     .setup = one_of_several_to_stop,
	     .thread = {slice_0, give_and_complete, stop}, .check = is_over),
	FLOW(.name = "the end of one of several, and a drain",
	     .setup = one_of_several,
	     .thread = {slice_0, give_and_complete, drain},
	     .check = is_drained),
	FLOW(.name = "one stream and another", .setup = several_streams,
	     .thread = {work_0, begin_first, begin_second},
	     .check = both_were_there),
	FLOW(.name = "one stream, and what nobody requested of another",
	     .setup = four_of_the_first_alone,
	     .thread = {work_0, give_and_complete, begin_second_and_give},
	     .check = the_first_was_there),
	FLOW(.name = "a subscription that is too late", .setup = both_end,
	     .thread = {slice_0, subscribe_late}, .check = flow_is_over),
	FLOW(.name = "a subscription after the last", .setup = both_have_ended,
	     .thread = {let_go, subscribe_late}, .check = flow_is_over),
	FLOW(.name = "two items through a port of one",
	     .setup = two_items_for_one_place,
	     .thread = {two_slices_0, two_slices_1}, .check = both_are_seen),
	FLOW(.name = "an end on either side", .setup = only_one_wanted,
	     .thread = {two_slices_0, two_slices_1}, .check = both_are_over),
};

const struct scene_group subscribers = SCENE_GROUP(scenarios);
