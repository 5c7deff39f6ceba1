/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the back-off supervisor as an actor (backoff_supervisor.c) and those
 * who call it from any thread (backoff_calls.c).
 *
 * What both touch is under a lock of its own; `child` is a reference, so that
 * one can put into its in-port without the lock:
 *
 *	child == NULL  <=>  id is nobody, input == NULL
 *	now >= reset_at_ns  =>  the count is 0 really
 *	undecided  =>  child == NULL and the delay is not set
 *
 * A final item is final only if it was taken, and must be so before the child
 * can end because of it. So while one is being put into a child (`finals`)
 * nothing is decided; who has put the last one signals.
 */
#ifndef WEIR_SUPERVISION_BACKOFF_SUPERVISOR_H
#define WEIR_SUPERVISION_BACKOFF_SUPERVISOR_H

#include <weir/backoff_supervisor.h>

#include "base/lock.h"

/* supervisor->phase, under the lock; written by the owner. */
enum {
	WEIR__BACKOFF_NEW,
	WEIR__BACKOFF_RUNNING, /* from pre_start on */
	WEIR__BACKOFF_OVER,    /* from its end on */
};

static inline void weir__backoff_lock(struct weir_backoff_supervisor *self)
{
	weir__lock((struct weir__lock *)&self->lock);
}

static inline void weir__backoff_unlock(struct weir_backoff_supervisor *self)
{
	weir__unlock((struct weir__lock *)&self->lock);
}

static inline uint64_t weir__backoff_now(
	const struct weir_backoff_supervisor *self)
{
	return weir_executor_now(self->actor.executor);
}

/* The count at `now`. Under the lock. */
static inline uint32_t weir__backoff_count(struct weir_backoff_supervisor *self,
					   uint64_t now)
{
	if (now >= self->reset_at_ns)
		self->count = 0;
	return self->count;
}

#endif
