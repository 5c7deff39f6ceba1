/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs while they are described. An inlet is a node with no flow above until
 * the graph is built; then the flow at its outlet is above it. So a graph is a
 * tree, like any other flow.
 */
#ifndef WEIR_FLOW_OPERATORS_GRAPH_H
#define WEIR_FLOW_OPERATORS_GRAPH_H

#include <weir/flow_graph.h>

#include "flow/engine/kind.h"

/* A flow that was added. */
struct weir__graph_end {
	struct weir__graph_end *next;
	const char *name; /* NULL: an end of the graph */
	struct weir_flow *flow;
	bool connected;
};

/* The arguments of an inlet. */
struct weir__graph_inlet {
	struct weir_flow_graph *graph; /* NULL: the graph is built or freed */
	struct weir_flow *next;	       /* of the graph's */
	const char *name;
	struct weir_flow *from; /* the flow it is connected to */
	size_t capacity;
	bool cut;
	bool seen; /* in a walk */
};

struct weir_flow_graph {
	struct weir__graph_end *ends;
	struct weir_flow *inlets;
	uint32_t n_ends, n_cut;
	int code; /* why the graph has failed */
	const char *origin;
	char message[104]; /* a copy: a flow's goes with the flow */
};

/* The kind of an inlet whose graph is not built yet. */
extern const struct weir__kind weir__graph_open_kind;

static inline struct weir__graph_inlet *weir__graph_inlet_of(
	const struct weir_flow *flow)
{
	return (struct weir__graph_inlet *)(void *)(uintptr_t)flow->args;
}

/* kind->free of inlets: removes the inlet from its graph, if there is one. */
void weir__graph_inlet_free(struct weir_flow *flow);

/* The graph fails, unless it has failed before; `origin` lives for ever.
 * Returns `code`. */
int weir__graph_fail(struct weir_flow_graph *graph, int code,
		     const char *origin, const char *message);

#endif
