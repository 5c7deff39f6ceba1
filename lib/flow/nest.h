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
/*
 * The same with what was made of an item: a failed flow is the item's failure,
 * see weir__op_survives(), and any other error ends `op`. False: there is none.
 */
bool weir__nest_open_for_item(struct weir__nest *nest, struct weir__op *op,
			      struct weir_flow *flow);
/*
 * Pulls it until it has nothing now, has ended, or has filled the room: so what
 * comes out first does not depend on how much comes at once. Not without end.
 */
size_t weir__nest_pull(struct weir__nest *nest, void **items, size_t room);
/* True: it has ended well, or there is none. An error ends `op`. */
bool weir__nest_is_over(const struct weir__nest *nest, struct weir__op *op);
/* Cancels it if it has not ended, and frees it; harmless if there is none. */
void weir__nest_close(struct weir__nest *nest);

#endif
