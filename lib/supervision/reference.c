/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries about an actor by its id, and the id of an actor. Any thread, under
 * the system's lock.
 */
#include <weir/system.h>

#include <errno.h>

#include "supervision/tree.h"

int weir_system_children(struct weir_system *system, struct weir_actor_id id,
			 struct weir_actor_id *children, size_t max)
{
	struct weir__cell *cell, *child = NULL;
	bool held;
	size_t n = 0, seen = 0;

	if (!system || (!children && max))
		return -EINVAL;
	held = weir__enter(system);
	cell = weir__cell_find(system, id);
	if (cell) {
		child = weir__tree_first(system, cell);
		seen = weir__record_of(cell)->family.n_seen;
	}
	for (; child && n < max && n < seen;
	     child = weir__tree_next(system, child))
		if (child->state != WEIR__CELL_SPAWNED)
			children[n++] = weir__cell_ref(system, child);
	weir__leave(system, held);
	return cell ? (int)seen : -ESRCH;
}

struct weir_actor_id weir_system_parent(struct weir_system *system,
					struct weir_actor_id id)
{
	struct weir_actor_id parent = WEIR_ACTOR_ID_NONE;
	bool held;
	struct weir__cell *cell;

	if (!system)
		return parent;
	held = weir__enter(system);
	cell = weir__cell_find(system, id);
	if (cell)
		cell = weir__tree_parent(system, cell);
	if (cell)
		parent = weir__cell_ref(system, cell);
	weir__leave(system, held);
	return parent;
}

bool weir_system_is_alive(struct weir_system *system, struct weir_actor_id id)
{
	bool held;
	bool alive;

	if (!system)
		return false;
	held = weir__enter(system);
	alive = weir__cell_find(system, id);
	weir__leave(system, held);
	return alive;
}

int64_t weir_system_restarts(struct weir_system *system,
			     struct weir_actor_id id)
{
	bool held;
	struct weir__cell *cell;
	int64_t restarts = -ESRCH;

	if (!system)
		return restarts;
	held = weir__enter(system);
	cell = weir__cell_find(system, id);
	if (cell)
		restarts = (int64_t)weir__record_of(cell)->restarted;
	weir__leave(system, held);
	return restarts;
}

struct weir_actor *weir_system_actor(struct weir_system *system,
				     struct weir_actor_id id)
{
	struct weir_actor *actor = NULL;
	bool held;
	struct weir__cell *cell;

	if (!system)
		return NULL;
	held = weir__enter(system);
	cell = weir__cell_find(system, id);
	if (cell)
		actor = weir_actor_ref(cell->actor);
	weir__leave(system, held);
	return actor;
}

struct weir_system *weir_actor_system(const struct weir_actor *actor)
{
	/* not its flags, which are its owner's */
	if (!actor || !(ck_pr_load_32(&actor->gate) & WEIR__GATE_CHILD))
		return NULL;
	return weir__system_of(actor);
}

struct weir_actor_id weir_actor_self(const struct weir_actor *actor)
{
	struct weir_system *system = weir_actor_system(actor);
	bool held;
	struct weir_actor_id id;

	if (!system)
		return WEIR_ACTOR_ID_NONE;
	held = weir__enter(system);
	id = weir__cell_ref(system, (struct weir__cell *)actor->u.child);
	weir__leave(system, held);
	return id;
}
