/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscribers over in-ports, with a publisher that is none of ours. Rule
 * numbers like A2.2 are those of docs/conformance/supervision.md.
 */
#include "stream/ends.h"

#include <weir/weir.h>

#define N 500

struct setup {
	struct weir_sim *sim;
	struct ledger ledger;
	struct sink sink;
	struct weir_reactive_in reactive;
	struct giver giver;
};

static void setup_init(struct setup *setup, size_t capacity,
		       const struct weir_reactive_in_options *options)
{
	setup->sim = sim_new(1);
	ledger_init(&setup->ledger, N);
	sink_init(&setup->sink, weir_sim_executor(setup->sim), &setup->ledger,
		  capacity);
	setup->sink.ordered = true;
	assert_int_equal(weir_reactive_in_init(&setup->reactive,
					       &setup->sink.in, options),
			 0);
	giver_init(&setup->giver, &setup->ledger, &setup->reactive.subscriber);
}

static void setup_start(struct setup *setup)
{
	assert_int_equal(weir_actor_start(&setup->sink.actor), 0);
	assert_int_equal(giver_begin(&setup->giver), 0);
	weir_sim_run(setup->sim);
}

static void setup_fini(struct setup *setup)
{
	giver_done(&setup->giver);
	weir_sim_run(setup->sim);
	assert_int_equal(setup->sink.fate.released, 1);
	ledger_check(&setup->ledger);
	ledger_fini(&setup->ledger);
	sim_free(setup->sim);
}

static void send(struct setup *setup, size_t n)
{
	while (n--)
		assert_int_equal(giver_send(&setup->giver), 0);
	weir_sim_run(setup->sim);
}

static void complete(struct setup *setup)
{
	assert_int_equal(setup->giver.subscriber->ops->on_complete(
				 setup->giver.subscriber),
			 0);
	weir_sim_run(setup->sim);
}

static void the_capacity_is_requested_and_half_of_it_again(void **state)
{
	struct setup setup;

	setup_init(&setup, 8, NULL);
	setup_start(&setup);
	assert_int_equal(setup.giver.requested, 8);
	assert_int_equal(setup.giver.requests, 1);
	send(&setup, 3);
	assert_int_equal(setup.giver.requests, 1);
	send(&setup, 1);
	assert_int_equal(setup.giver.requested, 12);
	assert_int_equal(setup.giver.requests, 2);
	complete(&setup);
	assert_int_equal(setup.sink.seen, 4);
	assert_int_equal(setup.giver.cancels, 0);
	setup_fini(&setup);
	fate_check(&setup.sink.fate, 0);
}

static void prefetch_and_refill_are_settings(void **state)
{
	struct weir_reactive_in_options options = {.prefetch = 5, .refill = 2};
	struct setup setup;

	setup_init(&setup, 8, &options);
	setup_start(&setup);
	assert_int_equal(setup.giver.requested, 5);
	send(&setup, 1);
	assert_int_equal(setup.giver.requests, 1);
	send(&setup, 1);
	assert_int_equal(setup.giver.requested, 7);
	complete(&setup);
	setup_fini(&setup);
}

/* Takes as many as its burst, and at the end what is left. */
static int gulp(struct weir_actor *actor)
{
	struct sink *self = weir_container_of(actor, struct sink, actor);
	uint32_t n = self->in.port.burst;

	while (n-- && weir_in_count(&self->in)) {
		(void)ledger_deliver(self->ledger, weir_in_take(&self->in));
		self->seen++;
	}
	return 0;
}
WEIR_TURN(gulp)

static void a_burst_is_asked_for_whatever_the_settings(void **state)
{
	static struct weir_actor_ops ops;
	struct weir_reactive_in_options options = {.demand = NULL};
	struct setup setup;
	uint32_t burst;

	ops = sink_ops;
	ops.turns = gulp_n;
	for (burst = 1; burst <= 8; burst++)
		for (options.prefetch = 0; options.prefetch <= 8;
		     options.prefetch++)
			for (options.refill = 0;
			     options.refill <= options.prefetch;
			     options.refill++) {
				setup_init(&setup, 8, &options);
				setup.sink.actor.ops = &ops;
				setup.sink.actor.turns = gulp_n;
				assert_int_equal(
					weir_port_set_burst(&setup.sink.in.port,
							    burst),
					0);
				setup.giver.sends = 100;
				setup_start(&setup);
				assert_int_equal(setup.giver.next, 100);
				complete(&setup);
				assert_int_equal(setup.sink.seen, 100);
				setup_fini(&setup);
			}
}

static void a_publisher_that_sends_inside_request_goes_through(void **state)
{
	struct setup setup;

	setup_init(&setup, 4, NULL);
	setup.giver.sends = N;
	setup_start(&setup);
	assert_int_equal(setup.sink.seen, N);
	complete(&setup);
	setup_fini(&setup);
	fate_check(&setup.sink.fate, 0);
}

static void a_strategy_says_what_is_requested(void **state)
{
	struct weir_reactive_in_options options = {
		.demand = weir_demand_one_by_one};
	struct setup setup;
	int64_t i;

	setup_init(&setup, 8, &options);
	setup_start(&setup);
	for (i = 1; i < 5; i++) {
		assert_int_equal(setup.giver.requested, i);
		send(&setup, 1);
	}
	complete(&setup);
	setup_fini(&setup);
}

/* An owner's own request, from a handler. */
struct asker {
	struct sink sink;
	struct weir_reactive_in reactive;
	int64_t n;
	int rc;
};

static int ask(struct weir_actor *actor)
{
	struct asker *self = weir_container_of(actor, struct asker, sink.actor);

	self->rc = weir_reactive_in_request(&self->reactive, self->n);
	return 0;
}

static int asks(struct weir_sim *sim, struct asker *asker, int64_t n)
{
	asker->n = n;
	weir_actor_signal(&asker->sink.actor);
	weir_sim_run(sim);
	return asker->rc;
}

static void without_a_strategy_the_owner_requests(void **state)
{
	static struct weir_actor_ops ops;
	struct weir_reactive_in_options options = {.demand = weir_demand_zero};
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct asker asker;
	struct giver giver;

	ops = sink_ops;
	ops.signalled = ask;
	ledger_init(&ledger, N);
	sink_init(&asker.sink, weir_sim_executor(sim), &ledger, 4);
	asker.sink.actor.ops = &ops;
	assert_int_equal(weir_reactive_in_init(&asker.reactive, &asker.sink.in,
					       &options),
			 0);
	giver_init(&giver, &ledger, &asker.reactive.subscriber);
	/* what is asked for before there is a subscription is kept */
	assert_int_equal(weir_reactive_in_request(&asker.reactive, 1), 0);
	assert_int_equal(weir_reactive_in_request(&asker.reactive, 4),
			 -ENOBUFS);
	assert_int_equal(weir_reactive_in_request(&asker.reactive, 0), -EINVAL);
	assert_int_equal(weir_reactive_in_request(NULL, 1), -EINVAL);
	assert_int_equal(weir_actor_start(&asker.sink.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(weir_reactive_in_request(&asker.reactive, 1), -EPERM);
	assert_int_equal(asks(sim, &asker, 2), 0);
	assert_int_equal(giver_begin(&giver), 0);
	weir_sim_run(sim);
	assert_int_equal(giver.requested, 3);
	assert_int_equal(giver.requests, 1); /* A2.2 */
	assert_int_equal(asks(sim, &asker, 2), -ENOBUFS);
	assert_int_equal(giver_send(&giver), 0);
	weir_sim_run(sim);
	assert_int_equal(giver.requested, 3);
	assert_int_equal(asks(sim, &asker, 2), 0);
	assert_int_equal(giver.requested, 5);
	assert_int_equal(giver.subscriber->ops->on_complete(giver.subscriber),
			 0);
	weir_sim_run(sim);
	giver_done(&giver);
	fate_check(&asker.sink.fate, 0);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void an_error_arrives_as_it_is(void **state)
{
	struct setup setup;
	struct weir_error *error = weir_error_format(-EPROTO, "giver", "test");

	setup_init(&setup, 8, NULL);
	setup_start(&setup);
	send(&setup, 2);
	assert_int_equal(setup.giver.subscriber->ops->on_error(
				 setup.giver.subscriber, error),
			 0);
	weir_error_unref(error);
	weir_sim_run(setup.sim);
	assert_int_equal(setup.sink.seen, 2);
	assert_int_equal(setup.sink.end_code, -EPROTO);
	assert_int_equal(setup.giver.cancels, 0);
	setup_fini(&setup);
}

static void the_actors_end_cancels_and_late_items_are_dropped(void **state)
{
	struct setup setup;

	setup_init(&setup, 8, NULL);
	setup.sink.stop_at = 2;
	setup_start(&setup);
	send(&setup, 2);
	assert_int_equal(setup.sink.fate.stopped, 1);
	assert_int_equal(setup.sink.fate.released, 0); /* the giver holds it */
	assert_int_equal(setup.giver.cancels, 1);
	send(&setup, 2);
	assert_int_equal(ledger_dropped(&setup.ledger), 2);
	complete(&setup);
	setup_fini(&setup);
}

static void a_second_subscription_is_cancelled(void **state)
{
	struct setup setup;
	struct giver second;

	setup_init(&setup, 8, NULL);
	setup_start(&setup);
	giver_init(&second, &setup.ledger, &setup.reactive.subscriber);
	assert_int_equal(giver_begin(&second), 0);
	assert_int_equal(second.cancels, 1);
	assert_int_equal(second.requests, 0);
	giver_done(&second);
	send(&setup, 1);
	assert_int_equal(setup.sink.seen, 1);
	assert_int_equal(setup.giver.cancels, 0);
	complete(&setup);
	setup_fini(&setup);
}

/* The end of the other one is not the end of this (1.8). */
static void a_second_publisher_that_rejects_is_nothing_to_it(void **state)
{
	struct weir_error *errors[] = {weir_error_of(-EISCONN), NULL};
	struct setup setup;
	size_t i;

	for (i = 0; i < 2; i++) {
		setup_init(&setup, 8, NULL);
		setup_start(&setup);
		assert_int_equal(weir_subscriber_reject(
					 &setup.reactive.subscriber, errors[i]),
				 0);
		send(&setup, 1);
		assert_int_equal(setup.sink.seen, 1);
		assert_int_equal(setup.sink.ended, 0);
		complete(&setup);
		assert_int_equal(setup.sink.end_code, 0);
		setup_fini(&setup);
	}
}

static void more_than_was_requested_ends_the_stream(void **state)
{
	struct weir_reactive_in_options options = {.prefetch = 1};
	struct setup setup;

	setup_init(&setup, 8, &options);
	setup_start(&setup);
	assert_int_equal(giver_send(&setup.giver), 0);
	assert_int_equal(giver_send(&setup.giver), -EOVERFLOW);
	weir_sim_run(setup.sim);
	assert_int_equal(setup.sink.seen, 1);
	assert_int_equal(setup.sink.end_code, -EOVERFLOW);
	assert_int_equal(setup.giver.cancels, 1);
	setup_fini(&setup);
}

static void several_items_at_once_count_each(void **state)
{
	struct setup setup;
	size_t taken;

	setup_init(&setup, 8, NULL);
	setup_start(&setup);
	assert_int_equal(giver_send_n(&setup.giver, 3, 0, &taken), 0);
	assert_int_equal(giver_send_n(&setup.giver, 5, 0, &taken), 0);
	weir_sim_run(setup.sim);
	assert_int_equal(setup.sink.seen, 8);
	assert_int_equal(setup.giver.requested, 16);
	/* a null item is not taken, what comes before it is */
	assert_int_equal(giver_send_n(&setup.giver, 4, 4, &taken), -EINVAL);
	assert_int_equal(taken, 3);
	weir_sim_run(setup.sim);
	assert_int_equal(setup.sink.seen, 11);
	complete(&setup);
	setup_fini(&setup);
	fate_check(&setup.sink.fate, 0);
}

/* Whether there is room for more or not. */
static void of_too_many_at_once_those_requested_are_taken(void **state)
{
	struct weir_reactive_in_options options = {.prefetch = 4};
	struct setup setup;
	size_t capacity, taken;

	for (capacity = 4; capacity <= 16; capacity *= 2) {
		setup_init(&setup, capacity, &options);
		setup_start(&setup);
		assert_int_equal(giver_send_n(&setup.giver, 6, 0, &taken),
				 -EOVERFLOW);
		assert_int_equal(taken, 4);
		weir_sim_run(setup.sim);
		assert_int_equal(setup.sink.seen, 4);
		assert_int_equal(setup.sink.end_code, -EOVERFLOW);
		assert_int_equal(setup.giver.cancels, 1);
		setup_fini(&setup);
	}
}

static void several_that_come_late_are_dropped(void **state)
{
	struct setup setup;
	size_t taken;

	setup_init(&setup, 8, NULL);
	setup.sink.stop_at = 2;
	setup_start(&setup);
	send(&setup, 2);
	assert_int_equal(giver_send_n(&setup.giver, 3, 0, &taken), 0);
	assert_int_equal(ledger_dropped(&setup.ledger), 3);
	complete(&setup);
	setup_fini(&setup);
}

static void null_arguments_have_no_effect(void **state)
{
	struct setup setup;
	const struct weir_subscriber_ops *ops;
	struct weir_subscriber *subscriber;
	void *item = &setup;
	size_t taken = 0;

	setup_init(&setup, 8, NULL);
	subscriber = setup.giver.subscriber;
	ops = subscriber->ops;
	assert_int_equal(ops->on_subscribe(subscriber, NULL), -EINVAL);
	setup_start(&setup);
	assert_int_equal(ops->on_next(subscriber, NULL), -EINVAL);
	assert_int_equal(ops->on_error(subscriber, NULL), -EINVAL);
	assert_int_equal(ops->on_next_n(subscriber, NULL, 1, &taken), -EINVAL);
	assert_int_equal(ops->on_next_n(subscriber, &item, 1, NULL), -EINVAL);
	send(&setup, 1);
	assert_int_equal(setup.sink.seen, 1);
	complete(&setup);
	setup_fini(&setup);
	fate_check(&setup.sink.fate, 0);
}

static void other_ways_in_are_closed(void **state)
{
	struct setup setup;
	struct source source;

	setup_init(&setup, 8, NULL);
	source_init(&source, weir_sim_executor(setup.sim), &setup.ledger, 1, 0);
	assert_int_equal(weir_out_link(&source.out, &setup.sink.in), -EISCONN);
	assert_int_equal(weir_in_put(&setup.sink.in, &setup), -EISCONN);
	assert_int_equal(weir_in_end(&setup.sink.in, NULL), -EISCONN);
	assert_int_equal(weir_in_merge(&setup.sink.in, WEIR_MERGE_ALL), -EBUSY);
	weir_actor_stop(&source.actor);
	setup_start(&setup);
	complete(&setup);
	setup_fini(&setup);
}

static void drained(struct weir_ending *drain)
{
	(void)drain;
}

static void a_drain_takes_what_is_there_and_cancels(void **state)
{
	struct setup setup;
	struct weir_ending drain = {.done = drained};

	setup_init(&setup, 8, NULL);
	setup_start(&setup);
	assert_int_equal(giver_send(&setup.giver), 0);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(setup.sim),
						 &drain, WEIR_FOREVER),
			 0);
	weir_sim_run(setup.sim);
	assert_int_equal(setup.sink.seen, 1);
	assert_int_equal(setup.giver.cancels, 1);
	setup_fini(&setup);
}

/* What it would be sent would be dropped. */
static void in_a_drain_no_more_is_requested(void **state)
{
	struct setup setup;
	struct weir_ending drain = {.done = drained};

	setup_init(&setup, 8, NULL);
	setup_start(&setup);
	send(&setup, 3);
	setup.giver.sends = N;
	while (setup.giver.next < 8)
		assert_int_equal(giver_send(&setup.giver), 0);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(setup.sim),
						 &drain, WEIR_FOREVER),
			 0);
	weir_sim_run(setup.sim);
	assert_int_equal(setup.sink.seen, 8);
	assert_int_equal(setup.giver.requested, 8);
	assert_int_equal(setup.giver.cancels, 1);
	assert_int_equal(ledger_dropped(&setup.ledger), 0);
	setup_fini(&setup);
}

static void a_drain_ends_who_has_no_publisher(void **state)
{
	struct weir_ending drain = {.done = drained};
	struct setup setup;

	setup_init(&setup, 8, NULL);
	assert_int_equal(weir_actor_start(&setup.sink.actor), 0);
	weir_sim_run(setup.sim);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(setup.sim),
						 &drain, WEIR_FOREVER),
			 0);
	/* the giver holds it, and may yet subscribe it */
	weir_sim_run(setup.sim);
	assert_int_equal(setup.sink.fate.stopped, 0);
	assert_int_equal(giver_begin(&setup.giver), 0);
	weir_sim_run(setup.sim);
	assert_int_equal(setup.sink.fate.stopped, 1);
	assert_int_equal(setup.giver.cancels, 1);
	setup_fini(&setup);
}

static void a_drain_ends_who_was_never_subscribed(void **state)
{
	struct weir_ending drain = {.done = drained};
	struct weir_reactive_in reactive;
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct sink sink;

	ledger_init(&ledger, 1);
	sink_init(&sink, weir_sim_executor(sim), &ledger, 8);
	assert_int_equal(weir_reactive_in_init(&reactive, &sink.in, NULL), 0);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(sim), &drain,
						 WEIR_FOREVER),
			 0);
	weir_sim_run(sim);
	fate_check(&sink.fate, 0);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void an_actor_that_is_never_started_cancels(void **state)
{
	struct setup setup;

	setup_init(&setup, 8, NULL);
	assert_int_equal(giver_begin(&setup.giver), 0);
	weir_actor_stop(&setup.sink.actor);
	assert_int_equal(setup.giver.requests, 0);
	assert_int_equal(setup.giver.cancels, 1);
	setup_fini(&setup);
}

static void misuse_is_refused(void **state)
{
	struct weir_reactive_in_options bad[] = {
		{.prefetch = 9},
		{.prefetch = 4, .refill = 5},
		{.refill = 9},
		{.refill = 1, .demand = weir_demand_zero},
		{.prefetch = 1, .demand = weir_demand_zero},
	};
	struct weir_reactive_in other;
	struct weir_in none = {0};
	struct setup setup;
	struct sink sink;
	size_t i;

	setup_init(&setup, 8, NULL);
	sink_init(&sink, weir_sim_executor(setup.sim), &setup.ledger, 8);
	assert_int_equal(weir_reactive_in_init(NULL, &sink.in, NULL), -EINVAL);
	assert_int_equal(weir_reactive_in_init(&other, NULL, NULL), -EINVAL);
	assert_int_equal(weir_reactive_in_init(&other, &none, NULL), -EINVAL);
	for (i = 0; i < 5; i++)
		assert_int_equal(weir_reactive_in_init(&other, &sink.in,
						       &bad[i]),
				 -EINVAL);
	assert_int_equal(weir_reactive_in_init(&other, &setup.sink.in, NULL),
			 -EBUSY);
	assert_int_equal(weir_in_cancel(&sink.in), 0);
	assert_int_equal(weir_reactive_in_init(&other, &sink.in, NULL), -EPIPE);
	weir_actor_stop(&sink.actor);
	weir_actor_stop(&setup.sink.actor);
	setup_fini(&setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_capacity_is_requested_and_half_of_it_again),
		cmocka_unit_test(prefetch_and_refill_are_settings),
		cmocka_unit_test(a_burst_is_asked_for_whatever_the_settings),
		cmocka_unit_test(
			a_publisher_that_sends_inside_request_goes_through),
		cmocka_unit_test(a_strategy_says_what_is_requested),
		cmocka_unit_test(without_a_strategy_the_owner_requests),
		cmocka_unit_test(an_error_arrives_as_it_is),
		cmocka_unit_test(
			the_actors_end_cancels_and_late_items_are_dropped),
		cmocka_unit_test(a_second_subscription_is_cancelled),
		cmocka_unit_test(
			a_second_publisher_that_rejects_is_nothing_to_it),
		cmocka_unit_test(more_than_was_requested_ends_the_stream),
		cmocka_unit_test(several_items_at_once_count_each),
		cmocka_unit_test(of_too_many_at_once_those_requested_are_taken),
		cmocka_unit_test(several_that_come_late_are_dropped),
		cmocka_unit_test(null_arguments_have_no_effect),
		cmocka_unit_test(other_ways_in_are_closed),
		cmocka_unit_test(a_drain_takes_what_is_there_and_cancels),
		cmocka_unit_test(in_a_drain_no_more_is_requested),
		cmocka_unit_test(a_drain_ends_who_has_no_publisher),
		cmocka_unit_test(a_drain_ends_who_was_never_subscribed),
		cmocka_unit_test(an_actor_that_is_never_started_cancels),
		cmocka_unit_test(misuse_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
