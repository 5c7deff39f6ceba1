/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manager that is poisoned or killed: that comes behind the commands that its
 * in-port holds then, and not behind those that stand in line. And one that may
 * take all the time it likes to stop. Rule numbers like A4.11 are those of
 * docs/conformance/process_manager.md.
 */
#include "process/kit.h"

static struct process_world world;

static void let_pass(uint64_t ns)
{
	weir_sim_run_until(world.base.sim, world_now(&world.base) + ns,
			   UINT64_MAX);
}

static int directive;

static int decide(struct weir_actor *supervisor,
		  const struct weir_failure *failure, void *context)
{
	(void)supervisor;
	(void)context;
	assert_int_equal(failure->error->code, -EINTR);
	return directive;
}

static const struct weir_strategy as_directed = {.decide = decide};

/* Two run, a second each, and three wait. */
static void busy(size_t priorities, uint64_t shutdown_ns)
{
	struct weir_process_manager_options options;

	process_world_init_under(&world, 1, &as_directed);
	tasks_new(&world, 8, SECOND);
	options = job_options(&world, 2, 3);
	options.priorities = priorities;
	manager_init(&world, &options);
	manager_spawn(&world, shutdown_ns);
	world.tasks[4].command.id = "last";
	assert_int_equal(offer_all(&world, 0, 5), 5);
	let_pass(0);
	assert_int_equal(world.running, 2);
	assert_int_equal(counts(&world).waiting, 3);
}

static void poison(void)
{
	assert_int_equal(weir_system_poison(world.base.system, world.ref), 0);
}

static void kill_with(int then)
{
	directive = then;
	assert_int_equal(weir_system_kill(world.base.system, world.ref), 0);
}

static void assert_replies(size_t first, size_t n, enum weir_outcome outcome,
			   int code)
{
	size_t i;

	for (i = first; i < first + n; i++)
		assert_reply(&world, i, outcome, code);
}

static void assert_over(void)
{
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	assert_int_equal(offer(&world, 7), -ESHUTDOWN);
	check_over(&world);
	process_world_fini(&world);
}

static void a4_11_poisoned_it_starts_what_waits_first(void **state)
{
	(void)state;
	busy(0, 0);
	poison();
	weir_sim_run(world.base.sim);
	assert_replies(0, 5, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world_now(&world.base), 3 * SECOND);
	assert_over();
}

static void a4_11_poisoned_it_takes_what_comes_and_refuses_it(void **state)
{
	(void)state;
	busy(0, 0);
	poison();
	let_pass(SECOND);
	assert_int_equal(offer(&world, 5), 0);
	let_pass(SECOND / 2);
	assert_int_equal(world.tasks[5].replies, 0);
	let_pass(SECOND);
	/* the last that waited has started, and the poison was taken */
	assert_reply(&world, 5, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(offer(&world, 6), -ESHUTDOWN);
	weir_sim_run(world.base.sim);
	assert_replies(0, 5, WEIR_OUTCOME_DONE, 0);
	assert_over();
}

/* From when the poison was taken it is as any stop. */
static void a4_11_poisoned_its_time_to_stop_is_counted_from_then(void **state)
{
	(void)state;
	busy(0, SECOND / 2);
	poison();
	weir_sim_run(world.base.sim);
	assert_replies(0, 4, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 4, WEIR_OUTCOME_KILLED, -ECANCELED);
	assert_int_equal(world.tasks[4].at_ns, 2 * SECOND + SECOND / 2);
	assert_over();
}

static void a4_11_what_stands_in_line_is_behind_the_poison(void **state)
{
	(void)state;
	busy(2, 0);
	poison();
	let_pass(0);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(offer(&world, 5), -ESHUTDOWN);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world_now(&world.base), SECOND);
	assert_over();
}

static void a4_11_one_that_was_cancelled_leaves_the_others_in_line(void **state)
{
	(void)state;
	busy(0, 0);
	assert_int_equal(weir_process_manager_cancel(&world.manager, "last"),
			 0);
	let_pass(0);
	poison();
	let_pass(0);
	assert_replies(2, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	weir_sim_run(world.base.sim);
	assert_replies(0, 2, WEIR_OUTCOME_DONE, 0);
	assert_over();
}

/* Those that wait came before; when the last has started it fails. */
static void a4_11_killed_it_restarts_behind_what_waits(void **state)
{
	(void)state;
	busy(0, 0);
	kill_with(WEIR_DIRECTIVE_RESTART);
	let_pass(SECOND);
	assert_int_equal(offer(&world, 5), 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 4, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 4, WEIR_OUTCOME_STOPPED, -ECANCELED);
	/* what came later has been kept */
	assert_reply(&world, 5, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	assert_int_equal(offer(&world, 6), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 6, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void a4_11_killed_it_stops_behind_what_waits(void **state)
{
	(void)state;
	busy(0, 0);
	kill_with(WEIR_DIRECTIVE_STOP);
	let_pass(SECOND);
	assert_int_equal(offer(&world, 5), 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 4, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 4, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_reply(&world, 5, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_over();
}

static void a4_11_what_stands_in_line_outlives_a_kill(void **state)
{
	(void)state;
	busy(2, 0);
	kill_with(WEIR_DIRECTIVE_RESTART);
	let_pass(0);
	assert_replies(0, 2, WEIR_OUTCOME_STOPPED, -ECANCELED);
	weir_sim_run(world.base.sim);
	assert_replies(2, 3, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	process_world_fini(&world);
}

static void a4_11_spawned_to_wait_for_ever_it_stops_none(void **state)
{
	(void)state;
	busy(0, WEIR_FOREVER);
	/* longer than the default would wait */
	world.tasks[2].work_ns = 10 * SECOND;
	let_pass(SECOND);
	assert_int_equal(weir_system_stop_actor(world.base.system, world.ref),
			 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 4, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 4, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world_now(&world.base), 11 * SECOND);
	assert_over();
}

/* --- Calls ---------------------------------------------------------------- */

static struct task *later;

static int call(struct weir_command *command, void *context)
{
	struct task *task = task_of(command);

	(void)context;
	if (task->how != GOES_ON)
		return 0;
	later = task;
	return WEIR_RUN_LATER;
}

/* The first goes on, and two wait. */
static void busy_with_calls(void)
{
	struct weir_process_manager_options options = {
		.context = &world,
		.run = call,
		.max = 1,
		.buffer = 2,
		.released = manager_released,
	};

	process_world_init_under(&world, 1, &as_directed);
	tasks_new(&world, 8, 0);
	world.tasks[0].how = GOES_ON;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	assert_int_equal(offer_all(&world, 0, 3), 3);
	weir_sim_run(world.base.sim);
	assert_ptr_equal(later, &world.tasks[0]);
}

static void a4_11_poisoned_it_makes_the_calls_that_wait(void **state)
{
	(void)state;
	busy_with_calls();
	poison();
	weir_sim_run(world.base.sim);
	assert_true(weir_system_is_alive(world.base.system, world.ref));
	weir_command_end(&later->command, 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 3, WEIR_OUTCOME_DONE, 0);
	assert_over();
}

static void a4_11_killed_its_calls_go_on(void **state)
{
	(void)state;
	busy_with_calls();
	world.tasks[2].how = GOES_ON;
	kill_with(WEIR_DIRECTIVE_RESTART);
	weir_command_end(&later->command, 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	assert_ptr_equal(later, &world.tasks[2]);
	assert_int_equal(later->replies, 0);
	weir_command_end(&later->command, 0);
	weir_sim_run(world.base.sim);
	assert_replies(0, 3, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a4_11_poisoned_it_starts_what_waits_first),
		cmocka_unit_test(
			a4_11_poisoned_it_takes_what_comes_and_refuses_it),
		cmocka_unit_test(
			a4_11_poisoned_its_time_to_stop_is_counted_from_then),
		cmocka_unit_test(
			a4_11_what_stands_in_line_is_behind_the_poison),
		cmocka_unit_test(
			a4_11_one_that_was_cancelled_leaves_the_others_in_line),
		cmocka_unit_test(a4_11_killed_it_restarts_behind_what_waits),
		cmocka_unit_test(a4_11_killed_it_stops_behind_what_waits),
		cmocka_unit_test(a4_11_what_stands_in_line_outlives_a_kill),
		cmocka_unit_test(a4_11_spawned_to_wait_for_ever_it_stops_none),
		cmocka_unit_test(a4_11_poisoned_it_makes_the_calls_that_wait),
		cmocka_unit_test(a4_11_killed_its_calls_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
