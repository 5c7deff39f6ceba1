/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded queues against a plain array: each policy with every fill, wherever
 * the array ends, of capacities below and above the number of items that are
 * dropped at once.
 */
#include "support.h"

#include <errno.h>

#include "base/bounded.h"

enum { CAPACITY_MAX = 2 * WEIR__DROPPED_MAX + 2, NEW = 1000 };

static const size_t capacities[] = {1,
				    2,
				    3,
				    4,
				    WEIR__DROPPED_MAX - 1,
				    WEIR__DROPPED_MAX,
				    WEIR__DROPPED_MAX + 1,
				    CAPACITY_MAX};

/* A queue, and what is in it, oldest first; and what it has dropped. */
struct both {
	struct weir__bounded queue;
	void *slots[CAPACITY_MAX];
	struct weir__dropped dropped;
	uintptr_t queued[CAPACITY_MAX + 1];
	size_t n;
};

static void *item(uintptr_t i)
{
	return (void *)i;
}

static void check_queued(struct both *both)
{
	const struct weir__deque *deque = &both->queue.deque;

	assert_int_equal(deque->n, both->n);
	for (size_t i = 0; i < both->n; i++)
		assert_ptr_equal(both->slots[weir__deque_at(deque, i)],
				 item(both->queued[i]));
}

/* The `n` items from queued[at] on are in it no longer. */
static void forget(struct both *both, size_t at, size_t n)
{
	assert_true(at + n <= both->n);
	for (size_t i = at + n; i < both->n; i++)
		both->queued[i - n] = both->queued[i];
	both->n -= n;
}

static int offer(struct both *both)
{
	return weir__bounded_offer(&both->queue, both->slots, item(NEW),
				   &both->dropped);
}

/* A queue of `n` items, with the oldest in slot `first`, and no place for some
 * of those that it drops. */
static void setup(struct both *both, enum weir_overflow overflow,
		  size_t capacity, size_t first, size_t n, size_t n_dropped)
{
	both->queue = (struct weir__bounded){
		.deque = {.capacity = capacity, .first = first},
		.overflow = overflow,
	};
	both->dropped.n = 0;
	both->n = 0;
	while (both->n < n) {
		both->queued[both->n] = both->n + 1;
		assert_int_equal(weir__bounded_offer(&both->queue, both->slots,
						     item(++both->n),
						     &both->dropped),
				 0);
	}
	assert_int_equal(both->dropped.n, 0);
	both->dropped.n = n_dropped;
	check_queued(both);
}

/* Calls `each` with a queue in every state. */
static void with_every_queue(enum weir_overflow overflow, bool is_full,
			     void (*each)(struct both *both))
{
	static struct both both;

	for (size_t c = 0; c < sizeof(capacities) / sizeof(*capacities); c++)
		for (size_t first = 0; first < capacities[c]; first++)
			for (size_t n = is_full ? capacities[c] : 0;
			     n < capacities[c] + is_full; n++) {
				setup(&both, overflow, capacities[c], first, n,
				      0);
				each(&both);
				setup(&both, overflow, capacities[c], first, n,
				      WEIR__DROPPED_MAX - 1);
				each(&both);
			}
}

/* Takes `most`: gets these, or as many as there are. */
static size_t check_taken(struct both *both, size_t most)
{
	void *items[CAPACITY_MAX];
	size_t n = both->n < most ? both->n : most;

	assert_int_equal(
		weir__bounded_take(&both->queue, both->slots, items, most), n);
	for (size_t i = 0; i < n; i++)
		assert_ptr_equal(items[i], item(both->queued[i]));
	forget(both, 0, n);
	check_queued(both);
	return n;
}

static void takes_them(struct both *both)
{
	size_t left = both->n;

	for (size_t most = 0; left > 0; most++)
		left -= check_taken(both, most);
	assert_int_equal(check_taken(both, 1), 0);
}

static void items_are_taken_in_order(void **state)
{
	with_every_queue(WEIR_OVERFLOW_FAIL, true, takes_them);
	with_every_queue(WEIR_OVERFLOW_FAIL, false, takes_them);
}

/* The items from queued[at] on are dropped now, as many as have a place. */
static size_t check_dropped(struct both *both, size_t at, size_t n,
			    size_t n_before)
{
	size_t most = WEIR__DROPPED_MAX - n_before;

	n = n < most ? n : most;
	assert_int_equal(both->dropped.n, n_before + n);
	for (size_t i = 0; i < n; i++)
		assert_ptr_equal(both->dropped.items[n_before + i],
				 item(both->queued[at + i]));
	forget(both, at, n);
	return n;
}

static void is_queued(struct both *both)
{
	size_t n_dropped = both->dropped.n;

	assert_int_equal(offer(both), 0);
	both->queued[both->n++] = NEW;
	check_queued(both);
	assert_int_equal(both->dropped.n, n_dropped);
	assert_int_equal(both->queue.n_doomed, 0);
}

static void an_item_is_queued_while_there_is_room(void **state)
{
	for (int overflow = 0; overflow <= WEIR_OVERFLOW_FAIL; overflow++)
		with_every_queue((enum weir_overflow)overflow, false,
				 is_queued);
}

static void is_the_callers(struct both *both)
{
	size_t n_dropped = both->dropped.n;
	int rc = offer(both);

	assert_int_equal(rc, both->queue.overflow == WEIR_OVERFLOW_FAIL
				     ? -EOVERFLOW
				     : -EAGAIN);
	check_queued(both);
	assert_int_equal(both->dropped.n, n_dropped);
}

static void an_item_stays_the_callers_if_nothing_is_dropped(void **state)
{
	with_every_queue(WEIR_OVERFLOW_BACK_PRESSURE, true, is_the_callers);
	with_every_queue(WEIR_OVERFLOW_FAIL, true, is_the_callers);
}

static void drops_the_new_one(struct both *both)
{
	size_t n_dropped = both->dropped.n;

	assert_int_equal(offer(both), -ENOBUFS);
	check_queued(both);
	assert_int_equal(both->dropped.n, n_dropped + 1);
	assert_ptr_equal(both->dropped.items[n_dropped], item(NEW));
}

static void the_new_item_is_dropped(void **state)
{
	with_every_queue(WEIR_OVERFLOW_DROP_NEW, true, drops_the_new_one);
}

static void drops_one(struct both *both)
{
	size_t n_dropped = both->dropped.n;
	bool is_head = both->queue.overflow == WEIR_OVERFLOW_DROP_HEAD;

	assert_int_equal(offer(both), 1);
	check_dropped(both, is_head ? 0 : both->n - 1, 1, n_dropped);
	both->queued[both->n++] = NEW;
	check_queued(both);
	assert_int_equal(both->queue.n_doomed, 0);
}

static void the_oldest_or_the_youngest_item_is_dropped(void **state)
{
	with_every_queue(WEIR_OVERFLOW_DROP_HEAD, true, drops_one);
	with_every_queue(WEIR_OVERFLOW_DROP_TAIL, true, drops_one);
}

static void drops_all(struct both *both)
{
	size_t left = both->n, n_dropped = both->dropped.n;

	assert_int_equal(offer(both), 1);
	for (;;) {
		left -= check_dropped(both, 0, left, n_dropped);
		if (both->n == 0 || both->queued[both->n - 1] != NEW)
			both->queued[both->n++] = NEW;
		check_queued(both);
		assert_int_equal(both->queue.n_doomed, left);
		if (left == 0)
			break;
		both->dropped.n = n_dropped = 0;
		weir__bounded_spill(&both->queue, both->slots, &both->dropped);
	}
	assert_int_equal(both->n, 1);
	n_dropped = both->dropped.n;
	weir__bounded_spill(&both->queue, both->slots, &both->dropped);
	assert_int_equal(both->dropped.n, n_dropped);
}

static void all_items_are_dropped_but_the_new_one(void **state)
{
	with_every_queue(WEIR_OVERFLOW_DROP_ALL, true, drops_all);
}

/* Some items are taken; the doomed ones of those left are spilled. */
static void takes(struct both *both, size_t n_taken)
{
	size_t left = both->n, n_dropped = both->dropped.n;

	assert_int_equal(offer(both), 1);
	left -= check_dropped(both, 0, left, n_dropped);
	both->queued[both->n++] = NEW;
	n_taken = check_taken(both, n_taken);
	left -= left < n_taken ? left : n_taken;
	assert_int_equal(both->queue.n_doomed, left);
	while (left > 0) {
		both->dropped.n = 0;
		weir__bounded_spill(&both->queue, both->slots, &both->dropped);
		left -= check_dropped(both, 0, left, 0);
	}
	assert_int_equal(both->queue.n_doomed, 0);
	takes_them(both);
}

static void takes_one(struct both *both)
{
	takes(both, 1);
}

static void takes_all(struct both *both)
{
	takes(both, both->n);
}

static void takes_the_new_one_as_well(struct both *both)
{
	takes(both, both->n + 1);
}

static void a_doomed_item_that_is_taken_is_not_dropped(void **state)
{
	with_every_queue(WEIR_OVERFLOW_DROP_ALL, true, takes_one);
	with_every_queue(WEIR_OVERFLOW_DROP_ALL, true, takes_all);
	with_every_queue(WEIR_OVERFLOW_DROP_ALL, true,
			 takes_the_new_one_as_well);
}

/* The queue fills up again before all are dropped that should be. */
static void overflows_again(struct both *both)
{
	size_t n = both->n;

	assert_int_equal(offer(both), 1);
	while (!weir__deque_is_full(&both->queue.deque))
		assert_int_equal(offer(both), 0);
	both->dropped.n = 0;
	assert_int_equal(offer(both), 1);
	do {
		assert_true(n >= both->dropped.n);
		n -= both->dropped.n;
		both->dropped.n = 0;
		weir__bounded_spill(&both->queue, both->slots, &both->dropped);
	} while (both->dropped.n > 0);
	assert_int_equal(n, 0);
	assert_int_equal(both->queue.deque.n, 1);
}

static void a_queue_that_is_full_again_drops_all_that_are_there(void **state)
{
	with_every_queue(WEIR_OVERFLOW_DROP_ALL, true, overflows_again);
}

static void other_numbers_are_no_policies(void **state)
{
	for (int overflow = -2; overflow <= WEIR_OVERFLOW_FAIL + 2; overflow++)
		assert_int_equal(
			weir__overflow_valid((enum weir_overflow)overflow),
			overflow >= 0 && overflow <= WEIR_OVERFLOW_FAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_taken_in_order),
		cmocka_unit_test(an_item_is_queued_while_there_is_room),
		cmocka_unit_test(
			an_item_stays_the_callers_if_nothing_is_dropped),
		cmocka_unit_test(the_new_item_is_dropped),
		cmocka_unit_test(the_oldest_or_the_youngest_item_is_dropped),
		cmocka_unit_test(all_items_are_dropped_but_the_new_one),
		cmocka_unit_test(a_doomed_item_that_is_taken_is_not_dropped),
		cmocka_unit_test(
			a_queue_that_is_full_again_drops_all_that_are_there),
		cmocka_unit_test(other_numbers_are_no_policies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
