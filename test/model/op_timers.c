/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timer of an operator: who fires it against the operator, which waits for
 * the next time, for an earlier one, or ends. The scene sees to it that it is
 * not armed twice.
 */
#include "crossing.h"

#include <errno.h>

#include <ck_pr.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/subflow.h"

#define LAST 2u

struct clock {
	struct weir__op_timer timer;
	uint64_t waited; /* for that */
};

/*
 * Waits for the time that is said, then for LAST, then ends. What is said may
 * become earlier.
 */
static size_t clock_pull(struct weir__op *op, void **items, size_t room)
{
	struct crossing *c =
		*(struct crossing *const *)(const void *)weir__op_args(op);
	struct clock *self = weir__op_state(op);
	uint64_t now = weir__op_now(op), due = ck_pr_load_64(&c->due);

	if (now >= LAST) {
		weir__op_end(op, NULL);
		return 0;
	}
	self->waited = now >= due ? LAST : due;
	c->rung += now >= due;
	explorer_assert(weir__op_timer_at(&self->timer, op, self->waited) == 0);
	return 0;
}

static int clock_open(struct weir__op *op)
{
	struct crossing *c =
		*(struct crossing *const *)(const void *)weir__op_args(op);

	c->op = op;
	return 0;
}

static void clock_close(struct weir__op *op)
{
	struct clock *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
}

static const struct weir__kind clock_kind = {
	.name = "clock",
	.state_size = sizeof(struct clock),
	.keeps = sizeof(struct weir__op_timer),
	.pull = clock_pull,
	.open = clock_open,
	.close = clock_close,
	.source = true,
	.holds = true,
};

/* --- A clock in a flow of its own, that goes with the operator it is in --- */

static int around_open(struct weir__op *op)
{
	const struct crossing *c =
		*(struct crossing *const *)(const void *)weir__op_args(op);
	struct weir__op **nested = weir__op_state(op);
	int code = 0;

	*nested = weir__op_nest(op, c->inner, &code);
	return *nested ? 0 : code;
}

static size_t around_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__op *nested = *(struct weir__op **)weir__op_state(op);
	size_t n = weir__pull(nested, items, room);

	if (nested->ended)
		weir__op_end(op, nested->error);
	return n;
}

static void around_close(struct weir__op *op)
{
	weir__op_free_nested(*(struct weir__op **)weir__op_state(op));
}

static const struct weir__kind around_kind = {
	.name = "around",
	.state_size = sizeof(struct weir__op *),
	.pull = around_pull,
	.open = around_open,
	.close = around_close,
	.source = true,
	.holds = true,
	.nests = true,
};

/* --- What they do --------------------------------------------------------- */

static struct crossing *clock_due(void *context, uint64_t due)
{
	struct crossing *c = crossing_open(context);

	c->due = due;
	crossing_start(c, weir__flow_source(&clock_kind, &c,
					    sizeof(struct crossing *), true));
	return c;
}

static void not_armed(void *context)
{
	clock_due(context, 1);
}

static void armed(void *context)
{
	scene_settle(&clock_due(context, 1)->scene);
}

static void armed_nested(void *context)
{
	struct crossing *c = crossing_open(context);

	c->due = 1;
	c->inner = weir__flow_source(&clock_kind, &c, sizeof(struct crossing *),
				     true);
	crossing_start(c, weir__flow_source(&around_kind, &c,
					    sizeof(struct crossing *), true));
	scene_settle(&c->scene);
}

/* For the last time; somebody may say an earlier one. */
static void armed_late(void *context)
{
	struct crossing *c = clock_due(context, LAST);

	scene_settle(&c->scene);
	weir__op_hold(c->op);
}

static void pass_1(void *context)
{
	scene_pass_time(context, 1);
}

static void pass_both(void *context)
{
	scene_pass_time(context, 1);
	scene_pass_time(context, LAST);
}

static void pass_1_and_work(void *context)
{
	pass_1(context);
	work_below(context);
}

static void say_earlier(void *context)
{
	struct crossing *c = context;

	ck_pr_store_64(&c->due, 1);
	weir__op_wake(c->op);
	weir__op_unhold(c->op);
}

static void say_earlier_and_work(void *context)
{
	say_earlier(context);
	work_below(context);
}

static void cancel_and_work(void *context)
{
	cancel(context);
	work_below(context);
}

/* A timer that was armed for a time past fires as soon as can be. */
static void pass(struct crossing *c, uint64_t now)
{
	scene_settle(&c->scene);
	scene_pass_time(&c->scene, now);
	scene_settle(&c->scene);
}

static void each_time_was_told(void *context)
{
	struct crossing *c = context;

	if (c->scene.now < LAST) {
		pass(c, 1);
		explorer_assert(c->rung > 0);
	}
	pass(c, LAST);
	crossing_went_well(c);
}

static void ended_before(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -ECANCELED);
}

static const struct explorer_scenario scenarios[] = {
	CROSSING(.name = "a time comes as it is waited for", .setup = not_armed,
		 .thread = {pass_1, work_below}, .check = each_time_was_told),
	CROSSING(.name = "two times come", .setup = armed,
		 .thread = {pass_both, work_below},
		 .check = each_time_was_told),
	CROSSING(.name = "a timer is put forward", .setup = armed_late,
		 .thread = {pass_both, say_earlier_and_work},
		 .check = each_time_was_told),
	CROSSING(.name = "a timer is put forward, and two work",
		 .setup = armed_late,
		 .thread = {pass_1_and_work, say_earlier, work_below},
		 .check = each_time_was_told),
	CROSSING(.name = "a timer fires as it is put off", .setup = armed,
		 .thread = {pass_1, cancel_and_work}, .check = ended_before),
	CROSSING(.name = "a timer of a nested flow fires as that is put off",
		 .setup = armed_nested, .thread = {pass_1, cancel_and_work},
		 .check = ended_before),
	CROSSING(.name = "a timer is armed as the run is cancelled",
		 .setup = not_armed,
		 .thread = {pass_1_and_work, cancel, work_below},
		 .check = ended_before),
};

const struct scene_group op_timers = SCENE_GROUP(scenarios);
