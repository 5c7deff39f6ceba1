/* SPDX-License-Identifier: BSD-2-Clause */
/* What has been measured, as a table for people or as JSON lines. */
#ifndef WEIR_BENCH_REPORT_H
#define WEIR_BENCH_REPORT_H

#include "bench.h"

/* Everything one who has done in one cell. */
struct report_row {
	const struct bench_who *who;
	uint64_t items; /* in a round */
	/*
	 * A value for each round: the workload's figures, or items per second
	 * in the first. Sorted by report_cell().
	 */
	double *values[BENCH_FIGURES];
	unsigned n_rounds;
	double figures[BENCH_FIGURES]; /* of the last round */
	uint64_t bytes;
	bool counted;
	struct bench_counters counters; /* of the last round */
	bool ok;
};

void report_cell(const struct bench_cell *cell, struct report_row *rows,
		 unsigned n_rows, bool json);

/* --list */
void report_list(void);

/* Says on stderr what is wrong with the result of a who. */
void report_wrong(const struct bench_cell *cell, const struct bench_who *who,
		  const char *what, uint64_t got, uint64_t expected);

#endif
