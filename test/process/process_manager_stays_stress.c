/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manager that stays, between threads: each has one publisher after another,
 * which subscribes as soon as that of another thread has completed, or too
 * early. Every command is answered once, and no demand is lost: each thread
 * gets rid of all that it has. Then the manager ends meanwhile.
 */
#include "support.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include <ck_pr.h>

#include <weir/process_manager.h>
#include <weir/weir.h>

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define THREADS 3
#define MAX 6

struct order {
	struct weir_command command;
	uint32_t replies;
};

struct stream {
	struct weir_subscription subscription;
	int64_t requested;
	uint32_t cancelled;
};

struct feeder {
	pthread_t thread;
	uint64_t random;
	struct order *orders;
	size_t n, sent;
	uint64_t streams, refused; /* those that came, and came too early */
};

static struct weir_threads *pool;
static struct weir_system *systm;
static struct weir_process_manager manager;
static struct weir_actor_id manager_id;
static struct feeder feeders[THREADS];
static uint32_t closing, n_streams, n_released;

static uint64_t draw(uint64_t *random, uint64_t bound)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (*random >> 8) % bound;
}

/* --- Publishers ----------------------------------------------------------- */

static struct stream *stream_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct stream, subscription);
}

static void request(struct weir_subscription *subscription, int64_t n)
{
	assert(n > 0);
	ck_pr_add_64((uint64_t *)&stream_of(subscription)->requested,
		     (uint64_t)n);
}

static void cancel(struct weir_subscription *subscription)
{
	if (ck_pr_fas_32(&stream_of(subscription)->cancelled, 1))
		abort();
}

static void stream_released(struct weir_subscription *subscription)
{
	ck_pr_inc_32(&n_released);
	free(stream_of(subscription));
}

static const struct weir_subscription_ops stream_ops = {
	.request = request,
	.cancel = cancel,
	.released = stream_released,
};

static bool is_cancelled(struct stream *stream)
{
	return ck_pr_load_32(&stream->cancelled);
}

/* Waits for a request; false: it was cancelled. */
static bool may_send(struct stream *stream, int64_t sent)
{
	while ((int64_t)ck_pr_load_64((uint64_t *)&stream->requested) <= sent) {
		if (is_cancelled(stream))
			return false;
		sched_yield();
	}
	return true;
}

/* Sends as many as it likes, and completes. */
static void feed(struct feeder *self, struct stream *stream,
		 struct weir_subscriber *subscriber)
{
	int64_t n = (int64_t)draw(&self->random, 2 * MAX), sent = 0;
	int rc;

	while (sent < n && self->sent < self->n && may_send(stream, sent)) {
		rc = subscriber->ops->on_next(
			subscriber, &self->orders[self->sent].command);
		assert(rc == 0);
		self->sent++;
		sent++;
	}
	rc = is_cancelled(stream) ? 0
				  : subscriber->ops->on_complete(subscriber);
	assert(rc == 0);
	(void)rc;
}

static void subscribe(struct feeder *self, struct weir_subscriber *subscriber)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int rc;

	assert(stream);
	ck_pr_inc_32(&n_streams);
	rc = weir_subscription_init(&stream->subscription, &stream_ops,
				    weir_command_items());
	assert(rc == 0);
	weir_subscriber_ref(subscriber);
	rc = subscriber->ops->on_subscribe(subscriber, &stream->subscription);
	assert(rc == 0);
	(void)rc;
	if (is_cancelled(stream)) {
		self->refused++;
	} else {
		self->streams++;
		feed(self, stream, subscriber);
	}
	weir_subscription_unref(&stream->subscription);
	weir_subscriber_unref(subscriber);
}

static void *feed_all(void *argument)
{
	struct feeder *self = argument;
	struct weir_subscriber *subscriber = NULL;

	while (self->sent < self->n && !ck_pr_load_32(&closing)) {
		/* sometimes it does not ask, and is too early */
		if (!subscriber || draw(&self->random, 8))
			subscriber = weir_process_manager_subscriber(&manager);
		if (subscriber)
			subscribe(self, subscriber);
		else
			sched_yield();
	}
	return NULL;
}

/* --- The world ------------------------------------------------------------ */

static int call(struct weir_command *command, void *context)
{
	(void)command;
	(void)context;
	return 0;
}

static void reply(struct weir_command *command, enum weir_outcome outcome,
		  struct weir_error *error)
{
	struct order *order = weir_container_of(command, struct order, command);

	assert(!error == (outcome == WEIR_OUTCOME_DONE));
	if (ck_pr_faa_32(&order->replies, 1))
		abort();
}

static void open_world(size_t n, uint64_t seed)
{
	struct weir_threads_options options = {.workers = 2, .steal_ns = 1};
	struct weir_process_manager_options manager_options = {
		.run = call,
		.runners = 2,
		.max = MAX,
		.batch = 1,
		.stays = true,
	};
	struct weir_executor *executor;
	size_t i, k;

	closing = n_streams = n_released = 0;
	assert_int_equal(weir_threads_new(&pool, &options), 0);
	executor = weir_threads_executor(pool);
	assert_int_equal(weir_system_new(&systm, executor, NULL), 0);
	assert_int_equal(weir_process_manager_init(&manager, executor,
						   &manager_options),
			 0);
	assert_non_null(weir_process_manager_subscriber(&manager));
	weir_actor_ref(&manager.actor);
	assert_int_equal(weir_system_spawn(systm, WEIR_ACTOR_ID_NONE,
					   &manager.actor, NULL, &manager_id),
			 0);
	for (i = 0; i < THREADS; i++) {
		feeders[i] = (struct feeder){
			.random = seed * 1000 + i + 1,
			.n = n,
			.orders = calloc(n, sizeof(struct order)),
		};
		assert_non_null(feeders[i].orders);
		for (k = 0; k < n; k++)
			feeders[i].orders[k].command.reply = reply;
		assert_int_equal(pthread_create(&feeders[i].thread, NULL,
						feed_all, &feeders[i]),
				 0);
	}
}

static void join_feeders(void)
{
	size_t i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(feeders[i].thread, NULL), 0);
}

/* What was sent was answered once, the rest was not. */
static void close_world(void)
{
	struct weir_process_counts counts;
	size_t i, k;
	int rc;

	weir_system_stop(systm);
	rc = weir_completion_wait(weir_system_terminated(systm), 0);
	assert_true(rc == 0 || rc == -ETIMEDOUT);
	while (weir_system_is_alive(systm, manager_id))
		sched_yield();
	weir_process_manager_counts(&manager, &counts);
	assert_in_range(counts.peak, 0, MAX);
	weir_actor_unref(&manager.actor);
	rc = weir_completion_wait(weir_system_terminated(systm), WEIR_FOREVER);
	assert_int_equal(rc, 0);
	assert_int_equal(weir_system_free(systm), 0);
	assert_int_equal(weir_threads_free(pool), 0);
	assert_int_equal(n_released, n_streams);
	for (i = 0; i < THREADS; i++) {
		for (k = 0; k < feeders[i].n; k++)
			assert_int_equal(feeders[i].orders[k].replies,
					 k < feeders[i].sent);
		free(feeders[i].orders);
	}
}

static void publishers_take_turns(void **state)
{
	uint64_t n = test_count(200000) / THREADS, streams = 0, refused = 0;
	size_t i;

	(void)state;
	open_world(n, 1);
	join_feeders();
	assert_true(weir_system_is_alive(systm, manager_id));
	close_world();
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(feeders[i].sent, n);
		streams += feeders[i].streams;
		refused += feeders[i].refused;
	}
	assert_true(streams >= n * THREADS / (2 * MAX));
	print_message("%ju streams, %ju too early\n", (uintmax_t)streams,
		      (uintmax_t)refused);
}

/* Also between two publishers, with nobody subscribed. */
static void ended_meanwhile_it_answers_all(void **state)
{
	uint64_t n, random;

	(void)state;
	for_each_seed(seed, test_count(200)) {
		random = seed * UINT64_C(0x9e3779b97f4a7c15);
		open_world(2000, seed);
		for (n = draw(&random, 20000); n > 0; n--)
			ck_pr_stall();
		switch (draw(&random, 3)) {
		case 0:
			weir_process_manager_end(&manager);
			break;
		case 1:
			weir_actor_stop(&manager.actor);
			break;
		default:
			weir_system_stop(systm);
		}
		ck_pr_store_32(&closing, 1);
		join_feeders();
		close_world();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(publishers_take_turns),
		cmocka_unit_test(ended_meanwhile_it_answers_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
