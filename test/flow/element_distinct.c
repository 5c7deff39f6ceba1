/* SPDX-License-Identifier: BSD-2-Clause */
/* Items whose keys have come before. */
#include "flow/parts.h"

static struct weir_flow *values(const intptr_t *items, size_t n)
{
	return weir_flow_array((void *const *)(const void *)items, n);
}

static struct weir_flow *distinct(struct weir_flow *flow, size_t n)
{
	return weir_flow_distinct(flow, n, NULL, NULL, NULL);
}

static void each_key_comes_once(void **state)
{
	static const intptr_t items[] = {1, 2, 1, 3, 2, 2, 1, 4};

	ASSERT_FLOW(distinct(values(items, 8), 4), 0, 1, 2, 3, 4);
	ASSERT_FLOW(distinct(values(items, 8), 1000), 0, 1, 2, 3, 4);
}

static int tens(void *item, uintptr_t *key, void *context)
{
	intptr_t value = ((struct item *)item)->value;

	*key = (uintptr_t)value / 10;
	return value == 66 ? -EDOM : 0;
}

static void items_that_are_left_out_are_dropped(void **state)
{
	static const intptr_t items[] = {11, 12, 21, 13, 22},
			      first[] = {11, 21};

	assert_flow(weir_flow_distinct(counted(values(items, 5)), 4, tens, NULL,
				       NULL),
		    true, first, 2, 0);
}

static void beyond_n_the_key_that_came_first_is_forgotten(void **state)
{
	static const intptr_t items[] = {1, 2, 1, 3, 2, 1, 3, 2};

	/* with 3 comes one too many: 1 is forgotten, then 2 for 1 */
	ASSERT_FLOW(distinct(values(items, 8), 2), 0, 1, 2, 3, 1, 2);
	ASSERT_FLOW(distinct(values(items, 8), 1), 0, 1, 2, 1, 3, 2, 1, 3, 2);
}

static void a_key_that_fails_is_decided_upon(void **state)
{
	static const intptr_t items[] = {11, 66, 12, 21, 11};
	struct weir_flow *flow = counted(values(items, 5));

	flow = weir_flow_distinct(flow, 4, tens, NULL, NULL);
	assert_flow(flow, true, (const intptr_t[]){11}, 1, -EDOM);
	flow = counted(values(items, 5));
	flow = weir_flow_distinct(flow, 4, tens, NULL, NULL);
	assert_flow(weir_flow_supervise(flow, resume, NULL), true,
		    (const intptr_t[]){11, 21}, 2, 0);
	/* which forgets them all */
	flow = counted(values(items, 5));
	flow = weir_flow_distinct(flow, 4, tens, NULL, NULL);
	assert_flow(weir_flow_supervise(flow, restart, NULL), true,
		    (const intptr_t[]){11, 12, 21}, 3, 0);
}

/* --- Keys that are kept --------------------------------------------------- */

static int64_t n_kept;
static char name[16];

static int name_of(void *item, uintptr_t *key, void *context)
{
	snprintf(name, sizeof(name), "key %d", (int)((intptr_t)item % 3));
	*key = (uintptr_t)name;
	return 0;
}

static uint64_t hash_of_name(uintptr_t key, void *context)
{
	return strlen((const char *)key); /* the same for all */
}

static bool is_name(uintptr_t a, uintptr_t b, void *context)
{
	return strcmp((const char *)a, (const char *)b) == 0;
}

static int keep_name(uintptr_t *key, void *context)
{
	int64_t *left = context;

	if (left && (*left)-- == 0)
		return -EDOM;
	*key = (uintptr_t)strdup((const char *)*key);
	n_kept++;
	return 0;
}

static void drop_name(uintptr_t key, void *context)
{
	free((void *)key);
	n_kept--;
}

static const struct weir_flow_key_functions names = {hash_of_name, is_name,
						     keep_name, drop_name};

static void keys_are_kept_and_dropped_as_they_are_forgotten(void **state)
{
	struct weir_flow *flow = weir_flow_range(0, 8);

	flow = weir_flow_distinct(flow, 3, name_of, NULL, &names);
	ASSERT_FLOW(flow, 0, 0, 1, 2);
	assert_int_equal(n_kept, 0);
	flow = weir_flow_distinct(weir_flow_range(0, 8), 2, name_of, NULL,
				  &names);
	ASSERT_FLOW(flow, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8);
	assert_int_equal(n_kept, 0);
}

static void a_key_that_cannot_be_kept_has_failed(void **state)
{
	int64_t left = 1;
	struct weir_flow *flow = weir_flow_range(0, 8);

	flow = weir_flow_distinct(flow, 3, name_of, &left, &names);
	flow = weir_flow_ignore(flow);
	assert_int_equal(run_on_sim(flow, 1, 0), -EDOM);
	assert_int_equal(n_kept, 0);
	weir_flow_free(flow);
}

/* --- What is refused ------------------------------------------------------ */

static void bad_arguments_are_refused(void **state)
{
	static const struct weir_flow_key_functions lacking[] = {
		{.hash = hash_of_name},
		{.equal = is_name},
		{hash_of_name, is_name, NULL, drop_name},
	};
	struct weir_flow *flows[] = {
		distinct(weir_flow_empty(), 0),
		distinct(weir_flow_empty(), WEIR_CAPACITY_MAX + 1),
		weir_flow_distinct(weir_flow_empty(), 1, NULL, NULL,
				   &lacking[0]),
		weir_flow_distinct(weir_flow_empty(), 1, NULL, NULL,
				   &lacking[1]),
		weir_flow_distinct(weir_flow_empty(), 1, NULL, NULL,
				   &lacking[2]),
	};

	assert_refused_all(flows, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_comes_once),
		cmocka_unit_test(items_that_are_left_out_are_dropped),
		cmocka_unit_test(beyond_n_the_key_that_came_first_is_forgotten),
		cmocka_unit_test(a_key_that_fails_is_decided_upon),
		cmocka_unit_test(
			keys_are_kept_and_dropped_as_they_are_forgotten),
		cmocka_unit_test(a_key_that_cannot_be_kept_has_failed),
		cmocka_unit_test(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
