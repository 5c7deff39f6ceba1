/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suite of publishers: items, and the end; 1.1 to 1.8, and 2.13. All on the
 * thread that runs the tests; signals come on any.
 */
#include "testkit/publisher_steps.h"

/* --- 1.1, 1.2, order ------------------------------------------------------ */

static void keeps_to_the_demand(struct weir__verify *verify, bool batches)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(
		verify, 20,
		&(struct weir_subscriber_probe_options){.batches = batches});

	if (!probe || !weir__pub_gets(verify, probe, 0))
		return;
	weir_subscriber_probe_request(probe, 1);
	if (!weir__pub_gets(verify, probe, 1))
		return;
	weir_subscriber_probe_request(probe, 2);
	if (!weir__pub_gets(verify, probe, 2))
		return;
	weir_subscriber_probe_request(probe, 3);
	weir_subscriber_probe_request(probe, 4);
	if (weir__pub_gets(verify, probe, 7))
		weir__pub_in_order(verify, probe);
}

static void items_keep_to_the_demand(struct weir__verify *verify)
{
	keeps_to_the_demand(verify, false);
}

static void batches_keep_to_the_demand(struct weir__verify *verify)
{
	keeps_to_the_demand(verify, true);
}

static void items_come_once_and_in_order(struct weir__verify *verify)
{
	int64_t n = weir__pub_many(verify), left, chunk = 1;
	struct weir_subscriber_probe *probe = weir__pub_stream(verify, n, NULL);

	for (left = n; probe && left > 0; left -= chunk++) {
		if (chunk > left)
			chunk = left;
		weir_subscriber_probe_request(probe, chunk);
		if (!weir__verify_expected(
			    verify, probe,
			    weir_subscriber_probe_expect_next_n(probe, chunk)))
			return;
	}
	if (probe && weir__pub_completes(verify, probe))
		weir__pub_in_order(verify, probe);
}

static void may_end_before_the_demand(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(verify, 3, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 10);
	if (weir__pub_gets_all(verify, probe, 3))
		weir__pub_in_order(verify, probe);
}

/* --- 1.3 ------------------------------------------------------------------ */

static void signals_inside_on_subscribe(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(
		verify, 5,
		&(struct weir_subscriber_probe_options){.request_first = 10});

	if (probe)
		weir__pub_gets_all(verify, probe, 5);
}

/* --- 1.4 ------------------------------------------------------------------ */

static void failure_is_told(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__pub_make_failing(verify, 3);
	struct weir_subscriber_probe *probe =
		publisher ? weir__pub_subscribe(verify, publisher, NULL) : NULL;

	if (!probe || !weir__pub_gets(verify, probe, 0))
		return;
	weir_subscriber_probe_request(probe, 3);
	WEIR__CHECK(verify,
		    weir_subscriber_probe_expect_next_n(probe, 3) &&
			    weir_subscriber_probe_expect_error(probe, 0),
		    "1.4: %s", weir_subscriber_probe_failure(probe));
	if (weir__pub_silent(verify, probe))
		weir__pub_released(verify, probe);
}

static void failure_needs_no_demand(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__pub_make_failing(verify, 0);
	struct weir_subscriber_probe *probe =
		publisher ? weir__pub_subscribe(verify, publisher, NULL) : NULL;

	if (probe && weir__pub_fails(verify, probe, 0) &&
	    weir__pub_silent(verify, probe))
		weir__pub_released(verify, probe);
}

/* --- 1.5, 1.6, 1.7, 1.8 --------------------------------------------------- */

static void end_needs_no_demand(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(verify, 3, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 3);
	if (weir__pub_gets_all(verify, probe, 3))
		weir__pub_released(verify, probe);
}

static void empty_stream_ends_at_once(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(verify, 0, NULL);

	if (probe && weir__pub_gets_all(verify, probe, 0))
		weir__pub_released(verify, probe);
}

static void completed_counts_as_cancelled(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(verify, 2, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 5);
	if (weir__pub_gets_all(verify, probe, 2))
		weir__pub_over(verify, probe);
}

static void failed_counts_as_cancelled(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__pub_make_failing(verify, 2);
	struct weir_subscriber_probe *probe =
		publisher ? weir__pub_subscribe(verify, publisher, NULL) : NULL;

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 5);
	if (weir__verify_expected(verify, probe,
				  weir_subscriber_probe_expect_next_n(probe,
								      2)) &&
	    weir__pub_fails(verify, probe, 0))
		weir__pub_over(verify, probe);
}

static void refused_request_counts_as_cancelled(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(verify, 5, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 2);
	if (!weir__pub_gets(verify, probe, 2))
		return;
	weir_subscriber_probe_request(probe, -1);
	if (weir__pub_fails(verify, probe, -EINVAL))
		weir__pub_over(verify, probe);
}

static void no_end_after_cancel(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(
		verify, weir__pub_many(verify),
		&(struct weir_subscriber_probe_options){.cancel_at = 3});
	struct weir_subscriber_probe_counts counts;

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 5);
	if (!weir__verify_settle(verify))
		return;
	counts = weir_subscriber_probe_counts(probe);
	WEIR__CHECK(verify, counts.items >= 3 && counts.items <= 5,
		    "3 items or a little more were expected, %lld came",
		    (long long)counts.items);
	WEIR__CHECK(verify, counts.errors + counts.completions == 0,
		    "1.8: a cancelled stream was ended");
	weir__pub_released(verify, probe);
}

/* --- 2.13 ----------------------------------------------------------------- */

static void failed_gets_no_more(struct weir__verify *verify, int64_t fail_at,
				bool batches)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 10,
				 &(struct weir_subscriber_probe_options){
					 .request_first = 10,
					 .fail_at = fail_at,
					 .batches = batches,
				 });
	struct weir_subscriber_probe_counts counts;

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 10);
	if (!weir__verify_settle(verify))
		return;
	counts = weir_subscriber_probe_counts(probe);
	WEIR__CHECK(verify,
		    !counts.after_fail && !counts.errors && !counts.completions,
		    "2.13: a subscriber that has failed got another signal");
	weir__pub_released(verify, probe);
}

static void failed_in_on_subscribe(struct weir__verify *verify)
{
	failed_gets_no_more(verify, -1, false);
}

static void failed_in_on_next(struct weir__verify *verify)
{
	failed_gets_no_more(verify, 3, false);
}

static void failed_at_the_last_item(struct weir__verify *verify)
{
	failed_gets_no_more(verify, 10, false);
}

static void failed_in_a_batch(struct weir__verify *verify)
{
	failed_gets_no_more(verify, 3, true);
}

static const struct weir__verify_test tests[] = {
	{"spec_1_01_items_keep_to_the_demand", items_keep_to_the_demand},
	{"spec_1_01_batches_keep_to_the_demand", batches_keep_to_the_demand},
	{"spec_1_01_items_come_once_and_in_order",
	 items_come_once_and_in_order},
	{"spec_1_02_stream_may_end_before_the_demand",
	 may_end_before_the_demand},
	{"spec_1_03_no_signal_inside_on_subscribe",
	 signals_inside_on_subscribe},
	{"spec_1_04_failure_is_told", failure_is_told},
	{"spec_1_04_failure_needs_no_demand", failure_needs_no_demand},
	{"spec_1_05_end_needs_no_demand", end_needs_no_demand},
	{"spec_1_05_empty_stream_ends_at_once", empty_stream_ends_at_once},
	{"spec_1_06_completed_counts_as_cancelled",
	 completed_counts_as_cancelled},
	{"spec_1_06_failed_counts_as_cancelled", failed_counts_as_cancelled},
	{"spec_1_07_no_signal_after_the_error_of_a_request",
	 refused_request_counts_as_cancelled},
	{"spec_1_08_no_end_after_cancel", no_end_after_cancel},
	{"spec_2_13_no_signal_after_on_subscribe_failed",
	 failed_in_on_subscribe},
	{"spec_2_13_no_signal_after_on_next_failed", failed_in_on_next},
	{"spec_2_13_no_end_after_the_last_on_next_failed",
	 failed_at_the_last_item},
	{"spec_2_13_no_signal_after_a_batch_failed", failed_in_a_batch},
};

const struct weir__verify_suite weir__pub_signals = {
	.tests = tests,
	.n_tests = sizeof(tests) / sizeof(*tests),
	.end = weir__pub_end,
	.live = weir__pub_live,
};
