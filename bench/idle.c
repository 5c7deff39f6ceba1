/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Idle: a pool that has worked and has nothing more to do, with 1,000 actors
 * that wait. How long it takes until all workers sleep, what the process uses
 * from then on, and how many system calls the workers make. It is wrong if a
 * worker is woken or a slice run.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "idlers.h"
#include "support.h"
#include "w1.h"
#include "who.h"

#define N_IDLERS 1000
#define IDLE_NS 250000000

static int be_idle(const struct pool *pool, struct bench_result *result)
{
	const struct timespec idle = {.tv_nsec = IDLE_NS};
	struct weir_threads_counters before, after;
	uint64_t start_ns = bench_real_ns(), parked_ns, cpu_ns;
	int rc = idlers_wait_parked(pool);

	if (rc < 0)
		return rc;
	parked_ns = bench_real_ns();
	weir_threads_counters(pool->threads, &before);
	cpu_ns = bench_cpu_ns();
	clock_nanosleep(CLOCK_MONOTONIC, 0, &idle, NULL);
	cpu_ns = bench_cpu_ns() - cpu_ns;
	weir_threads_counters(pool->threads, &after);
	if (after.wakes != before.wakes || after.slices != before.slices) {
		fprintf(stderr, "weir-bench: idle: %llu wakes, %llu slices\n",
			(unsigned long long)(after.wakes - before.wakes),
			(unsigned long long)(after.slices - before.slices));
		return -EBUSY;
	}
	result->figures[0] = (double)cpu_ns * 1e9 / IDLE_NS;
	result->figures[1] = (double)(parked_ns - start_ns);
	result->figures[2] = (double)(after.kernel_calls - before.kernel_calls);
	return 0;
}

int idle_after_work(const struct bench_cell *cell, uint64_t items,
		    struct bench_result *result)
{
	struct idler *idlers;
	struct w1 w1;
	int rc = w1_open(&w1, cell, items, W1_LINKS);

	if (rc == 0)
		rc = idlers_start(&idlers, w1.pool, N_IDLERS);
	if (rc == 0)
		rc = w1_run(&w1, result);
	if (rc == 0)
		rc = be_idle(w1.pool, result);
	if (rc == 0)
		rc = w1_close(&w1);
	if (rc == 0)
		idlers_free(idlers);
	return rc;
}
