/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command line asks for. */
#ifndef WEIR_BENCH_OPTIONS_H
#define WEIR_BENCH_OPTIONS_H

#include "bench.h"

#define OPTIONS_MAX_LIST 16

/* Empty means: all, or the workload's own. */
struct options_names {
	unsigned n;
	const char *names[OPTIONS_MAX_LIST];
};

struct options_numbers {
	unsigned n;
	unsigned values[OPTIONS_MAX_LIST];
};

struct options {
	struct options_names workloads, styles, whos;
	struct options_numbers stages, windows, workers;
	unsigned rounds;
	uint64_t items;	   /* 0: calibrated */
	unsigned round_ms; /* what calibration aims at */
	bool json, list;
	bool peers;
	bool counters;
	bool cpu_time; /* only cells with one worker, then */
};

/* Ends the program with status 2 and a message if an argument is bad. */
void options_parse(struct options *options, int argc, char **argv);

bool options_has(const struct options_names *names, const char *name);

#endif
