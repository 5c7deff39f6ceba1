/* SPDX-License-Identifier: BSD-2-Clause */
/* The last items, and all but the last. */
#include "flow/memory_kit.h"
#include "flow/parts.h"

#define NONE ((const intptr_t[]){0}), 0

static const intptr_t first_5[] = {1, 2, 3, 4, 5};

static void take_last_waits_for_the_end(void **state)
{
	ASSERT_FLOW(weir_flow_take_last(weir_flow_range(1, 9), 3), 0, 7, 8, 9);
	ASSERT_COUNTED_FLOW(weir_flow_take_last(weir_flow_range(1, 9), 3), 0, 7,
			    8, 9);
}

static void take_last_takes_all_if_there_are_no_more(void **state)
{
	assert_flow(weir_flow_take_last(weir_flow_range(1, 5), 5), false,
		    first_5, 5, 0);
	assert_flow(weir_flow_take_last(weir_flow_range(1, 5), 5000), false,
		    first_5, 5, 0);
	assert_flow(weir_flow_take_last(weir_flow_empty(), 5), false, NONE, 0);
}

static void take_last_may_be_more_than_a_pull_has_room_for(void **state)
{
	static intptr_t expected[1000];

	for (size_t i = 0; i < 1000; i++)
		expected[i] = 2001 + (intptr_t)i;
	assert_flow(weir_flow_take_last(counted(weir_flow_range(1, 3000)),
					1000),
		    true, expected, 1000, 0);
}

static void take_last_of_none_drops_all(void **state)
{
	assert_flow(weir_flow_take_last(counted(weir_flow_range(1, 5)), 0),
		    true, NONE, 0);
	assert_flow(weir_flow_take_last(failing(), 0), false, NONE, -EPROTO);
}

static void take_last_drops_them_if_upstream_fails(void **state)
{
	assert_flow(weir_flow_take_last(counted(failing()), 2), true, NONE,
		    -EPROTO);
}

static void drop_last_is_so_many_items_behind(void **state)
{
	static const intptr_t rest[] = {1, 2, 3, 4, 5};

	assert_flow(weir_flow_drop_last(counted(weir_flow_range(1, 8)), 3),
		    true, rest, 5, 0);
	ASSERT_FLOW(weir_flow_drop_last(weir_flow_range(1, 2), 0), 0, 1, 2);
	assert_flow(weir_flow_drop_last(weir_flow_range(1, 5), 5), false, NONE,
		    0);
	assert_flow(weir_flow_drop_last(weir_flow_range(1, 5), 5000), false,
		    NONE, 0);
}

static void drop_last_drops_them_if_upstream_fails(void **state)
{
	static const intptr_t rest[] = {1, 2};

	assert_flow(weir_flow_drop_last(counted(failing()), 2), true, rest, 2,
		    -EPROTO);
}

/* It does not wait for the end. */
static void drop_last_passes_what_is_not_among_the_last(void **state)
{
	ASSERT_COUNTED_FLOW(
		weir_flow_take(
			weir_flow_drop_last(weir_flow_range(1, INT64_MAX), 2),
			3),
		0, 1, 2, 3);
}

static void they_end_without_demand(void **state)
{
	assert_ends_without_demand(
		weir_flow_take_last(weir_flow_range(1, 9), 3), 3);
	assert_ends_without_demand(
		weir_flow_drop_last(weir_flow_range(1, 9), 3), 6);
}

static void they_hold_no_more_than_is_possible(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_take_last(weir_flow_empty(), WEIR_CAPACITY_MAX + 1),
		weir_flow_drop_last(weir_flow_empty(), SIZE_MAX),
	};

	assert_refused_all(flows, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(take_last_waits_for_the_end),
		cmocka_unit_test(take_last_takes_all_if_there_are_no_more),
		cmocka_unit_test(
			take_last_may_be_more_than_a_pull_has_room_for),
		cmocka_unit_test(take_last_of_none_drops_all),
		cmocka_unit_test(take_last_drops_them_if_upstream_fails),
		cmocka_unit_test(drop_last_is_so_many_items_behind),
		cmocka_unit_test(drop_last_drops_them_if_upstream_fails),
		cmocka_unit_test(drop_last_passes_what_is_not_among_the_last),
		cmocka_unit_test(they_end_without_demand),
		cmocka_unit_test(they_hold_no_more_than_is_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
