/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The publishers of publishers.h, their subscriptions and their items; and what
 * can be wrong with them.
 */
#ifndef WEIR_TEST_TESTKIT_RANGE_H
#define WEIR_TEST_TESTKIT_RANGE_H

#include "support.h"

#include <pthread.h>

#include <ck_pr.h>

#include <weir/testkit.h>

/* Each is one mistake; the comment says which where the name does not. */
enum broken_publisher {
	PUBLISHER_CORRECT,
	/* 1.1, 1.2: items */
	OVERRUNS,	/* one more than was requested */
	IGNORES_DEMAND, /* sends all that there is */
	OVERRUNS_IN_BATCHES,
	SAME_VALUE,
	SWAPS_ITEMS,
	SKIPS_ITEM,
	REPEATS_ITEM,
	NULL_ITEM,
	ENDS_EARLY, /* before the last item */
	ENDS_LATE,  /* when all that was requested has come */
	/* 1.3 */
	SENDS_AT_ONCE, /* from every thread that requests */
	SENDS_INSIDE_ON_SUBSCRIBE,
	/* 1.4, 1.5, 1.7: the end */
	FAILURE_COMPLETES,
	FAILURE_IS_SILENT,
	FAILURE_NEEDS_DEMAND,
	NEVER_COMPLETES,
	COMPLETES_TWICE,
	COMPLETE_NEEDS_DEMAND,
	EMPTY_NEVER_COMPLETES,
	COMPLETES_AFTER_ERROR,
	FAILS_AFTER_COMPLETE,
	SENDS_AFTER_COMPLETE, /* items, when requested */
	SENDS_AFTER_FAILURE,
	/* 1.6, 3.9: refused requests */
	SENDS_AFTER_REFUSAL,
	ZERO_IS_FINE,
	NEGATIVE_IS_FINE,
	LEAST_IS_A_LOT, /* INT64_MIN */
	REFUSES_TWICE,
	REFUSES_LATE, /* with the next request */
	REFUSES_WRONGLY,
	REFUSES_AFTER_END,
	REFUSES_AFTER_CANCEL,
	/* 1.8, 3.6, 3.7, 3.12: cancel */
	IGNORES_CANCEL,
	COMPLETES_ON_CANCEL,
	FAILS_ON_CANCEL,
	REQUEST_REVIVES,
	LETS_GO_TWICE, /* of the subscriber that cancels twice */
	/* 1.9, 1.10, 1.11: subscribe */
	NULL_SUBSCRIBER_IS_FINE,
	NULL_SUBSCRIBER_COUNTS, /* as the first one, after which it ends */
	SUBSCRIBE_FAILS,	/* with an error, and no signal */
	NO_ON_SUBSCRIBE,
	ON_SUBSCRIBE_TWICE,
	NEXT_BEFORE_ON_SUBSCRIBE,
	REJECTS_WITHOUT_ON_SUBSCRIBE,
	REJECTS_SILENTLY, /* on_subscribe alone */
	REJECTS_TWICE,
	SERVES_ONE_EVER,  /* others hear nothing */
	SHARES_DEMAND,	  /* one's requests are everybody's */
	SHARES_ITEMS,	  /* each goes to one of them */
	LEAVING_ENDS_ALL, /* subscribers that leave end the others' streams */
	/* 2.13: a subscriber that has failed */
	SENDS_TO_FAILED,
	COMPLETES_FAILED,
	FAILS_FAILED,
	KEEPS_FAILED,
	LEAKS_REFUSED_ITEM,
	/* 3.3 */
	RECURSES,
	RECURSES_LATER, /* from the third item on */
	RECURSES_ALONE, /* each item on the stack of the one before */
	/* 3.4, 3.5 */
	REQUEST_SLEEPS, /* a moment */
	CANCEL_SLEEPS,
	REQUEST_LOCKED_OUT, /* while a signal is handled */
	CANCEL_LOCKED_OUT,
	/* 3.8, 3.17: demand */
	REPLACES_DEMAND,
	LOSES_REQUESTS, /* when there are two at once */
	WRAPS_DEMAND,
	GREATEST_FAILS, /* demand beyond the maximum is an error */
	/* 3.13 and memory; kept is the reference to the subscriber */
	KEEPS_CANCELLED,
	KEEPS_CANCELLED_IDLE, /* that has requested nothing */
	KEEPS_COMPLETED,
	KEEPS_AFTER_FAILURE,
	KEEPS_REFUSED,
	KEEPS_REJECTED,
	NO_REFERENCE,
	LETS_GO_EARLY,	/* before the last signal */
	LETS_GO_INSIDE, /* of a subscriber that cancels in on_next */
	LEAKS_SUBSCRIPTION,
	LEAKS_ITEM,
	N_BROKEN_PUBLISHERS,
};

struct range;

/* The factory, and the thread that serves. */
struct ranges {
	struct weir_publisher_factory factory;
	enum broken_publisher broken;
	uint32_t live; /* any thread */
	/* The server, if there is one. */
	bool served, busy, stop;
	pthread_t thread;
	pthread_mutex_t lock; /* over what follows, and `busy` and `stop` */
	pthread_cond_t changed;
	struct range *queue;
	/* For mistakes: */
	struct weir_subscriber *kept; /* a reference too many */
	struct range *all;	      /* that are not freed yet */
	struct ranges_item *leaked;
};

struct ranges_item {
	int64_t i;
	struct ranges *ranges;
};

struct ranges_publisher {
	struct weir_publisher publisher;
	struct ranges *ranges;
	int64_t n;
	bool fails, rejects;
	uint32_t active; /* subscribers; any thread */
	/* For mistakes: */
	bool used, over;
	int64_t next, granted; /* shared */
};

/* A subscription. */
struct range {
	struct weir_subscription subscription;
	struct ranges *ranges;
	struct ranges_publisher *publisher; /* while the stream goes on */
	int64_t n;
	bool fails;
	/* Any thread, atomically. */
	int64_t granted; /* cumulative */
	uint32_t work, cancelled, refused;
	/* Of who is at work. */
	struct weir_subscriber *subscriber;
	int64_t next; /* item to be sent */
	bool subscribed, ended;
	pthread_t worker;
	uint32_t depth;
	/* Under the lock of `ranges`. */
	struct range *queued, *others;
	pthread_mutex_t locked; /* for those who lock others out */
	uint32_t granting; /* threads that request at once, once it was two */
	uint32_t waits;	   /* of one of them for the other */
	/* For those who let go twice: of whom, and of whom they have. */
	struct weir_subscriber *last, *missed;
};

bool range_is(const struct range *range, enum broken_publisher broken);

/* --- Items ---------------------------------------------------------------- */

void ranges_item_drop(void *item, void *context);
extern const struct weir_items ranges_items;

struct ranges_item *range_item(struct range *range, int64_t i);

/* The subscriber has not taken it. */
void range_item_refused(struct range *range, struct ranges_item *item);

#endif
