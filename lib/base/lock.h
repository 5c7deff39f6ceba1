/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small mutex for short sections off the per-item paths: one word, no
 * system call unless it is contended, and made of ck_pr operations so that
 * the explorer and ThreadSanitizer see it (pthread's would be opaque).
 * No user code is called while one is held, and nothing is submitted, but by
 * who holds submissions back (weir__hold_back() in lib/executor/task.h).
 *
 * Word: 0 free, 1 held, 2 held and somebody may be waiting (Drepper, "Futexes
 * are tricky", mutex 2).
 */
#ifndef WEIR_BASE_LOCK_H
#define WEIR_BASE_LOCK_H

#include <stdbool.h>

#include <ck_pr.h>

#include "base/costs.h"
#include "base/futex.h"

struct weir__lock {
	uint32_t word;
};

static inline void weir__lock(struct weir__lock *lock)
{
	uint32_t seen = 0;

	weir__costs_lock();
	/* Free: ours by one swap. */
	if (!ck_pr_cas_32_value(&lock->word, 0, 1, &seen)) {
		/* Announce ourselves; whoever reads 2 on unlock wakes us. */
		while (ck_pr_fas_32(&lock->word, 2) != 0)
			weir__futex_wait(&lock->word, 2, UINT64_MAX);
	}
	/* acquire: pairs with the release in weir__unlock() */
	ck_pr_fence_lock();
}

/* True: it is ours, as by weir__lock(). False: somebody has it. */
static inline bool weir__trylock(struct weir__lock *lock)
{
	uint32_t seen = 0;

	if (!ck_pr_cas_32_value(&lock->word, 0, 1, &seen))
		return false;
	weir__costs_lock();
	/* acquire: pairs with the release in weir__unlock() */
	ck_pr_fence_lock();
	return true;
}

static inline void weir__unlock(struct weir__lock *lock)
{
	/* release: pairs with the acquire in weir__lock() */
	ck_pr_fence_unlock();
	if (ck_pr_fas_32(&lock->word, 0) == 2)
		weir__futex_wake(&lock->word, 1);
}

/*
 * Held and to be held again: lets those have it first who wait. They are to be
 * scheduled before they can take it, so their chance is a moment long; it ends
 * early when one of them hands on. That may wake us in the place of another who
 * waits, so we take it as who has waited does, and wake that one in turn.
 */
static inline void weir__lock_lend(struct weir__lock *lock)
{
	/* relaxed: who comes later waits for the next time */
	if (ck_pr_load_32(&lock->word) != 2)
		return;
	weir__unlock(lock);
	(void)weir__futex_wait(&lock->word, 0, 50000);
	weir__costs_lock();
	while (ck_pr_fas_32(&lock->word, 2) != 0)
		weir__futex_wait(&lock->word, 2, UINT64_MAX);
	/* acquire: pairs with the release in weir__unlock() */
	ck_pr_fence_lock();
}

#endif
