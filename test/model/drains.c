/* SPDX-License-Identifier: BSD-2-Clause */
/* See drains.h. */
#include "drains.h"

#include <errno.h>

#include "scene.h"

void drain(void *context)
{
	scene_drain(context, 0);
}

void abort_all(void *context)
{
	scene_abort(context);
}

void is_drained(void *context)
{
	struct scene *s = context;

	scene_is_over(context);
	explorer_assert(s->drained == 1 && s->drain.actors_left == 0);
}

/* Node 1 has started, node 0 has not. */
void one_of_two(void *context)
{
	struct scene *s = scene_open(context, false);

	scene_sink(s, 1);
	scene_sink(s, 1);
	explorer_assert(weir_actor_start(&s->nodes[1]->actor) == 0);
}

void start_0(void *context)
{
	struct scene *s = context;
	int rc = weir_actor_start(&s->nodes[0]->actor);

	explorer_assert(rc == 0 || rc == -ESHUTDOWN);
	if (rc < 0)
		weir_actor_stop(&s->nodes[0]->actor);
}

void stopped_sink(void *context)
{
	struct scene *s = scene_open(context, false);

	scene_sink(s, 1);
	scene_start(s);
	weir_actor_stop(&s->nodes[0]->actor);
}

void drained_sink(void *context)
{
	struct scene *s = scene_open(context, false);

	scene_sink(s, 1);
	scene_start(s);
	scene_drain(s, 1);
}

void pass_deadline(void *context)
{
	scene_pass_time(context, 1);
}

/* By whom the deadline left it to: 1 is alive or none. */
void is_drained_once(void *context)
{
	struct scene *s = context;

	scene_is_over(context);
	explorer_assert(s->drained == 1 && s->drain.actors_left <= 1);
}
