/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways of bridge_kit.h on threads: they come to their end, and to another one
 * when they are cancelled meanwhile.
 */
#include "flow/bridge_kit.h"

#include <weir/testkit.h>

static struct bridge bridge;
static struct weir_threads *threads;

static void world_init(void)
{
	memset(&bridge, 0, sizeof(bridge));
	bridge.executor = weir_threads_executor(threads);
	bridge.got.counted = true;
	bridge.first = 1;
}

static void rest(void)
{
	struct weir_test_env env = weir_test_env_threads(threads);

	assert_int_equal(weir_test_settle(&env), 0);
}

/* `spins`: how long until it is cancelled; 0: it is not. */
static void run(const struct bridge_way *way, uint32_t spins)
{
	volatile uint32_t i;
	int rc;

	world_init();
	assert_int_equal(way->start(&bridge), 0);
	for (i = 1; i < spins; i++)
		;
	if (spins)
		bridge_cancel(&bridge);
	rc = bridge_reap(&bridge);
	bridge_let_go(&bridge);
	rest();
	bridge_check(&bridge);
	if (spins)
		return;
	assert_int_equal(rc, 0);
	assert_int_equal(bridge.got.n, bridge_all(&bridge));
}

static void run_on(uint32_t workers)
{
	const struct weir_threads_options options = {.workers = workers};
	uint64_t round, n = test_count(1000);
	size_t i;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	for (round = 0; round < n; round++) {
		for (i = 0; i < n_bridge_ways; i++) {
			run(&bridge_ways[i], 0);
			run(&bridge_ways[i],
			    1 + (uint32_t)(round * 97 % 20000));
		}
	}
	assert_int_equal(weir_threads_free(threads), 0);
}

static void all_goes_well_with_one_worker(void **state)
{
	run_on(1);
}

static void all_goes_well_with_two_workers(void **state)
{
	run_on(2);
}

static void all_goes_well_with_five_workers(void **state)
{
	run_on(5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_goes_well_with_one_worker),
		cmocka_unit_test(all_goes_well_with_two_workers),
		cmocka_unit_test(all_goes_well_with_five_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
