/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Supervision. A boss spawns a worker, watches it, and has a strategy for its
 * failures: restart it, but wait before, and longer each time. Five jobs of six
 * are bad. A bad job is lost; those behind it stay in the worker's queue. The
 * clock is the simulator's, so a minute and a half passes at once.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weir/weir.h>

#define SECOND 1000000000ull

enum { GOOD = 1, BAD = 2 }; /* jobs */

static void say(struct weir_executor *executor, const char *who,
		const char *what)
{
	printf("%2llu s  %-6s  %s\n",
	       (unsigned long long)(weir_executor_now(executor) / SECOND), who,
	       what);
}

/* --- The worker ----------------------------------------------------------- */

struct worker {
	struct weir_actor actor;
	struct weir_in jobs;
};

static inline int work(struct weir_actor *actor)
{
	struct worker *self = weir_container_of(actor, struct worker, actor);

	if ((uintptr_t)weir_in_take(&self->jobs) == BAD)
		return -EIO; /* fails: suspended until the boss decides */
	say(actor->executor, "worker", "has done a job");
	return 0;
}
WEIR_TURN(work)

static int worker_starts(struct weir_actor *actor)
{
	say(actor->executor, "worker", "starts");
	return 0;
}

static int worker_restarts(struct weir_actor *actor, struct weir_error *cause)
{
	(void)cause;
	say(actor->executor, "worker", "starts again");
	return 0;
}

static const struct weir_lifecycle worker_life = {.pre_start = worker_starts,
						  .post_restart =
							  worker_restarts};
static const struct weir_actor_ops worker_ops = {.name = "worker",
						 .turns = work_n,
						 .lifecycle = &worker_life};

/* --- The boss ------------------------------------------------------------- */

struct boss {
	struct weir_actor actor;
	struct worker *worker;
};

static int boss_starts(struct weir_actor *actor)
{
	struct boss *self = weir_container_of(actor, struct boss, actor);
	struct weir_actor_id worker;
	int rc = weir_system_spawn(
		weir_actor_system(actor), weir_actor_self(actor),
		&self->worker->actor,
		&(struct weir_spawn_options){.name = "worker"}, &worker);

	return rc < 0 ? rc : weir_actor_watch(actor, worker, NULL);
}

/* Once, at the worker's end; restarts are no end. */
static int boss_is_told(struct weir_actor *actor,
			const struct weir_terminated *notice)
{
	say(actor->executor, "boss",
	    notice->error ? "is told: it failed" : "is told: it finished");
	return weir_actor_end(actor);
}

/* Without jitter the delays are 3, 6, 12, 24, 30, 30, ... seconds. */
static const struct weir_backoff patience = {.min_ns = 3 * SECOND,
					     .max_ns = 30 * SECOND};
static const struct weir_strategy restart_later = {.backoff = &patience};
static const struct weir_lifecycle boss_life = {.pre_start = boss_starts,
						.terminated = boss_is_told,
						.strategy = &restart_later};
static const struct weir_actor_ops boss_ops = {.name = "boss",
					       .lifecycle = &boss_life};

/* The system tells what its supervisors decide. */
static void decided(const struct weir_supervision_event *event, void *executor)
{
	if (event->directive == WEIR_DIRECTIVE_RESTART)
		say(executor, event->name, strerror(-event->error->code));
}

int main(void)
{
	struct weir_system_options options = {.event = decided};
	struct weir_executor *executor;
	struct weir_system *system;
	struct worker worker;
	struct boss boss = {.worker = &worker};
	struct weir_sim *sim;
	int i;

	if (weir_sim_new(&sim, 1, NULL) < 0)
		return 1;
	options.context = executor = weir_sim_executor(sim);
	if (weir_system_new(&system, executor, &options) < 0 ||
	    weir_actor_init(&worker.actor, &worker_ops, executor) < 0 ||
	    weir_in_init(&worker.jobs, &worker.actor, 8, NULL) < 0 ||
	    weir_actor_init(&boss.actor, &boss_ops, executor) < 0)
		return 1;
	for (i = 0; i < 6; i++)
		if (weir_in_put(&worker.jobs,
				(void *)(uintptr_t)(i < 5 ? BAD : GOOD)) < 0)
			return 1;
	weir_in_end(&worker.jobs, NULL); /* behind them the worker finishes */
	if (weir_system_spawn(system, WEIR_ACTOR_ID_NONE, &boss.actor, NULL,
			      NULL) < 0)
		return 1;
	weir_sim_run(sim);
	weir_system_stop(system);
	weir_sim_run(sim);
	return weir_system_free(system) < 0 || weir_sim_free(sim) < 0;
}
