/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocking executor: one queue, first come first served, under a lock, and
 * threads that come and go. Its turns block for longer than a lock costs.
 *
 * A thread with nothing to do puts a struct idler, on its stack, on top of
 * `idlers` and sleeps on the idler's word. The thread that takes the idler out,
 * under the lock, decides what follows: a submitter, or the free, sets the word
 * and wakes the sleeper; a sleeper whose time is up takes its own idler out and
 * ends. Idlers are taken from the top, so that threads below, which are not
 * needed, end.
 *
 * Invariants under the lock: n_threads <= threads_max; a queue that is not
 * empty has a thread that is not an idler: n_threads > number of idlers.
 *
 * A thread that ends joins the thread that ended before it, so at most one
 * thread is to be joined at any time, `ended`, and whoever joins that one knows
 * that all before it are gone. The free waits for n_threads == 0 and joins the
 * last.
 */
#include <weir/blocking.h>

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/forkmark.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/own_thread.h"
#include "executor/inbox.h"
#include "executor/poller.h"
#include "executor/registry.h"
#include "executor/thread.h"

#define THREADS_DEFAULT 16u
#define THREADS_MAX 1024u

/* `word`: 0 asleep, 1 taken out by another thread; set under the lock. */
struct idler {
	struct idler *below, **link; /* link: what points to it */
	uint32_t word;
};

/* A thread, on its stack. Under the lock, but for the owner's. */
struct thread {
	struct thread *next, **link;
	const struct weir_task *task; /* whose slice it runs, or NULL */
	uint64_t slices;
	int id; /* constant */
};

struct weir_blocking {
	struct weir_executor executor; /* first: see of() */
	/* Constant. */
	const uint32_t *forkmark;
	uint64_t idle_ns;
	uint32_t threads_max;
	char name[16];
	struct weir__poller_thread service;
	/* Under the lock. */
	struct weir__lock lock;
	struct weir__fifo queue;
	struct idler *idlers;
	struct thread *threads;
	uint32_t n_threads; /* also read, and slept on, without the lock */
	pthread_t ended;
	bool has_ended;
	bool stopping;
};

/* The task that runs on this thread, if the thread is a blocking executor's. */
static __thread struct weir_task *running;

static struct weir_blocking *of(struct weir_executor *executor)
{
	return weir_container_of(executor, struct weir_blocking, executor);
}

static bool in_child(const struct weir_blocking *blocking)
{
	return weir__forkmark_child(blocking->forkmark);
}

static void take_out(struct idler *idler)
{
	assert(*idler->link == idler);
	*idler->link = idler->below;
	if (idler->below)
		idler->below->link = idler->link;
}

/* Under the lock: the top idler will look for work. */
static void wake_one(struct weir_blocking *blocking)
{
	struct idler *idler = blocking->idlers;

	if (!idler)
		return;
	/* a thread that takes an idler out sets its word: none has */
	assert(!idler->word);
	take_out(idler);
	/* relaxed: its sleeper takes the lock before it reads anything else */
	ck_pr_store_32(&idler->word, 1);
	weir__futex_wake(&idler->word, 1);
}

/*
 * Sleeps until there may be work; called under the lock, which is given up
 * meanwhile. False: there was no work for too long.
 */
static bool be_idle(struct weir_blocking *blocking)
{
	struct idler self = {.below = blocking->idlers,
			     .link = &blocking->idlers};
	uint64_t end_ns =
		weir__clock_after(weir__clock_ns(), blocking->idle_ns);
	uint64_t now_ns;

	if (self.below)
		self.below->link = &self.below;
	blocking->idlers = &self;
	weir__thread.at_once = false;
	weir__unlock(&blocking->lock);
	/* relaxed: see wake_one() */
	while (!ck_pr_load_32(&self.word) &&
	       (now_ns = weir__clock_ns()) < end_ns)
		weir__futex_wait(&self.word, 0, end_ns - now_ns);
	weir__lock(&blocking->lock);
	if (ck_pr_load_32(&self.word))
		return true;
	take_out(&self);
	return false;
}

/* Under the lock: runs tasks until there were none for too long. */
static void work(struct weir_blocking *blocking, struct thread *self)
{
	struct weir_task *task;

	for (;;) {
		task = weir__tasks_pop(&blocking->queue);
		if (task) {
			self->task = task;
			weir__unlock(&blocking->lock);
			running = task;
			weir_task_run(task);
			weir__lock(&blocking->lock);
			self->task = NULL;
			self->slices++;
		} else if (blocking->stopping || !be_idle(blocking)) {
			return;
		}
	}
}

/* Under the lock. */
static void list(struct weir_blocking *blocking, struct thread *self)
{
	self->next = blocking->threads;
	self->link = &blocking->threads;
	if (self->next)
		self->next->link = &self->next;
	blocking->threads = self;
}

/* Under the lock. */
static void unlist(struct thread *self)
{
	*self->link = self->next;
	if (self->next)
		self->next->link = self->link;
}

static void *thread_main(void *argument)
{
	struct weir_blocking *blocking = argument;
	struct thread self = {.id = weir__thread_id()};
	bool had_ended;
	pthread_t before;

	weir__thread.worker_state = blocking;
	weir__thread.may_block = true;
	weir__lock(&blocking->lock);
	list(blocking, &self);
	work(blocking, &self);
	unlist(&self);
	had_ended = blocking->has_ended;
	before = blocking->ended;
	blocking->has_ended = true;
	blocking->ended = pthread_self();
	/* atomic for weir_blocking_threads() and weir_blocking_free() only */
	ck_pr_store_32(&blocking->n_threads, blocking->n_threads - 1);
	weir__unlock(&blocking->lock);
	/* The free may be waiting; it frees only after it has joined us. */
	weir__futex_wake(&blocking->n_threads, 1);
	if (had_ended)
		(void)pthread_join(before, NULL);
	return NULL;
}

/* Under the lock. */
static int start_thread(struct weir_blocking *blocking)
{
	pthread_t thread;
	int rc;

	assert(blocking->n_threads < blocking->threads_max);
	rc = weir__own_thread_start(&thread, blocking->name, thread_main,
				    blocking);

	if (rc == 0)
		ck_pr_store_32(&blocking->n_threads, blocking->n_threads + 1);
	return rc;
}

/*
 * True if a task is submitted again at the end of its own slice: the thread
 * that it is on will look at the queue at once, and no other thread need be
 * woken.
 */
static bool again(const struct weir_blocking *blocking,
		  const struct weir_task *task)
{
	return weir__thread.worker_state == blocking && running == task;
}

/*
 * Under the lock: finds a thread for one more task. Idlers are threads that no
 * queued task needs yet. If there are as many threads as there may be, or if no
 * other can be started, the task waits its turn.
 */
static int find_thread(struct weir_blocking *blocking)
{
	int rc = 0;

	if (blocking->idlers)
		wake_one(blocking);
	else if (blocking->n_threads < blocking->threads_max)
		rc = start_thread(blocking);
	return blocking->n_threads ? 0 : rc;
}

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	struct weir_blocking *blocking = of(executor);
	int rc = 0;

	if (in_child(blocking))
		return -ECHILD;
	weir__lock(&blocking->lock);
	if (!again(blocking, task))
		rc = find_thread(blocking);
	/* queued tasks have a thread */
	assert(rc != 0 || blocking->n_threads > 0);
	if (rc == 0)
		weir__tasks_push(&blocking->queue, task);
	weir__unlock(&blocking->lock);
	return rc;
}

static uint64_t now(struct weir_executor *executor)
{
	(void)executor;
	return weir__clock_ns();
}

static int timer_arm(struct weir_executor *executor, struct weir_timer *timer,
		     uint64_t at_ns)
{
	struct weir_blocking *blocking = of(executor);

	if (in_child(blocking))
		return -ECHILD;
	return weir__poller_thread_timer_arm(&blocking->service, timer, at_ns);
}

static bool timer_cancel(struct weir_executor *executor,
			 struct weir_timer *timer)
{
	struct weir_blocking *blocking = of(executor);

	return !in_child(blocking) &&
	       weir__poller_thread_timer_cancel(&blocking->service, timer);
}

static int watch_arm(struct weir_executor *executor, struct weir_watch *watch)
{
	struct weir_blocking *blocking = of(executor);

	if (in_child(blocking))
		return -ECHILD;
	return weir__poller_thread_watch_arm(&blocking->service, watch);
}

static bool watch_cancel(struct weir_executor *executor,
			 struct weir_watch *watch)
{
	struct weir_blocking *blocking = of(executor);

	return !in_child(blocking) &&
	       weir__poller_thread_watch_cancel(&blocking->service, watch);
}

static const struct weir_executor_ops ops = {
	.submit = submit,
	.now = now,
	.timer_arm = timer_arm,
	.timer_cancel = timer_cancel,
	.watch_arm = watch_arm,
	.watch_cancel = watch_cancel,
};

static void look(struct weir_executor *executor,
		 struct weir__executor_look *look)
{
	struct weir_blocking *blocking = of(executor);
	struct weir_seen_executor *seen = look->seen;
	struct weir_seen_thread seen_thread;
	const struct thread *thread;
	const struct idler *idler;

	seen->kind = WEIR_EXECUTOR_BLOCKING;
	seen->threads_max = blocking->threads_max;
	(void)snprintf(seen->name, sizeof(seen->name), "%s", blocking->name);
	weir__poller_thread_look(&blocking->service, seen);
	/* a thread of the parent's may have the lock */
	if (in_child(blocking))
		return;
	weir__lock(&blocking->lock);
	for (idler = blocking->idlers; idler; idler = idler->below)
		seen->parked++;
	for (thread = blocking->threads; thread; thread = thread->next) {
		seen_thread = (struct weir_seen_thread){
			.slices = thread->slices,
			.id = thread->id,
		};
		seen->slices += thread->slices;
		look->thread(look, &seen_thread, thread->task);
	}
	weir__unlock(&blocking->lock);
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__NUMBER(EXECUTOR_KIND, WEIR_EXECUTOR_BLOCKING),
			WEIR__FIELD(EXECUTOR_THREADS_MAX, struct weir_blocking,
				    threads_max),
			WEIR__PLACE(EXECUTOR_THREAD_NAME, struct weir_blocking,
				    name),
			WEIR__FIELD(EXECUTOR_SERVES, struct weir_blocking,
				    service.started),
			WEIR__FIELD(EXECUTOR_TIMERS, struct weir_blocking,
				    service.poller.wheel.armed),
			WEIR__FIELD(EXECUTOR_WATCHES, struct weir_blocking,
				    service.poller.watches.armed),
			WEIR__FIELD(EXECUTOR_IDLERS, struct weir_blocking,
				    idlers),
			WEIR__FIELD(IDLER_NEXT, struct idler, below),
			WEIR__FIELD(EXECUTOR_THREADS, struct weir_blocking,
				    threads),
			WEIR__FIELD(THREAD_NEXT, struct thread, next),
			WEIR__FIELD(THREAD_LINK, struct thread, link),
			WEIR__FIELD(THREAD_TASK, struct thread, task),
			WEIR__FIELD(THREAD_ID, struct thread, id),
			WEIR__FIELD(THREAD_SLICES, struct thread, slices),
			{0},
		},
};

static bool valid(const struct weir_blocking_options *options)
{
	return weir__reserved_zero(options->reserved) &&
	       options->threads_max <= THREADS_MAX;
}

static void set_options(struct weir_blocking *blocking,
			const struct weir_blocking_options *options)
{
	const char *name = options->name ? options->name : "weir-block";

	blocking->threads_max = options->threads_max ? options->threads_max
						     : THREADS_DEFAULT;
	blocking->idle_ns = options->idle_ns ? options->idle_ns
					     : 10 * WEIR__SECOND;
	(void)snprintf(blocking->name, sizeof(blocking->name), "%s", name);
	weir__poller_thread_init(&blocking->service,
				 blocking->executor.options.allocator, name);
}

static int make(struct weir_blocking **blocking,
		const struct weir_executor *executor,
		const struct weir_blocking_options *options)
{
	const struct weir_allocator *allocator = executor->options.allocator;
	struct weir_blocking *made =
		weir__alloc_lines(allocator, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->forkmark = weir__forkmark_new();
	if (!made->forkmark) {
		weir__free_lines(allocator, made, sizeof(*made));
		return -ENOMEM;
	}
	made->executor = *executor;
	made->executor.registry->look = look;
	made->executor.registry->layout = &layout;
	set_options(made, options);
	weir__executor_living(&made->executor);
	*blocking = made;
	return 0;
}

int weir_blocking_new(struct weir_blocking **blocking,
		      const struct weir_blocking_options *options)
{
	static const struct weir_blocking_options defaults;
	struct weir_executor executor;
	int rc;

	if (!blocking)
		return -EINVAL;
	*blocking = NULL;
	if (!options)
		options = &defaults;
	if (!valid(options))
		return -EINVAL;
	rc = weir__executor_init(&executor, &ops, &options->executor);
	if (rc < 0)
		return rc;
	rc = make(blocking, &executor, options);
	if (rc < 0)
		weir__not_refused(weir_executor_fini(&executor));
	return rc;
}

struct weir_executor *weir_blocking_executor(struct weir_blocking *blocking)
{
	return &blocking->executor;
}

size_t weir_blocking_threads(const struct weir_blocking *blocking)
{
	/* relaxed: a snapshot */
	return ck_pr_load_32(&blocking->n_threads);
}

/* Ends all threads. They finish what they run and what is queued first. */
static void join_all(struct weir_blocking *blocking)
{
	uint32_t n;

	weir__lock(&blocking->lock);
	blocking->stopping = true;
	while (blocking->idlers)
		wake_one(blocking);
	weir__unlock(&blocking->lock);
	/* relaxed: the join below orders what the threads did */
	while ((n = ck_pr_load_32(&blocking->n_threads)))
		weir__futex_wait(&blocking->n_threads, n, UINT64_MAX);
	/* `ended` is set before n_threads is 0, and by nobody after. */
	weir__lock(&blocking->lock);
	weir__unlock(&blocking->lock);
	if (blocking->has_ended)
		(void)pthread_join(blocking->ended, NULL);
}

static void release(struct weir_blocking *blocking)
{
	weir__forkmark_free(blocking->forkmark);
	weir__free_lines(blocking->executor.options.allocator, blocking,
			 sizeof(*blocking));
}

/*
 * In a child process after fork(), which has one thread: the parent's actors
 * are not alive here.
 */
static void free_forked(struct weir_blocking *blocking)
{
	weir__poller_thread_fini(&blocking->service, true);
	weir__registry_free_forked(blocking->executor.options.allocator,
				   blocking->executor.registry);
	release(blocking);
}

int weir_blocking_free(struct weir_blocking *blocking)
{
	int rc;

	if (!blocking)
		return 0;
	if (weir__thread.worker_state == blocking ||
	    weir__poller_thread_self(&blocking->service))
		return -EDEADLK;
	if (in_child(blocking)) {
		free_forked(blocking);
		return 0;
	}
	rc = weir__registry_await(&blocking->executor);
	if (rc < 0)
		return rc;
	weir__living_remove(&blocking->executor.registry->living);
	weir__poller_thread_fini(&blocking->service, false);
	join_all(blocking);
	/* Last, when none of our threads can be in the registry any more. */
	rc = weir_executor_fini(&blocking->executor);
	assert(rc == 0);
	(void)rc;
	release(blocking);
	return 0;
}
