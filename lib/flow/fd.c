/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading and writing descriptors. One that is not ready is watched: the watch
 * holds the operator while it is armed, and wakes its stage.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <ck_pr.h>

#include "flow/bytes.h"

/* --- Waiting for a descriptor -------------------------------------------------------- */

struct watching {
	struct weir_watch watch;
	struct weir__op *op;
	uint32_t armed; /* atomic; cleared by who fires it */
};

static void fire(struct weir_watch *watch, short events)
{
	struct watching *self =
		weir_container_of(watch, struct watching, watch);
	struct weir__op *op = self->op;

	/* release: the last touch of the watch; pairs with the acquire in
	 * wait_for() */
	ck_pr_fence_release();
	ck_pr_store_32(&self->armed, 0);
	weir__op_wake(op);
	weir__op_unhold(op);
}

static void wait_for(struct watching *self, struct weir__op *op, int fd,
		     short events)
{
	struct weir_executor *executor = op->stage->actor.executor;
	int rc = -ENOTSUP;

	if (ck_pr_load_32(&self->armed))
		return;
	/* acquire: fire() is done with it; pairs with its release */
	ck_pr_fence_acquire();
	self->watch.fire = fire;
	self->watch.fd = fd;
	self->watch.events = events;
	self->op = op;
	weir__op_hold(op);
	ck_pr_store_32(&self->armed, 1);
	if (executor->ops->watch_arm)
		rc = executor->ops->watch_arm(executor, &self->watch);
	if (rc == 0)
		return;
	ck_pr_store_32(&self->armed, 0);
	weir__op_unhold(op);
	weir__op_fail(op, rc, "the descriptor cannot be waited for");
}

static void wait_no_more(struct watching *self, struct weir__op *op)
{
	struct weir_executor *executor = op->stage->actor.executor;

	if (!ck_pr_load_32(&self->armed) ||
	    !executor->ops->watch_cancel(executor, &self->watch))
		return;
	ck_pr_store_32(&self->armed, 0);
	weir__op_unhold(op);
}

/* --- read -------------------------------------------------------------------- */

struct reading_of {
	int fd;		  /* -1: */
	const char *path; /* of the file to be opened */
	size_t block;
};

struct reading {
	struct watching watching; /* must be first */
	int fd;			  /* what was opened here, or -1 */
};

static int reading_open(struct weir__op *op)
{
	((struct reading *)weir__op_state(op))->fd = -1;
	if (!op->flow->has_items)
		op->items = weir_flow_bytes_items();
	return 0;
}

static void reading_close(struct weir__op *op)
{
	struct reading *self = weir__op_state(op);

	wait_no_more(&self->watching, op);
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
	if (self->fd < 0)
		self->fd = open(args->path, O_RDONLY | O_CLOEXEC);
	if (self->fd < 0)
		weir__op_fail(op, -errno, "could not be opened");
	return self->fd;
}

/* A block, or NULL: none now, or the operator has ended. */
static struct weir_flow_bytes *read_block(struct weir__op *op, int fd)
{
	const struct reading_of *args = weir__op_args(op);
	struct reading *self = weir__op_state(op);
	struct weir_flow_bytes *bytes =
		weir_flow_bytes_new(weir__op_allocator(op), args->block);
	ssize_t n;

	if (!bytes) {
		weir__op_fail(op, -ENOMEM, "no memory for a block");
		return NULL;
	}
	do
		n = read(fd, bytes->data, args->block);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		bytes->n = (size_t)n;
		return bytes;
	}
	if (n == 0)
		weir__op_end(op, NULL);
	else if (errno == EAGAIN || errno == EWOULDBLOCK)
		wait_for(&self->watching, op, fd, POLLIN);
	else
		weir__op_fail(op, -errno, "could not be read");
	weir_flow_bytes_unref(bytes);
	return NULL;
}

/* A block at a time: what reads another one may have to wait. */
static size_t reading_pull(struct weir__op *op, void **items, size_t room)
{
	struct reading *self = weir__op_state(op);
	struct weir_flow_bytes *bytes;
	int fd;

	if (room == 0 || ck_pr_load_32(&self->watching.armed))
		return 0;
	fd = descriptor(op);
	if (fd < 0)
		return 0;
	bytes = read_block(op, fd);
	items[0] = bytes;
	return bytes != NULL;
}

#define READING_KIND(function) \
	static const struct weir__kind function##_kind = { \
		.name = #function, \
		.state_size = sizeof(struct reading), \
		.open = reading_open, \
		.pull = reading_pull, \
		.close = reading_close, \
		.keeps = sizeof(struct watching), \
		.source = true, \
		.holds = true, \
	}

READING_KIND(read);
READING_KIND(read_file);

static bool block_valid(size_t block)
{
	return block > 0 && block <= WEIR__BYTES_MAX;
}

struct weir_flow *weir_flow_read(int fd, size_t block)
{
	struct reading_of args = {fd, NULL, block};

	return weir__flow_source(&read_kind, &args, sizeof(args),
				 fd >= 0 && block_valid(block));
}

struct weir_flow *weir_flow_read_file(const char *path, size_t block)
{
	struct reading_of args = {-1, path, block};

	return weir__flow_source(&read_file_kind, &args, sizeof(args),
				 path && block_valid(block));
}

/* --- write ------------------------------------------------------------------- */

struct writing {
	struct watching watching;      /* must be first */
	struct weir_flow_bytes *bytes; /* being written, from `at` on */
	size_t at;
	uintptr_t n; /* bytes written */
};

static void writing_close(struct weir__op *op)
{
	struct writing *self = weir__op_state(op);

	wait_no_more(&self->watching, op);
	if (self->bytes)
		weir__op_drop_one(op->up[0], self->bytes);
	self->bytes = NULL;
}

/* True: it is all written. */
static bool write_some(struct weir__op *op, int fd)
{
	struct writing *self = weir__op_state(op);
	ssize_t n = 0;

	assert(self->bytes && self->at <= self->bytes->n);
	while (self->at < self->bytes->n) {
		n = write(fd, self->bytes->data + self->at,
			  self->bytes->n - self->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		self->at += (size_t)n;
		self->n += (size_t)n;
	}
	if (self->at == self->bytes->n)
		return true;
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		wait_for(&self->watching, op, fd, POLLOUT);
	else
		weir__op_fail(op, -errno, "could not be written");
	return false;
}

static bool write_one(struct weir__op *op)
{
	struct writing *self = weir__op_state(op);
	void *item;

	if (!self->bytes) {
		if (weir__pull(op->up[0], &item, 1) == 0)
			return false;
		self->bytes = item;
		self->at = 0;
	}
	if (!write_some(op, *(const int *)weir__op_args(op)))
		return false;
	weir__op_drop_one(op->up[0], self->bytes);
	self->bytes = NULL;
	/* it may have been one that was taken before */
	weir__op_again(op);
	return true;
}

static size_t writing_pull(struct weir__op *op, void **items, size_t room)
{
	struct writing *self = weir__op_state(op);
	struct weir__op *up = op->up[0];

	if (room == 0)
		(void)weir__pull(up, NULL, 0);
	else if (!ck_pr_load_32(&self->watching.armed))
		(void)write_one(op);
	if (op->ended || self->bytes || !up->ended)
		return 0;
	if (up->error) {
		weir__op_end(op, up->error);
		return 0;
	}
	if (room == 0)
		return 0;
	items[0] = (void *)self->n;
	weir__op_end(op, NULL);
	return 1;
}

static const struct weir__kind writing_kind = {
	.name = "write",
	.state_size = sizeof(struct writing),
	.pull = writing_pull,
	.close = writing_close,
	.keeps = sizeof(struct watching),
	.holds = true,
	.makes = true,
};

struct weir_flow *weir_flow_write(struct weir_flow *flow, int fd)
{
	return weir__flow_upon(&writing_kind, flow, &fd, sizeof(fd), fd >= 0);
}
