/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actors. An actor is a struct of yours with a struct weir_actor and some
 * ports in it, and a turn. It fires (its turn runs) when all its ports are
 * unblocked; one turn at a time, never two at once.
 *
 * "The owner" below is the code that runs in the actor's turns and handlers;
 * before weir_actor_start() it is whoever sets the actor up. Calls for the
 * owner return -EPERM to anybody else and change nothing.
 */
#ifndef WEIR_ACTOR_H
#define WEIR_ACTOR_H

#include <weir/api.h>
#include <weir/error.h>
#include <weir/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_actor;
struct weir_in;
struct weir_lifecycle;
struct weir_out;
struct weir_port;
struct weir__child;

/* Up to `n` (> 0) turns in a row; returns how many. See WEIR_TURN. */
typedef uint32_t weir_turns(struct weir_actor *actor, uint32_t n);

/*
 * What an actor does. All but `turns` may be NULL. Each is called by the
 * thread that runs the actor's slice, never two at once for one actor, and
 * must not block (but on a blocking executor). Handlers run between turns,
 * also while ports are blocked or the actor is suspended. A handler that
 * returns a negative errno fails the actor as a turn does.
 */
struct weir_actor_ops {
	const char *name; /* for errors and for people; NULL: "actor" */
	weir_turns *turns;
	/*
	 * The in-port has delivered all its tokens and the stream has ended,
	 * with `error` (borrowed) or well (NULL). Once for each in-port, and
	 * again after each restart of the actor. The port takes no part in
	 * firing any more. NULL: the actor finishes; an error goes on to all
	 * its out-ports.
	 */
	int (*ended)(struct weir_actor *actor, struct weir_in *in,
		     struct weir_error *error);
	/*
	 * Nobody takes from the out-port any more; what is put there from now
	 * on is dropped. Once for each out-port. NULL: the actor finishes when
	 * this was its last one.
	 */
	int (*cancelled)(struct weir_actor *actor, struct weir_out *out);
	/* After one or several calls of weir_actor_signal(). */
	int (*signalled)(struct weir_actor *actor);
	/*
	 * The actor has ended: its streams are ended, its inputs cancelled and
	 * drained. `error` (borrowed) tells why, NULL: it finished. Once.
	 */
	void (*stopped)(struct weir_actor *actor, struct weir_error *error);
	/*
	 * No thread can touch the actor or its ports any more: their memory
	 * may be reused or freed here and later. Once, last, on any thread.
	 */
	void (*released)(struct weir_actor *actor);
	/* Of an actor in a system, see supervision.h; borrowed. */
	const struct weir_lifecycle *lifecycle;
};

/*
 * Where an actor's time goes. Attach zeroed memory that outlives the actor;
 * read it with weir_stats_read(). Costs two looks at the clock a slice.
 */
struct weir_stats {
	uint64_t turns;
	uint64_t slices;
	uint64_t taken; /* tokens out of in-ports */
	uint64_t put;	/* tokens into out-ports */
	uint64_t busy_ns;
	uint64_t wait_in_ns;	/* not running: an in-port was blocked */
	uint64_t wait_out_ns;	/* not running: an out-port was blocked */
	uint64_t wait_other_ns; /* another port, or waiting for a worker */
	/* private */
	uint64_t since_ns;
	uint32_t waiting;
};

/* All private but `executor` and `ops`, which are read-only. */
struct weir_actor {
	struct weir_task task; /* the executor's */
	/* set up once */
	struct weir_executor *executor;
	const struct weir_actor_ops *ops;
	/* the owner's */
	weir_turns *turns;
	struct weir_port *ports;
	union {
		struct weir_stats *stats;
		struct weir__child *child; /* in a system; knows the stats */
	} u;
	struct weir_error *error;
	uint32_t index;
	/* any thread, atomically; the gate is next to the first port */
	uint32_t refs;
	uint32_t gate;
	uint8_t signals;
	/* the owner's */
	uint8_t state;
	uint16_t flags; /* not of a char: see weir__actor_broken() */
};

/*
 * Sets an actor up in the caller's memory, with one reference, its own. It
 * must be started or stopped one day: its ports may hold memory and others
 * may hold on to it. `ops` is borrowed and outlives it.
 * -EINVAL: a null argument or no turns; then nothing is changed.
 */
WEIR_API int weir_actor_init(struct weir_actor *actor,
			     const struct weir_actor_ops *ops,
			     struct weir_executor *executor);

/*
 * From now on the actor fires. Its memory may be gone on return unless the
 * caller holds a reference; one that ends at once may be released inside this
 * call. Its executor stays until then. Where others may stop the actor, the
 * caller holds a reference. -EINVAL: null. -EALREADY: started or stopped
 * before. -ESHUTDOWN: the executor takes no more. -ENOMEM, or what the
 * executor's submit reports; then the actor is as it was, or has ended if it
 * was stopped meanwhile. Owner.
 */
WEIR_API int weir_actor_start(struct weir_actor *actor);

/*
 * Stops the actor: no further turn begins, its streams end with -ECANCELED, its
 * inputs are cancelled and what they hold is dropped. Returns at once, harmless
 * when repeated. One that was never started ends before this returns, on this
 * thread; of several calls at once, before one of them does; and if a
 * subscription is under way, or a start that then fails, before that returns.
 * So who may stop an actor is told of it when it is set up. Any thread that
 * holds a reference, or the owner; NULL is fine.
 */
WEIR_API void weir_actor_stop(struct weir_actor *actor);

/*
 * The actor ends well after this turn or handler: out-ports end behind what
 * was put, inputs are cancelled. -EPERM, -EINVAL: null. Owner.
 */
WEIR_API int weir_actor_end(struct weir_actor *actor);

/*
 * The actor fails after this turn or handler: what was put stands, out-ports
 * end with the error behind it. The first failure counts. One reference of
 * `error` is taken over, also on an error return. -EPERM, -EINVAL: null.
 * Owner.
 */
WEIR_API int weir_actor_fail(struct weir_actor *actor,
			     struct weir_error *error);

/* Fails with a bare code, as a turn does that returns it. Owner. */
WEIR_API int weir_actor_fail_code(struct weir_actor *actor, int code);

/*
 * Calls ops->signalled soon, also while ports are blocked: data never delays
 * a signal. Several calls may become one. Any thread that holds a reference.
 */
WEIR_API void weir_actor_signal(struct weir_actor *actor);

/*
 * No turn begins while suspended; a run of turns under way may end. Does not
 * nest. Any thread that holds a reference.
 */
WEIR_API void weir_actor_suspend(struct weir_actor *actor);
WEIR_API void weir_actor_resume(struct weir_actor *actor);

/*
 * Takes another turn, and of its ports just these `n_ports` into account from
 * now on (as weir_port_require and weir_port_ignore). -EPERM; -EINVAL: null,
 * or a port that is not the actor's or has ended; then nothing is changed.
 * Owner.
 */
WEIR_API int weir_actor_become(struct weir_actor *actor, weir_turns *turns,
			       struct weir_port *const *ports, size_t n_ports);

/*
 * A reference keeps the actor's memory from being released; whoever may touch
 * it from another thread holds one. Any thread that holds one already. ref
 * returns its argument; unref may call ops->released; NULL is fine.
 */
WEIR_API struct weir_actor *weir_actor_ref(struct weir_actor *actor);
WEIR_API void weir_actor_unref(struct weir_actor *actor);

/* Its name, never NULL. Any thread that holds a reference. */
WEIR_API const char *weir_actor_name(const struct weir_actor *actor);

/*
 * Counts into `stats` (borrowed until released) from the next slice on.
 * -EPERM, -EINVAL: null. -ENOMEM: in a system. Owner.
 */
WEIR_API int weir_actor_set_stats(struct weir_actor *actor,
				  struct weir_stats *stats);

/* A copy of counters that another thread may be writing. Any thread. */
WEIR_API void weir_stats_read(const struct weir_stats *stats,
			      struct weir_stats *copy);

/*
 * Looks for actors that wait for each other for ever: a cycle of links whose
 * in-ports hold no token. `actors` are those that make up the program, none
 * running. 0, or -EDEADLK with one of the cycle in *culprit (may be NULL).
 * -EINVAL: null. -ENOMEM. Whoever set them up.
 */
WEIR_API int weir_actor_check_cycles(struct weir_actor *const *actors,
				     size_t n_actors,
				     struct weir_actor **culprit);

/* Private. */
#define WEIR__GATE_SIGNALLED 2u
#define WEIR__ACTOR_BREAK 1u

/*
 * Private: the owner has done something that ends the run of turns. Where a
 * turn is compiled into its loop and calls nothing, the compiler sees that it
 * has not and asks only once.
 */
static inline int weir__actor_broken(const struct weir_actor *actor)
{
	return actor->flags & WEIR__ACTOR_BREAK;
}

/*
 * True when a run of turns must end early, because a signal has come, the
 * actor has failed or finished, or its ports have changed. For weir_turns
 * functions written by hand; asked between two turns. Owner.
 *
 * Relaxed: a hint; the slice looks properly before it acts. Volatile says so
 * too, and unlike __atomic leaves the compiler free to keep cursors in
 * registers.
 */
static inline int weir_actor_interrupted(const struct weir_actor *actor)
{
	if (weir__actor_broken(actor))
		return 1;
#ifdef WEIR__TSAN
	return (__atomic_load_n(&actor->gate, __ATOMIC_RELAXED) &
#else
	return (*(const volatile uint32_t *)&actor->gate &
#endif
		WEIR__GATE_SIGNALLED) != 0;
}

/*
 * From a turn: the actor finishes, as by weir_actor_end(). Where nothing in
 * the turn is called the compiler can keep the ports' cursors in registers.
 */
#define WEIR_TURN_END 1

/* Private: what a turn returned that was not 0. */
WEIR_API void weir__actor_turn_ended(struct weir_actor *actor, int rc);

/* Private: one turn of WEIR_TURN's loop, and one more. */
#define WEIR__TURN(turn) \
	rc = turn(actor); \
	left--; \
	if (WEIR_UNLIKELY(rc != 0)) \
		break;
#define WEIR__NEXT_TURN(turn) \
	if (!left || weir__actor_broken(actor)) \
		break; \
	WEIR__TURN(turn)

/* gcc makes more of four turns in a row than of one, clang less. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define WEIR__MORE_TURNS(turn) \
	WEIR__NEXT_TURN(turn) WEIR__NEXT_TURN(turn) WEIR__NEXT_TURN(turn)
#else
#define WEIR__MORE_TURNS(turn)
#endif

/*
 * Makes `turn_n`, a weir_turns function, from an inline function
 *
 *	static inline int turn(struct weir_actor *actor);
 *
 * that is one turn: 0, or WEIR_TURN_END which finishes the actor, or a negative
 * errno which fails it. The loop is compiled around the turn, so that a token
 * costs no call. A signal ends it after at most four turns more.
 */
#define WEIR_TURN(turn) \
	static uint32_t turn##_n(struct weir_actor *actor, uint32_t n) \
	{ \
		uint32_t left = n; \
		int rc = 0; \
\
		if (WEIR_UNLIKELY(weir__actor_broken(actor))) \
			return 0; \
		do { \
			WEIR__TURN(turn) \
			WEIR__MORE_TURNS(turn) \
		} while (left && !weir_actor_interrupted(actor)); \
		if (WEIR_UNLIKELY(rc != 0)) \
			weir__actor_turn_ended(actor, rc); \
		return n - left; \
	}

#ifdef __cplusplus
}
#endif

#endif
