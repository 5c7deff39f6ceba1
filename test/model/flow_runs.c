/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about what crosses threads in flows, and the weakening of its
 * code over all of them; what they use of the actors is weakened in core.c.
 */
#include "support.h"

#include "crossing.h"

static const struct scene_group *const groups[] = {
	&op_timers, &calls, &queues, &pipes, &runs, &wakes,
};
#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

#define MAX_SCENARIOS 64

static const struct explorer_scenario *scenarios[MAX_SCENARIOS];
static size_t n_scenarios;

static int collect(void **state)
{
	size_t g, i;

	for (g = 0; g < N_GROUPS; g++)
		for (i = 0; i < groups[g]->n; i++) {
			assert(n_scenarios < MAX_SCENARIOS);
			scenarios[n_scenarios++] = &groups[g]->scenarios[i];
		}
	return 0;
}

static void nothing_is_lost_between_threads(void **state)
{
	assert_true(explorer_all_pass(scenarios, n_scenarios, false));
}

static void passes_under_tso(void **state)
{
	assert_true(explorer_all_pass(scenarios, n_scenarios, true));
}

static void every_fence_is_needed(void **state)
{
	static const struct explorer_exception exceptions[] = {
		{"operator.c", "weir_operator_wake", "ck_pr_fas_32", 0,
		 "a store alone hides what another one stored before, which "
		 "\"two wakes\" finds; a load and a store pass it on by the "
		 "release of the signal behind them"},
		{"async_parallel.c", "parallel_give", "ck_pr_fence_release", 0,
		 "the call looks at the item behind the signal, which has a "
		 "release of its own, and who is stopped does not look"},
		{"rate_pipe.c", "pipe_unref", "ck_pr_fence_release", 0,
		 "either end has just dropped a reference of the writer, behind "
		 "a release that orders all that it did with the pipe"},
		{"run.c", "weir__run_island_released", "ck_pr_fence_acquire", 0,
		 "a thread that leaves a registry fences first, but where that "
		 "is a membarrier it is the other side that does"},
		{"run.c", "run_over", "ck_pr_fence_acquire", 0,
		 "the lock of the completion comes before anybody looks at the "
		 "error, but that is its own affair"},
	};
	const struct explorer_weaken_options options = {
		.run = {.preemptions = 1, .stale = 1},
		.files = "lib/flow/",
	};
	struct explorer_weaken_result result;

	assert_true(explorer_weaken(
		scenarios, n_scenarios, &options, exceptions,
		sizeof(exceptions) / sizeof(exceptions[0]), &result));
	assert_true(result.killed > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_between_threads),
		cmocka_unit_test(passes_under_tso),
		cmocka_unit_test(every_fence_is_needed),
	};

	return cmocka_run_group_tests(tests, collect, NULL);
}
