/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry as the executor's own threads use it, without a lock, beside
 * drains, aborts and frees (claims 1 to 6 of registry.h). They make their own
 * fences here, as they do where there is no membarrier.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <ck_pr.h>

#include "drains.h"
#include "executor/registry.h"
#include "scene.h"

static void own_one_of_two(void *context)
{
	one_of_two(context);
	scene_own_threads(context);
}

static void own_start_0(void *context)
{
	scene_use_share(context);
	start_0(context);
}

static void own_sinks(void *context)
{
	struct scene *s = scene_open(context, false);
	uint32_t i;

	scene_own_threads(s);
	for (i = 0; i < 2; i++)
		scene_sink(s, 1);
	scene_start(s);
	for (i = 0; i < 2; i++)
		weir_actor_stop(&s->nodes[i]->actor);
}

static void own_run(void *context)
{
	scene_use_share(context);
	scene_run(context, (uint32_t)explorer_thread());
}

static void own_stopped_sink(void *context)
{
	stopped_sink(context);
	scene_own_threads(context);
}

static void own_drained_sink(void *context)
{
	drained_sink(context);
	scene_own_threads(context);
}

/* Node 0 has a token and finishes with it, node 1 lives on. */
static void own_short_and_long(void *context)
{
	one_of_two(context);
	scene_own_threads(context);
	((struct scene *)context)->nodes[0]->stop_after = 1;
	scene_put(((struct scene *)context)->nodes[0], 0, 0);
}

static void own_life_of_0(void *context)
{
	own_start_0(context);
	scene_run(context, 0);
}

static void somebody_is_alive(void *context)
{
	struct scene *s = context;

	explorer_assert(weir_executor_alive(&s->executor) >= 1);
}

static void who_is_not_alive_is_released(void *context)
{
	struct scene *s = context;

	if (!weir_executor_alive(&s->executor))
		explorer_assert(s->fates[0].released == 1);
}

static void is_stopped(void *context)
{
	struct scene *s = context;

	weir_actor_stop(&s->nodes[1]->actor);
	scene_is_over(context);
}

/* The slot of the one becomes the other's. */
static void own_reused(void *context)
{
	struct scene *s = scene_open(context, false);

	scene_own_threads(s);
	scene_sink(s, 1);
	scene_sink(s, 1);
	weir_actor_start(&s->nodes[1]->actor);
	weir_actor_stop(&s->nodes[1]->actor);
}

/*
 * As if node 0 were set up here, in memory that an actor had before: its
 * references stand for all of it.
 */
static void own_run_1_start_0(void *context)
{
	struct scene *s = context;

	scene_use_share(context);
	scene_run(context, 1);
	ck_pr_store_32(&s->nodes[0]->actor.refs, 1);
	start_0(context);
}

static void own_telling_sink(void *context)
{
	telling_sink(context);
	scene_own_threads(context);
}

static void own_telling_sinks(void *context)
{
	telling_sinks(context);
	scene_own_threads(context);
}

static void own_starting_sink(void *context)
{
	starting_sink(context);
	scene_own_threads(context);
}

static void free_after_one(void *context)
{
	free_if_told(context, 1, 0);
}

static void free_after_both(void *context)
{
	free_if_told(context, 2, 0);
}

static void free_in_vain(void *context)
{
	free_if_told(context, 1, -EBUSY);
}

/* Nobody is seen who is released before the look has done with him. */
static bool is_whole(struct weir_task *task, uint64_t id, void *context)
{
	struct scene *s = context;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		if (!s->nodes[i] || task != &s->nodes[i]->actor.task)
			continue;
		(void)ck_pr_load_32(&s->nodes[i]->actor.gate);
		/* what was written before it was there */
		explorer_assert(s->nodes[i]->stop_after < UINT32_MAX);
		explorer_assert(!s->fates[i].released);
	}
	return true;
}

static void look(void *context)
{
	struct scene *s = context;
	uint32_t index = 0;

	weir__registry_look_begin(s->executor.registry);
	while (weir__registry_look(s->executor.registry, &index, is_whole, s))
		;
	weir__registry_look_end(s->executor.registry);
}

static void first_is_stopped(void *context)
{
	struct scene *s = context;

	weir_actor_stop(&s->nodes[0]->actor);
	scene_is_over(context);
}

/* As own_run_1_start_0(); where the shard has a slot to spare, no lock orders
 * what is set up before the start. */
static void own_run_1_set_up_0(void *context)
{
	struct scene *s = context;

	scene_use_share(context);
	scene_run(context, 1);
	s->nodes[0]->stop_after = 7;
	ck_pr_store_32(&s->nodes[0]->actor.refs, 1);
	start_0(context);
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "an own start and a drain", .setup = own_one_of_two,
		 .thread = {own_start_0, drain}, .check = is_drained),
	SCENARIO(.name = "an own start and an abort", .setup = own_one_of_two,
		 .thread = {own_start_0, abort_all}, .check = is_drained),
	SCENARIO(.name = "an own release and an abort",
		 .setup = own_stopped_sink, .thread = {own_run, abort_all},
		 .check = is_drained),
	SCENARIO(.name = "own releases and a drain", .setup = own_sinks,
		 .thread = {own_run, own_run, drain}, .check = is_drained),
	SCENARIO(.name = "an own release and a deadline",
		 .setup = own_drained_sink, .thread = {own_run, pass_deadline},
		 .check = is_drained_once),
	SCENARIO(.name = "an own slot used again and an abort",
		 .setup = own_reused, .thread = {own_run_1_start_0, abort_all},
		 .check = is_drained),
	SCENARIO(.name = "an own life beside a long one",
		 .setup = own_short_and_long,
		 .thread = {own_life_of_0, somebody_is_alive},
		 .check = is_stopped),
	SCENARIO(.name = "an own release and a look", .setup = own_stopped_sink,
		 .thread = {own_run, who_is_not_alive_is_released},
		 .check = scene_is_over),
	SCENARIO(.name = "an own release and a free", .setup = own_telling_sink,
		 .thread = {own_run, free_after_one}, .check = scene_is_over),
	SCENARIO(.name = "an own release and a look at it",
		 .setup = own_stopped_sink, .thread = {own_run, look},
		 .check = scene_is_over),
	SCENARIO(.name = "an own start and a look at it", .setup = own_reused,
		 .thread = {own_run_1_set_up_0, look},
		 .check = first_is_stopped),
	SCENARIO(.name = "own releases, a look and an abort",
		 .setup = own_sinks, .thread = {own_run, look, abort_all},
		 .check = is_drained),
	SCENARIO(.name = "own releases and a free", .setup = own_telling_sinks,
		 .thread = {own_run, own_run, free_after_both},
		 .check = scene_is_over),
	SCENARIO(.name = "an own release that starts another, and a free",
		 .setup = own_starting_sink, .thread = {own_run, free_in_vain},
		 .check = is_stopped),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

/* Those of other files are weakened in core.c. */
const struct model_case model_cases[] = {
	{.name = "everybody_is_reached_and_every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/executor/registry"},
	{.name = "every_fence_of_membarriers_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/base/membarrier"},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
};
const size_t n_model_cases = N_OF(model_cases);
