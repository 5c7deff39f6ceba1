/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operators that the suites hold to the rules, and ownership.c to their
 * items: one line each, at the end.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_OPERATORS_H
#define WEIR_TEST_FLOW_VERIFY_OPERATORS_H

#include "flow/verify_fans.h"
#include "flow/verify_parts.h"

int keep_none(void *item, void *context);

/* --- Buffers, rates and time ---------------------------------------------- */

int only_one(void **item, void *context);
struct weir_flow *upon_grouped(struct weir_flow *flow,
			       const struct weir_items *items);
struct weir_flow *upon_grouped_within(struct weir_flow *flow,
				      const struct weir_items *items);
struct weir_flow *upon_grouped_weighted(struct weir_flow *flow,
					const struct weir_items *items);
struct weir_flow *upon_grouped_up_to(struct weir_flow *flow,
				     const struct weir_items *items);
struct weir_flow *upon_sliding(struct weir_flow *flow,
			       const struct weir_items *items);
struct weir_flow *upon_sliding_apart(struct weir_flow *flow,
				     const struct weir_items *items);

struct weir_flow *upon_materialize(struct weir_flow *flow,
				   const struct weir_items *items);

/* --- The table ------------------------------------------------------------ */

/* name, put_upon, unfused, holds, effect, mends, ends */
extern const struct way ways[];
extern const size_t n_ways;

#endif
