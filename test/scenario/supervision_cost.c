/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What being in a system costs an actor that is never watched and never fails:
 * a little memory, and nothing per token. The chains are those of
 * test/scenario/actors_steady.c, with a supervisor.
 */
#include "kit/world.h"

#include <sched.h>

#include <weir/completion.h>
#include <weir/supervision.h>
#include <weir/system.h>
#include <weir/threads.h>

#include "base/lock.h"
#include "supervision/cell.h"

/* --- Memory --------------------------------------------------------------- */

#define N_ACTORS 10000

struct small {
	struct weir_actor actor;
	struct weir_in in;
};

static const struct weir_actor_ops small_ops;

/* What the library has allocated for each of many actors, rounded up. */
static size_t bytes_each(struct heap *heap, struct small *actors,
			 struct weir_executor *executor,
			 struct weir_system *system)
{
	size_t before, i;

	for (i = 0; i < N_ACTORS; i++) {
		assert_int_equal(weir_actor_init(&actors[i].actor, &small_ops,
						 executor),
				 0);
		assert_int_equal(weir_in_init(&actors[i].in, &actors[i].actor,
					      1, NULL),
				 0);
	}
	before = heap->bytes;
	for (i = 0; i < N_ACTORS; i++)
		if (system)
			assert_int_equal(
				weir_system_spawn(system, WEIR_ACTOR_ID_NONE,
						  &actors[i].actor, NULL, NULL),
				0);
		else
			assert_int_equal(weir_actor_start(&actors[i].actor), 0);
	return (heap->bytes - before + N_ACTORS - 1) / N_ACTORS;
}

static int small_turn(struct weir_actor *actor)
{
	(void)weir_in_take(&weir_container_of(actor, struct small, actor)->in);
	return 0;
}
WEIR_TURN(small_turn)

static const struct weir_actor_ops small_ops = {.turns = small_turn_n};

/* In a system or outside, from start to end. */
static size_t measure(bool supervised)
{
	struct small *actors = calloc(N_ACTORS, sizeof(*actors));
	struct weir_executor_options options = {0};
	struct weir_system *system = NULL;
	struct weir_sim *sim;
	struct heap heap;
	size_t bytes, i;

	assert_non_null(actors);
	heap_init(&heap, 0);
	options.allocator = &heap.allocator;
	assert_int_equal(weir_sim_new(&sim, 1, &options), 0);
	if (supervised)
		assert_int_equal(weir_system_new(&system,
						 weir_sim_executor(sim), NULL),
				 0);
	bytes = bytes_each(&heap, actors, weir_sim_executor(sim), system);
	weir_sim_run(sim);
	/* having run changes nothing */
	for (i = 0; i < N_ACTORS; i++)
		assert_int_equal(weir_in_put(&actors[i].in, NULL), 0);
	weir_sim_run(sim);
	if (system)
		weir_system_stop(system);
	else
		for (i = 0; i < N_ACTORS; i++)
			weir_actor_stop(&actors[i].actor);
	weir_sim_run(sim);
	assert_int_equal(weir_system_free(system), 0);
	sim_free(sim);
	assert_int_equal(heap.live, 0);
	free(actors);
	return bytes;
}

/* Beside what the executor's registry takes for every actor that runs. */
static size_t supervision(void)
{
	size_t outside = measure(false), inside = measure(true);

	assert_true(inside >= outside + sizeof(struct weir__cell));
	return inside - outside;
}

static void supervision_takes_at_most_64_bytes_an_actor(void **state)
{
	assert_true(supervision() <= 64);
}

static void an_actor_with_one_in_port_takes_at_most_256_bytes(void **state)
{
	assert_true(sizeof(struct small) + supervision() <= 256);
}

/* --- Tokens --------------------------------------------------------------- */

#define WARM_UP 1000

struct costs {
	struct weir_threads_counters counters;
	uint64_t allocations;
};

struct chain {
	struct weir_threads *threads;
	struct weir_system *system;
	struct weir_allocator allocator;
	uint64_t allocations;
	uint64_t n_tokens; /* after warming up */
	struct costs before, after;
	struct weir__lock *lock; /* taken for each token, unless NULL */
	struct weir_actor produce, transform, consume;
	struct weir_out produced, transformed;
	struct weir_in to_transform, to_consume;
	uint64_t n_produced, n_consumed;
};

static void *count_alloc(size_t size, void *context)
{
	struct chain *chain = context;

	ck_pr_inc_64(&chain->allocations);
	return malloc(size);
}

static void count_free(void *memory, size_t size, void *context)
{
	free(memory);
}

static void note(struct chain *chain, struct costs *costs)
{
	weir_threads_counters(chain->threads, &costs->counters);
	costs->allocations = ck_pr_load_64(&chain->allocations);
}

static inline int produce(struct weir_actor *actor)
{
	struct chain *chain = weir_container_of(actor, struct chain, produce);

	(void)weir_out_put(&chain->produced, NULL);
	/* Its end does cost something: not before the consumer has looked. */
	return ++chain->n_produced == 2 * WARM_UP + chain->n_tokens
		       ? WEIR_TURN_END
		       : 0;
}
WEIR_TURN(produce)

static inline int transform(struct weir_actor *actor)
{
	struct chain *chain = weir_container_of(actor, struct chain, transform);

	return weir_out_put(&chain->transformed,
			    weir_in_take(&chain->to_transform));
}
WEIR_TURN(transform)

static inline int consume(struct weir_actor *actor)
{
	struct chain *chain = weir_container_of(actor, struct chain, consume);

	(void)weir_in_take(&chain->to_consume);
	if (chain->n_consumed == WARM_UP)
		note(chain, &chain->before);
	if (chain->lock) {
		weir__lock(chain->lock);
		weir__unlock(chain->lock);
	}
	if (++chain->n_consumed == WARM_UP + chain->n_tokens)
		note(chain, &chain->after);
	return 0;
}
WEIR_TURN(consume)

/* They have hooks, as supervised actors have. */
static int pre_start(struct weir_actor *self)
{
	return 0;
}

static const struct weir_lifecycle life = {.pre_start = pre_start};
static const struct weir_actor_ops produce_ops = {.turns = produce_n,
						  .lifecycle = &life};
static const struct weir_actor_ops transform_ops = {.turns = transform_n,
						    .lifecycle = &life};
static const struct weir_actor_ops consume_ops = {.turns = consume_n,
						  .lifecycle = &life};

static void set_up(struct chain *chain, size_t window)
{
	struct weir_executor *executor = weir_threads_executor(chain->threads);

	assert_int_equal(
		weir_actor_init(&chain->produce, &produce_ops, executor), 0);
	assert_int_equal(weir_actor_init(&chain->transform, &transform_ops,
					 executor),
			 0);
	assert_int_equal(
		weir_actor_init(&chain->consume, &consume_ops, executor), 0);
	assert_int_equal(weir_in_init(&chain->to_transform, &chain->transform,
				      window, NULL),
			 0);
	assert_int_equal(weir_in_init(&chain->to_consume, &chain->consume,
				      window, NULL),
			 0);
	assert_int_equal(weir_out_init(&chain->produced, &chain->produce, NULL),
			 0);
	assert_int_equal(
		weir_out_init(&chain->transformed, &chain->transform, NULL), 0);
	assert_int_equal(weir_out_link(&chain->produced, &chain->to_transform),
			 0);
	assert_int_equal(weir_out_link(&chain->transformed, &chain->to_consume),
			 0);
}

static void start(struct chain *chain)
{
	struct weir_actor *actors[] = {&chain->consume, &chain->transform,
				       &chain->produce};
	size_t i;

	for (i = 0; i < 3; i++)
		assert_int_equal(weir_system_spawn(chain->system,
						   WEIR_ACTOR_ID_NONE,
						   actors[i], NULL, NULL),
				 0);
}

/* chain->n_tokens and chain->lock are set. */
static void run_chain(struct chain *chain, size_t window)
{
	struct weir_threads_options options = {
		.executor.allocator = &chain->allocator,
		.workers = 1,
	};

	chain->allocator =
		(struct weir_allocator){count_alloc, count_free, chain};
	assert_int_equal(weir_threads_new(&chain->threads, &options), 0);
	assert_int_equal(weir_system_new(&chain->system,
					 weir_threads_executor(chain->threads),
					 NULL),
			 0);
	set_up(chain, window);
	start(chain);
	while (weir_system_children(chain->system,
				    weir_system_user_guardian(chain->system),
				    NULL, 0) > 0)
		sched_yield();
	end_system(chain->system);
	while (weir_threads_free(chain->threads) != 0)
		sched_yield();
	assert_true(chain->after.counters.slices >
		    chain->before.counters.slices);
}

static void costs_nothing(size_t window)
{
	struct chain chain = {.n_tokens = test_count(1000000)};
	const struct weir_threads_counters *before = &chain.before.counters;
	const struct weir_threads_counters *after = &chain.after.counters;

	run_chain(&chain, window);
	assert_int_equal(chain.after.allocations, chain.before.allocations);
	assert_int_equal(after->kernel_calls, before->kernel_calls);
	assert_int_equal(after->locks, before->locks);
	assert_int_equal(after->parks, before->parks);
	assert_int_equal(after->wakes, before->wakes);
	assert_int_equal(after->steals, before->steals);
}

static void supervised_tokens_through_links_of_one_cost_nothing(void **state)
{
	costs_nothing(1);
}

static void supervised_tokens_through_links_of_64_cost_nothing(void **state)
{
	costs_nothing(64);
}

/* So that the others could fail. */
static void a_lock_a_token_is_seen(void **state)
{
	struct weir__lock lock = {0};
	struct chain chain = {.n_tokens = 1000, .lock = &lock};

	run_chain(&chain, 64);
	assert_int_equal(
		chain.after.counters.locks - chain.before.counters.locks, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(supervision_takes_at_most_64_bytes_an_actor),
		cmocka_unit_test(
			an_actor_with_one_in_port_takes_at_most_256_bytes),
		cmocka_unit_test(
			supervised_tokens_through_links_of_one_cost_nothing),
		cmocka_unit_test(
			supervised_tokens_through_links_of_64_cost_nothing),
		cmocka_unit_test(a_lock_a_token_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
