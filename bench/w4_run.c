/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a job waits for its worker in a pool that has nothing else to do:
 * from the call of weir_pool_run() in the main thread to the worker's start.
 *
 * `weir`: a job every ms, so everybody sleeps. `weir.awake`: the next job when
 * the last one's place is free, while the pool's threads still look for work.
 * L1.park0: a thread that sleeps on a futex gets a number, every ms. No thread
 * is bound to a CPU, so the woken one may run where the main thread does.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <weir/worker_pool.h>

#include "histogram.h"
#include "pool.h"
#include "sleeper.h"
#include "who.h"

#define INTERVAL_NS UINT64_C(1000000)

struct run {
	struct weir_actor worker;
	struct pool pool;
	uint64_t job, put_ns;
	uint64_t count, sum;
	struct histogram ages;
	/* the job has ended; also the limit's, which has got one */
	_Alignas(BENCH_CACHELINE) uint32_t done;
	struct sleeper sleeper;
	uint32_t has_job;
};

static void begin_job(struct run *run)
{
	histogram_add(&run->ages, bench_real_ns() - run->put_ns);
	run->count++;
	run->sum += run->job;
}

static void end_job(struct run *run)
{
	/* release: what it has noted; pairs with the acquire in await_job() */
	ck_pr_fence_release();
	ck_pr_store_32(&run->done, 1);
}

static void await_job(struct run *run)
{
	unsigned n_idle = 0;

	while (!ck_pr_load_32(&run->done))
		bench_spin(&n_idle);
	ck_pr_fence_acquire();
	run->done = 0;
}

static void pace(const struct run *run, uint64_t interval_ns)
{
	while (bench_real_ns() - run->put_ns < interval_ns)
		ck_pr_stall();
}

static void finish(const struct run *run, struct bench_result *result)
{
	result->count = run->count;
	result->sum = run->sum;
	result->figures[0] = histogram_percentile(&run->ages, 0.5);
	result->figures[1] = histogram_percentile(&run->ages, 0.99);
	result->figures[2] = histogram_percentile(&run->ages, 0.999);
}

/* --- The library ---------------------------------------------------------- */

static struct run *run_of(struct weir_actor *worker)
{
	return weir_container_of(worker, struct run, worker);
}

static uint32_t no_turns(struct weir_actor *worker, uint32_t n)
{
	return n;
}

static int worker_starts(struct weir_actor *worker)
{
	begin_job(run_of(worker));
	return weir_actor_end(worker);
}

static void worker_released(struct weir_actor *worker)
{
	end_job(run_of(worker));
}

static const struct weir_lifecycle worker_life = {.pre_start = worker_starts};
static const struct weir_actor_ops worker_ops = {
	.name = "worker",
	.turns = no_turns,
	.released = worker_released,
	.lifecycle = &worker_life,
};

static int make(void *job, struct weir_actor **worker, void *context)
{
	struct run *run = job;

	*worker = &run->worker;
	return weir_actor_init(*worker, &worker_ops, run->pool.executor);
}

/* The place of the last job is free again. */
static bool is_idle(struct weir_pools *pools)
{
	struct weir_pool_counts counts;

	return weir_pool_counts(pools, "w4", &counts) == 0 &&
	       counts.free == counts.limit;
}

static int run_jobs(struct run *run, struct weir_pools *pools, uint64_t items,
		    uint64_t interval_ns)
{
	int rc = 0;

	for (run->job = 0; run->job < items && rc == 0; run->job++) {
		pace(run, interval_ns);
		run->put_ns = bench_real_ns();
		rc = weir_pool_run(pools, "w4", run, NULL);
		if (rc == 0)
			await_job(run);
		while (rc == 0 && !is_idle(pools))
			ck_pr_stall();
	}
	return rc;
}

static int in_pool(const struct bench_cell *cell, uint64_t items,
		   uint64_t interval_ns, struct bench_result *result)
{
	const struct weir_pool_options options = {
		.name = "w4",
		.limit = cell->window,
		.make = make,
	};
	struct run *run = bench_alloc(sizeof(*run));
	struct weir_system *system = NULL;
	struct weir_pools *pools = NULL;
	int rc = pool_open(&run->pool, cell->workers);

	if (rc == 0)
		rc = weir_system_new(&system, run->pool.executor, NULL);
	if (rc == 0)
		rc = weir_pools_new(&pools, system, NULL);
	if (rc == 0)
		rc = weir_pool_start(pools, &options);
	result->elapsed_ns = bench_now_ns();
	if (rc == 0)
		rc = run_jobs(run, pools, items, interval_ns);
	result->elapsed_ns = bench_now_ns() - result->elapsed_ns;
	if (rc < 0)
		return rc; /* the program ends: no memory is given back */
	weir_system_stop(system);
	rc = weir_completion_wait(weir_system_terminated(system), WEIR_FOREVER);
	if (rc == 0)
		rc = weir_pools_free(pools);
	if (rc == 0)
		rc = weir_system_free(system);
	if (rc == 0)
		rc = pool_close(&run->pool);
	finish(run, result);
	bench_free(run);
	return rc;
}

int w4_run_parked(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	return in_pool(cell, items, INTERVAL_NS, result);
}

int w4_run_awake(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	return in_pool(cell, items, 0, result);
}

/* --- The limit ------------------------------------------------------------ */

struct limit {
	struct run run;
	uint64_t items;
};

static bool has_job(void *argument)
{
	return ck_pr_load_32(&((struct run *)argument)->has_job) != 0;
}

static void put(struct limit *limit)
{
	struct run *run = &limit->run;

	for (uint64_t i = 0; i < limit->items; i++) {
		pace(run, INTERVAL_NS);
		run->job = i;
		run->put_ns = bench_real_ns();
		/* release: the job */
		ck_pr_fence_release();
		ck_pr_fas_32(&run->has_job, 1);
		/* pairs with the fence in sleeper_wait() */
		ck_pr_fence_atomic_load();
		sleeper_wake(&run->sleeper);
		await_job(run);
	}
}

static void *take(void *argument)
{
	struct limit *limit = argument;
	struct run *run = &limit->run;

	for (uint64_t i = 0; i < limit->items; i++) {
		sleeper_wait(&run->sleeper, has_job, run);
		/* acquire: the job */
		ck_pr_fence_acquire();
		run->has_job = 0;
		begin_job(run);
		end_job(run);
	}
	return NULL;
}

int w4_run_park0(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	struct limit *limit = bench_alloc(sizeof(*limit));
	pthread_t thread;

	limit->items = items;
	if (pthread_create(&thread, NULL, take, limit) != 0)
		return -EAGAIN; /* the program ends */
	result->elapsed_ns = bench_now_ns();
	put(limit);
	pthread_join(thread, NULL);
	result->elapsed_ns = bench_now_ns() - result->elapsed_ns;
	finish(&limit->run, result);
	bench_free(limit);
	return 0;
}
