/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources that read descriptors. */
#include "flow/shared/op_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/shared/bytes.h"

struct reading_of {
	int fd;		  /* -1: */
	const char *path; /* of the file to be opened */
	size_t block;
};

struct reading {
	struct weir__op_fd wait;       /* must be first */
	int fd;			       /* the file opened here, or -1 */
	enum weir__op_way way;	       /* of the descriptor that was given */
	struct weir_flow_bytes *block; /* to read into, or NULL */
};

static int reading_open(struct weir__op *op)
{
	((struct reading *)weir__op_state(op))->fd = -1;
	return 0;
}

static void drop_block(struct reading *self)
{
	weir_flow_bytes_unref(self->block);
	self->block = NULL;
}

static void reading_close(struct weir__op *op)
{
	struct reading *self = weir__op_state(op);

	drop_block(self);
	weir__op_fd_off(&self->wait, op);
	if (self->fd >= 0)
		(void)close(self->fd);
	self->fd = -1;
}

/* The descriptor, or -1 and the operator has failed. */
static int descriptor(struct weir__op *op)
{
	const struct reading_of *args = weir__op_args(op);
	struct reading *self = weir__op_state(op);

	if (!args->path)
		return args->fd;
	/* opening a FIFO waits, and a signal may interrupt that */
	while (self->fd < 0 &&
	       (self->fd = open(args->path, O_RDONLY | O_CLOEXEC)) < 0 &&
	       errno == EINTR)
		;
	if (self->fd < 0)
		weir__op_fail_code(op, -errno, "could not be opened");
	return self->fd;
}

/* A block, or NULL: none now, or the operator has ended. */
static struct weir_flow_bytes *read_block(struct weir__op *op, int fd)
{
	const struct reading_of *args = weir__op_args(op);
	struct reading *self = weir__op_state(op);
	struct weir_flow_bytes *bytes = NULL;
	int rc;

	do {
		rc = weir__bytes_read(&bytes, &self->block, fd, args->block,
				      weir__op_allocator(op));
	} while (rc == -EAGAIN &&
		 !weir__op_fd_blocks(&self->wait, op, fd, POLLIN));
	if (rc > 0) {
		if (bytes->n < args->block && weir__op_way_drains(self->way))
			weir__op_fd_drained(&self->wait);
		return bytes;
	}
	if (rc == 0)
		weir__op_end(op, NULL);
	else if (rc != -EAGAIN && !self->block)
		weir__op_fail(op, rc, "no memory for a block");
	else if (rc != -EAGAIN)
		weir__op_fail_code(op, rc, "could not be read");
	return NULL;
}

/* A socket is watched from now on, so that its error is heard at once. */
static void reading_begin(struct weir__op *op, int fd)
{
	struct reading *self = weir__op_state(op);

	self->way = weir__op_way(fd);
	if (self->way == WEIR__WAY_TCP || self->way == WEIR__WAY_STREAM)
		(void)weir__op_fd_stay(&self->wait, op, fd, POLLIN);
}

/* Nobody wants a block: only an error of the other end matters. */
static void reading_rest(struct weir__op *op)
{
	struct reading *self = weir__op_state(op);
	int rc = weir__op_fd_broken(&self->wait);

	if (rc < 0)
		weir__op_fail_code(op, rc, "could not be read");
}

/* One block for each pull: a second read might wait. */
static size_t reading_pull(struct weir__op *op, void **items, size_t room)
{
	const struct reading_of *args = weir__op_args(op);
	struct reading *self = weir__op_state(op);
	struct weir_flow_bytes *bytes;
	int fd;

	if (room == 0) {
		reading_rest(op);
		return 0;
	}
	if (weir__op_fd_waits(&self->wait))
		return 0;
	fd = descriptor(op);
	if (fd < 0)
		return 0;
	if (self->way == WEIR__WAY_UNKNOWN && !args->path)
		reading_begin(op, fd);
	bytes = read_block(op, fd);
	items[0] = bytes;
	return bytes != NULL;
}

#define READING_KIND(function) \
	static const struct weir__kind function##_kind = { \
		.name = #function, \
		.state_size = sizeof(struct reading), \
		.items = weir__gives_bytes, \
		.open = reading_open, \
		.pull = reading_pull, \
		.close = reading_close, \
		.keeps = sizeof(struct weir__op_fd), \
		.awaits = WEIR_WAIT_FD, \
		.source = true, \
		.holds = true, \
	}

READING_KIND(read);
READING_KIND(read_file);

static bool block_valid(size_t block)
{
	return block > 0 && block <= WEIR__BYTES_MAX;
}

/* Says which of the arguments is bad. */
static struct weir_flow *wrong(struct weir_flow *flow,
			       const struct weir__kind *kind, int fd,
			       size_t block)
{
	if (fd < 0)
		return weir__flow_wrong(flow, kind, "%d is no descriptor", fd);
	return weir__flow_wrong(flow, kind, "block %zu is not 1 to %zu", block,
				(size_t)WEIR__BYTES_MAX);
}

struct weir_flow *weir_flow_read(int fd, size_t block)
{
	struct reading_of args = {fd, NULL, block};
	struct weir_flow *flow;

	flow = weir__flow_source(&read_kind, &args, sizeof(args),
				 fd >= 0 && block_valid(block));
	return wrong(flow, &read_kind, fd, block);
}

struct weir_flow *weir_flow_read_file(const char *path, size_t block)
{
	struct reading_of args = {-1, path, block};
	struct weir_flow *flow;

	flow = weir__flow_source(&read_file_kind, &args, sizeof(args),
				 path && block_valid(block));
	return path ? wrong(flow, &read_file_kind, 0, block) : flow;
}
