/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers that stay: checked out and in by several threads at once, against
 * ends of workers, holders and pools. A worker has one holder at a time, who
 * asks is told once, and in the end all workers are idle or gone.
 *
 * The pool has one worker, which is checked out by a thread before the others
 * begin, where the setup says so.
 */
#include <errno.h>

#include <ck_pr.h>

#include <weir/worker_pool.h>

#include "supervision_kit.h"

struct stayer {
	struct weir_actor actor;
};

struct ask {
	struct weir_pool_check_out request;
	bool waits;
	uint32_t told, cancelled;
	int rc;
};

static struct world {
	struct family family; /* first */
	struct weir_pools *pools;
	struct weir_pool_worker first; /* checked out in the setup */
	struct weir_actor holder;
	struct weir_actor_id holder_id;
	struct ask ask;
	uint32_t in_use; /* plain: of who has the worker */
	uint32_t made, released;
} world;

/* --- Actors --------------------------------------------------------------- */

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static void released(struct weir_actor *actor)
{
	ck_pr_inc_32(&world.released);
	explorer_free(weir_container_of(actor, struct stayer, actor));
}

static const struct weir_actor_ops stayer_ops = {
	.name = "stayer",
	.turns = no_turns,
	.released = released,
};

static const struct weir_actor_ops holder_ops = {
	.name = "holder",
	.turns = no_turns,
};

static int make(void *job, struct weir_actor **made, void *context)
{
	struct world *w = context;
	struct stayer *stayer = explorer_alloc(sizeof(*stayer));

	explorer_assert(!job);
	ck_pr_inc_32(&w->made);
	*made = &stayer->actor;
	return weir_actor_init(*made, &stayer_ops, &w->family.scene.executor);
}

/* --- What threads do ------------------------------------------------------ */

/* The explorer sees it if two do so at once. */
static void use(struct world *w)
{
	explorer_assert(w->in_use == 0);
	w->in_use++;
	w->in_use--;
}

static void check_in(struct world *w, const struct weir_pool_worker *worker)
{
	int rc = weir_pool_check_in(w->pools, worker);

	explorer_assert(rc == 0 || rc == -ESRCH || rc == -ENOENT);
}

static void try_one(void *context)
{
	struct world *w = context;
	struct weir_pool_worker worker;
	int rc = weir_pool_try_check_out(w->pools, "pool", WEIR_ACTOR_ID_NONE,
					 &worker);

	if (rc == 0) {
		use(w);
		check_in(w, &worker);
	}
}

static void wait_for(struct world *w, uint64_t timeout_ns)
{
	struct weir_pool_worker worker;
	int rc = weir_pool_check_out_wait(w->pools, "pool", WEIR_ACTOR_ID_NONE,
					  timeout_ns, &worker);

	if (rc == 0) {
		use(w);
		check_in(w, &worker);
	}
	explorer_assert(rc == 0 || rc == -ESHUTDOWN || rc == -ENOENT ||
			rc == -ECANCELED || rc == -ETIMEDOUT);
}

static void wait_for_one(void *context)
{
	wait_for(context, WEIR_FOREVER);
}

static void hardly_wait_for_one(void *context)
{
	wait_for(context, 0);
}

static void done(struct weir_pool_check_out *request, int rc)
{
	struct ask *ask = weir_container_of(request, struct ask, request);

	explorer_assert(ask->told == 0 && ask->cancelled == 0);
	ask->told++;
	ask->rc = rc;
	if (rc == 0 && weir_actor_id_equal(request->holder, WEIR_ACTOR_ID_NONE))
		use(&world);
	if (rc == 0)
		(void)weir_pool_check_in(world.pools, &request->worker);
}

static void ask_until(struct world *w, struct weir_actor_id holder,
		      uint64_t deadline_ns)
{
	int rc;

	w->ask.request.done = done;
	w->ask.request.holder = holder;
	w->ask.waits = true;
	rc = weir_pool_check_out_async(w->pools, "pool", &w->ask.request,
				       deadline_ns);
	if (rc < 0)
		w->ask.waits = false;
}

static void ask_as(struct world *w, struct weir_actor_id holder)
{
	ask_until(w, holder, WEIR_FOREVER);
}

static void ask_in_time(void *context)
{
	ask_until(context, WEIR_ACTOR_ID_NONE, 1);
}

static void pass_time(void *context)
{
	scene_pass_time(context, 1);
}

static void ask_and_cancel(void *context)
{
	struct world *w = context;

	ask_as(w, WEIR_ACTOR_ID_NONE);
	if (weir_pool_cancel_check_out(w->pools, &w->ask.request))
		w->ask.cancelled++;
}

/* It waits, with a deadline. */
static void cancel(void *context)
{
	struct world *w = context;

	if (weir_pool_cancel_check_out(w->pools, &w->ask.request))
		w->ask.cancelled++;
}

static void ask_for_holder(void *context)
{
	struct world *w = context;

	ask_as(w, w->holder_id);
}

static void check_in_first(void *context)
{
	struct world *w = context;

	use(w);
	check_in(w, &w->first);
}

/* Which its holder's end may have done. */
static void check_in_held(void *context)
{
	struct world *w = context;

	(void)weir_pool_check_in(w->pools, &w->first);
}

static void stop_holder(void *context)
{
	struct world *w = context;

	(void)weir_system_stop_actor(w->family.system, w->holder_id);
}

static void stop_worker(void *context)
{
	struct world *w = context;

	(void)weir_system_stop_actor(w->family.system, w->first.id);
}

static void stop_pool(void *context)
{
	struct world *w = context;

	(void)weir_pool_stop_async(w->pools, "pool", NULL);
}

static void kill_workers(void *context)
{
	struct world *w = context;

	(void)weir_system_kill(w->family.system,
			       weir_system_lookup(w->family.system,
						  "/user/pools/pool/workers"));
}

/* --- Setups --------------------------------------------------------------- */

static void one_is_idle(void *context)
{
	struct world *w = context;
	const struct weir_pool_options options = {
		.name = "pool",
		.limit = 1,
		.stay = 1,
		.make = make,
		.context = w,
	};
	int rc;

	family_open(&w->family, NULL);
	explorer_assert(weir_pools_new(&w->pools, w->family.system, NULL) == 0);
	explorer_assert(weir_pool_start(w->pools, &options) == 0);
	rc = weir_actor_init(&w->holder, &holder_ops,
			     &w->family.scene.executor);
	explorer_assert(rc == 0);
	rc = weir_system_spawn(w->family.system, WEIR_ACTOR_ID_NONE, &w->holder,
			       NULL, &w->holder_id);
	explorer_assert(rc == 0);
}

static void one_is_lent(void *context)
{
	struct world *w = context;

	one_is_idle(w);
	explorer_assert(weir_pool_try_check_out(w->pools, "pool",
						WEIR_ACTOR_ID_NONE,
						&w->first) == 0);
}

static void one_is_lent_and_waited_for(void *context)
{
	one_is_lent(context);
	ask_in_time(context);
}

static void one_is_held(void *context)
{
	struct world *w = context;

	one_is_idle(w);
	explorer_assert(weir_pool_try_check_out(w->pools, "pool", w->holder_id,
						&w->first) == 0);
}

/* --- Checks --------------------------------------------------------------- */

static void are_over(void *context)
{
	struct world *w = context;
	struct weir_pool_counts counts;

	stop_holder(w);
	pass_time(w);
	if (w->ask.waits)
		explorer_assert(w->ask.told + w->ask.cancelled == 1);
	check_in_held(w);
	if (weir_pool_counts(w->pools, "pool", &counts) == 0) {
		explorer_assert(counts.idle == 1 && counts.free == 0);
		explorer_assert(counts.queued == 0);
	}
	weir_pools_stop(w->pools);
	explorer_assert(weir_pools_free(w->pools) == 0);
	explorer_assert(w->made == w->released);
	family_is_over(&w->family);
}

#define LOANS(...) \
	{ \
		.context = &world, .context_size = sizeof(world), \
		.check = are_over, __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	LOANS(.name = "two threads check a worker out", .setup = one_is_idle,
	      .thread = {try_one, try_one}),
	LOANS(.name = "a worker is checked in and waited for",
	      .setup = one_is_lent, .thread = {check_in_first, wait_for_one}),
	LOANS(.name = "a worker is checked in and hardly waited for",
	      .setup = one_is_lent,
	      .thread = {check_in_first, hardly_wait_for_one}),
	LOANS(.name = "a worker is checked in and a check-out is cancelled",
	      .setup = one_is_lent, .thread = {check_in_first, ask_and_cancel}),
	LOANS(.name = "a worker is checked in as time is up",
	      .setup = one_is_lent_and_waited_for,
	      .thread = {check_in_first, pass_time}),
	LOANS(.name = "time is up before it is waited for",
	      .setup = one_is_lent, .thread = {ask_in_time, pass_time}),
	LOANS(.name = "a worker is waited for in time, and checked in",
	      .setup = one_is_lent, .thread = {ask_in_time, check_in_first}),
	LOANS(.name = "a check-out is cancelled as time is up",
	      .setup = one_is_lent_and_waited_for,
	      .thread = {cancel, pass_time}),
	LOANS(.name = "a check-out is cancelled as a worker comes",
	      .setup = one_is_lent_and_waited_for,
	      .thread = {cancel, check_in_first}),
	LOANS(.name = "a pool stops as time is up",
	      .setup = one_is_lent_and_waited_for,
	      .thread = {stop_pool, pass_time}),
	LOANS(.name = "a holder ends and checks in", .setup = one_is_held,
	      .thread = {stop_holder, check_in_held}),
	LOANS(.name = "a holder ends and its worker is waited for",
	      .setup = one_is_held, .thread = {stop_holder, wait_for_one}),
	LOANS(.name = "a holder ends and asks", .setup = one_is_idle,
	      .thread = {stop_holder, ask_for_holder}),
	LOANS(.name = "a worker ends and is waited for", .setup = one_is_held,
	      .thread = {stop_worker, wait_for_one}),
	LOANS(.name = "a worker ends as its holder does", .setup = one_is_held,
	      .thread = {stop_worker, stop_holder}),
	LOANS(.name = "a pool stops and a worker is waited for",
	      .setup = one_is_lent, .thread = {stop_pool, wait_for_one}),
	LOANS(.name = "a pool stops and a holder ends", .setup = one_is_held,
	      .thread = {stop_pool, stop_holder}),
	LOANS(.name = "the pair begins anew and a worker is waited for",
	      .setup = one_is_lent, .thread = {kill_workers, wait_for_one}),
	LOANS(.name = "the pair begins anew and a holder ends",
	      .setup = one_is_held, .thread = {kill_workers, stop_holder}),
};

static const struct scene_group small = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "each_worker_has_one_holder_if_stale",
	 .groups = GROUPS(&small),
	 .in_soak = true,
	 .run = {.preemptions = 1, .stale = 1},
	 .deepens = true},
	{.name = "each_worker_has_one_holder",
	 .groups = GROUPS(&small),
	 .run = {.preemptions = 1, .stale = -1},
	 .deepens = true},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&small),
	 .run = {.preemptions = 1, .stale = 1},
	 .files = "lib/process/pool_check_out"},
};
const size_t n_model_cases = N_OF(model_cases);
