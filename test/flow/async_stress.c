/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls at once, on threads: some wait, some fail, runs are cancelled in the
 * middle. Every item is delivered or dropped once, never more calls than were
 * allowed are under way, and none is when the run is over.
 */
#include <pthread.h>
#include <sched.h>

#include "flow/kit.h"

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define N 6
#define ITEMS 2000

struct seen {
	uint32_t under_way, most; /* atomic */
	uint64_t taken;
	intptr_t last;
	bool ordered;
	intptr_t fails; /* on this value; 0: on none */
};

static int call(void **memory, void *context)
{
	struct seen *seen = context;
	struct item *item = *memory;
	uint32_t n = __atomic_add_fetch(&seen->under_way, 1, __ATOMIC_RELAXED);
	uint32_t most = __atomic_load_n(&seen->most, __ATOMIC_RELAXED);
	intptr_t value = item->value;

	assert(n <= N);
	while (n > most &&
	       !__atomic_compare_exchange_n(&seen->most, &most, n, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (value % 7 == 0)
		sched_yield();
	item->value = -value;
	__atomic_sub_fetch(&seen->under_way, 1, __ATOMIC_RELAXED);
	return value == seen->fails ? -EDOM : 0;
}

static int take(void *memory, void *context)
{
	struct seen *seen = context;
	struct item *item = memory;

	seen->taken++;
	assert(item->value < 0);
	assert(!seen->ordered || -item->value == seen->last + 1);
	seen->last = -item->value;
	item_drop(item, NULL);
	return 0;
}

struct pools {
	struct weir_threads *threads;
	struct weir_blocking *blocking;
	struct weir_executor *executor, *calls;
};

static void pools_new(struct pools *pools, bool blocks)
{
	struct weir_threads_options options = {.workers = 3};
	struct weir_blocking_options blocking = {.threads_max = 4};

	assert_int_equal(weir_threads_new(&pools->threads, &options), 0);
	assert_int_equal(weir_blocking_new(&pools->blocking, &blocking), 0);
	pools->executor = weir_threads_executor(pools->threads);
	pools->calls = blocks ? weir_blocking_executor(pools->blocking) : NULL;
}

static void pools_free(struct pools *pools)
{
	assert_int_equal(weir_threads_free(pools->threads), 0);
	assert_int_equal(weir_blocking_free(pools->blocking), 0);
}

static struct weir_flow *make(struct pools *pools, struct seen *seen,
			      intptr_t n, size_t link)
{
	struct weir_flow_parallel_options options = {
		.executor = pools->calls,
	};
	struct weir_flow *flow = counted(weir_flow_range(1, n));

	if (link)
		flow = weir_flow_async(flow, link, NULL);
	flow = weir_flow_same_items(weir_flow_map_parallel(
		flow, N, seen->ordered ? WEIR_ORDER_KEPT : WEIR_ORDER_ANY, call,
		seen, &options));
	if (link)
		flow = weir_flow_async(flow, link, NULL);
	return weir_flow_for_each(flow, take, seen);
}

static int wait_for(struct weir_flow_run *run)
{
	struct weir_error *error;
	int rc;

	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	rc = error ? error->code : 0;
	weir_error_unref(error);
	weir_flow_run_free(run);
	return rc;
}

/* `round` draws what it is like. */
static int run_one(struct pools *pools, uint64_t round, struct seen *seen,
		   intptr_t n, bool cancel)
{
	struct weir_flow *flow = make(pools, seen, n, round / 2 % 2 ? 8 : 0);
	struct weir_flow_run *run;
	uint64_t i;
	int rc;

	assert_int_equal(weir_flow_start(flow, pools->executor, NULL, &run), 0);
	if (cancel) {
		for (i = round * 7919 % 50; i > 0; i--)
			sched_yield();
		weir_flow_run_stop(run, NULL);
	}
	rc = wait_for(run);
	assert_int_equal(seen->under_way, 0);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
	return rc;
}

static void all_items(bool blocks)
{
	uint64_t rounds = test_count(100), round;
	struct pools pools;

	pools_new(&pools, blocks);
	for (round = 0; round < rounds; round++) {
		struct seen seen = {.ordered = round % 2};

		assert_int_equal(run_one(&pools, round, &seen, ITEMS, false),
				 0);
		assert_int_equal(seen.taken, ITEMS);
	}
	pools_free(&pools);
}

static void all_items_come_through(void **state)
{
	all_items(false);
}

static void and_by_threads_that_may_block(void **state)
{
	all_items(true);
}

static void a_failure_loses_nothing(void **state)
{
	uint64_t rounds = test_count(1000), round;
	struct pools pools;

	pools_new(&pools, false);
	for (round = 0; round < rounds; round++) {
		struct seen seen = {
			.ordered = round % 2,
			.fails = 1 + (intptr_t)(round * 31 % 200),
		};

		assert_int_equal(run_one(&pools, round, &seen, 200, false),
				 -EDOM);
	}
	pools_free(&pools);
}

static void cancel_often(bool blocks)
{
	uint64_t rounds = test_count(1000), round;
	struct pools pools;

	pools_new(&pools, blocks);
	for (round = 0; round < rounds; round++) {
		struct seen seen = {.ordered = round % 2};

		assert_int_equal(run_one(&pools, round, &seen, INT32_MAX, true),
				 -ECANCELED);
	}
	pools_free(&pools);
}

static void a_cancel_loses_nothing(void **state)
{
	cancel_often(false);
}

static void nor_where_calls_block(void **state)
{
	cancel_often(true);
}

/* --- Of each key one at a time -------------------------------------------- */

#define KEYS 4

struct keyed {
	struct seen seen; /* first */
	intptr_t last_of[KEYS];
};

static int key_of(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)((struct item *)item)->value % KEYS;
	return 0;
}

static struct weir_flow *one_at_a_time(struct weir_flow *up, uintptr_t key,
				       void *context)
{
	return weir_flow_same_items(weir_flow_map_parallel(
		up, 1, WEIR_ORDER_KEPT, call, context, NULL));
}

static int take_keyed(void *memory, void *context)
{
	struct keyed *keyed = context;
	intptr_t value = -((struct item *)memory)->value;
	intptr_t *last = &keyed->last_of[value % KEYS];

	assert(value == *last + KEYS || (*last == 0 && value <= KEYS));
	*last = value;
	keyed->seen.taken++;
	item_drop(memory, NULL);
	return 0;
}

static void calls_of_a_key_stay_in_order(void **state)
{
	uint64_t rounds = test_count(100), round;
	struct weir_flow_group_options options = {0};
	struct weir_flow_run *run;
	struct weir_flow *flow;
	struct pools pools;

	pools_new(&pools, false);
	for (round = 0; round < rounds; round++) {
		struct keyed keyed = {.seen = {.ordered = false}};

		options.buffer = 1 + round % 5;
		flow = counted(weir_flow_range(1, ITEMS));
		flow = weir_flow_group_by(flow, KEYS, key_of, one_at_a_time,
					  &keyed, &options);
		flow = weir_flow_for_each(flow, take_keyed, &keyed);
		assert_int_equal(
			weir_flow_start(flow, pools.executor, NULL, &run), 0);
		assert_int_equal(wait_for(run), 0);
		assert_int_equal(keyed.seen.taken, ITEMS);
		assert_int_equal(n_live, 0);
		weir_flow_free(flow);
	}
	pools_free(&pools);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_items_come_through),
		cmocka_unit_test(and_by_threads_that_may_block),
		cmocka_unit_test(a_failure_loses_nothing),
		cmocka_unit_test(a_cancel_loses_nothing),
		cmocka_unit_test(nor_where_calls_block),
		cmocka_unit_test(calls_of_a_key_stay_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
