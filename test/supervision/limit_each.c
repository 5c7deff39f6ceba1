/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of the restarts of one child, with real failures on the virtual clock
 * (B6). Rule numbers like B6 are those of docs/conformance/supervision.md.
 */
#include "supervision/failing.h"

/* A play whose /user has that limit of each child, and an `a` in it. */
static void limit_each(struct play *play, const struct weir_limit *limit)
{
	static struct weir_strategy strategy;

	strategy = (struct weir_strategy){BY_CODE, .each = limit};
	play->top = &strategy;
	SCRIPT(play, all_fail);
	add(play, NULL, "a");
}

/* --- B6: of one child ----------------------------------------------------- */

static void b6_1_with_none_it_never_restarts(struct play *play)
{
	static const struct weir_limit none[] = {
		{.max = 0, .window = WEIR_WINDOW_TUMBLING, .within_ns = SECOND},
		{.max = 0,
		 .window = WEIR_WINDOW_TUMBLING,
		 .within_ns = WEIR_FOREVER},
		{.max = 0, .window = WEIR_WINDOW_SLIDING, .within_ns = SECOND},
		{.max = 0, .window = WEIR_WINDOW_SLIDING},
	};

	limit_each(play, &none[play->seed % LENGTH(none)]);
	assert_false(survives_at(play, "a", HOUR));
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop");
	assert_told(play, "system", "limit(a)");
}

static void b6_2_without_a_window_the_count_never_resets(struct play *play)
{
	static const struct weir_limit three = {.max = 3,
						.window = WEIR_WINDOW_TUMBLING,
						.within_ns = WEIR_FOREVER};

	limit_each(play, &three);
	assert_true(survives_at(play, "a", 0));
	assert_true(survives_at(play, "a", HOUR));
	assert_true(survives_at(play, "a", 1000 * HOUR));
	assert_false(survives_at(play, "a", 100000 * HOUR));
}

/* Asked when it fails, and not when its time has come. */
static void b6_2_a_restart_that_is_put_off_counts_once(struct play *play)
{
	static const struct weir_limit two = {.max = 2};
	static const struct weir_backoff one_second = {
		.min_ns = SECOND,
		.max_ns = SECOND,
	};
	static const struct weir_strategy slow = {
		BY_CODE,
		.each = &two,
		.all = &two,
		.backoff = &one_second,
	};

	play->top = &slow;
	SCRIPT(play, all_fail);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 3), 0);
	run_until(play, 2 * SECOND - 1);
	assert_int_equal(member(play, "a")->generation, 2);
	run_until(play, 2 * SECOND);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.2 a2.pre_restart a3.reset a3.post_restart a3.3 "
		    "a3.post_stop");
	assert_told(play, "system", "restart(a) restart(a) limit(a)");
}

static void b6_3_without_either_it_always_restarts(struct play *play)
{
	static const struct weir_limit unlimited[] = {
		{.max = -1,
		 .window = WEIR_WINDOW_TUMBLING,
		 .within_ns = WEIR_FOREVER},
		{.max = -7, .window = WEIR_WINDOW_SLIDING},
	};
	size_t i;

	limit_each(play,
		   play->seed % 3 == 2 ? NULL : &unlimited[play->seed % 3]);
	for (i = 0; i < 50; i++)
		assert_true(survives_at(play, "a", i / 10));
	assert_int_equal(
		weir_system_restarts(play->base.system, ref(play, "a")), 50);
}

static void b6_4_a_window_without_a_number_allows_one(struct play *play)
{
	static const struct weir_limit window = {
		.max = -1, .window = WEIR_WINDOW_TUMBLING, .within_ns = SECOND};

	limit_each(play, &window);
	assert_true(survives_at(play, "a", 0));
	assert_true(survives_at(play, "a", SECOND + 1));
	assert_false(survives_at(play, "a", 2 * SECOND + 1));
}

/* Failures at these times, in ms, of which all but the last are forgiven. */
static void last_fails(struct play *play, const struct weir_limit *limit,
		       const uint64_t *at_ms, size_t n)
{
	size_t i;

	limit_each(play, limit);
	for (i = 0; i < n; i++)
		assert_int_equal(survives_at(play, "a", at_ms[i] * MS),
				 i + 1 < n);
	assert_int_equal(member(play, "a")->generation, n);
	assert_int_equal(times(play, "limit(a)"), 1);
}

static const struct weir_limit two_in_a_second = {.max = 2,
						  .window =
							  WEIR_WINDOW_TUMBLING,
						  .within_ns = SECOND};

static void b6_5_the_third_in_a_tumbling_window_is_refused(struct play *play)
{
	static const uint64_t at_ms[] = {1, 900, 1000};

	last_fails(play, &two_in_a_second, at_ms, LENGTH(at_ms));
}

static void b6_5_the_window_includes_its_end(struct play *play)
{
	static const uint64_t at_ms[] = {1, 900, 1001};

	last_fails(play, &two_in_a_second, at_ms, LENGTH(at_ms));
}

static void b6_5_around_an_edge_there_are_twice_as_many(struct play *play)
{
	static const uint64_t at_ms[] = {1, 990, 1002, 1003, 1004};

	last_fails(play, &two_in_a_second, at_ms, LENGTH(at_ms));
}

static void b6_5_a_window_of_nothing_counts_the_same_instant(struct play *play)
{
	static const struct weir_limit instant = {
		.max = 1, .window = WEIR_WINDOW_TUMBLING, .within_ns = 0};
	static const uint64_t at_ms[] = {1, 2, 3, 3};

	last_fails(play, &instant, at_ms, LENGTH(at_ms));
}

static const struct weir_limit one_ever = {.max = 1};

static void b6_6_past_its_limit_the_child_ends_and_nobody_else(
	struct play *play)
{
	static const struct weir_strategy limited = {BY_CODE,
						     .each = &one_ever};
	static const struct role roles[] = {
		{"boss", .strategy = &limited},
		{"watcher", .hooks = USUAL | HOOK(TERMINATED)},
	};
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"watcher", PRE_START, .watch = "a"},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	add(play, "boss", "b");
	add(play, NULL, "watcher");
	run(play);
	give(play, "a", 1);
	assert_told(play, "watcher", "watcher1.pre_start");
	give(play, "a", 1);
	assert_told(play, "watcher", "watcher1.pre_start watcher1.terminated");
	assert_false(alive(play, "a"));
	assert_told(play, "boss", "boss1.pre_start");
	assert_told(play, "b", "b1.pre_start");
}

static void b6_7_the_next_of_that_name_has_a_clean_record(struct play *play)
{
	size_t i;

	limit_each(play, &one_ever);
	for (i = 0; i < 3; i++) {
		assert_true(survives_at(play, "a", i));
		assert_false(survives_at(play, "a", i));
		add(play, NULL, "a");
	}
	assert_true(survives_at(play, "a", i));
}

static void b6_8_without_retries_it_stops_at_once(struct play *play)
{
	static const struct weir_limit none = {
		.window = WEIR_WINDOW_SLIDING_STRICT, .within_ns = 10 * SECOND};

	limit_each(play, &none);
	assert_false(survives_at(play, "a", 0));
}

static const struct weir_limit strict_one = {.max = 1,
					     .window =
						     WEIR_WINDOW_SLIDING_STRICT,
					     .within_ns = 10 * SECOND};

static void b6_9_a_strict_window_does_not_include_its_end(struct play *play)
{
	static const uint64_t at_ms[] = {0, 10000, 20000, 29999};

	last_fails(play, &strict_one, at_ms, LENGTH(at_ms));
}

static void b6_9_a_sliding_window_includes_its_end(struct play *play)
{
	static const struct weir_limit one = {.max = 1,
					      .window = WEIR_WINDOW_SLIDING,
					      .within_ns = 10 * SECOND};

	limit_each(play, &one);
	assert_true(survives_at(play, "a", 0));
	assert_true(survives_at(play, "a", 10 * SECOND + 1));
	assert_false(survives_at(play, "a", 20 * SECOND + 1));
}

static void b6_10_the_failures_inside_the_window_count(struct play *play)
{
	static const struct weir_limit strict_two = {
		.max = 2,
		.window = WEIR_WINDOW_SLIDING_STRICT,
		.within_ns = 10 * SECOND,
	};
	/* one 5 s ago goes on; two 5 s ago do not; those 11 s ago are none */
	static const uint64_t one_allowed[] = {0, 11000, 22000, 27000};
	static const uint64_t two_allowed[] = {0, 5000, 11000, 16000, 16000};

	if (play->seed % 2)
		last_fails(play, &strict_one, one_allowed, LENGTH(one_allowed));
	else
		last_fails(play, &strict_two, two_allowed, LENGTH(two_allowed));
}

static void b6_10_without_a_window_all_failures_count(struct play *play)
{
	static const struct weir_limit one = {
		.max = 1, .window = WEIR_WINDOW_SLIDING_STRICT};
	static const uint64_t at_ms[] = {0, 360000000};

	last_fails(play, &one, at_ms, LENGTH(at_ms));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b6_1_with_none_it_never_restarts),
		RULE(b6_2_without_a_window_the_count_never_resets),
		RULE(b6_2_a_restart_that_is_put_off_counts_once),
		RULE(b6_3_without_either_it_always_restarts),
		RULE(b6_4_a_window_without_a_number_allows_one),
		RULE(b6_5_the_third_in_a_tumbling_window_is_refused),
		RULE(b6_5_the_window_includes_its_end),
		RULE(b6_5_around_an_edge_there_are_twice_as_many),
		RULE(b6_5_a_window_of_nothing_counts_the_same_instant),
		RULE(b6_6_past_its_limit_the_child_ends_and_nobody_else),
		RULE(b6_7_the_next_of_that_name_has_a_clean_record),
		RULE(b6_8_without_retries_it_stops_at_once),
		RULE(b6_9_a_strict_window_does_not_include_its_end),
		RULE(b6_9_a_sliding_window_includes_its_end),
		RULE(b6_10_the_failures_inside_the_window_count),
		RULE(b6_10_without_a_window_all_failures_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
