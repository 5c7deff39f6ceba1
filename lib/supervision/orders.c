/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the actor layer asks of an actor of a system: to do what it is ordered,
 * to leave, to drain, and to end. All in its slice, as its owner; hooks are
 * called without the lock. The states are those of life.h.
 *
 * An actor is CLOSED from the moment it fails or is to stop, until it goes on
 * or ends: no event of its ports can end it once more. Its error stays in
 * actor->error meanwhile, where its supervisor reads it.
 *
 * Rule numbers like B2.1 are those of docs/conformance/supervision.md.
 */
#include "actor/ending.h"
#include "actor/firing.h"
#include "supervision/child.h"

#include <assert.h>
#include <errno.h>

#include "executor/registry.h"
#include "supervision/change.h"
#include "supervision/family.h"
#include "supervision/seen.h"
#include "supervision/siblings.h"
#include "supervision/reference.h"
#include "supervision/supervisor.h"
#include "supervision/telling.h"
#include "supervision/termination.h"
#include "supervision/death_watch.h"

/* With its executor, or its parent. */
static void end_drained(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	bool held;

	if (actor->flags & WEIR__ACTOR_LEAVING)
		return;
	held = weir__enter(&system->lock);
	weir__cell_of(actor)->kind = WEIR__DRAINED;
	weir__leave(&system->lock, held);
	weir__actor_end(actor, NULL, false);
}

static void ordered_to_start(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held, well;

	/* the thread that spawns it has not come to that yet */
	if (weir__child_state(actor) == WEIR__CELL_SPAWNED) {
		held = weir__enter(&system->lock);
		weir__family_show(system, cell);
		weir__leave(&system->lock, held);
	}
	/* the first order of all: stops that came with it are obeyed
	 * afterwards */
	well = weir__child_start(actor, NULL, WEIR__START_FIRST);
	held = weir__enter(&system->lock);
	assert(cell->state == WEIR__CELL_STARTING);
	if (well) {
		weir__child_started(cell);
		weir__cell_change(system, cell, WEIR__LIFE_START);
	} else if (actor->flags & WEIR__ACTOR_FAILED) {
		cell->kind = WEIR_FAILURE_START;
	}
	weir__leave(&system->lock, held);
}

/* Its children, its pending messages, its streams. */
static void look_alive(struct weir_actor *actor, bool drained)
{
	if (drained)
		end_drained(actor);
	weir__pending_check(actor);
	weir__supervise(actor);
	weir__child_tell_ends(actor);
}

/* Order LOOK: something has changed that concerns the actor. */
static void ordered_to_look(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held = weir__enter(&system->lock);
	bool alone, waits, drained;
	uint8_t state;

	weir__group_step(system, cell);
	state = cell->state;
	alone = cell->kin.first == WEIR__NO_CELL;
	waits = state == WEIR__CELL_RESTARTING && weir__children_stopping(cell);
	drained = alone && cell->drain == WEIR__DRAIN_ALONE;
	/* Asks the supervisor to restart the actor now. */
	if (state == WEIR__CELL_DUE)
		weir__family_tell(system, cell);
	weir__leave(&system->lock, held);
	if (weir__life_stops(state) && alone)
		weir__child_end_now(actor);
	else if (state == WEIR__CELL_RESTARTING && !waits)
		weir__child_halted(actor);
	else if (weir__life_runs(state))
		look_alive(actor, drained);
}

/* The orders of a verdict, and orders to stop. */
static void ordered_to_change(struct weir_actor *actor, uint8_t orders,
			      bool by_actor_stop)
{
	if (orders & WEIR__ORDER_KILL)
		weir__child_ordered_to_stop(actor, WEIR__STOP_KILL);
	else if (by_actor_stop)
		weir__child_ordered_to_stop(actor, WEIR__STOP_ACTOR);
	else if (orders & WEIR__ORDER_STOP)
		weir__child_ordered_to_stop(actor, WEIR__STOP_ASKING);
	if (orders & WEIR__ORDER_RESUME)
		weir__child_ordered_to_resume(actor);
	if (orders & (WEIR__ORDER_RESTART | WEIR__ORDER_HALT))
		weir__child_ordered_to_restart(actor);
	if (orders & WEIR__ORDER_GO)
		weir__child_ordered_to_go(actor);
}

static void ordered(struct weir_actor *actor, bool by_actor_stop)
{
	struct weir__cell *cell = weir__cell_of(actor);
	/* no fence: the data behind the orders is under the lock; orders are
	 * given under it, and we take it before any hook is called */
	uint8_t orders = ck_pr_fas_8(&cell->orders, 0);

	/* The executor has refused the actor: it can begin nothing any more. */
	if (actor->flags & WEIR__ACTOR_ENDING)
		return;
	if (orders & WEIR__ORDER_START)
		ordered_to_start(actor);
	ordered_to_change(actor, orders, by_actor_stop);
	if ((orders & WEIR__ORDER_LOOK) && !(actor->flags & WEIR__ACTOR_ENDING))
		ordered_to_look(actor);
}

/* --- Leaving -------------------------------------------------------------- */

static void leaving(struct weir_actor *actor)
{
	bool failed = actor->flags & WEIR__ACTOR_FAILED;
	enum weir__life_event event;
	uint8_t next;

	/* An actor that has failed, restarts or stops cannot end once more. */
	assert(!(actor->flags & WEIR__ACTOR_CLOSED));
	weir__actor_clear(actor, WEIR__ACTOR_LEAVING);
	event = failed || weir__child_finishes_to_restart(actor)
			? WEIR__LIFE_FAIL
			: WEIR__LIFE_STOP;
	next = weir__life_step(weir__child_state(actor), event).state;
	if (next == WEIR__CELL_STOPPING)
		weir__child_stop(actor, event);
	else
		weir__child_fail(actor,
				 failed ? WEIR_FAILURE_TURN : WEIR__FINISHED);
}

/* --- Draining ------------------------------------------------------------- */

/* B10.3: a guardian that ends when /user has, and no sooner. */
static bool outlives_user(const struct weir_system *system,
			  const struct weir__cell *cell)
{
	if (cell->kin.parent == WEIR__NO_CELL)
		return true;
	return cell->guardian &&
	       weir__cell_slot(system, cell) != system->user.slot;
}

/*
 * The actor ends after its children. So children on executors that do not
 * drain, and their descendants, drain with it. Under the lock.
 */
static void drain_children(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *child;
	struct weir__walk walk;

	weir__children_begin(system, &walk, cell);
	while ((child = weir__children_next(system, &walk))) {
		if (child->drain ||
		    !weir__registry_running(child->actor->executor->registry))
			continue;
		child->drain = WEIR__DRAIN_BEGUN;
		weir__actor_signal(child->actor, WEIR__SIGNAL_DRAIN);
	}
}

/*
 * The actor's executor drains, or that of its parent. An actor without children
 * ends; one with children ends when they have ended.
 */
static void drained(struct weir_actor *actor, bool source)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held = weir__enter(&system->lock);
	bool alone, outlives = outlives_user(system, cell);

	/* /system outlives /user, and is stopped by the system itself */
	if (outlives)
		source = false;
	/*
	 * First of all: children that end meanwhile tell the actor, and no
	 * child can be added. Not for /: when / stops, /system must stop, too.
	 */
	if (source)
		cell->drain = WEIR__DRAIN_ALONE;
	else if (cell->kin.parent != WEIR__NO_CELL && !cell->drain)
		cell->drain = WEIR__DRAIN_BEGUN;
	if (!outlives)
		drain_children(system, cell);
	alone = cell->kin.first == WEIR__NO_CELL;
	weir__leave(&system->lock, held);
	if (source && alone)
		end_drained(actor);
}

/* --- The end -------------------------------------------------------------- */

static void closing(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held, up = weir__cell_up(cell);

	weir__actor_set(actor, WEIR__ACTOR_CLOSED);
	weir__child_drop_failed_tokens(actor);
	if (!weir__life_stops(weir__child_state(actor))) {
		/* The executor has refused the actor, perhaps before its first
		 * slice: no child may be spawned any more. */
		held = weir__enter(&system->lock);
		weir__family_show(system, cell);
		weir__cell_change(system, cell, WEIR__LIFE_CLOSE);
		weir__leave(&system->lock, held);
	}
	if (up)
		weir__child_post_stop(actor);
}

static enum weir_end how_it_ended(const struct weir_actor *actor,
				  const struct weir__cell *cell)
{
	if (!actor->error)
		return WEIR_END_FINISHED;
	if (!(actor->flags & WEIR__ACTOR_FAILED))
		return WEIR_END_STOPPED;
	return cell->kind == WEIR_FAILURE_KILLED ? WEIR_END_KILLED
						 : WEIR_END_FAILED;
}

/* Somebody is to be told. Under the lock. */
static bool is_watched(const struct weir__cell *cell)
{
	const struct weir__record *record = weir__record_own(cell);

	return record && (record->watches.watchers || record->watches.watched);
}

static void child_ended(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	struct weir__death death = {.error = actor->error};
	bool held = weir__watch_none_and_enter(actor), watchers;
	const struct weir__crew *crew = weir__record_of(cell)->crew;
	const struct weir__record *record;

	if (is_watched(cell))
		death.path = weir__path_make(system, cell);
	if (crew && crew->ended)
		crew->ended(crew->context);
	weir__cell_change(system, cell, WEIR__LIFE_END); /* after closing() */
	cell->actor = NULL; /* it is not found: nobody will watch it */
	/* the change may have lent the lock to one who does */
	record = weir__record_own(cell);
	if (record) {
		death.who = weir__cell_ref(system, cell);
		death.how = how_it_ended(actor, cell);
		weir__watch_ended(system, cell, &death);
	}
	watchers = record && record->watches.watchers;
	weir__leave(&system->lock, held);
	if (watchers)
		weir__watchers_tell(system, record, &death);
	weir__path_unref(death.path, system->options.allocator);
}

static void child_released(struct weir__child *child)
{
	struct weir__cell *cell =
		weir_container_of(child, struct weir__cell, child);
	struct weir_system *system = weir__record_of(cell)->system;
	struct weir__record *record = weir__record_of(cell);
	bool held;

	/* no other thread has the actor any more */
	if (record->slot != WEIR__NO_CELL)
		weir_error_unref(weir__record_keep(record, NULL));
	held = weir__enter(&system->lock);
	assert(cell->state == WEIR__CELL_ENDED);
	weir__cell_free(system, cell);
	weir__leave_unused(&system->lock, held);
}

static int set_stats(struct weir_actor *actor, struct weir_stats *stats)
{
	struct weir_system *system = weir__system_of(actor);
	bool held = weir__enter(&system->lock);
	struct weir__record *record =
		weir__record_make(system, weir__cell_of(actor));

	if (record)
		record->aside.stats = stats;
	weir__leave(&system->lock, held);
	return record ? 0 : -ENOMEM;
}

static void dead_letter(struct weir_actor *actor, void *item)
{
	struct weir_system *system = weir__system_of(actor);
	bool held = weir__enter(&system->lock);
	struct weir_actor_id self =
		weir__cell_ref(system, weir__cell_of(actor));

	weir__leave(&system->lock, held);
	weir__dead_letter(system, self, item);
}

const struct weir__child_ops weir__child_table = {
	.ordered = ordered,
	.leaving = leaving,
	.pending = weir__pending_handle,
	.drained = drained,
	.closing = closing,
	.ended = child_ended,
	.released = child_released,
	.set_stats = set_stats,
	.look = weir__child_look,
	.dead_letter = dead_letter,
};
