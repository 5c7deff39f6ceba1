/* SPDX-License-Identifier: BSD-2-Clause */
/* A cell and all cells below it, in branch.c. All under the lock. */
#ifndef WEIR_SUPERVISION_BRANCH_H
#define WEIR_SUPERVISION_BRANCH_H

#include "supervision/cell.h"

/* Adds the cell as the last child. It starts with its parent's suspends. */
void weir__branch_add(struct weir_system *system, struct weir__cell *parent,
		      struct weir__cell *cell);
/* Removes the cell from its parent's list; the parent may have waited
 * for that. */
void weir__branch_remove(struct weir_system *system, struct weir__cell *cell);

/*
 * Claim 2: sets or clears the actor's own reason to be suspended. Both lend the
 * lock. For a thread that has the lock meanwhile, claim 2 holds for an actor
 * and for children spawned below it, because descendants are changed before
 * their ancestors. If the actor has a reason already, a call that is still
 * suspending its descendants is finished first; so no caller resumes an actor
 * that another has yet to suspend.
 */
void weir__branch_suspend(struct weir_system *system, struct weir__cell *cell);
void weir__branch_resume(struct weir_system *system, struct weir__cell *cell);

/*
 * Makes an actor restart because others do. From then on it and all its
 * descendants are suspended, so that none of them runs in its old state
 * meanwhile. Lends the lock as weir__branch_suspend().
 */
void weir__branch_restart(struct weir_system *system, struct weir__cell *cell);

/* For tests: claims 1 and 2 hold, walks under way included. Takes the lock. */
bool weir__system_check(struct weir_system *system);

#endif
