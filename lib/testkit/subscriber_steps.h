/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subscriber that is tested, and the steps that its tests are made of. A step
 * returns false when something is wrong, and the test has failed then.
 */
#ifndef WEIR_TESTKIT_SUBSCRIBER_STEPS_H
#define WEIR_TESTKIT_SUBSCRIBER_STEPS_H

#include "testkit/sync_publisher.h"
#include "testkit/verify.h"

/* The state of a test. */
struct weir__sub {
	struct weir_subscriber_factory *factory;
	struct weir_subscriber *subscriber;
	struct weir_publisher_probe *probe; /* one of the two */
	struct weir__sync_publisher *sync;
	struct weir_error *error;
	int64_t sent;	 /* taken by the subscriber, numbers from 0 */
	int64_t checked; /* processed as they should be */
	bool subscribed;
	bool over; /* has got its last signal */
};

/* The state of the test that runs, which is verify->state. */
struct weir__sub *weir__sub_of(struct weir__verify *verify);

/* The calls that the subscriber has made. */
struct weir_publisher_probe_counts weir__sub_counts(
	struct weir__verify *verify);

/* Makes a subscriber; subscribes it; both, and settles. */
bool weir__sub_make(struct weir__verify *verify);
bool weir__sub_subscribe(struct weir__verify *verify);
bool weir__sub_start(struct weir__verify *verify);

/* Makes a subscriber and subscribes it; it gets on_subscribe only by the second
 * call. */
bool weir__sub_make_held(struct weir__verify *verify);
bool weir__sub_on_subscribe(struct weir__verify *verify);

/* From now on signals are sent whatever the rules say. */
bool weir__sub_misbehave(struct weir__verify *verify);

/* The number of items that the subscriber has requested and not got yet. */
int64_t weir__sub_outstanding(struct weir__verify *verify);

/* True: the subscriber has demand, if need be after `request` was called. */
bool weir__sub_wants(struct weir__verify *verify);

/* Sends items, processed or not; all must be taken. */
bool weir__sub_send_items(struct weir__verify *verify, int64_t n);

/* Drops an item that was not taken. */
void weir__sub_drop(struct weir_subscriber_factory *factory, void *item);

/* The first `n` items sent, and no others, have been processed in order. */
bool weir__sub_processed(struct weir__verify *verify, int64_t n);

/* Sends `n` items as they are requested; all must be processed. */
bool weir__sub_receives(struct weir__verify *verify, int64_t n);

/* Sends the last signal, NULL: on_complete; checks that it was
 * processed; both. */
bool weir__sub_sends_end(struct weir__verify *verify, struct weir_error *error);
bool weir__sub_ended_with(struct weir__verify *verify,
			  struct weir_error *error);
bool weir__sub_ends(struct weir__verify *verify, struct weir_error *error);
bool weir__sub_not_ended(struct weir__verify *verify);

/* Checks that the subscriber has called nothing inside or after the last
 * signal. */
bool weir__sub_calls_nothing(struct weir__verify *verify);

/* Makes the subscriber cancel; skips the test if the factory cannot. */
bool weir__sub_cancels(struct weir__verify *verify);

/*
 * Makes a subscriber and subscribes it to a publisher that sends `n` items and
 * the end inside request; lets it request until everything has come, and checks
 * what came.
 */
bool weir__sub_start_sync(struct weir__verify *verify, uint32_t n,
			  struct weir_error *error);
bool weir__sub_drains_sync(struct weir__verify *verify);

/* Called by the suite after each test. */
void weir__sub_end(struct weir__verify *verify);

#endif
