/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number that `name` has in the environment, or 0. */
static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t test_count(uint64_t n)
{
	uint64_t divisor = number("WEIR_TEST_DIVISOR");

	if (divisor > 1)
		n /= divisor;
	return n ? n : 1;
}

bool test_soak(void)
{
	return number("WEIR_SOAK") == 1;
}

/* --- Seeds ---------------------------------------------------------------- */

/* Of the loop that runs now, or 0, and that of the environment. */
static uint64_t seed_now, only_seed;

/* The test that runs now. */
static const char *test_name;

/* What replays this seed. */
static const char *replay(void)
{
	static char text[512];

	snprintf(text, sizeof(text),
		 "replay with WEIR_TEST_SEED=%llu WEIR_TEST_NAME=%s %s\n",
		 (unsigned long long)seed_now, test_name,
		 program_invocation_name);
	return text;
}

uint64_t test_seed_only(void)
{
	return only_seed;
}

uint64_t test_seed_first(uint64_t n)
{
	seed_now = only_seed ? only_seed : n > 0;
	return seed_now;
}

uint64_t test_seed_next(uint64_t seed, uint64_t n)
{
	seed_now = seed < n && !only_seed ? seed + 1 : 0;
	return seed_now;
}

/* An assertion of the library's has failed, or the time is up. */
static void on_signal(int number)
{
	ssize_t rc = 0;

	if (seed_now)
		rc = write(STDERR_FILENO, replay(), strlen(replay()));
	(void)rc;
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* --- Groups of tests ------------------------------------------------------ */

enum { TESTS = 256 };

/* A test as cmocka runs it, with `given` as its state, and as it was written. */
struct given {
	const struct CMUnitTest *test;
	void *state;
	bool passed;
};

static CMFixtureFunction group_setup;
static void *group_state;

static int set_up_group(void **state)
{
	int rc = group_setup ? group_setup(state) : 0;

	group_state = *state;
	return rc;
}

static void begin(struct given *given)
{
	test_name = given->test->name;
	given->state = given->test->initial_state ? given->test->initial_state
						  : group_state;
	given->passed = false;
	seed_now = 0;
}

static int set_up(void **state)
{
	struct given *given = *state;

	begin(given);
	return given->test->setup_func(&given->state);
}

static void run(void **state)
{
	struct given *given = *state;

	if (!given->test->setup_func)
		begin(given);
	given->test->test_func(&given->state);
	given->passed = true;
}

static int tear_down(void **state)
{
	struct given *given = *state;

	if (!given->passed && seed_now)
		print_error("%s", replay());
	seed_now = 0;
	return given->test->teardown_func
		       ? given->test->teardown_func(&given->state)
		       : 0;
}

int test_run_group(const char *name, const struct CMUnitTest *tests, size_t n,
		   CMFixtureFunction setup, CMFixtureFunction teardown)
{
	static struct CMUnitTest wrapped[TESTS];
	static struct given given[TESTS];

	assert(n <= TESTS);
	for (size_t i = 0; i < n; i++) {
		given[i].test = &tests[i];
		wrapped[i] = (struct CMUnitTest){
			tests[i].name, run, tests[i].setup_func ? set_up : NULL,
			tear_down, &given[i]};
	}
	group_setup = setup;
	group_state = NULL;
	only_seed = number("WEIR_TEST_SEED");
	cmocka_set_test_filter(getenv("WEIR_TEST_NAME"));
	(void)signal(SIGABRT, on_signal);
	(void)signal(SIGTERM, on_signal);
	return _cmocka_run_group_tests(name, wrapped, n, set_up_group,
				       teardown);
}
