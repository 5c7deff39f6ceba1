/* SPDX-License-Identifier: BSD-2-Clause */
/* A nested flow: one that a function of the user's has made, and that runs
 * inside an operator. */
#ifndef WEIR_FLOW_SHARED_NEST_H
#define WEIR_FLOW_SHARED_NEST_H

#include "flow/engine/op.h"

struct weir__nest {
	struct weir_flow *flow;
	struct weir__op *op; /* NULL: there is none */
};

/*
 * Takes over `flow`, which may be NULL, and opens it inside `op`. NULL; or one
 * reference of the error: then `flow` is freed, and there is no nested flow. If
 * that is because no flow of its kinds can be here, *unfit is set; else it is
 * as it was. `unfit` may be NULL. Owner.
 */
WEIR_MUST_CHECK struct weir_error *weir__nest_open(struct weir__nest *nest,
						   struct weir__op *op,
						   struct weir_flow *flow,
						   bool *unfit);
/*
 * As weir__nest_open(), for a flow that was made for an item: a failed flow is
 * the failure of that item, see weir__op_unmade(), and any other error ends
 * `op`. False: there is no nested flow.
 */
bool weir__nest_open_for_item(struct weir__nest *nest, struct weir__op *op,
			      struct weir_flow *flow);
/*
 * Pulls the nested flow until it has no item now, has ended, or has filled the
 * room: so the order of items does not depend on how many come at once. The
 * number of pulls is bounded.
 */
size_t weir__nest_pull(struct weir__nest *nest, void **items, size_t room);
/* True: the nested flow has ended well, or there is none. An error of it ends
 * `op`. */
static inline bool weir__nest_is_over(const struct weir__nest *nest,
				      struct weir__op *op)
{
	const struct weir__op *nested = nest->op;

	if (nested && nested->ended && nested->error)
		weir__op_end(op, nested->error);
	return !op->ended && (!nested || nested->ended);
}

/* Cancels the nested flow if it has not ended, and frees it; harmless if there
 * is none. */
void weir__nest_close(struct weir__nest *nest);

#endif
