/* SPDX-License-Identifier: BSD-2-Clause */
/* Clock, memory, CPUs and thread pairs of the measured programs. */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct side {
	void (*run)(void *argument);
	void *argument;
	int cpu;
	unsigned *n_arrived;
	uint64_t start_ns, end_ns;
};

static void die(const char *what)
{
	fprintf(stderr, "weir-bench: %s\n", what);
	exit(1);
}

/* Written before the first thread starts. */
static clockid_t the_clock = CLOCK_MONOTONIC;

void bench_use_cpu_clock(void)
{
	the_clock = CLOCK_PROCESS_CPUTIME_ID;
}

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool bench_uses_cpu_clock(void)
{
	return the_clock != CLOCK_MONOTONIC;
}

uint64_t bench_now_ns(void)
{
	return read_ns(the_clock);
}

uint64_t bench_real_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t bench_thread_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static size_t whole_lines(size_t size)
{
	return (size + BENCH_CACHELINE - 1) & ~(size_t)(BENCH_CACHELINE - 1);
}

void *bench_alloc_raw(size_t size)
{
	void *memory = aligned_alloc(BENCH_CACHELINE, whole_lines(size));

	if (!memory)
		die("out of memory");
	return memory;
}

void *bench_alloc(size_t size)
{
	return memset(bench_alloc_raw(size), 0, whole_lines(size));
}

void bench_free(void *memory)
{
	free(memory);
}

void *bench_map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		die("out of memory");
	return memory;
}

void bench_unmap(void *memory, size_t size)
{
	munmap(memory, size);
}

unsigned bench_n_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		die("cannot read the affinity mask");
	return (unsigned)CPU_COUNT(&set);
}

int bench_cpu(unsigned n)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		die("cannot read the affinity mask");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && n-- == 0)
			return cpu;
	die("not enough allowed CPUs");
	return -1;
}

static void *run_side(void *argument)
{
	struct side *side = argument;

	ck_pr_faa_uint(side->n_arrived, 1);
	while (ck_pr_load_uint(side->n_arrived) < 2)
		ck_pr_stall();
	side->start_ns = bench_now_ns();
	side->run(side->argument);
	side->end_ns = bench_now_ns();
	return NULL;
}

static void start_side(struct side *side, pthread_t *thread)
{
	pthread_attr_t attr;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(side->cpu, &set);
	pthread_attr_init(&attr);
	if (pthread_attr_setaffinity_np(&attr, sizeof(set), &set) != 0 ||
	    pthread_create(thread, &attr, run_side, side) != 0)
		die("cannot start a pinned thread");
	pthread_attr_destroy(&attr);
}

uint64_t bench_pair(void (*a)(void *argument), void (*b)(void *argument),
		    void *argument)
{
	unsigned n_arrived = 0;
	struct side sides[2] = {
		{a, argument, bench_cpu(0), &n_arrived, 0, 0},
		{b, argument, bench_cpu(1), &n_arrived, 0, 0},
	};
	pthread_t threads[2];
	uint64_t start, end;

	start_side(&sides[0], &threads[0]);
	start_side(&sides[1], &threads[1]);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	start = sides[0].start_ns < sides[1].start_ns ? sides[0].start_ns
						      : sides[1].start_ns;
	end = sides[0].end_ns > sides[1].end_ns ? sides[0].end_ns
						: sides[1].end_ns;
	return end - start;
}

bool bench_any_cell(const struct bench_cell *cell)
{
	return true;
}

bool bench_one_worker(const struct bench_cell *cell)
{
	return cell->workers == 1;
}

bool bench_two_workers(const struct bench_cell *cell)
{
	return cell->workers == 2;
}

bool bench_two_cpus(const struct bench_cell *cell)
{
	return bench_n_cpus() >= 2;
}

bool bench_small_window(const struct bench_cell *cell)
{
	return cell->window > 0 && cell->window <= 64 &&
	       (cell->window & (cell->window - 1)) == 0;
}
