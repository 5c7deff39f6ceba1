/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another thread wakes a source of the user's for each number that it gives it;
 * all come, in order. Or downstream has enough in the middle, and the thread
 * goes on waking what has ended: it holds it, and the run is over behind that.
 */
#include <pthread.h>
#include <sched.h>

#include "flow/kit.h"

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define ROUNDS 200
#define ITEMS 5000

struct feed {
	struct weir_operator *op;
	intptr_t given; /* atomic */
	uint32_t left;	/* atomic: the thread is about to let go */
	pthread_t thread;
	intptr_t last; /* that has come out */
};

static void *give(void *context)
{
	struct feed *feed = context;
	struct weir_operator *op = feed->op;
	intptr_t i;

	for (i = 1; i <= ITEMS; i++) {
		__atomic_store_n(&feed->given, i, __ATOMIC_RELEASE);
		weir_operator_wake(op);
		if (i % 64 == 0)
			sched_yield();
	}
	__atomic_store_n(&feed->left, 1, __ATOMIC_RELEASE);
	weir_operator_unhold(op);
	return NULL;
}

static int feed_open(struct weir_operator *op)
{
	struct feed *feed = weir_operator_context(op);

	feed->op = op;
	weir_operator_hold(op);
	assert(pthread_create(&feed->thread, NULL, give, feed) == 0);
	return 0;
}

/* As many as there are, one for each time that it is wanted. */
static int feed_on(struct weir_operator *op)
{
	struct feed *feed = weir_operator_context(op);
	intptr_t *taken = weir_operator_state(op);

	if (weir_operator_wanted(op) &&
	    *taken < __atomic_load_n(&feed->given, __ATOMIC_ACQUIRE))
		assert(weir_operator_push(op, (void *)++*taken) == 0);
	return *taken == ITEMS ? weir_operator_end(op, NULL) : 0;
}

static int take(void *item, void *context)
{
	struct feed *feed = context;

	assert((intptr_t)item == feed->last + 1);
	feed->last++;
	return 0;
}

static void run_one(struct weir_executor *executor, int64_t n, size_t link)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(intptr_t),
		.open = feed_open,
		.on_pull = feed_on,
		.on_wake = feed_on,
	};
	struct feed feed = {0};
	struct weir_flow *flow = weir_flow_operator_source(&ops, &feed);

	if (link)
		flow = weir_flow_async(flow, link, NULL);
	flow = weir_flow_for_each(weir_flow_take(flow, n), take, &feed);
	assert_int_equal(weir_flow_run(flow, executor, NULL), 0);
	assert_true(__atomic_load_n(&feed.left, __ATOMIC_ACQUIRE));
	assert_int_equal(feed.last, n < ITEMS ? n : ITEMS);
	assert_int_equal(pthread_join(feed.thread, NULL), 0);
	weir_flow_free(flow);
}

static void run_all(int64_t n)
{
	struct weir_threads_options options = {.workers = 2};
	struct weir_threads *threads;
	uint64_t i;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	for (i = test_count(ROUNDS); i > 0; i--)
		run_one(weir_threads_executor(threads), n, i % 2 ? 4 : 0);
	while (weir_threads_free(threads) == -EBUSY)
		sched_yield();
}

static void each_wake_is_seen(void **state)
{
	run_all(INT64_MAX);
}

static void each_wake_is_seen_by_a_loop(void **state)
{
	struct weir_loop *loop;
	uint64_t i;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	for (i = test_count(ROUNDS); i > 0; i--)
		run_one(weir_loop_executor(loop), i % 3 ? INT64_MAX : 100,
			i % 2 ? 4 : 0);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void one_that_is_held_may_be_woken_when_it_has_ended(void **state)
{
	run_all(100);
}

/* --- Two inputs, and wakes ------------------------------------------------ */

#define EACH 2000

struct both {
	struct feed feed;
	intptr_t last[2], seen;
	int ends;
	bool ahead;
};

static int both_open(struct weir_operator *op)
{
	struct both *both = weir_operator_context(op);

	both->feed.op = op;
	weir_operator_hold(op);
	assert(pthread_create(&both->feed.thread, NULL, give, &both->feed) ==
	       0);
	assert(weir_operator_pull_input(op, 0) == 0);
	return weir_operator_pull_input(op, 1);
}

static int both_over(struct weir_operator *op)
{
	const struct both *both = weir_operator_context(op);

	return both->ends == 2 && both->seen == ITEMS
		       ? weir_operator_end(op, NULL)
		       : 0;
}

static int both_push(struct weir_operator *op, void *item)
{
	struct both *both = weir_operator_context(op);
	size_t i = weir_operator_input(op);

	assert((intptr_t)item == both->last[i] + 1);
	both->last[i]++;
	if (weir_operator_wanted(op))
		assert(weir_operator_push(op, item) == 0);
	return weir_operator_pull_input(op, i);
}

static int both_end(struct weir_operator *op, struct weir_error *error)
{
	struct both *both = weir_operator_context(op);

	assert(!error);
	both->ends++;
	return both_over(op);
}

static int both_wake(struct weir_operator *op)
{
	struct both *both = weir_operator_context(op);

	both->seen = __atomic_load_n(&both->feed.given, __ATOMIC_ACQUIRE);
	return both_over(op);
}

static int nothing_now(struct weir_operator *op)
{
	return 0;
}

static void run_both(struct weir_executor *executor, bool ahead, size_t link)
{
	const struct weir_operator_ops ops = {
		.open = both_open,
		.on_pull = nothing_now,
		.on_push = both_push,
		.on_end = both_end,
		.on_wake = both_wake,
		.ahead = ahead,
	};
	struct both both = {.ahead = ahead};
	struct weir_flow *flows[] = {
		weir_flow_async(weir_flow_range(1, EACH), link, NULL),
		weir_flow_async(weir_flow_range(1, EACH), 1, NULL)};
	struct weir_flow *flow;

	flow = weir_flow_operator_inputs(flows, 2, &ops, &both);
	flow = weir_flow_ignore(weir_flow_async(flow, 2, NULL));
	assert_int_equal(weir_flow_run(flow, executor, NULL), 0);
	assert_int_equal(both.seen, ITEMS);
	assert_int_equal(both.last[0], EACH);
	assert_int_equal(both.last[1], EACH);
	assert_int_equal(pthread_join(both.feed.thread, NULL), 0);
	weir_flow_free(flow);
}

static void each_wake_and_each_item_of_two_inputs_is_seen(void **state)
{
	struct weir_threads_options options = {.workers = 3};
	struct weir_threads *threads;
	uint64_t i;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	for (i = test_count(ROUNDS); i > 0; i--)
		run_both(weir_threads_executor(threads), i % 2, i % 3 ? 1 : 64);
	while (weir_threads_free(threads) == -EBUSY)
		sched_yield();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wake_is_seen),
		cmocka_unit_test(each_wake_is_seen_by_a_loop),
		cmocka_unit_test(
			one_that_is_held_may_be_woken_when_it_has_ended),
		cmocka_unit_test(each_wake_and_each_item_of_two_inputs_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
