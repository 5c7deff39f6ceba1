/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is alive when an executor drains or aborts; references of errors. */
#include "drains.h"
#include "scene.h"

#include <errno.h>

#include <ck_pr.h>

static void run_0(void *context)
{
	scene_run(context, 0);
}

static void run_1(void *context)
{
	scene_run(context, 1);
}

/* --- What is dropped ------------------------------------------------------ */

static void aborted_sinks(void *context)
{
	struct scene *s = scene_open(context, false);
	uint32_t i;

	for (i = 0; i < 2; i++)
		scene_put(scene_sink(s, 1), 0, i);
	scene_start(s);
	scene_abort(s);
}

static void both_are_counted(void *context)
{
	struct scene *s = context;

	is_drained(context);
	explorer_assert(s->drain.items_dropped == 2);
}

/* --- Who frees the executor ----------------------------------------------- */

static void free_after_one(void *context)
{
	struct scene *s = context;

	if (!ck_pr_load_32(&s->told))
		return;
	ck_pr_fence_acquire();
	explorer_assert(weir_executor_fini(&s->executor) == 0);
	explorer_assert(s->fates[0].released == 1);
}

static void is_gone(void *context)
{
	struct scene *s = context;

	if (s->executor.registry)
		scene_is_over(s);
	explorer_assert(explorer_allocated() == 0);
}

static void free_after_both(void *context)
{
	free_if_told(context, 2, 0);
}

static void free_in_vain(void *context)
{
	free_if_told(context, 1, -EBUSY);
}

static void is_stopped(void *context)
{
	struct scene *s = context;

	weir_actor_stop(&s->nodes[1]->actor);
	scene_is_over(context);
}

/* --- Errors --------------------------------------------------------------- */

static void two_holders(void *context)
{
	struct scene *s = scene_open(context, false);

	explorer_assert(weir_error_new(&s->error, -EIO, NULL, NULL, NULL, NULL,
				       s->executor.options.allocator) == 0);
	weir_error_ref(s->error);
}

static void hold(void *context)
{
	struct scene *s = context;
	struct weir_error *error = weir_error_ref(s->error);

	weir_error_unref(s->error);
	explorer_assert(error->code == -EIO);
	weir_error_unref(error);
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "a start and a drain", .setup = one_of_two,
		 .thread = {start_0, drain}, .check = is_drained),
	SCENARIO(.name = "a start and an abort", .setup = one_of_two,
		 .thread = {start_0, abort_all}, .check = is_drained),
	SCENARIO(.name = "a release and a drain", .setup = stopped_sink,
		 .thread = {run_0, drain}, .check = is_drained),
	SCENARIO(.name = "a release and an abort", .setup = stopped_sink,
		 .thread = {run_0, abort_all}, .check = is_drained),
	SCENARIO(.name = "a release and a deadline", .setup = drained_sink,
		 .thread = {run_0, pass_deadline}, .check = is_drained_once),
	SCENARIO(.name = "a release and a free", .setup = telling_sink,
		 .thread = {run_0, free_after_one}, .check = is_gone),
	SCENARIO(.name = "two releases and a free", .setup = telling_sinks,
		 .thread = {run_0, run_1, free_after_both},
		 .check = scene_is_over),
	SCENARIO(.name = "a release that starts another, and a free",
		 .setup = starting_sink, .thread = {run_0, free_in_vain},
		 .check = is_stopped),
	SCENARIO(.name = "two who drop", .setup = aborted_sinks,
		 .thread = {run_0, run_1}, .check = both_are_counted),
	SCENARIO(.name = "an error", .setup = two_holders,
		 .thread = {hold, hold}, .check = scene_is_over),
};

const struct scene_group registry = SCENE_GROUP(scenarios);
