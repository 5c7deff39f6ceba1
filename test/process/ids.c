/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids of commands: those that somebody outside has chosen, and commands that
 * are cancelled by their ids, wherever they are.
 */
#include "process/kit.h"

#include <stdio.h>

#define MANY 512u

static struct process_world world;

/* FNV-1a: what anybody can compute. */
static uint32_t open_hash(const char *id)
{
	uint32_t hash = 2166136261u;

	for (; *id; id++)
		hash = (hash ^ (unsigned char)*id) * 16777619u;
	return hash;
}

static uint32_t longest_chain(const struct weir_process_manager *manager)
{
	const struct weir_command *command;
	uint32_t longest = 0, seen = 0, n, i;

	for (i = 0; i < manager->n_ids; i++) {
		n = 0;
		for (command = manager->ids[i]; command;
		     command = command->same_id)
			n++;
		seen += n;
		longest = n > longest ? n : longest;
	}
	assert_int_equal(seen, MANY);
	return longest;
}

static void ids_that_were_chosen_to_meet_do_not(void **state)
{
	static char ids[MANY][16];
	uint32_t i, at = 0;

	(void)state;
	process_world_new(&world, 1, MANY, 0, MANY, SECOND);
	for (i = 0; i < MANY; i++) {
		do {
			(void)snprintf(ids[i], sizeof(ids[i]), "job-%u", at++);
		} while (open_hash(ids[i]) & (MANY - 1));
		world.tasks[i].command.id = ids[i];
	}
	assert_int_equal(offer_all(&world, 0, MANY), MANY);
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	assert_in_range(longest_chain(&world.manager), 1, 12);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), MANY);
	process_world_fini(&world);
}

/* --- Cancelling ----------------------------------------------------------- */

static int cancel(const char *id)
{
	return weir_process_manager_cancel(&world.manager, id);
}

/* Runs until nothing happens at this time any more. */
static void settle(void)
{
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	check_counts(&world);
}

static const char *const names[] = {"0", "1", "2", "3", "4",
				    "5", "6", "7", "8", "9"};

/* Ten commands with ids, as many of them taken as there is room for. */
static void ten(uint32_t max, uint32_t buffer)
{
	size_t i;

	process_world_new(&world, 1, max, buffer, 10, SECOND);
	for (i = 0; i < 10; i++)
		world.tasks[i].command.id = names[i];
	assert_int_equal(offer_all(&world, 0, 10), max + buffer);
	settle();
}

static void one_that_waits_is_refused_at_once(void **state)
{
	(void)state;
	ten(1, 8);
	assert_int_equal(cancel("4"), 0);
	settle();
	assert_reply(&world, 4, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world.tasks[4].at_ns, 0);
	assert_int_equal(counts(&world).waiting, 7);
	assert_int_equal(cancel("4"), -ESRCH);
	/* its place in front is another's */
	assert_int_equal(offer(&world, 9), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 9);
	process_world_fini(&world);
}

static void the_others_start_as_they_came(void **state)
{
	static const uint32_t order[] = {1, 2, 3, 4, 0, 5, 0, 6, 0, 7};
	size_t i;

	(void)state;
	ten(1, 9);
	/* in the middle, first behind that, and the last */
	assert_int_equal(cancel("4"), 0);
	settle();
	assert_int_equal(cancel("8"), 0);
	assert_int_equal(cancel("6"), 0);
	settle();
	weir_sim_run(world.base.sim);
	for (i = 0; i < 10; i++)
		assert_int_equal(world.tasks[i].begun, order[i]);
	process_world_fini(&world);
}

static void commands_in_line_start_before_those_that_come(void **state)
{
	size_t i;

	(void)state;
	ten(1, 5);
	assert_int_equal(cancel("1"), 0);
	settle();
	assert_int_equal(offer(&world, 6), 0);
	assert_int_equal(offer(&world, 7), -ENOBUFS);
	weir_sim_run(world.base.sim);
	for (i = 2; i < 7; i++)
		assert_int_equal(world.tasks[i].begun, i);
	process_world_fini(&world);
}

static void all_that_wait_can_be_cancelled(void **state)
{
	size_t i;

	(void)state;
	ten(1, 9);
	for (i = 9; i > 0; i--)
		assert_int_equal(cancel(names[i]), 0);
	assert_int_equal(cancel("9"), 0); /* again */
	settle();
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_REFUSED), 9);
	assert_int_equal(counts(&world).waiting, 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void one_that_runs_is_stopped(void **state)
{
	(void)state;
	ten(2, 1);
	assert_int_equal(cancel("1"), 0);
	assert_int_equal(cancel("1"), 0);
	settle();
	assert_reply(&world, 1, WEIR_OUTCOME_STOPPED, -ECANCELED);
	/* its place is the next one's */
	assert_true(world.tasks[2].begun);
	assert_int_equal(cancel("1"), -ESRCH);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 2);
	process_world_fini(&world);
}

static void whom_nobody_knows_is_not_cancelled(void **state)
{
	(void)state;
	ten(1, 1);
	assert_int_equal(cancel("5"), -ESRCH);
	assert_int_equal(cancel(""), -ESRCH);
	assert_int_equal(cancel(NULL), -EINVAL);
	assert_int_equal(weir_process_manager_cancel(NULL, "0"), -EINVAL);
	weir_sim_run(world.base.sim);
	assert_int_equal(cancel("0"), -ESRCH);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 2);
	process_world_fini(&world);
}

/* Before the manager has run at all. */
static void one_is_cancelled_before_the_manager_starts(void **state)
{
	struct weir_process_manager_options options;
	size_t i;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 4, SECOND);
	options = job_options(&world, 2, 2);
	manager_init(&world, &options);
	for (i = 0; i < 4; i++)
		world.tasks[i].command.id = names[i];
	assert_int_equal(offer_all(&world, 0, 4), 4);
	assert_int_equal(cancel("0"), 0);
	assert_int_equal(cancel("3"), 0);
	manager_spawn(&world, 0);
	settle();
	assert_reply(&world, 0, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_reply(&world, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(counts(&world).processing, 2);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 2);
	process_world_fini(&world);
}

/* Two wait with one id: one of them, then the other. */
static void of_two_that_wait_each_is_cancelled_once(void **state)
{
	(void)state;
	process_world_new(&world, 1, 1, 4, 3, SECOND);
	world.tasks[1].command.id = world.tasks[2].command.id = "same";
	assert_int_equal(offer_all(&world, 0, 3), 3);
	settle();
	assert_int_equal(cancel("same"), 0);
	assert_int_equal(cancel("same"), 0);
	settle();
	assert_int_equal(cancel("same"), -ESRCH);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_REFUSED), 2);
	process_world_fini(&world);
}

/* The one that runs, not its namesake that waits. */
static void the_one_that_runs_is_cancelled_first(void **state)
{
	(void)state;
	process_world_new(&world, 1, 1, 4, 2, SECOND);
	world.tasks[0].command.id = world.tasks[1].command.id = "same";
	assert_int_equal(offer_all(&world, 0, 2), 2);
	settle();
	assert_int_equal(cancel("same"), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static int (*job_set_up)(struct weir_process *process, void *context);

static int cancelled_set_up(struct weir_process *process, void *context)
{
	assert_int_equal(cancel("0"), 0);
	return job_set_up(process, context);
}

static void cancelled_while_it_is_set_up_it_is_stopped(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 2, SECOND);
	options = job_options(&world, 1, 1);
	job_set_up = options.set_up;
	options.set_up = cancelled_set_up;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	world.tasks[0].command.id = world.tasks[1].command.id = "0";
	world.tasks[1].how = NOT_SET_UP;
	assert_int_equal(offer_all(&world, 0, 2), 2);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_int_equal(world.tasks[0].at_ns, 0);
	assert_reply(&world, 1, WEIR_OUTCOME_REFUSED, -ENOLINK);
	process_world_fini(&world);
}

static void cancel_the_next(struct process_world *at, struct task *task)
{
	size_t next = (size_t)(task - at->tasks) + 1;

	if (task->outcome == WEIR_OUTCOME_REFUSED && next < at->n_tasks)
		assert_int_equal(cancel(names[next]), 0);
}

static void a_reply_may_cancel_another(void **state)
{
	size_t i;

	(void)state;
	ten(1, 9);
	world.replied = cancel_the_next;
	assert_int_equal(cancel("1"), 0);
	settle();
	for (i = 1; i < 10; i++)
		assert_reply(&world, i, WEIR_OUTCOME_REFUSED, -ECANCELED);
	process_world_fini(&world);
}

static size_t next_offer;

static void offer_the_next(struct process_world *at, struct task *task)
{
	if (task->outcome == WEIR_OUTCOME_REFUSED && next_offer < at->n_tasks)
		assert_int_equal(offer(at, next_offer++), 0);
}

/* In one slice: as many come as are cancelled. */
static void a_cancelled_command_makes_room_in_its_reply(void **state)
{
	static char all[45][4];
	size_t i;

	(void)state;
	process_world_new(&world, 1, 1, 14, 45, MS);
	for (i = 0; i < 45; i++) {
		(void)snprintf(all[i], sizeof(all[i]), "%zu", i);
		world.tasks[i].command.id = all[i];
	}
	assert_int_equal(offer_all(&world, 0, 15), 15);
	settle();
	next_offer = 15;
	world.replied = offer_the_next;
	for (i = 1; i < 15; i++)
		assert_int_equal(cancel(all[i]), 0);
	settle();
	assert_int_equal(next_offer, 15 + 14);
	for (i = 15; i < 29; i++)
		assert_int_equal(cancel(all[i]), 0);
	settle();
	assert_int_equal(next_offer, 15 + 28);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 15);
	process_world_fini(&world);
}

static void those_in_line_are_refused_when_it_ends(void **state)
{
	size_t how, i;

	(void)state;
	for (how = 0; how < 3; how++) {
		ten(1, 9);
		assert_int_equal(cancel("5"), 0);
		settle();
		if (how == 0)
			weir_process_manager_end(&world.manager);
		else if (how == 1)
			(void)weir_system_stop_actor(world.base.system,
						     world.ref);
		else
			weir_actor_stop(&world.manager.actor);
		settle();
		for (i = 1; i < 10; i++)
			assert_reply(&world, i, WEIR_OUTCOME_REFUSED,
				     -ECANCELED);
		process_world_fini(&world);
	}
}

static void those_in_line_outlive_a_restart(void **state)
{
	struct weir_process_manager_options options;
	size_t i;

	(void)state;
	process_world_init_under(&world, 1, &restarting);
	tasks_new(&world, 10, SECOND);
	options = job_options(&world, 1, 9);
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	for (i = 0; i < 10; i++)
		world.tasks[i].command.id = names[i];
	assert_int_equal(offer_all(&world, 0, 10), 10);
	settle();
	assert_int_equal(cancel("5"), 0);
	settle();
	assert_int_equal(weir_system_kill(world.base.system, world.ref), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	assert_reply(&world, 0, WEIR_OUTCOME_STOPPED, -ECANCELED);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 8);
	process_world_fini(&world);
}

/* --- Calls ---------------------------------------------------------------- */

static struct weir_command *going_on;

static int call(struct weir_command *command, void *context)
{
	(void)context;
	if (task_of(command)->how != GOES_ON)
		return 0;
	going_on = command;
	return WEIR_RUN_LATER;
}

static void calls(uint32_t max, uint32_t buffer, uint32_t runners)
{
	struct weir_process_manager_options options = {
		.context = &world,
		.run = call,
		.runners = runners,
		.max = max,
		.buffer = buffer,
		.released = manager_released,
	};
	size_t i;

	process_world_init(&world, 1);
	tasks_new(&world, 10, 0);
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	settle();
	for (i = 0; i < 10; i++)
		world.tasks[i].command.id = names[i];
}

static void a_call_that_runs_cannot_be_cancelled(void **state)
{
	(void)state;
	calls(1, 2, 1);
	world.tasks[0].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 3), 3);
	settle();
	assert_int_equal(cancel("0"), -EBUSY);
	assert_int_equal(cancel("1"), 0);
	settle();
	assert_reply(&world, 1, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(world.tasks[0].replies, 0);
	weir_command_end(going_on, 0);
	settle();
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 2, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

/* In a call: some of those that follow wait for a runner. */
static int call_and_cancel(struct weir_command *command, void *context)
{
	(void)context;
	if (task_of(command) == &world.tasks[0]) {
		assert_int_equal(cancel("0"), -EBUSY);
		assert_int_equal(cancel("2"), 0);
		assert_int_equal(cancel("3"), 0);
	}
	return 0;
}

static void one_that_waits_for_a_runner_is_not_called(void **state)
{
	struct weir_process_manager_options options = {
		.context = &world,
		.run = call_and_cancel,
		.runners = 1,
		.max = 4,
		.buffer = 4,
		.released = manager_released,
	};
	size_t i;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 4, 0);
	manager_init(&world, &options);
	for (i = 0; i < 4; i++)
		world.tasks[i].command.id = names[i];
	assert_int_equal(offer_all(&world, 0, 4), 4);
	manager_spawn(&world, 0);
	settle();
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 2, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_reply(&world, 3, WEIR_OUTCOME_REFUSED, -ECANCELED);
	assert_int_equal(counts(&world).started, 2);
	assert_int_equal(counts(&world).processing, 0);
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_that_were_chosen_to_meet_do_not),
		cmocka_unit_test(one_that_waits_is_refused_at_once),
		cmocka_unit_test(the_others_start_as_they_came),
		cmocka_unit_test(commands_in_line_start_before_those_that_come),
		cmocka_unit_test(all_that_wait_can_be_cancelled),
		cmocka_unit_test(one_that_runs_is_stopped),
		cmocka_unit_test(whom_nobody_knows_is_not_cancelled),
		cmocka_unit_test(one_is_cancelled_before_the_manager_starts),
		cmocka_unit_test(of_two_that_wait_each_is_cancelled_once),
		cmocka_unit_test(the_one_that_runs_is_cancelled_first),
		cmocka_unit_test(cancelled_while_it_is_set_up_it_is_stopped),
		cmocka_unit_test(a_reply_may_cancel_another),
		cmocka_unit_test(a_cancelled_command_makes_room_in_its_reply),
		cmocka_unit_test(those_in_line_are_refused_when_it_ends),
		cmocka_unit_test(those_in_line_outlive_a_restart),
		cmocka_unit_test(a_call_that_runs_cannot_be_cancelled),
		cmocka_unit_test(one_that_waits_for_a_runner_is_not_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
