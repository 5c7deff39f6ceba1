/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that waits for one thing: put the `waiter` of a weir__parked on
 * your stack into the list of what you wait for, and call weir__wait(). On a
 * thread that owns loops or simulators all of these are run meanwhile, as what
 * is waited for may be up to any; any other thread sleeps.
 *
 *	struct weir__parked parked;
 *
 *	weir__parked_init(&parked);
 *	... lock, look, weir__waiters_push(&list, &parked.waiter), unlock
 *	rc = weir__wait(&parked, timeout_ns);
 *	if (rc < 0) {
 *		... lock, was_listed = weir__waiters_remove(...), unlock
 *		if (!was_listed) {
 *			weir__parked_settle(&parked);
 *			rc = 0;
 *		}
 *	}
 */
#ifndef WEIR_EXECUTOR_WAIT_H
#define WEIR_EXECUTOR_WAIT_H

#include <weir/executor.h>

#include "base/waiter.h"
#include "executor/thread.h"

#define WEIR__WAIT_MAX 64

/*
 * States of `word`, and who moves them: WAITING -> WOKEN -> GONE, by the
 * waker. From GONE on the waker does not touch the struct, so that it may go
 * out of scope; WOKEN says that the wait is over, but not yet that.
 */
enum { WEIR__PARKED_WAITING, WEIR__PARKED_WOKEN, WEIR__PARKED_GONE };

struct weir__parked {
	struct weir__waiter waiter;
	/* The one that the thread waits in when none has anything to do; NULL:
	 * it sleeps. */
	struct weir__owned *owned;
	const struct weir__thread *thread; /* that waits */
	uint32_t word;
};

/* Before the waiter goes into any list; on the thread that will wait. */
void weir__parked_init(struct weir__parked *parked);

/* Adds a loop or simulator that the calling thread makes; removes it. */
void weir__own(struct weir__owned *owned);
void weir__disown(struct weir__owned *owned);

/*
 * True if the executor is a loop or simulator that the calling thread has made.
 */
bool weir__owns(const struct weir_executor *executor);

/*
 * 0 if this thread may wait here, else -EDEADLK: a worker of a pool, inside a
 * turn that may not block, or inside a callback of a loop or simulator that it
 * owns would hold up what it waits for.
 */
int weir__wait_allowed(void);

/*
 * Until the waiter's `wake` has been called: 0, and the struct is the
 * caller's again. Otherwise it may still be in its list: -ETIMEDOUT after
 * `timeout_ns` (WEIR_FOREVER: never) of real time, or, where the thread owns
 * simulators and no loop, of the clock of the last one made; -EDEADLK as
 * weir__wait_allowed(), or when nothing is left to do in those; or with more
 * than WEIR__WAIT_MAX of them.
 */
int weir__wait(struct weir__parked *parked, uint64_t timeout_ns);

/*
 * After a wait that failed, when the waiter is no longer in its list: the
 * wake is on its way. Returns when it has come; for as long as the waker
 * needs for that.
 */
void weir__parked_settle(struct weir__parked *parked);

#endif
