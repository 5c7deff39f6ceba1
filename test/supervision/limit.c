/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of restarts: the vectors of their sources, extremes and memory. */
#include "supervision/limit_kit.h"

/* --- Vectors -------------------------------------------------------------- */

static void no_limit_allows_all_and_costs_nothing(void **state)
{
	for (int i = 0; i < 100; i++)
		assert_true(restarts(NULL, 0));
	assert_int_equal(heap.calls, 0);
}

static void b6_1_a_limit_of_0_never_restarts(void **state)
{
	static const uint64_t within[] = {0, 1, SECOND, WEIR_FOREVER};

	for (int w = 0; w < N_WINDOWS; w++)
		for (int i = 0; i < 4; i++) {
			struct weir_limit limit = {0, windows[w], within[i]};

			EXPECT(limit, "nnn", 0, 5 * SECOND, UINT64_MAX);
		}
	assert_int_equal(heap.calls, 0);
}

static void b6_2_without_a_window_failure_k_restarts_up_to_max(void **state)
{
	struct weir_limit limit = {3, WEIR_WINDOW_TUMBLING, WEIR_FOREVER};

	EXPECT(limit, "yyynnn", 1, SECOND, 3600 * SECOND, 3600 * SECOND,
	       UINT64_MAX / 2, UINT64_MAX);
	limit.window = WEIR_WINDOW_SLIDING;
	EXPECT(limit, "yyyn", 0, 0, UINT64_MAX / 2, UINT64_MAX);
	limit.within_ns = 0;
	EXPECT(limit, "yyyn", 0, 0, UINT64_MAX / 2, UINT64_MAX);
}

static void b6_3_without_max_and_window_there_is_no_limit(void **state)
{
	static const int32_t none[] = {-1, -2, INT32_MIN};

	for (int i = 0; i < 3; i++) {
		struct weir_limit limit = {none[i], WEIR_WINDOW_TUMBLING,
					   WEIR_FOREVER};

		for (int k = 0; k < 1000; k++)
			assert_true(restarts(&limit, 0));
		limit.window = WEIR_WINDOW_SLIDING;
		limit.within_ns = SECOND;
		for (int k = 0; k < 1000; k++)
			assert_true(restarts(&limit, 0));
		limit.window = WEIR_WINDOW_SLIDING_STRICT;
		for (int k = 0; k < 1000; k++)
			assert_true(restarts(&limit, 0));
	}
	assert_int_equal(heap.calls, 0);
}

static void b6_4_no_max_is_1_in_a_tumbling_window(void **state)
{
	struct weir_limit limit = {-1, WEIR_WINDOW_TUMBLING, SECOND};

	EXPECT(limit, "ynny", 1, 2, SECOND + 1, SECOND + 2);
	limit.max = INT32_MIN;
	EXPECT(limit, "ynny", 1, 2, SECOND + 1, SECOND + 2);
}

static void b6_5_tumbling_vectors(void **state)
{
	struct weir_limit limit = {2, WEIR_WINDOW_TUMBLING, 1000 * MS};

	EXPECT(limit, "yyn", 1 * MS, 900 * MS, 1000 * MS);
	EXPECT(limit, "yyyyn", 1 * MS, 990 * MS, 1002 * MS, 1003 * MS,
	       1004 * MS);
}

static void b6_5_a_window_of_0_holds_one_instant(void **state)
{
	struct weir_limit limit = {2, WEIR_WINDOW_TUMBLING, 0};

	EXPECT(limit, "yynyynyyn", 7, 7, 7, 8, 8, 8, 9, 9, 9);
	limit.max = 1;
	EXPECT(limit, "ynyyynn", 0, 0, 1, 2, UINT64_MAX, UINT64_MAX,
	       UINT64_MAX);
}

static void b6_4_the_tumbling_window_is_inclusive(void **state)
{
	struct weir_limit limit = {1, WEIR_WINDOW_TUMBLING, 10};

	EXPECT(limit, "yny", 5, 15, 16);
}

static void b6_8_retries_0_stop_at_once_and_record_nothing(void **state)
{
	struct weir_limit limit = {0, WEIR_WINDOW_SLIDING_STRICT, 10 * SECOND};

	assert_false(restarts(&limit, 0));
	assert_null(record);
}

static void b6_8_refusing_resets_the_record(void **state)
{
	struct weir_limit limit = {2, WEIR_WINDOW_SLIDING_STRICT, 10 * SECOND};

	EXPECT(limit, "yynyyn", 1, 1, 1, 1, 1, 1);
	limit.within_ns = 0;
	EXPECT(limit, "yynyyn", 1, 1, 1, 1, 1, 1);
}

/* The sliding windows of other sources do not. */
static void d1_1_refusing_resets_nothing(void **state)
{
	struct weir_limit limit = {2, WEIR_WINDOW_SLIDING, 10 * SECOND};

	EXPECT(limit, "yynnn", 1, 1, 1, 1, 1);
	limit.window = WEIR_WINDOW_TUMBLING;
	EXPECT(limit, "yynnn", 1, 1, 1, 1, 1);
}

static void b6_9_the_sliding_window_is_strict(void **state)
{
	struct weir_limit limit = {1, WEIR_WINDOW_SLIDING_STRICT, 10 * SECOND};

	EXPECT(limit, "yy", SECOND, 11 * SECOND);
	EXPECT(limit, "yn", SECOND, 11 * SECOND - 1);
}

static void b6_9_window_0_is_all_failures_ever(void **state)
{
	struct weir_limit limit = {2, WEIR_WINDOW_SLIDING_STRICT, 0};

	EXPECT(limit, "yyn", 0, UINT64_MAX / 2, UINT64_MAX);
}

/* Old failures are put on record under a limit that allows them. */
static void b6_10_vectors(void **state)
{
	struct weir_limit many = {9, WEIR_WINDOW_SLIDING_STRICT, 0},
			  limit = many;
	uint64_t now = 100 * SECOND;

	limit.max = 1;
	assert_true(restarts(&many, now - SECOND));
	assert_false(restarts(&limit, now));
	let_go();

	limit.within_ns = many.within_ns = 10 * SECOND;
	limit.max = 2;
	assert_true(restarts(&many, now - 5 * SECOND));
	assert_true(restarts(&limit, now)); /* now it counts 2 */
	assert_false(restarts(&limit, now));
	let_go();

	limit.max = 1;
	assert_true(restarts(&many, now - 5 * SECOND));
	assert_true(restarts(&many, now - 5 * SECOND));
	assert_false(restarts(&limit, now)); /* now it counts 0 */
	assert_true(restarts(&limit, now));
	let_go();

	assert_true(restarts(&many, now - 11 * SECOND));
	assert_true(restarts(&many, now - 11 * SECOND));
	assert_true(restarts(&limit, now)); /* now it counts 1 */
	assert_false(restarts(&limit, now));
}

static void d1_1_the_restart_after_max_is_refused(void **state)
{
	struct weir_limit limit = {3, WEIR_WINDOW_SLIDING, 5 * SECOND};

	EXPECT(limit, "yyyn", 0, 0, 0, 0);
	EXPECT(limit, "yyynyn", 0, 2 * SECOND, 4 * SECOND, 5 * SECOND,
	       5 * SECOND + 1, 7 * SECOND);
}

static void d1_1_the_sliding_window_is_inclusive(void **state)
{
	struct weir_limit limit = {1, WEIR_WINDOW_SLIDING, 10};

	EXPECT(limit, "yny", 5, 15, 16);
}

/* Around an edge, where a tumbling one lets 2 * max pass. */
static void a_sliding_window_has_no_edge(void **state)
{
	struct weir_limit limit = {2, WEIR_WINDOW_SLIDING, 1000 * MS};

	EXPECT(limit, "yyynny", 1 * MS, 990 * MS, 1002 * MS, 1003 * MS,
	       1004 * MS, 1991 * MS);
}

/* The table in the docs. */
static void the_windows_differ_at_their_edges(void **state)
{
	static const struct {
		const char *first, *second, *third;
	} answers[N_WINDOWS] = {
		[WEIR_WINDOW_SLIDING] = {"yyn", "yyn", "yyyn"},
		[WEIR_WINDOW_SLIDING_STRICT] = {"yyn", "yyy", "yyyn"},
		[WEIR_WINDOW_TUMBLING] = {"yyn", "yyn", "yyyy"},
	};

	for (int w = 0; w < N_WINDOWS; w++) {
		struct weir_limit limit = {2, windows[w], 1000 * MS};

		EXPECT(limit, answers[limit.window].first, 1 * MS, 900 * MS,
		       1000 * MS);
		EXPECT(limit, answers[limit.window].second, 1 * MS, 501 * MS,
		       1001 * MS);
		EXPECT(limit, answers[limit.window].third, 1 * MS, 990 * MS,
		       1002 * MS, 1003 * MS);
	}
}

/* --- Asking without counting ---------------------------------------------- */

static void asking_counts_nothing(void **state)
{
	for (int w = 0; w < N_WINDOWS; w++) {
		struct weir_limit limit = {2, windows[w], SECOND};

		let_go();
		for (int i = 0; i < 10; i++)
			assert_int_equal(ask(&limit, i), 1);
		assert_true(restarts(&limit, 10));
		for (int i = 0; i < 10; i++)
			assert_int_equal(ask(&limit, 10 + i), 1);
		assert_true(restarts(&limit, 20));
		assert_false(restarts(&limit, 21));
	}
}

/* One of the child's, one of the supervisor's. */
static void a_limit_does_not_count_what_the_other_refuses(void **state)
{
	struct weir_limit each = {1, WEIR_WINDOW_SLIDING, 1000};
	struct weir_limit all = {2, WEIR_WINDOW_SLIDING, 1000};
	struct weir__restarts *every = NULL;

	assert_true(restarts(&each, 0));
	weir__limit_ask(&all, &every, &heap.allocator, 0);
	weir__limit_count(&all, every, 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(
			weir__limit_ask(&all, &every, &heap.allocator, 1), 1);
		assert_int_equal(ask(&each, 1), 0);
	}
	assert_int_equal(weir__limit_ask(&all, &every, &heap.allocator, 2), 1);
	weir__limit_count(&all, every, 2);
	assert_int_equal(weir__limit_ask(&all, &every, &heap.allocator, 3), 0);
	weir__restarts_free(every, &heap.allocator);
}

/* --- Extremes ------------------------------------------------------------- */

static void the_ends_of_time_are_no_edges(void **state)
{
	struct weir_limit limit = {1, WEIR_WINDOW_SLIDING, UINT64_MAX - 1};

	EXPECT(limit, "ynny", 0, 1, UINT64_MAX - 1, UINT64_MAX);
	EXPECT(limit, "ynn", UINT64_MAX - 1, UINT64_MAX, UINT64_MAX);
	limit.window = WEIR_WINDOW_SLIDING_STRICT;
	EXPECT(limit, "yny", 0, UINT64_MAX - 2, UINT64_MAX - 2);
	EXPECT(limit, "yy", 0, UINT64_MAX - 1);
	limit.window = WEIR_WINDOW_TUMBLING;
	EXPECT(limit, "ynny", 0, 1, UINT64_MAX - 1, UINT64_MAX);
}

static void a_clock_that_goes_back_stands_still(void **state)
{
	for (int w = 0; w < N_WINDOWS; w++) {
		struct weir_limit limit = {1, windows[w], 10};

		EXPECT(limit, "yn", 100, 5);
	}
}

static void what_is_counted_is_bounded(void **state)
{
	struct weir_limit limit = {WEIR_RESTARTS_MAX, WEIR_WINDOW_SLIDING,
				   SECOND};

	assert_true(weir__limit_valid(&limit));
	limit.max++;
	assert_false(weir__limit_valid(&limit));
	limit.max = INT32_MAX;
	assert_false(weir__limit_valid(&limit));
	limit.max = INT32_MIN;
	assert_true(weir__limit_valid(&limit));
	limit.window = (enum weir_window)(WEIR_WINDOW_TUMBLING + 1);
	assert_false(weir__limit_valid(&limit));
	limit.window = (enum weir_window) - 1;
	assert_false(weir__limit_valid(&limit));
}

/* --- Memory --------------------------------------------------------------- */

static void a_large_limit_costs_nothing_until_used(void **state)
{
	struct weir_limit limit = {WEIR_RESTARTS_MAX, WEIR_WINDOW_SLIDING,
				   SECOND};

	assert_true(restarts(&limit, 0));
	assert_true(heap.bytes <= 64);
	for (int i = 1; i < WEIR_RESTARTS_MAX; i++)
		assert_true(restarts(&limit, i));
	assert_false(restarts(&limit, SECOND));
	assert_true(restarts(&limit, SECOND + 1));
	assert_false(restarts(&limit, SECOND + 1));
	assert_true(heap.bytes <= WEIR_RESTARTS_MAX * 8 + 64);
	assert_int_equal(heap.live, 1);
}

/* Those outside of the window make room for the next. */
static void memory_is_for_the_restarts_in_the_window(void **state)
{
	struct weir_limit limit = {WEIR_RESTARTS_MAX, WEIR_WINDOW_SLIDING, 3};

	for (uint64_t now = 0; now < 100000; now++)
		assert_true(restarts(&limit, now));
	assert_int_equal(heap.calls, 1);
}

static void where_a_number_is_enough_memory_does_not_grow(void **state)
{
	struct weir_limit limit = {1000, WEIR_WINDOW_SLIDING, 0};

	for (int i = 0; i < 1000; i++)
		assert_true(restarts(&limit, i));
	assert_false(restarts(&limit, 1000));
	assert_int_equal(heap.calls, 1);
	let_go();
	limit.window = WEIR_WINDOW_TUMBLING;
	limit.within_ns = 5000;
	for (int i = 0; i < 1000; i++)
		assert_true(restarts(&limit, i));
	assert_false(restarts(&limit, 1000));
	assert_int_equal(heap.calls, 2);
	assert_true(heap.bytes <= 32);
}

/* Each allocation of a history fails once. */
static void out_of_memory_changes_nothing(void **state)
{
	for (int w = 0; w < N_WINDOWS; w++) {
		struct weir_limit limit = {100, windows[w], SECOND};
		int failures = 0;

		let_go();
		for (int i = 0; i < 100; i++) {
			int rc;

			heap.fail = heap.calls + 1;
			rc = ask(&limit, i);
			heap.fail = 0;
			failures += rc == -ENOMEM;
			if (rc != -ENOMEM)
				assert_int_equal(rc, 1);
			assert_true(restarts(&limit, i));
		}
		assert_int_equal(failures,
				 windows[w] == WEIR_WINDOW_TUMBLING ? 1 : 6);
		heap.fail = heap.calls + 1;
		assert_int_equal(ask(&limit, 100), 0);
		heap.fail = 0;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(no_limit_allows_all_and_costs_nothing),
		TEST(b6_1_a_limit_of_0_never_restarts),
		TEST(b6_2_without_a_window_failure_k_restarts_up_to_max),
		TEST(b6_3_without_max_and_window_there_is_no_limit),
		TEST(b6_4_no_max_is_1_in_a_tumbling_window),
		TEST(b6_4_the_tumbling_window_is_inclusive),
		TEST(b6_5_tumbling_vectors),
		TEST(b6_5_a_window_of_0_holds_one_instant),
		TEST(b6_8_retries_0_stop_at_once_and_record_nothing),
		TEST(b6_8_refusing_resets_the_record),
		TEST(b6_9_the_sliding_window_is_strict),
		TEST(b6_9_window_0_is_all_failures_ever),
		TEST(b6_10_vectors),
		TEST(d1_1_the_restart_after_max_is_refused),
		TEST(d1_1_the_sliding_window_is_inclusive),
		TEST(d1_1_refusing_resets_nothing),
		TEST(a_sliding_window_has_no_edge),
		TEST(the_windows_differ_at_their_edges),
		TEST(asking_counts_nothing),
		TEST(a_limit_does_not_count_what_the_other_refuses),
		TEST(the_ends_of_time_are_no_edges),
		TEST(a_clock_that_goes_back_stands_still),
		TEST(what_is_counted_is_bounded),
		TEST(a_large_limit_costs_nothing_until_used),
		TEST(memory_is_for_the_restarts_in_the_window),
		TEST(where_a_number_is_enough_memory_does_not_grow),
		TEST(out_of_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
