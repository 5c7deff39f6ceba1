/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layers upon connections. Both halves open the layer, each whenever it is
 * pulled: what one of them waits for, the other one may have taken. The one that
 * has opened it wakes the other.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>

#include "net/connection.h"

/* --- The object ----------------------------------------------------------- */

static bool is_used(struct weir_connection *connection)
{
	return ck_pr_load_32(&connection->claimed[WEIR__HALF_READ]) ||
	       ck_pr_load_32(&connection->claimed[WEIR__HALF_WRITE]);
}

int weir_connection_put_layer(struct weir_connection *connection,
			      const struct weir_connection_layer_ops *layer,
			      void *context, uint64_t open_ns)
{
	if (!connection || !layer || !layer->read || !layer->write ||
	    !layer->reason || !layer->free || open_ns == 0)
		return -EINVAL;
	if (connection->layer || is_used(connection))
		return -EALREADY;
	connection->layer = layer;
	connection->layers = context;
	connection->open_ns = open_ns;
	if (!layer->open)
		connection->state |= WEIR__CONNECTION_OPEN;
	return 0;
}

void *weir_connection_layer(const struct weir_connection *connection,
			    const struct weir_connection_layer_ops *layer)
{
	return connection && layer && connection->layer == layer
		       ? connection->layers
		       : NULL;
}

/* --- Bytes ---------------------------------------------------------------- */

static ssize_t as_call(ssize_t n)
{
	if (n >= 0)
		return n;
	errno = (int)-n;
	return -1;
}

ssize_t weir__layer_read(struct weir_connection *connection, void *to, size_t n,
			 short *events)
{
	*events = 0;
	return as_call(connection->layer->read(to, n, connection->fd, events,
					       connection->layers));
}

ssize_t weir__layer_write(struct weir_connection *connection,
			  const struct iovec *parts, int n, short *events)
{
	*events = 0;
	return as_call(connection->layer->write(parts, n, connection->fd,
						events, connection->layers));
}

void weir__layer_last(struct weir_connection *connection)
{
	short events = 0;

	if (connection->layer->end)
		(void)connection->layer->end(connection->fd, &events,
					     connection->layers);
}

/* --- How the halves wait for it --------------------------------------------- */

static enum weir__half other_half(const struct weir__op *op)
{
	const struct weir__half_of *args = weir__op_args(op);

	return args->half == WEIR__HALF_READ ? WEIR__HALF_WRITE
					     : WEIR__HALF_READ;
}

/* 0, -EAGAIN: the operator waits, or has failed; another errno. */
static int open_step(struct weir__op *op)
{
	struct weir_connection *connection =
		((struct weir__half_op *)weir__op_state(op))->connection;
	short events;
	int rc;

	do {
		events = 0;
		rc = connection->layer->open(connection->fd, &events,
					     connection->layers);
	} while (rc == -EAGAIN && !weir__half_blocks(op, events));
	return rc;
}

/*
 * What has come behind the opening may be in the layer already. If the other
 * half has taken it in, epoll has not told of it: it tells only of what is there
 * when it is asked.
 */
static void go_on(struct weir__half_op *self)
{
	self->opens = false;
	self->due_ns = 0;
	(void)weir__ready_add(&self->wait.ready, POLLIN | POLLOUT);
}

bool weir__half_opens(struct weir__op *op)
{
	struct weir__half_op *self = weir__op_state(op);
	struct weir_connection *connection = self->connection;
	int rc;

	if (weir__layer_is_open(connection)) {
		if (WEIR_UNLIKELY(self->opens))
			go_on(self);
		return false;
	}
	self->opens = true;
	rc = open_step(op);
	if (rc == 0) {
		weir__connection_tell(connection, WEIR__CONNECTION_OPEN,
				      other_half(op));
		go_on(self);
		return false;
	}
	if (rc != -EAGAIN) {
		weir__connection_break(connection, rc);
	} else if (weir__half_late(op)) {
		weir__connection_fail(connection, -ETIMEDOUT);
		weir__op_fail_code(op, -ETIMEDOUT,
				   "the peer has not done its handshake");
	} else if (connection->open_ns != WEIR_FOREVER) {
		weir__half_allow(op, connection->open_ns);
	}
	return true;
}

bool weir__half_parts(struct weir__op *op)
{
	struct weir__half_op *self = weir__op_state(op);
	struct weir_connection *connection = self->connection;
	short events;
	int rc = 0;

	if (!connection->layer->end)
		return true;
	do {
		events = 0;
		rc = connection->layer->end(connection->fd, &events,
					    connection->layers);
	} while (rc == -EAGAIN && !weir__half_blocks(op, events));
	if (rc == -EAGAIN && weir__half_late(op))
		weir__op_fail_code(op, -ETIMEDOUT,
				   "the peer has taken nothing");
	else if (rc == -EAGAIN)
		weir__half_allow(op, connection->options.write_stall_ns);
	else if (rc < 0)
		weir__connection_break(connection, rc);
	return rc == 0;
}
