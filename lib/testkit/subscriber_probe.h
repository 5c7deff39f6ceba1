/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subscriber probe, for its two halves: subscriber_probe.c gets the signals;
 * subscriber_expect.c checks them.
 */
#ifndef WEIR_TESTKIT_SUBSCRIBER_PROBE_H
#define WEIR_TESTKIT_SUBSCRIBER_PROBE_H

#include <pthread.h>

#include <weir/testkit.h>

#define WEIR__PROBE_TEXT 200 /* bytes of the text of a failure */

struct weir_subscriber_probe {
	struct weir_subscriber subscriber;
	/* Constant. */
	const struct weir_test_env *env;
	struct weir_subscriber_probe_options options;
	/*
	 * Written by each signal before any operation that orders one signal
	 * after another: so ThreadSanitizer finds signals that the publisher
	 * does not order (1.3).
	 */
	uint64_t serial;
	uint32_t inside; /* signals that are being handled; any thread */

	pthread_mutex_t lock;	   /* for all fields below */
	pthread_t thread;	   /* of the last signal */
	uintptr_t lowest, highest; /* frames of signals on it */
	struct weir_subscription *subscription;
	void **items;
	int64_t room; /* in `items` */
	struct weir_error *error;
	struct weir_subscriber_probe_counts counts;
	bool ended;	 /* the last signal has come */
	bool cancelling; /* cancel is called, or has been */
	bool cancelled;	 /* cancel has returned */
	bool failed;	 /* a signal was answered with an error */
	/* Signals that expectations have met. */
	int64_t items_met;
	bool subscription_met, end_met;
	char broken[WEIR__PROBE_TEXT]; /* the first rule, or "" */
	char wanted[WEIR__PROBE_TEXT]; /* what the last expectation missed */
};

#endif
