/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers of cells, on their own: cells are numbers. */
#include "actor/kit.h"

#include <errno.h>

#include <weir/sim.h>

#include "supervision/cell_timer.h"

enum { N = 8 };

static struct weir_sim *sim;
static struct heap heap;
static struct weir__system_lock lock;
static struct weir__cell_timer *timer[N];
static uint32_t told[N];
static size_t ends;

static void due(struct weir__cell_timers *timers, uint32_t slot)
{
	(void)timers;
	assert_null(timer[slot]);
	assert_int_not_equal(lock.plain.word, 0);
	told[slot]++;
}

static void unused(struct weir__system_lock *of)
{
	assert_ptr_equal(of, &lock);
	assert_int_equal(lock.plain.word, 0);
	ends++;
}

static struct weir__cell_timers timers = {.lock = &lock,
					  .allocator = &heap.allocator,
					  .due = due};

static int set_up(void **state)
{
	(void)state;
	sim = sim_new(1);
	timers.executor = weir_sim_executor(sim);
	heap_init(&heap, 0);
	lock = (struct weir__system_lock){.used = 1, .unused = unused};
	memset(told, 0, sizeof(told));
	ends = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(heap.live, 0);
	sim_free(sim);
	return 0;
}

static bool set(uint32_t slot, uint64_t at_ns)
{
	bool held = weir__enter(&lock);
	bool well = weir__cell_timer_set(&timers, &timer[slot], slot, at_ns);

	weir__leave(&lock, held);
	return well;
}

static void clear(uint32_t slot)
{
	bool held = weir__enter(&lock);

	weir__cell_timer_clear(&timers, &timer[slot]);
	weir__leave(&lock, held);
}

static void each_is_told_of_its_own_once(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < N; i++)
		assert_true(set(i, 100 * (N - i)));
	assert_int_equal(lock.used, 1 + N);
	for (i = N; i-- > 0;) {
		assert_int_equal(told[i], 0);
		(void)weir_sim_run_until(sim, 100 * (N - i), UINT64_MAX);
		assert_int_equal(told[i], 1);
		assert_int_equal(lock.used, 1 + i);
	}
	(void)weir_sim_run(sim);
	for (i = 0; i < N; i++)
		assert_int_equal(told[i], 1);
	assert_int_equal(ends, 0);
}

static void one_that_is_cleared_is_not_told(void **state)
{
	(void)state;
	assert_true(set(0, 100));
	clear(0);
	assert_null(timer[0]);
	assert_int_equal(lock.used, 1);
	clear(0);
	(void)weir_sim_run_until(sim, 1000, UINT64_MAX);
	assert_int_equal(told[0], 0);
}

static void one_that_is_set_again_is_told_at_the_later_time(void **state)
{
	(void)state;
	assert_true(set(3, 100));
	assert_true(set(3, 500));
	assert_int_equal(lock.used, 2);
	(void)weir_sim_run_until(sim, 499, UINT64_MAX);
	assert_int_equal(told[3], 0);
	(void)weir_sim_run_until(sim, 500, UINT64_MAX);
	assert_int_equal(told[3], 1);
}

static void the_last_use_of_a_system_may_be_a_timer(void **state)
{
	(void)state;
	assert_true(set(0, 100));
	lock.used--;
	(void)weir_sim_run_until(sim, 100, UINT64_MAX);
	assert_int_equal(told[0], 1);
	assert_int_equal(lock.used, 0);
	assert_int_equal(ends, 1);
}

static void without_memory_none_is_set(void **state)
{
	(void)state;
	assert_true(set(0, 100));
	heap.fail = heap.calls + 1;
	assert_false(set(0, 200));
	assert_null(timer[0]);
	assert_int_equal(lock.used, 1);
	(void)weir_sim_run_until(sim, 1000, UINT64_MAX);
	assert_int_equal(told[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TIMER(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TIMER(each_is_told_of_its_own_once),
		TIMER(one_that_is_cleared_is_not_told),
		TIMER(one_that_is_set_again_is_told_at_the_later_time),
		TIMER(the_last_use_of_a_system_may_be_a_timer),
		TIMER(without_memory_none_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
