/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of verify_operators.c: operators that give what they take to flows which
 * are made upon it, and operators of your own.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_PARTS_H
#define WEIR_TEST_FLOW_VERIFY_PARTS_H

#include "flow/verify_kit.h"

#include <weir/supervision.h>

/* --- By key --------------------------------------------------------------- */

int key_of_three(void *item, uintptr_t *key, void *context);
struct weir_flow *upon_groups_that_wait(struct weir_flow *flow,
					const struct weir_items *items);
struct weir_flow *upon_group_by(struct weir_flow *flow,
				const struct weir_items *items);
struct weir_flow *upon_group_by_again(struct weir_flow *flow,
				      const struct weir_items *items);
struct weir_flow *upon_last_of_groups(struct weir_flow *flow,
				      const struct weir_items *items);

/* --- One behind the other ------------------------------------------------- */

int is_third(void *item, void *context);
struct weir_flow *upon_splits(struct weir_flow *flow,
			      const struct weir_items *items);
struct weir_flow *upon_splits_that_wait(struct weir_flow *flow,
					const struct weir_items *items);
struct weir_flow *upon_takes_of_splits(struct weir_flow *flow,
				       const struct weir_items *items);
struct weir_flow *upon_last_of_splits(struct weir_flow *flow,
				      const struct weir_items *items);
struct weir_flow *upon_windows(struct weir_flow *flow,
			       const struct weir_items *items);
struct weir_flow *upon_windows_that_wait(struct weir_flow *flow,
					 const struct weir_items *items);
struct weir_flow *upon_takes_of_windows(struct weir_flow *flow,
					const struct weir_items *items);
struct weir_flow *upon_last_of_windows(struct weir_flow *flow,
				       const struct weir_items *items);
struct weir_flow *upon_window_by(struct weir_flow *flow,
				 const struct weir_items *items);
struct weir_flow *upon_window_by_some(struct weir_flow *flow,
				      const struct weir_items *items);
struct weir_flow *upon_prefix(struct weir_flow *flow,
			      const struct weir_items *items);

/* An error that comes before the fifth drops those that are there. */
struct weir_flow *upon_prefix_of_five(struct weir_flow *flow,
				      const struct weir_items *items);

/* --- Made again ----------------------------------------------------------- */

struct weir_flow *upon_restart_around(struct weir_flow *flow,
				      const struct weir_items *items);

/* Each takes two; where time passes, the next one is waited for. */
struct weir_flow *upon_restart_of_takes(struct weir_flow *flow,
					const struct weir_items *items);

/* --- Of your own ---------------------------------------------------------- */

struct weir_flow *upon_operator(struct weir_flow *flow,
				const struct weir_items *items);
struct weir_flow *upon_operator_that_waits(struct weir_flow *flow,
					   const struct weir_items *items);
struct weir_flow *upon_operator_outlets(struct weir_flow *flow,
					const struct weir_items *items);
struct weir_flow *upon_operator_of_two_outlets(struct weir_flow *flow,
					       const struct weir_items *items);
struct weir_flow *upon_operator_inputs(struct weir_flow *flow,
				       const struct weir_items *items);
struct weir_flow *upon_operator_of_actors(struct weir_flow *flow,
					  const struct weir_items *items);
struct weir_flow *upon_operator_that_runs_ahead(struct weir_flow *flow,
						const struct weir_items *items);

#endif
