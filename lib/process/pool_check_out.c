/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers that stay are checked out and in: the calls of their users.
 *
 * A check-out with a deadline is touched by three parties: the call that asks,
 * the timer, and whoever ends its waiting, by giving it a worker or an error.
 *
 * 1. Each has a share of it. Who drops the last share calls `done`.
 * 2. A check-out has ended its waiting when it has left the queue, under the
 *    pool's lock. Who takes it out says what `done` is told; the timer takes it
 *    out as a cancel does, and so has two shares then.
 * 3. Who takes it out cancels the timer. If that succeeds, the timer's share is
 *    dropped, too.
 * 4. The timer is armed before the check-out waits, as that can fail, and may
 *    fire before. So the call that asks looks for that when it waits.
 * 5. The timer needs the pool, which the check-out keeps until `done`.
 */
#include "process/pool.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "base/memory.h"
#include "sync/wake.h"

/* check_out->state: the number of shares, and whether the timer has fired. */
#define SHARES 0xffu
#define TIMED_OUT (1u << 8)

/* --- The end of a check-out. No lock held. -------------------------------- */

static void drop(struct weir_pool_check_out *check_out, uint32_t shares)
{
	bool timed = check_out->timer.fire;
	struct weir__pool *pool = check_out->pool;
	uint32_t state;

	/* release: our last touch; pairs with the acquire of the last drop */
	ck_pr_fence_release();
	state = ck_pr_faa_32(&check_out->state, 0u - shares);
	assert((state & SHARES) >= shares);
	if ((state & SHARES) != shares)
		return;
	/* acquire: everybody's last touch, before the memory is reused */
	ck_pr_fence_acquire();
	if (timed)
		weir__pool_unref(pool);
	check_out->done(check_out, check_out->rc);
}

/* True: there is a timer, and it will not fire. */
static bool cancel_timer(struct weir_pool_check_out *check_out)
{
	return check_out->timer.fire &&
	       weir_timer_cancel(check_out->pool->pools->top.executor,
				 &check_out->timer);
}

/* It has left the queue, with that for `done`. */
static void left(struct weir_pool_check_out *check_out, int rc)
{
	if (rc < 0)
		weir__check_out_drop_hold(check_out->pool, check_out);
	check_out->rc = rc;
}

/* The check-out has its worker, or `rc`. No lock held. */
static void over(struct weir_pool_request *request, int rc,
		 struct weir_actor_id worker)
{
	struct weir_pool_check_out *check_out =
		weir_container_of(request, struct weir_pool_check_out, request);

	(void)worker; /* what it was lent says more */
	left(check_out, rc);
	drop(check_out, cancel_timer(check_out) ? 2 : 1);
}

/* Whoever has a share. Returns how many it has now: two, if the check-out has
 * waited until then. */
static uint32_t time_out(struct weir_pool_check_out *check_out)
{
	if (!weir__pool_cancel(check_out->pool, &check_out->request))
		return 1;
	left(check_out, -ETIMEDOUT);
	return 2;
}

static void too_late(struct weir_timer *timer)
{
	struct weir_pool_check_out *check_out =
		weir_container_of(timer, struct weir_pool_check_out, timer);

	/* before the pool's lock is taken: if it does not wait yet, who asks
	 * reads this behind a later holding of it */
	ck_pr_or_32(&check_out->state, TIMED_OUT);
	drop(check_out, time_out(check_out));
}

/* --- For everybody -------------------------------------------------------- */

/* With a deadline. On an error `done` is not called. */
static int wait_until(struct weir__pool *pool,
		      struct weir_pool_check_out *check_out,
		      uint64_t deadline_ns)
{
	bool fired;
	int rc;

	check_out->timer.fire = too_late;
	check_out->state = 3;
	(void)weir__pool_ref(pool);
	rc = weir_timer_arm(pool->pools->top.executor, &check_out->timer,
			    deadline_ns);
	if (rc < 0) {
		weir__pool_unref(pool);
		return rc;
	}
	rc = weir__pool_queue(pool, NULL, &check_out->request);
	if (rc == 0) {
		fired = ck_pr_load_32(&check_out->state) & TIMED_OUT;
		drop(check_out, fired ? time_out(check_out) : 1);
		return 0;
	}
	if (cancel_timer(check_out)) {
		weir__pool_unref(pool);
		return rc;
	}
	/* it fires now: then that is what `done` is told */
	left(check_out, -ETIMEDOUT);
	drop(check_out, 2);
	return 0;
}

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
	over(&check_out->request, lent, WEIR_ACTOR_ID_NONE);
	return 0;
}

/* As weir_pool_check_out_async(); with `now` it does not wait. */
static int check_out(struct weir__pool *pool,
		     struct weir_pool_check_out *request, bool now,
		     uint64_t deadline_ns)
{
	int rc = weir__hold_new(pool, request->holder, &request->hold);

	if (rc < 0)
		return rc;
	request->pool = pool;
	request->request.started = over;
	request->timer = (struct weir_timer){.fire = NULL};
	request->state = 1;
	rc = take_now(pool, request);
	if (rc == -EAGAIN && !now)
		rc = deadline_ns == WEIR_FOREVER
			     ? weir__pool_queue(pool, NULL, &request->request)
			     : wait_until(pool, request, deadline_ns);
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
			      struct weir_pool_check_out *request,
			      uint64_t deadline_ns)
{
	struct weir__pool *pool;
	int rc = request && request->done ? find(pools, name, &pool) : -EINVAL;

	if (rc < 0)
		return rc;
	rc = check_out(pool, request, false, deadline_ns);
	weir__pool_unref(pool);
	return rc;
}

static bool cancel(struct weir__pool *pool, struct weir_pool_check_out *request)
{
	bool timed;

	if (!weir__pool_cancel(pool, &request->request))
		return false;
	left(request, -ETIMEDOUT);
	timed = request->timer.fire;
	if (timed && !cancel_timer(request)) {
		drop(request, 1); /* it fires now, and has the last share */
		return false;
	}
	if (timed)
		weir__pool_unref(pool);
	return true;
}

bool weir_pool_cancel_check_out(struct weir_pools *pools,
				struct weir_pool_check_out *request)
{
	struct weir__pool *pool = NULL;
	bool cancelled;

	if (pools && request)
		pool = weir__pools_find(pools, request->pool);
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
	rc = check_out(pool, &self.request, true, WEIR_FOREVER);
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
		rc = check_out(pool, &self->request, false, WEIR_FOREVER);
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
