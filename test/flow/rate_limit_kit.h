/* SPDX-License-Identifier: BSD-2-Clause */
/* What a demand must be, told by who asks and gets messages. */
#ifndef WEIR_TEST_FLOW_RATE_LIMIT_H
#define WEIR_TEST_FLOW_RATE_LIMIT_H

#include "flow/world.h"

/* --- What is expected ----------------------------------------------------- */

#define ASKS_MAX 2048

/*
 * A consumer of messages, each of which answers one ask in full: cut in batches
 * of max - min, and after each batch it asks up to `max`, if no more than `min`
 * are pending.
 */
struct consumer {
	size_t max, min;
	size_t asks[ASKS_MAX]; /* not answered, in their order */
	size_t first, n;
	size_t pending;
	size_t asked; /* in sum */
};

void consumer_init(struct consumer *consumer, size_t max, size_t min);

/* The next batch, which is not asked behind yet. */
size_t next_batch(struct consumer *consumer);

/* It has been taken. */
void ask_behind(struct consumer *consumer);
extern const struct setting {
	size_t max, min;
} settings[];
extern const size_t n_settings;

/* --- Taking one by one ---------------------------------------------------- */

/* Its gate is open for so many, until they have come. */
void take(struct flow_world *world, size_t n);

/* What comes out of `flow` has to pass a gate, which is shut. */
void start_at_gate(struct flow_world *world, struct weir_flow *flow,
		   uint64_t seed, size_t unfused);
void end_at_gate(struct flow_world *world);

#endif
