/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream of results of a manager whose processes are calls: results that
 * are requested while places come back, others end, their subscriber cancels
 * or the manager stops. Each command that was called is one result, which is
 * replied to once, or is replied to without.
 */
#include "process_kit.h"

#include <ck_pr.h>

/* --- Who takes results ---------------------------------------------------- */

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	(void)subscriber;
	explorer_assert(!world.results);
	world.results = weir_subscription_ref(subscription);
	return 0;
}

static int on_next(struct weir_subscriber *subscriber, void *item)
{
	struct weir_command *command = item;

	(void)subscriber;
	explorer_assert(world.courses[order_index(command)].called);
	explorer_assert(command->outcome == WEIR_OUTCOME_DONE);
	world.n_results++;
	weir_command_reply(command);
	return 0;
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	(void)subscriber;
	(void)error;
	world.n_ends++;
	return 0;
}

static int on_complete(struct weir_subscriber *subscriber)
{
	(void)subscriber;
	world.n_ends++;
	return 0;
}

static void released(struct weir_subscriber *subscriber)
{
	explorer_free(subscriber);
}

static const struct weir_subscriber_ops taker_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_error = on_error,
	.on_complete = on_complete,
	.released = released,
};

static void request(struct world *w, int64_t n)
{
	weir_subscription_request(w->results, n);
}

static void let_go(struct world *w)
{
	weir_subscription_unref(w->results);
	w->results = NULL;
}

/* --- With so many places, and seats in front ------------------------------ */

static int run(struct weir_command *command, void *context)
{
	struct world *w = context;
	struct course *course = &w->courses[order_index(command)];

	explorer_assert(!course->called);
	course->called = true;
	if (!course->later)
		return 0;
	ck_pr_fence_release();
	ck_pr_store_ptr(&course->handed, command);
	return WEIR_RUN_LATER;
}

/* Somebody has subscribed, and requested nothing. */
static struct world *manager(void *context, uint32_t max, uint32_t buffer)
{
	struct weir_subscriber *taker = explorer_alloc(sizeof(*taker));
	struct world *w =
		orders_open(context, (struct weir_process_manager_options){
					     .run = run,
					     .max = max,
					     .buffer = buffer,
					     .runners = 1,
					     .results = true,
				     });

	explorer_name(taker, sizeof(*taker), "taker");
	explorer_assert(weir_subscriber_init(taker, &taker_ops) == 0);
	explorer_assert(weir_publisher_subscribe(
				weir_process_manager_publisher(w->manager),
				taker) == 0);
	explorer_assert(w->results);
	return w;
}

/* One has been called, and has the only place. */
static void one_result_and_a_seat(void *context)
{
	orders_offer(manager(context, 1, 1), 0);
	explorer_assert(world.courses[0].called);
}

static void one_result_and_one_waits(void *context)
{
	one_result_and_a_seat(context);
	orders_offer(context, 1);
	explorer_assert(!world.courses[1].called);
}

static void two_go_on(void *context)
{
	struct world *w = manager(context, 2, 0);

	w->courses[0].later = w->courses[1].later = true;
	orders_offer(w, 0);
	orders_offer(w, 1);
	request(w, 1);
}

static void one_goes_on(void *context)
{
	struct world *w = manager(context, 1, 0);

	w->courses[0].later = true;
	orders_offer(w, 0);
}

static void end(struct world *w, uint32_t i)
{
	struct weir_command *command =
		ck_pr_fas_ptr(&w->courses[i].handed, NULL);

	ck_pr_fence_acquire();
	explorer_assert(command);
	weir_command_end(command, 0);
}

static void end_0(void *context)
{
	end(context, 0);
}

static void end_1(void *context)
{
	end(context, 1);
}

static void request_1(void *context)
{
	request(context, 1);
}

static void request_2(void *context)
{
	request(context, 2);
}

static void cancel_results(void *context)
{
	const struct world *w = context;

	weir_subscription_cancel(w->results);
}

/* --- Checks --------------------------------------------------------------- */

static uint32_t n_called(const struct world *w)
{
	uint32_t i, n = 0;

	for (i = 0; i < ORDERS; i++)
		n += w->courses[i].called;
	return n;
}

/* The rest is requested: each call is a result. */
static void all_are_results(void *context)
{
	struct world *w = context;

	request(w, ORDERS);
	let_go(w);
	orders_are_over(w);
	explorer_assert(w->n_results == n_called(w) && w->n_ends == 1);
}

/* The stream is stopped, or ends: what was not taken is replied to. */
static void some_are_results(void *context)
{
	struct world *w = context;

	let_go(w);
	orders_are_over(w);
	explorer_assert(w->n_results <= n_called(w) && w->n_ends <= 1);
}

/* Of what was requested nothing waits. */
static void two_are_results(void *context)
{
	const struct world *w = context;

	explorer_assert(w->n_results == 2);
	all_are_results(context);
}

static void one_is_a_result(void *context)
{
	const struct world *w = context;

	explorer_assert(w->n_results == 1);
	all_are_results(context);
}

static const struct explorer_scenario scenarios[] = {
	ORDERED(.name = "a result is requested, and its place has another",
		.setup = one_result_and_one_waits,
		.thread = {request_1, limit_to_1}, .check = one_is_a_result),
	ORDERED(.name = "two results are requested, of one that waits",
		.setup = one_result_and_one_waits,
		.thread = {request_2, limit_to_1}, .check = two_are_results),
	ORDERED(.name = "a result is requested, and another command comes",
		.setup = one_result_and_a_seat, .thread = {request_1, offer_1},
		.check = one_is_a_result),
	ORDERED(.name = "two calls end, and one result is requested",
		.setup = two_go_on, .thread = {end_0, end_1},
		.check = one_is_a_result),
	ORDERED(.name = "a call ends, and its result is requested",
		.setup = one_goes_on, .thread = {end_0, request_1},
		.check = one_is_a_result),
	ORDERED(.name = "a call ends, and nobody wants its result",
		.setup = one_goes_on, .thread = {end_0, cancel_results},
		.check = some_are_results),
	ORDERED(.name = "a result is requested, and a stop comes",
		.setup = one_result_and_one_waits,
		.thread = {request_1, stop_manager}, .check = all_are_results),
};

const struct scene_group results = SCENE_GROUP(scenarios);

static const struct explorer_scenario more[] = {
	ORDERED(.name = "results are requested, and commands come and wait",
		.setup = one_result_and_one_waits,
		.thread = {request_2, limit_to_1, offer_2},
		.check = all_are_results),
	ORDERED(.name = "nobody wants results, and commands come and wait",
		.setup = one_result_and_one_waits,
		.thread = {cancel_results, limit_to_1, offer_2},
		.check = some_are_results),
	ORDERED(.name = "two calls end as a stop comes", .setup = two_go_on,
		.thread = {end_0, end_1, stop_manager},
		.check = all_are_results),
	ORDERED(.name = "a call ends as the manager is stopped as an actor",
		.setup = one_goes_on, .thread = {end_0, request_1, stop_actor},
		.check = some_are_results),
};

const struct scene_group more_results = SCENE_GROUP(more);
