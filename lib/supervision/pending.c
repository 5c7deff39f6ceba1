/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pending messages come to an actor of a system behind the tokens that its
 * in-ports hold (position.c). Messages are notices of deaths, poison and kill.
 *
 * 1. Poison and kill have a position of their own; messages that come after the
 *    first of them share its position. Notices that wait share the position of
 *    the last one.
 * 2. As long as there are messages, they are looked for before each run of
 *    turns, and the run has only turns for the tokens before them. So no token
 *    that came later is handled before a message, and an actor without messages
 *    pays for one flag only.
 * 3. Tokens that turns cannot take must not hold messages up for ever. The
 *    reason why no turn can run tells whether one may run later.
 *
 * Rule numbers like C7 are those of docs/conformance/supervision.md.
 */
#include "actor/ending.h"
#include "supervision/death_watch.h"

#include <assert.h>
#include <errno.h>

#include "actor/in.h"
#include "actor/port.h"
#include "supervision/family.h"
#include "supervision/lifecycle.h"
#include "supervision/position.h"

#define PENDING (WEIR__CELL_POISONED | WEIR__CELL_KILLED | WEIR__CELL_NOTICES)

/* --- Why no turn can run -------------------------------------------------- */

/* Why no turn can run. The first value that applies counts. */
enum why {
	SOON,	 /* a token has been put and is not there yet */
	STARVED, /* no token */
	UNSURE,	 /* no permit or the like: perhaps the dead actor was to give
		  * it */
	HELD_UP, /* before its time, no room, suspended */
};

/* Why a port is not ready. A token whose put is under way hides the tokens
 * behind it. */
static enum why why_shut(const struct weir_port *port)
{
	const struct weir_in *in = weir__in_of(port);

	if (weir__port_ops(port)->waits)
		return HELD_UP;
	if (!weir__port_ops(port)->takes)
		return UNSURE;
	if (in && !weir__in_merges(in) && weir__in_queued(in) >= port->burst)
		return SOON;
	return STARVED;
}

/* Combines the reasons of two ports: a turn needs both, or one of them. */
static enum why worst(enum why a, enum why b)
{
	return a < b ? a : b;
}

static enum why why_group_shut(const struct weir_port *any)
{
	const struct weir_port *port;
	enum why why = HELD_UP;

	for (port = any->actor->ports; port; port = port->next)
		if (!weir__port_off(port) && weir__port_group(port) == any)
			why = worst(why, why_shut(port));
	return why;
}

/* After a look that has found no turn. Owner. */
static enum why why_not(const struct weir_actor *actor)
{
	const struct weir_port *port;
	enum why why = HELD_UP;

	for (port = actor->ports; port; port = port->next) {
		if (weir__port_off(port) || !(port->flags & WEIR__PORT_SHUT))
			continue;
		why = worst(why, weir__port_is_any(port) ? why_group_shut(port)
							 : why_shut(port));
	}
	return why;
}

/* --- Messages are handled ------------------------------------------------- */

/* The actor sees its messages. Under the lock; owner. */
static void settle(struct weir__cell *cell)
{
	cell->position = weir__position_settled(cell->actor, cell->position);
}

void weir__pending_check(struct weir_actor *actor)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool pending;

	/* No order is given and no function of the user's is called: the plain
	 * lock is enough. */
	weir__lock(&system->lock.plain);
	pending = cell->messages & PENDING;
	if (pending)
		settle(cell);
	weir__unlock(&system->lock.plain);
	if (!pending || (actor->flags & WEIR__ACTOR_PENDING))
		return;
	weir__actor_set(actor, WEIR__ACTOR_PENDING);
	weir__actor_break(actor);
}

/* The messages that are due, taken out of the cell. */
struct due {
	struct weir__watch *notice;
	bool poison, kill;
};

/*
 * C7: tokens that the dead actor has sent over links come before its notice,
 * however long that takes. Tokens that no turn takes do not count: a watcher
 * that ignores their in-port would never get the notice.
 */
static bool holds_from(const struct weir_actor *actor,
		       const struct weir_actor *dead)
{
	const struct weir_port *port;
	const struct weir_in *in;

	for (port = actor->ports; dead && port; port = port->next) {
		in = weir__in_of(port);
		if (in && weir__port_takes_part(port) &&
		    weir__in_holds_from(in, dead))
			return true;
	}
	return false;
}

static struct weir__watch *take_notice(const struct weir_actor *actor,
				       struct weir__cell *cell)
{
	struct weir__record *record = weir__record_own(cell);
	struct weir__watch *watch = record ? record->watches.notices : NULL;

	assert(!watch || (cell->messages & WEIR__CELL_NOTICES));
	while (watch && holds_from(actor, watch->actor))
		watch = watch->next;
	if (watch)
		weir__watch_take(&record->watches, watch);
	return watch;
}

/* A kill is done: the messages that are left get a new position, behind the
 * tokens that have come. */
static void take_kill(struct weir__cell *cell)
{
	cell->messages &= (uint8_t)~WEIR__CELL_KILLED;
	cell->position = weir__position_now(cell->actor);
	cell->kind = WEIR_FAILURE_KILLED;
}

static void take_poison(struct weir__cell *cell)
{
	cell->messages &= (uint8_t)~WEIR__CELL_POISONED;
	weir__cell_stop(cell, false);
}

/* True: weir_actor_suspend() was called. weir_actor_resume() signals the
 * actor. */
static bool is_suspended(const struct weir_actor *actor)
{
	return ck_pr_load_32(&actor->gate) & WEIR__GATE_SUSPENDED;
}

/*
 * Takes the messages that are due. Of several messages notices come first,
 * because they do no harm. A notice waits for tokens that turns will take in
 * time; it does not wait for a permit, which its handler may have to give.
 * Under the lock.
 */
static void take_due(const struct weir_actor *actor, struct weir__cell *cell,
		     uint32_t before, uint32_t turns, struct due *due)
{
	enum why why = turns ? SOON : why_not(actor);

	if (before && why == SOON)
		return;
	if ((cell->messages & WEIR__CELL_NOTICES) &&
	    ((before && why == HELD_UP) || is_suspended(actor)))
		return;
	/* One notice at a time: its handler may remove the other watches, or
	 * end the actor. */
	due->notice = take_notice(actor, cell);
	if (due->notice || (before && why != STARVED))
		return;
	due->kill = cell->messages & WEIR__CELL_KILLED;
	due->poison = !due->kill && (cell->messages & WEIR__CELL_POISONED);
	if (due->kill)
		take_kill(cell);
	else if (due->poison)
		take_poison(cell);
}

/* Clears the bit if no notices are left. Under the lock; owner. */
static void forget_notices(struct weir_actor *actor, struct weir__cell *cell)
{
	const struct weir__record *record = weir__record_own(cell);

	if (!record || !record->watches.notices)
		cell->messages &= (uint8_t)~WEIR__CELL_NOTICES;
	if (!(cell->messages & PENDING))
		weir__actor_clear(actor, WEIR__ACTOR_PENDING);
}

/* C9: a notice without a handler fails the watcher. */
static void death_pact(struct weir_actor *actor, struct weir_system *system,
		       struct weir__cell *cell)
{
	weir__lock(&system->lock.plain);
	cell->kind = WEIR_FAILURE_DEATH_PACT;
	weir__unlock(&system->lock.plain);
	weir__actor_end(actor, weir_error_of(-EOWNERDEAD), true);
}

static void handle_notice(struct weir_actor *actor, struct weir_system *system,
			  struct weir__watch *watch)
{
	const struct weir_lifecycle *hooks = weir__lifecycle(actor);
	struct weir_terminated notice = {
		.who = watch->who,
		.token = watch->token,
		.existed = watch->existed,
		.error = watch->error,
		.how = (enum weir_end)watch->how,
		.path = weir__path_text(watch->path),
	};

	assert(watch->ended);
	if (watch->of_parent)
		weir__actor_check_rc(actor, hooks->child_ended(actor, &notice));
	else if (hooks->terminated)
		weir__actor_check_rc(actor, hooks->terminated(actor, &notice));
	else
		death_pact(actor, system, weir__cell_of(actor));
	weir__watch_free(watch, system->options.allocator);
}

uint32_t weir__pending_handle(struct weir_actor *actor, uint32_t turns)
{
	struct weir_system *system = weir__system_of(actor);
	struct weir__cell *cell = weir__cell_of(actor);
	bool held = weir__enter(&system->lock);
	struct due due = {0};
	uint32_t before, most;

	/* else the actor's own end would be taken for an end by a message */
	assert(!(actor->flags & WEIR__ACTOR_LEAVING));
	settle(cell);
	before = weir__position_tokens_before(actor, cell->position);
	/* Poison or kill before a part of a burst: no turn may take it, so no
	 * tokens before the message are left. */
	if ((cell->messages & (WEIR__CELL_POISONED | WEIR__CELL_KILLED)) &&
	    weir__position_cuts_burst(actor, before))
		before = 0;
	take_due(actor, cell, before, turns, &due);
	forget_notices(actor, cell);
	weir__leave(&system->lock, held);
	if (due.notice)
		handle_notice(actor, system, due.notice);
	else if (due.kill)
		weir__actor_end(actor, weir_error_of(-EINTR), true);
	else if (!due.poison) {
		most = weir__position_turns_before(actor, before);
		return turns < most ? turns : most;
	}
	return WEIR__LOOK_AGAIN;
}

/* --- Messages are sent ---------------------------------------------------- */

static int post(struct weir_system *system, struct weir_actor_id id,
		uint8_t message)
{
	struct weir__cell *cell;
	bool held;
	int rc;

	if (!system)
		return -EINVAL;
	held = weir__enter(&system->lock);
	rc = weir__cell_find_mortal(system, id, &cell);
	/* an actor whose `stopping` has returned 1 has been told */
	if (rc == 0 && ((cell->messages & WEIR__CELL_POISONED) ||
			cell->state == WEIR__CELL_FINISHING ||
			weir__life_over(cell->state)))
		rc = -EALREADY;
	if (rc == 0)
		weir__cell_message(cell, message);
	weir__leave(&system->lock, held);
	return rc;
}

int weir_system_poison(struct weir_system *system, struct weir_actor_id id)
{
	return post(system, id, WEIR__CELL_POISONED);
}

int weir_system_kill(struct weir_system *system, struct weir_actor_id id)
{
	return post(system, id, WEIR__CELL_KILLED);
}
