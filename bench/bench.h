/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a measured program (a "who") is to the driver. A cell is one setting of
 * a workload; every who that supports a cell runs in it, in turn with the
 * others, and hands back a result that the driver compares with the closed
 * form.
 *
 * A new who is a function in a file that meson.build lists, a prototype in
 * who.h, and in who.c a row for each workload and style that it takes part in.
 * A who of another library (a peer) is also: a program in peers/, which its
 * meson.build builds and names for peer.c; in peer.c the program's entry and
 * the functions that ask it; in peer.h what says which cells it supports; its
 * packages in needs_peers of ../dev; its name in the test bench/peers
 * (test/meson.build); and a line in docs/performance.md.
 */
#ifndef WEIR_BENCH_BENCH_H
#define WEIR_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_CACHELINE 64
#define BENCH_MAX_STAGES 1000
#define BENCH_MAX_WINDOW 65536
#define BENCH_MAX_WORKERS 2
#define BENCH_FIGURES 3

/* Limits and peers of a workload with several styles carry these. */
#define BENCH_STYLE_LIMIT "limit"
#define BENCH_STYLE_PEER "peer"

struct bench_cell {
	const struct bench_workload *workload;
	unsigned stages; /* transformers of W1; 0 elsewhere */
	unsigned window; /* capacity of a ring, or tokens in flight */
	unsigned workers;
};

/* What the library's programs have counted while the clock ran. */
struct bench_counters {
	uint64_t slices, steals, parks, wakes;
	uint64_t kernel_calls, locks, allocations;
};

/*
 * What a run found out. The who clocks itself, so that setting up and tearing
 * down are left out; count, sum and last come from the consumer.
 */
struct bench_result {
	uint64_t elapsed_ns;
	uint64_t count;
	uint64_t sum;
	uint64_t last;	/* only looked at where order is promised */
	uint64_t bytes; /* memory per actor, 0 = not measured */
	/* what the workload's columns say, if it has any */
	double figures[BENCH_FIGURES];
	bool counted; /* `counters` are there */
	struct bench_counters counters;
};

struct bench_workload {
	const char *name;  /* "W1" */
	const char *scene; /* a style that is a cell of its own, or NULL */
	const char *unit;
	unsigned granule;     /* the number of items is a multiple of it */
	uint64_t fixed_items; /* 0: calibrated */
	/* Ended by BENCH_END; NULL: the workload has no such setting. */
	const unsigned *stages, *windows, *workers;
	void (*expect)(const struct bench_cell *cell, uint64_t items,
		       struct bench_result *expected);
	bool ordered; /* last is compared too */
	const char *what;
	/*
	 * Names of the figures that a run hands back, less being better; NULL:
	 * what is measured is the rate.
	 */
	const char *const *columns;
	/* The who that others are compared with; NULL: the best limit. */
	const char *base;
	/* W6: which of n transformers work; NULL: none does */
	bool (*works)(unsigned transformer, unsigned n);
};

#define BENCH_END ((unsigned)-1)

struct bench_who {
	const char *workload;
	const char *style;
	const char *name;
	bool (*supports)(const struct bench_cell *cell);
	/* 0 or a negative errno; called from the main thread only */
	int (*run)(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result);
	bool peer; /* another library: takes part with --peers */
};

/* who.c and workloads.c; both tables end with an entry without a name. */
extern const struct bench_who bench_whos[];
extern const struct bench_workload bench_workloads[];

bool bench_any_cell(const struct bench_cell *cell);
bool bench_one_worker(const struct bench_cell *cell);
bool bench_two_workers(const struct bench_cell *cell);
bool bench_two_cpus(const struct bench_cell *cell);
/* A power of two up to 64. */
bool bench_small_window(const struct bench_cell *cell);

#endif
