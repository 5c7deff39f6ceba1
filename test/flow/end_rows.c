/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/end_rows.h"

struct tap end_taps[2];

static struct weir_flow *the_other(const struct weir_items *items)
{
	return weir_flow_items(tap_flow(&end_taps[1]), items);
}

static int combine_goods(void *const *items, size_t n, void **result,
			 void *context)
{
	*result = items[0];
	goods_drop(items[1], context);
	return 0;
}

static struct weir_flow *upon_zip_of_two(struct weir_flow *flow,
					 const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, the_other(items)};

	flow = weir_flow_zip(both, 2, combine_goods, items->context);
	return weir_flow_items(flow, items);
}

static struct weir_flow *upon_merge_of_two(struct weir_flow *flow,
					   const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, the_other(items)};

	return weir_flow_merge(both, 2);
}

static struct weir_flow *upon_preferred(struct weir_flow *flow,
					const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, the_other(items)};

	return weir_flow_merge_preferred(both, 2);
}

static int share_first_good(void *const *items, size_t n, void **result,
			    void *context)
{
	*result = items[0];
	return goods_share(items[0], context);
}

static struct weir_flow *upon_latest(struct weir_flow *flow,
				     const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, weir_flow_single(NULL)};

	flow = weir_flow_combine_latest(both, 2, share_first_good,
					items->context);
	return weir_flow_items(flow, items);
}

/* The second time with the word that it was the last. */
static int share_twice(void *item, uint64_t i, void **out, void *context)
{
	*out = item;
	(void)goods_share(item, context);
	return i == 0 ? 1 : WEIR_NEXT_LAST;
}

static struct weir_flow *upon_pairs(struct weir_flow *flow,
				    const struct weir_items *items)
{
	flow = weir_flow_map_concat(flow, share_twice, items->context);
	return weir_flow_items(flow, items);
}

/* The other has its item at once, and ends when it likes. */
static struct weir_flow *upon_latest_of_two(struct weir_flow *flow,
					    const struct weir_items *items)
{
	struct weir_flow *one = to_goods(weir_flow_range(1, 1), items);
	struct weir_flow *both[] = {flow,
				    weir_flow_prepend(the_other(items), one)};

	flow = weir_flow_combine_latest(both, 2, share_first_good,
					items->context);
	return weir_flow_items(flow, items);
}

static int keep_item(void **item, void *newest, void *context)
{
	return 0;
}

static struct weir_flow *upon_latest_from(struct weir_flow *flow,
					  const struct weir_items *items)
{
	flow = weir_flow_with_latest_from(flow, weir_flow_single(NULL),
					  keep_item, NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *upon_zip_all_of_two(struct weir_flow *flow,
					     const struct weir_items *items)
{
	static void *const padding[2];
	struct weir_flow *both[] = {flow, the_other(items)};

	flow = weir_flow_zip_all(both, 2, padding, combine_goods,
				 items->context);
	return weir_flow_items(flow, items);
}

static struct weir_flow *upon_interleave(struct weir_flow *flow,
					 const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, the_other(items)};

	return weir_flow_interleave(both, 2, 2);
}

static struct weir_flow *upon_prioritized(struct weir_flow *flow,
					  const struct weir_items *items)
{
	static const uint32_t weights[] = {2, 1};
	struct weir_flow *both[] = {flow, the_other(items)};

	return weir_flow_merge_prioritized(both, 2, weights);
}

static int compare_goods(void *a, void *b, void *context)
{
	int64_t x = ((struct good *)a)->number, y = ((struct good *)b)->number;

	return (x > y) - (x < y);
}

static struct weir_flow *upon_sorted(struct weir_flow *flow,
				     const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, the_other(items)};

	return weir_flow_merge_sorted(both, 2, compare_goods, NULL);
}

static struct weir_flow *upon_amb_with_never(struct weir_flow *flow,
					     const struct weir_items *items)
{
	struct weir_flow *both[] = {weir_flow_never(), flow};

	return weir_flow_amb(both, 2);
}

static struct weir_flow *upon_lazy(struct weir_flow *flow,
				   const struct weir_items *items)
{
	return weir_flow_lazy(flow);
}

static struct weir_flow *upon_lazy_concat(struct weir_flow *flow,
					  const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, weir_flow_lazy(the_other(items))};

	return weir_flow_concat(both, 2);
}

static struct weir_flow *upon_take_until_never(struct weir_flow *flow,
					       const struct weir_items *items)
{
	return weir_flow_take_until(flow, weir_flow_never());
}

static struct weir_flow *upon_skip_until_now(struct weir_flow *flow,
					     const struct weir_items *items)
{
	return weir_flow_skip_until(flow, weir_flow_empty());
}

static struct weir_flow *upon_slow_throttle(struct weir_flow *flow,
					    const struct weir_items *items)
{
	static const struct weir_flow_rate rate = {.n = 1, .per_ns = WAIT_NS};

	return weir_flow_throttle(flow, &rate);
}

static struct weir_flow *upon_throttled_merge(struct weir_flow *flow,
					      const struct weir_items *items)
{
	return upon_slow_throttle(upon_preferred(flow, items), items);
}

static struct weir_flow *upon_concat_of_two(struct weir_flow *flow,
					    const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, the_other(items)};

	return weir_flow_concat(both, 2);
}

/* A block of two lines. */
static int to_lines(void **item, void *context)
{
	struct weir_flow_bytes *bytes;

	assert_int_equal(weir_flow_bytes_new(&bytes, 4, NULL), 0);
	memcpy(bytes->data, "1\n2\n", 4);
	goods_drop(*item, context);
	*item = bytes;
	return 0;
}

static struct weir_flow *in_lines(struct weir_flow *flow,
				  const struct weir_items *items)
{
	flow = weir_flow_lines(to_bytes(flow, to_lines, items), 32);
	return from_bytes(flow, items);
}

static struct weir_flow *lines_of_part(struct weir_flow *upstream,
				       void *context)
{
	return in_lines(upstream, context);
}

static struct weir_flow *upon_split_in_lines(struct weir_flow *flow,
					     const struct weir_items *items)
{
	flow = weir_flow_split_when(flow, is_third, lines_of_part,
				    (void *)items);
	return weir_flow_items(flow, items);
}

static struct weir_flow *throttle_of_part(struct weir_flow *upstream,
					  void *context)
{
	return upon_slow_throttle(upstream, context);
}

static struct weir_flow *upon_split_in_throttles(struct weir_flow *flow,
						 const struct weir_items *items)
{
	flow = weir_flow_split_when(flow, is_third, throttle_of_part,
				    (void *)items);
	return weir_flow_items(flow, items);
}

/* Every second one goes in no group that has another, and fills its own. */
static uint64_t weigh_in_turn(void *item, void *context)
{
	return ((struct good *)item)->number % 2 ? 3 : 1;
}

static struct weir_flow *upon_heavy_groups(struct weir_flow *flow,
					   const struct weir_items *items)
{
	flow = weir_flow_grouped_up_to(flow, 3, weigh_in_turn, NULL, 9, 0);
	return weir_flow_items(weir_flow_map(flow, only_one, NULL), items);
}

static struct weir_flow *upon_bare_scan(struct weir_flow *flow,
					const struct weir_items *items)
{
	static const struct weir_flow_fold_functions functions = {zero_good,
								  take_newest};

	flow = weir_flow_scan(flow, &functions, items->context);
	return weir_flow_items(flow, items);
}

static struct weir_flow *tail_of_none(void *const *prefix, size_t n,
				      struct weir_flow *tail, void *context)
{
	return tail;
}

static struct weir_flow *upon_no_prefix(struct weir_flow *flow,
					const struct weir_items *items)
{
	flow = weir_flow_prefix_and_tail(flow, 0, tail_of_none, NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *nothing_more(struct weir_error *error, void *context)
{
	return no_items(context);
}

static struct weir_flow *upon_resume(struct weir_flow *flow,
				     const struct weir_items *items)
{
	return weir_flow_resume_with(flow, nothing_more, (void *)items);
}

static int by_thirds(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)(((struct good *)item)->number % 3);
	return 0;
}

static struct weir_flow *lines_of_group(struct weir_flow *upstream,
					uintptr_t key, void *context)
{
	return in_lines(upstream, context);
}

static struct weir_flow *upon_groups_of_lines(struct weir_flow *flow,
					      const struct weir_items *items)
{
	flow = weir_flow_group_by(flow, 3, by_thirds, lines_of_group,
				  (void *)items, NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *throttle_of_group(struct weir_flow *upstream,
					   uintptr_t key, void *context)
{
	return upon_slow_throttle(upstream, context);
}

static struct weir_flow *upon_throttled_groups(struct weir_flow *flow,
					       const struct weir_items *items)
{
	flow = weir_flow_group_by(flow, 3, by_thirds, throttle_of_group,
				  (void *)items, NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *around_lines(struct weir_flow *flow,
				      const struct weir_items *items)
{
	flow = weir_flow_restart_around(flow, lines_of_part, (void *)items,
					NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *around_throttle(struct weir_flow *flow,
					 const struct weir_items *items)
{
	flow = weir_flow_restart_around(flow, throttle_of_part, (void *)items,
					NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *merge_of_part(struct weir_flow *upstream,
				       void *context)
{
	return upon_merge_of_two(upstream, context);
}

static struct weir_flow *around_merge(struct weir_flow *flow,
				      const struct weir_items *items)
{
	flow = weir_flow_restart_around(flow, merge_of_part, (void *)items,
					NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *zip_of_part(struct weir_flow *upstream, void *context)
{
	return upon_zip_of_two(upstream, context);
}

static struct weir_flow *around_zip(struct weir_flow *flow,
				    const struct weir_items *items)
{
	flow = weir_flow_restart_around(flow, zip_of_part, (void *)items, NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *lines_of_tail(void *const *prefix, size_t n,
				       struct weir_flow *tail, void *context)
{
	return in_lines(tail, context);
}

static struct weir_flow *upon_tail_in_lines(struct weir_flow *flow,
					    const struct weir_items *items)
{
	flow = weir_flow_prefix_and_tail(flow, 0, lines_of_tail, (void *)items);
	return weir_flow_items(flow, items);
}

static struct weir_flow *merge_of_tail(void *const *prefix, size_t n,
				       struct weir_flow *tail, void *context)
{
	return upon_merge_of_two(tail, context);
}

static struct weir_flow *upon_merged_tail(struct weir_flow *flow,
					  const struct weir_items *items)
{
	flow = weir_flow_prefix_and_tail(flow, 0, merge_of_tail, (void *)items);
	return weir_flow_items(flow, items);
}

static int into_one(void *item, uintptr_t *key, void *context)
{
	*key = 0;
	return 0;
}

static struct weir_flow *merge_of_group(struct weir_flow *upstream,
					uintptr_t key, void *context)
{
	return upon_merge_of_two(upstream, context);
}

static struct weir_flow *upon_merged_group(struct weir_flow *flow,
					   const struct weir_items *items)
{
	flow = weir_flow_group_by(flow, 1, into_one, merge_of_group,
				  (void *)items, NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *interleave_of_group(struct weir_flow *upstream,
					     uintptr_t key, void *context)
{
	return upon_interleave(upstream, context);
}

static struct weir_flow *upon_interleaved_group(struct weir_flow *flow,
						const struct weir_items *items)
{
	flow = weir_flow_group_by(flow, 1, into_one, interleave_of_group,
				  (void *)items, NULL);
	return weir_flow_items(flow, items);
}

static struct weir_flow *latest_of_tail(void *const *prefix, size_t n,
					struct weir_flow *tail, void *context)
{
	return upon_latest_of_two(tail, context);
}

static struct weir_flow *upon_latest_of_tail(struct weir_flow *flow,
					     const struct weir_items *items)
{
	flow = weir_flow_prefix_and_tail(flow, 0, latest_of_tail,
					 (void *)items);
	return weir_flow_items(flow, items);
}

static struct weir_flow *sorted_of_tail(void *const *prefix, size_t n,
					struct weir_flow *tail, void *context)
{
	return upon_sorted(tail, context);
}

static struct weir_flow *upon_sorted_tail(struct weir_flow *flow,
					  const struct weir_items *items)
{
	flow = weir_flow_prefix_and_tail(flow, 0, sorted_of_tail,
					 (void *)items);
	return weir_flow_items(flow, items);
}

static struct weir_flow *sum_of_group(struct weir_flow *upstream, uintptr_t key,
				      void *context)
{
	return upon_heavy_groups(upstream, context);
}

struct weir_flow *end_heavy_parts(struct weir_flow *flow,
				  const struct weir_items *items)
{
	flow = weir_flow_group_by(flow, 3, by_thirds, sum_of_group,
				  (void *)items, NULL);
	return weir_flow_items(flow, items);
}

/* The first group fails at its end. */
static struct weir_flow *failing_of_group(struct weir_flow *upstream,
					  uintptr_t key, void *context)
{
	struct weir_flow *both[] = {sum_of_group(upstream, key, context), NULL};

	if (key != 0)
		return both[0];
	both[1] = weir_flow_items(weir_flow_fail(-EIO, "by hand"), context);
	return weir_flow_concat(both, 2);
}

struct weir_flow *end_failing_parts(struct weir_flow *flow,
				    const struct weir_items *items)
{
	flow = weir_flow_group_by(flow, 3, by_thirds, failing_of_group,
				  (void *)items, NULL);
	return weir_flow_items(flow, items);
}

/* --- The table ------------------------------------------------------------ */

const struct end_row end_rows[] = {
	{"zip", upon_zip_of_two, 0, 1, 0, ENDLESS},
	{"merge", upon_merge_of_two, 0, 2, 0, TWO},
	{"merge_preferred", upon_preferred, 0, 2, 0, TWO},
	{"concat", upon_concat_of_two, 0, 2, 0, TWO},
	{"map_concat", upon_pairs, 0, 2},
	{"combine_latest", upon_latest, 0, 1},
	{"combine_latest of two", upon_latest_of_two, 0, 1, 0, EMPTY},
	{"with_latest_from", upon_latest_from, 0, 1},
	{"zip_all", upon_zip_all_of_two, 0, 1, 0, TWO},
	{"interleave", upon_interleave, 0, 2, 0, TWO},
	{"merge_prioritized", upon_prioritized, 0, 2, 0, TWO},
	{"merge_sorted", upon_sorted, 0, 2, 0, TWO},
	{"amb", upon_amb_with_never, 0, 1},
	{"lazy", upon_lazy, 0, 1},
	{"lazy concat", upon_lazy_concat, 0, 2, 0, TWO},
	{"take_until", upon_take_until_never, 0, 1},
	{"skip_until", upon_skip_until_now, 0, 1},
	{"lines", in_lines, 0, 2},
	{"split_when of lines", upon_split_in_lines, 0, 2},
	{"split_when of throttles", upon_split_in_throttles, 0, 1},
	{"throttle", upon_slow_throttle, 0, 1},
	{"throttle of merge_preferred", upon_throttled_merge, 0, 2, 0, TWO},
	{"grouped_up_to", upon_heavy_groups, 0, 1},
	{"scan", upon_bare_scan, 1, 1},
	{"prefix_and_tail of none", upon_no_prefix, 0, 1},
	{"resume_with", upon_resume, 0, 1, -EIO},
	{"group_by of lines", upon_groups_of_lines, 0, 2},
	{"group_by of throttles", upon_throttled_groups, 0, 1},
	{"group_by of grouped_up_to", end_heavy_parts, 0, 1},
	{"group_by of interleave", upon_interleaved_group, 0, 2, 0, TWO},
	{"group_by of merge", upon_merged_group, 0, 2, 0, TWO},
	{"prefix_and_tail of combine_latest", upon_latest_of_tail, 0, 1, 0,
	 EMPTY},
	{"prefix_and_tail of merge_sorted", upon_sorted_tail, 0, 2, 0, TWO},
	{"prefix_and_tail of lines", upon_tail_in_lines, 0, 2},
	{"prefix_and_tail of merge", upon_merged_tail, 0, 2, 0, TWO},
	{"restart_around lines", around_lines, 0, 2},
	{"restart_around throttle", around_throttle, 0, 1},
	{"restart_around merge", around_merge, 0, 2, 0, TWO},
	{"restart_around zip", around_zip, 0, 1, 0, ENDLESS},
};

const size_t n_end_rows = sizeof(end_rows) / sizeof(*end_rows);
