/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs that fail, and the names in their errors. */
#ifndef WEIR_TEST_FLOW_NAMES_H
#define WEIR_TEST_FLOW_NAMES_H

#include "flow/kit.h"

static inline int map_fails(void **item, void *context)
{
	return -EDOM;
}

static inline struct weir_flow *nine(void)
{
	return weir_flow_range(1, 9);
}

static inline struct weir_flow_run *start_on(struct weir_sim *on,
					     struct weir_flow *flow,
					     size_t unfused)
{
	const struct weir_flow_run_options options = {.unfused = unfused};
	struct weir_flow_run *run;

	assert_int_equal(weir_flow_start(flow, weir_sim_executor(on), &options,
					 &run),
			 0);
	return run;
}

/* Its error has this code and origin. */
static inline void assert_fails(struct weir_flow_run *run, int code,
				const char *origin)
{
	struct weir_error *error;

	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	assert_non_null(error);
	assert_string_equal(error->origin, origin);
	assert_int_equal(error->code, code);
	weir_error_unref(error);
	weir_flow_run_free(run);
}

static inline struct weir_flow *failing_map(void)
{
	return weir_flow_map(nine(), map_fails, NULL);
}

#endif
