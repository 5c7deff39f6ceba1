/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common part of the suites: a test that runs, its verdict, and its probes,
 * which are taken down after it however it went.
 *
 * A suite is a table of tests. A test is a function that returns at the first
 * thing that is wrong; WEIR__CHECK does both. All on one thread.
 */
#ifndef WEIR_TESTKIT_VERIFY_H
#define WEIR_TESTKIT_VERIFY_H

#include <weir/testkit.h>

#define WEIR__VERIFY_PROBES 16 /* of each kind, in one test */

struct weir__verify;

struct weir__verify_test {
	const char *name; /* begins with its rule: spec_1_01_... */
	void (*run)(struct weir__verify *verify);
};

struct weir__verify_suite {
	const struct weir__verify_test *tests;
	size_t n_tests;
	/*
	 * Called after each test, when its subscriber probes have cancelled:
	 * releases the objects that the factory has made. It may fail the test.
	 * NULL: nothing to do.
	 */
	void (*end)(struct weir__verify *verify);
	/* As that of the factories. */
	size_t (*live)(const struct weir__verify *verify);
};

/* One test that runs. */
struct weir__verify {
	void *factory; /* of the suite's kind */
	void *state;   /* the suite's, NULL before each test */
	const struct weir_test_env *env;
	enum weir_verdict verdict;
	char why[256];
	struct weir_subscriber_probe *subscribers[WEIR__VERIFY_PROBES];
	struct weir_publisher_probe *publishers[WEIR__VERIFY_PROBES];
	uint32_t n_subscribers, n_publishers;
};

/* Runs the suite as weir_verify_publisher() says; returns how many failed. */
int weir__verify_run(const struct weir__verify_suite *suite, void *factory,
		     const struct weir_test_env *env,
		     struct weir_verify_report *report);

/* The test fails, unless it has failed before. Returns false. */
bool weir__verify_fail(struct weir__verify *verify, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The test cannot be made with this factory. False. */
bool weir__verify_skip(struct weir__verify *verify, const char *why);

/* Settles. False: the test has failed, because it did not come to rest. */
bool weir__verify_settle(struct weir__verify *verify);

/*
 * New probes, which the suite frees after the test; NULL: no memory, and the
 * test has failed.
 */
struct weir_subscriber_probe *weir__verify_subscriber(
	struct weir__verify *verify,
	const struct weir_subscriber_probe_options *options);
struct weir_publisher_probe *weir__verify_publisher(
	struct weir__verify *verify, const struct weir_items *items);

/* Passes the result of an expectation on; false: the test fails. */
bool weir__verify_expected(struct weir__verify *verify,
			   struct weir_subscriber_probe *probe, bool met);
bool weir__verify_expected_of(struct weir__verify *verify,
			      struct weir_publisher_probe *probe, bool met);

/* Unless `condition`, the test fails for the reason given, and returns. */
#define WEIR__CHECK(verify, condition, ...) \
	do { \
		if (!(condition)) { \
			weir__verify_fail(verify, __VA_ARGS__); \
			return; \
		} \
	} while (0)

#endif
