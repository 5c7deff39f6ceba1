/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscribers that break off, in whatever signal and with how much taken, and
 * items that cannot be sent to any.
 */
#include "stream/meet.h"

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
	/* for a ring of 8 */
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_FAN_BALANCE, 8),
			 0);
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
		assert_int_equal(
			weir_publisher_subscribe(self->publisher,
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
	assert_int_equal(weir_out_fan(&ends.source.out, WEIR_FAN_BROADCAST, 8),
			 0);
	taker_init(&self.taker, &ends.ledger, 1, 1);
	taker_init(&self.guest, &ends.ledger, 1, 1);
	self.guest.ordered = false;
	self.taker.subscriber.ops = &ops;
	self.publisher = &ends.out.publisher;
	subscribe(&ends.out, &self.taker.subscriber);
	ends_start(&ends);
	taker_check(&self.taker, N, 0);
	/* the source may have run ahead of the first by what both hold */
	assert_in_range(self.guest.seen, N - 5 - 2 * 8, N - 5);
	assert_int_equal(self.guest.last, N);
	assert_int_equal(self.guest.completes, 1);
	taker_fini(&self.taker);
	taker_fini(&self.guest);
	ends_fini(&ends);
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
	return i == N ? WEIR_TURN_END : 0;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_is_taken_in_part_or_cancelled_or_all),
		cmocka_unit_test(who_refuses_the_last_signal_is_reported),
		cmocka_unit_test(cancel_or_a_bad_request_inside_on_subscribe),
		cmocka_unit_test(a_subscriber_brings_another_inside_on_next),
		cmocka_unit_test(a_null_item_ends_the_stream_with_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
