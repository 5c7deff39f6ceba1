/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suite of publishers: calls from other threads, and calls that must not
 * wait; 1.3, 3.4, 3.5, 3.8. Helpers are threads of the test, joined before it
 * ends; everything else is on the thread that runs the tests, and signals on
 * any.
 *
 * A call has to be prompt. No time limit can show that: the call must return
 * while a signal is being handled on another thread, and must not sleep.
 */
#include "testkit/publisher_steps.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <ck_pr.h>

#define DEMANDS 1000 /* requests of each of two threads */
#define SECOND_NS INT64_C(1000000000)
#define PATIENCE 1  /* seconds of processor time, for tests that fail */
#define STALLS 2000 /* between two looks */
#define ATTEMPTS 5  /* all but one of which have to sleep, to be a sleeper */

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
	/* relaxed: only this word is read; the end of the thread orders the
	 * rest */
	ck_pr_store_32(&meanwhile->returned, 1);
	return NULL;
}

/* Processor time of the calling thread, which does not count other threads. */
static int64_t processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * SECOND_NS + time.tv_nsec;
}

/*
 * Lets other threads run, and does some work: a thread that only yields gets
 * hardly any time on a busy machine, and would need minutes to use up a second.
 */
static void stall(void)
{
	uint32_t i;

	for (i = 0; i < STALLS; i++)
		ck_pr_stall();
	sched_yield();
}

/* Inside the first on_next: waits for the other thread's call to return. */
static void wait_meanwhile(struct weir_subscriber_probe *probe,
			   enum weir_signal signal, void *context)
{
	struct meanwhile *meanwhile = context;
	int64_t end;

	if (signal != WEIR_SIGNAL_ON_NEXT ||
	    ck_pr_fas_32(&meanwhile->claimed, 1))
		return;
	meanwhile->probe = probe;
	end = processor_ns() + PATIENCE * SECOND_NS;
	if (pthread_create(&meanwhile->thread, NULL, call_meanwhile,
			   meanwhile) != 0)
		return;
	meanwhile->started = true;
	while (!ck_pr_load_32(&meanwhile->returned)) {
		stall();
		if (processor_ns() < end)
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
	probe = weir__pub_stream(verify, 3,
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
		weir__pub_released(verify, probe);
	else
		weir__pub_gets(verify, probe, 2);
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

/*
 * A few sleeps may be waits for another lock; and on a busy machine a short
 * sleep may be over before it has begun.
 */
static void does_not_sleep(struct weir__verify *verify, bool cancels)
{
	struct weir_publisher *publisher = weir__pub_make(verify, ATTEMPTS);
	struct weir_subscriber_probe *probe = NULL;
	uint32_t i, slept = 0;
	long before;

	for (i = 0; i < ATTEMPTS && publisher; i++) {
		if (!probe || cancels)
			probe = weir__pub_subscribe(verify, publisher, NULL);
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
	WEIR__CHECK(verify, slept < ATTEMPTS - 1, "%s goes to sleep",
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

/* --- 1.3, 3.8 ------------------------------------------------------------- */

struct requester {
	struct weir_subscriber_probe *probe;
	uint32_t *go; /* how many are ready */
};

static void *request_often(void *context)
{
	const struct requester *requester = context;
	uint32_t i;

	/* relaxed: the more at once, the better */
	ck_pr_inc_32(requester->go);
	while (ck_pr_load_32(requester->go) < 2)
		sched_yield();
	for (i = 0; i < DEMANDS; i++)
		weir_subscriber_probe_request(requester->probe, 1);
	return NULL;
}

/* Two threads request at once. False: that was not possible. */
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
	probe = weir__pub_stream(verify, INT64_C(2) * DEMANDS + 1, NULL);
	if (!probe || !request_from_two(verify, probe) ||
	    !weir__pub_gets(verify, probe, INT64_C(2) * DEMANDS))
		return;
	weir__pub_in_order(verify, probe);
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
	probe = weir__pub_stream(
		verify, INT64_C(2) * DEMANDS,
		&(struct weir_subscriber_probe_options){.signalled = dawdle});
	if (!probe || !request_from_two(verify, probe))
		return;
	if (weir__verify_expected(verify, probe,
				  weir_subscriber_probe_expect_next_n(
					  probe, INT64_C(2) * DEMANDS)) &&
	    weir__pub_completes(verify, probe))
		weir__pub_in_order(verify, probe);
}

static const struct weir__verify_test tests[] = {
	{"spec_1_03_signals_are_serial", signals_are_serial},
	{"spec_3_04_request_returns_during_a_signal",
	 request_returns_during_a_signal},
	{"spec_3_04_request_does_not_sleep", request_does_not_sleep},
	{"spec_3_05_cancel_returns_during_a_signal",
	 cancel_returns_during_a_signal},
	{"spec_3_05_cancel_does_not_sleep", cancel_does_not_sleep},
	{"spec_3_08_concurrent_requests_add_up", concurrent_requests_add_up},
};

const struct weir__verify_suite weir__pub_threads = {
	.tests = tests,
	.n_tests = sizeof(tests) / sizeof(*tests),
	.end = weir__pub_end,
	.live = weir__pub_live,
};
