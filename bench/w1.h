/* SPDX-License-Identifier: BSD-2-Clause */
/* The pipeline of W1 with the library, for those who measure something else. */
#ifndef WEIR_BENCH_W1_H
#define WEIR_BENCH_W1_H

#include "pool.h"

struct w1_stage;
struct w1_joint;

/* What joins the stages, and how they loop over turns (W1_CALLS). */
enum w1_how { W1_LINKS, W1_CALLS, W1_STREAMS, W1_REQUESTS };

struct w1 {
	struct pool *pool;
	struct w1_stage *stages;
	struct w1_joint *joints;
	unsigned n;
	enum w1_how how;
};

/*
 * A pool and the cell's pipeline on it, not started. The program ends after an
 * error: no memory is given back.
 */
int w1_open(struct w1 *w1, const struct bench_cell *cell, uint64_t items,
	    enum w1_how how);
/* Before it runs: the i-th stage counts into stats[i], of which there are w1->n. */
int w1_count(const struct w1 *w1, struct weir_stats *stats);
/* Starts it and waits until the consumer has stopped. The pool goes on. */
int w1_run(struct w1 *w1, struct bench_result *result);
int w1_close(struct w1 *w1);

#endif
