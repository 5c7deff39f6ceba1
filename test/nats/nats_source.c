/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats/kit.h"

#include <errno.h>
#include <string.h>

/* The numbers that have come, each once, in order. */
struct seen {
	uint64_t n, sum, last;
	bool in_order;
};

static int see(void **item, void *context)
{
	struct seen *seen = context;
	uint64_t number = number_of(*item);

	seen->in_order = (seen->n == 0 || number > seen->last) &&
			 (seen->n == 0 || seen->in_order);
	seen->n++;
	seen->sum += number;
	seen->last = number;
	return 0;
}

static void begin(struct nats_world *world, uint64_t n)
{
	nats_begin(world);
	server_stream(&world->server, "S");
	server_consumer(&world->server, "S", 30 * (int64_t)SECOND, -1);
	if (n > 0)
		server_publish(&world->server, "S", 1, n);
}

static void messages_come_in_order_and_are_done(void **state)
{
	struct seen seen = {0};
	struct nats_world world;
	struct weir_flow *flow;

	begin(&world, 1000);
	flow = nats_source(&world, (struct weir_nats_source_options){0});
	flow = weir_flow_map(flow, see, &seen);
	flow = weir_flow_same_items(flow);
	flow = weir_flow_nats_done(flow);
	flow = weir_flow_take(flow, 1000);
	assert_int_equal(nats_run(&world, weir_flow_ignore(flow), NULL), 0);
	assert_int_equal(seen.n, 1000);
	assert_int_equal(seen.sum, 1000 * 1001 / 2);
	assert_true(seen.in_order);
	assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
	await(nothing_unsettled, &world.server);
	assert_int_equal(server_left(&world.server, "S"), 0);
	nats_end(&world);
}

/* Also what came when the run was over. */
static void what_a_cancelled_run_has_not_taken_is_given_back(void **state)
{
	struct weir_nats_stats stats;
	struct nats_world world;
	struct weir_flow *flow;
	uint64_t i;

	begin(&world, 0);
	for (i = 1; i <= 20; i++) {
		server_publish(&world.server, "S", 3 * i - 2, 3 * i);
		flow = nats_source(&world,
				   (struct weir_nats_source_options){0});
		flow = weir_flow_take(weir_flow_nats_done(flow), 2);
		assert_int_equal(nats_run(&world, weir_flow_ignore(flow), NULL),
				 0);
		assert_int_equal(weir_nats_end_wait(world.nats, LONG), 0);
		assert_int_equal(weir_nats_stats(world.nats, &stats), 0);
		assert_int_equal(stats.done, 2 * i);
		assert_int_equal(stats.received + stats.excess,
				 stats.done + stats.retried);
	}
	nats_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_a_cancelled_run_has_not_taken_is_given_back),
		cmocka_unit_test(messages_come_in_order_and_are_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
