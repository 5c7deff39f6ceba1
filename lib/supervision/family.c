/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a parent's record has of its children: counts of them, and lists of
 * some. All under the system's lock.
 */
#include "supervision/family.h"

#include <assert.h>

/* --- Coming and going --------------------------------------------------- */

static struct weir__family *family_of(struct weir__cell *parent)
{
	struct weir__record *record = weir__record_of(parent);

	assert(record->slot != WEIR__NO_CELL);
	return &record->family;
}

/* Adds `n` to the counts of the parent that depend on the cell's state and
 * part. */
static void count(struct weir__family *family, const struct weir__cell *cell,
		  uint32_t n)
{
	if (weir__part_waited_for(cell->part))
		family->n_stopping += n;
	if (cell->state != WEIR__CELL_SPAWNED)
		family->n_seen += n;
}

void weir__family_link(struct weir_system *system, struct weir__cell *parent,
		       struct weir__cell *next, struct weir__cell *cell)
{
	weir__tree_link(&system->slots, &parent->kin, next ? &next->kin : NULL,
			&cell->kin);
	count(family_of(parent), cell, 1);
}

void weir__family_unlink(struct weir_system *system, struct weir__cell *cell)
{
	count(family_of(weir__cell_parent(system, cell)), cell, UINT32_MAX);
	weir__tree_unlink(&system->slots, &cell->kin);
}

void weir__family_show(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *parent;

	/* its first slice has come before */
	if (cell->state != WEIR__CELL_SPAWNED)
		return;
	(void)weir__cell_step(cell, WEIR__LIFE_SHOW);
	parent = weir__cell_parent(system, cell);
	if (parent)
		family_of(parent)->n_seen++;
}

/* --- Lists of children ---------------------------------------------------- */

void weir__family_add(struct weir_system *system, uint32_t *list,
		      struct weir__cell *cell, bool front)
{
	uint32_t slot = weir__cell_slot(system, cell);
	struct weir__cell *first, *last;

	assert(cell->work == WEIR__NO_CELL);
	if (*list == WEIR__NO_CELL) {
		cell->work = slot;
		cell->work_prev = slot;
		*list = slot;
		return;
	}
	first = weir__cell_at(system, *list);
	last = weir__cell_at(system, first->work_prev);
	cell->work = *list;
	cell->work_prev = first->work_prev;
	last->work = slot;
	first->work_prev = slot;
	if (front)
		*list = slot;
}

static void take_first(uint32_t *list, uint32_t slot, uint32_t next)
{
	if (*list == slot)
		*list = next == slot ? WEIR__NO_CELL : next;
}

void weir__family_remove(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__family *family;
	uint32_t slot;

	if (cell->work == WEIR__NO_CELL)
		return;
	slot = weir__cell_slot(system, cell);
	family = &weir__record_of(weir__cell_parent(system, cell))->family;
	take_first(&family->failed, slot, cell->work);
	take_first(&family->halting, slot, cell->work);
	take_first(&family->halted, slot, cell->work);
	take_first(&family->going, slot, cell->work);
	weir__cell_at(system, cell->work)->work_prev = cell->work_prev;
	weir__cell_at(system, cell->work_prev)->work = cell->work;
	cell->work = WEIR__NO_CELL;
	cell->work_prev = WEIR__NO_CELL;
}

void weir__part_change(struct weir_system *system, struct weir__cell *cell,
		       enum weir__part_event event)
{
	const struct weir__part_step step = weir__part_step(cell->part, event);
	const uint8_t old = cell->part;
	struct weir__cell *parent;
	struct weir__family *family;

	assert(step.possible);
	if (step.part == old && step.list == WEIR__PART_LIST_AS_IT_IS)
		return;
	parent = weir__cell_parent(system, cell);
	if (step.list != WEIR__PART_LIST_AS_IT_IS)
		weir__family_remove(system, cell);
	cell->part = step.part;
	if (!parent)
		return;
	family = family_of(parent);
	family->n_stopping -= weir__part_waited_for(old);
	family->n_stopping += weir__part_waited_for(step.part);
	if (step.list == WEIR__PART_LIST_HALTING)
		weir__family_add(system, &family->halting, cell, true);
	else if (step.list == WEIR__PART_LIST_HALTED)
		weir__family_add(system, &family->halted, cell, true);
}

void weir__cell_stop(struct weir__cell *cell, bool kill)
{
	weir__part_change(weir__record_of(cell)->system, cell,
			  WEIR__PART_TELL_STOP);
	weir__cell_order(cell, kill ? WEIR__ORDER_KILL : WEIR__ORDER_STOP);
}
