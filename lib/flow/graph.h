/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs, as they are described. An inlet is a node without ups until the graph
 * is built, which makes the flow at the outlet its up; so a graph is a tree as
 * any other flow.
 */
#ifndef WEIR_FLOW_GRAPH_PRIVATE_H
#define WEIR_FLOW_GRAPH_PRIVATE_H

#include <weir/flow_graph.h>

#include "flow/flow.h"

/* A flow that was added. */
struct weir__graph_end {
	struct weir__graph_end *next;
	const char *name; /* NULL: an end of the graph */
	struct weir_flow *flow;
	bool connected;
};

/* The arguments of an inlet. */
struct weir__graph_inlet {
	struct weir_flow_graph *graph; /* NULL: it is built, or freed */
	struct weir_flow *next;	       /* of the graph's */
	const char *name;
	struct weir_flow *from; /* what it is connected to */
	size_t capacity;
	bool cut;
	bool seen; /* in a walk */
};

struct weir_flow_graph {
	struct weir__graph_end *ends;
	struct weir_flow *inlets;
	uint32_t n_ends, n_cut;
	int code; /* why it has failed */
	const char *origin;
	char message[104]; /* that of a flow goes with it */
};

/* Of an inlet that is not built yet. */
extern const struct weir__kind weir__graph_open_kind;

static inline struct weir__graph_inlet *weir__graph_inlet_of(
	const struct weir_flow *flow)
{
	return (struct weir__graph_inlet *)(void *)(uintptr_t)flow->args;
}

/* kind->free of inlets: the graph, if it is there, forgets it. */
void weir__graph_inlet_free(struct weir_flow *flow);

/* The graph has failed, unless it has before; the origin lives for ever. `code`. */
int weir__graph_fail(struct weir_flow_graph *graph, int code,
		     const char *origin, const char *message);

#endif
