/* SPDX-License-Identifier: BSD-2-Clause */
/* How operators wait for descriptors. */
#include "flow/shared/op_fd.h"

#include <errno.h>

#include "flow/engine/island.h"

static void op_fd_fire(struct weir_watch *watch, short events)
{
	struct weir__op_fd *self =
		weir_container_of(watch, struct weir__op_fd, watch);
	struct weir__op *op = self->op;

	self->fired = events;
	/* release: the last touch of the watch; pairs with the acquire in
	 * weir__op_fd_arm() and weir__op_fd_fired() */
	ck_pr_fence_release();
	ck_pr_store_32(&self->armed, 0);
	weir__op_wake(op);
	weir__op_unhold(op);
}

int weir__op_fd_arm(struct weir__op_fd *self, struct weir__op *op, int fd,
		    short events)
{
	struct weir_executor *executor = op->island->actor.executor;
	int rc = -ENOTSUP;

	if (ck_pr_load_32(&self->armed))
		return -EALREADY;
	/* acquire: op_fd_fire() is done with it; pairs with its release */
	ck_pr_fence_acquire();
	self->watch.fire = op_fd_fire;
	self->watch.fd = fd;
	self->watch.events = events;
	self->op = op;
	weir__op_hold(op);
	ck_pr_store_32(&self->armed, 1);
	if (executor->ops->watch_arm)
		rc = executor->ops->watch_arm(executor, &self->watch);
	if (rc == 0)
		return 0;
	ck_pr_store_32(&self->armed, 0);
	weir__op_unhold(op);
	return rc;
}

void weir__op_fd_wait(struct weir__op_fd *self, struct weir__op *op, int fd,
		      short events)
{
	int rc = weir__op_fd_arm(self, op, fd, events);

	if (rc < 0 && rc != -EALREADY)
		weir__op_fail_code(op, rc,
				   "the descriptor cannot be waited for");
}

void weir__op_fd_off(struct weir__op_fd *self, struct weir__op *op)
{
	struct weir_executor *executor = op->island->actor.executor;

	if (!ck_pr_load_32(&self->armed) ||
	    !executor->ops->watch_cancel(executor, &self->watch))
		return;
	ck_pr_store_32(&self->armed, 0);
	weir__op_unhold(op);
}
