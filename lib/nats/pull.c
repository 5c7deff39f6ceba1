/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/pull.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define BACKOFF_MIN_NS UINT64_C(50000000)
#define BACKOFF_MAX_NS UINT64_C(5000000000)
#define LOOK_MIN_NS UINT64_C(250000000)
#define LOOK_MAX_NS UINT64_C(2000000000)

void weir__nats_pull_init(struct weir__nats_pull *self, uint64_t window,
			  uint64_t refill, uint64_t expires_ns,
			  uint64_t heartbeat_ns)
{
	*self = (struct weir__nats_pull){
		.window = window,
		.refill = refill,
		.expires_ns = expires_ns,
		.heartbeat_ns = heartbeat_ns,
	};
}

void weir__nats_pull_check(const struct weir__nats_pull *self)
{
	uint64_t sum = 0;
	size_t i;

	assert(self->held + self->asked <= self->window);
	for (i = 0; i < self->n_parts; i++)
		sum += self->parts[i].n;
	assert(self->asked <= sum);
	assert(self->n_asked + self->n_late ==
	       self->n_received + self->n_expired + self->n_lost + self->asked);
	(void)sum;
}

/* --- What was asked for --------------------------------------------------- */

/* All that may still come is given up. */
static void lose_all(struct weir__nats_pull *self)
{
	self->n_lost += self->asked;
	self->asked = 0;
	self->n_parts = 0;
}

static void ask(struct weir__nats_pull *self, uint64_t n, uint64_t now_ns)
{
	uint64_t over_ns = now_ns + self->expires_ns + WEIR__NATS_SECOND;
	struct weir__nats_part *part = NULL;

	if (self->n_parts > 0)
		part = &self->parts[self->n_parts - 1];
	/* as the parts are no shorter than that, there is room for one more */
	if (!part ||
	    (over_ns > part->until_ns && self->n_parts < WEIR__NATS_PARTS)) {
		part = &self->parts[self->n_parts++];
		*part = (struct weir__nats_part){
			.until_ns = over_ns +
				    (self->expires_ns + WEIR__NATS_SECOND) /
					    (WEIR__NATS_PARTS - 2),
		};
	}
	part->n += n;
	part->last = ++self->ids;
	part->over_ns = over_ns;
	if (self->asked == 0)
		self->heard_ns = now_ns;
	self->asked += n;
	self->n_asked += n;
	self->n_requests++;
}

static void unask(struct weir__nats_pull *self, uint64_t n, uint64_t *counter)
{
	if (n > self->asked)
		n = self->asked;
	self->asked -= n;
	*counter += n;
	if (self->asked == 0) {
		self->n_parts = 0;
		self->over_id = self->ids;
	}
}

/* What has ended by our clock is not answered any more. */
static void expire(struct weir__nats_pull *self, uint64_t now_ns)
{
	uint64_t left = 0;
	size_t i, over = 0;

	while (over < self->n_parts && self->parts[over].over_ns <= now_ns)
		over++;
	if (over == 0)
		return;
	self->over_id = self->parts[over - 1].last;
	for (i = over; i < self->n_parts; i++) {
		left += self->parts[i].n;
		self->parts[i - over] = self->parts[i];
	}
	self->n_parts -= over;
	if (self->asked > left) {
		self->n_lost_replies++;
		unask(self, self->asked - left, &self->n_lost);
	}
}

static void back_off(struct weir__nats_pull *self, uint64_t now_ns)
{
	self->backoff_ns = self->backoff_ns == 0 ? BACKOFF_MIN_NS
						 : self->backoff_ns * 2;
	if (self->backoff_ns > BACKOFF_MAX_NS)
		self->backoff_ns = BACKOFF_MAX_NS;
	self->later_ns = now_ns + self->backoff_ns;
}

void weir__nats_pull_fail(struct weir__nats_pull *self, int code,
			  const char *message)
{
	if (self->state >= WEIR__NATS_PULL_ENDING)
		return;
	self->code = code;
	self->message = message;
	weir__nats_pull_end(self);
}

/* There is an inbox, or there may be. */
static bool is_open(const struct weir__nats_pull *self)
{
	return self->state == WEIR__NATS_PULL_PULLING ||
	       self->state == WEIR__NATS_PULL_LOST ||
	       (self->state == WEIR__NATS_PULL_OPENING && self->doing);
}

/* The inbox is given up. */
static void lose(struct weir__nats_pull *self)
{
	if (self->state >= WEIR__NATS_PULL_ENDING)
		return;
	lose_all(self);
	self->state = is_open(self) ? WEIR__NATS_PULL_LOST
				    : WEIR__NATS_PULL_IDLE;
}

/* --- What happens --------------------------------------------------------- */

void weir__nats_pull_begin(struct weir__nats_pull *self)
{
	self->wanted = true;
}

void weir__nats_pull_connected(struct weir__nats_pull *self)
{
	self->connected = true;
	self->later_ns = self->backoff_ns = 0;
	self->look_ns = LOOK_MIN_NS;
}

void weir__nats_pull_disconnected(struct weir__nats_pull *self)
{
	self->connected = false;
	lose(self);
}

void weir__nats_pull_end(struct weir__nats_pull *self)
{
	if (self->state >= WEIR__NATS_PULL_ENDING)
		return;
	lose_all(self);
	/* a step that is under way ends first */
	self->state = is_open(self) ? WEIR__NATS_PULL_ENDING
				    : WEIR__NATS_PULL_ENDED;
}

void weir__nats_pull_checked(struct weir__nats_pull *self, int code,
			     const char *message, uint64_t now_ns)
{
	self->doing = false;
	if (code < 0 && code != -EAGAIN) {
		weir__nats_pull_fail(self, code, message);
		return;
	}
	if (self->state != WEIR__NATS_PULL_CHECKING)
		return;
	if (code == 0) {
		self->state = WEIR__NATS_PULL_OPENING;
	} else {
		self->state = WEIR__NATS_PULL_IDLE;
		back_off(self, now_ns);
		self->look_ns = self->look_ns * 2 < LOOK_MAX_NS
					? self->look_ns * 2
					: LOOK_MAX_NS;
	}
}

void weir__nats_pull_opened(struct weir__nats_pull *self, int code,
			    uint64_t now_ns)
{
	self->doing = false;
	if (code < 0) {
		/* there is nothing to close */
		back_off(self, now_ns);
		self->state = self->state == WEIR__NATS_PULL_ENDING
				      ? WEIR__NATS_PULL_ENDED
				      : WEIR__NATS_PULL_IDLE;
	} else if (self->state == WEIR__NATS_PULL_OPENING) {
		self->state = WEIR__NATS_PULL_PULLING;
	}
}

void weir__nats_pull_closed(struct weir__nats_pull *self)
{
	self->doing = false;
	if (self->state == WEIR__NATS_PULL_LOST)
		self->state = WEIR__NATS_PULL_IDLE;
	else if (self->state == WEIR__NATS_PULL_ENDING)
		self->state = WEIR__NATS_PULL_ENDED;
}

void weir__nats_pull_unsent(struct weir__nats_pull *self, uint64_t n,
			    uint64_t now_ns)
{
	unask(self, n, &self->n_lost);
	back_off(self, now_ns);
}

bool weir__nats_pull_message(struct weir__nats_pull *self, uint64_t epoch,
			     uint64_t now_ns)
{
	bool late = epoch != self->epoch ||
		    self->state != WEIR__NATS_PULL_PULLING;

	if (self->code < 0 || (late ? self->held + self->asked >= self->window
				    : self->asked == 0)) {
		self->n_excess++;
		return false;
	}
	self->heard_ns = now_ns;
	self->held++;
	if (late) {
		self->n_received++;
		self->n_late++;
	} else {
		self->backoff_ns = 0;
		unask(self, 1, &self->n_received);
	}
	return true;
}

static bool begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

/* 409: a consumer that refuses, or says that it goes away. */
static void refused(struct weir__nats_pull *self,
		    const struct weir__nats_status *status, uint64_t now_ns)
{
	const char *why = status->description;

	if (begins(why, "Consumer Deleted"))
		weir__nats_pull_fail(self, -ENOENT, "the consumer was deleted");
	else if (begins(why, "Consumer is push based"))
		weir__nats_pull_fail(self, -EPROTOTYPE,
				     "the consumer is push based");
	else if (begins(why, "Exceeded Max"))
		back_off(self, now_ns); /* it got nothing */
	else if (begins(why, "Leadership Change") ||
		 begins(why, "Server Shutdown"))
		lose(self);
}

void weir__nats_pull_status(struct weir__nats_pull *self, uint64_t epoch,
			    const struct weir__nats_status *status,
			    uint64_t now_ns)
{
	bool nothing;

	if (epoch != self->epoch || self->state != WEIR__NATS_PULL_PULLING)
		return;
	self->heard_ns = now_ns;
	if (status->code == 100 || status->id > self->ids)
		return;
	nothing = status->code == 400 || status->code == 404 ||
		  status->code == 503 ||
		  (status->code == 409 &&
		   begins(status->description, "Exceeded Max"));
	/* of one that is over by our clock it is too late */
	if (status->id > self->over_id) {
		if (status->tells)
			unask(self, status->pending, &self->n_expired);
		else if (nothing)
			unask(self, status->n, &self->n_expired);
	}
	if (status->code == 409) {
		refused(self, status, now_ns);
	} else if (status->code == 400) {
		weir__nats_pull_fail(self, -EPROTO,
				     "the server says: bad request");
	} else if (status->code == 503) {
		/* is the consumer still there? */
		lose(self);
		back_off(self, now_ns);
	} else if (status->code == 404) {
		back_off(self, now_ns);
	}
}

void weir__nats_pull_taken(struct weir__nats_pull *self, uint64_t n)
{
	assert(n <= self->held);
	self->held -= n;
}

/* --- What to do ----------------------------------------------------------- */

static uint64_t room(const struct weir__nats_pull *self)
{
	uint64_t left = self->window - self->held - self->asked;

	return left >= self->refill ? left : 0;
}

/* When heartbeats have been missed. */
static uint64_t silent_ns(const struct weir__nats_pull *self)
{
	return self->asked > 0 && self->heartbeat_ns > 0
		       ? self->heard_ns + 2 * self->heartbeat_ns +
				 self->heartbeat_ns / 2
		       : WEIR__NATS_NEVER;
}

static struct weir__nats_todo todo(struct weir__nats_pull *self,
				   enum weir__nats_step step)
{
	self->doing = step != WEIR__NATS_STEP_REQUEST;
	return (struct weir__nats_todo){
		.step = step, .epoch = self->epoch, .wait_ns = self->look_ns};
}

struct weir__nats_todo weir__nats_pull_next(struct weir__nats_pull *self,
					    uint64_t now_ns)
{
	struct weir__nats_todo none = {.step = WEIR__NATS_STEP_NONE}, request;

	expire(self, now_ns);
	if (self->state == WEIR__NATS_PULL_PULLING && now_ns >= silent_ns(self))
		lose(self);
	if (self->doing)
		return none;
	switch (self->state) {
	case WEIR__NATS_PULL_IDLE:
		if (!self->wanted || !self->connected ||
		    now_ns < self->later_ns)
			return none;
		self->state = WEIR__NATS_PULL_CHECKING;
		return todo(self, WEIR__NATS_STEP_CHECK);
	case WEIR__NATS_PULL_OPENING:
		self->epoch++;
		self->n_epochs++;
		return todo(self, WEIR__NATS_STEP_OPEN);
	case WEIR__NATS_PULL_PULLING:
		if (room(self) == 0 || now_ns < self->later_ns)
			return none;
		request = todo(self, WEIR__NATS_STEP_REQUEST);
		request.n = room(self);
		ask(self, request.n, now_ns);
		request.id = self->ids;
		return request;
	case WEIR__NATS_PULL_LOST:
	case WEIR__NATS_PULL_ENDING:
		return todo(self, WEIR__NATS_STEP_CLOSE);
	default:
		return none;
	}
}

uint64_t weir__nats_pull_due(const struct weir__nats_pull *self)
{
	uint64_t due = WEIR__NATS_NEVER;

	if (self->state == WEIR__NATS_PULL_PULLING) {
		due = silent_ns(self);
		if (self->n_parts > 0 && self->parts[0].over_ns < due)
			due = self->parts[0].over_ns;
		if (room(self) > 0 && self->later_ns < due)
			due = self->later_ns;
	} else if (self->state == WEIR__NATS_PULL_IDLE && self->wanted &&
		   self->connected) {
		due = self->later_ns;
	}
	return due;
}
