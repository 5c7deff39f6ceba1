/* SPDX-License-Identifier: BSD-2-Clause */
/* Minimum and maximum of what is asked for: how items are cut in batches. */
#include "flow/rate_limit_kit.h"
#include "flow/memory_kit.h"

/* --- What comes out ------------------------------------------------------- */

/* What for_each_n was called with; in a run at a time. */
static struct {
	intptr_t first[OUT_MAX];
	size_t n[OUT_MAX];
	size_t n_calls;
} calls;

static int note_call(void *const *items, size_t n, size_t *done, void *context)
{
	size_t i;

	assert_true(calls.n_calls < OUT_MAX);
	for (i = 1; i < n; i++)
		assert_int_equal((intptr_t)items[i], (intptr_t)items[0] + i);
	calls.first[calls.n_calls] = (intptr_t)items[0];
	calls.n[calls.n_calls++] = n;
	return 0;
}

/* Of the `n` numbers from 0, cut in batches. */
static struct weir_flow *noted(struct setting setting, intptr_t n)
{
	struct weir_flow *flow = weir_flow_range(0, n - 1);

	calls.n_calls = 0;
	flow = weir_flow_limit_rate(flow, setting.max, setting.min);
	return weir_flow_for_each_n(flow, note_call, NULL);
}

/* All came, no call had items of two batches; how many calls. */
static void assert_cut(struct setting setting, size_t n)
{
	struct consumer consumer;
	size_t at = 0, left = 0, i;

	consumer_init(&consumer, setting.max, setting.min);
	for (i = 0; i < calls.n_calls; i++) {
		if (left == 0) {
			left = next_batch(&consumer);
			ask_behind(&consumer);
		}
		assert_int_equal(calls.first[i], at);
		assert_true(calls.n[i] <= left);
		left -= calls.n[i];
		at += calls.n[i];
	}
	assert_int_equal(at, n);
}

/* And each batch came in as few calls as there can be. */
static void assert_whole(struct setting setting, size_t n)
{
	struct consumer consumer;
	size_t at = 0, i = 0, batch, k;

	assert_cut(setting, n);
	consumer_init(&consumer, setting.max, setting.min);
	while (at < n) {
		batch = next_batch(&consumer);
		ask_behind(&consumer);
		for (; batch > 0 && at < n; batch -= k, at += k) {
			k = batch < WEIR_FLOW_BATCH ? batch : WEIR_FLOW_BATCH;
			k = k < n - at ? k : n - at;
			assert_int_equal(calls.n[i++], k);
		}
	}
	assert_int_equal(calls.n_calls, i);
}

/* --- Batches -------------------------------------------------------------- */

static struct setting nested_setting;

static struct weir_flow *nested(void *item, void *context)
{
	return noted(nested_setting, (intptr_t)item);
}

/* In a flow within a flow, where all is there when it is asked for. */
static void run_nested(struct setting setting, intptr_t n)
{
	struct weir_flow *flow = weir_flow_range(n, n);

	nested_setting = setting;
	flow = weir_flow_flat_map(flow, 1, nested, NULL);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
}

static void assert_calls(size_t n, const size_t *expected)
{
	intptr_t at = 0;
	size_t i;

	assert_int_equal(calls.n_calls, n);
	for (i = 0; i < n; i++) {
		assert_int_equal(calls.first[i], at);
		assert_int_equal(calls.n[i], expected[i]);
		at += (intptr_t)expected[i];
	}
}

static void batches_are_cut_at_max_less_min(void **state)
{
	run_nested((struct setting){1000, 500}, 1500);
	assert_calls(6, (size_t[]){256, 244, 256, 244, 256, 244});
	run_nested((struct setting){100, 80}, 100);
	assert_calls(5, (size_t[]){20, 20, 20, 20, 20});
	run_nested((struct setting){100, 20}, 360);
	assert_calls(6, (size_t[]){80, 20, 80, 80, 20, 80});
	run_nested((struct setting){1, 0}, 3);
	assert_calls(3, (size_t[]){1, 1, 1});
}

static void batches_are_as_those_of_who_answers_each_ask(void **state)
{
	size_t i;

	for (i = 0; i < n_settings; i++) {
		run_nested(settings[i], 2500);
		assert_whole(settings[i], 2500);
	}
}

static void no_call_has_items_of_two_batches(void **state)
{
	static const size_t unfused[] = {0, 1, 16};
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < n_settings; i++) {
		flow = noted(settings[i], 2500);
		for_each_seed(seed, 9) {
			calls.n_calls = 0;
			assert_int_equal(
				run_on_sim(flow, seed, unfused[seed % 3]), 0);
			assert_cut(settings[i], 2500);
		}
		weir_flow_free(flow);
	}
}

/* --- That nothing is lost ------------------------------------------------- */

static int fails_on_7(void **item, void *context)
{
	return (intptr_t)*item == 7 ? -EDOM : 0;
}

static struct weir_flow *five(struct setting setting)
{
	return weir_flow_limit_rate(counted(weir_flow_range(1, 5)), setting.max,
				    setting.min);
}

static void all_items_come_in_their_order(void **state)
{
	static const intptr_t expected[] = {1, 2, 3, 4, 5};
	size_t i;

	for (i = 0; i < n_settings; i++)
		assert_flow(five(settings[i]), true, expected, 5, 0);
}

static void an_error_comes_behind_the_items(void **state)
{
	static const intptr_t expected[] = {1, 2, 3, 4, 5, 6};
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < n_settings; i++) {
		flow = weir_flow_map(weir_flow_range(1, 9), fails_on_7, NULL);
		flow = weir_flow_limit_rate(counted(flow), settings[i].max,
					    settings[i].min);
		assert_flow(flow, true, expected, 6, -EDOM);
	}
}

static void what_was_asked_for_and_not_taken_is_dropped(void **state)
{
	static const intptr_t expected[] = {1, 2, 3};
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < n_settings; i++) {
		flow = counted(weir_flow_range(1, 9999));
		flow = weir_flow_limit_rate(flow, settings[i].max,
					    settings[i].min);
		assert_flow(weir_flow_take(flow, 3), true, expected, 3, 0);
	}
}

/* It is told of the items above the boundary. */
static void items_are_as_is_said_behind_it(void **state)
{
	static const intptr_t expected[] = {1, 2};
	struct weir_flow *flow;

	flow = weir_flow_map(weir_flow_range(1, 99), to_item, NULL);
	flow = weir_flow_limit_rate(flow, 20, 10);
	flow = weir_flow_take(weir_flow_items(flow, &counted_items), 2);
	assert_flow(flow, true, expected, 2, 0);
}

static int add_up(void *const *items, size_t n, void **result, void *context)
{
	*result = (void *)((intptr_t)items[0] + (intptr_t)items[1]);
	return 0;
}

static void several_come_together(void **state)
{
	struct weir_flow *flows[2];

	flows[0] = weir_flow_limit_rate(weir_flow_range(1, 5), 2, 1);
	flows[1] = weir_flow_limit_rate(weir_flow_range(10, 90), 3, 1);
	ASSERT_FLOW(weir_flow_zip(flows, 2, add_up, NULL), 0, 11, 13, 15, 17,
		    19);
	flows[0] = weir_flow_limit_rate(weir_flow_range(1, 3), 2, 1);
	flows[1] = weir_flow_limit_rate(weir_flow_range(4, 6), 3, 1);
	ASSERT_FLOW(weir_flow_concat(flows, 2), 0, 1, 2, 3, 4, 5, 6);
	flows[0] = weir_flow_limit_rate(weir_flow_range(1, 3), 2, 1);
	flows[1] = weir_flow_limit_rate(weir_flow_never(), 3, 1);
	ASSERT_FLOW(weir_flow_merge_eager(flows, 2), 0, 1, 2, 3);
}

static void one_upon_another_asks_by_both(void **state)
{
	struct weir_flow *flow = counted(weir_flow_range(1, 6));
	static const intptr_t expected[] = {1, 2, 3, 4, 5, 6};

	flow = weir_flow_limit_rate(flow, 3, 1);
	flow = weir_flow_limit_rate(flow, 2, 0);
	assert_flow(flow, true, expected, 6, 0);
}

/* Somewhere on the way, wherever that is. */
static void it_can_be_cancelled_at_any_point(void **state)
{
	struct weir_flow_run_options options = {0};
	struct weir_flow *flow;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	static struct got got;
	size_t i, k;

	for (i = 0; i < n_settings; i++) {
		flow = counted(weir_flow_range(1, INT64_MAX));
		flow = weir_flow_limit_rate(flow, settings[i].max,
					    settings[i].min);
		flow = into(flow, &got);
		got.counted = true;
		for_each_seed(seed, 30) {
			got.n = 0;
			options.unfused = seed % 3;
			assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
			assert_int_equal(weir_flow_start(flow,
							 weir_sim_executor(sim),
							 &options, &run),
					 0);
			for (k = 0; k < seed && got.n < 2000; k++)
				weir_sim_step(sim);
			weir_flow_run_stop(run, NULL);
			assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER,
							    NULL, NULL),
					 0);
			weir_flow_run_free(run);
			assert_int_equal(weir_sim_free(sim), 0);
			assert_int_equal(n_live, 0);
		}
		weir_flow_free(flow);
	}
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got;
	struct weir_flow *flow = into(five((struct setting){100, 20}), &got);

	got.counted = true;
	assert_true(assert_short_of_memory(flow, &got, 0) > 3);
	weir_flow_free(flow);
}

static void bad_numbers_are_refused(void **state)
{
	static const struct setting bad[] = {
		{0, 0},	       {1, 1},
		{5, 6},	       {WEIR_CAPACITY_MAX + 1, 0},
		{SIZE_MAX, 0}, {5, SIZE_MAX},
	};
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		flow = weir_flow_limit_rate(weir_flow_empty(), bad[i].max,
					    bad[i].min);
		assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
		weir_flow_free(flow);
	}
	flow = weir_flow_limit_rate(NULL, 2, 1);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_are_cut_at_max_less_min),
		cmocka_unit_test(batches_are_as_those_of_who_answers_each_ask),
		cmocka_unit_test(no_call_has_items_of_two_batches),
		cmocka_unit_test(all_items_come_in_their_order),
		cmocka_unit_test(an_error_comes_behind_the_items),
		cmocka_unit_test(what_was_asked_for_and_not_taken_is_dropped),
		cmocka_unit_test(items_are_as_is_said_behind_it),
		cmocka_unit_test(several_come_together),
		cmocka_unit_test(one_upon_another_asks_by_both),
		cmocka_unit_test(it_can_be_cancelled_at_any_point),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
