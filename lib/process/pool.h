/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of worker pools: worker_pool.c (names and calls), pool.c
 * (one pool: its queue and its workers), pool_places.c (its places, and the
 * workers that stay), pool_check_out.c (calls for these) and pool_tree.c (its
 * actors).
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

struct weir__member; /* pool_places.c */
struct weir__hold;

/* A place that was taken, for a worker that is to be made. */
struct weir__place {
	uint64_t era;
	struct weir__member *member; /* NULL: its worker does not stay */
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
	struct weir__crew *crew; /* the workers; NULL: they stay */
	uint32_t n_ended; /* atomic: workers whose places are not free yet */
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
	/* of a pool whose workers stay; under `lock` */
	struct weir__member *members; /* `limit`, one for each place; or NULL */
	struct weir__member *free;    /* those whose place is free */
	struct weir__member *first, *last; /* idle ones, in their order */
	uint32_t n_idle;
	uint32_t n_owed; /* workers to make though nobody asks */
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
	uint64_t turns; /* atomic: check-outs so far, each has a number */
};

/* The pool of that name, or the one that is `wanted`, which is compared and not
 * touched; with a reference, or NULL. */
struct weir__pool *weir__pools_get(struct weir_pools *pools, const char *name);
struct weir__pool *weir__pools_find(struct weir_pools *pools,
				    const struct weir__pool *wanted);

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

bool weir__pool_lock(struct weir__pool *pool);
void weir__pool_unlock(struct weir__pool *pool, bool held);
/* 0, or why nothing can be run or queued. Under the lock. */
int weir__pool_check_open(const struct weir__pool *pool);
/* Claim 4. Under the lock. */
void weir__pool_wake(struct weir__pool *pool);
/* There is one. Under the lock. */
void weir__pool_take_place(struct weir__pool *pool, struct weir__place *place);
/* Claims 2 and 3. Under the lock. */
void weir__pool_give_place_back(struct weir__pool *pool,
				const struct weir__place *place);
/* Somebody who waits can be served. Under the lock. */
bool weir__pool_has_room(const struct weir__pool *pool);
/* A worker is missing that nobody has asked for. Under the lock. */
bool weir__pool_owes(const struct weir__pool *pool);
/* Makes a worker for the job, or, if there is none, one that is idle. */
int weir__pool_start_worker(struct weir__pool *pool,
			    const struct weir__job *job,
			    const struct weir__place *place,
			    struct weir_actor_id *id);

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

/* --- pool_places.c: workers that stay. --------------------------------- */

/* The members of the pool, all without a worker. -ENOMEM. */
int weir__members_new(struct weir__pool *pool);
void weir__members_free(struct weir__pool *pool);
/* Makes the workers that stay, before the pool can be found. 0, or why one of
 * them cannot be made. */
int weir__members_start(struct weir__pool *pool);

/* Under the lock. A place is taken or given back; a worker was spawned for
 * `request`, or none; a worker has ended; as many workers are missing as nobody
 * has asked for. */
struct weir__member *weir__member_take(struct weir__pool *pool);
void weir__member_put(struct weir__pool *pool, struct weir__member *member);
int weir__member_starts(struct weir__pool *pool, struct weir__member *member,
			struct weir_actor_id id,
			struct weir_pool_request *request);
struct weir__hold *weir__member_ended(struct weir__pool *pool,
				      struct weir__member *member);
/* A hold that nobody owns any more; NULL: none. No lock held. */
void weir__hold_free(struct weir__hold *hold);

/* A hold on the actor in *hold, if there is one. -ENOMEM. -ESRCH: the holder
 * has ended. No lock held. */
int weir__hold_new(struct weir__pool *pool, struct weir_actor_id holder,
		   struct weir__hold **hold);
/* The check-out has no worker. No lock held. */
void weir__check_out_drop_hold(struct weir__pool *pool,
			       struct weir_pool_check_out *check_out);
/* False: it is not that check-out's turn. No lock held. */
bool weir__member_check_in(struct weir__pool *pool,
			   const struct weir_pool_worker *worker);

/* An idle worker for who waits, which is then told by `started` what this has
 * returned, as weir__member_starts(). Under the lock. */
int weir__member_lend(struct weir__pool *pool,
		      struct weir_pool_request *request);

/* All workers are gone: nobody has one any more. `owed`: the pool goes on, and
 * is to have them again. */
void weir__members_gone(struct weir__pool *pool, bool owed);

/* For the workers' supervisor. A worker that stays has ended; no worker may be
 * spawned any more; all workers are gone, and new ones may be spawned. */
void weir__pool_worker_ended(struct weir__pool *pool,
			     struct weir__member *member);
void weir__pool_workers_down(struct weir__pool *pool);
void weir__pool_workers_up(struct weir__pool *pool);

#endif
