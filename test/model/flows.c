/* SPDX-License-Identifier: BSD-2-Clause */
/* The actors of flows.h, and what they have to do with the other side. */
#include "flows.h"

#include <errno.h>

struct flow flow;

static struct weir_actor_ops ops[SCENE_ACTORS];
static void (*scene_released)(struct weir_actor *actor);

/* --- Actors --------------------------------------------------------------- */

/* What is attached to its ports goes with the actor. */
static void released(struct weir_actor *actor)
{
	struct node *node = weir_container_of(actor, struct node, actor);
	struct flow *f = weir_container_of(node->scene, struct flow, scene);
	uint32_t i = node->index;

	scene_released(actor);
	if (f->out[i])
		explorer_free(f->out[i]);
	if (f->in[i])
		explorer_free(f->in[i]);
}

static int signalled(struct weir_actor *actor)
{
	struct node *node = weir_container_of(actor, struct node, actor);
	struct flow *f = weir_container_of(node->scene, struct flow, scene);

	return f->failing == node ? -EIO : 0;
}

void flow_fail(struct flow *f, struct node *node)
{
	f->failing = node;
	weir_actor_signal(&node->actor);
}

/* Before it does anything. */
static void own_ops(struct node *node)
{
	struct weir_actor_ops *mine = &ops[node->index];

	if (node->actor.ops == mine)
		return;
	scene_released = node->actor.ops->released;
	*mine = *node->actor.ops;
	mine->released = released;
	mine->signalled = signalled;
	node->actor.ops = mine;
}

struct flow *flow_open(void *context)
{
	struct flow *f = context;

	scene_open(&f->scene, false);
	explorer_name(f, sizeof(*f), "flow");
	return f;
}

struct node *flow_source(struct flow *f, uint32_t n, bool fan)
{
	struct node *node = scene_source(&f->scene, 0, n - 1);
	struct weir_reactive_out *out = explorer_alloc(sizeof(*out));

	explorer_name(out, sizeof(*out), "reactive out");
	f->out[node->index] = out;
	own_ops(node);
	if (fan)
		explorer_assert(weir_out_fan(&node->out, WEIR_FAN_BALANCE, 2) ==
				0);
	explorer_assert(
		weir_reactive_out_init(out, &node->out,
				       &(struct weir_reactive_out_options){
					       .capacity = 2,
				       }) == 0);
	return node;
}

static uint32_t sink_turn(struct weir_actor *actor, uint32_t n)
{
	struct node *node = weir_container_of(actor, struct node, actor);
	struct flow *f = weir_container_of(node->scene, struct flow, scene);

	scene_take(node, 0);
	if (node->fate->delivered == node->stop_after)
		weir_actor_end(actor);
	if (node->fate->delivered == f->cancel_after)
		weir_in_cancel(&node->in[0]);
	return 1;
}

struct node *flow_sink(struct flow *f, size_t capacity, size_t prefetch)
{
	const struct weir_reactive_in_options options = {.prefetch = prefetch};
	struct node *node = scene_node(&f->scene, sink_turn);
	struct weir_reactive_in *in = explorer_alloc(sizeof(*in));

	explorer_name(in, sizeof(*in), "reactive in");
	f->in[node->index] = in;
	own_ops(node);
	explorer_assert(
		weir_in_init(&node->in[0], &node->actor, capacity, NULL) == 0);
	explorer_assert(weir_reactive_in_init(in, &node->in[0], &options) == 0);
	return node;
}

/* --- The other side ------------------------------------------------------- */

void flow_taker(struct flow *f, uint32_t i, int64_t first)
{
	taker_new(&f->takings[i], first, i ? "taker 1" : "taker 0");
}

void flow_let_go(struct flow *f, uint32_t taker)
{
	taker_let_go(&f->takings[taker]);
}

void flow_subscribe(struct flow *f, uint32_t node,
		    struct weir_subscriber *subscriber)
{
	explorer_assert(weir_publisher_subscribe(&f->out[node]->publisher,
						 subscriber) == 0);
}

void flow_subscribe_taker(struct flow *f, uint32_t i)
{
	flow_subscribe(f, 0, f->takings[i].subscriber);
}

void flow_giver(struct flow *f, const struct node *sink)
{
	giver_new(&f->giving, &f->scene);
	f->giving.subscriber =
		weir_subscriber_ref(&f->in[sink->index]->subscriber);
}

void flow_begin(struct flow *f)
{
	giver_begin(&f->giving);
}

bool flow_give(struct flow *f)
{
	return giver_give(&f->giving);
}

void flow_give_two(struct flow *f)
{
	giver_give_two(&f->giving);
}

void flow_complete(struct flow *f)
{
	giver_complete(&f->giving);
}

void flow_giver_let_go(struct flow *f)
{
	giver_let_go(&f->giving);
}

/* --- Threads and checks --------------------------------------------------- */

void slice_0(void *context)
{
	scene_run(context, 0);
}

void slice_1(void *context)
{
	scene_run(context, 1);
}

void work_0(void *context)
{
	while (scene_run(context, 0))
		;
}

void work_1(void *context)
{
	while (scene_run(context, 1))
		;
}

void flow_is_over(void *context)
{
	struct flow *f = context;
	uint32_t i;

	scene_settle(&f->scene);
	for (i = 0; i < FLOW_TAKERS; i++)
		taker_is_over(&f->takings[i]);
	if (f->giving.subscriber)
		flow_giver_let_go(f);
	if (f->giving.subscription)
		explorer_assert(f->giving.released == 1);
	scene_is_over(&f->scene);
}
