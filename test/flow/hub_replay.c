/* SPDX-License-Identifier: BSD-2-Clause */
/* Hubs that keep items for those that come late, and items that are one's own. */
#include "flow/hub_kit.h"

#define MANY 1000

/* --- Replays -------------------------------------------------------------- */

static void late_subscribers_get_the_last_items_first(void **state)
{
	const struct weir_hub_options options = {.replay = 5};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_offer(&scene.producer, 1, 3);
	scene_subscribe(&scene.second, MANY);
	hub_subscriber_has(&scene.second, 1, 3);
	scene_offer(&scene.producer, 4, 200);
	scene_subscribe(&scene.late, MANY);
	hub_subscriber_has(&scene.late, 196, 200);
	assert_int_equal(n_live, 5);
	scene_offer(&scene.producer, 201, 203);
	scene_leave(&scene.late);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
	hub_subscriber_has(&scene.second, 1, 203);
	scene_ended(&scene.second, 0);
	/* also behind the end */
	scene_subscribe(&scene.late, MANY);
	hub_subscriber_has(&scene.late, 199, 203);
	scene_ended(&scene.late, 0);
}

static void a_subscriber_that_is_slow_with_its_replay_sets_the_pace(
	void **state)
{
	const struct weir_hub_options options = {.capacity = 2, .replay = 4};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_offer(&scene.producer, 1, 4);
	scene_subscribe(&scene.late, 0);
	scene_offer(&scene.producer, 5, 20);
	hub_subscriber_has(&scene.first, 1, 6);
	scene_allow(&scene.late, MANY);
	hub_subscriber_has(&scene.late, 1, 20);
	hub_subscriber_has(&scene.first, 1, 20);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
	scene_ended(&scene.late, 0);
}

static void items_that_are_too_old_are_not_replayed(void **state)
{
	const struct weir_hub_options options = {
		.replay = 100,
		.within_ns = 1000,
		.idle = WEIR_HUB_IDLE_GO_ON,
	};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 5);
	weir_sim_run_until(scene.sim, 600, 1000);
	scene_offer(&scene.producer, 6, 8);
	weir_sim_run_until(scene.sim, 1000, 1000);
	scene_subscribe(&scene.first, MANY);
	hub_subscriber_has(&scene.first, 1, 8);
	weir_sim_run_until(scene.sim, 1001, 1000);
	scene_subscribe(&scene.second, MANY);
	hub_subscriber_has(&scene.second, 6, 8);
	assert_int_equal(n_live, 3);
	weir_sim_run_until(scene.sim, 1601, 1000);
	scene_subscribe(&scene.late, MANY);
	assert_int_equal(scene.late.got.n, 0);
	assert_int_equal(n_live, 0);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
	scene_ended(&scene.second, 0);
	scene_ended(&scene.late, 0);
}

static uint64_t weigh(void *item, void *context)
{
	(*(size_t *)context)++;
	return (uint64_t)((struct item *)item)->value;
}

static void the_weight_of_a_replay_is_bounded(void **state)
{
	size_t n_weighed = 0;
	const struct weir_hub_options options = {
		.replay = 100,
		.max_weight = 10,
		.weigh = weigh,
		.context = &n_weighed,
		.idle = WEIR_HUB_IDLE_GO_ON,
	};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 4);
	assert_int_equal(n_live, 4);
	scene_offer(&scene.producer, 5, 5);
	scene_subscribe(&scene.first, MANY);
	hub_subscriber_has(&scene.first, 4, 5);
	/* one that is too heavy alone */
	scene_offer(&scene.producer, 11, 11);
	assert_int_equal(n_live, 0);
	assert_int_equal(n_weighed, 6);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
}

static void all_items_can_be_kept(void **state)
{
	const struct weir_hub_options cache = {
		.capacity = 1,
		.connect_after = 1,
		.idle = WEIR_HUB_IDLE_GO_ON,
		.replay = WEIR_HUB_ALL,
	};

	scene_hub(&cache);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 100);
	scene_subscribe(&scene.first, 0);
	assert_int_equal(n_live, 100);
	/* the slow do not hold up the others */
	scene_subscribe(&scene.second, MANY);
	hub_subscriber_has(&scene.second, 1, 100);
	scene_leave(&scene.second);
	scene_allow(&scene.first, 50);
	scene_offer(&scene.producer, 101, 900);
	scene_end(&scene.producer);
	hub_subscriber_has(&scene.first, 1, 50);
	scene_allow(&scene.first, MANY);
	hub_subscriber_has(&scene.first, 1, 900);
	scene_ended(&scene.first, 0);
	scene_subscribe(&scene.late, MANY);
	hub_subscriber_has(&scene.late, 1, 900);
	scene_ended(&scene.late, 0);
}

/* What is not kept any more is held for the slow as without a replay. */
static void a_bound_of_weight_bounds_what_is_kept_of_all(void **state)
{
	size_t n_weighed = 0;
	const struct weir_hub_options options = {
		.capacity = 2,
		.per_producer = 2,
		.replay = WEIR_HUB_ALL,
		.max_weight = 3000,
		.weigh = weigh,
		.context = &n_weighed,
	};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_subscribe(&scene.second, 0);
	scene_offer(&scene.producer, 1001, 1100);
	assert_in_range(scene.first.got.n, 4, 4);
	assert_int_equal(n_live, 4 + 96);
	scene_subscribe(&scene.late, MANY);
	hub_subscriber_has(&scene.late, 1003, 1004);
	scene_allow(&scene.second, MANY);
	hub_subscriber_has(&scene.second, 1001, 1100);
	hub_subscriber_has(&scene.late, 1003, 1100);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
	scene_ended(&scene.second, 0);
	scene_ended(&scene.late, 0);
}

/* --- Items that are one's own --------------------------------------------- */

static void items_that_cannot_be_shared_have_one_subscriber(void **state)
{
	const struct weir_items owned = {.drop = item_drop};
	const struct weir_hub_options replay = {.replay = 1};

	assert_int_equal(weir_hub_new(&scene.hub, &owned, &replay, NULL),
			 -ENOTSUP);
	assert_null(scene.hub);
	assert_int_equal(weir_hub_new(&scene.hub, &owned, NULL, NULL), 0);
	hub_producer_start(&scene.producer, scene.hub, scene.executor, &owned);
	scene_subscribe(&scene.first, MANY);
	scene_subscribe(&scene.second, MANY);
	scene_ended(&scene.second, -ENOTSUP);
	scene_offer(&scene.producer, 1, 100);
	hub_subscriber_has(&scene.first, 1, 100);
	scene_leave(&scene.first);
	scene_subscribe(&scene.second, MANY);
	scene_offer(&scene.producer, 101, 102);
	hub_subscriber_has(&scene.second, 101, 102);
	scene_end(&scene.producer);
	scene_ended(&scene.second, 0);
}

static int share_some(void *item, void *context)
{
	int *n = context;

	return (*n)-- > 0 ? item_share(item, NULL) : -EIO;
}

static void an_item_that_is_not_shared_fails_its_subscriber_alone(void **state)
{
	int n = 3;
	const struct weir_items items = {item_drop, share_some, &n};

	assert_int_equal(weir_hub_new(&scene.hub, &items, NULL, NULL), 0);
	hub_producer_start(&scene.producer, scene.hub, scene.executor, &items);
	scene_subscribe(&scene.first, 0);
	scene_subscribe(&scene.second, MANY);
	scene_offer(&scene.producer, 1, 5);
	hub_subscriber_has(&scene.second, 1, 3);
	scene_ended(&scene.second, -EIO);
	scene_allow(&scene.first, MANY);
	hub_subscriber_has(&scene.first, 1, 5);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
}

static void plain_values_need_nothing(void **state)
{
	static const intptr_t expected[] = {1, 2, 3};
	struct weir_flow *flow;
	static struct got got;
	struct hub_run into_it, from_it;

	got = (struct got){.n = 0};
	assert_int_equal(weir_hub_new(&scene.hub, NULL, NULL, NULL), 0);
	flow = weir_flow_into_hub(weir_flow_range(1, 3), scene.hub);
	hub_run_start(&into_it, flow, scene.executor);
	hub_run_start(&from_it, into(weir_flow_from_hub(scene.hub), &got),
		      scene.executor);
	scene_settle();
	assert_int_equal(hub_run_fini(&into_it), 0);
	assert_int_equal(hub_run_fini(&from_it), 0);
	assert_got(&got, expected, 3, 0);
}

#define TEST(test) \
	cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(late_subscribers_get_the_last_items_first),
		TEST(a_subscriber_that_is_slow_with_its_replay_sets_the_pace),
		TEST(items_that_are_too_old_are_not_replayed),
		TEST(the_weight_of_a_replay_is_bounded),
		TEST(all_items_can_be_kept),
		TEST(a_bound_of_weight_bounds_what_is_kept_of_all),
		TEST(items_that_cannot_be_shared_have_one_subscriber),
		TEST(an_item_that_is_not_shared_fails_its_subscriber_alone),
		TEST(plain_values_need_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
