/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams that end or are left while the actor lives on, and what its ports
 * are then.
 */
#include "stream/meet.h"

/* An actor with both ends, which goes on whatever happens to them. */
struct both {
	struct stage stage;
	struct weir_reactive_in in;
	struct weir_reactive_out out;
};

static int goes_on(struct weir_actor *actor, struct weir_out *out)
{
	return 0;
}

static int goes_on_too(struct weir_actor *actor, struct weir_in *in,
		       struct weir_error *error)
{
	return 0;
}

static void both_init(struct both *self, struct ends *ends)
{
	static struct weir_actor_ops ops;

	ops = stage_ops;
	ops.cancelled = goes_on;
	ops.ended = goes_on_too;
	memset(self, 0, sizeof(*self));
	stage_init(&self->stage, ends->executor, &ends->ledger, 8);
	self->stage.actor.ops = &ops;
	assert_int_equal(
		weir_reactive_in_init(&self->in, &self->stage.in, NULL), 0);
	assert_int_equal(
		weir_reactive_out_init(&self->out, &self->stage.out, NULL), 0);
}

static void a_stream_that_is_over_is_let_go_of_by_an_actor_that_goes_on(
	void **state)
{
	struct ends ends;
	struct both self;
	struct giver giver;

	ends_init(&ends, 8, 0);
	both_init(&self, &ends);
	giver_init(&giver, &ends.ledger, &self.in.subscriber);
	assert_int_equal(giver_begin(&giver), 0);
	assert_int_equal(weir_actor_start(&self.stage.actor), 0);
	weir_sim_run(ends.sim);
	assert_int_equal(giver.subscriber->ops->on_complete(giver.subscriber),
			 0);
	weir_sim_run(ends.sim);
	giver_done(&giver); /* it has been released */
	assert_int_equal(self.stage.fate.stopped, 0);
	weir_actor_stop(&self.stage.actor);
	weir_sim_run(ends.sim);
	assert_int_equal(self.stage.fate.released, 1);
	ends_fini(&ends);
}

static void when_all_have_left_late_ones_are_told(void **state)
{
	struct ends ends;
	struct both self;
	struct taker first, late;

	ends_init(&ends, 8, 0);
	both_init(&self, &ends);
	taker_init(&first, &ends.ledger, 1, 0);
	taker_init(&late, &ends.ledger, 1, 0);
	subscribe(&self.out, &first.subscriber);
	assert_int_equal(weir_actor_start(&self.stage.actor), 0);
	weir_sim_run(ends.sim);
	weir_subscription_cancel(first.subscription);
	weir_sim_run(ends.sim);
	assert_int_equal(self.stage.fate.stopped, 0);
	subscribe(&self.out, &late.subscriber);
	taker_check(&late, 0, -ECANCELED); /* at once */
	taker_fini(&first);
	taker_fini(&late);
	weir_actor_stop(&self.stage.actor);
	weir_sim_run(ends.sim);
	ends_fini(&ends);
}

static void beside_a_link_there_is_no_room_for_another(void **state)
{
	struct ends ends;
	struct taker taker;

	ends_init(&ends, 8, 0);
	taker_init(&taker, &ends.ledger, 1, 0);
	subscribe(&ends.out, &ends.in.subscriber);
	subscribe(&ends.out, &taker.subscriber);
	ends_start(&ends);
	taker_check(&taker, 0, -EISCONN);
	taker_fini(&taker);
	assert_int_equal(ends.sink.seen, N);
	fate_check(&ends.sink.fate, 0);
	ends_fini(&ends);
}

static void balanced_items_need_not_be_shared(void **state)
{
	struct ends ends;
	struct taker takers[2];
	size_t i;

	ends_init(&ends, 8, 0);
	ends.ledger.items.share = NULL;
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_FAN_BALANCE, 8),
			 0);
	for (i = 0; i < 2; i++) {
		taker_init(&takers[i], &ends.ledger, 1, 1);
		takers[i].ordered = false;
		subscribe(&ends.out, &takers[i].subscriber);
	}
	ends_start(&ends);
	assert_int_equal(takers[0].completes + takers[1].completes, 2);
	assert_int_equal(takers[0].seen + takers[1].seen, N);
	for (i = 0; i < 2; i++)
		taker_fini(&takers[i]);
	ends_fini(&ends);
}

static void drained(struct weir_ending *drain)
{
	(void)drain;
}

static void what_is_dropped_on_the_way_to_a_subscriber_is_counted(void **state)
{
	struct weir_ending drain = {.done = drained};
	struct ends ends;
	struct stage stage;
	struct weir_reactive_out out;
	struct taker taker;
	size_t i;

	ends_init(&ends, 8, 0);
	stage_init(&stage, ends.executor, &ends.ledger, 8);
	assert_int_equal(weir_reactive_out_init(&out, &stage.out, NULL), 0);
	for (i = 1; i <= 8; i++)
		assert_int_equal(weir_in_put(&stage.in,
					     ledger_make(&ends.ledger, i)),
				 0);
	taker_init(&taker, &ends.ledger, 8, 0);
	taker.cancel_at = 3;
	subscribe(&out, &taker.subscriber);
	weir_actor_stop(&ends.source.actor);
	weir_actor_stop(&ends.sink.actor);
	assert_int_equal(weir_actor_start(&stage.actor), 0);
	assert_int_equal(weir_executor_end_async(ends.executor, &drain,
						 WEIR_FOREVER),
			 0);
	weir_sim_run(ends.sim);
	taker_check(&taker, 3, 1);
	taker_fini(&taker);
	weir_sim_run(ends.sim);
	assert_int_equal(stage.seen, 8); /* none is left in the in-port */
	assert_int_equal(ledger_dropped(&ends.ledger), 5);
	assert_int_equal(drain.items_dropped, 5);
	ends_fini(&ends);
}

/* What a stream from another executor still has is not waited for. */
static void a_drain_leaves_a_publisher_elsewhere(void **state)
{
	const struct weir_reactive_in_options options = {.prefetch = 4};
	struct weir_sim *sim = sim_new(1);
	struct weir_ending drain = {.done = drained};
	struct weir_reactive_in in;
	struct ends ends;
	struct sink sink;

	ends_init(&ends, 8, WEIR_REACTIVE_STAY);
	sink_init(&sink, weir_sim_executor(sim), &ends.ledger, 8);
	assert_int_equal(weir_reactive_in_init(&in, &sink.in, &options), 0);
	subscribe(&ends.out, &in.subscriber);
	assert_int_equal(weir_actor_start(&ends.source.actor), 0);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	weir_sim_run(ends.sim); /* it has subscribed, */
	weir_sim_run(sim);	/* requests, */
	weir_sim_run(ends.sim); /* and has got some */
	assert_int_equal(ends.source.next, 1 + 4);
	assert_int_equal(weir_executor_end_async(weir_sim_executor(sim), &drain,
						 WEIR_FOREVER),
			 0);
	weir_sim_run(sim);
	assert_int_equal(sink.seen, 4);
	weir_sim_run(ends.sim); /* is told that it has left */
	fate_check(&sink.fate, 0);
	assert_int_equal(ends.source.next, 1 + 4);
	assert_int_equal(ends.source.fate.stopped, 0);
	sim_free(sim);
	ends_fini(&ends);
}

/* Adapters are made between the ports, and stand behind them. */
static void stage_check(bool in_first)
{
	struct ends ends;
	struct stage stage = {0};
	struct weir_reactive_in in;
	struct weir_reactive_out out;
	bool was_stage = false;
	int i;

	ends_init(&ends, 8, 0);
	stage.ledger = &ends.ledger;
	assert_int_equal(
		weir_actor_init(&stage.actor, &stage_ops, ends.executor), 0);
	for (i = 0; i < 2; i++)
		if (in_first == (i == 0)) {
			assert_int_equal(weir_in_init(&stage.in, &stage.actor,
						      8, NULL),
					 0);
			assert_int_equal(
				weir_reactive_in_init(&in, &stage.in, NULL), 0);
		} else {
			assert_int_equal(weir_out_init(&stage.out, &stage.actor,
						       &ends.ledger.items),
					 0);
			assert_int_equal(
				weir_reactive_out_init(&out, &stage.out, NULL),
				0);
		}
	subscribe(&ends.out, &in.subscriber);
	subscribe(&out, &ends.in.subscriber);
	assert_int_equal(weir_actor_start(&stage.actor), 0);
	assert_int_equal(weir_actor_start(&ends.sink.actor), 0);
	assert_int_equal(weir_actor_start(&ends.source.actor), 0);
	while (weir_sim_step(ends.sim))
		if ((stage.actor.flags & WEIR__ACTOR_SIMPLE) ==
		    WEIR__ACTOR_SIMPLE)
			was_stage = true;
	assert_true(was_stage);
	assert_int_equal(ends.sink.seen, N);
	ends_fini(&ends);
}

static void a_processor_is_a_stage_however_it_was_set_up(void **state)
{
	stage_check(true);
	stage_check(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_stream_that_is_over_is_let_go_of_by_an_actor_that_goes_on),
		cmocka_unit_test(when_all_have_left_late_ones_are_told),
		cmocka_unit_test(beside_a_link_there_is_no_room_for_another),
		cmocka_unit_test(balanced_items_need_not_be_shared),
		cmocka_unit_test(
			what_is_dropped_on_the_way_to_a_subscriber_is_counted),
		cmocka_unit_test(a_drain_leaves_a_publisher_elsewhere),
		cmocka_unit_test(a_processor_is_a_stage_however_it_was_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
