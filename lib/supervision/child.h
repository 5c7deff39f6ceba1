/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The actor's own side of supervision: child.c (hooks), restart.c (failing,
 * resuming, restarting), stop.c, and orders.c, which is above these. All
 * functions are called in the actor's slice with no lock held, unless they say
 * otherwise.
 *
 * Rule numbers like B2.1 are those of docs/conformance/supervision.md.
 */
#ifndef WEIR_SUPERVISION_CHILD_H
#define WEIR_SUPERVISION_CHILD_H

#include "supervision/cell.h"

extern const struct weir__child_ops weir__child_table;

/* Of its cell, which belongs to the lock: whether it drains, and whether the
 * event would change its state. */
bool weir__child_drains(const struct weir_actor *actor);
bool weir__child_steps(const struct weir_actor *actor,
		       enum weir__life_event event);

/* Its state, without the lock. It may be an old one, unless only the actor's
 * own slice leads out of it: so of an actor that starts, runs or stops it is
 * right. */
uint8_t weir__child_state(const struct weir_actor *actor);

/* True: a drain has ended the actor, which has not ended by itself. */
bool weir__child_drained(const struct weir_actor *actor);

/* True: the actor, which has ended with an error, was killed, or was stopped by
 * force. */
bool weir__child_killed(const struct weir_actor *actor);

/*
 * The actor, which is ending, gives its name up before it has ended; notices of
 * its end still have it in their path.
 */
void weir__child_free_name(struct weir_actor *actor);

void weir__child_post_stop(struct weir_actor *actor);
enum weir__start {
	WEIR__START_FIRST,   /* pre_start */
	WEIR__START_CREATE,  /* reset, pre_start: none went well yet, B2.1 */
	WEIR__START_RESTART, /* reset, post_restart */
};

/* Starts the actor. True: the start went well. */
bool weir__child_start(struct weir_actor *actor, struct weir_error *cause,
		       enum weir__start how);
/* The start went well. Under the lock. */
void weir__child_started(struct weir__cell *cell);
/* What that start has begun ends: its post_stop is not due any more. Under the
 * lock. */
void weir__child_down(struct weir__cell *cell);
/* Reports the error of a hook that cannot fail the actor. */
void weir__child_report(struct weir_actor *actor, int rc);

/* How an actor stops. */
enum weir__stop {
	WEIR__STOP_ASKING, /* `stopping` is asked; it may take time */
	WEIR__STOP_ACTOR,  /* weir_actor_stop(): no further turn */
	WEIR__STOP_KILL,   /* nor for its descendants */
};

void weir__child_ordered_to_stop(struct weir_actor *actor, enum weir__stop how);
/* Begins to stop, because of that event. The error, if any, is in
 * actor->error. */
void weir__child_stop(struct weir_actor *actor, enum weir__life_event event);
/* This slice is the last: no child is left. */
void weir__child_end_now(struct weir_actor *actor);

/* B1.1: if the actor has failed, the failed tokens are dropped that are still
 * there. It is known by now what becomes of the actor. */
void weir__child_drop_failed_tokens(struct weir_actor *actor);
/* The actor fails, B1.2; `kind` as cell->kind. */
void weir__child_fail(struct weir_actor *actor, uint8_t kind);
/* Whether an actor that has ended by itself, well or with an error that is not
 * its own failure, restarts. */
bool weir__child_finishes_to_restart(const struct weir_actor *actor);
void weir__child_ordered_to_resume(struct weir_actor *actor);
void weir__child_ordered_to_restart(struct weir_actor *actor);
void weir__child_ordered_to_go(struct weir_actor *actor);
/* Tells the ends of streams that ended before the restart, unless the actor
 * must do nothing now. */
void weir__child_tell_ends(struct weir_actor *actor);
/* No child is to be waited for any more. */
void weir__child_halted(struct weir_actor *actor);

#endif
