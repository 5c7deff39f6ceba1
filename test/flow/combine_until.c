/* SPDX-License-Identifier: BSD-2-Clause */
/* What a sign of another flow ends or begins: take_until, skip_until. */
#include "flow/fan_kit.h"

static struct weir_flow *take_until_b(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_take_until(taps[0], taps[1]);
}

static struct weir_flow *skip_until_b(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return weir_flow_skip_until(taps[0], taps[1]);
}

static void an_item_of_the_other_ends_a_take_until(void **state)
{
	assert_played(take_until_b, "a1 1 a2-3 2 3 b7 -a -b |");
	assert_played(take_until_b, "b7-9 -a -b |");
}

static void so_does_its_end_but_an_error_fails_it(void **state)
{
	assert_played(take_until_b, "a1 1 b| -a |");
	assert_played(take_until_b, "a1 1 b! -a !");
}

static void a_take_until_ends_with_its_flow(void **state)
{
	assert_played(take_until_b, "a1 1 a| -b |");
	assert_played(take_until_b, "a1 1 a! -b !");
}

static void a_skip_until_drops_what_comes_before(void **state)
{
	assert_played(skip_until_b, "a1 a2-300 b7 -b a4 4 a5-6 5 6 a| |");
	assert_played(skip_until_b, "a1 b| a4 4 a| |");
}

static void a_skip_until_ends_with_its_flow(void **state)
{
	assert_played(skip_until_b, "a1 a| -b |");
	assert_played(skip_until_b, "a1 a! -b !");
	assert_played(skip_until_b, "b7 -b a1 1 a! !");
}

static void a_skip_until_fails_with_the_other(void **state)
{
	assert_played(skip_until_b, "a1 b! -a !");
}

/* Of counted items, until plain ones. */
static void the_other_may_have_any_items(void **state)
{
	static const intptr_t expected[] = {1, 2, 3};
	struct weir_flow *flow;

	flow = weir_flow_take_until(counted(weir_flow_range(1, 3)),
				    weir_flow_tick(1000000, 1, NULL));
	assert_flow(flow, true, expected, 3, 0);
}

static void both_flows_are_needed(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_take_until(weir_flow_range(1, 2), NULL),
		weir_flow_take_until(NULL, weir_flow_range(1, 2)),
		weir_flow_skip_until(weir_flow_range(1, 2), NULL),
		weir_flow_skip_until(NULL, weir_flow_range(1, 2)),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_of_the_other_ends_a_take_until),
		cmocka_unit_test(so_does_its_end_but_an_error_fails_it),
		cmocka_unit_test(a_take_until_ends_with_its_flow),
		cmocka_unit_test(a_skip_until_drops_what_comes_before),
		cmocka_unit_test(a_skip_until_ends_with_its_flow),
		cmocka_unit_test(a_skip_until_fails_with_the_other),
		cmocka_unit_test(the_other_may_have_any_items),
		cmocka_unit_test(both_flows_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
