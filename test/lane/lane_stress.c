/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes alone between threads. Each item is a plain struct that its producer
 * writes before it puts it and the consumer reads: ThreadSanitizer sees whether
 * the lane orders that.
 */
#include "support.h"

#include <pthread.h>
#include <sched.h>

#include "lane/mpsc.h"
#include "lane/spsc.h"

enum { N_PRODUCERS = 3, RUN = 7 };

struct item {
	uint64_t n;	   /* of its producer's items, from 0 */
	uint32_t producer; /* plain, as n is */
};

struct work {
	struct weir__lane lane;
	struct weir__taker taker;
	struct weir__putter putter;
	uint32_t mask;
	uint32_t producer;
	uint64_t n; /* items of each producer */
	struct item *items;
};

static void fill(struct item *item, uint32_t producer, uint64_t n)
{
	item->producer = producer;
	item->n = n;
}

/* --- Spsc ------------------------------------------------------------------ */

static void *spsc_producer(void *argument)
{
	struct work *work = argument;
	uint64_t next = 0;
	void *items[RUN];
	uint32_t n, i;

	while (next < work->n) {
		n = next % RUN + 1;
		if (n > work->n - next)
			n = (uint32_t)(work->n - next);
		weir__putter_look(&work->putter, &n);
		for (i = 0; i < n; i++) {
			fill(&work->items[next + i], 0, next + i);
			items[i] = &work->items[next + i];
		}
		weir__putter_push_n(&work->putter, items, n);
		/* release: the items (S2 of spsc.h) */
		ck_pr_fence_release();
		next += weir__putter_publish(&work->putter);
		if (!n)
			sched_yield();
	}
	weir__spsc_close(&work->putter, weir_error_of(-EPROTO));
	return NULL;
}

static void spsc_take(struct work *work, uint64_t next, uint32_t n)
{
	struct item *items[WEIR__POP_FEW + 4];
	uint32_t k, i;

	for (; n; n -= k) {
		k = n < WEIR__POP_FEW + 4 ? n : WEIR__POP_FEW + 4;
		weir__taker_pop_n(&work->taker, (void **)items, k);
		for (i = 0; i < k; i++)
			assert_int_equal(items[i]->n, next++);
	}
	work->taker.limit = work->taker.head;
	/* release: done with the slots (S3) */
	ck_pr_fence_release();
	(void)weir__taker_publish(&work->taker, &work->lane);
}

/* `credit`: grants the room by hand, less than what is free. */
static void spsc(uint32_t capacity, bool credit)
{
	struct work work = {.mask = capacity - 1, .n = test_count(200000)};
	const struct weir_allocator *allocator = weir_allocator_default();
	uint64_t next = 0;
	bool ended = false;
	pthread_t producer;
	uint32_t n = 0;

	work.items = calloc(work.n, sizeof(*work.items));
	assert_non_null(work.items);
	assert_int_equal(weir__lane_init(&work.lane, work.mask, allocator), 0);
	weir__taker_init(&work.taker, &work.lane, work.mask);
	if (credit) {
		weir__spsc_hold(&work.taker, &work.lane);
		weir__spsc_grant(&work.lane, capacity / 2);
	}
	weir__putter_init(&work.putter, &work.lane, work.mask);
	assert_int_equal(pthread_create(&producer, NULL, spsc_producer, &work),
			 0);
	for (; !ended || n; next += n) {
		n = weir__spsc_available(&work.taker, &work.lane, &ended);
		spsc_take(&work, next, n);
		if (credit && n)
			weir__spsc_grant(&work.lane, n);
		if (!n && !ended)
			sched_yield();
	}
	assert_int_equal(next, work.n);
	assert_ptr_equal(weir__lane_failed(&work.lane), weir_error_of(-EPROTO));
	pthread_join(producer, NULL);
	weir__lane_fini(&work.lane, work.mask, allocator);
	free(work.items);
}

static void items_come_in_order_from_one_producer(void **state)
{
	spsc(1, false);
	spsc(2, false);
	spsc(1024, false);
}

static void items_come_in_order_where_room_is_granted(void **state)
{
	spsc(2, true);
	spsc(64, true);
}

/* --- Mpsc ------------------------------------------------------------------ */

struct crowd {
	struct work work;
	uint32_t next; /* atomic: which producer is the next to begin */
	uint32_t done; /* atomic: how many have put all */
	/* Items that were put for good, and those that came back: the
	 * producer's, written before it is joined. */
	uint64_t kept[N_PRODUCERS];
};

/* How many of the `n` items, 1 or 2, were put; 0: there is no room now. */
static uint32_t push(struct crowd *crowd, uint32_t producer, uint64_t next,
		     uint32_t n, bool *over)
{
	struct work *work = &crowd->work;
	void *items[2], *back;
	uint32_t i, kept = n;
	int64_t index;

	for (i = 0; i < n; i++) {
		items[i] = &work->items[producer * work->n + next + i];
		fill(items[i], producer, next + i);
	}
	index = weir__mpsc_push_n(&work->lane, work->mask, items, n);
	*over = index == -EPIPE;
	if (index < 0)
		return 0;
	if (weir__mpsc_is_shut(&work->lane)) {
		*over = true;
		for (i = 0; i < n; i++)
			if (weir__mpsc_take_back(&work->lane, work->mask,
						 (uint32_t)index + i, &back))
				kept--;
	}
	crowd->kept[producer] += kept;
	return n;
}

static void *mpsc_producer(void *argument)
{
	struct crowd *crowd = argument;
	uint32_t producer = ck_pr_faa_32(&crowd->next, 1), n;
	uint64_t next = 0;
	bool over = false;

	while (next < crowd->work.n && !over) {
		n = crowd->work.mask && next % 5 == 0 &&
				    crowd->work.n - next > 1
			    ? 2
			    : 1;
		n = push(crowd, producer, next, n, &over);
		next += n;
		if (!n)
			sched_yield();
	}
	if (ck_pr_faa_32(&crowd->done, 1) == N_PRODUCERS - 1)
		(void)weir__mpsc_close(&crowd->work.lane, NULL);
	return NULL;
}

static uint64_t took(uint64_t *next, const struct item *item)
{
	/* Items that came back are missing at the end only. */
	assert_int_equal(item->n, next[item->producer]);
	next[item->producer]++;
	return 1;
}

/* Takes until `most` items were taken, or the end. */
static uint64_t mpsc_take(struct work *work, uint64_t *next, uint64_t most)
{
	uint64_t taken = 0;
	bool ended = false;
	uint32_t n, i;

	while (taken < most && !ended) {
		n = weir__mpsc_available(&work->taker, &work->lane, &ended);
		for (i = 0; i < n; i++)
			taken += took(next,
				      weir__taker_item(&work->taker,
						       work->taker.head++));
		work->taker.limit = work->taker.head;
		/* release: done with the slots (S3) */
		ck_pr_fence_release();
		(void)weir__taker_publish(&work->taker, &work->lane);
		if (!n && !ended)
			sched_yield();
	}
	return taken;
}

static uint64_t shut(struct work *work, uint64_t *next)
{
	uint32_t n = weir__mpsc_shut(&work->taker, &work->lane);
	uint64_t taken = 0;

	for (; n; n--, work->taker.head++) {
		if (!weir__mpsc_claim(&work->lane, work->mask,
				      work->taker.head))
			continue;
		taken++;
		next[0]++;
	}
	return taken;
}

/* `most`: shuts the lane when that many items were taken. */
static void mpsc(uint32_t capacity, uint64_t n, uint64_t most)
{
	const struct weir_allocator *allocator = weir_allocator_default();
	struct crowd crowd = {.work = {.mask = capacity - 1, .n = n}};
	struct work *work = &crowd.work;
	uint64_t next[N_PRODUCERS] = {0}, taken, kept = 0;
	pthread_t producers[N_PRODUCERS];
	uint32_t i;

	work->items = calloc(N_PRODUCERS * n, sizeof(*work->items));
	assert_non_null(work->items);
	assert_int_equal(weir__mpsc_init(&work->lane, work->mask, allocator),
			 0);
	weir__taker_init(&work->taker, &work->lane, work->mask);
	for (i = 0; i < N_PRODUCERS; i++)
		assert_int_equal(pthread_create(&producers[i], NULL,
						mpsc_producer, &crowd),
				 0);
	taken = mpsc_take(work, next, most);
	if (most != UINT64_MAX)
		taken += shut(work, next);
	for (i = 0; i < N_PRODUCERS; i++) {
		pthread_join(producers[i], NULL);
		kept += crowd.kept[i];
	}
	assert_int_equal(taken, kept);
	weir__mpsc_fini(&work->lane, work->mask, allocator);
	free(work->items);
}

static void items_come_in_the_order_of_each_producer(void **state)
{
	mpsc(1, test_count(30000), UINT64_MAX);
	mpsc(4, test_count(30000), UINT64_MAX);
	mpsc(1024, test_count(30000), UINT64_MAX);
}

static void of_a_lane_that_is_shut_each_item_has_one_owner(void **state)
{
	uint64_t rounds = test_count(500), i;

	for (i = 0; i < rounds; i++)
		mpsc(2u << i % 4, 40, i % 50);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_in_order_from_one_producer),
		cmocka_unit_test(items_come_in_order_where_room_is_granted),
		cmocka_unit_test(items_come_in_the_order_of_each_producer),
		cmocka_unit_test(
			of_a_lane_that_is_shut_each_item_has_one_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
