/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ready-made supervisor with one child. When the child ends, the supervisor
 * makes another one, after a delay that grows each time. After Akka's
 * BackoffSupervisor. Items for the child are put into the supervisor:
 *
 *	weir_backoff_supervisor_init(&s, executor,
 *		&(struct weir_backoff_supervisor_options){
 *			.make = make_client, .context = &pool,
 *			.max_retries = -1,
 *			.backoff = {.min_ns = 3 * SECOND, .max_ns = MINUTE}});
 *	weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &s.actor, NULL, NULL);
 *	weir_backoff_supervisor_put(&s, request);
 *
 * A strategy with a back-off (supervision.h) restarts the same actor, which
 * keeps its tokens. Here each child is a new actor, with its own memory and id,
 * and tokens that the old child had not taken are dead letters.
 */
#ifndef WEIR_BACKOFF_SUPERVISOR_H
#define WEIR_BACKOFF_SUPERVISOR_H

#include <weir/delay.h>
#include <weir/in.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* After which ends of the child another child is made. */
enum weir_backoff_mode {
	/*
	 * After every end: the child ended by itself, was stopped or poisoned,
	 * or its failure was answered with WEIR_DIRECTIVE_STOP. If a failure is
	 * answered with WEIR_DIRECTIVE_RESTART, the same child restarts at
	 * once; that is not counted.
	 */
	WEIR_BACKOFF_ON_STOP,
	/*
	 * After a failure that was answered with WEIR_DIRECTIVE_RESTART, which
	 * stops the child here. After any other end the supervisor ends as
	 * well.
	 */
	WEIR_BACKOFF_ON_FAILURE,
};

/*
 * `make` and `backoff` are needed, all other fields may be 0 or NULL. The
 * functions are called by the supervisor's slice, as its owner, unless their
 * contract says otherwise.
 */
struct weir_backoff_supervisor_options {
	const char *name; /* lives for ever; "backoff supervisor" */
	void *context;	  /* passed to the functions */
	enum weir_backoff_mode mode;
	/*
	 * Makes a new child. 0: *child is an actor that is set up and not
	 * started, with its own memory, which its ops->released frees; *input
	 * (NULL before the call) is the in-port of the child that
	 * weir_backoff_supervisor_put() puts into; NULL: none. If the child
	 * cannot be spawned, the library stops it. A negative errno: no child
	 * was made, `make` is called again after the next delay. -ESHUTDOWN: no
	 * child was made, and the supervisor ends.
	 */
	int (*make)(struct weir_actor **child, struct weir_in **input,
		    void *context);
	/* How the child is spawned. Each child has the same name; NULL:
	 * "child". The restart type can only be WEIR_RESTART_TRANSIENT. */
	struct weir_spawn_options child;
	/*
	 * The law must be exponential. If reset_ns is WEIR_FOREVER, the count
	 * is reset by weir_backoff_supervisor_reset() only.
	 */
	struct weir_backoff backoff;
	/*
	 * Most new children since the last reset: the supervisor ends when one
	 * more would be needed. 0: the first child is the last. Any negative
	 * number: no limit.
	 */
	int64_t max_retries;
	/*
	 * Answers the child's failures; NULL: the default decider. If none of
	 * its rules matches, the default decider answers (unlike in other
	 * supervisors). Limits and a back-off in the strategy are for restarts
	 * of the same child. With WEIR_BACKOFF_ON_FAILURE there are no such
	 * restarts, and a strategy with limits or a back-off is refused.
	 */
	const struct weir_strategy *strategy;
	/*
	 * What becomes of an item that is put while there is no child. `absent`
	 * not NULL: the put returns the result of `absent`; after a negative
	 * errno the sender keeps the item. Called on the sender's thread,
	 * several calls at once. Else `absent_code` negative: the put returns
	 * it, and the sender keeps the item. Both 0: the item is a dead letter.
	 */
	int absent_code;
	int (*absent)(void *item, void *context);
	/*
	 * True: the supervisor ends when the child that gets this item ends; at
	 * once if there is no child. Called on the sender's thread, several
	 * calls at once.
	 */
	bool (*is_final)(void *item, void *context);
	/*
	 * The in-port that weir_backoff_supervisor_put_up() puts into, as a
	 * rule one of the supervisor's parent; not released before the
	 * supervisor.
	 */
	struct weir_in *up;
	const struct weir_items *items; /* what is put; plain values */
	/* As in stage.h: the supervisor has ended, and why; its memory may be
	 * reused, on any thread. */
	void (*done)(struct weir_error *error, void *context);
	void (*released)(void *context);
	uint64_t reserved[4]; /* zero */
};

/* Fields are read-only. */
struct weir_backoff_supervisor {
	struct weir_actor actor;
	struct {
		struct weir_delay delay;
		struct weir_actor_ops ops;
		struct weir_lifecycle lifecycle;
		struct weir_strategy strategy;
		struct weir_backoff_supervisor_options options;
		/* the owner's */
		/* of the last child's end; a reference */
		struct weir_error *error;
		bool again; /* the child's end is followed by another */
		uint8_t undecided;
		/* under the lock */
		uint8_t phase;
		bool final;
		uint32_t lock;
		/* final items that are being put into a child */
		uint32_t finals;
		uint32_t count;
		uint64_t reset_at_ns;
		struct weir_actor *child; /* a reference */
		struct weir_in *input;
		struct weir_actor_id id;
	} WEIR_PRIVATE;
};

/*
 * Sets up a supervisor, which must be spawned with weir_system_spawn() or
 * stopped with weir_actor_stop(). Its pre_start makes the first child.
 * `options` is copied; everything that it points to is borrowed until
 * `released`.
 *
 * -EINVAL: null, no `make`, no such mode or law, times or a factor out of their
 * ranges, a positive `absent_code`, a restart type, a bad name or strategy, or
 * something in `reserved`. -ENOTSUP: the executor has no timers. Then nothing
 * has changed.
 */
WEIR_API int weir_backoff_supervisor_init(
	struct weir_backoff_supervisor *supervisor,
	struct weir_executor *executor,
	const struct weir_backoff_supervisor_options *options);

/*
 * The calls below can be made from any thread that holds a reference of the
 * supervisor's actor, or by the owner; none waits.
 */

/*
 * Puts an item into the child's in-port. 0: the child, or `absent`, has the
 * item. 1: there is no child, and the item was a dead letter. On an error the
 * item stays the caller's. -EAGAIN: the child's in-port is full, or the
 * supervisor has not started yet. -EPIPE: the supervisor has ended. -EISCONN:
 * as weir_in_put(). The error of absent_code or `absent`. -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_backoff_supervisor_put(
	struct weir_backoff_supervisor *supervisor, void *item);

/*
 * For the child: sends an item to its supervisor's parent, as weir_in_put()
 * into options.up. -ENOTSUP: options.up is NULL. -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_backoff_supervisor_put_up(
	struct weir_backoff_supervisor *supervisor, void *item);

/*
 * Makes no other child: the supervisor ends when its child has ended, or at
 * once if there is none. 0. -EINVAL: null.
 */
WEIR_API int weir_backoff_supervisor_end(
	struct weir_backoff_supervisor *supervisor);

/*
 * Resets the count: the next delay is the first again. 0. -ENOTSUP: reset_ns is
 * not WEIR_FOREVER, so the count is reset by time. -EINVAL: null.
 */
WEIR_API int weir_backoff_supervisor_reset(
	struct weir_backoff_supervisor *supervisor);

/* The child, also while it is ending; WEIR_ACTOR_ID_NONE: there is none. */
WEIR_API struct weir_actor_id weir_backoff_supervisor_child(
	struct weir_backoff_supervisor *supervisor);

/* Delays since the last reset, one under way included. */
WEIR_API int64_t
weir_backoff_supervisor_count(struct weir_backoff_supervisor *supervisor);

#ifdef __cplusplus
}
#endif

#endif
