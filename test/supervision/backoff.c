/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Back-off: the delays of both laws, and how restarts are counted, against
 * models that keep every failure and restart there was.
 */
#include "support.h"

#include "supervision/backoff.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define DAY (24 * 60 * MINUTE)

/* Of the jitter: none, and all there can be. */
#define LEAST UINT64_C(0)
#define MOST UINT64_MAX

static struct weir_backoff exponential(uint64_t min_ns, uint64_t max_ns,
				       double random_factor)
{
	return (struct weir_backoff){
		.law = WEIR_BACKOFF_EXPONENTIAL,
		.min_ns = min_ns,
		.max_ns = max_ns,
		.random_factor = random_factor,
	};
}

static struct weir_backoff linear(uint64_t initial_ns, uint64_t window_ns)
{
	return (struct weir_backoff){
		.law = WEIR_BACKOFF_LINEAR,
		.min_ns = initial_ns,
		.reset_ns = window_ns,
	};
}

/* --- Delays --------------------------------------------------------------- */

static void b8_2_vectors_without_jitter(void **state)
{
	static const struct {
		uint32_t k;
		uint64_t min_ns, max_ns, delay_ns;
	} vectors[] = {
		{0, 5 * MINUTE, 7 * MINUTE, 5 * MINUTE},
		{2, 5 * SECOND, 7 * SECOND, 7 * SECOND},
		{2, 5 * SECOND, 7 * DAY, 20 * SECOND},
		{29, 5 * MINUTE, 10 * MINUTE, 10 * MINUTE},
		{INT32_MAX, 10000 * DAY, 10000 * DAY, 10000 * DAY},
		{0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct weir_backoff backoff =
			exponential(vectors[i].min_ns, vectors[i].max_ns, 0);

		assert_true(weir_backoff_delay(&backoff, vectors[i].k, LEAST) ==
			    vectors[i].delay_ns);
		assert_true(weir_backoff_delay(&backoff, vectors[i].k, MOST) ==
			    vectors[i].delay_ns);
	}
}

static void b8_2_vectors_of_the_source_text(void **state)
{
	static const uint64_t seconds[] = {3, 6, 12, 24, 30, 30, 30};
	struct weir_backoff backoff = exponential(3 * SECOND, 30 * SECOND, 0.2);

	for (uint32_t k = 0; k < 7; k++) {
		uint64_t base_ns = seconds[k] * SECOND;

		assert_true(weir_backoff_delay(&backoff, k, LEAST) == base_ns);
		assert_true(weir_backoff_delay(&backoff, k, MOST) ==
			    base_ns + base_ns / 5 - 1);
		assert_true(weir_backoff_delay(&backoff, k, MOST / 2 + 1) ==
			    base_ns + base_ns / 10);
	}
}

static void b8_1_jitter_comes_after_the_cap(void **state)
{
	struct weir_backoff backoff = exponential(SECOND, 4 * SECOND, 1);

	assert_true(weir_backoff_delay(&backoff, 9, MOST) == 8 * SECOND - 1);
}

static void b8_1_what_overflows_is_the_maximum(void **state)
{
	struct weir_backoff backoff = exponential(1, UINT64_MAX / 2, 0);

	assert_true(weir_backoff_delay(&backoff, 62, 0) == UINT64_C(1) << 62);
	for (uint32_t k = 63; k < 300; k++)
		assert_true(weir_backoff_delay(&backoff, k, 0) ==
			    UINT64_MAX / 2);
	assert_true(weir_backoff_delay(&backoff, UINT32_MAX, 0) ==
		    UINT64_MAX / 2);
	backoff.max_ns = WEIR_FOREVER;
	assert_true(weir_backoff_delay(&backoff, 63, 0) == UINT64_C(1) << 63);
}

static void a_delay_is_never_for_ever(void **state)
{
	struct weir_backoff backoff = exponential(3, WEIR_FOREVER, 0);

	assert_true(weir_backoff_delay(&backoff, 64, 0) == WEIR_FOREVER - 1);
	backoff = exponential(WEIR_FOREVER / 2 + 1, WEIR_FOREVER, 1);
	assert_true(weir_backoff_delay(&backoff, 0, MOST) == WEIR_FOREVER - 1);
	backoff = linear(WEIR_FOREVER, 0);
	assert_true(weir_backoff_delay(&backoff, 0, 0) == WEIR_FOREVER - 1);
	backoff.min_ns = WEIR_FOREVER / 2 + 1;
	assert_true(weir_backoff_delay(&backoff, 1, 0) == WEIR_FOREVER - 1);
	backoff.min_ns = WEIR_FOREVER - 500 * MS;
	assert_true(weir_backoff_delay(&backoff, 0, MOST) == WEIR_FOREVER - 1);
}

static void no_back_off_is_no_delay(void **state)
{
	assert_true(weir_backoff_delay(NULL, 3, MOST) == 0);
}

static void b9_1_the_linear_law_has_no_cap(void **state)
{
	struct weir_backoff backoff = linear(2 * SECOND, 0);

	backoff.max_ns = 3 * SECOND; /* not looked at, as the factor */
	backoff.random_factor = 1;
	for (uint32_t k = 0; k < 1000; k++)
		assert_true(weir_backoff_delay(&backoff, k, LEAST) ==
			    (k + 1) * 2 * SECOND);
	assert_true(weir_backoff_delay(&backoff, UINT32_MAX, LEAST) ==
		    (UINT64_C(1) << 32) * 2 * SECOND);
}

static void b9_1_linear_jitter_is_0_to_500_whole_ms(void **state)
{
	struct weir_backoff backoff = linear(SECOND, 0);
	uint64_t previous_ns = 0;
	size_t n = 0;

	/* From all parts of the range, so each of the 501 comes. */
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t random = UINT64_MAX / 9999 * i;
		uint64_t delay_ns = weir_backoff_delay(&backoff, 0, random);

		assert_int_equal(delay_ns % MS, 0);
		assert_in_range(delay_ns, SECOND, SECOND + 500 * MS);
		n += delay_ns != previous_ns;
		previous_ns = delay_ns;
	}
	assert_int_equal(n, 501);
}

static uint64_t random_state = 1;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void random_begin(uint64_t seed)
{
	random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
}

/* Of any magnitude. */
static uint64_t random_any(void)
{
	return random_next() >> random_next() % 64;
}

static __int128 cap(const struct weir_backoff *backoff, uint32_t k)
{
	__int128 delay = backoff->min_ns;

	while (k-- > 0 && delay < backoff->max_ns)
		delay *= 2;
	return delay < backoff->max_ns ? delay : backoff->max_ns;
}

static __int128 bounded(__int128 delay)
{
	return delay < WEIR_FOREVER ? delay : WEIR_FOREVER - 1;
}

static void compare_delays(void)
{
	uint64_t min_ns = random_any() | 1, max_ns = random_any();
	uint64_t random = random_next();
	uint32_t k = (uint32_t)(random_any() >> 32);
	double factor = (double)(random_next() % 1025) / 1024;
	struct weir_backoff backoff =
		exponential(min_ns, max_ns < min_ns ? min_ns : max_ns, 0);
	__int128 base = cap(&backoff, k), delay, ideal, least, most;

	assert_true(weir_backoff_delay(&backoff, k, random) == bounded(base));
	backoff.random_factor = 1;
	assert_true(
		weir_backoff_delay(&backoff, k, random) ==
		bounded(base +
			(__int128)(((unsigned __int128)base * random) >> 64)));
	backoff.random_factor = factor;
	delay = weir_backoff_delay(&backoff, k, random);
	ideal = base + (__int128)((long double)base * factor *
				  ((long double)random / 0x1p64L));
	least = ideal - (base >> 52) - 2;
	most = ideal + (base >> 52) + 2;
	assert_true(delay >= bounded(base) && delay >= bounded(least));
	assert_true(delay <= bounded(most));
}

static void b8_1_delays_agree_with_wider_numbers(void **state)
{
	for_each_seed(seed, test_count(300000)) {
		random_begin(seed);
		compare_delays();
	}
}

/* --- Counting: exponential ------------------------------------------------ */

struct life {
	struct weir_backoff backoff;
	uint32_t count;
	uint64_t last_ns, now_ns;
};

/* Fails now; the restart is when the delay is over. Returns the delay. */
static uint64_t failure(struct life *life, uint64_t random)
{
	uint64_t delay_ns = weir__backoff_next(&life->backoff, &life->count,
					       &life->last_ns, life->now_ns,
					       random);

	life->now_ns += delay_ns;
	weir__backoff_restarted(&life->backoff, &life->last_ns, life->now_ns);
	return delay_ns;
}

static void e2_delays_double_up_to_the_maximum(void **state)
{
	static const uint64_t seconds[] = {3, 6, 12, 24, 30, 30, 30};
	struct life life = {exponential(3 * SECOND, 30 * SECOND, 0)};

	for (int i = 0; i < 7; i++)
		assert_true(failure(&life, MOST) == seconds[i] * SECOND);
	assert_int_equal(life.count, 7);
}

static void e2_the_count_is_0_so_long_after_a_restart(void **state)
{
	struct life life = {exponential(SECOND, 60 * SECOND, 0)};

	life.backoff.reset_ns = 10 * SECOND;
	failure(&life, 0);
	failure(&life, 0);
	life.now_ns += 10 * SECOND - 1;
	assert_true(failure(&life, 0) == 4 * SECOND);
	life.now_ns += 10 * SECOND;
	assert_true(failure(&life, 0) == SECOND);
	assert_true(failure(&life, 0) == 2 * SECOND);
}

static void e10_reset_is_the_minimum_by_default(void **state)
{
	struct life life = {exponential(3 * SECOND, 60 * SECOND, 0)};

	failure(&life, 0);
	life.now_ns += 3 * SECOND - 1;
	assert_true(failure(&life, 0) == 6 * SECOND);
	life.now_ns += 3 * SECOND;
	assert_true(failure(&life, 0) == 3 * SECOND);
}

static void b8_8_without_reset_the_count_never_falls(void **state)
{
	struct life life = {exponential(SECOND, 60 * SECOND, 0)};

	life.backoff.reset_ns = WEIR_FOREVER;
	failure(&life, 0);
	life.now_ns = UINT64_MAX - 60 * SECOND;
	assert_true(failure(&life, 0) == 2 * SECOND);
	life.last_ns = 0;
	life.now_ns = UINT64_MAX;
	assert_true(weir__backoff_next(&life.backoff, &life.count,
				       &life.last_ns, life.now_ns,
				       0) == 4 * SECOND);
}

/* The delay may be longer than reset_ns: waiting is not living. */
static void e2_time_is_measured_from_the_restart(void **state)
{
	struct life life = {exponential(SECOND, 600 * SECOND, 0)};
	uint64_t delay_ns = SECOND;

	for (int i = 0; i < 9; i++, delay_ns *= 2)
		assert_true(failure(&life, 0) == delay_ns);
}

static void e2_a_restart_can_be_later_than_it_was_due(void **state)
{
	struct life life = {exponential(SECOND, 600 * SECOND, 0)};

	failure(&life, 0);
	life.now_ns += 100 * SECOND; /* its children took their time */
	weir__backoff_restarted(&life.backoff, &life.last_ns, life.now_ns);
	assert_true(failure(&life, 0) == 2 * SECOND);
}

static void a_failure_before_the_restart_is_due_counts(void **state)
{
	struct life life = {exponential(SECOND, 600 * SECOND, 0)};

	for (uint64_t i = 0; i < 5; i++)
		assert_true(weir__backoff_next(&life.backoff, &life.count,
					       &life.last_ns, 7,
					       0) == SECOND << i);
}

static void counts_and_times_stop_at_their_ends(void **state)
{
	struct life life = {exponential(SECOND, 5 * SECOND, 0)};

	life.count = UINT32_MAX;
	life.last_ns = life.now_ns = UINT64_MAX - 1;
	assert_true(weir__backoff_next(&life.backoff, &life.count,
				       &life.last_ns, life.now_ns,
				       0) == 5 * SECOND);
	assert_true(life.count == UINT32_MAX);
	assert_true(life.last_ns == WEIR_FOREVER);

	life.backoff = linear(1, 0);
	assert_true(weir__backoff_next(&life.backoff, &life.count,
				       &life.last_ns, life.now_ns,
				       0) == UINT64_C(1) << 32);
	assert_true(life.count == UINT32_MAX);
}

/* --- Counting: linear ----------------------------------------------------- */

static void b9_2_counts_the_whole_record(void **state)
{
	for (uint64_t age = 9; age <= 11; age++) {
		struct life life = {linear(SECOND, 10 * SECOND)};
		uint64_t count = age < 10 ? 11 : 1;

		life.now_ns = 100 * SECOND;
		for (int i = 0; i < 10; i++)
			weir__backoff_next(&life.backoff, &life.count,
					   &life.last_ns, life.now_ns, 0);
		life.now_ns += age * SECOND;
		assert_true(failure(&life, 0) == count * SECOND);
		assert_int_equal(life.count, count);
	}
}

static void b9_2_one_inside_keeps_those_outside(void **state)
{
	struct life life = {linear(SECOND, 10 * SECOND)};

	for (uint32_t i = 1; i <= 100; i++) {
		weir__backoff_next(&life.backoff, &life.count, &life.last_ns,
				   i * 9 * SECOND, 0);
		assert_int_equal(life.count, i);
	}
}

static void b9_4_a_delay_as_long_as_the_window_clears_the_record(void **state)
{
	static const uint64_t jitters[] = {LEAST, MOST / 2, MOST};

	for (int j = 0; j < 3; j++) {
		struct life life = {linear(SECOND, 2 * SECOND)};

		for (uint32_t i = 0; i < 20; i++) {
			failure(&life, jitters[j]);
			assert_int_equal(life.count, i % 2 + 1);
		}
	}
}

static void b9_4_a_window_of_10_s_counts_to_10(void **state)
{
	struct life life = {linear(SECOND, 10 * SECOND)};

	for (uint32_t i = 0; i < 100; i++) {
		failure(&life, random_next());
		assert_int_equal(life.count, i % 10 + 1);
	}
}

/* Who lives for a while before it fails gets as far as 9. */
static void b9_4_a_window_of_10_s_counts_to_9(void **state)
{
	struct life life = {linear(SECOND, 10 * SECOND)};

	for (uint32_t i = 0; i < 90; i++) {
		failure(&life, random_next());
		assert_int_equal(life.count, i % 9 + 1);
		life.now_ns += SECOND;
	}
}

static void b9_a_window_of_0_is_never_left(void **state)
{
	struct life life = {linear(SECOND, 0)};

	for (uint32_t i = 1; i < 100; i++) {
		failure(&life, 0);
		assert_int_equal(life.count, i);
		life.now_ns += DAY;
	}
}

/* --- Random lives --------------------------------------------------------- */

enum { LIFE = 200 };

/* Phluxor's own: all times since they were cleared. */
static void live_by_a_record(void)
{
	struct life life = {linear(SECOND, random_next() % 5 * SECOND)};
	uint64_t window_ns = life.backoff.reset_ns;
	uint64_t times[LIFE], n_times = 0;

	for (int i = 0; i < LIFE; i++) {
		bool inside = false;

		life.now_ns += random_next() % 6 * SECOND / 2;
		for (uint64_t t = 0; t < n_times; t++)
			inside |= window_ns == 0 ||
				  life.now_ns - times[t] < window_ns;
		if (!inside)
			n_times = 0;
		times[n_times++] = life.now_ns;
		assert_true(weir__backoff_next(&life.backoff, &life.count,
					       &life.last_ns, life.now_ns,
					       0) == n_times * SECOND);
	}
}

static void b9_random_lives_agree_with_a_full_record(void **state)
{
	for_each_seed(seed, test_count(3000)) {
		random_begin(seed);
		live_by_a_record();
	}
}

/* Akka's own: a timer set at each restart, for the number it has seen. */
static void live_by_a_timer(void)
{
	struct life life = {exponential(4, 40, 0)};
	uint64_t timer_ns = UINT64_MAX;
	uint32_t count = 0, seen = 0;

	life.backoff.reset_ns = 4 + random_next() % 37;
	for (int i = 0; i < LIFE; i++) {
		life.now_ns += random_next() % 50;
		if (timer_ns <= life.now_ns && seen == count)
			count = 0;
		assert_true(failure(&life, 0) ==
			    (count < 4 ? UINT64_C(4) << count : 40));
		count++;
		assert_int_equal(life.count, count);
		if (random_next() % 4 == 0) {
			life.now_ns += random_next() % 50;
			weir__backoff_restarted(&life.backoff, &life.last_ns,
						life.now_ns);
		}
		timer_ns = life.now_ns + life.backoff.reset_ns;
		seen = count;
	}
}

static void b8_8_random_lives_agree_with_a_reset_timer(void **state)
{
	for_each_seed(seed, test_count(3000)) {
		random_begin(seed);
		live_by_a_timer();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(b8_2_vectors_without_jitter),
		cmocka_unit_test(b8_2_vectors_of_the_source_text),
		cmocka_unit_test(b8_1_jitter_comes_after_the_cap),
		cmocka_unit_test(b8_1_what_overflows_is_the_maximum),
		cmocka_unit_test(a_delay_is_never_for_ever),
		cmocka_unit_test(no_back_off_is_no_delay),
		cmocka_unit_test(b9_1_the_linear_law_has_no_cap),
		cmocka_unit_test(b9_1_linear_jitter_is_0_to_500_whole_ms),
		cmocka_unit_test(b8_1_delays_agree_with_wider_numbers),
		cmocka_unit_test(e2_delays_double_up_to_the_maximum),
		cmocka_unit_test(e2_the_count_is_0_so_long_after_a_restart),
		cmocka_unit_test(e10_reset_is_the_minimum_by_default),
		cmocka_unit_test(b8_8_without_reset_the_count_never_falls),
		cmocka_unit_test(e2_time_is_measured_from_the_restart),
		cmocka_unit_test(e2_a_restart_can_be_later_than_it_was_due),
		cmocka_unit_test(a_failure_before_the_restart_is_due_counts),
		cmocka_unit_test(counts_and_times_stop_at_their_ends),
		cmocka_unit_test(b9_2_counts_the_whole_record),
		cmocka_unit_test(b9_2_one_inside_keeps_those_outside),
		cmocka_unit_test(
			b9_4_a_delay_as_long_as_the_window_clears_the_record),
		cmocka_unit_test(b9_4_a_window_of_10_s_counts_to_10),
		cmocka_unit_test(b9_4_a_window_of_10_s_counts_to_9),
		cmocka_unit_test(b9_a_window_of_0_is_never_left),
		cmocka_unit_test(b9_random_lives_agree_with_a_full_record),
		cmocka_unit_test(b8_8_random_lives_agree_with_a_reset_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
