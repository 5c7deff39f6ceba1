/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suite of publishers: what its two halves share. verify_publisher.c has
 * section 1, verify_subscription.c section 3. All on the thread that runs the
 * tests, but what says otherwise.
 */
#ifndef WEIR_TESTKIT_VERIFY_PUBLISHER_H
#define WEIR_TESTKIT_VERIFY_PUBLISHER_H

#include "testkit/verify.h"

#define WEIR__MANY 10000 /* items of a stream that is long */

extern const struct weir__verify_test weir__subscription_tests[];
extern const size_t weir__n_subscription_tests;

struct weir_publisher_factory *weir__publisher_factory(
	const struct weir__verify *verify);

/*
 * New publishers, released after the test. NULL: the test has failed, or cannot
 * be made with this factory.
 */
struct weir_publisher *weir__make(struct weir__verify *verify, int64_t n);
struct weir_publisher *weir__make_rejecting(struct weir__verify *verify);
struct weir_publisher *weir__make_failing(struct weir__verify *verify,
					  int64_t n);

/* How many items a long stream has: as many as can be. */
int64_t weir__many(const struct weir__verify *verify);

/*
 * A new probe that has subscribed, and got on_subscribe; settled. NULL: the test
 * has failed.
 */
struct weir_subscriber_probe *weir__subscribe(
	struct weir__verify *verify, struct weir_publisher *publisher,
	const struct weir_subscriber_probe_options *options);

/* weir__make() and weir__subscribe(). */
struct weir_subscriber_probe *weir__stream(
	struct weir__verify *verify, int64_t n,
	const struct weir_subscriber_probe_options *options);

/*
 * Each settles; false, and the test has failed: it is not so.
 *
 * The next `n` items, and no more, then nothing, or the end.
 */
bool weir__gets(struct weir__verify *verify,
		struct weir_subscriber_probe *probe, int64_t n);
bool weir__completes(struct weir__verify *verify,
		     struct weir_subscriber_probe *probe);
bool weir__fails(struct weir__verify *verify,
		 struct weir_subscriber_probe *probe, int code);
bool weir__silent(struct weir__verify *verify,
		  struct weir_subscriber_probe *probe);
bool weir__released(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe);
/* What it got so far are the items from 0 on, in order. */
bool weir__in_order(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe);

#endif
