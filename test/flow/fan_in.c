/* SPDX-License-Identifier: BSD-2-Clause */
/* Several flows made one: merge, zip, concat, prepend, or_else. */
#include "flow/fan_kit.h"

static int fails_on_3(void **item, void *context)
{
	return (intptr_t)*item == 3 ? -EDOM : 0;
}

static struct weir_flow *failing(void)
{
	return weir_flow_map(weir_flow_range(1, 5), fails_on_3, NULL);
}

static struct weir_flow *nothing(void)
{
	return weir_flow_range(1, 0);
}

/* Tens and ones: 10 * a + b, or three of them. */
static int digits(void *const *items, size_t n, void **result, void *context)
{
	intptr_t value = 0;
	size_t i;

	for (i = 0; i < n; i++)
		value = 10 * value + (intptr_t)items[i];
	*result = (void *)value;
	return 0;
}

static int digits_not_22(void *const *items, size_t n, void **result,
			 void *context)
{
	return (intptr_t)items[0] == 2 ? -EDOM
				       : digits(items, n, result, context);
}

/* Of counted items: the first with the sum, the others are dropped. */
static int add_up(void *const *items, size_t n, void **result, void *context)
{
	struct item *sum = items[0];
	size_t i;

	if (context && sum->value == 3)
		return -EDOM;
	for (i = 1; i < n; i++) {
		sum->value += ((struct item *)items[i])->value;
		item_drop(items[i], NULL);
	}
	*result = sum;
	return 0;
}

static enum weir_directive go_on(struct weir_error *error, void *context)
{
	return *(enum weir_directive *)context;
}

/* --- merge ---------------------------------------------------------------- */

/* Sees that each input's items come in order, and how many come. */
struct order {
	intptr_t last[4];
	int n;
};

static int in_order(void *item, void *context)
{
	struct order *order = context;
	intptr_t value = (intptr_t)item;

	assert_true(value % 10000 == order->last[value / 10000] + 1);
	order->last[value / 10000]++;
	order->n++;
	return 0;
}

static void a_merge_keeps_the_order_of_each_input(void **state)
{
	static const size_t unfused[] = {0, 1, 16};
	struct weir_flow *ups[4], *flow;
	struct order order;
	size_t i, k;

	for (i = 0; i < 4; i++)
		ups[i] = weir_flow_range((int64_t)i * 10000 + 1,
					 (int64_t)i * 10000 + 1000);
	ups[1] = weir_flow_async(ups[1], 4, NULL);
	flow = weir_flow_for_each(weir_flow_merge(ups, 4), in_order, &order);
	for (k = 0; k < 3; k++)
		for_each_seed(seed, 5) {
			memset(&order, 0, sizeof(order));
			assert_int_equal(run_on_sim(flow, seed, unfused[k]), 0);
			assert_int_equal(order.n, 4000);
		}
	weir_flow_free(flow);
}

static void a_merge_of_one_is_that(void **state)
{
	struct weir_flow *up = weir_flow_range(1, 3);

	ASSERT_FLOW(weir_flow_merge(&up, 1), 0, 1, 2, 3);
}

static void a_merge_asks_its_inputs_in_turn(void **state)
{
	struct weir_flow *ups[] = {weir_flow_range(1, 300),
				   weir_flow_range(1001, 1300)};
	struct weir_flow *flow = weir_flow_merge(ups, 2);
	static struct got got;

	got.n = 0;
	flow = into(flow, &got);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_int_equal(got.n, 600);
	assert_int_equal(got.values[WEIR_FLOW_BATCH - 1], WEIR_FLOW_BATCH);
	assert_int_equal(got.values[WEIR_FLOW_BATCH], 1001);
}

static void a_merge_takes_who_has_something(void **state)
{
	struct tap taps[3] = {0};
	struct weir_flow *ups[3];
	static struct got got;
	struct trial trial;
	size_t i;

	for_each_seed(seed, 5) {
		memset(taps, 0, sizeof(taps));
		for (i = 0; i < 3; i++)
			ups[i] = tap_flow(&taps[i]);
		ups[2] = weir_flow_async(ups[2], 2, NULL);
		got.n = 0;
		begin(&trial, into(weir_flow_merge(ups, 3), &got), seed,
		      seed % 2);
		for (i = 0; i < 30; i++) {
			tap_give(&taps[i % 3], (intptr_t)i, (intptr_t)i);
			rest(&trial);
			assert_int_equal(got.n, i + 1);
			assert_int_equal(got.values[i], i);
		}
		tap_end(&taps[0], 0);
		tap_end(&taps[2], 0);
		rest(&trial);
		assert_false(is_over(&trial));
		tap_end(&taps[1], 0);
		rest(&trial);
		assert_true(is_over(&trial));
		assert_int_equal(end(&trial), 0);
	}
}

static void an_error_of_one_input_ends_a_merge(void **state)
{
	struct tap taps[2] = {0};
	struct weir_flow *ups[2];
	static struct got got;
	struct trial trial;

	for_each_seed(seed, 6) {
		int64_t live = n_live;

		memset(taps, 0, sizeof(taps));
		ups[0] = counted(tap_flow(&taps[0]));
		ups[1] = counted(tap_flow(&taps[1]));
		got.n = 0;
		got.counted = true;
		begin(&trial, into(weir_flow_merge(ups, 2), &got), seed,
		      seed % 3);
		tap_give(&taps[1], 1, 2);
		tap_end(&taps[1], -EDOM);
		rest(&trial);
		assert_true(is_over(&trial));
		assert_null(taps[0].op);
		assert_int_equal(end(&trial), -EDOM);
		assert_int_equal(got.n, 2);
		assert_int_equal(n_live, live);
	}
}

static void an_eager_merge_is_over_with_the_first(void **state)
{
	struct weir_flow *ups[2];
	struct tap tap = {0};

	ups[0] = tap_flow(&tap);
	ups[1] = weir_flow_range(1, 3);
	ASSERT_FLOW(weir_flow_merge_eager(ups, 2), 0, 1, 2, 3);
}

static void a_preferred_input_is_drained_first(void **state)
{
	struct weir_flow *ups[] = {weir_flow_range(1, 1000),
				   weir_flow_range(1001, 2000)};
	struct weir_flow *flow = weir_flow_merge_preferred(ups, 2);
	static intptr_t expected[2000];
	static struct got got;
	int i;

	for (i = 0; i < 2000; i++)
		expected[i] = i + 1;
	got.n = 0;
	flow = into(flow, &got);
	got.code = run_on_sim(flow, 1, 0);
	weir_flow_free(flow);
	assert_got(&got, expected, 2000, 0);
}

static void a_merge_of_items_that_differ_fails(void **state)
{
	struct weir_flow *ups[] = {counted(weir_flow_range(1, 3)),
				   weir_flow_range(1, 3)};
	struct weir_flow *flow = weir_flow_merge(ups, 2);

	assert_int_equal(run_on_sim(flow, 1, 0), -EINVAL);
	assert_int_equal(run_on_sim(flow, 1, 1), -EINVAL);
	weir_flow_free(flow);
}

static void a_merge_of_a_failed_flow_fails_as_that(void **state)
{
	struct weir_flow *ups[] = {weir_flow_range(1, 3),
				   weir_flow_map(NULL, fails_on_3, NULL)};
	struct weir_flow *flow = weir_flow_merge(ups, 2);
	const char *origin;

	assert_int_equal(weir_flow_check(flow, &origin, NULL), -EINVAL);
	assert_string_equal(origin, "map");
	weir_flow_free(flow);
	flow = weir_flow_merge(NULL, 2);
	assert_int_equal(weir_flow_check(flow, &origin, NULL), -EINVAL);
	assert_string_equal(origin, "merge");
	weir_flow_free(flow);
	ups[0] = NULL;
	flow = weir_flow_merge(ups, 1);
	assert_int_equal(weir_flow_check(flow, &origin, NULL), -EINVAL);
	weir_flow_free(flow);
}

/* --- zip ------------------------------------------------------------------ */

static void a_zip_ends_with_the_shortest(void **state)
{
	struct weir_flow *ups[] = {weir_flow_range(1, 3), weir_flow_range(4, 9),
				   weir_flow_range(1, INT64_MAX)};

	ASSERT_FLOW(weir_flow_zip(ups, 3, digits, NULL), 0, 141, 252, 363);
}

static void a_zip_with_nothing_is_over_at_once(void **state)
{
	struct weir_flow *ups[2];
	struct tap tap = {0};

	ups[0] = tap_flow(&tap);
	ups[1] = nothing();
	assert_flow(weir_flow_zip(ups, 2, digits, NULL), false, NULL, 0, 0);
}

static void the_error_of_a_zipped_flow_comes_behind_its_items(void **state)
{
	struct weir_flow *ups[] = {weir_flow_range(1, 9), failing()};

	ASSERT_FLOW(weir_flow_zip(ups, 2, digits, NULL), -EDOM, 11, 22);
}

/* The sums of 1 to 5 and 1 to 7, but for the third; decided upon so. */
static void assert_one_not_combined(enum weir_directive directive,
				    const intptr_t *sums, size_t n, int code)
{
	struct weir_flow *ups[2], *flow;
	int x;

	ups[0] = counted(weir_flow_range(1, 5));
	ups[1] = counted(weir_flow_range(1, 7));
	flow = weir_flow_zip(ups, 2, add_up, &x);
	flow = weir_flow_items(flow, &counted_items);
	flow = weir_flow_supervise(flow, go_on, &directive);
	assert_flow(flow, true, sums, n, code);
}

static void what_cannot_be_combined_is_dropped(void **state)
{
	static const intptr_t all[] = {2, 4, 8, 10};

	assert_one_not_combined(WEIR_DIRECTIVE_STOP, all, 2, -EDOM);
	assert_one_not_combined(WEIR_DIRECTIVE_RESUME, all, 4, 0);
}

static void a_zip_that_is_restarted_stays_in_step(void **state)
{
	static const intptr_t all[] = {2, 4, 8, 10};

	assert_one_not_combined(WEIR_DIRECTIVE_RESTART, all, 4, 0);
}

/* It waits for the one that lacks, and the others' `waiting` stays off. */
static void a_zip_waits_for_the_input_that_lacks(void **state)
{
	static const size_t unfused[] = {0, 1, 2, 16};
	struct tap taps[2];
	struct weir_flow *ups[2];
	static struct got got;
	struct trial trial;
	int i;

	for_each_seed(seed, 12) {
		memset(taps, 0, sizeof(taps));
		ups[0] = tap_flow(&taps[0]);
		ups[1] = tap_flow(&taps[1]);
		if (seed % 2) {
			ups[0] = weir_flow_async(ups[0], 64, NULL);
			ups[1] = weir_flow_async(ups[1], 64, NULL);
		}
		got.n = 0;
		begin(&trial, into(weir_flow_zip(ups, 2, digits, NULL), &got),
		      seed, unfused[seed % 4]);
		tap_give(&taps[seed % 3 == 0], 1, 40);
		rest(&trial);
		assert_int_equal(got.n, 0);
		for (i = 1; i <= 40; i++) {
			tap_give(&taps[seed % 3 != 0], i, i);
			rest(&trial);
			assert_int_equal(got.n, i);
			assert_int_equal(got.values[i - 1], 11 * i);
		}
		tap_end(&taps[0], 0);
		rest(&trial);
		assert_true(is_over(&trial));
		assert_int_equal(end(&trial), 0);
	}
}

/* A merge within has no in-ports; the zip must not wait for any of its own. */
static void a_zip_of_a_fused_merge_comes_to_rest(void **state)
{
	struct tap taps[2] = {0}, tap = {0};
	struct weir_flow *inner[2], *ups[3];
	static struct got got;
	struct trial trial;

	inner[0] = weir_flow_range(1, 4);
	inner[1] = tap_flow(&tap);
	ups[0] = weir_flow_merge(inner, 2);
	ups[1] = weir_flow_async(tap_flow(&taps[0]), 512, NULL);
	ups[2] = weir_flow_async(tap_flow(&taps[1]), 512, NULL);
	got.n = 0;
	begin(&trial, into(weir_flow_zip(ups, 3, digits, NULL), &got), 1, 0);
	/* more than the zip takes at once: there is always something */
	tap_give(&taps[0], 1, 400);
	rest(&trial);
	assert_int_equal(got.n, 0);
	tap_give(&taps[1], 1, 8);
	rest(&trial);
	assert_int_equal(got.n, 4);
	tap_give(&tap, 5, 8);
	rest(&trial);
	assert_int_equal(got.n, 8);
	assert_int_equal(end(&trial), -ECANCELED);
}

static void a_zip_needs_a_function(void **state)
{
	struct weir_flow *up = weir_flow_range(1, 3);
	struct weir_flow *flow = weir_flow_zip(&up, 1, NULL, NULL);

	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	up = weir_flow_range(1, 3);
	ASSERT_FLOW(weir_flow_zip(&up, 1, digits_not_22, NULL), -EDOM, 1);
}

/* --- concat, prepend, or_else --------------------------------------------- */

static void a_concat_is_one_flow_after_the_other(void **state)
{
	struct weir_flow *ups[] = {weir_flow_range(1, 2), nothing(),
				   weir_flow_range(3, 5)};

	ASSERT_COUNTED_FLOW(weir_flow_concat(ups, 3), 0, 1, 2, 3, 4, 5);
}

static void a_concat_ends_with_the_first_error(void **state)
{
	struct weir_flow *ups[] = {counted(weir_flow_range(7, 8)),
				   counted(failing()),
				   counted(weir_flow_range(3, 5))};
	static const intptr_t expected[] = {7, 8, 1, 2};

	assert_flow(weir_flow_concat(ups, 3), true, expected, 4, -EDOM);
}

static void a_concat_waits_for_the_one_whose_time_it_is(void **state)
{
	struct weir_flow *ups[2];
	struct tap taps[2] = {0};
	static struct got got;
	struct trial trial;

	ups[0] = weir_flow_async(tap_flow(&taps[0]), 16, NULL);
	ups[1] = weir_flow_async(tap_flow(&taps[1]), 16, NULL);
	got.n = 0;
	begin(&trial, into(weir_flow_concat(ups, 2), &got), 1, 0);
	tap_give(&taps[1], 10, 12);
	tap_end(&taps[1], 0);
	rest(&trial);
	assert_int_equal(got.n, 0);
	tap_give(&taps[0], 1, 2);
	rest(&trial);
	assert_int_equal(got.n, 2);
	tap_end(&taps[0], 0);
	rest(&trial);
	assert_int_equal(got.n, 5);
	assert_true(is_over(&trial));
	assert_int_equal(end(&trial), 0);
}

static void what_is_prepended_comes_first(void **state)
{
	ASSERT_FLOW(weir_flow_prepend(weir_flow_range(3, 5),
				      weir_flow_range(1, 2)),
		    0, 1, 2, 3, 4, 5);
}

static void or_else_is_for_a_flow_without_items(void **state)
{
	ASSERT_FLOW(weir_flow_or_else(nothing(), weir_flow_range(1, 2)), 0, 1,
		    2);
	ASSERT_FLOW(weir_flow_or_else(nothing(), failing()), -EDOM, 1, 2);
	ASSERT_FLOW(weir_flow_or_else(weir_flow_range(7, 8),
				      weir_flow_range(1, 2)),
		    0, 7, 8);
	ASSERT_FLOW(weir_flow_or_else(failing(), weir_flow_range(7, 8)), -EDOM,
		    1, 2);
	assert_flow(weir_flow_or_else(nothing(), nothing()), false, NULL, 0, 0);
}

static void the_first_item_cancels_what_is_instead(void **state)
{
	struct tap taps[2] = {0};
	static struct got got;
	struct trial trial;

	got.n = 0;
	begin(&trial,
	      into(weir_flow_or_else(tap_flow(&taps[0]), tap_flow(&taps[1])),
		   &got),
	      1, 1);
	assert_non_null(taps[1].op);
	tap_give(&taps[0], 1, 1);
	rest(&trial);
	assert_null(taps[1].op);
	tap_end(&taps[0], 0);
	assert_int_equal(end(&trial), 0);
	assert_int_equal(got.n, 1);
}

static void a_flow_is_taken_over_once(void **state)
{
	struct weir_flow *up = weir_flow_range(1, 3), *flow;
	struct weir_flow *ups[] = {up, up};

	flow = weir_flow_merge(ups, 2);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EBUSY);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merge_keeps_the_order_of_each_input),
		cmocka_unit_test(a_merge_of_one_is_that),
		cmocka_unit_test(a_merge_asks_its_inputs_in_turn),
		cmocka_unit_test(a_merge_takes_who_has_something),
		cmocka_unit_test(an_error_of_one_input_ends_a_merge),
		cmocka_unit_test(an_eager_merge_is_over_with_the_first),
		cmocka_unit_test(a_preferred_input_is_drained_first),
		cmocka_unit_test(a_merge_of_items_that_differ_fails),
		cmocka_unit_test(a_merge_of_a_failed_flow_fails_as_that),
		cmocka_unit_test(a_zip_ends_with_the_shortest),
		cmocka_unit_test(a_zip_with_nothing_is_over_at_once),
		cmocka_unit_test(
			the_error_of_a_zipped_flow_comes_behind_its_items),
		cmocka_unit_test(what_cannot_be_combined_is_dropped),
		cmocka_unit_test(a_zip_that_is_restarted_stays_in_step),
		cmocka_unit_test(a_zip_waits_for_the_input_that_lacks),
		cmocka_unit_test(a_zip_of_a_fused_merge_comes_to_rest),
		cmocka_unit_test(a_zip_needs_a_function),
		cmocka_unit_test(a_concat_is_one_flow_after_the_other),
		cmocka_unit_test(a_concat_ends_with_the_first_error),
		cmocka_unit_test(a_concat_waits_for_the_one_whose_time_it_is),
		cmocka_unit_test(what_is_prepended_comes_first),
		cmocka_unit_test(or_else_is_for_a_flow_without_items),
		cmocka_unit_test(the_first_item_cancels_what_is_instead),
		cmocka_unit_test(a_flow_is_taken_over_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
