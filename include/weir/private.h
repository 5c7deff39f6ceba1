/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private. Users use nothing of this: it is what public structs hold of the
 * library's, whose size users need.
 */
#ifndef WEIR_PRIVATE_H
#define WEIR_PRIVATE_H

#include <stdbool.h>

#include <weir/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What requests and ports are made of that wait in a queue. */
struct weir__waiter {
	struct weir__waiter *next, *prev; /* of the list it is in */
	/*
	 * What it waited for is there. On the waker's thread, once, without a
	 * lock; must not block. The waiter's memory may be gone when it
	 * returns: the waker does not touch it again.
	 */
	void (*wake)(struct weir__waiter *waiter);
	bool listed;
};

/* All zero is empty. head == NULL iff tail == NULL. */
struct weir__waiters {
	struct weir__waiter *head, *tail;
};

/* What is in a mailbox or a fifo has one (lib/base/). It stands also for
 * another struct that begins with a pointer to the next one. */
struct weir__node {
	struct weir__node *next;
} __attribute__((__may_alias__));

/* All zero is empty. */
struct weir__mailbox {
	struct weir__node *newest; /* any thread, atomically */
};

/* A request for `n` of something that waits. */
struct weir__claim {
	struct weir__waiter waiter;
	int64_t n;
	void **item; /* moved from or to there; NULL: `n` are reserved */
	int status;  /* valid in `wake` */
};

/*
 * What all ports are made of that wait in a queue until something is granted
 * to them. Invariants in lib/sync/grant.c.
 */
struct weir__grant_port {
	struct weir_port port;
	const struct weir__port_ops *ops;
	const struct weir__grantor *grantor;
	struct weir__claim claim;
	uint32_t state; /* any thread, atomically */
	/* the owner's */
	uint32_t held;	/* granted and not used */
	uint32_t asked; /* that many were asked for */
	bool last;	/* less than a burst, but no more will come */
};

#ifdef __cplusplus
}
#endif

#endif
