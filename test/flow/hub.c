/* SPDX-License-Identifier: BSD-2-Clause */
/* Hubs: who gets which items, how fast, and how it ends. */
#include "flow/hub_kit.h"
#include "flow/memory_kit.h"

#include <sched.h>

#define MANY 1000

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct weir_hub *hub;
static struct hub_producer producer, other;
static struct hub_subscriber first, second, late;

static int set_up(void **state)
{
	n_live = 0;
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	return 0;
}

static int tear_down(void **state)
{
	assert_int_equal(weir_hub_free(hub), 0);
	hub = NULL;
	sim_free(sim);
	assert_int_equal(n_live, 0);
	return 0;
}

/* All that can be done now; a wait that spins is found here. */
static void settle(void)
{
	assert_true(weir_sim_run_until(sim, weir_executor_now(executor),
				       100000) < 100000);
}

static void hub_of(const struct weir_hub_options *options)
{
	assert_int_equal(weir_hub_new(&hub, &counted_items, options, NULL), 0);
}

static void produce(struct hub_producer *which)
{
	hub_producer_start(which, hub, executor, &counted_items);
	settle();
}

static void offer(struct hub_producer *which, intptr_t from, intptr_t to)
{
	hub_producer_offer(which, from, to);
	settle();
}

static void subscribe(struct hub_subscriber *which, int64_t permits)
{
	hub_subscriber_start(which, hub, executor, permits);
	settle();
}

static void allow(struct hub_subscriber *which, int64_t permits)
{
	assert_int_equal(weir_semaphore_release(&which->permits, permits), 0);
	settle();
}

static void leave(struct hub_subscriber *which)
{
	weir_flow_run_stop(which->run.run, NULL);
	settle();
	assert_int_equal(hub_subscriber_fini(which), -ECANCELED);
}

/* The producer ends well. */
static void end(struct hub_producer *which)
{
	(void)weir_flow_queue_end(which->queue, NULL);
	settle();
	assert_int_equal(hub_producer_fini(which), 0);
}

static void assert_ended(struct hub_subscriber *which, int code)
{
	settle();
	assert_true(hub_run_is_over(&which->run));
	assert_int_equal(hub_subscriber_fini(which), code);
}

/* --- Several subscribers -------------------------------------------------- */

static void each_subscriber_gets_all_items_from_when_it_came(void **state)
{
	hub_of(NULL);
	produce(&producer);
	subscribe(&first, MANY);
	offer(&producer, 1, 10);
	subscribe(&second, MANY);
	offer(&producer, 11, 40);
	end(&producer);
	hub_subscriber_has(&first, 1, 40);
	hub_subscriber_has(&second, 11, 40);
	assert_ended(&first, 0);
	assert_ended(&second, 0);
}

static void a_subscriber_that_leaves_does_not_hold_up_the_others(void **state)
{
	const struct weir_hub_options options = {.capacity = 2};

	hub_of(&options);
	produce(&producer);
	subscribe(&first, MANY);
	subscribe(&second, 1);
	offer(&producer, 1, 20);
	hub_subscriber_has(&second, 1, 1);
	assert_true(first.got.n < 20);
	leave(&second);
	hub_subscriber_has(&first, 1, 20);
	end(&producer);
	assert_ended(&first, 0);
}

static void the_slowest_subscriber_sets_the_pace(void **state)
{
	const struct weir_hub_options options = {.capacity = 4};

	hub_of(&options);
	produce(&producer);
	subscribe(&first, MANY);
	subscribe(&second, 0);
	offer(&producer, 1, 20);
	hub_subscriber_has(&first, 1, 4);
	allow(&second, 3);
	hub_subscriber_has(&second, 1, 3);
	hub_subscriber_has(&first, 1, 7);
	allow(&second, MANY);
	end(&producer);
	hub_subscriber_has(&second, 1, 20);
	assert_ended(&first, 0);
	assert_ended(&second, 0);
}

static void a_buffer_lets_a_slow_subscriber_lose_items_alone(void **state)
{
	struct weir_flow *flow;

	hub_of(NULL);
	produce(&producer);
	subscribe(&first, MANY);
	memset(&second, 0, sizeof(second));
	second.got.counted = true;
	assert_int_equal(weir_semaphore_init(&second.permits, 0), 0);
	flow = weir_flow_buffer(weir_flow_from_hub(hub), 4,
				WEIR_OVERFLOW_DROP_HEAD);
	flow = weir_flow_acquire(flow, &second.permits);
	hub_run_start(&second.run, into(flow, &second.got), executor);
	settle();
	offer(&producer, 1, 200);
	hub_subscriber_has(&first, 1, 200);
	allow(&second, MANY);
	hub_subscriber_has(&second, 197, 200);
	end(&producer);
	assert_ended(&first, 0);
	assert_ended(&second, 0);
}

/* --- Without subscribers -------------------------------------------------- */

static void without_subscribers_it_takes_no_items(void **state)
{
	hub_of(NULL);
	produce(&producer);
	offer(&producer, 1, 10);
	subscribe(&first, MANY);
	hub_subscriber_has(&first, 1, 10);
	leave(&first);
	assert_int_equal(weir_hub_subscribers(hub), 0);
	offer(&producer, 11, 20);
	subscribe(&second, MANY);
	hub_subscriber_has(&second, 11, 20);
	end(&producer);
	assert_ended(&second, 0);
}

static void it_can_go_on_without_subscribers(void **state)
{
	const struct weir_hub_options options = {.idle = WEIR_HUB_IDLE_GO_ON};

	hub_of(&options);
	produce(&producer);
	offer(&producer, 1, 200);
	assert_int_equal(n_live, 0);
	subscribe(&first, MANY);
	offer(&producer, 201, 210);
	hub_subscriber_has(&first, 201, 210);
	end(&producer);
	assert_ended(&first, 0);
}

static void it_can_end_when_the_last_subscriber_leaves(void **state)
{
	const struct weir_hub_options options = {
		.connect_after = 2,
		.idle = WEIR_HUB_IDLE_END,
	};

	hub_of(&options);
	produce(&producer);
	/* one that leaves before there are two ends nothing */
	subscribe(&first, MANY);
	leave(&first);
	offer(&producer, 1, 10);
	subscribe(&first, MANY);
	subscribe(&second, MANY);
	leave(&first);
	assert_false(hub_run_is_over(&producer.run));
	leave(&second);
	assert_true(hub_run_is_over(&producer.run));
	assert_int_equal(hub_producer_fini(&producer), 0);
	subscribe(&late, MANY);
	assert_ended(&late, 0);
	assert_int_equal(late.got.n, 0);
}

static void nothing_is_taken_before_enough_have_come(void **state)
{
	const struct weir_hub_options options = {
		.connect_after = 2,
		.idle = WEIR_HUB_IDLE_GO_ON,
	};

	hub_of(&options);
	produce(&producer);
	offer(&producer, 1, 10);
	subscribe(&first, MANY);
	assert_int_equal(first.got.n, 0);
	assert_int_equal(weir_hub_subscribers(hub), 1);
	subscribe(&second, MANY);
	hub_subscriber_has(&first, 1, 10);
	hub_subscriber_has(&second, 1, 10);
	leave(&second);
	offer(&producer, 11, 20);
	hub_subscriber_has(&first, 1, 20);
	end(&producer);
	assert_ended(&first, 0);
}

/* --- Ends ----------------------------------------------------------------- */

static void an_end_is_told_without_demand(void **state)
{
	hub_of(NULL);
	produce(&producer);
	subscribe(&first, 1);
	offer(&producer, 1, 1);
	end(&producer);
	hub_subscriber_has(&first, 1, 1);
	assert_ended(&first, 0);
	subscribe(&late, 0);
	assert_ended(&late, 0);
}

static void an_error_reaches_all_behind_their_items(void **state)
{
	hub_of(NULL);
	produce(&producer);
	subscribe(&first, MANY);
	subscribe(&second, 0);
	offer(&producer, 1, 5);
	assert_int_equal(
		weir_flow_queue_end(producer.queue, weir_error_of(-EIO)), 0);
	settle();
	assert_int_equal(hub_producer_fini(&producer), -EIO);
	assert_ended(&first, -EIO);
	assert_false(hub_run_is_over(&second.run));
	allow(&second, MANY);
	hub_subscriber_has(&second, 1, 5);
	assert_ended(&second, -EIO);
	subscribe(&late, MANY);
	assert_ended(&late, -EIO);
}

static void a_run_that_is_stopped_cancels_its_subscribers(void **state)
{
	hub_of(NULL);
	produce(&producer);
	subscribe(&first, MANY);
	weir_flow_run_stop(producer.run.run, NULL);
	settle();
	assert_int_equal(hub_producer_fini(&producer), -ECANCELED);
	assert_ended(&first, -ECANCELED);
}

static void a_program_can_end_it(void **state)
{
	hub_of(NULL);
	produce(&producer);
	subscribe(&first, 0);
	offer(&producer, 1, 3);
	assert_int_equal(weir_hub_end(hub, weir_error_of(-EIO)), 0);
	assert_int_equal(weir_hub_end(hub, NULL), -EALREADY);
	settle();
	assert_int_equal(hub_producer_fini(&producer), -EIO);
	allow(&first, MANY);
	hub_subscriber_has(&first, 1, 3);
	assert_ended(&first, -EIO);
	produce(&other);
	assert_true(hub_run_is_over(&other.run));
	assert_int_equal(hub_producer_fini(&other), -EIO);
}

static void a_subscriber_that_drains_takes_what_has_come(void **state)
{
	hub_of(NULL);
	produce(&producer);
	subscribe(&first, 0);
	subscribe(&second, MANY);
	offer(&producer, 1, 5);
	weir_flow_run_end(first.run.run);
	settle();
	offer(&producer, 6, 10);
	allow(&first, MANY);
	hub_subscriber_has(&first, 1, 5);
	assert_ended(&first, 0);
	hub_subscriber_has(&second, 1, 10);
	end(&producer);
	assert_ended(&second, 0);
}

/* --- Several producers ---------------------------------------------------- */

static void producers_come_and_go_while_the_subscriber_stays(void **state)
{
	const struct weir_hub_options options = {.stays = true};

	hub_of(&options);
	subscribe(&first, MANY);
	produce(&producer);
	offer(&producer, 1, 5);
	end(&producer);
	produce(&producer);
	produce(&other);
	offer(&other, 6, 6);
	offer(&producer, 7, 7);
	/* one fails, and is alone with that */
	(void)weir_flow_queue_end(other.queue, weir_error_of(-EIO));
	settle();
	assert_int_equal(hub_producer_fini(&other), -EIO);
	offer(&producer, 8, 10);
	weir_flow_run_stop(producer.run.run, NULL);
	settle();
	assert_int_equal(hub_producer_fini(&producer), -ECANCELED);
	hub_subscriber_has(&first, 1, 10);
	assert_false(hub_run_is_over(&first.run));
	assert_int_equal(weir_hub_end(hub, NULL), 0);
	assert_ended(&first, 0);
}

static void no_producer_has_more_than_its_share_of_the_room(void **state)
{
	const struct weir_hub_options options = {
		.capacity = 8,
		.per_producer = 3,
		.stays = true,
	};

	hub_of(&options);
	subscribe(&first, 0);
	produce(&producer);
	produce(&other);
	offer(&producer, 1, 10);
	offer(&other, 101, 110);
	allow(&first, MANY);
	/* three of each at first */
	assert_int_equal(first.got.values[2], 3);
	assert_int_equal(first.got.values[3], 101);
	assert_int_equal(first.got.values[5], 103);
	assert_int_equal(first.got.n, 20);
	end(&producer);
	end(&other);
	assert_int_equal(weir_hub_end(hub, NULL), 0);
	assert_ended(&first, 0);
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
	hub_of(&partition);
	produce(&producer);
	subscribe(&first, MANY);
	subscribe(&second, MANY);
	offer(&producer, 0, 4);
	offer(&producer, 10, 12);
	offer(&producer, 60, 62);
	offer(&producer, 5, 7);
	hub_subscriber_has(&first, 0, 7);
	hub_subscriber_has(&second, 10, 12);
	/* who is left is the first */
	leave(&first);
	offer(&producer, 8, 9);
	assert_int_equal(second.got.n, 5);
	assert_int_equal(second.got.values[4], 9);
	end(&producer);
	assert_int_equal(weir_hub_end(hub, NULL), 0);
	assert_ended(&second, 0);
}

static void what_is_chosen_for_a_slow_one_bounds_all(void **state)
{
	hub_of(&partition);
	produce(&producer);
	subscribe(&first, 0);
	subscribe(&second, MANY);
	offer(&producer, 1, 2);
	offer(&producer, 10, 19);
	hub_subscriber_has(&second, 10, 11);
	/* what was chosen for one that leaves is dropped */
	leave(&first);
	assert_int_equal(n_live, 0);
	assert_int_equal(hub_producer_fini(&producer), -ERANGE);
	hub_subscriber_has(&second, 10, 11);
	assert_int_equal(weir_hub_end(hub, NULL), 0);
	assert_ended(&second, 0);
}

/* Meanwhile the first of two, which is on a thread, leaves. */
static int choose_the_last(void *item, size_t n, size_t *chosen, void *context)
{
	if (n == 2)
		weir_flow_run_stop(first.run.run, NULL);
	while (weir_hub_subscribers(hub) == 2)
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
	hub_of(&options);
	/* its number among all that have come is another than its place */
	subscribe(&late, MANY);
	leave(&late);
	hub_subscriber_start(&first, hub, weir_threads_executor(threads), MANY);
	while (weir_hub_subscribers(hub) == 0)
		(void)sched_yield();
	subscribe(&second, MANY);
	produce(&producer);
	offer(&producer, 1, 3);
	while (!hub_run_is_over(&first.run))
		(void)sched_yield();
	assert_int_equal(hub_subscriber_fini(&first), -ECANCELED);
	hub_subscriber_has(&second, 1, 3);
	end(&producer);
	assert_ended(&second, 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void a_choice_that_fails_fails_its_flow(void **state)
{
	hub_of(&partition);
	subscribe(&first, MANY);
	produce(&producer);
	offer(&producer, 1, 3);
	offer(&producer, 50, 51);
	assert_int_equal(hub_producer_fini(&producer), -EDOM);
	produce(&producer);
	offer(&producer, 4, 5);
	offer(&producer, 10, 10);
	assert_int_equal(hub_producer_fini(&producer), -ERANGE);
	hub_subscriber_has(&first, 1, 5);
	assert_int_equal(weir_hub_end(hub, NULL), 0);
	assert_ended(&first, 0);
}

/* --- Replays -------------------------------------------------------------- */

static void late_subscribers_get_the_last_items_first(void **state)
{
	const struct weir_hub_options options = {.replay = 5};

	hub_of(&options);
	produce(&producer);
	subscribe(&first, MANY);
	offer(&producer, 1, 3);
	subscribe(&second, MANY);
	hub_subscriber_has(&second, 1, 3);
	offer(&producer, 4, 200);
	subscribe(&late, MANY);
	hub_subscriber_has(&late, 196, 200);
	assert_int_equal(n_live, 5);
	offer(&producer, 201, 203);
	leave(&late);
	end(&producer);
	assert_ended(&first, 0);
	hub_subscriber_has(&second, 1, 203);
	assert_ended(&second, 0);
	/* also behind the end */
	subscribe(&late, MANY);
	hub_subscriber_has(&late, 199, 203);
	assert_ended(&late, 0);
}

static void a_subscriber_that_is_slow_with_its_replay_sets_the_pace(
	void **state)
{
	const struct weir_hub_options options = {.capacity = 2, .replay = 4};

	hub_of(&options);
	produce(&producer);
	subscribe(&first, MANY);
	offer(&producer, 1, 4);
	subscribe(&late, 0);
	offer(&producer, 5, 20);
	hub_subscriber_has(&first, 1, 6);
	allow(&late, MANY);
	hub_subscriber_has(&late, 1, 20);
	hub_subscriber_has(&first, 1, 20);
	end(&producer);
	assert_ended(&first, 0);
	assert_ended(&late, 0);
}

static void items_that_are_too_old_are_not_replayed(void **state)
{
	const struct weir_hub_options options = {
		.replay = 100,
		.within_ns = 1000,
		.idle = WEIR_HUB_IDLE_GO_ON,
	};

	hub_of(&options);
	produce(&producer);
	offer(&producer, 1, 5);
	weir_sim_run_until(sim, 600, 1000);
	offer(&producer, 6, 8);
	weir_sim_run_until(sim, 1000, 1000);
	subscribe(&first, MANY);
	hub_subscriber_has(&first, 1, 8);
	weir_sim_run_until(sim, 1001, 1000);
	subscribe(&second, MANY);
	hub_subscriber_has(&second, 6, 8);
	assert_int_equal(n_live, 3);
	weir_sim_run_until(sim, 1601, 1000);
	subscribe(&late, MANY);
	assert_int_equal(late.got.n, 0);
	assert_int_equal(n_live, 0);
	end(&producer);
	assert_ended(&first, 0);
	assert_ended(&second, 0);
	assert_ended(&late, 0);
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

	hub_of(&options);
	produce(&producer);
	offer(&producer, 1, 4);
	assert_int_equal(n_live, 4);
	offer(&producer, 5, 5);
	subscribe(&first, MANY);
	hub_subscriber_has(&first, 4, 5);
	/* one that is too heavy alone */
	offer(&producer, 11, 11);
	assert_int_equal(n_live, 0);
	assert_int_equal(n_weighed, 6);
	end(&producer);
	assert_ended(&first, 0);
}

static void all_items_can_be_kept(void **state)
{
	const struct weir_hub_options cache = {
		.capacity = 1,
		.connect_after = 1,
		.idle = WEIR_HUB_IDLE_GO_ON,
		.replay = WEIR_HUB_ALL,
	};

	hub_of(&cache);
	produce(&producer);
	offer(&producer, 1, 100);
	subscribe(&first, 0);
	assert_int_equal(n_live, 100);
	/* the slow do not hold up the others */
	subscribe(&second, MANY);
	hub_subscriber_has(&second, 1, 100);
	leave(&second);
	allow(&first, 50);
	offer(&producer, 101, 900);
	end(&producer);
	hub_subscriber_has(&first, 1, 50);
	allow(&first, MANY);
	hub_subscriber_has(&first, 1, 900);
	assert_ended(&first, 0);
	subscribe(&late, MANY);
	hub_subscriber_has(&late, 1, 900);
	assert_ended(&late, 0);
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

	hub_of(&options);
	produce(&producer);
	subscribe(&first, MANY);
	subscribe(&second, 0);
	offer(&producer, 1001, 1100);
	assert_in_range(first.got.n, 4, 4);
	assert_int_equal(n_live, 4 + 96);
	subscribe(&late, MANY);
	hub_subscriber_has(&late, 1003, 1004);
	allow(&second, MANY);
	hub_subscriber_has(&second, 1001, 1100);
	hub_subscriber_has(&late, 1003, 1100);
	end(&producer);
	assert_ended(&first, 0);
	assert_ended(&second, 0);
	assert_ended(&late, 0);
}

/* --- Items that are one's own --------------------------------------------- */

static void items_that_cannot_be_shared_have_one_subscriber(void **state)
{
	const struct weir_items owned = {.drop = item_drop};
	const struct weir_hub_options replay = {.replay = 1};

	assert_int_equal(weir_hub_new(&hub, &owned, &replay, NULL), -ENOTSUP);
	assert_null(hub);
	assert_int_equal(weir_hub_new(&hub, &owned, NULL, NULL), 0);
	hub_producer_start(&producer, hub, executor, &owned);
	subscribe(&first, MANY);
	subscribe(&second, MANY);
	assert_ended(&second, -ENOTSUP);
	offer(&producer, 1, 100);
	hub_subscriber_has(&first, 1, 100);
	leave(&first);
	subscribe(&second, MANY);
	offer(&producer, 101, 102);
	hub_subscriber_has(&second, 101, 102);
	end(&producer);
	assert_ended(&second, 0);
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

	assert_int_equal(weir_hub_new(&hub, &items, NULL, NULL), 0);
	hub_producer_start(&producer, hub, executor, &items);
	subscribe(&first, 0);
	subscribe(&second, MANY);
	offer(&producer, 1, 5);
	hub_subscriber_has(&second, 1, 3);
	assert_ended(&second, -EIO);
	allow(&first, MANY);
	hub_subscriber_has(&first, 1, 5);
	end(&producer);
	assert_ended(&first, 0);
}

static void plain_values_need_nothing(void **state)
{
	static const intptr_t expected[] = {1, 2, 3};
	struct weir_flow *flow;
	static struct got got;
	struct hub_run into_it, from_it;

	got = (struct got){.n = 0};
	assert_int_equal(weir_hub_new(&hub, NULL, NULL, NULL), 0);
	flow = weir_flow_into_hub(weir_flow_range(1, 3), hub);
	hub_run_start(&into_it, flow, executor);
	hub_run_start(&from_it, into(weir_flow_from_hub(hub), &got), executor);
	settle();
	assert_int_equal(hub_run_fini(&into_it), 0);
	assert_int_equal(hub_run_fini(&from_it), 0);
	assert_got(&got, expected, 3, 0);
}

/* --- What is refused ------------------------------------------------------ */

static void a_hub_in_use_is_not_freed(void **state)
{
	struct weir_flow *flow;

	hub_of(NULL);
	flow = weir_flow_from_hub(hub);
	produce(&producer);
	assert_int_equal(weir_hub_free(hub), -EBUSY);
	subscribe(&first, MANY);
	offer(&producer, 1, 3);
	end(&producer);
	subscribe(&second, 0);
	assert_ended(&first, 0);
	assert_ended(&second, 0);
	assert_int_equal(weir_hub_free(hub), 0);
	weir_flow_free(flow);
	hub = NULL;
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
		assert_int_equal(weir_hub_new(&hub, NULL, &bad[i], NULL),
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

	hub_of(NULL);
	flow = weir_flow_into_hub(weir_flow_range(1, 3), hub);
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), -EINVAL);
	weir_flow_free(flow);
}

static void what_is_above_may_not_put_items_into_the_same_hub(void **state)
{
	struct weir_flow_run *run;
	struct weir_flow *flow;
	const char *why = NULL;

	hub_of(NULL);
	flow = weir_flow_into_hub(
		weir_flow_items(weir_flow_never(), &counted_items), hub);
	flow = weir_flow_merge((struct weir_flow *[]){weir_flow_empty(), flow},
			       2);
	flow = weir_flow_into_hub(flow, hub);
	assert_int_equal(weir_flow_check(flow, NULL, &why), -EINVAL);
	assert_non_null(strstr(why, "into the same hub"));
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), -EINVAL);
	weir_flow_free(flow);
}

static void no_memory_loses_nothing(void **state)
{
	struct heap heap;
	size_t i;

	for (i = 1; i <= 2; i++) {
		heap_init(&heap, i);
		assert_int_equal(weir_hub_new(&hub, NULL, NULL,
					      &heap.allocator),
				 -ENOMEM);
		assert_null(hub);
		assert_int_equal(heap.live, 0);
	}
	heap_init(&heap, 0);
	assert_int_equal(weir_hub_new(&hub, NULL, NULL, &heap.allocator), 0);
	assert_int_equal(heap.calls, 2);
	assert_int_equal(weir_hub_free(hub), 0);
	assert_int_equal(heap.live, 0);
	hub = NULL;
}

static void no_memory_for_another_item_fails_its_flow(void **state)
{
	const struct weir_hub_options options = {.replay = WEIR_HUB_ALL};
	struct heap heap;

	heap_init(&heap, 4);
	assert_int_equal(weir_hub_new(&hub, &counted_items, &options,
				      &heap.allocator),
			 0);
	produce(&producer);
	subscribe(&first, MANY);
	offer(&producer, 1, 1000);
	assert_int_equal(hub_producer_fini(&producer), -ENOMEM);
	assert_true(first.got.n > 0);
	hub_subscriber_has(&first, 1, (intptr_t)first.got.n);
	assert_int_equal(hub_subscriber_fini(&first), -ENOMEM);
	subscribe(&late, MANY);
	hub_subscriber_has(&late, 1, (intptr_t)first.got.n);
	assert_ended(&late, -ENOMEM);
	assert_int_equal(weir_hub_free(hub), 0);
	assert_int_equal(heap.live, 0);
	hub = NULL;
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

	hub_of(&options);
	got = (struct got){.counted = true};
	flows[0] = weir_flow_into_hub(counted(weir_flow_range(1, 9)), hub);
	flows[1] = into(weir_flow_take(weir_flow_from_hub(hub), 3), &got);
	flows[0] = weir_flow_all(flows, 2);
	/* what is kept is live */
	subscribe(&first, 0);
	produce(&producer);
	offer(&producer, 1, 3);
	end(&producer);
	leave(&first);
	assert_true(assert_short_of_memory(flows[0], &got, 0) > 3);
	weir_flow_free(flows[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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
		TEST(late_subscribers_get_the_last_items_first),
		TEST(a_subscriber_that_is_slow_with_its_replay_sets_the_pace),
		TEST(items_that_are_too_old_are_not_replayed),
		TEST(the_weight_of_a_replay_is_bounded),
		TEST(all_items_can_be_kept),
		TEST(a_bound_of_weight_bounds_what_is_kept_of_all),
		TEST(items_that_cannot_be_shared_have_one_subscriber),
		TEST(an_item_that_is_not_shared_fails_its_subscriber_alone),
		TEST(plain_values_need_nothing),
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
