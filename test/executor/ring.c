/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "base/costs.h"
#include "executor/ring.h"

static struct weir__ring ring;
static struct weir_task tasks[2 * WEIR__RING_SIZE];

static int begin(void **state)
{
	ring = (struct weir__ring){.remote = weir__membarrier_register()};
	return 0;
}

static void push(int first, int n)
{
	int i;

	for (i = first; i < first + n; i++)
		assert_true(weir__ring_push(&ring, &tasks[i]));
}

static void pop(int first, int n)
{
	int i;

	for (i = first; i < first + n; i++)
		assert_ptr_equal(weir__ring_pop(&ring), &tasks[i]);
}

static struct weir_task *steal_one(void)
{
	struct weir_task *task;

	return weir__ring_steal(&ring, &task, 1) ? task : NULL;
}

static void steal(int first, int n)
{
	int i;

	for (i = first; i < first + n; i++)
		assert_ptr_equal(steal_one(), &tasks[i]);
}

static void an_empty_ring_gives_nothing(void **state)
{
	assert_null(weir__ring_pop(&ring));
	assert_null(steal_one());
}

static void tasks_come_out_in_order(void **state)
{
	push(0, 5);
	pop(0, 2);
	push(5, 2);
	pop(2, 5);
	assert_null(weir__ring_pop(&ring));
}

static void a_full_ring_takes_no_more(void **state)
{
	push(0, WEIR__RING_SIZE);
	assert_false(weir__ring_push(&ring, &tasks[WEIR__RING_SIZE]));
	pop(0, 1);
	push(WEIR__RING_SIZE, 1);
	pop(1, WEIR__RING_SIZE);
	assert_null(weir__ring_pop(&ring));
}

static void the_oldest_is_stolen(void **state)
{
	push(0, 5);
	steal(0, 1);
	pop(1, 1);
	steal(2, 1);
	pop(3, 2);
	assert_null(steal_one());
	assert_null(weir__ring_pop(&ring));
}

static void everything_can_be_stolen_from_an_owner_that_stands_still(void **s)
{
	push(0, WEIR__RING_SIZE);
	steal(0, WEIR__RING_SIZE);
	assert_null(steal_one());
	assert_int_equal(weir__ring_front(&ring), WEIR__RING_SIZE);
	/* The slots are the owner's to free. */
	assert_false(weir__ring_push(&ring, &tasks[0]));
	assert_null(weir__ring_pop(&ring));
	push(0, WEIR__RING_SIZE);
	pop(0, WEIR__RING_SIZE);
}

static void several_are_stolen_in_order(void **state)
{
	struct weir_task *stolen[4];

	push(0, 6);
	steal(0, 1);
	assert_int_equal(weir__ring_steal(&ring, stolen, 3), 3);
	assert_ptr_equal(stolen[0], &tasks[1]);
	assert_ptr_equal(stolen[2], &tasks[3]);
	assert_int_equal(weir__ring_steal(&ring, stolen, 4), 2);
	assert_ptr_equal(stolen[1], &tasks[5]);
	assert_null(weir__ring_pop(&ring));
}

static void what_was_popped_is_not_stolen(void **state)
{
	int i;

	for (i = 0; i < 3; i++) {
		push(0, WEIR__RING_SIZE);
		pop(0, WEIR__RING_SIZE);
		assert_null(steal_one());
	}
	push(0, 1);
	pop(0, 1);
	push(1, 1);
	steal(1, 1);
	assert_null(steal_one());
}

static void there_is_one_thief_at_a_time(void **state)
{
	push(0, 2);
	ring.robbed = 1; /* as if one were at it */
	assert_null(steal_one());
	pop(0, 1);
	ring.robbed = 0;
	steal(1, 1);
}

/* A token never comes here, but who looks at the counters should know. */
static void a_theft_that_asks_the_kernel_is_counted(void **state)
{
	struct weir__costs costs = {0};

	weir__costs = &costs;
	push(0, 1);
	steal(0, 1);
	weir__costs = NULL;
	assert_int_equal(costs.kernel_calls, ring.remote);
	assert_int_equal(costs.locks, 0);
}

#define FRESH(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
	static const struct CMUnitTest tests_[] = {
		FRESH(an_empty_ring_gives_nothing),
		FRESH(tasks_come_out_in_order),
		FRESH(a_full_ring_takes_no_more),
		FRESH(the_oldest_is_stolen),
		FRESH(everything_can_be_stolen_from_an_owner_that_stands_still),
		FRESH(several_are_stolen_in_order),
		FRESH(what_was_popped_is_not_stolen),
		FRESH(there_is_one_thief_at_a_time),
		FRESH(a_theft_that_asks_the_kernel_is_counted),
	};

	return cmocka_run_group_tests(tests_, NULL, NULL);
}
