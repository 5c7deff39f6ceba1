/* SPDX-License-Identifier: BSD-2-Clause */
/* Items that come between others. */
#include "flow/parts.h"

static int fifty(void **item, void *context)
{
	*item = context ? (void *)item_new(50) : (void *)50;
	return 0;
}

static int hundred(void **item, void *context)
{
	*item = context ? (void *)item_new(100) : (void *)100;
	return 0;
}

static int thousand(void **item, void *context)
{
	*item = context ? (void *)item_new(1000) : (void *)1000;
	return 0;
}

static const struct weir_flow_intersperse_functions all = {fifty, hundred,
							   thousand},
						    between = {NULL, hundred,
							       NULL},
						    ends = {fifty, NULL,
							    thousand};

static struct weir_flow *interspersed(
	struct weir_flow *flow,
	const struct weir_flow_intersperse_functions *functions)
{
	return weir_flow_intersperse(flow, functions, NULL);
}

static void it_emits_something_at_each_place(void **state)
{
	ASSERT_FLOW(interspersed(weir_flow_range(1, 3), &all), 0, 50, 1, 100, 2,
		    100, 3, 1000);
	ASSERT_FLOW(interspersed(weir_flow_range(1, 1), &all), 0, 50, 1, 1000);
}

static void or_at_some_places(void **state)
{
	static const struct weir_flow_intersperse_functions none;

	ASSERT_FLOW(interspersed(weir_flow_range(1, 3), &between), 0, 1, 100, 2,
		    100, 3);
	ASSERT_FLOW(interspersed(weir_flow_range(1, 3), &ends), 0, 50, 1, 2, 3,
		    1000);
	ASSERT_FLOW(interspersed(weir_flow_range(1, 3), &none), 0, 1, 2, 3);
}

static void without_items_it_emits_what_comes_first_and_last(void **state)
{
	ASSERT_FLOW(interspersed(weir_flow_empty(), &all), 0, 50, 1000);
	assert_flow(interspersed(weir_flow_empty(), &between), false,
		    (const intptr_t[]){0}, 0, 0);
}

static void behind_an_error_it_emits_nothing(void **state)
{
	ASSERT_FLOW(interspersed(failing(), &all), -EPROTO, 50, 1, 100, 2, 100,
		    3, 100, 4);
	assert_flow(interspersed(weir_flow_fail(-EIO, "here"), &all), false,
		    (const intptr_t[]){0}, 0, -EIO);
}

static void items_that_come_between_are_dropped_like_the_others(void **state)
{
	static const intptr_t expected[] = {50, 1, 100, 2, 100};
	static char is_counted;
	struct weir_flow *flow = counted(weir_flow_range(1, 9));

	flow = weir_flow_intersperse(flow, &all, &is_counted);
	assert_flow(weir_flow_take(flow, 5), true, expected, 5, 0);
	flow = counted(weir_flow_range(1, 9));
	flow = weir_flow_intersperse(flow, &all, &is_counted);
	assert_flow(weir_flow_take(flow, 4), true, expected, 4, 0);
}

/* One by one, so that one has to wait for what comes before it. */
static void it_needs_room_for_one(void **state)
{
	struct weir_flow *flow = interspersed(weir_flow_range(1, 2), &all);

	ASSERT_FLOW(weir_flow_limit_rate(flow, 1, 0), 0, 50, 1, 100, 2, 1000);
}

static int n_left;

static int hundred_at_times(void **item, void *context)
{
	return n_left-- % 2 ? -EDOM : hundred(item, context);
}

static void run_with(enum weir_directive (*decide)(struct weir_error *error,
						   void *context),
		     const intptr_t *expected, size_t n, int code)
{
	static const struct weir_flow_intersperse_functions functions = {
		fifty, hundred_at_times, thousand};
	struct got got = {.n = 0};
	struct weir_flow *flow =
		interspersed(weir_flow_range(1, 4), &functions);

	flow = weir_flow_supervise(flow, decide, NULL);
	flow = into(flow, &got);
	n_left = 3;
	assert_int_equal(run_on_sim(flow, 1, 0), code);
	assert_got(&got, expected, n, 0);
	weir_flow_free(flow);
}

static enum weir_directive stop(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_STOP;
}

static void the_item_behind_what_fails_has_failed(void **state)
{
	run_with(stop, (const intptr_t[]){50, 1}, 2, -EDOM);
	run_with(resume, (const intptr_t[]){50, 1, 100, 3, 1000}, 5, 0);
	run_with(restart, (const intptr_t[]){50, 1, 50, 3, 100, 4, 1000}, 7, 0);
}

static int no_end(void **item, void *context)
{
	return -EDOM;
}

static void an_end_that_fails_ends_it(void **state)
{
	static const struct weir_flow_intersperse_functions functions = {
		.end = no_end};

	ASSERT_FLOW(interspersed(weir_flow_range(1, 2), &functions), -EDOM, 1,
		    2);
}

static void it_ends_without_demand(void **state)
{
	assert_ends_without_demand(
		interspersed(weir_flow_range(1, 4), &between), 7);
	assert_ends_without_demand(interspersed(weir_flow_range(1, 4), &all),
				   9);
}

static void functions_are_needed(void **state)
{
	struct weir_flow *flow = interspersed(weir_flow_empty(), NULL);

	assert_refused_all(&flow, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_emits_something_at_each_place),
		cmocka_unit_test(or_at_some_places),
		cmocka_unit_test(
			without_items_it_emits_what_comes_first_and_last),
		cmocka_unit_test(behind_an_error_it_emits_nothing),
		cmocka_unit_test(
			items_that_come_between_are_dropped_like_the_others),
		cmocka_unit_test(it_needs_room_for_one),
		cmocka_unit_test(the_item_behind_what_fails_has_failed),
		cmocka_unit_test(an_end_that_fails_ends_it),
		cmocka_unit_test(it_ends_without_demand),
		cmocka_unit_test(functions_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
