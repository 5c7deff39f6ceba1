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

#include "base/clock.h"
#include "executor/registry.h"
#include "supervision/cell_timer.h"
#include "supervision/lifecycle.h"
#include "supervision/siblings.h"
#include "supervision/tree.h"
#include "supervision/walk.h"
#include "supervision/watch.h"

void weir__child_end_now(struct weir_actor *actor)
{
	assert(!(actor->flags & WEIR__ACTOR_LEAVING));
	assert(weir__child_state(actor) == WEIR__CELL_STOPPING);
	weir__actor_set(actor, WEIR__ACTOR_ENDING);
	weir__actor_break(actor);
}

/*
 * Sets the alarm that kills the actor when its time to stop is over. False: no
 * memory.
 */
static bool set_deadline(struct weir_system *system, struct weir__cell *cell)
{
	uint64_t shutdown_ns = weir__record_of(cell)->shutdown_ns, at_ns;

	if (!shutdown_ns)
		return true;
	at_ns = weir__clock_after(weir_executor_now(system->executor),
				  shutdown_ns);
	return at_ns == WEIR_FOREVER ||
	       weir__cell_timer_set(system, cell, at_ns);
}

/*
 * The actor drains: its children end by themselves. Stopped are those that have
 * failed, which would wait for an answer, and those of /system that do not
 * drain.
 */
static void let_children_end(struct weir_system *system,
			     struct weir__cell *cell)
{
	struct weir__cell *child;
	struct weir__walk walk;

	weir__walk_begin(system, &walk, weir__tree_first(system, cell));
	while ((child = weir__walk_next(system, &walk)))
		if (weir__life_failed(child->state) ||
		    (!(child->flags & WEIR__CELL_LAST) &&
		     weir__registry_running(child->actor->executor->registry)))
			weir__cell_stop(child, false);
}

/* `asked`: its `stopping` was, and its deadline is set already. */
static void stop_children(struct weir_system *system, struct weir__cell *cell,
			  bool kill, bool asked)
{
	kill |= weir__record_of(cell)->shutdown_ns == WEIR_SHUTDOWN_BRUTAL;
	if (cell->flags & WEIR__CELL_LAST) {
		/* Suspended, they would not (see also tree.c). */
		kill |= cell->suspends > 0;
		if (!kill) {
			let_children_end(system, cell);
			return;
		}
	}
	if (!kill && !asked && cell->first != WEIR__NO_CELL)
		kill = !set_deadline(system, cell);
	weir__children_stop(system, cell, kill);
}

void weir__child_stop(struct weir_actor *actor, enum weir__life_event event)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held, waits, asked;

	assert(!(actor->flags & WEIR__ACTOR_LEAVING));
	weir__actor_set(actor, WEIR__ACTOR_CLOSED);
	/* first of all: the actor gets no notices of its children's ends
	 * (C10) */
	weir__watch_none(actor);
	held = weir__enter(system);
	weir__family_untell(system, cell);
	asked = cell->state == WEIR__CELL_FINISHING;
	if (!asked) /* the timer is that of a back-off */
		weir__cell_timer_clear(system, cell);
	(void)weir__cell_step(cell, event);
	weir__actor_suspend(actor, WEIR__GATE_SUSPENDED_PARENT);
	stop_children(system, cell, event == WEIR__LIFE_KILL, asked);
	waits = cell->first != WEIR__NO_CELL;
	weir__leave(system, held);
	if (!waits)
		weir__child_end_now(actor);
}

/*
 * Calls `stopping`, if the actor can answer. True: it will end by itself,
 * before its deadline. A suspended actor cannot, neither now nor later
 * (tree.c).
 */
static bool stop_ask(struct weir_actor *actor)
{
	const struct weir_lifecycle *hooks = weir__lifecycle(actor);
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held, waits;

	if (weir__actor_halted(actor))
		return false;
	if (weir__child_state(actor) == WEIR__CELL_FINISHING)
		return true;
	if (!hooks->stopping || hooks->stopping(actor) != 1)
		return false;
	held = weir__enter(system);
	(void)weir__cell_step(cell, WEIR__LIFE_PROMISE);
	waits = !cell->suspends && set_deadline(system, cell);
	weir__leave(system, held);
	return waits;
}

void weir__child_ordered_to_stop(struct weir_actor *actor, enum weir__stop how)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool leaves = actor->flags & WEIR__ACTOR_LEAVING, held;

	if (weir__record_now(actor)->shutdown_ns == WEIR_SHUTDOWN_BRUTAL)
		how = WEIR__STOP_KILL;
	/* The actor stops already: the order can only make that a kill. */
	if (weir__child_state(actor) == WEIR__CELL_STOPPING) {
		if (how != WEIR__STOP_KILL)
			return;
		held = weir__enter(system);
		weir__children_stop(system, cell, true);
		weir__leave(system, held);
		return;
	}
	if (how == WEIR__STOP_ASKING && !leaves && stop_ask(actor))
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
	held = weir__enter(system);
	rc = weir__cell_find_mortal(system, id, &cell);
	if (rc == 0)
		weir__cell_stop(cell, false);
	weir__leave(system, held);
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
	held = weir__enter(system);
	weir__children_stop(system, weir__cell_of(self), false);
	weir__leave(system, held);
	return 0;
}
