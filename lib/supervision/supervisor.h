/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parent's side of supervision: supervisor.c (failures are answered),
 * verdict.c (what an answer does) and group.c (children that stop or restart
 * one after the other).
 */
#ifndef WEIR_SUPERVISION_SUPERVISOR_H
#define WEIR_SUPERVISION_SUPERVISOR_H

#include "supervision/cell.h"

/* --- supervisor.c --------------------------------------------------------- */

/* Answers failures of children. In the parent's slice; no lock held. */
void weir__supervise(struct weir_actor *actor);

/* `cell` waits for its parent's verdict. The rest is under the lock. */
void weir__supervisor_tell(struct weir_system *system, struct weir__cell *cell);

/* It does no longer: a verdict is on its way. */
void weir__supervisor_untell(struct weir_system *system,
			     struct weir__cell *cell);

/* --- verdict.c ------------------------------------------------------------ */

/* A failure that is being answered. */
struct weir__verdict {
	struct weir_system *system;
	struct weir_actor *actor; /* the supervisor */
	const struct weir_strategy *strategy;
	struct weir_actor_id child;
	struct weir_actor *failed; /* a reference: its name goes with it */
	struct weir_error *error;  /* a reference */
	uint8_t kind;		   /* as cell->kind */
	bool due;		   /* it waited for its back-off */
	bool up;		   /* as cell->up */
	bool temporary;
	int directive;
	struct weir_error *old; /* no longer kept: a reference */
};

/* Asks all limits about a restart, and counts it. False: one has refused. As a
 * walk: others may have the lock in between. */
bool weir__verdict_within_limits(const struct weir__verdict *verdict,
				 struct weir__cell *child);

/* What becomes of the child and those that share its fate. As a walk. */
void weir__verdict_act(struct weir__verdict *verdict, struct weir__cell *child);

/* The cell restarts now: its back-off is measured from here. */
void weir__supervisor_restarts(struct weir_system *system,
			       struct weir__cell *cell);

/* --- group.c -------------------------------------------------------------- */

/*
 * Orders all children to stop, at once or, if the strategy is ordered, the last
 * one, and so on as they end. As a walk.
 */
void weir__children_stop(struct weir_system *system, struct weir__cell *cell,
			 bool kill);

/* True: a child was ordered to stop or to halt, or will be, and has not yet. */
bool weir__children_stopping(const struct weir__cell *cell);

/*
 * The child's part in its group from now on: GROUP_HALT, GROUP_GO, both or
 * none. To halt, it comes before those that were told so before it.
 */
void weir__group_put(struct weir_system *system, struct weir__cell *cell,
		     uint16_t part);

/* A verdict about several children comes, after those that had one. */
void weir__group_again(struct weir_system *system, struct weir__cell *cell);

/* What the child has become may concern how its siblings go on. */
void weir__group_changed(struct weir_system *system,
			 const struct weir__cell *cell);

/* What is next for children that stop or restart one after the other. */
void weir__group_step(struct weir_system *system, struct weir__cell *cell);

#endif
