/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks over many cells that let go of the lock now and then (weir__breathe()).
 * A walk is known to its system meanwhile, so that who leaves the tree moves it
 * on. All under the lock, by one thread each.
 */
#ifndef WEIR_SUPERVISION_WALK_H
#define WEIR_SUPERVISION_WALK_H

#include "supervision/cell.h"

struct weir__walk {
	struct weir__walk *next, **link; /* all of the system's */
	struct weir__cell *at;		 /* the next one; NULL: that was all */
	/* a walk over all below it and, last, itself; NULL: over siblings */
	struct weir__cell *top;
	void (*visit)(struct weir__cell *cell);
	struct weir__cell *parent; /* of the siblings */
	bool alone;		   /* over the first sibling alone */
};

/* Over siblings, from `first` on, which may be NULL. */
void weir__walk_begin(struct weir_system *system, struct weir__walk *walk,
		      struct weir__cell *first);
/*
 * The next one; NULL: that was all, and the walk is over. Others have had the
 * lock since the last one, but not between the last of all and NULL.
 */
struct weir__cell *weir__walk_next(struct weir_system *system,
				   struct weir__walk *walk);
/* It is over before its end. */
void weir__walk_end(struct weir__walk *walk);

/*
 * Visits all below the cell, children before their parents and the cell last.
 * So who is spawned meanwhile below one that has been visited is as that one
 * is, and who is spawned below another is visited.
 */
void weir__walk_below(struct weir_system *system, struct weir__cell *top,
		      void (*visit)(struct weir__cell *cell), bool at_once);

/* The cell has come into its parent's list, as the last one. */
void weir__walks_add(struct weir_system *system, struct weir__cell *parent,
		     struct weir__cell *cell);
/* The cell leaves its parent's list, and has no children. */
void weir__walks_pass(struct weir_system *system, struct weir__cell *cell);
/* Others' walks over what is below it are walked to their end. */
void weir__walks_finish(struct weir_system *system, struct weir__cell *top,
			bool at_once);
/* Its children come to stand before it, in their order. */
void weir__walks_open(struct weir_system *system, struct weir__cell *cell);

/* For tests: how many walks have yet to visit it in that way. */
uint32_t weir__walks_to_come(struct weir_system *system,
			     const struct weir__cell *cell,
			     void (*visit)(struct weir__cell *cell));

#endif
