/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/message.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_SIZE 120u
#define DEAD_WAIT_MS 2000
#define AGAIN_NS UINT64_C(1000000000)
#define LATER_NS UINT64_C(50000000) /* behind what could not be sent */

/* --- Ack subjects --------------------------------------------------------- */

/* The number that begins at *at, and what is behind its dot. */
static bool number(const char **at, uint64_t *value)
{
	const char *now = *at;
	uint64_t sum = 0;
	unsigned digit;

	while ((digit = (unsigned)(*now - '0')) <= 9) {
		sum = sum * 10 + digit;
		now++;
	}
	if (now == *at || (*now != '.' && *now != '\0'))
		return false;
	*at = *now == '.' ? now + 1 : now;
	*value = sum;
	return true;
}

bool weir__nats_meta_parse(struct weir__nats_meta *meta, const char *subject)
{
	static const char prefix[] = "$JS.ACK.";
	const char *behind[10]; /* dots */
	const char *at = subject;
	uint64_t time;
	size_t n = 0;

	if (!subject || strncmp(subject, prefix, sizeof(prefix) - 1) != 0)
		return false;
	while (n < 10 && (at = strchr(at, '.')))
		behind[n++] = ++at;
	/* 9 tokens; since version 2 a domain and an account before them, and
	 * perhaps more behind */
	if (n != 8 && n < 10)
		return false;
	at = n == 8 ? behind[3] : behind[5];
	if (!number(&at, &meta->deliveries) || !number(&at, &meta->sequence) ||
	    !number(&at, &meta->consumer_sequence) || !number(&at, &time) ||
	    !number(&at, &meta->pending))
		return false;
	meta->time = (int64_t)time;
	return true;
}

/* --- Lists; the lock is held ---------------------------------------------- */

static void link_open(struct weir_nats_message *self)
{
	struct weir__nats_origin *origin = self->origin;

	self->before = origin->last;
	self->after = NULL;
	if (origin->last)
		origin->last->after = self;
	else
		origin->first = self;
	origin->last = self;
}

static void unlink_open(struct weir_nats_message *self)
{
	struct weir__nats_origin *origin = self->origin;

	if (self->before)
		self->before->after = self->after;
	else
		origin->first = self->after;
	if (self->after)
		self->after->before = self->before;
	else
		origin->last = self->before;
}

static void enqueue(struct weir_nats_message *self)
{
	struct weir_nats *nats = self->origin->client->nats;

	if (self->queued || self->busy)
		return;
	self->queued = true;
	self->next = NULL;
	*nats->last = self;
	nats->last = &self->next;
	weir__nats_wake(nats);
}

/* The server has been told, or will not be. */
static void publish_done(struct weir_nats_message *self)
{
	struct weir__nats_origin *origin = self->origin;

	self->published = true;
	origin->n_unsettled--;
	origin->client->nats->n_open--;
	if (self->counted) {
		origin->n_told++;
		weir__nats_soon(origin->client);
	}
	if (origin->n_unsettled == 0) {
		if (origin->draining)
			weir__nats_soon(origin->client);
		weir__nats_moved(origin->client->nats);
	}
}

void weir__nats_message_open(struct weir_nats_message *self, uint64_t now_ns,
			     bool given)
{
	self->came_ns = self->told_ns = now_ns;
	self->origin->n++;
	self->origin->client->refs++;
	self->held = given;
	self->origin->client->nats->n_held += given;
	if (self->origin->no_acks) {
		self->settled = WEIR__NATS_DONE;
		self->published = true;
		return;
	}
	self->origin->n_unsettled++;
	self->origin->client->nats->n_open++;
	link_open(self);
	if (self->origin->ack_wait_ns > 0 &&
	    self->origin->hold_ns == UINT64_MAX) {
		self->origin->hold_ns = now_ns + self->origin->ack_wait_ns / 2;
		weir__nats_soon(self->origin->client);
	}
}

/* A message that was given too often is not given again. */
static bool is_poison(const struct weir_nats_message *self)
{
	int64_t max = self->origin->max_deliver;

	return max > 0 && self->meta.deliveries >= (uint64_t)max;
}

bool weir__nats_message_settle(struct weir_nats_message *self,
			       enum weir__nats_settled settled,
			       uint64_t delay_ns)
{
	struct weir_nats_stats *stats = &self->origin->client->nats->stats;

	if (self->settled != WEIR__NATS_OPEN)
		return false;
	self->settled = settled;
	self->delay_ns = delay_ns;
	if (settled == WEIR__NATS_DONE)
		stats->done++;
	else if (settled == WEIR__NATS_DEAD)
		stats->dead++;
	else
		stats->retried++;
	unlink_open(self);
	enqueue(self);
	return true;
}

uint64_t weir__nats_origin_hold(struct weir__nats_origin *self, uint64_t now_ns)
{
	uint64_t half_ns = self->ack_wait_ns / 2;
	struct weir_nats_message *first = self->first;

	if (now_ns < self->hold_ns)
		return self->hold_ns;
	while (first && first->told_ns + half_ns <= now_ns) {
		unlink_open(first);
		first->told_ns = now_ns;
		first->progress = true;
		link_open(first);
		enqueue(first);
		first = self->first;
	}
	self->hold_ns = first ? first->told_ns + half_ns : UINT64_MAX;
	return self->hold_ns;
}

/* --- Memory --------------------------------------------------------------- */

static void destroy(struct weir_nats_message *self)
{
	struct weir__nats_origin *origin = self->origin;
	const struct weir_allocator *allocator =
		origin->client->nats->allocator;

	natsMsg_Destroy(self->msg);
	if (self->reason)
		allocator->free(self->reason, REASON_SIZE, allocator->context);
	allocator->free(self, self->size, allocator->context);
}

/* With the lock: nobody has it, and nothing is to be published. */
static void discard(struct weir_nats_message *self)
{
	struct weir__nats_origin *origin = self->origin;

	destroy(self);
	origin->n--;
	weir__nats_unref(origin->client);
}

static uint64_t backoff_of(const struct weir_nats_message *self)
{
	const struct weir__nats_origin *origin = self->origin;
	uint64_t i = self->meta.deliveries;

	if (origin->n_backoff == 0)
		return 0;
	i = i == 0 ? 0 : i - 1;
	return origin
		->backoff[i < origin->n_backoff ? i : origin->n_backoff - 1];
}

static void *hook_alloc(size_t size, void *context)
{
	struct weir__nats_origin *origin = context;
	const struct weir_allocator *allocator =
		origin->client->nats->allocator;

	return allocator->alloc(size, allocator->context);
}

/* The last holder has dropped it. */
static void hook_free(void *memory, size_t size, void *context)
{
	struct weir__nats_origin *origin = context;
	struct weir_nats *nats = origin->client->nats;
	struct weir_nats_message *self = memory;

	weir__nats_lock(nats);
	if (self->settled == WEIR__NATS_OPEN)
		(void)weir__nats_message_settle(
			self,
			is_poison(self) ? WEIR__NATS_DEAD : WEIR__NATS_RETRY,
			backoff_of(self));
	self->dropped = true;
	nats->n_held -= self->held;
	if (self->published && !self->queued && !self->busy)
		discard(self);
	weir__nats_moved(nats);
	weir__nats_unlock(nats);
}

void weir__nats_origin_init(struct weir__nats_origin *self,
			    struct weir__nats_client *client)
{
	self->client = client;
	self->hold_ns = UINT64_MAX;
	self->hook = (struct weir_allocator){hook_alloc, hook_free, self};
}

struct weir_nats_message *weir__nats_message_new(
	struct weir__nats_origin *origin, natsMsg *msg)
{
	struct weir_nats_message *self;
	struct weir_flow_bytes *bytes;
	const size_t size = sizeof(*self);

	if (weir_flow_bytes_new(&bytes, size - sizeof(*bytes), &origin->hook) <
	    0) {
		natsMsg_Destroy(msg);
		return NULL;
	}
	self = (struct weir_nats_message *)(void *)bytes;
	memset((char *)self + sizeof(*bytes), 0, size - sizeof(*bytes));
	self->size = size;
	self->origin = origin;
	self->msg = msg;
	bytes->n = (size_t)natsMsg_GetDataLength(msg);
	/* behind it there is nothing to be changed or freed */
	if (bytes->n > 0)
		bytes->data = (char *)natsMsg_GetData(msg);
	(void)weir__nats_meta_parse(&self->meta, natsMsg_GetReply(msg));
	return self;
}

/* --- Publishing; the writer's --------------------------------------------- */

static natsStatus send(natsConnection *connection, natsMsg *msg,
		       const char *text)
{
	return natsConnection_PublishString(connection, natsMsg_GetReply(msg),
					    text);
}

static natsStatus send_retry(natsConnection *connection, natsMsg *msg,
			     uint64_t delay_ns)
{
	char text[64];

	if (delay_ns == 0)
		return send(connection, msg, "-NAK");
	(void)snprintf(text, sizeof(text), "-NAK {\"delay\":%" PRIu64 "}",
		       delay_ns);
	return send(connection, msg, text);
}

static natsStatus copy_headers(natsMsg *to, natsMsg *from)
{
	natsStatus s;
	const char **keys = NULL, **values = NULL;
	int n_keys = 0, n_values = 0, i, j;

	s = natsMsgHeader_Keys(from, &keys, &n_keys);
	if (s == NATS_NOT_FOUND)
		return NATS_OK;
	for (i = 0; s == NATS_OK && i < n_keys; i++) {
		if (strncmp(keys[i], "Nats-", 5) == 0)
			continue; /* for the other stream */
		s = natsMsgHeader_Values(from, keys[i], &values, &n_values);
		for (j = 0; s == NATS_OK && j < n_values; j++)
			s = natsMsgHeader_Add(to, keys[i], values[j]);
		free((void *)values);
		values = NULL;
		n_values = 0;
	}
	free((void *)keys);
	return s;
}

static natsStatus set_number(natsMsg *msg, const char *key, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	return natsMsgHeader_Set(msg, key, text);
}

/* Stored where the dead are; once, as its id says. */
static natsStatus bury(struct weir_nats *nats, struct weir_nats_message *self)
{
	const struct weir__nats_origin *origin = self->origin;
	jsPubOptions options;
	natsMsg *msg = NULL;
	natsStatus s;
	char id[600];

	(void)snprintf(id, sizeof(id), "%s.%s.%" PRIu64 ".dead", origin->stream,
		       origin->durable, self->meta.sequence);
	s = natsMsg_Create(&msg, origin->dead_subject, NULL, self->bytes.data,
			   natsMsg_GetDataLength(self->msg));
	/* libnats parses headers when it is first asked for one */
	weir__nats_lock(nats);
	if (s == NATS_OK)
		s = copy_headers(msg, self->msg);
	weir__nats_unlock(nats);
	if (s == NATS_OK)
		s = natsMsgHeader_Set(msg, "Weir-Stream", origin->stream);
	if (s == NATS_OK)
		s = natsMsgHeader_Set(msg, "Weir-Subject",
				      natsMsg_GetSubject(self->msg));
	if (s == NATS_OK)
		s = set_number(msg, "Weir-Sequence", self->meta.sequence);
	if (s == NATS_OK)
		s = set_number(msg, "Weir-Deliveries", self->meta.deliveries);
	if (s == NATS_OK && self->reason)
		s = natsMsgHeader_Set(msg, "Weir-Reason", self->reason);
	if (s == NATS_OK)
		s = jsPubOptions_Init(&options);
	if (s == NATS_OK) {
		options.MsgId = id;
		options.MaxWait = DEAD_WAIT_MS;
		s = js_PublishMsg(NULL, nats->js, msg, &options, NULL);
	}
	natsMsg_Destroy(msg);
	return s;
}

static natsStatus send_dead(struct weir_nats *nats,
			    struct weir_nats_message *self)
{
	if (self->origin->dead_subject && bury(nats, self) != NATS_OK)
		return send_retry(nats->connection, self->msg, AGAIN_NS);
	return send(nats->connection, self->msg, "+TERM");
}

/* Without the lock; it is busy, and nobody changes how it is settled. */
static natsStatus publish(struct weir_nats *nats,
			  struct weir_nats_message *self,
			  enum weir__nats_settled settled)
{
	switch (settled) {
	case WEIR__NATS_DONE:
		return send(nats->connection, self->msg, "+ACK");
	case WEIR__NATS_RETRY:
		return send_retry(nats->connection, self->msg, self->delay_ns);
	case WEIR__NATS_DEAD:
		return send_dead(nats, self);
	default:
		return send(nats->connection, self->msg, "+WPI");
	}
}

/* What was queued, with what each is to be published for. */
#define AT_ONCE 64u

struct batch {
	struct weir_nats_message *messages[AT_ONCE];
	enum weir__nats_settled settled[AT_ONCE];
	size_t n;
};

static void take(struct weir_nats *nats, struct batch *batch)
{
	struct weir_nats_message *self;

	for (batch->n = 0; nats->first && batch->n < AT_ONCE; batch->n++) {
		self = nats->first;
		nats->first = self->next;
		self->queued = self->progress = false;
		self->busy = true;
		batch->messages[batch->n] = self;
		batch->settled[batch->n] = self->settled;
	}
	if (!nats->first)
		nats->last = &nats->first;
}

/* It has been published, or could not be. */
static void finish(struct weir_nats_message *self,
		   enum weir__nats_settled settled, bool sent)
{
	self->busy = false;
	if (sent && settled != WEIR__NATS_OPEN)
		publish_done(self);
	if (!self->published &&
	    (self->settled != WEIR__NATS_OPEN || self->progress))
		enqueue(self);
	else if (self->published && self->dropped)
		discard(self);
}

void weir__nats_abandon(struct weir_nats *nats)
{
	struct batch batch;
	size_t i;

	while (nats->first) {
		take(nats, &batch);
		for (i = 0; i < batch.n; i++)
			finish(batch.messages[i], batch.settled[i], true);
	}
}

bool weir__nats_publish(struct weir_nats *nats)
{
	struct batch batch;
	natsStatus s = NATS_OK;
	size_t i, sent;

	if (!nats->first || !weir__nats_connected(nats) ||
	    weir__nats_now() < nats->later_ns)
		return false;
	take(nats, &batch);
	weir__nats_unlock(nats);
	for (sent = 0; sent < batch.n && s == NATS_OK; sent++)
		s = publish(nats, batch.messages[sent], batch.settled[sent]);
	weir__nats_lock(nats);
	for (i = 0; i < batch.n; i++)
		finish(batch.messages[i], batch.settled[i],
		       i + 1 < sent || (i + 1 == sent && s == NATS_OK));
	if (s != NATS_OK)
		nats->later_ns = weir__nats_now() + LATER_NS;
	return true;
}

/* --- Calls ---------------------------------------------------------------- */

static int settle(struct weir_nats_message *self,
		  enum weir__nats_settled settled, uint64_t delay_ns)
{
	struct weir_nats *nats;
	bool was_open;

	if (!self)
		return -EINVAL;
	nats = self->origin->client->nats;
	weir__nats_lock(nats);
	if (settled == WEIR__NATS_RETRY && is_poison(self))
		settled = WEIR__NATS_DEAD;
	was_open = weir__nats_message_settle(self, settled, delay_ns);
	weir__nats_unlock(nats);
	return was_open ? 0 : -EALREADY;
}

int weir_nats_message_done(struct weir_nats_message *message)
{
	return settle(message, WEIR__NATS_DONE, 0);
}

int weir_nats_message_retry(struct weir_nats_message *message,
			    uint64_t delay_ns)
{
	return settle(message, WEIR__NATS_RETRY, delay_ns);
}

/* Without memory nobody is told why. */
int weir_nats_message_dead(struct weir_nats_message *message,
			   const char *reason)
{
	const struct weir_allocator *allocator;
	struct weir_nats *nats;
	char *copy = NULL;
	bool was_open;

	if (!message)
		return -EINVAL;
	nats = message->origin->client->nats;
	allocator = nats->allocator;
	if (reason)
		copy = allocator->alloc(REASON_SIZE, allocator->context);
	if (copy)
		(void)snprintf(copy, REASON_SIZE, "%s", reason);
	weir__nats_lock(nats);
	if (message->settled == WEIR__NATS_OPEN) {
		message->reason = copy;
		copy = NULL;
	}
	was_open = weir__nats_message_settle(message, WEIR__NATS_DEAD, 0);
	weir__nats_unlock(nats);
	if (copy)
		allocator->free(copy, REASON_SIZE, allocator->context);
	return was_open ? 0 : -EALREADY;
}

int weir_nats_message_progress(struct weir_nats_message *message)
{
	struct weir_nats *nats;
	bool is_open;

	if (!message)
		return -EINVAL;
	nats = message->origin->client->nats;
	weir__nats_lock(nats);
	is_open = message->settled == WEIR__NATS_OPEN;
	if (is_open) {
		unlink_open(message);
		message->told_ns = weir__nats_now();
		message->progress = true;
		link_open(message);
		enqueue(message);
	}
	weir__nats_unlock(nats);
	return is_open ? 0 : -EALREADY;
}

struct weir_nats_message *weir_nats_message_of(struct weir_flow_bytes *bytes)
{
	const struct weir_allocator *allocator;

	if (!bytes)
		return NULL;
	/* views of a view hold the whole */
	while (!WEIR__OWN(bytes)->allocator && WEIR__OWN(bytes)->whole)
		bytes = WEIR__OWN(bytes)->whole;
	allocator = WEIR__OWN(bytes)->allocator;
	if (!allocator || allocator->free != hook_free)
		return NULL;
	return (struct weir_nats_message *)(void *)bytes;
}

uint64_t weir_nats_message_sequence(const struct weir_nats_message *message)
{
	return message ? message->meta.sequence : 0;
}

uint64_t weir_nats_message_deliveries(const struct weir_nats_message *message)
{
	return message ? message->meta.deliveries : 0;
}

uint64_t weir_nats_message_pending(const struct weir_nats_message *message)
{
	return message ? message->meta.pending : 0;
}

int64_t weir_nats_message_time(const struct weir_nats_message *message)
{
	return message ? message->meta.time : 0;
}

const char *weir_nats_message_subject(const struct weir_nats_message *message)
{
	return message ? natsMsg_GetSubject(message->msg) : NULL;
}

const char *weir_nats_message_header(struct weir_nats_message *message,
				     const char *name)
{
	struct weir_nats *nats;
	const char *value = NULL;

	if (!message || !name)
		return NULL;
	nats = message->origin->client->nats;
	/* libnats parses headers when it is first asked for one */
	weir__nats_lock(nats);
	if (natsMsgHeader_Get(message->msg, name, &value) != NATS_OK)
		value = NULL;
	weir__nats_unlock(nats);
	return value;
}
