/* SPDX-License-Identifier: BSD-2-Clause */
/* Items that are joined while nobody asks, up to a bound. */
#include "flow/world.h"

static struct flow_world world;

static int sum_up(void **all, void *item, void *context)
{
	*all = (void *)((intptr_t)*all + (intptr_t)item);
	return 0;
}

static int sum_items(void **all, void *item, void *context)
{
	((struct item *)*all)->value += ((struct item *)item)->value;
	item_drop(item, NULL);
	return 0;
}

static const struct weir_flow_conflate_functions sum = {.add = sum_up},
						 sum_counted = {
							 .add = sum_items};

static size_t n_weighed;

static uint64_t weight_of(void *item, void *context)
{
	n_weighed++;
	return (uint64_t)(context ? ((struct item *)item)->value
				  : (intptr_t)item);
}

/* One more passes, when all that can come in has. */
static void ask(void)
{
	until(&world, 0);
	let_pass(&world, 1);
	until(&world, 0);
}

static void a_batch_has_so_many_items_at_most(void **state)
{
	flow_world_init(&world, NULL);
	world.flow = weir_flow_batch(world.flow, 3, &sum, NULL);
	world_start(&world, 0);
	flow_offer(&world, 1, 7);
	ask();
	ASSERT_OUT(&world, 6);
	ask();
	ASSERT_OUT(&world, 6, 15);
	/* not full yet */
	flow_offer(&world, 8, 8);
	ask();
	ASSERT_OUT(&world, 6, 15, 15);
	let_pass(&world, 1);
	flow_offer(&world, 9, 9);
	until(&world, 0);
	ASSERT_OUT(&world, 6, 15, 15, 9);
	flow_world_end(&world, 0);
}

static void a_batch_of_one_is_the_item(void **state)
{
	flow_world_init(&world, NULL);
	world.flow = weir_flow_batch(world.flow, 1, &sum, NULL);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 5);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 1, 2, 3, 4, 5);
}

static void offer_all(const intptr_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		flow_offer(&world, values[i], values[i]);
}

static void a_batch_weighs_so_much_at_most(void **state)
{
	static const intptr_t values[] = {1, 3, 2, 5, 1, 9, 1};

	flow_world_init(&world, NULL);
	world.flow =
		weir_flow_batch_weighted(world.flow, 5, weight_of, &sum, NULL);
	world_start(&world, 0);
	n_weighed = 0;
	offer_all(values, 7);
	ask();
	ASSERT_OUT(&world, 4);
	ask();
	ASSERT_OUT(&world, 4, 2);
	ask();
	ask();
	/* what weighs too much goes alone */
	ask();
	ask();
	ASSERT_OUT(&world, 4, 2, 5, 1, 9, 1);
	assert_int_equal(n_weighed, 7);
	flow_world_end(&world, 0);
}

static void a_full_batch_takes_no_more(void **state)
{
	flow_world_init(&world, NULL);
	world.flow =
		weir_flow_batch_weighted(world.flow, 6, weight_of, &sum, NULL);
	world_start(&world, 0);
	n_weighed = 0;
	flow_offer(&world, 1, 9);
	until(&world, 0);
	assert_int_equal(n_weighed, 3);
	ask();
	/* and 4 alone, with which 5 does not fit */
	assert_int_equal(n_weighed, 5);
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
}

static void start_counted(size_t open)
{
	static char is_counted;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_batch_weighted(world.flow, 5, weight_of,
					      &sum_counted, &is_counted);
	world_start(&world, open);
}

static void an_item_for_the_next_batch_is_dropped_once(void **state)
{
	start_counted(0);
	flow_offer(&world, 1, 5);
	until(&world, 0);
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
	assert_int_equal(n_live, 0);
}

static void the_end_comes_behind_what_waits(void **state)
{
	start_counted(0);
	flow_offer(&world, 1, 4);
	until(&world, 0);
	assert_int_equal(weir_flow_queue_end(world.queue, weir_error_of(-EIO)),
			 0);
	ask();
	ASSERT_OUT(&world, 3);
	ask();
	ask();
	until(&world, 0);
	ASSERT_OUT(&world, 3, 3, 4);
	flow_world_end(&world, -EIO);
	assert_int_equal(n_live, 0);
}

static int fails_on_four(void **all, void *item, void *context)
{
	if (((struct item *)item)->value == 4)
		return -EDOM;
	return sum_items(all, item, context);
}

static enum weir_directive restart(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESTART;
}

static void a_restart_drops_the_batch(void **state)
{
	static const struct weir_flow_conflate_functions functions = {
		.add = fails_on_four};

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_batch(world.flow, 3, &functions, NULL);
	world.flow = weir_flow_supervise(world.flow, restart, NULL);
	world_start(&world, 0);
	flow_offer(&world, 3, 8);
	ask();
	/* 3 and 4 are gone */
	ASSERT_OUT(&world, 18);
	ask();
	ASSERT_OUT(&world, 18, 8);
	flow_world_end(&world, 0);
	assert_int_equal(n_live, 0);
}

static void bad_arguments_are_refused(void **state)
{
	static const struct weir_flow_conflate_functions none;
	struct weir_flow *flows[] = {
		weir_flow_batch(weir_flow_empty(), 0, &sum, NULL),
		weir_flow_batch(weir_flow_empty(), 1, NULL, NULL),
		weir_flow_batch(weir_flow_empty(), 1, &none, NULL),
		weir_flow_batch_weighted(weir_flow_empty(), 0, weight_of, &sum,
					 NULL),
		weir_flow_batch_weighted(weir_flow_empty(), 1, NULL, &sum,
					 NULL),
	};

	assert_refused_all(flows, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_has_so_many_items_at_most),
		cmocka_unit_test(a_batch_of_one_is_the_item),
		cmocka_unit_test(a_batch_weighs_so_much_at_most),
		cmocka_unit_test(a_full_batch_takes_no_more),
		cmocka_unit_test(an_item_for_the_next_batch_is_dropped_once),
		cmocka_unit_test(the_end_comes_behind_what_waits),
		cmocka_unit_test(a_restart_drops_the_batch),
		cmocka_unit_test(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
