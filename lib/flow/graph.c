/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs. An inlet is a node without ups until the graph is built, which makes
 * the flow at the outlet its up; so a graph is a tree as any other flow. Where
 * connections form a circle, one with capacity is cut: its inlet stays without
 * ups, the flow at its outlet is an up of the whole, beside the ends, and a run
 * links the two when everything else is there.
 */
#include <weir/flow_graph.h>

#include <string.h>

#include "base/memory.h"
#include "flow/fan.h"

/* A flow that was added. */
struct end {
	struct end *next;
	const char *name; /* NULL: an end of the graph */
	struct weir_flow *flow;
	bool connected;
};

/* The arguments of an inlet. */
struct inlet {
	struct weir_flow_graph *graph; /* NULL: it is built, or freed */
	struct weir_flow *next;	       /* of the graph's */
	const char *name;
	struct weir_flow *from; /* what it is connected to */
	size_t capacity;
	bool cut;
	bool seen; /* in a walk */
};

struct weir_flow_graph {
	struct end *ends;
	struct weir_flow *inlets;
	uint32_t n_ends, n_cut;
	int code; /* why it has failed */
	const char *origin, *message;
};

static struct inlet *inlet_of(const struct weir_flow *flow)
{
	return (struct inlet *)(void *)(uintptr_t)flow->args;
}

static int fail(struct weir_flow_graph *graph, int code, const char *origin,
		const char *message)
{
	if (graph->code == 0) {
		graph->code = code;
		graph->origin = origin;
		graph->message = message;
	}
	return code;
}

/* --- Inlets -------------------------------------------------------------------- */

static void inlet_free(struct weir_flow *flow)
{
	struct weir_flow **link;

	if (!inlet_of(flow)->graph)
		return;
	link = &inlet_of(flow)->graph->inlets;
	while (*link != flow)
		link = &inlet_of(*link)->next;
	*link = inlet_of(flow)->next;
}

static int open_open(struct weir__op *op)
{
	return -EINVAL;
}

/* Not built yet. */
static const struct weir__kind open_kind = {
	.name = "graph_inlet",
	.open = open_open,
	.free = inlet_free,
};

static size_t fused_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = weir__pull(op->up[0], items, room);

	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind fused_kind = {
	.name = "graph_inlet",
	.pull = fused_pull,
	.free = inlet_free,
};

/* `op`, if there is one already, is given up. */
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
	struct weir__op *op;

	if (build->nested)
		return weir__build(build, flow->up[0]);
	op = weir__build_cut(build, flow->up[0], NULL,
			     inlet_of(flow)->capacity);
	if (op && flow->has_items && flow->items != op->items)
		return refuse(build, op, -EINVAL);
	return op;
}

static const struct weir__kind linked_kind = {
	.name = "graph_inlet",
	.build = linked_build,
	.free = inlet_free,
	.boundary = true,
};

static struct weir__op *cut_build(struct weir__build *build,
				  const struct weir_flow *flow)
{
	if (build->nested)
		return refuse(build, NULL, -ENOTSUP);
	return weir__build_inlet(build, flow, NULL, flow->items,
				 inlet_of(flow)->capacity);
}

static const struct weir__kind cut_kind = {
	.name = "graph_inlet",
	.build = cut_build,
	.free = inlet_free,
	.boundary = true,
};

/* --- Running circles ------------------------------------------------------------ */

static struct weir__inlet *find_inlet(const struct weir_flow_run *run,
				      const struct weir_flow *from)
{
	const struct weir__stage *stage;
	struct weir__inlet *inlet;

	for (stage = run->stages; stage; stage = stage->next)
		for (inlet = stage->inlets; inlet; inlet = inlet->next)
			if (inlet->op->flow->kind == &cut_kind &&
			    inlet_of(inlet->op->flow)->from == from)
				return inlet;
	return NULL;
}

/* A stage of what is at an outlet, keyed by that. */
static int make_stage(const struct weir__build *build,
		      const struct weir_flow *from)
{
	struct weir__build above = *build;
	struct weir__op *root;

	above.stage =
		weir__stage_new(build->run, build->executor, &weir__end_out);
	if (!above.stage)
		return -ENOMEM;
	above.stage->key = from;
	above.tree = above.stage->tree;
	root = weir__build(&above, from);
	return root ? weir__stage_ready(above.stage, root) : *build->code;
}

static int link_stage(const struct weir__build *build,
		      const struct weir_flow *from)
{
	struct weir__inlet *inlet = find_inlet(build->run, from);
	struct weir__stage *stage = build->run->stages;

	while (stage->key != from)
		stage = stage->next;
	if (!inlet || inlet->op->items != stage->root->items)
		return -EINVAL;
	return weir_link(&stage->out, &inlet->in);
}

static struct weir__op *circles_build(struct weir__build *build,
				      const struct weir_flow *flow)
{
	struct weir__build ends = *build;
	struct weir__op *op;
	uint32_t i;
	int rc = 0;

	if (build->nested)
		return refuse(build, NULL, -ENOTSUP);
	op = weir__build(&ends, flow->up[0]);
	if (!op)
		return NULL;
	for (i = 1; i < flow->n_up && rc == 0; i++)
		rc = make_stage(build, flow->up[i]);
	for (i = 1; i < flow->n_up && rc == 0; i++)
		rc = link_stage(build, flow->up[i]);
	return rc == 0 ? op : refuse(build, op, rc);
}

static const struct weir__kind circles_kind = {
	.name = "graph",
	.build = circles_build,
};

/* --- Composing -------------------------------------------------------------------- */

int weir_flow_graph_new(struct weir_flow_graph **graph)
{
	if (!graph)
		return -EINVAL;
	*graph = weir__alloc(weir_allocator_default(), sizeof(**graph));
	return *graph ? 0 : -ENOMEM;
}

void weir_flow_graph_free(struct weir_flow_graph *graph)
{
	struct weir_flow *inlet;
	struct end *end;

	if (!graph)
		return;
	while ((inlet = graph->inlets)) {
		graph->inlets = inlet_of(inlet)->next;
		inlet_of(inlet)->graph = NULL;
	}
	while ((end = graph->ends)) {
		graph->ends = end->next;
		weir_flow_free(end->flow);
		weir__free(weir_allocator_default(), end, sizeof(*end));
	}
	weir__free(weir_allocator_default(), graph, sizeof(*graph));
}

static struct end *find_end(const struct weir_flow_graph *graph,
			    const char *name)
{
	struct end *end = graph->ends;

	while (end && (!end->name || strcmp(end->name, name) != 0))
		end = end->next;
	return end;
}

static struct weir_flow *find_named(const struct weir_flow_graph *graph,
				    const char *name)
{
	struct weir_flow *inlet = graph->inlets;

	while (inlet && strcmp(inlet_of(inlet)->name, name) != 0)
		inlet = inlet_of(inlet)->next;
	return inlet;
}

/* The flow is the graph's, whatever comes of it. */
static int add(struct weir_flow_graph *graph, const char *name,
	       struct weir_flow *flow)
{
	struct end **link = &graph->ends;
	const char *origin, *message;
	int rc = weir__flow_check(flow, &origin, &message);

	if (rc < 0)
		return fail(graph, rc, origin, message);
	if (name && find_end(graph, name))
		return fail(graph, -EEXIST, name, "two outlets of this name");
	while (*link)
		link = &(*link)->next;
	*link = weir__alloc(weir_allocator_default(), sizeof(**link));
	if (!*link)
		return fail(graph, -ENOMEM, "graph", "no memory");
	(*link)->name = name;
	(*link)->flow = flow;
	flow->taken = true;
	if (!name)
		graph->n_ends++;
	return 0;
}

int weir_flow_graph_add(struct weir_flow_graph *graph, const char *outlet,
			struct weir_flow *flow)
{
	int rc = -EINVAL;

	if (flow && flow->taken) {
		if (graph)
			(void)fail(graph, -EBUSY, outlet ? outlet : "graph",
				   "a flow that is used twice");
		return -EBUSY;
	}
	if (graph && flow)
		rc = add(graph, outlet, flow);
	else if (graph)
		(void)fail(graph, rc, outlet ? outlet : "graph", "no flow");
	if (rc < 0)
		weir_flow_free(flow);
	return rc;
}

struct weir_flow *weir_flow_graph_inlet(struct weir_flow_graph *graph,
					const char *name)
{
	struct inlet args = {.graph = graph, .name = name};
	struct weir_flow *flow;

	if (!graph || !name)
		return weir__flow_failed(-EINVAL, open_kind.name,
					 "a bad argument");
	if (find_named(graph, name)) {
		(void)fail(graph, -EEXIST, name, "two inlets of this name");
		return weir__flow_failed(-EEXIST, name,
					 "two inlets of this name");
	}
	args.next = graph->inlets;
	flow = weir__flow_source(&open_kind, &args, sizeof(args), true);
	if (weir__flow_check(flow, NULL, NULL) == 0)
		graph->inlets = flow;
	return flow;
}

int weir_flow_graph_connect(struct weir_flow_graph *graph, const char *outlet,
			    const char *inlet, size_t capacity)
{
	struct weir_flow *to;
	struct end *from;

	if (!graph)
		return -EINVAL;
	if (!outlet || !inlet || capacity > WEIR_CAPACITY_MAX ||
	    (capacity & (capacity - 1)) != 0)
		return fail(graph, -EINVAL, "graph", "a bad argument");
	from = find_end(graph, outlet);
	if (!from)
		return fail(graph, -ENOENT, outlet, "no such outlet");
	to = find_named(graph, inlet);
	if (!to)
		return fail(graph, -ENOENT, inlet, "no such inlet");
	if (from->connected)
		return fail(graph, -EISCONN, outlet, "connected twice");
	if (inlet_of(to)->from)
		return fail(graph, -EISCONN, inlet, "connected twice");
	from->connected = true;
	inlet_of(to)->from = from->flow;
	inlet_of(to)->capacity = capacity;
	return 0;
}

/* --- Building ---------------------------------------------------------------------- */

/*
 * Marks all that is above `flow`, through inlets that are not cut: true if
 * `wanted` is. What is marked is not walked again; recursion is bounded by the
 * depth of the graph, which its maker has chosen.
 * NOLINTNEXTLINE(misc-no-recursion) */
static bool walk(struct weir_flow *flow, const struct weir_flow *wanted,
		 bool mark)
{
	bool *seen = NULL, found = flow == wanted;
	struct weir_flow *above = weir__fan_above(flow, &seen);
	uint32_t i;

	if (flow->kind == &open_kind) {
		above = inlet_of(flow)->cut ? NULL : inlet_of(flow)->from;
		seen = &inlet_of(flow)->seen;
	}
	if (seen && *seen == mark)
		return found;
	if (seen)
		*seen = mark;
	if (above)
		found = walk(above, wanted, mark) || found;
	for (i = 0; i < flow->n_up; i++)
		found = walk(flow->up[i], wanted, mark) || found;
	return found;
}

/* What comes out of an inlet comes to it again. */
static bool is_circle(struct weir_flow *inlet)
{
	struct weir_flow *from = inlet_of(inlet)->from;
	bool found = walk(from, inlet, true);

	(void)walk(from, inlet, false);
	return found;
}

static int check_ports(struct weir_flow_graph *graph)
{
	struct weir_flow *inlet;
	struct end *end;

	for (end = graph->ends; end; end = end->next)
		if (end->name && !end->connected)
			return fail(graph, -EINVAL, end->name,
				    "an outlet that is not connected");
	for (inlet = graph->inlets; inlet; inlet = inlet_of(inlet)->next)
		if (!inlet_of(inlet)->from || !inlet->taken)
			return fail(graph, -EINVAL, inlet_of(inlet)->name,
				    "an inlet that is not connected, or used");
	if (graph->n_ends == 0)
		return fail(graph, -EINVAL, "graph", "no end");
	return 0;
}

/* Cuts what must be; then there may be no circles left. */
static int check_circles(struct weir_flow_graph *graph)
{
	struct weir_flow *flow;

	for (flow = graph->inlets; flow; flow = inlet_of(flow)->next)
		if (inlet_of(flow)->capacity && is_circle(flow)) {
			inlet_of(flow)->cut = true;
			graph->n_cut++;
		}
	for (flow = graph->inlets; flow; flow = inlet_of(flow)->next)
		if (!inlet_of(flow)->cut && is_circle(flow))
			return fail(graph, -EINVAL, inlet_of(flow)->name,
				    "a circle that holds nothing");
	return 0;
}

/* Makes a tree of it. */
static void settle(struct weir_flow *flow)
{
	struct inlet *inlet = inlet_of(flow);

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

static bool is_cut(const struct weir_flow_graph *graph,
		   const struct weir_flow *from)
{
	struct weir_flow *flow = graph->inlets;

	while (inlet_of(flow)->from != from)
		flow = inlet_of(flow)->next;
	return inlet_of(flow)->cut;
}

/*
 * Moves the flows out of the graph: the ends, then those of cut connections.
 * `flows` has room for all.
 */
static void take_flows(struct weir_flow_graph *graph, struct weir_flow **flows)
{
	struct weir_flow **ends = flows, **cuts = flows + graph->n_ends;
	struct end *end;

	for (end = graph->ends; end; end = end->next) {
		if (!end->name)
			*ends++ = end->flow;
		else if (is_cut(graph, end->flow))
			*cuts++ = end->flow;
		end->flow->taken = end->name && !is_cut(graph, end->flow);
		end->flow = NULL;
	}
}

/* One flow of the ends and the flows at cuts. */
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
	for (flow = graph->inlets; flow; flow = inlet_of(flow)->next)
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
	if (graph->code == 0 && check_ports(graph) == 0)
		(void)check_circles(graph);
	flow = graph->code ? weir__flow_failed(graph->code, graph->origin,
					       graph->message)
			   : build(graph);
	weir_flow_graph_free(graph);
	return flow;
}
