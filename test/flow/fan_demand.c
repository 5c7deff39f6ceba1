/* SPDX-License-Identifier: BSD-2-Clause */
/* How fans deal by what was asked for at their outlets. */
#include "flow/fan_deal.h"

#include <weir/testkit.h>

#define SEEDS 9

/* --- balance -------------------------------------------------------------- */

static void begin_balance(const struct weir_flow_fan_options *options,
			  const size_t *max, size_t n, uint64_t seed)
{
	size_t i;

	weir_flow_balance(tapped(), n, deal.outlets, options);
	for (i = 0; i < n; i++)
		deal_sink(i, max[i], max[i] > 0);
	deal_begin(seed);
}

/* By itself, and among others. */
static void an_item_goes_to_who_has_asked_for_most(void **state)
{
	intptr_t i;

	for_each_seed(seed, SEEDS) {
		begin_balance(NULL, (size_t[]){4, 7, 5}, 3, seed);
		for (i = 1; i <= 17 && seed % 2; i++)
			deal_give(i, i);
		if (seed % 2 == 0)
			deal_give(1, 17);
		/* nobody has asked for the last */
		assert_asked(16);
		cancel_outlet(2);
		assert_int_equal(deal.gots[2].n, 1);
		deal_end(0);
		assert_int_equal(deal.gots[0].n + deal.gots[1].n, 12);
		deal.gots[0].n = 4;
		ASSERT_VALUES(0, 5, 8, 11, 14);
		deal.gots[1].n = 7;
		ASSERT_VALUES(1, 1, 2, 3, 6, 9, 12, 15);
		ASSERT_VALUES(2, 4);
	}
}

static void what_a_cancelled_outlet_asked_for_is_not_asked_for(void **state)
{
	begin_balance(NULL, (size_t[]){4, 3}, 2, 1);
	cancel_outlet(0);
	deal_give(1, 10);
	assert_asked(3);
	deal_end(0);
	ASSERT_VALUES(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
}

static void send(struct weir_publisher_probe *probe, intptr_t first,
		 intptr_t last)
{
	for (; first <= last; first++)
		assert_int_equal(
			weir_publisher_probe_send(probe, item_new(first)), 0);
	rest(&deal.trial);
}

/* The probe is of a simulator that is made with the run. */
static int settle(void *context)
{
	if (deal.trial.sim)
		rest(&deal.trial);
	return 0;
}

/* Upstream was asked before: that serves the others first. */
static void others_get_what_was_asked_for_a_cancelled_outlet(void **state)
{
	struct weir_test_env env = {.settle = settle};
	struct weir_publisher_probe *probe;
	struct weir_flow *flow;
	size_t i;

	memset(&deal, 0, sizeof(deal));
	assert_int_equal(weir_publisher_probe_new(&probe, &env, &counted_items),
			 0);
	flow = weir_flow_from_publisher(weir_publisher_probe_base(probe), 0, 0);
	flow = weir_flow_items(weir_flow_limit_rate(flow, 10, 5),
			       &counted_items);
	weir_flow_balance(flow, 2, deal.outlets, NULL);
	for (i = 0; i < 2; i++)
		deal_sink(i, 3, 1);
	deal_begin(1);
	assert_true(weir_publisher_probe_expect_request(probe, 10));
	cancel_outlet(0);
	send(probe, 1, 5);
	/* three are in the link, as was asked for; the others wait */
	assert_true(weir_publisher_probe_expect_request(probe, 0));
	open_valve(1, 3);
	assert_true(weir_publisher_probe_expect_request(probe, 5));
	ASSERT_VALUES(1, 1, 2, 3, 4);
	assert_int_equal(weir_publisher_probe_complete(probe), 0);
	deal_end(0);
	ASSERT_VALUES(1, 1, 2, 3, 4, 5);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

static void nothing_is_dealt_before_all_have_asked(void **state)
{
	struct weir_flow_fan_options options = {.wait_for_all = true,
						.capacity = 4};
	size_t i, max;

	for_each_seed(seed, SEEDS) {
		max = seed % 2 ? 4 : 0;
		/* what waits in a link above keeps nobody busy */
		weir_flow_balance(weir_flow_async(tapped(), 16, NULL), 3,
				  deal.outlets, &options);
		for (i = 0; i < 3; i++)
			deal_sink(i, max, i < 2);
		deal_begin(seed);
		deal_give(1, 9);
		assert_int_equal(deal.gots[0].n + deal.gots[1].n, 0);
		if (seed % 3)
			open_valve(2, 1);
		else
			cancel_outlet(2);
		assert_int_equal(deal.gots[0].n, 1);
		assert_int_equal(deal.gots[1].n, 1);
		assert_int_equal(deal.gots[2].n, seed % 3 ? 1 : 0);
		deal_end(0);
		assert_int_equal(
			deal.gots[0].n + deal.gots[1].n + deal.gots[2].n, 9);
	}
}

/* Which outlet gets each of the first items, of which none is taken. */
static void order_of(uint64_t shuffle, uint64_t seed, intptr_t *order)
{
	struct weir_flow_fan_options options = {.shuffle = shuffle};
	intptr_t i;

	begin_balance(&options, (size_t[]){0, 0, 0, 0}, N, seed);
	for (i = 0; i < N; i++)
		deal_give(i, i);
	deal_end(0);
	for (i = 0; i < N; i++) {
		assert_int_equal(deal.gots[i].n, 1);
		order[deal.gots[i].values[0]] = i;
	}
}

static void the_order_of_outlets_is_drawn(void **state)
{
	intptr_t order[N], again[N], own[N] = {0, 1, 2, 3};
	size_t n_first[N] = {0}, i;

	order_of(0, 1, order);
	assert_memory_equal(order, own, sizeof(order));
	for_each_seed(seed, 100) {
		order_of(seed, seed, order);
		order_of(seed, seed + 1, again);
		assert_memory_equal(order, again, sizeof(order));
		n_first[order[0]]++;
	}
	for (i = 0; i < N; i++)
		assert_true(n_first[i] > 10 || test_seed_only());
}

/* --- partition ------------------------------------------------------------ */

static int by_two(void *item, size_t *outlet, void *context)
{
	*outlet = (size_t)((struct item *)item)->value % 2;
	return 0;
}

static void begin_partition(size_t queue, size_t max, uint64_t seed)
{
	struct weir_flow_fan_options options = {.capacity = 1, .queue = queue};

	weir_flow_partition(tapped(), 2, by_two, NULL, deal.outlets, &options);
	deal_sink(0, 0, SIZE_MAX);
	deal_sink(1, max, 0);
	deal_begin(seed);
	deal_give(1, 20);
}

static void an_outlet_that_did_not_ask_holds_up_the_others(void **state)
{
	begin_partition(0, 2, 1);
	assert_int_equal(deal.gots[0].n, 0);
	deal_end(0);
	assert_int_equal(deal.gots[0].n, 10);
	assert_int_equal(deal.gots[1].n, 10);
}

static void a_queue_goes_on_past_those_that_wait(void **state)
{
	for_each_seed(seed, SEEDS) {
		begin_partition(3, 2, seed);
		/* 1, 3 and 5 wait, and so does 7, which holds up */
		ASSERT_VALUES(0, 2, 4, 6);
		open_valve(1, 1);
		/* two were asked for */
		ASSERT_VALUES(1, 1);
		ASSERT_VALUES(0, 2, 4, 6, 8, 10);
		deal_end(0);
		ASSERT_VALUES(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20);
		ASSERT_VALUES(1, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19);
	}
}

static void what_waits_for_a_cancelled_outlet_is_dropped(void **state)
{
	for_each_seed(seed, SEEDS) {
		begin_partition(3, seed % 2, seed);
		cancel_outlet(1);
		ASSERT_VALUES(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20);
		assert_int_equal(n_live, 0);
		deal_end(0);
		assert_int_equal(deal.gots[1].n, 0);
	}
}

static void a_queue_is_beside_what_a_link_holds(void **state)
{
	begin_partition(7, 0, 1);
	ASSERT_VALUES(0, 2, 4, 6, 8, 10, 12, 14, 16);
	deal_end(0);
}

static void more_than_a_link_can_hold_is_refused(void **state)
{
	struct weir_flow_fan_options options = {.capacity = 1,
						.queue = WEIR_CAPACITY_MAX - 1};
	struct weir_flow *outlet, *flow = weir_flow_range(1, 3);

	assert_int_equal(weir_flow_partition(flow, 1, by_two, NULL, &outlet,
					     &options),
			 0);
	flow = weir_flow_limit_rate(outlet, 2, 1);
	assert_int_equal(run_on_sim(flow, 1, 0), -EINVAL);
	weir_flow_free(flow);
}

/* 50, 60 and 70 alone. */
static int to_some(void *item, size_t *outlet, void *context)
{
	intptr_t value = ((struct item *)item)->value;

	*outlet = 0;
	return value != 50 && value != 60 && value != 70;
}

static void what_is_discarded_is_no_demand_of_anybody(void **state)
{
	weir_flow_partition(tapped(), 1, to_some, NULL, deal.outlets, NULL);
	deal_sink(0, 2, 1);
	deal_begin(1);
	deal_give(1, 65);
	ASSERT_VALUES(0, 50);
	assert_asked(65);
	/* two of two were dealt: 70 waits until both are taken */
	deal_give(66, 100);
	assert_int_equal(n_live, 2 + 30);
	open_valve(0, 1);
	assert_int_equal(n_live, 1 + 30);
	open_valve(0, 1);
	ASSERT_VALUES(0, 50, 60, 70);
	assert_int_equal(n_live, 0);
	deal_end(0);
}

/* --- broadcast ------------------------------------------------------------ */

static void begin_broadcast(int (*select)(void *item, size_t outlet,
					  void *context),
			    size_t first, size_t second, uint64_t seed)
{
	struct weir_flow_fan_options options = {.select = select};

	weir_flow_broadcast(tapped(), 2, deal.outlets, &options);
	deal_sink(0, first, 1);
	deal_sink(1, second, 1);
	deal_begin(seed);
}

static void a_broadcast_asks_for_the_least_of_its_outlets(void **state)
{
	for_each_seed(seed, SEEDS) {
		begin_broadcast(NULL, 8, 3, seed);
		deal_give(1, 20);
		assert_asked(3);
		/* the slowest has taken what it asked for, and asks again */
		open_valve(1, 2);
		assert_asked(3);
		open_valve(1, 1);
		assert_asked(6);
		deal_end(0);
		assert_int_equal(deal.gots[0].n, 20);
		assert_int_equal(deal.gots[1].n, 20);
	}
}

static void without_the_slowest_there_is_more_demand_at_once(void **state)
{
	for_each_seed(seed, SEEDS) {
		begin_broadcast(NULL, 8, 3, seed);
		deal_give(1, 20);
		assert_asked(3);
		cancel_outlet(1);
		assert_asked(8);
		deal_end(0);
		assert_int_equal(deal.gots[0].n, 20);
	}
}

static int even_to_1(void *item, size_t outlet, void *context)
{
	return outlet == 0 || ((struct item *)item)->value % 2 == 0;
}

static int none(void *item, size_t outlet, void *context)
{
	return 0;
}

static void what_is_not_selected_is_no_demand_of_an_outlet(void **state)
{
	for_each_seed(seed, SEEDS) {
		begin_broadcast(even_to_1, 8, 2, seed);
		deal_give(1, 20);
		/* 2 and 4 are what the second has asked for */
		assert_asked(4);
		deal_end(0);
		assert_int_equal(deal.gots[0].n, 20);
		assert_int_equal(deal.gots[1].n, 10);
	}
	begin_broadcast(none, 8, 2, 1);
	deal_give(1, 20);
	assert_asked(20);
	assert_int_equal(n_live, 0);
	deal_end(0);
}

/* --- Options -------------------------------------------------------------- */

static void assert_refused(int rc, struct weir_flow **outlets)
{
	assert_int_equal(rc, -EINVAL);
	weir_flow_free(weir_flow_merge(outlets, 2));
}

static void options_of_another_fan_are_refused(void **state)
{
	static const struct weir_flow_fan_options bad[] = {
		{.wait_for_all = true},
		{.shuffle = 1},
		{.queue = 1},
		{.reserved = {0, 1}},
	};
	struct weir_flow_fan_options much = {.capacity = 2,
					     .queue = WEIR_CAPACITY_MAX - 1};
	struct weir_flow *outlets[2];
	size_t i;

	for (i = 0; i < 4; i++) {
		assert_refused(weir_flow_broadcast(weir_flow_empty(), 2,
						   outlets, &bad[i]),
			       outlets);
		if (i >= 2)
			assert_refused(weir_flow_balance(weir_flow_empty(), 2,
							 outlets, &bad[i]),
				       outlets);
		if (i != 2)
			assert_refused(weir_flow_partition(weir_flow_empty(), 2,
							   by_two, NULL,
							   outlets, &bad[i]),
				       outlets);
	}
	assert_refused(weir_flow_partition(weir_flow_empty(), 2, by_two, NULL,
					   outlets, &much),
		       outlets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_goes_to_who_has_asked_for_most),
		cmocka_unit_test(
			what_a_cancelled_outlet_asked_for_is_not_asked_for),
		cmocka_unit_test(
			others_get_what_was_asked_for_a_cancelled_outlet),
		cmocka_unit_test(nothing_is_dealt_before_all_have_asked),
		cmocka_unit_test(the_order_of_outlets_is_drawn),
		cmocka_unit_test(
			an_outlet_that_did_not_ask_holds_up_the_others),
		cmocka_unit_test(a_queue_goes_on_past_those_that_wait),
		cmocka_unit_test(what_waits_for_a_cancelled_outlet_is_dropped),
		cmocka_unit_test(a_queue_is_beside_what_a_link_holds),
		cmocka_unit_test(more_than_a_link_can_hold_is_refused),
		cmocka_unit_test(what_is_discarded_is_no_demand_of_anybody),
		cmocka_unit_test(a_broadcast_asks_for_the_least_of_its_outlets),
		cmocka_unit_test(
			without_the_slowest_there_is_more_demand_at_once),
		cmocka_unit_test(
			what_is_not_selected_is_no_demand_of_an_outlet),
		cmocka_unit_test(options_of_another_fan_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
