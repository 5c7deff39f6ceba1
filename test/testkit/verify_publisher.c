/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suite of publishers: correct ones pass all of it, and each way to get it
 * wrong fails the test that is there for it.
 */
#include "testkit/publishers.h"

#include <stdio.h>
#include <string.h>

/* Where a mistake is made. */
enum where {
	ANYWHERE,
	CALLING, /* on the calling thread alone: to find it takes long */
};

/* A mistake, and the test that rejects it. */
static const struct mistake {
	enum broken_publisher broken;
	const char *name;
	const char *test;
	enum where where;
} mistakes[] = {
#define MISTAKE(broken, ...) \
	{ \
		broken, #broken, __VA_ARGS__ \
	}
	MISTAKE(OVERRUNS, "spec_1_01_items_keep_to_the_demand"),
	MISTAKE(IGNORES_DEMAND, "spec_1_01_items_keep_to_the_demand"),
	MISTAKE(OVERRUNS_IN_BATCHES, "spec_1_01_batches_keep_to_the_demand"),
	MISTAKE(SAME_VALUE, "spec_1_01_items_come_once_and_in_order"),
	MISTAKE(SWAPS_ITEMS, "spec_1_01_items_come_once_and_in_order"),
	MISTAKE(SKIPS_ITEM, "spec_1_01_items_come_once_and_in_order"),
	MISTAKE(REPEATS_ITEM, "spec_1_01_items_come_once_and_in_order"),
	MISTAKE(NULL_ITEM, "spec_1_01_items_keep_to_the_demand"),
	MISTAKE(ENDS_EARLY, "spec_1_02_stream_may_end_before_the_demand"),
	MISTAKE(ENDS_LATE, "spec_1_02_stream_may_end_before_the_demand"),
	MISTAKE(SENDS_AT_ONCE, "spec_1_03_signals_are_serial"),
	MISTAKE(SENDS_INSIDE_ON_SUBSCRIBE,
		"spec_1_03_no_signal_inside_on_subscribe"),
	MISTAKE(FAILURE_COMPLETES, "spec_1_04_failure_is_told"),
	MISTAKE(FAILURE_IS_SILENT, "spec_1_04_failure_is_told"),
	MISTAKE(FAILURE_IS_SILENT, "spec_1_04_failure_is_told_to_all"),
	MISTAKE(FAILURE_NEEDS_DEMAND, "spec_1_04_failure_needs_no_demand"),
	MISTAKE(NEVER_COMPLETES, "spec_1_05_end_needs_no_demand"),
	MISTAKE(COMPLETES_TWICE, "spec_1_05_end_needs_no_demand"),
	MISTAKE(COMPLETE_NEEDS_DEMAND, "spec_1_05_end_needs_no_demand"),
	MISTAKE(EMPTY_NEVER_COMPLETES, "spec_1_05_empty_stream_ends_at_once"),
	MISTAKE(COMPLETES_AFTER_ERROR, "spec_1_06_failed_counts_as_cancelled"),
	MISTAKE(FAILS_AFTER_COMPLETE,
		"spec_1_06_completed_counts_as_cancelled"),
	MISTAKE(SENDS_AFTER_COMPLETE,
		"spec_1_06_completed_counts_as_cancelled"),
	MISTAKE(SENDS_AFTER_FAILURE, "spec_1_06_failed_counts_as_cancelled"),
	MISTAKE(SENDS_AFTER_REFUSAL,
		"spec_1_07_no_signal_after_the_error_of_a_request"),
	MISTAKE(ZERO_IS_FINE, "spec_3_09_request_of_zero_is_refused"),
	MISTAKE(NEGATIVE_IS_FINE, "spec_3_09_negative_request_is_refused"),
	MISTAKE(LEAST_IS_A_LOT, "spec_3_09_least_request_is_refused"),
	MISTAKE(REFUSES_TWICE, "spec_3_09_request_of_zero_is_refused"),
	MISTAKE(REFUSES_LATE, "spec_3_09_request_of_zero_is_refused"),
	MISTAKE(REFUSES_WRONGLY, "spec_3_09_request_of_zero_is_refused"),
	MISTAKE(REFUSES_AFTER_END, "spec_1_06_completed_counts_as_cancelled"),
	MISTAKE(REFUSES_AFTER_CANCEL,
		"spec_3_06_request_after_cancel_does_nothing"),
	MISTAKE(IGNORES_CANCEL, "spec_3_12_cancel_stops_the_stream"),
	MISTAKE(COMPLETES_ON_CANCEL, "spec_1_08_no_end_after_cancel"),
	MISTAKE(FAILS_ON_CANCEL, "spec_1_08_no_end_after_cancel"),
	MISTAKE(REQUEST_REVIVES, "spec_3_06_request_after_cancel_does_nothing"),
	MISTAKE(LETS_GO_TWICE, "spec_3_07_cancel_after_cancel_does_nothing"),
	MISTAKE(NULL_SUBSCRIBER_IS_FINE,
		"spec_1_09_null_subscriber_is_refused"),
	MISTAKE(NULL_SUBSCRIBER_COUNTS, "spec_1_09_null_subscriber_is_refused"),
	MISTAKE(SUBSCRIBE_FAILS, "spec_1_09_on_subscribe_comes_first"),
	MISTAKE(NO_ON_SUBSCRIBE, "spec_1_09_on_subscribe_comes_first"),
	MISTAKE(ON_SUBSCRIBE_TWICE, "spec_1_09_on_subscribe_comes_first"),
	MISTAKE(NEXT_BEFORE_ON_SUBSCRIBE, "spec_1_09_on_subscribe_comes_first"),
	MISTAKE(REJECTS_WITHOUT_ON_SUBSCRIBE, "spec_1_09_rejection_is_told"),
	MISTAKE(REJECTS_SILENTLY, "spec_1_09_rejection_is_told"),
	MISTAKE(REJECTS_TWICE, "spec_1_09_rejection_is_told"),
	MISTAKE(SERVES_ONE_EVER, "spec_1_10_many_subscribe_one_after_another"),
	MISTAKE(SERVES_ONE_EVER, "spec_3_14_told_after_the_last_has_cancelled"),
	MISTAKE(SHARES_DEMAND, "spec_1_11_each_has_demand_of_its_own"),
	MISTAKE(SHARES_ITEMS, "spec_1_11_all_get_the_same"),
	MISTAKE(LEAVING_ENDS_ALL, "spec_1_11_leaving_disturbs_nobody"),
	MISTAKE(SENDS_TO_FAILED, "spec_2_13_no_signal_after_on_next_failed"),
	MISTAKE(SENDS_TO_FAILED,
		"spec_2_13_no_signal_after_on_subscribe_failed"),
	MISTAKE(SENDS_TO_FAILED, "spec_2_13_no_signal_after_a_batch_failed"),
	MISTAKE(SENDS_TO_FAILED,
		"spec_2_13_no_end_after_the_last_on_next_failed"),
	MISTAKE(COMPLETES_FAILED, "spec_2_13_no_signal_after_on_next_failed"),
	MISTAKE(FAILS_FAILED, "spec_2_13_no_signal_after_on_next_failed"),
	MISTAKE(KEEPS_FAILED, "spec_2_13_no_signal_after_on_next_failed"),
	MISTAKE(LEAKS_REFUSED_ITEM, "spec_2_13_no_signal_after_on_next_failed"),
	MISTAKE(LEAKS_REFUSED_ITEM, "spec_2_13_no_signal_after_a_batch_failed"),
	MISTAKE(RECURSES, "spec_3_02_requests_inside_signals"),
	MISTAKE(RECURSES, "spec_3_03_stack_is_constant_one_by_one"),
	MISTAKE(RECURSES_LATER, "spec_3_03_stack_is_constant_one_by_one"),
	MISTAKE(RECURSES_ALONE, "spec_3_03_stack_is_constant_at_once"),
	MISTAKE(REQUEST_SLEEPS, "spec_3_04_request_does_not_sleep"),
	MISTAKE(CANCEL_SLEEPS, "spec_3_05_cancel_does_not_sleep"),
	MISTAKE(REQUEST_LOCKED_OUT, "spec_3_04_request_returns_during_a_signal",
		CALLING),
	MISTAKE(CANCEL_LOCKED_OUT, "spec_3_05_cancel_returns_during_a_signal",
		CALLING),
	MISTAKE(REPLACES_DEMAND, "spec_3_08_requests_add_up"),
	MISTAKE(LOSES_REQUESTS, "spec_3_08_concurrent_requests_add_up"),
	MISTAKE(WRAPS_DEMAND, "spec_3_17_greatest_sum"),
	MISTAKE(WRAPS_DEMAND, "spec_3_17_greatest_inside_signals"),
	MISTAKE(GREATEST_FAILS, "spec_3_17_greatest_sum"),
	MISTAKE(GREATEST_FAILS, "spec_3_17_greatest_inside_signals"),
	MISTAKE(KEEPS_CANCELLED,
		"spec_3_13_released_after_a_cancel_between_items"),
	MISTAKE(KEEPS_CANCELLED,
		"spec_3_13_released_after_a_cancel_in_on_subscribe"),
	MISTAKE(KEEPS_CANCELLED,
		"spec_3_13_released_after_a_cancel_in_on_next"),
	MISTAKE(KEEPS_CANCELLED_IDLE,
		"spec_3_13_released_after_a_cancel_when_idle"),
	MISTAKE(KEEPS_COMPLETED, "spec_1_05_end_needs_no_demand"),
	MISTAKE(KEEPS_AFTER_FAILURE, "spec_1_04_failure_is_told"),
	MISTAKE(KEEPS_REFUSED, "spec_3_09_negative_request_is_refused"),
	MISTAKE(KEEPS_REJECTED, "spec_1_09_rejection_is_told"),
	MISTAKE(NO_REFERENCE, "spec_1_09_on_subscribe_comes_first"),
	MISTAKE(LETS_GO_EARLY, "spec_1_05_end_needs_no_demand"),
	MISTAKE(LETS_GO_INSIDE, "spec_3_13_released_after_a_cancel_in_on_next"),
	MISTAKE(LEAKS_SUBSCRIPTION, "spec_1_05_end_needs_no_demand"),
	MISTAKE(LEAKS_ITEM, "spec_3_13_released_after_a_cancel_between_items"),
};

#define N_MISTAKES (sizeof(mistakes) / sizeof(*mistakes))

/* Turns what a suite says into assertions. */
static void show(struct weir_verify_report *report, const char *test,
		 enum weir_verdict verdict, const char *why)
{
	if (verdict != WEIR_VERDICT_PASSED)
		print_message("%s %s: %s\n",
			      verdict == WEIR_VERDICT_FAILED ? "failed"
							     : "skipped",
			      test, why);
}

/* Every test passes, but so many that cannot be made. */
static void passes(bool served, uint32_t max_subscribers, uint32_t skipped)
{
	struct weir_verify_report report = {.result = show};
	struct ranges ranges;

	ranges_init(&ranges, PUBLISHER_CORRECT, served);
	ranges.factory.max_subscribers = max_subscribers;
	assert_int_equal(weir_verify_publisher(&ranges.factory, &report), 0);
	assert_int_equal(report.skipped, skipped);
	assert_in_range(report.passed, 40, 100);
	ranges_fini(&ranges);
}

static void correct_publisher_passes_on_the_calling_thread(void **state)
{
	passes(false, 0, 1);
	passes(false, 3, 0);
	passes(false, 1, 4);
}

static void correct_publisher_passes_on_a_thread_of_its_own(void **state)
{
	passes(true, 0, 1);
	passes(true, 3, 0);
	passes(true, 1, 4);
}

static void what_cannot_be_made_is_skipped(void **state)
{
	struct weir_verify_report report = {0};
	struct ranges ranges;

	ranges_init(&ranges, PUBLISHER_CORRECT, false);
	ranges.factory.create_failing = NULL;
	ranges.factory.create_rejecting = NULL;
	ranges.factory.max_items = 15;
	ranges.factory.env.one_thread = true;
	assert_int_equal(weir_verify_publisher(&ranges.factory, &report), 0);
	assert_int_equal(report.failed, 0);
	assert_in_range(report.skipped, 10, 20);
	ranges_fini(&ranges);
}

static void factory_must_be_complete(void **state)
{
	struct weir_verify_report report = {0};
	struct ranges ranges;

	ranges_init(&ranges, PUBLISHER_CORRECT, false);
	assert_int_equal(weir_verify_publisher(NULL, &report), -EINVAL);
	assert_int_equal(weir_verify_publisher(&ranges.factory, NULL), -EINVAL);
	ranges.factory.is_item = NULL;
	assert_int_equal(weir_verify_publisher(&ranges.factory, &report),
			 -EINVAL);
	ranges_fini(&ranges);
}

/* The suite comes to its end and finds the mistake, by that test. */
static void rejects(const struct mistake *mistake, bool served)
{
	struct weir_verify_report report = {.only = mistake->test};
	struct ranges ranges;
	int failed;

	ranges_init(&ranges, mistake->broken, served);
	if (mistake->broken == REJECTS_TWICE)
		ranges.factory.max_subscribers = 1;
	failed = weir_verify_publisher(&ranges.factory, &report);
	if (failed != 1)
		print_message("%s is not rejected by %s\n", mistake->name,
			      mistake->test);
	assert_int_equal(failed, 1);
	ranges_fini(&ranges);
}

static void every_mistake_is_rejected_on_the_calling_thread(void **state)
{
	size_t i;

	for (i = 0; i < N_MISTAKES; i++)
		rejects(&mistakes[i], false);
}

static void every_mistake_is_rejected_on_a_thread_of_its_own(void **state)
{
	size_t i;

	for (i = 0; i < N_MISTAKES; i++) {
		if (mistakes[i].where == ANYWHERE)
			rejects(&mistakes[i], true);
	}
}

static void every_mistake_has_a_test(void **state)
{
	bool found[N_BROKEN_PUBLISHERS] = {[PUBLISHER_CORRECT] = true};
	size_t i;

	for (i = 0; i < N_MISTAKES; i++)
		found[mistakes[i].broken] = true;
	for (i = 0; i < N_BROKEN_PUBLISHERS; i++)
		assert_true(found[i]);
}

static void no_mistake_stops_the_suite(void **state)
{
	struct weir_verify_report report;
	struct ranges ranges;
	enum broken_publisher broken;
	int rc;

	for (broken = PUBLISHER_CORRECT + 1; broken < N_BROKEN_PUBLISHERS;
	     broken++) {
		if (broken == REQUEST_LOCKED_OUT || broken == CANCEL_LOCKED_OUT)
			continue; /* they take long, by tests of their own */
		report = (struct weir_verify_report){0};
		ranges_init(&ranges, broken, false);
		rc = weir_verify_publisher(&ranges.factory, &report);
		if (rc <= 0)
			print_error("mistake %u passes\n", (unsigned)broken);
		assert_in_range(rc, 1, 100);
		ranges_fini(&ranges);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			correct_publisher_passes_on_the_calling_thread),
		cmocka_unit_test(
			correct_publisher_passes_on_a_thread_of_its_own),
		cmocka_unit_test(what_cannot_be_made_is_skipped),
		cmocka_unit_test(factory_must_be_complete),
		cmocka_unit_test(
			every_mistake_is_rejected_on_the_calling_thread),
		cmocka_unit_test(
			every_mistake_is_rejected_on_a_thread_of_its_own),
		cmocka_unit_test(every_mistake_has_a_test),
		cmocka_unit_test(no_mistake_stops_the_suite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
