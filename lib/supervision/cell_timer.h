/* SPDX-License-Identifier: BSD-2-Clause */
/* The timers of cells, of which each has one at most. A cell is a number here.
 * All under the lock. */
#ifndef WEIR_SUPERVISION_CELL_TIMER_H
#define WEIR_SUPERVISION_CELL_TIMER_H

#include <stdint.h>

#include <weir/executor.h>

#include "supervision/system_lock.h"

struct weir__cell_timer;

/* Of a system; constant. */
struct weir__cell_timers {
	struct weir__system_lock *lock; /* a timer uses the system */
	struct weir_executor *executor;
	const struct weir_allocator *allocator;
	/* The timer of that cell has fired, and is not set any more. */
	void (*due)(struct weir__cell_timers *timers, uint32_t slot);
};

/* Sets the timer of a cell, which the cell has in *timer; NULL: none. Replaces
 * a timer that is set. False: no memory or no timers, and none is set. */
bool weir__cell_timer_set(struct weir__cell_timers *timers,
			  struct weir__cell_timer **timer, uint32_t slot,
			  uint64_t at_ns);
/* When it is due; NULL: WEIR_FOREVER. */
uint64_t weir__cell_timer_at(const struct weir__cell_timer *timer);
/* Harmless if none is set. */
void weir__cell_timer_clear(struct weir__cell_timers *timers,
			    struct weir__cell_timer **timer);

#endif
