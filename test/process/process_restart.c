/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are restarted when they fail (A7.4, A7.5): up to a limit, with
 * their place, their command and their timeout. Rule numbers like A7.4 are those
 * of docs/conformance/process_manager.md.
 */
#include "process/kit.h"

static struct process_world world;
static uint32_t failures; /* that a process of the test has before it is done */
static uint32_t starts_that_fail;
static uint32_t starts;
static uint64_t started_at[16];

static int failing_turn(struct weir_actor *actor)
{
	const struct job *self = job_of(actor);

	/* the command is still there, as is the place */
	assert_ptr_equal(self->process.command, &self->task->command);
	assert_int_equal(self->task->replies, 0);
	if (failures == 0)
		return WEIR_TURN_END;
	failures--;
	return self->task->how == WORLD_ENDS ? WEIR_ERROR_FATAL : -EIO;
}
WEIR_TURN(failing_turn)

static int counted_pre_start(struct weir_actor *actor)
{
	struct process_world *at = job_of(actor)->world;

	started_at[starts++ % 16] = world_now(&at->base);
	if (starts_that_fail > 0) {
		starts_that_fail--;
		return -EXDEV;
	}
	return job_pre_start(actor);
}

static const struct weir_lifecycle failing_lifecycle = {
	.pre_start = counted_pre_start,
	.reset = job_reset,
};

static const struct weir_actor_ops failing_ops = {
	.name = "failing",
	.turns = failing_turn_n,
	.stopped = job_stopped,
	.lifecycle = &failing_lifecycle,
};

static const struct weir_limit three = {.max = 3};

static struct weir_process_manager_options failing_options(uint32_t max)
{
	struct weir_process_manager_options options =
		job_options(&world, max, 2);

	options.process = &failing_ops;
	options.restarts = &three;
	return options;
}

static void failing_new(const struct weir_process_manager_options *options)
{
	manager_init(&world, options);
	manager_spawn(&world, 0);
	starts = 0;
	starts_that_fail = 0;
}

static void settle(void)
{
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	check_counts(&world);
}

static void failing(uint32_t max, size_t n)
{
	struct weir_process_manager_options options;

	process_world_init(&world, 1);
	tasks_new(&world, n, SECOND);
	options = failing_options(max);
	failing_new(&options);
}

static void a7_5_one_that_recovers_is_done(void **state)
{
	(void)state;
	failing(1, 1);
	failures = 3;
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(starts, 4);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_int_equal(world.tasks[0].at_ns, 4 * SECOND);
	process_world_fini(&world);
}

static void a7_5_past_the_limit_it_has_crashed(void **state)
{
	(void)state;
	failing(1, 2);
	failures = 4;
	assert_int_equal(offer_all(&world, 0, 2), 2);
	weir_sim_run(world.base.sim);
	assert_int_equal(starts, 4 + 1);
	assert_reply(&world, 0, WEIR_OUTCOME_CRASHED, -EIO);
	/* the next one has restarts of its own */
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void a7_4_one_that_restarts_keeps_its_place(void **state)
{
	(void)state;
	failing(1, 3);
	failures = 2;
	assert_int_equal(offer_all(&world, 0, 3), 3);
	for (; world_now(&world.base) < 3 * SECOND;
	     weir_sim_run_until(world.base.sim, world_now(&world.base) + SECOND,
				UINT64_MAX)) {
		settle();
		assert_int_equal(counts(&world).processing, 1);
		assert_int_equal(world.tasks[1].begun, 0);
	}
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 3);
	process_world_fini(&world);
}

static void a_start_that_fails_is_tried_again(void **state)
{
	(void)state;
	failing(1, 2);
	failures = 0;
	starts_that_fail = 2;
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(starts, 3);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	starts_that_fail = 4;
	assert_int_equal(offer(&world, 1), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 1, WEIR_OUTCOME_CRASHED, -EXDEV);
	process_world_fini(&world);
}

static void its_time_is_up_across_restarts(void **state)
{
	(void)state;
	failing(1, 1);
	failures = 3;
	world.tasks[0].command.timeout_ns = 2500 * MS;
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(starts, 3);
	assert_reply(&world, 0, WEIR_OUTCOME_TIMED_OUT, -ECANCELED);
	assert_int_equal(world.tasks[0].at_ns, 2500 * MS);
	process_world_fini(&world);
}

static void after_a_failure_it_waits_as_long_as_its_back_off(void **state)
{
	static const struct weir_backoff backoff = {
		.min_ns = 3 * SECOND,
		.max_ns = 100 * SECOND,
		.reset_ns = WEIR_FOREVER,
	};
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 1, SECOND);
	options = failing_options(1);
	options.backoff = &backoff;
	failing_new(&options);
	failures = 2;
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(started_at[0], 0);
	assert_int_equal(started_at[1], 4 * SECOND);
	assert_int_equal(started_at[2], 11 * SECOND);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void cancelled_in_its_back_off_it_is_stopped(void **state)
{
	static const struct weir_backoff backoff = {.min_ns = 3 * SECOND,
						    .max_ns = 3 * SECOND};
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 1, SECOND);
	options = failing_options(1);
	options.backoff = &backoff;
	failing_new(&options);
	failures = 2;
	world.tasks[0].command.id = "one";
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run_until(world.base.sim, 2 * SECOND, UINT64_MAX);
	assert_int_equal(weir_process_manager_cancel(&world.manager, "one"), 0);
	settle();
	assert_int_equal(world.tasks[0].replies, 1);
	assert_int_equal(world.tasks[0].at_ns, 2 * SECOND);
	assert_int_equal(starts, 1);
	process_world_fini(&world);
}

static void one_that_is_killed_is_not_restarted(void **state)
{
	(void)state;
	failing(1, 1);
	failures = 0;
	assert_int_equal(offer(&world, 0), 0);
	settle();
	assert_int_equal(
		weir_system_kill(world.base.system, world.tasks[0].ref), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(starts, 1);
	assert_reply(&world, 0, WEIR_OUTCOME_KILLED, -EINTR);
	process_world_fini(&world);
}

static void a4_7_what_is_fatal_is_the_managers_all_the_same(void **state)
{
	(void)state;
	failing(1, 1);
	failures = 1;
	world.tasks[0].how = WORLD_ENDS;
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_int_equal(starts, 1);
	assert_reply(&world, 0, WEIR_OUTCOME_CRASHED, WEIR_ERROR_FATAL);
	process_world_fini(&world);
}

static void limits_that_are_none_are_refused(void **state)
{
	static const struct weir_limit many = {.max = WEIR_RESTARTS_MAX + 1};
	static const struct weir_backoff none = {.min_ns = 0};
	struct weir_process_manager_options options;
	struct weir_process_manager manager;

	(void)state;
	process_world_init(&world, 1);
	options = failing_options(1);
	manager_init(&world, &options);
	options.restarts = &many;
	assert_int_equal(weir_process_manager_init(
				 &manager, world.base.executor, &options),
			 -EINVAL);
	options.restarts = &three;
	options.backoff = &none;
	assert_int_equal(weir_process_manager_init(
				 &manager, world.base.executor, &options),
			 -EINVAL);
	/* a back-off, and no restarts */
	options.restarts = NULL;
	assert_int_equal(weir_process_manager_init(
				 &manager, world.base.executor, &options),
			 -EINVAL);
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a7_5_one_that_recovers_is_done),
		cmocka_unit_test(a7_5_past_the_limit_it_has_crashed),
		cmocka_unit_test(a7_4_one_that_restarts_keeps_its_place),
		cmocka_unit_test(a_start_that_fails_is_tried_again),
		cmocka_unit_test(its_time_is_up_across_restarts),
		cmocka_unit_test(
			after_a_failure_it_waits_as_long_as_its_back_off),
		cmocka_unit_test(cancelled_in_its_back_off_it_is_stopped),
		cmocka_unit_test(one_that_is_killed_is_not_restarted),
		cmocka_unit_test(
			a4_7_what_is_fatal_is_the_managers_all_the_same),
		cmocka_unit_test(limits_that_are_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
