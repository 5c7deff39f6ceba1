/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract itself: what is refused, who is told when nobody holds a
 * subscription or a subscriber any more, and how a subscriber is rejected.
 */
#include "support.h"

#include <string.h>

#include <weir/stream.h>

/* --- A subscriber and a subscription that write down what is called ------- */

struct log {
	char calls[32];
	size_t n;
};

static void note(struct log *log, char call)
{
	assert(log->n < sizeof(log->calls) - 1);
	log->calls[log->n++] = call;
}

struct reader {
	struct weir_subscriber subscriber;
	struct log log;
	struct weir_subscription *kept;
	struct weir_error *error;
	int answer; /* of each signal */
};

static struct reader *reader_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct reader, subscriber);
}

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	struct reader *self = reader_of(subscriber);

	note(&self->log, 's');
	self->kept = weir_subscription_ref(subscription);
	weir_subscription_request(subscription, 3);
	return self->answer;
}

static int on_next(struct weir_subscriber *subscriber, void *item)
{
	note(&reader_of(subscriber)->log, 'n');
	return reader_of(subscriber)->answer;
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	note(&reader_of(subscriber)->log, 'e');
	reader_of(subscriber)->error = error;
	return reader_of(subscriber)->answer;
}

static int on_complete(struct weir_subscriber *subscriber)
{
	note(&reader_of(subscriber)->log, 'c');
	return reader_of(subscriber)->answer;
}

static void reader_released(struct weir_subscriber *subscriber)
{
	note(&reader_of(subscriber)->log, 'r');
}

static const struct weir_subscriber_ops reader_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_error = on_error,
	.on_complete = on_complete,
	.released = reader_released,
};

struct source {
	struct weir_subscription subscription;
	struct log log;
	int64_t requested;
};

static struct source *source_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct source, subscription);
}

static void source_request(struct weir_subscription *subscription, int64_t n)
{
	note(&source_of(subscription)->log, 'q');
	source_of(subscription)->requested = n;
}

static void source_cancel(struct weir_subscription *subscription)
{
	note(&source_of(subscription)->log, 'x');
}

static void source_released(struct weir_subscription *subscription)
{
	note(&source_of(subscription)->log, 'r');
}

static const struct weir_subscription_ops source_ops = {
	.request = source_request,
	.cancel = source_cancel,
	.released = source_released,
};

/* --- Subscription --------------------------------------------------------- */

static void a_subscription_is_set_up_with_all_it_needs(void **state)
{
	struct weir_subscription_ops no_request = {.cancel = source_cancel};
	struct weir_subscription_ops no_cancel = {.request = source_request};
	struct weir_subscription subscription, before;

	memset(&subscription, 0x55, sizeof(subscription));
	before = subscription;
	assert_int_equal(weir_subscription_init(NULL, &source_ops, NULL),
			 -EINVAL);
	assert_int_equal(weir_subscription_init(&subscription, NULL, NULL),
			 -EINVAL);
	assert_int_equal(weir_subscription_init(&subscription, &no_request,
						NULL),
			 -EINVAL);
	assert_int_equal(weir_subscription_init(&subscription, &no_cancel,
						NULL),
			 -EINVAL);
	assert_memory_equal(&subscription, &before, sizeof(before));
}

static void a_subscription_says_what_its_items_are(void **state)
{
	static const struct weir_items items;
	struct weir_subscription subscription;

	assert_int_equal(
		weir_subscription_init(&subscription, &source_ops, &items), 0);
	assert_ptr_equal(subscription.items, &items);
	assert_ptr_equal(subscription.ops, &source_ops);
	assert_int_equal(
		weir_subscription_init(&subscription, &source_ops, NULL), 0);
	assert_null(subscription.items);
}

static void a_subscription_is_released_with_its_last_reference(void **state)
{
	struct source source = {.requested = 0};

	assert_int_equal(weir_subscription_init(&source.subscription,
						&source_ops, NULL),
			 0);
	assert_ptr_equal(weir_subscription_ref(&source.subscription),
			 &source.subscription);
	weir_subscription_unref(&source.subscription);
	assert_string_equal(source.log.calls, "");
	weir_subscription_unref(&source.subscription);
	assert_string_equal(source.log.calls, "r");
}

static void a_subscription_need_not_hear_of_its_release(void **state)
{
	struct weir_subscription_ops ops = source_ops;
	struct source source = {.requested = 0};

	ops.released = NULL;
	assert_int_equal(
		weir_subscription_init(&source.subscription, &ops, NULL), 0);
	weir_subscription_unref(&source.subscription);
	assert_string_equal(source.log.calls, "");
}

static void requests_and_cancels_are_passed_on_as_they_are(void **state)
{
	static const int64_t requests[] = {1, INT64_MAX, 0, -1, INT64_MIN};
	struct source source = {.requested = 0};

	assert_int_equal(weir_subscription_init(&source.subscription,
						&source_ops, NULL),
			 0);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		weir_subscription_request(&source.subscription, requests[i]);
		assert_true(source.requested == requests[i]);
	}
	weir_subscription_cancel(&source.subscription);
	assert_string_equal(source.log.calls, "qqqqqx");
}

static void without_a_subscription_nothing_is_done(void **state)
{
	weir_subscription_request(NULL, 1);
	weir_subscription_cancel(NULL);
	weir_subscription_unref(NULL);
	assert_null(weir_subscription_ref(NULL));
}

/* --- Subscriber ----------------------------------------------------------- */

static void a_subscriber_is_set_up_with_all_four_signals(void **state)
{
	struct weir_subscriber_ops ops[4] = {reader_ops, reader_ops, reader_ops,
					     reader_ops};
	struct weir_subscriber subscriber, before;

	ops[0].on_subscribe = NULL;
	ops[1].on_next = NULL;
	ops[2].on_error = NULL;
	ops[3].on_complete = NULL;
	memset(&subscriber, 0x55, sizeof(subscriber));
	before = subscriber;
	for (int i = 0; i < 4; i++)
		assert_int_equal(weir_subscriber_init(&subscriber, &ops[i]),
				 -EINVAL);
	assert_int_equal(weir_subscriber_init(&subscriber, NULL), -EINVAL);
	assert_int_equal(weir_subscriber_init(NULL, &reader_ops), -EINVAL);
	assert_memory_equal(&subscriber, &before, sizeof(before));
}

static void a_subscriber_is_released_when_nobody_holds_it(void **state)
{
	struct reader reader = {.answer = 0};
	struct weir_subscriber *subscriber = &reader.subscriber;

	assert_int_equal(weir_subscriber_init(subscriber, &reader_ops), 0);
	assert_ptr_equal(weir_subscriber_ref(subscriber), subscriber);
	assert_ptr_equal(weir_subscriber_ref(subscriber), subscriber);
	weir_subscriber_unref(subscriber);
	assert_string_equal(reader.log.calls, "");
	weir_subscriber_unref(subscriber);
	assert_string_equal(reader.log.calls, "r");
}

static void held(struct weir_subscriber *subscriber)
{
	note(&reader_of(subscriber)->log, 'h');
}

static void a_subscriber_hears_of_its_first_holder(void **state)
{
	struct weir_subscriber_ops ops = reader_ops;
	struct reader reader = {.answer = 0};
	struct weir_subscriber *subscriber = &reader.subscriber;

	ops.held = held;
	assert_int_equal(weir_subscriber_init(subscriber, &ops), 0);
	weir_subscriber_ref(subscriber);
	weir_subscriber_ref(subscriber);
	assert_string_equal(reader.log.calls, "h");
	weir_subscriber_unref(subscriber);
	weir_subscriber_unref(subscriber);
	assert_string_equal(reader.log.calls, "hr");
	weir_subscriber_unref(weir_subscriber_ref(subscriber));
	assert_string_equal(reader.log.calls, "hrhr");
}

static void a_subscriber_need_not_hear_of_its_release(void **state)
{
	struct weir_subscriber_ops ops = reader_ops;
	struct reader reader = {.answer = 0};

	ops.released = NULL;
	assert_int_equal(weir_subscriber_init(&reader.subscriber, &ops), 0);
	weir_subscriber_unref(weir_subscriber_ref(&reader.subscriber));
	assert_string_equal(reader.log.calls, "");
}

static void without_a_subscriber_nothing_is_done(void **state)
{
	struct weir_subscriber never_set_up = {0};

	weir_subscriber_unref(NULL);
	assert_null(weir_subscriber_ref(NULL));
	assert_int_equal(weir_subscriber_reject(NULL, weir_error_of(-ENOMEM)),
			 -EINVAL);
	assert_int_equal(weir_subscriber_reject(&never_set_up, NULL), -EINVAL);
	assert_int_equal(never_set_up.refs, 0);
}

/* --- Rejecting ------------------------------------------------------------ */

static void spec_1_09_who_is_rejected_has_a_subscription_first(void **state)
{
	struct weir_error *error =
		weir_error_format(-EISCONN, "test", "one only");
	struct reader reader = {.answer = 0};

	assert_int_equal(weir_subscriber_init(&reader.subscriber, &reader_ops),
			 0);
	assert_int_equal(weir_subscriber_reject(&reader.subscriber, error), 0);
	assert_string_equal(reader.log.calls, "ser");
	assert_ptr_equal(reader.error, error);
	assert_int_equal(error->refs, 1);
	assert_null(reader.kept->items);
	weir_error_unref(error);
	weir_subscription_unref(reader.kept);
}

static void rejecting_without_an_error_completes(void **state)
{
	struct reader reader = {.answer = 0};

	assert_int_equal(weir_subscriber_init(&reader.subscriber, &reader_ops),
			 0);
	assert_int_equal(weir_subscriber_reject(&reader.subscriber, NULL), 0);
	assert_string_equal(reader.log.calls, "scr");
	weir_subscription_unref(reader.kept);
}

static void spec_3_06_the_subscription_of_the_rejected_does_nothing(
	void **state)
{
	struct reader reader = {.answer = 0};

	assert_int_equal(weir_subscriber_init(&reader.subscriber, &reader_ops),
			 0);
	assert_int_equal(weir_subscriber_reject(&reader.subscriber, NULL), 0);
	weir_subscription_request(reader.kept, 1);
	weir_subscription_request(reader.kept, INT64_MIN);
	weir_subscription_cancel(reader.kept);
	weir_subscription_request(reader.kept, 0);
	weir_subscription_unref(reader.kept);
	assert_string_equal(reader.log.calls, "scr");
}

static void the_rejected_subscription_serves_any_number(void **state)
{
	struct reader readers[3] = {{.answer = 0}};

	for (int i = 0; i < 3; i++) {
		assert_int_equal(weir_subscriber_init(&readers[i].subscriber,
						      &reader_ops),
				 0);
		assert_int_equal(weir_subscriber_reject(&readers[i].subscriber,
							NULL),
				 0);
	}
	for (int i = 0; i < 3; i++)
		weir_subscription_unref(readers[i].kept);
	assert_int_equal(readers[0].kept->refs, 1);
}

static void who_holds_the_rejected_keeps_it_from_its_release(void **state)
{
	struct reader reader = {.answer = 0};

	assert_int_equal(weir_subscriber_init(&reader.subscriber, &reader_ops),
			 0);
	weir_subscriber_ref(&reader.subscriber);
	assert_int_equal(weir_subscriber_reject(&reader.subscriber, NULL), 0);
	assert_string_equal(reader.log.calls, "sc");
	weir_subscriber_unref(&reader.subscriber);
	assert_string_equal(reader.log.calls, "scr");
	weir_subscription_unref(reader.kept);
}

static void spec_2_13_the_broken_get_no_signal_more(void **state)
{
	struct reader reader = {.answer = -EIO};

	assert_int_equal(weir_subscriber_init(&reader.subscriber, &reader_ops),
			 0);
	assert_int_equal(weir_subscriber_reject(&reader.subscriber,
						weir_error_of(-ENOMEM)),
			 -EIO);
	assert_string_equal(reader.log.calls, "sr");
	weir_subscription_unref(reader.kept);
}

/* Answers well to the subscription only. */
static int sound_on_subscribe(struct weir_subscriber *subscriber,
			      struct weir_subscription *subscription)
{
	note(&reader_of(subscriber)->log, 's');
	return 0;
}

static void rejecting_returns_what_the_last_signal_does(void **state)
{
	struct weir_subscriber_ops ops = reader_ops;
	struct reader reader = {.answer = -EIO};

	ops.on_subscribe = sound_on_subscribe;
	assert_int_equal(weir_subscriber_init(&reader.subscriber, &ops), 0);
	assert_int_equal(weir_subscriber_reject(&reader.subscriber,
						weir_error_of(-ENOMEM)),
			 -EIO);
	assert_int_equal(weir_subscriber_reject(&reader.subscriber, NULL),
			 -EIO);
	assert_string_equal(reader.log.calls, "serscr");
}

/* --- Publisher ------------------------------------------------------------ */

static struct weir_subscriber *has_come;

static int subscribe(struct weir_publisher *publisher,
		     struct weir_subscriber *subscriber)
{
	has_come = subscriber;
	return -EXDEV;
}

static const struct weir_publisher_ops publisher_ops = {
	.subscribe = subscribe,
};

static void subscribing_is_passed_on(void **state)
{
	struct weir_publisher publisher = {.ops = &publisher_ops};
	struct reader reader = {.answer = 0};

	has_come = NULL;
	assert_int_equal(weir_subscriber_init(&reader.subscriber, &reader_ops),
			 0);
	assert_int_equal(weir_publisher_subscribe(&publisher,
						  &reader.subscriber),
			 -EXDEV);
	assert_ptr_equal(has_come, &reader.subscriber);
	assert_string_equal(reader.log.calls, "");
}

static void spec_1_09_subscribing_refuses_null(void **state)
{
	static const struct weir_publisher_ops empty_ops = {0};
	struct weir_publisher publisher = {.ops = &publisher_ops}, none = {0},
			      empty = {.ops = &empty_ops};
	struct weir_subscriber never_set_up = {0};
	struct reader reader = {.answer = 0};

	has_come = NULL;
	assert_int_equal(weir_subscriber_init(&reader.subscriber, &reader_ops),
			 0);
	assert_int_equal(weir_publisher_subscribe(NULL, &reader.subscriber),
			 -EINVAL);
	assert_int_equal(weir_publisher_subscribe(&none, &reader.subscriber),
			 -EINVAL);
	assert_int_equal(weir_publisher_subscribe(&empty, &reader.subscriber),
			 -EINVAL);
	assert_int_equal(weir_publisher_subscribe(&publisher, NULL), -EINVAL);
	assert_int_equal(weir_publisher_subscribe(&publisher, &never_set_up),
			 -EINVAL);
	assert_null(has_come);
	assert_string_equal(reader.log.calls, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_subscription_is_set_up_with_all_it_needs),
		cmocka_unit_test(a_subscription_says_what_its_items_are),
		cmocka_unit_test(
			a_subscription_is_released_with_its_last_reference),
		cmocka_unit_test(a_subscription_need_not_hear_of_its_release),
		cmocka_unit_test(
			requests_and_cancels_are_passed_on_as_they_are),
		cmocka_unit_test(without_a_subscription_nothing_is_done),
		cmocka_unit_test(a_subscriber_is_set_up_with_all_four_signals),
		cmocka_unit_test(a_subscriber_is_released_when_nobody_holds_it),
		cmocka_unit_test(a_subscriber_hears_of_its_first_holder),
		cmocka_unit_test(a_subscriber_need_not_hear_of_its_release),
		cmocka_unit_test(without_a_subscriber_nothing_is_done),
		cmocka_unit_test(
			spec_1_09_who_is_rejected_has_a_subscription_first),
		cmocka_unit_test(rejecting_without_an_error_completes),
		cmocka_unit_test(
			spec_3_06_the_subscription_of_the_rejected_does_nothing),
		cmocka_unit_test(the_rejected_subscription_serves_any_number),
		cmocka_unit_test(
			who_holds_the_rejected_keeps_it_from_its_release),
		cmocka_unit_test(spec_2_13_the_broken_get_no_signal_more),
		cmocka_unit_test(rejecting_returns_what_the_last_signal_does),
		cmocka_unit_test(subscribing_is_passed_on),
		cmocka_unit_test(spec_1_09_subscribing_refuses_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
