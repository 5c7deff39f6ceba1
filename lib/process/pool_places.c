/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The places of one pool. If its workers stay, each place has a member: without
 * a worker (free, or one is being made), or with one, which is idle, lent to a
 * holder, or stopped because it is one too many. All under the pool's lock.
 * pool.c has the claims about places.
 *
 * 1. A worker that is lent has a turn, a number that is never used again. A
 *    check-in names the turn; so it takes effect once, whoever has the worker
 *    by then.
 * 2. An idle worker goes to who has waited longest, before any later check-out
 *    (claim 4 of pool.c).
 * 3. A *hold* watches the actor that has a worker, or waits for one. It begins
 *    before the check-out can be served. The check-out owns it, then the member
 *    that is lent; and the watch owns it as well. Who lets go of it last frees
 *    it. It keeps the pool.
 */
#include "process/pool.h"

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "base/memory.h"
#include "base/refcount.h"
#include "supervision/cell.h"

/* Claim 2 of pool.c. Under the lock. */
static void places_back(struct weir__pool *pool, uint32_t n)
{
	assert(pool->n_free + n <= pool->options.limit);
	assert(pool->counts.ended + n <= pool->counts.started);
	pool->n_free += n;
	pool->counts.ended += n;
}

bool weir__pool_lock(struct weir__pool *pool)
{
	bool held = weir__hold_back();

	weir__lock(&pool->lock);
	/* no order: it is a number; who counts the first one signals the
	 * server behind it */
	if (ck_pr_load_32(&pool->n_ended))
		places_back(pool, ck_pr_fas_32(&pool->n_ended, 0));
	return held;
}

/* Claim 1, and the queue. Holds under the lock, unless a change is under
 * way. */
static __attribute__((unused)) bool is_consistent(const struct weir__pool *pool)
{
	return pool->queue.n <= pool->queue.capacity &&
	       pool->n_queued <= pool->queue.n &&
	       pool->n_free + pool->n_idle <= pool->options.limit &&
	       pool->counts.ended <= pool->counts.started;
}

void weir__pool_unlock(struct weir__pool *pool, bool held)
{
	assert(is_consistent(pool));
	weir__unlock(&pool->lock);
	weir__let_go(held);
}

int weir__pool_check_open(const struct weir__pool *pool)
{
	if (pool->closed)
		return -ESHUTDOWN;
	return pool->open ? 0 : -ECANCELED;
}

/* --- Places. Under the lock. ---------------------------------------------- */

bool weir__pool_has_room(const struct weir__pool *pool)
{
	return pool->n_idle || pool->n_free;
}

bool weir__pool_owes(const struct weir__pool *pool)
{
	return pool->n_owed &&
	       pool->n_free > pool->options.limit - pool->options.stay;
}

void weir__pool_wake(struct weir__pool *pool)
{
	bool serves = pool->n_queued && weir__pool_has_room(pool);

	if (weir__pool_check_open(pool) == 0 &&
	    (serves || weir__pool_owes(pool)))
		weir_actor_signal(&pool->server);
}

/* --- Places. Under the lock. ---------------------------------------------- */

void weir__pool_take_place(struct weir__pool *pool, struct weir__place *place)
{
	assert(pool->n_free > 0);
	pool->n_free--;
	place->era = pool->era;
	place->member = pool->members ? weir__member_take(pool) : NULL;
}

void weir__pool_give_place_back(struct weir__pool *pool,
				const struct weir__place *place)
{
	if (pool->era != place->era)
		return;
	pool->n_free++;
	if (place->member)
		weir__member_put(pool, place->member);
	weir__pool_wake(pool);
}

enum member_state {
	MEMBER_FREE, /* its place, or a worker is being made for it */
	MEMBER_IDLE,
	MEMBER_LENT,
	MEMBER_LEAVING, /* the worker was stopped */
};

struct weir__member {
	struct weir__member *next, *prev; /* free (next only), or idle */
	struct weir__hold *hold;	  /* of who has it; NULL: none */
	uint64_t turn;			  /* lent; else 0 */
	struct weir_actor_id id;
	uint8_t state;
	bool used; /* was lent */
};

struct weir__hold {
	struct weir_watcher watcher;
	struct weir__pool *pool; /* a reference */
	struct weir__hold *next; /* to be freed */
	struct weir__member *member;
	uint64_t turn; /* of the member's; 0: not lent yet */
	uint32_t owners;
	bool ended; /* the holder has */
};

/* --- Members. Under the lock. --------------------------------------------- */

int weir__members_new(struct weir__pool *pool)
{
	size_t i;

	pool->members =
		weir__alloc(pool->pools->allocator,
			    pool->options.limit * sizeof(*pool->members));
	if (!pool->members)
		return -ENOMEM;
	for (i = pool->options.limit; i-- > 0;)
		weir__member_put(pool, &pool->members[i]);
	return 0;
}

void weir__members_free(struct weir__pool *pool)
{
	weir__free(pool->pools->allocator, pool->members,
		   pool->options.limit * sizeof(*pool->members));
}

struct weir__member *weir__member_take(struct weir__pool *pool)
{
	struct weir__member *member = pool->free;

	assert(member && member->state == MEMBER_FREE);
	pool->free = member->next;
	return member;
}

void weir__member_put(struct weir__pool *pool, struct weir__member *member)
{
	*member = (struct weir__member){.next = pool->free};
	pool->free = member;
}

static void idle_add(struct weir__pool *pool, struct weir__member *member)
{
	member->state = MEMBER_IDLE;
	member->next = NULL;
	member->prev = pool->last;
	*(pool->last ? &pool->last->next : &pool->first) = member;
	pool->last = member;
	pool->n_idle++;
}

static void idle_remove(struct weir__pool *pool, struct weir__member *member)
{
	assert(member->state == MEMBER_IDLE && pool->n_idle > 0);
	*(member->prev ? &member->prev->next : &pool->first) = member->next;
	*(member->next ? &member->next->prev : &pool->last) = member->prev;
	pool->n_idle--;
}

/* --- Holds: claim 3 ------------------------------------------------------- */

/* Lets go of a hold (NULL: nothing). Returns it if it is to be freed, when the
 * lock has been dropped. Under the lock. */
static struct weir__hold *hold_leave(struct weir__pool *pool,
				     struct weir__hold *hold)
{
	if (!hold)
		return NULL;
	/* or the watch's function was called, or will be */
	hold->owners -= weir_watcher_remove(pool->pools->system, &hold->watcher)
				? 2
				: 1;
	return hold->owners ? NULL : hold;
}

void weir__hold_free(struct weir__hold *hold)
{
	struct weir__pool *pool = hold ? hold->pool : NULL;

	if (!hold)
		return;
	weir__free(pool->pools->allocator, hold, sizeof(*hold));
	weir__pool_unref(pool);
}

/* The worker comes back: others may have it. Under the lock. */
static struct weir__hold *give_back(struct weir__pool *pool,
				    struct weir__member *member)
{
	struct weir__hold *hold = hold_leave(pool, member->hold);
	size_t living = pool->options.limit - pool->n_free;

	assert(member->state == MEMBER_LENT);
	member->hold = NULL;
	member->turn = 0;
	if (pool->n_queued || living <= pool->options.stay) {
		idle_add(pool, member);
		weir__pool_wake(pool);
	} else {
		member->state = MEMBER_LEAVING;
		(void)weir_system_stop_actor(pool->pools->system, member->id);
	}
	return hold;
}

static void holder_ended(struct weir_watcher *watcher,
			 const struct weir_terminated *notice)
{
	struct weir__hold *self =
		weir_container_of(watcher, struct weir__hold, watcher);
	struct weir__pool *pool = self->pool;
	bool held = weir__pool_lock(pool), last;

	(void)notice;
	self->ended = true;
	if (self->turn && self->member->turn == self->turn)
		(void)give_back(pool, self->member);
	last = --self->owners == 0;
	weir__pool_unlock(pool, held);
	if (last)
		weir__hold_free(self);
}

int weir__hold_new(struct weir__pool *pool, struct weir_actor_id holder,
		   struct weir__hold **hold)
{
	struct weir__hold *self, *last = NULL;
	bool held, ended;
	int rc;

	*hold = NULL;
	if (weir_actor_id_equal(holder, WEIR_ACTOR_ID_NONE))
		return 0;
	self = weir__alloc(pool->pools->allocator, sizeof(*self));
	if (!self)
		return -ENOMEM;
	self->watcher.terminated = holder_ended;
	self->pool = weir__pool_ref(pool);
	self->owners = 2;
	rc = weir_watcher_add(pool->pools->system, holder, &self->watcher);
	if (rc < 0) {
		weir__hold_free(self);
		return rc;
	}
	held = weir__pool_lock(pool);
	ended = self->ended;
	if (ended)
		last = hold_leave(pool, self);
	weir__pool_unlock(pool, held);
	weir__hold_free(last);
	if (!ended)
		*hold = self;
	return ended ? -ESRCH : 0;
}

/* --- Check-outs ----------------------------------------------------------- */

static struct weir_pool_check_out *check_out_of(
	struct weir_pool_request *request)
{
	return weir_container_of(request, struct weir_pool_check_out, request);
}

/* Whether the worker is theirs now; -ESRCH: the holder has ended while it
 * waited, and its watch gives nothing back any more. Under the lock. */
static int lend(struct weir__pool *pool, struct weir__member *member,
		struct weir_pool_check_out *check_out)
{
	struct weir__hold *hold = check_out->hold;

	if (hold && hold->ended)
		return -ESRCH;
	if (member->state == MEMBER_IDLE)
		idle_remove(pool, member);
	member->state = MEMBER_LENT;
	member->used = true;
	member->turn = ck_pr_faa_64(&pool->pools->turns, 1) + 1;
	member->hold = hold;
	check_out->hold = NULL;
	check_out->worker = (struct weir_pool_worker){
		.id = member->id,
		.pool = pool,
		.turn = member->turn,
		.at = (uint32_t)(member - pool->members),
	};
	if (hold) {
		hold->member = member;
		hold->turn = member->turn;
	}
	return 0;
}

int weir__member_lend(struct weir__pool *pool,
		      struct weir_pool_request *request)
{
	struct weir__member *next = pool->options.order == WEIR_POOL_ORDER_FIFO
					    ? pool->first
					    : pool->last;

	return lend(pool, next, check_out_of(request));
}

int weir__member_starts(struct weir__pool *pool, struct weir__member *member,
			struct weir_actor_id id,
			struct weir_pool_request *request)
{
	int rc = 0;

	member->id = id;
	if (request)
		rc = lend(pool, member, check_out_of(request));
	if (!request || rc < 0) {
		idle_add(pool, member);
		weir__pool_wake(pool);
	}
	return rc;
}

void weir__check_out_drop_hold(struct weir__pool *pool,
			       struct weir_pool_check_out *check_out)
{
	bool held = weir__pool_lock(pool);
	struct weir__hold *last = hold_leave(pool, check_out->hold);

	weir__pool_unlock(pool, held);
	check_out->hold = NULL;
	weir__hold_free(last);
}

/* --- Workers come and go -------------------------------------------------- */

struct weir__hold *weir__member_ended(struct weir__pool *pool,
				      struct weir__member *member)
{
	size_t living = pool->options.limit - pool->n_free;
	struct weir__hold *last = hold_leave(pool, member->hold);

	if (member->state == MEMBER_IDLE)
		idle_remove(pool, member);
	if (member->used && living + pool->n_owed < pool->options.stay)
		pool->n_owed++;
	weir__member_put(pool, member);
	return last;
}

void weir__members_gone(struct weir__pool *pool, bool owed)
{
	bool held = weir__pool_lock(pool);
	struct weir__hold *last, *holds = NULL;
	size_t i;

	pool->free = pool->first = pool->last = NULL;
	pool->n_idle = 0;
	pool->n_owed = owed ? (uint32_t)pool->options.stay : 0;
	for (i = pool->options.limit; i-- > 0;) {
		last = hold_leave(pool, pool->members[i].hold);
		if (last) {
			last->next = holds;
			holds = last;
		}
		weir__member_put(pool, &pool->members[i]);
	}
	weir__pool_unlock(pool, held);
	while ((last = holds)) {
		holds = last->next;
		weir__hold_free(last);
	}
}

/* --- Check-ins ------------------------------------------------------------ */

/* The member whose turn it is, or NULL. Under the lock. */
static struct weir__member *lent_as(struct weir__pool *pool,
				    const struct weir_pool_worker *worker)
{
	struct weir__member *member;

	if (!pool->members || worker->at >= pool->options.limit)
		return NULL;
	member = &pool->members[worker->at];
	return member->turn == worker->turn ? member : NULL;
}

bool weir__member_check_in(struct weir__pool *pool,
			   const struct weir_pool_worker *worker)
{
	bool held = weir__pool_lock(pool);
	struct weir__member *member = lent_as(pool, worker);
	struct weir__hold *last = member ? give_back(pool, member) : NULL;

	weir__pool_unlock(pool, held);
	weir__hold_free(last);
	return member;
}

/* --- References ----------------------------------------------------------- */

struct weir__pool *weir__pool_ref(struct weir__pool *pool)
{
	/* the list's lock or a reference keeps the pool alive */
	weir__ref(&pool->refs);
	return pool;
}

void weir__pool_unref(struct weir__pool *pool)
{
	struct weir_pools *pools = pool->pools;

	if (!weir__unref(&pool->refs))
		return;
	assert(pool->queue.n == 0);
	weir__free(pools->allocator, pool->jobs,
		   pool->queue.capacity * sizeof(*pool->jobs));
	weir__members_free(pool);
	weir__free(pools->allocator, pool, sizeof(*pool));
	/* release: our last touch; pairs with the acquire in
	 * weir_pools_free() */
	ck_pr_fence_release();
	ck_pr_dec_32(&pools->alive);
}
