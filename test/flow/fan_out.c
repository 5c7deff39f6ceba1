/* SPDX-License-Identifier: BSD-2-Clause */
/* One flow made several: broadcast, balance, partition. */
#include "flow/fan_outlets.h"

static int add_up(void *const *items, size_t n, void **result, void *context)
{
	struct item *sum = item_new(0);
	size_t i;

	for (i = 0; i < n; i++) {
		sum->value += ((struct item *)items[i])->value;
		item_drop(items[i], NULL);
	}
	*result = sum;
	return 0;
}

static int to_value(void *item, void *context)
{
	return ((struct item *)item)->value % 2 == 0;
}

static int by_two(void *item, size_t *outlet, void *context)
{
	*outlet = (size_t)((struct item *)item)->value % 2;
	return 0;
}

static int odd_to_1(void *item, size_t outlet, void *context)
{
	intptr_t value = ((struct item *)item)->value;

	if (value == 5 && context)
		return -EDOM;
	return value != 4 && (outlet == 0 || value % 2);
}

static enum weir_directive resume(struct weir_error *error, void *context)
{
	return WEIR_DIRECTIVE_RESUME;
}

/* --- broadcast ------------------------------------------------------------ */

static void a_broadcast_gives_each_item_to_all(void **state)
{
	static const size_t unfused[] = {0, 1, 16};
	struct weir_flow *outlets[3], *flow = counted(weir_flow_range(1, 1000));
	struct weir_flow_fan_options options = {.capacity = 4};
	int64_t live = n_live;
	size_t i, k;

	assert_int_equal(weir_flow_broadcast(flow, 3, outlets, &options), 0);
	flow = sinks(outlets, gots, 3);
	for_each_seed(seed, 9) {
		for (i = 0; i < 3; i++)
			gots[i].n = 0;
		assert_int_equal(run_on_sim(flow, seed, unfused[seed % 3]), 0);
		for (i = 0; i < 3; i++) {
			assert_int_equal(gots[i].n, 1000);
			for (k = 0; k < 1000; k++)
				assert_int_equal(gots[i].values[k], k + 1);
		}
		assert_int_equal(n_live, live);
	}
	weir_flow_free(flow);
}

static void a_diamond_comes_together_again(void **state)
{
	struct weir_flow *outlets[2], *flow = counted(weir_flow_range(1, 4));

	assert_int_equal(weir_flow_broadcast(flow, 2, outlets, NULL), 0);
	outlets[0] = weir_flow_filter(outlets[0], to_value, NULL);
	flow = weir_flow_zip(outlets, 2, add_up, NULL);
	{
		static const intptr_t expected[] = {3, 6};

		assert_flow(weir_flow_items(flow, &counted_items), true,
			    expected, 2, 0);
	}
}

/* Cancels the flow when two items have come. */
static struct weir_flow *two_of(struct weir_flow *flow, struct got *got)
{
	struct weir_flow *ups[] = {flow, counted(weir_flow_range(1, 2))};

	flow = weir_flow_zip(ups, 2, add_up, NULL);
	return into(weir_flow_items(flow, &counted_items), got);
}

static void the_others_go_on_when_one_is_cancelled(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 2};
	struct weir_flow *outlets[2], *flow;
	int64_t live = n_live;
	int way;

	for (way = 0; way < 6; way++) {
		flow = counted(weir_flow_range(1, 100));
		options.eager = way >= 3;
		if (way % 3 == 0)
			weir_flow_broadcast(flow, 2, outlets, &options);
		else if (way % 3 == 1)
			weir_flow_balance(flow, 2, outlets, &options);
		else
			weir_flow_partition(flow, 2, by_two, NULL, outlets,
					    &options);
		gots[0].counted = gots[1].counted = true;
		outlets[0] = two_of(outlets[0], &gots[0]);
		outlets[1] = into(outlets[1], &gots[1]);
		flow = weir_flow_all(outlets, 2);
		for_each_seed(seed, 5) {
			gots[0].n = gots[1].n = 0;
			assert_int_equal(run_on_sim(flow, seed, 0), 0);
			assert_int_equal(n_live, live);
			assert_int_equal(gots[0].n, 2);
			if (options.eager)
				assert_true(gots[1].n < 50);
			else if (way % 3 == 0)
				assert_int_equal(gots[1].n, 100);
			else if (way % 3 == 1)
				assert_true(gots[1].n > 80);
			else
				assert_int_equal(gots[1].n, 50);
		}
		weir_flow_free(flow);
	}
}

static void a_broadcast_moves_at_the_slowest(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 4};
	struct weir_flow *outlets[2], *slow[2];
	struct tap taps[2] = {0};
	struct trial trial;

	tap_give(&taps[0], 1, 20);
	weir_flow_broadcast(counted(tap_flow(&taps[0])), 2, outlets, &options);
	/* one item of the first for each that the second tap gives */
	slow[0] = outlets[0];
	slow[1] = counted(tap_flow(&taps[1]));
	outlets[0] = weir_flow_items(weir_flow_zip(slow, 2, add_up, NULL),
				     &counted_items);
	begin(&trial, sinks(outlets, gots, 2), 1, 2);
	assert_true(gots[1].n < 20);
	assert_int_equal(gots[0].n, 0);
	tap_give(&taps[1], 1, 20);
	tap_end(&taps[0], 0);
	rest(&trial);
	assert_true(is_over(&trial));
	assert_int_equal(end(&trial), 0);
	assert_int_equal(gots[0].n, 20);
	assert_int_equal(gots[1].n, 20);
	assert_int_equal(n_live, 0);
}

static void a_broadcast_gives_what_is_selected(void **state)
{
	struct weir_flow_fan_options options = {.select = odd_to_1};
	struct weir_flow *outlets[2], *flow = counted(weir_flow_range(1, 7));

	weir_flow_broadcast(flow, 2, outlets, &options);
	flow = sinks(outlets, gots, 2);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	assert_values(&gots[0], 6, 1, 2, 3, 5, 6, 7);
	assert_values(&gots[1], 4, 1, 3, 5, 7);
	options.context = &options; /* fails on 5 */
	flow = weir_flow_supervise(counted(weir_flow_range(1, 7)), resume,
				   NULL);
	weir_flow_broadcast(flow, 2, outlets, &options);
	flow = sinks(outlets, gots, 2);
	assert_int_equal(run_on_sim(flow, 1, 0), -EDOM);
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
}

/* --- balance -------------------------------------------------------------- */

static void a_balance_gives_each_item_to_one(void **state)
{
	struct weir_flow *outlets[4], *flow = counted(weir_flow_range(1, 1000));
	struct weir_flow_fan_options options = {.capacity = 8};
	intptr_t sum;
	size_t i, k, n;

	weir_flow_balance(flow, 4, outlets, &options);
	flow = sinks(outlets, gots, 4);
	for_each_seed(seed, 9) {
		for (i = 0; i < 4; i++)
			gots[i].n = 0;
		assert_int_equal(run_on_sim(flow, seed, (seed % 2) * 4), 0);
		for (i = n = 0, sum = 0; i < 4; i++) {
			n += gots[i].n;
			for (k = 0; k < gots[i].n; k++)
				sum += gots[i].values[k];
		}
		assert_int_equal(n, 1000);
		assert_int_equal(sum, 500500);
	}
	weir_flow_free(flow);
	assert_int_equal(n_live, 0);
}

/* 12 items are 4 for each of 3; but the first run is of one. */
static void a_balance_gives_fair_shares(void **state)
{
	struct weir_flow *outlets[3], *flow = counted(weir_flow_range(1, 12));
	size_t i;

	weir_flow_balance(flow, 3, outlets, NULL);
	flow = sinks(outlets, gots, 3);
	assert_int_equal(run_on_sim(flow, 1, 0), 0);
	weir_flow_free(flow);
	for (i = 0; i < 3; i++)
		assert_true(gots[i].n >= 3 && gots[i].n <= 5);
}

/* One that takes nothing holds up nobody; the others get its share. */
static void a_balance_goes_on_past_one_that_is_full(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 4};
	struct weir_flow *outlets[2], *slow[2];
	struct tap tap = {0};
	struct trial trial;

	weir_flow_balance(counted(weir_flow_range(1, 500)), 2, outlets,
			  &options);
	slow[0] = outlets[0];
	slow[1] = counted(tap_flow(&tap));
	outlets[0] = weir_flow_items(weir_flow_zip(slow, 2, add_up, NULL),
				     &counted_items);
	begin(&trial, sinks(outlets, gots, 2), 1, 0);
	tap_end(&tap, 0);
	assert_int_equal(end(&trial), 0);
	assert_int_equal(gots[0].n, 0);
	assert_true(gots[1].n > 200);
	assert_int_equal(n_live, 0);
}

/* --- partition ------------------------------------------------------------ */

static void a_partition_goes_by_what_is_chosen(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 1};
	struct weir_flow *outlets[3], *flow = counted(weir_flow_range(1, 10));

	weir_flow_partition(flow, 3, by_three, NULL, outlets, &options);
	flow = sinks(outlets, gots, 3);
	for_each_seed(seed, 9) {
		gots[0].n = gots[1].n = gots[2].n = 0;
		assert_int_equal(run_on_sim(flow, seed, seed % 3), 0);
		assert_values(&gots[0], 3, 3, 6, 9);
		assert_values(&gots[1], 3, 1, 4, 10);
		assert_values(&gots[2], 3, 2, 5, 8);
		assert_int_equal(n_live, 0);
	}
	weir_flow_free(flow);
}

/* Everything is discarded, so there is never room to be waited for. */
static int to_none(void *item, size_t *outlet, void *context)
{
	*outlet = 0;
	return (intptr_t)item > 3;
}

static void a_partition_discards_while_all_are_full(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 1};
	struct weir_flow *outlets[1], *slow[2], *flow;
	struct tap tap = {0};
	struct trial trial;

	flow = weir_flow_range(3, 100000);
	weir_flow_partition(flow, 1, to_none, NULL, outlets, &options);
	slow[0] = tap_flow(&tap);
	slow[1] = outlets[0];
	gots[0].n = 0;
	gots[0].counted = false;
	begin(&trial, into(weir_flow_concat(slow, 2), &gots[0]), 1, 0);
	assert_int_equal(gots[0].n, 0);
	tap_end(&tap, 0);
	assert_int_equal(end(&trial), 0);
	assert_values(&gots[0], 1, 3);
}

static void the_head_of_the_line_waits_for_its_outlet(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 1};
	struct weir_flow *outlets[3], *slow[2];
	struct tap tap = {0};
	struct trial trial;

	weir_flow_partition(counted(weir_flow_range(9, 30)), 3, by_three, NULL,
			    outlets, &options);
	slow[0] = counted(tap_flow(&tap));
	slow[1] = outlets[1];
	outlets[1] = weir_flow_concat(slow, 2);
	begin(&trial, sinks(outlets, gots, 3), 1, 0);
	/* 10 is in the link to the second, and so may 13 be; 16 is not */
	assert_true(gots[0].n > 0 && gots[0].n <= 3);
	assert_int_equal(gots[1].n, 0);
	tap_end(&tap, 0);
	assert_int_equal(end(&trial), 0);
	assert_int_equal(gots[0].n + gots[1].n + gots[2].n, 22);
	assert_int_equal(n_live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broadcast_gives_each_item_to_all),
		cmocka_unit_test(a_diamond_comes_together_again),
		cmocka_unit_test(the_others_go_on_when_one_is_cancelled),
		cmocka_unit_test(a_broadcast_moves_at_the_slowest),
		cmocka_unit_test(a_broadcast_gives_what_is_selected),
		cmocka_unit_test(a_balance_gives_each_item_to_one),
		cmocka_unit_test(a_balance_gives_fair_shares),
		cmocka_unit_test(a_balance_goes_on_past_one_that_is_full),
		cmocka_unit_test(a_partition_goes_by_what_is_chosen),
		cmocka_unit_test(a_partition_discards_while_all_are_full),
		cmocka_unit_test(the_head_of_the_line_waits_for_its_outlet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
