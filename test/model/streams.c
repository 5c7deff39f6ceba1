/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about publishers and subscribers over ports, and the weakening
 * of their code over all of them; what they use of the actors is weakened in
 * core.c, counting references in references.c.
 */
#include "support.h"

#include "flows.h"

static const struct scene_group *const groups[] = {
	&publishers,
	&subscribers,
	&offers,
};
#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

#define MAX_SCENARIOS 96

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

static void passes_under_tso(void **state)
{
	assert_true(explorer_all_pass(scenarios, n_scenarios, true));
}

static void nothing_is_lost_and_every_fence_is_needed(void **state)
{
	static const struct explorer_exception exceptions[] = {
		{"reactive_subscription.c", "cancel", "ck_pr_or_32", 0,
		 "nothing is sent to who has cancelled, whatever it overwrites"},
		{"reactive_subscription.c", "weir__out_subscription_detach",
		 "ck_pr_or_32", 0,
		 "once it is over nobody asks for the other bits"},
		{"reactive_subscription.c", "send_end", "ck_pr_or_32", 0,
		 "once it is over nobody asks for the other bits"},
		{"reactive_subscription.c", "subscription_give", "ck_pr_or_32",
		 0, "nothing is sent to who is broken, whatever it overwrites"},
		{"reactive_subscription.c", "subscription_give", "ck_pr_or_32",
		 1,
		 "a cancel that it overwrites came while the item was looked "
		 "at, and so may come too late for the error"},
	};
	const struct explorer_weaken_options options = {
		.files = "lib/stream/reactive",
		.more_files = "lib/actor/actor.c",
		.doubt = test_soak(),
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
		cmocka_unit_test(nothing_is_lost_and_every_fence_is_needed),
		cmocka_unit_test(passes_under_tso),
	};

	return cmocka_run_group_tests(tests, collect, NULL);
}
