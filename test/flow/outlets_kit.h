/* SPDX-License-Identifier: BSD-2-Clause */
/* Outlets of operators of the user's, as the tests of them use them. */
#ifndef WEIR_TEST_FLOW_OUTLETS_KIT_H
#define WEIR_TEST_FLOW_OUTLETS_KIT_H

#include "flow/fan_kit.h"
#include "flow/world.h"

#define WAYS 3

/* --- Outlets that are asked by hand --------------------------------------- */

/* Each outlet behind a gate, into a collection of its own. */
struct gated_way {
	struct flow_world gate; /* of which the gate's part is used */
	struct got got;
};

extern struct gated_way gated_ways[WAYS];

/* One flow of all outlets, of counted items; `open` items may pass each. */
struct weir_flow *gated(struct weir_flow **outlets, size_t n, size_t open);
void let(struct trial *trial, size_t way, size_t n);

/* --- An operator that keeps an item for each outlet ----------------------- */

/* What a test sees, and tells it to do. */
struct seen {
	size_t n; /* outlets */
	int pulls[WAYS], cancels[WAYS], closes, ends;
	bool ends_with_one; /* when an outlet is cancelled */
};

struct seen *seen_of(const struct weir_operator *op);

/*
 * Each item goes to the outlet of its remainder; one that is not wanted there
 * is kept, and nothing is asked for meanwhile. Its context is a struct seen.
 */
extern const struct weir_operator_ops splits;

/* `n` outlets of counted items, with links of `capacity`. */
void split(struct weir_flow *flow, const struct weir_operator_ops *ops,
	   struct seen *seen, size_t n, size_t capacity,
	   struct weir_flow **outlets);

/* With one outlet, which this is. */
struct weir_flow *one_outlet(struct weir_flow *flow,
			     const struct weir_operator_ops *ops);

#endif
