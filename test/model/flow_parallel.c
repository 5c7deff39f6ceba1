/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls by actors of their own: what is given to them and comes back, and the
 * end of the run while a call is under way.
 */
#include "crossing.h"

#include <errno.h>

static int call(void **item, void *context)
{
	const struct token *token = *item;

	explorer_assert(token->value == MADE);
	return 0;
}

static int call_in_vain(void **item, void *context)
{
	return -EIO;
}

static void given(void *context, uint32_t n, size_t slots,
		  int (*map)(void **item, void *context))
{
	struct crossing *c = crossing_open(context);
	struct weir_flow *flow = crossing_items(c, n);

	flow = weir_flow_same_items(weir_flow_map_parallel(
		flow, slots, WEIR_ORDER_ANY, map, NULL, NULL));
	crossing_start(c, crossing_sink(c, flow));
	work_below(c);
}

/* One is given, and the run waits for it. */
static void one_given(void *context)
{
	given(context, 1, 1, call);
}

static void one_of_two_given(void *context)
{
	given(context, 2, 1, call);
}

static void one_given_in_vain(void *context)
{
	given(context, 1, 1, call_in_vain);
}

static void two_given(void *context)
{
	given(context, 2, 2, call);
}

static void work_second(void *context)
{
	while (scene_run(context, SCENE_ACTORS + 2))
		;
}

static void work_second_and_below(void *context)
{
	work_second(context);
	work_below(context);
}

/* The actor that calls ends alone, behind its first call. */
static void work_and_stop(void *context)
{
	struct weir_actor *slot = crossing_island(context, 1);

	weir_actor_ref(slot);
	work_above(context);
	weir_actor_stop(slot);
	work_above(context);
	weir_actor_unref(slot);
}

static void cancel_and_work(void *context)
{
	cancel(context);
	work_below(context);
}

static void cancelled(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -ECANCELED ||
			(c->code == 0 && c->delivered == 1));
}

static void stopped(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == (c->delivered == 2 ? 0 : -ECANCELED));
}

static void failed(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -EIO);
}

static const struct explorer_scenario scenarios[] = {
	CROSSING(.name = "a call comes back", .setup = one_given,
		 .thread = {work_above, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "a call comes back and another one begins",
		 .setup = one_of_two_given, .thread = {work_above, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "two calls come back", .setup = two_given,
		 .thread = {work_above, work_second},
		 .check = crossing_went_well),
	CROSSING(.name = "two calls come back, and the one is taken",
		 .setup = two_given,
		 .thread = {work_above, work_second_and_below},
		 .check = crossing_went_well),
	CROSSING(.name = "who calls ends as it is given something",
		 .setup = one_of_two_given,
		 .thread = {work_and_stop, work_below}, .check = stopped),
	CROSSING(.name = "a call that fails comes back",
		 .setup = one_given_in_vain, .thread = {work_above, work_below},
		 .check = failed),
	CROSSING(.name = "a call in a run that is cancelled",
		 .setup = one_given, .thread = {work_above, cancel_and_work},
		 .check = cancelled),
};

const struct scene_group calls = SCENE_GROUP(scenarios);
