/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The actors of one worker pool: its supervisor, its server and the supervisor
 * of its workers. None has a port, so none of their turns ever runs. The
 * functions here run in their slices, except for those that make and free a
 * pool.
 *
 * If the server or the workers' supervisor fails, both restart in place: the
 * workers' supervisor halts, then the server; the server starts, then the
 * workers' supervisor. If the pool's supervisor restarts, both follow, in no
 * order. In both cases the workers' supervisor does all the work: the server
 * has no state, and keeps its signal.
 *
 * Rule numbers like D3.5 are those of docs/conformance/worker_pool.md.
 */
#include "process/pool.h"

#include <assert.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/look.h"
#include "base/memory.h"
#include "base/refcount.h"
#include "supervision/cell.h"
#include "supervision/death_watch.h"

#define SECOND UINT64_C(1000000000)

static const struct weir_limit pair_limit = {
	.max = 1,
	.within_ns = 3600 * SECOND,
};

const struct weir_rule weir__pool_rule = {.directive = WEIR_DIRECTIVE_RESTART};

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

/* --- The server ----------------------------------------------------------- */

static struct weir__pool *pool_of_server(struct weir_actor *server)
{
	return weir_container_of(server, struct weir__pool, server);
}

static int server_signalled(struct weir_actor *server)
{
	if (weir__pool_serve(pool_of_server(server)))
		weir_actor_signal(server);
	return 0;
}

/* From here on the server is not signalled. Called also if it has never run. */
static void server_stopped(struct weir_actor *server, struct weir_error *error)
{
	(void)error;
	weir__pool_close(pool_of_server(server));
}

static void server_released(struct weir_actor *server)
{
	weir__pool_unref(pool_of_server(server));
}

/* The words belong to the pool's lock, under which workers are spawned; so it
 * may wait for the registry's, which the look has. */
static WEIR__LOOKS void server_look(const struct weir_actor *server,
				    struct weir__look *look)
{
	const struct weir__pool *pool =
		weir_container_of(server, const struct weir__pool, server);
	struct weir_seen_pool seen = {
		.kind = WEIR_POOL_WORKERS,
		.members_of = &pool->workers,
		.max = pool->options.limit,
		.busy = pool->options.limit - pool->n_free - pool->n_idle,
		.queued = pool->n_queued,
		.dropped = pool->counts.dropped,
	};

	/* its last byte stays 0 */
	memcpy(seen.name, pool->name,
	       strnlen(pool->name, sizeof(seen.name) - 1));
	look->pool(look, &seen);
}

static const struct weir_actor_ops server_ops = {
	.name = "pool server",
	.turns = no_turns,
	.signalled = server_signalled,
	.stopped = server_stopped,
	.released = server_released,
	.look = server_look,
};

/* --- The workers' supervisor ---------------------------------------------- */

static struct weir__pool *pool_of_workers(struct weir_actor *workers)
{
	return weir_container_of(workers, struct weir__pool, workers);
}

/* No worker is spawned from here on; so all workers stop, and their ends are
 * ignored. */
static int workers_restart(struct weir_actor *workers, struct weir_error *cause)
{
	(void)cause;
	weir__pool_workers_down(pool_of_workers(workers));
	weir__pool_flush(pool_of_workers(workers));
	weir__watch_none(workers);
	return weir_actor_stop_children(workers);
}

static int workers_restarted(struct weir_actor *workers,
			     struct weir_error *cause)
{
	(void)cause;
	weir__pool_workers_up(pool_of_workers(workers));
	return 0;
}

/* The pool stops. Its workers may take their time; requests that wait are told
 * at once. */
static int workers_stopping(struct weir_actor *workers)
{
	weir__pool_close(pool_of_workers(workers));
	weir__pool_flush(pool_of_workers(workers));
	return 0;
}

/* Of a worker that stays. */
static int worker_ended(struct weir_actor *workers,
			const struct weir_terminated *notice)
{
	weir__pool_worker_ended(pool_of_workers(workers), notice->token);
	return 0;
}

/* Called also if `stopping` was not asked, or if it has never run. */
static void workers_stopped(struct weir_actor *workers,
			    struct weir_error *error)
{
	(void)error;
	(void)workers_stopping(workers);
	if (pool_of_workers(workers)->members)
		weir__members_gone(pool_of_workers(workers), false);
	else
		weir__crew_leave(pool_of_workers(workers)->pools->system,
				 pool_of_workers(workers)->crew);
}

static void workers_released(struct weir_actor *workers)
{
	weir__pool_unref(pool_of_workers(workers));
}

/* However a worker fails, D3.5. */
static const struct weir_rule stop_it = {.directive = WEIR_DIRECTIVE_STOP};

static const struct weir_strategy workers_strategy = {
	.rules = &stop_it,
	.n_rules = 1,
};

static const struct weir_lifecycle workers_lifecycle = {
	.pre_restart = workers_restart,
	.post_restart = workers_restarted,
	.stopping = workers_stopping,
	.child_ended = worker_ended,
	.strategy = &workers_strategy,
};

static const struct weir_actor_ops workers_ops = {
	.name = "workers",
	.turns = no_turns,
	.stopped = workers_stopped,
	.released = workers_released,
	.lifecycle = &workers_lifecycle,
};

/* --- The pool's supervisor ------------------------------------------------ */

static struct weir__pool *pool_of(struct weir_actor *supervisor)
{
	return weir_container_of(supervisor, struct weir__pool, supervisor);
}

/* The server and the workers' supervisor survive the restart of their
 * supervisor, and restart after it. */
static int supervisor_restarts(struct weir_actor *supervisor,
			       struct weir_error *cause)
{
	(void)supervisor;
	(void)cause;
	return 0;
}

/* The server or the workers' supervisor was stopped, and is not restarted. */
static int part_ended(struct weir_actor *supervisor,
		      const struct weir_terminated *notice)
{
	(void)notice;
	return weir_system_stop_actor(weir_actor_system(supervisor),
				      weir_actor_self(supervisor));
}

static void supervisor_released(struct weir_actor *supervisor)
{
	weir__pool_unref(pool_of(supervisor));
}

/* --- A pool --------------------------------------------------------------- */

static void set_options(struct weir__pool *pool,
			const struct weir_pool_options *options)
{
	pool->options = *options;
	memcpy(pool->name, options->name, strlen(options->name) + 1);
	pool->options.name = pool->name;
	if (!options->queue_max)
		pool->options.queue_max = WEIR_POOL_QUEUE_DEFAULT;
	pool->strategy = (struct weir_strategy){
		.scope = WEIR_SCOPE_ALL_FOR_ONE,
		.rules = &weir__pool_rule,
		.n_rules = 1,
		.all = options->restarts ? options->restarts : &pair_limit,
		.past_limit = WEIR_PAST_LIMIT_STOP_SUPERVISOR,
		.ordered = true,
	};
	pool->lifecycle = (struct weir_lifecycle){
		.pre_restart = supervisor_restarts,
		.post_restart = supervisor_restarts,
		.child_ended = part_ended,
		.strategy = &pool->strategy,
	};
	pool->ops = (struct weir_actor_ops){
		.name = "pool",
		.turns = no_turns,
		.released = supervisor_released,
		.lifecycle = &pool->lifecycle,
	};
}

/* A worker that does not stay has ended: claims 2 and 4 of pool.c. Under the
 * system's lock. */
static void one_ended(void *context)
{
	struct weir__pool *pool = context;

	/* no order: the signal has its own */
	if (ck_pr_faa_32(&pool->n_ended, 1) == 0)
		weir_actor_signal(&pool->server);
}

/* What the pool has of workers that stay, or of those that do not. False: no
 * memory. */
static bool make_places(struct weir__pool *pool)
{
	if (pool->options.stay)
		return weir__members_new(pool) == 0;
	pool->crew = weir__crew_new(pool->pools->system,
				    pool->options.shutdown_ns, one_ended, pool);
	return pool->crew;
}

struct weir__pool *weir__pool_new(struct weir_pools *pools,
				  const struct weir_pool_options *options)
{
	struct weir_executor *executor = pools->top.executor;
	struct weir__pool *pool = weir__alloc(pools->allocator, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->pools = pools;
	set_options(pool, options);
	if (!make_places(pool)) {
		weir__free(pools->allocator, pool, sizeof(*pool));
		return NULL;
	}
	ck_pr_inc_32(&pools->alive);
	/* The pool takes jobs from the first moment. */
	pool->n_free = (uint32_t)options->limit;
	pool->open = true;
	pool->refs = 4; /* the caller's, and the actors' */
	(void)weir_actor_init(&pool->supervisor, &pool->ops, executor);
	(void)weir_actor_init(&pool->server, &server_ops, executor);
	(void)weir_actor_init(&pool->workers, &workers_ops, executor);
	return pool;
}

/*
 * Spawns the actors of a pool; those that cannot be spawned end here. The
 * supervisors have no deadline by default: only workers can take time, and each
 * of them has one.
 */
static int spawn_tree(struct weir__pool *pool)
{
	const struct weir_spawn_options supervisor = {
		.name = pool->name,
		.restart = WEIR_RESTART_PERMANENT,
	};
	static const struct weir_spawn_options server = {
		.name = "server",
		.restart = WEIR_RESTART_PERMANENT,
	};
	static const struct weir_spawn_options workers = {.name = "workers"};
	struct weir_system *system = pool->pools->system;
	int rc = weir_system_spawn(system, pool->pools->id, &pool->supervisor,
				   &supervisor, &pool->id);

	if (rc < 0)
		weir_actor_stop(&pool->supervisor);
	if (rc == 0)
		rc = weir_system_spawn(system, pool->id, &pool->server, &server,
				       &pool->server_ref);
	if (rc < 0)
		weir_actor_stop(&pool->server);
	if (rc == 0)
		rc = weir_system_spawn(system, pool->id, &pool->workers,
				       &workers, &pool->workers_ref);
	if (rc < 0)
		weir_actor_stop(&pool->workers);
	return rc;
}

int weir__pool_spawn(struct weir__pool *pool)
{
	int rc = spawn_tree(pool);

	if (rc == 0 && pool->members)
		rc = weir__members_start(pool);
	if (rc < 0)
		(void)weir_system_stop_actor(pool->pools->system, pool->id);
	return rc;
}
