/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The firing protocol: when an actor runs, and how it ends.
 *
 * The gate is one atomic word: flags in its low bits, above them the signed
 * count of blocked ports. *Ready* means: SIGNALLED, or count == 0 and not
 * suspended. SCHEDULED is held from submission to the end of the slice.
 * Every port has a word `blocked`; the owner alone sets it, anybody may
 * exchange it for 0.
 *
 * Rule 1  An actor is submitted by whoever sets SCHEDULED, in the same swap
 *         that makes it ready: so exactly once. The submitter touches it no
 *         more after the enqueue. [gate_update, gate_rest]
 * Rule 2  Who unblocks a port publishes first, then a full fence, then loads
 *         `blocked`; if 1 it exchanges it for 0, and only who read 1 takes
 *         one off the count. While SCHEDULED is clear the count is the
 *         blocked ports plus decrements under way, never negative: a late
 *         decrement delays and loses nothing. [weir__port_unblock]
 *         A slice that has run turns may leave the fence out: it keeps
 *         SCHEDULED, and the slice that arms at last fences once and looks at
 *         every link's `blocked` again. What the first look missed is woken
 *         then, before the owner can rest. [publish, settle]
 * Rule 3  The owner blocks ports at the end of a slice only: `blocked = 1`
 *         for each port that was not ready and reads 0, one full fence for
 *         all, then a second look at each; who has become ready meanwhile is
 *         undone by the same exchange; so is a port that its owner has made
 *         ready while it was counted. The last swap adds the rest to the
 *         count and clears SCHEDULED, or, when that makes it ready, keeps it
 *         and submits again. [arm, look_again, gate_rest]
 *
 *         No wake-up is lost: the token's index is published before the
 *         producer's fence, `blocked` set before the owner's; of two full
 *         fences one is first, so either the producer sees `blocked` or the
 *         owner's second look sees the token. Both may: the exchange decides
 *         which of them counts.
 * Rule 4  count == 0 is a hint. A slice looks before it runs a turn, and may
 *         find nothing. [look]
 * Rule 5  Signals: the payload first, then SIGNALLED, always by a swap. The
 *         slice clears SIGNALLED first and reads the payloads then: a signal
 *         whose swap came before the clear is seen now, one that came after
 *         has set the bit again. Handled before turns and between runs, also
 *         when ports are blocked or the actor is suspended. [handle_signals]
 * Rule 6  Suspension is a bit in the gate, part of "ready"; clearing it
 *         submits by rule 1. Each look reads it. An actor none of whose ports
 *         takes part is suspended by a bit of its own, set in the last swap
 *         and cleared with the next signal: only a handler can change that.
 * Rule 7  The owner may change its set of ports: switching off exchanges
 *         `blocked` for 0 and, having read 1, takes one off the count;
 *         switching on sets nothing. Either breaks the run of turns.
 * Rule 8  The final slice closes all ports and never gives SCHEDULED back:
 *         unblocks and signals that come later change bits and submit
 *         nothing. It drops the actor's own reference last. Who may touch the
 *         actor from outside holds one too; the last drop drains what came
 *         late and calls `released`. [retire, weir_actor_unref]
 * Rule 9  After the swap that clears SCHEDULED, or after its last drop, the
 *         owner does not touch the actor again.
 *
 * A slice is a loop of runs. Before each run it takes the minimum over the
 * ports of what is certain; inside a run ports are plain memory with private
 * cursors. What a run did is published together.
 *
 * A slice that has run a turn does not arm: with others at work there is mostly
 * something to do when its actor's time comes again, so it keeps SCHEDULED and
 * is submitted again. One that finds nothing arms, and pays the fence that
 * earlier ones owe (rule 2) with its own. So while a pipeline of links is busy
 * there is no swap, no fence and no port to unblock; an actor that falls idle
 * pays one look more.
 *
 * A run takes as many turns as fit into publish_ns by what the actor's turns
 * have cost: the first run is one turn; runs are timed while that number may
 * still change, and now and then when it has reached the maximum.
 *
 * Most actors are *stages*: an in-port, an out-port, or both, with one link each
 * (find_stage). As long as nothing has happened to one, its slice is one run in a
 * straight line (run_actor), a third of the instructions of the general slice.
 */
#include "actor/gate.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/link.h"
#include "actor/port.h"
#include "actor/stats.h"
#include "base/fence.h"
#include "executor/registry.h"

#define GATE_COUNT (~(uint32_t)(WEIR__GATE_ONE - 1))
#define GATE_SUSPENSIONS \
	(WEIR__GATE_SUSPENDED | WEIR__GATE_SUSPENDED_PARENT | \
	 WEIR__GATE_PORTLESS)
#define CLOCK_NS 20u /* of a timed run: reading the clock */
#define RUN_LOG2_MAX 8u
#define RUN_MAX (1u << RUN_LOG2_MAX) /* most turns of a run */
#define RUN_LOG2_MASK (UINT16_MAX & ~(WEIR__ACTOR_RUN - 1u))
#define LOOK_AGAIN UINT32_MAX

/*
 * Submitting may run a task (an executor that runs at once, or refuses), and
 * running it submits others: but inside a slice weir_task_run() only queues,
 * so that chain, which is most of this file, is entered twice at most.
 * NOLINTBEGIN(misc-no-recursion)
 */

/* What one slice knows; on its stack. */
struct slice {
	struct weir_actor *actor;
	uint32_t budget; /* turns left */
	uint32_t most;	 /* turns that ports allow that take no part */
	uint64_t spent_ns;
	bool has_run;
	bool clock;   /* the next run is timed */
	bool used_up; /* the last run took all that was certain */
	bool lanes; /* an in-port merges: there may be more than was certain */
	bool portless; /* no port takes part */
	bool partial;  /* an in-port has less than a burst, its last tokens */
};

static inline uint32_t at_most(uint32_t n, uint32_t most)
{
	return n < most ? n : most;
}

static inline uint32_t run_log2(const struct weir_actor *actor)
{
	return actor->flags / WEIR__ACTOR_RUN;
}

static bool ready(uint32_t gate)
{
	if (gate & WEIR__GATE_SIGNALLED)
		return true;
	return !(gate & (GATE_COUNT | GATE_SUSPENSIONS));
}

/* A submission was refused: SCHEDULED is ours, so is the final slice. */
static void refused(struct weir_actor *actor, int code)
{
	weir__actor_end(actor, weir_error_of(code), true);
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
 * Rule 1. The one way to change the gate from outside; linearises at its swap.
 */
static void gate_update(struct weir_actor *actor, uint32_t clear, uint32_t set,
			uint32_t add)
{
	uint32_t old = ck_pr_load_32(&actor->gate), next;
	bool submits;

	/* release: what led to this change; pairs with the acquire after the
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
	/* acquire: the last slice's release in gate_rest(); we own it now */
	ck_pr_fence_acquire();
	weir__actor_submit(actor);
}

/*
 * Rule 3, the last swap. True: the actor is to be submitted again. Rule 9: on
 * false it is not ours any more.
 */
static bool gate_rest(struct weir_actor *actor, int32_t count, uint32_t set)
{
	uint32_t add = (uint32_t)count * WEIR__GATE_ONE;
	uint32_t old = ck_pr_load_32(&actor->gate), next;
	bool again;

	/* release: all the slice did; pairs with the acquire in gate_update()
	 * of whoever schedules the actor next */
	ck_pr_fence_release();
	do {
		next = (old + add) | set;
		again = ready(next);
		if (!again)
			next &= ~(uint32_t)WEIR__GATE_SCHEDULED;
		assert(old & WEIR__GATE_SCHEDULED);
		/* Linearises here. At rest the count is that of the blocked
		 * ports (rule 2). */
		assert(again || (int32_t)next >= 0);
	} while (!ck_pr_cas_32_value(&actor->gate, old, next, &old));
	return again;
}

static __attribute__((noinline)) void unblock(struct weir_port *port)
{
	if (ck_pr_fas_32(port->block, 0))
		gate_update(port->actor, 0, 0, 0u - WEIR__GATE_ONE);
}

void weir__port_unblock(struct weir_port *port)
{
	/* No acquire: reading 0 means the owner will look for itself. */
	if (ck_pr_load_32(port->block))
		unblock(port);
}

void weir__actor_signal(struct weir_actor *actor, uint8_t signals)
{
	if (signals) {
		/* release: what the signal is about; pairs with the acquire in
		 * handle_signals() of a slice that takes the payload before
		 * our bit is in the gate */
		ck_pr_fence_release();
		ck_pr_or_8(&actor->signals, signals);
	}
	/* payload before the bit: the release is in gate_update(), its partner
	 * the acquire in handle_signals() */
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
	weir__actor_clear(actor, WEIR__ACTOR_STAGE);
	weir__actor_set(actor, WEIR__ACTOR_BREAK);
}

void weir__actor_end(struct weir_actor *actor, struct weir_error *error,
		     bool failed)
{
	if (actor->flags & WEIR__ACTOR_ENDING) {
		weir_error_unref(error);
		return;
	}
	actor->error = error;
	weir__actor_set(actor, WEIR__ACTOR_ENDING);
	if (failed)
		weir__actor_set(actor, WEIR__ACTOR_FAILED);
	weir__actor_break(actor);
}

static void fail(struct weir_actor *actor, int rc)
{
	if (rc != 0)
		(void)weir_actor_fail_code(actor, rc);
}

/*
 * Executor drain: sources finish, what weir_in_put() feeds ends. Who takes
 * from a shared object is no source: it ends when that does.
 */
static void drain(struct weir_actor *actor)
{
	struct weir_port *port;
	bool source = true;

	for (port = actor->ports; port; port = port->next) {
		if (port->kind == WEIR__PORT_IN)
			weir__in_refuse(port);
		if (weir__port_ops(port)->takes)
			source = false;
	}
	if (source)
		weir__actor_end(actor, NULL, false);
}

/* Rule 5. */
static void handle_signals(struct weir_actor *actor)
{
	struct weir_port *port;
	uint8_t signals;

	ck_pr_and_32(&actor->gate,
		     ~(uint32_t)(WEIR__GATE_SIGNALLED | WEIR__GATE_PORTLESS));
	/* acquire: the payload of every signal whose swap we have just cleared;
	 * pairs with the release in gate_update() */
	ck_pr_fence_atomic();
	signals = ck_pr_fas_8(&actor->signals, 0);
	/* acquire: what those signals are about; pairs with the release in
	 * weir__actor_signal() */
	ck_pr_fence_atomic_load();
	if (signals & WEIR__SIGNAL_STOP)
		weir__actor_end(actor, weir_error_of(-ECANCELED), false);
	if (actor->flags & WEIR__ACTOR_ENDING)
		return;
	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops = weir__port_ops(port);

		if (ops->signalled)
			fail(actor, ops->signalled(port));
	}
	if (signals & WEIR__SIGNAL_DRAIN)
		drain(actor);
	if ((signals & WEIR__SIGNAL_USER) && actor->ops->signalled)
		fail(actor, actor->ops->signalled(actor));
}

/* The stream of an in-port is over and all its tokens are taken. */
static void end_of_stream(struct weir_actor *actor, struct weir_port *port)
{
	struct weir_error *error = weir__in_ended(port);

	if (actor->ops->ended)
		fail(actor,
		     actor->ops->ended(actor, (struct weir_in *)port, error));
	else
		weir__actor_end(actor, weir_error_ref(error), false);
	weir_error_unref(error);
}

/* Looks at one port, of whatever kind. False: a handler has run. */
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
 * Rule 4. Turns that are certain, by the ports that take part; notes in SHUT
 * which are not ready. LOOK_AGAIN: a handler has run, everything may differ.
 */
static inline uint32_t look(struct slice *slice)
{
	struct weir_actor *actor = slice->actor;
	uint32_t least = LOOK_AGAIN, turns;
	struct weir_port *port;

	slice->most = LOOK_AGAIN;
	for (port = actor->ports; port; port = port->next) {
		if (WEIR_LIKELY(weir__link_look(port, &turns))) {
			if (!turns)
				port->flags |= WEIR__PORT_SHUT;
			if (turns < least)
				least = turns;
		} else if (!look_at(slice, port, &least)) {
			return LOOK_AGAIN;
		}
	}
	slice->portless = least == LOOK_AGAIN;
	/* Rule 6 */
	if (slice->portless || (ck_pr_load_32(&actor->gate) & GATE_SUSPENSIONS))
		return 0;
	return least < slice->most ? least : slice->most;
}

/*
 * Rule 3: blocks what is not ready; what is ready and still counted (its owner
 * made it so: fewer links to wait for, a smaller burst) is taken off. Adds to
 * *count how many more ports are blocked than before. True: some were armed.
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
			fail(actor, ops->arm(port));
		/* 1: armed before and still counted; only we set it */
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

/* Rule 3: the second look takes off *count what need not have been armed. */
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
		/* Whoever reads 1 counts (rule 2); here: one not added. If it
		 * was another thread, its decrement is on its way. */
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

	/* release: tokens before indices; pairs with the acquire in `certain`
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

/* After the fence: whom may concern what was published, now or owed. */
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
 * The slice is over: what is certain is so no more. After a run publishing has
 * seen to that for ports with one link.
 */
static void rest(struct weir_actor *actor, bool published)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops;

		if (published && port->kind <= WEIR__PORT_OUT)
			continue;
		ops = weir__port_ops(port);
		if (ops->rest)
			ops->rest(port);
	}
}

/*
 * Publishes what the last run did and, when a slice has found nothing (`count`
 * is not NULL), arms: one full fence for both (rules 2 and 3), also for what
 * earlier slices owe. *count is what the last swap has to add.
 */
static inline void settle(struct weir_actor *actor, int32_t *count)
{
	bool armed = count && arm(actor, count);
	bool dirty = publish(actor);
	bool owes = count && (actor->flags & WEIR__ACTOR_OWES);

	if (!armed && !dirty && !owes)
		return;
	/* store -> load: our indices before their `blocked` (partner: the one
	 * fence of the peer that arms), our `blocked` before their indices
	 * (partner: the fence of the peer that publishes) */
	weir__fence_full();
	if (owes)
		weir__actor_clear(actor, WEIR__ACTOR_OWES);
	if (dirty || owes)
		wake_peers(actor, owes);
	if (armed)
		look_again(actor, count);
}

static uint32_t log2_floor(uint64_t x)
{
	return 63u - (uint32_t)__builtin_clzll(x | 1);
}

/* Learns from a timed run how many turns fit into publish_ns. */
static void learn(struct weir_actor *actor, uint32_t turns, uint64_t ns)
{
	uint64_t publish_ns = actor->executor->options.publish_ns;
	uint64_t net_ns = ns > CLOCK_NS ? ns - CLOCK_NS : 1;
	uint32_t fit = log2_floor(turns * publish_ns / net_ns);

	weir__actor_clear(actor, RUN_LOG2_MASK);
	weir__actor_set(actor, at_most(fit, RUN_LOG2_MAX) * WEIR__ACTOR_RUN);
}

/* Rests of streams that a run has just been given: was anything taken? */
static void after_partial(struct slice *slice)
{
	struct weir_port *port;

	slice->partial = false;
	for (port = slice->actor->ports; port; port = port->next)
		if (port->flags & WEIR__PORT_PARTIAL)
			weir__in_partial(port);
}

/*
 * Whether to time a run of several turns: always, until it is known that as
 * many as may be fit; then now and then, and when the executor says so.
 */
static inline bool time_run(const struct weir_actor *actor)
{
	if (run_log2(actor) < RUN_LOG2_MAX)
		return true;
	if (WEIR_LIKELY(++weir__thread.runs < WEIR__TIMED_RUNS))
		return false;
	weir__thread.runs = 0;
	return true;
}

/* At most `n` turns, in a bare loop. Returns how many. */
static uint32_t run(struct slice *slice, uint32_t n)
{
	struct weir_actor *actor = slice->actor;
	uint64_t start = 0, ns;
	uint32_t done, certain = n;
	bool clock;

	n = at_most(n, 1u << run_log2(actor));
	n = at_most(n, slice->budget);
	clock = slice->clock || ((slice->has_run || n > 1) && time_run(actor));
	if (clock)
		start = weir_executor_now(actor->executor);
	assert(n > 0 && n <= slice->budget);
	done = actor->turns(actor, n);
	if (clock) {
		ns = weir_executor_now(actor->executor) - start;
		slice->spent_ns += ns;
		learn(actor, done, ns);
	}
	/* a turns function that counts wrong must not upset the budget */
	if (done == 0 || done > n)
		done = n;
	if (WEIR_UNLIKELY(slice->partial))
		after_partial(slice);
	slice->has_run = true;
	slice->clock = false;
	slice->used_up = done == certain && !slice->lanes;
	slice->budget -= done;
	if (slice->spent_ns >= actor->executor->options.budget_ns)
		slice->budget = 0;
	return done;
}

/*
 * Rule 8: the final slice. What is owed to peers need not be paid: they all get
 * a signal, an end or a cancel.
 */
static void retire(struct weir_actor *actor)
{
	struct weir_executor *executor = actor->executor;
	struct weir_port *port;

	assert(actor->flags & WEIR__ACTOR_ENDING);
	assert(actor->state == WEIR__STATE_RUNNING ||
	       actor->state == WEIR__STATE_NEW);
	weir__set_state(actor, WEIR__STATE_ENDING);
	if ((actor->flags & WEIR__ACTOR_FAILED) && executor->options.failed)
		executor->options.failed(actor, actor->error,
					 executor->options.context);
	settle(actor, NULL);
	for (port = actor->ports; port; port = port->next)
		if (weir__port_ops(port)->close)
			weir__port_ops(port)->close(port, actor->error);
	if (actor->ops->stopped)
		actor->ops->stopped(actor, actor->error);
	weir__set_state(actor, WEIR__STATE_ENDED);
}

/* Between the runs: signals, the look, publishing. Returns turns to run. */
static uint32_t next_run(struct slice *slice)
{
	struct weir_actor *actor = slice->actor;
	uint32_t n;

	do {
		weir__actor_clear(actor, WEIR__ACTOR_BREAK);
		if (ck_pr_load_32(&actor->gate) & WEIR__GATE_SIGNALLED)
			handle_signals(actor);
		if (WEIR_UNLIKELY(actor->flags & WEIR__ACTOR_ENDING))
			return 0;
		n = look(slice);
	} while (WEIR_UNLIKELY(n == LOOK_AGAIN));
	return slice->budget ? n : 0;
}

/*
 * The runs of one slice. True: it was the final one. Else, if it has run no
 * turn, *count is what the last swap has to add.
 */
static bool runs(struct slice *slice, int32_t *count)
{
	struct weir_actor *actor = slice->actor;
	struct weir_stats *stats = actor->stats;
	uint32_t n;

	while (!slice->used_up && (n = next_run(slice))) {
		n = run(slice, n);
		if (stats)
			weir__stats_add(&stats->turns, n);
		settle(actor, NULL);
	}
	if (actor->flags & WEIR__ACTOR_ENDING)
		return true;
	rest(actor, slice->used_up);
	if (!slice->used_up)
		settle(actor, slice->has_run ? NULL : count);
	/* arming may fail */
	return (actor->flags & WEIR__ACTOR_ENDING) != 0;
}

/*
 * Finds out whether the actor is a stage: it has one in-port, one out-port, or
 * both, in this order, with one link each and nothing special about them. What
 * changes that breaks the run (weir__actor_break), and so ends being a stage.
 */
static void find_stage(struct weir_actor *actor)
{
	struct weir_port *port = actor->ports;
	uint32_t stage = 0;

	weir__actor_clear(actor, WEIR__ACTOR_BREAK);
	if (port && port->kind == WEIR__PORT_IN) {
		stage |= WEIR__ACTOR_TAKES;
		port = port->next;
	}
	if (port && port->kind == WEIR__PORT_OUT) {
		stage |= WEIR__ACTOR_PUTS;
		port = port->next;
	}
	if (port || actor->stats)
		return;
	for (port = actor->ports; port; port = port->next)
		if (weir__port_off(port) || !(port->flags & WEIR__PORT_LINK))
			return;
	weir__actor_set(actor, stage);
}

/* What the short slice has done. */
enum {
	HAS_RUN = 1u << 0, /* a run, not published */
	TIME_IT = 1u << 1, /* found that the next run is to be timed */
};

/* The general slice, or the rest of one. True: submit the actor again. */
static __attribute__((noinline)) bool run_slice(struct weir_actor *actor,
						uint32_t before)
{
	struct slice slice = {
		.actor = actor,
		.budget = actor->executor->options.budget_turns,
		.has_run = before & HAS_RUN,
		.clock = before & TIME_IT,
	};
	int32_t count = 0;
	bool final;

	if (slice.has_run)
		settle(actor, NULL);
	if (actor->stats)
		weir__stats_begin(actor);
	final = runs(&slice, &count);
	if (actor->stats)
		weir__stats_end(actor);
	if (!final) {
		find_stage(actor);
		return slice.has_run ||
		       gate_rest(actor, count,
				 slice.portless ? WEIR__GATE_PORTLESS : 0);
	}
	retire(actor);
	weir__thread.actor = NULL;
	weir_actor_unref(actor);
	return false;
}

/*
 * One slice. True: submit the actor again.
 *
 * Most actors are stages, and to most nothing has happened: then a slice is one
 * run, and this does what runs() would, without asking for anything that cannot
 * be.
 */
static inline bool run_actor(struct weir_actor *actor)
{
	uint32_t n = actor->executor->options.budget_turns;
	uint32_t flags = actor->flags;
	struct weir_port *port = actor->ports;
	struct weir_in *in = NULL;
	struct weir_out *out = NULL;

	if (!(flags & WEIR__ACTOR_STAGE) ||
	    (ck_pr_load_32(&actor->gate) &
	     (WEIR__GATE_SIGNALLED | GATE_SUSPENSIONS)))
		return run_slice(actor, 0);
	if (flags & WEIR__ACTOR_TAKES) {
		in = (struct weir_in *)port;
		port = port->next;
		if (!weir__in_look(in, &n))
			return run_slice(actor, 0);
	}
	if (flags & WEIR__ACTOR_PUTS) {
		out = (struct weir_out *)port;
		weir__out_look(out, &n);
	}
	if (n <= 1) {
		if (!n)
			return run_slice(actor, 0);
	} else {
		if (time_run(actor))
			return run_slice(actor, TIME_IT);
		n = at_most(n, RUN_MAX);
	}
	(void)actor->turns(actor, n);
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

/*
 * An executor that runs at once, or refuses, gets to weir_task_run() inside a
 * slice: the task waits in a list of the thread, so that the stack stays flat.
 */
static __attribute__((noinline)) void put_off(struct weir__thread *thread,
					      struct weir_task *task)
{
	task->next = NULL;
	if (thread->pending_tail)
		thread->pending_tail->next = task;
	else
		thread->pending_head = task;
	thread->pending_tail = task;
}

static inline bool run_one(struct weir__thread *thread, struct weir_task *task)
{
	struct weir_actor *actor =
		weir_container_of(task, struct weir_actor, task);
	bool again;

	thread->actor = actor;
	again = run_actor(actor);
	thread->actor = NULL;
	return again;
}

static __attribute__((noinline)) void run_pending(struct weir__thread *thread)
{
	struct weir_task *task;

	while ((task = thread->pending_head)) {
		thread->pending_head = task->next;
		if (!thread->pending_head)
			thread->pending_tail = NULL;
		if (run_one(thread, task))
			weir__actor_submit(weir_container_of(
				task, struct weir_actor, task));
	}
}

static inline void leave(struct weir__thread *thread)
{
	if (WEIR_UNLIKELY(thread->pending_head))
		run_pending(thread);
	thread->running = false;
}

bool weir__task_run(struct weir_task *task)
{
	struct weir__thread *thread = &weir__thread;
	bool again = run_one(thread, task);

	assert(thread->running);
	if (WEIR_UNLIKELY(thread->pending_head))
		run_pending(thread);
	return again;
}

void weir_task_run(struct weir_task *task)
{
	struct weir__thread *thread = &weir__thread;

	if (WEIR_UNLIKELY(thread->running)) {
		put_off(thread, task);
		return;
	}
	thread->running = true;
	if (run_one(thread, task))
		weir__actor_submit(
			weir_container_of(task, struct weir_actor, task));
	leave(thread);
}

void weir__actor_retire_new(struct weir_actor *actor)
{
	struct weir__thread *thread = &weir__thread;
	struct weir_actor *outer = thread->actor;
	bool inside = thread->running;

	thread->running = true;
	thread->actor = actor;
	weir__actor_end(actor, weir_error_of(-ECANCELED), false);
	retire(actor);
	thread->actor = outer;
	weir_actor_unref(actor);
	if (!inside)
		leave(thread);
}

static void release(struct weir_actor *actor)
{
	struct weir_executor *executor = actor->executor;
	bool registered = actor->flags & WEIR__ACTOR_REGISTERED;
	struct weir_port *port, *next;

	assert(actor->state == WEIR__STATE_ENDED);
	for (port = actor->ports; port; port = next) {
		next = port->next;
		if (weir__port_ops(port)->fini)
			weir__port_ops(port)->fini(port);
	}
	weir_error_unref(actor->error);
	if (registered)
		weir__registry_remove(executor, actor->index);
	if (actor->ops->released)
		actor->ops->released(actor);
	if (registered)
		weir__registry_done(executor);
}

struct weir_actor *weir_actor_ref(struct weir_actor *actor)
{
	/* relaxed: the caller holds a reference that keeps the actor there */
	if (actor)
		ck_pr_inc_32(&actor->refs);
	return actor;
}

void weir_actor_unref(struct weir_actor *actor)
{
	if (!actor)
		return;
	/* release: our last touch; pairs with the acquire of the last drop */
	ck_pr_fence_release();
	if (ck_pr_faa_32(&actor->refs, (uint32_t)-1) != 1)
		return;
	/* acquire: everybody's last touch, before the memory is reused */
	ck_pr_fence_acquire();
	release(actor);
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
