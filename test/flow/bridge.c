/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows joined to publishers, actors and channels: each way from a source to a
 * sink is run to its end, cancelled at every step, and starved of memory at
 * every allocation, on many seeds. What comes out are the first numbers in
 * their order, and nothing is left.
 */
#include "flow/kit.h"

#include "actor/kit.h"
#include "seeds.h"

#define N 20

/* An actor of the user's: puts 1 to N into its out-port, or takes from in. */
struct hand {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_in in;
	struct world *world;
	intptr_t next;
	bool there; /* not released */
};

struct world {
	struct heap heap;
	struct weir_sim *sim;
	struct weir_executor *executor;
	struct weir_flow *flows[2];
	struct weir_flow_run *runs[2];
	struct weir_flow_publisher *publisher;
	struct weir_channel *channel;
	struct weir_semaphore acks;
	bool acknowledges;
	struct hand maker, taker;
	intptr_t first; /* that is to come */
	struct got got;
};

/* One way from a source to a sink. 0, or why it could not be started. */
struct way {
	const char *name;
	int (*start)(struct world *world);
};

/* --- Actors ------------------------------------------------------------------- */

static struct hand *hand_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct hand, actor);
}

static int make_one(struct weir_actor *actor)
{
	struct hand *self = hand_of(actor);
	int rc = weir_out_put(&self->out, item_new(self->next));

	return rc == 0 && self->next++ == N ? WEIR_FINISH : rc;
}
WEIR_TURN(make_one)

static int take_one(struct weir_actor *actor)
{
	struct hand *self = hand_of(actor);
	void *item = weir_in_take(&self->in);

	assert_true(!self->world->acknowledges ||
		    weir_in_count(&self->in) == 0);
	(void)got_one(item, &self->world->got);
	return self->world->acknowledges
		       ? weir_semaphore_release(&self->world->acks, 1)
		       : 0;
}
WEIR_TURN(take_one)

static void hand_released(struct weir_actor *actor)
{
	hand_of(actor)->there = false;
}

static const struct weir_actor_ops maker_ops = {
	.turns = make_one_n,
	.released = hand_released,
};

static const struct weir_actor_ops taker_ops = {
	.turns = take_one_n,
	.released = hand_released,
};

static int hand_init(struct world *world, struct hand *hand,
		     const struct weir_actor_ops *ops)
{
	*hand = (struct hand){.world = world, .next = 1, .there = true};
	return weir_actor_init(&hand->actor, ops, world->executor);
}

static int maker_init(struct world *world)
{
	int rc = hand_init(world, &world->maker, &maker_ops);

	return rc < 0 ? rc
		      : weir_out_init(&world->maker.out, &world->maker.actor,
				      &counted_items);
}

static int taker_init(struct world *world)
{
	int rc = hand_init(world, &world->taker, &taker_ops);

	return rc < 0 ? rc
		      : weir_in_init(&world->taker.in, &world->taker.actor, 4,
				     &counted_items);
}

/* --- The ways ----------------------------------------------------------------- */

static int start(struct world *world, int i)
{
	return weir_flow_start(world->flows[i], world->executor, NULL,
			       &world->runs[i]);
}

static int start_publisher(struct world *world)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));

	assert_int_equal(weir_flow_publisher_new(&world->publisher, flow,
						 world->executor, NULL),
			 0);
	flow = weir_flow_from_publisher(
		weir_flow_publisher_publisher(world->publisher), 4, 0);
	flow = weir_flow_items(flow, &counted_items);
	world->flows[0] = weir_flow_for_each(flow, got_one, &world->got);
	return start(world, 0);
}

static int start_ports(struct world *world)
{
	struct weir_flow *flow;
	int rc = maker_init(world);

	if (rc == 0)
		rc = taker_init(world);
	if (rc < 0)
		return rc;
	flow = weir_flow_from_out(&world->maker.out, 4);
	flow = weir_flow_drop(flow, 0);
	world->flows[0] = weir_flow_into_in(flow, &world->taker.in);
	rc = start(world, 0);
	if (rc == 0)
		rc = weir_actor_start(&world->taker.actor);
	if (rc == 0)
		rc = weir_actor_start(&world->maker.actor);
	return rc;
}

static int start_acks(struct world *world)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));
	struct item *init;
	int rc = taker_init(world);

	world->acknowledges = true;
	assert_int_equal(weir_semaphore_init(&world->acks, 0), 0);
	init = item_new(0);
	world->first = 0;
	world->flows[0] =
		weir_flow_to_actor(flow, &world->taker.in, &world->acks, init);
	if (rc == 0)
		rc = start(world, 0);
	if (rc < 0)
		item_drop(init, NULL);
	else
		rc = weir_actor_start(&world->taker.actor);
	return rc;
}

static int start_channel(struct world *world)
{
	struct weir_flow *flow = counted(weir_flow_range(1, N));
	int rc = weir_channel_new(&world->channel, 3, &counted_items,
				  &world->heap.allocator);

	if (rc < 0) {
		weir_flow_free(flow);
		return rc;
	}
	world->flows[0] = weir_flow_into_channel(flow, world->channel);
	flow = weir_flow_from_channel(world->channel);
	world->flows[1] = weir_flow_for_each(flow, got_one, &world->got);
	rc = start(world, 1);
	return rc < 0 ? rc : start(world, 0);
}

static const struct way ways[] = {
	{"publishers", start_publisher},
	{"ports", start_ports},
	{"acknowledgements", start_acks},
	{"channels", start_channel},
};

#define N_WAYS (sizeof(ways) / sizeof(*ways))

/* --- Worlds --------------------------------------------------------------------- */

static struct world world;

static void world_init(uint64_t seed)
{
	struct weir_executor_options options = {
		.allocator = &world.heap.allocator,
	};

	memset(&world, 0, sizeof(world));
	heap_init(&world.heap, 0);
	assert_int_equal(weir_sim_new(&world.sim, seed, &options), 0);
	world.executor = weir_sim_executor(world.sim);
	world.got.counted = true;
	world.first = 1;
}

static void stop(struct hand *hand)
{
	if (hand->there)
		weir_actor_stop(&hand->actor);
}

static void cancel(void)
{
	weir_flow_run_cancel(world.runs[0], NULL);
	weir_flow_run_cancel(world.runs[1], NULL);
	stop(&world.maker);
	stop(&world.taker);
}

/* All has come to an end; how the first run has. */
static int world_fini(void)
{
	int rc = 0;
	size_t i;

	weir_sim_run(world.sim);
	for (i = 0; i < 2; i++) {
		struct weir_error *error = NULL;

		if (world.runs[i])
			assert_int_equal(weir_flow_run_wait(world.runs[i], 0,
							    NULL, &error),
					 0);
		if (i == 0 && error)
			rc = error->code;
		weir_error_unref(error);
		weir_flow_run_free(world.runs[i]);
		weir_flow_free(world.flows[i]);
	}
	weir_flow_publisher_free(world.publisher);
	assert_false(world.maker.there);
	assert_false(world.taker.there);
	assert_int_equal(weir_channel_free(world.channel), 0);
	sim_free(world.sim);
	assert_int_equal(world.heap.live, 0);
	assert_int_equal(n_live, 0);
	for (i = 0; i < world.got.n; i++)
		assert_int_equal(world.got.values[i],
				 world.first + (intptr_t)i);
	return rc;
}

static size_t all_of(void)
{
	return (size_t)(N + 1 - world.first);
}

/* --- Tests ---------------------------------------------------------------------- */

static void run_all(uint64_t seed)
{
	size_t i;

	for (i = 0; i < N_WAYS; i++) {
		world_init(seed);
		assert_int_equal(ways[i].start(&world), 0);
		assert_int_equal(world_fini(), 0);
		assert_int_equal(world.got.n, all_of());
	}
}

static void all_items_come_in_order(void **state)
{
	each_seed(state, test_count(2000), run_all);
}

/* False: it was over before. */
static bool cancel_at(const struct way *way, uint64_t seed, size_t step)
{
	bool more = true;
	size_t i;

	world_init(seed);
	assert_int_equal(way->start(&world), 0);
	for (i = 0; i < step && more; i++)
		more = weir_sim_step(world.sim);
	cancel();
	(void)world_fini();
	return more;
}

static void cancel_all(uint64_t seed)
{
	size_t i, step;

	for (i = 0; i < N_WAYS; i++)
		for (step = 0; cancel_at(&ways[i], seed, step); step++)
			;
}

static void a_run_is_cancelled_at_every_step(void **state)
{
	each_seed(state, test_count(40), cancel_all);
}

/* False: there are not so many allocations. */
static bool starve_at(const struct way *way, uint64_t seed, size_t at)
{
	bool starved;
	int rc;

	world_init(seed);
	world.heap.fail = world.heap.calls + at;
	rc = way->start(&world);
	if (rc < 0) {
		assert_int_equal(rc, -ENOMEM);
		cancel();
		(void)world_fini();
		return true;
	}
	rc = world_fini();
	starved = world.heap.calls >= world.heap.fail;
	if (!starved || rc == 0)
		assert_int_equal(world.got.n, all_of());
	return starved;
}

static void starve_all(uint64_t seed)
{
	size_t i, at;

	for (i = 0; i < N_WAYS; i++)
		for (at = 1; starve_at(&ways[i], seed, at); at++)
			;
}

static void no_memory_is_an_error_and_loses_nothing(void **state)
{
	each_seed(state, test_count(20), starve_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(all_items_come_in_order, print_seed),
		cmocka_unit_test_teardown(a_run_is_cancelled_at_every_step,
					  print_seed),
		cmocka_unit_test_teardown(
			no_memory_is_an_error_and_loses_nothing, print_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
