/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <pthread.h>

#include "base/costs.h"
#include "base/lock.h"

static struct weir__costs costs;
static struct weir__lock lock;

static void *take(void *context)
{
	weir__lock(&lock);
	weir__unlock(&lock);
	return NULL;
}

static void what_a_thread_does_is_counted_where_it_says(void **state)
{
	costs = (struct weir__costs){0};
	weir__costs = &costs;
	take(NULL);
	weir__costs_kernel_call();
	weir__costs_kernel_call();
	weir__costs = NULL;
	take(NULL);
	weir__costs_kernel_call();
	assert_int_equal(costs.locks, 1);
	assert_int_equal(costs.kernel_calls, 2);
}

static void other_threads_are_not_counted_there(void **state)
{
	pthread_t thread;

	costs = (struct weir__costs){0};
	weir__costs = &costs;
	assert_int_equal(pthread_create(&thread, NULL, take, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	weir__costs = NULL;
	assert_int_equal(costs.locks, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_thread_does_is_counted_where_it_says),
		cmocka_unit_test(other_threads_are_not_counted_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
