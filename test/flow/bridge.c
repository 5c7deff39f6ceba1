/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows joined to publishers, actors and channels: each way from a source to a
 * sink is run to its end, cancelled at every step, and starved of memory at
 * every allocation, on many seeds. What comes out are the first numbers in
 * their order, and nothing is left.
 */
#include "flow/bridge_kit.h"

#include "actor/kit.h"
#include "support.h"

static struct bridge bridge;
static struct heap heap;
static struct weir_sim *sim;

static void world_init(uint64_t seed)
{
	struct weir_executor_options options = {
		.allocator = &heap.allocator,
	};

	memset(&bridge, 0, sizeof(bridge));
	heap_init(&heap, 0);
	assert_int_equal(weir_sim_new(&sim, seed, &options), 0);
	bridge.executor = weir_sim_executor(sim);
	bridge.allocator = &heap.allocator;
	bridge.got.counted = true;
	bridge.first = 1;
}

/* How the first run has ended. */
static int world_fini(void)
{
	int rc;

	bridge_let_go(&bridge);
	weir_sim_run(sim);
	rc = bridge_reap(&bridge);
	bridge_check(&bridge);
	sim_free(sim);
	assert_int_equal(heap.live, 0);
	return rc;
}

static void run_all(uint64_t seed)
{
	size_t i;

	for (i = 0; i < n_bridge_ways; i++) {
		world_init(seed);
		assert_int_equal(bridge_ways[i].start(&bridge), 0);
		assert_int_equal(world_fini(), 0);
		assert_int_equal(bridge.got.n, bridge_all(&bridge));
	}
}

static void all_items_come_in_order(void **state)
{
	for_each_seed(seed, test_count(2000))
		run_all(seed);
}

/* Begins, for so many steps. False: it was over before. */
static bool run_to(const struct bridge_way *way, uint64_t seed, size_t step)
{
	bool more = true;
	size_t i;

	world_init(seed);
	assert_int_equal(way->start(&bridge), 0);
	for (i = 0; i < step && more; i++)
		more = weir_sim_step(sim);
	return more;
}

/*
 * Each way, at each number from `from` on until it says that there are no more.
 */
static void go_through(uint64_t seed, size_t from,
		       bool (*go)(const struct bridge_way *way, uint64_t seed,
				  size_t at))
{
	size_t i, at;

	for (i = 0; i < n_bridge_ways; i++)
		for (at = from; go(&bridge_ways[i], seed, at); at++)
			;
}

static bool cancel_at(const struct bridge_way *way, uint64_t seed, size_t step)
{
	bool more = run_to(way, seed, step);

	bridge_cancel(&bridge);
	(void)world_fini();
	return more;
}

static void cancel_all(uint64_t seed)
{
	go_through(seed, 0, cancel_at);
}

static void a_run_is_cancelled_at_every_step(void **state)
{
	for_each_seed(seed, test_count(40))
		cancel_all(seed);
}

static bool drain_at(const struct bridge_way *way, uint64_t seed, size_t step)
{
	bool more = run_to(way, seed, step);

	weir_flow_run_end(bridge.runs[0]);
	weir_sim_run(sim);
	/* what is not a flow goes on */
	if (bridge.taker.bridge)
		weir_actor_stop(&bridge.taker.actor);
	assert_int_equal(world_fini(), 0);
	return more;
}

static void drain_all(uint64_t seed)
{
	go_through(seed, 0, drain_at);
}

static void a_run_is_drained_at_every_step(void **state)
{
	for_each_seed(seed, test_count(40))
		drain_all(seed);
}

/* False: there are not so many allocations. */
static bool starve_at(const struct bridge_way *way, uint64_t seed, size_t at)
{
	bool starved;
	int rc;

	world_init(seed);
	heap.fail = heap.calls + at;
	rc = way->start(&bridge);
	if (rc < 0) {
		assert_int_equal(rc, -ENOMEM);
		bridge_cancel(&bridge);
		(void)world_fini();
		return true;
	}
	rc = world_fini();
	starved = heap.calls >= heap.fail;
	if (!starved || rc == 0)
		assert_int_equal(bridge.got.n, bridge_all(&bridge));
	return starved;
}

static void starve_all(uint64_t seed)
{
	go_through(seed, 1, starve_at);
}

static void no_memory_is_an_error_and_loses_nothing(void **state)
{
	for_each_seed(seed, test_count(20))
		starve_all(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_items_come_in_order),
		cmocka_unit_test(a_run_is_cancelled_at_every_step),
		cmocka_unit_test(a_run_is_drained_at_every_step),
		cmocka_unit_test(no_memory_is_an_error_and_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
