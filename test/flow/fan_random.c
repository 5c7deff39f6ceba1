/* SPDX-License-Identifier: BSD-2-Clause */
/* Random graphs of fan-out and fan-in on the simulator. */
#include "actor/kit.h"
#include "flow/fan_random_kit.h"

static void diamonds_give_what_they_must(void **state)
{
	static const size_t unfused[] = {0, 0, 1, 4};
	struct tally tally;
	struct known known;

	for_each_seed(seed, test_count(1000)) {
		known = random_graph(seed);
		memset(&tally, 0, sizeof(tally));
		known.flow = weir_flow_for_each(known.flow, tally_one, &tally);
		if (run_on_sim(known.flow, seed, unfused[seed % 4]) != 0 ||
		    tally.n != known.n || tally.sum != known.sum || n_live != 0)
			fail_msg("seed %d: %d items instead of %d, %d live",
				 (int)seed, (int)tally.n, (int)known.n,
				 (int)n_live);
		weir_flow_free(known.flow);
	}
}

static void diamonds_can_be_cancelled_at_any_point(void **state)
{
	struct tally tally;
	struct known known;
	struct trial trial;
	int i;

	for_each_seed(seed, test_count(500)) {
		struct weir_flow_run_options options = {.unfused = seed % 3};

		known = random_graph(seed);
		memset(&tally, 0, sizeof(tally));
		trial.flow = weir_flow_for_each(known.flow, tally_one, &tally);
		assert_int_equal(weir_sim_new(&trial.sim, seed, NULL), 0);
		assert_int_equal(weir_flow_start(trial.flow,
						 weir_sim_executor(trial.sim),
						 &options, &trial.run),
				 0);
		for (i = 0; i < (int)(seed * 7 % 200); i++)
			weir_sim_step(trial.sim);
		weir_flow_run_stop(trial.run, NULL);
		(void)end(&trial);
		assert_int_equal(n_live, 0);
	}
}

/* Runs it with the `fail`-th allocation failing. False: there are less. */
static bool run_short_of_memory(struct weir_flow *flow, uint64_t seed,
				size_t fail)
{
	struct weir_executor_options options = {0};
	struct weir_error *error = NULL;
	struct weir_flow_run *run;
	struct weir_sim *sim;
	struct heap heap;
	int rc;

	heap_init(&heap, fail);
	options.allocator = &heap.allocator;
	rc = weir_sim_new(&sim, seed, &options);
	if (rc == 0) {
		rc = weir_flow_start(flow, weir_sim_executor(sim), NULL, &run);
		if (rc == 0) {
			assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER,
							    NULL, &error),
					 0);
			rc = error ? error->code : 0;
			weir_error_unref(error);
			weir_flow_run_free(run);
		}
		assert_int_equal(weir_sim_free(sim), 0);
	}
	assert_int_equal(rc, heap.calls < fail ? 0 : -ENOMEM);
	assert_int_equal(heap.live, 0);
	assert_int_equal(n_live, 0);
	return heap.calls >= fail;
}

static void running_short_of_memory_loses_nothing(void **state)
{
	struct tally tally;
	struct known known;
	size_t fail;

	for_each_seed(seed, test_count(20)) {
		known = random_graph(seed);
		known.flow = weir_flow_for_each(known.flow, tally_one, &tally);
		for (fail = 1; run_short_of_memory(known.flow, seed, fail);
		     fail++)
			;
		weir_flow_free(known.flow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diamonds_give_what_they_must),
		cmocka_unit_test(diamonds_can_be_cancelled_at_any_point),
		cmocka_unit_test(running_short_of_memory_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
