/* SPDX-License-Identifier: BSD-2-Clause */
/* Rule numbers like B8.11 are those of docs/conformance/supervision.md. */
#include "supervision/backoff_kit.h"

/* --- The child ------------------------------------------------------------ */

struct child *child_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct child, actor);
}

int child_turn(struct weir_actor *actor)
{
	struct child *self = child_of(actor);
	size_t i = ledger_deliver(&self->world->base.ledger,
				  weir_in_take(&self->in));

	switch (self->world->what[i]) {
	case FAIL:
		return -EIO;
	case FATAL:
		return WEIR_ERROR_FATAL;
	case FINISH:
	case LAST:
		return WEIR_TURN_END;
	default:
		return 0;
	}
}
WEIR_TURN(child_turn)

static int child_pre_start(struct weir_actor *actor)
{
	struct backoff_world *world = child_of(actor)->world;

	world->started++;
	return world->start_fails ? -ECONNREFUSED : 0;
}

static int child_stopping(struct weir_actor *actor)
{
	return child_of(actor)->world->slow;
}

void child_stopped(struct weir_actor *actor, struct weir_error *error)
{
	child_of(actor)->world->alive--;
}

void backoff_child_released(struct weir_actor *actor)
{
	struct child *self = child_of(actor);
	struct backoff_world *world = self->world;

	world->released++;
	heap_free(self, sizeof(*self), &world->base.heap);
}

static int child_reset(struct weir_actor *actor)
{
	return 0;
}

const struct weir_lifecycle child_life = {
	.pre_start = child_pre_start,
	.reset = child_reset,
	.stopping = child_stopping,
};

const struct weir_actor_ops backoff_child_ops = {
	.name = "child",
	.turns = child_turn_n,
	.stopped = child_stopped,
	.released = backoff_child_released,
	.lifecycle = &child_life,
};

struct child *child_new(struct backoff_world *world)
{
	struct child *self = heap_alloc(sizeof(*self), &world->base.heap);

	if (!self)
		return NULL;
	self->world = world;
	assert_int_equal(weir_actor_init(&self->actor, &backoff_child_ops,
					 world->base.executor),
			 0);
	world->alive++;
	if (weir_in_init(&self->in, &self->actor, CAPACITY,
			 &world->base.ledger.items) == 0)
		return self;
	weir_actor_stop(&self->actor);
	return NULL;
}

int backoff_make(struct weir_actor **actor, struct weir_in **in, void *context)
{
	struct backoff_world *world = context;
	uint32_t n = world->made++;
	struct child *child;

	assert_null(*actor);
	assert_null(*in);
	assert_true(n < CHILDREN);
	/* B8.11: never two children. */
	assert_int_equal(world->alive, 0);
	world->made_ns[n] = world_now(&world->base);
	if (world->fails) {
		world->fails--;
		return world->code;
	}
	child = child_new(world);
	if (!child)
		return -ENOMEM;
	if (world->bad_from && n + 1 >= world->bad_from)
		assert_int_equal(weir_actor_start(&child->actor), 0);
	if (world->finishes)
		(void)weir_backoff_supervisor_end(&world->supervisor);
	*actor = &child->actor;
	*in = world->no_input ? NULL : &child->in;
	if (world->foreign)
		*in = world->foreign;
	return 0;
}

static const struct weir_rule stop_rules[] = {
	{.directive = WEIR_DIRECTIVE_STOP}};
const struct weir_strategy stops = {.rules = stop_rules, .n_rules = 1};

/* --- The world ------------------------------------------------------------ */

static void on_done(struct weir_error *error, void *context)
{
	struct backoff_world *world = context;

	fate_stopped(&world->fate, error);
}

static void on_released(void *context)
{
	struct backoff_world *world = context;

	fate_released(&world->fate);
}

void backoff_on_dead_letter(struct weir_system *system, struct weir_actor_id to,
			    void *item, void *context)
{
	struct backoff_world *world = context;

	world->dead++;
}

int on_absent(void *item, void *context)
{
	struct backoff_world *world = context;

	world->asked++;
	if (world->answer >= 0)
		ledger_deliver(&world->base.ledger, item);
	return world->answer;
}

static bool on_final(void *item, void *context)
{
	const struct backoff_world *world = context;

	return world->what[(uintptr_t)item] == LAST;
}

void backoff_world_init(struct backoff_world *world, uint64_t seed, size_t fail)
{
	memset(world, 0, sizeof(*world));
	world_init_with(&world->base, seed, ITEMS,
			(struct weir_executor_options){0}, fail);
	world->options = (struct weir_backoff_supervisor_options){
		.context = world,
		.make = backoff_make,
		.backoff = {.min_ns = 3 * SECOND, .max_ns = 30 * SECOND},
		.max_retries = -1,
		.is_final = on_final,
		.items = &world->base.ledger.items,
		.done = on_done,
		.released = on_released,
	};
}

int backoff_system(struct backoff_world *world, uint64_t seed)
{
	const struct weir_system_options options = {
		.seed = seed,
		.dead_letter = backoff_on_dead_letter,
		.context = world,
		.event = weir_supervision_event_ignore,
	};

	return weir_system_new(&world->base.system, world->base.executor,
			       &options);
}

void supervisor_spawn(struct backoff_world *world, struct weir_actor_id parent)
{
	const struct weir_spawn_options spawn = {.name = "supervisor",
						 .restart = world->restart};

	assert_int_equal(weir_backoff_supervisor_init(&world->supervisor,
						      world->base.executor,
						      &world->options),
			 0);
	/* until the end of the world: calls are allowed that long */
	weir_actor_ref(&world->supervisor.actor);
	assert_int_equal(weir_system_spawn(world->base.system, parent,
					   &world->supervisor.actor, &spawn,
					   &world->ref),
			 0);
}

void backoff_start(struct backoff_world *world)
{
	supervisor_spawn(world, WEIR_ACTOR_ID_NONE);
	world_settle(&world->base);
}

void backoff_world_begin(struct backoff_world *world, uint64_t seed)
{
	backoff_world_init(world, seed, 0);
	assert_non_null(world->base.executor);
	assert_int_equal(backoff_system(world, seed), 0);
}

void backoff_begin(struct backoff_world *world, uint64_t seed)
{
	backoff_world_begin(world, seed);
	backoff_start(world);
	assert_int_equal(world->made, 1);
	assert_int_equal(world->started, 1);
}

void begin_on_failure(struct backoff_world *world, uint64_t seed,
		      const struct weir_strategy *strategy)
{
	backoff_world_begin(world, seed);
	world->options.mode = WEIR_BACKOFF_ON_FAILURE;
	world->options.strategy = strategy;
	backoff_start(world);
}

void backoff_close(struct backoff_world *world)
{
	world_fini(&world->base);
	assert_int_equal(world->alive, 0);
}

void backoff_end(struct backoff_world *world)
{
	weir_actor_unref(&world->supervisor.actor);
	world->slow = false;
	backoff_close(world);
	assert_int_equal(world->fate.stopped, 1);
	assert_int_equal(world->fate.released, 1);
}

bool over(const struct backoff_world *world)
{
	return !weir_system_is_alive(world->base.system, world->ref);
}

struct weir_actor_id child(struct backoff_world *world)
{
	return weir_backoff_supervisor_child(&world->supervisor);
}

bool has_child(struct backoff_world *world)
{
	return !weir_actor_id_equal(child(world), WEIR_ACTOR_ID_NONE);
}

uint32_t backoff_count(struct backoff_world *world)
{
	return weir_backoff_supervisor_count(&world->supervisor);
}

int backoff_put(struct backoff_world *world, enum what what)
{
	size_t i = ++world->items;
	void *item = ledger_make(&world->base.ledger, i);
	int rc;

	world->what[i] = what;
	rc = weir_backoff_supervisor_put(&world->supervisor, item);
	if (rc < 0)
		ledger_drop(item, &world->base.ledger);
	return rc;
}

void backoff_tell(struct backoff_world *world, enum what what)
{
	assert_int_equal(backoff_put(world, what), 0);
	world_settle(&world->base);
}

void stop_child(struct backoff_world *world)
{
	assert_int_equal(
		weir_system_stop_actor(world->base.system, child(world)), 0);
	world_settle(&world->base);
	assert_false(has_child(world));
}

uint64_t wait_for_child(struct backoff_world *world)
{
	uint64_t from = world_now(&world->base);
	uint32_t made = world->made;

	while (world->made == made)
		assert_true(weir_sim_step(world->base.sim));
	world_settle(&world->base);
	return world->made_ns[made] - from;
}

uint64_t next_delay(struct backoff_world *world)
{
	stop_child(world);
	return wait_for_child(world);
}
