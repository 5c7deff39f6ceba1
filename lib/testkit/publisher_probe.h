/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher probe, for its two halves: publisher_probe.c sends and is called;
 * publisher_expect.c checks the calls.
 */
#ifndef WEIR_TESTKIT_PUBLISHER_PROBE_H
#define WEIR_TESTKIT_PUBLISHER_PROBE_H

#include <pthread.h>

#include <weir/testkit.h>

#define WEIR__PUBLISHER_TEXT 200 /* bytes of the text of a failure */

/* A subscription, given by one on_subscribe. The first one counts, further ones
 * break the rules. */
struct weir__grant {
	struct weir_subscription subscription; /* the probe has a reference */
	struct weir_publisher_probe *probe;
	struct weir__grant *next;
	bool extra;
	/*
	 * Written by request and cancel before any operation that orders one
	 * call after another: so ThreadSanitizer finds calls that the
	 * subscriber does not order (2.7). Calls of two subscriptions need no
	 * order.
	 */
	uint64_t serial;
	uint32_t inside; /* calls of request and cancel; any thread */
};

struct weir_publisher_probe {
	struct weir_publisher publisher;
	/* Constant. */
	const struct weir_test_env *env;
	const struct weir_items *items;
	pthread_mutex_t lock;		    /* over all that follows */
	struct weir_subscriber *subscriber; /* NULL: none, or let go */
	struct weir__grant *grants;
	int64_t left;  /* requested and not sent */
	int64_t unmet; /* requested, not met by an expectation */
	uint32_t sending;
	bool ended, cancelled, misbehaves, holds;
	struct weir_publisher_probe_counts counts;
	char wanted[WEIR__PUBLISHER_TEXT];
};

/* Subscriptions that others hold. Under the lock. */
uint32_t weir__publisher_probe_held(const struct weir_publisher_probe *probe);

#endif
