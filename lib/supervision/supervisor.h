/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parent's side of supervision: supervisor.c (answers failures), verdict.c
 * (carries answers out) and group.c (children that stop or restart one after
 * the other).
 */
#ifndef WEIR_SUPERVISION_SUPERVISOR_H
#define WEIR_SUPERVISION_SUPERVISOR_H

#include "supervision/cell.h"

/* --- supervisor.c --------------------------------------------------------- */

/* Answers failures of children. In the parent's slice; no lock held. */
void weir__supervise(struct weir_actor *actor);

/* `cell` waits for its parent's verdict. The rest is under the lock. */
void weir__supervisor_tell(struct weir_system *system, struct weir__cell *cell);

/* The child does not wait any more: a verdict is on its way. */
void weir__supervisor_untell(struct weir_system *system,
			     struct weir__cell *cell);

/* --- verdict.c ------------------------------------------------------------ */

/* A failure that is being answered. */
struct weir__verdict {
	struct weir_system *system;
	struct weir_actor *actor; /* the supervisor */
	const struct weir_strategy *strategy;
	struct weir_actor_id child;
	struct weir_actor *failed; /* a reference: keeps the name valid */
	struct weir_error *error;  /* a reference */
	uint8_t kind;		   /* as cell->kind */
	bool due;		   /* its back-off is over */
	bool up;		   /* as cell->up */
	bool temporary;
	int directive;
	struct weir_error *old; /* no longer kept: a reference */
};

/* Asks all limits about a restart, and counts it. False: a limit has refused. A
 * walk: lends the lock. */
bool weir__verdict_within_limits(const struct weir__verdict *verdict,
				 struct weir__cell *child);

/* Carries the verdict out, on the child and on the siblings that it concerns. A
 * walk: lends the lock. */
void weir__verdict_act(struct weir__verdict *verdict, struct weir__cell *child);

/* The cell restarts now: its back-off is measured from here. */
void weir__supervisor_restarts(struct weir_system *system,
			       struct weir__cell *cell);

/* --- group.c -------------------------------------------------------------- */

/*
 * Orders all children to stop at once; or, if the strategy is ordered, the last
 * one, and each other when the one behind it has ended. A walk: lends the lock.
 */
void weir__children_stop(struct weir_system *system, struct weir__cell *cell,
			 bool kill);

/* True: a child was ordered to stop or to halt, or will be, and has not yet. */
bool weir__children_stopping(const struct weir__cell *cell);

/* The child is to stop, in its turn if it is `ordered` or in line already; it
 * will not go with others any more. */
void weir__group_stop(struct weir_system *system, struct weir__cell *cell,
		      bool ordered);

/* Begins a verdict on several children, after earlier verdicts. */
void weir__group_again(struct weir_system *system, struct weir__cell *cell);

/* The state of the child has changed: its group may make a step. */
void weir__group_changed(struct weir_system *system,
			 const struct weir__cell *cell);

/* Makes the next step of children that stop or restart one after the other. */
void weir__group_step(struct weir_system *system, struct weir__cell *cell);

#endif
