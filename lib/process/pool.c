/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One worker pool: its places and its queue. All under the pool's lock, from
 * any thread; functions of the user's are called without it.
 *
 * 1. A place is taken before its worker is made: by `run`, if no job waits, or
 *    by the server, together with the job whose turn it is. So no job overtakes
 *    the jobs that wait. n_free + places taken + workers == limit.
 * 2. A place is given back when making or spawning the worker fails, or when
 *    the workers' supervisor is told of the worker's end.
 * 3. When the workers' supervisor restarts, all places are free and a new era
 *    begins: its workers are gone by then, and notices of their ends are
 *    ignored. A place of an earlier era gets no worker, and is not given back.
 * 4. A thread that leaves a free place while jobs are queued signals the
 *    server. Only the server takes from the queue while the pool is open.
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

static bool lock(struct weir__pool *pool)
{
	bool held = weir__hold_back();

	weir__lock(&pool->lock);
	return held;
}

/* Claim 1, and the queue. Holds under the lock, unless a change is under
 * way. */
static __attribute__((unused)) bool is_consistent(const struct weir__pool *pool)
{
	return pool->queue.n <= pool->queue.capacity &&
	       pool->n_queued <= pool->queue.n &&
	       pool->n_free <= pool->options.limit &&
	       pool->counts.ended <= pool->counts.started;
}

static void unlock(struct weir__pool *pool, bool held)
{
	assert(is_consistent(pool));
	weir__unlock(&pool->lock);
	weir__let_go(held);
}

/* --- The queue. Under the lock. ------------------------------------------- */

/* 0, or why nothing can be run or queued. */
static int check_open(const struct weir__pool *pool)
{
	if (pool->closed)
		return -ESHUTDOWN;
	return pool->open ? 0 : -ECANCELED;
}

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

/* The first that waits, or false. */
static bool pop(struct weir__pool *pool, struct weir__job *job)
{
	while (pool->queue.n > 0) {
		*job = pool->jobs[weir__deque_pop(&pool->queue)];
		if (job->cancelled)
			continue;
		assert(pool->n_queued > 0);
		pool->n_queued--;
		if (job->request)
			job->request->waits = false;
		return true;
	}
	return false;
}

/* Claim 4. */
static void wake_server(struct weir__pool *pool)
{
	if (check_open(pool) == 0 && pool->n_queued && pool->n_free)
		weir_actor_signal(&pool->server);
}

/* --- Jobs. No lock held. -------------------------------------------------- */

/* The job will not run. `failed`: it had its turn. */
static void give_up(struct weir__pool *pool, const struct weir__job *job,
		    int rc, bool failed)
{
	const struct weir_items *items = pool->options.jobs;
	bool held = lock(pool);

	pool->counts.failed += failed;
	pool->counts.dropped += !job->request;
	unlock(pool, held);
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

/* With a place of that era. Under the lock. */
static int spawn(struct weir__pool *pool, struct weir_actor *worker,
		 uint64_t era, struct weir_watcher *watcher,
		 struct weir_actor_id *id)
{
	const struct weir_spawn_options options = {
		.restart = WEIR_RESTART_TEMPORARY,
		.shutdown_ns = pool->options.shutdown_ns,
	};

	if (pool->closed)
		return -ESHUTDOWN;
	if (pool->era != era)
		return -ECANCELED;
	return weir__spawn_watched(pool->pools->system, pool->workers_ref,
				   worker, &options, watcher, id);
}

/* With a place that was taken in `era`: claims 2 and 3. */
static int start_worker(struct weir__pool *pool, const struct weir__job *job,
			uint64_t era, struct weir_actor_id *id)
{
	struct weir_actor *worker = NULL;
	int rc = pool->options.make(job->job, &worker, pool->options.context);
	struct weir_watcher *watcher = watcher_of(job->request);
	bool held = lock(pool);

	if (rc < 0)
		worker = NULL; /* whatever `make` has left there */
	else
		rc = spawn(pool, worker, era, watcher, id);
	if (rc == 0) {
		pool->counts.started++;
	} else if (pool->era == era) {
		pool->n_free++;
		wake_server(pool);
	}
	unlock(pool, held);
	if (rc < 0)
		weir_actor_stop(worker);
	else if (job->request)
		tell_start(job->request, *id);
	return rc;
}

int weir__pool_run(struct weir__pool *pool, void *item,
		   struct weir_pool_request *request,
		   struct weir_actor_id *worker)
{
	const struct weir__job job = {.job = item, .request = request};
	struct weir_actor_id id = WEIR_ACTOR_ID_NONE;
	bool held = lock(pool);
	int rc = check_open(pool);
	uint64_t era = pool->era;

	if (rc == 0 && (pool->n_queued || !pool->n_free))
		rc = -EAGAIN;
	if (rc == 0)
		pool->n_free--;
	unlock(pool, held);
	if (rc == 0)
		rc = start_worker(pool, &job, era, &id);
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
	wake_server(pool);
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
	bool held = lock(pool);
	int rc = check_open(pool);

	if (rc == 0 && request) {
		request->pool = pool;
		request->waits = false;
	}
	if (rc == 0)
		rc = push_or_drop(pool, &job);
	unlock(pool, held);
	if (rc <= 0)
		return rc;
	give_up(pool, &job, -ENOBUFS, false);
	return 0;
}

bool weir__pool_cancel(struct weir__pool *pool,
		       struct weir_pool_request *request)
{
	bool held = lock(pool);
	bool waits = request->waits;

	if (waits) {
		assert(pool->jobs[request->at].request == request);
		pool->jobs[request->at].cancelled = true;
		request->waits = false;
		pool->n_queued--;
	}
	unlock(pool, held);
	return waits;
}

void weir__pool_counts(struct weir__pool *pool, struct weir_pool_counts *counts)
{
	bool held = lock(pool);

	*counts = pool->counts;
	counts->limit = pool->options.limit;
	counts->free = pool->n_free;
	counts->queued = pool->n_queued;
	unlock(pool, held);
}

/* --- The end -------------------------------------------------------------- */

void weir__pool_close(struct weir__pool *pool)
{
	bool held = lock(pool);

	pool->closed = true;
	unlock(pool, held);
}

/* --- The server ----------------------------------------------------------- */

/* Takes the job whose turn it is, and a place for it. */
static bool next_job(struct weir__pool *pool, struct weir__job *job,
		     uint64_t *era)
{
	bool held = lock(pool);
	bool found = check_open(pool) == 0 && pool->n_free && pop(pool, job);

	if (found)
		pool->n_free--;
	*era = pool->era;
	unlock(pool, held);
	return found;
}

static void start_job(struct weir__pool *pool, const struct weir__job *job,
		      uint64_t era)
{
	struct weir_actor_id id = WEIR_ACTOR_ID_NONE;
	int rc = start_worker(pool, job, era, &id);

	if (rc < 0)
		give_up(pool, job, rc, true);
}

bool weir__pool_serve(struct weir__pool *pool)
{
	struct weir__job job;
	uint64_t era;
	int n;

	for (n = 0; n < AT_ONCE; n++) {
		if (!next_job(pool, &job, &era))
			return false;
		start_job(pool, &job, era);
	}
	return true;
}

void weir__pool_flush(struct weir__pool *pool)
{
	struct weir__job job;
	bool held, found;
	int rc;

	do {
		held = lock(pool);
		rc = pool->closed ? -ESHUTDOWN : -ECANCELED;
		found = pop(pool, &job);
		unlock(pool, held);
		if (found)
			give_up(pool, &job, rc, false);
	} while (found);
}

/* --- The workers' supervisor ---------------------------------------------- */

void weir__pool_worker_ended(struct weir__pool *pool)
{
	bool held = lock(pool);

	assert(pool->n_free < pool->options.limit);
	assert(pool->counts.ended < pool->counts.started);
	pool->n_free++;
	pool->counts.ended++;
	wake_server(pool);
	unlock(pool, held);
}

void weir__pool_workers_down(struct weir__pool *pool)
{
	bool held = lock(pool);

	pool->open = false;
	pool->era++;
	unlock(pool, held);
}

void weir__pool_workers_up(struct weir__pool *pool)
{
	bool held = lock(pool);

	assert(!pool->open && pool->n_queued == 0);
	pool->n_free = (uint32_t)pool->options.limit;
	pool->counts.ended = pool->counts.started;
	pool->counts.restarts++;
	pool->open = true;
	unlock(pool, held);
}
