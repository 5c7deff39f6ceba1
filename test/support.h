/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEIR_TEST_SUPPORT_H
#define WEIR_TEST_SUPPORT_H

/*
 * What every test includes first: assertions on whatever the build type,
 * cmocka with the headers it relies on, and counts that slow builds divide.
 */

#undef NDEBUG
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/*
 * How often to repeat something that wants n repetitions at full strength.
 * WEIR_TEST_DIVISOR in the environment divides it; never less than 1.
 */
static inline uint64_t test_count(uint64_t n)
{
	const char *text = getenv("WEIR_TEST_DIVISOR");
	uint64_t divisor = text ? strtoull(text, NULL, 10) : 1;

	if (divisor > 1)
		n /= divisor;
	return n ? n : 1;
}

/* True in a long run, whose tests may take minutes: `./dev soak`. */
static inline bool test_soak(void)
{
	const char *text = getenv("WEIR_SOAK");

	return text && *text == '1';
}

#endif
