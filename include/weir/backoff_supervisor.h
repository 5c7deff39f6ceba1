/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ready-made supervising actor that has one child and, when that ends, makes
 * another after a delay that grows from one time to the next. After Akka's
 * BackoffSupervisor. What is meant for the child is put here:
 *
 *	weir_backoff_supervisor_init(&s, executor,
 *		&(struct weir_backoff_supervisor_options){
 *			.make = make_client, .context = &pool,
 *			.max_retries = -1,
 *			.backoff = {.min_ns = 3 * SECOND, .max_ns = MINUTE}});
 *	weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &s.actor, NULL, NULL);
 *	weir_backoff_supervisor_put(&s, request);
 *
 * A strategy's back-off (supervision.h) restarts the same actor, which keeps
 * its tokens; here each is a new one, with memory and a reference of its own,
 * and what the old one had not taken is dead letters.
 */
#ifndef WEIR_BACKOFF_SUPERVISOR_H
#define WEIR_BACKOFF_SUPERVISOR_H

#include <weir/delay.h>
#include <weir/in.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which ends of the child are followed by another child. */
enum weir_backoff_mode {
	/*
	 * All: it finished, it was stopped or poisoned, or its failure was
	 * answered with WEIR_DIRECTIVE_STOP. A failure answered with
	 * WEIR_DIRECTIVE_RESTART is an ordinary restart, at once, and not
	 * counted.
	 */
	WEIR_BACKOFF_ON_STOP,
	/*
	 * Those after a failure answered with WEIR_DIRECTIVE_RESTART, which
	 * stops the child here. After any other end the supervisor ends as
	 * well.
	 */
	WEIR_BACKOFF_ON_FAILURE,
};

/*
 * `make` and `backoff` are needed, all others may be 0 or NULL. Functions are
 * called by the supervisor's slice, as its owner, unless they say otherwise.
 */
struct weir_backoff_supervisor_options {
	const char *name; /* lives for ever; "backoff supervisor" */
	void *context;	  /* passed to the functions */
	enum weir_backoff_mode mode;
	/*
	 * A new child: 0 and *child, which is set up and not started, with
	 * memory of its own that its ops->released lets go. *input (NULL
	 * before the call) is the in-port of the child's that
	 * weir_backoff_supervisor_put() puts into; NULL: none. If the child
	 * cannot be spawned the library stops it. A negative errno: there is
	 * none, try again after the next delay; -ESHUTDOWN: never again.
	 */
	int (*make)(struct weir_actor **child, struct weir_in **input,
		    void *context);
	/* The child's; its name is "child" if NULL, each time the same. Its
	 * restart type can only be WEIR_RESTART_TRANSIENT. */
	struct weir_spawn_options child;
	/*
	 * Exponential. Never reset by itself (reset_ns WEIR_FOREVER), the count
	 * is reset with weir_backoff_supervisor_reset().
	 */
	struct weir_backoff backoff;
	/*
	 * Most new children since the last reset: the supervisor ends when one
	 * more is needed. 0: none at all, the first child is the last. Any
	 * negative number: no limit.
	 */
	int32_t max_retries;
	/*
	 * Answers the child's failures; NULL: the default decider. If none of
	 * its rules matches, so does the default decider, which is not so
	 * elsewhere. Limits and a back-off in it are of ordinary restarts; with
	 * WEIR_BACKOFF_ON_FAILURE there are none, and so can be no limits.
	 */
	const struct weir_strategy *strategy;
	/*
	 * What becomes of an item that is put while there is no child. All
	 * NULL or 0: it is a dead letter. A negative errno: that is returned,
	 * and the sender keeps the item. A function: what it returns; with a
	 * negative errno the sender keeps the item. On the sender's thread,
	 * several at once.
	 */
	int absent_code;
	int (*absent)(void *item, void *context);
	/*
	 * True: when the child that gets this item ends, the supervisor ends;
	 * at once if there is none. On the sender's thread, several at once.
	 */
	bool (*is_final)(void *item, void *context);
	/* Where weir_backoff_supervisor_put_up() puts, an in-port of the
	 * supervisor's parent as a rule; not released before the supervisor. */
	struct weir_in *up;
	const struct weir_items *items; /* what is put; plain values */
	/* As in stage.h: has ended, why; its memory may be reused, any
	 * thread. */
	void (*done)(struct weir_error *error, void *context);
	void (*released)(void *context);
};

/* Fields are read-only. */
struct weir_backoff_supervisor {
	struct weir_actor actor;
	/* private */
	struct weir_delay delay;
	struct weir_actor_ops ops;
	struct weir_lifecycle lifecycle;
	struct weir_strategy strategy;
	struct weir_backoff_supervisor_options options;
	/* the owner's */
	struct weir_error *error; /* of the last child's end; a reference */
	bool again;		  /* the child's end is followed by another */
	uint8_t undecided;
	/* under the lock */
	uint8_t phase;
	bool final;
	uint32_t lock;
	uint32_t finals; /* final items that are being put into a child */
	uint32_t count;
	uint64_t reset_at_ns;
	struct weir_actor *child; /* a reference */
	struct weir_in *input;
	struct weir_actor_id id;
};

/*
 * Sets up a supervisor, to be spawned with weir_system_spawn(), or else stopped
 * with weir_actor_stop(); its pre_start makes the first child. `options` is
 * copied, and what it points to is borrowed until released.
 *
 * -EINVAL: null, no `make`, no such mode or law, times or a factor out of their
 * ranges, a positive `absent_code`, a restart type, a bad name or strategy.
 * -ENOTSUP: the executor has no timers. Then nothing has changed.
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
 * Puts an item into the child's in-port. 0: the child, or `absent`, has it.
 * 1: there is none, and the item was a dead letter. On an error the item stays
 * the caller's. -EAGAIN: the child's in-port is full, or the supervisor has not
 * started yet. -EPIPE: the supervisor has ended. -EISCONN: as weir_in_put().
 * What absent_code or `absent` say. -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_backoff_supervisor_put(
	struct weir_backoff_supervisor *supervisor, void *item);

/*
 * For the child: an item for its supervisor's parent. As weir_in_put(), into
 * options.up. -ENOTSUP: there is no such. -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_backoff_supervisor_put_up(
	struct weir_backoff_supervisor *supervisor, void *item);

/*
 * No other child is made: the supervisor ends when the child that there is has
 * ended, or at once. 0. -EINVAL: null.
 */
WEIR_API int weir_backoff_supervisor_end(
	struct weir_backoff_supervisor *supervisor);

/*
 * The next delay is the first again. 0. -ENOTSUP: reset_ns is not WEIR_FOREVER,
 * it resets by itself. -EINVAL: null.
 */
WEIR_API int weir_backoff_supervisor_reset(
	struct weir_backoff_supervisor *supervisor);

/* The child, also while it is ending; WEIR_ACTOR_ID_NONE: there is none. */
WEIR_API struct weir_actor_id weir_backoff_supervisor_child(
	struct weir_backoff_supervisor *supervisor);

/* Delays since the last reset, one under way included. */
WEIR_API uint32_t
weir_backoff_supervisor_count(struct weir_backoff_supervisor *supervisor);

#ifdef __cplusplus
}
#endif

#endif
