/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stopping against everything, and who releases: rule 8. A thread that may
 * touch an actor holds a reference, dropped after its last touch.
 */
#include "scene.h"

#include <errno.h>

#include <ck_pr.h>

#include "actor/in.h"

static void with_reference(struct scene *s, void (*f)(struct node *node))
{
	struct node *node = s->nodes[0];

	f(node);
	weir_actor_unref(&node->actor);
}

static void stop(struct node *node)
{
	weir_actor_stop(&node->actor);
}

static void put(struct node *node)
{
	scene_put(node, 0, 0);
}

static void put_two(struct node *node)
{
	scene_put(node, 0, 0);
	scene_put(node, 0, 1);
}

static void end(struct node *node)
{
	(void)weir_in_end(&node->in[0], NULL);
}

static void signal(struct node *node)
{
	weir_actor_signal(&node->actor);
}

static void suspend(struct node *node)
{
	weir_actor_suspend(&node->actor);
	weir_actor_resume(&node->actor);
}

static void nothing(struct node *node)
{
}

static void refer(struct node *node)
{
	weir_actor_unref(weir_actor_ref(&node->actor));
}

#define THREAD(name, f) \
	static void name(void *context) \
	{ \
		with_reference(context, f); \
	}

THREAD(stopper, stop)
THREAD(putter, put)
THREAD(putter_of_two, put_two)
THREAD(ender, end)
THREAD(signaller, signal)
THREAD(suspender, suspend)
THREAD(holder, nothing)
THREAD(referrer, refer)

static void sink(void *context, bool at_once, uint32_t references)
{
	struct scene *s = scene_open(context, at_once);
	struct node *node = scene_sink(s, 1);

	while (references--)
		weir_actor_ref(&node->actor);
	scene_start(s);
}

static void at_once(void *context)
{
	sink(context, true, 2);
}

static void queued(void *context)
{
	sink(context, false, 2);
}

static void queued_2(void *context)
{
	sink(context, false, 2);
}

static void run(void *context)
{
	struct scene *s = context;

	while (scene_run(s, 0))
		;
}

/* --- What is put just as the port is shut --------------------------------- */

/* It is stopped, or finishes with its first token; somebody holds on to it. */
static void shuts(void *context, size_t capacity, uint32_t stop_after)
{
	struct scene *s = scene_open(context, false);
	struct node *node = scene_sink(s, capacity);

	node->stop_after = stop_after;
	weir_actor_ref(&node->actor);
	scene_start(s);
	if (!stop_after)
		weir_actor_stop(&node->actor);
}

static void shuts_1(void *context)
{
	shuts(context, 1, 0);
}

static void shuts_2(void *context)
{
	shuts(context, 2, 0);
}

static void takes_one_of_1(void *context)
{
	shuts(context, 1, 1);
}

static void takes_one_of_2(void *context)
{
	shuts(context, 2, 1);
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

static void put_both(void *context)
{
	struct scene *s = context;
	struct token *tokens = s->tokens;
	void *items[2] = {&tokens[0], &tokens[1]};

	tokens[0].value = tokens[1].value = MADE;
	tokens[0].accepted = tokens[1].accepted =
		weir__in_put(&s->nodes[0]->in[0], items, 2) == 0;
}

static void end_badly(void *context)
{
	struct scene *s = context;

	(void)weir_in_end(&s->nodes[0]->in[0], s->error);
}

static void shuts_with_error(void *context)
{
	struct scene *s = context;

	shuts(context, 1, 0);
	explorer_assert(weir_error_new(&s->error, -EIO, NULL, NULL, NULL, NULL,
				       s->executor.options.allocator) == 0);
}

static void cancels_after_one(void *context)
{
	struct scene *s = context;

	shuts(context, 2, 1);
	s->nodes[0]->cancels = true;
}

static void all_is_over_at_once(void *context)
{
	struct scene *s = context;

	scene_settle(s);
	explorer_assert(!s->fates[0].released);
	scene_tokens_are_over(s);
	weir_actor_stop(&s->nodes[0]->actor);
	weir_actor_unref(&s->nodes[0]->actor);
	weir_error_unref(s->error);
	scene_is_over(s);
}

/* --- Links ---------------------------------------------------------------- */

static void linked(void *context)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_source(s, 0, 1);
	struct node *sink = scene_sink(s, 1);

	explorer_assert(weir_out_link(&source->out, &sink->in[0]) == 0);
	weir_actor_ref(&source->actor);
	weir_actor_ref(&sink->actor);
	scene_start(s);
}

static void run_0(void *context)
{
	run(context);
}

static void run_1(void *context)
{
	struct scene *s = context;

	while (scene_run(s, 1))
		;
}

static void drop_both(struct scene *s)
{
	weir_actor_unref(&s->nodes[0]->actor);
	weir_actor_unref(&s->nodes[1]->actor);
}

static void stop_source(void *context)
{
	struct scene *s = context;

	weir_actor_stop(&s->nodes[0]->actor);
	drop_both(s);
}

static void stop_sink(void *context)
{
	struct scene *s = context;

	weir_actor_stop(&s->nodes[1]->actor);
	drop_both(s);
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "stop and put", .setup = at_once,
		 .thread = {stopper, putter}, .check = scene_is_over),
	SCENARIO(.name = "stop, put and a slice", .setup = queued,
		 .thread = {run, stopper, putter}, .check = scene_is_over),
	SCENARIO(.name = "stop and two puts", .setup = at_once,
		 .thread = {stopper, putter_of_two}, .check = scene_is_over),
	SCENARIO(.name = "stop and end", .setup = at_once,
		 .thread = {stopper, ender}, .check = scene_is_over),
	SCENARIO(.name = "put and end", .setup = at_once,
		 .thread = {putter, ender}, .check = scene_is_over),
	SCENARIO(.name = "end and end", .setup = at_once,
		 .thread = {ender, ender}, .check = scene_is_over),
	SCENARIO(.name = "put, end and a slice", .setup = queued_2,
		 .thread = {run, putter, ender}, .check = scene_is_over),
	SCENARIO(.name = "stop and signal", .setup = at_once,
		 .thread = {stopper, signaller}, .check = scene_is_over),
	SCENARIO(.name = "stop and stop", .setup = at_once,
		 .thread = {stopper, stopper}, .check = scene_is_over),
	SCENARIO(.name = "stop and suspend", .setup = at_once,
		 .thread = {stopper, suspender}, .check = scene_is_over),
	SCENARIO(.name = "stop and a reference dropped", .setup = at_once,
		 .thread = {stopper, holder}, .check = scene_is_over),
	SCENARIO(.name = "stop and a reference more", .setup = at_once,
		 .thread = {stopper, referrer}, .check = scene_is_over),
	SCENARIO(.name = "a put into what shuts", .setup = shuts_1,
		 .thread = {run, put_0}, .check = all_is_over_at_once),
	SCENARIO(.name = "two puts into what shuts", .setup = shuts_2,
		 .thread = {run, put_0, put_1}, .check = all_is_over_at_once),
	SCENARIO(.name = "a put of two into what shuts", .setup = shuts_2,
		 .thread = {run, put_both}, .check = all_is_over_at_once),
	SCENARIO(.name = "a put to who takes one", .setup = takes_one_of_1,
		 .thread = {run, put_0}, .check = all_is_over_at_once),
	SCENARIO(.name = "two puts to who takes one", .setup = takes_one_of_2,
		 .thread = {run, put_0, put_1}, .check = all_is_over_at_once),
	SCENARIO(.name = "a put of two to who takes one",
		 .setup = takes_one_of_2, .thread = {run, put_both},
		 .check = all_is_over_at_once),
	SCENARIO(.name = "two puts to who takes one and cancels",
		 .setup = cancels_after_one, .thread = {run, put_0, put_1},
		 .check = all_is_over_at_once),
	SCENARIO(.name = "two ends of what shuts", .setup = shuts_with_error,
		 .thread = {run, end_badly, end_badly},
		 .check = all_is_over_at_once),
	SCENARIO(.name = "stop of the producer of a link", .setup = linked,
		 .thread = {run_0, run_1, stop_source}, .check = scene_is_over),
	SCENARIO(.name = "stop of the consumer of a link", .setup = linked,
		 .thread = {run_0, run_1, stop_sink}, .check = scene_is_over),
};

const struct scene_group stops = SCENE_GROUP(scenarios);
