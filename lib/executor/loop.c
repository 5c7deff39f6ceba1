/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop. Its descriptor is the poller's set, which holds the watched
 * descriptors, the timerfd and an eventfd that stands for tasks.
 *
 * A submission inside a run of the loop, on its thread, appends to `local`, a
 * plain list; so does one by the owner when it is about to run the loop
 * (weir__thread.runs_soon). Any other submission pushes to `inbox` and must see
 * to it that the eventfd is readable, once for all submissions until the owner
 * has looked:
 *
 * `notified` 0: the owner may be asleep, or about to be. 1: the owner will look
 * again without being told: it is in a run, or the eventfd is readable or soon
 * will be.
 *   0 -> 1 by exchange, by a thread that needs the owner; the thread that reads
 *          0 writes the eventfd
 *   1 -> 0 by the owner, at the end of a run that leaves nothing
 *
 *   submitter                          owner, end of a run
 *   S1 push to inbox                   O1 make the eventfd unreadable
 *   S2 fence (atomic_load)             O2 notified = 0
 *   S3 if notified == 0 and            O3 full fence
 *      exchange(notified, 1) == 0:     O4 if inbox is not empty, and
 *   S4    write the eventfd               exchange(notified, 1) == 0:
 *                                      O5    write the eventfd
 *
 * No task is forgotten: S1-S3 and O2-O4 are the store-load pattern, so either
 * S3 reads 0 or O4 sees the task, and one of the two threads writes the
 * eventfd, after O1. A write S4 that is late, after a run that took the task
 * for another reason, makes the eventfd readable for nothing: the next run ends
 * that at O1.
 */
#include <weir/loop.h>

#include <assert.h>
#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "base/fence.h"
#include "base/forkmark.h"
#include "base/memory.h"
#include "executor/inbox.h"
#include "executor/poller.h"
#include "executor/registry.h"
#include "executor/thread.h"
#include "executor/wait.h"

/* In a step of a call that waits; and as long as such steps find slices to run,
 * from one look at timers and descriptors to the next. */
#define STEP_SLICES 16u

struct weir_loop {
	struct weir_executor executor; /* first: see of() */
	pid_t made_by;		       /* constant */
	/* Of the thread that runs it. */
	struct weir__owned owned;
	struct weir__fifo local;
	bool readable;	   /* the eventfd may be readable */
	uint32_t unpolled; /* slices since the last such look */
	/* read by those who look: of the slice that runs, or has last run */
	const struct weir_task *task;
	uint64_t slices;
	int thread;
	/* Anyone's. */
	struct weir__mailbox inbox __attribute__((aligned(WEIR__LINE)));
	uint32_t notified;
	struct weir__poller poller __attribute__((aligned(WEIR__LINE)));
};

static struct weir_loop *of(struct weir_executor *executor)
{
	return weir_container_of(executor, struct weir_loop, executor);
}

/* Whether the caller is in a run of this loop. Any thread. */
static bool inside(const struct weir_loop *loop)
{
	return weir__thread.worker_state == loop;
}

/* S3 and S4, O4 and O5. The caller has published, and fenced. */
static bool notify(struct weir_loop *loop)
{
	/* relaxed: ordered by the caller's fence; the exchange decides */
	if (ck_pr_load_32(&loop->notified) || ck_pr_fas_32(&loop->notified, 1))
		return false;
	weir__poller_wake(&loop->poller);
	return true;
}

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	struct weir_loop *loop = of(executor);

	if (inside(loop) || weir__thread.runs_soon == executor) {
		weir__tasks_push(&loop->local, task);
		return 0;
	}
	weir__inbox_push(&loop->inbox, task);
	/* S2: pairs with the full fence in go_idle() */
	ck_pr_fence_atomic_load();
	notify(loop);
	return 0;
}

static uint64_t now(struct weir_executor *executor)
{
	(void)executor;
	return weir__clock_ns();
}

static int timer_arm(struct weir_executor *executor, struct weir_timer *timer,
		     uint64_t at_ns)
{
	return weir__poller_timer_arm(&of(executor)->poller, timer, at_ns);
}

static bool timer_cancel(struct weir_executor *executor,
			 struct weir_timer *timer)
{
	return weir__poller_timer_cancel(&of(executor)->poller, timer);
}

static int watch_arm(struct weir_executor *executor, struct weir_watch *watch)
{
	return weir__poller_watch_arm(&of(executor)->poller, watch);
}

static bool watch_cancel(struct weir_executor *executor,
			 struct weir_watch *watch)
{
	return weir__poller_watch_cancel(&of(executor)->poller, watch);
}

static void take_inbox(struct weir_loop *loop)
{
	struct weir_task *task, *next;

	if (weir__mailbox_empty(&loop->inbox))
		return;
	for (task = weir__inbox_take(&loop->inbox); task; task = next) {
		next = task->next;
		weir__tasks_push(&loop->local, task);
	}
}

static int run_tasks(struct weir_loop *loop, size_t budget)
{
	uint64_t slices = loop->slices; /* only we write it */
	struct weir_task *task;
	int n = 0;

	if (budget > INT_MAX)
		budget = INT_MAX;
	while ((size_t)n < budget) {
		take_inbox(loop);
		task = weir__tasks_pop(&loop->local);
		if (!task)
			break;
		/* relaxed: readers want a snapshot */
		ck_pr_store_ptr(&loop->task, task);
		weir_task_run(task);
		ck_pr_store_64(&loop->slices, ++slices);
		n++;
	}
	ck_pr_store_ptr(&loop->task, NULL);
	loop->unpolled += (uint32_t)n;
	return n;
}

/* Work is left: the owner needs no telling but the eventfd's. */
static void stay_readable(struct weir_loop *loop)
{
	/* relaxed: a hint; a thread that still reads 0 writes the eventfd once
	 * more */
	ck_pr_store_32(&loop->notified, 1);
	if (!loop->readable)
		weir__poller_wake(&loop->poller);
	loop->readable = true;
}

/* Nothing is left: O1 to O5. */
static void go_idle(struct weir_loop *loop)
{
	assert(!loop->local.head);
	if (loop->readable)
		weir__poller_unwake(&loop->poller);
	loop->readable = false;
	ck_pr_store_32(&loop->notified, 0);
	/* O3: pairs with the fences before notify() in submit() and wake() */
	weir__fence_full();
	if (!weir__mailbox_empty(&loop->inbox))
		loop->readable = notify(loop);
}

/*
 * One run. If it `polls`, it looks at timers and descriptors; it does not wait
 * for them while work is left. *idle: nothing was ready, due or to be run.
 */
static int run(struct weir_loop *loop, size_t budget, bool polls,
	       uint64_t timeout_ns, bool *idle)
{
	void *outside = weir__thread.worker_state;
	uint32_t fired = 0;
	bool woken = false;
	int n;

	assert(!loop->owned.running);
	loop->owned.running = true;
	weir__thread.worker_state = loop;
	loop->thread = weir__thread_id();
	if (polls) {
		if (loop->local.head)
			timeout_ns = 0;
		fired = weir__poller_run(&loop->poller, timeout_ns, &woken);
		loop->unpolled = 0;
	}
	loop->readable |= woken;
	n = run_tasks(loop, budget);
	if (loop->local.head)
		stay_readable(loop);
	else
		go_idle(loop);
	if (polls)
		weir__poller_settle(&loop->poller);
	weir__thread.worker_state = outside;
	weir__thread.at_once = false;
	loop->owned.running = false;
	*idle = !fired && !n && !woken;
	return n;
}

/*
 * 0 if the loop can be run here; *turn is what the caller takes up again after
 * the run.
 */
static int begin(struct weir_loop *loop, size_t budget, struct weir__turn *turn)
{
	if (!loop || !budget)
		return -EINVAL;
	return loop->owned.running ? -EDEADLK : weir__turn_put_aside(turn);
}

/* Again after a signal, or a timer that has been cancelled. */
static int run_until(struct weir_loop *loop, size_t budget, uint64_t timeout_ns)
{
	bool ends = timeout_ns && timeout_ns != WEIR_FOREVER;
	uint64_t now_ns = ends ? weir__clock_ns() : 0;
	uint64_t end_ns = weir__clock_after(now_ns, timeout_ns);
	bool idle;
	int n;

	do {
		n = run(loop, budget, true,
			end_ns == WEIR_FOREVER ? WEIR_FOREVER : end_ns - now_ns,
			&idle);
		if (!idle)
			return n;
		if (ends)
			now_ns = weir__clock_ns();
	} while (now_ns < end_ns);
	return -ETIMEDOUT;
}

/* Where there is something to run already, it mostly makes no system call. */
static int step(struct weir_executor *executor, uint64_t timeout_ns)
{
	struct weir_loop *loop = of(executor);
	struct weir__turn turn;
	bool idle;
	int rc = begin(loop, STEP_SLICES, &turn);

	if (rc < 0)
		return rc;
	if (loop->local.head && loop->unpolled < STEP_SLICES)
		(void)run(loop, STEP_SLICES, false, 0, &idle);
	else
		rc = run_until(loop, STEP_SLICES, timeout_ns);
	weir__turn_take_up(&turn);
	return rc < 0 ? rc : 0;
}

static bool poll_op(struct weir_executor *executor)
{
	return step(executor, 0) == 0;
}

static void wake(struct weir_executor *executor)
{
	struct weir_loop *loop = of(executor);

	if (inside(loop))
		return;
	/*
	 * The owner sees after its O3 what the caller has stored, or the caller
	 * reads notified == 0 here: pairs with the full fence in go_idle().
	 */
	weir__fence_full();
	notify(loop);
}

static const struct weir_executor_ops ops = {
	.submit = submit,
	.now = now,
	.timer_arm = timer_arm,
	.timer_cancel = timer_cancel,
	.watch_arm = watch_arm,
	.watch_cancel = watch_cancel,
	.step = step,
	.wake = wake,
};

static WEIR__LOOKS void look(struct weir_executor *executor,
			     struct weir__executor_look *look)
{
	struct weir_loop *loop = of(executor);
	const struct weir_task *task = ck_pr_load_ptr(&loop->task);
	const struct weir_seen_thread thread = {
		.slices = ck_pr_load_64(&loop->slices),
		.id = loop->thread,
	};

	look->seen->kind = WEIR_EXECUTOR_LOOP;
	look->seen->threads_max = 1;
	look->seen->own = loop->thread == weir__thread_id() ||
			  weir__owns(executor);
	look->seen->slices = thread.slices;
	weir__poller_look(&loop->poller, look->seen);
	if (loop->owned.running)
		look->thread(look, &thread, task);
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__NUMBER(EXECUTOR_KIND, WEIR_EXECUTOR_LOOP),
			WEIR__NUMBER(EXECUTOR_THREADS_MAX, 1),
			WEIR__FIELD(EXECUTOR_TIMERS, struct weir_loop,
				    poller.wheel.armed),
			WEIR__FIELD(EXECUTOR_WATCHES, struct weir_loop,
				    poller.watches.armed),
			WEIR__FIELD(EXECUTOR_RUNS, struct weir_loop,
				    owned.running),
			WEIR__FIELD(THREAD_TASK, struct weir_loop, task),
			WEIR__FIELD(THREAD_ID, struct weir_loop, thread),
			WEIR__FIELD(THREAD_SLICES, struct weir_loop, slices),
			{0},
		},
};

static int make(struct weir_loop **loop, const struct weir_executor *executor)
{
	const struct weir_allocator *allocator = executor->options.allocator;
	struct weir_loop *made = weir__alloc_lines(allocator, sizeof(*made));
	int rc;

	if (!made)
		return -ENOMEM;
	made->executor = *executor;
	rc = weir__poller_init(&made->poller, allocator);
	if (rc < 0) {
		weir__free_lines(allocator, made, sizeof(*made));
		return rc;
	}
	made->executor.registry->look = look;
	made->executor.registry->layout = &layout;
	made->made_by = getpid();
	made->owned = (struct weir__owned){
		.executor = &made->executor,
		.poll = poll_op,
		.fd = made->poller.set.fd,
	};
	weir__own(&made->owned);
	weir__executor_living(&made->executor);
	*loop = made;
	return 0;
}

int weir_loop_new(struct weir_loop **loop,
		  const struct weir_executor_options *options)
{
	struct weir_executor executor;
	int rc;

	if (!loop)
		return -EINVAL;
	*loop = NULL;
	rc = weir__executor_init(&executor, &ops, options);
	if (rc < 0)
		return rc;
	rc = make(loop, &executor);
	if (rc < 0)
		weir__not_refused(weir_executor_fini(&executor));
	return rc;
}

struct weir_executor *weir_loop_executor(struct weir_loop *loop)
{
	return &loop->executor;
}

int weir_loop_fd(const struct weir_loop *loop)
{
	return loop->poller.set.fd;
}

int weir_loop_run(struct weir_loop *loop, size_t budget)
{
	struct weir__turn turn;
	bool idle;
	int rc = begin(loop, budget, &turn);

	if (rc < 0)
		return rc;
	rc = run(loop, budget, true, 0, &idle);
	weir__turn_take_up(&turn);
	return rc;
}

int weir_loop_wait(struct weir_loop *loop, size_t budget, uint64_t timeout_ns)
{
	struct weir__turn turn;
	int rc = begin(loop, budget, &turn);

	if (rc < 0)
		return rc;
	rc = run_until(loop, budget, timeout_ns);
	weir__turn_take_up(&turn);
	return rc;
}

static void release(struct weir_loop *loop, bool child)
{
	weir__poller_fini(&loop->poller, child);
	weir__disown(&loop->owned);
	weir__free_lines(loop->executor.options.allocator, loop, sizeof(*loop));
}

/*
 * In a child process after fork(): the parent's actors are not alive here, and
 * the thread that may have run the loop is not here. The caller may be in a
 * turn of its own.
 */
static int free_forked(struct weir_loop *loop)
{
	if (inside(loop))
		return -EDEADLK;
	weir__registry_free_forked(loop->executor.options.allocator,
				   loop->executor.registry);
	release(loop, true);
	return 0;
}

int weir_loop_free(struct weir_loop *loop)
{
	int rc;

	if (!loop)
		return 0;
	if (weir__forked_since(loop->made_by))
		return free_forked(loop);
	if (loop->owned.running || loop->owned.waited)
		return -EDEADLK;
	rc = weir_executor_fini(&loop->executor);
	if (rc == 0)
		release(loop, false);
	return rc;
}
