/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waking waiters that were granted what they waited for, after the lock of the
 * object has been dropped. Flat: waiters that are granted something while a
 * `wake` runs on this thread are woken when that `wake` has returned, so that
 * callbacks which release, put or complete need no more stack for a longer
 * chain of them.
 */
#ifndef WEIR_SYNC_WAKE_H
#define WEIR_SYNC_WAKE_H

#include <assert.h>
#include <stddef.h>

#include "base/fifo.h"
#include "base/waiter.h"
#include "executor/wait.h"

/* A waiter stands for a node. */
static_assert(offsetof(struct weir__waiter, next) == 0,
	      "a waiter begins with a pointer to the next one");

/* The waiters that were granted something are in no queue any more (`listed` is
 * false): nobody can cancel them. */
static inline void weir__granted_push(struct weir__fifo *granted,
				      struct weir__waiter *waiter)
{
	weir__fifo_push(granted, (struct weir__node *)waiter);
}

/* Set while `wake`s run here; the thread's own. */
extern __thread struct weir__fifo *weir__waking
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Wakes all of them, in order, before it returns or after the `wake` that
 * runs on this thread. Holding no lock. */
void weir__wake(struct weir__fifo *granted);

/* The same for a waiter that had not to wait. */
void weir__wake_one(struct weir__waiter *waiter);

/* A thread that waits with a claim of its own. */
struct weir__parked_claim {
	struct weir__claim claim;
	struct weir__parked parked;
};

/* On the thread that will wait, before the claim goes into any queue. */
void weir__parked_claim_init(struct weir__parked_claim *self);

/* As weir__wait_allowed(); a `wake` may not wait either. */
int weir__wake_wait_allowed(void);

#endif
