/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several threads request at once and one uses what they requested: none of it
 * is lost, also next to where it becomes unbounded, and what a thread wrote
 * before a request is seen by who sees the request.
 */
#include "support.h"

#include <pthread.h>
#include <sched.h>

#include "base/demand.h"

enum { REQUESTERS = 2, SHIFT = 31, ROUND = 1000 };
#define MASK ((INT64_C(1) << SHIFT) - 1)

struct requester {
	pthread_t thread;
	int64_t *granted;
	int64_t weight; /* of each of its requests */
	uint64_t n;
	uint32_t *written; /* plain: by its number, before the request */
};

static uint32_t running; /* requesters, atomically */

static void *request(void *argument)
{
	struct requester *self = argument;

	for (uint64_t i = 0; i < self->n; i++) {
		if (self->written)
			self->written[i] = (uint32_t)i + 1;
		weir__demand_add(self->granted, self->weight);
	}
	ck_pr_fence_release();
	ck_pr_dec_32(&running);
	return NULL;
}

/* False: there will be no more than what is seen after this. */
static bool more_may_come(void)
{
	bool more = ck_pr_load_32(&running);

	ck_pr_fence_acquire();
	return more;
}

static void start(struct requester *requesters)
{
	running = REQUESTERS;
	for (int i = 0; i < REQUESTERS; i++)
		assert_int_equal(pthread_create(&requesters[i].thread, NULL,
						request, &requesters[i]),
				 0);
}

static void join(struct requester *requesters)
{
	for (int i = 0; i < REQUESTERS; i++)
		assert_int_equal(pthread_join(requesters[i].thread, NULL), 0);
}

static uint64_t read_from(const struct requester *requester, uint64_t seen,
			  uint64_t to)
{
	assert_in_range(to, seen, requester->n);
	for (; seen < to; seen++)
		assert_int_equal(requester->written[seen], seen + 1);
	return seen;
}

/* Each has bits of its own in the sum, so that it says whose it has. */
static void what_came_before_a_request_is_seen(void **state)
{
	uint64_t n = test_count(2000000), seen[REQUESTERS] = {0};
	struct requester requesters[REQUESTERS];
	int64_t granted = 0, now;
	bool more;
	int i;

	for (i = 0; i < REQUESTERS; i++) {
		requesters[i] = (struct requester){
			.granted = &granted,
			.weight = (int64_t)1 << (i * SHIFT),
			.n = n,
			.written = calloc(n, sizeof(uint32_t)),
		};
		assert_non_null(requesters[i].written);
	}
	start(requesters);
	do {
		more = more_may_come();
		now = weir__demand_left(&granted, 0);
		for (i = 0; i < REQUESTERS; i++)
			seen[i] = read_from(&requesters[i], seen[i],
					    now >> (i * SHIFT) & MASK);
	} while (more);
	join(requesters);
	for (i = 0; i < REQUESTERS; i++) {
		assert_int_equal(seen[i], n);
		free(requesters[i].written);
	}
}

static void every_request_can_be_used_once(void **state)
{
	uint64_t n = test_count(2000000);
	int64_t granted = 0, used = 0, left, all = (int64_t)n * (1 + 3);
	bool more;
	struct requester requesters[REQUESTERS] = {
		{.granted = &granted, .weight = 1, .n = n},
		{.granted = &granted, .weight = 3, .n = n},
	};

	start(requesters);
	do {
		more = more_may_come();
		left = weir__demand_left(&granted, used);
		assert_in_range(left, 0, all - used);
		if (left)
			used++;
		else
			sched_yield();
	} while (more || left);
	join(requesters);
	assert_int_equal(used, all);
}

/* What there is when both have requested `n` times, with `missing` to go. */
static int64_t up_to(int64_t missing, uint64_t n)
{
	int64_t granted = INT64_MAX - missing, seen = granted, now;
	struct requester requesters[REQUESTERS] = {
		{.granted = &granted, .weight = 1, .n = n},
		{.granted = &granted, .weight = 1, .n = n},
	};

	start(requesters);
	for (int i = 0; i < ROUND; i++) {
		now = weir__demand_left(&granted, 0);
		assert_true(now >= seen);
		seen = now;
	}
	join(requesters);
	return granted;
}

static void it_becomes_unbounded_with_the_last_request(void **state)
{
	for (uint64_t rounds = test_count(200); rounds; rounds--) {
		assert_true(up_to(2 * ROUND + 1, ROUND) == INT64_MAX - 1);
		assert_true(up_to(2 * ROUND, ROUND) == INT64_MAX);
		assert_true(up_to(ROUND, ROUND) == INT64_MAX);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_before_a_request_is_seen),
		cmocka_unit_test(every_request_can_be_used_once),
		cmocka_unit_test(it_becomes_unbounded_with_the_last_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
