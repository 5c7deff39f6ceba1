/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervision/naming.h"

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static int child_starts(struct weir_actor *actor)
{
	weir_container_of(actor, struct child, actor)->self =
		weir_actor_self(actor);
	return 0;
}

static int child_fails(struct weir_actor *actor)
{
	return -EIO;
}

static void child_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct child, actor)->fate,
		     error);
}

static void child_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct child, actor)->fate);
}

static const struct weir_lifecycle child_life = {.pre_start = child_starts};

/* A signal makes it fail. */
static const struct weir_actor_ops child_ops = {
	.name = "child",
	.turns = no_turns,
	.signalled = child_fails,
	.stopped = child_stopped,
	.released = child_released,
	.lifecycle = &child_life,
};

void child_init(struct child *child, struct weir_sim *sim)
{
	memset(child, 0, sizeof(*child));
	assert_int_equal(weir_actor_init(&child->actor, &child_ops,
					 weir_sim_executor(sim)),
			 0);
}

struct weir_system *system_new(struct weir_sim *sim,
			       const struct weir_allocator *allocator)
{
	const struct weir_system_options options = {
		.allocator = allocator, .event = weir_supervision_event_ignore};
	struct weir_system *system;

	assert_int_equal(
		weir_system_new(&system, weir_sim_executor(sim), &options), 0);
	weir_sim_run(sim);
	return system;
}

void system_end(struct weir_system *system, struct weir_sim *sim)
{
	weir_system_stop(system);
	weir_sim_run(sim);
	assert_int_equal(weir_system_free(system), 0);
}

int spawn_named(struct weir_system *system, struct weir_actor_id parent,
		struct child *child, const char *name)
{
	const struct weir_spawn_options options = {.name = name};

	return weir_system_spawn(system, parent, &child->actor, &options,
				 &child->ref);
}

void spawn_new(struct weir_system *system, struct weir_sim *sim,
	       struct weir_actor_id parent, struct child *child,
	       const char *name)
{
	child_init(child, sim);
	assert_int_equal(spawn_named(system, parent, child, name), 0);
}

void assert_is(struct weir_actor_id a, struct weir_actor_id b)
{
	assert_int_equal(a.slot, b.slot);
	assert_int_equal(a.generation, b.generation);
}

void assert_path(struct weir_system *system, struct weir_actor_id ref,
		 const char *path)
{
	char text[1024];

	assert_int_equal(weir_system_path(system, ref, text, sizeof(text)),
			 strlen(path));
	assert_string_equal(text, path);
	assert_is(weir_system_lookup(system, path), ref);
}

void assert_dead(struct weir_system *system, struct weir_actor_id ref)
{
	struct weir_actor_id child;
	char path[8];

	assert_false(weir_system_is_alive(system, ref));
	assert_null(weir_system_actor(system, ref));
	assert_is(weir_system_parent(system, ref), WEIR_ACTOR_ID_NONE);
	assert_int_equal(weir_system_path(system, ref, path, sizeof(path)),
			 -ESRCH);
	assert_int_equal(weir_system_children(system, ref, &child, 1), -ESRCH);
	assert_int_equal(weir_system_restarts(system, ref), -ESRCH);
	assert_int_equal(weir_system_stop_actor(system, ref), -ESRCH);
	assert_int_equal(weir_system_poison(system, ref), -ESRCH);
	assert_int_equal(weir_system_kill(system, ref), -ESRCH);
}
