/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/push.h"

#include <assert.h>
#include <errno.h>

#define BACKOFF_MIN_NS UINT64_C(20000000)
#define BACKOFF_MAX_NS UINT64_C(2000000000)

static struct weir__nats_push_item *item(const struct weir__nats_push *self,
					 uint64_t number)
{
	return &self->items[number % self->window];
}

void weir__nats_push_init(struct weir__nats_push *self,
			  struct weir__nats_push_item *items, uint64_t window,
			  uint64_t timeout_ns, bool strict)
{
	*self = (struct weir__nats_push){
		.items = items,
		.window = window,
		.timeout_ns = timeout_ns,
		.strict = strict,
	};
}

void weir__nats_push_check(const struct weir__nats_push *self)
{
	uint64_t i;

	assert(self->first <= self->next && self->next <= self->last &&
	       self->last <= self->first + self->window);
	assert(self->first == self->last ||
	       item(self, self->first)->place != WEIR__NATS_STORED);
	for (i = self->first; i < self->next; i++)
		assert(item(self, i)->place != WEIR__NATS_TO_SEND);
}

/* --- What happens --------------------------------------------------------- */

uint64_t weir__nats_push_room(const struct weir__nats_push *self)
{
	return self->window - (self->last - self->first);
}

uint64_t weir__nats_push_put(struct weir__nats_push *self, uint64_t now_ns)
{
	assert(weir__nats_push_room(self) > 0);
	if (self->first == self->last)
		self->moved_ns = now_ns;
	*item(self, self->last) = (struct weir__nats_push_item){0};
	return self->last++;
}

/* What is not stored is sent again. */
static void again(struct weir__nats_push *self)
{
	uint64_t i;

	for (i = self->first; i < self->next; i++)
		if (item(self, i)->place == WEIR__NATS_SENT)
			item(self, i)->place = WEIR__NATS_TO_SEND;
	self->alone = self->strict && self->next > self->first;
	self->next = self->first;
}

void weir__nats_push_connected(struct weir__nats_push *self, uint64_t now_ns)
{
	self->connected = true;
	self->alone = self->strict;
	self->moved_ns = now_ns;
	self->later_ns = self->backoff_ns = 0;
	self->retry_ns = WEIR__NATS_RETRY_MIN_NS;
}

void weir__nats_push_disconnected(struct weir__nats_push *self)
{
	self->connected = false;
	again(self);
}

static void back_off(struct weir__nats_push *self, uint64_t now_ns)
{
	self->backoff_ns = self->backoff_ns == 0 ? BACKOFF_MIN_NS
						 : self->backoff_ns * 2;
	if (self->backoff_ns > BACKOFF_MAX_NS)
		self->backoff_ns = BACKOFF_MAX_NS;
	self->later_ns = now_ns + self->backoff_ns;
}

/* It is one that has been sent and waits for an answer. */
static bool waits(const struct weir__nats_push *self, uint64_t number)
{
	return number >= self->first && number < self->next &&
	       item(self, number)->place == WEIR__NATS_SENT;
}

void weir__nats_push_unsent(struct weir__nats_push *self, uint64_t number,
			    uint64_t now_ns)
{
	if (!waits(self, number))
		return;
	again(self);
	back_off(self, now_ns);
}

void weir__nats_push_refused(struct weir__nats_push *self, uint64_t number,
			     uint64_t now_ns)
{
	if (waits(self, number))
		self->refused = true;
	weir__nats_push_unsent(self, number, now_ns);
}

bool weir__nats_push_stored(struct weir__nats_push *self, uint64_t number,
			    uint64_t now_ns)
{
	/* an answer may be to what was sent before it is sent again */
	if (number < self->first || number >= self->last ||
	    item(self, number)->place == WEIR__NATS_STORED)
		return false;
	item(self, number)->place = WEIR__NATS_STORED;
	self->moved_ns = now_ns;
	self->backoff_ns = 0;
	self->retry_ns = WEIR__NATS_RETRY_NS;
	self->refused = false;
	if (number == self->first)
		self->alone = false;
	while (self->first < self->last &&
	       item(self, self->first)->place == WEIR__NATS_STORED)
		self->first++;
	if (self->next < self->first)
		self->next = self->first;
	return true;
}

void weir__nats_push_fail(struct weir__nats_push *self, int code,
			  const char *message)
{
	if (self->code < 0)
		return;
	self->code = code;
	self->message = message;
}

/* --- What to do ----------------------------------------------------------- */

/* No answer has come, to the first one: so to none. */
static uint64_t silent_ns(const struct weir__nats_push *self)
{
	const struct weir__nats_push_item *first = item(self, self->first);

	return self->next > self->first && first->place == WEIR__NATS_SENT
		       ? first->sent_ns + self->retry_ns
		       : UINT64_MAX;
}

/* What was sent is lost; or the server is slow, and has more time then. */
static void silent(struct weir__nats_push *self)
{
	again(self);
	self->retry_ns *= 2;
	if (self->retry_ns > WEIR__NATS_RETRY_NS)
		self->retry_ns = WEIR__NATS_RETRY_NS;
}

static uint64_t given_up_ns(const struct weir__nats_push *self)
{
	return self->last > self->first &&
			       self->timeout_ns < UINT64_MAX - self->moved_ns
		       ? self->moved_ns + self->timeout_ns
		       : UINT64_MAX;
}

static bool may_send(const struct weir__nats_push *self)
{
	return self->next < self->last &&
	       !(self->alone && self->next > self->first);
}

bool weir__nats_push_next(struct weir__nats_push *self, uint64_t now_ns,
			  uint64_t *number)
{
	struct weir__nats_push_item *now;

	if (!self->connected || self->code < 0)
		return false;
	if (now_ns >= given_up_ns(self)) {
		if (self->refused)
			weir__nats_push_fail(self, -EAGAIN,
					     "no stream takes the message");
		else
			weir__nats_push_fail(self, -ETIMEDOUT,
					     "the server does not answer");
		return false;
	}
	if (now_ns >= silent_ns(self))
		silent(self);
	while (self->next < self->last &&
	       item(self, self->next)->place == WEIR__NATS_STORED)
		self->next++;
	if (now_ns < self->later_ns || !may_send(self))
		return false;
	*number = self->next++;
	now = item(self, *number);
	self->n_resent += now->again;
	*now = (struct weir__nats_push_item){WEIR__NATS_SENT, true, now_ns};
	return true;
}

uint64_t weir__nats_push_due(const struct weir__nats_push *self)
{
	uint64_t due = silent_ns(self), given_up = given_up_ns(self);

	if (!self->connected || self->code < 0)
		return UINT64_MAX;
	if (may_send(self) && self->later_ns < due)
		due = self->later_ns;
	return given_up < due ? given_up : due;
}
