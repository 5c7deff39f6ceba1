/* SPDX-License-Identifier: BSD-2-Clause */
/* Stalls that are staged, and who is blamed for them. */
#include "inspect/kit.h"

#include "actor/kit.h"

enum { MOST = 9 };

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct node nodes[MOST];
static size_t n_nodes;

static int setup(void **state)
{
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	n_nodes = 0;
	return 0;
}

static int teardown(void **state)
{
	while (n_nodes > 0)
		node_stop(&nodes[--n_nodes]);
	weir_sim_run(sim);
	sim_free(sim);
	return 0;
}

static struct node *node(const char *name, size_t n_ins, size_t n_outs)
{
	node_init(&nodes[n_nodes], executor, name, n_ins, n_outs);
	return &nodes[n_nodes++];
}

/* Starts all, and runs as long as something moves at the time 0. */
static void run(void)
{
	size_t i;

	for (i = 0; i < n_nodes; i++)
		node_start(&nodes[i]);
	weir_sim_run_until(sim, 1, UINT64_MAX);
}

/* --- Who holds others up -------------------------------------------------- */

static void a_slow_consumer_holds_up_all_in_front_of_it(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d",	  "e",
					    "f", "g", "h", "slow"};
	size_t i;

	for (i = 0; i < MOST; i++)
		(void)node(names[i], i > 0, i < MOST - 1);
	node_waits(&nodes[MOST - 1]);
	for (i = 0; i + 1 < MOST; i++)
		node_link(&nodes[i], 0, &nodes[i + 1], 0);
	run();
	assert_string_equal(
		why(executor, NULL),
		"9 held up by: slow waits until 3600000000000 ns\n");
	assert_string_equal(why(executor, &nodes[6]),
			    "g waits for room in h\n"
			    "h waits for room in slow\n"
			    "slow waits until 3600000000000 ns\n");
}

static void a_slow_producer_is_no_stall(void **state)
{
	struct node *slow = node("slow", 0, 1), *sink = node("sink", 1, 0);

	node_waits(slow);
	node_link(slow, 0, sink, 0);
	run();
	assert_string_equal(why(executor, NULL),
			    "idle: nobody is held up, and nobody runs\n"
			    "slow waits until 3600000000000 ns\n");
	assert_string_equal(why(executor, sink),
			    "sink waits for input from slow\n"
			    "slow waits until 3600000000000 ns\n");
}

static void of_several_inputs_the_one_that_is_missing_is_named(void **state)
{
	struct node *quick = node("quick", 0, 1), *slow = node("slow", 0, 1);
	struct node *zip = node("zip", 2, 0);

	node_waits(slow);
	node_link(quick, 0, zip, 0);
	node_link(slow, 0, zip, 1);
	run();
	assert_string_equal(
		why(executor, NULL),
		"2 held up by: slow waits until 3600000000000 ns\n");
	assert_string_equal(why(executor, quick),
			    "quick waits for room in zip\n"
			    "zip.in2 waits for input from slow\n"
			    "slow waits until 3600000000000 ns\n");
}

static void an_idle_input_is_not_blamed_beside_a_stall(void **state)
{
	struct node *outside = node("outside", 1, 1), *two = node("two", 1, 2);
	struct node *slow = node("slow", 1, 0), *sink = node("sink", 1, 0);
	int i;

	/* `two` waits for room in `slow`, and for input of `outside` */
	node_waits(slow);
	node_link(outside, 0, two, 0);
	node_link(two, 0, sink, 0);
	node_link(two, 1, slow, 0);
	run();
	/* one is taken, at 1, four wait for an hour, and none is left */
	for (i = 0; i < 5; i++) {
		node_put(outside, 0);
		weir_sim_run_until(sim, 1, UINT64_MAX);
	}
	assert_string_equal(why(executor, two),
			    "two.out2 waits for room in slow\n"
			    "slow waits until 3600000000001 ns\n");
	assert_string_equal(why(executor, sink),
			    "sink waits for input from two\n"
			    "two.out2 waits for room in slow\n"
			    "slow waits until 3600000000001 ns\n");
}

static void an_input_from_outside_is_not_blamed_beside_another(void **state)
{
	struct node *slow = node("slow", 0, 1), *zip = node("zip", 2, 0);

	node_link(slow, 0, zip, 1);
	weir_actor_suspend(&slow->actor);
	run();
	assert_string_equal(why(executor, zip),
			    "zip.in2 waits for input from slow\n"
			    "slow is suspended\n");
}

static void that_there_is_no_room_counts_before_a_missing_input(void **state)
{
	struct node *source = node("source", 1, 1), *map = node("map", 1, 1);
	struct node *slow = node("slow", 1, 0);
	int i;

	node_link(source, 0, map, 0);
	node_link(map, 0, slow, 0);
	weir_actor_suspend(&slow->actor);
	run();
	for (i = 0; i < 4; i++) {
		node_put(source, 0);
		weir_sim_run_until(sim, 1, UINT64_MAX);
	}
	weir_actor_suspend(&source->actor);
	assert_string_equal(why(executor, map), "map waits for room in slow\n"
						"slow is suspended\n");
}

static void a_permit_that_is_not_released_is_told(void **state)
{
	struct node *source = node("source", 0, 1), *sink = node("sink", 1, 0);
	struct weir_semaphore semaphore;

	assert_int_equal(weir_semaphore_init(&semaphore, 3), 0);
	assert_int_equal(weir_semaphore_port_init(&sink->permit, &sink->actor,
						  &semaphore),
			 0);
	node_link(source, 0, sink, 0);
	run();
	assert_string_equal(why(executor, NULL),
			    "2 held up by: sink waits for a permit: "
			    "0 free\n");
	node_stop(sink);
	weir_sim_run(sim);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
}

static void a_suspended_actor_is_told(void **state)
{
	struct node *source = node("source", 0, 1), *sink = node("sink", 1, 0);

	node_link(source, 0, sink, 0);
	weir_actor_suspend(&sink->actor);
	run();
	assert_string_equal(why(executor, NULL),
			    "2 held up by: sink is suspended\n");
}

static void an_out_port_without_a_link_is_told(void **state)
{
	struct node *source = node("source", 0, 1), *map = node("map", 1, 2);
	struct node *sink = node("sink", 1, 0);

	node_link(source, 0, map, 0);
	node_link(map, 0, sink, 0);
	run();
	assert_string_equal(
		why(executor, NULL),
		"2 held up by: map.out2 has an out-port that is linked "
		"to nobody\n");
}

/* --- Streams -------------------------------------------------------------- */

static struct weir_reactive_out publisher;
static struct weir_reactive_in subscriber;
static struct outsider outsider; /* which actors may hold up to their end */

static void publish(struct node *from)
{
	assert_int_equal(
		weir_reactive_out_init(&publisher, &from->outs[0], NULL), 0);
}

static void subscribe(struct node *to, struct weir_publisher *what,
		      const struct weir_reactive_in_options *options)
{
	assert_int_equal(
		weir_reactive_in_init(&subscriber, &to->ins[0], options), 0);
	if (what)
		assert_int_equal(
			weir_publisher_subscribe(what, &subscriber.subscriber),
			0);
}

static void a_subscriber_that_requests_nothing_is_told(void **state)
{
	const struct weir_reactive_in_options none = {
		.demand = weir_demand_zero};
	struct node *source = node("source", 0, 1), *map = node("map", 1, 1);
	struct node *sink = node("sink", 1, 0);

	node_link(source, 0, map, 0);
	publish(map);
	subscribe(sink, &publisher.publisher, &none);
	run();
	assert_string_equal(why(executor, NULL),
			    "2 held up by: sink has requested no more than 0 "
			    "items\n");
	assert_string_equal(why(executor, map),
			    "map waits for demand of sink\n"
			    "sink has requested no more than 0 items\n");
}

static void an_outsider_that_requests_too_little_is_told(void **state)
{
	struct node *source = node("source", 0, 1), *map = node("map", 1, 1);

	outsider_init(&outsider);
	node_link(source, 0, map, 0);
	publish(map);
	assert_int_equal(weir_publisher_subscribe(&publisher.publisher,
						  &outsider.subscriber),
			 0);
	run();
	outsider_request(&outsider, 3);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	assert_string_equal(
		why(executor, NULL),
		"2 held up by: map waits for demand of a subscriber outside, "
		"which has requested no more than 3 items\n");
	outsider_cancel(&outsider);
}

static void a_publisher_outside_that_sends_nothing_is_told(void **state)
{
	struct node *map = node("map", 1, 1), *sink = node("sink", 1, 0);

	outsider_init(&outsider);
	subscribe(map, &outsider.publisher, NULL);
	node_link(map, 0, sink, 0);
	run();
	outsider_send(&outsider, 1);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	assert_string_equal(why(executor, sink),
			    "sink waits for input from map\n"
			    "map waits for 3 items that a publisher outside "
			    "owes\n");
	outsider_complete(&outsider);
}

static void a_subscriber_that_nobody_subscribes_is_told(void **state)
{
	struct node *sink = node("sink", 1, 0);

	subscribe(sink, NULL, NULL);
	run();
	assert_string_equal(why(executor, sink),
			    "sink waits for a publisher: it is not "
			    "subscribed\n");
}

/* It requests where it takes nothing, and so could go on. */
static void a_subscriber_that_also_has_a_link_is_no_cycle(void **state)
{
	const struct weir_reactive_in_options none = {
		.demand = weir_demand_zero};
	struct node *source = node("source", 0, 2), *sink = node("sink", 2, 0);

	publish(source);
	subscribe(sink, &publisher.publisher, &none);
	node_link(source, 1, sink, 1);
	run();
	assert_string_equal(why(executor, NULL),
			    "1 held up by: sink.in1 has requested no more than "
			    "0 items\n");
	assert_string_equal(why(executor, source),
			    "source.out1 waits for demand of sink\n"
			    "sink.in1 has requested no more than 0 items\n");
}

/* --- Objects -------------------------------------------------------------- */

static void takes_from(struct node *node, struct weir_semaphore_port *port,
		       struct weir_semaphore *semaphore)
{
	assert_int_equal(
		weir_semaphore_port_init(port, &node->actor, semaphore), 0);
}

static void two_semaphores_in_opposite_order_are_a_deadlock(void **state)
{
	struct node *a = node("a", 0, 0), *b = node("b", 0, 0);
	struct weir_semaphore one, other;
	struct weir_semaphore_port ports[4];

	assert_int_equal(weir_semaphore_init(&one, 0), 0);
	assert_int_equal(weir_semaphore_init(&other, 0), 0);
	takes_from(a, &ports[0], &one);
	takes_from(a, &ports[1], &other);
	takes_from(b, &ports[2], &other);
	takes_from(b, &ports[3], &one);
	run();
	/* each gets its first one */
	assert_int_equal(weir_semaphore_release(&one, 1), 0);
	assert_int_equal(weir_semaphore_release(&other, 1), 0);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	assert_string_equal(why(executor, NULL),
			    "a.permit2 waits for a permit that b holds\n"
			    "b.permit2 waits for a permit that a holds\n"
			    "this is a cycle: they wait for each other\n");
	node_stop(a);
	node_stop(b);
	weir_sim_run(sim);
	assert_int_equal(weir_semaphore_fini(&one), 0);
	assert_int_equal(weir_semaphore_fini(&other), 0);
}

static void a_full_channel_waits_for_who_takes_from_it(void **state)
{
	struct node *source = node("source", 0, 1),
		    *putter = node("putter", 1, 0);
	struct node *taker = node("taker", 0, 0);
	struct weir_channel *channel;
	struct weir_channel_out out;
	struct weir_channel_in in;
	int i;

	assert_int_equal(weir_channel_new(&channel, 2, NULL, NULL), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_channel_try_put(channel, &i), 0);
	node_link(source, 0, putter, 0);
	assert_int_equal(weir_channel_out_init(&out, &putter->actor, channel),
			 0);
	run();
	assert_string_equal(why(executor, NULL),
			    "2 held up by: putter waits for room in a "
			    "channel: 2 of 2 in it\n");
	node_stop(taker);
	weir_sim_run(sim);
	node_init(taker, executor, "taker", 0, 0);
	assert_int_equal(weir_channel_in_init(&in, &taker->actor, channel), 0);
	weir_actor_suspend(&taker->actor);
	node_start(taker);
	weir_sim_run_until(sim, 1, UINT64_MAX);
	assert_string_equal(why(executor, putter),
			    "putter waits for room in a channel, by taker\n"
			    "taker is suspended\n");
	while (n_nodes > 0)
		node_stop(&nodes[--n_nodes]);
	weir_sim_run(sim);
	assert_int_equal(weir_channel_end(channel, NULL), 0);
	assert_int_equal(weir_channel_free(channel), 0);
}

/* --- One is enough -------------------------------------------------------- */

/* Of an actor that waits for any of two, the way that is found first counts. */
static void of_any_the_one_that_is_nearest_is_told(void **state)
{
	struct node *slow = node("slow", 0, 2), *late = node("late", 1, 1);
	struct node *leaf = node("leaf", 2, 0);
	struct weir_any any;
	int i;

	node_link(slow, 0, late, 0);
	node_link(late, 0, leaf, 0);
	node_link(slow, 1, leaf, 1);
	assert_int_equal(weir_any_init(&any, &leaf->actor), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_any_add(&any, &leaf->ins[i].port), 0);
	weir_actor_suspend(&slow->actor);
	run();
	assert_string_equal(why(executor, leaf),
			    "leaf.in2 waits for input from slow\n"
			    "slow is suspended\n");
	while (n_nodes > 0)
		node_stop(&nodes[--n_nodes]);
	weir_sim_run(sim);
}

/* What it gives back to itself is no way out, nor a cycle. */
static void a_merge_waits_for_the_one_that_does_not_wait_for_it(void **state)
{
	struct node *merge = node("merge", 1, 1), *back = node("back", 1, 1);
	struct node *slow = node("slow", 0, 1);

	assert_int_equal(weir_in_merge(&merge->ins[0], WEIR_MERGE_ALL), 0);
	node_link(back, 0, merge, 0);
	node_link(slow, 0, merge, 0);
	node_link(merge, 0, back, 0);
	weir_actor_suspend(&slow->actor);
	run();
	assert_string_equal(why(executor, back),
			    "back waits for input from merge\n"
			    "merge waits for input from slow\n"
			    "slow is suspended\n");
}

static struct weir_channel *channel;

static void channel_open(void)
{
	assert_int_equal(weir_channel_new(&channel, 2, NULL, NULL), 0);
}

static void channel_close(void)
{
	while (n_nodes > 0)
		node_stop(&nodes[--n_nodes]);
	weir_sim_run(sim);
	(void)weir_channel_end(channel, NULL);
	assert_int_equal(weir_channel_free(channel), 0);
}

static void of_a_channel_any_putter_is_enough(void **state)
{
	struct node *taker = node("taker", 0, 1), *back = node("back", 1, 0);
	struct node *slow = node("slow", 0, 0);
	struct weir_channel_out outs[2];
	struct weir_channel_in in;

	channel_open();
	assert_int_equal(weir_channel_in_init(&in, &taker->actor, channel), 0);
	assert_int_equal(weir_channel_out_init(&outs[0], &back->actor, channel),
			 0);
	assert_int_equal(weir_channel_out_init(&outs[1], &slow->actor, channel),
			 0);
	node_link(taker, 0, back, 0);
	weir_actor_suspend(&slow->actor);
	run();
	assert_string_equal(why(executor, back),
			    "back waits for input from taker\n"
			    "taker waits for an item in a channel, by slow\n"
			    "slow is suspended\n");
	channel_close();
}

static void a_channel_that_nobody_puts_into_is_outside(void **state)
{
	struct node *slow = node("slow", 0, 1), *sink = node("sink", 1, 0);
	struct weir_channel_in in;

	channel_open();
	node_link(slow, 0, sink, 0);
	assert_int_equal(weir_channel_in_init(&in, &sink->actor, channel), 0);
	weir_actor_suspend(&slow->actor);
	run();
	assert_string_equal(why(executor, sink),
			    "sink waits for input from slow\n"
			    "slow is suspended\n");
	channel_close();
}

static void who_waits_at_an_empty_channel_is_idle(void **state)
{
	struct node *sink = node("sink", 0, 0);
	struct weir_channel_in in;

	channel_open();
	assert_int_equal(weir_channel_in_init(&in, &sink->actor, channel), 0);
	run();
	assert_string_equal(why(executor, NULL),
			    "idle: nobody is held up, and nobody runs\n"
			    "sink waits for an item in a channel: 0 of 2 in "
			    "it\n");
	channel_close();
}

static int same(void **passed, void *context)
{
	return 0;
}

/* No link has an item. */
static void a_call_that_does_not_return_holds_its_flow_up(void **state)
{
	struct weir_sim *other = sim_new(2);
	const struct weir_flow_parallel_options options = {
		.executor = weir_sim_executor(other)};
	struct weir_executor *both[2] = {executor, options.executor};
	struct weir_flow *flow = weir_flow_range(1, 1000);
	struct weir_snapshot *snapshot;
	struct weir_flow_run *flow_run;
	char text[256];

	flow = weir_flow_ignore(weir_flow_map_parallel(flow, 2, WEIR_ORDER_KEPT,
						       same, NULL, &options));
	assert_int_equal(weir_flow_start(flow, executor, NULL, &flow_run), 0);
	run();
	assert_int_equal(weir_snapshot_new(&snapshot, both, 2, 1), 0);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_string_equal(text,
			    "1 held up by: map_parallel is about to run\n");
	weir_snapshot_free(snapshot);
	weir_flow_run_stop(flow_run, NULL);
	weir_sim_run(sim);
	weir_sim_run(other);
	weir_sim_run(sim);
	weir_flow_run_free(flow_run);
	weir_flow_free(flow);
	sim_free(other);
}

/* --- Cycles ---------------------------------------------------------------- */

static void a_cycle_without_a_token_is_a_deadlock(void **state)
{
	struct node *a = node("a", 1, 1), *b = node("b", 1, 1);
	struct node *c = node("c", 1, 1);
	struct weir_reason reasons[4];
	struct weir_snapshot *snapshot;

	node_link(a, 0, b, 0);
	node_link(b, 0, c, 0);
	node_link(c, 0, a, 0);
	run();
	assert_string_equal(why(executor, NULL),
			    "a waits for input from c\n"
			    "c waits for input from b\n"
			    "b waits for input from a\n"
			    "this is a cycle: they wait for each other\n");
	snapshot = taken(executor);
	assert_int_equal(weir_snapshot_why(snapshot, 1, reasons, 4), 3);
	assert_int_equal(reasons[2].next, reasons[0].actor);
	assert_int_equal(reasons[1].wait, WEIR_WAIT_INPUT);
	/* fewer are told, all are counted */
	assert_int_equal(weir_snapshot_why(snapshot, 1, reasons, 2), 3);
	weir_snapshot_free(snapshot);
}

static void who_waits_for_a_cycle_is_told_of_it(void **state)
{
	struct node *a = node("a", 2, 1), *b = node("b", 1, 1);
	struct node *source = node("source", 0, 1);

	node_link(a, 0, b, 0);
	node_link(b, 0, a, 0);
	node_link(source, 0, a, 1);
	run();
	assert_string_equal(why(executor, source),
			    "source waits for room in a\n"
			    "a.in1 waits for input from b\n"
			    "b waits for input from a\n"
			    "this is a cycle: they wait for each other\n");
}

/* What the delay holds goes on by itself. */
static void a_cycle_that_an_operator_can_end_is_none(void **state)
{
	struct node *source = node("source", 0, 2), *zip = node("zip", 2, 0);
	struct weir_flow *flow = weir_flow_from_out(&source->outs[0], 4);
	struct weir_flow_run *flow_run;

	flow = weir_flow_delay(flow, UINT64_C(3600000000000), 8);
	flow = weir_flow_into_in(flow, &zip->ins[0]);
	assert_int_equal(weir_flow_start(flow, executor, NULL, &flow_run), 0);
	node_link(source, 1, zip, 1);
	run();
	assert_string_equal(why(executor, NULL),
			    "2 held up by: delay waits until 3600000000000 ns "
			    "in delay\n");
	assert_string_equal(why(executor, source),
			    "source.out2 waits for room in zip\n"
			    "zip.in1 waits for input from delay\n"
			    "delay waits until 3600000000000 ns in delay\n");
	while (n_nodes > 0)
		node_stop(&nodes[--n_nodes]);
	weir_sim_run(sim);
	weir_flow_run_free(flow_run);
	weir_flow_free(flow);
}

/* --- Ended ---------------------------------------------------------------- */

static int stay(struct weir_actor *actor, struct weir_in *in,
		struct weir_error *error)
{
	return 0;
}

static int stay_cancelled(struct weir_actor *actor, struct weir_out *out)
{
	return 0;
}

static void who_stays_behind_the_end_of_its_input_is_told(void **state)
{
	struct node *source = node("source", 1, 1), *sink = node("sink", 1, 0);

	sink->ops.ended = stay;
	node_link(source, 0, sink, 0);
	run();
	node_stop(source);
	weir_sim_run(sim);
	assert_string_equal(why(executor, sink),
			    "sink waits until it is woken: in has ended\n");
}

/* Nobody waits for an output that was cancelled: it drops what is put. */
static void who_stays_when_both_ends_are_gone_is_told(void **state)
{
	struct node *source = node("source", 1, 1), *map = node("map", 1, 1);
	struct node *sink = node("sink", 1, 0);

	map->ops.ended = stay;
	map->ops.cancelled = stay_cancelled;
	node_link(source, 0, map, 0);
	node_link(map, 0, sink, 0);
	run();
	node_stop(sink);
	weir_sim_run(sim);
	assert_string_equal(why(executor, map),
			    "map waits for input from source\n"
			    "source waits for input from outside\n");
	node_stop(source);
	weir_sim_run(sim);
	assert_string_equal(why(executor, map),
			    "map waits until it is woken: in has ended, out "
			    "was cancelled\n");
}

/* --- No stall ------------------------------------------------------------- */

static void without_actors_there_is_nobody(void **state)
{
	assert_string_equal(why(executor, NULL), "no actor is alive\n");
}

static void who_waits_for_the_outside_is_idle(void **state)
{
	struct node *first = node("first", 1, 1), *sink = node("sink", 1, 0);

	node_link(first, 0, sink, 0);
	run();
	assert_string_equal(why(executor, NULL),
			    "idle: nobody is held up, and nobody runs\n"
			    "first waits for input from outside\n");
	assert_string_equal(why(executor, sink),
			    "sink waits for input from first\n"
			    "first waits for input from outside\n");
}

static void a_flow_into_an_idle_actor_is_idle(void **state)
{
	struct node *first = node("first", 1, 1), *sink = node("sink", 1, 0);
	struct weir_flow *flow = weir_flow_from_out(&first->outs[0], 4);
	struct weir_flow_run *flow_run;

	flow = weir_flow_into_in(flow, &sink->ins[0]);
	assert_int_equal(weir_flow_start(flow, executor, NULL, &flow_run), 0);
	run();
	assert_string_equal(why(executor, NULL),
			    "idle: nobody is held up, and nobody runs\n"
			    "first waits for input from outside\n");
	while (n_nodes > 0)
		node_stop(&nodes[--n_nodes]);
	weir_sim_run(sim);
	weir_flow_run_free(flow_run);
	weir_flow_free(flow);
}

static void who_is_about_to_run_holds_nobody_up(void **state)
{
	struct node *source = node("source", 0, 1), *sink = node("sink", 1, 0);

	node_link(source, 0, sink, 0);
	node_start(source);
	node_start(sink);
	assert_string_equal(why(executor, NULL), "nobody is held up\n");
	assert_string_equal(why(executor, sink), "sink is about to run\n");
}

static void bad_input_says_nothing(void **state)
{
	struct weir_reason reason;
	struct weir_snapshot *snapshot = taken(executor);
	char text[8] = "text";

	assert_int_equal(weir_snapshot_why(NULL, 0, &reason, 1), 0);
	assert_int_equal(weir_snapshot_why(snapshot, 0, &reason, 1), 0);
	assert_int_equal(weir_snapshot_why_text(NULL, WEIR_NOWHERE, text, 8),
			 0);
	assert_int_equal(weir_snapshot_why_text(snapshot, 7, text, 8), 0);
	assert_string_equal(text, "");
	weir_snapshot_free(snapshot);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(a_slow_consumer_holds_up_all_in_front_of_it),
		test(a_slow_producer_is_no_stall),
		test(of_several_inputs_the_one_that_is_missing_is_named),
		test(an_idle_input_is_not_blamed_beside_a_stall),
		test(an_input_from_outside_is_not_blamed_beside_another),
		test(that_there_is_no_room_counts_before_a_missing_input),
		test(a_permit_that_is_not_released_is_told),
		test(a_suspended_actor_is_told),
		test(an_out_port_without_a_link_is_told),
		test(a_subscriber_that_requests_nothing_is_told),
		test(an_outsider_that_requests_too_little_is_told),
		test(a_publisher_outside_that_sends_nothing_is_told),
		test(a_subscriber_that_nobody_subscribes_is_told),
		test(a_subscriber_that_also_has_a_link_is_no_cycle),
		test(two_semaphores_in_opposite_order_are_a_deadlock),
		test(a_full_channel_waits_for_who_takes_from_it),
		test(of_any_the_one_that_is_nearest_is_told),
		test(a_merge_waits_for_the_one_that_does_not_wait_for_it),
		test(of_a_channel_any_putter_is_enough),
		test(a_channel_that_nobody_puts_into_is_outside),
		test(who_waits_at_an_empty_channel_is_idle),
		test(a_call_that_does_not_return_holds_its_flow_up),
		test(a_cycle_without_a_token_is_a_deadlock),
		test(who_waits_for_a_cycle_is_told_of_it),
		test(a_cycle_that_an_operator_can_end_is_none),
		test(who_stays_behind_the_end_of_its_input_is_told),
		test(who_stays_when_both_ends_are_gone_is_told),
		test(without_actors_there_is_nobody),
		test(who_waits_for_the_outside_is_idle),
		test(a_flow_into_an_idle_actor_is_idle),
		test(who_is_about_to_run_holds_nobody_up),
		test(bad_input_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
