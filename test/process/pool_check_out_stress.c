/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers that stay, between threads: some of them check workers out, wait for
 * them with and without patience, change their minds, name actors as holders
 * that end, and stop workers, the server and the supervisors, while one stops
 * the pool now and then and starts it again. A worker has one holder at a time;
 * who asks is told once; none is lost.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/completion.h>
#include <weir/threads.h>
#include <weir/worker_pool.h>

/* failures are what is tested */
static const struct weir_system_options silent = {
	.event = weir_supervision_event_ignore};

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

#define THREADS 6
#define WINDOW 8 /* requests of one thread at a time */
#define LIMIT 4
#define STAY 2
#define QUEUE 20
#define MS UINT64_C(1000000)

struct ask {
	struct weir_pool_check_out request;
	uint32_t open; /* atomic: `done` is to come */
};

struct user {
	pthread_t thread;
	uint64_t random, n;
	struct ask asks[WINDOW];
	struct weir_actor_id holder; /* an actor of its own */
};

struct stayer {
	struct weir_actor actor;
	uint32_t held; /* atomic: by somebody who named no holder */
};

static struct weir_threads *threads;
static struct weir_executor *executor;
static struct weir_system *systm;
static struct weir_pools *pools;
static struct user users[THREADS];
/* any thread */
static uint64_t asked, told, cancelled, lent, refused, crashes, stops;
static uint32_t made, released, holders;

static uint64_t draw(uint64_t *random, uint64_t bound)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (*random >> 8) % bound;
}

/* --- Workers and holders -------------------------------------------------- */

static struct stayer *stayer_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct stayer, actor);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static void stayer_released(struct weir_actor *actor)
{
	ck_pr_inc_32(&released);
	free(stayer_of(actor));
}

static const struct weir_actor_ops stayer_ops = {
	.name = "stayer",
	.turns = no_turns,
	.released = stayer_released,
};

static int make(void *job, struct weir_actor **worker, void *context)
{
	struct stayer *self = calloc(1, sizeof(*self));

	(void)context;
	assert(self && !job);
	ck_pr_inc_32(&made);
	*worker = &self->actor;
	return weir_actor_init(*worker, &stayer_ops, executor);
}

static void holder_released(struct weir_actor *actor)
{
	ck_pr_dec_32(&holders);
	free(actor);
}

static const struct weir_actor_ops holder_ops = {
	.name = "holder",
	.turns = no_turns,
	.released = holder_released,
};

/* Another actor that holds; the one before ends. */
static void renew_holder(struct user *user)
{
	struct weir_actor *actor = calloc(1, sizeof(*actor));
	int rc;

	assert(actor);
	(void)weir_system_stop_actor(systm, user->holder);
	ck_pr_inc_32(&holders);
	rc = weir_actor_init(actor, &holder_ops, executor);
	assert(rc == 0);
	rc = weir_system_spawn(systm, WEIR_ACTOR_ID_NONE, actor, NULL,
			       &user->holder);
	assert(rc == 0);
}

static const struct weir_limit any = {.max = -1};

static const struct weir_pool_options options = {
	.name = "a",
	.limit = LIMIT,
	.stay = STAY,
	.make = make,
	.queue_max = QUEUE,
	.restarts = &any,
};

/* --- Users ---------------------------------------------------------------- */

static void check_error(int rc)
{
	switch (rc) {
	case -EAGAIN:
	case -ECANCELED:
	case -ESHUTDOWN:
	case -ENOENT:
	case -ENOBUFS:
	case -ESRCH:
	case -ETIMEDOUT:
		ck_pr_inc_64(&refused);
		return;
	default:
		assert(!"an error that nothing explains");
	}
}

static void mark(struct weir_actor_id id, uint32_t held)
{
	struct weir_actor *actor = weir_system_actor(systm, id);
	uint32_t before;

	if (!actor)
		return;
	before = ck_pr_fas_32(&stayer_of(actor)->held, held);
	assert(before != held);
	weir_actor_unref(actor);
}

/* The worker is ours, alone, for a moment; `stays`: nobody else checks it in. */
static void use_worker(const struct weir_pool_worker *worker, bool stays,
		       uint64_t *random)
{
	int rc;

	ck_pr_inc_64(&lent);
	if (stays)
		mark(worker->id, 1);
	if (random && draw(random, 4) == 0)
		sched_yield();
	if (random && draw(random, 60) == 0)
		(void)weir_system_stop_actor(systm, worker->id);
	if (stays)
		mark(worker->id, 0);
	rc = weir_pool_check_in(pools, worker);
	assert(rc == 0 || rc == -ESRCH || rc == -ENOENT ||
	       (rc == -EALREADY && !stays));
	rc = weir_pool_check_in(pools, worker);
	assert(rc == -EALREADY || rc == -ESRCH || rc == -ENOENT);
}

static bool is_nobody(struct weir_actor_id id)
{
	return weir_actor_id_equal(id, WEIR_ACTOR_ID_NONE);
}

static void ask_done(struct weir_pool_check_out *request, int rc)
{
	struct ask *ask = weir_container_of(request, struct ask, request);

	ck_pr_inc_64(&told);
	if (rc < 0)
		check_error(rc);
	else
		use_worker(&request->worker, is_nobody(request->holder), NULL);
	/* release: the last touch; pairs with the acquire of its owner */
	ck_pr_fence_release();
	ck_pr_store_32(&ask->open, 0);
}

/* None, one that has passed, or one that may come first. */
static uint64_t deadline(struct user *user)
{
	uint64_t now = weir_executor_now(executor);

	switch (draw(&user->random, 3)) {
	case 0:
		return WEIR_FOREVER;
	case 1:
		return now;
	default:
		return now + draw(&user->random, MS / 2);
	}
}

static void ask_one(struct user *user, struct ask *ask)
{
	int rc;

	if (ck_pr_load_32(&ask->open)) {
		if (!weir_pool_cancel_check_out(pools, &ask->request))
			return;
		ck_pr_inc_64(&cancelled);
	}
	ck_pr_fence_acquire();
	ask->request.done = ask_done;
	ask->request.holder = draw(&user->random, 2) ? user->holder
						     : WEIR_ACTOR_ID_NONE;
	ck_pr_store_32(&ask->open, 1);
	rc = weir_pool_check_out_async(pools, "a", &ask->request,
				       deadline(user));
	if (rc == 0) {
		ck_pr_inc_64(&asked);
		return;
	}
	ck_pr_store_32(&ask->open, 0);
	check_error(rc);
}

static void take_one(struct user *user)
{
	struct weir_pool_worker worker;
	struct weir_actor_id holder =
		draw(&user->random, 2) ? user->holder : WEIR_ACTOR_ID_NONE;
	uint64_t patience = draw(&user->random, 3) * MS / 2;
	int rc = draw(&user->random, 2)
			 ? weir_pool_try_check_out(pools, "a", holder, &worker)
			 : weir_pool_check_out_wait(pools, "a", holder,
						    patience, &worker);

	if (rc < 0)
		check_error(rc);
	else
		use_worker(&worker, is_nobody(holder), &user->random);
}

/* A worker that only the end of its holder checks in. */
static void leave_one(struct user *user)
{
	struct weir_pool_worker worker;
	int rc = weir_pool_try_check_out(pools, "a", user->holder, &worker);

	if (rc < 0)
		check_error(rc);
	else
		ck_pr_inc_64(&lent);
	renew_holder(user);
}

static void crash(struct user *user)
{
	static const char *const paths[] = {
		"/user/pools/a/server",
		"/user/pools/a/workers",
		"/user/pools/a",
	};

	ck_pr_inc_64(&crashes);
	(void)weir_system_kill(
		systm,
		weir_system_lookup(systm, paths[draw(&user->random, 3)]));
}

struct stopping {
	struct weir_graceful_stop stop;
	struct weir_completion done;
};

static void stopped(struct weir_graceful_stop *stop, int rc)
{
	struct stopping *self = weir_container_of(stop, struct stopping, stop);

	assert(rc == 0);
	(void)weir_completion_complete(&self->done, NULL);
}

/* One thread alone does so: nobody else starts it. */
static void stop_and_start(void)
{
	struct stopping self = {.stop.done = stopped};
	int rc = weir_completion_init(&self.done);

	ck_pr_inc_64(&stops);
	if (rc == 0)
		rc = weir_pool_stop_async(pools, "a", &self.stop);
	if (rc == 0)
		rc = weir_completion_wait(&self.done, WEIR_FOREVER);
	assert(rc == 0);
	rc = weir_completion_fini(&self.done);
	assert(rc == 0);
	rc = weir_pool_start(pools, &options);
	assert(rc == 0);
}

static void *use(void *context)
{
	struct user *user = context;
	uint64_t i, action;

	renew_holder(user);
	for (i = 0; i < user->n; i++) {
		action = draw(&user->random, 20);
		if (action < 8)
			ask_one(user, &user->asks[i % WINDOW]);
		else if (action < 19)
			take_one(user);
		else
			leave_one(user);
		if (draw(&user->random, 1500) == 0)
			crash(user);
		if (user == users && draw(&user->random, 1500) == 0)
			stop_and_start();
	}
	(void)weir_system_stop_actor(systm, user->holder);
	for (i = 0; i < WINDOW; i++)
		while (ck_pr_load_32(&user->asks[i].open))
			sched_yield();
	ck_pr_fence_acquire();
	return NULL;
}

/* --- The test ------------------------------------------------------------- */

static void open_all(void)
{
	const struct weir_threads_options o = {.workers = 3};
	const struct weir_pools_options top = {.limit = &any};

	assert_int_equal(weir_threads_new(&threads, &o), 0);
	executor = weir_threads_executor(threads);
	assert_int_equal(weir_system_new(&systm, executor, &silent), 0);
	assert_int_equal(weir_pools_new(&pools, systm, &top), 0);
	assert_int_equal(weir_pool_start(pools, &options), 0);
}

/* Nobody has a worker any more: all that are left are idle, soon. */
static void await_idle(void)
{
	struct weir_pool_counts c;

	do {
		sched_yield();
		assert_int_equal(weir_pool_counts(pools, "a", &c), 0);
		assert_in_range(c.free + c.idle, 0, LIMIT);
	} while (c.free + c.idle < LIMIT || c.queued || c.idle > STAY);
	assert_int_equal(c.started - c.ended, c.idle);
}

static struct weir_completion all_done;

static void drained(struct weir_ending *drain)
{
	(void)drain;
	(void)weir_completion_complete(&all_done, NULL);
}

static void close_all(void)
{
	struct weir_ending drain = {.done = drained};

	weir_pools_stop(pools);
	weir_system_stop(systm);
	assert_int_equal(weir_completion_wait(weir_system_terminated(systm),
					      WEIR_FOREVER),
			 0);
	assert_int_equal(weir_pools_free(pools), 0);
	assert_int_equal(weir_system_free(systm), 0);
	assert_int_equal(weir_completion_init(&all_done), 0);
	assert_int_equal(
		weir_executor_end_async(executor, &drain, WEIR_FOREVER), 0);
	assert_int_equal(weir_completion_wait(&all_done, WEIR_FOREVER), 0);
	assert_int_equal(weir_completion_fini(&all_done), 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void d5_2_a_worker_has_one_holder_between_threads(void **state)
{
	uint64_t n = test_count(300000) / THREADS + 1, i;

	(void)state;
	open_all();
	for (i = 0; i < THREADS; i++) {
		users[i].random = 88172645463325252u + i * 1000003;
		users[i].n = n;
		assert_int_equal(pthread_create(&users[i].thread, NULL, use,
						&users[i]),
				 0);
	}
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(users[i].thread, NULL), 0);
	await_idle();
	close_all();
	assert_int_equal(told + cancelled, asked);
	assert_int_equal(made, released);
	assert_int_equal(holders, 0);
	assert_true(lent > 0);
	print_message("%llu were lent, %llu asks were told, %llu cancelled, "
		      "%llu refused; %llu crashes, %llu stops\n",
		      (unsigned long long)lent, (unsigned long long)told,
		      (unsigned long long)cancelled,
		      (unsigned long long)refused, (unsigned long long)crashes,
		      (unsigned long long)stops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(d5_2_a_worker_has_one_holder_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
