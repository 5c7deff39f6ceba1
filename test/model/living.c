/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of living executors under all interleavings: who holds one finds it
 * whole until it is let go, and who takes one out waits for that, but for nobody
 * who comes later.
 */
#include <weir/executor.h>

#include "executor/registry.h"
#include "runner.h"

enum { N = 2 };

/* An executor as its owner has it: `whole` until it is taken down. */
struct one {
	struct weir_executor executor;
	struct weir__registry registry;
	bool whole; /* plain */
};

static struct world {
	struct one *ones[N];
	uint32_t seen; /* atomic */
} world;

static void list_two(void *context)
{
	struct world *w = context;
	size_t i;

	explorer_assert(weir__living_open() == 0);
	/* an execution that was left early has left its own */
	*weir__living = (struct weir__living_list){0};
	explorer_name(weir__living, sizeof(*weir__living), "list");
	for (i = 0; i < N; i++) {
		w->ones[i] = explorer_alloc(sizeof(*w->ones[i]));
		explorer_name(w->ones[i], sizeof(*w->ones[i]),
			      i ? "one" : "other");
		w->ones[i]->executor.registry = &w->ones[i]->registry;
		w->ones[i]->whole = true;
		weir__executor_living(&w->ones[i]->executor);
	}
}

static void take_down(struct world *w, size_t i)
{
	struct one *one = w->ones[i];

	weir__living_remove(&one->registry.living);
	one->whole = false;
	explorer_free(one);
}

static void take_down_first(void *context)
{
	take_down(context, 0);
}

static void take_down_second(void *context)
{
	take_down(context, 1);
}

static void look(void *context)
{
	struct weir_executor *executors[N];
	struct world *w = context;
	size_t n = weir__living_hold(executors, N), i;

	explorer_assert(n <= N);
	for (i = 0; i < n; i++)
		explorer_assert(
			weir_container_of(executors[i], struct one, executor)
				->whole);
	weir__living_let_go(executors, n);
	ck_pr_faa_32(&w->seen, (uint32_t)n);
}

static size_t n_listed(void)
{
	struct weir_executor *none[1];

	return weir__living_hold(none, 0);
}

static void one_is_left(void *context)
{
	struct world *w = context;

	explorer_assert(n_listed() == 1);
	explorer_assert(weir__living->lock.word == 0);
	explorer_assert(w->seen >= 1);
	explorer_assert(w->ones[1]->registry.living.looks == 0);
}

static void none_is_left(void *context)
{
	explorer_assert(n_listed() == 0);
	explorer_assert(weir__living->lock.word == 0);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), \
		.setup = list_two, __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "a look and one that goes",
		 .thread = {look, take_down_first}, .check = one_is_left),
	SCENARIO(.name = "a look and two that go",
		 .thread = {look, take_down_first, take_down_second},
		 .check = none_is_left),
	SCENARIO(.name = "two looks and one that goes",
		 .thread = {look, look, take_down_first}, .check = one_is_left),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "who_is_held_stays", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_step_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/executor/living.c",
	 .more_files = "lib/base/lock.h"},
};
const size_t n_model_cases = N_OF(model_cases);
