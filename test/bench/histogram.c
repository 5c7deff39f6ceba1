/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "histogram.h"

static void small_values_are_exact(void **state)
{
	struct histogram histogram = {0};
	uint64_t i;

	for (i = 0; i < 128; i++)
		histogram_add(&histogram, i);
	for (i = 0; i < 128; i++)
		assert_true(histogram_percentile(&histogram,
						 (double)(i + 1) / 128) ==
			    (double)i);
}

static void no_value_is_off_by_a_hundredth(void **state)
{
	uint64_t value;

	for (value = 1; value < UINT64_MAX / 3; value += value / 3 + 1) {
		struct histogram histogram = {0};
		double read;

		histogram_add(&histogram, value);
		read = histogram_percentile(&histogram, 0.5);
		assert_true(read >= (double)value * 0.99);
		assert_true(read <= (double)value * 1.01);
	}
}

static void the_largest_value_has_a_bucket(void **state)
{
	assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static void percentiles_are_where_the_values_are(void **state)
{
	struct histogram histogram = {0};
	uint64_t i;

	for (i = 0; i < 990; i++)
		histogram_add(&histogram, 10);
	for (i = 0; i < 10; i++)
		histogram_add(&histogram, 20);
	assert_true(histogram_percentile(&histogram, 0.5) == 10);
	assert_true(histogram_percentile(&histogram, 0.99) == 10);
	assert_true(histogram_percentile(&histogram, 0.999) == 20);
	assert_true(histogram_percentile(&histogram, 1) == 20);
}

static void nothing_counted_is_0(void **state)
{
	struct histogram histogram = {0};

	assert_true(histogram_percentile(&histogram, 0.5) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(no_value_is_off_by_a_hundredth),
		cmocka_unit_test(the_largest_value_has_a_bucket),
		cmocka_unit_test(percentiles_are_where_the_values_are),
		cmocka_unit_test(nothing_counted_is_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
