/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a worker with long slices gives away, and what one that is never idle
 * looks at. The tests set, on the worker's own thread, what it has found out
 * about its slices; nothing is stolen meanwhile.
 */
#include "support.h"

#include <sched.h>

#include <weir/threads.h>

#include "executor/fake.h"
#include "executor/worker.h"

#define HOUR_NS (UINT64_C(3600) * 1000000000)

/* `pair` submits both others; what they are for, see their run functions. */
struct job {
	struct fake_task fake;
	struct job *other;
	uint32_t worker;
	uint32_t ran;	/* or has begun to */
	uint64_t wakes; /* of the pool, when it was submitted */
};

struct pair {
	struct fake_task fake;
	void (*prepare)(struct weir__worker *worker);
	bool waits; /* for the second, which runs beside it */
	struct job first, second;
	uint32_t worker;
	uint64_t queued;
	uint32_t ran;
};

static struct fake_memory memory;

static struct weir_threads *make(uint32_t workers, uint64_t spin_ns,
				 uint64_t steal_ns)
{
	const struct weir_threads_options options = {
		.executor.allocator = &memory.allocator,
		.workers = workers,
		.spin_ns = spin_ns,
		.steal_ns = steal_ns,
	};
	struct weir_threads *threads;

	fake_memory_init(&memory);
	assert_int_equal(weir_threads_new(&threads, &options), 0);
	return threads;
}

static void set(uint32_t *flag)
{
	ck_pr_fence_release();
	ck_pr_store_32(flag, 1);
}

static void await(const uint32_t *flag)
{
	while (!ck_pr_load_32(flag))
		sched_yield();
	ck_pr_fence_acquire();
}

static uint64_t wakes(struct weir_threads *threads)
{
	struct weir_threads_counters counters;

	weir_threads_counters(threads, &counters);
	return counters.wakes;
}

/* From then on who has nothing to do searches, or sleeps. */
static void await_workers(const struct weir_threads *threads)
{
	while (ck_pr_load_32(&threads->started) < threads->n_workers)
		sched_yield();
}

static struct weir__worker *self(void)
{
	return weir__thread.worker_state;
}

static void run_job(struct fake_task *fake)
{
	struct job *job = weir_container_of(fake, struct job, fake);

	job->worker = self()->index;
	set(&job->ran);
}

/* Ends only if the other one runs at the same time. */
static void run_beside(struct fake_task *fake)
{
	struct job *job = weir_container_of(fake, struct job, fake);

	run_job(fake);
	await(&job->other->ran);
}

/* Ends only if somebody has been woken since the pair was submitted. */
static void run_until_woken(struct fake_task *fake)
{
	struct job *job = weir_container_of(fake, struct job, fake);

	while (wakes(self()->pool) == job->wakes)
		sched_yield();
	run_job(fake);
}

static void run_pair(struct fake_task *fake)
{
	struct pair *pair = weir_container_of(fake, struct pair, fake);
	struct weir__worker *worker = self();

	await_workers(worker->pool);
	pair->worker = worker->index;
	pair->prepare(worker);
	pair->first.wakes = wakes(worker->pool);
	fake_submit(fake->executor, &pair->first.fake);
	fake_submit(fake->executor, &pair->second.fake);
	pair->queued = worker->ring.tail - worker->ring.head;
	if (pair->waits)
		await(&pair->second.ran);
	set(&pair->ran);
}

static void pair_run(struct pair *pair, struct weir_threads *threads)
{
	pair->fake.run = run_pair;
	pair->first.other = &pair->second;
	pair->second.other = &pair->first;
	fake_submit(weir_threads_executor(threads), &pair->fake);
	await(&pair->ran);
	await(&pair->first.ran);
	await(&pair->second.ran);
	assert_int_equal(pair->first.fake.runs, 1);
	assert_int_equal(pair->second.fake.runs, 1);
	assert_int_equal(weir_threads_free(threads), 0);
	assert_int_equal(memory.blocks, 0);
}

static void offload(struct weir__worker *worker)
{
	worker->offloads = true;
}

static void a_second_task_goes_to_who_searches(void **state)
{
	struct pair pair = {
		.prepare = offload,
		.waits = true,
		.first.fake.run = run_job,
		.second.fake.run = run_job,
	};

	pair_run(&pair, make(2, HOUR_NS, WEIR_FOREVER));
	assert_int_equal(pair.queued, 1);
	assert_int_equal(pair.first.worker, pair.worker);
	assert_int_not_equal(pair.second.worker, pair.worker);
}

static void nothing_is_given_away_where_nobody_searches(void **state)
{
	struct pair pair = {
		.prepare = offload,
		.first.fake.run = run_job,
		.second.fake.run = run_job,
	};

	pair_run(&pair, make(1, HOUR_NS, WEIR_FOREVER));
	assert_int_equal(pair.queued, 2);
}

static void short_slices(struct weir__worker *worker)
{
	worker->offloads = false;
}

static void a_worker_with_short_slices_keeps_its_tasks(void **state)
{
	struct pair pair = {
		.prepare = short_slices,
		.first.fake.run = run_job,
		.second.fake.run = run_job,
	};

	pair_run(&pair, make(2, HOUR_NS, WEIR_FOREVER));
	assert_int_equal(pair.queued, 2);
	assert_int_equal(pair.first.worker, pair.worker);
	assert_int_equal(pair.second.worker, pair.worker);
}

/* The next look at the clock comes after this slice, and finds it long. */
static void long_slices(struct weir__worker *worker)
{
	worker->look_at = worker->check_at = 0;
	worker->slice_ns = UINT64_MAX / 8;
}

static void half_of_the_queue_is_given_away_after_a_long_slice(void **state)
{
	struct pair pair = {
		.prepare = long_slices,
		.first.fake.run = run_beside,
		.second.fake.run = run_beside,
	};

	pair_run(&pair, make(2, HOUR_NS, WEIR_FOREVER));
	assert_int_equal(pair.queued, 2);
	assert_int_not_equal(pair.first.worker, pair.worker);
	assert_int_equal(pair.second.worker, pair.worker);
}

/*
 * The other worker sleeps, and need not be woken to watch; for two hours tasks
 * have waited.
 */
static void crowded(struct weir__worker *worker)
{
	struct weir__park *park = &worker->pool->park;

	while (!weir__park_idle(park))
		sched_yield();
	ck_pr_store_32(&park->monitor, 1);
	long_slices(worker);
	worker->calm_ns -= 2 * HOUR_NS;
}

static void a_worker_is_woken_when_tasks_wait_behind_long_slices(void **state)
{
	struct pair pair = {
		.prepare = crowded,
		.first.fake.run = run_until_woken,
		.second.fake.run = run_job,
	};

	pair_run(&pair, make(2, WEIR_NO_SPIN, HOUR_NS));
	assert_int_equal(pair.queued, 2);
}

/* Asks, as a slice does that has found nothing, until the answer is no. */
struct asker {
	struct fake_task fake;
	struct fake_task queued[4]; /* so many of them, while it asks */
	uint32_t n_queued;
	bool offloads;
	bool beside; /* another worker is awake */
	struct fake_task blocker;
	uint32_t blocks;
	uint64_t polls[2]; /* and when something useful has come between */
	uint64_t arming;   /* and when that was the first one's arming */
	uint32_t ran;
};

static void run_nothing(struct fake_task *fake)
{
}

static void run_blocker(struct fake_task *fake)
{
	struct asker *asker = weir_container_of(fake, struct asker, blocker);

	set(&asker->blocks);
	await(&asker->ran);
}

static uint64_t ask(struct weir__worker *worker, uint64_t most)
{
	uint64_t n = 0;
	bool yes;

	/* each question is asked by a slice of its own */
	do {
		yes = weir__thread.polls(worker);
		worker->slices++;
		n += yes;
	} while (yes && n < most);
	return n;
}

static void run_asker(struct fake_task *fake)
{
	struct asker *asker = weir_container_of(fake, struct asker, fake);
	struct weir__worker *worker = self();
	uint32_t i;

	for (i = 0; i < asker->n_queued; i++)
		fake_submit(fake->executor, &asker->queued[i]);
	if (asker->beside) {
		fake_submit(&worker->pool->workers[1 - worker->index].executor,
			    &asker->blocker);
		await(&asker->blocks);
	}
	worker->offloads = asker->offloads;
	asker->polls[0] = ask(worker, 1000000);
	asker->arming = ask(worker, 1000000);
	worker->slices++;
	asker->polls[1] = ask(worker, 1000000);
	worker->offloads = false;
	set(&asker->ran);
}

static void asker_run(struct asker *asker)
{
	struct weir_threads *threads =
		make(asker->beside ? 2 : 1, HOUR_NS, WEIR_FOREVER);
	uint32_t i;

	asker->fake.run = run_asker;
	asker->blocker.run = run_blocker;
	for (i = 0; i < 4; i++)
		asker->queued[i].run = run_nothing;
	fake_submit(weir_threads_executor(threads), &asker->fake);
	await(&asker->ran);
	assert_int_equal(weir_threads_free(threads), 0);
	for (i = 0; i < asker->n_queued; i++)
		assert_int_equal(asker->queued[i].runs, 1);
}

static void a_few_actors_are_polled_for_a_while(void **state)
{
	struct asker asker = {.n_queued = 3};

	asker_run(&asker);
	assert_in_range(asker.polls[0], 100, 100000);
	/* for all together: the next one arms as well */
	assert_int_equal(asker.arming, 0);
	/* as long again */
	assert_int_equal(asker.polls[1], asker.polls[0]);
}

static void many_actors_are_not_polled(void **state)
{
	struct asker asker = {.n_queued = 4};

	asker_run(&asker);
	assert_int_equal(asker.polls[0], 0);
}

static void nobody_is_polled_while_another_worker_is_awake(void **state)
{
	struct asker asker = {.beside = true};

	asker_run(&asker);
	assert_int_equal(asker.polls[0], 0);
}

static void nobody_is_polled_where_slices_are_long(void **state)
{
	struct asker asker = {.offloads = true};

	asker_run(&asker);
	assert_int_equal(asker.polls[0], 0);
}

/*
 * Submits one task more than its worker's ring holds, then does what thieves
 * do: takes all that is in the ring.
 */
struct flood {
	struct fake_task fake;
	struct fake_task each[WEIR__RING_SIZE + 1];
	uint32_t stolen, ran;
};

static void run_each(struct fake_task *fake)
{
	struct flood *flood =
		weir_container_of(fake - fake->left, struct flood, each[0]);

	set(&flood->ran);
}

static void run_flood(struct fake_task *fake)
{
	struct flood *flood = weir_container_of(fake, struct flood, fake);
	struct weir__worker *worker = self();
	struct weir_task *tasks[WEIR__RING_SIZE];
	uint32_t i;

	for (i = 0; i <= WEIR__RING_SIZE; i++) {
		flood->each[i].run = run_each;
		flood->each[i].left = i;
		fake_submit(fake->executor, &flood->each[i]);
	}
	for (i = 1; i;) {
		i = weir__ring_steal(&worker->ring, tasks, WEIR__RING_SIZE);
		flood->stolen += i;
	}
	worker->look_at = UINT64_MAX;
}

static void what_found_the_ring_full_runs_when_that_is_robbed(void **state)
{
	static struct flood flood = {.fake.run = run_flood};
	struct weir_threads *threads = make(1, HOUR_NS, WEIR_FOREVER);

	fake_submit(weir_threads_executor(threads), &flood.fake);
	await(&flood.ran);
	assert_int_equal(flood.stolen, WEIR__RING_SIZE);
	assert_int_equal(flood.each[WEIR__RING_SIZE].runs, 1);
	assert_int_equal(weir_threads_free(threads), 0);
}

/* Runs `again` times more and notes what its worker knows the last time. */
struct busy {
	struct fake_task fake;
	void (*act)(struct busy *busy); /* called in run `act_at` */
	uint64_t act_at;
	struct job job;
	uint64_t job_ran_after; /* runs */
	uint64_t pushed;	/* into the worker's ring, ever */
	uint32_t cheap_runs;	/* since one was timed */
	uint32_t ran;
};

static void run_busy(struct fake_task *fake)
{
	struct busy *busy = weir_container_of(fake, struct busy, fake);

	if (fake->runs == busy->act_at)
		busy->act(busy);
	if (!busy->job.fake.runs)
		busy->job_ran_after = fake->runs;
	busy->pushed = self()->ring.tail;
	busy->cheap_runs = weir__thread.runs;
	if (!fake->again)
		set(&busy->ran);
}

static void busy_run(struct busy *busy, struct weir_threads *threads,
		     struct weir_executor *executor)
{
	busy->fake.run = run_busy;
	fake_submit(executor, &busy->fake);
	await(&busy->ran);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void what_is_a_workers_own_does_not_get_into_its_ring(void **state)
{
	struct weir_threads *threads = make(1, HOUR_NS, WEIR_FOREVER);
	struct busy busy = {.fake.again = 100};

	busy_run(&busy, threads, weir_threads_worker(threads, 0));
	assert_int_equal(busy.fake.runs, 101);
	assert_int_equal(busy.pushed, 0);
}

static void come_for_all(struct busy *busy)
{
	busy->job.fake.run = run_job;
	weir__inbox_push(&self()->pool->inbox, &busy->job.fake.task);
}

static void come_for_the_worker(struct busy *busy)
{
	busy->job.fake.run = run_job;
	weir__inbox_push(&self()->inbox, &busy->job.fake.task);
}

static void a_busy_worker_soon_sees_what_comes_from_outside(void **state)
{
	void (*const acts[])(struct busy *) = {come_for_all,
					       come_for_the_worker};
	size_t i;

	for (i = 0; i < 2; i++) {
		struct weir_threads *threads = make(1, HOUR_NS, WEIR_FOREVER);
		struct busy busy = {
			.fake.again = 100,
			.act = acts[i],
			.act_at = 40,
		};

		busy_run(&busy, threads, weir_threads_executor(threads));
		assert_int_equal(busy.job.fake.runs, 1);
		assert_in_range(busy.job_ran_after, 40, 50);
	}
}

static void become_long(struct busy *busy)
{
	weir__thread.runs = 0;
	long_slices(self());
}

static void a_worker_with_long_slices_has_the_next_run_timed(void **state)
{
	struct weir_threads *threads = make(1, HOUR_NS, HOUR_NS);
	struct busy busy = {
		.fake.again = 1,
		.act = become_long,
		.act_at = 1,
	};

	busy_run(&busy, threads, weir_threads_executor(threads));
	assert_int_equal(busy.cheap_runs, WEIR__TIMED_RUNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_actors_are_polled_for_a_while),
		cmocka_unit_test(many_actors_are_not_polled),
		cmocka_unit_test(nobody_is_polled_where_slices_are_long),
		cmocka_unit_test(
			nobody_is_polled_while_another_worker_is_awake),
		cmocka_unit_test(a_second_task_goes_to_who_searches),
		cmocka_unit_test(nothing_is_given_away_where_nobody_searches),
		cmocka_unit_test(a_worker_with_short_slices_keeps_its_tasks),
		cmocka_unit_test(
			half_of_the_queue_is_given_away_after_a_long_slice),
		cmocka_unit_test(
			a_worker_is_woken_when_tasks_wait_behind_long_slices),
		cmocka_unit_test(
			what_found_the_ring_full_runs_when_that_is_robbed),
		cmocka_unit_test(
			what_is_a_workers_own_does_not_get_into_its_ring),
		cmocka_unit_test(
			a_busy_worker_soon_sees_what_comes_from_outside),
		cmocka_unit_test(
			a_worker_with_long_slices_has_the_next_run_timed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
