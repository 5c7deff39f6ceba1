/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * What the request strategies answer, by the numbers of the rules: first the
 * answers that Akka's tests list, then all small arguments against the rules
 * written down word by word in wider numbers, then the largest ones.
 */
#include "support.h"

#include <weir/request.h>

static int64_t in_flight(void *context)
{
	return *(int64_t *)context;
}

/* One answer, and what it is to be. */
struct vector {
	int64_t remaining, in_flight, demand;
};

static int64_t ask_watermark(int64_t high, int64_t low, int64_t remaining)
{
	struct weir_watermark w = {.high = high, .low = low};

	return weir_demand_watermark(remaining, &w);
}

static int64_t ask_max(int64_t max, int64_t batch, int64_t remaining,
		       int64_t flying)
{
	struct weir_max_in_flight m = {.max = max,
				       .batch = batch,
				       .in_flight = in_flight,
				       .context = &flying};

	return weir_demand_max_in_flight(remaining, &m);
}

static void check(int64_t max, int64_t batch, const struct vector *vectors,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct vector *v = &vectors[i];

		assert_int_equal(ask_max(max, batch, v->remaining,
					 v->in_flight),
				 v->demand);
	}
}
#define CHECK(max, batch, vectors) \
	check(max, batch, vectors, sizeof(vectors) / sizeof(vectors[0]))

static void a1_1_zero_never_requests(void **state)
{
	for (int64_t remaining = 0; remaining < 3; remaining++)
		assert_int_equal(weir_demand_zero(remaining, NULL), 0);
	assert_int_equal(weir_demand_zero(INT64_MAX, NULL), 0);
}

static void a1_2_one_by_one_requests_one_when_none_remains(void **state)
{
	assert_int_equal(weir_demand_one_by_one(0, NULL), 1);
	assert_int_equal(weir_demand_one_by_one(1, NULL), 0);
	assert_int_equal(weir_demand_one_by_one(2, NULL), 0);
	assert_int_equal(weir_demand_one_by_one(INT64_MAX, NULL), 0);
}

static void a1_3_watermark_requests_up_to_high_when_below_low(void **state)
{
	struct weir_watermark w;

	assert_int_equal(weir_watermark_init(&w, 10, 0), 0);
	assert_int_equal(weir_demand_watermark(0, &w), 10);
	assert_int_equal(weir_demand_watermark(9, &w), 0);
	assert_int_equal(weir_demand_watermark(6, &w), 0);
	assert_int_equal(weir_demand_watermark(5, &w), 0);
	assert_int_equal(weir_demand_watermark(4, &w), 6);
}

static void a1_3_watermark_low_is_half_of_high_and_at_least_1(void **state)
{
	static const struct {
		int64_t high, low;
	} defaults[] = {{1, 1},	 {2, 1},  {3, 1},
			{10, 5}, {11, 5}, {INT64_MAX, INT64_MAX / 2}};
	struct weir_watermark w;

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		assert_int_equal(weir_watermark_init(&w, defaults[i].high, 0),
				 0);
		assert_int_equal(w.high, defaults[i].high);
		assert_int_equal(w.low, defaults[i].low);
	}
	assert_int_equal(weir_watermark_init(&w, 10, 7), 0);
	assert_int_equal(w.low, 7);
	assert_int_equal(weir_watermark_init(&w, 10, 10), 0);
	assert_int_equal(w.low, 10);
}

static void a1_3_watermark_refuses_bad_settings(void **state)
{
	struct weir_watermark w = {.high = 77, .low = 66};

	assert_int_equal(weir_watermark_init(NULL, 10, 5), -EINVAL);
	assert_int_equal(weir_watermark_init(&w, 10, -1), -EINVAL);
	assert_int_equal(weir_watermark_init(&w, 10, INT64_MIN), -EINVAL);
	assert_int_equal(weir_watermark_init(&w, 10, 11), -EINVAL);
	assert_int_equal(weir_watermark_init(&w, 0, 0), -EINVAL);
	assert_int_equal(weir_watermark_init(&w, -1, 0), -EINVAL);
	assert_int_equal(weir_watermark_init(&w, -2, -3), -EINVAL);
	assert_int_equal(w.high, 77);
	assert_int_equal(w.low, 66);
}

static void a1_4_batch_is_5_by_default(void **state)
{
	struct weir_max_in_flight m;
	int64_t flying = 0;

	assert_int_equal(weir_max_in_flight_init(&m, 50, 0, in_flight, &flying),
			 0);
	assert_int_equal(m.max, 50);
	assert_int_equal(m.batch, 5);
	assert_int_equal(weir_demand_max_in_flight(46, &m), 0);
	assert_int_equal(weir_demand_max_in_flight(45, &m), 5);
	flying = 3;
	assert_int_equal(weir_demand_max_in_flight(43, &m), 0);
	assert_int_equal(weir_demand_max_in_flight(42, &m), 5);
	assert_int_equal(weir_max_in_flight_init(&m, 50, 7, in_flight, &flying),
			 0);
	assert_int_equal(m.batch, 7);
}

static void a1_4_max_in_flight_refuses_bad_settings(void **state)
{
	struct weir_max_in_flight m = {.max = 77, .batch = 66};
	int64_t flying = 0;

	assert_int_equal(weir_max_in_flight_init(NULL, 10, 1, in_flight,
						 &flying),
			 -EINVAL);
	assert_int_equal(weir_max_in_flight_init(&m, 10, 1, NULL, &flying),
			 -EINVAL);
	assert_int_equal(weir_max_in_flight_init(&m, -1, 1, in_flight, &flying),
			 -EINVAL);
	assert_int_equal(weir_max_in_flight_init(&m, 10, -1, in_flight,
						 &flying),
			 -EINVAL);
	assert_int_equal(m.max, 77);
	assert_int_equal(m.batch, 66);
	assert_null(m.in_flight);
}

static void a1_5_max_10_batch_1(void **state)
{
	static const struct vector vectors[] = {
		{0, 0, 10}, {9, 0, 1}, {0, 1, 9},  {8, 1, 1},
		{9, 1, 0},  {5, 3, 2}, {0, 10, 0}, {1, 10, 0},
	};

	CHECK(10, 1, vectors);
}

static void a1_6_max_10_batch_3(void **state)
{
	static const struct vector vectors[] = {
		{0, 0, 10}, {9, 1, 0}, {8, 2, 0}, {7, 3, 0},
		{6, 4, 0},  {6, 3, 0}, {6, 2, 0}, {6, 1, 3},
	};

	CHECK(10, 3, vectors);
}

static void a1_7_batch_above_max(void **state)
{
	static const struct vector vectors[] = {
		{0, 0, 3}, {2, 1, 0}, {1, 2, 0}, {0, 3, 0},
		{0, 2, 0}, {0, 1, 0}, {0, 0, 3},
	};

	CHECK(3, 5, vectors);
}

static void a1_8_more_in_flight_than_max_requests_nothing(void **state)
{
	static const struct vector vectors[] = {
		{0, 11, 0},
		{0, 1000, 0},
		{3, 11, 0},
		{0, INT64_MAX, 0},
		/* the sum of the two would wrap to a small number */
		{INT64_MAX, 1, 0},
		{INT64_MAX, 12, 0},
		{INT64_MAX, INT64_MAX, 0},
		{INT64_MAX / 2 + 1, INT64_MAX / 2 + 3, 0},
	};

	CHECK(10, 1, vectors);
	CHECK(10, 5, vectors);
	CHECK(10, INT64_MAX, vectors);
}

static void a1_9_max_of_0_requests_nothing(void **state)
{
	struct weir_max_in_flight m;
	int64_t flying = 0;

	assert_int_equal(weir_max_in_flight_init(&m, 0, 0, in_flight, &flying),
			 0);
	for (flying = 0; flying < 3; flying++)
		for (int64_t remaining = 0; remaining < 3; remaining++)
			assert_int_equal(
				weir_demand_max_in_flight(remaining, &m), 0);
}

static void a1_9_batch_below_1_requests_whenever_there_is_room(void **state)
{
	static const int64_t batches[] = {1, 0, -1, INT64_MIN};

	for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
		assert_int_equal(ask_max(10, batches[i], 9, 0), 1);
		assert_int_equal(ask_max(10, batches[i], 4, 5), 1);
		assert_int_equal(ask_max(10, batches[i], 5, 5), 0);
		assert_int_equal(ask_max(10, batches[i], 9, 5), 0);
	}
}

/* --- Word by word --------------------------------------------------------- */

static __int128 rule_3(__int128 high, __int128 low, __int128 remaining)
{
	return remaining < low ? high - remaining : 0;
}

static __int128 rule_4(__int128 max, __int128 batch, __int128 remaining,
		       __int128 flying)
{
	__int128 b = batch < max ? batch : max;

	if (remaining + flying <= max - b) {
		__int128 room = max - remaining - flying;

		return room > 0 ? room : 0;
	}
	return 0;
}

static void watermark_is_the_rule_for_all_small_arguments(void **state)
{
	for (int64_t high = 1; high <= 24; high++)
		for (int64_t low = 0; low <= high; low++)
			for (int64_t r = 0; r <= high + 3; r++)
				assert_true(ask_watermark(high, low, r) ==
					    rule_3(high, low, r));
}

static void max_in_flight_is_the_rule(const int64_t *values, size_t n)
{
	for (size_t max = 0; max < n; max++)
		for (size_t batch = 0; batch < n; batch++)
			for (size_t r = 0; r < n; r++)
				for (size_t f = 0; f < n; f++)
					assert_true(
						ask_max(values[max],
							values[batch],
							values[r], values[f]) ==
						rule_4(values[max],
						       values[batch], values[r],
						       values[f]));
}

static void max_in_flight_is_the_rule_for_all_small_arguments(void **state)
{
	int64_t values[20];
	size_t n = sizeof(values) / sizeof(values[0]);

	for (size_t i = 0; i < n; i++)
		values[i] = (int64_t)i;
	max_in_flight_is_the_rule(values, n);
}

static const int64_t largest[] = {
	0,
	1,
	2,
	5,
	INT32_MAX,
	(int64_t)INT32_MAX + 1,
	INT64_MAX / 2 - 1,
	INT64_MAX / 2,
	INT64_MAX / 2 + 1,
	INT64_MAX - 2,
	INT64_MAX - 1,
	INT64_MAX,
};
enum { N_LARGEST = sizeof(largest) / sizeof(largest[0]) };

static void a1_8_saturates_at_the_largest_numbers(void **state)
{
	max_in_flight_is_the_rule(largest, N_LARGEST);
	for (size_t high = 0; high < N_LARGEST; high++)
		for (size_t low = 0; low <= high; low++)
			for (size_t r = 0; r < N_LARGEST; r++)
				assert_true(ask_watermark(largest[high],
							  largest[low],
							  largest[r]) ==
					    rule_3(largest[high], largest[low],
						   largest[r]));
}

static void what_is_below_0_counts_as_0(void **state)
{
	static const int64_t below[] = {-1, -INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		assert_int_equal(weir_demand_zero(below[i], NULL), 0);
		assert_int_equal(weir_demand_one_by_one(below[i], NULL), 1);
		assert_int_equal(ask_watermark(10, 5, below[i]), 10);
		assert_int_equal(ask_max(10, 5, below[i], 5), 5);
		assert_int_equal(ask_max(10, 5, 5, below[i]), 5);
		assert_int_equal(ask_max(INT64_MAX, 5, below[i], below[i]),
				 INT64_MAX);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a1_1_zero_never_requests),
		cmocka_unit_test(
			a1_2_one_by_one_requests_one_when_none_remains),
		cmocka_unit_test(
			a1_3_watermark_requests_up_to_high_when_below_low),
		cmocka_unit_test(
			a1_3_watermark_low_is_half_of_high_and_at_least_1),
		cmocka_unit_test(a1_3_watermark_refuses_bad_settings),
		cmocka_unit_test(a1_4_batch_is_5_by_default),
		cmocka_unit_test(a1_4_max_in_flight_refuses_bad_settings),
		cmocka_unit_test(a1_5_max_10_batch_1),
		cmocka_unit_test(a1_6_max_10_batch_3),
		cmocka_unit_test(a1_7_batch_above_max),
		cmocka_unit_test(a1_8_more_in_flight_than_max_requests_nothing),
		cmocka_unit_test(a1_8_saturates_at_the_largest_numbers),
		cmocka_unit_test(a1_9_max_of_0_requests_nothing),
		cmocka_unit_test(
			a1_9_batch_below_1_requests_whenever_there_is_room),
		cmocka_unit_test(watermark_is_the_rule_for_all_small_arguments),
		cmocka_unit_test(
			max_in_flight_is_the_rule_for_all_small_arguments),
		cmocka_unit_test(what_is_below_0_counts_as_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
