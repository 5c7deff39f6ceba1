/* SPDX-License-Identifier: BSD-2-Clause */
/* How operators wait for descriptors. */
#include "flow/shared/op_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "flow/engine/island.h"

static void op_fd_fire(struct weir_watch *watch, short events)
{
	struct weir__op_fd *self =
		weir_container_of(watch, struct weir__op_fd, watch);
	struct weir__op *op = self->op;

	if (watch->edges && events) {
		(void)weir__ready_add(&self->ready, events);
		weir__op_wake(op);
		return;
	}
	ck_pr_store_32(&self->ready, (uint16_t)events);
	/* release: the last touch of the watch; pairs with the acquire in
	 * arm() and weir__op_fd_fired() */
	ck_pr_fence_release();
	ck_pr_store_32(&self->armed, 0);
	weir__op_wake(op);
	weir__op_unhold(op);
}

static int arm(struct weir__op_fd *self, struct weir__op *op,
	       const struct weir_watch *watch, short ready)
{
	struct weir_executor *executor = op->island->actor.executor;
	int rc = -ENOTSUP;

	if (weir__op_fd_armed(self))
		return -EALREADY;
	/* acquire: op_fd_fire() is done with it; pairs with its release */
	ck_pr_fence_acquire();
	self->watch = *watch;
	self->op = op;
	weir__op_hold(op);
	ck_pr_store_32(&self->ready, (uint16_t)ready);
	ck_pr_store_32(&self->armed, 1);
	if (executor->ops->watch_arm)
		rc = executor->ops->watch_arm(executor, &self->watch);
	if (rc == 0)
		return 0;
	ck_pr_store_32(&self->armed, 0);
	weir__op_unhold(op);
	return rc;
}

int weir__op_fd_arm(struct weir__op_fd *self, struct weir__op *op, int fd,
		    short events)
{
	const struct weir_watch watch = {
		.fire = op_fd_fire, .fd = fd, .events = events};

	return arm(self, op, &watch, 0);
}

static void cannot_wait(struct weir__op *op, int rc)
{
	weir__op_fail_code(op, rc, "the descriptor cannot be waited for");
}

void weir__op_fd_wait(struct weir__op_fd *self, struct weir__op *op, int fd,
		      short events)
{
	int rc = weir__op_fd_arm(self, op, fd, events);

	if (rc < 0 && rc != -EALREADY)
		cannot_wait(op, rc);
}

static int stay(struct weir__op_fd *self, struct weir__op *op, int fd,
		short events, short ready)
{
	const struct weir_watch watch = {
		.fire = op_fd_fire, .fd = fd, .events = events, .edges = true};

	return arm(self, op, &watch, ready);
}

static int option(int fd, int name)
{
	socklen_t length = sizeof(int);
	int value;

	return getsockopt(fd, SOL_SOCKET, name, &value, &length) < 0 ? -1
								     : value;
}

enum weir__op_way weir__op_way(int fd)
{
	struct stat status;
	int domain;

	if (fstat(fd, &status) < 0)
		return WEIR__WAY_OTHER;
	if (S_ISREG(status.st_mode))
		return WEIR__WAY_FILE;
	if (S_ISFIFO(status.st_mode)) /* O_DIRECT: of packets */
		return fcntl(fd, F_GETFL) & O_DIRECT ? WEIR__WAY_OTHER
						     : WEIR__WAY_PIPE;
	if (!S_ISSOCK(status.st_mode))
		return WEIR__WAY_OTHER;
	if (option(fd, SO_TYPE) != SOCK_STREAM)
		return WEIR__WAY_SOCKET;
	domain = option(fd, SO_DOMAIN);
	return domain == AF_INET || domain == AF_INET6 ? WEIR__WAY_TCP
						       : WEIR__WAY_STREAM;
}

int weir__op_fd_stay(struct weir__op_fd *self, struct weir__op *op, int fd,
		     short events)
{
	if (!(fcntl(fd, F_GETFL) & O_NONBLOCK))
		return 0;
	return stay(self, op, fd, events, POLLIN | POLLOUT);
}

/* The watch is for other events: one for these too takes its place. */
static int widen(struct weir__op_fd *self, struct weir__op *op, int fd,
		 short events)
{
	weir__op_fd_off(self, op);
	/* It fires. Its last firing wakes the operator, which calls then. */
	if (weir__op_fd_armed(self))
		return 0;
	return stay(self, op, fd, (short)(events | self->watch.events), 0);
}

int weir__op_fd_again(struct weir__op_fd *self, struct weir__op *op, int fd,
		      short events)
{
	int rc;

	if (weir__op_fd_armed(self) && !(events & ~self->watch.events)) {
		if (weir__ready_clear(&self->ready))
			return 1;
		(void)weir__ready_look(&self->ready);
		return 0;
	}
	/* What is ready by now is told when it is armed. */
	rc = weir__op_fd_armed(self) ? widen(self, op, fd, events)
				     : stay(self, op, fd, events, 0);
	return rc < 0 ? rc : 1;
}

bool weir__op_fd_blocks(struct weir__op_fd *self, struct weir__op *op, int fd,
			short events)
{
	int rc = weir__op_fd_again(self, op, fd, events);

	if (rc < 0)
		cannot_wait(op, rc);
	return rc != 0;
}

void weir__op_fd_drained(struct weir__op_fd *self)
{
	if (!(ck_pr_load_32(&self->ready) & WEIR__READY_MORE))
		(void)weir__ready_clear(&self->ready);
}

int weir__op_fd_broken(struct weir__op_fd *self)
{
	int left = 0, code;

	if (!weir__op_fd_armed(self) || !weir__ready_gone(&self->ready) ||
	    !(ck_pr_load_32(&self->ready) & POLLERR))
		return 0;
	/* Bytes that have come before the error are read before it. */
	if ((self->watch.events & POLLIN) &&
	    ioctl(self->watch.fd, FIONREAD, &left) == 0 && left > 0)
		return 0;
	code = option(self->watch.fd, SO_ERROR);
	return code > 0 ? -code : 0;
}

void weir__op_fd_off(struct weir__op_fd *self, struct weir__op *op)
{
	struct weir_executor *executor = op->island->actor.executor;

	if (!weir__op_fd_armed(self) ||
	    !executor->ops->watch_cancel(executor, &self->watch))
		return;
	ck_pr_store_32(&self->armed, 0);
	weir__op_unhold(op);
}
