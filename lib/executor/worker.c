/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a worker does: it runs the tasks it has; when it has none it takes what
 * came from outside, then what has waited too long with another worker; then
 * it sleeps. A task is moved only when it has waited steal_ns, because moving
 * it, and all that it works on, costs about that much.
 *
 * Waiting is measured without a time per task: a mark says "at this time the
 * ring's tail stood there". While its front has not come that far, what is
 * there has waited since then.
 */
#include "executor/worker.h"

#define MARK_UNIT_NS 1024u	    /* of the time in a mark */
#define SPIN_STALLS 16u		    /* between two looks at the inboxes */
#define LOOK_MIN_NS 1000u	    /* between two looks at other workers */
#define WATCH_MIN_NS (200 * 1000u)  /* the watcher's first sleep */
#define WATCH_MAX_NS (2000 * 1000u) /* and its longest */
#define SLICES_MAX 64u		    /* slices between two looks at the clock */

static void count(uint64_t *counter)
{
	/* relaxed: we alone write it; readers want a snapshot */
	ck_pr_store_64(counter, *counter + 1);
}

/* 32 bits of the tail and 32 of the time, which wraps in more than an hour. */
static uint64_t mark_make(uint64_t tail, uint64_t now_ns)
{
	return tail << 32 | (uint32_t)(now_ns / MARK_UNIT_NS);
}

/*
 * True: what is in front of the worker's ring has waited for steal_ns. Else
 * this may set a mark. Any thread; the answer is a hint, for which the order
 * of the loads does not matter.
 */
static bool overdue(struct weir__worker *worker, uint64_t now_ns)
{
	uint64_t tail = ck_pr_load_64(&worker->ring.tail);
	uint64_t front = weir__ring_front(&worker->ring);
	uint64_t mark = ck_pr_load_64(&worker->mark);
	uint32_t waited = (uint32_t)(now_ns / MARK_UNIT_NS) - (uint32_t)mark;

	if ((int64_t)(tail - front) <= 0)
		return false;
	if ((int32_t)((uint32_t)(mark >> 32) - (uint32_t)front) <= 0) {
		ck_pr_store_64(&worker->mark, mark_make(tail, now_ns));
		return false;
	}
	/* A mark made later than now_ns was read is not an old one. */
	return (int32_t)waited >= 0 &&
	       waited >= worker->pool->steal_ns / MARK_UNIT_NS;
}

/* The next of the other workers whose queue moves too slowly, or NULL. */
static struct weir__worker *find_victim(struct weir__worker *worker,
					uint64_t now_ns)
{
	struct weir__worker *first = worker - worker->index, *other;
	uint32_t n = ck_pr_load_32(&worker->pool->running), i;

	for (i = 0; i < n; i++) {
		if (++worker->victim >= n)
			worker->victim = 0;
		other = first + worker->victim;
		if (other != worker && overdue(other, now_ns))
			return other;
	}
	return NULL;
}

/* Takes one overdue task from another worker. */
static bool steal(struct weir__worker *worker, uint64_t now_ns)
{
	struct weir__worker *victim = find_victim(worker, now_ns);
	struct weir_task *task;

	if (!victim)
		return false;
	worker->victim--; /* there may be more: begin with the same one */
	task = weir__ring_steal(&victim->ring);
	if (!task)
		return false;
	count(&worker->steals);
	weir__worker_push(worker, task);
	return true;
}

/* A look only, which leaves the lines shared. */
static bool something_came(const struct weir__worker *worker)
{
	return !weir__inbox_empty(&worker->inbox) ||
	       !weir__inbox_empty(&worker->pool->inbox);
}

/* Takes what came from outside. */
static void collect(struct weir__worker *worker)
{
	struct weir_task *task = weir__inbox_take(&worker->inbox), *next;

	for (; task; task = next) {
		next = task->next;
		weir__fifo_push(&worker->private, task);
	}
	if (weir__inbox_empty(&worker->pool->inbox))
		return;
	for (task = weir__inbox_take(&worker->pool->inbox); task; task = next) {
		next = task->next;
		weir__worker_push(worker, task);
	}
}

/* False: nothing came, or others took it. */
static bool collected(struct weir__worker *worker)
{
	if (!something_came(worker))
		return false;
	collect(worker);
	return worker->private.head || worker->ring.tail != worker->ring.head;
}

/* Moves on to the ring, in order, what found it full. */
static void refill(struct weir__worker *worker)
{
	struct weir__fifo *overflow = &worker->overflow;

	while (overflow->head) {
		/* Read next before the push: a thief may have it then. */
		struct weir_task *task = overflow->head, *next = task->next;

		if (!weir__ring_push(&worker->ring, task))
			return;
		overflow->head = next;
	}
}

static struct weir_task *next_task(struct weir__worker *worker)
{
	struct weir_task *task;

	worker->private_next = !worker->private_next;
	if (WEIR_UNLIKELY(worker->private.head) && worker->private_next)
		return weir__fifo_pop(&worker->private);
	task = weir__ring_pop(&worker->ring);
	if (WEIR_UNLIKELY(worker->overflow.head)) {
		refill(worker);
		if (!task) /* thieves took the rest */
			task = weir__ring_pop(&worker->ring);
	}
	return task ? task : weir__fifo_pop(&worker->private);
}

/*
 * The worker's own look at its queue: if what is in front is overdue, somebody
 * else should take it. Reads the clock about four times in steal_ns, so with
 * short slices seldom: `slices_between` follows the length of the last ones.
 */
static void check(struct weir__worker *worker)
{
	uint64_t now = weir__clock_ns();
	uint64_t passed = now - worker->checked_ns;
	uint64_t wanted = worker->pool->steal_ns / 4;

	worker->checked_ns = now;
	worker->slices_between =
		passed > wanted
			? (uint32_t)(worker->slices_between * wanted / passed)
			: worker->slices_between * 2;
	if (worker->slices_between < 1)
		worker->slices_between = 1;
	if (worker->slices_between > SLICES_MAX)
		worker->slices_between = SLICES_MAX;
	worker->slices_left = worker->slices_between;
	/* No fence: who is missed now is woken at the next check. */
	if (overdue(worker, now))
		weir__park_wake_one(&worker->pool->park);
}

/* Runs tasks until there are none. */
static void work(struct weir__worker *worker)
{
	struct weir_task *task;

	worker->slices_left = worker->slices_between;
	do {
		while ((task = next_task(worker))) {
			weir_task_run(task);
			count(&worker->slices);
			if (WEIR_UNLIKELY(something_came(worker)))
				collect(worker);
			if (--worker->slices_left == 0)
				check(worker);
		}
	} while (collected(worker));
}

static bool others_awake(const struct weir_threads *pool, bool self)
{
	return weir__park_idle(&pool->park) + self <
	       ck_pr_load_32(&pool->running);
}

/*
 * The worker has found something. If nobody else searches, somebody may have
 * to: for what else there is, or to watch those that are busy.
 */
static void found(struct weir__worker *worker)
{
	struct weir_threads *pool = worker->pool;

	if (!weir__park_found(&pool->park))
		return;
	if (!weir__inbox_empty(&pool->inbox) ||
	    (!ck_pr_load_32(&pool->park.watched) &&
	     (worker->ring.tail - worker->ring.head > 1 ||
	      others_awake(pool, true))))
		weir__park_wake_one(&pool->park);
}

static bool stopping(const struct weir_threads *pool)
{
	return ck_pr_load_32(&pool->stop);
}

/* Something to do, for a worker that is about to sleep. */
static bool anything(struct weir__worker *worker)
{
	return something_came(worker) || stopping(worker->pool) ||
	       find_victim(worker, weir__clock_ns());
}

static void stall(void)
{
	uint32_t i;

	for (i = 0; i < SPIN_STALLS; i++)
		ck_pr_stall();
}

/*
 * Looks for work for spin_ns, and at the rings of others seldom: each look
 * takes a line away from somebody who is busy.
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
			worker->looked_ns = now;
			if (steal(worker, now))
				return true;
		}
		if (stopping(pool))
			return false;
		stall();
		now = weir__clock_ns();
	} while (now - start < pool->spin_ns);
	return false;
}

/* All slices run so far: whether the pool was idle between two looks. */
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
 * How an idle worker sleeps: for ever, or, if it is the watcher, until it has
 * to look at the others again.
 */
struct sleep {
	bool watching;
	uint64_t timeout_ns; /* of the watcher's next sleep */
	uint64_t slices;     /* at its last look */
};

/*
 * Whether to watch. The watcher stays on while slices are run, though nobody
 * is awake when it looks: a pool that works a little at a time would wake
 * another watcher each time.
 */
static bool decide(struct weir__worker *worker, struct sleep *sleep)
{
	struct weir_threads *pool = worker->pool;
	uint64_t slices = all_slices(worker);
	bool active = others_awake(pool, false) ||
		      (sleep->watching && slices != sleep->slices);

	sleep->slices = slices;
	if (sleep->watching && !active) {
		weir__park_unwatch(&pool->park);
		sleep->watching = false;
		active = others_awake(pool, false); /* park.c, claim 7 */
	}
	if (active && !sleep->watching)
		sleep->watching = weir__park_watch(&pool->park);
	return sleep->watching;
}

/* Sleeps until there may be something to do; awake again it searches. */
static void park(struct weir__worker *worker)
{
	struct weir__park *park = &worker->pool->park;
	struct sleep sleep = {.timeout_ns = WATCH_MIN_NS};
	uint32_t i = worker->index, epoch;

	weir__park_announce(park, i);
	count(&worker->parks);
	for (;;) {
		epoch = weir__park_epoch(park, i);
		if (weir__park_woken(park, i)) {
			count(&worker->wakes);
			break;
		}
		if (anything(worker)) {
			if (!weir__park_cancel(park, i))
				count(&worker->wakes);
			break;
		}
		if (!decide(worker, &sleep)) {
			weir__park_sleep(park, i, epoch, WEIR_FOREVER);
		} else if (!weir__park_sleep(park, i, epoch,
					     sleep.timeout_ns)) {
			if (sleep.timeout_ns < WATCH_MAX_NS)
				sleep.timeout_ns *= 2;
		}
	}
	if (sleep.watching)
		weir__park_unwatch(park);
}

static void *run(struct weir__worker *worker)
{
	struct weir_threads *pool = worker->pool;

	for (;;) {
		while (!spin(worker)) {
			if (stopping(pool))
				return NULL;
			park(worker);
		}
		found(worker);
		work(worker);
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
	weir__thread.worker_state = worker;
	worker->slices_between = 1;
	return run(worker);
}
