/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/verify_operators.h"

static int pass_index(void **item, uint64_t index, void *context)
{
	return called();
}

static int pass_wanted(void **item, void *context)
{
	return called_and();
}

int keep_none(void *item, void *context)
{
	return called();
}

static int number_of(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)((struct good *)item)->number;
	return called();
}

/* --- One after the other -------------------------------------------------- */

static struct weir_flow *upon_nothing(struct weir_flow *flow,
				      const struct weir_items *items)
{
	return flow;
}

WEIR_FLOW_MAP(pass)

static struct weir_flow *upon_maps(struct weir_flow *flow,
				   const struct weir_items *items)
{
	flow = weir_flow_same_items(weir_flow_map(flow, pass, NULL));
	flow = weir_flow_same_items(weir_flow_map_n(flow, pass_n, NULL));
	return weir_flow_same_items(weir_flow_index(flow, pass_index, NULL));
}

static struct weir_flow *upon_filters(struct weir_flow *flow,
				      const struct weir_items *items)
{
	flow = weir_flow_filter(flow, keep, NULL);
	flow = weir_flow_same_items(
		weir_flow_filter_map(flow, pass_wanted, NULL));
	return weir_flow_distinct_until_changed(flow, number_of, NULL);
}

static struct weir_flow *upon_distinct(struct weir_flow *flow,
				       const struct weir_items *items)
{
	return weir_flow_distinct(flow, 4, number_of, NULL, NULL);
}

static struct weir_flow *upon_filter_of_none(struct weir_flow *flow,
					     const struct weir_items *items)
{
	return weir_flow_filter(flow, keep_none, NULL);
}

static struct weir_flow *upon_take_and_drop(struct weir_flow *flow,
					    const struct weir_items *items)
{
	flow = weir_flow_take(flow, INT64_MAX);
	return weir_flow_limit(weir_flow_drop(flow, 0), INT64_MAX);
}

static uint64_t one_each(void *item, void *context)
{
	return 1;
}

static struct weir_flow *upon_drop_last(struct weir_flow *flow,
					const struct weir_items *items)
{
	flow = weir_flow_limit_weighted(flow, UINT64_MAX, one_each, NULL);
	return weir_flow_drop_last(flow, 0);
}

static struct weir_flow *upon_drop_last_three(struct weir_flow *flow,
					      const struct weir_items *items)
{
	return weir_flow_drop_last(flow, 3);
}

static struct weir_flow *upon_limit_weighted(struct weir_flow *flow,
					     const struct weir_items *items)
{
	flow = weir_flow_limit_weighted(flow, 9, one_each, NULL);
	return weir_flow_complete_on_error(flow, NULL, NULL);
}

static struct weir_flow *upon_take_last(struct weir_flow *flow,
					const struct weir_items *items)
{
	return weir_flow_take_last(flow, 7);
}

static struct weir_flow *upon_whiles(struct weir_flow *flow,
				     const struct weir_items *items)
{
	flow = weir_flow_take_while(flow, keep, NULL, false);
	return weir_flow_drop_while(flow, keep_none, NULL);
}

static int expand_once(void *item, uint64_t i, void **out, void *context)
{
	int rc = called();

	if (rc < 0 || i > 0)
		return rc;
	*out = item;
	(void)goods_share(item, context);
	return 1;
}

static struct weir_flow *upon_map_concat(struct weir_flow *flow,
					 const struct weir_items *items)
{
	flow = weir_flow_map_concat(flow, expand_once, items->context);
	return ahead(weir_flow_items(flow, items));
}

static int expand_to_last(void *item, uint64_t i, void **out, void *context)
{
	int rc = expand_once(item, i, out, context);

	return rc == 1 ? WEIR_NEXT_LAST : rc;
}

static struct weir_flow *upon_map_concat_last(struct weir_flow *flow,
					      const struct weir_items *items)
{
	flow = weir_flow_map_concat(flow, expand_to_last, items->context);
	return weir_flow_items(flow, items);
}

static struct weir_flow *upon_intersperse_none(struct weir_flow *flow,
					       const struct weir_items *items)
{
	static const struct weir_flow_intersperse_functions none;

	return weir_flow_intersperse(flow, &none, NULL);
}

static struct weir_flow *upon_intersperse(struct weir_flow *flow,
					  const struct weir_items *items)
{
	static const struct weir_flow_intersperse_functions zeros = {
		zero_good, zero_good, zero_good};

	return weir_flow_intersperse(flow, &zeros, items->context);
}

static int step(void **state, void **item, void *context)
{
	return called_and();
}

static int flush(void **state, void **item, void *context)
{
	return called();
}

static struct weir_flow *upon_stateful_map(struct weir_flow *flow,
					   const struct weir_items *items)
{
	static const struct weir_flow_stateful_map_functions functions = {
		zero_good, step, flush, goods_drop};

	return ahead(weir_flow_same_items(
		weir_flow_stateful_map(flow, &functions, items->context)));
}

static struct weir_flow *upon_signals(struct weir_flow *flow,
				      const struct weir_items *items)
{
	flow = weir_flow_dematerialize(weir_flow_materialize(flow));
	return ahead(weir_flow_items(flow, items));
}

struct weir_flow *upon_materialize(struct weir_flow *flow,
				   const struct weir_items *items)
{
	return weir_flow_materialize(flow);
}

static struct weir_flow *upon_peek(struct weir_flow *flow,
				   const struct weir_items *items)
{
	static const struct weir_flow_peek_functions hooks;

	return weir_flow_peek(flow, &hooks, NULL);
}

/* The first result is none of the items. */
static struct weir_flow *upon_scan(struct weir_flow *flow,
				   const struct weir_items *items)
{
	static const struct weir_flow_fold_functions functions = {zero_good,
								  take_newest};

	flow = weir_flow_scan(flow, &functions, items->context);
	return ahead(weir_flow_drop(weir_flow_items(flow, items), 1));
}

/* --- Buffers, rates and time ---------------------------------------------- */

static struct weir_flow *upon_async(struct weir_flow *flow,
				    const struct weir_items *items)
{
	return weir_flow_async(flow, 4, NULL);
}

static struct weir_flow *upon_buffer(struct weir_flow *flow,
				     const struct weir_items *items)
{
	return weir_flow_buffer(flow, 8, WEIR_OVERFLOW_BACK_PRESSURE);
}

static struct weir_flow *upon_buffer_that_drops(struct weir_flow *flow,
						const struct weir_items *items)
{
	return weir_flow_buffer(flow, 2, WEIR_OVERFLOW_DROP_HEAD);
}

static struct weir_flow *upon_limit_rate(struct weir_flow *flow,
					 const struct weir_items *items)
{
	return weir_flow_limit_rate(flow, 5, 2);
}

static struct weir_flow *upon_conflate(struct weir_flow *flow,
				       const struct weir_items *items)
{
	static const struct weir_flow_conflate_functions functions = {
		pass, take_newest};

	return weir_flow_same_items(
		weir_flow_conflate(flow, &functions, items->context));
}

static struct weir_flow *upon_batch(struct weir_flow *flow,
				    const struct weir_items *items)
{
	static const struct weir_flow_conflate_functions functions = {
		pass, take_newest};

	flow = weir_flow_batch(flow, 3, &functions, items->context);
	return weir_flow_same_items(flow);
}

static uint64_t weigh(void *item, void *context);

static struct weir_flow *upon_batch_weighted(struct weir_flow *flow,
					     const struct weir_items *items)
{
	static const struct weir_flow_conflate_functions functions = {
		pass, take_newest};

	flow = weir_flow_batch_weighted(flow, 8, weigh, &functions,
					items->context);
	return weir_flow_same_items(flow);
}

int only_one(void **item, void *context)
{
	struct weir_flow_list *list = *item;
	int rc = called();

	if (rc < 0)
		return rc;
	assert_int_equal(list->n, 1);
	list->n = 0;
	*item = list->items[0];
	weir_flow_list_free(list);
	return 0;
}

/* Heavy enough to go alone. */
static uint64_t weigh(void *item, void *context)
{
	return 2 + (uint64_t)((struct good *)item)->number % 2;
}

static struct weir_flow *upon_groups_of_one(struct weir_flow *flow,
					    const struct weir_items *items)
{
	flow = weir_flow_map(weir_flow_grouped(flow, 1), only_one, NULL);
	flow = weir_flow_items(flow, items);
	flow = weir_flow_grouped_within(flow, 1, HOUR_NS);
	flow = weir_flow_items(weir_flow_map(flow, only_one, NULL), items);
	flow = weir_flow_grouped_weighted(flow, 2, weigh, NULL, 9, HOUR_NS);
	flow = weir_flow_items(weir_flow_map(flow, only_one, NULL), items);
	flow = weir_flow_grouped_up_to(flow, 2, weigh, NULL, 9, HOUR_NS);
	return weir_flow_items(weir_flow_map(flow, only_one, NULL), items);
}

struct weir_flow *upon_grouped(struct weir_flow *flow,
			       const struct weir_items *items)
{
	return weir_flow_grouped(flow, 5);
}

struct weir_flow *upon_grouped_within(struct weir_flow *flow,
				      const struct weir_items *items)
{
	return weir_flow_grouped_within(flow, 5, HOUR_NS);
}

struct weir_flow *upon_grouped_weighted(struct weir_flow *flow,
					const struct weir_items *items)
{
	return weir_flow_grouped_weighted(flow, 11, weigh, NULL, 9, 0);
}

struct weir_flow *upon_grouped_up_to(struct weir_flow *flow,
				     const struct weir_items *items)
{
	return weir_flow_grouped_up_to(flow, 11, weigh, NULL, 9, 0);
}

struct weir_flow *upon_sliding(struct weir_flow *flow,
			       const struct weir_items *items)
{
	return weir_flow_sliding(flow, 5, 2);
}

struct weir_flow *upon_sliding_apart(struct weir_flow *flow,
				     const struct weir_items *items)
{
	return weir_flow_sliding(flow, 2, 5);
}

static int64_t cost_one(void *item, void *context)
{
	int rc = called();

	return rc < 0 ? rc : 1;
}

static struct weir_flow *upon_throttle(struct weir_flow *flow,
				       const struct weir_items *items)
{
	const struct weir_flow_rate rate = {
		.n = UINT32_MAX,
		.per_ns = 1,
		.cost = cost_one,
	};

	return weir_flow_throttle(paced(flow), &rate);
}

/* Where no time passes, no timer may be waited for. */
static uint64_t span_ns(void)
{
	return pace_ns ? pace_ns + 1 : HOUR_NS;
}

static struct weir_flow *upon_debounce(struct weir_flow *flow,
				       const struct weir_items *items)
{
	return weir_flow_debounce(flow, span_ns());
}

static struct weir_flow *upon_sample(struct weir_flow *flow,
				     const struct weir_items *items)
{
	return weir_flow_sample(flow, span_ns(), true);
}

static struct weir_flow *upon_throttle_first(struct weir_flow *flow,
					     const struct weir_items *items)
{
	return weir_flow_throttle_first(flow, span_ns());
}

static struct weir_flow *upon_throttle_latest(struct weir_flow *flow,
					      const struct weir_items *items)
{
	return weir_flow_throttle_latest(flow, span_ns(), false);
}

static struct weir_flow *upon_backpressure_timeout(
	struct weir_flow *flow, const struct weir_items *items)
{
	return weir_flow_backpressure_timeout(flow, HOUR_NS);
}

static int zero_late(void **item, void *context)
{
	int rc = called();

	return rc < 0 ? rc : zero_good(item, context);
}

/* Seldom where an idle stream is to time out. */
static struct weir_flow *upon_keep_alive(struct weir_flow *flow,
					 const struct weir_items *items)
{
	bool often = pace_ns > 0 && pace_ns < 1000;

	return weir_flow_keep_alive(flow, often ? pace_ns : HOUR_NS, zero_late,
				    items->context);
}

/* Two more of each, if it is asked in time. */
static int share_last(void *last, uint64_t i, void **item, void *context)
{
	int rc = called();

	if (rc < 0 || i == 2)
		return rc;
	*item = last;
	(void)goods_share(last, context);
	return 1;
}

static struct weir_flow *upon_extrapolate(struct weir_flow *flow,
					  const struct weir_items *items)
{
	return weir_flow_extrapolate(flow, share_last, items->context);
}

static struct weir_flow *upon_withins(struct weir_flow *flow,
				      const struct weir_items *items)
{
	flow = weir_flow_take_within(flow, HOUR_NS);
	flow = weir_flow_drop_within(flow, 0);
	return weir_flow_initial_delay(flow, pace_ns);
}

static struct weir_flow *upon_take_within(struct weir_flow *flow,
					  const struct weir_items *items)
{
	return weir_flow_take_within(flow, pace_ns / 2);
}

static struct weir_flow *upon_drop_within(struct weir_flow *flow,
					  const struct weir_items *items)
{
	return weir_flow_drop_within(flow, pace_ns + 1);
}

/* Other goods than the one that waits, which stays where it is. */
static struct weir_flow *wait_for_goods(void *item, void *context)
{
	int64_t number = ((struct good *)item)->number;

	if (called() < 0)
		return NULL;
	return to_goods(weir_flow_range(number, number + number % 3), context);
}

static struct weir_flow *upon_delay_until(struct weir_flow *flow,
					  const struct weir_items *items)
{
	return weir_flow_delay_until(flow, wait_for_goods, (void *)items);
}

static struct weir_flow *wait_a_while(void *item, void *context)
{
	return called() < 0 ? NULL : paced(weir_flow_range(1, 2));
}

static struct weir_flow *upon_delay_until_later(struct weir_flow *flow,
						const struct weir_items *items)
{
	return weir_flow_delay_until(flow, wait_a_while, NULL);
}

static struct weir_flow *upon_delay(struct weir_flow *flow,
				    const struct weir_items *items)
{
	return weir_flow_delay(flow, pace_ns, 8);
}

static int64_t pace_of(void *item, void *context)
{
	int rc = called();

	return rc < 0 ? rc : (int64_t)pace_ns;
}

static struct weir_flow *upon_delay_with(struct weir_flow *flow,
					 const struct weir_items *items)
{
	const struct weir_flow_delay_options options = {.delay = pace_of,
							.n = 8};

	return weir_flow_delay_with(flow, &options);
}

static struct weir_flow *upon_early_delay(struct weir_flow *flow,
					  const struct weir_items *items)
{
	const struct weir_flow_delay_options options = {
		.delay = pace_of, .n = 2, .emit_early = true};

	return weir_flow_delay_with(flow, &options);
}

static struct weir_flow *upon_lossy_delay(struct weir_flow *flow,
					  const struct weir_items *items)
{
	const struct weir_flow_delay_options options = {
		.delay = pace_of,
		.n = 3,
		.overflow = WEIR_OVERFLOW_DROP_ALL,
	};

	return weir_flow_delay_with(flow, &options);
}

static struct weir_flow *upon_timeouts(struct weir_flow *flow,
				       const struct weir_items *items)
{
	flow = weir_flow_idle_timeout(flow, HOUR_NS);
	flow = weir_flow_initial_timeout(flow, HOUR_NS);
	return weir_flow_completion_timeout(flow, HOUR_NS);
}

/* --- The table ------------------------------------------------------------ */

const struct way ways[] = {
	{"nothing", upon_nothing, 0, 0},
	{"map, map_n, index", upon_maps, 0, 0},
	{"filter, filter_map, distinct_until_changed", upon_filters, 0, 0},
	{"distinct", upon_distinct, 0, 0},
	{"filter of none", upon_filter_of_none, 0, 0, CHANGES},
	{"unfused map", upon_maps, 4, 16},
	{"take, drop, limit", upon_take_and_drop, 0, 0},
	{"take_while, drop_while", upon_whiles, 0, 0},
	{"limit_weighted, drop_last", upon_drop_last, 0, 0},
	{"limit_weighted to nine", upon_limit_weighted, 0, 0, CHANGES, true,
	 true},
	{"drop_last of three", upon_drop_last_three, 0, 0, CHANGES},
	{"take_last", upon_take_last, 0, 0, CHANGES},
	{"map_concat", upon_map_concat, 0, 5},
	{"map_concat to the last", upon_map_concat_last, 0, 0},
	{"intersperse with none", upon_intersperse_none, 0, 1},
	{"intersperse", upon_intersperse, 0, 0, CHANGES},
	{"stateful_map", upon_stateful_map, 0, 4},
	{"materialize, dematerialize", upon_signals, 0, 4},
	{"materialize alone", upon_materialize, 0, 0, CHANGES, true},
	{"peek", upon_peek, 0, 0},
	{"scan", upon_scan, 0, 4},
	{"async", upon_async, 0, 4},
	{"buffer", upon_buffer, 0, 8},
	{"buffer that drops", upon_buffer_that_drops, 0, 0, CHANGES},
	{"limit_rate", upon_limit_rate, 0, 5},
	{"conflate", upon_conflate, 0, 0, CHANGES},
	{"batch", upon_batch, 0, 0, CHANGES},
	{"batch_weighted", upon_batch_weighted, 0, 0, CHANGES},
	{"grouped, grouped_within, grouped_weighted, grouped_up_to",
	 upon_groups_of_one, 0, 0},
	{"grouped by five", upon_grouped, 0, 0, CHANGES},
	{"grouped_within by five", upon_grouped_within, 0, 0, CHANGES},
	{"grouped_weighted to eleven", upon_grouped_weighted, 0, 0, CHANGES},
	{"grouped_up_to eleven", upon_grouped_up_to, 0, 0, CHANGES},
	{"sliding", upon_sliding, 0, 0, CHANGES},
	{"sliding that leaves some out", upon_sliding_apart, 0, 0, CHANGES},
	{"throttle", upon_throttle, 0, 2},
	{"debounce", upon_debounce, 0, 0, CHANGES},
	{"sample", upon_sample, 0, 0, CHANGES},
	{"throttle_first", upon_throttle_first, 0, 0, CHANGES},
	{"throttle_latest", upon_throttle_latest, 0, 0, CHANGES},
	{"take_within, drop_within, initial_delay", upon_withins, 0, 0, PASSES,
	 true},
	{"take_within that ends", upon_take_within, 0, 0, CHANGES, true, true},
	{"drop_within that drops", upon_drop_within, 0, 0, CHANGES},
	{"keep_alive", upon_keep_alive, 0, 0, CHANGES},
	{"extrapolate", upon_extrapolate, 0, 0, CHANGES},
	{"delay", upon_delay, 0, 8, OVERTAKEN},
	{"delay_with", upon_delay_with, 0, 8, OVERTAKEN},
	{"delay_with that emits early", upon_early_delay, 0, 2, OVERTAKEN},
	{"delay_with that drops", upon_lossy_delay, 0, 0, CHANGES},
	{"idle_timeout, initial_timeout, completion_timeout", upon_timeouts, 0,
	 0},
	{"backpressure_timeout", upon_backpressure_timeout, 0, 0},
	{"merge, merge_eager, merge_preferred", upon_merges, 0, 0},
	{"merge of actors", upon_merge_of_actors, 0, 4},
	{"zip", upon_zip, 0, 0},
	{"concat, prepend, or_else", upon_concat, 0, 0},
	{"combine_latest", upon_combine_latest, 0, 0, CHANGES},
	{"with_latest_from", upon_with_latest_from, 0, 0, CHANGES},
	{"join", upon_join, 0, 0, CHANGES},
	{"join for a while", upon_join_for_a_while, 0, 0, CHANGES},
	{"group_join", upon_group_join, 0, 0, CHANGES},
	{"group_join for a while", upon_group_join_for_a_while, 0, 0, CHANGES},
	{"interleave, merge_prioritized", upon_turns, 0, 0},
	{"merge_sorted", upon_merge_sorted, 0, 0},
	{"merge_sorted of two", upon_merge_sorted_of_two, 0, 0, CHANGES},
	{"merge_sequence", upon_merge_sequence, 0, 0},
	{"merge_sequence of two", upon_merge_sequence_of_two, 0,
	 4 + WEIR_FLOW_BATCH, CHANGES},
	{"zip_all", upon_zip_all, 0, 0},
	{"amb", upon_amb, 0, 0},
	{"take_until", upon_take_until, 0, 0},
	{"skip_until", upon_skip_until, 0, 0, CHANGES},
	{"broadcast", upon_broadcast, 0, 8},
	{"also_to", upon_also_to, 0, 4},
	{"wire_tap", upon_wire_tap, 0, 4},
	{"then", upon_then, 0, 0},
	{"then none", upon_then_none, 0, 0, CHANGES},
	{"broadcast to some", upon_broadcast_to_some, 0, 0, CHANGES},
	{"balance", upon_balance, 0, 4},
	{"partition", upon_partition, 0, 4 + WEIR_FLOW_BATCH},
	{"partition of two", upon_partition_of_two, 0, 0, CHANGES},
	{"graph_inlet, graph_build", upon_graph, 0, 4},
	{"kill_switch", upon_kill_switch, 0, 0},
	{"group_by", upon_group_by, 0, 12},
	{"group_by that opens again", upon_group_by_again, 0, 3},
	{"group_by of those that wait", upon_groups_that_wait, 0, 15 + 4},
	{"group_by of last ones", upon_last_of_groups, 0, 0, CHANGES},
	{"split_when, split_after", upon_splits, 0, 3},
	{"split_when, split_after of those that wait", upon_splits_that_wait, 0,
	 3 + 2},
	{"split_when, split_after of some", upon_takes_of_splits, 0, 0,
	 CHANGES},
	{"split_when, split_after of last ones", upon_last_of_splits, 0, 0,
	 CHANGES},
	{"window", upon_windows, 0, 2},
	{"window of those that wait", upon_windows_that_wait, 0, 2 + 2},
	{"window of some", upon_takes_of_windows, 0, 0, CHANGES},
	{"window of last ones", upon_last_of_windows, 0, 0, CHANGES},
	{"window_by", upon_window_by, 0, 1},
	{"window_by of last ones", upon_window_by_some, 0, 0, CHANGES},
	{"prefix_and_tail", upon_prefix, 0, 1 + 4},
	{"prefix_and_tail of five", upon_prefix_of_five, 0, 5 + 4, CHANGES},
	{"restart_around", upon_restart_around, 0, 0},
	{"restart_around of what ends", upon_restart_of_takes, 0, 4},
	{"operator", upon_operator, 0, 0},
	{"operator that waits", upon_operator_that_waits, 0, 1},
	{"operator_inputs", upon_operator_inputs, 0, 0},
	{"operator_inputs of actors", upon_operator_of_actors, 0, 8},
	{"operator_outlets", upon_operator_outlets, 0, 4},
	{"operator_outlets of two", upon_operator_of_two_outlets, 0, 0,
	 CHANGES},
	{"operator that runs ahead", upon_operator_that_runs_ahead, 0, 1},
	{"recover, map_error, complete_on_error", upon_recoveries, 0, 0},
	{"resume_with, retry", upon_retries, 0, 0},
	{"recover with an item", upon_recover, 0, 0, CHANGES, true},
	{"map_error, complete_on_error", upon_other_errors, 0, 0, CHANGES,
	 true},
	{"resume_with, retry with others", upon_tries, 0, 0, CHANGES, true},
	{"map_parallel", upon_map_parallel, 0, 16},
	{"map_parallel unordered", upon_unordered, 0, 16, CHANGES},
	{"map_parallel_partitioned", upon_partitioned, 0, 16},
	{"flat_map", upon_flat_map, 0, 1, OVERTAKEN},
	{"flat_map of several", upon_flat_map_of_several, 0, 3, CHANGES},
	{"flat_map_ordered", upon_ordered, 0, 2},
	{"flat_map_ordered of several", upon_ordered_of_several, 0, 0, CHANGES},
	{"switch_map", upon_switch_map, 0, 0, CHANGES},
	{"delay_until", upon_delay_until, 0, 1},
	{"delay_until later", upon_delay_until_later, 0, 1},
	{"merge, prepend, flat_map that delay errors", upon_delays, 0, 1},
	{"concat, flat_map of those that fail", upon_delays_of_failures, 0, 2,
	 CHANGES, true},
	{"acquire", upon_acquire, 0, 0},
	{"lines", upon_lines, 0, 0},
	{"lines of pieces", upon_lines_of_pieces, 0, 0, CHANGES},
	{"delimited", upon_delimited, 0, 0},
	{"length_prefixed", upon_length_prefixed, 0, 0},
	{"length_field", upon_length_field, 0, 0},
	{"json_objects", upon_json_objects, 0, 0},
};

const size_t n_ways = sizeof(ways) / sizeof(*ways);
