/* SPDX-License-Identifier: BSD-2-Clause */
/* Worker pools by name: the top of their tree, and the calls of their users. */
#include <weir/worker_pool.h>

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "sync/wake.h"
#include "base/memory.h"
#include "base/options.h"
#include "process/pool.h"
#include "supervision/family.h"
#include "supervision/spawn.h"

#define SECOND UINT64_C(1000000000)

static const struct weir_limit top_limit = {
	.max = 6,
	.within_ns = 3600 * SECOND,
};

/* --- Who is there --------------------------------------------------------- */

/* The latest of that name. */
struct weir__pool *weir__pools_get(struct weir_pools *pools, const char *name)
{
	struct weir__pool *pool;

	weir__lock(&pools->lock);
	for (pool = pools->list; pool; pool = pool->next)
		if (strcmp(pool->name, name) == 0)
			break;
	if (pool)
		weir__pool_ref(pool);
	weir__unlock(&pools->lock);
	return pool;
}

struct weir__pool *weir__pools_find(struct weir_pools *pools,
				    const struct weir__pool *wanted)
{
	struct weir__pool *pool;

	weir__lock(&pools->lock);
	for (pool = pools->list; pool && pool != wanted; pool = pool->next)
		;
	if (pool)
		weir__pool_ref(pool);
	weir__unlock(&pools->lock);
	return pool;
}

/* Takes pools that have ended out of the list; with `all`, every pool. */
static void sweep(struct weir_pools *pools, bool all)
{
	struct weir__pool **link = &pools->list, *pool, *gone = NULL;

	weir__lock(&pools->lock);
	while ((pool = *link)) {
		if (!all && weir_system_is_alive(pools->system, pool->id)) {
			link = &pool->next;
			continue;
		}
		*link = pool->next;
		pool->next = gone;
		gone = pool;
	}
	weir__unlock(&pools->lock);
	while ((pool = gone)) {
		gone = pool->next;
		weir__pool_unref(pool);
	}
}

/* --- The top -------------------------------------------------------------- */

static struct weir_pools *pools_of(struct weir_actor *top)
{
	return weir_container_of(top, struct weir_pools, top);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static int pool_ended(struct weir_actor *top,
		      const struct weir_terminated *notice)
{
	(void)notice;
	sweep(pools_of(top), false);
	return 0;
}

/* No pool is left. From here on weir_pool_start() sees that the top supervisor
 * has ended. */
static void top_released(struct weir_actor *top)
{
	sweep(pools_of(top), true);
	/* release: our last touch; pairs with the acquire in
	 * weir_pools_free() */
	ck_pr_fence_release();
	ck_pr_dec_32(&pools_of(top)->alive);
}

static void set_up(struct weir_pools *pools,
		   const struct weir_pools_options *options)
{
	pools->strategy = (struct weir_strategy){
		.rules = &weir__pool_rule,
		.n_rules = 1,
		.all = options->limit ? options->limit : &top_limit,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
	};
	pools->lifecycle = (struct weir_lifecycle){
		.child_ended = pool_ended,
		.strategy = &pools->strategy,
	};
	pools->ops = (struct weir_actor_ops){
		.name = "pools",
		.turns = no_turns,
		.released = top_released,
		.lifecycle = &pools->lifecycle,
	};
}

int weir_pools_new(struct weir_pools **pools, struct weir_system *system,
		   const struct weir_pools_options *options)
{
	static const struct weir_pools_options defaults = {.name = NULL};
	struct weir_spawn_options spawn = {.name = "pools"};
	struct weir_pools *made;
	int rc;

	if (!pools)
		return -EINVAL;
	*pools = NULL;
	if (!options)
		options = &defaults;
	if (!system || !weir__reserved_zero(options->reserved))
		return -EINVAL;
	if (options->name)
		spawn.name = options->name;
	made = weir__alloc(system->options.allocator, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->system = system;
	made->allocator = system->options.allocator;
	made->alive = 1;
	set_up(made, options);
	(void)weir_actor_init(&made->top, &made->ops, system->executor);
	rc = weir_system_spawn(system, options->parent, &made->top, &spawn,
			       &made->id);
	if (rc < 0) {
		weir_actor_stop(&made->top);
		weir__free(made->allocator, made, sizeof(*made));
		return rc;
	}
	*pools = made;
	return 0;
}

struct weir_actor_id weir_pools_id(const struct weir_pools *pools)
{
	return pools ? pools->id : WEIR_ACTOR_ID_NONE;
}

void weir_pools_stop(struct weir_pools *pools)
{
	struct weir__cell *cell;
	bool held;

	if (!pools)
		return;
	held = weir__enter(&pools->system->lock);
	cell = weir__cell_find(pools->system, pools->id);
	if (cell)
		weir__cell_stop(cell, true);
	weir__leave(&pools->system->lock, held);
}

int weir_pools_free(struct weir_pools *pools)
{
	if (!pools)
		return 0;
	if (ck_pr_load_32(&pools->alive))
		return -EBUSY;
	/* acquire: the last touch of every pool that was alive; pairs with the
	 * releases before the counts */
	ck_pr_fence_acquire();
	weir__free(pools->allocator, pools, sizeof(*pools));
	return 0;
}

/* --- Pools ---------------------------------------------------------------- */

static bool overflow_valid(enum weir_overflow overflow)
{
	return overflow == WEIR_OVERFLOW_BACK_PRESSURE ||
	       overflow == WEIR_OVERFLOW_DROP_NEW ||
	       overflow == WEIR_OVERFLOW_DROP_HEAD;
}

static bool order_valid(enum weir_pool_order order)
{
	return order == WEIR_POOL_ORDER_LIFO || order == WEIR_POOL_ORDER_FIFO;
}

/* But for the limit, which weir_system_spawn() checks. */
static int check(const struct weir_pool_options *options)
{
	const struct weir_spawn_options spawn = {.name = options->name};

	if (!options->name || !options->make ||
	    !weir__reserved_zero(options->reserved) ||
	    options->limit > WEIR_POOL_MAX || options->queue_max > INT_MAX ||
	    options->stay > options->limit || !order_valid(options->order) ||
	    !overflow_valid(options->overflow) ||
	    !weir__spawn_options_valid(&spawn))
		return -EINVAL;
	return 0;
}

int weir_pool_start(struct weir_pools *pools,
		    const struct weir_pool_options *options)
{
	struct weir__pool *pool;
	int rc = pools && options ? check(options) : -EINVAL;

	if (rc < 0)
		return rc;
	pool = weir__pool_new(pools, options);
	if (!pool)
		return -ENOMEM;
	rc = weir__pool_spawn(pool);
	if (rc < 0) {
		weir__pool_unref(pool);
		return rc == -ESRCH ? -ESHUTDOWN : rc;
	}
	weir__lock(&pools->lock);
	pool->next = pools->list;
	pools->list = pool;
	weir__unlock(&pools->lock);
	/* If the top supervisor was released meanwhile, no other thread
	 * sweeps. */
	if (!weir_system_is_alive(pools->system, pools->id))
		sweep(pools, true);
	return 0;
}

static int pool_find(struct weir_pools *pools, const char *name,
		     struct weir__pool **pool)
{
	*pool = NULL;
	if (!pools || !name)
		return -EINVAL;
	*pool = weir__pools_get(pools, name);
	return *pool ? 0 : -ENOENT;
}

/* One that makes a worker for each job. */
static int pool_find_for_job(struct weir_pools *pools, const char *name,
			     struct weir__pool **pool)
{
	int rc = pool_find(pools, name, pool);

	if (rc < 0 || !(*pool)->members)
		return rc;
	weir__pool_unref(*pool);
	return -ENOTSUP;
}

int weir_pool_run(struct weir_pools *pools, const char *name, void *job,
		  struct weir_actor_id *worker)
{
	struct weir__pool *pool;
	int rc = pool_find_for_job(pools, name, &pool);

	if (rc < 0)
		return rc;
	rc = weir__pool_run(pool, job, NULL, worker);
	weir__pool_unref(pool);
	return rc;
}

int weir_pool_run_async(struct weir_pools *pools, const char *name, void *job,
			struct weir_pool_request *request)
{
	struct weir__pool *pool;
	int rc = request && request->started
			 ? pool_find_for_job(pools, name, &pool)
			 : -EINVAL;

	if (rc < 0)
		return rc;
	rc = weir__pool_run(pool, job, request, NULL);
	weir__pool_unref(pool);
	return rc;
}

int weir_pool_queue(struct weir_pools *pools, const char *name, void *job)
{
	struct weir__pool *pool;
	int rc = pool_find_for_job(pools, name, &pool);

	if (rc < 0)
		return rc;
	rc = weir__pool_queue(pool, job, NULL);
	weir__pool_unref(pool);
	return rc;
}

int weir_pool_queue_async(struct weir_pools *pools, const char *name, void *job,
			  struct weir_pool_request *request)
{
	struct weir__pool *pool;
	int rc = request && request->started
			 ? pool_find_for_job(pools, name, &pool)
			 : -EINVAL;

	if (rc < 0)
		return rc;
	rc = weir__pool_queue(pool, job, request);
	weir__pool_unref(pool);
	return rc;
}

bool weir_pool_cancel(struct weir_pools *pools,
		      struct weir_pool_request *request)
{
	struct weir__pool *pool = NULL;
	bool cancelled;

	if (pools && request)
		pool = weir__pools_find(pools, request->pool);
	if (!pool)
		return false;
	cancelled = weir__pool_cancel(pool, request);
	weir__pool_unref(pool);
	return cancelled;
}

int weir_pool_stop_async(struct weir_pools *pools, const char *name,
			 struct weir_graceful_stop *stop)
{
	struct weir__pool *pool;
	int rc = pool_find(pools, name, &pool);

	if (rc < 0)
		return rc;
	rc = stop ? weir_system_stop_actor_async(pools->system, pool->id, true,
						 stop, WEIR_FOREVER)
		  : weir_system_stop_actor(pools->system, pool->id);
	if (rc == 0)
		weir__pool_close(pool);
	weir__pool_unref(pool);
	return rc == -ESRCH ? -ENOENT : rc;
}

int weir_pool_counts(struct weir_pools *pools, const char *name,
		     struct weir_pool_counts *counts)
{
	struct weir__pool *pool;
	int rc = counts ? pool_find(pools, name, &pool) : -EINVAL;

	if (rc < 0)
		return rc;
	weir__pool_counts(pool, counts);
	weir__pool_unref(pool);
	return 0;
}

/* --- Waiting -------------------------------------------------------------- */

struct waited_request {
	struct weir_pool_request request;
	struct weir_completion completion;
	struct weir_actor_id worker;
	int rc;
};

static void started(struct weir_pool_request *request, int rc,
		    struct weir_actor_id worker)
{
	struct waited_request *self =
		weir_container_of(request, struct waited_request, request);

	self->worker = worker;
	self->rc = rc;
	(void)weir_completion_complete(&self->completion, NULL);
}

/* The answer is on its way. */
static void wait_on(struct weir_completion *completion)
{
	while (weir_completion_wait(completion, WEIR_FOREVER) < 0)
		ck_pr_stall();
}

static int wait(struct weir__pool *pool, void *job, uint64_t timeout_ns,
		struct weir_actor_id *worker)
{
	struct waited_request self = {.request.started = started};
	int rc = weir__wake_wait_allowed();

	if (rc == 0)
		rc = weir_completion_init(&self.completion);
	if (rc == 0)
		rc = weir__pool_queue(pool, job, &self.request);
	if (rc < 0)
		return rc;
	rc = weir_completion_wait(&self.completion, timeout_ns);
	if (rc == 0 || !weir__pool_cancel(pool, &self.request)) {
		wait_on(&self.completion);
		rc = self.rc;
	}
	weir__not_refused(weir_completion_fini(&self.completion));
	if (rc == 0 && worker)
		*worker = self.worker;
	return rc;
}

int weir_pool_queue_wait(struct weir_pools *pools, const char *name, void *job,
			 uint64_t timeout_ns, struct weir_actor_id *worker)
{
	struct weir__pool *pool;
	int rc = pool_find_for_job(pools, name, &pool);

	if (rc < 0)
		return rc;
	rc = wait(pool, job, timeout_ns, worker);
	weir__pool_unref(pool);
	return rc;
}

/* --- Waiting for the end -------------------------------------------------- */

struct waited_end {
	struct waited_request start; /* first */
	struct weir_completion
		over; /* the worker has ended, or there is none */
	struct weir_pool_result result;
};

static struct waited_end *end_of(struct weir_pool_request *request)
{
	return weir_container_of(request, struct waited_end, start.request);
}

static void end_started(struct weir_pool_request *request, int rc,
			struct weir_actor_id worker)
{
	struct waited_end *self = end_of(request);

	self->result.worker = worker;
	if (rc < 0)
		(void)weir_completion_complete(&self->over, NULL);
	started(request, rc, worker);
}

static void end_ended(struct weir_pool_request *request,
		      const struct weir_terminated *notice)
{
	struct waited_end *self = end_of(request);

	self->result.how = notice->how;
	self->result.code = notice->error ? notice->error->code : 0;
	(void)weir_completion_complete(&self->over, NULL);
}

/*
 * The time is over. The job may have its turn just now: then it is known soon
 * what comes of that, and the worker is not waited for.
 */
static int give_up_wait(struct weir__pool *pool, struct waited_end *self,
			int rc)
{
	struct weir_pool_request *request = &self->start.request;

	if (weir__pool_cancel(pool, request))
		return rc;
	wait_on(&self->start.completion);
	if (self->start.rc < 0)
		return self->start.rc;
	weir__pool_settle(request);
	if (!weir_watcher_remove(pool->pools->system, &request->watcher))
		wait_on(&self->over);
	return 0;
}

static int run_wait(struct weir__pool *pool, void *job, uint64_t timeout_ns,
		    struct weir_pool_result *result)
{
	struct waited_end self = {
		.start.request = {.started = end_started, .ended = end_ended},
	};
	int rc = weir__wake_wait_allowed();

	if (rc < 0)
		return rc;
	(void)weir_completion_init(&self.start.completion);
	(void)weir_completion_init(&self.over);
	rc = weir__pool_queue(pool, job, &self.start.request);
	if (rc < 0)
		return rc;
	rc = weir_completion_wait(&self.over, timeout_ns);
	if (rc < 0) {
		rc = give_up_wait(pool, &self, rc);
	} else {
		wait_on(&self.start.completion);
		rc = self.start.rc;
	}
	weir__not_refused(weir_completion_fini(&self.start.completion));
	weir__not_refused(weir_completion_fini(&self.over));
	if (rc == 0)
		*result = self.result;
	return rc;
}

int weir_pool_run_wait(struct weir_pools *pools, const char *name, void *job,
		       uint64_t timeout_ns, struct weir_pool_result *result)
{
	struct weir__pool *pool;
	int rc = result ? pool_find_for_job(pools, name, &pool) : -EINVAL;

	if (rc < 0)
		return rc;
	rc = run_wait(pool, job, timeout_ns, result);
	weir__pool_unref(pool);
	return rc;
}
