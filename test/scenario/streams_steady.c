/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a running stream costs beside its turns, from a publisher through a
 * processor to a subscriber: no allocation, no lock, no system call, however
 * many items there are, whether the three have become links or request of each
 * other. The subscriber reads the counters at one item and again at a later
 * one, on the only thread there is, so between the two nothing else happens.
 */
#include "support.h"

#include <sched.h>
#include <string.h>

#include <weir/weir.h>

#include "base/lock.h"

#define N_STAGES 3   /* publisher, processor, subscriber */
#define WARM_UP 2000 /* more than is under way at once */

struct run {
	struct weir_executor *executor;
	bool links;
	size_t window;
	uint64_t n_items;	 /* after warming up */
	struct weir__lock *lock; /* taken for each item, unless NULL */
	struct weir_allocator allocator;
	uint64_t allocations;
	struct weir__costs costs; /* between the two looks */
	uint64_t allocated;	  /* the same */
	uint32_t n_released;	  /* atomic */
};

struct stage {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_in subscriber;
	struct weir_reactive_out publisher;
	uint64_t n;
	struct run *run;
};

static void *count_alloc(size_t size, void *context)
{
	struct run *run = context;

	ck_pr_inc_64(&run->allocations);
	return malloc(size);
}

static void count_free(void *memory, size_t size, void *context)
{
	free(memory);
}

static struct stage *stage_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct stage, actor);
}

static inline int produce(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);

	(void)weir_out_put(&stage->out, (void *)(uintptr_t)++stage->n);
	/* Its end costs a lock: not before the subscriber has looked. */
	return stage->n == 2 * WARM_UP + stage->run->n_items ? WEIR_TURN_END
							     : 0;
}
WEIR_TURN(produce)

static inline int transform(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	char *item = weir_in_take(&stage->in);

	return weir_out_put(&stage->out, item + 1);
}
WEIR_TURN(transform)

/* Minus what they were: called twice, it says what came between. */
static void note(struct run *run)
{
	const struct weir__costs *now = weir__costs;

	run->costs.kernel_calls = now->kernel_calls - run->costs.kernel_calls;
	run->costs.locks = now->locks - run->costs.locks;
	run->allocated = ck_pr_load_64(&run->allocations) - run->allocated;
}

static inline int consume(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	struct run *run = stage->run;

	stage->n++;
	assert_int_equal((uintptr_t)weir_in_take(&stage->in), stage->n + 1);
	if (stage->n == WARM_UP || stage->n == WARM_UP + run->n_items)
		note(run);
	if (run->lock) {
		weir__lock(run->lock);
		weir__unlock(run->lock);
		weir__futex_wake(&run->lock->word, 1);
		run->allocator.free(run->allocator.alloc(1, run), 1, run);
	}
	return 0;
}
WEIR_TURN(consume)

static void released(struct weir_actor *actor)
{
	ck_pr_inc_32(&stage_of(actor)->run->n_released);
}

static const struct weir_actor_ops ops[N_STAGES] = {
	{.name = "publisher", .turns = produce_n, .released = released},
	{.name = "processor", .turns = transform_n, .released = released},
	{.name = "subscriber", .turns = consume_n, .released = released},
};

static void publish(struct stage *stage)
{
	struct weir_reactive_out_options options = {
		.capacity = stage->run->links ? 0 : stage->run->window,
	};

	assert_int_equal(weir_out_init(&stage->out, &stage->actor, NULL), 0);
	assert_int_equal(weir_reactive_out_init(&stage->publisher, &stage->out,
						&options),
			 0);
}

/* Who says how much to request gets no link. */
static void subscribe(struct stage *stage, struct stage *to)
{
	size_t window = stage->run->window;
	struct weir_reactive_in_options options = {
		.prefetch = stage->run->links ? 0 : window,
	};

	assert_int_equal(weir_in_init(&stage->in, &stage->actor, window, NULL),
			 0);
	assert_int_equal(weir_reactive_in_init(&stage->subscriber, &stage->in,
					       &options),
			 0);
	assert_int_equal(
		weir_publisher_subscribe(&to->publisher.publisher,
					 &stage->subscriber.subscriber),
		0);
	assert_true((to->out.in == &stage->in) == stage->run->links);
}

static void start(struct stage *stages, struct run *run)
{
	size_t i;

	memset(stages, 0, N_STAGES * sizeof(*stages));
	for (i = 0; i < N_STAGES; i++) {
		stages[i].run = run;
		assert_int_equal(weir_actor_init(&stages[i].actor, &ops[i],
						 run->executor),
				 0);
		if (i > 0)
			subscribe(&stages[i], &stages[i - 1]);
		if (i < N_STAGES - 1)
			publish(&stages[i]);
	}
	for (i = 0; i < N_STAGES; i++)
		assert_int_equal(weir_actor_start(&stages[i].actor), 0);
}

static void run_on_pool(struct run *run)
{
	struct stage stages[N_STAGES];
	struct weir_threads_options options = {
		.executor.allocator = &run->allocator,
		.workers = 1,
	};
	struct weir_threads *threads;

	run->allocator = (struct weir_allocator){count_alloc, count_free, run};
	assert_int_equal(weir_threads_new(&threads, &options), 0);
	run->executor = weir_threads_executor(threads);
	start(stages, run);
	while (ck_pr_load_32(&run->n_released) < N_STAGES)
		sched_yield();
	while (weir_threads_free(threads) != 0)
		sched_yield();
	assert_int_equal(stages[2].n, 2 * WARM_UP + run->n_items);
}

static void run_on_loop(struct run *run)
{
	struct stage stages[N_STAGES];
	struct weir_executor_options options = {.allocator = &run->allocator};
	struct weir__costs costs = {0};
	struct weir_loop *loop;

	run->allocator = (struct weir_allocator){count_alloc, count_free, run};
	assert_int_equal(weir_loop_new(&loop, &options), 0);
	run->executor = weir_loop_executor(loop);
	start(stages, run);
	/* a pool has this for its threads */
	weir__costs = &costs;
	while (weir_loop_run(loop, UINT32_MAX) > 0)
		;
	weir__costs = NULL;
	assert_int_equal(run->n_released, N_STAGES);
	assert_int_equal(weir_loop_free(loop), 0);
	assert_int_equal(stages[2].n, 2 * WARM_UP + run->n_items);
}

static void costs_nothing(void (*run_on)(struct run *run), bool links)
{
	static const size_t windows[] = {1, 16, 256};
	size_t i;

	for (i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		struct run run = {
			.links = links,
			.window = windows[i],
			.n_items = test_count(1000000),
		};

		run_on(&run);
		assert_int_equal(run.allocated, 0);
		assert_int_equal(run.costs.kernel_calls, 0);
		assert_int_equal(run.costs.locks, 0);
	}
}

static void items_over_links_cost_nothing_on_a_pool(void **state)
{
	costs_nothing(run_on_pool, true);
}

static void items_over_links_cost_nothing_on_a_loop(void **state)
{
	costs_nothing(run_on_loop, true);
}

static void items_that_are_requested_cost_nothing_on_a_pool(void **state)
{
	costs_nothing(run_on_pool, false);
}

static void items_that_are_requested_cost_nothing_on_a_loop(void **state)
{
	costs_nothing(run_on_loop, false);
}

/* So that the others could fail. */
static void costs_of_each_item_are_seen(void (*run_on)(struct run *run))
{
	struct weir__lock lock = {0};
	struct run run = {.window = 16, .n_items = 1000, .lock = &lock};

	run_on(&run);
	assert_int_equal(run.allocated, 1000);
	assert_int_equal(run.costs.kernel_calls, 1000);
	assert_int_equal(run.costs.locks, 1000);
}

static void what_an_item_costs_is_seen_on_a_pool(void **state)
{
	costs_of_each_item_are_seen(run_on_pool);
}

static void what_an_item_costs_is_seen_on_a_loop(void **state)
{
	costs_of_each_item_are_seen(run_on_loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_over_links_cost_nothing_on_a_pool),
		cmocka_unit_test(items_over_links_cost_nothing_on_a_loop),
		cmocka_unit_test(
			items_that_are_requested_cost_nothing_on_a_pool),
		cmocka_unit_test(
			items_that_are_requested_cost_nothing_on_a_loop),
		cmocka_unit_test(what_an_item_costs_is_seen_on_a_pool),
		cmocka_unit_test(what_an_item_costs_is_seen_on_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
