/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a flow that run as actors of their own. */
#ifndef WEIR_FLOW_ENGINE_ASYNC_H
#define WEIR_FLOW_ENGINE_ASYNC_H

#include "flow/engine/kind.h"

/*
 * The name of the first operator in the flow that needs an actor of its own,
 * and so cannot be nested in a flow that runs on `executor`; or NULL.
 */
const char *weir__flow_needs_island(const struct weir_flow *flow,
				    const struct weir_executor *executor);

#endif
