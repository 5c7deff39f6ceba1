/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of elements with numbers, on its own. */
#include "actor/kit.h"

#include "supervision/slots.h"

/* More than the first block of chunks has. */
enum { N = 64 * 64 + 200, FEW = 100 };

struct element {
	struct weir__kin kin;
	size_t mark; /* 0: never used */
};

static struct weir__kin *taken[N];

static void set_up(struct weir__slots *slots, struct heap *heap)
{
	heap_init(heap, 0);
	weir__slots_init(slots, sizeof(struct element), &heap->allocator);
}

static struct element *take(struct weir__slots *slots)
{
	return (struct element *)(void *)weir__slots_take(slots);
}

static void each_keeps_its_number_and_its_place(void **state)
{
	struct weir__slots slots;
	struct element *element;
	struct heap heap;
	uint32_t i;

	(void)state;
	set_up(&slots, &heap);
	for (i = 0; i < N; i++) {
		element = take(&slots);
		assert_int_equal(element->mark, 0);
		element->mark = i + 1;
		taken[i] = &element->kin;
	}
	for (i = 0; i < N; i++) {
		assert_int_equal(weir__slot_of(&slots, taken[i]), i);
		assert_ptr_equal(weir__slots_at(&slots, i), taken[i]);
		assert_int_equal(((struct element *)(void *)taken[i])->mark,
				 i + 1);
	}
	weir__slots_fini(&slots);
	assert_int_equal(heap.live, 0);
}

static void one_that_is_given_back_is_the_next_and_is_as_it_was_left(
	void **state)
{
	struct element *a, *b, *c;
	struct weir__slots slots;
	struct heap heap;

	(void)state;
	set_up(&slots, &heap);
	a = take(&slots);
	b = take(&slots);
	a->mark = 5;
	weir__slots_give_back(&slots, &a->kin);
	c = take(&slots);
	assert_ptr_equal(c, a);
	assert_int_equal(c->mark, 5);
	assert_int_equal(c->kin.parent, WEIR__NO_CELL);
	assert_int_equal(c->kin.first, WEIR__NO_CELL);
	assert_int_equal(weir__slot_of(&slots, &c->kin), 0);
	assert_int_equal(weir__slot_of(&slots, &b->kin), 1);
	weir__slots_fini(&slots);
	assert_int_equal(heap.live, 0);
}

/* The `fail`-th allocation is refused once: those that are there stay. */
static bool refused(size_t fail)
{
	struct weir__slots slots;
	struct heap heap;
	uint32_t n = 0;
	bool was = false;

	set_up(&slots, &heap);
	heap.fail = fail;
	while (n < FEW) {
		taken[n] = weir__slots_take(&slots);
		if (taken[n])
			n++;
		else
			was = true;
	}
	while (n-- > 0)
		assert_ptr_equal(weir__slots_at(&slots, n), taken[n]);
	weir__slots_fini(&slots);
	assert_int_equal(heap.live, 0);
	return was;
}

static void without_memory_nothing_is_lost(void **state)
{
	size_t fail = 1;

	(void)state;
	while (refused(fail))
		fail++;
	/* a table of chunks, and two chunks */
	assert_int_equal(fail, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_keeps_its_number_and_its_place),
		cmocka_unit_test(
			one_that_is_given_back_is_the_next_and_is_as_it_was_left),
		cmocka_unit_test(without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
