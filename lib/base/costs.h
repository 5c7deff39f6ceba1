/* SPDX-License-Identifier: BSD-2-Clause */
/* What the calling thread costs: it alone counts, others may read that. */
#ifndef WEIR_BASE_COSTS_H
#define WEIR_BASE_COSTS_H

#include <stdint.h>

#include <ck_pr.h>

/* Counts of what costs an executor's thread more than a token may. */
struct weir__costs {
	uint64_t kernel_calls; /* not those that start threads */
	uint64_t locks;	       /* a struct weir__lock was taken */
};

/* Where this thread counts; NULL: nobody wants to know. */
extern __thread struct weir__costs *weir__costs
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* relaxed: the thread alone writes them; readers want a snapshot */
static inline void weir__costs_kernel_call(void)
{
	struct weir__costs *costs = weir__costs;

	if (costs)
		ck_pr_store_64(&costs->kernel_calls, costs->kernel_calls + 1);
}

static inline void weir__costs_lock(void)
{
	struct weir__costs *costs = weir__costs;

	if (costs)
		ck_pr_store_64(&costs->locks, costs->locks + 1);
}

#endif
