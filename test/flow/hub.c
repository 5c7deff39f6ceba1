/* SPDX-License-Identifier: BSD-2-Clause */
/* Hubs: who gets which items, how fast, and how it ends. */
#include "flow/hub_kit.h"
#include "flow/memory_kit.h"

#include <sched.h>

#define MANY 1000

/* --- Several subscribers -------------------------------------------------- */

static void each_subscriber_gets_all_items_from_when_it_came(void **state)
{
	scene_hub(NULL);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_offer(&scene.producer, 1, 10);
	scene_subscribe(&scene.second, MANY);
	scene_offer(&scene.producer, 11, 40);
	scene_end(&scene.producer);
	hub_subscriber_has(&scene.first, 1, 40);
	hub_subscriber_has(&scene.second, 11, 40);
	scene_ended(&scene.first, 0);
	scene_ended(&scene.second, 0);
}

static void a_subscriber_that_leaves_does_not_hold_up_the_others(void **state)
{
	const struct weir_hub_options options = {.capacity = 2};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_subscribe(&scene.second, 1);
	scene_offer(&scene.producer, 1, 20);
	hub_subscriber_has(&scene.second, 1, 1);
	assert_true(scene.first.got.n < 20);
	scene_leave(&scene.second);
	hub_subscriber_has(&scene.first, 1, 20);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
}

static void the_slowest_subscriber_sets_the_pace(void **state)
{
	const struct weir_hub_options options = {.capacity = 4};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_subscribe(&scene.second, 0);
	scene_offer(&scene.producer, 1, 20);
	hub_subscriber_has(&scene.first, 1, 4);
	scene_allow(&scene.second, 3);
	hub_subscriber_has(&scene.second, 1, 3);
	hub_subscriber_has(&scene.first, 1, 7);
	scene_allow(&scene.second, MANY);
	scene_end(&scene.producer);
	hub_subscriber_has(&scene.second, 1, 20);
	scene_ended(&scene.first, 0);
	scene_ended(&scene.second, 0);
}

static void a_buffer_lets_a_slow_subscriber_lose_items_alone(void **state)
{
	struct weir_flow *flow;

	scene_hub(NULL);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	memset(&scene.second, 0, sizeof(scene.second));
	scene.second.got.counted = true;
	assert_int_equal(weir_semaphore_init(&scene.second.permits, 0), 0);
	flow = weir_flow_buffer(weir_flow_from_hub(scene.hub), 4,
				WEIR_OVERFLOW_DROP_HEAD);
	flow = weir_flow_acquire(flow, &scene.second.permits);
	hub_run_start(&scene.second.run, into(flow, &scene.second.got),
		      scene.executor);
	scene_settle();
	scene_offer(&scene.producer, 1, 200);
	hub_subscriber_has(&scene.first, 1, 200);
	scene_allow(&scene.second, MANY);
	hub_subscriber_has(&scene.second, 197, 200);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
	scene_ended(&scene.second, 0);
}

/* --- Without subscribers -------------------------------------------------- */

static void without_subscribers_it_takes_no_items(void **state)
{
	scene_hub(NULL);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 10);
	scene_subscribe(&scene.first, MANY);
	hub_subscriber_has(&scene.first, 1, 10);
	scene_leave(&scene.first);
	assert_int_equal(weir_hub_subscribers(scene.hub), 0);
	scene_offer(&scene.producer, 11, 20);
	scene_subscribe(&scene.second, MANY);
	hub_subscriber_has(&scene.second, 11, 20);
	scene_end(&scene.producer);
	scene_ended(&scene.second, 0);
}

static void it_can_go_on_without_subscribers(void **state)
{
	const struct weir_hub_options options = {.idle = WEIR_HUB_IDLE_GO_ON};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 200);
	assert_int_equal(n_live, 0);
	scene_subscribe(&scene.first, MANY);
	scene_offer(&scene.producer, 201, 210);
	hub_subscriber_has(&scene.first, 201, 210);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
}

static void it_can_end_when_the_last_subscriber_leaves(void **state)
{
	const struct weir_hub_options options = {
		.connect_after = 2,
		.idle = WEIR_HUB_IDLE_END,
	};

	scene_hub(&options);
	scene_produce(&scene.producer);
	/* one that leaves before there are two ends nothing */
	scene_subscribe(&scene.first, MANY);
	scene_leave(&scene.first);
	scene_offer(&scene.producer, 1, 10);
	scene_subscribe(&scene.first, MANY);
	scene_subscribe(&scene.second, MANY);
	scene_leave(&scene.first);
	assert_false(hub_run_is_over(&scene.producer.run));
	scene_leave(&scene.second);
	assert_true(hub_run_is_over(&scene.producer.run));
	assert_int_equal(hub_producer_fini(&scene.producer), 0);
	scene_subscribe(&scene.late, MANY);
	scene_ended(&scene.late, 0);
	assert_int_equal(scene.late.got.n, 0);
}

static void nothing_is_taken_before_enough_have_come(void **state)
{
	const struct weir_hub_options options = {
		.connect_after = 2,
		.idle = WEIR_HUB_IDLE_GO_ON,
	};

	scene_hub(&options);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 10);
	scene_subscribe(&scene.first, MANY);
	assert_int_equal(scene.first.got.n, 0);
	assert_int_equal(weir_hub_subscribers(scene.hub), 1);
	scene_subscribe(&scene.second, MANY);
	hub_subscriber_has(&scene.first, 1, 10);
	hub_subscriber_has(&scene.second, 1, 10);
	scene_leave(&scene.second);
	scene_offer(&scene.producer, 11, 20);
	hub_subscriber_has(&scene.first, 1, 20);
	scene_end(&scene.producer);
	scene_ended(&scene.first, 0);
}

/* --- Ends ----------------------------------------------------------------- */

static void an_end_is_told_without_demand(void **state)
{
	scene_hub(NULL);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, 1);
	scene_offer(&scene.producer, 1, 1);
	scene_end(&scene.producer);
	hub_subscriber_has(&scene.first, 1, 1);
	scene_ended(&scene.first, 0);
	scene_subscribe(&scene.late, 0);
	scene_ended(&scene.late, 0);
}

static void an_error_reaches_all_behind_their_items(void **state)
{
	scene_hub(NULL);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_subscribe(&scene.second, 0);
	scene_offer(&scene.producer, 1, 5);
	assert_int_equal(weir_flow_queue_end(scene.producer.queue,
					     weir_error_of(-EIO)),
			 0);
	scene_settle();
	assert_int_equal(hub_producer_fini(&scene.producer), -EIO);
	scene_ended(&scene.first, -EIO);
	assert_false(hub_run_is_over(&scene.second.run));
	scene_allow(&scene.second, MANY);
	hub_subscriber_has(&scene.second, 1, 5);
	scene_ended(&scene.second, -EIO);
	scene_subscribe(&scene.late, MANY);
	scene_ended(&scene.late, -EIO);
}

static void a_run_that_is_stopped_cancels_its_subscribers(void **state)
{
	scene_hub(NULL);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	weir_flow_run_stop(scene.producer.run.run, NULL);
	scene_settle();
	assert_int_equal(hub_producer_fini(&scene.producer), -ECANCELED);
	scene_ended(&scene.first, -ECANCELED);
}

static void a_program_can_end_it(void **state)
{
	scene_hub(NULL);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, 0);
	scene_offer(&scene.producer, 1, 3);
	assert_int_equal(weir_hub_end(scene.hub, weir_error_of(-EIO)), 0);
	assert_int_equal(weir_hub_end(scene.hub, NULL), -EALREADY);
	scene_settle();
	assert_int_equal(hub_producer_fini(&scene.producer), -EIO);
	scene_allow(&scene.first, MANY);
	hub_subscriber_has(&scene.first, 1, 3);
	scene_ended(&scene.first, -EIO);
	scene_produce(&scene.other);
	assert_true(hub_run_is_over(&scene.other.run));
	assert_int_equal(hub_producer_fini(&scene.other), -EIO);
}

static void a_subscriber_that_drains_takes_what_has_come(void **state)
{
	scene_hub(NULL);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, 0);
	scene_subscribe(&scene.second, MANY);
	scene_offer(&scene.producer, 1, 5);
	weir_flow_run_end(scene.first.run.run);
	scene_settle();
	scene_offer(&scene.producer, 6, 10);
	scene_allow(&scene.first, MANY);
	hub_subscriber_has(&scene.first, 1, 5);
	scene_ended(&scene.first, 0);
	hub_subscriber_has(&scene.second, 1, 10);
	scene_end(&scene.producer);
	scene_ended(&scene.second, 0);
}

/* --- Several producers ---------------------------------------------------- */

static void producers_come_and_go_while_the_subscriber_stays(void **state)
{
	const struct weir_hub_options options = {.stays = true};

	scene_hub(&options);
	scene_subscribe(&scene.first, MANY);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 5);
	scene_end(&scene.producer);
	scene_produce(&scene.producer);
	scene_produce(&scene.other);
	scene_offer(&scene.other, 6, 6);
	scene_offer(&scene.producer, 7, 7);
	/* one fails, and is alone with that */
	(void)weir_flow_queue_end(scene.other.queue, weir_error_of(-EIO));
	scene_settle();
	assert_int_equal(hub_producer_fini(&scene.other), -EIO);
	scene_offer(&scene.producer, 8, 10);
	weir_flow_run_stop(scene.producer.run.run, NULL);
	scene_settle();
	assert_int_equal(hub_producer_fini(&scene.producer), -ECANCELED);
	hub_subscriber_has(&scene.first, 1, 10);
	assert_false(hub_run_is_over(&scene.first.run));
	assert_int_equal(weir_hub_end(scene.hub, NULL), 0);
	scene_ended(&scene.first, 0);
}

static void no_producer_has_more_than_its_share_of_the_room(void **state)
{
	const struct weir_hub_options options = {
		.capacity = 8,
		.per_producer = 3,
		.stays = true,
	};

	scene_hub(&options);
	scene_subscribe(&scene.first, 0);
	scene_produce(&scene.producer);
	scene_produce(&scene.other);
	scene_offer(&scene.producer, 1, 10);
	scene_offer(&scene.other, 101, 110);
	scene_allow(&scene.first, MANY);
	/* three of each at first */
	assert_int_equal(scene.first.got.values[2], 3);
	assert_int_equal(scene.first.got.values[3], 101);
	assert_int_equal(scene.first.got.values[5], 103);
	assert_int_equal(scene.first.got.n, 20);
	scene_end(&scene.producer);
	scene_end(&scene.other);
	assert_int_equal(weir_hub_end(scene.hub, NULL), 0);
	scene_ended(&scene.first, 0);
}

/* --- One subscriber for each item ----------------------------------------- */

/* By the tens of its value; the fives fail, the sixes are for nobody. */
static int by_tens(void *item, size_t n, size_t *chosen, void *context)
{
	*chosen = (size_t)((struct item *)item)->value / 10;
	if (*chosen == 5)
		return -EDOM;
	return *chosen == 6;
}

static const struct weir_hub_options partition = {
	.capacity = 4,
	.stays = true,
	.choose = by_tens,
};

static void each_item_goes_to_the_one_that_is_chosen(void **state)
{
	scene_hub(&partition);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_subscribe(&scene.second, MANY);
	scene_offer(&scene.producer, 0, 4);
	scene_offer(&scene.producer, 10, 12);
	scene_offer(&scene.producer, 60, 62);
	scene_offer(&scene.producer, 5, 7);
	hub_subscriber_has(&scene.first, 0, 7);
	hub_subscriber_has(&scene.second, 10, 12);
	/* who is left is the first */
	scene_leave(&scene.first);
	scene_offer(&scene.producer, 8, 9);
	assert_int_equal(scene.second.got.n, 5);
	assert_int_equal(scene.second.got.values[4], 9);
	scene_end(&scene.producer);
	assert_int_equal(weir_hub_end(scene.hub, NULL), 0);
	scene_ended(&scene.second, 0);
}

static void what_is_chosen_for_a_slow_one_bounds_all(void **state)
{
	scene_hub(&partition);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, 0);
	scene_subscribe(&scene.second, MANY);
	scene_offer(&scene.producer, 1, 2);
	scene_offer(&scene.producer, 10, 19);
	hub_subscriber_has(&scene.second, 10, 11);
	/* what was chosen for one that leaves is dropped */
	scene_leave(&scene.first);
	assert_int_equal(n_live, 0);
	assert_int_equal(hub_producer_fini(&scene.producer), -ERANGE);
	hub_subscriber_has(&scene.second, 10, 11);
	assert_int_equal(weir_hub_end(scene.hub, NULL), 0);
	scene_ended(&scene.second, 0);
}

/* Meanwhile the first of two, which is on a thread, leaves. */
static int choose_the_last(void *item, size_t n, size_t *chosen, void *context)
{
	if (n == 2)
		weir_flow_run_stop(scene.first.run.run, NULL);
	while (weir_hub_subscribers(scene.hub) == 2)
		(void)sched_yield();
	*chosen = n - 1;
	return 0;
}

static void who_leaves_while_an_item_is_dealt_changes_the_choice(void **state)
{
	const struct weir_hub_options options = {.choose = choose_the_last};
	const struct weir_threads_options one = {.workers = 1};
	struct weir_threads *threads;

	assert_int_equal(weir_threads_new(&threads, &one), 0);
	scene_hub(&options);
	/* its number among all that have come is another than its place */
	scene_subscribe(&scene.late, MANY);
	scene_leave(&scene.late);
	hub_subscriber_start(&scene.first, scene.hub,
			     weir_threads_executor(threads), MANY);
	while (weir_hub_subscribers(scene.hub) == 0)
		(void)sched_yield();
	scene_subscribe(&scene.second, MANY);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 3);
	while (!hub_run_is_over(&scene.first.run))
		(void)sched_yield();
	assert_int_equal(hub_subscriber_fini(&scene.first), -ECANCELED);
	hub_subscriber_has(&scene.second, 1, 3);
	scene_end(&scene.producer);
	scene_ended(&scene.second, 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void a_choice_that_fails_fails_its_flow(void **state)
{
	scene_hub(&partition);
	scene_subscribe(&scene.first, MANY);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 3);
	scene_offer(&scene.producer, 50, 51);
	assert_int_equal(hub_producer_fini(&scene.producer), -EDOM);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 4, 5);
	scene_offer(&scene.producer, 10, 10);
	assert_int_equal(hub_producer_fini(&scene.producer), -ERANGE);
	hub_subscriber_has(&scene.first, 1, 5);
	assert_int_equal(weir_hub_end(scene.hub, NULL), 0);
	scene_ended(&scene.first, 0);
}

/* --- What is refused ------------------------------------------------------ */

static void a_hub_in_use_is_not_freed(void **state)
{
	struct weir_flow *flow;

	scene_hub(NULL);
	flow = weir_flow_from_hub(scene.hub);
	scene_produce(&scene.producer);
	assert_int_equal(weir_hub_free(scene.hub), -EBUSY);
	scene_subscribe(&scene.first, MANY);
	scene_offer(&scene.producer, 1, 3);
	scene_end(&scene.producer);
	scene_subscribe(&scene.second, 0);
	scene_ended(&scene.first, 0);
	scene_ended(&scene.second, 0);
	assert_int_equal(weir_hub_free(scene.hub), 0);
	weir_flow_free(flow);
	scene.hub = NULL;
}

static void bad_arguments_are_refused(void **state)
{
	static const struct weir_hub_options bad[] = {
		{.capacity = (size_t)WEIR_CAPACITY_MAX + 1},
		{.per_producer = (size_t)WEIR_CAPACITY_MAX + 1},
		{.replay = (size_t)WEIR_CAPACITY_MAX + 1},
		{.idle = WEIR_HUB_IDLE_END + 1},
		{.max_weight = 1},
		{.replay = 1, .choose = by_tens},
		{.reserved = {0, 0, 0, 1}},
	};
	struct weir_flow *flows[] = {
		weir_flow_into_hub(weir_flow_empty(), NULL),
		weir_flow_from_hub(NULL),
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(weir_hub_new(&scene.hub, NULL, &bad[i], NULL),
				 -EINVAL);
	assert_int_equal(weir_hub_new(NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(weir_hub_end(NULL, NULL), -EINVAL);
	assert_int_equal(weir_hub_subscribers(NULL), 0);
	assert_int_equal(weir_hub_free(NULL), 0);
	assert_refused_all(flows, 2);
}

static void other_items_are_refused(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;

	scene_hub(NULL);
	flow = weir_flow_into_hub(weir_flow_range(1, 3), scene.hub);
	assert_int_equal(weir_flow_start(flow, scene.executor, NULL, &run),
			 -EINVAL);
	weir_flow_free(flow);
}

static void what_is_above_may_not_put_items_into_the_same_hub(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	const char *why = NULL;

	scene_hub(NULL);
	flow = weir_flow_into_hub(
		weir_flow_items(weir_flow_never(), &counted_items), scene.hub);
	flow = weir_flow_merge((struct weir_flow *[]){weir_flow_empty(), flow},
			       2);
	flow = weir_flow_into_hub(flow, scene.hub);
	assert_int_equal(weir_flow_check(flow, NULL, &why), -EINVAL);
	assert_non_null(strstr(why, "into the same hub"));
	assert_int_equal(weir_flow_start(flow, scene.executor, NULL, &run),
			 -EINVAL);
	weir_flow_free(flow);
}

static void no_memory_loses_nothing(void **state)
{
	struct heap heap;
	size_t i;

	for (i = 1; i <= 2; i++) {
		heap_init(&heap, i);
		assert_int_equal(weir_hub_new(&scene.hub, NULL, NULL,
					      &heap.allocator),
				 -ENOMEM);
		assert_null(scene.hub);
		assert_int_equal(heap.live, 0);
	}
	heap_init(&heap, 0);
	assert_int_equal(weir_hub_new(&scene.hub, NULL, NULL, &heap.allocator),
			 0);
	assert_int_equal(heap.calls, 2);
	assert_int_equal(weir_hub_free(scene.hub), 0);
	assert_int_equal(heap.live, 0);
	scene.hub = NULL;
}

static void no_memory_for_another_item_fails_its_flow(void **state)
{
	const struct weir_hub_options options = {.replay = WEIR_HUB_ALL};
	struct heap heap;

	heap_init(&heap, 4);
	assert_int_equal(weir_hub_new(&scene.hub, &counted_items, &options,
				      &heap.allocator),
			 0);
	scene_produce(&scene.producer);
	scene_subscribe(&scene.first, MANY);
	scene_offer(&scene.producer, 1, 1000);
	assert_int_equal(hub_producer_fini(&scene.producer), -ENOMEM);
	assert_true(scene.first.got.n > 0);
	hub_subscriber_has(&scene.first, 1, (intptr_t)scene.first.got.n);
	assert_int_equal(hub_subscriber_fini(&scene.first), -ENOMEM);
	scene_subscribe(&scene.late, MANY);
	hub_subscriber_has(&scene.late, 1, (intptr_t)scene.first.got.n);
	scene_ended(&scene.late, -ENOMEM);
	assert_int_equal(weir_hub_free(scene.hub), 0);
	assert_int_equal(heap.live, 0);
	scene.hub = NULL;
}

/* Both flows in one run: a start that fails part of the way has not ended the
 * hub. */
static void runs_without_memory_leave_the_hub_as_it_was(void **state)
{
	const struct weir_hub_options options = {
		.idle = WEIR_HUB_IDLE_GO_ON,
		.stays = true,
		.replay = 3,
	};
	struct weir_flow *flows[2];
	static struct got got;

	scene_hub(&options);
	got = (struct got){.counted = true};
	flows[0] =
		weir_flow_into_hub(counted(weir_flow_range(1, 9)), scene.hub);
	flows[1] = into(weir_flow_take(weir_flow_from_hub(scene.hub), 3), &got);
	flows[0] = weir_flow_all(flows, 2);
	/* what is kept is live */
	scene_subscribe(&scene.first, 0);
	scene_produce(&scene.producer);
	scene_offer(&scene.producer, 1, 3);
	scene_end(&scene.producer);
	scene_leave(&scene.first);
	assert_true(assert_short_of_memory(flows[0], &got, 0) > 3);
	weir_flow_free(flows[0]);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_subscriber_gets_all_items_from_when_it_came),
		TEST(a_subscriber_that_leaves_does_not_hold_up_the_others),
		TEST(the_slowest_subscriber_sets_the_pace),
		TEST(a_buffer_lets_a_slow_subscriber_lose_items_alone),
		TEST(without_subscribers_it_takes_no_items),
		TEST(it_can_go_on_without_subscribers),
		TEST(it_can_end_when_the_last_subscriber_leaves),
		TEST(nothing_is_taken_before_enough_have_come),
		TEST(an_end_is_told_without_demand),
		TEST(an_error_reaches_all_behind_their_items),
		TEST(a_run_that_is_stopped_cancels_its_subscribers),
		TEST(a_program_can_end_it),
		TEST(a_subscriber_that_drains_takes_what_has_come),
		TEST(producers_come_and_go_while_the_subscriber_stays),
		TEST(no_producer_has_more_than_its_share_of_the_room),
		TEST(each_item_goes_to_the_one_that_is_chosen),
		TEST(what_is_chosen_for_a_slow_one_bounds_all),
		TEST(who_leaves_while_an_item_is_dealt_changes_the_choice),
		TEST(a_choice_that_fails_fails_its_flow),
		TEST(a_hub_in_use_is_not_freed),
		TEST(bad_arguments_are_refused),
		TEST(other_items_are_refused),
		TEST(what_is_above_may_not_put_items_into_the_same_hub),
		TEST(no_memory_loses_nothing),
		TEST(no_memory_for_another_item_fails_its_flow),
		TEST(runs_without_memory_leave_the_hub_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
