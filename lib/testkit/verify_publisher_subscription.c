/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suite of publishers: request and cancel, section 3. All on the thread
 * that runs the tests; signals come on any.
 */
#include "testkit/publisher_steps.h"

#define STACK_MAX (16u * 1024u) /* bytes, whatever the length of a stream */

/* --- 3.2, 3.3 ------------------------------------------------------------- */

static void one_by_one(struct weir__verify *verify, int64_t n)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, n,
				 &(struct weir_subscriber_probe_options){
					 .request_first = 1,
					 .request_each = 1,
				 });
	size_t stack;

	if (!probe ||
	    !weir__verify_expected(verify, probe,
				   weir_subscriber_probe_expect_next_n(probe,
								       n)) ||
	    !weir__pub_completes(verify, probe))
		return;
	stack = weir_subscriber_probe_counts(probe).stack;
	WEIR__CHECK(verify, stack <= STACK_MAX,
		    "3.3: %lld items take %zu bytes of stack", (long long)n,
		    stack);
}

static void requests_inside_signals(struct weir__verify *verify)
{
	one_by_one(verify, 10);
}

static void stack_is_constant_one_by_one(struct weir__verify *verify)
{
	one_by_one(verify, weir__pub_many(verify));
}

static void stack_is_constant_at_once(struct weir__verify *verify)
{
	int64_t n = weir__pub_many(verify);
	struct weir_subscriber_probe *probe = weir__pub_stream(verify, n, NULL);
	size_t stack;

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, n);
	if (!weir__verify_expected(verify, probe,
				   weir_subscriber_probe_expect_next_n(probe,
								       n)) ||
	    !weir__pub_completes(verify, probe))
		return;
	stack = weir_subscriber_probe_counts(probe).stack;
	WEIR__CHECK(verify, stack <= STACK_MAX,
		    "3.3: %lld items take %zu bytes of stack", (long long)n,
		    stack);
}

/* --- 3.6, 3.7 ------------------------------------------------------------- */

static const int64_t all_requests[] = {1, 0, -1, INT64_MIN, INT64_MAX, 10};

static void request_after_cancel(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 10, NULL);
	size_t i;

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 2);
	if (!weir__pub_gets(verify, probe, 2))
		return;
	weir_subscriber_probe_cancel(probe);
	for (i = 0; i < sizeof(all_requests) / sizeof(*all_requests); i++)
		weir_subscriber_probe_request(probe, all_requests[i]);
	if (!weir__pub_silent(verify, probe))
		return;
	for (i = 0; i < sizeof(all_requests) / sizeof(*all_requests); i++) {
		weir_subscriber_probe_request(probe, all_requests[i]);
		if (!weir__pub_silent(verify, probe))
			return;
	}
	weir__pub_released(verify, probe);
}

static void cancel_after_cancel(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 10, NULL);

	if (!probe || !weir__pub_gets(verify, probe, 0))
		return;
	weir_subscriber_probe_cancel(probe);
	weir_subscriber_probe_cancel(probe);
	if (!weir__pub_released(verify, probe))
		return;
	weir_subscriber_probe_cancel(probe);
	if (weir__pub_silent(verify, probe))
		weir__pub_released(verify, probe);
}

/* --- 3.8 ------------------------------------------------------------------ */

/* Several requests inside the first signal, before any is answered. */
static void request_thrice(struct weir_subscriber_probe *probe,
			   enum weir_signal signal, void *context)
{
	const int64_t *n = context;
	uint32_t i;

	for (i = 0; i < 3 && signal == WEIR_SIGNAL_ON_SUBSCRIBE; i++)
		weir_subscriber_probe_request(probe, n[i]);
}

static struct weir_subscriber_probe *thrice(struct weir__verify *verify,
					    int64_t items, int64_t n[3])
{
	return weir__pub_stream(verify, items,
				&(struct weir_subscriber_probe_options){
					.signalled = request_thrice,
					.context = n,
				});
}

static void requests_add_up(struct weir__verify *verify)
{
	int64_t n[] = {3, 4, 5};
	struct weir_subscriber_probe *probe = thrice(verify, 20, n);

	if (probe && weir__pub_gets(verify, probe, 12))
		weir__pub_in_order(verify, probe);
}

/* --- 3.9 ------------------------------------------------------------------ */

static void refuses(struct weir__verify *verify, int64_t n)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 10, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, n);
	if (!weir__pub_fails(verify, probe, -EINVAL))
		return;
	weir_subscriber_probe_request(probe, n);
	weir_subscriber_probe_request(probe, 1);
	if (weir__pub_silent(verify, probe))
		weir__pub_released(verify, probe);
}

static void zero_is_refused(struct weir__verify *verify)
{
	refuses(verify, 0);
}

static void negative_is_refused(struct weir__verify *verify)
{
	refuses(verify, -1);
}

static void least_is_refused(struct weir__verify *verify)
{
	refuses(verify, INT64_MIN);
}

static void request_badly(struct weir_subscriber_probe *probe,
			  enum weir_signal signal, void *context)
{
	if (signal == WEIR_SIGNAL_ON_NEXT) {
		weir_subscriber_probe_request(probe, 0);
		weir_subscriber_probe_request(probe, -1);
	}
}

static void refused_inside_on_next(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 10,
				 &(struct weir_subscriber_probe_options){
					 .signalled = request_badly});

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 1);
	if (weir__verify_expected(verify, probe,
				  weir_subscriber_probe_expect_next_n(probe,
								      1)) &&
	    weir__pub_fails(verify, probe, -EINVAL) &&
	    weir__pub_silent(verify, probe))
		weir__pub_released(verify, probe);
}

/* --- 3.12, 3.13, 3.14 ----------------------------------------------------- */

static void cancel_stops(struct weir__verify *verify)
{
	int64_t n = weir__pub_many(verify), items;
	struct weir_subscriber_probe *probe = weir__pub_stream(
		verify, n,
		&(struct weir_subscriber_probe_options){.cancel_at = 5});

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, INT64_MAX);
	if (!weir__verify_settle(verify))
		return;
	items = weir_subscriber_probe_counts(probe).items;
	WEIR__CHECK(verify, items >= 5 && items < n,
		    "3.12: all %lld items came, though it cancelled at the 5th",
		    (long long)items);
	weir__pub_released(verify, probe);
}

static void released_after_idle_cancel(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 10, NULL);

	if (!probe || !weir__pub_gets(verify, probe, 0))
		return;
	weir_subscriber_probe_cancel(probe);
	if (weir__pub_released(verify, probe))
		weir__pub_silent(verify, probe);
}

static void released_after_cancel_between(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 10, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 5);
	if (!weir__pub_gets(verify, probe, 5))
		return;
	weir_subscriber_probe_cancel(probe);
	if (weir__pub_released(verify, probe))
		weir__pub_silent(verify, probe);
}

static void released_after_cancel_in_on_subscribe(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 10,
				 &(struct weir_subscriber_probe_options){
					 .request_first = 2,
					 .cancel_at = -1,
				 });

	if (probe)
		weir__pub_released(verify, probe);
}

static void released_after_cancel_in_on_next(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(
		verify, 10,
		&(struct weir_subscriber_probe_options){.cancel_at = 1});

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 1);
	weir__pub_released(verify, probe);
}

static void told_after_the_last_has_cancelled(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__pub_make(verify, 5);
	struct weir_subscriber_probe_counts counts;
	struct weir_subscriber_probe *probe;
	uint32_t i;

	for (i = 0; i < 2 && publisher; i++) {
		probe = weir__pub_subscribe(verify, publisher, NULL);
		if (!probe)
			return;
		weir_subscriber_probe_request(probe, 1);
		if (!weir__verify_settle(verify))
			return;
		counts = weir_subscriber_probe_counts(probe);
		WEIR__CHECK(verify,
			    counts.items + counts.errors + counts.completions >
				    0,
			    "3.14: it gets neither an item nor an end");
		weir_subscriber_probe_cancel(probe);
		if (!weir__pub_released(verify, probe))
			return;
	}
}

/* --- 3.17 ----------------------------------------------------------------- */

static void greatest_demand(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 20, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, INT64_MAX);
	weir__pub_gets_all(verify, probe, 20);
}

static void greatest_sum(struct weir__verify *verify)
{
	int64_t n[] = {INT64_MAX - 1, 5, INT64_MAX};
	struct weir_subscriber_probe *probe = thrice(verify, 20, n);

	if (probe)
		weir__pub_gets_all(verify, probe, 20);
}

static void greatest_inside_signals(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__pub_stream(verify, 20,
				 &(struct weir_subscriber_probe_options){
					 .request_first = INT64_MAX - 1,
					 .request_each = INT64_MAX,
				 });

	if (probe)
		weir__pub_gets_all(verify, probe, 20);
}

static const struct weir__verify_test tests[] = {
	{"spec_3_02_requests_inside_signals", requests_inside_signals},
	{"spec_3_03_stack_is_constant_one_by_one",
	 stack_is_constant_one_by_one},
	{"spec_3_03_stack_is_constant_at_once", stack_is_constant_at_once},
	{"spec_3_06_request_after_cancel_does_nothing", request_after_cancel},
	{"spec_3_07_cancel_after_cancel_does_nothing", cancel_after_cancel},
	{"spec_3_08_requests_add_up", requests_add_up},
	{"spec_3_09_request_of_zero_is_refused", zero_is_refused},
	{"spec_3_09_negative_request_is_refused", negative_is_refused},
	{"spec_3_09_least_request_is_refused", least_is_refused},
	{"spec_3_09_request_inside_on_next_is_refused_once",
	 refused_inside_on_next},
	{"spec_3_12_cancel_stops_the_stream", cancel_stops},
	{"spec_3_13_released_after_a_cancel_when_idle",
	 released_after_idle_cancel},
	{"spec_3_13_released_after_a_cancel_between_items",
	 released_after_cancel_between},
	{"spec_3_13_released_after_a_cancel_in_on_subscribe",
	 released_after_cancel_in_on_subscribe},
	{"spec_3_13_released_after_a_cancel_in_on_next",
	 released_after_cancel_in_on_next},
	{"spec_3_14_told_after_the_last_has_cancelled",
	 told_after_the_last_has_cancelled},
	{"spec_3_17_greatest_demand", greatest_demand},
	{"spec_3_17_greatest_sum", greatest_sum},
	{"spec_3_17_greatest_inside_signals", greatest_inside_signals},
};

const struct weir__verify_suite weir__pub_subscription = {
	.tests = tests,
	.n_tests = sizeof(tests) / sizeof(*tests),
	.end = weir__pub_end,
	.live = weir__pub_live,
};
