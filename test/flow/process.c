/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows of commands that feed a process manager, which asks for as many as it
 * has room for.
 */
#include "process/kit.h"

#include "support.h"

#include <weir/weir.h>

#define MAX 5
#define TASKS 40

static struct process_world world;
static void *commands[TASKS];
static struct weir_flow *flow;
static struct weir_flow_run *run;

/* It is the stream's from here on. */
static int mark(void **item, void *context)
{
	task_of(*item)->taken = true;
	return 0;
}

/* A manager that is fed by all tasks, at `rate` if there is one. */
static void begin(uint64_t seed, const struct weir_flow_rate *rate)
{
	struct weir_process_manager_options options;
	size_t i;

	process_world_init(&world, seed);
	tasks_new(&world, TASKS, SECOND);
	options = job_options(&world, MAX, 0);
	options.batch = 1;
	manager_init(&world, &options);
	for (i = 0; i < TASKS; i++)
		commands[i] = &world.tasks[i].command;
	flow = weir_flow_map(weir_flow_array(commands, TASKS), mark, NULL);
	flow = weir_flow_items(flow, weir_command_items());
	if (rate)
		flow = weir_flow_throttle(flow, rate);
	flow = weir_flow_into(flow,
			      weir_process_manager_subscriber(&world.manager));
	assert_int_equal(weir_flow_start(flow, world.base.executor, NULL, &run),
			 0);
	manager_spawn(&world, 0);
}

static void end(int code)
{
	struct weir_error *error;

	weir_sim_run(world.base.sim);
	assert_int_equal(weir_flow_run_wait(run, 0, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, code);
	weir_error_unref(error);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	process_world_fini(&world);
}

static void run_full(uint64_t seed)
{
	begin(seed, NULL);
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), TASKS);
	assert_int_equal(world.peak, MAX);
	/* as many at once as may be, all the time */
	assert_int_equal(world_now(&world.base) / SECOND, TASKS / MAX);
	end(0);
}

static void a_manager_is_kept_full_and_never_more(void **state)
{
	for_each_seed(seed, test_count(200))
		run_full(seed);
}

static void run_limited(uint64_t seed)
{
	const struct weir_flow_rate rate = {
		.n = 2,
		.per_ns = SECOND,
		.burst = 1,
	};
	uint64_t s;

	begin(seed, &rate);
	for (s = 1; s <= 10; s++) {
		weir_sim_run_until(world.base.sim, s * SECOND - 1, UINT64_MAX);
		assert_int_equal(world.begun, 2 * s);
	}
	weir_sim_run(world.base.sim);
	assert_int_equal(count_outcome(&world, WEIR_OUTCOME_DONE), TASKS);
	assert_in_range(world.peak, 1, 3);
	end(0);
}

static void a_throttle_before_it_limits_the_rate_of_starts(void **state)
{
	for_each_seed(seed, test_count(200))
		run_limited(seed);
}

static void run_cancelled(uint64_t seed)
{
	uint64_t i;

	begin(seed, NULL);
	for (i = 0; i < seed % 300 && weir_sim_step(world.base.sim); i++)
		;
	weir_flow_run_stop(run, NULL);
	weir_sim_run(world.base.sim);
	for (i = 0; i < TASKS; i++)
		assert_int_equal(world.tasks[i].replies, world.tasks[i].taken);
	end(weir_completion_error(weir_flow_run_over(run))
		    ? weir_completion_error(weir_flow_run_over(run))->code
		    : 0);
}

static void each_command_has_its_reply_when_it_is_cancelled(void **state)
{
	for_each_seed(seed, test_count(1000))
		run_cancelled(seed);
}

static void run_shut_down(uint64_t seed)
{
	begin(seed, NULL);
	weir_sim_run_until(world.base.sim, (seed % 8) * SECOND + seed,
			   UINT64_MAX);
	weir_system_stop(world.base.system);
	/* who wants no more ends the flow well */
	end(0);
}

static void a_manager_that_ends_ends_its_flow(void **state)
{
	for_each_seed(seed, test_count(200))
		run_shut_down(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manager_is_kept_full_and_never_more),
		cmocka_unit_test(
			a_throttle_before_it_limits_the_rate_of_starts),
		cmocka_unit_test(
			each_command_has_its_reply_when_it_is_cancelled),
		cmocka_unit_test(a_manager_that_ends_ends_its_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
