/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a stream, one behind the other, and its beginning and its rest. */
#include "flow/memory.h"
#include "flow/world.h"

/* The context of all functions. */
struct parts {
	struct weir_flow *(*compose)(struct weir_flow *up, struct parts *parts);
	bool counted;
	intptr_t edge;	   /* each multiple of it is one */
	intptr_t no_edge;  /* one cannot say of this; 0: none */
	intptr_t bad_item; /* flows fail on it */
	intptr_t n_made;
	intptr_t n_prefix;
};

static intptr_t value_of(const struct parts *parts, void *item)
{
	return parts->counted ? ((struct item *)item)->value : (intptr_t)item;
}

static int is_edge(void *item, void *context)
{
	struct parts *parts = context;
	intptr_t value = value_of(parts, item);

	if (parts->no_edge && value == parts->no_edge)
		return -EDOM;
	return value % parts->edge == 0;
}

static struct weir_flow *make(struct weir_flow *up, void *context)
{
	struct parts *parts = context;

	parts->n_made++;
	return parts->compose(up, parts);
}

static struct weir_flow *when(struct weir_flow *flow, struct parts *parts)
{
	return weir_flow_split_when(flow, is_edge, make, parts);
}

static struct weir_flow *after(struct weir_flow *flow, struct parts *parts)
{
	return weir_flow_split_after(flow, is_edge, make, parts);
}

/* What is 100 more for each item before it in its part. */
static int add_index(void **item, uint64_t index, void *context)
{
	struct parts *parts = context;
	intptr_t value = value_of(parts, *item);

	if (parts->bad_item && value == parts->bad_item)
		return -EDOM;
	value += 100 * (intptr_t)index;
	if (parts->counted)
		((struct item *)*item)->value = value;
	else
		*item = (void *)value;
	return 0;
}

static struct weir_flow *index_them(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_index(up, add_index, parts);
}

static struct weir_flow *count(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_count(up);
}

static struct weir_flow *first_two(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_take(index_them(up, parts), 2);
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

static int three_of_each(void *item, uint64_t i, void **out, void *context)
{
	*out = (void *)((intptr_t)item * 10 + (intptr_t)i);
	return i < 3;
}

static struct weir_flow *expand(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_expand(up, three_of_each, parts);
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

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_RESUME;
}

static enum weir_directive restart(struct weir_error *error, void *context)
{
	return WEIR_RESTART;
}

static void an_item_that_is_neither_is_left_out_or_ends_it(void **state)
{
	struct parts parts = {.compose = index_them, .edge = 4, .no_edge = 6};

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

static struct weir_flow *none(struct weir_flow *up, struct parts *parts)
{
	weir_flow_free(up);
	return NULL;
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

static intptr_t the_5 = 5;

static int fails_above(void **item, void *context)
{
	return (intptr_t)*item == *(intptr_t *)context ? -EPROTO : 0;
}

static struct weir_flow *failing(void)
{
	return weir_flow_map(weir_flow_range(1, 9), fails_above, &the_5);
}

static int put_99(struct weir_error *error, void **item, void *context)
{
	*item = (void *)99;
	return 1;
}

static struct weir_flow *recover(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_recover(up, put_99, NULL);
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

/* --- prefix_and_tail --------------------------------------------------------------------- */

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

static struct weir_flow *first_alone(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_take(up, 1);
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

static struct world world;

static void a_rest_that_is_wanted_no_more_is_cancelled(void **state)
{
	struct parts parts = {.compose = first_and_no_end, .counted = true};

	world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = prefix(world.flow, 1, &parts);
	world_start(&world, OPEN);
	offer(&world, 1, 9);
	until(&world, 0);
	ASSERT_OUT(&world, 1000, 2);
	assert_int_equal(n_live, 0);
	assert_int_equal(weir_flow_queue_offer(world.queue, NULL), -EPIPE);
	weir_flow_run_cancel(world.run, NULL);
	world_end(&world, -ECANCELED);
}

/* --- All of them --------------------------------------------------------------------------- */

/* Two wait for 5 ms each. */
static struct weir_flow *late(struct weir_flow *up, struct parts *parts)
{
	return weir_flow_delay(up, 5 * MS, 2);
}

static void the_next_part_waits_for_the_end_of_the_last(void **state)
{
	struct parts parts = {.compose = late, .edge = 5, .counted = true};

	world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = when(world.flow, &parts);
	world_start(&world, OPEN);
	offer(&world, 1, 6);
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
	world_end(&world, 0);
}

static struct weir_flow *any(struct weir_flow *flow, size_t i,
			     struct parts *parts)
{
	if (i == 2)
		return prefix(flow, 3, parts);
	return i == 1 ? after(flow, parts) : when(flow, parts);
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
		world_init(&world, &counted_items);
		world.got.counted = true;
		world.flow = any(world.flow, i, &parts);
		world_start(&world, 0);
		offer(&world, 1, 1024);
		until(&world, 0);
		assert_int_equal(n_live, 1024);
		let_pass(&world, 2);
		ASSERT_OUT(&world, 1, 102);
		assert_int_equal(n_live, 1022);
		weir_flow_run_cancel(world.run, NULL);
		world_end(&world, -ECANCELED);
	}
}

static void a_cancel_drops_all_that_is_held(void **state)
{
	struct weir_flow_run_options options = {0};
	struct parts parts = {.compose = late, .edge = 5, .counted = true};
	struct weir_flow *flow;
	struct weir_flow_run *run;
	uint64_t seed, i;

	for (seed = 1; seed <= 300; seed++) {
		flow = any(counted(weir_flow_range(1, INT64_MAX / 100)),
			   seed % 3, &parts);
		options.unfused = (size_t)1 << seed % 5;
		assert_int_equal(weir_sim_new(&world.sim, seed, NULL), 0);
		assert_int_equal(weir_flow_start(flow,
						 weir_sim_executor(world.sim),
						 &options, &run),
				 0);
		for (i = weir_sim_random(world.sim, 50); i > 0; i--)
			weir_sim_step(world.sim);
		weir_flow_run_cancel(run, NULL);
		weir_sim_run(world.sim);
		weir_flow_run_free(run);
		weir_flow_free(flow);
		assert_int_equal(weir_sim_free(world.sim), 0);
		assert_int_equal(n_live, 0);
	}
}

static void without_memory_nothing_is_lost(void **state)
{
	static struct got got = {.counted = true};
	struct parts parts = {
		.compose = first_two,
		.edge = 3,
		.counted = true,
	};
	struct weir_flow *flow;
	size_t i;

	for (i = 0; i < 3; i++) {
		flow = any(counted(weir_flow_range(1, 9)), i, &parts);
		flow = into(flow, &got);
		(void)assert_short_of_memory(flow, &got, 0);
		weir_flow_free(flow);
	}
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
		weir_flow_prefix_and_tail(NULL, 1, no_tail, NULL),
		weir_flow_prefix_and_tail(weir_flow_empty(), 1, NULL, NULL),
		weir_flow_prefix_and_tail(weir_flow_empty(), SIZE_MAX, no_tail,
					  NULL),
	};
	size_t i;

	for (i = 0; i < sizeof(flows) / sizeof(*flows); i++) {
		assert_int_equal(weir_flow_check(flows[i], NULL, NULL),
				 -EINVAL);
		weir_flow_free(flows[i]);
	}
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
		cmocka_unit_test(the_first_are_apart_from_the_rest),
		cmocka_unit_test(there_may_be_fewer),
		cmocka_unit_test(an_error_within_the_first_ends_it),
		cmocka_unit_test(one_behind_them_comes_out_of_the_rest),
		cmocka_unit_test(the_end_of_the_flow_is_the_end),
		cmocka_unit_test(without_a_flow_it_fails),
		cmocka_unit_test(a_rest_that_is_wanted_no_more_is_cancelled),
		cmocka_unit_test(the_next_part_waits_for_the_end_of_the_last),
		cmocka_unit_test(none_takes_more_than_is_asked_for),
		cmocka_unit_test(a_cancel_drops_all_that_is_held),
		cmocka_unit_test(without_memory_nothing_is_lost),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
