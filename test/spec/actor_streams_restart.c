/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol of an actor that is a subscriber (A2) or a publisher (A3), where
 * it is restarted, stopped or fails. The rest of it is in actor_streams.c.
 */
#include "supervision/kit.h"

#include "stream/ends.h"

static void signal(struct play *play, const char *name)
{
	weir_actor_signal(&member(play, name)->actor);
	run(play);
}

/* --- A2: a subscriber ----------------------------------------------------- */

/* What stands beside the member `a`, whose in-port it makes a subscriber. */
static struct reader {
	struct weir_reactive_in reactive;
	struct giver giver;
	size_t asked;
	int64_t answer;
} reader;

static int64_t ask(int64_t remaining, void *context)
{
	reader.asked++;
	return remaining < reader.answer ? reader.answer - remaining : 0;
}

static void request_two(struct member *self)
{
	assert_int_equal(weir_reactive_in_request(&reader.reactive, 2), 0);
}

static void cancel_in(struct member *self)
{
	assert_int_equal(weir_in_cancel(&self->in), 0);
}

/* `a` wants so many items at once; its publisher has `sends`. */
static void add_reader(struct play *play, int64_t answer, int64_t sends)
{
	const struct weir_reactive_in_options options = {.demand = ask};
	struct member *a = member_new(play, "a");

	memset(&reader, 0, sizeof(reader));
	reader.answer = answer;
	assert_int_equal(
		weir_reactive_in_init(&reader.reactive, &a->in, &options), 0);
	giver_init(&reader.giver, &play->base.ledger,
		   &reader.reactive.subscriber);
	reader.giver.sends = sends;
	play_open(play);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
}

static void begin(struct play *play)
{
	assert_int_equal(giver_begin(&reader.giver), 0);
	run(play);
}

static void send(struct play *play)
{
	assert_int_equal(giver_send(&reader.giver), 0);
	run(play);
}

static void complete(struct play *play)
{
	struct weir_subscriber *subscriber = &reader.reactive.subscriber;

	assert_int_equal(subscriber->ops->on_complete(subscriber), 0);
	run(play);
}

/* True: it was asked since `asked`, which it brings up to date. */
static bool asked_since(size_t *asked)
{
	bool was = reader.asked > *asked;

	*asked = reader.asked;
	return was;
}

static void a2_1_the_strategy_is_asked_at_start_and_behind_each_handler(
	struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(TERMINATED)},
	};
	static const struct step steps[] = {
		{"a", PRE_START, .watch = "other"},
		{"a", TURN, .item = 2, .fail = RESTART},
	};
	size_t asked = 0;

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "other");
	add_reader(play, 1, 0);
	run(play);
	assert_true(asked_since(&asked)); /* nobody has subscribed yet */
	begin(play);
	assert_int_equal(reader.giver.requested, 1);
	asked = reader.asked;
	send(play);
	assert_int_equal(times(play, "a1.1"), 1);
	assert_true(asked_since(&asked));
	signal(play, "a");
	assert_true(asked_since(&asked));
	stop(play, "other");
	run(play);
	assert_int_equal(times(play, "a1.terminated"), 1);
	assert_true(asked_since(&asked));
	send(play);
	assert_int_equal(times(play, "a2.post_restart"), 1);
	assert_true(asked_since(&asked));
	assert_int_equal(reader.giver.requested, 3);
	stop(play, "a");
	run(play);
	giver_done(&reader.giver);
}

/* Asked of one that has restarted, also if nothing else happens. */
static void a2_1_the_strategy_is_asked_after_a_restart(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .generation = 1, .fail = RESTART},
	};
	int64_t requested;

	SCRIPT(play, steps);
	add_reader(play, 1, 0);
	begin(play);
	requested = reader.giver.requested;
	reader.answer = 3; /* known to those who ask only */
	signal(play, "a");
	assert_int_equal(member(play, "a")->generation, 2);
	assert_int_equal(reader.giver.requested, requested + 2);
	stop(play, "a");
	run(play);
	giver_done(&reader.giver);
}

static void a2_7_cancel_reaches_the_publisher_and_it_can_stop(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .call = cancel_in, .finish = true},
	};

	SCRIPT(play, steps);
	add_reader(play, 4, 3);
	begin(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop");
	assert_int_equal(reader.giver.cancels, 1);
	assert_false(alive(play, "a"));
	giver_done(&reader.giver);
}

static void a2_7_cancel_before_a_subscription_is_remembered(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .generation = 1, .call = cancel_in},
	};

	SCRIPT(play, steps);
	add_reader(play, 4, 3);
	run(play);
	signal(play, "a");
	assert_true(alive(play, "a"));
	begin(play);
	assert_int_equal(reader.giver.cancels, 1);
	assert_int_equal(reader.giver.requests, 0);
	stop(play, "a");
	run(play);
	giver_done(&reader.giver);
}

static void finish(struct member *self)
{
	assert_int_equal(weir_actor_end(&self->actor), 0);
}

static void fail_for_good(struct member *self)
{
	assert_int_equal(weir_actor_fail_code(&self->actor, STOP), 0);
}

static void a2_8_however_it_ends_the_publisher_is_cancelled(struct play *play)
{
	static const struct step finishes[] = {
		{"a", SIGNALLED, .call = finish},
	};
	static const struct step fails[] = {
		{"a", SIGNALLED, .call = fail_for_good},
	};

	add_reader(play, 4, 3);
	begin(play);
	assert_int_equal(reader.giver.cancels, 0);
	switch (play->seed % 4) {
	case 0:
		SCRIPT(play, finishes);
		signal(play, "a");
		break;
	case 1:
		SCRIPT(play, fails);
		signal(play, "a");
		break;
	case 2:
		weir_system_stop(play->base.system);
		run(play);
		break;
	default:
		stop(play, "a");
		run(play);
	}
	assert_int_equal(reader.giver.cancels, 1);
	assert_int_equal(reader.giver.next, 3);
	giver_done(&reader.giver);
}

/* Two at a time, of seven, and it fails with the second and the sixth. */
static void a2_9_what_was_requested_survives_a_restart(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .call = request_two},
		{"a", TURN, .item = 2, .fail = RESTART},
		{"a", TURN, .item = 6, .fail = RESTART},
	};

	SCRIPT(play, steps);
	add_reader(play, 0, 7);
	begin(play);
	signal(play, "a");
	assert_told(play, "a",
		    "a1.pre_start a1.signalled a1.1 a1.2 "
		    "a1.pre_restart a2.reset a2.post_restart");
	log_clear(play);
	signal(play, "a");
	signal(play, "a");
	assert_told(play, "a",
		    "a2.signalled a2.3 a2.4 a2.signalled a2.5 a2.6 "
		    "a2.pre_restart a3.reset a3.post_restart");
	log_clear(play);
	signal(play, "a");
	complete(play);
	assert_told(play, "a", "a3.signalled a3.7 a3.post_stop");
	assert_int_equal(reader.giver.requested, 8);
	assert_int_equal(reader.giver.requests, 4);
	giver_done(&reader.giver);
}

/* Nothing has come yet of what it has asked for before. */
static void a2_9_what_remains_comes_after_a_restart(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .generation = 1, .fail = RESTART},
	};

	SCRIPT(play, steps);
	add_reader(play, 3, 0);
	begin(play);
	assert_int_equal(reader.giver.requested, 3);
	signal(play, "a");
	assert_int_equal(reader.giver.requested, 3);
	send(play);
	send(play);
	assert_int_equal(times(play, "a2.1"), 1);
	assert_int_equal(times(play, "a2.2"), 1);
	assert_int_equal(reader.giver.requested, 5);
	assert_int_equal(reader.giver.cancels, 0);
	stop(play, "a");
	run(play);
	giver_done(&reader.giver);
}

static void a2_9_that_it_was_cancelled_survives_a_restart(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .generation = 1, .call = cancel_in,
		 .fail = RESTART},
	};

	SCRIPT(play, steps);
	add_reader(play, 1, 0);
	begin(play);
	signal(play, "a");
	assert_int_equal(member(play, "a")->generation, 2);
	assert_int_equal(reader.giver.cancels, 1);
	assert_int_equal(giver_send(&reader.giver), 0);
	signal(play, "a");
	assert_int_equal(member(play, "a")->seen, 0);
	assert_int_equal(reader.giver.requests, 1);
	stop(play, "a");
	run(play);
	giver_done(&reader.giver);
}

/* --- A3: a publisher ------------------------------------------------------ */

/* What stands beside the member `a`: an out-port that is a publisher. */
static struct writer {
	struct weir_out out;
	struct weir_reactive_out reactive;
	struct taker taker;
	size_t next; /* the last item put, from 100 on */
	int rc;
	uint32_t room;
} writer;

static void put_one(struct member *self)
{
	void *item = ledger_make(&self->play->base.ledger, ++writer.next);

	writer.room = weir_out_room(&writer.out);
	writer.rc = weir_out_put(&writer.out, item);
	if (writer.rc != 0)
		ledger_drop(item, &self->play->base.ledger);
}

static void put_two(struct member *self)
{
	put_one(self);
	put_one(self);
}

static void end_out(struct member *self)
{
	assert_int_equal(weir_out_end(&writer.out, NULL), 0);
}

/* `a`, which takes an item and puts one, with a subscriber. */
static void add_writer(struct play *play, int64_t first)
{
	struct member *a = member_new(play, "a");

	memset(&writer, 0, sizeof(writer));
	writer.next = 100;
	assert_int_equal(weir_out_init(&writer.out, &a->actor,
				       &play->base.ledger.items),
			 0);
	assert_int_equal(
		weir_reactive_out_init(&writer.reactive, &writer.out, NULL), 0);
	taker_init(&writer.taker, &play->base.ledger, first, 0);
	writer.taker.ordered = false;
	if (first)
		assert_int_equal(
			weir_publisher_subscribe(&writer.reactive.publisher,
						 &writer.taker.subscriber),
			0);
	play_open(play);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	run(play);
}

static void cancel_taker(struct play *play)
{
	weir_subscription_cancel(writer.taker.subscription);
	run(play);
	taker_fini(&writer.taker);
}

static void a3_1_too_much_is_an_error_that_demand_survives(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = put_two, .fail = RESTART},
		{"a", TURN, .item = 2, .call = put_one},
		{"a", TURN, .item = 3, .call = put_one},
	};

	SCRIPT(play, steps);
	add_writer(play, 1);
	give(play, "a", 1);
	assert_int_equal(writer.rc, -EAGAIN);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset "
		    "a2.post_restart");
	taker_check(&writer.taker, 1, 1);
	weir_subscription_request(writer.taker.subscription, 2);
	feed(play, "a", 2, 3);
	taker_check(&writer.taker, 3, 1);
	cancel_taker(play);
}

static void a3_3_finishing_completes_the_stream_and_stops(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = put_one, .finish = true},
	};

	SCRIPT(play, steps);
	add_writer(play, 5);
	give(play, "a", 1);
	taker_check(&writer.taker, 1, 0);
	assert_false(alive(play, "a"));
	taker_fini(&writer.taker);
}

static void a3_3_failing_for_good_ends_the_stream_and_stops(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = put_one, .fail = STOP},
	};

	SCRIPT(play, steps);
	add_writer(play, 5);
	give(play, "a", 1);
	taker_check(&writer.taker, 1, STOP);
	assert_false(alive(play, "a"));
	taker_fini(&writer.taker);
}

static void a3_3_a_plain_end_of_the_stream_does_not_stop(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = end_out},
	};

	SCRIPT(play, steps);
	add_writer(play, 5);
	give(play, "a", 1);
	taker_check(&writer.taker, 0, 0);
	assert_true(alive(play, "a"));
	give(play, "a", 2);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2");
	taker_fini(&writer.taker);
}

/* Who comes when it has stopped is told how. */
static void a3_3_the_end_waits_for_the_first_subscriber(struct play *play)
{
	static const struct step steps[] = {
		{"a", SIGNALLED, .finish = true},
	};
	struct member *a;

	SCRIPT(play, steps);
	add_writer(play, 0);
	a = member(play, "a");
	weir_actor_ref(&a->actor);
	signal(play, "a");
	assert_false(alive(play, "a"));
	assert_int_equal(weir_publisher_subscribe(&writer.reactive.publisher,
						  &writer.taker.subscriber),
			 0);
	run(play);
	taker_check(&writer.taker, 0, 0);
	taker_fini(&writer.taker);
	weir_actor_unref(&a->actor);
}

/* A stop from outside is no good end: the stream is told. */
static void a3_10_a_stop_ends_the_stream_with_an_error(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = put_one},
	};

	SCRIPT(play, steps);
	add_writer(play, 5);
	give(play, "a", 1);
	stop(play, "a");
	run(play);
	taker_check(&writer.taker, 1, -ECANCELED);
	taker_fini(&writer.taker);
}

static void e9_a_crash_ends_the_stream_with_its_error(struct play *play)
{
	static const struct weir_limit one = {.max = 1};
	static const struct weir_strategy limited = {BY_CODE, .each = &one};
	static const struct step steps[] = {
		{"a", TURN, .call = put_one, .fail = RESTART},
	};

	play->top = &limited;
	SCRIPT(play, steps);
	add_writer(play, 5);
	give(play, "a", 1);
	taker_check(&writer.taker, 1, 1);
	give(play, "a", 2);
	taker_check(&writer.taker, 2, RESTART);
	assert_false(alive(play, "a"));
	taker_fini(&writer.taker);
}

static void a3_11_what_was_put_before_a_restart_arrives(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = put_one},
		{"a", TURN, .item = 2, .fail = RESTART},
		{"a", TURN, .item = 3, .call = put_one},
	};

	SCRIPT(play, steps);
	add_writer(play, 3);
	feed(play, "a", 1, 3);
	assert_int_equal(member(play, "a")->generation, 2);
	taker_check(&writer.taker, 2, 1);
	assert_int_equal(writer.taker.subscribed, 1);
	cancel_taker(play);
}

static void a3_11_demand_survives_a_restart_and_adds_up(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = put_one},
		{"a", TURN, .item = 2, .call = put_one, .fail = RESTART},
		{"a", TURN, .item = 3, .call = put_one},
	};

	SCRIPT(play, steps);
	add_writer(play, 3);
	feed(play, "a", 1, 2);
	/* one is left, and five more */
	weir_subscription_request(writer.taker.subscription, 5);
	give(play, "a", 3);
	assert_int_equal(writer.room, 6);
	taker_check(&writer.taker, 3, 1);
	cancel_taker(play);
}

static void a3_11_that_the_stream_has_ended_survives_a_restart(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = end_out, .fail = RESTART},
		{"a", TURN, .item = 2, .call = put_one},
	};

	SCRIPT(play, steps);
	add_writer(play, 3);
	give(play, "a", 1);
	taker_check(&writer.taker, 0, 0);
	give(play, "a", 2);
	assert_int_equal(times(play, "a2.2"), 1);
	assert_int_equal(writer.rc, -EPIPE);
	taker_fini(&writer.taker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(a2_1_the_strategy_is_asked_at_start_and_behind_each_handler),
		RULE(a2_1_the_strategy_is_asked_after_a_restart),
		RULE(a2_7_cancel_reaches_the_publisher_and_it_can_stop),
		RULE(a2_7_cancel_before_a_subscription_is_remembered),
		RULE(a2_8_however_it_ends_the_publisher_is_cancelled),
		RULE(a2_9_what_was_requested_survives_a_restart),
		RULE(a2_9_what_remains_comes_after_a_restart),
		RULE(a2_9_that_it_was_cancelled_survives_a_restart),
		RULE(a3_1_too_much_is_an_error_that_demand_survives),
		RULE(a3_3_finishing_completes_the_stream_and_stops),
		RULE(a3_3_failing_for_good_ends_the_stream_and_stops),
		RULE(a3_3_a_plain_end_of_the_stream_does_not_stop),
		RULE(a3_3_the_end_waits_for_the_first_subscriber),
		RULE(a3_10_a_stop_ends_the_stream_with_an_error),
		RULE(e9_a_crash_ends_the_stream_with_its_error),
		RULE(a3_11_what_was_put_before_a_restart_arrives),
		RULE(a3_11_demand_survives_a_restart_and_adds_up),
		RULE(a3_11_that_the_stream_has_ended_survives_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
