/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other side of reactive ports in their tests: a subscriber that takes from
 * a publisher and a publisher that gives to a subscriber, both by hand and with
 * what has happened for all to read.
 */
#ifndef WEIR_TEST_STREAM_ENDS_H
#define WEIR_TEST_STREAM_ENDS_H

#include "actor/kit.h"

/* Numbers are 0: does not do that. */
struct taker {
	struct weir_subscriber subscriber;
	struct ledger *ledger;
	struct weir_subscription *subscription; /* a reference */
	int64_t first, each; /* requests in on_subscribe and in on_next */
	size_t cancel_at;    /* cancels inside that on_next */
	size_t refuse_at;    /* returns -EIO and takes nothing */
	bool refuse_subscribe;
	bool ordered;
	size_t subscribed, seen, last, errors, completes, released;
	struct weir_error *error;
	uint32_t inside; /* signals at once; must be 1 */
};

struct taker *taker_of(struct weir_subscriber *subscriber);
int taker_on_subscribe(struct weir_subscriber *subscriber,
		       struct weir_subscription *subscription);
int taker_on_next(struct weir_subscriber *subscriber, void *item);
int taker_on_error(struct weir_subscriber *subscriber,
		   struct weir_error *error);
int taker_on_complete(struct weir_subscriber *subscriber);
void taker_released(struct weir_subscriber *subscriber);

extern const struct weir_subscriber_ops taker_ops;

void taker_init(struct taker *self, struct ledger *ledger, int64_t first,
		int64_t each);

/* The publisher must have let go of it. */
void taker_fini(struct taker *self);

/* Ended with that code, 0: well, 1: not at all. */
void taker_check(const struct taker *self, size_t seen, int code);

/* One subscription, told what to send by the test. */
struct giver {
	struct weir_subscription subscription;
	struct weir_subscriber *subscriber;
	struct ledger *ledger;
	size_t next;	   /* item */
	int64_t requested; /* in sum */
	size_t requests, cancels, released;
	int64_t sends; /* sends up to that many at once, inside `request` */
	bool sending;
};

int giver_send(struct giver *self);

/* `n` at once, and a null item instead of number `null_at` of them, from 1. */
int giver_send_n(struct giver *self, size_t n, size_t null_at, size_t *taken);
void giver_request(struct weir_subscription *subscription, int64_t n);
void giver_cancel(struct weir_subscription *subscription);
void giver_released(struct weir_subscription *subscription);
void giver_init(struct giver *self, struct ledger *ledger,
		struct weir_subscriber *subscriber);
int giver_begin(struct giver *self);

/* Lets go of the subscriber. */
void giver_done(struct giver *self);

#endif
