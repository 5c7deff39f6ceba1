/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * References under all interleavings: one thread drops the last one, after all
 * that the others did.
 */
#undef NDEBUG
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/refcount.h"
#include "explorer.h"
#include "runner.h"

enum { N_THREADS = 3 };

/* On the heap, and freed by the last drop: a later touch is a failure. */
struct held {
	uint32_t refs;
	uint32_t written[N_THREADS]; /* plain: by thread */
};

static struct world {
	struct held *held;
	bool strongly; /* weir__unref_strong() */
	uint32_t n_threads;
	uint32_t released; /* plain */
} world;

static void held_by(struct world *w, uint32_t n)
{
	w->n_threads = n;
	w->held = explorer_alloc(sizeof(*w->held));
	w->held->refs = n;
	explorer_name(&w->held->refs, sizeof(w->held->refs), "refs");
}

static void two_hold_it(void *context)
{
	held_by(context, 2);
}

static void three_hold_it(void *context)
{
	held_by(context, 3);
}

/* No thread tries to get a reference. */
static void two_hold_it_strongly(void *context)
{
	struct world *w = context;

	held_by(w, 2);
	w->strongly = true;
}

static void three_hold_it_strongly(void *context)
{
	struct world *w = context;

	held_by(w, 3);
	w->strongly = true;
}

/* Drops `n` references, which are several only if `strongly`. */
static void drop_n(struct world *w, uint32_t n)
{
	if (!(w->strongly ? weir__unref_strong(&w->held->refs, n)
			  : weir__unref(&w->held->refs)))
		return;
	for (uint32_t i = 0; i < w->n_threads; i++)
		explorer_assert(w->held->written[i] == 1);
	w->released++;
	explorer_free(w->held);
}

static void drop(struct world *w)
{
	drop_n(w, 1);
}

static void writes_and_drops(void *context)
{
	struct world *w = context;

	w->held->written[explorer_thread()] = 1;
	drop(w);
}

/* Lends it once more, as a thread that passes it on does. */
static void lends_and_drops(void *context)
{
	struct world *w = context;

	weir__ref(&w->held->refs);
	drop(w);
	writes_and_drops(w);
}

/* Drops both of its references at once. */
static void doubles_and_drops(void *context)
{
	struct world *w = context;

	weir__ref(&w->held->refs);
	w->held->written[explorer_thread()] = 1;
	drop_n(w, 2);
}

/* Who has the only one sees what the others have done, and changes it. */
static void looks_and_drops(void *context)
{
	struct world *w = context;

	if (weir__ref_only(&w->held->refs)) {
		for (uint32_t i = 0; i < w->n_threads; i++)
			explorer_assert((int)i == explorer_thread() ||
					w->held->written[i] == 1);
	}
	writes_and_drops(w);
}

static void was_released_once(void *context)
{
	const struct world *w = context;

	explorer_assert(w->released == 1);
	explorer_assert(explorer_allocated() == 0);
}

#define SCENARIO(...) \
	{ \
		.check = was_released_once, .context = &world, \
		.context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "two drop", .setup = two_hold_it,
		 .thread = {writes_and_drops, writes_and_drops}),
	SCENARIO(.name = "two lend", .setup = two_hold_it,
		 .thread = {lends_and_drops, lends_and_drops}),
	SCENARIO(.name = "three drop", .setup = three_hold_it,
		 .thread = {writes_and_drops, writes_and_drops,
			    writes_and_drops}),
	SCENARIO(.name = "two drop strongly", .setup = two_hold_it_strongly,
		 .thread = {writes_and_drops, writes_and_drops}),
	SCENARIO(.name = "two lend strongly", .setup = two_hold_it_strongly,
		 .thread = {lends_and_drops, lends_and_drops}),
	SCENARIO(.name = "two look", .setup = two_hold_it_strongly,
		 .thread = {looks_and_drops, looks_and_drops}),
	SCENARIO(.name = "two drop two each", .setup = two_hold_it_strongly,
		 .thread = {doubles_and_drops, doubles_and_drops}),
	SCENARIO(.name = "three drop strongly", .setup = three_hold_it_strongly,
		 .thread = {writes_and_drops, writes_and_drops,
			    writes_and_drops}),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "the_last_one_releases", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/base/refcount.h"},
};
const size_t n_model_cases = N_OF(model_cases);
