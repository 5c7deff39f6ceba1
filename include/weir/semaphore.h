/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Semaphores that threads, callbacks and actors share. Each permit has one
 * holder at a time. Requests are served in the order in which they came: no
 * later request overtakes one that waits. (permits.h has a port from which only
 * its own actor takes.)
 *
 * Code that needs permits of several semaphores at once must take them in one
 * global order, or it may deadlock. Threads and callbacks see to that order
 * themselves. An actor takes the permits of its ports one after the other, in
 * the order in which the ports were set up. It holds the permits it has been
 * granted while it waits for the other permits, for its other ports, or is
 * suspended.
 *
 * A semaphore must outlive the calls on it and the actors that have ports at
 * it.
 */
#ifndef WEIR_SEMAPHORE_H
#define WEIR_SEMAPHORE_H

#include <weir/private.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_semaphore {
	struct {
		uint64_t word; /* 2 * permits + (a request waits); any thread */
		uint32_t lock; /* for the rest */
		struct weir__waiters waiters;
	} WEIR_PRIVATE;
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
 * Ends the life of a semaphore; its memory may be reused. A thread that has got
 * a permit may call this, even if the release that gave the permit has not
 * returned yet. -EBUSY: a callback, thread or port waits; then nothing is
 * changed. -EINVAL: null.
 */
WEIR_API WEIR_MUST_CHECK int weir_semaphore_fini(
	struct weir_semaphore *semaphore);

/*
 * Releases `n` permits; waiting requests get them first. Their callbacks run on
 * this thread before the call returns; inside another such callback, they run
 * after that one. -EINVAL: null, n <= 0. -EOVERFLOW: there would be more than
 * WEIR_PERMITS_MAX. Any thread; lock-free if no request waits, else a short
 * lock.
 */
WEIR_API int weir_semaphore_release(struct weir_semaphore *semaphore,
				    int64_t n);

/*
 * Takes `n` permits now. -EAGAIN: there are fewer, or a request waits. -EINVAL:
 * null, n <= 0 or above WEIR_PERMITS_MAX. Any thread; lock-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_semaphore_try_acquire(
	struct weir_semaphore *semaphore, int64_t n);

/*
 * Takes `n` permits, and waits for them for at most `timeout_ns` (WEIR_FOREVER:
 * no limit). A thread that owns a loop or a simulator runs it meanwhile, and
 * the timeout counts on its clock. On an error no permit is taken, and the next
 * request in the queue is served. -ETIMEDOUT: at once if `timeout_ns` is 0.
 * -EDEADLK: this thread may not wait (a worker of a pool, in a turn, in a
 * callback), or it runs a simulator with nothing left to do. -EINVAL: null, n
 * <= 0 or above WEIR_PERMITS_MAX. Any thread; lock-free if it need not wait.
 */
WEIR_API WEIR_MUST_CHECK int weir_semaphore_acquire_wait(
	struct weir_semaphore *semaphore, int64_t n, uint64_t timeout_ns);

/* A request for permits. The caller embeds it, and keeps it until `granted`. */
struct weir_acquire {
	/*
	 * The permits are yours. Called once, holding no lock, on the thread
	 * that released them or on the thread that asked, also before
	 * weir_semaphore_acquire_async() has returned; callbacks of concurrent
	 * releases run in any order. Must not block; may call any function,
	 * also of this semaphore, and reuse or free the request.
	 */
	void (*granted)(struct weir_acquire *acquire);
	struct {
		struct weir__claim claim;
	} WEIR_PRIVATE;
};

/*
 * Asks for `n` permits: `granted` is called when they are granted, unless the
 * request is cancelled. -EINVAL: null, no `granted`, n <= 0 or above
 * WEIR_PERMITS_MAX; then `granted` will not be called. Any thread; lock-free if
 * it need not wait.
 */
WEIR_API int weir_semaphore_acquire_async(struct weir_semaphore *semaphore,
					  struct weir_acquire *acquire,
					  int64_t n);

/*
 * Cancels a request. True: the request was waiting; `granted` will not be
 * called, and the next requests in the queue are served. False: `granted` was
 * called or will be, or runs now. Any thread; a short lock.
 */
WEIR_API bool weir_semaphore_cancel(struct weir_semaphore *semaphore,
				    struct weir_acquire *acquire);

/* The number of free permits now, a snapshot. Any thread; wait-free. */
WEIR_API int64_t weir_semaphore_permits(const struct weir_semaphore *semaphore);

/* A port that is unblocked while it holds a permit (`burst` permits, if
 * set). */
struct weir_semaphore_port {
	union {
		struct weir_port port;
		struct {
			struct weir__grant_port grant; /* begins with `port` */
			struct weir_semaphore *semaphore;
		} WEIR_PRIVATE;
	};
};

/*
 * Sets up a port of `actor`. The port asks for its permits when the actor has
 * nothing to do. It keeps them until a turn takes them. They go back when the
 * actor ends, when the port is ignored, or when a turn has taken only a part of
 * them. -EINVAL: null. -EPERM. Owner.
 */
WEIR_API int weir_semaphore_port_init(struct weir_semaphore_port *port,
				      struct weir_actor *actor,
				      struct weir_semaphore *semaphore);

/*
 * Takes `n` of the permits that the port holds. They are the caller's now; any
 * code may release them one day. In a turn the port holds a burst. -EAGAIN: it
 * holds fewer. -EINVAL: null, n <= 0. -EPERM. Owner; wait-free.
 */
WEIR_API int weir_semaphore_port_take(struct weir_semaphore_port *port,
				      int64_t n);

#ifdef __cplusplus
}
#endif

#endif
