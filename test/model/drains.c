/* SPDX-License-Identifier: BSD-2-Clause */
/* See drains.h. */
#include "drains.h"

#include <errno.h>

#include <ck_pr.h>

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

static void telling(void *context, uint32_t n, uint32_t n_stopped)
{
	struct scene *s = scene_open(context, false);
	uint32_t i;

	s->tells = true;
	for (i = 0; i < n; i++)
		scene_sink(s, 1);
	for (i = 0; i < n_stopped; i++) {
		explorer_assert(weir_actor_start(&s->nodes[i]->actor) == 0);
		weir_actor_stop(&s->nodes[i]->actor);
	}
}

void telling_sink(void *context)
{
	telling(context, 1, 1);
}

void telling_sinks(void *context)
{
	telling(context, 2, 2);
}

void starting_sink(void *context)
{
	struct scene *s = context;

	telling(context, 2, 1);
	s->next = s->nodes[1];
}

void free_if_told(struct scene *s, uint32_t n, int rc)
{
	uint32_t i;

	if (ck_pr_load_32(&s->told) != n)
		return;
	ck_pr_fence_acquire();
	explorer_assert(weir__registry_await(&s->executor) == rc);
	/* What they did after they had told is over as well. */
	for (i = 0; rc == 0 && i < n; i++)
		explorer_assert(s->fates[i].released == 1);
}
