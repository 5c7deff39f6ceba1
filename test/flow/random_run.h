/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a plan is run: on a simulator of its own, with a heap whose allocations
 * may fail, beside a gate; and what is checked of the run.
 */
#ifndef WEIR_TEST_FLOW_RANDOM_RUN_H
#define WEIR_TEST_FLOW_RANDOM_RUN_H

#include "flow/random_plan.h"

/* A run of it. */
struct trial {
	struct plan *plan;
	struct flow_world world;
	uint64_t random;
	enum disturbance disturbed; /* that it has been */
	size_t fail;		    /* the allocation that fails; 0: none */
	int code;
};

/* --- What is expected ----------------------------------------------------- */

/* The allocation that was to fail has. */
bool ran_short(const struct trial *trial);

/* --- Running a plan ------------------------------------------------------- */

struct weir_flow *plan_compose(struct plan *plan);
const char *run_once(struct trial *trial, uint64_t seed, size_t unfused,
		     bool disturbed);

#endif
