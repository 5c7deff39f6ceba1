/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One worker pool: its places and its queue. All under the pool's lock, from
 * any thread; functions of the user's are called without it.
 *
 * 1. A place is taken before its worker is made: by `run`, if no job waits, or
 *    by the server, together with the job whose turn it is. So no job overtakes
 *    the jobs that wait. n_free + places taken + workers == limit.
 * 2. A place is given back when making or spawning the worker fails, or when
 *    the worker has ended: its thread counts it in n_ended, under the system's
 *    lock, and whoever takes the pool's lock next gives back the places of all
 *    that are counted. If workers stay, the workers' supervisor is told of the
 *    end, and gives the place back.
 * 3. When the workers' supervisor restarts, all places are free and a new era
 *    begins: its workers are gone by then, and notices of their ends are
 *    ignored. A place of an earlier era gets no worker, and is not given back.
 * 4. A thread that leaves a free place while jobs are queued signals the
 *    server, and so does the first that is counted in n_ended. Only the server
 *    takes from the queue while the pool is open.
 * 5. Who asks for `ended` watches the worker from its spawn. Of the thread on
 *    which `started` has returned and the thread that is told of the end, the
 *    later one calls `ended`.
 */
#include "process/pool.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "base/memory.h"
#include "supervision/cell.h"
#include "supervision/spawn.h"

/* Jobs that the server starts in one slice. */
#define AT_ONCE 64

/* --- The queue. Under the lock. ------------------------------------------- */

/* Moves the jobs that wait to the slots of `to`, which are in `jobs`, and
 * leaves holes out. `jobs` may be the same memory: then `to` begins at the same
 * slot. */
static void move_jobs(struct weir__pool *pool, struct weir__job *jobs,
		      struct weir__deque to)
{
	struct weir__job job;
	size_t at;

	while (pool->queue.n > 0) {
		job = pool->jobs[weir__deque_pop(&pool->queue)];
		if (job.cancelled)
			continue;
		at = weir__deque_push(&to);
		if (job.request)
			job.request->at = at;
		jobs[at] = job;
	}
	assert(to.n == pool->n_queued);
	pool->queue = to;
}

/* Makes room for one more job. -ENOBUFS, -ENOMEM. */
static int make_room(struct weir__pool *pool)
{
	const struct weir_allocator *allocator = pool->pools->allocator;
	struct weir__deque queue = pool->queue, longer = {0};
	struct weir__job *jobs;

	if (pool->n_queued >= pool->options.queue_max)
		return -ENOBUFS;
	if (!weir__deque_is_full(&queue))
		return 0;
	if (pool->n_queued < queue.capacity / 2) {
		queue.n = 0;
		move_jobs(pool, pool->jobs, queue);
		return 0;
	}
	longer.capacity = queue.capacity ? 2 * queue.capacity : 16;
	jobs = weir__alloc(allocator, longer.capacity * sizeof(*jobs));
	if (!jobs)
		return -ENOMEM;
	move_jobs(pool, jobs, longer);
	weir__free(allocator, pool->jobs, queue.capacity * sizeof(*jobs));
	pool->jobs = jobs;
	return 0;
}

/* The first that waits, or false: then *job is as it was. */
static bool pop(struct weir__pool *pool, struct weir__job *job)
{
	const struct weir__job *first;

	while (pool->queue.n > 0) {
		first = &pool->jobs[weir__deque_pop(&pool->queue)];
		if (first->cancelled)
			continue;
		assert(pool->n_queued > 0);
		pool->n_queued--;
		*job = *first;
		if (job->request)
			job->request->waits = false;
		return true;
	}
	return false;
}

/* --- Jobs. No lock held. -------------------------------------------------- */

/* The job will not run. `failed`: it had its turn. */
static void give_up(struct weir__pool *pool, const struct weir__job *job,
		    int rc, bool failed)
{
	const struct weir_items *items = pool->options.jobs;
	bool held = weir__pool_lock(pool);

	pool->counts.failed += failed;
	pool->counts.dropped += !job->request;
	weir__pool_unlock(pool, held);
	if (job->request)
		job->request->started(job->request, rc, WEIR_ACTOR_ID_NONE);
	else if (items && items->drop)
		items->drop(job->job, items->context);
}

/* --- Who is told of a worker's end: claim 5 ------------------------------- */

/* request->told */
enum { TOLD_NOTHING, TOLD_START, TOLD_END };

/* True: the other one was told before, and it is we who call `ended`. */
static bool is_later(struct weir_pool_request *request, uint32_t told)
{
	uint32_t before;

	/* release: the notice, or what `started` has done; pairs with the
	 * acquire of the later one */
	ck_pr_fence_release();
	before = ck_pr_fas_32(&request->told, told);
	ck_pr_fence_acquire();
	return before != TOLD_NOTHING;
}

static void worker_over(struct weir_watcher *watcher,
			const struct weir_terminated *notice)
{
	struct weir_pool_request *request =
		weir_container_of(watcher, struct weir_pool_request, watcher);

	request->notice = *notice;
	request->notice.path = NULL; /* is the caller's */
	(void)weir_error_ref(notice->error);
	if (!is_later(request, TOLD_END))
		return;
	weir_error_unref(notice->error);
	request->ended(request, notice);
}

static struct weir_watcher *watcher_of(struct weir_pool_request *request)
{
	if (!request || !request->ended)
		return NULL;
	request->watcher = (struct weir_watcher){.terminated = worker_over};
	request->told = TOLD_NOTHING;
	return &request->watcher;
}

/* The worker was spawned. */
static void tell_start(struct weir_pool_request *request,
		       struct weir_actor_id worker)
{
	/* `started` may reuse the struct if it is the last call. */
	bool more = request->ended;
	struct weir_terminated notice;

	request->started(request, 0, worker);
	if (!more || !is_later(request, TOLD_START))
		return;
	notice = request->notice;
	request->ended(request, &notice);
	weir_error_unref(notice.error);
}

void weir__pool_settle(struct weir_pool_request *request)
{
	/* no acquire: behind `started` the other thread touches no more of it
	 * than this word */
	while (ck_pr_load_32(&request->told) == TOLD_NOTHING)
		ck_pr_stall();
}

/* --- Workers. No lock held, unless it says so. ---------------------------- */

/* With that place. Under the lock. */
static int spawn(struct weir__pool *pool, struct weir_actor *worker,
		 const struct weir__place *place, struct weir_watcher *watcher,
		 struct weir_actor_id *id)
{
	const struct weir_spawn_options options = {
		.restart = WEIR_RESTART_TEMPORARY,
		.shutdown_ns = pool->crew ? 0 : pool->options.shutdown_ns,
	};
	const struct weir__spawn_watch watch = {
		.watcher = watcher,
		.token = place->member,
		.crew = pool->crew,
	};

	if (pool->closed)
		return -ESHUTDOWN;
	if (pool->era != place->era)
		return -ECANCELED;
	return weir__spawn_watched(pool->pools->system, pool->workers_ref,
				   worker, &options, &watch, id);
}

/* The worker was spawned. No lock held. */
static void tell_spawned(const struct weir__job *job,
			 const struct weir__place *place,
			 struct weir_actor_id id, int lent)
{
	if (!job->request)
		return;
	if (place->member)
		job->request->started(job->request, lent, id);
	else
		tell_start(job->request, id);
}

/* With that place: claims 2 and 3. */
int weir__pool_start_worker(struct weir__pool *pool,
			    const struct weir__job *job,
			    const struct weir__place *place,
			    struct weir_actor_id *id)
{
	struct weir_actor *worker = NULL;
	int rc = pool->options.make(job->job, &worker, pool->options.context);
	struct weir_watcher *watcher = place->member ? NULL
						     : watcher_of(job->request);
	int lent = 0;
	bool held;

	if (rc < 0)
		worker = NULL; /* whatever `make` has left there */
	/* It may have ended when its spawn returns: then its `released`, which
	 * may queue a job, is called behind the lock. */
	(void)weir_actor_ref(worker);
	held = weir__pool_lock(pool);
	if (rc >= 0)
		rc = spawn(pool, worker, place, watcher, id);
	if (rc < 0)
		weir__pool_give_place_back(pool, place);
	else
		pool->counts.started++;
	if (rc == 0 && place->member)
		lent = weir__member_starts(pool, place->member, *id,
					   job->request);
	weir__pool_unlock(pool, held);
	if (rc < 0)
		weir_actor_stop(worker);
	weir_actor_unref(worker);
	if (rc >= 0)
		tell_spawned(job, place, *id, lent);
	return rc;
}

int weir__pool_run(struct weir__pool *pool, void *item,
		   struct weir_pool_request *request,
		   struct weir_actor_id *worker)
{
	const struct weir__job job = {.job = item, .request = request};
	struct weir_actor_id id = WEIR_ACTOR_ID_NONE;
	struct weir__place place;
	bool held = weir__pool_lock(pool);
	int rc = weir__pool_check_open(pool);

	if (rc == 0 && (pool->n_queued || !pool->n_free))
		rc = -EAGAIN;
	if (rc == 0)
		weir__pool_take_place(pool, &place);
	weir__pool_unlock(pool, held);
	if (rc == 0)
		rc = weir__pool_start_worker(pool, &job, &place, &id);
	if (rc == 0 && worker)
		*worker = id;
	return rc;
}

/* There is room. Under the lock. */
static void push(struct weir__pool *pool, const struct weir__job *job)
{
	size_t at = weir__deque_push(&pool->queue);

	pool->jobs[at] = *job;
	if (job->request) {
		job->request->at = at;
		job->request->waits = true;
	}
	pool->n_queued++;
	weir__pool_wake(pool);
}

/* 1: there is no room, and *job is the one that will not run, which is not in
 * the queue any more. 0: it is queued. Under the lock. */
static int push_or_drop(struct weir__pool *pool, struct weir__job *job)
{
	struct weir__job oldest;
	int rc = make_room(pool);

	if (rc == 0) {
		push(pool, job);
		return 0;
	}
	if (rc != -ENOBUFS ||
	    pool->options.overflow == WEIR_OVERFLOW_BACK_PRESSURE)
		return rc;
	if (pool->options.overflow == WEIR_OVERFLOW_DROP_HEAD &&
	    pop(pool, &oldest)) {
		push(pool, job);
		*job = oldest;
	}
	return 1;
}

int weir__pool_queue(struct weir__pool *pool, void *item,
		     struct weir_pool_request *request)
{
	struct weir__job job = {.job = item, .request = request};
	bool held = weir__pool_lock(pool);
	int rc = weir__pool_check_open(pool);

	if (rc == 0 && request) {
		request->pool = pool;
		request->waits = false;
	}
	if (rc == 0)
		rc = push_or_drop(pool, &job);
	weir__pool_unlock(pool, held);
	if (rc <= 0)
		return rc;
	give_up(pool, &job, -ENOBUFS, false);
	return 0;
}

bool weir__pool_cancel(struct weir__pool *pool,
		       struct weir_pool_request *request)
{
	bool held = weir__pool_lock(pool);
	bool waits = request->waits;

	if (waits) {
		assert(pool->jobs[request->at].request == request);
		pool->jobs[request->at].cancelled = true;
		request->waits = false;
		pool->n_queued--;
	}
	weir__pool_unlock(pool, held);
	return waits;
}

void weir__pool_counts(struct weir__pool *pool, struct weir_pool_counts *counts)
{
	bool held = weir__pool_lock(pool);

	*counts = pool->counts;
	counts->limit = pool->options.limit;
	counts->free = pool->n_free;
	counts->queued = pool->n_queued;
	counts->idle = pool->n_idle;
	weir__pool_unlock(pool, held);
}

/* --- The end -------------------------------------------------------------- */

void weir__pool_close(struct weir__pool *pool)
{
	bool held = weir__pool_lock(pool);

	pool->closed = true;
	weir__pool_unlock(pool, held);
}

/* --- The server ----------------------------------------------------------- */

/* What the server does next. */
enum next {
	NEXT_NOTHING,
	NEXT_MAKE, /* a worker for the job, or, without a request, an idle one */
	NEXT_LENT, /* nothing but to tell who waits, who has a worker */
};

/* Takes the job whose turn it is, and what it needs. */
static enum next next_job(struct weir__pool *pool, struct weir__job *job,
			  struct weir__place *place, int *lent)
{
	bool held = weir__pool_lock(pool);
	bool open = weir__pool_check_open(pool) == 0;
	enum next next = NEXT_NOTHING;

	*job = (struct weir__job){.job = NULL};
	if (open && weir__pool_has_room(pool) && pop(pool, job)) {
		next = pool->n_idle ? NEXT_LENT : NEXT_MAKE;
	} else if (open && weir__pool_owes(pool)) {
		pool->n_owed--;
		next = NEXT_MAKE;
	}
	if (next == NEXT_LENT)
		*lent = weir__member_lend(pool, job->request);
	else if (next == NEXT_MAKE)
		weir__pool_take_place(pool, place);
	weir__pool_unlock(pool, held);
	return next;
}

/* A worker that nobody has asked for could not be made. */
static void count_failed(struct weir__pool *pool)
{
	bool held = weir__pool_lock(pool);

	pool->counts.failed++;
	weir__pool_unlock(pool, held);
}

static void start_job(struct weir__pool *pool, const struct weir__job *job,
		      const struct weir__place *place)
{
	struct weir_actor_id id = WEIR_ACTOR_ID_NONE;
	int rc = weir__pool_start_worker(pool, job, place, &id);

	if (rc < 0 && place->member && !job->request)
		count_failed(pool);
	else if (rc < 0)
		give_up(pool, job, rc, true);
}

bool weir__pool_serve(struct weir__pool *pool)
{
	struct weir__place place;
	struct weir__job job;
	int n, lent;

	for (n = 0; n < AT_ONCE; n++) {
		switch (next_job(pool, &job, &place, &lent)) {
		case NEXT_NOTHING:
			return false;
		case NEXT_LENT:
			job.request->started(job.request, lent,
					     WEIR_ACTOR_ID_NONE);
			break;
		case NEXT_MAKE:
			start_job(pool, &job, &place);
			break;
		}
	}
	return true;
}

void weir__pool_flush(struct weir__pool *pool)
{
	struct weir__job job;
	bool held, found;
	int rc;

	do {
		held = weir__pool_lock(pool);
		rc = pool->closed ? -ESHUTDOWN : -ECANCELED;
		found = pop(pool, &job);
		weir__pool_unlock(pool, held);
		if (found)
			give_up(pool, &job, rc, false);
	} while (found);
}

/* --- The workers' supervisor ---------------------------------------------- */

void weir__pool_worker_ended(struct weir__pool *pool,
			     struct weir__member *member)
{
	bool held = weir__pool_lock(pool);
	struct weir__hold *last;

	assert(pool->n_free < pool->options.limit);
	assert(pool->counts.ended < pool->counts.started);
	pool->n_free++;
	pool->counts.ended++;
	last = weir__member_ended(pool, member);
	weir__pool_wake(pool);
	weir__pool_unlock(pool, held);
	weir__hold_free(last);
}

void weir__pool_workers_down(struct weir__pool *pool)
{
	bool held = weir__pool_lock(pool);

	pool->open = false;
	pool->era++;
	weir__pool_unlock(pool, held);
}

void weir__pool_workers_up(struct weir__pool *pool)
{
	bool held;

	if (pool->members)
		weir__members_gone(pool, true);
	held = weir__pool_lock(pool);

	assert(!pool->open && pool->n_queued == 0);
	pool->n_free = (uint32_t)pool->options.limit;
	pool->counts.ended = pool->counts.started;
	pool->counts.restarts++;
	pool->open = true;
	weir__pool_wake(pool);
	weir__pool_unlock(pool, held);
}

/* --- The workers that stay ------------------------------------------------ */

/* Makes an idle one. No lock held. */
static int make_one(struct weir__pool *pool)
{
	const struct weir__job nobody = {.job = NULL};
	struct weir__place place = {.member = NULL};
	struct weir_actor_id id;
	bool held = weir__pool_lock(pool);
	int rc = weir__pool_check_open(pool);

	if (rc == 0)
		weir__pool_take_place(pool, &place);
	weir__pool_unlock(pool, held);
	return rc < 0 ? rc
		      : weir__pool_start_worker(pool, &nobody, &place, &id);
}

int weir__members_start(struct weir__pool *pool)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < pool->options.stay && rc == 0; i++)
		rc = make_one(pool);
	/* the pair has been killed: the server owes them now */
	return rc == -ECANCELED ? 0 : rc;
}
