/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Semaphores that threads, callbacks and actors share. Each permit is had by
 * one of them at a time, and who asks first is served first: nobody overtakes
 * those who wait. (permits.h has the port that only its own actor takes from.)
 *
 * Order: who needs permits of several semaphores at once takes them in one
 * global order, the same for all. Threads and callbacks see to that
 * themselves; an actor takes those of its ports in the order in which it has
 * set them up, one after the other, and holds what it has been granted while
 * it waits for the rest, for its other ports, or is suspended.
 *
 * A semaphore outlives the calls on it and the actors that have ports at it.
 */
#ifndef WEIR_SEMAPHORE_H
#define WEIR_SEMAPHORE_H

#include <weir/private.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All private. */
struct weir_semaphore {
	uint64_t word; /* 2 * permits + somebody waits; any thread */
	uint32_t lock; /* for the rest */
	struct weir__waiters waiters;
};

/* No semaphore has more permits. */
#define WEIR_PERMITS_MAX (INT64_MAX / 2)

/*
 * Sets up a semaphore with `permits`. -EINVAL: null, negative, or above
 * WEIR_PERMITS_MAX.
 */
WEIR_API int weir_semaphore_init(struct weir_semaphore *semaphore,
				 int64_t permits);

/*
 * The end of it; the memory may be reused. It may follow the call that got a
 * permit, though the release that gave it has not returned yet. -EBUSY:
 * somebody waits; then nothing is changed. -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_semaphore_fini(
	struct weir_semaphore *semaphore);

/*
 * Gives `n` permits, to those who wait first. Their callbacks run on this
 * thread before it returns or, inside of another such callback, after that
 * one. -EINVAL: null, n <= 0. -EOVERFLOW: there would be more than
 * WEIR_PERMITS_MAX. Any thread; lock-free if nobody waits, else a short lock.
 */
WEIR_API int weir_semaphore_release(struct weir_semaphore *semaphore,
				    int64_t n);

/*
 * Takes `n` permits now. -EAGAIN: they are not there, or somebody waits.
 * -EINVAL: null, n <= 0 or above WEIR_PERMITS_MAX. Any thread; lock-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_semaphore_try_acquire(
	struct weir_semaphore *semaphore, int64_t n);

/*
 * Takes `n` permits, waiting for at most `timeout_ns` (WEIR_FOREVER: without
 * end); on a thread that owns a loop or a simulator that is run meanwhile,
 * and its clock counts. On any error no permit is taken and the next in the
 * queue is served. -ETIMEDOUT: at once if `timeout_ns` is 0. -EDEADLK: this
 * thread may not wait (a worker of a pool, in a turn, in a callback), or it
 * runs a simulator with nothing left to do. -EINVAL: null, n <= 0 or above
 * WEIR_PERMITS_MAX. Any thread; lock-free if it need not wait.
 */
WEIR_API WEIR_MUST_CHECK int weir_semaphore_acquire_wait(
	struct weir_semaphore *semaphore, int64_t n, uint64_t timeout_ns);

/* A request for permits; embedded by who makes it, kept until `granted`. */
struct weir_acquire {
	/*
	 * The permits are yours. Once, holding no lock, on the thread that
	 * released them or on the one that asked, also before
	 * weir_semaphore_acquire_async() has returned; callbacks of concurrent
	 * releases run in any order. Must not block; may call anything else,
	 * this semaphore included, and reuse or free the request.
	 */
	void (*granted)(struct weir_acquire *acquire);
	/* private */
	struct weir__claim claim;
};

/*
 * Asks for `n` permits: `granted` is called when they are there, unless the
 * request is cancelled. -EINVAL: null, no `granted`, n <= 0 or above
 * WEIR_PERMITS_MAX; then it will not be called. Any thread; lock-free if it
 * need not wait.
 */
WEIR_API int weir_semaphore_acquire_async(struct weir_semaphore *semaphore,
					  struct weir_acquire *acquire,
					  int64_t n);

/*
 * True: the request waited and does not any more, `granted` will not be
 * called, and the next in the queue are served. False: `granted` has been
 * called or will be, or runs now. Any thread; a short lock.
 */
WEIR_API bool weir_semaphore_cancel(struct weir_semaphore *semaphore,
				    struct weir_acquire *acquire);

/* Permits that are there now, a snapshot. Any thread; wait-free. */
WEIR_API int64_t weir_semaphore_permits(const struct weir_semaphore *semaphore);

/* A port that is unblocked while it holds a permit (`burst`, if set). */
struct weir_semaphore_port {
	/* private */
	struct weir__grant_port grant;
	struct weir_semaphore *semaphore;
};

/*
 * Sets up a port of `actor`. It asks for its permits when the actor has
 * nothing to do; they stay there until a turn takes them, and go back when
 * the actor ends, the port is ignored, or a turn has left a part of them.
 * -EINVAL: null. -EPERM. Owner.
 */
WEIR_API int weir_semaphore_port_init(struct weir_semaphore_port *port,
				      struct weir_actor *actor,
				      struct weir_semaphore *semaphore);

/*
 * Takes `n` of the permits that the port holds: the caller's now, to be
 * released one day by whomever. In a turn there is a burst. -EAGAIN: it holds
 * fewer. -EINVAL: null, n <= 0. -EPERM. Owner; wait-free.
 */
WEIR_API int weir_semaphore_port_take(struct weir_semaphore_port *port,
				      int64_t n);

#ifdef __cplusplus
}
#endif

#endif
