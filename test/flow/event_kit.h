/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of signals, readiness, changes and datagrams share: items that
 * are kept while an executor of any kind runs, and runs in which each allocation
 * or each system call fails in turn.
 */
#ifndef WEIR_TEST_FLOW_EVENT_KIT_H
#define WEIR_TEST_FLOW_EVENT_KIT_H

#include "kit/calls.h"
#include "net/kit.h"

#include <string.h>

#include <weir/flow_event.h>

#define TOLD_MAX 4096

/* Items, in the order in which they came. */
struct told {
	void *items[TOLD_MAX];
	uint32_t n; /* atomic; behind the items */
	const struct weir_items *kind;
};

/* A sink that keeps them; `told` is emptied. */
struct weir_flow *tell_of(struct weir_flow *flow, struct told *told,
			  const struct weir_items *kind);
/* Drives until there are `n`. */
void await_told(struct net *net, struct told *told, uint32_t n);
/* Drives until nothing happens any more, without threads of its own. */
void settle(struct net *net);
void drop_told(struct told *told);

/* The error of a run; NULL: it ended well. */
struct weir_error *error_over(struct net *net);
/* It fails on each kind of executor with this code, and this in its message. */
void assert_told_why(struct weir_flow *(*make)(void *context), void *context,
		     int code, const char *message);

/* What fails in turn. `make` gives a flow, and `feed` is called until it returns
 * false, with something new to be told each time. */
struct fallible {
	struct weir_flow *(*make)(void *context);
	bool (*feed)(void *context, uint32_t step);
	void *context;
	const struct weir_items *kind; /* of the items */
};

/* Nothing is lost or left; the run ends with -ENOMEM or well. */
void fail_each_allocation(const struct fallible *fallible);
/* The same with -EIO of each call that the program wraps (see kit/calls.h). */
void fail_each_call(const struct fallible *fallible);

#endif
