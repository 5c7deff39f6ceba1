/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The firing protocol: when an actor runs, and how it ends. Its nine rules
 * stand here only; code, models, tests and pages refer to them by number. Below
 * them are the swaps of the gate; what a slice does is in firing.c, how an
 * actor ends in ending.c.
 *
 * The gate is one atomic word: flags in its low bits, above them the signed
 * count of blocked ports. An actor is *ready* if it is SIGNALLED, or if the
 * count is 0 and the actor is not suspended. SCHEDULED is held from submission
 * to the end of the slice. Every port has a word `blocked`: only the owner sets
 * it to 1, any thread may exchange it for 0. The members of a weir_any share
 * one such word and are counted once.
 *
 * Rule 1  Submit once. An actor may be submitted iff SCHEDULED is clear and the
 *         actor is ready. The thread whose swap makes that true sets SCHEDULED
 *         in the same swap and submits the actor, so the actor is submitted
 *         exactly once. The submitter's last touch of the actor is the enqueue.
 *         [gate_update, weir__gate_deschedule]
 * Rule 2  Unblock. From any thread: (1) publish; (2) full fence; (3) load
 *         `blocked`; (4) if it is 1, exchange it for 0; (5) if the exchange
 *         read 1, take one off the count. While SCHEDULED is clear the count is
 *         the number of blocked ports plus the decrements under way, so it is
 *         never negative: a late decrement delays the actor and loses nothing.
 *         [weir__port_unblock]
 *         A slice that has run turns may leave the fence out and *owe* it: the
 *         slice keeps SCHEDULED, so another slice follows. The slice that arms
 *         the ports in the end makes one fence for all that is owed, and looks
 *         at every link's `blocked` again. That second look finds each peer
 *         that the first look missed, before the owner is descheduled.
 *         [firing.c: publish, weir__slice_settle]
 * Rule 3  Arm. Only the owner blocks ports, and only at the end of a slice that
 *         has found nothing: (1) for each port, store 1 in a word that reads 0
 *         if the port is not ready, and exchange a word that reads 1 for 0 if
 *         the port is ready: its owner has made it so since an earlier arming;
 *         (2) one full fence for all ports; (3) look again at each port just
 *         armed, and exchange its word for 0 if the port has become ready; (4)
 *         the last swap adds what is still counted to the count and, in the
 *         same swap, clears SCHEDULED, or keeps SCHEDULED and submits again if
 *         the actor is ready. Before the last swap the count may be negative
 *         and means nothing. [firing.c: arm, look_again; weir__gate_deschedule]
 *
 *         Why no wake-up is lost: the producer publishes the token's index
 *         before its fence, and the owner sets `blocked` before its own fence.
 *         Of these two full fences one comes first. If it is the owner's, the
 *         producer sees `blocked`; if it is the producer's, the owner's second
 *         look sees the token. If both see it, the exchange decides which of
 *         the two takes the port off the count.
 * Rule 4  Look. A count of 0 is a hint. A slice looks at its ports before it
 *         runs a turn, and may find nothing. [firing.c: slice_look]
 * Rule 5  Signal. The signaller writes the payload first and sets SIGNALLED
 *         then, always by a swap. The slice clears SIGNALLED first and reads
 *         the payloads then: a signal whose swap came before the clear is seen
 *         by this slice, and one whose swap came after it has set the bit
 *         again. A slice handles signals before turns and between runs, also
 *         when ports are blocked or the actor is suspended.
 *         [ending.c: weir__handle_signals]
 * Rule 6  Suspend. A suspension is a bit in the gate and a part of "ready". Any
 *         thread sets or clears it in one swap; it does not nest; clearing it
 *         submits by rule 1. Each look reads it. An actor none of whose ports
 *         takes part is suspended by a bit of its own, PORTLESS, which the last
 *         swap sets and the next signal clears: only a handler can switch a
 *         port on again.
 * Rule 7  Change the set of ports. Only the owner does, in a turn or a handler.
 *         Switching a port off exchanges `blocked` for 0 and, if that read 1,
 *         takes one off the count; switching it on sets nothing. Either breaks
 *         the run of turns, so that the slice looks again.
 * Rule 8  Stop. The final slice closes all ports and never gives SCHEDULED
 *         back: unblocks and signals that come later change bits and submit
 *         nothing. The actor has one reference for itself, which the final
 *         slice drops as its last act, and one for each holder that may touch
 *         the actor from outside (the far end of a link, a timer, a waiter, a
 *         handle), which the holder drops after its own last touch. The last
 *         drop drains what came late and calls `released`.
 *         [ending.c: weir__actor_retire, weir_actor_unref]
 * Rule 9  Let go. After the swap that clears SCHEDULED, or after the owner's
 *         last drop, the owner does not touch the actor again.
 *
 * A slice is a loop of runs. Before each run the slice takes the minimum over
 * the ports of the turns that are available; inside a run ports are plain
 * memory with private cursors. What a run did is published when the run is
 * over.
 *
 * A slice that has run a turn does not arm: while other actors work there is
 * mostly something to do when this actor's time comes again, so the slice keeps
 * SCHEDULED and is submitted again. A slice that finds nothing arms, and its
 * fence also pays what earlier slices owe (rule 2). So while a pipeline of
 * links is busy there is no swap, no fence and no port to unblock; an actor
 * that falls idle pays one more look.
 *
 * A run takes as many turns as fit into publish_ns by what the actor's turns
 * have cost: the first run is one turn; runs are timed while that number may
 * still change, and now and then when it has reached the maximum.
 *
 * Most actors are *simple*: an in-port, an out-port, or both, with one link
 * each (find_simple). As long as nothing has happened to such an actor, its
 * slice is one run in a straight line (run_actor), a third of the instructions
 * of the general slice.
 */
#include "actor/gate.h"

#include <assert.h>

#include <ck_pr.h>

#include "actor/port.h"

#define GATE_COUNT (~(uint32_t)(WEIR__GATE_ONE - 1))

/*
 * Submitting may run a task (an executor that runs at once, or refuses), and
 * running it submits others: but inside a slice weir_task_run() only queues,
 * so that chain, which is most of this file, is entered twice at most.
 * NOLINTBEGIN(misc-no-recursion)
 */

static bool ready(uint32_t gate)
{
	if (gate & WEIR__GATE_SIGNALLED)
		return true;
	return !(gate & (GATE_COUNT | WEIR__GATE_SUSPENSIONS));
}

/*
 * A submission was refused: SCHEDULED is the caller's, and so is the final
 * slice. It is the last slice also in a system: an actor cannot restart where
 * it cannot run.
 */
static void refused(struct weir_actor *actor, int code)
{
	if (!(actor->flags & WEIR__ACTOR_ENDING)) {
		if (!actor->error)
			actor->error = weir_error_of(code);
		weir__actor_clear(actor, WEIR__ACTOR_LEAVING);
		weir__actor_set(actor, WEIR__ACTOR_ENDING | WEIR__ACTOR_FAILED);
		weir__actor_break(actor);
	}
	weir_task_run(&actor->task);
}

void weir__actor_submit(struct weir_actor *actor)
{
	struct weir_executor *executor = actor->executor;
	int rc = executor->ops->submit(executor, &actor->task);

	if (WEIR_UNLIKELY(rc < 0))
		refused(actor, rc);
}

/*
 * Rule 1. The only way to change the gate from outside; linearises at its swap.
 */
static void gate_update(struct weir_actor *actor, uint32_t clear, uint32_t set,
			uint32_t add)
{
	uint32_t old = ck_pr_load_32(&actor->gate), next;
	bool submits;

	/* release: the reason for this change; pairs with the acquire after the
	 * next swap of the gate, or with the executor's hand-over */
	ck_pr_fence_release();
	do {
		next = ((old & ~clear) | set) + add;
		submits = !(next & WEIR__GATE_SCHEDULED) && ready(next);
		if (submits)
			next |= WEIR__GATE_SCHEDULED;
		/* linearises here */
	} while (!ck_pr_cas_32_value(&actor->gate, old, next, &old));
	if (!submits)
		return;
	/* acquire: pairs with the release of the last slice in
	 * weir__gate_deschedule(); the actor is ours */
	ck_pr_fence_acquire();
	weir__actor_submit(actor);
}

/*
 * Rule 3, the last swap. True: the actor is to be submitted again. Rule 9: on
 * false it is not ours any more.
 */
bool weir__gate_deschedule(struct weir_actor *actor, int32_t count,
			   uint32_t set)
{
	uint32_t add = (uint32_t)count * WEIR__GATE_ONE;
	uint32_t old = ck_pr_load_32(&actor->gate), next;
	bool again;

	/* release: all that the slice did; pairs with the acquire in
	 * gate_update() of the thread that schedules the actor next */
	ck_pr_fence_release();
	do {
		next = (old + add) | set;
		again = ready(next);
		if (!again)
			next &= ~(uint32_t)WEIR__GATE_SCHEDULED;
		assert(old & WEIR__GATE_SCHEDULED);
		/* Linearises here. Then the count is the number of blocked
		 * ports (rule 2). */
		assert(again || (int32_t)next >= 0);
	} while (!ck_pr_cas_32_value(&actor->gate, old, next, &old));
	return again;
}

void weir__port_unblocked(struct weir_port *port)
{
	if (ck_pr_fas_32(port->block, 0))
		gate_update(port->actor, 0, 0, 0u - WEIR__GATE_ONE);
}

void weir__actor_signal(struct weir_actor *actor, uint8_t signals)
{
	if (signals) {
		/* release: the payload; pairs with the acquire in
		 * weir__handle_signals() of a slice that takes the payload
		 * before our bit is in the gate */
		ck_pr_fence_release();
		ck_pr_or_8(&actor->signals, signals);
	}
	/* payload before the bit: the release is in gate_update(), its partner
	 * the acquire in weir__handle_signals() */
	gate_update(actor, 0, WEIR__GATE_SIGNALLED, 0);
}

void weir__actor_suspend(struct weir_actor *actor, uint32_t bit)
{
	gate_update(actor, 0, bit, 0);
}

void weir__actor_resume(struct weir_actor *actor, uint32_t bit)
{
	gate_update(actor, bit, 0, 0);
}

void weir__actor_break(struct weir_actor *actor)
{
	weir__actor_clear(actor, WEIR__ACTOR_SIMPLE);
	weir__actor_set(actor, WEIR__ACTOR_BREAK);
}

bool weir__actor_check(struct weir_actor *actor)
{
	struct weir_port *port;
	uint32_t blocked = 0;

	for (port = actor->ports; port; port = port->next) {
		if (!port->blocked)
			continue;
		if (port->blocked != 1 || weir__port_group(port) ||
		    weir__port_off(port))
			return false;
		blocked++;
	}
	return (actor->gate & WEIR__GATE_SCHEDULED) == 0 &&
	       actor->gate >> 8 == blocked && !ready(actor->gate);
}

/* NOLINTEND(misc-no-recursion) */
