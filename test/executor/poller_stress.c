/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arming and cancelling against a poller's thread that fires: each arming
 * ends in exactly one of the two. What is cancelled is overwritten at once.
 */
#include "support.h"

#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "executor/fake.h"
#include "executor/poller.h"

#define THREADS 3

static struct weir__poller_thread service;

struct racer {
	struct weir_timer timer;
	struct weir_watch watch;
	pthread_t thread;
	int fds[2];
	uint64_t rounds;
	uint64_t written; /* plain: overwritten whenever it is not armed */
	uint32_t fired;	  /* atomic */
	uint32_t cancelled;
	uint32_t told; /* plain: by a watch that stays */
};

static void count(struct racer *self)
{
	self->written++;
	ck_pr_fence_release();
	ck_pr_inc_32(&self->fired);
	weir__futex_wake(&self->fired, 1);
}

static void fire_timer(struct weir_timer *timer)
{
	count(weir_container_of(timer, struct racer, timer));
}

static void fire_watch(struct weir_watch *watch, short events)
{
	count(weir_container_of(watch, struct racer, watch));
}

static void wait_fired(struct racer *self, uint32_t before)
{
	while (ck_pr_load_32(&self->fired) == before)
		weir__futex_wait(&self->fired, before, UINT64_MAX);
	ck_pr_fence_acquire();
	assert_int_equal(ck_pr_load_32(&self->fired), before + 1);
}

static void race_timer(struct racer *self, uint64_t round)
{
	uint32_t fired = ck_pr_load_32(&self->fired);

	memset(&self->timer, 0, sizeof(self->timer));
	self->timer.fire = fire_timer;
	assert_int_equal(weir__poller_thread_timer_arm(
				 &service, &self->timer,
				 weir__clock_ns() + round % 16 * 2000),
			 0);
	/* Also moved, sometimes. */
	if (round % 3 == 0 &&
	    weir__poller_thread_timer_cancel(&service, &self->timer))
		weir__poller_thread_timer_arm(&service, &self->timer, 0);
	if (round % 2 == 0 &&
	    weir__poller_thread_timer_cancel(&service, &self->timer)) {
		memset(&self->timer, 0xee, sizeof(self->timer));
		self->cancelled++;
	} else {
		wait_fired(self, fired);
	}
	self->written++;
}

static void *race_timers(void *argument)
{
	struct racer *self = argument;
	uint64_t round;

	for (round = 0; round < self->rounds; round++)
		race_timer(self, round);
	return NULL;
}

static void race_watch(struct racer *self, uint64_t round)
{
	uint32_t fired = ck_pr_load_32(&self->fired);
	char byte = 0;

	memset(&self->watch, 0, sizeof(self->watch));
	self->watch.fire = fire_watch;
	self->watch.fd = self->fds[0];
	self->watch.events = POLLIN;
	if (round % 3)
		assert_int_equal(write(self->fds[1], &byte, 1), 1);
	assert_int_equal(weir__poller_thread_watch_arm(&service, &self->watch),
			 0);
	if (round % 3 == 0)
		assert_int_equal(write(self->fds[1], &byte, 1), 1);
	if (round % 2 == 0 &&
	    weir__poller_thread_watch_cancel(&service, &self->watch)) {
		memset(&self->watch, 0xee, sizeof(self->watch));
		self->cancelled++;
	} else {
		wait_fired(self, fired);
	}
	self->written++;
	assert_int_equal(read(self->fds[0], &byte, 1), 1);
}

static void *race_watches(void *argument)
{
	struct racer *self = argument;
	uint64_t round;

	for (round = 0; round < self->rounds; round++)
		race_watch(self, round);
	return NULL;
}

/*
 * A watch that stays: fires while it is being cancelled, then either never again
 * or once more, without events.
 */
static void fire_edges(struct weir_watch *watch, short events)
{
	struct racer *self = weir_container_of(watch, struct racer, watch);

	if (events)
		self->told++;
	else
		count(self);
}

static void race_edges(struct racer *self, uint64_t round)
{
	uint32_t fired = ck_pr_load_32(&self->fired);
	char byte = 0;

	self->watch = (struct weir_watch){
		.fire = fire_edges,
		.fd = self->fds[0],
		.events = POLLIN,
		.edges = true,
	};
	if (round % 3)
		assert_int_equal(write(self->fds[1], &byte, 1), 1);
	assert_int_equal(weir__poller_thread_watch_arm(&service, &self->watch),
			 0);
	if (round % 3 == 0)
		assert_int_equal(write(self->fds[1], &byte, 1), 1);
	if (round % 5 == 0)
		sched_yield();
	if (weir__poller_thread_watch_cancel(&service, &self->watch))
		self->cancelled++;
	else
		wait_fired(self, fired);
	memset(&self->watch, 0xee, sizeof(self->watch));
	self->written++;
	self->told = 0; /* whoever fires is gone */
	assert_int_equal(read(self->fds[0], &byte, 1), 1);
}

static void *race_all_edges(void *argument)
{
	struct racer *self = argument;
	uint64_t round;

	for (round = 0; round < self->rounds; round++)
		race_edges(self, round);
	return NULL;
}

static void race(void *(*main)(void *), uint64_t rounds)
{
	struct racer racers[THREADS];
	int i;

	weir__poller_thread_init(&service, weir_allocator_default(), "race");
	for (i = 0; i < THREADS; i++) {
		racers[i] = (struct racer){.rounds = rounds};
		assert_int_equal(pipe(racers[i].fds), 0);
		pthread_create(&racers[i].thread, NULL, main, &racers[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(racers[i].thread, NULL);
		assert_int_equal(racers[i].fired + racers[i].cancelled, rounds);
		assert_int_equal(racers[i].written, rounds + racers[i].fired);
		close(racers[i].fds[0]);
		close(racers[i].fds[1]);
	}
	weir__poller_thread_fini(&service, false);
}

static void timer_is_cancelled_or_fires(void **state)
{
	race(race_timers, test_count(20000));
}

static void watch_is_cancelled_or_fires(void **state)
{
	race(race_watches, test_count(20000));
}

static void watch_that_stays_fires_a_last_time_or_is_cancelled(void **state)
{
	race(race_all_edges, test_count(20000));
}

static void thread_can_be_started_and_ended_often(void **state)
{
	uint64_t n = test_count(200);

	while (n--)
		race(race_timers, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(timer_is_cancelled_or_fires),
		cmocka_unit_test(watch_is_cancelled_or_fires),
		cmocka_unit_test(
			watch_that_stays_fires_a_last_time_or_is_cancelled),
		cmocka_unit_test(thread_can_be_started_and_ended_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
