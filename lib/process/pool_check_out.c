/* SPDX-License-Identifier: BSD-2-Clause */
/* Workers that stay are checked out and in: the calls of their users. */
#include "process/pool.h"

#include <errno.h>

#include <ck_pr.h>

#include "base/memory.h"
#include "sync/wake.h"

/* --- For everybody -------------------------------------------------------- */

/* A worker, now. On an error `done` is not called. No lock held. */
static int take_now(struct weir__pool *pool,
		    struct weir_pool_check_out *check_out)
{
	const struct weir__job job = {.request = &check_out->request};
	struct weir_actor_id id;
	struct weir__place place;
	bool held = weir__pool_lock(pool), lends = pool->n_idle;
	int rc = weir__pool_check_open(pool), lent = 0;

	check_out->request.pool = pool;
	check_out->request.waits = false;
	if (rc == 0 && (pool->n_queued || (!lends && !pool->n_free)))
		rc = -EAGAIN;
	if (rc == 0 && lends)
		lent = weir__member_lend(pool, &check_out->request);
	else if (rc == 0)
		weir__pool_take_place(pool, &place);
	weir__pool_unlock(pool, held);
	if (rc < 0)
		return rc;
	if (!lends)
		return weir__pool_start_worker(pool, &job, &place, &id);
	weir__check_out_over(&check_out->request, lent);
	return 0;
}

/* As weir_pool_check_out_async(); with `now` it does not wait. */
static int check_out(struct weir__pool *pool,
		     struct weir_pool_check_out *request, bool now)
{
	int rc = weir__hold_new(pool, request->holder, &request->hold);

	if (rc < 0)
		return rc;
	rc = take_now(pool, request);
	if (rc == -EAGAIN && !now)
		rc = weir__pool_queue(pool, NULL, &request->request);
	if (rc < 0)
		weir__check_out_drop_hold(pool, request);
	return rc;
}

/* The pool of that name, whose workers stay, with a reference. */
static int find(struct weir_pools *pools, const char *name,
		struct weir__pool **pool)
{
	*pool = pools && name ? weir__pools_get(pools, name) : NULL;
	if (!*pool)
		return pools && name ? -ENOENT : -EINVAL;
	if ((*pool)->members)
		return 0;
	weir__pool_unref(*pool);
	return -ENOTSUP;
}

int weir_pool_check_out_async(struct weir_pools *pools, const char *name,
			      struct weir_pool_check_out *request)
{
	struct weir__pool *pool;
	int rc = request && request->done ? find(pools, name, &pool) : -EINVAL;

	if (rc < 0)
		return rc;
	rc = check_out(pool, request, false);
	weir__pool_unref(pool);
	return rc;
}

static bool cancel(struct weir__pool *pool, struct weir_pool_check_out *request)
{
	if (!weir__pool_cancel(pool, &request->request))
		return false;
	weir__check_out_drop_hold(pool, request);
	return true;
}

bool weir_pool_cancel_check_out(struct weir_pools *pools,
				struct weir_pool_check_out *request)
{
	struct weir__pool *pool = NULL;
	bool cancelled;

	if (pools && request)
		pool = weir__pools_find(pools, request->request.pool);
	if (!pool)
		return false;
	cancelled = cancel(pool, request);
	weir__pool_unref(pool);
	return cancelled;
}

struct waited {
	struct weir_pool_check_out request; /* first */
	struct weir_completion done;
	int rc;
};

static void waited_done(struct weir_pool_check_out *request, int rc)
{
	struct waited *self =
		weir_container_of(request, struct waited, request);

	self->rc = rc;
	(void)weir_completion_complete(&self->done, NULL);
}

int weir_pool_try_check_out(struct weir_pools *pools, const char *name,
			    struct weir_actor_id holder,
			    struct weir_pool_worker *worker)
{
	struct waited self = {
		.request = {.done = waited_done, .holder = holder},
	};
	struct weir__pool *pool;
	int rc = worker ? find(pools, name, &pool) : -EINVAL;

	if (rc < 0)
		return rc;
	(void)weir_completion_init(&self.done);
	rc = check_out(pool, &self.request, true);
	if (rc == 0)
		rc = self.rc;
	if (rc == 0)
		*worker = self.request.worker;
	weir__not_refused(weir_completion_fini(&self.done));
	weir__pool_unref(pool);
	return rc;
}

static int wait(struct weir__pool *pool, struct waited *self,
		uint64_t timeout_ns)
{
	int rc = weir__wake_wait_allowed();

	if (rc == 0)
		rc = check_out(pool, &self->request, false);
	if (rc < 0)
		return rc;
	rc = weir_completion_wait(&self->done, timeout_ns);
	if (rc < 0 && cancel(pool, &self->request))
		return rc;
	/* the answer is on its way, or here */
	while (weir_completion_wait(&self->done, WEIR_FOREVER) < 0)
		ck_pr_stall();
	return self->rc;
}

int weir_pool_check_out_wait(struct weir_pools *pools, const char *name,
			     struct weir_actor_id holder, uint64_t timeout_ns,
			     struct weir_pool_worker *worker)
{
	struct waited self = {
		.request = {.done = waited_done, .holder = holder},
	};
	struct weir__pool *pool;
	int rc = worker ? find(pools, name, &pool) : -EINVAL;

	if (rc < 0)
		return rc;
	(void)weir_completion_init(&self.done);
	rc = wait(pool, &self, timeout_ns);
	if (rc == 0)
		*worker = self.request.worker;
	weir__not_refused(weir_completion_fini(&self.done));
	weir__pool_unref(pool);
	return rc;
}

int weir_pool_check_in(struct weir_pools *pools,
		       const struct weir_pool_worker *worker)
{
	struct weir__pool *pool;
	bool done;

	if (!pools || !worker || !worker->turn)
		return -EINVAL;
	pool = weir__pools_find(pools, worker->pool);
	if (!pool)
		return -ENOENT;
	done = weir__member_check_in(pool, worker);
	weir__pool_unref(pool);
	if (done)
		return 0;
	return weir_system_is_alive(pools->system, worker->id) ? -EALREADY
							       : -ESRCH;
}
