/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the manager: all of it is taken when it is set up, a command needs
 * none, and where there is none nothing is lost.
 */
#include "process/kit.h"

static struct process_world world;

static int call(struct weir_command *command, void *context)
{
	(void)context;
	return task_of(command)->how == FAILS ? -EIO : 0;
}

static struct weir_process_manager_options call_options(void)
{
	return (struct weir_process_manager_options){
		.context = &world,
		.run = call,
		.runners = 3,
		.max = 10,
		.buffer = 6,
		.released = manager_released,
	};
}

/* So many rounds of a full table, with deadlines. */
static void rounds(size_t n)
{
	size_t taken, i;

	while (n-- > 0) {
		for (i = 0; i < world.n_tasks; i++)
			world.tasks[i].replies = world.tasks[i].taken = 0;
		taken = offer_all(&world, 0, world.n_tasks);
		weir_sim_run(world.base.sim);
		assert_true(taken >= world.manager.options.max);
		for (i = 0; i < world.n_tasks; i++)
			assert_int_equal(world.tasks[i].replies,
					 world.tasks[i].taken);
	}
}

static void nothing_is_allocated_for_a_command(void **state)
{
	/* not those that fail: an error that says where is memory */
	static const enum how hows[] = {FINISHES, GOES_ON, NOT_SET_UP};
	size_t before, i;

	(void)state;
	process_world_new(&world, 1, 10, 6, 20, MS);
	for (i = 0; i < 20; i++) {
		world.tasks[i].command.timeout_ns = i % 2 ? 5 * MS : 500 * US;
		world.tasks[i].how = hows[i % 3];
	}
	rounds(3);
	before = world.base.heap.calls;
	rounds(100);
	assert_int_equal(world.base.heap.calls, before);
	world.n_tasks = 0; /* used again and again: no ledger */
	memset(world.manager.outcomes, 0, sizeof(world.manager.outcomes));
	world.manager.n_started = 0;
	process_world_fini(&world);
}

static void nor_for_a_call(void **state)
{
	struct weir_process_manager_options options = call_options();
	size_t before;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 20, 0);
	world.tasks[3].how = FAILS;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	rounds(3);
	before = world.base.heap.calls;
	rounds(100);
	assert_int_equal(world.base.heap.calls, before);
	/* the ledger is of one round */
	weir_process_manager_end(&world.manager);
	weir_system_stop(world.base.system);
	weir_sim_run(world.base.sim);
	assert_int_equal(counts(&world).started, counts(&world).accepted);
	weir_actor_unref(&world.manager.actor);
	weir_sim_run(world.base.sim);
	assert_int_equal(weir_system_free(world.base.system), 0);
	ledger_fini(&world.base.ledger);
	sim_free(world.base.sim);
	assert_int_equal(world.base.heap.live, 0);
	free(world.tasks);
}

/* Without memory it is not set up, and nothing is left. */
static void fail_init(const struct weir_process_manager_options *options)
{
	struct weir_process_manager before;
	size_t live, fail;
	int rc;

	memset(&world.manager, 0x5a, sizeof(world.manager));
	before = world.manager;
	live = world.base.heap.live;
	for (fail = 1;; fail++) {
		world.base.heap.fail = world.base.heap.calls + fail;
		rc = weir_process_manager_init(&world.manager,
					       world.base.executor, options);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(world.base.heap.live, live);
		assert_int_equal(world.released, 0);
		assert_memory_equal(&before, &world.manager, sizeof(before));
	}
	world.base.heap.fail = 0;
	assert_true(fail > 3);
	weir_actor_ref(&world.manager.actor);
}

static void without_memory_it_is_not_set_up(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	options = job_options(&world, 10, 6);
	options.results = true;
	fail_init(&options);
	process_world_fini(&world);
	process_world_init(&world, 1);
	options = call_options();
	fail_init(&options);
	process_world_fini(&world);
}

/* A name is. */
static char ids[40][8];

/* One allocation of its life fails. True: there was one. */
static bool fail_running(const struct weir_process_manager_options *options,
			 uint64_t seed, size_t fail)
{
	struct weir_spawn_options spawn = {.shutdown_ns = 3 * SECOND};
	size_t i;
	bool failed;
	int rc;

	process_world_init(&world, seed);
	tasks_new(&world, 40, 10 * MS);
	for (i = 0; i < 40; i++) {
		world.tasks[i].how = (enum how)(i % 8 == 5 ? FAILS : i % 3);
		world.tasks[i].command.timeout_ns = i % 2 ? 5 * MS : SECOND;
		(void)snprintf(ids[i], sizeof(ids[i]), "%zu", i % 13);
		if (seed % 2)
			world.tasks[i].command.id = ids[i];
	}
	manager_init(&world, options);
	/* not all, as the table of the system grows by chunks of 64 */
	world.base.heap.fail = world.base.heap.calls + fail;
	rc = weir_system_spawn(world.base.system, WEIR_ACTOR_ID_NONE,
			       &world.manager.actor, &spawn, &world.ref);
	if (rc < 0) {
		assert_int_equal(rc, -ENOMEM);
		world.ref = WEIR_ACTOR_ID_NONE;
	}
	for (i = 0; i < 40 && rc == 0; i++) {
		rc = offer(&world, i);
		if (rc == -ENOBUFS)
			rc = 0;
		weir_sim_run_until(world.base.sim, world_now(&world.base) + MS,
				   UINT64_MAX);
	}
	assert_true(rc == 0 || rc == -ENOMEM || rc == -ESHUTDOWN);
	failed = world.base.heap.calls >= world.base.heap.fail;
	process_world_fini(&world);
	return failed;
}

static void without_memory_every_command_is_answered(void **state)
{
	struct weir_process_manager_options options;
	size_t fail;

	(void)state;
	for_each_seed(seed, 5) {
		options = job_options(&world, 10, 6);
		for (fail = 1; fail_running(&options, seed, fail); fail++)
			;
		assert_true(fail > (seed % 2 ? 20u : 1u));
		/* each has a record then */
		options.shutdown_ns = SECOND;
		for (fail = 1; fail_running(&options, seed, fail); fail++)
			;
		assert_true(fail > 10);
		/* results that nobody takes, until its time is over */
		options.results = true;
		for (fail = 1; fail_running(&options, seed, fail); fail++)
			;
		assert_true(fail > 10);
		options = call_options();
		for (fail = 1; fail_running(&options, seed, fail); fail++)
			;
		assert_true(fail > 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_allocated_for_a_command),
		cmocka_unit_test(nor_for_a_call),
		cmocka_unit_test(without_memory_it_is_not_set_up),
		cmocka_unit_test(without_memory_every_command_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
