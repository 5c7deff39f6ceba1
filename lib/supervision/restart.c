/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Failing (B1), and the two ways in which a failed actor goes on: resuming
 * (B2.1) and restarting (B4). All in the actor's slice.
 *
 * Rule numbers like B1 are those of docs/conformance/supervision.md.
 */
#include "supervision/child.h"

#include <assert.h>
#include <errno.h>

#include "actor/actor.h"
#include "actor/in.h"
#include "actor/merge.h"
#include "actor/port.h"
#include "actor/port_set.h"
#include "inspect/trace.h"
#include "supervision/backoff.h"
#include "supervision/change.h"
#include "supervision/family.h"
#include "supervision/lifecycle.h"
#include "supervision/limit.h"
#include "supervision/siblings.h"
#include "supervision/death_watch.h"

/* --- Failing -------------------------------------------------------------- */

void weir__child_drop_failed_tokens(struct weir_actor *actor)
{
	struct weir_port *port;

	if (!(actor->flags & WEIR__ACTOR_FAILED))
		return;
	for (port = actor->ports; port; port = port->next)
		if (weir__in_of(port))
			weir__in_drop_failed(weir__in_of(port));
}

/*
 * The child of a group has failed: the group does not wait for it, unless it
 * must halt first. That order may have come before the start that has failed
 * now. Under the lock.
 */
static void fail_in_group(struct weir_system *system, struct weir__cell *cell)
{
	if (!weir__part_in_line(cell->part))
		weir__part_change(system, cell, WEIR__PART_LEAVE);
	else if (cell->part == WEIR__PART_TURN_HALT)
		weir__cell_order(cell, WEIR__ORDER_HALT);
	else if (cell->part == WEIR__PART_TURN_STOP)
		weir__cell_order(cell, WEIR__ORDER_STOP);
}

void weir__child_fail(struct weir_actor *actor, uint8_t kind)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held;

	/* the supervisor decides by the error; only an actor that has ended by
	 * itself has none */
	assert(actor->error || kind == WEIR__FINISHED);
	weir__actor_set(actor, WEIR__ACTOR_CLOSED);
	held = weir__enter(&system->lock);
	if (!cell->kind)
		cell->kind = kind;
	fail_in_group(system, cell);
	/* the supervisor is told under the same lock; its answer waits for this
	 * slice */
	weir__cell_change(system, cell, WEIR__LIFE_FAIL);
	weir__leave(&system->lock, held);
}

/*
 * Whether the actor can restart: none of its in-ports has ended for good, and
 * if it has out-ports, at least one is not cancelled.
 */
static bool can_restart(const struct weir_actor *actor)
{
	const struct weir_port *port;
	bool puts = false, taken_from = false;

	for (port = actor->ports; port; port = port->next) {
		if (weir__in_of(port) && (port->flags & WEIR__PORT_ENDED))
			return false;
		if (!weir__out_of(port))
			continue;
		puts = true;
		taken_from |= !(port->flags & WEIR__PORT_ENDED);
	}
	return taken_from || !puts;
}

bool weir__child_finishes_to_restart(const struct weir_actor *actor)
{
	return weir__cell_of(actor)->restart == WEIR_RESTART_PERMANENT &&
	       can_restart(actor) && !weir__child_drains(actor);
}

/* --- Resuming ------------------------------------------------------------- */

void weir__child_ordered_to_resume(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	struct weir_error *error = actor->error;
	bool held;

	if (!weir__child_steps(actor, WEIR__LIFE_RESUME))
		return;
	weir__child_drop_failed_tokens(actor);
	weir__actor_clear(actor, WEIR__ACTOR_FAILED | WEIR__ACTOR_CLOSED);
	held = weir__enter(&system->lock);
	/* under the lock: a look may be reading it */
	actor->error = NULL;
	/* claim 2 of cell.h: a failed actor is suspended */
	assert(cell->own);
	weir__cell_change(system, cell, WEIR__LIFE_RESUME);
	weir__leave(&system->lock, held);
	weir_error_unref(error);
}

/* --- Restarting ----------------------------------------------------------- */

/* Its hook, or by default: the children stop, unwatched, and post_stop. */
static void pre_restart(struct weir_actor *actor)
{
	const struct weir_lifecycle *hooks = weir__lifecycle(actor);
	struct weir_system *system = weir__system_of(actor);
	bool held;

	if (hooks->pre_restart) {
		weir__child_report(actor,
				   hooks->pre_restart(actor, actor->error));
		return;
	}
	weir__watch_no_children(actor);
	held = weir__enter(&system->lock);
	weir__children_stop(system, weir__cell_of(actor), false);
	weir__leave(&system->lock, held);
	weir__child_post_stop(actor);
}

/* What was put aside is for the actor that begins anew to look at. */
static void unstash(struct weir_actor *actor)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next)
		if (weir__in_of(port))
			weir__stash_all_back(weir__in_of(port));
}

/* Why the actor restarts with its siblings: a reference. Under the lock. */
static struct weir_error *cause_of_parent(struct weir_system *system,
					  const struct weir__cell *cell)
{
	const struct weir__cell *parent = weir__cell_parent(system, cell);
	struct weir_error *cause = parent ? weir__record_of(parent)->cause
					  : NULL;

	return cause ? weir_error_ref(cause) : weir_error_of(-ECANCELED);
}

void weir__child_ordered_to_restart(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held, waits, up = weir__cell_up(cell);

	/* An actor that stops is not restarted (B5.3); its group waits for its
	 * end. */
	if (!weir__child_steps(actor, WEIR__LIFE_RESTART))
		return;
	weir__actor_clear(actor, WEIR__ACTOR_LEAVING);
	weir__actor_set(actor, WEIR__ACTOR_CLOSED);
	held = weir__enter(&system->lock);
	if (!actor->error && cell->kind != WEIR__FINISHED)
		actor->error = cause_of_parent(system, cell);
	weir__cell_change(system, cell, WEIR__LIFE_RESTART);
	weir__child_down(cell);
	weir__leave(&system->lock, held);
	if (up)
		pre_restart(actor);
	weir__child_drop_failed_tokens(actor);
	unstash(actor);
	held = weir__enter(&system->lock);
	waits = weir__children_stopping(cell);
	weir__leave(&system->lock, held);
	if (!waits)
		weir__child_halted(actor);
}

/* The first turn again, and the ports of the beginning. */
static void unbecome(struct weir_actor *actor)
{
	if (actor->flags & WEIR__ACTOR_BECAME)
		actor->turns = weir__actor_first_turns(actor);
	weir__actor_clear(actor, WEIR__ACTOR_BECAME);
	weir__ports_reset_set(actor);
}

/* Its back-off, if it had one, is measured from here. Under the lock. */
static void measure_backoff(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *parent = weir__cell_parent(system, cell);
	struct weir__record *record = weir__record_of(cell);
	const struct weir_backoff *backoff =
		parent ? weir__strategy(parent->actor)->backoff : NULL;

	if (backoff && record->slot != WEIR__NO_CELL)
		weir__backoff_restarted(backoff, &record->backoff_ns,
					weir_executor_now(system->executor));
}

/*
 * Before the new start. Counts the restart, if there is memory for that, and
 * keeps its cause for the children that exist now, which survive it. Returns
 * the cause kept before, to be dropped. Under the lock.
 */
static struct weir_error *before_start(struct weir_system *system,
				       struct weir__cell *cell,
				       struct weir_error *cause)
{
	struct weir__record *record = weir__record_make(system, cell);

	cell->kind = 0;
	if (!record)
		return NULL;
	record->restarted++;
	/* As a new supervisor it has restarted no child yet. */
	weir__restarts_free(record->all, system->options.allocator);
	record->all = NULL;
	measure_backoff(system, cell);
	return weir__record_keep(record, cause);
}

/* The ends of streams are told again: the new start has not been told of
 * them. */
static void forget_ends(const struct weir_actor *actor)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next)
		if (weir__in_of(port))
			weir__in_end_unheard(weir__in_of(port));
}

void weir__child_tell_ends(struct weir_actor *actor)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		/* Tested here, because a handler may have failed the actor. */
		if ((actor->flags & WEIR__ACTOR_LEAVING) ||
		    weir__actor_halted(actor))
			return;
		if (weir__in_of(port))
			weir__in_tell_end(weir__in_of(port));
	}
}

/* The GO is done, unless the group has ordered another HALT and GO since. Under
 * the lock. */
static void gone(struct weir_system *system, struct weir__cell *cell)
{
	if (cell->part != WEIR__PART_GO && cell->part != WEIR__PART_GO_STOP)
		return;
	weir__part_change(system, cell, WEIR__PART_LEAVE);
	weir__group_changed(system, cell);
}

/* The second half of B4. */
static void begin_anew(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	struct weir_error *cause = actor->error, *old;
	enum weir__start how;
	bool held, well;

	held = weir__enter(&system->lock);
	/* no code of the old state runs any more, and none of the new
	 * state yet */
	assert(cell->state == WEIR__CELL_RENEWING && cell->own &&
	       !weir__cell_up(cell));
	old = before_start(system, cell, cause);
	weir__trace_restart(actor);
	how = cell->started ? WEIR__START_RESTART : WEIR__START_CREATE;
	weir__leave(&system->lock, held);
	weir_error_unref(old);
	actor->error = NULL;
	weir__actor_clear(actor, WEIR__ACTOR_FAILED | WEIR__ACTOR_CLOSED);
	unbecome(actor);
	forget_ends(actor);
	well = weir__child_start(actor, cause, how);
	weir_error_unref(cause);
	held = weir__enter(&system->lock);
	if (!well) {
		if (actor->flags & WEIR__ACTOR_FAILED)
			cell->kind = how == WEIR__START_RESTART
					     ? WEIR_FAILURE_RESTART
					     : WEIR_FAILURE_START;
	} else {
		weir__child_started(cell);
		gone(system, cell);
		weir__cell_change(system, cell, WEIR__LIFE_START);
	}
	weir__leave(&system->lock, held);
}

void weir__child_halted(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held = weir__enter(&system->lock);
	bool halts = weir__part_in_line(cell->part);

	weir__cell_change(system, cell,
			  halts ? WEIR__LIFE_HALT : WEIR__LIFE_RENEW);
	if (halts) {
		weir__part_change(system, cell, WEIR__PART_HALTS);
		weir__group_changed(system, cell);
	}
	weir__leave(&system->lock, held);
	if (!halts)
		begin_anew(actor);
}

void weir__child_ordered_to_go(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held = weir__enter(&system->lock);
	bool goes = weir__cell_step(cell, WEIR__LIFE_GO);

	weir__leave(&system->lock, held);
	if (goes)
		begin_anew(actor);
}
