/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of worker pools: names, restarts and how far they reach, and how
 * pools end. Numbers are those of the rules in docs/conformance/worker_pool.md.
 */
#include "process/pool_kit.h"

/* Workers of jobs first to last, all running. */
static void fill(struct pool_world *world, size_t first, size_t last)
{
	size_t i;

	for (i = first; i <= last; i++)
		assert_int_equal(pool_run(world, i), 0);
	pool_settle(world);
}

/* So many crashes of the server; true: pools are left. */
static bool crash_server(struct pool_world *world, int n)
{
	while (n-- > 0)
		crash(world, SERVER);
	return weir_system_is_alive(world->base.system,
				    weir_pools_id(world->pools));
}

/* --- D2, D3.8: names ------------------------------------------------------ */

static void d2_the_tree_stands_as_drawn(struct pool_world *world)
{
	struct weir_actor_id pool, children[3];

	pool_start(world, 1);
	fill(world, 1, 1);
	assert_true(weir_actor_id_equal(weir_pools_id(world->pools),
					at_path(world, "/user/pools")));
	pool = at_path(world, "/user/pools/a");
	assert_int_equal(
		weir_system_children(world->base.system, pool, children, 3), 2);
	assert_true(weir_actor_id_equal(children[0], at_path(world, SERVER)));
	assert_true(weir_actor_id_equal(children[1], at_path(world, WORKERS)));
	assert_true(weir_actor_id_equal(
		children[1],
		weir_system_parent(world->base.system, world->jobs[1].worker)));
}

static void d2_the_top_has_a_name_and_a_place_of_choice(
	struct pool_world *world)
{
	struct weir_pools_options options = {.name = "more"};
	struct weir_pools *more, *same = world->pools;

	options.parent = weir_system_system_guardian(world->base.system);
	assert_int_equal(weir_pools_new(&more, world->base.system, &options),
			 0);
	assert_true(weir_actor_id_equal(weir_pools_id(more),
					at_path(world, "/system/more")));
	assert_int_equal(weir_pools_new(&same, world->base.system, NULL),
			 -EEXIST);
	assert_null(same);
	weir_pools_stop(more);
	assert_int_equal(weir_pools_free(more), -EBUSY);
	pool_settle(world);
	assert_int_equal(weir_pools_free(more), 0);
	assert_int_equal(weir_pools_free(NULL), 0);
	weir_pools_stop(NULL);
	assert_true(
		weir_actor_id_equal(weir_pools_id(NULL), WEIR_ACTOR_ID_NONE));
}

static void d3_8_one_pool_of_a_name(struct pool_world *world)
{
	struct weir_pool_options other = world->options;

	pool_start(world, 1);
	assert_int_equal(weir_pool_start(world->pools, &world->options),
			 -EEXIST);
	other.name = "b";
	other.limit = 1;
	assert_int_equal(weir_pool_start(world->pools, &other), 0);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(
		given(&world->jobs[2],
		      weir_pool_run(world->pools, "b", &world->jobs[2], NULL)),
		0);
	assert_int_equal(pool_run(world, 3), -EAGAIN);
}

static void d3_8_who_is_not_there_is_an_error(struct pool_world *world)
{
	struct weir_graceful_stop stop = {.done = stop_done};
	struct weir_pool_counts c;

	assert_int_equal(pool_run(world, 1), -ENOENT);
	assert_int_equal(queue(world, 1), -ENOENT);
	assert_int_equal(ask(world, 1), -ENOENT);
	assert_int_equal(queue_wait(world, 1, 0), -ENOENT);
	assert_int_equal(weir_pool_stop_async(world->pools, "a", &stop),
			 -ENOENT);
	assert_int_equal(weir_pool_counts(world->pools, "a", &c), -ENOENT);
	assert_int_equal(world->jobs[1].told, 0);
}

static void d3_8_bad_input_is_an_error(struct pool_world *world)
{
	static const struct weir_limit bad = {.max = WEIR_RESTARTS_MAX + 1};
	struct weir_pools *pools = world->pools, *none = pools;
	struct weir_pools_options top = {.limit = &bad};
	struct weir_pool_options o = world->options;
	struct weir_pool_request request = {.started = NULL};
	struct weir_graceful_stop stop = {.done = NULL};
	char name[WEIR_NAME_MAX + 2] = "";
	struct weir_pool_counts c;

	pool_start(world, 1);
	assert_int_equal(weir_pools_new(NULL, world->base.system, NULL),
			 -EINVAL);
	assert_int_equal(weir_pools_new(&none, NULL, NULL), -EINVAL);
	assert_null(none);
	assert_int_equal(weir_pools_new(&none, world->base.system, &top),
			 -EINVAL);
	top = (struct weir_pools_options){.name = "a/b"};
	assert_int_equal(weir_pools_new(&none, world->base.system, &top),
			 -EINVAL);

	assert_int_equal(weir_pool_start(NULL, &o), -EINVAL);
	assert_int_equal(weir_pool_start(pools, NULL), -EINVAL);
	o.name = NULL;
	assert_int_equal(weir_pool_start(pools, &o), -EINVAL);
	o.name = "$";
	assert_int_equal(weir_pool_start(pools, &o), -EINVAL);
	o.name = memset(name, 'b', WEIR_NAME_MAX + 1);
	assert_int_equal(weir_pool_start(pools, &o), -EINVAL);
	o.name = "b";
	o.limit = WEIR_POOL_MAX + 1;
	assert_int_equal(weir_pool_start(pools, &o), -EINVAL);
	o.limit = 1;
	o.restarts = &bad;
	assert_int_equal(weir_pool_start(pools, &o), -EINVAL);
	o.restarts = NULL;
	o.make = NULL;
	assert_int_equal(weir_pool_start(pools, &o), -EINVAL);
	assert_true(weir_actor_id_equal(at_path(world, "/user/pools/b"),
					WEIR_ACTOR_ID_NONE));

	assert_int_equal(weir_pool_run(NULL, "a", NULL, NULL), -EINVAL);
	assert_int_equal(weir_pool_run(pools, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(weir_pool_queue(NULL, "a", NULL), -EINVAL);
	assert_int_equal(weir_pool_queue_async(pools, "a", NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_pool_queue_async(pools, "a", NULL, &request),
			 -EINVAL);
	assert_int_equal(weir_pool_queue_wait(pools, NULL, NULL, 0, NULL),
			 -EINVAL);
	assert_int_equal(weir_pool_stop_async(pools, "a", &stop), -EINVAL);
	assert_int_equal(weir_pool_counts(pools, "a", NULL), -EINVAL);
	assert_int_equal(weir_pool_counts(NULL, "a", &c), -EINVAL);
	assert_false(weir_pool_cancel(NULL, &request));
	assert_false(weir_pool_cancel(pools, NULL));
	assert_false(weir_pool_cancel(pools, &request));
	assert_pool(world, 1, 0);
}

/* --- D3.9, D3.10: stopping one -------------------------------------------- */

static void d3_9_workers_are_asked_and_have_their_time(struct pool_world *world)
{
	world->stubborn = true;
	pool_start(world, 2);
	fill(world, 1, 2);
	assert_int_equal(stop_pool(world), 0);
	assert_int_equal(
		weir_sim_run_until(world->base.sim, SECOND, UINT64_MAX) > 0, 1);
	assert_int_equal(world->asked, 2);
	assert_int_equal(world->running, 2);
	/* In order: the server ends when the workers have. */
	assert_true(weir_system_is_alive(world->base.system,
					 at_path(world, SERVER)));
	/* One makes use of it; the other is killed. */
	pool_tell(world, 1);
	pool_settle(world);
	assert_int_equal(world->stops, 1);
	assert_int_equal(world->stopped_ns, 5 * SECOND);
	assert_int_equal(world->jobs[1].had, 1);
	assert_int_equal(world->jobs[2].had, 1);
}

static void d3_9_the_time_is_a_setting(struct pool_world *world)
{
	world->stubborn = true;
	world->options.shutdown_ns = 90 * SECOND;
	pool_start(world, 1);
	fill(world, 1, 1);
	assert_int_equal(stop_pool(world), 0);
	pool_settle(world);
	assert_int_equal(world->stopped_ns, 90 * SECOND);
	world->options.shutdown_ns = WEIR_SHUTDOWN_BRUTAL;
	pool_start(world, 1);
	fill(world, 2, 2);
	assert_int_equal(stop_pool(world), 0);
	pool_settle(world);
	assert_int_equal(world->stops, 2);
	assert_int_equal(world->stopped_ns, 90 * SECOND);
	assert_int_equal(world->asked, 1);
}

/* Though a worker takes its time, and another one ends meanwhile. */
static void d3_9_who_waits_is_told_at_once(struct pool_world *world)
{
	struct weir_pool_counts c;
	size_t i;

	world->stubborn = true;
	pool_start(world, 2);
	fill(world, 1, 2);
	for (i = 3; i <= 8; i++)
		assert_int_equal(i % 2 ? queue(world, i) : ask(world, i), 0);
	assert_int_equal(stop_pool(world), 0);
	weir_sim_run_until(world->base.sim, SECOND, UINT64_MAX);
	pool_tell(world, 1);
	weir_sim_run_until(world->base.sim, 2 * SECOND, UINT64_MAX);
	for (i = 3; i <= 8; i++) {
		assert_int_equal(world->jobs[i].dropped, i % 2);
		assert_int_equal(world->jobs[i].told, 1 - i % 2);
		assert_int_equal(world->jobs[i].rc, i % 2 ? 0 : -ESHUTDOWN);
	}
	c = pool_counts(world);
	assert_int_equal(c.dropped, 3);
	assert_int_equal(c.failed, 0);
	pool_settle(world);
	assert_int_equal(world->stops, 1);
	assert_order(world, "1 2");
}

static void d3_9_a_pool_that_stops_takes_nothing(struct pool_world *world)
{
	struct weir_pool_counts c;

	pool_start(world, 3);
	fill(world, 1, 1);
	assert_int_equal(stop_pool(world), 0);
	do {
		assert_int_equal(pool_run(world, 2), -ESHUTDOWN);
		assert_int_equal(queue(world, 2), -ESHUTDOWN);
		assert_int_equal(ask(world, 2), -ESHUTDOWN);
		weir_sim_step(world->base.sim);
	} while (weir_pool_counts(world->pools, "a", &c) == 0);
	pool_settle(world);
	assert_int_equal(world->stops, 1);
	assert_int_equal(pool_run(world, 2), -ENOENT);
}

static void stop_in_timer(struct weir_timer *timer)
{
	(void)timer;
	assert_int_equal(stop_pool(&pool_the_world), 0);
}

static void d3_9_who_waits_in_a_thread_is_told(struct pool_world *world)
{
	struct weir_timer timer = {.fire = stop_in_timer};

	pool_start(world, 1);
	fill(world, 1, 1);
	assert_int_equal(weir_timer_arm(world->base.executor, &timer, 3 * MS),
			 0);
	assert_int_equal(queue_wait(world, 2, SECOND), -ESHUTDOWN);
	assert_int_equal(world_now(&world->base), 3 * MS);
	pool_settle(world);
	assert_int_equal(world->stops, 1);
}

static void start_again(struct weir_graceful_stop *stop, int rc)
{
	stop_done(stop, rc);
	pool_start(&pool_the_world, 1);
	assert_int_equal(pool_run(&pool_the_world, 1), 0);
}

static void d3_9_its_name_is_free_when_it_has_ended(struct pool_world *world)
{
	size_t i;

	pool_start(world, 1);
	for (i = 0; i < 3; i++) {
		world->stop.done = start_again;
		world->jobs[1].begun = false;
		assert_int_equal(weir_pool_stop_async(world->pools, "a",
						      &world->stop),
				 0);
		assert_int_equal(weir_pool_start(world->pools, &world->options),
				 -EEXIST);
		pool_settle(world);
		assert_int_equal(world->stops, i + 1);
		assert_pool(world, 0, 0);
		assert_int_equal(pool_counts(world).started, 1);
	}
}

static void d3_9_nothing_is_left_of_it(struct pool_world *world)
{
	size_t bytes = 0, i;

	for (i = 1; i <= 20; i++) {
		pool_start(world, 1);
		fill(world, i, i);
		assert_int_equal(stop_pool(world), 0);
		pool_settle(world);
		if (i == 2)
			bytes = world->base.heap.bytes;
	}
	assert_int_equal(world->base.heap.bytes, bytes);
}

/* What was asked of the old pool is not to be cancelled at the new one. */
static void cancel_in_done(struct weir_graceful_stop *stop, int rc)
{
	stop_done(stop, rc);
	pool_start(&pool_the_world, 0);
	assert_false(cancel(&pool_the_world, 2));
	assert_int_equal(ask(&pool_the_world, 3), 0);
	assert_false(cancel(&pool_the_world, 2));
}

static void d3_9_a_request_belongs_to_its_pool(struct pool_world *world)
{
	struct weir_pool_options other = world->options;

	pool_start(world, 1);
	other.name = "b";
	assert_int_equal(weir_pool_start(world->pools, &other), 0);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	assert_int_equal(ask(world, 4), 0);
	assert_true(cancel(world, 4));
	assert_pool(world, 0, 1);
	world->stop.done = cancel_in_done;
	assert_int_equal(weir_pool_stop_async(world->pools, "a", &world->stop),
			 0);
	pool_settle(world);
	assert_int_equal(world->stops, 1);
	assert_int_equal(world->jobs[2].told, 1);
	assert_true(cancel(world, 3));
}

static void d3_9_stopping_twice_is_stopping_once(struct pool_world *world)
{
	struct weir_graceful_stop other = {.done = NULL};

	pool_start(world, 1);
	fill(world, 1, 1);
	assert_int_equal(weir_pool_stop_async(world->pools, "a", NULL), 0);
	assert_int_equal(stop_pool(world), 0);
	assert_int_equal(weir_pool_stop_async(world->pools, "a", NULL), 0);
	pool_settle(world);
	assert_int_equal(world->stops, 1);
	assert_int_equal(weir_pool_stop_async(world->pools, "a", NULL),
			 -ENOENT);
	assert_int_equal(weir_pool_stop_async(world->pools, "a", &other),
			 -ENOENT);
}

static void d3_10_without_its_server_it_takes_nothing(struct pool_world *world)
{
	struct weir_actor_id server;

	pool_start(world, 1);
	fill(world, 1, 1);
	server = at_path(world, SERVER);
	assert_int_equal(weir_system_stop_actor(world->base.system, server), 0);
	while (weir_system_is_alive(world->base.system, server))
		weir_sim_step(world->base.sim);
	assert_int_equal(queue(world, 2), -ESHUTDOWN);
	assert_int_equal(pool_run(world, 3), -ESHUTDOWN);
}

static void d3_10_who_stops_a_part_stops_the_pool(struct pool_world *world)
{
	static const char *const parts[] = {SERVER, WORKERS, "/user/pools/a"};
	size_t i = 0;
	int how;

	for (how = 0; how < 6; how++) {
		pool_start(world, 1);
		assert_int_equal(pool_run(world, ++i), 0);
		assert_int_equal(ask(world, ++i), 0);
		assert_int_equal(queue(world, ++i), 0);
		if (weir_sim_random(world->base.sim, 2))
			pool_settle(world);
		assert_int_equal((how < 3 ? weir_system_stop_actor
					  : weir_system_poison)(
					 world->base.system,
					 at_path(world, parts[how % 3])),
				 0);
		pool_settle(world);
		assert_int_equal(pool_run(world, i), -ENOENT);
		assert_int_equal(world->jobs[i - 1].rc, -ESHUTDOWN);
		assert_int_equal(world->jobs[i].dropped, 1);
	}
	assert_true(weir_system_is_alive(world->base.system,
					 weir_pools_id(world->pools)));
}

/* --- D3.11, D3.12: beginning anew ----------------------------------------- */

static void begins_anew(struct pool_world *world, const char *path)
{
	struct weir_actor_id server, workers;
	struct weir_pool_counts c;

	world->stubborn = true; /* but nobody asks */
	pool_start(world, 2);
	fill(world, 1, 2);
	server = at_path(world, SERVER);
	workers = at_path(world, WORKERS);
	assert_int_equal(ask(world, 3), 0);
	assert_int_equal(queue(world, 4), 0);
	crash(world, path);
	assert_int_equal(world->running, 0);
	assert_int_equal(world->asked, 0);
	assert_int_equal(world_now(&world->base), 0);
	assert_int_equal(world->jobs[3].rc, -ECANCELED);
	assert_int_equal(world->jobs[4].dropped, 1);
	c = pool_counts(world);
	assert_int_equal(c.free, 2);
	assert_int_equal(c.queued, 0);
	assert_int_equal(c.started, 2);
	assert_int_equal(c.ended, 2);
	assert_int_equal(c.dropped, 1);
	assert_int_equal(c.restarts, 1);
	/* In place. */
	assert_true(weir_actor_id_equal(server, at_path(world, SERVER)));
	assert_true(weir_actor_id_equal(workers, at_path(world, WORKERS)));
	assert_int_equal(weir_system_restarts(world->base.system, server), 1);
	assert_int_equal(weir_system_restarts(world->base.system, workers), 1);
	fill(world, 5, 6);
	assert_int_equal(ask(world, 7), 0);
	pool_end(world, 5);
	assert_int_equal(world->jobs[7].told, 1);
	assert_pool(world, 0, 0);
}

static void d3_11_a_server_that_fails_takes_the_workers_along(
	struct pool_world *world)
{
	begins_anew(world, SERVER);
}

static void d3_12_the_workers_supervisor_takes_the_server_along(
	struct pool_world *world)
{
	begins_anew(world, WORKERS);
}

static void d3_12_a_pool_that_fails_begins_anew(struct pool_world *world)
{
	begins_anew(world, "/user/pools/a");
	assert_int_equal(weir_system_restarts(world->base.system,
					      at_path(world, "/user/pools/a")),
			 1);
}

/* At every moment of a restart: what is refused is the caller's. */
static void d3_11_while_it_begins_anew_it_takes_nothing(
	struct pool_world *world)
{
	struct weir_pool_counts c;
	bool refused = false;
	size_t i = 3;
	int rc;

	pool_start(world, 3);
	fill(world, 1, 2);
	weir_system_kill(world->base.system,
			 at_path(world, weir_sim_random(world->base.sim, 2)
						? SERVER
						: WORKERS));
	while (weir_sim_step(world->base.sim) && i < JOBS) {
		c = pool_counts(world);
		assert_in_range(c.free, 0, 3);
		rc = i % 2 ? pool_run(world, i) : ask(world, i);
		assert_true(rc == 0 || rc == -EAGAIN || rc == -ECANCELED);
		refused |= rc == -ECANCELED;
		i++;
	}
	pool_settle(world);
	assert_true(refused);
	assert_int_equal(pool_counts(world).restarts, 1);
	assert_int_equal(pool_counts(world).started - pool_counts(world).ended,
			 world->running);
	assert_int_equal(pool_counts(world).free + world->running, 3);
}

/* The pair begins anew while the caller makes a worker. */
static void crash_in_make(struct job *job)
{
	if (job == &job->world->jobs[1])
		crash(job->world, SERVER);
}

static void d3_11_a_place_of_before_is_void(struct pool_world *world)
{
	world->in_make = crash_in_make;
	pool_start(world, 2);
	fill(world, 2, 2);
	assert_int_equal(pool_run(world, 1), -ECANCELED);
	assert_int_equal(world->jobs[1].had, 0);
	assert_pool(world, 2, 0);
	fill(world, 3, 4);
	assert_int_equal(pool_run(world, 5), -EAGAIN);
	/* Nor is anything given back for it. */
	world->jobs[1].how = NOT_MADE;
	pool_end(world, 4);
	assert_int_equal(pool_run(world, 1), -ENOLINK);
	assert_pool(world, 2, 0);
}

static void stop_in_make(struct job *job)
{
	struct pool_world *world = job->world;

	if (job == &world->jobs[1])
		assert_int_equal(stop_pool(world), 0);
	if (job == &world->jobs[1] && world->stubborn)
		pool_settle(world);
}

static void d3_9_a_stop_while_a_worker_is_made(struct pool_world *world)
{
	world->in_make = stop_in_make;
	world->stubborn = weir_sim_random(world->base.sim, 2);
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), -ESHUTDOWN);
	assert_int_equal(world->jobs[1].had, 0);
	pool_settle(world);
	pool_start(world, 1);
	assert_int_equal(ask(world, 1), 0);
	pool_settle(world);
	assert_int_equal(world->jobs[1].rc, -ESHUTDOWN);
	assert_int_equal(world->stops, 2);
}

/* --- D3.13: how far it reaches -------------------------------------------- */

static void d3_13_the_fourteenth_crash_in_an_hour_ends_them_all(
	struct pool_world *world)
{
	struct weir_pool_options other = world->options;

	pool_start(world, 2);
	other.name = "b";
	other.limit = 1;
	assert_int_equal(weir_pool_start(world->pools, &other), 0);
	assert_int_equal(given(&world->jobs[1],
			       weir_pool_run(world->pools, "b", &world->jobs[1],
					     &world->jobs[1].worker)),
			 0);
	/* An hour, to the nanosecond. */
	assert_true(crash_server(world, 1));
	weir_sim_run_until(world->base.sim, 1800 * SECOND, UINT64_MAX);
	assert_true(crash_server(world, 12));
	assert_pool(world, 2, 0);
	assert_int_equal(weir_system_restarts(world->base.system,
					      at_path(world, "/user/pools/a")),
			 6);
	/* The others' workers are none the wiser. */
	assert_true(weir_system_is_alive(world->base.system,
					 world->jobs[1].worker));
	weir_sim_run_until(world->base.sim, 3600 * SECOND, UINT64_MAX);
	assert_false(crash_server(world, 1));
	assert_int_equal(weir_pool_start(world->pools, &world->options),
			 -ESHUTDOWN);
	assert_int_equal(pool_run(world, 2), -ENOENT);
	assert_int_equal(world->running, 0);
	assert_int_equal(weir_pools_free(world->pools), 0);
	world->pools = NULL;
}

static void d3_13_crashes_far_apart_are_absorbed(struct pool_world *world)
{
	int i;

	pool_start(world, 1);
	for (i = 1; i <= 30; i++) {
		assert_true(crash_server(world, 1));
		assert_int_equal(
			weir_system_restarts(world->base.system,
					     at_path(world, "/user/pools/a")),
			0);
		weir_sim_run_until(world->base.sim, i * (3600 * SECOND + 1),
				   UINT64_MAX);
	}
	/* Twice in an hour, but not often: the top has patience. */
	for (; i <= 60; i++) {
		assert_true(crash_server(world, 2));
		weir_sim_run_until(world->base.sim, i * (3600 * SECOND + 1),
				   UINT64_MAX);
	}
	assert_int_equal(weir_system_restarts(world->base.system,
					      at_path(world, "/user/pools/a")),
			 30);
}

static void d3_13_the_limits_are_settings(struct pool_world *world)
{
	static const struct weir_limit none = {.max = 0}, any = {.max = -1};
	struct weir_pools_options options = {.name = "strict", .limit = &none};

	world->options.restarts = &any;
	pool_start(world, 1);
	assert_true(crash_server(world, 200));
	assert_int_equal(pool_counts(world).restarts, 200);
	weir_pools_stop(world->pools);
	pool_settle(world);
	assert_int_equal(weir_pools_free(world->pools), 0);

	options.name = "pools";
	world->options.restarts = &none;
	assert_int_equal(
		weir_pools_new(&world->pools, world->base.system, &options), 0);
	pool_start(world, 1);
	assert_false(crash_server(world, 1));
}

/* --- D3.14: stopping all -------------------------------------------------- */

static void d3_14_stopping_all_asks_nobody(struct pool_world *world)
{
	struct weir_pool_options other = world->options;

	world->stubborn = true;
	pool_start(world, 2);
	other.name = "b";
	assert_int_equal(weir_pool_start(world->pools, &other), 0);
	fill(world, 1, 2);
	assert_int_equal(ask(world, 3), 0);
	assert_int_equal(queue(world, 4), 0);
	weir_pools_stop(world->pools);
	weir_pools_stop(world->pools);
	assert_int_equal(weir_pools_free(world->pools), -EBUSY);
	pool_settle(world);
	assert_int_equal(world->asked, 0);
	assert_int_equal(world_now(&world->base), 0);
	assert_int_equal(world->jobs[3].rc, -ESHUTDOWN);
	assert_int_equal(world->jobs[4].dropped, 1);
	assert_int_equal(pool_run(world, 5), -ENOENT);
	assert_int_equal(weir_pool_start(world->pools, &other), -ESHUTDOWN);
	weir_pools_stop(world->pools);
}

static void d3_14_stopping_their_supervisor_asks_all(struct pool_world *world)
{
	world->stubborn = true;
	pool_start(world, 2);
	fill(world, 1, 2);
	if (weir_sim_random(world->base.sim, 2))
		weir_system_stop(world->base.system);
	else
		assert_int_equal(
			weir_system_stop_actor(world->base.system,
					       weir_pools_id(world->pools)),
			0);
	pool_settle(world);
	assert_int_equal(world->asked, 2);
	assert_int_equal(world_now(&world->base), 5 * SECOND);
}

static void drained(struct weir_ending *drain)
{
	(void)drain;
}

/* Also when nothing of it has ever run. */
static void d3_14_an_executor_that_ends_ends_them(struct pool_world *world)
{
	struct weir_ending drain = {.done = drained};
	bool abort = weir_sim_random(world->base.sim, 2);
	size_t i;

	pool_start(world, 2);
	for (i = 1; i <= 2; i++)
		assert_int_equal(pool_run(world, i), 0);
	for (; i <= 6; i++)
		assert_int_equal(i % 2 ? queue(world, i) : ask(world, i), 0);
	if (weir_sim_random(world->base.sim, 2))
		pool_settle(world);
	assert_int_equal((abort ? weir_executor_stop_async
				: weir_executor_end_async)(
				 world->base.executor, &drain,
				 abort ? WEIR_FOREVER : SECOND),
			 0);
	pool_settle(world);
	assert_int_equal(world->running, 0);
	for (i = 3; i <= 6; i++) {
		assert_int_equal(world->jobs[i].dropped, i % 2);
		assert_int_equal(world->jobs[i].told, 1 - i % 2);
	}
	assert_int_equal(pool_run(world, 7), -ENOENT);
	assert_int_equal(drain.actors_left, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d2_the_tree_stands_as_drawn),
		RULE(d2_the_top_has_a_name_and_a_place_of_choice),
		RULE(d3_8_one_pool_of_a_name),
		RULE(d3_8_who_is_not_there_is_an_error),
		RULE(d3_8_bad_input_is_an_error),
		RULE(d3_9_workers_are_asked_and_have_their_time),
		RULE(d3_9_the_time_is_a_setting),
		RULE(d3_9_who_waits_is_told_at_once),
		RULE(d3_9_a_pool_that_stops_takes_nothing),
		RULE(d3_9_who_waits_in_a_thread_is_told),
		RULE(d3_9_its_name_is_free_when_it_has_ended),
		RULE(d3_9_nothing_is_left_of_it),
		RULE(d3_9_a_request_belongs_to_its_pool),
		RULE(d3_9_stopping_twice_is_stopping_once),
		RULE(d3_9_a_stop_while_a_worker_is_made),
		RULE(d3_10_without_its_server_it_takes_nothing),
		RULE(d3_10_who_stops_a_part_stops_the_pool),
		RULE(d3_11_a_server_that_fails_takes_the_workers_along),
		RULE(d3_11_while_it_begins_anew_it_takes_nothing),
		RULE(d3_11_a_place_of_before_is_void),
		RULE(d3_12_the_workers_supervisor_takes_the_server_along),
		RULE(d3_12_a_pool_that_fails_begins_anew),
		RULE(d3_13_the_fourteenth_crash_in_an_hour_ends_them_all),
		RULE(d3_13_crashes_far_apart_are_absorbed),
		RULE(d3_13_the_limits_are_settings),
		RULE(d3_14_stopping_all_asks_nobody),
		RULE(d3_14_stopping_their_supervisor_asks_all),
		RULE(d3_14_an_executor_that_ends_ends_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
