/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers. */
#include "flow/world.h"

static void assert_run(const struct flow_world *world, size_t from, size_t n,
		       intptr_t first)
{
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(world->got.values[from + i], first + (int)i);
}

/* --- buffer --------------------------------------------------------------- */

/* 1 to `n` come while nobody asks; then all that is there is asked for. */
static void fill_buffer(struct flow_world *world, intptr_t n,
			enum weir_overflow strategy)
{
	flow_world_init(world, &counted_items);
	world->got.counted = true;
	world->flow = weir_flow_buffer(world->flow, 100, strategy);
	world_start(world, 0);
	flow_offer(world, 1, n);
	until(world, 0);
	let_pass(world, OPEN);
}

static void buffer_head_keeps_the_youngest(void **state)
{
	static struct flow_world world;

	fill_buffer(&world, 200, WEIR_OVERFLOW_DROP_HEAD);
	assert_int_equal(world.got.n, 100);
	assert_run(&world, 0, 100, 101);
	flow_world_end(&world, 0);
}

static void buffer_tail_keeps_the_oldest_and_the_last(void **state)
{
	static struct flow_world world;

	fill_buffer(&world, 200, WEIR_OVERFLOW_DROP_TAIL);
	assert_int_equal(world.got.n, 100);
	assert_run(&world, 0, 99, 1);
	assert_int_equal(world.got.values[99], 200);
	flow_world_end(&world, 0);
}

static void buffer_all_begins_anew(void **state)
{
	static struct flow_world world;

	fill_buffer(&world, 150, WEIR_OVERFLOW_DROP_ALL);
	assert_int_equal(world.got.n, 50);
	assert_run(&world, 0, 50, 101);
	flow_world_end(&world, 0);
}

/* It is full when the 101st comes. */
static void buffer_all_drops_all_before_it_is_asked(void **state)
{
	static struct flow_world world;

	fill_buffer(&world, 101, WEIR_OVERFLOW_DROP_ALL);
	assert_int_equal(world.got.n, 1);
	assert_run(&world, 0, 1, 101);
	flow_world_end(&world, 0);
}

static void buffer_new_keeps_the_oldest(void **state)
{
	static struct flow_world world;

	fill_buffer(&world, 150, WEIR_OVERFLOW_DROP_NEW);
	assert_int_equal(world.got.n, 100);
	assert_run(&world, 0, 100, 1);
	flow_world_end(&world, 0);
}

static void buffer_fail_fails_and_cancels_upstream(void **state)
{
	static struct flow_world world;

	fill_buffer(&world, 101, WEIR_OVERFLOW_FAIL);
	assert_int_equal(world.got.n, 0);
	assert_int_equal(weir_flow_queue_offer(world.queue, NULL), -EPIPE);
	flow_world_end(&world, -EOVERFLOW);
}

static void buffer_with_back_pressure_asks_for_no_more(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow =
		weir_flow_buffer(world.flow, 100, WEIR_OVERFLOW_BACK_PRESSURE);
	world_start(&world, 0);
	flow_offer(&world, 1, 1024);
	until(&world, 0);
	/* the queue's own room says how many were taken */
	flow_offer(&world, 1025, 1124);
	assert_int_equal(weir_flow_queue_offer(world.queue, NULL), -EAGAIN);
	let_pass(&world, OPEN);
	assert_int_equal(world.got.n, 1124);
	assert_run(&world, 0, 1124, 1);
	flow_world_end(&world, 0);
}

static void a_buffer_ends_behind_what_it_holds(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_buffer(world.flow, 3, WEIR_OVERFLOW_DROP_HEAD);
	world_start(&world, 1);
	flow_offer(&world, 1, 3);
	until(&world, 0);
	assert_int_equal(weir_flow_queue_end(world.queue, NULL), 0);
	until(&world, 0);
	assert_false(weir_completion_done(weir_flow_run_over(world.run)));
	let_pass(&world, OPEN);
	ASSERT_OUT(&world, 1, 2, 3);
	flow_world_end(&world, 0);
}

static void a_buffer_that_is_cancelled_drops_what_it_holds(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_take(
		weir_flow_buffer(world.flow, 8, WEIR_OVERFLOW_DROP_HEAD), 2);
	world_start(&world, 0);
	flow_offer(&world, 1, 6);
	until(&world, 0);
	let_pass(&world, OPEN);
	ASSERT_OUT(&world, 1, 2);
	flow_world_end(&world, 0);
}

/* What a full buffer drops is told by its items, one by one. */
static void count_drop(void *item, void *context)
{
	++*(size_t *)context;
}

/* 5 have room; 8 come, 1 to 8. How many are dropped. */
static size_t fill_five(struct flow_world *world, enum weir_overflow strategy)
{
	size_t n_dropped = 0;
	struct weir_items items = {.drop = count_drop, .context = &n_dropped};

	flow_world_init(world, &items);
	world->flow = weir_flow_buffer(world->flow, 5, strategy);
	world_start(world, 0);
	flow_offer(world, 1, 8);
	until(world, 0);
	let_pass(world, OPEN);
	flow_world_end(world, 0);
	return n_dropped;
}

static void what_a_full_buffer_drops_can_be_counted(void **state)
{
	static struct flow_world world;

	assert_int_equal(fill_five(&world, WEIR_OVERFLOW_DROP_NEW), 3);
	ASSERT_OUT(&world, 1, 2, 3, 4, 5);
	assert_int_equal(fill_five(&world, WEIR_OVERFLOW_DROP_HEAD), 3);
	ASSERT_OUT(&world, 4, 5, 6, 7, 8);
	assert_int_equal(fill_five(&world, WEIR_OVERFLOW_DROP_TAIL), 3);
	ASSERT_OUT(&world, 1, 2, 3, 4, 8);
	assert_int_equal(fill_five(&world, WEIR_OVERFLOW_DROP_ALL), 5);
	ASSERT_OUT(&world, 6, 7, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_head_keeps_the_youngest),
		cmocka_unit_test(buffer_tail_keeps_the_oldest_and_the_last),
		cmocka_unit_test(buffer_all_begins_anew),
		cmocka_unit_test(buffer_all_drops_all_before_it_is_asked),
		cmocka_unit_test(buffer_new_keeps_the_oldest),
		cmocka_unit_test(buffer_fail_fails_and_cancels_upstream),
		cmocka_unit_test(buffer_with_back_pressure_asks_for_no_more),
		cmocka_unit_test(a_buffer_ends_behind_what_it_holds),
		cmocka_unit_test(
			a_buffer_that_is_cancelled_drops_what_it_holds),
		cmocka_unit_test(what_a_full_buffer_drops_can_be_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
