/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A mailbox under all interleavings: what is pushed is taken once, behind its
 * push and in the order of the pushes, and one push for each batch finds the
 * mailbox empty, as whoever has to be woken once relies on.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "explorer.h"
#include "runner.h"

enum { N_ITEMS = 4 };

struct item {
	struct weir__node node;
	uint32_t written; /* plain */
	uint32_t taken;
};

static struct world {
	struct weir__mailbox mailbox;
	struct item items[N_ITEMS];
	uint32_t n_pushed, at; /* `at`: one more for each that was taken */
	uint32_t n_empty[3];   /* by thread: pushes that found it so */
	uint32_t n_batches;
} world;

static void empty(void *context)
{
	struct world *w = context;

	explorer_name(&w->mailbox, sizeof(w->mailbox), "mailbox");
	w->n_pushed = 3;
}

static void push(struct world *w, uint32_t i)
{
	w->items[i].written = 1;
	w->n_empty[explorer_thread()] +=
		weir__mailbox_push(&w->mailbox, &w->items[i].node);
}

static void take(struct world *w)
{
	struct weir__node *node = weir__mailbox_take(&w->mailbox), *next;

	w->n_batches += node != NULL;
	for (; node; node = next) {
		struct item *item = (struct item *)(void *)node;

		next = node->next;
		explorer_assert(item->written == 1 && item->taken == 0);
		item->taken = ++w->at;
	}
}

static void pushes_two(void *context)
{
	push(context, 0);
	push(context, 1);
}

static void pushes_one(void *context)
{
	push(context, 2);
}

static void takes_twice(void *context)
{
	take(context);
	take(context);
}

static void takes_if_there_is_something(void *context)
{
	struct world *w = context;

	if (!weir__mailbox_empty(&w->mailbox))
		take(w);
}

static void all_are_taken(void *context)
{
	struct world *w = context;
	uint32_t n_empty;

	take(w);
	explorer_assert(w->at == w->n_pushed);
	explorer_assert(w->items[0].taken < w->items[1].taken);
	n_empty = w->n_empty[0] + w->n_empty[1] + w->n_empty[2];
	explorer_assert(n_empty == w->n_batches);
	explorer_assert(weir__mailbox_empty(&w->mailbox));
}

/* --- A node comes again --------------------------------------------------- */

static void one_is_there(void *context)
{
	struct world *w = context;

	empty(w);
	push(w, 0);
	w->n_pushed = 4;
}

/* The first is behind another one now, and the newest as before. */
static void takes_and_pushes_it_again(void *context)
{
	struct world *w = context;

	take(w);
	if (w->items[2].taken)
		return; /* the other one was sooner */
	w->items[0].taken = 0;
	push(w, 1);
	push(w, 0);
}

static void nothing_is_lost(void *context)
{
	struct world *w = context;

	take(w);
	explorer_assert(w->items[0].taken > 0 && w->items[2].taken > 0);
	explorer_assert(w->at == 2 || w->at == 4);
	explorer_assert(w->at == 2 || w->items[1].taken > 0);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "two push, one takes", .setup = empty,
		 .thread = {pushes_two, pushes_one, takes_twice},
		 .check = all_are_taken),
	SCENARIO(.name = "two push, one looks first", .setup = empty,
		 .thread = {pushes_two, pushes_one,
			    takes_if_there_is_something},
		 .check = all_are_taken),
	SCENARIO(.name = "the newest was taken and came again",
		 .setup = one_is_there,
		 .thread = {pushes_one, takes_and_pushes_it_again},
		 .check = nothing_is_lost),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "each_is_taken_once_in_order",
	 .groups = GROUPS(&all),
	 .run = {.preemptions = 3, .stale = 2}},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.preemptions = 3, .stale = 2, .tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .run = {.preemptions = 2, .stale = 1},
	 .files = "lib/base/mailbox.h"},
};
const size_t n_model_cases = N_OF(model_cases);
