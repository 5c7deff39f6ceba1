/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of connections. Two operators share one, which may run on two
 * threads: the reader and the writer. What one learns of the other is a bit of
 * `state` or the error, which is set before the other is woken.
 *
 * The error that the kernel has for a socket is told only once, to whichever
 * call comes first. So whoever is told it keeps it in `error`, for both.
 */
#ifndef WEIR_NET_CONNECTION_H
#define WEIR_NET_CONNECTION_H

#include <weir/connection.h>

#include "base/lock.h"
#include "flow/shared/op_fd.h"
#include "net/address.h"

enum weir__half { WEIR__HALF_READ, WEIR__HALF_WRITE };

/* Bits of `state`. */
#define WEIR__CONNECTION_READ_OVER 1u /* nobody reads any more */
#define WEIR__CONNECTION_PEER_ENDED 2u
#define WEIR__CONNECTION_ENDED 4u  /* we have told the peer of our end */
#define WEIR__CONNECTION_ENDING 8u /* the reader is to end */
#define WEIR__CONNECTION_OPEN 16u  /* the layer is */

/* In `error`: it is the layer's. */
#define WEIR__CONNECTION_LAYERS (1u << 16)

struct weir_connection {
	const struct weir_allocator *allocator;
	uint32_t refs;	     /* atomic: users, and flows that are not over */
	uint32_t claimed[2]; /* atomic: a run has that half */
	uint32_t state;	     /* atomic */
	uint32_t error; /* atomic: a positive errno, and a mark; set once */
	int fd;
	struct weir__lock lock;	      /* over `ops` */
	struct weir__op *ops[2];      /* of the halves that run */
	uint64_t bytes_in, bytes_out; /* atomic; the reader's, the writer's */
	struct weir_connection_options options;
	const struct weir_connection_layer_ops *layer; /* or NULL */
	void *layers;				       /* its context */
	uint64_t open_ns;
	/* an IP address, asked for while there is a peer; or only its family */
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} peer;
};

/* True: a program may give such options. */
bool weir__connection_valid(const struct weir_connection_options *options);

/*
 * Sets options of a socket that a listener is, or that will connect: what is
 * accepted from a listener has them. 0 or a negative errno.
 */
int weir__connection_set_up(int fd, int family,
			    const struct weir_connection_options *options);

/* Without a descriptor yet; NULL: no memory. */
struct weir_connection *weir__connection_alloc(
	const struct weir_connection_options *options,
	const struct weir_allocator *allocator);
/* It has one: connected, and in non-blocking mode. */
void weir__connection_over(struct weir_connection *connection, int fd,
			   const struct weir__address *peer);
/* Frees one that has none; NULL is fine. */
void weir__connection_dealloc(struct weir_connection *connection);

/* 0, or the negative errno with which it has failed. Any thread. */
static inline int weir__connection_error(const struct weir_connection *self)
{
	return -(int)(ck_pr_load_32(&self->error) & ~WEIR__CONNECTION_LAYERS);
}

/* The first error counts; both operators are woken. Any thread. */
void weir__connection_fail(struct weir_connection *connection, int code);
/* The same; the socket has not failed, but the layer has, if it says so. */
void weir__connection_break(struct weir_connection *connection, int code);
/* Asks the kernel. 0, or the negative errno with which it has failed. */
int weir__connection_look(struct weir_connection *connection);
/* Sets bits of `state`, and wakes the operator of that half. Any thread. */
void weir__connection_tell(struct weir_connection *connection, uint32_t bits,
			   enum weir__half half);

/* True: that half is being run. Any thread. */
bool weir__connection_has(struct weir_connection *connection,
			  enum weir__half half);

/*
 * Reads and drops what has come, up to *left bytes, which it counts down. True:
 * the peer has ended, the connection has failed, or nothing is left to be
 * dropped; false: it would block.
 */
bool weir__connection_discard(struct weir_connection *connection, size_t *left);

/* --- Layers --------------------------------------------------------------- */

/* As the calls of the socket, with errno; *events, of EAGAIN and of a read that
 * has left nothing, is what to wait for. */
ssize_t weir__layer_read(struct weir_connection *connection, void *to, size_t n,
			 short *events);
ssize_t weir__layer_write(struct weir_connection *connection,
			  const struct iovec *parts, int n, short *events);

/* The layer has failed: what it still has to say is given to the kernel, as far
 * as there is room for it. Of the writer. */
void weir__layer_last(struct weir_connection *connection);

/* True: the flows may read and write. Any thread. */
static inline bool weir__layer_is_open(const struct weir_connection *self)
{
	return !self->layer ||
	       (ck_pr_load_32(&self->state) & WEIR__CONNECTION_OPEN);
}

/* True: the connection has failed since its layer has. Any thread. */
static inline bool weir__layer_broken(const struct weir_connection *self)
{
	return ck_pr_load_32(&self->error) & WEIR__CONNECTION_LAYERS;
}

/* --- Halves --------------------------------------------------------------- */

/* The arguments of a flow that reads or writes. */
struct weir__half_of {
	struct weir_connection *connection; /* a reference, if `holds` */
	size_t block;
	enum weir__half half;
	uint32_t claimed; /* atomic: the flow runs once */
	uint32_t holds;	  /* atomic: its operator is not over */
};

int weir__half_claim(struct weir_flow *flow);
void weir__half_unclaim(struct weir_flow *flow);
void weir__half_free(struct weir_flow *flow);

/* What both operators have. */
struct weir__half_op {
	struct weir__op_fd
		wait; /* must be first; stays from the first pull on */
	struct weir__op_timer timer;
	struct weir_connection *connection; /* from the first pull on */
	uint64_t due_ns; /* of `timer`; 0: the peer may wait for ever */
	bool opens;	 /* it waits for the layer */
};

/*
 * At the beginning of each pull. At the first one the connection is watched for
 * `events`, and always for its end. False: the operator has failed, as the
 * connection has. Owner.
 */
bool weir__half_begin(struct weir__op *op, short events);
/* The same, of a connection that may have failed. Owner. */
bool weir__half_enter(struct weir__op *op, short events);
/* Fails the operator as the connection has failed. Owner. */
void weir__half_fail(struct weir__op *op);
/* True: the layer is still being opened, or cannot be; the operator waits, is
 * woken for the failed connection, or has failed. Owner. */
bool weir__half_opens(struct weir__op *op);
/* Tells the layer of the end. True: the kernel has all that it had to say;
 * false: the operator waits, is woken for the failed connection, or has failed.
 * Owner. */
bool weir__half_parts(struct weir__op *op);
/* No call is about to be made: asks the kernel if it has told of a reset.
 * Owner. */
void weir__half_rest(struct weir__op *op);
/* As weir__op_fd_blocks(). Owner. */
bool weir__half_blocks(struct weir__op *op, short events);
/* True: nothing has come since. Owner. */
static inline bool weir__half_waits(struct weir__op *op)
{
	return weir__op_fd_waits(
		&((struct weir__half_op *)weir__op_state(op))->wait);
}
/* It may wait until then, or until the watch fires. May fail the operator.
 * Owner. */
void weir__half_until(struct weir__op *op, uint64_t at_ns);
/* The same, from now on, if it does not wait yet. 0: for ever. */
static inline void weir__half_allow(struct weir__op *op, uint64_t ns)
{
	const struct weir__half_op *self = weir__op_state(op);

	if (ns > 0 && self->due_ns == 0)
		weir__half_until(op, weir__later(weir__op_now(op), ns));
}
/* True: that time is over. May fail the operator. Owner. */
bool weir__half_late(struct weir__op *op);
/* In close(): true, if it has ever been pulled. The reference is the caller's
 * then: weir_connection_unref(). Owner. */
bool weir__half_end(struct weir__op *op);

#endif
