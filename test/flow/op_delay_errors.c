/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors that wait for the other parts: of several flows, and which error. */
#include "flow/op_delay_kit.h"

/* --- Several flows made one ----------------------------------------------- */

static struct weir_flow *merge_of(struct weir_flow *const *taps)
{
	struct weir_flow *flows[PLAYED_MAX];

	tell_apart(taps, flows);
	return delayed(weir_flow_merge(flows, PLAYED_MAX));
}

static struct weir_flow *preferred_of(struct weir_flow *const *taps)
{
	struct weir_flow *flows[PLAYED_MAX];

	tell_apart(taps, flows);
	return delayed(weir_flow_merge_preferred(flows, PLAYED_MAX));
}

static struct weir_flow *prioritized_of(struct weir_flow *const *taps)
{
	static const uint32_t weights[] = {1, 2, 3};
	struct weir_flow *flows[PLAYED_MAX];

	tell_apart(taps, flows);
	return delayed(weir_flow_merge_prioritized(flows, PLAYED_MAX, weights));
}

static struct weir_flow *all_of(struct weir_flow *const *taps)
{
	struct weir_flow *flows[PLAYED_MAX];

	tell_apart(taps, flows);
	return delayed(weir_flow_all(flows, PLAYED_MAX));
}

/* All of one, of which the error was not delayed. */
static struct weir_flow *merge_of_one(struct weir_flow *const *taps)
{
	weir_flow_free(taps[1]);
	weir_flow_free(taps[2]);
	return delayed(weir_flow_merge(taps, 1));
}

static void a_part_that_fails_has_ended_and_the_others_go_on(void **state)
{
	static struct weir_flow *(*const merges[])(
		struct weir_flow *const *) = {merge_of, preferred_of,
					      prioritized_of};
	size_t i;

	for (i = 0; i < 3; i++) {
		assert_played(merges[i], "a1 1 a! b2 2 c3 3 b| c4 4 c| !");
		assert_played(merges[i], "a1 1 b! c2 2 a3-5 3 4 5 c| a| !33");
		assert_played(merges[i], "c! b7 7 a8 8 a| b| !71");
	}
	assert_played(all_of, "a1 a! b2 c3 b| c4 c| !");
	assert_played(merge_of_one, "a1 1 a! !");
}

static void the_first_error_is_the_one(void **state)
{
	assert_played(merge_of, "b! a! c! !33");
	assert_played(merge_of, "c! a1 1 b! a| !71");
	assert_played(merge_of, "a| b| c! !71");
	assert_played(all_of, "b! a! c! !33");
	assert_played(merge_of, "a| b| c| |");
}

static struct weir_flow *concat_of(struct weir_flow *const *taps)
{
	struct weir_flow *flows[PLAYED_MAX];

	tell_apart(taps, flows);
	return delayed(weir_flow_concat(flows, PLAYED_MAX));
}

static struct weir_flow *prepend_of(struct weir_flow *const *taps)
{
	weir_flow_free(taps[2]);
	return delayed(weir_flow_prepend(taps[1], taps[0]));
}

static void the_next_is_passed_behind_one_that_fails(void **state)
{
	assert_played(concat_of, "a1 1 a! b2 2 b| c3 3 c| !");
	assert_played(concat_of, "a| b2 2 b! c3 3 c! !33");
	assert_played(prepend_of, "a1 1 a! b2 2 b| !");
}

static struct weir_flow *interleave_of(struct weir_flow *const *taps)
{
	struct weir_flow *flows[PLAYED_MAX];

	tell_apart(taps, flows);
	return delayed(weir_flow_interleave(flows, PLAYED_MAX, 1));
}

static int by_value(void *a, void *b, void *context)
{
	return (int)(number(a) - number(b));
}

static struct weir_flow *sorted_of(struct weir_flow *const *taps)
{
	struct weir_flow *flows[PLAYED_MAX];

	tell_apart(taps, flows);
	return delayed(
		weir_flow_merge_sorted(flows, PLAYED_MAX, by_value, NULL));
}

static void one_that_fails_is_not_waited_for(void **state)
{
	assert_played(interleave_of, "a1 1 b! c3 3 a4 4 c! a5-6 5 6 a| !33");
	assert_played(sorted_of, "a1 b2 c! 1 a5 2 b6 5 a! 6 b| !71");
}

/* In their order; NULL, the padding, is 0, and 7 cannot be combined. */
static int digits(void *const *items, size_t n, void **result, void *context)
{
	const bool *keeps = context;
	intptr_t value = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (items[i] && number(items[i]) == 7)
			return -EDOM;
	for (i = 0; i < n; i++) {
		value = 10 * value + (items[i] ? number(items[i]) : 0);
		if (items[i] && !*keeps)
			item_drop(items[i], NULL);
	}
	*result = item_new(value);
	return 0;
}

static struct weir_flow *zip_of(struct weir_flow *const *taps)
{
	static bool keeps = false;

	weir_flow_free(taps[2]);
	return delayed(weir_flow_items(weir_flow_zip(taps, 2, digits, &keeps),
				       &counted_items));
}

static struct weir_flow *zip_all_of(struct weir_flow *const *taps)
{
	static void *const padding[2];
	static bool keeps = false;
	struct weir_flow *flow;

	weir_flow_free(taps[2]);
	flow = weir_flow_zip_all(taps, 2, padding, digits, &keeps);
	return delayed(weir_flow_items(flow, &counted_items));
}

static struct weir_flow *latest_of(struct weir_flow *const *taps)
{
	static bool keeps = true;
	struct weir_flow *flow;

	weir_flow_free(taps[2]);
	flow = weir_flow_combine_latest(taps, 2, digits, &keeps);
	return delayed(weir_flow_items(flow, &counted_items));
}

static int append(void **item, void *newest, void *context)
{
	((struct item *)*item)->value *= 10;
	((struct item *)*item)->value += number(newest);
	return 0;
}

static struct weir_flow *with_of(struct weir_flow *const *taps)
{
	struct weir_flow *flow;

	weir_flow_free(taps[2]);
	flow = weir_flow_with_latest_from(taps[0], taps[1], append, NULL);
	return delayed(weir_flow_same_items(flow));
}

static void what_its_end_means_its_failure_means(void **state)
{
	/* it completes behind the items of the shortest */
	assert_played(zip_of, "a1-2 a! b5 15 b6 26 -b !");
	assert_played(zip_of, "a! -b !");
	/* there is padding in its place */
	assert_played(zip_all_of, "a1 b5 15 a! b6 6 b| !");
	/* its newest item stays, if there is one */
	assert_played(latest_of, "a1 b5 15 a! b6 16 b8 18 b| !");
	assert_played(latest_of, "a1 b! -a !");
	assert_played(with_of, "b5 a1 15 b! a2 25 a| !");
	assert_played(with_of, "b5 a1 15 a! -b !");
}

static void a_failure_of_its_own_ends_it_at_once(void **state)
{
	assert_played(latest_of, "a1 b5 15 b7 -a -b !33");
	/* whatever is delayed */
	assert_played(latest_of, "a1 b5 15 a! b7 -b !33");
	assert_played(zip_all_of, "a1 b5 15 a! b7 -b !33");
}

/* --- Which error ---------------------------------------------------------- */

static size_t n_causes;

static void drop_cause(void *cause)
{
	assert_ptr_equal(cause, &n_causes);
	n_causes--;
}

static struct weir_error *with_cause(struct weir_error *error, void *context)
{
	struct weir_error *made;

	assert_int_equal(weir_error_new(&made, error->code, "test", "why",
					&n_causes, drop_cause, NULL),
			 0);
	n_causes++;
	return made;
}

static struct weir_flow *failure_with_cause(int code)
{
	return weir_flow_map_error(failure(code), with_cause, NULL);
}

static void it_is_passed_on_as_it_was(void **state)
{
	struct weir_flow *flows[] = {weir_flow_range(1, 3),
				     failure_with_cause(-EIO),
				     failure_with_cause(-EDOM)};
	struct weir_error *error;

	error = error_of(delayed(weir_flow_merge(flows, 3)));
	assert_int_equal(error->code, -EIO);
	assert_string_equal(error->origin, "test");
	assert_string_equal(error->message, "why");
	assert_ptr_equal(error->cause, &n_causes);
	assert_int_equal(n_causes, 1);
	weir_error_unref(error);
	assert_int_equal(n_causes, 0);
}

static void all_errors_are_told_of_when_they_come(void **state)
{
	struct weir_flow *flows[] = {failure(-EIO), weir_flow_range(1, 3),
				     failure(-EDOM), failure(-EPROTO)};
	struct heard heard = {0}, last = {0};
	struct weir_flow *flow = heard_by(weir_flow_merge(flows, 4), &heard);

	/* the last call counts */
	weir_error_unref(error_of(heard_by(flow, &last)));
	ASSERT_HEARD(&last, -EIO, -EDOM, -EPROTO);
	assert_int_equal(heard.n, 0);
}

static void a_failure_of_its_own_is_told_of_as_well(void **state)
{
	struct weir_flow *flows[] = {failure(-EIO), counted(failure(-EPROTO)),
				     counted(weir_flow_single((void *)7))};
	static void *const padding[3];
	static bool keeps = false;
	struct heard heard = {0};
	struct weir_flow *flow;

	flows[0] = counted(flows[0]);
	flow = weir_flow_zip_all(flows, 3, padding, digits, &keeps);
	flow = weir_flow_items(flow, &counted_items);
	weir_error_unref(error_of(heard_by(flow, &heard)));
	ASSERT_HEARD(&heard, -EIO, -EPROTO, -EDOM);
	assert_int_equal(n_live, 0);
}

static void one_delays_what_another_has_delayed(void **state)
{
	struct heard inner = {0}, outer = {0};
	struct weir_flow *flows[] = {failure(-EIO),
				     weir_flow_lazy(failure(-EDOM))};
	struct weir_flow *both[] = {
		heard_by(weir_flow_concat(flows, 2), &inner),
		weir_flow_range(1, 3),
	};
	struct weir_flow *flow = heard_by(weir_flow_concat(both, 2), &outer);

	ASSERT_FLOW(weir_flow_take(flow, 9), -EIO, 1, 2, 3);
	assert_int_equal(inner.n / outer.n, 2);
}

/* --- Fans ----------------------------------------------------------------- */

static void the_error_of_a_fan_comes_with_each_outlet(void **state)
{
	struct heard heard = {0};
	struct weir_flow *flows[3],
		*both[] = {weir_flow_range(1, 2), failure(-EIO)};

	flows[2] = weir_flow_async(weir_flow_range(3, 9), 1, NULL);
	assert_int_equal(weir_flow_broadcast(weir_flow_concat(both, 2), 2,
					     flows, NULL),
			 0);
	flows[0] = heard_by(weir_flow_merge(flows, 3), &heard);
	ASSERT_FLOW(weir_flow_count(weir_flow_complete_on_error(
			    weir_flow_take(flows[0], 100), NULL, NULL)),
		    0, 11);
	assert_true(heard.n > 0 && heard.n % 2 == 0);
}

static int reject_2(void *item, void *context)
{
	return (intptr_t)item == 2 ? -EPROTO : 0;
}

static void a_sink_that_fails_leaves_the_others_theirs(void **state)
{
	static struct got got;
	struct weir_flow *outlets[2], *flow;

	assert_int_equal(weir_flow_broadcast(weir_flow_range(1, 600), 2,
					     outlets, NULL),
			 0);
	outlets[0] = weir_flow_for_each(outlets[0], reject_2, NULL);
	outlets[1] = into(outlets[1], &got);
	flow = delayed(weir_flow_all(outlets, 2));
	for_each_seed(seed, 20) {
		got.n = 0;
		assert_int_equal(run_on_sim(flow, seed, seed % 2 * 4), -EPROTO);
		assert_int_equal(got.n, 600);
	}
	weir_flow_free(flow);
}

/* --- Ends ----------------------------------------------------------------- */

static void a_cancel_does_not_wait_and_is_no_failure(void **state)
{
	struct weir_flow *flows[] = {failure_with_cause(-EIO),
				     weir_flow_range(1, 9)};
	struct heard heard = {0};
	struct weir_flow *flow = heard_by(weir_flow_merge(flows, 2), &heard);

	ASSERT_FLOW(weir_flow_take(flow, 2), 0, 1, 2);
	assert_true(heard.n > 0);
	assert_int_equal(n_causes, 0);
}

static struct weir_flow *until_of(struct weir_flow *const *taps)
{
	return weir_flow_take_until(taps[0],
				    delayed(weir_flow_merge(taps + 1, 2)));
}

static void what_is_not_wanted_any_more_cannot_fail(void **state)
{
	assert_played(until_of, "a1 1 b! a2 2 c5 -a -c |");
	assert_played(until_of, "a1 1 b! a2 2 c! -a !");
}

static struct weir_flow *failing_nest(void *memory, void *context)
{
	intptr_t value = number(memory);
	struct weir_flow *flows[] = {
		counted(weir_flow_range(value, value + 3)),
		counted(failure_with_cause(-EIO)),
	};

	item_drop(memory, NULL);
	return delayed(weir_flow_merge(flows, 2));
}

static struct weir_flow *failing_everywhere(void)
{
	struct weir_flow *flow, *flows[2];

	flow = weir_flow_flat_map(counted(weir_flow_range(1, 9)), 3,
				  failing_nest, NULL);
	flows[0] = delayed(weir_flow_items(flow, &counted_items));
	flows[1] = weir_flow_async(counted(weir_flow_range(1, 90)), 2, NULL);
	return delayed(weir_flow_merge(flows, 2));
}

static void a_run_that_is_stopped_keeps_no_error(void **state)
{
	assert_cancel(failing_everywhere());
	assert_int_equal(n_causes, 0);
}

/* A drain ends what would go on for ever. */
static void at_a_drain_the_error_comes(void **state)
{
	struct tap tap = {0};
	struct weir_flow *flows[2];
	struct trial trial;
	static struct got got;

	for_each_seed(seed, 10) {
		memset(&tap, 0, sizeof(tap));
		got.n = 0;
		flows[0] = failure(-EIO);
		flows[1] = tap_flow(&tap);
		begin(&trial, into(delayed(weir_flow_merge(flows, 2)), &got),
		      seed, seed % 2);
		tap_give(&tap, 1, 3);
		rest(&trial);
		assert_int_equal(got.n, 3);
		assert_false(is_over(&trial));
		weir_flow_run_end(trial.run);
		rest(&trial);
		assert_true(is_over(&trial));
		assert_int_equal(end(&trial), -EIO);
	}
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow = into(failing_everywhere(), &got);

	(void)assert_short_of_memory(flow, &got, -EIO);
	weir_flow_free(flow);
	assert_int_equal(n_causes, 0);
}

/* --- Of what it can be said ----------------------------------------------- */

static struct weir_flow *nothing(void *context)
{
	return weir_flow_empty();
}

static void assert_refused(struct weir_flow *flow, const char *why)
{
	const char *origin = NULL, *message = NULL;

	flow = delayed(flow);
	assert_int_equal(weir_flow_check(flow, &origin, &message), -EINVAL);
	assert_string_equal(origin, "delay_errors");
	assert_string_equal(message, why);
	weir_flow_free(flow);
}

static void others_have_no_errors_that_could_wait(void **state)
{
	struct weir_flow *both[] = {weir_flow_range(1, 2),
				    weir_flow_range(1, 2)};

	assert_refused(weir_flow_range(1, 2), "range has no errors to delay");
	assert_refused(weir_flow_take(weir_flow_range(1, 2), 1),
		       "take has no errors to delay");
	assert_refused(weir_flow_restart(nothing, NULL, NULL),
		       "restart has no errors to delay");
	assert_refused(weir_flow_restart_around(weir_flow_range(1, 2), as_it_is,
						NULL, NULL),
		       "restart_around has no errors to delay");
	assert_refused(weir_flow_async(weir_flow_merge(both, 2), 4, NULL),
		       "async has no errors to delay");
	both[0] = weir_flow_range(1, 2);
	both[1] = weir_flow_range(1, 2);
	assert_refused(weir_flow_merge_eager(both, 2),
		       "merge_eager has no errors to delay");
	both[0] = weir_flow_range(1, 2);
	both[1] = weir_flow_range(1, 2);
	assert_refused(weir_flow_amb(both, 2), "amb has no errors to delay");
	assert_refused(NULL, "no flow");
}

static void a_failed_flow_stays_as_it_is(void **state)
{
	struct weir_flow *flow = weir_flow_merge(NULL, 0);

	assert_ptr_equal(delayed(flow), flow);
	weir_flow_free(flow);
}

static void a_flow_that_another_has_stays_the_others(void **state)
{
	struct weir_flow *range = weir_flow_range(1, 2);
	struct weir_flow *flow = weir_flow_drop(range, 1);
	struct weir_flow *failed = delayed(range);

	assert_int_equal(weir_flow_check(failed, NULL, NULL), -EBUSY);
	weir_flow_free(failed);
	ASSERT_FLOW(flow, 0, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_part_that_fails_has_ended_and_the_others_go_on),
		cmocka_unit_test(the_first_error_is_the_one),
		cmocka_unit_test(the_next_is_passed_behind_one_that_fails),
		cmocka_unit_test(one_that_fails_is_not_waited_for),
		cmocka_unit_test(what_its_end_means_its_failure_means),
		cmocka_unit_test(a_failure_of_its_own_ends_it_at_once),
		cmocka_unit_test(it_is_passed_on_as_it_was),
		cmocka_unit_test(all_errors_are_told_of_when_they_come),
		cmocka_unit_test(a_failure_of_its_own_is_told_of_as_well),
		cmocka_unit_test(one_delays_what_another_has_delayed),
		cmocka_unit_test(the_error_of_a_fan_comes_with_each_outlet),
		cmocka_unit_test(a_sink_that_fails_leaves_the_others_theirs),
		cmocka_unit_test(a_cancel_does_not_wait_and_is_no_failure),
		cmocka_unit_test(what_is_not_wanted_any_more_cannot_fail),
		cmocka_unit_test(a_run_that_is_stopped_keeps_no_error),
		cmocka_unit_test(at_a_drain_the_error_comes),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(others_have_no_errors_that_could_wait),
		cmocka_unit_test(a_failed_flow_stays_as_it_is),
		cmocka_unit_test(a_flow_that_another_has_stays_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
