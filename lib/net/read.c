/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a connection. A read of TCP that did not fill its block has taken all
 * that was there, so the next thing is to wait, and not to be told EAGAIN.
 */
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "flow/engine/blueprint.h"
#include "flow/shared/bytes.h"
#include "net/connection.h"

struct reader {
	struct weir__half_op half;     /* must be first */
	struct weir_flow_bytes *block; /* to read into, or NULL */
};

static const struct weir__half_of *args_of(const struct weir__op *op)
{
	return weir__op_args(op);
}

static void drop_block(struct reader *self)
{
	weir_flow_bytes_unref(self->block);
	self->block = NULL;
}

static void reading_close(struct weir__op *op)
{
	struct reader *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;
	size_t left;

	drop_block(self);
	if (!weir__half_end(op))
		return;
	weir__connection_tell(connection, WEIR__CONNECTION_READ_OVER,
			      WEIR__HALF_WRITE);
	/* nobody else will; or the writer, when it has been woken */
	left = connection->options.linger_bytes;
	if (ck_pr_load_32(&connection->state) & WEIR__CONNECTION_ENDED)
		(void)weir__connection_discard(connection, &left);
	weir_connection_unref(connection);
}

/* A receiver that keeps a view of a block keeps the whole block. So the block
 * is at most SPARSE times as large as the bytes that were read. */
#define SPARSE 4u

static struct weir_flow_bytes *read_give(struct weir__op *op, size_t n)
{
	struct reader *self = weir__op_state(op);
	struct weir_flow_bytes *block = self->block, *copy;

	if (n < args_of(op)->block / SPARSE &&
	    weir_flow_bytes_new(&copy, n, weir__op_allocator(op)) == 0) {
		memcpy(copy->data, block->data, n);
		return copy;
	}
	self->block = NULL;
	block->n = n;
	return block;
}

/* Time without demand does not count. */
static void read_waits(struct weir__op *op, bool demand)
{
	struct reader *self = weir__op_state(op);

	/* an operator that waits holds no block */
	drop_block(self);
	if (weir__half_late(op))
		weir__op_fail_code(op, -ETIMEDOUT, "the peer has sent nothing");
	else if (demand)
		weir__half_allow(op,
				 self->half.connection->options.read_idle_ns);
}

/*
 * Nothing comes any more. If that is for a reset, of which the kernel has told
 * another call, the connection is closed, although we have not ended it.
 */
static bool was_reset(struct weir_connection *connection)
{
	struct tcp_info info;
	socklen_t length = sizeof(info);

	/* what a layer takes for the end is no reset */
	if (connection->peer.any.sa_family == AF_UNIX || connection->layer ||
	    (ck_pr_load_32(&connection->state) & WEIR__CONNECTION_ENDED) ||
	    getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &length))
		return false;
	return info.tcpi_state == TCP_CLOSE;
}

static void read_end(struct weir__op *op)
{
	struct reader *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;

	if (was_reset(connection))
		weir__connection_fail(connection, -ECONNRESET);
	if (weir__connection_error(connection)) {
		weir__half_fail(op);
		return;
	}
	ck_pr_or_32(&connection->state, WEIR__CONNECTION_PEER_ENDED);
	weir__op_end(op, NULL);
}

static void read_fail(struct weir__op *op, int code)
{
	struct reader *self = weir__op_state(op);

	weir__connection_break(self->half.connection, code);
	weir__half_fail(op);
}

/* `n` bytes are in the block; `all` that there were. */
static struct weir_flow_bytes *read_some(struct weir__op *op, size_t n,
					 bool all)
{
	struct reader *self = weir__op_state(op);
	struct weir_connection *connection = self->half.connection;

	if (all && connection->peer.any.sa_family != AF_UNIX)
		weir__op_fd_drained(&self->half.wait);
	self->half.due_ns = 0;
	ck_pr_store_64(&connection->bytes_in, connection->bytes_in + n);
	return read_give(op, n);
}

static ssize_t take(struct weir_connection *connection, void *to, size_t n,
		    short *events)
{
	ssize_t got;

	*events = 0;
	if (WEIR_UNLIKELY(connection->layer != NULL))
		return weir__layer_read(connection, to, n, events);
	got = recv(connection->fd, to, n, MSG_DONTWAIT);
	if (got < (ssize_t)n)
		*events = POLLIN;
	return got;
}

/* A block, or NULL: none now, or the operator has ended. */
static struct weir_flow_bytes *read_block(struct weir__op *op)
{
	struct reader *self = weir__op_state(op);
	size_t block = args_of(op)->block;
	short events;
	ssize_t n;

	if (!self->block && weir_flow_bytes_new(&self->block, block,
						weir__op_allocator(op)) < 0) {
		weir__op_fail(op, -ENOMEM, "no memory for a block");
		return NULL;
	}
	for (;;) {
		n = take(self->half.connection, self->block->data, block,
			 &events);
		if (n > 0)
			return read_some(op, (size_t)n, events == POLLIN);
		if (n == 0) {
			read_end(op);
			return NULL;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (weir__half_blocks(op, events))
				return NULL;
		} else if (errno != EINTR) {
			read_fail(op, -errno);
			return NULL;
		}
	}
}

/* There is no demand. */
static void read_nothing(struct weir__op *op)
{
	struct weir_connection *connection =
		((struct reader *)weir__op_state(op))->half.connection;
	short events;

	weir__half_rest(op);
	if (!connection->layer || weir__connection_error(connection))
		return;
	do {
		if (take(connection, NULL, 0, &events) == 0)
			return;
		if (errno != EAGAIN) {
			read_fail(op, -errno);
			return;
		}
	} while (!weir__half_blocks(op, events));
}

static size_t reading_pull(struct weir__op *op, void **items, size_t room)
{
	struct reader *self = weir__op_state(op);

	if (!weir__half_begin(op, POLLIN))
		return 0;
	if (ck_pr_load_32(&self->half.connection->state) &
	    WEIR__CONNECTION_ENDING) {
		weir__op_end(op, NULL);
		return 0;
	}
	if (weir__half_opens(op))
		return 0;
	if (!weir__half_waits(op)) {
		if (room == 0) {
			read_nothing(op);
			return 0;
		}
		items[0] = read_block(op);
		if (items[0] || op->ended)
			return items[0] != NULL;
	}
	read_waits(op, room > 0);
	return 0;
}

static const struct weir__kind connection_read_kind = {
	.name = "connection_read",
	.state_size = sizeof(struct reader),
	.items = weir__gives_bytes,
	.pull = reading_pull,
	.close = reading_close,
	.claim = weir__half_claim,
	.unclaim = weir__half_unclaim,
	.free = weir__half_free,
	.keeps = sizeof(struct weir__half_op),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

struct weir_flow *weir_connection_read(struct weir_connection *connection,
				       size_t block)
{
	const struct weir__kind *kind = &connection_read_kind;
	struct weir__half_of args = {.connection = connection,
				     .block = block,
				     .half = WEIR__HALF_READ,
				     .holds = 1};
	bool valid = block > 0 && block <= WEIR__BYTES_MAX;
	struct weir_flow *flow = weir__flow_source(kind, &args, sizeof(args),
						   connection && valid);

	if (!connection)
		return weir__flow_wrong_as(flow, kind, "connection is NULL");
	flow = weir__flow_wrong(flow, kind, "block %zu is not 1 to %zu", block,
				(size_t)WEIR__BYTES_MAX);
	if (flow->kind == kind)
		(void)weir_connection_ref(connection);
	return flow;
}
