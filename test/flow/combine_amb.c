/* SPDX-License-Identifier: BSD-2-Clause */
/* The first of several flows that shows a sign of life: amb. */
#include "flow/fan_kit.h"

static struct weir_flow *of_three(struct weir_flow *const *taps)
{
	return weir_flow_amb(taps, 3);
}

static void the_first_item_wins(void **state)
{
	assert_played(of_three, "b5 5 -a -c b6-7 6 7 b| |");
	assert_played(of_three, "a1 1 -b -c a! !");
}

static void an_end_wins_too(void **state)
{
	assert_played(of_three, "c| -a -b |");
	assert_played(of_three, "c! -a -b !");
}

static void of_several_at_once_the_first_wins(void **state)
{
	static const intptr_t expected[] = {1, 2, 3};
	struct weir_flow *ups[] = {weir_flow_never(),
				   counted(weir_flow_range(1, 3)),
				   counted(weir_flow_range(5, 9))};
	struct weir_flow *flow = weir_flow_amb(ups, 3);
	static struct got got;

	got = (struct got){.counted = true};
	flow = into(flow, &got);
	got.code = run_on_sim(flow, 1, 0);
	weir_flow_free(flow);
	assert_got(&got, expected, 3, 0);
}

/* Losers are actors with items in their links. */
static void whoever_wins_nothing_of_the_others_is_left(void **state)
{
	static const size_t unfused[] = {1, 4, 16};
	struct weir_flow *ups[3], *flow;
	static struct got got;
	size_t i, n_won[3] = {0};

	for (i = 0; i < 3; i++)
		ups[i] = counted(weir_flow_range(100 * (int64_t)i,
						 100 * (int64_t)i + 9));
	flow = into(weir_flow_amb(ups, 3), &got);
	for_each_seed(seed, 60) {
		got = (struct got){.counted = true};
		assert_int_equal(run_on_sim(flow, seed, unfused[seed % 3]), 0);
		assert_int_equal(got.n, 10);
		for (i = 0; i < 10; i++)
			assert_int_equal(got.values[i], got.values[0] + i);
		n_won[got.values[0] / 100]++;
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
	for (i = 0; i < 3 && test_count(60) == 60; i++)
		assert_true(n_won[i] > 0);
}

static void a_run_can_be_cancelled_before_one_wins(void **state)
{
	assert_played(of_three, "");
}

static void it_needs_flows(void **state)
{
	struct weir_flow *none = NULL;
	struct weir_flow *flows[] = {
		weir_flow_amb(NULL, 2),
		weir_flow_amb(&none, 1),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_item_wins),
		cmocka_unit_test(an_end_wins_too),
		cmocka_unit_test(of_several_at_once_the_first_wins),
		cmocka_unit_test(whoever_wins_nothing_of_the_others_is_left),
		cmocka_unit_test(a_run_can_be_cancelled_before_one_wins),
		cmocka_unit_test(it_needs_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
