/* SPDX-License-Identifier: BSD-2-Clause */
#include "stream/ends.h"

static void taker_enter(struct taker *self)
{
	assert_int_equal(ck_pr_faa_32(&self->inside, 1), 0);
	assert_int_equal(self->released + self->errors + self->completes, 0);
}

static int taker_leave(struct taker *self, int rc)
{
	ck_pr_dec_32(&self->inside);
	return rc;
}

struct taker *taker_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct taker, subscriber);
}

int taker_on_subscribe(struct weir_subscriber *subscriber,
		       struct weir_subscription *subscription)
{
	struct taker *self = taker_of(subscriber);

	taker_enter(self);
	assert_int_equal(self->subscribed++, 0);
	assert_non_null(subscription);
	if (self->refuse_subscribe)
		return taker_leave(self, -EIO);
	self->subscription = weir_subscription_ref(subscription);
	if (self->first)
		weir_subscription_request(subscription, self->first);
	return taker_leave(self, 0);
}

int taker_on_next(struct weir_subscriber *subscriber, void *item)
{
	struct taker *self = taker_of(subscriber);

	taker_enter(self);
	assert_int_equal(self->subscribed, 1);
	if (self->seen + 1 == self->refuse_at)
		return taker_leave(self, -EIO);
	if (self->ordered)
		assert_int_equal((uintptr_t)item, self->last + 1);
	self->last = ledger_deliver(self->ledger, item);
	if (++self->seen == self->cancel_at)
		weir_subscription_cancel(self->subscription);
	if (self->each)
		weir_subscription_request(self->subscription, self->each);
	return taker_leave(self, 0);
}

int taker_on_error(struct weir_subscriber *subscriber, struct weir_error *error)
{
	struct taker *self = taker_of(subscriber);

	taker_enter(self);
	assert_int_equal(self->subscribed, 1);
	self->error = weir_error_ref(error);
	self->errors++;
	return taker_leave(self, 0);
}

int taker_on_complete(struct weir_subscriber *subscriber)
{
	struct taker *self = taker_of(subscriber);

	taker_enter(self);
	assert_int_equal(self->subscribed, 1);
	self->completes++;
	return taker_leave(self, 0);
}

void taker_released(struct weir_subscriber *subscriber)
{
	struct taker *self = taker_of(subscriber);

	assert_int_equal(self->inside, 0);
	self->released++;
}

const struct weir_subscriber_ops taker_ops = {
	.on_subscribe = taker_on_subscribe,
	.on_next = taker_on_next,
	.on_error = taker_on_error,
	.on_complete = taker_on_complete,
	.released = taker_released,
};

void taker_init(struct taker *self, struct ledger *ledger, int64_t first,
		int64_t each)
{
	memset(self, 0, sizeof(*self));
	self->ledger = ledger;
	self->first = first;
	self->each = each;
	self->ordered = true;
	assert_int_equal(weir_subscriber_init(&self->subscriber, &taker_ops),
			 0);
}

void taker_fini(struct taker *self)
{
	assert_int_equal(self->released, 1);
	weir_error_unref(self->error);
	weir_subscription_unref(self->subscription);
}

void taker_check(const struct taker *self, size_t seen, int code)
{
	assert_int_equal(self->seen, seen);
	assert_int_equal(self->completes, code == 0);
	assert_int_equal(self->errors, code < 0);
	if (code < 0)
		assert_int_equal(self->error->code, code);
}

static struct giver *giver_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct giver, subscription);
}

int giver_send(struct giver *self)
{
	void *item = ledger_make(self->ledger, ++self->next);
	int rc = self->subscriber->ops->on_next(self->subscriber, item);

	if (rc != 0)
		ledger_drop(item, self->ledger);
	return rc;
}

int giver_send_n(struct giver *self, size_t n, size_t null_at, size_t *taken)
{
	void *items[16];
	size_t i;
	int rc;

	assert_true(n <= 16);
	for (i = 0; i < n; i++)
		items[i] = i + 1 == null_at
				   ? NULL
				   : ledger_make(self->ledger, ++self->next);
	*taken = 0;
	rc = self->subscriber->ops->on_next_n(self->subscriber, items, n,
					      taken);
	if (rc == 0)
		*taken = n;
	for (i = *taken; i < n; i++)
		if (items[i])
			ledger_drop(items[i], self->ledger);
	return rc;
}

void giver_request(struct weir_subscription *subscription, int64_t n)
{
	struct giver *self = giver_of(subscription);

	assert_true(n > 0);
	self->requested += n;
	self->requests++;
	if (self->sending)
		return;
	self->sending = true;
	while ((int64_t)self->next < self->sends &&
	       (int64_t)self->next < self->requested)
		assert_int_equal(giver_send(self), 0);
	self->sending = false;
}

void giver_cancel(struct weir_subscription *subscription)
{
	giver_of(subscription)->cancels++;
}

void giver_released(struct weir_subscription *subscription)
{
	giver_of(subscription)->released++;
}

static const struct weir_subscription_ops giver_ops = {
	.request = giver_request,
	.cancel = giver_cancel,
	.released = giver_released,
};

void giver_init(struct giver *self, struct ledger *ledger,
		struct weir_subscriber *subscriber)
{
	memset(self, 0, sizeof(*self));
	self->ledger = ledger;
	self->subscriber = weir_subscriber_ref(subscriber);
	assert_int_equal(weir_subscription_init(&self->subscription, &giver_ops,
						&ledger->items),
			 0);
}

int giver_begin(struct giver *self)
{
	return self->subscriber->ops->on_subscribe(self->subscriber,
						   &self->subscription);
}

void giver_done(struct giver *self)
{
	weir_subscriber_unref(self->subscriber);
	weir_subscription_unref(&self->subscription);
	assert_int_equal(self->released, 1);
}
