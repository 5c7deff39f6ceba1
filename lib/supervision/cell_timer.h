/* SPDX-License-Identifier: BSD-2-Clause */
/* The timer of an actor. All under the lock. */
#ifndef WEIR_SUPERVISION_CELL_TIMER_H
#define WEIR_SUPERVISION_CELL_TIMER_H

#include "supervision/cell.h"

/* Sets the timer: at `at_ns` the cell gets WEIR__LIFE_TIMER. Replaces a timer
 * that is set. False: no memory or no timers. */
bool weir__cell_timer_set(struct weir_system *system, struct weir__cell *cell,
			  uint64_t at_ns);
/* Sets the timer that kills the actor when its time to stop is over, if that is
 * bounded. False: no memory or no timers. */
bool weir__cell_timer_set_deadline(struct weir_system *system,
				   struct weir__cell *cell);
/* Harmless if none is set. */
void weir__cell_timer_clear(struct weir_system *system,
			    struct weir__cell *cell);

#endif
