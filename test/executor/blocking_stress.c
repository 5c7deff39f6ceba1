/* SPDX-License-Identifier: BSD-2-Clause */
/* Many submitters, threads that come and go, executors that do as well. */
#include "support.h"

#include <pthread.h>
#include <string.h>

#include <weir/blocking.h>

#include "executor/fake.h"

#define THREADS 3
#define TASKS 8 /* of each thread, under way at once */

static struct weir_blocking *blocking;
static uint32_t done; /* atomic, slept on: tasks that have run out */

static void run(struct fake_task *fake)
{
	if (fake->left--) {
		fake_submit(fake->executor, fake);
		return;
	}
	ck_pr_fence_release();
	ck_pr_inc_32(&done);
	weir__futex_wake(&done, INT32_MAX);
}

struct submitter {
	pthread_t thread;
	struct fake_task tasks[TASKS];
};

static void *submit_all(void *argument)
{
	struct submitter *self = argument;
	int i;

	for (i = 0; i < TASKS; i++) {
		self->tasks[i].run = run;
		self->tasks[i].left = (uint64_t)i * 5;
		assert_int_equal(fake_submit(weir_blocking_executor(blocking),
					     &self->tasks[i]),
				 0);
	}
	return NULL;
}

static void run_round(const struct weir_blocking_options *options)
{
	struct submitter submitters[THREADS];
	uint32_t seen;
	int i, j;

	memset(submitters, 0, sizeof(submitters));
	ck_pr_store_32(&done, 0);
	assert_int_equal(weir_blocking_new(&blocking, options), 0);
	for (i = 0; i < THREADS; i++)
		pthread_create(&submitters[i].thread, NULL, submit_all,
			       &submitters[i]);
	while ((seen = ck_pr_load_32(&done)) < THREADS * TASKS)
		weir__futex_wait(&done, seen, UINT64_MAX);
	ck_pr_fence_acquire();
	for (i = 0; i < THREADS; i++)
		pthread_join(submitters[i].thread, NULL);
	assert_true(weir_blocking_threads(blocking) <= options->threads_max);
	assert_int_equal(weir_blocking_free(blocking), 0);
	for (i = 0; i < THREADS; i++) {
		for (j = 0; j < TASKS; j++)
			assert_int_equal(submitters[i].tasks[j].runs,
					 j * 5 + 1);
	}
}

static void repeat(uint32_t threads_max, uint64_t idle_ns)
{
	const struct weir_blocking_options options = {
		.threads_max = threads_max,
		.idle_ns = idle_ns,
	};
	uint64_t n = test_count(1000);

	while (n--)
		run_round(&options);
}

static void all_run_on_threads_that_stay(void **state)
{
	repeat(4, 0);
}

static void all_run_on_threads_that_end_at_once(void **state)
{
	repeat(4, 1);
}

static void all_run_on_one_thread(void **state)
{
	repeat(1, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_run_on_threads_that_stay),
		cmocka_unit_test(all_run_on_threads_that_end_at_once),
		cmocka_unit_test(all_run_on_one_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
