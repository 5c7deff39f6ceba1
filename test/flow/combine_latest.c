/* SPDX-License-Identifier: BSD-2-Clause */
/* Items combined with the newest of other flows: combine_latest,
 * with_latest_from. */
#include "flow/fan_kit.h"

static intptr_t number(void *item)
{
	return ((struct item *)item)->value;
}

/* 7 cannot be combined. */
static int digits(void *const *items, size_t n, void **result, void *context)
{
	intptr_t value = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (number(items[i]) == 7)
			return -EDOM;
		value = 10 * value + number(items[i]);
	}
	*result = item_new(value);
	return 0;
}

/* The item itself is changed. */
static int append(void **item, void *newest, void *context)
{
	struct item *own = *item;

	if (own->value == 7)
		return -EDOM;
	own->value = 10 * own->value + number(newest);
	return 0;
}

static enum weir_directive go_on(struct weir_error *error, void *context)
{
	return *(enum weir_directive *)context;
}

static enum weir_directive resume = WEIR_DIRECTIVE_RESUME;
static enum weir_directive restart = WEIR_DIRECTIVE_RESTART;

/* The taps that are not used are gone. */
static struct weir_flow *latest_of(struct weir_flow *const *taps, size_t n)
{
	size_t i;

	for (i = n; i < PLAYED_MAX; i++)
		weir_flow_free(taps[i]);
	return weir_flow_items(weir_flow_combine_latest(taps, n, digits, NULL),
			       &counted_items);
}

/* --- combine_latest ------------------------------------------------------- */

static struct weir_flow *of_two(struct weir_flow *const *taps)
{
	return latest_of(taps, 2);
}

static struct weir_flow *of_three(struct weir_flow *const *taps)
{
	return latest_of(taps, 3);
}

static struct weir_flow *of_one(struct weir_flow *const *taps)
{
	return latest_of(taps, 1);
}

static void each_new_item_is_combined_with_the_newest_others(void **state)
{
	assert_played(of_two, "a1 b5 15 a2 25 b6 26 b8 28 a3 38");
	assert_played(of_three, "c1 a2 c3 b4 243 a5 543 b6 563 c8 568");
	assert_played(of_one, "a1 1 a2 2 a| |");
}

static void what_comes_before_all_have_an_item_is_replaced(void **state)
{
	assert_played(of_two, "a1 a2 a3 b5 35 b| a4 45 a| |");
	assert_played(of_two, "a1-300 b5 3005");
}

static void several_items_at_once_make_as_many_results(void **state)
{
	assert_played(of_two, "a1 b1-4 11 12 13 14 a2-3 24 34");
}

static void none_that_is_there_is_replaced_before_the_first_result(void **state)
{
	static const intptr_t expected[] = {15, 25, 35};
	struct weir_flow *ups[] = {counted(weir_flow_range(1, 3)),
				   counted(weir_flow_range(5, 5))};
	struct weir_flow *flow = weir_flow_combine_latest(ups, 2, digits, NULL);
	static struct got got;

	got = (struct got){.counted = true};
	flow = into(weir_flow_items(flow, &counted_items), &got);
	got.code = run_on_sim(flow, 1, 0);
	weir_flow_free(flow);
	assert_got(&got, expected, 3, 0);
}

static void it_completes_when_all_have(void **state)
{
	assert_played(of_two, "a1 b5 15 a| b6 16 b7 -b !33");
	assert_played(of_two, "a1 b5 15 b| a2 25 a| |");
	assert_played(of_three, "a1 b2 c3 123 a| c4 124 b| c5 125 c| |");
}

static void it_completes_when_one_has_without_an_item(void **state)
{
	assert_played(of_two, "a1 b| -a |");
	assert_played(of_two, "a| -b |");
	assert_played(of_three, "a1 a| b2 c| -b |");
}

static void it_fails_as_soon_as_one_flow_fails(void **state)
{
	assert_played(of_two, "a1 b5 15 b! -a !");
	assert_played(of_two, "a! -b !");
	assert_played(of_three, "a1 a| b! -c !");
}

static struct weir_flow *of_two_resumed(struct weir_flow *const *taps)
{
	return weir_flow_supervise(of_two(taps), go_on, &resume);
}

static struct weir_flow *of_two_restarted(struct weir_flow *const *taps)
{
	return weir_flow_supervise(of_two(taps), go_on, &restart);
}

static void what_cannot_be_combined_makes_no_result(void **state)
{
	assert_played(of_two, "a1 b5 15 a7 -a -b !33");
	assert_played(of_two_resumed, "a1 b5 15 a7 b6 a2 26 b6-8 26 28");
	assert_played(of_two_restarted, "a1 b5 15 a7 b6 a2 26 b6-8 26 28");
}

static void it_needs_flows_and_a_function(void **state)
{
	struct weir_flow *up = weir_flow_range(1, 3);
	struct weir_flow *flows[] = {
		weir_flow_combine_latest(&up, 1, NULL, NULL),
		weir_flow_combine_latest(NULL, 0, digits, NULL),
		weir_flow_combine_latest(NULL, 1, digits, NULL),
		weir_flow_with_latest_from(weir_flow_range(1, 2),
					   weir_flow_range(1, 2), NULL, NULL),
		weir_flow_with_latest_from(weir_flow_range(1, 2), NULL, append,
					   NULL),
		weir_flow_with_latest_from(NULL, weir_flow_range(1, 2), append,
					   NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

/* --- with_latest_from ----------------------------------------------------- */

static struct weir_flow *with_b(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_items(weir_flow_with_latest_from(taps[0], taps[1],
							  append, NULL),
			       &counted_items);
}

static struct weir_flow *with_b_resumed(struct weir_flow *const *taps)
{
	return weir_flow_supervise(with_b(taps), go_on, &resume);
}

static void each_item_is_combined_with_the_newest_of_the_other(void **state)
{
	assert_played(with_b, "b5 a1 15 a2 25 b6 b8 a3 38 a1-3 18 28 38");
	assert_played(with_b, "b1-300 a1 310 a2 320");
}

static void what_comes_before_the_other_has_an_item_is_dropped(void **state)
{
	assert_played(with_b, "a1 a2-4 b5 a5 55 a| -b |");
	assert_played(with_b, "a1 b| a2 a3 a| |");
}

static void it_ends_with_the_flow_and_not_with_the_other(void **state)
{
	assert_played(with_b, "b5 b| a1 15 a2 25 a| |");
	assert_played(with_b, "a| -b |");
}

static void both_errors_are_passed_on_at_once(void **state)
{
	assert_played(with_b, "b5 a1 15 b! -a !");
	assert_played(with_b, "b5 a1 15 a! -b !");
}

static void an_item_that_cannot_be_combined_is_dropped(void **state)
{
	assert_played(with_b, "b5 a5-9 55 65 -a -b !33");
	assert_played(with_b_resumed, "b5 a5-9 55 65 85 95 a| -b |");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_new_item_is_combined_with_the_newest_others),
		cmocka_unit_test(
			what_comes_before_all_have_an_item_is_replaced),
		cmocka_unit_test(several_items_at_once_make_as_many_results),
		cmocka_unit_test(
			none_that_is_there_is_replaced_before_the_first_result),
		cmocka_unit_test(it_completes_when_all_have),
		cmocka_unit_test(it_completes_when_one_has_without_an_item),
		cmocka_unit_test(it_fails_as_soon_as_one_flow_fails),
		cmocka_unit_test(what_cannot_be_combined_makes_no_result),
		cmocka_unit_test(it_needs_flows_and_a_function),
		cmocka_unit_test(
			each_item_is_combined_with_the_newest_of_the_other),
		cmocka_unit_test(
			what_comes_before_the_other_has_an_item_is_dropped),
		cmocka_unit_test(it_ends_with_the_flow_and_not_with_the_other),
		cmocka_unit_test(both_errors_are_passed_on_at_once),
		cmocka_unit_test(an_item_that_cannot_be_combined_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
