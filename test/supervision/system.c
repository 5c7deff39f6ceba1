/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A system as a whole: its guardians, its end, dead letters (B10). Rule numbers
 * like B10 are those of docs/conformance/supervision.md.
 */
#include "supervision/ending.h"

/* A hook that says in the log that it has run. */
/* --- The end -------------------------------------------------------------- */

static void b10_3_user_ends_then_system_then_the_rest(struct world *world)
{
	struct told_hook first, last;
	struct told_end end;

	add(world, NULL, "a");
	add(world, "a", "b");
	add_system(world, "log");
	before_end(world, &first, "end", true);
	at_termination(world, &last, "last");
	await_end(world, &end);
	run(world);
	log_clear(world);
	weir_system_stop(world->system);
	run(world);
	assert_told(world, NULL,
		    "b1.post_stop a1.post_stop end log1.post_stop last "
		    "complete");
	assert_false(first.is_user);
	assert_true(first.is_system);
	assert_false(last.is_system);
	assert_true(terminated(world));
	assert_null(
		weir_completion_value(weir_system_terminated(world->system)));
	assert_null(
		weir_completion_error(weir_system_terminated(world->system)));
}

static void b10_3_system_waits_for_every_answer(struct world *world)
{
	struct told_hook first, second, third;

	world_open(world);
	add_system(world, "log");
	before_end(world, &first, "first", false);
	before_end(world, &second, "second", true);
	before_end(world, &third, "third", false);
	weir_system_stop(world->system);
	run(world);
	assert_told(world, "hook", "third second first");
	assert_true(alive(world, "log"));
	weir_system_hook_done(&third.hook);
	run(world);
	assert_true(alive(world, "log"));
	assert_int_equal(weir_system_free(world->system), -EBUSY);
	weir_system_hook_done(&first.hook);
	run(world);
	assert_false(alive(world, "log"));
	assert_true(terminated(world));
}

static void b10_5_termination_hooks_run_in_reverse_once(struct world *world)
{
	struct told_hook first, second, third;
	struct told_end end;

	world_open(world);
	await_end(world, &end);
	at_termination(world, &first, "first");
	at_termination(world, &second, "second");
	at_termination(world, &third, "third");
	second.shuts = true;
	weir_system_stop(world->system);
	run(world);
	weir_system_stop(world->system);
	run(world);
	assert_told(world, "hook", "third second first complete");
}

static void refuses(struct world *world, const char *name)
{
	struct weir_system_hook hook = {.run = told_run};
	struct weir_system *system = world->system;

	assert_int_equal(spawn(world, WEIR_ACTOR_ID_NONE, name), -ESHUTDOWN);
	assert_int_equal(weir_system_before_end(system, &hook), -ESHUTDOWN);
	assert_int_equal(weir_system_at_termination(system, &hook), -ESHUTDOWN);
}

static void b10_5_nothing_is_accepted_from_the_shutdown_on(struct world *world)
{
	static const struct step steps[] = {
		{.who = "a", .when = POST_STOP, .spawn = "x"},
	};

	SCRIPT(world, steps);
	add(world, NULL, "a");
	run(world);
	weir_system_stop(world->system);
	refuses(world, "y");
	run(world);
	assert_int_equal(member(world, "a")->rc, -ESHUTDOWN);
	assert_true(terminated(world));
	refuses(world, "z");
	assert_int_equal(times(world, "x1.pre_start"), 0);
}

static void b10_5_a_shutdown_is_harmless_when_repeated(struct world *world)
{
	static const struct step steps[] = {
		{.who = "a", .when = TURN, .item = 1, .finish = true},
	};
	struct told_hook hook;
	size_t i;

	SCRIPT(world, steps);
	add(world, NULL, "a");
	before_end(world, &hook, "end", true);
	hook.shuts = true;
	assert_int_equal(put(world, "a", 1, 1), 0);
	/* at any moment */
	for (i = weir_sim_random(world->sim, 20); i > 0; i--)
		weir_sim_step(world->sim);
	do
		weir_system_stop(world->system);
	while (weir_sim_step(world->sim));
	assert_true(terminated(world));
	weir_system_stop(world->system);
	run(world);
	assert_int_equal(times(world, "end"), 1);
}

static void shut_down(struct member *self)
{
	weir_system_stop(self->world->system);
}

static void b10_5_an_actor_can_shut_its_system_down(struct world *world)
{
	static const enum when whens[] = {PRE_START, TURN, POST_STOP};
	enum when when = whens[world->seed % 3];
	const struct step steps[] = {
		{.who = "b", .when = when, .call = shut_down},
		{.who = "b", .when = TURN, .item = 2, .finish = true},
	};

	SCRIPT(world, steps);
	add(world, NULL, "a");
	run(world);
	add(world, "a", "b");
	(void)put(world, "b", 1, 2);
	run(world);
	assert_true(terminated(world));
	assert_false(alive(world, "a"));
}

static void b10_1_guardians_are_stopped_by_a_shutdown_only(struct world *world)
{
	struct weir_system *system;
	struct weir_actor_id refs[3];
	size_t i;

	world_open(world);
	system = world->system;
	refs[0] = weir_system_root(system);
	refs[1] = weir_system_user_guardian(system);
	refs[2] = weir_system_system_guardian(system);
	for (i = 0; i < LENGTH(refs); i++) {
		assert_int_equal(weir_system_stop_actor(system, refs[i]),
				 -EPERM);
		assert_int_equal(weir_system_poison(system, refs[i]), -EPERM);
		assert_int_equal(weir_system_kill(system, refs[i]), -EPERM);
	}
	run(world);
	for (i = 0; i < LENGTH(refs); i++)
		assert_true(weir_system_is_alive(system, refs[i]));
}

/* --- Guardians as supervisors --------------------------------------------- */

static const struct step a_fails[] = {
	{.who = "a", .when = TURN, .item = 1, .fail = RESTART},
	{.who = "a", .when = TURN, .item = 2, .fail = ESCALATE},
};

static void b10_2_user_restarts_by_default(struct world *world)
{
	static const struct weir_strategy usual = {
		.scope = WEIR_SCOPE_ONE_FOR_ONE};

	SCRIPT(world, a_fails);
	world->top = world->seed % 2 ? &usual : NULL;
	if (!world->top)
		assert_int_equal(weir_system_new(&world->system,
						 weir_sim_executor(world->sim),
						 NULL),
				 0);
	add(world, NULL, "a");
	give(world, "a", 1);
	assert_true(alive(world, "a"));
	assert_int_equal(weir_system_restarts(world->system, ref(world, "a")),
			 1);
	assert_false(terminated(world));
}

static void b10_2_the_strategy_of_user_can_be_set(struct world *world)
{
	static const struct weir_strategy stops = {
		.decide = weir_strategy_decide_stop};

	SCRIPT(world, a_fails);
	world->top = &stops;
	add(world, NULL, "a");
	add(world, NULL, "b");
	give(world, "a", 1);
	assert_false(alive(world, "a"));
	assert_true(alive(world, "b"));
	assert_told(world, "system", "stop(a)");
	assert_false(terminated(world));
}

static void b10_2_what_user_escalates_ends_the_system(struct world *world)
{
	struct told_hook hook;

	SCRIPT(world, a_fails);
	add(world, NULL, "a");
	add(world, NULL, "b");
	add_system(world, "log");
	before_end(world, &hook, "end", true);
	run(world);
	log_clear(world);
	give(world, "a", 2);
	assert_true(terminated(world));
	assert_true(before(world, "stop(/user)", "b1.post_stop"));
	assert_true(before(world, "b1.post_stop", "end"));
	assert_true(before(world, "end", "log1.post_stop"));
	refuses(world, "x");
}

static int decide_fails(struct weir_actor *supervisor,
			const struct weir_failure *failure, void *context)
{
	return -EILSEQ;
}

static void b10_2_a_failing_user_ends_the_system(struct world *world)
{
	static const struct weir_limit none = {.max = 0};
	static const struct weir_strategy fails[] = {
		{.decide = decide_fails},
		{.all = &none, .past_limit = WEIR_PAST_LIMIT_ESCALATE},
		{.all = &none, .past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR},
	};

	SCRIPT(world, a_fails);
	world->top = &fails[world->seed % LENGTH(fails)];
	add(world, NULL, "a");
	add(world, NULL, "b");
	add_system(world, "log");
	run(world);
	log_clear(world);
	give(world, "a", 1);
	assert_true(terminated(world));
	assert_true(before(world, "b1.post_stop", "log1.post_stop"));
}

static void b10_4_a_failing_system_guardian_ends_all(struct world *world)
{
	static const struct step steps[] = {
		{.who = "log",
		 .when = TURN,
		 .item = 1,
		 .fail = WEIR_ERROR_FATAL},
	};
	struct told_hook hook;

	SCRIPT(world, steps);
	add(world, NULL, "a");
	add_system(world, "log");
	before_end(world, &hook, "end", true);
	run(world);
	give(world, "log", 1);
	assert_true(terminated(world));
	assert_int_equal(times(world, "stop(/system)"), 1);
	assert_true(before(world, "a1.post_stop", "end"));
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

static void b10_4_an_event_tells_who_and_why(struct world *world)
{
	size_t n = 0;
	const struct weir_system_options options = {
		.strategy = &by_code,
		.event = see,
		.context = &n,
	};
	struct weir_system *system;

	SCRIPT(world, a_fails);
	assert_int_equal(weir_system_new(&system, weir_sim_executor(world->sim),
					 &options),
			 0);
	world->system = system;
	add(world, NULL, "a");
	give(world, "a", 1);
	assert_int_equal(n, 1);
	assert_int_equal(seen.what, WEIR_SUPERVISION_EVENT_DIRECTIVE);
	assert_int_equal(seen.directive, WEIR_DIRECTIVE_RESTART);
	assert_ptr_equal(seen.system, system);
	assert_true(weir_actor_id_equal(seen.supervisor,
					weir_system_user_guardian(system)));
	assert_true(weir_actor_id_equal(seen.child, ref(world, "a")));
	assert_string_equal(seen.name, "a");
	give(world, "a", 2);
	assert_int_equal(n, 2); /* escalating is no event, B2.6 */
	assert_int_equal(seen.directive, WEIR_DIRECTIVE_STOP);
	assert_true(
		weir_actor_id_equal(seen.supervisor, weir_system_root(system)));
	assert_true(weir_actor_id_equal(seen.child,
					weir_system_user_guardian(system)));
	assert_string_equal(seen.name, "/user");
}

/* --- Being freed ---------------------------------------------------------- */

static void a_system_is_busy_until_it_has_terminated(struct world *world)
{
	struct weir_actor *kept;

	add(world, NULL, "a");
	assert_int_equal(weir_system_free(world->system), -EBUSY);
	run(world);
	kept = weir_system_actor(world->system, ref(world, "a"));
	assert_non_null(kept);
	weir_system_stop(world->system);
	assert_int_equal(weir_system_free(world->system), -EBUSY);
	run(world);
	assert_int_equal(member(world, "a")->fate.stopped, 1);
	assert_int_equal(weir_system_free(world->system), -EBUSY);
	assert_false(terminated(world));
	weir_actor_unref(kept);
	assert_true(terminated(world));
}

static void who_is_told_of_the_end_may_free_the_system(struct world *world)
{
	struct told_end end;

	add(world, NULL, "a");
	await_end(world, &end);
	end.frees = true;
	run(world);
	weir_system_stop(world->system);
	weir_sim_run(world->sim);
	assert_null(world->system);
	assert_int_equal(times(world, "complete"), 1);
}

static void a_system_can_end_before_it_has_begun(struct world *world)
{
	world_open(world);
	weir_system_stop(world->system);
	run(world);
	assert_true(terminated(world));
}

static void b10_1_systems_are_apart(struct world *world)
{
	struct weir_system *other;
	struct weir_actor_id user;

	add(world, NULL, "a");
	assert_int_equal(weir_system_new(&other, weir_sim_executor(world->sim),
					 NULL),
			 0);
	user = weir_system_user_guardian(other);
	run(world);
	weir_system_stop(world->system);
	run(world);
	assert_true(weir_system_is_alive(other, user));
	assert_true(terminated(world));
	weir_system_stop(other);
	run(world);
	assert_int_equal(weir_system_free(other), 0);
}

/* --- Dead letters --------------------------------------------------------- */

static void e8_items_of_the_dead_are_told_counted_and_dropped(
	struct world *world)
{
	struct member *a = add(world, NULL, "a");

	run(world);
	log_clear(world);
	weir_actor_suspend(&a->actor);
	assert_int_equal(put(world, "a", 1, 3), 0);
	assert_int_equal(weir_system_dead_letter_count(world->system), 0);
	assert_int_equal(weir_system_stop_actor(world->system, a->ref), 0);
	run(world);
	assert_told(world, "a", "a1.post_stop a1.dead1 a1.dead2 a1.dead3");
	assert_int_equal(weir_system_dead_letter_count(world->system), 3);
	assert_int_equal(ledger_dropped(&world->ledger), 3);
	ledger_check(&world->ledger);
}

static void e8_who_finds_nobody_can_say_so(struct world *world)
{
	struct ledger *ledger = &world->ledger;
	struct member *a = add(world, NULL, "a");

	run(world);
	assert_int_equal(weir_system_stop_actor(world->system, a->ref), 0);
	run(world);
	log_clear(world);
	weir_system_dead_letter(world->system, a->ref, &ledger->items,
				ledger_make(ledger, 7));
	assert_told(world, "a", "a1.dead7");
	assert_int_equal(ledger->dropped[6], 1);
	weir_system_dead_letter(world->system, a->ref, NULL, (void *)8);
	assert_told(world, "a", "a1.dead7 a1.dead8");
	assert_int_equal(weir_system_dead_letter_count(world->system), 2);
	/* Without a system there is nobody to be told. */
	weir_system_dead_letter(NULL, a->ref, &ledger->items,
				ledger_make(ledger, 9));
	assert_int_equal(ledger->dropped[8], 1);
	assert_int_equal(weir_system_dead_letter_count(NULL), 0);
}

/* --- The executor ends ---------------------------------------------------- */

static void b10_3_a_drain_ends_the_system_behind_its_tokens(struct world *world)
{
	struct told_hook first, last;
	struct weir_ending drain;

	add(world, NULL, "a");
	add(world, "a", "b");
	add(world, NULL, "c");
	before_end(world, &first, "end", true);
	at_termination(world, &last, "last");
	assert_int_equal(put(world, "a", 1, 5), 0);
	assert_int_equal(put(world, "b", 6, 10), 0);
	drain_begin(world, &drain, false);
	run(world);
	assert_int_equal(ledger_delivered(&world->ledger), 10);
	assert_false(first.is_user);
	assert_true(first.is_system);
	assert_int_equal(member(world, "a")->fate.code, 0);
	assert_told(world, "hook", "end drained last");
	assert_true(terminated(world));
	refuses(world, "x");
}

static void b10_3_an_abort_ends_the_system(struct world *world)
{
	struct told_hook first, last;
	struct weir_ending drain;
	size_t i;

	add(world, NULL, "a");
	add(world, "a", "b");
	add_system(world, "log");
	before_end(world, &first, "end", true);
	at_termination(world, &last, "last");
	(void)put(world, "a", 1, 5);
	for (i = weir_sim_random(world->sim, 20); i > 0; i--)
		weir_sim_step(world->sim);
	drain_begin(world, &drain, true);
	run(world);
	assert_told(world, "hook", "end drained last");
	assert_true(terminated(world));
	refuses(world, "x");
}

static void b10_3_an_abort_waits_for_answers_only_with_the_completion(
	struct world *world)
{
	struct told_hook first, last;
	struct weir_ending drain;

	world_open(world);
	before_end(world, &first, "end", false);
	at_termination(world, &last, "last");
	run(world);
	drain_begin(world, &drain, true);
	run(world);
	assert_told(world, "hook", "end drained");
	assert_false(terminated(world));
	assert_int_equal(weir_system_free(world->system), -EBUSY);
	weir_system_hook_done(&first.hook);
	assert_true(terminated(world));
	assert_told(world, "hook", "end drained last");
}

static void b10_3_the_end_reaches_actors_of_other_executors(struct world *world)
{
	struct weir_sim *sim = sim_new(world->seed);
	struct weir_actor_ops ops = {.turns = member_turns};
	struct weir_actor_id far;
	struct weir_actor actor;
	struct weir_ending drain;

	world_open(world);
	assert_int_equal(weir_actor_init(&actor, &ops, weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_system_spawn(world->system, WEIR_ACTOR_ID_NONE,
					   &actor, NULL, &far),
			 0);
	weir_sim_run(sim);
	drain_begin(world, &drain, true);
	run(world);
	assert_false(terminated(world));
	assert_true(weir_system_is_alive(world->system, far));
	while (weir_sim_run(sim) + weir_sim_run(world->sim))
		;
	assert_false(weir_system_is_alive(world->system, far));
	assert_true(terminated(world));
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
