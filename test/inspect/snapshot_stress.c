/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshots while actors and links come and go on other threads. */
#include "inspect/kit.h"

#include "actor/kit.h"

#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

enum { INNER = 20, ITEMS = 30 };

static const struct weir_threads_options one = {.workers = 1},
					 two = {.workers = 2};

static uint32_t over;

static struct weir_flow *some(void *item, void *context)
{
	return weir_flow_range(1, ITEMS);
}

/* Each item becomes a flow. */
static void run_one(struct weir_executor *executor)
{
	struct weir_flow *flow = weir_flow_range(1, INNER);
	void *n;

	flow = weir_flow_async(weir_flow_flat_map(flow, 4, some, NULL), 16,
			       NULL);
	flow = weir_flow_count(flow);
	/* a thread cannot fail a test */
	assert(weir_flow_run(flow, executor, &n) == 0);
	assert((uintptr_t)n == INNER * ITEMS);
	weir_flow_free(flow);
}

static void *run_flows(void *context)
{
	uint64_t i, n = test_count(20000);

	for (i = 0; i < n; i++)
		run_one(context);
	ck_pr_inc_32(&over);
	return NULL;
}

/* Each is whole: what it refers to is in it. */
static void look_once(struct weir_executor *executor)
{
	static char text[65536];
	struct weir_snapshot *snapshot;
	struct weir_reason reasons[4];
	size_t i, n;

	assert_int_equal(weir_snapshot_new(&snapshot, &executor, 1, 0), 0);
	for (i = 0; i < snapshot->n_links; i++) {
		assert_true(snapshot->links[i].to < snapshot->n_ports);
		assert_true(snapshot->links[i].fill <=
			    snapshot->links[i].capacity);
		n = snapshot->links[i].from;
		assert_true(n == WEIR_NOWHERE || n < snapshot->n_ports);
	}
	for (i = 0; i < snapshot->n_demands; i++)
		assert_true(snapshot->demands[i].from < snapshot->n_ports ||
			    snapshot->demands[i].to < snapshot->n_ports);
	for (i = 0; i < snapshot->n_actors; i++) {
		n = weir_snapshot_why(snapshot, i, reasons, 4);
		assert_in_range(n, 1, snapshot->n_actors);
		assert_int_equal(reasons[0].actor, i);
	}
	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, text,
				     sizeof(text));
	(void)weir_snapshot_json(snapshot, text, sizeof(text));
	weir_snapshot_free(snapshot);
}

static void what_comes_and_goes_can_be_looked_at(void **state)
{
	struct weir_executor *executor;
	struct weir_threads *threads;
	pthread_t runners[2];
	uint64_t looks = 0;
	size_t i;

	ck_pr_store_32(&over, 0);
	assert_int_equal(weir_threads_new(&threads, &two), 0);
	executor = weir_threads_executor(threads);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&runners[i], NULL, run_flows,
						executor),
				 0);
	while (ck_pr_load_32(&over) < 2) {
		look_once(executor);
		looks++;
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(runners[i], NULL), 0);
	assert_true(looks > 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void *look_on(void *context)
{
	struct weir_executor *executor = context;
	struct weir_snapshot *snapshot;

	while (!ck_pr_load_32(&over)) {
		assert(weir_snapshot_new(&snapshot, &executor, 1, 0) == 0);
		weir_snapshot_free(snapshot);
	}
	return NULL;
}

static void free_node(struct weir_actor *actor)
{
	free(weir_container_of(actor, struct node, actor));
}

/* Two looks at once, and starts and ends from a thread of nobody's. */
static void several_may_look_at_once(void **state)
{
	uint64_t i, n = test_count(100000);
	struct weir_executor *executor;
	struct weir_threads *threads;
	pthread_t lookers[2];
	struct node *node;

	ck_pr_store_32(&over, 0);
	assert_int_equal(weir_threads_new(&threads, &one), 0);
	executor = weir_threads_executor(threads);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&lookers[i], NULL, look_on,
						executor),
				 0);
	for (i = 0; i < n; i++) {
		node = malloc(sizeof(*node));
		node_init(node, executor, "short", 1, 1);
		node->ops.released = free_node;
		(void)weir_actor_ref(&node->actor);
		node_start(node);
		node_stop(node);
		weir_actor_unref(&node->actor);
	}
	ck_pr_store_32(&over, 1);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(lookers[i], NULL), 0);
	while (weir_executor_alive(executor) > 0)
		(void)sched_yield();
	assert_int_equal(weir_threads_free(threads), 0);
}

/* Of a merge each link that ends is taken out, while the others go on. */
static void run_group(struct weir_executor *executor)
{
	enum { N = 6, EACH = 10 };
	struct ledger ledger;
	struct source sources[N];
	struct sink sink;
	size_t i;

	ledger_init(&ledger, N * EACH);
	sink_init(&sink, executor, &ledger, 4);
	assert_int_equal(weir_in_merge(&sink.in, WEIR_MERGE_ALL), 0);
	for (i = 0; i < N; i++) {
		source_init(&sources[i], executor, &ledger, i * EACH + 1,
			    (i + 1) * EACH - i);
		assert_int_equal(weir_out_link(&sources[i].out, &sink.in), 0);
	}
	assert_int_equal(weir_actor_start(&sink.actor), 0);
	for (i = 0; i < N; i++)
		assert_int_equal(weir_actor_start(&sources[i].actor), 0);
	while (weir_executor_alive(executor) > 0)
		(void)sched_yield();
	ledger_check(&ledger);
	ledger_fini(&ledger);
}

/* Subscriptions come and go, and those of a balance change their order. */
static void run_streams(struct weir_executor *executor)
{
	enum { N = 3, ITEMS_OF_ALL = 40 };
	const struct weir_reactive_in_options few = {.prefetch = 2};
	struct weir_reactive_out publisher;
	struct weir_reactive_in subscribers[N];
	struct ledger ledger;
	struct source source;
	struct sink sinks[N];
	size_t i;

	ledger_init(&ledger, ITEMS_OF_ALL);
	source_init(&source, executor, &ledger, 1, ITEMS_OF_ALL);
	assert_int_equal(weir_out_fan(&source.out, WEIR_FAN_BALANCE, 8), 0);
	assert_int_equal(weir_reactive_out_init(&publisher, &source.out, NULL),
			 0);
	for (i = 0; i < N; i++) {
		sink_init(&sinks[i], executor, &ledger, 4);
		assert_int_equal(weir_reactive_in_init(&subscribers[i],
						       &sinks[i].in, &few),
				 0);
		assert_int_equal(
			weir_publisher_subscribe(&publisher.publisher,
						 &subscribers[i].subscriber),
			0);
		assert_int_equal(weir_actor_start(&sinks[i].actor), 0);
	}
	assert_int_equal(weir_actor_start(&source.actor), 0);
	while (weir_executor_alive(executor) > 0)
		(void)sched_yield();
	ledger_check(&ledger);
	ledger_fini(&ledger);
}

/* Two threads look while groups of actors come and go. */
static void look_beside(void (*run)(struct weir_executor *executor), uint64_t n)
{
	struct weir_executor *executor;
	struct weir_threads *threads;
	pthread_t lookers[2];
	uint64_t i;

	ck_pr_store_32(&over, 0);
	assert_int_equal(weir_threads_new(&threads, &one), 0);
	executor = weir_threads_executor(threads);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&lookers[i], NULL, look_on,
						executor),
				 0);
	for (i = 0; i < n; i++)
		run(executor);
	ck_pr_store_32(&over, 1);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(lookers[i], NULL), 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void links_that_end_can_be_looked_at(void **state)
{
	look_beside(run_group, test_count(20000));
}

static void subscriptions_that_end_can_be_looked_at(void **state)
{
	look_beside(run_streams, test_count(20000));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_and_goes_can_be_looked_at),
		cmocka_unit_test(several_may_look_at_once),
		cmocka_unit_test(links_that_end_can_be_looked_at),
		cmocka_unit_test(subscriptions_that_end_can_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
