/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operators that a random flow may have: how each is made, and what it does
 * to a list of numbers. A new one is a row of the table at the end.
 */
#ifndef WEIR_TEST_FLOW_RANDOM_KINDS_H
#define WEIR_TEST_FLOW_RANDOM_KINDS_H

#include "flow/random_model.h"

/* --- One for one ---------------------------------------------------------- */

int map_one(void **item, void *context);
void map_expected(const struct step *step, struct stream *stream);
struct weir_flow *index_make(struct weir_flow *up, struct step *step);

/* --- Several for one, and state ------------------------------------------- */

int state_create(void **state, void *context);
int state_step(void **state, void **item, void *context);

/* One to three, down to a multiple of four. */
int state_flush(void **state, void **item, void *context);
void state_destroy(void *state, void *context);

/* --- Looking on ----------------------------------------------------------- */

/* name, grows, fails, puts, make, expect, restless, apart, mends */
extern const struct row random_operators[];
extern const size_t n_random_operators;

#endif
