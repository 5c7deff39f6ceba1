/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch: being told, exactly once, that an actor of a system has ended,
 * whichever of watch and death comes first. A restart is no end.
 */
#ifndef WEIR_DEATH_WATCH_H
#define WEIR_DEATH_WATCH_H

#include <weir/executor.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The actor's `terminated` hook (supervision.h) will be called, once, with
 * `token`, when `who` has ended; soon, if it is dead already. It comes behind
 * the tokens that `who` sent over a link; behind those its in-ports held at
 * that time, too, if it can take them, be it after a delay or when there is
 * room, but not if it needs a permit; not while the watcher is suspended.
 * Without the hook: a death pact, the watcher fails with -EOWNERDEAD.
 *
 * Watching twice is watching once, watching oneself nothing. -EBUSY: it
 * watches with another token. -EINVAL: null, nobody, or not in a system.
 * -ESHUTDOWN: it is stopping. -EPERM. -ENOMEM. Owner, in a turn, a handler or a
 * hook.
 */
WEIR_API int weir_actor_watch(struct weir_actor *self, struct weir_actor_id who,
			      void *token);

/*
 * Not any more: also a notice that waits to be handled goes. -ENOENT: it does
 * not watch, or the hook was called. -EINVAL, -EPERM. Owner.
 */
WEIR_API int weir_actor_unwatch(struct weir_actor *self,
				struct weir_actor_id who);

/* The same for others than actors. Embedded by who watches. */
struct weir_watcher {
	/*
	 * It has ended, or was dead before. Once, on any thread, also before
	 * weir_watcher_add() returns, holding no lock; must not block. The
	 * struct may be reused.
	 */
	void (*terminated)(struct weir_watcher *watcher,
			   const struct weir_terminated *notice);
	void *token; /* yours */
	/* private */
	struct weir_watcher *next, **link;
	struct weir_actor_id who;
};

/*
 * -EINVAL: null, no `terminated`. -ENOMEM. Then it will not be called. Any
 * thread.
 */
WEIR_API int weir_watcher_add(struct weir_system *system,
			      struct weir_actor_id who,
			      struct weir_watcher *watcher);

/* True: it will not be called. False: it was, or will be, or runs now. */
WEIR_API bool weir_watcher_remove(struct weir_system *system,
				  struct weir_watcher *watcher);

/* A stop that is waited for; embedded by who asks, kept until `done`. */
struct weir_graceful_stop {
	/*
	 * 0: it has ended, or was dead before. -ETIMEDOUT: not by the
	 * deadline; nobody waits for it any more. Once, on any thread,
	 * holding no lock; must not block.
	 */
	void (*done)(struct weir_graceful_stop *stop, int rc);
	/* private */
	struct weir_watcher watcher;
	struct weir_timer timer;
	struct weir_system *system;
	uint32_t state;
};

/*
 * Poisons it (or stops it, with `now`), and tells when it has ended or at
 * `deadline_ns` on the system's clock; WEIR_FOREVER: no deadline. -EINVAL:
 * null, no `done`. -EPERM: a guardian. -ENOTSUP, -ENOMEM: no timer. Then `done`
 * is not called. The system is not over before it was. Any thread.
 */
WEIR_API int weir_system_stop_actor_async(struct weir_system *system,
					  struct weir_actor_id who, bool now,
					  struct weir_graceful_stop *stop,
					  uint64_t deadline_ns);

#ifdef __cplusplus
}
#endif

#endif
