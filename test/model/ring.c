/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring of a worker, under all interleavings of its owner and its thieves:
 * every task comes out once, ordered after its push. The owner makes its own
 * fences here. The slots start out full of what was popped long ago, so that
 * whoever reads one that is not his finds a task he must not run.
 */
#undef NDEBUG
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WEIR__RING_SIZE 2u
#include "executor/ring.c"

#include "explorer.h"

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

static const struct explorer_scenario one_thief =
	SCENARIO(.name = "one thief", .thread = {owner, thief_twice});
static const struct explorer_scenario two_thieves =
	SCENARIO(.name = "two thieves", .thread = {short_owner, thief, thief});

static const struct explorer_scenario greedy =
	SCENARIO(.name = "a greedy thief", .thread = {owner, greedy_thief});

static const struct explorer_scenario *const scenarios[] = {
	&one_thief,
	&two_thieves,
	&greedy,
};
#define N_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static void every_task_comes_out_once(void **state)
{
	assert_true(explorer_all_pass(scenarios, N_SCENARIOS, false));
}

static void every_task_comes_out_once_on_x86(void **state)
{
	assert_true(explorer_all_pass(scenarios, N_SCENARIOS, true));
}

static void every_fence_is_needed(void **state)
{
	struct explorer_weaken_result result;

	assert_true(explorer_weaken(scenarios, N_SCENARIOS, NULL, NULL, 0,
				    &result));
	assert_true(result.killed > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_task_comes_out_once),
		cmocka_unit_test(every_task_comes_out_once_on_x86),
		cmocka_unit_test(every_fence_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
