/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs: describing them by named outlets and inlets. */
#include "flow/operators/graph.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/items.h"

int weir__graph_fail(struct weir_flow_graph *graph, int code,
		     const char *origin, const char *message)
{
	if (graph->code == 0) {
		graph->code = code;
		graph->origin = origin;
		(void)snprintf(graph->message, sizeof(graph->message), "%s",
			       message);
	}
	return code;
}

/* --- Inlets --------------------------------------------------------------- */

void weir__graph_inlet_free(struct weir_flow *flow)
{
	struct weir_flow **link;

	if (!weir__graph_inlet_of(flow)->graph)
		return;
	link = &weir__graph_inlet_of(flow)->graph->inlets;
	while (*link != flow)
		link = &weir__graph_inlet_of(*link)->next;
	*link = weir__graph_inlet_of(flow)->next;
}

static int open_open(struct weir__op *op)
{
	return -EINVAL;
}

const struct weir__kind weir__graph_open_kind = {
	.name = "graph_inlet",
	.items = weir__gives_any,
	.open = open_open,
	.free = weir__graph_inlet_free,
};

/* --- Composing ------------------------------------------------------------ */

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
	struct weir__graph_end *end;

	if (!graph)
		return;
	while ((inlet = graph->inlets)) {
		graph->inlets = weir__graph_inlet_of(inlet)->next;
		weir__graph_inlet_of(inlet)->graph = NULL;
	}
	while ((end = graph->ends)) {
		graph->ends = end->next;
		weir_flow_free(end->flow);
		weir__free(weir_allocator_default(), end, sizeof(*end));
	}
	weir__free(weir_allocator_default(), graph, sizeof(*graph));
}

static struct weir__graph_end *find_end(const struct weir_flow_graph *graph,
					const char *name)
{
	struct weir__graph_end *end = graph->ends;

	while (end && (!end->name || strcmp(end->name, name) != 0))
		end = end->next;
	return end;
}

static struct weir_flow *find_named(const struct weir_flow_graph *graph,
				    const char *name)
{
	struct weir_flow *inlet = graph->inlets;

	while (inlet && strcmp(weir__graph_inlet_of(inlet)->name, name) != 0)
		inlet = weir__graph_inlet_of(inlet)->next;
	return inlet;
}

/* Adds a flow. The graph owns it, also if adding it fails. */
static int add(struct weir_flow_graph *graph, const char *name,
	       struct weir_flow *flow)
{
	struct weir__graph_end **link = &graph->ends;
	const char *origin, *message;
	int rc = weir__flow_check(flow, &origin, &message);

	if (rc < 0)
		return weir__graph_fail(graph, rc, origin, message);
	if (name && find_end(graph, name))
		return weir__graph_fail(graph, -EEXIST, name,
					"two outlets of this name");
	while (*link)
		link = &(*link)->next;
	*link = weir__alloc(weir_allocator_default(), sizeof(**link));
	if (!*link)
		return weir__graph_fail(graph, -ENOMEM, "graph", "no memory");
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
			(void)weir__graph_fail(graph, -EBUSY,
					       outlet ? outlet : "graph",
					       "a flow that is used twice");
		return -EBUSY;
	}
	if (graph && flow)
		rc = add(graph, outlet, flow);
	else if (graph)
		(void)weir__graph_fail(graph, rc, outlet ? outlet : "graph",
				       "no flow");
	if (rc < 0)
		weir_flow_free(flow);
	return rc;
}

struct weir_flow *weir_flow_graph_inlet(struct weir_flow_graph *graph,
					const char *name)
{
	struct weir__graph_inlet args = {.graph = graph, .name = name};
	struct weir_flow *flow;

	if (!graph || !name)
		return weir__flow_failed(-EINVAL, weir__graph_open_kind.name,
					 "no graph, or no name");
	if (find_named(graph, name)) {
		(void)weir__graph_fail(graph, -EEXIST, name,
				       "two inlets of this name");
		return weir__flow_failed(-EEXIST, name,
					 "two inlets of this name");
	}
	args.next = graph->inlets;
	flow = weir__flow_source(&weir__graph_open_kind, &args, sizeof(args),
				 true);
	if (weir__flow_check(flow, NULL, NULL) == 0)
		graph->inlets = flow;
	return flow;
}

int weir_flow_graph_connect(struct weir_flow_graph *graph, const char *outlet,
			    const char *inlet, size_t capacity)
{
	struct weir_flow *to;
	struct weir__graph_end *from;

	if (!graph)
		return -EINVAL;
	if (!outlet || !inlet || capacity > WEIR_CAPACITY_MAX ||
	    (capacity & (capacity - 1)) != 0)
		return weir__graph_fail(graph, -EINVAL, "graph",
					"no name, or a capacity that is no "
					"power of two");
	from = find_end(graph, outlet);
	if (!from)
		return weir__graph_fail(graph, -ENOENT, outlet,
					"no such outlet");
	to = find_named(graph, inlet);
	if (!to)
		return weir__graph_fail(graph, -ENOENT, inlet, "no such inlet");
	if (from->connected)
		return weir__graph_fail(graph, -EISCONN, outlet,
					"connected twice");
	if (weir__graph_inlet_of(to)->from)
		return weir__graph_fail(graph, -EISCONN, inlet,
					"connected twice");
	from->connected = true;
	weir__graph_inlet_of(to)->from = from->flow;
	weir__graph_inlet_of(to)->capacity = capacity;
	return 0;
}
