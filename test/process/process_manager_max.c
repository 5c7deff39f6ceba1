/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The limit of processes is changed while the manager runs: what runs goes on,
 * what was taken is not lost, and the demand is exact from then on.
 */
#include "process/kit.h"

#include <weir/reactive.h>
#include <weir/testkit.h>

static struct process_world world;
static struct weir_test_env env;
static struct weir_publisher_probe *probe;

static int settle(void *context)
{
	(void)context;
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	check_counts(&world);
	return 0;
}

static void let_pass(uint64_t ns)
{
	weir_sim_run_until(world.base.sim, world_now(&world.base) + ns,
			   UINT64_MAX);
	check_counts(&world);
}

/* --- Offers --------------------------------------------------------------- */

static void lowered_the_running_ones_run_on(void **state)
{
	(void)state;
	process_world_new(&world, 1, 4, 8, 12, SECOND);
	assert_int_equal(offer_all(&world, 0, 12), 12);
	settle(NULL);
	set_max(&world, 2);
	settle(NULL);
	assert_int_equal(world.running, 4);
	let_pass(SECOND);
	/* four have ended, and two have started */
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 4);
	assert_int_equal(world.running, 2);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 12);
	assert_int_equal(world_now(&world.base), 5 * SECOND);
	process_world_fini(&world);
}

static void raised_what_waits_starts(void **state)
{
	(void)state;
	process_world_new(&world, 1, 4, 8, 12, SECOND);
	set_max(&world, 1);
	settle(NULL);
	/* places that were taken back are asked for no more */
	assert_int_equal(offer_all(&world, 0, 12), 9);
	settle(NULL);
	assert_int_equal(world.running, 1);
	set_max(&world, 4);
	settle(NULL);
	assert_int_equal(world.running, 4);
	assert_int_equal(offer_all(&world, 9, 3), 3);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 12);
	process_world_fini(&world);
}

/* They were taken before it was lowered, and have not started. */
static void lowered_what_was_asked_for_waits(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 8, SECOND);
	options = job_options(&world, 4, 2);
	manager_init(&world, &options);
	assert_int_equal(offer_all(&world, 0, 8), 6);
	set_max(&world, 1);
	manager_spawn(&world, 0);
	settle(NULL);
	assert_int_equal(world.running, 1);
	assert_int_equal(counts(&world).waiting, 5);
	/* there is room when fewer wait than there are seats */
	let_pass(3 * SECOND);
	assert_int_equal(counts(&world).waiting, 2);
	assert_int_equal(offer(&world, 6), -ENOBUFS);
	let_pass(SECOND);
	assert_int_equal(offer(&world, 6), 0);
	assert_int_equal(offer(&world, 7), -ENOBUFS);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 7);
	process_world_fini(&world);
}

static void the_last_of_several_limits_counts(void **state)
{
	(void)state;
	process_world_new(&world, 1, 4, 8, 12, SECOND);
	set_max(&world, 1);
	set_max(&world, 4);
	set_max(&world, 3);
	assert_int_equal(offer_all(&world, 0, 12), 12);
	settle(NULL);
	assert_int_equal(world.running, 3);
	process_world_fini(&world);
}

static void a_batch_counts_as_the_limit_if_that_is_less(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 10, SECOND);
	options = job_options(&world, 8, 4);
	options.batch = 4;
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	settle(NULL);
	set_max(&world, 1);
	settle(NULL);
	assert_int_equal(offer_all(&world, 0, 10), 5);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 5);
	process_world_fini(&world);
}

static void a_limit_out_of_range_is_refused(void **state)
{
	struct weir_process_manager_options options;

	(void)state;
	process_world_init(&world, 1);
	options = job_options(&world, 8, 4);
	options.batch = 4;
	options.count_buffer = true;
	manager_init(&world, &options);
	assert_int_equal(weir_process_manager_set_max(NULL, 1), -EINVAL);
	assert_int_equal(weir_process_manager_set_max(&world.manager, 0),
			 -EINVAL);
	assert_int_equal(weir_process_manager_set_max(&world.manager, 9),
			 -EINVAL);
	/* a buffer of 4 would block it for ever */
	assert_int_equal(weir_process_manager_set_max(&world.manager, 7),
			 -EINVAL);
	assert_int_equal(weir_process_manager_set_max(&world.manager, 8), 0);
	process_world_fini(&world);
}

static int call(struct weir_command *command, void *context)
{
	(void)command;
	(void)context;
	return WEIR_RUN_LATER;
}

static void calls_have_a_limit_too(void **state)
{
	struct weir_process_manager_options options = {
		.context = &world,
		.run = call,
		.runners = 2,
		.max = 4,
		.buffer = 4,
		.released = manager_released,
	};
	size_t i;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 8, 0);
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	set_max(&world, 2);
	settle(NULL);
	assert_int_equal(offer_all(&world, 0, 8), 6);
	settle(NULL);
	assert_int_equal(counts(&world).started, 2);
	for (i = 0; i < 6; i++) {
		weir_command_end(&world.tasks[i].command, 0);
		settle(NULL);
		assert_int_equal(counts(&world).processing,
				 i < 5 ? (i < 4 ? 2 : 1) : 0);
	}
	process_world_fini(&world);
}

/* --- A publisher ---------------------------------------------------------- */

static void probed(uint32_t max, size_t n_tasks)
{
	struct weir_process_manager_options options;

	process_world_init(&world, 1);
	tasks_new(&world, n_tasks, SECOND);
	options = job_options(&world, max, 0);
	options.batch = 1;
	manager_init(&world, &options);
	env = (struct weir_test_env){.settle = settle};
	assert_int_equal(weir_publisher_probe_new(&probe, &env,
						  weir_command_items()),
			 0);
	assert_int_equal(
		weir_publisher_subscribe(
			weir_publisher_probe_base(probe),
			weir_process_manager_subscriber(&world.manager)),
		0);
	manager_spawn(&world, 0);
	settle(NULL);
}

static void probed_fini(void)
{
	process_world_fini(&world);
	env.settle = NULL; /* there is nothing left to be settled */
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

static void send(size_t first, size_t n)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		world.tasks[i].taken = true;
		assert_int_equal(weir_publisher_probe_send(
					 probe, &world.tasks[i].command),
				 0);
	}
}

static void expect_request(int64_t n)
{
	if (!weir_publisher_probe_expect_request(probe, n))
		fail_msg("%s", weir_publisher_probe_failure(probe));
}

static void what_was_requested_still_comes(void **state)
{
	(void)state;
	probed(4, 9);
	expect_request(4);
	set_max(&world, 2);
	settle(NULL);
	send(0, 4);
	settle(NULL);
	assert_int_equal(world.running, 2);
	assert_int_equal(counts(&world).queue, 2);
	expect_request(0);
	let_pass(SECOND);
	/* the other two run */
	assert_int_equal(world.running, 2);
	expect_request(0);
	let_pass(SECOND);
	expect_request(2);
	set_max(&world, 3);
	settle(NULL);
	expect_request(1);
	send(4, 3);
	settle(NULL);
	assert_int_equal(world.running, 3);
	probed_fini();
}

/* At any time the requested, the queued and the processes are at most `max`,
 * but for those that there were when it was lowered. */
static void it_never_asks_for_more_than_the_limit(void **state)
{
	struct weir_publisher_probe_counts sent;
	struct weir_process_counts c;
	uint64_t held, before;
	size_t next, i;

	(void)state;
	for_each_seed(seed, 100) {
		probed(1 + seed % 9, 60);
		before = world.manager.options.max;
		for (i = 0; i < 60; i++)
			world.tasks[i].work_ns =
				weir_sim_random(world.base.sim, 20) * MS;
		for (next = 0; next < 60;) {
			if (weir_sim_random(world.base.sim, 5) == 0)
				set_max(&world,
					1 + (uint32_t)weir_sim_random(
						    world.base.sim,
						    world.manager.options.max));
			weir_sim_run_until(
				world.base.sim, world_now(&world.base) + MS,
				1 + weir_sim_random(world.base.sim, 30));
			check_counts(&world);
			c = counts(&world);
			sent = weir_publisher_probe_counts(probe);
			held = (uint64_t)(sent.requested - sent.sent) +
			       c.queue + c.processing;
			assert_true(held <= world.manager.max ||
				    held <= before);
			before = held;
			if (sent.requested > sent.sent &&
			    weir_sim_random(world.base.sim, 2))
				send(next++, 1);
		}
		weir_sim_run(world.base.sim);
		assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 60);
		probed_fini();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lowered_the_running_ones_run_on),
		cmocka_unit_test(raised_what_waits_starts),
		cmocka_unit_test(lowered_what_was_asked_for_waits),
		cmocka_unit_test(the_last_of_several_limits_counts),
		cmocka_unit_test(a_batch_counts_as_the_limit_if_that_is_less),
		cmocka_unit_test(a_limit_out_of_range_is_refused),
		cmocka_unit_test(calls_have_a_limit_too),
		cmocka_unit_test(what_was_requested_still_comes),
		cmocka_unit_test(it_never_asks_for_more_than_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
