/* SPDX-License-Identifier: BSD-2-Clause */
/* Outlets of operators of the user's: cancels, ends, and what is not right. */
#include "flow/fan_outlets.h"
#include "flow/outlets_kit.h"

/* --- Cancels ---------------------------------------------------------------- */

static void the_operator_goes_on_for_the_others(void **state)
{
	struct weir_flow *outlets[WAYS], *flow;
	struct seen seen;

	for_each_seed(seed, 30) {
		split(counted(weir_flow_range(1, 300)), &splits, &seen, 3, 4,
		      outlets);
		outlets[1] = weir_flow_take(outlets[1], 2);
		flow = sinks(outlets, gots, 3);
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		weir_flow_free(flow);
		assert_int_equal(gots[0].n, 100);
		assert_int_equal(gots[2].n, 100);
		assert_values(&gots[1], 2, 1, 4);
		assert_int_equal(seen.cancels[0], 0);
		assert_int_equal(seen.cancels[1], 1);
		assert_int_equal(seen.cancels[2], 0);
		assert_int_equal(n_live, 0);
	}
}

/* An item is kept for an outlet that is cancelled then. */
static void a_cancel_lets_go_of_what_waits_for_that_outlet(void **state)
{
	struct weir_flow *outlets[WAYS], *flow;
	struct trial trial;
	struct tap tap = {0};
	struct seen seen;

	split(counted(tap_flow(&tap)), &splits, &seen, 2, 1, outlets);
	outlets[0] = weir_flow_take(outlets[0], 0);
	outlets[0] = weir_flow_same_items(outlets[0]);
	flow = gated(outlets, 2, OPEN);
	begin(&trial, flow, 1, 0);
	assert_int_equal(seen.cancels[0], 1);
	tap_give(&tap, 1, 9);
	rest(&trial);
	assert_values(&gated_ways[1].got, 5, 1, 3, 5, 7, 9);
	assert_int_equal(n_live, 0);
	tap_end(&tap, 0);
	rest(&trial);
	assert_int_equal(end(&trial), 0);
}

static void the_operator_may_end_with_the_first_cancel(void **state)
{
	struct weir_flow *outlets[WAYS], *flow;
	struct seen seen;

	for_each_seed(seed, 10) {
		split(counted(weir_flow_range(1, INT64_MAX)), &splits, &seen, 3,
		      4, outlets);
		seen.ends_with_one = true;
		outlets[1] = weir_flow_take(outlets[1], 2);
		flow = sinks(outlets, gots, 3);
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		weir_flow_free(flow);
		assert_int_equal(seen.cancels[1], 1);
		assert_int_equal(seen.closes, 1);
		assert_int_equal(n_live, 0);
	}
}

/* With `eager` it is told of all. */
static void it_ends_when_all_are_cancelled_or_one_that_is_eager(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 4};
	struct weir_flow *outlets[WAYS], *flow;
	struct seen seen;
	size_t i, k;

	for (k = 0; k < 2; k++) {
		options.eager = k;
		seen = (struct seen){.n = 3};
		flow = counted(weir_flow_range(1, INT64_MAX));
		assert_int_equal(weir_flow_operator_outlets(&flow, 1, &splits,
							    &seen, 3, outlets,
							    &options),
				 0);
		for (i = 0; i < 3; i++) {
			outlets[i] = weir_flow_same_items(outlets[i]);
			if (i == 1 || k == 0)
				outlets[i] = weir_flow_take(outlets[i], 5);
		}
		flow = sinks(outlets, gots, 3);
		assert_int_equal(run_on_sim(flow, 1, 0), 0);
		weir_flow_free(flow);
		for (i = 0; i < 3; i++)
			assert_int_equal(seen.cancels[i], 1);
		assert_int_equal(seen.closes, 1);
		assert_int_equal(n_live, 0);
	}
}

/* --- Ends ------------------------------------------------------------------- */

/* The first item of an outlet is its last; `with` is how it ends. */
struct ending {
	struct weir_error *with;
	bool told[WAYS];
};

static int ending_push(struct weir_operator *op, void *item)
{
	struct ending *self = weir_operator_context(op);
	size_t to = (size_t)((struct item *)item)->value % WAYS;
	int rc = weir_operator_push_outlet(op, to, item);

	if (rc == -EPIPE) {
		assert_true(self->told[to]);
		weir_operator_drop(op, item);
		return weir_operator_pull(op);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(weir_operator_end_outlet(op, to, self->with), 0);
	assert_int_equal(weir_operator_end_outlet(op, to, NULL), -EALREADY);
	assert_false(weir_operator_wanted_outlet(op, to));
	self->told[to] = true;
	rc = weir_operator_pull(op);
	assert_int_equal(rc, self->told[0] && self->told[1] && self->told[2]
				     ? -EPIPE
				     : 0);
	return 0;
}

static void not_told(struct weir_operator *op)
{
	fail_msg("of an outlet that the operator has ended");
}

static const struct weir_operator_ops ends_them = {
	.name = "ends",
	.on_push = ending_push,
	.on_cancel = not_told,
};

static struct weir_flow *ending(struct weir_flow *flow, struct ending *ending)
{
	struct weir_flow *outlets[WAYS];
	size_t i;

	assert_int_equal(weir_flow_operator_outlets(&flow, 1, &ends_them,
						    ending, WAYS, outlets,
						    NULL),
			 0);
	for (i = 0; i < WAYS; i++)
		outlets[i] = weir_flow_same_items(outlets[i]);
	return sinks(outlets, gots, WAYS);
}

/* Upstream, which has no end, is cancelled with the last outlet. */
static void an_outlet_ends_alone_and_the_last_ends_the_operator(void **state)
{
	struct weir_flow *flow;
	struct ending self;

	for_each_seed(seed, 10) {
		self = (struct ending){0};
		flow = ending(counted(weir_flow_range(1, INT64_MAX)), &self);
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		weir_flow_free(flow);
		assert_values(&gots[0], 1, 3);
		assert_values(&gots[1], 1, 1);
		assert_values(&gots[2], 1, 2);
		assert_int_equal(n_live, 0);
	}
}

static int mend(struct weir_error *error, void **item, void *context)
{
	*item = item_new(-error->code);
	return 1;
}

/* Behind its item; and not one of the others ends it. */
static void an_outlet_may_end_with_an_error(void **state)
{
	struct ending self = {.with = weir_error_of(-EPROTO)};
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct weir_flow *outlets[WAYS];
	size_t i;

	assert_int_equal(weir_flow_operator_outlets(&flow, 1, &ends_them, &self,
						    WAYS, outlets, NULL),
			 0);
	for (i = 0; i < WAYS; i++)
		outlets[i] = weir_flow_recover(weir_flow_same_items(outlets[i]),
					       mend, NULL);
	flow = sinks(outlets, gots, WAYS);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_values(&gots[0], 2, 3, EPROTO);
	assert_values(&gots[1], 2, 1, EPROTO);
	assert_values(&gots[2], 2, 2, EPROTO);
	assert_int_equal(n_live, 0);
}

static int fails_on_seven(struct weir_operator *op, void *item)
{
	size_t to = (size_t)((struct item *)item)->value % WAYS;

	if (((struct item *)item)->value == 7)
		return -EDOM;
	(void)weir_operator_push_outlet(op, to, item);
	return weir_operator_pull(op);
}

static int fail_on_3(void **item, void *context)
{
	return (intptr_t)*item == 3 ? -EDOM : 0;
}

static void assert_all_fail(struct weir_flow *flow,
			    const struct weir_operator_ops *ops, size_t n)
{
	struct weir_flow *outlets[WAYS];
	struct seen seen;
	size_t i;

	split(flow, ops, &seen, WAYS, 0, outlets);
	for (i = 0; i < WAYS; i++)
		outlets[i] = weir_flow_recover(outlets[i], mend, NULL);
	flow = sinks(outlets, gots, WAYS);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	for (i = 0; i < WAYS; i++) {
		assert_int_equal(gots[i].values[gots[i].n - 1], EDOM);
		n -= gots[i].n - 1;
	}
	assert_int_equal(n, 0);
	assert_int_equal(n_live, 0);
}

/* Behind the items that were pushed. */
static void errors_reach_all_outlets(void **state)
{
	static const struct weir_operator_ops fails = {
		.name = "fails",
		.on_push = fails_on_seven,
	};

	assert_all_fail(counted(weir_flow_range(1, 9)), &fails, 6);
	assert_all_fail(
		counted(weir_flow_map(weir_flow_range(1, 5), fail_on_3, NULL)),
		&splits, 2);
}

static void an_error_of_the_operator_has_its_name(void **state)
{
	static const struct weir_operator_ops fails = {
		.name = "fails",
		.on_push = fails_on_seven,
	};
	struct weir_flow *outlets[WAYS];
	struct weir_error *error;
	struct seen seen;

	split(counted(weir_flow_range(1, 9)), &fails, &seen, WAYS, 0, outlets);
	error = error_of(sinks(outlets, gots, WAYS));
	assert_int_equal(error->code, -EDOM);
	assert_string_equal(error->origin, "fails");
	weir_error_unref(error);
	assert_int_equal(n_live, 0);
}

static void a_run_that_is_cancelled_drops_what_is_kept(void **state)
{
	struct weir_flow *outlets[WAYS];
	struct seen seen;

	split(counted(weir_flow_range(1, INT64_MAX)), &splits, &seen, 3, 4,
	      outlets);
	assert_cancel(weir_flow_merge(outlets, 3));
	assert_int_equal(n_live, 0);
}

/* --- Items ------------------------------------------------------------------ */

static void what_outlets_emit_is_said_of_each(void **state)
{
	static const struct weir_operator_ops nothing = {.name = "nothing"};
	struct weir_flow *flow = counted(weir_flow_range(1, 3)), *outlets[2];

	weir_flow_operator_outlets(&flow, 1, &nothing, NULL, 2, outlets, NULL);
	outlets[0] = weir_flow_same_items(outlets[0]);
	assert_misfit(weir_flow_all(outlets, 2), "nothing",
		      "takes items without a name: say by "
		      "weir_flow_items() what it emits, or by "
		      "weir_flow_same_items() that it is the same");
	flow = counted(weir_flow_range(1, 3));
	weir_flow_operator_outlets(&flow, 1, &nothing, NULL, 2, outlets, NULL);
	outlets[0] = weir_flow_same_items(outlets[0]);
	outlets[1] = weir_flow_items(outlets[1], NULL);
	assert_misfit(weir_flow_merge(outlets, 2), "merge",
		      "input 2 has plain values, input 1 has items without a "
		      "name");
	flow = weir_flow_empty();
	weir_flow_operator_outlets(&flow, 1, &nothing, NULL, 2, outlets, NULL);
	outlets[0] = weir_flow_same_items(outlets[0]);
	outlets[1] = weir_flow_same_items(outlets[1]);
	ASSERT_FLOW(weir_flow_merge(outlets, 2), 0);
}

/* --- What is not right ------------------------------------------------------ */

static int bad_open(struct weir_operator *op)
{
	assert_int_equal(weir_operator_push_outlet(op, 0, NULL), -EAGAIN);
	assert_int_equal(weir_operator_end_outlet(op, 0, NULL), -EPERM);
	assert_false(weir_operator_wanted_outlet(op, 0));
	return 0;
}

static int bad_pull(struct weir_operator *op)
{
	size_t i = weir_operator_outlet(op);

	assert_int_equal(weir_operator_push_outlet(op, 2, NULL), -EINVAL);
	assert_int_equal(weir_operator_end_outlet(op, 2, NULL), -EINVAL);
	assert_false(weir_operator_wanted_outlet(op, 2));
	assert_int_equal(weir_operator_push_outlet(op, i, (void *)1), 0);
	assert_int_equal(weir_operator_push_outlet(op, i, (void *)2), -EAGAIN);
	assert_int_equal(weir_operator_wanted(op),
			 weir_operator_wanted_outlet(op, 0));
	if (i == 0)
		return 0;
	assert_int_equal(weir_operator_end_outlet(op, 0, NULL), 0);
	assert_int_equal(weir_operator_push(op, (void *)1), -EPIPE);
	assert_int_equal(weir_operator_push_outlet(op, 0, NULL), -EPIPE);
	assert_int_equal(weir_operator_end_outlet(op, 0, NULL), -EALREADY);
	assert_int_equal(weir_operator_end(op, NULL), 0);
	assert_int_equal(weir_operator_push_outlet(op, 1, NULL), -EPIPE);
	assert_int_equal(weir_operator_end_outlet(op, 1, NULL), -EALREADY);
	assert_false(weir_operator_wanted_outlet(op, 1));
	return 0;
}

static int only_pull(struct weir_operator *op)
{
	assert_int_equal(weir_operator_outlet(op), 0);
	assert_true(weir_operator_wanted_outlet(op, 0));
	assert_false(weir_operator_wanted_outlet(op, 1));
	assert_int_equal(weir_operator_push_outlet(op, 1, NULL), -EINVAL);
	assert_int_equal(weir_operator_end_outlet(op, 1, NULL), -EINVAL);
	assert_int_equal(weir_operator_push_outlet(op, 0, (void *)1), 0);
	assert_int_equal(weir_operator_push_outlet(op, 0, NULL), -EAGAIN);
	assert_int_equal(weir_operator_end_outlet(op, 0, NULL), 0);
	return 0;
}

static void a_call_that_is_not_right_says_so_and_changes_nothing(void **state)
{
	static const struct weir_operator_ops bad = {
		.open = bad_open,
		.on_pull = bad_pull,
	};
	static const struct weir_operator_ops only = {.on_pull = only_pull};
	struct weir_flow_fan_options options = {.capacity = 1};
	struct weir_flow *outlets[2];

	assert_int_equal(weir_flow_operator_outlets(NULL, 0, &bad, NULL, 2,
						    outlets, &options),
			 0);
	ASSERT_FLOW(weir_flow_merge(outlets, 2), 0, 1, 1);
	/* one that has no outlets but the flow itself */
	ASSERT_FLOW(weir_flow_operator_source(&only, NULL), 0, 1);
	assert_int_equal(weir_operator_push_outlet(NULL, 0, NULL), -EINVAL);
	assert_int_equal(weir_operator_end_outlet(NULL, 0, NULL), -EINVAL);
}

static void assert_refused(size_t n_flows, const struct weir_operator_ops *ops,
			   size_t n, bool has_outlets,
			   const struct weir_flow_fan_options *options)
{
	struct weir_flow *flows[2] = {NULL, NULL}, *outlets[2];
	const char *origin = NULL;
	size_t i;

	for (i = 0; i < n_flows; i++)
		flows[i] = weir_flow_range(1, 3);
	assert_int_equal(weir_flow_operator_outlets(
				 flows, n_flows, ops, NULL, n,
				 has_outlets ? outlets : NULL, options),
			 -EINVAL);
	for (i = 0; has_outlets && i < n; i++) {
		assert_int_equal(weir_flow_check(outlets[i], &origin, NULL),
				 -EINVAL);
		assert_string_equal(origin, "operator_outlets");
		weir_flow_free(outlets[i]);
	}
}

static int never_select(void *item, size_t outlet, void *context)
{
	return 0;
}

static void bad_arguments_make_failed_flows(void **state)
{
	static const struct weir_operator_ops nothing = {.name = NULL};
	static const struct weir_operator_ops too_large = {
		.state_size = SIZE_MAX};
	static const struct weir_operator_ops ahead = {.ahead = true};
	static const struct weir_flow_fan_options bad[] = {
		{.capacity = 3},
		{.capacity = SIZE_MAX},
		{.wait_for_all = true},
		{.shuffle = 7},
		{.queue = 1},
		{.select = never_select},
		{.reserved = {0, 0, 1}},
	};
	struct weir_flow *outlets[2];
	size_t i;

	assert_refused(1, NULL, 2, true, NULL);
	assert_refused(1, &too_large, 2, true, NULL);
	assert_refused(2, &ahead, 2, true, NULL);
	assert_refused(1, &nothing, 0, true, NULL);
	assert_refused(1, &nothing, 2, false, NULL);
	assert_refused(0, &nothing, 2, true, NULL);
	assert_refused(0, &splits, 2, true, NULL);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(1, &nothing, 2, true, &bad[i]);
	assert_int_equal(weir_flow_operator_outlets(NULL, 1, &nothing, NULL, 2,
						    outlets, NULL),
			 -EINVAL);
	weir_flow_free(outlets[0]);
	weir_flow_free(outlets[1]);
}

static void each_outlet_is_used_once(void **state)
{
	static const struct weir_operator_ops nothing = {.name = "nothing"};
	struct weir_flow *flow = weir_flow_range(1, 3), *outlets[2];
	const char *origin;

	weir_flow_operator_outlets(&flow, 1, &nothing, NULL, 2, outlets, NULL);
	/* one that is not connected */
	assert_int_equal(weir_flow_check(outlets[0], &origin, NULL), -EINVAL);
	assert_string_equal(origin, "nothing");
	assert_int_equal(run_on_sim(outlets[0], 1, 0), -EINVAL);
	/* and one that is connected twice */
	flow = weir_flow_merge((struct weir_flow *[]){outlets[0], outlets[0]},
			       2);
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EBUSY);
	weir_flow_free(flow);
	weir_flow_free(outlets[1]);
}

static struct weir_flow *with_outlets(void *item, void *context)
{
	static const struct weir_operator_ops nothing = {.name = "nothing"};
	struct weir_flow *flow = weir_flow_range(1, 3), *outlets[2];

	weir_flow_operator_outlets(&flow, 1, &nothing, NULL, 2, outlets, NULL);
	return weir_flow_merge(outlets, 2);
}

static void a_nested_flow_has_no_outlets(void **state)
{
	ASSERT_FLOW(weir_flow_flat_map(weir_flow_range(1, 3), 1, with_outlets,
				       NULL),
		    -ENOTSUP);
}

static int no_open(struct weir_operator *op)
{
	return -EDOM;
}

static void a_run_whose_operator_does_not_open_does_not_start(void **state)
{
	static const struct weir_operator_ops ops = {
		.name = "shut",
		.open = no_open,
		.on_cancel = not_told,
	};
	struct weir_flow *outlets[WAYS], *flow;
	struct seen seen;

	split(counted(weir_flow_range(1, 3)), &ops, &seen, 2, 0, outlets);
	flow = weir_flow_merge(outlets, 2);
	assert_int_equal(run_on_sim(flow, 1, 0), -EDOM);
	weir_flow_free(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_operator_goes_on_for_the_others),
		cmocka_unit_test(
			a_cancel_lets_go_of_what_waits_for_that_outlet),
		cmocka_unit_test(the_operator_may_end_with_the_first_cancel),
		cmocka_unit_test(
			it_ends_when_all_are_cancelled_or_one_that_is_eager),
		cmocka_unit_test(
			an_outlet_ends_alone_and_the_last_ends_the_operator),
		cmocka_unit_test(an_outlet_may_end_with_an_error),
		cmocka_unit_test(errors_reach_all_outlets),
		cmocka_unit_test(an_error_of_the_operator_has_its_name),
		cmocka_unit_test(a_run_that_is_cancelled_drops_what_is_kept),
		cmocka_unit_test(what_outlets_emit_is_said_of_each),
		cmocka_unit_test(
			a_call_that_is_not_right_says_so_and_changes_nothing),
		cmocka_unit_test(bad_arguments_make_failed_flows),
		cmocka_unit_test(each_outlet_is_used_once),
		cmocka_unit_test(a_nested_flow_has_no_outlets),
		cmocka_unit_test(
			a_run_whose_operator_does_not_open_does_not_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
