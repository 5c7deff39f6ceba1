/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/kit.h"

struct process_world *process_the_world;

struct task *task_of(struct weir_command *command)
{
	return weir_container_of(command, struct task, command);
}

struct job *job_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct job, process.actor);
}

/* --- Jobs ----------------------------------------------------------------- */

void tally(struct process_world *world, int change)
{
	world->area += world->running *
		       (double)(world_now(&world->base) - world->since_ns);
	world->since_ns = world_now(&world->base);
	world->running += (uint32_t)change;
	if (world->running > world->peak)
		world->peak = world->running;
}

static int job_turn(struct weir_actor *actor)
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

uint32_t job_turns(struct weir_actor *actor, uint32_t n)
{
	return job_turn_n(actor, n);
}

void child_released(struct weir_actor *actor)
{
	struct job *parent = weir_container_of(actor, struct job, child);

	weir_actor_unref(&parent->process.actor);
}

const struct weir_actor_ops child_ops = {
	.name = "child",
	.turns = job_turn_n, /* never: it has no port */
	.released = child_released,
};

static int job_bear(struct job *self)
{
	int rc = weir_actor_init(&self->child, &child_ops,
				 self->world->base.executor);

	assert_int_equal(rc, 0);
	weir_actor_ref(&self->process.actor);
	rc = weir_system_spawn(self->world->base.system, self->process.self,
			       &self->child, NULL, NULL);
	if (rc < 0)
		weir_actor_stop(&self->child);
	return rc;
}

int job_pre_start(struct weir_actor *actor)
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

static int job_stopping(struct weir_actor *actor)
{
	struct process_world *world = job_of(actor)->world;

	world->asked += world->asks;
	return world->asks;
}

void job_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct job *self = job_of(actor);

	(void)error;
	if (self->begun)
		tally(self->world, -1);
	self->begun = false;
}

/* As new, but for what `start` has set up. */
int job_reset(struct weir_actor *actor)
{
	job_stopped(actor, NULL);
	return 0;
}

const struct weir_lifecycle job_lifecycle = {
	.pre_start = job_pre_start,
	.reset = job_reset,
	.stopping = job_stopping,
};

const struct weir_actor_ops job_ops = {
	.name = "job",
	.turns = job_turn_n,
	.stopped = job_stopped,
	.lifecycle = &job_lifecycle,
};

static int job_set_up(struct weir_process *process, void *context)
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

static int brief_turn(struct weir_actor *actor)
{
	return WEIR_TURN_END;
}
WEIR_TURN(brief_turn)

const struct weir_actor_ops brief_ops = {
	.name = "brief",
	.turns = brief_turn_n,
};

int brief_set_up(struct weir_process *process, void *context)
{
	struct brief *self = weir_container_of(process, struct brief, process);
	int rc = weir_in_init(&self->in, &process->actor, 1, NULL);

	return rc ? rc : weir_in_put(&self->in, self);
}

/* --- Tasks ---------------------------------------------------------------- */

static void task_reply(struct weir_command *command, enum weir_outcome outcome,
		       struct weir_error *error)
{
	struct task *task = task_of(command);

	assert_true(task->taken);
	assert_int_equal(task->replies++, 0);
	assert_in_range(outcome, 0, WEIR_OUTCOME_COUNT - 1);
	assert_int_equal(!error, outcome == WEIR_OUTCOME_DONE);
	task->outcome = outcome;
	task->code = error ? error->code : 0;
	task->at_ns = world_now(&process_the_world->base);
	if (process_the_world->replied)
		process_the_world->replied(process_the_world, task);
}

void tasks_new(struct process_world *world, size_t n, uint64_t work_ns)
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

int offer(struct process_world *world, size_t i)
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

size_t offer_all(struct process_world *world, size_t first, size_t n)
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

size_t count_outcome(const struct process_world *world,
		     enum weir_outcome outcome)
{
	size_t n = 0, i;

	for (i = 0; i < world->n_tasks; i++)
		n += world->tasks[i].replies &&
		     world->tasks[i].outcome == outcome;
	return n;
}

void assert_reply(const struct process_world *world, size_t i,
		  enum weir_outcome outcome, int code)
{
	assert_int_equal(world->tasks[i].replies, 1);
	assert_int_equal(world->tasks[i].outcome, outcome);
	assert_int_equal(world->tasks[i].code, code);
}

/* --- The world ------------------------------------------------------------ */

void manager_released(void *context)
{
	((struct process_world *)context)->released++;
}

struct weir_process_manager_options job_options(struct process_world *world,
						uint32_t max, uint32_t buffer)
{
	return (struct weir_process_manager_options){
		.context = world,
		.process = &job_ops,
		.process_size = sizeof(struct job),
		.set_up = job_set_up,
		.max = max,
		.buffer = buffer,
		.released = manager_released,
	};
}

static const struct weir_rule always[] = {
	{.directive = WEIR_DIRECTIVE_RESTART},
};

const struct weir_strategy restarting = {.rules = always, .n_rules = 1};

void process_world_init_under(struct process_world *world, uint64_t seed,
			      const struct weir_strategy *strategy)
{
	struct weir_system_options system_options = {.strategy = strategy};

	memset(world, 0, sizeof(*world));
	process_the_world = world;
	world_init(&world->base, seed, 0);
	world_system(&world->base, &system_options);
}

void process_world_init(struct process_world *world, uint64_t seed)
{
	process_world_init_under(world, seed, NULL);
}

void manager_init(struct process_world *world,
		  const struct weir_process_manager_options *options)
{
	assert_int_equal(weir_process_manager_init(&world->manager,
						   world->base.executor,
						   options),
			 0);
	weir_actor_ref(&world->manager.actor);
}

void manager_spawn_as(struct process_world *world,
		      enum weir_restart_type restart, uint64_t shutdown_ns)
{
	struct weir_spawn_options options = {.name = "manager",
					     .restart = restart,
					     .shutdown_ns = shutdown_ns};

	assert_int_equal(
		weir_system_spawn(world->base.system, WEIR_ACTOR_ID_NONE,
				  &world->manager.actor, &options, &world->ref),
		0);
}

void manager_spawn(struct process_world *world, uint64_t shutdown_ns)
{
	manager_spawn_as(world, WEIR_RESTART_TRANSIENT, shutdown_ns);
}

struct weir_process_counts counts(const struct process_world *world)
{
	struct weir_process_counts counts;

	weir_process_manager_counts(&world->manager, &counts);
	return counts;
}

void set_max(struct process_world *world, uint32_t max)
{
	uint32_t lowered = (uint32_t)world->manager.options.max - max;

	assert_int_equal(weir_process_manager_set_max(&world->manager, max), 0);
	if (lowered > world->lowered)
		world->lowered = lowered;
}

/*
 * The demand law. Of a publisher there is a permit for each free place. Of
 * offers there is one for each command that was asked for and has not started;
 * those and the processes are at most `max`; and an offer has credit if it was
 * asked for or there is room in front.
 */
static void check_law(const struct process_world *world,
		      const struct weir_process_counts *c)
{
	const struct weir_process_manager *manager = &world->manager;
	int64_t asked = weir_permits_count(&manager->may);
	int64_t wait = (int64_t)(c->waiting + c->queue);

	if (manager->subscribes) {
		assert_int_equal(asked, (int64_t)manager->max -
						(int64_t)manager->n_busy);
		return;
	}
	assert_true(asked >= 0);
	assert_true(asked == 0 || asked + manager->n_busy <= manager->max);
	assert_int_equal(manager->credit,
			 (int64_t)manager->options.buffer + asked - wait);
}

void check_counts(const struct process_world *world)
{
	const struct weir_process_manager_options *options =
		&world->manager.options;
	struct weir_process_counts c = counts(world);

	assert_in_range(c.processing, 0, options->max);
	assert_in_range(c.peak, c.processing, options->max);
	assert_in_range(c.queue + c.processing, 0, options->max);
	assert_in_range(c.waiting, 0, options->buffer + world->lowered);
	/* the rest was refused when it was closed */
	assert_in_range(c.waiting + c.queue + c.taken, 0, c.accepted);
	if (!ck_pr_load_32(&world->manager.closed)) {
		assert_int_equal(c.accepted, c.waiting + c.queue + c.taken);
		check_law(world, &c);
	}
	assert_in_range(world->peak, 0, options->max);
}

void check_over(const struct process_world *world)
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

void process_world_fini(struct process_world *world)
{
	weir_process_manager_end(&world->manager);
	if (weir_actor_id_equal(world->ref, WEIR_ACTOR_ID_NONE))
		weir_actor_stop(&world->manager.actor);
	world_stop(&world->base);
	check_over(world);
	assert_int_equal(world->released, 0);
	weir_actor_unref(&world->manager.actor);
	weir_sim_run(world->base.sim);
	assert_int_equal(world->released, 1);
	world_fini(&world->base);
	free(world->tasks);
}

void process_world_new(struct process_world *world, uint64_t seed, uint32_t max,
		       uint32_t buffer, size_t n_tasks, uint64_t work_ns)
{
	struct weir_process_manager_options options;

	process_world_init(world, seed);
	tasks_new(world, n_tasks, work_ns);
	options = job_options(world, max, buffer);
	manager_init(world, &options);
	manager_spawn(world, 0);
	weir_sim_run(world->base.sim);
}
