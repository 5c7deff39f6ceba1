/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where two things cross that have nothing to do with each other: a stop comes
 * while a group halts, a start fails that somebody has given another order
 * meanwhile, the executor drains what is suspended. Found by hierarchy.c; here
 * each as small as can be.
 */
#include "supervision/kit.h"

/* --- Starts that fail ----------------------------------------------------- */

static void b1_3_a_signal_is_kept_that_comes_with_a_failing_start(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .generation = 1, .rc = RESTART},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	weir_actor_signal(&member(play, "a")->actor);
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a2.reset a2.pre_start a2.signalled");
}

static void b4_3_a_reset_that_fails_is_followed_by_no_start(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"a", RESET, .generation = 2, .fail = RESTART},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a3.reset "
		    "a3.post_restart");
}

/* Nothing has begun that post_stop could end. */
static void b4_a_reset_that_finishes_is_the_end(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"a", RESET, .finish = true},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_told(play, "a", "a1.pre_start a1.1 a1.pre_restart a2.reset");
	assert_false(alive(play, "a"));
}

/* Its children have ended meanwhile, which it is told of at once. */
static void b4_3_a_failing_restart_is_seen_as_one(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .spawn = "kid"},
		{"a", TURN, .fail = RESTART},
		{"a", PRE_RESTART, .stop_children = true},
		{"a", POST_RESTART, .generation = 2, .spawn = "b",
		 .rc = RESTART},
		{"b", PRE_START, .finish = true},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset "
		    "a2.post_restart a3.reset a3.post_restart");
}

/* --- A decider that makes its supervisor leave ---------------------------- */

static int finish_and_escalate(struct weir_actor *supervisor,
			       const struct weir_failure *failure,
			       void *context)
{
	assert_int_equal(weir_actor_end(supervisor), 0);
	return WEIR_DIRECTIVE_ESCALATE;
}

static void b2_4_who_has_finished_does_not_fail_by_escalation(struct play *play)
{
	static const struct weir_strategy strategy = {
		.decide = finish_and_escalate,
	};
	static const struct role roles[] = {
		{"boss", .strategy = &strategy,
		 .restart = WEIR_RESTART_PERMANENT},
	};
	static const struct step steps[] = {
		{"boss", PRE_START, .spawn = "a"},
		{"a", TURN, .fail = STOP},
		{"boss", PRE_RESTART, .stop_children = true},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	run(play);
	give(play, "a", 1);
	assert_told(play, "boss",
		    "boss1.pre_start boss1.pre_restart boss2.reset "
		    "boss2.post_restart");
	assert_told(play, "system", "restart(boss)");
}

/* --- Groups --------------------------------------------------------------- */

/* a has failed, and its group is anywhere between that and its restart. */
static void restart_group(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"x", TURN, .item = 2, .fail = STOP},
		{"x", TURN, .item = 3, .fail = RESUME},
		{"boss", TURN, .stop_children = true},
	};
	uint64_t steps_left;

	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "x");
	add(play, "boss", "a");
	add(play, "boss", "b");
	add(play, "b", "kid");
	run(play);
	assert_int_equal(put(play, "a", 1, 1), 0);
	for (steps_left = weir_sim_random(play->base.sim, 20); steps_left;
	     steps_left--)
		(void)weir_sim_step(play->base.sim);
}

static void assert_all_stopped(struct play *play)
{
	assert_false(alive(play, "x"));
	assert_false(alive(play, "a"));
	assert_false(alive(play, "b"));
	assert_true(alive(play, "boss"));
}

static void b5_2_a_parent_stops_whose_children_halt(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns}};

	ROLES(play, roles);
	restart_group(play);
	stop(play, "boss");
	run(play);
	assert_false(alive(play, "boss"));
}

static void d1_4_a_group_that_halts_stops_when_it_has_to(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &rest_by_turns},
	};

	ROLES(play, roles);
	restart_group(play);
	give(play, "x", 2);
	assert_all_stopped(play);
}

/* Whom the boss has stopped nobody's failure brings back. */
static void b5_3_a_restart_of_a_group_leaves_out_those_to_stop(
	struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns}};

	ROLES(play, roles);
	restart_group(play);
	give(play, "boss", 4);
	assert_all_stopped(play);
}

/* Who resumes is none of the group, but may have come between. */
static void d1_4_a_group_goes_on_whoever_fails_beside_it(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &rest_by_turns},
	};

	ROLES(play, roles);
	restart_group(play);
	give(play, "x", 3);
	assert_int_equal(times(play, "a2.post_restart"), 1);
	assert_int_equal(times(play, "b2.post_restart"), 1);
	assert_int_equal(suspends(play, "x"), 0);
}

/* b is told to halt before it has started, and does not start. */
static void d1_2_who_is_to_halt_may_fail_to_start(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns},
	};
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"b", PRE_START, .generation = 1, .rc = RESTART},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	run(play);
	assert_int_equal(put(play, "a", 1, 1), 0);
	add(play, "boss", "b");
	run(play);
	assert_int_equal(suspends(play, "a"), 0);
	assert_int_equal(suspends(play, "b"), 0);
	give(play, "b", 2);
	assert_int_equal(member(play, "b")->seen, 1);
}

/* --- The executor drains -------------------------------------------------- */

static void nothing(struct weir_ending *drain)
{
}

/* Below it everybody stands still and cannot end by itself. */
static void b5_2_who_fails_and_stops_in_a_drain_takes_all_along(
	struct play *play)
{
	static const struct step steps[] = {
		{"boss", TURN, .fail = STOP},
	};
	struct weir_ending drain = {.done = nothing};

	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	add(play, "a", "b");
	run(play);
	assert_int_equal(put(play, "boss", 1, 1), 0);
	assert_int_equal(put(play, "b", 2, 9), 0);
	assert_int_equal(weir_executor_end_async(play->base.executor, &drain,
						 WEIR_FOREVER),
			 0);
	run(play);
	assert_false(alive(play, "boss"));
	assert_true(weir_completion_done(
		weir_system_terminated(play->base.system)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b1_3_a_signal_is_kept_that_comes_with_a_failing_start),
		RULE(b4_3_a_reset_that_fails_is_followed_by_no_start),
		RULE(b4_a_reset_that_finishes_is_the_end),
		RULE(b4_3_a_failing_restart_is_seen_as_one),
		RULE(b2_4_who_has_finished_does_not_fail_by_escalation),
		RULE(b5_2_a_parent_stops_whose_children_halt),
		RULE(d1_4_a_group_that_halts_stops_when_it_has_to),
		RULE(b5_3_a_restart_of_a_group_leaves_out_those_to_stop),
		RULE(d1_4_a_group_goes_on_whoever_fails_beside_it),
		RULE(d1_2_who_is_to_halt_may_fail_to_start),
		RULE(b5_2_who_fails_and_stops_in_a_drain_takes_all_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
