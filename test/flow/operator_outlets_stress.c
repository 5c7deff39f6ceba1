/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An operator with outlets on threads: it runs on one executor, what is below
 * its outlets on another, each outlet in an actor of its own. Items come from
 * an actor above, another thread wakes it meanwhile, and an outlet may be
 * cancelled at any time. Each item comes out once, in the order of its outlet.
 */
#include <pthread.h>
#include <sched.h>

#include "flow/kit.h"

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define ROUNDS 120
#define ITEMS 3000
#define WAKES 500
#define WAYS 3

struct hub {
	struct weir_operator *op;
	pthread_t thread;
	uint32_t given; /* atomic */
	void *kept;
	size_t to; /* of the item that is kept */
	uint32_t seen;
	bool over, cancelled[WAYS];
	struct {
		intptr_t last;
		size_t n;
	} ways[WAYS]; /* each is one actor's */
};

static void *wake(void *context)
{
	struct hub *hub = context;
	struct weir_operator *op = hub->op;
	uint32_t i;

	for (i = 1; i <= WAKES; i++) {
		__atomic_store_n(&hub->given, i, __ATOMIC_RELEASE);
		weir_operator_wake(op);
		if (i % 16 == 0)
			sched_yield();
	}
	weir_operator_unhold(op);
	return NULL;
}

static int hub_open(struct weir_operator *op)
{
	struct hub *hub = weir_operator_context(op);

	hub->op = op;
	weir_operator_hold(op);
	assert(pthread_create(&hub->thread, NULL, wake, hub) == 0);
	return 0;
}

/* It ends when upstream and the thread have. */
static int hub_go(struct weir_operator *op)
{
	struct hub *hub = weir_operator_context(op);
	int rc;

	if (hub->kept) {
		rc = weir_operator_push_outlet(op, hub->to, hub->kept);
		if (rc == -EAGAIN)
			return 0;
		assert(rc == (hub->cancelled[hub->to] ? -EPIPE : 0));
		if (rc == -EPIPE)
			weir_operator_drop(op, hub->kept);
		hub->kept = NULL;
	}
	if (hub->over && hub->seen == WAKES)
		return weir_operator_end(op, NULL);
	(void)weir_operator_pull(op);
	return 0;
}

static int hub_push(struct weir_operator *op, void *item)
{
	struct hub *hub = weir_operator_context(op);

	assert(!hub->kept);
	hub->kept = item;
	hub->to = (size_t)((struct item *)item)->value % WAYS;
	return hub_go(op);
}

static int hub_wake(struct weir_operator *op)
{
	struct hub *hub = weir_operator_context(op);

	hub->seen = __atomic_load_n(&hub->given, __ATOMIC_ACQUIRE);
	return hub_go(op);
}

static int hub_end(struct weir_operator *op, struct weir_error *error)
{
	struct hub *hub = weir_operator_context(op);

	assert(!error);
	hub->over = true;
	return hub_go(op);
}

static void hub_cancel(struct weir_operator *op)
{
	struct hub *hub = weir_operator_context(op);

	assert(!hub->cancelled[weir_operator_outlet(op)]);
	hub->cancelled[weir_operator_outlet(op)] = true;
	(void)hub_go(op);
}

static void hub_close(struct weir_operator *op)
{
	struct hub *hub = weir_operator_context(op);

	if (hub->kept)
		weir_operator_drop(op, hub->kept);
}

static struct hub hub;

static int take(void *memory, void *context)
{
	struct item *item = memory;
	size_t way = (size_t)item->value % WAYS;

	assert(context == (void *)&hub.ways[way]);
	assert(item->value > hub.ways[way].last);
	hub.ways[way].last = item->value;
	hub.ways[way].n++;
	item_drop(item, NULL);
	return 0;
}

static struct weir_flow *compose(struct weir_executor *executor, uint64_t round,
				 int64_t first)
{
	static const struct weir_operator_ops ops = {
		.name = "hub",
		.open = hub_open,
		.close = hub_close,
		.on_pull = hub_go,
		.on_push = hub_push,
		.on_end = hub_end,
		.on_cancel = hub_cancel,
		.on_wake = hub_wake,
	};
	const struct weir_flow_fan_options options = {
		.capacity = round % 2 ? 1 : 16,
		.executor = executor,
	};
	struct weir_flow *flow = counted(weir_flow_range(1, ITEMS));
	struct weir_flow *outlets[WAYS];
	size_t i;

	if (round % 3)
		flow = weir_flow_async(flow, round % 3 == 1 ? 1 : 64, NULL);
	assert_int_equal(weir_flow_operator_outlets(&flow, 1, &ops, &hub, WAYS,
						    outlets, &options),
			 0);
	for (i = 0; i < WAYS; i++) {
		outlets[i] = weir_flow_same_items(outlets[i]);
		if (i == 0)
			outlets[i] = weir_flow_take(outlets[i], first);
		outlets[i] = weir_flow_for_each(outlets[i], take, &hub.ways[i]);
		outlets[i] = weir_flow_async(outlets[i], 1, NULL);
	}
	return weir_flow_all(outlets, WAYS);
}

static void run_one(struct weir_executor *below, struct weir_executor *executor,
		    uint64_t round, int64_t first)
{
	struct weir_flow *flow;
	size_t i;

	memset(&hub, 0, sizeof(hub));
	flow = compose(executor, round, first);
	assert_int_equal(weir_flow_run(flow, below, NULL), 0);
	assert_int_equal(pthread_join(hub.thread, NULL), 0);
	weir_flow_free(flow);
	assert_int_equal(hub.seen, WAKES);
	for (i = 0; i < WAYS; i++)
		assert_int_equal(hub.ways[i].n, i == 0 && first < ITEMS / WAYS
							? first
							: ITEMS / WAYS);
	assert_int_equal(n_live, 0);
}

static void free_threads(struct weir_threads *threads)
{
	while (weir_threads_free(threads) == -EBUSY)
		sched_yield();
}

static void run_all(int64_t first)
{
	struct weir_threads_options options = {.workers = 2};
	struct weir_threads *above, *below;
	uint64_t i;

	assert_int_equal(weir_threads_new(&above, &options), 0);
	assert_int_equal(weir_threads_new(&below, &options), 0);
	for (i = test_count(ROUNDS); i > 0; i--)
		run_one(weir_threads_executor(below),
			i % 4 ? weir_threads_executor(above) : NULL, i,
			first > 0 ? first : (int64_t)(i * 7 % 990));
	free_threads(above);
	free_threads(below);
}

static void each_item_comes_out_once_in_order(void **state)
{
	run_all(INT64_MAX);
}

static void one_outlet_may_be_cancelled_meanwhile(void **state)
{
	run_all(0);
}

static void on_threads_that_may_block_it_goes_as_well(void **state)
{
	struct weir_threads_options options = {.workers = 2};
	struct weir_threads *below;
	struct weir_blocking *blocking;
	uint64_t i;

	assert_int_equal(weir_threads_new(&below, &options), 0);
	assert_int_equal(weir_blocking_new(&blocking, NULL), 0);
	for (i = test_count(ROUNDS); i > 0; i--)
		run_one(i % 2 ? weir_threads_executor(below)
			      : weir_blocking_executor(blocking),
			weir_blocking_executor(blocking), i,
			i % 3 ? INT64_MAX : (int64_t)i);
	while (weir_blocking_free(blocking) == -EBUSY)
		sched_yield();
	free_threads(below);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_item_comes_out_once_in_order),
		cmocka_unit_test(one_outlet_may_be_cancelled_meanwhile),
		cmocka_unit_test(on_threads_that_may_block_it_goes_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
