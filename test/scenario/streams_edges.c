/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reactive ports do at their edges: who owns what inside a signal, what
 * comes behind the last one, two ports of a kind, and what is undone on the
 * way.
 */
#include "stream/meet.h"

/* --- User code is outside ------------------------------------------------- */

/* None of what is called here may act as the actor whose slice calls it. */
static struct weir_actor *stranger;
static size_t asked;

static void check_stranger(void)
{
	assert_int_equal(weir_actor_end(stranger), -EPERM);
	asked++;
}

static int check_on_subscribe(struct weir_subscriber *subscriber,
			      struct weir_subscription *subscription)
{
	check_stranger();
	return taker_on_subscribe(subscriber, subscription);
}

static int check_on_next(struct weir_subscriber *subscriber, void *item)
{
	check_stranger();
	return taker_on_next(subscriber, item);
}

static int check_on_complete(struct weir_subscriber *subscriber)
{
	check_stranger();
	return taker_on_complete(subscriber);
}

static void check_released(struct weir_subscriber *subscriber)
{
	check_stranger();
	taker_released(subscriber);
}

static void a_subscriber_does_not_own_the_publishers_actor(void **state)
{
	static const struct weir_subscriber_ops ops = {
		.on_subscribe = check_on_subscribe,
		.on_next = check_on_next,
		.on_error = taker_on_error,
		.on_complete = check_on_complete,
		.released = check_released,
	};
	struct taker taker;
	struct ends ends;

	ends_init(&ends, 8, 0);
	stranger = &ends.source.actor;
	asked = 0;
	taker_init(&taker, &ends.ledger, INT64_MAX, 0);
	taker.subscriber.ops = &ops;
	subscribe(&ends.out, &taker.subscriber);
	ends_start(&ends);
	taker_check(&taker, N, 0);
	assert_int_equal(asked, N + 3);
	taker_fini(&taker);
	ends_fini(&ends);
}

static void check_request(struct weir_subscription *subscription, int64_t n)
{
	check_stranger();
	giver_request(subscription, n);
}

static void check_cancel(struct weir_subscription *subscription)
{
	check_stranger();
	giver_cancel(subscription);
}

static void a_publisher_does_not_own_the_subscribers_actor(void **state)
{
	static const struct weir_subscription_ops ops = {
		.request = check_request,
		.cancel = check_cancel,
		.released = giver_released,
	};
	struct giver giver;
	struct ends ends;

	ends_init(&ends, 8, 0);
	stranger = &ends.sink.actor;
	asked = 0;
	giver_init(&giver, &ends.ledger, &ends.in.subscriber);
	giver.subscription.ops = &ops;
	assert_int_equal(giver_begin(&giver), 0);
	ends_start(&ends);
	assert_int_equal(asked, 1);
	weir_actor_stop(&ends.sink.actor);
	weir_sim_run(ends.sim);
	assert_int_equal(asked, 2);
	giver_done(&giver);
	ends_fini(&ends);
}

/* --- Behind the last signal ----------------------------------------------- */

static void nothing_is_requested_behind_the_last_signal(void **state)
{
	struct giver giver;
	struct ends ends;
	size_t i;

	ends_init(&ends, 8, 0);
	giver_init(&giver, &ends.ledger, &ends.in.subscriber);
	assert_int_equal(giver_begin(&giver), 0);
	ends_start(&ends);
	for (i = 0; i < 8; i++)
		assert_int_equal(giver_send(&giver), 0);
	assert_int_equal(giver.subscriber->ops->on_complete(giver.subscriber),
			 0);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, 8);
	assert_int_equal(giver.requests, 1);
	assert_int_equal(giver.cancels, 0); /* 2.3 */
	/* the publisher still holds it */
	assert_int_equal(ends.sink.fate.stopped, 1);
	assert_int_equal(ends.sink.fate.released, 0);
	assert_int_equal(
		giver.subscriber->ops->on_next(giver.subscriber,
					       ledger_make(&ends.ledger, 9)),
		0);
	assert_int_equal(ledger_dropped(&ends.ledger), 1);
	giver_done(&giver);
	assert_int_equal(ends.sink.fate.released, 1);
	ends_fini(&ends);
}

static void who_is_broken_is_let_go_of_though_no_more_is_to_come(void **state)
{
	struct taker taker;
	struct ends ends;

	ends_init(&ends, 8, WEIR_REACTIVE_STAY);
	taker_init(&taker, &ends.ledger, 5, 0);
	taker.refuse_at = 5;
	subscribe(&ends.out, &taker.subscriber);
	ends_start(&ends);
	taker_check(&taker, 4, 1);
	taker_fini(&taker);
	ends_fini(&ends);
}

static void an_owner_may_request_of_a_link_which_does_nothing(void **state)
{
	struct ends ends;
	int i;

	ends_init(&ends, 8, 0);
	subscribe(&ends.out, &ends.in.subscriber);
	for (i = 0; i < 10; i++)
		assert_int_equal(weir_reactive_in_request(&ends.in, 8), 0);
	ends_start(&ends);
	assert_int_equal(ends.sink.seen, N);
	ends_fini(&ends);
}

/* --- Offers --------------------------------------------------------------- */

static void an_offer_takes_the_place_of_the_one_subscriber(void **state)
{
	struct taker taker;
	struct ends ends;

	ends_init(&ends, 8, 0);
	assert_int_equal(weir_actor_start(&ends.source.actor), 0);
	weir_sim_run(ends.sim);
	subscribe(&ends.out, &ends.in.subscriber);
	weir_sim_run(ends.sim);
	taker_init(&taker, &ends.ledger, 1, 0);
	subscribe(&ends.out, &taker.subscriber);
	weir_sim_run(ends.sim);
	taker_check(&taker, 0, -EISCONN);
	taker_fini(&taker);
	assert_int_equal(weir_actor_start(&ends.sink.actor), 0);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, N);
	ends_fini(&ends);
}

/* As long as nobody has taken the lost link's place it is not looked at. */
static void a_stage_whose_link_has_gone_is_none(void **state)
{
	for_each_seed(seed, test_count(500)) {
		struct weir_sim *sim = sim_new(seed);
		struct weir_executor *executor = weir_sim_executor(sim);
		struct weir_reactive_out out;
		struct weir_reactive_in ins[2];
		struct ledger ledger;
		struct source source;
		struct stage stage;
		struct sink sinks[2];
		size_t i;

		ledger_init(&ledger, N);
		source_init(&source, executor, &ledger, 1, N);
		stage_init(&stage, executor, &ledger, 8);
		assert_int_equal(weir_out_link(&source.out, &stage.in), 0);
		assert_int_equal(weir_reactive_out_init(&out, &stage.out, NULL),
				 0);
		for (i = 0; i < 2; i++) {
			sink_init(&sinks[i], executor, &ledger, 8);
			assert_int_equal(weir_reactive_in_init(
						 &ins[i], &sinks[i].in, NULL),
					 0);
		}
		sinks[0].stop_at = 20 + seed % 20;
		subscribe(&out, &ins[0].subscriber);
		assert_int_equal(weir_actor_start(&sinks[0].actor), 0);
		assert_int_equal(weir_actor_start(&stage.actor), 0);
		assert_int_equal(weir_actor_start(&source.actor), 0);
		while (!sinks[0].fate.stopped)
			assert_true(weir_sim_step(sim));
		subscribe(&out, &ins[1].subscriber);
		weir_sim_run(sim);
		assert_int_equal(sinks[0].fate.released, 1);
		assert_int_equal(stage.fate.stopped, 0);
		assert_int_equal(stage.actor.flags & WEIR__ACTOR_SIMPLE, 0);
		assert_int_equal(weir_actor_start(&sinks[1].actor), 0);
		weir_sim_run(sim);
		assert_int_equal(sinks[1].last, N);
		fate_check(&sinks[1].fate, 0);
		fate_check(&stage.fate, 0);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		sim_free(sim);
	}
}

static void who_is_offered_a_link_counts_when_the_last_leaves(void **state)
{
	struct taker taker;
	struct ends ends;

	ends_init(&ends, 8, 0);
	ends.sink.ordered = false;
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_FAN_BROADCAST, 8),
			 0);
	assert_int_equal(weir_actor_start(&ends.source.actor), 0);
	taker_init(&taker, &ends.ledger, 5, 0);
	subscribe(&ends.out, &taker.subscriber);
	weir_sim_run(ends.sim);
	subscribe(&ends.out, &ends.in.subscriber);
	weir_sim_run(ends.sim);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(ends.sim);
	taker_check(&taker, 5, 1);
	taker_fini(&taker);
	assert_int_equal(weir_actor_start(&ends.sink.actor), 0);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, N - 5 - 8); /* held by the taker */
	fate_check(&ends.sink.fate, 0);
	ends_fini(&ends);
}

/*
 * The sink's signal: it subscribes, its actor and the source's being its own.
 */
struct loop {
	struct stage stage;
	struct weir_reactive_out out;
	struct weir_reactive_in in;
};

static int subscribe_own(struct weir_actor *actor)
{
	struct loop *self = weir_container_of(actor, struct loop, stage.actor);

	return weir_publisher_subscribe(&self->out.publisher,
					&self->in.subscriber);
}

static void an_actor_that_subscribes_to_itself_finds_no_room(void **state)
{
	static struct weir_actor_ops ops;
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct taker taker;
	struct loop self;

	ops = stage_ops;
	ops.signalled = subscribe_own;
	ledger_init(&ledger, N);
	stage_init(&self.stage, weir_sim_executor(sim), &ledger, 8);
	self.stage.actor.ops = &ops;
	assert_int_equal(
		weir_reactive_out_init(&self.out, &self.stage.out, NULL), 0);
	assert_int_equal(weir_reactive_in_init(&self.in, &self.stage.in, NULL),
			 0);
	taker_init(&taker, &ledger, 1, 0);
	subscribe(&self.out, &taker.subscriber);
	assert_int_equal(weir_actor_start(&self.stage.actor), 0);
	weir_sim_run(sim);
	weir_actor_signal(&self.stage.actor);
	weir_sim_run(sim);
	/* rejected: the in-port has ended, which ends the actor */
	taker_check(&taker, 0, -EISCONN);
	taker_fini(&taker); /* whose subscription holds the actor */
	fate_check(&self.stage.fate, -EISCONN);
	ledger_fini(&ledger);
	sim_free(sim);
}

static void a_link_that_finds_no_memory_leaves_the_way_open(void **state)
{
	struct heap heap;
	struct weir_executor_options options = {.allocator = &heap.allocator};
	struct ends ends;

	heap_init(&heap, 0);
	ends_init_on(&ends, 8, 0, &options);
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_FAN_BROADCAST, 8),
			 0);
	heap.calls = 0;
	heap.fail = 1;
	subscribe(&ends.out, &ends.in.subscriber);
	assert_null(ends.sink.in.lane.out);
	assert_int_equal(weir_in_put(&ends.sink.in, &ends), -EISCONN);
	ends_start(&ends);
	assert_int_equal(ends.sink.seen, N);
	fate_check(&ends.sink.fate, 0);
	ends_fini(&ends);
	assert_int_equal(heap.live, 0);
}

/* --- Two of a kind -------------------------------------------------------- */

static void the_end_of_a_port_is_not_that_of_another(void **state)
{
	static struct weir_actor_ops ops;
	struct weir_sim *sim = sim_new(1);
	struct weir_reactive_out outs[2];
	struct weir_reactive_in ins[2];
	struct ledger ledger;
	struct giver givers[2];
	struct taker takers[2];
	struct stage self;
	struct weir_in in;
	struct weir_out out;
	size_t i;

	ops = stage_ops;
	ledger_init(&ledger, N);
	stage_init(&self, weir_sim_executor(sim), &ledger, 8);
	self.actor.ops = &ops;
	assert_int_equal(weir_in_init(&in, &self.actor, 8, NULL), 0);
	assert_int_equal(weir_out_init(&out, &self.actor, &ledger.items), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(weir_reactive_in_init(
					 &ins[i], i ? &in : &self.in, NULL),
				 0);
		assert_int_equal(weir_reactive_out_init(
					 &outs[i], i ? &out : &self.out, NULL),
				 0);
		giver_init(&givers[i], &ledger, &ins[i].subscriber);
		assert_int_equal(giver_begin(&givers[i]), 0);
	}
	assert_int_equal(weir_out_end(&out, NULL), 0);
	assert_int_equal(weir_in_cancel(&in), 0);
	assert_int_equal(givers[0].cancels, 0);
	assert_int_equal(givers[1].cancels, 1);
	for (i = 0; i < 2; i++) {
		taker_init(&takers[i], &ledger, 1, 0);
		subscribe(&outs[i], &takers[i].subscriber);
	}
	assert_int_equal(weir_actor_start(&self.actor), 0);
	weir_sim_run(sim);
	assert_int_equal(givers[0].requests, 1);
	assert_int_equal(giver_send(&givers[0]), 0);
	weir_sim_run(sim);
	taker_check(&takers[0], 1, 1);
	taker_check(&takers[1], 0, 0);
	weir_actor_stop(&self.actor);
	weir_sim_run(sim);
	taker_check(&takers[0], 1, -ECANCELED);
	for (i = 0; i < 2; i++) {
		giver_done(&givers[i]);
		taker_fini(&takers[i]);
	}
	assert_int_equal(self.fate.released, 1);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* --- Rejections inside rejections ----------------------------------------- */

struct nested {
	struct weir_subscriber subscriber;
	struct weir_subscriber *other;
	size_t ends;
};

static int cancel_and_reject_another(struct weir_subscriber *subscriber,
				     struct weir_subscription *subscription)
{
	struct nested *self =
		weir_container_of(subscriber, struct nested, subscriber);

	if (!self->other)
		return 0;
	weir_subscription_cancel(subscription);
	return weir_subscriber_reject(self->other, NULL);
}

static int no_next(struct weir_subscriber *subscriber, void *item)
{
	return -EIO;
}

static int nested_error(struct weir_subscriber *subscriber,
			struct weir_error *error)
{
	weir_container_of(subscriber, struct nested, subscriber)->ends++;
	return 0;
}

static int nested_complete(struct weir_subscriber *subscriber)
{
	return nested_error(subscriber, NULL);
}

static void who_cancels_is_sent_no_end_whatever_is_rejected_inside(void **state)
{
	static const struct weir_subscriber_ops ops = {
		.on_subscribe = cancel_and_reject_another,
		.on_next = no_next,
		.on_error = nested_error,
		.on_complete = nested_complete,
	};
	struct nested inner = {0}, outer = {.other = &inner.subscriber};

	assert_int_equal(weir_subscriber_init(&inner.subscriber, &ops), 0);
	assert_int_equal(weir_subscriber_init(&outer.subscriber, &ops), 0);
	assert_int_equal(weir_subscriber_reject(&outer.subscriber, NULL), 0);
	assert_int_equal(outer.ends, 0);
	assert_int_equal(inner.ends, 1);
}

static void balanced_the_least_demand_is_enough(void **state)
{
	struct taker all, one;
	struct ends ends;

	ends_init(&ends, 8, 0);
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_FAN_BALANCE, 8),
			 0);
	taker_init(&all, &ends.ledger, INT64_MAX, 0);
	taker_init(&one, &ends.ledger, 1, 0);
	all.ordered = one.ordered = false;
	subscribe(&ends.out, &all.subscriber);
	subscribe(&ends.out, &one.subscriber);
	ends_start(&ends);
	taker_check(&all, N - 1, 0);
	taker_check(&one, 1, 0);
	taker_fini(&all);
	taker_fini(&one);
	ends_fini(&ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_subscriber_does_not_own_the_publishers_actor),
		cmocka_unit_test(
			a_publisher_does_not_own_the_subscribers_actor),
		cmocka_unit_test(nothing_is_requested_behind_the_last_signal),
		cmocka_unit_test(
			who_is_broken_is_let_go_of_though_no_more_is_to_come),
		cmocka_unit_test(
			an_owner_may_request_of_a_link_which_does_nothing),
		cmocka_unit_test(
			an_offer_takes_the_place_of_the_one_subscriber),
		cmocka_unit_test(a_stage_whose_link_has_gone_is_none),
		cmocka_unit_test(
			who_is_offered_a_link_counts_when_the_last_leaves),
		cmocka_unit_test(balanced_the_least_demand_is_enough),
		cmocka_unit_test(
			an_actor_that_subscribes_to_itself_finds_no_room),
		cmocka_unit_test(
			a_link_that_finds_no_memory_leaves_the_way_open),
		cmocka_unit_test(the_end_of_a_port_is_not_that_of_another),
		cmocka_unit_test(
			who_cancels_is_sent_no_end_whatever_is_rejected_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
