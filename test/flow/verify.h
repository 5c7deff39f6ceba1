/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the suites of flows at publishers and subscribers share: each goes
 * through tables of sources, operators and sinks on each executor. To hold one
 * more to the rules is to add its line to a table; test/spec/verified.py says
 * which are missing.
 */
#ifndef WEIR_TEST_FLOW_VERIFY_H
#define WEIR_TEST_FLOW_VERIFY_H

#include "flow/verify_operators.h"

/* Items of the longest stream: all tests can do with these. */
#define LONG 2001

/* Of whom, for who reads of a failure. */
static inline const char *told(char text[96], const struct place *place,
			       const char *name)
{
	snprintf(text, 96, "%s, seed %u", name,
		 place->sim ? (unsigned)weir_sim_seed(place->sim) : 0);
	return text;
}

/* `verify` goes through the tables. */
static inline void on_simulators(uint64_t n_seeds,
				 void (*verify)(struct place *place))
{
	struct place place;

	for_each_seed(seed, n_seeds) {
		place_sim(&place, seed);
		verify(&place);
		place_fini(&place);
	}
}

static inline void on_a_loop(void (*verify)(struct place *place))
{
	struct place place;

	place_loop(&place);
	verify(&place);
	place_fini(&place);
}

static inline void on_threads(uint64_t n_rounds,
			      void (*verify)(struct place *place))
{
	struct place place;

	for (uint64_t round = 0; round < n_rounds; round++) {
		place_threads(&place);
		verify(&place);
		place_fini(&place);
	}
}

#endif
