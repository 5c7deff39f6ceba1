/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the suites share: a table of mistakes, each with the test
 * that must find it, and what a suite has said.
 */
#ifndef WEIR_TEST_TESTKIT_MUTANTS_H
#define WEIR_TEST_TESTKIT_MUTANTS_H

#include "support.h"

#include <stdio.h>
#include <string.h>

#include <weir/testkit.h>

struct mutant {
	const char *name;
	int broken;	   /* which mistake, from 1 on */
	uint32_t flavours; /* it is a mistake in these */
	const char *test;  /* must fail */
};

#define MISTAKE(broken, flavours, test) \
	{ \
#broken, broken, flavours, test \
	}

struct verdicts {
	struct weir_verify_report report;
	char failed[8192]; /* names, each behind a space */
	char skipped[4096];
};

static inline void verdicts_take(struct weir_verify_report *report,
				 const char *test, enum weir_verdict verdict,
				 const char *why)
{
	struct verdicts *verdicts =
		weir_container_of(report, struct verdicts, report);

	assert_int_equal(verdict == WEIR_VERDICT_PASSED, why == NULL);
	if (verdict == WEIR_VERDICT_FAILED) {
		assert_in_range(strlen(verdicts->failed), 0, 8000);
		strcat(strcat(verdicts->failed, " "), test);
		if (getenv("WEIR_TESTKIT_WHY"))
			printf("%s: %s\n", test, why);
	} else if (verdict == WEIR_VERDICT_SKIPPED) {
		assert_in_range(strlen(verdicts->skipped), 0, 3900);
		strcat(strcat(verdicts->skipped, " "), test);
	}
}

/* The suite, which has returned `failed`, has found the mistake. */
static inline void mutant_is_found(const struct mutant *mutant,
				   uint32_t flavour, int failed,
				   const struct verdicts *verdicts)
{
	char name[128];

	snprintf(name, sizeof(name), " %s", mutant->test);
	if (failed <= 0 || !strstr(verdicts->failed, name))
		fail_msg("%s (%u) is not found by%s; failed:%s", mutant->name,
			 flavour, name, verdicts->failed);
}

/* Each mistake below `n_broken` is in the table. */
static inline void mutants_are_all(const struct mutant *mutants, size_t n,
				   int n_broken)
{
	for (int broken = 1; broken < n_broken; broken++) {
		size_t i = 0;

		while (i < n && mutants[i].broken != broken)
			i++;
		assert_in_range(i, 0, n - 1);
	}
}

/* A test for each, which finds it in its state. */
static inline void mutants_tests(const struct mutant *mutants, size_t n,
				 CMUnitTestFunction test,
				 struct CMUnitTest *tests)
{
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){
			.name = mutants[i].name,
			.test_func = test,
			.initial_state = (void *)&mutants[i],
		};
}

#endif
