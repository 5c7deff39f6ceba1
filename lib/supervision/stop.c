/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stopping (B5): first the children, then the actor, in the actor's slice.
 * weir_system_stop_actor() only gives the order.
 *
 * Rule numbers like B5 are those of docs/conformance/supervision.md.
 */
#include "supervision/child.h"

#include <assert.h>
#include <errno.h>

#include "executor/registry.h"
#include "supervision/change.h"
#include "supervision/family.h"
#include "supervision/lifecycle.h"
#include "supervision/siblings.h"
#include "supervision/death_watch.h"

void weir__child_end_now(struct weir_actor *actor)
{
	assert(!(actor->flags & WEIR__ACTOR_LEAVING));
	assert(weir__life_stops(weir__child_state(actor)));
	weir__actor_set(actor, WEIR__ACTOR_ENDING);
	weir__actor_break(actor);
}

/* How the actor stops that was to stop by `event`. Under the lock. */
static enum weir__life_event how_it_stops(const struct weir__cell *cell,
					  enum weir__life_event event)
{
	const bool drains = cell->drain != WEIR__DRAIN_NONE;

	if (weir__record_of(cell)->shutdown_ns == WEIR_SHUTDOWN_BRUTAL)
		return WEIR__LIFE_KILL;
	/* Suspended, its children would not end by themselves. */
	if (drains && cell->suspends)
		return WEIR__LIFE_KILL;
	return drains && event != WEIR__LIFE_KILL ? WEIR__LIFE_DRAIN : event;
}

void weir__child_stop(struct weir_actor *actor, enum weir__life_event event)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held, waits;

	assert(!(actor->flags & WEIR__ACTOR_LEAVING));
	weir__actor_set(actor, WEIR__ACTOR_CLOSED);
	/* first of all: the actor gets no notices of its children's ends
	 * (C10) */
	held = weir__watch_none_and_enter(actor);
	weir__cell_change(system, cell, how_it_stops(cell, event));
	waits = cell->kin.first != WEIR__NO_CELL;
	weir__leave(&system->lock, held);
	if (!waits)
		weir__child_end_now(actor);
}

/*
 * Calls `stopping`, if the actor can answer. True: it will end by itself,
 * before its deadline. A suspended actor cannot, neither now nor later
 * (life.c).
 */
static bool stop_ask(struct weir_actor *actor, uint8_t state)
{
	const struct weir_lifecycle *hooks = weir__lifecycle(actor);
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held, waits;

	if (weir__actor_halted(actor))
		return false;
	if (state == WEIR__CELL_FINISHING)
		return true;
	if (!hooks->stopping || hooks->stopping(actor) != 1)
		return false;
	held = weir__enter(&system->lock);
	waits = !cell->suspends &&
		weir__cell_set_deadline(system, cell, WEIR_SHUTDOWN_DEFAULT_NS);
	if (waits)
		(void)weir__cell_step(cell, WEIR__LIFE_PROMISE);
	weir__leave(&system->lock, held);
	return waits;
}

/* Notes that it is killed, unless it has failed or ended before. */
static void note_kill(const struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held = weir__enter(&system->lock);

	if (!cell->kind)
		cell->kind = WEIR__FORCED;
	weir__leave(&system->lock, held);
}

void weir__child_ordered_to_stop(struct weir_actor *actor, enum weir__stop how)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool leaves = actor->flags & WEIR__ACTOR_LEAVING, held;
	uint8_t state = weir__child_state(actor);

	if (weir__record_now(actor)->shutdown_ns == WEIR_SHUTDOWN_BRUTAL)
		how = WEIR__STOP_KILL;
	if (how == WEIR__STOP_KILL)
		note_kill(actor);
	/* The actor stops already: the order can only make that a kill. */
	if (weir__life_stops(state)) {
		if (how != WEIR__STOP_KILL)
			return;
		held = weir__enter(&system->lock);
		weir__cell_change(system, cell, WEIR__LIFE_KILL);
		weir__leave(&system->lock, held);
		return;
	}
	if (how == WEIR__STOP_ASKING && !leaves && stop_ask(actor, state))
		return;
	if (!actor->error && !leaves)
		actor->error = weir_error_of(-ECANCELED);
	weir__actor_clear(actor, WEIR__ACTOR_LEAVING);
	weir__child_stop(actor, how == WEIR__STOP_KILL ? WEIR__LIFE_KILL
						       : WEIR__LIFE_STOP);
}

/* --- For everybody -------------------------------------------------------- */

int weir_system_stop_actor(struct weir_system *system, struct weir_actor_id id)
{
	struct weir__cell *cell;
	bool held;
	int rc;

	if (!system)
		return -EINVAL;
	held = weir__enter(&system->lock);
	rc = weir__cell_find_mortal(system, id, &cell);
	if (rc == 0)
		weir__cell_stop(cell, false);
	weir__leave(&system->lock, held);
	return rc;
}

int weir_actor_stop_children(struct weir_actor *self)
{
	struct weir_system *system;
	bool held;

	if (!self || !(self->flags & WEIR__ACTOR_CHILD))
		return -EINVAL;
	if (!weir__owned(self))
		return -EPERM;
	system = weir__system_of(self);
	held = weir__enter(&system->lock);
	weir__children_stop(system, weir__cell_of(self), false);
	weir__leave(&system->lock, held);
	return 0;
}
