/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the back-off supervisor as an actor (backoff_supervisor.c) and the
 * calls from any thread (backoff_calls.c).
 *
 * The supervisor's lock guards the fields that both touch. `child` is a
 * reference, so that a thread can put into its in-port without the lock:
 *
 *	child == NULL  <=>  id is nobody, input == NULL
 *	now >= reset_at_ns  =>  the count is 0 really
 *	undecided  =>  child == NULL and the delay is not set
 *
 * A final item counts only if it was taken, and it must count before the child
 * can end because of it. So while final items are being put into a child
 * (`finals`), the supervisor decides nothing. The thread that has put the last
 * one signals the supervisor.
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
