/* SPDX-License-Identifier: BSD-2-Clause */
/* Demands and shared objects in a snapshot, which several actors are at. */
#include "inspect/kit.h"

#include "actor/kit.h"

static struct weir_sim *sim;
static struct weir_executor *executor;

static int setup(void **state)
{
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	return 0;
}

static int teardown(void **state)
{
	weir_sim_run(sim);
	sim_free(sim);
	return 0;
}

/* --- Demands -------------------------------------------------------------- */

static void a_demand_is_seen_from_both_of_its_ends(void **state)
{
	const struct weir_reactive_in_options few = {.prefetch = 2};
	struct node from, to;
	struct weir_reactive_out out;
	struct weir_reactive_in in;
	struct weir_snapshot *snapshot;
	const struct weir_seen_demand *demand;

	node_init(&from, executor, "from", 0, 1);
	node_init(&to, executor, "to", 1, 0);
	node_waits(&to);
	assert_int_equal(weir_reactive_out_init(&out, &from.outs[0], NULL), 0);
	assert_int_equal(weir_reactive_in_init(&in, &to.ins[0], &few), 0);
	assert_int_equal(
		weir_publisher_subscribe(&out.publisher, &in.subscriber), 0);
	node_start(&from);
	node_start(&to);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	snapshot = taken(executor);
	assert_true(snapshot->settled);
	assert_int_equal(snapshot->n_demands, 1);
	demand = &snapshot->demands[0];
	assert_ptr_equal(snapshot->ports[demand->from].port,
			 &from.outs[0].port);
	assert_ptr_equal(snapshot->ports[demand->to].port, &to.ins[0].port);
	/* two, and one more for the one that was taken */
	assert_int_equal(demand->requested, 3);
	assert_int_equal(demand->sent, 3);
	assert_int_equal(snapshot->ports[demand->from].wait, WEIR_WAIT_DEMAND);
	assert_true(snapshot->ports[demand->to].subscribes);
	weir_snapshot_free(snapshot);
	node_stop(&from);
	node_stop(&to);
	weir_sim_run(sim);
}

static void a_demand_of_an_outsider_has_one_end(void **state)
{
	struct node from, to;
	struct outsider before, behind;
	struct weir_reactive_out out;
	struct weir_reactive_in in;
	struct weir_snapshot *snapshot;
	const struct weir_seen_demand *demand;
	size_t i;

	node_init(&from, executor, "from", 0, 1);
	node_init(&to, executor, "to", 1, 0);
	outsider_init(&before);
	outsider_init(&behind);
	assert_int_equal(weir_reactive_out_init(&out, &from.outs[0], NULL), 0);
	assert_int_equal(weir_reactive_in_init(&in, &to.ins[0], NULL), 0);
	assert_int_equal(weir_publisher_subscribe(&out.publisher,
						  &behind.subscriber),
			 0);
	assert_int_equal(
		weir_publisher_subscribe(&before.publisher, &in.subscriber), 0);
	node_start(&from);
	node_start(&to);
	weir_sim_run(sim);
	outsider_request(&behind, 7);
	outsider_send(&before, 1);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_demands, 2);
	for (i = 0; i < 2; i++) {
		demand = &snapshot->demands[i];
		if (demand->from == WEIR_NOWHERE) {
			assert_ptr_equal(snapshot->ports[demand->to].port,
					 &to.ins[0].port);
			assert_ptr_equal(demand->subscription,
					 &before.subscription);
			assert_int_equal(demand->requested, before.requested);
			assert_int_equal(demand->sent, 1);
		} else {
			assert_int_equal(demand->to, WEIR_NOWHERE);
			assert_ptr_equal(demand->subscription, behind.from);
			assert_int_equal(demand->requested, 7);
			assert_int_equal(demand->sent, 7);
		}
	}
	assert_int_equal(behind.received, 7);
	weir_snapshot_free(snapshot);
	outsider_cancel(&behind);
	outsider_complete(&before);
	weir_sim_run(sim);
	node_stop(&from);
	node_stop(&to);
	weir_sim_run(sim);
}

static void a_subscriber_without_a_publisher_is_seen(void **state)
{
	struct node to;
	struct weir_reactive_in in;
	struct weir_snapshot *snapshot;

	node_init(&to, executor, "to", 1, 0);
	assert_int_equal(weir_reactive_in_init(&in, &to.ins[0], NULL), 0);
	node_start(&to);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_demands, 1);
	assert_null(snapshot->demands[0].subscription);
	assert_int_equal(snapshot->demands[0].to, 0);
	weir_snapshot_free(snapshot);
	node_stop(&to);
	weir_sim_run(sim);
}

/* Where a link is made there is no demand, but the link. */
static void a_link_is_no_demand(void **state)
{
	struct node from, to;
	struct weir_reactive_out out;
	struct weir_reactive_in in;
	struct weir_snapshot *snapshot;

	node_init(&from, executor, "from", 0, 1);
	node_init(&to, executor, "to", 1, 0);
	assert_int_equal(weir_reactive_out_init(&out, &from.outs[0], NULL), 0);
	assert_int_equal(weir_reactive_in_init(&in, &to.ins[0], NULL), 0);
	assert_int_equal(
		weir_publisher_subscribe(&out.publisher, &in.subscriber), 0);
	weir_actor_suspend(&to.actor);
	node_start(&from);
	node_start(&to);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_demands, 0);
	assert_int_equal(snapshot->n_links, 1);
	assert_int_equal(snapshot->links[0].fill, 4);
	weir_snapshot_free(snapshot);
	node_stop(&from);
	node_stop(&to);
	weir_sim_run(sim);
}

static void a_broadcast_has_a_relay_for_each_demand(void **state)
{
	struct node from;
	struct outsider some, none;
	struct weir_reactive_out out;
	struct weir_snapshot *snapshot;
	const struct weir_seen_demand *demand;
	size_t i;

	node_init(&from, executor, "from", 0, 1);
	outsider_init(&some);
	outsider_init(&none);
	assert_int_equal(weir_out_fan(&from.outs[0], WEIR_FAN_BROADCAST, 4), 0);
	assert_int_equal(weir_reactive_out_init(&out, &from.outs[0], NULL), 0);
	assert_int_equal(
		weir_publisher_subscribe(&out.publisher, &some.subscriber), 0);
	assert_int_equal(
		weir_publisher_subscribe(&out.publisher, &none.subscriber), 0);
	node_start(&from);
	weir_sim_run(sim);
	outsider_request(&some, 3);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_actors, 3);
	assert_int_equal(snapshot->n_demands, 2);
	for (i = 0; i < 2; i++) {
		demand = &snapshot->demands[i];
		assert_string_equal(
			snapshot->actors[snapshot->ports[demand->from].actor]
				.name,
			"relay");
		assert_int_equal(demand->requested,
				 demand->subscription == some.from ? 3 : 0);
		assert_int_equal(demand->sent, demand->requested);
	}
	weir_snapshot_free(snapshot);
	outsider_cancel(&some);
	outsider_cancel(&none);
	weir_sim_run(sim);
	node_stop(&from);
	weir_sim_run(sim);
}

/* --- Objects -------------------------------------------------------------- */

static const struct weir_seen_object *object_of(
	const struct weir_snapshot *snapshot, const struct weir_port *port)
{
	size_t i;

	for (i = 0; i < snapshot->n_ports; i++)
		if (snapshot->ports[i].port == port)
			break;
	assert_in_range(i, 0, snapshot->n_ports - 1);
	assert_int_not_equal(snapshot->ports[i].shared, WEIR_NOWHERE);
	return &snapshot->objects[snapshot->ports[i].shared];
}

static void granted(struct weir_acquire *acquire)
{
}

static void a_semaphore_is_seen_once_with_its_waiters(void **state)
{
	struct weir_acquire acquire = {.granted = granted};
	struct weir_semaphore semaphore;
	struct weir_snapshot *snapshot;
	const struct weir_seen_object *object;
	struct node nodes[3];
	size_t i;

	assert_int_equal(weir_semaphore_init(&semaphore, 2), 0);
	for (i = 0; i < 3; i++) {
		node_init(&nodes[i], executor, "taker", 0, 0);
		assert_int_equal(weir_semaphore_port_init(&nodes[i].permit,
							  &nodes[i].actor,
							  &semaphore),
				 0);
		node_waits(&nodes[i]);
		node_start(&nodes[i]);
		weir_sim_run_until(sim, 1, UINT64_MAX);
	}
	/* one permit is used up by a turn, the other is held for the next */
	assert_int_equal(weir_semaphore_acquire_async(&semaphore, &acquire, 5),
			 0);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_objects, 1);
	object = object_of(snapshot, &nodes[1].permit.port);
	assert_ptr_equal(object, object_of(snapshot, &nodes[2].permit.port));
	assert_ptr_equal(object->object, &semaphore);
	assert_int_equal(object->wait, WEIR_WAIT_PERMIT);
	assert_int_equal(object->fill, 0);
	/* two ports, and the request */
	assert_int_equal(object->takers, 3);
	for (i = 0; i < snapshot->n_ports; i++)
		assert_int_equal(snapshot->ports[i].held,
				 snapshot->ports[i].port ==
					 &nodes[0].permit.port);
	weir_snapshot_free(snapshot);
	assert_true(weir_semaphore_cancel(&semaphore, &acquire));
	for (i = 0; i < 3; i++)
		node_stop(&nodes[i]);
	weir_sim_run(sim);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
}

static void a_channel_is_seen_with_both_of_its_sides(void **state)
{
	struct weir_snapshot *snapshot;
	const struct weir_seen_object *object;
	struct weir_channel *channel;
	struct weir_channel_out out;
	struct weir_channel_in in;
	struct node putter, taker;
	size_t i;

	assert_int_equal(weir_channel_new(&channel, 4, NULL, NULL), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(weir_channel_try_put(channel, &in), 0);
	node_init(&putter, executor, "putter", 0, 0);
	node_init(&taker, executor, "taker", 0, 0);
	assert_int_equal(weir_channel_out_init(&out, &putter.actor, channel),
			 0);
	assert_int_equal(weir_channel_in_init(&in, &taker.actor, channel), 0);
	weir_actor_suspend(&taker.actor);
	node_start(&putter);
	node_start(&taker);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_objects, 1);
	object = object_of(snapshot, &out.port);
	assert_ptr_equal(object, object_of(snapshot, &in.port));
	assert_int_equal(object->wait, WEIR_WAIT_CHANNEL);
	assert_int_equal(object->capacity, 4);
	assert_int_equal(object->fill, 4);
	assert_int_equal(object->putters, 1);
	assert_false(object->ended);
	weir_snapshot_free(snapshot);
	node_stop(&putter);
	node_stop(&taker);
	weir_sim_run(sim);
	assert_int_equal(weir_channel_end(channel, NULL), 0);
	assert_int_equal(weir_channel_free(channel), 0);
}

static void a_completion_says_whether_it_is_complete(void **state)
{
	struct weir_completion completion;
	struct weir_completion_port done;
	struct weir_snapshot *snapshot;
	struct node node;

	assert_int_equal(weir_completion_init(&completion), 0);
	node_init(&node, executor, "node", 1, 0);
	assert_int_equal(
		weir_completion_port_init(&done, &node.actor, &completion), 0);
	node_start(&node);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(object_of(snapshot, &done.port)->takers, 1);
	assert_false(object_of(snapshot, &done.port)->ended);
	weir_snapshot_free(snapshot);
	assert_int_equal(weir_completion_complete(&completion, NULL), 0);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(object_of(snapshot, &done.port)->takers, 0);
	assert_true(object_of(snapshot, &done.port)->ended);
	weir_snapshot_free(snapshot);
	node_stop(&node);
	weir_sim_run(sim);
	assert_int_equal(weir_completion_fini(&completion), 0);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(a_demand_is_seen_from_both_of_its_ends),
		test(a_demand_of_an_outsider_has_one_end),
		test(a_subscriber_without_a_publisher_is_seen),
		test(a_link_is_no_demand),
		test(a_broadcast_has_a_relay_for_each_demand),
		test(a_semaphore_is_seen_once_with_its_waiters),
		test(a_channel_is_seen_with_both_of_its_sides),
		test(a_completion_says_whether_it_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
