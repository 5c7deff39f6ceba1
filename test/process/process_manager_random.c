/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random lives of a manager on the simulator: settings, commands, ids, ends,
 * stops, cancels, limits and closings are drawn from the seed. What must hold holds after every
 * few slices, and at the end every command that was taken has one reply.
 */
#include "process/kit.h"

#include <weir/testkit.h>

#define TASKS 80

static struct process_world world;
static struct weir_subscriber_probe *taker; /* of results; NULL: none */
static char ids[12][4];

static uint64_t draw(uint64_t bound)
{
	return weir_sim_random(world.base.sim, bound);
}

static void draw_task(struct task *task)
{
	static const enum how hows[] = {
		FINISHES, FINISHES, FINISHES,	FAILS,
		CRASHES,  GOES_ON,  NOT_SET_UP, HAS_CHILDREN,
	};
	uint64_t id = draw(20);

	task->how = hows[draw(8)];
	task->work_ns = draw(5) * MS;
	task->command.priority =
		(uint32_t)draw(world.manager.options.priorities);
	task->command.id = id < 12 ? ids[id] : NULL;
	if (draw(30) == 0)
		task->command.id = "";
	if (task->how == GOES_ON || draw(3) == 0)
		task->command.timeout_ns = 1 + draw(6) * MS;
}

/* Asks for as much as it likes. */
static int64_t any_demand(int64_t remaining, void *context)
{
	(void)context;
	return (int64_t)draw(12) - 3 - remaining % 2;
}

static const struct weir_limit limits[] = {{.max = 1}, {.max = 4}};

static struct weir_process_manager_options draw_options(void)
{
	struct weir_process_manager_options options =
		job_options(&world, 1 + (uint32_t)draw(8), (uint32_t)draw(6));
	uint32_t batch;

	options.batch = (uint32_t)draw(7);
	if (draw(4) == 0)
		options.demand = any_demand;
	if (draw(4) == 0)
		options.shutdown_ns = 1 + draw(3) * MS;
	world.asks = options.shutdown_ns && draw(2);
	options.priorities = draw(4);
	options.results = draw(3) == 0;
	if (draw(3) == 0)
		options.restarts = &limits[draw(2)];
	batch = options.batch ? options.batch : 1;
	if (options.buffer + batch <= options.max)
		options.count_buffer = draw(2);
	return options;
}

/* Somebody cancels a command, which may be anywhere. */
static void cancel(void)
{
	const char *id = ids[draw(12)];
	struct weir_actor_id ref =
		weir_process_manager_find(&world.manager, id);
	int rc = weir_process_manager_cancel(&world.manager, id);

	assert_true(rc == 0 || rc == -ESRCH);
	/* what runs is found */
	assert_true(rc == 0 || weir_actor_id_equal(ref, WEIR_ACTOR_ID_NONE));
}

/* Somebody changes how many may run. */
static void change_max(const struct weir_process_manager_options *options)
{
	size_t batch = options->batch ? options->batch : 1;
	uint32_t max = 1 + (uint32_t)draw(options->max);

	if (options->count_buffer &&
	    options->buffer + (batch < max ? batch : max) > max)
		assert_int_equal(weir_process_manager_set_max(&world.manager,
							      max),
				 -EINVAL);
	else
		set_max(&world, max);
}

/* Somebody stops or kills a process, which may be gone. */
static void disturb(struct task *task)
{
	if (weir_actor_id_equal(task->ref, WEIR_ACTOR_ID_NONE))
		return;
	if (draw(2))
		(void)weir_system_stop_actor(world.base.system, task->ref);
	else
		(void)weir_system_kill(world.base.system, task->ref);
}

static void steps(uint64_t n)
{
	weir_sim_run_until(world.base.sim,
			   world_now(&world.base) + draw(3) * MS, n);
	check_counts(&world);
}

/* Somebody takes results, and drops them. */
static void take_results(void)
{
	static const struct weir_test_env env = {.settle = NULL};
	static const struct weir_subscriber_probe_options options = {
		.drops = true};

	taker = NULL;
	if (!world.manager.options.results)
		return;
	assert_int_equal(weir_subscriber_probe_new(&taker, &env, &options), 0);
	assert_int_equal(weir_publisher_subscribe(
				 weir_process_manager_publisher(&world.manager),
				 weir_subscriber_probe_base(taker)),
			 0);
}

static void request(int64_t n)
{
	if (taker)
		weir_subscriber_probe_request(taker, n);
}

/* What the manager does then is to end. */
static void leave_results(void)
{
	if (!taker)
		return;
	weir_subscriber_probe_cancel(taker);
	weir_sim_run_until(world.base.sim, world_now(&world.base), UINT64_MAX);
	assert_int_equal(weir_subscriber_probe_free(taker), 0);
}

static void live(uint64_t seed)
{
	struct weir_process_manager_options options;
	uint64_t shutdown_ns;
	size_t i, last;

	process_world_init(&world, seed);
	tasks_new(&world, TASKS, 0);
	options = draw_options();
	manager_init(&world, &options);
	take_results();
	shutdown_ns = draw(3)	? 1 + draw(5) * MS
		      : draw(2) ? 0
				: WEIR_SHUTDOWN_BRUTAL;
	last = draw(3) ? TASKS : 5 + (size_t)draw(TASKS - 5);
	for (i = 0; i < TASKS; i++) {
		draw_task(&world.tasks[i]);
		if (i == seed % 5)
			manager_spawn(&world, shutdown_ns);
		if (i == last && draw(2))
			weir_process_manager_end(&world.manager);
		else if (i == last && draw(2))
			(void)weir_system_stop_actor(world.base.system,
						     world.ref);
		else if (i == last)
			weir_actor_stop(&world.manager.actor);
		(void)offer(&world, i);
		if (draw(10) == 0)
			disturb(&world.tasks[draw(i + 1)]);
		if (draw(6) == 0)
			cancel();
		if (draw(3))
			request(1 + (int64_t)draw(3));
		if (draw(8) == 0)
			change_max(&options);
		steps(draw(12));
	}
	if (last == TASKS && !options.demand) {
		/* no wedge: all that was taken has ended */
		request(TASKS);
		weir_sim_run(world.base.sim);
		for (i = 0; i < TASKS; i++)
			assert_int_equal(world.tasks[i].replies,
					 world.tasks[i].taken);
		assert_int_equal(counts(&world).processing, 0);
		assert_int_equal(counts(&world).waiting, 0);
		assert_int_equal(counts(&world).queue, 0);
	}
	leave_results();
	process_world_fini(&world);
}

static void every_command_is_answered_once(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 12; i++)
		snprintf(ids[i], sizeof(ids[i]), "%zu", i);
	for_each_seed(seed, test_count(20000))
		live(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_is_answered_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
