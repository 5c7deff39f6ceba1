/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls about the lives of two actors, drawn from a seed, by several threads at
 * once, on actors in every state, new ones included: each thread has
 * references, one of them is the owner, who starts them at some time. Every
 * token is taken, dropped or refused, and each actor ends once.
 */
#include "actor/kit.h"
#include "support.h"

#include <pthread.h>
#include <sched.h>

#include "base/random.h"

#define THREADS 3
#define CALLS 12

struct world {
	struct ledger ledger;
	struct source source;
	struct weir_reactive_out out;
	struct sink fed, put_to; /* by the source, if it comes to that */
	struct weir_reactive_in in;
	uint32_t ready;
	struct weir_threads *pool;
};

struct caller {
	struct world *world;
	uint64_t random;
	size_t next, last; /* tokens of its own */
	bool owner;
};

static struct weir_actor *any_actor(struct world *world, uint64_t random)
{
	struct weir_actor *actors[] = {&world->source.actor, &world->fed.actor,
				       &world->put_to.actor};

	return actors[random % 3];
}

static void put_one(struct caller *caller)
{
	struct world *world = caller->world;
	size_t i = caller->next;

	if (i <= caller->last && weir_in_put(&world->put_to.in, (void *)i) == 0)
		(void)ledger_make(&world->ledger, caller->next++);
}

static void call(struct caller *caller, uint64_t random)
{
	struct world *world = caller->world;
	struct weir_actor *actor = any_actor(world, random >> 8);

	switch (random % 16) {
	case 0:
		weir_actor_stop(actor);
		break;
	case 1:
		weir_actor_signal(actor);
		break;
	case 2:
		weir_actor_suspend(actor);
		weir_actor_resume(actor);
		break;
	case 3:
		weir_actor_unref(weir_actor_ref(actor));
		break;
	case 4:
		(void)weir_in_end(&world->put_to.in, NULL);
		break;
	case 5:
	case 6:
		assert_int_equal(
			weir_publisher_subscribe(&world->out.publisher,
						 &world->in.subscriber),
			0);
		break;
	case 7:
	case 8:
	case 9:
		if (caller->owner)
			(void)weir_actor_start(actor);
		break;
	default:
		put_one(caller);
	}
}

static void drop_all(struct world *world)
{
	weir_actor_unref(&world->source.actor);
	weir_actor_unref(&world->fed.actor);
	weir_actor_unref(&world->put_to.actor);
}

static void *call_often(void *context)
{
	struct caller *caller = context;
	uint32_t i;

	/* all at once, as near as can be */
	ck_pr_inc_32(&caller->world->ready);
	while (ck_pr_load_32(&caller->world->ready) < THREADS)
		sched_yield();
	for (i = 0; i < CALLS; i++)
		call(caller, weir__splitmix(&caller->random));
	drop_all(caller->world);
	return NULL;
}

static void set_up(struct world *world, struct weir_executor *executor)
{
	size_t i;

	ledger_init(&world->ledger, 16 + (THREADS + 1) * CALLS);
	source_init(&world->source, executor, &world->ledger, 1, 16);
	assert_int_equal(weir_reactive_out_init(&world->out, &world->source.out,
						NULL),
			 0);
	sink_init(&world->fed, executor, &world->ledger, 4);
	assert_int_equal(
		weir_reactive_in_init(&world->in, &world->fed.in, NULL), 0);
	sink_init(&world->put_to, executor, &world->ledger, 4);
	for (i = 0; i < (THREADS + 1) * 3; i++)
		weir_actor_ref(any_actor(world, i));
}

/* Threads of the test's own, each with references; the last set is ours. */
static void run(struct world *world, uint64_t seed)
{
	struct weir_executor *executor = weir_threads_executor(world->pool);
	struct caller callers[THREADS];
	pthread_t threads[THREADS];
	uint32_t i;

	set_up(world, executor);
	world->ready = 0;
	for (i = 0; i < THREADS; i++) {
		callers[i] = (struct caller){
			.world = world,
			.random = seed * THREADS + i,
			.next = 17 + i * CALLS,
			.last = 16 + (i + 1) * CALLS,
			.owner = i == 0,
		};
		assert_int_equal(pthread_create(&threads[i], NULL, call_often,
						&callers[i]),
				 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 3; i++)
		weir_actor_stop(any_actor(world, i));
	drop_all(world);
	while (ck_pr_load_32(&world->source.fate.released) +
		       ck_pr_load_32(&world->fed.fate.released) +
		       ck_pr_load_32(&world->put_to.fate.released) <
	       3)
		sched_yield();
	ck_pr_fence_acquire();
	assert_int_equal(world->source.fate.stopped, 1);
	assert_int_equal(world->fed.fate.stopped, 1);
	assert_int_equal(world->put_to.fate.stopped, 1);
	ledger_check(&world->ledger);
	ledger_fini(&world->ledger);
}

static struct weir_threads *pool;

static void one_seed(uint64_t seed)
{
	struct world world = {.pool = pool};

	run(&world, seed);
}

static void calls_of_any_kind_meet_in_any_order(void **state)
{
	const struct weir_threads_options options = {.workers = 2};

	assert_int_equal(weir_threads_new(&pool, &options), 0);
	for_each_seed(seed, test_count(test_soak() ? 100000 : 1000))
		one_seed(seed);
	assert_int_equal(weir_threads_free(pool), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_any_kind_meet_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
