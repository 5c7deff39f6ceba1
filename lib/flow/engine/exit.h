/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An exit: where a flow leaves its run by an out-port. The operators above the
 * exit become an island with that out-port. In their place stands an operator
 * that ends as the island does.
 */
#ifndef WEIR_FLOW_ENGINE_EXIT_H
#define WEIR_FLOW_ENGINE_EXIT_H

#include <weir/reactive.h>

#include "flow/engine/build.h"

/*
 * Builds the island of the operators above `flow`, and the operator that stands
 * for it. `join` is called when the island is made: it joins the island's
 * out-port to an in-port or, by `reactive`, to a subscriber; 0 or a negative
 * errno. `reactive` lives as long as the island. Otherwise as weir__build().
 */
struct weir__op *weir__exit_build(
	struct weir__build *build, const struct weir_flow *flow,
	int (*join)(struct weir__island *island, const struct weir_flow *flow,
		    struct weir_reactive_out *reactive));

/*
 * For `join`: the out-port is linked to `in`, or is about to be. Tokens in the
 * in-port are the other actor's: a cancelled run does not wait until they are
 * taken.
 */
void weir__exit_linked(struct weir__island *island, struct weir_in *in);

/* The run is cancelled: the actors below its exits do not keep it from being
 * over. Any thread; holds the run's lock. */
void weir__exits_cancel(struct weir_flow_run *run);

#endif
