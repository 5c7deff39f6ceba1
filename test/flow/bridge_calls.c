/* SPDX-License-Identifier: BSD-2-Clause */
/* What the bridges of flows refuse, and how either side's end is told. */
#include "flow/kit.h"

#include "actor/kit.h"

#include <weir/testkit.h>

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct weir_test_env env;

static int set_up(void **state)
{
	n_live = 0;
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	env = weir_test_env_sim(sim);
	return 0;
}

static int tear_down(void **state)
{
	sim_free(sim);
	assert_int_equal(n_live, 0);
	return 0;
}

/* A run that a test has begun. */
struct begun {
	struct weir_flow *flow;
	struct weir_flow_run *run;
};

static struct begun begin(struct weir_flow *flow)
{
	struct begun begun = {.flow = flow};

	assert_int_equal(weir_flow_start(flow, executor, NULL, &begun.run), 0);
	return begun;
}

/* It is over with `code`. */
static void finish(struct begun *begun, int code)
{
	struct weir_error *error;

	weir_sim_run(sim);
	assert_int_equal(weir_flow_run_wait(begun->run, 0, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, code);
	weir_error_unref(error);
	weir_flow_run_free(begun->run);
	weir_flow_free(begun->flow);
}

static void assert_refused(struct weir_flow *flow)
{
	assert_int_equal(weir_flow_check(flow, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
}

static void bad_arguments_are_refused(void **state)
{
	struct weir_flow_run_options bad = {.unfused = 3};
	struct weir_flow_publisher *publisher;
	struct weir_publisher some = {0};
	struct weir_semaphore semaphore;
	struct weir_out out;

	assert_refused(weir_flow_from_publisher(NULL, 1, 1));
	assert_refused(weir_flow_from_publisher(&some, 1, 2));
	assert_refused(weir_flow_from_publisher(&some, SIZE_MAX, 1));
	assert_refused(weir_flow_into(weir_flow_empty(), NULL));
	assert_refused(weir_flow_from_out(NULL, 1));
	assert_refused(weir_flow_from_out(&out, 3));
	assert_refused(weir_flow_into_in(weir_flow_empty(), NULL));
	assert_refused(weir_flow_acquire(weir_flow_empty(), NULL));
	assert_int_equal(weir_semaphore_init(&semaphore, 0), 0);
	assert_refused(
		weir_flow_to_actor(weir_flow_empty(), NULL, &semaphore, NULL));
	assert_refused(weir_flow_from_channel(NULL));
	assert_refused(weir_flow_into_channel(weir_flow_empty(), NULL));
	assert_int_equal(weir_flow_publisher_new(NULL, weir_flow_empty(),
						 executor, NULL),
			 -EINVAL);
	assert_int_equal(weir_flow_publisher_new(&publisher, NULL, executor,
						 NULL),
			 -EINVAL);
	assert_int_equal(weir_flow_publisher_new(&publisher, weir_flow_empty(),
						 NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_flow_publisher_new(&publisher, weir_flow_empty(),
						 executor, &bad),
			 -EINVAL);
	assert_null(publisher);
	weir_flow_publisher_free(NULL);
}

/* --- From a publisher ----------------------------------------------------- */

static struct weir_subscriber_probe *subscriber_new(
	const struct weir_subscriber_probe_options *options)
{
	struct weir_subscriber_probe *probe;

	assert_int_equal(weir_subscriber_probe_new(&probe, &env, options), 0);
	return probe;
}

static struct weir_publisher_probe *probe_new(const struct weir_items *items)
{
	struct weir_publisher_probe *probe;

	assert_int_equal(weir_publisher_probe_new(&probe, &env, items), 0);
	return probe;
}

static struct begun begin_from(struct weir_publisher_probe *probe,
			       size_t prefetch, size_t refill, struct got *got)
{
	struct weir_publisher *publisher = weir_publisher_probe_base(probe);
	struct weir_flow *flow;

	flow = weir_flow_from_publisher(publisher, prefetch, refill);
	flow = weir_flow_items(flow, &counted_items);
	memset(got, 0, sizeof(*got));
	got->counted = true;
	return begin(into(flow, got));
}

static void send(struct weir_publisher_probe *probe, intptr_t value)
{
	assert_int_equal(weir_publisher_probe_send(probe, item_new(value)), 0);
}

static void it_asks_for_a_refill_when_there_is_room_for_it(void **state)
{
	struct weir_publisher_probe *probe = probe_new(&counted_items);
	static struct got got;
	struct begun begun = begin_from(probe, 10, 3, &got);
	intptr_t i;

	assert_true(weir_publisher_probe_expect_request(probe, 10));
	for (i = 1; i <= 2; i++)
		send(probe, i);
	assert_true(weir_publisher_probe_expect_request(probe, 0));
	send(probe, 3);
	assert_true(weir_publisher_probe_expect_request(probe, 3));
	assert_int_equal(weir_publisher_probe_complete(probe), 0);
	finish(&begun, 0);
	assert_int_equal(got.n, 3);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

static void sixteen_are_asked_for_unless_told_otherwise(void **state)
{
	struct weir_publisher_probe *probe = probe_new(&counted_items);
	static struct got got;
	struct begun begun = begin_from(probe, 0, 0, &got);
	intptr_t i;

	assert_true(weir_publisher_probe_expect_request(probe, 16));
	for (i = 1; i <= 7; i++)
		send(probe, i);
	assert_true(weir_publisher_probe_expect_request(probe, 0));
	send(probe, 8);
	assert_true(weir_publisher_probe_expect_request(probe, 8));
	weir_flow_run_stop(begun.run, NULL);
	assert_true(weir_publisher_probe_expect_cancel(probe));
	finish(&begun, -ECANCELED);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

static uint32_t say_nothing(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static void a_drain_lets_go_of_an_out_port(void **state)
{
	static const struct weir_actor_ops ops = {.turns = say_nothing};
	struct weir_actor actor;
	struct weir_permits never;
	struct begun begun;
	struct weir_out out;

	assert_int_equal(weir_actor_init(&actor, &ops, executor), 0);
	assert_int_equal(weir_permits_init(&never, &actor, 0), 0);
	assert_int_equal(weir_out_init(&out, &actor, NULL), 0);
	begun = begin(weir_flow_ignore(weir_flow_from_out(&out, 4)));
	assert_int_equal(weir_actor_start(&actor), 0);
	weir_sim_run(sim);
	assert_false(weir_completion_done(weir_flow_run_over(begun.run)));
	weir_flow_run_end(begun.run);
	finish(&begun, 0);
	weir_actor_stop(&actor);
	weir_sim_run(sim);
}

static void one_and_one_is_lock_step(void **state)
{
	struct weir_publisher_probe *probe = probe_new(&counted_items);
	static struct got got;
	struct begun begun = begin_from(probe, 1, 1, &got);
	intptr_t i;

	for (i = 1; i <= 3; i++) {
		assert_true(weir_publisher_probe_expect_request(probe, 1));
		send(probe, i);
	}
	assert_true(weir_publisher_probe_expect_request(probe, 1));
	weir_flow_run_end(begun.run);
	assert_true(weir_publisher_probe_expect_cancel(probe));
	finish(&begun, 0);
	assert_int_equal(got.n, 3);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

static void what_was_sent_before_a_drain_is_delivered(void **state)
{
	struct weir_publisher_probe *probe = probe_new(&counted_items);
	static struct got got;
	struct begun begun = begin_from(probe, 4, 4, &got);
	intptr_t i;

	assert_true(weir_publisher_probe_expect_request(probe, 4));
	for (i = 1; i <= 3; i++)
		send(probe, i);
	weir_flow_run_end(begun.run);
	assert_true(weir_publisher_probe_expect_cancel(probe));
	finish(&begun, 0);
	assert_int_equal(got.n, 3);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

static void who_sends_too_much_is_cancelled(void **state)
{
	struct weir_publisher_probe *probe = probe_new(&counted_items);
	struct item *item = item_new(3);
	static struct got got;
	struct begun begun = begin_from(probe, 2, 2, &got);

	assert_true(weir_publisher_probe_expect_request(probe, 2));
	weir_publisher_probe_misbehave(probe);
	send(probe, 1);
	send(probe, 2);
	assert_int_equal(weir_publisher_probe_send(probe, item), -EOVERFLOW);
	item_drop(item, NULL);
	assert_true(weir_publisher_probe_expect_cancel(probe));
	assert_int_equal(got.n, 2);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
	finish(&begun, -EOVERFLOW);
}

static void items_that_are_others_are_refused(void **state)
{
	struct weir_publisher_probe *probe = probe_new(&counted_items);
	struct weir_flow *flow;
	struct begun begun;

	flow = weir_flow_from_publisher(weir_publisher_probe_base(probe), 0, 0);
	begun = begin(flow);
	assert_true(weir_publisher_probe_expect_cancel(probe));
	finish(&begun, -EINVAL);
	assert_int_equal(weir_publisher_probe_free(probe), 0);
}

/* --- Into a subscriber ---------------------------------------------------- */

static void an_end_needs_no_demand_behind_what_holds_items(void **state)
{
	struct weir_subscriber_probe *probe;
	struct weir_flow_queue *queue;
	struct weir_flow *flow;
	struct begun begun;

	assert_int_equal(weir_subscriber_probe_new(&probe, &env, NULL), 0);
	assert_int_equal(weir_flow_queue_new(&queue, 4,
					     WEIR_OVERFLOW_BACK_PRESSURE, NULL),
			 0);
	flow = weir_flow_async(weir_flow_from_queue(queue), 4, NULL);
	flow = weir_flow_buffer(flow, 4, WEIR_OVERFLOW_BACK_PRESSURE);
	flow = weir_flow_async(flow, 4, NULL);
	flow = weir_flow_grouped(flow, 2);
	begun = begin(weir_flow_into(flow, weir_subscriber_probe_base(probe)));
	assert_true(weir_subscriber_probe_expect_subscription(probe));
	assert_int_equal(weir_flow_queue_end(queue, NULL), 0);
	assert_true(weir_subscriber_probe_expect_complete(probe));
	weir_flow_queue_free(queue);
	assert_int_equal(weir_subscriber_probe_free(probe), 0);
	finish(&begun, 0);
}

static void who_cancels_ends_the_flow_well(void **state)
{
	const struct weir_subscriber_probe_options options = {
		.request_first = INT64_MAX,
		.cancel_at = 5,
	};
	struct weir_subscriber_probe *probe = subscriber_new(&options);
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct begun begun =
		begin(weir_flow_into(flow, weir_subscriber_probe_base(probe)));

	weir_sim_run(sim);
	assert_int_equal(weir_subscriber_probe_counts(probe).items, 5);
	assert_int_equal(weir_subscriber_probe_free(probe), 0);
	finish(&begun, 0);
}

static void a_cancelled_run_is_told_as_an_error(void **state)
{
	struct weir_subscriber_probe *probe = subscriber_new(NULL);
	struct begun begun =
		begin(weir_flow_into(counted(weir_flow_range(1, 9)),
				     weir_subscriber_probe_base(probe)));

	weir_sim_run(sim);
	weir_subscriber_probe_request(probe, 1);
	weir_sim_run(sim);
	weir_flow_run_stop(begun.run, NULL);
	weir_sim_run(sim);
	assert_true(weir_subscriber_probe_expect_subscription(probe));
	assert_true(weir_subscriber_probe_expect_next_n(probe, 1));
	assert_true(weir_subscriber_probe_expect_error(probe, -ECANCELED));
	assert_int_equal(weir_subscriber_probe_free(probe), 0);
	finish(&begun, -ECANCELED);
}

static void count_end(struct weir_error *error, void *result, void *context)
{
	assert_null(result);
	++*(int *)context;
}

static void each_subscriber_has_a_run_of_its_own(void **state)
{
	int over = 0;
	const struct weir_flow_run_options run_options = {
		.done = count_end,
		.context = &over,
	};
	const struct weir_subscriber_probe_options options = {
		.request_first = INT64_MAX,
	};
	struct weir_flow_publisher *publisher;
	struct weir_subscriber_probe *probes[3];
	size_t i;

	assert_int_equal(weir_flow_publisher_new(&publisher,
						 counted(weir_flow_range(1, 7)),
						 executor, &run_options),
			 0);
	for (i = 0; i < 3; i++) {
		probes[i] = subscriber_new(&options);
		assert_int_equal(weir_publisher_subscribe(
					 weir_flow_publisher_base(publisher),
					 weir_subscriber_probe_base(probes[i])),
				 0);
	}
	/* the runs have it still */
	weir_flow_publisher_free(publisher);
	weir_sim_run(sim);
	for (i = 0; i < 3; i++) {
		assert_int_equal(weir_subscriber_probe_counts(probes[i]).items,
				 7);
		assert_int_equal(weir_subscriber_probe_free(probes[i]), 0);
	}
	weir_sim_run(sim);
	assert_int_equal(over, 3);
}

/* --- Actors --------------------------------------------------------------- */

/* Takes items, and dies of the third. */
struct mortal {
	struct weir_actor actor;
	struct weir_in in;
	int n;
};

static int mortal_turn(struct weir_actor *actor)
{
	struct mortal *self = weir_container_of(actor, struct mortal, actor);

	item_drop(weir_in_take(&self->in), NULL);
	return ++self->n == 3 ? WEIR_TURN_END : 0;
}
WEIR_TURN(mortal_turn)

static void mortal_init(struct mortal *mortal)
{
	static const struct weir_actor_ops ops = {.turns = mortal_turn_n};

	memset(mortal, 0, sizeof(*mortal));
	assert_int_equal(weir_actor_init(&mortal->actor, &ops, executor), 0);
	assert_int_equal(weir_in_init(&mortal->in, &mortal->actor, 4,
				      &counted_items),
			 0);
}

static void the_death_of_its_actor_ends_a_flow_that_waits_for_acks(void **state)
{
	struct weir_semaphore acks;
	struct mortal mortal;
	struct begun begun;

	mortal_init(&mortal);
	assert_int_equal(weir_semaphore_init(&acks, 3), 0);
	begun = begin(weir_flow_to_actor(counted(weir_flow_range(1, INT64_MAX)),
					 &mortal.in, &acks, NULL));
	assert_int_equal(weir_actor_start(&mortal.actor), 0);
	finish(&begun, 0);
	assert_int_equal(mortal.n, 3);
	assert_int_equal(weir_semaphore_fini(&acks), 0);
}

/* Takes what comes, and leaves it to the test to acknowledge that. */
struct silent {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_semaphore acks;
	int n, n_ends, code;
};

static int silent_turn(struct weir_actor *actor)
{
	struct silent *self = weir_container_of(actor, struct silent, actor);

	item_drop(weir_in_take(&self->in), NULL);
	self->n++;
	return 0;
}
WEIR_TURN(silent_turn)

static int silent_ended(struct weir_actor *actor, struct weir_in *in,
			struct weir_error *error)
{
	struct silent *self = weir_container_of(actor, struct silent, actor);

	self->n_ends++;
	self->code = error ? error->code : 0;
	return WEIR_TURN_END;
}

/* `permits` items come unasked for. */
static struct begun silent_begin(struct silent *silent, struct weir_flow *flow,
				 int64_t permits, void *init)
{
	static const struct weir_actor_ops ops = {
		.turns = silent_turn_n,
		.ended = silent_ended,
	};
	struct begun begun;

	memset(silent, 0, sizeof(*silent));
	assert_int_equal(weir_semaphore_init(&silent->acks, permits), 0);
	assert_int_equal(weir_actor_init(&silent->actor, &ops, executor), 0);
	assert_int_equal(weir_in_init(&silent->in, &silent->actor, 8,
				      &counted_items),
			 0);
	begun = begin(
		weir_flow_to_actor(flow, &silent->in, &silent->acks, init));
	assert_int_equal(weir_actor_start(&silent->actor), 0);
	weir_sim_run(sim);
	return begun;
}

static void acknowledge(struct silent *silent, int64_t n)
{
	assert_int_equal(weir_semaphore_release(&silent->acks, n), 0);
	weir_sim_run(sim);
}

static void an_end_waits_for_the_last_acknowledgement(void **state)
{
	struct silent silent;
	struct begun begun;
	int i;

	begun = silent_begin(&silent, counted(weir_flow_range(1, 3)), 0,
			     item_new(0));
	for (i = 1; i <= 4; i++) {
		assert_int_equal(silent.n, i);
		assert_int_equal(silent.n_ends, 0);
		acknowledge(&silent, 1);
	}
	assert_int_equal(silent.n_ends, 1);
	assert_int_equal(silent.code, 0);
	finish(&begun, 0);
	assert_int_equal(weir_semaphore_permits(&silent.acks), 1);
	assert_int_equal(weir_semaphore_fini(&silent.acks), 0);
}

static void an_end_waits_for_all_that_came_unasked_for(void **state)
{
	struct silent silent;
	struct begun begun;

	begun = silent_begin(&silent, counted(weir_flow_range(1, 3)), 5, NULL);
	assert_int_equal(silent.n, 3);
	acknowledge(&silent, 2);
	assert_int_equal(silent.n_ends, 0);
	acknowledge(&silent, 1);
	assert_int_equal(silent.n_ends, 1);
	finish(&begun, 0);
	assert_int_equal(weir_semaphore_permits(&silent.acks), 5);
	assert_int_equal(weir_semaphore_fini(&silent.acks), 0);
}

static void a_first_item_alone_is_acknowledged_too(void **state)
{
	struct silent silent;
	struct begun begun;

	begun = silent_begin(&silent, counted(weir_flow_empty()), 0,
			     item_new(0));
	assert_int_equal(silent.n, 1);
	assert_int_equal(silent.n_ends, 0);
	acknowledge(&silent, 1);
	assert_int_equal(silent.n_ends, 1);
	finish(&begun, 0);
	begun = silent_begin(&silent, counted(weir_flow_empty()), 0, NULL);
	assert_int_equal(silent.n_ends, 1);
	finish(&begun, 0);
}

static int fails_on_3(void **item, void *context)
{
	return (intptr_t)*item == 3 ? -EDOM : 0;
}

static void an_error_waits_for_no_acknowledgement(void **state)
{
	struct weir_flow *flow =
		weir_flow_map(weir_flow_range(1, 9), fails_on_3, NULL);
	struct silent silent;
	struct begun begun;

	begun = silent_begin(&silent, counted(flow), 5, NULL);
	assert_int_equal(silent.n, 2);
	assert_int_equal(silent.n_ends, 1);
	assert_int_equal(silent.code, -EDOM);
	finish(&begun, -EDOM);
}

static void a_cancel_waits_for_no_acknowledgement(void **state)
{
	struct silent silent;
	struct begun begun;

	begun = silent_begin(&silent, counted(weir_flow_range(1, 3)), 5, NULL);
	acknowledge(&silent, 1);
	weir_flow_run_stop(begun.run, NULL);
	weir_sim_run(sim);
	assert_int_equal(silent.n_ends, 1);
	assert_int_equal(silent.code, -ECANCELED);
	finish(&begun, -ECANCELED);
	/* what it had got back is there again */
	assert_int_equal(weir_semaphore_permits(&silent.acks), 3);
	assert_int_equal(weir_semaphore_fini(&silent.acks), 0);
}

static void a_port_is_joined_once(void **state)
{
	struct mortal mortal;
	struct begun begun;

	mortal_init(&mortal);
	begun = begin(
		weir_flow_into_in(counted(weir_flow_range(1, 2)), &mortal.in));
	assert_int_equal(weir_flow_start(begun.flow, executor, NULL, NULL),
			 -EALREADY);
	assert_int_equal(weir_actor_start(&mortal.actor), 0);
	finish(&begun, 0);
	assert_int_equal(mortal.n, 2);
}

static void each_item_needs_a_permit(void **state)
{
	struct weir_semaphore permits;
	static struct got got;
	struct begun begun;

	memset(&got, 0, sizeof(got));
	assert_int_equal(weir_semaphore_init(&permits, 2), 0);
	begun = begin(
		into(weir_flow_acquire(weir_flow_range(1, 9), &permits), &got));
	weir_sim_run(sim);
	assert_int_equal(got.n, 2);
	assert_int_equal(weir_semaphore_release(&permits, 10), 0);
	finish(&begun, 0);
	assert_int_equal(got.n, 9);
	assert_int_equal(weir_semaphore_permits(&permits), 3);
	assert_int_equal(weir_semaphore_fini(&permits), 0);
}

/* --- Channels ------------------------------------------------------------- */

static struct weir_channel *channel_new(size_t capacity)
{
	struct weir_channel *channel;

	assert_int_equal(
		weir_channel_new(&channel, capacity, &counted_items, NULL), 0);
	return channel;
}

static void a_thread_takes_with_a_deadline(void **state)
{
	struct weir_channel *channel = channel_new(2);
	struct weir_flow *flow = counted(weir_flow_range(1, 5));
	struct begun begun;
	void *item;
	int i;

	begun = begin(weir_flow_into_channel(flow, channel));
	for (i = 1; i <= 5; i++) {
		assert_int_equal(weir_channel_take_wait(channel, &item, 1000),
				 0);
		assert_int_equal(((struct item *)item)->value, i);
		item_drop(item, NULL);
	}
	assert_int_equal(weir_channel_take_wait(channel, &item, 1000), -EPIPE);
	finish(&begun, 0);
	assert_int_equal(weir_channel_free(channel), 0);
}

static void a_channel_that_others_end_ends_the_flow(void **state)
{
	struct weir_channel *channel = channel_new(2);
	struct weir_flow *flow = counted(weir_flow_range(1, INT64_MAX));
	struct begun begun = begin(weir_flow_into_channel(flow, channel));

	weir_sim_run(sim);
	assert_int_equal(weir_channel_count(channel), 2);
	assert_int_equal(weir_channel_end(channel, weir_error_of(-ENOLINK)), 0);
	finish(&begun, -ENOLINK);
	assert_int_equal(weir_channel_free(channel), 0);
}

static void how_a_flow_ends_is_how_its_channel_does(void **state)
{
	struct weir_channel *channel = channel_new(2);
	struct weir_flow *flow = weir_flow_fail(-EDOM, NULL);
	struct begun begun;

	flow = weir_flow_items(flow, &counted_items);
	begun = begin(weir_flow_into_channel(flow, channel));
	finish(&begun, -EDOM);
	assert_int_equal(weir_channel_error(channel)->code, -EDOM);
	assert_int_equal(weir_channel_free(channel), 0);
}

static void items_that_are_not_the_channels_are_refused(void **state)
{
	struct weir_channel *channel = channel_new(2);
	struct weir_flow *flow =
		weir_flow_into_channel(weir_flow_range(1, 2), channel);

	assert_int_equal(weir_flow_start(flow, executor, NULL, NULL), -EINVAL);
	weir_flow_free(flow);
	assert_int_equal(weir_channel_try_put(channel, item_new(1)), 0);
	assert_int_equal(weir_channel_free(channel), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bad_arguments_are_refused),
		TEST(it_asks_for_a_refill_when_there_is_room_for_it),
		TEST(sixteen_are_asked_for_unless_told_otherwise),
		TEST(a_drain_lets_go_of_an_out_port),
		TEST(one_and_one_is_lock_step),
		TEST(what_was_sent_before_a_drain_is_delivered),
		TEST(who_sends_too_much_is_cancelled),
		TEST(items_that_are_others_are_refused),
		TEST(an_end_needs_no_demand_behind_what_holds_items),
		TEST(who_cancels_ends_the_flow_well),
		TEST(a_cancelled_run_is_told_as_an_error),
		TEST(each_subscriber_has_a_run_of_its_own),
		TEST(the_death_of_its_actor_ends_a_flow_that_waits_for_acks),
		TEST(an_end_waits_for_the_last_acknowledgement),
		TEST(an_end_waits_for_all_that_came_unasked_for),
		TEST(a_first_item_alone_is_acknowledged_too),
		TEST(an_error_waits_for_no_acknowledgement),
		TEST(a_cancel_waits_for_no_acknowledgement),
		TEST(a_port_is_joined_once),
		TEST(each_item_needs_a_permit),
		TEST(a_thread_takes_with_a_deadline),
		TEST(a_channel_that_others_end_ends_the_flow),
		TEST(how_a_flow_ends_is_how_its_channel_does),
		TEST(items_that_are_not_the_channels_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
