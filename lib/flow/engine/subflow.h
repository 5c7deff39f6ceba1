/* SPDX-License-Identifier: BSD-2-Clause */
/* Nested flows: inside an operator, in its actor. */
#ifndef WEIR_FLOW_ENGINE_SUBFLOW_H
#define WEIR_FLOW_ENGINE_SUBFLOW_H

#include "flow/engine/op.h"

/*
 * Makes the operators of a nested flow, in the actor of `op`; in it,
 * weir_flow_async() without an executor does nothing. NULL: *code says why:
 * -ENOMEM; -ENOTSUP, see weir__flow_needs_island(); the error of
 * weir_flow_start() for the flow; or the error that making an operator failed
 * with. `flow` is borrowed until weir__op_free_nested(), which cancels the
 * nested operators if they have not ended. Owner.
 */
struct weir__op *weir__op_nest(struct weir__op *op, struct weir_flow *flow,
			       int *code);
/*
 * The same for the flow i above `op`, whose kind is `lazy`: that flow was
 * checked and claimed with the run.
 */
struct weir__op *weir__op_nest_up(struct weir__op *op, uint32_t i, int *code);
void weir__op_free_nested(struct weir__op *nested);

/*
 * The name of the first operator in the flow that needs an actor of its own,
 * and so cannot be nested in a flow that runs on `executor`; or NULL.
 */
const char *weir__flow_needs_island(const struct weir_flow *flow,
				    const struct weir_executor *executor);

#endif
