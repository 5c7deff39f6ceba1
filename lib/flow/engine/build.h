/* SPDX-License-Identifier: BSD-2-Clause */
/* How a run is made of a blueprint. */
#ifndef WEIR_FLOW_ENGINE_BUILD_H
#define WEIR_FLOW_ENGINE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/out.h>

#include "flow/engine/op.h"

struct weir__island;

/* What is being built; each branch gets a copy. */
struct weir__build {
	struct weir_flow_run *run;
	struct weir__island *island;
	struct weir__tree *tree;
	struct weir_executor *executor;
	enum weir_directive (*decide)(struct weir_error *error, void *context);
	void *decide_context;
	/*
	 * Of the operator made next: not 0: it asks for the items that the
	 * operator below grants, at most that many at once. 0: it asks for as
	 * many as it has room for.
	 */
	uint32_t credit;
	uint32_t ahead; /* of an inlet: room for that many more, from the
			 * start */
	bool held;	/* of an inlet: no room until it is first pulled */
	uint32_t fans;	/* as in struct weir__inlet */
	bool nested;
	int *code; /* why it failed */
};

/* Builds the operators of `flow` and of all flows above; NULL: *build->code
 * says why. */
struct weir__op *weir__build(struct weir__build *build,
			     const struct weir_flow *flow);
/* Builds the operators above this node, and the node's own upon them. */
struct weir__op *weir__op_new(struct weir__build *build,
			      const struct weir_flow *flow);
/* Builds the node's operator upon `up`, which was built; a NULL `up` is one
 * that could not be built. */
struct weir__op *weir__op_upon(struct weir__build *build,
			       const struct weir_flow *flow,
			       struct weir__op *up);
/* Builds an operator that has no operator above it in its island, and
 * opens it. */
struct weir__op *weir__op_leaf(struct weir__build *build,
			       const struct weir_flow *flow,
			       const struct weir__kind *kind,
			       const struct weir_items *items);
/*
 * Makes another island of `up`, with a link into this island. Returns the
 * operator that takes from the link.
 */
struct weir__op *weir__build_cut(struct weir__build *build,
				 const struct weir_flow *up,
				 struct weir_executor *executor,
				 size_t capacity);
/* Builds an operator that takes from a link of `out`, whose tokens are `items`;
 * `out` NULL: the link is made later. */
struct weir__op *weir__build_inlet(struct weir__build *build,
				   const struct weir_flow *flow,
				   struct weir_out *out,
				   const struct weir_items *items,
				   size_t capacity);

/*
 * True: a fan above has failed and has ended its outlets, and its error is on
 * its way to this operator for sure. An operator below that is about to cancel
 * this one because of an error must let the fan's error arrive first. Owner.
 */
bool weir__op_awaits(const struct weir__op *op);

#endif
