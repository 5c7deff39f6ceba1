/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actor systems. Every actor of a system has a parent, which supervises it
 * (supervision.h). An actor need not be in a system. The tree:
 *
 *	/
 *	├── /user     what is spawned without a parent
 *	└── /system   what outlives that: logging and the like
 *
 * The actors of a system can be on any executors. The functions here can be
 * called from any thread unless their contract says "Owner". Each takes a short
 * lock of the system: do not call them for every token.
 */
#ifndef WEIR_SYSTEM_H
#define WEIR_SYSTEM_H

#include <weir/completion.h>
#include <weir/items.h>
#include <weir/supervision.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weir_supervision_event_kind {
	/* A directive is the directive will be carried out; no event for an
	 * escalation. */
	WEIR_SUPERVISION_EVENT_DIRECTIVE,
	WEIR_SUPERVISION_EVENT_LIMIT, /* a restart was refused by a limit */
	WEIR_SUPERVISION_EVENT_HOOK,  /* pre_restart or post_stop has failed */
};

/* What supervision does, for logs. All fields are borrowed for the call. */
struct weir_supervision_event {
	enum weir_supervision_event_kind what;
	struct weir_system *system;
	struct weir_actor_id supervisor, child;
	const char *name; /* the child's actor ops->name */
	struct weir_error *error;
	enum weir_directive directive; /* of a directive or a limit */
};

/*
 * Two functions for the option `event`. weir_supervision_event_log(), which is
 * the default, writes a line to stderr: the actor's path, its ops->name, the
 * error with its origin, and what is done. weir_supervision_event_ignore() does
 * nothing. In an event only.
 */
WEIR_API void weir_supervision_event_log(
	const struct weir_supervision_event *event, void *unused);
WEIR_API void weir_supervision_event_ignore(
	const struct weir_supervision_event *event, void *unused);

struct weir_system_options {
	const struct weir_allocator *allocator; /* the executor's */
	const struct weir_strategy *strategy; /* of /user, over its children */
	/* Seed of the jitter. 0: on a simulator the simulator's own seed; on
	 * other executors a random one. */
	uint64_t seed;
	/*
	 * An item that no actor will handle: it was left in an actor's in-ports
	 * at its end, or given to weir_system_dead_letter(). It is dropped when
	 * this returns. Any thread; must not block, nor call the library.
	 */
	void (*dead_letter)(struct weir_system *system, struct weir_actor_id to,
			    void *item, void *context);
	/* In the slice of the supervisor or the child; must not block. NULL:
	 * weir_supervision_event_log(). */
	void (*event)(const struct weir_supervision_event *event,
		      void *context);
	void *context;	      /* passed to both */
	uint64_t reserved[4]; /* zero */
};

/*
 * A new system in *system. Its guardians run on `executor`, and its time is the
 * clock of `executor`. `options` is copied and may be NULL. -EINVAL: null, a
 * strategy that weir_strategy_check() refuses, or something in `reserved`.
 * -ENOMEM, -ESHUTDOWN. Then *system is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_new(
	struct weir_system **system, struct weir_executor *executor,
	const struct weir_system_options *options);

/*
 * Frees the system. 0, also for NULL. -EBUSY, with nothing changed, until the
 * completion of weir_system_terminated() has completed. A callback of that
 * completion may free the system. Wait for that completion, not for a drain of
 * the executor, which is over a moment before.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_free(struct weir_system *system);

/*
 * Begins to stop the system, and returns:
 *
 * 1. /user stops, with all its descendants.
 * 2. Before-end hooks run, and are waited for.
 * 3. /system stops, then /.
 * 4. Termination hooks run, and the system's completion completes.
 *
 * From now on no actor can be spawned, and no hook added. Harmless when
 * repeated. The same happens when /user fails or escalates.
 */
WEIR_API void weir_system_stop(struct weir_system *system);

/*
 * A completion that completes (value NULL) when all actors of the system have
 * ended and been released. So a thread that waits for it must hold no reference
 * of an actor of the system. Lives as long as the system.
 */
WEIR_API struct weir_completion *weir_system_terminated(
	struct weir_system *system);

/*
 * weir_system_stop(), and waits for at most `timeout_ns` until the system has
 * ended: 0. Otherwise as weir_completion_wait(): -ETIMEDOUT, -EDEADLK, and the
 * system goes on ending; weir_system_holders() says why it has not ended.
 * -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_end_wait(struct weir_system *system,
						  uint64_t timeout_ns);

/*
 * Writes who keeps the system from ending, a line each: the path or the id of
 * each actor that is not released, with what it does; then how many before-end
 * hooks are not done, and how many timers, graceful stops and questions are
 * under way. As snprintf(): cut to `size` bytes with the
 * final 0. Returns the length of the whole text without that 0. -EINVAL: null,
 * unless `size` is 0. Any thread; others may change all that meanwhile.
 */
WEIR_API int weir_system_holders(struct weir_system *system, char *text,
				 size_t size);

/*
 * A callback at the end of a system. The caller embeds it, and keeps it until
 * `run` is called; a before-end hook until weir_system_hook_done().
 */
struct weir_system_hook {
	/* Once, on any thread, holding no lock; must not block. */
	void (*run)(struct weir_system_hook *hook);
	struct {
		struct weir_system *system;
		struct weir_system_hook *next;
	} WEIR_PRIVATE;
};

/*
 * weir_system_before_end(): the hook runs when /user has ended. /system does
 * not stop until weir_system_hook_done() was called once for each such hook, in
 * `run` or later; only weir_executor_stop_async() stops it before.
 *
 * weir_system_at_termination(): the hook runs when everything has ended, just
 * before the completion.
 *
 * The hook added last runs first. -EINVAL: null, no `run`. -ESHUTDOWN.
 */
WEIR_API int weir_system_before_end(struct weir_system *system,
				    struct weir_system_hook *hook);
WEIR_API int weir_system_at_termination(struct weir_system *system,
					struct weir_system_hook *hook);
WEIR_API void weir_system_hook_done(struct weir_system_hook *hook);

/* The guardians. */
WEIR_API struct weir_actor_id weir_system_root(
	const struct weir_system *system);
WEIR_API struct weir_actor_id weir_system_user_guardian(
	const struct weir_system *system);
WEIR_API struct weir_actor_id weir_system_system_guardian(
	const struct weir_system *system);

/* --- Spawning ------------------------------------------------------------- */

/* Which ends are followed by a restart (Erlang's restart types). */
enum weir_restart_type {
	/* Of failures, what the supervisor's strategy says. */
	WEIR_RESTART_TRANSIENT,
	/* It restarts also when it finishes; that counts against the limits. */
	WEIR_RESTART_PERMANENT,
	/* Never: a restart of it is a stop, and counts nowhere. */
	WEIR_RESTART_TEMPORARY,
};

struct weir_spawn_options {
	/*
	 * The actor's name among its siblings, copied: 1 to WEIR_NAME_MAX
	 * bytes, no '/', not beginning with '$'. NULL: "$" and the number of
	 * its slot.
	 */
	const char *name;
	enum weir_restart_type restart;
	/*
	 * How long a stop waits for the actor, if its `stopping` hook returns 1
	 * or its children take time, before the actor and all its descendants
	 * are stopped without being asked. One default for every kind of actor,
	 * Erlang's: WEIR_SHUTDOWN_DEFAULT, which is 0. WEIR_FOREVER: without
	 * limit. WEIR_SHUTDOWN_BRUTAL: not at all.
	 */
	uint64_t shutdown_ns;
	uint64_t reserved[4]; /* zero */
};

#define WEIR_NAME_MAX 255

/*
 * Values of every `shutdown_ns`. By default an actor whose `stopping` returns 1
 * has WEIR_SHUTDOWN_DEFAULT_NS, 5 s, to end by itself. Its children are waited
 * for without limit, as each of them has a limit of its own. So a stop of a
 * tree with defaults ends, if no turn or call lasts for ever.
 */
#define WEIR_SHUTDOWN_DEFAULT 0
#define WEIR_SHUTDOWN_DEFAULT_NS UINT64_C(5000000000)
#define WEIR_SHUTDOWN_BRUTAL (UINT64_MAX - 1)

/*
 * Starts an actor that has been set up and never been started, as a child of
 * `parent` (WEIR_ACTOR_ID_NONE: /user), and sets *id (`id` may be NULL) to its
 * id. The actor's first slice runs pre_start. A child of a suspended parent
 * starts suspended.
 *
 * -EINVAL: null, a bad name, option or strategy, or something in `reserved`.
 * -EALREADY: it was started before. -EEXIST: a sibling has that name. -ESRCH:
 * no such parent. -ESHUTDOWN: the parent, the system or the executor is
 * stopping. -E2BIG: the actor would have 4096 ancestors. -ENOMEM. Then the
 * actor is as it was.
 */
WEIR_API int weir_system_spawn(struct weir_system *system,
			       struct weir_actor_id parent,
			       struct weir_actor *actor,
			       const struct weir_spawn_options *options,
			       struct weir_actor_id *id);

/* --- References, names, paths -------------------------------------------- */

/*
 * The id and the system of an actor; WEIR_ACTOR_ID_NONE and NULL if it is in no
 * system. Owner, or any thread that holds a reference of the actor.
 */
WEIR_API struct weir_actor_id weir_actor_self(const struct weir_actor *actor);
WEIR_API struct weir_system *weir_actor_system(const struct weir_actor *actor);

/* The actor's parent; WEIR_ACTOR_ID_NONE if the actor has ended, or is /. */
WEIR_API struct weir_actor_id weir_system_parent(struct weir_system *system,
						 struct weir_actor_id id);

/* True: the actor has not ended. It may end at any time. */
WEIR_API bool weir_system_is_alive(struct weir_system *system,
				   struct weir_actor_id id);

/*
 * The actor, with a reference that the caller drops with weir_actor_unref();
 * NULL: the actor has ended.
 */
WEIR_API WEIR_MUST_CHECK struct weir_actor *weir_system_actor(
	struct weir_system *system, struct weir_actor_id id);

/*
 * The actor with this path, such as "/user/pool/3", or WEIR_ACTOR_ID_NONE.
 * Names are compared byte for byte.
 */
WEIR_API struct weir_actor_id weir_system_lookup(struct weir_system *system,
						 const char *path);

/*
 * Writes the path of the actor, as snprintf(): cut to `size` bytes with the
 * final 0. Returns the length of the whole path without that 0. -ESRCH.
 * -EINVAL: null, unless `size` is 0.
 */
WEIR_API int weir_system_path(struct weir_system *system,
			      struct weir_actor_id id, char *path, size_t size);

/*
 * Writes up to `max` children, in the order in which they were spawned. Returns
 * how many children there are, or -ESRCH. -EINVAL: null, unless `max` is 0.
 */
WEIR_API int weir_system_children(struct weir_system *system,
				  struct weir_actor_id id,
				  struct weir_actor_id *children, size_t max);

/* How often the actor was restarted, or -ESRCH. */
WEIR_API int64_t weir_system_restarts(struct weir_system *system,
				      struct weir_actor_id id);

/* --- Ending others -------------------------------------------------------- */

/*
 * Stops the actor: a turn under way goes to its end, no other begins; its
 * children end first. The actor is not restarted, whatever its restart type.
 * Harmless when repeated. 0 or -ESRCH. -EPERM: the actor is a guardian; see
 * weir_system_stop().
 */
WEIR_API int weir_system_stop_actor(struct weir_system *system,
				    struct weir_actor_id id);

/*
 * As weir_system_stop_actor(), but behind the tokens that the actor's in-ports
 * hold now. Tokens that come later are dead letters. So are the tokens in the
 * in-ports if no turn can take them because another in-port is empty.
 * -EALREADY: the actor was poisoned before, or is stopping.
 */
WEIR_API int weir_system_poison(struct weir_system *system,
				struct weir_actor_id id);

/*
 * The actor fails with -EINTR, behind the tokens that its in-ports hold now,
 * and its supervisor decides. If it is killed several times before that, it
 * fails once. Otherwise as weir_system_poison().
 */
WEIR_API int weir_system_kill(struct weir_system *system,
			      struct weir_actor_id id);

/*
 * Stops all children of the actor; returns at once. -EPERM. -EINVAL: null, or
 * the actor is in no system. Owner.
 */
WEIR_API int weir_actor_stop_children(struct weir_actor *self);

/* --- Dead letters --------------------------------------------------------- */

/*
 * For code that finds that the actor it sends to is gone: reports the item to
 * the system's dead_letter hook, counts it, and drops it as `items` says (NULL:
 * plain values).
 */
WEIR_API void weir_system_dead_letter(struct weir_system *system,
				      struct weir_actor_id to,
				      const struct weir_items *items,
				      void *item);

/* The number of dead letters so far. */
WEIR_API uint64_t
weir_system_dead_letter_count(const struct weir_system *system);

#ifdef __cplusplus
}
#endif

#endif
