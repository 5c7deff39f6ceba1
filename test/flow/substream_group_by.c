/* SPDX-License-Identifier: BSD-2-Clause */
/* Items with equal keys go through one flow each. */
#include "flow/substream_group_by.h"

static struct parts three = {.compose = index_them, .n_keys = 3};
static struct parts three_counted = {
	.compose = index_them,
	.n_keys = 3,
	.counted = true,
};

/* --- What comes out ------------------------------------------------------- */

static void equal_keys_go_through_one_flow_in_order(void **state)
{
	ASSERT_FLOW(grouped_by(weir_flow_range(1, 7), 3, &three, NULL), 0, 1, 2,
		    3, 104, 105, 106, 207);
	assert_flow(grouped_by(counted(weir_flow_range(1, 7)), 3,
			       &three_counted, NULL),
		    true, (const intptr_t[]){1, 2, 3, 104, 105, 106, 207}, 7,
		    0);
}

static void results_come_at_the_end_as_groups_have_begun(void **state)
{
	struct parts groups = {.compose = count, .n_keys = 3};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 7), 3, &groups, NULL), 0, 3,
		    2, 2);
	groups.n_made = 0;
	assert_flow(grouped_by(weir_flow_empty(), 3, &groups, NULL), false,
		    (const intptr_t[]){0}, 0, 0);
	assert_int_equal(groups.n_made, 0);
}

static void results_of_an_item_come_before_those_of_the_next(void **state)
{
	struct parts groups = {.compose = expand, .n_keys = 2};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 4), 2, &groups, NULL), 0, 10,
		    11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42);
}

/* And 99 behind all of them. */
static struct weir_flow *expand_and_99(struct weir_flow *up,
				       struct parts *groups)
{
	return weir_flow_concat(
		(struct weir_flow *[]){expand(up, groups),
				       weir_flow_single((void *)99)},
		2);
}

static void the_end_comes_behind_what_is_left_of_the_last_item(void **state)
{
	struct parts groups = {.compose = expand_and_99, .n_keys = 2};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 2), 2, &groups, NULL), 0, 10,
		    11, 12, 20, 21, 22, 99, 99);
}

/* 99 behind those of key 1, an error behind the others. */
static struct weir_flow *end_apart(struct weir_flow *up, struct parts *groups)
{
	struct weir_flow *both[] = {
		up,
		groups->key == 1 ? weir_flow_single((void *)99)
				 : weir_flow_fail(-EDOM, "at the end"),
	};

	return weir_flow_concat(both, 2);
}

static void groups_end_as_they_have_begun(void **state)
{
	struct parts groups = {.compose = end_apart, .n_keys = 2};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 4), 2, &groups, NULL), -EDOM,
		    1, 2, 3, 4, 99);
}

static void it_ends_with_the_last_item(void **state)
{
	struct parts groups = {.compose = index_them, .n_keys = 3};

	assert_ends_without_demand(
		grouped_by(weir_flow_range(1, 7), 3, &groups, NULL), 7);
}

static void there_may_be_many(void **state)
{
	static struct got got;
	struct parts groups = {.compose = count, .n_keys = 1000};
	struct weir_flow *flow = weir_flow_range(1, 2500);
	size_t i;

	flow = into(grouped_by(flow, 1000, &groups, NULL), &got);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(got.n, 1000);
	for (i = 0; i < 1000; i++)
		assert_int_equal(got.values[i], i < 500 ? 3 : 2);
	weir_flow_free(flow);
}

static void asked(size_t n, void *context)
{
	++*(size_t *)context;
}

static size_t n_asked;

static struct weir_flow *ask(struct weir_flow *up, struct parts *groups)
{
	static const struct weir_flow_peek_functions hooks = {
		.requested = asked};

	return index_them(weir_flow_peek(up, &hooks, &n_asked), groups);
}

/* Also where each item is a call of its own. */
static void groups_that_were_given_nothing_are_left_alone(void **state)
{
	static struct got got;
	struct parts groups = {.compose = ask, .n_keys = 500};
	struct weir_flow *flow = weir_flow_range(1, 2000);

	flow = into(grouped_by(flow, 500, &groups, NULL), &got);
	n_asked = 0;
	assert_int_equal(run_on_sim(flow, 1, 1), 0);
	assert_int_equal(got.n, 2000);
	assert_true(n_asked < 6 * 2000);
	weir_flow_free(flow);
}

/* --- How many ------------------------------------------------------------- */

static void too_many_groups_are_an_error(void **state)
{
	struct weir_error *error;

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 7), 2, &three, NULL), -EMFILE,
		    1, 2);
	error = error_of(weir_flow_name(
		grouped_by(weir_flow_range(1, 7), 2, &three, NULL), "by key"));
	assert_int_equal(error->code, -EMFILE);
	assert_string_equal(error->origin, "by key");
	assert_string_equal(error->message, "too many substreams");
	weir_error_unref(error);
}

static void items_of_a_flow_that_has_ended_are_dropped(void **state)
{
	struct parts groups = {
		.compose = first_two,
		.n_keys = 3,
		.counted = true,
	};

	assert_flow(grouped_by(counted(weir_flow_range(1, 12)), 3, &groups,
			       NULL),
		    true, (const intptr_t[]){1, 2, 3, 104, 105, 106}, 6, 0);
	assert_int_equal(groups.n_made, 3 * 20);
}

static void a_flow_that_has_ended_still_counts(void **state)
{
	struct parts groups = {.compose = first_two, .n_keys = 7};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 12), 6, &groups, NULL),
		    -EMFILE, 1, 2, 3, 4, 5, 6);
}

static void or_its_key_begins_anew_if_that_is_wanted(void **state)
{
	struct weir_flow_group_options options = {.reopen = true};
	struct parts groups = {.compose = first_two, .n_keys = 3};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 12), 3, &groups, &options), 0,
		    1, 2, 3, 104, 105, 106, 7, 8, 9, 110, 111, 112);
}

static void with_that_only_open_groups_count(void **state)
{
	struct weir_flow_group_options options = {.reopen = true, .buffer = 1};
	struct parts groups = {.compose = first_alone, .n_keys = 7};

	ASSERT_FLOW(grouped_by(weir_flow_range(1, 9), 1, &groups, &options), 0,
		    1, 2, 3, 4, 5, 6, 7, 8, 9);
}

/* After 5 ms. */
static struct weir_flow *one_and_no_end(struct weir_flow *up,
					struct parts *groups)
{
	struct weir_flow *both[2];

	if (groups->key != 1)
		return up;
	both[0] = weir_flow_take(weir_flow_delay(up, 5 * MS, 1), 1);
	both[1] = weir_flow_items(weir_flow_never(), &counted_items);
	return weir_flow_concat(both, 2);
}

static void world_by(struct parts *groups,
		     const struct weir_flow_group_options *options, size_t open)
{
	world_counted(groups);
	world.flow = grouped_by(world.flow, 8, groups, options);
	world_start(&world, open);
}

static void items_that_a_flow_wants_no_more_hold_nobody_up(void **state)
{
	struct weir_flow_group_options options = {.buffer = 1};
	struct parts groups = {.compose = one_and_no_end, .n_keys = 10};

	world_by(&groups, &options, OPEN);
	flow_offer(&world, 1, 1);
	flow_offer(&world, 11, 12);
	flow_offer(&world, 21, 22);
	until(&world, 1 * MS);
	assert_int_equal(world.got.n, 0);
	/* then it drops those that wait and those that come */
	until(&world, 6 * MS);
	ASSERT_OUT(&world, 1, 12, 22);
	assert_int_equal(n_live, 0);
	world_cancel();
}

/* --- Those that wait ------------------------------------------------------ */

/* Key 1 is late, one item each 5 ms. */
static struct weir_flow *late(struct weir_flow *up, struct parts *groups)
{
	return groups->key == 1 ? weir_flow_delay(up, 5 * MS, 1) : up;
}

static void others_go_by_one_that_waits(void **state)
{
	struct parts groups = {.compose = late, .n_keys = 10};

	world_by(&groups, NULL, OPEN);
	flow_offer(&world, 1, 1);
	flow_offer(&world, 11, 12);
	until(&world, 1 * MS);
	ASSERT_OUT(&world, 12);
	flow_offer(&world, 2, 2);
	until(&world, 6 * MS);
	ASSERT_OUT(&world, 12, 2, 1);
	until(&world, 11 * MS);
	ASSERT_OUT(&world, 12, 2, 1, 11);
	flow_world_end(&world, 0);
}

static void one_that_is_full_holds_all_up(void **state)
{
	struct weir_flow_group_options options = {.buffer = 2};
	struct parts groups = {.compose = late, .n_keys = 10};

	world_by(&groups, &options, OPEN);
	/* one is delayed and two wait when 2 comes */
	flow_offer(&world, 1, 1);
	flow_offer(&world, 11, 11);
	flow_offer(&world, 21, 21);
	flow_offer(&world, 2, 2);
	until(&world, 4 * MS);
	assert_int_equal(world.got.n, 0);
	until(&world, 20 * MS);
	ASSERT_OUT(&world, 1, 2, 11, 21);
	assert_int_equal(world.at_ns[1], 5 * MS);
	flow_world_end(&world, 0);
}

static void it_takes_no_more_than_is_asked_for(void **state)
{
	struct parts groups = {.compose = index_them, .n_keys = 2};

	world_by(&groups, NULL, 0);
	flow_offer(&world, 1, 1024);
	until(&world, 0);
	let_pass(&world, 1);
	ASSERT_OUT(&world, 1);
	assert_int_equal(n_live, 1023);
	let_pass(&world, 2);
	ASSERT_OUT(&world, 1, 2, 103);
	world_cancel();
}

static struct weir_flow *sum_of_late(struct weir_flow *up, struct parts *groups)
{
	return weir_flow_last(late(up, groups));
}

static void a_drain_brings_out_the_results(void **state)
{
	struct parts groups = {.compose = sum_of_late, .n_keys = 10};

	world_by(&groups, NULL, OPEN);
	flow_offer(&world, 1, 2);
	flow_offer(&world, 11, 12);
	until(&world, 1 * MS);
	weir_flow_run_end(world.run);
	until(&world, 20 * MS);
	ASSERT_OUT(&world, 12, 11);
	flow_world_end(&world, 0);
}

/* --- The rest ------------------------------------------------------------- */

static void a_cancel_drops_all_that_is_held(void **state)
{
	struct weir_flow_group_options by = {.buffer = 2};
	struct parts groups = {.compose = late, .n_keys = 3, .counted = true};

	assert_cancel(grouped_by(counted(weir_flow_range(1, INT64_MAX / 100)),
				 3, &groups, &by));
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct parts groups = {
		.compose = first_two,
		.n_keys = 40,
		.counted = true,
	};
	struct weir_flow_group_options options = {.reopen = true};
	struct weir_flow *flow = grouped_by(counted(weir_flow_range(1, 90)), 40,
					    &groups, &options);

	flow = into(flow, &got);
	/* the island's, and 40 groups and their flows */
	assert_true(assert_short_of_memory(flow, &got, 0) > 3 * 40);
	weir_flow_free(flow);
}

/* --- Lists ---------------------------------------------------------------- */

static struct weir_flow *twos(struct weir_flow *up, struct parts *groups)
{
	return weir_flow_grouped(up, 2);
}

static int to_digits(void **item, void *context)
{
	struct weir_flow_list *list = *item;
	intptr_t number = 0;

	for (size_t i = 0; i < list->n; i++)
		number = number * 10 + value_of(context, list->items[i]);
	weir_flow_list_free(list);
	*item = (void *)number;
	return 0;
}

/* Pekko: groupBy(...).grouped(2).mergeSubstreams. */
static void groups_may_make_lists(void **state)
{
	static struct parts groups = {
		.compose = twos, .n_keys = 3, .counted = true};
	struct weir_flow *flow =
		grouped_by(counted(weir_flow_range(1, 9)), 3, &groups, NULL);

	flow = weir_flow_items(flow, weir_flow_list_items());
	flow = weir_flow_map(flow, to_digits, &groups);
	flow = weir_flow_items(flow, NULL);
	ASSERT_FLOW(flow, 0, 14, 25, 36, 7, 8, 9);
	/* those that nobody takes are dropped with their items */
	flow = grouped_by(counted(weir_flow_range(1, 9)), 3, &groups, NULL);
	flow = weir_flow_items(flow, weir_flow_list_items());
	flow = weir_flow_ignore(flow);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_go_through_one_flow_in_order),
		cmocka_unit_test(results_come_at_the_end_as_groups_have_begun),
		cmocka_unit_test(
			results_of_an_item_come_before_those_of_the_next),
		cmocka_unit_test(
			the_end_comes_behind_what_is_left_of_the_last_item),
		cmocka_unit_test(groups_end_as_they_have_begun),
		cmocka_unit_test(it_ends_with_the_last_item),
		cmocka_unit_test(there_may_be_many),
		cmocka_unit_test(groups_that_were_given_nothing_are_left_alone),
		cmocka_unit_test(too_many_groups_are_an_error),
		cmocka_unit_test(items_of_a_flow_that_has_ended_are_dropped),
		cmocka_unit_test(a_flow_that_has_ended_still_counts),
		cmocka_unit_test(or_its_key_begins_anew_if_that_is_wanted),
		cmocka_unit_test(with_that_only_open_groups_count),
		cmocka_unit_test(
			items_that_a_flow_wants_no_more_hold_nobody_up),
		cmocka_unit_test(others_go_by_one_that_waits),
		cmocka_unit_test(one_that_is_full_holds_all_up),
		cmocka_unit_test(it_takes_no_more_than_is_asked_for),
		cmocka_unit_test(a_drain_brings_out_the_results),
		cmocka_unit_test(a_cancel_drops_all_that_is_held),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(groups_may_make_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
