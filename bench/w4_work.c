/* SPDX-License-Identifier: BSD-2-Clause */
#include "w4_work.h"

#include <dirent.h>
#include <stdlib.h>
#include <time.h>

#include "support.h"

#define PARTS 16u
#define PART_ITEMS 64u

/* The inverse of BENCH_STEP_FACTOR, modulo 2^64. */
#define STEP_BACK ((uintptr_t)UINT64_C(0xc097ef87329e28a5))

/* One of the threads that work. */
struct part {
	unsigned n_steps;
	uint64_t ns[PARTS];
};

uintptr_t w4_work(uintptr_t x, unsigned n_steps)
{
	x = bench_work(x, n_steps / 2);
	for (unsigned i = 0; i < n_steps / 2; i++)
		x = (x - BENCH_STEP_SUMMAND) * STEP_BACK;
	return x;
}

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return 0; /* of a thread that has just ended */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t w4_thread_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* As pthread_getcpuclockid(), of any thread of ours. */
static clockid_t clock_of(long tid)
{
	return (clockid_t)((~(unsigned long)tid << 3) | 6);
}

/*
 * Of all threads. The clock of the process would do, but that learns of threads
 * that run on another CPU only when these are interrupted, every few ms.
 */
uint64_t w4_all_threads_ns(void)
{
	DIR *tasks = opendir("/proc/self/task");
	uint64_t ns = 0;
	struct dirent *task;

	if (!tasks)
		return bench_cpu_ns();
	while ((task = readdir(tasks)))
		if (task->d_name[0] != '.')
			ns += read_ns(clock_of(strtol(task->d_name, NULL, 10)));
	closedir(tasks);
	return ns;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void work(struct part *part)
{
	for (unsigned i = 0; i < PARTS; i++) {
		uint64_t start = w4_thread_ns();

		for (uintptr_t x = 0; x < PART_ITEMS; x++) {
			uintptr_t y = w4_work(x, part->n_steps);

			__asm__ volatile("" : : "r"(y));
		}
		part->ns[i] = w4_thread_ns() - start;
	}
	qsort(part->ns, PARTS, sizeof(part->ns[0]), compare);
}

static void work_first(void *parts)
{
	work(parts);
}

static void work_second(void *parts)
{
	work((struct part *)parts + 1);
}

static double median_ns(const struct part *part)
{
	uint64_t two = part->ns[PARTS / 2] + part->ns[PARTS / 2 - 1];

	return (double)two / 2 / PART_ITEMS;
}

double w4_work_ns(unsigned n_steps, unsigned n_threads)
{
	struct part parts[2] = {{n_steps, {0}}, {n_steps, {0}}};

	if (n_threads == 1) {
		work(parts);
		return median_ns(parts);
	}
	(void)bench_pair(work_first, work_second, parts);
	return (median_ns(&parts[0]) + median_ns(&parts[1])) / 2;
}
