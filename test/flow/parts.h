/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of operators share that make flows upon an upstream: what
 * these are made of, and what may fail in them.
 */
#ifndef WEIR_TEST_FLOW_PARTS_H
#define WEIR_TEST_FLOW_PARTS_H

#include <weir/testkit.h>

#include "flow/memory_kit.h"
#include "flow/world.h"

/* The context of all functions of an operator. */
struct parts {
	/* What is composed upon upstream. */
	struct weir_flow *(*compose)(struct weir_flow *up, struct parts *parts);
	bool counted;	   /* they are counted items */
	intptr_t n_keys;   /* the key is the value modulo that */
	intptr_t edge;	   /* each multiple of it is one */
	intptr_t bad;	   /* without key, or neither edge nor none; 0: none */
	intptr_t bad_item; /* flows fail on it; 0: none */
	intptr_t fails_on; /* and on each multiple of this; 0: none */
	intptr_t n_made;   /* so often one was */
	uintptr_t key;	   /* for which the last one was */
	intptr_t n_kept;   /* keys */
	intptr_t n_prefix; /* items that were in front */
};

intptr_t value_of(const struct parts *parts, void *item);
bool is_bad(const struct parts *parts, intptr_t value);
bool fails(const struct parts *parts, intptr_t value);
struct weir_flow *make(struct weir_flow *up, void *context);

/* --- What is composed ----------------------------------------------------- */

struct weir_flow *index_them(struct weir_flow *up, struct parts *parts);
struct weir_flow *first_two(struct weir_flow *up, struct parts *parts);
struct weir_flow *first_alone(struct weir_flow *up, struct parts *parts);
struct weir_flow *count(struct weir_flow *up, struct parts *parts);
struct weir_flow *expand(struct weir_flow *up, struct parts *parts);
struct weir_flow *none(struct weir_flow *up, struct parts *parts);
struct weir_flow *others(struct weir_flow *up, struct parts *parts);
struct weir_flow *recover(struct weir_flow *up, struct parts *parts);

/* --- What fails above ----------------------------------------------------- */

/* 1 to 4, -EPROTO. */
struct weir_flow *failing(void);
enum weir_directive resume(struct weir_error *error, void *context);
enum weir_directive restart(struct weir_error *error, void *context);

/* --- Ends ----------------------------------------------------------------- */

/* Of `n` items, with which it ends: nobody asks for more. */
void assert_ends_without_demand(struct weir_flow *flow, int64_t n);

/* --- Worlds --------------------------------------------------------------- */

extern struct flow_world world;

/* Of counted items; compose upon world.flow, then world_start(). */
void world_counted(struct parts *parts);

/* It does not end by itself. */
void world_cancel(void);

#endif
