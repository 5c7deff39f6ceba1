/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subscriber as somebody would write one by hand, and all the ways to get it
 * wrong. It handles signals at once, or puts them into a queue of its own that
 * a pump empties. `broken` says what is wrong with it. One thread.
 */
#ifndef WEIR_TEST_TESTKIT_SUBSCRIBERS_H
#define WEIR_TEST_TESTKIT_SUBSCRIBERS_H

#include "testkit/pump.h"

#include <pthread.h>
#include <stdio.h>

#include <weir/stream.h>

/* Each is one mistake; the comment says which where the name does not. */
enum broken_subscriber {
	SUBSCRIBER_CORRECT,
	/* 2.1, 3.8: demand */
	NEVER_REQUESTS,
	REQUESTS_ONCE, /* and never again */
	REQUESTS_ZERO,
	REQUESTS_NEGATIVE,
	REQUESTS_ONE, /* whatever it is told to request */
	/* what becomes of the items */
	DROPS_ITEMS,
	LEAKS_ITEMS,	 /* neither delivers nor drops */
	DROPS_DELIVERED, /* delivers and drops */
	DELIVERS_TWICE,
	DELIVERS_BACKWARDS, /* the latest first, when there are several */
	/* 2.3, 2.4, 2.9, 2.10: the end */
	DROPS_COMPLETE,
	DROPS_ERROR,
	COMPLETES_ON_ERROR,
	COPIES_ERROR,  /* another one with the same code arrives */
	END_OVERTAKES, /* is handled before the items in front of it */
	COMPLETE_NEEDS_DEMAND,
	ERROR_NEEDS_DEMAND,
	REQUESTS_IN_COMPLETE,
	CANCELS_IN_COMPLETE,
	REQUESTS_IN_ERROR,
	CANCELS_IN_ERROR,
	REQUESTS_ELSEWHERE, /* on another thread, when it has ended */
	REQUESTS_AFTER_END, /* when told to */
	CANCELS_AFTER_END,  /* when told to */
	DELIVERS_AFTER_END,
	ENDS_TWICE,
	/* 2.5: a second on_subscribe */
	IGNORES_SECOND,
	TAKES_SECOND, /* in place of the first */
	CANCELS_BOTH,
	REQUESTS_SECOND, /* and then cancels it */
	/* 2.6, 2.8: cancel */
	NEVER_CANCELS,
	LEAKS_LATE_ITEMS,
	DROPS_LATE_TWICE,
	FAILS_LATE, /* on_next after cancel is answered by an error */
	/* 2.13 */
	NULL_SUBSCRIPTION_IS_FINE,
	NULL_ITEM_IS_FINE,
	NULL_ERROR_IS_FINE,
	NULL_ITEM_COUNTS, /* -EINVAL, but it is delivered all the same */
	NULL_ERROR_ENDS,  /* -EINVAL, but the stream is over */
	NULL_UNSEEN_AFTER_END,
	NULL_ITEMS_ARE_FINE, /* on_next_n */
	TAKES_HALF,	     /* of what on_next_n brings, and says nothing */
	FAILS_ON_NEXT,
	FAILS_ON_COMPLETE,
	FAILS_ON_ERROR,
	/* 3.10, 3.11: signals from within request */
	COUNTS_LATE,	 /* drops what comes before request has returned */
	USES_GIVEN_BACK, /* gives the subscription back when over, uses it */
	/* references */
	LEAKS_SUBSCRIPTION,
	USES_UNHELD,  /* keeps the subscription without a reference */
	LEAKS_ITSELF, /* is never released */
	/* everything */
	NEVER_RESTS,
	N_BROKEN_SUBSCRIBERS,
};

struct mine;

/* Where items that are processed go, and those who can not be freed. */
struct mine_owner {
	void (*item)(struct mine_owner *owner, void *item);
	size_t alive;
};

enum signal_kind { ON_SUBSCRIBE, ON_NEXT, ON_ERROR, ON_COMPLETE, RELEASED };

struct signal {
	enum signal_kind kind;
	void *what;
};

#define SIGNALS 256 /* more than are ever under way */

#define RECORDS 2048

struct mine {
	struct weir_subscriber subscriber;
	enum broken_subscriber broken;
	int64_t window; /* requested at first, and again when used up */
	struct weir_subscription *subscription; /* held until released */
	const struct weir_items *items;
	int64_t wanted; /* requested and not received */
	int64_t later;	/* told to request before there was a subscription */
	size_t received;
	bool over; /* ended or cancelled */
	bool ended;
	bool done;	   /* its owner has no use for it any more */
	uint32_t released; /* how often that was handled */
	bool used_since;   /* a signal came after it */
	/* What it has processed, for its owner. */
	void *record[RECORDS];
	struct weir_error *error;
	bool told; /* of the end */
	struct mine_owner *owner;
	struct mine *kept;
	struct pump *pump; /* NULL: handles signals at once */
	struct job job;
	struct signal signals[SIGNALS];
	size_t first, n;
};

/* --- What its owner may do ------------------------------------------------ */

void mine_request(struct mine *self, int64_t n);
void mine_cancel(struct mine *self);

/* A window of 0: it requests what its owner tells it to. */
struct mine *mine_new(enum broken_subscriber broken, int64_t window,
		      struct pump *pump, struct mine_owner *owner);

/* It frees itself when its publisher has let go of it. */
void mine_done(struct mine *self);

#endif
