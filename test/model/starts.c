/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comes to an actor from other threads before and while it is started.
 * Who may touch it holds a reference, its owner as well: others may stop it.
 */
#include "scene.h"

#include <errno.h>

#include <ck_pr.h>

static void new_sink(void *context, bool at_once, bool refused)
{
	struct scene *s = scene_open(context, at_once);
	struct node *node = scene_sink(s, 2);
	uint32_t i;

	if (refused)
		s->refused = &node->actor.task;
	for (i = 0; i < EXPLORER_THREADS; i++)
		weir_actor_ref(&node->actor);
}

static void new_queued(void *context)
{
	new_sink(context, false, false);
}

static void new_at_once(void *context)
{
	new_sink(context, true, false);
}

/* Its owner has no reference: nobody else is to stop it. */
static void new_lent(void *context)
{
	struct scene *s = context;

	new_sink(context, false, false);
	weir_actor_unref(&s->nodes[0]->actor);
}

static void new_refused(void *context)
{
	new_sink(context, false, true);
}

static void let_go(struct scene *s)
{
	weir_actor_unref(&s->nodes[0]->actor);
}

static void start(void *context)
{
	struct scene *s = context;
	int rc = weir_actor_start(&s->nodes[0]->actor);

	/* -ESHUTDOWN is that of an abort */
	explorer_assert(s->refused ? rc == -EAGAIN || rc == -EALREADY ||
					     (rc == -ESHUTDOWN && s->drain.done)
				   : rc == 0 || rc == -EALREADY);
	scene_run(s, 0);
	let_go(s);
}

static void start_lent(void *context)
{
	struct scene *s = context;

	explorer_assert(weir_actor_start(&s->nodes[0]->actor) == 0);
	scene_run(s, 0);
}

static void stop(void *context)
{
	struct scene *s = context;

	weir_actor_stop(&s->nodes[0]->actor);
	let_go(s);
}

static void signal(void *context)
{
	struct scene *s = context;

	ck_pr_store_32(&s->payload[0], 1);
	weir_actor_signal(&s->nodes[0]->actor);
	let_go(s);
}

static void put_0(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 0, 0);
	let_go(s);
}

static void put_1(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 0, 1);
	let_go(s);
}

static void end(void *context)
{
	struct scene *s = context;

	explorer_assert(weir_in_end(&s->nodes[0]->in[0], NULL) == 0);
	let_go(s);
}

static void abort_it(void *context)
{
	scene_abort(context);
	let_go(context);
}

/* Those threads that a scenario has not, and the one that stops it in vain. */
static void over_after(struct scene *s, uint32_t threads)
{
	scene_settle(s);
	explorer_assert(s->fates[0].stopped == 1);
	for (; threads < EXPLORER_THREADS; threads++)
		let_go(s);
	scene_is_over(s);
}

static void over_after_2(void *context)
{
	over_after(context, 2);
}

static void over_after_3(void *context)
{
	over_after(context, 3);
}

static void delivered_over(struct scene *s, uint32_t threads)
{
	uint32_t i;

	scene_settle(s);
	for (i = 0; i < 2; i++)
		explorer_assert(s->tokens[i].value == NOT_YET ||
				s->tokens[i].value == DELIVERED);
	weir_actor_stop(&s->nodes[0]->actor);
	over_after(s, threads);
}

/* All that was put came, whether before the start or after it. */
static void all_delivered(void *context)
{
	delivered_over(context, 3);
}

/* The same; the check holds a reference while it stops the actor. */
static void lent_delivered(void *context)
{
	struct scene *s = context;

	weir_actor_ref(&s->nodes[0]->actor);
	delivered_over(s, 2);
}

static void delivered_to_the_end(void *context)
{
	struct scene *s = context;

	scene_settle(s);
	explorer_assert(s->fates[0].ended == 1 && s->fates[0].code == 0);
	over_after(s, 3);
}

/* It is as it was, however the abort fell. */
static void still_new(void *context)
{
	struct scene *s = context;

	scene_settle(s);
	explorer_assert(s->drained == 1 && s->fates[0].stopped == 0);
	weir_actor_stop(&s->nodes[0]->actor);
	over_after(s, 2);
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "start and stop", .setup = new_queued,
		 .thread = {start, stop}, .check = over_after_2),
	SCENARIO(.name = "start at once and stop", .setup = new_at_once,
		 .thread = {start, stop}, .check = over_after_2),
	SCENARIO(.name = "start and two stops", .setup = new_at_once,
		 .thread = {start, stop, stop}, .check = over_after_3),
	SCENARIO(.name = "two stops of a new one", .setup = new_queued,
		 .thread = {stop, stop}, .check = over_after_2),
	SCENARIO(.name = "stop and signal of a new one", .setup = new_queued,
		 .thread = {stop, signal}, .check = over_after_2),
	SCENARIO(.name = "start and two puts", .setup = new_queued,
		 .thread = {start, put_0, put_1}, .check = all_delivered),
	SCENARIO(.name = "start without a reference, and two puts",
		 .setup = new_lent, .thread = {start_lent, put_0, put_1},
		 .check = lent_delivered),
	SCENARIO(.name = "start, put and stop", .setup = new_queued,
		 .thread = {start, put_0, stop}, .check = over_after_3),
	SCENARIO(.name = "stop and two puts, of a new one", .setup = new_queued,
		 .thread = {stop, put_0, put_1}, .check = over_after_3),
	SCENARIO(.name = "start, put and end", .setup = new_queued,
		 .thread = {start, put_0, end}, .check = delivered_to_the_end),
	SCENARIO(.name = "a refused start and stop", .setup = new_refused,
		 .thread = {start, stop}, .check = over_after_2),
	SCENARIO(.name = "a refused start and two stops", .setup = new_refused,
		 .thread = {start, stop, stop}, .check = over_after_3),
	SCENARIO(.name = "a refused start and an abort", .setup = new_refused,
		 .thread = {start, abort_it}, .check = still_new),
};

const struct scene_group starts = SCENE_GROUP(scenarios);
