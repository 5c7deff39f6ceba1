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

/*
 * Sets the timer that kills the actor when its time to stop is over, if that is
 * bounded: the actor's shutdown_ns; WEIR_SHUTDOWN_DEFAULT: `default_ns`. False:
 * no memory or no timers. Under the lock.
 */
bool weir__cell_set_deadline(struct weir_system *system,
			     struct weir__cell *cell, uint64_t default_ns);

#endif
