/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firing: what a slice does, which is what an executor runs for one submission
 * of an actor. It handles signals, looks at the ports (rule 4 of gate.c), runs
 * turns, publishes what they did, and at its end arms the ports that it has to
 * wait for (rules 2 and 3).
 *
 * There is one way to run turns, fire(). A simple actor comes there by a short
 * way (run_actor), any other by a general one (run_slice), on which the short
 * one ends, too, where something is not as it mostly is.
 */
#include "actor/firing.h"

#include <assert.h>

#include <ck_pr.h>

#include "actor/child_ops.h"
#include "actor/gate.h"
#include "actor/link.h"
#include "actor/port.h"
#include "actor/stats.h"
#include "base/fence.h"
#include "executor/thread.h"

#define CLOCK_NS 20u /* of a timed run: reading the clock */
#define RUN_MAX (1u << WEIR__FIT_LOG2_MAX) /* most turns of a run */

/*
 * Submitting may run a task (an executor that runs at once, or refuses), and
 * running it submits others: but inside a slice weir_task_run() only queues,
 * so that chain, which is most of this file, is entered twice at most.
 * NOLINTBEGIN(misc-no-recursion)
 */

/* --- Settling: rules 2 and 3 ------------------------------------------------ */

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

void weir__slice_invalidate(struct weir_actor *actor, bool published)
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

void weir__slice_settle(struct weir_actor *actor, int32_t *count)
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

void weir__slice_pay(struct weir_actor *actor)
{
	if (!(actor->flags & WEIR__ACTOR_OWES))
		return;
	/* store -> load: as in weir__slice_settle() */
	weir__fence_full();
	weir__actor_clear(actor, WEIR__ACTOR_OWES);
	wake_peers(actor, true);
}

/* --- Looking: rule 4 ---------------------------------------------------------- */

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
	struct weir_error *error = weir__in_ended(port);

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

/* --- Running ------------------------------------------------------------------ */

static uint32_t log2_floor(uint64_t x)
{
	return 63u - (uint32_t)__builtin_clzll(x | 1);
}

void weir__slice_learn(struct weir_actor *actor, uint32_t done, uint32_t n,
		       uint64_t ns)
{
	uint64_t publish_ns = actor->executor->options.publish_ns;
	uint64_t net_ns = ns > CLOCK_NS ? ns - CLOCK_NS : 1;
	uint32_t fit = log2_floor((done ? done : n) * publish_ns / net_ns);

	if (weir__thread.may_block ||
	    (!done && fit > weir__actor_fit_log2(actor)))
		return;
	weir__actor_set_fit(actor, at_most(fit, WEIR__FIT_LOG2_MAX));
}

/*
 * Notes for each in-port whose last tokens the run was given whether the turn
 * has taken any.
 */
static void after_partial(struct slice *slice)
{
	struct weir_port *port;

	slice->partial = false;
	for (port = slice->actor->ports; port; port = port->next)
		if (port->flags & WEIR__PORT_PARTIAL)
			weir__in_partial(port);
}

/*
 * Whether to time a run of several turns: always while the longest run is not
 * known to fit; then now and then, and when the executor says so.
 */
static inline bool time_run(const struct weir_actor *actor)
{
	if (weir__actor_fit_log2(actor) < WEIR__FIT_LOG2_MAX)
		return true;
	if (WEIR_LIKELY(++weir__thread.runs < WEIR__TIMED_RUNS))
		return false;
	weir__thread.runs = 0;
	return true;
}

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
	clock = slice->clock || ((slice->has_run || n > 1) && time_run(actor));
	if (clock)
		start = weir_executor_now(actor->executor);
	assert(n > 0 && n <= slice->budget);
	done = fire(actor, n);
	if (clock) {
		ns = weir_executor_now(actor->executor) - start;
		slice->spent_ns += ns;
		weir__slice_learn(actor, done, n, ns);
	}
	/* a turns function that returns a wrong count must not upset the
	 * budget */
	if (done == 0 || done > n)
		done = n;
	if (WEIR_UNLIKELY(slice->partial))
		after_partial(slice);
	slice->has_run = true;
	slice->clock = false;
	slice->used_up = done == available && !slice->lanes;
	slice->budget -= done;
	if (slice->spent_ns >= actor->executor->options.budget_ns)
		slice->budget = 0;
	return done;
}

/* --- Slices ------------------------------------------------------------------- */

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
	weir__slice_settle(slice->actor, NULL);
	if (WEIR_UNLIKELY(slice->blocks))
		weir__slice_pay(slice->actor);
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
	weir__slice_invalidate(actor, slice->used_up);
	if (may_poll(slice)) {
		weir__slice_settle(actor, NULL); /* handlers may have put */
		weir__slice_pay(actor);
		slice->has_run = true;
	} else if (!slice->used_up) {
		weir__slice_settle(actor, slice->has_run ? NULL : count);
	}
	/* arming may fail */
	return (actor->flags & WEIR__ACTOR_ENDING) != 0;
}

/*
 * Finds out whether the actor is simple: it has one in-port, one out-port, or
 * both, in this order, with one link each and nothing special about them. Every
 * change of this breaks the run (weir__actor_break), after which the actor is
 * not simple until it is found to be so again.
 */
static void find_simple(struct weir_actor *actor)
{
	struct weir_port *port = actor->ports;
	uint32_t flags = 0;

	weir__actor_clear(actor, WEIR__ACTOR_BREAK);
	/* the short slice is for turns that do not block */
	if (weir__thread.may_block)
		return;
	if (port && weir__in_of(port)) {
		flags |= WEIR__ACTOR_TAKES;
		port = port->next;
	}
	if (port && weir__out_of(port)) {
		flags |= WEIR__ACTOR_PUTS;
		port = port->next;
	}
	if ((port && !weir__port_adapts(port)) || weir__actor_stats(actor) ||
	    (actor->flags & WEIR__ACTOR_PENDING))
		return;
	for (port = actor->ports; port; port = port->next)
		if (!weir__port_adapts(port) &&
		    (weir__port_off(port) || !(port->flags & WEIR__PORT_LINK)))
			return;
	weir__actor_set(actor, flags);
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
		weir__slice_settle(actor, NULL);
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
		find_simple(actor);
		return slice.has_run ||
		       weir__gate_deschedule(
			       actor, count,
			       slice.portless ? WEIR__GATE_PORTLESS : 0);
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
 * One slice. True: submit the actor again.
 *
 * Most actors are simple, and nothing has happened to them. The slice of such
 * an actor is one run. For it this function does what runs() would do, and
 * leaves out the checks for what cannot be the case with such an actor.
 */
static inline bool run_actor(struct weir_actor *actor)
{
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
		if (time_run(actor))
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

/* --- What executors do with actors ------------------------------------------ */

static struct weir_actor *actor_of(struct weir_task *task)
{
	return weir_container_of(task, struct weir_actor, task);
}

static bool task_run(struct weir_task *task)
{
	return run_actor(actor_of(task));
}

static void task_submit(struct weir_task *task)
{
	weir__actor_submit(actor_of(task));
}

static bool task_tryref(struct weir_task *task)
{
	struct weir_actor *actor = actor_of(task);
	uint32_t refs = ck_pr_load_32(&actor->refs);

	/* relaxed: the registry's lock keeps the memory there meanwhile */
	while (refs)
		if (ck_pr_cas_32_value(&actor->refs, refs, refs + 1, &refs))
			return true;
	return false;
}

static void task_unref(struct weir_task *task)
{
	weir_actor_unref(actor_of(task));
}

static void task_end(struct weir_task *task, enum weir__phase phase)
{
	weir__actor_signal(actor_of(task), phase == WEIR__ABORTING
						   ? WEIR__SIGNAL_ABORT
						   : WEIR__SIGNAL_DRAIN);
}

/* Before the constructors of a program, which may start actors. */
static __attribute__((constructor(101))) void hand_over(void)
{
	static const struct weir__task_ops actors = {
		.run = task_run,
		.submit = task_submit,
		.tryref = task_tryref,
		.unref = task_unref,
		.end = task_end,
	};

	weir__tasks = &actors;
}
