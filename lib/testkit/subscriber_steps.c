/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of tests of subscribers, all on the test's thread. A test ends in
 * this order: the stream ends; the publisher releases the subscriber; the
 * factory takes the subscriber back; then no subscription may be held any more.
 */
#include "testkit/subscriber_steps.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct weir__sub *weir__sub_of(struct weir__verify *verify)
{
	return verify->state;
}

struct weir_publisher_probe_counts weir__sub_counts(struct weir__verify *verify)
{
	return weir_publisher_probe_counts(weir__sub_of(verify)->probe);
}

/* A subscriber, not subscribed yet. */
bool weir__sub_make(struct weir__verify *verify)
{
	struct weir_subscriber_factory *factory = verify->factory;
	struct weir__sub *sub = calloc(1, sizeof(*sub));

	if (!sub)
		return weir__verify_fail(verify, "no memory");
	verify->state = sub;
	sub->factory = factory;
	sub->error = weir_error_format(-EIO, "testkit", "on purpose");
	sub->subscriber = factory->create(factory);
	if (!sub->subscriber)
		return weir__verify_fail(verify, "no subscriber was made");
	sub->probe = weir__verify_publisher(verify, factory->items);
	return sub->probe && weir__verify_settle(verify);
}

bool weir__sub_subscribe(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);
	int rc = weir_publisher_subscribe(weir_publisher_probe_base(sub->probe),
					  sub->subscriber);

	sub->subscribed = rc == 0;
	if (rc < 0)
		return weir__verify_fail(verify, "subscribe: %d", rc);
	return true;
}

bool weir__sub_start(struct weir__verify *verify)
{
	return weir__sub_make(verify) && weir__sub_subscribe(verify) &&
	       weir__verify_settle(verify);
}

/* From now on signals are sent whatever the rules say. */
bool weir__sub_misbehave(struct weir__verify *verify)
{
	weir_publisher_probe_misbehave(weir__sub_of(verify)->probe);
	return true;
}

/* The first `n` items sent, and no others, have been processed in order. */
bool weir__sub_processed(struct weir__verify *verify, int64_t n)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;
	int64_t i, got = factory->received(factory, sub->subscriber);

	assert(sub->checked <= n);
	for (i = sub->checked; i < n && i < got; i++)
		if (!factory->is_item(factory, sub->subscriber, i, i))
			return weir__verify_fail(
				verify,
				"what was processed as number %" PRId64
				" is not what was sent as that",
				i);
	if (got != n)
		return weir__verify_fail(verify,
					 "%" PRId64 " items were processed, "
					 "not %" PRId64,
					 got, n);
	sub->checked = n;
	return true;
}

/* An item that was not taken. */
void weir__sub_drop(struct weir_subscriber_factory *factory, void *item)
{
	if (factory->items && factory->items->drop)
		factory->items->drop(item, factory->items->context);
}

/* Sends one item. The factory's `live` shows whether it leaks. */
static bool send_item(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;
	void *item = factory->item(factory, sub->sent);
	int rc;

	if (!item)
		return weir__verify_fail(verify, "no item was made");
	rc = weir_publisher_probe_send(sub->probe, item);
	if (rc == 0) {
		sub->sent++;
		return true;
	}
	weir__sub_drop(factory, item);
	return weir__verify_fail(verify, "2.13: on_next returned %d", rc);
}

bool weir__sub_send_items(struct weir__verify *verify, int64_t n)
{
	while (n-- > 0)
		if (!send_item(verify))
			return false;
	return true;
}

/* The number of items that the subscriber has requested and not got yet. */
int64_t weir__sub_outstanding(struct weir__verify *verify)
{
	return weir__sub_counts(verify).requested - weir__sub_of(verify)->sent;
}

/* True: the subscriber has demand, if need be after `request` was called. */
bool weir__sub_wants(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;

	if (weir__sub_outstanding(verify) > 0)
		return true;
	if (factory->request) {
		factory->request(factory, sub->subscriber, 4);
		if (!weir__verify_settle(verify))
			return false;
	}
	return weir__sub_outstanding(verify) > 0 ||
	       weir__verify_fail(verify,
				 "2.1: requests nothing when %" PRId64
				 " items have come",
				 sub->sent);
}

/* Sends `n` items as they are requested; all must be processed. */
bool weir__sub_receives(struct weir__verify *verify, int64_t n)
{
	struct weir__sub *sub = weir__sub_of(verify);
	int64_t burst;

	for (; n > 0; n -= burst) {
		if (!weir__sub_wants(verify))
			return false;
		burst = weir__sub_outstanding(verify);
		if (burst > n)
			burst = n;
		if (!weir__sub_send_items(verify, burst) ||
		    !weir__verify_settle(verify))
			return false;
	}
	return weir__sub_processed(verify, sub->sent);
}

/* Sends the last signal; NULL: on_complete. */
bool weir__sub_sends_end(struct weir__verify *verify, struct weir_error *error)
{
	struct weir__sub *sub = weir__sub_of(verify);
	int rc = error ? weir_publisher_probe_error(sub->probe, error)
		       : weir_publisher_probe_complete(sub->probe);

	sub->over = true;
	return rc == 0 ||
	       weir__verify_fail(verify, "2.13: %s returned %d",
				 error ? "on_error" : "on_complete", rc);
}

bool weir__sub_ended_with(struct weir__verify *verify, struct weir_error *error)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;
	struct weir_error *got = NULL;

	if (!factory->ended(factory, sub->subscriber, &got))
		return weir__verify_fail(verify, "%s was not processed",
					 error ? "on_error" : "on_complete");
	if (error && sub->factory->recovers)
		return true;
	if (got == error)
		return true;
	if (!error)
		return weir__verify_fail(verify, "an error was processed, no "
						 "on_complete");
	return weir__verify_fail(verify, "on_error was processed %s",
				 got ? "with another error"
				     : "as if on_complete");
}

bool weir__sub_not_ended(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_error *error;

	return !sub->factory->ended(sub->factory, sub->subscriber, &error) ||
	       weir__verify_fail(verify, "has ended without a last signal");
}

/* Sends the last signal, and checks that the subscriber has processed it. */
bool weir__sub_ends(struct weir__verify *verify, struct weir_error *error)
{
	return weir__sub_sends_end(verify, error) &&
	       weir__verify_settle(verify) &&
	       weir__sub_ended_with(verify, error);
}

/* Checks that the subscriber calls nothing inside or after the last signal. */
bool weir__sub_calls_nothing(struct weir__verify *verify)
{
	return weir__sub_counts(verify).in_end == 0 ||
	       weir__verify_fail(verify, "request or cancel was called in "
					 "reply to the last signal, or after");
}

/* Makes the subscriber cancel, if the factory can. */
bool weir__sub_cancels(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);

	if (!sub->factory->cancel)
		return weir__verify_skip(verify, "cannot be made to cancel");
	sub->factory->cancel(sub->factory, sub->subscriber);
	return true;
}

bool weir__sub_on_subscribe(struct weir__verify *verify)
{
	int rc = weir_publisher_probe_on_subscribe(weir__sub_of(verify)->probe);

	return rc == 0 ||
	       weir__verify_fail(verify, "2.13: on_subscribe returned %d", rc);
}

bool weir__sub_make_held(struct weir__verify *verify)
{
	if (!weir__sub_make(verify))
		return false;
	weir_publisher_probe_hold(weir__sub_of(verify)->probe);
	return weir__sub_subscribe(verify);
}

/* Subscribes to a publisher of `n` items that sends inside request. */
bool weir__sub_start_sync(struct weir__verify *verify, uint32_t n,
			  struct weir_error *error)
{
	struct weir_subscriber_factory *factory = verify->factory;
	struct weir__sync_publisher *sync;
	struct weir__sub *sub;

	assert(n <= WEIR__SYNC_PUBLISHER_ITEMS);
	if (!weir__sub_make(verify))
		return false;
	sub = weir__sub_of(verify);
	sync = calloc(1, sizeof(*sync));
	if (!sync)
		return weir__verify_fail(verify, "no memory");
	sub->sync = sync;
	sync->items = factory->items;
	sync->error = error;
	weir__sync_publisher_init(sync);
	for (; sync->n < n; sync->n++) {
		sync->item[sync->n] = factory->item(factory, sync->n);
		if (!sync->item[sync->n])
			return weir__verify_fail(verify, "no item was made");
	}
	sub->subscribed = true;
	(void)weir_publisher_subscribe(&sync->publisher, sub->subscriber);
	return weir__verify_settle(verify);
}

/* Lets the subscriber request until all items are sent. */
bool weir__sub_drains_sync(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;
	uint32_t before, n = sub->sync->n;

	while (sub->sync->next < n && factory->request) {
		before = sub->sync->next;
		factory->request(factory, sub->subscriber, 8);
		if (!weir__verify_settle(verify))
			return false;
		if (sub->sync->next == before)
			break;
	}
	if (sub->sync->failed)
		return weir__verify_fail(verify, "2.13: a signal from within "
						 "request was not taken");
	return weir__sub_processed(verify, n) &&
	       weir__sub_ended_with(verify, sub->sync->error);
}

/* Ends the stream, whatever became of the test. */
static void end_stream(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;

	if (!sub->sync && !sub->subscribed)
		(void)weir__sub_subscribe(verify);
	if (sub->sync) {
		weir__sync_publisher_stop(sub->sync);
	} else if (!sub->over) {
		if (factory->cancel)
			factory->cancel(factory, sub->subscriber);
		weir__verify_settle(verify);
		if (weir__sub_counts(verify).cancels == 0)
			(void)weir_publisher_probe_complete(sub->probe);
	}
	weir__verify_settle(verify);
}

/* Checks of every test. */
static void look_at_calls(struct weir__verify *verify)
{
	struct weir_publisher_probe_counts counts = weir__sub_counts(verify);

	if (counts.bad > 0)
		weir__verify_fail(verify, "3.9: requested nothing or less");
	if (counts.overlaps > 0)
		weir__verify_fail(verify, "2.7: request or cancel was called "
					  "during another call of them");
}

/* False: the subscriber still holds the subscription of one of the two. */
static bool give_up(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);

	if (sub->probe && weir_publisher_probe_free(sub->probe) == 0) {
		sub->probe = NULL;
		verify->n_publishers = 0;
	}
	weir__verify_settle(verify);
	return !sub->probe &&
	       (!sub->sync || weir__sync_publisher_is_released(sub->sync));
}

static void look_at_release(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;

	if (sub->subscribed && factory->released &&
	    !factory->released(factory, sub->subscriber))
		weir__verify_fail(verify, "no publisher holds it any more, and "
					  "it was not released, or used since");
	if (sub->sync && sub->sync->misused)
		weir__verify_fail(verify, "called a subscription that it had "
					  "given back");
}

static void drop_unsent(struct weir__sub *sub)
{
	uint32_t i;

	if (!sub->sync)
		return;
	for (i = sub->sync->next; i < sub->sync->n; i++)
		weir__sub_drop(sub->factory, sub->sync->item[i]);
}

static void release(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);
	struct weir_subscriber_factory *factory = sub->factory;
	bool gone;

	end_stream(verify);
	look_at_calls(verify);
	(void)give_up(verify);
	look_at_release(verify);
	factory->release(factory, sub->subscriber);
	weir__verify_settle(verify);
	gone = give_up(verify);
	drop_unsent(sub);
	if (gone)
		free(sub->sync);
	else
		weir__verify_fail(verify, "the subscriber is gone and still "
					  "holds its subscription");
}

void weir__sub_end(struct weir__verify *verify)
{
	struct weir__sub *sub = weir__sub_of(verify);

	if (!sub)
		return;
	if (sub->probe)
		release(verify);
	else if (sub->subscriber)
		sub->factory->release(sub->factory, sub->subscriber);
	weir_error_unref(sub->error);
	free(sub);
	verify->state = NULL;
}
