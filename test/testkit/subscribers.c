/* SPDX-License-Identifier: BSD-2-Clause */
#include "testkit/subscribers.h"

static void mine_drop(struct mine *self, void *item)
{
	if (self->items && self->items->drop)
		self->items->drop(item, self->items->context);
}

/* Somebody may still use those who have leaked something: they stay. */
static struct mine *mine_kept;

static void mine_free(struct mine *self)
{
	if (self->broken == LEAKS_SUBSCRIPTION) {
		self->kept = mine_kept;
		mine_kept = self;
		return;
	}
	self->owner->alive--;
	if (self->broken != USES_UNHELD)
		weir_subscription_unref(self->subscription);
	weir_error_unref(self->error);
	free(self);
}

/* Whatever calls request may be the last to hold the subscription (3.11). */
static void mine_ask(struct mine *self, int64_t n)
{
	struct weir_subscription *subscription = self->subscription;

	if (self->broken != COUNTS_LATE)
		self->wanted += n;
	if (self->broken == USES_GIVEN_BACK) {
		weir_subscription_request(subscription, n - 1);
		weir_subscription_request(subscription, 1);
		return;
	}
	weir_subscription_ref(subscription);
	weir_subscription_request(subscription, n);
	if (self->broken == COUNTS_LATE)
		self->wanted += n;
	weir_subscription_unref(subscription);
}

static void mine_begin(struct mine *self)
{
	int64_t n = self->window + self->later;

	self->later = 0;
	if (self->broken == NEVER_REQUESTS || n == 0 || self->over)
		return;
	if (self->broken == REQUESTS_ZERO)
		n = 0;
	else if (self->broken == REQUESTS_NEGATIVE)
		n = -n;
	mine_ask(self, n);
}

static void mine_process(struct mine *self, void *item)
{
	assert_in_range(self->received, 0, RECORDS - 1);
	self->record[self->received++] = item;
	self->owner->item(self->owner, item);
}

static void mine_deliver(struct mine *self, void *item)
{
	if (self->broken == DROPS_ITEMS ||
	    (self->broken == COUNTS_LATE && self->wanted == 0)) {
		mine_drop(self, item);
	} else if (self->broken != LEAKS_ITEMS) {
		mine_process(self, item);
		if (self->broken == DELIVERS_TWICE)
			mine_process(self, item);
		if (self->broken == DROPS_DELIVERED)
			mine_drop(self, item);
	}
	if (self->wanted > 0 && --self->wanted == 0 && self->window > 0 &&
	    self->broken != REQUESTS_ONCE)
		mine_ask(self, self->window);
}

static void mine_late(struct mine *self, void *item)
{
	if (self->broken == LEAKS_LATE_ITEMS)
		return;
	mine_drop(self, item);
	if (self->broken == DROPS_LATE_TWICE)
		mine_drop(self, item);
}

static bool mine_ends(const struct mine *self, struct weir_error *error)
{
	if (self->over && !(self->ended && self->broken == ENDS_TWICE))
		return false;
	if (self->wanted == 0 &&
	    self->broken ==
		    (error ? ERROR_NEEDS_DEMAND : COMPLETE_NEEDS_DEMAND))
		return false;
	return true;
}

static void mine_meddle(struct mine *self, bool requests, bool cancels)
{
	if (requests)
		weir_subscription_request(self->subscription, 1);
	if (cancels)
		weir_subscription_cancel(self->subscription);
}

static void *mine_request_one(void *self)
{
	weir_subscription_request(((struct mine *)self)->subscription, 1);
	return NULL;
}

static void mine_request_elsewhere(struct mine *self)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, mine_request_one, self),
			 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void mine_end(struct mine *self, struct weir_error *error)
{
	if (!mine_ends(self, error))
		return;
	self->over = self->ended = true;
	if (self->broken == REQUESTS_ELSEWHERE)
		mine_request_elsewhere(self);
	if (error)
		mine_meddle(self, self->broken == REQUESTS_IN_ERROR,
			    self->broken == CANCELS_IN_ERROR);
	else
		mine_meddle(self, self->broken == REQUESTS_IN_COMPLETE,
			    self->broken == CANCELS_IN_COMPLETE);
	if (self->broken == (error ? DROPS_ERROR : DROPS_COMPLETE))
		return;
	if (error && self->broken == COMPLETES_ON_ERROR)
		error = NULL;
	if (error && self->broken == COPIES_ERROR)
		error = weir_error_of(error->code);
	self->told = true;
	weir_error_unref(self->error);
	self->error = weir_error_ref(error);
	if (self->broken == USES_GIVEN_BACK) {
		weir_subscription_unref(self->subscription);
		self->subscription = NULL;
	}
}

static void mine_released(struct mine *self)
{
	self->released++;
	if (self->done)
		mine_free(self);
}

static void mine_handle(struct mine *self, const struct signal *signal)
{
	struct weir_error *error = signal->what;

	switch (signal->kind) {
	case ON_SUBSCRIBE:
		mine_begin(self);
		break;
	case ON_NEXT:
		if (self->over &&
		    !(self->ended && self->broken == DELIVERS_AFTER_END))
			mine_late(self, signal->what);
		else
			mine_deliver(self, signal->what);
		break;
	case ON_ERROR:
		mine_end(self, error);
		weir_error_unref(error);
		break;
	case ON_COMPLETE:
		mine_end(self, NULL);
		break;
	case RELEASED:
		mine_released(self);
		break;
	}
}

/* Takes the signal that is next; the mistakes in order are made here. */
static struct signal mine_shift(struct mine *self)
{
	size_t at = 0;
	struct signal signal;

	for (size_t i = 0; i < self->n; i++) {
		enum signal_kind kind =
			self->signals[(self->first + i) % SIGNALS].kind;

		if ((self->broken == DELIVERS_BACKWARDS && kind == ON_NEXT) ||
		    (self->broken == END_OVERTAKES &&
		     (kind == ON_COMPLETE || kind == ON_ERROR)))
			at = i;
	}
	for (signal = self->signals[(self->first + at) % SIGNALS]; at; at--)
		self->signals[(self->first + at) % SIGNALS] =
			self->signals[(self->first + at - 1) % SIGNALS];
	self->first = (self->first + 1) % SIGNALS;
	self->n--;
	return signal;
}

static void mine_run(struct job *job)
{
	struct mine *self = weir_container_of(job, struct mine, job);
	struct signal signal;

	if (self->n > 1 || (self->broken == NEVER_RESTS && !self->done))
		pump_submit(self->pump, job);
	if (self->n) {
		signal = mine_shift(self);
		mine_handle(self, &signal);
	} else if (self->done && self->released) {
		mine_free(self);
	}
}

static int mine_signal(struct mine *self, enum signal_kind kind, void *what)
{
	struct signal signal = {.kind = kind, .what = what};

	if (self->released)
		self->used_since = true;
	if (!self->pump) {
		mine_handle(self, &signal);
		return 0;
	}
	assert_in_range(self->n, 0, SIGNALS - 1);
	self->signals[(self->first + self->n++) % SIGNALS] = signal;
	pump_submit(self->pump, &self->job);
	return 0;
}

static int mine_second(struct mine *self,
		       struct weir_subscription *subscription)
{
	switch ((int)self->broken) {
	case IGNORES_SECOND:
		return 0;
	case TAKES_SECOND:
		weir_subscription_cancel(self->subscription);
		weir_subscription_unref(self->subscription);
		self->subscription = weir_subscription_ref(subscription);
		return mine_signal(self, ON_SUBSCRIBE, NULL);
	case CANCELS_BOTH:
		self->over = true;
		weir_subscription_cancel(self->subscription);
		break;
	case REQUESTS_SECOND:
		weir_subscription_request(subscription, 1);
		break;
	default:
		break;
	}
	weir_subscription_cancel(subscription);
	return 0;
}

static int mine_on_subscribe(struct weir_subscriber *subscriber,
			     struct weir_subscription *subscription)
{
	struct mine *self =
		weir_container_of(subscriber, struct mine, subscriber);

	if (!subscription)
		return self->broken == NULL_SUBSCRIPTION_IS_FINE ? 0 : -EINVAL;
	if (self->subscription)
		return mine_second(self, subscription);
	self->subscription = subscription;
	self->items = subscription->items;
	if (self->broken != USES_UNHELD)
		weir_subscription_ref(subscription);
	if (self->broken == LEAKS_ITSELF)
		weir_subscriber_ref(subscriber);
	return mine_signal(self, ON_SUBSCRIBE, NULL);
}

static int mine_on_next(struct weir_subscriber *subscriber, void *item)
{
	struct mine *self =
		weir_container_of(subscriber, struct mine, subscriber);

	if (!item) {
		if (self->broken == NULL_UNSEEN_AFTER_END && self->over)
			return 0;
		if (self->broken == NULL_ITEM_COUNTS)
			mine_signal(self, ON_NEXT, item);
		return self->broken == NULL_ITEM_IS_FINE ? 0 : -EINVAL;
	}
	if (self->broken == FAILS_ON_NEXT ||
	    (self->broken == FAILS_LATE && self->over))
		return -EIO;
	return mine_signal(self, ON_NEXT, item);
}

static int mine_on_next_n(struct weir_subscriber *subscriber,
			  void *const *items, size_t n, size_t *taken)
{
	struct mine *self =
		weir_container_of(subscriber, struct mine, subscriber);
	int rc = 0;

	if (!items || !taken)
		return self->broken == NULL_ITEMS_ARE_FINE ? 0 : -EINVAL;
	if (self->broken == TAKES_HALF && n > 1)
		n /= 2;
	for (*taken = 0; *taken < n && rc == 0; *taken += rc == 0)
		rc = mine_on_next(subscriber, items[*taken]);
	return rc;
}

static int mine_on_error(struct weir_subscriber *subscriber,
			 struct weir_error *error)
{
	struct mine *self =
		weir_container_of(subscriber, struct mine, subscriber);

	if (!error) {
		if (self->broken == NULL_ERROR_ENDS)
			mine_signal(self, ON_COMPLETE, NULL);
		return self->broken == NULL_ERROR_IS_FINE ? 0 : -EINVAL;
	}
	mine_signal(self, ON_ERROR, weir_error_ref(error));
	return self->broken == FAILS_ON_ERROR ? -EIO : 0;
}

static int mine_on_complete(struct weir_subscriber *subscriber)
{
	struct mine *self =
		weir_container_of(subscriber, struct mine, subscriber);

	mine_signal(self, ON_COMPLETE, NULL);
	return self->broken == FAILS_ON_COMPLETE ? -EIO : 0;
}

static void mine_on_released(struct weir_subscriber *subscriber)
{
	mine_signal(weir_container_of(subscriber, struct mine, subscriber),
		    RELEASED, NULL);
}

static const struct weir_subscriber_ops mine_ops = {
	.on_subscribe = mine_on_subscribe,
	.on_next = mine_on_next,
	.on_next_n = mine_on_next_n,
	.on_error = mine_on_error,
	.on_complete = mine_on_complete,
	.released = mine_on_released,
};

/* --- What its owner may do ------------------------------------------------ */

void mine_request(struct mine *self, int64_t n)
{
	if (self->broken == REQUESTS_ONE)
		n = 1;
	if (self->over) {
		if (self->ended && self->broken == REQUESTS_AFTER_END)
			weir_subscription_request(self->subscription, n);
	} else if (!self->subscription) {
		self->later += n;
	} else {
		mine_ask(self, n);
	}
}

void mine_cancel(struct mine *self)
{
	if (self->broken == NEVER_CANCELS ||
	    (self->over && !(self->ended && self->broken == CANCELS_AFTER_END)))
		return;
	self->over = true;
	weir_subscription_cancel(self->subscription);
}

struct mine *mine_new(enum broken_subscriber broken, int64_t window,
		      struct pump *pump, struct mine_owner *owner)
{
	struct mine *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	assert_int_equal(weir_subscriber_init(&self->subscriber, &mine_ops), 0);
	self->broken = broken;
	self->window = window;
	self->pump = pump;
	self->job.run = mine_run;
	self->owner = owner;
	owner->alive++;
	return self;
}

void mine_done(struct mine *self)
{
	self->done = true;
	if (self->released) {
		if (!self->job.queued) /* or else when it has run */
			mine_free(self);
	} else if (self->broken == LEAKS_ITSELF) {
		self->kept = mine_kept;
		mine_kept = self;
	}
}
