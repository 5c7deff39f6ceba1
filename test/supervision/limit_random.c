/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of restarts: long random histories against the sources' own ways to
 * count, which keep all there ever was.
 */
#include "supervision/limit_kit.h"

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t bound)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % bound;
}

enum { HISTORY = 600 };

/* Restarts so far, by what the sources keep of them. */
struct model {
	uint64_t times[HISTORY]; /* all there were; Erlang's and Phluxor's */
	size_t n;
	int64_t count; /* Akka's two */
	uint64_t start;
};

/* Akka's `requestRestartPermission`, which counts refused ones, too. */
static bool akka(struct model *model, const struct weir_limit *limit,
		 uint64_t now)
{
	bool windowed = limit->within_ns != WEIR_FOREVER;
	int64_t max = limit->max;

	if (max == 0)
		return false;
	if (max < 0 && !windowed)
		return true;
	if (max < 0)
		max = 1;
	if (model->count == 0)
		model->start = now;
	if (windowed && now - model->start > limit->within_ns) {
		model->start = now;
		model->count = 1;
		return true;
	}
	return ++model->count <= max;
}

/* The times of all failures; those inside the window are looked for. */
static bool phluxor(struct model *model, const struct weir_limit *limit,
		    uint64_t now)
{
	int64_t inside = 0;

	if (limit->max < 0)
		return true;
	if (limit->max == 0)
		return false;
	model->times[model->n++] = now;
	for (size_t i = 0; i < model->n; i++)
		inside += limit->within_ns == 0 ||
			  now - model->times[i] < limit->within_ns;
	if (inside <= limit->max)
		return true;
	model->n = 0;
	return false;
}

/* As the last, inclusive; the one that is refused leaves no trace. */
static bool erlang(struct model *model, const struct weir_limit *limit,
		   uint64_t now)
{
	int64_t inside = 1;

	if (limit->max < 0)
		return true;
	for (size_t i = 0; i < model->n; i++)
		inside += limit->within_ns == 0 ||
			  now - model->times[i] <= limit->within_ns;
	if (inside > limit->max)
		return false;
	model->times[model->n++] = now;
	return true;
}

static bool modelled(struct model *model, const struct weir_limit *limit,
		     uint64_t now)
{
	switch (limit->window) {
	case WEIR_WINDOW_TUMBLING:
		return akka(model, limit, now);
	case WEIR_WINDOW_SLIDING_STRICT:
		return phluxor(model, limit, now);
	default:
		return erlang(model, limit, now);
	}
}

static struct weir_limit random_limit(void)
{
	static const int32_t max[] = {-1, 0,  1,  2,  3,     4,	       5,
				      8,  13, 40, 99, 65536, INT32_MIN};
	static const uint64_t within[] = {
		0, 1, 2, 10, 50, 300, 5000, UINT64_MAX - 1, WEIR_FOREVER};

	return (struct weir_limit){
		max[random_below(sizeof(max) / sizeof(max[0]))],
		windows[random_below(N_WINDOWS)],
		within[random_below(sizeof(within) / sizeof(within[0]))],
	};
}

/* Between one failure and the next; mostly short, 0 among them. */
static uint64_t random_gap(uint64_t left)
{
	uint64_t gap = random_below(UINT64_C(1) << random_below(9));

	if (random_below(100) == 0)
		gap = random_below(20000);
	return gap < left ? gap : left;
}

/* One history; some questions are never followed by a restart, some fail. */
static void live(struct model *model)
{
	struct weir_limit limit = random_limit();
	uint64_t now = random_below(2) ? random_below(100)
				       : UINT64_MAX - random_below(10000);

	for (int i = 0; i < HISTORY; i++) {
		now += random_gap(UINT64_MAX - now);
		if (random_below(8) == 0) {
			heap.fail = heap.calls + random_below(2);
			if (ask(&limit, now) == 0)
				assert_false(modelled(model, &limit, now));
			heap.fail = 0;
		} else {
			assert_int_equal(restarts(&limit, now),
					 modelled(model, &limit, now));
		}
	}
}

static void b6_d1_1_random_histories_agree_with_the_sources(void **state)
{
	for_each_seed(seed, test_count(5000)) {
		struct model model = {0};

		random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
		let_go();
		live(&model);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(b6_d1_1_random_histories_agree_with_the_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
