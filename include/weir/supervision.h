/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Supervision: what happens when an actor of a system (system.h) fails. The
 * actor is suspended, with all its descendants, and its supervisor, which is
 * its parent in the tree, is asked for a directive. After Akka's supervision;
 * limits and restart types after Erlang's.
 *
 * The structs here are read-only tables that many actors can share. They are
 * borrowed until the actors that name them are released; 0 and NULL mean the
 * default everywhere.
 */
#ifndef WEIR_SUPERVISION_H
#define WEIR_SUPERVISION_H

#include <weir/actor.h>
#include <weir/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_system;

/*
 * An actor of a system, by number: a slot of the system's and which of the
 * actors that have had it. A plain value, safe for ever: after the actor's end
 * calls that take it return -ESRCH. All zero (WEIR_ACTOR_ID_NONE) is no actor.
 */
struct weir_actor_id {
	uint32_t slot;
	uint32_t generation;
};

#ifdef __cplusplus
#define WEIR_ACTOR_ID_NONE (weir_actor_id{0, 0})
#else
#define WEIR_ACTOR_ID_NONE ((struct weir_actor_id){0, 0})
#endif

static inline bool weir_actor_id_equal(struct weir_actor_id a,
				       struct weir_actor_id b)
{
	return a.slot == b.slot && a.generation == b.generation;
}

/* --- Failures and directives ---------------------------------------------- */

/* What a supervisor makes of a child's failure. */
enum weir_directive {
	WEIR_DIRECTIVE_RESUME,	/* goes on as it is; the failed token is lost */
	WEIR_DIRECTIVE_RESTART, /* anew; tokens, links, requests are kept */
	WEIR_DIRECTIVE_STOP,	/* ends */
	WEIR_DIRECTIVE_ESCALATE, /* the supervisor fails with the same error */
};

/* Where in its life the child failed. */
enum weir_failure_kind {
	WEIR_FAILURE_ANY,   /* in a rule: whichever */
	WEIR_FAILURE_TURN,  /* a turn or a handler */
	WEIR_FAILURE_START, /* until a start has gone well: reset, pre_start */
	WEIR_FAILURE_RESTART,	 /* since: reset, post_restart */
	WEIR_FAILURE_KILLED,	 /* by weir_system_kill(); -EINTR */
	WEIR_FAILURE_DEATH_PACT, /* who it watched has died; -EOWNERDEAD */
};

/* A failure, as a decider sees it; all borrowed for the call. */
struct weir_failure {
	struct weir_system *system;
	struct weir_actor_id child;
	const char *name; /* the child's actor ops->name */
	struct weir_error *error;
	enum weir_failure_kind kind;
};

/* An error of this code is fatal: the default decider escalates it. */
#define WEIR_ERROR_FATAL (-ENOTRECOVERABLE)

/* One row of a table of rules. */
struct weir_rule {
	int code;		     /* negative errno; 0: whichever */
	const char *origin;	     /* as error->origin; NULL: whichever */
	enum weir_failure_kind kind; /* WEIR_FAILURE_ANY: whichever */
	enum weir_directive directive;
};

/* Which children a restart or a stop is for. */
enum weir_scope {
	WEIR_SCOPE_ONE_FOR_ONE,	 /* the one that failed */
	WEIR_SCOPE_ALL_FOR_ONE,	 /* all of them */
	WEIR_SCOPE_REST_FOR_ONE, /* it and those spawned after it */
};

/* --- Limits --------------------------------------------------------------- */

/* Which restarts count when the next one is asked for. */
enum weir_window {
	/*
	 * Those of the last `within_ns`, to the nanosecond, inclusive; refused
	 * when there would be more than `max` (Erlang). within_ns 0: all ever.
	 */
	WEIR_WINDOW_SLIDING,
	/* The same, but one `within_ns` ago counts no more; when a restart is
	 * refused, none of those before it does (Phluxor). */
	WEIR_WINDOW_SLIDING_STRICT,
	/*
	 * A window opens at the first failure and lasts `within_ns`, inclusive;
	 * the first failure after it opens the next (Akka), so around an edge
	 * up to twice `max`. WEIR_FOREVER: never closes.
	 */
	WEIR_WINDOW_TUMBLING,
};

struct weir_limit {
	/* Most restarts. 0: none at all. Negative: no limit; 1 if tumbling
	 * with a window (Akka). At most WEIR_RESTARTS_MAX. */
	int32_t max;
	enum weir_window window;
	uint64_t within_ns;
};

#define WEIR_RESTARTS_MAX 65536

/* What a restart past the limit becomes. */
enum weir_past_limit {
	/* Those concerned stop, the supervisor lives. */
	WEIR_PAST_LIMIT_STOP_CHILD,
	/* The supervisor stops, and with it all its children (Erlang). */
	WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	WEIR_PAST_LIMIT_ESCALATE, /* as WEIR_DIRECTIVE_ESCALATE */
};

/* --- Back-off ------------------------------------------------------------- */

/*
 * How long to wait before a restart. `k` counts the restarts before it since
 * the last reset, from 0.
 */
enum weir_backoff_law {
	/* min(max, min * 2^k) * (1 + U * random_factor), U in [0, 1): the
	 * jitter comes after the cap and only lengthens (Akka). */
	WEIR_BACKOFF_EXPONENTIAL,
	/* (k + 1) * min_ns and 0 to 500 ms; max_ns and random_factor are not
	 * looked at, the count starts anew when no failure lies within
	 * reset_ns (Phluxor's ExponentialBackoffStrategy). */
	WEIR_BACKOFF_LINEAR,
};

struct weir_backoff {
	enum weir_backoff_law law;
	uint64_t min_ns;      /* > 0 */
	uint64_t max_ns;      /* >= min_ns */
	double random_factor; /* 0 to 1 */
	/*
	 * Exponential: so long after a restart without another failure the
	 * count is 0 again; min_ns to max_ns, 0: min_ns; WEIR_FOREVER: never.
	 * Linear: see there; 0: never.
	 */
	uint64_t reset_ns;
};

/* --- Strategies ----------------------------------------------------------- */

/*
 * What a supervisor does about failures of its children. `decide` or, if that
 * is NULL, `rules`, or the default decider answers with a directive.
 */
struct weir_strategy {
	enum weir_scope scope;
	/*
	 * Called in the supervisor's slice, as its owner. Returns an enum
	 * weir_directive; a negative errno (or what is none) fails the
	 * supervisor with it, and the child stays suspended.
	 */
	int (*decide)(struct weir_actor *supervisor,
		      const struct weir_failure *failure, void *context);
	void *context;
	/*
	 * Of the rows that match, the one with the most fields set; of equals
	 * a code counts more than an origin, that more than a kind; else the
	 * first. None matches: WEIR_DIRECTIVE_ESCALATE.
	 */
	const struct weir_rule *rules;
	size_t n_rules;
	const struct weir_limit *each; /* of one child; NULL: no limit */
	const struct weir_limit *all;  /* of all children together; the same */
	enum weir_past_limit past_limit;
	/* Waits before each restart, the child being suspended; NULL: none. */
	const struct weir_backoff *backoff;
	/*
	 * Children stop one after the other, in reverse of the order they were
	 * spawned in, and restart in that order (Erlang). False: all at once.
	 */
	bool ordered;
};

/*
 * The default decider: WEIR_DIRECTIVE_ESCALATE for WEIR_ERROR_FATAL;
 * WEIR_DIRECTIVE_STOP when the child was killed, did not start or restart, or
 * died of a death pact; else WEIR_DIRECTIVE_RESTART. And: WEIR_DIRECTIVE_STOP
 * for all but WEIR_ERROR_FATAL. -EINVAL: no failure. Any thread.
 */
WEIR_API int weir_strategy_decide_default(struct weir_actor *supervisor,
					  const struct weir_failure *failure,
					  void *context);
WEIR_API int weir_strategy_decide_stop(struct weir_actor *supervisor,
				       const struct weir_failure *failure,
				       void *context);

/*
 * 0, or -EINVAL: null, a value that its enum does not have, rules missing or
 * one with a positive code, a limit above WEIR_RESTARTS_MAX, or a back-off
 * whose times or factor are out of their ranges. What weir_system_spawn()
 * checks. Any thread.
 */
WEIR_API int weir_strategy_check(const struct weir_strategy *strategy);

/*
 * The delay before restart `k`, exactly; `random` is uniform over 64 bits.
 * 0: null. Never overflows: what would is max_ns, or WEIR_FOREVER - 1.
 */
WEIR_API uint64_t weir_backoff_delay(const struct weir_backoff *backoff,
				     uint32_t k, uint64_t random);

/* --- An actor's life ------------------------------------------------------ */

/* Somebody has ended. */
struct weir_terminated {
	struct weir_actor_id who;
	void *token;		  /* as given with the watch */
	bool existed;		  /* false: it was dead before the watch */
	struct weir_error *error; /* borrowed; NULL: it finished */
};

/*
 * Hooks of an actor in a system, named by its ops; all may be NULL. Each is
 * called as a handler of the actor: in its slice, as its owner, without a lock,
 * and must not block. Order over a life:
 *
 *	{ pre_start, reset } ..., which fail, pre_start, turns,
 *	{ pre_restart, children end, reset, post_restart, turns } ...,
 *	[stopping,] children end, post_stop, ops->stopped, ops->released
 */
struct weir_lifecycle {
	/*
	 * Before the first turn. A negative errno is a failure (START): what
	 * never started cannot go on or restart, so resumed or restarted it is
	 * created again, by reset and pre_start.
	 */
	int (*pre_start)(struct weir_actor *self);
	/*
	 * About to restart because of `cause` (borrowed; NULL: it finished).
	 * Children that it stops are waited for; the others restart after their
	 * parent. NULL: stops all children, then calls post_stop. Not called
	 * after a failed start or restart: what that has spawned stops. A
	 * negative errno is reported; the restart goes on, and
	 * weir_actor_fail() does nothing.
	 */
	int (*pre_restart)(struct weir_actor *self, struct weir_error *cause);
	/*
	 * Makes the fields of the struct that embeds the actor as new; ports,
	 * what they hold and what they are linked to stay. Children that were
	 * stopped are gone. A negative errno is a failure (RESTART; START, if
	 * it has never started).
	 */
	int (*reset)(struct weir_actor *self);
	/* Begins anew. NULL: pre_start. A negative errno: as reset. */
	int (*post_restart)(struct weir_actor *self, struct weir_error *cause);
	/*
	 * A supervisor or weir_system_stop_actor() wants it to stop. 0: now; 1:
	 * it will finish (weir_actor_end) by itself, for which it has the
	 * time its spawn options give, unless it fails or is suspended before.
	 * Not called while it is suspended. NULL: now.
	 */
	int (*stopping)(struct weir_actor *self);
	/*
	 * The end of what has started: of the actor, when its children have
	 * ended and its streams are still there; or, without a pre_restart, of
	 * its old state, when its children have been told to stop. `error`
	 * tells why (borrowed), NULL: it finished. A negative errno is
	 * reported. Not called after pre_restart or a failed start or restart.
	 */
	int (*post_stop)(struct weir_actor *self, struct weir_error *error);
	/*
	 * Who it watches (death_watch.h) has ended. Not while it is suspended
	 * or restarts, nor once it stops. NULL: a death pact, it fails with
	 * -EOWNERDEAD.
	 */
	int (*terminated)(struct weir_actor *self,
			  const struct weir_terminated *notice);
	/*
	 * A child has ended and its name is free again; for each, watched or
	 * not, and before `terminated`. Not while it is suspended or restarts:
	 * after that; and not once it stops.
	 */
	int (*child_ended)(struct weir_actor *self,
			   const struct weir_terminated *notice);
	/* For its children; NULL: the default decider, one for one. */
	const struct weir_strategy *strategy;
};

#ifdef __cplusplus
}
#endif

#endif
