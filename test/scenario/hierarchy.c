/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of hierarchy_kit.h under the simulator: whatever fails, wherever,
 * nobody stays suspended, nobody is left behind, every hook, watch and item has
 * its counterpart. Most worlds are small, so that there are many; some have 500
 * actors.
 */
#include "scenario/hierarchy_kit.h"
#include "support.h"

/* Every how many steps the tree is looked at as a whole. */
#define CHECKED_EVERY 64

static struct hierarchy the_world;
static struct weir_sim *sim;

static bool step(struct hierarchy *hierarchy, uint64_t *n)
{
	bool more = weir_sim_step(sim);

	if (!more || hierarchy->most <= CHECKED_EVERY ||
	    ++*n % CHECKED_EVERY == 0)
		assert_true(weir__system_check(hierarchy->system));
	return more;
}

static void run(struct hierarchy *hierarchy)
{
	uint64_t n = 0;

	while (step(hierarchy, &n))
		;
}

/* Somebody from outside, while the hierarchy is at work. */
static void a_while(struct hierarchy *hierarchy, uint64_t *random)
{
	uint32_t left = below(random, hierarchy->most);
	uint64_t n = 0;

	while (left-- && step(hierarchy, &n)) {
		if (!below(random, 4))
			put_any(hierarchy, random);
		if (!below(random, 4))
			spawn_any(hierarchy, random, NULL);
	}
	if (strikes(hierarchy, random, 1))
		disturb_others(hierarchy, random, NULL);
}

/* To its full size, in peace. */
static void grow(struct hierarchy *hierarchy, uint64_t *random)
{
	uint32_t left;

	run(hierarchy);
	hierarchy_calm(hierarchy);
	for (left = 2 * hierarchy->most; left; left--)
		spawn_any(hierarchy, random, NULL);
}

static void check_rest(struct hierarchy *hierarchy)
{
	run(hierarchy);
	hierarchy_calm(hierarchy);
	run(hierarchy);
	assert_int_equal(hierarchy_unrest(hierarchy, true), 0);
	(void)hierarchy_ask(hierarchy);
	run(hierarchy);
	hierarchy_answered(hierarchy);
}

static void ended(struct weir_ending *drain)
{
}

/* All ways a system ends. */
static void end(struct hierarchy *hierarchy, uint64_t *random)
{
	struct weir_ending drain = {.done = ended};

	switch (below(random, 4)) {
	case 0:
		assert_int_equal(weir_executor_end_async(hierarchy->executor,
							 &drain, WEIR_FOREVER),
				 0);
		break;
	case 1:
		assert_int_equal(weir_executor_stop_async(hierarchy->executor,
							  &drain, WEIR_FOREVER),
				 0);
		break;
	default:
		weir_system_stop(hierarchy->system);
		break;
	}
	run(hierarchy);
	hierarchy_calm(hierarchy);
	run(hierarchy);
}

static void a_world(uint64_t seed)
{
	struct hierarchy *hierarchy = &the_world;
	uint32_t most = seed % 64 ? 2 + (uint32_t)seed % 30 : 500, left;
	uint64_t random = seed;

	memset(hierarchy, 0, sizeof(*hierarchy));
	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	hierarchy->alone = true;
	hierarchy->ends = !below(&random, 8);
	hierarchy_begin(hierarchy, weir_sim_executor(sim), seed, most,
			most * (2 + below(&random, 14)));
	if (!below(&random, 4))
		hierarchy->memory.fails = 2 + below(&random, 30);
	do {
		grow(hierarchy, &random);
		check_rest(hierarchy);
		for (left = below(&random, 16); left && hierarchy->faults;
		     left--)
			a_while(hierarchy, &random);
	} while (hierarchy->faults && hierarchy_lives(hierarchy) &&
		 below(&random, 8));
	if (below(&random, 2))
		check_rest(hierarchy);
	end(hierarchy, &random);
	hierarchy_end(hierarchy);
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
