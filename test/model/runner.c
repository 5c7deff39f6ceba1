/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "runner.h"

enum { MOST_SCENARIOS = 128, MOST_CASES = 16 };

static const struct explorer_scenario *scenarios[MOST_SCENARIOS];

static int threads_of(const struct explorer_scenario *scenario)
{
	int n = 0;

	while (n < EXPLORER_THREADS && scenario->thread[n])
		n++;
	return n;
}

/* Returns their number. */
static size_t collect(const struct model_case *each)
{
	const struct explorer_scenario *one;
	size_t n = 0, i, k;

	for (i = 0; each->groups[i]; i++)
		for (k = 0; k < each->groups[i]->n; k++) {
			one = &each->groups[i]->scenarios[k];
			if (each->threads && each->threads != threads_of(one))
				continue;
			assert(n < MOST_SCENARIOS);
			scenarios[n++] = one;
		}
	assert(n > 0);
	return n;
}

static void all_pass(const struct model_case *each, size_t n)
{
	struct explorer_options options = each->run;
	struct explorer_result result;
	size_t i;

	if (each->deepens && test_soak())
		options.preemptions++;
	if (options.stale == 0 && !test_soak())
		options.stale = 1;
	for (i = 0; i < n; i++)
		assert_int_equal(explorer_run(scenarios[i], &options, &result),
				 EXPLORER_PASSED);
}

static void all_are_needed(const struct model_case *each, size_t n)
{
	const struct explorer_weaken_options options = {
		.run = each->run,
		.files = each->files,
		.more_files = each->more_files,
		.doubt = each->doubts && test_soak(),
		.shallow = !test_soak(),
	};
	struct explorer_weaken_result result;

	assert_true(explorer_weaken(scenarios, n, &options, each->exceptions,
				    each->n_exceptions, &result));
	assert_true(result.killed > 0);
}

static void run_case(void **state)
{
	const struct model_case *each = *state;
	size_t n = collect(each);

	if (each->files)
		all_are_needed(each, n);
	else
		all_pass(each, n);
}

int main(void)
{
	struct CMUnitTest tests[MOST_CASES];
	size_t n = 0, i;

	for (i = 0; i < n_model_cases; i++) {
		/* What TSO allows the order without it allows as well. */
		if ((model_cases[i].in_soak || model_cases[i].run.tso) &&
		    !test_soak())
			continue;
		assert(n < MOST_CASES);
		tests[n++] = (struct CMUnitTest){
			.name = model_cases[i].name,
			.test_func = run_case,
			.initial_state = (void *)&model_cases[i]};
	}
	return test_run_group("model", tests, n, NULL, NULL);
}
