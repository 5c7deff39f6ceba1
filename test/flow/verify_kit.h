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
extern uint64_t pace_ns;

/* Of the goods that come to an operator: 0, unless a test says another. */
extern int64_t first_number;

/* Where functions get the bytes that they make; NULL: where all do. */
extern const struct weir_allocator *memory;

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
	/* By itself: the suite of subscribers gives items until it ends. */
	bool ends;
};

/*
 * In a quick run each place, of three at least, has every third row, beginning
 * with that of its number: all of them together have each. Under sanitizers it
 * has every ninth.
 */
size_t rows_step(void);

/* --- Functions, which may fail -------------------------------------------- */

extern struct calling {
	uint32_t calls, fail_at; /* any thread; from 1 on, 0: none */
} calling;

/* 0, or -EDOM in the call that is to fail. */
int called(void);

/* 1, for yes, or as called(). */
int called_and(void);
int pass(void **item, void *context);
int keep(void *item, void *context);

/* An item waits, where time passes. */
struct weir_flow *paced(struct weir_flow *flow);

/*
 * Of what finds its end when it is asked for one item more, and so does not end
 * without demand: it is asked.
 */
struct weir_flow *ahead(struct weir_flow *flow);

/* A run beside the one that is looked at: it gives, or takes. */
struct beside {
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

void beside_start(struct beside *beside, struct weir_flow *flow,
		  struct weir_executor *executor);
void beside_let_go(struct beside *beside);

/* All has come to rest since. */
void beside_fini(struct beside *beside);
struct weir_flow *to_goods(struct weir_flow *numbers,
			   const struct weir_items *items);

/* The old one goes, for the new one. */
int take_newest(void **result, void *item, void *context);
int zero_good(void **result, void *context);

#endif
