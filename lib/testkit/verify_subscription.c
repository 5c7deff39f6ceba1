/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suite of publishers, section 3 of the specification, and what 2.13 says
 * about publishers: request and cancel from everywhere, and who fails. Helpers
 * are threads of the test, joined before it ends; all else is on the thread
 * that runs the tests, and signals on any.
 *
 * A call has to be prompt. There is no time that says so: it must return while
 * a signal is being handled on another thread, and not go to sleep.
 */
#include "testkit/verify_publisher.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <ck_pr.h>

#define DEMANDS 1000		/* requests of each of two threads */
#define STACK_MAX (16u * 1024u) /* bytes, whatever the length of a stream */
#define PATIENCE 5		/* seconds; bounds what fails */
#define ATTEMPTS 5 /* all of which have to sleep, to be a sleeper */

/* --- 2.13 ----------------------------------------------------------------- */

static void failed_gets_no_more(struct weir__verify *verify, int64_t fail_at,
				bool batches)
{
	struct weir_subscriber_probe *probe =
		weir__stream(verify, 10,
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
	weir__released(verify, probe);
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

/* --- 3.2, 3.3 ------------------------------------------------------------- */

static void one_by_one(struct weir__verify *verify, int64_t n)
{
	struct weir_subscriber_probe *probe =
		weir__stream(verify, n,
			     &(struct weir_subscriber_probe_options){
				     .request_first = 1,
				     .request_each = 1,
			     });
	size_t stack;

	if (!probe ||
	    !weir__verify_expected(verify, probe,
				   weir_subscriber_probe_expect_next_n(probe,
								       n)) ||
	    !weir__completes(verify, probe))
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
	one_by_one(verify, weir__many(verify));
}

static void stack_is_constant_at_once(struct weir__verify *verify)
{
	int64_t n = weir__many(verify);
	struct weir_subscriber_probe *probe = weir__stream(verify, n, NULL);
	size_t stack;

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, n);
	if (!weir__verify_expected(verify, probe,
				   weir_subscriber_probe_expect_next_n(probe,
								       n)) ||
	    !weir__completes(verify, probe))
		return;
	stack = weir_subscriber_probe_counts(probe).stack;
	WEIR__CHECK(verify, stack <= STACK_MAX,
		    "3.3: %lld items take %zu bytes of stack", (long long)n,
		    stack);
}

/* --- 3.4, 3.5 ------------------------------------------------------------- */

/* A call by another thread, made while on_next is being handled. */
struct meanwhile {
	struct weir_subscriber_probe *probe;
	bool cancels;
	pthread_t thread;
	bool started;
	uint32_t claimed;  /* by the first on_next; any thread */
	uint32_t returned; /* any thread */
	uint32_t stuck;	   /* on_next has waited in vain; any thread */
};

static void *call_meanwhile(void *context)
{
	struct meanwhile *meanwhile = context;

	if (meanwhile->cancels)
		weir_subscriber_probe_cancel(meanwhile->probe);
	else
		weir_subscriber_probe_request(meanwhile->probe, 1);
	ck_pr_store_32(&meanwhile->returned, 1);
	return NULL;
}

/* Inside the first on_next: waits for the other thread's call to return. */
static void wait_meanwhile(struct weir_subscriber_probe *probe,
			   enum weir_signal signal, void *context)
{
	struct meanwhile *meanwhile = context;
	struct timespec start, now;

	if (signal != WEIR_ON_NEXT || ck_pr_fas_32(&meanwhile->claimed, 1))
		return;
	meanwhile->probe = probe;
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (pthread_create(&meanwhile->thread, NULL, call_meanwhile,
			   meanwhile) != 0)
		return;
	meanwhile->started = true;
	while (!ck_pr_load_32(&meanwhile->returned)) {
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec < PATIENCE)
			continue;
		ck_pr_store_32(&meanwhile->stuck, 1);
		return;
	}
}

static bool threads_allowed(struct weir__verify *verify)
{
	return !verify->env->one_thread ||
	       weir__verify_skip(verify, "everything is on one thread");
}

static void returns_during_a_signal(struct weir__verify *verify, bool cancels)
{
	struct meanwhile meanwhile = {.cancels = cancels};
	struct weir_subscriber_probe *probe;

	if (!threads_allowed(verify))
		return;
	probe = weir__stream(verify, 3,
			     &(struct weir_subscriber_probe_options){
				     .signalled = wait_meanwhile,
				     .context = &meanwhile,
			     });
	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 1);
	weir__verify_settle(verify);
	if (meanwhile.started)
		pthread_join(meanwhile.thread, NULL);
	WEIR__CHECK(verify, meanwhile.started, "on_next has not come");
	WEIR__CHECK(verify, !meanwhile.stuck,
		    "%s waits for a signal that another thread handles",
		    cancels ? "3.5: cancel" : "3.4: request");
	if (cancels)
		weir__released(verify, probe);
	else
		weir__gets(verify, probe, 2);
}

static void request_returns_during_a_signal(struct weir__verify *verify)
{
	returns_during_a_signal(verify, false);
}

static void cancel_returns_during_a_signal(struct weir__verify *verify)
{
	returns_during_a_signal(verify, true);
}

/* How often the calling thread has gone to sleep. */
static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* A single sleep may be somebody else's lock; one at each attempt is not. */
static void does_not_sleep(struct weir__verify *verify, bool cancels)
{
	struct weir_publisher *publisher = weir__make(verify, ATTEMPTS);
	struct weir_subscriber_probe *probe = NULL;
	uint32_t i, slept = 0;
	long before;

	for (i = 0; i < ATTEMPTS && publisher; i++) {
		if (!probe || cancels)
			probe = weir__subscribe(verify, publisher, NULL);
		if (!probe)
			return;
		before = sleeps();
		if (cancels)
			weir_subscriber_probe_cancel(probe);
		else
			weir_subscriber_probe_request(probe, 1);
		slept += sleeps() > before;
		if (!weir__verify_settle(verify))
			return;
	}
	WEIR__CHECK(verify, slept < ATTEMPTS, "%s goes to sleep",
		    cancels ? "3.5: cancel" : "3.4: request");
}

static void request_does_not_sleep(struct weir__verify *verify)
{
	does_not_sleep(verify, false);
}

static void cancel_does_not_sleep(struct weir__verify *verify)
{
	does_not_sleep(verify, true);
}

/* --- 3.6, 3.7 ------------------------------------------------------------- */

static const int64_t all_requests[] = {1, 0, -1, INT64_MIN, INT64_MAX, 10};

static void request_after_cancel(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 10, NULL);
	size_t i;

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 2);
	if (!weir__gets(verify, probe, 2))
		return;
	weir_subscriber_probe_cancel(probe);
	for (i = 0; i < sizeof(all_requests) / sizeof(*all_requests); i++)
		weir_subscriber_probe_request(probe, all_requests[i]);
	if (!weir__silent(verify, probe))
		return;
	for (i = 0; i < sizeof(all_requests) / sizeof(*all_requests); i++) {
		weir_subscriber_probe_request(probe, all_requests[i]);
		if (!weir__silent(verify, probe))
			return;
	}
	weir__released(verify, probe);
}

static void cancel_after_cancel(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 10, NULL);

	if (!probe || !weir__gets(verify, probe, 0))
		return;
	weir_subscriber_probe_cancel(probe);
	weir_subscriber_probe_cancel(probe);
	if (!weir__released(verify, probe))
		return;
	weir_subscriber_probe_cancel(probe);
	if (weir__silent(verify, probe))
		weir__released(verify, probe);
}

/* --- 3.8 ------------------------------------------------------------------ */

/* Several requests inside the first signal, before any is answered. */
static void request_thrice(struct weir_subscriber_probe *probe,
			   enum weir_signal signal, void *context)
{
	const int64_t *n = context;
	uint32_t i;

	for (i = 0; i < 3 && signal == WEIR_ON_SUBSCRIBE; i++)
		weir_subscriber_probe_request(probe, n[i]);
}

static struct weir_subscriber_probe *thrice(struct weir__verify *verify,
					    int64_t items, int64_t n[3])
{
	return weir__stream(verify, items,
			    &(struct weir_subscriber_probe_options){
				    .signalled = request_thrice,
				    .context = n,
			    });
}

static void requests_add_up(struct weir__verify *verify)
{
	int64_t n[] = {3, 4, 5};
	struct weir_subscriber_probe *probe = thrice(verify, 20, n);

	if (probe && weir__gets(verify, probe, 12))
		weir__in_order(verify, probe);
}

struct requester {
	struct weir_subscriber_probe *probe;
	uint32_t *go; /* how many are ready */
};

static void *request_often(void *context)
{
	const struct requester *requester = context;
	uint32_t i;

	ck_pr_inc_32(requester->go);
	while (ck_pr_load_32(requester->go) < 2)
		sched_yield();
	for (i = 0; i < DEMANDS; i++)
		weir_subscriber_probe_request(requester->probe, 1);
	return NULL;
}

/* Two threads request at once; false: it was not possible. */
static bool request_from_two(struct weir__verify *verify,
			     struct weir_subscriber_probe *probe)
{
	uint32_t go = 0;
	struct requester requester = {probe, &go};
	pthread_t thread;

	if (pthread_create(&thread, NULL, request_often, &requester) != 0)
		return weir__verify_fail(verify, "no thread could be made");
	request_often(&requester);
	pthread_join(thread, NULL);
	return true;
}

static void concurrent_requests_add_up(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe;

	if (!threads_allowed(verify))
		return;
	probe = weir__stream(verify, INT64_C(2) * DEMANDS + 1, NULL);
	if (!probe || !request_from_two(verify, probe) ||
	    !weir__gets(verify, probe, INT64_C(2) * DEMANDS))
		return;
	weir__in_order(verify, probe);
}

/* Gives others the time to be wrong. */
static void dawdle(struct weir_subscriber_probe *probe, enum weir_signal signal,
		   void *context)
{
	sched_yield();
}

static void signals_are_serial(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe;

	if (!threads_allowed(verify))
		return;
	probe = weir__stream(
		verify, INT64_C(2) * DEMANDS,
		&(struct weir_subscriber_probe_options){.signalled = dawdle});
	if (!probe || !request_from_two(verify, probe))
		return;
	if (weir__verify_expected(verify, probe,
				  weir_subscriber_probe_expect_next_n(
					  probe, INT64_C(2) * DEMANDS)) &&
	    weir__completes(verify, probe))
		weir__in_order(verify, probe);
}

/* --- 3.9 ------------------------------------------------------------------ */

static void refuses(struct weir__verify *verify, int64_t n)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 10, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, n);
	if (!weir__fails(verify, probe, -EINVAL))
		return;
	weir_subscriber_probe_request(probe, n);
	weir_subscriber_probe_request(probe, 1);
	if (weir__silent(verify, probe))
		weir__released(verify, probe);
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
	if (signal == WEIR_ON_NEXT) {
		weir_subscriber_probe_request(probe, 0);
		weir_subscriber_probe_request(probe, -1);
	}
}

static void refused_inside_on_next(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__stream(verify, 10,
			     &(struct weir_subscriber_probe_options){
				     .signalled = request_badly});

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 1);
	if (weir__verify_expected(verify, probe,
				  weir_subscriber_probe_expect_next_n(probe,
								      1)) &&
	    weir__fails(verify, probe, -EINVAL) && weir__silent(verify, probe))
		weir__released(verify, probe);
}

/* --- 3.12, 3.13, 3.14 ----------------------------------------------------- */

static void cancel_stops(struct weir__verify *verify)
{
	int64_t n = weir__many(verify), items;
	struct weir_subscriber_probe *probe = weir__stream(
		verify, n,
		&(struct weir_subscriber_probe_options){.cancel_at = 5});

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, INT64_MAX);
	if (!weir__verify_settle(verify))
		return;
	items = weir_subscriber_probe_counts(probe).items;
	WEIR__CHECK(verify, items >= 5 && (items < n || n <= 5),
		    "3.12: all %lld items came, though it cancelled at the 5th",
		    (long long)items);
	weir__released(verify, probe);
}

static void released_after_idle_cancel(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 10, NULL);

	if (!probe || !weir__gets(verify, probe, 0))
		return;
	weir_subscriber_probe_cancel(probe);
	if (weir__released(verify, probe))
		weir__silent(verify, probe);
}

static void released_after_cancel_between(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 10, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 5);
	if (!weir__gets(verify, probe, 5))
		return;
	weir_subscriber_probe_cancel(probe);
	if (weir__released(verify, probe))
		weir__silent(verify, probe);
}

static void released_after_cancel_in_on_subscribe(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__stream(verify, 10,
			     &(struct weir_subscriber_probe_options){
				     .request_first = 2,
				     .cancel_at = -1,
			     });

	if (probe)
		weir__released(verify, probe);
}

static void released_after_cancel_in_on_next(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(
		verify, 10,
		&(struct weir_subscriber_probe_options){.cancel_at = 1});

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, 1);
	weir__released(verify, probe);
}

static void told_after_the_last_has_cancelled(struct weir__verify *verify)
{
	struct weir_publisher *publisher = weir__make(verify, 5);
	struct weir_subscriber_probe_counts counts;
	struct weir_subscriber_probe *probe;
	uint32_t i;

	for (i = 0; i < 2 && publisher; i++) {
		probe = weir__subscribe(verify, publisher, NULL);
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
		if (!weir__released(verify, probe))
			return;
	}
}

/* --- 3.17 ----------------------------------------------------------------- */

static void gets_all_in_order(struct weir__verify *verify,
			      struct weir_subscriber_probe *probe, int64_t n)
{
	if (weir__verify_expected(verify, probe,
				  weir_subscriber_probe_expect_next_n(probe,
								      n)) &&
	    weir__completes(verify, probe))
		weir__in_order(verify, probe);
}

static void greatest_demand(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe = weir__stream(verify, 20, NULL);

	if (!probe)
		return;
	weir_subscriber_probe_request(probe, INT64_MAX);
	gets_all_in_order(verify, probe, 20);
}

static void greatest_sum(struct weir__verify *verify)
{
	int64_t n[] = {INT64_MAX - 1, 5, INT64_MAX};
	struct weir_subscriber_probe *probe = thrice(verify, 20, n);

	if (probe)
		gets_all_in_order(verify, probe, 20);
}

static void greatest_inside_signals(struct weir__verify *verify)
{
	struct weir_subscriber_probe *probe =
		weir__stream(verify, 20,
			     &(struct weir_subscriber_probe_options){
				     .request_first = INT64_MAX - 1,
				     .request_each = INT64_MAX,
			     });

	if (probe)
		gets_all_in_order(verify, probe, 20);
}

const struct weir__verify_test weir__subscription_tests[] = {
	{"spec_1_03_signals_are_serial", signals_are_serial},
	{"spec_2_13_no_signal_after_on_subscribe_failed",
	 failed_in_on_subscribe},
	{"spec_2_13_no_signal_after_on_next_failed", failed_in_on_next},
	{"spec_2_13_no_end_after_the_last_on_next_failed",
	 failed_at_the_last_item},
	{"spec_2_13_no_signal_after_a_batch_failed", failed_in_a_batch},
	{"spec_3_02_requests_inside_signals", requests_inside_signals},
	{"spec_3_03_stack_is_constant_one_by_one",
	 stack_is_constant_one_by_one},
	{"spec_3_03_stack_is_constant_at_once", stack_is_constant_at_once},
	{"spec_3_04_request_returns_during_a_signal",
	 request_returns_during_a_signal},
	{"spec_3_04_request_does_not_sleep", request_does_not_sleep},
	{"spec_3_05_cancel_returns_during_a_signal",
	 cancel_returns_during_a_signal},
	{"spec_3_05_cancel_does_not_sleep", cancel_does_not_sleep},
	{"spec_3_06_request_after_cancel_does_nothing", request_after_cancel},
	{"spec_3_07_cancel_after_cancel_does_nothing", cancel_after_cancel},
	{"spec_3_08_requests_add_up", requests_add_up},
	{"spec_3_08_concurrent_requests_add_up", concurrent_requests_add_up},
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

const size_t weir__n_subscription_tests = sizeof(weir__subscription_tests) /
					  sizeof(*weir__subscription_tests);
