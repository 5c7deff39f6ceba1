/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suite of publishers, section 1 of the specification: what is sent, when
 * it ends, who gets it. All on the thread that runs the tests; signals come on
 * any.
 */
#include "testkit/verify_publisher.h"

#include <stdlib.h>

#define PUBLISHERS 4 /* in one test */

/* What a test has made. */
struct made {
	struct weir_publisher *publishers[PUBLISHERS];
	uint32_t n;
};

struct weir_publisher_factory *weir__publisher_factory(
	const struct weir__verify *verify)
{
	return verify->factory;
}

static struct weir_publisher *keep(struct weir__verify *verify,
				   struct weir_publisher *publisher)
{
	struct made *made = verify->state;

	if (!publisher)
		weir__verify_fail(verify, "the factory made no publisher");
	else
		made->publishers[made->n++] = publisher;
	return publisher;
}

/* Room for one publisher more. */
static bool can_keep(struct weir__verify *verify)
{
	struct made *made = verify->state;

	if (!made)
		made = verify->state = calloc(1, sizeof(*made));
	return (made && made->n < PUBLISHERS) ||
	       weir__verify_fail(verify, "no memory for a publisher");
}

struct weir_publisher *weir__make(struct weir__verify *verify, int64_t n)
{
	struct weir_publisher_factory *factory =
		weir__publisher_factory(verify);

	if (factory->max_items && n > factory->max_items) {
		weir__verify_skip(verify, "too many items for the factory");
		return NULL;
	}
	return can_keep(verify) ? keep(verify, factory->create(factory, n))
				: NULL;
}

struct weir_publisher *weir__make_rejecting(struct weir__verify *verify)
{
	struct weir_publisher_factory *factory =
		weir__publisher_factory(verify);

	if (!factory->create_rejecting) {
		weir__verify_skip(verify,
				  "the factory has no create_rejecting");
		return NULL;
	}
	return can_keep(verify)
		       ? keep(verify, factory->create_rejecting(factory))
		       : NULL;
}

struct weir_publisher *weir__make_failing(struct weir__verify *verify,
					  int64_t n)
{
	struct weir_publisher_factory *factory =
		weir__publisher_factory(verify);

	if (!factory->create_failing) {
		weir__verify_skip(verify, "the factory has no create_failing");
		return NULL;
	}
	return can_keep(verify)
		       ? keep(verify, factory->create_failing(factory, n))
		       : NULL;
}

int64_t weir__many(const struct weir__verify *verify)
{
	int64_t most = weir__publisher_factory(verify)->max_items;

	return most && most < WEIR__MANY ? most : WEIR__MANY;
}

struct weir_subscriber_probe *weir__subscribe(
	struct weir__verify *verify, struct weir_publisher *publisher,
	const struct weir_subscriber_probe_options *options)
{
	struct weir_subscriber_probe *probe =
		weir__verify_subscriber(verify, options);
	int rc;

	if (!probe)
		return NULL;
	rc = weir_subscribe(publisher, weir_subscriber_probe_subscriber(probe));
	if (rc != 0)
		weir__verify_fail(verify, "1.9: subscribe returned %d", rc);
	else if (weir__verify_settle(verify) &&
		 !weir_subscriber_probe_counts(probe).subscriptions)
		weir__verify_fail(verify, "1.9: on_subscribe has not come");
	return verify->verdict == WEIR_FAILED ? NULL : probe;
}

struct weir_subscriber_probe *weir__stream(
	struct weir__verify *verify, int64_t n,
	const struct weir_subscriber_probe_options *options)
{
	struct weir_publisher *publisher = weir__make(verify, n);

	return publisher ? weir__subscribe(verify, publisher, options) : NULL;
}

bool weir__gets(struct weir__verify *verify,
		struct weir_subscriber_probe *probe, int64_t n)
{
	return weir__verify_expected(
		verify, probe,
		weir_subscriber_probe_expect_next_n(probe, n) &&
			weir_subscriber_probe_expect_nothing(probe));
}

bool weir__completes(struct weir__verify *verify,
		     struct weir_subscriber_probe *probe)
{
	return weir__verify_expected(
		verify, probe, weir_subscriber_probe_expect_complete(probe));
}

bool weir__fails(struct weir__verify *verify,
		 struct weir_subscriber_probe *probe, int code)
{
	return weir__verify_expected(
		verify, probe, weir_subscriber_probe_expect_error(probe, code));
}

bool weir__silent(struct weir__verify *verify,
		  struct weir_subscriber_probe *probe)
{
	return weir__verify_expected(
		verify, probe, weir_subscriber_probe_expect_nothing(probe));
}

bool weir__released(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe)
{
	return weir__verify_expected(
		verify, probe, weir_subscriber_probe_expect_released(probe));
}

bool weir__in_order(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe)
{
	struct weir_publisher_factory *factory =
		weir__publisher_factory(verify);
	int64_t n = weir_subscriber_probe_counts(probe).items, i;

	for (i = 0; i < n; i++) {
		if (!factory->is_item(factory,
				      weir_subscriber_probe_item(probe, i), i))
			return weir__verify_fail(
				verify, "item number %lld is another one",
				(long long)i);
	}
	return true;
}

/* The next `n` items and the end. */
static bool gets_all(struct weir__verify *verify,
		     struct weir_subscriber_probe *probe, int64_t n)
{
	return weir__verify_expected(verify, probe,
				     weir_subscriber_probe_expect_next_n(probe,
									 n)) &&
	       weir__completes(verify, probe) && weir__silent(verify, probe);
}

/* --- 1.1, 1.2, order ------------------------------------------------------ */

static void keeps_to_the_demand(struct weir__verify *verify, bool batches)
{
	struct weir_subscriber_probe *probe = weir__stream(
		verify, 20,
		&(struct weir_subscriber_probe_options){.batches = batches});

	if (!probe || !weir__gets(verify, probe, 0))
		return;
	weir_subscriber_probe_request(probe, 1);
	if (!weir__gets(verify, probe, 1))
		return;
	weir_subscriber_probe_request(probe, 2);
	if (!weir__gets(verify, probe, 2))
		return;
	weir_subscriber_probe_request(probe, 3);
	weir_subscriber_probe_request(probe, 4);
	if (weir__gets(verify, probe, 7))
		weir__in_order(verify, probe);
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
	int64_t n = weir__many(verify), left, chunk = 1;
	struct weir_subscriber_probe *probe = weir__stream(verify, n, NULL);

	for (left = n; probe && left > 0; left -= chunk++) {
		if (chunk > left)
			chunk = left;
		weir_subscriber_probe_request(probe, chunk);
		if (!weir__verify_expected(
			    verify, probe,
			    weir_subscriber_probe_expect_next_n(probe, chunk)))
			return;
	}
	if (probe && weir__completes(verify, probe))
		weir__in_order(verify, probe);
}

static void may_end_before_the_demand(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 3, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 10);
	if (gets_all(verify, probe, 3))
		weir__in_order(verify, probe);
}

/* --- 1.3 ------------------------------------------------------------------ */

static void signals_inside_on_subscribe(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(
		verify, 5,
		&(struct weir_subscriber_probe_options){.request_first = 10});

	if (probe)
		gets_all(verify, probe, 5);
}

/* --- 1.4 ------------------------------------------------------------------ */

static void failure_is_told(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__make_failing(verify, 3);
	struct weir_subscriber_probe *probe =
		publisher ? weir__subscribe(verify, publisher, NULL) : NULL;

	if (!probe || !weir__gets(verify, probe, 0))
		return;
	weir_subscriber_probe_request(probe, 3);
	WEIR__CHECK(verify,
		    weir_subscriber_probe_expect_next_n(probe, 3) &&
			    weir_subscriber_probe_expect_error(probe, 0),
		    "1.4: %s", weir_subscriber_probe_failure(probe));
	if (weir__silent(verify, probe))
		weir__released(verify, probe);
}

static void failure_needs_no_demand(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__make_failing(verify, 0);
	struct weir_subscriber_probe *probe =
		publisher ? weir__subscribe(verify, publisher, NULL) : NULL;

	if (probe && weir__fails(verify, probe, 0) &&
	    weir__silent(verify, probe))
		weir__released(verify, probe);
}

static bool several(struct weir__verify *verify, bool same);

static void failure_is_told_to_all(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probes[3];
	struct weir_publisher *publisher;
	uint32_t i;

	if (!several(verify, true))
		return;
	publisher = weir__make_failing(verify, 2);
	for (i = 0; i < 3 && publisher; i++) {
		probes[i] = weir__subscribe(verify, publisher, NULL);
		if (!probes[i] || !weir__gets(verify, probes[i], 0))
			return;
	}
	for (i = 0; i < 3 && publisher; i++)
		weir_subscriber_probe_request(probes[i], 2);
	for (i = 0; i < 3 && publisher; i++) {
		if (!weir__verify_expected(verify, probes[i],
					   weir_subscriber_probe_expect_next_n(
						   probes[i], 2)) ||
		    !weir__fails(verify, probes[i], 0))
			return;
	}
}

/* --- 1.5, 1.6, 1.7, 1.8 --------------------------------------------------- */

static void end_needs_no_demand(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 3, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 3);
	if (gets_all(verify, probe, 3))
		weir__released(verify, probe);
}

static void empty_stream_ends_at_once(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 0, NULL);

	if (probe && gets_all(verify, probe, 0))
		weir__released(verify, probe);
}

/* Nothing that is called on an ended subscription has an effect. */
static void over_and_done(struct weir__verify *verify,
			  struct weir_subscriber_probe *probe)
{
	weir_subscriber_probe_request(probe, 1);
	weir_subscriber_probe_request(probe, 0);
	weir_subscriber_probe_request(probe, -1);
	if (!weir__silent(verify, probe))
		return;
	weir_subscriber_probe_cancel(probe);
	weir_subscriber_probe_request(probe, INT64_MAX);
	weir_subscriber_probe_cancel(probe);
	if (weir__silent(verify, probe))
		weir__released(verify, probe);
}

static void completed_counts_as_cancelled(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 2, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 5);
	if (gets_all(verify, probe, 2))
		over_and_done(verify, probe);
}

static void failed_counts_as_cancelled(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__make_failing(verify, 2);
	struct weir_subscriber_probe *probe =
		publisher ? weir__subscribe(verify, publisher, NULL) : NULL;

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 5);
	if (weir__verify_expected(verify, probe,
				  weir_subscriber_probe_expect_next_n(probe,
								      2)) &&
	    weir__fails(verify, probe, 0))
		over_and_done(verify, probe);
}

static void refused_request_counts_as_cancelled(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 5, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 2);
	if (!weir__gets(verify, probe, 2))
		return;
	weir_subscriber_probe_request(probe, -1);
	if (weir__fails(verify, probe, -EINVAL))
		over_and_done(verify, probe);
}

static void no_end_after_cancel(struct weir__verify *verify)
{
	int64_t n = weir__many(verify);
	struct weir_subscriber_probe *probe = weir__stream(
		verify, n,
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
	WEIR__CHECK(verify, n <= 5 || counts.errors + counts.completions == 0,
		    "1.8: a cancelled stream was ended");
	weir__released(verify, probe);
}

/* --- 1.9, 1.10 ------------------------------------------------------------ */

static void null_subscriber_is_refused(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__make(verify, 3);
	struct weir_subscriber_probe *probe;

	if (!publisher)
		return;
	WEIR__CHECK(verify,
		    publisher->ops->subscribe(publisher, NULL) == -EINVAL,
		    "1.9: subscribe(NULL) does not return -EINVAL");
	probe = weir__subscribe(verify, publisher, NULL);
	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 3);
	if (gets_all(verify, probe, 3))
		weir__in_order(verify, probe);
}

static void on_subscribe_comes_first(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 3, NULL);

	if (probe)
		weir__verify_expected(
			verify, probe,
			weir_subscriber_probe_expect_subscription(probe) &&
				weir_subscriber_probe_expect_nothing(probe));
}

static void rejection_is_told(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__make_rejecting(verify);
	struct weir_subscriber_probe *probe =
		publisher ? weir__subscribe(verify, publisher, NULL) : NULL;

	if (!probe ||
	    !weir__verify_expected(
		    verify, probe,
		    weir_subscriber_probe_expect_subscription(probe)) ||
	    !weir__fails(verify, probe, 0))
		return;
	over_and_done(verify, probe);
}

/* Served, ended or rejected: in any case it is told something. */
static bool is_told(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe)
{
	struct weir_subscriber_probe_counts counts;

	if (!weir__verify_expected(
		    verify, probe,
		    weir_subscriber_probe_expect_subscription(probe)))
		return false;
	weir_subscriber_probe_request(probe, 1);
	if (!weir__verify_settle(verify))
		return false;
	counts = weir_subscriber_probe_counts(probe);
	return counts.items + counts.errors + counts.completions > 0 ||
	       weir__verify_fail(verify, "1.10: a later subscriber gets "
					 "neither an item nor an end");
}

static void many_subscribe_one_after_another(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__make(verify, 5);
	struct weir_subscriber_probe *probe;
	uint32_t i;

	for (i = 0; i < 3 && publisher; i++) {
		probe = weir__subscribe(verify, publisher, NULL);
		if (!probe || !is_told(verify, probe))
			return;
		weir_subscriber_probe_cancel(probe);
		if (!weir__released(verify, probe))
			return;
	}
}

/* --- 1.11 ----------------------------------------------------------------- */

static bool several(struct weir__verify *verify, bool same)
{
	struct weir_publisher_factory *factory =
		weir__publisher_factory(verify);

	if (factory->max_subscribers && factory->max_subscribers < 3)
		return weir__verify_skip(verify, "too few subscribers at once");
	if (same && !factory->multicast)
		return weir__verify_skip(verify, "it is no multicast");
	return true;
}

/* Three probes at one publisher of `n` items. */
static bool three(struct weir__verify *verify, int64_t n,
		  struct weir_subscriber_probe *probes[3])
{
	struct weir_publisher *publisher = weir__make(verify, n);
	uint32_t i;

	if (!publisher)
		return false;
	for (i = 0; i < 3; i++) {
		probes[i] = weir__subscribe(verify, publisher, NULL);
		if (!probes[i] || !weir__gets(verify, probes[i], 0))
			return false;
	}
	return true;
}

static void one_too_many_is_told(struct weir__verify *verify)
{
	uint32_t most = weir__publisher_factory(verify)->max_subscribers, i;
	struct weir_publisher *publisher;
	struct weir_subscriber_probe *first = NULL, *probe = NULL;

	if (!most || most + 1 > WEIR__VERIFY_PROBES) {
		weir__verify_skip(verify, "there are never too many");
		return;
	}
	publisher = weir__make(verify, 3);
	for (i = 0; i <= most && publisher; i++) {
		probe = weir__subscribe(verify, publisher, NULL);
		if (!probe || !weir__verify_settle(verify))
			return;
		if (!first)
			first = probe;
	}
	if (!publisher || !weir__fails(verify, probe, 0) ||
	    !weir__released(verify, probe) || most > 1)
		return;
	weir_subscriber_probe_request(first, 3);
	if (gets_all(verify, first, 3))
		weir__in_order(verify, first);
}

static void all_get_the_same(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probes[3];
	int64_t step;
	uint32_t i;

	if (!several(verify, true) || !three(verify, 10, probes))
		return;
	for (step = 1; step <= 4; step++) {
		for (i = 0; i < 3; i++)
			weir_subscriber_probe_request(probes[i], step);
		for (i = 0; i < 3; i++) {
			if (!weir__verify_expected(
				    verify, probes[i],
				    weir_subscriber_probe_expect_next_n(
					    probes[i], step)))
				return;
		}
	}
	for (i = 0; i < 3; i++) {
		if (!weir__completes(verify, probes[i]) ||
		    !weir__in_order(verify, probes[i]))
			return;
	}
}

static void each_has_demand_of_its_own(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probes[3];
	uint32_t i;

	if (!several(verify, true) || !three(verify, 10, probes))
		return;
	weir_subscriber_probe_request(probes[0], 10);
	weir_subscriber_probe_request(probes[1], 1);
	if (!weir__gets(verify, probes[2], 0))
		return;
	weir_subscriber_probe_request(probes[2], 10);
	if (!weir__gets(verify, probes[1], 1))
		return;
	weir_subscriber_probe_request(probes[1], 9);
	for (i = 0; i < 3; i++) {
		if (!weir__verify_settle(verify))
			return;
		WEIR__CHECK(verify,
			    weir_subscriber_probe_counts(probes[i]).items == 10,
			    "1.11: not every subscriber has got all 10 items");
		if (!weir__in_order(verify, probes[i]))
			return;
	}
}

static void leaving_disturbs_nobody(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probes[3];

	if (!several(verify, true) || !three(verify, 10, probes))
		return;
	weir_subscriber_probe_request(probes[0], 5);
	weir_subscriber_probe_request(probes[1], 10);
	weir_subscriber_probe_request(probes[2], 5);
	if (!weir__gets(verify, probes[0], 5))
		return;
	weir_subscriber_probe_cancel(probes[0]);
	if (!weir__released(verify, probes[0]) ||
	    !weir__gets(verify, probes[2], 5))
		return;
	weir_subscriber_probe_request(probes[2], 5);
	if (!gets_all(verify, probes[1], 10) || !gets_all(verify, probes[2], 5))
		return;
	if (weir__in_order(verify, probes[1]))
		weir__in_order(verify, probes[2]);
}

static const struct weir__verify_test section_1[] = {
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
	{"spec_1_04_failure_is_told_to_all", failure_is_told_to_all},
	{"spec_1_05_end_needs_no_demand", end_needs_no_demand},
	{"spec_1_05_empty_stream_ends_at_once", empty_stream_ends_at_once},
	{"spec_1_06_completed_counts_as_cancelled",
	 completed_counts_as_cancelled},
	{"spec_1_06_failed_counts_as_cancelled", failed_counts_as_cancelled},
	{"spec_1_07_no_signal_after_the_error_of_a_request",
	 refused_request_counts_as_cancelled},
	{"spec_1_08_no_end_after_cancel", no_end_after_cancel},
	{"spec_1_09_null_subscriber_is_refused", null_subscriber_is_refused},
	{"spec_1_09_on_subscribe_comes_first", on_subscribe_comes_first},
	{"spec_1_09_rejection_is_told", rejection_is_told},
	{"spec_1_10_many_subscribe_one_after_another",
	 many_subscribe_one_after_another},
	{"spec_1_11_one_too_many_is_told", one_too_many_is_told},
	{"spec_1_11_all_get_the_same", all_get_the_same},
	{"spec_1_11_each_has_demand_of_its_own", each_has_demand_of_its_own},
	{"spec_1_11_leaving_disturbs_nobody", leaving_disturbs_nobody},
};

static void end(struct weir__verify *verify)
{
	struct weir_publisher_factory *factory =
		weir__publisher_factory(verify);
	struct made *made = verify->state;
	uint32_t i;

	for (i = 0; made && i < made->n; i++)
		factory->release(factory, made->publishers[i]);
	free(made);
	verify->state = NULL;
}

static size_t live(const struct weir__verify *verify)
{
	struct weir_publisher_factory *factory =
		weir__publisher_factory(verify);

	return factory->live ? factory->live(factory) : 0;
}

int weir_verify_publisher(struct weir_publisher_factory *factory,
			  struct weir_verify_report *report)
{
	const struct weir__verify_suite first = {
		section_1, sizeof(section_1) / sizeof(*section_1), end, live};
	const struct weir__verify_suite second = {weir__subscription_tests,
						  weir__n_subscription_tests,
						  end, live};

	if (!factory || !report || !factory->create || !factory->release ||
	    !factory->is_item)
		return -EINVAL;
	return weir__verify_run(&first, factory, &factory->env, report) +
	       weir__verify_run(&second, factory, &factory->env, report);
}
