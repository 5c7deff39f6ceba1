/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parent's side: a supervisor answers the failures of its children one
 * after the other, in its own slice, and only while it is alive and not
 * suspended (B1.5). Deciders and events are called without the lock; so the
 * child is looked at again before the verdict becomes an order.
 *
 * Rule numbers like B1.5 are those of docs/conformance/supervision.md.
 */
#include "supervision/supervisor.h"

#include <errno.h>

#include "actor/ending.h"
#include "supervision/family.h"
#include "supervision/lifecycle.h"
#include "supervision/siblings.h"
#include "supervision/strategy.h"
#include "supervision/telling.h"

/* Orders that answer a failure, or make the answer void. */
#define VERDICTS \
	(WEIR__ORDER_RESUME | WEIR__ORDER_RESTART | WEIR__ORDER_HALT | \
	 WEIR__ORDER_STOP | WEIR__ORDER_KILL)

/* --- Who waits for an answer ---------------------------------------------- */

/* True: the child still waits; no other verdict or order has answered it
 * meanwhile. */
static bool waits_for_answer(struct weir__cell *child)
{
	return (child->state == WEIR__CELL_FAILED ||
		child->state == WEIR__CELL_DUE) &&
	       !weir__part_waited_for(child->part) &&
	       !(ck_pr_load_8(&child->orders) & VERDICTS);
}

/* Gets the next failure to be answered, in *verdict. False: there is none. */
static bool next_failure(struct weir__verdict *verdict)
{
	struct weir_system *system = verdict->system;
	struct weir__cell *cell = weir__cell_of(verdict->actor), *child;
	const struct weir__family *family;
	bool held = weir__enter(&system->lock);
	bool found = false;

	family = &weir__record_of(cell)->family;
	while (!found && !cell->suspends && family->failed != WEIR__NO_CELL) {
		child = weir__cell_at(system, family->failed);
		weir__family_remove(system, child);
		assert(weir__cell_parent(system, child) == cell);
		if (!waits_for_answer(child)) {
			weir__breathe(&system->lock);
			continue;
		}
		found = true;
		/* A copy: the child may end, and another may have the cell,
		 * while we decide. */
		verdict->child = weir__cell_ref(system, child);
		verdict->failed = weir_actor_ref(child->actor);
		verdict->error = weir_error_ref(child->actor->error);
		verdict->kind = child->kind;
		verdict->due = child->state == WEIR__CELL_DUE;
		verdict->up = weir__cell_up(child);
		verdict->temporary = child->restart == WEIR_RESTART_TEMPORARY;
		(void)weir__cell_step(child, WEIR__LIFE_ANSWER);
	}
	weir__leave(&system->lock, held);
	return found;
}

/* --- Deciding ------------------------------------------------------------- */

/* A directive, or how the decider has failed. */
static int decide(const struct weir__verdict *verdict)
{
	const struct weir_failure failure = {
		.system = verdict->system,
		.child = verdict->child,
		.name = weir_actor_name(verdict->failed),
		.error = verdict->error,
		.kind = (enum weir_failure_kind)verdict->kind,
	};
	int directive;

	if (verdict->due)
		return WEIR_DIRECTIVE_RESTART;
	directive = verdict->kind == WEIR__FINISHED
			    ? WEIR_DIRECTIVE_RESTART
			    : weir__strategy_decide(verdict->strategy,
						    verdict->actor, &failure);
	/* B2.1: an actor that has not started cannot resume. */
	if (directive == WEIR_DIRECTIVE_RESUME && !verdict->up)
		directive = WEIR_DIRECTIVE_RESTART;
	if (directive == WEIR_DIRECTIVE_RESTART && verdict->temporary)
		directive = WEIR_DIRECTIVE_STOP;
	return directive;
}

static void report(const struct weir__verdict *verdict,
		   enum weir_supervision_event_kind what)
{
	weir__event(verdict->system, what, weir_actor_self(verdict->actor),
		    verdict->child, weir_actor_name(verdict->failed),
		    verdict->error, (enum weir_directive)verdict->directive);
}

/* --- Answering ------------------------------------------------------------ */

/* The child, if it still waits for its answer, or NULL. Under the lock. */
static struct weir__cell *still_waits(const struct weir__verdict *verdict)
{
	struct weir__cell *child =
		weir__cell_find(verdict->system, verdict->child);

	return child && waits_for_answer(child) ? child : NULL;
}

/* False: a limit has refused the restart. */
static bool ask_limits(const struct weir__verdict *verdict)
{
	struct weir_system *system = verdict->system;
	struct weir__cell *child;
	bool held, within;

	if (verdict->directive != WEIR_DIRECTIVE_RESTART || verdict->due)
		return true;
	held = weir__enter(&system->lock);
	child = still_waits(verdict);
	within = !child || weir__verdict_within_limits(verdict, child);
	weir__leave(&system->lock, held);
	return within;
}

/* Turns a restart past the limit into what the strategy says. False: the
 * supervisor stops. */
static bool past_limit(struct weir__verdict *verdict)
{
	report(verdict, WEIR_SUPERVISION_EVENT_LIMIT);
	switch (verdict->strategy->past_limit) {
	case WEIR_PAST_LIMIT_STOP_SUPERVISOR:
		weir__actor_end(verdict->actor, weir_error_of(-ECANCELED),
				false);
		return false;
	case WEIR_PAST_LIMIT_ESCALATE:
		verdict->directive = WEIR_DIRECTIVE_ESCALATE;
		return true;
	case WEIR_PAST_LIMIT_STOP_CHILD:
	default:
		verdict->directive = WEIR_DIRECTIVE_STOP;
		return true;
	}
}

/* The directive, which limits may change. False: the supervisor stops. */
static bool reach(struct weir__verdict *verdict)
{
	verdict->directive = decide(verdict);
	if (verdict->directive < 0) {
		/* B2.5: the decider's own error. */
		weir_error_unref(verdict->error);
		verdict->error = weir_error_of(verdict->directive);
		verdict->directive = WEIR_DIRECTIVE_ESCALATE;
		verdict->kind = 0;
		return true;
	}
	if (!ask_limits(verdict))
		return past_limit(verdict);
	if (verdict->directive != WEIR_DIRECTIVE_ESCALATE && !verdict->due)
		report(verdict, WEIR_SUPERVISION_EVENT_DIRECTIVE);
	return true;
}

static void escalate(const struct weir__verdict *verdict)
{
	weir__actor_end(verdict->actor,
			verdict->error ? weir_error_ref(verdict->error)
				       : weir_error_of(-ECANCELED),
			true);
}

static void answer(struct weir__verdict *verdict)
{
	struct weir_system *system = verdict->system;
	struct weir__cell *child;
	bool held;

	if (!reach(verdict))
		return;
	held = weir__enter(&system->lock);
	child = still_waits(verdict);
	if (child)
		weir__verdict_act(verdict, child);
	/* A group may have waited for this answer. */
	if (verdict->directive != WEIR_DIRECTIVE_ESCALATE)
		weir__group_step(system, weir__cell_of(verdict->actor));
	weir__leave(&system->lock, held);
	weir_error_unref(verdict->old);
	verdict->old = NULL;
	if (child && verdict->directive == WEIR_DIRECTIVE_ESCALATE)
		escalate(verdict);
}

void weir__supervise(struct weir_actor *actor)
{
	struct weir__verdict verdict = {
		.system = weir__system_of(actor),
		.actor = actor,
		.strategy = weir__strategy(actor),
	};

	while (!(actor->flags & WEIR__ACTOR_LEAVING) &&
	       next_failure(&verdict)) {
		answer(&verdict);
		weir_error_unref(verdict.error);
		weir_actor_unref(verdict.failed);
	}
}
