/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports that wait in a queue: how a permit comes to an actor that may be
 * stopped, switched off or suspended at any moment.
 *
 * 1  A port holds exactly one burst, or nothing: the part of it that a turn
 *    leaves goes back when the slice ends. Holding a part and waiting for the
 *    rest would be a deadlock of its own.
 * 2  The owner asks for a burst when its port is looked at (only if no other
 *    claim waits) or armed. An actor asks for its ports in their order, one at
 *    a time: for a port only when all ports that stand before it and take part
 *    hold their bursts [my_turn]. So threads and actors that keep to one global
 *    order cannot deadlock. A port whose turn it is not holds nothing, is not
 *    counted as blocked, and is looked at again when the port before it has
 *    been granted its burst; that port is counted, for it has asked.
 *    Members of a weir_any stand outside this order: any of them will do.
 * 3  The state of a claim. Only the owner leaves IDLE; the other moves, and
 *    which thread makes them:
 *
 *	IDLE -> QUEUED		owner, before the claim is in the queue
 *	QUEUED -> IDLE, ENDED	owner: the claim was not queued after all
 *	QUEUED -> IDLE		owner, having taken the claim out
 *	QUEUED -> GRANTED	granter, having taken the claim out
 *	QUEUED -> ENDED		granter: nothing will ever be granted
 *	QUEUED -> ABANDONED	owner: too late to take the claim out
 *	ABANDONED -> QUEUED	owner: it wants the burst after all
 *	ABANDONED -> IDLE	granter, which gives back what was granted
 *	GRANTED -> IDLE		owner, which holds the burst now
 *	ENDED -> IDLE		owner, which has heard of the end
 *
 *    So the owner holds what was granted, or exactly one of the two gives it
 *    back, and no thread waits for another.
 * 4  A claim that is QUEUED or ABANDONED holds a reference on the actor. The
 *    thread that takes the claim out drops it, after its last touch. The
 *    granter does not touch the claim after it has moved the state.
 */
#include "sync/grant.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "actor/gate.h"
#include "sync/wake.h"

WEIR__CHECK_OTHER_PORT(struct weir__grant_port);

enum { IDLE, QUEUED, GRANTED, ENDED, ABANDONED };
_Static_assert(GRANTED == WEIR__GRANTED, "readers know it");

static struct weir__grant_port *of(struct weir_port *port)
{
	return (struct weir__grant_port *)port;
}

static bool is_grant(const struct weir_port *port)
{
	return weir__port_ops(port)->arm == weir__grant_arm;
}

/* True if the port holds all that it asks for. */
static bool full(const struct weir__grant_port *self)
{
	return self->held >= self->port.burst || (self->held && self->last);
}

/* Rule 2. */
static bool my_turn(const struct weir__grant_port *self)
{
	struct weir_port *port;

	if (weir__port_group(&self->port))
		return true;
	for (port = self->port.actor->ports; port != &self->port;
	     port = port->next) {
		if (!is_grant(port) || weir__port_group(port) ||
		    weir__port_off(port))
			continue;
		if (!full(of(port)))
			return false;
	}
	return true;
}

/* The granter: rules 3 and 4. The claim is in no queue any more. */
static void grant_wake(struct weir__waiter *waiter)
{
	struct weir__grant_port *self = weir_container_of(
		waiter, struct weir__grant_port, claim.waiter);
	struct weir_actor *actor = self->port.actor;
	const bool ended = self->claim.status < 0;
	const uint32_t n = (uint32_t)self->claim.n;
	uint32_t old = ck_pr_load_32(&self->state), next;

	/* release: the reason for the grant, and the claim; pairs with the
	 * acquire in collect() */
	ck_pr_fence_release();
	do {
		if (old == ABANDONED)
			next = IDLE;
		else
			next = ended ? ENDED : GRANTED;
		/* linearises here; the release is above */
	} while (!ck_pr_cas_32_value(&self->state, old, next, &old));
	if (next == ENDED) {
		weir__actor_signal(actor, WEIR__SIGNAL_PORTS);
	} else if (next == GRANTED) {
		/* swap -> load, rule 2 of the gate; pairs with the fence of
		 * the arming, after which the owner looks at the state */
		ck_pr_fence_atomic_load();
		weir__port_unblock(&self->port);
	} else if (!ended) {
		self->grantor->give(self, n);
	}
	weir_actor_unref(actor);
}

static void hold(struct weir__grant_port *self)
{
	self->held = (uint32_t)self->claim.n;
	self->last = self->claim.n < self->asked;
}

/* The owner takes over what was granted. */
static uint32_t collect(struct weir__grant_port *self)
{
	uint32_t state = ck_pr_load_32(&self->state);

	/* acquire: pairs with the release in grant_wake() */
	ck_pr_fence_acquire();
	if (state != GRANTED)
		return state;
	hold(self);
	ck_pr_store_32(&self->state, IDLE);
	return IDLE;
}

/* Takes a QUEUED claim out of the queue, if it is still there. */
static bool withdraw(struct weir__grant_port *self)
{
	if (!self->grantor->cancel(self))
		return false;
	ck_pr_store_32(&self->state, IDLE);
	/* not the last reference: the owner has one */
	weir_actor_unref(self->port.actor);
	return true;
}

/* The owner gives up the claim, and gives back what the port holds. */
static void let_go(struct weir__grant_port *self)
{
	uint32_t n;

	if (collect(self) == QUEUED && !withdraw(self) &&
	    !ck_pr_cas_32(&self->state, QUEUED, ABANDONED))
		(void)collect(self);
	n = self->held;
	self->held = 0;
	if (n)
		self->grantor->give(self, n);
}

/* The owner queues a claim; the port holds nothing and is IDLE. */
static void grant_ask(struct weir__grant_port *self)
{
	struct weir_actor *actor = self->port.actor;
	int rc;

	self->claim = (struct weir__claim){
		.waiter.wake = grant_wake,
		.n = self->port.burst,
	};
	self->asked = self->port.burst;
	/* No fence: the granter finds the claim through a lock. */
	ck_pr_store_32(&self->state, QUEUED);
	weir_actor_ref(actor);
	rc = self->grantor->ask(self);
	if (rc == -EAGAIN)
		return;
	if (rc == 0)
		hold(self);
	ck_pr_store_32(&self->state, rc == 0 ? IDLE : ENDED);
	weir_actor_unref(actor);
	if (rc < 0)
		weir__actor_signal(actor, WEIR__SIGNAL_PORTS);
}

uint32_t weir__grant_available(struct weir_port *port)
{
	struct weir__grant_port *self = of(port);

	if (collect(self) == IDLE && !self->held && my_turn(self) &&
	    self->grantor->take(self, port->burst) == 0)
		self->held = port->burst;
	return full(self) && self->held < port->burst ? port->burst
						      : self->held;
}

/*
 * Rule 1. A port that is switched off gives up its claim, too: it does not keep
 * others waiting.
 */
void weir__grant_invalidate(struct weir_port *port)
{
	struct weir__grant_port *self = of(port);

	if (weir__port_off(port) || !my_turn(self) ||
	    (self->held && !full(self)))
		let_go(self);
}

/* Makes an ABANDONED claim QUEUED again. False: the claim is IDLE by now. */
static bool want_again(struct weir__grant_port *self)
{
	if (ck_pr_cas_32(&self->state, ABANDONED, QUEUED))
		return true;
	/* acquire: the granter is done with the claim; pairs with the release
	 * in grant_wake() */
	ck_pr_fence_acquire();
	return false;
}

/* Makes sure that a claim is queued or a burst is held. */
static void want(struct weir__grant_port *self)
{
	uint32_t state = collect(self);

	if (state == ABANDONED && !want_again(self))
		state = IDLE;
	if (state == QUEUED && self->asked != self->port.burst &&
	    withdraw(self))
		state = IDLE;
	if (state == IDLE && !self->held)
		grant_ask(self);
}

int weir__grant_arm(struct weir_port *port)
{
	struct weir__grant_port *self = of(port);
	const bool mine = my_turn(self);

	if (mine)
		want(self);
	/* Two ports are not counted as blocked, even if an earlier arming has
	 * counted them: a port whose turn it is not (rule 2), and a port that
	 * was granted its burst here, where nobody will unblock it. */
	if (!mine || full(self))
		port->flags &= (uint8_t)~WEIR__PORT_SHUT;
	if (weir__port_group(port) && full(self))
		weir__port_unblock(port); /* unblocks its group */
	return 0;
}

WEIR__LOOKS void weir__grant_look(const struct weir_port *port,
				  struct weir__look *look)
{
	const struct weir__grant_port *self =
		(const struct weir__grant_port *)port;

	look->seen->held = ck_pr_load_32(&self->state) == GRANTED
				   ? (uint32_t)self->claim.n
				   : self->held;
}

void weir__grant_close(struct weir_port *port, struct weir_error *error)
{
	(void)error;
	let_go(of(port));
}

int weir__grant_init(struct weir__grant_port *self, struct weir_actor *actor,
		     const struct weir__port_ops *ops,
		     const struct weir__grantor *grantor)
{
	int rc = weir__port_check_init(self, actor);

	if (rc < 0)
		return rc;
	memset(self, 0, sizeof(*self));
	self->ops = ops;
	self->grantor = grantor;
	weir__port_init(&self->port, actor, WEIR__PORT_OTHER);
	return 0;
}

int weir__grant_use(struct weir__grant_port *self, int64_t n)
{
	int rc = weir__port_check_owner(self ? &self->port : NULL);

	if (rc < 0)
		return rc;
	if (n <= 0)
		return -EINVAL;
	if (n > self->held)
		return -EAGAIN;
	self->held -= (uint32_t)n;
	return 0;
}

bool weir__grant_ended(struct weir__grant_port *self)
{
	if (collect(self) != ENDED)
		return false;
	ck_pr_store_32(&self->state, IDLE);
	return true;
}

bool weir__grant_idle(const struct weir__grant_port *self)
{
	return !self->held && ck_pr_load_32(&self->state) == IDLE;
}
