/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <pthread.h>

#include <ck_pr.h>

#include "executor/park.h"

#define N 130 /* three words of bits, the last one not full */

static struct weir__sleeper sleepers[N];
static struct weir__park park;

static int begin(void **state)
{
	uint32_t i;

	park = (struct weir__park){0};
	for (i = 0; i < N; i++)
		sleepers[i] = (struct weir__sleeper){0};
	weir__park_init(&park, sleepers, N);
	return 0;
}

/* A worker that has looked for work and goes to sleep. */
static uint32_t idle(uint32_t i)
{
	weir__park_search(&park);
	weir__park_announce(&park, i);
	return weir__park_epoch(&park, i);
}

static void nobody_idle_is_nobody_to_wake(void **state)
{
	assert_int_equal(weir__park_idle(&park), 0);
	assert_false(weir__park_wake_one(&park));
	assert_false(weir__park_wake(&park, 0));
	assert_true(weir__park_woken(&park, 0));
}

static void a_wake_is_for_one_worker_once(void **state)
{
	uint32_t epoch = idle(129);

	idle(64);
	assert_int_equal(weir__park_idle(&park), 2);
	assert_true(weir__park_wake(&park, 129));
	assert_false(weir__park_wake(&park, 129));
	assert_true(weir__park_woken(&park, 129));
	assert_false(weir__park_woken(&park, 64));
	assert_int_equal(weir__park_idle(&park), 1);
	/* It would not have slept. */
	assert_true(weir__park_sleep(&park, 129, epoch, UINT64_MAX));
}

static void whoever_is_woken_searches_and_no_one_else_is_woken(void **state)
{
	idle(3);
	idle(70);
	assert_true(weir__park_wake_one(&park));
	assert_false(weir__park_wake_one(&park)); /* one searches */
	assert_int_equal(weir__park_idle(&park), 1);
	assert_true(weir__park_found(&park)); /* it was the only one */
	assert_true(weir__park_wake_one(&park));
	assert_int_equal(weir__park_idle(&park), 0);
}

static void only_the_last_searcher_looks_for_more(void **state)
{
	weir__park_search(&park);
	weir__park_search(&park);
	assert_false(weir__park_found(&park));
	assert_true(weir__park_found(&park));
}

static void a_worker_that_finds_something_is_idle_no_more(void **state)
{
	idle(5);
	assert_true(weir__park_cancel(&park, 5));
	assert_int_equal(weir__park_idle(&park), 0);
	assert_false(weir__park_wake(&park, 5));
	assert_true(weir__park_found(&park));
}

static void a_wake_that_comes_before_the_cancel_counts_once(void **state)
{
	idle(5);
	assert_true(weir__park_wake(&park, 5));
	assert_false(weir__park_cancel(&park, 5));
	assert_true(weir__park_found(&park));
	assert_false(weir__park_wake_one(&park));
}

static void a_decrement_that_overtakes_its_increment_does_no_harm(void **state)
{
	/* As if the woken worker were faster than the rest of its waker. */
	assert_true(weir__park_found(&park));
	idle(7);
	assert_true(weir__park_wake_one(&park));
	assert_true(weir__park_woken(&park, 7));
}

static void sleep_ends_when_its_time_is_over(void **state)
{
	uint32_t epoch = idle(1);

	assert_false(weir__park_sleep(&park, 1, epoch, 1));
	assert_false(weir__park_woken(&park, 1));
}

static void there_is_one_monitor_at_a_time(void **state)
{
	assert_true(weir__park_monitor(&park, 3));
	assert_false(weir__park_monitor(&park, 5));
	weir__park_unmonitor(&park);
	assert_true(weir__park_monitor(&park, 5));
}

static void the_monitor_is_woken_last(void **state)
{
	idle(3);
	idle(70);
	assert_true(weir__park_monitor(&park, 3));
	assert_true(weir__park_wake_one(&park));
	assert_true(weir__park_woken(&park, 70));
	assert_true(weir__park_found(&park));
	assert_true(weir__park_wake_one(&park));
	assert_true(weir__park_woken(&park, 3));
	assert_true(weir__park_found(&park));
	assert_false(weir__park_wake_one(&park));
}

static void a_single_worker_needs_no_monitor(void **state)
{
	weir__park_init(&park, sleepers, 1);
	assert_int_equal(park.monitor, 1);
	assert_false(weir__park_monitor(&park, 0));
}

/* Two threads pass a token, and sleep without it. */
#define ROUNDS 2000
static uint32_t token; /* atomic: whose turn it is */

static void *pass(void *argument)
{
	uint32_t me = *(uint32_t *)argument, round, epoch;

	for (round = 0; round < ROUNDS; round++) {
		weir__park_search(&park);
		weir__park_announce(&park, me);
		for (;;) {
			epoch = weir__park_epoch(&park, me);
			if (weir__park_woken(&park, me))
				break;
			if (ck_pr_load_32(&token) == me) {
				weir__park_cancel(&park, me);
				break;
			}
			weir__park_sleep(&park, me, epoch, UINT64_MAX);
		}
		while (ck_pr_load_32(&token) != me)
			ck_pr_stall(); /* a wake from the round before */
		weir__park_found(&park);
		ck_pr_fas_32(&token, !me);
		ck_pr_fence_atomic_load();
		weir__park_wake(&park, !me);
	}
	return NULL;
}

static void a_published_token_is_seen_or_its_taker_woken(void **state)
{
	uint32_t names[2] = {0, 1};
	pthread_t other;

	token = 0;
	assert_int_equal(pthread_create(&other, NULL, pass, &names[1]), 0);
	pass(&names[0]);
	pthread_join(other, NULL);
	assert_int_equal(weir__park_idle(&park), 0);
	assert_int_equal(park.searching, 0);
}

#define FRESH(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FRESH(nobody_idle_is_nobody_to_wake),
		FRESH(a_wake_is_for_one_worker_once),
		FRESH(whoever_is_woken_searches_and_no_one_else_is_woken),
		FRESH(only_the_last_searcher_looks_for_more),
		FRESH(a_worker_that_finds_something_is_idle_no_more),
		FRESH(a_wake_that_comes_before_the_cancel_counts_once),
		FRESH(a_decrement_that_overtakes_its_increment_does_no_harm),
		FRESH(sleep_ends_when_its_time_is_over),
		FRESH(there_is_one_monitor_at_a_time),
		FRESH(the_monitor_is_woken_last),
		FRESH(a_single_worker_needs_no_monitor),
		FRESH(a_published_token_is_seen_or_its_taker_woken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
