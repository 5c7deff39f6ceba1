/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manager that stays when its publisher has completed, and has others one
 * after the other. Nothing of the one before is asked of the next, and the
 * demand is exact. Rule numbers like A4.10 are those of
 * docs/conformance/process_manager.md.
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

/* A publisher comes. */
static void come(void)
{
	struct weir_subscriber *subscriber =
		weir_process_manager_subscriber(&world.manager);

	assert_non_null(subscriber);
	assert_int_equal(weir_publisher_probe_new(&probe, &env,
						  weir_command_items()),
			 0);
	assert_int_equal(weir_publisher_subscribe(
				 weir_publisher_probe_base(probe), subscriber),
			 0);
	settle(NULL);
}

static void leave(void)
{
	settle(NULL);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
	probe = NULL;
}

static void staying_new(uint64_t seed, uint32_t max, size_t n, bool stays)
{
	struct weir_process_manager_options options;

	env = (struct weir_test_env){.settle = settle};
	process_world_init(&world, seed);
	tasks_new(&world, n, SECOND);
	options = job_options(&world, max, 0);
	options.batch = 1;
	options.stays = stays;
	manager_init(&world, &options);
	assert_non_null(weir_process_manager_subscriber(&world.manager));
	manager_spawn(&world, 0);
	settle(NULL);
}

static void send(size_t i)
{
	world.tasks[i].taken = true;
	assert_int_equal(
		weir_publisher_probe_send(probe, &world.tasks[i].command), 0);
}

static void complete(void)
{
	assert_int_equal(weir_publisher_probe_complete(probe), 0);
	settle(NULL);
}

static void expect_request(int64_t n)
{
	if (!weir_publisher_probe_expect_request(probe, n))
		fail_msg("%s", weir_publisher_probe_failure(probe));
}

static bool alive(void)
{
	return weir_system_is_alive(world.base.system, world.ref);
}

static void a4_10_it_stays_and_has_another_publisher(void **state)
{
	(void)state;
	staying_new(1, 2, 4, true);
	come();
	expect_request(2);
	assert_null(weir_process_manager_subscriber(&world.manager));
	send(0);
	send(1);
	complete();
	assert_true(alive());
	leave();
	/* processes of the first hold their places */
	come();
	expect_request(0);
	weir_sim_run(world.base.sim);
	expect_request(2);
	send(2);
	send(3);
	complete();
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 4);
	assert_true(alive());
	leave();
	process_world_fini(&world);
}

static void what_the_first_did_not_send_the_next_is_asked_for(void **state)
{
	(void)state;
	staying_new(1, 5, 3, true);
	come();
	expect_request(5);
	send(0);
	complete();
	leave();
	come();
	expect_request(4);
	send(1);
	complete();
	leave();
	come();
	expect_request(3);
	complete();
	leave();
	process_world_fini(&world);
}

static void it_stays_when_a_stream_was_empty(void **state)
{
	size_t i;

	(void)state;
	staying_new(1, 2, 1, true);
	for (i = 0; i < 5; i++) {
		come();
		expect_request(2);
		complete();
		leave();
	}
	come();
	expect_request(2);
	send(0);
	complete();
	leave();
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	process_world_fini(&world);
}

static void a4_10_an_error_ends_it_all_the_same(void **state)
{
	(void)state;
	staying_new(1, 2, 1, true);
	come();
	send(0);
	assert_int_equal(
		weir_publisher_probe_error(probe, weir_error_of(-EXDEV)), 0);
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_false(alive());
	assert_null(weir_process_manager_subscriber(&world.manager));
	leave();
	process_world_fini(&world);
}

static void ended_without_a_publisher_it_is_over(void **state)
{
	(void)state;
	staying_new(1, 2, 1, true);
	come();
	send(0);
	complete();
	leave();
	weir_process_manager_end(&world.manager);
	assert_null(weir_process_manager_subscriber(&world.manager));
	settle(NULL);
	assert_true(alive());
	weir_sim_run(world.base.sim);
	assert_reply(&world, 0, WEIR_OUTCOME_DONE, 0);
	assert_false(alive());
	process_world_fini(&world);
}

static void drain_done(struct weir_ending *drain)
{
	assert_int_equal(drain->actors_left, 0);
}

static void a_drain_ends_it_without_a_publisher(void **state)
{
	struct weir_ending drain = {.done = drain_done};

	(void)state;
	staying_new(1, 2, 0, true);
	come();
	complete();
	leave();
	assert_int_equal(weir_executor_end_async(world.base.executor, &drain,
						 WEIR_FOREVER),
			 0);
	weir_sim_run(world.base.sim);
	assert_false(alive());
	process_world_fini(&world);
}

static void without_the_option_nobody_else_may_come(void **state)
{
	(void)state;
	staying_new(1, 2, 0, false);
	assert_null(weir_process_manager_subscriber(&world.manager));
	process_world_fini(&world);
}

/* Any number of streams, of any length, each as far as it was asked for. */
static void all_commands_of_all_streams_are_answered(void **state)
{
	struct weir_publisher_probe_counts sent;
	struct weir_process_counts c;
	size_t next, left, i;

	(void)state;
	for_each_seed(seed, 200) {
		staying_new(seed, 1 + seed % 6, 40, true);
		for (i = 0; i < 40; i++)
			world.tasks[i].work_ns =
				weir_sim_random(world.base.sim, 5) * MS;
		for (next = 0; next < 40;) {
			come();
			left = weir_sim_random(world.base.sim, 8);
			while (left > 0 && next < 40) {
				weir_sim_run_until(
					world.base.sim,
					world_now(&world.base) + MS,
					weir_sim_random(world.base.sim, 20));
				check_counts(&world);
				sent = weir_publisher_probe_counts(probe);
				c = counts(&world);
				assert_in_range(
					(uint64_t)(sent.requested - sent.sent) +
						c.queue + c.processing,
					0, world.manager.options.max);
				if (sent.requested > sent.sent) {
					send(next++);
					left--;
				}
			}
			assert_int_equal(weir_publisher_probe_complete(probe),
					 0);
			leave();
		}
		weir_sim_run(world.base.sim);
		assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 40);
		assert_int_equal(counts(&world).accepted, 40);
		assert_true(alive());
		process_world_fini(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a4_10_it_stays_and_has_another_publisher),
		cmocka_unit_test(
			what_the_first_did_not_send_the_next_is_asked_for),
		cmocka_unit_test(it_stays_when_a_stream_was_empty),
		cmocka_unit_test(a4_10_an_error_ends_it_all_the_same),
		cmocka_unit_test(ended_without_a_publisher_it_is_over),
		cmocka_unit_test(a_drain_ends_it_without_a_publisher),
		cmocka_unit_test(without_the_option_nobody_else_may_come),
		cmocka_unit_test(all_commands_of_all_streams_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
