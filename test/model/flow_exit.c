/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow that leaves its run by an out-port, into a subscriber or an in-port:
 * requests and cancels from another thread against the island that delivers and
 * ends, and that against the operator that waits for it, each the first.
 */
#include <weir/flow_bridge.h>

#include <errno.h>

#include "crossing.h"
#include "stream_kit.h"

struct leaving {
	struct crossing crossing; /* first */
	struct taking takings[2];
	struct weir_flow_publisher *publisher;
	uint32_t n;
	void *item;
};

static struct leaving leaving;

/* --- Into a subscriber ---------------------------------------------------- */

static struct leaving *leaving_with(void *context, uint32_t n, int64_t first)
{
	struct leaving *l = context;

	(void)crossing_open(&l->crossing);
	explorer_name(l, sizeof(*l), "leaving");
	l->n = n;
	taker_new(&l->takings[0], first, "taker 0");
	return l;
}

static struct leaving *into(void *context, uint32_t n, int64_t first)
{
	struct leaving *l = leaving_with(context, n, first);
	struct weir_flow *flow = crossing_items(&l->crossing, n);

	crossing_start(&l->crossing,
		       weir_flow_into(flow, l->takings[0].subscriber));
	return l;
}

/* Both islands are about to begin. */
static void two_wanted(void *context)
{
	into(context, 2, 2);
}

/* The island rests, without demand. */
static struct leaving *unasked(void *context)
{
	struct leaving *l = into(context, 2, 0);

	scene_settle(&l->crossing.scene);
	explorer_assert(l->takings[0].held);
	return l;
}

static void request_one(void *context)
{
	struct leaving *l = context;

	weir_subscription_request(l->takings[0].held, 1);
}

/* It has been woken for one item. */
static void one_of_two_wanted(void *context)
{
	request_one(unasked(context));
}

/* The same for all. */
static void all_wanted(void *context)
{
	one_of_two_wanted(context);
	request_one(context);
}

static void no_more(void *context)
{
	struct leaving *l = context;

	weir_subscription_cancel(l->takings[0].held);
}

static void no_more_and_let_go(void *context)
{
	struct leaving *l = context;

	no_more(l);
	taker_let_go(&l->takings[0]);
}

static void cancel_and_work(void *context)
{
	cancel(context);
	work_both(context);
}

/* What is above fails behind the items. */
static void failing(void *context)
{
	struct leaving *l = leaving_with(context, 1, 2);
	struct crossing *c = &l->crossing;
	struct weir_flow *flow;
	struct weir_error *error;

	explorer_assert(
		weir_error_new(&error, -EIO, "test", "failed", NULL, NULL,
			       c->scene.executor.options.allocator) == 0);
	flow = crossing_queue(c, 1);
	explorer_assert(weir_flow_queue_end(c->queue, error) == 0);
	weir_error_unref(error);
	flow = weir_flow_into(flow, l->takings[0].subscriber);
	crossing_start(c, flow);
}

/* The island is to end alone. */
static void stopping(void *context)
{
	two_wanted(context);
	weir_actor_ref(crossing_island(context, 1));
}

static void stop_above(void *context)
{
	struct weir_actor *actor = crossing_island(context, 1);

	weir_actor_stop(actor);
	weir_actor_unref(actor);
	work_above(context);
}

/* What is below is to end alone, while the island has one item to deliver. */
static void stopping_below(void *context)
{
	one_of_two_wanted(context);
	weir_actor_ref(crossing_island(context, 0));
}

static void stop_below(void *context)
{
	struct weir_actor *actor = crossing_island(context, 0);

	weir_actor_stop(actor);
	weir_actor_unref(actor);
	work_below(context);
}

/* --- Into an in-port ------------------------------------------------------ */

static void linked_to(void *context, uint32_t stop_after)
{
	struct leaving *l = context;
	struct crossing *c = crossing_open(&l->crossing);
	struct node *sink = scene_sink(&c->scene, 2);
	struct weir_flow *flow = crossing_items(c, 2);

	l->n = 2;
	sink->stop_after = stop_after;
	crossing_start(c, weir_flow_into_in(flow, &sink->in[0]));
	scene_start(&c->scene);
}

static void linked(void *context)
{
	linked_to(context, 0);
}

static void linked_for_one(void *context)
{
	linked_to(context, 1);
}

static void work_sink(void *context)
{
	while (scene_run(context, 0))
		;
}

static void cancel_and_work_sink(void *context)
{
	cancel(context);
	work_sink(context);
}

static void work_sink_and_below(void *context)
{
	work_sink(context);
	work_below(context);
}

/* --- From a publisher ----------------------------------------------------- */

static void done(struct weir_error *error, void *result, void *context)
{
	struct crossing *c = context;

	explorer_assert(!error && !result);
	c->over++;
}

/* A run of `flow` is about to end. */
static void serving(struct leaving *l, struct weir_flow *flow)
{
	const struct weir_flow_run_options options = {
		.done = done,
		.context = l,
	};

	explorer_assert(weir_flow_publisher_new(&l->publisher, flow,
						&l->crossing.scene.executor,
						&options) == 0);
	explorer_assert(
		weir_publisher_subscribe(weir_flow_publisher_base(l->publisher),
					 l->takings[0].subscriber) == 0);
}

static void serving_one(void *context)
{
	struct leaving *l = leaving_with(context, 1, 1);
	struct weir_flow *flow;

	l->item = crossing_token(&l->crossing, 0);
	flow = weir_flow_array(&l->item, 1);
	serving(l, weir_flow_items(flow, &l->crossing.scene.items));
}

static void serving_one_of_two(void *context)
{
	struct leaving *l = leaving_with(context, 1, 1);

	taker_new(&l->takings[1], 1, "taker 1");
	serving(l, crossing_items(&l->crossing, 1));
}

/* Then the run is over: its own actor comes behind its two islands. */
static void work_and_let_go(void *context)
{
	struct leaving *l = context;

	work_both(l);
	taker_let_go(&l->takings[0]);
	(void)scene_run(context, SCENE_ACTORS + 2);
}

static void free_publisher(void *context)
{
	struct leaving *l = context;

	weir_flow_publisher_free(l->publisher);
}

/* In vain: the flow runs once. */
static void subscribe_and_free(void *context)
{
	struct leaving *l = context;

	explorer_assert(
		weir_publisher_subscribe(weir_flow_publisher_base(l->publisher),
					 l->takings[1].subscriber) == 0);
	free_publisher(l);
}

/* --- Checks --------------------------------------------------------------- */

static void is_over(struct leaving *l)
{
	uint32_t i;

	scene_settle(&l->crossing.scene);
	for (i = 0; i < 2; i++)
		taker_is_over(&l->takings[i]);
	crossing_is_over(&l->crossing);
}

/* It was told how the run is over. */
static void told(struct leaving *l, int code)
{
	is_over(l);
	explorer_assert(l->takings[0].completes == !code);
	explorer_assert(l->takings[0].errors == !!code);
	explorer_assert(l->takings[0].code == code);
	explorer_assert(l->crossing.code == code);
}

static void all_came(void *context)
{
	struct leaving *l = context;

	told(l, 0);
	explorer_assert(l->takings[0].seen == l->n);
}

/* Once it has asked for what is left. */
static void last_was_wanted(void *context)
{
	struct leaving *l = context;

	scene_settle(&l->crossing.scene);
	explorer_assert(l->takings[0].seen == l->n);
	all_came(l);
}

static void failed(void *context)
{
	struct leaving *l = context;

	told(l, -EIO);
	explorer_assert(l->takings[0].seen == 1);
}

/* The island may have ended well before. */
static void cancelled(void *context)
{
	struct leaving *l = context;
	const struct taking *taking = &l->takings[0];

	is_over(l);
	explorer_assert(taking->completes + taking->errors == 1);
	if (taking->completes)
		explorer_assert(taking->seen == l->n);
	else
		explorer_assert(taking->code == -ECANCELED);
	explorer_assert(l->crossing.code == -ECANCELED ||
			(l->crossing.code == 0 && taking->completes));
}

static void stopped(void *context)
{
	told(context, -ECANCELED);
}

/* It has left; that is no failure, unless the run was cancelled. */
static void left(void *context)
{
	struct leaving *l = context;

	is_over(l);
	explorer_assert(l->crossing.code == 0);
	explorer_assert(l->takings[0].errors == 0);
}

static void left_or_cancelled(void *context)
{
	struct leaving *l = context;

	is_over(l);
	explorer_assert(l->crossing.code == 0 ||
			l->crossing.code == -ECANCELED);
	explorer_assert(l->takings[0].completes + l->takings[0].errors <= 1);
}

static uint32_t delivered(const struct leaving *l)
{
	return l->crossing.scene.fates[0].delivered;
}

static void sink_got_all(void *context)
{
	struct leaving *l = context;

	is_over(l);
	explorer_assert(l->crossing.code == 0);
	explorer_assert(delivered(l) == l->n);
	explorer_assert(l->crossing.scene.fates[0].end_code == 0);
}

static void sink_got_one(void *context)
{
	struct leaving *l = context;

	is_over(l);
	explorer_assert(l->crossing.code == 0);
	explorer_assert(delivered(l) == 1);
}

static void sink_got_some(void *context)
{
	struct leaving *l = context;

	is_over(l);
	explorer_assert(l->crossing.code == -ECANCELED ||
			(l->crossing.code == 0 && delivered(l) == l->n));
	explorer_assert(l->crossing.scene.fates[0].end_code == -ECANCELED ||
			delivered(l) == l->n);
}

static void served(void *context)
{
	struct leaving *l = context;

	is_over(l);
	explorer_assert(l->takings[0].completes == 1);
	explorer_assert(l->takings[0].seen == 1);
}

static void served_and_refused(void *context)
{
	struct leaving *l = context;

	served(l);
	explorer_assert(l->takings[1].code == -EALREADY);
}

#define LEAVING(...) \
	{ \
		.context = &leaving, .context_size = sizeof(leaving), \
		__VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	LEAVING(.name = "a request comes as the island goes to rest",
		.setup = one_of_two_wanted, .thread = {request_one, work_above},
		.check = last_was_wanted),
	LEAVING(.name = "an island ends as what is below begins",
		.setup = two_wanted, .thread = {work_above, work_below},
		.check = all_came),
	LEAVING(.name = "an island fails as what is below begins",
		.setup = failing, .thread = {work_above, work_below},
		.check = failed),
	LEAVING(.name = "an island is stopped as what is below begins",
		.setup = stopping, .thread = {stop_above, work_below},
		.check = stopped),
	LEAVING(.name = "what is below is stopped as the island goes to rest",
		.setup = stopping_below, .thread = {work_above, stop_below},
		.check = stopped),
	LEAVING(.name = "a subscriber cancels as it is given items",
		.setup = all_wanted, .thread = {no_more, work_above},
		.check = left),
	LEAVING(.name = "a subscriber cancels and lets go",
		.setup = one_of_two_wanted,
		.thread = {no_more_and_let_go, work_both}, .check = left),
	LEAVING(.name = "the run is cancelled as the island delivers",
		.setup = all_wanted, .thread = {work_above, cancel_and_work},
		.check = cancelled),
	LEAVING(.name = "a subscriber and the run cancel", .setup = all_wanted,
		.thread = {no_more, cancel, work_both},
		.check = left_or_cancelled),
	LEAVING(.name = "the run is drained as a request comes",
		.setup = one_of_two_wanted,
		.thread = {request_one, drain_run, work_both}, .check = left),
	LEAVING(.name = "a flow ends in an in-port", .setup = linked,
		.thread = {work_above, work_sink_and_below},
		.check = sink_got_all),
	LEAVING(.name = "an in-port is cancelled as the island delivers",
		.setup = linked_for_one,
		.thread = {work_above, work_sink_and_below},
		.check = sink_got_one),
	LEAVING(.name = "the run is cancelled as it ends in an in-port",
		.setup = linked, .thread = {work_above, cancel_and_work_sink},
		.check = sink_got_some),
	LEAVING(.name = "a publisher is freed as its run ends",
		.setup = serving_one,
		.thread = {free_publisher, work_and_let_go}, .check = served),
	LEAVING(.name = "a publisher refuses one and is freed",
		.setup = serving_one_of_two,
		.thread = {subscribe_and_free, work_and_let_go},
		.check = served_and_refused),
};

const struct scene_group flow_exits = SCENE_GROUP(scenarios);

static const struct explorer_scenario long_scenarios[] = {
	LEAVING(.name = "the run is cancelled as both islands begin",
		.setup = two_wanted, .thread = {work_above, cancel, work_below},
		.check = cancelled),
	LEAVING(.name = "an in-port is cancelled, and three work",
		.setup = linked_for_one,
		.thread = {work_above, work_sink, work_below},
		.check = sink_got_one),
	LEAVING(.name = "the run is cancelled, and two work", .setup = linked,
		.thread = {work_both, cancel, work_sink},
		.check = sink_got_some),
};

const struct scene_group long_exits = SCENE_GROUP(long_scenarios);
