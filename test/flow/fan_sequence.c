/* SPDX-License-Identifier: BSD-2-Clause */
/* Several flows made one by the numbers of their items. */
#include "flow/fan_kit.h"
#include "flow/memory_kit.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t n_asked; /* for a number */

static uint64_t its_value(void *item, void *context)
{
	n_asked++;
	return (uint64_t)((struct item *)item)->value;
}

static uint64_t itself(void *item, void *context)
{
	return (uintptr_t)item;
}

static struct weir_flow *in_sequence(struct weir_flow *const *flows)
{
	return weir_flow_merge_sequence(flows, PLAYED_MAX, its_value, NULL);
}

static struct weir_flow *one_in_sequence(struct weir_flow *const *flows)
{
	weir_flow_free(flows[1]);
	weir_flow_free(flows[2]);
	return weir_flow_merge_sequence(flows, 1, its_value, NULL);
}

/* --- What comes ----------------------------------------------------------- */

static void parts_come_in_the_order_of_their_numbers(void **state)
{
	static void *const one[] = {(void *)0, (void *)3, (void *)4};
	static void *const two[] = {(void *)2, (void *)5, (void *)8};
	struct weir_flow *flows[] = {
		weir_flow_array(one, N(one)), weir_flow_empty(),
		weir_flow_array(two, N(two)), weir_flow_range(6, 7),
		weir_flow_range(1, 1),
	};

	ASSERT_FLOW(weir_flow_merge_sequence(flows, N(flows), itself, NULL), 0,
		    0, 1, 2, 3, 4, 5, 6, 7, 8);
}

static void an_item_that_is_next_waits_for_no_other_flow(void **state)
{
	assert_played(in_sequence, "a0 0 a1-2 1 2 b3 3 a5 c4 4 5 a| b| c| |");
	assert_played(in_sequence, "c1 b| a0 0 1 c2-4 2 3 4 a| c| |");
	assert_played(one_in_sequence, "a0 0 a1-3 1 2 3 a| |");
}

static void what_waits_comes_with_the_one_that_is_missing(void **state)
{
	assert_played(in_sequence, "a4-6 b1-3 a| b| c0 0 1 2 3 4 5 6 c| |");
}

static int by_rest(void *item, size_t *outlet, void *context)
{
	*outlet = (size_t)item % PLAYED_MAX;
	return 0;
}

static void a_flow_that_was_split_up_is_whole_again(void **state)
{
	struct weir_flow *outlets[PLAYED_MAX], *flow;

	assert_int_equal(weir_flow_partition(weir_flow_range(0, 2999),
					     PLAYED_MAX, by_rest, NULL, outlets,
					     NULL),
			 0);
	outlets[1] = weir_flow_async(outlets[1], 1, NULL);
	flow = weir_flow_merge_sequence(outlets, PLAYED_MAX, itself, NULL);
	ASSERT_FLOW(weir_flow_count(flow), 0, 3000);
}

static void each_item_is_asked_once_for_its_number(void **state)
{
	struct weir_flow *flows[] = {counted(weir_flow_range(100, 199)),
				     counted(weir_flow_range(0, 99))};
	struct weir_flow *flow =
		weir_flow_merge_sequence(flows, 2, its_value, NULL);

	flow = weir_flow_ignore(flow);
	n_asked = 0;
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_int_equal(n_asked, 200);
}

/* --- What is wrong with the numbers --------------------------------------- */

static void a_number_that_no_flow_can_have_is_missing(void **state)
{
	assert_played(in_sequence, "a0 0 a2 b3 c4 -a -b -c !61");
	assert_played(in_sequence, "a0 0 b| c| a2-3 -a !61");
	assert_played(in_sequence, "a1 b| c| -a !61");
	assert_played(in_sequence, "a1 a| b| c| !61");
	assert_played(one_in_sequence, "a0-1 0 1 a3 -a !61");
}

static void a_number_that_comes_twice_fails_behind_the_first(void **state)
{
	assert_played(in_sequence, "a0 0 b0 -a -b -c !17");
	assert_played(in_sequence, "a1 b1 c0 0 1 -a -b -c !17");
	assert_played(one_in_sequence, "a0 0 a0 -a !17");
}

static void so_does_one_that_is_out_of_order_in_its_flow(void **state)
{
	assert_played(in_sequence, "a0 0 a2 b1 1 2 a1 -a -b -c !17");
}

static void an_error_names_the_number(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 9);
	struct weir_error *error = error_of(weir_flow_ignore(
		weir_flow_merge_sequence(&flow, 1, itself, NULL)));

	assert_int_equal(error->code, -ENODATA);
	assert_string_equal(error->origin, "merge_sequence");
	assert_string_equal(error->message, "number 0 is missing");
	weir_error_unref(error);
	flow = weir_flow_concat((struct weir_flow *[]){weir_flow_range(0, 4),
						       weir_flow_range(3, 4)},
				2);
	error = error_of(weir_flow_ignore(
		weir_flow_merge_sequence(&flow, 1, itself, NULL)));
	assert_int_equal(error->code, -EEXIST);
	assert_string_equal(error->message,
			    "number 3 has come again, or out of order");
	weir_error_unref(error);
}

/* --- Ends ----------------------------------------------------------------- */

static void an_error_of_a_flow_comes_behind_its_own_items(void **state)
{
	assert_played(in_sequence, "b0 0 a! -b -c !");
	assert_played(in_sequence, "a1 a! b0 0 1 -b -c !");
	assert_played(in_sequence, "a2 a! b0 0 c| b1 1 2 -b !");
	assert_played(in_sequence, "a1 b2 c! -a -b !");
}

/* It counts from 0 in each run. */
static void a_cancel_drops_what_waits(void **state)
{
	static const intptr_t expected[] = {0, 1, 2};
	struct weir_flow *flows[] = {counted(weir_flow_range(2, 99)),
				     counted(weir_flow_range(0, 1))};
	struct weir_flow *flow =
		weir_flow_merge_sequence(flows, 2, its_value, NULL);

	assert_flow(weir_flow_take(flow, 3), true, expected, 3, 0);
}

static void without_memory_it_fails(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flows[] = {counted(weir_flow_range(2, 9)),
				     counted(weir_flow_range(0, 1))};
	struct weir_flow *flow =
		into(weir_flow_merge_sequence(flows, 2, its_value, NULL), &got);

	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void bad_arguments_are_refused(void **state)
{
	struct weir_flow *one = weir_flow_empty(), *other = weir_flow_empty();
	struct weir_flow *flows[] = {
		weir_flow_merge_sequence(NULL, 2, itself, NULL),
		weir_flow_merge_sequence(&one, 0, itself, NULL),
		weir_flow_merge_sequence(&one, 1, NULL, NULL),
		weir_flow_delay_errors(weir_flow_merge_sequence(&other, 1,
								itself, NULL),
				       NULL, NULL),
	};

	assert_refused_all(flows, N(flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_come_in_the_order_of_their_numbers),
		cmocka_unit_test(an_item_that_is_next_waits_for_no_other_flow),
		cmocka_unit_test(what_waits_comes_with_the_one_that_is_missing),
		cmocka_unit_test(a_flow_that_was_split_up_is_whole_again),
		cmocka_unit_test(each_item_is_asked_once_for_its_number),
		cmocka_unit_test(a_number_that_no_flow_can_have_is_missing),
		cmocka_unit_test(
			a_number_that_comes_twice_fails_behind_the_first),
		cmocka_unit_test(so_does_one_that_is_out_of_order_in_its_flow),
		cmocka_unit_test(an_error_names_the_number),
		cmocka_unit_test(an_error_of_a_flow_comes_behind_its_own_items),
		cmocka_unit_test(a_cancel_drops_what_waits),
		cmocka_unit_test(without_memory_it_fails),
		cmocka_unit_test(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
