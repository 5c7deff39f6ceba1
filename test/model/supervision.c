/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about supervision and death watch, and the weakening of their
 * code over those of two threads. Nearly all of it is under the system's lock,
 * so one preemption finds most of what there is; a soak looks for the rest, and
 * at x86's order.
 */
#include "support.h"

#include "supervision_kit.h"

static const struct scene_group *const groups[] = {
	&failures, &pending_messages, &deaths, &supervision_trees, &walks,
};
#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

#define MAX_SCENARIOS 128

/* Of two threads, and of three. */
static const struct explorer_scenario *of_two[MAX_SCENARIOS];
static const struct explorer_scenario *of_three[MAX_SCENARIOS];
static size_t n_of_two, n_of_three;

static int collect(void **state)
{
	const struct explorer_scenario *each;
	size_t g, i;

	for (g = 0; g < N_GROUPS; g++)
		for (i = 0; i < groups[g]->n; i++) {
			each = &groups[g]->scenarios[i];
			assert(n_of_two < MAX_SCENARIOS);
			assert(n_of_three < MAX_SCENARIOS);
			if (each->thread[2])
				of_three[n_of_three++] = each;
			else
				of_two[n_of_two++] = each;
		}
	return 0;
}

static void all_pass(const struct explorer_scenario *const *scenarios, size_t n,
		     int stale, bool tso)
{
	const struct explorer_options options = {
		.preemptions = test_soak() ? 2 : 1,
		.stale = stale,
		.tso = tso,
	};
	struct explorer_result result;
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(explorer_run(scenarios[i], &options, &result),
				 EXPLORER_PASSED);
}

/* Those of two, with few preemptions, are in every_fence_is_needed(). */
static void all_is_answered_once_and_ends(void **state)
{
	all_pass(of_three, n_of_three, -1, false);
	if (!test_soak())
		return;
	all_pass(of_two, n_of_two, 1, false);
	all_pass(of_two, n_of_two, 1, true);
}

/* This one explores unweakened as well. */
static void every_fence_is_needed(void **state)
{
	const struct explorer_weaken_options options = {
		.run = {.preemptions = 1, .stale = 1},
		.files = "lib/supervision/",
		.more_files = "lib/actor/child_ops.h",
	};
	struct explorer_weaken_result result;

	assert_true(
		explorer_weaken(of_two, n_of_two, &options, NULL, 0, &result));
	assert_true(result.killed > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_answered_once_and_ends),
		cmocka_unit_test(every_fence_is_needed),
	};

	return cmocka_run_group_tests(tests, collect, NULL);
}
