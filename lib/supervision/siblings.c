/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children of one parent that stop or restart one after the other
 * (strategy->ordered), as their parts say (part.h). After every change the next
 * step is made: the last child in line gets its order; if there is none, the
 * first child that is to go. All under the lock.
 *
 * The children are in lists of their parent's record, so the cost of a step
 * does not depend on their number. Children are put into `halting` in order of
 * spawning, each in front: so the last spawned is first. From `halting` they
 * move to the front of `halted`: so there the first spawned is first. A verdict
 * on several children is on all of them, or on all behind one. So children that
 * halted before the verdict and have no part in it were spawned before those
 * that have a part: they are in `going`.
 *
 * Rule numbers like D1.2 are those of docs/conformance/supervision.md.
 */
#include "supervision/siblings.h"

#include <assert.h>

#include "supervision/family.h"
#include "supervision/lifecycle.h"

/* --- Who waits for an answer ---------------------------------------------- */

void weir__family_tell(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *parent = weir__cell_parent(system, cell);

	assert(cell->state == WEIR__CELL_FAILED ||
	       cell->state == WEIR__CELL_DUE);
	/* A parent that stops answers no failures; root has no parent. */
	if (!parent || weir__life_stops(parent->state)) {
		weir__cell_stop(cell, false);
		return;
	}
	if (cell->work == WEIR__NO_CELL)
		weir__family_add(system,
				 &weir__record_of(parent)->family.failed, cell,
				 false);
	weir__cell_order(parent, WEIR__ORDER_LOOK);
}

void weir__family_untell(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *parent;

	/* a child in a group waits for its group */
	if (cell->work == WEIR__NO_CELL || weir__part_with_others(cell->part))
		return;
	parent = weir__cell_parent(system, cell);
	weir__family_remove(system, cell);
	/* A group may have waited for its verdict. */
	weir__cell_order(parent, WEIR__ORDER_LOOK);
}

/* --- One after the other -------------------------------------------------- */

void weir__group_changed(struct weir_system *system,
			 const struct weir__cell *cell)
{
	struct weir__cell *parent = weir__cell_parent(system, cell);

	if (parent)
		weir__cell_order(parent, WEIR__ORDER_LOOK);
}

void weir__group_stop(struct weir_system *system, struct weir__cell *cell,
		      bool ordered)
{
	weir__part_change(system, cell,
			  ordered || weir__part_in_line(cell->part)
				  ? WEIR__PART_QUEUE_STOP
				  : WEIR__PART_LEAVE);
}

void weir__group_again(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__family *family = &weir__record_of(cell)->family;
	struct weir__cell *first, *more, *last;
	uint32_t slot = family->halted;

	if (slot == WEIR__NO_CELL)
		return;
	family->halted = WEIR__NO_CELL;
	if (family->going == WEIR__NO_CELL) {
		family->going = slot;
		return;
	}
	first = weir__cell_at(system, family->going);
	more = weir__cell_at(system, slot);
	last = weir__cell_at(system, first->work_prev);
	last->work = slot;
	weir__cell_at(system, more->work_prev)->work = family->going;
	first->work_prev = more->work_prev;
	more->work_prev = weir__cell_slot(system, last);
}

/* True: the child has halted already, and can wait for GO with the others. */
static bool has_halted(const struct weir__cell *child)
{
	return child->state == WEIR__CELL_HALTED &&
	       (child->part == WEIR__PART_LINE_HALT ||
		child->part == WEIR__PART_TURN_HALT);
}

/* True: a child halts, or has just been told to. */
static bool step_halting(struct weir_system *system, struct weir__cell *cell)
{
	const struct weir__family *family = &weir__record_of(cell)->family;
	struct weir__cell *child;

	for (;;) {
		if (family->halting == WEIR__NO_CELL)
			return false;
		child = weir__cell_at(system, family->halting);
		if (!has_halted(child))
			break;
		weir__part_change(system, child, WEIR__PART_PASS_HALTED);
		weir__breathe(&system->lock);
	}
	/* a child leaves the list before it has ended */
	assert(child->actor);
	if (child->part == WEIR__PART_LINE_HALT) {
		weir__part_change(system, child, WEIR__PART_TELL_HALT);
		weir__cell_order(child, WEIR__ORDER_HALT);
	} else if (child->part == WEIR__PART_LINE_STOP) {
		weir__cell_stop(child, false);
	}
	return true;
}

void weir__group_step(struct weir_system *system, struct weir__cell *cell)
{
	const struct weir__family *family = &weir__record_of(cell)->family;
	struct weir__cell *child;

	if (!weir__strategy(cell->actor)->ordered || step_halting(system, cell))
		return;
	weir__group_again(system, cell);
	/* D1.2: a child whose start has failed is tried again first. */
	if (family->failed != WEIR__NO_CELL || family->going == WEIR__NO_CELL)
		return;
	child = weir__cell_at(system, family->going);
	if (child->state == WEIR__CELL_HALTED)
		weir__cell_order(child, WEIR__ORDER_GO);
}

void weir__children_stop(struct weir_system *system, struct weir__cell *cell,
			 bool kill)
{
	bool ordered = !kill && weir__strategy(cell->actor)->ordered;
	struct weir__cell *child;
	struct weir__walk walk;

	weir__children_begin(system, &walk, cell);
	while ((child = weir__children_next(system, &walk))) {
		weir__group_stop(system, child, ordered);
		if (!ordered && (kill || !weir__part_told(child->part)))
			weir__cell_stop(child, kill);
	}
	if (ordered)
		weir__group_step(system, cell);
}

bool weir__children_stopping(const struct weir__cell *cell)
{
	return weir__record_of(cell)->family.n_stopping > 0;
}
