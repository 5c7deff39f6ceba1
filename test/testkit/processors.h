/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A processor as somebody would write one by hand, and all the ways to get it
 * wrong: it passes on what comes, to all of its subscribers at the pace of the
 * slowest, and has room for a few items. It works at once, or whenever a pump
 * runs it. `broken` says what is wrong with it. One thread.
 */
#ifndef WEIR_TEST_TESTKIT_PROCESSORS_H
#define WEIR_TEST_TESTKIT_PROCESSORS_H

#include "testkit/pump.h"

#include <weir/stream.h>

enum broken_processor {
	PROCESSOR_CORRECT,
	/* upstream's demand */
	NEVER_REPLENISHES,
	REPLENISHES_TWICE,   /* two for one that has left */
	REQUESTS_TOO_MUCH,   /* more than its room at first */
	REPLENISHES_FOR_ALL, /* until one of them has left */
	FORGETS_LONG_AGO,    /* old requests, when a subscriber has left */
	/* signals */
	ERROR_WAITS,  /* for demand */
	ERROR_BEHIND, /* items that wait for demand */
	ERROR_FOR_ONE,
	ERROR_COPIED,
	ERROR_SWALLOWED,
	FAILS_TO_RECOVER,
	COMPLETE_WAITS,
	COMPLETE_WAITS_AT_REST, /* once something was passed on */
	COMPLETE_OVERTAKES,	/* and what is buffered is lost */
	OVERRUNS,		/* sends without demand */
	SWALLOWS_ITEMS,
	REPEATS_ITEMS,
	/* subscribers */
	IGNORES_OTHERS,
	REPLACES_OTHERS,
	KEEPS_SUBSCRIBERS,
	/* cancelling */
	KEEPS_UPSTREAM,
	LEAVES_EARLY, /* cancels upstream when the first leaves */
	LEAKS_BUFFER,
	CANCELS_ENDED, /* upstream, when the end comes */
	/* the subscriber's side */
	TAKES_TWO, /* subscriptions */
	NULLS_ARE_FINE,
	N_BROKEN_PROCESSORS,
};

#define RELAY_ROOM 8
#define RELAY_BRANCHES 4

struct relay {
	struct weir_subscriber in;
	struct weir_publisher out;
	struct weir_processor processor; /* the two */
	enum broken_processor broken;
	const struct weir_items *items;
	struct weir_subscription *upstream; /* NULL: none, ended, cancelled */
	bool subscribed, ended, recovers, passed;
	struct weir_error *error;
	void *buffer[RELAY_ROOM];
	size_t first, n;
	size_t used; /* delivered and not requested again */
	struct branch *branches[RELAY_BRANCHES];
	size_t n_branches, most; /* the most it takes */
	bool one_left;
	bool working, again; /* work() is not entered twice */
	size_t holds;	     /* its owner, its publisher, its job */
	size_t *alive;	     /* counts those that are there */
	struct pump *pump;   /* NULL: works at once */
	struct job job;
};

/* One subscriber; lives until its subscription is released. */
struct branch {
	struct weir_subscription subscription;
	struct weir_subscriber *subscriber;
	struct relay *relay; /* NULL: over */
	int64_t demand;
	bool begun, cancelled, refused;
};

/* For up to `most` subscribers of items that are `items`. */
struct relay *relay_new(enum broken_processor broken, size_t most,
			const struct weir_items *items, struct pump *pump,
			size_t *alive);

/*
 * Its owner is through with it: it lets go of both sides, and is gone when they
 * have let go of it.
 */
void relay_free(struct relay *self);

#endif
