/* SPDX-License-Identifier: BSD-2-Clause */
/* Several calls of a function at once, of which some fail or are cut short. */
#include "flow/async_parallel_kit.h"

static int fails_on_counted(void **memory, void *context)
{
	struct item *item = *memory;

	n_calls++;
	return item->value == *(intptr_t *)context ? -EDOM : 0;
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static enum weir_directive restart(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESTART;
}

/* --- Failures ------------------------------------------------------------- */

static void a_failure_is_told_at_once(void **state)
{
	struct idle idle = {.n = 0};
	struct weir_flow_parallel_options options = {
		.executor = &idle.executor,
	};
	struct weir_flow *flow = counted(weir_flow_range(1, 100));
	intptr_t third = 3;
	static struct got got;
	struct weir_flow_run *run;

	assert_int_equal(weir_executor_init(&idle.executor, &idle_ops, NULL),
			 0);
	flow = weir_flow_same_items(weir_flow_map_parallel(
		flow, N, WEIR_ORDER_KEPT, fails_on_counted, &third, &options));
	flow = into(flow, &got);
	got = (struct got){.counted = true};
	run = parallel_start(flow, 1, 0);
	weir_sim_run(the_sim);
	assert_int_equal(idle.n, N);
	n_calls = 0;
	idle_run(&idle, 2);
	weir_sim_run(the_sim);
	/* with 1 and 2 still to come, those that have not begun do not */
	while (idle.n > 0)
		idle_run(&idle, 0);
	assert_int_equal(n_calls, 1);
	assert_int_equal(parallel_finish(run), -EDOM);
	assert_int_equal(got.n, 0);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&idle.executor), 0);
}

/* 1..5, 1..5 */
static void *const twice_to_5[] = {
	(void *)1, (void *)2, (void *)3, (void *)4, (void *)5,
	(void *)1, (void *)2, (void *)3, (void *)4, (void *)5,
};

static struct weir_flow *ten(void)
{
	return weir_flow_array(twice_to_5, 10);
}

static void a_failed_item_is_left_out_if_that_is_wanted(void **state)
{
	static const intptr_t expected[] = {1, 2, 4, 5, 1, 2, 4, 5};
	intptr_t third = 3;
	size_t n;

	for (n = 1; n <= 4; n++) {
		assert_flow(weir_flow_supervise(parallel(counted(ten()), n,
							 fails_on_counted,
							 &third),
						resume, NULL),
			    true, expected, 8, 0);
		assert_flow(weir_flow_supervise(parallel(counted(ten()), n,
							 fails_on_counted,
							 &third),
						restart, NULL),
			    true, expected, 8, 0);
	}
	ASSERT_FLOW(parallel(ten(), 1, fails_on, &third), -EDOM, 1, 2);
}

static void an_error_from_upstream_comes_behind_the_results(void **state)
{
	intptr_t fourth = 4;

	ASSERT_FLOW(parallel(weir_flow_map(weir_flow_range(1, 9), fails_on,
					   &fourth),
			     3, twice_plain, NULL),
		    -EDOM, 2, 4, 6);
}

static void failures_at_any_point_lose_nothing(void **state)
{
	static struct got got;
	intptr_t at;
	struct weir_flow *flows[2];
	size_t i;

	flows[0] = into(parallel(counted(weir_flow_range(1, 30)), 5,
				 fails_on_counted, &at),
			&got);
	flows[1] = into(unordered(counted(weir_flow_range(1, 30)), 5,
				  fails_on_counted, &at),
			&got);
	for_each_seed(seed, test_count(2000)) {
		at = 1 + (intptr_t)(seed % 30);
		got.n = 0;
		got.counted = true;
		assert_int_equal(
			run_on_sim(flows[seed % 2], seed, seed % 5 < 1), -EDOM);
		assert_int_equal(n_live, 0);
	}
	for (i = 0; i < 2; i++)
		weir_flow_free(flows[i]);
}

static void cancels_at_any_point_lose_nothing(void **state)
{
	static struct got got;
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct weir_flow_run *run;
	uint64_t i;

	flow = into(parallel(flow, 5, twice, NULL), &got);
	for_each_seed(seed, test_count(2000)) {
		got.n = 0;
		got.counted = true;
		run = parallel_start(flow, seed, seed % 5 < 1);
		for (i = weir_sim_random(the_sim, 60); i > 0; i--)
			weir_sim_step(the_sim);
		weir_flow_run_stop(run, NULL);
		assert_int_equal(parallel_finish(run), -ECANCELED);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

/* --- Executors ------------------------------------------------------------ */

static void nothing(struct weir_ending *drain)
{
}

static void an_executor_that_drains_lets_it_flow_through(void **state)
{
	static struct got got;
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct weir_flow_run *run;
	uint64_t i;

	/* some are on their way to the calls when the sources end */
	flow = weir_flow_async(flow, 16, NULL);
	flow = into(weir_flow_async(parallel(flow, 5, twice, NULL), 2, NULL),
		    &got);
	for_each_seed(seed, test_count(500)) {
		struct weir_ending drain = {.done = nothing};

		got.n = 0;
		got.counted = true;
		run = parallel_start(flow, seed, 0);
		for (i = weir_sim_random(the_sim, 60) + 10; i > 0; i--)
			weir_sim_step(the_sim);
		assert_int_equal(
			weir_executor_end_async(weir_sim_executor(the_sim),
						&drain, WEIR_FOREVER),
			0);
		assert_int_equal(parallel_finish(run), 0);
		for (i = 0; i < got.n; i++)
			assert_int_equal(got.values[i], 2 * (i + 1));
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

static void an_executor_that_aborts_ends_it(void **state)
{
	static struct got got;
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct weir_flow_run *run;
	uint64_t i;

	flow = into(parallel(flow, 5, twice, NULL), &got);
	for_each_seed(seed, test_count(500)) {
		struct weir_ending drain = {.done = nothing};

		got.n = 0;
		got.counted = true;
		run = parallel_start(flow, seed, 0);
		for (i = weir_sim_random(the_sim, 60); i > 0; i--)
			weir_sim_step(the_sim);
		assert_int_equal(
			weir_executor_stop_async(weir_sim_executor(the_sim),
						 &drain, WEIR_FOREVER),
			0);
		assert_int_equal(parallel_finish(run), -ECANCELED);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

static void where_calls_are_refused_it_fails(void **state)
{
	struct weir_flow_parallel_options options = {0};
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct weir_ending drain = {.done = nothing};
	static struct got got;
	struct weir_flow_run *run;
	struct weir_sim *other;

	assert_int_equal(weir_sim_new(&other, 1, NULL), 0);
	options.executor = weir_sim_executor(other);
	flow = weir_flow_same_items(weir_flow_map_parallel(
		flow, 3, WEIR_ORDER_ANY, twice, NULL, &options));
	flow = into(flow, &got);
	got = (struct got){.counted = true};
	run = parallel_start(flow, 1, 0);
	weir_sim_run(the_sim);
	weir_sim_run(other);
	assert_int_equal(weir_executor_stop_async(options.executor, &drain,
						  WEIR_FOREVER),
			 0);
	weir_sim_run(other);
	assert_int_equal(parallel_finish(run), -ECANCELED);
	/* and once more, from the beginning */
	run = parallel_start(flow, 1, 0);
	assert_int_equal(parallel_finish(run), -ESHUTDOWN);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
	assert_int_equal(weir_sim_free(other), 0);
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow = counted(weir_flow_range(1, 20));

	flow = into(weir_flow_async(parallel(flow, 3, twice, NULL), 4, NULL),
		    &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_told_at_once),
		cmocka_unit_test(a_failed_item_is_left_out_if_that_is_wanted),
		cmocka_unit_test(
			an_error_from_upstream_comes_behind_the_results),
		cmocka_unit_test(failures_at_any_point_lose_nothing),
		cmocka_unit_test(cancels_at_any_point_lose_nothing),
		cmocka_unit_test(an_executor_that_drains_lets_it_flow_through),
		cmocka_unit_test(an_executor_that_aborts_ends_it),
		cmocka_unit_test(where_calls_are_refused_it_fails),
		cmocka_unit_test(without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
