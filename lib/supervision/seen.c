/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a system tells a look of one of its actors. The look holds the lock of
 * the registry that the actor is in, so the actor is not released, its cell is
 * in use, and the system is there. Everywhere else the system's lock comes
 * before that of a registry: so it is only tried here.
 */
#include "supervision/seen.h"

#include <stdio.h>

#include "actor/look.h"
#include "supervision/family.h"
#include "supervision/reference.h"

#define LOOKED_AT 32u /* children, for one that has yet to end */

/* The first child that the actor waits for, or NULL. */
static const struct weir__cell *awaited_child(const struct weir_system *system,
					      const struct weir__cell *cell)
{
	const struct weir__cell *first = weir__cell_first(system, cell), *child;
	uint32_t n = 0;

	for (child = first; child && n < LOOKED_AT; n++) {
		if (weir__part_waited_for(child->part))
			return child;
		child = weir__cell_next(system, child);
	}
	return first;
}

/* The child with whose failure the actor has failed, or NULL. */
static const struct weir__cell *culprit_of(const struct weir_system *system,
					   const struct weir__cell *cell)
{
	uint32_t slot = weir__record_of(cell)->family.escalated;
	const struct weir__cell *child =
		slot == WEIR__NO_CELL ? NULL : weir__cell_at(system, slot);

	return child && child->state == WEIR__CELL_ESCALATED &&
			       weir__cell_parent(system, child) == cell
		       ? child
		       : NULL;
}

/* The next one above that is suspended for a reason of its own, or NULL. */
static const struct weir__cell *suspender_of(const struct weir_system *system,
					     const struct weir__cell *cell)
{
	do
		cell = weir__cell_parent(system, cell);
	while (cell && !cell->own);
	return cell;
}

/* Of the siblings that restart together, one that has yet to halt. */
static const struct weir__cell *halting_sibling(
	const struct weir_system *system, const struct weir__cell *cell)
{
	const struct weir__cell *parent = weir__cell_parent(system, cell);
	uint32_t slot = parent ? weir__record_of(parent)->family.halting
			       : WEIR__NO_CELL;

	return slot == WEIR__NO_CELL ? parent : weir__cell_at(system, slot);
}

/* Why the actor is halted, and who it waits for. */
static void see_halt(const struct weir_system *system,
		     const struct weir__cell *cell,
		     struct weir__child_look *look)
{
	const struct weir__cell *holder = NULL;

	switch (cell->state) {
	case WEIR__CELL_FAILED:
	case WEIR__CELL_DUE:
	case WEIR__CELL_ESCALATED:
		look->wait = WEIR_WAIT_VERDICT;
		holder = weir__cell_parent(system, cell);
		break;
	case WEIR__CELL_DELAYED:
		look->wait = WEIR_WAIT_BACKOFF;
		look->seen->until_ns =
			weir__cell_timer_at(weir__record_of(cell)->timer);
		break;
	case WEIR__CELL_RESTARTING:
	case WEIR__CELL_DRAINING:
	case WEIR__CELL_STOPPING:
		look->wait = WEIR_WAIT_CHILDREN;
		holder = awaited_child(system, cell);
		break;
	case WEIR__CELL_HALTED:
		look->wait = WEIR_WAIT_SIBLINGS;
		holder = halting_sibling(system, cell);
		break;
	default:
		look->wait = WEIR_WAIT_ABOVE;
		holder = suspender_of(system, cell);
		break;
	}
	if (holder)
		look->holder = holder->actor;
}

/*
 * Its own error: a cell in one of these states keeps it, and gives it up behind
 * a change of its state; else that of its last restart.
 */
static WEIR__LOOKS const struct weir_error *error_of(
	const struct weir__cell *cell)
{
	if (weir__life_failed(cell->state) ||
	    cell->state == WEIR__CELL_RESTARTING ||
	    cell->state == WEIR__CELL_HALTED || weir__life_stops(cell->state))
		return cell->actor->error;
	return weir__record_of(cell)->restarted ? weir__record_of(cell)->cause
						: NULL;
}

static void see_cell(struct weir_system *system, struct weir__cell *cell,
		     struct weir__child_look *look)
{
	struct weir_seen_child *seen = look->seen;
	const struct weir__cell *parent, *culprit;
	const struct weir_error *error;

	look->starts = cell->state == WEIR__CELL_SPAWNED ||
		       weir__life_starts(cell->state);
	look->leaves = weir__life_over(cell->state);
	if (cell->state == WEIR__CELL_ENDED)
		return; /* it has left the tree */
	if (look->names)
		weir__path_put(system, cell, seen->path, sizeof(seen->path));
	parent = weir__cell_parent(system, cell);
	seen->parent_actor = parent ? parent->actor : NULL;
	seen->restarts = weir__record_of(cell)->restarted;
	error = error_of(cell);
	if (error)
		seen->error = error->code;
	if (error && look->names)
		(void)snprintf(seen->message, sizeof(seen->message), "%s",
			       error->message);
	culprit = weir__life_failed(cell->state) ? culprit_of(system, cell)
						 : NULL;
	seen->culprit_actor = culprit ? culprit->actor : NULL;
	if (look->wait == WEIR_WAIT_PARENT)
		see_halt(system, cell, look);
}

bool weir__child_look(const struct weir_actor *actor,
		      struct weir__child_look *look)
{
	struct weir_system *system = weir__system_of(actor);

	if (!weir__trylock(&system->lock.plain))
		return false;
	/* not its flags, which are its owner's */
	see_cell(system,
		 weir_container_of(actor->u.child, struct weir__cell, child),
		 look);
	weir__unlock(&system->lock.plain);
	return true;
}
