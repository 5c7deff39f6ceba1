/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two connections, joined. Small pieces are received and sent on by way of the
 * stack: two calls, as a piece that is short was all there is. When a piece is
 * not short, more is carried through a pipe of the kernel's, without being
 * copied (splice(2)), until nothing is left. A way takes bytes in only when it
 * holds none: so EAGAIN of that call means that nothing is there, and never
 * that the pipe is full. Where sockets cannot be spliced, or no pipe is to be
 * had, the way has a buffer in its place.
 *
 * One operator has both ways, as they have their limits in common. It watches
 * each descriptor once, for both (executor/readiness.h): `dry` and `full` are
 * what calls have found since the last news of it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actor/look.h"
#include "base/memory.h"
#include "base/options.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/shared/writes.h"
#include "net/connection.h"

#define BLOCK (64u * 1024) /* bytes that a way holds at most */
#define PIECE 4096u	   /* bytes that are copied rather than spliced */
#define ROUNDS 4u	   /* blocks that a pull carries each way */
#define HALF_CLOSE_NS UINT64_C(60000000000)

struct piped {
	struct weir_connection *connections[2]; /* references, if `holds` */
	uint64_t idle_ns, half_close_ns;
	uint32_t claimed; /* atomic: the flow runs once */
	uint32_t holds;	  /* atomic: its operator is not over */
};

/* What is known of a connection. */
struct end {
	bool dry;  /* nothing is there to be read */
	bool full; /* it takes nothing */
	bool over; /* its peer has ended, perhaps behind bytes to be read */
	bool more; /* a short piece need not be all: WEIR__READY_MORE */
};

/* From one connection to the other. */
struct way {
	int pipe[2];   /* or -1 */
	char *buffer;  /* or NULL */
	char *piece;   /* or NULL: for what is left of one */
	size_t held;   /* bytes in one of the three */
	size_t at;     /* of the buffer or the piece: where they begin */
	bool much;     /* the last piece was not short: it splices */
	bool in_piece; /* what is held */
	bool drained;  /* the one connection has been read to its end */
	bool ended;    /* and the other one was told */
};

struct piping {
	/* These two survive a restart. */
	struct weir__op_fd waits[2];
	struct weir__op_timer timer;
	struct end ends[2];
	struct way ways[2];  /* from connection 0, and from 1 */
	uint64_t moved_ns;   /* when something last happened, if `limited` */
	uintptr_t carried;   /* bytes, both ways */
	bool begun, limited; /* there is a limit by now */
	bool moved;	     /* in this pull */
	bool done;
};

static const struct piped *args_of(const struct weir__op *op)
{
	return weir__op_args(op);
}

static struct weir_connection *connection_of(const struct weir__op *op,
					     unsigned int side)
{
	return args_of(op)->connections[side];
}

/* --- The flow ------------------------------------------------------------- */

/* Both halves of both. */
static int pipe_claim(struct weir_flow *flow)
{
	struct piped *args = (void *)flow->args;
	unsigned int i;

	/* once it has run, it is claimed for ever */
	if (ck_pr_fas_32(&args->claimed, 1))
		return -EALREADY;
	if (args->connections[0]->layer || args->connections[1]->layer) {
		ck_pr_store_32(&args->claimed, 0);
		return -ENOTSUP;
	}
	for (i = 0; i < 4; i++)
		if (ck_pr_fas_32(&args->connections[i / 2]->claimed[i % 2], 1))
			break;
	if (i == 4)
		return 0;
	while (i-- > 0)
		ck_pr_store_32(&args->connections[i / 2]->claimed[i % 2], 0);
	ck_pr_store_32(&args->claimed, 0);
	return -EALREADY;
}

static void pipe_unclaim(struct weir_flow *flow)
{
	struct piped *args = (void *)flow->args;
	unsigned int i;

	for (i = 0; i < 4; i++)
		ck_pr_store_32(&args->connections[i / 2]->claimed[i % 2], 0);
	ck_pr_store_32(&args->claimed, 0);
}

static void pipe_free(struct weir_flow *flow)
{
	struct piped *args = (void *)flow->args;
	unsigned int i;

	/* its operator has given the references back */
	if (!ck_pr_load_32(&args->holds))
		return;
	for (i = 0; i < 2; i++) {
		/* its run was stopped before anything was carried */
		if (ck_pr_load_32(&args->claimed))
			weir_connection_stop(args->connections[i]);
		weir_connection_unref(args->connections[i]);
	}
}

/* --- Where a way holds its bytes ------------------------------------------ */

static void close_pipe(struct way *way)
{
	if (way->pipe[0] < 0)
		return;
	(void)close(way->pipe[0]);
	(void)close(way->pipe[1]);
	way->pipe[0] = way->pipe[1] = -1;
}

static void empty_way(struct weir__op *op, struct way *way)
{
	close_pipe(way);
	weir__free(weir__op_allocator(op), way->buffer, BLOCK);
	weir__free(weir__op_allocator(op), way->piece, PIECE);
	way->buffer = way->piece = NULL;
	way->held = 0;
}

/* From now on it has a buffer, also for what is in the pipe. False: the
 * operator has failed. */
static bool make_buffer(struct weir__op *op, struct way *way)
{
	ssize_t n = 0;

	way->buffer = weir__alloc(weir__op_allocator(op), BLOCK);
	if (!way->buffer) {
		weir__op_fail(op, -ENOMEM, "no memory for a buffer");
		return false;
	}
	way->at = 0;
	if (way->held > 0)
		n = read(way->pipe[0], way->buffer, BLOCK);
	assert(n == (ssize_t)way->held);
	(void)n;
	close_pipe(way);
	return true;
}

/* --- One way -------------------------------------------------------------- */

static void pipe_fail(struct weir__op *op, unsigned int side, int code)
{
	struct weir_connection *connection = connection_of(op, side);

	weir__connection_fail(connection, code == -EPIPE ? -ECONNRESET : code);
	weir__op_fail_code(op, weir__connection_error(connection),
			   side ? "the second connection has failed"
				: "the first connection has failed");
}

static ssize_t take_some(struct way *way, int fd)
{
	if (way->buffer)
		return recv(fd, way->buffer, BLOCK, MSG_DONTWAIT);
	return splice(fd, NULL, way->pipe[1], NULL, BLOCK,
		      SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

static ssize_t give_some(struct way *way, int fd)
{
	const char *from = way->in_piece ? way->piece : way->buffer;

	if (from)
		return send(fd, from + way->at, way->held,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
	return weir__splice_pipe(way->pipe[0], fd, way->held);
}

/* A call for connection `side` has failed, with errno. True: it would block,
 * or the operator has failed; false: once more. */
static bool gives_up(struct weir__op *op, struct way *way, unsigned int side)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return true;
	if ((errno == EINVAL || errno == ENOSYS) && !way->buffer)
		return !make_buffer(op, way);
	if (errno != EINTR)
		pipe_fail(op, side, -errno);
	return op->ended;
}

/* Known by an event, or by a read. */
static void peer_over(struct piping *self, unsigned int i)
{
	if (!self->ends[i].over)
		self->moved = true;
	self->ends[i].over = true;
}

/* What the call for the one connection has found. */
static void took(struct weir__op *op, unsigned int from, ssize_t n)
{
	struct piping *self = weir__op_state(op);
	struct weir_connection *connection = connection_of(op, from);
	struct way *way = &self->ways[from];

	if (n < 0) {
		self->ends[from].dry = true;
		way->much = false;
		return;
	}
	self->moved = true;
	way->drained = n == 0;
	if (n == 0)
		peer_over(self, from);
	ck_pr_store_64(&connection->bytes_in, connection->bytes_in + (size_t)n);
}

/* False: the operator has failed. */
static bool open_pipe(struct weir__op *op, struct way *way)
{
	if (way->pipe[0] >= 0 || way->buffer ||
	    pipe2(way->pipe, O_CLOEXEC | O_NONBLOCK) == 0)
		return true;
	way->pipe[0] = way->pipe[1] = -1;
	return make_buffer(op, way);
}

/* Fills the way, which holds nothing. */
static void take_in(struct weir__op *op, unsigned int from)
{
	struct piping *self = weir__op_state(op);
	struct way *way = &self->ways[from];
	ssize_t n;

	if (!open_pipe(op, way))
		return;
	do
		n = take_some(way, connection_of(op, from)->fd);
	while (n < 0 && !gives_up(op, way, from));
	way->in_piece = false;
	way->at = 0;
	way->held = n > 0 ? (size_t)n : 0;
	took(op, from, n);
}

/* What the call for the other connection has found. */
static void gave(struct weir__op *op, unsigned int from, ssize_t n)
{
	struct piping *self = weir__op_state(op);
	struct weir_connection *connection = connection_of(op, !from);

	if (n < 0) {
		self->ends[!from].full = true;
		return;
	}
	if (n == 0) {
		pipe_fail(op, !from, -EIO);
		return;
	}
	self->moved = true;
	self->carried += (uintptr_t)n;
	ck_pr_store_64(&connection->bytes_out,
		       connection->bytes_out + (size_t)n);
}

/* Gives away what the way holds. */
static void give_out(struct weir__op *op, unsigned int from)
{
	struct piping *self = weir__op_state(op);
	struct way *way = &self->ways[from];
	ssize_t n;

	do
		n = give_some(way, connection_of(op, !from)->fd);
	while (n < 0 && !gives_up(op, way, !from));
	if (n > 0) {
		way->at += (size_t)n;
		way->held -= (size_t)n;
	}
	gave(op, from, n);
}

/* What is left of a piece. */
static void hold(struct weir__op *op, struct way *way, const char *bytes,
		 size_t n)
{
	if (!way->piece)
		way->piece = weir__alloc(weir__op_allocator(op), PIECE);
	if (!way->piece) {
		weir__op_fail(op, -ENOMEM, "no memory for a piece");
		return;
	}
	memcpy(way->piece, bytes, n);
	way->in_piece = true;
	way->at = 0;
	way->held = n;
}

/* Of `n` bytes: how many the other connection has taken. */
static size_t send_piece(struct weir__op *op, unsigned int from,
			 const char *bytes, size_t n)
{
	struct piping *self = weir__op_state(op);
	ssize_t sent;

	if (self->ends[!from].full)
		return 0;
	do
		sent = send(connection_of(op, !from)->fd, bytes, n,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && !gives_up(op, &self->ways[from], !from));
	gave(op, from, sent);
	return sent > 0 ? (size_t)sent : 0;
}

/*
 * Carries a piece. One that is short was all there is, but with an end or with
 * urgent data, and where the kernel keeps apart what was written apart.
 */
static void carry_piece(struct weir__op *op, unsigned int from)
{
	struct piping *self = weir__op_state(op);
	struct weir_connection *connection = connection_of(op, from);
	struct way *way = &self->ways[from];
	char piece[PIECE];
	size_t sent;
	ssize_t n;

	do
		n = recv(connection->fd, piece, PIECE, MSG_DONTWAIT);
	while (n < 0 && !gives_up(op, way, from));
	took(op, from, n);
	if (n <= 0)
		return;
	way->much = n == PIECE;
	self->ends[from].dry = n < PIECE && !self->ends[from].more &&
			       connection->peer.any.sa_family != AF_UNIX;
	sent = send_piece(op, from, piece, (size_t)n);
	if (sent < (size_t)n && !op->ended)
		hold(op, way, piece + sent, (size_t)n - sent);
}

static void end_way(struct weir__op *op, unsigned int from)
{
	struct piping *self = weir__op_state(op);
	struct way *way = &self->ways[from];

	if (shutdown(connection_of(op, !from)->fd, SHUT_WR) < 0) {
		pipe_fail(op, !from, errno == ENOTCONN ? -ECONNRESET : -errno);
		return;
	}
	way->ended = true;
	empty_way(op, way);
}

/* True: the way can go on without news. */
static bool can_go_on(const struct piping *self, unsigned int from)
{
	const struct way *way = &self->ways[from];

	if (way->held > 0)
		return !self->ends[!from].full;
	return !way->drained && !self->ends[from].dry;
}

static void carry(struct weir__op *op, unsigned int from)
{
	struct piping *self = weir__op_state(op);
	struct way *way = &self->ways[from];
	unsigned int i;

	for (i = 0; i < ROUNDS && !op->ended && can_go_on(self, from); i++) {
		if (way->held == 0 && !way->much && !way->buffer)
			carry_piece(op, from);
		else if (way->held == 0)
			take_in(op, from);
		if (!op->ended && way->held > 0 && can_go_on(self, from))
			give_out(op, from);
	}
	if (op->ended)
		return;
	if (way->drained && !way->ended)
		end_way(op, from);
	else if (can_go_on(self, from))
		weir__op_again(op);
}

/* --- Both ----------------------------------------------------------------- */

static int pipe_open(struct weir__op *op)
{
	struct piping *self = weir__op_state(op);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		self->ways[i].pipe[0] = self->ways[i].pipe[1] = -1;
		/* the watch tells of what is there */
		self->ends[i].dry = true;
	}
	return 0;
}

static void set_op(struct weir_connection *connection, struct weir__op *op)
{
	weir__lock(&connection->lock);
	assert(!connection->ops[WEIR__HALF_READ] || !op);
	connection->ops[WEIR__HALF_READ] = op;
	weir__unlock(&connection->lock);
}

static void pipe_close(struct weir__op *op)
{
	struct piping *self = weir__op_state(op);
	struct piped *args = (void *)(uintptr_t)weir__op_args(op);
	unsigned int i;

	weir__op_timer_off(&self->timer);
	for (i = 0; i < 2; i++) {
		weir__op_fd_off(&self->waits[i], op);
		empty_way(op, &self->ways[i]);
	}
	if (!self->begun)
		return;
	ck_pr_store_32(&args->holds, 0);
	for (i = 0; i < 2; i++)
		set_op(args->connections[i], NULL);
	for (i = 0; i < 2; i++) {
		if (!self->done)
			weir_connection_stop(args->connections[i]);
		weir_connection_unref(args->connections[i]);
	}
}

static void pipe_begin(struct weir__op *op)
{
	struct piping *self = weir__op_state(op);
	unsigned int i;
	int rc;

	self->begun = true;
	for (i = 0; i < 2; i++)
		set_op(connection_of(op, i), op);
	for (i = 0; i < 2 && !op->ended; i++) {
		rc = weir__op_fd_again(&self->waits[i], op,
				       connection_of(op, i)->fd,
				       POLLIN | POLLOUT);
		if (rc < 0)
			weir__op_fail_code(op, rc,
					   "a connection cannot be waited for");
	}
}

/* What has come of a connection. */
static void pipe_look(struct weir__op *op, unsigned int i)
{
	struct piping *self = weir__op_state(op);
	uint32_t *ready = &self->waits[i].ready, events;

	if (ck_pr_load_32(ready) & WEIR__READY_NEWS) {
		events = weir__ready_look(ready);
		/* they are in `dry` and `full` from now on */
		(void)weir__ready_clear(ready);
		if (events & ~(uint32_t)POLLOUT)
			self->ends[i].dry = false;
		if (events & (POLLOUT | POLLERR | POLLHUP))
			self->ends[i].full = false;
		if (events & WEIR__READY_MORE)
			self->ends[i].more = true;
		if (events & (POLLRDHUP | POLLHUP))
			peer_over(self, i);
		if (events & (POLLERR | POLLHUP))
			(void)weir__connection_look(connection_of(op, i));
	}
	if (weir__connection_error(connection_of(op, i)))
		pipe_fail(op, i, weir__connection_error(connection_of(op, i)));
}

/* How long nothing may happen; 0: there is no limit. */
static uint64_t pipe_limit(struct weir__op *op)
{
	const struct piping *self = weir__op_state(op);
	const struct piped *args = args_of(op);
	bool over = self->ends[0].over || self->ends[1].over ||
		    op->island->draining;

	if (!over || (args->idle_ns && args->idle_ns < args->half_close_ns))
		return args->idle_ns;
	return args->half_close_ns;
}

static void pipe_allow(struct weir__op *op)
{
	struct piping *self = weir__op_state(op);
	uint64_t limit_ns = pipe_limit(op), now_ns, due_ns;
	int rc;

	if (limit_ns == 0)
		return;
	now_ns = weir__op_now(op);
	if (self->moved || !self->limited)
		self->moved_ns = now_ns;
	self->limited = true;
	due_ns = weir__later(self->moved_ns, limit_ns);
	if (now_ns >= due_ns) {
		weir__op_fail_code(op, -ETIMEDOUT, "neither peer sends");
		return;
	}
	rc = weir__op_timer_at(&self->timer, op, due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

static size_t pipe_pull(struct weir__op *op, void **items, size_t room)
{
	struct piping *self = weir__op_state(op);
	unsigned int i;

	if (!self->begun)
		pipe_begin(op);
	self->moved = false;
	for (i = 0; i < 2 && !op->ended; i++)
		pipe_look(op, i);
	for (i = 0; i < 2 && !op->ended && room > 0; i++)
		carry(op, i);
	if (op->ended || room == 0)
		return 0;
	if (self->ways[0].ended && self->ways[1].ended) {
		self->done = true;
		items[0] = (void *)self->carried;
		weir__op_end(op, NULL);
		return 1;
	}
	pipe_allow(op);
	return 0;
}

/* Who does not take what is held counts before who sends nothing. */
static WEIR__LOOKS bool pipe_waits(const struct weir__op *op,
				   struct weir__asked *part)
{
	const struct piping *self = (const void *)op->state;
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (self->ways[!i].held > 0 && self->ends[i].full) {
			part->fd = self->waits[i].watch.fd;
			part->events = POLLOUT;
			return true;
		}
	for (i = 0; i < 2; i++)
		if (!self->ways[i].drained && self->ends[i].dry) {
			part->fd = self->waits[i].watch.fd;
			part->events = POLLIN;
			return true;
		}
	return false;
}

static const struct weir__kind connection_pipe_kind = {
	.name = "connection_pipe",
	.waits = pipe_waits,
	.state_size = sizeof(struct piping),
	.open = pipe_open,
	.pull = pipe_pull,
	/* it goes on to its end */
	.drain = pipe_pull,
	.close = pipe_close,
	.claim = pipe_claim,
	.unclaim = pipe_unclaim,
	.free = pipe_free,
	.keeps = offsetof(struct piping, ends),
	.awaits = WEIR_WAIT_FD,
	.source = true,
	.holds = true,
};

struct weir_flow *weir_connection_pipe(
	struct weir_connection *a, struct weir_connection *b,
	const struct weir_connection_pipe_options *options)
{
	const struct weir__kind *kind = &connection_pipe_kind;
	struct piped args = {.connections = {a, b},
			     .half_close_ns = HALF_CLOSE_NS,
			     .holds = 1};
	bool valid = !options || weir__reserved_zero(options->reserved);
	struct weir_flow *flow;

	if (options && valid) {
		args.idle_ns = options->idle_ns;
		if (options->half_close_ns)
			args.half_close_ns = options->half_close_ns;
	}
	flow = weir__flow_source(kind, &args, sizeof(args),
				 a && b && a != b && valid);
	if (!a || !b)
		return weir__flow_wrong_as(flow, kind, "a connection is NULL");
	flow = weir__flow_wrong_as(
		flow, kind,
		a == b ? "both are the same connection"
		       : "something in `reserved` is not zero");
	if (flow->kind == kind) {
		(void)weir_connection_ref(a);
		(void)weir_connection_ref(b);
	}
	return flow;
}
