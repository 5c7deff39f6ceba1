/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker pool between threads: eight of them run and queue jobs, wait, change
 * their minds and kill workers, the server and the supervisors, while one stops
 * the pool now and then and starts it again. Every job goes one way, once;
 * never do more workers run than there are places, and none is lost.
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

#define THREADS 8
#define WINDOW 64 /* jobs of one thread at a time */
#define VICTIMS 16
#define LIMIT 12
#define QUEUE 400
#define MS UINT64_C(1000000)

enum how { FINISHES, FAILS, CRASHES, GOES_ON, NOT_MADE, WAITS, HOWS };

struct job {
	struct weir_pool_request request;
	uint32_t how;
	/* who still has it: its worker or us, and `started` and `ended` */
	uint32_t open;
	uint32_t began; /* `started` was told of a worker; nobody's to order */
};

struct user {
	pthread_t thread;
	uint64_t random, n;
	struct job jobs[WINDOW];
};

struct worker {
	struct weir_actor actor;
	struct job *job;
	bool runs;
};

static struct weir_threads *threads;
static struct weir_executor *executor;
static struct weir_system *systm;
static struct weir_pools *pools;
static struct user users[THREADS];
/* any thread */
static uint64_t given, had, dropped, back, told, restarts, stops;
static uint32_t running, peak, made, released;
static uint64_t victims[VICTIMS]; /* workers; whoever likes stops them */

static uint64_t draw(uint64_t *random, uint64_t bound)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (*random >> 8) % bound;
}

/* So many of those who have it let go; the last touch of it. */
static void let_go(struct job *job, uint32_t n)
{
	uint32_t old;

	/* release: what was done to it; pairs with the acquire of its owner */
	ck_pr_fence_release();
	old = ck_pr_faa_32(&job->open, 0u - n);
	assert(old >= n && old <= 3);
}

static void stop_victim(uint64_t victim)
{
	struct weir_actor_id ref = {(uint32_t)(victim >> 32), (uint32_t)victim};

	if (!victim)
		return;
	(void)(victim % 3 ? weir_system_stop_actor : weir_system_kill)(systm,
								       ref);
}

/* --- Workers -------------------------------------------------------------- */

static struct worker *worker_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct worker, actor);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static void count_running(void)
{
	uint32_t now = ck_pr_faa_32(&running, 1) + 1, old;

	for (old = ck_pr_load_32(&peak); old < now;)
		if (ck_pr_cas_32_value(&peak, old, now, &old))
			break;
}

/* In a slice nothing may wait, not even if it need not. */
static int wait_in_vain(struct weir_actor *actor)
{
	int rc = weir_pool_queue_wait(pools, "a", NULL, MS, NULL);

	assert(rc == -EDEADLK || rc == -ENOENT);
	return weir_actor_end(actor);
}

static int worker_pre_start(struct weir_actor *actor)
{
	struct worker *self = worker_of(actor);
	struct weir_actor_id ref = weir_actor_self(actor);

	self->runs = true;
	count_running();
	switch (self->job->how) {
	case FAILS:
		return weir_actor_fail_code(actor, -EIO);
	case CRASHES:
		return -EIO;
	case WAITS:
		return wait_in_vain(actor);
	case GOES_ON:
		stop_victim(ck_pr_fas_64(&victims[ref.slot % VICTIMS],
					 (uint64_t)ref.slot << 32 |
						 ref.generation));
		return 0;
	default:
		return weir_actor_end(actor);
	}
}

static void worker_stopped(struct weir_actor *actor, struct weir_error *error)
{
	struct worker *self = worker_of(actor);

	(void)error;
	if (self->runs)
		ck_pr_dec_32(&running);
	if (!weir_actor_system(actor))
		return;
	ck_pr_inc_64(&had);
	let_go(self->job, 1);
}

static void worker_released(struct weir_actor *actor)
{
	ck_pr_inc_32(&released);
	free(worker_of(actor));
}

static const struct weir_lifecycle worker_life = {
	.pre_start = worker_pre_start,
};

static const struct weir_actor_ops worker_ops = {
	.name = "worker",
	.turns = no_turns,
	.stopped = worker_stopped,
	.released = worker_released,
	.lifecycle = &worker_life,
};

static int make(void *item, struct weir_actor **actor, void *context)
{
	struct worker *self;

	(void)context;
	if (((struct job *)item)->how == NOT_MADE)
		return -ENOLINK;
	self = calloc(1, sizeof(*self));
	assert(self);
	self->job = item;
	ck_pr_inc_32(&made);
	*actor = &self->actor;
	return weir_actor_init(*actor, &worker_ops, executor);
}

static void drop(void *item, void *context)
{
	(void)context;
	ck_pr_inc_64(&dropped);
	let_go(item, 1);
}

static const struct weir_items items = {.drop = drop};
static const struct weir_limit any = {.max = -1};

static const struct weir_pool_options options = {
	.name = "a",
	.limit = LIMIT,
	.make = make,
	.jobs = &items,
	.queue_max = QUEUE,
	.restarts = &any,
};

/* --- Users ---------------------------------------------------------------- */

static void started(struct weir_pool_request *request, int rc,
		    struct weir_actor_id worker)
{
	struct job *job = weir_container_of(request, struct job, request);

	assert(weir_actor_id_equal(worker, WEIR_ACTOR_ID_NONE) == (rc < 0));
	job->began = rc == 0;
	if (rc < 0)
		ck_pr_inc_64(&back);
	let_go(job, rc < 0 ? 3 : 1);
}

static void ended(struct weir_pool_request *request,
		  const struct weir_terminated *notice)
{
	struct job *job = weir_container_of(request, struct job, request);

	/* plain: who was told of the start was told before */
	assert(job->began);
	job->began = 0;
	assert(notice->existed);
	assert(job->how != FAILS || notice->how != WEIR_END_FINISHED);
	ck_pr_inc_64(&told);
	let_go(job, 1);
}

/* A thread waits for the end of it; the job is back on an error. */
static int run_wait(struct job *job, uint64_t timeout_ns)
{
	struct weir_pool_result result;
	int rc = weir_pool_run_wait(pools, "a", job, timeout_ns, &result);

	if (rc == 0)
		assert(!weir_actor_id_equal(result.worker, WEIR_ACTOR_ID_NONE));
	if (rc == 0 && result.how != WEIR_END_UNKNOWN)
		assert(!weir_system_is_alive(systm, result.worker));
	return rc;
}

/* The job is back, by what a call has returned. */
static void check_rc(struct job *job, int rc, uint32_t n)
{
	switch (rc) {
	case 0:
		return;
	case -EAGAIN:
	case -ECANCELED:
	case -ESHUTDOWN:
	case -ENOENT:
	case -ENOBUFS:
	case -ENOLINK:
	case -ETIMEDOUT:
		ck_pr_inc_64(&back);
		let_go(job, n);
		sched_yield(); /* it may be another time */
		return;
	default:
		assert(!"an error that nothing explains");
	}
}

static void hand_over(struct user *user, struct job *job)
{
	uint64_t action = draw(&user->random, 32);
	bool runs = action >= 12 && action < 16;
	bool asks = action < 12 || runs;

	job->how = (uint32_t)draw(&user->random, 40);
	job->how = job->how < HOWS ? job->how : FINISHES;
	job->request.started = started;
	job->request.ended = ended;
	ck_pr_store_32(&job->open, asks ? 3 : 1);
	ck_pr_inc_64(&given);
	if (asks)
		check_rc(job,
			 (runs ? weir_pool_run_async : weir_pool_queue_async)(
				 pools, "a", job, &job->request),
			 3);
	else if (action < 22)
		check_rc(job, weir_pool_queue(pools, "a", job), 1);
	else if (action < 31)
		check_rc(job, weir_pool_run(pools, "a", job, NULL), 1);
	else if (draw(&user->random, 2))
		check_rc(job, run_wait(job, draw(&user->random, 3) * MS / 2),
			 1);
	else
		check_rc(job,
			 weir_pool_queue_wait(pools, "a", job,
					      draw(&user->random, 3) * MS / 2,
					      NULL),
			 1);
	if (asks && action < 2 && weir_pool_cancel(pools, &job->request)) {
		ck_pr_inc_64(&back);
		let_go(job, 3);
	}
}

static void crash(struct user *user)
{
	static const char *const paths[] = {
		"/user/pools/a/server",
		"/user/pools/a/workers",
		"/user/pools/a",
		"/user/pools/a/server",
	};
	const char *path = paths[draw(&user->random, 4)];

	ck_pr_inc_64(&restarts);
	(void)weir_system_kill(systm, weir_system_lookup(systm, path));
}

struct stopping {
	struct weir_graceful_stop stop;
	struct weir_completion done;
};

static void stopped(struct weir_graceful_stop *stop, int rc)
{
	struct stopping *self = weir_container_of(stop, struct stopping, stop);

	assert(rc == 0);
	assert(weir_pool_start(pools, &options) == 0);
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
}

/* Until the job is nobody's. */
static void own(struct user *user, const struct job *job)
{
	while (ck_pr_load_32(&job->open)) {
		stop_victim(ck_pr_fas_64(&victims[draw(&user->random, VICTIMS)],
					 0));
		sched_yield();
	}
	/* acquire: what others did to it; pairs with the release in let_go() */
	ck_pr_fence_acquire();
}

static void *use(void *context)
{
	struct user *user = context;
	uint64_t i;

	for (i = 0; i < user->n; i++) {
		own(user, &user->jobs[i % WINDOW]);
		hand_over(user, &user->jobs[i % WINDOW]);
		if (draw(&user->random, 1000) == 0)
			crash(user);
		if (user == users && draw(&user->random, 1000) == 0)
			stop_and_start();
	}
	for (i = 0; i < WINDOW; i++)
		own(user, &user->jobs[i]);
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

/* All jobs are over: so are, soon, their places. */
static void await_places(void)
{
	struct weir_pool_counts c;

	do {
		sched_yield();
		assert_int_equal(weir_pool_counts(pools, "a", &c), 0);
		assert_int_equal(c.queued, 0);
		assert_in_range(c.free, 0, LIMIT);
	} while (c.free < LIMIT);
	assert_int_equal(c.started, c.ended);
}

static void d3_3_every_job_goes_one_way_between_threads(void **state)
{
	uint64_t n = test_count(1000000) / THREADS + 1, i;

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
	await_places();
	close_all();
	assert_int_equal(given, n * THREADS);
	assert_int_equal(had + dropped + back, given);
	assert_int_equal(made, released);
	assert_int_equal(running, 0);
	assert_in_range(peak, 1, LIMIT);
	print_message("%llu jobs: %llu had workers, %llu were dropped, %llu "
		      "came back; %llu ends were told of; %llu crashes, %llu "
		      "stops\n",
		      (unsigned long long)given, (unsigned long long)had,
		      (unsigned long long)dropped, (unsigned long long)back,
		      (unsigned long long)told, (unsigned long long)restarts,
		      (unsigned long long)stops);
}

/* --- Workers that are over before their spawn has returned ---------------- */

/* Runs each task on a thread of its own, while `submit` waits for it. */
struct elsewhere {
	struct weir_executor executor;
	struct weir_actor worker; /* the first job's, then the second's */
	uint32_t made;
	struct weir_completion both;
};

static void *run_task(void *task)
{
	weir_task_run(task);
	return NULL;
}

static int run_elsewhere(struct weir_executor *other, struct weir_task *task)
{
	pthread_t thread;

	(void)other;
	assert_int_equal(pthread_create(&thread, NULL, run_task, task), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return 0;
}

static uint64_t no_time(struct weir_executor *other)
{
	(void)other;
	return 0;
}

static void queue_next(struct weir_actor *worker)
{
	struct elsewhere *self =
		weir_container_of(worker, struct elsewhere, worker);

	if (self->made == 2)
		(void)weir_completion_complete(&self->both, NULL);
	else
		assert_int_equal(weir_pool_queue(pools, "b", self), 0);
}

static int make_elsewhere(void *job, struct weir_actor **worker, void *context)
{
	static const struct weir_lifecycle life = {.pre_start = weir_actor_end};
	static const struct weir_actor_ops ops = {
		.released = queue_next,
		.lifecycle = &life,
	};
	struct elsewhere *self = context;

	assert_ptr_equal(job, self);
	self->made++;
	*worker = &self->worker;
	return weir_actor_init(*worker, &ops, &self->executor);
}

static void whose_worker_is_over_at_once_may_queue_in_released(void **state)
{
	static const struct weir_executor_ops ops = {run_elsewhere, no_time};
	struct elsewhere self = {.made = 0};
	const struct weir_pool_options other = {
		.name = "b",
		.limit = 1,
		.make = make_elsewhere,
		.context = &self,
	};

	(void)state;
	assert_int_equal(weir_executor_init(&self.executor, &ops, NULL), 0);
	assert_int_equal(weir_completion_init(&self.both), 0);
	open_all();
	assert_int_equal(weir_pool_start(pools, &other), 0);
	assert_int_equal(weir_pool_run(pools, "b", &self, NULL), 0);
	assert_int_equal(weir_completion_wait(&self.both, WEIR_FOREVER), 0);
	close_all();
	assert_int_equal(weir_completion_fini(&self.both), 0);
	assert_int_equal(weir_executor_fini(&self.executor), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(d3_3_every_job_goes_one_way_between_threads),
		cmocka_unit_test(
			whose_worker_is_over_at_once_may_queue_in_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
