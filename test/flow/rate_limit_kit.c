/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/rate_limit_kit.h"

/* --- What is expected ----------------------------------------------------- */

static void consumer_ask(struct consumer *consumer)
{
	size_t n = consumer->max - consumer->pending;

	assert_true(consumer->n < consumer->first + ASKS_MAX);
	consumer->asks[consumer->n++ % ASKS_MAX] = n;
	consumer->pending += n;
	consumer->asked += n;
}

void consumer_init(struct consumer *consumer, size_t max, size_t min)
{
	memset(consumer, 0, sizeof(*consumer));
	consumer->max = max;
	consumer->min = min;
	consumer_ask(consumer);
}

size_t next_batch(struct consumer *consumer)
{
	size_t *ask = &consumer->asks[consumer->first % ASKS_MAX];
	size_t n = consumer->max - consumer->min;

	if (n > *ask)
		n = *ask;
	*ask -= n;
	if (*ask == 0)
		consumer->first++;
	consumer->pending -= n;
	return n;
}

void ask_behind(struct consumer *consumer)
{
	if (consumer->pending <= consumer->min)
		consumer_ask(consumer);
}

const struct setting settings[] = {
	{1, 0},	  {2, 0},    {2, 1},	  {3, 1},      {7, 2},	  {10, 7},
	{100, 0}, {100, 20}, {100, 33},	  {100, 80},   {100, 99}, {256, 128},
	{257, 1}, {1000, 0}, {1000, 500}, {1000, 999},
};

const size_t n_settings = sizeof(settings) / sizeof(*settings);

/* --- Taking one by one ---------------------------------------------------- */

void take(struct flow_world *world, size_t n)
{
	world->open = n;
	if (world->gate)
		weir__op_wake(world->gate);
	assert_true(weir_sim_run_until(world->base.sim, 0, 100000) < 100000);
	assert_int_equal(world->open, 0);
}

void start_at_gate(struct flow_world *world, struct weir_flow *flow,
		   uint64_t seed, size_t unfused)
{
	struct weir_flow_run_options options = {.unfused = unfused};

	memset(world, 0, sizeof(*world));
	world_init(&world->base, seed, 0);
	flow = weir__flow_upon(&gate_kind, flow, &world, sizeof(world), true);
	world->flow = weir_flow_for_each(flow, got_one, &world->got);
	assert_int_equal(weir_flow_start(world->flow, world->base.executor,
					 &options, &world->run),
			 0);
	take(world, 0);
}

void end_at_gate(struct flow_world *world)
{
	weir_flow_run_stop(world->run, NULL);
	assert_int_equal(
		weir_flow_run_wait(world->run, WEIR_FOREVER, NULL, NULL), 0);
	weir_flow_run_free(world->run);
	weir_flow_free(world->flow);
	world_fini(&world->base);
}
