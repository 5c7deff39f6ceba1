/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A processor under test, a publisher in front of it and subscribers behind it,
 * and the steps of its tests. A step returns false or NULL if something is
 * wrong, or if the test cannot be made; the test is over then.
 */
#ifndef WEIR_TESTKIT_PROCESSOR_STEPS_H
#define WEIR_TESTKIT_PROCESSOR_STEPS_H

#include "testkit/verify.h"

/* The state of a test. */
struct weir__proc {
	struct weir_processor_factory *factory;
	struct weir_processor processor;
	struct weir_publisher_probe *front;
	struct weir_error *error;
	int64_t sent; /* numbers from 0 */
	bool over;    /* the end was sent */
};

/* The state of the test that runs, which is verify->state. */
struct weir__proc *weir__proc_of(struct weir__verify *verify);

/* The calls that the processor has made on the publisher in front. */
struct weir_publisher_probe_counts weir__proc_counts(
	struct weir__verify *verify);

/* Makes a processor with a publisher, and no subscriber behind it. */
bool weir__proc_start(struct weir__verify *verify);

/* Adds a subscriber, which requests `n`; NULL: it could not be made. */
struct weir_subscriber_probe *weir__proc_join(struct weir__verify *verify,
					      int64_t n);

/* True: the processor takes two subscribers. Else the test is skipped. */
bool weir__proc_takes_two(struct weir__verify *verify);

/* Send the items that are requested, up to item `n`: once; until no more are
 * requested. */
bool weir__proc_send_some(struct weir__verify *verify, int64_t n);
bool weir__proc_send_up_to(struct weir__verify *verify, int64_t n);

/* Sends the last signal, NULL: on_complete. */
bool weir__proc_send_end(struct weir__verify *verify, struct weir_error *error);

/* Check that `n` items have come; that they are those from 0 on, in order; that
 * the end has come. */
bool weir__proc_got(struct weir__verify *verify,
		    struct weir_subscriber_probe *behind, int64_t n);
bool weir__proc_in_order(struct weir__verify *verify,
			 struct weir_subscriber_probe *behind);
bool weir__proc_got_end(struct weir__verify *verify,
			struct weir_subscriber_probe *behind,
			struct weir_error *error);

/* Called by the suite after each test. */
void weir__proc_end(struct weir__verify *verify);
size_t weir__proc_live(const struct weir__verify *verify);

#endif
