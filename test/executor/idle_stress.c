/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An idle program: counted always (nothing wakes until work comes, then one
 * worker does), and in a long run by the process's CPU time. The only place
 * where a test looks at real time: how much was used, not when.
 */
#include "support.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include <ck_pr.h>

#include <weir/weir.h>

#define WORKERS 8
#define SECONDS 5

struct idler {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_delay delay;
	uint32_t turns;
};

static inline int idler_turn(struct weir_actor *actor)
{
	struct idler *self = weir_container_of(actor, struct idler, actor);

	(void)weir_in_take(&self->in);
	ck_pr_inc_32(&self->turns);
	return 0;
}
WEIR_TURN(idler_turn)

static const struct weir_actor_ops idler_ops = {.turns = idler_turn_n};

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Until all workers sleep; the counters then. */
static struct weir_threads_counters all_parked(struct weir_threads *pool)
{
	struct weir_threads_counters counters;

	do {
		sched_yield();
		weir_threads_counters(pool, &counters);
	} while (counters.parked != WORKERS);
	return counters;
}

/* A pool that has worked, with actors that wait for tokens and a far time. */
static struct weir_threads *idle_pool(struct idler *idlers, size_t n)
{
	struct weir_threads_options options = {.workers = WORKERS};
	struct weir_threads *pool;
	size_t i;

	assert_int_equal(weir_threads_new(&pool, &options), 0);
	for (i = 0; i < n; i++) {
		memset(&idlers[i], 0, sizeof(idlers[i]));
		weir_actor_init(&idlers[i].actor, &idler_ops,
				weir_threads_executor(pool));
		weir_in_init(&idlers[i].in, &idlers[i].actor, 4, NULL);
		weir_delay_init(&idlers[i].delay, &idlers[i].actor);
		assert_int_equal(weir_delay_for(&idlers[i].delay,
						UINT64_C(3600000000000)),
				 0);
		assert_int_equal(weir_port_ignore(&idlers[i].delay.port), 0);
		weir_actor_ref(&idlers[i].actor);
		assert_int_equal(weir_actor_start(&idlers[i].actor), 0);
	}
	return pool;
}

static void idle_pool_free(struct weir_threads *pool, struct idler *idlers,
			   size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		weir_actor_stop(&idlers[i].actor);
		weir_actor_unref(&idlers[i].actor);
	}
	while (weir_threads_free(pool) == -EBUSY)
		sched_yield();
}

static void idle_workers_all_park_and_nothing_wakes_until_work_comes(
	void **state)
{
	struct idler idlers[16];
	struct weir_threads *pool = idle_pool(idlers, 16);
	struct weir_threads_counters before, after;
	uint64_t round, rounds = test_count(1000);

	for (round = 0; round < rounds; round++) {
		uint32_t turns = ck_pr_load_32(&idlers[round % 16].turns);

		before = all_parked(pool);
		/* asleep: another look finds the same */
		after = all_parked(pool);
		assert_int_equal(after.wakes, before.wakes);
		assert_int_equal(after.slices, before.slices);
		assert_int_equal(weir_in_put(&idlers[round % 16].in, NULL), 0);
		while (ck_pr_load_32(&idlers[round % 16].turns) == turns)
			sched_yield();
	}
	idle_pool_free(pool, idlers, 16);
}

static void an_idle_process_uses_under_2_ms_of_cpu_a_second(void **state)
{
	struct timespec seconds = {.tv_sec = SECONDS};
	struct idler idlers[16];
	struct weir_threads_counters before, after;
	struct weir_threads *pool;
	uint64_t used;

	if (!test_soak())
		skip();
	pool = idle_pool(idlers, 16);
	before = all_parked(pool);
	used = ns_of(CLOCK_PROCESS_CPUTIME_ID);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &seconds, NULL);
	used = ns_of(CLOCK_PROCESS_CPUTIME_ID) - used;
	weir_threads_counters(pool, &after);
	print_message("%u workers, idle for %d s: %llu us of CPU\n", WORKERS,
		      SECONDS, (unsigned long long)used / 1000);
	assert_true(used < SECONDS * UINT64_C(2000000));
	assert_int_equal(after.wakes, before.wakes);
	/* who watched over the others looks about twice more, then sleeps */
	assert_true(after.parks <= before.parks + 4);
	assert_int_equal(after.parked, WORKERS);
	idle_pool_free(pool, idlers, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			idle_workers_all_park_and_nothing_wakes_until_work_comes),
		cmocka_unit_test(
			an_idle_process_uses_under_2_ms_of_cpu_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
