/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a stream, one behind the other. */
#include "flow/parts.h"

static int is_edge(void *item, void *context)
{
	struct parts *parts = context;
	intptr_t value = value_of(parts, item);

	return is_bad(parts, value) ? -EDOM : value % parts->edge == 0;
}

static struct weir_flow *when(struct weir_flow *flow, struct parts *parts)
{
	return weir_flow_split_when(flow, is_edge, make, parts);
}

static struct weir_flow *after(struct weir_flow *flow, struct parts *parts)
{
	return weir_flow_split_after(flow, is_edge, make, parts);
}

/* --- Where parts begin and end ---------------------------------------------------- */

static void an_edge_begins_a_part(void **state)
{
	struct parts parts = {.compose = index_them, .edge = 3};

	ASSERT_FLOW(when(weir_flow_range(1, 7), &parts), 0, 1, 102, 3, 104, 205,
		    6, 107);
	/* the first item does so anyway */
	ASSERT_FLOW(when(weir_flow_range(3, 6), &parts), 0, 3, 104, 205, 6);
	parts.compose = count;
	ASSERT_FLOW(when(weir_flow_range(1, 7), &parts), 0, 2, 3, 2);
	parts.edge = 1;
	ASSERT_FLOW(when(weir_flow_range(1, 4), &parts), 0, 1, 1, 1, 1);
}

static void or_ends_it(void **state)
{
	struct parts parts = {.compose = index_them, .edge = 3};

	ASSERT_FLOW(after(weir_flow_range(1, 7), &parts), 0, 1, 102, 203, 4,
		    105, 206, 7);
	parts.compose = count;
	ASSERT_FLOW(after(weir_flow_range(1, 7), &parts), 0, 3, 3, 1);
	/* nothing comes behind the last */
	ASSERT_FLOW(after(weir_flow_range(1, 6), &parts), 0, 3, 3);
	parts.edge = 1;
	ASSERT_FLOW(after(weir_flow_range(1, 4), &parts), 0, 1, 1, 1, 1);
}

static void with_items_that_are_counted(void **state)
{
	struct parts parts = {
		.compose = index_them,
		.edge = 3,
		.counted = true,
	};

	assert_flow(when(counted(weir_flow_range(1, 4)), &parts), true,
		    (const intptr_t[]){1, 102, 3, 104}, 4, 0);
	assert_flow(after(counted(weir_flow_range(1, 4)), &parts), true,
		    (const intptr_t[]){1, 102, 203, 4}, 4, 0);
}

static void nothing_has_no_parts(void **state)
{
	struct parts parts = {.compose = count, .edge = 3};

	assert_flow(when(weir_flow_empty(), &parts), false,
		    (const intptr_t[]){0}, 0, 0);
	assert_flow(after(weir_flow_empty(), &parts), false,
		    (const intptr_t[]){0}, 0, 0);
	assert_int_equal(parts.n_made, 0);
}

static void a_part_is_out_before_the_next_is_made(void **state)
{
	struct parts parts = {.compose = expand, .edge = 1};

	ASSERT_FLOW(when(weir_flow_range(1, 3), &parts), 0, 10, 11, 12, 20, 21,
		    22, 30, 31, 32);
	ASSERT_FLOW(after(weir_flow_range(1, 3), &parts), 0, 10, 11, 12, 20, 21,
		    22, 30, 31, 32);
}

static void what_a_flow_that_has_ended_leaves_is_dropped(void **state)
{
	struct parts parts = {
		.compose = first_two,
		.edge = 4,
		.counted = true,
	};

	assert_flow(when(counted(weir_flow_range(1, 9)), &parts), true,
		    (const intptr_t[]){1, 102, 4, 105, 8, 109}, 6, 0);
	assert_flow(after(counted(weir_flow_range(1, 9)), &parts), true,
		    (const intptr_t[]){1, 102, 5, 106, 9}, 5, 0);
	assert_int_equal(parts.n_made, 6 * 20);
}

/* --- What fails ----------------------------------------------------------------------- */

static void an_item_that_is_neither_is_left_out_or_ends_it(void **state)
{
	struct parts parts = {.compose = index_them, .edge = 4, .bad = 6};

	ASSERT_FLOW(when(weir_flow_range(1, 9), &parts), -EDOM, 1, 102, 203, 4,
		    105);
	ASSERT_FLOW(weir_flow_supervise(when(weir_flow_range(1, 9), &parts),
					resume, NULL),
		    0, 1, 102, 203, 4, 105, 207, 8, 109);
	ASSERT_FLOW(weir_flow_supervise(when(weir_flow_range(1, 9), &parts),
					restart, NULL),
		    0, 1, 102, 203, 4, 105, 7, 8, 109);
	ASSERT_FLOW(weir_flow_supervise(after(weir_flow_range(1, 9), &parts),
					restart, NULL),
		    0, 1, 102, 203, 304, 5, 7, 108, 9);
}

static struct weir_flow *every_other(struct weir_flow *up, struct parts *parts)
{
	return parts->n_made % 2 ? none(up, parts) : index_them(up, parts);
}

static void a_flow_that_is_not_made_is_its_item_s_failure(void **state)
{
	struct parts parts = {.compose = none, .edge = 3};

	assert_flow(when(weir_flow_range(1, 9), &parts), false,
		    (const intptr_t[]){0}, 0, -EINVAL);
	/* 1 has none, so 2 begins one; 3 has none, so 4 does */
	parts = (struct parts){.compose = every_other, .edge = 3};
	ASSERT_FLOW(weir_flow_supervise(when(weir_flow_range(1, 5), &parts),
					resume, NULL),
		    0, 2, 4, 105);
	ASSERT_FLOW(weir_flow_supervise(after(weir_flow_range(1, 5), &parts),
					restart, NULL),
		    0, 2, 103, 5);
}

static void a_flow_that_fails_ends_it(void **state)
{
	struct parts parts = {
		.compose = index_them,
		.edge = 3,
		.bad_item = 5,
		.counted = true,
	};

	assert_flow(when(counted(weir_flow_range(1, 9)), &parts), true,
		    (const intptr_t[]){1, 102, 3, 104}, 4, -EDOM);
	assert_flow(after(counted(weir_flow_range(1, 9)), &parts), true,
		    (const intptr_t[]){1, 102, 203, 4}, 4, -EDOM);
}

static void an_error_from_upstream_comes_out_of_the_part(void **state)
{
	struct parts parts = {.compose = recover, .edge = 3};

	ASSERT_FLOW(when(failing(), &parts), -EPROTO, 1, 2, 3, 4, 99);
	ASSERT_FLOW(after(failing(), &parts), -EPROTO, 1, 2, 3, 4, 99);
	parts.edge = 4;
	/* there is no part */
	ASSERT_FLOW(after(failing(), &parts), -EPROTO, 1, 2, 3, 4);
}

/* --- The rest ----------------------------------------------------------------------- */

/* Two wait for 5 ms each. */
static struct weir_flow *late(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_delay(up, 5 * MS, 2);
}

static void the_next_part_waits_for_the_end_of_the_last(void **state)
{
	struct parts parts = {.compose = late, .edge = 5, .counted = true};

	world_counted(&parts);
	world.flow = when(world.flow, &parts);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 6);
	until(&world, 4 * MS);
	assert_int_equal(parts.n_made, 1);
	until(&world, 6 * MS);
	ASSERT_OUT(&world, 1, 2);
	assert_int_equal(parts.n_made, 1);
	until(&world, 11 * MS);
	ASSERT_OUT(&world, 1, 2, 3, 4);
	assert_int_equal(parts.n_made, 2);
	until(&world, 20 * MS);
	ASSERT_OUT(&world, 1, 2, 3, 4, 5, 6);
	assert_int_equal(world.at_ns[5], 15 * MS);
	flow_world_end(&world, 0);
}

static void none_takes_more_than_is_asked_for(void **state)
{
	struct parts parts = {
		.compose = index_them,
		.edge = 3,
		.counted = true,
	};
	size_t i;

	for (i = 0; i < 2; i++) {
		world_counted(&parts);
		world.flow = i ? after(world.flow, &parts)
			       : when(world.flow, &parts);
		world_start(&world, 0);
		flow_offer(&world, 1, 1024);
		until(&world, 0);
		assert_int_equal(n_live, 1024);
		let_pass(&world, 2);
		ASSERT_OUT(&world, 1, 102);
		assert_int_equal(n_live, 1022);
		world_cancel();
	}
}

static void a_cancel_drops_all_that_is_held(void **state)
{
	struct parts parts = {.compose = late, .edge = 5, .counted = true};
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX / 100));

	assert_cancel(when(flow, &parts));
	flow = counted(weir_flow_range(1, INT64_MAX / 100));
	assert_cancel(after(flow, &parts));
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct parts parts = {.compose = first_two, .edge = 3, .counted = true};
	struct weir_flow *flow;

	flow = into(when(counted(weir_flow_range(1, 9)), &parts), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
	flow = into(after(counted(weir_flow_range(1, 9)), &parts), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_split_when(NULL, is_edge, make, NULL),
		weir_flow_split_when(weir_flow_empty(), NULL, make, NULL),
		weir_flow_split_when(weir_flow_empty(), is_edge, NULL, NULL),
		weir_flow_split_after(NULL, is_edge, make, NULL),
		weir_flow_split_after(weir_flow_empty(), NULL, make, NULL),
		weir_flow_split_after(weir_flow_empty(), is_edge, NULL, NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edge_begins_a_part),
		cmocka_unit_test(or_ends_it),
		cmocka_unit_test(with_items_that_are_counted),
		cmocka_unit_test(nothing_has_no_parts),
		cmocka_unit_test(a_part_is_out_before_the_next_is_made),
		cmocka_unit_test(what_a_flow_that_has_ended_leaves_is_dropped),
		cmocka_unit_test(
			an_item_that_is_neither_is_left_out_or_ends_it),
		cmocka_unit_test(a_flow_that_is_not_made_is_its_item_s_failure),
		cmocka_unit_test(a_flow_that_fails_ends_it),
		cmocka_unit_test(an_error_from_upstream_comes_out_of_the_part),
		cmocka_unit_test(the_next_part_waits_for_the_end_of_the_last),
		cmocka_unit_test(none_takes_more_than_is_asked_for),
		cmocka_unit_test(a_cancel_drops_all_that_is_held),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
