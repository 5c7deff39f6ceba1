/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that make one result of all that they take, and scan. */
#include "flow/kit.h"

static int add(void **result, void *item, void *context)
{
	if ((intptr_t)item == 666)
		return -EDOM;
	*result = (void *)((intptr_t)*result + (intptr_t)item);
	return 0;
}

static int hundred(void **result, void *context)
{
	*result = (void *)100;
	return 0;
}

static inline int plus(void **result, void *item, void *context)
{
	return add(result, item, context);
}
WEIR_FLOW_FOLD(plus)

static const struct weir_flow_fold_functions sums = {hundred, add};

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static enum weir_directive restart(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESTART;
}

/* --- Folds ---------------------------------------------------------------- */

static void fold_puts_out_what_has_become_of_zero(void **state)
{
	ASSERT_FLOW(weir_flow_fold(weir_flow_range(1, 500), &sums, NULL), 0,
		    100 + 125250);
	ASSERT_FLOW(weir_flow_fold(weir_flow_empty(), &sums, NULL), 0, 100);
}

static void fold_over_arrays_begins_with_0(void **state)
{
	ASSERT_FLOW(weir_flow_fold_n(weir_flow_range(1, 500), plus_n, NULL), 0,
		    125250);
	ASSERT_FLOW(weir_flow_fold_n(weir_flow_empty(), plus_n, NULL), 0, 0);
}

static void a_fold_that_fails_has_no_result(void **state)
{
	assert_flow(weir_flow_fold(weir_flow_range(660, 670), &sums, NULL),
		    false, NULL, 0, -EDOM);
	assert_flow(weir_flow_fold_n(weir_flow_range(660, 670), plus_n, NULL),
		    false, NULL, 0, -EDOM);
}

static void a_fold_goes_on_if_so_decided(void **state)
{
	struct weir_flow *flow =
		weir_flow_fold(weir_flow_range(665, 667), &sums, NULL);

	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0,
		    100 + 665 + 667);
	flow = weir_flow_fold(weir_flow_range(665, 667), &sums, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, restart, NULL), 0, 100 + 667);
	flow = weir_flow_fold_n(weir_flow_range(665, 667), plus_n, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0, 665 + 667);
}

static void reduce_begins_with_the_first_item(void **state)
{
	ASSERT_FLOW(weir_flow_reduce(weir_flow_range(1, 10), add, NULL), 0, 55);
	ASSERT_FLOW(weir_flow_reduce(weir_flow_range(7, 7), add, NULL), 0, 7);
	assert_flow(weir_flow_reduce(weir_flow_empty(), add, NULL), false, NULL,
		    0, -ENODATA);
}

static void reduce_begins_with_the_next_item_after_a_restart(void **state)
{
	struct weir_flow *flow =
		weir_flow_reduce(weir_flow_range(665, 668), add, NULL);

	ASSERT_FLOW(weir_flow_supervise(flow, restart, NULL), 0, 667 + 668);
	flow = weir_flow_reduce(weir_flow_range(665, 667), add, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, restart, NULL), 0, 667);
}

static int take_in(void **result, void *item, void *context)
{
	((struct item *)*result)->value += ((struct item *)item)->value;
	item_drop(item, NULL);
	return 0;
}

static int fails_on_3(void **result, void *item, void *context)
{
	if (((struct item *)item)->value == 3)
		return -EDOM;
	return take_in(result, item, context);
}

static void what_reduce_holds_is_dropped_when_it_fails(void **state)
{
	static const intptr_t sum[] = {6};

	assert_flow(weir_flow_reduce(counted(weir_flow_range(1, 3)), take_in,
				     NULL),
		    true, sum, 1, 0);
	assert_flow(weir_flow_reduce(counted(weir_flow_range(1, 9)), fails_on_3,
				     NULL),
		    true, NULL, 0, -EDOM);
}

static void scan_puts_out_the_seed_first(void **state)
{
	ASSERT_FLOW(weir_flow_scan(weir_flow_range(1, 3), &sums, NULL), 0, 100,
		    101, 103, 106);
	ASSERT_FLOW(weir_flow_scan(weir_flow_empty(), &sums, NULL), 0, 100);
	ASSERT_FLOW(weir_flow_take(
			    weir_flow_scan(weir_flow_never(), &sums, NULL), 1),
		    0, 100);
}

static void scan_goes_on_from_where_it_was_or_anew(void **state)
{
	struct weir_flow *flow =
		weir_flow_scan(weir_flow_range(665, 667), &sums, NULL);

	ASSERT_FLOW(weir_flow_supervise(flow, resume, NULL), 0, 100, 765, 1432);
	flow = weir_flow_scan(weir_flow_range(665, 667), &sums, NULL);
	ASSERT_FLOW(weir_flow_supervise(flow, restart, NULL), 0, 100, 765, 767);
}

static const struct weir_items not_shared = {.drop = item_drop};

static void scan_needs_results_that_can_be_shared(void **state)
{
	struct weir_flow *flow = weir_flow_items(
		weir_flow_scan(weir_flow_range(1, 3), &sums, NULL),
		&not_shared);

	assert_int_equal(run_on_sim(flow, 1, 0), -ENOTSUP);
	weir_flow_free(flow);
}

/* --- Which, how many, all ------------------------------------------------- */

static void first_cancels_behind_it(void **state)
{
	ASSERT_COUNTED_FLOW(weir_flow_first(weir_flow_range(7, INT64_MAX)), 0,
			    7);
	assert_flow(weir_flow_first(weir_flow_empty()), false, NULL, 0, 0);
}

static void last_keeps_one(void **state)
{
	static const intptr_t last[] = {999};

	assert_flow(weir_flow_last(counted(weir_flow_range(1, 999))), true,
		    last, 1, 0);
	assert_flow(weir_flow_last(weir_flow_empty()), false, NULL, 0, 0);
}

static void count_counts_and_drops(void **state)
{
	static const intptr_t n[] = {1000};

	assert_flow(weir_flow_count(counted(weir_flow_range(1, 1000))), false,
		    n, 1, 0);
}

static void ignore_puts_out_nothing(void **state)
{
	assert_flow(weir_flow_ignore(counted(weir_flow_range(1, 1000))), false,
		    NULL, 0, 0);
}

static void collect_has_all_items(void **state)
{
	struct weir_flow *flow =
		weir_flow_collect(counted(weir_flow_range(1, 1000)), 1000);
	struct weir_flow_list *list;
	struct weir_sim *sim;
	void *result;
	size_t i;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(weir_flow_run(flow, weir_sim_executor(sim), &result),
			 0);
	list = result;
	assert_int_equal(list->n, 1000);
	for (i = 0; i < 1000; i++)
		assert_int_equal(((struct item *)list->items[i])->value, i + 1);
	assert_int_equal(n_live, 1000);
	weir_flow_list_free(list);
	assert_int_equal(n_live, 0);
	assert_int_equal(weir_flow_run(flow, weir_sim_executor(sim), NULL), 0);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void collect_has_a_limit(void **state)
{
	struct weir_flow *flow =
		weir_flow_collect(counted(weir_flow_range(1, 1001)), 1000);

	assert_int_equal(run_on_sim(flow, 1, 0), -EMSGSIZE);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
}

/* --- One by one ----------------------------------------------------------- */

static intptr_t sum;

static int sum_n(void *const *items, size_t n, size_t *done, void *context)
{
	size_t i;

	for (i = 0; i < n; i++) {
		*done = i;
		if (((struct item *)items[i])->value == 3)
			return -EDOM;
		sum += ((struct item *)items[i])->value;
		item_drop(items[i], NULL);
	}
	return 0;
}

static void for_each_n_gives_whole_arrays(void **state)
{
	struct weir_flow *flow = weir_flow_for_each_n(
		counted(weir_flow_range(4, 6)), sum_n, NULL);

	sum = 0;
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(sum, 15);
	weir_flow_free(flow);
}

static void for_each_n_drops_what_failed(void **state)
{
	struct weir_flow *flow = weir_flow_for_each_n(
		counted(weir_flow_range(1, 6)), sum_n, NULL);

	sum = 0;
	assert_int_equal(run_on_sim(flow, 1, 0), -EDOM);
	assert_int_equal(sum, 3);
	flow = weir_flow_supervise(flow, resume, NULL);
	sum = 0;
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(sum, 18);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fold_puts_out_what_has_become_of_zero),
		cmocka_unit_test(fold_over_arrays_begins_with_0),
		cmocka_unit_test(a_fold_that_fails_has_no_result),
		cmocka_unit_test(a_fold_goes_on_if_so_decided),
		cmocka_unit_test(reduce_begins_with_the_first_item),
		cmocka_unit_test(
			reduce_begins_with_the_next_item_after_a_restart),
		cmocka_unit_test(what_reduce_holds_is_dropped_when_it_fails),
		cmocka_unit_test(scan_puts_out_the_seed_first),
		cmocka_unit_test(scan_goes_on_from_where_it_was_or_anew),
		cmocka_unit_test(scan_needs_results_that_can_be_shared),
		cmocka_unit_test(first_cancels_behind_it),
		cmocka_unit_test(last_keeps_one),
		cmocka_unit_test(count_counts_and_drops),
		cmocka_unit_test(ignore_puts_out_nothing),
		cmocka_unit_test(collect_has_all_items),
		cmocka_unit_test(collect_has_a_limit),
		cmocka_unit_test(for_each_n_gives_whole_arrays),
		cmocka_unit_test(for_each_n_drops_what_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
