/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread pool: made, started with the first submission, ended. worker.c has
 * what its threads do, park.c how they sleep.
 *
 * A submission from a worker of the pool stays on that worker. A submission
 * from outside goes through an inbox and wakes one worker if none is awake and
 * looking. Such calls are counted in `outside` until they have left, because
 * their task may have run, and the last actor be gone, before that.
 *
 * The pool with its workers is one block of memory.
 */
#include <weir/threads.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/fence.h"
#include "base/forkmark.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/own_thread.h"
#include "executor/worker.h"

#define SPIN_NS (50 * 1000u)
#define STEAL_NS (50 * 1000u)
#define SHOWN 16 /* bytes of a thread's name that Linux keeps, with the 0 */

static struct weir_threads *pool_of(struct weir_executor *executor)
{
	return weir_container_of(executor, struct weir_threads, executor);
}

static struct weir__worker *worker_of(struct weir_executor *executor)
{
	return weir_container_of(executor, struct weir__worker, executor);
}

/* True in a child process: the threads are the parent's. */
static bool forked(const struct weir_threads *pool)
{
	const uint32_t *mark = ck_pr_load_ptr(&pool->mark);

	/* No acquire: the page behind it was filled by the kernel. */
	return mark && weir__forkmark_child(mark);
}

/*
 * Called before anything that starts a thread or needs one. The process that
 * makes the first such call has the pool's threads; a child of it by fork() has
 * not.
 */
static int claim(struct weir_threads *pool)
{
	if (WEIR_UNLIKELY(!ck_pr_load_ptr(&pool->mark))) {
		weir__lock(&pool->lock);
		if (!pool->mark)
			ck_pr_store_ptr(&pool->mark, weir__forkmark_new());
		weir__unlock(&pool->lock);
		if (!ck_pr_load_ptr(&pool->mark))
			return -ENOMEM;
	}
	return forked(pool) ? -ECHILD : 0;
}

/* The new thread counts as searching from before it exists. */
static int spawn(struct weir__worker *worker)
{
	struct weir_threads *pool = worker->pool;
	char name[2 * SHOWN], number[SHOWN];
	int n = snprintf(number, sizeof(number), "-%u", worker->index);
	int rc;

	/* The worker's number has to be seen, so the name is cut. */
	(void)snprintf(name, sizeof(name), "%.*s%s", SHOWN - 1 - n, pool->name,
		       number);
	worker->ring.remote = weir__membarrier_register();
	weir__park_search(&pool->park);
	rc = weir__own_thread_start(&worker->thread, name, weir__worker_main,
				    worker);
	if (rc < 0)
		weir__park_found(&pool->park);
	return rc;
}

/* Under the lock: as many threads as can be made. */
static int spawn_all(struct weir_threads *pool)
{
	uint32_t i = pool->started;
	int rc = 0;

	for (; i < pool->n_workers && rc == 0; i++) {
		ck_pr_store_32(&pool->running, i + 1);
		rc = spawn(&pool->workers[i]);
		if (rc < 0)
			break;
	}
	ck_pr_store_32(&pool->running, i);
	/* release: a thread that sees the mark need not take the lock; pairs
	 * with the acquire in ready() */
	ck_pr_fence_release();
	ck_pr_store_32(&pool->started, i);
	return rc;
}

/* 0: the worker has a thread, in this process. */
static int ready(struct weir_threads *pool, uint32_t worker)
{
	int rc = claim(pool);

	if (rc < 0)
		return rc;
	if (WEIR_UNLIKELY(ck_pr_load_32(&pool->started) <= worker)) {
		weir__lock(&pool->lock);
		if (pool->started <= worker)
			rc = spawn_all(pool);
		if (pool->started > worker)
			rc = 0;
		weir__unlock(&pool->lock);
	}
	/* acquire: pairs with the release in spawn_all() */
	ck_pr_fence_acquire();
	return rc;
}

/* Not inline: the way from outside is long as it is. */
static __attribute__((noinline)) int submit_outside(struct weir_threads *pool,
						    struct weir_task *task)
{
	int rc = ready(pool, 0);

	if (rc < 0)
		return rc;
	ck_pr_inc_32(&pool->outside);
	weir__inbox_push(&pool->inbox, task);
	weir__park_wake_one(&pool->park);
	/* release: our last touch; pairs with the acquire in wait_outside() */
	ck_pr_fence_release();
	ck_pr_dec_32(&pool->outside);
	return 0;
}

static int pool_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct weir_threads *pool = pool_of(executor);
	struct weir__worker *worker = weir__worker_self(pool);

	if (WEIR_UNLIKELY(!worker))
		return submit_outside(pool, task);
	weir__worker_submit(worker, task);
	return 0;
}

static void push_pinned(struct weir__worker *worker, struct weir_task *task)
{
	weir__inbox_push(&worker->inbox, task);
	weir__park_wake(&worker->pool->park, worker->index);
}

static __attribute__((noinline)) int submit_pinned_outside(
	struct weir__worker *worker, struct weir_task *task)
{
	struct weir_threads *pool = worker->pool;
	int rc = ready(pool, worker->index);

	if (rc < 0)
		return rc;
	ck_pr_inc_32(&pool->outside);
	push_pinned(worker, task);
	/* release: as in submit_outside() */
	ck_pr_fence_release();
	ck_pr_dec_32(&pool->outside);
	return 0;
}

static int worker_submit(struct weir_executor *executor, struct weir_task *task)
{
	struct weir__worker *worker = worker_of(executor), *self;

	self = weir__worker_self(worker->pool);
	if (self == worker) {
		weir__tasks_push(&worker->private, task);
		return 0;
	}
	/* Our own workers are joined: they need not be counted. */
	if (!self || ck_pr_load_32(&worker->pool->started) <= worker->index)
		return submit_pinned_outside(worker, task);
	push_pinned(worker, task);
	return 0;
}

static uint64_t now(struct weir_executor *executor)
{
	return weir__clock_ns();
}

static int timer_arm(struct weir_threads *pool, struct weir_timer *timer,
		     uint64_t at_ns)
{
	int rc = claim(pool);

	return rc < 0 ? rc
		      : weir__poller_thread_timer_arm(&pool->service, timer,
						      at_ns);
}

static void rouse(struct weir__park *park)
{
	weir__poller_wake(
		weir_container_of(park, struct weir_threads, park)->poller);
}

/* The descriptors' poller, with the first of them. */
static int make_poller(struct weir_threads *pool)
{
	const struct weir_allocator *allocator =
		pool->executor.options.allocator;
	struct weir__poller *made;
	int rc = 0;

	if (ck_pr_load_ptr(&pool->poller))
		return 0;
	weir__lock(&pool->lock);
	if (!pool->poller) {
		made = weir__alloc(allocator, sizeof(*made));
		rc = made ? weir__poller_init(made, allocator) : -ENOMEM;
		if (rc == 0) {
			/* release: the poller; pairs with watch_arm(),
			 * watch_cancel() and poller_of() */
			ck_pr_fence_release();
			ck_pr_store_ptr(&pool->poller, made);
		} else {
			weir__free(allocator, made, sizeof(*made));
		}
	}
	weir__unlock(&pool->lock);
	return rc;
}

static void free_poller(struct weir_threads *pool, bool child)
{
	if (!pool->poller)
		return;
	weir__poller_fini(pool->poller, child);
	weir__free(pool->executor.options.allocator, pool->poller,
		   sizeof(*pool->poller));
}

/* From outside. The watch may fire, and be the last of its actor, meanwhile. */
static int watch_arm_outside(struct weir_threads *pool,
			     struct weir_watch *watch)
{
	int rc;

	ck_pr_inc_32(&pool->outside);
	rc = weir__poller_watch_arm(pool->poller, watch);
	/* The poller before the look for idle workers: park.c, claims 3 and 9.
	 */
	weir__fence_full();
	if (rc == 0 && !weir__park_polls(&pool->park))
		weir__park_wake_one(&pool->park);
	/* release: as in submit_outside() */
	ck_pr_fence_release();
	ck_pr_dec_32(&pool->outside);
	return rc;
}

/*
 * On a worker, which polls when it goes idle. No fence: the others see that it
 * is awake, and until it is idle a monitor looks (park.c, claim 6).
 */
static int watch_arm_inside(struct weir_threads *pool, struct weir_watch *watch)
{
	int rc = weir__poller_watch_arm(pool->poller, watch);

	if (rc == 0 && !ck_pr_load_32(&pool->park.monitor) &&
	    !weir__park_polls(&pool->park))
		weir__park_wake_one(&pool->park);
	return rc;
}

static int watch_arm(struct weir_threads *pool, struct weir_watch *watch)
{
	int rc = ready(pool, 0);

	if (rc == 0)
		rc = make_poller(pool);
	if (rc < 0)
		return rc;
	/* acquire: the poller that another thread has made */
	ck_pr_fence_acquire();
	return weir__worker_self(pool) ? watch_arm_inside(pool, watch)
				       : watch_arm_outside(pool, watch);
}

static bool watch_cancel(struct weir_threads *pool, struct weir_watch *watch)
{
	struct weir__poller *poller = ck_pr_load_ptr(&pool->poller);

	/* acquire: as in watch_arm() */
	ck_pr_fence_acquire();
	return poller && !forked(pool) &&
	       weir__poller_watch_cancel(poller, watch);
}

static int pool_timer_arm(struct weir_executor *executor,
			  struct weir_timer *timer, uint64_t at_ns)
{
	return timer_arm(pool_of(executor), timer, at_ns);
}

static bool pool_timer_cancel(struct weir_executor *executor,
			      struct weir_timer *timer)
{
	return weir__poller_thread_timer_cancel(&pool_of(executor)->service,
						timer);
}

static int pool_watch_arm(struct weir_executor *executor,
			  struct weir_watch *watch)
{
	return watch_arm(pool_of(executor), watch);
}

static bool pool_watch_cancel(struct weir_executor *executor,
			      struct weir_watch *watch)
{
	return watch_cancel(pool_of(executor), watch);
}

static const struct weir_executor_ops pool_ops = {
	.submit = pool_submit,
	.now = now,
	.timer_arm = pool_timer_arm,
	.timer_cancel = pool_timer_cancel,
	.watch_arm = pool_watch_arm,
	.watch_cancel = pool_watch_cancel,
};

static int worker_timer_arm(struct weir_executor *executor,
			    struct weir_timer *timer, uint64_t at_ns)
{
	return timer_arm(worker_of(executor)->pool, timer, at_ns);
}

static bool worker_timer_cancel(struct weir_executor *executor,
				struct weir_timer *timer)
{
	return weir__poller_thread_timer_cancel(
		&worker_of(executor)->pool->service, timer);
}

static int worker_watch_arm(struct weir_executor *executor,
			    struct weir_watch *watch)
{
	return watch_arm(worker_of(executor)->pool, watch);
}

static bool worker_watch_cancel(struct weir_executor *executor,
				struct weir_watch *watch)
{
	return watch_cancel(worker_of(executor)->pool, watch);
}

static const struct weir_executor_ops worker_ops = {
	.submit = worker_submit,
	.now = now,
	.timer_arm = worker_timer_arm,
	.timer_cancel = worker_timer_cancel,
	.watch_arm = worker_watch_arm,
	.watch_cancel = worker_watch_cancel,
};

/* The thread is joined when the pool is freed, so its state is there. */
static WEIR__LOOKS void see_worker(const struct weir__worker *worker,
				   struct weir__executor_look *look)
{
	const struct weir__thread *state = ck_pr_load_ptr(&worker->state);
	struct weir_seen_thread thread = {.bound = &worker->executor};
	uint64_t tail;

	if (!state)
		return;
	/* acquire: pairs with the release in weir__worker_main() */
	ck_pr_fence_acquire();
	thread.id = worker->id;
	thread.slices = ck_pr_load_64(&worker->slices);
	tail = ck_pr_load_64(&worker->ring.tail);
	thread.queued = (uint32_t)(tail - weir__ring_front(&worker->ring));
	look->seen->slices += thread.slices;
	look->seen->steals += ck_pr_load_64(&worker->steals);
	look->thread(look, &thread, state->task);
}

static void look(struct weir_executor *executor,
		 struct weir__executor_look *look)
{
	struct weir_threads *pool = executor->ops == &pool_ops
					    ? pool_of(executor)
					    : worker_of(executor)->pool;
	struct weir_seen_executor *seen = look->seen;
	struct weir__poller *poller = ck_pr_load_ptr(&pool->poller);
	uint32_t i;

	/* acquire: the poller; as in watch_arm() */
	ck_pr_fence_acquire();
	seen->executor = &pool->executor;
	seen->kind = WEIR_EXECUTOR_THREADS;
	seen->threads_max = pool->n_workers;
	(void)snprintf(seen->name, sizeof(seen->name), "%s", pool->name);
	seen->parked = weir__park_idle(&pool->park);
	weir__poller_thread_look(&pool->service, seen);
	if (poller)
		weir__poller_look(poller, seen);
	/* in a child process they are the parent's */
	for (i = 0; i < pool->n_workers && !forked(pool); i++)
		see_worker(&pool->workers[i], look);
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__NUMBER(EXECUTOR_KIND, WEIR_EXECUTOR_THREADS),
			WEIR__FIELD(EXECUTOR_THREADS_MAX, struct weir_threads,
				    n_workers),
			WEIR__PLACE(EXECUTOR_THREAD_NAME, struct weir_threads,
				    name),
			WEIR__FIELD(EXECUTOR_SERVES, struct weir_threads,
				    service.started),
			WEIR__FIELD(EXECUTOR_TIMERS, struct weir_threads,
				    service.poller.wheel.armed),
			WEIR__FIELD(EXECUTOR_WATCHES, struct weir_threads,
				    service.poller.watches.armed),
			WEIR__FIELD(EXECUTOR_POLLER, struct weir_threads,
				    poller),
			WEIR__FIELD(POLLER_TIMERS, struct weir__poller,
				    wheel.armed),
			WEIR__FIELD(POLLER_WATCHES, struct weir__poller,
				    watches.armed),
			WEIR__PLACE(EXECUTOR_PARKED, struct weir_threads,
				    park.idle),
			WEIR__FIELD(EXECUTOR_WORKERS, struct weir_threads,
				    workers),
			WEIR__NUMBER(WORKER_SIZE, sizeof(struct weir__worker)),
			WEIR__FIELD(THREAD_STATE, struct weir__worker, state),
			WEIR__FIELD(STATE_TASK, struct weir__thread, task),
			WEIR__FIELD(THREAD_ID, struct weir__worker, id),
			WEIR__FIELD(THREAD_SLICES, struct weir__worker, slices),
			WEIR__FIELD(THREAD_STEALS, struct weir__worker, steals),
			WEIR__FIELD(THREAD_TAIL, struct weir__worker,
				    ring.tail),
			WEIR__FIELD(THREAD_HEAD, struct weir__worker,
				    ring.head),
			WEIR__FIELD(THREAD_TAKEN, struct weir__worker,
				    ring.taken),
			WEIR__PLACE(THREAD_BOUND, struct weir__worker,
				    executor),
			{0},
		},
};

static bool options_valid(const struct weir_threads_options *options)
{
	return weir__reserved_zero(options->reserved) &&
	       options->workers <= WEIR_WORKERS_MAX;
}

static void set_options(struct weir_threads *pool,
			const struct weir_threads_options *options)
{
	const char *name = options->name ? options->name : "weir";

	pool->spin_ns = options->spin_ns ? options->spin_ns : SPIN_NS;
	if (pool->spin_ns == WEIR_NO_SPIN)
		pool->spin_ns = 0;
	pool->steal_ns = options->steal_ns ? options->steal_ns : STEAL_NS;
	snprintf(pool->name, sizeof(pool->name), "%s", name);
}

/*
 * The CPUs that worker i is to be bound to: those that both its list and the
 * process allow.
 */
static int set_cpus(struct weir__cpus *cpus, const char *list,
		    const struct weir__cpus *allowed)
{
	int rc;

	*cpus = *allowed;
	if (!list)
		return 0;
	rc = weir__cpus_parse(cpus, list);
	if (rc < 0)
		return rc;
	return weir__cpus_intersect(cpus, allowed) ? 0 : -EINVAL;
}

static int set_all_cpus(struct weir_threads *pool, const char *const *lists)
{
	struct weir__cpus allowed;
	uint32_t i;
	int rc;

	if (!lists)
		return 0;
	rc = weir__cpus_allowed(&allowed);
	for (i = 0; i < pool->n_workers && rc == 0; i++)
		rc = set_cpus(&pool->cpus[i], lists[i], &allowed);
	return rc;
}

/* One block: the pool, its workers, their sleepers, their CPU sets. */
static struct weir_threads *allocate(const struct weir_executor *head,
				     uint32_t n_workers, bool cpus)
{
	size_t workers = sizeof(struct weir_threads);
	size_t sleepers = workers + n_workers * sizeof(struct weir__worker);
	size_t sets = sleepers + n_workers * sizeof(struct weir__sleeper);
	size_t size = sets + (cpus ? n_workers * sizeof(struct weir__cpus) : 0);
	char *block = weir__alloc_lines(head->options.allocator, size);
	struct weir_threads *pool = (void *)block;

	if (!block)
		return NULL;
	pool->executor = *head;
	pool->n_workers = n_workers;
	pool->workers = (void *)(block + workers);
	pool->workers_size = sleepers - workers;
	if (cpus)
		pool->cpus = (void *)(block + sets);
	pool->size = size;
	weir__park_init(&pool->park, (void *)(block + sleepers), n_workers);
	pool->park.rouse = rouse;
	return pool;
}

static void init_workers(struct weir_threads *pool)
{
	uint32_t i;

	for (i = 0; i < pool->n_workers; i++) {
		struct weir__worker *worker = &pool->workers[i];

		worker->executor = pool->executor;
		worker->executor.ops = &worker_ops;
		worker->pool = pool;
		worker->index = i;
		weir__registry_add_shard(pool->executor.registry,
					 &worker->shard);
	}
}

static void release(struct weir_threads *pool)
{
	weir__forkmark_free(pool->mark);
	weir__free_lines(pool->executor.options.allocator, pool, pool->size);
}

int weir_threads_new(struct weir_threads **threads,
		     const struct weir_threads_options *options)
{
	const struct weir_threads_options defaults = {0};
	struct weir_executor head;
	struct weir_threads *pool = NULL;
	int rc;

	if (!threads)
		return -EINVAL;
	*threads = NULL;
	if (!options)
		options = &defaults;
	if (!options_valid(options))
		return -EINVAL;
	rc = weir__executor_init(&head, &pool_ops, &options->executor);
	if (rc < 0)
		return rc;
	pool = allocate(&head,
			options->workers ? options->workers
					 : weir__cpus_default(),
			options->cpus);
	rc = pool ? set_all_cpus(pool, options->cpus) : -ENOMEM;
	if (rc < 0)
		goto failed;
	set_options(pool, options);
	pool->made_by = getpid();
	/* Slow the first time in a process with threads, so not later. */
	pool->executor.registry->remote = weir__membarrier_register();
	pool->executor.registry->look = look;
	pool->executor.registry->layout = &layout;
	weir__poller_thread_init(&pool->service,
				 pool->executor.options.allocator, pool->name);
	init_workers(pool);
	weir__executor_living(&pool->executor);
	*threads = pool;
	return 0;
failed:
	if (pool)
		release(pool);
	weir__not_refused(weir_executor_fini(&head));
	return rc;
}

struct weir_executor *weir_threads_executor(struct weir_threads *threads)
{
	return &threads->executor;
}

struct weir_executor *weir_threads_worker(struct weir_threads *threads,
					  size_t worker)
{
	return worker < threads->n_workers ? &threads->workers[worker].executor
					   : NULL;
}

size_t weir_threads_workers(const struct weir_threads *threads)
{
	return threads->n_workers;
}

static void add_costs(struct weir_threads_counters *counters,
		      const struct weir__costs *costs)
{
	counters->kernel_calls += ck_pr_load_64(&costs->kernel_calls);
	counters->locks += ck_pr_load_64(&costs->locks);
}

void weir_threads_counters(const struct weir_threads *threads,
			   struct weir_threads_counters *counters)
{
	uint32_t i;

	*counters = (struct weir_threads_counters){
		.parked = weir__park_idle(&threads->park),
	};
	add_costs(counters, &threads->service.costs);
	for (i = 0; i < threads->n_workers; i++) {
		const struct weir__worker *worker = &threads->workers[i];

		counters->slices += ck_pr_load_64(&worker->slices);
		counters->steals += ck_pr_load_64(&worker->steals);
		counters->parks += ck_pr_load_64(&worker->parks);
		counters->wakes += ck_pr_load_64(&worker->wakes);
		add_costs(counters, &worker->costs);
	}
}

static void join_all(struct weir_threads *pool)
{
	uint32_t i;

	ck_pr_fas_32(&pool->stop, 1); /* as weir__park_wake() wants it */
	for (i = 0; i < pool->started; i++)
		weir__park_wake(&pool->park, i);
	for (i = 0; i < pool->started; i++)
		pthread_join(pool->workers[i].thread, NULL);
}

/*
 * Waits until calls from outside have left. Their tasks have run, so it is
 * short.
 */
static void wait_outside(struct weir_threads *pool)
{
	while (ck_pr_load_32(&pool->outside))
		sched_yield();
	/* acquire: pairs with the release in submit_outside() */
	ck_pr_fence_acquire();
}

/*
 * True in a child process that has not used the pool, if another thread was
 * about to start the pool at the fork: nobody ends what that thread had begun.
 */
static bool inherited(const struct weir_threads *pool)
{
	return forked(pool) || (!ck_pr_load_ptr(&pool->mark) &&
				weir__forked_since(pool->made_by));
}

/* In a child process after fork(), which has one thread. */
static void free_forked(struct weir_threads *pool)
{
	weir__poller_thread_fini(&pool->service, true);
	free_poller(pool, true);
	weir__registry_free_forked(pool->executor.options.allocator,
				   pool->executor.registry);
	release(pool);
}

int weir_threads_free(struct weir_threads *threads)
{
	int rc;

	if (!threads)
		return 0;
	if (inherited(threads)) {
		free_forked(threads);
		return 0;
	}
	if (weir__worker_self(threads) ||
	    weir__poller_thread_self(&threads->service))
		return -EDEADLK;
	rc = weir__registry_await(&threads->executor);
	if (rc < 0)
		return rc;
	weir__living_remove(&threads->executor.registry->living);
	weir__poller_thread_fini(&threads->service, false);
	join_all(threads);
	wait_outside(threads);
	free_poller(threads, false);
	weir__not_refused(weir_executor_fini(&threads->executor));
	release(threads);
	return 0;
}
