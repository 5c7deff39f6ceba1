/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stalls that are staged, each on a simulator and on a pool of threads: one
 * culprit is named, with its port, and no other. On threads a look is repeated
 * until it is settled and nobody runs; nothing else is waited for.
 */
#include "inspect/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <ck_pr.h>

#include "actor/kit.h"

enum { MOST = 9 };

static struct weir_sim *sim;
static struct weir_threads *threads;
static struct weir_executor *executor;
static struct node nodes[MOST];
static size_t n_nodes;
static struct weir_semaphore semaphores[2];
static struct weir_semaphore_port ports[4];
static struct weir_reactive_out publisher;
static struct weir_reactive_in subscriber;
static struct outsider outsider;
static struct weir_flow *flow;
static struct weir_flow_run *run;
static int ends[2];

/* --- The two worlds ------------------------------------------------------- */

static int set_up(void)
{
	size_t i;

	n_nodes = 0;
	ends[0] = ends[1] = -1;
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_semaphore_init(&semaphores[i], 0), 0);
	outsider_init(&outsider);
	return 0;
}

static int on_sim(void **state)
{
	threads = NULL;
	sim = sim_new(1);
	executor = weir_sim_executor(sim);
	return set_up();
}

static int on_threads(void **state)
{
	const struct weir_threads_options options = {.workers = 2};

	sim = NULL;
	assert_int_equal(weir_threads_new(&threads, &options), 0);
	executor = weir_threads_executor(threads);
	return set_up();
}

static int teardown(void **state)
{
	size_t i;

	while (n_nodes > 0)
		node_stop(&nodes[--n_nodes]);
	if (run)
		weir_flow_run_stop(run, NULL);
	while (weir_executor_alive(executor) > 0) {
		if (sim)
			weir_sim_run(sim);
		else
			(void)sched_yield();
	}
	weir_flow_run_free(run);
	weir_flow_free(flow);
	run = NULL;
	flow = NULL;
	if (sim)
		sim_free(sim);
	else
		assert_int_equal(weir_threads_free(threads), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(weir_semaphore_fini(&semaphores[i]), 0);
		if (ends[i] >= 0)
			close(ends[i]);
	}
	return 0;
}

static bool nobody_runs(const struct weir_snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < snapshot->n_actors; i++)
		if (snapshot->actors[i].wait == WEIR_WAIT_NONE)
			return false;
	return true;
}

/* What is there when nothing moves any more. */
static struct weir_snapshot *at_last(void)
{
	struct weir_snapshot *snapshot;

	if (sim)
		weir_sim_run_until(sim, 1, UINT64_MAX);
	for (;;) {
		assert_int_equal(
			weir_snapshot_new(&snapshot, &executor, 1, 1000000), 0);
		if (snapshot->settled && nobody_runs(snapshot))
			return snapshot;
		weir_snapshot_free(snapshot);
	}
}

/* --- What is staged ------------------------------------------------------- */

static struct node *node(const char *name, size_t n_ins, size_t n_outs)
{
	node_init(&nodes[n_nodes], executor, name, n_ins, n_outs);
	return &nodes[n_nodes++];
}

static void start(void)
{
	size_t i;

	for (i = 0; i < n_nodes; i++)
		node_start(&nodes[i]);
}

static void start_flow(void)
{
	assert_non_null(flow);
	assert_int_equal(weir_flow_start(flow, executor, NULL, &run), 0);
}

static void takes(struct node *node, size_t port, size_t semaphore)
{
	assert_int_equal(weir_semaphore_port_init(&ports[port], &node->actor,
						  &semaphores[semaphore]),
			 0);
}

/* --- What is told --------------------------------------------------------- */

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static size_t called(const struct weir_snapshot *snapshot, const char *name)
{
	size_t i;

	for (i = 0; i < snapshot->n_actors; i++)
		if (strcmp(snapshot->actors[i].name, name) == 0)
			return i;
	fail_msg("nobody is called %s", name);
	return 0;
}

/* The way from `from` ends at `name`, which waits at `port` (NULL: at none) for
 * `wait`. */
static void expect_way(const struct weir_snapshot *snapshot, const char *from,
		       const char *name, const char *port, enum weir_wait wait)
{
	struct weir_reason reasons[MOST + 1];
	size_t n = weir_snapshot_why(snapshot, called(snapshot, from), reasons,
				     MOST + 1);

	assert_in_range(n, 1, MOST + 1);
	n--;
	assert_string_equal(snapshot->actors[reasons[n].actor].name, name);
	assert_int_equal(reasons[n].wait, wait);
	assert_int_equal(reasons[n].next, WEIR_NOWHERE);
	if (port)
		assert_string_equal(snapshot->ports[reasons[n].port].name,
				    port);
	else
		assert_int_equal(reasons[n].port, WEIR_NOWHERE);
}

/* `name` alone holds others up, `n` with itself. */
static void expect_culprit(size_t n, const char *name, const char *port,
			   enum weir_wait wait)
{
	struct weir_snapshot *snapshot = at_last();
	char text[2048], begins[64];

	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	(void)snprintf(begins, sizeof(begins), "%zu held up by: %s ", n, name);
	assert_memory_equal(text, begins, strlen(begins));
	assert_int_equal(count(text, "\n"), 1);
	expect_way(snapshot, name, name, port, wait);
	weir_snapshot_free(snapshot);
}

static void expect_text(const char *expected)
{
	struct weir_snapshot *snapshot = at_last();
	char text[2048];

	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_string_equal(text, expected);
	weir_snapshot_free(snapshot);
}

/* It is no stall; `from` waits for `name`. */
static void expect_idle(const char *from, const char *name, const char *port,
			enum weir_wait wait)
{
	struct weir_snapshot *snapshot = at_last();
	char text[2048];

	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	assert_memory_equal(text, "idle: ", 6);
	assert_int_equal(count(text, "held up by"), 0);
	assert_int_equal(count(text, "\n"), 2);
	assert_memory_equal(strchr(text, '\n') + 1, name, strlen(name));
	expect_way(snapshot, from, name, port, wait);
	weir_snapshot_free(snapshot);
}

/* --- Links ---------------------------------------------------------------- */

static void a_slow_consumer_in_a_chain_of_nine(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d",	  "e",
					    "f", "g", "h", "slow"};
	size_t i;

	for (i = 0; i < MOST; i++)
		(void)node(names[i], i > 0, i < MOST - 1);
	node_waits(&nodes[MOST - 1]);
	for (i = 0; i + 1 < MOST; i++)
		node_link(&nodes[i], 0, &nodes[i + 1], 0);
	start();
	expect_culprit(9, "slow", "delay", WEIR_WAIT_TIME);
}

static void a_producer_with_nothing_to_produce(void **state)
{
	struct node *first = node("first", 1, 1), *sink = node("sink", 1, 0);

	node_link(first, 0, sink, 0);
	start();
	expect_idle("sink", "first", "in", WEIR_WAIT_INPUT);
}

static void a_semaphore_that_is_never_released(void **state)
{
	struct node *source = node("source", 0, 1), *sink = node("sink", 1, 0);

	takes(sink, 0, 0);
	node_link(source, 0, sink, 0);
	start();
	expect_culprit(2, "sink", "permit", WEIR_WAIT_PERMIT);
}

static void two_semaphores_in_opposite_order(void **state)
{
	struct node *a = node("a", 0, 0), *b = node("b", 0, 0);

	takes(a, 0, 0);
	takes(a, 1, 1);
	takes(b, 2, 1);
	takes(b, 3, 0);
	start();
	weir_snapshot_free(at_last());
	assert_int_equal(weir_semaphore_release(&semaphores[0], 1), 0);
	assert_int_equal(weir_semaphore_release(&semaphores[1], 1), 0);
	expect_text("a.permit2 waits for a permit that b holds\n"
		    "b.permit2 waits for a permit that a holds\n"
		    "this is a cycle: they wait for each other\n");
}

static void a_cycle_without_a_token(void **state)
{
	struct node *a = node("a", 1, 1), *b = node("b", 1, 1);
	struct node *c = node("c", 1, 1);

	node_link(a, 0, b, 0);
	node_link(b, 0, c, 0);
	node_link(c, 0, a, 0);
	start();
	expect_text("a waits for input from c\n"
		    "c waits for input from b\n"
		    "b waits for input from a\n"
		    "this is a cycle: they wait for each other\n");
}

static void a_zip_of_which_one_producer_is_slow(void **state)
{
	static const struct weir_port_name names[] = {
		WEIR_PORT_NAME(struct node, actor, ins[0], "left"),
		WEIR_PORT_NAME(struct node, actor, ins[1], "right"),
		{0},
	};
	struct node *quick = node("quick", 0, 1), *slow = node("slow", 0, 1);
	struct node *zip = node("zip", 2, 0);
	struct weir_snapshot *snapshot;
	char text[256];

	zip->ops.port_names = names;
	node_waits(slow);
	node_link(quick, 0, zip, 0);
	node_link(slow, 0, zip, 1);
	start();
	expect_culprit(2, "slow", "delay", WEIR_WAIT_TIME);
	snapshot = at_last();
	(void)weir_snapshot_why_text(snapshot, called(snapshot, "quick"), text,
				     sizeof(text));
	assert_memory_equal(text,
			    "quick waits for room in zip\n"
			    "zip.right waits for input from slow\n"
			    "slow waits until ",
			    81);
	weir_snapshot_free(snapshot);
}

static void a_broadcast_held_by_its_slowest_outlet(void **state)
{
	struct node *source = node("source", 0, 1),
		    *quick = node("quick", 1, 0);
	struct node *slow = node("slow", 1, 0);

	assert_int_equal(weir_out_fan(&source->outs[0], WEIR_FAN_BROADCAST, 4),
			 0);
	node_waits(slow);
	node_link(source, 0, quick, 0);
	node_link(source, 0, slow, 0);
	start();
	expect_culprit(2, "slow", "delay", WEIR_WAIT_TIME);
}

/* --- Streams -------------------------------------------------------------- */

static void a_subscriber_that_requested_nothing(void **state)
{
	const struct weir_reactive_in_options none = {
		.demand = weir_demand_zero};
	struct node *source = node("source", 0, 1), *map = node("map", 1, 1);
	struct node *sink = node("sink", 1, 0);

	node_link(source, 0, map, 0);
	assert_int_equal(
		weir_reactive_out_init(&publisher, &map->outs[0], NULL), 0);
	assert_int_equal(
		weir_reactive_in_init(&subscriber, &sink->ins[0], &none), 0);
	assert_int_equal(weir_publisher_subscribe(&publisher.publisher,
						  &subscriber.subscriber),
			 0);
	start();
	expect_culprit(2, "sink", "in", WEIR_WAIT_INPUT);
}

static void an_outsider_that_requested_nothing(void **state)
{
	struct node *source = node("source", 0, 1), *map = node("map", 1, 1);

	node_link(source, 0, map, 0);
	assert_int_equal(
		weir_reactive_out_init(&publisher, &map->outs[0], NULL), 0);
	assert_int_equal(weir_publisher_subscribe(&publisher.publisher,
						  &outsider.subscriber),
			 0);
	start();
	expect_culprit(2, "map", "out", WEIR_WAIT_DEMAND);
	outsider_cancel(&outsider);
}

static void a_publisher_outside_that_owes_items(void **state)
{
	struct node *map = node("map", 1, 1), *sink = node("sink", 1, 0);

	assert_int_equal(weir_reactive_in_init(&subscriber, &map->ins[0], NULL),
			 0);
	assert_int_equal(weir_publisher_subscribe(&outsider.publisher,
						  &subscriber.subscriber),
			 0);
	node_link(map, 0, sink, 0);
	start();
	expect_idle("sink", "map", "in", WEIR_WAIT_INPUT);
	expect_text("idle: nobody is held up, and nobody runs\n"
		    "map waits for 4 items that a publisher outside owes\n");
	outsider_complete(&outsider);
}

/* --- Descriptors ---------------------------------------------------------- */

static struct weir_fd port;

static void open_pipe(void)
{
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
}

static void fill_pipe(void)
{
	static const char bytes[4096];

	open_pipe();
	while (write(ends[1], bytes, sizeof(bytes)) > 0)
		;
	assert_int_equal(errno, EAGAIN);
}

static void a_descriptor_whose_peer_stopped_reading(void **state)
{
	struct node *source = node("source", 0, 1);
	struct node *writer = node("writer", 1, 0);

	fill_pipe();
	assert_int_equal(weir_fd_init(&port, &writer->actor, ends[1], POLLOUT),
			 0);
	node_link(source, 0, writer, 0);
	start();
	expect_culprit(2, "writer", "fd", WEIR_WAIT_FD);
}

static void a_descriptor_whose_peer_stopped_writing(void **state)
{
	struct node *reader = node("reader", 0, 1), *sink = node("sink", 1, 0);

	open_pipe();
	assert_int_equal(weir_fd_init(&port, &reader->actor, ends[0], POLLIN),
			 0);
	node_link(reader, 0, sink, 0);
	start();
	expect_idle("sink", "reader", "fd", WEIR_WAIT_FD);
}

static char page[4096];

static int to_bytes(void **item, void *context)
{
	struct weir_flow_bytes *bytes;
	int rc = weir_flow_bytes_new(&bytes, sizeof(page), NULL);

	*item = bytes;
	return rc;
}

static void a_flow_whose_reader_stopped_reading(void **state)
{
	char expected[128];

	open_pipe();
	flow = weir_flow_async(weir_flow_range(1, 1000), 4, NULL);
	flow = weir_flow_map(flow, to_bytes, NULL);
	flow = weir_flow_items(flow, weir_flow_bytes_items());
	flow = weir_flow_write(flow, ends[1]);
	start_flow();
	(void)snprintf(expected, sizeof(expected),
		       "2 held up by: write < map waits until descriptor %d "
		       "is writable in write\n",
		       ends[1]);
	expect_text(expected);
}

static void a_flow_whose_writer_stopped_writing(void **state)
{
	char expected[128];

	open_pipe();
	flow = weir_flow_async(weir_flow_read(ends[0], 64), 4, NULL);
	flow = weir_flow_ignore(flow);
	start_flow();
	(void)snprintf(expected, sizeof(expected),
		       "idle: nobody is held up, and nobody runs\n"
		       "read waits until descriptor %d is readable in read\n",
		       ends[0]);
	expect_text(expected);
}

/* --- Flows ---------------------------------------------------------------- */

#define HOUR_NS UINT64_C(3600000000000)

static void a_timer_far_ahead(void **state)
{
	flow = weir_flow_async(weir_flow_range(1, 1000), 4, NULL);
	flow = weir_flow_ignore(weir_flow_delay(flow, HOUR_NS, 4));
	start_flow();
	expect_culprit(2, "ignore < delay", NULL, WEIR_WAIT_WAKE);
	if (sim)
		expect_text("2 held up by: ignore < delay waits until "
			    "3600000000000 ns in delay\n");
}

static int is_odd(void *item, uintptr_t *key, void *context)
{
	*key = (uintptr_t)item % 2;
	return 0;
}

/* Those of one group need permits. */
static struct weir_flow *held_if_odd(struct weir_flow *upstream, uintptr_t key,
				     void *context)
{
	return key ? weir_flow_acquire(upstream, &semaphores[0]) : upstream;
}

static void a_group_that_is_full(void **state)
{
	flow = weir_flow_async(weir_flow_range(1, 1000), 4, NULL);
	flow = weir_flow_group_by(flow, 2, is_odd, held_if_odd, NULL, NULL);
	flow = weir_flow_ignore(flow);
	start_flow();
	expect_text("2 held up by: ignore < group_by waits for a permit in "
		    "acquire\n");
}

static uint32_t may_go;

/* The first one waits until it may go. */
static int work(void **item, void *context)
{
	while ((uintptr_t)*item == 1 && !ck_pr_load_32(&may_go))
		(void)sched_yield();
	return 0;
}

/* Of the calls in order the first one has not come back. */
static void a_parallel_operator_that_waits_for_its_oldest_item(void **state)
{
	struct weir_executor *both[2] = {executor};
	struct weir_flow_parallel_options options = {0};
	struct weir_blocking *blocking = NULL;
	struct weir_snapshot *snapshot;
	struct weir_sim *other = NULL;
	struct weir_reason reasons[4];
	const char *expected;
	char text[256];
	size_t n;

	ck_pr_store_32(&may_go, 0);
	if (sim) {
		other = sim_new(2);
		both[1] = weir_sim_executor(other);
	} else {
		assert_int_equal(weir_blocking_new(&blocking, NULL), 0);
		both[1] = weir_blocking_executor(blocking);
	}
	options.executor = both[1];
	flow = weir_flow_async(weir_flow_range(1, 1000), 4, NULL);
	flow = weir_flow_map_parallel(flow, 3, WEIR_ORDER_KEPT, work, NULL,
				      &options);
	flow = weir_flow_ignore(flow);
	start_flow();
	weir_snapshot_free(at_last());
	do
		assert_int_equal(weir_snapshot_new(&snapshot, both, 2, 1000000),
				 0);
	while (!snapshot->settled && (weir_snapshot_free(snapshot), true));
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	expected = sim ? "2 held up by: map_parallel is about to run\n"
		       : "2 held up by: map_parallel is in a turn that does "
			 "not return, on thread ";
	assert_memory_equal(text, expected, strlen(expected));
	n = weir_snapshot_why(snapshot,
			      called(snapshot, "ignore < map_parallel"),
			      reasons, 4);
	assert_int_equal(n, 2);
	assert_string_equal(snapshot->actors[reasons[1].actor].name,
			    "map_parallel");
	weir_snapshot_free(snapshot);
	ck_pr_store_32(&may_go, 1);
	weir_flow_run_stop(run, NULL);
	while (weir_executor_alive(both[0]) + weir_executor_alive(both[1])) {
		if (!sim) {
			(void)sched_yield();
			continue;
		}
		weir_sim_run(sim);
		weir_sim_run(other);
	}
	if (sim)
		sim_free(other);
	else
		assert_int_equal(weir_blocking_free(blocking), 0);
}

/* --- No stall ------------------------------------------------------------- */

static void one_item_every_100_ms_is_no_stall(void **state)
{
	flow = weir_flow_tick(0, UINT64_C(100000000), page);
	flow = weir_flow_ignore(weir_flow_async(flow, 4, NULL));
	start_flow();
	expect_idle("ignore", "tick", NULL, WEIR_WAIT_WAKE);
}

static void what_has_ended_is_no_stall(void **state)
{
	flow = weir_flow_ignore(
		weir_flow_async(weir_flow_range(1, 100), 4, NULL));
	start_flow();
	expect_text("no actor is alive\n");
}

static void what_was_drained_is_no_stall(void **state)
{
	flow = weir_flow_tick(0, 1, page);
	flow = weir_flow_ignore(weir_flow_async(flow, 4, NULL));
	start_flow();
	weir_flow_run_end(run);
	expect_text("no actor is alive\n");
}

static void what_begins_is_no_stall(void **state)
{
	struct node *source = node("source", 0, 1), *sink = node("sink", 1, 0);
	struct weir_snapshot *snapshot;
	char text[256];

	/* on threads it may be over before anybody looks */
	node_waits(sink);
	node_link(source, 0, sink, 0);
	start();
	assert_int_equal(weir_snapshot_new(&snapshot, &executor, 1, 0), 0);
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	if (sim)
		assert_string_equal(text, "nobody is held up\n");
	weir_snapshot_free(snapshot);
}

#define both(name) \
	cmocka_unit_test_setup_teardown(name, on_sim, teardown), \
		cmocka_unit_test_setup_teardown(name, on_threads, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		both(a_slow_consumer_in_a_chain_of_nine),
		both(a_producer_with_nothing_to_produce),
		both(a_semaphore_that_is_never_released),
		both(two_semaphores_in_opposite_order),
		both(a_cycle_without_a_token),
		both(a_zip_of_which_one_producer_is_slow),
		both(a_broadcast_held_by_its_slowest_outlet),
		both(a_subscriber_that_requested_nothing),
		both(an_outsider_that_requested_nothing),
		both(a_publisher_outside_that_owes_items),
		both(a_descriptor_whose_peer_stopped_reading),
		both(a_descriptor_whose_peer_stopped_writing),
		both(a_flow_whose_reader_stopped_reading),
		both(a_flow_whose_writer_stopped_writing),
		both(a_timer_far_ahead),
		both(a_group_that_is_full),
		both(a_parallel_operator_that_waits_for_its_oldest_item),
		both(one_item_every_100_ms_is_no_stall),
		both(what_has_ended_is_no_stall),
		both(what_was_drained_is_no_stall),
		both(what_begins_is_no_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
