/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the process manager build from: a simulated world with a
 * manager, and a table of tasks. A task is a command and what its process is to
 * do; the process is a *job*, an actor that waits as long as its task says and
 * then ends as it says. The table is a ledger, too: every command that was
 * taken is replied to once, and no other.
 */
#ifndef WEIR_TEST_PROCESS_KIT_H
#define WEIR_TEST_PROCESS_KIT_H

#include "actor/kit.h"

#include <weir/completion.h>
#include <weir/delay.h>
#include <weir/process_manager.h>
#include <weir/system.h>

#include "supervision/cell.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)

/* How a job ends. */
enum how {
	FINISHES,
	FAILS,	      /* with -EIO */
	CRASHES,      /* in its pre_start, with -EIO */
	WORLD_ENDS,   /* fails with WEIR_ERROR_FATAL */
	GOES_ON,      /* never ends by itself */
	NOT_SET_UP,   /* `start` returns -ENOLINK */
	HAS_CHILDREN, /* it spawns one, and finishes */
};

struct task {
	struct weir_command command;
	enum how how;
	uint64_t work_ns;
	/* what has come of it */
	bool taken; /* offered with 0, or sent */
	uint32_t replies;
	enum weir_outcome outcome;
	int code;
	uint64_t at_ns; /* of the reply */
	uint32_t begun; /* its place among those that have begun; 0: not */
	struct weir_actor_id ref; /* of its process */
};

struct world {
	struct weir_sim *sim;
	struct weir_executor *executor;
	struct weir_system *system;
	struct heap heap;
	struct weir_process_manager manager;
	struct weir_actor_id ref;
	struct task *tasks;
	size_t n_tasks;
	/* jobs, as they see themselves */
	uint32_t running, peak, begun;
	uint64_t since_ns;
	double area; /* running * time */
	uint32_t released;
	bool asks; /* jobs say 1 when they are to stop */
	uint32_t asked;
	void (*replied)(struct world *world, struct task *task);
};

struct job {
	struct weir_process process;
	struct weir_delay delay;
	struct world *world;
	struct task *task;
	struct weir_actor child; /* of one that has children */
	bool begun, used;
};

/* The one that is run; tests are one thread. */
static struct world *the_world;

static inline struct task *task_of(struct weir_command *command)
{
	return weir_container_of(command, struct task, command);
}

static inline struct job *job_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct job, process.actor);
}

static inline uint64_t now(const struct world *world)
{
	return weir_executor_now(world->executor);
}

/* --- Jobs ----------------------------------------------------------------- */

static inline void tally(struct world *world, int change)
{
	world->area += world->running * (double)(now(world) - world->since_ns);
	world->since_ns = now(world);
	world->running += (uint32_t)change;
	if (world->running > world->peak)
		world->peak = world->running;
}

static inline int job_turn(struct weir_actor *actor)
{
	switch (job_of(actor)->task->how) {
	case FAILS:
		return -EIO;
	case WORLD_ENDS:
		return WEIR_ERROR_FATAL;
	default:
		return WEIR_TURN_END;
	}
}
WEIR_TURN(job_turn)

/* It is part of its parent, which is held as long. */
static inline void child_released(struct weir_actor *actor)
{
	struct job *parent = weir_container_of(actor, struct job, child);

	weir_actor_unref(&parent->process.actor);
}

static const struct weir_actor_ops child_ops = {
	.name = "child",
	.turns = job_turn_n, /* never: it has no port */
	.released = child_released,
};

static inline int job_bear(struct job *self)
{
	int rc = weir_actor_init(&self->child, &child_ops,
				 self->world->executor);

	assert_int_equal(rc, 0);
	weir_actor_ref(&self->process.actor);
	rc = weir_system_spawn(self->world->system, self->process.self,
			       &self->child, NULL, NULL);
	if (rc < 0)
		weir_actor_stop(&self->child);
	return rc;
}

static inline int job_pre_start(struct weir_actor *actor)
{
	struct job *self = job_of(actor);
	struct task *task = self->task;
	int rc = 0;

	if (task->how == CRASHES)
		return -EIO;
	self->begun = true;
	tally(self->world, 1);
	task->begun = ++self->world->begun;
	assert_ptr_equal(self->process.command, &task->command);
	assert_true(weir_actor_id_equal(self->process.self,
					weir_actor_self(actor)));
	task->ref = self->process.self;
	if (task->how == HAS_CHILDREN)
		rc = job_bear(self);
	return rc ? rc
		  : weir_delay_for(&self->delay, task->how == GOES_ON
							 ? WEIR_FOREVER
							 : task->work_ns);
}

static inline int job_stopping(struct weir_actor *actor)
{
	struct world *world = job_of(actor)->world;

	world->asked += world->asks;
	return world->asks;
}

static inline void job_stopped(struct weir_actor *actor,
			       struct weir_error *error)
{
	struct job *self = job_of(actor);

	(void)error;
	if (self->begun)
		tally(self->world, -1);
	self->begun = false;
}

static const struct weir_lifecycle job_lifecycle = {
	.pre_start = job_pre_start,
	.stopping = job_stopping,
};

static const struct weir_actor_ops job_ops = {
	.name = "job",
	.turns = job_turn_n,
	.stopped = job_stopped,
	.lifecycle = &job_lifecycle,
};

static inline int job_start(struct weir_process *process, void *context)
{
	struct job *self = weir_container_of(process, struct job, process);
	int rc;

	/* set up anew for each command */
	assert_false(self->used);
	self->used = true;
	self->world = context;
	self->task = task_of(process->command);
	rc = weir_delay_init(&self->delay, &process->actor);
	return rc == 0 && self->task->how == NOT_SET_UP ? -ENOLINK : rc;
}

/* --- Tasks ---------------------------------------------------------------- */

static inline void task_reply(struct weir_command *command,
			      enum weir_outcome outcome,
			      struct weir_error *error)
{
	struct task *task = task_of(command);

	assert_true(task->taken);
	assert_int_equal(task->replies++, 0);
	assert_in_range(outcome, 0, WEIR_OUTCOME_COUNT - 1);
	assert_int_equal(!error, outcome == WEIR_OUTCOME_DONE);
	task->outcome = outcome;
	task->code = error ? error->code : 0;
	task->at_ns = now(the_world);
	if (the_world->replied)
		the_world->replied(the_world, task);
}

/* As many tasks, all of which finish after `work_ns`. */
static inline void tasks_new(struct world *world, size_t n, uint64_t work_ns)
{
	size_t i;

	world->tasks = calloc(n ? n : 1, sizeof(*world->tasks));
	assert_non_null(world->tasks);
	world->n_tasks = n;
	for (i = 0; i < n; i++) {
		world->tasks[i].command.reply = task_reply;
		world->tasks[i].work_ns = work_ns;
	}
}

/* What weir_process_manager_offer() returns. */
static inline int offer(struct world *world, size_t i)
{
	struct task *task = &world->tasks[i];
	int rc;

	task->taken = true; /* it may be over before this returns */
	rc = weir_process_manager_offer(&world->manager, &task->command);
	if (rc < 0) {
		assert_int_equal(task->replies, 0);
		task->taken = false;
	}
	return rc;
}

/* So many, from the first on; how many were taken. */
static inline size_t offer_all(struct world *world, size_t first, size_t n)
{
	size_t taken = 0, i;
	int rc;

	for (i = first; i < first + n; i++) {
		rc = offer(world, i);
		assert_true(rc == 0 || rc == -ENOBUFS);
		taken += rc == 0;
	}
	return taken;
}

static inline size_t count_outcome(const struct world *world,
				   enum weir_outcome outcome)
{
	size_t n = 0, i;

	for (i = 0; i < world->n_tasks; i++)
		n += world->tasks[i].replies &&
		     world->tasks[i].outcome == outcome;
	return n;
}

static inline void assert_reply(const struct world *world, size_t i,
				enum weir_outcome outcome, int code)
{
	assert_int_equal(world->tasks[i].replies, 1);
	assert_int_equal(world->tasks[i].outcome, outcome);
	assert_int_equal(world->tasks[i].code, code);
}

/* --- The world ------------------------------------------------------------ */

static inline void manager_released(void *context)
{
	((struct world *)context)->released++;
}

/* The usual settings, to be changed; processes are jobs. */
static inline struct weir_process_manager_options job_options(
	struct world *world, uint32_t max, uint32_t buffer)
{
	return (struct weir_process_manager_options){
		.context = world,
		.process = &job_ops,
		.process_size = sizeof(struct job),
		.start = job_start,
		.max = max,
		.buffer = buffer,
		.released = manager_released,
	};
}

/* `strategy` is /user's, over the manager. */
static inline void world_init_under(struct world *world, uint64_t seed,
				    const struct weir_strategy *strategy)
{
	struct weir_system_options system_options = {.strategy = strategy};
	struct weir_executor_options options = {0};

	memset(world, 0, sizeof(*world));
	the_world = world;
	heap_init(&world->heap, 0);
	options.allocator = &world->heap.allocator;
	assert_int_equal(weir_sim_new(&world->sim, seed, &options), 0);
	world->executor = weir_sim_executor(world->sim);
	assert_int_equal(weir_system_new(&world->system, world->executor,
					 &system_options),
			 0);
	weir_sim_run(world->sim);
}

static inline void world_init(struct world *world, uint64_t seed)
{
	world_init_under(world, seed, NULL);
}

/* Sets the manager up; it is not spawned yet. */
static inline void manager_init(
	struct world *world, const struct weir_process_manager_options *options)
{
	assert_int_equal(weir_process_manager_init(&world->manager,
						   world->executor, options),
			 0);
	weir_actor_ref(&world->manager.actor);
}

static inline void manager_spawn_as(struct world *world,
				    enum weir_restart_type restart,
				    uint64_t shutdown_ns)
{
	struct weir_spawn_options options = {.name = "manager",
					     .restart = restart,
					     .shutdown_ns = shutdown_ns};

	assert_int_equal(weir_system_spawn(world->system, WEIR_ACTOR_ID_NONE,
					   &world->manager.actor, &options,
					   &world->ref),
			 0);
}

static inline void manager_spawn(struct world *world, uint64_t shutdown_ns)
{
	manager_spawn_as(world, WEIR_RESTART_TRANSIENT, shutdown_ns);
}

static inline struct weir_process_counts counts(const struct world *world)
{
	struct weir_process_counts counts;

	weir_process_manager_counts(&world->manager, &counts);
	return counts;
}

/* What must hold at any time, and at rest. */
static inline void check_counts(const struct world *world)
{
	const struct weir_process_manager_options *options =
		&world->manager.options;
	struct weir_process_counts c = counts(world);

	assert_in_range(c.processing, 0, options->max);
	assert_in_range(c.peak, c.processing, options->max);
	assert_in_range(c.queue + c.processing, 0, options->max);
	assert_in_range(c.waiting, 0, options->buffer);
	/* the rest was refused when it was closed */
	assert_in_range(c.waiting + c.queue + c.taken, 0, c.accepted);
	if (!ck_pr_load_32(&world->manager.closed))
		assert_int_equal(c.accepted, c.waiting + c.queue + c.taken);
	assert_in_range(world->peak, 0, options->max);
}

/* The manager has ended: nothing is open any more. */
static inline void check_over(const struct world *world)
{
	struct weir_process_counts c = counts(world);
	uint64_t sum = 0;
	size_t i, dropped;

	/* Of a stream the manager knows only what it has taken. */
	dropped = count_outcome(world, WEIR_OUTCOME_REFUSED) -
		  c.outcomes[WEIR_OUTCOME_REFUSED];
	assert_true(dropped == 0 || world->manager.subscribes);
	c.outcomes[WEIR_OUTCOME_REFUSED] += dropped;
	for (i = 0; i < WEIR_OUTCOME_COUNT; i++) {
		assert_int_equal(c.outcomes[i],
				 count_outcome(world, (enum weir_outcome)i));
		sum += c.outcomes[i];
	}
	for (i = 0; i < world->n_tasks; i++)
		assert_int_equal(world->tasks[i].replies,
				 world->tasks[i].taken);
	assert_int_equal(c.started, sum - c.outcomes[WEIR_OUTCOME_REFUSED]);
	assert_int_equal(world->running, 0);
}

/* Takes the world down, in whatever state it is. */
static inline void world_fini(struct world *world)
{
	weir_process_manager_end(&world->manager);
	if (weir_actor_id_equal(world->ref, WEIR_ACTOR_ID_NONE))
		weir_actor_stop(&world->manager.actor);
	weir_system_stop(world->system);
	weir_sim_run(world->sim);
	check_over(world);
	assert_int_equal(world->released, 0);
	weir_actor_unref(&world->manager.actor);
	weir_sim_run(world->sim);
	assert_int_equal(world->released, 1);
	assert_true(
		weir_completion_done(weir_system_terminated(world->system)));
	assert_int_equal(weir_system_free(world->system), 0);
	sim_free(world->sim);
	assert_int_equal(world->heap.live, 0);
	free(world->tasks);
}

/* A world with a manager of jobs that runs. */
static inline void world_new(struct world *world, uint64_t seed, uint32_t max,
			     uint32_t buffer, size_t n_tasks, uint64_t work_ns)
{
	struct weir_process_manager_options options;

	world_init(world, seed);
	tasks_new(world, n_tasks, work_ns);
	options = job_options(world, max, buffer);
	manager_init(world, &options);
	manager_spawn(world, 0);
	weir_sim_run(world->sim);
}

#endif
