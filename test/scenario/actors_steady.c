/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a running pipeline costs beside its turns. The consumer reads the
 * counters at one token and again at a later one, on the only worker there is,
 * so between the two nothing else happens: no allocation, no lock, no system
 * call, no sleep, however many tokens there are.
 */
#include "support.h"

#include <sched.h>
#include <string.h>

#include <weir/weir.h>

#include "base/lock.h"

#define N_STAGES 10  /* a producer, transformers, a consumer */
#define WARM_UP 4000 /* more than the links hold */

struct costs {
	struct weir_threads_counters counters;
	uint64_t allocations;
};

struct run {
	struct weir_threads *threads;
	struct weir_allocator allocator;
	uint64_t allocations;
	uint64_t n_tokens; /* after warming up */
	struct costs before, after;
	struct weir__lock *lock; /* taken for each token, unless NULL */
	uint32_t n_released;	 /* atomic */
};

struct stage {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
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

	(void)weir_out_put(&stage->out, (void *)(uintptr_t)stage->n++);
	/* Its end may cost something: not before the consumer has looked. */
	return stage->n == 2 * WARM_UP + stage->run->n_tokens ? WEIR_TURN_END
							      : 0;
}
WEIR_TURN(produce)

static inline int transform(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);

	return weir_out_put(&stage->out, weir_in_take(&stage->in));
}
WEIR_TURN(transform)

static void note(const struct run *run, struct costs *costs)
{
	weir_threads_counters(run->threads, &costs->counters);
	costs->allocations = ck_pr_load_64(&run->allocations);
}

static inline int consume(struct weir_actor *actor)
{
	struct stage *stage = stage_of(actor);
	struct run *run = stage->run;

	assert_int_equal((uintptr_t)weir_in_take(&stage->in), stage->n);
	if (stage->n == WARM_UP)
		note(run, &run->before);
	if (run->lock) {
		weir__lock(run->lock);
		weir__unlock(run->lock);
		weir__futex_wake(&run->lock->word, 1);
	}
	if (++stage->n == WARM_UP + run->n_tokens)
		note(run, &run->after);
	return 0;
}
WEIR_TURN(consume)

static void released(struct weir_actor *actor)
{
	ck_pr_inc_32(&stage_of(actor)->run->n_released);
}

static const struct weir_actor_ops ops[] = {
	{.name = "produce", .turns = produce_n, .released = released},
	{.name = "transform", .turns = transform_n, .released = released},
	{.name = "consume", .turns = consume_n, .released = released},
};

static void make(struct stage *stages, struct run *run, size_t window)
{
	size_t i;

	memset(stages, 0, N_STAGES * sizeof(*stages));
	for (i = 0; i < N_STAGES; i++) {
		bool first = i == 0, last = i == N_STAGES - 1;
		struct stage *stage = &stages[i];

		stage->run = run;
		assert_int_equal(
			weir_actor_init(&stage->actor,
					&ops[first  ? 0
					     : last ? 2
						    : 1],
					weir_threads_executor(run->threads)),
			0);
		if (!first)
			assert_int_equal(weir_in_init(&stage->in, &stage->actor,
						      window, NULL),
					 0);
		if (!last)
			assert_int_equal(weir_out_init(&stage->out,
						       &stage->actor, NULL),
					 0);
		if (!first)
			assert_int_equal(weir_out_link(&stages[i - 1].out,
						       &stage->in),
					 0);
	}
}

/* Runs a pipeline; run->n_tokens and run->lock are set. */
static void run_pipeline(struct run *run, size_t window)
{
	struct stage stages[N_STAGES];
	struct weir_threads_options options = {
		.executor.allocator = &run->allocator,
		.workers = 1,
	};
	size_t i;

	run->allocator = (struct weir_allocator){count_alloc, count_free, run};
	assert_int_equal(weir_threads_new(&run->threads, &options), 0);
	make(stages, run, window);
	for (i = 0; i < N_STAGES; i++)
		assert_int_equal(weir_actor_start(&stages[i].actor), 0);
	while (ck_pr_load_32(&run->n_released) < N_STAGES)
		sched_yield();
	while (weir_threads_free(run->threads) != 0)
		sched_yield();
	assert_true(run->after.counters.slices > run->before.counters.slices);
}

static void costs_nothing(size_t window)
{
	struct run run = {.n_tokens = test_count(1000000)};
	const struct weir_threads_counters *before = &run.before.counters;
	const struct weir_threads_counters *after = &run.after.counters;

	run_pipeline(&run, window);
	assert_int_equal(run.after.allocations, run.before.allocations);
	assert_int_equal(after->kernel_calls, before->kernel_calls);
	assert_int_equal(after->locks, before->locks);
	assert_int_equal(after->parks, before->parks);
	assert_int_equal(after->wakes, before->wakes);
	assert_int_equal(after->steals, before->steals);
}

static void tokens_through_links_of_one_cost_nothing(void **state)
{
	costs_nothing(1);
}

static void tokens_through_links_of_16_cost_nothing(void **state)
{
	costs_nothing(16);
}

static void tokens_through_links_of_256_cost_nothing(void **state)
{
	costs_nothing(256);
}

/* So that the others could fail. */
static void a_lock_and_a_system_call_a_token_are_seen(void **state)
{
	struct weir__lock lock = {0};
	struct run run = {.n_tokens = 1000, .lock = &lock};

	run_pipeline(&run, 16);
	assert_int_equal(run.after.counters.locks - run.before.counters.locks,
			 1000);
	assert_int_equal(run.after.counters.kernel_calls -
				 run.before.counters.kernel_calls,
			 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_through_links_of_one_cost_nothing),
		cmocka_unit_test(tokens_through_links_of_16_cost_nothing),
		cmocka_unit_test(tokens_through_links_of_256_cost_nothing),
		cmocka_unit_test(a_lock_and_a_system_call_a_token_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
