/* SPDX-License-Identifier: BSD-2-Clause */
/* Which executors live, and that who looks at them keeps them. */
#include "executor/places.h"

#include "actor/kit.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ck_pr.h>

#include "executor/registry.h"

enum { MAX = 8 };

/* All that live, the oldest first; nobody holds them. */
static size_t living(struct weir_executor **executors)
{
	size_t n = weir__living_hold(executors, MAX);

	assert_true(n <= MAX);
	weir__living_let_go(executors, n);
	return n;
}

static void an_executor_of_each_kind_lives_until_it_is_freed(void **state)
{
	const struct kind *const kinds[] = {&threads, &blocking, &loop, &sim,
					    &direct};
	struct weir_executor *executors[MAX];
	struct place places[5];
	size_t i, k;

	assert_int_equal(living(executors), 0);
	for (i = 0; i < 5; i++)
		place_make(&places[i], kinds[i]);
	assert_int_equal(living(executors), 5);
	for (i = 0; i < 5; i++)
		assert_ptr_equal(executors[i], places[i].executor);
	for (i = 0; i < 5; i++) {
		/* from the middle on */
		k = (i + 2) % 5;
		assert_int_equal(kinds[k]->free(&places[k]), 0);
		assert_int_equal(living(executors), 4 - i);
		for (size_t e = 0; e < 4 - i; e++)
			assert_ptr_not_equal(executors[e], places[k].executor);
	}
}

static void more_than_there_is_room_for_are_counted_and_not_held(void **state)
{
	struct weir_executor *executors[1] = {NULL};
	struct weir_loop *one, *two;

	assert_int_equal(weir_loop_new(&one, NULL), 0);
	assert_int_equal(weir_loop_new(&two, NULL), 0);
	assert_int_equal(weir__living_hold(executors, 1), 2);
	assert_null(executors[0]);
	/* would wait for ever */
	assert_int_equal(weir_loop_free(one), 0);
	assert_int_equal(weir__living_hold(executors, 1), 1);
	assert_ptr_equal(executors[0], weir_loop_executor(two));
	weir__living_let_go(executors, 1);
	assert_int_equal(weir_loop_free(two), 0);
}

static void one_that_could_not_be_made_does_not_live(void **state)
{
	struct weir_executor *executors[MAX];
	struct weir_blocking *made;
	struct weir_blocking_options options = {0};
	struct heap heap;
	size_t fail = 1;
	int rc;

	options.executor.allocator = &heap.allocator;
	do {
		heap_init(&heap, fail++);
		rc = weir_blocking_new(&made, &options);
		assert_int_equal(living(executors), rc == 0);
	} while (rc == -ENOMEM);
	assert_int_equal(rc, 0);
	assert_true(fail > 2);
	assert_int_equal(weir_blocking_free(made), 0);
	assert_int_equal(heap.live, 0);
}

static uint32_t is_freed;

static void *free_it(void *context)
{
	assert(weir_blocking_free(context) == 0);
	ck_pr_store_32(&is_freed, 1);
	return NULL;
}

static void one_that_is_held_is_freed_when_it_is_let_go(void **state)
{
	struct weir_executor *executors[1], *none[1];
	struct weir_blocking *made;
	pthread_t thread;

	ck_pr_store_32(&is_freed, 0);
	assert_int_equal(weir_blocking_new(&made, NULL), 0);
	assert_int_equal(weir__living_hold(executors, 1), 1);
	assert_int_equal(pthread_create(&thread, NULL, free_it, made), 0);
	/* nobody else comes to hold it */
	while (weir__living_hold(none, 0) > 0)
		(void)sched_yield();
	assert_int_equal(ck_pr_load_32(&is_freed), 0);
	(void)weir_executor_now(executors[0]);
	weir__living_let_go(executors, 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(ck_pr_load_32(&is_freed), 1);
}

/* What a child does has to be over soon, or the child is. */
static void in_child(void (*run)(void *context), void *context)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		(void)alarm(60);
		run(context);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define child_assert(condition) \
	do { \
		if (!(condition)) \
			_exit(1); \
	} while (0)

static void free_and_make(void *context)
{
	struct weir_executor *executors[MAX];
	struct weir_loop *own;

	child_assert(weir__living_hold(executors, MAX) == 0);
	child_assert(weir_loop_free(context) == 0);
	child_assert(weir_loop_new(&own, NULL) == 0);
	child_assert(weir__living_hold(executors, MAX) == 1);
	child_assert(executors[0] == weir_loop_executor(own));
	weir__living_let_go(executors, 1);
	child_assert(weir_loop_free(own) == 0);
	child_assert(weir__living_hold(executors, MAX) == 0);
}

static void a_child_process_begins_without_executors(void **state)
{
	struct weir_executor *executors[MAX];
	struct weir_loop *made;

	assert_int_equal(weir_loop_new(&made, NULL), 0);
	in_child(free_and_make, made);
	assert_int_equal(living(executors), 1);
	assert_int_equal(weir_loop_free(made), 0);
}

static void a_child_of_a_process_that_looks_is_not_held_up(void **state)
{
	struct weir_executor *executors[1];
	struct weir_loop *made;

	assert_int_equal(weir_loop_new(&made, NULL), 0);
	assert_int_equal(weir__living_hold(executors, 1), 1);
	weir__lock(&weir__living->lock);
	in_child(free_and_make, made);
	weir__unlock(&weir__living->lock);
	weir__living_let_go(executors, 1);
	assert_int_equal(weir_loop_free(made), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_executor_of_each_kind_lives_until_it_is_freed),
		cmocka_unit_test(
			more_than_there_is_room_for_are_counted_and_not_held),
		cmocka_unit_test(one_that_could_not_be_made_does_not_live),
		cmocka_unit_test(one_that_is_held_is_freed_when_it_is_let_go),
		cmocka_unit_test(a_child_process_begins_without_executors),
		cmocka_unit_test(
			a_child_of_a_process_that_looks_is_not_held_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
