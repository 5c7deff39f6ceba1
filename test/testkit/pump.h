/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the asynchronous hand-written ends of the test kit's tests run on: jobs,
 * first come, first served, on the thread that pumps.
 */
#ifndef WEIR_TEST_TESTKIT_PUMP_H
#define WEIR_TEST_TESTKIT_PUMP_H

#include "support.h"

struct job {
	void (*run)(struct job *job);
	struct job *next;
	bool queued;
};

struct pump {
	struct job *first, *last;
};

/* A job that is queued stays where it is. */
static inline void pump_submit(struct pump *pump, struct job *job)
{
	if (job->queued)
		return;
	job->queued = true;
	job->next = NULL;
	if (pump->first)
		pump->last->next = job;
	else
		pump->first = job;
	pump->last = job;
}

/* Runs one job, which may submit itself again or be freed; false: none. */
static inline bool pump_step(struct pump *pump)
{
	struct job *job = pump->first;

	if (!job)
		return false;
	pump->first = job->next;
	job->queued = false;
	job->run(job);
	return true;
}

#endif
