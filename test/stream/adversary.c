/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a user may do to reactive ports that no plain stream does: everything
 * from inside everything, too late, twice, and beside links made by hand.
 */
#include "stream/meet.h"

#include <weir/any.h>

#include "actor/link.h"

/* --- Subscribers that are broken ------------------------------------------ */

/* What on_next_n does with a batch. */
enum batch { ALL, HALF_AND_FAIL, ALL_AND_FAIL, MORE_AND_FAIL, CANCEL };

struct batcher {
	struct taker taker;
	enum batch what;
	size_t batches;
};

static int on_next_n(struct weir_subscriber *subscriber, void *const *items,
		     size_t n, size_t *taken)
{
	struct taker *taker = taker_of(subscriber);
	struct batcher *self = weir_container_of(taker, struct batcher, taker);
	size_t k = self->what == HALF_AND_FAIL ? n / 2 : n, i;

	assert_int_equal(*taken, 0);
	assert_true(n > 1);
	for (i = 0; i < k; i++)
		taker->last = ledger_deliver(taker->ledger, items[i]);
	taker->seen += k;
	self->batches++;
	if (self->what == CANCEL)
		weir_subscription_cancel(taker->subscription);
	if (self->what == ALL || self->what == CANCEL)
		return 0;
	*taken = self->what == MORE_AND_FAIL ? n + 7 : k;
	return -EIO;
}

static void count_broken(struct weir_subscriber *subscriber, int code,
			 void *context)
{
	size_t *reports = context;

	assert_int_equal(code, -EIO);
	(*reports)++;
}

/* Three items go first, so that the batch of eight comes in two. */
static void batch_check(enum batch what, size_t seen, size_t batches)
{
	static struct weir_subscriber_ops ops;
	size_t reports = 0;
	struct weir_executor_options executor = {.broken = count_broken,
						 .context = &reports};
	struct batcher self = {.what = ALL};
	struct ends ends;

	ops = taker_ops;
	ops.on_next_n = on_next_n;
	ends_init_on(&ends, 8, 0, &executor);
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_BROADCAST, 8), 0);
	taker_init(&self.taker, &ends.ledger, 3, 0);
	self.taker.subscriber.ops = &ops;
	subscribe(&ends.out, &self.taker.subscriber);
	ends_start(&ends);
	taker_check(&self.taker, 3, 1);
	self.what = what;
	self.batches = 0;
	weir_subscription_request(self.taker.subscription, 8);
	weir_sim_run(ends.sim);
	weir_subscription_request(self.taker.subscription, INT64_MAX);
	weir_sim_run(ends.sim);
	if (batches)
		assert_int_equal(self.batches, batches);
	assert_int_equal(reports, what != ALL && what != CANCEL);
	taker_check(&self.taker, seen, what == ALL ? 0 : 1);
	taker_fini(&self.taker);
	ends_fini(&ends);
}

static void a_batch_is_taken_in_part_or_cancelled_or_all(void **state)
{
	batch_check(ALL, N, 0);
	batch_check(HALF_AND_FAIL, 3 + 5 / 2, 1);
	batch_check(ALL_AND_FAIL, 3 + 5, 1);
	batch_check(MORE_AND_FAIL, 3 + 5, 1);
	batch_check(CANCEL, 3 + 5, 1);
}

static int refuse_complete(struct weir_subscriber *subscriber)
{
	(void)taker_on_complete(subscriber);
	return -EIO;
}

static void who_refuses_the_last_signal_is_reported(void **state)
{
	static struct weir_subscriber_ops ops;
	size_t reports = 0;
	struct weir_executor_options executor = {.broken = count_broken,
						 .context = &reports};
	struct taker taker;
	struct ends ends;

	ops = taker_ops;
	ops.on_complete = refuse_complete;
	ends_init_on(&ends, 8, 0, &executor);
	/* more than fits into 32 bits */
	taker_init(&taker, &ends.ledger, INT64_C(1) << 32, 0);
	taker.subscriber.ops = &ops;
	subscribe(&ends.out, &taker.subscriber);
	ends_start(&ends);
	taker_check(&taker, N, 0);
	assert_int_equal(reports, 1);
	taker_fini(&taker);
	ends_fini(&ends);
}

static int cancel_at_once(struct weir_subscriber *subscriber,
			  struct weir_subscription *subscription)
{
	weir_subscription_cancel(subscription);
	return taker_on_subscribe(subscriber, subscription);
}

static void cancel_or_a_bad_request_inside_on_subscribe(void **state)
{
	static struct weir_subscriber_ops ops;
	struct taker taker;
	struct ends ends;
	int bad;

	ops = taker_ops;
	for (bad = 0; bad < 2; bad++) {
		ends_init(&ends, 8, 0);
		taker_init(&taker, &ends.ledger, bad ? -1 : 0, 0);
		ops.on_subscribe = bad ? taker_on_subscribe : cancel_at_once;
		taker.subscriber.ops = &ops;
		subscribe(&ends.out, &taker.subscriber);
		ends_start(&ends);
		taker_check(&taker, 0, bad ? -EINVAL : 1);
		assert_int_equal(ends.source.fate.stopped, 1);
		taker_fini(&taker);
		ends_fini(&ends);
	}
}

/* Subscribes another one to the same publisher, inside on_next. */
struct inviter {
	struct taker taker, guest;
	struct weir_publisher *publisher;
};

static int invite(struct weir_subscriber *subscriber, void *item)
{
	struct inviter *self =
		weir_container_of(taker_of(subscriber), struct inviter, taker);

	if (self->taker.seen == 4) {
		assert_int_equal(weir_subscribe(self->publisher,
						&self->guest.subscriber),
				 0);
		assert_int_equal(self->guest.subscribed, 0); /* not from here */
	}
	return taker_on_next(subscriber, item);
}

static void a_subscriber_brings_another_inside_on_next(void **state)
{
	static struct weir_subscriber_ops ops;
	struct inviter self;
	struct ends ends;

	ops = taker_ops;
	ops.on_next = invite;
	ends_init(&ends, 8, 0);
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_BROADCAST, 8), 0);
	taker_init(&self.taker, &ends.ledger, 1, 1);
	taker_init(&self.guest, &ends.ledger, 1, 1);
	self.guest.ordered = false;
	self.taker.subscriber.ops = &ops;
	self.publisher = &ends.out.publisher;
	subscribe(&ends.out, &self.taker.subscriber);
	ends_start(&ends);
	taker_check(&self.taker, N, 0);
	taker_check(&self.guest, N - 5, 0);
	taker_fini(&self.taker);
	taker_fini(&self.guest);
	ends_fini(&ends);
}

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
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_BROADCAST, 8), 0);
	taker_init(&first, &ends.ledger, 5, 0);
	taker_init(&second, &ends.ledger, INT64_MAX, 0);
	second.ordered = false;
	subscribe(&ends.out, &first.subscriber);
	ends_start(&ends);
	subscribe(&ends.out, &second.subscriber);
	weir_subscription_cancel(first.subscription);
	weir_sim_run(ends.sim);
	taker_check(&first, 5, 1);
	taker_check(&second, N - 5, 0);
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
	link_rc = weir_link(
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
						      WEIR_BROADCAST, 8),
					 0);
		sink_init(&other, ends.executor, &ends.ledger, 8);
		other.ordered = true;
		assert_int_equal(weir_actor_start(&ends.source.actor), 0);
		weir_sim_run(ends.sim);
		subscribe(&ends.out, &ends.in.subscriber);
		weir_sim_run(ends.sim); /* offered */
		assert_non_null(ends.out.offers);
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
		ends_init(&ends, 8, WEIR_STAY);
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

/* --- Null items ----------------------------------------------------------- */

struct nulls {
	struct weir_actor actor;
	struct weir_out out;
	size_t next, null_at, dropped;
};

static inline int nulls_turn(struct weir_actor *actor)
{
	struct nulls *self = weir_container_of(actor, struct nulls, actor);
	size_t i = ++self->next;

	assert_int_equal(weir_out_put(&self->out,
				      i == self->null_at ? NULL : (void *)i),
			 0);
	return i == N ? WEIR_FINISH : 0;
}
WEIR_TURN(nulls_turn)

static void drop_null(void *item, void *context)
{
	struct nulls *self = context;

	self->dropped++;
}

/* First, and behind others that come with it. */
static void a_null_item_ends_the_stream_with_an_error(void **state)
{
	static const struct weir_actor_ops ops = {.turns = nulls_turn_n};
	struct weir_reactive_out reactive;
	struct ledger ledger;
	struct taker taker;
	size_t null_at;

	for (null_at = 1; null_at <= 20; null_at++) {
		struct weir_sim *sim = sim_new(null_at);
		struct nulls self = {.null_at = null_at};
		struct weir_items items = {.drop = drop_null, .context = &self};

		ledger_init(&ledger, N);
		assert_int_equal(weir_actor_init(&self.actor, &ops,
						 weir_sim_executor(sim)),
				 0);
		assert_int_equal(weir_out_init(&self.out, &self.actor, &items),
				 0);
		assert_int_equal(
			weir_reactive_out_init(&reactive, &self.out, NULL), 0);
		taker_init(&taker, &ledger, INT64_MAX, 0);
		subscribe(&reactive, &taker.subscriber);
		assert_int_equal(weir_actor_start(&self.actor), 0);
		weir_sim_run(sim);
		taker_check(&taker, null_at - 1, -EINVAL);
		assert_non_null(strstr(taker.error->message, "null"));
		assert_int_equal(self.dropped, self.next - taker.seen);
		taker_fini(&taker);
		ledger_fini(&ledger);
		sim_free(sim);
	}
}

/* --- Odd actors ----------------------------------------------------------- */

/* One token goes round until it has been seen often enough. */
static inline int round_turn(struct weir_actor *actor)
{
	struct stage *self = weir_container_of(actor, struct stage, actor);
	void *item = weir_in_take(&self->in);

	if (++self->seen == N) {
		(void)ledger_deliver(self->ledger, item);
		return WEIR_FINISH;
	}
	return weir_out_put(&self->out, item);
}
WEIR_TURN(round_turn)

static void an_actor_may_subscribe_to_itself(void **state)
{
	static struct weir_actor_ops ops;
	struct weir_reactive_in_options one = {.prefetch = 1};
	struct weir_reactive_out out;
	struct weir_reactive_in in;
	struct ledger ledger;
	struct stage self;
	int how;

	ops = stage_ops;
	ops.turns = round_turn_n;
	/* a link before the start, an offer to itself, no link */
	for (how = 0; how < 3; how++) {
		struct weir_sim *sim = sim_new(1);

		ledger_init(&ledger, N);
		stage_init(&self, weir_sim_executor(sim), &ledger, 4);
		self.actor.ops = &ops;
		self.actor.turns = ops.turns;
		assert_int_equal(weir_reactive_out_init(&out, &self.out, NULL),
				 0);
		assert_int_equal(weir_reactive_in_init(&in, &self.in,
						       how == 2 ? &one : NULL),
				 0);
		if (how == 0)
			subscribe(&out, &in.subscriber);
		assert_int_equal(weir_actor_start(&self.actor), 0);
		weir_sim_run(sim);
		if (how > 0)
			subscribe(&out, &in.subscriber);
		weir_sim_run(sim);
		assert_int_equal(self.fate.stopped, 0);
		if (how < 2)
			assert_ptr_equal(self.out.lane, &self.in.lane);
		weir_actor_stop(&self.actor);
		weir_sim_run(sim);
		assert_int_equal(self.fate.released, 1);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		sim_free(sim);
	}
}

static void a_suspended_actor_has_subscribers(void **state)
{
	struct ends ends;
	struct taker taker;

	ends_init(&ends, 8, WEIR_STAY);
	weir_actor_suspend(&ends.source.actor);
	taker_init(&taker, &ends.ledger, 3, 0);
	subscribe(&ends.out, &taker.subscriber);
	ends_start(&ends);
	assert_int_equal(taker.subscribed, 1);
	assert_int_equal(taker.seen, 0);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(ends.sim);
	taker_check(&taker, 0, 1);
	taker_fini(&taker);
	subscribe(&ends.out, &ends.in.subscriber);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, 0);
	weir_actor_resume(&ends.source.actor);
	weir_sim_run(ends.sim);
	assert_int_equal(ends.sink.seen, N);
	ends_fini(&ends);
}

static void beside_an_any_and_with_statistics(void **state)
{
	struct weir_reactive_in_options options = {.prefetch = 3};
	struct weir_reactive_in in;
	struct weir_any any;
	struct weir_stats stats = {0}, put = {0};
	struct ends ends;
	struct sink sink;

	ends_init(&ends, 8, 0);
	sink_init(&sink, ends.executor, &ends.ledger, 8);
	sink.ordered = true;
	assert_int_equal(weir_reactive_in_init(&in, &sink.in, &options), 0);
	assert_int_equal(weir_any_init(&any, &sink.actor), 0);
	assert_int_equal(weir_any_add(&any, &sink.in.port), 0);
	assert_int_equal(weir_actor_set_stats(&sink.actor, &stats), 0);
	assert_int_equal(weir_actor_set_stats(&ends.source.actor, &put), 0);
	subscribe(&ends.out, &in.subscriber);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	ends_start(&ends);
	assert_int_equal(sink.seen, N);
	fate_check(&sink.fate, 0);
	assert_int_equal(stats.taken, N);
	assert_int_equal(put.put, N);
	ends_fini(&ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_is_taken_in_part_or_cancelled_or_all),
		cmocka_unit_test(who_refuses_the_last_signal_is_reported),
		cmocka_unit_test(cancel_or_a_bad_request_inside_on_subscribe),
		cmocka_unit_test(a_subscriber_brings_another_inside_on_next),
		cmocka_unit_test(a_null_item_ends_the_stream_with_an_error),
		cmocka_unit_test(an_actor_may_subscribe_to_itself),
		cmocka_unit_test(a_suspended_actor_has_subscribers),
		cmocka_unit_test(beside_an_any_and_with_statistics),
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
