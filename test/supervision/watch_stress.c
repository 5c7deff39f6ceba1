/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch, poison and graceful stops between threads: actors end while
 * they are watched, unwatched, put to and waited for by others. Poison is
 * exact: what was put before it is taken, what was put after it is not. Every
 * watch brings its notice, every wait ends once.
 */
#include "kit/world.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/completion.h>
#include <weir/death_watch.h>
#include <weir/in.h>
#include <weir/threads.h>

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

static struct weir_threads *pool;
static struct weir_executor *executor;
static struct weir_system *systm;
static uint64_t seed = 1;

static uint64_t draw(uint64_t *random, uint64_t bound)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (*random >> 8) % bound;
}

/* So long that two threads meet at any of their steps. */
static void dawdle(uint64_t *random)
{
	uint64_t n = draw(random, draw(random, 4) ? 200 : 8000);

	while (n--)
		ck_pr_stall();
}

static void open_system(void)
{
	/* take from others at once: more crossings than by default */
	struct weir_threads_options options = {.workers = 2, .steal_ns = 1};

	assert_int_equal(weir_threads_new(&pool, &options), 0);
	executor = weir_threads_executor(pool);
	assert_int_equal(weir_system_new(&systm, executor, &silent), 0);
}

static void close_system(void)
{
	end_system(systm);
	assert_int_equal(weir_threads_free(pool), 0);
}

static void await(const uint32_t *word, uint32_t value)
{
	while (ck_pr_load_32(word) != value)
		sched_yield();
	/* acquire: what came before it */
	ck_pr_fence_acquire();
}

static void spawn_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	assert_int_equal(pthread_create(thread, NULL, run, arg), 0);
}

static void join_thread(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* --- Actors --------------------------------------------------------------- */

#define TARGETS 64

/*
 * Takes numbers. A *watcher* takes them for those of targets, which it watches
 * or, if they are odd the second time, unwatches.
 */
struct worker {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_in late[2]; /* added while it runs */
	struct weir_actor_id ref;
	bool adds;
	uint32_t taken, last;
	uint32_t released;
	uint32_t watching[TARGETS]; /* notices that must come */
	uint32_t heard[TARGETS];
};

static struct worker targets[TARGETS];

static struct worker *worker_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct worker, actor);
}

static int take_turn(struct weir_actor *actor)
{
	struct worker *self = worker_of(actor);

	self->last = (uint32_t)(uintptr_t)weir_in_take(&self->in);
	self->taken++;
	if (self->adds && self->taken < 3) {
		struct weir_in *late = &self->late[self->taken - 1];

		assert(weir_in_init(late, actor, 4, NULL) == 0);
		assert(weir_port_ignore(&late->port) == 0);
	}
	return 0;
}
WEIR_TURN(take_turn)

static int watch_turn(struct weir_actor *actor)
{
	struct worker *self = worker_of(actor);
	size_t i = (uintptr_t)weir_in_take(&self->in) - 1;
	struct weir_actor_id who = targets[i % TARGETS].ref;
	int rc;

	if (i < TARGETS) {
		rc = weir_actor_watch(actor, who, &self->heard[i]);
		assert(rc == 0);
		self->watching[i] = 1;
	} else {
		i %= TARGETS;
		rc = weir_actor_unwatch(actor, who);
		assert(rc == (self->watching[i] ? 0 : -ENOENT));
		self->watching[i] = 0;
	}
	ck_pr_inc_32(&self->taken);
	return 0;
}
WEIR_TURN(watch_turn)

static int terminated(struct weir_actor *actor,
		      const struct weir_terminated *notice)
{
	struct worker *self = worker_of(actor);
	uint32_t *heard = notice->token;
	size_t i = (size_t)(heard - self->heard);

	assert(weir_actor_id_equal(notice->who, targets[i].ref));
	assert(self->watching[i] == 1);
	self->watching[i] = 0;
	++*heard;
	return 0;
}

static void worker_released(struct weir_actor *actor)
{
	/* release: all it did; pairs with the acquire in await() */
	ck_pr_fence_release();
	ck_pr_store_32(&worker_of(actor)->released, 1);
}

static const struct weir_lifecycle watcher_life = {.terminated = terminated};

static const struct weir_actor_ops taker_ops = {
	.turns = take_turn_n,
	.released = worker_released,
};
static const struct weir_actor_ops watcher_ops = {
	.turns = watch_turn_n,
	.released = worker_released,
	.lifecycle = &watcher_life,
};

static void worker_spawn(struct worker *self, const struct weir_actor_ops *ops,
			 size_t capacity)
{
	bool adds = self->adds;

	memset(self, 0, sizeof(*self));
	self->adds = adds;
	assert_int_equal(weir_actor_init(&self->actor, ops, executor), 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, capacity, NULL),
			 0);
	weir_actor_ref(&self->actor); /* the test's, to put to it */
	assert_int_equal(weir_system_spawn(systm, WEIR_ACTOR_ID_NONE,
					   &self->actor, NULL, &self->ref),
			 0);
}

static void spawn_target(struct worker *self)
{
	worker_spawn(self, &taker_ops, 2);
	weir_actor_unref(&self->actor);
}

/* --- Poison is exact ------------------------------------------------------ */

/* The others' puts are numbered from here on. */
#define OTHERS 1000000u

struct putter {
	pthread_t thread;
	struct worker *to;
	uint64_t random;
};

/*
 * Puts until that is over; between its swap and its mark is where it matters.
 */
static void *put_others(void *arg)
{
	struct putter *self = arg;
	int rc;

	do {
		rc = weir_in_put(&self->to->in, (void *)(uintptr_t)OTHERS);
		dawdle(&self->random);
	} while (rc != -EPIPE);
	return NULL;
}

static uint32_t put_some(struct worker *to, uint32_t first, uint32_t n)
{
	int rc;

	for (; n; n--, first++) {
		do {
			rc = weir_in_put(&to->in, (void *)(uintptr_t)first);
			if (rc == -EAGAIN)
				sched_yield();
		} while (rc == -EAGAIN);
		if (rc == -EPIPE)
			break;
		assert_int_equal(rc, 0);
	}
	return first;
}

static uint32_t own_taken, own_last;

/* Of the numbers of the thread that poisons. */
static int own_turn(struct weir_actor *actor)
{
	uint32_t number;

	(void)take_turn(actor);
	number = worker_of(actor)->last;
	if (number != OTHERS) {
		assert(number == own_last + 1);
		own_last = number;
		own_taken++;
	}
	return 0;
}
WEIR_TURN(own_turn)

static const struct weir_actor_ops own_ops = {
	.turns = own_turn_n,
	.released = worker_released,
};

static void b5_1_poison_is_exact(void **state)
{
	uint64_t i, n = test_count(3000);
	static struct worker worker;
	struct weir_actor *actor = &worker.actor;
	struct putter other = {.to = &worker, .random = 7};
	uint32_t before;

	open_system();
	for (i = 0; i < n; i++) {
		own_taken = own_last = 0;
		worker.adds = i % 4 == 0;
		worker_spawn(&worker, &own_ops, 64);
		if (i % 2)
			spawn_thread(&other.thread, put_others, &other);
		before = put_some(&worker, 1, (uint32_t)draw(&seed, 100)) - 1;
		dawdle(&seed);
		assert_int_equal(weir_system_poison(systm, worker.ref), 0);
		(void)put_some(&worker, before + 1, 50);
		if (i % 2)
			join_thread(other.thread);
		weir_actor_unref(actor);
		await(&worker.released, 1);
		assert_int_equal(own_taken, before);
	}
	close_system();
}

/* --- Watches -------------------------------------------------------------- */

#define WATCHERS 3

static struct worker watchers[WATCHERS];

struct ender {
	pthread_t thread;
	uint64_t random;
	uint32_t started;
};

static void *end_targets(void *arg)
{
	struct ender *self = arg;
	size_t i;

	for (i = 0; i < TARGETS; i++) {
		dawdle(&self->random);
		switch (draw(&self->random, 3)) {
		case 0:
			(void)weir_system_stop_actor(systm, targets[i].ref);
			break;
		case 1:
			(void)weir_system_poison(systm, targets[i].ref);
			break;
		default:
			(void)weir_system_kill(systm, targets[i].ref);
		}
	}
	return NULL;
}

struct listener {
	struct weir_watcher watcher;
	uint32_t target;
	uint32_t calls;
	bool removes;
};

static void listen(struct weir_watcher *watcher,
		   const struct weir_terminated *notice)
{
	struct listener *self =
		weir_container_of(watcher, struct listener, watcher);

	assert(weir_actor_id_equal(notice->who, targets[self->target].ref));
	if (!self->removes) /* else somebody may be asking for it */
		memset(watcher, 0xff, sizeof(*watcher));
	/*
	 * release: that was our last touch; pairs with the acquire in await()
	 */
	ck_pr_fence_release();
	ck_pr_inc_32(&self->calls);
}

static void command(uint32_t target)
{
	(void)put_some(&watchers[draw(&seed, WATCHERS)], target + 1, 1);
}

static uint32_t commands(void)
{
	uint32_t n = 0, i;

	for (i = 0; i < WATCHERS; i++)
		n += ck_pr_load_32(&watchers[i].taken);
	return n;
}

static void c1_every_watch_brings_its_notice(void **state)
{
	static struct listener listeners[TARGETS];
	uint64_t round, n = test_count(60);
	struct ender ender = {.random = 3};
	bool removed[TARGETS];
	uint32_t i, j, sent;

	open_system();
	for (round = 0; round < n; round++) {
		for (i = 0; i < TARGETS; i++)
			spawn_target(&targets[i]);
		for (i = 0; i < WATCHERS; i++)
			worker_spawn(&watchers[i], &watcher_ops, 16);
		spawn_thread(&ender.thread, end_targets, &ender);
		for (i = 0, sent = 0; i < TARGETS; i++) {
			memset(&listeners[i], 0, sizeof(listeners[i]));
			listeners[i].watcher.terminated = listen;
			listeners[i].target = i;
			listeners[i].removes = draw(&seed, 2);
			assert_int_equal(
				weir_watcher_add(systm, targets[i].ref,
						 &listeners[i].watcher),
				0);
			for (j = 0; j < 3; j++, sent++)
				command(draw(&seed, 4) ? i : i + TARGETS);
			removed[i] = listeners[i].removes &&
				     weir_watcher_remove(systm,
							 &listeners[i].watcher);
		}
		join_thread(ender.thread);
		for (i = 0; i < TARGETS; i++)
			await(&targets[i].released, 1);
		while (commands() != sent)
			sched_yield();
		for (i = 0; i < TARGETS; i++)
			if (!removed[i])
				await(&listeners[i].calls, 1);
		/* behind all their notices, which have come by now */
		for (i = 0; i < WATCHERS; i++) {
			assert_int_equal(
				weir_system_poison(systm, watchers[i].ref), 0);
			weir_actor_unref(&watchers[i].actor);
		}
		for (i = 0; i < WATCHERS; i++)
			await(&watchers[i].released, 1);
		for (i = 0; i < TARGETS; i++) {
			for (j = 0; j < WATCHERS; j++)
				assert_int_equal(watchers[j].watching[i], 0);
			assert_int_equal(listeners[i].calls, !removed[i]);
		}
	}
	close_system();
}

/* --- Graceful stops ------------------------------------------------------- */

struct waiting {
	struct weir_graceful_stop stop;
	uint32_t done, timed_out;
};

static void done(struct weir_graceful_stop *stop, int rc)
{
	struct waiting *self = weir_container_of(stop, struct waiting, stop);

	assert(rc == 0 || rc == -ETIMEDOUT);
	self->timed_out = rc != 0;
	memset(stop, 0xff, sizeof(*stop));
	/*
	 * release: that was our last touch; pairs with the acquire in await()
	 */
	ck_pr_fence_release();
	ck_pr_inc_32(&self->done);
}

static void *wait_for_targets(void *arg)
{
	struct ender *self = arg;
	struct waiting waiting[TARGETS];
	uint64_t at_ns;
	size_t i;
	int rc;

	for (i = 0; i < TARGETS; i++) {
		memset(&waiting[i], 0, sizeof(waiting[i]));
		waiting[i].stop.done = done;
		at_ns = weir_executor_now(executor) +
			draw(&self->random, 30000);
		rc = weir_system_stop_actor_async(systm, targets[i].ref,
						  draw(&self->random, 2),
						  &waiting[i].stop, at_ns);
		assert(rc == 0);
		dawdle(&self->random);
	}
	for (i = 0; i < TARGETS; i++)
		await(&waiting[i].done, 1);
	return NULL;
}

static void b5_5_a_wait_ends_once(void **state)
{
	struct ender first = {.random = 11}, second = {.random = 13};
	uint64_t round, n = test_count(100);
	size_t i;

	open_system();
	for (round = 0; round < n; round++) {
		for (i = 0; i < TARGETS; i++)
			spawn_target(&targets[i]);
		spawn_thread(&first.thread, wait_for_targets, &first);
		spawn_thread(&second.thread, wait_for_targets, &second);
		join_thread(first.thread);
		join_thread(second.thread);
		for (i = 0; i < TARGETS; i++)
			await(&targets[i].released, 1);
	}
	close_system();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b5_1_poison_is_exact),
		cmocka_unit_test(c1_every_watch_brings_its_notice),
		cmocka_unit_test(b5_5_a_wait_ends_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
