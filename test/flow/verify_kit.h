/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tables of sources, operators and sinks are made of: what flows are
 * goods (stream/verify.h), and functions of theirs fail where a test has told
 * them to.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_KIT_H
#define WEIR_TEST_FLOW_VERIFY_KIT_H

#include "stream/verify.h"

#include <weir/weir.h>

#define HOUR_NS UINT64_C(3600000000000)

/* How long operators about rates and delays let an item wait; in the suites, in
 * which no time passes, not at all. */
static uint64_t pace_ns;

/* Where functions get the bytes that they make; NULL: where all do. */
static const struct weir_allocator *memory;

/* What an operator does to the items that it takes. */
enum effect {
	PASSES,	   /* each comes out, in order, and then the end */
	OVERTAKEN, /* the same, but an error does not wait for them */
	CHANGES,   /* others come out, or more or fewer */
};

struct way {
	const char *name; /* contains those of all operators in it */
	struct weir_flow *(*put_upon)(struct weir_flow *flow,
				      const struct weir_items *items);
	size_t unfused;
	int64_t holds; /* most items in it, besides */
	enum effect effect;
	bool mends; /* errors from upstream */
};

/*
 * In a quick run each place, of three at least, has every third row, beginning
 * with that of its number: all of them together have each.
 */
static inline size_t rows_step(void)
{
	return 3 / test_count(3);
}

/* --- Functions, which may fail -------------------------------------------- */

static struct {
	uint32_t calls, fail_at; /* any thread; from 1 on, 0: none */
} calling;

/* 0, or -EDOM in the call that is to fail. */
static inline int called(void)
{
	return ck_pr_faa_32(&calling.calls, 1) + 1 ==
			       ck_pr_load_32(&calling.fail_at)
		       ? -EDOM
		       : 0;
}

/* 1, for yes, or as called(). */
static inline int called_and(void)
{
	int rc = called();

	return rc < 0 ? rc : 1;
}

static inline int pass(void **item, void *context)
{
	return called();
}
WEIR_FLOW_MAP(pass)

static inline int keep(void *item, void *context)
{
	return called_and();
}

/* An item waits, where time passes. */
static inline struct weir_flow *paced(struct weir_flow *flow)
{
	const struct weir_flow_rate rate = {
		.n = pace_ns ? 1 : UINT32_MAX,
		.per_ns = pace_ns + 1,
	};

	return weir_flow_throttle(flow, &rate);
}

/*
 * Of what finds its end when it is asked for one item more, and so does not end
 * without demand: it is asked.
 */
static inline struct weir_flow *ahead(struct weir_flow *flow)
{
	return weir_flow_async(flow, 4, NULL);
}

/* A run beside the one that is looked at: it gives, or takes. */
struct beside {
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

static inline void beside_start(struct beside *beside, struct weir_flow *flow,
				struct weir_executor *executor)
{
	beside->flow = flow;
	assert_int_equal(weir_flow_start(flow, executor, NULL, &beside->run),
			 0);
}

static inline void beside_let_go(struct beside *beside)
{
	weir_flow_run_stop(beside->run, NULL);
}

/* All has come to rest since. */
static inline void beside_fini(struct beside *beside)
{
	if (beside->run)
		assert_int_equal(weir_flow_run_wait(beside->run, 0, NULL, NULL),
				 0);
	weir_flow_run_free(beside->run);
	weir_flow_free(beside->flow);
}

/* Of a number: a good. */
static int make_good(void **item, void *context)
{
	int rc = called();

	if (rc == 0)
		*item = goods_make(context, (int64_t)(intptr_t)*item);
	return rc;
}

static struct weir_flow *to_goods(struct weir_flow *numbers,
				  const struct weir_items *items)
{
	return weir_flow_items(
		weir_flow_map(numbers, make_good, items->context), items);
}

/* The old one goes, for the new one. */
static int take_newest(void **result, void *item, void *context)
{
	int rc = called();

	if (rc == 0) {
		goods_drop(*result, context);
		*result = item;
	}
	return rc;
}

static int zero_good(void **result, void *context)
{
	int rc = called();

	if (rc == 0)
		*result = goods_make(context, -1);
	return rc;
}

#endif
