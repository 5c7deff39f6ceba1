/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W4 with the library, on a thread pool with default options. A job is a
 * command with a buffer of 1024 in front; its reply offers it again.
 *
 * `weir`: processes are calls. `weir.later`: they are, and end by
 * weir_command_end(). `weir.actors`: they are actors, which do the work in
 * their first turn. `weir.pool`: jobs are queued at a worker pool, whose
 * workers are actors.
 */
#include <errno.h>
#include <stdlib.h>

#include <weir/process_manager.h>
#include <weir/worker_pool.h>

#include "pool.h"
#include "w4.h"
#include "who.h"

struct job {
	/* A line of its own: two workers have neighbours. */
	_Alignas(BENCH_CACHELINE) struct w4_job w4;
	struct weir_command command;
	struct run *run;
	struct weir_actor worker; /* of the worker pool */
};

struct run {
	struct w4 w4;
	struct pool pool;
	struct weir_system *system;
	struct weir_process_manager manager;
	struct weir_pools *pools;
	struct job *jobs;
};

static struct job *job_of(struct weir_command *command)
{
	return weir_container_of(command, struct job, command);
}

/* Nothing fails here: there is room and memory. */
static void must(int rc)
{
	if (rc < 0)
		abort();
}

/* The work is done. False: the job has ended for good. */
static bool goes_on(struct job *job)
{
	struct run *run = job->run;

	if (w4_goes_on(&job->w4))
		return true;
	if (w4_ends(&job->w4)) {
		w4_end(&run->w4);
		pool_finished(&run->pool);
	}
	return false;
}

/* --- The process manager -------------------------------------------------- */

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct job *job = job_of(command);

	must(outcome == WEIR_OUTCOME_DONE ? 0 : -EIO);
	if (goes_on(job))
		must(weir_process_manager_offer(&job->run->manager, command));
}

static int call(struct weir_command *command, void *context)
{
	w4_do(&job_of(command)->w4);
	return 0;
}

static int call_later(struct weir_command *command, void *context)
{
	w4_do(&job_of(command)->w4);
	weir_command_end(command, 0);
	return WEIR_RUN_LATER;
}

/* --- Processes and workers that are actors ------------------------------- */

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static int process_does(struct weir_actor *actor)
{
	struct weir_process *process =
		weir_container_of(actor, struct weir_process, actor);

	w4_do(&job_of(process->command)->w4);
	return weir_actor_end(actor);
}

static const struct weir_lifecycle process_life = {.pre_start = process_does};
static const struct weir_actor_ops process_ops = {
	.name = "process",
	.turns = no_turns,
	.lifecycle = &process_life,
};

static struct job *job_of_worker(struct weir_actor *worker)
{
	return weir_container_of(worker, struct job, worker);
}

static int worker_does(struct weir_actor *worker)
{
	w4_do(&job_of_worker(worker)->w4);
	return weir_actor_end(worker);
}

static void worker_released(struct weir_actor *worker)
{
	struct job *job = job_of_worker(worker);

	if (goes_on(job))
		must(weir_pool_queue(job->run->pools, "w4", job));
}

static const struct weir_lifecycle worker_life = {.pre_start = worker_does};
static const struct weir_actor_ops worker_ops = {
	.name = "worker",
	.turns = no_turns,
	.released = worker_released,
	.lifecycle = &worker_life,
};

static int make_worker(void *job, struct weir_actor **worker, void *context)
{
	struct run *run = context;

	*worker = &((struct job *)job)->worker;
	return weir_actor_init(*worker, &worker_ops, run->pool.executor);
}

/* --- Runs ----------------------------------------------------------------- */

static struct run *run_new(const struct bench_cell *cell, uint64_t items)
{
	struct run *run = bench_alloc(sizeof(*run));

	w4_init(&run->w4, cell, items);
	run->jobs = bench_alloc(W4_QUEUE * sizeof(*run->jobs));
	must(pool_open(&run->pool, cell->workers));
	must(weir_system_new(&run->system, run->pool.executor, NULL));
	for (unsigned i = 0; i < W4_QUEUE; i++) {
		run->jobs[i].run = run;
		run->jobs[i].command.reply = reply;
	}
	return run;
}

/* Queues all jobs and waits until the last one has ended. */
static void measure(struct run *run, int (*queue)(struct job *job),
		    struct bench_result *result)
{
	unsigned n = 0;

	while (n < W4_QUEUE && w4_job_init(&run->jobs[n].w4, &run->w4, n))
		n++;
	pool_start(&run->pool);
	w4_start(&run->w4);
	for (unsigned i = 0; i < n; i++)
		must(queue(&run->jobs[i]));
	pool_wait(&run->pool, result);
	for (unsigned i = 0; i < n; i++)
		w4_add(&run->jobs[i].w4, result);
	w4_figures(&run->w4, result);
}

/* What runs in the system is about to end. */
static int run_free(struct run *run)
{
	int rc;

	weir_system_stop(run->system);
	rc = weir_completion_wait(weir_system_terminated(run->system),
				  WEIR_FOREVER);
	if (rc == 0)
		rc = weir_pools_free(run->pools);
	if (rc == 0)
		rc = weir_system_free(run->system);
	if (rc == 0)
		rc = pool_close(&run->pool);
	bench_free(run->jobs);
	bench_free(run);
	return rc;
}

static int offer(struct job *job)
{
	return weir_process_manager_offer(&job->run->manager, &job->command);
}

static int manage(const struct bench_cell *cell, uint64_t items,
		  struct weir_process_manager_options options,
		  struct bench_result *result)
{
	struct run *run = run_new(cell, items);

	options.max = cell->window;
	options.buffer = W4_QUEUE;
	options.runners = cell->workers;
	must(weir_process_manager_init(&run->manager, run->pool.executor,
				       &options));
	weir_actor_ref(&run->manager.actor);
	must(weir_system_spawn(run->system, WEIR_ACTOR_ID_NONE,
			       &run->manager.actor, NULL, NULL));
	measure(run, offer, result);
	weir_actor_unref(&run->manager.actor);
	return run_free(run);
}

int w4_weir(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return manage(cell, items,
		      (struct weir_process_manager_options){.run = call},
		      result);
}

int w4_weir_later(const struct bench_cell *cell, uint64_t items,
		  struct bench_result *result)
{
	return manage(cell, items,
		      (struct weir_process_manager_options){.run = call_later},
		      result);
}

int w4_weir_actors(const struct bench_cell *cell, uint64_t items,
		   struct bench_result *result)
{
	const struct weir_process_manager_options options = {
		.process = &process_ops,
		.process_size = sizeof(struct weir_process),
	};

	return manage(cell, items, options, result);
}

static int queue(struct job *job)
{
	return weir_pool_queue(job->run->pools, "w4", job);
}

int w4_weir_pool(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	struct run *run = run_new(cell, items);
	const struct weir_pool_options options = {
		.name = "w4",
		.limit = cell->window,
		.make = make_worker,
		.context = run,
		.queue_max = W4_QUEUE,
	};

	must(weir_pools_new(&run->pools, run->system, NULL));
	must(weir_pool_start(run->pools, &options));
	measure(run, queue, result);
	return run_free(run);
}
