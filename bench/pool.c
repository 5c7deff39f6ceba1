/* SPDX-License-Identifier: BSD-2-Clause */
#include "pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

static void note_peak(struct pool *pool, uint64_t bytes)
{
	uint64_t peak = ck_pr_load_64(&pool->peak_bytes);

	while (bytes > peak &&
	       !ck_pr_cas_64_value(&pool->peak_bytes, peak, bytes, &peak))
		;
}

static void *count_alloc(size_t size, void *context)
{
	struct pool *pool = context;
	void *memory = malloc(size);

	if (!memory)
		return NULL;
	ck_pr_inc_64(&pool->n_allocations);
	note_peak(pool, ck_pr_faa_64(&pool->n_bytes, size) + size);
	return memory;
}

static void count_free(void *memory, size_t size, void *context)
{
	struct pool *pool = context;

	ck_pr_sub_64(&pool->n_bytes, size);
	free(memory);
}

static void event(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->n_events++;
	pthread_cond_signal(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

static void await(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	while (pool->n_events == 0)
		pthread_cond_wait(&pool->changed, &pool->lock);
	pool->n_events--;
	pthread_mutex_unlock(&pool->lock);
}

/* An actor that does nothing; its release tells that the threads run. */
struct warmer {
	struct weir_actor actor;
	struct pool *pool;
};

static uint32_t warm_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static void warm_released(struct weir_actor *actor)
{
	event(((struct warmer *)actor)->pool);
}

static const struct weir_actor_ops warm_ops = {
	.name = "warmer",
	.turns = warm_turns,
	.released = warm_released,
};

/* Runs an actor on each of the workers. */
static int warm(struct pool *pool)
{
	uint32_t n = weir_threads_workers(pool->threads);
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		struct warmer warmer = {.pool = pool};

		rc = weir_actor_init(&warmer.actor, &warm_ops,
				     weir_threads_worker(pool->threads, i));
		if (rc == 0)
			rc = weir_actor_start(&warmer.actor);
		if (rc < 0)
			break;
		weir_actor_stop(&warmer.actor);
		await(pool);
	}
	return rc;
}

static int open_pool(struct pool *pool, unsigned n_workers, uint64_t spin_ns,
		     const char *const *cpus)
{
	struct weir_threads_options options = {
		.workers = n_workers,
		.spin_ns = spin_ns,
		.cpus = cpus,
	};
	int rc;

	*pool = (struct pool){
		.allocator = {count_alloc, count_free, pool},
	};
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->changed, NULL);
	options.executor.allocator = &pool->allocator;
	rc = weir_threads_new(&pool->threads, &options);
	if (rc < 0)
		return rc;
	pool->executor = weir_threads_executor(pool->threads);
	rc = warm(pool);
	pool->own_bytes = ck_pr_load_64(&pool->n_bytes);
	if (rc < 0)
		(void)pool_close(pool);
	return rc;
}

int pool_open(struct pool *pool, unsigned n_workers)
{
	return open_pool(pool, n_workers, 0, NULL);
}

int pool_open_spinning(struct pool *pool, unsigned n_workers, uint64_t spin_ns)
{
	return open_pool(pool, n_workers, spin_ns, NULL);
}

int pool_open_bound(struct pool *pool, unsigned n_workers)
{
	char numbers[BENCH_MAX_WORKERS][12];
	const char *cpus[BENCH_MAX_WORKERS];

	for (unsigned i = 0; i < n_workers; i++) {
		(void)snprintf(numbers[i], sizeof(numbers[i]), "%d",
			       bench_cpu(i));
		cpus[i] = numbers[i];
	}
	return open_pool(pool, n_workers, 0, cpus);
}

static void read_counters(struct pool *pool, struct bench_counters *counters)
{
	struct weir_threads_counters c;

	weir_threads_counters(pool->threads, &c);
	*counters = (struct bench_counters){
		.slices = c.slices,
		.steals = c.steals,
		.parks = c.parks,
		.wakes = c.wakes,
		.kernel_calls = c.kernel_calls,
		.locks = c.locks,
		.allocations = ck_pr_load_64(&pool->n_allocations),
	};
}

void pool_start(struct pool *pool)
{
	read_counters(pool, &pool->before);
	pool->start_ns = bench_now_ns();
}

void pool_finished(struct pool *pool)
{
	pool->end_ns = bench_now_ns();
	read_counters(pool, &pool->after);
	event(pool);
}

void pool_wait(struct pool *pool, struct bench_result *result)
{
	const struct bench_counters *before = &pool->before;
	const struct bench_counters *after = &pool->after;

	await(pool);
	result->elapsed_ns = pool->end_ns - pool->start_ns;
	result->counters = (struct bench_counters){
		.slices = after->slices - before->slices,
		.steals = after->steals - before->steals,
		.parks = after->parks - before->parks,
		.wakes = after->wakes - before->wakes,
		.kernel_calls = after->kernel_calls - before->kernel_calls,
		.locks = after->locks - before->locks,
		.allocations = after->allocations - before->allocations,
	};
	result->counted = true;
}

struct closing {
	struct weir_ending drain;
	struct pool *pool;
};

static void closed(struct weir_ending *drain)
{
	event(((struct closing *)drain)->pool);
}

int pool_close(struct pool *pool)
{
	struct closing closing = {.drain = {.done = closed}, .pool = pool};
	int rc = weir_executor_stop_async(pool->executor, &closing.drain,
					  WEIR_FOREVER);

	if (rc == 0) {
		await(pool);
		rc = weir_threads_free(pool->threads);
	}
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->lock);
	return rc;
}
