/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch: a watcher is told, exactly once, that an actor of a system has
 * ended, whichever of the watch and the end comes first. A restart is not an
 * end.
 */
#ifndef WEIR_DEATH_WATCH_H
#define WEIR_DEATH_WATCH_H

#include <weir/executor.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Calls the actor's `terminated` hook (supervision.h) once, with `token`, when
 * `who` has ended; soon, if it has ended already. The hook is called behind the
 * tokens that `who` sent over a link. It is also called behind the tokens that
 * the watcher's in-ports held at that time, if its turns can take them, also if
 * a turn must wait for a delay or for room, but not if it must wait for a
 * permit. It is not called while the watcher is suspended. Without the hook
 * there is a death pact: the watcher fails with -EOWNERDEAD.
 *
 * Watching twice counts as once; watching itself does nothing. -EBUSY: the
 * actor watches `who` with another token. -EINVAL: null, no actor, or not in a
 * system. -ESHUTDOWN: the watcher is stopping. -EPERM. -ENOMEM. Owner, in a
 * turn, a handler or a hook.
 */
WEIR_API int weir_actor_watch(struct weir_actor *self, struct weir_actor_id who,
			      void *token);

/*
 * Ends a watch; a notice that has not been handled yet is dropped. -ENOENT: the
 * actor does not watch `who`, or the hook was called. -EINVAL, -EPERM. Owner.
 */
WEIR_API int weir_actor_unwatch(struct weir_actor *self,
				struct weir_actor_id who);

/* A watch by code that is not an actor. The caller embeds it. */
struct weir_watcher {
	/*
	 * The actor has ended, perhaps before the watch. Called once, on any
	 * thread, also before weir_watcher_add() returns, holding no lock; must
	 * not block. The struct may be reused.
	 */
	void (*terminated)(struct weir_watcher *watcher,
			   const struct weir_terminated *notice);
	void *token; /* yours */
	struct {
		struct weir_watcher *next, **link;
		struct weir_actor_id who;
	} WEIR_PRIVATE;
};

/*
 * Adds a watch. -EINVAL: null, no `terminated`. -ENOMEM. On an error
 * `terminated` will not be called. Any thread.
 */
WEIR_API int weir_watcher_add(struct weir_system *system,
			      struct weir_actor_id who,
			      struct weir_watcher *watcher);

/* Removes a watch. True: `terminated` will not be called. False: it was called
 * or will be, or runs now. */
WEIR_API bool weir_watcher_remove(struct weir_system *system,
				  struct weir_watcher *watcher);

/*
 * Waits until the actor has ended, be it long ago: 0. Otherwise as
 * weir_completion_wait(): -ETIMEDOUT, -EDEADLK, and the actor may end at any
 * time. -EINVAL: null. -ENOMEM. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_system_actor_end_wait(
	struct weir_system *system, struct weir_actor_id who,
	uint64_t timeout_ns);

/* A stop that is waited for. The caller embeds it, and keeps it until
 * `done`. */
struct weir_graceful_stop {
	/*
	 * 0: the actor has ended, perhaps before the call. -ETIMEDOUT: it has
	 * not ended by the deadline; its end will not be reported. Called once,
	 * on any thread, holding no lock; must not block.
	 */
	void (*done)(struct weir_graceful_stop *stop, int rc);
	struct {
		struct weir_watcher watcher;
		struct weir_timer timer;
		struct weir_system *system;
		uint32_t state;
	} WEIR_PRIVATE;
};

/*
 * Poisons the actor (or stops it, with `now`), and calls `done` when the actor
 * has ended, or at `deadline_ns` on the system's clock; WEIR_FOREVER: no
 * deadline. The system does not terminate before `done` was called. -EINVAL:
 * null, no `done`. -EPERM: the actor is a guardian. -ENOTSUP, -ENOMEM: no
 * timer. On an error `done` is not called. Any thread.
 */
WEIR_API int weir_system_stop_actor_async(struct weir_system *system,
					  struct weir_actor_id who, bool now,
					  struct weir_graceful_stop *stop,
					  uint64_t deadline_ns);

#ifdef __cplusplus
}
#endif

#endif
