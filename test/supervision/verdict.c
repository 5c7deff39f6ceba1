/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a supervisor does about a failure: the directives (B2) and how they are
 * found (B3). Rule numbers like B2 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

static const struct weir_strategy all_for_one = {
	BY_CODE,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
};

/* --- B2: directives ------------------------------------------------------- */

static void b2_1_resume_keeps_all_but_the_failed_token(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .fail = RESUME},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 3);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.3");
	assert_int_equal(member(play, "a")->seen, 3);
	assert_int_equal(
		weir_system_restarts(play->base.system, ref(play, "a")), 0);
}

static void b2_1_resume_is_for_the_one_that_failed_and_all_below(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESUME},
	};

	play->top = &all_for_one;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, NULL, "other");
	assert_int_equal(put(play, "b", 2, 5), 0);
	give(play, "a", 1);
	assert_told(play, "a", "a1.pre_start a1.1");
	assert_told(play, "b", "b1.pre_start b1.2 b1.3 b1.4 b1.5");
	assert_told(play, "other", "other1.pre_start");
}

static void b2_1_resume_of_a_failed_restart_is_a_restart(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", POST_RESTART, .generation = 2, .fail = RESUME},
		{"a", RESET, .generation = 3, .rc = RESUME},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 2);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a3.reset a4.reset a4.post_restart a4.2");
}

/* It has never started: there is nothing to go on with, nor to begin anew. */
static void b2_1_resume_of_a_failed_start_creates(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .generation = 1, .fail = RESUME},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_told(play, "a", "a1.pre_start a2.reset a2.pre_start a2.1");
}

/* Whatever it is told, until a start goes well; only then can it restart. */
static void b2_1_who_never_started_is_created(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .generation = 1, .fail = RESTART},
		{"a", PRE_START, .generation = 2, .fail = RESUME},
		{"a", RESET, .generation = 3, .rc = RESUME},
		{"a", PRE_START, .generation = 4, .rc = RESTART},
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", POST_RESTART, .generation = 6, .fail = RESUME},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 2);
	assert_told(play, "a",
		    "a1.pre_start a2.reset a2.pre_start a3.reset a4.reset "
		    "a4.pre_start a5.reset a5.pre_start a5.1 a5.pre_restart "
		    "a6.reset a6.post_restart a7.reset a7.post_restart a7.2");
}

/* Each is one more failed start, by its kind as well. */
static void b1_4_a_start_that_always_fails_is_tried_max_times_more(
	struct play *play)
{
	static const struct weir_limit three = {.max = 3};
	static const struct weir_rule rules[] = {
		{.kind = WEIR_FAILURE_START,
		 .directive = WEIR_DIRECTIVE_RESTART},
		{.directive = WEIR_DIRECTIVE_ESCALATE},
	};
	static const struct weir_strategy strategy = {
		.rules = rules, .n_rules = 2, .each = &three};
	static const struct step steps[] = {
		{"a", PRE_START, .rc = RESTART},
	};

	play->top = &strategy;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a2.reset a2.pre_start a3.reset a3.pre_start "
		    "a4.reset a4.pre_start");
	assert_false(alive(play, "a"));
	assert_true(weir_system_is_alive(
		play->base.system,
		weir_system_user_guardian(play->base.system)));
}

static void b2_2_restart_is_for_the_one_that_failed(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, NULL, "other");
	give(play, "a", 1);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset "
		    "a2.post_restart");
	assert_told(play, "other", "other1.pre_start");
	assert_int_equal(
		weir_system_restarts(play->base.system, ref(play, "a")), 1);
}

static void b2_3_stop_ends_it_with_its_error(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .fail = STOP},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 3);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop a1.dead3");
	assert_false(alive(play, "a"));
	assert_int_equal(member(play, "a")->fate.code, STOP);
}

/* What two deciders were told, the supervisor's and the one's above. */
static struct weir_error *told_first, *told_above;

static int escalate_noting(struct weir_actor *supervisor,
			   const struct weir_failure *failure, void *context)
{
	assert_string_equal(weir_actor_name(supervisor), "a");
	assert_string_equal(failure->name, "b");
	told_first = failure->error;
	return WEIR_DIRECTIVE_ESCALATE;
}

/* `context` is the directive. */
static int decide_above(struct weir_actor *supervisor,
			const struct weir_failure *failure, void *context)
{
	const enum weir_directive *directive = context;

	assert_string_equal(failure->name, "a");
	told_above = failure->error;
	assert_int_equal(failure->error->code, ESCALATE);
	assert_int_equal(suspends(&the_play, "a"), 1);
	assert_int_equal(suspends(&the_play, "b"), 2);
	assert_int_equal(suspends(&the_play, "sister"), 1);
	return *directive;
}

/* a has b, which fails with item 1, and sister; above a, `above` decides. */
static void escalate(struct play *play, const struct weir_strategy *above,
		     const struct role *role)
{
	static const struct step steps[] = {
		{"b", TURN, .item = 1, .fail = ESCALATE},
	};

	play->top = above;
	play->roles = role;
	play->n_roles = 1;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, "a", "sister");
	run(play);
	told_first = told_above = NULL;
	feed(play, "b", 1, 2);
	assert_non_null(told_above);
	assert_ptr_equal(told_above, told_first);
}

static const struct weir_strategy escalating = {.decide = escalate_noting};

static void b2_4_a_resume_above_resumes_the_one_that_failed(struct play *play)
{
	static enum weir_directive directive = WEIR_DIRECTIVE_RESUME;
	static const struct weir_strategy above = {
		.decide = decide_above,
		.context = &directive,
	};
	static const struct role role = {"a", .strategy = &escalating};

	escalate(play, &above, &role);
	give(play, "sister", 3);
	assert_told(play, "a", "a1.pre_start");
	assert_told(play, "b", "b1.pre_start b1.1 b1.2");
	assert_told(play, "sister", "sister1.pre_start sister1.3");
}

/* One that has not begun begins then. */
static void b2_4_a_resume_above_starts_one_that_did_not_start(struct play *play)
{
	static const struct weir_rule rules[] = {
		{.directive = WEIR_DIRECTIVE_RESUME}};
	static const struct weir_strategy resume = {.rules = rules,
						    .n_rules = 1};
	static const struct step steps[] = {
		{"b", PRE_START, .generation = 1, .fail = ESCALATE},
	};

	play->top = &resume;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	give(play, "b", 1);
	assert_told(play, "a", "a1.pre_start");
	assert_told(play, "b", "b1.pre_start b2.reset b2.pre_start b2.1");
}

static enum weir_directive restart_it = WEIR_DIRECTIVE_RESTART;
static const struct weir_strategy restart_above = {
	.decide = decide_above,
	.context = &restart_it,
};

static void b2_4_a_restart_above_stops_the_children_by_default(
	struct play *play)
{
	static const struct role role = {"a", PLAIN, &escalating};

	escalate(play, &restart_above, &role);
	assert_told(play, "a",
		    "a1.pre_start a1.post_stop a2.reset a2.pre_start");
	assert_told(play, "b", "b1.pre_start b1.1 b1.post_stop b1.dead2");
	assert_told(play, "sister", "sister1.pre_start sister1.post_stop");
	assert_true(before(play, "b1.post_stop", "a2.reset"));
	assert_true(before(play, "sister1.post_stop", "a2.reset"));
}

static void b2_4_a_restart_above_restarts_children_that_were_kept(
	struct play *play)
{
	static const struct role role = {"a", .strategy = &escalating};

	escalate(play, &restart_above, &role);
	assert_told(play, "a",
		    "a1.pre_start a1.pre_restart a2.reset a2.post_restart");
	assert_told(play, "b",
		    "b1.pre_start b1.1 b1.pre_restart b2.reset "
		    "b2.post_restart b2.2");
	assert_told(play, "sister",
		    "sister1.pre_start sister1.pre_restart sister2.reset "
		    "sister2.post_restart");
}

static int decide_badly(struct weir_actor *supervisor,
			const struct weir_failure *failure, void *context)
{
	return failure->error->code == RESTART ? -E2BIG : 1000;
}

static int resume_noting(struct weir_actor *supervisor,
			 const struct weir_failure *failure, void *context)
{
	int *code = context;

	assert_string_equal(failure->name, "a");
	*code = failure->error->code;
	return WEIR_DIRECTIVE_RESUME;
}

static void b2_5_a_decider_that_fails_fails_the_supervisor(struct play *play)
{
	static int code;
	static const struct weir_strategy bad = {.decide = decide_badly};
	static const struct weir_strategy above = {.decide = resume_noting,
						   .context = &code};
	static const struct role roles[] = {{"a", .strategy = &bad}};
	static const struct step steps[] = {
		{"b", TURN, .item = 1, .fail = RESTART},
		{"b", TURN, .item = 3, .fail = STOP},
	};

	play->top = &above;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	feed(play, "b", 1, 2);
	assert_int_equal(code, -E2BIG);
	give(play, "b", 3);
	assert_int_equal(code, -EINVAL);
	/* resumed with its supervisor: no order was lost */
	assert_told(play, "a", "a1.pre_start");
	assert_told(play, "b", "b1.pre_start b1.1 b1.2 b1.3");
	assert_int_equal(suspends(play, "b"), 0);
	give(play, "b", 4);
	assert_int_equal(times(play, "b1.4"), 1);
}

static void b2_6_a_directive_is_told_before_it_is_followed(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", TURN, .item = 2, .fail = RESUME},
		{"a", TURN, .item = 4, .fail = STOP},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 4);
	assert_told(play, NULL,
		    "a1.pre_start a1.1 restart(a) a1.pre_restart a2.reset "
		    "a2.post_restart a2.2 resume(a) a2.3 a2.4 stop(a) "
		    "a2.post_stop");
}

/* --- B3: deciders --------------------------------------------------------- */

struct verdict {
	enum weir_failure_kind kind;
	int code;
	size_t asked;
};

static int restart_noting(struct weir_actor *supervisor,
			  const struct weir_failure *failure, void *context)
{
	struct verdict *verdict = context;
	struct member *a = member(&the_play, "a");

	assert_ptr_equal(weir_actor_system(supervisor), the_play.base.system);
	assert_ptr_equal(failure->system, the_play.base.system);
	assert_true(weir_actor_id_equal(failure->child, a->ref));
	assert_string_equal(failure->name, "a");
	assert_string_equal(failure->error->origin, "a");
	assert_ptr_equal(failure->error->cause, a);
	verdict->kind = failure->kind;
	verdict->code = failure->error->code;
	verdict->asked++;
	return WEIR_DIRECTIVE_RESTART;
}

static void b3_1_a_decider_is_told_the_error_and_the_child(struct play *play)
{
	static struct verdict verdict;
	static const struct weir_strategy noting = {.decide = restart_noting,
						    .context = &verdict};
	static const struct step steps[] = {
		{"a", PRE_START, .generation = 1, .fail = -EPROTO},
		{"a", TURN, .item = 1, .fail = -E2BIG},
		{"a", TURN, .item = 2, .fail = -ENOSPC},
		{"a", POST_RESTART, .generation = 4, .fail = -ENXIO},
	};

	memset(&verdict, 0, sizeof(verdict));
	play->top = &noting;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	assert_int_equal(verdict.kind, WEIR_FAILURE_START);
	assert_int_equal(verdict.code, -EPROTO);
	give(play, "a", 1);
	assert_int_equal(verdict.kind, WEIR_FAILURE_TURN);
	assert_int_equal(verdict.code, -E2BIG);
	assert_int_equal(verdict.asked, 2);
	give(play, "a", 2);
	assert_int_equal(verdict.kind, WEIR_FAILURE_RESTART);
	assert_int_equal(verdict.code, -ENXIO);
	assert_int_equal(verdict.asked, 4);
	assert_int_equal(member(play, "a")->generation, 5);
}

static void b3_2_what_no_rule_matches_is_escalated(struct play *play)
{
	static const struct weir_rule rules[] = {
		{.kind = WEIR_FAILURE_START, .directive = WEIR_DIRECTIVE_STOP},
		{.code = RESTART, .directive = WEIR_DIRECTIVE_RESTART},
	};
	static const struct weir_strategy some = {.rules = rules,
						  .n_rules = LENGTH(rules)};
	static const struct role roles[] = {{"a", .strategy = &some}};
	static const struct step steps[] = {
		{"b", TURN, .item = 1, .fail = RESTART},
		{"b", TURN, .item = 2, .fail = RESUME},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	give(play, "b", 1);
	assert_int_equal(times(play, "resume(a)"), 0);
	give(play, "b", 2);
	assert_int_equal(times(play, "resume(a)"), 1);
	assert_told(play, "a", "a1.pre_start");
}

static const struct weir_strategy defaults;

static void b3_3_the_default_restarts_what_fails_in_a_turn(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .rc = -EPROTO},
	};

	play->top = &defaults;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset "
		    "a2.post_restart");
}

static void b3_3_the_default_stops_what_fails_to_start(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .rc = -EPROTO},
		{"b", TURN, .item = 1, .rc = -EPROTO},
		{"b", POST_RESTART, .rc = -EPROTO},
	};

	play->top = &defaults;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, NULL, "b");
	give(play, "b", 1);
	/* what has not begun does not end */
	assert_told(play, "a", "a1.pre_start");
	assert_told(play, "b",
		    "b1.pre_start b1.1 b1.pre_restart b2.reset "
		    "b2.post_restart");
}

static void b3_3_the_default_stops_who_dies_of_a_death_pact(struct play *play)
{
	static const struct step steps[] = {{"a", PRE_START, .watch = "b"}};

	play->top = &defaults;
	SCRIPT(play, steps);
	add(play, NULL, "b");
	add(play, NULL, "a");
	run(play);
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, "b")), 0);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
	assert_int_equal(member(play, "a")->fate.code, -EOWNERDEAD);
}

/* As far as /: the system comes down. */
static void b3_3_the_default_escalates_what_is_fatal(struct play *play)
{
	static const struct role roles[] = {{"a", .strategy = &defaults}};
	static const struct step steps[] = {
		{"b", TURN, .item = 1, .rc = WEIR_ERROR_FATAL},
	};

	play->top = &defaults;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, NULL, "other");
	give(play, "b", 1);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
	assert_told(play, "b", "b1.pre_start b1.1 b1.post_stop");
	assert_told(play, "other", "other1.pre_start other1.post_stop");
	assert_true(weir_completion_done(
		weir_system_terminated(play->base.system)));
}

static void b3_3_the_stopping_decider_stops_all_but_the_fatal(struct play *play)
{
	static const struct weir_strategy stopping = {
		.decide = weir_strategy_decide_stop};
	static const struct role roles[] = {{"a", .strategy = &stopping}};
	static const struct step steps[] = {
		{"b", TURN, .item = 1, .fail = RESTART},
		{"c", TURN, .item = 2, .fail = WEIR_ERROR_FATAL},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, "a", "c");
	give(play, "b", 1);
	assert_told(play, "b", "b1.pre_start b1.1 b1.post_stop");
	assert_true(alive(play, "a"));
	give(play, "c", 2);
	assert_false(alive(play, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b2_1_resume_keeps_all_but_the_failed_token),
		RULE(b2_1_resume_is_for_the_one_that_failed_and_all_below),
		RULE(b2_1_resume_of_a_failed_restart_is_a_restart),
		RULE(b2_1_resume_of_a_failed_start_creates),
		RULE(b2_1_who_never_started_is_created),
		RULE(b1_4_a_start_that_always_fails_is_tried_max_times_more),
		RULE(b2_2_restart_is_for_the_one_that_failed),
		RULE(b2_3_stop_ends_it_with_its_error),
		RULE(b2_4_a_resume_above_resumes_the_one_that_failed),
		RULE(b2_4_a_resume_above_starts_one_that_did_not_start),
		RULE(b2_4_a_restart_above_stops_the_children_by_default),
		RULE(b2_4_a_restart_above_restarts_children_that_were_kept),
		RULE(b2_5_a_decider_that_fails_fails_the_supervisor),
		RULE(b2_6_a_directive_is_told_before_it_is_followed),
		RULE(b3_1_a_decider_is_told_the_error_and_the_child),
		RULE(b3_2_what_no_rule_matches_is_escalated),
		RULE(b3_3_the_default_restarts_what_fails_in_a_turn),
		RULE(b3_3_the_default_stops_what_fails_to_start),
		RULE(b3_3_the_default_stops_who_dies_of_a_death_pact),
		RULE(b3_3_the_default_escalates_what_is_fatal),
		RULE(b3_3_the_stopping_decider_stops_all_but_the_fatal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
