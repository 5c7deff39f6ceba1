/* SPDX-License-Identifier: BSD-2-Clause */
/* A flow that a function of the user's has made, inside of an operator. */
#ifndef WEIR_FLOW_NEST_H
#define WEIR_FLOW_NEST_H

#include "flow/flow.h"

struct weir__nest {
	struct weir_flow *flow;
	struct weir__op *op; /* NULL: there is none */
};

/*
 * Takes over `flow`, which may be NULL, and opens it inside of `op`: NULL, or
 * one reference of the error, and then it is freed and there is none. Owner.
 */
WEIR_MUST_CHECK struct weir_error *weir__nest_open(struct weir__nest *nest,
						   struct weir__op *op,
						   struct weir_flow *flow);
/* Cancels it if it has not ended, and frees it; harmless if there is none. */
void weir__nest_close(struct weir__nest *nest);

#endif
