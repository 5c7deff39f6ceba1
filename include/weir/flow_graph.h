/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs of flows that calls alone cannot nest: flows end at named outlets and
 * begin at named inlets, which are connected in any order, also in circles.
 *
 *	weir_flow_graph_new(&graph);
 *	tasks = weir_flow_merge((struct weir_flow *[]){
 *		source, weir_flow_graph_inlet(graph, "again")}, 2);
 *	weir_flow_partition(weir_flow_map(tasks, try, NULL), 2, is_done, NULL,
 *			    ways, NULL);
 *	weir_flow_graph_add(graph, NULL, weir_flow_for_each(ways[0], ...));
 *	weir_flow_graph_add(graph, "failed", ways[1]);
 *	weir_flow_graph_connect(graph, "failed", "again", 64);
 *	flow = weir_flow_graph_build(graph);
 *
 * What goes wrong makes the graph a failed one, which building it reports. Names
 * are borrowed for ever. One thread at a time.
 */
#ifndef WEIR_FLOW_GRAPH_H
#define WEIR_FLOW_GRAPH_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_flow_graph;

/*
 * An empty graph in *graph, to be built or freed. -EINVAL: null. -ENOMEM; then
 * *graph is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_graph_new(
	struct weir_flow_graph **graph);

/* Frees it, and the flows that were added. NULL is fine. */
WEIR_API void weir_flow_graph_free(struct weir_flow_graph *graph);

/*
 * Takes over a flow that ends at the outlet `outlet`, or, NULL, is an end of the
 * graph. -EINVAL: null. -EEXIST: there is such an outlet. -EBUSY: a flow that
 * another has taken over. -ENOMEM. What weir_flow_check() says of the flow.
 */
WEIR_API int weir_flow_graph_add(struct weir_flow_graph *graph,
				 const char *outlet, struct weir_flow *flow);

/*
 * A flow that puts out what the outlet that it will be connected to does. Of a
 * circle, weir_flow_items() must say what items those are. It fails: -EINVAL:
 * null; -EEXIST: there is such an inlet. A run before the graph is built fails
 * with -EINVAL.
 *
 * Emits: each item. Completes: when the flow at the outlet does. Cancels: that,
 * when downstream does. Holds: the capacity of the connection.
 */
WEIR_API struct weir_flow *weir_flow_graph_inlet(struct weir_flow_graph *graph,
						 const char *name);

/*
 * Connects an outlet to an inlet: `capacity` items are held between, a power of
 * two, and the flow at the outlet is an actor of its own; with 0 it is fused to
 * that at the inlet. -EINVAL: null, a bad capacity. -ENOENT: there is no such
 * outlet or inlet. -EISCONN: one of them is connected. Either may be added
 * before or after the other.
 */
WEIR_API int weir_flow_graph_connect(struct weir_flow_graph *graph,
				     const char *outlet, const char *inlet,
				     size_t capacity);

/*
 * The graph as a flow, whose inputs are the ends that were added: what comes out
 * of the only one, or, of several, weir_flow_all() of them. Frees the graph.
 * Fails as the first call did that has failed; -EINVAL, with its name as origin,
 * for an outlet or inlet that is not connected, an inlet that is not used, a
 * circle of connections with no capacity; a graph without ends.
 *
 * A circle completes when one of its flows does: it must have one that does not
 * wait for the others (weir_flow_merge_eager(), a kill switch), and it must not
 * make more items than it holds, or it waits for ever. It cannot be nested:
 * -ENOTSUP.
 *
 * Emits: what its only end puts out; of several, nothing. Completes: when all
 * ends have. Cancels: all ends, when downstream does. Holds: what its flows and
 * connections do.
 */
WEIR_API struct weir_flow *weir_flow_graph_build(struct weir_flow_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
