/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places and the queue of a worker pool: who runs, who waits, in which order,
 * and whose a job is. Numbers are those of the rules in
 * docs/conformance/worker_pool.md.
 */
#include "process/pool_kit.h"

#include <limits.h>

/* --- D3.1, D3.2: running, queueing, waiting ------------------------------- */

static void d3_1_run_starts_a_worker_or_says_no_at_once(
	struct pool_world *world)
{
	struct weir_actor_id worker = WEIR_ACTOR_ID_NONE;

	pool_start(world, 2);
	assert_int_equal(given(&world->jobs[1],
			       weir_pool_run(world->pools, "a", &world->jobs[1],
					     &worker)),
			 0);
	assert_true(weir_system_is_alive(world->base.system, worker));
	assert_int_equal(pool_run(world, 2), 0);
	assert_int_equal(pool_run(world, 3), -EAGAIN);
	assert_pool(world, 0, 0);
	pool_settle(world);
	assert_true(weir_actor_id_equal(worker, world->jobs[1].worker));
	assert_int_equal(pool_run(world, 3), -EAGAIN);
	assert_int_equal(world->running, 2);
}

static void d3_1_with_no_place_at_all_nothing_runs(struct pool_world *world)
{
	world->options.queue_max = 2;
	pool_start(world, 0);
	assert_int_equal(pool_run(world, 1), -EAGAIN);
	assert_int_equal(queue(world, 2), 0);
	assert_int_equal(ask(world, 3), 0);
	assert_int_equal(queue(world, 4), -ENOBUFS);
	assert_int_equal(queue_wait(world, 5, SECOND), -ENOBUFS);
	pool_settle(world);
	assert_int_equal(world->made, 0);
	assert_pool(world, 0, 2);
	assert_true(cancel(world, 3));
	assert_int_equal(queue_wait(world, 6, SECOND), -ETIMEDOUT);
	assert_int_equal(world_now(&world->base), SECOND);
}

static void d3_2_what_is_queued_starts_at_once_if_there_is_a_place(
	struct pool_world *world)
{
	pool_start(world, 3);
	assert_int_equal(queue(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	pool_settle(world);
	assert_order(world, "1 2");
	assert_int_equal(world_now(&world->base), 0);
	assert_int_equal(queue_wait(world, 3, WEIR_FOREVER), 0);
	pool_settle(world);
	assert_order(world, "1 2 3");
	assert_pool(world, 0, 0);
}

static void worker_is_there(struct job *job)
{
	assert_int_equal(job->rc, 0);
	assert_true(weir_system_is_alive(job->world->base.system, job->worker));
}

static void d3_2_who_asks_is_told_when_its_worker_was_spawned(
	struct pool_world *world)
{
	world->in_started = worker_is_there;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	pool_settle(world);
	assert_int_equal(world->jobs[2].told, 0);
	pool_end(world, 1);
	assert_int_equal(world->jobs[2].told, 1);
	assert_int_equal(world->jobs[2].rc, 0);
}

static void d3_2_queue_wait_waits_for_its_worker(struct pool_world *world)
{
	pool_start(world, 1);
	world->jobs[1].work_ns = 7 * MS;
	world->jobs[2].work_ns = 10 * MS;
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(queue_wait(world, 2, WEIR_FOREVER), 0);
	assert_int_equal(world_now(&world->base), 7 * MS);
	assert_true(weir_system_is_alive(world->base.system,
					 world->jobs[2].worker));
	/* Who waits too short a time leaves the queue. */
	assert_int_equal(queue_wait(world, 3, 2 * MS), -ETIMEDOUT);
	assert_int_equal(queue_wait(world, 4, 0), -ETIMEDOUT);
	assert_int_equal(queue_wait(world, 5, SECOND), 0);
	assert_int_equal(world_now(&world->base), 17 * MS);
	pool_settle(world);
	assert_order(world, "1 2 5");
}

/* In a slice: nothing may wait there. */
static void wait_in_slice(struct job *job)
{
	struct pool_world *world = job->world;

	if (job == &world->jobs[1])
		assert_int_equal(queue_wait(world, 2, WEIR_FOREVER), -EDEADLK);
}

static void d3_2_a_turn_may_not_wait(struct pool_world *world)
{
	world->in_pre_start = wait_in_slice;
	pool_start(world, 2);
	assert_int_equal(pool_run(world, 1), 0);
	pool_settle(world);
	assert_pool(world, 1, 0);
	assert_int_equal(world->jobs[2].back, 1);
}

static void d3_2_who_waits_for_ever_in_vain_is_told(struct pool_world *world)
{
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	pool_settle(world);
	/* On the simulator, where nothing is left that could end the wait. */
	assert_int_equal(queue_wait(world, 2, WEIR_FOREVER), -EDEADLK);
	assert_pool(world, 0, 0);
}

static void e12_the_queue_is_bounded(struct pool_world *world)
{
	size_t i;

	world->options.queue_max = 20;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	for (i = 2; i <= 21; i++)
		assert_int_equal(i % 2 ? queue(world, i) : ask(world, i), 0);
	assert_int_equal(queue(world, 22), -ENOBUFS);
	assert_int_equal(ask(world, 23), -ENOBUFS);
	assert_int_equal(world->jobs[23].told, 0);
	assert_true(cancel(world, 20));
	assert_int_equal(queue(world, 24), 0);
	assert_int_equal(queue(world, 25), -ENOBUFS);
}

static void e12_beyond_the_bound_the_new_job_may_be_dropped(
	struct pool_world *world)
{
	world->options.queue_max = 2;
	world->options.overflow = WEIR_OVERFLOW_DROP_NEW;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(queue(world, 2), 0);
	assert_int_equal(ask(world, 3), 0);
	assert_int_equal(queue(world, 4), 0);
	assert_int_equal(world->jobs[4].dropped, 1);
	assert_int_equal(pool_counts(world).dropped, 1);
	assert_int_equal(ask(world, 5), 0);
	assert_int_equal(world->jobs[5].told, 1);
	assert_int_equal(world->jobs[5].rc, -ENOBUFS);
	assert_int_equal(world->jobs[5].dropped, 0);
	assert_false(cancel(world, 5));
	assert_int_equal(queue_wait(world, 6, SECOND), -ENOBUFS);
	assert_int_equal(pool_counts(world).dropped, 1);
	assert_pool(world, 0, 2);
	pool_settle(world);
	pool_tell(world, 1);
	pool_settle(world);
	pool_tell(world, 2);
	pool_settle(world);
	assert_order(world, "1 2 3");
}

static void e12_or_the_one_that_has_waited_longest(struct pool_world *world)
{
	world->options.queue_max = 2;
	world->options.overflow = WEIR_OVERFLOW_DROP_HEAD;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(queue(world, 2), 0);
	assert_int_equal(ask(world, 3), 0);
	assert_int_equal(queue(world, 4), 0);
	assert_int_equal(world->jobs[2].dropped, 1);
	assert_int_equal(pool_counts(world).dropped, 1);
	assert_int_equal(world->jobs[3].told, 0);
	assert_int_equal(ask(world, 5), 0);
	assert_int_equal(world->jobs[3].told, 1);
	assert_int_equal(world->jobs[3].rc, -ENOBUFS);
	assert_int_equal(world->jobs[3].dropped, 0);
	assert_int_equal(pool_counts(world).dropped, 1);
	assert_false(cancel(world, 3));
	assert_pool(world, 0, 2);
	pool_settle(world);
	pool_tell(world, 1);
	pool_settle(world);
	pool_tell(world, 4);
	pool_settle(world);
	assert_order(world, "1 4 5");
}

static void e12_it_says_what_it_does_beyond_the_bound(struct pool_world *world)
{
	static const enum weir_overflow others[] = {WEIR_OVERFLOW_DROP_TAIL,
						    WEIR_OVERFLOW_DROP_ALL,
						    WEIR_OVERFLOW_FAIL,
						    (enum weir_overflow)17,
						    (enum weir_overflow) - 1};
	struct weir_pool_options options = world->options;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		options.overflow = others[i];
		assert_int_equal(weir_pool_start(world->pools, &options),
				 -EINVAL);
	}
}

static void e12_the_bound_is_a_setting(struct pool_world *world)
{
	struct weir_pool_options options = world->options;
	size_t i;

	options.queue_max = (uint32_t)INT_MAX + 1;
	assert_int_equal(weir_pool_start(world->pools, &options), -EINVAL);
	options.name = "huge";
	options.queue_max = INT_MAX;
	assert_int_equal(weir_pool_start(world->pools, &options), 0);
	options.name = "usual";
	options.queue_max = 0;
	options.jobs = NULL; /* then nothing drops them */
	assert_int_equal(weir_pool_start(world->pools, &options), 0);
	for (i = 0; i < WEIR_POOL_QUEUE_DEFAULT; i++)
		assert_int_equal(weir_pool_queue(world->pools, "usual", world),
				 0);
	assert_int_equal(weir_pool_queue(world->pools, "usual", world),
			 -ENOBUFS);
}

/* --- D3.3, D3.4: the order ------------------------------------------------ */

static void d3_3_the_end_of_a_worker_starts_the_next(struct pool_world *world)
{
	static const enum how hows[] = {WAITS, FAILS, FATAL, CRASHES};
	size_t i;

	pool_start(world, 1);
	for (i = 1; i <= 16; i++) {
		world->jobs[i].how = hows[i % 4];
		assert_int_equal(queue(world, i), 0);
	}
	pool_settle(world);
	for (i = 1; i <= 16; i++) {
		assert_int_equal(world->started, i + (i % 4 == 3));
		if (world->jobs[i].how == CRASHES)
			continue;
		if (i == 1)
			weir_system_stop_actor(world->base.system,
					       world->jobs[i].worker);
		else
			pool_tell(world, i);
		assert_pool(world, 0, 16 - world->started);
		pool_settle(world);
	}
	assert_pool(world, 1, 0);
	assert_order(world, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
	assert_int_equal(pool_counts(world).restarts, 0);
}

static void d3_3_while_somebody_waits_nobody_runs(struct pool_world *world)
{
	struct weir_pool_counts c;
	size_t next = 50, free_and_queued = 0, i;

	pool_start(world, 2);
	for (i = 1; i <= 20; i++) {
		world->jobs[i].work_ns =
			(1 + weir_sim_random(world->base.sim, 3)) * MS;
		assert_int_equal(queue(world, i), 0);
	}
	while (weir_sim_step(world->base.sim)) {
		c = pool_counts(world);
		free_and_queued += c.free && c.queued;
		assert_in_range(world->running, 0, 2);
		if (c.queued)
			assert_int_equal(pool_run(world, next), -EAGAIN);
	}
	/* The moment in which a run could have slipped in. */
	assert_true(free_and_queued > 0);
	assert_false(world->jobs[next].begun);
	assert_int_equal(pool_run(world, next), 0);
}

/* The server makes the worker of 2: the only place is that one's. */
static void run_beside(struct job *job)
{
	struct pool_world *world = job->world;

	if (job == &world->jobs[2])
		assert_int_equal(pool_run(world, 3), -EAGAIN);
}

static void d3_3_who_has_its_turn_keeps_its_place(struct pool_world *world)
{
	world->in_make = run_beside;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	pool_settle(world);
	pool_end(world, 1);
	assert_order(world, "1 2");
	assert_int_equal(world->jobs[2].rc, 0);
	assert_int_equal(world->jobs[3].back, 1);
}

static void d3_4_the_queue_starts_in_order(struct pool_world *world)
{
	pool_start(world, 2);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(pool_run(world, 2), 0);
	assert_int_equal(pool_run(world, 3), -EAGAIN);
	assert_int_equal(queue(world, 4), 0);
	assert_int_equal(queue(world, 5), 0);
	assert_int_equal(ask(world, 6), 0);
	assert_int_equal(queue(world, 7), 0);
	pool_settle(world);
	assert_int_equal(world->started, 2);
	pool_end(world, 1);
	pool_end(world, 2);
	pool_end(world, 4);
	assert_int_equal(world->jobs[6].told, 1);
	pool_end(world, 5);
	assert_int_equal(world->started, 6);
	pool_end(world, 6);
	pool_end(world, 7);
	assert_order(world, "1 2 4 5 6 7");
	assert_pool(world, 2, 0);
	assert_int_equal(pool_counts(world).started, 6);
	assert_int_equal(pool_counts(world).ended, 6);
}

/* More than the server starts in one slice. */
static void d3_4_a_long_queue_starts_in_order(struct pool_world *world)
{
	size_t i;

	pool_start(world, 90);
	for (i = 1; i <= 100; i++)
		assert_int_equal(queue(world, i), 0);
	assert_pool(world, 90, 100);
	pool_settle(world);
	assert_pool(world, 0, 10);
	assert_int_equal(world->running, 90);
}

/* --- D3.5, D3.6: ends that nobody expects --------------------------------- */

static void d3_5_a_worker_that_is_killed_frees_its_place(
	struct pool_world *world)
{
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	pool_settle(world);
	assert_int_equal(
		weir_system_kill(world->base.system, world->jobs[1].worker), 0);
	pool_settle(world);
	assert_pool(world, 1, 0);
	/* Also one that has not begun. */
	assert_int_equal(given(&world->jobs[2],
			       weir_pool_run(world->pools, "a", &world->jobs[2],
					     &world->jobs[2].worker)),
			 0);
	assert_int_equal(weir_system_stop_actor(world->base.system,
						world->jobs[2].worker),
			 0);
	pool_settle(world);
	assert_pool(world, 1, 0);
	assert_int_equal(world->jobs[2].had, 1);
}

static void d3_5_fifty_crashes_are_nobody_elses_business(
	struct pool_world *world)
{
	static const enum how hows[] = {FAILS, FATAL, CRASHES};
	struct weir_actor_id server, workers;
	size_t i;

	pool_start(world, 2);
	server = at_path(world, SERVER);
	workers = at_path(world, WORKERS);
	for (i = 1; i <= 50; i++) {
		world->jobs[i].how = hows[i % 3];
		world->jobs[i].work_ns = 1;
		assert_int_equal(pool_run(world, i), 0);
		pool_settle(world);
	}
	assert_int_equal(world->started, 50);
	assert_pool(world, 2, 0);
	assert_true(weir_actor_id_equal(server, at_path(world, SERVER)));
	assert_true(weir_actor_id_equal(workers, at_path(world, WORKERS)));
	assert_int_equal(weir_system_restarts(world->base.system, server), 0);
	assert_int_equal(weir_system_restarts(world->base.system, workers), 0);
}

static void ask_for_another(struct job *job)
{
	if (job == &job->world->jobs[1])
		assert_int_equal(ask(job->world, 2), 0);
}

/* Who asked is an actor that has ended: the job is the pool's. */
static void d3_6_the_job_of_one_that_has_gone_still_runs(
	struct pool_world *world)
{
	world->in_pre_start = ask_for_another;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	pool_settle(world);
	assert_pool(world, 0, 1);
	pool_end(world, 1);
	assert_false(weir_system_is_alive(world->base.system,
					  world->jobs[1].worker));
	assert_order(world, "1 2");
	assert_int_equal(world->jobs[2].told, 1);
}

static void d3_6_who_cancels_has_its_job_back(struct pool_world *world)
{
	size_t i;

	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	for (i = 2; i <= 6; i++)
		assert_int_equal(ask(world, i), 0);
	assert_true(cancel(world, 2));
	assert_true(cancel(world, 4));
	assert_true(cancel(world, 6));
	assert_false(cancel(world, 4));
	assert_pool(world, 0, 2);
	pool_settle(world);
	pool_end(world, 1);
	assert_false(cancel(world, 3)); /* it was told */
	pool_end(world, 3);
	pool_end(world, 5);
	assert_order(world, "1 3 5");
	assert_int_equal(world->jobs[4].told, 0);
	assert_false(cancel(world, 9)); /* has never asked */
	assert_pool(world, 1, 0);
	/* And asks again. */
	assert_int_equal(ask(world, 4), 0);
	pool_settle(world);
	assert_int_equal(world->jobs[4].told, 1);
}

/* However many have come and gone, the queue is as long as those that wait. */
static void d3_6_who_cancels_leaves_nothing_behind(struct pool_world *world)
{
	size_t bytes = 0, i;

	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	pool_settle(world);
	for (i = 0; i < 1000; i++) {
		if (i == 100)
			bytes = world->base.heap.bytes;
		if (i < 8)
			assert_int_equal(ask(world, 2 + i), 0);
		assert_int_equal(ask(world, 30), 0);
		assert_true(cancel(world, 30));
	}
	assert_int_equal(world->base.heap.bytes, bytes);
	/* Those who have stayed can still go. */
	assert_true(cancel(world, 5));
	pool_end(world, 1);
	pool_end(world, 2);
	pool_end(world, 3);
	pool_end(world, 4);
	assert_order(world, "1 2 3 4 6");
}

/* --- E11: workers that do not come to be ---------------------------------- */

static void e11_who_runs_gets_the_error(struct pool_world *world)
{
	world->jobs[1].how = NOT_MADE;
	world->jobs[2].how = NO_WORKER;
	world->jobs[3].how = NO_SPAWN;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), -ENOLINK);
	assert_int_equal(pool_run(world, 2), -EINVAL);
	assert_int_equal(pool_run(world, 3), -EINVAL);
	assert_int_equal(world->released, 1);
	assert_pool(world, 1, 0);
	assert_int_equal(pool_counts(world).failed, 0);
	assert_int_equal(pool_run(world, 4), 0);
}

static void e11_who_asks_gets_the_error_and_the_next_its_turn(
	struct pool_world *world)
{
	world->jobs[2].how = NOT_MADE;
	world->jobs[3].how = NO_SPAWN;
	world->jobs[4].how = NOT_MADE;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	assert_int_equal(ask(world, 3), 0);
	assert_int_equal(queue(world, 4), 0);
	assert_int_equal(queue(world, 5), 0);
	pool_settle(world);
	pool_end(world, 1);
	assert_int_equal(world->jobs[2].rc, -ENOLINK);
	assert_int_equal(world->jobs[3].rc, -EINVAL);
	assert_int_equal(world->jobs[4].dropped, 1);
	assert_order(world, "1 5");
	assert_int_equal(pool_counts(world).failed, 3);
	assert_int_equal(pool_counts(world).dropped, 1);
	assert_int_equal(pool_counts(world).restarts, 0);
	world->jobs[6].how = NOT_MADE;
	pool_end(world, 5);
	assert_int_equal(queue_wait(world, 6, WEIR_FOREVER), -ENOLINK);
	assert_pool(world, 1, 0);
}

static void e11_one_that_fails_to_start_has_ended(struct pool_world *world)
{
	struct weir_pool_counts c;

	world->jobs[1].how = CRASHES;
	world->jobs[2].how = CRASHES;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	pool_settle(world);
	assert_int_equal(world->jobs[2].rc, 0);
	c = pool_counts(world);
	assert_int_equal(c.started, 2);
	assert_int_equal(c.ended, 2);
	assert_int_equal(c.failed, 0);
	assert_int_equal(c.free, 1);
}

/* While the worker is made nobody waits for that; and a place that is given
 * back goes to who waits. */
static void queue_beside(struct job *job)
{
	struct pool_world *world = job->world;

	if (job == &world->jobs[1])
		assert_int_equal(queue(world, 2), 0);
}

static void e11_a_place_that_is_given_back_goes_to_who_waits(
	struct pool_world *world)
{
	world->in_make = queue_beside;
	world->jobs[1].how = NOT_MADE;
	pool_start(world, 1);
	assert_int_equal(pool_run(world, 1), -ENOLINK);
	assert_pool(world, 1, 1);
	pool_settle(world);
	assert_order(world, "2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d3_1_run_starts_a_worker_or_says_no_at_once),
		RULE(d3_1_with_no_place_at_all_nothing_runs),
		RULE(d3_2_what_is_queued_starts_at_once_if_there_is_a_place),
		RULE(d3_2_who_asks_is_told_when_its_worker_was_spawned),
		RULE(d3_2_queue_wait_waits_for_its_worker),
		RULE(d3_2_a_turn_may_not_wait),
		RULE(d3_2_who_waits_for_ever_in_vain_is_told),
		RULE(e12_the_queue_is_bounded),
		RULE(e12_beyond_the_bound_the_new_job_may_be_dropped),
		RULE(e12_or_the_one_that_has_waited_longest),
		RULE(e12_it_says_what_it_does_beyond_the_bound),
		RULE(e12_the_bound_is_a_setting),
		RULE(d3_3_the_end_of_a_worker_starts_the_next),
		RULE(d3_3_while_somebody_waits_nobody_runs),
		RULE(d3_3_who_has_its_turn_keeps_its_place),
		RULE(d3_4_the_queue_starts_in_order),
		RULE(d3_4_a_long_queue_starts_in_order),
		RULE(d3_5_a_worker_that_is_killed_frees_its_place),
		RULE(d3_5_fifty_crashes_are_nobody_elses_business),
		RULE(d3_6_the_job_of_one_that_has_gone_still_runs),
		RULE(d3_6_who_cancels_has_its_job_back),
		RULE(d3_6_who_cancels_leaves_nothing_behind),
		RULE(e11_who_runs_gets_the_error),
		RULE(e11_who_asks_gets_the_error_and_the_next_its_turn),
		RULE(e11_one_that_fails_to_start_has_ended),
		RULE(e11_a_place_that_is_given_back_goes_to_who_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
