/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that are shared: when they run, who gets what, and how it ends. */
#include "flow/hub_share_kit.h"
#include "flow/memory_kit.h"

/* --- One run for all ------------------------------------------------------ */

static void all_subscribers_take_part_in_one_run(void **state)
{
	share_of(share_source(9), NULL);
	assert_int_equal(n_started, 0);
	share_subscribe(&first);
	assert_int_equal(n_started, 1);
	share_feed(3);
	share_subscribe_on(&second, elsewhere, MANY);
	share_feed(6);
	assert_int_equal(n_started, 1);
	assert_int_equal(n_completed, 1);
	assert_share_over(&first, 1, 9, 0);
	assert_share_over(&second, 4, 9, 0);
}

static void the_run_goes_on_until_the_last_has_left(void **state)
{
	share_of(share_source(9), NULL);
	share_subscribe(&first);
	share_subscribe(&second);
	share_feed(2);
	share_leave(&first);
	share_feed(1);
	hub_subscriber_has(&second, 1, 3);
	assert_int_equal(n_ended, 0);
	share_leave(&second);
	assert_int_equal(n_cancelled, 1);
	assert_int_equal(n_over, 1);
}

static void who_comes_when_all_have_left_starts_another_run(void **state)
{
	share_of(share_source(9), NULL);
	share_subscribe(&first);
	share_feed(4);
	share_leave(&first);
	share_subscribe(&late);
	assert_int_equal(n_started, 2);
	share_feed(9);
	assert_share_over(&late, 1, 9, 0);
}

static void who_comes_behind_the_end_starts_another_run(void **state)
{
	share_of(share_source(3), NULL);
	share_subscribe(&first);
	/* it has yet to take what was there */
	share_subscribe_on(&second, here, 0);
	share_feed(3);
	assert_share_over(&first, 1, 3, 0);
	assert_int_equal(n_completed, 1);
	share_subscribe(&late);
	assert_int_equal(n_started, 2);
	share_feed(1);
	assert_int_equal(weir_semaphore_release(&second.permits, 3), 0);
	share_settle();
	assert_share_over(&second, 1, 3, 0);
	/* the end of the old run is not that of the new one */
	share_subscribe(&first);
	assert_int_equal(n_started, 2);
	share_feed(2);
	assert_share_over(&first, 2, 3, 0);
	assert_share_over(&late, 1, 3, 0);
}

static void who_comes_behind_the_end_does_not_get_what_is_left(void **state)
{
	share_of(share_source(3), NULL);
	share_subscribe_on(&first, here, 0);
	share_feed(3);
	assert_int_equal(n_completed, 1);
	/* nobody has left the old run */
	share_subscribe(&late);
	assert_int_equal(n_started, 2);
	share_feed(3);
	assert_share_over(&late, 1, 3, 0);
	assert_int_equal(weir_semaphore_release(&first.permits, 3), 0);
	share_settle();
	assert_share_over(&first, 1, 3, 0);
}

static struct weir_flow *failing(void)
{
	struct weir_flow *flows[] = {share_source(2),
				     weir_flow_fail(-EIO, "it is broken")};

	return weir_flow_concat(flows, 2);
}

static void an_error_reaches_all_and_the_next_tries_again(void **state)
{
	share_of(failing(), NULL);
	share_subscribe(&first);
	share_subscribe(&second);
	share_feed(2);
	assert_share_over(&first, 1, 2, -EIO);
	assert_share_over(&second, 1, 2, -EIO);
	share_subscribe(&late);
	assert_int_equal(n_started, 2);
	share_feed(2);
	assert_share_over(&late, 1, 2, -EIO);
}

/* --- Rates and replays ---------------------------------------------------- */

static void the_slowest_subscriber_sets_the_pace(void **state)
{
	const struct weir_hub_options options = {.capacity = 2};

	share_of(share_source(9), &options);
	share_subscribe(&first);
	share_subscribe_on(&second, here, 1);
	share_feed(9);
	hub_subscriber_has(&first, 1, 3);
	share_leave(&second);
	assert_share_over(&first, 1, 9, 0);
}

static void who_comes_late_gets_a_replay_of_this_run(void **state)
{
	const struct weir_hub_options options = {.replay = 2};

	share_of(share_source(5), &options);
	share_subscribe(&first);
	share_feed(3);
	share_subscribe(&second);
	hub_subscriber_has(&second, 2, 3);
	share_leave(&first);
	share_leave(&second);
	/* nothing is kept for nobody */
	assert_int_equal(n_live, 0);
	share_subscribe(&late);
	share_feed(5);
	assert_share_over(&late, 1, 5, 0);
}

static void a_run_of_it_may_be_drained(void **state)
{
	share_of(share_source(5), NULL);
	share_subscribe(&first);
	share_subscribe_on(&second, here, 0);
	share_feed(2);
	weir_flow_run_end(second.run.run);
	share_settle();
	share_feed(3);
	assert_int_equal(weir_semaphore_release(&second.permits, MANY), 0);
	share_settle();
	assert_share_over(&first, 1, 5, 0);
	assert_share_over(&second, 1, 2, 0);
}

/* --- When it cannot run --------------------------------------------------- */

static void a_flow_that_runs_once_is_shared_once(void **state)
{
	struct weir_flow_queue *queue;

	assert_int_equal(weir_flow_queue_new(&queue, 8,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     &counted_items),
			 0);
	share_of(weir_flow_from_queue(queue), NULL);
	share_subscribe(&first);
	assert_int_equal(weir_flow_queue_offer(queue, item_new(1)), 0);
	share_settle();
	share_leave(&first);
	share_subscribe(&late);
	assert_share_over(&late, 1, 0, -EALREADY);
	weir_flow_queue_free(queue);
}

static void no_more(struct weir_ending *ending)
{
}

static void end_executor(void)
{
	static struct weir_ending ending;

	ending = (struct weir_ending){.done = no_more};
	assert_int_equal(
		weir_executor_end_async(executor, &ending, WEIR_FOREVER), 0);
	share_settle();
}

static void an_executor_that_has_ended_is_told(void **state)
{
	share_of(share_source(5), NULL);
	end_executor();
	share_subscribe_on(&late, elsewhere, MANY);
	assert_share_over(&late, 1, 0, -ESHUTDOWN);
	assert_int_equal(n_over, 0);
}

static void the_words_say_that_it_could_not_start(void **state)
{
	struct weir_error *error;

	share_of(share_source(5), NULL);
	end_executor();
	error = error_of(weir_flow_ignore(weir_flow_from_share(share)));
	assert_string_equal(error->origin, "from_share");
	assert_memory_equal(error->message, "the flow could not start: ", 26);
	weir_error_unref(error);
}

static void items_that_cannot_be_shared_have_one_subscriber(void **state)
{
	static struct weir_items alone;

	alone = counted_items;
	alone.share = NULL;
	share_of(weir_flow_items(
			 weir_flow_map(weir_flow_acquire(weir_flow_range(1, 5),
							 &fed),
				       to_item, NULL),
			 &alone),
		 NULL);
	share_subscribe(&first);
	share_subscribe(&second);
	assert_share_over(&second, 1, 0, -ENOTSUP);
	share_feed(5);
	assert_share_over(&first, 1, 5, 0);
}

/* --- Inside of other flows ------------------------------------------------ */

static struct weir_flow *shared(void *item, void *context)
{
	return weir_flow_from_share(share);
}

static void nested_flows_subscribe_too(void **state)
{
	static struct got got;
	struct hub_run run;

	got = (struct got){.counted = true};
	share_of(share_source(3), NULL);
	hub_run_start(
		&run,
		into(weir_flow_items(weir_flow_flat_map(weir_flow_range(1, 3),
							3, shared, NULL),
				     &counted_items),
		     &got),
		executor);
	share_settle();
	share_feed(3);
	assert_int_equal(n_started, 1);
	assert_int_equal(got.n, 9);
	assert_int_equal(hub_run_fini(&run), 0);
}

static void a_share_of_a_share_starts_and_stops_both(void **state)
{
	struct weir_flow_share *inner;

	share_of(share_source(9), NULL);
	inner = share;
	share_of(weir_flow_from_share(inner), NULL);
	weir_flow_share_free(inner);
	share_subscribe(&first);
	assert_int_equal(n_started, 1);
	share_feed(2);
	hub_subscriber_has(&first, 1, 2);
	share_leave(&first);
	assert_int_equal(n_cancelled, 1);
	share_subscribe(&late);
	share_feed(9);
	assert_share_over(&late, 1, 9, 0);
}

static void a_share_counts_as_a_nested_flow_does(void **state)
{
	struct weir_flow *flow = share_source(1);
	int i;

	for (i = 0; i < 200; i++)
		flow = weir_flow_take(flow, 1);
	share_of(flow, NULL);
	flow = weir_flow_from_share(share);
	for (i = 0; i < 60; i++)
		flow = weir_flow_take(flow, 1);
	hub_subscriber_take(&first, flow, executor, MANY);
	share_subscribe(&second);
	assert_share_over(&first, 1, 0, -E2BIG);
	share_feed(1);
	assert_share_over(&second, 1, 1, 0);
}

/* --- Lifetime ------------------------------------------------------------- */

static void flows_keep_the_share(void **state)
{
	struct weir_flow *flow;

	share_of(share_source(3), NULL);
	flow = weir_flow_from_share(share);
	share_subscribe(&first);
	weir_flow_share_free(share);
	share = NULL;
	share_feed(1);
	hub_subscriber_take(&late, flow, executor, MANY);
	share_settle();
	share_feed(2);
	assert_share_over(&first, 1, 3, 0);
	assert_share_over(&late, 2, 3, 0);
}

/* The last subscriber's flow is freed before the run that it leaves is over. */
static void a_run_keeps_the_share(void **state)
{
	struct weir_completion *gone;

	share_of(weir_flow_async(share_source(3), 1,
				 weir_sim_executor(elsewhere)),
		 NULL);
	share_subscribe(&first);
	weir_flow_share_free(share);
	share = NULL;
	weir_flow_run_stop(first.run.run, NULL);
	gone = weir_flow_run_over(first.run.run);
	while (!weir_completion_done(gone))
		assert_int_equal(weir_sim_run_until(here, WEIR_FOREVER, 1), 1);
	assert_int_equal(hub_subscriber_fini(&first), -ECANCELED);
	assert_int_equal(n_over, 0);
	share_settle();
	assert_int_equal(n_cancelled, 1);
	assert_int_equal(n_over, 1);
}

static void bad_arguments_are_refused(void **state)
{
	const struct weir_flow_share_options bad[] = {
		{.hub.idle = WEIR_HUB_IDLE_END},
		{.hub.idle = WEIR_HUB_IDLE_GO_ON},
		{.hub.stays = true},
		{.hub.capacity = WEIR_CAPACITY_MAX + 1},
		{.hub.reserved = {1}},
		{.run.unfused = 3},
		{.run.reserved = {1}},
		{.reserved = {1}},
	};
	struct weir_flow *flows[] = {weir_flow_from_share(NULL)};
	struct weir_flow *outlets[2];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(weir_flow_share_new(&share, share_source(1),
						     executor, &bad[i]),
				 -EINVAL);
	assert_int_equal(weir_flow_share_new(NULL, share_source(1), executor,
					     NULL),
			 -EINVAL);
	assert_int_equal(weir_flow_share_new(&share, NULL, executor, NULL),
			 -EINVAL);
	assert_int_equal(weir_flow_share_new(&share, share_source(1), NULL,
					     NULL),
			 -EINVAL);
	assert_int_equal(weir_flow_share_new(&share, weir_flow_take(NULL, 1),
					     executor, NULL),
			 -EINVAL);
	(void)weir_flow_broadcast(share_source(1), 2, outlets, NULL);
	assert_int_equal(weir_flow_share_new(&share, outlets[0], executor,
					     NULL),
			 -EINVAL);
	weir_flow_free(outlets[1]);
	assert_null(share);
	weir_flow_share_free(NULL);
	assert_refused_all(flows, 1);
}

static void a_replay_of_what_cannot_be_shared_is_refused(void **state)
{
	static const struct weir_items alone = {.drop = item_drop};
	const struct weir_flow_share_options options = {.hub.replay = 1};
	struct weir_flow *flow = weir_flow_items(weir_flow_range(1, 2), &alone);

	assert_int_equal(weir_flow_share_new(&share, flow, executor, &options),
			 -ENOTSUP);
	assert_null(share);
}

/* --- Memory --------------------------------------------------------------- */

/* A run of the share, and of a subscriber, with the `i`-th allocation failing;
 * then one more subscriber. */
static bool short_of_memory(size_t i)
{
	struct weir_executor_options options = {0};
	struct heap heap;
	bool over;

	heap_init(&heap, 0);
	options.allocator = &heap.allocator;
	assert_int_equal(weir_sim_new(&here, 1, &options), 0);
	executor = weir_sim_executor(here);
	assert_int_equal(
		weir_flow_share_new(
			&share, counted(weir_flow_range(1, 3)), executor,
			&(struct weir_flow_share_options){.hub.replay = 1}),
		0);
	heap.fail = heap.calls + i;
	share_subscribe_on(&first, elsewhere, MANY);
	over = heap.calls < heap.fail;
	heap.fail = 0;
	if (over)
		assert_share_over(&first, 1, 3, 0);
	else
		assert_share_over(&first, 1, 0, -ENOMEM);
	share_subscribe_on(&late, elsewhere, MANY);
	assert_share_over(&late, 1, 3, 0);
	weir_flow_share_free(share);
	share = NULL;
	sim_free(here);
	assert_int_equal(heap.live, 0);
	assert_int_equal(n_live, 0);
	return over;
}

static void no_memory_is_an_error_of_the_subscriber(void **state)
{
	size_t i = 1;

	sim_free(here);
	while (!short_of_memory(i))
		i++;
	/* a connection, its hub, the ring; and those of a run */
	assert_true(i > 4);
	here = sim_new(1);
	executor = weir_sim_executor(here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_subscribers_take_part_in_one_run),
		TEST(the_run_goes_on_until_the_last_has_left),
		TEST(who_comes_when_all_have_left_starts_another_run),
		TEST(who_comes_behind_the_end_starts_another_run),
		TEST(who_comes_behind_the_end_does_not_get_what_is_left),
		TEST(an_error_reaches_all_and_the_next_tries_again),
		TEST(the_slowest_subscriber_sets_the_pace),
		TEST(who_comes_late_gets_a_replay_of_this_run),
		TEST(a_run_of_it_may_be_drained),
		TEST(a_flow_that_runs_once_is_shared_once),
		TEST(an_executor_that_has_ended_is_told),
		TEST(the_words_say_that_it_could_not_start),
		TEST(items_that_cannot_be_shared_have_one_subscriber),
		TEST(nested_flows_subscribe_too),
		TEST(a_share_of_a_share_starts_and_stops_both),
		TEST(a_share_counts_as_a_nested_flow_does),
		TEST(flows_keep_the_share),
		TEST(a_run_keeps_the_share),
		TEST(bad_arguments_are_refused),
		TEST(a_replay_of_what_cannot_be_shared_is_refused),
		TEST(no_memory_is_an_error_of_the_subscriber),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
