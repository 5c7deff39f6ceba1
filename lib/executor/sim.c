/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator. One thread, so there is no lock and no fence.
 *
 * Tasks that can run lie in 64 lists, each in one drawn at random, at its
 * front or its back; the next to run is the first of a list drawn from those
 * that are not empty. That costs a few draws, allocates nothing, and can give
 * any order: tasks in different lists run in any order, and two that meet in
 * one list in either.
 *
 * Time moves only when nothing is ready. Then the wheel gives the next time,
 * and timers fire one by one in their order; between two of the same time
 * other tasks may run, as on any executor.
 *
 * Invariant: wheel.now_ns <= now_ns whenever anything but this file runs.
 */
#include <weir/sim.h>

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/forkmark.h"
#include "base/memory.h"
#include "executor/inbox.h"
#include "executor/registry.h"
#include "executor/sim.h"
#include "executor/thread.h"
#include "executor/wait.h"
#include "executor/watches.h"
#include "executor/wheel.h"

#define LISTS 64u
#define EVENTS 64

/* What a step has done. */
enum progress { NOTHING, SLICE, OTHER };

struct weir_sim {
	struct weir_executor executor; /* first: see of() */
	pid_t made_by;		       /* constant */
	uint64_t seed, random;
	uint64_t now_ns;
	uint64_t slices;
	uint32_t budget_max;	  /* budgets of slices are 1 to this */
	struct weir__owned owned; /* running: in a turn or in a `fire` */
	const struct weir__thread *thread;
	int id;		/* of that thread; constant */
	uint64_t ready; /* bit i: lists[i] is not empty */
	struct weir__fifo lists[LISTS];
	struct weir__wheel wheel;
	struct weir__pollset set; /* open when something is watched */
	struct weir__watches watches;
};

static struct weir_sim *of(struct weir_executor *executor)
{
	return weir_container_of(executor, struct weir_sim, executor);
}

/* splitmix64 (Steele, Lea, Flood 2014; Vigna's constants). */
static uint64_t draw(struct weir_sim *sim)
{
	uint64_t z = sim->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Below `bound` (> 0), all alike: bits beyond its highest are cut off. */
static uint64_t draw_below(struct weir_sim *sim, uint64_t bound)
{
	uint64_t mask, drawn;

	assert(bound > 0);
	if (bound == 1)
		return 0;
	mask = UINT64_MAX >> __builtin_clzll(bound - 1);
	do {
		drawn = draw(sim) & mask;
	} while (drawn >= bound);
	return drawn;
}

/* 1 to budget_max; short ones are likely, for they find more. */
static uint32_t draw_budget(struct weir_sim *sim)
{
	uint32_t bits = 32u - (uint32_t)__builtin_clz(sim->budget_max);
	uint64_t cut = draw_below(sim, bits);

	return 1 + (uint32_t)draw_below(sim, sim->budget_max >> cut);
}

static int submit(struct weir_executor *executor, struct weir_task *task)
{
	struct weir_sim *sim = of(executor);
	uint64_t drawn = draw(sim);
	uint32_t index = (uint32_t)(drawn % LISTS);
	struct weir__fifo *list = &sim->lists[index];

	assert(sim->thread == &weir__thread);
	if (drawn >> 63)
		weir__fifo_push_first(list, (struct weir__node *)task);
	else
		weir__tasks_push(list, task);
	sim->ready |= UINT64_C(1) << index;
	return 0;
}

static struct weir_task *pick(struct weir_sim *sim)
{
	uint64_t ready = sim->ready;
	uint64_t skip = draw_below(sim, (uint64_t)__builtin_popcountll(ready));
	struct weir_task *task;
	uint32_t index;

	for (; skip; skip--)
		ready &= ready - 1;
	index = (uint32_t)__builtin_ctzll(ready);
	task = weir__tasks_pop(&sim->lists[index]);
	/* the bit says that there is one */
	assert(task);
	if (!sim->lists[index].head)
		sim->ready &= ~(UINT64_C(1) << index);
	return task;
}

static uint64_t now(struct weir_executor *executor)
{
	return of(executor)->now_ns;
}

static int timer_arm(struct weir_executor *executor, struct weir_timer *timer,
		     uint64_t at_ns)
{
	struct weir_sim *sim = of(executor);

	assert(sim->thread == &weir__thread);
	assert(sim->wheel.now_ns <= sim->now_ns);
	weir__wheel_arm(&sim->wheel, timer, at_ns);
	return 0;
}

static bool timer_cancel(struct weir_executor *executor,
			 struct weir_timer *timer)
{
	return weir__wheel_cancel(&of(executor)->wheel, timer);
}

static int watch_arm(struct weir_executor *executor, struct weir_watch *watch)
{
	struct weir_sim *sim = of(executor);
	int rc;

	assert(sim->thread == &weir__thread);
	if (sim->set.fd < 0) {
		rc = sim->set.ops->open(&sim->set);
		if (rc < 0)
			return rc;
		sim->owned.fd = sim->set.fd;
	}
	return weir__watches_arm(&sim->watches, watch);
}

static bool watch_cancel(struct weir_executor *executor,
			 struct weir_watch *watch)
{
	return weir__watches_cancel(&of(executor)->watches, watch);
}

static void run_slice(struct weir_sim *sim)
{
	sim->executor.options.budget_turns = draw_budget(sim);
	weir_task_run(pick(sim));
	sim->slices++;
}

static enum progress sim_fire(struct weir_timer *timer)
{
	timer->fire(timer);
	return OTHER;
}

/*
 * True if a timer's time has come, or seems to have: a cancelled timer may have
 * left an early bound.
 */
static bool timer_due(const struct weir_sim *sim)
{
	return weir__wheel_next(&sim->wheel) <= sim->now_ns;
}

static struct weir_timer *take_due(struct weir_sim *sim)
{
	struct weir_timer *timer = weir__wheel_take(&sim->wheel);

	if (timer)
		return timer;
	weir__wheel_expire(&sim->wheel, sim->now_ns);
	return weir__wheel_take(&sim->wheel);
}

/*
 * Fires watches whose descriptors are ready; waits for one for at most
 * `timeout_ns`.
 */
static enum progress poll_watches(struct weir_sim *sim, uint64_t timeout_ns)
{
	struct epoll_event events[EVENTS];
	enum progress progress = NOTHING;
	struct weir_watch *watch;
	short revents;
	uint32_t i, n;

	if (!sim->watches.armed)
		return NOTHING;
	n = sim->set.ops->wait(&sim->set, events, EVENTS, timeout_ns);
	for (i = 0; i < n; i++) {
		while ((watch = weir__watches_take(
				&sim->watches, events[i].data.u64,
				events[i].events, &revents))) {
			watch->fire(watch, revents);
			progress = OTHER;
		}
	}
	return progress;
}

/* Moves the clock to the next timer that is not later than `limit_ns`. */
static enum progress advance(struct weir_sim *sim, uint64_t limit_ns)
{
	struct weir_timer *timer;
	uint64_t next_ns;

	for (;;) {
		next_ns = weir__wheel_next(&sim->wheel);
		if (next_ns == WEIR_FOREVER || next_ns > limit_ns)
			return NOTHING;
		weir__wheel_expire(&sim->wheel, next_ns);
		timer = weir__wheel_take(&sim->wheel);
		if (!timer)
			continue; /* one that was earlier is cancelled */
		if (next_ns > sim->now_ns)
			sim->now_ns = next_ns;
		return sim_fire(timer);
	}
}

static enum progress step_inside(struct weir_sim *sim, uint64_t limit_ns)
{
	enum progress progress;

	if (timer_due(sim) && (!sim->ready || draw(sim) % 4 == 0)) {
		struct weir_timer *timer = take_due(sim);

		if (timer)
			return sim_fire(timer);
	}
	if (sim->ready) {
		run_slice(sim);
		return SLICE;
	}
	progress = poll_watches(sim, 0);
	return progress ? progress : advance(sim, limit_ns);
}

static enum progress step(struct weir_sim *sim, uint64_t limit_ns)
{
	enum progress progress;

	assert(sim->thread == &weir__thread && !sim->owned.running);
	sim->owned.running = true;
	progress = step_inside(sim, limit_ns);
	sim->owned.running = false;
	return progress;
}

static void move_clock(struct weir_sim *sim, uint64_t now_ns)
{
	if (now_ns != WEIR_FOREVER && now_ns > sim->now_ns)
		sim->now_ns = now_ns;
}

/*
 * A step of a call that waits. If nothing else is left to do and the timeout is
 * WEIR_FOREVER, it waits for descriptors, in real time.
 */
static int step_outside(struct weir_sim *sim, uint64_t timeout_ns)
{
	uint64_t limit_ns = weir__clock_after(sim->now_ns, timeout_ns);
	enum progress progress;

	if (step(sim, limit_ns) != NOTHING)
		return 0;
	if (timeout_ns != WEIR_FOREVER) {
		move_clock(sim, limit_ns);
		return -ETIMEDOUT;
	}
	if (!sim->watches.armed)
		return -EDEADLK;
	sim->owned.running = true;
	progress = poll_watches(sim, WEIR_FOREVER);
	sim->owned.running = false;
	return progress == NOTHING ? -ETIMEDOUT : 0;
}

static int step_op(struct weir_executor *executor, uint64_t timeout_ns)
{
	struct weir_sim *sim = of(executor);
	struct weir__turn turn;
	int rc = sim->owned.running ? -EDEADLK : weir__turn_put_aside(&turn);

	if (rc < 0)
		return rc;
	rc = step_outside(sim, timeout_ns);
	weir__turn_take_up(&turn);
	return rc;
}

/* All that could wake runs on the thread that steps. */
static void wake(struct weir_executor *executor)
{
	(void)executor;
}

static const struct weir_executor_ops ops = {
	.submit = submit,
	.now = now,
	.timer_arm = timer_arm,
	.timer_cancel = timer_cancel,
	.watch_arm = watch_arm,
	.watch_cancel = watch_cancel,
	.step = step_op,
	.wake = wake,
};

/* A thread that runs the simulator outlives the run: so it is there. */
static WEIR__LOOKS void look(struct weir_executor *executor,
			     struct weir__executor_look *look)
{
	struct weir_sim *sim = of(executor);
	const struct weir_seen_thread thread = {
		.slices = sim->slices,
		.id = sim->id,
	};

	look->seen->kind = WEIR_EXECUTOR_SIM;
	look->seen->threads_max = 1;
	look->seen->own = sim->thread == &weir__thread;
	look->seen->now_ns = sim->now_ns;
	look->seen->timers = sim->wheel.armed;
	look->seen->watches = sim->watches.armed;
	look->seen->slices = sim->slices;
	if (sim->owned.running)
		look->thread(look, &thread, sim->thread->task);
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__NUMBER(EXECUTOR_KIND, WEIR_EXECUTOR_SIM),
			WEIR__NUMBER(EXECUTOR_THREADS_MAX, 1),
			WEIR__FIELD(EXECUTOR_NOW_NS, struct weir_sim, now_ns),
			WEIR__FIELD(EXECUTOR_TIMERS, struct weir_sim,
				    wheel.armed),
			WEIR__FIELD(EXECUTOR_WATCHES, struct weir_sim,
				    watches.armed),
			WEIR__FIELD(EXECUTOR_RUNS, struct weir_sim,
				    owned.running),
			WEIR__FIELD(THREAD_STATE, struct weir_sim, thread),
			WEIR__FIELD(STATE_TASK, struct weir__thread, task),
			WEIR__FIELD(THREAD_ID, struct weir_sim, id),
			WEIR__FIELD(THREAD_SLICES, struct weir_sim, slices),
			{0},
		},
};

static bool poll_op(struct weir_executor *executor)
{
	return weir_sim_step(of(executor));
}

int weir_sim_new(struct weir_sim **sim, uint64_t seed,
		 const struct weir_executor_options *options)
{
	struct weir_executor executor;
	struct weir_sim *made;
	int rc;

	if (!sim)
		return -EINVAL;
	*sim = NULL;
	rc = weir__executor_init(&executor, &ops, options);
	if (rc < 0)
		return rc;
	made = weir__alloc_lines(executor.options.allocator, sizeof(*made));
	if (!made) {
		weir__not_refused(weir_executor_fini(&executor));
		return -ENOMEM;
	}
	made->executor = executor;
	executor.registry->stands_still = true;
	executor.registry->look = look;
	executor.registry->layout = &layout;
	made->seed = made->random = seed;
	made->executor.registry->key = weir__hash_key_of(seed);
	made->budget_max = executor.options.budget_turns;
	made->thread = &weir__thread;
	made->id = weir__thread_id();
	made->set = (struct weir__pollset){&weir__epoll, -1};
	weir__wheel_init(&made->wheel, 0);
	weir__watches_init(&made->watches, executor.options.allocator,
			   &made->set);
	made->made_by = getpid();
	made->owned = (struct weir__owned){
		.executor = &made->executor,
		.poll = poll_op,
		.fd = -1,
		.is_virtual = true,
	};
	weir__own(&made->owned);
	weir__executor_living(&made->executor);
	*sim = made;
	return 0;
}

struct weir_executor *weir_sim_executor(struct weir_sim *sim)
{
	return &sim->executor;
}

bool weir__sim_seed_of(const struct weir_executor *executor, uint64_t *seed)
{
	if (executor->ops != &ops)
		return false;
	*seed = weir_container_of(executor, struct weir_sim, executor)->seed;
	return true;
}

uint64_t weir_sim_seed(const struct weir_sim *sim)
{
	return sim->seed;
}

bool weir_sim_step(struct weir_sim *sim)
{
	struct weir__turn turn;
	bool done;

	if (sim->owned.running || weir__turn_put_aside(&turn) < 0)
		return false;
	done = step(sim, WEIR_FOREVER) != NOTHING;
	weir__turn_take_up(&turn);
	return done;
}

uint64_t weir_sim_run(struct weir_sim *sim)
{
	return weir_sim_run_until(sim, WEIR_FOREVER, UINT64_MAX);
}

uint64_t weir_sim_run_until(struct weir_sim *sim, uint64_t deadline_ns,
			    uint64_t slices)
{
	struct weir__turn turn;
	uint64_t run = 0;

	if (sim->owned.running || weir__turn_put_aside(&turn) < 0)
		return 0;
	while (run < slices) {
		enum progress progress = step(sim, deadline_ns);

		if (progress == NOTHING) {
			move_clock(sim, deadline_ns);
			break;
		}
		run += progress == SLICE;
	}
	weir__turn_take_up(&turn);
	return run;
}

uint64_t weir_sim_random(struct weir_sim *sim, uint64_t bound)
{
	assert(bound > 0);
	return draw_below(sim, bound);
}

/*
 * In a child process after fork(). True if another thread than the simulator's
 * has forked: the simulator may have been in the middle of anything, so armed
 * timers and watches are left alone.
 */
static bool is_foreign(const struct weir_sim *sim)
{
	return sim->thread != &weir__thread && weir__forked_since(sim->made_by);
}

static void release(struct weir_sim *sim)
{
	if (!is_foreign(sim))
		weir__watches_fini(&sim->watches);
	if (sim->set.fd >= 0)
		sim->set.ops->close(&sim->set);
	weir__disown(&sim->owned);
	weir__free_lines(sim->executor.options.allocator, sim, sizeof(*sim));
}

int weir_sim_free(struct weir_sim *sim)
{
	int rc;

	if (!sim)
		return 0;
	if (is_foreign(sim)) {
		weir__registry_free_forked(sim->executor.options.allocator,
					   sim->executor.registry);
		release(sim);
		return 0;
	}
	if (sim->owned.running || sim->owned.waited)
		return -EDEADLK;
	rc = weir_executor_fini(&sim->executor);
	if (rc == 0)
		release(sim);
	return rc;
}
