/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of flows share: a flow is run on a simulator, fused and with
 * boundaries between all of its operators, and what comes out is compared; and
 * items that are counted, so that each is delivered or dropped exactly once.
 */
#ifndef WEIR_TEST_FLOW_KIT_H
#define WEIR_TEST_FLOW_KIT_H

#include "support.h"

#include <errno.h>
#include <string.h>

#include <weir/weir.h>

#define OUT_MAX 4096

/* --- Items that are counted ----------------------------------------------- */

struct item {
	intptr_t value;
	uint32_t refs;
};

/* Those that nobody has dropped; atomic. */
extern int64_t n_live;

struct item *item_new(intptr_t value);
void item_drop(void *dropped, void *context);
int item_share(void *shared, void *context);

extern const struct weir_items counted_items;

int to_item(void **item, void *context);

/* What comes out of `flow` are counted items with its values. */
struct weir_flow *counted(struct weir_flow *flow);

/* --- What comes out ------------------------------------------------------- */

/* Set all of it, or what is wanted, to zero first. */
struct got {
	intptr_t values[OUT_MAX];
	size_t n;
	bool counted; /* they are counted items, and are dropped here */
	int code;     /* what the run said */
};

int got_one(void *item, void *context);

/* --- Running -------------------------------------------------------------- */

/*
 * Runs the flow, which has a sink at its end, on a simulator until nothing is
 * left to do. The code of its error, or 0; -EDEADLK if it has not come to an
 * end.
 */
int run_on_sim(struct weir_flow *flow, uint64_t seed, size_t unfused);

/* The error that a run of the flow ends with; frees it. */
struct weir_error *error_of(struct weir_flow *flow);

/* Puts a for_each upon the flow, whose outcome is in *got; see run_on_sim(). */
struct weir_flow *into(struct weir_flow *flow, struct got *got);
void assert_got(const struct got *got, const intptr_t *expected, size_t n,
		int code);

/*
 * Runs `flow` fused and cut everywhere, on several seeds each: every time these
 * `n` values come out, in this order, and it ends with `code`; no counted item
 * is left. Frees it. With `is_counted` they are counted items.
 */
void assert_flow(struct weir_flow *flow, bool is_counted,
		 const intptr_t *expected, size_t n, int code);

/*
 * Cancels runs of `flow`, cut in several ways, each after a few steps: no
 * counted item is left. Frees it.
 */
void assert_cancel(struct weir_flow *flow);

#define ASSERT_FLOW(flow, code, ...) \
	do { \
		static const intptr_t expected_[] = {__VA_ARGS__}; \
\
		assert_flow(flow, false, expected_, \
			    sizeof(expected_) / sizeof(*expected_), code); \
	} while (0)

#define ASSERT_COUNTED_FLOW(flow, code, ...) \
	do { \
		static const intptr_t expected_[] = {__VA_ARGS__}; \
\
		assert_flow(counted(flow), true, expected_, \
			    sizeof(expected_) / sizeof(*expected_), code); \
	} while (0)

/* It says so, and is not started. Frees it. */
void assert_misfit(struct weir_flow *flow, const char *origin,
		   const char *message);

/* Failed flows all, which are freed. */
void assert_refused_all(struct weir_flow *const *flows, size_t n);

#endif
