/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a connection: first what upstream has, then the end, then what the
 * peer still sends and nobody reads any more. That is dropped also while the
 * peer takes nothing: it may be that it cannot, before it has sent all.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "flow/engine/blueprint.h"
#include "flow/shared/bytes.h"
#include "flow/shared/writes.h"
#include "net/connection.h"

#define BLOCK (64u * 1024)

struct writer {
	struct weir__half_op half; /* must be first */
	struct weir__writes writes;
	uintptr_t written; /* bytes */
	size_t left;	   /* bytes that may be dropped */
	bool discards;	   /* `left` has been set */
	bool ended;	   /* the peer has been told of the end */
	uint64_t until_ns; /* the peer is waited for; 0: not yet */
	bool done;
};

static void writing_close(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;

	weir__writes_drop(&self->writes, op);
	if (!weir__half_end(op))
		return;
	if (!self->done)
		weir_connection_stop(connection);
	weir_connection_unref(connection);
}

static void writing_fail(struct weir__op *op, int code)
{
	struct writer *self = weir__op_state(op);

	weir__connection_break(self->half.connection,
			       code == -EPIPE ? -ECONNRESET : code);
	/* else it is woken, and says why */
	if (!weir__layer_broken(self->half.connection))
		weir__half_fail(op);
}

/* --- What the peer sends and nobody reads --------------------------------- */

/* True: nobody reads any more, and there may be something. */
static bool may_discard(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;
	uint32_t state = ck_pr_load_32(&connection->state);

	if (state & WEIR__CONNECTION_PEER_ENDED)
		return false;
	if (!(state & WEIR__CONNECTION_READ_OVER) &&
	    !weir__layer_broken(connection))
		return false;
	if (!self->discards)
		self->left = connection->options.linger_bytes;
	self->discards = true;
	return self->left > 0;
}

/* The events to watch for, beside others. */
static short discard(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);

	if (!may_discard(op) ||
	    weir__connection_discard(self->half.connection, &self->left))
		return 0;
	return POLLIN;
}

/* Tells the peer of the end. False: it has failed, or waits. */
static bool send_end(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;

	if (connection->layer && !weir__half_parts(op))
		return false;
	ck_pr_or_32(&connection->state, WEIR__CONNECTION_ENDED);
	if (shutdown(connection->fd, SHUT_WR) < 0) {
		writing_fail(op, errno == ENOTCONN ? -ECONNRESET : -errno);
		return false;
	}
	self->ended = true;
	if (connection->options.no_half_close)
		weir__connection_tell(connection, WEIR__CONNECTION_ENDING,
				      WEIR__HALF_READ);
	return true;
}

/* True: nothing more is to be done. */
static bool linger(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;

	/* it ends soon, and wakes us */
	if (connection->options.no_half_close &&
	    weir__connection_has(connection, WEIR__HALF_READ))
		return false;
	if (!self->until_ns)
		self->until_ns = weir__later(weir__op_now(op),
					     connection->options.linger_ns);
	do {
		if (!discard(op) || weir__op_now(op) >= self->until_ns)
			return true;
	} while (!weir__half_blocks(op, POLLIN));
	weir__half_until(op, self->until_ns);
	return false;
}

/* --- What is to be sent --------------------------------------------------- */

static void wrote(struct weir__op *op, size_t n)
{
	struct writer *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;

	self->written += n;
	ck_pr_store_64(&connection->bytes_out, connection->bytes_out + n);
	weir__writes_wrote(&self->writes, op, n);
}

/* One part, as most often, is sent by the call that takes less time. */
static ssize_t send_parts(const struct writer *self, short *events)
{
	const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
	struct weir_connection *connection = self->half.connection;
	struct weir__gathered gathered;
	struct msghdr message = {.msg_iov = gathered.parts};
	int n = weir__writes_gather(&self->writes, &gathered, SIZE_MAX, false);

	if (WEIR_UNLIKELY(connection->layer != NULL))
		return weir__layer_write(connection, gathered.parts, n, events);
	*events = POLLOUT;
	message.msg_iovlen = (size_t)n;
	if (n == 1)
		return send(connection->fd, gathered.parts->iov_base,
			    gathered.parts->iov_len, flags);
	return sendmsg(connection->fd, &message, flags);
}

/* False: it sends again. */
static bool write_blocks(struct weir__op *op, short events)
{
	const struct writer *self = weir__op_state(op);

	if (!weir__half_blocks(op, (short)(events | discard(op))))
		return false;
	weir__half_allow(op, self->half.connection->options.write_stall_ns);
	return true;
}

/* True: all items are sent. */
static bool write_all(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);
	short events;
	ssize_t n;

	wrote(op, 0); /* the empty ones */
	while (weir__writes_any(&self->writes)) {
		n = send_parts(self, &events);
		if (n >= 0) {
			self->half.due_ns = 0;
			wrote(op, (size_t)n);
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (write_blocks(op, events))
				return false;
		} else if (errno != EINTR) {
			writing_fail(op, -errno);
			return false;
		}
	}
	return true;
}

static void write_more(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);

	self->writes.joins = true;
	if (!weir__writes_any(&self->writes))
		weir__writes_take(&self->writes, op);
	if (weir__writes_any(&self->writes) && write_all(op))
		/* the failed item may be one that was taken before */
		weir__op_again(op);
}

/* True: it waits for the peer to take what there is, or has for too long. */
static bool write_waits(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);

	if (!weir__half_waits(op) || !weir__writes_any(&self->writes))
		return false;
	/* to be watched for, too */
	if (may_discard(op) && !(self->half.wait.watch.events & POLLIN))
		return false;
	if (weir__half_late(op))
		weir__op_fail_code(op, -ETIMEDOUT,
				   "the peer has taken nothing");
	return true;
}

/*
 * The connection has failed. If its layer has, the peer is told why, and has
 * time to take it. True: it was told, or there is nothing to tell; false: it
 * waits, or the operator has failed.
 */
static bool say_why(struct weir__op *op)
{
	struct writer *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;

	if (self->done || !weir__layer_broken(connection))
		return true;
	if (!self->ended) {
		weir__layer_last(connection);
		ck_pr_or_32(&connection->state, WEIR__CONNECTION_ENDED);
		(void)shutdown(connection->fd, SHUT_WR);
		self->ended = true;
	}
	self->done = linger(op) && !op->ended;
	return self->done;
}

/* Upstream is over, and all is sent. */
static size_t writing_end(struct weir__op *op, void **items, size_t room)
{
	struct writer *self = weir__op_state(op);

	if (op->up[0]->error) {
		if (say_why(op))
			weir__op_end(op, op->up[0]->error);
		return 0;
	}
	if ((!self->ended && !send_end(op)) || !linger(op) || op->ended ||
	    room == 0)
		return 0;
	self->done = true;
	items[0] = (void *)self->written;
	weir__op_end(op, NULL);
	return 1;
}

/* True: the connection has failed. */
static bool write_fails(struct weir__op *op)
{
	const struct writer *self = weir__op_state(op);

	if (!weir__connection_error(self->half.connection))
		return false;
	if (say_why(op))
		weir__half_fail(op);
	return true;
}

/* True: the layer is not open yet. */
static bool write_opens(struct weir__op *op)
{
	struct weir__op *up = op->up[0];

	if (!weir__half_opens(op))
		return false;
	if (!op->ended)
		weir__pull_none(up);
	if (!op->ended && up->ended && up->error)
		(void)writing_end(op, NULL, 0);
	return true;
}

static size_t writing_pull(struct weir__op *op, void **items, size_t room)
{
	struct writer *self = weir__op_state(op);
	struct weir__op *up = op->up[0];

	if (!weir__half_enter(op, 0) || write_fails(op) || write_opens(op) ||
	    write_waits(op))
		return 0;
	if (room == 0)
		weir__pull_none(up);
	else
		write_more(op);
	if (op->ended)
		return 0;
	if (!weir__writes_any(&self->writes) && up->ended)
		return writing_end(op, items, room);
	weir__half_rest(op);
	return 0;
}

static const struct weir__kind connection_write_kind = {
	.name = "connection_write",
	.state_size = sizeof(struct writer),
	.refuses = weir__takes_bytes,
	.pull = writing_pull,
	.close = writing_close,
	.claim = weir__half_claim,
	.unclaim = weir__half_unclaim,
	.free = weir__half_free,
	.keeps = sizeof(struct weir__half_op),
	.awaits = WEIR_WAIT_FD,
	.holds = true,
	.makes = true,
};

struct weir_flow *weir_connection_write(struct weir_flow *flow,
					struct weir_connection *connection)
{
	const struct weir__kind *kind = &connection_write_kind;
	struct weir__half_of args = {
		.connection = connection, .half = WEIR__HALF_WRITE, .holds = 1};

	flow = weir__flow_upon(kind, flow, &args, sizeof(args), connection);
	flow = weir__flow_wrong_as(flow, kind,
				   connection ? NULL : "connection is NULL");
	if (flow->kind == kind)
		(void)weir_connection_ref(connection);
	return flow;
}

struct weir_flow *weir_connection_run(
	struct weir_connection *connection,
	struct weir_flow *(*operators)(struct weir_flow *flow, void *context),
	void *context)
{
	struct weir_flow *flow = weir_connection_read(connection, BLOCK);

	if (operators)
		flow = operators(flow, context);
	return weir_connection_write(flow, connection);
}
