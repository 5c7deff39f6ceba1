/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A test that is run for each of many seeds, or for WEIR_TEST_SEED alone. The
 * seed is printed when an assertion ends it: print_seed() is its teardown.
 */
#ifndef WEIR_TEST_SEEDS_H
#define WEIR_TEST_SEEDS_H

#include "support.h"

#include <stdio.h>

static inline void each_seed(void **state, uint64_t n, void (*run)(uint64_t))
{
	const char *only = getenv("WEIR_TEST_SEED");
	static char text[64];
	uint64_t seed;

	if (only) {
		run(strtoull(only, NULL, 10));
		return;
	}
	for (seed = 1; seed <= n; seed++) {
		snprintf(text, sizeof(text), "WEIR_TEST_SEED=%llu",
			 (unsigned long long)seed);
		*state = text;
		run(seed);
	}
	*state = NULL;
}

static inline int print_seed(void **state)
{
	if (*state)
		print_message("replay with %s\n", (char *)*state);
	return 0;
}

#endif
