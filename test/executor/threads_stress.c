/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool under as much stealing, sleeping and waking as its options can
 * provoke: more workers than CPUs, nothing but parking when there is no work,
 * and tasks that are overdue at once. A lost wake shows as a time-out.
 */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <weir/threads.h>

#include "base/futex.h"
#include "executor/fake.h"
#include "executor/worker.h"

#define N_WORKERS 4
#define N_OUTSIDE 3
#define N_TASKS 64

static struct weir_threads *make(uint64_t spin_ns, uint64_t steal_ns)
{
	const struct weir_threads_options options = {
		.workers = N_WORKERS,
		.spin_ns = spin_ns,
		.steal_ns = steal_ns,
	};
	struct weir_threads *threads;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	return threads;
}

/* How many are still at it; the last one wakes the main thread. */
static uint32_t busy;

static void finish(void)
{
	bool last;

	ck_pr_fence_release();
	ck_pr_dec_32_zero(&busy, &last);
	if (last)
		weir__futex_wake(&busy, INT32_MAX);
}

static void wait_all(void)
{
	uint32_t seen;

	while ((seen = ck_pr_load_32(&busy)))
		weir__futex_wait(&busy, seen, WEIR_FOREVER);
	ck_pr_fence_acquire();
}

/*
 * A task that runs `left` times. `running` and `runs` are plain: two runs at
 * once, or a run that does not see the one before, is a race that
 * ThreadSanitizer reports.
 */
struct job {
	struct fake_task fake;
	struct weir_executor *next; /* where it goes from here */
	bool running;
	bool wrong;
	struct job *friend; /* submitted by this one's first run, or NULL */
};

static void job_run(struct fake_task *fake)
{
	struct job *self = weir_container_of(fake, struct job, fake);
	struct job *friend = self->friend;

	self->wrong |= self->running;
	self->running = true;
	self->friend = NULL;
	if (friend)
		fake_submit(fake->executor, &friend->fake);
	self->running = false;
	if (--fake->left)
		fake_submit(self->next, fake);
	else
		finish();
}

static void job_init(struct job *self, struct weir_executor *next,
		     uint64_t left)
{
	*self = (struct job){
		.fake = {.run = job_run, .left = left},
		.next = next,
	};
}

static void check_jobs(const struct job *jobs, uint64_t runs)
{
	int i;

	for (i = 0; i < N_TASKS; i++) {
		assert_false(jobs[i].wrong);
		assert_int_equal(jobs[i].fake.runs, runs);
	}
}

/* Tasks that submit tasks and themselves, taken by whoever is idle. */
static void spread(uint64_t spin_ns, uint64_t steal_ns, uint64_t runs)
{
	static struct job jobs[N_TASKS];
	struct weir_threads *threads = make(spin_ns, steal_ns);
	struct weir_executor *executor = weir_threads_executor(threads);
	int i;

	busy = N_TASKS;
	for (i = 0; i < N_TASKS; i++) {
		job_init(&jobs[i], executor, runs);
		jobs[i].friend = i + 1 < N_TASKS ? &jobs[i + 1] : NULL;
	}
	fake_submit(executor, &jobs[0].fake);
	wait_all();
	check_jobs(jobs, runs);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void tasks_that_spread_run_once_for_each_submission(void **state)
{
	spread(WEIR_NO_SPIN, 1, test_count(20000));
	spread(1000, 1, test_count(20000));
	spread(0, 0, test_count(20000));
}

static void *submit_all(void *argument)
{
	struct job *jobs = argument;
	int i;

	for (i = 0; i < N_TASKS; i++)
		fake_submit(jobs[i].next, &jobs[i].fake);
	return NULL;
}

static void threads_outside_submit_at_once(void **state)
{
	static struct job jobs[N_OUTSIDE][N_TASKS];
	struct weir_threads *threads = make(WEIR_NO_SPIN, 1);
	uint64_t round, rounds = test_count(2000);
	pthread_t outside[N_OUTSIDE];
	int i, j;

	for (round = 0; round < rounds; round++) {
		busy = N_OUTSIDE * N_TASKS;
		for (i = 0; i < N_OUTSIDE; i++) {
			for (j = 0; j < N_TASKS; j++)
				job_init(&jobs[i][j],
					 j % 2 ? weir_threads_executor(threads)
					       : weir_threads_worker(
							 threads,
							 (uint32_t)j / 2 %
								 N_WORKERS),
					 1 + (uint64_t)j % 3);
			assert_int_equal(pthread_create(&outside[i], NULL,
							submit_all, jobs[i]),
					 0);
		}
		for (i = 0; i < N_OUTSIDE; i++)
			pthread_join(outside[i], NULL);
		wait_all();
	}
	assert_int_equal(weir_threads_free(threads), 0);
}

/* One task at a time, so that everybody sleeps in between. */
static void one_at_a_time(struct weir_executor *executor, uint64_t rounds)
{
	struct job job;

	while (rounds--) {
		busy = 1;
		job_init(&job, executor, 1);
		fake_submit(executor, &job.fake);
		wait_all();
	}
}

static void no_wake_from_outside_is_lost(void **state)
{
	struct weir_threads *threads = make(WEIR_NO_SPIN, 0);

	one_at_a_time(weir_threads_executor(threads), test_count(50000));
	one_at_a_time(weir_threads_worker(threads, 2), test_count(50000));
	assert_int_equal(weir_threads_free(threads), 0);

	threads = make(1000, 0);
	one_at_a_time(weir_threads_executor(threads), test_count(50000));
	one_at_a_time(weir_threads_worker(threads, 2), test_count(50000));
	assert_int_equal(weir_threads_free(threads), 0);
}

/* From worker to worker, each of which sleeps until the task comes. */
struct walker {
	struct fake_task fake;
	struct weir_threads *threads;
	uint32_t wrong;
};

static void walker_run(struct fake_task *fake)
{
	struct walker *self = weir_container_of(fake, struct walker, fake);
	struct weir__worker *worker = weir__thread.worker_state;
	uint32_t next = (worker->index + 1) % N_WORKERS;

	self->wrong += &worker->executor != fake->executor;
	if (--fake->left)
		fake_submit(weir_threads_worker(self->threads, next), fake);
	else
		finish();
}

static void no_wake_from_worker_to_worker_is_lost(void **state)
{
	struct weir_threads *threads = make(WEIR_NO_SPIN, 0);
	struct walker walkers[2];
	int i;

	busy = 2;
	for (i = 0; i < 2; i++) {
		walkers[i] = (struct walker){
			.fake = {.run = walker_run, .left = test_count(100000)},
			.threads = threads,
		};
		fake_submit(weir_threads_worker(threads, (uint32_t)i),
			    &walkers[i].fake);
	}
	wait_all();
	assert_int_equal(walkers[0].wrong + walkers[1].wrong, 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

/* The two in a turn wait for each other: one of them has to be stolen. */
struct pair {
	struct fake_task first, second;
	uint32_t met;
};

static void meet(struct pair *pair)
{
	ck_pr_inc_32(&pair->met);
	weir__futex_wake(&pair->met, INT32_MAX);
	while (ck_pr_load_32(&pair->met) < 2)
		weir__futex_wait(&pair->met, 1, WEIR_FOREVER);
	finish();
}

static void pair_second(struct fake_task *fake)
{
	meet(weir_container_of(fake, struct pair, second));
}

static void pair_first(struct fake_task *fake)
{
	struct pair *self = weir_container_of(fake, struct pair, first);

	fake_submit(fake->executor, &self->second);
	meet(self);
}

static void whoever_waits_behind_a_long_turn_is_found(void **state)
{
	uint64_t rounds = test_count(5000);
	struct weir_threads *threads = make(WEIR_NO_SPIN, 1);
	struct pair pair;

	while (rounds--) {
		busy = 2;
		pair = (struct pair){.first.run = pair_first,
				     .second.run = pair_second};
		fake_submit(weir_threads_executor(threads), &pair.first);
		wait_all();
	}
	assert_int_equal(weir_threads_free(threads), 0);
}

static void pools_come_and_go(void **state)
{
	uint64_t rounds = test_count(500);

	while (rounds--)
		spread(rounds % 2 ? WEIR_NO_SPIN : 0, 1, 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			tasks_that_spread_run_once_for_each_submission),
		cmocka_unit_test(threads_outside_submit_at_once),
		cmocka_unit_test(no_wake_from_outside_is_lost),
		cmocka_unit_test(no_wake_from_worker_to_worker_is_lost),
		cmocka_unit_test(whoever_waits_behind_a_long_turn_is_found),
		cmocka_unit_test(pools_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
