/* SPDX-License-Identifier: BSD-2-Clause */
/* The items that the flows of a blueprint emit. */
#ifndef WEIR_FLOW_ENGINE_ITEMS_H
#define WEIR_FLOW_ENGINE_ITEMS_H

#include <stdbool.h>

#include "flow/engine/kind.h"

/* The items of a flow that emits none, or whose items are not known yet. */
extern const struct weir_items weir__items_any;
/* kind->items of such flows. */
const struct weir_items *weir__gives_any(const struct weir_flow *flow);

/* The items that the flow emits, as far as its blueprint says. */
const struct weir_items *weir__flow_items(const struct weir_flow *flow);

/* True: items of one kind may come where the other is expected. */
bool weir__items_fit(const struct weir_items *a, const struct weir_items *b);

/* What messages call them. */
const char *weir__items_called(const struct weir_items *items);

struct weir__misfit {
	const struct weir_flow *flow; /* that cannot take its input */
	char text[128];		      /* why */
};

/* True: *misfit is the first one of this node and all nodes above. */
bool weir__flow_misfit(const struct weir_flow *flow,
		       struct weir__misfit *misfit);

#endif
