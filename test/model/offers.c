/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that are offered and accepted while both actors run, each half by its
 * owner: either side may be stopped, and either half may be the first.
 */
#include "flows.h"

#include <errno.h>

#include "actor/gate.h"

static void slice_2(void *context)
{
	scene_run(context, 2);
}

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

/* Nodes 0 and 1 rest and know nothing of each other. */
static struct flow *apart(void *context, uint32_t n, size_t capacity)
{
	struct flow *f = flow_open(context);

	flow_source(f, n, false);
	flow_sink(f, capacity, 0);
	scene_start(&f->scene);
	scene_settle(&f->scene);
	return f;
}

/* The sink has subscribed. */
static struct flow *subscribed(void *context, uint32_t n, size_t capacity)
{
	struct flow *f = apart(context, n, capacity);

	flow_subscribe(f, 0, &f->in[1]->subscriber);
	return f;
}

/* Its next slice answers an offer. */
static struct flow *offered(void *context, uint32_t n, size_t capacity)
{
	struct flow *f = subscribed(context, n, capacity);

	explorer_assert(scene_run(&f->scene, 0));
	return f;
}

/* It has made its half. */
static struct flow *accepted(void *context, uint32_t n, size_t capacity)
{
	struct flow *f = offered(context, n, capacity);

	explorer_assert(scene_run(&f->scene, 1));
	explorer_assert(f->scene.nodes[1]->in[0].lane.out);
	explorer_assert(!f->scene.nodes[0]->out.putter.lane);
	return f;
}

static void stop_node(struct flow *f, uint32_t i)
{
	weir_actor_stop(&f->scene.nodes[i]->actor);
}

static void offered_two_for_one_slot(void *context)
{
	offered(context, 2, 1);
}

static void offered_two_for_two_slots(void *context)
{
	offered(context, 2, 2);
}

static void accepted_two_for_one_slot(void *context)
{
	accepted(context, 2, 1);
}

static void offered_one(void *context)
{
	offered(context, 1, 1);
}

static void subscribed_and_stopped(void *context)
{
	stop_node(subscribed(context, 1, 1), 1);
}

static void subscribed_one(void *context)
{
	subscribed(context, 1, 1);
}

static void offered_and_withdrawn(void *context)
{
	stop_node(offered(context, 1, 1), 0);
}

static void offered_and_failing(void *context)
{
	struct flow *f = offered(context, 1, 1);

	flow_fail(f, f->scene.nodes[0]);
}

static void accepted_and_failing(void *context)
{
	struct flow *f = accepted(context, 1, 1);

	flow_fail(f, f->scene.nodes[0]);
}

static void offered_and_refused(void *context)
{
	stop_node(offered(context, 1, 1), 1);
}

static void offered_and_both_stop(void *context)
{
	struct flow *f = offered(context, 1, 1);

	stop_node(f, 0);
	stop_node(f, 1);
}

static void accepted_and_ended(void *context)
{
	stop_node(accepted(context, 1, 1), 0);
}

static void accepted_and_cancelled(void *context)
{
	stop_node(accepted(context, 2, 1), 1);
}

static void accepted_and_both_stop(void *context)
{
	struct flow *f = accepted(context, 1, 1);

	stop_node(f, 0);
	stop_node(f, 1);
}

/* The sink is stopped by the thread that has run its slice. */
static void offered_and_held(void *context)
{
	struct flow *f = offered(context, 2, 1);

	weir_actor_ref(&f->scene.nodes[1]->actor);
}

static void accept_and_stop(void *context)
{
	struct scene *s = context;
	struct weir_actor *actor = &s->nodes[1]->actor;

	slice_1(context);
	weir_actor_stop(actor);
	slice_1(context);
	weir_actor_unref(actor);
}

/* Both are about to run a slice, and somebody to subscribe. */
static void to_subscribe(void *context)
{
	struct flow *f = apart(context, 1, 1);

	weir_actor_ref(&f->scene.nodes[0]->actor);
	weir_actor_signal(&f->scene.nodes[0]->actor);
	weir_actor_signal(&f->scene.nodes[1]->actor);
}

static void subscribe(void *context)
{
	struct flow *f = context;
	struct weir_actor *actor = &f->scene.nodes[0]->actor;

	flow_subscribe(f, 0, &f->in[1]->subscriber);
	weir_actor_unref(actor);
}

/* Sources 0 and 2 and one sink, which has subscribed at both. */
static void subscribed_twice(void *context)
{
	struct flow *f = flow_open(context);
	uint32_t i;

	flow_source(f, 1, false);
	flow_sink(f, 1, 0);
	flow_source(f, 1, false)->first = 1;
	f->scene.nodes[2]->last = 1;
	scene_start(&f->scene);
	scene_settle(&f->scene);
	for (i = 0; i < 3; i += 2)
		flow_subscribe(f, i, &f->in[1]->subscriber);
}

static void all_taken(void *context)
{
	struct flow *f = context;
	const struct fate *fates = f->scene.fates;

	flow_is_over(context);
	explorer_assert(fates[0].code == 0 && fates[1].code == 0);
	explorer_assert(fates[1].ended == 1 && fates[1].end_code == 0);
	explorer_assert(fates[1].delivered ==
			1 + (uint32_t)f->scene.tokens[1].accepted);
	explorer_assert(f->scene.tokens[0].accepted);
}

static void drain(void *context)
{
	scene_drain(context, 0);
}

/* The sink was not left waiting. */
static void is_drained(void *context)
{
	struct flow *f = context;

	flow_is_over(context);
	explorer_assert(f->scene.drained == 1);
	explorer_assert(f->scene.fates[0].code == 0);
	explorer_assert(f->scene.fates[1].ended == 1);
	explorer_assert(f->scene.fates[1].end_code == 0);
	explorer_assert(f->scene.fates[1].delivered ==
			(uint32_t)f->scene.tokens[0].accepted);
}

/* The source was stopped, or has failed: the sink is told. */
static void the_end_is_told(void *context)
{
	struct flow *f = context;
	int code = f->failing ? -EIO : -ECANCELED;

	flow_is_over(context);
	explorer_assert(f->scene.fates[0].code == code);
	explorer_assert(f->scene.fates[1].ended == 1);
	explorer_assert(f->scene.fates[1].end_code == code);
}

/* The sink was stopped: the source is told, unless it was done. */
static void the_cancel_is_told(void *context)
{
	struct flow *f = context;

	flow_is_over(context);
	explorer_assert(f->scene.fates[0].code == 0);
	explorer_assert(f->scene.fates[0].cancelled == 1 ||
			f->scene.tokens[1].accepted ||
			f->scene.tokens[0].accepted);
}

static void the_first_is_served(void *context)
{
	struct flow *f = context;
	const struct fate *fates = f->scene.fates;

	flow_is_over(context);
	explorer_assert(fates[1].delivered == 1 && fates[1].ended == 1);
	explorer_assert(fates[0].cancelled + fates[2].cancelled == 1);
}

/* --- Before the start ------------------------------------------------------- */

/*
 * Nodes 0 to n: a source of two tokens, for many, and sinks. Those whose bit is
 * set have been started and are at rest, the others are new. There is a reference
 * of each for each thread.
 */
static void fresh(void *context, uint32_t n, uint32_t started)
{
	struct flow *f = flow_open(context);
	uint32_t i, k;

	flow_source(f, 2, true);
	for (i = 1; i <= n; i++)
		flow_sink(f, 2, 0);
	for (i = 0; i <= n; i++) {
		for (k = 0; k < 2; k++)
			weir_actor_ref(&f->scene.nodes[i]->actor);
		if (started & 1u << i)
			explorer_assert(
				weir_actor_start(&f->scene.nodes[i]->actor) ==
				0);
	}
	scene_settle(&f->scene);
}

static void all_new(void *context)
{
	fresh(context, 2, 0);
}

static void two_new(void *context)
{
	fresh(context, 1, 0);
}

static void new_source(void *context)
{
	fresh(context, 1, 2);
}

static void new_sink(void *context)
{
	fresh(context, 1, 1);
}

static void drop_all(struct flow *f)
{
	uint32_t i;

	for (i = 0; i < f->scene.n_nodes; i++)
		weir_actor_unref(&f->scene.nodes[i]->actor);
}

static void subscribe_1(void *context)
{
	struct flow *f = context;

	flow_subscribe(f, 0, &f->in[1]->subscriber);
	drop_all(f);
}

static void subscribe_2(void *context)
{
	struct flow *f = context;

	flow_subscribe(f, 0, &f->in[2]->subscriber);
	drop_all(f);
}

static void start_source(void *context)
{
	struct flow *f = context;

	explorer_assert(weir_actor_start(&f->scene.nodes[0]->actor) == 0);
	slice_0(f);
	drop_all(f);
}

static void start_sink(void *context)
{
	struct flow *f = context;

	explorer_assert(weir_actor_start(&f->scene.nodes[1]->actor) == 0);
	slice_1(f);
	drop_all(f);
}

static void stop_source(void *context)
{
	stop_node(context, 0);
	drop_all(context);
}

static void stop_sink(void *context)
{
	stop_node(context, 1);
	drop_all(context);
}

static void start_if_new(struct flow *f, uint32_t i)
{
	struct weir_actor *actor = &f->scene.nodes[i]->actor;

	if (!f->scene.fates[i].released && weir__is_new(actor))
		explorer_assert(weir_actor_start(actor) == 0);
}

/* Those that are new are started now; both tokens come to somebody. */
static void all_come(void *context)
{
	struct flow *f = context;
	const struct fate *fates = f->scene.fates;
	uint32_t i, n = 0;

	for (i = 0; i < f->scene.n_nodes; i++)
		start_if_new(f, i);
	flow_is_over(context);
	explorer_assert(fates[0].code == 0);
	for (i = 1; i < f->scene.n_nodes; i++) {
		explorer_assert(fates[i].ended == 1 && fates[i].end_code == 0);
		n += fates[i].delivered;
	}
	explorer_assert(n == 2);
}

/* The sink, started or not, hears of the source's stop. */
static void the_stop_is_told(void *context)
{
	struct flow *f = context;

	start_if_new(f, 1);
	the_end_is_told(f);
}

/* The source, started or not, hears of the sink's. */
static void the_leaving_is_told(void *context)
{
	struct flow *f = context;

	start_if_new(f, 0);
	flow_is_over(f);
	explorer_assert(f->scene.fates[0].cancelled == 1);
	explorer_assert(f->scene.fates[1].code == -ECANCELED);
}

static const struct explorer_scenario scenarios[] = {
	FLOW(.name = "two subscribe before the start", .setup = all_new,
	     .thread = {subscribe_1, subscribe_2}, .check = all_come),
	FLOW(.name = "a subscription and the source's start",
	     .setup = new_source, .thread = {start_source, subscribe_1},
	     .check = all_come),
	FLOW(.name = "a subscription and the sink's start", .setup = new_sink,
	     .thread = {start_sink, subscribe_1}, .check = all_come),
	FLOW(.name = "a subscription of new ones and the source's start",
	     .setup = two_new, .thread = {start_source, subscribe_1},
	     .check = all_come),
	FLOW(.name = "a subscription of new ones and the sink's start",
	     .setup = two_new, .thread = {start_sink, subscribe_1},
	     .check = all_come),
	FLOW(.name = "a subscription of new ones and the source's stop",
	     .setup = two_new, .thread = {stop_source, subscribe_1},
	     .check = the_stop_is_told),
	FLOW(.name = "a subscription of new ones and the sink's stop",
	     .setup = two_new, .thread = {stop_sink, subscribe_1},
	     .check = the_leaving_is_told),
	FLOW(.name = "an offer and a stop", .setup = subscribed_and_stopped,
	     .thread = {slice_0, slice_1}, .check = the_cancel_is_told),
	FLOW(.name = "an offer withdrawn", .setup = offered_and_withdrawn,
	     .thread = {slice_0, slice_1}, .check = the_end_is_told),
	FLOW(.name = "an offer withdrawn with an error",
	     .setup = offered_and_failing, .thread = {slice_0, slice_1},
	     .check = the_end_is_told),
	FLOW(.name = "a half link that fails", .setup = accepted_and_failing,
	     .thread = {slice_0, slice_1}, .check = the_end_is_told),
	FLOW(.name = "an offer refused", .setup = offered_and_refused,
	     .thread = {slice_0, slice_1}, .check = the_cancel_is_told),
	FLOW(.name = "an offer refused or withdrawn",
	     .setup = offered_and_both_stop, .thread = {slice_0, slice_1},
	     .check = flow_is_over),
	FLOW(.name = "a half link that ends", .setup = accepted_and_ended,
	     .thread = {slice_0, slice_1}, .check = the_end_is_told),
	FLOW(.name = "a half link that is cancelled",
	     .setup = accepted_and_cancelled, .thread = {two_slices_0, slice_1},
	     .check = the_cancel_is_told),
	FLOW(.name = "a half link that ends and is cancelled",
	     .setup = accepted_and_both_stop, .thread = {slice_0, slice_1},
	     .check = flow_is_over),
	FLOW(.name = "an offer accepted and cancelled",
	     .setup = offered_and_held, .thread = {slice_0, accept_and_stop},
	     .check = the_cancel_is_told),
	FLOW(.name = "a subscriber and a drain", .setup = subscribed_one,
	     .thread = {slice_0, slice_1, drain}, .check = is_drained),
	FLOW(.name = "an offer and a drain", .setup = offered_one,
	     .thread = {slice_0, slice_1, drain}, .check = is_drained),
	FLOW(.name = "two publishers offer", .setup = subscribed_twice,
	     .thread = {slice_0, slice_1, slice_2},
	     .check = the_first_is_served),
	FLOW(.name = "a subscription while both run", .setup = to_subscribe,
	     .thread = {slice_0, slice_1, subscribe}, .check = all_taken),
	FLOW(.name = "an item through a new link", .setup = offered_one,
	     .thread = {two_slices_0, two_slices_1}, .check = all_taken),
	FLOW(.name = "two items through a new link of one slot",
	     .setup = accepted_two_for_one_slot, .thread = {work_0, work_1},
	     .check = all_taken),
	FLOW(.name = "two items through a new link of two slots",
	     .setup = offered_two_for_two_slots,
	     .thread = {two_slices_0, two_slices_1}, .check = all_taken),
	FLOW(.name = "two items through one slot, from the offer on",
	     .setup = offered_two_for_one_slot,
	     .thread = {two_slices_0, two_slices_1}, .check = all_taken),
};

const struct scene_group offers = SCENE_GROUP(scenarios);
