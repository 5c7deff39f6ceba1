/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demand under all interleavings: two threads request, and one uses what they
 * requested. No request is lost, also where the sum becomes unbounded, and what
 * a thread wrote before a request is there for who uses it.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/demand.h"
#include "runner.h"

/* The requests of each have bits of their own in the sum. */
enum { LOOKS = 2, EACH = 2, WEIGHT = 16 };

static struct world {
	int64_t granted, used;
	uint32_t written[2][EACH]; /* plain: by request */
	bool unbounded;		   /* seen so */
} world;

static void empty(void *context)
{
	struct world *w = context;

	explorer_name(&w->granted, sizeof(w->granted), "granted");
}

/* --- Far from the bound --------------------------------------------------- */

static void writes_and_requests(struct world *w, int which, int64_t weight)
{
	for (int i = 0; i < EACH; i++) {
		w->written[which][i] = 1;
		weir__demand_add(&w->granted, weight);
	}
}

static void requests_ones(void *context)
{
	writes_and_requests(context, 0, 1);
}

static void requests_sixteens(void *context)
{
	writes_and_requests(context, 1, WEIGHT);
}

static void reads_what_was_written(void *context)
{
	struct world *w = context;
	int64_t left;

	for (int look = 0; look < LOOKS; look++) {
		left = weir__demand_left(&w->granted, 0);
		for (int64_t i = 0; i < left % WEIGHT; i++)
			explorer_assert(w->written[0][i] == 1);
		for (int64_t i = 0; i < left / WEIGHT; i++)
			explorer_assert(w->written[1][i] == 1);
	}
}

static void all_was_requested(void *context)
{
	const struct world *w = context;

	explorer_assert(w->granted == EACH + EACH * WEIGHT);
}

static void uses(void *context)
{
	struct world *w = context;
	int64_t left;

	for (int look = 0; look < LOOKS; look++) {
		left = weir__demand_left(&w->granted, w->used);
		explorer_assert(left >= 0);
		w->used += left;
	}
}

static void nothing_is_lost(void *context)
{
	const struct world *w = context;

	all_was_requested(context);
	explorer_assert(weir__demand_left(&w->granted, w->used) ==
			EACH + EACH * WEIGHT - w->used);
}

/* --- Near it -------------------------------------------------------------- */

static void two_are_missing(void *context)
{
	empty(context);
	((struct world *)context)->granted = INT64_MAX - 2;
}

static void three_are_missing(void *context)
{
	empty(context);
	((struct world *)context)->granted = INT64_MAX - 3;
}

static void requests_one(void *context)
{
	weir__demand_add(&((struct world *)context)->granted, 1);
}

static void requests_all(void *context)
{
	weir__demand_add(&((struct world *)context)->granted, INT64_MAX);
}

/* As much as was there before, and then one more if it is unbounded. */
static void uses_up(void *context)
{
	struct world *w = context;
	int64_t left;

	w->used = INT64_MAX - 3;
	for (int look = 0; look < LOOKS; look++) {
		left = weir__demand_left(&w->granted, w->used);
		explorer_assert(left >= 0);
		explorer_assert(left <= 2 || left == INT64_MAX);
		explorer_assert(!w->unbounded || left == INT64_MAX);
		w->unbounded = left == INT64_MAX;
		if (w->unbounded && w->used < INT64_MAX)
			w->used++;
	}
}

static void it_is_unbounded(void *context)
{
	const struct world *w = context;

	explorer_assert(w->granted == INT64_MAX);
	explorer_assert(weir__demand_left(&w->granted, w->used) == INT64_MAX);
}

static void it_is_just_bounded(void *context)
{
	const struct world *w = context;

	explorer_assert(w->granted == INT64_MAX - 1);
	explorer_assert(!w->unbounded);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "what came before a request is seen", .setup = empty,
		 .thread = {requests_ones, requests_sixteens,
			    reads_what_was_written},
		 .check = all_was_requested),
	SCENARIO(.name = "what two request is used", .setup = empty,
		 .thread = {requests_ones, requests_sixteens, uses},
		 .check = nothing_is_lost),
	SCENARIO(.name = "two requests make it unbounded",
		 .setup = two_are_missing,
		 .thread = {requests_one, requests_one, uses_up},
		 .check = it_is_unbounded),
	SCENARIO(.name = "a request meets one without bound",
		 .setup = two_are_missing,
		 .thread = {requests_one, requests_all, uses_up},
		 .check = it_is_unbounded),
	SCENARIO(.name = "two requests leave one missing",
		 .setup = three_are_missing,
		 .thread = {requests_one, requests_one, uses_up},
		 .check = it_is_just_bounded),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "no_request_is_lost", .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/"},
};
const size_t n_model_cases = N_OF(model_cases);
