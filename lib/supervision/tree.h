/* SPDX-License-Identifier: BSD-2-Clause */
/* Which cell is whose child, in tree.c. All under the lock. */
#ifndef WEIR_SUPERVISION_TREE_H
#define WEIR_SUPERVISION_TREE_H

#include "supervision/cell.h"

struct weir__cell *weir__tree_parent(struct weir_system *system,
				     const struct weir__cell *cell);
/* The first child, the next sibling, or NULL. */
struct weir__cell *weir__tree_first(struct weir_system *system,
				    const struct weir__cell *cell);
struct weir__cell *weir__tree_next(struct weir_system *system,
				   const struct weir__cell *cell);

/* Adds the cell to the children: before the child `next`, or as the last
 * one. */
void weir__tree_link(struct weir_system *system, struct weir__cell *parent,
		     struct weir__cell *next, struct weir__cell *cell);
void weir__tree_unlink(struct weir_system *system, struct weir__cell *cell);

/* The actor's spawn went well: if it is SPAWNED still, it is STARTING. */
void weir__tree_show(struct weir_system *system, struct weir__cell *cell);

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
