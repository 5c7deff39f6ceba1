/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A boundary whose writer need not wait for room: a ring with a lock that is
 * taken once for a batch. The writer is an island of its own, so it goes on
 * while the reader is not asked for items. A link could not do that: an island
 * that writes into a link waits for input and room at once.
 */
#ifndef WEIR_FLOW_SHARED_PIPE_H
#define WEIR_FLOW_SHARED_PIPE_H

#include <weir/flow_rate.h>

#include "flow/engine/build.h"

/*
 * Builds both ends of a pipe for `flow`. make() makes the writer, the root of
 * an island; the items that it emits go into the pipe. Returns the operator
 * that reads the pipe. NULL: *build->code says why.
 */
struct weir__op *weir__pipe_build(
	struct weir__build *build, const struct weir_flow *flow, size_t n,
	enum weir_overflow strategy,
	struct weir__op *(*make)(struct weir__build *build,
				 const struct weir_flow *flow));

/*
 * The same for a writer that puts an item only when the reader asks for it: it
 * is pulled with as much room as the reader was, and has not got; with none in
 * between, too, whenever there may be something to do.
 */
struct weir__op *weir__pipe_build_on_demand(
	struct weir__build *build, const struct weir_flow *flow,
	struct weir__op *(*make)(struct weir__build *build,
				 const struct weir_flow *flow));

/* True: an item is in the pipe, and the writer is woken when it has been taken.
 * The writer, in its pull. */
bool weir__pipe_waits(const struct weir__op *writer);

/* The writer takes back the oldest item. False: there is none. */
bool weir__pipe_take_back(const struct weir__op *writer, void **item);

#endif
