/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of hierarchy.h under the simulator: whatever fails, wherever,
 * nobody stays suspended, nobody is left behind, every hook, watch and item has
 * its counterpart. Most worlds are small, so that there are many; some have 500
 * actors.
 */
#include "scenario/hierarchy.h"
#include "support.h"

/* Every how many steps the tree is looked at as a whole. */
#define CHECKED_EVERY 64

static struct world the_world;
static struct weir_sim *sim;

static bool step(struct world *world, uint64_t *n)
{
	bool more = weir_sim_step(sim);

	if (!more || world->most <= CHECKED_EVERY || ++*n % CHECKED_EVERY == 0)
		assert_true(weir__system_check(world->system));
	return more;
}

static void run(struct world *world)
{
	uint64_t n = 0;

	while (step(world, &n))
		;
}

/* Somebody from outside, while the world is at work. */
static void a_while(struct world *world, uint64_t *random)
{
	uint32_t left = below(random, world->most);
	uint64_t n = 0;

	while (left-- && step(world, &n)) {
		if (!below(random, 4))
			put_any(world, random);
		if (!below(random, 4))
			spawn_any(world, random, NULL);
	}
	if (strikes(world, random, 1))
		disturb_others(world, random, NULL);
}

/* To its full size, in peace. */
static void grow(struct world *world, uint64_t *random)
{
	uint32_t left;

	run(world);
	world_calm(world);
	for (left = 2 * world->most; left; left--)
		spawn_any(world, random, NULL);
}

static void check_rest(struct world *world)
{
	run(world);
	world_calm(world);
	run(world);
	assert_int_equal(world_unrest(world, true), 0);
	(void)world_ask(world);
	run(world);
	world_answered(world);
}

static void ended(struct weir_ending *drain)
{
}

/* All ways a system ends. */
static void end(struct world *world, uint64_t *random)
{
	struct weir_ending drain = {.done = ended};

	switch (below(random, 4)) {
	case 0:
		assert_int_equal(weir_executor_end_async(world->executor,
							 &drain, WEIR_FOREVER),
				 0);
		break;
	case 1:
		assert_int_equal(weir_executor_stop_async(world->executor,
							  &drain, WEIR_FOREVER),
				 0);
		break;
	default:
		weir_system_stop(world->system);
		break;
	}
	run(world);
	world_calm(world);
	run(world);
}

static void a_world(uint64_t seed)
{
	struct world *world = &the_world;
	uint32_t most = seed % 64 ? 2 + (uint32_t)seed % 30 : 500, left;
	uint64_t random = seed;

	memset(world, 0, sizeof(*world));
	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	world->alone = true;
	world->ends = !below(&random, 8);
	world_begin(world, weir_sim_executor(sim), seed, most,
		    most * (2 + below(&random, 14)));
	if (!below(&random, 4))
		world->memory.fails = 2 + below(&random, 30);
	do {
		grow(world, &random);
		check_rest(world);
		for (left = below(&random, 16); left && world->faults; left--)
			a_while(world, &random);
	} while (world->faults && world_lives(world) && below(&random, 8));
	if (below(&random, 2))
		check_rest(world);
	end(world, &random);
	world_end(world);
	sim_free(sim);
}

static void b_nothing_that_fails_anywhere_leaves_anybody_behind(void **state)
{
	for_each_seed(seed, test_count(test_soak() ? 100000 : 4000))
		a_world(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			b_nothing_that_fails_anywhere_leaves_anybody_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
