/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two islands of a run on two threads: the one writes into a buffer or a link,
 * the other reads; each waits for the other, ends, fails, or is gone.
 */
#include "crossing.h"

#include <errno.h>

static void through(void *context, enum weir_overflow strategy)
{
	struct crossing *c = crossing_open(context);
	struct weir_flow *flow =
		weir_flow_buffer(crossing_items(c, 2), 1, strategy);

	crossing_start(c, crossing_sink(c, flow));
}

static void with_back_pressure(void *context)
{
	through(context, WEIR_OVERFLOW_BACK_PRESSURE);
}

/* The reader has looked, and waits. */
static void with_reader_waiting(void *context)
{
	with_back_pressure(context);
	work_below(context);
}

/* The writer has put one, and waits. */
static void with_writer_waiting(void *context)
{
	with_back_pressure(context);
	work_above(context);
}

static void dropping_oldest(void *context)
{
	through(context, WEIR_OVERFLOW_DROP_HEAD);
}

static void failing(void *context)
{
	through(context, WEIR_OVERFLOW_FAIL);
}

/* The reader is gone behind the first one. */
static void taking_one(void *context)
{
	struct crossing *c = crossing_open(context);
	struct weir_flow *flow = crossing_items(c, 2);

	flow = weir_flow_buffer(flow, 1, WEIR_OVERFLOW_BACK_PRESSURE);
	crossing_start(c, crossing_sink(c, weir_flow_take(flow, 1)));
}

/* A link. */
static void linked(void *context)
{
	struct crossing *c = crossing_open(context);
	struct weir_flow *flow = weir_flow_async(crossing_items(c, 2), 2, NULL);

	crossing_start(c, crossing_sink(c, flow));
}

/* Both have stopped, and are kept, by two threads that take no lock for it. */
static void stopped(void *context)
{
	struct crossing *c = context;

	linked(c);
	weir_actor_ref(crossing_island(c, 0));
	weir_actor_ref(crossing_island(c, 1));
	scene_settle(&c->scene);
	scene_own_threads(&c->scene);
}

static void stopped_without_handle(void *context)
{
	stopped(context);
	let_go(context);
}

/* Nobody else is to run what ends the run. */
static void stopped_and_refused(void *context)
{
	struct crossing *c = context;

	stopped_without_handle(c);
	c->scene.refused = c->scene.over;
}

/* Who is last ends the run. */
static void let_go_island(struct crossing *c, uint32_t i)
{
	scene_use_share(&c->scene);
	weir_actor_unref(crossing_island(c, i));
	(void)scene_run(&c->scene, SCENE_OVER);
}

static void let_go_below(void *context)
{
	let_go_island(context, 0);
}

/* It is not over before that. */
static void cancel_and_let_go_below(void *context)
{
	cancel(context);
	let_go_below(context);
}

static void let_go_above(void *context)
{
	let_go_island(context, 1);
}

static void cancel_and_work_below(void *context)
{
	cancel(context);
	work_below(context);
}

static void some_arrived(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == 0);
}

static void last_arrived(void *context)
{
	const struct crossing *c = context;

	some_arrived(context);
	explorer_assert(c->scene.tokens[1].value == DELIVERED);
}

static void first_arrived(void *context)
{
	const struct crossing *c = context;

	some_arrived(context);
	explorer_assert(c->scene.tokens[0].value == DELIVERED);
	explorer_assert(c->scene.tokens[1].value == DROPPED);
}

static void arrived_or_failed(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == (c->delivered == 2 ? 0 : -EOVERFLOW));
}

static void failed(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -ECANCELED);
}

static void cancelled(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -ECANCELED ||
			(c->code == 0 && c->delivered == 2));
}

static const struct explorer_scenario scenarios[] = {
	CROSSING(.name = "two islands and a buffer",
		 .setup = with_back_pressure,
		 .thread = {work_above, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "a reader waits", .setup = with_reader_waiting,
		 .thread = {work_above, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "a writer waits", .setup = with_writer_waiting,
		 .thread = {work_above, work_below},
		 .check = crossing_went_well),
	CROSSING(.name = "a buffer that drops the oldest",
		 .setup = dropping_oldest, .thread = {work_above, work_below},
		 .check = last_arrived),
	CROSSING(.name = "a buffer that fails", .setup = failing,
		 .thread = {work_above, work_below},
		 .check = arrived_or_failed),
	CROSSING(.name = "a reader is gone", .setup = taking_one,
		 .thread = {work_above, work_below}, .check = first_arrived),
	CROSSING(.name = "a buffer in a run that is cancelled",
		 .setup = with_writer_waiting,
		 .thread = {work_above, cancel_and_work_below},
		 .check = cancelled),
	CROSSING(.name = "two islands are let go",
		 .setup = stopped_without_handle,
		 .thread = {let_go_above, let_go_below},
		 .check = crossing_went_well),
	CROSSING(.name = "two islands are let go, and the executor is full",
		 .setup = stopped_and_refused,
		 .thread = {let_go_above, let_go_below},
		 .check = crossing_went_well),
	CROSSING(.name = "two islands are let go, the one as it fails",
		 .setup = stopped,
		 .thread = {let_go_above, cancel_and_let_go_below},
		 .check = failed),
	CROSSING(.name = "two islands and a link", .setup = linked,
		 .thread = {work_above, work_below},
		 .check = crossing_went_well),
};

const struct scene_group pipes = SCENE_GROUP(scenarios);
