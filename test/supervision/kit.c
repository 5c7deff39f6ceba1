/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervision/kit.h"

const struct weir_strategy one_by_one = {BY_CODE, .ordered = true};

const struct weir_strategy all_by_turns = {
	BY_CODE,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
	.ordered = true,
};

const struct weir_strategy rest_by_turns = {
	BY_CODE,
	.scope = WEIR_SCOPE_REST_FOR_ONE,
	.ordered = true,
};

/* --- Its system ----------------------------------------------------------- */

static void on_event(const struct weir_supervision_event *event, void *context)
{
	static const char *const directives[] = {"resume", "restart", "stop",
						 "escalate"};

	note(context, "system", "%s(%s)",
	     event->what == WEIR_SUPERVISION_EVENT_HOOK ? "hook"
	     : event->what == WEIR_SUPERVISION_EVENT_LIMIT
		     ? "limit"
		     : directives[event->directive],
	     event->name);
}

void on_dead_letter(struct weir_system *system, struct weir_actor_id to,
		    void *item, void *context)
{
	struct world *world = context;
	struct member *self = world->members;

	assert_ptr_equal(system, world->system);
	while (self && !weir_actor_id_equal(self->ref, to))
		self = self->next;
	assert_non_null(self);
	note(world, self->name, "%s%u.dead%zu", self->name, self->generation,
	     (size_t)(uintptr_t)item);
}

void world_open(struct world *world)
{
	struct weir_system_options options = {
		.allocator = &world->heap.allocator,
		.strategy = world->top ? world->top : &by_code,
		.seed = world->seed,
		.dead_letter = on_dead_letter,
		.event = on_event,
		.context = world,
	};

	if (!world->system)
		assert_int_equal(weir_system_new(&world->system,
						 weir_sim_executor(world->sim),
						 &options),
				 0);
}

int spawn(struct world *world, struct weir_actor_id parent, const char *name)
{
	world_open(world);
	return member_spawn(member_new(world, name), parent);
}

struct member *add(struct world *world, const char *parent, const char *name)
{
	struct weir_actor_id to = parent ? ref(world, parent)
					 : WEIR_ACTOR_ID_NONE;

	assert_int_equal(spawn(world, to, name), 0);
	return member(world, name);
}

bool alive(const struct world *world, const char *name)
{
	return weir_system_is_alive(world->system, ref(world, name));
}

int put(struct world *world, const char *name, size_t first, size_t last)
{
	struct member *self = member(world, name);
	struct weir_actor *actor = weir_system_actor(world->system, self->ref);
	int rc = 0;

	for (; actor && first <= last && rc == 0; first++) {
		rc = weir_in_put(&self->in, ledger_make(&world->ledger, first));
		if (rc != 0)
			ledger_drop((void *)first, &world->ledger);
	}
	weir_actor_unref(actor);
	return actor ? rc : -ESRCH;
}

bool world_step(struct world *world)
{
	bool more = weir_sim_step(world->sim);

	more |= world->far && weir_sim_step(world->far);
	if (more)
		assert_true(weir__system_check(world->system));
	return more;
}

void run(struct world *world)
{
	while (world_step(world))
		;
}

void run_until(struct world *world, uint64_t time_ns)
{
	while (weir_sim_run_until(world->sim, time_ns, 1))
		assert_true(weir__system_check(world->system));
}

void feed(struct world *world, const char *name, size_t first, size_t last)
{
	assert_int_equal(put(world, name, first, last), 0);
	run(world);
}

void give(struct world *world, const char *name, size_t item)
{
	feed(world, name, item, item);
}

void stop(struct world *world, const char *name)
{
	assert_int_equal(
		weir_system_stop_actor(world->system, ref(world, name)), 0);
}

void add_three(struct world *world, const char *parent)
{
	add(world, parent, "a");
	add(world, parent, "b");
	add(world, parent, "c");
	run(world);
}

uint32_t suspends(const struct world *world, const char *name)
{
	bool held = weir__enter(world->system);
	uint32_t n = weir__cell_of(&member(world, name)->actor)->suspends;

	weir__leave(world->system, held);
	return n;
}

void world_begin(struct world *world, uint64_t seed)
{
	struct weir_executor_options options = {
		.allocator = &world->heap.allocator,
	};

	memset(world, 0, sizeof(*world));
	world->seed = seed;
	heap_init(&world->heap, 0);
	ledger_init(&world->ledger, ITEMS);
	assert_int_equal(weir_sim_new(&world->sim, seed, &options), 0);
}

void world_end(struct world *world)
{
	struct member *self;

	if (world->system) {
		weir_system_stop(world->system);
		run(world);
		assert_true(weir_completion_done(
			weir_system_terminated(world->system)));
		assert_int_equal(weir_system_free(world->system), 0);
	}
	while ((self = world->members)) {
		assert_int_equal(self->fate.stopped, 1);
		assert_int_equal(self->fate.released, 1);
		world->members = self->next;
		free(self);
	}
	ledger_check(&world->ledger);
	ledger_fini(&world->ledger);
	sim_free(world->sim);
	if (world->far)
		sim_free(world->far);
	assert_int_equal(world->heap.live, 0);
}

void assert_order(struct world *world, const char *const *texts, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		assert_true(before(world, texts[i - 1], texts[i]));
}

/* --- Rules ---------------------------------------------------------------- */

struct world the_world;

void over_seeds(void **state)
{
	const struct rule *rule = *state;

	for_each_seed(seed, test_count(test_soak() ? 20000 : 1000)) {
		world_begin(&the_world, seed);
		rule->run(&the_world);
		world_end(&the_world);
	}
	the_world.seed = 0;
}

int tell_trace(void **state)
{
	if (the_world.seed)
		print_message("told: %s\n", told(&the_world, NULL));
	the_world.seed = 0;
	return 0;
}
