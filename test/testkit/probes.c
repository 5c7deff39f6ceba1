/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes themselves: what they record, what they expect, which rules they
 * see broken, and how they break them.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/sim.h>
#include <weir/testkit.h>

/* Two probes that have met, without an environment unless one is given. */
struct meeting {
	struct weir_publisher_probe *publisher;
	struct weir_subscriber_probe *subscriber;
};

static int a, b, c; /* items are their addresses */

static struct weir_publisher_probe *publisher_new(
	const struct weir_test_env *env, const struct weir_items *items)
{
	struct weir_publisher_probe *probe;

	assert_int_equal(weir_publisher_probe_new(&probe, env, items), 0);
	return probe;
}

static struct weir_subscriber_probe *subscriber_new(
	const struct weir_test_env *env,
	const struct weir_subscriber_probe_options *options)
{
	struct weir_subscriber_probe *probe;

	assert_int_equal(weir_subscriber_probe_new(&probe, env, options), 0);
	return probe;
}

static struct meeting meet(const struct weir_test_env *env,
			   const struct weir_items *items,
			   const struct weir_subscriber_probe_options *options)
{
	struct meeting meeting = {
		.publisher = publisher_new(env, items),
		.subscriber = subscriber_new(env, options),
	};

	assert_int_equal(
		weir_publisher_subscribe(
			weir_publisher_probe_base(meeting.publisher),
			weir_subscriber_probe_base(meeting.subscriber)),
		0);
	return meeting;
}

/* Each may hold the other: the publisher lets go first. */
static void part(struct meeting *meeting)
{
	int rc = weir_publisher_probe_free(meeting->publisher);

	assert_int_equal(weir_subscriber_probe_free(meeting->subscriber), 0);
	if (rc == -EBUSY)
		rc = weir_publisher_probe_free(meeting->publisher);
	assert_int_equal(rc, 0);
}

/* The failure is that of a rule, or has these words. */
static void says(struct weir_subscriber_probe *probe, const char *words)
{
	const char *failure = weir_subscriber_probe_failure(probe);

	assert_non_null(failure);
	if (!strstr(failure, words))
		fail_msg("\"%s\" does not say \"%s\"", failure, words);
}

static void stream_is_met_signal_by_signal(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);
	void *const items[] = {&b, &c};

	assert_true(weir_publisher_probe_expect_subscriber(m.publisher));
	assert_true(weir_subscriber_probe_expect_subscription(m.subscriber));
	assert_true(weir_subscriber_probe_expect_nothing(m.subscriber));
	weir_subscriber_probe_request(m.subscriber, 2);
	weir_subscriber_probe_request(m.subscriber, 1);
	assert_true(weir_publisher_probe_expect_request(m.publisher, 3));
	assert_true(weir_publisher_probe_expect_request(m.publisher, 0));
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &b), 0);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &c), 0);
	assert_true(weir_subscriber_probe_expect_next(m.subscriber, &a));
	assert_true(weir_subscriber_probe_expect_items(m.subscriber, items, 2));
	assert_int_equal(weir_publisher_probe_complete(m.publisher), 0);
	assert_true(weir_subscriber_probe_expect_complete(m.subscriber));
	assert_true(weir_subscriber_probe_expect_released(m.subscriber));
	assert_true(weir_subscriber_probe_expect_nothing(m.subscriber));
	assert_null(weir_subscriber_probe_failure(m.subscriber));
	part(&m);
}

static void what_is_not_so_is_said(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);

	assert_false(weir_subscriber_probe_expect_nothing(m.subscriber));
	says(m.subscriber, "expected nothing, got on_subscribe");
	assert_false(weir_subscriber_probe_expect_next(m.subscriber, &a));
	says(m.subscriber, "expected 1 items, got 0");
	assert_false(weir_subscriber_probe_expect_complete(m.subscriber));
	says(m.subscriber, "expected on_complete, got nothing");
	assert_false(weir_subscriber_probe_expect_error(m.subscriber, -EIO));
	says(m.subscriber, "expected on_error(-5), got nothing");
	assert_false(weir_subscriber_probe_expect_released(m.subscriber));
	says(m.subscriber, "3.13");
	weir_subscriber_probe_request(m.subscriber, 1);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	assert_false(weir_subscriber_probe_expect_nothing(m.subscriber));
	says(m.subscriber, "expected nothing, got item");
	assert_false(weir_subscriber_probe_expect_complete(m.subscriber));
	assert_false(weir_publisher_probe_expect_request(m.publisher, 2));
	assert_non_null(weir_publisher_probe_failure(m.publisher));
	assert_false(weir_publisher_probe_expect_cancel(m.publisher));
	assert_true(weir_publisher_probe_expect_no_cancel(m.publisher));
	assert_null(weir_publisher_probe_failure(m.publisher));
	part(&m);
}

static void another_item_is_not_the_expected_one(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);

	weir_subscriber_probe_request(m.subscriber, 1);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	assert_false(weir_subscriber_probe_expect_next(m.subscriber, &b));
	says(m.subscriber, "expected item");
	part(&m);
}

static void items_are_met_in_any_order(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);
	void *const sent[] = {&a, &b, &a}, *const other[] = {&a, &b, &b};
	size_t taken;

	weir_subscriber_probe_request(m.subscriber, 6);
	assert_int_equal(
		weir_publisher_probe_send_n(m.publisher, sent, 3, &taken), 0);
	assert_int_equal(taken, 3);
	assert_false(weir_subscriber_probe_expect_in_any_order(m.subscriber,
							       other, 3));
	assert_int_equal(
		weir_publisher_probe_send_n(m.publisher, sent, 3, &taken), 0);
	assert_true(weir_subscriber_probe_expect_in_any_order(
		m.subscriber, (void *const[]){&b, &a, &a}, 3));
	part(&m);
}

static void error_arrives_as_the_same_object(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);
	struct weir_error *error;

	assert_int_equal(weir_error_new(&error, -EIO, "test", "words", &a, NULL,
					NULL),
			 0);
	assert_int_equal(weir_publisher_probe_error(m.publisher, error), 0);
	weir_error_unref(error);
	assert_ptr_equal(weir_subscriber_probe_error(m.subscriber), error);
	assert_false(weir_subscriber_probe_expect_error(m.subscriber, -EPERM));
	assert_true(weir_subscriber_probe_expect_error(m.subscriber, -EIO));
	assert_false(weir_subscriber_probe_expect_error(m.subscriber, 0));
	part(&m);
}

static void publisher_probe_keeps_the_rules(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);

	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), -EAGAIN);
	assert_int_equal(weir_publisher_probe_send(m.publisher, NULL), -EINVAL);
	assert_int_equal(weir_publisher_probe_error(m.publisher, NULL),
			 -EINVAL);
	weir_subscriber_probe_request(m.subscriber, 1);
	weir_subscriber_probe_cancel(m.subscriber);
	assert_true(weir_publisher_probe_expect_cancel(m.publisher));
	assert_true(weir_subscriber_probe_expect_released(m.subscriber));
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a),
			 -ECANCELED);
	assert_int_equal(weir_publisher_probe_complete(m.publisher),
			 -ECANCELED);
	assert_null(weir_subscriber_probe_failure(m.subscriber));
	part(&m);

	m = meet(NULL, NULL, NULL);
	assert_int_equal(weir_publisher_probe_complete(m.publisher), 0);
	assert_int_equal(weir_publisher_probe_complete(m.publisher), -ENOTCONN);
	part(&m);
}

static void second_subscriber_is_rejected(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);
	struct weir_subscriber_probe *second = subscriber_new(NULL, NULL);

	assert_int_equal(
		weir_publisher_subscribe(weir_publisher_probe_base(m.publisher),
					 weir_subscriber_probe_base(second)),
		0);
	assert_true(weir_subscriber_probe_expect_error(second, -EISCONN));
	assert_true(weir_subscriber_probe_expect_released(second));
	assert_int_equal(weir_subscriber_probe_free(second), 0);
	part(&m);
}

/* What the misbehaving probe does, and the words that tell it. */
static void misbehaves(void (*act)(struct meeting *meeting), const char *words)
{
	struct meeting m = meet(NULL, NULL, NULL);

	weir_publisher_probe_misbehave(m.publisher);
	act(&m);
	assert_false(weir_subscriber_probe_expect_nothing(m.subscriber));
	says(m.subscriber, words);
	part(&m);
}

static void overrun(struct meeting *m)
{
	weir_publisher_probe_send(m->publisher, &a);
}

static void send_null(struct meeting *m)
{
	weir_subscriber_probe_request(m->subscriber, 1);
	assert_int_equal(weir_publisher_probe_send(m->publisher, NULL),
			 -EINVAL);
}

static void null_error(struct meeting *m)
{
	assert_int_equal(weir_publisher_probe_error(m->publisher, NULL),
			 -EINVAL);
}

static void end_twice(struct meeting *m)
{
	weir_publisher_probe_complete(m->publisher);
	weir_publisher_probe_complete(m->publisher);
}

static void send_after_end(struct meeting *m)
{
	weir_subscriber_probe_request(m->subscriber, 1);
	weir_publisher_probe_complete(m->publisher);
	weir_publisher_probe_send(m->publisher, &a);
}

static void subscribe_twice(struct meeting *m)
{
	weir_publisher_probe_on_subscribe(m->publisher);
	assert_int_equal(
		weir_publisher_probe_counts(m->publisher).extra_cancels, 1);
}

static void broken_rules_are_seen(void **state)
{
	misbehaves(overrun, "1.1");
	misbehaves(send_null, "2.13");
	misbehaves(null_error, "2.13");
	misbehaves(end_twice, "1.7");
	misbehaves(send_after_end, "1.7");
	misbehaves(subscribe_twice, "2.12");
}

static void signals_before_on_subscribe_are_seen(void **state)
{
	struct weir_publisher_probe *publisher = publisher_new(NULL, NULL);
	struct weir_subscriber_probe *subscriber = subscriber_new(NULL, NULL);

	weir_publisher_probe_hold(publisher);
	weir_publisher_probe_misbehave(publisher);
	assert_int_equal(weir_publisher_subscribe(
				 weir_publisher_probe_base(publisher),
				 weir_subscriber_probe_base(subscriber)),
			 0);
	assert_true(weir_subscriber_probe_expect_nothing(subscriber));
	weir_publisher_probe_complete(publisher);
	says(subscriber, "1.9");
	assert_int_equal(weir_publisher_probe_free(publisher), 0);
	assert_int_equal(weir_subscriber_probe_free(subscriber), 0);
}

static void signals_without_a_reference_are_seen(void **state)
{
	struct weir_subscriber_probe *probe = subscriber_new(NULL, NULL);
	struct weir_subscriber *subscriber = weir_subscriber_probe_base(probe);

	subscriber->ops->on_complete(subscriber);
	says(probe, "3.13");
	assert_int_equal(weir_subscriber_probe_free(probe), 0);
}

static void after_cancel_signals_are_counted(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);

	weir_publisher_probe_misbehave(m.publisher);
	weir_subscriber_probe_request(m.subscriber, 5);
	weir_subscriber_probe_cancel(m.subscriber);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	assert_int_equal(
		weir_subscriber_probe_counts(m.subscriber).after_cancel, 1);
	assert_true(weir_subscriber_probe_expect_next(m.subscriber, &a));
	part(&m);
}

/* Sends once more, inside the first on_next. */
static void send_inside(struct weir_subscriber_probe *probe,
			enum weir_signal signal, void *context)
{
	struct weir_publisher_probe **publisher = context;

	if (signal == WEIR_SIGNAL_ON_NEXT &&
	    weir_subscriber_probe_counts(probe).items == 1)
		weir_publisher_probe_send(*publisher, &b);
}

static void signal_inside_a_signal_is_seen(void **state)
{
	struct weir_publisher_probe *publisher;
	struct meeting m = meet(NULL, NULL,
				&(struct weir_subscriber_probe_options){
					.signalled = send_inside,
					.context = &publisher,
				});

	publisher = m.publisher;
	weir_subscriber_probe_request(m.subscriber, 5);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	says(m.subscriber, "3.3");
	part(&m);
}

static void *send_elsewhere(void *context)
{
	struct weir_publisher_probe **publisher = context;

	weir_publisher_probe_send(*publisher, &b);
	return NULL;
}

/* Another thread sends while this one is inside on_next. */
static void send_at_once(struct weir_subscriber_probe *probe,
			 enum weir_signal signal, void *context)
{
	pthread_t thread;

	if (signal != WEIR_SIGNAL_ON_NEXT ||
	    weir_subscriber_probe_counts(probe).items > 1)
		return;
	assert_int_equal(pthread_create(&thread, NULL, send_elsewhere, context),
			 0);
	pthread_join(thread, NULL);
}

static void two_signals_at_once_are_seen(void **state)
{
	struct weir_publisher_probe *publisher;
	struct meeting m = meet(NULL, NULL,
				&(struct weir_subscriber_probe_options){
					.signalled = send_at_once,
					.context = &publisher,
				});

	publisher = m.publisher;
	weir_subscriber_probe_request(m.subscriber, 5);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	says(m.subscriber, "1.3");
	part(&m);
}

static void probe_requests_on_its_own(void **state)
{
	struct meeting m = meet(NULL, NULL,
				&(struct weir_subscriber_probe_options){
					.request_first = 2,
					.request_each = 3,
				});

	assert_true(weir_publisher_probe_expect_request(m.publisher, 2));
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	assert_true(weir_publisher_probe_expect_request(m.publisher, 3));
	part(&m);
}

static void probe_cancels_on_its_own(void **state)
{
	struct meeting m = meet(NULL, NULL,
				&(struct weir_subscriber_probe_options){
					.request_first = 5,
					.cancel_at = 2,
				});

	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	assert_true(weir_publisher_probe_expect_no_cancel(m.publisher));
	assert_int_equal(weir_publisher_probe_send(m.publisher, &b), 0);
	assert_true(weir_publisher_probe_expect_cancel(m.publisher));
	part(&m);

	m = meet(NULL, NULL,
		 &(struct weir_subscriber_probe_options){.cancel_at = -1});
	assert_true(weir_publisher_probe_expect_cancel(m.publisher));
	part(&m);
}

static void probe_fails_on_its_own(void **state)
{
	struct meeting m = meet(NULL, NULL,
				&(struct weir_subscriber_probe_options){
					.request_first = 5,
					.fail_at = 2,
				});

	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &b), -EIO);
	assert_int_equal(weir_subscriber_probe_counts(m.subscriber).items, 1);
	assert_int_equal(weir_subscriber_probe_counts(m.subscriber).refused, 1);
	assert_true(weir_subscriber_probe_expect_released(m.subscriber));
	part(&m);
}

static void signal_after_a_failed_one_is_seen(void **state)
{
	struct meeting m = meet(NULL, NULL,
				&(struct weir_subscriber_probe_options){
					.request_first = 5,
					.fail_at = 1,
				});

	weir_publisher_probe_misbehave(m.publisher);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), -EIO);
	weir_publisher_probe_complete(m.publisher);
	says(m.subscriber, "2.13");
	part(&m);
}

static void items_beyond_the_limit_are_refused(void **state)
{
	struct meeting m = meet(NULL, NULL,
				&(struct weir_subscriber_probe_options){
					.request_first = 5,
					.limit = 1,
				});

	assert_int_equal(weir_publisher_probe_send(m.publisher, &a), 0);
	assert_int_equal(weir_publisher_probe_send(m.publisher, &b),
			 -EOVERFLOW);
	says(m.subscriber, "limit");
	part(&m);
}

static void count_drop(void *item, void *context)
{
	++*(int *)context;
}

static void items_are_dropped_with_the_probe_or_at_once(void **state)
{
	int dropped = 0;
	struct weir_items items = {.drop = count_drop, .context = &dropped};
	void *const two[] = {&a, &b};
	size_t taken;
	struct meeting m = meet(NULL, &items,
				&(struct weir_subscriber_probe_options){
					.request_first = 5,
				});

	weir_publisher_probe_send_n(m.publisher, two, 2, &taken);
	assert_int_equal(dropped, 0);
	part(&m);
	assert_int_equal(dropped, 2);

	m = meet(NULL, &items,
		 &(struct weir_subscriber_probe_options){
			 .request_first = 5,
			 .batches = true,
			 .drops = true,
		 });
	weir_publisher_probe_send_n(m.publisher, two, 2, &taken);
	assert_int_equal(dropped, 4);
	part(&m);
	assert_int_equal(dropped, 4);
}

static void batch_stops_where_the_subscriber_fails(void **state)
{
	void *const items[] = {&a, &b, &c};
	size_t taken;
	struct meeting m = meet(NULL, NULL,
				&(struct weir_subscriber_probe_options){
					.request_first = 5,
					.fail_at = 3,
					.batches = true,
				});

	assert_int_equal(weir_publisher_probe_send_n(m.publisher, items, 3,
						     &taken),
			 -EIO);
	assert_int_equal(taken, 2);
	assert_int_equal(weir_publisher_probe_counts(m.publisher).sent, 2);
	part(&m);
}

static void request_and_cancel_in_the_end_are_counted(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);

	weir_subscriber_probe_request(m.subscriber, 0);
	assert_int_equal(weir_publisher_probe_counts(m.publisher).bad, 1);
	assert_int_equal(weir_publisher_probe_complete(m.publisher), 0);
	assert_int_equal(weir_publisher_probe_counts(m.publisher).in_end, 0);
	weir_subscriber_probe_request(m.subscriber, 1);
	weir_subscriber_probe_cancel(m.subscriber);
	assert_int_equal(weir_publisher_probe_counts(m.publisher).in_end, 2);
	part(&m);
}

static void held_probes_are_not_freed(void **state)
{
	struct meeting m = meet(NULL, NULL, NULL);

	weir_publisher_probe_misbehave(m.publisher);
	assert_int_equal(weir_subscriber_probe_free(m.subscriber), -EBUSY);
	assert_int_equal(weir_publisher_probe_counts(m.publisher).references,
			 1);
	assert_int_equal(weir_publisher_probe_free(m.publisher), -EBUSY);
	part(&m);
}

/* Sends an item after a while. */
struct late {
	struct weir_timer timer;
	struct weir_publisher_probe *publisher;
};

static void late_fire(struct weir_timer *timer)
{
	weir_publisher_probe_send(
		weir_container_of(timer, struct late, timer)->publisher, &a);
}

static void nothing_comes_before_its_time(void **state)
{
	struct late late = {.timer.fire = late_fire};
	struct weir_test_env env;
	struct weir_sim *sim;
	struct meeting m;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	env = weir_test_env_sim(sim);
	m = meet(&env, NULL,
		 &(struct weir_subscriber_probe_options){.request_first = 1});
	late.publisher = m.publisher;
	assert_true(weir_subscriber_probe_expect_subscription(m.subscriber));
	assert_int_equal(
		weir_timer_arm(weir_sim_executor(sim), &late.timer, 1000), 0);
	assert_true(weir_subscriber_probe_expect_nothing(m.subscriber));
	assert_int_equal(weir_test_advance(&env, 999), 0);
	assert_true(weir_subscriber_probe_expect_nothing(m.subscriber));
	assert_int_equal(weir_test_advance(&env, 1), 0);
	assert_true(weir_subscriber_probe_expect_next(m.subscriber, &a));
	part(&m);
	assert_int_equal(weir_sim_free(sim), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stream_is_met_signal_by_signal),
		cmocka_unit_test(what_is_not_so_is_said),
		cmocka_unit_test(another_item_is_not_the_expected_one),
		cmocka_unit_test(items_are_met_in_any_order),
		cmocka_unit_test(error_arrives_as_the_same_object),
		cmocka_unit_test(publisher_probe_keeps_the_rules),
		cmocka_unit_test(second_subscriber_is_rejected),
		cmocka_unit_test(broken_rules_are_seen),
		cmocka_unit_test(signals_before_on_subscribe_are_seen),
		cmocka_unit_test(signals_without_a_reference_are_seen),
		cmocka_unit_test(after_cancel_signals_are_counted),
		cmocka_unit_test(signal_inside_a_signal_is_seen),
		cmocka_unit_test(two_signals_at_once_are_seen),
		cmocka_unit_test(probe_requests_on_its_own),
		cmocka_unit_test(probe_cancels_on_its_own),
		cmocka_unit_test(probe_fails_on_its_own),
		cmocka_unit_test(signal_after_a_failed_one_is_seen),
		cmocka_unit_test(items_beyond_the_limit_are_refused),
		cmocka_unit_test(items_are_dropped_with_the_probe_or_at_once),
		cmocka_unit_test(batch_stops_where_the_subscriber_fails),
		cmocka_unit_test(request_and_cancel_in_the_end_are_counted),
		cmocka_unit_test(held_probes_are_not_freed),
		cmocka_unit_test(nothing_comes_before_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
