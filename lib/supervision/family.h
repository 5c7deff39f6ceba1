/* SPDX-License-Identifier: BSD-2-Clause */
/* A cell's children, in family.c. All under the lock. */
#ifndef WEIR_SUPERVISION_FAMILY_H
#define WEIR_SUPERVISION_FAMILY_H

#include "supervision/cell.h"

/* --- Which cell is whose child: tree.h, walk.h ---------------------------- */

/* NULL: there is none. So are the first child and the next sibling. */
static inline struct weir__cell *weir__cell_parent(
	const struct weir_system *system, const struct weir__cell *cell)
{
	return weir__cell_of_kin(weir__tree_parent(&system->slots, &cell->kin));
}

static inline struct weir__cell *weir__cell_first(
	const struct weir_system *system, const struct weir__cell *cell)
{
	return weir__cell_of_kin(weir__tree_first(&system->slots, &cell->kin));
}

static inline struct weir__cell *weir__cell_next(
	const struct weir_system *system, const struct weir__cell *cell)
{
	return weir__cell_of_kin(weir__tree_next(&system->slots, &cell->kin));
}

/* A walk over all children: weir__walk_begin(), weir__walk_next(). */
static inline void weir__children_begin(struct weir_system *system,
					struct weir__walk *walk,
					const struct weir__cell *cell)
{
	weir__walk_begin(&system->walks, walk,
			 weir__tree_first(&system->slots, &cell->kin));
}

static inline struct weir__cell *weir__children_next(struct weir_system *system,
						     struct weir__walk *walk)
{
	return weir__cell_of_kin(weir__walk_next(&system->walks, walk));
}

/* --- What a parent has of its children ------------------------------------ */

/* Adds the cell to the children: before the child `next`, or as the last
 * one. */
void weir__family_link(struct weir_system *system, struct weir__cell *parent,
		       struct weir__cell *next, struct weir__cell *cell);
void weir__family_unlink(struct weir_system *system, struct weir__cell *cell);

/* The actor's spawn went well: if it is SPAWNED still, it is STARTING. */
void weir__family_show(struct weir_system *system, struct weir__cell *cell);

/*
 * The event has come, which changes the child's part as part.h says, and with
 * it the counts and lists of its parent. Into a list a child comes in front.
 */
void weir__part_change(struct weir_system *system, struct weir__cell *cell,
		       enum weir__part_event event);

/* Orders the cell to stop, and notes that in its part. */
void weir__cell_stop(struct weir__cell *cell, bool kill);

/* Adds the cell, which is in none of its parent's lists, to that list. */
void weir__family_add(struct weir_system *system, uint32_t *list,
		      struct weir__cell *cell, bool front);
/* Removes the cell from the list it is in, if any. */
void weir__family_remove(struct weir_system *system, struct weir__cell *cell);

#endif
