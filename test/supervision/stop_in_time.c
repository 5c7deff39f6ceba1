/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long children may take to stop, one after the other or all at once
 * (D1.5). Rule numbers like D1.5 are those of docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

/* --- D1.5: in time -------------------------------------------------------- */

/* They say that they will finish, and do so with item 9. */
static const struct step polite_steps[] = {
	{"a", STOPPING, .rc = 1}, {"a", TURN, .item = 9, .finish = true},
	{"b", STOPPING, .rc = 1}, {"b", TURN, .item = 9, .finish = true},
	{"c", STOPPING, .rc = 1}, {"c", TURN, .item = 9, .finish = true},
};
#define POLITE (USUAL | HOOK(STOPPING))

static void d1_5_it_is_asked_and_given_time(struct play *play)
{
	static const struct role roles[] = {
		{"a", POLITE, .shutdown_ns = 5 * SECOND},
	};

	ROLES(play, roles);
	SCRIPT(play, polite_steps);
	add(play, NULL, "a");
	run(play);
	stop(play, "a");
	run_until(play, 4 * SECOND);
	assert_told(play, "a", "a1.pre_start a1.stopping");
	assert_int_equal(put(play, "a", 1, 1), 0);
	assert_int_equal(put(play, "a", 9, 9), 0);
	run_until(play, 4 * SECOND);
	assert_told(play, "a",
		    "a1.pre_start a1.stopping a1.1 a1.9 a1.post_stop");
	assert_int_equal(member(play, "a")->fate.code, 0);
	run(play);
	assert_int_equal(world_now(&play->base), 4 * SECOND);
}

static void d1_5_at_the_deadline_it_is_stopped(struct play *play)
{
	static const struct role roles[] = {
		{"a", POLITE, .shutdown_ns = 5 * SECOND},
	};

	ROLES(play, roles);
	SCRIPT(play, polite_steps);
	run_until(play, SECOND);
	add(play, NULL, "a");
	add(play, "a", "below");
	run_until(play, SECOND);
	stop(play, "a");
	run_until(play, 6 * SECOND - 1);
	assert_int_equal(put(play, "below", 1, 1), 0);
	run_until(play, 6 * SECOND - 1);
	assert_told(play, "below", "below1.pre_start below1.1");
	assert_true(alive(play, "a"));
	run_until(play, 6 * SECOND);
	assert_false(alive(play, "a"));
	assert_told(play, "a", "a1.pre_start a1.stopping a1.post_stop");
	assert_int_equal(member(play, "a")->fate.code, -ECANCELED);
}

/* Without memory for its timer it stops at once, and its children in time. */
static void d1_5_nobody_is_waited_for_without_a_timer(struct play *play)
{
	static const struct role roles[] = {
		{"a", POLITE, .shutdown_ns = 5 * SECOND},
		{"below", POLITE},
	};
	static const struct step steps[] = {
		{"a", STOPPING, .rc = 1},
		{"below", STOPPING, .rc = 1},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "below");
	run(play);
	play->base.heap.fail = play->base.heap.calls + 1;
	stop(play, "a");
	run_until(play, 5 * SECOND - 1);
	assert_told(play, "below", "below1.pre_start below1.stopping");
	assert_true(alive(play, "a"));
	run_until(play, 5 * SECOND);
	assert_false(alive(play, "a"));
}

static void d1_5_one_that_has_no_wish_stops_at_once(struct play *play)
{
	static const struct role roles[] = {
		{"a", POLITE, .shutdown_ns = 5 * SECOND},
	};

	ROLES(play, roles);
	add(play, NULL, "a");
	run(play);
	stop(play, "a");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.stopping a1.post_stop");
	assert_int_equal(world_now(&play->base), 0);
}

/* The supervisor of a polite child is stopped. */
static void stop_the_boss(struct play *play)
{
	SCRIPT(play, polite_steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	run(play);
	stop(play, "boss");
}

static void d1_5_a_brutal_stop_asks_nobody(struct play *play)
{
	static const struct role roles[] = {
		{"boss", POLITE, .shutdown_ns = WEIR_SHUTDOWN_BRUTAL},
		{"a", POLITE},
	};

	ROLES(play, roles);
	stop_the_boss(play);
	run(play);
	assert_told(play, "boss", "boss1.pre_start boss1.post_stop");
	assert_told(play, "a", "a1.pre_start a1.post_stop");
}

static void d1_5_without_a_deadline_it_is_waited_for(struct play *play)
{
	static const struct role roles[] = {{"a", POLITE}};

	ROLES(play, roles);
	stop_the_boss(play);
	run_until(play, 10000 * HOUR);
	assert_true(alive(play, "boss"));
	assert_told(play, "a", "a1.pre_start a1.stopping");
	give(play, "a", 9);
	assert_false(alive(play, "boss"));
}

static void d1_5_a_deadline_after_the_end_of_time_never_comes(struct play *play)
{
	static const struct role roles[] = {
		{"a", POLITE, .shutdown_ns = UINT64_MAX - 2},
	};

	ROLES(play, roles);
	SCRIPT(play, polite_steps);
	add(play, NULL, "a");
	run_until(play, SECOND);
	stop(play, "a");
	run_until(play, 10000 * HOUR);
	assert_true(alive(play, "a"));
	assert_int_equal(put(play, "a", 9, 9), 0);
	run(play);
	assert_false(alive(play, "a"));
}

static void d1_5_a_brutal_one_that_finishes_asks_nobody(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .shutdown_ns = WEIR_SHUTDOWN_BRUTAL},
		{"a", POLITE},
	};
	static const struct step steps[] = {
		{"boss", TURN, .finish = true},
		{"a", STOPPING, .rc = 1},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	run(play);
	give(play, "boss", 1);
	assert_false(alive(play, "boss"));
	assert_int_equal(times(play, "a1.stopping"), 0);
}

/* The supervisor has a second, and its child all the time in the world. */
static void d1_5_the_time_is_for_the_children_as_well(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .shutdown_ns = SECOND},
		{"a", POLITE},
	};

	ROLES(play, roles);
	stop_the_boss(play);
	run_until(play, SECOND - 1);
	assert_true(alive(play, "a"));
	run_until(play, SECOND);
	assert_false(alive(play, "boss"));
	assert_told(play, "a", "a1.pre_start a1.stopping a1.post_stop");
}

/* simple_one_for_one: 30, 60 and 90 ms take 90 ms. */
/* The supervisor uses up most of it before it finishes. */
static void d1_5_the_time_for_the_children_is_what_is_left_of_it(
	struct play *play)
{
	static const struct role roles[] = {
		{"a", POLITE, .shutdown_ns = SECOND},
		{"b", POLITE},
	};

	ROLES(play, roles);
	SCRIPT(play, polite_steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	run(play);
	stop(play, "a");
	run_until(play, SECOND - 1);
	assert_int_equal(put(play, "a", 9, 9), 0);
	run_until(play, SECOND - 1);
	assert_told(play, "b", "b1.pre_start b1.stopping");
	run_until(play, SECOND);
	assert_false(alive(play, "b"));
	assert_false(alive(play, "a"));
}

static void d1_5_without_an_order_all_end_at_the_same_time(struct play *play)
{
	static const struct role roles[] = {
		{"a", POLITE},
		{"b", POLITE},
		{"c", POLITE},
	};
	static const char *const names[] = {"b", "c", "a"};
	size_t i;

	ROLES(play, roles);
	SCRIPT(play, polite_steps);
	add(play, NULL, "boss");
	add_three(play, "boss");
	stop(play, "boss");
	run(play);
	assert_int_equal(times(play, "a1.stopping"), 1);
	assert_int_equal(times(play, "b1.stopping"), 1);
	assert_int_equal(times(play, "c1.stopping"), 1);
	for (i = 0; i < 3; i++) {
		run_until(play, 30 * (i + 1) * MS);
		assert_true(alive(play, "boss"));
		assert_int_equal(put(play, names[i], 9, 9), 0);
	}
	run_until(play, 90 * MS);
	assert_false(alive(play, "boss"));
	ORDER(play, "b1.post_stop", "c1.post_stop", "a1.post_stop",
	      "boss1.post_stop");
}

static void d1_5_in_order_the_next_is_asked_when_one_has_ended(
	struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &one_by_one},
		{"a", POLITE, .shutdown_ns = SECOND},
		{"b", POLITE, .shutdown_ns = SECOND},
		{"c", POLITE},
	};

	ROLES(play, roles);
	SCRIPT(play, polite_steps);
	add(play, NULL, "boss");
	add_three(play, "boss");
	stop(play, "boss");
	run_until(play, SECOND);
	assert_told(play, "c", "c1.pre_start c1.stopping");
	assert_told(play, "b", "b1.pre_start");
	assert_int_equal(put(play, "c", 9, 9), 0);
	run_until(play, SECOND);
	assert_told(play, "b", "b1.pre_start b1.stopping");
	/* a second each, for b and for a */
	run_until(play, 2 * SECOND - 1);
	assert_true(alive(play, "b"));
	assert_told(play, "a", "a1.pre_start");
	run_until(play, 2 * SECOND);
	assert_false(alive(play, "b"));
	assert_told(play, "a", "a1.pre_start a1.stopping");
	run_until(play, 3 * SECOND);
	assert_false(alive(play, "boss"));
}

/* It cannot run, so it could not keep its promise. */
static void d1_5_one_that_is_suspended_is_not_asked(struct play *play)
{
	static const struct weir_backoff one_second = {
		.min_ns = SECOND,
		.max_ns = SECOND,
	};
	static const struct weir_strategy slow = {BY_CODE,
						  .backoff = &one_second};
	static const struct role roles[] = {{"a", POLITE}, {"boss", POLITE}};
	static const struct step steps[] = {
		{"boss", TURN, .fail = RESTART},
		{"boss", STOPPING, .rc = 1},
		{"a", STOPPING, .rc = 1},
	};

	play->top = &slow;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	run(play);
	assert_int_equal(put(play, "boss", 1, 1), 0);
	run_until(play, 500 * MS);
	stop(play, "boss");
	run_until(play, 500 * MS);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
	assert_told(play, "boss", "boss1.pre_start boss1.1 boss1.post_stop");
}

/* No verdict is asked for: it ends as it was to, if not as it wished. */
static void d1_5_one_that_fails_while_it_stops_has_ended(struct play *play)
{
	static const struct role roles[] = {{"a", POLITE}};
	static const struct step steps[] = {
		{"a", STOPPING, .rc = 1},
		{"a", TURN, .item = 9, .fail = RESTART},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	run(play);
	stop(play, play->seed % 2 ? "boss" : "a");
	run(play);
	give(play, "a", 9);
	assert_told(play, "a", "a1.pre_start a1.stopping a1.9 a1.post_stop");
	assert_int_equal(member(play, "a")->fate.code, RESTART);
	assert_told(play, "system", "");
}

/* Above it somebody fails, and it can not keep its promise any more. */
static void d1_5_one_that_is_suspended_while_it_stops_has_ended(
	struct play *play)
{
	static const struct role roles[] = {{"a", POLITE}};
	static const struct step steps[] = {
		{"a", STOPPING, .rc = 1},
		{"boss", TURN, .item = 1, .fail = RESTART},
		{"boss", TURN, .item = 2, .stop_children = true,
		 .fail = RESUME},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	add(play, "a", "below");
	run(play);
	if (play->seed % 2) {
		stop(play, "a");
		run(play);
		give(play, "boss", 1);
	} else {
		give(play, "boss", 2);
		give(play, "boss", 1);
	}
	assert_false(alive(play, "a"));
	assert_int_equal(times(play, "a1.post_stop"), 1);
	assert_int_equal(member(play, "boss")->generation, 2);
	assert_int_equal(suspends(play, "boss"), 0);
}

/* b5_3, for one that stops in its own time. */
static void b5_3_a_restart_of_all_leaves_out_those_that_stop(struct play *play)
{
	static const struct weir_strategy all_at_once = {
		BY_CODE,
		.scope = WEIR_SCOPE_ALL_FOR_ONE,
	};
	static const struct role roles[] = {
		{"boss", .strategy = &all_at_once},
		{"a", POLITE},
		{"c", POLITE},
	};
	static const struct step steps[] = {
		{"a", STOPPING, .rc = 1},
		{"a", TURN, .item = 9, .finish = true},
		{"b", TURN, .fail = RESTART},
		{"c", STOPPING, .rc = 1},
		{"c", TURN, .item = 9, .finish = true},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add_three(play, "boss");
	stop(play, "a");
	stop(play, "c");
	run(play);
	give(play, "b", 1);
	assert_int_equal(member(play, "b")->generation, 2);
	give(play, "a", 9);
	give(play, "c", 9);
	assert_told(play, "a", "a1.pre_start a1.stopping a1.9 a1.post_stop");
	assert_told(play, "c", "c1.pre_start c1.stopping c1.9 c1.post_stop");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d1_5_it_is_asked_and_given_time),
		RULE(d1_5_at_the_deadline_it_is_stopped),
		RULE(d1_5_nobody_is_waited_for_without_a_timer),
		RULE(d1_5_one_that_has_no_wish_stops_at_once),
		RULE(d1_5_a_brutal_stop_asks_nobody),
		RULE(d1_5_without_a_deadline_it_is_waited_for),
		RULE(d1_5_a_deadline_after_the_end_of_time_never_comes),
		RULE(d1_5_a_brutal_one_that_finishes_asks_nobody),
		RULE(d1_5_the_time_is_for_the_children_as_well),
		RULE(d1_5_the_time_for_the_children_is_what_is_left_of_it),
		RULE(d1_5_without_an_order_all_end_at_the_same_time),
		RULE(d1_5_in_order_the_next_is_asked_when_one_has_ended),
		RULE(d1_5_one_that_is_suspended_is_not_asked),
		RULE(d1_5_one_that_fails_while_it_stops_has_ended),
		RULE(d1_5_one_that_is_suspended_while_it_stops_has_ended),
		RULE(b5_3_a_restart_of_all_leaves_out_those_that_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
