/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What executors know about the calling thread, and slices by them. Only the
 * thread itself reads or writes this.
 */
#ifndef WEIR_EXECUTOR_THREAD_H
#define WEIR_EXECUTOR_THREAD_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weir/api.h>

struct weir_executor;
struct weir_task;
struct weir__shard;

/*
 * A loop or simulator, in the list of the thread that made it. That thread runs
 * it while it waits.
 */
struct weir__owned {
	struct weir_executor *executor;
	struct weir__owned *next; /* made before it */
	/* Runs a task if there is one, and does not wait. */
	bool (*poll)(struct weir_executor *executor);
	int fd;		 /* readable: there is something; -1: has none */
	bool is_virtual; /* its time is */
	bool running;
	bool waited;	/* a waiting call runs it, so it stays */
	uint32_t round; /* the last round that ran it */
};

/*
 * One in so many runs is timed when the actor's runs have the most turns. A
 * prime: else of 2, 4 or 8 actors that run in turn the timed one would always
 * be the same.
 */
#define WEIR__TIMED_RUNS 251u

struct weir__thread {
	/* The task whose slice runs here, or NULL. */
	struct weir_task *task;
	/* Tasks submitted inside a slice to an executor that runs at once. */
	struct weir_task *pending_head, *pending_tail;
	uint32_t runs; /* since the last timed run */
	bool running;  /* in weir_task_run() */
	/* The thread is a pool's: it may not wait. */
	bool worker;
	/* A thread of a blocking executor: its turns may. */
	bool may_block;
	/* Set by a trace: the thread has done nothing else since its last
	 * slice. Cleared by executors when they wait. */
	bool at_once;
	/* The state of the worker, pool or loop that runs here; its executor
	 * alone reads it. */
	void *worker_state;
	/* The shard of the registry, if the thread is an executor's own. */
	struct weir__shard *shard;
	/* How many calls under way keep an executor from being freed. */
	uint32_t holds;
	/*
	 * Asked once by a slice that has found nothing. True: the slice need
	 * not arm, and its actor is submitted again. NULL: slices arm.
	 */
	bool (*polls)(void *worker_state);
	/* The loops and simulators that this thread owns, the last made
	 * first. */
	struct weir__owned *owned;
	/* One of them that the thread is about to run: what it submits needs no
	 * telling. */
	const struct weir_executor *runs_soon;
	uint32_t round; /* of running all of them */
	int id;		/* the kernel's; 0: not known yet */
};

extern __thread struct weir__thread weir__thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The kernel's number of the calling thread. */
static inline int weir__thread_id(void)
{
	if (WEIR_UNLIKELY(!weir__thread.id))
		weir__thread.id = (int)syscall(SYS_gettid);
	return weir__thread.id;
}

/* What a turn puts aside while its thread runs a loop or simulator. */
struct weir__turn {
	struct weir_task *task, *pending_head, *pending_tail;
	bool running, may_block;
};

/*
 * Before a loop or simulator is run. 0: it can be run here, outside of turns or
 * in a turn that may block; its own turns may not block. -EDEADLK: the thread
 * is in any other turn.
 */
static inline int weir__turn_put_aside(struct weir__turn *turn)
{
	struct weir__thread *thread = &weir__thread;

	if ((thread->task || thread->running) && !thread->may_block)
		return -EDEADLK;
	*turn = (struct weir__turn){
		.task = thread->task,
		.pending_head = thread->pending_head,
		.pending_tail = thread->pending_tail,
		.running = thread->running,
		.may_block = thread->may_block,
	};
	thread->task = NULL;
	thread->pending_head = thread->pending_tail = NULL;
	thread->running = thread->may_block = false;
	return 0;
}

/* After the loop or simulator was run. */
static inline void weir__turn_take_up(const struct weir__turn *turn)
{
	struct weir__thread *thread = &weir__thread;

	thread->task = turn->task;
	thread->pending_head = turn->pending_head;
	thread->pending_tail = turn->pending_tail;
	thread->running = turn->running;
	thread->may_block = turn->may_block;
}

#endif
