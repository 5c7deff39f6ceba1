/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library knows about the calling thread. Only the thread itself
 * reads or writes its own.
 */
#ifndef WEIR_BASE_THREAD_H
#define WEIR_BASE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct weir_actor;
struct weir_executor;
struct weir_task;

struct weir__thread {
	/* The actor whose slice runs here, or NULL. */
	struct weir_actor *actor;
	/* Tasks submitted inside a slice to an executor that runs at once. */
	struct weir_task *pending_head, *pending_tail;
	uint32_t runs; /* counted to time every 16th run */
	bool running;  /* in weir_task_run() */
	/* A thread of a pool: it may not wait. */
	bool worker;
	/* A thread of a blocking executor: its turns may. */
	bool may_block;
	/* The worker, pool or loop that runs here, for its executor only. */
	void *worker_state;
	/* The loop or simulator that this thread owns (the last one made). */
	struct weir_executor *owned;
};

extern __thread struct weir__thread weir__thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
