/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-off supervisor in the hands of many threads: they put, ask, and stop
 * its child, which ends and fails by itself as well; delays are as short as can
 * be. Then one of them puts the final item. There is one child at most, every
 * item is delivered or dropped once, and all of it ends.
 */
#include "kit/world.h"

#include <pthread.h>
#include <sched.h>

#include <weir/backoff_supervisor.h>

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

#define N_PUTTERS 3
#define ITEMS 3000 /* of each */
#define CAPACITY 16

struct mill {
	struct weir_threads *threads;
	struct weir_executor *executor;
	struct weir_system *system;
	struct weir_backoff_supervisor supervisor;
	struct ledger ledger;
	uint32_t made, alive, released, over; /* any thread */
	uint32_t putting;
};

struct child {
	struct weir_actor actor;
	struct weir_in in;
	struct mill *mill;
};

static struct child *child_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct child, actor);
}

static inline int child_turn(struct weir_actor *actor)
{
	struct child *self = child_of(actor);
	size_t i = ledger_deliver(&self->mill->ledger, weir_in_take(&self->in));

	if (i == N_PUTTERS * ITEMS + 1 || i % 64 == 0)
		return WEIR_TURN_END;
	return i % 96 == 1 ? -EIO : 0;
}
WEIR_TURN(child_turn)

static void child_stopped(struct weir_actor *actor, struct weir_error *error)
{
	ck_pr_dec_32(&child_of(actor)->mill->alive);
}

static void child_released(struct weir_actor *actor)
{
	struct child *self = child_of(actor);

	ck_pr_inc_32(&self->mill->released);
	free(self);
}

static const struct weir_actor_ops child_ops = {
	.name = "child",
	.turns = child_turn_n,
	.stopped = child_stopped,
	.released = child_released,
};

static int make(struct weir_actor **actor, struct weir_in **in, void *context)
{
	struct mill *mill = context;
	struct child *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	assert_int_equal(ck_pr_faa_32(&mill->alive, 1), 0);
	ck_pr_inc_32(&mill->made);
	self->mill = mill;
	assert_int_equal(
		weir_actor_init(&self->actor, &child_ops, mill->executor), 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, CAPACITY,
				      &mill->ledger.items),
			 0);
	*actor = &self->actor;
	*in = &self->in;
	return 0;
}

static bool is_final(void *item, void *context)
{
	return (uintptr_t)item == N_PUTTERS * ITEMS + 1;
}

static void over(void *context)
{
	struct mill *mill = context;

	ck_pr_inc_32(&mill->over);
}

/* It is taken in the end: by the child, or by nobody. */
static void put(struct mill *mill, size_t i)
{
	void *item = ledger_make(&mill->ledger, i);
	int rc;

	while ((rc = weir_backoff_supervisor_put(&mill->supervisor, item)) ==
	       -EAGAIN)
		sched_yield();
	assert_true(rc == 0 || rc == 1);
}

struct putter {
	pthread_t thread;
	struct mill *mill;
	size_t first;
};

static void *putter_run(void *argument)
{
	struct putter *self = argument;
	size_t i;

	for (i = 0; i < ITEMS; i++)
		put(self->mill, self->first + i);
	ck_pr_dec_32(&self->mill->putting);
	return NULL;
}

/* Asks, and now and then stops the child it is told of. */
static void *meddler_run(void *argument)
{
	struct mill *mill = argument;
	struct weir_actor_id child;
	uint32_t i;

	for (i = 0; ck_pr_load_32(&mill->putting); i++) {
		child = weir_backoff_supervisor_child(&mill->supervisor);
		(void)weir_backoff_supervisor_count(&mill->supervisor);
		(void)weir_backoff_supervisor_reset(&mill->supervisor);
		if (i % 16 == 0)
			(void)weir_system_stop_actor(mill->system, child);
		sched_yield();
	}
	return NULL;
}

static void mill_open(struct mill *mill)
{
	const struct weir_backoff_supervisor_options options = {
		.context = mill,
		.make = make,
		.backoff = {.min_ns = 1,
			    .max_ns = 1000,
			    .random_factor = 1,
			    .reset_ns = WEIR_FOREVER},
		.max_retries = -1,
		.is_final = is_final,
		.items = &mill->ledger.items,
		.released = over,
	};

	memset(mill, 0, sizeof(*mill));
	ledger_init(&mill->ledger, N_PUTTERS * ITEMS + 1);
	assert_int_equal(
		weir_threads_new(&mill->threads,
				 &(struct weir_threads_options){.workers = 2}),
		0);
	mill->executor = weir_threads_executor(mill->threads);
	assert_int_equal(
		weir_system_new(&mill->system, mill->executor, &silent), 0);
	assert_int_equal(weir_backoff_supervisor_init(&mill->supervisor,
						      mill->executor, &options),
			 0);
	weir_actor_ref(&mill->supervisor.actor);
	assert_int_equal(weir_system_spawn(mill->system, WEIR_ACTOR_ID_NONE,
					   &mill->supervisor.actor, NULL, NULL),
			 0);
}

static void mill_close(struct mill *mill)
{
	weir_actor_unref(&mill->supervisor.actor);
	/* It ends by itself: that is what the final item is for. */
	while (!ck_pr_load_32(&mill->over))
		sched_yield();
	end_system(mill->system);
	/* the executor has learned of the last release before the system */
	assert_int_equal(weir_executor_alive(mill->executor), 0);
	assert_int_equal(weir_threads_free(mill->threads), 0);
	assert_int_equal(mill->made, mill->released);
	ledger_check(&mill->ledger);
	ledger_fini(&mill->ledger);
}

static void b8_13_many_threads_put_while_children_come_and_go(void **state)
{
	struct putter putters[N_PUTTERS];
	struct mill mill;
	pthread_t meddler;
	uint64_t round, n = test_count(40);
	size_t i;

	for (round = 0; round < n; round++) {
		mill_open(&mill);
		mill.putting = N_PUTTERS;
		for (i = 0; i < N_PUTTERS; i++) {
			putters[i].mill = &mill;
			putters[i].first = 1 + i * ITEMS;
			assert_int_equal(pthread_create(&putters[i].thread,
							NULL, putter_run,
							&putters[i]),
					 0);
		}
		assert_int_equal(
			pthread_create(&meddler, NULL, meddler_run, &mill), 0);
		for (i = 0; i < N_PUTTERS; i++)
			pthread_join(putters[i].thread, NULL);
		pthread_join(meddler, NULL);
		put(&mill, N_PUTTERS * ITEMS + 1);
		mill_close(&mill);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			b8_13_many_threads_put_while_children_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
