/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams that end, or begin, when some time has passed. */
#include "flow/marbles_kit.h"
#include "flow/world.h"

#define ASSERT_PICTURES(pictures) \
	assert_pictures(pictures, sizeof(pictures) / sizeof(*(pictures)))

COMPOSE(taken, weir_flow_take_within(flow, 30 * MS))
COMPOSE(dropped, weir_flow_drop_within(flow, 30 * MS))
COMPOSE(delayed, weir_flow_initial_delay(flow, 30 * MS))

static void a_stream_is_taken_until_its_time_is_up(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_taken,
		 .in = {"a@0 b@29 c@30 d@40 |@50"},
		 .out = {"a@0 b@29 |@30"}},
		{.compose = compose_taken, .in = {"|@10"}, .out = {"|@10"}},
		{.compose = compose_taken,
		 .in = {"a@5 !EIO@10"},
		 .out = {"a@5 !EIO@10"}},
		{.compose = compose_taken,
		 .in = {"a@5 !EIO@50"},
		 .out = {"a@5 |@30"}},
	};

	ASSERT_PICTURES(pictures);
}

static void a_stream_is_dropped_until_its_time_is_up(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_dropped,
		 .in = {"a@0 b@29 c@30 d@90 |@95"},
		 .out = {"c@30 d@90 |@95"}},
		{.compose = compose_dropped,
		 .in = {"a@5 |@10"},
		 .out = {"|@10"}},
		{.compose = compose_dropped,
		 .in = {"a@5 b@50 !EIO@60"},
		 .out = {"b@50 !EIO@60"}},
	};

	ASSERT_PICTURES(pictures);
}

static void the_first_item_waits_and_no_other_does(void **state)
{
	static const struct picture pictures[] = {
		{.compose = compose_delayed,
		 .in = {"a@0 b@10 c@40 |@50"},
		 .out = {"a@30 b@30 c@40 |@50"}},
		{.compose = compose_delayed,
		 .in = {"a@40 b@45 !EIO@50"},
		 .out = {"a@40 b@45 !EIO@50"}},
		/* an end that has no items before it does not wait */
		{.compose = compose_delayed, .in = {"|@10"}, .out = {"|@10"}},
		{.compose = compose_delayed,
		 .in = {"!EIO@10"},
		 .out = {"!EIO@10"}},
	};

	ASSERT_PICTURES(pictures);
}

/* --- Who does not ask, and timers ----------------------------------------- */

static struct flow_world world;

/* Upon its flow put an operator, then: */
static void begin(size_t open)
{
	world.got.counted = true;
	world_start(&world, open);
	flow_offer(&world, 1, 3);
}

static void an_end_in_time_needs_no_demand(void **state)
{
	flow_world_init(&world, &counted_items);
	world.flow = weir_flow_take_within(world.flow, 30 * MS);
	begin(1);
	until(&world, 29 * MS);
	assert_false(weir_completion_done(weir_flow_run_over(world.run)));
	until(&world, 30 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	ASSERT_OUT(&world, 1);
	flow_world_end(&world, 0);
}

static void what_nobody_asked_for_in_the_time_is_not_dropped(void **state)
{
	flow_world_init(&world, &counted_items);
	world.flow = weir_flow_drop_within(world.flow, 30 * MS);
	begin(0);
	until(&world, 30 * MS);
	let_pass(&world, OPEN);
	ASSERT_OUT(&world, 1, 2, 3);
	flow_world_end(&world, 0);
}

static void no_item_is_taken_before_it_may_pass(void **state)
{
	flow_world_init(&world, &counted_items);
	world.flow = weir_flow_initial_delay(world.flow, 30 * MS);
	begin(OPEN);
	until(&world, 29 * MS);
	assert_int_equal(n_live, 3);
	assert_int_equal(world.got.n, 0);
	until(&world, 30 * MS);
	ASSERT_OUT(&world, 1, 2, 3);
	flow_world_end(&world, 0);
}

static void an_end_or_a_cancel_leaves_no_timer(void **state)
{
	int round;

	for (round = 0; round < 4; round++) {
		flow_world_init(&world, NULL);
		world.flow =
			round % 2
				? weir_flow_take_within(world.flow, 30 * MS)
				: weir_flow_initial_delay(world.flow, 30 * MS);
		world_start(&world, OPEN);
		until(&world, 5 * MS);
		if (round < 2)
			weir_flow_run_stop(world.run, NULL);
		else
			assert_int_equal(weir_flow_queue_end(world.queue, NULL),
					 0);
		(void)weir_sim_run(world.base.sim);
		assert_int_equal(world_now(&world.base), 5 * MS);
		flow_world_end(&world, round < 2 ? -ECANCELED : 0);
	}
}

static void in_no_time_all_is_taken_or_none(void **state)
{
	assert_flow(weir_flow_take_within(weir_flow_range(1, 3), 0), false,
		    NULL, 0, 0);
	ASSERT_FLOW(weir_flow_drop_within(weir_flow_range(1, 3), 0), 0, 1, 2,
		    3);
	ASSERT_FLOW(weir_flow_initial_delay(weir_flow_range(1, 3), 0), 0, 1, 2,
		    3);
	ASSERT_FLOW(weir_flow_take_within(weir_flow_range(1, 3), WEIR_FOREVER),
		    0, 1, 2, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_is_taken_until_its_time_is_up),
		cmocka_unit_test(a_stream_is_dropped_until_its_time_is_up),
		cmocka_unit_test(the_first_item_waits_and_no_other_does),
		cmocka_unit_test(an_end_in_time_needs_no_demand),
		cmocka_unit_test(
			what_nobody_asked_for_in_the_time_is_not_dropped),
		cmocka_unit_test(no_item_is_taken_before_it_may_pass),
		cmocka_unit_test(an_end_or_a_cancel_leaves_no_timer),
		cmocka_unit_test(in_no_time_all_is_taken_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
