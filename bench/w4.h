/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W4: jobs of about 1 us through a queue of 1024, of which at most the window
 * are under way. There are as many jobs as the queue holds; when one has ended
 * it queues again, until all items are done. Job j does the items j, j + 1024,
 * and so on, and keeps their count and sum, so that the programs measured share
 * nothing but what they are measured for.
 *
 * The overhead is the CPU time of the process less that of the work, which is
 * measured just before, on as many threads.
 */
#ifndef WEIR_BENCH_W4_H
#define WEIR_BENCH_W4_H

#include "bench.h"
#include "support.h"
#include "w4_work.h"

struct w4 {
	uint64_t items;
	unsigned n_steps;
	double work_ns;	 /* of an item */
	uint64_t cpu_ns; /* of all threads; atomic */
	/* atomic: jobs that will queue again */
	_Alignas(BENCH_CACHELINE) uint32_t left;
};

/* The head of a program's own; one at a time has it. */
struct w4_job {
	struct w4 *w4;
	uint64_t next;
	uint64_t count, sum;
};

/* Measures the work. */
void w4_init(struct w4 *w4, const struct bench_cell *cell, uint64_t items);
/* False: there are fewer items than jobs, and none for this one. */
bool w4_job_init(struct w4_job *job, struct w4 *w4, unsigned i);
/*
 * Around what is measured by threads that are there before and after; others
 * add their own to cpu_ns.
 */
void w4_start(struct w4 *w4);
void w4_end(struct w4 *w4);
/* Once all have ended; the time is the program's. */
void w4_add(const struct w4_job *job, struct bench_result *result);
void w4_figures(const struct w4 *w4, struct bench_result *result);

static inline void w4_do(struct w4_job *job)
{
	job->sum += w4_work(job->next, job->w4->n_steps);
	job->count++;
	job->next += W4_QUEUE;
}

/* After w4_do(): it queues again. */
static inline bool w4_goes_on(const struct w4_job *job)
{
	return job->next < job->w4->items;
}

/* It does not. True: this was the last one. */
static inline bool w4_ends(const struct w4_job *job)
{
	/* full fence: the last one's reader sees the others' sums */
	return ck_pr_faa_32(&job->w4->left, (uint32_t)-1) == 1;
}

#endif
