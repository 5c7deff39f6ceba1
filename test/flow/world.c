/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/world.h"

/* --- The gate ------------------------------------------------------------- */

static struct world *world_of(const struct weir__op *op)
{
	return *(struct world *const *)weir__op_args(op);
}

static int gate_start(struct weir__op *op)
{
	world_of(op)->gate = op;
	return 0;
}

static void gate_close(struct weir__op *op)
{
	world_of(op)->gate = NULL;
}

static size_t gate_pull(struct weir__op *op, void **items, size_t room)
{
	struct world *world = world_of(op);
	size_t n;

	if (room > world->open)
		room = world->open;
	n = weir__pull(op->up[0], items, room);
	if (world->open != OPEN)
		world->open -= n;
	(void)weir__op_follow(op);
	return n;
}

const struct weir__kind gate_kind = {
	.name = "gate",
	.open = gate_start,
	.pull = gate_pull,
	.close = gate_close,
	.holds = true,
};

/* --- The world ------------------------------------------------------------ */

int out_of_world(void *item, void *context)
{
	struct world *world = context;

	world->at_ns[world->got.n] =
		weir_executor_now(weir_sim_executor(world->sim));
	return got_one(item, &world->got);
}

void flow_world_init(struct world *world, const struct weir_items *items)
{
	memset(world, 0, sizeof(*world));
	assert_int_equal(weir_sim_new(&world->sim, 1, NULL), 0);
	assert_int_equal(weir_flow_queue_new(&world->queue, 1024,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     items),
			 0);
	world->flow = weir_flow_from_queue(world->queue);
}

void world_start(struct world *world, size_t open)
{
	world->open = open;
	world->flow = weir__flow_upon(&gate_kind, world->flow, &world,
				      sizeof(world), true);
	world->flow = weir_flow_for_each(world->flow, out_of_world, world);
	assert_int_equal(weir_flow_start(world->flow,
					 weir_sim_executor(world->sim), NULL,
					 &world->run),
			 0);
}

void flow_offer(struct world *world, intptr_t first, intptr_t last)
{
	void *item;

	for (; first <= last; first++) {
		item = world->got.counted ? (void *)item_new(first)
					  : (void *)first;
		assert_int_equal(weir_flow_queue_offer(world->queue, item), 0);
	}
}

void until(struct world *world, uint64_t time_ns)
{
	assert_true(weir_sim_run_until(world->sim, time_ns, 100000) < 100000);
}

void let_pass(struct world *world, size_t n)
{
	world->open = n;
	if (world->gate)
		weir__op_wake(world->gate);
	until(world, weir_executor_now(weir_sim_executor(world->sim)));
}

void flow_world_end(struct world *world, int code)
{
	struct weir_error *error = NULL;

	(void)weir_flow_queue_end(world->queue, NULL);
	assert_int_equal(
		weir_flow_run_wait(world->run, WEIR_FOREVER, NULL, &error), 0);
	assert_int_equal(error ? error->code : 0, code);
	weir_error_unref(error);
	weir_flow_run_free(world->run);
	weir_flow_free(world->flow);
	weir_flow_queue_free(world->queue);
	assert_int_equal(weir_sim_free(world->sim), 0);
	assert_int_equal(n_live, 0);
}
