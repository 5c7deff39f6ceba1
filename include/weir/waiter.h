/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private: what requests and ports are made of that wait in the queue of a
 * semaphore, a channel or a completion. Nothing here is for users.
 */
#ifndef WEIR_WAITER_H
#define WEIR_WAITER_H

#include <stdbool.h>

#include <weir/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir__waiter {
	/*
	 * What it waited for is there. On the waker's thread, once, without a
	 * lock; must not block. The waiter's memory may be gone when it
	 * returns: the waker does not touch it again.
	 */
	void (*wake)(struct weir__waiter *waiter);
	struct weir__waiter *next, *prev; /* of the list it is in */
	bool listed;
};

/* All zero is empty. head == NULL iff tail == NULL. */
struct weir__waiters {
	struct weir__waiter *head, *tail;
};

/* One who waits for `n` of something. */
struct weir__claim {
	struct weir__waiter waiter;
	int64_t n;
	void **item; /* moved from or to there; NULL: `n` are reserved */
	int status;  /* valid in `wake` */
};

#ifdef __cplusplus
}
#endif

#endif
