/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a worker does: it runs the tasks it has. When it has none it takes tasks
 * that came from outside, then tasks that have waited too long with another
 * worker; then it sleeps. A task is stolen only when it has waited steal_ns,
 * because a theft, together with waking the thief, costs about that much time.
 *
 * A worker whose slices are long on average does not wait for thieves: between
 * two slices, and when a turn submits something, it gives tasks that would wait
 * to a searching worker, through the pool's inbox. Giving a task away moves two
 * cache lines between CPUs, which costs little beside a long slice. It keeps
 * workers busy although none of the tasks waits for steal_ns: a few stages that
 * work, joined by small windows, never wait so long. Cheap stages have short
 * slices and stay together.
 *
 * Waiting is measured without a time per task: a mark says "at this time the
 * ring's tail stood there". While the ring's front has not come that far, the
 * tasks in the ring have waited since then.
 */
#include "executor/worker.h"

#include <assert.h>

#include "executor/registry.h"
#include "executor/task.h"

#define MARK_UNIT_NS 1024u	      /* of the time in a mark */
#define SPIN_STALLS 16u		      /* between two looks at the clock */
#define LINGER_STALLS 64u	      /* before a search begins */
#define LOOK_MIN_NS 1000u	      /* between two looks at other workers */
#define MONITOR_MIN_NS (200 * 1000u)  /* the monitor's first sleep */
#define MONITOR_MAX_NS (2000 * 1000u) /* and its longest */
#define SLICES_MAX 64u	  /* slices between two looks at the clock */
#define POLLED_TASKS 4u	  /* polls with fewer other tasks */
#define POLLS 512u	  /* polls without a find, then it arms */
#define POLLS_AT_ONCE 32u /* and without a pause */
#define LOOK_SLICES 8u	  /* and between two at the inboxes */
#define STEAL_MAX 16u	  /* tasks taken at once */
#define LONG_PART 16u	  /* a slice of steal_ns / 16 is long */
#define POLL_NS 50000u /* between two looks at descriptors, of busy workers */

static void count(uint64_t *counter)
{
	/* relaxed: only the worker writes the counter; readers want a
	 * snapshot */
	ck_pr_store_64(counter, *counter + 1);
}

/* 32 bits of the tail and 32 of the time, which wraps in more than an hour. */
static uint64_t mark_make(uint64_t tail, uint64_t now_ns)
{
	return tail << 32 | (uint32_t)(now_ns / MARK_UNIT_NS);
}

/* How many tasks were queued at the mark, and still are; 0 or less: none. */
static int32_t mark_left(uint64_t mark, uint64_t front)
{
	return (int32_t)((uint32_t)(mark >> 32) - (uint32_t)front);
}

static bool mark_old(uint64_t mark, uint64_t now_ns, uint64_t age_ns)
{
	uint32_t age = (uint32_t)(now_ns / MARK_UNIT_NS) - (uint32_t)mark;

	/* A mark that was made after now_ns was read is not old. */
	return (int32_t)age >= 0 && age >= age_ns / MARK_UNIT_NS;
}

/*
 * How many of the worker's tasks have waited for steal_ns. Moves the marks on:
 * the second mark is made when the first has become old, and replaces the first
 * when the ring's front has passed that. So where many tasks wait there is
 * always an old mark. Any thread. The answer is a hint: the order of the loads
 * does not matter. Where two threads write the same mark, either mark is true,
 * so it does not matter which of them stays.
 */
static uint32_t overdue(struct weir__worker *worker, uint64_t now_ns)
{
	uint64_t tail = ck_pr_load_64(&worker->ring.tail);
	uint64_t front = weir__ring_front(&worker->ring);
	uint64_t *marks = worker->marks;
	uint64_t mark = ck_pr_load_64(&marks[0]);

	if ((int64_t)(tail - front) <= 0)
		return 0;
	if (mark_left(mark, front) <= 0) {
		mark = ck_pr_load_64(&marks[1]);
		if (mark_left(mark, front) <= 0)
			mark = mark_make(tail, now_ns);
		ck_pr_store_64(&marks[0], mark);
	}
	if (!mark_old(mark, now_ns, worker->pool->steal_ns))
		return 0;
	if (mark_left(ck_pr_load_64(&marks[1]), mark >> 32) <= 0)
		ck_pr_store_64(&marks[1], mark_make(tail, now_ns));
	return (uint32_t)mark_left(mark, front);
}

/* Any thread; a hint. */
static bool slices_long(const struct weir__worker *worker)
{
	return ck_pr_load_64(&worker->slice_ns) >=
	       worker->pool->steal_ns / LONG_PART;
}

/*
 * True if the other worker is likely to give tasks away sooner than a theft
 * would pay.
 */
static bool will_offload(const struct weir__worker *other,
			 const struct weir__worker *thief, uint64_t now_ns)
{
	return now_ns - thief->idle_ns < thief->pool->steal_ns / 2 &&
	       slices_long(other);
}

/* The next other worker that has overdue tasks, *n of them; or NULL. */
static struct weir__worker *find_victim(struct weir__worker *worker,
					uint64_t now_ns, uint32_t *n)
{
	struct weir__worker *first = worker - worker->index, *other;
	uint32_t running = ck_pr_load_32(&worker->pool->running), i;

	for (i = 0; i < running; i++) {
		if (++worker->victim >= running)
			worker->victim = 0;
		other = first + worker->victim;
		*n = other == worker ? 0 : overdue(other, now_ns);
		if (*n && !will_offload(other, worker, now_ns))
			return other;
	}
	return NULL;
}

/*
 * Steals overdue tasks from another worker: half of them, since the other
 * worker goes on as well, and no more than one theft is worth.
 */
static bool steal(struct weir__worker *worker, uint64_t now_ns)
{
	struct weir_task *tasks[STEAL_MAX];
	uint32_t n, i;
	struct weir__worker *victim = find_victim(worker, now_ns, &n);

	if (!victim)
		return false;
	worker->victim--; /* it may have more: begin there */
	n = (n + 1) / 2;
	n = weir__ring_steal(&victim->ring, tasks,
			     n < STEAL_MAX ? n : STEAL_MAX);
	for (i = 0; i < n; i++) {
		count(&worker->steals);
		weir__worker_push(worker, tasks[i]);
	}
	return n > 0;
}

/* A look only, which leaves the lines shared. */
static bool something_came(const struct weir__worker *worker)
{
	return !weir__mailbox_empty(&worker->inbox) ||
	       !weir__mailbox_empty(&worker->pool->inbox);
}

/* Takes the tasks that came from outside. */
static void collect(struct weir__worker *worker)
{
	struct weir_task *task = weir__inbox_take(&worker->inbox), *next;

	for (; task; task = next) {
		next = task->next;
		weir__tasks_push(&worker->private, task);
		worker->lingers = true;
	}
	if (weir__mailbox_empty(&worker->pool->inbox))
		return;
	for (task = weir__inbox_take(&worker->pool->inbox); task; task = next) {
		next = task->next;
		weir__worker_push(worker, task);
	}
}

/* False: no task came from outside, or other workers took it. */
static bool collected(struct weir__worker *worker)
{
	if (!something_came(worker))
		return false;
	collect(worker);
	return worker->private.head || worker->ring.tail != worker->ring.head;
}

/*
 * Moves tasks that found the ring full into the ring, in order. True: some were
 * moved.
 */
static bool refill(struct weir__worker *worker)
{
	struct weir__fifo *overflow = &worker->overflow;
	bool moved = false;

	while (overflow->head) {
		/* Read next before the push: a thief may have it then. */
		struct weir__node *task = overflow->head, *next = task->next;

		if (!weir__ring_push(&worker->ring, (struct weir_task *)task))
			break;
		overflow->head = next;
		moved = true;
	}
	return moved;
}

/*
 * run_shared() and run_private() run one slice. A task that has to run again
 * goes back to the queue it came from.
 */
static inline bool run_shared(struct weir__worker *worker)
{
	struct weir_task *task = weir__ring_pop(&worker->ring);

	if (!task)
		return false;
	if (weir__task_run(task))
		weir__worker_push(worker, task);
	return true;
}

static __attribute__((noinline)) bool run_private(struct weir__worker *worker)
{
	struct weir_task *task = weir__tasks_pop(&worker->private);

	if (!task)
		return false;
	/* a slice is not run within another one */
	assert(!worker->pinned);
	worker->pinned = true;
	if (weir__task_run(task))
		weir__tasks_push(&worker->private, task);
	worker->pinned = false;
	return true;
}

/* Where there are tasks of both kinds they take turns. */
static inline bool run_one(struct weir__worker *worker)
{
	if (WEIR_UNLIKELY(worker->private.head)) {
		worker->private_next = !worker->private_next;
		if (worker->private_next)
			return run_private(worker);
	}
	return WEIR_LIKELY(run_shared(worker)) || run_private(worker);
}

/* Hands a task to a searching worker, by the way of tasks from outside. */
static void worker_give(struct weir__worker *worker, struct weir_task *task)
{
	weir__inbox_push(&worker->pool->inbox, task);
	weir__park_wake_one(&worker->pool->park);
}

/*
 * Hands over at most one task until a searching worker has taken it. Keeps the
 * task if the own queue is empty, since the worker may have nothing else to
 * run.
 */
void weir__worker_offload(struct weir__worker *worker, struct weir_task *task)
{
	struct weir_threads *pool = worker->pool;

	if (worker->ring.tail != worker->ring.head &&
	    weir__park_searched(&pool->park) &&
	    weir__mailbox_empty(&pool->inbox))
		worker_give(worker, task);
	else
		weir__worker_push(worker, task);
}

/* Hands over half of the queued tasks, since the worker goes on as well. */
static void offload_half(struct weir__worker *worker, uint32_t n)
{
	struct weir_task *task;

	for (n = (n + 1) / 2; n > 0; n--) {
		task = weir__ring_pop(&worker->ring);
		if (!task)
			return; /* thieves took the rest */
		worker_give(worker, task);
	}
}

/*
 * Between two slices. If the worker's slices are long: offloads the queued
 * tasks if another worker searches; wakes a worker if none has searched for
 * steal_ns.
 */
static void offload(struct weir__worker *worker, uint64_t now_ns)
{
	struct weir__park *park = &worker->pool->park;
	uint32_t n = (uint32_t)(worker->ring.tail - worker->ring.head);

	worker->offloads = slices_long(worker);
	if (worker->offloads && n > 1) {
		if (weir__park_searched(park)) {
			offload_half(worker, n);
			return;
		}
		if (now_ns - worker->calm_ns < worker->pool->steal_ns ||
		    !weir__park_wake_one(park))
			return;
	}
	worker->calm_ns = now_ns;
}

/* --- Descriptors ---------------------------------------------------------- */

/* NULL: the pool has watched no descriptor. */
static struct weir__poller *poller_of(const struct weir_threads *pool)
{
	struct weir__poller *poller = ck_pr_load_ptr(&pool->poller);

	/* acquire: pairs with the release in make_poller() */
	ck_pr_fence_acquire();
	return poller;
}

/* True if there are descriptors, and no worker polls. A hint. */
static bool unpolled(const struct weir_threads *pool)
{
	return ck_pr_load_ptr(&pool->poller) && !weir__park_polls(&pool->park);
}

/*
 * Fires what was harvested, and gives the poller up. Returns how many watches
 * were fired.
 */
static uint32_t fire_and_leave(struct weir__worker *worker,
			       struct weir__poller *poller,
			       const struct weir__harvest *harvest)
{
	struct weir_threads *pool = worker->pool;
	uint32_t fired;
	bool woken;

	fired = weir__poller_fire(poller, harvest, &woken);
	if (woken)
		weir__poller_unwake(poller);
	/* relaxed: a hint */
	ck_pr_store_64(&pool->polled_ns, weir__clock_ns());
	weir__park_polled(&pool->park);
	/* tasks of executors that run at once, which were submitted */
	if (weir__thread.pending_head)
		weir__task_run_pending(&weir__thread);
	return fired;
}

/* Between two slices: no idle worker has polled for some time. */
static __attribute__((noinline)) void poll_meanwhile(
	struct weir__worker *worker, uint64_t now_ns)
{
	struct weir_threads *pool = worker->pool;
	struct weir__poller *poller = poller_of(pool);
	struct weir__harvest harvest;

	/* signed: another worker may have polled since */
	if ((int64_t)(now_ns - ck_pr_load_64(&pool->polled_ns)) < POLL_NS ||
	    !weir__park_poll(&pool->park, worker->index))
		return;
	weir__poller_harvest(poller, &harvest, 0);
	(void)fire_and_leave(worker, poller, &harvest);
}

/*
 * The worker's own look at its queue: if the task in front is overdue, another
 * worker should take it. Reads the clock about four times in steal_ns, or in
 * POLL_NS if that is shorter, so with short slices seldom: `slices_between`
 * follows the length of the last slices.
 */
static void check(struct weir__worker *worker)
{
	uint64_t now = weir__clock_ns();
	uint64_t passed = now - worker->checked_ns;
	uint64_t steal_ns = worker->pool->steal_ns;
	uint64_t wanted = (steal_ns < POLL_NS ? steal_ns : POLL_NS) / 4;

	assert(worker->slices_between > 0);
	worker->checked_ns = now;
	/* relaxed: only the worker writes the word; readers want a hint */
	ck_pr_store_64(
		&worker->slice_ns,
		(3 * worker->slice_ns + passed / worker->slices_between) / 4);
	worker->slices_between =
		passed > wanted
			? (uint32_t)(worker->slices_between * wanted / passed)
			: worker->slices_between * 2;
	if (worker->slices_between < 1)
		worker->slices_between = 1;
	if (worker->slices_between > SLICES_MAX)
		worker->slices_between = SLICES_MAX;
	worker->check_at = ck_pr_load_64(&worker->slices) +
			   worker->slices_between;
	offload(worker, now);
	/* Somebody has become slow: time the next run. */
	if (worker->offloads)
		weir__thread.runs = WEIR__TIMED_RUNS;
	/* No fence: a worker that is missed now is woken at the next check. */
	if (overdue(worker, now))
		weir__park_wake_one(&worker->pool->park);
	if (WEIR_UNLIKELY(unpolled(worker->pool)))
		poll_meanwhile(worker, now);
}

/*
 * After some slices: takes tasks from the inboxes, refills the ring, and checks
 * the queue when that is due.
 */
static __attribute__((noinline)) void look_up(struct weir__worker *worker,
					      uint64_t slices)
{
	if (something_came(worker))
		collect(worker);
	(void)refill(worker);
	if (slices >= worker->check_at)
		check(worker);
	worker->look_at = slices + LOOK_SLICES;
	if (worker->look_at > worker->check_at)
		worker->look_at = worker->check_at;
}

/* Runs tasks until there are none. */
static void work(struct weir__worker *worker)
{
	uint64_t slices = worker->slices; /* only we write it */

	worker->look_at = slices;
	do {
		while (run_one(worker)) {
			/* relaxed: readers want a snapshot */
			ck_pr_store_64(&worker->slices, ++slices);
			if (WEIR_UNLIKELY(slices >= worker->look_at))
				look_up(worker, slices);
		}
	} while (refill(worker) || collected(worker));
	weir__thread.at_once = false;
}

static bool others_awake(const struct weir_threads *pool, bool self)
{
	return weir__park_idle(&pool->park) + self <
	       ck_pr_load_32(&pool->running);
}

/*
 * The worker has found work. If no other worker searches, one may have to: for
 * other work, or to monitor the workers that are busy and, where this one has
 * polled, the descriptors.
 */
static void found(struct weir__worker *worker)
{
	struct weir_threads *pool = worker->pool;

	if (!weir__park_found(&pool->park))
		return;
	if (!weir__mailbox_empty(&pool->inbox) ||
	    (!ck_pr_load_32(&pool->park.monitor) &&
	     (worker->ring.tail - worker->ring.head > 1 ||
	      others_awake(pool, true) || unpolled(pool))))
		weir__park_wake_one(&pool->park);
}

static bool stopping(const struct weir_threads *pool)
{
	return ck_pr_load_32(&pool->stop);
}

/* True if there is work for a worker that is about to sleep. */
static bool anything(struct weir__worker *worker)
{
	uint32_t n;

	return something_came(worker) || stopping(worker->pool) ||
	       find_victim(worker, weir__clock_ns(), &n);
}

/* Between two looks at the clock; shorter if something comes. */
static void stall(const struct weir__worker *worker)
{
	uint32_t i;

	for (i = 0; i < SPIN_STALLS && !something_came(worker); i++)
		ck_pr_stall();
}

/*
 * Looks for work for spin_ns; seldom at the rings of others, since each such
 * look takes a cache line away from a busy worker.
 */
static bool spin(struct weir__worker *worker)
{
	struct weir_threads *pool = worker->pool;
	uint64_t start = weir__clock_ns(), now = start;
	uint64_t between = pool->steal_ns / 8;

	if (between < LOOK_MIN_NS)
		between = LOOK_MIN_NS;
	do {
		worker->checked_ns = now;
		if (collected(worker))
			return true;
		if (now - worker->looked_ns >= between) {
			if (steal(worker, now))
				return true; /* and soon look again */
			worker->looked_ns = now;
		}
		/* it spins in the kernel, so to say: see await_ready() */
		if (stopping(pool) || unpolled(pool))
			return false;
		stall(worker);
		now = weir__clock_ns();
	} while (now - start < pool->spin_ns);
	return false;
}

/*
 * The number of slices that all workers have run: if two looks find the same
 * number, the pool was idle between them.
 */
static uint64_t all_slices(const struct weir__worker *worker)
{
	const struct weir__worker *first = worker - worker->index;
	uint32_t n = ck_pr_load_32(&worker->pool->running), i;
	uint64_t slices = 0;

	for (i = 0; i < n; i++)
		slices += ck_pr_load_64(&first[i].slices);
	return slices;
}

/*
 * How an idle worker sleeps: without end, or, if it is the monitor, until it
 * has to look at the other workers again.
 */
struct sleep {
	bool monitoring;
	uint64_t timeout_ns; /* of the monitor's next sleep */
	uint64_t slices;     /* at its last look */
};

/*
 * Whether to monitor. The monitor stays until no slice has run during its
 * longest sleep, even if no worker is awake when it looks: otherwise a pool
 * that works a little at a time would wake another monitor each time.
 */
static bool decide(struct weir__worker *worker, struct sleep *sleep)
{
	struct weir_threads *pool = worker->pool;
	uint64_t slices = all_slices(worker);
	bool active =
		others_awake(pool, false) ||
		(sleep->monitoring && (slices != sleep->slices ||
				       sleep->timeout_ns < MONITOR_MAX_NS));

	sleep->slices = slices;
	if (sleep->monitoring && !active) {
		weir__park_unmonitor(&pool->park);
		sleep->monitoring = false;
		active = others_awake(pool, false); /* park.c, claim 7 */
	}
	if (active && !sleep->monitoring)
		sleep->monitoring =
			weir__park_monitor(&pool->park, worker->index);
	return sleep->monitoring;
}

/* What a worker has found when it is awake again. */
enum woken { ASLEEP, SEARCHES, HAS_WORK };

/*
 * The worker polls, in place of a sleep. If anything comes it is idle no more.
 */
static enum woken await_ready(struct weir__worker *worker,
			      struct weir__poller *poller, uint32_t epoch,
			      uint64_t timeout_ns)
{
	struct weir__park *park = &worker->pool->park;
	struct weir__harvest harvest = {.n = 0};
	uint32_t fired;

	if (weir__park_epoch(park, worker->index) == epoch)
		weir__poller_harvest(poller, &harvest, timeout_ns);
	/* before what is fired submits: then nobody else need be woken */
	if (harvest.n > 0 && !weir__park_cancel(park, worker->index))
		count(&worker->wakes);
	fired = fire_and_leave(worker, poller, &harvest);
	if (harvest.n == 0)
		return ASLEEP;
	return fired ? HAS_WORK : SEARCHES;
}

/*
 * The monitor leaves the poller to who is awake, and will want it back soon. If
 * that one is busy for long, the monitor looks for what is ready when it looks
 * at the others.
 */
static enum woken sleep_or_poll(struct weir__worker *worker, uint32_t epoch,
				struct sleep *sleep)
{
	struct weir_threads *pool = worker->pool;
	struct weir__poller *poller = poller_of(pool);
	uint32_t i = worker->index;
	bool monitors = decide(worker, sleep);
	uint64_t timeout_ns = monitors ? sleep->timeout_ns : WEIR_FOREVER;
	enum woken woken = ASLEEP;

	if (poller && !(monitors && others_awake(pool, false)) &&
	    weir__park_poll(&pool->park, i))
		woken = await_ready(worker, poller, epoch, timeout_ns);
	else if (!weir__park_sleep(&pool->park, i, epoch, timeout_ns) &&
		 poller && weir__park_poll(&pool->park, i))
		woken = await_ready(worker, poller, epoch, 0);
	/* woken early it does not sleep again, or not for long */
	if (monitors && sleep->timeout_ns < MONITOR_MAX_NS)
		sleep->timeout_ns *= 2;
	return woken;
}

/*
 * Sleeps until there may be work. When the worker is awake again it searches.
 * True: it has work.
 */
static bool park(struct weir__worker *worker)
{
	struct weir__park *park = &worker->pool->park;
	struct sleep sleep = {.timeout_ns = MONITOR_MIN_NS};
	uint32_t i = worker->index, epoch;
	enum woken woken;

	/* Before the bit: a thread that has seen all bits set finds the same
	 * count next time. */
	count(&worker->parks);
	/* release: what our slices did, and their count; pairs with the acquire
	 * in weir_threads_idle() */
	ck_pr_fence_release();
	weir__park_announce(park, i);
	do {
		woken = SEARCHES;
		epoch = weir__park_epoch(park, i);
		if (weir__park_woken(park, i)) {
			count(&worker->wakes);
		} else if (anything(worker)) {
			if (!weir__park_cancel(park, i))
				count(&worker->wakes);
		} else {
			woken = sleep_or_poll(worker, epoch, &sleep);
		}
	} while (woken == ASLEEP);
	if (sleep.monitoring)
		weir__park_unmonitor(park);
	return woken == HAS_WORK;
}

static bool few_queued(const struct weir__worker *worker)
{
	uint64_t n = worker->ring.tail - worker->ring.head;
	const struct weir__node *task = worker->private.head;

	for (; task && n < POLLED_TASKS; task = task->next)
		n++;
	return n < POLLED_TASKS && !worker->overflow.head;
}

/*
 * See struct weir__thread. A worker with a few actors looks at them in turn
 * before they arm and it searches: an actor that is blocked, then unblocked and
 * submitted by another thread, costs both threads several times as much as a
 * look. Not where slices are long: idle actors would be offloaded. Nor while
 * another worker is awake, unless the actor is bound to this worker.
 */
static bool polls(void *worker_state)
{
	struct weir__worker *worker = worker_state;
	uint64_t useful = worker->slices - worker->empty;

	worker->empty++;
	if (worker->offloads || !few_queued(worker) || stopping(worker->pool))
		return false;
	/* Searching is better: another worker may have tasks to give away. */
	if (!worker->pinned && others_awake(worker->pool, true))
		return false;
	if (useful != worker->useful) {
		worker->useful = useful;
		worker->polled = 0;
	}
	if (++worker->polled > POLLS)
		return false;
	if (worker->polled > POLLS_AT_ONCE)
		ck_pr_stall();
	return true;
}

/*
 * A worker that other threads send tasks to waits for more, for about as long
 * as it takes to bounce one back and forth, before it counts as searching: the
 * count of searchers is one cache line for all workers, which would go back and
 * forth as well. True: a task came.
 */
static bool linger(struct weir__worker *worker)
{
	uint32_t i;

	for (i = 0; i < LINGER_STALLS && worker->lingers; i++) {
		if (collected(worker))
			return true;
		ck_pr_stall();
	}
	worker->lingers = false;
	return false;
}

static void *run(struct weir__worker *worker)
{
	struct weir_threads *pool = worker->pool;

	for (;;) {
		while (!spin(worker)) {
			if (stopping(pool))
				return NULL;
			if (park(worker))
				break;
		}
		found(worker);
		worker->calm_ns = worker->checked_ns;
		worker->check_at = worker->slices + worker->slices_between;
		do {
			work(worker);
		} while (linger(worker));
		worker->idle_ns = weir__clock_ns();
		weir__park_search(&pool->park);
	}
}

void *weir__worker_main(void *argument)
{
	struct weir__worker *worker = argument;

	/* May fail when the process was bound anew since: then unbound. */
	if (worker->pool->cpus)
		sched_setaffinity(0, sizeof(*worker->pool->cpus),
				  worker->pool->cpus[worker->index].sets);
	weir__thread.worker = true;
	weir__thread.running = true;
	weir__thread.worker_state = worker;
	weir__thread.polls = polls;
	weir__costs = &worker->costs;
	weir__thread.shard = &worker->shard;
	worker->slices_between = 1;
	worker->id = weir__thread_id();
	/* release: the id; pairs with the acquire in threads.c, see_worker() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&worker->state, &weir__thread);
	return run(worker);
}
