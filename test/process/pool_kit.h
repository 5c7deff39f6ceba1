/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of worker pools build from: a simulated world with a pool "a"
 * and a table of jobs. A worker is an actor that ends when its job says so, or
 * when it is told. The table is a ledger, too: every job that was handed over
 * has gone one way, once: a worker had it, or it was dropped, or it came back.
 */
#ifndef WEIR_TEST_PROCESS_POOL_KIT_H
#define WEIR_TEST_PROCESS_POOL_KIT_H

#include "kit/world.h"

#include <weir/delay.h>
#include <weir/worker_pool.h>

#include "supervision/branch.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define JOBS 100

/* What becomes of a job's worker. */
enum how {
	WAITS,	   /* until its time, or until it is told; then it finishes */
	FAILS,	   /* then, with -EIO */
	FATAL,	   /* then, with WEIR_ERROR_FATAL */
	CRASHES,   /* in its pre_start, with -EIO */
	NOT_MADE,  /* `make` returns -ENOLINK */
	NO_WORKER, /* `make` returns 0 and no worker */
	NO_SPAWN,  /* weir_system_spawn() will refuse it, -EINVAL */
	N_HOWS,
};

struct pool_world;

struct job {
	struct weir_pool_request request;
	struct pool_world *world;
	enum how how;
	uint64_t work_ns; /* 0: until it is told */
	/* what has come of it */
	uint32_t given, had, dropped, back;
	uint32_t told;	  /* calls of `started` */
	int rc;		  /* what that was told */
	uint32_t spawned; /* calls of it that were told 0 */
	uint32_t over;	  /* calls of `ended` */
	enum weir_end end;
	int code;    /* of its error */
	uint32_t at; /* its place among those for whom a worker was made */
	bool begun;  /* that has started */
	struct weir_actor_id worker;
};

struct pool_world {
	struct world base;
	struct weir_pools *pools;
	struct weir_pool_options options;
	struct weir_items items;
	struct job jobs[JOBS + 1]; /* from 1 on */
	uint32_t made, released, started, running, peak;
	bool stubborn; /* workers say 1 when they are asked to stop */
	uint32_t asked;
	/* In `make`, `started`, `ended` and `pre_start`, if set. */
	void (*in_make)(struct job *job);
	void (*in_started)(struct job *job);
	void (*in_ended)(struct job *job);
	void (*in_pre_start)(struct job *job);
	struct weir_graceful_stop stop;
	uint32_t stops;	     /* calls of its `done` */
	uint64_t stopped_ns; /* when */
};

struct worker {
	struct weir_actor actor;
	struct weir_delay delay;
	struct weir_lifecycle lifecycle;
	struct weir_actor_ops ops;
	struct weir_strategy strategy;
	struct job *job;
	bool begun;
};

extern struct pool_world pool_the_world;

/* --- Workers -------------------------------------------------------------- */

struct worker *worker_of(struct weir_actor *actor);
int worker_pre_start(struct weir_actor *actor);

/* It has had the job, unless it was never spawned. */
void worker_stopped(struct weir_actor *actor, struct weir_error *error);
void worker_released(struct weir_actor *actor);

/* --- Jobs ----------------------------------------------------------------- */

/* What the call has returned: on an error the job is back. */
int given(struct job *job, int rc);
int pool_run(struct pool_world *world, size_t i);
/* With a request, as ask(). */
int run_told(struct pool_world *world, size_t i);
int queue(struct pool_world *world, size_t i);
int ask(struct pool_world *world, size_t i);
bool cancel(struct pool_world *world, size_t i);
int queue_wait(struct pool_world *world, size_t i, uint64_t timeout_ns);
void pool_settle(struct pool_world *world);

/* Lets the worker of that job end. */
void pool_tell(struct pool_world *world, size_t i);
void pool_end(struct pool_world *world, size_t i);

/* The jobs that have started, in the order of their turns. */
const char *order(const struct pool_world *world);

#define assert_order(world, expected) \
	assert_string_equal(order(world), expected)

struct weir_pool_counts pool_counts(struct pool_world *world);

/* Free places, those that wait. */
#define assert_pool(world, n_free, n_queued) \
	do { \
		struct weir_pool_counts c_ = pool_counts(world); \
\
		assert_int_equal(c_.free, n_free); \
		assert_int_equal(c_.queued, n_queued); \
	} while (0)

/* --- The tree ------------------------------------------------------------- */

struct weir_actor_id at_path(struct pool_world *world, const char *path);

#define SERVER "/user/pools/a/server"
#define WORKERS "/user/pools/a/workers"

/* That actor fails, and what follows happens. */
void crash(struct pool_world *world, const char *path);
void stop_done(struct weir_graceful_stop *stop, int rc);
int stop_pool(struct pool_world *world);

/* --- The world ------------------------------------------------------------ */

/* Without pools, but for those that follow. */
void pool_world_init(struct pool_world *world, uint64_t seed);
void pool_world_open(struct pool_world *world);

/* A pool "a" of so many places. */
void pool_start(struct pool_world *world, uint32_t limit);
void check_jobs(const struct pool_world *world);

/* It all ends, in whatever state it is. */
void pool_world_fini(struct pool_world *world);

/* --- Rules ---------------------------------------------------------------- */

/* A test that is run once for each seed, in a world that is ended for it. */
struct rule {
	void (*run)(struct pool_world *world);
};

void pool_over_seeds(void **state);

#define RULE(name) \
	{ \
#name, pool_over_seeds, NULL, NULL, &(struct rule) \
		{ \
			name \
		} \
	}

#endif
