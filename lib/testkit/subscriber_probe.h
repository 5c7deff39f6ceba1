/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subscriber probe, as its two halves see it: subscriber_probe.c, which gets
 * the signals, and subscriber_expect.c, which looks at what has come.
 */
#ifndef WEIR_TESTKIT_SUBSCRIBER_PROBE_H
#define WEIR_TESTKIT_SUBSCRIBER_PROBE_H

#include <pthread.h>

#include <weir/testkit.h>

#define WEIR__PROBE_TEXT 200 /* bytes of what a probe has to say */

struct weir_subscriber_probe {
	struct weir_subscriber subscriber;
	/* Constant. */
	const struct weir_test_env *env;
	struct weir_subscriber_probe_options options;
	/*
	 * Written by each signal before anything that would order the one after
	 * the other: ThreadSanitizer sees it if the publisher does not (1.3).
	 */
	uint64_t serial;
	uint32_t inside; /* signals that are being handled; any thread */

	pthread_mutex_t lock;	   /* over all that follows */
	pthread_t thread;	   /* that of the last signal */
	uintptr_t lowest, highest; /* frames of signals on it */
	struct weir_subscription *subscription;
	void **items;
	int64_t room; /* in `items` */
	struct weir_error *error;
	struct weir_subscriber_probe_counts counts;
	bool ended;	 /* the last signal has come */
	bool cancelling; /* cancel is called, or has been */
	bool cancelled;	 /* it has returned */
	bool failed;	 /* a signal was answered with an error */
	/* What expectations have met. */
	int64_t items_met;
	bool subscription_met, end_met;
	char broken[WEIR__PROBE_TEXT]; /* the first rule, or "" */
	char wanted[WEIR__PROBE_TEXT]; /* what the last one has missed */
};

#endif
