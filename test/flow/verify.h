/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the suites of flows at publishers and subscribers share: the table of
 * operators that let each item pass, in order. To hold one more to the rules is
 * to add its line.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_H
#define WEIR_TEST_FLOW_VERIFY_H

#include "stream/verify.h"

#include <weir/weir.h>

struct way {
	const char *name;
	struct weir_flow *(*put_upon)(struct weir_flow *flow,
				      const struct weir_items *items);
	size_t unfused;
	int64_t holds; /* most items in it, besides */
};

static int pass(void **item, void *context)
{
	return 0;
}

static int keep(void *item, void *context)
{
	return 1;
}

static struct weir_flow *upon_nothing(struct weir_flow *flow,
				      const struct weir_items *items)
{
	return flow;
}

static struct weir_flow *upon_map_and_filter(struct weir_flow *flow,
					     const struct weir_items *items)
{
	return weir_flow_filter(weir_flow_map(flow, pass, NULL), keep, NULL);
}

static struct weir_flow *upon_async(struct weir_flow *flow,
				    const struct weir_items *items)
{
	return weir_flow_async(flow, 4, NULL);
}

static struct weir_flow *upon_buffer(struct weir_flow *flow,
				     const struct weir_items *items)
{
	return weir_flow_buffer(flow, 8, WEIR_FLOW_BACK_PRESSURE);
}

static struct weir_flow *upon_limit(struct weir_flow *flow,
				    const struct weir_items *items)
{
	return weir_flow_limit(weir_flow_drop(flow, 0), INT64_MAX);
}

static struct weir_flow *upon_take_while(struct weir_flow *flow,
					 const struct weir_items *items)
{
	return weir_flow_take_while(flow, keep, false, NULL);
}

static struct weir_flow *upon_demand(struct weir_flow *flow,
				     const struct weir_items *items)
{
	return weir_flow_demand(flow, 5, 2);
}

static struct weir_flow *upon_timeout(struct weir_flow *flow,
				      const struct weir_items *items)
{
	return weir_flow_completion_timeout(flow, UINT64_MAX / 4);
}

static struct weir_flow *no_items(const struct weir_items *items)
{
	return weir_flow_items(weir_flow_empty(), items);
}

static struct weir_flow *upon_merge(struct weir_flow *flow,
				    const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, no_items(items)};

	return weir_flow_merge(both, 2);
}

static struct weir_flow *upon_merge_of_actors(struct weir_flow *flow,
					      const struct weir_items *items)
{
	struct weir_flow *both[] = {
		weir_flow_async(flow, 4, NULL),
		weir_flow_async(no_items(items), 4, NULL),
	};

	return weir_flow_merge(both, 2);
}

static struct weir_flow *upon_concat(struct weir_flow *flow,
				     const struct weir_items *items)
{
	struct weir_flow *both[] = {flow, no_items(items)};

	return weir_flow_prepend(weir_flow_concat(both, 2), no_items(items));
}

static struct weir_flow *upon_map_parallel(struct weir_flow *flow,
					   const struct weir_items *items)
{
	return weir_flow_map_parallel(flow, 2, WEIR_ORDERED, pass, NULL, NULL);
}

static const struct way ways[] = {
	{"nothing", upon_nothing, 0, 0},
	{"map, filter", upon_map_and_filter, 0, 0},
	{"unfused", upon_map_and_filter, 4, 12},
	{"async", upon_async, 0, 4},
	{"buffer", upon_buffer, 0, 8},
	{"demand", upon_demand, 0, 5},
	{"drop, limit", upon_limit, 0, 0},
	{"take_while", upon_take_while, 0, 0},
	{"completion_timeout", upon_timeout, 0, 0},
	{"merge", upon_merge, 0, 0},
	{"merge of actors", upon_merge_of_actors, 0, 4},
	{"concat, prepend", upon_concat, 0, 0},
	{"map_parallel", upon_map_parallel, 0, 16},
};

#define N_WAYS (sizeof(ways) / sizeof(*ways))

/* Runs `verify` for each way on each executor. */
static inline void each_way(struct place *place,
			    void (*verify)(struct place *place,
					   const struct way *way,
					   const char *what))
{
	char what[64];

	for (size_t i = 0; i < N_WAYS; i++) {
		snprintf(what, sizeof(what), "%s, seed %u", ways[i].name,
			 place->sim ? (unsigned)weir_sim_seed(place->sim) : 0);
		verify(place, &ways[i], what);
	}
	place_fini(place);
}

static inline void on_simulators(uint64_t n_seeds,
				 void (*verify)(struct place *place,
						const struct way *way,
						const char *what))
{
	struct place place;

	for (uint64_t seed = 1; seed <= test_count(n_seeds); seed++) {
		place_sim(&place, seed);
		each_way(&place, verify);
	}
}

static inline void on_a_loop(void (*verify)(struct place *place,
					    const struct way *way,
					    const char *what))
{
	struct place place;

	place_loop(&place);
	each_way(&place, verify);
}

static inline void on_threads(uint64_t n_rounds,
			      void (*verify)(struct place *place,
					     const struct way *way,
					     const char *what))
{
	struct place place;

	for (uint64_t round = 0; round < test_count(n_rounds); round++) {
		place_threads(&place);
		each_way(&place, verify);
	}
}

#endif
