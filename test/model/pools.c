/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Worker pools: jobs that are run, queued and waited for, by several threads at
 * once and against ends of all kinds. Each job has one worker, or is dropped,
 * or comes back to who asked, who is told once; no place is lost or doubled.
 *
 * A worker waits until it is told to finish.
 */
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/worker_pool.h>

#include "supervision_kit.h"

enum { JOBS = 3 };

struct worker {
	struct weir_actor actor;
	uint32_t job;
	bool spawned;
};

struct job {
	int rc;	    /* of what was asked for; 1: nothing */
	bool waits; /* it comes back if it has no worker */
	struct weir_pool_request request;
	uint32_t told, had, dropped, over; /* how often */
	uint32_t mark; /* `started` sets it for `ended`; no order of its own */
	struct worker *worker; /* that was spawned and has not stopped */
	struct weir_actor_id ref;
	uint32_t begun; /* atomic: `ref` is known */
};

static struct world {
	struct family family; /* first */
	struct weir_pools *pools;
	struct weir_items items;
	struct job jobs[JOBS];
	bool freed;
	bool tells;		/* `make` does */
	uint32_t inside, ended; /* atomic: a call is under way; pools stopped */
} world;

/* --- Workers -------------------------------------------------------------- */

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static struct worker *worker_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct worker, actor);
}

static int started(struct weir_actor *actor)
{
	struct worker *worker = worker_of(actor);
	struct job *job = &world.jobs[worker->job];

	explorer_assert(!job->worker && job->had == 0);
	worker->spawned = true;
	job->worker = worker;
	job->ref = weir_actor_self(actor);
	ck_pr_fence_release();
	ck_pr_store_32(&job->begun, 1);
	return 0;
}

static int told(struct weir_actor *actor)
{
	return weir_actor_end(actor);
}

static void stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct worker *worker = worker_of(actor);
	struct job *job = &world.jobs[worker->job];

	if (!weir_actor_system(actor))
		return;
	explorer_assert(job->had == 0);
	job->had++;
	job->worker = NULL;
}

static void released(struct weir_actor *actor)
{
	explorer_free(worker_of(actor));
}

static const struct weir_lifecycle lifecycle = {.pre_start = started};

static const struct weir_actor_ops worker_ops = {
	.name = "worker",
	.turns = no_turns,
	.signalled = told,
	.stopped = stopped,
	.released = released,
	.lifecycle = &lifecycle,
};

static int make(void *job, struct weir_actor **made, void *context)
{
	struct world *w = context;
	struct worker *worker = explorer_alloc(sizeof(*worker));

	worker->job = (uint32_t)((struct job *)job - w->jobs);
	*made = &worker->actor;
	if (w->tells)
		ck_pr_store_32(&w->inside, 1);
	return weir_actor_init(*made, &worker_ops, &w->family.scene.executor);
}

static void drop(void *item, void *context)
{
	struct job *job = item;

	explorer_assert(!job->waits);
	job->dropped++;
}

/* --- What threads do ------------------------------------------------------ */

static void run(struct world *w, uint32_t i)
{
	struct job *job = &w->jobs[i];

	job->rc = weir_pool_run(w->pools, "pool", job, NULL);
}

static void queue(struct world *w, uint32_t i)
{
	struct job *job = &w->jobs[i];

	job->rc = weir_pool_queue(w->pools, "pool", job);
}

static void run_0(void *context)
{
	run(context, 0);
}

static void run_1(void *context)
{
	run(context, 1);
}

static void queue_1(void *context)
{
	queue(context, 1);
}

static void queue_2(void *context)
{
	queue(context, 2);
}

static void request_started(struct weir_pool_request *request, int rc,
			    struct weir_actor_id worker)
{
	struct job *job = weir_container_of(request, struct job, request);

	explorer_assert(job->told == 0);
	explorer_assert((rc == 0) ==
			!weir_actor_id_equal(worker, WEIR_ACTOR_ID_NONE));
	job->told++;
	job->rc = rc;
	ck_pr_store_32(&job->mark, 1);
	if (rc < 0)
		request->started = NULL; /* it is ours again */
}

static void request_ended(struct weir_pool_request *request,
			  const struct weir_terminated *notice)
{
	struct job *job = weir_container_of(request, struct job, request);

	explorer_assert(job->told == 1 && job->over == 0);
	explorer_assert(ck_pr_load_32(&job->mark) == 1);
	explorer_assert(weir_actor_id_equal(notice->who, job->ref));
	explorer_assert(notice->existed &&
			!notice->error == (notice->how == WEIR_END_FINISHED));
	job->over++;
	memset(request, 0, sizeof(*request)); /* it is ours again */
}

/* With a request that is told of the start and the end. */
static void run_told(struct world *w, uint32_t i)
{
	struct job *job = &w->jobs[i];
	int rc;

	job->waits = true;
	job->request.started = request_started;
	job->request.ended = request_ended;
	rc = weir_pool_run_async(w->pools, "pool", job, &job->request);
	if (rc == 0)
		return;
	job->rc = rc;
	job->told++;
}

static void run_told_0(void *context)
{
	run_told(context, 0);
}

static void run_told_1(void *context)
{
	run_told(context, 1);
}

static void ask_and_cancel_1(void *context)
{
	struct world *w = context;
	struct job *job = &w->jobs[1];

	job->waits = true;
	job->request.started = request_started;
	job->request.ended = request_ended;
	if (weir_pool_queue_async(w->pools, "pool", job, &job->request) < 0 ||
	    weir_pool_cancel(w->pools, &job->request))
		explorer_assert(job->told == 0);
}

static void wait(struct world *w, uint64_t timeout_ns)
{
	struct job *job = &w->jobs[1];
	struct weir_actor_id worker = WEIR_ACTOR_ID_NONE;

	job->waits = true;
	job->rc = weir_pool_queue_wait(w->pools, "pool", job, timeout_ns,
				       &worker);
	job->told++;
	explorer_assert((job->rc == 0) ==
			!weir_actor_id_equal(worker, WEIR_ACTOR_ID_NONE));
}

static void wait_1(void *context)
{
	wait(context, WEIR_FOREVER);
}

static void hardly_wait_1(void *context)
{
	wait(context, 0);
}

/* Until its worker has ended. */
static void wait_for_end(struct world *w, uint32_t i, uint64_t timeout_ns)
{
	struct weir_pool_result result = {.how = WEIR_END_UNKNOWN};
	struct job *job = &w->jobs[i];

	job->waits = true;
	job->rc =
		weir_pool_run_wait(w->pools, "pool", job, timeout_ns, &result);
	job->told++;
	if (job->rc == 0)
		explorer_assert(weir_actor_id_equal(result.worker, job->ref));
	if (result.how != WEIR_END_UNKNOWN)
		explorer_assert(
			!weir_system_is_alive(w->family.system, result.worker));
}

static void hardly_wait_for_end_0(void *context)
{
	wait_for_end(context, 0, 0);
}

/* The worker of a job finishes; its reference is the thread's. */
static void tell(struct world *w, uint32_t i)
{
	struct weir_actor *actor =
		weir_system_actor(w->family.system, w->jobs[i].ref);

	if (!actor)
		return;
	weir_actor_signal(actor);
	weir_actor_unref(actor);
}

static void tell_0(void *context)
{
	tell(context, 0);
}

static void tell_1(void *context)
{
	tell(context, 1);
}

/* The same, if it runs by now. */
static void tell_0_if_it_runs(void *context)
{
	struct world *w = context;

	if (!ck_pr_load_32(&w->jobs[0].begun))
		return;
	ck_pr_fence_acquire();
	tell_0(w);
}

static void stop_worker_0(void *context)
{
	const struct world *w = context;
	int rc = weir_system_stop_actor(w->family.system, w->jobs[0].ref);

	explorer_assert(rc == 0 || rc == -ESRCH);
}

static void stop_0_if_it_runs(void *context)
{
	struct world *w = context;

	if (!ck_pr_load_32(&w->jobs[0].begun))
		return;
	ck_pr_fence_acquire();
	stop_worker_0(w);
}

static void stop_pool(void *context)
{
	struct world *w = context;
	int rc = weir_pool_stop_async(w->pools, "pool", NULL);

	explorer_assert(rc == 0 || rc == -ENOENT);
}

static void stop_pools(void *context)
{
	struct world *w = context;

	weir_pools_stop(w->pools);
}

/* The pair begins anew. */
static void kill_workers(void *context)
{
	const struct world *w = context;
	struct weir_actor_id ref = weir_system_lookup(
		w->family.system, "/user/pools/pool/workers");
	int rc = weir_system_kill(w->family.system, ref);

	explorer_assert(rc == 0);
}

static void shut_down(void *context)
{
	const struct world *w = context;

	weir_system_stop(w->family.system);
}

static void free_pools(void *context)
{
	struct world *w = context;
	int rc = weir_pools_free(w->pools);

	explorer_assert(rc == 0 || rc == -EBUSY);
	w->freed = rc == 0;
}

/* While a call is under way: after that none may come. */
static void stop_pools_meanwhile(void *context)
{
	struct world *w = context;

	if (!ck_pr_load_32(&w->inside))
		return;
	weir_pools_stop(w->pools);
	ck_pr_fence_release();
	ck_pr_store_32(&w->ended, 1);
}

static void free_pools_then(void *context)
{
	struct world *w = context;

	if (!ck_pr_load_32(&w->ended))
		return;
	ck_pr_fence_acquire();
	free_pools(w);
}

static void look(void *context)
{
	struct world *w = context;
	struct weir_pool_counts counts;

	if (weir_pool_counts(w->pools, "pool", &counts) < 0)
		return;
	explorer_assert(counts.free <= counts.limit);
	explorer_assert(counts.queued <= JOBS);
	explorer_assert(counts.ended <= counts.started);
}

static void start_pool(struct world *w, const char *name, uint32_t limit)
{
	const struct weir_pool_options options = {
		.name = name,
		.limit = limit,
		.make = make,
		.context = w,
		.jobs = &w->items,
	};
	int rc = weir_pool_start(w->pools, &options);

	explorer_assert(rc == 0 || rc == -ESHUTDOWN);
}

static void start_other(void *context)
{
	start_pool(context, "other", 1);
}

static void start_third(void *context)
{
	start_pool(context, "third", 1);
}

/* --- With so many places, and job 0 running ------------------------------- */

static struct world *pools(void *context)
{
	struct world *w = context;
	uint32_t i;

	family_open(&w->family, NULL);
	for (i = 0; i < JOBS; i++)
		w->jobs[i].rc = 1;
	w->items.drop = drop;
	explorer_assert(weir_pools_new(&w->pools, w->family.system, NULL) == 0);
	return w;
}

static struct world *places(void *context, uint32_t limit)
{
	start_pool(pools(context), "pool", limit);
	return context;
}

static void no_pool(void *context)
{
	pools(context);
}

static void one_place(void *context)
{
	places(context, 1);
}

static void one_place_told_of(void *context)
{
	places(context, 1)->tells = true;
}

static void one_runs(void *context)
{
	run(places(context, 1), 0);
	explorer_assert(world.jobs[0].worker);
}

static void two_run(void *context)
{
	run(places(context, 2), 0);
	run(context, 1);
	explorer_assert(world.jobs[0].worker && world.jobs[1].worker);
}

static void one_scenarios_runs(void *context)
{
	run(places(context, 2), 0);
}

/* --- Checks --------------------------------------------------------------- */

static void all_finish(struct world *w)
{
	uint32_t i = 0;

	while (i < JOBS) {
		if (!w->jobs[i].worker) {
			i++;
			continue;
		}
		weir_actor_signal(&w->jobs[i].worker->actor);
		explorer_assert(!w->jobs[i].worker);
		i = 0;
	}
}

static void went_one_way(const struct job *job)
{
	if (job->waits)
		explorer_assert(job->told == 1 || job->rc == 1);
	if (job->mark)
		explorer_assert(job->over == (job->rc == 0));
	if (job->waits || job->rc != 0)
		explorer_assert(job->dropped == 0 &&
				job->had == (job->rc == 0));
	else
		explorer_assert(job->dropped + job->had == 1);
}

static void figures_are_exact(struct world *w)
{
	struct weir_pool_counts counts;
	uint32_t i, had = 0, dropped = 0;

	if (weir_pool_counts(w->pools, "pool", &counts) < 0)
		return;
	for (i = 0; i < JOBS; i++) {
		had += w->jobs[i].had;
		dropped += w->jobs[i].dropped;
	}
	explorer_assert(counts.free == counts.limit && counts.queued == 0);
	explorer_assert(counts.started == had && counts.ended == had);
	explorer_assert(counts.dropped == dropped);
}

static void are_over(void *context)
{
	struct world *w = context;
	uint32_t i;

	all_finish(w);
	for (i = 0; i < JOBS; i++)
		went_one_way(&w->jobs[i]);
	if (!w->freed) {
		figures_are_exact(w);
		weir_pools_stop(w->pools);
		explorer_assert(weir_pools_free(w->pools) == 0);
	}
	family_is_over(&w->family);
}

static void one_was_run(void *context)
{
	const struct world *w = context;

	explorer_assert(!w->jobs[0].worker != !w->jobs[1].worker);
	explorer_assert(w->jobs[0].rc == -EAGAIN || w->jobs[1].rc == -EAGAIN);
	are_over(context);
}

static void second_runs(void *context)
{
	const struct world *w = context;

	explorer_assert(w->jobs[0].had == 1 && w->jobs[1].worker);
	are_over(context);
}

#define POOLED(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	POOLED(.name = "two jobs are run at one place", .setup = one_place,
	       .thread = {run_0, run_1}, .check = one_was_run),
	POOLED(.name = "a worker ends and a job is run", .setup = one_runs,
	       .thread = {tell_0, run_1}, .check = are_over),
	POOLED(.name = "two workers end", .setup = two_run,
	       .thread = {tell_0, tell_1}, .check = are_over),
	POOLED(.name = "a worker ends and a job is queued", .setup = one_runs,
	       .thread = {tell_0, queue_1}, .check = second_runs),
	POOLED(.name = "a worker ends and a job is waited for",
	       .setup = one_runs, .thread = {tell_0, wait_1},
	       .check = second_runs),
	POOLED(.name = "a worker ends and a job is hardly waited for",
	       .setup = one_runs, .thread = {tell_0, hardly_wait_1},
	       .check = are_over),
	POOLED(.name = "a worker ends and a request is cancelled",
	       .setup = one_runs, .thread = {tell_0, ask_and_cancel_1},
	       .check = are_over),
	POOLED(.name = "a worker ends and figures are looked at",
	       .setup = one_runs, .thread = {tell_0, look}, .check = are_over),
	POOLED(.name = "a pool stops and a job is run",
	       .setup = one_scenarios_runs, .thread = {stop_pool, run_1},
	       .check = are_over),
	POOLED(.name = "a pool stops and a job is queued", .setup = one_runs,
	       .thread = {stop_pool, queue_1}, .check = are_over),
	POOLED(.name = "a pool stops and a job is waited for",
	       .setup = one_runs, .thread = {stop_pool, wait_1},
	       .check = are_over),
	POOLED(.name = "a pool stops and a request is cancelled",
	       .setup = one_runs, .thread = {stop_pool, ask_and_cancel_1},
	       .check = are_over),
	POOLED(.name = "a job is run and its worker ends", .setup = one_place,
	       .thread = {run_told_0, tell_0_if_it_runs}, .check = are_over),
	POOLED(.name = "a job is run and its worker is stopped",
	       .setup = one_place, .thread = {run_told_0, stop_0_if_it_runs},
	       .check = are_over),
	POOLED(.name = "a job is hardly waited for and its worker ends",
	       .setup = one_place,
	       .thread = {hardly_wait_for_end_0, tell_0_if_it_runs},
	       .check = are_over),
	POOLED(.name = "the pair begins anew and who runs a job is told",
	       .setup = one_scenarios_runs,
	       .thread = {kill_workers, run_told_1}, .check = are_over),
	POOLED(.name = "the pair begins anew and a job is queued",
	       .setup = one_runs, .thread = {kill_workers, queue_1},
	       .check = are_over),
	POOLED(.name = "the pair begins anew and a job is waited for",
	       .setup = one_scenarios_runs, .thread = {kill_workers, wait_1},
	       .check = are_over),
	POOLED(.name = "pools stop and a job is queued", .setup = one_runs,
	       .thread = {stop_pools, queue_1}, .check = are_over),
	POOLED(.name = "the system ends and a job is queued", .setup = one_runs,
	       .thread = {shut_down, queue_1}, .check = are_over),
	POOLED(.name = "pools stop and are freed", .setup = one_place,
	       .thread = {stop_pools, free_pools}, .check = are_over),
	POOLED(.name = "a call goes on while pools stop and are freed",
	       .setup = one_place_told_of,
	       .thread = {run_0, stop_pools_meanwhile, free_pools_then},
	       .check = are_over),
	POOLED(.name = "pools stop and one starts", .setup = no_pool,
	       .thread = {stop_pools, start_other}, .check = are_over),
	POOLED(.name = "two pools start", .setup = no_pool,
	       .thread = {start_other, start_third}, .check = are_over),
};

static const struct explorer_scenario more[] = {
	POOLED(.name = "a worker ends, is stopped, and a job is queued",
	       .setup = one_runs, .thread = {tell_0, stop_worker_0, queue_1},
	       .check = second_runs),
	POOLED(.name = "a worker ends and two jobs are queued",
	       .setup = one_runs, .thread = {tell_0, queue_1, queue_2},
	       .check = are_over),
	POOLED(.name = "a worker ends, the pool stops, a job is waited for",
	       .setup = one_runs, .thread = {tell_0, stop_pool, wait_1},
	       .check = are_over),
};

static const struct scene_group small = SCENE_GROUP(scenarios);
static const struct scene_group large = SCENE_GROUP(more);

static const struct explorer_exception exceptions[] = {
	{"worker_pool.c", "top_released", "ck_pr_fence_release", 0,
	 "the list's lock was dropped just before, which orders as "
	 "much"},
};

/* The small ones, with few preemptions, are in every_fence_is_needed. */
const struct model_case model_cases[] = {
	{.name = "each_job_goes_one_way",
	 .groups = GROUPS(&large),
	 .run = {.preemptions = 1, .stale = -1},
	 .deepens = true},
	{.name = "each_job_goes_one_way_if_stale",
	 .groups = GROUPS(&small),
	 .in_soak = true,
	 .run = {.preemptions = 1, .stale = 1},
	 .deepens = true},
	{.name = "each_job_goes_one_way_under_tso",
	 .groups = GROUPS(&small),
	 .in_soak = true,
	 .run = {.preemptions = 1, .stale = 1, .tso = true},
	 .deepens = true},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&small),
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/process/pool",
	 .more_files = "lib/process/worker_pool.c",
	 EXCEPTIONS(exceptions)},
};
const size_t n_model_cases = N_OF(model_cases);
