/* SPDX-License-Identifier: BSD-2-Clause */
/* Carries out what an event in the life of a cell demands, in change.c. */
#ifndef WEIR_SUPERVISION_CHANGE_H
#define WEIR_SUPERVISION_CHANGE_H

#include "supervision/cell.h"

/*
 * The event has come: the state of the cell changes, and what the table in
 * life.c says is done. Owner of the actor, under the lock, which is lent.
 */
void weir__cell_change(struct weir_system *system, struct weir__cell *cell,
		       enum weir__life_event event);

#endif
