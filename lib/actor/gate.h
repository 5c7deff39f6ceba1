/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gate word and the calls of the rest of the actor layer on it. How the
 * gate works, and why it is right, is described in gate.c.
 */
#ifndef WEIR_ACTOR_GATE_H
#define WEIR_ACTOR_GATE_H

#include <stdbool.h>

#include <ck_pr.h>

#include <weir/actor.h>
#include <weir/port.h>

#include "executor/task.h"

/* Bits of the gate; above them the signed count of blocked ports. */
enum {
	WEIR__GATE_SCHEDULED = 1u << 0,
	/* WEIR__GATE_SIGNALLED = 1u << 1 */
	WEIR__GATE_SUSPENDED = 1u << 3,	       /* by weir_actor_suspend() */
	WEIR__GATE_SUSPENDED_PARENT = 1u << 4, /* by supervision, or ending */
	WEIR__GATE_PORTLESS = 1u << 5,	       /* no port takes part */
	WEIR__GATE_SUSPENSIONS = WEIR__GATE_SUSPENDED |
				 WEIR__GATE_SUSPENDED_PARENT |
				 WEIR__GATE_PORTLESS,
	/* As WEIR__ACTOR_CHILD, for threads other than the owner. */
	WEIR__GATE_CHILD = 1u << 6,
	WEIR__GATE_ONE = 1u << 8, /* one blocked port */
};

/* Payloads of the signal lane, in actor->signals. */
enum {
	WEIR__SIGNAL_STOP = 1u << 0, /* weir_actor_stop() */
	WEIR__SIGNAL_DRAIN = 1u << 1,
	WEIR__SIGNAL_USER = 1u << 2,
	WEIR__SIGNAL_SYSTEM = 1u << 3, /* from the tree, see child.h */
	WEIR__SIGNAL_ABORT = 1u << 4,  /* the executor stops its actors */
	WEIR__SIGNAL_STOPS = WEIR__SIGNAL_STOP | WEIR__SIGNAL_ABORT,
	/* Nothing but "look at your ports": an end or a cancel. */
	WEIR__SIGNAL_PORTS = 0,
};

/*
 * actor->state.
 *
 *	NEW -> RUNNING     weir_actor_start() or weir_system_spawn(), by a swap
 *	NEW -> HELD        weir__actors_hold(), by a swap
 *	NEW -> ENDING      weir_actor_stop(), by a swap; its thread is the owner
 *	HELD -> NEW        weir__actor_disclaim()
 *	RUNNING -> NEW     the same: the start has failed
 *	RUNNING -> ENDING  the slice that retires it
 *	ENDING -> ENDED    the same thread
 *
 * A thread that stops an actor signals it first, and then ends it if it is NEW.
 * A thread that makes it NEW again looks at the signals then. So an actor that
 * is to stop ends, whatever becomes of its start, and the swap decides which
 * thread ends it. While an actor is HELD other threads wait for the holder.
 *
 * An abort is no such stop: after an abort no start succeeds, and what the
 * start's caller does next may rely on the actor's being there.
 */
enum {
	WEIR__STATE_NEW,
	WEIR__STATE_HELD,
	WEIR__STATE_RUNNING,
	WEIR__STATE_ENDING,
	WEIR__STATE_ENDED,
};

/* actor->flags, the owner's. */
enum {
	/* WEIR__ACTOR_BREAK = 1u << 0: the run of turns is over */
	WEIR__ACTOR_ENDING = 1u << 1,	  /* this slice is the last */
	WEIR__ACTOR_FAILED = 1u << 2,	  /* it ends because it has failed */
	WEIR__ACTOR_REGISTERED = 1u << 3, /* in its executor's registry */
	WEIR__ACTOR_OWES = 1u << 4,	  /* published to links, not fenced */
	/* Simple, see find_simple(): with an in-port, with an out-port. */
	WEIR__ACTOR_TAKES = 1u << 5,
	WEIR__ACTOR_PUTS = 1u << 6,
	WEIR__ACTOR_SIMPLE = WEIR__ACTOR_TAKES | WEIR__ACTOR_PUTS,
	WEIR__ACTOR_CHILD = 1u << 7,   /* in a system, see child.h */
	WEIR__ACTOR_LEAVING = 1u << 8, /* a child would end here */
	WEIR__ACTOR_PENDING = 1u << 9, /* a child has pending messages */
	WEIR__ACTOR_BECAME = 1u << 10, /* weir_actor_become() was called */
	WEIR__ACTOR_CLOSED = 1u
			     << 11, /* a child that can neither end nor fail */
	/* The rest is a number: runs of 2^number turns fit into publish_ns. */
	WEIR__ACTOR_RUN = 1u << 12,
};

static inline void weir__actor_set(struct weir_actor *actor, uint32_t flags)
{
	actor->flags = (uint16_t)(actor->flags | flags);
}

static inline void weir__actor_clear(struct weir_actor *actor, uint32_t flags)
{
	actor->flags = (uint16_t)(actor->flags & ~flags);
}

#define WEIR__FIT_LOG2_MAX 8u

/*
 * The power of 2 of the number of turns that fit into publish_ns, by what they
 * last cost.
 */
static inline uint32_t weir__actor_fit_log2(const struct weir_actor *actor)
{
	return actor->flags / WEIR__ACTOR_RUN;
}

static inline void weir__actor_set_fit(struct weir_actor *actor, uint32_t log2)
{
	weir__actor_clear(actor, UINT16_MAX & ~(WEIR__ACTOR_RUN - 1u));
	weir__actor_set(actor, log2 * WEIR__ACTOR_RUN);
}

/*
 * Atomic: other threads ask whether the actor is new. No order: a thread that
 * finds it new sets it up.
 */
static inline uint8_t weir__state(const struct weir_actor *actor)
{
	return ck_pr_load_8(&actor->state);
}

static inline void weir__set_state(struct weir_actor *actor, uint8_t state)
{
	ck_pr_store_8(&actor->state, state);
}

/* True if the actor was neither started nor stopped. */
static inline bool weir__is_new(const struct weir_actor *actor)
{
	return weir__state(actor) <= WEIR__STATE_HELD;
}

/*
 * True: no other thread may touch the actor, nor has one that it would have to
 * wait for. A thread other than the owner's holds a reference as long as it may
 * touch the actor, and gets one from a thread that holds one; so if the actor's
 * own reference is the only one, nobody is left who could give another. There
 * are two who give references without holding one. An executor does to itself,
 * under the registry's lock, to send signals: it writes the gate, the signals
 * and the references, and nothing else of an actor. A system does to anybody:
 * so this is false of an actor in a system. Owner.
 */
static inline bool weir__actor_unshared(const struct weir_actor *actor)
{
	uint32_t refs = ck_pr_load_32(&actor->refs);

	/* acquire: the last touches of those who have dropped theirs; pairs
	 * with the release in weir__unref() */
	ck_pr_fence_acquire();
	return refs == 1 && !(actor->flags & WEIR__ACTOR_CHILD);
}

/* The actor whose slice this is, or NULL. */
static inline struct weir_actor *weir__actor_here(void)
{
	struct weir_task *task = weir__thread.task;

	return task ? weir_container_of(task, struct weir_actor, task) : NULL;
}

/* True in the actor's slice. */
static inline bool weir__runs_here(const struct weir_actor *actor)
{
	return weir__thread.task == &actor->task;
}

/*
 * True for the owner: in the actor's slice, or before the actor was started.
 * Before the start it is true for every other thread as well, so calls that are
 * allowed to any thread ask weir__actors_hold().
 */
static inline bool weir__owned(const struct weir_actor *actor)
{
	return weir__runs_here(actor) || weir__is_new(actor);
}

/* Rule 1: submits an actor whose SCHEDULED bit the caller has set. */
void weir__actor_submit(struct weir_actor *actor);

/* Rule 5: any thread that holds a reference, or the owner. */
void weir__actor_signal(struct weir_actor *actor, uint8_t signals);

/* The owner ends the run of turns under way: its ports have changed. */
void weir__actor_break(struct weir_actor *actor);

/*
 * The owner ends the actor after this turn or handler. `error` (a reference is
 * taken over) tells why, `failed` whether the end is a failure. An actor in a
 * system leaves, see child.h.
 */
void weir__actor_end(struct weir_actor *actor, struct weir_error *error,
		     bool failed);

/* Rule 5: the slice takes the signals. Owner. */
void weir__handle_signals(struct weir_actor *actor);

/*
 * True if supervision has halted the actor: no turn and no handler of its
 * user's is to run. A signal comes when that is over. Owner.
 */
static inline bool weir__actor_halted(const struct weir_actor *actor)
{
	return (actor->flags & WEIR__ACTOR_CHILD) &&
	       (ck_pr_load_32(&actor->gate) & WEIR__GATE_SUSPENDED_PARENT);
}

/* Tells that the stream of `in` has ended, as ops->ended says. Owner. */
void weir__actor_stream_ended(struct weir_actor *actor, struct weir_in *in,
			      struct weir_error *error);

/*
 * The two halves of a start. weir__actor_claim() makes the caller the owner of
 * a new actor; false: it was started or stopped before. The second half submits
 * the actor, or gives it back as it was, or ended, if it was stopped meanwhile.
 */
bool weir__actor_claim(struct weir_actor *actor);
WEIR_MUST_CHECK int weir__actor_launch(struct weir_actor *actor);
void weir__actor_disclaim(struct weir_actor *actor);

/*
 * Holds two actors, which may be the same, for a moment, in which the caller
 * may do what is their owner's. True if each is new, or this is its slice. Not
 * lock-free: other threads that would hold or start them wait. Any thread that
 * holds references.
 */
bool weir__actors_hold(struct weir_actor *one, struct weir_actor *other);
void weir__actors_let_go(struct weir_actor *one, struct weir_actor *other);

/* `rc` is what a handler returned: if it is not 0 the actor fails. Owner. */
void weir__actor_check_rc(struct weir_actor *actor, int rc);

/*
 * Rule 3, the last swap: adds to the count of blocked ports and sets bits.
 * True: the actor is to be submitted again. Rule 9: on false it is not ours any
 * more.
 */
bool weir__gate_deschedule(struct weir_actor *actor, int32_t count,
			   uint32_t set);

/*
 * Rule 8: all that the final slice does but the drop of the reference.
 * `published`: nothing was put since the slice has published. Owner.
 */
void weir__actor_retire(struct weir_actor *actor, bool published);

/*
 * Runs the whole final slice of an actor that is NEW; an actor in any other
 * state is left alone. Any thread that may stop the actor.
 */
void weir__actor_retire_new(struct weir_actor *actor);

/* The weir_any that the port is a member of, or NULL. */
static inline struct weir_port *weir__port_group(const struct weir_port *port)
{
	return port->block == &port->blocked
		       ? NULL
		       : weir_container_of(port->block, struct weir_port,
					   blocked);
}

/* Rule 2: the port may have become unblocked. Any thread with a reference. */
void weir__port_unblocked(struct weir_port *port);
static inline void weir__port_unblock(struct weir_port *port)
{
	/* No acquire: reading 0 means the owner will look for itself. */
	if (ck_pr_load_32(port->block))
		weir__port_unblocked(port);
}

/* Rule 6. Any thread with a reference. */
void weir__actor_suspend(struct weir_actor *actor, uint32_t bit);
void weir__actor_resume(struct weir_actor *actor, uint32_t bit);

/*
 * For tests: with the actor at rest and nobody touching it, the count is the
 * number of blocked ports, and a blocked port is one that takes part.
 */
bool weir__actor_check(struct weir_actor *actor);

#endif
