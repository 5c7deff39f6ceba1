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
	struct world *world)
{
	static const struct step steps[] = {
		{"a", PRE_START, .generation = 1, .rc = RESTART},
	};

	SCRIPT(world, steps);
	add(world, NULL, "a");
	weir_actor_signal(&member(world, "a")->actor);
	run(world);
	assert_told(world, "a",
		    "a1.pre_start a2.reset a2.pre_start a2.signalled");
}

static void b4_3_a_reset_that_fails_is_followed_by_no_start(struct world *world)
{
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"a", RESET, .generation = 2, .fail = RESTART},
	};

	SCRIPT(world, steps);
	add(world, NULL, "a");
	give(world, "a", 1);
	assert_told(world, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a3.reset "
		    "a3.post_restart");
}

/* Nothing has begun that post_stop could end. */
static void b4_a_reset_that_finishes_is_the_end(struct world *world)
{
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"a", RESET, .finish = true},
	};

	SCRIPT(world, steps);
	add(world, NULL, "a");
	give(world, "a", 1);
	assert_told(world, "a", "a1.pre_start a1.1 a1.pre_restart a2.reset");
	assert_false(alive(world, "a"));
}

/* Its children have ended meanwhile, which it is told of at once. */
static void b4_3_a_failing_restart_is_seen_as_one(struct world *world)
{
	static const struct step steps[] = {
		{"a", PRE_START, .spawn = "kid"},
		{"a", TURN, .fail = RESTART},
		{"a", PRE_RESTART, .stop_children = true},
		{"a", POST_RESTART, .generation = 2, .spawn = "b",
		 .rc = RESTART},
		{"b", PRE_START, .finish = true},
	};

	SCRIPT(world, steps);
	add(world, NULL, "a");
	give(world, "a", 1);
	assert_told(world, "a",
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

static void b2_4_who_has_finished_does_not_fail_by_escalation(
	struct world *world)
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

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "boss");
	run(world);
	give(world, "a", 1);
	assert_told(world, "boss",
		    "boss1.pre_start boss1.pre_restart boss2.reset "
		    "boss2.post_restart");
	assert_told(world, "system", "restart(boss)");
}

/* --- Groups --------------------------------------------------------------- */

/* a has failed, and its group is anywhere between that and its restart. */
static void restart_group(struct world *world)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"x", TURN, .item = 2, .fail = STOP},
		{"x", TURN, .item = 3, .fail = RESUME},
		{"boss", TURN, .stop_children = true},
	};
	uint64_t steps_left;

	SCRIPT(world, steps);
	add(world, NULL, "boss");
	add(world, "boss", "x");
	add(world, "boss", "a");
	add(world, "boss", "b");
	add(world, "b", "kid");
	run(world);
	assert_int_equal(put(world, "a", 1, 1), 0);
	for (steps_left = weir_sim_random(world->sim, 20); steps_left;
	     steps_left--)
		(void)weir_sim_step(world->sim);
}

static void assert_all_stopped(struct world *world)
{
	assert_false(alive(world, "x"));
	assert_false(alive(world, "a"));
	assert_false(alive(world, "b"));
	assert_true(alive(world, "boss"));
}

static void b5_2_a_parent_stops_whose_children_halt(struct world *world)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns}};

	ROLES(world, roles);
	restart_group(world);
	stop(world, "boss");
	run(world);
	assert_false(alive(world, "boss"));
}

static void d1_4_a_group_that_halts_stops_when_it_has_to(struct world *world)
{
	static const struct role roles[] = {
		{"boss", .strategy = &rest_by_turns},
	};

	ROLES(world, roles);
	restart_group(world);
	give(world, "x", 2);
	assert_all_stopped(world);
}

/* Whom the boss has stopped nobody's failure brings back. */
static void b5_3_a_restart_of_a_group_leaves_out_those_to_stop(
	struct world *world)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns}};

	ROLES(world, roles);
	restart_group(world);
	give(world, "boss", 4);
	assert_all_stopped(world);
}

/* Who resumes is none of the group, but may have come between. */
static void d1_4_a_group_goes_on_whoever_fails_beside_it(struct world *world)
{
	static const struct role roles[] = {
		{"boss", .strategy = &rest_by_turns},
	};

	ROLES(world, roles);
	restart_group(world);
	give(world, "x", 3);
	assert_int_equal(times(world, "a2.post_restart"), 1);
	assert_int_equal(times(world, "b2.post_restart"), 1);
	assert_int_equal(suspends(world, "x"), 0);
}

/* b is told to halt before it has started, and does not start. */
static void d1_2_who_is_to_halt_may_fail_to_start(struct world *world)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns},
	};
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"b", PRE_START, .generation = 1, .rc = RESTART},
	};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "boss");
	add(world, "boss", "a");
	run(world);
	assert_int_equal(put(world, "a", 1, 1), 0);
	add(world, "boss", "b");
	run(world);
	assert_int_equal(suspends(world, "a"), 0);
	assert_int_equal(suspends(world, "b"), 0);
	give(world, "b", 2);
	assert_int_equal(member(world, "b")->seen, 1);
}

/* --- The executor drains -------------------------------------------------- */

static void nothing(struct weir_ending *drain)
{
}

/* Below it everybody stands still and cannot end by itself. */
static void b5_2_who_fails_and_stops_in_a_drain_takes_all_along(
	struct world *world)
{
	static const struct step steps[] = {
		{"boss", TURN, .fail = STOP},
	};
	struct weir_ending drain = {.done = nothing};

	SCRIPT(world, steps);
	add(world, NULL, "boss");
	add(world, "boss", "a");
	add(world, "a", "b");
	run(world);
	assert_int_equal(put(world, "boss", 1, 1), 0);
	assert_int_equal(put(world, "b", 2, 9), 0);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(world->sim),
						 &drain, WEIR_FOREVER),
			 0);
	run(world);
	assert_false(alive(world, "boss"));
	assert_true(
		weir_completion_done(weir_system_terminated(world->system)));
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
