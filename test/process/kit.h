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

#include "kit/world.h"

#include <weir/delay.h>
#include <weir/process_manager.h>

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

struct process_world {
	struct world base;
	struct weir_process_manager manager;
	struct weir_actor_id ref;
	struct task *tasks;
	size_t n_tasks;
	/* jobs, as they see themselves */
	uint32_t running, peak, begun;
	uint64_t since_ns;
	double area; /* running * time */
	uint32_t released;
	uint32_t lowered; /* by how much `max` ever was */
	bool asks;	  /* jobs say 1 when they are to stop */
	uint32_t asked;
	void (*replied)(struct process_world *world, struct task *task);
};

struct job {
	struct weir_process process;
	struct weir_delay delay;
	struct process_world *world;
	struct task *task;
	struct weir_actor child; /* of one that has children */
	bool begun, used;
};

/* The one that is run; tests are one thread. */
extern struct process_world *process_the_world;

struct task *task_of(struct weir_command *command);
struct job *job_of(struct weir_actor *actor);

/* --- Jobs ----------------------------------------------------------------- */

void tally(struct process_world *world, int change);
uint32_t job_turns(struct weir_actor *actor, uint32_t n);

/* It is part of its parent, which is held as long. */
void child_released(struct weir_actor *actor);

extern const struct weir_actor_ops child_ops;

int job_pre_start(struct weir_actor *actor);
int job_reset(struct weir_actor *actor);
void job_stopped(struct weir_actor *actor, struct weir_error *error);

extern const struct weir_lifecycle job_lifecycle;

extern const struct weir_actor_ops job_ops;

/* One of any manager's that has its only turn at once. */
struct brief {
	struct weir_process process;
	struct weir_in in;
};

extern const struct weir_actor_ops brief_ops;

int brief_set_up(struct weir_process *process, void *context);

/* --- Tasks ---------------------------------------------------------------- */

/* As many tasks, all of which finish after `work_ns`. */
void tasks_new(struct process_world *world, size_t n, uint64_t work_ns);

/* What weir_process_manager_offer() returns. */
int offer(struct process_world *world, size_t i);

/* So many, from the first on; how many were taken. */
size_t offer_all(struct process_world *world, size_t first, size_t n);
size_t count_outcome(const struct process_world *world,
		     enum weir_outcome outcome);
void assert_reply(const struct process_world *world, size_t i,
		  enum weir_outcome outcome, int code);

/* --- The world ------------------------------------------------------------ */

void manager_released(void *context);

/* The usual settings, to be changed; processes are jobs. */
struct weir_process_manager_options job_options(struct process_world *world,
						uint32_t max, uint32_t buffer);

/* `strategy` is /user's, over the manager. */
void process_world_init_under(struct process_world *world, uint64_t seed,
			      const struct weir_strategy *strategy);
void process_world_init(struct process_world *world, uint64_t seed);

/* Of /user: restarts whatever fails. */
extern const struct weir_strategy restarting;

/* Sets the manager up; it is not spawned yet. */
void manager_init(struct process_world *world,
		  const struct weir_process_manager_options *options);
void manager_spawn_as(struct process_world *world,
		      enum weir_restart_type restart, uint64_t shutdown_ns);
void manager_spawn(struct process_world *world, uint64_t shutdown_ns);
struct weir_process_counts counts(const struct process_world *world);

/* Changes `max`. */
void set_max(struct process_world *world, uint32_t max);

/*
 * What must hold between slices, and at rest: also that the demand is computed
 * exactly as it should be.
 */
void check_counts(const struct process_world *world);

/* The manager has ended: nothing is open any more. */
void check_over(const struct process_world *world);

/* Takes the world down, in whatever state it is. */
void process_world_fini(struct process_world *world);

/* A world with a manager of jobs that runs. */
void process_world_new(struct process_world *world, uint64_t seed, uint32_t max,
		       uint32_t buffer, size_t n_tasks, uint64_t work_ns);

#endif
