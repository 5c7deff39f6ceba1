/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W2: 4 producers, merged, and balanced over 4 consumers. The limit is one ring
 * that is crossed in batches: each producer fills one in turn, each consumer
 * takes one in turn. With the library it is a flow of 9 actors: producers,
 * what merges and balances, consumers.
 */
#include "lane.h"
#include "pool.h"
#include "support.h"
#include "who.h"

#define SIDES 4

/* A line each: they may be used by different threads. */
struct side {
	_Alignas(BENCH_CACHELINE) uint64_t next;
	struct bench_result got;
};

static uint64_t sum_of(void *const *items, size_t n)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += (uintptr_t)items[i];
	return sum;
}

static void add_up(const struct side *sides, struct bench_result *result)
{
	for (unsigned s = 0; s < SIDES; s++) {
		result->count += sides[s].got.count;
		result->sum += sides[s].got.sum;
	}
}

/* --- The limit --------------------------------------------------------------- */

struct w2 {
	uint64_t items; /* of all producers together */
	struct lane lane;
	struct side sides[SIDES];
	_Alignas(BENCH_CACHELINE) uint64_t put;
	unsigned producer;
	_Alignas(BENCH_CACHELINE) uint64_t taken;
	unsigned consumer;
};

static uint64_t produce(struct w2 *w2)
{
	struct side *side = &w2->sides[w2->producer++ % SIDES];
	struct lane *lane = &w2->lane;
	uint64_t left = w2->items / SIDES - side->next;
	uint64_t n = lane_room_batch(lane), put = lane->put;
	uint64_t mask = lane->put_mask;
	uintptr_t x = side->next;

	if (n > left)
		n = left;
	for (uint64_t i = 0; i < n; i++)
		lane->put_slots[(put + i) & mask] = (void *)(x + i);
	side->next += n;
	lane->put += n;
	w2->put += n;
	lane_publish_tail(lane);
	return n;
}

static uint64_t consume(struct w2 *w2)
{
	struct bench_result *got = &w2->sides[w2->consumer++ % SIDES].got;
	struct lane *lane = &w2->lane;
	uint64_t n = lane_queued_batch(lane), take = lane->take;
	uint64_t mask = lane->take_mask, sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += (uintptr_t)lane->take_slots[(take + i) & mask];
	got->count += n;
	got->sum += sum;
	lane->take += n;
	w2->taken += n;
	lane_publish_head(lane);
	return n;
}

static void run_producers(void *argument)
{
	struct w2 *w2 = argument;
	unsigned n_idle = 0;

	while (w2->put < w2->items) {
		if (produce(w2) == 0)
			bench_spin(&n_idle);
		else
			n_idle = 0;
	}
}

static void run_consumers(void *argument)
{
	struct w2 *w2 = argument;
	unsigned n_idle = 0;

	while (w2->taken < w2->items) {
		if (consume(w2) == 0)
			bench_spin(&n_idle);
		else
			n_idle = 0;
	}
}

int w2_batch(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	struct w2 w2 = {.items = items};
	uint64_t elapsed_ns;

	lane_init(&w2.lane, cell->window, cell->workers == 2);
	if (cell->workers == 2) {
		elapsed_ns = bench_pair(run_producers, run_consumers, &w2);
	} else {
		elapsed_ns = bench_now_ns();
		while (w2.taken < items) {
			(void)produce(&w2);
			(void)consume(&w2);
		}
		elapsed_ns = bench_now_ns() - elapsed_ns;
	}
	*result = (struct bench_result){.elapsed_ns = elapsed_ns};
	add_up(w2.sides, result);
	lane_fini(&w2.lane);
	return 0;
}

/* --- The library ------------------------------------------------------------- */

static int take(void *const *items, size_t n, size_t *done, void *context)
{
	struct bench_result *got = context;

	got->count += n;
	got->sum += sum_of(items, n);
	return 0;
}

static void done(struct weir_error *error, void *result, void *context)
{
	pool_finished(context);
}

static struct weir_flow *compose(const struct bench_cell *cell, uint64_t items,
				 struct side *sides)
{
	struct weir_flow_fan_options options = {.capacity = cell->window};
	int64_t last = (int64_t)(items / SIDES) - 1;
	struct weir_flow *flows[SIDES], *flow;
	unsigned s;

	for (s = 0; s < SIDES; s++)
		flows[s] = weir_flow_async(weir_flow_range(0, last),
					   cell->window, NULL);
	flow = weir_flow_merge(flows, SIDES);
	(void)weir_flow_balance(flow, SIDES, flows, &options);
	for (s = 0; s < SIDES; s++)
		flows[s] = weir_flow_for_each_n(flows[s], take, &sides[s].got);
	return weir_flow_all(flows, SIDES);
}

int w2_weir(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	struct side *sides = bench_alloc(SIDES * sizeof(*sides));
	struct pool *pool = bench_alloc(sizeof(*pool));
	struct weir_flow *flow = compose(cell, items, sides);
	struct weir_flow_run_options options = {.done = done, .context = pool};
	int rc = pool_open(pool, cell->workers);

	if (rc < 0)
		return rc;
	pool_start(pool);
	rc = weir_flow_start(flow, pool->executor, &options, NULL);
	if (rc < 0)
		return rc;
	*result = (struct bench_result){0};
	pool_wait(pool, result);
	add_up(sides, result);
	rc = pool_close(pool);
	weir_flow_free(flow);
	bench_free(pool);
	bench_free(sides);
	return rc;
}
