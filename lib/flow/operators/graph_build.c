/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs: making one flow of a description, and running it. If connections form
 * a circle, one with capacity is cut: its inlet stays without a flow above; the
 * flow at its outlet becomes an input of the whole, beside the ends; and a run
 * links the two when everything else is made.
 */
#include <assert.h>
#include <errno.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "flow/engine/op.h"
#include "flow/engine/run.h"
#include "flow/operators/graph.h"
#include "flow/shared/fan.h"

/* --- Inlets --------------------------------------------------------------- */

static size_t fused_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = weir__pull(op->up[0], items, room);

	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind fused_kind = {
	.name = "graph_inlet",
	.pull = fused_pull,
	.free = weir__graph_inlet_free,
};

/* Refuses the flow, and cancels `op` if it was made already. */
static struct weir__op *refuse(const struct weir__build *build,
			       struct weir__op *op, int code)
{
	if (op)
		weir__op_cancel(op);
	*build->code = code;
	return NULL;
}

static struct weir__op *linked_build(struct weir__build *build,
				     const struct weir_flow *flow)
{
	if (build->nested)
		return weir__build(build, flow->up[0]);
	return weir__build_cut(build, flow->up[0], NULL,
			       weir__graph_inlet_of(flow)->capacity);
}

static const struct weir__kind linked_kind = {
	.name = "graph_inlet",
	.build = linked_build,
	.free = weir__graph_inlet_free,
	.boundary = true,
};

static struct weir__op *cut_build(struct weir__build *build,
				  const struct weir_flow *flow)
{
	return weir__build_inlet(build, flow, NULL, flow->items,
				 weir__graph_inlet_of(flow)->capacity);
}

/* What comes round is not `up`, or a walk would go round, too. */
static const char *cut_refuses(const struct weir_flow *flow)
{
	return weir__items_fit(
		       weir__flow_items(weir__graph_inlet_of(flow)->from),
		       weir__flow_items(flow))
		       ? NULL
		       : "other items come round to it: see weir_flow_items()";
}

static const struct weir__kind cut_kind = {
	.name = "graph_inlet",
	.refuses = cut_refuses,
	.build = cut_build,
	.free = weir__graph_inlet_free,
	.boundary = true,
};

/* --- Running circles ------------------------------------------------------ */

static struct weir__inlet *find_inlet(const struct weir_flow_run *run,
				      const struct weir_flow *from)
{
	const struct weir__island *island;
	struct weir__inlet *inlet;

	for (island = run->islands; island; island = island->next)
		for (inlet = island->inlets; inlet; inlet = inlet->next)
			if (inlet->op->flow->kind == &cut_kind &&
			    weir__graph_inlet_of(inlet->op->flow)->from == from)
				return inlet;
	return NULL;
}

/* Makes an island of the flow at an outlet; its key is that flow. */
static int make_island(const struct weir__build *build,
		       const struct weir_flow *from)
{
	struct weir__build above = *build;
	struct weir__op *root;

	above.island =
		weir__island_new(build->run, build->executor, &weir__end_out);
	if (!above.island)
		return -ENOMEM;
	above.island->key = from;
	above.tree = above.island->tree;
	root = weir__build(&above, from);
	return root ? weir__island_ready(above.island, root) : *build->code;
}

static int link_island(const struct weir__build *build,
		       const struct weir_flow *from)
{
	struct weir__inlet *inlet = find_inlet(build->run, from);
	struct weir__island *island = build->run->islands;

	while (island->key != from)
		island = island->next;
	if (!inlet || inlet->op->items != island->root->items)
		return -EINVAL;
	return weir_out_link(&island->out, &inlet->in);
}

static struct weir__op *circles_build(struct weir__build *build,
				      const struct weir_flow *flow)
{
	struct weir__build ends = *build;
	struct weir__op *op;
	uint32_t i;
	int rc = 0;

	op = weir__build(&ends, flow->up[0]);
	if (!op)
		return NULL;
	for (i = 1; i < flow->n_up && rc == 0; i++)
		rc = make_island(build, flow->up[i]);
	for (i = 1; i < flow->n_up && rc == 0; i++)
		rc = link_island(build, flow->up[i]);
	return rc == 0 ? op : refuse(build, op, rc);
}

static const struct weir__kind circles_kind = {
	.name = "graph",
	.build = circles_build,
	.needs_island = true,
};

/* --- Building ------------------------------------------------------------- */

/* Over all that is above a flow, through inlets that are not cut. */
struct walk {
	const struct weir_flow *wanted;
	bool mark;     /* flows with this mark are not walked again */
	bool found;    /* `wanted` is above, or the flow itself */
	bool too_deep; /* the walk was given up somewhere */
};

/* NULL: nothing beside flow->up. */
static struct weir_flow *above_of(struct weir_flow *flow, bool **seen)
{
	struct weir__graph_inlet *inlet = weir__graph_inlet_of(flow);

	if (flow->kind != &weir__graph_open_kind)
		return weir__fan_above(flow, seen);
	*seen = &inlet->seen;
	return inlet->cut ? NULL : inlet->from;
}

/* Recursion is bounded by `level`, which is 1 at first.
 * NOLINTBEGIN(misc-no-recursion) */
static void walk(struct walk *all, struct weir_flow *flow, uint32_t level)
{
	bool *seen = NULL;
	struct weir_flow *above = above_of(flow, &seen);
	uint32_t i;

	assert(flow);
	all->found = all->found || flow == all->wanted;
	all->too_deep = all->too_deep || level > WEIR_FLOW_DEPTH_MAX;
	if (level > WEIR_FLOW_DEPTH_MAX || (seen && *seen == all->mark))
		return;
	if (seen)
		*seen = all->mark;
	if (above)
		walk(all, above, level + 1);
	for (i = 0; i < flow->n_up; i++)
		walk(all, flow->up[i], level + 1);
}

/*
 * Sets the depth that flows will have when the inlets are connected. A flow
 * that is marked has been measured. If the walk was given up, the depth is too
 * large.
 */
static uint32_t measure(struct weir_flow *flow, uint32_t level)
{
	bool *seen = NULL;
	struct weir_flow *above = above_of(flow, &seen);
	uint32_t i, depth = 0, up;

	if (level > WEIR_FLOW_DEPTH_MAX)
		return WEIR_FLOW_DEPTH_MAX;
	if (seen && *seen)
		return flow->depth;
	if (seen)
		*seen = true;
	if (above)
		depth = measure(above, level + 1);
	for (i = 0; i < flow->n_up; i++) {
		up = measure(flow->up[i], level + 1);
		depth = up > depth ? up : depth;
	}
	flow->depth = depth + 1;
	return flow->depth;
}
/* NOLINTEND(misc-no-recursion) */

/* Whether items from an inlet can come back to it; or -E2BIG. */
static int is_circle(struct weir_flow_graph *graph, struct weir_flow *inlet)
{
	struct weir_flow *from = weir__graph_inlet_of(inlet)->from;
	struct walk to = {.wanted = inlet, .mark = true}, back = {0};

	walk(&to, from, 1);
	walk(&back, from, 1);
	if (to.too_deep)
		return weir__graph_fail(graph, -E2BIG,
					weir__graph_inlet_of(inlet)->name,
					"too many flows upon each other");
	return to.found;
}

static int check_ports(struct weir_flow_graph *graph)
{
	struct weir_flow *inlet;
	struct weir__graph_end *end;

	for (end = graph->ends; end; end = end->next)
		if (end->name && !end->connected)
			return weir__graph_fail(
				graph, -EINVAL, end->name,
				"an outlet that is not connected");
	for (inlet = graph->inlets; inlet;
	     inlet = weir__graph_inlet_of(inlet)->next)
		if (!weir__graph_inlet_of(inlet)->from || !inlet->taken)
			return weir__graph_fail(
				graph, -EINVAL,
				weir__graph_inlet_of(inlet)->name,
				"an inlet that is not connected, or used");
	if (graph->n_ends == 0)
		return weir__graph_fail(graph, -EINVAL, "graph", "no end");
	return 0;
}

/* Cuts connections until there are no circles; an error if a circle has no
 * connection that can be cut. */
static int check_circles(struct weir_flow_graph *graph)
{
	struct weir_flow *flow;
	int rc = 0;

	for (flow = graph->inlets; flow && rc >= 0;
	     flow = weir__graph_inlet_of(flow)->next) {
		rc = weir__graph_inlet_of(flow)->capacity
			     ? is_circle(graph, flow)
			     : 0;
		weir__graph_inlet_of(flow)->cut = rc == 1;
		graph->n_cut += rc == 1;
	}
	for (flow = graph->inlets; flow && rc >= 0;
	     flow = weir__graph_inlet_of(flow)->next) {
		if (weir__graph_inlet_of(flow)->cut)
			continue;
		rc = is_circle(graph, flow);
		if (rc == 1)
			rc = weir__graph_fail(graph, -EINVAL,
					      weir__graph_inlet_of(flow)->name,
					      "a circle that holds nothing");
	}
	return rc < 0 ? rc : 0;
}

static bool is_cut(const struct weir_flow_graph *graph,
		   const struct weir_flow *from)
{
	struct weir_flow *flow = graph->inlets;

	while (weir__graph_inlet_of(flow)->from != from)
		flow = weir__graph_inlet_of(flow)->next;
	return weir__graph_inlet_of(flow)->cut;
}

/* From an end, or a flow at a cut, and without connections that are cut. */
static int check_depth(struct weir_flow_graph *graph)
{
	struct weir__graph_end *end;
	struct walk back = {0};
	uint32_t deepest = 0, depth;

	for (end = graph->ends; end; end = end->next) {
		if (end->name && !is_cut(graph, end->flow))
			continue;
		depth = measure(end->flow, 1);
		deepest = depth > deepest ? depth : deepest;
	}
	for (end = graph->ends; end; end = end->next)
		walk(&back, end->flow, 1);
	if (deepest <= WEIR_FLOW_DEPTH_MAX)
		return 0;
	return weir__graph_fail(graph, -E2BIG, "graph",
				"too many flows upon each other");
}

/* Makes each inlet an ordinary node with the flow at its outlet above it, so
 * that the flows form a tree. */
static void settle(struct weir_flow *flow)
{
	struct weir__graph_inlet *inlet = weir__graph_inlet_of(flow);

	if (inlet->cut) {
		flow->kind = &cut_kind;
		return;
	}
	flow->kind = inlet->capacity ? &linked_kind : &fused_kind;
	flow->up = &inlet->from;
	flow->n_up = 1;
	inlet->from->taken = true;
	inlet->from->taker = flow;
}

/*
 * Moves the flows out of the graph: the ends, then those of cut connections.
 * `flows` has room for all.
 */
static void take_flows(struct weir_flow_graph *graph, struct weir_flow **flows)
{
	struct weir_flow **ends = flows, **cuts = flows + graph->n_ends;
	struct weir__graph_end *end;

	for (end = graph->ends; end; end = end->next) {
		if (!end->name)
			*ends++ = end->flow;
		else if (is_cut(graph, end->flow))
			*cuts++ = end->flow;
		end->flow->taken = end->name && !is_cut(graph, end->flow);
		end->flow = NULL;
	}
}

/* Makes one flow of the ends and the flows at cut connections. */
static struct weir_flow *whole(struct weir_flow **flows, uint32_t n_ends,
			       uint32_t n_cut)
{
	if (n_ends > 1)
		flows[n_ends - 1] = weir_flow_all(flows, n_ends);
	if (n_cut == 0)
		return flows[n_ends - 1];
	return weir__flow_new(&circles_kind, flows + n_ends - 1, n_cut + 1,
			      NULL, 0, true);
}

static struct weir_flow *build(struct weir_flow_graph *graph)
{
	uint32_t n = graph->n_ends + graph->n_cut;
	struct weir_flow **flows, *flow;

	flows = weir__alloc(weir_allocator_default(),
			    n * sizeof(struct weir_flow *));
	if (!flows)
		return weir__flow_failed(-ENOMEM, "graph", "no memory");
	take_flows(graph, flows);
	for (flow = graph->inlets; flow;
	     flow = weir__graph_inlet_of(flow)->next)
		settle(flow);
	flow = whole(flows, graph->n_ends, graph->n_cut);
	weir__free(weir_allocator_default(), flows,
		   n * sizeof(struct weir_flow *));
	return flow;
}

struct weir_flow *weir_flow_graph_build(struct weir_flow_graph *graph)
{
	struct weir_flow *flow;

	if (!graph)
		return weir__flow_failed(-EINVAL, "graph", "no graph");
	if (graph->code == 0 && check_ports(graph) == 0 &&
	    check_circles(graph) == 0)
		(void)check_depth(graph);
	flow = graph->code ? weir__flow_failed(graph->code, graph->origin,
					       graph->message)
			   : build(graph);
	weir_flow_graph_free(graph);
	return flow;
}
