/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher probe, as its two halves see it: publisher_probe.c, which sends
 * and is called, and publisher_expect.c, which looks at what was called.
 */
#ifndef WEIR_TESTKIT_PUBLISHER_PROBE_H
#define WEIR_TESTKIT_PUBLISHER_PROBE_H

#include <pthread.h>

#include <weir/testkit.h>

#define WEIR__PUBLISHER_TEXT 200 /* bytes of what the probe has to say */

/* One on_subscribe; the first one counts, further ones break the rules. */
struct weir__grant {
	struct weir_subscription subscription; /* the probe holds one, too */
	struct weir_publisher_probe *probe;
	struct weir__grant *next;
	bool extra;
	/*
	 * Written by request and cancel before anything that would order one
	 * after the other: ThreadSanitizer sees it if the subscriber does not
	 * (2.7). Calls of two subscriptions need no order.
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
	int64_t unmet; /* requested since an expectation has met it */
	uint32_t sending;
	bool ended, cancelled, misbehaves, holds;
	struct weir_publisher_probe_counts counts;
	char wanted[WEIR__PUBLISHER_TEXT];
};

/* Subscriptions that others hold. Under the lock. */
uint32_t weir__publisher_probe_held(const struct weir_publisher_probe *probe);

#endif
