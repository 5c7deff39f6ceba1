/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs whose flows run on threads of their own, a diamond and a circle: their
 * items go round, and they end from above and from below at once.
 */
#include <weir/flow_fan.h>
#include <weir/flow_graph.h>

#include <errno.h>
#include <string.h>

#include "crossing.h"

/* Places among the others, as the islands begin: what is below first. */
enum { BELOW, ABOVE, BESIDE };

struct graphing {
	struct crossing crossing; /* first */
	uint32_t rounds[SCENE_TOKENS];
};

static struct graphing graphing;

/* --- What threads do ------------------------------------------------------ */

static bool slice(void *context, uint32_t place)
{
	return scene_run(context, SCENE_ACTORS + place);
}

static void work_beside(void *context)
{
	while (slice(context, BESIDE))
		;
}

static void work_rest(void *context)
{
	bool ran = true;

	while (ran) {
		ran = slice(context, BESIDE);
		ran = slice(context, BELOW) || ran;
	}
}

static void close_queue(void *context)
{
	struct crossing *c = context;

	explorer_assert(weir_flow_queue_end(c->queue, NULL) == 0);
}

static void close_and_work(void *context)
{
	close_queue(context);
	work_above(context);
}

/* --- Setups --------------------------------------------------------------- */

static struct weir_flow_graph *graph_of(void *context)
{
	struct graphing *g = context;
	struct weir_flow_graph *graph;

	(void)crossing_open(&g->crossing);
	explorer_name(g, sizeof(*g), "graphing");
	explorer_assert(weir_flow_graph_new(&graph) == 0);
	return graph;
}

static void connect(struct weir_flow_graph *graph, const char *outlet,
		    struct weir_flow *flow, const char *inlet, size_t capacity)
{
	explorer_assert(weir_flow_graph_add(graph, outlet, flow) == 0);
	explorer_assert(
		weir_flow_graph_connect(graph, outlet, inlet, capacity) == 0);
}

/* Its end is what comes out of `flow`, `n` items at most; below a fan. */
static void start(struct graphing *g, struct weir_flow_graph *graph,
		  struct weir_flow *flow, uint32_t n, const char *fan)
{
	struct crossing *c = &g->crossing;

	flow = crossing_sink(c, weir_flow_take(flow, n));
	explorer_assert(weir_flow_graph_add(graph, NULL, flow) == 0);
	crossing_start(c, weir_flow_graph_build(graph));
	explorer_assert(strcmp(crossing_island(c, ABOVE)->ops->name, fan) == 0);
	work_rest(c);
}

/* Both sides have put out the same; one share of it goes. */
static int combine(void *const *items, size_t n, void **result, void *context)
{
	explorer_assert(n == 2 && items[0] == items[1]);
	scene_end_token(items[1], DELIVERED);
	*result = items[0];
	return 0;
}

/*
 * Two items, and the end:
 *
 * items -> broadcast              -> zip -> take n
 *                    -> an island ->
 */
static void diamond(struct graphing *g, uint32_t n)
{
	const struct weir_flow_fan_options options = {.capacity = 1};
	struct weir_flow_graph *graph = graph_of(g);
	struct scene *s = &g->crossing.scene;
	struct weir_flow *outlets[2], *inlets[2], *flow;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		s->tokens[i].shared = true;
		s->tokens[i].holders = 1;
	}
	explorer_assert(weir_flow_broadcast(crossing_items(&g->crossing, 2), 2,
					    outlets, &options) == 0);
	inlets[0] = outlets[0];
	inlets[1] = weir_flow_graph_inlet(graph, "in");
	connect(graph, "out", outlets[1], "in", 1);
	flow = weir_flow_zip(inlets, 2, combine, NULL);
	flow = weir_flow_items(flow, &s->items);
	start(g, graph, flow, n, "broadcast");
}

static void whole_diamond(void *context)
{
	diamond(context, 3);
}

/* Who is below leaves with the last item, behind which is the end. */
static void diamond_of_two(void *context)
{
	diamond(context, 2);
}

static void diamond_of_one(void *context)
{
	diamond(context, 1);
}

/* An item is on its way on both sides. */
static void dealt(void *context)
{
	whole_diamond(context);
	slice(context, ABOVE);
}

/* The first token leaves at once, the second one goes round before. */
static int choose(void *item, size_t *outlet, void *context)
{
	struct graphing *g = context;
	const struct token *token = item;
	uint32_t i = (uint32_t)(token - g->crossing.scene.tokens);

	*outlet = g->rounds[i]++ < i;
	return 0;
}

/*
 * Two items from a queue that has not ended:
 *
 * queue -> merge -> partition -> take n
 *          again <- an island <-
 */
static void circle(struct graphing *g, uint32_t n)
{
	const struct weir_flow_fan_options options = {
		.capacity = 2,
		.eager = true,
	};
	struct weir_flow_graph *graph = graph_of(g);
	struct crossing *c = &g->crossing;
	struct weir_flow *inlets[2], *outlets[2], *flow;

	inlets[0] = crossing_queue(c, 2);
	inlets[1] = weir_flow_items(weir_flow_graph_inlet(graph, "again"),
				    &c->scene.items);
	flow = weir_flow_merge_eager(inlets, 2);
	explorer_assert(weir_flow_partition(flow, 2, choose, g, outlets,
					    &options) == 0);
	connect(graph, "back", outlets[1], "again", 2);
	start(g, graph, outlets[0], n, "partition");
}

static void whole_circle(void *context)
{
	circle(context, 3);
}

/* Who is below leaves with the first item. */
static void circle_of_one(void *context)
{
	circle(context, 1);
}

/* The first one is about to be taken, the other one to be sent back. */
static void going_round(void *context)
{
	whole_circle(context);
	slice(context, ABOVE);
}

static void going_round_for_one(void *context)
{
	circle_of_one(context);
	slice(context, ABOVE);
}

/* --- Checks --------------------------------------------------------------- */

static void over_with(struct crossing *c, uint32_t delivered)
{
	crossing_is_over(c);
	explorer_assert(c->code == 0);
	explorer_assert(c->delivered == delivered);
}

static void two_came(void *context)
{
	over_with(context, 2);
}

static void one_came(void *context)
{
	over_with(context, 1);
}

/* Nothing can move, and none is left in the circle. */
static void two_went_round(void *context)
{
	struct graphing *g = context;

	scene_settle(&g->crossing.scene);
	explorer_assert(g->crossing.delivered == 2);
	explorer_assert(g->rounds[0] == 1 && g->rounds[1] == 2);
	close_queue(g);
	over_with(&g->crossing, 2);
}

/* The other one was perhaps dropped as the source ended. */
static void one_came_or_two(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == 0);
	explorer_assert(c->scene.tokens[0].value == DELIVERED);
}

static void cancelled(void *context)
{
	struct crossing *c = context;

	crossing_is_over(c);
	explorer_assert(c->code == -ECANCELED);
}

#define GRAPHING(...) \
	{ \
		.context = &graphing, .context_size = sizeof(graphing), \
		__VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	GRAPHING(.name = "a diamond ends from both sides",
		 .setup = diamond_of_two, .thread = {work_above, work_rest},
		 .check = two_came),
	GRAPHING(.name = "a diamond ends from below", .setup = diamond_of_one,
		 .thread = {work_above, work_rest}, .check = one_came),
	GRAPHING(.name = "a run with a diamond is cancelled", .setup = dealt,
		 .thread = {cancel, work_rest}, .check = cancelled),
	GRAPHING(.name = "two items go round", .setup = whole_circle,
		 .thread = {work_above, work_rest}, .check = two_went_round),
	GRAPHING(.name = "a circle ends from both sides",
		 .setup = going_round_for_one,
		 .thread = {close_and_work, work_rest}, .check = one_came),
	GRAPHING(.name = "a circle ends from below", .setup = circle_of_one,
		 .thread = {work_above, work_rest}, .check = one_came),
	GRAPHING(.name = "a run with a circle is cancelled",
		 .setup = going_round, .thread = {cancel, work_rest},
		 .check = cancelled),
};

const struct scene_group graphs = SCENE_GROUP(scenarios);

static const struct explorer_scenario long_scenarios[] = {
	GRAPHING(.name = "a diamond ends from above", .setup = whole_diamond,
		 .thread = {work_above, work_rest}, .check = two_came),
	GRAPHING(.name = "a circle ends from above", .setup = going_round,
		 .thread = {close_and_work, work_rest},
		 .check = one_came_or_two),
	GRAPHING(.name = "a diamond ends from both sides, and three work",
		 .setup = diamond_of_two,
		 .thread = {work_above, work_beside, work_below},
		 .check = two_came),
	GRAPHING(.name = "a circle ends from both sides, and three work",
		 .setup = going_round_for_one,
		 .thread = {close_and_work, work_beside, work_below},
		 .check = one_came),
};

const struct scene_group long_graphs = SCENE_GROUP(long_scenarios);
