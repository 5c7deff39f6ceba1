/* SPDX-License-Identifier: BSD-2-Clause */
/* Executors come and go while others look at all there are. */
#include "executor/places.h"

#include <pthread.h>

#include <ck_pr.h>

#include "executor/registry.h"

enum { MAX = 8, MAKERS = 2, LOOKERS = 2 };

static uint32_t over;

/* A thread cannot fail a test. */
static void make_and_free(const struct weir_threads_options *pool)
{
	struct weir_blocking *blocking_made;
	struct weir_threads *threads_made;
	struct weir_loop *loop_made;
	struct weir_sim *sim_made;

	assert(weir_sim_new(&sim_made, 1, NULL) == 0);
	assert(weir_loop_new(&loop_made, NULL) == 0);
	assert(weir_threads_new(&threads_made, pool) == 0);
	assert(weir_loop_free(loop_made) == 0);
	assert(weir_blocking_new(&blocking_made, NULL) == 0);
	assert(weir_sim_free(sim_made) == 0);
	assert(weir_blocking_free(blocking_made) == 0);
	assert(weir_threads_free(threads_made) == 0);
}

static void *make_many(void *context)
{
	const struct weir_threads_options pool = {.workers = 1};
	uint64_t i, n = test_count(20000);

	for (i = 0; i < n; i++)
		make_and_free(&pool);
	ck_pr_inc_32(&over);
	return NULL;
}

static void *look(void *context)
{
	struct weir_executor *executors[MAX];
	size_t n, i;

	while (ck_pr_load_32(&over) < MAKERS) {
		n = weir__living_hold(executors, MAX);
		assert(n <= MAX);
		/* what is plain in it would be a race, or freed */
		for (i = 0; i < n; i++)
			assert(executors[i]->options.budget_ns > 0 &&
			       weir_executor_alive(executors[i]) == 0);
		weir__living_let_go(executors, n);
	}
	return NULL;
}

static void all_there_are_can_be_looked_at(void **state)
{
	pthread_t made[MAKERS + LOOKERS];
	struct weir_executor *none[1];
	size_t i;

	ck_pr_store_32(&over, 0);
	for (i = 0; i < MAKERS + LOOKERS; i++)
		assert_int_equal(pthread_create(&made[i], NULL,
						i < MAKERS ? make_many : look,
						NULL),
				 0);
	for (i = 0; i < MAKERS + LOOKERS; i++)
		assert_int_equal(pthread_join(made[i], NULL), 0);
	assert_int_equal(weir__living_hold(none, 0), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_there_are_can_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
