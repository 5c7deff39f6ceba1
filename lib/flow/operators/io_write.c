/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing descriptors. Items that are there are written by one call; but only
 * as many as the descriptor takes just as if they were written one by one:
 *
 *   regular files, stream sockets   up to WEIR__GATHERED items
 *   pipes                           PIPE_BUF bytes, which other writers to the
 *                                   pipe do not cut in two; and no item that is
 *                                   longer together with another one
 *   all others                      one item, which may be a message:
 *                                   datagrams, packets, most devices
 *
 * A peer that goes away gives -EPIPE and no signal: a flag of the call sees to
 * that for sockets, and weir__write_pipe() for pipes.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/error.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/io_file.h"
#include "flow/shared/bytes.h"
#include "flow/shared/op_fd.h"
#include "flow/shared/writes.h"

struct writing_to {
	int fd;		  /* -1: */
	const char *path; /* of the file to be replaced */
	enum weir_flow_sync sync;
};

struct writing {
	struct weir__op_fd wait; /* must be first */
	struct weir__new_file file;
	struct weir__writes writes;
	uintptr_t written; /* bytes */
	enum weir__op_way way;
};

static int writing_open(struct weir__op *op)
{
	struct writing *self = weir__op_state(op);

	weir__new_file_init(&self->file);
	return 0;
}

static void writing_close(struct weir__op *op)
{
	struct writing *self = weir__op_state(op);

	weir__new_file_fini(&self->file);
	weir__op_fd_off(&self->wait, op);
	weir__writes_drop(&self->writes, op);
}

/* --- What a descriptor takes ---------------------------------------------- */

/* Gathers the parts for the next call; returns their number. */
static int gather(const struct writing *self, struct weir__gathered *gathered)
{
	return weir__writes_gather(
		&self->writes, gathered,
		self->way == WEIR__WAY_PIPE ? PIPE_BUF : SIZE_MAX,
		self->way == WEIR__WAY_OTHER || self->way == WEIR__WAY_SOCKET);
}

static ssize_t write_parts(enum weir__op_way way, int fd, struct iovec *parts,
			   int n)
{
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)n};

	if (way == WEIR__WAY_TCP || way == WEIR__WAY_STREAM ||
	    way == WEIR__WAY_SOCKET)
		return sendmsg(fd, &message, MSG_NOSIGNAL);
	return way == WEIR__WAY_PIPE ? weir__write_pipe(fd, parts, n)
				     : writev(fd, parts, n);
}

/* --- The operator --------------------------------------------------------- */

/* Fails, with the path of the file if there is one. */
static void writing_fail(struct weir__op *op, int code, const char *message)
{
	const struct writing_to *args = weir__op_args(op);
	struct weir_error *error;

	if (!args->path) {
		weir__op_fail_code(op, code, message);
		return;
	}
	error = weir__error_format(weir__op_allocator(op), code,
				   weir__op_name(op), "%s %s: %s", args->path,
				   message, weir_strerror(code));
	weir__op_end(op, error);
	weir_error_unref(error);
}

/* The descriptor, or -1 and the operator has failed. */
static int descriptor(struct weir__op *op)
{
	const struct writing_to *args = weir__op_args(op);
	struct writing *self = weir__op_state(op);
	int rc;

	if (!args->path)
		return args->fd;
	if (self->file.fd >= 0)
		return self->file.fd;
	rc = weir__new_file_open(&self->file, args->path);
	if (rc == 0)
		return self->file.fd;
	writing_fail(op, rc, self->file.failed);
	return -1;
}

/* All is written. False: it has failed. */
static bool writing_done(struct weir__op *op)
{
	const struct writing_to *args = weir__op_args(op);
	struct writing *self = weir__op_state(op);
	int rc = 0;

	if (args->path)
		rc = weir__new_file_appear(&self->file, args->path, args->sync);
	if (rc < 0)
		writing_fail(op, rc, self->file.failed);
	return rc == 0;
}

/* `n` more bytes are written. */
static void wrote(struct weir__op *op, size_t n)
{
	struct writing *self = weir__op_state(op);

	self->written += n;
	weir__writes_wrote(&self->writes, op, n);
}

/*
 * A call has failed. False: it is to be tried again; else the operator waits or
 * has failed.
 */
static bool write_failed(struct weir__op *op, int fd, int code)
{
	struct writing *self = weir__op_state(op);

	if (code == EINTR)
		return false;
	if (code == EAGAIN || code == EWOULDBLOCK)
		return weir__op_fd_blocks(&self->wait, op, fd, POLLOUT);
	writing_fail(op, -code, "could not be written");
	return true;
}

/* True: all items are written. */
static bool write_all(struct weir__op *op, int fd)
{
	struct writing *self = weir__op_state(op);
	struct weir__gathered gathered;
	ssize_t n;
	int n_parts;

	wrote(op, 0); /* the empty ones */
	while (weir__writes_any(&self->writes)) {
		n_parts = gather(self, &gathered);
		n = write_parts(self->way, fd, gathered.parts, n_parts);
		if (n > 0) {
			wrote(op, (size_t)n);
		} else if (n == 0) {
			/* otherwise we would try for ever */
			weir__op_fail(op, -EIO, "nothing could be written");
			return false;
		} else if (write_failed(op, fd, errno)) {
			return false;
		}
	}
	return true;
}

/*
 * The peer of TCP is watched from now on, so that its error is heard while there
 * is nothing to write. Of a socket of AF_UNIX that would cost a wake for all
 * that the peer reads.
 */
static void writing_begin(struct weir__op *op, int fd)
{
	struct writing *self = weir__op_state(op);

	self->way = weir__op_way(fd);
	self->writes.joins = self->way == WEIR__WAY_FILE ||
			     self->way == WEIR__WAY_TCP ||
			     self->way == WEIR__WAY_STREAM;
	if (self->way == WEIR__WAY_TCP)
		(void)weir__op_fd_stay(&self->wait, op, fd, POLLOUT);
}

static void write_more(struct weir__op *op)
{
	struct writing *self = weir__op_state(op);
	int fd = descriptor(op), rc;

	if (fd < 0)
		return;
	if (self->way == WEIR__WAY_UNKNOWN)
		writing_begin(op, fd);
	if (!weir__writes_any(&self->writes))
		weir__writes_take(&self->writes, op);
	if (weir__writes_any(&self->writes)) {
		if (write_all(op, fd))
			/* the failed item may be one that was taken before */
			weir__op_again(op);
		return;
	}
	rc = weir__op_fd_broken(&self->wait);
	if (rc < 0 && !op->up[0]->ended)
		writing_fail(op, rc, "could not be written");
}

static size_t writing_pull(struct weir__op *op, void **items, size_t room)
{
	struct writing *self = weir__op_state(op);
	struct weir__op *up = op->up[0];

	if (room == 0)
		weir__pull_none(up);
	else if (!weir__op_fd_waits(&self->wait))
		write_more(op);
	if (op->ended || weir__writes_any(&self->writes) || !up->ended)
		return 0;
	if (up->error) {
		weir__op_end(op, up->error);
		return 0;
	}
	if (room == 0 || !writing_done(op))
		return 0;
	items[0] = (void *)self->written;
	weir__op_end(op, NULL);
	return 1;
}

#define WRITING_KIND(function) \
	static const struct weir__kind function##_kind = { \
		.name = #function, \
		.state_size = sizeof(struct writing), \
		.refuses = weir__takes_bytes, \
		.open = writing_open, \
		.pull = writing_pull, \
		.close = writing_close, \
		.keeps = sizeof(struct weir__op_fd), \
		.awaits = WEIR_WAIT_FD, \
		.holds = true, \
		.makes = true, \
	}

WRITING_KIND(write);
WRITING_KIND(write_file);

struct weir_flow *weir_flow_write(struct weir_flow *flow, int fd)
{
	struct writing_to args = {fd, NULL, WEIR_FLOW_SYNC_NONE};

	return weir__flow_upon(&write_kind, flow, &args, sizeof(args), fd >= 0);
}

static const char *wrong_path(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	if (!path)
		return "path is NULL";
	return n == 0 || path[n - 1] == '/' ? "path names no file" : NULL;
}

struct weir_flow *weir_flow_write_file(struct weir_flow *flow, const char *path,
				       enum weir_flow_sync sync)
{
	struct writing_to args = {-1, path, sync};
	const char *wrong = wrong_path(path);

	if (!wrong && ((int)sync < 0 || sync > WEIR_FLOW_SYNC_ALL))
		wrong = "no such sync";
	flow = weir__flow_upon(&write_file_kind, flow, &args, sizeof(args),
			       !wrong);
	return weir__flow_wrong_as(flow, &write_file_kind, wrong);
}
