/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pool and its workers, as worker.c (which runs tasks) and threads.c (which
 * makes, starts and ends the pool) see them.
 *
 * A submitted task is in exactly one place: the ring, overflow or private list
 * of one worker, the private inbox of one, or the inbox of the pool.
 */
#ifndef WEIR_EXECUTOR_WORKER_H
#define WEIR_EXECUTOR_WORKER_H

#include <pthread.h>

#include <ck_pr.h>

#include <weir/threads.h>

#include "base/clock.h"
#include "base/costs.h"
#include "base/lock.h"
#include "base/memory.h"
#include "executor/cpus.h"
#include "executor/inbox.h"
#include "executor/park.h"
#include "executor/poller.h"
#include "executor/registry.h"
#include "executor/ring.h"
#include "executor/thread.h"

struct weir__worker {
	/* Constant while the thread runs. */
	struct weir_executor executor; /* the pool's head with other ops */
	struct weir_threads *pool;
	uint32_t index;
	pthread_t thread;
	/* atomic: of its thread, once that runs; NULL */
	const struct weir__thread *state;
	int id; /* the kernel's, of the thread; set before `state` */

	/* The owner's alone. */
	struct weir__fifo private __attribute__((aligned(WEIR__LINE)));
	struct weir__fifo overflow; /* tasks that found the ring full */
	bool private_next;	    /* the private list is next */
	bool pinned;		    /* the slice that runs is a private one */
	bool lingers;		    /* tasks came for this worker alone */
	bool offloads;		    /* its slices are long, see offload() */
	uint32_t victim;	    /* where the last look at others ended */
	uint32_t slices_between;    /* two looks at the clock */
	uint64_t empty;		    /* slices without a turn */
	uint64_t useful;	    /* slices with turns, at the last poll */
	uint32_t polled;	    /* polls since `useful` has grown */
	uint64_t check_at;	    /* at this number of slices: check() */
	uint64_t look_at;	    /* at this number: look at the inboxes */
	uint64_t checked_ns;	    /* the clock at the last check */
	uint64_t looked_ns;	    /* when it last looked at other workers */

	/* Written by the owner, read by anyone. */
	uint64_t slices, steals, parks, wakes;
	struct weir__costs costs;

	/*
	 * The ring's tail at two times, see overdue(). Stored by the owner and
	 * by thieves.
	 */
	uint64_t marks[2] __attribute__((aligned(WEIR__LINE)));
	/* The owner's, seldom touched; thieves read the first. */
	uint64_t slice_ns; /* average of the last slices */
	uint64_t calm_ns;  /* when last no task waited behind long ones */
	uint64_t idle_ns;  /* when it last ran out of work */

	/* Any thread pushes tasks that are bound to this worker. */
	struct weir__mailbox inbox __attribute__((aligned(WEIR__LINE)));

	struct weir__ring ring;
	struct weir__shard shard;
};

struct weir_threads {
	struct weir_executor executor; /* first: it is the pool's address */
	/* Constant. */
	struct weir__worker *workers;
	uint32_t n_workers;
	size_t workers_size; /* in bytes */
	uint64_t spin_ns;
	uint64_t steal_ns;
	struct weir__cpus *cpus; /* per worker; NULL: none is bound */
	char name[16];
	size_t size; /* of the block that all of this is in */
	pid_t made_by;
	/* Seldom written. So many workers, from the first on, */
	uint32_t running; /* have a thread, or one is being created */
	uint32_t started; /* have a thread */
	uint32_t stop;
	const uint32_t *mark;	/* of the process that has threads, or NULL */
	struct weir__lock lock; /* over making the mark and the threads */
	struct weir__poller_thread service; /* of timers */
	/* Of descriptors, which workers poll when they are idle (park.c, claim
	 * 8). Atomic, NULL: nothing has been watched yet. */
	struct weir__poller *poller;
	/* Anyone pushes tasks for any worker. */
	struct weir__mailbox inbox __attribute__((aligned(WEIR__LINE)));
	/* Calls from outside that may touch the pool after their task ran. Not
	 * on the inbox's cache line: a worker takes that line before these
	 * calls leave. */
	uint32_t outside __attribute__((aligned(WEIR__LINE)));
	uint64_t polled_ns; /* atomic: about when descriptors were looked at */
	struct weir__park park __attribute__((aligned(WEIR__LINE)));
};

/* The worker of this pool that the calling thread is, or NULL. */
static inline struct weir__worker *weir__worker_self(
	const struct weir_threads *pool)
{
	/* The state of another executor may be of any type: compare the address
	 * only. */
	uintptr_t state = (uintptr_t)weir__thread.worker_state;
	uintptr_t offset = state - (uintptr_t)pool->workers;

	return offset < pool->workers_size ? weir__thread.worker_state : NULL;
}

/* The calling worker queues a task behind its other tasks. */
static inline void weir__worker_push(struct weir__worker *worker,
				     struct weir_task *task)
{
	struct weir__park *park = &worker->pool->park;

	if (WEIR_UNLIKELY(worker->overflow.head) ||
	    WEIR_UNLIKELY(!weir__ring_push(&worker->ring, task)))
		weir__tasks_push(&worker->overflow, task);
	/* No fence: the worker itself runs the task. If this slice takes long
	 * another worker has to, and a monitor looks until then (park.c, claim
	 * 6). */
	if (WEIR_UNLIKELY(!ck_pr_load_32(&park->monitor)))
		weir__park_wake_one(park);
}

/*
 * As weir__worker_push(), of a worker whose slices are long: a searching worker
 * may get the task.
 */
void weir__worker_offload(struct weir__worker *worker, struct weir_task *task);

/* Queues a task that a turn of the calling worker has submitted. */
static inline void weir__worker_submit(struct weir__worker *worker,
				       struct weir_task *task)
{
	/* Nothing is needed after either call: no frame on the short way. */
	if (WEIR_UNLIKELY(worker->offloads))
		weir__worker_offload(worker, task);
	else
		weir__worker_push(worker, task);
}

/* The thread of a struct weir__worker; it begins as a searching worker. */
void *weir__worker_main(void *argument);

#endif
