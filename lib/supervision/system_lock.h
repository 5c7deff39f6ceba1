/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of a system, and the count of what uses the system, which the lock
 * guards. Whoever takes the last use away ends the system, by `unused`.
 */
#ifndef WEIR_SUPERVISION_SYSTEM_LOCK_H
#define WEIR_SUPERVISION_SYSTEM_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/lock.h"
#include "executor/task.h"

struct weir__system_lock {
	struct weir__lock plain; /* enough where nothing is submitted */
	uint32_t steps;		 /* since the lock was last lent */
	size_t used;
	/* Without the lock. Constant. */
	void (*unused)(struct weir__system_lock *lock);
};

/*
 * Takes the lock. Tasks submitted to an executor that runs tasks inside submit
 * wait until weir__leave() has dropped the lock. weir__leave() gets the result
 * of weir__enter(). The calls do not nest.
 */
static inline bool weir__enter(struct weir__system_lock *lock)
{
	bool held = weir__hold_back();

	weir__lock(&lock->plain);
	return held;
}

static inline void weir__leave(struct weir__system_lock *lock, bool held)
{
	weir__unlock(&lock->plain);
	weir__let_go(held);
}

/* As weir__leave(), after a use was taken away. It may have been the last one:
 * then the lock may be gone. */
static inline void weir__leave_unused(struct weir__system_lock *lock, bool held)
{
	bool unused = lock->used == 0;

	weir__leave(lock, held);
	if (unused)
		lock->unused(lock);
}

/* Most cells, watches or orders that a holder of the lock handles in one go. */
#ifndef WEIR__PIECE /* the explorer's are fewer */
#define WEIR__PIECE 256u
#endif

/*
 * To be called in a long operation: every so often lets waiting threads have
 * the lock. After it, look up again everything that was found under the lock.
 */
static inline void weir__breathe(struct weir__system_lock *lock)
{
	if (++lock->steps < WEIR__PIECE)
		return;
	lock->steps = 0;
	weir__lock_lend(&lock->plain);
}

#endif
