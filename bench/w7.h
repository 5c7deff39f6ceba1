/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEIR_BENCH_W7_H
#define WEIR_BENCH_W7_H

#include "bench.h"

struct net;

/* Runs a cell of W7, W8 or W9 by run(net, with), and has its figures. */
int w7_run(const struct bench_cell *cell, uint64_t items,
	   int (*run)(struct net *net, const void *with), const void *with,
	   struct bench_result *result);

#endif
