/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Worker pools, after Erlang's ppool: named pools that run at most `limit`
 * workers each. A worker is an actor of yours, made for one job. `run` starts
 * it now, or reports that there is no place. `queue` starts it when there is a
 * place. `queue_wait` waits until it is started, `run_wait` until it has
 * ended. All jobs that wait are in one queue, first in, first out.
 *
 * The tree, with the number of restarts after which a supervisor stops:
 *
 *	pools                 one for one, 6 an hour
 *	└── NAME              permanent; all for one, ordered, 1 an hour
 *	    ├── server        permanent; starts what was queued
 *	    └── workers       one for one
 *	        └── ...       temporary
 *
 * Workers may come and go and fail: that frees their place, and concerns no
 * other actor. If the server or the workers' supervisor fails
 * (weir_system_kill()), the pair restarts: workers are stopped without being
 * asked, requests that wait are told, queued jobs are dropped. If one of the
 * two is stopped, so is the pool. All functions can be called from any thread,
 * also from turns, and take short locks.
 */
#ifndef WEIR_WORKER_POOL_H
#define WEIR_WORKER_POOL_H

#include <weir/death_watch.h>
#include <weir/items.h>
#include <weir/system.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_pools;
struct weir__pool;

/* 0 or NULL is the default of each field that has one. */
struct weir_pools_options {
	const char *name;	     /* of the top supervisor; "pools" */
	struct weir_actor_id parent; /* its parent; /user */
	/* Restarts of pools before all of them stop; 6 in 3600 s. */
	const struct weir_limit *limit;
	uint64_t reserved[4]; /* zero */
};

/*
 * A new set of pools in *pools, empty, as a part of the system. The pools run
 * on the executor of the system. `options` is copied; its limit is borrowed as
 * long as the pools live. -EINVAL: null, a bad name or limit, or something in
 * `reserved`. -EEXIST: the parent has a child of that name. -ESHUTDOWN, -ESRCH,
 * -ENOMEM. Then *pools is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_pools_new(
	struct weir_pools **pools, struct weir_system *system,
	const struct weir_pools_options *options);

/* The top supervisor, for a death watch. */
WEIR_API struct weir_actor_id weir_pools_id(const struct weir_pools *pools);

/*
 * Stops all pools, as weir_pool_stop_async(), but without asking the workers.
 * Returns at once; harmless when repeated. To ask the workers, stop
 * weir_pools_id() or the system.
 */
WEIR_API void weir_pools_stop(struct weir_pools *pools);

/*
 * Frees the set of pools. 0, also for NULL. -EBUSY: the pools have not ended,
 * or calls are under way; then nothing is changed. No new call may come
 * meanwhile.
 */
WEIR_API WEIR_MUST_CHECK int weir_pools_free(struct weir_pools *pools);

/* Which of the free workers that stay is checked out next. */
enum weir_pool_order {
	WEIR_POOL_ORDER_LIFO, /* the one that came last: few are kept busy */
	WEIR_POOL_ORDER_FIFO, /* the one that has waited longest */
};

struct weir_pool_options {
	const char *name; /* as of any child */
	size_t limit;	  /* most workers; 0 to WEIR_POOL_MAX; 0: none run */
	/*
	 * Makes the worker for a job, in *worker: an actor on any executor that
	 * is set up and neither started nor spawned, in memory that its
	 * ops->released may free. 0, or a negative errno: no worker was made.
	 * Called on the thread that runs the job or in the server's slice,
	 * several calls at once; must not block.
	 *
	 * The job belongs to the worker once the worker was spawned:
	 * ops->stopped is the last place to drop the job, and the only one that
	 * is always called. The pool may have to stop a worker without spawning
	 * it. Then ops->stopped is called as well, weir_actor_system() of the
	 * worker is NULL, and the worker must not touch the job.
	 */
	int (*make)(void *job, struct weir_actor **worker, void *context);
	void *context;
	const struct weir_items *jobs; /* to drop those not made; plain */
	size_t queue_max; /* jobs that wait; WEIR_POOL_QUEUE_DEFAULT */
	/*
	 * What becomes of a job for which the queue has no room:
	 * WEIR_OVERFLOW_BACK_PRESSURE, the call fails with -ENOBUFS;
	 * WEIR_OVERFLOW_DROP_NEW, the job is not run; WEIR_OVERFLOW_DROP_HEAD,
	 * the one that has waited longest is not run, and the new one waits.
	 * The call is successful then. Of the job that is not run, who waits is
	 * told -ENOBUFS and has it back; else it is dropped and counted.
	 */
	enum weir_overflow overflow;
	/* How long a stop waits for a worker: as weir_spawn_options. */
	uint64_t shutdown_ns;
	/* Restarts of the pair before the pool restarts; 1 in 3600 s. */
	const struct weir_limit *restarts;
	/* Workers that stay, up to `limit`; 0: a worker for each job. */
	size_t stay;
	enum weir_pool_order order; /* of those that stay */
	uint64_t reserved[4];	    /* zero */
};

#define WEIR_POOL_MAX (1u << 20)
#define WEIR_POOL_QUEUE_DEFAULT 1024u

/*
 * Starts a pool. `options` is copied; everything that it points to is borrowed
 * until the pool has ended and no call that names it is under way. -EINVAL:
 * null, no `make`, a bad name, number, limit, overflow or order, `stay` above
 * `limit`, or something in `reserved`.
 * -EEXIST: a pool of that name has not ended. -ESHUTDOWN: the pools stop.
 * -ENOMEM. With `stay` also the errors of `make` and weir_system_spawn(), as
 * the workers that stay are spawned before it returns. On an error there is no
 * pool, but its name may be taken a little longer.
 */
WEIR_API int weir_pool_start(struct weir_pools *pools,
			     const struct weir_pool_options *options);

/*
 * Runs a job now, if there is a place and no job waits. 0: the worker was
 * spawned; *worker (`worker` may be NULL) is its id, for watching or stopping
 * it; if it fails to start, it has ended. -EAGAIN: there is no place.
 * -ECANCELED: the pool restarts. -ESHUTDOWN: the pool stops. -ENOENT: no such
 * pool. -EINVAL: null. Or the error of `make` or weir_system_spawn(); then the
 * place is free again. On an error the job is the caller's.
 */
WEIR_API int weir_pool_run(struct weir_pools *pools, const char *name,
			   void *job, struct weir_actor_id *worker);

/*
 * Runs a job when there is a place. If its worker cannot be made or spawned, or
 * the pool stops or restarts, the job is dropped and counted. 0. -ENOBUFS: the
 * queue is full, see `overflow`. -ECANCELED, -ESHUTDOWN, -ENOENT as above;
 * -EINVAL, -ENOMEM. On an error the job is the caller's.
 */
WEIR_API int weir_pool_queue(struct weir_pools *pools, const char *name,
			     void *job);

/* A request to run or queue a job. The caller embeds it, and keeps it until the
 * last of the calls that it says has come. */
struct weir_pool_request {
	/*
	 * 0: the worker was spawned. An error: it was not, and the job is the
	 * caller's: -ECANCELED, the pool restarts; -ESHUTDOWN, it stops;
	 * -ENOBUFS, see `overflow` of the pool's options; or the error of
	 * `make` or weir_system_spawn(). Called once, on any thread, also
	 * before weir_pool_queue_async() has returned, holding no lock; must
	 * not block. The struct may be reused, unless `ended` is set and will
	 * be called.
	 */
	void (*started)(struct weir_pool_request *request, int rc,
			struct weir_actor_id worker);
	/*
	 * NULL, or: the worker that was spawned has ended, and `notice` says
	 * how: notice->how, and notice->error if it failed. Called once for
	 * each worker that was spawned, whatever has become of the pool, and
	 * never otherwise; after `started` has returned, before the worker's
	 * ops->released; perhaps a little after the pool has ended. As
	 * `started`: any thread, no lock; must not block. The struct may be
	 * reused.
	 */
	void (*ended)(struct weir_pool_request *request,
		      const struct weir_terminated *notice);
	struct {
		struct weir__pool *pool;
		uint64_t at;
		struct weir_watcher watcher;
		struct weir_terminated notice;
		uint32_t told;
		bool waits;
	} WEIR_PRIVATE;
};

/*
 * As weir_pool_run(), and then calls `started` before it returns, with 0, and
 * `ended` when the worker has ended. Errors as weir_pool_run(); then neither is
 * called. -EINVAL: also if `started` is NULL.
 */
WEIR_API int weir_pool_run_async(struct weir_pools *pools, const char *name,
				 void *job, struct weir_pool_request *request);

/*
 * As weir_pool_queue(), and calls `started` when the worker was spawned or is
 * given up, and `ended` when that worker has ended. Errors as
 * weir_pool_queue(); then neither is called. -EINVAL: also if `started` is
 * NULL.
 */
WEIR_API int weir_pool_queue_async(struct weir_pools *pools, const char *name,
				   void *job,
				   struct weir_pool_request *request);

/*
 * Cancels a request. True: `started` will not be called, and the job is the
 * caller's. False: `started` was called or will be, or runs now. Call it when
 * weir_pool_queue_async() has returned.
 */
WEIR_API bool weir_pool_cancel(struct weir_pools *pools,
			       struct weir_pool_request *request);

/*
 * As weir_pool_queue(), and waits for at most `timeout_ns` (WEIR_FOREVER: no
 * limit) until the worker was spawned. 0: it was; *worker (`worker` may be
 * NULL) is its id. -ETIMEDOUT, -EDEADLK as weir_completion_wait(). The errors
 * of `started` and of weir_pool_queue(). On an error the job is the caller's.
 */
WEIR_API WEIR_MUST_CHECK int weir_pool_queue_wait(struct weir_pools *pools,
						  const char *name, void *job,
						  uint64_t timeout_ns,
						  struct weir_actor_id *worker);

/* What has become of a job that a thread waits for. */
struct weir_pool_result {
	struct weir_actor_id worker;
	/* How the worker has ended; WEIR_END_UNKNOWN: it has not ended. */
	enum weir_end how;
	int code; /* of its error; 0: it has ended well, or has not ended */
};

/*
 * As weir_pool_queue_wait(), and waits for the rest of `timeout_ns` until the
 * worker has ended. 0: it was spawned; *result says how it has ended, or
 * WEIR_END_UNKNOWN: it runs on, and the wait was over, as if for -ETIMEDOUT or
 * -EDEADLK. -EINVAL: also if `result` is NULL. On an error the job is the
 * caller's, and *result is as it was.
 */
WEIR_API WEIR_MUST_CHECK int weir_pool_run_wait(
	struct weir_pools *pools, const char *name, void *job,
	uint64_t timeout_ns, struct weir_pool_result *result);

/* --- Workers that stay ---------------------------------------------------- */

/*
 * After Erlang's poolboy: a pool with the option `stay` has so many workers all
 * the time, which `make` makes with a NULL job. Who needs one checks it out,
 * has it alone, and checks it in again. If all are out, others are made up to
 * `limit`, which are stopped when they are checked in and nobody waits.
 *
 * A worker that ends is replaced, at once if somebody has ever had it, else
 * when somebody asks for one: so workers that cannot start do not make the pool
 * spin. Its holder sees that its id is that of a dead actor. Check-outs that
 * wait are the pool's queue: `queue_max` and `overflow` are for them. Functions
 * for jobs return -ENOTSUP for such a pool, and those here for other ones.
 */

/* A worker that is checked out: a plain value. */
struct weir_pool_worker {
	struct weir_actor_id id;
	struct {
		struct weir__pool *pool;
		uint64_t turn;
		uint32_t at;
	} WEIR_PRIVATE;
};

/*
 * Checks out a worker, in *worker, if one is free or can be made and nobody
 * waits. `holder`: when that actor ends the worker is checked in;
 * WEIR_ACTOR_ID_NONE: only a check-in does that. 0. -EAGAIN: there is none.
 * -ESRCH: the holder has ended. -ECANCELED: the pool restarts. -ESHUTDOWN: it
 * stops. -ENOENT: no such pool. -ENOTSUP: its workers do not stay. -EINVAL:
 * null. -ENOMEM. Or the error of `make` or weir_system_spawn(). On an error
 * *worker is as it was.
 */
WEIR_API WEIR_MUST_CHECK int weir_pool_try_check_out(
	struct weir_pools *pools, const char *name, struct weir_actor_id holder,
	struct weir_pool_worker *worker);

/* A request to check out a worker. The caller embeds it, and keeps it until
 * `done`. */
struct weir_pool_check_out {
	/*
	 * 0: `worker` is the caller's. An error: there is none: -ECANCELED, the
	 * pool restarts; -ESHUTDOWN, it stops; -ENOBUFS, see `overflow` of the
	 * pool's options; -ESRCH, the holder has ended; -ETIMEDOUT, the
	 * deadline has come first; or the error of `make` or
	 * weir_system_spawn(). Called once, on any thread, also before
	 * weir_pool_check_out_async() has returned, with a deadline perhaps a
	 * little after the pool has ended; holding no lock; must not block. The
	 * struct may be reused.
	 */
	void (*done)(struct weir_pool_check_out *check_out, int rc);
	struct weir_actor_id holder;	/* as in weir_pool_try_check_out() */
	struct weir_pool_worker worker; /* valid in `done` if it is told 0 */
	struct {
		struct weir_pool_request request;
		struct weir__pool *pool;
		struct weir__hold *hold;
		struct weir_timer timer; /* `fire` NULL: no deadline */
		uint32_t state;		 /* any thread, atomically */
		int rc;			 /* for `done` */
	} WEIR_PRIVATE;
};

/*
 * Asks for a worker, and calls `done`: when there is one, or at `deadline_ns`
 * on the clock of the system's executor, with -ETIMEDOUT; WEIR_FOREVER: no
 * deadline. One that is there is had also when the deadline has passed. Those
 * that wait are served in their order. -ENOBUFS: too many wait. -ENOTSUP: also
 * if one would have to wait with a deadline, and the executor has no timers.
 * Other errors as weir_pool_try_check_out(), but for -EAGAIN; -EINVAL: also if
 * `done` is NULL. On an error `done` is not called.
 */
WEIR_API int weir_pool_check_out_async(struct weir_pools *pools,
				       const char *name,
				       struct weir_pool_check_out *check_out,
				       uint64_t deadline_ns);

/* Cancels a request. True: `done` will not be called. False: it was called or
 * will be, or runs now; with a deadline that is coming it is told -ETIMEDOUT.
 * Call it when weir_pool_check_out_async() has returned. */
WEIR_API bool weir_pool_cancel_check_out(struct weir_pools *pools,
					 struct weir_pool_check_out *check_out);

/*
 * Checks out a worker, in *worker, and waits for one for at most `timeout_ns`
 * (WEIR_FOREVER: no limit). 0. -ETIMEDOUT, -EDEADLK as weir_completion_wait().
 * The errors of `done` and of weir_pool_check_out_async(). On an error *worker
 * is as it was.
 */
WEIR_API WEIR_MUST_CHECK int weir_pool_check_out_wait(
	struct weir_pools *pools, const char *name, struct weir_actor_id holder,
	uint64_t timeout_ns, struct weir_pool_worker *worker);

/*
 * Checks a worker in, whose holder may not use it any more; any thread may do
 * it. 0. -EALREADY: it was checked in before, also by the end of its holder;
 * perhaps another has it now. -ESRCH: the worker has ended. -ENOENT: the pool
 * has ended, or the worker is not of these pools. -EINVAL: null. On an error
 * nothing has changed.
 */
WEIR_API int weir_pool_check_in(struct weir_pools *pools,
				const struct weir_pool_worker *worker);

/* --- Ending --------------------------------------------------------------- */

/*
 * Stops a pool: no job is run or queued any more, requests that wait get
 * -ESHUTDOWN, queued jobs are dropped, and its workers are asked to stop and
 * have shutdown_ns for that. The name of the pool is free again when the pool
 * has ended. `stop` (may be NULL) reports that, as
 * weir_system_stop_actor_async() without a deadline. Harmless when repeated.
 * -ENOENT, -EINVAL, -ENOMEM.
 */
WEIR_API int weir_pool_stop_async(struct weir_pools *pools, const char *name,
				  struct weir_graceful_stop *stop);

struct weir_pool_counts {
	size_t limit, free, queued; /* `free`: places without a worker */
	size_t idle;		    /* workers that stay and nobody has */
	uint64_t started;	    /* workers that were spawned */
	uint64_t ended;	  /* workers that ended before the pool stops */
	uint64_t failed;  /* jobs that waited and got no worker at their turn */
	uint64_t dropped; /* jobs that were dropped, some failed ones
			   * included */
	uint64_t restarts; /* of the pair */
};

/* Figures of one instant. 0, -ENOENT, -EINVAL. */
WEIR_API int weir_pool_counts(struct weir_pools *pools, const char *name,
			      struct weir_pool_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
