/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about supervision and death watch, and the weakening of their
 * code over those of two threads. Nearly all of it is under the system's lock,
 * so one preemption finds most of what there is; a soak looks for the rest, and
 * at x86's order.
 */
#include "supervision_kit.h"

static const struct scene_group *const all[] = {
	&failures,  &pending_messages,	&deaths,
	&questions, &supervision_trees, &walks,
	NULL,
};

/* Those of two, with few preemptions, are in every_fence_is_needed. */
const struct model_case model_cases[] = {
	{.name = "all_is_answered_once_and_ends",
	 .groups = all,
	 .threads = 3,
	 .run = {.preemptions = 1, .stale = -1},
	 .deepens = true},
	{.name = "all_is_answered_once_and_ends_if_stale",
	 .groups = all,
	 .threads = 2,
	 .in_soak = true,
	 .run = {.preemptions = 1, .stale = 1},
	 .deepens = true},
	{.name = "all_is_answered_once_and_ends_under_tso",
	 .groups = all,
	 .threads = 2,
	 .in_soak = true,
	 .run = {.preemptions = 1, .stale = 1, .tso = true},
	 .deepens = true},
	{.name = "every_fence_is_needed",
	 .groups = all,
	 .threads = 2,
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/supervision/",
	 .more_files = "lib/actor/child_ops.h"},
};
const size_t n_model_cases = N_OF(model_cases);
