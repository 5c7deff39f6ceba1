/* SPDX-License-Identifier: BSD-2-Clause */
/* References: the last drop is told, once, and comes behind all others. */
#include "support.h"

#include <pthread.h>

#include "base/refcount.h"

enum { N_THREADS = 4 };

static void only_the_last_drop_is_told(void **state)
{
	uint32_t refs = 1;

	weir__ref(&refs);
	weir__ref(&refs);
	assert_false(weir__unref(&refs));
	weir__ref(&refs);
	assert_false(weir__unref(&refs));
	assert_false(weir__unref(&refs));
	assert_true(weir__unref(&refs));
}

static void several_are_dropped_at_once(void **state)
{
	uint32_t refs = 1;

	assert_true(weir__ref_only(&refs));
	for (int i = 0; i < 5; i++)
		weir__ref(&refs);
	assert_false(weir__ref_only(&refs));
	assert_false(weir__unref_strong(&refs, 1));
	assert_false(weir__unref_strong(&refs, 2));
	assert_true(weir__unref_strong(&refs, 3));
}

static void a_count_begins_anew_at_zero(void **state)
{
	uint32_t refs = 0;

	for (int i = 0; i < 2; i++) {
		weir__ref(&refs);
		assert_true(weir__unref(&refs));
	}
}

static void none_is_given_behind_the_last_drop(void **state)
{
	uint32_t refs = 1;

	assert_true(weir__tryref(&refs));
	assert_false(weir__unref(&refs));
	assert_true(weir__unref(&refs));
	assert_false(weir__tryref(&refs));
	assert_int_equal(refs, 0);
}

/* On the heap: who drops last frees it. */
struct held {
	uint32_t refs;
	uint64_t written[N_THREADS]; /* plain: by thread */
};

struct holder {
	struct held *held;
	bool (*unref)(uint32_t *refs);
	uint64_t *written, *last; /* `last` is the last one's to count up */
};

static void *lend_and_drop(void *argument)
{
	struct holder *self = argument;
	struct held *held = self->held;

	for (int i = 0; i < 100; i++) {
		weir__ref(&held->refs);
		*self->written += 1;
		assert_false(self->unref(&held->refs));
	}
	if (!self->unref(&held->refs))
		return NULL;
	*self->last += 1;
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(held->written[i], 100);
	free(held);
	return NULL;
}

static void one_is_last(bool (*unref)(uint32_t *refs))
{
	uint64_t n_runs = test_count(1000), last = 0;

	for (uint64_t run = 0; run < n_runs; run++) {
		struct held *held = calloc(1, sizeof(*held));
		struct holder holders[N_THREADS];
		pthread_t threads[N_THREADS];

		assert_non_null(held);
		held->refs = N_THREADS;
		for (int i = 0; i < N_THREADS; i++) {
			holders[i] = (struct holder){held, unref,
						     &held->written[i], &last};
			assert_int_equal(pthread_create(&threads[i], NULL,
							lend_and_drop,
							&holders[i]),
					 0);
		}
		for (int i = 0; i < N_THREADS; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
	assert_int_equal(last, n_runs);
}

static bool unref_strong(uint32_t *refs)
{
	return weir__unref_strong(refs, 1);
}

static void one_of_several_threads_is_last(void **state)
{
	one_is_last(weir__unref);
	one_is_last(unref_strong);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_last_drop_is_told),
		cmocka_unit_test(several_are_dropped_at_once),
		cmocka_unit_test(a_count_begins_anew_at_zero),
		cmocka_unit_test(none_is_given_behind_the_last_drop),
		cmocka_unit_test(one_of_several_threads_is_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
