/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/nats_state.h"

#include <errno.h>
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
