/* SPDX-License-Identifier: BSD-2-Clause */
/* Several calls of a function at once, as the tests of that make them. */
#ifndef WEIR_TEST_FLOW_ASYNC_PARALLEL_H
#define WEIR_TEST_FLOW_ASYNC_PARALLEL_H

#include "flow/kit.h"
#include "flow/memory_kit.h"

#define N 8

extern uint64_t n_calls; /* of the function; one thread */
;
extern struct weir_sim *the_sim;

int twice(void **memory, void *context);
int twice_plain(void **item, void *context);

/* Of plain items; *context is the one that it fails for. */
int fails_on(void **item, void *context);
struct weir_flow *parallel(struct weir_flow *flow, size_t n,
			   int (*map)(void **item, void *context),
			   void *context);
struct weir_flow *unordered(struct weir_flow *flow, size_t n,
			    int (*map)(void **item, void *context),
			    void *context);
struct weir_flow_run *parallel_start(struct weir_flow *flow, uint64_t seed,
				     size_t unfused);
int parallel_finish(struct weir_flow_run *run);

/* An executor that runs what it is told to, and when. */
struct idle {
	struct weir_executor executor;
	struct weir_task *tasks[64];
	size_t n;
};

extern const struct weir_executor_ops idle_ops;

void idle_run(struct idle *idle, size_t i);

#endif
