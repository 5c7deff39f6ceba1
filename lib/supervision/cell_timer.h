/* SPDX-License-Identifier: BSD-2-Clause */
/* The timer of an actor: it gives an order later. All under the lock. */
#ifndef WEIR_SUPERVISION_CELL_TIMER_H
#define WEIR_SUPERVISION_CELL_TIMER_H

#include "supervision/cell.h"

/*
 * Sets the alarm: at `at_ns` it gives the cell `orders` and sets `flags`.
 * Replaces a timer that is set. False: no memory or no timers.
 */
bool weir__cell_timer_set(struct weir_system *system, struct weir__cell *cell,
			  uint64_t at_ns, uint16_t flags, uint8_t orders);
/* Harmless if none is set. */
void weir__cell_timer_clear(struct weir_system *system,
			    struct weir__cell *cell);

#endif
