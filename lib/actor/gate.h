/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of an actor: its gate, signals, state and flags. How the gate
 * works, and why it is right, is described in firing.c.
 */
#ifndef WEIR_ACTOR_GATE_H
#define WEIR_ACTOR_GATE_H

#include <errno.h>
#include <stdbool.h>

#include <ck_pr.h>

#include <weir/actor.h>

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
	/* A trace knows its name, and is told what it waits for. */
	WEIR__GATE_TRACED = 1u << 7,
	WEIR__GATE_ONE = 1u << 8, /* one blocked port */
};

#define WEIR__GATE_COUNT (~(uint32_t)(WEIR__GATE_ONE - 1))

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
	/* Simple, see weir__ports_find_simple(): it has an in-port, an
	 * out-port. */
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

/* The owner ends the run of turns under way: its ports have changed. */
static inline void weir__actor_break(struct weir_actor *actor)
{
	weir__actor_clear(actor, WEIR__ACTOR_SIMPLE);
	weir__actor_set(actor, WEIR__ACTOR_BREAK);
}

/* True if this is the gate of an actor that is ready, see firing.c. */
static inline bool weir__gate_ready(uint32_t gate)
{
	if (gate & WEIR__GATE_SIGNALLED)
		return true;
	return !(gate & (WEIR__GATE_COUNT | WEIR__GATE_SUSPENSIONS));
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

/* 0, -EINVAL or -EPERM, for calls that are the owner's. */
static inline int weir__actor_check_owner(const struct weir_actor *actor)
{
	if (!actor)
		return -EINVAL;
	return weir__owned(actor) ? 0 : -EPERM;
}

/*
 * True if supervision has halted the actor: no turn and no handler of its
 * user's is to run. A signal comes when that is over. Owner.
 */
static inline bool weir__actor_halted(const struct weir_actor *actor)
{
	return (actor->flags & WEIR__ACTOR_CHILD) &&
	       (ck_pr_load_32(&actor->gate) & WEIR__GATE_SUSPENDED_PARENT);
}

#endif
