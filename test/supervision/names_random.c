/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that come and go at random, first more of the one, then of the other,
 * against a table of who has which; also where their hashes are few, or equal.
 */
#include "kit/world.h"
#include "supervision/naming_tree.h"

#include "base/hash.h"

/* What is left of a hash. */
static uint64_t hash_mask;

uint64_t __real_weir__hash_bytes(const struct weir__hash_key *key,
				 const void *bytes, size_t n);
uint64_t __wrap_weir__hash_bytes(const struct weir__hash_key *key,
				 const void *bytes, size_t n);

uint64_t __wrap_weir__hash_bytes(const struct weir__hash_key *key,
				 const void *bytes, size_t n)
{
	return __real_weir__hash_bytes(key, bytes, n) & hash_mask;
}

enum { PARENTS = 3, NAMES = 200, STEPS = 4000 };

struct name_world {
	struct world base;
	struct child parents[PARENTS], children[PARENTS][NAMES];
	size_t n, most; /* that there are, and have been */
};

static void begin(struct name_world *world, uint64_t seed)
{
	char name[8];
	size_t i;

	memset(world, 0, sizeof(*world));
	world_init(&world->base, seed, 0);
	world_system(&world->base, NULL);
	for (i = 0; i < PARENTS; i++) {
		snprintf(name, sizeof(name), "p%zu", i);
		spawn_new(world->base.system, world->base.sim,
			  WEIR_ACTOR_ID_NONE, &world->parents[i], name);
	}
	weir_sim_run(world->base.sim);
}

static void end(struct name_world *world)
{
	assert_true(world->most > PARENTS * NAMES / 2);
	assert_true(world->n < PARENTS * NAMES / 4);
	world_fini(&world->base);
}

static bool is_there(const struct child *child)
{
	return !weir_actor_id_equal(child->ref, WEIR_ACTOR_ID_NONE);
}

/* Whom there is already has a namesake refused. */
static void add(struct name_world *world, size_t parent, size_t i)
{
	struct child *child = &world->children[parent][i], other;
	char name[8];

	snprintf(name, sizeof(name), "%zu", i);
	if (is_there(child)) {
		child_init(&other, world->base.sim);
		assert_int_equal(spawn_named(world->base.system,
					     world->parents[parent].ref, &other,
					     name),
				 -EEXIST);
		weir_actor_stop(&other.actor);
	} else {
		spawn_new(world->base.system, world->base.sim,
			  world->parents[parent].ref, child, name);
		world->n++;
	}
	weir_sim_run(world->base.sim);
	if (world->n > world->most)
		world->most = world->n;
}

static void take_away(struct name_world *world, size_t parent, size_t i)
{
	struct child *child = &world->children[parent][i];

	assert_int_equal(weir_system_stop_actor(world->base.system, child->ref),
			 is_there(child) ? 0 : -ESRCH);
	weir_sim_run(world->base.sim);
	world->n -= is_there(child);
	child->ref = WEIR_ACTOR_ID_NONE;
}

static void check(struct name_world *world, size_t parent, size_t i)
{
	char path[24];

	snprintf(path, sizeof(path), "/user/p%zu/%zu", parent, i);
	assert_is(weir_system_lookup(world->base.system, path),
		  world->children[parent][i].ref);
}

static void check_all(struct name_world *world)
{
	size_t parent, i;

	for (parent = 0; parent < PARENTS; parent++)
		for (i = 0; i < NAMES; i++)
			check(world, parent, i);
	(void)names_look(world->base.system);
}

static void come_and_go(uint64_t seed)
{
	static struct name_world world;
	size_t step, parent, i;

	begin(&world, seed);
	for (step = 0; step < STEPS; step++) {
		parent = weir_sim_random(world.base.sim, PARENTS);
		i = weir_sim_random(world.base.sim, NAMES);
		if ((weir_sim_random(world.base.sim, 8) == 0) ==
		    (step < STEPS / 2))
			take_away(&world, parent, i);
		else
			add(&world, parent, i);
		check(&world, parent, weir_sim_random(world.base.sim, NAMES));
		if (step % 64 == 0)
			check_all(&world);
	}
	check_all(&world);
	end(&world);
}

static void come_and_go_with(uint64_t mask)
{
	hash_mask = mask;
	for_each_seed(seed, test_count(10))
		come_and_go(seed);
}

static void names_come_and_go(void **state)
{
	come_and_go_with(UINT64_MAX);
}

static void names_that_begin_with_the_same_digits_come_and_go(void **state)
{
	come_and_go_with(0xf0000000u);
}

static void names_that_differ_in_few_digits_come_and_go(void **state)
{
	come_and_go_with(0x00030003u);
}

static void names_of_equal_hash_come_and_go(void **state)
{
	come_and_go_with(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_and_go),
		cmocka_unit_test(
			names_that_begin_with_the_same_digits_come_and_go),
		cmocka_unit_test(names_that_differ_in_few_digits_come_and_go),
		cmocka_unit_test(names_of_equal_hash_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
