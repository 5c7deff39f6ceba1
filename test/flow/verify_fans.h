/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of verify_operators.c: operators with several flows or nested ones,
 * about errors, and of bytes.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_FANS_H
#define WEIR_TEST_FLOW_VERIFY_FANS_H

#include "flow/verify_kit.h"

struct weir_flow *no_items(const struct weir_items *items);

/* --- Several flows -------------------------------------------------------- */

struct weir_flow *upon_merges(struct weir_flow *flow,
			      const struct weir_items *items);
struct weir_flow *upon_merge_of_actors(struct weir_flow *flow,
				       const struct weir_items *items);
struct weir_flow *upon_zip(struct weir_flow *flow,
			   const struct weir_items *items);
struct weir_flow *upon_combine_latest(struct weir_flow *flow,
				      const struct weir_items *items);
struct weir_flow *upon_with_latest_from(struct weir_flow *flow,
					const struct weir_items *items);
struct weir_flow *upon_join(struct weir_flow *flow,
			    const struct weir_items *items);
struct weir_flow *upon_join_for_a_while(struct weir_flow *flow,
					const struct weir_items *items);
struct weir_flow *upon_group_join(struct weir_flow *flow,
				  const struct weir_items *items);
struct weir_flow *upon_group_join_for_a_while(struct weir_flow *flow,
					      const struct weir_items *items);
struct weir_flow *upon_turns(struct weir_flow *flow,
			     const struct weir_items *items);
struct weir_flow *upon_merge_sorted(struct weir_flow *flow,
				    const struct weir_items *items);
struct weir_flow *upon_merge_sorted_of_two(struct weir_flow *flow,
					   const struct weir_items *items);
struct weir_flow *upon_merge_sequence(struct weir_flow *flow,
				      const struct weir_items *items);

/* An error of one overtakes the items of the other. */
struct weir_flow *upon_merge_sequence_of_two(struct weir_flow *flow,
					     const struct weir_items *items);
struct weir_flow *upon_zip_all(struct weir_flow *flow,
			       const struct weir_items *items);
struct weir_flow *upon_amb(struct weir_flow *flow,
			   const struct weir_items *items);
struct weir_flow *upon_take_until(struct weir_flow *flow,
				  const struct weir_items *items);
struct weir_flow *upon_skip_until(struct weir_flow *flow,
				  const struct weir_items *items);
struct weir_flow *upon_concat(struct weir_flow *flow,
			      const struct weir_items *items);
struct weir_flow *upon_broadcast(struct weir_flow *flow,
				 const struct weir_items *items);
struct weir_flow *upon_also_to(struct weir_flow *flow,
			       const struct weir_items *items);
struct weir_flow *upon_wire_tap(struct weir_flow *flow,
				const struct weir_items *items);
struct weir_flow *upon_then(struct weir_flow *flow,
			    const struct weir_items *items);
struct weir_flow *upon_then_none(struct weir_flow *flow,
				 const struct weir_items *items);
struct weir_flow *upon_broadcast_to_some(struct weir_flow *flow,
					 const struct weir_items *items);
struct weir_flow *upon_balance(struct weir_flow *flow,
			       const struct weir_items *items);
struct weir_flow *upon_partition(struct weir_flow *flow,
				 const struct weir_items *items);

/* Not in order, and an error of one overtakes the items of the other. */
struct weir_flow *upon_partition_of_two(struct weir_flow *flow,
					const struct weir_items *items);
struct weir_flow *upon_graph(struct weir_flow *flow,
			     const struct weir_items *items);
struct weir_flow *upon_kill_switch(struct weir_flow *flow,
				   const struct weir_items *items);

/* Permits for whatever will ever pass. */
struct weir_flow *upon_acquire(struct weir_flow *flow,
			       const struct weir_items *items);

/* --- Errors, which they let pass ------------------------------------------ */

struct weir_flow *upon_recoveries(struct weir_flow *flow,
				  const struct weir_items *items);
struct weir_flow *upon_retries(struct weir_flow *flow,
			       const struct weir_items *items);

/* --- Errors, about which they do something -------------------------------- */

struct weir_flow *upon_recover(struct weir_flow *flow,
			       const struct weir_items *items);
struct weir_flow *upon_other_errors(struct weir_flow *flow,
				    const struct weir_items *items);
struct weir_flow *upon_tries(struct weir_flow *flow,
			     const struct weir_items *items);

/* --- Several at once ------------------------------------------------------ */

struct weir_flow *upon_map_parallel(struct weir_flow *flow,
				    const struct weir_items *items);
struct weir_flow *upon_unordered(struct weir_flow *flow,
				 const struct weir_items *items);
struct weir_flow *upon_partitioned(struct weir_flow *flow,
				   const struct weir_items *items);
struct weir_flow *upon_flat_map(struct weir_flow *flow,
				const struct weir_items *items);
struct weir_flow *upon_flat_map_of_several(struct weir_flow *flow,
					   const struct weir_items *items);
struct weir_flow *upon_ordered(struct weir_flow *flow,
			       const struct weir_items *items);
struct weir_flow *upon_ordered_of_several(struct weir_flow *flow,
					  const struct weir_items *items);
struct weir_flow *upon_switch_map(struct weir_flow *flow,
				  const struct weir_items *items);
struct weir_flow *upon_delays(struct weir_flow *flow,
			      const struct weir_items *items);
struct weir_flow *upon_delays_of_failures(struct weir_flow *flow,
					  const struct weir_items *items);

/* --- Bytes ---------------------------------------------------------------- */

int to_line(void **item, void *context);
struct weir_flow *to_bytes(struct weir_flow *flow,
			   int (*map)(void **item, void *context),
			   const struct weir_items *items);
struct weir_flow *from_bytes(struct weir_flow *flow,
			     const struct weir_items *items);
struct weir_flow *upon_lines(struct weir_flow *flow,
			     const struct weir_items *items);
struct weir_flow *upon_lines_of_pieces(struct weir_flow *flow,
				       const struct weir_items *items);
struct weir_flow *upon_delimited(struct weir_flow *flow,
				 const struct weir_items *items);
struct weir_flow *upon_length_prefixed(struct weir_flow *flow,
				       const struct weir_items *items);
struct weir_flow *upon_length_field(struct weir_flow *flow,
				    const struct weir_items *items);
struct weir_flow *upon_json_objects(struct weir_flow *flow,
				    const struct weir_items *items);

#endif
