/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who steps an executor of its own hears when its last actor is gone, or a
 * drain of it is over, on whatever thread that comes about. The tests let it
 * come about on another thread, which is joined, and look then.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "executor/places.h"

#include <ck_pr.h>

#define HOUR UINT64_C(3600000000000)

/* --- Actors whose last reference is the test's ---------------------------- */

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	return n;
}

static const struct weir_actor_ops ops = {.turns = no_turns};

static void ended(struct weir_actor *actor, struct place *place,
		  struct weir_executor *executor)
{
	assert_int_equal(weir_actor_init(actor, &ops, executor), 0);
	(void)weir_actor_ref(actor);
	assert_int_equal(weir_actor_start(actor), 0);
	weir_actor_stop(actor);
	while (ck_pr_load_32(&actor->refs) > 1) {
		place->kind->drive(place);
		sched_yield();
	}
	ck_pr_fence_acquire();
}

static void *drop(void *actor)
{
	weir_actor_unref(actor);
	return NULL;
}

static void drop_elsewhere(struct weir_actor *actor)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, drop, actor), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

struct ending {
	struct weir_ending drain;
	uint32_t done;
};

static void drained(struct weir_ending *drain)
{
	weir_container_of(drain, struct ending, drain)->done++;
}

/* --- Loops ---------------------------------------------------------------- */

static bool readable(struct weir_loop *self)
{
	struct pollfd fd = {.fd = weir_loop_fd(self), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

/* Once, and for a wait that has begun or will. */
static void assert_woken(struct weir_loop *self)
{
	assert_true(readable(self));
	assert_int_equal(weir_loop_wait(self, 1, WEIR_FOREVER), 0);
	assert_false(readable(self));
	assert_int_equal(weir_loop_wait(self, 1, 0), -ETIMEDOUT);
}

static void the_last_release_wakes_a_loop(void **state)
{
	struct weir_actor actors[2];
	struct place place;

	place_make(&place, &loop);
	ended(&actors[0], &place, place.executor);
	ended(&actors[1], &place, place.executor);
	assert_int_equal(weir_loop_run(place.loop, 1), 0);
	drop_elsewhere(&actors[0]);
	assert_false(readable(place.loop));
	drop_elsewhere(&actors[1]);
	assert_woken(place.loop);
	assert_int_equal(place.kind->free(&place), 0);
}

static void the_end_of_a_drain_wakes_a_loop(void **state)
{
	struct ending ending = {.drain.done = drained};
	struct weir_actor actor;
	struct place place;

	place_make(&place, &loop);
	ended(&actor, &place, place.executor);
	assert_int_equal(weir_executor_end_async(place.executor, &ending.drain,
						 WEIR_FOREVER),
			 0);
	assert_int_equal(weir_loop_run(place.loop, 1), 0);
	drop_elsewhere(&actor);
	assert_int_equal(ending.done, 1);
	assert_woken(place.loop);
	assert_int_equal(place.kind->free(&place), 0);
}

/* --- Executors of one's own ----------------------------------------------- */

/* Counts its wakes, and how many had come when a drain was over. */
struct counting {
	struct weir_executor executor; /* first */
	struct weir_task *head;
	struct weir_timer *timer;
	uint32_t wakes;
};

struct counted {
	struct ending ending;
	struct counting *executor;
	uint32_t wakes;
	int rc;
};

static int counting_submit(struct weir_executor *executor,
			   struct weir_task *task)
{
	struct counting *self = (struct counting *)executor;

	task->next = self->head;
	self->head = task;
	return 0;
}

static uint64_t counting_now(struct weir_executor *executor)
{
	return 0;
}

static int counting_arm(struct weir_executor *executor,
			struct weir_timer *timer, uint64_t at_ns)
{
	((struct counting *)executor)->timer = timer;
	return 0;
}

static bool counting_cancel(struct weir_executor *executor,
			    struct weir_timer *timer)
{
	struct counting *self = (struct counting *)executor;
	bool armed = self->timer == timer;

	if (armed)
		self->timer = NULL;
	return armed;
}

static int counting_step(struct weir_executor *executor, uint64_t timeout_ns)
{
	return -EDEADLK;
}

static void counting_wake(struct weir_executor *executor)
{
	((struct counting *)executor)->wakes++;
}

static const struct weir_executor_ops counting_ops = {
	.submit = counting_submit,
	.now = counting_now,
	.timer_arm = counting_arm,
	.timer_cancel = counting_cancel,
	.step = counting_step,
	.wake = counting_wake,
};

static void counting_run(struct counting *self)
{
	struct weir_task *task;

	while ((task = self->head)) {
		self->head = task->next;
		weir_task_run(task);
	}
}

/* Not in it: whoever frees waits for who is here. */
static void counted_done(struct weir_ending *drain)
{
	struct counted *self =
		weir_container_of(drain, struct counted, ending.drain);

	self->ending.done++;
	self->wakes = self->executor->wakes;
	self->rc = weir_executor_fini(&self->executor->executor);
}

/* By the last actor, or by the time. */
static void drain_counted(bool by_time)
{
	struct counting executor = {.wakes = 0};
	struct counted counted = {.ending.drain.done = counted_done,
				  .executor = &executor};
	struct weir_actor actor;

	assert_int_equal(
		weir_executor_init(&executor.executor, &counting_ops, NULL), 0);
	assert_int_equal(weir_actor_init(&actor, &ops, &executor.executor), 0);
	assert_int_equal(weir_actor_start(&actor), 0);
	assert_int_equal(weir_executor_end_async(&executor.executor,
						 &counted.ending.drain, HOUR),
			 0);
	if (by_time)
		executor.timer->fire(executor.timer);
	else
		counting_run(&executor);
	assert_int_equal(counted.ending.done, 1);
	assert_int_equal(counted.ending.drain.actors_left, by_time);
	assert_int_equal(counted.rc, -EBUSY);
	assert_int_equal(executor.wakes, counted.wakes + 1);
	counting_run(&executor);
	assert_int_equal(executor.wakes, 1 + by_time);
	assert_int_equal(weir_executor_fini(&executor.executor), 0);
}

static void who_steps_is_woken_behind_the_end_of_a_drain(void **state)
{
	drain_counted(false);
	drain_counted(true);
}

/* --- Pools and their workers ---------------------------------------------- */

static struct weir_executor *part_of(struct place *place, uint32_t part)
{
	return part ? weir_threads_worker(place->threads, part - 1)
		    : place->executor;
}

static void a_drain_is_over_with_the_last_actor_wherever_that_is(void **state)
{
	uint32_t on, of;

	for (on = 0; on < 3; on++) {
		for (of = 0; of < 3; of++) {
			struct ending ending = {.drain.done = drained};
			struct weir_actor actor;
			struct place place;

			place_make(&place, &threads);
			ended(&actor, &place, part_of(&place, on));
			assert_int_equal(
				weir_executor_end_async(
					part_of(&place, of), &ending.drain,
					weir_executor_now(place.executor) +
						HOUR),
				0);
			assert_int_equal(ending.done, 0);
			weir_actor_unref(&actor);
			assert_int_equal(ending.done, 1);
			assert_int_equal(ending.drain.actors_left, 0);
			assert_int_equal(place.kind->free(&place), 0);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_release_wakes_a_loop),
		cmocka_unit_test(the_end_of_a_drain_wakes_a_loop),
		cmocka_unit_test(who_steps_is_woken_behind_the_end_of_a_drain),
		cmocka_unit_test(
			a_drain_is_over_with_the_last_actor_wherever_that_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
