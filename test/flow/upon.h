/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators of each kind that can be put upon each other as often as one likes.
 */
#ifndef WEIR_TEST_FLOW_UPON_H
#define WEIR_TEST_FLOW_UPON_H

#include "flow/kit.h"

static int same(void **item, void *context)
{
	return 0;
}

static int same_n(void **items, size_t n, size_t *done, void *context)
{
	return 0;
}

static int with_index(void **item, uint64_t index, void *context)
{
	return 0;
}

static int yes(void *item, void *context)
{
	return 1;
}

static int take_it(void *item, void *context)
{
	return 0;
}

/* Of sums of sums: they may wrap around. */
static int sum(void **result, void *item, void *context)
{
	*(uintptr_t *)result += (uintptr_t)item;
	return 0;
}

static const struct weir_flow_fold_functions adding = {.fold = sum};

static int first_of(void *const *items, size_t n, void **result, void *context)
{
	*result = items[0];
	return 0;
}

static uint64_t weight_of(void *item, void *context)
{
	return 1;
}

static int mend(struct weir_error *error, void **item, void *context)
{
	return 0;
}

static struct weir_error *no_other(struct weir_error *error, void *context)
{
	return NULL;
}

static struct weir_flow *no_flow(struct weir_error *error, void *context)
{
	return NULL;
}

static struct weir_flow *single(void *item, void *context)
{
	return weir_flow_single(item);
}

static struct weir_flow *itself(struct weir_flow *upstream, void *context)
{
	return upstream;
}

static struct weir_flow *tail(void *const *items, size_t n,
			      struct weir_flow *upstream, void *context)
{
	return upstream;
}

static int key_of(void *item, uintptr_t *key, void *context)
{
	*key = 1;
	return 0;
}

static struct weir_flow *of_key(struct weir_flow *upstream, uintptr_t key,
				void *context)
{
	return upstream;
}

#define UPON(name, expression) \
	static struct weir_flow *upon_##name(struct weir_flow *up) \
	{ \
		return expression; \
	}

static struct weir_flow *two(struct weir_flow *(*of)(struct weir_flow *const *,
						     size_t),
			     struct weir_flow *up)
{
	struct weir_flow *both[] = {up, weir_flow_empty()};

	return of(both, 2);
}

static int with_other(void **item, void *newest, void *context)
{
	return 0;
}

static int only_left(void *left, void *right, void **result, void *context)
{
	*result = left;
	return 1;
}

static int only_one(void *left, void *const *rights, size_t n, void **result,
		    void *context)
{
	*result = left;
	return 1;
}

static const struct weir_flow_join_options open = {
	.left_ns = WEIR_FOREVER,
	.right_ns = WEIR_FOREVER,
	.left_max = 1024,
	.right_max = 1,
};

static int smaller(void *a, void *b, void *context)
{
	return ((intptr_t)a > (intptr_t)b) - ((intptr_t)a < (intptr_t)b);
}

/* Of numbers from 1 on. */
static uint64_t from_0(void *item, void *context)
{
	return (uintptr_t)item - 1;
}

static struct weir_flow *at_once(void *item, void *context)
{
	return weir_flow_empty();
}

static int add_none(void **all, void *item, void *context)
{
	return 0;
}

static const struct weir_flow_conflate_functions latest = {.add = add_none};
static const struct weir_flow_intersperse_functions nothing = {0};
static const uint32_t weights[] = {1, 2};
static void *padding[] = {NULL};

/* A hub that stays, another one for each operator of a flow. */
static struct weir_hub *another_hub(void)
{
	static const struct weir_hub_options options = {
		.stays = true, .idle = WEIR_HUB_IDLE_GO_ON};
	static struct weir_hub *hubs[WEIR_FLOW_DEPTH_MAX];
	static size_t n;
	struct weir_hub **hub = &hubs[n++ % WEIR_FLOW_DEPTH_MAX];

	if (!*hub)
		assert_int_equal(weir_hub_new(hub, NULL, &options, NULL), 0);
	return *hub;
}

#define BOTH(up) ((struct weir_flow *[]){up, weir_flow_empty()})

static bool not_this(struct weir_error *error, void *context)
{
	return false;
}

static const struct weir_flow_restart_options once = {.restart_on = not_this};
static const struct weir_flow_rate rate = {.n = 1000000, .per_ns = 1};
static const struct weir_operator_ops own = {.name = "own"};

static int push_it(struct weir_operator *op, void *item)
{
	return weir_operator_push(op, item);
}

static const struct weir_operator_ops running_ahead = {
	.name = "own",
	.on_push = push_it,
	.ahead = true,
};
static const struct weir_flow_peek_functions hooks = {0};
static const struct weir_flow_window_options pairs = {.n = 2};
static const struct weir_flow_delay_options many = {.n = 64,
						    .overflow =
							    WEIR_OVERFLOW_FAIL};

UPON(map, weir_flow_map(up, same, NULL))
UPON(map_n, weir_flow_map_n(up, same_n, NULL))
UPON(index, weir_flow_index(up, with_index, NULL))
UPON(filter, weir_flow_filter(up, yes, NULL))
UPON(distinct, weir_flow_distinct_until_changed(up, NULL, NULL))
UPON(peek, weir_flow_peek(up, &hooks, NULL))
UPON(take, weir_flow_take(up, 5))
UPON(take_while, weir_flow_take_while(up, yes, NULL, false))
UPON(drop, weir_flow_drop(up, 0))
UPON(for_each, weir_flow_for_each(up, take_it, NULL))
UPON(ignore, weir_flow_ignore(up))
UPON(count, weir_flow_count(up))
UPON(last, weir_flow_last(up))
UPON(fold, weir_flow_fold(up, &adding, NULL))
UPON(reduce, weir_flow_reduce(up, sum, NULL))
UPON(scan, weir_flow_scan(up, &adding, NULL))
UPON(grouped, weir_flow_grouped_weighted(up, 1, weight_of, NULL, 9, 0))
UPON(throttle, weir_flow_throttle(up, &rate))
UPON(delay, weir_flow_delay(up, 0, 16))
UPON(delay_with, weir_flow_delay_with(up, &many))
UPON(timeout, weir_flow_idle_timeout(up, WEIR_FOREVER))
UPON(recover, weir_flow_recover(up, mend, NULL))
UPON(map_error, weir_flow_map_error(up, no_other, NULL))
UPON(complete, weir_flow_complete_on_error(up, NULL, NULL))
UPON(retry, weir_flow_retry(up, 1, no_flow, NULL))
UPON(merge, two(weir_flow_merge, up))
UPON(preferred, two(weir_flow_merge_preferred, up))
UPON(all, two(weir_flow_all, up))
UPON(concat, two(weir_flow_concat, up))
UPON(lazy, weir_flow_lazy(up))
UPON(or_else, weir_flow_or_else(up, weir_flow_empty()))
UPON(zip, weir_flow_zip(&up, 1, first_of, NULL))
UPON(async, weir_flow_async(up, 1, NULL))
UPON(buffer, weir_flow_buffer(up, 1, WEIR_OVERFLOW_BACK_PRESSURE))
UPON(demand, weir_flow_limit_rate(up, 1, 0))
UPON(parallel, weir_flow_map_parallel(up, 1, true, same, NULL, NULL))
UPON(own, weir_flow_operator(up, &own, NULL))
UPON(two_inputs,
     weir_flow_operator_inputs((struct weir_flow *[]){up, weir_flow_empty()}, 2,
			       &own, NULL))
UPON(ahead, weir_flow_operator(up, &running_ahead, NULL))
UPON(flat_map, weir_flow_flat_map(up, 1, single, NULL))
UPON(switch_map, weir_flow_switch_map(up, single, NULL))
UPON(around, weir_flow_restart_around(up, itself, NULL, &once))
UPON(group_by, weir_flow_group_by(up, 1, key_of, of_key, NULL, NULL))
UPON(split, weir_flow_split_when(up, yes, itself, NULL))
UPON(window, weir_flow_window(up, &pairs, itself, NULL))
UPON(window_by, weir_flow_window_by(up, weir_flow_never(), itself, NULL))
UPON(prefix, weir_flow_prefix_and_tail(up, 1, tail, NULL))

UPON(distinct_of_all, weir_flow_distinct(up, 8, NULL, NULL, NULL))
UPON(intersperse, weir_flow_intersperse(up, &nothing, NULL))
UPON(take_last, weir_flow_take_last(up, 8))
UPON(drop_last, weir_flow_drop_last(up, 0))
UPON(limit_weighted, weir_flow_limit_weighted(up, 99, weight_of, NULL))
UPON(combine_latest, weir_flow_combine_latest(&up, 1, first_of, NULL))
UPON(with_latest,
     weir_flow_with_latest_from(up, weir_flow_single(NULL), with_other, NULL))
UPON(join, weir_flow_join(up, weir_flow_single(NULL), only_left, NULL, &open))
UPON(group_join,
     weir_flow_group_join(up, weir_flow_empty(), only_one, NULL, &open))
UPON(take_until, weir_flow_take_until(up, weir_flow_never()))
UPON(skip_until, weir_flow_skip_until(up, weir_flow_empty()))
UPON(interleave, weir_flow_interleave(BOTH(up), 2, 1))
UPON(sorted, weir_flow_merge_sorted(BOTH(up), 2, smaller, NULL))
UPON(sequence, weir_flow_merge_sequence(BOTH(up), 2, from_0, NULL))
UPON(prioritized, weir_flow_merge_prioritized(BOTH(up), 2, weights))
UPON(zip_all, weir_flow_zip_all(&up, 1, padding, first_of, NULL))
UPON(amb, weir_flow_amb(&up, 1))
UPON(then, weir_flow_then(up, weir_flow_empty()))
UPON(batch, weir_flow_batch(up, 8, &latest, NULL))
UPON(signals,
     weir_flow_items(weir_flow_dematerialize(weir_flow_materialize(up)), NULL))
UPON(debounce, weir_flow_debounce(up, 1))
UPON(sample, weir_flow_sample(up, 1, true))
UPON(throttle_first, weir_flow_throttle_first(up, 1))
UPON(throttle_latest, weir_flow_throttle_latest(up, 1, true))
UPON(take_within, weir_flow_take_within(up, WEIR_FOREVER))
UPON(drop_within, weir_flow_drop_within(up, 0))
UPON(initial_delay, weir_flow_initial_delay(up, 0))
UPON(keep_alive, weir_flow_keep_alive(up, WEIR_FOREVER, same, NULL))
UPON(back_pressure, weir_flow_backpressure_timeout(up, WEIR_FOREVER))
UPON(partitioned,
     weir_flow_map_parallel_partitioned(up, 1, key_of, NULL, same, NULL, NULL))
UPON(into_hub, weir_flow_into_hub(up, another_hub()))
UPON(ordered, weir_flow_flat_map_ordered(up, 1, 1, single, NULL))
UPON(delay_until, weir_flow_delay_until(up, at_once, NULL))
UPON(also_to, weir_flow_also_to(up, itself, NULL, 16))
UPON(wire_tap, weir_flow_wire_tap(up, itself, NULL, 16))

static struct weir_flow *upon_outlet(struct weir_flow *up)
{
	struct weir_flow *outlet = NULL;

	(void)weir_flow_broadcast(up, 1, &outlet, NULL);
	return outlet;
}

struct kind {
	const char *name;
	struct weir_flow *(*upon)(struct weir_flow *up);
	int levels; /* of one; 0: as many as it makes */
};

#define KIND(name) \
	{ \
#name, upon_##name, 1 \
	}

static const struct kind kinds[] = {
	KIND(map),
	KIND(map_n),
	KIND(index),
	KIND(filter),
	KIND(distinct),
	KIND(peek),
	KIND(take),
	KIND(take_while),
	KIND(drop),
	KIND(for_each),
	KIND(ignore),
	KIND(count),
	KIND(last),
	KIND(fold),
	KIND(reduce),
	KIND(scan),
	KIND(grouped),
	KIND(throttle),
	KIND(delay),
	KIND(delay_with),
	KIND(timeout),
	KIND(recover),
	KIND(map_error),
	KIND(complete),
	KIND(retry),
	KIND(merge),
	KIND(preferred),
	KIND(all),
	KIND(concat),
	KIND(or_else),
	KIND(zip),
	KIND(async),
	KIND(buffer),
	KIND(demand),
	KIND(parallel),
	KIND(own),
	KIND(lazy),
	KIND(distinct_of_all),
	KIND(intersperse),
	KIND(take_last),
	KIND(drop_last),
	KIND(limit_weighted),
	KIND(combine_latest),
	KIND(with_latest),
	KIND(join),
	KIND(group_join),
	KIND(take_until),
	KIND(skip_until),
	KIND(interleave),
	KIND(sorted),
	KIND(sequence),
	KIND(prioritized),
	KIND(zip_all),
	KIND(amb),
	{"then", upon_then, 2},
	KIND(batch),
	KIND(debounce),
	KIND(sample),
	KIND(throttle_first),
	KIND(throttle_latest),
	KIND(take_within),
	KIND(drop_within),
	KIND(initial_delay),
	KIND(keep_alive),
	KIND(back_pressure),
	KIND(partitioned),
	KIND(into_hub),
	{"signals", upon_signals, 2},
	{"also_to", upon_also_to, 4},
	{"wire_tap", upon_wire_tap, 4},
	{"ahead", upon_ahead, 1},
	{"two_inputs", upon_two_inputs, 1},
	{"outlet", upon_outlet, 2},
};

/* Those that put a flow of their own between the ones above and below. */
static const struct kind nesting[] = {
	KIND(flat_map), KIND(switch_map),  KIND(around),    KIND(group_by),
	KIND(split),	KIND(window),	   KIND(window_by), KIND(prefix),
	KIND(ordered),	KIND(delay_until),
};

#define N(array) ((int)(sizeof(array) / sizeof((array)[0])))

struct chain {
	const struct kind *kind;
	int n; /* upon the source */
	int64_t n_items;
	size_t unfused;
	int checked, code; /* what came of it */
};

static inline struct weir_flow *chain_of(const struct chain *chain)
{
	struct weir_flow *flow = weir_flow_range(1, chain->n_items);
	int i;

	for (i = 0; i < chain->n; i++)
		flow = chain->kind->upon(flow);
	return flow;
}

#endif
