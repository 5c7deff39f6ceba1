/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branches of the tree: how they come, go and are suspended. Claims 1 and 2 of
 * cell.h. All under the system's lock.
 */
#include "supervision/branch.h"

#include <assert.h>

#include "actor/firing.h"
#include "supervision/family.h"

/* --- Suspension ----------------------------------------------------------- */

/* The first reason sets the bit in its gate, the others only count. */
static void suspend_one(struct weir__kin *kin)
{
	struct weir__cell *cell = weir__cell_of_kin(kin);

	assert(cell->suspends < UINT16_MAX);
	if (cell->suspends++ > 0)
		return;
	weir__actor_suspend(cell->actor, WEIR__GATE_SUSPENDED_PARENT);
	(void)weir__cell_step(cell, WEIR__LIFE_SUSPEND);
}

static void resume_one(struct weir__kin *kin)
{
	struct weir__cell *cell = weir__cell_of_kin(kin);

	assert(cell->suspends > 0);
	/* An actor that stops keeps the bit: its turns are over for good. */
	if (--cell->suspends > 0 || weir__life_over(cell->state))
		return;
	weir__actor_resume(cell->actor, WEIR__GATE_SUSPENDED_PARENT);
	/* The actor now handles signals and failures of children that have come
	 * meanwhile. */
	weir__cell_order(cell, WEIR__ORDER_LOOK);
}

void weir__branch_suspend(struct weir_system *system, struct weir__cell *cell)
{
	/* Its parent suspends it (weir__branch_restart()), and may not have
	 * finished. */
	if (cell->own) {
		weir__walks_finish(&system->walks, &cell->kin, false);
		return;
	}
	cell->own = 1;
	weir__walk_below(&system->walks, &cell->kin, suspend_one, false);
}

void weir__branch_resume(struct weir_system *system, struct weir__cell *cell)
{
	assert(cell->own);
	cell->own = 0;
	weir__walk_below(&system->walks, &cell->kin, resume_one, false);
}

void weir__branch_restart(struct weir_system *system, struct weir__cell *cell)
{
	uint32_t generation = cell->generation;

	/* The reason to be suspended is the restart to come; in the other
	 * states there is one already. */
	if (weir__life_runs(cell->state) && !cell->own)
		weir__branch_suspend(system, cell);
	/* the actor may have ended since, and another may have the cell */
	if (cell->generation == generation)
		weir__cell_order(cell, WEIR__ORDER_RESTART);
}

/* --- Coming and going ----------------------------------------------------- */

void weir__branch_add(struct weir_system *system, struct weir__cell *parent,
		      struct weir__cell *cell)
{
	assert(parent->actor && cell->state == WEIR__CELL_SPAWNED);
	assert(cell->kin.first == WEIR__NO_CELL && !cell->own);
	weir__family_link(system, parent, NULL, cell);
	weir__walks_add(&system->walks, &parent->kin, &cell->kin);
	if (weir__life_starts(parent->state))
		weir__part_change(system, cell, WEIR__PART_COME);
	cell->suspends = parent->suspends;
	/* The actor is not started yet, and no other thread has it. */
	if (cell->suspends)
		ck_pr_or_32(&cell->actor->gate, WEIR__GATE_SUSPENDED_PARENT);
}

/*
 * An actor ends before its children only if its executor has refused it. The
 * children go to its own parent, if there is one, and stop. In the list of
 * siblings they are put before it, so that a walk from children to parents
 * still visits them first.
 */
static void orphan(struct weir_system *system, struct weir__cell *parent,
		   struct weir__cell *cell, struct weir__cell *child)
{
	struct weir__name *name = weir__record_of(child)->name;

	/* its path is nobody's, also if another actor gets the parent's cell */
	if (name)
		name->parent = WEIR__NO_CELL;
	weir__family_remove(system, child);
	weir__family_unlink(system, child);
	weir__part_change(system, child, WEIR__PART_LEAVE);
	if (parent)
		weir__family_link(system, parent, cell, child);
	weir__cell_stop(child, false);
}

void weir__branch_remove(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *parent = weir__cell_parent(system, cell), *child;

	/* claim 2 for the descendants, which may get another parent */
	weir__walks_finish(&system->walks, &cell->kin, true);
	if (cell->own) {
		cell->own = 0;
		weir__walk_below(&system->walks, &cell->kin, resume_one, true);
	}
	weir__walks_open(&system->walks, &cell->kin);
	while ((child = weir__cell_first(system, cell)))
		orphan(system, parent, cell, child);
	/* claim 1: a cell ends after all its descendants */
	assert(cell->kin.first == WEIR__NO_CELL);
	if (!parent)
		return;
	weir__walks_pass(&system->walks, &cell->kin);
	weir__family_remove(system, cell);
	weir__family_unlink(system, cell);
	/* A live parent waits for the children that it has told to stop; one
	 * that drains waits for all. */
	if (!weir__life_runs(parent->state) || cell->part != WEIR__PART_NONE ||
	    parent->drain)
		weir__cell_order(parent, WEIR__ORDER_LOOK);
}

/* --- For tests ------------------------------------------------------------ */

/* The next cell below `top`, parents before children; NULL: there are no
 * more. */
static struct weir__cell *next_below(struct weir_system *system,
				     const struct weir__cell *top,
				     struct weir__cell *cell)
{
	struct weir__cell *next = weir__cell_first(system, cell);

	while (!next && cell != top) {
		next = weir__cell_next(system, cell);
		cell = weir__cell_parent(system, cell);
	}
	return next;
}

/* The `suspends` of the cell when all walks are over. */
static uint32_t suspends(struct weir_system *system,
			 const struct weir__cell *cell)
{
	return cell->suspends +
	       weir__walks_to_come(&system->walks, &cell->kin, suspend_one) -
	       weir__walks_to_come(&system->walks, &cell->kin, resume_one);
}

static bool check_cell(struct weir_system *system,
		       const struct weir__cell *cell)
{
	const struct weir__cell *parent = weir__cell_parent(system, cell);
	uint32_t gate;

	if (!cell->actor)
		return false;
	gate = ck_pr_load_32(&cell->actor->gate);
	if (suspends(system, cell) !=
	    (parent ? suspends(system, parent) : 0) + cell->own)
		return false;
	return !(gate & WEIR__GATE_SUSPENDED_PARENT) ==
	       (!cell->suspends && !weir__life_stops(cell->state));
}

bool weir__system_check(struct weir_system *system)
{
	bool held = weir__enter(&system->lock);
	struct weir__cell *root = weir__cell_find(system, system->root), *each;
	bool right = true;

	for (each = root; each && right; each = next_below(system, root, each))
		right = check_cell(system, each);
	weir__leave(&system->lock, held);
	return right;
}
