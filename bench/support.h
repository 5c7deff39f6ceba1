/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the measured programs share: the clock, memory that does not fail,
 * allowed CPUs, and two pinned threads that start together.
 */
#ifndef WEIR_BENCH_SUPPORT_H
#define WEIR_BENCH_SUPPORT_H

#include <ck_pr.h>
#include <stddef.h>
#include <stdint.h>

#include "bench.h"

/*
 * Monotonic; after bench_use_cpu_clock() the time this process has computed,
 * which means something on a busy machine too, as long as nobody spins: with
 * one worker. Called once, before anything is measured.
 */
uint64_t bench_now_ns(void);
void bench_use_cpu_clock(void);
bool bench_uses_cpu_clock(void);

/* These are what they are, whatever bench_now_ns() is. */
uint64_t bench_real_ns(void);
uint64_t bench_cpu_ns(void);
uint64_t bench_thread_ns(void); /* CPU time of the calling thread */

/*
 * Line-aligned; bench_alloc also clears. They end the program when there is no
 * memory. bench_free takes what they returned, or NULL.
 */
void *bench_alloc(size_t size);
void *bench_alloc_raw(size_t size);
void bench_free(void *memory);

/* Pages that nobody has touched; zero when read. */
void *bench_map(size_t size);
void bench_unmap(void *memory, size_t size);

/* How many CPUs this process may use, and the n-th of them. */
unsigned bench_n_cpus(void);
int bench_cpu(unsigned n);

/*
 * Runs a(argument) and b(argument) on two threads, each pinned to an allowed
 * CPU of its own, and returns the time from the first start to the last end.
 */
uint64_t bench_pair(void (*a)(void *argument), void (*b)(void *argument),
		    void *argument);

/* A function the compiler cannot see through: a transformer. */
typedef uintptr_t bench_stage_fn(uintptr_t x);
/* The cell's, allocated; what they point to is only known at run time. */
bench_stage_fn **bench_stages_new(const struct bench_cell *cell);

/*
 * W6's work: so many steps, each of which needs the result of the one before.
 * bench_steps() is how many take about 1 us on this machine, measured when it
 * is first called, from the main thread.
 */
#define BENCH_STEP_FACTOR ((uintptr_t)6364136223846793005)
#define BENCH_STEP_SUMMAND ((uintptr_t)1442695040888963407)
unsigned bench_steps(void);

static inline uintptr_t bench_work(uintptr_t x, unsigned n_steps)
{
	for (unsigned i = 0; i < n_steps; i++)
		x = x * BENCH_STEP_FACTOR + BENCH_STEP_SUMMAND;
	return x;
}

/* Whether that transformer of the cell works; the others are x + 1. */
bool bench_works(const struct bench_cell *cell, unsigned transformer);
/* How many transformers come before the middle of the cell's work. */
unsigned bench_middle(const struct bench_cell *cell);

/*
 * How a thread waits that has found nothing: a few bare looks first, because
 * the pause instruction costs as much as a line's journey between cores.
 */
static inline void bench_spin(unsigned *n_idle)
{
	if (++*n_idle > 16)
		ck_pr_stall();
}

#endif
