/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demand, by one thread, against the same in wider numbers: for all pairs of
 * numbers near 0, near the least and the largest ones and near powers of two,
 * and for all short histories of requests and uses.
 */
#include "support.h"

#include "base/demand.h"

enum { NEAR = 40, N_NUMBERS_MAX = 2000 };

static int64_t numbers[N_NUMBERS_MAX];
static size_t n_numbers;

static void add_near(__int128 number, int near)
{
	for (int i = -near; i <= near; i++) {
		if (number + i > INT64_MAX || number + i < -INT64_MAX)
			continue;
		assert(n_numbers < N_NUMBERS_MAX);
		numbers[n_numbers++] = (int64_t)(number + i);
	}
}

/* The least number is left out, for nobody can owe that: it has no opposite. */
static int find_numbers(void **state)
{
	add_near(0, NEAR);
	add_near(INT64_MAX, NEAR);
	add_near(-INT64_MAX, NEAR);
	for (int bit = 7; bit < 63; bit++) {
		add_near((__int128)1 << bit, 2);
		add_near(-((__int128)1 << bit), 2);
	}
	return 0;
}

/* From there on there is no bound. */
static int64_t at_most_unbounded(__int128 n)
{
	return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

static void a_sum_is_exact_or_unbounded(void **state)
{
	for (size_t i = 0; i < n_numbers; i++)
		for (size_t j = 0; j < n_numbers; j++) {
			int64_t a = numbers[i], b = numbers[j];

			if (b <= 0)
				continue;
			assert_true(weir__demand_sum(a, b) ==
				    at_most_unbounded((__int128)a + b));
		}
}

static void spec_3_08_a_request_adds_to_the_demand(void **state)
{
	for (size_t i = 0; i < n_numbers; i++)
		for (size_t j = 0; j < n_numbers; j++) {
			int64_t granted = numbers[i], n = numbers[j];

			if (granted < 0 || n <= 0)
				continue;
			weir__demand_add(&granted, n);
			assert_true(
				granted ==
				at_most_unbounded((__int128)numbers[i] + n));
		}
}

/* Used is below 0 where there was some to begin with, above granted in debt. */
static void what_is_left_is_the_difference(void **state)
{
	for (size_t i = 0; i < n_numbers; i++)
		for (size_t j = 0; j < n_numbers; j++) {
			int64_t granted = numbers[i], used = numbers[j];
			__int128 left = (__int128)granted - used;

			if (granted < 0 || granted == INT64_MAX)
				continue;
			assert_true(weir__demand_left(&granted, used) ==
				    at_most_unbounded(left));
		}
}

static void spec_3_17_unbounded_is_never_used_up(void **state)
{
	for (size_t i = 0; i < n_numbers; i++) {
		int64_t granted = INT64_MAX;

		assert_true(weir__demand_left(&granted, numbers[i]) ==
			    INT64_MAX);
		if (numbers[i] <= 0)
			continue;
		weir__demand_add(&granted, numbers[i]);
		assert_true(granted == INT64_MAX);
	}
}

static void spec_3_17_one_less_is_bounded(void **state)
{
	int64_t granted = 0;

	weir__demand_add(&granted, INT64_MAX - 1);
	assert_true(weir__demand_left(&granted, 0) == INT64_MAX - 1);
	assert_true(weir__demand_left(&granted, 5) == INT64_MAX - 6);
	assert_true(weir__demand_left(&granted, INT64_MAX - 1) == 0);
	weir__demand_add(&granted, 1);
	assert_true(weir__demand_left(&granted, INT64_MAX - 1) == INT64_MAX);
}

/* --- All short histories -------------------------------------------------- */

struct history {
	int64_t granted, used;
	__int128 all; /* requested so far, without any bound */
};

static const int64_t requests[] = {
	1, 2, 3, INT64_MAX / 2, INT64_MAX / 2 + 1, INT64_MAX - 1, INT64_MAX,
};
enum { N_REQUESTS = sizeof(requests) / sizeof(requests[0]) };

static void check(const struct history *h)
{
	int64_t left = weir__demand_left(&h->granted, h->used);

	if (h->all >= INT64_MAX)
		assert_true(left == INT64_MAX);
	else
		assert_true(left == h->all - h->used);
}

/* Goes on in all ways: with each request, and with a use if there is demand. */
static void go_on(struct history h, int steps)
{
	check(&h);
	if (steps == 0)
		return;
	for (size_t i = 0; i < N_REQUESTS; i++) {
		struct history next = h;

		weir__demand_add(&next.granted, requests[i]);
		next.all += requests[i];
		go_on(next, steps - 1);
	}
	if (weir__demand_left(&h.granted, h.used) > 0) {
		h.used++;
		go_on(h, steps - 1);
	}
}

static void spec_3_08_every_short_history_adds_up(void **state)
{
	go_on((struct history){0}, 6);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_is_exact_or_unbounded),
		cmocka_unit_test(spec_3_08_a_request_adds_to_the_demand),
		cmocka_unit_test(what_is_left_is_the_difference),
		cmocka_unit_test(spec_3_17_unbounded_is_never_used_up),
		cmocka_unit_test(spec_3_17_one_less_is_bounded),
		cmocka_unit_test(spec_3_08_every_short_history_adds_up),
	};

	return cmocka_run_group_tests(tests, find_numbers, NULL);
}
