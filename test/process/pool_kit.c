/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/pool_kit.h"

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

struct pool_world pool_the_world;

/* --- Workers -------------------------------------------------------------- */

struct worker *worker_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct worker, actor);
}

static int worker_end(struct weir_actor *actor)
{
	enum how how = worker_of(actor)->job->how;

	return how == FAILS   ? -EIO
	       : how == FATAL ? WEIR_ERROR_FATAL
			      : weir_actor_end(actor);
}

static int worker_turn(struct weir_actor *actor)
{
	return worker_end(actor);
}
WEIR_TURN(worker_turn)

int worker_pre_start(struct weir_actor *actor)
{
	struct worker *self = worker_of(actor);
	struct job *job = self->job;
	struct pool_world *world = job->world;

	job->worker = weir_actor_self(actor);
	assert_false(job->begun);
	job->begun = true;
	world->started++;
	if (job->how == CRASHES)
		return -EIO;
	self->begun = true;
	if (++world->running > world->peak)
		world->peak = world->running;
	if (world->in_pre_start)
		world->in_pre_start(job);
	return job->work_ns ? weir_delay_for(&self->delay, job->work_ns) : 0;
}

static int worker_stopping(struct weir_actor *actor)
{
	struct pool_world *world = worker_of(actor)->job->world;

	world->asked++;
	return world->stubborn;
}

void worker_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct worker *self = worker_of(actor);

	(void)error;
	if (weir_actor_system(actor))
		self->job->had++;
	if (self->begun)
		self->job->world->running--;
}

void worker_released(struct weir_actor *actor)
{
	struct worker *self = worker_of(actor);

	self->job->world->released++;
	free(self);
}

static int job_make(void *item, struct weir_actor **actor, void *context)
{
	struct pool_world *world = context;
	struct job *job = item;
	struct worker *self;

	if (world->in_make)
		world->in_make(job);
	if (job->how == NOT_MADE) {
		*actor = context; /* which is none */
		return -ENOLINK;
	}
	if (job->how == NO_WORKER)
		return 0;
	self = calloc(1, sizeof(*self));
	assert_non_null(self);
	self->job = job;
	self->lifecycle = (struct weir_lifecycle){
		.pre_start = worker_pre_start,
		.stopping = worker_stopping,
	};
	if (job->how == NO_SPAWN) {
		self->strategy.n_rules = 1; /* and there is none */
		self->lifecycle.strategy = &self->strategy;
	}
	self->ops = (struct weir_actor_ops){
		.name = "worker",
		.turns = worker_turn_n,
		.signalled = worker_end,
		.stopped = worker_stopped,
		.released = worker_released,
		.lifecycle = &self->lifecycle,
	};
	assert_int_equal(weir_actor_init(&self->actor, &self->ops,
					 world->base.executor),
			 0);
	assert_int_equal(weir_delay_init(&self->delay, &self->actor), 0);
	job->at = ++world->made;
	*actor = &self->actor;
	return 0;
}

static void job_drop(void *item, void *context)
{
	struct job *job = item;

	assert_ptr_equal(context, job->world);
	job->dropped++;
}

/* --- Jobs ----------------------------------------------------------------- */

static void job_started(struct weir_pool_request *request, int rc,
			struct weir_actor_id worker)
{
	struct job *job = weir_container_of(request, struct job, request);

	job->told++;
	job->rc = rc;
	assert_int_equal(rc < 0,
			 weir_actor_id_equal(worker, WEIR_ACTOR_ID_NONE));
	if (rc < 0)
		job->back++;
	else
		job->worker = worker;
	job->spawned += rc == 0;
	if (job->world->in_started)
		job->world->in_started(job);
}

/* Of the worker that `started` has told of. */
static void job_ended(struct weir_pool_request *request,
		      const struct weir_terminated *notice)
{
	struct job *job = weir_container_of(request, struct job, request);

	assert_int_equal(job->over++, job->spawned - 1);
	assert_true(weir_actor_id_equal(notice->who, job->worker));
	assert_true(notice->existed);
	assert_false(
		weir_system_is_alive(job->world->base.system, job->worker));
	job->end = notice->how;
	job->code = notice->error ? notice->error->code : 0;
	if (job->world->in_ended)
		job->world->in_ended(job);
}

static struct weir_pool_request *request_of(struct job *job)
{
	job->request.started = job_started;
	job->request.ended = job_ended;
	return &job->request;
}

int given(struct job *job, int rc)
{
	job->given++;
	job->back += rc < 0;
	return rc;
}

int pool_run(struct pool_world *world, size_t i)
{
	struct job *job = &world->jobs[i];

	return given(job, weir_pool_run(world->pools, "a", job, NULL));
}

int queue(struct pool_world *world, size_t i)
{
	struct job *job = &world->jobs[i];

	return given(job, weir_pool_queue(world->pools, "a", job));
}

int ask(struct pool_world *world, size_t i)
{
	struct job *job = &world->jobs[i];

	return given(job, weir_pool_queue_async(world->pools, "a", job,
						request_of(job)));
}

int run_told(struct pool_world *world, size_t i)
{
	struct job *job = &world->jobs[i];

	return given(job, weir_pool_run_async(world->pools, "a", job,
					      request_of(job)));
}

bool cancel(struct pool_world *world, size_t i)
{
	struct job *job = &world->jobs[i];
	bool cancelled = weir_pool_cancel(world->pools, &job->request);

	job->back += cancelled;
	return cancelled;
}

int queue_wait(struct pool_world *world, size_t i, uint64_t timeout_ns)
{
	struct job *job = &world->jobs[i];

	return given(job, weir_pool_queue_wait(world->pools, "a", job,
					       timeout_ns, &job->worker));
}

void pool_settle(struct pool_world *world)
{
	while (weir_sim_step(world->base.sim))
		assert_true(!world->base.system ||
			    weir__system_check(world->base.system));
}

void pool_tell(struct pool_world *world, size_t i)
{
	struct weir_actor *actor =
		weir_system_actor(world->base.system, world->jobs[i].worker);

	assert_non_null(actor);
	weir_actor_signal(actor);
	weir_actor_unref(actor);
}

void pool_end(struct pool_world *world, size_t i)
{
	pool_tell(world, i);
	pool_settle(world);
}

const char *order(const struct pool_world *world)
{
	static char text[4 * JOBS];
	size_t length = 0, i;
	uint32_t at;

	text[0] = 0;
	for (at = 1; at <= world->made; at++)
		for (i = 1; i <= JOBS; i++)
			if (world->jobs[i].at == at && world->jobs[i].begun)
				length += (size_t)snprintf(
					text + length, sizeof(text) - length,
					"%s%zu", length ? " " : "", i);
	return text;
}

struct weir_pool_counts pool_counts(struct pool_world *world)
{
	struct weir_pool_counts counts;

	assert_int_equal(weir_pool_counts(world->pools, "a", &counts), 0);
	return counts;
}

/* --- The tree ------------------------------------------------------------- */

struct weir_actor_id at_path(struct pool_world *world, const char *path)
{
	return weir_system_lookup(world->base.system, path);
}

void crash(struct pool_world *world, const char *path)
{
	assert_int_equal(
		weir_system_kill(world->base.system, at_path(world, path)), 0);
	pool_settle(world);
}

void stop_done(struct weir_graceful_stop *stop, int rc)
{
	struct pool_world *world =
		weir_container_of(stop, struct pool_world, stop);

	assert_int_equal(rc, 0);
	world->stops++;
	world->stopped_ns = world_now(&world->base);
}

int stop_pool(struct pool_world *world)
{
	world->stop.done = stop_done;
	return weir_pool_stop_async(world->pools, "a", &world->stop);
}

/* --- The world ------------------------------------------------------------ */

void pool_world_init(struct pool_world *world, uint64_t seed)
{
	size_t i;

	memset(world, 0, sizeof(*world));
	world_init(&world->base, seed, 0);
	for (i = 1; i <= JOBS; i++)
		world->jobs[i].world = world;
	world->items = (struct weir_items){
		.drop = job_drop,
		.context = world,
	};
	world->options = (struct weir_pool_options){
		.name = "a",
		.make = job_make,
		.context = world,
		.jobs = &world->items,
	};
}

void pool_world_open(struct pool_world *world)
{
	assert_int_equal(weir_system_new(&world->base.system,
					 world->base.executor, &silent),
			 0);
	assert_int_equal(
		weir_pools_new(&world->pools, world->base.system, NULL), 0);
}

void pool_start(struct pool_world *world, uint32_t limit)
{
	world->options.limit = limit;
	assert_int_equal(weir_pool_start(world->pools, &world->options), 0);
}

void check_jobs(const struct pool_world *world)
{
	const struct job *job;

	for (job = world->jobs + 1; job <= world->jobs + JOBS; job++) {
		assert_int_equal(job->had + job->dropped + job->back,
				 job->given);
		assert_in_range(job->told, 0, job->given);
		assert_int_equal(job->over, job->spawned);
	}
	assert_int_equal(world->made, world->released);
	assert_int_equal(world->running, 0);
}

void pool_world_fini(struct pool_world *world)
{
	weir_pools_stop(world->pools);
	pool_settle(world);
	assert_int_equal(weir_pools_free(world->pools), 0);
	weir_system_stop(world->base.system);
	pool_settle(world);
	world_fini(&world->base);
	check_jobs(world);
}

/* --- Rules ---------------------------------------------------------------- */

void pool_over_seeds(void **state)
{
	const struct rule *rule = *state;

	for_each_seed(seed, test_count(test_soak() ? 5000 : 200)) {
		pool_world_init(&pool_the_world, seed);
		pool_world_open(&pool_the_world);
		rule->run(&pool_the_world);
		pool_world_fini(&pool_the_world);
	}
}
