/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a user may do to reactive ports that no plain stream does: everything
 * from inside everything, too late, twice, and beside links made by hand.
 */
#include "stream/meet.h"

#include "actor/out.h"

/* --- Subscribers that have ended ------------------------------------------ */

static void an_ended_actor_is_a_subscriber_that_wants_nothing(void **state)
{
	struct ends ends;
	struct giver giver;
	int foreign;

	for (foreign = 0; foreign < 2; foreign++) {
		ends_init(&ends, 8, 0);
		weir_actor_ref(&ends.sink.actor);
		ends_start(&ends);
		weir_actor_stop(&ends.sink.actor);
		weir_sim_run(ends.sim);
		assert_int_equal(ends.sink.fate.stopped, 1);
		if (foreign) {
			giver_init(&giver, &ends.ledger, &ends.in.subscriber);
			assert_int_equal(giver_begin(&giver), 0);
			assert_int_equal(giver.cancels, 1);
			giver_done(&giver);
		} else {
			subscribe(&ends.out, &ends.in.subscriber);
		}
		weir_sim_run(ends.sim);
		/* what we hold is still there */
		assert_int_equal(ends.sink.fate.released, 0);
		weir_actor_unref(&ends.sink.actor);
		ends_fini(&ends);
	}
}

static void a_second_publishers_rejection_leaves_the_first_alone(void **state)
{
	struct ends ends;
	struct source second;
	struct weir_reactive_out other;
	struct giver giver;
	int how;

	/* the first stream is a link, or somebody else's */
	for (how = 0; how < 2; how++) {
		ends_init(&ends, 8, 0);
		source_init(&second, ends.executor, &ends.ledger, 1, 0);
		assert_int_equal(
			weir_reactive_out_init(&other, &second.out, NULL), 0);
		assert_int_equal(
			weir_out_end(&second.out, weir_error_of(-EPROTO)), 0);
		weir_actor_suspend(&ends.source.actor);
		if (how == 0) {
			subscribe(&ends.out, &ends.in.subscriber);
		} else {
			giver_init(&giver, &ends.ledger, &ends.in.subscriber);
			assert_int_equal(giver_begin(&giver), 0);
		}
		ends_start(&ends);
		subscribe(&other, &ends.in.subscriber);
		weir_sim_run(ends.sim);
		assert_int_equal(ends.sink.ended, 0);
		weir_actor_resume(&ends.source.actor);
		weir_sim_run(ends.sim);
		if (how == 1) {
			assert_int_equal(giver_send(&giver), 0);
			weir_sim_run(ends.sim);
			assert_int_equal(ends.sink.seen, 1);
			(void)giver.subscriber->ops->on_complete(
				giver.subscriber);
			weir_sim_run(ends.sim);
			giver_done(&giver);
		} else {
			assert_int_equal(ends.sink.seen, N);
			fate_check(&ends.sink.fate, 0);
		}
		weir_actor_stop(&second.actor);
		ends_fini(&ends);
	}
}

/* It was cancelled in on_subscribe, and ends without a look at that. */
static void the_end_of_a_cancelled_subscription_leaves_a_link_alone(
	void **state)
{
	struct ends ends;
	struct giver giver;
	int offered;

	for (offered = 0; offered < 2; offered++) {
		ends_init(&ends, 8, 0);
		if (!offered)
			subscribe(&ends.out, &ends.in.subscriber);
		assert_int_equal(weir_actor_start(&ends.source.actor), 0);
		if (offered)
			subscribe(&ends.out, &ends.in.subscriber);
		weir_sim_run(ends.sim);
		giver_init(&giver, &ends.ledger, &ends.in.subscriber);
		assert_int_equal(giver_begin(&giver), 0);
		assert_int_equal(giver.cancels, 1);
		assert_int_equal(giver_send(&giver), -EOVERFLOW);
		assert_int_equal(
			giver.subscriber->ops->on_complete(giver.subscriber),
			0);
		giver_done(&giver);
		assert_int_equal(weir_actor_start(&ends.sink.actor), 0);
		weir_sim_run(ends.sim);
		assert_int_equal(ends.sink.seen, N);
		assert_int_equal(ends.sink.end_code, 0);
		fate_check(&ends.source.fate, 0);
		ends_fini(&ends);
	}
}

/* --- Requests ------------------------------------------------------------- */

/* Requests one more for each that it takes, in the turn. */
struct one_more {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_reactive_in reactive;
	struct ledger *ledger;
	size_t seen;
};

static inline int take_one_more(struct weir_actor *actor)
{
	struct one_more *self =
		weir_container_of(actor, struct one_more, actor);

	(void)ledger_deliver(self->ledger, weir_in_take(&self->in));
	self->seen++;
	assert_int_equal(weir_reactive_in_request(&self->reactive, 1), 0);
	assert_int_equal(weir_reactive_in_request(&self->reactive, 1),
			 -ENOBUFS);
	return 0;
}
WEIR_TURN(take_one_more)

static void a_turn_may_request_again_what_it_takes(void **state)
{
	static const struct weir_actor_ops ops = {.turns = take_one_more_n};
	struct weir_reactive_in_options options = {.demand = weir_demand_zero};
	size_t capacity;

	for (capacity = 1; capacity <= 4; capacity *= 2) {
		struct weir_sim *sim = sim_new(1);
		struct ledger ledger;
		struct source source;
		struct weir_reactive_out out;
		struct one_more self = {.ledger = &ledger};

		ledger_init(&ledger, N);
		source_init(&source, weir_sim_executor(sim), &ledger, 1, N);
		assert_int_equal(
			weir_reactive_out_init(&out, &source.out, NULL), 0);
		assert_int_equal(weir_actor_init(&self.actor, &ops,
						 weir_sim_executor(sim)),
				 0);
		assert_int_equal(
			weir_in_init(&self.in, &self.actor, capacity, NULL), 0);
		assert_int_equal(weir_reactive_in_init(&self.reactive, &self.in,
						       &options),
				 0);
		assert_int_equal(weir_reactive_in_request(&self.reactive,
							  (int64_t)capacity),
				 0);
		subscribe(&out, &self.reactive.subscriber);
		assert_int_equal(weir_actor_start(&self.actor), 0);
		assert_int_equal(weir_actor_start(&source.actor), 0);
		weir_sim_run(sim);
		assert_int_equal(self.seen, N);
		fate_check(&source.fate, 0);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		sim_free(sim);
	}
}

/* --- Items ---------------------------------------------------------------- */

/* Subscribes to a giver in a handler of its own. */
struct self_made {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_reactive_in reactive;
	struct giver giver;
};

static int begin(struct weir_actor *actor)
{
	struct self_made *self =
		weir_container_of(actor, struct self_made, actor);

	return giver_begin(&self->giver);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static void items_are_dropped_however_soon_the_actor_stops(void **state)
{
	static const struct weir_actor_ops ops = {.turns = no_turns,
						  .signalled = begin};
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger;
	struct self_made self = {0};

	ledger_init(&ledger, N);
	assert_int_equal(
		weir_actor_init(&self.actor, &ops, weir_sim_executor(sim)), 0);
	assert_int_equal(weir_in_init(&self.in, &self.actor, 8, NULL), 0);
	assert_int_equal(weir_reactive_in_init(&self.reactive, &self.in, NULL),
			 0);
	giver_init(&self.giver, &ledger, &self.reactive.subscriber);
	self.giver.sends = N;
	weir_actor_ref(&self.actor);
	assert_int_equal(weir_actor_start(&self.actor), 0);
	weir_actor_signal(&self.actor);
	while (!self.giver.next)
		assert_true(weir_sim_step(sim));
	assert_int_equal(self.giver.next, 8);
	weir_actor_stop(&self.actor);
	weir_actor_unref(&self.actor);
	weir_sim_run(sim);
	assert_int_equal(ledger_dropped(&ledger), 8);
	giver_done(&self.giver);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	sim_free(sim);
}

/* --- Joining and leaving -------------------------------------------------- */

static void who_has_joined_keeps_the_stream_when_the_last_leaves(void **state)
{
	struct ends ends;
	struct taker first, second;

	ends_init(&ends, 8, 0);
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_FAN_BROADCAST, 8),
			 0);
	taker_init(&first, &ends.ledger, 5, 0);
	taker_init(&second, &ends.ledger, INT64_MAX, 0);
	second.ordered = false;
	subscribe(&ends.out, &first.subscriber);
	ends_start(&ends);
	subscribe(&ends.out, &second.subscriber);
	weir_subscription_cancel(first.subscription);
	weir_sim_run(ends.sim);
	taker_check(&first, 5, 1);
	taker_check(&second, N - 5 - 8, 0); /* the first held 8 more */
	taker_fini(&first);
	taker_fini(&second);
	ends_fini(&ends);
}

/* --- Beside links made by hand -------------------------------------------- */

/* A source whose signal makes a link. */
static struct weir_in *to_link;
static int link_rc;

static int link_it(struct weir_actor *actor)
{
	link_rc = weir_out_link(
		&weir_container_of(actor, struct source, actor)->out, to_link);
	return 0;
}

static void a_link_made_by_hand_beside_an_offer_stands(void **state)
{
	static struct weir_actor_ops ops;
	struct ends ends;
	struct sink other;
	int fan;

	ops = source_ops;
	ops.signalled = link_it;
	for (fan = 0; fan < 2; fan++) {
		ends_init(&ends, 8, 0);
		ends.ledger.items.share = NULL;
		ends.source.actor.ops = &ops;
		if (fan)
			assert_int_equal(weir_out_fan(&ends.source.out,
						      WEIR_FAN_BROADCAST, 8),
					 0);
		sink_init(&other, ends.executor, &ends.ledger, 8);
		other.ordered = true;
		assert_int_equal(weir_actor_start(&ends.source.actor), 0);
		weir_sim_run(ends.sim);
		subscribe(&ends.out, &ends.in.subscriber);
		weir_sim_run(ends.sim); /* offered */
		assert_non_null(ends.out.link_offers);
		to_link = &other.in;
		weir_actor_signal(&ends.source.actor);
		weir_sim_run(ends.sim);
		assert_int_equal(link_rc, 0);
		assert_int_equal(weir_actor_start(&ends.sink.actor), 0);
		assert_int_equal(weir_actor_start(&other.actor), 0);
		weir_sim_run(ends.sim);
		assert_int_equal(other.seen, N);
		assert_int_equal(other.fate.stopped, 1);
		assert_int_equal(ends.sink.seen, 0);
		assert_int_equal(ends.sink.end_code, fan ? -ENOTSUP : -EISCONN);
		ends_fini(&ends);
	}
}

static void a_burst_set_after_the_offer_is_minded(void **state)
{
	struct ends ends;

	ends_init(&ends, 8, 0);
	assert_int_equal(weir_port_set_burst(&ends.source.out.port, 4), 0);
	assert_int_equal(weir_actor_start(&ends.source.actor), 0);
	weir_sim_run(ends.sim);
	subscribe(&ends.out, &ends.in.subscriber);
	weir_sim_run(ends.sim);
	assert_int_equal(weir_port_set_burst(&ends.sink.in.port, 8), 0);
	assert_int_equal(weir_actor_start(&ends.sink.actor), 0);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.end_code, -EINVAL);
	ends_fini(&ends);
}

/* Too small for a link: one behind an actor between, which does not request. */
static void a_port_smaller_than_a_burst_joins_a_broadcast(void **state)
{
	struct ends ends;

	ends_init(&ends, 2, 0);
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_FAN_BROADCAST, 4),
			 0);
	assert_int_equal(weir_port_set_burst(&ends.source.out.port, 3), 0);
	subscribe(&ends.out, &ends.in.subscriber);
	ends_start(&ends);
	assert_int_equal(ends.sink.seen, N);
	fate_check(&ends.sink.fate, 0);
	ends_fini(&ends);
}

static int stays_alive(struct weir_actor *actor, struct weir_out *out)
{
	(void)actor;
	(void)out;
	return 0;
}

static void with_a_burst_turns_go_on_when_nobody_has_come(void **state)
{
	static struct weir_actor_ops ops;
	struct ends ends;
	struct stage stage;
	struct weir_reactive_out out;
	size_t i;

	ops = stage_ops;
	ops.cancelled = stays_alive;
	ends_init(&ends, 8, 0);
	stage_init(&stage, ends.executor, &ends.ledger, 8);
	stage.actor.ops = &ops;
	assert_int_equal(weir_port_set_burst(&stage.out.port, 3), 0);
	assert_int_equal(weir_reactive_out_init(&out, &stage.out, NULL), 0);
	subscribe(&ends.out, &ends.in.subscriber);
	subscribe(&out, &ends.in.subscriber); /* has one: does not come */
	for (i = 1; i <= 8; i++)
		assert_int_equal(weir_in_put(&stage.in,
					     ledger_make(&ends.ledger, i)),
				 0);
	assert_int_equal(weir_actor_start(&stage.actor), 0);
	weir_sim_run(ends.sim);
	assert_int_equal(stage.seen, 8);
	weir_actor_stop(&stage.actor);
	ends_fini(&ends);
}

/* Its set-up may be under way in another thread. */
static void a_new_subscriber_is_not_touched_by_the_publishers_slice(
	void **state)
{
	struct ends ends;

	ends_init(&ends, 4, 0);
	assert_int_equal(weir_port_set_burst(&ends.source.out.port, 8), 0);
	assert_int_equal(weir_actor_start(&ends.source.actor), 0);
	subscribe(&ends.out, &ends.in.subscriber);
	weir_sim_run(ends.sim);
	assert_null(ends.sink.in.lane.out);
	assert_int_equal(weir_actor_start(&ends.sink.actor), 0);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, N);
	fate_check(&ends.sink.fate, 0);
	ends_fini(&ends);
}

static void with_stay_one_link_comes_after_another(void **state)
{
	struct ends ends;
	struct sink second;
	struct weir_reactive_in in;
	int soon;

	for (soon = 0; soon < 2; soon++) {
		ends_init(&ends, 8, WEIR_REACTIVE_STAY);
		ends.sink.stop_at = 20;
		sink_init(&second, ends.executor, &ends.ledger, 4);
		assert_int_equal(weir_reactive_in_init(&in, &second.in, NULL),
				 0);
		subscribe(&ends.out, &ends.in.subscriber);
		assert_int_equal(weir_actor_start(&second.actor), 0);
		ends_start(&ends);
		assert_int_equal(ends.sink.fate.stopped, 1);
		assert_int_equal(ends.source.fate.stopped, 0);
		assert_int_equal(weir__out_sinks(&ends.source.out), 0);
		if (soon) { /* what it puts now comes to the second */
			struct taker taker;

			taker_init(&taker, &ends.ledger, 3, 0);
			taker.ordered = false;
			taker.cancel_at = 3;
			subscribe(&ends.out, &taker.subscriber);
			weir_sim_run(ends.sim);
			taker_check(&taker, 3, 1);
			taker_fini(&taker);
		}
		subscribe(&ends.out, &in.subscriber);
		weir_sim_run(ends.sim);
		assert_int_equal(second.last, N);
		fate_check(&second.fate, 0);
		fate_check(&ends.source.fate, 0);
		ends_fini(&ends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_ended_actor_is_a_subscriber_that_wants_nothing),
		cmocka_unit_test(
			a_second_publishers_rejection_leaves_the_first_alone),
		cmocka_unit_test(
			items_are_dropped_however_soon_the_actor_stops),
		cmocka_unit_test(
			who_has_joined_keeps_the_stream_when_the_last_leaves),
		cmocka_unit_test(a_link_made_by_hand_beside_an_offer_stands),
		cmocka_unit_test(a_burst_set_after_the_offer_is_minded),
		cmocka_unit_test(a_port_smaller_than_a_burst_joins_a_broadcast),
		cmocka_unit_test(
			the_end_of_a_cancelled_subscription_leaves_a_link_alone),
		cmocka_unit_test(a_turn_may_request_again_what_it_takes),
		cmocka_unit_test(with_a_burst_turns_go_on_when_nobody_has_come),
		cmocka_unit_test(
			a_new_subscriber_is_not_touched_by_the_publishers_slice),
		cmocka_unit_test(with_stay_one_link_comes_after_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
