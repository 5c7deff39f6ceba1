/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common part of reading and writing: a watch for a descriptor that is not
 * ready. The watch holds the operator while it is armed, and wakes its island.
 */
#ifndef WEIR_FLOW_OPERATORS_IO_FD_H
#define WEIR_FLOW_OPERATORS_IO_FD_H

#include <ck_pr.h>

#include "flow/engine/op.h"

/* Zeroed at first; survives a restart of its operator. */
struct weir__op_fd {
	struct weir_watch watch;
	struct weir__op *op;
	uint32_t armed; /* atomic; cleared by who fires it */
};

/* No acquire: the caller arms the watch again, which has an acquire. Owner. */
static inline bool weir__op_fd_armed(const struct weir__op_fd *self)
{
	return ck_pr_load_32(&self->armed) != 0;
}

/* Wakes the operator's island when `events` have come, or fails it. Owner. */
void weir__op_fd_wait(struct weir__op_fd *self, struct weir__op *op, int fd,
		      short events);

/* Disarms the watch. Owner. */
void weir__op_fd_off(struct weir__op_fd *self, struct weir__op *op);

#endif
