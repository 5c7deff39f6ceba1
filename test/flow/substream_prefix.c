/* SPDX-License-Identifier: BSD-2-Clause */
/* The first items of a stream, and a flow for the rest. */
#include "flow/parts.h"

/* What is 1000 times the sum of the first, and the rest with its index. */
static struct weir_flow *sum_and_rest(void *const *items, size_t n,
				      struct weir_flow *tail, void *context)
{
	struct parts *parts = context;
	intptr_t sum = 0;
	size_t i;

	parts->n_made++;
	parts->n_prefix = (intptr_t)n;
	for (i = 0; i < n; i++) {
		sum += value_of(parts, items[i]);
		if (parts->counted)
			item_drop(items[i], NULL);
	}
	tail = index_them(tail, parts);
	if (parts->compose)
		tail = parts->compose(tail, parts);
	if (parts->counted)
		return weir_flow_prepend(
			tail, counted(weir_flow_single((void *)(sum * 1000))));
	return weir_flow_prepend(tail, weir_flow_single((void *)(sum * 1000)));
}

static struct weir_flow *prefix(struct weir_flow *flow, size_t n,
				struct parts *parts)
{
	return weir_flow_prefix_and_tail(flow, n, sum_and_rest, parts);
}

static void the_first_are_apart_from_the_rest(void **state)
{
	struct parts parts = {.n_made = 0}, counts = {.counted = true};

	ASSERT_FLOW(prefix(weir_flow_range(1, 6), 3, &parts), 0, 6000, 4, 105,
		    206);
	assert_int_equal(parts.n_made, 20);
	assert_flow(prefix(counted(weir_flow_range(1, 6)), 3, &counts), true,
		    (const intptr_t[]){6000, 4, 105, 206}, 4, 0);
	ASSERT_FLOW(prefix(weir_flow_range(1, 3), 0, &parts), 0, 0, 1, 102,
		    203);
	ASSERT_FLOW(
		weir_flow_last(prefix(weir_flow_range(1, 1000), 600, &parts)),
		0, 1000 + 39900);
}

static void there_may_be_fewer(void **state)
{
	struct parts parts = {.n_made = 0};

	ASSERT_FLOW(prefix(weir_flow_range(1, 3), 3, &parts), 0, 6000);
	ASSERT_FLOW(prefix(weir_flow_range(1, 3), 5, &parts), 0, 6000);
	assert_int_equal(parts.n_prefix, 3);
	ASSERT_FLOW(prefix(weir_flow_empty(), 5, &parts), 0, 0);
	assert_int_equal(parts.n_prefix, 0);
}

static void an_error_within_the_first_ends_it(void **state)
{
	struct parts parts = {.n_made = 0};

	assert_flow(prefix(failing(), 5, &parts), false, (const intptr_t[]){0},
		    0, -EPROTO);
	assert_int_equal(parts.n_made, 0);
}

static void one_behind_them_comes_out_of_the_rest(void **state)
{
	struct parts parts = {.n_made = 0};

	ASSERT_FLOW(prefix(failing(), 4, &parts), -EPROTO, 10000);
	parts.compose = recover;
	ASSERT_FLOW(prefix(failing(), 4, &parts), 0, 10000, 99);
	ASSERT_FLOW(prefix(failing(), 2, &parts), 0, 3000, 3, 104, 99);
}

static void the_end_of_the_flow_is_the_end(void **state)
{
	struct parts parts = {.compose = first_alone, .counted = true};

	assert_flow(prefix(counted(weir_flow_range(1, 9)), 2, &parts), true,
		    (const intptr_t[]){3000, 3}, 2, 0);
	parts = (struct parts){.bad_item = 5, .counted = true};
	assert_flow(prefix(counted(weir_flow_range(1, 9)), 2, &parts), true,
		    (const intptr_t[]){3000, 3, 104}, 3, -EDOM);
}

static struct weir_flow *no_tail(void *const *items, size_t n,
				 struct weir_flow *tail, void *context)
{
	while (n > 0)
		item_drop(items[--n], NULL);
	weir_flow_free(tail);
	return NULL;
}

static void without_a_flow_it_fails(void **state)
{
	assert_flow(weir_flow_prefix_and_tail(counted(weir_flow_range(1, 9)), 2,
					      no_tail, NULL),
		    true, (const intptr_t[]){0}, 0, -EINVAL);
}

static struct weir_flow *first_and_no_end(struct weir_flow *up,
					  struct parts *parts)
{
	struct weir_flow *never =
		weir_flow_items(weir_flow_never(), &counted_items);

	return weir_flow_concat(
		(struct weir_flow *[]){weir_flow_take(up, 1), never}, 2);
}

static void a_rest_that_is_wanted_no_more_is_cancelled(void **state)
{
	struct parts parts = {.compose = first_and_no_end, .counted = true};

	world_counted(&parts);
	world.flow = prefix(world.flow, 1, &parts);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 9);
	until(&world, 0);
	ASSERT_OUT(&world, 1000, 2);
	assert_int_equal(n_live, 0);
	assert_int_equal(weir_flow_queue_offer(world.queue, NULL), -EPIPE);
	world_cancel();
}

/* --- The rest ----------------------------------------------------------------------- */

/* Three wait for 5 ms each. */
static struct weir_flow *late(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_delay(up, 5 * MS, 3);
}

static void a_cancel_drops_all_that_is_held(void **state)
{
	struct parts parts = {.compose = late, .counted = true};

	assert_cancel(prefix(counted(weir_flow_range(1, INT64_MAX / 100)), 9,
			     &parts));
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct parts parts = {.counted = true};
	struct weir_flow *flow;

	flow = into(prefix(counted(weir_flow_range(1, 9)), 3, &parts), &got);
	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_prefix_and_tail(NULL, 1, no_tail, NULL),
		weir_flow_prefix_and_tail(weir_flow_empty(), 1, NULL, NULL),
		weir_flow_prefix_and_tail(weir_flow_empty(), SIZE_MAX, no_tail,
					  NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_are_apart_from_the_rest),
		cmocka_unit_test(there_may_be_fewer),
		cmocka_unit_test(an_error_within_the_first_ends_it),
		cmocka_unit_test(one_behind_them_comes_out_of_the_rest),
		cmocka_unit_test(the_end_of_the_flow_is_the_end),
		cmocka_unit_test(without_a_flow_it_fails),
		cmocka_unit_test(a_rest_that_is_wanted_no_more_is_cancelled),
		cmocka_unit_test(a_cancel_drops_all_that_is_held),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
