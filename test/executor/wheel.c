/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include "executor/wheel.h"

static uint64_t random_state = 1;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct weir__wheel wheel;

/* The formulas in wheel.h, and what holds for lists; how many are armed. */
static size_t check(void)
{
	size_t armed = 0;
	uint32_t i;

	for (i = 0; i < WEIR__WHEEL_SLOTS; i++) {
		struct weir__wheel_slot *slot = &wheel.slots[i];
		struct weir_timer **link = &slot->head, *timer;
		uint32_t level = i / 64, digit = i % 64;

		for (; (timer = *link); link = &timer->next, armed++) {
			assert_ptr_equal(timer->link, link);
			assert_int_equal(timer->slot, i);
			assert_true(slot->earliest_ns <= timer->at_ns ||
				    i >= WEIR__WHEEL_PAST);
			if (i >= WEIR__WHEEL_PAST) {
				assert_true(timer->at_ns <= wheel.now_ns);
				continue;
			}
			assert_true(timer->at_ns > wheel.now_ns);
			assert_int_equal(timer->at_ns >> (6 * level) & 63,
					 digit);
			if (level < 10)
				assert_int_equal(
					timer->at_ns >> (6 * (level + 1)),
					wheel.now_ns >> (6 * (level + 1)));
		}
		if (slot->head)
			assert_ptr_equal(slot->tail, link);
		if (i < WEIR__WHEEL_PAST)
			assert_int_equal(wheel.pending[level] >> digit & 1,
					 slot->head != NULL);
	}
	return armed;
}

static void empty_wheel_has_no_next_time(void **state)
{
	weir__wheel_init(&wheel, 5);
	assert_true(weir__wheel_next(&wheel) == WEIR_FOREVER);
	weir__wheel_expire(&wheel, UINT64_MAX - 1);
	assert_null(weir__wheel_take(&wheel));
	assert_int_equal(check(), 0);
}

static void timer_is_due_at_its_time_and_not_before(void **state)
{
	static const uint64_t times[] = {
		1,	    63,		64,	    65,
		4095,	    4096,	1000000,    1000000000,
		1ull << 36, 1ull << 59, 1ull << 60, UINT64_MAX - 1,
	};
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct weir_timer timer = {0};

		weir__wheel_init(&wheel, 0);
		weir__wheel_arm(&wheel, &timer, times[i]);
		assert_true(weir__wheel_next(&wheel) == times[i]);
		weir__wheel_expire(&wheel, times[i] - 1);
		assert_null(weir__wheel_take(&wheel));
		assert_int_equal(check(), 1);
		assert_true(weir__wheel_next(&wheel) == times[i]);
		weir__wheel_expire(&wheel, times[i]);
		assert_ptr_equal(weir__wheel_take(&wheel), &timer);
		assert_null(timer.link);
		assert_int_equal(check(), 0);
	}
}

static void forever_is_never_due(void **state)
{
	struct weir_timer timer = {0};

	weir__wheel_init(&wheel, 7);
	weir__wheel_arm(&wheel, &timer, WEIR_FOREVER);
	assert_true(weir__wheel_next(&wheel) == WEIR_FOREVER);
	weir__wheel_expire(&wheel, WEIR_FOREVER - 1);
	assert_null(weir__wheel_take(&wheel));
	assert_true(weir__wheel_cancel(&wheel, &timer));
}

static void time_past_is_due_at_once(void **state)
{
	struct weir_timer before = {0}, exactly = {0};

	weir__wheel_init(&wheel, 100);
	weir__wheel_arm(&wheel, &exactly, 100);
	weir__wheel_arm(&wheel, &before, 3);
	assert_true(weir__wheel_next(&wheel) <= 100);
	assert_null(weir__wheel_take(&wheel));
	weir__wheel_expire(&wheel, 100);
	assert_ptr_equal(weir__wheel_take(&wheel), &exactly);
	assert_ptr_equal(weir__wheel_take(&wheel), &before);
}

static void armed_while_taking_waits_for_the_next_round(void **state)
{
	struct weir_timer timer = {0};

	weir__wheel_init(&wheel, 0);
	weir__wheel_arm(&wheel, &timer, 5);
	weir__wheel_expire(&wheel, 10);
	assert_ptr_equal(weir__wheel_take(&wheel), &timer);
	weir__wheel_arm(&wheel, &timer, 6);
	assert_null(weir__wheel_take(&wheel));
	weir__wheel_expire(&wheel, 10);
	assert_ptr_equal(weir__wheel_take(&wheel), &timer);
}

static void equal_times_are_due_in_order_of_arming(void **state)
{
	enum { N = 64 };
	struct weir_timer timers[N] = {0};
	const uint64_t at_ns = 123456789;
	uint64_t now_ns = 0;
	int i;

	weir__wheel_init(&wheel, 0);
	/* Armed from further and further away, so on all levels below. */
	for (i = 0; i < N; i++) {
		weir__wheel_arm(&wheel, &timers[i], at_ns);
		now_ns += (at_ns - now_ns) / 2;
		weir__wheel_expire(&wheel, now_ns);
		assert_null(weir__wheel_take(&wheel));
		assert_int_equal(check(), i + 1);
	}
	weir__wheel_expire(&wheel, at_ns + 1000);
	for (i = 0; i < N; i++)
		assert_ptr_equal(weir__wheel_take(&wheel), &timers[i]);
}

static void arming_again_moves_it_behind_its_equals(void **state)
{
	struct weir_timer a = {0}, b = {0};

	weir__wheel_init(&wheel, 0);
	weir__wheel_arm(&wheel, &a, 50);
	weir__wheel_arm(&wheel, &b, 5000);
	weir__wheel_arm(&wheel, &a, 5000);
	assert_int_equal(check(), 2);
	weir__wheel_expire(&wheel, 4999);
	assert_null(weir__wheel_take(&wheel));
	weir__wheel_expire(&wheel, 5000);
	assert_ptr_equal(weir__wheel_take(&wheel), &b);
	assert_ptr_equal(weir__wheel_take(&wheel), &a);
}

static void cancelled_timer_is_not_due(void **state)
{
	struct weir_timer a = {0}, b = {0}, c = {0};

	weir__wheel_init(&wheel, 0);
	assert_false(weir__wheel_cancel(&wheel, &a));
	weir__wheel_arm(&wheel, &a, 5000);
	weir__wheel_arm(&wheel, &b, 5000);
	weir__wheel_arm(&wheel, &c, 5000);
	assert_true(weir__wheel_cancel(&wheel, &c));
	assert_false(weir__wheel_cancel(&wheel, &c));
	weir__wheel_expire(&wheel, 6000);
	/* Also one that is due but not taken. */
	assert_true(weir__wheel_cancel(&wheel, &a));
	assert_ptr_equal(weir__wheel_take(&wheel), &b);
	assert_false(weir__wheel_cancel(&wheel, &b));
	assert_null(weir__wheel_take(&wheel));
}

static void next_time_is_a_lower_bound_after_a_cancel(void **state)
{
	struct weir_timer a = {0}, b = {0};

	weir__wheel_init(&wheel, 0);
	weir__wheel_arm(&wheel, &a, 4096 + 1);
	weir__wheel_arm(&wheel, &b, 4096 + 4000);
	weir__wheel_cancel(&wheel, &a);
	assert_true(weir__wheel_next(&wheel) <= 4096 + 4000);
	weir__wheel_expire(&wheel, weir__wheel_next(&wheel));
	assert_null(weir__wheel_take(&wheel));
	assert_int_equal(check(), 1);
	assert_true(weir__wheel_next(&wheel) == 4096 + 4000);
}

/* What the wheel should do, as an array. */
struct reference {
	struct weir_timer timer;
	uint64_t at_ns, armed; /* 0: not armed; else when, in order of arming */
};

static struct reference *earliest(struct reference *all, size_t n,
				  uint64_t now_ns)
{
	struct reference *best = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!all[i].armed || all[i].at_ns > now_ns)
			continue;
		if (!best || all[i].at_ns < best->at_ns ||
		    (all[i].at_ns == best->at_ns && all[i].armed < best->armed))
			best = &all[i];
	}
	return best;
}

static uint64_t random_delta(void)
{
	return random_next() >> (4 + random_next() % 60);
}

static void wheel_does_what_a_sorted_list_would(void **state)
{
	enum { N = 50 };
	static struct reference all[N];
	uint64_t now_ns = 1000, order = 0, rounds = test_count(20000);
	struct weir_timer *timer;
	size_t armed = 0;

	weir__wheel_init(&wheel, now_ns);
	while (rounds--) {
		struct reference *one = &all[random_next() % N];
		struct reference *best;

		switch (random_next() % 4) {
		case 0:
			assert_int_equal(weir__wheel_cancel(&wheel,
							    &one->timer),
					 one->armed != 0);
			armed -= one->armed != 0;
			one->armed = 0;
			break;
		case 1:
			now_ns += random_delta() >> 20;
			if (random_next() % 2 &&
			    weir__wheel_next(&wheel) != WEIR_FOREVER)
				now_ns = weir__wheel_next(&wheel);
			weir__wheel_expire(&wheel, now_ns);
			while ((best = earliest(all, N, now_ns))) {
				assert_ptr_equal(weir__wheel_take(&wheel),
						 &best->timer);
				best->armed = 0;
				armed--;
			}
			timer = weir__wheel_take(&wheel);
			assert_null(timer);
			break;
		default:
			one->at_ns = now_ns + 1 + (random_delta() >> 8);
			armed += one->armed == 0;
			one->armed = ++order;
			weir__wheel_arm(&wheel, &one->timer, one->at_ns);
		}
		assert_int_equal(check(), armed);
	}
}

static void a_million_timers_are_due_in_order_of_time(void **state)
{
	const size_t n = test_count(1000000);
	struct weir_timer *timers = calloc(n, sizeof(*timers)), *timer;
	uint64_t last_ns = 0;
	size_t i, taken = 0;

	assert_non_null(timers);
	weir__wheel_init(&wheel, 0);
	for (i = 0; i < n; i++)
		weir__wheel_arm(&wheel, &timers[i],
				1 + random_next() % 3600000000000u);
	for (i = 0; i < n; i += 2)
		assert_true(weir__wheel_cancel(&wheel, &timers[i]));
	while (weir__wheel_next(&wheel) != WEIR_FOREVER) {
		weir__wheel_expire(&wheel, weir__wheel_next(&wheel));
		while ((timer = weir__wheel_take(&wheel))) {
			assert_true(timer->at_ns >= last_ns);
			assert_true(timer->at_ns == wheel.now_ns);
			last_ns = timer->at_ns;
			taken++;
		}
	}
	assert_int_equal(taken, n / 2);
	free(timers);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_wheel_has_no_next_time),
		cmocka_unit_test(timer_is_due_at_its_time_and_not_before),
		cmocka_unit_test(forever_is_never_due),
		cmocka_unit_test(time_past_is_due_at_once),
		cmocka_unit_test(armed_while_taking_waits_for_the_next_round),
		cmocka_unit_test(equal_times_are_due_in_order_of_arming),
		cmocka_unit_test(arming_again_moves_it_behind_its_equals),
		cmocka_unit_test(cancelled_timer_is_not_due),
		cmocka_unit_test(next_time_is_a_lower_bound_after_a_cancel),
		cmocka_unit_test(wheel_does_what_a_sorted_list_would),
		cmocka_unit_test(a_million_timers_are_due_in_order_of_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
