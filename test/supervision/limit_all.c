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
static void b7_1_all_must_be_allowed_to_restart(struct play *play)
{
	static const char *const names[] = {"a", "b", "c"};
	size_t i;

	play->top = &all_for_one_once;
	SCRIPT(play, all_fail);
	add_three(play, NULL);
	assert_true(survives_at(play, "b", 0));
	for (i = 0; i < 3; i++) {
		assert_int_equal(member(play, names[i])->generation, 2);
		assert_int_equal(member(play, names[i])->cause, RESTART);
		assert_int_equal(suspends(play, names[i]), 0);
	}
	assert_false(survives_at(play, names[play->seed % 3], 0));
	for (i = 0; i < 3; i++) {
		assert_int_equal(member(play, names[i])->generation, 2);
		assert_false(alive(play, names[i]));
	}
}

/* Also those below them: no token is handled between verdict and restart. */
static void b7_1_the_others_are_suspended_first(struct play *play)
{
	static const struct step steps[] = {{"a", TURN, .fail = RESTART}};
	static const char *const names[] = {"b", "below"};
	size_t i, verdict;

	play->top = &all_for_one;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, NULL, "b");
	add(play, "b", "below");
	run(play);
	log_clear(play);
	for (i = 0; i < LENGTH(names); i++)
		assert_int_equal(put(play, names[i], 2, 16), 0);
	give(play, "a", 1);
	verdict = place(play, "restart(a)");
	for (i = 0; i < LENGTH(names); i++) {
		const char *end = i ? "below1.pre_restart" : "b1.pre_restart";
		size_t at;

		for (at = verdict; at < place(play, end); at++)
			assert_string_not_equal(play->log[at].who, names[i]);
		assert_int_equal(member(play, names[i])->generation, 2);
		assert_int_equal(suspends(play, names[i]), 0);
	}
	assert_int_equal(ledger_delivered(&play->base.ledger), 31);
}

static void b7_1_one_refusal_stops_all(struct play *play)
{
	play->top = &all_for_one_once;
	SCRIPT(play, all_fail);
	add(play, NULL, "a");
	assert_true(survives_at(play, "a", 0));
	add(play, NULL, "b"); /* its record is clean */
	run(play);
	assert_false(survives_at(play, "b", 0));
	assert_false(alive(play, "a"));
	assert_int_equal(member(play, "b")->generation, 1);
}

static void b7_2_a_stop_is_for_all(struct play *play)
{
	static const struct role roles[] = {{"boss", .strategy = &all_for_one}};
	static const struct step steps[] = {{"b", TURN, .fail = STOP}};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add_three(play, "boss");
	give(play, "b", 1);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
	assert_told(play, "b", "b1.pre_start b1.1 b1.post_stop");
	assert_told(play, "c", "c1.pre_start c1.post_stop");
	assert_true(alive(play, "boss"));
}

static void b7_2_a_resume_is_for_one(struct play *play)
{
	static const struct step steps[] = {{"b", TURN, .fail = RESUME}};

	play->top = &all_for_one;
	SCRIPT(play, steps);
	add_three(play, NULL);
	give(play, "b", 1);
	assert_told(play, "a", "a1.pre_start");
	assert_told(play, "b", "b1.pre_start b1.1");
	assert_told(play, "c", "c1.pre_start");
}

static int resume_always(struct weir_actor *supervisor,
			 const struct weir_failure *failure, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static void b7_2_an_escalation_touches_nobody(struct play *play)
{
	static const struct weir_strategy resuming = {.decide = resume_always};
	static const struct role roles[] = {{"boss", .strategy = &all_for_one}};
	static const struct step steps[] = {{"b", TURN, .fail = ESCALATE}};

	play->top = &resuming;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add_three(play, "boss");
	give(play, "b", 1);
	assert_int_equal(times(play, "resume(boss)"), 1);
	assert_told(play, "a", "a1.pre_start");
	assert_told(play, "b", "b1.pre_start b1.1");
	assert_told(play, "c", "c1.pre_start");
}

static void b7_3_a_childs_normal_end_touches_nobody(struct play *play)
{
	static const struct step steps[] = {
		{"b", TURN, .finish = true},
		{"c", TURN, .stop = "c"},
	};

	play->top = &all_for_one;
	SCRIPT(play, steps);
	add_three(play, NULL);
	give(play, "b", 1);
	give(play, "c", 1);
	assert_told(play, "a", "a1.pre_start");
	assert_told(play, "b", "b1.pre_start b1.1 b1.post_stop");
	assert_told(play, "c", "c1.pre_start c1.1 c1.post_stop");
}

/* --- D1: of a supervisor -------------------------------------------------- */

static const struct weir_limit two_in_ten = {.max = 2,
					     .within_ns = 10 * SECOND};
static const struct weir_strategy two_in_ten_or_stop = {
	BY_CODE,
	.all = &two_in_ten,
	.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
};

static void d1_1_the_restarts_of_all_children_count_together(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &two_in_ten_or_stop},
	};

	ROLES(play, roles);
	SCRIPT(play, all_fail);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_true(survives_at(play, "a", 0));
	assert_true(survives_at(play, "b", 5 * SECOND));
	/* inclusive: that of ten seconds ago is in the window */
	assert_false(survives_at(play, "c", 10 * SECOND));
	assert_false(alive(play, "boss"));
	assert_told(play, "boss", "boss1.pre_start boss1.post_stop");
	assert_true(before(play, "a2.post_stop", "boss1.post_stop"));
	assert_true(before(play, "b2.post_stop", "boss1.post_stop"));
	assert_true(before(play, "c1.post_stop", "boss1.post_stop"));
	/* that is no failure of the supervisor's */
	assert_int_equal(times(play, "restart(boss)"), 0);
	assert_int_equal(times(play, "stop(boss)"), 0);
}

static void d1_1_the_window_slides(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &two_in_ten_or_stop},
	};

	ROLES(play, roles);
	SCRIPT(play, all_fail);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_true(survives_at(play, "a", 0));
	assert_true(survives_at(play, "b", 5 * SECOND));
	assert_true(survives_at(play, "c", 10 * SECOND + 1));
	assert_true(survives_at(play, "a", 15 * SECOND + 1));
	assert_false(survives_at(play, "a", 15 * SECOND + 2));
	assert_false(alive(play, "boss"));
}

static void d1_1_with_none_the_first_failure_ends_it(struct play *play)
{
	static const struct weir_strategy none = {
		BY_CODE,
		.all = &none_ever,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {{"boss", .strategy = &none}};

	ROLES(play, roles);
	SCRIPT(play, all_fail);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_false(survives_at(play, "a", 0));
	assert_false(alive(play, "boss"));
}

/* One permanent under another: past its limit it is restarted itself. */
static void d1_1_a_permanent_supervisor_past_its_limit_begins_anew(
	struct play *play)
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

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	run(play);
	give(play, "a", 1);
	assert_told(play, "boss",
		    "boss1.pre_start boss1.post_stop boss2.reset "
		    "boss2.pre_start");
	assert_true(alive(play, "a"));
	assert_int_equal(times(play, "a1.pre_start"), 2);
	assert_int_equal(member(play, "boss")->rc, 0);
}

/* One that keeps its children counts as a new one would. */
static void d1_1_a_supervisor_that_has_restarted_counts_anew(struct play *play)
{
	static const struct weir_limit two_ever = {.max = 2};
	static const struct weir_strategy two = {BY_CODE, .all = &two_ever};
	static const struct role roles[] = {{"boss", .strategy = &two}};
	static const struct step steps[] = {
		{"boss", TURN, .fail = RESTART},
		{"a", TURN, .fail = RESTART},
	};
	size_t i;

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	run(play);
	for (i = 1; i <= 3; i++) {
		give(play, "a", 3 * i - 2);
		give(play, "a", 3 * i - 1);
		give(play, "boss", 3 * i);
		assert_true(alive(play, "a"));
	}
	assert_int_equal(times(play, "limit(a)"), 0);
	give(play, "a", 11);
	give(play, "a", 12);
	give(play, "a", 13);
	assert_int_equal(times(play, "limit(a)"), 1);
	assert_false(alive(play, "a"));
}

static void d1_2_a_group_counts_once(struct play *play)
{
	static const struct weir_strategy group = {
		BY_CODE,
		.scope = WEIR_SCOPE_ALL_FOR_ONE,
		.all = &two_in_ten,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {{"boss", .strategy = &group}};

	ROLES(play, roles);
	SCRIPT(play, all_fail);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_true(survives_at(play, "a", 0));
	assert_true(survives_at(play, "b", 1));
	assert_int_equal(member(play, "c")->generation, 3);
	assert_false(survives_at(play, "c", 2));
	assert_false(alive(play, "boss"));
}

/* The limit is three, the first start goes well: three tries. */
static void d1_2_each_try_of_a_restart_that_fails_counts(struct play *play)
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

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	run(play);
	give(play, "a", 1);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a3.reset a3.post_restart a4.reset a4.post_restart");
	assert_false(alive(play, "boss"));
}

static void d1_3_a_permanent_one_restarts_also_when_it_finishes(
	struct play *play)
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

	play->top = &limited;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	feed(play, "a", 1, 2);
	/* and that counts */
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.2 a2.pre_restart a3.reset a3.post_restart "
		    "a3.1 a3.pre_restart a4.reset a4.post_restart "
		    "a4.2 a4.post_stop");
}

static void d1_3_a_permanent_one_that_is_stopped_ends(struct play *play)
{
	static const struct role roles[] = {
		{"a", .restart = WEIR_RESTART_PERMANENT},
	};

	ROLES(play, roles);
	add(play, NULL, "a");
	run(play);
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, "a")), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
}

static void d1_3_a_transient_one_restarts_when_it_fails(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", TURN, .item = 2, .finish = true},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 2);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.2 a2.post_stop");
	assert_int_equal(member(play, "a")->fate.code, 0);
}

/* Two that fail would be one too many, if they counted. */
static void d1_3_a_temporary_one_never_restarts_nor_counts(struct play *play)
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

	ROLES(play, roles);
	SCRIPT(play, all_fail);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_false(survives_at(play, "a", 0));
	assert_false(survives_at(play, "b", 0));
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop");
	assert_int_equal(times(play, "limit(a)"), 0);
	assert_true(alive(play, "boss"));
	assert_true(alive(play, "c"));
}

/* --- E: what weir makes of both ------------------------------------------- */

static void e5_the_default_is_per_child_and_sliding(struct play *play)
{
	static const struct weir_limit one = {.max = 1, .within_ns = SECOND};
	static const struct weir_limit three = {.max = 3};
	static const struct weir_strategy both = {BY_CODE, .each = &one,
						  .all = &three};

	play->top = &both;
	SCRIPT(play, all_fail);
	add_three(play, NULL);
	assert_true(survives_at(play, "a", 0));
	assert_true(survives_at(play, "b", 0));
	assert_true(survives_at(play, "a", SECOND + 1));
	/* its own record would allow it */
	assert_false(survives_at(play, "c", SECOND + 1));
	assert_true(alive(play, "a"));
	assert_true(alive(play, "b"));
}

static void e6_past_the_limit_the_child_stops_by_default(struct play *play)
{
	static const struct weir_strategy limited = {BY_CODE, .all = &one_ever};
	static const struct role roles[] = {{"boss", .strategy = &limited}};

	ROLES(play, roles);
	SCRIPT(play, all_fail);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_true(survives_at(play, "a", 0));
	assert_false(survives_at(play, "b", 0));
	assert_true(alive(play, "boss"));
	assert_true(alive(play, "a"));
}

static void e6_past_the_limit_the_supervisor_stops_if_so_set(struct play *play)
{
	static const struct weir_strategy limited = {
		BY_CODE,
		.each = &none_ever,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	static const struct role roles[] = {{"boss", .strategy = &limited}};

	ROLES(play, roles);
	SCRIPT(play, all_fail);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_false(survives_at(play, "a", 0));
	assert_false(alive(play, "boss"));
	assert_false(alive(play, "c"));
}

static void e6_past_the_limit_it_is_escalated_if_so_set(struct play *play)
{
	static const struct weir_strategy limited = {
		BY_CODE,
		.each = &none_ever,
		.past_limit = WEIR_PAST_LIMIT_ESCALATE,
	};
	static const struct role roles[] = {
		{"boss", PLAIN, &limited},
	};

	ROLES(play, roles);
	SCRIPT(play, all_fail);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_false(survives_at(play, "a", 0));
	/* with the child's error, of which /user thinks the same */
	assert_told(play, "boss",
		    "boss1.pre_start boss1.post_stop boss2.reset "
		    "boss2.pre_start");
	assert_int_equal(times(play, "restart(boss)"), 1);
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
