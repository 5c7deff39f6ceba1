/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's own life: what it is set up with, how it is closed, stopped,
 * killed, restarted and suspended, and what becomes of its commands then. Rules
 * A4.10 and A4.11. Rule numbers like A4.10 are those of
 * docs/conformance/process_manager.md.
 */
#include "process/kit.h"

static struct process_world world;

static void settle(void)
{
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
}

/* Two run, three wait. */
static void busy_as(const struct weir_strategy *strategy,
		    enum weir_restart_type restart, uint64_t shutdown_ns)
{
	struct weir_process_manager_options options;

	process_world_init_under(&world, 1, strategy);
	tasks_new(&world, 8, SECOND);
	options = job_options(&world, 2, 3);
	manager_init(&world, &options);
	manager_spawn_as(&world, restart, shutdown_ns);
	assert_int_equal(offer_all(&world, 0, 5), 5);
	settle();
	assert_int_equal(world.running, 2);
	assert_int_equal(counts(&world).waiting, 3);
}

static void busy(const struct weir_strategy *strategy, uint64_t shutdown_ns)
{
	busy_as(strategy, WEIR_RESTART_TRANSIENT, shutdown_ns);
}

static void assert_over(void)
{
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	assert_int_equal(offer(&world, 7), -ESHUTDOWN);
	check_over(&world);
}

static void assert_replies(size_t first, size_t n, enum weir_outcome outcome,
			   int code)
{
	size_t i;

	for (i = first; i < first + n; i++)
		assert_reply(&world, i, outcome, code);
}

static void a4_11_closed_it_finishes_when_its_processes_have(void **state)
{
	(void)state;
	busy(NULL, 0);
	weir_process_manager_end(&world.manager);
	weir_process_manager_end(&world.manager);
	assert_int_equal(offer(&world, 6), -ESHUTDOWN);
	settle();
	/* what waits has an answer at once */
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world.running, 2);
	assert_true(weir_system_is_alive(world.base.system, world.ref));
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world_now(&world.base), SECOND);
	assert_over();
	process_world_fini(&world);
}

static void a4_11_stopped_it_lets_its_processes_finish(void **state)
{
	(void)state;
	busy(NULL, 10 * SECOND);
	assert_int_equal(weir_system_stop_actor(world.base.system, world.ref),
			 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_DONE, 0);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world_now(&world.base), SECOND);
	assert_over();
	process_world_fini(&world);
}

static void a4_11_when_its_time_to_stop_is_over_they_stop(void **state)
{
	(void)state;
	busy(NULL, 500 * MS);
	assert_int_equal(weir_system_stop_actor(world.base.system, world.ref),
			 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_KILLED, -ECANCELED);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world_now(&world.base), 500 * MS);
	assert_over();
	process_world_fini(&world);
}

static void a4_11_aborted_it_stops_them_at_once(void **state)
{
	(void)state;
	busy(NULL, WEIR_SHUTDOWN_BRUTAL);
	assert_int_equal(weir_system_stop_actor(world.base.system, world.ref),
			 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_KILLED, -ECANCELED);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world_now(&world.base), 0);
	assert_over();
	process_world_fini(&world);
}

static void a4_11_so_does_stopping_its_actor(void **state)
{
	(void)state;
	busy(NULL, 0);
	weir_actor_stop(&world.manager.actor);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world_now(&world.base), 0);
	assert_over();
	process_world_fini(&world);
}

static void a4_11_closed_first_it_can_still_be_aborted(void **state)
{
	(void)state;
	busy(NULL, 0);
	weir_process_manager_end(&world.manager);
	settle();
	weir_actor_stop(&world.manager.actor);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_int_equal(world_now(&world.base), 0);
	assert_over();
	process_world_fini(&world);
}

static void with_the_system_it_finishes_what_runs(void **state)
{
	(void)state;
	busy(NULL, 0);
	weir_system_stop(world.base.system);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_DONE, 0);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
	process_world_fini(&world);
}

static uint32_t drained;

static void drain_done(struct weir_ending *drain)
{
	assert_int_equal(drain->actors_left, 0);
	drained++;
}

/* Who takes tokens from nowhere finishes when the executor drains: a job. */
static void with_the_executor_it_ends_when_its_processes_have(void **state)
{
	struct weir_ending drain = {.done = drain_done};

	(void)state;
	busy(NULL, 0);
	drained = 0;
	assert_int_equal(weir_executor_end_async(world.base.executor, &drain,
						 WEIR_FOREVER),
			 0);
	weir_sim_run(world.base.sim);
	/* it has ended them, before their time was over */
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	/* no actor is started any more */
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ESHUTDOWN);
	assert_int_equal(world_now(&world.base), 0);
	assert_over();
	/* the test has a reference of the manager */
	assert_int_equal(drained, 0);
	process_world_fini(&world);
	assert_int_equal(drained, 1);
}

/* A process that waits for a message, which makes it finish. */
struct reader {
	struct weir_process process;
	struct weir_in in;
};

static struct weir_in *mailbox;

static int reader_turn(struct weir_actor *actor)
{
	struct reader *self =
		weir_container_of(actor, struct reader, process.actor);

	(void)weir_in_take(&self->in);
	return WEIR_TURN_END;
}
WEIR_TURN(reader_turn)

static int reader_set_up(struct weir_process *process, void *context)
{
	struct reader *self =
		weir_container_of(process, struct reader, process);

	(void)context;
	mailbox = &self->in;
	return weir_in_init(&self->in, &process->actor, 4, NULL);
}

static const struct weir_actor_ops reader_ops = {.turns = reader_turn_n};

/* With the message there when the executor drains, or without. */
static void drained_reader(bool message, enum weir_outcome outcome, int code)
{
	struct weir_ending drain = {.done = drain_done};
	struct weir_process_manager_options options;

	process_world_init(&world, 1);
	tasks_new(&world, 8, 0);
	options = job_options(&world, 1, 0);
	options.process = &reader_ops;
	options.process_size = sizeof(struct reader);
	options.set_up = reader_set_up;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	assert_int_equal(offer_all(&world, 0, 1), 1);
	settle();
	if (message)
		assert_int_equal(weir_in_put(mailbox, NULL), 0);
	assert_int_equal(weir_executor_end_async(world.base.executor, &drain,
						 WEIR_FOREVER),
			 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, outcome, code);
	process_world_fini(&world);
}

static void drained_what_has_its_message_is_done(void **state)
{
	(void)state;
	drained_reader(true, WEIR_OUTCOME_DONE, 0);
}

static void drained_what_waits_for_a_message_is_not_done(void **state)
{
	(void)state;
	drained_reader(false, WEIR_OUTCOME_STOPPED, -ECANCELED);
}

static void aborted_with_the_executor_it_stops_all(void **state)
{
	struct weir_ending drain = {.done = drain_done};

	(void)state;
	busy(NULL, 0);
	drained = 0;
	assert_int_equal(weir_executor_stop_async(world.base.executor, &drain,
						  WEIR_FOREVER),
			 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
	process_world_fini(&world);
	assert_int_equal(drained, 1);
}

/* What was offered before the start is answered, too. */
static void never_spawned_it_refuses_what_it_was_offered(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 5, SECOND);
	options = job_options(&world, 2, 3);
	manager_init(&world, &options);
	assert_int_equal(offer_all(&world, 0, 5), 5);
	weir_actor_stop(&world.manager.actor);
	assert_replies(0, 5, WEIR_OUTCOME_REFUSED, -ECANCELED);
	process_world_fini(&world);
}

/* --- Failing and restarting ----------------------------------------------- */

static int decision;

static int decide(struct weir_actor *supervisor,
		  const struct weir_failure *failure, void *context)
{
	(void)supervisor;
	(void)failure;
	(void)context;
	return decision;
}

static const struct weir_strategy as_decided = {.decide = decide};

/* A kill comes behind what waits; those that have been started then stop. */
static void killed_it_starts_what_waits_first(void **state)
{
	(void)state;
	decision = WEIR_DIRECTIVE_STOP;
	busy(&as_decided, 0);
	assert_int_equal(weir_system_kill(world.base.system, world.ref), 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 4, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 4, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_int_equal(world_now(&world.base), 2 * SECOND);
	assert_over();
	process_world_fini(&world);
}

/* Fails in the manager's slice. */
static int64_t fails(int64_t remaining, void *context)
{
	struct process_world *at = context;

	if (at->tasks[0].begun && !at->tasks[1].work_ns) {
		at->tasks[1].work_ns = SECOND;
		assert_int_equal(
			weir_actor_fail_code(&at->manager.actor, -EDOM), 0);
	}
	return weir_demand_watermark(
		remaining, &(struct weir_watermark){.high = 2, .low = 2});
}

/* It fails when the first task runs; two run then and two wait. */
static void fails_with(const struct weir_strategy *strategy,
		       uint64_t timeout_ns)
{
	struct weir_process_manager_options options;

	process_world_init_under(&world, 1, strategy);
	tasks_new(&world, 8, SECOND);
	world.tasks[1].work_ns = 0;
	world.tasks[1].how = GOES_ON;
	options = job_options(&world, 2, 3);
	options.demand = fails;
	options.timeout_ns = timeout_ns;
	options.demand_context = &world;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	assert_int_equal(offer_all(&world, 0, 4), 4);
	settle();
	assert_int_equal(world.running, 2);
	/* makes the manager ask */
	weir_actor_signal(&world.manager.actor);
}

static void a_restart_keeps_what_waits_and_stops_what_runs(void **state)
{
	(void)state;
	decision = WEIR_DIRECTIVE_RESTART;
	fails_with(&as_decided, 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_replies(2, 2, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	assert_int_equal(counts(&world).processing, 0);
	/* all places are there */
	assert_int_equal(offer_all(&world, 4, 4), 4);
	settle();
	assert_int_equal(world.running, 2);
	weir_sim_run(world.base.sim);
	assert_replies(4, 4, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void resumed_it_goes_on(void **state)
{
	(void)state;
	decision = WEIR_DIRECTIVE_RESUME;
	fails_with(&as_decided, 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_replies(2, 2, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world.tasks[1].replies, 0);
	assert_int_equal(weir_system_stop_actor(world.base.system,
						world.tasks[1].ref),
			 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 1, WEIR_OUTCOME_STOPPED, -ECANCELED);
	process_world_fini(&world);
}

/* Fails, and stands still for ten seconds with all below it. */
static void back_off(uint64_t timeout_ns)
{
	static const struct weir_backoff backoff = {
		.min_ns = 10 * SECOND,
		.max_ns = 10 * SECOND,
	};
	static const struct weir_strategy strategy = {
		.decide = decide,
		.backoff = &backoff,
	};

	decision = WEIR_DIRECTIVE_RESTART;
	fails_with(&strategy, timeout_ns);
	weir_sim_run_until(world.base.sim, 5 * SECOND, UINT64_MAX);
	assert_true(weir_system_is_alive(world.base.system, world.ref));
}

static void a5_7_e14_while_it_stands_still_deadlines_go_on(void **state)
{
	(void)state;
	back_off(2 * SECOND);
	/* suspended they could not finish; but they can be stopped */
	assert_replies(0, 2, WEIR_OUTCOME_TIMED_OUT, -ECANCELED);
	assert_int_equal(world.tasks[0].at_ns, 2 * SECOND);
	assert_int_equal(offer(&world, 4), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	assert_replies(2, 3, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void while_it_stands_still_it_can_be_stopped(void **state)
{
	(void)state;
	back_off(0);
	assert_int_equal(world.running, 2);
	assert_int_equal(weir_system_stop_actor(world.base.system, world.ref),
			 0);
	settle();
	/* not asked, so nothing finishes */
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_replies(2, 2, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
	process_world_fini(&world);
}

static void closed_while_it_stands_still_it_ends_after_that(void **state)
{
	(void)state;
	back_off(0);
	weir_process_manager_end(&world.manager);
	assert_int_equal(offer(&world, 4), -ESHUTDOWN);
	settle();
	assert_int_equal(world.running, 2);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_replies(2, 2, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
	process_world_fini(&world);
}

static void failed_it_stops_and_answers_all(void **state)
{
	(void)state;
	decision = WEIR_DIRECTIVE_STOP;
	fails_with(&as_decided, 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_replies(2, 2, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
	process_world_fini(&world);
}

/* In the manager's slice, as it refuses what waits. */
static void fail_when_refusing(struct process_world *at, struct task *task)
{
	if (task->outcome != WEIR_OUTCOME_REFUSED)
		return;
	at->replied = NULL;
	assert_int_equal(weir_actor_fail_code(&at->manager.actor, -EDOM), 0);
}

static int restart_once(struct weir_actor *supervisor,
			const struct weir_failure *failure, void *context)
{
	(void)supervisor;
	(void)context;
	decision++;
	assert_int_equal(failure->kind, WEIR_FAILURE_TURN);
	assert_int_equal(failure->error->code, -EDOM);
	return WEIR_DIRECTIVE_RESTART;
}

static void closed_it_does_not_begin_anew(void **state)
{
	static const struct weir_strategy strategy = {.decide = restart_once};

	(void)state;
	decision = 0;
	busy(&strategy, 0);
	world.replied = fail_when_refusing;
	weir_process_manager_end(&world.manager);
	weir_sim_run(world.base.sim);
	/* a failure, and no other one instead of a start */
	assert_int_equal(decision, 1);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
	process_world_fini(&world);
}

/* Whatever its supervisor says to failures, and though it is permanent. */
static const struct weir_rule restarts = {.directive = WEIR_DIRECTIVE_RESTART};
static const struct weir_strategy always = {.rules = &restarts, .n_rules = 1};

static void killed_when_closed_it_ends(void **state)
{
	(void)state;
	busy_as(&always, WEIR_RESTART_PERMANENT, 0);
	weir_process_manager_end(&world.manager);
	settle();
	assert_int_equal(world.running, 2);
	assert_int_equal(weir_system_kill(world.base.system, world.ref), 0);
	/* at once: were it to restart for ever, it would do so now */
	assert_true(weir_sim_run_until(world.base.sim, 0, 1000) < 1000);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	weir_sim_run(world.base.sim);
	assert_over();
	process_world_fini(&world);
}

static void closed_it_ends_though_it_is_permanent(void **state)
{
	(void)state;
	busy_as(&always, WEIR_RESTART_PERMANENT, 0);
	weir_process_manager_end(&world.manager);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_DONE, 0);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
	process_world_fini(&world);
}

static void suspended_it_keeps_what_comes(void **state)
{
	(void)state;
	busy(NULL, 0);
	weir_actor_suspend(&world.manager.actor);
	weir_sim_run(world.base.sim);
	/* processes go on and their places come back, but nothing starts */
	assert_replies(0, 2, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world.running, 0);
	assert_int_equal(offer(&world, 5), 0);
	assert_int_equal(offer(&world, 6), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(world.running, 0);
	weir_actor_resume(&world.manager.actor);
	weir_sim_run(world.base.sim);
	assert_replies(2, 5, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void suspended_it_is_stopped_with_its_processes(void **state)
{
	(void)state;
	busy(NULL, 10 * SECOND);
	weir_actor_suspend(&world.manager.actor);
	settle();
	assert_int_equal(weir_system_stop_actor(world.base.system, world.ref),
			 0);
	weir_sim_run(world.base.sim);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
	process_world_fini(&world);
}

/* --- Setting up ----------------------------------------------------------- */

static void refused(void (*spoil)(struct weir_process_manager_options *))
{
	struct weir_process_manager_options options = job_options(&world, 2, 2);
	struct weir_process_manager before = world.manager;

	spoil(&options);
	assert_int_equal(weir_process_manager_init(
				 &world.manager, world.base.executor, &options),
			 -EINVAL);
	assert_memory_equal(&before, &world.manager, sizeof(before));
}

static int no_call(struct weir_command *command, void *context)
{
	(void)command;
	(void)context;
	return 0;
}

static void no_process(struct weir_process_manager_options *options)
{
	options->process = NULL;
}

static void both(struct weir_process_manager_options *options)
{
	options->run = no_call;
}

static void too_small(struct weir_process_manager_options *options)
{
	options->process_size = sizeof(struct weir_process) - 1;
}

static void too_large(struct weir_process_manager_options *options)
{
	options->process_size = SIZE_MAX;
}

static void no_max(struct weir_process_manager_options *options)
{
	options->max = 0;
}

static void too_many(struct weir_process_manager_options *options)
{
	options->max = WEIR_PROCESSES_MAX + 1;
}

static void too_much_buffer(struct weir_process_manager_options *options)
{
	options->buffer = WEIR_PROCESSES_MAX + 1;
}

static void no_turns(struct weir_process_manager_options *options)
{
	static const struct weir_actor_ops none = {.name = "none"};

	options->process = &none;
}

static void calls_with_deadline(struct weir_process_manager_options *options)
{
	options->process = NULL;
	options->run = no_call;
	options->timeout_ns = SECOND;
}

static void bad_settings_change_nothing(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	options = job_options(&world, 2, 2);
	refused(no_process);
	refused(both);
	refused(too_small);
	refused(too_large);
	refused(no_max);
	refused(too_many);
	refused(too_much_buffer);
	refused(no_turns);
	refused(calls_with_deadline);
	assert_int_equal(weir_process_manager_init(NULL, world.base.executor,
						   &options),
			 -EINVAL);
	assert_int_equal(weir_process_manager_init(&world.manager, NULL,
						   &options),
			 -EINVAL);
	assert_int_equal(weir_process_manager_init(&world.manager,
						   world.base.executor, NULL),
			 -EINVAL);
	weir_process_manager_end(NULL);
	weir_command_end(NULL, 0);
	assert_null(weir_process_manager_subscriber(NULL));
	manager_init(&world, &options);
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a4_11_closed_it_finishes_when_its_processes_have),
		cmocka_unit_test(a4_11_stopped_it_lets_its_processes_finish),
		cmocka_unit_test(a4_11_when_its_time_to_stop_is_over_they_stop),
		cmocka_unit_test(a4_11_aborted_it_stops_them_at_once),
		cmocka_unit_test(a4_11_so_does_stopping_its_actor),
		cmocka_unit_test(a4_11_closed_first_it_can_still_be_aborted),
		cmocka_unit_test(with_the_system_it_finishes_what_runs),
		cmocka_unit_test(
			with_the_executor_it_ends_when_its_processes_have),
		cmocka_unit_test(drained_what_has_its_message_is_done),
		cmocka_unit_test(drained_what_waits_for_a_message_is_not_done),
		cmocka_unit_test(aborted_with_the_executor_it_stops_all),
		cmocka_unit_test(never_spawned_it_refuses_what_it_was_offered),
		cmocka_unit_test(killed_it_starts_what_waits_first),
		cmocka_unit_test(
			a_restart_keeps_what_waits_and_stops_what_runs),
		cmocka_unit_test(resumed_it_goes_on),
		cmocka_unit_test(
			a5_7_e14_while_it_stands_still_deadlines_go_on),
		cmocka_unit_test(while_it_stands_still_it_can_be_stopped),
		cmocka_unit_test(
			closed_while_it_stands_still_it_ends_after_that),
		cmocka_unit_test(failed_it_stops_and_answers_all),
		cmocka_unit_test(closed_it_does_not_begin_anew),
		cmocka_unit_test(killed_when_closed_it_ends),
		cmocka_unit_test(closed_it_ends_though_it_is_permanent),
		cmocka_unit_test(suspended_it_keeps_what_comes),
		cmocka_unit_test(suspended_it_is_stopped_with_its_processes),
		cmocka_unit_test(bad_settings_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
