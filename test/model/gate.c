/* SPDX-License-Identifier: BSD-2-Clause */
/* One actor and what wakes it: rules 1 to 7 of lib/actor/firing.c. */
#include "scene.h"

#include <ck_pr.h>

/* --- Puts ----------------------------------------------------------------- */

static void run(void *context)
{
	while (scene_run(context, 0))
		;
}

static void put_0(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 0, 0);
}

static void put_1(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 0, 1);
}

static void put_2(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 0, 2);
}

static void put_3(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 0, 3);
}

static void put_0_and_1(void *context)
{
	put_0(context);
	put_1(context);
}

static void queued_1(void *context)
{
	struct scene *s = scene_open(context, false);

	scene_sink(s, 1);
	scene_start(s);
}

static void queued_2(void *context)
{
	struct scene *s = scene_open(context, false);

	scene_sink(s, 2);
	scene_start(s);
}

static void full_2(void *context)
{
	queued_2(context);
	put_0_and_1(context);
}

static void at_once_1(void *context)
{
	struct scene *s = scene_open(context, true);

	scene_sink(s, 1);
	scene_start(s);
}

static void at_once_2(void *context)
{
	struct scene *s = scene_open(context, true);

	scene_sink(s, 2);
	scene_start(s);
}

/* --- Two ports ------------------------------------------------------------ */

static uint32_t join_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = weir_container_of(actor, struct node, actor);

	scene_take(node, 0);
	scene_take(node, 1);
	return 1;
}

static struct node *two_ports(struct scene *s, weir_turns *turns)
{
	struct node *node = scene_node(s, turns);
	int i;

	for (i = 0; i < 2; i++)
		explorer_assert(weir_in_init(&node->in[i], &node->actor, 1,
					     &s->items) == 0);
	return node;
}

static void join(void *context)
{
	struct scene *s = scene_open(context, true);

	two_ports(s, join_turn);
	scene_start(s);
}

static void put_other(void *context)
{
	struct scene *s = context;

	scene_put(s->nodes[0], 1, 1);
}

static void queued_join(void *context)
{
	struct scene *s = scene_open(context, false);

	two_ports(s, join_turn);
	scene_start(s);
}

/* --- Permits -------------------------------------------------------------- */

static uint32_t sema_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = weir_container_of(actor, struct node, actor);
	uint32_t i;

	weir_permits_use(&node->permits, 1);
	/* What was stored before the releases of these permits. */
	for (i = 0; i < 2; i++)
		node->fate->seen[i] |= ck_pr_load_32(&node->scene->payload[i]);
	node->fate->delivered++;
	return 1;
}

static void semaphore(void *context)
{
	struct scene *s = scene_open(context, true);
	struct node *node = scene_node(s, sema_turn);

	explorer_assert(weir_permits_init(&node->permits, &node->actor, 0) ==
			0);
	scene_start(s);
}

static void release_0(void *context)
{
	struct scene *s = context;

	ck_pr_store_32(&s->payload[0], 1);
	weir_permits_release(&s->nodes[0]->permits, 1);
}

static void release_1(void *context)
{
	struct scene *s = context;

	ck_pr_store_32(&s->payload[1], 1);
	weir_permits_release(&s->nodes[0]->permits, 1);
}

static void all_permits_used(void *context)
{
	struct scene *s = context;

	scene_at_rest(context);
	explorer_assert(s->fates[0].delivered == 2);
	explorer_assert(s->fates[0].seen[0] && s->fates[0].seen[1]);
}

/* --- Signals -------------------------------------------------------------- */

static void signal_0(void *context)
{
	struct scene *s = context;

	ck_pr_store_32(&s->payload[0], 1);
	weir_actor_signal(&s->nodes[0]->actor);
}

static void signal_1(void *context)
{
	struct scene *s = context;

	ck_pr_store_32(&s->payload[1], 1);
	weir_actor_signal(&s->nodes[0]->actor);
}

static void signal_seen(void *context)
{
	struct scene *s = context;

	scene_at_rest(context);
	explorer_assert(s->fates[0].seen[0]);
}

static void signals_seen(void *context)
{
	struct scene *s = context;

	signal_seen(context);
	explorer_assert(s->fates[0].seen[1]);
}

static void queued_answer(void *context)
{
	queued_1(context);
	((struct scene *)context)->answers = true;
}

static void at_once_answer(void *context)
{
	at_once_1(context);
	((struct scene *)context)->answers = true;
}

/* Stores what the handler will store to, so the handler has to be behind it. */
static void ask(void *context)
{
	struct scene *s = context;

	ck_pr_store_32(&s->answer, 1);
	weir_actor_signal(&s->nodes[0]->actor);
}

static void answer_stands(void *context)
{
	struct scene *s = context;

	scene_at_rest(context);
	explorer_assert(ck_pr_load_32(&s->answer) == 2);
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "a put and a slice", .setup = queued_1,
		 .thread = {run, put_0}, .check = scene_at_rest),
	SCENARIO(.name = "two puts and a slice", .setup = queued_2,
		 .thread = {run, put_0_and_1}, .check = scene_at_rest),
	SCENARIO(.name = "two puts into one slot", .setup = queued_1,
		 .thread = {run, put_0_and_1}, .check = scene_at_rest),
	SCENARIO(.name = "two who put and a slice", .setup = queued_2,
		 .thread = {run, put_0, put_1}, .check = scene_at_rest),
	SCENARIO(.name = "two who put where others have, and a slice",
		 .setup = full_2, .thread = {run, put_2, put_3},
		 .check = scene_at_rest),
	SCENARIO(.name = "two who put and run", .setup = at_once_1,
		 .thread = {put_0, put_1}, .check = scene_at_rest),
	SCENARIO(.name = "two who put and run, with room for both",
		 .setup = at_once_2, .thread = {put_0, put_1},
		 .check = scene_at_rest),
	SCENARIO(.name = "a join", .setup = join, .thread = {put_0, put_other},
		 .check = scene_at_rest),
	SCENARIO(.name = "a join and a slice", .setup = queued_join,
		 .thread = {run, put_0, put_other}, .check = scene_at_rest),
	SCENARIO(.name = "two permits", .setup = semaphore,
		 .thread = {release_0, release_1}, .check = all_permits_used),
	SCENARIO(.name = "a signal and a slice", .setup = queued_1,
		 .thread = {run, signal_0}, .check = signal_seen),
	SCENARIO(.name = "two signals", .setup = at_once_1,
		 .thread = {signal_0, signal_1}, .check = signals_seen),
	SCENARIO(.name = "two signals and a slice", .setup = queued_1,
		 .thread = {run, signal_0, signal_1}, .check = signals_seen),
	SCENARIO(.name = "a question and a slice", .setup = queued_answer,
		 .thread = {run, ask}, .check = answer_stands),
	SCENARIO(.name = "a question and a signal", .setup = at_once_answer,
		 .thread = {ask, signal_0}, .check = answer_stands),
	SCENARIO(.name = "a signal and a put", .setup = at_once_1,
		 .thread = {signal_0, put_0}, .check = signal_seen),
};

const struct scene_group firing = SCENE_GROUP(scenarios);
