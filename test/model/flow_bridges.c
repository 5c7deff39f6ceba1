/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenarios about what flows are joined to, and the weakening of that code,
 * each file in the scenarios about it; flow_runs.c does the same for runs and
 * their islands.
 */
#include "crossing.h"

static const struct scene_group *const all[] = {
	&flow_subscribers, &flow_exits, &switches, &fans, &graphs, NULL,
};

/* The same with more threads. */
static const struct scene_group *const large[] = {
	&long_feeds, &long_exits,  &long_switches,
	&long_fans,  &long_graphs, NULL,
};

static const struct explorer_exception of_feeds[] = {
	{"bridge_subscriber.c", "put", "ck_pr_fas_32", 0,
	 "nobody else writes it; it is a swap so that the fence behind "
	 "it is one of swaps, which costs nothing more"},
	{"bridge_subscriber.c", "feed_end", "ck_pr_fas_32", 0, "as in put()"},
	{"bridge_subscriber.c", "feed_ask", "ck_pr_fence_release", 0,
	 "slots are read before, and the acquire of look() keeps loads "
	 "from later stores as well"},
	{"bridge_subscriber.c", "from_close", "ck_pr_fence_acquire", 0,
	 "take(), which comes next, has one of its own"},
};

const struct model_case model_cases[] = {
	{.name = "nothing_is_lost_between_threads", .groups = all},
	{.name = "passes_under_tso", .groups = all, .run = {.tso = true}},
	{.name = "nothing_is_lost_between_more_threads",
	 .groups = large,
	 .in_soak = true},
	{.name = "more_threads_pass_under_tso",
	 .groups = large,
	 .in_soak = true,
	 .run = {.tso = true}},
	{.name = "every_fence_of_a_feed_is_needed",
	 .groups = GROUPS(&flow_subscribers),
	 .run = {.preemptions = 2, .stale = 1},
	 .files = "lib/flow/operators/bridge_subscriber.c",
	 EXCEPTIONS(of_feeds)},
	{.name = "every_fence_of_an_exit_is_needed",
	 .groups = GROUPS(&flow_exits),
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/flow/engine/exit.c",
	 .more_files = "lib/flow/operators/bridge_publisher.c"},
	{.name = "every_fence_of_a_switch_is_needed",
	 .groups = GROUPS(&switches),
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/flow/operators/switch.c"},
};
const size_t n_model_cases = N_OF(model_cases);
