/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An actor's own side of supervision: child.c (hooks, orders, its end),
 * restart.c (failing, resuming, restarting) and stop.c. In its slice, no lock
 * held, unless it says otherwise.
 *
 * Rule numbers like B2.1 are those of docs/conformance/supervision.md.
 */
#ifndef WEIR_SUPERVISION_CHILD_H
#define WEIR_SUPERVISION_CHILD_H

#include "supervision/cell.h"

extern const struct weir__child_ops weir__child_table;

/* Its hooks, its strategy; never NULL: without any field set if it has none. */
const struct weir_lifecycle *weir__lifecycle(const struct weir_actor *actor);
const struct weir_strategy *weir__strategy(const struct weir_actor *actor);

/* A copy of its cell's flags, which belong to the lock. */
uint16_t weir__child_flags(const struct weir_actor *actor);

/* A drain has ended it, not it itself. */
bool weir__child_drained(const struct weir_actor *actor);

void weir__child_post_stop(struct weir_actor *actor);
enum weir__start {
	WEIR__START_FIRST,   /* pre_start */
	WEIR__START_CREATE,  /* reset, pre_start: none went well yet, B2.1 */
	WEIR__START_RESTART, /* reset, post_restart */
};

/* True: it went well. */
bool weir__child_start(struct weir_actor *actor, struct weir_error *cause,
		       enum weir__start how);
/* It did. Under the lock. */
void weir__child_started(struct weir__cell *cell);
/* What a hook has returned that cannot fail the actor. */
void weir__child_report(struct weir_actor *actor, int rc);

/* It goes on. Under the lock. */
void weir__child_alive(struct weir_system *system, struct weir__cell *cell);

/* Its children are no longer those of a start under way. Under the lock. */
void weir__child_settled(struct weir_system *system, struct weir__cell *cell);

/* Who orders a stop, and so how. */
enum weir__stop {
	WEIR__STOP_ASKING, /* it may take the time it has */
	WEIR__STOP_ACTOR,  /* weir_actor_stop(): no further turn */
	WEIR__STOP_KILL,   /* nor for those below it */
};

void weir__child_ordered_to_stop(struct weir_actor *actor, enum weir__stop how);
/* The error, if any, is there. */
void weir__child_stop(struct weir_actor *actor, bool kill);
/* This slice is the last: no child is left. */
void weir__child_end_now(struct weir_actor *actor);

void weir__child_leaving(struct weir_actor *actor);
void weir__child_ordered_to_resume(struct weir_actor *actor);
void weir__child_ordered_to_restart(struct weir_actor *actor);
void weir__child_ordered_to_go(struct weir_actor *actor);
/* What has ended before it began anew, unless it is to do nothing now. */
void weir__child_tell_ends(struct weir_actor *actor);
/* No child is to be waited for any more. */
void weir__child_halted(struct weir_actor *actor);

#endif
