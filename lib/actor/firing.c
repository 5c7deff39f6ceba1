/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The firing protocol: when an actor runs, and how it ends. Its nine rules
 * stand here only; code, models, tests and pages refer to them by number. Below
 * them are the swaps of the gate and what a slice does, by rules 1 to 6; rule 7
 * is in port_set.c, how an actor ends by rule 8 in ending.c.
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
 *         [gate_update, gate_deschedule]
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
 *         [publish, slice_settle]
 * Rule 3  Arm. Only the owner blocks ports, and only at the end of a slice that
 *         has found nothing: (1) for each port, store 1 in a word that reads 0
 *         if the port is not ready, and exchange a word that reads 1 for 0 if
 *         the port is ready: its owner has made it so since an earlier arming;
 *         (2) one full fence for all ports; (3) look again at each port just
 *         armed, and exchange its word for 0 if the port has become ready; (4)
 *         the last swap adds what is still counted to the count and, in the
 *         same swap, clears SCHEDULED, or keeps SCHEDULED and submits again if
 *         the actor is ready. Before the last swap the count may be negative
 *         and means nothing. [arm, look_again; gate_deschedule]
 *
 *         Why no wake-up is lost: the producer publishes the token's index
 *         before its fence, and the owner sets `blocked` before its own fence.
 *         Of these two full fences one comes first. If it is the owner's, the
 *         producer sees `blocked`; if it is the producer's, the owner's second
 *         look sees the token. If both see it, the exchange decides which of
 *         the two takes the port off the count.
 * Rule 4  Look. A count of 0 is a hint. A slice looks at its ports before it
 *         runs a turn, and may find nothing. [slice_look]
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
 *         [port_set.c: weir__port_switch_off]
 * Rule 8  Stop. The final slice closes all ports and never gives SCHEDULED
 *         back: unblocks and signals that come later change bits and submit
 *         nothing. The actor has one reference for itself, which the final
 *         slice drops as its last act, and one for each holder that may touch
 *         the actor from outside (the far end of a link, a timer, a waiter, a
 *         handle), which the holder drops after its own last touch. The last
 *         drop drains what came late and calls `released`.
 *         [weir__actor_retire; ending.c: weir__actor_close, weir_actor_unref]
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
 * There is one way to run turns, fire(). Most actors are *simple*: an in-port,
 * an out-port, or both, with one link each (weir__ports_find_simple). As long
 * as nothing has happened to such an actor, its slice is one run in a straight
 * line (weir__actor_slice), a third of the instructions of the general slice
 * (run_slice), on which the short one ends, too, where something is not as it
 * mostly is.
 */
#include "actor/firing.h"

#include <assert.h>

#include <ck_pr.h>

#include "actor/child_ops.h"
#include "actor/ending.h"
#include "actor/fit.h"
#include "actor/gate.h"
#include "actor/link.h"
#include "actor/port.h"
#include "actor/stats.h"
#include "base/fence.h"
#include "executor/thread.h"

#define RUN_MAX (1u << WEIR__FIT_LOG2_MAX) /* most turns of a run */

/*
 * Submitting may run a task (an executor that runs at once, or refuses), and
 * running it submits others: but inside a slice weir_task_run() only queues,
 * so that chain, which is most of this file, is entered twice at most.
 * NOLINTBEGIN(misc-no-recursion)
 */

/* --- The gate: rules 1, 2, 3, 5 and 6 ------------------------------------- */

void weir__actor_submit(struct weir_actor *actor)
{
	struct weir_executor *executor = actor->executor;
	int rc = executor->ops->submit(executor, &actor->task);

	if (WEIR_UNLIKELY(rc < 0))
		weir__actor_refused(actor, rc);
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
		submits = !(next & WEIR__GATE_SCHEDULED) &&
			  weir__gate_ready(next);
		if (submits)
			next |= WEIR__GATE_SCHEDULED;
		/* linearises here */
	} while (!ck_pr_cas_32_value(&actor->gate, old, next, &old));
	if (!submits)
		return;
	/* acquire: pairs with the release of the last slice in
	 * gate_deschedule(); the actor is ours */
	ck_pr_fence_acquire();
	weir__actor_submit(actor);
}

/*
 * Rule 3, the last swap: adds to the count of blocked ports and sets bits.
 * True: the actor is to be submitted again. Rule 9: on false it is not ours any
 * more.
 */
static bool gate_deschedule(struct weir_actor *actor, int32_t count,
			    uint32_t set)
{
	uint32_t add = (uint32_t)count * WEIR__GATE_ONE;
	uint32_t old = ck_pr_load_32(&actor->gate), next;
	bool again;

	if (WEIR_UNLIKELY(old & WEIR__GATE_TRACED))
		weir__task_ops()->waits(&actor->task, set);
	/* release: all that the slice did; pairs with the acquire in
	 * gate_update() of the thread that schedules the actor next */
	ck_pr_fence_release();
	do {
		next = (old + add) | set;
		again = weir__gate_ready(next);
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

/* --- Settling: rules 2 and 3 -------------------------------------------- */

/*
 * Rule 3, step 1: blocks the ports that are not ready. A port that an earlier
 * arming has counted as blocked may be ready now, because its owner has made it
 * so (a link has left, the burst is smaller): takes each such port off the
 * count. Adds to *count how many more ports are blocked than before. True: some
 * ports were armed.
 */
static bool arm(struct weir_actor *actor, int32_t *count)
{
	struct weir_port *port;
	bool armed = false;

	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops = weir__port_ops(port);

		if (weir__port_off(port))
			continue;
		if (ops->arm)
			weir__actor_check_rc(actor, ops->arm(port));
		/* If it reads 1, an earlier arming has set it and the port is
		 * still counted: only the owner sets it. */
		if (ck_pr_load_32(&port->blocked)) {
			if (!(port->flags & WEIR__PORT_SHUT) &&
			    ck_pr_fas_32(&port->blocked, 0))
				--*count;
			continue;
		}
		if (!(port->flags & WEIR__PORT_SHUT))
			continue;
		assert(!weir__port_group(port) &&
		       !(port->flags & WEIR__PORT_AT_END));
		ck_pr_store_32(&port->blocked, 1);
		port->flags |= WEIR__PORT_ARMED;
		++*count;
		armed = true;
	}
	return armed;
}

/*
 * Rule 3, step 3: the second look takes ports that have become ready off
 * *count.
 */
static void look_again(struct weir_actor *actor, int32_t *count)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		uint8_t flags = port->flags;

		port->flags = flags &
			      (uint8_t) ~(WEIR__PORT_ARMED | WEIR__PORT_SHUT);
		if (!(flags & WEIR__PORT_ARMED))
			continue;
		if (!weir__port_turns(port) &&
		    !(port->flags & WEIR__PORT_AT_END))
			continue;
		/* Whichever thread reads 1 takes the port off the count (rule
		 * 2). If we do, the port is not added to the count. If another
		 * thread has, its decrement is on its way. */
		if (ck_pr_fas_32(&port->blocked, 0))
			--*count;
	}
}

/*
 * Publishes what the last run did. For links no fence comes between the index
 * and the look at the peer's `blocked` (rule 2): the actor owes it, and pays
 * when it arms. True: other ports have published and need the fence now.
 */
static inline bool publish(struct weir_actor *actor)
{
	struct weir_port *port, *peer;
	bool dirty = false;

	/* release: tokens before indices; pairs with the acquire in `available`
	 * of the port at the other end */
	ck_pr_fence_release();
	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops;

		if (WEIR_LIKELY(weir__link_publish(port, &peer))) {
			if (!peer)
				continue;
			weir__actor_set(actor, WEIR__ACTOR_OWES);
			weir__port_unblock(peer);
			continue;
		}
		ops = weir__port_ops(port);
		if (!ops->publish || !ops->publish(port))
			continue;
		port->flags |= WEIR__PORT_DIRTY;
		dirty = true;
	}
	return dirty;
}

/*
 * After the fence: unblocks the peers for which something was published, by
 * this slice or, if `owes`, by earlier ones.
 */
static void wake_peers(struct weir_actor *actor, bool owes)
{
	struct weir_port *port, *peer;

	for (port = actor->ports; port; port = port->next) {
		if (port->flags & WEIR__PORT_DIRTY) {
			port->flags &= (uint8_t)~WEIR__PORT_DIRTY;
			weir__port_ops(port)->wake(port);
		} else if (owes) {
			peer = weir__link_peer(port);
			if (peer)
				weir__port_unblock(peer);
		}
	}
}

/*
 * The slice is over: no port lets takes or puts find anything until the next
 * look. `published`: for ports with one link publishing has seen to that.
 */
static void slice_invalidate(struct weir_actor *actor, bool published)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops;

		if (published && weir__port_carries(port))
			continue;
		ops = weir__port_ops(port);
		if (ops->invalidate)
			ops->invalidate(port);
	}
}

/*
 * Publishes what the last run did. If `count` is not NULL, the slice has found
 * nothing and arms: one full fence serves for publishing, for arming and for
 * what earlier slices owe (rules 2 and 3). *count is the number that the last
 * swap has to add.
 */
static void slice_settle(struct weir_actor *actor, int32_t *count)
{
	bool armed = count && arm(actor, count);
	bool dirty = publish(actor);
	bool owes = count && (actor->flags & WEIR__ACTOR_OWES);

	if (!armed && !dirty && !owes)
		return;
	/* store -> load, twice. Our indices before the peers' `blocked`: pairs
	 * with the one fence of a peer that arms. Our `blocked` before the
	 * peers' indices: pairs with the fence of a peer that publishes */
	weir__fence_full();
	if (owes)
		weir__actor_clear(actor, WEIR__ACTOR_OWES);
	if (dirty || owes)
		wake_peers(actor, owes);
	if (armed)
		look_again(actor, count);
}

/* Pays what is owed to peers (rule 2), by a slice that does not arm. */
static void slice_pay(struct weir_actor *actor)
{
	if (!(actor->flags & WEIR__ACTOR_OWES))
		return;
	/* store -> load: as in slice_settle() */
	weir__fence_full();
	weir__actor_clear(actor, WEIR__ACTOR_OWES);
	wake_peers(actor, true);
}

void weir__actor_retire(struct weir_actor *actor, bool published)
{
	weir__actor_tell_end(actor);
	/* The actor's hook, or `failed`, may have put. The fence that is owed
	 * to peers need not be paid: each gets a signal, an end or a cancel. */
	if (!published ||
	    (actor->flags & (WEIR__ACTOR_CHILD | WEIR__ACTOR_FAILED)))
		slice_settle(actor, NULL);
	weir__actor_close(actor);
}

/* --- Looking: rule 4 ---------------------------------------------------- */

#define SIGNALS_MAX 64u /* of a slice: handlers may signal their own actor */

/*
 * What one slice knows; on its stack. `most` bounds a run because turns may
 * still put into out-ports that were cancelled, whose rings have to hold that.
 */
struct slice {
	struct weir_actor *actor;
	uint32_t budget;  /* turns left */
	uint32_t most;	  /* room of cancelled out-ports */
	uint32_t signals; /* that were handled */
	uint64_t spent_ns;
	bool has_run;
	bool clock;    /* the next run is timed */
	bool asked;    /* and the thread does not poll */
	bool used_up;  /* the last run took all that was available */
	bool lanes;    /* an in-port merges: more may come than was available */
	bool portless; /* no port takes part */
	bool halted;   /* by supervision: not looked at */
	bool partial;  /* an in-port has less than a burst, its last tokens */
	bool blocks;   /* turns may block: each is published at once */
	struct weir_stats *stats;
};

static inline uint32_t at_most(uint32_t n, uint32_t most)
{
	return n < most ? n : most;
}

/* The stream of an in-port is over and all its tokens are taken. */
static void end_of_stream(struct weir_actor *actor, struct weir_port *port)
{
	struct weir_error *error = weir__port_ops(port)->ended(port);

	weir__actor_stream_ended(actor, (struct weir_in *)port, error);
	weir_error_unref(error);
}

/*
 * Looks at one port of any kind, and lowers *least to its turns. False: a
 * handler has run.
 */
static bool look_at(struct slice *slice, struct weir_port *port,
		    uint32_t *least)
{
	uint32_t turns;

	port->flags &= (uint8_t)~WEIR__PORT_SHUT;
	if (weir__port_off(port)) {
		if (weir__out_drops(port)) {
			turns = weir__port_turns(port);
			if (turns < slice->most)
				slice->most = turns;
		}
		if (weir__in_of(port)) /* a handler took what was not there */
			(void)weir__in_put_back(weir__in_of(port));
		return true;
	}
	turns = weir__port_turns(port);
	if (port->flags & WEIR__PORT_AT_END) {
		end_of_stream(slice->actor, port);
		return false;
	}
	if (port->flags & WEIR__PORT_PARTIAL)
		slice->partial = true;
	if (weir__link_merges(port))
		slice->lanes = true;
	if (weir__port_group(port))
		return true;
	if (!turns)
		port->flags |= WEIR__PORT_SHUT;
	if (turns < *least)
		*least = turns;
	return true;
}

/*
 * Rule 4. The turns that are available on every port that takes part; ports
 * that are not ready are marked SHUT. WEIR__LOOK_AGAIN: a handler has run, or a
 * signal has come, so that the result may be wrong.
 */
static inline uint32_t slice_look(struct slice *slice)
{
	struct weir_actor *actor = slice->actor;
	uint32_t least = WEIR__LOOK_AGAIN, turns, gate;
	struct weir_port *port;

	slice->most = WEIR__LOOK_AGAIN;
	for (port = actor->ports; port; port = port->next) {
		if (WEIR_LIKELY(weir__link_look(port, &turns))) {
			if (!turns)
				port->flags |= WEIR__PORT_SHUT;
			if (turns < least)
				least = turns;
		} else if (!look_at(slice, port, &least)) {
			return WEIR__LOOK_AGAIN;
		}
	}
	slice->portless = least == WEIR__LOOK_AGAIN;
	/* Rule 6. A signal that was sent before a token was put is handled
	 * before the token: this load is behind the acquire of the look, which
	 * pairs with the release of a thread that signals and then puts */
	gate = ck_pr_load_32(&actor->gate);
	if (slice->portless ||
	    (gate & (WEIR__GATE_SIGNALLED | WEIR__GATE_SUSPENSIONS)))
		return gate & WEIR__GATE_SIGNALLED ? WEIR__LOOK_AGAIN : 0;
	return least < slice->most ? least : slice->most;
}

/* --- Running ------------------------------------------------------------ */

/*
 * The one place where turns run: what is to be called around each firing goes
 * here. Up to `n` turns, in a bare loop; how many.
 */
static inline uint32_t fire(struct weir_actor *actor, uint32_t n)
{
	return actor->turns(actor, n);
}

/* At most `n` turns. Returns how many. */
static uint32_t run(struct slice *slice, uint32_t n)
{
	struct weir_actor *actor = slice->actor;
	uint64_t start = 0, ns;
	uint32_t done, available = n;
	bool clock;

	n = at_most(n, 1u << weir__actor_fit_log2(actor));
	n = at_most(n, slice->budget);
	clock = slice->clock ||
		((slice->has_run || n > 1) && weir__actor_times_run(actor));
	if (clock)
		start = weir_executor_now(actor->executor);
	assert(n > 0 && n <= slice->budget);
	done = fire(actor, n);
	if (clock) {
		ns = weir_executor_now(actor->executor) - start;
		slice->spent_ns += ns;
		weir__actor_learn_fit(actor, done, n, ns);
	}
	/* a turns function that returns a wrong count must not upset the
	 * budget */
	if (done == 0 || done > n)
		done = n;
	if (WEIR_UNLIKELY(slice->partial)) {
		slice->partial = false;
		weir__ports_partial(actor);
	}
	slice->has_run = true;
	slice->clock = false;
	slice->used_up = done == available && !slice->lanes;
	slice->budget -= done;
	if (slice->spent_ns >= actor->executor->options.budget_ns)
		slice->budget = 0;
	return done;
}

/* --- Slices ------------------------------------------------------------- */

/*
 * True if the thread has so little to do that the actor may stay unarmed and be
 * looked at again.
 */
static bool polls(void)
{
	return weir__thread.polls &&
	       weir__thread.polls(weir__thread.worker_state);
}

/*
 * As polls(), for an actor of any kind. False for an actor with a port that is
 * unblocked only after it was armed: the actor would wait for that port by
 * polling, and polling does not end while other actors on the thread are busy.
 */
static bool may_poll(const struct slice *slice)
{
	const struct weir_port *port;

	if (slice->has_run || slice->portless || slice->asked || slice->halted)
		return false;
	for (port = slice->actor->ports; port; port = port->next)
		if (!weir__port_off(port) && weir__port_ops(port)->arm)
			return false;
	return polls();
}

/*
 * Of an actor in a system. False: the actor ends or is halted, and its ports
 * are not looked at.
 */
static bool child_goes_on(struct slice *slice)
{
	struct weir_actor *actor = slice->actor;

	if (actor->flags & WEIR__ACTOR_LEAVING)
		weir__child_ops(actor)->leaving(actor);
	slice->halted = weir__actor_halted(actor);
	return !(actor->flags & WEIR__ACTOR_ENDING) && !slice->halted;
}

/*
 * Publishes what a run or a handler has put. Where turns may block the fence is
 * paid at once: a turn that blocks would not let the actor pay it.
 */
static void settle(struct slice *slice)
{
	slice_settle(slice->actor, NULL);
	if (WEIR_UNLIKELY(slice->blocks))
		slice_pay(slice->actor);
}

/* Between the runs: signals, the look, publishing. Returns turns to run. */
static uint32_t next_run(struct slice *slice)
{
	struct weir_actor *actor = slice->actor;
	uint32_t n;

	do {
		if (ck_pr_load_32(&actor->gate) & WEIR__GATE_SIGNALLED) {
			/* let others run: the actor stays signalled, so
			 * ready */
			if (WEIR_UNLIKELY(slice->signals++ == SIGNALS_MAX))
				return 0;
			weir__handle_signals(actor);
			if (WEIR_UNLIKELY(slice->blocks))
				settle(slice);
		}
		if (WEIR_UNLIKELY(actor->flags &
				  (WEIR__ACTOR_ENDING | WEIR__ACTOR_CHILD)) &&
		    ((actor->flags & WEIR__ACTOR_ENDING) ||
		     !child_goes_on(slice)))
			return 0;
		/* Cleared behind the handlers and before the look: the look
		 * sees what a handler has changed, so the next run need not be
		 * broken off for it. */
		weir__actor_clear(actor, WEIR__ACTOR_BREAK);
		n = slice_look(slice);
		if (WEIR_UNLIKELY(actor->flags & WEIR__ACTOR_PENDING) &&
		    n != WEIR__LOOK_AGAIN)
			n = weir__child_ops(actor)->pending(actor, n);
	} while (WEIR_UNLIKELY(n == WEIR__LOOK_AGAIN));
	return slice->budget ? n : 0;
}

/*
 * The runs of one slice. True: the slice was the final one. Otherwise, if the
 * slice has run no turn, *count is the number that the last swap has to add.
 */
static bool runs(struct slice *slice, int32_t *count)
{
	struct weir_actor *actor = slice->actor;
	uint32_t n;

	while (!slice->used_up && (n = next_run(slice))) {
		n = run(slice, n);
		if (slice->stats)
			weir__stats_add(&slice->stats->turns, n);
		settle(slice);
	}
	if (actor->flags & WEIR__ACTOR_ENDING)
		return true;
	slice_invalidate(actor, slice->used_up);
	if (may_poll(slice)) {
		slice_settle(actor, NULL); /* handlers may have put */
		slice_pay(actor);
		slice->has_run = true;
	} else if (!slice->used_up) {
		slice_settle(actor, slice->has_run ? NULL : count);
	}
	/* arming may fail */
	return (actor->flags & WEIR__ACTOR_ENDING) != 0;
}

/* What the short slice hands on to the general one. */
enum {
	HAS_RUN = 1u << 0, /* it has run, and not published */
	TIME_IT = 1u << 1, /* the next run is to be timed */
	ASKED = 1u << 2,   /* the thread does not poll */
};

/*
 * The general slice, or what is left to do of a short one. True: submit the
 * actor again.
 */
static __attribute__((noinline)) bool run_slice(struct weir_actor *actor,
						uint32_t before)
{
	struct slice slice = {
		.actor = actor,
		.budget = actor->executor->options.budget_turns,
		.has_run = before & HAS_RUN,
		.clock = before & TIME_IT,
		.asked = before & ASKED,
		.blocks = weir__thread.may_block,
		.stats = weir__actor_stats(actor),
	};
	int32_t count = 0;
	bool final;

	if (slice.has_run)
		slice_settle(actor, NULL);
	if (slice.stats)
		weir__stats_begin(actor, slice.stats);
	final = runs(&slice, &count);
	if (slice.stats)
		weir__stats_end(actor, slice.stats);
	if (!final) {
		/* The actor would end since the last run or the arming: another
		 * slice decides. */
		if (WEIR_UNLIKELY(actor->flags & WEIR__ACTOR_LEAVING))
			weir__actor_signal(actor, WEIR__SIGNAL_PORTS);
		weir__ports_find_simple(actor);
		return slice.has_run ||
		       gate_deschedule(actor, count,
				       slice.portless ? WEIR__GATE_PORTLESS
						      : 0);
	}
	/* no handler has run behind a run that has used up what there was */
	weir__actor_retire(actor, slice.used_up);
	weir__thread.task = NULL;
	weir_actor_unref(actor);
	return false;
}

/* A poll of a simple actor writes nothing that others read. */
static __attribute__((noinline)) bool found_nothing(struct weir_actor *actor,
						    uint32_t flags)
{
	if (flags & WEIR__ACTOR_OWES)
		return run_slice(actor, 0);
	return polls() || run_slice(actor, ASKED);
}

/*
 * The slice of a simple actor is one run. For it this function does what runs()
 * would do, and leaves out the checks for what cannot be the case with such an
 * actor.
 */
bool weir__actor_slice(struct weir_task *task)
{
	struct weir_actor *actor =
		weir_container_of(task, struct weir_actor, task);
	uint32_t n = actor->executor->options.budget_turns;
	uint32_t flags = actor->flags;
	struct weir_port *port = actor->ports;
	struct weir_in *in = NULL;
	struct weir_out *out = NULL;

	if (!(flags & WEIR__ACTOR_SIMPLE))
		return run_slice(actor, 0);
	if (flags & WEIR__ACTOR_TAKES) {
		in = (struct weir_in *)port;
		port = port->next;
		if (!weir__in_look(in, &n))
			return run_slice(actor, 0);
	}
	/* behind the acquire of the look, as in slice_look() */
	if (ck_pr_load_32(&actor->gate) &
	    (WEIR__GATE_SIGNALLED | WEIR__GATE_SUSPENSIONS))
		return run_slice(actor, 0);
	if (!n)
		return found_nothing(actor, flags);
	if (flags & WEIR__ACTOR_PUTS) {
		out = (struct weir_out *)port;
		weir__out_look(out, &n);
	}
	if (n <= 1) {
		if (!n)
			return found_nothing(actor, flags);
	} else {
		if (weir__actor_times_run(actor))
			return run_slice(actor, TIME_IT);
		n = at_most(n, RUN_MAX);
	}
	(void)fire(actor, n);
	/* release: as in publish() */
	ck_pr_fence_release();
	weir__actor_set(actor, WEIR__ACTOR_OWES);
	if (weir__actor_broken(actor) ||
	    (ck_pr_load_32(&actor->gate) & WEIR__GATE_SIGNALLED) ||
	    (in && weir__in_overtaken(in)))
		return run_slice(actor, HAS_RUN);
	if (in && weir__in_publish(in) && in->lane.out)
		weir__port_unblock(&in->lane.out->port);
	if (out && weir__out_publish(out))
		weir__port_unblock(&out->in->port);
	return true;
}

/* NOLINTEND(misc-no-recursion) */
