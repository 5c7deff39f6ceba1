/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles of runs: cancel and drain by other threads against each other and the
 * run's own end. The first failure counts, and who is last frees the run.
 */
#include "crossing.h"

#include <errno.h>

static struct crossing *starting(void *context)
{
	struct crossing *c = crossing_open(context);

	explorer_assert(weir_flow_queue_new(&c->queue, 2,
					    WEIR_OVERFLOW_BACK_PRESSURE,
					    &c->scene.items) == 0);
	crossing_start(c, crossing_sink(c, weir_flow_from_queue(c->queue)));
	return c;
}

static void one_island(void *context)
{
	starting(context);
}

static void one_at_rest(void *context)
{
	scene_settle(&starting(context)->scene);
}

/* It has what it needs to end well. */
static void about_to_end(void *context)
{
	struct crossing *c = starting(context);

	scene_settle(&c->scene);
	explorer_assert(weir_flow_queue_offer(c->queue, crossing_token(c, 0)) ==
			0);
	explorer_assert(weir_flow_queue_end(c->queue, NULL) == 0);
}

static void fail_with(struct crossing *c, int code)
{
	struct weir_error *error;

	explorer_assert(
		weir_error_new(&error, code, "test", "cancelled", NULL, NULL,
			       c->scene.executor.options.allocator) == 0);
	weir_flow_run_stop(c->run, error);
	weir_error_unref(error);
}

static void fail_with_eio(void *context)
{
	fail_with(context, -EIO);
}

static void fail_with_enoent(void *context)
{
	fail_with(context, -ENOENT);
}

static void fail_and_work(void *context)
{
	fail_with_enoent(context);
	work_below(context);
}

static void fail_and_let_go(void *context)
{
	fail_with_eio(context);
	let_go(context);
}

static void drain_and_work(void *context)
{
	drain_run(context);
	work_below(context);
}

static void drain_and_let_go(void *context)
{
	drain_run(context);
	let_go(context);
}

/* What the completion says, as soon as it says so. */
static void look_and_let_go(void *context)
{
	struct crossing *c = context;
	struct weir_completion *over = weir_flow_run_over(c->run);

	if (weir_completion_done(over))
		explorer_assert(!weir_completion_error(over));
	let_go(c);
}

static void failed_or_not(struct crossing *c, int code)
{
	crossing_is_over(c);
	explorer_assert(c->code == code || (c->code == 0 && c->delivered == 1));
}

static void failed_or_ended(void *context)
{
	failed_or_not(context, -EIO);
}

static void failed_once(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -EIO || c->code == -ENOENT);
}

static void failed_or_drained(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -EIO || c->code == 0);
}

static const struct explorer_scenario scenarios[] = {
	CROSSING(.name = "a run ends as it is cancelled", .setup = about_to_end,
		 .thread = {fail_with_eio, work_below},
		 .check = failed_or_ended),
	CROSSING(.name = "a run is cancelled and let go as it ends",
		 .setup = about_to_end, .thread = {fail_and_let_go, work_below},
		 .check = failed_or_ended),
	CROSSING(.name = "two cancel a run", .setup = one_at_rest,
		 .thread = {fail_with_eio, fail_and_work},
		 .check = failed_once),
	CROSSING(.name = "two cancel a run that begins", .setup = one_island,
		 .thread = {fail_with_eio, fail_with_enoent, work_below},
		 .check = failed_once),
	CROSSING(.name = "a run is drained as it begins", .setup = one_island,
		 .thread = {drain_run, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "a run is drained and let go", .setup = one_at_rest,
		 .thread = {drain_and_let_go, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "a run is drained and cancelled", .setup = one_at_rest,
		 .thread = {fail_with_eio, drain_and_work},
		 .check = failed_or_drained),
	CROSSING(.name = "a run is let go as it ends", .setup = about_to_end,
		 .thread = {look_and_let_go, work_below},
		 .check = crossing_went_well),
};

const struct scene_group runs = SCENE_GROUP(scenarios);
