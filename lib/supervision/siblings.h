/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children of one parent, in siblings.c: those that wait for its verdict, and
 * those that stop or restart, at once or one after the other. All under the
 * lock.
 */
#ifndef WEIR_SUPERVISION_SIBLINGS_H
#define WEIR_SUPERVISION_SIBLINGS_H

#include "supervision/cell.h"

/* `cell` waits for its parent's verdict. */
void weir__family_tell(struct weir_system *system, struct weir__cell *cell);

/* The child does not wait any more: a verdict is on its way. */
void weir__family_untell(struct weir_system *system, struct weir__cell *cell);

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
