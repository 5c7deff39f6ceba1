/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A system as a whole: its guardians, its end, dead letters (B10). Rule numbers
 * like B10 are those of docs/conformance/supervision.md.
 */
#include "supervision/ending.h"

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

/* A hook that says in the log that it has run. */
/* --- The end -------------------------------------------------------------- */

static void b10_3_user_ends_then_system_then_the_rest(struct play *play)
{
	struct told_hook first, last;
	struct told_end end;

	add(play, NULL, "a");
	add(play, "a", "b");
	add_system(play, "log");
	before_end(play, &first, "end", true);
	at_termination(play, &last, "last");
	await_end(play, &end);
	run(play);
	log_clear(play);
	weir_system_stop(play->base.system);
	run(play);
	assert_told(play, NULL,
		    "b1.post_stop a1.post_stop end log1.post_stop last "
		    "complete");
	assert_false(first.is_user);
	assert_true(first.is_system);
	assert_false(last.is_system);
	assert_true(terminated(play));
	assert_null(weir_completion_value(
		weir_system_terminated(play->base.system)));
	assert_null(weir_completion_error(
		weir_system_terminated(play->base.system)));
}

static void b10_3_system_waits_for_every_answer(struct play *play)
{
	struct told_hook first, second, third;

	play_open(play);
	add_system(play, "log");
	before_end(play, &first, "first", false);
	before_end(play, &second, "second", true);
	before_end(play, &third, "third", false);
	weir_system_stop(play->base.system);
	run(play);
	assert_told(play, "hook", "third second first");
	assert_true(alive(play, "log"));
	weir_system_hook_done(&third.hook);
	run(play);
	assert_true(alive(play, "log"));
	assert_int_equal(weir_system_free(play->base.system), -EBUSY);
	weir_system_hook_done(&first.hook);
	run(play);
	assert_false(alive(play, "log"));
	assert_true(terminated(play));
}

static void b10_5_termination_hooks_run_in_reverse_once(struct play *play)
{
	struct told_hook first, second, third;
	struct told_end end;

	play_open(play);
	await_end(play, &end);
	at_termination(play, &first, "first");
	at_termination(play, &second, "second");
	at_termination(play, &third, "third");
	second.shuts = true;
	weir_system_stop(play->base.system);
	run(play);
	weir_system_stop(play->base.system);
	run(play);
	assert_told(play, "hook", "third second first complete");
}

static void refuses(struct play *play, const char *name)
{
	struct weir_system_hook hook = {.run = told_run};
	struct weir_system *system = play->base.system;

	assert_int_equal(spawn(play, WEIR_ACTOR_ID_NONE, name), -ESHUTDOWN);
	assert_int_equal(weir_system_before_end(system, &hook), -ESHUTDOWN);
	assert_int_equal(weir_system_at_termination(system, &hook), -ESHUTDOWN);
}

static void b10_5_nothing_is_accepted_from_the_shutdown_on(struct play *play)
{
	static const struct step steps[] = {
		{.who = "a", .when = POST_STOP, .spawn = "x"},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	weir_system_stop(play->base.system);
	refuses(play, "y");
	run(play);
	assert_int_equal(member(play, "a")->rc, -ESHUTDOWN);
	assert_true(terminated(play));
	refuses(play, "z");
	assert_int_equal(times(play, "x1.pre_start"), 0);
}

static void b10_5_a_shutdown_is_harmless_when_repeated(struct play *play)
{
	static const struct step steps[] = {
		{.who = "a", .when = TURN, .item = 1, .finish = true},
	};
	struct told_hook hook;
	size_t i;

	SCRIPT(play, steps);
	add(play, NULL, "a");
	before_end(play, &hook, "end", true);
	hook.shuts = true;
	assert_int_equal(put(play, "a", 1, 1), 0);
	/* at any moment */
	for (i = weir_sim_random(play->base.sim, 20); i > 0; i--)
		weir_sim_step(play->base.sim);
	do
		weir_system_stop(play->base.system);
	while (weir_sim_step(play->base.sim));
	assert_true(terminated(play));
	weir_system_stop(play->base.system);
	run(play);
	assert_int_equal(times(play, "end"), 1);
}

static void shut_down(struct member *self)
{
	weir_system_stop(self->play->base.system);
}

static void b10_5_an_actor_can_shut_its_system_down(struct play *play)
{
	static const enum when whens[] = {PRE_START, TURN, POST_STOP};
	enum when when = whens[play->seed % 3];
	const struct step steps[] = {
		{.who = "b", .when = when, .call = shut_down},
		{.who = "b", .when = TURN, .item = 2, .finish = true},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	add(play, "a", "b");
	(void)put(play, "b", 1, 2);
	run(play);
	assert_true(terminated(play));
	assert_false(alive(play, "a"));
}

static void b10_1_guardians_are_stopped_by_a_shutdown_only(struct play *play)
{
	struct weir_system *system;
	struct weir_actor_id refs[3];
	size_t i;

	play_open(play);
	system = play->base.system;
	refs[0] = weir_system_root(system);
	refs[1] = weir_system_user_guardian(system);
	refs[2] = weir_system_system_guardian(system);
	for (i = 0; i < LENGTH(refs); i++) {
		assert_int_equal(weir_system_stop_actor(system, refs[i]),
				 -EPERM);
		assert_int_equal(weir_system_poison(system, refs[i]), -EPERM);
		assert_int_equal(weir_system_kill(system, refs[i]), -EPERM);
	}
	run(play);
	for (i = 0; i < LENGTH(refs); i++)
		assert_true(weir_system_is_alive(system, refs[i]));
}

/* --- Guardians as supervisors --------------------------------------------- */

static const struct step a_fails[] = {
	{.who = "a", .when = TURN, .item = 1, .fail = RESTART},
	{.who = "a", .when = TURN, .item = 2, .fail = ESCALATE},
};

static void b10_2_user_restarts_by_default(struct play *play)
{
	static const struct weir_strategy usual = {
		.scope = WEIR_SCOPE_ONE_FOR_ONE};

	SCRIPT(play, a_fails);
	play->top = play->seed % 2 ? &usual : NULL;
	if (!play->top)
		assert_int_equal(weir_system_new(&play->base.system,
						 play->base.executor, &silent),
				 0);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_true(alive(play, "a"));
	assert_int_equal(
		weir_system_restarts(play->base.system, ref(play, "a")), 1);
	assert_false(terminated(play));
}

static void b10_2_the_strategy_of_user_can_be_set(struct play *play)
{
	static const struct weir_strategy stops = {
		.decide = weir_strategy_decide_stop};

	SCRIPT(play, a_fails);
	play->top = &stops;
	add(play, NULL, "a");
	add(play, NULL, "b");
	give(play, "a", 1);
	assert_false(alive(play, "a"));
	assert_true(alive(play, "b"));
	assert_told(play, "system", "stop(a)");
	assert_false(terminated(play));
}

static void b10_2_what_user_escalates_ends_the_system(struct play *play)
{
	struct told_hook hook;

	SCRIPT(play, a_fails);
	add(play, NULL, "a");
	add(play, NULL, "b");
	add_system(play, "log");
	before_end(play, &hook, "end", true);
	run(play);
	log_clear(play);
	give(play, "a", 2);
	assert_true(terminated(play));
	assert_true(before(play, "stop(/user)", "b1.post_stop"));
	assert_true(before(play, "b1.post_stop", "end"));
	assert_true(before(play, "end", "log1.post_stop"));
	refuses(play, "x");
}

static int decide_fails(struct weir_actor *supervisor,
			const struct weir_failure *failure, void *context)
{
	return -EILSEQ;
}

static void b10_2_a_failing_user_ends_the_system(struct play *play)
{
	static const struct weir_limit none = {.max = 0};
	static const struct weir_strategy fails[] = {
		{.decide = decide_fails},
		{.all = &none, .past_limit = WEIR_PAST_LIMIT_ESCALATE},
		{.all = &none, .past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR},
	};

	SCRIPT(play, a_fails);
	play->top = &fails[play->seed % LENGTH(fails)];
	add(play, NULL, "a");
	add(play, NULL, "b");
	add_system(play, "log");
	run(play);
	log_clear(play);
	give(play, "a", 1);
	assert_true(terminated(play));
	assert_true(before(play, "b1.post_stop", "log1.post_stop"));
}

static void b10_4_a_failing_system_guardian_ends_all(struct play *play)
{
	static const struct step steps[] = {
		{.who = "log",
		 .when = TURN,
		 .item = 1,
		 .fail = WEIR_ERROR_FATAL},
	};
	struct told_hook hook;

	SCRIPT(play, steps);
	add(play, NULL, "a");
	add_system(play, "log");
	before_end(play, &hook, "end", true);
	run(play);
	give(play, "log", 1);
	assert_true(terminated(play));
	assert_int_equal(times(play, "stop(/system)"), 1);
	assert_true(before(play, "a1.post_stop", "end"));
}

static struct weir_supervision_event seen;

static void see(const struct weir_supervision_event *event, void *context)
{
	size_t *n = context;

	seen = *event;
	assert_int_equal(event->error->code,
			 event->directive == WEIR_DIRECTIVE_STOP ? ESCALATE
								 : RESTART);
	++*n;
}

static void b10_4_an_event_tells_who_and_why(struct play *play)
{
	size_t n = 0;
	const struct weir_system_options options = {
		.strategy = &by_code,
		.event = see,
		.context = &n,
	};
	struct weir_system *system;

	SCRIPT(play, a_fails);
	assert_int_equal(
		weir_system_new(&system, play->base.executor, &options), 0);
	play->base.system = system;
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_int_equal(n, 1);
	assert_int_equal(seen.what, WEIR_SUPERVISION_EVENT_DIRECTIVE);
	assert_int_equal(seen.directive, WEIR_DIRECTIVE_RESTART);
	assert_ptr_equal(seen.system, system);
	assert_true(weir_actor_id_equal(seen.supervisor,
					weir_system_user_guardian(system)));
	assert_true(weir_actor_id_equal(seen.child, ref(play, "a")));
	assert_string_equal(seen.name, "a");
	give(play, "a", 2);
	assert_int_equal(n, 2); /* escalating is no event, B2.6 */
	assert_int_equal(seen.directive, WEIR_DIRECTIVE_STOP);
	assert_true(
		weir_actor_id_equal(seen.supervisor, weir_system_root(system)));
	assert_true(weir_actor_id_equal(seen.child,
					weir_system_user_guardian(system)));
	assert_string_equal(seen.name, "/user");
}

/* --- Being freed ---------------------------------------------------------- */

static void a_system_is_busy_until_it_has_terminated(struct play *play)
{
	struct weir_actor *kept;

	add(play, NULL, "a");
	assert_int_equal(weir_system_free(play->base.system), -EBUSY);
	run(play);
	kept = weir_system_actor(play->base.system, ref(play, "a"));
	assert_non_null(kept);
	weir_system_stop(play->base.system);
	assert_int_equal(weir_system_free(play->base.system), -EBUSY);
	run(play);
	assert_int_equal(member(play, "a")->fate.stopped, 1);
	assert_int_equal(weir_system_free(play->base.system), -EBUSY);
	assert_false(terminated(play));
	weir_actor_unref(kept);
	assert_true(terminated(play));
}

static void who_is_told_of_the_end_may_free_the_system(struct play *play)
{
	struct told_end end;

	add(play, NULL, "a");
	await_end(play, &end);
	end.frees = true;
	run(play);
	weir_system_stop(play->base.system);
	weir_sim_run(play->base.sim);
	assert_null(play->base.system);
	assert_int_equal(times(play, "complete"), 1);
}

static void a_system_can_end_before_it_has_begun(struct play *play)
{
	play_open(play);
	weir_system_stop(play->base.system);
	run(play);
	assert_true(terminated(play));
}

static void b10_1_systems_are_apart(struct play *play)
{
	struct weir_system *other;
	struct weir_actor_id user;

	add(play, NULL, "a");
	assert_int_equal(weir_system_new(&other, play->base.executor, &silent),
			 0);
	user = weir_system_user_guardian(other);
	run(play);
	weir_system_stop(play->base.system);
	run(play);
	assert_true(weir_system_is_alive(other, user));
	assert_true(terminated(play));
	weir_system_stop(other);
	run(play);
	assert_int_equal(weir_system_free(other), 0);
}

/* --- Dead letters --------------------------------------------------------- */

static void e8_items_of_the_dead_are_told_counted_and_dropped(struct play *play)
{
	struct member *a = add(play, NULL, "a");

	run(play);
	log_clear(play);
	weir_actor_suspend(&a->actor);
	assert_int_equal(put(play, "a", 1, 3), 0);
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 0);
	assert_int_equal(weir_system_stop_actor(play->base.system, a->ref), 0);
	run(play);
	assert_told(play, "a", "a1.post_stop a1.dead1 a1.dead2 a1.dead3");
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 3);
	assert_int_equal(ledger_dropped(&play->base.ledger), 3);
	ledger_check(&play->base.ledger);
}

static void e8_who_finds_nobody_can_say_so(struct play *play)
{
	struct ledger *ledger = &play->base.ledger;
	struct member *a = add(play, NULL, "a");

	run(play);
	assert_int_equal(weir_system_stop_actor(play->base.system, a->ref), 0);
	run(play);
	log_clear(play);
	weir_system_dead_letter(play->base.system, a->ref, &ledger->items,
				ledger_make(ledger, 7));
	assert_told(play, "a", "a1.dead7");
	assert_int_equal(ledger->dropped[6], 1);
	weir_system_dead_letter(play->base.system, a->ref, NULL, (void *)8);
	assert_told(play, "a", "a1.dead7 a1.dead8");
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 2);
	/* Without a system there is nobody to be told. */
	weir_system_dead_letter(NULL, a->ref, &ledger->items,
				ledger_make(ledger, 9));
	assert_int_equal(ledger->dropped[8], 1);
	assert_int_equal(weir_system_dead_letter_count(NULL), 0);
}

/* --- The executor ends ---------------------------------------------------- */

static void b10_3_a_drain_ends_the_system_behind_its_tokens(struct play *play)
{
	struct told_hook first, last;
	struct weir_ending drain;

	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, NULL, "c");
	before_end(play, &first, "end", true);
	at_termination(play, &last, "last");
	assert_int_equal(put(play, "a", 1, 5), 0);
	assert_int_equal(put(play, "b", 6, 10), 0);
	drain_begin(play, &drain, false);
	run(play);
	assert_int_equal(ledger_delivered(&play->base.ledger), 10);
	assert_false(first.is_user);
	assert_true(first.is_system);
	assert_int_equal(member(play, "a")->fate.code, 0);
	assert_told(play, "hook", "end drained last");
	assert_true(terminated(play));
	refuses(play, "x");
}

static void b10_3_an_abort_ends_the_system(struct play *play)
{
	struct told_hook first, last;
	struct weir_ending drain;
	size_t i;

	add(play, NULL, "a");
	add(play, "a", "b");
	add_system(play, "log");
	before_end(play, &first, "end", true);
	at_termination(play, &last, "last");
	(void)put(play, "a", 1, 5);
	for (i = weir_sim_random(play->base.sim, 20); i > 0; i--)
		weir_sim_step(play->base.sim);
	drain_begin(play, &drain, true);
	run(play);
	assert_told(play, "hook", "end drained last");
	assert_true(terminated(play));
	refuses(play, "x");
}

static void b10_3_an_abort_waits_for_answers_only_with_the_completion(
	struct play *play)
{
	struct told_hook first, last;
	struct weir_ending drain;

	play_open(play);
	before_end(play, &first, "end", false);
	at_termination(play, &last, "last");
	run(play);
	drain_begin(play, &drain, true);
	run(play);
	assert_told(play, "hook", "end drained");
	assert_false(terminated(play));
	assert_int_equal(weir_system_free(play->base.system), -EBUSY);
	weir_system_hook_done(&first.hook);
	assert_true(terminated(play));
	assert_told(play, "hook", "end drained last");
}

static void b10_3_the_end_reaches_actors_of_other_executors(struct play *play)
{
	struct weir_sim *sim = sim_new(play->seed);
	struct weir_actor_ops ops = {.turns = member_turns};
	struct weir_actor_id far;
	struct weir_actor actor;
	struct weir_ending drain;

	play_open(play);
	assert_int_equal(weir_actor_init(&actor, &ops, weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_system_spawn(play->base.system,
					   WEIR_ACTOR_ID_NONE, &actor, NULL,
					   &far),
			 0);
	weir_sim_run(sim);
	drain_begin(play, &drain, true);
	run(play);
	assert_false(terminated(play));
	assert_true(weir_system_is_alive(play->base.system, far));
	while (weir_sim_run(sim) + weir_sim_run(play->base.sim))
		;
	assert_false(weir_system_is_alive(play->base.system, far));
	assert_true(terminated(play));
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b10_3_user_ends_then_system_then_the_rest),
		RULE(b10_3_system_waits_for_every_answer),
		RULE(b10_5_termination_hooks_run_in_reverse_once),
		RULE(b10_5_nothing_is_accepted_from_the_shutdown_on),
		RULE(b10_5_a_shutdown_is_harmless_when_repeated),
		RULE(b10_5_an_actor_can_shut_its_system_down),
		RULE(b10_1_guardians_are_stopped_by_a_shutdown_only),
		RULE(b10_2_user_restarts_by_default),
		RULE(b10_2_the_strategy_of_user_can_be_set),
		RULE(b10_2_what_user_escalates_ends_the_system),
		RULE(b10_2_a_failing_user_ends_the_system),
		RULE(b10_4_a_failing_system_guardian_ends_all),
		RULE(b10_4_an_event_tells_who_and_why),
		RULE(a_system_is_busy_until_it_has_terminated),
		RULE(who_is_told_of_the_end_may_free_the_system),
		RULE(a_system_can_end_before_it_has_begun),
		RULE(b10_1_systems_are_apart),
		RULE(e8_items_of_the_dead_are_told_counted_and_dropped),
		RULE(e8_who_finds_nobody_can_say_so),
		RULE(b10_3_a_drain_ends_the_system_behind_its_tokens),
		RULE(b10_3_an_abort_ends_the_system),
		RULE(b10_3_an_abort_waits_for_answers_only_with_the_completion),
		RULE(b10_3_the_end_reaches_actors_of_other_executors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
