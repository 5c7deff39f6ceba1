/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The children of one parent together. Those that stop or restart one after the
 * other (strategy->ordered) are flagged, GROUP_HALT and GROUP_GO, and every
 * change steps on: the last that is to halt; when there is none, the first that
 * is to go. All under the lock.
 */
#include "supervision/child.h"

#include <assert.h>

#include "supervision/supervisor.h"

void weir__group_changed(struct weir_system *system,
			 const struct weir__cell *cell)
{
	struct weir__cell *parent = weir__tree_parent(system, cell);

	if (parent)
		weir__cell_order(parent, WEIR__ORDER_LOOK);
}

/* True: somebody halts, or has just been told to. */
static bool step_halting(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *child = weir__tree_last(system, cell);

	while (child && !(child->flags & WEIR__CELL_GROUP_HALT))
		child = weir__tree_prev(system, child);
	if (!child)
		return false;
	/* it is out of the list before it has ended */
	assert(child->actor);
	if (child->flags & WEIR__CELL_TOLD)
		return true;
	if (child->flags & WEIR__CELL_GROUP_GO) {
		child->flags |= WEIR__CELL_TOLD;
		weir__cell_order(child, WEIR__ORDER_HALT);
	} else {
		weir__cell_stop(child, false);
	}
	return true;
}

void weir__group_step(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *child;

	if (!weir__strategy(cell->actor)->ordered || step_halting(system, cell))
		return;
	/* D1.2: one whose start has failed is tried again first. */
	if (cell->failed != WEIR__NO_CELL)
		return;
	child = weir__tree_first(system, cell);
	while (child && !(child->flags & WEIR__CELL_GROUP_GO))
		child = weir__tree_next(system, child);
	if (child && child->state == WEIR__CELL_HALTED)
		weir__cell_order(child, WEIR__ORDER_GO);
}

void weir__children_stop(struct weir_system *system, struct weir__cell *cell,
			 bool kill)
{
	bool ordered = !kill && weir__strategy(cell->actor)->ordered;
	struct weir__cell *child;

	for (child = weir__tree_first(system, cell); child;
	     child = weir__tree_next(system, child)) {
		child->flags &= (uint16_t)~WEIR__CELL_GROUP_GO;
		if (ordered)
			child->flags |= WEIR__CELL_GROUP_HALT;
		else if (kill || !(child->flags & WEIR__CELL_TOLD))
			weir__cell_stop(child, kill);
	}
	if (ordered)
		weir__group_step(system, cell);
}

bool weir__children_stopping(struct weir_system *system,
			     const struct weir__cell *cell)
{
	struct weir__cell *child;

	for (child = weir__tree_first(system, cell); child;
	     child = weir__tree_next(system, child))
		if (child->flags & (WEIR__CELL_TOLD | WEIR__CELL_GROUP_HALT))
			return true;
	return false;
}
