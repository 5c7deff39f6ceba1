/* SPDX-License-Identifier: BSD-2-Clause */
/* What readers of this process's memory find in it. */
#include "actor/layout.h"

#include "support.h"

#include <string.h>

#include <weir/version.h>

static void the_table_is_found_by_itself(void **state)
{
	assert_memory_equal(weir__layout.magic, "weir-layout",
			    WEIR__LAYOUT_MAGIC);
	assert_ptr_equal(weir__layout.self, &weir__layout);
	assert_ptr_equal(weir__layout.all->self, weir__layout.all);
	assert_int_equal(weir__layout.weir, WEIR_VERSION);
	/* whatever comes later, these stay where they are */
	assert_int_equal(offsetof(struct weir__layout, version), 12);
	assert_int_equal(offsetof(struct weir__layout, pointer), 14);
	assert_int_equal(offsetof(struct weir__layout, big_endian), 15);
	assert_int_equal(offsetof(struct weir__layout, weir), 16);
	assert_int_equal(offsetof(struct weir__layout, size), 20);
	assert_int_equal(offsetof(struct weir__layout, self), 24);
	assert_int_equal(sizeof(struct weir__field), 8);
}

/* They are in programs that run: a reader goes by them. */
static void numbers_stay_what_they_are(void **state)
{
	assert_int_equal(WEIR__IS_LIVING_FIRST, 1);
	assert_int_equal(WEIR__IS_ACTOR_TASK, 8);
	assert_int_equal(WEIR__IS_PORT_ACTOR, 15);
	assert_int_equal(WEIR__IS_OPS_AWAITS, 23);
	assert_int_equal(WEIR__IS_IN_FLAGS, 29);
	assert_int_equal(WEIR__IS_OUT_LANE, 40);
	assert_int_equal(WEIR__IS_ISLAND_ROOT, 44);
	assert_int_equal(WEIR__IS_OBJECT_TAKERS, 53);
	assert_int_equal(WEIR__IS_SINK_OPS, 69);
	assert_int_equal(WEIR__IS_ACTOR_STATE, 70);
}

static void each_number_is_there_once(void **state)
{
	const struct weir__field *field;
	bool there[WEIR__IS_COUNT] = {false};
	uint32_t i;

	for (field = weir__layout.all->fields; field->what; field++) {
		assert_in_range(field->what, 1, WEIR__IS_COUNT - 1);
		assert_false(there[field->what]);
		there[field->what] = true;
	}
	for (i = WEIR__IS_LIVING_FIRST; i <= WEIR__IS_OPS_LAYOUT; i++)
		assert_true(there[i]);
	assert_true(there[WEIR__IS_ACTOR_STATE]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_found_by_itself),
		cmocka_unit_test(numbers_stay_what_they_are),
		cmocka_unit_test(each_number_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
