/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources that a random flow may have. */
#ifndef WEIR_TEST_FLOW_RANDOM_SOURCES_H
#define WEIR_TEST_FLOW_RANDOM_SOURCES_H

#include "flow/random_model.h"

/* --- What is fed, and what comes by itself -------------------------------- */

/* What is there to be fed into a step; false: nothing. */
bool step_feed(struct step *step, uint64_t n);

/* --- restart -------------------------------------------------------------- */

/* name, grows, fails, puts (SAME: numbers, and seldom), make, expect */
extern const struct row random_sources[];
extern const size_t n_random_sources;

#endif
