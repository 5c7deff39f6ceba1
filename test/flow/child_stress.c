/* SPDX-License-Identifier: BSD-2-Clause */
/* Many bytes, and many children at once, on several executors. */
#include "flow/child_kit.h"

#include <sched.h>

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

static void a_hundred_megabytes_come_through(void **state)
{
	uint64_t n = test_count(100) * 1000000;
	struct weir_flow *flow;
	struct digest digest;
	struct noise noise;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		noise = (struct noise){.left = n, .block = 200000};
		flow = weir_flow_child(noise_flow(&noise), ARGV("cat"), NULL);
		assert_int_equal(code_of(watchers[i], digested(flow, &digest)),
				 0);
		assert_int_equal(digest.n, n);
		assert_int_equal(digest.hash, noise.made.hash);
	}
}

/* Upstream, the child and downstream each in a place of its own. */
static void a_child_may_be_between_executors(void **state)
{
	uint64_t n = test_count(30) * 1000000;
	struct leftovers leftovers;
	struct weir_flow_run *run;
	struct weir_error *error;
	struct place places[3];
	struct weir_flow *flow;
	struct digest digest;
	struct noise noise = {.left = n, .block = 20000};

	leftovers_note(&leftovers);
	place_make(&places[0], &threads);
	place_make(&places[1], &blocking);
	place_make(&places[2], &loop);
	flow = weir_flow_async(noise_flow(&noise), 8, places[0].executor);
	flow = weir_flow_child(flow, ARGV("tee", "/dev/null"), NULL);
	flow = weir_flow_async(flow, 8, places[1].executor);
	flow = digested(weir_flow_child(flow, ARGV("cat"), NULL), &digest);
	assert_int_equal(weir_flow_start(flow, places[2].executor, NULL, &run),
			 0);
	assert_int_equal(weir_flow_run_wait(run, WEIR_FOREVER, NULL, &error),
			 0);
	assert_null(error);
	assert_int_equal(digest.n, n);
	assert_int_equal(digest.hash, noise.made.hash);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	assert_int_equal(threads.free(&places[0]), 0);
	assert_int_equal(blocking.free(&places[1]), 0);
	assert_int_equal(loop.free(&places[2]), 0);
	leftovers_check(&leftovers);
}

/* A number from 0 on makes a child: most end by themselves, some do not, and
 * some cannot be started. */
static struct weir_flow *one_of_many(void *item, void *context)
{
	const char *const *const argvs[] = {
		(const char *const[]){"true", NULL},
		(const char *const[]){"echo", "a", NULL},
		(const char *const[]){"yes", NULL},
		(const char *const[]){"cat", NULL},
	};
	uintptr_t i = (uintptr_t)item % 4;
	struct weir_flow *flow = i == 3 ? weir_flow_take(endless(), 10) : NULL;

	return weir_flow_take(weir_flow_child(flow, argvs[i], NULL), 1);
}

static void thousands_of_children_leave_nothing(void **state)
{
	intptr_t n = (intptr_t)test_count(3000);
	struct weir_flow *flow;
	struct digest digest;
	size_t i;

	for (i = 0; watchers[i]; i++) {
		flow = weir_flow_range(0, n - 1);
		flow = weir_flow_flat_map(flow, 8, one_of_many, NULL);
		flow = weir_flow_items(flow, weir_flow_bytes_items());
		assert_int_equal(code_of(watchers[i], digested(flow, &digest)),
				 0);
		assert_true(n < 4 || digest.n > (uint64_t)n / 4);
	}
}

/* Runs at once that are stopped at any time, some in a pool and some in
 * another. */
#define RUNS 8u

static void children_may_be_stopped_at_any_time(void **state)
{
	uint64_t rounds = test_count(200), round;
	const struct weir_flow_child_options options = {.kill_ns = 1};
	struct weir_flow_run *runs[RUNS];
	struct weir_flow *flows[RUNS];
	struct leftovers leftovers;
	struct place places[2];
	struct digest digests[RUNS];
	struct weir_error *error;
	size_t i;

	leftovers_note(&leftovers);
	place_make(&places[0], &threads);
	place_make(&places[1], &blocking);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < RUNS; i++) {
			flows[i] = weir_flow_child(endless(), ARGV("cat"),
						   i % 2 ? &options : NULL);
			flows[i] = digested(flows[i], &digests[i]);
			assert_int_equal(
				weir_flow_start(flows[i],
						places[i / 2 % 2].executor,
						NULL, &runs[i]),
				0);
		}
		/* so that more or less is done */
		for (i = 0; i < round % 50; i++)
			(void)sched_yield();
		for (i = 0; i < RUNS; i++)
			weir_flow_run_stop(runs[i], NULL);
		for (i = 0; i < RUNS; i++) {
			assert_int_equal(weir_flow_run_wait(runs[i],
							    WEIR_FOREVER, NULL,
							    &error),
					 0);
			assert_int_equal(error->code, -ECANCELED);
			weir_error_unref(error);
			weir_flow_run_free(runs[i]);
			weir_flow_free(flows[i]);
		}
	}
	assert_int_equal(threads.free(&places[0]), 0);
	assert_int_equal(blocking.free(&places[1]), 0);
	leftovers_check(&leftovers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hundred_megabytes_come_through),
		cmocka_unit_test(a_child_may_be_between_executors),
		cmocka_unit_test(thousands_of_children_leave_nothing),
		cmocka_unit_test(children_may_be_stopped_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
