/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that are made again after a while, and what happens meanwhile. */
#include "flow/error_restart.h"

static void world_around(struct parts *made,
			 const struct weir_flow_restart_options *options,
			 size_t open)
{
	world_counted(made);
	world.flow = around(world.flow, made, options);
	world_start(&world, open);
}

static void it_waits_longer_each_time(void **state)
{
	static const uint64_t at_ms[] = {0, 10, 30, 70, 110};
	struct parts made = {.fails_on = 2};
	size_t i;

	world_around(&made, &after_backoff, OPEN);
	flow_offer(&world, 1, 9);
	until(&world, 200 * MS);
	ASSERT_OUT(&world, 1, 3, 5, 7, 9);
	for (i = 0; i < 5; i++)
		assert_int_equal(world.at_ns[i], at_ms[i] * MS);
	assert_int_equal(made.n_made, 5);
	flow_world_end(&world, 0);
}

/* Takes up to three, and puts each out 5 ms later. */
static struct weir_flow *late(struct weir_flow *up, struct parts *made)
{
	return map(weir_flow_delay(up, 5 * MS, 3), made);
}

static void what_it_held_back_is_lost_with_it(void **state)
{
	struct parts made = {.compose = late, .fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	flow_offer(&world, 1, 3);
	until(&world, 4 * MS);
	flow_offer(&world, 5, 7);
	until(&world, 100 * MS);
	/* 2 fails with 3 behind it, and 6 with 7 */
	ASSERT_OUT(&world, 1, 5);
	assert_int_equal(world.at_ns[1], (5 + 10 + 5) * MS);
	flow_world_end(&world, 0);
}

static void nothing_runs_while_it_waits_and_a_cancel_ends_that(void **state)
{
	struct parts made = {.fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	flow_offer(&world, 1, 5);
	until(&world, 5 * MS);
	assert_int_equal(made.n_made, 1);
	assert_int_equal(weir_sim_run_until(world.base.sim, 9 * MS, 1000), 0);
	weir_flow_run_stop(world.run, NULL);
	until(&world, 100 * MS);
	assert_int_equal(made.n_made, 1);
	ASSERT_OUT(&world, 1);
	flow_world_end(&world, -ECANCELED);
}

static void upstream_may_end_while_it_waits(void **state)
{
	struct parts made = {.fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	flow_offer(&world, 1, 2);
	until(&world, 5 * MS);
	flow_world_end(&world, 0);
	assert_int_equal(made.n_made, 1);
}

static void upstream_may_fail_while_it_waits(void **state)
{
	struct parts made = {.fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	flow_offer(&world, 1, 2);
	until(&world, 5 * MS);
	assert_int_equal(
		weir_flow_queue_end(world.queue, weir_error_of(-EPROTO)), 0);
	until(&world, 6 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	flow_world_end(&world, -EPROTO);
	assert_int_equal(made.n_made, 1);
}

static void a_drain_lets_what_is_under_way_flow_through(void **state)
{
	struct parts made = {.counted = true, .fails_on = 2};

	world_counted(&made);
	world.flow = weir_flow_async(world.flow, 8, NULL);
	world.flow = around(world.flow, &made, &after_backoff);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 5);
	until(&world, 5 * MS);
	weir_flow_run_end(world.run);
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 1, 3, 5);
	assert_int_equal(world.at_ns[2], 30 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	flow_world_end(&world, 0);
}

static void a_drain_with_nothing_under_way_ends_the_wait(void **state)
{
	struct parts made = {.fails_on = 2};

	world_around(&made, &after_backoff, OPEN);
	flow_offer(&world, 1, 2);
	until(&world, 5 * MS);
	weir_flow_run_end(world.run);
	until(&world, 6 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	assert_int_equal(made.n_made, 1);
	flow_world_end(&world, 0);
}

static void it_takes_no_more_than_is_asked_for(void **state)
{
	struct parts made = {.fails_on = 2};

	world_around(&made, NULL, 0);
	flow_offer(&world, 1, 1023);
	until(&world, 0);
	assert_int_equal(weir_flow_queue_offer(world.queue, item_new(1024)), 0);
	let_pass(&world, 1);
	ASSERT_OUT(&world, 1);
	/* one was taken, so there is room for one */
	assert_int_equal(weir_flow_queue_offer(world.queue, item_new(1)), 0);
	world_cancel();
}

static void a_cancel_drops_all_that_is_held(void **state)
{
	struct parts made = {.counted = true, .fails_on = 3, .compose = late};

	assert_cancel(around(counted(weir_flow_range(1, INT64_MAX / 100)),
			     &made, &after_backoff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_waits_longer_each_time),
		cmocka_unit_test(what_it_held_back_is_lost_with_it),
		cmocka_unit_test(
			nothing_runs_while_it_waits_and_a_cancel_ends_that),
		cmocka_unit_test(upstream_may_end_while_it_waits),
		cmocka_unit_test(upstream_may_fail_while_it_waits),
		cmocka_unit_test(a_drain_lets_what_is_under_way_flow_through),
		cmocka_unit_test(a_drain_with_nothing_under_way_ends_the_wait),
		cmocka_unit_test(it_takes_no_more_than_is_asked_for),
		cmocka_unit_test(a_cancel_drops_all_that_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
