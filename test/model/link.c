/* SPDX-License-Identifier: BSD-2-Clause */
/* Two actors and the link between them, from both ends. */
#include "scene.h"

/* Node 0 puts `n` tokens, node 1 takes. */
static void make(void *context, uint32_t n, size_t capacity, uint32_t stop)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_source(s, 0, n - 1);
	struct node *sink = scene_sink(s, capacity);

	sink->stop_after = stop;
	explorer_assert(weir_link(&source->out, &sink->in[0]) == 0);
	scene_start(s);
}

static void two_through_one_slot(void *context)
{
	make(context, 2, 1, 0);
}

static void two_through_two_slots(void *context)
{
	make(context, 2, 2, 0);
}

static void three_through_two_slots(void *context)
{
	make(context, 3, 2, 0);
}

static void first_of_two(void *context)
{
	make(context, 2, 1, 1);
}

/* As long as a worker finds something: a slice, or a few in a row. */
static void work(struct scene *s, uint32_t i)
{
	while (scene_run(s, i))
		;
}

static void work_0(void *context)
{
	work(context, 0);
}

static void work_1(void *context)
{
	work(context, 1);
}

static void work_2(void *context)
{
	work(context, 2);
}

static void all_taken(void *context)
{
	struct scene *s = context;
	uint32_t n = 0, i;

	scene_is_over(context);
	explorer_assert(s->fates[1].ended == 1);
	explorer_assert(s->fates[0].code == 0 && s->fates[1].code == 0);
	for (i = 0; i < SCENE_TOKENS; i++)
		n += s->tokens[i].accepted;
	explorer_assert(s->fates[1].delivered == n);
}

/*
 * Two sources and a sink; the second source, of one token, has run already, so
 * that the sink goes from lane to lane.
 */
static void merge(void *context, uint32_t n)
{
	struct scene *s = scene_open(context, false);
	struct node *a = scene_source(s, 0, n - 1);
	struct node *b = scene_source(s, n, n);
	struct node *sink = scene_sink(s, 1);

	explorer_assert(weir_in_merge(&sink->in[0], WEIR_MERGE_ALL) == 0);
	explorer_assert(weir_link(&a->out, &sink->in[0]) == 0);
	explorer_assert(weir_link(&b->out, &sink->in[0]) == 0);
	scene_start(s);
}

static void merge_of_two(void *context)
{
	merge(context, 1);
}

static void merge_of_three(void *context)
{
	merge(context, 2);
	scene_run(context, 1);
}

static void merged(void *context)
{
	struct scene *s = context;

	scene_is_over(context);
	explorer_assert(s->fates[2].ended == 1);
	explorer_assert(s->fates[2].delivered ==
			(s->tokens[2].accepted ? 3u : 2u));
}

/* A source and two sinks. */
static struct scene *fan(void *context, enum weir_fan way, uint32_t n)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_source(s, 0, n - 1);
	struct node *a = scene_sink(s, 1);
	struct node *b = scene_sink(s, 1);

	explorer_assert(weir_out_fan(&source->out, way, 1) == 0);
	explorer_assert(weir_link(&source->out, &a->in[0]) == 0);
	explorer_assert(weir_link(&source->out, &b->in[0]) == 0);
	scene_start(s);
	return s;
}

static void broadcast(void *context)
{
	struct scene *s = fan(context, WEIR_BROADCAST, 2);
	uint32_t i;

	for (i = 0; i < SCENE_TOKENS; i++) {
		s->tokens[i].shared = true;
		s->tokens[i].holders = 1;
	}
}

/* Both lanes are full, and one token is left. */
static void balance(void *context)
{
	scene_run(fan(context, WEIR_BALANCE, 3), 0);
}

static void both_have_taken_both(void *context)
{
	struct scene *s = context;

	scene_is_over(context);
	explorer_assert(s->fates[1].delivered == 2);
	explorer_assert(s->fates[2].delivered == 2);
}

static void each_went_to_one(void *context)
{
	struct scene *s = context;

	scene_is_over(context);
	explorer_assert(s->fates[1].delivered + s->fates[2].delivered == 3);
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "two tokens through one slot",
		 .setup = two_through_one_slot, .thread = {work_0, work_1},
		 .check = all_taken),
	SCENARIO(.name = "two tokens through two slots",
		 .setup = two_through_two_slots, .thread = {work_0, work_1},
		 .check = all_taken),
	SCENARIO(.name = "three tokens through two slots",
		 .setup = three_through_two_slots, .thread = {work_0, work_1},
		 .check = all_taken),
	SCENARIO(.name = "a link that is cancelled", .setup = first_of_two,
		 .thread = {work_0, work_1}, .check = scene_is_over),
	SCENARIO(.name = "two links that merge", .setup = merge_of_two,
		 .thread = {work_0, work_1, work_2}, .check = merged),
	SCENARIO(.name = "a link next to another", .setup = merge_of_three,
		 .thread = {work_0, work_2}, .check = merged),
	SCENARIO(.name = "a broadcast", .setup = broadcast,
		 .thread = {work_0, work_1, work_2},
		 .check = both_have_taken_both),
	SCENARIO(.name = "a balance", .setup = balance,
		 .thread = {work_0, work_1, work_2}, .check = each_went_to_one),
};

const struct scene_group links = {scenarios,
				  sizeof(scenarios) / sizeof(scenarios[0])};
