/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEIR_TEST_SUPPORT_H
#define WEIR_TEST_SUPPORT_H

/*
 * What every test includes first: assertions on whatever the build type,
 * cmocka with the headers it relies on, counts that slow builds divide, and
 * loops over seeds.
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
uint64_t test_count(uint64_t n);

/* True in a long run, whose tests may take minutes: `./dev soak`. */
bool test_soak(void);

/*
 * Runs the statement behind it with `seed` from 1 to n, or with WEIR_TEST_SEED of
 * the environment alone. If the test fails meanwhile, or the program is aborted
 * or timed out, what replays that seed is printed.
 */
#define for_each_seed(seed, n) \
	for (uint64_t seed = test_seed_first(n); seed; \
	     seed = test_seed_next(seed, n))

uint64_t test_seed_first(uint64_t n);
uint64_t test_seed_next(uint64_t seed, uint64_t n);

/* WEIR_TEST_SEED, or 0: nothing can be said about all seeds together if not 0. */
uint64_t test_seed_only(void);

/*
 * cmocka's, which tells the seed. Of the tests only WEIR_TEST_NAME is run, if that
 * is in the environment.
 */
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown) \
	cmocka_run_group_tests_name(#tests, tests, setup, teardown)
#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
	test_run_group(name, tests, sizeof(tests) / sizeof(*(tests)), setup, \
		       teardown)

int test_run_group(const char *name, const struct CMUnitTest *tests, size_t n,
		   CMFixtureFunction setup, CMFixtureFunction teardown);

#endif
