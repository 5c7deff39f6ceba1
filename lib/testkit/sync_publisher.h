/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher that sends its items and the end inside `request` (3.10, 3.11),
 * on the requesting thread. One thread sends at a time; so a request inside a
 * signal only adds to the demand. For the suites of subscribers and processors.
 */
#ifndef WEIR_TESTKIT_SYNC_PUBLISHER_H
#define WEIR_TESTKIT_SYNC_PUBLISHER_H

#include <stdbool.h>

#include <weir/stream.h>

#define WEIR__SYNC_PUBLISHER_ITEMS 100

/* Its user zeroes it and fills it in; it lives until it is given back. */
struct weir__sync_publisher {
	struct weir_publisher publisher;
	const struct weir_items *items;
	void *item[WEIR__SYNC_PUBLISHER_ITEMS]; /* what is sent */
	uint32_t n;				/* of items */
	struct weir_error *error; /* borrowed; NULL: it completes */
	/* The sender's: the thread that counted `work` up from 0. */
	struct weir_subscription subscription;
	struct weir_subscriber *subscriber;
	bool subscribed;
	uint32_t next; /* item to be sent */
	/* Any thread, atomically. */
	int64_t demand; /* cumulative */
	uint32_t work;
	uint32_t cancelled;
	uint32_t released; /* the subscription is not held any more */
	uint32_t misused;  /* calls since then */
	uint32_t failed;   /* signals with another result than 0 */
};

/* Sets it up; it takes one subscriber. */
void weir__sync_publisher_init(struct weir__sync_publisher *sync);

/* Releases the subscriber, if it has not been released yet. */
void weir__sync_publisher_stop(struct weir__sync_publisher *sync);

/* True: its memory may be reused. Ask when it was stopped. */
bool weir__sync_publisher_is_released(struct weir__sync_publisher *sync);

#endif
