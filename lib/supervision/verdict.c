/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carrying a verdict out: which children it is for, whether the limits allow a
 * restart, the back-off before it, and the orders. All under the lock.
 *
 * Rule numbers like B7.1 are those of docs/conformance/supervision.md.
 */
#include "supervision/supervisor.h"

#include <errno.h>

#include "supervision/backoff.h"
#include "supervision/branch.h"
#include "supervision/family.h"
#include "supervision/limit.h"
#include "supervision/siblings.h"

/* --- Whom it is for ------------------------------------------------------- */

/* True: the child stops already, or will. (One that only halts for a restart
 * does not.) */
static bool is_to_stop(const struct weir__cell *cell)
{
	return weir__life_over(cell->state) || weir__part_stops(cell->part);
}

/* Begins a walk over the children that the verdict on `child` may be for. */
static void begin_members(const struct weir__verdict *verdict,
			  struct weir__walk *walk, struct weir__cell *child)
{
	if (verdict->strategy->scope == WEIR_SCOPE_ALL_FOR_ONE)
		weir__children_begin(verdict->system, walk,
				     weir__cell_of(verdict->actor));
	else
		weir__walk_begin(&verdict->system->walks, walk, &child->kin);
	if (verdict->strategy->scope == WEIR_SCOPE_ONE_FOR_ONE)
		walk->alone = true;
}

/* The next child that does not stop already, or NULL. */
static struct weir__cell *next_member(const struct weir__verdict *verdict,
				      struct weir__walk *walk)
{
	struct weir__cell *each;

	do
		each = weir__children_next(verdict->system, walk);
	while (each && is_to_stop(each));
	return each;
}

/* --- Limits --------------------------------------------------------------- */

/* Asks the limit of one child (B7.1: of each). False: refused, or no memory. */
static bool ask_one(const struct weir__verdict *verdict,
		    struct weir__cell *member, uint64_t now)
{
	struct weir_system *system = verdict->system;
	struct weir__record *record = weir__record_make(system, member);

	return record && weir__limit_ask(verdict->strategy->each, &record->each,
					 system->options.allocator, now) == 1;
}

/* Asks the limits of all children concerned; or, with `count`, counts the
 * restarts that were asked for. False: refused. */
static bool each_limit(const struct weir__verdict *verdict,
		       struct weir__cell *child, uint64_t now, bool count)
{
	const struct weir_limit *limit = verdict->strategy->each;
	struct weir__cell *member;
	struct weir__walk walk;
	bool well = true;

	if (!limit)
		return true;
	begin_members(verdict, &walk, child);
	while (well && (member = next_member(verdict, &walk))) {
		if (member->restart == WEIR_RESTART_TEMPORARY)
			continue;
		if (!count)
			well = ask_one(verdict, member, now);
		else if (weir__record_of(member)->each) /* NULL: new */
			weir__limit_count(limit, weir__record_of(member)->each,
					  now);
	}
	if (!well)
		weir__walk_end(&walk);
	return well;
}

bool weir__verdict_within_limits(const struct weir__verdict *verdict,
				 struct weir__cell *child)
{
	const struct weir_limit *all = verdict->strategy->all;
	struct weir_system *system = verdict->system;
	uint64_t now = weir_executor_now(system->executor);
	struct weir__record *record = NULL;

	if (all) {
		record = weir__record_make(system,
					   weir__cell_of(verdict->actor));
		if (!record ||
		    weir__limit_ask(all, &record->all,
				    system->options.allocator, now) != 1)
			return false;
	}
	/* All limits are asked before any counts: if one refuses, there is no
	 * restart. */
	if (!each_limit(verdict, child, now, false))
		return false;
	/* The child has ended meanwhile, and there will be no restart. */
	if (weir__cell_find(system, verdict->child) != child)
		return true;
	if (record)
		weir__limit_count(all, record->all, now);
	(void)each_limit(verdict, child, now, true);
	return true;
}

/* --- Back-off ------------------------------------------------------------- */

/* Sets the back-off before a restart. False: there is none. */
static bool back_off(const struct weir__verdict *verdict,
		     struct weir__cell *child)
{
	const struct weir_backoff *backoff = verdict->strategy->backoff;
	struct weir_system *system = verdict->system;
	uint64_t now = weir_executor_now(system->executor), delay;
	struct weir__record *record;

	if (!backoff || verdict->due)
		return false;
	record = weir__record_make(system, child);
	delay = record ? weir__backoff_next(backoff, &record->backoff_count,
					    &record->backoff_ns, now,
					    weir__random(system))
		       : 0;
	if (record && delay == 0)
		return false;
	/* Without memory for a timer the child would wait for ever. */
	if (record &&
	    weir__cell_timer_set(&system->timers, &record->timer, record->slot,
				 delay < UINT64_MAX - now ? now + delay
							  : UINT64_MAX))
		(void)weir__cell_step(child, WEIR__LIFE_DELAY);
	else
		weir__cell_stop(child, false);
	return true;
}

/* --- Acting --------------------------------------------------------------- */

static void stop_one(const struct weir__verdict *verdict,
		     struct weir__cell *child)
{
	weir__group_stop(verdict->system, child, verdict->strategy->ordered);
	if (!verdict->strategy->ordered)
		weir__cell_stop(child, false);
}

static void restart_one(const struct weir__verdict *verdict,
			struct weir__cell *child)
{
	if (child->restart == WEIR_RESTART_TEMPORARY)
		stop_one(verdict, child);
	else if (!verdict->strategy->ordered ||
		 verdict->strategy->scope == WEIR_SCOPE_ONE_FOR_ONE)
		weir__branch_restart(verdict->system, child);
	else
		weir__part_change(verdict->system, child,
				  WEIR__PART_QUEUE_HALT);
}

/* The siblings' cause of their restart. */
static void keep_cause(struct weir__verdict *verdict)
{
	struct weir__record *record;

	if (verdict->strategy->scope == WEIR_SCOPE_ONE_FOR_ONE)
		return;
	record = weir__record_make(verdict->system,
				   weir__cell_of(verdict->actor));
	if (!record)
		return;
	verdict->old = weir__record_keep(record, verdict->error);
}

void weir__verdict_act(struct weir__verdict *verdict, struct weir__cell *child)
{
	struct weir__cell *member;
	struct weir__walk walk;

	/* The child was looked at again after the decider was called. */
	assert(child->state == WEIR__CELL_FAILED);
	if (verdict->directive == WEIR_DIRECTIVE_RESUME) {
		weir__cell_order(child, WEIR__ORDER_RESUME);
		return;
	}
	if (verdict->directive == WEIR_DIRECTIVE_ESCALATE) {
		(void)weir__cell_step(child, WEIR__LIFE_ESCALATE);
		weir__record_of(weir__cell_of(verdict->actor))
			->family.escalated =
			weir__cell_slot(verdict->system, child);
		/* B2.4: the supervisor fails with the same failure, unless its
		 * decider has made it end in another way. */
		if (!(verdict->actor->flags & WEIR__ACTOR_LEAVING))
			weir__cell_of(verdict->actor)->kind =
				verdict->kind == WEIR__FINISHED ? 0
								: verdict->kind;
		return;
	}
	assert(verdict->directive == WEIR_DIRECTIVE_RESTART ||
	       verdict->directive == WEIR_DIRECTIVE_STOP);
	if (verdict->directive == WEIR_DIRECTIVE_RESTART) {
		if (back_off(verdict, child))
			return;
		keep_cause(verdict);
	}
	weir__group_again(verdict->system, weir__cell_of(verdict->actor));
	begin_members(verdict, &walk, child);
	while ((member = next_member(verdict, &walk))) {
		weir__family_untell(verdict->system, member);
		if (verdict->directive == WEIR_DIRECTIVE_RESTART)
			restart_one(verdict, member);
		else
			stop_one(verdict, member);
	}
}
