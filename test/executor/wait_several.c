/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads with several loops and simulators of their own: a call that waits
 * runs all of them, whichever was made last, and none is missed when it goes.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "executor/places.h"

#define ITEMS 1000
#define MS UINT64_C(1000000)
#define HOUR UINT64_C(3600000000000)
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const struct kind *const own[] = {&loop, &sim};

static int count(void *item, void *context)
{
	++*(uint32_t *)context;
	return 0;
}

static void flow_runs(struct place *place)
{
	uint32_t items = 0;
	struct weir_flow *flow =
		weir_flow_for_each(weir_flow_range(1, ITEMS), count, &items);

	assert_int_equal(weir_flow_run(flow, place->executor, NULL), 0);
	assert_int_equal(items, ITEMS);
	weir_flow_free(flow);
}

static void made(struct place *places, const struct kind *first,
		 const struct kind *second)
{
	place_make(&places[0], first);
	place_make(&places[1], second);
}

static void freed(struct place *places)
{
	assert_int_equal(places[0].kind->free(&places[0]), 0);
	assert_int_equal(places[1].kind->free(&places[1]), 0);
}

static void each_is_run_while_another_lives(void **state)
{
	size_t i, j;

	for (i = 0; i < LENGTH(own); i++) {
		for (j = 0; j < LENGTH(own); j++) {
			struct place places[2];

			made(places, own[i], own[j]);
			flow_runs(&places[0]);
			flow_runs(&places[1]);
			flow_runs(&places[0]);
			freed(places);
		}
	}
}

static void the_one_before_is_owned_again(void **state)
{
	size_t i, j, k;

	for (i = 0; i < LENGTH(own); i++) {
		for (j = 0; j < LENGTH(own); j++) {
			for (k = 0; k < 2; k++) {
				struct place places[2];
				struct place *left = &places[1 - k];

				made(places, own[i], own[j]);
				flow_runs(&places[k]);
				assert_int_equal(
					places[k].kind->free(&places[k]), 0);
				flow_runs(left);
				assert_int_equal(left->kind->free(left), 0);
			}
		}
	}
}

/* What is waited for takes all of them. */
static void flows_over_two_are_run(void **state)
{
	size_t i, j;

	for (i = 0; i < LENGTH(own); i++) {
		for (j = 0; j < LENGTH(own); j++) {
			struct place places[2];
			uint32_t items = 0;
			struct weir_flow *flow;

			made(places, own[i], own[j]);
			flow = weir_flow_async(weir_flow_range(1, ITEMS), 4,
					       places[0].executor);
			flow = weir_flow_for_each(flow, count, &items);
			assert_int_equal(weir_flow_run(flow, places[1].executor,
						       NULL),
					 0);
			assert_int_equal(items, ITEMS);
			weir_flow_free(flow);
			freed(places);
		}
	}
}

/* --- What they wait for --------------------------------------------------- */

struct thing {
	struct weir_timer timer;
	struct weir_watch watch;
	struct weir_latch latch;
};

static void timer_fires(struct weir_timer *timer)
{
	struct thing *self = weir_container_of(timer, struct thing, timer);

	(void)weir_latch_count_down(&self->latch, 1);
}

static void watch_fires(struct weir_watch *watch, short events)
{
	struct thing *self = weir_container_of(watch, struct thing, watch);

	(void)weir_latch_count_down(&self->latch, 1);
}

static void *other_thread(void *context)
{
	struct thing *self = context;

	(void)weir_latch_count_down(&self->latch, 1);
	return NULL;
}

static void thing_init(struct thing *self)
{
	*self = (struct thing){.timer.fire = timer_fires,
			       .watch.fire = watch_fires};
	assert_int_equal(weir_latch_init(&self->latch, 1), 0);
}

static void thing_comes(struct thing *self)
{
	assert_int_equal(
		weir_completion_wait(&self->latch.completion, WEIR_FOREVER), 0);
	assert_int_equal(weir_latch_fini(&self->latch), 0);
}

static void timers_and_descriptors_of_each_are_waited_for(void **state)
{
	struct place places[2];
	size_t i, j, k;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	for (i = 0; i < LENGTH(own); i++) {
		for (j = 0; j < LENGTH(own); j++) {
			made(places, own[i], own[j]);
			for (k = 0; k < 2; k++) {
				struct weir_executor *e = places[k].executor;
				struct thing thing;

				thing_init(&thing);
				assert_int_equal(
					weir_timer_arm(e, &thing.timer,
						       weir_executor_now(e) +
							       MS),
					0);
				thing_comes(&thing);
				thing_init(&thing);
				thing.watch.fd = ends[0];
				thing.watch.events = POLLIN;
				assert_int_equal(
					e->ops->watch_arm(e, &thing.watch), 0);
				thing_comes(&thing);
			}
			freed(places);
		}
	}
	close(ends[0]);
	close(ends[1]);
}

static void other_threads_wake_whoever_has_a_loop(void **state)
{
	uint64_t i, n = test_count(200);
	struct place places[2];

	for (i = 0; i < n; i++) {
		struct thing thing;
		pthread_t thread;

		made(places, own[i & 1], own[~i & 1]);
		thing_init(&thing);
		assert_int_equal(
			pthread_create(&thread, NULL, other_thread, &thing), 0);
		assert_int_equal(weir_completion_wait(&thing.latch.completion,
						      WEIR_FOREVER),
				 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(weir_latch_fini(&thing.latch), 0);
		freed(places);
	}
}

static void waits_end_at_their_time(void **state)
{
	struct place places[2];
	struct thing never;
	size_t i, j;

	thing_init(&never);
	for (i = 0; i < LENGTH(own); i++) {
		for (j = 0; j < LENGTH(own); j++) {
			/* real, unless there are simulators alone */
			uint64_t wait_ns =
				own[i] == &sim && own[j] == &sim ? HOUR : MS;

			made(places, own[i], own[j]);
			assert_int_equal(
				weir_completion_wait(&never.latch.completion,
						     wait_ns),
				-ETIMEDOUT);
			freed(places);
		}
	}
	made(places, &sim, &sim);
	assert_int_equal(weir_completion_wait(&never.latch.completion,
					      WEIR_FOREVER),
			 -EDEADLK);
	freed(places);
	assert_int_equal(weir_latch_fini(&never.latch), 0);
}

/* --- Coming and going meanwhile ------------------------------------------- */

struct comer {
	struct weir_timer timer;
	struct place *places;
	struct place born;
	struct weir_latch latch;
	int rc[2], born_rc;
};

static void come_and_go(struct weir_timer *timer)
{
	struct comer *self = weir_container_of(timer, struct comer, timer);
	struct place gone;
	int i;

	for (i = 0; i < 2; i++)
		self->rc[i] = self->places[i].kind->free(&self->places[i]);
	place_make(&gone, self->born.kind);
	self->born_rc = gone.kind->free(&gone);
	place_make(&self->born, self->born.kind);
	(void)weir_latch_count_down(&self->latch, 1);
}

static void who_is_waited_with_stays(void **state)
{
	size_t i, j;

	for (i = 0; i < LENGTH(own); i++) {
		for (j = 0; j < LENGTH(own); j++) {
			struct place places[2];
			struct comer comer = {.timer.fire = come_and_go,
					      .places = places,
					      .born.kind = own[j]};
			struct weir_executor *executor;

			made(places, own[i], own[j]);
			executor = places[0].executor;
			assert_int_equal(weir_latch_init(&comer.latch, 1), 0);
			assert_int_equal(
				weir_timer_arm(executor, &comer.timer, 0), 0);
			assert_int_equal(
				weir_completion_wait(&comer.latch.completion,
						     WEIR_FOREVER),
				0);
			assert_int_equal(comer.rc[0], -EDEADLK);
			assert_int_equal(comer.rc[1], -EDEADLK);
			assert_int_equal(comer.born_rc, 0);
			assert_int_equal(weir_latch_fini(&comer.latch), 0);
			flow_runs(&comer.born);
			flow_runs(&places[0]);
			assert_int_equal(comer.born.kind->free(&comer.born), 0);
			freed(places);
		}
	}
}

static void with_too_many_a_wait_is_refused(void **state)
{
	struct place places[65];
	struct thing never;
	size_t i;

	thing_init(&never);
	for (i = 0; i < LENGTH(places); i++)
		place_make(&places[i], &loop);
	assert_int_equal(weir_completion_wait(&never.latch.completion,
					      WEIR_FOREVER),
			 -EDEADLK);
	flow_runs(&places[0]);
	for (i = 0; i < LENGTH(places); i++)
		assert_int_equal(places[i].kind->free(&places[i]), 0);
	assert_int_equal(weir_latch_fini(&never.latch), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_run_while_another_lives),
		cmocka_unit_test(the_one_before_is_owned_again),
		cmocka_unit_test(flows_over_two_are_run),
		cmocka_unit_test(timers_and_descriptors_of_each_are_waited_for),
		cmocka_unit_test(other_threads_wake_whoever_has_a_loop),
		cmocka_unit_test(waits_end_at_their_time),
		cmocka_unit_test(who_is_waited_with_stays),
		cmocka_unit_test(with_too_many_a_wait_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
