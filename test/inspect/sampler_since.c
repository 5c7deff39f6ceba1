/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stalls that are staged at 300 ms, and looked at at 2,600 ms: since when each
 * actor on the way waits, to the nanosecond.
 */
#include "inspect/kit.h"

#include "actor/kit.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { MOST = 9 };

static struct weir_sim *sim;
static struct weir_executor *executor;
static struct weir_sampler *sampler;
static struct node nodes[MOST];
static size_t n_nodes;

static int setup(void **state)
{
	const struct weir_sampler_options options = {.by_hand = true};

	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	n_nodes = 0;
	assert_int_equal(weir_sampler_new(&sampler, &executor, 1, &options), 0);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(weir_sampler_free(sampler), 0);
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

/* Looks after each slice, and when the time has come. */
static void run_to(uint64_t ms)
{
	while (weir_sim_run_until(sim, ms * MS, 1) > 0)
		assert_int_equal(weir_sampler_step(sampler), 0);
	assert_int_equal(weir_sampler_step(sampler), 0);
}

static void start_all(void)
{
	size_t i;

	for (i = 0; i < n_nodes; i++)
		node_start(&nodes[i]);
	run_to(300);
}

/* What is said of the program, or of an actor, at 2,600 ms. */
static const char *said(const struct node *of)
{
	static char text[1024];
	struct weir_snapshot *snapshot;
	size_t actor = WEIR_NOWHERE;

	run_to(2600);
	assert_int_equal(weir_sampler_snapshot(sampler, &snapshot), 0);
	assert_true(snapshot->settled);
	if (of)
		actor = weir_snapshot_find(snapshot, &of->actor);
	(void)weir_snapshot_why_text(snapshot, actor, text, sizeof(text));
	weir_snapshot_free(snapshot);
	return text;
}

/* So many, one after the other. */
static void put(struct node *first, size_t n)
{
	while (n-- > 0) {
		node_put(first, 0);
		run_to(weir_executor_now(executor) / MS);
	}
}

/* --- On the way ----------------------------------------------------------- */

static void in_a_chain_each_waits_since_its_link_was_full(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d",	  "e",
					    "f", "g", "h", "slow"};
	size_t i;

	for (i = 0; i < MOST; i++)
		(void)node(names[i], 1, i < MOST - 1);
	node_waits(&nodes[MOST - 1]);
	for (i = 0; i + 1 < MOST; i++)
		node_link(&nodes[i], 0, &nodes[i + 1], 0);
	start_all();
	put(&nodes[0], 5); /* one is taken, four fill the last link */
	run_to(1000);
	put(&nodes[0], 4); /* the one before */
	run_to(2000);
	put(&nodes[0], 4);
	assert_string_equal(said(&nodes[5]),
			    "f waits for room in g, for 600 ms\n"
			    "g waits for room in h, for 1.6 s\n"
			    "h waits for room in slow, for 2.3 s\n"
			    "slow waits until 3600300000000 ns, for 2.3 s\n");
}

static void an_input_that_is_missing_is_missed_since_the_last(void **state)
{
	struct node *quick = node("quick", 1, 1), *slow = node("slow", 1, 1);
	struct node *zip = node("zip", 2, 0);

	node_waits(slow);
	node_link(quick, 0, zip, 0);
	node_link(slow, 0, zip, 1);
	start_all();
	put(slow, 1);
	put(slow, 1);
	put(quick, 1);
	run_to(700);
	put(quick, 4);
	assert_string_equal(said(zip),
			    "zip.in2 waits for input from slow, for 2.3 s\n"
			    "slow waits until 3600300000000 ns, for 2.3 s\n");
}

static void a_cycle_waits_since_its_token_went(void **state)
{
	struct node *a = node("a", 2, 1), *b = node("b", 1, 1);

	node_link(a, 0, b, 0);
	node_link(b, 0, a, 0);
	start_all();
	assert_string_equal(said(NULL),
			    "a.in1 waits for input from b, for 2.6 s\n"
			    "b waits for input from a, for 2.6 s\n"
			    "this is a cycle: they wait for each other\n");
}

/* --- Roots ---------------------------------------------------------------- */

static void a_permit_is_missed_since_the_last_one(void **state)
{
	struct node *source = node("source", 1, 1), *sink = node("sink", 1, 0);
	struct weir_semaphore semaphore;

	assert_int_equal(weir_semaphore_init(&semaphore, 1), 0);
	assert_int_equal(weir_semaphore_port_init(&sink->permit, &sink->actor,
						  &semaphore),
			 0);
	node_link(source, 0, sink, 0);
	start_all();
	put(source, 1);
	run_to(700);
	put(source, 1);
	assert_non_null(strstr(said(NULL), "for 2.3 s\n"));
	node_stop(sink);
	weir_sim_run(sim);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
}

static void who_is_suspended_is_since_then(void **state)
{
	struct node *source = node("source", 1, 1), *sink = node("sink", 1, 0);

	node_link(source, 0, sink, 0);
	start_all();
	weir_actor_suspend(&sink->actor);
	put(source, 2);
	run_to(1200);
	put(source, 1);
	assert_string_equal(said(sink), "sink is suspended, for 2.3 s\n");
}

static void an_out_port_without_a_link_waits_from_the_start(void **state)
{
	struct node *source = node("source", 1, 1), *map = node("map", 1, 2);
	struct node *sink = node("sink", 1, 0);

	node_link(source, 0, map, 0);
	node_link(map, 0, sink, 0);
	start_all();
	put(source, 1);
	assert_string_equal(said(map),
			    "map.out2 has an out-port that is linked to "
			    "nobody, for 2.6 s\n");
}

static void input_from_outside_is_missed_since_the_last(void **state)
{
	struct node *first = node("first", 1, 1), *sink = node("sink", 1, 0);

	node_link(first, 0, sink, 0);
	start_all();
	put(first, 3);
	assert_string_equal(said(sink),
			    "sink waits for input from first, for 2.3 s\n"
			    "first waits for input from outside, for 2.3 s\n");
}

static void a_descriptor_is_not_ready_since_the_last_read(void **state)
{
	struct node *reader = node("reader", 1, 0);
	struct weir_fd port;
	int fd = eventfd(0, EFD_NONBLOCK);

	assert_true(fd >= 0);
	assert_int_equal(weir_fd_init(&port, &reader->actor, fd, POLLIN), 0);
	start_all();
	assert_non_null(strstr(said(reader), "is readable, for 2.6 s\n"));
	node_stop(reader);
	weir_sim_run(sim);
	close(fd);
}

static struct weir_fd full;
static int full_fd;

/* The first one fills the descriptor. */
static void write_once(struct node *self)
{
	if (eventfd_write(full_fd, UINT64_MAX - 1) < 0)
		assert_int_equal(weir_fd_again(&full), 0);
}

static void a_descriptor_takes_nothing_since_the_last_write(void **state)
{
	struct node *writer = node("writer", 1, 0);
	int fd = eventfd(0, EFD_NONBLOCK);
	char expected[128];

	assert_true(fd >= 0);
	full_fd = fd;
	assert_int_equal(weir_fd_init(&full, &writer->actor, fd, POLLOUT), 0);
	writer->before = write_once;
	start_all();
	put(writer, 1);
	run_to(900);
	put(writer, 1);
	run_to(1200);
	put(writer, 1);
	(void)snprintf(expected, sizeof(expected),
		       "1 held up by: writer waits until descriptor %d is "
		       "writable, for 1.7 s\n",
		       fd);
	assert_string_equal(said(NULL), expected);
	node_stop(writer);
	weir_sim_run(sim);
	close(fd);
}

static void an_outlet_of_a_broadcast_is_full_since_the_last_item(void **state)
{
	struct node *source = node("source", 1, 1),
		    *quick = node("quick", 1, 0);
	struct node *slow = node("slow", 1, 0);

	assert_int_equal(weir_out_fan(&source->outs[0], WEIR_FAN_BROADCAST, 4),
			 0);
	node_waits(slow);
	node_link(source, 0, quick, 0);
	node_link(source, 0, slow, 0);
	start_all();
	put(source, 1);
	run_to(900);
	put(source, 5);
	assert_string_equal(said(source),
			    "source waits for room in slow, for 1.7 s\n"
			    "slow waits until 3600300000000 ns, for 2.3 s\n");
}

static void two_permits_are_waited_for_since_they_were_taken(void **state)
{
	struct node *a = node("a", 0, 0), *b = node("b", 0, 0);
	struct weir_semaphore semaphores[2];
	struct weir_semaphore_port ports[4];
	size_t i;

	for (i = 0; i < 2; i++)
		assert_int_equal(weir_semaphore_init(&semaphores[i], 0), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(
			weir_semaphore_port_init(&ports[i],
						 i < 2 ? &a->actor : &b->actor,
						 &semaphores[i == 1 || i == 2]),
			0);
	start_all();
	assert_int_equal(weir_semaphore_release(&semaphores[0], 1), 0);
	run_to(800);
	assert_int_equal(weir_semaphore_release(&semaphores[1], 1), 0);
	assert_string_equal(
		said(NULL),
		"a.permit2 waits for a permit that b holds, for 2.3 s\n"
		"b.permit2 waits for a permit that a holds, for 1.8 s\n"
		"this is a cycle: they wait for each other\n");
	node_stop(a);
	node_stop(b);
	weir_sim_run(sim);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_semaphore_fini(&semaphores[i]), 0);
}

/* --- Streams -------------------------------------------------------------- */

static struct weir_reactive_out publisher;
static struct weir_reactive_in subscriber;
static struct outsider outsider;

static void demand_is_missed_since_the_last_item(void **state)
{
	const struct weir_reactive_in_options none = {
		.demand = weir_demand_zero};
	struct node *source = node("source", 1, 1), *sink = node("sink", 1, 0);

	assert_int_equal(
		weir_reactive_out_init(&publisher, &source->outs[0], NULL), 0);
	assert_int_equal(
		weir_reactive_in_init(&subscriber, &sink->ins[0], &none), 0);
	assert_int_equal(weir_publisher_subscribe(&publisher.publisher,
						  &subscriber.subscriber),
			 0);
	assert_int_equal(weir_reactive_in_request(&subscriber, 2), 0);
	start_all();
	put(source, 1);
	run_to(900);
	put(source, 1);
	run_to(1600);
	put(source, 1);
	assert_string_equal(
		said(source),
		"source waits for demand of sink, for 1.7 s\n"
		"sink has requested no more than 2 items, for 1.7 s\n");
}

static void items_are_owed_since_the_last_one(void **state)
{
	struct node *sink = node("sink", 1, 0);

	outsider_init(&outsider);
	assert_int_equal(
		weir_reactive_in_init(&subscriber, &sink->ins[0], NULL), 0);
	assert_int_equal(weir_publisher_subscribe(&outsider.publisher,
						  &subscriber.subscriber),
			 0);
	start_all();
	outsider_send(&outsider, 1);
	assert_string_equal(said(sink),
			    "sink waits for 3 items that a publisher outside "
			    "owes, for 2.3 s\n");
	outsider_complete(&outsider);
}

/* --- Flows ---------------------------------------------------------------- */

static struct weir_flow_queue *queue;
static struct weir_semaphore permits;
static struct weir_flow_run *run;
static struct weir_sim *elsewhere; /* has run what was there at first */

static struct weir_flow *from_queue(void)
{
	assert_int_equal(weir_semaphore_init(&permits, 1), 0);
	assert_int_equal(weir_flow_queue_new(&queue, 16,
					     WEIR_OVERFLOW_BACK_PRESSURE, NULL),
			 0);
	return weir_flow_async(weir_flow_from_queue(queue), 4, NULL);
}

/* What is said of the flow when an item has come at 300 ms, and others at 900 ms,
 * each with the next odd number. */
static const char *said_of_flow(struct weir_flow *flow)
{
	static char text[1024];
	uintptr_t i;
	int rc;

	flow = weir_flow_ignore(flow);
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
	run_to(0);
	if (elsewhere)
		weir_sim_run(elsewhere);
	run_to(300);
	for (i = 0; i < 24; i++) {
		rc = weir_flow_queue_offer(queue, (void *)(2 * i + 1));
		assert_true(rc == 0 || rc == -EAGAIN);
		run_to(weir_executor_now(executor) / MS);
		if (i == 0)
			run_to(900);
	}
	(void)snprintf(text, sizeof(text), "%s", said(NULL));
	weir_flow_run_stop(run, NULL);
	weir_sim_run(sim);
	if (elsewhere)
		weir_sim_run(elsewhere);
	weir_sim_run(sim);
	weir_flow_run_free(run);
	weir_flow_free(flow);
	weir_flow_queue_free(queue);
	assert_int_equal(weir_semaphore_fini(&permits), 0);
	return text;
}

static int is_odd(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)item % 2;
	return 0;
}

static struct weir_flow *held_if_odd(struct weir_flow *upstream, uintptr_t key,
				     void *context)
{
	return key ? weir_flow_acquire(upstream, &permits) : upstream;
}

static void a_part_of_a_group_is_held_since_its_permit_went(void **state)
{
	assert_string_equal(
		said_of_flow(weir_flow_group_by(from_queue(), 2, is_odd,
						held_if_odd, NULL, NULL)),
		"2 held up by: ignore < group_by waits for a permit in "
		"acquire, for 1.7 s\n");
}

static void a_timer_far_ahead_holds_since_it_was_set(void **state)
{
	assert_string_equal(
		said_of_flow(
			weir_flow_delay(from_queue(), 3600 * 1000 * MS, 1)),
		"2 held up by: ignore < delay waits until 3600300000000 ns in "
		"delay, for 2.3 s\n");
}

static int same(void **item, void *context)
{
	return 0;
}

/* On an executor that nobody runs any more. */
static void a_parallel_operator_waits_since_its_oldest_item(void **state)
{
	const struct weir_sampler_options by_hand = {.by_hand = true};
	struct weir_flow_parallel_options options = {0};
	struct weir_executor *both[2] = {executor};
	struct weir_flow *flow;

	elsewhere = sim_new(2);
	both[1] = options.executor = weir_sim_executor(elsewhere);
	assert_int_equal(weir_sampler_free(sampler), 0);
	assert_int_equal(weir_sampler_new(&sampler, both, 2, &by_hand), 0);
	flow = weir_flow_map_parallel(from_queue(), 3, WEIR_ORDER_KEPT, same,
				      NULL, &options);
	assert_string_equal(said_of_flow(flow),
			    "2 held up by: map_parallel is about to run, for "
			    "2.3 s\n");
	assert_int_equal(weir_sampler_free(sampler), 0);
	assert_int_equal(weir_sampler_new(&sampler, &executor, 1, &by_hand), 0);
	sim_free(elsewhere);
	elsewhere = NULL;
}

static void another_time_to_wait_for_begins_anew(void **state)
{
	struct node *slow = node("slow", 1, 0);

	node_waits(slow);
	slow->wait_ns = 1500 * MS;
	start_all();
	put(slow, 3);
	/* at 300, at 1,800 ms */
	assert_string_equal(said(slow),
			    "slow waits until 3300000000 ns, for 800 ms\n");
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(in_a_chain_each_waits_since_its_link_was_full),
		test(an_input_that_is_missing_is_missed_since_the_last),
		test(a_cycle_waits_since_its_token_went),
		test(a_permit_is_missed_since_the_last_one),
		test(who_is_suspended_is_since_then),
		test(an_out_port_without_a_link_waits_from_the_start),
		test(input_from_outside_is_missed_since_the_last),
		test(a_descriptor_is_not_ready_since_the_last_read),
		test(a_descriptor_takes_nothing_since_the_last_write),
		test(an_outlet_of_a_broadcast_is_full_since_the_last_item),
		test(two_permits_are_waited_for_since_they_were_taken),
		test(demand_is_missed_since_the_last_item),
		test(items_are_owed_since_the_last_one),
		test(a_part_of_a_group_is_held_since_its_permit_went),
		test(a_timer_far_ahead_holds_since_it_was_set),
		test(a_parallel_operator_waits_since_its_oldest_item),
		test(another_time_to_wait_for_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
