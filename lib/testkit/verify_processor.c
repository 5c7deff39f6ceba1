/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tests of processors: a publisher in front and subscribers behind, which
 * the test controls. Most tests are those of publishers and of subscribers, on
 * the two sides of a processor.
 */
#include <inttypes.h>

#include "testkit/processor_steps.h"
#include "testkit/processor_harness.h"

/* --- Demand --------------------------------------------------------------- */

/*
 * True: the processor has requested at most the items that it has room for,
 * plus those that were requested of it.
 */
static bool not_too_much(struct weir__verify *verify,
			 struct weir_subscriber_probe *behind)
{
	struct weir_processor_factory *factory = verify->factory;
	struct weir_subscriber_probe_counts back =
		weir_subscriber_probe_counts(behind);
	int64_t most = factory->buffer + back.requested;
	int64_t requested = weir__proc_counts(verify).requested;

	return requested <= most ||
	       weir__verify_fail(verify,
				 "has requested %" PRId64 ", was requested "
				 "%" PRId64 " and has room for %" PRId64,
				 requested, back.requested, factory->buffer);
}

/* Ten times as many items as the processor can hold, at the pace of the
 * subscriber behind it. */
static int64_t many(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;

	return factory->buffer > 0 ? 10 * factory->buffer : 1000;
}

static bool passes_many(struct weir__verify *verify,
			struct weir_subscriber_probe *behind, bool measured)
{
	int64_t step = many(verify) / 100 + 1, wanted = 0;

	while (wanted < many(verify)) {
		weir_subscriber_probe_request(behind, step);
		wanted += step;
		if (!weir__verify_settle(verify) ||
		    (measured && !not_too_much(verify, behind)) ||
		    !weir__proc_send_up_to(verify, 4 * many(verify)) ||
		    !weir__proc_got(verify, behind, wanted) ||
		    (measured && !not_too_much(verify, behind)))
			return false;
	}
	return weir__proc_in_order(verify, behind);
}

static void replenishes(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 0);
	if (!behind || !passes_many(verify, behind, false))
		return;
	weir_subscriber_probe_request(behind, INT64_MAX);
	/* its next requests must not meet the end */
	if (weir__verify_settle(verify) && weir__proc_send_end(verify, NULL) &&
	    weir__proc_got(verify, behind, weir__proc_of(verify)->sent))
		weir__proc_got_end(verify, behind, NULL);
}

static void requests_no_more(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;
	struct weir_subscriber_probe *behind;

	if (factory->buffer == 0) {
		weir__verify_skip(verify, "it is not known what it can hold");
		return;
	}
	if (!weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 0);
	if (behind && not_too_much(verify, behind) &&
	    weir__proc_send_up_to(verify, 4 * many(verify)) &&
	    not_too_much(verify, behind))
		passes_many(verify, behind, true);
}

/* One subscriber wants much, and another one leaves. */
static void long_ago(struct weir__verify *verify)
{
	struct weir_subscriber_probe *stays, *leaves;
	int64_t n = many(verify);

	if (!weir__proc_takes_two(verify) || !weir__proc_start(verify))
		return;
	stays = weir__proc_join(verify, 0);
	leaves = stays ? weir__proc_join(verify, 0) : NULL;
	if (!leaves)
		return;
	weir_subscriber_probe_request(stays, n);
	weir_subscriber_probe_request(leaves, 1);
	if (!weir__verify_settle(verify) ||
	    !weir__proc_send_up_to(verify, 4 * many(verify)))
		return;
	weir_subscriber_probe_cancel(leaves);
	if (weir__verify_settle(verify) &&
	    weir__proc_send_up_to(verify, 4 * many(verify)))
		weir__proc_got(verify, stays, n);
}

/* --- Ends ----------------------------------------------------------------- */

/* True: the processor must pass an error on. */
static bool passes_errors(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;

	return !factory->recovers ||
	       weir__verify_skip(verify, "recovers from errors");
}

static void error_at_once(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!passes_errors(verify) || !weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 0);
	if (behind && weir__proc_send_end(verify, weir__proc_of(verify)->error))
		weir__proc_got_end(verify, behind,
				   weir__proc_of(verify)->error);
}

static void error_after_items(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!passes_errors(verify) || !weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 3);
	if (behind && weir__proc_send_up_to(verify, 3) &&
	    weir__proc_got(verify, behind, 3) &&
	    weir__proc_send_end(verify, weir__proc_of(verify)->error))
		weir__proc_got_end(verify, behind,
				   weir__proc_of(verify)->error);
}

static void error_recovered(struct weir__verify *verify)
{
	struct weir_processor_factory *factory = verify->factory;
	struct weir_subscriber_probe *behind;

	if (!factory->recovers) {
		weir__verify_skip(verify, "passes errors on");
		return;
	}
	if (!weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 3);
	if (behind && weir__proc_send_up_to(verify, 3) &&
	    weir__proc_send_end(verify, weir__proc_of(verify)->error))
		WEIR__CHECK(verify,
			    weir_subscriber_probe_counts(behind).errors == 0,
			    "recovers, but the error was passed on");
}

/* An error after `n` items that one subscriber has requested and the other has
 * not. */
static void error_for_all_after(struct weir__verify *verify, int64_t n)
{
	struct weir_subscriber_probe *one, *other;

	if (!passes_errors(verify) || !weir__proc_takes_two(verify) ||
	    !weir__proc_start(verify))
		return;
	one = weir__proc_join(verify, 1);
	other = one ? weir__proc_join(verify, 0) : NULL;
	if (!other || !weir__proc_send_up_to(verify, n))
		return;
	weir_subscriber_probe_request(one, 1);
	if (weir__verify_settle(verify) &&
	    weir__proc_send_end(verify, weir__proc_of(verify)->error) &&
	    weir__proc_got_end(verify, one, weir__proc_of(verify)->error))
		weir__proc_got_end(verify, other, weir__proc_of(verify)->error);
}

static void error_for_all(struct weir__verify *verify)
{
	error_for_all_after(verify, 0);
}

static void error_overtakes(struct weir__verify *verify)
{
	error_for_all_after(verify, 1);
}

/* Items that the processor holds come first, and need demand; the end behind
 * them does not. */
static void complete_behind(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;
	int64_t held;

	if (!weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 0);
	if (!behind || !weir__proc_send_some(verify, 4))
		return;
	held = weir__proc_of(verify)->sent;
	if (!weir__proc_send_end(verify, NULL))
		return;
	WEIR__CHECK(verify,
		    held == 0 ||
			    weir_subscriber_probe_counts(behind).completions ==
				    0,
		    "on_complete has overtaken items");
	weir_subscriber_probe_request(behind, held);
	if (weir__verify_settle(verify) &&
	    weir__proc_got(verify, behind, held) &&
	    weir__proc_in_order(verify, behind))
		weir__proc_got_end(verify, behind, NULL);
}

static void complete_at_once(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 0);
	if (behind && weir__proc_send_end(verify, NULL))
		weir__proc_got_end(verify, behind, NULL);
}

/* All requested items have come, and the processor waits for a request. */
static void complete_at_rest(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 3);
	if (behind && weir__proc_send_up_to(verify, 3) &&
	    weir__proc_got(verify, behind, 3) &&
	    weir__proc_send_end(verify, NULL))
		weir__proc_got_end(verify, behind, NULL);
}

/* --- Subscribers ---------------------------------------------------------- */

static bool has_cancelled(struct weir__verify *verify, bool wanted)
{
	bool has = weir__proc_counts(verify).cancels > 0;

	return has == wanted ||
	       weir__verify_fail(verify, "%s",
				 wanted ? "nobody is left, and it has not "
					  "cancelled"
					: "has cancelled, and somebody is "
					  "left");
}

/* A cancel, also while the processor holds items: it must drop them. */
static void cancel_passes(struct weir__verify *verify)
{
	struct weir_subscriber_probe *behind;

	if (!weir__proc_start(verify))
		return;
	behind = weir__proc_join(verify, 0);
	if (!behind || !weir__proc_send_some(verify, 4) ||
	    !has_cancelled(verify, false))
		return;
	weir_subscriber_probe_cancel(behind);
	if (weir__verify_settle(verify))
		has_cancelled(verify, true);
}

static void last_cancel_passes(struct weir__verify *verify)
{
	struct weir_subscriber_probe *one, *other;

	if (!weir__proc_takes_two(verify) || !weir__proc_start(verify))
		return;
	one = weir__proc_join(verify, 1);
	other = one ? weir__proc_join(verify, 1) : NULL;
	if (!other || !weir__proc_send_some(verify, 4))
		return;
	weir_subscriber_probe_cancel(one);
	if (!weir__verify_settle(verify) || !has_cancelled(verify, false))
		return;
	weir_subscriber_probe_cancel(other);
	if (weir__verify_settle(verify))
		has_cancelled(verify, true);
}

/* A second subscriber is served or rejected, and the first one is not
 * disturbed. */
static void second_subscriber(struct weir__verify *verify)
{
	struct weir_subscriber_probe *first, *second;
	struct weir_subscriber_probe_counts counts;

	if (!weir__proc_start(verify))
		return;
	first = weir__proc_join(verify, 4);
	second = first ? weir__proc_join(verify, 4) : NULL;
	if (!second)
		return;
	counts = weir_subscriber_probe_counts(second);
	WEIR__CHECK(verify, counts.subscriptions == 1,
		    "1.9: a second subscriber got no on_subscribe");
	if (!weir__proc_send_up_to(verify, 4) ||
	    !weir__proc_send_end(verify, NULL))
		return;
	weir_subscriber_probe_request(first, INT64_MAX);
	weir_subscriber_probe_request(second, INT64_MAX);
	if (!weir__verify_settle(verify) ||
	    !weir__proc_got_end(verify, first, NULL))
		return;
	counts = weir_subscriber_probe_counts(second);
	WEIR__CHECK(verify, counts.errors + counts.completions == 1,
		    "a second subscriber was neither served nor rejected");
	WEIR__CHECK(verify,
		    weir_subscriber_probe_counts(first).items + counts.items >=
			    weir__proc_of(verify)->sent,
		    "items were lost for a second subscriber");
}

/* --- The suite ------------------------------------------------------------ */

static const struct weir__verify_test tests[] = {
	{"spec_1_04_an_error_reaches_all_subscribers", error_for_all},
	{"spec_1_04_an_error_overtakes_items_that_nobody_requested",
	 error_overtakes},
	{"spec_1_05_complete_needs_no_demand", complete_at_once},
	{"spec_1_05_complete_needs_no_demand_at_rest", complete_at_rest},
	{"spec_2_01_requests_what_was_requested_long_ago", long_ago},
	{"spec_4_01_requests_again_as_items_leave", replenishes},
	{"spec_4_01_requests_no_more_than_it_can_hold", requests_no_more},
	{"spec_4_01_complete_comes_behind_the_items", complete_behind},
	{"spec_4_01_a_cancel_is_passed_on", cancel_passes},
	{"spec_4_01_the_last_cancel_is_passed_on", last_cancel_passes},
	{"spec_4_01_a_second_subscriber_is_served_or_rejected",
	 second_subscriber},
	{"spec_4_02_an_error_is_passed_on_without_demand", error_at_once},
	{"spec_4_02_an_error_is_passed_on_after_items", error_after_items},
	{"spec_4_02_a_recovered_error_is_not_passed_on", error_recovered},
};

int weir_verify_processor(struct weir_processor_factory *factory,
			  struct weir_verify_report *report)
{
	static const struct weir__verify_suite suite = {
		.tests = tests,
		.n_tests = sizeof(tests) / sizeof(*tests),
		.end = weir__proc_end,
		.live = weir__proc_live,
	};
	struct weir__harness harness;
	int failed;

	if (!factory || !report || !factory->create || !factory->release ||
	    !factory->item || !factory->is_item)
		return -EINVAL;
	weir__harness_init(&harness, factory);
	failed = weir__verify_run(&suite, factory, &factory->env, report);
	failed += weir_verify_subscriber(&harness.subscribers, report);
	failed += weir_verify_publisher(&harness.publishers, report);
	weir__harness_fini(&harness);
	return failed;
}
