/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A producer on one executor and a consumer on another, of every two kinds,
 * which end in every way: by themselves, drained, aborted, with a deadline far
 * off. The last actor may be either, on either's threads.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "executor/places.h"

#include <ck_pr.h>

#define ITEMS 20
#define HOUR UINT64_C(3600000000000)
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

enum way { BY_ITSELF, DRAINED, ABORTED, N_WAYS };

struct pair {
	struct place places[2]; /* the producer's, the consumer's */
	struct weir_producer producer;
	struct weir_consumer consumer;
	uint32_t made, taken;
};

struct ending {
	struct weir_ending drain;
	struct weir_completion over;
};

static void over(struct weir_ending *drain)
{
	struct ending *self = weir_container_of(drain, struct ending, drain);

	(void)weir_completion_complete(&self->over, NULL);
}

static int produce(void **item, void *context)
{
	struct pair *self = context;

	*item = NULL;
	return ++self->made < ITEMS ? 1 : WEIR_PRODUCE_LAST;
}

static int consume(void *item, void *context)
{
	((struct pair *)context)->taken++;
	return 0;
}

static void pair_start(struct pair *self)
{
	const struct weir_producer_options producer = {.produce = produce,
						       .context = self};
	const struct weir_consumer_options consumer = {.consume = consume,
						       .context = self};
	struct weir_actor *chain[] = {&self->producer.actor,
				      &self->consumer.actor};

	assert_int_equal(weir_producer_init(&self->producer,
					    self->places[0].executor,
					    &producer),
			 0);
	assert_int_equal(weir_consumer_init(&self->consumer,
					    self->places[1].executor,
					    &consumer),
			 0);
	assert_int_equal(weir_chain_start(chain, LENGTH(chain)), 0);
}

/* Whatever of them has no threads of its own runs here. */
static void drive_until_over(struct pair *self, struct place *place)
{
	struct place *other = &self->places[place == &self->places[0]];

	while (weir_executor_alive(place->executor)) {
		other->kind->drive(other);
		if (place->loop && other->kind->has_threads)
			(void)weir_loop_wait(place->loop, 64, WEIR_FOREVER);
		else
			place->kind->drive(place);
		if (place->kind->has_threads)
			sched_yield();
	}
}

static void end_place(struct pair *self, struct place *place, bool aborts)
{
	struct ending ending = {.drain.done = over};
	/* a simulator with nothing to do would be there at once */
	uint64_t end_ns = place->sim
				  ? WEIR_FOREVER
				  : weir_executor_now(place->executor) + HOUR;

	assert_int_equal(weir_completion_init(&ending.over), 0);
	if (aborts)
		assert_int_equal(weir_executor_stop_async(place->executor,
							  &ending.drain,
							  end_ns),
				 0);
	else
		assert_int_equal(weir_executor_end_async(place->executor,
							 &ending.drain, end_ns),
				 0);
	drive_until_over(self, place);
	assert_int_equal(weir_completion_wait(&ending.over, WEIR_FOREVER), 0);
	assert_int_equal(ending.drain.actors_left, 0);
	assert_int_equal(weir_completion_fini(&ending.over), 0);
}

static void pair_end(struct pair *self, enum way way, uint32_t first)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		struct place *place = &self->places[i ^ first];

		if (way == BY_ITSELF)
			drive_until_over(self, place);
		else
			end_place(self, place, way == ABORTED);
	}
	if (way == BY_ITSELF)
		assert_int_equal(self->taken, ITEMS);
	assert_true(self->taken <= self->made);
	for (i = 0; i < 2; i++)
		assert_int_equal(self->places[i].kind->free(&self->places[i]),
				 0);
}

static void every_pair_ends_in_every_way(void **state)
{
	static const struct kind *const kinds[] = {&threads, &blocking, &loop,
						   &sim};
	uint64_t n = test_count(test_soak() ? 100000 : 2000), i;

	for (i = 0; i < n; i++) {
		struct pair pair = {.made = 0};
		const struct kind *producers = kinds[i % 4];
		const struct kind *consumers = kinds[i / 4 % 4];

		/* a simulator is one thread's alone */
		if ((producers == &sim && consumers->has_threads) ||
		    (consumers == &sim && producers->has_threads))
			continue;
		place_make(&pair.places[0], producers);
		place_make(&pair.places[1], consumers);
		pair_start(&pair);
		pair_end(&pair, i / 16 % N_WAYS, i / 16 / N_WAYS % 2);
	}
}

/* --- One descriptor ------------------------------------------------------- */

struct watching {
	struct weir_watch watch;
	struct place place;
	uint32_t fired, over; /* atomic */
};

static void note_fire(struct weir_watch *watch, short events)
{
	struct watching *self =
		weir_container_of(watch, struct watching, watch);

	ck_pr_inc_32(events ? &self->fired : &self->over);
}

static void watching_begin(struct watching *self, const struct kind *kind,
			   int fd)
{
	*self = (struct watching){.watch = {.fire = note_fire,
					    .fd = fd,
					    .events = POLLIN,
					    .edges = true}};
	place_make(&self->place, kind);
	assert_int_equal(self->place.executor->ops->watch_arm(
				 self->place.executor, &self->watch),
			 0);
}

static void watching_fires(struct watching *self, uint32_t times)
{
	while (ck_pr_load_32(&self->fired) < times)
		self->place.kind->drive(&self->place);
}

static void watching_end(struct watching *self)
{
	if (!self->place.executor->ops->watch_cancel(self->place.executor,
						     &self->watch))
		while (!ck_pr_load_32(&self->over))
			self->place.kind->drive(&self->place);
	assert_int_equal(self->place.kind->free(&self->place), 0);
}

static const struct kind *const watchers[] = {&threads, &blocking, &loop, &sim};

/* Each is told; the bytes are there once. The end of one is not the other's. */
static void each_of_two_that_watch_a_descriptor_is_told(void **state)
{
	struct watching two[2];
	int fds[2];
	size_t i, k;

	for (i = 0; i < LENGTH(watchers); i++) {
		for (k = 0; k < LENGTH(watchers); k++) {
			assert_int_equal(pipe(fds), 0);
			watching_begin(&two[0], watchers[i], fds[0]);
			watching_begin(&two[1], watchers[k], fds[0]);
			assert_int_equal(write(fds[1], "x", 1), 1);
			watching_fires(&two[0], 1);
			watching_fires(&two[1], 1);
			watching_end(&two[0]);
			assert_int_equal(write(fds[1], "x", 1), 1);
			watching_fires(&two[1], 2);
			watching_end(&two[1]);
			close(fds[0]);
			close(fds[1]);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_ends_in_every_way),
		cmocka_unit_test(each_of_two_that_watch_a_descriptor_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
