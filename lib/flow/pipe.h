/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A boundary whose writer need not wait for room: a ring behind a lock, that is
 * taken once for a batch. The writer is a stage of its own, so that it goes on
 * while nobody asks its reader for anything, which a link and a stage that waits
 * for input and room at once could not do.
 */
#ifndef WEIR_FLOW_PIPE_H
#define WEIR_FLOW_PIPE_H

#include <weir/flow_rate.h>

#include "flow/flow.h"

struct weir__pipe;

/*
 * A stage of `root`'s is made by make(), which gets the pipe; what comes out of
 * that goes into the pipe. Returns the operator that reads it. `flow` is whom
 * both are of. NULL: *build->code says why.
 */
struct weir__op *weir__pipe_build(
	struct weir__build *build, const struct weir_flow *flow, size_t n,
	enum weir_flow_buffer strategy,
	struct weir__op *(*make)(struct weir__build *build,
				 const struct weir_flow *flow,
				 struct weir__pipe *pipe));

/* The writer takes back the oldest item. False: there is none. */
bool weir__pipe_take_back(struct weir__pipe *pipe, void **item);

#endif
