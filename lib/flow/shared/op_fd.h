/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reads, writes or watches has in common: a watch for a descriptor. It
 * holds the operator while it is armed, and wakes its island.
 *
 * What a user asks to be watched fires once (weir__op_fd_arm). Operators that
 * read and write have a watch that stays until they close: its descriptor is
 * registered once, and an error of the other end is heard while nobody asks for
 * items (weir__op_fd_stay and below; see executor/readiness.h).
 */
#ifndef WEIR_FLOW_SHARED_OP_FD_H
#define WEIR_FLOW_SHARED_OP_FD_H

#include <ck_pr.h>

#include "executor/readiness.h"
#include "flow/engine/op.h"

/* --- Once ----------------------------------------------------------------- */

/*
 * Wakes the operator's island when `events` have come. 0; a negative errno of
 * the executor. Where it is armed it stays as it is: -EALREADY. Owner.
 */
int weir__op_fd_arm(struct weir__op_fd *self, struct weir__op *op, int fd,
		    short events);

/* Arms it, or fails the operator. Owner. */
void weir__op_fd_wait(struct weir__op_fd *self, struct weir__op *op, int fd,
		      short events);

/* The events that it fired with. It is not armed. Owner. */
static inline short weir__op_fd_fired(const struct weir__op_fd *self)
{
	/* acquire: the events; pairs with the release in op_fd_fire() */
	ck_pr_fence_acquire();
	return (short)ck_pr_load_32(&self->ready);
}

/* No acquire: the caller arms the watch again, which has an acquire. Owner. */
static inline bool weir__op_fd_armed(const struct weir__op_fd *self)
{
	return ck_pr_load_32(&self->armed) != 0;
}

/* --- While the operator lives --------------------------------------------- */

/* What one end of a descriptor is like. */
enum weir__op_way {
	WEIR__WAY_UNKNOWN,
	WEIR__WAY_FILE,
	WEIR__WAY_TCP,
	WEIR__WAY_STREAM, /* another socket of bytes */
	WEIR__WAY_SOCKET, /* of messages */
	WEIR__WAY_PIPE,	  /* or a FIFO, of bytes */
	WEIR__WAY_OTHER,
};

enum weir__op_way weir__op_way(int fd);

/*
 * Watches the descriptor from now on, if it is not in blocking mode. It is taken
 * to be ready: the operator does not wait. With `events` 0 only its end and its
 * errors are told. 0, or a negative errno of the executor. Owner.
 */
int weir__op_fd_stay(struct weir__op_fd *self, struct weir__op *op, int fd,
		     short events);

/*
 * True if the operator has to wait: nothing has come since the call that gave
 * EAGAIN. If this is false the operator reads or writes behind it. Owner.
 */
static inline bool weir__op_fd_waits(struct weir__op_fd *self)
{
	return weir__op_fd_armed(self) && !weir__ready_look(&self->ready);
}

/*
 * A read or write has given EAGAIN. 1: the operator waits for `events`, watched
 * from now on beside those that were. 0: something has come meanwhile, so it
 * calls again at once. A negative errno: it cannot wait. Owner.
 */
int weir__op_fd_again(struct weir__op_fd *self, struct weir__op *op, int fd,
		      short events);

/* The same. False: it calls again; true: it waits, or has failed since it
 * cannot. Owner. */
bool weir__op_fd_blocks(struct weir__op_fd *self, struct weir__op *op, int fd,
			short events);

/*
 * True if a read that gets less than it asked for leaves nothing behind. Sockets
 * of AF_UNIX may stop early, at descriptors and credentials that come with the
 * bytes.
 */
static inline bool weir__op_way_drains(enum weir__op_way way)
{
	return way == WEIR__WAY_TCP || way == WEIR__WAY_PIPE;
}

/*
 * Such a read has got less than it asked for: the next one would give EAGAIN,
 * unless the end is still to be read. Owner.
 */
void weir__op_fd_drained(struct weir__op_fd *self);

/*
 * The error that a stream socket has been left with by its other end, if the
 * watch has just told of one; else 0. The socket does not report it again.
 * Owner.
 */
int weir__op_fd_broken(struct weir__op_fd *self);

/* Disarms the watch, of either sort. Owner. */
void weir__op_fd_off(struct weir__op_fd *self, struct weir__op *op);

#endif
