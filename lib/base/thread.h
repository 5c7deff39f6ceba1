/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library knows about the calling thread. Only the thread itself
 * reads or writes its own; what it counts, others may read.
 */
#ifndef WEIR_BASE_THREAD_H
#define WEIR_BASE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include <ck_pr.h>

struct weir_actor;
struct weir_executor;
struct weir_task;
struct weir__share;

/* What an executor's thread has done that costs more than a token may. */
struct weir__costs {
	uint64_t kernel_calls; /* but those that start threads */
	uint64_t locks;	       /* a struct weir__lock was taken */
};

/*
 * One in so many runs is timed when its actor's may have the most turns. A
 * prime, or of 2, 4, 8 actors that take turns always the same one would be.
 */
#define WEIR__TIMED_RUNS 251u

struct weir__thread {
	/* The actor whose slice runs here, or NULL. */
	struct weir_actor *actor;
	/* Tasks submitted inside a slice to an executor that runs at once. */
	struct weir_task *pending_head, *pending_tail;
	uint32_t runs; /* since the last one that was timed */
	bool running;  /* in weir_task_run() */
	/* A thread of a pool: it may not wait. */
	bool worker;
	/* A thread of a blocking executor: its turns may. */
	bool may_block;
	/* Who is being rejected here has cancelled. */
	bool rejected_cancels;
	/* The worker, pool or loop that runs here, for its executor only. */
	void *worker_state;
	/* Of a thread that is an executor's own: its share of the registry. */
	struct weir__share *share;
	/* What it is in the middle of, that keeps an executor from being freed. */
	uint32_t holds;
	/*
	 * A slice has found nothing (it asks once); true: it need not arm, and
	 * its actor is to be submitted again. NULL: it arms.
	 */
	bool (*polls)(void *worker_state);
	/* The loop or simulator that this thread owns (the last one made). */
	struct weir_executor *owned;
	/* Where this thread counts; NULL: nobody wants to know. */
	struct weir__costs *costs;
};

extern __thread struct weir__thread weir__thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* relaxed: the thread alone writes them; readers want a snapshot */
static inline void weir__thread_kernel_call(void)
{
	struct weir__costs *costs = weir__thread.costs;

	if (costs)
		ck_pr_store_64(&costs->kernel_calls, costs->kernel_calls + 1);
}

static inline void weir__thread_lock(void)
{
	struct weir__costs *costs = weir__thread.costs;

	if (costs)
		ck_pr_store_64(&costs->locks, costs->locks + 1);
}

#endif
