/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random graphs under the simulator: layers of stages that merge, join in
 * broadcasts and balances, with sinks that leave, turns that fail, actors that
 * are stopped, suspended and resumed, and puts from outside, all drawn from
 * the seed. Whatever happens, every item is accounted for, everybody is
 * released, and nobody is left waiting who could go on.
 */
#include "actor/check.h"
#include "kit/world.h"
#include "support.h"

#define ITEMS 200
#define SOURCES 3
#define STAGES 4
#define SINKS 3

struct graph_world {
	struct world base;
	struct source sources[SOURCES];
	struct stage stages[STAGES];
	struct sink sinks[SINKS];
	bool disturbed; /* not everything has to arrive */
	bool shared;	/* some arrive more than once */
};

static uint64_t draw(struct graph_world *world, uint64_t bound)
{
	return weir_sim_random(world->base.sim, bound);
}

static size_t capacity(struct graph_world *world)
{
	return (size_t)1 << draw(world, 5);
}

/* Everything that has an out-port is linked to one or more of `ins`. */
static void link_some(struct graph_world *world, struct weir_out *out,
		      struct weir_in **ins, size_t n)
{
	enum weir_fan way = draw(world, 2) ? WEIR_FAN_BROADCAST
					   : WEIR_FAN_BALANCE;
	size_t links = 1 + draw(world, 3), i;

	if (links > 1)
		assert_int_equal(weir_out_fan(out, way, capacity(world)), 0);
	for (i = 0; i < links; i++)
		assert_int_equal(weir_out_link(out, ins[draw(world, n)]), 0);
	if (links > 1 && way == WEIR_FAN_BROADCAST)
		world->shared = true;
}

static void world_build(struct graph_world *world, uint64_t seed)
{
	struct weir_in *stage_ins[STAGES], *sink_ins[SINKS];
	struct weir_executor *executor;
	size_t i;

	memset(world, 0, sizeof(*world));
	world_init(&world->base, seed, (size_t)ITEMS * SOURCES);
	executor = world->base.executor;
	for (i = 0; i < STAGES; i++) {
		stage_init(&world->stages[i], executor, &world->base.ledger,
			   capacity(world));
		stage_ins[i] = &world->stages[i].in;
		assert_int_equal(weir_in_merge(stage_ins[i], WEIR_MERGE_ALL),
				 0);
	}
	for (i = 0; i < SINKS; i++) {
		sink_init(&world->sinks[i], executor, &world->base.ledger,
			  capacity(world));
		sink_ins[i] = &world->sinks[i].in;
		assert_int_equal(weir_in_merge(sink_ins[i], WEIR_MERGE_ALL), 0);
	}
	for (i = 0; i < SOURCES; i++) {
		source_init(&world->sources[i], executor, &world->base.ledger,
			    1 + i * ITEMS, ITEMS + i * ITEMS);
		link_some(world, &world->sources[i].out, stage_ins, STAGES);
	}
	for (i = 0; i < STAGES; i++)
		link_some(world, &world->stages[i].out, sink_ins, SINKS);
}

static struct weir_actor *any_actor(struct graph_world *world)
{
	switch (draw(world, 3)) {
	case 0:
		return &world->sources[draw(world, SOURCES)].actor;
	case 1:
		return &world->stages[draw(world, STAGES)].actor;
	default:
		return &world->sinks[draw(world, SINKS)].actor;
	}
}

/* Half of the worlds run undisturbed. */
static void plan(struct graph_world *world)
{
	if (draw(world, 2))
		return;
	world->disturbed = true;
	if (draw(world, 2))
		world->sinks[draw(world, SINKS)].stop_at = 1 + draw(world, 99);
	if (draw(world, 2))
		world->stages[draw(world, STAGES)].fail_at = 1 +
							     draw(world, 99);
	if (draw(world, 2))
		world->sources[0].fail_at = 1 + draw(world, ITEMS);
	if (draw(world, 4) == 0)
		world->base.ledger.share_fails = 1 + (uint32_t)draw(world, 99);
}

static void visit(struct graph_world *world,
		  void (*call)(struct weir_actor *actor))
{
	size_t i;

	for (i = 0; i < SINKS; i++)
		call(&world->sinks[i].actor);
	for (i = 0; i < STAGES; i++)
		call(&world->stages[i].actor);
	for (i = 0; i < SOURCES; i++)
		call(&world->sources[i].actor);
}

static void start(struct weir_actor *actor)
{
	weir_actor_ref(actor); /* so that it may be disturbed at any time */
	assert_int_equal(weir_actor_start(actor), 0);
}

/* What is alive and at rest must hold the invariants. */
static void check_rest(struct weir_actor *actor)
{
	if (weir__state(actor) != WEIR__STATE_ENDED)
		assert_true(weir__actor_check(actor));
}

static void disturb(struct graph_world *world)
{
	struct weir_actor *actor = any_actor(world);

	switch (draw(world, 6)) {
	case 0:
		if (world->disturbed)
			weir_actor_stop(actor);
		break;
	case 1:
		weir_actor_signal(actor);
		break;
	case 2:
		weir_actor_suspend(actor);
		break;
	default:
		weir_actor_resume(actor);
		break;
	}
}

static size_t arrived(const struct graph_world *world)
{
	size_t i, sum = 0;

	for (i = 0; i < SINKS; i++)
		sum += world->sinks[i].seen;
	return sum;
}

static void a_world(uint64_t seed)
{
	struct graph_world world;
	size_t i;

	world_build(&world, seed);
	plan(&world);
	visit(&world, start);
	for (i = draw(&world, 30); i; i--) {
		weir_sim_run_until(world.base.sim, i, draw(&world, 20));
		disturb(&world);
	}
	weir_sim_run(world.base.sim);
	visit(&world, check_rest);
	visit(&world, weir_actor_resume);
	weir_sim_run(world.base.sim);
	/* Stages and sinks that nobody was linked to wait; no source does. */
	for (i = 0; i < SOURCES; i++)
		assert_int_equal(world.sources[i].fate.stopped, 1);
	visit(&world, weir_actor_stop);
	weir_sim_run(world.base.sim);
	visit(&world, weir_actor_unref);
	assert_int_equal(weir_executor_alive(world.base.executor), 0);
	if (!world.disturbed && ledger_dropped(&world.base.ledger) == 0) {
		if (!world.shared)
			assert_int_equal(arrived(&world), SOURCES * ITEMS);
		else
			assert_true(arrived(&world) >= SOURCES * ITEMS);
	}
	world_fini(&world.base);
}

static void whatever_happens_all_is_accounted_for(void **state)
{
	for_each_seed(seed, test_count(test_soak() ? 200000 : 10000))
		a_world(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_happens_all_is_accounted_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
