/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the table in life.c says is to be done, is done here. All in the actor's
 * slice, under the system's lock; walks over children lend it. Children that
 * come along to a new start do so while their parent is still in its old state:
 * a child that is spawned meanwhile belongs to that start. All else is done in
 * the new state.
 *
 * Rule numbers like B2.4 are those of docs/conformance/supervision.md.
 */
#include "supervision/change.h"

#include <assert.h>

#include "actor/firing.h"
#include "base/clock.h"
#include "executor/registry.h"
#include "supervision/branch.h"
#include "supervision/family.h"
#include "supervision/siblings.h"

/* --- Children ------------------------------------------------------------- */

/* No child belongs to a start under way any more. */
static void settle(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *child;
	struct weir__walk walk;

	weir__children_begin(system, &walk, cell);
	while ((child = weir__children_next(system, &walk)))
		if (child->part == WEIR__PART_NEW)
			weir__part_change(system, child, WEIR__PART_SETTLE);
}

/* The order that lets the actor go on. B2.1: an actor that has not started
 * cannot resume. */
static uint8_t order_to_go_on(const struct weir__cell *cell)
{
	return weir__cell_up(cell) && cell->kind != WEIR__FINISHED
		       ? WEIR__ORDER_RESUME
		       : WEIR__ORDER_RESTART;
}

/* B2.4: the children whose failure was escalated to this one go on, too. */
static void resume_escalated(struct weir_system *system,
			     struct weir__cell *cell)
{
	struct weir__cell *child;
	struct weir__walk walk;

	weir__children_begin(system, &walk, cell);
	while ((child = weir__children_next(system, &walk))) {
		if (child->state != WEIR__CELL_ESCALATED)
			continue;
		(void)weir__cell_step(child, WEIR__LIFE_ANSWER);
		weir__cell_order(child, order_to_go_on(child));
	}
}

/* B4, step 6: surviving children restart, too; new children do not, nor those
 * that stop. */
static void restart_survivors(struct weir_system *system,
			      struct weir__cell *cell)
{
	struct weir__cell *child;
	struct weir__walk walk;

	weir__children_begin(system, &walk, cell);
	while ((child = weir__children_next(system, &walk))) {
		if (child->part == WEIR__PART_NEW ||
		    weir__part_stops(child->part))
			continue;
		weir__family_untell(system, child);
		if (child->state == WEIR__CELL_ESCALATED)
			(void)weir__cell_step(child, WEIR__LIFE_ANSWER);
		weir__branch_restart(system, child);
	}
	/* in a second walk: the first may have lent the lock */
	settle(system, cell);
}

/* Stops the children that a failed start has spawned. */
static void stop_new(struct weir_system *system, struct weir__cell *cell)
{
	struct weir__cell *child;
	struct weir__walk walk;

	if (weir__cell_up(cell))
		return;
	weir__children_begin(system, &walk, cell);
	while ((child = weir__children_next(system, &walk)))
		if (child->part == WEIR__PART_NEW)
			weir__cell_stop(child, false);
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

	weir__children_begin(system, &walk, cell);
	while ((child = weir__children_next(system, &walk)))
		if (weir__life_failed(child->state) ||
		    (!child->drain &&
		     weir__registry_running(child->actor->executor->registry)))
			weir__cell_stop(child, false);
}

static void disarm(struct weir_system *system, struct weir__cell *cell)
{
	weir__cell_timer_clear(&system->timers, &weir__record_of(cell)->timer);
}

/* The default time was the actor's own, and its children have theirs. */
static void stop_children(struct weir_system *system, struct weir__cell *cell)
{
	if (weir__record_of(cell)->shutdown_ns == WEIR_SHUTDOWN_DEFAULT)
		disarm(system, cell);
	weir__children_stop(system, cell, false);
}

static void kill_children(struct weir_system *system, struct weir__cell *cell)
{
	weir__children_stop(system, cell, true);
}

bool weir__cell_set_deadline(struct weir_system *system,
			     struct weir__cell *cell, uint64_t default_ns)
{
	struct weir__record *record = weir__record_of(cell);
	uint64_t shutdown_ns = record->shutdown_ns, at_ns;

	if (shutdown_ns == WEIR_SHUTDOWN_DEFAULT)
		shutdown_ns = default_ns;
	at_ns = weir__clock_after(weir_executor_now(system->executor),
				  shutdown_ns);
	if (at_ns == WEIR_FOREVER)
		return true;
	record = weir__record_make(system, cell);
	return record && weir__cell_timer_set(&system->timers, &record->timer,
					      record->slot, at_ns);
}

/* Without a timer nobody would kill them when the time is over. */
static void stop_in_time(struct weir_system *system, struct weir__cell *cell)
{
	bool kill = !weir__cell_set_deadline(system, cell, WEIR_FOREVER);

	weir__children_stop(system, cell, kill);
}

/* --- The actor itself ----------------------------------------------------- */

static void go_on(struct weir_system *system, struct weir__cell *cell)
{
	/* B2.1: an actor that has not started cannot go on. */
	assert(weir__cell_up(cell));
	cell->kind = 0;
	/* A first start that nothing has held up has put nothing off. */
	if (!cell->own)
		return;
	weir__branch_resume(system, cell);
	/* For signals and messages that came meanwhile. */
	weir__cell_order(cell, WEIR__ORDER_LOOK);
}

static void end_turns(struct weir_system *system, struct weir__cell *cell)
{
	weir__actor_suspend(cell->actor, WEIR__GATE_SUSPENDED_PARENT);
}

/* --- What the table says -------------------------------------------------- */

#define DEED(name) [__builtin_ctz(WEIR__DO_##name)]

typedef void deed_fn(struct weir_system *system, struct weir__cell *cell);

static deed_fn *const deed_fns[] = {
	DEED(SETTLE) = settle,
	DEED(RESTART_CHILDREN) = restart_survivors,
	DEED(RESUME_CHILDREN) = resume_escalated,
	DEED(DISARM) = disarm,
	DEED(UNTELL) = weir__family_untell,
	DEED(TELL) = weir__family_tell,
	DEED(SUSPEND) = weir__branch_suspend,
	DEED(GO_ON) = go_on,
	DEED(STOP_NEW) = stop_new,
	DEED(END_TURNS) = end_turns,
	DEED(STOP_IN_TIME) = stop_in_time,
	DEED(LET_CHILDREN_END) = let_children_end,
	DEED(STOP_CHILDREN) = stop_children,
	DEED(KILL_CHILDREN) = kill_children,
	/* before anybody is told: its name is free then, C8 */
	DEED(FREE_NAME) = weir__cell_unname,
	DEED(LEAVE) = weir__branch_remove,
};

/* In the order of their bits. */
static void do_all(struct weir_system *system, struct weir__cell *cell,
		   unsigned deeds)
{
	for (; deeds; deeds &= deeds - 1)
		deed_fns[__builtin_ctz(deeds)](system, cell);
}

void weir__cell_change(struct weir_system *system, struct weir__cell *cell,
		       enum weir__life_event event)
{
	const struct weir__step step = weir__life_step(cell->state, event);
	unsigned deeds = step.deeds;

	assert(step.possible && !step.orders);
	if (cell->kin.first == WEIR__NO_CELL)
		deeds &= ~WEIR__DO_FOR_CHILDREN;
	do_all(system, cell, deeds & WEIR__DO_BEFORE);
	ck_pr_store_8(&cell->state, step.state);
	do_all(system, cell, deeds & ~WEIR__DO_BEFORE);
}
