/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of operators share that make flows upon an upstream: what
 * these are made of, and what may fail in them.
 */
#ifndef WEIR_TEST_FLOW_PARTS_H
#define WEIR_TEST_FLOW_PARTS_H

#include <weir/testkit.h>

#include "flow/memory.h"
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

static inline intptr_t value_of(const struct parts *parts, void *item)
{
	return parts->counted ? ((struct item *)item)->value : (intptr_t)item;
}

static inline bool is_bad(const struct parts *parts, intptr_t value)
{
	return parts->bad && value == parts->bad;
}

static inline bool fails(const struct parts *parts, intptr_t value)
{
	return (parts->bad_item && value == parts->bad_item) ||
	       (parts->fails_on && value % parts->fails_on == 0);
}

static inline struct weir_flow *make(struct weir_flow *up, void *context)
{
	struct parts *parts = context;

	parts->n_made++;
	return parts->compose(up, parts);
}

/* --- What is composed ----------------------------------------------------- */

/* What is 100 more for each item before it. */
static inline int add_index(void **item, uint64_t index, void *context)
{
	struct parts *parts = context;
	intptr_t value = value_of(parts, *item);

	if (fails(parts, value))
		return -EDOM;
	value += 100 * (intptr_t)index;
	if (parts->counted)
		((struct item *)*item)->value = value;
	else
		*item = (void *)value;
	return 0;
}

static inline struct weir_flow *index_them(struct weir_flow *up,
					   struct parts *parts)
{
	return weir_flow_index(up, add_index, parts);
}

static inline struct weir_flow *first_two(struct weir_flow *up,
					  struct parts *parts)
{
	return weir_flow_take(index_them(up, parts), 2);
}

static inline struct weir_flow *first_alone(struct weir_flow *up,
					    struct parts *parts)
{
	return weir_flow_take(up, 1);
}

static inline struct weir_flow *count(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_count(index_them(up, parts));
}

static inline int three_of_each(void *item, uint64_t i, void **out,
				void *context)
{
	*out = (void *)((intptr_t)item * 10 + (intptr_t)i);
	return i < 3;
}

static inline struct weir_flow *expand(struct weir_flow *up,
				       struct parts *parts)
{
	return weir_flow_map_concat(up, three_of_each, parts);
}

static inline struct weir_flow *none(struct weir_flow *up, struct parts *parts)
{
	weir_flow_free(up);
	return NULL;
}

static inline struct weir_flow *others(struct weir_flow *up,
				       struct parts *parts)
{
	weir_flow_free(up);
	return weir_flow_range(70, 71);
}

static inline int put_99(struct weir_error *error, void **item, void *context)
{
	assert_int_equal(error->code, -EPROTO);
	*item = (void *)99;
	return 1;
}

static inline struct weir_flow *recover(struct weir_flow *up,
					struct parts *parts)
{
	return weir_flow_recover(up, put_99, NULL);
}

/* --- What fails above ----------------------------------------------------- */

static inline int is_five(void **item, void *context)
{
	return (intptr_t)*item == 5 ? -EPROTO : 0;
}

/* 1 to 4, -EPROTO. */
static inline struct weir_flow *failing(void)
{
	return weir_flow_map(weir_flow_range(1, 9), is_five, NULL);
}

static inline enum weir_directive resume(struct weir_error *error,
					 void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static inline enum weir_directive restart(struct weir_error *error,
					  void *context)
{
	return WEIR_DIRECTIVE_RESTART;
}

/* --- Ends ----------------------------------------------------------------- */

/* Of `n` items, with which it ends: nobody asks for more. */
static inline void assert_ends_without_demand(struct weir_flow *flow, int64_t n)
{
	const struct weir_subscriber_probe_options options = {
		.request_first = n,
		.drops = true,
	};
	struct weir_sim *sim = sim_new(1);
	struct weir_test_env env = weir_test_env_sim(sim);
	struct weir_subscriber_probe *probe;

	assert_int_equal(weir_subscriber_probe_new(&probe, &env, &options), 0);
	flow = weir_flow_into(flow, weir_subscriber_probe_base(probe));
	assert_int_equal(
		weir_flow_start(flow, weir_sim_executor(sim), NULL, NULL), 0);
	assert_true(weir_subscriber_probe_expect_subscription(probe));
	assert_true(weir_subscriber_probe_expect_next_n(probe, n));
	assert_true(weir_subscriber_probe_expect_complete(probe));
	assert_int_equal(weir_subscriber_probe_free(probe), 0);
	weir_sim_run(sim);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* --- Worlds --------------------------------------------------------------- */

static struct world world;

/* Of counted items; compose upon world.flow, then world_start(). */
static inline void world_counted(struct parts *parts)
{
	parts->counted = true;
	world_init(&world, &counted_items);
	world.got.counted = true;
}

/* It does not end by itself. */
static inline void world_cancel(void)
{
	weir_flow_run_stop(world.run, NULL);
	world_end(&world, -ECANCELED);
}

#endif
