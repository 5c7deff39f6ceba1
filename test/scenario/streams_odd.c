/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams over ports where executors run at once or refuse, where counters
 * wrap, and where an actor feeds itself.
 */
#include "stream/meet.h"

#include <weir/any.h>

#include "actor/in.h"

/* --- Executors that a user may write -------------------------------------- */

/* Runs submissions at once; refuses that one and later ones, or one alone. */
struct direct {
	struct weir_executor executor;
	uint64_t submits, refuse_from, refuse_one;
};

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	struct direct *self = (struct direct *)executor;

	self->submits++;
	if ((self->refuse_from && self->submits >= self->refuse_from) ||
	    self->submits == self->refuse_one)
		return -ENOSPC;
	weir_task_run(task);
	return 0;
}

static uint64_t now(struct weir_executor *executor)
{
	return 0;
}

static void direct_init(struct direct *self, uint64_t refuse_from)
{
	static const struct weir_executor_ops ops = {.submit = submit,
						     .now = now};

	memset(self, 0, sizeof(*self));
	self->refuse_from = refuse_from;
	assert_int_equal(weir_executor_init(&self->executor, &ops, NULL), 0);
}

/* Nobody gets more than one signal at a time, which the taker checks. */
static void taker_on(struct direct *direct)
{
	struct ledger ledger;
	struct source source;
	struct weir_reactive_out out;
	struct taker taker;

	ledger_init(&ledger, N);
	source_init(&source, &direct->executor, &ledger, 1, N);
	assert_int_equal(weir_reactive_out_init(&out, &source.out, NULL), 0);
	weir_actor_ref(&source.actor);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	taker_init(&taker, &ledger, 0, 1);
	subscribe(&out, &taker.subscriber);
	assert_int_equal(taker.subscribed, 1);
	weir_subscription_request(taker.subscription, 1);
	if (direct->refuse_from)
		assert_int_equal(taker.errors + taker.completes, 1);
	else
		taker_check(&taker, N, 0);
	taker_fini(&taker);
	weir_actor_unref(&source.actor);
	assert_int_equal(source.fate.released, 1);
	ledger_check(&ledger);
	ledger_fini(&ledger);
}

static void sink_on(struct direct *direct, size_t prefetch)
{
	struct weir_reactive_in_options options = {.prefetch = prefetch};
	struct ledger ledger;
	struct source source;
	struct sink sink;
	struct weir_reactive_out out;
	struct weir_reactive_in in;

	ledger_init(&ledger, N);
	source_init(&source, &direct->executor, &ledger, 1, N);
	sink_init(&sink, &direct->executor, &ledger, 8);
	sink.ordered = true;
	assert_int_equal(weir_reactive_out_init(&out, &source.out, NULL), 0);
	assert_int_equal(weir_reactive_in_init(&in, &sink.in, &options), 0);
	weir_actor_ref(&source.actor);
	weir_actor_ref(&sink.actor);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	subscribe(&out, &in.subscriber);
	if (!direct->refuse_from)
		assert_int_equal(sink.seen, N);
	weir_actor_stop(&source.actor);
	weir_actor_stop(&sink.actor);
	weir_actor_unref(&source.actor);
	weir_actor_unref(&sink.actor);
	assert_int_equal(source.fate.released, 1);
	assert_int_equal(sink.fate.released, 1);
	ledger_check(&ledger);
	ledger_fini(&ledger);
}

/* The source's start and the signal to it go before that of the actor between
 * which the first one would need: it was never served, and so has not left. */
static void who_is_refused_an_actor_between_does_not_end_the_publisher(
	void **state)
{
	struct weir_reactive_out out;
	struct taker first, second;
	struct source source;
	struct ledger ledger;
	struct direct direct;
	uint32_t burst;

	for (burst = 1; burst <= 2; burst++) {
		direct_init(&direct, 0);
		direct.refuse_one = 3;
		ledger_init(&ledger, N);
		source_init(&source, &direct.executor, &ledger, 1, N);
		if (burst == 1)
			assert_int_equal(weir_out_fan(&source.out,
						      WEIR_FAN_BROADCAST, 8),
					 0);
		assert_int_equal(weir_port_set_burst(&source.out.port, burst),
				 0);
		assert_int_equal(
			weir_reactive_out_init(&out, &source.out, NULL), 0);
		weir_actor_ref(&source.actor);
		assert_int_equal(weir_actor_start(&source.actor), 0);
		taker_init(&first, &ledger, 1, 0);
		subscribe(&out, &first.subscriber);
		taker_check(&first, 0, -ENOSPC);
		assert_int_equal(source.fate.stopped, 0);
		taker_init(&second, &ledger, INT64_MAX, 0);
		subscribe(&out, &second.subscriber);
		taker_check(&second, N, 0);
		taker_fini(&first);
		taker_fini(&second);
		weir_actor_unref(&source.actor);
		assert_int_equal(source.fate.released, 1);
		ledger_check(&ledger);
		ledger_fini(&ledger);
		assert_int_equal(weir_executor_fini(&direct.executor), 0);
	}
}

/* 0: never; the first two are the starts. */
static void an_executor_may_run_at_once_and_refuse(void **state)
{
	uint64_t refuse_from;
	struct direct direct;
	int how;

	for (how = 0; how < 3; how++)
		for (refuse_from = 0; refuse_from < 40; refuse_from++) {
			if (refuse_from == 1 || refuse_from == 2)
				continue;
			direct_init(&direct, refuse_from);
			if (how == 0)
				taker_on(&direct);
			else
				sink_on(&direct, how == 1 ? 0 : 3);
			assert_int_equal(weir_executor_fini(&direct.executor),
					 0);
		}
}

/* --- Counters ------------------------------------------------------------- */

/* As if that many tokens had gone through the in-port's put lane. */
static void set_count(struct weir_reactive_in *reactive, uint32_t count)
{
	struct weir_in *in = reactive->in;
	uint32_t i;

	ck_pr_store_32(weir__lane_tail_at(&in->lane),
		       weir__tail_word(count, false));
	ck_pr_store_32(weir__lane_head_at(&in->lane), count);
	ck_pr_store_32(weir__mpsc_head_copy_at(&in->lane), count);
	*weir__mpsc_seen_at(&in->lane) = count;
	for (i = count - in->taker.mask - 1; i != count; i++)
		ck_pr_store_32(&in->lane.u.seqs[i & in->taker.mask],
			       (i + 1) & WEIR__INDEX_MASK);
	in->taker.head = count;
	in->taker.limit = count;
	reactive->head = count;
}

static void all_counters_may_wrap(void **state)
{
	struct weir_reactive_in_options options = {.prefetch = 3};
	struct weir_reactive_in in;
	struct sink sink;
	struct ends ends;
	uint32_t left;

	for (left = 0; left < 20; left++) {
		ends_init(&ends, 8, 0);
		sink_init(&sink, ends.executor, &ends.ledger, 8);
		sink.ordered = true;
		assert_int_equal(weir_reactive_in_init(&in, &sink.in, &options),
				 0);
		set_count(&in, WEIR__INDEX_MASK - left);
		ends.source.out.putter.tail = UINT32_MAX - left;
		ends.source.out.putter.limit = UINT32_MAX - left;
		assert_int_equal(weir_actor_start(&sink.actor), 0);
		subscribe(&ends.out, &in.subscriber);
		assert_int_equal(weir_actor_start(&ends.source.actor), 0);
		weir_sim_run(ends.sim);
		assert_int_equal(sink.seen, N);
		fate_check(&sink.fate, 0);
		fate_check(&ends.source.fate, 0);
		ends_fini(&ends);
	}
}

/* The next `n` numbers, at once; those not accepted have been for nothing. */
static int put(struct ends *ends, struct sink *sink, size_t *next, size_t n)
{
	void *items[8];
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		items[i] = (void *)(*next + i);
	rc = weir__in_put(&sink->in, items, (uint32_t)n);
	for (i = 0; rc == 0 && i < n; i++)
		(void)ledger_make(&ends->ledger, (*next)++);
	return rc;
}

static void several_are_put_together_or_not_at_all(void **state)
{
	struct weir_reactive_in in;
	struct sink sink;
	struct ends ends;
	uint32_t left;
	size_t next;

	for (left = 0; left < 20; left++) {
		ends_init(&ends, 8, 0);
		sink_init(&sink, ends.executor, &ends.ledger, 8);
		sink.ordered = true;
		assert_int_equal(weir_reactive_in_init(&in, &sink.in, NULL), 0);
		set_count(&in, WEIR__INDEX_MASK - left);
		assert_int_equal(weir_actor_start(&sink.actor), 0);
		weir_sim_run(ends.sim);
		next = 1;
		assert_int_equal(put(&ends, &sink, &next, 5), 0);
		assert_int_equal(put(&ends, &sink, &next, 4), -EAGAIN);
		assert_int_equal(put(&ends, &sink, &next, 3), 0);
		assert_int_equal(put(&ends, &sink, &next, 1), -EAGAIN);
		weir_sim_run(ends.sim);
		assert_int_equal(sink.seen, 8);
		assert_int_equal(put(&ends, &sink, &next, 8), 0);
		weir_sim_run(ends.sim);
		assert_int_equal(sink.seen, 16);
		weir_actor_stop(&sink.actor);
		ends_fini(&ends);
	}
}

/* --- An actor that feeds itself ------------------------------------------- */

struct ring {
	struct weir_actor actor;
	struct weir_in loop, kick;
	struct weir_out out;
	struct weir_any any;
	struct weir_reactive_in subscriber;
	struct weir_reactive_out publisher;
	struct ledger *ledger;
	size_t seen, released;
};

static inline int ring_turn(struct weir_actor *actor)
{
	struct ring *self = weir_container_of(actor, struct ring, actor);
	void *item = weir_in_take(weir_in_count(&self->loop) ? &self->loop
							     : &self->kick);

	if (++self->seen < N)
		return weir_out_put(&self->out, item);
	(void)ledger_deliver(self->ledger, item);
	return WEIR_TURN_END;
}
WEIR_TURN(ring_turn)

static void ring_released(struct weir_actor *actor)
{
	weir_container_of(actor, struct ring, actor)->released++;
}

static void ring_init(struct ring *self, struct weir_executor *executor,
		      size_t prefetch)
{
	static const struct weir_actor_ops ops = {.turns = ring_turn_n,
						  .released = ring_released};
	struct weir_reactive_in_options options = {.prefetch = prefetch};
	struct weir_items *items = &self->ledger->items;

	assert_int_equal(weir_actor_init(&self->actor, &ops, executor), 0);
	assert_int_equal(weir_in_init(&self->loop, &self->actor, 4, items), 0);
	assert_int_equal(weir_in_init(&self->kick, &self->actor, 4, items), 0);
	assert_int_equal(weir_out_init(&self->out, &self->actor, items), 0);
	assert_int_equal(weir_any_init(&self->any, &self->actor), 0);
	assert_int_equal(weir_any_add(&self->any, &self->loop.port), 0);
	assert_int_equal(weir_any_add(&self->any, &self->kick.port), 0);
	assert_int_equal(
		weir_reactive_out_init(&self->publisher, &self->out, NULL), 0);
	assert_int_equal(weir_reactive_in_init(&self->subscriber, &self->loop,
					       &options),
			 0);
}

/* By a link before the start, by one it offers itself, and without one. */
static void an_item_goes_round_in_one_actor(void **state)
{
	int how;

	for (how = 0; how < 3; how++)
		for_each_seed(seed, test_count(200)) {
			struct weir_sim *sim = sim_new(seed);
			struct ledger ledger;
			struct ring self = {.ledger = &ledger};

			ledger_init(&ledger, N);
			ring_init(&self, weir_sim_executor(sim),
				  how == 2 ? 2 : 0);
			if (how == 0)
				subscribe(&self.publisher,
					  &self.subscriber.subscriber);
			assert_int_equal(weir_actor_start(&self.actor), 0);
			if (how > 0)
				subscribe(&self.publisher,
					  &self.subscriber.subscriber);
			assert_int_equal(weir_in_put(&self.kick,
						     ledger_make(&ledger, 1)),
					 0);
			weir_sim_run(sim);
			assert_int_equal(self.seen, N);
			assert_int_equal(self.released, 1);
			ledger_check(&ledger);
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
		return WEIR_TURN_END;
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
			assert_ptr_equal(self.out.putter.lane, &self.in.lane);
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

	ends_init(&ends, 8, WEIR_REACTIVE_STAY);
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
		cmocka_unit_test(an_executor_may_run_at_once_and_refuse),
		cmocka_unit_test(
			who_is_refused_an_actor_between_does_not_end_the_publisher),
		cmocka_unit_test(all_counters_may_wrap),
		cmocka_unit_test(several_are_put_together_or_not_at_all),
		cmocka_unit_test(an_item_goes_round_in_one_actor),
		cmocka_unit_test(an_actor_may_subscribe_to_itself),
		cmocka_unit_test(a_suspended_actor_has_subscribers),
		cmocka_unit_test(beside_an_any_and_with_statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
