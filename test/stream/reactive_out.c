/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishers over out-ports, with subscribers that are none of ours. */
#include "stream/ends.h"

#include <weir/weir.h>

#define N 500

/* A source that publishes, and a simulator to run it. */
struct setup {
	struct weir_sim *sim;
	struct ledger ledger;
	struct source source;
	struct weir_reactive_out reactive;
};

static void setup_on(struct setup *setup, size_t n,
		     const struct weir_executor_options *executor,
		     const struct weir_reactive_out_options *options)
{
	assert_int_equal(weir_sim_new(&setup->sim, 1, executor), 0);
	ledger_init(&setup->ledger, n);
	source_init(&setup->source, weir_sim_executor(setup->sim),
		    &setup->ledger, 1, n);
	assert_int_equal(weir_reactive_out_init(&setup->reactive,
						&setup->source.out, options),
			 0);
}

static void setup_init(struct setup *setup, size_t n)
{
	setup_on(setup, n, NULL, NULL);
}

static void setup_start(struct setup *setup)
{
	assert_int_equal(weir_actor_start(&setup->source.actor), 0);
	weir_sim_run(setup->sim);
}

static void setup_fini(struct setup *setup)
{
	if (!setup->source.fate.stopped)
		weir_actor_stop(&setup->source.actor);
	weir_sim_run(setup->sim);
	ledger_check(&setup->ledger);
	ledger_fini(&setup->ledger);
	sim_free(setup->sim);
}

static void subscribe(struct setup *setup, struct taker *taker)
{
	assert_int_equal(weir_publisher_subscribe(&setup->reactive.publisher,
						  &taker->subscriber),
			 0);
}

static void what_was_requested_comes_and_no_more(void **state)
{
	struct setup setup;
	struct taker taker;

	setup_init(&setup, N);
	taker_init(&taker, &setup.ledger, 3, 0);
	subscribe(&setup, &taker);
	setup_start(&setup);
	assert_int_equal(taker.seen, 3);
	assert_int_equal(setup.source.next, 4); /* not one was made ahead */
	weir_subscription_request(taker.subscription, 4);
	weir_subscription_request(taker.subscription, 2);
	weir_sim_run(setup.sim);
	assert_int_equal(taker.seen, 9);
	weir_subscription_request(taker.subscription, INT64_MAX);
	weir_subscription_request(taker.subscription, INT64_MAX);
	weir_sim_run(setup.sim);
	taker_check(&taker, N, 0);
	taker_fini(&taker);
	fate_check(&setup.source.fate, 0);
	setup_fini(&setup);
}

static void requests_from_inside_a_signal_do_not_recurse(void **state)
{
	struct setup setup;
	struct taker taker;

	setup_init(&setup, N);
	taker_init(&taker, &setup.ledger, 1, 1);
	subscribe(&setup, &taker);
	setup_start(&setup);
	/* taker_enter() has checked that no signal came inside another */
	taker_check(&taker, N, 0);
	taker_fini(&taker);
	setup_fini(&setup);
}

static void cancel_stops_the_actor_and_lets_go_of_the_subscriber(void **state)
{
	struct setup setup;
	struct taker taker;

	setup_init(&setup, N);
	taker_init(&taker, &setup.ledger, INT64_MAX, 0);
	taker.cancel_at = 7;
	subscribe(&setup, &taker);
	setup_start(&setup);
	taker_check(&taker, 7, 1);
	/* the subscription is still good for nothing */
	weir_subscription_request(taker.subscription, 1);
	weir_subscription_request(taker.subscription, -1);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(setup.sim);
	taker_check(&taker, 7, 1);
	assert_int_equal(setup.source.fate.stopped, 1);
	taker_fini(&taker);
	fate_check(&setup.source.fate, 0);
	setup_fini(&setup);
}

static void a_request_that_is_not_positive_is_an_error(void **state)
{
	struct setup setup;
	struct taker taker;
	int64_t bad[] = {0, -1, INT64_MIN};
	size_t i;

	for (i = 0; i < 3; i++) {
		setup_init(&setup, N);
		taker_init(&taker, &setup.ledger, 2, 0);
		subscribe(&setup, &taker);
		setup_start(&setup);
		weir_subscription_request(taker.subscription, bad[i]);
		weir_sim_run(setup.sim);
		taker_check(&taker, 2, -EINVAL);
		assert_non_null(strstr(taker.error->message, "3.9"));
		taker_fini(&taker);
		setup_fini(&setup);
	}
}

static void a_failure_comes_behind_the_items_as_it_is(void **state)
{
	struct setup setup;
	struct taker taker;

	setup_init(&setup, N);
	setup.source.fail_at = 5;
	taker_init(&taker, &setup.ledger, INT64_MAX, 0);
	subscribe(&setup, &taker);
	setup_start(&setup);
	taker_check(&taker, 4, -EIO);
	taker_fini(&taker);
	fate_check(&setup.source.fate, -EIO);
	setup_fini(&setup);
}

static void the_end_is_there_for_who_comes_late(void **state)
{
	struct setup setup;
	struct taker takers[3];
	size_t i;

	setup_init(&setup, 1);
	for (i = 0; i < 3; i++)
		taker_init(&takers[i], &setup.ledger, 0, 0);
	subscribe(&setup, &takers[0]);
	weir_actor_ref(&setup.source.actor);
	assert_int_equal(
		weir_out_end(&setup.source.out, weir_error_of(-EPROTO)), 0);
	subscribe(&setup, &takers[1]);
	setup_start(&setup);
	weir_actor_stop(&setup.source.actor);
	weir_sim_run(setup.sim);
	subscribe(&setup, &takers[2]);
	for (i = 0; i < 3; i++) {
		taker_check(&takers[i], 0, -EPROTO);
		taker_fini(&takers[i]);
	}
	weir_actor_unref(&setup.source.actor);
	setup_fini(&setup);
}

static void an_actor_that_is_never_started_ends_its_subscribers(void **state)
{
	struct setup setup;
	struct taker taker;

	setup_init(&setup, 1);
	taker_init(&taker, &setup.ledger, 1, 0);
	subscribe(&setup, &taker);
	weir_actor_stop(&setup.source.actor);
	taker_check(&taker, 0, -ECANCELED);
	taker_fini(&taker);
	setup_fini(&setup);
}

static void a_second_subscriber_is_rejected(void **state)
{
	struct setup setup;
	struct taker first, second;

	setup_init(&setup, N);
	taker_init(&first, &setup.ledger, INT64_MAX, 0);
	taker_init(&second, &setup.ledger, 1, 0);
	subscribe(&setup, &first);
	subscribe(&setup, &second);
	setup_start(&setup);
	taker_check(&first, N, 0);
	taker_check(&second, 0, -EISCONN);
	taker_fini(&first);
	taker_fini(&second);
	setup_fini(&setup);
}

static void with_stay_another_may_come_when_the_first_has_left(void **state)
{
	struct weir_reactive_out_options options = {
		.flags = WEIR_REACTIVE_STAY};
	struct setup setup;
	struct taker first, second;

	setup_on(&setup, N, NULL, &options);
	taker_init(&first, &setup.ledger, INT64_MAX, 0);
	first.cancel_at = 7;
	taker_init(&second, &setup.ledger, INT64_MAX, 0);
	subscribe(&setup, &first);
	setup_start(&setup);
	assert_int_equal(first.released, 1);
	assert_int_equal(setup.source.fate.stopped, 0);
	second.last = setup.source.next - 1;
	subscribe(&setup, &second);
	weir_sim_run(setup.sim);
	assert_int_equal(second.last, N);
	assert_int_equal(second.completes, 1);
	taker_fini(&first);
	taker_fini(&second);
	setup_fini(&setup);
}

struct report {
	struct weir_subscriber *subscriber;
	int code;
	size_t n;
};

static void on_broken(struct weir_subscriber *subscriber, int code,
		      void *context)
{
	struct report *report = context;

	assert_int_equal(taker_of(subscriber)->released, 0);
	report->subscriber = subscriber;
	report->code = code;
	report->n++;
}

static void a_broken_subscriber_is_cancelled_and_reported(void **state)
{
	struct report report;
	struct weir_executor_options options = {.broken = on_broken,
						.context = &report};
	struct setup setup;
	struct taker taker;
	int subscribing;

	for (subscribing = 0; subscribing < 2; subscribing++) {
		memset(&report, 0, sizeof(report));
		setup_on(&setup, N, &options, NULL);
		taker_init(&taker, &setup.ledger, INT64_MAX, 0);
		taker.refuse_subscribe = subscribing;
		taker.refuse_at = 5;
		subscribe(&setup, &taker);
		setup_start(&setup);
		assert_ptr_equal(report.subscriber, &taker.subscriber);
		assert_int_equal(report.code, -EIO);
		assert_int_equal(report.n, 1);
		taker_check(&taker, subscribing ? 0 : 4, 1);
		taker_fini(&taker);
		setup_fini(&setup);
	}
}

static void who_is_broken_when_rejected_is_there_to_be_reported(void **state)
{
	struct report report = {0};
	struct heap heap;
	struct weir_executor_options options = {.broken = on_broken,
						.context = &report,
						.allocator = &heap.allocator};
	struct setup setup;
	struct taker taker;

	heap_init(&heap, 0);
	setup_on(&setup, N, &options, NULL);
	taker_init(&taker, &setup.ledger, 1, 0);
	taker.refuse_subscribe = true;
	heap.fail = heap.calls + 1;
	subscribe(&setup, &taker);
	assert_int_equal(report.n, 1);
	taker_fini(&taker);
	setup_fini(&setup);
}

/*
 * A subscriber that finds memory short, at each place where there is one, is
 * rejected, and the next one served. Returns how many places there are.
 */
static size_t sweep_memory(void (*init)(
	struct setup *setup, const struct weir_executor_options *options))
{
	size_t fail;
	bool served = false;

	for (fail = 1; !served; fail++) {
		struct heap heap;
		struct weir_executor_options options = {
			.allocator = &heap.allocator};
		struct setup setup;
		struct taker taker, next;

		heap_init(&heap, 0);
		init(&setup, &options);
		assert_int_equal(weir_actor_start(&setup.source.actor), 0);
		weir_actor_ref(&setup.source.actor);
		taker_init(&taker, &setup.ledger, INT64_MAX, 0);
		heap.calls = 0;
		heap.fail = fail;
		subscribe(&setup, &taker);
		weir_sim_run(setup.sim);
		served = taker.completes;
		taker_check(&taker, served ? N : 0, served ? 0 : -ENOMEM);
		heap.fail = 0;
		taker_init(&next, &setup.ledger, INT64_MAX, 0);
		subscribe(&setup, &next);
		weir_sim_run(setup.sim);
		taker_check(&next, served ? 0 : N, 0);
		weir_actor_unref(&setup.source.actor);
		taker_fini(&taker);
		taker_fini(&next);
		setup_fini(&setup);
		assert_int_equal(heap.live, 0);
	}
	return fail - 2;
}

static void plain_init(struct setup *setup,
		       const struct weir_executor_options *options)
{
	setup_on(setup, N, options, NULL);
}

static void out_of_memory_rejects(void **state)
{
	assert_true(sweep_memory(plain_init) > 1);
}

static void many_get_the_same_and_the_slowest_sets_the_pace(void **state)
{
	struct setup setup;
	struct taker takers[3];
	size_t i;

	setup_init(&setup, N);
	assert_int_equal(weir_out_fan(&setup.source.out, WEIR_FAN_BROADCAST, 8),
			 0);
	for (i = 0; i < 3; i++) {
		taker_init(&takers[i], &setup.ledger, i ? INT64_MAX : 5, 0);
		subscribe(&setup, &takers[i]);
	}
	setup_start(&setup);
	assert_int_equal(takers[0].seen, 5);
	/* the others run ahead of it by the capacity */
	assert_int_equal(takers[1].seen, 5 + 8);
	assert_int_equal(takers[2].seen, 5 + 8);
	/* one leaves: the others are not held back by it */
	weir_subscription_cancel(takers[0].subscription);
	weir_sim_run(setup.sim);
	taker_check(&takers[0], 5, 1);
	taker_check(&takers[1], N, 0);
	taker_check(&takers[2], N, 0);
	for (i = 0; i < 3; i++)
		taker_fini(&takers[i]);
	setup_fini(&setup);
}

/* Nothing is put before one of them has requested something. */
static void who_subscribe_together_get_the_same(void **state)
{
	struct setup setup;
	struct taker takers[3];
	size_t i;

	setup_init(&setup, N);
	assert_int_equal(weir_out_fan(&setup.source.out, WEIR_FAN_BROADCAST, 8),
			 0);
	setup_start(&setup);
	for (i = 0; i < 3; i++) {
		taker_init(&takers[i], &setup.ledger, 0, 0);
		subscribe(&setup, &takers[i]);
		weir_sim_run(setup.sim);
		assert_int_equal(takers[i].subscribed, 1);
		assert_int_equal(setup.source.next, 1);
	}
	weir_subscription_request(takers[1].subscription, 1);
	weir_sim_run(setup.sim);
	assert_int_equal(takers[1].seen, 1);
	weir_subscription_cancel(takers[1].subscription);
	weir_sim_run(setup.sim);
	taker_fini(&takers[1]);
	assert_true(setup.source.next <= 1 + 1 + 8);
	for (i = 0; i < 3; i += 2)
		weir_subscription_request(takers[i].subscription, N);
	weir_sim_run(setup.sim);
	for (i = 0; i < 3; i += 2) {
		taker_check(&takers[i], N, 0);
		taker_fini(&takers[i]);
	}
	setup_fini(&setup);
}

static void who_joins_late_gets_what_comes_from_then_on(void **state)
{
	struct setup setup;
	struct taker first, late;

	setup_init(&setup, N);
	assert_int_equal(weir_out_fan(&setup.source.out, WEIR_FAN_BROADCAST, 8),
			 0);
	taker_init(&first, &setup.ledger, 20, 0);
	taker_init(&late, &setup.ledger, INT64_MAX, 0);
	subscribe(&setup, &first);
	setup_start(&setup);
	assert_int_equal(first.seen, 20);
	late.last = 20 + 8; /* which wait for the first to request them */
	subscribe(&setup, &late);
	weir_sim_run(setup.sim);
	weir_subscription_request(first.subscription, INT64_MAX);
	weir_sim_run(setup.sim);
	taker_check(&first, N, 0);
	taker_check(&late, N - 20 - 8, 0);
	taker_fini(&first);
	taker_fini(&late);
	setup_fini(&setup);
}

/* The run that follows on its coming is not broken by it: it takes the rest. */
static void who_joins_late_gets_the_rest_of_a_burst(void **state)
{
	struct setup setup;
	struct stage stage;
	struct weir_reactive_out reactive;
	struct taker taker;

	setup_init(&setup, 1);
	stage_init(&stage, weir_sim_executor(setup.sim), &setup.ledger, 4);
	assert_int_equal(weir_port_set_burst(&stage.in.port, 2), 0);
	assert_int_equal(weir_reactive_out_init(&reactive, &stage.out, NULL),
			 0);
	assert_int_equal(weir_out_link(&setup.source.out, &stage.in), 0);
	assert_int_equal(weir_actor_start(&stage.actor), 0);
	setup_start(&setup);
	taker_init(&taker, &setup.ledger, 1, 0);
	assert_int_equal(weir_publisher_subscribe(&reactive.publisher,
						  &taker.subscriber),
			 0);
	weir_sim_run(setup.sim);
	taker_check(&taker, 1, 0);
	taker_fini(&taker);
	setup_fini(&setup);
}

static void items_that_cannot_be_shared_have_one_subscriber(void **state)
{
	struct setup setup;
	struct taker first, second;

	setup_init(&setup, N);
	setup.ledger.items.share = NULL;
	assert_int_equal(weir_out_fan(&setup.source.out, WEIR_FAN_BROADCAST, 8),
			 0);
	taker_init(&first, &setup.ledger, INT64_MAX, 0);
	taker_init(&second, &setup.ledger, INT64_MAX, 0);
	subscribe(&setup, &first);
	subscribe(&setup, &second);
	setup_start(&setup);
	taker_check(&first, N, 0);
	taker_check(&second, 0, -ENOTSUP);
	taker_fini(&first);
	taker_fini(&second);
	setup_fini(&setup);
}

static void balanced_each_item_goes_to_one(void **state)
{
	struct setup setup;
	struct taker takers[3];
	size_t i, sum = 0;

	setup_init(&setup, N);
	assert_int_equal(weir_out_fan(&setup.source.out, WEIR_FAN_BALANCE, 8),
			 0);
	for (i = 0; i < 3; i++) {
		taker_init(&takers[i], &setup.ledger, 4, 1);
		takers[i].ordered = false;
		subscribe(&setup, &takers[i]);
	}
	setup_start(&setup);
	for (i = 0; i < 3; i++) {
		sum += takers[i].seen;
		assert_true(takers[i].seen > 0);
		assert_int_equal(takers[i].completes, 1);
		taker_fini(&takers[i]);
	}
	assert_int_equal(sum, N);
	setup_fini(&setup);
}

/* Puts three at a time. */
static int burst_turn(struct weir_actor *actor)
{
	struct source *self = weir_container_of(actor, struct source, actor);
	int i;

	for (i = 0; i < 3 && self->next <= self->last; i++)
		assert_int_equal(
			weir_out_put(&self->out,
				     ledger_make(self->ledger, self->next++)),
			0);
	return self->next > self->last ? weir_actor_end(actor) : 0;
}
WEIR_TURN(burst_turn)

static const struct weir_actor_ops burst_ops = {
	.name = "burst",
	.turns = burst_turn_n,
	.stopped = source_stopped,
	.released = source_released,
};

static void burst_init(struct setup *setup,
		       const struct weir_executor_options *options)
{
	setup_on(setup, N, options, NULL);
	setup->source.actor.ops = &burst_ops;
	setup->source.actor.turns = burst_turn_n;
	assert_int_equal(weir_port_set_burst(&setup->source.out.port, 3), 0);
}

static void a_burst_is_served_one_by_one(void **state)
{
	struct setup setup;
	struct taker taker;

	burst_init(&setup, NULL);
	taker_init(&taker, &setup.ledger, 1, 0);
	subscribe(&setup, &taker);
	setup_start(&setup);
	assert_int_equal(taker.seen, 1);
	weir_subscription_request(taker.subscription, 1);
	weir_sim_run(setup.sim);
	assert_int_equal(taker.seen, 2);
	assert_true(setup.source.next <= 2 + 8 + 1); /* bounded */
	weir_subscription_request(taker.subscription, N);
	weir_sim_run(setup.sim);
	taker_check(&taker, N, 0);
	taker_fini(&taker);
	setup_fini(&setup);
}

static void a_burst_is_cancelled_and_dropped(void **state)
{
	struct setup setup;
	struct taker taker;

	burst_init(&setup, NULL);
	taker_init(&taker, &setup.ledger, 5, 0);
	taker.cancel_at = 5;
	subscribe(&setup, &taker);
	setup_start(&setup);
	taker_check(&taker, 5, 1);
	taker_fini(&taker);
	fate_check(&setup.source.fate, 0);
	setup_fini(&setup);
}

/* Where each item goes to one, who requests nothing keeps two bursts only. */
static void balanced_a_burst_is_held_twice_at_most(void **state)
{
	struct setup setup;
	struct taker idle, taker;

	burst_init(&setup, NULL);
	assert_int_equal(weir_out_fan(&setup.source.out, WEIR_FAN_BALANCE, 64),
			 0);
	taker_init(&idle, &setup.ledger, 0, 0);
	taker_init(&taker, &setup.ledger, INT64_MAX, 0);
	taker.ordered = false;
	subscribe(&setup, &idle);
	subscribe(&setup, &taker);
	setup_start(&setup);
	taker_check(&taker, N - 8, 0);
	weir_subscription_cancel(idle.subscription);
	weir_sim_run(setup.sim);
	taker_fini(&idle);
	taker_fini(&taker);
	assert_int_equal(ledger_dropped(&setup.ledger), 8);
	setup_fini(&setup);
}

static void all_has_been_dropped(struct weir_actor *actor)
{
	ledger_check(weir_container_of(actor, struct source, actor)->ledger);
	source_released(actor);
}

/* Whatever stands between: the ledger may be gone when the source is. */
static void a_burst_is_dropped_before_its_source_is_released(void **state)
{
	struct weir_actor_ops ops = burst_ops;
	struct setup setup;
	struct taker taker;

	burst_init(&setup, NULL);
	ops.released = all_has_been_dropped;
	setup.source.actor.ops = &ops;
	setup.source.last = 5;
	taker_init(&taker, &setup.ledger, 1, 0);
	subscribe(&setup, &taker);
	setup_start(&setup);
	taker_check(&taker, 1, 1);
	assert_int_equal(setup.source.fate.stopped, 1);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(setup.sim);
	taker_fini(&taker);
	fate_check(&setup.source.fate, 0);
	assert_int_equal(ledger_dropped(&setup.ledger), 4);
	setup_fini(&setup);
}

static void out_of_memory_rejects_from_a_burst(void **state)
{
	assert_true(sweep_memory(burst_init) > 2);
}

static void drained(struct weir_ending *drain)
{
	(void)drain;
}

static void a_drain_rejects_who_would_need_an_actor(void **state)
{
	struct weir_ending drain = {.done = drained};
	struct setup setup;
	struct taker taker;

	burst_init(&setup, NULL);
	setup_start(&setup);
	taker_init(&taker, &setup.ledger, 1, 0);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(setup.sim),
						 &drain, WEIR_FOREVER),
			 0);
	subscribe(&setup, &taker);
	weir_sim_run(setup.sim);
	taker_check(&taker, 0, -ESHUTDOWN);
	taker_fini(&taker);
	setup_fini(&setup);
}

static void who_is_rejected_does_not_end_the_publisher(void **state)
{
	struct heap heap;
	struct weir_executor_options options = {.allocator = &heap.allocator};
	struct setup setup;
	struct taker first, second;

	heap_init(&heap, 0);
	setup_on(&setup, N, &options, NULL);
	taker_init(&first, &setup.ledger, 1, 0);
	taker_init(&second, &setup.ledger, INT64_MAX, 0);
	assert_int_equal(weir_actor_start(&setup.source.actor), 0);
	heap.fail = heap.calls + 2; /* the ring */
	subscribe(&setup, &first);
	weir_sim_run(setup.sim);
	taker_check(&first, 0, -ENOMEM);
	subscribe(&setup, &second);
	weir_sim_run(setup.sim);
	taker_check(&second, N, 0);
	taker_fini(&first);
	taker_fini(&second);
	setup_fini(&setup);
}

static void misuse_is_refused(void **state)
{
	struct weir_reactive_out_options bad[] = {
		{.capacity = 3}, {.flags = 2}, {.capacity = SIZE_MAX}};
	struct weir_reactive_out other;
	struct setup setup;
	struct weir_out none = {0};
	size_t i;

	setup_init(&setup, N);
	assert_int_equal(weir_reactive_out_init(NULL, &setup.source.out, NULL),
			 -EINVAL);
	assert_int_equal(weir_reactive_out_init(&other, NULL, NULL), -EINVAL);
	assert_int_equal(weir_reactive_out_init(&other, &none, NULL), -EINVAL);
	for (i = 0; i < 3; i++)
		assert_int_equal(weir_reactive_out_init(
					 &other, &setup.source.out, &bad[i]),
				 -EINVAL);
	assert_int_equal(weir_reactive_out_init(&other, &setup.source.out,
						NULL),
			 -EBUSY);
	assert_int_equal(weir_publisher_subscribe(&setup.reactive.publisher,
						  NULL),
			 -EINVAL);
	assert_int_equal(weir_publisher_subscribe(NULL, NULL), -EINVAL);
	assert_int_equal(weir_out_end(&setup.source.out, NULL), 0);
	assert_int_equal(weir_reactive_out_init(&other, &setup.source.out,
						NULL),
			 -EPIPE);
	setup_fini(&setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_requested_comes_and_no_more),
		cmocka_unit_test(requests_from_inside_a_signal_do_not_recurse),
		cmocka_unit_test(
			cancel_stops_the_actor_and_lets_go_of_the_subscriber),
		cmocka_unit_test(a_request_that_is_not_positive_is_an_error),
		cmocka_unit_test(a_failure_comes_behind_the_items_as_it_is),
		cmocka_unit_test(the_end_is_there_for_who_comes_late),
		cmocka_unit_test(
			an_actor_that_is_never_started_ends_its_subscribers),
		cmocka_unit_test(a_second_subscriber_is_rejected),
		cmocka_unit_test(
			with_stay_another_may_come_when_the_first_has_left),
		cmocka_unit_test(a_broken_subscriber_is_cancelled_and_reported),
		cmocka_unit_test(
			who_is_broken_when_rejected_is_there_to_be_reported),
		cmocka_unit_test(out_of_memory_rejects),
		cmocka_unit_test(
			many_get_the_same_and_the_slowest_sets_the_pace),
		cmocka_unit_test(who_subscribe_together_get_the_same),
		cmocka_unit_test(who_joins_late_gets_what_comes_from_then_on),
		cmocka_unit_test(who_joins_late_gets_the_rest_of_a_burst),
		cmocka_unit_test(
			items_that_cannot_be_shared_have_one_subscriber),
		cmocka_unit_test(balanced_each_item_goes_to_one),
		cmocka_unit_test(a_burst_is_served_one_by_one),
		cmocka_unit_test(a_burst_is_cancelled_and_dropped),
		cmocka_unit_test(balanced_a_burst_is_held_twice_at_most),
		cmocka_unit_test(
			a_burst_is_dropped_before_its_source_is_released),
		cmocka_unit_test(out_of_memory_rejects_from_a_burst),
		cmocka_unit_test(a_drain_rejects_who_would_need_an_actor),
		cmocka_unit_test(who_is_rejected_does_not_end_the_publisher),
		cmocka_unit_test(misuse_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
