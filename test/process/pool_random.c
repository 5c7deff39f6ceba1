/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random lives of a worker pool on the simulator, and one without memory: jobs,
 * ends, cancels, crashes of every part of the tree, stops and new pools of the
 * same name. What must hold holds after every action, and at the end each job
 * has gone one way, once.
 */
#include "process/pool_kit.h"

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

/* --- At random ------------------------------------------------------------ */

#define ACTIONS 300

static const struct weir_limit any = {.max = -1};

static uint64_t draw(struct pool_world *world, uint64_t bound)
{
	return weir_sim_random(world->base.sim, bound);
}

static void draw_job(struct pool_world *world, struct job *job)
{
	static const enum how hows[] = {
		WAITS,	 WAITS,	   WAITS,     FAILS,	FATAL,
		CRASHES, NOT_MADE, NO_WORKER, NO_SPAWN, WAITS,
	};

	job->how = hows[draw(world, 10)];
	job->work_ns = draw(world, 4) ? (1 + draw(world, 5)) * MS : 0;
}

static void draw_pool(struct pool_world *world)
{
	world->options.limit = (uint32_t)draw(world, 5);
	world->options.queue_max = (uint32_t)draw(world, 40);
	world->options.restarts = draw(world, 3) ? &any : NULL;
	world->options.shutdown_ns = draw(world, 3) * 3 * MS;
	world->stubborn = draw(world, 2);
	(void)weir_pool_start(world->pools, &world->options);
}

static void draw_crash(struct pool_world *world)
{
	static const char *const paths[] = {SERVER, WORKERS, "/user/pools/a"};
	struct weir_actor_id ref = at_path(world, paths[draw(world, 3)]);

	switch (draw(world, 12)) {
	case 0:
		(void)weir_system_stop_actor(world->base.system, ref);
		break;
	case 1:
		(void)weir_system_poison(world->base.system, ref);
		break;
	default:
		(void)weir_system_kill(world->base.system, ref);
	}
}

static void draw_end(struct pool_world *world)
{
	struct weir_actor_id worker = world->jobs[1 + draw(world, JOBS)].worker;
	struct weir_actor *actor =
		weir_system_actor(world->base.system, worker);

	if (!actor)
		return;
	switch (draw(world, 3)) {
	case 0:
		weir_actor_signal(actor);
		break;
	case 1:
		(void)weir_system_kill(world->base.system, worker);
		break;
	default:
		(void)weir_system_stop_actor(world->base.system, worker);
	}
	weir_actor_unref(actor);
}

static void draw_action(struct pool_world *world, size_t *next)
{
	uint64_t action = draw(world, 20);

	if (action < 9 && *next <= JOBS) {
		draw_job(world, &world->jobs[*next]);
		(void)(action < 1   ? run_told
		       : action < 3 ? pool_run
		       : action < 6 ? queue
				    : ask)(world, *next);
		++*next;
	} else if (action < 11) {
		(void)cancel(world, 1 + draw(world, JOBS));
	} else if (action < 15) {
		draw_end(world);
	} else if (action == 15) {
		draw_crash(world);
	} else if (action == 16 && draw(world, 4) == 0) {
		(void)weir_pool_stop_async(world->pools, "a", NULL);
	} else if (action == 17) {
		draw_pool(world);
	} else {
		weir_sim_run_until(world->base.sim,
				   world_now(&world->base) +
					   draw(world, 3) * MS,
				   draw(world, 20));
	}
}

static void check_counts(struct pool_world *world)
{
	struct weir_pool_counts c;

	if (weir_pool_counts(world->pools, "a", &c) < 0)
		return;
	assert_in_range(c.free, 0, c.limit);
	assert_in_range(c.ended, 0, c.started);
	assert_in_range(c.free + c.started - c.ended, 0, c.limit);
	assert_in_range(c.queued, 0, 1024);
}

/*
 * At rest every place is free or a worker's, and nobody waits for a free one.
 */
static void check_rest(struct pool_world *world)
{
	struct weir_pool_counts c;

	pool_settle(world);
	if (weir_pool_counts(world->pools, "a", &c) < 0)
		return;
	assert_int_equal(c.started - c.ended, world->running);
	assert_int_equal(c.free + world->running, c.limit);
	assert_true(!c.queued || !c.free);
}

static void d3_3_places_and_jobs_agree_whatever_happens(
	struct pool_world *world)
{
	size_t next = 1;
	int i;

	draw_pool(world);
	for (i = 0; i < ACTIONS; i++) {
		draw_action(world, &next);
		check_counts(world);
		if (draw(world, 30) == 0)
			check_rest(world);
		while (draw(world, 3) && weir_sim_step(world->base.sim))
			assert_true(weir__system_check(world->base.system));
	}
	check_rest(world);
}

/* --- Without memory ------------------------------------------------------- */

static void play(struct pool_world *world)
{
	size_t i;

	world->options.limit = 3;
	if (weir_pool_start(world->pools, &world->options) < 0) {
		pool_settle(world); /* what there was of it ends */
		assert_int_equal(weir_pool_start(world->pools, &world->options),
				 0);
	}
	for (i = 1; i <= 5; i++)
		(void)(i % 2 ? pool_run : run_told)(world, i);
	for (; i <= 40; i++)
		(void)(i % 2 ? queue : ask)(world, i);
	pool_settle(world);
	for (i = 1; i <= 10; i++)
		(void)weir_system_stop_actor(world->base.system,
					     world->jobs[i].worker);
	(void)cancel(world, 20);
	pool_settle(world);
	for (i = 41; i <= 44; i++) {
		(void)weir_system_kill(world->base.system,
				       at_path(world, SERVER));
		pool_settle(world);
		(void)pool_run(world, i);
	}
	for (; i <= 60; i++)
		(void)queue(world, i);
	for (; i <= 64; i++)
		(void)queue_wait(world, i, MS);
	pool_settle(world);
	(void)stop_pool(world);
	pool_settle(world);
	(void)weir_pool_start(world->pools, &world->options);
	(void)pool_run(world, 65);
	pool_settle(world);
}

/* True: an allocation was left to fail. */
static bool play_without(struct pool_world *world, size_t fail)
{
	int rc;

	pool_world_init(world, fail);
	world->base.heap.calls = 0;
	world->base.heap.fail = fail;
	rc = weir_system_new(&world->base.system, world->base.executor,
			     &silent);
	if (rc == 0)
		rc = weir_pools_new(&world->pools, world->base.system, NULL);
	if (rc == 0)
		play(world);
	else
		assert_int_equal(rc, -ENOMEM);
	if (rc == 0)
		assert_true(world->jobs[1].given == 1);
	if (world->base.heap.calls < fail) {
		assert_order(world, "1 2 3 6 7 8 41 42 43 44 45 46 65");
		assert_int_equal(world->stops, 1);
	}
	rc = world->base.heap.calls >= fail;
	world->base.heap.fail = 0;
	pool_settle(world);
	pool_world_fini(world);
	return rc;
}

static void e11_out_of_memory_is_an_error_and_loses_nothing(void **state)
{
	size_t fail = 1;

	(void)state;
	while (play_without(&pool_the_world, fail))
		fail++;
	assert_in_range(fail, 40, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d3_3_places_and_jobs_agree_whatever_happens),
		cmocka_unit_test(
			e11_out_of_memory_is_an_error_and_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
