/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tests of subscribers. Each test makes a subscriber, and subscribes it to
 * a publisher that the test controls. A test is a chain of steps: a step
 * returns false if something is wrong, and the test has failed then. "After"
 * means: after items were sent and everything has settled. Calls that a
 * subscriber makes then were not under way before.
 *
 * Rules without a test: 2.2 is a recommendation; 2.11 is for ThreadSanitizer
 * (run the suite under it: items are written just before they are sent); 2.12
 * is for the caller of on_subscribe.
 */
#include <inttypes.h>

#include "testkit/subscriber_steps.h"

/* --- 2.1 to 2.4, 2.9, 2.10 ------------------------------------------------ */

static void demand(struct weir__verify *verify)
{
	if (weir__sub_start(verify))
		weir__sub_wants(verify);
}

static void demand_again(struct weir__verify *verify)
{
	if (weir__sub_start(verify))
		weir__sub_receives(verify, 1000);
}

static void every_item(struct weir__verify *verify)
{
	if (weir__sub_start(verify))
		weir__sub_receives(verify, 20);
}

#define AT_ONCE 16

/* Several items at once, by on_next_n if the subscriber has that. */
static void items_at_once(struct weir__verify *verify)
{
	struct weir_subscriber_factory *factory = verify->factory;
	void *items[AT_ONCE];
	size_t n, i, taken = 0;
	int rc;

	if (!weir__sub_start(verify) || !weir__sub_wants(verify))
		return;
	n = weir__sub_outstanding(verify) < AT_ONCE
		    ? (size_t)weir__sub_outstanding(verify)
		    : AT_ONCE;
	for (i = 0; i < n; i++)
		items[i] = factory->item(factory, (int64_t)i);
	rc = weir_publisher_probe_send_n(weir__sub_of(verify)->probe, items, n,
					 &taken);
	weir__sub_of(verify)->sent = (int64_t)taken;
	for (i = taken; i < n; i++)
		weir__sub_drop(factory, items[i]);
	WEIR__CHECK(verify, rc == 0 && taken == n,
		    "2.13: of %zu items at once %zu were taken: %d", n, taken,
		    rc);
	if (weir__verify_settle(verify))
		weir__sub_processed(verify, (int64_t)n);
}

static void nothing_in_complete(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_receives(verify, 3) &&
	    weir__sub_ends(verify, NULL))
		weir__sub_calls_nothing(verify);
}

static void nothing_in_error(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_receives(verify, 3) &&
	    weir__sub_sends_end(verify, weir__sub_of(verify)->error) &&
	    weir__verify_settle(verify))
		weir__sub_calls_nothing(verify);
}

/* Told to go on by its owner, though the stream is over. */
static void nothing_after(struct weir__verify *verify, bool fails)
{
	struct weir_subscriber_factory *factory = verify->factory;
	struct weir__sub *sub;

	if (!factory->request && !factory->cancel) {
		weir__verify_skip(verify, "cannot be made to call anything");
		return;
	}
	if (!weir__sub_start(verify) || !weir__sub_receives(verify, 3) ||
	    !weir__sub_sends_end(verify,
				 fails ? weir__sub_of(verify)->error : NULL) ||
	    !weir__verify_settle(verify))
		return;
	sub = weir__sub_of(verify);
	if (factory->request)
		factory->request(factory, sub->subscriber, 1);
	if (weir__verify_settle(verify) && factory->cancel)
		factory->cancel(factory, sub->subscriber);
	if (weir__verify_settle(verify))
		weir__sub_calls_nothing(verify);
}

static void nothing_after_complete(struct weir__verify *verify)
{
	nothing_after(verify, false);
}

static void nothing_after_error(struct weir__verify *verify)
{
	nothing_after(verify, true);
}

/* More signals than there may be; on_next may refuse the item. */
static void late_signals(struct weir__verify *verify, struct weir_error *error,
			 struct weir_error *other)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;
	int64_t i, before = sub->sent;
	void *item;

	for (i = 0; i < 3; i++) {
		item = factory->item(factory, before + i);
		if (item && weir_publisher_probe_send(sub->probe, item) < 0)
			weir__sub_drop(factory, item);
	}
	if (!weir__verify_settle(verify) ||
	    !weir__sub_processed(verify, before))
		return;
	(void)weir_publisher_probe_complete(sub->probe);
	(void)weir_publisher_probe_error(sub->probe, other);
	if (weir__verify_settle(verify) && weir__sub_ended_with(verify, error))
		weir__sub_calls_nothing(verify);
}

static void late_after_complete(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_receives(verify, 3) &&
	    weir__sub_misbehave(verify) && weir__sub_ends(verify, NULL))
		late_signals(verify, NULL, weir__sub_of(verify)->error);
}

static void late_after_error(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_receives(verify, 3) &&
	    weir__sub_misbehave(verify) &&
	    weir__sub_ends(verify, weir__sub_of(verify)->error))
		late_signals(verify, weir__sub_of(verify)->error,
			     weir_error_of(-EPIPE));
}

static void complete_first(struct weir__verify *verify)
{
	if (weir__sub_make(verify) && weir__sub_subscribe(verify) &&
	    weir__sub_ends(verify, NULL))
		weir__sub_processed(verify, 0);
}

static void complete_later(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_wants(verify))
		weir__sub_ends(verify, NULL);
}

static void complete_behind(struct weir__verify *verify)
{
	int64_t n;

	if (!weir__sub_start(verify) || !weir__sub_wants(verify))
		return;
	n = weir__sub_outstanding(verify) < 3 ? weir__sub_outstanding(verify)
					      : 3;
	if (weir__sub_send_items(verify, n) && weir__sub_ends(verify, NULL))
		weir__sub_processed(verify, n);
}

static void error_first(struct weir__verify *verify)
{
	if (weir__sub_make(verify) && weir__sub_subscribe(verify) &&
	    weir__sub_ends(verify, weir__sub_of(verify)->error))
		weir__sub_processed(verify, 0);
}

static void error_later(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_wants(verify))
		weir__sub_ends(verify, weir__sub_of(verify)->error);
}

static void error_after_items(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_receives(verify, 3))
		weir__sub_ends(verify, weir__sub_of(verify)->error);
}

/* --- 2.5, 2.6, 2.7, 2.8 --------------------------------------------------- */

/* A second subscription right after the first, and another one later. */
static void second_subscription(struct weir__verify *verify)
{
	struct weir_publisher_probe_counts counts;

	if (!weir__sub_make_held(verify) || !weir__sub_on_subscribe(verify) ||
	    !weir__sub_on_subscribe(verify) || !weir__verify_settle(verify) ||
	    !weir__sub_receives(verify, 3) || !weir__sub_on_subscribe(verify) ||
	    !weir__verify_settle(verify))
		return;
	counts = weir__sub_counts(verify);
	WEIR__CHECK(verify, counts.extra_cancels >= 2,
		    "a second subscription was not cancelled");
	WEIR__CHECK(verify, counts.extra_requests == 0,
		    "something was requested of a second subscription");
	WEIR__CHECK(verify, counts.cancels == 0,
		    "the first subscription was cancelled for a second one");
	if (weir__sub_receives(verify, 20))
		weir__sub_ends(verify, NULL);
}

static void cancel_arrives(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_receives(verify, 3) &&
	    weir__sub_cancels(verify) && weir__verify_settle(verify))
		WEIR__CHECK(verify, weir__sub_counts(verify).cancels > 0,
			    "did not cancel its subscription");
}

/* Calls that overlap are counted all the time, and checked in
 * weir__sub_end(). */
static void calls_in_turn(struct weir__verify *verify)
{
	if (weir__sub_start(verify))
		weir__sub_receives(verify, 1000);
}

static void items_after_cancel(struct weir__verify *verify)
{
	if (weir__sub_start(verify) && weir__sub_wants(verify) &&
	    weir__sub_misbehave(verify) && weir__sub_cancels(verify) &&
	    weir__verify_settle(verify) && weir__sub_send_items(verify, 3) &&
	    weir__verify_settle(verify) && weir__sub_sends_end(verify, NULL))
		weir__verify_settle(verify);
}

static void cancel_under_way(struct weir__verify *verify)
{
	int64_t n;

	if (!weir__sub_start(verify) || !weir__sub_wants(verify))
		return;
	n = weir__sub_outstanding(verify) < 3 ? weir__sub_outstanding(verify)
					      : 3;
	if (weir__sub_send_items(verify, n) && weir__sub_cancels(verify))
		weir__verify_settle(verify);
}

/* --- 2.13 ----------------------------------------------------------------- */

static bool refused(struct weir__verify *verify, const char *signal, int rc)
{
	return rc == -EINVAL ||
	       weir__verify_fail(verify, "%s with null returned %d, not %d",
				 signal, rc, -EINVAL);
}

static bool next_refuses(struct weir__verify *verify)
{
	struct weir_subscriber *subscriber = weir__sub_of(verify)->subscriber;

	return refused(verify, "on_next",
		       subscriber->ops->on_next(subscriber, NULL)) &&
	       weir__verify_settle(verify) &&
	       weir__sub_processed(verify, weir__sub_of(verify)->sent);
}

static bool error_refuses(struct weir__verify *verify)
{
	struct weir_subscriber *subscriber = weir__sub_of(verify)->subscriber;

	return refused(verify, "on_error",
		       subscriber->ops->on_error(subscriber, NULL)) &&
	       weir__verify_settle(verify);
}

static bool subscribe_refuses(struct weir__verify *verify)
{
	struct weir_subscriber *subscriber = weir__sub_of(verify)->subscriber;

	return refused(verify, "on_subscribe",
		       subscriber->ops->on_subscribe(subscriber, NULL)) &&
	       weir__verify_settle(verify);
}

/* Before the first signal, between items, and after the last signal. */
static void null_everywhere(struct weir__verify *verify,
			    bool (*refuses)(struct weir__verify *verify))
{
	if (weir__sub_make(verify) && refuses(verify) &&
	    weir__sub_subscribe(verify) && weir__verify_settle(verify) &&
	    weir__sub_receives(verify, 3) && refuses(verify) &&
	    weir__sub_not_ended(verify) && weir__sub_receives(verify, 20) &&
	    weir__sub_ends(verify, NULL) && refuses(verify))
		weir__sub_ended_with(verify, NULL);
}

static void null_subscription(struct weir__verify *verify)
{
	null_everywhere(verify, subscribe_refuses);
}

static void null_item(struct weir__verify *verify)
{
	null_everywhere(verify, next_refuses);
}

static void null_error(struct weir__verify *verify)
{
	null_everywhere(verify, error_refuses);
}

static bool next_n_refuses(struct weir__verify *verify)
{
	struct weir_subscriber *subscriber = weir__sub_of(verify)->subscriber;
	size_t taken = 0;

	if (!subscriber->ops->on_next_n)
		return weir__verify_skip(verify, "has no on_next_n");
	return refused(verify, "on_next_n",
		       subscriber->ops->on_next_n(subscriber, NULL, 1,
						  &taken)) &&
	       weir__verify_settle(verify) &&
	       weir__sub_processed(verify, weir__sub_of(verify)->sent);
}

static void null_items(struct weir__verify *verify)
{
	null_everywhere(verify, next_n_refuses);
}

static void signals_return(struct weir__verify *verify)
{
	if (weir__sub_make_held(verify) && weir__sub_on_subscribe(verify) &&
	    weir__verify_settle(verify) && weir__sub_receives(verify, 3))
		weir__sub_sends_end(verify, NULL);
}

static void error_returns(struct weir__verify *verify)
{
	if (weir__sub_start(verify))
		weir__sub_sends_end(verify, weir__sub_of(verify)->error);
}

/* --- Section 3 ------------------------------------------------------------ */

/* Calls after on_subscribe has returned need a reference. */
static void holds_subscription(struct weir__verify *verify)
{
	struct weir_publisher_probe_counts before, after;

	if (!weir__sub_make(verify) || !weir__sub_subscribe(verify))
		return;
	before = weir__sub_counts(verify);
	if (!weir__verify_settle(verify) || !weir__sub_receives(verify, 20))
		return;
	after = weir__sub_counts(verify);
	WEIR__CHECK(verify,
		    before.references > 0 || before.requests == after.requests,
		    "requests of a subscription that it does not hold");
}

static void requests_add(struct weir__verify *verify)
{
	struct weir_subscriber_factory *factory = verify->factory;
	int64_t told = 0, n;

	if (!factory->request) {
		weir__verify_skip(verify, "requests on its own");
		return;
	}
	if (!weir__sub_start(verify))
		return;
	for (n = 1; n <= 4; n++) {
		factory->request(factory, weir__sub_of(verify)->subscriber, n);
		told += n;
		if (!weir__verify_settle(verify))
			return;
		WEIR__CHECK(verify, weir__sub_counts(verify).requested >= told,
			    "was told to request %" PRId64
			    " and requested %" PRId64,
			    told, weir__sub_counts(verify).requested);
	}
	weir__sub_receives(verify, told);
}

static void next_in_request(struct weir__verify *verify)
{
	if (weir__sub_start_sync(verify, WEIR__SYNC_PUBLISHER_ITEMS, NULL))
		weir__sub_drains_sync(verify);
}

static void complete_in_request(struct weir__verify *verify)
{
	if (weir__sub_start_sync(verify, 1, NULL))
		weir__sub_drains_sync(verify);
}

static void error_in_request(struct weir__verify *verify)
{
	if (weir__sub_start_sync(verify, 1, weir_error_of(-EIO)))
		weir__sub_drains_sync(verify);
}

static void released_last(struct weir__verify *verify)
{
	struct weir_subscriber_factory *factory = verify->factory;

	if (!factory->released) {
		weir__verify_skip(verify, "does not tell when it is released");
		return;
	}
	if (!weir__sub_start(verify) || !weir__sub_receives(verify, 3))
		return;
	WEIR__CHECK(verify,
		    !factory->released(factory,
				       weir__sub_of(verify)->subscriber),
		    "was released before the last signal");
	/* With that the probe releases the subscriber; weir__sub_end() checks
	 * it. */
	weir__sub_ends(verify, NULL);
}

/* --- The suite ------------------------------------------------------------ */

static const struct weir__verify_test tests[] = {
	{"spec_2_01_demand_is_signalled_by_request", demand},
	{"spec_2_01_requests_again_as_long_as_items_come", demand_again},
	{"spec_2_01_every_item_is_processed_in_order", every_item},
	{"spec_2_01_items_that_come_at_once_are_all_processed", items_at_once},
	{"spec_2_03_calls_nothing_in_on_complete", nothing_in_complete},
	{"spec_2_03_calls_nothing_in_on_error", nothing_in_error},
	{"spec_2_04_calls_nothing_after_on_complete", nothing_after_complete},
	{"spec_2_04_calls_nothing_after_on_error", nothing_after_error},
	{"spec_2_04_ignores_signals_after_on_complete", late_after_complete},
	{"spec_2_04_ignores_signals_after_on_error", late_after_error},
	{"spec_2_05_cancels_a_second_subscription", second_subscription},
	{"spec_2_06_cancels_what_it_no_longer_needs", cancel_arrives},
	{"spec_2_07_calls_do_not_overlap", calls_in_turn},
	{"spec_2_08_takes_signals_after_cancel", items_after_cancel},
	{"spec_2_08_loses_nothing_under_way_at_cancel", cancel_under_way},
	{"spec_2_09_on_complete_may_come_first", complete_first},
	{"spec_2_09_on_complete_may_come_with_demand", complete_later},
	{"spec_2_09_on_complete_comes_behind_the_items", complete_behind},
	{"spec_2_10_on_error_may_come_first", error_first},
	{"spec_2_10_on_error_may_come_with_demand", error_later},
	{"spec_2_10_on_error_may_come_after_items", error_after_items},
	{"spec_2_13_on_subscribe_refuses_null", null_subscription},
	{"spec_2_13_on_next_refuses_null", null_item},
	{"spec_2_13_on_next_n_refuses_null", null_items},
	{"spec_2_13_on_error_refuses_null", null_error},
	{"spec_2_13_signals_return_0", signals_return},
	{"spec_2_13_on_error_returns_0", error_returns},
	{"spec_3_01_calls_only_a_subscription_it_holds", holds_subscription},
	{"spec_3_08_requests_add_up", requests_add},
	{"spec_3_10_on_next_may_come_within_request", next_in_request},
	{"spec_3_11_on_complete_may_come_within_request", complete_in_request},
	{"spec_3_11_on_error_may_come_within_request", error_in_request},
	{"spec_3_13_is_released_after_the_last_signal", released_last},
};

static size_t live(const struct weir__verify *verify)
{
	struct weir_subscriber_factory *factory = verify->factory;

	return factory->live ? factory->live(factory) : 0;
}

int weir_verify_subscriber(struct weir_subscriber_factory *factory,
			   struct weir_verify_report *report)
{
	static const struct weir__verify_suite suite = {
		.tests = tests,
		.n_tests = sizeof(tests) / sizeof(*tests),
		.end = weir__sub_end,
		.live = live,
	};

	if (!factory || !report || !factory->create || !factory->release ||
	    !factory->item || !factory->received || !factory->is_item ||
	    !factory->ended)
		return -EINVAL;
	return weir__verify_run(&suite, factory, &factory->env, report);
}
