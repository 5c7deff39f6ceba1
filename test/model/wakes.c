/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An operator of the user's, which others wake: what they did before is seen,
 * and no wake is lost; nor does one touch what is gone.
 */
#include "crossing.h"

#include <errno.h>

#include <ck_pr.h>

/* Puts out the token that was given, once that was told. */
static int give_on(struct weir_operator *op)
{
	struct crossing *c = weir_operator_context(op);
	const bool *told = weir_operator_state(op);

	if (!*told || !weir_operator_wanted(op))
		return 0;
	explorer_assert(weir_operator_push(op, c->given) == 0);
	return weir_operator_end(op, NULL);
}

/* By nothing else but this. */
static int take_given(struct weir_operator *op)
{
	*(bool *)weir_operator_state(op) = true;
	return give_on(op);
}

static int wait_for_wake(struct weir_operator *op)
{
	return 0;
}

/* Each who wakes it has said so before; when both have it ends. */
static int look_for_both(struct weir_operator *op)
{
	struct crossing *c = weir_operator_context(op);

	if (!ck_pr_load_32(&c->said[0]) || !ck_pr_load_32(&c->said[1]))
		return 0;
	return weir_operator_end(op, NULL);
}

/* It is held for each thread that wakes it. */
static int hold_for_one(struct weir_operator *op)
{
	struct crossing *c = weir_operator_context(op);

	c->own = op;
	weir_operator_hold(op);
	return 0;
}

static int hold_for_two(struct weir_operator *op)
{
	weir_operator_hold(op);
	return hold_for_one(op);
}

static struct crossing *waiting(void *context,
				const struct weir_operator_ops *ops)
{
	struct crossing *c = crossing_open(context);
	struct weir_flow *flow = weir_flow_operator_source(ops, c);

	flow = weir_flow_items(flow, &c->scene.items);
	crossing_start(c, crossing_sink(c, flow));
	return c;
}

static void starting(void *context)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(bool),
		.open = hold_for_one,
		.on_pull = give_on,
		.on_wake = take_given,
	};

	waiting(context, &ops);
}

static void resting(void *context)
{
	starting(context);
	scene_settle(&crossing.scene);
}

static void resting_for_two(void *context)
{
	static const struct weir_operator_ops ops = {
		.open = hold_for_two,
		.on_pull = wait_for_wake,
		.on_wake = look_for_both,
	};

	scene_settle(&waiting(context, &ops)->scene);
}

/* --- What threads do ----------------------------------------------------------- */

static void wake(struct crossing *c)
{
	struct weir_operator *op = c->own;

	weir_operator_wake(op);
	weir_operator_unhold(op);
}

static void give(void *context)
{
	struct crossing *c = context;

	c->given = crossing_token(c, 0);
	wake(c);
}

static void say_0(void *context)
{
	ck_pr_store_32(&((struct crossing *)context)->said[0], 1);
	wake(context);
}

static void say_1(void *context)
{
	ck_pr_store_32(&((struct crossing *)context)->said[1], 1);
	wake(context);
}

static void say_1_and_work(void *context)
{
	say_1(context);
	work_below(context);
}

static void cancel_and_work(void *context)
{
	cancel(context);
	work_below(context);
}

/* It ends well only when both were seen. */
static void is_over(void *context)
{
	const struct crossing *c = context;

	crossing_is_over(context);
	explorer_assert(c->code == -ECANCELED ||
			(c->code == 0 && c->said[0] && c->said[1]));
}

static const struct explorer_scenario scenarios[] = {
	CROSSING(.name = "a wake as the run goes to rest", .setup = starting,
		 .thread = {give, work_below}, .check = crossing_went_well),
	CROSSING(.name = "a wake of what rests", .setup = resting,
		 .thread = {give, work_below}, .check = crossing_went_well),
	CROSSING(.name = "two wakes", .setup = resting_for_two,
		 .thread = {say_0, say_1_and_work},
		 .check = crossing_went_well),
	CROSSING(.name = "two wakes, and another thread works",
		 .setup = resting_for_two, .thread = {say_0, say_1, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "wakes of what is cancelled", .setup = resting_for_two,
		 .thread = {say_0, say_1, cancel_and_work}, .check = is_over),
};

const struct scene_group wakes = SCENE_GROUP(scenarios);
