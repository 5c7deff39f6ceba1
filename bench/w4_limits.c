/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W4's limits. L0.calls: each worker calls its part of the jobs, nothing
 * between.
 *
 * L1.ring1: ck_rings item by item. Workers take jobs from one and put those
 * that have ended into another; who finds no job is the manager, if nobody else
 * is: it lets those that have ended queue again, and as many of the queue begin
 * as the window has room for. L1.park: the same, but a worker that has found
 * nothing for as long as a wake across cores costs sleeps on a futex.
 *
 * mutex+condvar: the queue and the count of those under way behind a mutex.
 */
#include <ck_ring.h>
#include <pthread.h>

#include "sleeper.h"
#include "w4.h"
#include "who.h"

#define WAKE_NS 46000

struct limit {
	struct w4 w4;
	struct w4_job *jobs;
	unsigned n_jobs;
	unsigned window, n_workers;
	bool parks;
	uint64_t end_ns; /* the last one's */
	/* of the manager's */
	_Alignas(BENCH_CACHELINE) uint32_t managed;
	unsigned n_under_way;
	ck_ring_t queue;
	ck_ring_buffer_t *queue_slots;
	/* jobs that may begin; jobs that have ended */
	_Alignas(BENCH_CACHELINE) ck_ring_t begin;
	ck_ring_buffer_t *begin_slots;
	_Alignas(BENCH_CACHELINE) ck_ring_t ended;
	ck_ring_buffer_t *ended_slots;
	struct sleeper sleepers[BENCH_MAX_WORKERS];
	/* mutex+condvar */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct w4_job **waiting;
	uint64_t put, take;
};

static bool is_over(const struct limit *l)
{
	return ck_pr_load_32(&l->w4.left) == 0;
}

static void stop_clock(struct limit *l)
{
	l->end_ns = bench_now_ns();
}

static void add_thread(struct limit *l, uint64_t start_ns)
{
	ck_pr_add_64(&l->w4.cpu_ns, w4_thread_ns() - start_ns);
}

static struct limit *limit_new(const struct bench_cell *cell, uint64_t items)
{
	struct limit *l = bench_alloc(sizeof(*l));

	w4_init(&l->w4, cell, items);
	l->window = cell->window;
	l->n_workers = cell->workers;
	l->jobs = bench_alloc(W4_QUEUE * sizeof(*l->jobs));
	for (unsigned i = 0; i < W4_QUEUE; i++)
		l->n_jobs += w4_job_init(&l->jobs[i], &l->w4, i);
	return l;
}

/* Runs the workers. */
static void measure(struct limit *l, void (*first)(void *l),
		    void (*second)(void *l), struct bench_result *result)
{
	uint64_t start_ns = bench_now_ns();

	if (l->n_workers == 2) {
		/* from when both threads run */
		result->elapsed_ns = bench_pair(first, second, l);
	} else {
		first(l);
		result->elapsed_ns = l->end_ns - start_ns;
	}
	for (unsigned i = 0; i < W4_QUEUE; i++)
		w4_add(&l->jobs[i], result);
	w4_figures(&l->w4, result);
}

static void limit_free(struct limit *l)
{
	bench_free(l->jobs);
	bench_free(l);
}

/* --- L0.calls ------------------------------------------------------------- */

static void call(struct limit *l, unsigned worker)
{
	uint64_t start_ns = w4_thread_ns();

	for (unsigned i = worker; i < l->n_jobs; i += l->n_workers) {
		struct w4_job *job = &l->jobs[i];

		do
			w4_do(job);
		while (w4_goes_on(job));
		if (w4_ends(job))
			stop_clock(l);
	}
	add_thread(l, start_ns);
}

static void call_first(void *l)
{
	call(l, 0);
}

static void call_second(void *l)
{
	call(l, 1);
}

int w4_calls(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	struct limit *l = limit_new(cell, items);

	measure(l, call_first, call_second, result);
	limit_free(l);
	return 0;
}

/* --- L1.ring1, L1.park ---------------------------------------------------- */

/* Manager: how many may begin. */
static unsigned manage(struct limit *l)
{
	unsigned n = 0;
	void *item;

	while (ck_ring_dequeue_mpsc(&l->ended, l->ended_slots, &item)) {
		struct w4_job *job = item;

		l->n_under_way--;
		if (w4_goes_on(job))
			ck_ring_enqueue_spsc(&l->queue, l->queue_slots, job);
		else if (w4_ends(job))
			stop_clock(l);
	}
	while (l->n_under_way < l->window &&
	       ck_ring_dequeue_spsc(&l->queue, l->queue_slots, &item)) {
		ck_ring_enqueue_spmc(&l->begin, l->begin_slots, item);
		l->n_under_way++;
		n++;
	}
	return n;
}

static unsigned try_manage(struct limit *l)
{
	unsigned n;

	if (ck_pr_load_32(&l->managed) || ck_pr_fas_32(&l->managed, 1))
		return 0;
	/* acquire: what the last manager did */
	ck_pr_fence_atomic_load();
	n = manage(l);
	/* release: for the next one */
	ck_pr_fence_release();
	ck_pr_store_32(&l->managed, 0);
	return n;
}

static void wake_all(struct limit *l)
{
	/* pairs with the fence in sleeper_wait() */
	ck_pr_fence_store_load();
	for (unsigned i = 0; i < l->n_workers; i++)
		sleeper_wake(&l->sleepers[i]);
}

/* Whether there may be something to do. */
static bool look(void *argument)
{
	struct limit *l = argument;

	return is_over(l) || ck_ring_size(&l->begin) > 0 ||
	       (ck_ring_size(&l->ended) > 0 && !ck_pr_load_32(&l->managed));
}

static void rest(struct limit *l, unsigned worker, uint64_t *idle_ns)
{
	if (!l->parks)
		return;
	if (*idle_ns == 0)
		*idle_ns = bench_real_ns() + WAKE_NS;
	else if (bench_real_ns() > *idle_ns)
		sleeper_wait(&l->sleepers[worker], look, l);
}

static void work(struct limit *l, unsigned worker)
{
	uint64_t idle_ns = 0, start_ns = w4_thread_ns();
	unsigned n_idle = 0;
	void *item;

	while (!is_over(l)) {
		if (ck_ring_dequeue_spmc(&l->begin, l->begin_slots, &item)) {
			w4_do(item);
			ck_ring_enqueue_mpsc(&l->ended, l->ended_slots, item);
			n_idle = 0;
			idle_ns = 0;
		} else if (try_manage(l) > 0) {
			if (l->parks)
				wake_all(l);
		} else {
			bench_spin(&n_idle);
			rest(l, worker, &idle_ns);
		}
	}
	if (l->parks)
		wake_all(l);
	add_thread(l, start_ns);
}

static void work_first(void *l)
{
	work(l, 0);
}

static void work_second(void *l)
{
	work(l, 1);
}

static ck_ring_buffer_t *slots(ck_ring_t *ring, unsigned n)
{
	ck_ring_init(ring, n);
	return bench_alloc(n * sizeof(ck_ring_buffer_t));
}

static int run_rings(const struct bench_cell *cell, uint64_t items, bool parks,
		     struct bench_result *result)
{
	struct limit *l = limit_new(cell, items);

	l->parks = parks;
	/* of n slots a ring uses n - 1 */
	l->queue_slots = slots(&l->queue, 2 * W4_QUEUE);
	l->begin_slots = slots(&l->begin, 2 * l->window);
	l->ended_slots = slots(&l->ended, 2 * l->window);
	for (unsigned i = 0; i < l->n_jobs; i++)
		ck_ring_enqueue_spsc(&l->queue, l->queue_slots, &l->jobs[i]);
	measure(l, work_first, work_second, result);
	bench_free(l->ended_slots);
	bench_free(l->begin_slots);
	bench_free(l->queue_slots);
	limit_free(l);
	return 0;
}

int w4_ring1(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	return run_rings(cell, items, false, result);
}

int w4_park(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return run_rings(cell, items, true, result);
}

/* --- mutex+condvar -------------------------------------------------------- */

static void queue(struct limit *l, struct w4_job *job)
{
	l->waiting[l->put++ % W4_QUEUE] = job;
}

static void work_locked(void *argument)
{
	struct limit *l = argument;
	uint64_t start_ns = w4_thread_ns();
	struct w4_job *job;

	pthread_mutex_lock(&l->mutex);
	for (;;) {
		while (!is_over(l) &&
		       (l->put == l->take || l->n_under_way == l->window))
			pthread_cond_wait(&l->changed, &l->mutex);
		if (is_over(l))
			break;
		job = l->waiting[l->take++ % W4_QUEUE];
		l->n_under_way++;
		pthread_mutex_unlock(&l->mutex);
		w4_do(job);
		pthread_mutex_lock(&l->mutex);
		l->n_under_way--;
		if (w4_goes_on(job))
			queue(l, job);
		else if (w4_ends(job))
			stop_clock(l);
		pthread_cond_signal(&l->changed);
	}
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->mutex);
	add_thread(l, start_ns);
}

int w4_mutex(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	struct limit *l = limit_new(cell, items);

	pthread_mutex_init(&l->mutex, NULL);
	pthread_cond_init(&l->changed, NULL);
	l->waiting = bench_alloc(W4_QUEUE * sizeof(*l->waiting));
	for (unsigned i = 0; i < l->n_jobs; i++)
		queue(l, &l->jobs[i]);
	measure(l, work_locked, work_locked, result);
	bench_free(l->waiting);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->mutex);
	limit_free(l);
	return 0;
}
