/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about publishers and subscribers over ports, and the weakening
 * of their code over all of them; what they use of the actors is weakened in
 * core.c, counting references in references.c.
 */
#include "flows.h"

static const struct scene_group *const all[] = {
	&publishers,
	&subscribers,
	&offers,
	NULL,
};

static const struct explorer_exception exceptions[] = {
	{"reactive_subscription.c", "cancel", "ck_pr_or_32", 0,
	 "nothing is sent to who has cancelled, whatever it overwrites"},
	{"reactive_subscription.c", "weir__out_subscription_detach",
	 "ck_pr_or_32", 0, "once it is over nobody asks for the other bits"},
	{"reactive_subscription.c", "send_end", "ck_pr_or_32", 0,
	 "once it is over nobody asks for the other bits"},
	{"reactive_subscription.c", "subscription_give", "ck_pr_or_32", 0,
	 "nothing is sent to who is broken, whatever it overwrites"},
	{"reactive_subscription.c", "subscription_give", "ck_pr_or_32", 1,
	 "a cancel that it overwrites came while the item was looked "
	 "at, and so may come too late for the error"},
};

const struct model_case model_cases[] = {
	{.name = "nothing_is_lost_and_every_fence_is_needed",
	 .groups = all,
	 .files = "lib/stream/reactive",
	 .more_files = "lib/actor/actor.c",
	 .doubts = true,
	 EXCEPTIONS(exceptions)},
	{.name = "passes_under_tso", .groups = all, .run = {.tso = true}},
};
const size_t n_model_cases = N_OF(model_cases);
