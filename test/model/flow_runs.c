/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about what crosses threads in flows, and the weakening of its
 * code over all of them; what they use of the actors is weakened in core.c.
 */
#include "crossing.h"

static const struct scene_group *const all[] = {
	&op_timers, &calls, &queues, &pipes, &runs, &wakes, NULL,
};

static const struct explorer_exception exceptions[] = {
	{"operator.c", "weir_operator_wake", "ck_pr_fas_32", 0,
	 "a store alone hides what another one stored before, which "
	 "\"two wakes\" finds; a load and a store pass it on by the "
	 "release of the signal behind them"},
	{"async_parallel.c", "parallel_give", "ck_pr_fence_release", 0,
	 "the call looks at the item behind the signal, which has a "
	 "release of its own, and who is stopped does not look"},
	{"run.c", "run_over", "ck_pr_fence_acquire", 0,
	 "the lock of the completion comes before anybody looks at the "
	 "error, but that is its own affair"},
};

const struct model_case model_cases[] = {
	{.name = "nothing_is_lost_between_threads", .groups = all},
	{.name = "passes_under_tso", .groups = all, .run = {.tso = true}},
	{.name = "a_share_goes_on_for_who_is_there",
	 .groups = GROUPS(&shares),
	 .run = {.preemptions = 1}},
	{.name = "every_fence_is_needed",
	 .groups = all,
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/flow/",
	 EXCEPTIONS(exceptions)},
};
const size_t n_model_cases = N_OF(model_cases);
