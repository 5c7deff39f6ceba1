/* SPDX-License-Identifier: BSD-2-Clause */
/* See crossing.h. */
#include "crossing.h"

#include <errno.h>

#include <ck_pr.h>

#include "flow/engine/run.h"

struct crossing crossing;

/* Of the execution under way. */
static const struct weir_allocator *allocator;

/* In place of the one that takes from malloc(); so the linker calls it.
 * NOLINTBEGIN(bugprone-reserved-identifier) */
const struct weir_allocator *__wrap_weir_allocator_default(void);
const struct weir_allocator *__wrap_weir_allocator_default(void)
{
	return allocator;
}
/* NOLINTEND(bugprone-reserved-identifier) */

struct crossing *crossing_open(void *context)
{
	struct crossing *c = context;

	scene_open(&c->scene, false);
	explorer_name(c, sizeof(*c), "crossing");
	allocator = c->scene.executor.options.allocator;
	return c;
}

static int take(void *item, void *context)
{
	struct crossing *c = context;
	struct token *token = item;

	explorer_assert(token->value == MADE);
	token->value = DELIVERED;
	c->delivered++;
	return 0;
}

struct weir_flow *crossing_sink(struct crossing *c, struct weir_flow *flow)
{
	return weir_flow_for_each(flow, take, c);
}

static void is_over(struct weir_error *error, void *result, void *context)
{
	struct crossing *c = context;

	explorer_assert(!result);
	c->code = error ? error->code : 0;
	ck_pr_fence_release();
	explorer_assert(ck_pr_faa_32(&c->over, 1) == 0);
}

void crossing_start(struct crossing *c, struct weir_flow *flow)
{
	const struct weir_flow_run_options options = {
		.done = is_over,
		.context = c,
	};

	c->flow = flow;
	explorer_assert(weir_flow_start(flow, &c->scene.executor, &options,
					&c->run) == 0);
	c->scene.over = &c->run->actor.task;
}

struct token *crossing_token(struct crossing *c, uint32_t i)
{
	struct token *token = &c->scene.tokens[i];

	token->value = MADE;
	token->accepted = true;
	return token;
}

struct weir_flow *crossing_queue(struct crossing *c, uint32_t n)
{
	uint32_t i;

	explorer_assert(weir_flow_queue_new(&c->queue, SCENE_TOKENS,
					    WEIR_OVERFLOW_BACK_PRESSURE,
					    &c->scene.items) == 0);
	for (i = 0; i < n; i++)
		explorer_assert(weir_flow_queue_offer(
					c->queue, crossing_token(c, i)) == 0);
	return weir_flow_from_queue(c->queue);
}

struct weir_flow *crossing_items(struct crossing *c, uint32_t n)
{
	struct weir_flow *flow = crossing_queue(c, n);

	explorer_assert(weir_flow_queue_end(c->queue, NULL) == 0);
	return flow;
}

struct weir_actor *crossing_island(const struct crossing *c, uint32_t i)
{
	return weir_container_of(c->scene.others[i], struct weir_actor, task);
}

static bool run_either(struct scene *s, uint32_t i)
{
	return scene_run(s, i) || scene_run(s, SCENE_OVER);
}

void work_below(void *context)
{
	while (run_either(context, SCENE_ACTORS))
		;
}

void work_above(void *context)
{
	while (run_either(context, SCENE_ACTORS + 1))
		;
}

void work_both(void *context)
{
	bool ran = true;

	while (ran) {
		ran = scene_run(context, SCENE_ACTORS);
		ran = run_either(context, SCENE_ACTORS + 1) || ran;
	}
}

void cancel(void *context)
{
	struct crossing *c = context;

	weir_flow_run_stop(c->run, NULL);
}

void drain_run(void *context)
{
	struct crossing *c = context;

	weir_flow_run_end(c->run);
}

void let_go(void *context)
{
	struct crossing *c = context;

	weir_flow_run_free(c->run);
	c->run = NULL;
}

void crossing_is_over(void *context)
{
	struct crossing *c = context;

	scene_settle(&c->scene);
	let_go(c);
	explorer_assert(c->over == 1);
	weir_flow_free(c->flow);
	weir_flow_free(c->inner);
	weir_flow_queue_free(c->queue);
	scene_is_over(&c->scene);
}

void crossing_went_well(void *context)
{
	struct crossing *c = context;
	uint32_t i;

	crossing_is_over(c);
	explorer_assert(c->code == 0);
	for (i = 0; i < SCENE_TOKENS; i++)
		explorer_assert(!c->scene.tokens[i].accepted ||
				c->scene.tokens[i].value == DELIVERED);
}
