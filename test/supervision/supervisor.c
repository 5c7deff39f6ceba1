/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a failure brings about: suspension (B1). The rules' numbers are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

/* Waits a second before each restart: time to look at who is suspended. */
static const struct weir_backoff one_second = {
	.min_ns = SECOND,
	.max_ns = SECOND,
};
static const struct weir_strategy slow = {BY_CODE, .backoff = &one_second};
static const struct weir_strategy all_for_one = {
	BY_CODE,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
};

/* --- B1: failure and suspension ------------------------------------------- */

static void b1_1_the_failed_token_is_lost_and_the_rest_is_kept(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .fail = RESTART},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 "
		    "a1.pre_restart a2.reset a2.post_restart a2.3 a2.4");
}

static void b1_1_a_failed_token_that_was_not_taken_is_dropped(struct play *play)
{
	static const struct role roles[] = {{"a", .peeks = true}};
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .rc = RESTART},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 "
		    "a1.pre_restart a2.reset a2.post_restart a2.3 a2.4");
	assert_int_equal(play->base.ledger.dropped[2 - 1], 1);
}

static void b1_2_a_failure_suspends_the_actor_and_all_below(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
	};

	play->top = &slow;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, "b", "c");
	add(play, NULL, "other");
	give(play, "other", 9);
	assert_int_equal(put(play, "a", 1, 2), 0);
	run_until(play, 500 * MS);
	assert_int_equal(put(play, "b", 3, 3), 0);
	assert_int_equal(put(play, "c", 4, 4), 0);
	assert_int_equal(put(play, "other", 5, 5), 0);
	run_until(play, 999 * MS);
	assert_told(play, "a", "a1.pre_start a1.1");
	assert_told(play, "b", "b1.pre_start");
	assert_told(play, "c", "c1.pre_start");
	assert_told(play, "other", "other1.pre_start other1.9 other1.5");
	run(play);
	assert_int_equal(times(play, "a2.2"), 1);
	assert_int_equal(times(play, "b2.3"), 1);
	assert_int_equal(times(play, "c2.4"), 1);
}

/* What comes to them meanwhile is kept, signals as well. */
static void e4_those_below_are_suspended_to_the_last(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
	};
	static const char *const names[] = {"b", "c", "d"};
	const char *parent = "a";
	size_t i;

	play->top = &slow;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	for (i = 0; i < LENGTH(names); i++) {
		add(play, parent, names[i]);
		parent = names[i];
	}
	assert_int_equal(put(play, "a", 1, 1), 0);
	run_until(play, 500 * MS);
	for (i = 0; i < LENGTH(names); i++) {
		assert_int_equal(suspends(play, names[i]), 1);
		weir_actor_signal(&member(play, names[i])->actor);
		assert_int_equal(put(play, names[i], 2, 2), 0);
	}
	run_until(play, 999 * MS);
	assert_told(play, "b", "b1.pre_start");
	assert_told(play, "c", "c1.pre_start");
	assert_told(play, "d", "d1.pre_start");
	run(play);
	assert_int_equal(times(play, "b2.signalled"), 1);
	assert_int_equal(times(play, "c2.signalled"), 1);
	assert_int_equal(times(play, "d2.signalled"), 1);
	assert_int_equal(times(play, "d2.2"), 1);
}

static int resume_counted(struct weir_actor *supervisor,
			  const struct weir_failure *failure, void *context)
{
	assert_string_equal(failure->name, "a");
	assert_int_equal(suspends(&the_play, "a"), 1);
	assert_int_equal(suspends(&the_play, "b"), 2);
	assert_int_equal(suspends(&the_play, "c"), 2);
	return WEIR_DIRECTIVE_RESUME;
}

/* b has failed and waits; a fails as well and is resumed; c is below both. */
static void b1_3_suspension_is_counted(struct play *play)
{
	static const struct weir_strategy counting = {.decide = resume_counted};
	static const struct role roles[] = {{"a", .strategy = &slow}};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESUME},
		{"b", TURN, .item = 2, .fail = RESTART},
	};

	play->top = &counting;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, "b", "c");
	assert_int_equal(put(play, "b", 2, 2), 0);
	run_until(play, 100 * MS);
	assert_int_equal(put(play, "c", 3, 3), 0);
	assert_int_equal(put(play, "a", 1, 1), 0);
	run_until(play, 999 * MS);
	assert_told(play, "a", "a1.pre_start a1.1");
	assert_int_equal(suspends(play, "a"), 0);
	assert_int_equal(suspends(play, "b"), 1);
	assert_int_equal(suspends(play, "c"), 1);
	assert_told(play, "c", "c1.pre_start");
	run(play);
	assert_int_equal(suspends(play, "c"), 0);
	assert_int_equal(times(play, "c2.3"), 1);
}

/* weir_actor_suspend() has nothing to do with it, nor it with that. */
static void b1_3_the_users_own_suspension_is_apart(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
	};
	struct member *a;

	play->top = &slow;
	SCRIPT(play, steps);
	a = add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	run_until(play, 500 * MS);
	weir_actor_suspend(&a->actor);
	run_until(play, 2 * SECOND);
	assert_int_equal(a->generation, 2);
	assert_int_equal(a->seen, 0);
	weir_actor_resume(&a->actor);
	run_until(play, 2 * SECOND);
	assert_int_equal(times(play, "a2.2"), 1);
	assert_int_equal(put(play, "a", 1, 3), 0);
	run_until(play, 2 * SECOND);
	weir_actor_suspend(&a->actor);
	weir_actor_resume(&a->actor);
	run_until(play, 3 * SECOND - 1);
	assert_int_equal(a->seen, 2);
	run(play);
	assert_int_equal(a->generation, 3);
	assert_int_equal(a->seen, 2);
}

/* B1.3: between two turns it is looked for. */
static void e16_an_order_goes_before_the_next_token(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .stop = "a"}};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 5);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.post_stop "
		    "a1.dead3 a1.dead4 a1.dead5");
}

static void b1_4_a_failed_actor_runs_nothing_before_the_verdict(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
	};
	struct member *a;

	play->top = &slow;
	SCRIPT(play, steps);
	a = add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	run_until(play, 500 * MS);
	weir_actor_signal(&a->actor);
	assert_int_equal(put(play, "a", 3, 3), 0);
	run_until(play, 999 * MS);
	assert_told(play, "a", "a1.pre_start a1.1");
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.signalled a2.2 a2.3");
}

/* The limit is three, so there is a first start and three more. */
static void b1_4_each_failing_start_is_a_failure(struct play *play)
{
	static const struct weir_limit three = {.max = 3,
						.window = WEIR_WINDOW_TUMBLING,
						.within_ns = WEIR_FOREVER};
	static const struct weir_strategy limited = {BY_CODE, .each = &three};
	static const struct role roles[] = {{"a", .hooks = PLAIN}};
	static const struct step by_rc[] = {{"a", PRE_START, .rc = RESTART}};
	static const struct step by_fail[] = {
		{"a", PRE_START, .fail = RESTART}};

	play->top = &limited;
	ROLES(play, roles);
	if (play->seed % 2)
		SCRIPT(play, by_rc);
	else
		SCRIPT(play, by_fail);
	add(play, NULL, "a");
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a2.reset a2.pre_start a3.reset a3.pre_start "
		    "a4.reset a4.pre_start");
	assert_told(play, "system",
		    "restart(a) restart(a) restart(a) limit(a)");
	assert_false(alive(play, "a"));
}

/* The two failures come in any order, and at the same time. */
static void b1_5_a_suspended_supervisor_answers_when_it_is_resumed(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESUME},
		{"b", TURN, .item = 2, .fail = RESTART},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	assert_int_equal(put(play, "a", 1, 1), 0);
	give(play, "b", 2);
	assert_told(play, "a", "a1.pre_start a1.1");
	assert_told(play, "b",
		    "b1.pre_start b1.2 b1.pre_restart b2.reset "
		    "b2.post_restart");
	give(play, "b", 3);
	assert_int_equal(times(play, "b2.3"), 1);
}

/* g is above both, and fails as well; it waits a second to restart. */
static void b1_5_whoever_is_suspended_from_above_answers_later(
	struct play *play)
{
	static const struct step steps[] = {
		{"g", TURN, .item = 1, .fail = RESTART},
		{"b", TURN, .item = 2, .fail = RESUME},
	};
	static const char *const names[] = {"g", "a", "b"};
	size_t i;

	play->top = &slow;
	SCRIPT(play, steps);
	add(play, NULL, "g");
	add(play, "g", "a");
	add(play, "a", "b");
	run(play);
	log_clear(play);
	assert_int_equal(put(play, "g", 1, 1), 0);
	assert_int_equal(put(play, "b", 2, 2), 0);
	run_until(play, SECOND - 1);
	for (i = place(play, "restart(g)") + 1; i < play->n_log; i++)
		assert_string_not_equal(play->log[i].text, "resume(b)");
	run(play);
	for (i = 0; i < LENGTH(names); i++) {
		assert_int_equal(member(play, names[i])->generation, 2);
		assert_int_equal(suspends(play, names[i]), 0);
	}
	give(play, "b", 3);
	assert_int_equal(times(play, "b2.3"), 1);
}

/* The same, and it goes on as it was. */
static void b1_5_resumed_from_above_it_answers(struct play *play)
{
	static const struct step steps[] = {
		{"g", TURN, .item = 1, .fail = RESUME},
		{"b", TURN, .item = 2, .fail = RESUME},
	};

	SCRIPT(play, steps);
	add(play, NULL, "g");
	add(play, "g", "a");
	add(play, "a", "b");
	assert_int_equal(put(play, "g", 1, 1), 0);
	feed(play, "b", 2, 3);
	assert_told(play, "b", "b1.pre_start b1.2 b1.3");
	assert_int_equal(times(play, "resume(b)"), 1);
	assert_int_equal(suspends(play, "b"), 0);
}

/* A stop comes while a restart waits for children to end. */
static void b1_5_a_restart_under_way_does_not_defer_a_stop(struct play *play)
{
	static const struct role roles[] = {{"a", .hooks = PLAIN}};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"c", POST_STOP, .stop = "a"},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, "b", "c");
	give(play, "a", 1);
	assert_int_equal(times(play, "a2.pre_start"), 0);
	assert_false(alive(play, "a"));
}

/* Two groups of restarts at once: both are followed, nobody is left over. */
static void b1_5_failures_during_a_restart_are_kept(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"b", TURN, .item = 2, .fail = RESTART},
		{"c", TURN, .item = 3, .fail = RESTART},
	};
	static const char *const names[] = {"a", "b", "c"};
	size_t i;

	play->top = &all_for_one;
	SCRIPT(play, steps);
	for (i = 0; i < 3; i++) {
		add(play, NULL, names[i]);
		assert_int_equal(put(play, names[i], i + 1, i + 1), 0);
	}
	run(play);
	for (i = 0; i < 3; i++) {
		assert_int_equal(suspends(play, names[i]), 0);
		assert_true(member(play, names[i])->generation > 1);
		give(play, names[i], 10 + i);
		assert_int_equal(member(play, names[i])->seen, 1);
	}
}

static void b1_6_a_failure_is_not_laid_to_the_next_of_that_name(
	struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(CHILD_ENDED)},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .stop = "b"},
		{"a", CHILD_ENDED, .spawn = "b"},
		{"b", TURN, .item = 2, .fail = RESTART},
	};
	struct weir_actor_id first;

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	first = ref(play, "b");
	assert_int_equal(put(play, "b", 2, 2), 0);
	give(play, "a", 1);
	assert_false(weir_system_is_alive(play->base.system, first));
	assert_true(alive(play, "b"));
	give(play, "b", 3);
	assert_int_equal(member(play, "b")->generation, 1);
	assert_int_equal(
		weir_system_restarts(play->base.system, ref(play, "b")), 0);
	assert_int_equal(member(play, "b")->seen, 1);
}

static void b1_7_a_child_of_a_suspended_parent_starts_suspended(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
	};

	play->top = &slow;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 1), 0);
	run_until(play, 500 * MS);
	add(play, "a", "b");
	assert_int_equal(suspends(play, "b"), 1);
	assert_int_equal(put(play, "b", 2, 2), 0);
	run_until(play, 999 * MS);
	assert_int_equal(member(play, "b")->seen, 0);
	run(play);
	assert_int_equal(suspends(play, "b"), 0);
	assert_int_equal(member(play, "b")->seen, 1);
}

static struct weir__cell *cell_of(const struct play *play, const char *name)
{
	return weir__cell_of(&member(play, name)->actor);
}

/* In the order they have failed, each once, though it may be told of twice. */
static void assert_waiting(struct play *play, const char *const *names,
			   size_t n)
{
	struct weir_system *system = play->base.system;
	const struct weir__cell *boss = cell_of(play, "boss"), *first, *each;
	bool held = weir__enter(&system->lock);
	size_t i;

	first = weir__cell_at(system, weir__record_of(boss)->family.failed);
	for (i = 0, each = first; i < n; i++) {
		assert_ptr_equal(each, cell_of(play, names[i]));
		each = weir__cell_at(system, each->work);
	}
	assert_ptr_equal(each, first);
	weir__leave(&system->lock, held);
}

static void look(struct play *play, const char *name)
{
	bool held = weir__enter(&play->base.system->lock);

	weir__cell_order(cell_of(play, name), WEIR__ORDER_LOOK);
	weir__leave(&play->base.system->lock, held);
}

static void b1_5_failures_wait_for_their_answers_in_order_and_once(
	struct play *play)
{
	static const struct role roles[] = {{"boss", .strategy = &slow}};
	static const struct step steps[] = {
		{"a", TURN, .fail = RESTART},
		{"b", TURN, .fail = RESTART},
		{"c", TURN, .fail = RESTART},
	};
	static const char *const names[] = {"c", "a", "b"};
	struct weir_system *system;
	bool held;
	size_t i;

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	system = play->base.system;
	add(play, "boss", "a");
	add(play, "boss", "b");
	add(play, "boss", "c");
	for (i = 0; i < 3; i++) {
		run_until(play, (i + 1) * MS);
		assert_int_equal(put(play, names[i], 1, 1), 0);
	}
	run_until(play, 4 * MS);
	held = weir__enter(&system->lock);
	weir__branch_suspend(system, cell_of(play, "boss"));
	weir__leave(&system->lock, held);
	run_until(play, 2 * SECOND);
	assert_waiting(play, names, 3);
	for (i = 0; i < 3; i++)
		look(play, names[i]);
	run_until(play, 2 * SECOND);
	assert_waiting(play, names, 3);
	held = weir__enter(&system->lock);
	weir__branch_resume(system, cell_of(play, "boss"));
	weir__leave(&system->lock, held);
	run(play);
	for (i = 0; i < 3; i++)
		assert_int_equal(member(play, names[i])->generation, 2);
}

/* --- Causes --------------------------------------------------------------- */

static size_t n_dropped;

/* It may ask the system what it likes. */
static void cause_dropped(void *cause)
{
	const struct play *play = cause;

	assert_int_equal(ck_pr_load_32(&play->base.system->lock.plain.word), 0);
	(void)weir_system_restarts(play->base.system, ref(play, "boss"));
	n_dropped++;
}

static void fail_with_cause(struct member *self)
{
	struct weir_error *error;

	assert_int_equal(weir_error_new(&error, RESTART, self->name, "",
					self->play, cause_dropped,
					&self->play->base.heap.allocator),
			 0);
	self->failed = true;
	assert_int_equal(weir_actor_fail(&self->actor, error), 0);
}

/* Why siblings and children restart is kept, until there is another reason. */
static void b2_2_causes_are_dropped_without_the_lock(struct play *play)
{
	static const struct weir_strategy all = {
		BY_CODE,
		.scope = WEIR_SCOPE_ALL_FOR_ONE,
	};
	static const struct role roles[] = {{"boss", .strategy = &all}};
	static const struct step steps[] = {
		{"boss", TURN, .call = fail_with_cause},
		{"a", TURN, .call = fail_with_cause},
	};

	n_dropped = 0;
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	add(play, "boss", "b");
	run(play);
	give(play, "a", 1);
	give(play, "a", 2);
	assert_int_equal(n_dropped, 1);
	give(play, "boss", 3);
	assert_int_equal(n_dropped, 2);
	give(play, "boss", 4);
	give(play, "a", 5);
	assert_int_equal(member(play, "b")->generation, 6);
	assert_int_equal(n_dropped, 4);
	assert_int_equal(weir_system_stop_actor(play->base.system,
						ref(play, "boss")),
			 0);
	run(play);
	assert_int_equal(n_dropped, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b1_1_the_failed_token_is_lost_and_the_rest_is_kept),
		RULE(b1_1_a_failed_token_that_was_not_taken_is_dropped),
		RULE(b1_2_a_failure_suspends_the_actor_and_all_below),
		RULE(e4_those_below_are_suspended_to_the_last),
		RULE(b1_3_suspension_is_counted),
		RULE(b1_3_the_users_own_suspension_is_apart),
		RULE(e16_an_order_goes_before_the_next_token),
		RULE(b1_4_a_failed_actor_runs_nothing_before_the_verdict),
		RULE(b1_4_each_failing_start_is_a_failure),
		RULE(b1_5_a_suspended_supervisor_answers_when_it_is_resumed),
		RULE(b1_5_whoever_is_suspended_from_above_answers_later),
		RULE(b1_5_resumed_from_above_it_answers),
		RULE(b1_5_a_restart_under_way_does_not_defer_a_stop),
		RULE(b1_5_failures_during_a_restart_are_kept),
		RULE(b1_6_a_failure_is_not_laid_to_the_next_of_that_name),
		RULE(b1_7_a_child_of_a_suspended_parent_starts_suspended),
		RULE(b1_5_failures_wait_for_their_answers_in_order_and_once),
		RULE(b2_2_causes_are_dropped_without_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
