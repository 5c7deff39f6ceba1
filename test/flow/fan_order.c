/* SPDX-License-Identifier: BSD-2-Clause */
/* Several flows made one, in an order of their own: interleave,
 * merge_prioritized, merge_sorted, zip_all. */
#include "flow/fan_kit.h"

/* --- interleave ----------------------------------------------------------- */

static struct weir_flow *by_two(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_interleave(taps, 2, 2);
}

static struct weir_flow *three_by_one(struct weir_flow *const *taps)
{
	return weir_flow_interleave(taps, 3, 1);
}

static void turns_are_as_long_as_a_segment(void **state)
{
	struct weir_flow *ups[] = {weir_flow_range(1, 5),
				   weir_flow_range(11, 17)};

	ASSERT_COUNTED_FLOW(weir_flow_interleave(ups, 2, 2), 0, 1, 2, 11, 12, 3,
			    4, 13, 14, 5, 15, 16, 17);
}

static void an_interleave_waits_for_the_flow_whose_turn_it_is(void **state)
{
	assert_played(by_two, "a1 1 b7 a2 2 7 a3 b8 8 3 a4 4 b| a5-7 5 6 7 "
			      "a| |");
	assert_played(three_by_one, "c3 b2 a1 1 2 3 a4-5 4 c6 b| 6 5 a| c7 7 "
				    "c| |");
}

static void an_interleave_fails_as_soon_as_one_flow_fails(void **state)
{
	assert_played(by_two, "a1 1 b! -a !");
	assert_played(three_by_one, "a1 1 c! -a -b !");
}

/* --- merge_prioritized ---------------------------------------------------- */

static const uint32_t weights[] = {3, 1, 2};

static struct weir_flow *weighted(struct weir_flow *const *taps)
{
	return weir_flow_merge_prioritized(taps, 3, weights);
}

static void each_flow_gets_the_share_of_its_weight(void **state)
{
	static const intptr_t expected[] = {1, 2,  3,  11, 21, 22, 4,
					    5, 12, 23, 24, 13, 25};
	struct weir_flow *ups[] = {counted(weir_flow_range(1, 5)),
				   counted(weir_flow_range(11, 13)),
				   counted(weir_flow_range(21, 25))};
	struct weir_flow *flow = weir_flow_merge_prioritized(ups, 3, weights);
	static struct got got;

	got = (struct got){.counted = true};
	flow = into(flow, &got);
	got.code = run_on_sim(flow, 1, 0);
	weir_flow_free(flow);
	assert_got(&got, expected, sizeof(expected) / sizeof(*expected), 0);
}

static void a_flow_without_item_is_passed_over(void **state)
{
	assert_played(weighted, "b1 1 b2 2 c3 3 a4-6 4 5 6 a| b7 7 b| c8 8 "
				"c| |");
	assert_played(weighted, "b1 1 a! -b -c !");
}

/* --- merge_sorted --------------------------------------------------------- */

static int by_tens(void *a, void *b, void *context)
{
	intptr_t x = ((struct item *)a)->value / 10;
	intptr_t y = ((struct item *)b)->value / 10;

	return (x > y) - (x < y);
}

static int by_value(void *a, void *b, void *context)
{
	intptr_t x = ((struct item *)a)->value, y = ((struct item *)b)->value;

	return (x > y) - (x < y);
}

static struct weir_flow *sorted(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_merge_sorted(taps, 2, by_value, NULL);
}

static void what_was_in_order_stays_in_order(void **state)
{
	static const intptr_t expected[] = {1, 2, 3, 3, 4, 4, 4, 5, 6, 7};
	struct weir_flow *ups[] = {counted(weir_flow_range(1, 4)),
				   counted(weir_flow_range(3, 7)),
				   counted(weir_flow_range(4, 4)),
				   counted(weir_flow_empty())};

	assert_flow(weir_flow_merge_sorted(ups, 4, by_value, NULL), true,
		    expected, 10, 0);
}

static void of_equals_the_earlier_flow_is_first(void **state)
{
	static const intptr_t expected[] = {11, 12, 12, 13, 21, 22, 22, 23};
	static void *const one[] = {(void *)11, (void *)12, (void *)21,
				    (void *)22};
	static void *const two[] = {(void *)12, (void *)13, (void *)22,
				    (void *)23};
	struct weir_flow *ups[] = {counted(weir_flow_array(one, 4)),
				   counted(weir_flow_array(two, 4))};

	assert_flow(weir_flow_merge_sorted(ups, 2, by_tens, NULL), true,
		    expected, 8, 0);
}

static void a_sorted_merge_waits_for_each_that_may_have_the_least(void **state)
{
	assert_played(sorted, "a1 b3 1 a2 2 a5 3 b| 5 a7 7 a| |");
	assert_played(sorted, "a1-3 a| b2 1 2 2 b9 3 9 b| |");
}

static void an_error_of_it_comes_behind_the_items_of_its_flow(void **state)
{
	assert_played(sorted, "a1 b! -a !");
	assert_played(sorted, "b3 b! a1 1 a4 3 -a !");
}

/* --- zip_all -------------------------------------------------------------- */

static struct item nine = {9, 1}, eight = {8, 1};
static void *padding[] = {&nine, &eight};

/* 7 cannot be combined. */
static int digits(void *const *items, size_t n, void **result, void *context)
{
	intptr_t value = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (((struct item *)items[i])->value == 7)
			return -EDOM;
		value = 10 * value + ((struct item *)items[i])->value;
	}
	for (i = 0; i < n; i++)
		if (items[i] != padding[i])
			item_drop(items[i], NULL);
	*result = item_new(value);
	return 0;
}

static struct weir_flow *padded(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_items(weir_flow_zip_all(taps, 2, padding, digits,
						 NULL),
			       &counted_items);
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static struct weir_flow *padded_resumed(struct weir_flow *const *taps)
{
	return weir_flow_supervise(padded(taps), resume, NULL);
}

static void padding_stands_for_the_items_of_a_flow_that_has_completed(
	void **state)
{
	assert_played(padded, "a1 b5 15 a2 a| b6 26 b3 93 b4-5 94 95 b| |");
	assert_played(padded, "a1 b| 18 a2 28 a| |");
	assert_played(padded, "b1-5 a2-3 21 32 a| 93 94 95 b| |");
	assert_played(padded, "a| b| |");
}

static void an_error_is_not_padded(void **state)
{
	assert_played(padded, "a1 b5 15 a2 a! b6 26 -b !");
	assert_played(padded, "a1 a| b5 15 b! !");
	assert_played(padded, "b5-6 a1 15 a! -b !");
}

static void padding_is_not_dropped_with_what_cannot_be_combined(void **state)
{
	assert_played(padded, "a1 a| b5 15 b7 -b !33");
	assert_played(padded_resumed, "a1 a| b5-9 15 96 98 99 b| |");
}

/* --- Of the outlets of one fan -------------------------------------------- */

static void two_outlets(struct weir_flow **outlets)
{
	const struct weir_flow_fan_options options = {.capacity = 2};

	(void)weir_flow_broadcast(counted(weir_flow_range(1, 4)), 2, outlets,
				  &options);
}

/* The other outlet has room for as long as a turn is. */
static void outlets_of_a_fan_can_be_interleaved(void **state)
{
	static const intptr_t expected[] = {1, 2, 1, 2, 3, 4, 3, 4};
	struct weir_flow *outlets[2];

	two_outlets(outlets);
	assert_flow(weir_flow_interleave(outlets, 2, 2), true, expected, 8, 0);
}

static void outlets_of_a_fan_can_be_merged_in_order(void **state)
{
	static const intptr_t expected[] = {1, 1, 2, 2, 3, 3, 4, 4};
	struct weir_flow *outlets[2];

	two_outlets(outlets);
	assert_flow(weir_flow_merge_sorted(outlets, 2, by_value, NULL), true,
		    expected, 8, 0);
}

/* --- All of them ---------------------------------------------------------- */

static struct weir_flow *one(void)
{
	return weir_flow_range(1, 2);
}

static void what_cannot_be_composed_is_refused(void **state)
{
	static const uint32_t no_weight[] = {1, 0};
	struct weir_flow *flows[] = {
		weir_flow_interleave(NULL, 2, 1),
		weir_flow_interleave((struct weir_flow *[]){one()}, 1, 0),
		weir_flow_merge_prioritized(NULL, 2, weights),
		weir_flow_merge_prioritized((struct weir_flow *[]){one()}, 1,
					    NULL),
		weir_flow_merge_prioritized(
			(struct weir_flow *[]){one(), one()}, 2, no_weight),
		weir_flow_merge_sorted(NULL, 2, by_value, NULL),
		weir_flow_merge_sorted((struct weir_flow *[]){one()}, 1, NULL,
				       NULL),
		weir_flow_zip_all(NULL, 2, padding, digits, NULL),
		weir_flow_zip_all((struct weir_flow *[]){one()}, 1, padding,
				  NULL, NULL),
		weir_flow_zip_all((struct weir_flow *[]){one()}, 1, NULL,
				  digits, NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_are_as_long_as_a_segment),
		cmocka_unit_test(
			an_interleave_waits_for_the_flow_whose_turn_it_is),
		cmocka_unit_test(an_interleave_fails_as_soon_as_one_flow_fails),
		cmocka_unit_test(each_flow_gets_the_share_of_its_weight),
		cmocka_unit_test(a_flow_without_item_is_passed_over),
		cmocka_unit_test(what_was_in_order_stays_in_order),
		cmocka_unit_test(of_equals_the_earlier_flow_is_first),
		cmocka_unit_test(
			a_sorted_merge_waits_for_each_that_may_have_the_least),
		cmocka_unit_test(
			an_error_of_it_comes_behind_the_items_of_its_flow),
		cmocka_unit_test(
			padding_stands_for_the_items_of_a_flow_that_has_completed),
		cmocka_unit_test(an_error_is_not_padded),
		cmocka_unit_test(
			padding_is_not_dropped_with_what_cannot_be_combined),
		cmocka_unit_test(outlets_of_a_fan_can_be_interleaved),
		cmocka_unit_test(outlets_of_a_fan_can_be_merged_in_order),
		cmocka_unit_test(what_cannot_be_composed_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
