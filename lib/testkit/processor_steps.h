/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A processor that is tested, a publisher in front of it and subscribers behind,
 * and the steps that its tests are made of. A step returns false, or NULL, when
 * something is wrong, or the test cannot be made; the test is over then.
 */
#ifndef WEIR_TESTKIT_PROCESSOR_STEPS_H
#define WEIR_TESTKIT_PROCESSOR_STEPS_H

#include "testkit/verify.h"

/* What a test works with. */
struct weir__stage {
	struct weir_processor_factory *factory;
	struct weir_processor processor;
	struct weir_publisher_probe *front;
	struct weir_error *error;
	int64_t sent; /* numbers from 0 */
	bool over;    /* the end was sent */
};

/* What verify->state is in these tests, once it was made. */
struct weir__stage *weir__stage_of(struct weir__verify *verify);

/* What it has called in front. */
struct weir_publisher_probe_counts weir__stage_counts(
	struct weir__verify *verify);

/* A processor with its publisher, and nobody behind it. */
bool weir__stage_start(struct weir__verify *verify);

/* One more subscriber, which requests `n`; NULL: it could not be made. */
struct weir_subscriber_probe *weir__stage_join(struct weir__verify *verify,
					       int64_t n);

/* A processor that takes two; skips the test otherwise. */
bool weir__stage_takes_two(struct weir__verify *verify);

/* Sends what is requested, up to item `n`: once; until no more is. */
bool weir__stage_send_some(struct weir__verify *verify, int64_t n);
bool weir__stage_send_up_to(struct weir__verify *verify, int64_t n);

/* Sends the last signal, NULL: on_complete. */
bool weir__stage_send_end(struct weir__verify *verify,
			  struct weir_error *error);

/* `n` items have come; they are the ones from 0 on, in order; the end has. */
bool weir__stage_got(struct weir__verify *verify,
		     struct weir_subscriber_probe *behind, int64_t n);
bool weir__stage_in_order(struct weir__verify *verify,
			  struct weir_subscriber_probe *behind);
bool weir__stage_got_end(struct weir__verify *verify,
			 struct weir_subscriber_probe *behind,
			 struct weir_error *error);

/* What the suite calls after each test. */
void weir__stage_end(struct weir__verify *verify);
size_t weir__stage_live(const struct weir__verify *verify);

#endif
