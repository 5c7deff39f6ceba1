/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands with priorities: those above start first, those of one priority as
 * they came, and cancels, limits and ends meet them in line as elsewhere.
 */
#include "process/kit.h"

#include <weir/reactive.h>
#include <weir/testkit.h>

static struct process_world world;

static int settle(void *context)
{
	(void)context;
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	check_counts(&world);
	return 0;
}

static struct weir_process_manager_options options_of(uint32_t max,
						      uint32_t buffer)
{
	struct weir_process_manager_options options =
		job_options(&world, max, buffer);

	options.priorities = 3;
	return options;
}

/* Nothing is offered yet. */
static void priorities_new(uint32_t max, uint32_t buffer, size_t n)
{
	struct weir_process_manager_options options;

	process_world_init(&world, 1);
	tasks_new(&world, n, SECOND);
	options = options_of(max, buffer);
	manager_init(&world, &options);
	manager_spawn(&world, 0);
	settle(NULL);
}

static void assert_begun(const uint32_t *order, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(world.tasks[i].begun, order[i]);
}

static void those_above_start_first(void **state)
{
	static const uint32_t priorities[] = {1, 2, 1, 0, 2, 0, 1};
	/* the first has its place before the others come */
	static const uint32_t order[] = {1, 6, 4, 2, 7, 3, 5};
	size_t i;

	(void)state;
	priorities_new(1, 6, 7);
	for (i = 0; i < 7; i++)
		world.tasks[i].command.priority = priorities[i];
	assert_int_equal(offer(&world, 0), 0);
	settle(NULL);
	assert_int_equal(offer_all(&world, 1, 6), 6);
	settle(NULL);
	assert_int_equal(counts(&world).waiting, 6);
	weir_sim_run(world.base.sim);
	assert_begun(order, 7);
	process_world_fini(&world);
}

static void one_from_above_overtakes_those_that_wait(void **state)
{
	static const uint32_t order[] = {1, 3, 4, 2};
	size_t i;

	(void)state;
	priorities_new(1, 3, 4);
	for (i = 0; i < 3; i++)
		world.tasks[i].command.priority = 2;
	assert_int_equal(offer_all(&world, 0, 3), 3);
	settle(NULL);
	assert_int_equal(offer(&world, 3), 0);
	weir_sim_run(world.base.sim);
	assert_begun(order, 4);
	process_world_fini(&world);
}

/* It is said so: as long as others come from above it waits. */
static void those_below_wait_as_long_as_others_come(void **state)
{
	size_t i;

	(void)state;
	priorities_new(1, 2, 20);
	world.tasks[0].command.priority = 1;
	assert_int_equal(offer(&world, 1), 0);
	settle(NULL);
	assert_int_equal(offer(&world, 0), 0);
	for (i = 2; i < 20; i++) {
		assert_int_equal(offer(&world, i), 0);
		weir_sim_run_until(world.base.sim,
				   world_now(&world.base) + SECOND, UINT64_MAX);
		assert_int_equal(world.tasks[0].begun, 0);
	}
	weir_sim_run(world.base.sim);
	assert_int_equal(world.tasks[0].begun, 20);
	process_world_fini(&world);
}

static void a_priority_that_there_is_not_is_refused(void **state)
{
	struct weir_process_manager_options options;
	struct weir_process_manager manager;

	(void)state;
	priorities_new(1, 3, 2);
	world.tasks[0].command.priority = 3;
	assert_int_equal(offer(&world, 0), -EINVAL);
	world.tasks[0].command.priority = 2;
	assert_int_equal(offer(&world, 0), 0);
	options = options_of(1, 3);
	options.priorities = WEIR_PRIORITIES_MAX + 1;
	assert_int_equal(weir_process_manager_init(
				 &manager, world.base.executor, &options),
			 -EINVAL);
	process_world_fini(&world);
	/* without the option there is one */
	process_world_new(&world, 1, 1, 1, 1, SECOND);
	world.tasks[0].command.priority = 1;
	assert_int_equal(offer(&world, 0), -EINVAL);
	process_world_fini(&world);
}

static void one_that_waits_is_cancelled_in_any_priority(void **state)
{
	static const char *const ids[] = {"0", "1", "2", "3"};
	static const uint32_t order[] = {1, 0, 2, 3};
	size_t i;

	(void)state;
	priorities_new(1, 3, 4);
	for (i = 0; i < 4; i++) {
		world.tasks[i].command.priority = i % 2;
		world.tasks[i].command.id = ids[i];
	}
	assert_int_equal(offer_all(&world, 0, 4), 4);
	settle(NULL);
	assert_int_equal(weir_process_manager_cancel(&world.manager, "1"), 0);
	settle(NULL);
	assert_reply(&world, 1, WEIR_OUTCOME_REFUSED, -ECANCELED);
	weir_sim_run(world.base.sim);
	assert_begun(order, 4);
	process_world_fini(&world);
}

/* Of a stream all that was requested can start; none is lost. */
static void commands_of_a_publisher_may_have_any(void **state)
{
	struct weir_test_env env = {.settle = settle};
	struct weir_process_manager_options options;
	struct weir_publisher_probe *probe;
	size_t i;

	(void)state;
	process_world_init(&world, 1);
	tasks_new(&world, 6, SECOND);
	options = options_of(2, 0);
	options.batch = 1;
	manager_init(&world, &options);
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
	for (i = 0; i < 6; i++) {
		world.tasks[i].command.priority = 100 - (uint32_t)i;
		world.tasks[i].taken = true;
		assert_int_equal(weir_publisher_probe_send(
					 probe, &world.tasks[i].command),
				 0);
		if (i % 2)
			weir_sim_run(world.base.sim);
	}
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), 6);
	process_world_fini(&world);
	env.settle = NULL;
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

/* Who starts is the one that the rule says, at random. */
static void a_model_says_who_is_next(void **state)
{
	uint64_t best, key;
	size_t i, at;

	(void)state;
	for_each_seed(seed, 200) {
		priorities_new(1, 20, 21);
		for (i = 0; i < 21; i++)
			world.tasks[i].command.priority =
				(uint32_t)weir_sim_random(world.base.sim, 3);
		world.tasks[0].command.priority = 0;
		assert_int_equal(offer(&world, 0), 0);
		settle(NULL);
		assert_int_equal(offer_all(&world, 1, 20), 20);
		weir_sim_run(world.base.sim);
		/* by priority, and then as they came */
		for (i = 1; i < 21; i++) {
			best = (uint64_t)world.tasks[i].command.priority * 100 +
			       i;
			for (key = 2, at = 1; at < 21; at++)
				key += (uint64_t)world.tasks[at]
							       .command
							       .priority *
						       100 +
					       at <
				       best;
			assert_int_equal(world.tasks[i].begun, key);
		}
		process_world_fini(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_above_start_first),
		cmocka_unit_test(one_from_above_overtakes_those_that_wait),
		cmocka_unit_test(those_below_wait_as_long_as_others_come),
		cmocka_unit_test(a_priority_that_there_is_not_is_refused),
		cmocka_unit_test(one_that_waits_is_cancelled_in_any_priority),
		cmocka_unit_test(commands_of_a_publisher_may_have_any),
		cmocka_unit_test(a_model_says_who_is_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
