/* SPDX-License-Identifier: BSD-2-Clause */
/* How runs begin. */
#ifndef WEIR_FLOW_ENGINE_START_H
#define WEIR_FLOW_ENGINE_START_H

#include <stdbool.h>

#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/engine/run.h"

/*
 * False in close() of a run that could not be made: so a source that can run
 * only once has not run.
 */
static inline bool weir__op_begun(const struct weir__op *op)
{
	return op->island->run->begun;
}

/* True: weir_flow_start() accepts the options. */
bool weir__run_options_valid(const struct weir_flow_run_options *options);

#endif
