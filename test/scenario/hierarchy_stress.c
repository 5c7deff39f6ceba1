/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of hierarchy_kit.h on a pool of workers, disturbed by other threads
 * beside. It comes to rest, everybody who is alive answers, and it ends, in
 * peace or not.
 */
#include "scenario/hierarchy_kit.h"

#include <pthread.h>
#include <sched.h>

#include <weir/threads.h>

#define N_OUTSIDE 2
#define MOST 500

struct outside {
	pthread_t thread;
	struct hierarchy *hierarchy;
	uint64_t random;
};

static struct hierarchy the_world;

static void *run_outside(void *context)
{
	struct outside *self = context;
	struct hierarchy *hierarchy = self->hierarchy;

	while (ck_pr_load_32(&hierarchy->faults) &&
	       hierarchy_lives(hierarchy)) {
		put_any(hierarchy, &self->random);
		spawn_any(hierarchy, &self->random, NULL);
		if (strikes(hierarchy, &self->random, 8))
			disturb_others(hierarchy, &self->random, NULL);
		if (!below(&self->random, 64))
			sched_yield();
	}
	return NULL;
}

static void disturb(struct hierarchy *hierarchy, uint64_t *random,
		    struct outside *outsides)
{
	size_t i;

	for (i = 0; i < N_OUTSIDE; i++) {
		outsides[i].hierarchy = hierarchy;
		outsides[i].random = (uint64_t)below(random, UINT32_MAX) << 8;
		assert_int_equal(pthread_create(&outsides[i].thread, NULL,
						run_outside, &outsides[i]),
				 0);
	}
}

/* They have used up all faults, or the hierarchy has ended. */
static void join(struct outside *outsides)
{
	size_t i;

	for (i = 0; i < N_OUTSIDE; i++)
		assert_int_equal(pthread_join(outsides[i].thread, NULL), 0);
}

/* Until nobody has anything to do: for ever, if somebody was left behind. */
static void settle(struct hierarchy *hierarchy, struct weir_threads *threads)
{
	do {
		hierarchy_calm(hierarchy);
		sched_yield();
	} while (hierarchy_unrest(hierarchy, false) ||
		 !weir_threads_idle(threads));
}

static void done(struct weir_ending *drain)
{
	assert_int_equal(drain->actors_left, 0);
}

static void begin_end(struct hierarchy *hierarchy, uint64_t *random,
		      struct weir_ending *drain)
{
	switch (below(random, 4)) {
	case 0:
		assert_int_equal(weir_executor_end_async(hierarchy->executor,
							 drain, WEIR_FOREVER),
				 0);
		break;
	case 1:
		assert_int_equal(weir_executor_stop_async(hierarchy->executor,
							  drain, WEIR_FOREVER),
				 0);
		break;
	default:
		weir_system_stop(hierarchy->system);
		break;
	}
}

/* Guests may be told a little later, by the timers' thread. */
static void wait_for_end(struct hierarchy *hierarchy)
{
	size_t i;

	while (!weir_completion_done(
		weir_system_terminated(hierarchy->system))) {
		hierarchy_calm(hierarchy);
		sched_yield();
	}
	for (i = 0; i < OUTSIDE; i++)
		while (ck_pr_load_32(&hierarchy->guests[i].waits))
			sched_yield();
}

static void check_rest(struct hierarchy *hierarchy,
		       struct weir_threads *threads)
{
	settle(hierarchy, threads);
	assert_true(weir__system_check(hierarchy->system));
	(void)hierarchy_ask(hierarchy);
	while (!weir_threads_idle(threads))
		sched_yield();
	hierarchy_answered(hierarchy);
}

static void a_world(uint64_t seed)
{
	struct weir_threads_options options = {.workers = 3};
	struct weir_ending drain = {.done = done};
	struct outside outsides[N_OUTSIDE];
	struct hierarchy *hierarchy = &the_world;
	struct weir_threads *threads;
	uint64_t random = seed;
	uint32_t left;

	memset(hierarchy, 0, sizeof(*hierarchy));
	assert_int_equal(weir_threads_new(&threads, &options), 0);
	hierarchy->ends = !below(&random, 4);
	hierarchy_begin(hierarchy, weir_threads_executor(threads), seed, MOST,
			MOST * (1 + below(&random, 8)));
	hierarchy->calm = true;
	for (left = 2 * MOST; left; left--)
		spawn_any(hierarchy, &random, NULL);
	ck_pr_store_8((uint8_t *)&hierarchy->calm, false);
	disturb(hierarchy, &random, outsides);
	if (below(&random, 2)) {
		join(outsides);
		check_rest(hierarchy, threads);
		begin_end(hierarchy, &random, &drain);
	} else {
		for (left = below(&random, 256); left; left--)
			sched_yield();
		begin_end(hierarchy, &random, &drain);
		join(outsides);
	}
	wait_for_end(hierarchy);
	hierarchy_end(hierarchy);
	while (weir_threads_free(threads) != 0)
		sched_yield();
}

/* A seed is no more than where to begin, here. */
static void b_nothing_that_fails_on_many_threads_leaves_anybody_behind(
	void **state)
{
	for_each_seed(seed, test_count(test_soak() ? 20000 : 400))
		a_world(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			b_nothing_that_fails_on_many_threads_leaves_anybody_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
