/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine: what things cost on the machine at hand, so that the figures of
 * weir-bench can be placed. The rounds of all operations take turns, and each
 * round checks that its operations have happened.
 *
 * Status: 0, 1 if a check failed, 2 for bad arguments.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fence.h"
#include "support.h"

#define ROUNDS 9
#define ROUND_NS UINT64_C(20000000)

/* The first allowed CPUs; on_cpu[1] only if there are two. */
static int on_cpu[2];

/* What the operations work on, a line each. */
static _Alignas(BENCH_CACHELINE) uint64_t word;
static _Alignas(BENCH_CACHELINE) uint64_t zero;
static _Alignas(BENCH_CACHELINE) uint32_t turn;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "machine: %s\n", what);
	exit(1);
}

/* 0 + 1 + ... + (n - 1) modulo 2^64. */
static uint64_t sum_below(uint64_t n)
{
	return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

/*
 * One thread. Each does n operations and says whether what must come of them
 * did. CK's operations are volatile assembly: the compiler can neither leave
 * one out nor make one of two.
 */

static bool store_load(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		ck_pr_store_64(&word, i);
		sum += ck_pr_load_64(&word);
	}
	return sum == sum_below(n);
}

static bool exchange(uint64_t n)
{
	uint64_t sum = 0;

	ck_pr_store_64(&word, 0);
	for (uint64_t i = 1; i <= n; i++)
		sum += ck_pr_fas_64(&word, i);
	return sum == sum_below(n);
}

static bool fetch_add(uint64_t n)
{
	uint64_t sum = 0;

	ck_pr_store_64(&word, 0);
	for (uint64_t i = 0; i < n; i++)
		sum += ck_pr_faa_64(&word, 1);
	return sum == sum_below(n);
}

static bool compare_and_swap(uint64_t n)
{
	uint64_t n_swapped = 0;

	ck_pr_store_64(&word, 0);
	for (uint64_t i = 0; i < n; i++)
		n_swapped += ck_pr_cas_64(&word, i, i + 1);
	return n_swapped == n && ck_pr_load_64(&word) == n;
}

/* A store before the fence and a load after it, as where it is needed. */
static bool fence_memory(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		ck_pr_store_64(&word, i + 1);
		ck_pr_fence_memory();
		sum += ck_pr_load_64(&zero);
	}
	return sum == 0 && ck_pr_load_64(&word) == n;
}

static bool fence_full(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		ck_pr_store_64(&word, i + 1);
		weir__fence_full();
		sum += ck_pr_load_64(&zero);
	}
	return sum == 0 && ck_pr_load_64(&word) == n;
}

/* x + 1 behind a pointer that the compiler does not know. */
static bool call(uint64_t n)
{
	const struct bench_cell one = {.stages = 1};
	bench_stage_fn **stages = bench_stages_new(&one);
	bench_stage_fn *stage = stages[0];
	uintptr_t x = 0;

	for (uint64_t i = 0; i < n; i++)
		x = stage(x);
	bench_free(stages);
	return x == (uintptr_t)n;
}

static bool lock_unlock(uint64_t n)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	uint64_t n_failed = 0;

	for (uint64_t i = 0; i < n; i++) {
		n_failed += pthread_mutex_lock(&mutex) != 0;
		n_failed += pthread_mutex_unlock(&mutex) != 0;
	}
	return n_failed == 0;
}

/* Stored and loaded, so that the pair is not left out. */
static bool malloc_free(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t *memory = malloc(64);

		if (!memory)
			die("out of memory");
		ck_pr_store_64(memory, i);
		sum += ck_pr_load_64(memory);
		free(memory);
	}
	return sum == sum_below(n);
}

static bool read_clock(uint64_t n)
{
	struct timespec first, last = {0};
	uint64_t n_failed = 0;

	clock_gettime(CLOCK_MONOTONIC, &first);
	for (uint64_t i = 0; i < n; i++)
		n_failed += clock_gettime(CLOCK_MONOTONIC, &last) != 0;
	return n_failed == 0 &&
	       (last.tv_sec != first.tv_sec || last.tv_nsec != first.tv_nsec);
}

#if defined(__x86_64__)
static bool read_tsc(uint64_t n)
{
	uint64_t last = __builtin_ia32_rdtsc(), n_back = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t now = __builtin_ia32_rdtsc();

		n_back += now < last;
		last = now;
	}
	return n_back == 0;
}
#endif

static long futex(int operation, uint32_t value)
{
	return syscall(SYS_futex, &turn, operation | FUTEX_PRIVATE_FLAG, value,
		       NULL, NULL, 0);
}

static bool wake_nobody(uint64_t n)
{
	uint64_t n_nobody = 0;

	for (uint64_t i = 0; i < n; i++)
		n_nobody += futex(FUTEX_WAKE, 1) == 0;
	return n_nobody == n;
}

/*
 * Two threads: it is the turn of the one that measures, 0, or of its partner,
 * 1. An operation is a round trip: who has the turn gives it to the other, n
 * times each. Both count.
 */

struct side {
	uint32_t own;
	uint64_t n, n_trips;
	uint64_t n_slept; /* waits that were ended by a wake */
};

static void *spin_side(void *argument)
{
	struct side *side = argument;

	for (; side->n_trips < side->n; side->n_trips++) {
		unsigned n_looks = 0;

		while (ck_pr_load_32(&turn) != side->own)
			if (++n_looks > 4096) /* pausing costs a journey */
				ck_pr_stall();
		ck_pr_store_32(&turn, !side->own);
	}
	return NULL;
}

static void *sleep_side(void *argument)
{
	struct side *side = argument;

	for (; side->n_trips < side->n; side->n_trips++) {
		while (ck_pr_load_32(&turn) != side->own)
			side->n_slept += futex(FUTEX_WAIT, !side->own) == 0;
		ck_pr_store_32(&turn, !side->own);
		futex(FUTEX_WAKE, 1);
	}
	return NULL;
}

/* Whether both have made their trips, and slept at least so many times. */
static bool round_trips(void *(*run)(void *side), int cpu, uint64_t n,
			uint64_t n_slept)
{
	struct side here = {.own = 0, .n = n}, there = {.own = 1, .n = n};
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_pr_store_32(&turn, 0);
	pthread_attr_init(&attr);
	if (pthread_attr_setaffinity_np(&attr, sizeof(set), &set) != 0 ||
	    pthread_create(&thread, &attr, run, &there) != 0)
		die("cannot start a pinned thread");
	pthread_attr_destroy(&attr);
	run(&here);
	pthread_join(thread, NULL);
	return here.n_trips == n && there.n_trips == n &&
	       here.n_slept + there.n_slept >= n_slept;
}

static bool cross_line(uint64_t n)
{
	return round_trips(spin_side, on_cpu[1], n, 0);
}

static bool futex_same_core(uint64_t n)
{
	return round_trips(sleep_side, on_cpu[0], n, n);
}

static bool futex_other_core(uint64_t n)
{
	return round_trips(sleep_side, on_cpu[1], n, n);
}

struct operation {
	const char *name;
	bool (*run)(uint64_t n);
	unsigned cpus;

	uint64_t n; /* in a round */
	double ns[ROUNDS];
	bool ok;
};

static struct operation operations[] = {
	{"store + load", store_load, 1},
	{"exchange", exchange, 1},
	{"fetch-add", fetch_add, 1},
	{"compare-and-swap", compare_and_swap, 1},
	{"full fence (ck_pr_fence_memory)", fence_memory, 1},
	{"full fence (weir__fence_full)", fence_full, 1},
	{"call through a pointer", call, 1},
	{"mutex lock + unlock", lock_unlock, 1},
	{"malloc + free", malloc_free, 1},
	{"clock_gettime", read_clock, 1},
#if defined(__x86_64__)
	{"rdtsc", read_tsc, 1},
#endif
	{"line between two cores, round trip", cross_line, 2},
	{"futex wake nobody waits for", wake_nobody, 1},
	{"futex round trip, same core", futex_same_core, 1},
	{"futex round trip, other core", futex_other_core, 2},
	{0},
};

static uint64_t run_once(struct operation *op)
{
	uint64_t start_ns = bench_now_ns(), ns;

	op->ok = op->run(op->n) && op->ok;
	ns = bench_now_ns() - start_ns;
	return ns > 0 ? ns : 1;
}

/* As many operations as a round has time for, found by trying. */
static void calibrate(struct operation *op)
{
	double grow;

	op->n = 100;
	op->ok = true;
	do {
		grow = (double)ROUND_NS / (double)run_once(op);
		op->n = (uint64_t)((double)op->n * (grow > 10 ? 10 : grow)) + 1;
	} while (grow > 10);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void report(const struct operation *op, bool json)
{
	double median = op->ns[ROUNDS / 2];
	double min = op->ns[0], max = op->ns[ROUNDS - 1];

	if (json)
		printf("{\"name\": \"%s\", \"ns\": %.2f, \"min\": %.2f, "
		       "\"max\": %.2f, \"rounds\": %d, \"ok\": %s}\n",
		       op->name, median, min, max, ROUNDS,
		       op->ok ? "true" : "false");
	else
		printf("%-36s %10.2f %10.2f %10.2f%s\n", op->name, median, min,
		       max, op->ok ? "" : "  WRONG");
}

static void find_cpus(unsigned n_cpus)
{
	cpu_set_t set;

	for (unsigned i = 0; i < n_cpus && i < 2; i++)
		on_cpu[i] = bench_cpu(i);
	CPU_ZERO(&set);
	CPU_SET(on_cpu[0], &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		die("cannot stay on one CPU");
}

/* --json or nothing. */
static bool parse(int argc, char **argv)
{
	const char *usage = "usage: machine [--json]\n"
			    "What operations cost here, in nanoseconds.\n";

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		exit(0);
	}
	if (argc > 2 || (argc == 2 && strcmp(argv[1], "--json") != 0)) {
		fputs(usage, stderr);
		exit(2);
	}
	return argc == 2;
}

int main(int argc, char **argv)
{
	bool json = parse(argc, argv), ok = true;
	unsigned n_cpus = bench_n_cpus();

	find_cpus(n_cpus);
	if (n_cpus < 2)
		fprintf(stderr, "machine: one CPU; nothing crosses cores\n");
	for (struct operation *op = operations; op->name; op++)
		if (op->cpus <= n_cpus)
			calibrate(op);
	for (unsigned i = 0; i < ROUNDS; i++)
		for (struct operation *op = operations; op->name; op++)
			if (op->cpus <= n_cpus)
				op->ns[i] = (double)run_once(op) /
					    (double)op->n;
	if (!json)
		printf("%-36s %10s %10s %10s\n", "nanoseconds", "median", "min",
		       "max");
	for (struct operation *op = operations; op->name; op++) {
		if (op->cpus > n_cpus)
			continue;
		qsort(op->ns, ROUNDS, sizeof(op->ns[0]), compare_doubles);
		report(op, json);
		ok = ok && op->ok;
	}
	return ok ? 0 : 1;
}
