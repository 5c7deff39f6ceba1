/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of restarts, with real failures on the virtual clock: of all for one
 * (B7), of a supervisor and by restart type (D1.1 to D1.3), and what happens
 * past them (E5, E6). Rule numbers like B7 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/failing.h"

static const struct weir_limit one_ever = {.max = 1};

static const struct weir_limit three_ever = {.max = 3};

static const struct weir_limit none_ever = {.max = 0};

/* --- B7: all for one ------------------------------------------------------ */

static const struct weir_strategy all_for_one = {
	BY_CODE,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
};
static const struct weir_strategy all_for_one_once = {
	BY_CODE,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
	.each = &one_ever,
};

/* Those who have not failed are asked as well. */
static void b7_1_all_must_be_allowed_to_restart(struct world *world)
{
	static const char *const names[] = {"a", "b", "c"};
	size_t i;

	world->top = &all_for_one_once;
	SCRIPT(world, all_fail);
	add_three(world, NULL);
	assert_true(survives_at(world, "b", 0));
	for (i = 0; i < 3; i++) {
		assert_int_equal(member(world, names[i])->generation, 2);
		assert_int_equal(member(world, names[i])->cause, RESTART);
		assert_int_equal(suspends(world, names[i]), 0);
	}
	assert_false(survives_at(world, names[world->seed % 3], 0));
	for (i = 0; i < 3; i++) {
		assert_int_equal(member(world, names[i])->generation, 2);
		assert_false(alive(world, names[i]));
	}
}

/* Also those below them: no token is handled between verdict and restart. */
static void b7_1_the_others_are_suspended_first(struct world *world)
{
	static const struct step steps[] = {{"a", TURN, .fail = RESTART}};
	static const char *const names[] = {"b", "below"};
	size_t i, verdict;

	world->top = &all_for_one;
	SCRIPT(world, steps);
	add(world, NULL, "a");
	add(world, NULL, "b");
	add(world, "b", "below");
	run(world);
	log_clear(world);
	for (i = 0; i < LENGTH(names); i++)
		assert_int_equal(put(world, names[i], 2, 16), 0);
	give(world, "a", 1);
	verdict = place(world, "restart(a)");
	for (i = 0; i < LENGTH(names); i++) {
		const char *end = i ? "below1.pre_restart" : "b1.pre_restart";
		size_t at;

		for (at = verdict; at < place(world, end); at++)
			assert_string_not_equal(world->log[at].who, names[i]);
		assert_int_equal(member(world, names[i])->generation, 2);
		assert_int_equal(suspends(world, names[i]), 0);
	}
	assert_int_equal(ledger_delivered(&world->ledger), 31);
}

static void b7_1_one_refusal_stops_all(struct world *world)
{
	world->top = &all_for_one_once;
	SCRIPT(world, all_fail);
	add(world, NULL, "a");
	assert_true(survives_at(world, "a", 0));
	add(world, NULL, "b"); /* its record is clean */
	run(world);
	assert_false(survives_at(world, "b", 0));
	assert_false(alive(world, "a"));
	assert_int_equal(member(world, "b")->generation, 1);
}

static void b7_2_a_stop_is_for_all(struct world *world)
{
	static const struct role roles[] = {{"boss", .strategy = &all_for_one}};
	static const struct step steps[] = {{"b", TURN, .fail = STOP}};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "boss");
	add_three(world, "boss");
	give(world, "b", 1);
	assert_told(world, "a", "a1.pre_start a1.post_stop");
	assert_told(world, "b", "b1.pre_start b1.1 b1.post_stop");
	assert_told(world, "c", "c1.pre_start c1.post_stop");
	assert_true(alive(world, "boss"));
}

static void b7_2_a_resume_is_for_one(struct world *world)
{
	static const struct step steps[] = {{"b", TURN, .fail = RESUME}};

	world->top = &all_for_one;
	SCRIPT(world, steps);
	add_three(world, NULL);
	give(world, "b", 1);
	assert_told(world, "a", "a1.pre_start");
	assert_told(world, "b", "b1.pre_start b1.1");
	assert_told(world, "c", "c1.pre_start");
}

static int resume_always(struct weir_actor *supervisor,
			 const struct weir_failure *failure, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static void b7_2_an_escalation_touches_nobody(struct world *world)
{
	static const struct weir_strategy resuming = {.decide = resume_always};
	static const struct role roles[] = {{"boss", .strategy = &all_for_one}};
	static const struct step steps[] = {{"b", TURN, .fail = ESCALATE}};

	world->top = &resuming;
	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "boss");
	add_three(world, "boss");
	give(world, "b", 1);
	assert_int_equal(times(world, "resume(boss)"), 1);
	assert_told(world, "a", "a1.pre_start");
	assert_told(world, "b", "b1.pre_start b1.1");
	assert_told(world, "c", "c1.pre_start");
}

static void b7_3_a_childs_normal_end_touches_nobody(struct world *world)
{
	static const struct step steps[] = {
		{"b", TURN, .finish = true},
		{"c", TURN, .stop = "c"},
	};

	world->top = &all_for_one;
	SCRIPT(world, steps);
	add_three(world, NULL);
	give(world, "b", 1);
	give(world, "c", 1);
	assert_told(world, "a", "a1.pre_start");
	assert_told(world, "b", "b1.pre_start b1.1 b1.post_stop");
	assert_told(world, "c", "c1.pre_start c1.1 c1.post_stop");
}

/* --- D1: of a supervisor -------------------------------------------------- */

static const struct weir_limit two_in_ten = {.max = 2,
					     .within_ns = 10 * SECOND};
static const struct weir_strategy two_in_ten_or_stop = {
	BY_CODE,
	.all = &two_in_ten,
	.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
};

static void d1_1_the_restarts_of_all_children_count_together(
	struct world *world)
{
	static const struct role roles[] = {
		{"boss", .strategy = &two_in_ten_or_stop},
	};

	ROLES(world, roles);
	SCRIPT(world, all_fail);
	add(world, NULL, "boss");
	add_three(world, "boss");
	assert_true(survives_at(world, "a", 0));
	assert_true(survives_at(world, "b", 5 * SECOND));
	/* inclusive: that of ten seconds ago is in the window */
	assert_false(survives_at(world, "c", 10 * SECOND));
	assert_false(alive(world, "boss"));
	assert_told(world, "boss", "boss1.pre_start boss1.post_stop");
	assert_true(before(world, "a2.post_stop", "boss1.post_stop"));
	assert_true(before(world, "b2.post_stop", "boss1.post_stop"));
	assert_true(before(world, "c1.post_stop", "boss1.post_stop"));
	/* that is no failure of the supervisor's */
	assert_int_equal(times(world, "restart(boss)"), 0);
	assert_int_equal(times(world, "stop(boss)"), 0);
}

static void d1_1_the_window_slides(struct world *world)
{
	static const struct role roles[] = {
		{"boss", .strategy = &two_in_ten_or_stop},
	};

	ROLES(world, roles);
	SCRIPT(world, all_fail);
	add(world, NULL, "boss");
	add_three(world, "boss");
	assert_true(survives_at(world, "a", 0));
	assert_true(survives_at(world, "b", 5 * SECOND));
	assert_true(survives_at(world, "c", 10 * SECOND + 1));
	assert_true(survives_at(world, "a", 15 * SECOND + 1));
	assert_false(survives_at(world, "a", 15 * SECOND + 2));
	assert_false(alive(world, "boss"));
}

static void d1_1_with_none_the_first_failure_ends_it(struct world *world)
{
	static const struct weir_strategy none = {
		BY_CODE,
		.all = &none_ever,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {{"boss", .strategy = &none}};

	ROLES(world, roles);
	SCRIPT(world, all_fail);
	add(world, NULL, "boss");
	add_three(world, "boss");
	assert_false(survives_at(world, "a", 0));
	assert_false(alive(world, "boss"));
}

/* One permanent under another: past its limit it is restarted itself. */
static void d1_1_a_permanent_supervisor_past_its_limit_begins_anew(
	struct world *world)
{
	static const struct weir_strategy none = {
		BY_CODE,
		.all = &none_ever,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {
		{"boss", PLAIN, &none, .restart = WEIR_RESTART_PERMANENT},
	};
	static const struct step steps[] = {
		{"boss", PRE_START, .spawn = "a"},
		{"a", TURN, .fail = RESTART},
	};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "boss");
	run(world);
	give(world, "a", 1);
	assert_told(world, "boss",
		    "boss1.pre_start boss1.post_stop boss2.reset "
		    "boss2.pre_start");
	assert_true(alive(world, "a"));
	assert_int_equal(times(world, "a1.pre_start"), 2);
	assert_int_equal(member(world, "boss")->rc, 0);
}

/* One that keeps its children counts as a new one would. */
static void d1_1_a_supervisor_that_has_restarted_counts_anew(
	struct world *world)
{
	static const struct weir_limit two_ever = {.max = 2};
	static const struct weir_strategy two = {BY_CODE, .all = &two_ever};
	static const struct role roles[] = {{"boss", .strategy = &two}};
	static const struct step steps[] = {
		{"boss", TURN, .fail = RESTART},
		{"a", TURN, .fail = RESTART},
	};
	size_t i;

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "boss");
	add(world, "boss", "a");
	run(world);
	for (i = 1; i <= 3; i++) {
		give(world, "a", 3 * i - 2);
		give(world, "a", 3 * i - 1);
		give(world, "boss", 3 * i);
		assert_true(alive(world, "a"));
	}
	assert_int_equal(times(world, "limit(a)"), 0);
	give(world, "a", 11);
	give(world, "a", 12);
	give(world, "a", 13);
	assert_int_equal(times(world, "limit(a)"), 1);
	assert_false(alive(world, "a"));
}

static void d1_2_a_group_counts_once(struct world *world)
{
	static const struct weir_strategy group = {
		BY_CODE,
		.scope = WEIR_SCOPE_ALL_FOR_ONE,
		.all = &two_in_ten,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {{"boss", .strategy = &group}};

	ROLES(world, roles);
	SCRIPT(world, all_fail);
	add(world, NULL, "boss");
	add_three(world, "boss");
	assert_true(survives_at(world, "a", 0));
	assert_true(survives_at(world, "b", 1));
	assert_int_equal(member(world, "c")->generation, 3);
	assert_false(survives_at(world, "c", 2));
	assert_false(alive(world, "boss"));
}

/* The limit is three, the first start goes well: three tries. */
static void d1_2_each_try_of_a_restart_that_fails_counts(struct world *world)
{
	static const struct weir_limit three = {.max = 3,
						.within_ns = 10 * SECOND};
	static const struct weir_strategy limited = {
		BY_CODE,
		.all = &three,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {{"boss", .strategy = &limited}};
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"a", POST_RESTART, .fail = RESTART},
	};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "boss");
	add(world, "boss", "a");
	run(world);
	give(world, "a", 1);
	assert_told(world, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a3.reset a3.post_restart a4.reset a4.post_restart");
	assert_false(alive(world, "boss"));
}

static void d1_3_a_permanent_one_restarts_also_when_it_finishes(
	struct world *world)
{
	static const struct weir_strategy limited = {BY_CODE,
						     .each = &three_ever};
	static const struct role roles[] = {
		{"a", .restart = WEIR_RESTART_PERMANENT},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .finish = true},
		{"a", TURN, .item = 2, .fail = RESTART},
	};

	world->top = &limited;
	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "a");
	assert_int_equal(put(world, "a", 1, 2), 0);
	feed(world, "a", 1, 2);
	/* and that counts */
	assert_told(world, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.2 a2.pre_restart a3.reset a3.post_restart "
		    "a3.1 a3.pre_restart a4.reset a4.post_restart "
		    "a4.2 a4.post_stop");
}

static void d1_3_a_permanent_one_that_is_stopped_ends(struct world *world)
{
	static const struct role roles[] = {
		{"a", .restart = WEIR_RESTART_PERMANENT},
	};

	ROLES(world, roles);
	add(world, NULL, "a");
	run(world);
	assert_int_equal(weir_system_stop_actor(world->system, ref(world, "a")),
			 0);
	run(world);
	assert_told(world, "a", "a1.pre_start a1.post_stop");
}

static void d1_3_a_transient_one_restarts_when_it_fails(struct world *world)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", TURN, .item = 2, .finish = true},
	};

	SCRIPT(world, steps);
	add(world, NULL, "a");
	feed(world, "a", 1, 2);
	assert_told(world, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.2 a2.post_stop");
	assert_int_equal(member(world, "a")->fate.code, 0);
}

/* Two that fail would be one too many, if they counted. */
static void d1_3_a_temporary_one_never_restarts_nor_counts(struct world *world)
{
	static const struct weir_strategy limited = {
		BY_CODE,
		.all = &one_ever,
		.each = &none_ever,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {
		{"boss", .strategy = &limited},
		{"a", .restart = WEIR_RESTART_TEMPORARY},
		{"b", .restart = WEIR_RESTART_TEMPORARY},
	};

	ROLES(world, roles);
	SCRIPT(world, all_fail);
	add(world, NULL, "boss");
	add_three(world, "boss");
	assert_false(survives_at(world, "a", 0));
	assert_false(survives_at(world, "b", 0));
	assert_told(world, "a", "a1.pre_start a1.1 a1.post_stop");
	assert_int_equal(times(world, "limit(a)"), 0);
	assert_true(alive(world, "boss"));
	assert_true(alive(world, "c"));
}

/* --- E: what weir makes of both ------------------------------------------- */

static void e5_the_default_is_per_child_and_sliding(struct world *world)
{
	static const struct weir_limit one = {.max = 1, .within_ns = SECOND};
	static const struct weir_limit three = {.max = 3};
	static const struct weir_strategy both = {BY_CODE, .each = &one,
						  .all = &three};

	world->top = &both;
	SCRIPT(world, all_fail);
	add_three(world, NULL);
	assert_true(survives_at(world, "a", 0));
	assert_true(survives_at(world, "b", 0));
	assert_true(survives_at(world, "a", SECOND + 1));
	/* its own record would allow it */
	assert_false(survives_at(world, "c", SECOND + 1));
	assert_true(alive(world, "a"));
	assert_true(alive(world, "b"));
}

static void e6_past_the_limit_the_child_stops_by_default(struct world *world)
{
	static const struct weir_strategy limited = {BY_CODE, .all = &one_ever};
	static const struct role roles[] = {{"boss", .strategy = &limited}};

	ROLES(world, roles);
	SCRIPT(world, all_fail);
	add(world, NULL, "boss");
	add_three(world, "boss");
	assert_true(survives_at(world, "a", 0));
	assert_false(survives_at(world, "b", 0));
	assert_true(alive(world, "boss"));
	assert_true(alive(world, "a"));
}

static void e6_past_the_limit_the_supervisor_stops_if_so_set(
	struct world *world)
{
	static const struct weir_strategy limited = {
		BY_CODE,
		.each = &none_ever,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {{"boss", .strategy = &limited}};

	ROLES(world, roles);
	SCRIPT(world, all_fail);
	add(world, NULL, "boss");
	add_three(world, "boss");
	assert_false(survives_at(world, "a", 0));
	assert_false(alive(world, "boss"));
	assert_false(alive(world, "c"));
}

static void e6_past_the_limit_it_is_escalated_if_so_set(struct world *world)
{
	static const struct weir_strategy limited = {
		BY_CODE,
		.each = &none_ever,
		.past_limit = WEIR_PAST_LIMIT_ESCALATE,
	};
	static const struct role roles[] = {
		{"boss", PLAIN, &limited},
	};

	ROLES(world, roles);
	SCRIPT(world, all_fail);
	add(world, NULL, "boss");
	add_three(world, "boss");
	assert_false(survives_at(world, "a", 0));
	/* with the child's error, of which /user thinks the same */
	assert_told(world, "boss",
		    "boss1.pre_start boss1.post_stop boss2.reset "
		    "boss2.pre_start");
	assert_int_equal(times(world, "restart(boss)"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b7_1_all_must_be_allowed_to_restart),
		RULE(b7_1_the_others_are_suspended_first),
		RULE(b7_1_one_refusal_stops_all),
		RULE(b7_2_a_stop_is_for_all),
		RULE(b7_2_a_resume_is_for_one),
		RULE(b7_2_an_escalation_touches_nobody),
		RULE(b7_3_a_childs_normal_end_touches_nobody),
		RULE(d1_1_the_restarts_of_all_children_count_together),
		RULE(d1_1_the_window_slides),
		RULE(d1_1_with_none_the_first_failure_ends_it),
		RULE(d1_1_a_permanent_supervisor_past_its_limit_begins_anew),
		RULE(d1_1_a_supervisor_that_has_restarted_counts_anew),
		RULE(d1_2_a_group_counts_once),
		RULE(d1_2_each_try_of_a_restart_that_fails_counts),
		RULE(d1_3_a_permanent_one_restarts_also_when_it_finishes),
		RULE(d1_3_a_permanent_one_that_is_stopped_ends),
		RULE(d1_3_a_transient_one_restarts_when_it_fails),
		RULE(d1_3_a_temporary_one_never_restarts_nor_counts),
		RULE(e5_the_default_is_per_child_and_sliding),
		RULE(e6_past_the_limit_the_child_stops_by_default),
		RULE(e6_past_the_limit_the_supervisor_stops_if_so_set),
		RULE(e6_past_the_limit_it_is_escalated_if_so_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
