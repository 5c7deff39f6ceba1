/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher under test: the steps of its tests, and the parts of its suite. A
 * step returns false or NULL if something is wrong, or if the test cannot be
 * made; the test is over then.
 */
#ifndef WEIR_TESTKIT_PUBLISHER_STEPS_H
#define WEIR_TESTKIT_PUBLISHER_STEPS_H

#include "testkit/verify.h"

struct weir_publisher_factory *weir__pub_factory(
	const struct weir__verify *verify);

/*
 * New publishers, released after the test. NULL: the test has failed, or cannot
 * be made with this factory.
 */
struct weir_publisher *weir__pub_make(struct weir__verify *verify, int64_t n);
struct weir_publisher *weir__pub_make_rejecting(struct weir__verify *verify);
struct weir_publisher *weir__pub_make_failing(struct weir__verify *verify,
					      int64_t n);

/* The number of items of a long stream: as many as the factory can make, up to
 * a limit; if it can make too few for the test, more than it can make. */
int64_t weir__pub_many(const struct weir__verify *verify);

/*
 * A new probe that has subscribed and got on_subscribe; everything has settled.
 * NULL: the test has failed.
 */
struct weir_subscriber_probe *weir__pub_subscribe(
	struct weir__verify *verify, struct weir_publisher *publisher,
	const struct weir_subscriber_probe_options *options);

/* weir__pub_make() and weir__pub_subscribe(). */
struct weir_subscriber_probe *weir__pub_stream(
	struct weir__verify *verify, int64_t n,
	const struct weir_subscriber_probe_options *options);

/*
 * Each settles and checks. False: the check has failed, and so has the test.
 *
 * The probe gets the next `n` items and no more, then nothing, or the end.
 */
bool weir__pub_gets(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe, int64_t n);
bool weir__pub_completes(struct weir__verify *verify,
			 struct weir_subscriber_probe *probe);
bool weir__pub_fails(struct weir__verify *verify,
		     struct weir_subscriber_probe *probe, int code);
bool weir__pub_silent(struct weir__verify *verify,
		      struct weir_subscriber_probe *probe);
bool weir__pub_released(struct weir__verify *verify,
			struct weir_subscriber_probe *probe);
/* The next `n` items, the end, and nothing more. */
bool weir__pub_gets_all(struct weir__verify *verify,
			struct weir_subscriber_probe *probe, int64_t n);
/* The items that the probe has got so far are those from 0 on, in order. */
bool weir__pub_in_order(struct weir__verify *verify,
			struct weir_subscriber_probe *probe);

/* The stream of the probe has ended: checks that calls on its subscription have
 * no effect. */
void weir__pub_over(struct weir__verify *verify,
		    struct weir_subscriber_probe *probe);

/* Called by the suite after each test. */
void weir__pub_end(struct weir__verify *verify);
size_t weir__pub_live(const struct weir__verify *verify);

/* One for each verify_publisher_*.c. */
extern const struct weir__verify_suite weir__pub_signals;
extern const struct weir__verify_suite weir__pub_subscribing;
extern const struct weir__verify_suite weir__pub_subscription;
extern const struct weir__verify_suite weir__pub_threads;

#endif
