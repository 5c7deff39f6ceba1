/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about what flows are joined to, and the weakening of that code,
 * each file in the scenarios about it; flow_runs.c does the same for runs and
 * their islands.
 */
#include "support.h"

#include "crossing.h"

static const struct scene_group *const groups[] = {
	&flow_subscribers, &flow_exits, &switches, &fans, &graphs,
};
#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

#define MAX_SCENARIOS 64

/* For `./dev soak`: the same with more threads. */
static const struct scene_group *const long_groups[] = {
	&long_feeds, &long_exits, &long_switches, &long_fans, &long_graphs,
};
#define N_LONG_GROUPS (sizeof(long_groups) / sizeof(long_groups[0]))

/* `list` has room for MAX_SCENARIOS. */
static size_t collect(const struct scene_group *group,
		      const struct explorer_scenario **list)
{
	size_t i;

	assert(group->n <= MAX_SCENARIOS);
	for (i = 0; i < group->n; i++)
		list[i] = &group->scenarios[i];
	return group->n;
}

static bool all_of(const struct scene_group *const *some, size_t n, bool tso)
{
	const struct explorer_scenario *list[MAX_SCENARIOS];
	bool pass = true;
	size_t i;

	for (i = 0; i < n; i++)
		if (!explorer_all_pass(list, collect(some[i], list), tso))
			pass = false;
	return pass;
}

static bool all_pass(bool tso)
{
	bool pass = all_of(groups, N_GROUPS, tso);

	return !test_soak() ? pass
			    : all_of(long_groups, N_LONG_GROUPS, tso) && pass;
}

static void nothing_is_lost_between_threads(void **state)
{
	assert_true(all_pass(false));
}

static void passes_under_tso(void **state)
{
	assert_true(all_pass(true));
}

static void assert_all_are_needed(const struct scene_group *group,
				  const struct explorer_weaken_options *options,
				  const struct explorer_exception *exceptions,
				  size_t n_exceptions)
{
	const struct explorer_scenario *list[MAX_SCENARIOS];
	struct explorer_weaken_result result;

	assert_true(explorer_weaken(list, collect(group, list), options,
				    exceptions, n_exceptions, &result));
	assert_true(result.killed > 0);
}

static void every_fence_of_a_feed_is_needed(void **state)
{
	static const struct explorer_exception exceptions[] = {
		{"bridge_subscriber.c", "put", "ck_pr_fas_32", 0,
		 "nobody else writes it; it is a swap so that the fence behind "
		 "it is one of swaps, which costs nothing more"},
		{"bridge_subscriber.c", "feed_end", "ck_pr_fas_32", 0,
		 "as in put()"},
		{"bridge_subscriber.c", "feed_ask", "ck_pr_fence_release", 0,
		 "slots are read before, and the acquire of look() keeps loads "
		 "from later stores as well"},
		{"bridge_subscriber.c", "from_close", "ck_pr_fence_acquire", 0,
		 "take(), which comes next, has one of its own"},
	};
	const struct explorer_weaken_options options = {
		.run = {.preemptions = 2, .stale = 1},
		.files = "lib/flow/operators/bridge_subscriber.c",
	};

	assert_all_are_needed(&flow_subscribers, &options, exceptions,
			      sizeof(exceptions) / sizeof(exceptions[0]));
}

static void every_fence_of_an_exit_is_needed(void **state)
{
	const struct explorer_weaken_options options = {
		.run = {.preemptions = 1, .stale = 1},
		.files = "lib/flow/engine/exit.c",
		.more_files = "lib/flow/operators/bridge_publisher.c",
	};

	assert_all_are_needed(&flow_exits, &options, NULL, 0);
}

static void every_fence_of_a_switch_is_needed(void **state)
{
	static const struct explorer_exception exceptions[] = {
		{"switch.c", "weir_flow_switch_free", "ck_pr_fence_release", 0,
		 "what is done with a switch ends with an unlock, which has a "
		 "release of its own"},
	};
	const struct explorer_weaken_options options = {
		.run = {.preemptions = 1, .stale = 1},
		.files = "lib/flow/operators/switch.c",
	};

	assert_all_are_needed(&switches, &options, exceptions,
			      sizeof(exceptions) / sizeof(exceptions[0]));
}

static void every_fence_of_an_outlet_is_needed(void **state)
{
	const struct explorer_weaken_options options = {
		.run = {.preemptions = 1, .stale = 1},
		.files = "lib/flow/shared/fan.c",
	};

	assert_all_are_needed(&fans, &options, NULL, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_between_threads),
		cmocka_unit_test(passes_under_tso),
		cmocka_unit_test(every_fence_of_a_feed_is_needed),
		cmocka_unit_test(every_fence_of_an_exit_is_needed),
		cmocka_unit_test(every_fence_of_a_switch_is_needed),
		cmocka_unit_test(every_fence_of_an_outlet_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
