/* SPDX-License-Identifier: BSD-2-Clause */
/* A deque against a plain array: every operation in every state, of each small
 * capacity. */
#include "support.h"

#include "base/deque.h"

enum { CAPACITY_MAX = 6 };

/* A deque with its slots, and what is in it, oldest first. */
struct both {
	struct weir__deque deque;
	int slots[CAPACITY_MAX];
	int queued[CAPACITY_MAX];
	size_t n;
};

static void push(struct both *both, int element)
{
	both->slots[weir__deque_push(&both->deque)] = element;
	both->queued[both->n++] = element;
}

static void pop(struct both *both)
{
	size_t slot = weir__deque_pop(&both->deque);

	assert_int_equal(both->slots[slot], both->queued[0]);
	for (size_t i = 1; i < both->n; i++)
		both->queued[i - 1] = both->queued[i];
	both->n--;
}

static void pop_last(struct both *both)
{
	size_t slot = weir__deque_pop_last(&both->deque);

	assert_int_equal(both->slots[slot], both->queued[--both->n]);
}

static void check(const struct both *both)
{
	size_t capacity = both->deque.capacity;

	assert_int_equal(both->deque.n, both->n);
	assert_true(both->deque.first < capacity);
	assert_int_equal(weir__deque_room(&both->deque), capacity - both->n);
	assert_int_equal(weir__deque_is_full(&both->deque),
			 both->n == capacity);
	for (size_t i = 0; i < both->n; i++)
		assert_int_equal(both->slots[weir__deque_at(&both->deque, i)],
				 both->queued[i]);
}

/* Calls `each` with a deque of `n` elements, the oldest in slot `first`. */
static void in_every_state(void (*each)(struct both *both))
{
	for (size_t capacity = 1; capacity <= CAPACITY_MAX; capacity++)
		for (size_t first = 0; first < capacity; first++)
			for (size_t n = 0; n <= capacity; n++) {
				struct both both = {
					.deque = {.capacity = capacity}};

				for (size_t i = 0; i < first; i++) {
					push(&both, -1);
					pop(&both);
				}
				for (size_t i = 0; i < n; i++)
					push(&both, (int)i);
				assert_int_equal(both.deque.first, first);
				check(&both);
				each(&both);
			}
}

static void push_until_full(struct both *both)
{
	while (!weir__deque_is_full(&both->deque)) {
		push(both, 100 + (int)both->n);
		check(both);
	}
}

static void pop_until_empty(struct both *both)
{
	while (both->n > 0) {
		pop(both);
		check(both);
	}
}

static void pop_last_until_empty(struct both *both)
{
	while (both->n > 0) {
		pop_last(both);
		check(both);
	}
}

static void replace_all_of_them(struct both *both)
{
	for (size_t i = 0; i < 2 * both->deque.capacity && both->n > 0; i++) {
		pop(both);
		push(both, 200 + (int)i);
		check(both);
	}
}

static void elements_come_behind_those_that_are_there(void **state)
{
	in_every_state(push_until_full);
}

static void the_oldest_comes_first(void **state)
{
	in_every_state(pop_until_empty);
}

static void the_youngest_can_be_taken_back(void **state)
{
	in_every_state(pop_last_until_empty);
}

static void slots_are_used_again(void **state)
{
	in_every_state(replace_all_of_them);
}

static void a_deque_of_all_zeros_is_full(void **state)
{
	struct weir__deque deque = {0};

	assert_true(weir__deque_is_full(&deque));
	assert_int_equal(weir__deque_room(&deque), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_come_behind_those_that_are_there),
		cmocka_unit_test(the_oldest_comes_first),
		cmocka_unit_test(the_youngest_can_be_taken_back),
		cmocka_unit_test(slots_are_used_again),
		cmocka_unit_test(a_deque_of_all_zeros_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
