/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random graphs of fan-out and fan-in, of which is known what comes out: how
 * many items, and their sum.
 */
#ifndef WEIR_TEST_FLOW_FAN_RANDOM_H
#define WEIR_TEST_FLOW_FAN_RANDOM_H

#include "flow/fan_kit.h"

/* A flow, and what must come out of it. */
struct known {
	struct weir_flow *flow;
	int64_t n, sum;
};

int plus_one(void **item, void *context);
int sum_up(void *const *items, size_t n, void **result, void *context);
struct known random_graph(uint64_t seed);

/* What has come out; for one run at a time. */
struct tally {
	int64_t n, sum;
};

int tally_one(void *item, void *context);

#endif
