/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock under all interleavings: one thread at a time has it and sees what
 * the last one has done, and whoever waits gets it, also where its holder lends
 * it and takes it again.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "runner.h"

static struct world {
	struct weir__lock lock;
	uint32_t taken;	 /* plain: how often */
	uint32_t inside; /* plain: who has it */
} world;

/* It is ours; a switch in between would show another's. */
static void use(struct world *w)
{
	explorer_assert(w->inside == 0);
	w->inside = 1;
	explorer_yield();
	w->taken++;
	w->inside = 0;
}

static void take(void *context)
{
	struct world *w = context;

	weir__lock(&w->lock);
	use(w);
	weir__unlock(&w->lock);
}

static void take_twice(void *context)
{
	take(context);
	take(context);
}

static void take_and_lend(void *context)
{
	struct world *w = context;

	weir__lock(&w->lock);
	use(w);
	weir__lock_lend(&w->lock);
	use(w);
	weir__unlock(&w->lock);
}

static void taken(const struct world *w, uint32_t n)
{
	explorer_assert(w->taken == n);
	explorer_assert(w->lock.word == 0);
}

static void three_times(void *context)
{
	taken(context, 3);
}

static void four_times(void *context)
{
	taken(context, 4);
}

static void five_times(void *context)
{
	taken(context, 5);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "three take it", .thread = {take, take, take},
		 .check = three_times),
	SCENARIO(.name = "two take it, one of them twice",
		 .thread = {take, take_twice}, .check = three_times),
	SCENARIO(.name = "one lends it to another",
		 .thread = {take_and_lend, take}, .check = three_times),
	SCENARIO(.name = "one lends it to two",
		 .thread = {take_and_lend, take, take}, .check = four_times),
	SCENARIO(.name = "one lends it to another, who comes again",
		 .thread = {take_and_lend, take_twice}, .check = four_times),
	SCENARIO(.name = "two lend it to each other",
		 .thread = {take_and_lend, take_and_lend}, .check = four_times),
	SCENARIO(.name = "two lend it and a third one takes it",
		 .thread = {take_and_lend, take_and_lend, take},
		 .check = five_times),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "whoever_waits_gets_it", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_step_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/base/lock.h"},
};
const size_t n_model_cases = N_OF(model_cases);
