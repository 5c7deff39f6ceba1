/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subscriber that is tested, and the steps that its tests are made of. A step
 * returns false when something is wrong, and the test has failed then.
 */
#ifndef WEIR_TESTKIT_SUBSCRIBER_STEPS_H
#define WEIR_TESTKIT_SUBSCRIBER_STEPS_H

#include "testkit/prompt.h"
#include "testkit/verify.h"

/* What a test works with. */
struct weir__sub {
	struct weir_subscriber_factory *factory;
	struct weir_subscriber *subscriber;
	struct weir_publisher_probe *probe; /* one of the two */
	struct weir__prompt *prompt;
	struct weir_error *error;
	int64_t sent;	 /* taken by the subscriber, numbers from 0 */
	int64_t checked; /* processed as they should be */
	bool subscribed;
	bool over; /* has got its last signal */
};

/* What verify->state is in these tests, once it was made. */
struct weir__sub *weir__sub_of(struct weir__verify *verify);

/* What it has called. */
struct weir_publisher_probe_counts weir__sub_counts(
	struct weir__verify *verify);

/* Makes a subscriber; subscribes it; both, and settles. */
bool weir__sub_make(struct weir__verify *verify);
bool weir__sub_subscribe(struct weir__verify *verify);
bool weir__sub_start(struct weir__verify *verify);

/* Makes and subscribes one that gets no on_subscribe but by the second call. */
bool weir__sub_make_held(struct weir__verify *verify);
bool weir__sub_on_subscribe(struct weir__verify *verify);

/* From now on signals are sent whatever the rules say. */
bool weir__sub_misbehave(struct weir__verify *verify);

/* What it has requested and not got yet. */
int64_t weir__sub_outstanding(struct weir__verify *verify);

/* It wants something; if it must be told to, then when it is. */
bool weir__sub_wants(struct weir__verify *verify);

/* Sends items, whatever becomes of them; all must be taken. */
bool weir__sub_send_items(struct weir__verify *verify, int64_t n);

/* Drops an item that was not taken. */
void weir__sub_drop(struct weir_subscriber_factory *factory, void *item);

/* The first `n` items sent, and no others, have been processed in order. */
bool weir__sub_processed(struct weir__verify *verify, int64_t n);

/* Sends `n` items as they are requested; all must be processed. */
bool weir__sub_receives(struct weir__verify *verify, int64_t n);

/* Sends the last signal, NULL: on_complete; what it has made of it; both. */
bool weir__sub_sends_end(struct weir__verify *verify, struct weir_error *error);
bool weir__sub_ended_with(struct weir__verify *verify,
			  struct weir_error *error);
bool weir__sub_ends(struct weir__verify *verify, struct weir_error *error);
bool weir__sub_not_ended(struct weir__verify *verify);

/* It has called nothing inside or after the last signal. */
bool weir__sub_calls_nothing(struct weir__verify *verify);

/* Makes it cancel; skips the test if there is no way to. */
bool weir__sub_cancels(struct weir__verify *verify);

/*
 * Makes one and subscribes it to a publisher of `n` items and an end that sends
 * inside request; lets it request until all has come, and looks what came.
 */
bool weir__sub_start_prompt(struct weir__verify *verify, uint32_t n,
			    struct weir_error *error);
bool weir__sub_drains_prompt(struct weir__verify *verify);

/* What the suite calls after each test. */
void weir__sub_end(struct weir__verify *verify);

#endif
