/* SPDX-License-Identifier: BSD-2-Clause */
#include "kit/world.h"

void world_init_with(struct world *world, uint64_t seed, size_t n_items,
		     struct weir_executor_options options, size_t fail)
{
	memset(world, 0, sizeof(*world));
	heap_init(&world->heap, fail);
	ledger_init(&world->ledger, n_items);
	options.allocator = &world->heap.allocator;
	if (weir_sim_new(&world->sim, seed, &options) == 0)
		world->executor = weir_sim_executor(world->sim);
}

void world_init(struct world *world, uint64_t seed, size_t n_items)
{
	world_init_with(world, seed, n_items, (struct weir_executor_options){0},
			0);
	assert_non_null(world->executor);
}

void world_system(struct world *world,
		  const struct weir_system_options *options)
{
	struct weir_system_options given = {.reserved = {0}};

	if (options)
		given = *options;
	/* failures are what is tested */
	if (!given.event)
		given.event = weir_supervision_event_ignore;
	assert_int_equal(
		weir_system_new(&world->system, world->executor, &given), 0);
	weir_sim_run(world->sim);
}

uint64_t world_now(const struct world *world)
{
	return weir_executor_now(world->executor);
}

void world_settle(struct world *world)
{
	world_advance(world, 0);
}

void world_advance(struct world *world, uint64_t ns)
{
	weir_sim_run_until(world->sim, world_now(world) + ns, UINT64_MAX);
}

void world_stop(struct world *world)
{
	if (world->system)
		weir_system_stop(world->system);
	if (world->sim)
		weir_sim_run(world->sim);
}

void world_fini(struct world *world)
{
	world_stop(world);
	if (world->system)
		assert_true(weir_completion_done(
			weir_system_terminated(world->system)));
	assert_int_equal(weir_system_free(world->system), 0);
	ledger_check(&world->ledger);
	ledger_fini(&world->ledger);
	if (world->sim)
		sim_free(world->sim);
	assert_int_equal(world->heap.live, 0);
}

void end_system(struct weir_system *system)
{
	assert_int_equal(weir_system_end_wait(system, WEIR_FOREVER), 0);
	assert_int_equal(weir_system_free(system), 0);
}
