/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reads, writes or watches has in common: a watch for a descriptor that is
 * not ready. The watch holds the operator while it is armed, and wakes its
 * island.
 */
#ifndef WEIR_FLOW_SHARED_OP_FD_H
#define WEIR_FLOW_SHARED_OP_FD_H

#include <ck_pr.h>

#include "flow/engine/op.h"

/* Zeroed at first; survives a restart of its operator. */
struct weir__op_fd {
	struct weir_watch watch;
	struct weir__op *op;
	short fired;	/* events; written before `armed` is cleared */
	uint32_t armed; /* atomic; cleared by who fires it */
};

/*
 * Wakes the operator's island when `events` have come. 0; a negative errno of
 * the executor. Where it is armed it stays as it is: -EALREADY. Owner.
 */
int weir__op_fd_arm(struct weir__op_fd *self, struct weir__op *op, int fd,
		    short events);

/* The events that it fired with. It is not armed. Owner. */
static inline short weir__op_fd_fired(const struct weir__op_fd *self)
{
	/* acquire: the events; pairs with the release in op_fd_fire() */
	ck_pr_fence_acquire();
	return self->fired;
}

/* No acquire: the caller arms the watch again, which has an acquire. Owner. */
static inline bool weir__op_fd_armed(const struct weir__op_fd *self)
{
	return ck_pr_load_32(&self->armed) != 0;
}

/* Arms it, or fails the operator. Owner. */
void weir__op_fd_wait(struct weir__op_fd *self, struct weir__op *op, int fd,
		      short events);

/* Disarms the watch. Owner. */
void weir__op_fd_off(struct weir__op_fd *self, struct weir__op *op);

#endif
