/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over many cells that lend the lock now and then (weir__breathe()). The
 * system knows its walks, so that a cell that leaves the tree moves the walks
 * that are at it on. All under the lock; each walk by one thread.
 */
#ifndef WEIR_SUPERVISION_WALK_H
#define WEIR_SUPERVISION_WALK_H

#include "supervision/cell.h"

struct weir__walk {
	struct weir__walk *next, **link; /* all of the system's */
	struct weir__cell *at;		 /* the next cell; NULL: there are no
					  * more */
	/* the walk is over all cells below `top` and last `top`; NULL: over
	 * siblings */
	struct weir__cell *top;
	void (*visit)(struct weir__cell *cell);
	struct weir__cell *parent; /* of the siblings */
	bool alone;		   /* over the first sibling alone */
};

/* Over siblings, from `first` on, which may be NULL. */
void weir__walk_begin(struct weir_system *system, struct weir__walk *walk,
		      struct weir__cell *first);
/*
 * The next cell; NULL: there are no more, and the walk is over. Other threads
 * may have had the lock between two cells, but not between the last cell and
 * NULL.
 */
struct weir__cell *weir__walk_next(struct weir_system *system,
				   struct weir__walk *walk);
/* Ends a walk before its last cell. */
void weir__walk_end(struct weir__walk *walk);

/*
 * Visits all cells below `top`, children before their parents, and `top` last.
 * A child that is spawned meanwhile below a visited cell inherits that cell's
 * new state; a child that is spawned below another cell is visited.
 */
void weir__walk_below(struct weir_system *system, struct weir__cell *top,
		      void (*visit)(struct weir__cell *cell), bool at_once);

/* The cell was added to its parent's list, as the last one. */
void weir__walks_add(struct weir_system *system, struct weir__cell *parent,
		     struct weir__cell *cell);
/* The cell leaves its parent's list, and has no children. */
void weir__walks_pass(struct weir_system *system, struct weir__cell *cell);
/* Walks of other threads over the cells below `top` are finished. */
void weir__walks_finish(struct weir_system *system, struct weir__cell *top,
			bool at_once);
/* The cell's children are put before it in the list of siblings, in their
 * order. */
void weir__walks_open(struct weir_system *system, struct weir__cell *cell);

/* For tests: how many walks of that kind have yet to visit the cell. */
uint32_t weir__walks_to_come(struct weir_system *system,
			     const struct weir__cell *cell,
			     void (*visit)(struct weir__cell *cell));

#endif
