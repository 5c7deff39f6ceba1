/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs that measure the library share: a thread pool whose threads
 * run before the clock starts, counted allocations, and the end of a run, which
 * the consumer tells.
 */
#ifndef WEIR_BENCH_POOL_H
#define WEIR_BENCH_POOL_H

#include <pthread.h>
#include <weir/weir.h>

#include "bench.h"

struct pool {
	struct weir_threads *threads;
	struct weir_executor *executor; /* all workers */
	struct weir_allocator allocator;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned n_events; /* under the lock: what the main thread waits for */
	uint64_t start_ns, end_ns;
	struct bench_counters before, after;
	_Alignas(BENCH_CACHELINE) uint64_t n_allocations;
	uint64_t n_bytes;		/* allocated and not freed */
	uint64_t peak_bytes, own_bytes; /* at most; before there were actors */
};

/* 0 or a negative errno; then there is nothing to close. */
int pool_open(struct pool *pool, unsigned n_workers);
/* With another spin_ns than the default, 0. */
int pool_open_spinning(struct pool *pool, unsigned n_workers, uint64_t spin_ns);
/* The same with each worker bound to a CPU, as the limits' threads are. */
int pool_open_bound(struct pool *pool, unsigned n_workers);

/* Starts the clock; everything has been made, nothing has been started. */
void pool_start(struct pool *pool);
/* From the consumer's `stopped`: ends the clock and the wait. */
void pool_finished(struct pool *pool);
/* Waits for that, and puts time and counters into the result. */
void pool_wait(struct pool *pool, struct bench_result *result);

/* Stops what still lives, waits until all is released, and frees the pool. */
int pool_close(struct pool *pool);

#endif
