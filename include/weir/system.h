/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actor systems. Every actor of a system has a parent, which supervises it
 * (supervision.h); an actor outside any system works as before. The tree:
 *
 *	/
 *	├── /user     what is spawned without a parent
 *	└── /system   what outlives that: logging and the like
 *
 * An actor of a system can be on any executor. Functions here can be called
 * from any thread unless they say "owner"; each takes a short lock of the
 * system's, so they are not for every token.
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
	/* A directive is about to be followed; none for an escalation. */
	WEIR_SUPERVISION_EVENT_DIRECTIVE,
	WEIR_SUPERVISION_EVENT_LIMIT, /* a restart was refused by a limit */
	WEIR_SUPERVISION_EVENT_HOOK,  /* pre_restart or post_stop has failed */
};

/* What supervision does, for logs. All borrowed for the call. */
struct weir_supervision_event {
	enum weir_supervision_event_kind what;
	struct weir_system *system;
	struct weir_actor_id supervisor, child;
	const char *name; /* the child's actor ops->name */
	struct weir_error *error;
	enum weir_directive directive; /* of a directive or a limit */
};

struct weir_system_options {
	const struct weir_allocator *allocator; /* the executor's */
	const struct weir_strategy *strategy; /* of /user, over its children */
	/* Of jitter. 0: a simulator's own seed; elsewhere one that is drawn. */
	uint64_t seed;
	/*
	 * An item nobody will handle: left in an actor's in-ports at its end,
	 * or given to weir_system_dead_letter(). It is dropped after this
	 * returns. Any thread; must not block, nor call the library.
	 */
	void (*dead_letter)(struct weir_system *system, struct weir_actor_id to,
			    void *item, void *context);
	/* In the slice of the supervisor or the child; must not block. */
	void (*event)(const struct weir_supervision_event *event,
		      void *context);
	void *context; /* passed to both */
};

/*
 * A new system in *system, whose guardians run on `executor`, whose clock it
 * goes by; `options` is copied and may be NULL. -EINVAL: null, or a strategy
 * that weir_strategy_check() refuses. -ENOMEM, -ESHUTDOWN. Then *system is
 * NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_new(
	struct weir_system **system, struct weir_executor *executor,
	const struct weir_system_options *options);

/*
 * 0, also for NULL. -EBUSY, with nothing changed, until the completion of
 * weir_system_terminated() has completed; then callbacks of it may call this.
 * That is what to wait for: a drain of the executor is done before, even if by
 * a moment only.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_free(struct weir_system *system);

/*
 * Begins to shut down, and returns: /user stops with all below it; then
 * before-end hooks run and are waited for; then /system stops, then /; then
 * termination hooks run, and the system's completion completes. From now on
 * nothing is spawned and no hook taken. Harmless when repeated. The same
 * happens when /user fails or escalates.
 */
WEIR_API void weir_system_stop(struct weir_system *system);

/*
 * Completes (value NULL) when all of it has ended and been released; so whoever
 * waits for it holds no reference of an actor of the system. Lives with the
 * system.
 */
WEIR_API struct weir_completion *weir_system_terminated(
	struct weir_system *system);

/*
 * Something to be done at the end; embedded by who wants it and kept until
 * `run` or, before the end, until it is done.
 */
struct weir_system_hook {
	/* Once, on any thread, holding no lock; must not block. */
	void (*run)(struct weir_system_hook *hook);
	/* private */
	struct weir_system *system;
	struct weir_system_hook *next;
};

/*
 * before_end: runs when /user has ended, and /system does not stop until
 * weir_system_hook_done() was called for each, once, from `run` or later; only
 * an executor that aborts stops it before.
 * at_termination: runs when everything has ended, just before the completion.
 * Last added, first run. -EINVAL: null, no `run`. -ESHUTDOWN.
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
	 * Its name among its siblings, copied: 1 to WEIR_NAME_MAX bytes, no
	 * '/', not beginning with '$'. NULL: "$" and its slot's number.
	 */
	const char *name;
	enum weir_restart_type restart;
	/*
	 * When it is to stop and its `stopping` hook says 1, or its children
	 * take their time: how long to wait before it and all below it are
	 * stopped without being asked. 0, WEIR_FOREVER: for ever.
	 * WEIR_SHUTDOWN_BRUTAL: not at all.
	 */
	uint64_t shutdown_ns;
};

#define WEIR_NAME_MAX 255
#define WEIR_SHUTDOWN_BRUTAL (UINT64_MAX - 1)

/*
 * Starts an actor, which has been set up and never been started, as a child of
 * `parent` (WEIR_ACTOR_ID_NONE: /user), and names it in *id (may be NULL). Its
 * first slice runs pre_start. A child of a suspended parent starts suspended.
 *
 * -EINVAL: null, a bad name, option or strategy. -EALREADY: it was started
 * before. -EEXIST: a sibling has that name. -ESRCH: no such parent.
 * -ESHUTDOWN: the parent, the system or the executor is stopping. -E2BIG: there
 * are 4096 actors above it. -ENOMEM. Then it is as it was.
 */
WEIR_API int weir_system_spawn(struct weir_system *system,
			       struct weir_actor_id parent,
			       struct weir_actor *actor,
			       const struct weir_spawn_options *options,
			       struct weir_actor_id *id);

/* --- References, names, paths -------------------------------------------- */

/*
 * An actor's id and its system; WEIR_ACTOR_ID_NONE, NULL: it is in none. Owner,
 * or any thread that holds a reference of the actor.
 */
WEIR_API struct weir_actor_id weir_actor_self(const struct weir_actor *actor);
WEIR_API struct weir_system *weir_actor_system(const struct weir_actor *actor);

/* WEIR_ACTOR_ID_NONE: it is dead, or /. */
WEIR_API struct weir_actor_id weir_system_parent(struct weir_system *system,
						 struct weir_actor_id id);

/* True: it has not ended. It may end at any time. */
WEIR_API bool weir_system_is_alive(struct weir_system *system,
				   struct weir_actor_id id);

/*
 * The actor with a reference, which the caller drops with weir_actor_unref(),
 * or NULL: it has ended.
 */
WEIR_API WEIR_MUST_CHECK struct weir_actor *weir_system_actor(
	struct weir_system *system, struct weir_actor_id id);

/*
 * Who has this path, as "/user/pool/3", or WEIR_ACTOR_ID_NONE. Names compare
 * byte for byte.
 */
WEIR_API struct weir_actor_id weir_system_lookup(struct weir_system *system,
						 const char *path);

/*
 * Writes the path, ended by a 0 and cut to `size` bytes if it is longer.
 * Returns its length without that 0, as snprintf(); -ESRCH; -EINVAL: null,
 * unless `size` is 0.
 */
WEIR_API int weir_system_path(struct weir_system *system,
			      struct weir_actor_id id, char *path, size_t size);

/*
 * Writes up to `max` children, in the order they were spawned. Returns how many
 * there are, or -ESRCH; -EINVAL: null, unless `max` is 0.
 */
WEIR_API int weir_system_children(struct weir_system *system,
				  struct weir_actor_id id,
				  struct weir_actor_id *children, size_t max);

/* How often it was restarted, or -ESRCH. */
WEIR_API int64_t weir_system_restarts(struct weir_system *system,
				      struct weir_actor_id id);

/* --- Ending others -------------------------------------------------------- */

/*
 * Stops it: the turn under way ends, no other begins; its children end first.
 * It is not restarted, whatever its type. Harmless when repeated. 0 or -ESRCH.
 * -EPERM: a guardian; see weir_system_stop().
 */
WEIR_API int weir_system_stop_actor(struct weir_system *system,
				    struct weir_actor_id id);

/*
 * The same behind the tokens that its in-ports hold now; those that come after
 * are dead letters. If no turn can take them, because one of several in-ports
 * is empty, they are too. -EALREADY: it was poisoned before, or is stopping.
 */
WEIR_API int weir_system_poison(struct weir_system *system,
				struct weir_actor_id id);

/*
 * Behind the same tokens, it fails with -EINTR; its supervisor decides. Once,
 * however often it is killed before that. Otherwise as weir_system_poison().
 */
WEIR_API int weir_system_kill(struct weir_system *system,
			      struct weir_actor_id id);

/*
 * Stops all children of the caller's that there are; returns at once. -EPERM;
 * -EINVAL: null, or in no system. Owner.
 */
WEIR_API int weir_actor_stop_children(struct weir_actor *self);

/* --- Dead letters --------------------------------------------------------- */

/*
 * Nobody can take this: tells the system's hook, counts it and drops it, as
 * `items` says (NULL: plain). For who finds that the actor it sends to is gone.
 */
WEIR_API void weir_system_dead_letter(struct weir_system *system,
				      struct weir_actor_id to,
				      const struct weir_items *items,
				      void *item);

/* How many there have been. */
WEIR_API uint64_t
weir_system_dead_letter_count(const struct weir_system *system);

#ifdef __cplusplus
}
#endif

#endif
