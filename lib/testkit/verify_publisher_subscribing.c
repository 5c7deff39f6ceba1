/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suite of publishers: subscribers, one after another and several at once;
 * 1.9 to 1.11. All on the thread that runs the tests; signals come on any.
 */
#include "testkit/publisher_steps.h"

/* --- 1.9, 1.10 ------------------------------------------------------------ */

static void null_subscriber_is_refused(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__pub_make(verify, 3);
	struct weir_subscriber_probe *probe;

	if (!publisher)
		return;
	WEIR__CHECK(verify,
		    publisher->ops->subscribe(publisher, NULL) == -EINVAL,
		    "1.9: subscribe(NULL) does not return -EINVAL");
	probe = weir__pub_subscribe(verify, publisher, NULL);
	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 3);
	if (weir__pub_gets_all(verify, probe, 3))
		weir__pub_in_order(verify, probe);
}

static void on_subscribe_comes_first(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__pub_stream(verify, 3, NULL);

	if (probe)
		weir__verify_expected(
			verify, probe,
			weir_subscriber_probe_expect_subscription(probe) &&
				weir_subscriber_probe_expect_nothing(probe));
}

static void rejection_is_told(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__pub_make_rejecting(verify);
	struct weir_subscriber_probe *probe =
		publisher ? weir__pub_subscribe(verify, publisher, NULL) : NULL;

	if (!probe ||
	    !weir__verify_expected(
		    verify, probe,
		    weir_subscriber_probe_expect_subscription(probe)) ||
	    !weir__pub_fails(verify, probe, 0))
		return;
	weir__pub_over(verify, probe);
}

/* True: the probe was served, ended or rejected; it must get a signal. */
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
	struct weir_publisher *publisher = weir__pub_make(verify, 5);
	struct weir_subscriber_probe *probe;
	uint32_t i;

	for (i = 0; i < 3 && publisher; i++) {
		probe = weir__pub_subscribe(verify, publisher, NULL);
		if (!probe || !is_told(verify, probe))
			return;
		weir_subscriber_probe_cancel(probe);
		if (!weir__pub_released(verify, probe))
			return;
	}
}

/* --- 1.11 ----------------------------------------------------------------- */

static bool several(struct weir__verify *verify, bool same)
{
	struct weir_publisher_factory *factory = weir__pub_factory(verify);

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
	struct weir_publisher *publisher = weir__pub_make(verify, n);
	uint32_t i;

	if (!publisher)
		return false;
	for (i = 0; i < 3; i++) {
		probes[i] = weir__pub_subscribe(verify, publisher, NULL);
		if (!probes[i] || !weir__pub_gets(verify, probes[i], 0))
			return false;
	}
	return true;
}

static void one_too_many_is_told(struct weir__verify *verify)
{
	size_t most = weir__pub_factory(verify)->max_subscribers, i;
	struct weir_publisher *publisher;
	struct weir_subscriber_probe *first = NULL, *probe = NULL;

	if (!most || most >= WEIR__VERIFY_PROBES) {
		weir__verify_skip(verify, "there are never too many");
		return;
	}
	publisher = weir__pub_make(verify, 3);
	for (i = 0; i <= most && publisher; i++) {
		probe = weir__pub_subscribe(verify, publisher, NULL);
		if (!probe || !weir__verify_settle(verify))
			return;
		if (!first)
			first = probe;
	}
	if (!publisher || !weir__pub_fails(verify, probe, 0) ||
	    !weir__pub_released(verify, probe) || most > 1)
		return;
	weir_subscriber_probe_request(first, 3);
	if (weir__pub_gets_all(verify, first, 3))
		weir__pub_in_order(verify, first);
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
		if (!weir__pub_completes(verify, probes[i]) ||
		    !weir__pub_in_order(verify, probes[i]))
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
	if (!weir__pub_gets(verify, probes[2], 0))
		return;
	weir_subscriber_probe_request(probes[2], 10);
	if (!weir__pub_gets(verify, probes[1], 1))
		return;
	weir_subscriber_probe_request(probes[1], 9);
	for (i = 0; i < 3; i++) {
		if (!weir__verify_settle(verify))
			return;
		WEIR__CHECK(verify,
			    weir_subscriber_probe_counts(probes[i]).items == 10,
			    "1.11: not every subscriber has got all 10 items");
		if (!weir__pub_in_order(verify, probes[i]))
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
	if (!weir__pub_gets(verify, probes[0], 5))
		return;
	weir_subscriber_probe_cancel(probes[0]);
	if (!weir__pub_released(verify, probes[0]) ||
	    !weir__pub_gets(verify, probes[2], 5))
		return;
	weir_subscriber_probe_request(probes[2], 5);
	if (!weir__pub_gets_all(verify, probes[1], 10) ||
	    !weir__pub_gets_all(verify, probes[2], 5))
		return;
	if (weir__pub_in_order(verify, probes[1]))
		weir__pub_in_order(verify, probes[2]);
}

/*
 * The probe that requests first has demand for all items. Other probes may get
 * the error before they have requested anything, because an error needs no
 * demand.
 */
static void fails_in_order(struct weir__verify *verify,
			   struct weir_subscriber_probe *probe)
{
	WEIR__CHECK(verify, weir_subscriber_probe_counts(probe).errors == 1,
		    "1.4: one was not told");
	weir__pub_in_order(verify, probe);
}

static void failure_is_told_to_all(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probes[3];
	struct weir_publisher *publisher;
	uint32_t i;

	if (!several(verify, true))
		return;
	publisher = weir__pub_make_failing(verify, 2);
	for (i = 0; i < 3 && publisher; i++) {
		probes[i] = weir__pub_subscribe(verify, publisher, NULL);
		if (!probes[i] || !weir__pub_gets(verify, probes[i], 0))
			return;
	}
	for (i = 0; i < 3 && publisher; i++)
		weir_subscriber_probe_request(probes[i], 2);
	if (!publisher ||
	    !weir__verify_expected(
		    verify, probes[0],
		    weir_subscriber_probe_expect_next_n(probes[0], 2)) ||
	    !weir__pub_fails(verify, probes[0], 0) ||
	    !weir__verify_settle(verify))
		return;
	fails_in_order(verify, probes[1]);
	fails_in_order(verify, probes[2]);
}

static const struct weir__verify_test tests[] = {
	{"spec_1_04_failure_is_told_to_all", failure_is_told_to_all},
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

const struct weir__verify_suite weir__pub_subscribing = {
	.tests = tests,
	.n_tests = sizeof(tests) / sizeof(*tests),
	.end = weir__pub_end,
	.live = weir__pub_live,
};
