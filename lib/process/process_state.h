/* SPDX-License-Identifier: BSD-2-Clause */
/* What other threads know of a process that is an actor: process->state. */
#ifndef WEIR_PROCESS_PROCESS_STATE_H
#define WEIR_PROCESS_PROCESS_STATE_H

#include <ck_pr.h>

#include <weir/process_manager.h>

enum {
	/* The thread that sets the later one of the first and one of the next
	 * two stops it. */
	WEIR__PROCESS_SPAWNED = 1u << 0,   /* it has an id */
	WEIR__PROCESS_LATE = 1u << 1,	   /* its time is up */
	WEIR__PROCESS_CANCELLED = 1u << 2, /* so is its command */
	WEIR__PROCESS_ENDED = 1u << 3,
};

/* Sets `bits`; returns the bits that were set before. Any thread. */
static inline uint32_t weir__process_set(struct weir_process *process,
					 uint32_t bits)
{
	uint32_t old = ck_pr_load_32(&process->state);

	/* release: our writes before this; pairs with the acquire below */
	ck_pr_fence_release();
	while (!ck_pr_cas_32_value(&process->state, old, old | bits, &old))
		;
	/* acquire: pairs with the release above, of the threads that have set
	 * other bits */
	ck_pr_fence_acquire();
	return old;
}

/* Its id, if it was spawned and had not ended in that state. */
static inline struct weir_actor_id weir__process_id_in(
	const struct weir_process *process, uint32_t state)
{
	state &= WEIR__PROCESS_SPAWNED | WEIR__PROCESS_ENDED;
	return state == WEIR__PROCESS_SPAWNED ? process->self
					      : WEIR_ACTOR_ID_NONE;
}

/*
 * The id of the process, if it is spawned and has not ended; else
 * WEIR_ACTOR_ID_NONE. Any thread that keeps its command from being answered.
 */
static inline struct weir_actor_id weir__process_id(
	const struct weir_process *process)
{
	uint32_t state = ck_pr_load_32(&process->state);

	/* acquire: the id; pairs with the release in weir__process_set() */
	ck_pr_fence_acquire();
	return weir__process_id_in(process, state);
}

/*
 * Its command is cancelled. Returns the id of the process, for the caller to
 * stop it. WEIR_ACTOR_ID_NONE: it has ended, or will be stopped when it is
 * spawned. The same.
 */
static inline struct weir_actor_id weir__process_cancel(
	struct weir_process *process)
{
	return weir__process_id_in(
		process, weir__process_set(process, WEIR__PROCESS_CANCELLED));
}

#endif
