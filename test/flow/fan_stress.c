/* SPDX-License-Identifier: BSD-2-Clause */
/* Random graphs of fan-out and fan-in on threads, and switches thrown there. */
#include "flow/fan_random_kit.h"

static void diamonds_on_threads_give_what_they_must(void **state)
{
	struct weir_threads_options options = {.workers = 2};
	struct weir_threads *threads;
	struct tally tally;
	struct known known;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	for_each_seed(seed, test_count(300)) {
		known = random_graph(seed);
		memset(&tally, 0, sizeof(tally));
		known.flow = weir_flow_for_each(known.flow, tally_one, &tally);
		assert_int_equal(weir_flow_run(known.flow,
					       weir_threads_executor(threads),
					       NULL),
				 0);
		assert_int_equal(tally.n, known.n);
		assert_int_equal(tally.sum, known.sum);
		assert_int_equal(n_live, 0);
		weir_flow_free(known.flow);
	}
	assert_int_equal(weir_threads_free(threads), 0);
}

/* Endless, with a switch above the fan and one in a branch. */
static struct weir_flow *endless(struct weir_flow_switch *above,
				 struct weir_flow_switch *branch,
				 struct tally *tally)
{
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct weir_flow *outlets[3];

	flow = weir_flow_kill_switch(flow, above);
	weir_flow_balance(flow, 3, outlets, NULL);
	outlets[1] = weir_flow_kill_switch(outlets[1], branch);
	outlets[2] = weir_flow_async(outlets[2], 16, NULL);
	return weir_flow_for_each(weir_flow_merge(outlets, 3), tally_one,
				  tally);
}

static void switches_end_what_runs_on_threads(void **state)
{
	struct weir_threads_options options = {.workers = 2};
	uint64_t i, n = test_count(200);
	struct weir_flow_switch *above, *branch;
	struct weir_threads *threads;
	struct weir_flow_run *run;
	struct weir_error *error;
	struct weir_flow *flow;
	struct tally tally;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	for (i = 0; i < n; i++) {
		assert_int_equal(weir_flow_switch_new(&above), 0);
		assert_int_equal(weir_flow_switch_new(&branch), 0);
		memset(&tally, 0, sizeof(tally));
		flow = endless(above, branch, &tally);
		assert_int_equal(weir_flow_start(flow,
						 weir_threads_executor(threads),
						 NULL, &run),
				 0);
		assert_int_equal(weir_flow_switch_end(branch), 0);
		if (i % 2)
			weir_flow_switch_end(above);
		else
			weir_flow_switch_stop(above, NULL);
		assert_int_equal(
			weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error), 0);
		assert_int_equal(error ? error->code : 0,
				 i % 2 ? 0 : -ECANCELED);
		weir_error_unref(error);
		weir_flow_run_free(run);
		weir_flow_free(flow);
		weir_flow_switch_free(above);
		weir_flow_switch_free(branch);
		assert_int_equal(n_live, 0);
	}
	assert_int_equal(weir_threads_free(threads), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diamonds_on_threads_give_what_they_must),
		cmocka_unit_test(switches_end_what_runs_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
