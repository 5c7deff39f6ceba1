/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are calls: what they return, those that end later, and what
 * becomes of them when the manager or a runner ends.
 */
#include "process/kit.h"

#include "actor/in.h"

static struct process_world world;

/* Calls that go on, and who ends them. */
static struct task *later[64];
static size_t n_later;
static uint32_t calls;

/* A task's `how` says what its call does. */
static int call(struct weir_command *command, void *context)
{
	struct task *task = task_of(command);

	assert_ptr_equal(context, &world);
	calls++;
	task->begun = calls;
	switch (task->how) {
	case FAILS:
		return -EIO;
	case GOES_ON:
		later[n_later++] = task;
		return WEIR_RUN_LATER;
	case CRASHES: /* it has ended before it returns */
		weir_command_end(command, -EXDEV);
		return WEIR_RUN_LATER;
	case HAS_CHILDREN: /* the same, and well */
		weir_command_end(command, 0);
		return WEIR_RUN_LATER;
	default:
		return 0;
	}
}

static void end_all(int code)
{
	while (n_later > 0)
		weir_command_end(&later[--n_later]->command, code);
}

static void calls_init(uint64_t seed, uint32_t max, uint32_t buffer,
		       uint32_t runners, size_t n_tasks)
{
	struct weir_process_manager_options options = {
		.context = &world,
		.run = call,
		.runners = runners,
		.max = max,
		.buffer = buffer,
		.released = manager_released,
	};

	n_later = calls = 0;
	process_world_init(&world, seed);
	tasks_new(&world, n_tasks, 0);
	manager_init(&world, &options);
}

static void calls_new(uint64_t seed, uint32_t max, uint32_t buffer,
		      uint32_t runners, size_t n_tasks)
{
	calls_init(seed, max, buffer, runners, n_tasks);
	manager_spawn(&world, 0);
	weir_sim_run(world.base.sim);
}

static void a_call_that_returns_0_is_done(void **state)
{
	(void)state;
	for_each_seed(seed, 50) {
		calls_new(seed, 1 + seed % 5, seed % 7, 1 + seed % 3, 12);
		world.tasks[0].how = FAILS;
		assert_int_equal(offer_all(&world, 0, 12),
				 1 + seed % 5 + seed % 7 < 12
					 ? 1 + seed % 5 + seed % 7
					 : 12);
		weir_sim_run(world.base.sim);
		assert_reply(&world, 0, WEIR_OUTCOME_CRASHED, -EIO);
		assert_int_equal(counts(&world).started,
				 counts(&world).accepted);
		assert_int_equal(counts(&world).processing, 0);
		process_world_fini(&world);
	}
}

static void a_call_can_end_before_it_has_returned(void **state)
{
	(void)state;
	calls_new(1, 1, 2, 1, 3);
	world.tasks[0].how = CRASHES;
	world.tasks[1].how = HAS_CHILDREN;
	assert_int_equal(offer_all(&world, 0, 3), 3);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_CRASHED, -EXDEV);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 2, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void calls_that_go_on_keep_their_places(void **state)
{
	size_t i;

	(void)state;
	calls_new(1, 4, 3, 2, 9);
	for (i = 0; i < 9; i++)
		world.tasks[i].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 9), 7);
	weir_sim_run(world.base.sim);
	assert_int_equal(n_later, 4);
	assert_int_equal(counts(&world).processing, 4);
	assert_int_equal(counts(&world).waiting, 3);
	end_all(0);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 4);
	assert_int_equal(n_later, 3);
	end_all(-ENXIO);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_CRASHED), 3);
	assert_int_equal(counts(&world).processing, 0);
	assert_int_equal(counts(&world).peak, 4);
	process_world_fini(&world);
}

static void a4_11_closed_it_waits_for_calls(void **state)
{
	size_t i;

	(void)state;
	calls_new(1, 4, 3, 2, 7);
	for (i = 0; i < 7; i++)
		world.tasks[i].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 7), 7);
	weir_sim_run(world.base.sim);
	weir_process_manager_end(&world.manager);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_REFUSED), 3);
	assert_true(weir_system_is_alive(world.base.system, world.ref));
	end_all(0);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 4);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	process_world_fini(&world);
}

/* Nothing can stop a call: its reply comes when it ends. */
static void a4_11_aborted_it_is_released_when_they_have_ended(void **state)
{
	size_t i;

	(void)state;
	calls_new(1, 4, 3, 2, 7);
	for (i = 0; i < 7; i++)
		world.tasks[i].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 7), 7);
	weir_sim_run(world.base.sim);
	weir_actor_stop(&world.manager.actor);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_REFUSED), 3);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	assert_int_equal(n_later, 4);
	end_all(0);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 4);
	process_world_fini(&world);
}

/* Also the commands that wait at a runner are answered. */
static void aborted_between_two_calls_it_answers_all(void **state)
{
	(void)state;
	for_each_seed(seed, 300) {
		calls_new(seed, 40, 20, 1 + seed % 3, 60);
		assert_int_equal(offer_all(&world, 0, 60), 60);
		weir_sim_run_until(world.base.sim, 0, seed % 11);
		if (seed % 2)
			weir_actor_stop(&world.manager.actor);
		else
			weir_process_manager_end(&world.manager);
		weir_sim_run(world.base.sim);
		assert_false(
			weir_system_is_alive(world.base.system, world.ref));
		process_world_fini(&world);
	}
}

/* Somebody stops a runner: its commands are answered and give back places. */
static void a_runner_that_is_stopped_keeps_no_place(void **state)
{
	struct weir_actor_id runners[4];
	size_t again;

	(void)state;
	for_each_seed(seed, 100) {
		calls_new(seed, 40, 20, 2, 120);
		assert_int_equal(weir_system_children(world.base.system,
						      world.ref, runners, 4),
				 2);
		assert_int_equal(offer_all(&world, 0, 60), 60);
		weir_sim_run_until(world.base.sim, 0, seed % 7);
		assert_int_equal(weir_system_stop_actor(world.base.system,
							runners[seed % 2]),
				 0);
		weir_sim_run(world.base.sim);
		assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE) +
					 count_outcome(&world,
						       WEIR_OUTCOME_REFUSED),
				 60);
		assert_int_equal(counts(&world).processing, 0);
		/* the other one goes on */
		assert_true(weir_system_is_alive(world.base.system, world.ref));
		again = offer_all(&world, 60, 60);
		assert_in_range(again, 56, 60);
		weir_sim_run(world.base.sim);
		assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE) +
					 count_outcome(&world,
						       WEIR_OUTCOME_REFUSED),
				 60 + again);
		process_world_fini(&world);
	}
}

/* It was woken for a command, and makes no call any more. */
static void a_runner_that_is_stopped_passes_on_its_wake(void **state)
{
	struct weir_actor_id runners[4];
	size_t i;

	(void)state;
	for_each_seed(seed, 200) {
		calls_new(seed, 4, 4, 2, 1);
		assert_int_equal(weir_system_children(world.base.system,
						      world.ref, runners, 4),
				 2);
		assert_int_equal(offer(&world, 0), 0);
		weir_sim_run_until(world.base.sim, 0, seed % 5);
		i = seed / 5 % 2;
		assert_int_equal(weir_system_stop_actor(world.base.system,
							runners[i]),
				 0);
		weir_sim_run(world.base.sim);
		assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
		process_world_fini(&world);
	}
}

static void calls_begin_as_their_commands_came(void **state)
{
	size_t i;

	(void)state;
	for_each_seed(seed, 50) {
		calls_new(seed, 40, 60, 1 + seed % 4, 100);
		assert_int_equal(offer_all(&world, 0, 100), 100);
		weir_sim_run(world.base.sim);
		for (i = 0; i < 100; i++)
			assert_int_equal(world.tasks[i].begun, i + 1);
		process_world_fini(&world);
	}
}

/* Offers another, and lets the buffer be closed before that arrives there. */
static void offer_too_late(struct process_world *self, struct task *task)
{
	if (task != &self->tasks[0])
		return;
	assert_int_equal(offer(self, 1), 0);
	ck_pr_or_32(weir__lane_tail_at(&self->manager.in.lane),
		    WEIR__TAIL_ENDED);
}

static void what_a_reply_offers_is_refused_if_it_comes_too_late(void **state)
{
	(void)state;
	calls_new(1, 4, 4, 1, 2);
	world.replied = offer_too_late;
	assert_int_equal(offer(&world, 0), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_reply(&world, 1, WEIR_OUTCOME_REFUSED, -ECANCELED);
	weir_process_manager_end(&world.manager);
	weir_sim_run(world.base.sim);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	process_world_fini(&world);
}

static uint32_t drained;

static void drain_done(struct weir_ending *drain)
{
	assert_int_equal(drain->actors_left, 0);
	drained++;
}

static void an_executor_that_drains_lets_calls_be_made(void **state)
{
	struct weir_ending drain = {.done = drain_done};

	(void)state;
	for_each_seed(seed, 50) {
		calls_new(seed, 10, 20, 1 + seed % 3, 30);
		assert_int_equal(offer_all(&world, 0, 30), 30);
		weir_sim_run_until(world.base.sim, 0, seed % 7);
		drained = 0;
		assert_int_equal(weir_executor_end_async(world.base.executor,
							 &drain, WEIR_FOREVER),
				 0);
		weir_sim_run(world.base.sim);
		assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 30);
		assert_false(
			weir_system_is_alive(world.base.system, world.ref));
		process_world_fini(&world);
		assert_int_equal(drained, 1);
	}
}

static void without_runners_it_takes_no_more(void **state)
{
	struct weir_actor_id runners[4];
	size_t i;

	(void)state;
	calls_new(1, 4, 4, 2, 8);
	assert_int_equal(weir_system_children(world.base.system, world.ref,
					      runners, 4),
			 2);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_system_stop_actor(world.base.system,
							runners[i]),
				 0);
	weir_sim_run(world.base.sim);
	assert_false(weir_system_is_alive(world.base.system, world.ref));
	assert_int_equal(offer(&world, 0), -ESHUTDOWN);
	process_world_fini(&world);
}

static int decide_restart(struct weir_actor *supervisor,
			  const struct weir_failure *failure, void *context)
{
	(void)supervisor;
	(void)failure;
	(void)context;
	return WEIR_DIRECTIVE_RESTART;
}

static void restarted_it_goes_on_with_its_runners(void **state)
{
	static const struct weir_strategy strategy = {.decide = decide_restart};
	struct weir_process_manager_options options = {
		.context = &world,
		.run = call,
		.runners = 2,
		.max = 4,
		.batch = 1,
		.buffer = 4,
		.released = manager_released,
	};

	(void)state;
	for_each_seed(seed, 100) {
		n_later = calls = 0;
		process_world_init_under(&world, seed, &strategy);
		tasks_new(&world, 16, 0);
		world.tasks[0].how = GOES_ON;
		manager_init(&world, &options);
		manager_spawn(&world, 0);
		weir_sim_run(world.base.sim);
		assert_int_equal(offer_all(&world, 0, 8), 8);
		weir_sim_run_until(world.base.sim, 0, seed % 9);
		assert_int_equal(weir_system_kill(world.base.system, world.ref),
				 0);
		weir_sim_run(world.base.sim);
		assert_int_equal(
			weir_system_restarts(world.base.system, world.ref), 1);
		end_all(0);
		weir_sim_run(world.base.sim);
		assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 8);
		assert_true(offer_all(&world, 8, 8) >= 5);
		weir_sim_run(world.base.sim);
		assert_int_equal(counts(&world).processing, 0);
		process_world_fini(&world);
	}
}

static void never_spawned_it_answers_too(void **state)
{
	(void)state;
	calls_init(1, 4, 4, 2, 8);
	assert_int_equal(offer_all(&world, 0, 8), 8);
	weir_actor_stop(&world.manager.actor);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_REFUSED), 8);
	process_world_fini(&world);
}

/* An id is not looked at. */
static void calls_may_have_the_same_id(void **state)
{
	(void)state;
	calls_new(1, 4, 4, 2, 2);
	world.tasks[0].how = GOES_ON;
	world.tasks[0].command.id = world.tasks[1].command.id = "same";
	assert_int_equal(offer_all(&world, 0, 2), 2);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 1, WEIR_OUTCOME_DONE, 0);
	end_all(0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_true(weir_actor_id_equal(
		weir_process_manager_find(&world.manager, "same"),
		WEIR_ACTOR_ID_NONE));
	process_world_fini(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_returns_0_is_done),
		cmocka_unit_test(a_call_can_end_before_it_has_returned),
		cmocka_unit_test(calls_that_go_on_keep_their_places),
		cmocka_unit_test(a4_11_closed_it_waits_for_calls),
		cmocka_unit_test(
			a4_11_aborted_it_is_released_when_they_have_ended),
		cmocka_unit_test(aborted_between_two_calls_it_answers_all),
		cmocka_unit_test(a_runner_that_is_stopped_keeps_no_place),
		cmocka_unit_test(a_runner_that_is_stopped_passes_on_its_wake),
		cmocka_unit_test(calls_begin_as_their_commands_came),
		cmocka_unit_test(
			what_a_reply_offers_is_refused_if_it_comes_too_late),
		cmocka_unit_test(an_executor_that_drains_lets_calls_be_made),
		cmocka_unit_test(without_runners_it_takes_no_more),
		cmocka_unit_test(restarted_it_goes_on_with_its_runners),
		cmocka_unit_test(never_spawned_it_answers_too),
		cmocka_unit_test(calls_may_have_the_same_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
