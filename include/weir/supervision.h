/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Supervision: when an actor of a system (system.h) fails, it is suspended with
 * all its descendants, and its supervisor, which is its parent in the tree, is
 * asked for a directive. Supervision follows Akka; limits and restart types
 * follow Erlang.
 *
 * The structs here are read-only tables that many actors can share. A table is
 * borrowed until the actors that name it are released. 0 and NULL mean the
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
 * The id of an actor in its system: a slot, and a generation, because several
 * actors have the same slot one after the other. A plain value that may be kept
 * for ever: after the actor's end, calls with its id return -ESRCH. So they do
 * for an id of another system, whose generations begin elsewhere: of the first
 * 32768 systems of a program, n of them, any two at least 2^32 / (3 * n) apart;
 * so it is taken for one of this system's only if a slot has been used that
 * often. An id of another process may be anything. All zero
 * (WEIR_ACTOR_ID_NONE) is no actor.
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

/* A supervisor's decision about a failure of its child. */
enum weir_directive {
	/* The child goes on as it is; the failed token is dropped. */
	WEIR_DIRECTIVE_RESUME,
	/* The child begins anew; tokens, links and requests are kept, and the
	 * failed token is its pre_restart's. */
	WEIR_DIRECTIVE_RESTART,
	/* The child ends. */
	WEIR_DIRECTIVE_STOP,
	/* The supervisor fails with the same error. */
	WEIR_DIRECTIVE_ESCALATE,
};

/* Where in its life the child has failed. */
enum weir_failure_kind {
	WEIR_FAILURE_ANY,   /* in a rule: whichever */
	WEIR_FAILURE_TURN,  /* a turn or a handler */
	WEIR_FAILURE_START, /* until a start has gone well: reset, pre_start */
	WEIR_FAILURE_RESTART,	 /* since: reset, post_restart */
	WEIR_FAILURE_KILLED,	 /* by weir_system_kill(); -EINTR */
	WEIR_FAILURE_DEATH_PACT, /* an actor it watched has died; -EOWNERDEAD */
};

/* A failure, as a decider sees it; all fields are borrowed for the call. */
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
	WEIR_SCOPE_REST_FOR_ONE, /* it, and the children spawned after it */
};

/* --- Limits --------------------------------------------------------------- */

/* Which restarts count when the next one is asked for. */
enum weir_window {
	/*
	 * Restarts of the last `within_ns`, to the nanosecond, inclusive. A
	 * restart is refused if there would be more than `max` (Erlang).
	 * within_ns 0: all restarts ever.
	 */
	WEIR_WINDOW_SLIDING,
	/*
	 * The same, but a restart exactly `within_ns` ago does not count any
	 * more; and when a restart is refused, the restarts before it do not
	 * count any more (Phluxor).
	 */
	WEIR_WINDOW_SLIDING_STRICT,
	/*
	 * A window opens at the first failure and lasts `within_ns`, inclusive;
	 * the first failure after it opens the next window (Akka). So around
	 * the edge of two windows there may be up to twice `max` restarts.
	 * WEIR_FOREVER: the window never closes.
	 */
	WEIR_WINDOW_TUMBLING,
};

struct weir_limit {
	/*
	 * Most restarts, up to WEIR_RESTARTS_MAX. 0: none at all. Negative: no
	 * limit; but 1 if the window is tumbling and within_ns is not 0 (Akka).
	 */
	int64_t max;
	enum weir_window window;
	uint64_t within_ns;
};

#define WEIR_RESTARTS_MAX 65536

/* What a restart past the limit becomes. */
enum weir_past_limit {
	/* The children concerned stop, the supervisor lives on. */
	WEIR_PAST_LIMIT_STOP_CHILD,
	/* The supervisor stops, and with it all its children (Erlang). */
	WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	WEIR_PAST_LIMIT_ESCALATE, /* as WEIR_DIRECTIVE_ESCALATE */
};

/* --- Back-off ------------------------------------------------------------- */

/*
 * How long to wait before a restart. `k` is the number of restarts since the
 * last reset of the count, from 0.
 */
enum weir_backoff_law {
	/*
	 * min(max, min * 2^k) * (1 + U * random_factor), U in [0, 1): the
	 * jitter is applied after the cap and only lengthens the delay (Akka).
	 */
	WEIR_BACKOFF_EXPONENTIAL,
	/*
	 * (k + 1) * min_ns plus 0 to 500 ms; max_ns and random_factor are not
	 * used. The count is 0 again when no failure lies within reset_ns
	 * (Phluxor's ExponentialBackoffStrategy).
	 */
	WEIR_BACKOFF_LINEAR,
};

struct weir_backoff {
	enum weir_backoff_law law;
	uint64_t min_ns;      /* > 0 */
	uint64_t max_ns;      /* >= min_ns */
	double random_factor; /* 0 to 1 */
	/*
	 * Exponential: the count is 0 again when that long after a restart no
	 * other failure has come; min_ns to max_ns. 0: min_ns. WEIR_FOREVER:
	 * never. Linear: see WEIR_BACKOFF_LINEAR; 0: never.
	 */
	uint64_t reset_ns;
};

/* --- Strategies ----------------------------------------------------------- */

/*
 * What a supervisor does about failures of its children. `decide` returns the
 * directive; if it is NULL, `rules` give it; if there are no rules, the default
 * decider.
 */
struct weir_strategy {
	enum weir_scope scope;
	/*
	 * Called in the supervisor's slice, as its owner. Returns an enum
	 * weir_directive. A negative errno fails the supervisor with that error
	 * (so does a value that is no directive), and the child stays
	 * suspended.
	 */
	int (*decide)(struct weir_actor *supervisor,
		      const struct weir_failure *failure, void *context);
	void *context;
	/*
	 * Of the rows that match, the one with the most fields set counts. Of
	 * equals, a row with a code counts before a row with an origin, and
	 * that before a row with a kind; else the first row counts. If no row
	 * matches: WEIR_DIRECTIVE_ESCALATE.
	 */
	const struct weir_rule *rules;
	size_t n_rules;
	const struct weir_limit *each; /* for each child; NULL: no limit */
	const struct weir_limit *all;  /* for all children together; NULL: no
				        * limit */
	enum weir_past_limit past_limit;
	/* The delay before each restart; the child is suspended meanwhile.
	 * NULL: none. */
	const struct weir_backoff *backoff;
	/*
	 * True: children stop one after the other, the last spawned first, and
	 * restart in the order in which they were spawned (Erlang). False: all
	 * at once.
	 */
	bool ordered;
};

/*
 * Two deciders. weir_strategy_decide_default(): WEIR_DIRECTIVE_ESCALATE for
 * WEIR_ERROR_FATAL; WEIR_DIRECTIVE_STOP if the child was killed, did not start
 * or restart, or died of a death pact; else WEIR_DIRECTIVE_RESTART.
 * weir_strategy_decide_stop(): WEIR_DIRECTIVE_ESCALATE for WEIR_ERROR_FATAL,
 * else WEIR_DIRECTIVE_STOP. -EINVAL: no failure. Any thread.
 */
WEIR_API int weir_strategy_decide_default(struct weir_actor *supervisor,
					  const struct weir_failure *failure,
					  void *context);
WEIR_API int weir_strategy_decide_stop(struct weir_actor *supervisor,
				       const struct weir_failure *failure,
				       void *context);

/*
 * Checks a strategy, as weir_system_spawn() does. 0. -EINVAL: null, a value
 * that its enum does not have, missing rules, a rule with a positive code, a
 * limit above WEIR_RESTARTS_MAX, or a back-off whose times or factor are out of
 * their ranges. Any thread.
 */
WEIR_API int weir_strategy_check(const struct weir_strategy *strategy);

/*
 * The exact delay before restart `k`; `random` is uniform over 64 bits. 0 if
 * `backoff` is NULL. It never overflows: a delay that would is max_ns, or
 * WEIR_FOREVER - 1.
 */
WEIR_API uint64_t weir_backoff_delay(const struct weir_backoff *backoff,
				     uint32_t k, uint64_t random);

/* --- An actor's life ------------------------------------------------------ */

/* How an actor has ended. */
enum weir_end {
	WEIR_END_UNKNOWN,  /* it was dead before the watch */
	WEIR_END_FINISHED, /* by itself, well */
	WEIR_END_STOPPED, /* it was stopped, or its supervisor or executor was */
	WEIR_END_KILLED,  /* by weir_system_kill(), and was not restarted */
	WEIR_END_FAILED,  /* and was not restarted */
};

/* The notice that an actor has ended. */
struct weir_terminated {
	struct weir_actor_id who;
	void *token;		  /* as given with the watch */
	bool existed;		  /* false: it was dead before the watch */
	struct weir_error *error; /* borrowed; NULL: it finished */
	enum weir_end how;
	/* The path that it had, borrowed; NULL: it was dead before the watch,
	 * or there was no memory. */
	const char *path;
};

/*
 * Hooks of an actor in a system; its ops name them; all may be NULL. Each hook
 * is called as a handler of the actor: in its slice, as its owner, without a
 * lock; it must not block. The order over a life:
 *
 *	{ pre_start, reset } ..., which fail, pre_start, turns,
 *	{ pre_restart, children end, reset, post_restart, turns } ...,
 *	[stopping,] children end, post_stop, ops->stopped, ops->released
 */
struct weir_lifecycle {
	/*
	 * Called before the first turn. A negative errno is a failure (START).
	 * An actor that never started cannot go on or restart: so if it is
	 * resumed or restarted, reset and pre_start create it again.
	 */
	int (*pre_start)(struct weir_actor *self);
	/*
	 * The actor is about to restart because of `cause` (borrowed; NULL: it
	 * has ended well). The restart waits for the children that the hook
	 * stops; the other children restart after their parent. NULL: stops all
	 * children, then calls post_stop. Not called after a failed start or
	 * restart: children spawned by that stop. A negative errno is reported;
	 * the restart goes on, and weir_actor_fail() does nothing. The token
	 * whose turn has failed is dropped behind the hook, unless the hook
	 * calls weir_in_take_failed() or weir_in_retry_failed() (in.h).
	 */
	int (*pre_restart)(struct weir_actor *self, struct weir_error *cause);
	/*
	 * Makes the fields of the struct that embeds the actor as new. Ports
	 * stay, with their tokens and links. Children that were stopped are
	 * gone. A negative errno is a failure (RESTART; START, if the actor has
	 * never started).
	 */
	int (*reset)(struct weir_actor *self);
	/* The actor begins anew. NULL: pre_start. A negative errno: as
	 * reset. */
	int (*post_restart)(struct weir_actor *self, struct weir_error *cause);
	/*
	 * A supervisor or weir_system_stop_actor() wants the actor to stop. 0:
	 * it stops now. 1: it will end by itself (weir_actor_end()), for which
	 * it has the time given in its spawn options, unless it fails or is
	 * suspended before. Not called while the actor is suspended. NULL: it
	 * stops now.
	 */
	int (*stopping)(struct weir_actor *self);
	/*
	 * The actor has ended: its children have ended, its streams are still
	 * there. Or, if there is no pre_restart, the actor restarts, and its
	 * children have been told to stop. `error` tells why (borrowed); NULL:
	 * it has ended well. A negative errno is reported. Not called after
	 * pre_restart, nor after a failed start or restart.
	 */
	int (*post_stop)(struct weir_actor *self, struct weir_error *error);
	/*
	 * An actor that it watches (death_watch.h) has ended. Not called while
	 * the actor is suspended or restarts, nor once it stops. NULL: a death
	 * pact, the actor fails with -EOWNERDEAD.
	 */
	int (*terminated)(struct weir_actor *self,
			  const struct weir_terminated *notice);
	/*
	 * A child has ended, and its name is free again. Called for each child,
	 * watched or not, and before `terminated`. While the actor is suspended
	 * or restarts, the call waits until that is over. Not called once the
	 * actor stops.
	 */
	int (*child_ended)(struct weir_actor *self,
			   const struct weir_terminated *notice);
	/* The strategy for its children; NULL: the default decider, one for
	 * one. */
	const struct weir_strategy *strategy;
};

#ifdef __cplusplus
}
#endif

#endif
