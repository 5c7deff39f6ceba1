/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups, rates and times; see rate_buffer.c. */
#include "flow/world.h"

/* --- conflate ------------------------------------------------------------- */

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

static void what_nobody_asks_for_is_conflated(void **state)
{
	static struct flow_world world;
	struct weir_flow_conflate_functions functions = {.add = sum_up};

	flow_world_init(&world, NULL);
	world.flow = weir_flow_conflate(world.flow, &functions, NULL);
	world_start(&world, 0);
	flow_offer(&world, 1, 100);
	until(&world, 0);
	let_pass(&world, OPEN);
	flow_offer(&world, 7, 7);
	until(&world, 0);
	ASSERT_OUT(&world, 5050, 7);
	flow_world_end(&world, 0);
}

static void conflated_items_are_dropped_once(void **state)
{
	static struct flow_world world;
	struct weir_flow_conflate_functions functions = {.add = sum_items};

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_conflate(world.flow, &functions, NULL);
	world_start(&world, 1);
	flow_offer(&world, 1, 3);
	until(&world, 0);
	flow_offer(&world, 4, 5);
	until(&world, 0);
	weir_flow_run_stop(world.run, NULL);
	ASSERT_OUT(&world, 6);
	flow_world_end(&world, -ECANCELED);
}

/* --- grouped -------------------------------------------------------------- */

static int group_to_sum(void **item, void *context)
{
	struct weir_flow_list *list = *item;
	intptr_t sum = 0;
	size_t i;

	assert_true(list->n > 0);
	for (i = 0; i < list->n; i++)
		sum = sum * 10 + (intptr_t)list->items[i];
	weir_flow_list_free(list);
	*item = (void *)sum;
	return 0;
}

/* Each group as a number whose digits are its items. */
static struct weir_flow *digits(struct weir_flow *flow)
{
	return weir_flow_items(weir_flow_map(flow, group_to_sum, NULL), NULL);
}

static void groups_are_full_but_for_the_last(void **state)
{
	ASSERT_FLOW(digits(weir_flow_grouped(weir_flow_range(1, 7), 3)), 0, 123,
		    456, 7);
}

static void no_group_is_empty(void **state)
{
	struct weir_flow *flow = weir_flow_grouped(weir_flow_empty(), 3);

	assert_flow(digits(flow), false, NULL, 0, 0);
	ASSERT_FLOW(digits(weir_flow_grouped(weir_flow_range(1, 6), 3)), 0, 123,
		    456);
}

static void groups_that_are_dropped_drop_their_items(void **state)
{
	struct weir_flow *flow = counted(weir_flow_range(1, 1000));
	int64_t live = n_live;

	flow = weir_flow_take(weir_flow_grouped(flow, 4), 3);
	flow = weir_flow_ignore(flow);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	assert_int_equal(run_on_sim(flow, 1, 4), 0);
	assert_int_equal(n_live, live);
	weir_flow_free(flow);
}

static void a_group_goes_when_its_time_has_come(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = digits(weir_flow_grouped_within(world.flow, 3, 10 * MS));
	world_start(&world, OPEN);
	flow_offer(&world, 1, 2);
	until(&world, 9 * MS);
	assert_int_equal(world.got.n, 0);
	until(&world, 10 * MS);
	ASSERT_OUT(&world, 12);
	/* full before its time, which begins anew */
	until(&world, 15 * MS);
	flow_offer(&world, 3, 6);
	until(&world, 24 * MS);
	ASSERT_OUT(&world, 12, 345);
	until(&world, 25 * MS);
	ASSERT_OUT(&world, 12, 345, 6);
	/* an empty one does not go */
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 12, 345, 6);
	flow_offer(&world, 7, 7);
	flow_world_end(&world, 0);
	ASSERT_OUT(&world, 12, 345, 6, 7);
}

static uint64_t weight_of(void *item, void *context)
{
	return context ? UINT64_MAX : (uint64_t)(uintptr_t)item;
}

static struct weir_flow *weighted(struct weir_flow *flow, uint64_t weight,
				  size_t n, uint64_t within_ns)
{
	return digits(weir_flow_grouped_weighted(flow, weight, weight_of, NULL,
						 n, within_ns));
}

static void a_group_goes_when_it_is_heavy_enough(void **state)
{
	ASSERT_FLOW(weighted(weir_flow_range(1, 7), 6, 10, 0), 0, 123, 45, 6,
		    7);
	ASSERT_FLOW(weighted(weir_flow_range(1, 4), 5, 10, 0), 0, 123, 4);
}

static void a_light_group_goes_when_it_is_long_enough(void **state)
{
	ASSERT_FLOW(weighted(weir_flow_range(1, 7), 100, 3, 0), 0, 123, 456, 7);
}

static void weights_do_not_wrap_around(void **state)
{
	static char heavy;

	ASSERT_FLOW(digits(weir_flow_grouped_weighted(weir_flow_range(1, 3),
						      UINT64_MAX, weight_of,
						      &heavy, 10, 0)),
		    0, 1, 2, 3);
	ASSERT_FLOW(weighted(weir_flow_range(-1, 2), UINT64_MAX - 1, 10, 0), 0,
		    -1, 12);
}

static uint64_t counted_weight(void *item, void *context)
{
	return (uint64_t)((struct item *)item)->value;
}

static int first_of_group(void **item, void *context)
{
	struct weir_flow_list *list = *item;

	*item = list->items[0];
	list->items[0] = list->items[--list->n];
	weir_flow_list_free(list);
	return 0;
}

static struct weir_flow *up_to(struct weir_flow *flow, uint64_t weight,
			       size_t n, uint64_t within_ns)
{
	return digits(weir_flow_grouped_up_to(flow, weight, weight_of, NULL, n,
					      within_ns));
}

static struct weir_flow *one_to_three_with(intptr_t heavy)
{
	struct weir_flow *flow = weir_flow_prepend(
		weir_flow_range(1, 3), weir_flow_range(heavy, heavy));

	return weir_flow_prepend(flow, weir_flow_range(1, 3));
}

static void a_bounded_group_is_never_too_heavy(void **state)
{
	ASSERT_FLOW(up_to(weir_flow_range(1, 7), 6, 10, 0), 0, 123, 4, 5, 6, 7);
	ASSERT_FLOW(up_to(weir_flow_range(1, 7), 7, 10, 0), 0, 123, 4, 5, 6, 7);
	ASSERT_FLOW(up_to(weir_flow_range(1, 7), 9, 2, 0), 0, 12, 34, 5, 6, 7);
	ASSERT_FLOW(up_to(weir_flow_range(1, 3), 100, 10, 0), 0, 123);
}

static void an_item_that_is_too_heavy_goes_alone(void **state)
{
	ASSERT_FLOW(up_to(one_to_three_with(101), 100, 10, 0), 0, 123, 101,
		    123);
	ASSERT_FLOW(up_to(weir_flow_range(8, 9), 1, 10, 0), 0, 8, 9);
	ASSERT_FLOW(up_to(weir_flow_range(-1, 1), UINT64_MAX - 1, 10, 0), 0, -1,
		    1);
}

static void a_bounded_group_goes_when_its_time_has_come(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = up_to(world.flow, 6, 10, 10 * MS);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 2);
	until(&world, 10 * MS);
	ASSERT_OUT(&world, 12);
	/* the item that is too heavy has the time from when the others go */
	until(&world, 15 * MS);
	flow_offer(&world, 3, 4);
	until(&world, 15 * MS);
	ASSERT_OUT(&world, 12, 3);
	until(&world, 24 * MS);
	ASSERT_OUT(&world, 12, 3);
	until(&world, 25 * MS);
	ASSERT_OUT(&world, 12, 3, 4);
	flow_world_end(&world, 0);
}

static void an_item_for_the_next_group_is_dropped_once(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_grouped_up_to(world.flow, 4, counted_weight,
					     NULL, 10, 0);
	world.flow = weir_flow_map(world.flow, first_of_group, NULL);
	world.flow = weir_flow_items(world.flow, &counted_items);
	world_start(&world, 1);
	flow_offer(&world, 1, 9);
	until(&world, 0);
	weir_flow_run_stop(world.run, NULL);
	ASSERT_OUT(&world, 1);
	flow_world_end(&world, -ECANCELED);
}

static void a_light_group_goes_when_its_time_has_come(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = weighted(world.flow, 6, 10, 10 * MS);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 2);
	until(&world, 10 * MS);
	ASSERT_OUT(&world, 12);
	/* it begins anew, with no weight; that which is heavy, its time */
	until(&world, 15 * MS);
	flow_offer(&world, 3, 5);
	until(&world, 24 * MS);
	ASSERT_OUT(&world, 12, 34);
	until(&world, 25 * MS);
	ASSERT_OUT(&world, 12, 34, 5);
	flow_world_end(&world, 0);
}

/* --- throttle ------------------------------------------------------------- */

static void a_throttle_lets_items_pass_at_its_rate(void **state)
{
	static struct flow_world world;
	struct weir_flow_rate rate = {.n = 1, .per_ns = 10 * MS};
	size_t i;

	flow_world_init(&world, NULL);
	world.flow = weir_flow_throttle(world.flow, &rate);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 5);
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 1, 2, 3, 4, 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(world.at_ns[i], i * 10 * MS);
	flow_world_end(&world, 0);
}

static void a_pause_saves_up_a_burst(void **state)
{
	static struct flow_world world;
	struct weir_flow_rate rate = {.n = 10, .per_ns = 100 * MS, .burst = 3};

	flow_world_init(&world, NULL);
	world.flow = weir_flow_throttle(world.flow, &rate);
	world_start(&world, OPEN);
	until(&world, 1000 * MS);
	flow_offer(&world, 1, 5);
	until(&world, 1000 * MS);
	ASSERT_OUT(&world, 1, 2, 3);
	until(&world, 1010 * MS);
	ASSERT_OUT(&world, 1, 2, 3, 4);
	until(&world, 1020 * MS);
	ASSERT_OUT(&world, 1, 2, 3, 4, 5);
	flow_world_end(&world, 0);
}

static int64_t costs_itself(void *item, void *context)
{
	return (intptr_t)item;
}

static void items_pay_what_they_cost(void **state)
{
	static struct flow_world world;
	struct weir_flow_rate rate = {
		.n = 1, .per_ns = MS, .burst = 2, .cost = costs_itself};

	flow_world_init(&world, NULL);
	world.flow = weir_flow_throttle(world.flow, &rate);
	world_start(&world, OPEN);
	flow_offer(&world, 2, 2); /* at 0: the bucket is empty */
	flow_offer(&world, 5, 5); /* at 2: full, and owes 3 */
	flow_offer(&world, 1, 1); /* at 2 + 3 + 1 */
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 2, 5, 1);
	assert_int_equal(world.at_ns[0], 0);
	assert_int_equal(world.at_ns[1], 2 * MS);
	assert_int_equal(world.at_ns[2], 6 * MS);
	flow_world_end(&world, 0);
}

static void a_throttle_that_enforces_fails(void **state)
{
	static struct flow_world world;
	struct weir_flow_rate rate = {
		.n = 2, .per_ns = MS, .how = WEIR_FLOW_THROTTLE_ENFORCE};

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_throttle(world.flow, &rate);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 4);
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 1, 2);
	flow_world_end(&world, -EBUSY);
}

static void without_a_burst_each_item_waits_out_its_cost(void **state)
{
	static struct flow_world world;
	struct weir_flow_rate rate = {
		.n = 1, .per_ns = 10 * MS, .burst = WEIR_FLOW_NO_BURST};

	flow_world_init(&world, NULL);
	world.flow = weir_flow_throttle(world.flow, &rate);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 2);
	until(&world, 9 * MS);
	assert_int_equal(world.got.n, 0);
	until(&world, 1000 * MS);
	flow_offer(&world, 3, 3);
	until(&world, 2000 * MS);
	ASSERT_OUT(&world, 1, 2, 3);
	assert_int_equal(world.at_ns[0], 10 * MS);
	assert_int_equal(world.at_ns[1], 20 * MS);
	assert_int_equal(world.at_ns[2], 1010 * MS);
	flow_world_end(&world, 0);
}

static int64_t costs_once(void *item, void *context)
{
	(*(int *)context)++;
	return (intptr_t)item;
}

static void without_a_burst_what_costs_nothing_goes_at_once(void **state)
{
	static struct flow_world world;
	static int n_calls;
	struct weir_flow_rate rate = {
		.n = 1,
		.per_ns = MS,
		.burst = WEIR_FLOW_NO_BURST,
		.cost = costs_once,
		.context = &n_calls,
	};

	flow_world_init(&world, NULL);
	world.flow = weir_flow_throttle(world.flow, &rate);
	world_start(&world, OPEN);
	flow_offer(&world, 0, 0);
	flow_offer(&world, 7, 7);
	flow_offer(&world, 0, 1);
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 0, 7, 0, 1);
	assert_int_equal(world.at_ns[0], 0);
	assert_int_equal(world.at_ns[1], 7 * MS);
	assert_int_equal(world.at_ns[2], 7 * MS);
	assert_int_equal(world.at_ns[3], 8 * MS);
	assert_int_equal(n_calls, 4);
	flow_world_end(&world, 0);
}

static int64_t three_costs_nobody_knows(void *item, void *context)
{
	return ((struct item *)item)->value == 3 ? -EDOM : 1;
}

static enum weir_directive as_told(struct weir_error *error, void *context)
{
	return *(enum weir_directive *)context;
}

/* A bucket that is made anew is full. */
static void an_item_whose_cost_is_an_error_is_left_out_or_fails(void **state)
{
	static const struct weir_flow_rate rate = {
		.n = 1,
		.per_ns = MS,
		.burst = 2,
		.cost = three_costs_nobody_knows,
	};
	static const uint64_t last_ms[] = {3, 1}; /* when 6 goes */
	static enum weir_directive directives[] = {WEIR_DIRECTIVE_RESUME,
						   WEIR_DIRECTIVE_RESTART,
						   WEIR_DIRECTIVE_STOP};
	static struct flow_world world;
	size_t i;

	for (i = 0; i < 3; i++) {
		flow_world_init(&world, &counted_items);
		world.got.counted = true;
		world.flow = weir_flow_throttle(world.flow, &rate);
		world.flow = weir_flow_supervise(world.flow, as_told,
						 &directives[i]);
		world_start(&world, OPEN);
		flow_offer(&world, 1, 6);
		until(&world, 100 * MS);
		if (i == 2) {
			ASSERT_OUT(&world, 1, 2);
			flow_world_end(&world, -EDOM);
			continue;
		}
		ASSERT_OUT(&world, 1, 2, 4, 5, 6);
		assert_int_equal(world.at_ns[4], last_ms[i] * MS);
		flow_world_end(&world, 0);
	}
}

/* --- delay ---------------------------------------------------------------- */

static void each_item_is_late_by_the_delay(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = weir_flow_delay(world.flow, 10 * MS, 4);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 1);
	until(&world, 3 * MS);
	flow_offer(&world, 2, 2);
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 1, 2);
	assert_int_equal(world.at_ns[0], 10 * MS);
	assert_int_equal(world.at_ns[1], 13 * MS);
	flow_world_end(&world, 0);
}

static void a_delay_that_is_cancelled_drops_what_waits(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, &counted_items);
	world.got.counted = true;
	world.flow = weir_flow_delay(world.flow, 10 * MS, 4);
	world_start(&world, OPEN);
	flow_offer(&world, 1, 6);
	until(&world, 5 * MS);
	weir_flow_run_stop(world.run, NULL);
	flow_world_end(&world, -ECANCELED);
	assert_int_equal(world.got.n, 0);
}

/* --- timeouts ------------------------------------------------------------- */

static void an_idle_stream_fails(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = weir_flow_idle_timeout(world.flow, 10 * MS);
	world_start(&world, OPEN);
	until(&world, 9 * MS);
	flow_offer(&world, 1, 1);
	until(&world, 18 * MS);
	flow_offer(&world, 2, 2);
	until(&world, 27 * MS);
	assert_false(weir_completion_done(weir_flow_run_over(world.run)));
	until(&world, 28 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	ASSERT_OUT(&world, 1, 2);
	flow_world_end(&world, -ETIMEDOUT);
}

static void a_stream_that_completes_too_late_fails(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = weir_flow_completion_timeout(world.flow, 10 * MS);
	world_start(&world, OPEN);
	until(&world, 9 * MS);
	flow_offer(&world, 1, 1);
	until(&world, 10 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	flow_world_end(&world, -ETIMEDOUT);
}

/* An error needs no demand. */
static void a_timeout_is_told_though_nobody_asks(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = weir_flow_completion_timeout(world.flow, 10 * MS);
	world_start(&world, 0);
	flow_offer(&world, 1, 5);
	until(&world, 10 * MS);
	assert_true(weir_completion_done(weir_flow_run_over(world.run)));
	flow_world_end(&world, -ETIMEDOUT);
}

static void a_first_item_ends_the_initial_timeout(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = weir_flow_initial_timeout(world.flow, 10 * MS);
	world_start(&world, OPEN);
	until(&world, 9 * MS);
	flow_offer(&world, 1, 1);
	until(&world, 100 * MS);
	flow_offer(&world, 2, 2);
	until(&world, 100 * MS);
	ASSERT_OUT(&world, 1, 2);
	flow_world_end(&world, 0);
}

static void without_a_first_item_it_fails(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	world.flow = weir_flow_initial_timeout(world.flow, 10 * MS);
	world_start(&world, OPEN);
	until(&world, 10 * MS);
	flow_world_end(&world, -ETIMEDOUT);
}

/* --- tick ----------------------------------------------------------------- */

static void ticks_come_on_time_and_are_not_made_up_for(void **state)
{
	static struct flow_world world;

	flow_world_init(&world, NULL);
	weir_flow_free(world.flow);
	world.flow = weir_flow_tick(5 * MS, 10 * MS, (void *)1);
	world_start(&world, 2);
	until(&world, 50 * MS);
	ASSERT_OUT(&world, 1, 1);
	assert_int_equal(world.at_ns[0], 5 * MS);
	assert_int_equal(world.at_ns[1], 15 * MS);
	let_pass(&world, OPEN);
	until(&world, 60 * MS);
	ASSERT_OUT(&world, 1, 1, 1, 1);
	assert_int_equal(world.at_ns[2], 50 * MS);
	assert_int_equal(world.at_ns[3], 55 * MS);
	weir_flow_run_end(world.run);
	flow_world_end(&world, 0);
}

static void bad_arguments_make_a_failed_flow(void **state)
{
	struct weir_flow_rate rate = {.n = 0, .per_ns = 1};
	struct weir_flow_rate never = {
		.n = 1,
		.per_ns = 1,
		.burst = WEIR_FLOW_NO_BURST,
		.how = WEIR_FLOW_THROTTLE_ENFORCE,
	};
	struct weir_flow *flows[] = {
		weir_flow_buffer(weir_flow_empty(), 0, WEIR_OVERFLOW_DROP_NEW),
		weir_flow_buffer(weir_flow_empty(), 1, (enum weir_overflow)17),
		weir_flow_grouped(weir_flow_empty(), 0),
		weir_flow_grouped_within(weir_flow_empty(), 1, 0),
		weir_flow_grouped_weighted(weir_flow_empty(), 1, NULL, NULL, 1,
					   0),
		weir_flow_grouped_weighted(weir_flow_empty(), 0, weight_of,
					   NULL, 1, 0),
		weir_flow_grouped_weighted(weir_flow_empty(), 1, weight_of,
					   NULL, 0, 0),
		weir_flow_grouped_up_to(weir_flow_empty(), 1, NULL, NULL, 1, 0),
		weir_flow_grouped_up_to(weir_flow_empty(), 0, weight_of, NULL,
					1, 0),
		weir_flow_grouped_up_to(weir_flow_empty(), 1, weight_of, NULL,
					0, 0),
		weir_flow_conflate(weir_flow_empty(), NULL, NULL),
		weir_flow_throttle(weir_flow_empty(), NULL),
		weir_flow_throttle(weir_flow_empty(), &rate),
		weir_flow_throttle(weir_flow_empty(), &never),
		weir_flow_delay(weir_flow_empty(), 1, 0),
		weir_flow_tick(0, 0, NULL),
	};

	assert_refused_all(flows, sizeof(flows) / sizeof(*flows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_asks_for_is_conflated),
		cmocka_unit_test(conflated_items_are_dropped_once),
		cmocka_unit_test(groups_are_full_but_for_the_last),
		cmocka_unit_test(no_group_is_empty),
		cmocka_unit_test(groups_that_are_dropped_drop_their_items),
		cmocka_unit_test(a_group_goes_when_its_time_has_come),
		cmocka_unit_test(a_group_goes_when_it_is_heavy_enough),
		cmocka_unit_test(a_light_group_goes_when_it_is_long_enough),
		cmocka_unit_test(weights_do_not_wrap_around),
		cmocka_unit_test(a_light_group_goes_when_its_time_has_come),
		cmocka_unit_test(a_bounded_group_is_never_too_heavy),
		cmocka_unit_test(an_item_that_is_too_heavy_goes_alone),
		cmocka_unit_test(a_bounded_group_goes_when_its_time_has_come),
		cmocka_unit_test(an_item_for_the_next_group_is_dropped_once),
		cmocka_unit_test(a_throttle_lets_items_pass_at_its_rate),
		cmocka_unit_test(a_pause_saves_up_a_burst),
		cmocka_unit_test(items_pay_what_they_cost),
		cmocka_unit_test(a_throttle_that_enforces_fails),
		cmocka_unit_test(without_a_burst_each_item_waits_out_its_cost),
		cmocka_unit_test(
			without_a_burst_what_costs_nothing_goes_at_once),
		cmocka_unit_test(
			an_item_whose_cost_is_an_error_is_left_out_or_fails),
		cmocka_unit_test(each_item_is_late_by_the_delay),
		cmocka_unit_test(a_delay_that_is_cancelled_drops_what_waits),
		cmocka_unit_test(an_idle_stream_fails),
		cmocka_unit_test(a_stream_that_completes_too_late_fails),
		cmocka_unit_test(a_timeout_is_told_though_nobody_asks),
		cmocka_unit_test(a_first_item_ends_the_initial_timeout),
		cmocka_unit_test(without_a_first_item_it_fails),
		cmocka_unit_test(ticks_come_on_time_and_are_not_made_up_for),
		cmocka_unit_test(bad_arguments_make_a_failed_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
