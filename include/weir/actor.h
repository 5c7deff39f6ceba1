/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actors. An actor is a struct of yours with a struct weir_actor and some
 * ports in it, and a turn. It fires (its turn runs) when all its ports are
 * unblocked; one turn at a time, never two at once.
 *
 * "The owner" below is the code that runs in the actor's turns and handlers;
 * before weir_actor_start() it is whoever sets the actor up. Calls for the
 * owner return -EPERM to anybody else and change nothing.
 *
 * "Whoever sets it up", of an actor or another object, is the thread that
 * initialises the object, before the object is started or shared with another
 * thread.
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
struct weir_fd;
struct weir_in;
struct weir_lifecycle;
struct weir_out;
struct weir_port;
struct weir__child;
struct weir__look;

/* Runs up to `n` (> 0) turns in a row; returns how many it ran. See
 * WEIR_TURN. */
typedef uint32_t weir_turns(struct weir_actor *actor, uint32_t n);

/* What people call a port of an actor. */
struct weir_port_name {
	ptrdiff_t offset; /* of the port, from the weir_actor on */
	const char *name;
};

/* One of a struct `type` that has an `actor` and a `port`. */
#define WEIR_PORT_NAME(type, actor, port, name) \
	{ \
		(ptrdiff_t) offsetof(type, port) - \
			(ptrdiff_t)offsetof(type, actor), \
			name \
	}

/*
 * What an actor does. All may be NULL; without `turns`, which is for actors
 * without ports, a turn fails with -ENOSYS. Each is called by the
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
	 * Nobody takes from the out-port any more; tokens put there from now on
	 * are dropped. Once for each out-port. NULL: the actor ends when this
	 * was its last out-port.
	 */
	int (*cancelled)(struct weir_actor *actor, struct weir_out *out);
	/*
	 * The other end of the descriptor of an fd port has gone, or half of
	 * it, or there is an error: `events` is what is known, of POLLERR,
	 * POLLHUP, POLLRDHUP (it sends no more; bytes may be left to read),
	 * POLLIN and POLLOUT. Also while other ports hold the actor back, and
	 * again when one of the first three is new. NULL: the actor learns of
	 * it when it reads or writes.
	 */
	int (*hung_up)(struct weir_actor *actor, struct weir_fd *fd,
		       short events);
	/* After one or several calls of weir_actor_signal(). */
	int (*signalled)(struct weir_actor *actor);
	/*
	 * The actor has ended: its streams are ended, its in-ports are
	 * cancelled and empty. `error` (borrowed) tells why; NULL: it has ended
	 * by itself. Once.
	 */
	void (*stopped)(struct weir_actor *actor, struct weir_error *error);
	/*
	 * No thread can touch the actor or its ports any more: their memory
	 * may be reused or freed here and later. Once, last, on any thread.
	 */
	void (*released)(struct weir_actor *actor);
	/* Of an actor in a system, see supervision.h; borrowed. */
	const struct weir_lifecycle *lifecycle;
	/* What inspect.h calls its ports, up to a name that is NULL; borrowed.
	 * NULL: they have the names of their sorts. */
	const struct weir_port_name *port_names;
	struct {
		void (*look)(const struct weir_actor *actor,
			     struct weir__look *look);
	} WEIR_PRIVATE;
};

/*
 * Where an actor's time goes. Attach zeroed memory that outlives the actor, and
 * read it with weir_stats_read(). The clock is read twice in each slice.
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
	struct {
		uint64_t since_ns;
		uint32_t waiting;
	} WEIR_PRIVATE;
};

/* Read-only. */
struct weir_actor {
	struct weir_task task; /* the executor's */
	/* set up once */
	struct weir_executor *executor;
	const struct weir_actor_ops *ops;
	struct {
		/* the owner's */
		weir_turns *turns;
		struct weir_port *ports;
		union {
			struct weir_stats *stats;
			struct weir__child *child; /* knows the stats */
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
	} WEIR_PRIVATE;
};

/*
 * Sets an actor up in the caller's memory, with one reference, the actor's own.
 * The actor must be started or stopped one day, because its ports may hold
 * memory and other actors may refer to it. `ops` is borrowed and outlives the
 * actor. -EINVAL: a null argument; then nothing is changed.
 */
WEIR_API int weir_actor_init(struct weir_actor *actor,
			     const struct weir_actor_ops *ops,
			     struct weir_executor *executor);

/*
 * Starts the actor: from now on it fires. The memory of the actor may be gone
 * on return unless the caller holds a reference: an actor that ends at once may
 * be released inside this call. (The executor cannot be freed before the call
 * is over.) If another thread may stop the actor, the caller must hold a
 * reference. -EINVAL: null. -EALREADY: the actor was started or stopped before.
 * -ESHUTDOWN: the executor takes no more actors. -ENOMEM, or the error of the
 * executor's submit. After an error the actor is as it was, or has ended if it
 * was stopped meanwhile. Owner.
 */
WEIR_API int weir_actor_start(struct weir_actor *actor);

/*
 * Stops the actor: no further turn begins, its streams end with -ECANCELED, its
 * in-ports are cancelled and their tokens are dropped. Returns at once;
 * harmless when repeated; NULL is fine.
 *
 * An actor that was never started ends on this thread, before the call returns;
 * of several calls at once, before one of them returns; if a subscription, or a
 * start that then fails, is under way, before that returns. So tell every
 * thread that may stop an actor of it when the actor is set up. Any thread that
 * holds a reference, or the owner.
 */
WEIR_API void weir_actor_stop(struct weir_actor *actor);

/*
 * The actor ends well after this turn or handler: its out-ports end behind the
 * tokens that were put, its in-ports are cancelled. -EPERM, -EINVAL: null.
 * Owner.
 */
WEIR_API int weir_actor_end(struct weir_actor *actor);

/*
 * The actor fails after this turn or handler: tokens that were put stay, and
 * its out-ports end with the error behind them. The first failure counts. One
 * reference of `error` is taken over, also if the call returns an error.
 * -EPERM, -EINVAL: null. Owner.
 */
WEIR_API int weir_actor_fail(struct weir_actor *actor,
			     struct weir_error *error);

/* Fails the actor with a bare code, as a turn does by returning the code.
 * Owner. */
WEIR_API int weir_actor_fail_code(struct weir_actor *actor, int code);

/*
 * Calls ops->signalled soon, also while ports are blocked: data never delays
 * a signal. Several calls may become one. Any thread that holds a reference.
 */
WEIR_API void weir_actor_signal(struct weir_actor *actor);

/*
 * Suspends the actor: no turn begins until weir_actor_resume(), but a run of
 * turns under way goes to its end. Calls do not nest. Any thread that holds a
 * reference.
 */
WEIR_API void weir_actor_suspend(struct weir_actor *actor);
WEIR_API void weir_actor_resume(struct weir_actor *actor);

/*
 * Gives the actor another turn. From now on exactly these `n_ports` ports take
 * part in firing (as by weir_port_require() and weir_port_ignore()). -EPERM.
 * -EINVAL: null, or a port that is not the actor's or has ended; then nothing
 * is changed. Owner.
 */
WEIR_API int weir_actor_become(struct weir_actor *actor, weir_turns *turns,
			       struct weir_port *const *ports, size_t n_ports);

/*
 * A reference keeps the actor's memory from being released; a thread that
 * touches the actor from outside must hold one. ref returns its argument; unref
 * may call ops->released; NULL is fine. Any thread that holds a reference
 * already.
 */
WEIR_API struct weir_actor *weir_actor_ref(struct weir_actor *actor);
WEIR_API void weir_actor_unref(struct weir_actor *actor);

/* The actor's name, never NULL. Any thread that holds a reference. */
WEIR_API const char *weir_actor_name(const struct weir_actor *actor);

/*
 * Counts into `stats` (borrowed until the actor is released) from the next
 * slice on. -EPERM, -EINVAL: null. -ENOMEM: in a system. Owner.
 */
WEIR_API int weir_actor_set_stats(struct weir_actor *actor,
				  struct weir_stats *stats);

/* A copy of counters that another thread may be writing. Any thread. */
WEIR_API void weir_stats_read(const struct weir_stats *stats,
			      struct weir_stats *copy);

/*
 * Looks for actors that would wait for each other for ever: a cycle of links
 * whose in-ports hold no token. `actors` are all actors of the program; none
 * may be running. 0, or -EDEADLK with an actor of the cycle in *culprit
 * (`culprit` may be NULL). -EINVAL: null. -ENOMEM. For the code that sets the
 * actors up.
 */
WEIR_API int weir_actor_check_cycles(struct weir_actor *const *actors,
				     size_t n_actors,
				     struct weir_actor **culprit);

/* Private. */
#define WEIR__GATE_SIGNALLED 2u
#define WEIR__ACTOR_BREAK 1u

/*
 * Private: the owner has done something that ends the run of turns. If a turn
 * is compiled into its loop and calls no function, the compiler sees that the
 * flag does not change, and tests it only once.
 */
static inline int weir__actor_broken(const struct weir_actor *actor)
{
	return WEIR__OWN(actor)->flags & WEIR__ACTOR_BREAK;
}

/*
 * True when a run of turns must end early: a signal has come, the actor has
 * failed or ended, or its ports have changed. For weir_turns functions written
 * by hand, which ask between two turns. Owner.
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
	return (__atomic_load_n(&WEIR__OWN(actor)->gate, __ATOMIC_RELAXED) &
#else
	return (*(const volatile uint32_t *)&WEIR__OWN(actor)->gate &
#endif
		WEIR__GATE_SIGNALLED) != 0;
}

/*
 * Result of a turn: the actor ends, as by weir_actor_end(). A turn that returns
 * this and calls no function lets the compiler keep the cursors of the ports in
 * registers.
 */
#define WEIR_TURN_END 1

/* Private: a turn has returned `rc`, which is not 0. */
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
 * that runs one turn. It returns 0; or WEIR_TURN_END, which ends the actor; or
 * a negative errno, which fails the actor. The loop is compiled around the
 * turn, so that a token costs no call. After a signal the loop runs at most
 * four more turns.
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
