/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actors that have run and ended while the thread that starts them is still
 * inside its executor's `submit`: the actor, its executor and its system stay
 * until that has returned.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include <ck_pr.h>

#include <weir/weir.h>

/* Queues, and holds up who submits where that thread has asked for it. */
struct held {
	struct weir_executor executor; /* first */
	pthread_mutex_t lock;
	struct weir_task *head, **tail;
	sem_t submitted, go_on;
};

static __thread bool held_up;

static int held_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct held *self = (struct held *)executor;

	pthread_mutex_lock(&self->lock);
	task->next = NULL;
	*self->tail = task;
	self->tail = &task->next;
	pthread_mutex_unlock(&self->lock);
	if (held_up) {
		sem_post(&self->submitted);
		sem_wait(&self->go_on);
	}
	return 0;
}

static uint64_t held_now(struct weir_executor *executor)
{
	return 0;
}

static const struct weir_executor_ops held_ops = {
	.submit = held_submit,
	.now = held_now,
};

static void held_init(struct held *self)
{
	*self = (struct held){.tail = &self->head};
	assert_int_equal(weir_executor_init(&self->executor, &held_ops, NULL),
			 0);
	pthread_mutex_init(&self->lock, NULL);
	sem_init(&self->submitted, 0, 0);
	sem_init(&self->go_on, 0, 0);
}

static void held_fini(struct held *self)
{
	assert_int_equal(weir_executor_fini(&self->executor), 0);
	sem_destroy(&self->go_on);
	sem_destroy(&self->submitted);
	pthread_mutex_destroy(&self->lock);
}

static struct weir_task *held_pop(struct held *self)
{
	struct weir_task *task;

	pthread_mutex_lock(&self->lock);
	task = self->head;
	if (task)
		self->head = task->next;
	if (!self->head)
		self->tail = &self->head;
	pthread_mutex_unlock(&self->lock);
	return task;
}

static void held_drive(struct held *self)
{
	struct weir_task *task;

	while ((task = held_pop(self)))
		weir_task_run(task);
}

/* Ends in its first slice. */
struct short_one {
	struct weir_actor actor;
	uint32_t stopped, released;
	struct weir_system *system;
};

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static int ends(struct weir_actor *actor)
{
	return weir_actor_end(actor);
}

static void short_stopped(struct weir_actor *actor, struct weir_error *error)
{
	weir_container_of(actor, struct short_one, actor)->stopped++;
}

static void short_released(struct weir_actor *actor)
{
	weir_container_of(actor, struct short_one, actor)->released++;
}

static const struct weir_actor_ops short_ops = {
	.turns = no_turns,
	.signalled = ends,
	.stopped = short_stopped,
	.released = short_released,
};

static void short_init(struct short_one *self, struct held *held)
{
	*self = (struct short_one){0};
	assert_int_equal(
		weir_actor_init(&self->actor, &short_ops, &held->executor), 0);
	weir_actor_signal(&self->actor);
}

static void *start(void *context)
{
	struct short_one *self = context;

	held_up = true;
	assert_int_equal(weir_actor_start(&self->actor), 0);
	return NULL;
}

static void *spawn(void *context)
{
	struct short_one *self = context;

	held_up = true;
	assert_int_equal(weir_system_spawn(self->system, WEIR_ACTOR_ID_NONE,
					   &self->actor, NULL, NULL),
			 0);
	return NULL;
}

static void the_executor_stays_until_a_start_has_returned(void **state)
{
	struct held held;
	struct short_one one;
	pthread_t starter;

	held_init(&held);
	short_init(&one, &held);
	assert_int_equal(pthread_create(&starter, NULL, start, &one), 0);
	sem_wait(&held.submitted);
	held_drive(&held);
	assert_int_equal(one.stopped, 1);
	assert_int_equal(one.released, 0);
	assert_int_equal(weir_executor_alive(&held.executor), 1);
	assert_int_equal(weir_executor_fini(&held.executor), -EBUSY);
	sem_post(&held.go_on);
	assert_int_equal(pthread_join(starter, NULL), 0);
	assert_int_equal(one.released, 1);
	held_fini(&held);
}

static void the_system_stays_until_a_spawn_has_returned(void **state)
{
	struct held held;
	struct short_one one;
	pthread_t spawner;

	held_init(&held);
	short_init(&one, &held);
	assert_int_equal(weir_system_new(&one.system, &held.executor, NULL), 0);
	held_drive(&held);
	assert_int_equal(pthread_create(&spawner, NULL, spawn, &one), 0);
	sem_wait(&held.submitted);
	weir_system_stop(one.system);
	held_drive(&held);
	assert_int_equal(one.stopped, 1);
	assert_int_equal(one.released, 0);
	assert_false(weir_completion_done(weir_system_terminated(one.system)));
	sem_post(&held.go_on);
	assert_int_equal(pthread_join(spawner, NULL), 0);
	held_drive(&held);
	assert_int_equal(one.released, 1);
	assert_true(weir_completion_done(weir_system_terminated(one.system)));
	assert_int_equal(weir_system_free(one.system), 0);
	held_fini(&held);
}

/* --- Loops, at any moment ------------------------------------------------- */

struct round {
	struct weir_actor actor;
	uint32_t gone; /* atomic */
	pthread_t starter;
};

static void round_released(struct weir_actor *actor)
{
	struct round *self = weir_container_of(actor, struct round, actor);

	/* release: all uses of the round; pairs with the acquire in it */
	ck_pr_fence_release();
	ck_pr_store_32(&self->gone, 1);
}

static const struct weir_actor_ops round_ops = {
	.turns = no_turns,
	.signalled = ends,
	.released = round_released,
};

static void *round_start(void *actor)
{
	assert_int_equal(weir_actor_start(actor), 0);
	return NULL;
}

static void a_loop_is_freed_as_soon_as_all_is_released(void **state)
{
	uint64_t i, n = test_count(1000);

	for (i = 0; i < n; i++) {
		struct round round = {.gone = 0};
		struct weir_loop *loop;

		assert_int_equal(weir_loop_new(&loop, NULL), 0);
		assert_int_equal(weir_actor_init(&round.actor, &round_ops,
						 weir_loop_executor(loop)),
				 0);
		weir_actor_signal(&round.actor);
		assert_int_equal(pthread_create(&round.starter, NULL,
						round_start, &round.actor),
				 0);
		while (!ck_pr_load_32(&round.gone))
			assert_true(weir_loop_run(loop, 1) >= 0);
		ck_pr_fence_acquire();
		assert_int_equal(weir_loop_free(loop), 0);
		assert_int_equal(pthread_join(round.starter, NULL), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_executor_stays_until_a_start_has_returned),
		cmocka_unit_test(the_system_stays_until_a_spawn_has_returned),
		cmocka_unit_test(a_loop_is_freed_as_soon_as_all_is_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
