/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups that have items in common, or leave some out. */
#include "flow/memory_kit.h"
#include "flow/parts.h"

/* A list as the digits of a number; its items may be counted. */
static int to_digits(void **item, void *context)
{
	struct weir_flow_list *list = *item;
	intptr_t number = 0;
	size_t i;

	for (i = 0; i < list->n; i++)
		number = number * 10 +
			 (context ? ((struct item *)list->items[i])->value
				  : (intptr_t)list->items[i]);
	weir_flow_list_free(list);
	*item = context ? item_new(number) : (void *)number;
	return 0;
}

static struct weir_flow *digits(struct weir_flow *lists)
{
	lists = weir_flow_map(lists, to_digits, NULL);
	return weir_flow_items(lists, NULL);
}

static struct weir_flow *slid(struct weir_flow *flow, size_t n, size_t step)
{
	return digits(weir_flow_sliding(flow, n, step));
}

static struct weir_flow *slid_counted(struct weir_flow *flow, size_t n,
				      size_t step)
{
	static char is_counted;

	flow = weir_flow_sliding(counted(flow), n, step);
	flow = weir_flow_map(flow, to_digits, &is_counted);
	return weir_flow_items(flow, &counted_items);
}

static void groups_begin_step_items_apart(void **state)
{
	ASSERT_FLOW(slid(weir_flow_range(1, 5), 3, 1), 0, 123, 234, 345);
	ASSERT_FLOW(slid(weir_flow_range(1, 7), 3, 2), 0, 123, 345, 567);
	ASSERT_FLOW(slid(weir_flow_range(1, 6), 3, 3), 0, 123, 456);
	ASSERT_FLOW(slid(weir_flow_range(1, 8), 2, 3), 0, 12, 45, 78);
	ASSERT_FLOW(slid(weir_flow_range(1, 3), 1, 1), 0, 1, 2, 3);
}

static void the_last_one_has_an_item_of_its_own(void **state)
{
	ASSERT_FLOW(slid(weir_flow_range(1, 6), 3, 2), 0, 123, 345, 56);
	ASSERT_FLOW(slid(weir_flow_range(1, 2), 3, 1), 0, 12);
	ASSERT_FLOW(slid(weir_flow_range(1, 4), 3, 3), 0, 123, 4);
	ASSERT_FLOW(slid(weir_flow_range(1, 4), 2, 3), 0, 12, 4);
	ASSERT_FLOW(slid(weir_flow_range(1, 3), 2, 3), 0, 12);
	assert_flow(slid(weir_flow_empty(), 3, 1), false, (const intptr_t[]){0},
		    0, 0);
}

static void items_between_groups_may_be_many(void **state)
{
	ASSERT_FLOW(slid(weir_flow_range(1, 3001), 1, 1000), 0, 1, 1001, 2001,
		    3001);
}

static void items_in_several_groups_are_shared(void **state)
{
	static const intptr_t threes[] = {123, 234, 345}, twos[] = {12, 45};

	assert_flow(slid_counted(weir_flow_range(1, 5), 3, 1), true, threes, 3,
		    0);
	assert_flow(weir_flow_take(slid_counted(weir_flow_range(1, 9), 3, 1),
				   2),
		    true, threes, 2, 0);
	assert_flow(slid_counted(weir_flow_range(1, 5), 2, 3), true, twos, 2,
		    0);
}

static void an_error_drops_the_group_that_is_not_full(void **state)
{
	static const intptr_t expected[] = {123, 234};

	assert_flow(slid_counted(failing(), 3, 1), true, expected, 2, -EPROTO);
	assert_flow(slid_counted(failing(), 3, 3), true, expected, 1, -EPROTO);
}

static int share_none(void *item, void *context)
{
	return -EMFILE;
}

static void an_item_that_cannot_be_shared_ends_it(void **state)
{
	static const struct weir_items items[] = {
		{.drop = item_drop, .share = share_none},
		{.drop = item_drop},
	};
	static const int codes[] = {-EMFILE, -ENOTSUP};
	int64_t live = n_live;
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < 2; i++) {
		flow = weir_flow_items(counted(weir_flow_range(1, 9)),
				       &items[i]);
		flow = weir_flow_ignore(weir_flow_sliding(flow, 3, 1));
		assert_int_equal(run_on_sim(flow, 1, 0), codes[i]);
		weir_flow_free(flow);
		assert_int_equal(n_live, live);
	}
	flow = weir_flow_items(counted(weir_flow_range(1, 9)), &items[1]);
	flow = weir_flow_ignore(weir_flow_sliding(flow, 3, 3));
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
}

static void it_ends_without_demand(void **state)
{
	assert_ends_without_demand(slid(weir_flow_range(1, 5), 3, 1), 3);
	assert_ends_without_demand(slid(weir_flow_range(1, 6), 3, 2), 3);
}

static void without_memory_it_fails(void **state)
{
	static struct got got = {.counted = true};
	struct weir_flow *flow =
		into(slid_counted(weir_flow_range(1, 9), 3, 1), &got);

	(void)assert_short_of_memory(flow, &got, 0);
	weir_flow_free(flow);
}

static void bad_sizes_are_refused(void **state)
{
	struct weir_flow *flows[] = {
		weir_flow_sliding(weir_flow_empty(), 0, 1),
		weir_flow_sliding(weir_flow_empty(), 1, 0),
		weir_flow_sliding(weir_flow_empty(), WEIR_CAPACITY_MAX + 1, 1),
		weir_flow_sliding(weir_flow_empty(), 1, SIZE_MAX),
	};

	assert_refused_all(flows, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_begin_step_items_apart),
		cmocka_unit_test(the_last_one_has_an_item_of_its_own),
		cmocka_unit_test(items_between_groups_may_be_many),
		cmocka_unit_test(items_in_several_groups_are_shared),
		cmocka_unit_test(an_error_drops_the_group_that_is_not_full),
		cmocka_unit_test(an_item_that_cannot_be_shared_ends_it),
		cmocka_unit_test(it_ends_without_demand),
		cmocka_unit_test(without_memory_it_fails),
		cmocka_unit_test(bad_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
