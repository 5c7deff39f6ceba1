/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Semaphores, channels and completions under threads, callbacks and actors at
 * once: philosophers of both kinds, producers and consumers of every kind,
 * cancels that race grants, waits that time out at once.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/channel.h>
#include <weir/completion.h>
#include <weir/error.h>
#include <weir/semaphore.h>
#include <weir/threads.h>

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

static struct weir_threads *pool;

static void pool_new(void)
{
	const struct weir_threads_options options = {.workers = 2};

	assert_int_equal(weir_threads_new(&pool, &options), 0);
}

static void pool_free(void)
{
	struct weir_executor *executor = weir_threads_executor(pool);

	while (weir_executor_alive(executor))
		sched_yield();
	assert_int_equal(weir_threads_free(pool), 0);
}

static void spawn(pthread_t *thread, void *(*run)(void *), void *arg)
{
	assert_int_equal(pthread_create(thread, NULL, run, arg), 0);
}

static void join_thread(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* --- Philosophers ------------------------------------------------------- */

enum { SEATS = 5 };

struct philosopher {
	struct weir_actor actor;
	struct weir_semaphore_port low, high;
	pthread_t thread;
	uint32_t forks[2];
	uint64_t meals;
	uint32_t tries; /* a thread that tries rather than waits, at times */
};

static struct weir_semaphore forks[SEATS];
static uint64_t used[SEATS]; /* plain: a fork has one user at a time */
static struct philosopher philosophers[SEATS];
static uint64_t meals_wanted;

static void eat(struct philosopher *self)
{
	uint32_t i;

	for (i = 0; i < 2; i++)
		used[self->forks[i]]++;
	self->meals++;
	for (i = 0; i < 2; i++)
		assert(weir_semaphore_release(&forks[self->forks[i]], 1) == 0);
}

static int philosopher_turn(struct weir_actor *actor)
{
	struct philosopher *self =
		weir_container_of(actor, struct philosopher, actor);

	assert(weir_semaphore_port_take(&self->low, 1) == 0);
	assert(weir_semaphore_port_take(&self->high, 1) == 0);
	eat(self);
	return self->meals == meals_wanted ? weir_actor_end(actor) : 0;
}
WEIR_TURN(philosopher_turn)

static const struct weir_actor_ops philosopher_ops = {
	.name = "philosopher",
	.turns = philosopher_turn_n,
};

static void take_fork(struct philosopher *self, struct weir_semaphore *fork)
{
	switch (self->tries++ % 3) {
	case 0:
		while (weir_semaphore_try_acquire(fork, 1) == -EAGAIN)
			sched_yield();
		break;
	case 1:
		while (weir_semaphore_acquire_wait(fork, 1, 0) == -ETIMEDOUT)
			sched_yield();
		break;
	default:
		assert(weir_semaphore_acquire_wait(fork, 1, WEIR_FOREVER) == 0);
	}
}

static void *philosopher_thread(void *arg)
{
	struct philosopher *self = arg;

	while (self->meals < meals_wanted) {
		take_fork(self, &forks[self->forks[0]]);
		take_fork(self, &forks[self->forks[1]]);
		eat(self);
	}
	return NULL;
}

static void sit_down(struct philosopher *self, uint32_t seat, bool actor)
{
	uint32_t left = seat, right = (seat + 1) % SEATS;

	*self = (struct philosopher){0};
	self->forks[0] = left < right ? left : right;
	self->forks[1] = left < right ? right : left;
	if (!actor)
		return;
	assert_int_equal(weir_actor_init(&self->actor, &philosopher_ops,
					 weir_threads_executor(pool)),
			 0);
	assert_int_equal(weir_semaphore_port_init(&self->low, &self->actor,
						  &forks[self->forks[0]]),
			 0);
	assert_int_equal(weir_semaphore_port_init(&self->high, &self->actor,
						  &forks[self->forks[1]]),
			 0);
}

/* Bit i of `actors`: philosopher i is one, else a thread. */
static void dine(uint32_t actors, uint64_t meals)
{
	uint32_t i;

	meals_wanted = meals;
	pool_new();
	memset(used, 0, sizeof(used));
	for (i = 0; i < SEATS; i++)
		assert_int_equal(weir_semaphore_init(&forks[i], 1), 0);
	for (i = 0; i < SEATS; i++)
		sit_down(&philosophers[i], i, actors >> i & 1);
	for (i = 0; i < SEATS; i++) {
		if (actors >> i & 1)
			assert_int_equal(
				weir_actor_start(&philosophers[i].actor), 0);
		else
			spawn(&philosophers[i].thread, philosopher_thread,
			      &philosophers[i]);
	}
	for (i = 0; i < SEATS; i++)
		if (!(actors >> i & 1))
			join_thread(philosophers[i].thread);
	pool_free();
	for (i = 0; i < SEATS; i++) {
		assert_int_equal(philosophers[i].meals, meals);
		assert_int_equal(used[i], 2 * meals);
		assert_int_equal(weir_semaphore_permits(&forks[i]), 1);
		assert_int_equal(weir_semaphore_fini(&forks[i]), 0);
	}
}

static void philosophers_that_are_threads_all_eat(void **state)
{
	dine(0, test_count(10000));
}

static void philosophers_that_are_actors_all_eat(void **state)
{
	dine(0x1f, test_count(20000));
}

static void philosophers_of_both_kinds_all_eat(void **state)
{
	dine(0x0b, test_count(10000));
	dine(0x14, test_count(10000));
}

/* --- Cancel against grant ----------------------------------------------- */

struct racer {
	struct weir_acquire acquire;
	struct weir_completion granted;
};

static struct weir_semaphore semaphore;
static uint64_t rounds, guarded; /* plain: whoever has the permit writes */

static void racer_granted(struct weir_acquire *acquire)
{
	struct racer *self = weir_container_of(acquire, struct racer, acquire);

	guarded++;
	assert(weir_completion_complete(&self->granted, NULL) == 0);
}

/* Asks, and takes it back at once: it has the permit, or never will. */
static uint64_t race_once(struct racer *self)
{
	uint64_t had = 0;

	assert(weir_completion_init(&self->granted) == 0);
	self->acquire.granted = racer_granted;
	assert(weir_semaphore_acquire_async(&semaphore, &self->acquire, 1) ==
	       0);
	if (!weir_semaphore_cancel(&semaphore, &self->acquire)) {
		assert(weir_completion_wait(&self->granted, WEIR_FOREVER) == 0);
		had = 1;
		assert(weir_semaphore_release(&semaphore, 1) == 0);
	} else {
		assert(!weir_completion_done(&self->granted));
	}
	assert(weir_completion_fini(&self->granted) == 0);
	return had;
}

static void *cancelling(void *arg)
{
	uint64_t *granted = arg, i;
	struct racer racer;

	for (i = 0; i < rounds; i++)
		*granted += race_once(&racer);
	return NULL;
}

static void *timing_out(void *arg)
{
	uint64_t *granted = arg, i;

	for (i = 0; i < rounds; i++) {
		if (weir_semaphore_acquire_wait(&semaphore, 1, i % 3 ? 0 : 50))
			continue;
		guarded++;
		++*granted;
		assert(weir_semaphore_release(&semaphore, 1) == 0);
	}
	return NULL;
}

static void no_permit_is_lost_when_waiters_give_up(void **state)
{
	uint64_t granted[4] = {0};
	pthread_t threads[4];
	size_t i;

	rounds = test_count(50000);
	guarded = 0;
	assert_int_equal(weir_semaphore_init(&semaphore, 1), 0);
	for (i = 0; i < 4; i++)
		spawn(&threads[i], i & 1 ? cancelling : timing_out,
		      &granted[i]);
	for (i = 0; i < 4; i++)
		join_thread(threads[i]);
	assert_int_equal(guarded,
			 granted[0] + granted[1] + granted[2] + granted[3]);
	assert_int_equal(weir_semaphore_permits(&semaphore), 1);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
}

/* Actors that hold or wait for a permit are stopped by somebody else. */
struct holder {
	struct weir_actor actor;
	struct weir_semaphore_port port;
	uint32_t released;
};

static int holder_turn(struct weir_actor *actor)
{
	struct holder *self = weir_container_of(actor, struct holder, actor);

	assert(weir_semaphore_port_take(&self->port, 1) == 0);
	guarded++;
	assert(weir_semaphore_release(&semaphore, 1) == 0);
	return 0;
}
WEIR_TURN(holder_turn)

static void holder_released(struct weir_actor *actor)
{
	ck_pr_store_32(
		&weir_container_of(actor, struct holder, actor)->released, 1);
}

static const struct weir_actor_ops holder_ops = {
	.name = "holder",
	.turns = holder_turn_n,
	.released = holder_released,
};

static void no_permit_is_lost_when_actors_are_stopped(void **state)
{
	const uint64_t n = test_count(5000);
	struct holder holders[3];
	uint64_t i, granted = 0;
	pthread_t thread;
	size_t k;

	pool_new();
	rounds = 20 * n;
	assert_int_equal(weir_semaphore_init(&semaphore, 1), 0);
	spawn(&thread, cancelling, &granted);
	for (i = 0; i < n; i++) {
		for (k = 0; k < 3; k++) {
			memset(&holders[k], 0, sizeof(holders[k]));
			assert_int_equal(
				weir_actor_init(&holders[k].actor, &holder_ops,
						weir_threads_executor(pool)),
				0);
			assert_int_equal(weir_semaphore_port_init(
						 &holders[k].port,
						 &holders[k].actor, &semaphore),
					 0);
			weir_actor_ref(&holders[k].actor);
			assert_int_equal(weir_actor_start(&holders[k].actor),
					 0);
		}
		for (k = 0; k < 3; k++) {
			weir_actor_stop(&holders[k].actor);
			weir_actor_unref(&holders[k].actor);
		}
		for (k = 0; k < 3; k++)
			while (!ck_pr_load_32(&holders[k].released))
				sched_yield();
		ck_pr_fence_acquire();
	}
	join_thread(thread);
	pool_free();
	assert_int_equal(weir_semaphore_permits(&semaphore), 1);
	assert_int_equal(weir_semaphore_fini(&semaphore), 0);
}

/* --- Producers and consumers -------------------------------------------- */

/* Item: producer << 32 | number from 1 on. Of each kind there is one. */
enum { KINDS = 4, WAITS = 0, TRIES = 1, ASKS = 2, ACTOR = 3 };

static struct weir_channel *channel;
static uint64_t items_each;
static uint8_t *seen[KINDS];	  /* how often; written by one consumer each */
static struct weir_latch putting; /* the last producer ends the channel */

struct producer {
	struct weir_put put;
	struct weir_actor actor;
	struct weir_channel_out out;
	pthread_t thread;
	uint64_t kind, made;
};

static void *produce(struct producer *self)
{
	return (void *)(uintptr_t)(self->kind << 32 | ++self->made);
}

static void produced(void)
{
	assert(weir_latch_count_down(&putting, 1) == 0);
	if (weir_latch_count(&putting) == 0)
		/* two may see 0: the second is told so */
		(void)weir_channel_end(channel, NULL);
}

static void *waiting_producer(void *arg)
{
	struct producer *self = arg;

	while (self->made < items_each)
		assert(weir_channel_put_wait(channel, produce(self),
					     WEIR_FOREVER) == 0);
	produced();
	return NULL;
}

static void *trying_producer(void *arg)
{
	struct producer *self = arg;

	while (self->made < items_each) {
		void *item = produce(self);

		for (;;) {
			int rc = self->made & 1
					 ? weir_channel_try_put(channel, item)
					 : weir_channel_put_wait(channel, item,
								 0);

			if (rc == 0)
				break;
			assert(rc == -EAGAIN || rc == -ETIMEDOUT);
			sched_yield();
		}
	}
	produced();
	return NULL;
}

static void producer_done(struct weir_put *put, int status)
{
	struct producer *self = weir_container_of(put, struct producer, put);

	assert(status == 0);
	if (self->made == items_each) {
		produced();
		return;
	}
	put->item = produce(self);
	assert(weir_channel_put_async(channel, put) == 0);
}

static int producer_turn(struct weir_actor *actor)
{
	struct producer *self =
		weir_container_of(actor, struct producer, actor);

	assert(weir_channel_out_put(&self->out, produce(self)) == 0);
	if (self->made < items_each)
		return 0;
	produced();
	return weir_actor_end(actor);
}
WEIR_TURN(producer_turn)

static const struct weir_actor_ops producer_ops = {
	.name = "producer",
	.turns = producer_turn_n,
};

static void producer_start(struct producer *self, uint64_t kind)
{
	memset(self, 0, sizeof(*self));
	self->kind = kind;
	self->put.done = producer_done;
	switch (kind) {
	case WAITS:
		spawn(&self->thread, waiting_producer, self);
		return;
	case TRIES:
		spawn(&self->thread, trying_producer, self);
		return;
	case ASKS:
		self->put.item = produce(self);
		assert_int_equal(weir_channel_put_async(channel, &self->put),
				 0);
		return;
	default:
		assert_int_equal(weir_actor_init(&self->actor, &producer_ops,
						 weir_threads_executor(pool)),
				 0);
		assert_int_equal(weir_channel_out_init(&self->out, &self->actor,
						       channel),
				 0);
		assert_int_equal(weir_actor_start(&self->actor), 0);
	}
}

struct consumer {
	struct weir_take take;
	struct weir_actor actor;
	struct weir_channel_in in;
	pthread_t thread;
	struct weir_completion done;
	uint64_t last[KINDS], n;
};

/* Each item once, and those of one producer in its order. */
static void consume(struct consumer *self, void *item)
{
	uint64_t from = (uintptr_t)item >> 32, i = (uint32_t)(uintptr_t)item;

	assert(from < KINDS && i > self->last[from] && i <= items_each);
	self->last[from] = i;
	self->n++;
	seen[from][i - 1]++;
}

static void *waiting_consumer(void *arg)
{
	struct consumer *self = arg;
	void *item;
	int rc;

	while ((rc = weir_channel_take_wait(channel, &item, WEIR_FOREVER)) == 0)
		consume(self, item);
	assert(rc == -EPIPE);
	return NULL;
}

static void *trying_consumer(void *arg)
{
	struct consumer *self = arg;
	uint64_t n = 0;
	void *item;
	int rc;

	do {
		rc = n++ & 1 ? weir_channel_try_take(channel, &item)
			     : weir_channel_take_wait(channel, &item, 0);
		if (rc == 0)
			consume(self, item);
		else
			sched_yield();
	} while (rc != -EPIPE);
	return NULL;
}

static void consumer_done(struct weir_take *take, int status)
{
	struct consumer *self = weir_container_of(take, struct consumer, take);

	if (status == 0) {
		consume(self, take->item);
		status = weir_channel_take_async(channel, take);
	}
	if (status == -EPIPE)
		assert(weir_completion_complete(&self->done, NULL) == 0);
	else
		assert(status == 0);
}

static int consumer_turn(struct weir_actor *actor)
{
	struct consumer *self =
		weir_container_of(actor, struct consumer, actor);
	void *item;

	assert(weir_channel_in_take(&self->in, &item) == 0);
	consume(self, item);
	return 0;
}
WEIR_TURN(consumer_turn)

static void consumer_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct consumer *self =
		weir_container_of(actor, struct consumer, actor);

	assert(!error);
	assert(weir_completion_complete(&self->done, NULL) == 0);
}

static const struct weir_actor_ops consumer_ops = {
	.name = "consumer",
	.turns = consumer_turn_n,
	.stopped = consumer_stopped,
};

static void consumer_start(struct consumer *self, uint64_t kind)
{
	memset(self, 0, sizeof(*self));
	self->take.done = consumer_done;
	assert_int_equal(weir_completion_init(&self->done), 0);
	switch (kind) {
	case WAITS:
		spawn(&self->thread, waiting_consumer, self);
		return;
	case TRIES:
		spawn(&self->thread, trying_consumer, self);
		return;
	case ASKS:
		assert_int_equal(weir_channel_take_async(channel, &self->take),
				 0);
		return;
	default:
		assert_int_equal(weir_actor_init(&self->actor, &consumer_ops,
						 weir_threads_executor(pool)),
				 0);
		assert_int_equal(weir_channel_in_init(&self->in, &self->actor,
						      channel),
				 0);
		assert_int_equal(weir_actor_start(&self->actor), 0);
	}
}

static void check_seen(void)
{
	uint64_t kind, i;

	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < items_each; i++)
			assert_int_equal(seen[kind][i], 1);
		free(seen[kind]);
	}
}

static void exchange(size_t capacity, uint64_t n)
{
	static struct producer producers[KINDS];
	static struct consumer consumers[KINDS];
	uint64_t kind;

	items_each = n;
	pool_new();
	assert_int_equal(weir_channel_new(&channel, capacity, NULL, NULL), 0);
	assert_int_equal(weir_latch_init(&putting, KINDS), 0);
	for (kind = 0; kind < KINDS; kind++) {
		seen[kind] = calloc(n, 1);
		assert_non_null(seen[kind]);
	}
	for (kind = 0; kind < KINDS; kind++)
		consumer_start(&consumers[kind], kind);
	for (kind = 0; kind < KINDS; kind++)
		producer_start(&producers[kind], kind);
	for (kind = WAITS; kind <= TRIES; kind++) {
		join_thread(producers[kind].thread);
		join_thread(consumers[kind].thread);
	}
	for (kind = ASKS; kind <= ACTOR; kind++)
		assert_int_equal(weir_completion_wait(&consumers[kind].done,
						      WEIR_FOREVER),
				 0);
	pool_free();
	check_seen();
	for (kind = 0; kind < KINDS; kind++)
		assert_int_equal(weir_completion_fini(&consumers[kind].done),
				 0);
	assert_int_equal(weir_latch_fini(&putting), 0);
	assert_int_equal(weir_channel_free(channel), 0);
}

static void every_item_comes_once_and_in_its_producers_order(void **state)
{
	exchange(1, test_count(20000));
	exchange(7, test_count(50000));
	exchange(256, test_count(50000));
}

/* --- Consumers that are stopped ------------------------------------------ */

/* Items are numbers; each is added up once, by whoever gets it. */
static uint64_t sums[3]; /* plain: by the thread, by the actors of a slot */

struct passer_by {
	struct weir_actor actor;
	struct weir_channel_in in;
	uint64_t *sum;
	uint32_t released;
};

static int passer_turn(struct weir_actor *actor)
{
	struct passer_by *self =
		weir_container_of(actor, struct passer_by, actor);
	void *item;

	assert(weir_channel_in_take(&self->in, &item) == 0);
	*self->sum += (uintptr_t)item;
	return 0;
}
WEIR_TURN(passer_turn)

static void passer_released(struct weir_actor *actor)
{
	struct passer_by *self =
		weir_container_of(actor, struct passer_by, actor);

	ck_pr_fence_release();
	ck_pr_store_32(&self->released, 1);
}

static const struct weir_actor_ops passer_ops = {
	.name = "passer-by",
	.turns = passer_turn_n,
	.released = passer_released,
};

static void *counting_producer(void *arg)
{
	uintptr_t i;

	for (i = 1; i <= items_each; i++)
		assert(weir_channel_put_wait(channel, (void *)i,
					     WEIR_FOREVER) == 0);
	assert(weir_channel_end(channel, NULL) == 0);
	return NULL;
}

static void *summing_consumer(void *arg)
{
	void *item;
	int rc;

	while ((rc = weir_channel_take_wait(channel, &item, WEIR_FOREVER)) == 0)
		sums[0] += (uintptr_t)item;
	assert(rc == -EPIPE);
	return NULL;
}

static void pass_by(struct passer_by *self, uint64_t *sum)
{
	memset(self, 0, sizeof(*self));
	self->sum = sum;
	assert_int_equal(weir_actor_init(&self->actor, &passer_ops,
					 weir_threads_executor(pool)),
			 0);
	assert_int_equal(weir_channel_in_init(&self->in, &self->actor, channel),
			 0);
	weir_actor_ref(&self->actor);
	assert_int_equal(weir_actor_start(&self->actor), 0);
}

static void no_item_is_lost_when_actors_are_stopped(void **state)
{
	struct passer_by passers[2];
	pthread_t threads[2];
	uint64_t i, k;

	items_each = test_count(100000);
	memset(sums, 0, sizeof(sums));
	pool_new();
	assert_int_equal(weir_channel_new(&channel, 2, NULL, NULL), 0);
	spawn(&threads[0], counting_producer, NULL);
	spawn(&threads[1], summing_consumer, NULL);
	for (i = 0; i < items_each / 20; i++) {
		for (k = 0; k < 2; k++)
			pass_by(&passers[k], &sums[1 + k]);
		for (k = 0; k < 2; k++) {
			weir_actor_stop(&passers[k].actor);
			weir_actor_unref(&passers[k].actor);
		}
		for (k = 0; k < 2; k++)
			while (!ck_pr_load_32(&passers[k].released))
				sched_yield();
		ck_pr_fence_acquire();
	}
	for (k = 0; k < 2; k++)
		join_thread(threads[k]);
	pool_free();
	assert_int_equal(sums[0] + sums[1] + sums[2],
			 items_each * (items_each + 1) / 2);
	assert_int_equal(weir_channel_free(channel), 0);
}

/* --- Completions -------------------------------------------------------- */

enum { RIVALS = 3 };

static struct weir_completion completion;
static struct weir_semaphore go, gone;
static struct weir_semaphore child_go[RIVALS];
static uint32_t won;

static void *rival(void *arg)
{
	uint64_t i;

	for (i = 0; i < rounds; i++) {
		int rc;

		assert(weir_semaphore_acquire_wait(&go, 1, WEIR_FOREVER) == 0);
		rc = weir_completion_complete(&completion, arg);
		if (rc == 0)
			ck_pr_inc_32(&won);
		else
			assert(rc == -EALREADY);
		assert(weir_semaphore_release(&gone, 1) == 0);
	}
	return NULL;
}

struct late {
	struct weir_await await;
	struct weir_semaphore called;
	uint32_t calls;
};

static void late_done(struct weir_await *await, struct weir_completion *of)
{
	struct late *self = weir_container_of(await, struct late, await);

	assert(weir_completion_value(of));
	self->calls++;
	assert(weir_semaphore_release(&self->called, 1) == 0);
}

static void a_cancel_that_races_a_completion_is_before_or_after_it(void **state)
{
	pthread_t threads[RIVALS];
	struct late late = {.await.done = late_done};
	uint64_t i;

	rounds = test_count(20000);
	assert_int_equal(weir_semaphore_init(&go, 0), 0);
	assert_int_equal(weir_semaphore_init(&gone, 0), 0);
	for (i = 0; i < RIVALS; i++)
		spawn(&threads[i], rival, &completion);
	for (i = 0; i < rounds; i++) {
		won = 0;
		late.calls = 0;
		assert_int_equal(weir_completion_init(&completion), 0);
		assert_int_equal(weir_semaphore_init(&late.called, 0), 0);
		assert_int_equal(weir_completion_wait_async(&completion,
							    &late.await),
				 0);
		assert_int_equal(weir_semaphore_release(&go, RIVALS), 0);
		if (weir_completion_cancel(&completion, &late.await)) {
			assert_int_equal(late.calls, 0);
		} else {
			assert_int_equal(weir_semaphore_acquire_wait(
						 &late.called, 1, WEIR_FOREVER),
					 0);
			assert_int_equal(late.calls, 1);
		}
		assert_int_equal(
			weir_completion_wait(&completion, WEIR_FOREVER), 0);
		assert_int_equal(weir_semaphore_acquire_wait(&gone, RIVALS,
							     WEIR_FOREVER),
				 0);
		assert_int_equal(ck_pr_load_32(&won), 1);
		assert_int_equal(weir_completion_fini(&completion), 0);
		assert_int_equal(weir_semaphore_fini(&late.called), 0);
	}
	for (i = 0; i < RIVALS; i++)
		join_thread(threads[i]);
	assert_int_equal(weir_semaphore_fini(&go), 0);
	assert_int_equal(weir_semaphore_fini(&gone), 0);
}

/* --- Joins -------------------------------------------------------------- */

struct family {
	struct weir_join join;
	struct weir_member members[RIVALS];
	struct weir_completion parts[RIVALS];
};

static struct family *family;

static void *child(void *arg)
{
	const uint32_t me = (uint32_t)(uintptr_t)arg;
	uint64_t i;

	for (i = 0; i < rounds; i++) {
		assert(weir_semaphore_acquire_wait(&child_go[me], 1,
						   WEIR_FOREVER) == 0);
		assert(weir_completion_complete(&family->parts[me], family) ==
		       0);
		assert(weir_semaphore_release(&gone, 1) == 0);
	}
	return NULL;
}

static void grow_up(struct family *self, enum weir_join_rule rule)
{
	uint32_t k;

	for (k = 0; k < RIVALS; k++)
		assert_int_equal(weir_completion_init(&self->parts[k]), 0);
	assert_int_equal(weir_join_init(&self->join, rule), 0);
	for (k = 0; k < RIVALS; k++)
		assert_int_equal(weir_semaphore_release(&child_go[k], 1), 0);
	for (k = 0; k < RIVALS; k++)
		assert_int_equal(weir_join_add(&self->join, &self->members[k],
					       &self->parts[k]),
				 0);
	assert_int_equal(weir_join_end(&self->join), 0);
	assert_int_equal(
		weir_completion_wait(&self->join.completion, WEIR_FOREVER), 0);
	if (rule == WEIR_JOIN_ALL)
		for (k = 0; k < RIVALS; k++)
			assert_true(weir_completion_done(&self->parts[k]));
	else
		assert_ptr_equal(weir_completion_value(&self->join.completion),
				 self);
	/* nobody touches the members any more */
	memset(self->members, 0xdd, sizeof(self->members));
	assert_int_equal(weir_join_fini(&self->join), 0);
}

static void a_join_that_is_done_is_left_alone(void **state)
{
	static struct family families[2];
	pthread_t threads[RIVALS];
	uint64_t i;

	rounds = test_count(20000);
	for (i = 0; i < RIVALS; i++)
		assert_int_equal(weir_semaphore_init(&child_go[i], 0), 0);
	assert_int_equal(weir_semaphore_init(&gone, 0), 0);
	for (i = 0; i < RIVALS; i++)
		spawn(&threads[i], child, (void *)(uintptr_t)i);
	for (i = 0; i < rounds; i++) {
		family = &families[i & 1];
		grow_up(family, i & 2 ? WEIR_JOIN_ALL : WEIR_JOIN_ANY);
		assert_int_equal(weir_semaphore_acquire_wait(&gone, RIVALS,
							     WEIR_FOREVER),
				 0);
	}
	for (i = 0; i < RIVALS; i++)
		join_thread(threads[i]);
	for (i = 0; i < RIVALS; i++)
		assert_int_equal(weir_semaphore_fini(&child_go[i]), 0);
	assert_int_equal(weir_semaphore_fini(&gone), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(philosophers_that_are_threads_all_eat),
		cmocka_unit_test(philosophers_that_are_actors_all_eat),
		cmocka_unit_test(philosophers_of_both_kinds_all_eat),
		cmocka_unit_test(no_permit_is_lost_when_waiters_give_up),
		cmocka_unit_test(no_permit_is_lost_when_actors_are_stopped),
		cmocka_unit_test(
			every_item_comes_once_and_in_its_producers_order),
		cmocka_unit_test(no_item_is_lost_when_actors_are_stopped),
		cmocka_unit_test(
			a_cancel_that_races_a_completion_is_before_or_after_it),
		cmocka_unit_test(a_join_that_is_done_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
