/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the worker of a job has ended reaches who asked for it, once: by `ended`
 * of a request, or by weir_pool_run_wait(). Numbers are those of the rules in
 * docs/conformance/worker_pool.md.
 */
#include "process/pool_kit.h"

#define assert_ended(job, how_, code_) \
	do { \
		assert_int_equal((job)->over, 1); \
		assert_int_equal((job)->end, how_); \
		assert_int_equal((job)->code, code_); \
	} while (0)

/* --- D3.15: by a request -------------------------------------------------- */

static const struct {
	enum how how;
	enum weir_end end;
	int code;
} ends[] = {
	{WAITS, WEIR_END_FINISHED, 0},
	{FAILS, WEIR_END_FAILED, -EIO},
	{FATAL, WEIR_END_FAILED, WEIR_ERROR_FATAL},
	{CRASHES, WEIR_END_FAILED, -EIO},
};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

static void d3_15_who_asked_is_told_how_its_worker_ended(
	struct pool_world *world)
{
	size_t i;

	pool_start(world, 1);
	for (i = 0; i < 2 * ENDS; i++) {
		world->jobs[i + 1].how = ends[i % ENDS].how;
		world->jobs[i + 1].work_ns = MS;
		assert_int_equal((i < ENDS ? ask : run_told)(world, i + 1), 0);
		pool_settle(world);
		assert_ended(&world->jobs[i + 1], ends[i % ENDS].end,
			     ends[i % ENDS].code);
	}
}

static void d3_15_who_was_killed_has_not_failed(struct pool_world *world)
{
	pool_start(world, 2);
	assert_int_equal(run_told(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	pool_settle(world);
	assert_int_equal(
		weir_system_kill(world->base.system, world->jobs[1].worker), 0);
	assert_int_equal(weir_system_stop_actor(world->base.system,
						world->jobs[2].worker),
			 0);
	pool_settle(world);
	assert_ended(&world->jobs[1], WEIR_END_KILLED, -EINTR);
	assert_ended(&world->jobs[2], WEIR_END_STOPPED, -ECANCELED);
}

static void d3_15_a_worker_that_stops_with_its_pool_is_told_of(
	struct pool_world *world)
{
	world->stubborn = true;
	pool_start(world, 2);
	assert_int_equal(run_told(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	assert_int_equal(ask(world, 3), 0);
	pool_settle(world);
	assert_int_equal(stop_pool(world), 0);
	weir_sim_run_until(world->base.sim, SECOND, UINT64_MAX);
	assert_int_equal(world->jobs[1].over, 0);
	assert_int_equal(world->jobs[3].rc, -ESHUTDOWN);
	pool_tell(world, 1);
	pool_settle(world);
	assert_ended(&world->jobs[1], WEIR_END_FINISHED, 0);
	assert_ended(&world->jobs[2], WEIR_END_STOPPED, -ECANCELED);
	assert_int_equal(world->jobs[3].over, 0);
	assert_int_equal(world->stops, 1);
}

static void d3_15_a_worker_that_a_restart_stops_is_told_of(
	struct pool_world *world)
{
	static const char *const paths[] = {SERVER, WORKERS, "/user/pools/a"};

	pool_start(world, 1);
	assert_int_equal(run_told(world, 1), 0);
	assert_int_equal(ask(world, 2), 0);
	pool_settle(world);
	crash(world, paths[weir_sim_random(world->base.sim, 3)]);
	assert_ended(&world->jobs[1], WEIR_END_STOPPED, -ECANCELED);
	assert_int_equal(world->jobs[2].rc, -ECANCELED);
	assert_int_equal(world->jobs[2].over, 0);
}

static void d3_15_without_a_worker_no_end_is_told(struct pool_world *world)
{
	static const enum how hows[] = {NOT_MADE, NO_WORKER, NO_SPAWN};
	static const int errors[] = {-ENOLINK, -EINVAL, -EINVAL};
	size_t i;

	pool_start(world, 1);
	for (i = 0; i < 3; i++) {
		world->jobs[i + 1].how = hows[i];
		world->jobs[i + 4].how = hows[i];
		assert_int_equal(run_told(world, i + 1), errors[i]);
		assert_int_equal(world->jobs[i + 1].told, 0);
		assert_int_equal(ask(world, i + 4), 0);
		pool_settle(world);
		assert_int_equal(world->jobs[i + 4].rc, errors[i]);
	}
	assert_pool(world, 1, 0);
}

/* The struct and the place are free again. */
static void run_again(struct job *job)
{
	job->world->in_ended = NULL;
	assert_int_equal(ask(job->world, 1), 0);
	job->over = job->spawned = 0;
	job->begun = false;
}

static void d3_15_a_request_can_be_used_again_when_told_of_the_end(
	struct pool_world *world)
{
	world->jobs[1].work_ns = MS;
	world->in_ended = run_again;
	pool_start(world, 1);
	assert_int_equal(run_told(world, 1), 0);
	pool_settle(world);
	assert_int_equal(world->jobs[1].had, 2);
	assert_int_equal(world->jobs[1].told, 2);
	assert_ended(&world->jobs[1], WEIR_END_FINISHED, 0);
}

/* Its first slice runs, and with it all its life, before `started` returns. */
static void settle_inside(struct job *job)
{
	pool_settle(job->world);
	assert_int_equal(job->over, 0);
}

static void d3_15_the_start_is_told_before_the_end(struct pool_world *world)
{
	size_t i;

	world->in_started = settle_inside;
	pool_start(world, 1);
	for (i = 0; i < ENDS; i++) {
		world->jobs[i + 1].how = ends[i].how;
		world->jobs[i + 1].work_ns = MS;
		assert_int_equal(run_told(world, i + 1), 0);
		assert_ended(&world->jobs[i + 1], ends[i].end, ends[i].code);
	}
}

/* --- D3.16: by a wait ----------------------------------------------------- */

static int run_wait(struct pool_world *world, size_t i, uint64_t timeout_ns,
		    struct weir_pool_result *result)
{
	struct job *job = &world->jobs[i];

	return given(job, weir_pool_run_wait(world->pools, "a", job, timeout_ns,
					     result));
}

static void d3_16_who_waits_for_the_end_is_told_how(struct pool_world *world)
{
	struct weir_pool_result result;
	size_t i;

	pool_start(world, 1);
	for (i = 0; i < ENDS; i++) {
		world->jobs[i + 1].how = ends[i].how;
		world->jobs[i + 1].work_ns = MS;
		assert_int_equal(run_wait(world, i + 1,
					  weir_sim_random(world->base.sim, 2)
						  ? SECOND
						  : WEIR_FOREVER,
					  &result),
				 0);
		assert_int_equal(result.how, ends[i].end);
		assert_int_equal(result.code, ends[i].code);
		assert_true(weir_actor_id_equal(result.worker,
						world->jobs[i + 1].worker));
		assert_int_equal(world->jobs[i + 1].had, 1);
	}
	assert_int_equal(world_now(&world->base), 3 * MS);
}

static void d3_16_whose_time_is_over_has_the_job_or_a_worker(
	struct pool_world *world)
{
	struct weir_pool_result result = {.code = 1};

	world->jobs[1].work_ns = 5 * MS;
	pool_start(world, 1);
	assert_int_equal(run_wait(world, 1, 2 * MS, &result), 0);
	assert_int_equal(result.how, WEIR_END_UNKNOWN);
	assert_int_equal(result.code, 0);
	assert_true(weir_system_is_alive(world->base.system, result.worker));
	assert_int_equal(world_now(&world->base), 2 * MS);
	/* the place is taken, for longer than this one waits */
	result.code = 1;
	assert_int_equal(run_wait(world, 2, 2 * MS, &result), -ETIMEDOUT);
	assert_int_equal(run_wait(world, 3, 0, &result), -ETIMEDOUT);
	assert_int_equal(result.code, 1);
	world->jobs[4].work_ns = 5 * MS;
	assert_int_equal(run_wait(world, 4, 7 * MS, &result), 0);
	assert_int_equal(result.how, WEIR_END_FINISHED);
	assert_int_equal(world_now(&world->base), 10 * MS);
	/* on the simulator, where nothing is left that could end the wait */
	assert_int_equal(run_wait(world, 5, WEIR_FOREVER, &result), 0);
	assert_int_equal(result.how, WEIR_END_UNKNOWN);
}

static void d3_16_who_gets_no_worker_is_told_why(struct pool_world *world)
{
	struct weir_pool_result result;

	pool_start(world, 1);
	world->jobs[1].how = NOT_MADE;
	assert_int_equal(run_wait(world, 1, SECOND, &result), -ENOLINK);
	world->jobs[2].how = NO_SPAWN;
	assert_int_equal(run_wait(world, 2, WEIR_FOREVER, &result), -EINVAL);
	assert_int_equal(run_wait(world, 3, SECOND, NULL), -EINVAL);
	assert_int_equal(world_now(&world->base), 0);
}

static void wait_in_slice(struct job *job)
{
	struct weir_pool_result result;

	if (job == &job->world->jobs[1])
		assert_int_equal(run_wait(job->world, 2, WEIR_FOREVER, &result),
				 -EDEADLK);
}

static void d3_16_a_turn_may_not_wait(struct pool_world *world)
{
	world->in_pre_start = wait_in_slice;
	pool_start(world, 2);
	assert_int_equal(pool_run(world, 1), 0);
	pool_settle(world);
	assert_pool(world, 1, 0);
}

static void stop_in_timer(struct weir_timer *timer)
{
	(void)timer;
	assert_int_equal(stop_pool(&pool_the_world), 0);
}

static void d3_16_who_waits_when_the_pool_stops_is_told(
	struct pool_world *world)
{
	struct weir_timer timer = {.fire = stop_in_timer};
	struct weir_pool_result result;

	pool_start(world, 1);
	assert_int_equal(weir_timer_arm(world->base.executor, &timer, MS), 0);
	if (weir_sim_random(world->base.sim, 2)) {
		assert_int_equal(run_wait(world, 1, SECOND, &result), 0);
		assert_int_equal(result.how, WEIR_END_STOPPED);
		assert_int_equal(result.code, -ECANCELED);
	} else {
		assert_int_equal(pool_run(world, 1), 0);
		assert_int_equal(run_wait(world, 2, SECOND, &result),
				 -ESHUTDOWN);
	}
	assert_int_equal(world_now(&world->base), MS);
}

static void bad_input_is_an_error(struct pool_world *world)
{
	struct weir_pool_request request = {.started = NULL};
	struct weir_pool_result result;

	pool_start(world, 1);
	assert_int_equal(run_told(world, 1), 0);
	assert_int_equal(weir_pool_run_async(world->pools, "a", NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_pool_run_async(world->pools, "a", NULL, &request),
			 -EINVAL);
	request = world->jobs[1].request;
	assert_int_equal(weir_pool_run_async(NULL, "a", NULL, &request),
			 -EINVAL);
	assert_int_equal(weir_pool_run_async(world->pools, "b", NULL, &request),
			 -ENOENT);
	assert_int_equal(run_told(world, 2), -EAGAIN);
	assert_int_equal(world->jobs[2].told, 0);
	assert_int_equal(weir_pool_run_wait(world->pools, NULL, NULL, 0,
					    &result),
			 -EINVAL);
	assert_int_equal(weir_pool_run_wait(world->pools, "b", NULL, 0,
					    &result),
			 -ENOENT);
	assert_pool(world, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d3_15_who_asked_is_told_how_its_worker_ended),
		RULE(d3_15_who_was_killed_has_not_failed),
		RULE(d3_15_a_worker_that_stops_with_its_pool_is_told_of),
		RULE(d3_15_a_worker_that_a_restart_stops_is_told_of),
		RULE(d3_15_without_a_worker_no_end_is_told),
		RULE(d3_15_a_request_can_be_used_again_when_told_of_the_end),
		RULE(d3_15_the_start_is_told_before_the_end),
		RULE(d3_16_who_waits_for_the_end_is_told_how),
		RULE(d3_16_whose_time_is_over_has_the_job_or_a_worker),
		RULE(d3_16_who_gets_no_worker_is_told_why),
		RULE(d3_16_a_turn_may_not_wait),
		RULE(d3_16_who_waits_when_the_pool_stops_is_told),
		RULE(bad_input_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
