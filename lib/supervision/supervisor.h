/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parent's side of supervision: supervisor.c (answers failures) and
 * verdict.c (carries answers out).
 */
#ifndef WEIR_SUPERVISION_SUPERVISOR_H
#define WEIR_SUPERVISION_SUPERVISOR_H

#include "supervision/cell.h"

/* --- supervisor.c --------------------------------------------------------- */

/* Answers failures of children. In the parent's slice; no lock held. */
void weir__supervise(struct weir_actor *actor);

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
	bool up;		   /* as weir__cell_up() */
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

#endif
