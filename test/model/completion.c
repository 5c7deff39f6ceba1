/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions, latches and joins under all interleavings: the result is seen
 * by all who see them complete, a cancel is before or after, and what is
 * complete may be freed at once.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/completion.h>
#include <weir/error.h>

#include "executor/living.h"
#include "runner.h"

struct family {
	struct weir_join join;
	struct weir_member members[2];
};

static struct world {
	struct weir_completion parts[2];
	struct weir_completion *whole; /* freed by who sees it complete */
	struct weir_latch latch;
	struct family *family;
	struct weir_await await;
	uint32_t payloads[2]; /* plain: written before completing */
	uint32_t called;      /* plain: read by `check` */
	bool cancelled;
	/* an actor with a port at parts[0] */
	struct weir_executor executor;
	struct weir_actor actor;
	struct weir_completion_port port;
	uint32_t turns, released; /* plain */
} world;

static void *heap_alloc(size_t size, void *context)
{
	return explorer_alloc(size);
}

static void heap_free(void *memory, size_t size, void *context)
{
	explorer_free(memory);
}

static const struct weir_allocator heap = {
	.alloc = heap_alloc,
	.free = heap_free,
};

static void setup(void *context)
{
	struct world *w = context;
	uint32_t i;

	for (i = 0; i < 2; i++)
		explorer_assert(weir_completion_init(&w->parts[i]) == 0);
}

static void complete(struct world *w, uint32_t i)
{
	w->payloads[i] = 1;
	explorer_assert(weir_completion_complete(&w->parts[i], w) == 0);
}

static void complete_first(void *context)
{
	complete(context, 0);
}

static void complete_second(void *context)
{
	complete(context, 1);
}

static void fail_second(void *context)
{
	struct world *w = context;

	w->payloads[1] = 1;
	explorer_assert(
		weir_completion_fail(&w->parts[1], weir_error_of(-EIO)) == 0);
}

static void wait_for_first(void *context)
{
	struct world *w = context;

	explorer_assert(weir_completion_wait(&w->parts[0], WEIR_FOREVER) == 0);
	explorer_assert(weir_completion_value(&w->parts[0]) == w);
	w->payloads[0]++;
}

static void look_at_first(void *context)
{
	struct world *w = context;

	if (weir_completion_done(&w->parts[0]))
		explorer_assert(weir_completion_value(&w->parts[0]) == w &&
				w->payloads[0] == 1);
}

static void called(struct weir_await *await, struct weir_completion *of)
{
	struct world *w = weir_container_of(await, struct world, await);

	w->called++;
	w->payloads[0]++;
}

static void await_and_cancel(void *context)
{
	struct world *w = context;

	w->await.done = called;
	explorer_assert(weir_completion_wait_async(&w->parts[0], &w->await) ==
			0);
	w->cancelled = weir_completion_cancel(&w->parts[0], &w->await);
}

static void called_unless_cancelled(void *context)
{
	struct world *w = context;

	explorer_assert(w->called + w->cancelled == 1);
	explorer_assert(weir_completion_fini(&w->parts[0]) == 0);
}

/* --- Freed when it is complete ------------------------------------------ */

static void on_the_heap(void *context)
{
	struct world *w = context;

	setup(w);
	w->whole = explorer_alloc(sizeof(*w->whole));
	explorer_assert(weir_completion_init(w->whole) == 0);
}

static void complete_whole(void *context)
{
	struct world *w = context;

	(void)weir_completion_complete(w->whole, w);
}

static void free_whole(struct world *w)
{
	explorer_assert(weir_completion_fini(w->whole) == 0);
	explorer_free(w->whole);
}

static void wait_and_free(void *context)
{
	struct world *w = context;

	explorer_assert(weir_completion_wait(w->whole, WEIR_FOREVER) == 0);
	free_whole(w);
}

static void look_and_free(void *context)
{
	struct world *w = context;

	if (weir_completion_done(w->whole))
		free_whole(w);
}

/* --- Latches ------------------------------------------------------------ */

static void with_latch(void *context)
{
	struct world *w = context;

	setup(w);
	explorer_assert(weir_latch_init(&w->latch, 2) == 0);
}

static void count(struct world *w, uint32_t i)
{
	w->payloads[i] = 1;
	explorer_assert(weir_latch_count_down(&w->latch, 1) == 0);
}

static void count_first(void *context)
{
	count(context, 0);
}

static void count_second(void *context)
{
	count(context, 1);
}

static void wait_for_latch(void *context)
{
	struct world *w = context;

	explorer_assert(
		weir_completion_wait(&w->latch.completion, WEIR_FOREVER) == 0);
	explorer_assert(w->payloads[0] && w->payloads[1]);
}

/* --- Joins -------------------------------------------------------------- */

static void make(struct world *w, enum weir_join_rule rule)
{
	setup(w);
	w->family = explorer_alloc(sizeof(*w->family));
	explorer_assert(weir_join_init(&w->family->join, rule) == 0);
}

static void all_of(void *context)
{
	make(context, WEIR_JOIN_ALL);
}

static void any_of(void *context)
{
	make(context, WEIR_JOIN_ANY);
}

/* Adds, closes, waits, and frees what nobody may touch any more. */
static void add_and_wait(struct world *w, uint32_t n)
{
	struct family *family = w->family;
	uint32_t i;

	for (i = 0; i < n; i++)
		explorer_assert(weir_join_add(&family->join,
					      &family->members[i],
					      &w->parts[i]) == 0);
	explorer_assert(weir_join_end(&family->join) == 0);
	explorer_assert(weir_completion_wait(&family->join.completion,
					     WEIR_FOREVER) == 0);
	if (family->join.rule == WEIR_JOIN_ALL)
		explorer_assert(w->payloads[0] && w->payloads[1]);
	else
		explorer_assert(w->payloads[weir_join_first(&family->join) ==
					    &w->parts[1]]);
	explorer_assert(weir_join_fini(&family->join) == 0);
	explorer_free(family);
}

static void join_both(void *context)
{
	add_and_wait(context, 2);
}

static void add_and_close(void *context)
{
	struct world *w = context;
	uint32_t i;

	for (i = 0; i < 2; i++)
		explorer_assert(weir_join_add(&w->family->join,
					      &w->family->members[i],
					      &w->parts[i]) == 0);
	explorer_assert(weir_join_end(&w->family->join) == 0);
}

static void cancel_join(void *context)
{
	struct world *w = context;

	(void)weir_join_cancel(&w->family->join);
}

static void nothing_waits(void *context)
{
	struct world *w = context;
	uint32_t i;

	for (i = 0; i < 2; i++)
		explorer_assert(weir_completion_fini(&w->parts[i]) == 0);
}

/* Whoever was last to let go of it has completed it. */
static void the_join_is_done(void *context)
{
	struct world *w = context;

	explorer_assert(weir_join_fini(&w->family->join) == 0);
	nothing_waits(w);
}

/* --- The port ----------------------------------------------------------- */

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	weir_task_run(task);
	return 0;
}

static uint64_t now(struct weir_executor *executor)
{
	return 0;
}

static const struct weir_executor_ops executor_ops = {
	.submit = submit,
	.now = now,
};

static uint32_t turn(struct weir_actor *actor, uint32_t n)
{
	struct world *w = weir_container_of(actor, struct world, actor);

	explorer_assert(weir_completion_value(&w->parts[0]) == w);
	w->payloads[0]++;
	w->turns++;
	(void)weir_actor_end(actor);
	return 1;
}

static void actor_released(struct weir_actor *actor)
{
	weir_container_of(actor, struct world, actor)->released++;
}

static const struct weir_actor_ops actor_ops = {
	.turns = turn,
	.released = actor_released,
};

static void with_new_actor(void *context)
{
	const struct weir_executor_options options = {.allocator = &heap};
	struct world *w = context;

	setup(w);
	/* an execution that was left early has left its own there */
	if (weir__living)
		*weir__living = (struct weir__living_list){.begun = true};
	explorer_assert(
		weir_executor_init(&w->executor, &executor_ops, &options) == 0);
	explorer_assert(weir_actor_init(&w->actor, &actor_ops, &w->executor) ==
			0);
	explorer_assert(weir_completion_port_init(&w->port, &w->actor,
						  &w->parts[0]) == 0);
	weir_actor_ref(&w->actor);
}

static void start(void *context)
{
	struct world *w = context;

	explorer_assert(weir_actor_start(&w->actor) == 0);
}

static void with_actor(void *context)
{
	with_new_actor(context);
	start(context);
}

static void stop(void *context)
{
	weir_actor_stop(&((struct world *)context)->actor);
}

static void the_actor_is_gone(void *context)
{
	struct world *w = context;

	weir_actor_unref(&w->actor);
	explorer_assert(w->released == 1);
	explorer_assert(weir_executor_fini(&w->executor) == 0);
	explorer_assert(weir_completion_fini(&w->parts[0]) == 0);
}

static void the_actor_has_run(void *context)
{
	explorer_assert(((struct world *)context)->turns == 1);
	the_actor_is_gone(context);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "a thread waits", .setup = setup,
		 .thread = {complete_first, wait_for_first}),
	SCENARIO(.name = "a thread looks", .setup = setup,
		 .thread = {complete_first, look_at_first}),
	SCENARIO(.name = "a cancel races a completion", .setup = setup,
		 .thread = {complete_first, await_and_cancel},
		 .check = called_unless_cancelled),
	SCENARIO(.name = "who waited frees it", .setup = on_the_heap,
		 .thread = {complete_whole, wait_and_free}),
	SCENARIO(.name = "who sees it complete frees it", .setup = on_the_heap,
		 .thread = {complete_whole, look_and_free}),
	SCENARIO(.name = "a latch", .setup = with_latch,
		 .thread = {count_first, count_second, wait_for_latch}),
	SCENARIO(.name = "all of two", .setup = all_of,
		 .thread = {complete_first, fail_second, join_both},
		 .check = nothing_waits),
	SCENARIO(.name = "any of two", .setup = any_of,
		 .thread = {complete_first, complete_second, join_both},
		 .check = nothing_waits),
	SCENARIO(.name = "a join is given up", .setup = all_of,
		 .thread = {cancel_join, complete_first, add_and_close},
		 .check = the_join_is_done),
	SCENARIO(.name = "it fires an actor", .setup = with_actor,
		 .thread = {complete_first}, .check = the_actor_has_run),
	SCENARIO(.name = "an actor arms while it completes",
		 .setup = with_new_actor, .thread = {complete_first, start},
		 .check = the_actor_has_run),
	SCENARIO(.name = "a stop races a completion", .setup = with_actor,
		 .thread = {complete_first, stop}, .check = the_actor_is_gone),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "it_completes_once_and_for_all", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "sync/completion.c"},
	{.name = "every_fence_of_joins_is_needed",
	 .groups = GROUPS(&all),
	 .files = "sync/join.c"},
};
const size_t n_model_cases = N_OF(model_cases);
