/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the tests of a suite one by one, takes the objects of each test down,
 * and checks that none is left.
 */
#include "testkit/verify.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool weir__verify_fail(struct weir__verify *verify, const char *format, ...)
{
	va_list arguments;

	if (verify->verdict == WEIR_VERDICT_FAILED)
		return false;
	verify->verdict = WEIR_VERDICT_FAILED;
	va_start(arguments, format);
	(void)vsnprintf(verify->why, sizeof(verify->why), format, arguments);
	va_end(arguments);
	return false;
}

bool weir__verify_skip(struct weir__verify *verify, const char *why)
{
	if (verify->verdict == WEIR_VERDICT_PASSED) {
		verify->verdict = WEIR_VERDICT_SKIPPED;
		(void)snprintf(verify->why, sizeof(verify->why), "%s", why);
	}
	return false;
}

bool weir__verify_settle(struct weir__verify *verify)
{
	int rc = weir_test_settle(verify->env);

	return rc == 0 || weir__verify_fail(verify, "%s (%d)",
					    "it does not come to rest", rc);
}

struct weir_subscriber_probe *weir__verify_subscriber(
	struct weir__verify *verify,
	const struct weir_subscriber_probe_options *options)
{
	struct weir_subscriber_probe *probe = NULL;

	if (verify->n_subscribers < WEIR__VERIFY_PROBES &&
	    weir_subscriber_probe_new(&probe, verify->env, options) == 0)
		verify->subscribers[verify->n_subscribers++] = probe;
	else
		weir__verify_fail(verify, "no memory for a probe");
	return probe;
}

struct weir_publisher_probe *weir__verify_publisher(
	struct weir__verify *verify, const struct weir_items *items)
{
	struct weir_publisher_probe *probe = NULL;

	if (verify->n_publishers < WEIR__VERIFY_PROBES &&
	    weir_publisher_probe_new(&probe, verify->env, items) == 0)
		verify->publishers[verify->n_publishers++] = probe;
	else
		weir__verify_fail(verify, "no memory for a probe");
	return probe;
}

bool weir__verify_expected(struct weir__verify *verify,
			   struct weir_subscriber_probe *probe, bool met)
{
	return met || weir__verify_fail(verify, "%s",
					weir_subscriber_probe_failure(probe));
}

bool weir__verify_expected_of(struct weir__verify *verify,
			      struct weir_publisher_probe *probe, bool met)
{
	return met || weir__verify_fail(verify, "%s",
					weir_publisher_probe_failure(probe));
}

/* Reports rules that were broken though the test checked another one. */
static void look_at_probes(struct weir__verify *verify)
{
	const char *failure;
	uint32_t i;

	for (i = 0; i < verify->n_subscribers; i++) {
		failure = weir_subscriber_probe_failure(verify->subscribers[i]);
		if (failure)
			weir__verify_fail(verify, "%s", failure);
	}
}

/* Frees the probes. A probe that is still held is left: its holder may
 * use it. */
static void free_probes(struct weir__verify *verify)
{
	uint32_t i;

	for (i = 0; i < verify->n_subscribers; i++) {
		if (weir_subscriber_probe_free(verify->subscribers[i]) < 0)
			weir__verify_fail(verify,
					  "3.13: the publisher is gone and "
					  "still holds its subscriber");
	}
	for (i = 0; i < verify->n_publishers; i++) {
		if (weir_publisher_probe_free(verify->publishers[i]) < 0)
			weir__verify_fail(verify, "the subscriber is gone and "
						  "still holds its "
						  "subscription");
	}
}

static void run(const struct weir__verify_suite *suite,
		struct weir__verify *verify,
		const struct weir__verify_test *test)
{
	size_t before = suite->live ? suite->live(verify) : 0, after;
	uint32_t i;

	test->run(verify);
	for (i = 0; i < verify->n_subscribers; i++)
		weir_subscriber_probe_cancel(verify->subscribers[i]);
	weir__verify_settle(verify);
	if (suite->end)
		suite->end(verify);
	assert(!verify->state);
	weir__verify_settle(verify);
	look_at_probes(verify);
	free_probes(verify);
	/* work that begins elsewhere when the last probe is gone */
	weir__verify_settle(verify);
	after = suite->live ? suite->live(verify) : 0;
	if (after != before)
		weir__verify_fail(verify,
				  "what was made has leaked: %zu before the "
				  "test, %zu after it",
				  before, after);
}

static void report_on(struct weir_verify_report *report,
		      const struct weir__verify *verify, const char *name)
{
	uint32_t *const counts[] = {
		[WEIR_VERDICT_PASSED] = &report->passed,
		[WEIR_VERDICT_FAILED] = &report->failed,
		[WEIR_VERDICT_SKIPPED] = &report->skipped,
	};

	++*counts[verify->verdict];
	if (report->result)
		report->result(report, name, verify->verdict,
			       verify->verdict == WEIR_VERDICT_PASSED
				       ? NULL
				       : verify->why);
}

int weir__verify_run(const struct weir__verify_suite *suite, void *factory,
		     const struct weir_test_env *env,
		     struct weir_verify_report *report)
{
	uint32_t failed = report->failed;
	size_t i;

	for (i = 0; i < suite->n_tests; i++) {
		const struct weir__verify_test *test = &suite->tests[i];
		struct weir__verify verify = {.factory = factory, .env = env};

		if (report->only && strcmp(report->only, test->name) != 0)
			continue;
		run(suite, &verify, test);
		report_on(report, &verify, test->name);
	}
	return (int)(report->failed - failed);
}
