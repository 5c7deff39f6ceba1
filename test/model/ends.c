/* SPDX-License-Identifier: BSD-2-Clause */
/* Links of which one end goes while others stay: fans, merges, errors. */
#include "scene.h"

#include <errno.h>

static struct node *node_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct node, actor);
}

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

static void make_token(struct node *node, struct weir_out *out)
{
	struct token *token = &node->scene->tokens[node->first++];

	token->value = MADE;
	token->accepted = weir_out_put(out, token) == 0;
	explorer_assert(token->accepted);
}

/* --- Several consumers ---------------------------------------------------- */

/* Of two, node 1 stops. */
static struct scene *fan(void *context, enum weir_fan way)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_source(s, 0, 1);
	uint32_t i;

	explorer_assert(weir_out_fan(&source->out, way, 1) == 0);
	for (i = 0; i < 2; i++)
		explorer_assert(weir_out_link(&source->out,
					      &scene_sink(s, 1)->in[0]) == 0);
	scene_start(s);
	weir_actor_stop(&s->nodes[1]->actor);
	return s;
}

static void broadcast(void *context)
{
	struct scene *s = fan(context, WEIR_FAN_BROADCAST);
	uint32_t i;

	for (i = 0; i < SCENE_TOKENS; i++) {
		s->tokens[i].shared = true;
		s->tokens[i].holders = 1;
	}
}

static void balance(void *context)
{
	fan(context, WEIR_FAN_BALANCE);
}

static void the_other_goes_on(void *context)
{
	struct scene *s = context;

	scene_is_over(context);
	explorer_assert(s->fates[0].code == 0 && s->fates[2].code == 0);
	explorer_assert(s->tokens[1].accepted && s->fates[2].ended == 1);
}

static void all_to_the_other(void *context)
{
	struct scene *s = context;

	the_other_goes_on(context);
	explorer_assert(s->fates[2].delivered == 2);
}

/* --- Two out-ports -------------------------------------------------------- */

static uint32_t both_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);

	make_token(node, &node->out);
	make_token(node, &node->out2);
	if (node->first == SCENE_TOKENS)
		weir_actor_end(actor);
	return 1;
}

static void two_outs(void *context)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_node(s, both_turn);
	struct weir_out *const outs[] = {&source->out, &source->out2};
	uint32_t i;

	for (i = 0; i < 2; i++) {
		explorer_assert(
			weir_out_init(outs[i], &source->actor, &s->items) == 0);
		explorer_assert(
			weir_out_link(outs[i], &scene_sink(s, 1)->in[0]) == 0);
	}
	scene_start(s);
	weir_actor_stop(&s->nodes[1]->actor);
}

/* --- A token put by a handler --------------------------------------------- */

static uint32_t last_turn(struct weir_actor *actor, uint32_t n)
{
	weir_actor_end(actor);
	return 1;
}

static void put_the_rest(struct node *node)
{
	if (weir_port_ready(&node->out.port))
		make_token(node, &node->out);
}

/*
 * At the end of its input node 0 puts a token, which no run publishes, for
 * node 1, which stops.
 */
static void last_put(void *context)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_node(s, last_turn);
	struct node *sink = scene_sink(s, 1);

	source->second_ended = put_the_rest;
	explorer_assert(weir_in_init(&source->in[1], &source->actor, 1,
				     &s->items) == 0);
	explorer_assert(
		weir_out_init(&source->out, &source->actor, &s->items) == 0);
	explorer_assert(weir_out_link(&source->out, &sink->in[0]) == 0);
	scene_start(s);
	explorer_assert(weir_in_end(&source->in[1], NULL) == 0);
	weir_actor_stop(&sink->actor);
}

/* --- Several producers ---------------------------------------------------- */

static struct scene *merge(void *context, enum weir_merge rule)
{
	struct scene *s = scene_open(context, false);
	struct node *a = scene_source(s, 0, 0);
	struct node *b = scene_source(s, 1, 1);
	struct node *sink = scene_sink(s, 1);

	explorer_assert(weir_in_merge(&sink->in[0], rule) == 0);
	explorer_assert(weir_out_link(&a->out, &sink->in[0]) == 0);
	explorer_assert(weir_out_link(&b->out, &sink->in[0]) == 0);
	scene_start(s);
	return s;
}

static void stopped_merge(void *context)
{
	struct scene *s = merge(context, WEIR_MERGE_ALL);

	/* one lane is full and has ended */
	scene_run(s, 1);
	weir_actor_stop(&s->nodes[2]->actor);
}

static void first_ends(void *context)
{
	merge(context, WEIR_MERGE_FIRST);
}

/* --- Errors --------------------------------------------------------------- */

static uint32_t failing_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = node_of(actor);

	make_token(node, &node->out);
	weir_actor_fail_code(actor, -EIO);
	return 1;
}

static void failing(void *context)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_node(s, failing_turn);

	explorer_assert(
		weir_out_init(&source->out, &source->actor, &s->items) == 0);
	explorer_assert(weir_out_link(&source->out, &scene_sink(s, 1)->in[0]) ==
			0);
	scene_start(s);
}

/* The same, into a merge that others may end as well. */
static void failing_beside_puts(void *context)
{
	struct scene *s = scene_open(context, false);
	struct node *source = scene_node(s, failing_turn);
	struct node *sink = scene_sink(s, 1);

	explorer_assert(weir_in_merge(&sink->in[0], WEIR_MERGE_OPEN) == 0);
	explorer_assert(
		weir_out_init(&source->out, &source->actor, &s->items) == 0);
	explorer_assert(weir_out_link(&source->out, &sink->in[0]) == 0);
	weir_actor_ref(&sink->actor);
	explorer_assert(weir_error_new(&s->error, -EPROTO, NULL, NULL, NULL,
				       NULL,
				       s->executor.options.allocator) == 0);
	scene_start(s);
}

static void end_sink(void *context)
{
	struct scene *s = context;
	struct node *sink = s->nodes[1];
	int rc = weir_in_end(&sink->in[0], s->error);

	explorer_assert(rc == 0 || rc == -EALREADY);
	s->answers = rc == 0;
	weir_actor_unref(&sink->actor);
}

static void the_first_end_counts(void *context)
{
	struct scene *s = context;

	scene_settle(s);
	weir_error_unref(s->error);
	scene_is_over(context);
	explorer_assert(s->fates[1].ended == 1);
	explorer_assert(s->fates[1].end_code == (s->answers ? -EPROTO : -EIO));
}

static void the_error_came(void *context)
{
	struct scene *s = context;

	scene_is_over(context);
	explorer_assert(s->fates[0].code == -EIO);
	explorer_assert(s->fates[1].ended == 1 && s->fates[1].end_code == -EIO);
	explorer_assert(s->fates[1].delivered == 1);
}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "a link that fails", .setup = failing,
		 .thread = {slice_0, slice_1}, .check = the_error_came),
	SCENARIO(.name = "a link that fails, and an end from outside",
		 .setup = failing_beside_puts,
		 .thread = {slice_0, slice_1, end_sink},
		 .check = the_first_end_counts),
	SCENARIO(.name = "a broadcast to one that stops", .setup = broadcast,
		 .thread = {two_slices_0, slice_1}, .check = all_to_the_other),
	SCENARIO(.name = "a balance with one that stops", .setup = balance,
		 .thread = {two_slices_0, slice_1}, .check = the_other_goes_on),
	SCENARIO(.name = "two out-ports, one cancelled", .setup = two_outs,
		 .thread = {two_slices_0, slice_1}, .check = all_to_the_other),
	SCENARIO(.name = "a token put at the end, for one that stops",
		 .setup = last_put, .thread = {slice_0, slice_1},
		 .check = scene_is_over),
	SCENARIO(.name = "a merge that stops", .setup = stopped_merge,
		 .thread = {slice_0, slice_2}, .check = scene_is_over),
	SCENARIO(.name = "a merge until the first ends", .setup = first_ends,
		 .thread = {slice_0, slice_1, slice_2}, .check = scene_is_over),
};

const struct scene_group ends = SCENE_GROUP(scenarios);
