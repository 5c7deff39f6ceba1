/* SPDX-License-Identifier: BSD-2-Clause */
/* A sampler at its quickest, while actors and links come and go. */
#include "inspect/kit.h"

#include "actor/kit.h"

#include <pthread.h>
#include <sched.h>

#include <ck_pr.h>

enum { INNER = 20, ITEMS = 30 };

static const struct weir_sampler_options quick = {.hz = 1000};
static uint32_t over;

static struct weir_flow *some(void *item, void *context)
{
	return weir_flow_range(1, ITEMS);
}

/* Each item becomes a flow. */
static void *run_flows(void *context)
{
	uint64_t i, n = test_count(4000);
	struct weir_flow *flow;
	void *sum;

	for (i = 0; i < n; i++) {
		flow = weir_flow_range(1, INNER);
		flow = weir_flow_flat_map(flow, 4, some, NULL);
		flow = weir_flow_count(weir_flow_async(flow, 16, NULL));
		/* a thread cannot fail a test */
		assert(weir_flow_run(flow, context, &sum) == 0);
		assert((uintptr_t)sum == INNER * ITEMS);
		weir_flow_free(flow);
	}
	ck_pr_inc_32(&over);
	return NULL;
}

/* Whatever it has seen, it makes sense. */
static void check_once(struct weir_sampler *sampler, uint64_t *before_ns)
{
	const struct weir_seen_actor *actor;
	struct weir_snapshot *snapshot;
	unsigned shares;
	size_t i;

	assert_int_equal(weir_sampler_snapshot(sampler, &snapshot), 0);
	assert_true(snapshot->now_ns >= *before_ns);
	*before_ns = snapshot->now_ns;
	for (i = 0; i < snapshot->n_actors; i++) {
		actor = &snapshot->actors[i];
		shares = actor->busy + actor->held + actor->idle +
			 actor->blocked;
		assert_true(shares == 0 || shares == 1000);
		assert_true(actor->since_ns <= snapshot->now_ns);
	}
	for (i = 0; i < snapshot->n_links; i++) {
		assert_true(snapshot->links[i].high >= snapshot->links[i].fill);
		assert_true(snapshot->links[i].high <=
			    snapshot->links[i].capacity);
		assert_true(snapshot->links[i].items_ever >=
			    snapshot->links[i].items);
	}
	weir_snapshot_free(snapshot);
}

static void actors_come_and_go_under_a_sampler(void **state)
{
	const struct weir_threads_options two = {.workers = 2};
	struct weir_executor *executor;
	struct weir_sampler *samplers[2];
	struct weir_threads *threads;
	pthread_t runners[2];
	uint64_t now_ns = 0;
	size_t i;

	ck_pr_store_32(&over, 0);
	assert_int_equal(weir_threads_new(&threads, &two), 0);
	executor = weir_threads_executor(threads);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_sampler_new(&samplers[i], &executor, 1,
						  &quick),
				 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&runners[i], NULL, run_flows,
						executor),
				 0);
	do
		check_once(samplers[0], &now_ns);
	while (ck_pr_load_32(&over) < 2);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(runners[i], NULL), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(weir_sampler_free(samplers[i]), 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void samplers_come_and_go(void **state)
{
	uint64_t i, n = test_count(4000);
	struct weir_executor *executor;
	struct weir_sampler *sampler;
	struct weir_threads *threads;
	struct node node;

	assert_int_equal(weir_threads_new(&threads, NULL), 0);
	executor = weir_threads_executor(threads);
	node_init(&node, executor, "node", 1, 1);
	(void)weir_actor_ref(&node.actor);
	node_start(&node);
	for (i = 0; i < n; i++) {
		assert_int_equal(
			weir_sampler_new(&sampler, &executor, 1, &quick), 0);
		if (i % 2)
			(void)sched_yield();
		assert_int_equal(weir_sampler_free(sampler), 0);
	}
	node_stop(&node);
	weir_actor_unref(&node.actor);
	while (weir_executor_alive(executor) > 0)
		(void)sched_yield();
	assert_int_equal(weir_threads_free(threads), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(actors_come_and_go_under_a_sampler),
		cmocka_unit_test(samplers_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
