/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow that takes from a publisher: the publisher's signals come from another
 * thread while the island asks, takes, goes to rest, and ends.
 */
#include <weir/flow_bridge.h>

#include <errno.h>

#include <ck_pr.h>

#include "crossing.h"
#include "stream_kit.h"

struct feeding {
	struct crossing crossing; /* first */
	struct weir_publisher publisher;
	struct giving giving;
	uint32_t there; /* atomic: the subscriber has come */
	bool at_once;	/* it gets its subscription in subscribe() */
	size_t prefetch;
};

static struct feeding feeding;

/* --- The publisher -------------------------------------------------------- */

static int subscribe(struct weir_publisher *publisher,
		     struct weir_subscriber *subscriber)
{
	struct feeding *f =
		weir_container_of(publisher, struct feeding, publisher);

	f->giving.subscriber = weir_subscriber_ref(subscriber);
	if (f->at_once)
		giver_begin(&f->giving);
	ck_pr_fence_release();
	ck_pr_store_32(&f->there, 1);
	return 0;
}

static const struct weir_publisher_ops publisher_ops = {
	.subscribe = subscribe,
};

/* Its own signals, by one thread or in a setup. */
static bool is_there(struct feeding *f)
{
	bool there = ck_pr_load_32(&f->there);

	ck_pr_fence_acquire();
	return there;
}

static void begin(void *context)
{
	struct feeding *f = context;

	if (is_there(f))
		giver_begin(&f->giving);
}

static void give(void *context)
{
	giver_give(&((struct feeding *)context)->giving);
}

static void begin_and_give(void *context)
{
	begin(context);
	give(context);
}

static void give_twice(void *context)
{
	give(context);
	give(context);
}

static void give_two(void *context)
{
	giver_give_two(&((struct feeding *)context)->giving);
}

static void force(void *context)
{
	int rc = giver_force(&((struct feeding *)context)->giving);

	explorer_assert(rc == 0 || rc == -EOVERFLOW);
}

static void complete(void *context)
{
	struct feeding *f = context;

	giver_complete(&f->giving);
	giver_let_go(&f->giving);
}

static void give_and_complete(void *context)
{
	give(context);
	complete(context);
}

static void give_and_fail(void *context)
{
	struct feeding *f = context;
	struct weir_subscriber *subscriber = f->giving.subscriber;
	struct weir_error *error;

	give(context);
	explorer_assert(
		weir_error_new(&error, -EIO, "test", "failed", NULL, NULL,
			       f->crossing.scene.executor.options.allocator) ==
		0);
	explorer_assert(subscriber->ops->on_error(subscriber, error) == 0);
	weir_error_unref(error);
	giver_let_go(&f->giving);
}

/* --- Setups --------------------------------------------------------------- */

static struct feeding *feeding_of(void *context, size_t prefetch, bool at_once,
				  uint64_t n)
{
	struct feeding *f = context;
	struct crossing *c = crossing_open(&f->crossing);
	struct weir_flow *flow;

	explorer_name(f, sizeof(*f), "feeding");
	f->publisher.ops = &publisher_ops;
	f->at_once = at_once;
	f->prefetch = prefetch;
	giver_new(&f->giving, &c->scene);
	flow = weir_flow_from_publisher(&f->publisher, prefetch, 1);
	flow = weir_flow_items(flow, &c->scene.items);
	if (n > 0)
		flow = weir_flow_take(flow, n);
	crossing_start(c, crossing_sink(c, flow));
	return f;
}

static void starting(void *context)
{
	feeding_of(context, 1, false, 0);
}

/* The subscriber rests, and has no subscription yet. */
static void waiting(void *context)
{
	scene_settle(&feeding_of(context, 1, false, 0)->crossing.scene);
}

static const struct weir_items others;

static void waiting_for_others(void *context)
{
	struct feeding *f = context;

	waiting(context);
	f->giving.items = &others;
}

/* It has requested that many, and rests; then has got so many of them. */
static void given(void *context, size_t prefetch, uint32_t n)
{
	struct feeding *f = feeding_of(context, prefetch, true, 0);

	scene_settle(&f->crossing.scene);
	explorer_assert(f->giving.requested == (int64_t)prefetch);
	while (n-- > 0)
		give(f);
}

static void one_given(void *context)
{
	given(context, 1, 1);
}

static void one_of_two_given(void *context)
{
	given(context, 2, 1);
}

static void one_of_four_given(void *context)
{
	given(context, 4, 1);
}

static void one_wanted(void *context)
{
	scene_settle(&feeding_of(context, 2, true, 1)->crossing.scene);
}

static void cancel_and_work(void *context)
{
	cancel(context);
	work_below(context);
}

static void cancel_and_give(void *context)
{
	cancel(context);
	give(context);
}

static void drain_and_work(void *context)
{
	drain_run(context);
	work_below(context);
}

/* --- Checks --------------------------------------------------------------- */

/* The publisher lets go, and all is over. */
static int code_at_end(struct feeding *f)
{
	scene_settle(&f->crossing.scene);
	if (!f->giving.released)
		giver_let_go(&f->giving);
	crossing_is_over(&f->crossing);
	explorer_assert(f->giving.released == 1);
	return f->crossing.code;
}

/* It has ended well, with all items that were sent. */
static void ended(void *context)
{
	struct feeding *f = context;

	explorer_assert(code_at_end(f) == 0);
	explorer_assert(f->crossing.delivered == f->giving.sent);
	explorer_assert(f->giving.cancels == 0);
}

/* All has come that was sent, and as much again is requested. */
static void all_came(void *context)
{
	struct feeding *f = context;

	scene_settle(&f->crossing.scene);
	if (!f->giving.begun)
		giver_begin(&f->giving);
	scene_settle(&f->crossing.scene);
	explorer_assert(f->crossing.delivered == f->giving.sent);
	explorer_assert(f->giving.requested ==
			f->giving.sent + (int64_t)f->prefetch);
	complete(f);
	ended(f);
}

static void failed(void *context)
{
	struct feeding *f = context;

	explorer_assert(code_at_end(f) == -EIO);
	explorer_assert(f->crossing.delivered == f->giving.sent);
	explorer_assert(f->giving.cancels == 0);
}

/* The publisher was told so, if it had not ended itself before. */
static void cancelled(void *context)
{
	struct feeding *f = context;

	scene_settle(&f->crossing.scene);
	if (!f->giving.begun && f->there)
		giver_begin(&f->giving);
	if (f->giving.subscriber)
		explorer_assert(f->giving.cancels == 1);
	explorer_assert(code_at_end(f) == -ECANCELED ||
			(f->crossing.code == 0 &&
			 f->crossing.delivered == f->giving.sent));
}

static void drained(void *context)
{
	struct feeding *f = context;

	scene_settle(&f->crossing.scene);
	explorer_assert(f->giving.cancels == 1);
	explorer_assert(code_at_end(f) == 0);
}

static void first_came(void *context)
{
	struct feeding *f = context;

	drained(f);
	explorer_assert(f->crossing.delivered == 1);
}

static void refused(void *context)
{
	struct feeding *f = context;

	scene_settle(&f->crossing.scene);
	if (!f->giving.begun)
		giver_begin(&f->giving);
	scene_settle(&f->crossing.scene);
	explorer_assert(f->giving.cancels == 1);
	explorer_assert(code_at_end(f) == -EINVAL);
}

/* Either it was in time, or it is the publisher's fault. */
static void came_or_too_many(void *context)
{
	struct feeding *f = context;

	if (f->crossing.scene.tokens[1].accepted) {
		all_came(f);
		return;
	}
	scene_settle(&f->crossing.scene);
	explorer_assert(f->giving.cancels == 1);
	explorer_assert(code_at_end(f) == -EOVERFLOW);
	explorer_assert(f->crossing.delivered == 1);
}

#define FEEDING(...) \
	{ \
		.context = &feeding, .context_size = sizeof(feeding), \
		__VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	FEEDING(.name = "a subscription comes as the flow goes to rest",
		.setup = starting, .thread = {begin_and_give, work_below},
		.check = all_came),
	FEEDING(.name = "an item comes as the flow goes to rest",
		.setup = one_of_two_given, .thread = {give, work_below},
		.check = all_came),
	FEEDING(.name = "an item comes when the one slot is free",
		.setup = one_given, .thread = {give_twice, work_below},
		.check = all_came),
	FEEDING(.name = "two items come at once", .setup = one_of_four_given,
		.thread = {give_two, work_below}, .check = all_came),
	FEEDING(.name = "the last item and the end come",
		.setup = one_of_two_given,
		.thread = {give_and_complete, work_below}, .check = ended),
	FEEDING(.name = "the last item and an error come",
		.setup = one_of_two_given,
		.thread = {give_and_fail, work_below}, .check = failed),
	FEEDING(.name = "an item too many comes", .setup = one_given,
		.thread = {force, work_below}, .check = came_or_too_many),
	FEEDING(.name = "a subscription of other items comes",
		.setup = waiting_for_others, .thread = {begin, work_below},
		.check = refused),
	FEEDING(.name = "an item comes as the flow needs no more",
		.setup = one_wanted, .thread = {give_twice, work_below},
		.check = first_came),
	FEEDING(.name = "a subscription comes as the run is cancelled",
		.setup = waiting, .thread = {begin_and_give, cancel_and_work},
		.check = cancelled),
	FEEDING(.name = "an item comes as the run is cancelled",
		.setup = one_of_two_given, .thread = {give, cancel_and_work},
		.check = cancelled),
	FEEDING(.name = "an item comes behind a cancel as one is taken",
		.setup = one_of_two_given,
		.thread = {cancel_and_give, work_below}, .check = cancelled),
	FEEDING(.name = "the end comes as the run is cancelled",
		.setup = one_of_two_given,
		.thread = {give_and_complete, cancel_and_work},
		.check = cancelled),
	FEEDING(.name = "an item comes as the run is drained",
		.setup = one_of_two_given, .thread = {give, drain_and_work},
		.check = drained),
};

const struct scene_group flow_subscribers = SCENE_GROUP(scenarios);

static const struct explorer_scenario long_scenarios[] = {
	FEEDING(.name = "the end comes, and the run is cancelled and works",
		.setup = one_of_two_given,
		.thread = {give_and_complete, cancel, work_below},
		.check = cancelled),
	FEEDING(.name = "an item comes, and the run is drained and works",
		.setup = one_of_two_given,
		.thread = {give, drain_run, work_below}, .check = drained),
};

const struct scene_group long_feeds = SCENE_GROUP(long_scenarios);
