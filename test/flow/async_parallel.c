/* SPDX-License-Identifier: BSD-2-Clause */
/* Several calls of a function at once. */
#include "flow/async_parallel_kit.h"

/* --- Order ---------------------------------------------------------------- */

static void ordered_it_is_a_map(void **state)
{
	ASSERT_FLOW(parallel(weir_flow_range(1, 5), 3, twice_plain, NULL), 0, 2,
		    4, 6, 8, 10);
	ASSERT_FLOW(parallel(weir_flow_range(1, 5), 1, twice_plain, NULL), 0, 2,
		    4, 6, 8, 10);
	ASSERT_FLOW(unordered(weir_flow_range(1, 3), 1, twice_plain, NULL), 0,
		    2, 4, 6);
}

static uint64_t n_wrong; /* one thread */

/* Are the calls made in another order than that of the items? */
static int sees_order(void **memory, void *context)
{
	struct item *item = *memory;
	intptr_t *last = context;

	n_wrong += item->value < *last;
	*last = item->value;
	return twice(memory, NULL);
}

static void order_is_kept_where_calls_end_in_any(void **state)
{
	static struct got got;
	uint64_t seeds = test_count(4000);
	intptr_t last = 0;
	struct weir_flow *flow;
	size_t i;

	n_wrong = 0;
	flow = parallel(counted(weir_flow_range(1, 50)), N, sees_order, &last);
	flow = into(flow, &got);
	for_each_seed(seed, seeds) {
		got.n = 0;
		got.counted = true;
		last = 0;
		assert_int_equal(run_on_sim(flow, seed, seed % 3 == 0), 0);
		assert_int_equal(got.n, 50);
		for (i = 0; i < got.n; i++)
			assert_int_equal(got.values[i], 2 * (i + 1));
		assert_int_equal(n_live, 0);
	}
	assert_true(n_wrong > seeds || test_seed_only());
	weir_flow_free(flow);
}

static void unordered_they_come_as_they_are_ready(void **state)
{
	static struct got got;
	uint64_t seeds = test_count(1000), swapped = 0;
	struct weir_flow *flow =
		unordered(counted(weir_flow_range(1, 50)), N, twice, NULL);
	intptr_t sum;
	size_t i;

	flow = into(flow, &got);
	for_each_seed(seed, seeds) {
		got.n = 0;
		got.counted = true;
		assert_int_equal(run_on_sim(flow, seed, seed % 3 == 0), 0);
		assert_int_equal(got.n, 50);
		for (sum = 0, i = 0; i < got.n; i++) {
			sum += got.values[i];
			swapped += i > 0 && got.values[i] < got.values[i - 1];
		}
		assert_int_equal(sum, 50 * 51);
		assert_int_equal(n_live, 0);
	}
	assert_true(swapped > seeds || test_seed_only());
	weir_flow_free(flow);
}

/* --- How many ------------------------------------------------------------- */

static uint64_t n_taken;

static int takes(void *item, void *context)
{
	n_taken++;
	assert_true(n_calls <= n_taken + N + 1);
	return 0;
}

static void not_more_calls_are_ahead_than_it_was_told(void **state)
{
	struct weir_flow *flow;

	flow = parallel(weir_flow_range(1, 200), N, fails_on, &(intptr_t){0});
	flow = weir_flow_for_each(weir_flow_async(flow, 1, NULL), takes, NULL);
	for_each_seed(seed, test_count(200)) {
		n_calls = n_taken = 0;
		/* the one in the link is taken, but has not got there */
		assert_int_equal(run_on_sim(flow, seed, 0), 0);
		assert_int_equal(n_calls, 200);
		assert_int_equal(n_taken, 200);
	}
	weir_flow_free(flow);
}

static void as_many_calls_are_under_way_as_it_was_told(void **state)
{
	struct idle idle = {.n = 0};
	struct weir_flow_parallel_options options = {
		.executor = &idle.executor,
	};
	struct weir_flow *flow = counted(weir_flow_range(1, 100));
	static struct got got;
	struct weir_flow_run *run;
	size_t begun = 0;

	assert_int_equal(weir_executor_init(&idle.executor, &idle_ops, NULL),
			 0);
	flow = weir_flow_same_items(weir_flow_map_parallel(
		flow, N, WEIR_ORDER_ANY, twice, NULL, &options));
	flow = into(flow, &got);
	got = (struct got){.counted = true};
	n_calls = 0;
	run = parallel_start(flow, 1, 0);
	weir_sim_run(the_sim);
	/* it has come to rest, with all of them busy and the rest not taken */
	assert_int_equal(idle.n, N);
	assert_int_equal(n_live, N);
	assert_false(weir_sim_step(the_sim));
	while (idle.n > 0) {
		/* the last one that was begun comes first */
		idle_run(&idle, idle.n - 1);
		weir_sim_run(the_sim);
		assert_true(n_live <= N);
		begun++;
	}
	assert_int_equal(n_calls, 100);
	assert_true(begun >= 100);
	assert_int_equal(got.n, 100);
	assert_int_equal(parallel_finish(run), 0);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
	assert_int_equal(weir_executor_fini(&idle.executor), 0);
}

static void with_little_demand_it_still_begins_all(void **state)
{
	struct idle idle = {.n = 0};
	struct weir_flow_parallel_options options = {
		.executor = &idle.executor,
	};
	struct weir_flow *flow = counted(weir_flow_range(1, 100));
	static struct got got;
	struct weir_flow_run *run;
	size_t i;

	assert_int_equal(weir_executor_init(&idle.executor, &idle_ops, NULL),
			 0);
	flow = weir_flow_same_items(weir_flow_map_parallel(
		flow, N, WEIR_ORDER_KEPT, twice, NULL, &options));
	flow = into(weir_flow_async(flow, 1, NULL), &got);
	got = (struct got){.counted = true};
	run = parallel_start(flow, 1, 0);
	weir_sim_run(the_sim);
	assert_int_equal(idle.n, N);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(the_sim);
	/* the run is not over as long as calls may be under way */
	assert_false(weir_completion_done(weir_flow_run_over(run)));
	assert_int_equal(n_live, N);
	for (i = N; i > 0; i--)
		idle_run(&idle, i - 1);
	assert_int_equal(parallel_finish(run), -ECANCELED);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&idle.executor), 0);
}

static void it_completes_without_demand(void **state)
{
	struct idle idle = {.n = 0};
	struct weir_flow *flow = counted(weir_flow_range(1, 1));
	static struct got got;
	struct weir_flow_run *run;
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(weir_executor_init(&idle.executor, &idle_ops, NULL),
			 0);
	flow = parallel(flow, N, twice, NULL);
	flow = into(weir_flow_async(flow, 1, weir_sim_executor(sim)), &got);
	got = (struct got){.counted = true};
	assert_int_equal(weir_flow_start(flow, &idle.executor, NULL, &run), 0);
	/*
	 * Nobody takes the one item from the link, whose other end keeps the
	 * actor; those that made calls have gone.
	 */
	weir_sim_run(sim);
	assert_int_equal(got.n, 0);
	assert_int_equal(weir_executor_alive(weir_sim_executor(sim)), 1);
	weir_flow_run_free(run);
	while (idle.n > 0)
		idle_run(&idle, 0);
	weir_sim_run(sim);
	while (idle.n > 0)
		idle_run(&idle, 0);
	assert_int_equal(got.n, 1);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&idle.executor), 0);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* --- The rest ------------------------------------------------------------- */

static void bad_arguments_make_a_failed_flow(void **state)
{
	struct weir_flow_parallel_options options = {.reserved = {1}};
	struct weir_flow *flows[] = {
		parallel(weir_flow_range(1, 3), 0, twice_plain, NULL),
		parallel(weir_flow_range(1, 3), SIZE_MAX, twice_plain, NULL),
		parallel(weir_flow_range(1, 3), 1, NULL, NULL),
		parallel(NULL, 1, twice_plain, NULL),
		weir_flow_map_parallel(weir_flow_range(1, 3), 1,
				       (enum weir_order)2, twice_plain, NULL,
				       NULL),
		weir_flow_map_parallel(weir_flow_range(1, 3), 1,
				       WEIR_ORDER_KEPT, twice_plain, NULL,
				       &options),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

/* Calls inside of a nested flow. */
static struct weir_flow *three_at_once(void *item, void *context)
{
	intptr_t x = (intptr_t)item * 10;

	return parallel(counted(weir_flow_range(x, x + 2)), 2, twice, NULL);
}

static void it_can_be_nested(void **state)
{
	static const intptr_t expected[] = {20, 22, 24, 40, 42, 44};
	struct weir_flow *flow;

	flow = weir_flow_flat_map(weir_flow_range(1, 2), 1, three_at_once,
				  NULL);
	assert_flow(weir_flow_items(flow, &counted_items), true, expected, 6,
		    0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordered_it_is_a_map),
		cmocka_unit_test(order_is_kept_where_calls_end_in_any),
		cmocka_unit_test(unordered_they_come_as_they_are_ready),
		cmocka_unit_test(not_more_calls_are_ahead_than_it_was_told),
		cmocka_unit_test(as_many_calls_are_under_way_as_it_was_told),
		cmocka_unit_test(with_little_demand_it_still_begins_all),
		cmocka_unit_test(it_completes_without_demand),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
		cmocka_unit_test(it_can_be_nested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
