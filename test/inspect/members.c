/* SPDX-License-Identifier: BSD-2-Clause */
/* Process managers that may start no more. */
#include "process/kit.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>

#include "inspect/kit.h"

static struct process_world world;

static size_t manager_in(const struct weir_snapshot *snapshot,
			 const struct weir_process_manager *manager)
{
	size_t at = weir_snapshot_find(snapshot, &manager->actor);

	assert_int_not_equal(at, WEIR_NOWHERE);
	assert_int_not_equal(snapshot->actors[at].pool, WEIR_NOWHERE);
	return at;
}

static void a_process_that_hangs_is_blamed(void **state)
{
	const struct weir_seen_pool *pool;
	struct weir_snapshot *snapshot;
	char text[512];
	size_t at, i;

	process_world_new(&world, 1, 2, 3, 6, SECOND);
	for (i = 0; i < 6; i++)
		world.tasks[i].how = GOES_ON;
	world.tasks[0].command.id = "hangs";
	assert_int_equal(offer_all(&world, 0, 6), 5);
	weir_sim_run_until(world.base.sim, 10 * MS, UINT64_MAX);
	snapshot = taken(world.base.executor);
	at = manager_in(snapshot, &world.manager);
	pool = &snapshot->pools[snapshot->actors[at].pool];
	assert_int_equal(pool->kind, WEIR_POOL_MANAGER);
	assert_int_equal(pool->actor, at);
	assert_int_equal(pool->max, 2);
	assert_int_equal(pool->busy, 2);
	assert_int_equal(pool->queued, 3);
	assert_int_equal(pool->requested, 0);
	assert_int_equal(pool->refused, 1);
	(void)weir_snapshot_why_text(snapshot, at, text, sizeof(text));
	assert_string_equal(
		text, "manager has all 2 processes that it may have, as job at "
		      "/user/manager/hangs\n"
		      "job waits for a time that is not set\n");
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_string_equal(
		text, "1 held up by: job waits for a time that is not set\n");
	weir_snapshot_free(snapshot);
	process_world_fini(&world);
}

static void a_process_hangs_since_it_was_started(void **state)
{
	const struct weir_sampler_options options = {.by_hand = true};
	struct weir_snapshot *snapshot;
	struct weir_sampler *sampler;
	char text[512];
	size_t i;

	process_world_new(&world, 1, 2, 3, 6, SECOND);
	for (i = 0; i < 6; i++)
		world.tasks[i].how = GOES_ON;
	world.tasks[0].command.id = "hangs";
	assert_int_equal(weir_sampler_new(&sampler, &world.base.executor, 1,
					  &options),
			 0);
	(void)weir_sim_run_until(world.base.sim, 300 * MS, UINT64_MAX);
	assert_int_equal(weir_sampler_step(sampler), 0);
	assert_int_equal(offer_all(&world, 0, 6), 5);
	while (weir_sim_run_until(world.base.sim, 900 * MS, 1) > 0)
		assert_int_equal(weir_sampler_step(sampler), 0);
	assert_int_equal(weir_sampler_snapshot(sampler, &snapshot), 0);
	(void)weir_snapshot_why_text(snapshot,
				     manager_in(snapshot, &world.manager), text,
				     sizeof(text));
	assert_string_equal(
		text, "manager has all 2 processes that it may have, as job at "
		      "/user/manager/hangs, for 600 ms\n"
		      "job waits for a time that is not set, for 600 ms\n");
	weir_snapshot_free(snapshot);
	assert_int_equal(weir_sampler_free(sampler), 0);
	process_world_fini(&world);
}

static void a_manager_that_has_nothing_to_start_is_idle(void **state)
{
	struct weir_snapshot *snapshot;
	char text[512];

	process_world_new(&world, 1, 2, 3, 2, SECOND);
	world.tasks[0].how = world.tasks[1].how = GOES_ON;
	assert_int_equal(offer_all(&world, 0, 2), 2);
	weir_sim_run_until(world.base.sim, 10 * MS, UINT64_MAX);
	snapshot = taken(world.base.executor);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_string_equal(text, "idle: nobody is held up, and nobody runs\n"
				  "/ waits until it is woken\n"
				  "/user waits until it is woken\n"
				  "/system waits until it is woken\n"
				  "manager waits for a permit\n"
				  "job waits for a time that is not set\n"
				  "job waits for a time that is not set\n");
	weir_snapshot_free(snapshot);
	process_world_fini(&world);
}

/* It would ask for no more, for ever. */
static void a_buffer_that_would_wedge_it_is_refused(void **state)
{
	struct weir_process_manager_options options;

	process_world_init(&world, 1);
	options = job_options(&world, 3, 2);
	options.batch = 2;
	options.count_buffer = true;
	assert_int_equal(weir_process_manager_init(
				 &world.manager, world.base.executor, &options),
			 -EINVAL);
	options.buffer = 1;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	weir_sim_run(world.base.sim);
	process_world_fini(&world);
}

/* --- On threads ----------------------------------------------------------- */

static sem_t open;

static int hang(struct weir_command *command, void *context)
{
	while (sem_wait(&open) < 0)
		;
	return 0;
}

static void over(struct weir_command *command, enum weir_outcome outcome,
		 struct weir_error *error)
{
}

static void on_threads_a_call_that_hangs_is_blamed(void **state)
{
	const struct weir_threads_options two = {.workers = 2};
	const struct weir_process_manager_options options = {
		.run = hang, .max = 1, .buffer = 3};
	struct weir_command commands[2] = {{.reply = over}, {.reply = over}};
	struct weir_process_manager manager;
	struct weir_executor *executor;
	struct weir_snapshot *snapshot;
	struct weir_threads *threads;
	struct weir_system *system;
	char text[512];
	size_t at, i;

	assert_int_equal(sem_init(&open, 0, 0), 0);
	assert_int_equal(weir_threads_new(&threads, &two), 0);
	executor = weir_threads_executor(threads);
	assert_int_equal(weir_system_new(&system, executor, NULL), 0);
	assert_int_equal(
		weir_process_manager_init(&manager, executor, &options), 0);
	assert_int_equal(weir_system_spawn(system, WEIR_ACTOR_ID_NONE,
					   &manager.actor, NULL, NULL),
			 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(
			weir_process_manager_offer(&manager, &commands[i]), 0);
	for (;;) {
		snapshot = taken(executor);
		at = manager_in(snapshot, &manager);
		if (snapshot->settled && snapshot->executors[0].stands &&
		    snapshot->actors[at].holder != WEIR_NOWHERE)
			break;
		weir_snapshot_free(snapshot);
		(void)sched_yield();
	}
	(void)weir_snapshot_why_text(snapshot, at, text, sizeof(text));
	assert_non_null(strstr(text, "manager has all 1 processes that it may "
				     "have, as runner at /user/"));
	assert_non_null(
		strstr(text, "\nrunner is in a turn that does not return"));
	weir_snapshot_free(snapshot);
	for (i = 0; i < 2; i++)
		assert_int_equal(sem_post(&open), 0);
	end_system(system);
	while (weir_executor_alive(executor) > 0)
		(void)sched_yield();
	assert_int_equal(weir_threads_free(threads), 0);
	assert_int_equal(sem_destroy(&open), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_hangs_is_blamed),
		cmocka_unit_test(a_process_hangs_since_it_was_started),
		cmocka_unit_test(a_manager_that_has_nothing_to_start_is_idle),
		cmocka_unit_test(a_buffer_that_would_wedge_it_is_refused),
		cmocka_unit_test(on_threads_a_call_that_hangs_is_blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
