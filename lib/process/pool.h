/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of worker pools: worker_pool.c (names and calls), pool.c
 * (one pool: its places and its queue) and pool_tree.c (its actors).
 *
 * The order of locks: the lock of the set (the list of pools), the lock of a
 * pool (its places and its queue), the system's lock. None is held while
 * `make`, `started` or a drop runs. A worker is spawned under its pool's lock,
 * so that places and workers agree.
 */
#ifndef WEIR_PROCESS_POOL_H
#define WEIR_PROCESS_POOL_H

#include <stdbool.h>

#include <weir/worker_pool.h>

#include "base/deque.h"
#include "base/lock.h"

/* A job that waits. */
struct weir__job {
	void *job;
	struct weir_pool_request *request; /* NULL: no request waits for it */
	bool cancelled;			   /* a hole in the queue */
};

struct weir__pool {
	struct weir_pools *pools;
	struct weir__pool *next; /* under the pools' lock */
	uint32_t refs;		 /* atomic: the list, calls, actors */
	/* constant */
	char name[WEIR_NAME_MAX + 1];
	struct weir_pool_options options;
	struct weir_strategy strategy;
	struct weir_lifecycle lifecycle;
	struct weir_actor_ops ops;
	struct weir_actor supervisor, server, workers;
	struct weir_actor_id id, server_ref, workers_ref;
	/* under `lock` */
	struct weir__lock lock;
	bool open;	 /* workers can be spawned */
	bool closed;	 /* the pool stops, for good; set before its actors
			  * stop */
	uint32_t n_free; /* places */
	uint64_t era;	 /* places of another era are void */
	struct weir__job *jobs;
	struct weir__deque queue; /* the slots of jobs that wait, and holes */
	uint32_t n_queued;	  /* without holes */
	struct weir_pool_counts counts;
};

struct weir_pools {
	struct weir_system *system;
	const struct weir_allocator *allocator;
	struct weir_limit limit;
	struct weir_strategy strategy;
	struct weir_lifecycle lifecycle;
	struct weir_actor_ops ops;
	struct weir_actor top;
	struct weir_actor_id id;
	struct weir__lock lock;
	struct weir__pool *list;
	uint32_t alive; /* atomic: the top and the pools that are not freed */
};

/* The source's: whatever has failed is restarted, as far as limits go. */
extern const struct weir_rule weir__pool_rule;

/* --- pool_tree.c ---------------------------------------------------------- */

/* A pool that is not spawned yet, with one reference; NULL: no memory. */
struct weir__pool *weir__pool_new(struct weir_pools *pools,
				  const struct weir_pool_options *options);
int weir__pool_spawn(struct weir__pool *pool);
struct weir__pool *weir__pool_ref(struct weir__pool *pool);
void weir__pool_unref(struct weir__pool *pool);

/* --- pool.c --------------------------------------------------------------- */

/* As the public calls without `weir__`. */
int weir__pool_run(struct weir__pool *pool, void *item,
		   struct weir_pool_request *request,
		   struct weir_actor_id *worker);
int weir__pool_queue(struct weir__pool *pool, void *item,
		     struct weir_pool_request *request);
bool weir__pool_cancel(struct weir__pool *pool,
		       struct weir_pool_request *request);
void weir__pool_counts(struct weir__pool *pool,
		       struct weir_pool_counts *counts);

/* Waits until `started` has returned, which was told 0. */
void weir__pool_settle(struct weir_pool_request *request);

/* The pool stops: from here on no job is run or queued. */
void weir__pool_close(struct weir__pool *pool);

/*
 * For the server: starts some of the jobs that wait, as far as there are
 * places. True: there may be more to do.
 */
bool weir__pool_serve(struct weir__pool *pool);
/* Gives up all jobs that wait. */
void weir__pool_flush(struct weir__pool *pool);

/* For the workers' supervisor. A worker has ended; no worker may be spawned any
 * more; all workers are gone, and new ones may be spawned. */
void weir__pool_worker_ended(struct weir__pool *pool);
void weir__pool_workers_down(struct weir__pool *pool);
void weir__pool_workers_up(struct weir__pool *pool);

#endif
