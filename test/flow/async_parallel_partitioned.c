/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of a function, several at once, and for one key one after the other. */
#include "flow/async_parallel_kit.h"

#define KEYS 3

/* What the functions were told, and do. */
static struct told {
	intptr_t last[KEYS]; /* item of each key for which a call was made */
	intptr_t map_fails, key_fails; /* for that item */
	int64_t keeps;		       /* so often, then it fails; < 0: ever */
} told;

static int64_t n_kept;

static void tell_anew(void)
{
	told = (struct told){.keeps = -1};
	n_kept = 0;
}

static int key_of(void *memory, uintptr_t *key, void *context)
{
	const struct item *item = memory;

	*key = (uintptr_t)item->value % KEYS;
	return item->value == told.key_fails ? -ERANGE : 0;
}

static int in_order(void **memory, void *context)
{
	struct item *item = *memory;
	intptr_t *last = &told.last[item->value % KEYS];

	/* each key's items come one by one, or the one before has failed */
	assert_true(item->value == *last + KEYS || item->value <= KEYS ||
		    item->value - KEYS == told.key_fails);
	*last = item->value;
	if (item->value == told.map_fails)
		return -EDOM;
	return twice(memory, NULL);
}

static uint64_t one_hash(uintptr_t key, void *context)
{
	return 7;
}

static bool is_same(uintptr_t a, uintptr_t b, void *context)
{
	return *(uintptr_t *)a == *(uintptr_t *)b;
}

static int key_in_item(void *memory, uintptr_t *key, void *context)
{
	static uintptr_t value;
	int rc = key_of(memory, &value, context);

	*key = (uintptr_t)&value;
	return rc;
}

static int keep(uintptr_t *key, void *context)
{
	uintptr_t *kept;

	if (told.keeps == 0)
		return -EPROTO;
	told.keeps--;
	kept = malloc(sizeof(*kept));
	assert_non_null(kept);
	*kept = *(uintptr_t *)*key;
	*key = (uintptr_t)kept;
	n_kept++;
	return 0;
}

static void drop(uintptr_t key, void *context)
{
	free((void *)key);
	n_kept--;
}

static const struct weir_flow_key_functions kept_keys = {one_hash, is_same,
							 keep, drop};

static struct weir_flow *partitioned(int64_t to, size_t n)
{
	return weir_flow_same_items(weir_flow_map_parallel_partitioned(
		counted(weir_flow_range(1, to)), n, key_of, NULL, in_order,
		NULL, NULL));
}

static struct weir_flow *by_kept_keys(int64_t to, size_t n)
{
	return weir_flow_same_items(weir_flow_map_parallel_partitioned(
		counted(weir_flow_range(1, to)), n, key_in_item, &kept_keys,
		in_order, NULL, NULL));
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

static enum weir_directive restart(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESTART;
}

/* --- Order ---------------------------------------------------------------- */

static void calls_for_a_key_are_made_in_order(void **state)
{
	static struct got got;
	struct weir_flow *flows[] = {
		into(partitioned(50, N), &got),
		into(by_kept_keys(50, N), &got),
		into(partitioned(50, 1), &got),
		into(by_kept_keys(50, 2), &got),
	};
	size_t i;

	for_each_seed(seed, test_count(4000)) {
		tell_anew();
		got = (struct got){.counted = true};
		assert_int_equal(
			run_on_sim(flows[seed % 4], seed, seed % 3 == 0), 0);
		assert_int_equal(got.n, 50);
		for (i = 0; i < got.n; i++)
			assert_int_equal(got.values[i], 2 * (i + 1));
		assert_int_equal(n_live, 0);
		assert_int_equal(n_kept, 0);
	}
	for (i = 0; i < 4; i++)
		weir_flow_free(flows[i]);
}

/* An executor where calls are made when the test says. */
static struct idle idle;

static struct weir_flow_run *start_idle(
	struct weir_flow **flow, struct got *got,
	int (*key)(void *item, uintptr_t *key, void *context),
	const struct weir_flow_key_functions *keys)
{
	struct weir_flow_parallel_options options = {
		.executor = &idle.executor,
	};
	struct weir_flow_run *run;

	tell_anew();
	idle.n = 0;
	n_calls = 0;
	assert_int_equal(weir_executor_init(&idle.executor, &idle_ops, NULL),
			 0);
	*got = (struct got){.counted = true};
	*flow = weir_flow_same_items(weir_flow_map_parallel_partitioned(
		counted(weir_flow_range(1, 8)), N, key, keys, twice, NULL,
		&options));
	*flow = into(*flow, got);
	run = parallel_start(*flow, 1, 0);
	weir_sim_run(the_sim);
	return run;
}

static void end_idle(struct weir_flow *flow, struct weir_flow_run *run,
		     int code)
{
	while (idle.n > 0) {
		idle_run(&idle, 0);
		weir_sim_run(the_sim);
	}
	assert_int_equal(parallel_finish(run), code);
	assert_int_equal(n_live, 0);
	weir_flow_free(flow);
	assert_int_equal(weir_executor_fini(&idle.executor), 0);
}

/* Runs all that the executor was given so far. */
static void run_round(void)
{
	size_t n = idle.n;

	while (n-- > 0)
		idle_run(&idle, n);
	weir_sim_run(the_sim);
}

static void one_call_for_each_key_is_under_way(void **state)
{
	static struct got got;
	struct weir_flow *flow;
	struct weir_flow_run *run =
		start_idle(&flow, &got, key_in_item, &kept_keys);

	assert_int_equal(n_live, N);
	run_round();
	assert_int_equal(n_calls, KEYS);
	run_round();
	assert_int_equal(n_calls, 2 * KEYS);
	run_round();
	assert_int_equal(n_calls, 8);
	end_idle(flow, run, 0);
	assert_int_equal(got.n, 8);
}

static int same_key(void *item, uintptr_t *key, void *context)
{
	*key = 1;
	return 0;
}

static void what_waits_is_dropped_at_a_cancel(void **state)
{
	static struct got got;
	struct weir_flow *flow;
	struct weir_flow_run *run = start_idle(&flow, &got, same_key, NULL);

	assert_int_equal(n_live, N);
	weir_flow_run_stop(run, NULL);
	weir_sim_run(the_sim);
	/* one is in a call that may be under way */
	assert_int_equal(n_live, 1);
	end_idle(flow, run, -ECANCELED);
	assert_int_equal(got.n, 0);
}

/* --- Failures ------------------------------------------------------------- */

static void assert_values(struct weir_flow *flow, const intptr_t *expected,
			  size_t n, int code)
{
	assert_flow(flow, true, expected, n, code);
	assert_int_equal(n_kept, 0);
}

static void behind_a_failed_call_its_key_goes_on(void **state)
{
	static const intptr_t without_4[] = {2, 4, 6, 10, 12, 14, 16, 18, 20};

	tell_anew();
	told.map_fails = 4;
	assert_values(weir_flow_supervise(by_kept_keys(10, 5), resume, NULL),
		      without_4, 9, 0);
	assert_values(weir_flow_supervise(by_kept_keys(10, 5), restart, NULL),
		      without_4, 9, 0);
	told.map_fails = 0;
	told.key_fails = 4;
	assert_values(weir_flow_supervise(by_kept_keys(10, 5), resume, NULL),
		      without_4, 9, 0);
	assert_values(weir_flow_supervise(by_kept_keys(10, 5), restart, NULL),
		      without_4, 9, 0);
}

static void it_goes_on_behind_an_item_without_a_key(void **state)
{
	static const intptr_t without_1[] = {4, 6, 8, 10};

	tell_anew();
	told.key_fails = 1;
	assert_values(weir_flow_supervise(by_kept_keys(5, 2), resume, NULL),
		      without_1, 4, 0);
}

static void a_key_that_fails_fails_the_stream(void **state)
{
	static const intptr_t none[1];

	tell_anew();
	told.key_fails = 1;
	assert_values(by_kept_keys(10, 5), none, 0, -ERANGE);
	tell_anew();
	told.keeps = 0;
	assert_values(by_kept_keys(10, 5), none, 0, -EPROTO);
}

static void failures_at_any_point_lose_nothing(void **state)
{
	static struct got got;
	struct weir_flow *flow = into(by_kept_keys(30, 5), &got);

	for_each_seed(seed, test_count(2000)) {
		tell_anew();
		if (seed % 2)
			told.map_fails = 1 + (intptr_t)(seed % 30);
		else
			told.key_fails = 1 + (intptr_t)(seed % 30);
		got = (struct got){.counted = true};
		assert_int_equal(run_on_sim(flow, seed, seed % 5 < 1),
				 seed % 2 ? -EDOM : -ERANGE);
		assert_int_equal(n_live, 0);
		assert_int_equal(n_kept, 0);
	}
	weir_flow_free(flow);
}

static void cancels_at_any_point_lose_nothing(void **state)
{
	static struct got got;
	struct weir_flow *flow = into(by_kept_keys(INT64_MAX, 5), &got);
	struct weir_flow_run *run;
	uint64_t i;

	for_each_seed(seed, test_count(2000)) {
		tell_anew();
		got = (struct got){.counted = true};
		run = parallel_start(flow, seed, seed % 5 < 1);
		for (i = weir_sim_random(the_sim, 60); i > 0; i--)
			weir_sim_step(the_sim);
		weir_flow_run_stop(run, NULL);
		assert_int_equal(parallel_finish(run), -ECANCELED);
		assert_int_equal(n_live, 0);
		assert_int_equal(n_kept, 0);
	}
	weir_flow_free(flow);
}

static int as_it_is(void **item, void *context)
{
	return 0;
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow = counted(weir_flow_range(1, 20));

	tell_anew();
	flow = weir_flow_same_items(weir_flow_map_parallel_partitioned(
		flow, 5, key_in_item, &kept_keys, as_it_is, NULL, NULL));
	flow = into(flow, &got);
	(void)assert_short_of_memory(flow, &got, 0);
	assert_int_equal(n_kept, 0);
	weir_flow_free(flow);
}

static struct weir_flow *with(size_t n,
			      int (*key)(void *item, uintptr_t *key,
					 void *context),
			      const struct weir_flow_key_functions *keys,
			      int (*map)(void **item, void *context))
{
	return weir_flow_map_parallel_partitioned(weir_flow_empty(), n, key,
						  keys, map, NULL, NULL);
}

static void bad_arguments_are_refused(void **state)
{
	static const struct weir_flow_key_functions lacking = {
		.hash = one_hash};
	struct weir_flow_parallel_options options = {.reserved = {1}};
	struct weir_flow *flows[] = {
		with(0, key_of, NULL, as_it_is),
		with(SIZE_MAX, key_of, NULL, as_it_is),
		with(1, NULL, NULL, as_it_is),
		with(1, key_of, NULL, NULL),
		with(1, key_of, &lacking, as_it_is),
		weir_flow_map_parallel_partitioned(weir_flow_empty(), 1, key_of,
						   NULL, as_it_is, NULL,
						   &options),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_for_a_key_are_made_in_order),
		cmocka_unit_test(one_call_for_each_key_is_under_way),
		cmocka_unit_test(what_waits_is_dropped_at_a_cancel),
		cmocka_unit_test(behind_a_failed_call_its_key_goes_on),
		cmocka_unit_test(it_goes_on_behind_an_item_without_a_key),
		cmocka_unit_test(a_key_that_fails_fails_the_stream),
		cmocka_unit_test(failures_at_any_point_lose_nothing),
		cmocka_unit_test(cancels_at_any_point_lose_nothing),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
