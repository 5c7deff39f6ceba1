/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a flow leaves its run by an out-port: what is above becomes a stage with
 * that port, and in its place stands an operator that ends as the stage does.
 */
#ifndef WEIR_FLOW_EXIT_H
#define WEIR_FLOW_EXIT_H

#include <weir/reactive.h>

#include "flow/flow.h"

/*
 * The operator for `flow`, with what is above it in a stage. `join` is called
 * when that is there: it joins its out-port to what is below, by `reactive` if
 * that is a subscriber; both live as long as the stage. 0 or a negative errno.
 * As weir__build() otherwise.
 */
struct weir__op *weir__exit_build(
	struct weir__build *build, const struct weir_flow *flow,
	int (*join)(struct weir__stage *stage, const struct weir_flow *flow,
		    struct weir_reactive_out *reactive));

/*
 * For `join`: the out-port is linked to `in`, or is about to be. What it has put
 * there is the in-port's: a cancelled run does not wait until that is taken.
 */
void weir__exit_linked(struct weir__stage *stage, struct weir_in *in);

/* The run is cancelled: nothing below its exits keeps it. Any thread; locked. */
void weir__exits_cancel(struct weir_flow_run *run);

#endif
