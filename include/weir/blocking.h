/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An executor whose turns may block: for reading regular files, name look-ups,
 * and user code that waits. It has one thread for each turn that blocks, up to
 * a maximum, and threads end when they have been idle for a while. Start the
 * few actors that block here, and link them to the other actors on any
 * executor. A turn may also make a loop or a simulator, run it and free it
 * again.
 */
#ifndef WEIR_BLOCKING_H
#define WEIR_BLOCKING_H

#include <weir/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_blocking;

/* 0 or NULL means the default. */
struct weir_blocking_options {
	struct weir_executor_options executor;
	size_t threads_max;   /* 16 by default; at most 1024 */
	uint64_t idle_ns;     /* an idle thread ends after that, 10 s */
	const char *name;     /* of the threads, "weir-block"; copied */
	uint64_t reserved[4]; /* zero */
};

/*
 * A new blocking executor in *blocking; no thread starts before it is used. If
 * there is no thread and none can be started, a submission fails with the error
 * of pthread_create(). If there are threads, a task waits for one, first come,
 * first served. The threads block all signals. fork(): as for threads.h.
 * `options` is copied and may be NULL. -EINVAL: `blocking` is NULL, threads_max
 * above 1024, something in `reserved`, or what weir_executor_init refuses.
 * -ENOMEM. Then *blocking is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_blocking_new(
	struct weir_blocking **blocking,
	const struct weir_blocking_options *options);

/* As an executor; lives as long as `blocking`. Any thread. */
WEIR_API struct weir_executor *weir_blocking_executor(
	struct weir_blocking *blocking);

/* The number of threads it has now. Any thread; a snapshot. */
WEIR_API size_t weir_blocking_threads(const struct weir_blocking *blocking);

/*
 * Joins the threads and frees the executor. 0, also for NULL. -EBUSY: an actor
 * is alive; actors that are leaving are waited for as by weir_executor_fini().
 * -EDEADLK: called on one of its own threads. On an error the executor goes on.
 * Your own timers and watches that are still armed never fire. In a child
 * process after fork() the call frees the executor without joining threads,
 * even if actors were alive. No other call on the executor may be under way.
 */
WEIR_API WEIR_MUST_CHECK int weir_blocking_free(struct weir_blocking *blocking);

#ifdef __cplusplus
}
#endif

#endif
