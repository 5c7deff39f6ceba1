/* SPDX-License-Identifier: BSD-2-Clause */
#include "testkit/processors.h"

static void relay_drop(struct relay *self, void *item)
{
	if (self->items->drop)
		self->items->drop(item, self->items->context);
}

static void relay_unhold(struct relay *self)
{
	if (--self->holds)
		return;
	weir_error_unref(self->error);
	--*self->alive;
	free(self);
}

static inline void relay_work(struct relay *self);

/* Work now, or after what is under way, or when the pump comes to it. */
static void relay_poke(struct relay *self)
{
	if (self->pump) {
		if (!self->job.queued)
			self->holds++;
		pump_submit(self->pump, &self->job);
	} else if (self->working) {
		self->again = true;
	} else {
		relay_work(self);
	}
}

static void relay_run(struct job *job)
{
	struct relay *self = weir_container_of(job, struct relay, job);

	relay_work(self);
	relay_unhold(self);
}

static void branch_request(struct weir_subscription *subscription, int64_t n)
{
	struct branch *branch =
		weir_container_of(subscription, struct branch, subscription);

	if (!branch->relay || branch->cancelled)
		return;
	if (n <= 0)
		branch->refused = true;
	else if (branch->demand > INT64_MAX - n)
		branch->demand = INT64_MAX;
	else
		branch->demand += n;
	relay_poke(branch->relay);
}

static void branch_cancel(struct weir_subscription *subscription)
{
	struct branch *branch =
		weir_container_of(subscription, struct branch, subscription);

	if (!branch->relay || branch->cancelled)
		return;
	branch->cancelled = true;
	relay_poke(branch->relay);
}

static void branch_released(struct weir_subscription *subscription)
{
	free(weir_container_of(subscription, struct branch, subscription));
}

static const struct weir_subscription_ops branch_ops = {
	.request = branch_request,
	.cancel = branch_cancel,
	.released = branch_released,
};

/* Who holds the subscribers that are kept. */
static struct weir_subscriber *relay_kept[4096];
static size_t relay_n_kept;

/* Takes out the i-th: no more signals. */
static void relay_leave(struct relay *self, size_t i)
{
	struct branch *branch = self->branches[i];

	self->branches[i] = self->branches[--self->n_branches];
	branch->relay = NULL;
	self->one_left = true;
	if (self->broken == FORGETS_LONG_AGO)
		for (size_t k = 0; k < self->n_branches; k++)
			self->branches[k]->demand = 0;
	if (self->broken == KEEPS_SUBSCRIBERS)
		relay_kept[relay_n_kept++ % 4096] = branch->subscriber;
	else
		weir_subscriber_unref(branch->subscriber);
	weir_subscription_unref(&branch->subscription);
}

static void relay_empty(struct relay *self)
{
	for (; self->n; self->n--) {
		if (self->broken != LEAKS_BUFFER)
			relay_drop(self, self->buffer[self->first]);
		self->first = (self->first + 1) % RELAY_ROOM;
	}
}

static void relay_cancel_upstream(struct relay *self)
{
	struct weir_subscription *upstream = self->upstream;

	relay_empty(self);
	self->upstream = NULL;
	self->ended = true;
	if (self->broken != KEEPS_UPSTREAM)
		weir_subscription_cancel(upstream);
	weir_subscription_unref(upstream);
}

/* On_subscribe for who is new, the end for who has cancelled or erred. */
static void relay_look(struct relay *self)
{
	for (size_t i = self->n_branches; i-- > 0;) {
		struct branch *branch = self->branches[i];
		struct weir_subscriber *subscriber = branch->subscriber;

		if (!branch->begun) {
			branch->begun = true;
			if (subscriber->ops->on_subscribe(
				    subscriber, &branch->subscription))
				branch->cancelled = true;
		}
		if (branch->refused && !branch->cancelled)
			subscriber->ops->on_error(subscriber,
						  weir_error_of(-EINVAL));
		if (!branch->refused && !branch->cancelled)
			continue;
		relay_leave(self, i);
		if (self->upstream &&
		    (self->n_branches == 0 || self->broken == LEAVES_EARLY))
			relay_cancel_upstream(self);
	}
}

static bool relay_wanted(const struct relay *self)
{
	for (size_t i = 0; i < self->n_branches; i++)
		if (!self->branches[i]->begun || self->branches[i]->cancelled ||
		    self->branches[i]->refused ||
		    (self->branches[i]->demand == 0 &&
		     self->broken != OVERRUNS))
			return false;
	return self->n_branches > 0;
}

/* One item, for all; `items` must be shareable where there are several. */
static void relay_pass(struct relay *self)
{
	void *item = self->buffer[self->first];

	self->first = (self->first + 1) % RELAY_ROOM;
	self->n--;
	self->used++;
	self->passed = true;
	if (self->broken == SWALLOWS_ITEMS) {
		relay_drop(self, item);
		return;
	}
	for (size_t i = 0; i < self->n_branches; i++) {
		struct branch *branch = self->branches[i];
		struct weir_subscriber *subscriber = branch->subscriber;

		if (branch->demand != INT64_MAX && branch->demand > 0)
			branch->demand--;
		if (i + 1 < self->n_branches && self->items->share)
			assert_int_equal(
				self->items->share(item, self->items->context),
				0);
		if (subscriber->ops->on_next(subscriber, item)) {
			relay_drop(self, item);
			branch->cancelled = true;
		} else if (self->broken == REPEATS_ITEMS && branch->demand) {
			branch->demand--;
			subscriber->ops->on_next(subscriber, item);
		}
	}
}

static void relay_replenish(struct relay *self)
{
	struct weir_subscription *upstream = self->upstream;
	size_t n = self->used;

	if (!upstream || n < RELAY_ROOM / 2 ||
	    self->broken == NEVER_REPLENISHES)
		return;
	if (self->broken == REPLENISHES_FOR_ALL && self->one_left)
		return;
	self->used = 0;
	if (self->broken == REPLENISHES_TWICE)
		n *= 2;
	weir_subscription_ref(upstream);
	weir_subscription_request(upstream, (int64_t)n);
	weir_subscription_unref(upstream);
}

static bool relay_may_end(const struct relay *self)
{
	if (!self->ended || self->upstream)
		return false;
	if (self->error && self->broken == ERROR_WAITS)
		return relay_wanted(self);
	if (self->error && self->broken == ERROR_BEHIND && self->n > 0)
		return false;
	if (!self->error &&
	    (self->broken == COMPLETE_WAITS ||
	     (self->broken == COMPLETE_WAITS_AT_REST && self->passed)))
		return self->n == 0 && relay_wanted(self);
	return self->error || self->n == 0 ||
	       self->broken == COMPLETE_OVERTAKES;
}

static void relay_end(struct relay *self)
{
	struct weir_error *error = self->error;

	relay_empty(self);
	if (self->broken == ERROR_COPIED && error)
		error = weir_error_of(error->code);
	while (self->n_branches && self->branches[0]->begun) {
		struct weir_subscriber *subscriber =
			self->branches[0]->subscriber;

		if (self->broken == ERROR_SWALLOWED && error)
			;
		else if (error)
			subscriber->ops->on_error(subscriber, error);
		else
			subscriber->ops->on_complete(subscriber);
		relay_leave(self, 0);
		if (self->broken == ERROR_FOR_ONE && error)
			return;
	}
}

static void relay_work(struct relay *self)
{
	self->holds++;
	self->working = true;
	do {
		self->again = false;
		relay_look(self);
		while (self->n && relay_wanted(self)) {
			relay_pass(self);
			relay_look(self);
			relay_replenish(self);
		}
		if (relay_may_end(self))
			relay_end(self);
	} while (self->again);
	self->working = false;
	relay_unhold(self);
}

static int relay_on_subscribe(struct weir_subscriber *subscriber,
			      struct weir_subscription *subscription)
{
	struct relay *self = weir_container_of(subscriber, struct relay, in);
	int64_t n = RELAY_ROOM;

	if (!subscription)
		return self->broken == NULLS_ARE_FINE ? 0 : -EINVAL;
	if (self->subscribed && self->broken != TAKES_TWO) {
		weir_subscription_cancel(subscription);
		return 0;
	}
	if (!self->subscribed)
		self->holds++; /* until it is released */
	self->subscribed = true;
	if (self->ended) { /* nobody is left to pass it on to */
		weir_subscription_cancel(subscription);
		return 0;
	}
	weir_subscription_unref(self->upstream);
	self->upstream = weir_subscription_ref(subscription);
	if (self->broken == REQUESTS_TOO_MUCH)
		n = RELAY_ROOM + 1;
	weir_subscription_request(subscription, n);
	return 0;
}

static int relay_on_next(struct weir_subscriber *subscriber, void *item)
{
	struct relay *self = weir_container_of(subscriber, struct relay, in);

	if (!item)
		return self->broken == NULLS_ARE_FINE ? 0 : -EINVAL;
	if (self->ended || self->n == RELAY_ROOM) {
		relay_drop(self, item); /* late, or more than was requested */
		return 0;
	}
	self->buffer[(self->first + self->n++) % RELAY_ROOM] = item;
	relay_poke(self);
	return 0;
}

static int relay_over(struct relay *self, struct weir_error *error)
{
	struct weir_subscription *upstream = self->upstream;

	if (self->ended)
		return 0;
	self->ended = true;
	if (error && (!self->recovers || self->broken == FAILS_TO_RECOVER))
		self->error = weir_error_ref(error);
	if (self->broken == CANCELS_ENDED)
		weir_subscription_cancel(upstream);
	self->upstream = NULL;
	weir_subscription_unref(upstream);
	relay_poke(self);
	return 0;
}

static int relay_on_error(struct weir_subscriber *subscriber,
			  struct weir_error *error)
{
	struct relay *self = weir_container_of(subscriber, struct relay, in);

	if (!error)
		return self->broken == NULLS_ARE_FINE ? 0 : -EINVAL;
	return relay_over(self, error);
}

static int relay_on_complete(struct weir_subscriber *subscriber)
{
	return relay_over(weir_container_of(subscriber, struct relay, in),
			  NULL);
}

static void relay_in_released(struct weir_subscriber *subscriber)
{
	struct relay *self = weir_container_of(subscriber, struct relay, in);

	relay_unhold(self);
}

static const struct weir_subscriber_ops relay_in_ops = {
	.on_subscribe = relay_on_subscribe,
	.on_next = relay_on_next,
	.on_error = relay_on_error,
	.on_complete = relay_on_complete,
	.released = relay_in_released,
};

static int relay_subscribe(struct weir_publisher *publisher,
			   struct weir_subscriber *subscriber)
{
	struct relay *self = weir_container_of(publisher, struct relay, out);
	struct branch *branch;

	if (!subscriber)
		return self->broken == NULLS_ARE_FINE ? 0 : -EINVAL;
	if (self->ended && !self->upstream && self->n == 0) {
		weir_subscriber_reject(subscriber, self->error);
		return 0;
	}
	if (self->n_branches == self->most) {
		if (self->broken == IGNORES_OTHERS)
			return 0;
		if (self->broken != REPLACES_OTHERS) {
			weir_subscriber_reject(subscriber,
					       weir_error_of(-EISCONN));
			return 0;
		}
		relay_leave(self, 0);
	}
	branch = calloc(1, sizeof(*branch));
	assert_non_null(branch);
	assert_int_equal(weir_subscription_init(&branch->subscription,
						&branch_ops, self->items),
			 0);
	branch->relay = self;
	branch->subscriber = weir_subscriber_ref(subscriber);
	self->branches[self->n_branches++] = branch;
	relay_poke(self);
	return 0;
}

static const struct weir_publisher_ops relay_out_ops = {
	.subscribe = relay_subscribe,
};

struct relay *relay_new(enum broken_processor broken, size_t most,
			const struct weir_items *items, struct pump *pump,
			size_t *alive)
{
	struct relay *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	assert_in_range(most, 1, RELAY_BRANCHES);
	assert_int_equal(weir_subscriber_init(&self->in, &relay_in_ops), 0);
	self->out.ops = &relay_out_ops;
	self->processor = (struct weir_processor){&self->in, &self->out};
	self->broken = broken;
	self->most = most;
	self->items = items;
	self->pump = pump;
	self->job.run = relay_run;
	self->holds = 1;
	self->alive = alive;
	++*alive;
	return self;
}

void relay_free(struct relay *self)
{
	if (self->upstream)
		relay_cancel_upstream(self);
	relay_empty(self);
	while (self->n_branches)
		relay_leave(self, 0);
	relay_unhold(self);
}
