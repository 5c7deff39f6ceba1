/* SPDX-License-Identifier: BSD-2-Clause */
/* Two actors and the link between them, from both ends. */
#include "scene.h"

#include "executor/thread.h"

/* Node 0 puts `n` tokens, node 1 takes. */
static void make(void *context, uint32_t n, size_t capacity, uint32_t stop)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_source(s, 0, n - 1);
	struct node *sink = scene_sink(s, capacity);

	sink->stop_after = stop;
	explorer_assert(weir_out_link(&source->out, &sink->in[0]) == 0);
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

/* With three at work one or two slices are enough: the check does the rest. */
static void slice_0(void *context)
{
	scene_run(context, 0);
}

static void slice_1(void *context)
{
	scene_run(context, 1);
}

static void slice_2(void *context)
{
	scene_run(context, 2);
}

static void two_slices_0(void *context)
{
	slice_0(context);
	slice_0(context);
}

static void two_slices_2(void *context)
{
	slice_2(context);
	slice_2(context);
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
	explorer_assert(weir_out_link(&a->out, &sink->in[0]) == 0);
	explorer_assert(weir_out_link(&b->out, &sink->in[0]) == 0);
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

static void take_first(struct node *node)
{
	scene_take(node, 0);
}

/*
 * One lane is full; its producer finds out while the sink goes to another,
 * having taken the token when its other port ended.
 */
static void left_lane(void *context)
{
	struct scene *s = scene_open(context, false);
	struct node *a = scene_source(s, 0, 1);
	struct node *b = scene_source(s, 2, 2);
	struct node *sink = scene_sink(s, 1);

	explorer_assert(
		weir_in_init(&sink->in[1], &sink->actor, 1, &s->items) == 0);
	sink->second_ended = take_first;
	explorer_assert(weir_in_merge(&sink->in[0], WEIR_MERGE_ALL) == 0);
	explorer_assert(weir_out_link(&a->out, &sink->in[0]) == 0);
	explorer_assert(weir_out_link(&b->out, &sink->in[0]) == 0);
	scene_start(s);
	scene_run(s, 0);
	explorer_assert(weir_in_end(&sink->in[1], NULL) == 0);
}

static void put_last(struct node *node)
{
	struct token *token = &node->scene->tokens[0];

	token->value = MADE;
	token->accepted = weir_out_put(&node->out, token) == 0;
}

/* The sink stops; the other puts when its in-port ends, outside of turns. */
static void put_outside(void *context)
{
	struct scene *s = scene_open(context, false);
	struct node *node = scene_source(s, 1, 1);
	struct node *sink = scene_sink(s, 1);

	explorer_assert(
		weir_in_init(&node->in[1], &node->actor, 1, &s->items) == 0);
	node->second_ended = put_last;
	explorer_assert(weir_out_link(&node->out, &sink->in[0]) == 0);
	scene_start(s);
	explorer_assert(weir_in_end(&node->in[1], NULL) == 0);
	weir_actor_stop(&sink->actor);
}

/* The sink stops and drops what the source, which goes on, has put. */
static void left_slot(void *context)
{
	struct scene *s = context;

	make(context, 2, 1, 0);
	scene_run(s, 0);
	weir_actor_stop(&s->nodes[1]->actor);
	weir_actor_signal(&s->nodes[0]->actor);
}

static void left_lane_merged(void *context)
{
	struct scene *s = context;

	scene_is_over(context);
	explorer_assert(s->fates[2].delivered == 3);
}

/* A source and two sinks. */
static struct scene *fan(void *context, enum weir_fan way, uint32_t n)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_source(s, 0, n - 1);
	struct node *a = scene_sink(s, 1);
	struct node *b = scene_sink(s, 1);

	explorer_assert(weir_out_fan(&source->out, way, 1) == 0);
	explorer_assert(weir_out_link(&source->out, &a->in[0]) == 0);
	explorer_assert(weir_out_link(&source->out, &b->in[0]) == 0);
	scene_start(s);
	return s;
}

static void broadcast(void *context)
{
	struct scene *s = fan(context, WEIR_FAN_BROADCAST, 2);
	uint32_t i;

	for (i = 0; i < SCENE_TOKENS; i++) {
		s->tokens[i].shared = true;
		s->tokens[i].holders = 1;
	}
}

/* Both lanes are full, and one token is left. */
static void balance(void *context)
{
	scene_run(fan(context, WEIR_FAN_BALANCE, 3), 0);
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

static bool always(void *state)
{
	return true;
}

/*
 * Puts a token, then finds no room and polls: it does not arm, so nobody but
 * the slice that polls can pay what the one before owes.
 */
static void put_and_poll(void *context)
{
	scene_run(context, 0);
	weir__thread.polls = always;
	scene_run(context, 0);
	weir__thread.polls = NULL;
}

/* The source never arms: what wakes the sink must have happened by now. */
static void first_taken(void *context)
{
	struct scene *s = context;

	while (scene_run(s, 1))
		;
	explorer_assert(s->tokens[0].value == DELIVERED);
	scene_is_over(context);
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "a source that polls", .setup = two_through_one_slot,
		 .thread = {put_and_poll, work_1}, .check = first_taken),
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
		 .thread = {slice_0, slice_1, two_slices_2}, .check = merged),
	SCENARIO(.name = "a link next to another", .setup = merge_of_three,
		 .thread = {work_0, work_2}, .check = merged),
	SCENARIO(.name = "a full lane that is left", .setup = left_lane,
		 .thread = {work_0, work_2}, .check = left_lane_merged),
	SCENARIO(.name = "a put outside of turns", .setup = put_outside,
		 .thread = {work_0, work_1}, .check = scene_is_over),
	SCENARIO(.name = "a slot that is drained and filled",
		 .setup = left_slot, .thread = {work_0, work_1},
		 .check = scene_is_over),
	SCENARIO(.name = "a broadcast", .setup = broadcast,
		 .thread = {two_slices_0, slice_1, slice_2},
		 .check = both_have_taken_both),
	SCENARIO(.name = "a balance", .setup = balance,
		 .thread = {two_slices_0, slice_1, slice_2},
		 .check = each_went_to_one),
};

const struct scene_group links = SCENE_GROUP(scenarios);
