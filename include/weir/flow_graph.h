/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs of flows, for shapes that nested calls cannot express: flows end at
 * named outlets and begin at named inlets, which are connected in any order,
 * also in circles.
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
 * An error makes the graph a failed graph, and weir_flow_graph_build() reports
 * the first error. Names are borrowed for ever. One thread at a time.
 */
#ifndef WEIR_FLOW_GRAPH_H
#define WEIR_FLOW_GRAPH_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_flow_graph;

/*
 * A new empty graph in *graph, which the caller builds or frees. -EINVAL: null.
 * -ENOMEM; then *graph is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_graph_new(
	struct weir_flow_graph **graph);

/* Frees the graph, and the flows that were added. NULL is fine. */
WEIR_API void weir_flow_graph_free(struct weir_flow_graph *graph);

/*
 * Takes over a flow that ends at the outlet `outlet`; NULL: the flow is an end
 * of the graph. -EINVAL: null. -EEXIST: there is such an outlet. -EBUSY:
 * another operator has taken over the flow. -ENOMEM. The error of
 * weir_flow_check() for the flow.
 */
WEIR_API int weir_flow_graph_add(struct weir_flow_graph *graph,
				 const char *outlet, struct weir_flow *flow);

/*
 * A flow that emits the items of the outlet that it will be connected to. In a
 * circle, weir_flow_items() must say what these items are. Fails: -EINVAL,
 * null; -EEXIST, there is such an inlet. A run before the graph is built fails
 * with -EINVAL.
 *
 * Emits: each item. Completes: when the flow at the outlet does. Cancels: the
 * flow at the outlet, when downstream does. Holds: the capacity of the
 * connection.
 */
WEIR_API struct weir_flow *weir_flow_graph_inlet(struct weir_flow_graph *graph,
						 const char *name);

/*
 * Connects an outlet to an inlet. With a `capacity`, a power of two, the flow
 * at the outlet is an actor of its own, and the link between holds up to
 * `capacity` items. With a `capacity` of 0 the flow at the outlet is fused with
 * the flow at the inlet. Outlet and inlet may be added in either order.
 * -EINVAL: null, a bad capacity. -ENOENT: there is no such outlet or inlet.
 * -EISCONN: one of them is connected.
 */
WEIR_API int weir_flow_graph_connect(struct weir_flow_graph *graph,
				     const char *outlet, const char *inlet,
				     size_t capacity);

/*
 * Makes one flow of the graph, and frees the graph. With one end, the flow
 * emits the items of that end; with several, it is weir_flow_all() of them.
 * Fails with the error of the first call on the graph that has failed. Fails
 * with -EINVAL, and the name of the culprit as the origin, for an outlet or
 * inlet that is not connected, an inlet that is not used, or a circle of
 * connections without capacity. Fails with -EINVAL for a graph without ends.
 *
 * A circle completes when one of its flows does. So a circle must have an
 * operator that does not wait for the others (weir_flow_merge_eager(), a kill
 * switch). It must not make more items than it holds, or it waits for ever. A
 * circle cannot be in a nested flow: -ENOTSUP.
 *
 * Emits: each item of its only end; with several ends, nothing. Completes: when
 * all ends have. Cancels: all ends, when downstream does. Holds: the items that
 * its flows and connections hold.
 */
WEIR_API struct weir_flow *weir_flow_graph_build(struct weir_flow_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
