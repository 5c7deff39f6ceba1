/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/world.h"

/* --- The gate ------------------------------------------------------------- */

static struct flow_world *world_of(const struct weir__op *op)
{
	return *(struct flow_world *const *)weir__op_args(op);
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
	struct flow_world *world = world_of(op);
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
	struct flow_world *world = context;

	world->at_ns[world->got.n] = world_now(&world->base);
	return got_one(item, &world->got);
}

void flow_world_init(struct flow_world *world, const struct weir_items *items)
{
	memset(world, 0, sizeof(*world));
	world_init(&world->base, 1, 0);
	assert_int_equal(weir_flow_queue_new(&world->queue, 1024,
					     WEIR_OVERFLOW_BACK_PRESSURE,
					     items),
			 0);
	world->flow = weir_flow_from_queue(world->queue);
}

void world_start(struct flow_world *world, size_t open)
{
	world->open = open;
	world->flow = weir__flow_upon(&gate_kind, world->flow, &world,
				      sizeof(world), true);
	world->flow = weir_flow_for_each(world->flow, out_of_world, world);
	assert_int_equal(weir_flow_start(world->flow, world->base.executor,
					 NULL, &world->run),
			 0);
}

void flow_offer(struct flow_world *world, intptr_t first, intptr_t last)
{
	void *item;

	for (; first <= last; first++) {
		item = world->got.counted ? (void *)item_new(first)
					  : (void *)first;
		assert_int_equal(weir_flow_queue_offer(world->queue, item), 0);
	}
}

void until(struct flow_world *world, uint64_t time_ns)
{
	assert_true(weir_sim_run_until(world->base.sim, time_ns, 100000) <
		    100000);
}

void let_pass(struct flow_world *world, size_t n)
{
	world->open = n;
	if (world->gate)
		weir__op_wake(world->gate);
	until(world, world_now(&world->base));
}

void flow_world_end(struct flow_world *world, int code)
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
	world_fini(&world->base);
	assert_int_equal(n_live, 0);
}
