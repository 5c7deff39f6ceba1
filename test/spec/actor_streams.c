/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol of an actor that is a subscriber (A2) or a publisher (A3), after
 * Akka's ActorSubscriber and ActorPublisher, as far as nobody restarts or
 * stops it. The turn and the handlers are "the handler" there.
 */
#include "stream/ends.h"

#include <weir/weir.h>

#define N 100

/* --- A2: a subscriber ----------------------------------------------------- */

struct reader {
	struct sink sink;
	struct weir_reactive_in reactive;
	struct giver giver;
	struct ledger ledger;
	struct weir_sim *sim;
	/* what the strategy was asked with, and how often */
	int64_t remaining;
	size_t asked, seen_when_asked;
	int64_t answer;
	int rc;
};

static int64_t ask(int64_t remaining, void *context)
{
	struct reader *self = context;

	self->remaining = remaining;
	self->asked++;
	self->seen_when_asked = self->sink.seen;
	return remaining < self->answer ? self->answer - remaining : 0;
}

/* Lives on behind the end of its stream. */
static int stay(struct weir_actor *actor, struct weir_in *in,
		struct weir_error *error)
{
	struct reader *self =
		weir_container_of(actor, struct reader, sink.actor);

	(void)in;
	self->sink.ended++;
	self->sink.end_code = error ? error->code : 0;
	return 0;
}

static int request_two(struct weir_actor *actor)
{
	struct reader *self =
		weir_container_of(actor, struct reader, sink.actor);

	self->rc = weir_reactive_in_request(&self->reactive, 2);
	return 0;
}

static void reader_init(struct reader *self, int64_t answer)
{
	static struct weir_actor_ops ops;
	struct weir_reactive_in_options options = {.demand = ask,
						   .context = self};

	memset(self, 0, sizeof(*self));
	ops = sink_ops;
	ops.ended = stay;
	ops.signalled = request_two;
	self->sim = sim_new(1);
	self->answer = answer;
	ledger_init(&self->ledger, N);
	sink_init(&self->sink, weir_sim_executor(self->sim), &self->ledger, 8);
	self->sink.actor.ops = &ops;
	self->sink.ordered = true;
	assert_int_equal(weir_reactive_in_init(&self->reactive, &self->sink.in,
					       &options),
			 0);
	giver_init(&self->giver, &self->ledger, &self->reactive.subscriber);
	assert_int_equal(weir_actor_start(&self->sink.actor), 0);
	weir_sim_run(self->sim);
}

static void reader_begin(struct reader *self)
{
	assert_int_equal(giver_begin(&self->giver), 0);
	weir_sim_run(self->sim);
}

static void reader_send(struct reader *self)
{
	assert_int_equal(giver_send(&self->giver), 0);
	weir_sim_run(self->sim);
}

static void reader_signal(struct reader *self)
{
	weir_actor_signal(&self->sink.actor);
	weir_sim_run(self->sim);
}

static void reader_fini(struct reader *self)
{
	weir_actor_stop(&self->sink.actor);
	weir_sim_run(self->sim);
	giver_done(&self->giver);
	assert_int_equal(self->sink.fate.released, 1);
	ledger_check(&self->ledger);
	ledger_fini(&self->ledger);
	sim_free(self->sim);
}

static void a2_2_demand_before_the_subscription_is_one_request(void **state)
{
	struct reader reader;

	reader_init(&reader, 3);
	assert_int_equal(reader.asked > 0, 1);
	reader_signal(&reader); /* two more */
	assert_int_equal(reader.rc, 0);
	reader_begin(&reader);
	assert_int_equal(reader.giver.requests, 1);
	assert_int_equal(reader.giver.requested, 5);
	reader_fini(&reader);
}

static void a2_3_an_element_counts_before_it_is_handled(void **state)
{
	struct reader reader;
	size_t asked;

	reader_init(&reader, 1);
	reader_begin(&reader);
	asked = reader.asked;
	reader_send(&reader);
	/* asked behind the handler, without what it has got */
	assert_true(reader.asked > asked);
	assert_int_equal(reader.seen_when_asked, 1);
	assert_int_equal(reader.giver.requested, 2);
	reader_fini(&reader);
}

static void a2_4_a_request_adds_to_what_remains(void **state)
{
	struct reader reader;

	reader_init(&reader, 1);
	reader_begin(&reader);
	assert_int_equal(reader.giver.requested, 1);
	reader_signal(&reader);
	assert_int_equal(reader.giver.requested, 3);
	reader_signal(&reader);
	assert_int_equal(reader.remaining, 5);
	reader_fini(&reader);
}

static void a2_4_what_is_not_positive_is_not_requested(void **state)
{
	struct reader reader;

	reader_init(&reader, -3);
	reader_begin(&reader);
	assert_int_equal(reader.giver.requests, 0);
	assert_int_equal(weir_reactive_in_request(&reader.reactive, 0),
			 -EINVAL);
	assert_int_equal(weir_reactive_in_request(&reader.reactive, -1),
			 -EINVAL);
	weir_sim_run(reader.sim);
	assert_int_equal(reader.giver.requests, 0);
	reader_fini(&reader);
}

static void a2_5_a_second_subscription_is_cancelled(void **state)
{
	struct reader reader;
	struct giver second;

	reader_init(&reader, 1);
	reader_begin(&reader);
	giver_init(&second, &reader.ledger, &reader.reactive.subscriber);
	assert_int_equal(giver_begin(&second), 0);
	weir_sim_run(reader.sim);
	assert_int_equal(second.cancels, 1);
	assert_int_equal(second.requests, 0);
	giver_done(&second);
	reader_send(&reader);
	assert_int_equal(reader.sink.seen, 1);
	assert_int_equal(reader.giver.cancels, 0);
	reader_fini(&reader);
}

static void a2_6_the_end_comes_once_and_the_actor_lives_on(void **state)
{
	struct reader reader;
	struct weir_subscriber *subscriber;
	size_t requests;

	reader_init(&reader, 2);
	reader_begin(&reader);
	subscriber = &reader.reactive.subscriber;
	assert_int_equal(
		subscriber->ops->on_error(subscriber, weir_error_of(-EIO)), 0);
	assert_int_equal(subscriber->ops->on_complete(subscriber), 0);
	weir_sim_run(reader.sim);
	assert_int_equal(reader.sink.ended, 1);
	assert_int_equal(reader.sink.end_code, -EIO);
	assert_int_equal(reader.sink.fate.stopped, 0);
	/* what comes later is dropped, what is asked for is not asked for */
	requests = reader.giver.requests;
	reader_send(&reader);
	reader_signal(&reader);
	assert_int_equal(reader.rc, 0);
	assert_int_equal(reader.sink.seen, 0);
	assert_int_equal(ledger_dropped(&reader.ledger), 1);
	assert_int_equal(reader.giver.requests, requests);
	reader_fini(&reader);
}

/* --- A3: a publisher ------------------------------------------------------ */

struct writer {
	struct source source;
	struct weir_reactive_out reactive;
	struct ledger ledger;
	struct weir_sim *sim;
	uint32_t room; /* at the last turn */
	size_t turns;
	size_t left; /* turns that put */
	uint32_t cancels;
	bool late; /* as the handler saw it */
	struct weir_subscriber *joining;
};

static int write_one(struct weir_actor *actor)
{
	struct writer *self =
		weir_container_of(actor, struct writer, source.actor);

	self->room = weir_out_room(&self->source.out);
	self->turns++;
	if (!self->left) { /* takes no part any more until somebody says so */
		(void)weir_port_ignore(&self->source.out.port);
		return 0;
	}
	self->left--;
	return weir_out_put(&self->source.out,
			    ledger_make(&self->ledger, self->source.next++));
}
WEIR_TURN(write_one)

static int count_cancel(struct weir_actor *actor, struct weir_out *out)
{
	struct writer *self =
		weir_container_of(actor, struct writer, source.actor);

	(void)out;
	self->cancels++;
	self->late = weir_reactive_out_late(&self->reactive);
	return 0;
}

/* Its turn may look again. */
static int require_out(struct weir_actor *actor)
{
	return weir_port_require(
		&weir_container_of(actor, struct writer, source.actor)
			 ->source.out.port);
}

static void writer_init_with(struct writer *self, size_t puts,
			     const struct weir_reactive_out_options *options)
{
	static const struct weir_actor_ops ops = {
		.name = "writer",
		.turns = write_one_n,
		.cancelled = count_cancel,
		.signalled = require_out,
		.stopped = source_stopped,
		.released = source_released,
	};

	memset(self, 0, sizeof(*self));
	self->sim = sim_new(1);
	self->left = puts;
	ledger_init(&self->ledger, N);
	source_init(&self->source, weir_sim_executor(self->sim), &self->ledger,
		    1, N);
	self->source.actor.ops = &ops;
	self->source.actor.turns = write_one_n;
	assert_int_equal(weir_reactive_out_init(&self->reactive,
						&self->source.out, options),
			 0);
}

static void writer_init(struct writer *self, size_t puts)
{
	writer_init_with(self, puts, NULL);
}

static void writer_start(struct writer *self)
{
	assert_int_equal(weir_actor_start(&self->source.actor), 0);
	weir_sim_run(self->sim);
}

static void writer_subscribe(struct writer *self, struct taker *taker,
			     int64_t first)
{
	taker_init(taker, &self->ledger, first, 0);
	assert_int_equal(weir_publisher_subscribe(&self->reactive.publisher,
						  &taker->subscriber),
			 0);
}

static void writer_fini(struct writer *self)
{
	weir_actor_stop(&self->source.actor);
	weir_sim_run(self->sim);
	ledger_check(&self->ledger);
	ledger_fini(&self->ledger);
	sim_free(self->sim);
}

static void a3_2_the_end_is_said_once(void **state)
{
	struct writer writer;
	struct taker taker;

	writer_init(&writer, 0);
	writer_subscribe(&writer, &taker, 0);
	assert_int_equal(weir_out_end(&writer.source.out, weir_error_of(-EIO)),
			 0);
	assert_int_equal(weir_out_end(&writer.source.out, NULL), -EALREADY);
	writer_start(&writer);
	taker_check(&taker, 0, -EIO);
	/* plain ends do not stop the actor */
	assert_int_equal(writer.source.fate.stopped, 0);
	taker_fini(&taker);
	writer_fini(&writer);
}

static void a3_2_the_end_waits_for_the_first_subscriber(void **state)
{
	struct writer writer;
	struct taker taker;

	writer_init(&writer, 0);
	assert_int_equal(weir_out_end(&writer.source.out, NULL), 0);
	writer_start(&writer);
	writer_subscribe(&writer, &taker, 0);
	weir_sim_run(writer.sim);
	assert_int_equal(taker.subscribed, 1);
	taker_check(&taker, 0, 0);
	taker_fini(&taker);
	writer_fini(&writer);
}

static void a3_4_requests_add_up_and_saturate(void **state)
{
	struct writer writer;
	struct taker taker;

	writer_init(&writer, N);
	writer_subscribe(&writer, &taker, INT64_MAX - 1);
	writer_start(&writer);
	weir_subscription_request(taker.subscription, INT64_MAX);
	weir_subscription_request(taker.subscription, INT64_MAX);
	weir_sim_run(writer.sim);
	taker_check(&taker, N, 1);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(writer.sim);
	taker_fini(&taker);
	writer_fini(&writer);
}

static void a3_5_a_bad_request_is_an_error_that_no_turn_sees(void **state)
{
	struct writer writer;
	struct taker taker;

	writer_init(&writer, N);
	writer_subscribe(&writer, &taker, -1);
	writer_start(&writer);
	taker_check(&taker, 0, -EINVAL);
	assert_int_equal(writer.turns, 0);
	weir_subscription_request(taker.subscription, -1);
	weir_sim_run(writer.sim);
	taker_check(&taker, 0, -EINVAL);
	taker_fini(&taker);
	writer_fini(&writer);
}

static void a3_6_the_turn_sees_the_sum_of_the_requests(void **state)
{
	struct writer writer;
	struct taker taker;

	writer_init(&writer, 0);
	writer_subscribe(&writer, &taker, 2);
	writer_start(&writer);
	assert_int_equal(writer.room, 2);
	assert_int_equal(writer.turns, 1);
	weir_subscription_request(taker.subscription, 3);
	weir_actor_signal(&writer.source.actor);
	weir_sim_run(writer.sim);
	assert_int_equal(writer.room, 5);
	assert_int_equal(writer.turns, 2);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(writer.sim);
	taker_fini(&taker);
	writer_fini(&writer);
}

static void a3_7_there_is_one_subscriber(void **state)
{
	struct writer writer;
	struct taker first, second, third;

	writer_init(&writer, 1);
	writer_subscribe(&writer, &first, 1);
	writer_start(&writer);
	writer_subscribe(&writer, &second, 1);
	weir_sim_run(writer.sim);
	taker_check(&second, 0, -EISCONN);
	taker_check(&first, 1, 1);
	weir_subscription_cancel(first.subscription);
	weir_sim_run(writer.sim);
	writer_subscribe(&writer, &third, 1);
	weir_sim_run(writer.sim);
	taker_check(&third, 0, -ECANCELED);
	taker_fini(&first);
	taker_fini(&second);
	taker_fini(&third);
	writer_fini(&writer);
}

static void a3_8_cancel_is_seen_once(void **state)
{
	struct writer writer;
	struct taker taker;

	writer_init(&writer, 1);
	writer_subscribe(&writer, &taker, 1);
	writer_start(&writer);
	weir_subscription_cancel(taker.subscription);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(writer.sim);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(writer.sim);
	assert_int_equal(writer.cancels, 1);
	assert_int_equal(taker.released, 1);
	taker_fini(&taker);
	writer_fini(&writer);
}

#define TIMEOUT_NS UINT64_C(3000000000)
static const struct weir_reactive_out_options in_time = {
	.timeout_ns = TIMEOUT_NS,
};

static uint64_t writer_now(const struct writer *self)
{
	return weir_executor_now(self->source.actor.executor);
}

static void a3_9_nobody_in_time_is_a_cancel(void **state)
{
	struct writer writer;
	struct taker taker;

	writer_init_with(&writer, 1, &in_time);
	/* it begins when the actor does */
	weir_sim_run_until(writer.sim, 5, UINT64_MAX);
	assert_int_equal(weir_actor_start(&writer.source.actor), 0);
	weir_sim_run_until(writer.sim, TIMEOUT_NS + 4, UINT64_MAX);
	assert_int_equal(writer.cancels, 0);
	assert_false(weir_reactive_out_late(&writer.reactive));
	weir_sim_run_until(writer.sim, TIMEOUT_NS + 5, UINT64_MAX);
	assert_int_equal(writer.cancels, 1);
	assert_true(writer.late);
	/* the rest is the handler's to decide */
	assert_int_equal(writer.source.fate.stopped, 0);
	writer_subscribe(&writer, &taker, 1);
	weir_actor_signal(&writer.source.actor);
	weir_sim_run(writer.sim);
	assert_int_equal(taker.subscribed, 1);
	taker_check(&taker, 0, -ETIMEDOUT);
	assert_int_equal(writer.cancels, 1);
	taker_fini(&taker);
	writer_fini(&writer);
}

static void a3_9_without_a_handler_nobody_in_time_finishes(void **state)
{
	static struct weir_actor_ops ops;
	struct writer writer;

	writer_init_with(&writer, 1, &in_time);
	ops = *writer.source.actor.ops;
	ops.cancelled = NULL;
	writer.source.actor.ops = &ops;
	writer_start(&writer);
	assert_int_equal(writer_now(&writer), TIMEOUT_NS);
	fate_check(&writer.source.fate, 0);
	ledger_fini(&writer.ledger);
	sim_free(writer.sim);
}

static void a3_9_the_first_subscriber_ends_the_timeout(void **state)
{
	struct writer writer;
	struct taker taker;

	writer_init_with(&writer, 1, &in_time);
	assert_int_equal(weir_actor_start(&writer.source.actor), 0);
	weir_sim_run_until(writer.sim, TIMEOUT_NS - 1, UINT64_MAX);
	writer_subscribe(&writer, &taker, 1);
	weir_sim_run(writer.sim);
	/* no timer is left */
	assert_int_equal(writer_now(&writer), TIMEOUT_NS - 1);
	taker_check(&taker, 1, 1);
	assert_int_equal(writer.cancels, 0);
	weir_subscription_cancel(taker.subscription);
	weir_sim_run(writer.sim);
	assert_int_equal(writer.cancels, 1);
	assert_false(writer.late);
	taker_fini(&taker);
	writer_fini(&writer);
}

static void a3_9_a_subscriber_at_the_last_moment_is_served_or_told(void **state)
{
	struct weir_executor *executor;
	struct writer writer;
	struct taker taker;
	bool served;
	int i;

	/* in the same slice as the timeout, and in the next */
	for (i = 0; i < 2; i++) {
		writer_init_with(&writer, 1, &in_time);
		executor = writer.source.actor.executor;
		assert_int_equal(weir_actor_start(&writer.source.actor), 0);
		weir_sim_run_until(writer.sim, TIMEOUT_NS - 1, UINT64_MAX);
		while (weir_executor_now(executor) < TIMEOUT_NS)
			assert_true(weir_sim_step(writer.sim));
		if (i)
			assert_true(weir_sim_step(writer.sim));
		writer_subscribe(&writer, &taker, 1);
		weir_sim_run(writer.sim);
		served = i == 0;
		taker_check(&taker, served, served ? 1 : -ETIMEDOUT);
		assert_int_equal(writer.cancels, !served);
		weir_subscription_cancel(taker.subscription);
		weir_sim_run(writer.sim);
		taker_fini(&taker);
		writer_fini(&writer);
	}
}

static int subscribe_joining(struct weir_actor *actor)
{
	struct writer *self =
		weir_container_of(actor, struct writer, source.actor);

	return weir_publisher_subscribe(&self->reactive.publisher,
					self->joining);
}

static void a3_9_a_link_ends_the_timeout_too(void **state)
{
	static struct weir_actor_ops ops;
	struct weir_reactive_in in;
	struct writer writer;
	struct sink sink;
	int i;

	/* before the start, and in a handler, which owns both ends */
	for (i = 0; i < 2; i++) {
		writer_init_with(&writer, N, &in_time);
		ops = *writer.source.actor.ops;
		ops.signalled = subscribe_joining;
		writer.source.actor.ops = &ops;
		writer.joining = &in.subscriber;
		sink_init(&sink, writer.source.actor.executor, &writer.ledger,
			  8);
		assert_int_equal(weir_reactive_in_init(&in, &sink.in, NULL), 0);
		if (i == 0)
			assert_int_equal(weir_publisher_subscribe(
						 &writer.reactive.publisher,
						 &in.subscriber),
					 0);
		assert_int_equal(weir_actor_start(&writer.source.actor), 0);
		weir_sim_run_until(writer.sim, i, UINT64_MAX);
		if (i == 1)
			weir_actor_signal(&writer.source.actor);
		weir_sim_run_until(writer.sim, 1, UINT64_MAX);
		assert_int_equal(weir_actor_start(&sink.actor), 0);
		weir_sim_run(writer.sim);
		assert_int_equal(writer_now(&writer), 1);
		assert_int_equal(sink.seen, N);
		assert_int_equal(writer.cancels, 0);
		writer_fini(&writer);
		assert_int_equal(sink.fate.released, 1);
	}
}

static void a3_9_who_would_stay_is_cancelled_as_well(void **state)
{
	static const struct weir_reactive_out_options options = {
		.flags = WEIR_REACTIVE_STAY,
		.timeout_ns = TIMEOUT_NS,
	};
	struct writer writer;
	struct taker taker;
	int i;

	for (i = 0; i < 2; i++) {
		writer_init_with(&writer, 1, &options);
		if (i)
			writer_subscribe(&writer, &taker, 1);
		writer_start(&writer);
		assert_int_equal(writer.cancels, i == 0);
		if (i) {
			weir_subscription_cancel(taker.subscription);
			weir_sim_run(writer.sim);
			/* the timeout is for the first one only */
			assert_int_equal(writer_now(&writer), 0);
			assert_int_equal(writer.cancels, 0);
			taker_fini(&taker);
		}
		writer_fini(&writer);
	}
}

static int end_out(struct weir_actor *actor)
{
	return weir_out_end(&weir_container_of(actor, struct writer,
					       source.actor)
				     ->source.out,
			    NULL);
}

static void a3_9_the_end_leaves_no_timer(void **state)
{
	static struct weir_actor_ops ops;
	struct writer writer;
	int i;

	for (i = 0; i < 2; i++) {
		writer_init_with(&writer, 1, &in_time);
		ops = *writer.source.actor.ops;
		ops.signalled = end_out;
		writer.source.actor.ops = &ops;
		assert_int_equal(weir_actor_start(&writer.source.actor), 0);
		weir_sim_run_until(writer.sim, 1, UINT64_MAX);
		if (i) /* its stream ends, and it lives on */
			weir_actor_signal(&writer.source.actor);
		else
			weir_actor_stop(&writer.source.actor);
		weir_sim_run(writer.sim);
		assert_int_equal(writer.source.fate.stopped, i == 0);
		assert_int_equal(writer_now(&writer), 1);
		assert_int_equal(writer.cancels, 0);
		writer_fini(&writer);
	}
}

static void a3_9_a_timeout_needs_timers(void **state)
{
	struct weir_executor_ops ops;
	struct weir_executor executor;
	struct weir_reactive_out reactive;
	struct weir_sim *sim = sim_new(1);
	struct ledger ledger = {0};
	struct source source;

	ops = *weir_sim_executor(sim)->ops;
	ops.timer_arm = NULL;
	ops.timer_cancel = NULL;
	assert_int_equal(weir_executor_init(&executor, &ops, NULL), 0);
	source_init(&source, &executor, &ledger, 1, 1);
	assert_int_equal(weir_reactive_out_init(&reactive, &source.out,
						&in_time),
			 -ENOTSUP);
	assert_int_equal(weir_reactive_out_init(&reactive, &source.out, NULL),
			 0);
	assert_false(weir_reactive_out_late(NULL));
	weir_actor_stop(&source.actor);
	assert_int_equal(weir_executor_fini(&executor), 0);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a2_2_demand_before_the_subscription_is_one_request),
		cmocka_unit_test(a2_3_an_element_counts_before_it_is_handled),
		cmocka_unit_test(a2_4_a_request_adds_to_what_remains),
		cmocka_unit_test(a2_4_what_is_not_positive_is_not_requested),
		cmocka_unit_test(a2_5_a_second_subscription_is_cancelled),
		cmocka_unit_test(
			a2_6_the_end_comes_once_and_the_actor_lives_on),
		cmocka_unit_test(a3_2_the_end_is_said_once),
		cmocka_unit_test(a3_2_the_end_waits_for_the_first_subscriber),
		cmocka_unit_test(a3_4_requests_add_up_and_saturate),
		cmocka_unit_test(
			a3_5_a_bad_request_is_an_error_that_no_turn_sees),
		cmocka_unit_test(a3_6_the_turn_sees_the_sum_of_the_requests),
		cmocka_unit_test(a3_7_there_is_one_subscriber),
		cmocka_unit_test(a3_8_cancel_is_seen_once),
		cmocka_unit_test(a3_9_nobody_in_time_is_a_cancel),
		cmocka_unit_test(
			a3_9_without_a_handler_nobody_in_time_finishes),
		cmocka_unit_test(a3_9_the_first_subscriber_ends_the_timeout),
		cmocka_unit_test(
			a3_9_a_subscriber_at_the_last_moment_is_served_or_told),
		cmocka_unit_test(a3_9_a_link_ends_the_timeout_too),
		cmocka_unit_test(a3_9_who_would_stay_is_cancelled_as_well),
		cmocka_unit_test(a3_9_the_end_leaves_no_timer),
		cmocka_unit_test(a3_9_a_timeout_needs_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
