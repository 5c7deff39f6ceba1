/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring of a worker, under all interleavings of its owner and its thieves:
 * every task comes out once, ordered after its push. The owner makes its own
 * fences here. The slots start out full of what was popped long ago, so that
 * whoever reads one that is not his finds a task he must not run.
 */
#include <stddef.h>
#include <stdint.h>

#define WEIR__RING_SIZE 2u
#include "executor/ring.c"

#include "runner.h"

#define N_TASKS 4

struct task {
	struct weir_task task;
	uint32_t payload; /* plain: the ring has to order it */
	uint32_t runs;
};

static struct world {
	struct weir__ring ring;
	struct task popped;
	struct task tasks[N_TASKS];
} world;

static void setup(void *context)
{
	struct world *w = context;
	uint32_t i;

	w->ring.head = w->ring.tail = 2 * WEIR__RING_SIZE;
	for (i = 0; i < WEIR__RING_SIZE; i++)
		w->ring.slots[i] = &w->popped.task;
	explorer_name(&w->ring, sizeof(w->ring), "ring");
}

static void run(struct weir_task *task)
{
	struct task *self;

	if (!task)
		return;
	self = weir_container_of(task, struct task, task);
	explorer_assert(self->payload == 1);
	self->payload = 2;
	self->runs++;
}

static void push(struct world *w, uint32_t i)
{
	w->tasks[i].payload = 1;
	if (!weir__ring_push(&w->ring, &w->tasks[i].task))
		run(&w->tasks[i].task);
}

/* Never more than one of the thief's slots behind. */
static void owner(void *context)
{
	struct world *w = context;

	push(w, 0);
	run(weir__ring_pop(&w->ring));
	push(w, 1);
	push(w, 2);
	run(weir__ring_pop(&w->ring));
	push(w, 3);
	run(weir__ring_pop(&w->ring));
}

static void short_owner(void *context)
{
	struct world *w = context;

	push(w, 0);
	push(w, 1);
	run(weir__ring_pop(&w->ring));
	push(w, 2);
}

static void thief(void *context)
{
	struct world *w = context;
	struct weir_task *task;

	if (weir__ring_steal(&w->ring, &task, 1))
		run(task);
}

static void greedy_thief(void *context)
{
	struct world *w = context;
	struct weir_task *tasks[2];
	uint32_t n = weir__ring_steal(&w->ring, tasks, 2);

	while (n)
		run(tasks[--n]);
}

static void thief_twice(void *context)
{
	thief(context);
	thief(context);
}

static void each_task_has_run_once(void *context)
{
	struct world *w = context;
	struct weir_task *task;
	uint32_t i;

	while ((task = weir__ring_pop(&w->ring)))
		run(task);
	explorer_assert(w->popped.runs == 0);
	for (i = 0; i < N_TASKS; i++)
		explorer_assert(w->tasks[i].runs == w->tasks[i].payload / 2);
}

#define SCENARIO(...) \
	{ \
		.setup = setup, .check = each_task_has_run_once, \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "one thief", .thread = {owner, thief_twice}),
	SCENARIO(.name = "two thieves", .thread = {short_owner, thief, thief}),
	SCENARIO(.name = "a greedy thief", .thread = {owner, greedy_thief}),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "every_task_comes_out_once", .groups = GROUPS(&all)},
	{.name = "every_task_comes_out_once_on_x86",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/"},
};
const size_t n_model_cases = N_OF(model_cases);
