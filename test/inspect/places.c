/* SPDX-License-Identifier: BSD-2-Clause */
#include "inspect/places.h"

#include <weir/inspect.h>

#include "actor/kit.h"

#define MOST 300u

/* As those of a snapshot are. */
struct thing {
	const void *address;
	char rest[16];
};

static struct thing things[MOST];
static char memory[2 * MOST];

/* The first n, in no order. */
static struct weir__places places_of(size_t n)
{
	struct weir__places places;

	assert_true(weir__places_init(&places, weir_allocator_default(), things,
				      sizeof(*things), n));
	return places;
}

static void all_are_found_and_nothing_else(void **state)
{
	struct weir__places places;
	size_t n, i;

	for (i = 0; i < MOST; i++)
		things[i].address = &memory[2 * (i * 7 % MOST)];
	for (n = 0; n <= MOST; n++) {
		places = places_of(n);
		for (i = 0; i < MOST; i++)
			assert_int_equal(weir__places_find(&places,
							   things[i].address),
					 i < n ? i : WEIR_NOWHERE);
		for (i = 0; i < MOST; i++)
			assert_int_equal(weir__places_find(&places,
							   &memory[2 * i + 1]),
					 WEIR_NOWHERE);
		weir__places_fini(&places);
	}
}

static void null_is_nowhere(void **state)
{
	struct weir__places places = places_of(MOST);

	assert_int_equal(weir__places_find(&places, NULL), WEIR_NOWHERE);
	weir__places_fini(&places);
}

/* Of memory that is torn. */
static void of_an_address_that_comes_twice_the_first_counts(void **state)
{
	struct weir__places places;
	size_t i;

	for (i = 0; i < MOST; i++)
		things[i].address = &memory[i % 2];
	places = places_of(MOST);
	assert_int_equal(weir__places_find(&places, &memory[0]), 0);
	assert_int_equal(weir__places_find(&places, &memory[1]), 1);
	weir__places_fini(&places);
}

static void without_memory_there_is_none(void **state)
{
	struct weir__places places;
	struct heap heap;

	heap_init(&heap, 1);
	assert_false(weir__places_init(&places, &heap.allocator, things,
				       sizeof(*things), MOST));
}

/* Nor for more than their numbers have bits. */
static void too_many_are_no_memory(void **state)
{
	struct weir__places places;

	assert_false(weir__places_init(&places, weir_allocator_default(),
				       things, sizeof(*things), SIZE_MAX / 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_found_and_nothing_else),
		cmocka_unit_test(null_is_nowhere),
		cmocka_unit_test(
			of_an_address_that_comes_twice_the_first_counts),
		cmocka_unit_test(without_memory_there_is_none),
		cmocka_unit_test(too_many_are_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
