/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared semaphores: trying, waiting, callbacks and actors, in one queue. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <weir/any.h>
#include <weir/semaphore.h>
#include <weir/sim.h>

#include "sync/grant.h"
#include "sync/wake.h"

#define MANY 100000

static struct weir_semaphore semaphore;

/* --- Requests ----------------------------------------------------------- */

static uint32_t n_granted, depth, depth_max;

struct request {
	struct weir_acquire acquire;
	uint32_t granted; /* calls, and which one it was */
	uint32_t place;
	int64_t releases; /* in its callback */
	uint32_t again;	  /* so often it asks again in its callback */
};

static void request_granted(struct weir_acquire *acquire)
{
	struct request *self =
		weir_container_of(acquire, struct request, acquire);

	if (++depth > depth_max)
		depth_max = depth;
	self->granted++;
	self->place = ++n_granted;
	if (self->releases)
		assert_int_equal(
			weir_semaphore_release(&semaphore, self->releases), 0);
	if (self->again) {
		self->again--;
		assert_int_equal(weir_semaphore_acquire_async(&semaphore,
							      acquire, 1),
				 0);
	}
	depth--;
}

static void ask(struct request *request, int64_t n)
{
	request->acquire.granted = request_granted;
	assert_int_equal(weir_semaphore_acquire_async(&semaphore,
						      &request->acquire, n),
			 0);
}

static int setup(void **state)
{
	n_granted = depth = depth_max = 0;
	assert_int_equal(weir_semaphore_init(&semaphore, 0), 0);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
	return 0;
}

static void release(int64_t n)
{
	assert_int_equal(weir_semaphore_release(&semaphore, n), 0);
}

static void expect_permits(int64_t n)
{
	assert_int_equal(weir_semaphore_permits(&semaphore), n);
}

/* --- Trying, callbacks -------------------------------------------------- */

static void misuse_is_an_error_and_changes_nothing(void **state)
{
	struct request request = {.acquire.granted = NULL};
	struct weir_semaphore other;

	assert_int_equal(weir_semaphore_init(NULL, 1), -EINVAL);
	assert_int_equal(weir_semaphore_init(&other, -1), -EINVAL);
	assert_int_equal(weir_semaphore_init(&other, WEIR_PERMITS_MAX + 1),
			 -EINVAL);
	assert_int_equal(weir_semaphore_fini(NULL), -EINVAL);
	release(5);
	assert_int_equal(weir_semaphore_release(NULL, 1), -EINVAL);
	assert_int_equal(weir_semaphore_release(&semaphore, 0), -EINVAL);
	assert_int_equal(weir_semaphore_release(&semaphore, -1), -EINVAL);
	assert_int_equal(weir_semaphore_try_acquire(NULL, 1), -EINVAL);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 0), -EINVAL);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, -1), -EINVAL);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore,
						    WEIR_PERMITS_MAX + 1),
			 -EINVAL);
	assert_int_equal(weir_semaphore_acquire_wait(NULL, 1, 0), -EINVAL);
	assert_int_equal(weir_semaphore_acquire_wait(&semaphore, 0, 0),
			 -EINVAL);
	assert_int_equal(weir_semaphore_acquire_async(&semaphore, NULL, 1),
			 -EINVAL);
	assert_int_equal(weir_semaphore_acquire_async(&semaphore,
						      &request.acquire, 1),
			 -EINVAL);
	request.acquire.granted = request_granted;
	assert_int_equal(weir_semaphore_acquire_async(&semaphore,
						      &request.acquire, 0),
			 -EINVAL);
	assert_int_equal(weir_semaphore_acquire_async(NULL, &request.acquire,
						      1),
			 -EINVAL);
	assert_false(weir_semaphore_cancel(NULL, &request.acquire));
	assert_false(weir_semaphore_cancel(&semaphore, NULL));
	assert_int_equal(request.granted, 0);
	expect_permits(5);
}

static void try_acquire_takes_what_is_there_and_no_more(void **state)
{
	release(3);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 4), -EAGAIN);
	expect_permits(3);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 2), 0);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 2), -EAGAIN);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 1), 0);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 1), -EAGAIN);
	expect_permits(0);
}

static void too_many_permits_are_refused_and_none_is_added(void **state)
{
	struct request waits = {0};

	release(WEIR_PERMITS_MAX - 1);
	assert_int_equal(weir_semaphore_release(&semaphore, 2), -EOVERFLOW);
	assert_int_equal(weir_semaphore_release(&semaphore, INT64_MAX),
			 -EOVERFLOW);
	expect_permits(WEIR_PERMITS_MAX - 1);
	/* the same with somebody waiting */
	ask(&waits, WEIR_PERMITS_MAX);
	assert_int_equal(weir_semaphore_release(&semaphore, 2), -EOVERFLOW);
	expect_permits(WEIR_PERMITS_MAX - 1);
	assert_int_equal(waits.granted, 0);
	release(1);
	assert_int_equal(waits.granted, 1);
	expect_permits(0);
}

static void one_release_with_a_waiter_makes_one_permit(void **state)
{
	struct request first = {0}, second = {0};

	ask(&first, 1);
	ask(&second, 1);
	release(1);
	assert_int_equal(first.granted, 1);
	assert_int_equal(second.granted, 0);
	expect_permits(0);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 1), -EAGAIN);
	release(1);
	assert_int_equal(second.granted, 1);
	expect_permits(0);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 1), -EAGAIN);
}

static void a_request_that_need_not_wait_is_granted_at_once(void **state)
{
	struct request request = {0};

	release(2);
	ask(&request, 2);
	assert_int_equal(request.granted, 1);
	expect_permits(0);
}

static void requests_are_granted_in_the_order_they_came(void **state)
{
	struct request requests[5] = {{.granted = 0}};
	static const int64_t wants[5] = {2, 1, 3, 1, 1};
	uint32_t i;

	for (i = 0; i < 5; i++)
		ask(&requests[i], wants[i]);
	release(1);
	assert_int_equal(n_granted, 0);
	release(2);
	assert_int_equal(n_granted, 2);
	release(2);
	assert_int_equal(n_granted, 2);
	release(4);
	assert_int_equal(n_granted, 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(requests[i].place, i + 1);
	expect_permits(1);
}

static void nobody_overtakes_those_who_wait(void **state)
{
	struct request large = {0}, small = {0};

	release(1);
	ask(&large, 2);
	ask(&small, 1);
	assert_int_equal(small.granted, 0);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 1), -EAGAIN);
	assert_int_equal(weir_semaphore_acquire_wait(&semaphore, 1, 0),
			 -ETIMEDOUT);
	expect_permits(1);
	release(2);
	assert_int_equal(large.place, 1);
	assert_int_equal(small.place, 2);
}

static void a_cancelled_waiter_loses_no_permit(void **state)
{
	struct request large = {0}, small = {0}, last = {0};

	release(1);
	ask(&large, 2);
	ask(&small, 1);
	ask(&last, 1);
	assert_true(weir_semaphore_cancel(&semaphore, &large.acquire));
	assert_int_equal(large.granted, 0);
	assert_int_equal(small.granted, 1);
	assert_int_equal(last.granted, 0);
	assert_true(weir_semaphore_cancel(&semaphore, &last.acquire));
	release(1);
	assert_int_equal(last.granted, 0);
	assert_int_equal(weir_semaphore_try_acquire(&semaphore, 1), 0);
}

static void cancelling_in_the_middle_keeps_the_others_in_order(void **state)
{
	struct request requests[3] = {{.granted = 0}};
	uint32_t i;

	for (i = 0; i < 3; i++)
		ask(&requests[i], 1);
	assert_true(weir_semaphore_cancel(&semaphore, &requests[1].acquire));
	assert_false(weir_semaphore_cancel(&semaphore, &requests[1].acquire));
	release(2);
	assert_int_equal(requests[0].place, 1);
	assert_int_equal(requests[1].granted, 0);
	assert_int_equal(requests[2].place, 2);
}

static void what_is_granted_cannot_be_cancelled(void **state)
{
	struct request now = {0}, later = {0};

	release(1);
	ask(&now, 1);
	assert_false(weir_semaphore_cancel(&semaphore, &now.acquire));
	ask(&later, 1);
	release(1);
	assert_false(weir_semaphore_cancel(&semaphore, &later.acquire));
	assert_int_equal(later.granted, 1);
	expect_permits(0);
}

/* A chain of callbacks, each of which lets the next one in. */
static void callbacks_that_release_need_no_stack_for_each_other(void **state)
{
	struct request *requests = calloc(MANY, sizeof(*requests));
	uint32_t i;

	assert_non_null(requests);
	for (i = 0; i < MANY; i++) {
		requests[i].releases = 1;
		ask(&requests[i], 1);
	}
	release(1);
	assert_int_equal(n_granted, MANY);
	for (i = 0; i < MANY; i++)
		assert_int_equal(requests[i].place, i + 1);
	assert_int_equal(depth_max, 1);
	expect_permits(1);
	free(requests);
}

static void a_callback_may_ask_again_with_the_same_request(void **state)
{
	struct request request = {.again = MANY};

	release(MANY + 1);
	ask(&request, 1);
	assert_int_equal(request.granted, MANY + 1);
	assert_int_equal(depth_max, 1);
	expect_permits(0);
}

static void one_with_waiters_cannot_be_ended(void **state)
{
	struct request request = {0};

	ask(&request, 1);
	assert_int_equal(weir_semaphore_fini(&semaphore), -EBUSY);
	release(1);
	assert_int_equal(request.granted, 1);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
}

/* --- Waiting threads ---------------------------------------------------- */

static void a_wait_that_need_not_wait_returns_at_once(void **state)
{
	release(2);
	assert_int_equal(weir_semaphore_acquire_wait(&semaphore, 2, 0), 0);
	expect_permits(0);
}

static void a_wait_times_out_and_takes_nothing(void **state)
{
	struct request next = {0};

	release(1);
	assert_int_equal(weir_semaphore_acquire_wait(&semaphore, 2, 0),
			 -ETIMEDOUT);
	expect_permits(1);
	ask(&next, 1);
	assert_int_equal(next.granted, 1);
}

static void *releaser(void *arg)
{
	release(1);
	return NULL;
}

static void a_wait_ends_with_a_release_by_another_thread(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, releaser, NULL), 0);
	assert_int_equal(
		weir_semaphore_acquire_wait(&semaphore, 1, WEIR_FOREVER), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	expect_permits(0);
}

static int wait_result;

static void waits_in_callback(struct weir_acquire *acquire)
{
	wait_result = weir_semaphore_acquire_wait(&semaphore, 1, 0);
}

static void a_callback_may_not_wait(void **state)
{
	struct weir_acquire acquire = {.granted = waits_in_callback};

	release(2);
	assert_int_equal(weir_semaphore_acquire_async(&semaphore, &acquire, 1),
			 0);
	assert_int_equal(wait_result, -EDEADLK);
	expect_permits(1);
}

/* --- Actors ------------------------------------------------------------- */

/* Takes a burst of each of its ports, and gives back `gives` of the first. */
struct taker {
	struct weir_actor actor;
	struct weir_semaphore_port ports[2];
	struct weir_any any;
	uint32_t n_ports;
	int64_t takes, gives;
	uint32_t turns, turns_max; /* finishes after that many */
	bool waits, ignores;
	uint32_t released;
};

static int taker_turn(struct weir_actor *actor)
{
	struct taker *self = weir_container_of(actor, struct taker, actor);
	uint32_t i;

	if (self->waits) {
		wait_result = weir_semaphore_acquire_wait(&semaphore, 1, 0);
		return weir_actor_end(actor);
	}
	for (i = 0; i < self->n_ports; i++)
		if (!weir__port_group(&self->ports[i].port) ||
		    weir_port_ready(&self->ports[i].port))
			assert_int_equal(weir_semaphore_port_take(
						 &self->ports[i], self->takes),
					 0);
	if (++self->turns == self->turns_max)
		weir_actor_end(actor);
	if (self->gives)
		release(self->gives);
	return 0;
}
WEIR_TURN(taker_turn)

static void taker_released(struct weir_actor *actor)
{
	weir_container_of(actor, struct taker, actor)->released++;
}

static const struct weir_actor_ops taker_ops = {
	.name = "taker",
	.turns = taker_turn_n,
	.released = taker_released,
};

static void taker_init(struct taker *self, struct weir_executor *executor,
		       struct weir_semaphore *first,
		       struct weir_semaphore *second)
{
	memset(self, 0, sizeof(*self));
	self->takes = 1;
	assert_int_equal(weir_actor_init(&self->actor, &taker_ops, executor),
			 0);
	assert_int_equal(weir_semaphore_port_init(&self->ports[0], &self->actor,
						  first),
			 0);
	self->n_ports = 1;
	if (!second)
		return;
	assert_int_equal(weir_semaphore_port_init(&self->ports[1], &self->actor,
						  second),
			 0);
	self->n_ports = 2;
}

static struct weir_sim *sim;
static struct weir_semaphore other;
static struct taker taker;

static int sim_setup(void **state)
{
	setup(state);
	assert_int_equal(weir_semaphore_init(&other, 0), 0);
	return weir_sim_new(&sim, 1, NULL);
}

/* Everybody is gone, and nobody is in a queue. */
static int sim_teardown(void **state)
{
	assert_int_equal(weir_sim_free(sim), 0);
	assert_int_equal(weir_semaphore_fini(&other), 0);
	return teardown(state);
}

static void start(struct taker *self)
{
	assert_int_equal(weir_actor_start(&self->actor), 0);
}

static void stop(struct taker *self)
{
	weir_actor_stop(&self->actor);
	weir_sim_run(sim);
	assert_int_equal(self->released, 1);
}

static void a_port_checks_its_arguments(void **state)
{
	struct weir_semaphore_port port;

	taker_init(&taker, weir_sim_executor(sim), &semaphore, NULL);
	assert_int_equal(weir_semaphore_port_init(NULL, &taker.actor,
						  &semaphore),
			 -EINVAL);
	assert_int_equal(weir_semaphore_port_init(&port, NULL, &semaphore),
			 -EINVAL);
	assert_int_equal(weir_semaphore_port_init(&port, &taker.actor, NULL),
			 -EINVAL);
	assert_int_equal(weir_semaphore_port_take(NULL, 1), -EINVAL);
	assert_int_equal(weir_semaphore_port_take(&taker.ports[0], 0), -EINVAL);
	assert_int_equal(weir_semaphore_port_take(&taker.ports[0], 1), -EAGAIN);
	start(&taker);
	assert_int_equal(weir_semaphore_port_take(&taker.ports[0], 1), -EPERM);
	assert_int_equal(weir_semaphore_port_init(&port, &taker.actor,
						  &semaphore),
			 -EPERM);
	stop(&taker);
}

static void an_actor_runs_one_turn_for_each_permit(void **state)
{
	taker_init(&taker, weir_sim_executor(sim), &semaphore, NULL);
	release(2);
	start(&taker);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 2);
	release(3);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 5);
	expect_permits(0);
	stop(&taker);
}

static void a_turn_gets_its_burst_and_what_it_leaves_goes_back(void **state)
{
	taker_init(&taker, weir_sim_executor(sim), &semaphore, NULL);
	assert_int_equal(weir_port_set_burst(&taker.ports[0].port, 3), 0);
	taker.takes = 2;
	start(&taker);
	release(2);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 0);
	release(2);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 1);
	expect_permits(2);
	release(1);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 2);
	expect_permits(1);
	stop(&taker);
	expect_permits(1);
}

static void an_actor_that_waits_and_is_stopped_leaves_the_queue(void **state)
{
	struct request next = {0};

	taker_init(&taker, weir_sim_executor(sim), &semaphore, NULL);
	start(&taker);
	weir_sim_run(sim);
	assert_int_equal(weir_semaphore_fini(&semaphore), -EBUSY);
	ask(&next, 1);
	stop(&taker);
	assert_int_equal(next.granted, 0);
	release(1);
	assert_int_equal(next.granted, 1);
	assert_int_equal(taker.turns, 0);
}

static void a_permit_held_at_the_stop_goes_to_the_next(void **state)
{
	struct request next = {0};

	taker_init(&taker, weir_sim_executor(sim), &semaphore, &other);
	start(&taker);
	weir_sim_run(sim);
	ask(&next, 1);
	release(1);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 0);
	assert_int_equal(next.granted, 0);
	stop(&taker);
	assert_int_equal(next.granted, 1);
	expect_permits(0);
}

/* The grant is under way (its callback is yet to run) when the port closes. */
static struct taker *to_be_stopped;

static void stops_the_taker(struct weir_acquire *acquire)
{
	weir_actor_stop(&to_be_stopped->actor);
	weir_sim_run(sim);
	expect_permits(0);
	assert_int_equal(to_be_stopped->released, 0);
}

static void a_permit_granted_too_late_for_its_port_goes_back(void **state)
{
	struct weir_acquire first = {.granted = stops_the_taker};

	taker_init(&taker, weir_sim_executor(sim), &semaphore, NULL);
	to_be_stopped = &taker;
	assert_int_equal(weir_semaphore_acquire_async(&semaphore, &first, 1),
			 0);
	start(&taker);
	weir_sim_run(sim);
	release(2);
	assert_int_equal(taker.turns, 0);
	assert_int_equal(taker.released, 1);
	expect_permits(1);
}

static int ignores_then_requires(struct weir_actor *actor)
{
	struct taker *self = weir_container_of(actor, struct taker, actor);
	struct weir_port *port = &self->ports[0].port;

	if (self->ignores)
		return weir_port_ignore(port);
	return weir_port_require(port);
}

static uint32_t new_burst;

static int sets_burst(struct weir_actor *actor)
{
	struct taker *self = weir_container_of(actor, struct taker, actor);

	return weir_port_set_burst(&self->ports[0].port, new_burst);
}

static const struct weir_actor_ops setting_ops = {
	.turns = taker_turn_n,
	.signalled = sets_burst,
	.released = taker_released,
};

static const struct weir_actor_ops switching_ops = {
	.turns = taker_turn_n,
	.signalled = ignores_then_requires,
	.released = taker_released,
};

static void switch_port(bool ignores)
{
	taker.ignores = ignores;
	weir_actor_signal(&taker.actor);
	weir_sim_run(sim);
	taker.ignores = false;
}

static void an_ignored_port_gives_back_and_asks_again_when_required(
	void **state)
{
	taker_init(&taker, weir_sim_executor(sim), &semaphore, &other);
	taker.actor.ops = &switching_ops;
	release(1);
	start(&taker);
	weir_sim_run(sim);
	expect_permits(0);
	switch_port(true);
	expect_permits(1);
	switch_port(false);
	expect_permits(0);
	assert_int_equal(taker.turns, 0);
	assert_int_equal(weir_semaphore_release(&other, 1), 0);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 1);
	stop(&taker);
}

static void a_port_ignored_while_it_waits_leaves_the_queue(void **state)
{
	struct request next = {0};

	taker_init(&taker, weir_sim_executor(sim), &semaphore, NULL);
	taker.actor.ops = &switching_ops;
	start(&taker);
	weir_sim_run(sim);
	ask(&next, 1);
	switch_port(true);
	release(1);
	assert_int_equal(next.granted, 1);
	release(1);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 0);
	expect_permits(1);
	switch_port(false);
	assert_int_equal(taker.turns, 1);
	stop(&taker);
}

/* The first port wants more than before, and so the second must let go. */
static void a_port_lets_go_when_one_before_it_waits_again(void **state)
{
	taker_init(&taker, weir_sim_executor(sim), &semaphore, &other);
	taker.actor.ops = &setting_ops;
	new_burst = 2;
	release(1);
	start(&taker);
	weir_sim_run(sim);
	expect_permits(0);
	assert_int_equal(weir_semaphore_fini(&other), -EBUSY);
	weir_actor_signal(&taker.actor);
	weir_sim_run(sim);
	/* one was given back: two are wanted, together */
	expect_permits(1);
	assert_int_equal(weir_semaphore_fini(&semaphore), -EBUSY);
	assert_int_equal(weir_semaphore_fini(&other), 0);
	release(1);
	assert_int_equal(weir_semaphore_release(&other, 1), 0);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 1);
	stop(&taker);
	expect_permits(1);
}

static void wants_less(bool in_group)
{
	taker_init(&taker, weir_sim_executor(sim), &semaphore, NULL);
	taker.actor.ops = &setting_ops;
	assert_int_equal(weir_port_set_burst(&taker.ports[0].port, 2), 0);
	if (in_group) {
		assert_int_equal(weir_any_init(&taker.any, &taker.actor), 0);
		assert_int_equal(weir_any_add(&taker.any, &taker.ports[0].port),
				 0);
	}
	release(1);
	start(&taker);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 0);
	new_burst = 1;
	weir_actor_signal(&taker.actor);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 1);
	stop(&taker);
}

static void a_port_that_wants_less_than_it_waits_for_gets_it(void **state)
{
	wants_less(false);
}

static void so_does_a_port_in_a_group(void **state)
{
	wants_less(true);
}

static void ports_ask_in_their_order_one_at_a_time(void **state)
{
	taker_init(&taker, weir_sim_executor(sim), &semaphore, &other);
	assert_int_equal(weir_semaphore_release(&other, 1), 0);
	start(&taker);
	weir_sim_run(sim);
	/* the second is there for others while the first is waited for */
	assert_int_equal(weir_semaphore_try_acquire(&other, 1), 0);
	release(1);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 0);
	expect_permits(0);
	assert_int_equal(weir_semaphore_release(&other, 1), 0);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 1);
	stop(&taker);
}

static void a_group_of_ports_waits_for_any_of_them(void **state)
{
	taker_init(&taker, weir_sim_executor(sim), &semaphore, &other);
	assert_int_equal(weir_any_init(&taker.any, &taker.actor), 0);
	assert_int_equal(weir_any_add(&taker.any, &taker.ports[0].port), 0);
	assert_int_equal(weir_any_add(&taker.any, &taker.ports[1].port), 0);
	start(&taker);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 0);
	assert_int_equal(weir_semaphore_release(&other, 1), 0);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 1);
	release(1);
	weir_sim_run(sim);
	assert_int_equal(taker.turns, 2);
	stop(&taker);
}

static void a_turn_may_not_wait(void **state)
{
	taker_init(&taker, weir_sim_executor(sim), &semaphore, NULL);
	taker.waits = true;
	release(2);
	start(&taker);
	weir_sim_run(sim);
	assert_int_equal(wait_result, -EDEADLK);
	assert_int_equal(taker.released, 1);
	/* the one it held went back, too */
	expect_permits(2);
}

static void a_thread_that_waits_runs_its_simulator(void **state)
{
	taker_init(&taker, weir_sim_executor(sim), &other, NULL);
	assert_int_equal(weir_semaphore_release(&other, 1), 0);
	taker.gives = 1;
	start(&taker);
	assert_int_equal(
		weir_semaphore_acquire_wait(&semaphore, 1, WEIR_FOREVER), 0);
	assert_int_equal(taker.turns, 1);
	assert_int_equal(weir_semaphore_acquire_wait(&semaphore, 1,
						     WEIR_FOREVER),
			 -EDEADLK);
	assert_int_equal(weir_semaphore_acquire_wait(&semaphore, 1, 1000),
			 -ETIMEDOUT);
	assert_int_equal(weir_executor_now(weir_sim_executor(sim)), 1000);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
	stop(&taker);
}

/* --- Philosophers ------------------------------------------------------- */

enum { SEATS = 5, MEALS = 8 };

struct philosopher {
	struct weir_actor actor;
	struct weir_semaphore_port low, high;
	uint32_t forks[2];
	uint32_t meals;
	bool eats;
};

static struct weir_semaphore forks[SEATS];
static uint32_t users[SEATS];
static struct philosopher philosophers[SEATS];
static uint32_t left_the_table;

static void put_down(struct philosopher *self)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		users[self->forks[i]]--;
		assert_int_equal(
			weir_semaphore_release(&forks[self->forks[i]], 1), 0);
	}
	self->eats = false;
}

/* Takes both forks in one turn and lays them down in another one. */
static int philosopher_turn(struct weir_actor *actor)
{
	struct philosopher *self =
		weir_container_of(actor, struct philosopher, actor);

	assert_int_equal(weir_semaphore_port_take(&self->low, 1), 0);
	assert_int_equal(weir_semaphore_port_take(&self->high, 1), 0);
	assert_int_equal(++users[self->forks[0]], 1);
	assert_int_equal(++users[self->forks[1]], 1);
	self->meals++;
	self->eats = true;
	weir_actor_signal(actor);
	return 0;
}
WEIR_TURN(philosopher_turn)

static int philosopher_signalled(struct weir_actor *actor)
{
	struct philosopher *self =
		weir_container_of(actor, struct philosopher, actor);

	if (self->eats)
		put_down(self);
	return self->meals == MEALS ? weir_actor_end(actor) : 0;
}

static void philosopher_released(struct weir_actor *actor)
{
	left_the_table++;
}

static const struct weir_actor_ops philosopher_ops = {
	.name = "philosopher",
	.turns = philosopher_turn_n,
	.signalled = philosopher_signalled,
	.released = philosopher_released,
};

static void sit_down(struct philosopher *self, uint32_t seat)
{
	uint32_t left = seat, right = (seat + 1) % SEATS;

	*self = (struct philosopher){0};
	self->forks[0] = left < right ? left : right;
	self->forks[1] = left < right ? right : left;
	assert_int_equal(weir_actor_init(&self->actor, &philosopher_ops,
					 weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_semaphore_port_init(&self->low, &self->actor,
						  &forks[self->forks[0]]),
			 0);
	assert_int_equal(weir_semaphore_port_init(&self->high, &self->actor,
						  &forks[self->forks[1]]),
			 0);
}

static void dine(uint64_t seed)
{
	uint32_t i;

	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	left_the_table = 0;
	for (i = 0; i < SEATS; i++)
		assert_int_equal(weir_semaphore_init(&forks[i], 1), 0);
	for (i = 0; i < SEATS; i++)
		sit_down(&philosophers[i], i);
	for (i = 0; i < SEATS; i++)
		assert_int_equal(weir_actor_start(&philosophers[i].actor), 0);
	weir_sim_run(sim);
	if (left_the_table != SEATS)
		fail_msg("seed %llu: a philosopher starves",
			 (unsigned long long)seed);
	for (i = 0; i < SEATS; i++) {
		assert_int_equal(philosophers[i].meals, MEALS);
		assert_int_equal(weir_semaphore_permits(&forks[i]), 1);
		assert_int_equal(weir_semaphore_fini(&forks[i]), 0);
	}
	assert_int_equal(weir_sim_free(sim), 0);
}

static void philosophers_all_eat_with_forks_of_their_own(void **state)
{
	for_each_seed(seed, test_count(10000))
		dine(seed);
}

/* --- Any mixture -------------------------------------------------------- */

enum { TAKERS = 4, REQUESTS = 4, PERMITS = 3 };

/* Permits are nowhere made or lost, whatever is cancelled and stopped. */
static void mix(uint64_t seed)
{
	struct taker takers[TAKERS];
	struct request requests[REQUESTS] = {{.granted = 0}};
	bool pending[REQUESTS] = {false};
	uint32_t i, turns = 0, pick;
	int64_t out = 0;

	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	assert_int_equal(weir_semaphore_init(&semaphore, PERMITS), 0);
	n_granted = 0;
	for (i = 0; i < TAKERS; i++) {
		taker_init(&takers[i], weir_sim_executor(sim), &semaphore,
			   NULL);
		takers[i].gives = 1;
		takers[i].turns_max = 1 + (uint32_t)weir_sim_random(sim, 20);
		start(&takers[i]);
	}
	for (i = 0; i < 100; i++) {
		pick = (uint32_t)weir_sim_random(sim, REQUESTS);
		if (!pending[pick]) {
			requests[pick].granted = 0;
			ask(&requests[pick], 1);
			pending[pick] = true;
		} else if (weir_semaphore_cancel(&semaphore,
						 &requests[pick].acquire)) {
			assert_int_equal(requests[pick].granted, 0);
			pending[pick] = false;
		} else {
			assert_int_equal(requests[pick].granted, 1);
			pending[pick] = false;
			release(1);
		}
		if (weir_sim_random(sim, 20) == 0)
			weir_actor_stop(&takers[pick % TAKERS].actor);
		weir_sim_step(sim);
	}
	for (i = 0; i < REQUESTS; i++)
		if (pending[i] &&
		    !weir_semaphore_cancel(&semaphore, &requests[i].acquire))
			out++;
	if (out)
		release(out);
	weir_sim_run(sim);
	for (i = 0; i < TAKERS; i++) {
		assert_int_equal(takers[i].released, 1);
		turns += takers[i].turns;
	}
	assert_true(turns > 0);
	expect_permits(PERMITS);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void permits_are_kept_in_any_mixture(void **state)
{
	for_each_seed(seed, test_count(10000))
		mix(seed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SIM_TEST(name) \
	cmocka_unit_test_setup_teardown(name, sim_setup, sim_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(misuse_is_an_error_and_changes_nothing),
		TEST(try_acquire_takes_what_is_there_and_no_more),
		TEST(too_many_permits_are_refused_and_none_is_added),
		TEST(one_release_with_a_waiter_makes_one_permit),
		TEST(a_request_that_need_not_wait_is_granted_at_once),
		TEST(requests_are_granted_in_the_order_they_came),
		TEST(nobody_overtakes_those_who_wait),
		TEST(a_cancelled_waiter_loses_no_permit),
		TEST(cancelling_in_the_middle_keeps_the_others_in_order),
		TEST(what_is_granted_cannot_be_cancelled),
		TEST(callbacks_that_release_need_no_stack_for_each_other),
		TEST(a_callback_may_ask_again_with_the_same_request),
		TEST(one_with_waiters_cannot_be_ended),
		TEST(a_wait_that_need_not_wait_returns_at_once),
		TEST(a_wait_times_out_and_takes_nothing),
		TEST(a_wait_ends_with_a_release_by_another_thread),
		TEST(a_callback_may_not_wait),
		SIM_TEST(a_port_checks_its_arguments),
		SIM_TEST(an_actor_runs_one_turn_for_each_permit),
		SIM_TEST(a_turn_gets_its_burst_and_what_it_leaves_goes_back),
		SIM_TEST(an_actor_that_waits_and_is_stopped_leaves_the_queue),
		SIM_TEST(a_permit_held_at_the_stop_goes_to_the_next),
		SIM_TEST(a_permit_granted_too_late_for_its_port_goes_back),
		SIM_TEST(
			an_ignored_port_gives_back_and_asks_again_when_required),
		SIM_TEST(a_port_ignored_while_it_waits_leaves_the_queue),
		SIM_TEST(a_port_lets_go_when_one_before_it_waits_again),
		SIM_TEST(a_port_that_wants_less_than_it_waits_for_gets_it),
		SIM_TEST(so_does_a_port_in_a_group),
		SIM_TEST(ports_ask_in_their_order_one_at_a_time),
		SIM_TEST(a_group_of_ports_waits_for_any_of_them),
		SIM_TEST(a_turn_may_not_wait),
		SIM_TEST(a_thread_that_waits_runs_its_simulator),
		cmocka_unit_test(philosophers_all_eat_with_forks_of_their_own),
		cmocka_unit_test(permits_are_kept_in_any_mixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
