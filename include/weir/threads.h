/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pool of worker threads that share the work by stealing. A task that an
 * actor submits stays on the actor's worker until it has waited so long that
 * moving it pays; so actors that work on the same data run on one core. Idle
 * workers sleep: a pool with nothing to do uses no CPU.
 *
 * Threads start with the first submission or watch, so a pool may be made before
 * fork(). A pool whose threads run cannot be used in the child: submissions,
 * timers and watches there get -ECHILD. Timers have a thread of their own, "<name>-timer",
 * which starts with the first of them, so that a deadline passes also while all
 * workers are in long turns. Descriptors have none: an idle worker waits for
 * them, and busy ones look at them between turns.
 */
#ifndef WEIR_THREADS_H
#define WEIR_THREADS_H

#include <weir/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_threads;

#define WEIR_WORKERS_MAX 1024u

/* 0 or NULL means the default. */
struct weir_threads_options {
	struct weir_executor_options executor;
	/*
	 * Workers; by default as many as the process may use CPUs: the
	 * smaller of its affinity mask and its cgroup's quota, rounded up.
	 */
	size_t workers;
	/*
	 * CPU set per worker: `cpus[i]` is a list as taskset(1) has it ("2",
	 * "0-3,8") to which worker i is bound. NULL, or a NULL entry: not
	 * bound. Borrowed for the call; `workers` entries.
	 */
	const char *const *cpus;
	/* Threads are called "<name>-<worker>"; at most 15 bytes in all are
	 * shown. Default "weir". Copied. */
	const char *name;
	/*
	 * How long an idle worker looks for work before it sleeps; 50 us by
	 * default: about the cost of waking it. WEIR_NO_SPIN: not at all.
	 */
	uint64_t spin_ns;
	/*
	 * An idle worker takes an actor that has waited that long in the queue
	 * of a busy worker; 50 us by default: about the cost of moving it.
	 * Behind a long turn an actor may wait a few milliseconds. If actors
	 * run for more than a sixteenth of that time at once, a worker hands an
	 * actor that would wait to an idle worker that is awake, at once.
	 * WEIR_FOREVER: an actor stays on the worker where it was submitted.
	 */
	uint64_t steal_ns;
	uint64_t reserved[4]; /* zero */
};

#define WEIR_NO_SPIN UINT64_MAX

/*
 * Counters since the pool was made; a snapshot. In a steady state on one worker
 * only slices grow with the number of tokens.
 */
struct weir_threads_counters {
	uint64_t slices; /* tasks run */
	uint64_t steals; /* tasks taken from another worker */
	uint64_t parks;	 /* times a worker went to sleep */
	uint64_t wakes;	 /* times a sleeping worker was woken by the pool */
	/*
	 * System calls that the library made on the pool's threads, the timer
	 * thread included: to sleep, wake and steal, for timers and watches;
	 * and locks of the library's that were taken there. Calls that start
	 * threads are not counted. A wake by a thread outside of the pool
	 * counts as a call of that thread.
	 */
	uint64_t kernel_calls;
	uint64_t locks;
	size_t parked; /* workers asleep now */
};

/*
 * A new pool in *threads. `options` is copied and may be NULL. -EINVAL: null
 * `threads`, more than WEIR_WORKERS_MAX workers, a CPU list that cannot be
 * read or names no allowed CPU, something in `reserved`, or what
 * weir_executor_init refuses. -ENOMEM. On an error *threads is NULL.
 *
 * The first submission from outside starts the threads. It returns -ENOMEM or
 * -EAGAIN if not a single thread can be made. With fewer threads than asked for
 * the pool works; a submission to a worker that is missing tries again to start
 * it.
 */
WEIR_API WEIR_MUST_CHECK int weir_threads_new(
	struct weir_threads **threads,
	const struct weir_threads_options *options);

/* The pool as an executor; lives as long as the pool. Any thread. */
WEIR_API struct weir_executor *weir_threads_executor(
	struct weir_threads *threads);

/*
 * Worker `worker` alone, as an executor: actors that are started there stay
 * there. NULL if there is no such worker. Lives as long as the pool; its actors
 * count as the pool's. Any thread.
 */
WEIR_API struct weir_executor *weir_threads_worker(struct weir_threads *threads,
						   size_t worker);

/* How many workers there are. Any thread. */
WEIR_API size_t weir_threads_workers(const struct weir_threads *threads);

/* Any thread. */
WEIR_API void weir_threads_counters(const struct weir_threads *threads,
				    struct weir_threads_counters *counters);

/*
 * True: at some moment during the call no slice was running on the pool, and
 * none was waiting to. Everything that slices did before that moment happened
 * before the return. Timers, watches and submissions of other threads can make
 * the pool busy again. Any thread.
 */
WEIR_API bool weir_threads_idle(const struct weir_threads *threads);

/*
 * Ends the pool: joins its threads and frees it. 0, also for NULL. -EBUSY: an
 * actor is still alive (end or stop the executor first); actors that are
 * leaving are waited for as by weir_executor_fini(). -EDEADLK: called on one of
 * the pool's own threads. On an error the pool goes on. In a child process
 * after fork() the call frees the pool without joining threads, even if actors
 * were alive. No other call on the pool may be under way.
 */
WEIR_API WEIR_MUST_CHECK int weir_threads_free(struct weir_threads *threads);

#ifdef __cplusplus
}
#endif

#endif
