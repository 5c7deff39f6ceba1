/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/nats_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t weir__nats_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

void weir__nats_lock(struct weir_nats *nats)
{
	(void)pthread_mutex_lock(&nats->lock);
}

void weir__nats_unlock(struct weir_nats *nats)
{
	(void)pthread_mutex_unlock(&nats->lock);
}

void weir__nats_wake(struct weir_nats *nats)
{
	if (!nats->idle)
		return;
	nats->idle = false;
	(void)pthread_cond_signal(&nats->work);
}

void weir__nats_moved(struct weir_nats *nats)
{
	if (nats->n_waiting > 0)
		(void)pthread_cond_broadcast(&nats->moved);
}

bool weir__nats_connected(const struct weir_nats *nats)
{
	return nats->state == WEIR_NATS_STATE_CONNECTED;
}

void weir__nats_add(struct weir_nats *nats, struct weir__nats_client *client,
		    const struct weir__nats_client_ops *ops)
{
	*client = (struct weir__nats_client){
		.ops = ops,
		.nats = nats,
		.next = nats->clients,
		.refs = 1,
		.due_ns = UINT64_MAX,
	};
	nats->clients = client;
}

void weir__nats_soon(struct weir__nats_client *client)
{
	client->dirty = true;
	weir__nats_wake(client->nats);
}

void weir__nats_unref(struct weir__nats_client *client)
{
	if (--client->refs == 0)
		weir__nats_soon(client);
}

/* As snprintf() does it, which takes most of the time of a message. */
size_t weir__nats_join(char *to, size_t size, const char *name, uint64_t number)
{
	char digits[20], *first = digits + sizeof(digits);
	size_t n = strnlen(name, size - 1), rest;

	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	memcpy(to, name, n);
	if (n < size - 1)
		to[n++] = '.';
	rest = (size_t)(digits + sizeof(digits) - first);
	rest = rest < size - 1 - n ? rest : size - 1 - n;
	memcpy(to + n, first, rest);
	to[n + rest] = '\0';
	return n + rest;
}

int weir__nats_errno(natsStatus status)
{
	static const struct {
		natsStatus status;
		int code;
	} table[] = {
		{NATS_OK, 0},
		{NATS_NO_MEMORY, -ENOMEM},
		{NATS_NO_SERVER, -ECONNREFUSED},
		{NATS_CONNECTION_AUTH_FAILED, -EACCES},
		{NATS_NOT_PERMITTED, -EACCES},
		{NATS_SSL_ERROR, -EPROTO},
		{NATS_SECURE_CONNECTION_WANTED, -EPROTO},
		{NATS_SECURE_CONNECTION_REQUIRED, -EPROTO},
		{NATS_TIMEOUT, -ETIMEDOUT},
		{NATS_NO_RESPONDERS, -ENOTSUP},
		{NATS_NOT_FOUND, -ENOENT},
		{NATS_CONNECTION_CLOSED, -ENOTCONN},
		{NATS_CONNECTION_DISCONNECTED, -ENOTCONN},
		{NATS_MAX_PAYLOAD, -EMSGSIZE},
		{NATS_INVALID_ARG, -EINVAL},
		{NATS_INVALID_SUBJECT, -EINVAL},
		{NATS_ADDRESS_MISSING, -EINVAL},
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].status == status)
			return table[i].code;
	return -EIO;
}

/* --- Inboxes -------------------------------------------------------------- */

#define DRAIN_WAIT_MS 5000

static void inbox_free(struct weir__nats_inbox *self)
{
	struct weir__nats_client *client = self->client;
	struct weir_nats *nats = client->nats;

	natsSubscription_Destroy(self->subscription);
	nats->allocator->free(self, sizeof(*self), nats->allocator->context);
	weir__nats_lock(nats);
	nats->n_inboxes--;
	client->n_inboxes--;
	weir__nats_soon(client);
	weir__nats_unref(client);
	weir__nats_moved(nats);
	weir__nats_unlock(nats);
}

static void on_message(natsConnection *connection,
		       natsSubscription *subscription, natsMsg *msg,
		       void *context)
{
	struct weir__nats_inbox *self = context;
	const char *subject = natsMsg_GetSubject(msg);
	bool is_own = strncmp(subject, self->name, self->n) == 0 &&
		      subject[self->n] == '.';

	self->take(self, msg, is_own ? subject + self->n + 1 : NULL);
}

/* libnats does not call for it any more. */
static void on_complete(void *context)
{
	struct weir__nats_inbox *self = context;
	struct weir_nats *nats = self->client->nats;
	bool is_last;

	weir__nats_lock(nats);
	self->complete = true;
	is_last = !self->closing;
	weir__nats_unlock(nats);
	if (is_last)
		inbox_free(self);
}

static int subscribe(struct weir__nats_inbox *self, natsConnection *connection)
{
	char subject[sizeof(self->name) + 4];
	natsInbox *name = NULL;
	natsStatus s;

	s = natsInbox_Create(&name);
	if (s != NATS_OK)
		return -ENOMEM;
	self->n = (size_t)snprintf(self->name, sizeof(self->name), "%s", name);
	natsInbox_Destroy(name);
	(void)snprintf(subject, sizeof(subject), "%s.>", self->name);
	s = natsConnection_Subscribe(&self->subscription, connection, subject,
				     on_message, self);
	if (s != NATS_OK)
		return weir__nats_errno(s);
	/* demand is the limit */
	(void)natsSubscription_SetPendingLimits(self->subscription, -1, -1);
	s = natsSubscription_SetOnCompleteCB(self->subscription, on_complete,
					     self);
	return weir__nats_errno(s);
}

int weir__nats_inbox_open(struct weir__nats_inbox **inbox,
			  struct weir__nats_client *client, uint64_t epoch,
			  void (*take)(struct weir__nats_inbox *self,
				       natsMsg *msg, const char *rest))
{
	struct weir_nats *nats = client->nats;
	struct weir__nats_inbox *self;
	int rc;

	self = nats->allocator->alloc(sizeof(*self), nats->allocator->context);
	if (!self)
		return -ENOMEM;
	*self = (struct weir__nats_inbox){
		.client = client,
		.take = take,
		.epoch = epoch,
	};
	weir__nats_lock(nats);
	client->refs++;
	client->n_inboxes++;
	nats->n_inboxes++;
	weir__nats_unlock(nats);
	rc = subscribe(self, nats->connection);
	if (rc < 0)
		inbox_free(self);
	else
		*inbox = self;
	return rc;
}

/* Of a broken connection: what was read of it is taken. */
static void unsubscribe(natsSubscription *subscription)
{
	uint64_t n = 1;
	int i;

	for (i = 0;
	     i < 100 &&
	     natsSubscription_QueuedMsgs(subscription, &n) == NATS_OK && n > 0;
	     i++)
		nats_Sleep(1);
	(void)natsSubscription_Unsubscribe(subscription);
}

void weir__nats_inbox_close(struct weir__nats_inbox *self, bool connected)
{
	struct weir_nats *nats = self->client->nats;
	bool is_last;

	weir__nats_lock(nats);
	self->closing = true;
	weir__nats_unlock(nats);
	if (!connected || natsSubscription_DrainTimeout(
				  self->subscription, DRAIN_WAIT_MS) != NATS_OK)
		unsubscribe(self->subscription);
	weir__nats_lock(nats);
	self->closing = false;
	is_last = self->complete;
	weir__nats_unlock(nats);
	if (is_last)
		inbox_free(self);
}
