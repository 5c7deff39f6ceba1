/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mutex+condvar: the bounded queue everybody writes first, between the fused
 * halves of the pipeline, item by item. Not a limit but the floor: what the
 * rings are there to beat. With one worker the same queue is filled and drained
 * by turns, so it never blocks and only the locks and signals are paid.
 */
#include <pthread.h>

#include "fused.h"
#include "who.h"

struct pipeline {
	struct fused fused;
	pthread_mutex_t mutex;
	pthread_cond_t not_full, not_empty;
	unsigned window;
	uint64_t put, take;
	void **slots;
	bool may_block;
};

static uint64_t fill(void *argument)
{
	struct pipeline *p = argument;
	struct fused *fused = &p->fused;
	uint64_t first = fused->next;

	while (fused->next < fused->items) {
		void *item;

		/* Without a second thread the indices stand still here. */
		if (!p->may_block && p->put - p->take == p->window)
			break;
		item = fused_make(fused, fused->next);
		pthread_mutex_lock(&p->mutex);
		while (p->put - p->take == p->window)
			pthread_cond_wait(&p->not_full, &p->mutex);
		p->slots[p->put++ & (p->window - 1)] = item;
		pthread_cond_signal(&p->not_empty);
		pthread_mutex_unlock(&p->mutex);
		fused->next++;
	}
	return fused->next - first;
}

static uint64_t drain(void *argument)
{
	struct pipeline *p = argument;
	uint64_t n = 0;

	while (p->fused.got.count < p->fused.items) {
		uintptr_t x;
		void *item;

		if (!p->may_block && p->put == p->take)
			break;
		pthread_mutex_lock(&p->mutex);
		while (p->put == p->take)
			pthread_cond_wait(&p->not_empty, &p->mutex);
		item = p->slots[p->take++ & (p->window - 1)];
		pthread_cond_signal(&p->not_full);
		pthread_mutex_unlock(&p->mutex);
		x = fused_pass(&p->fused, item);
		fused_count(&p->fused, 1, x, x);
		n++;
	}
	return n;
}

static void run_before(void *argument)
{
	fill(argument);
}

static void run_behind(void *argument)
{
	drain(argument);
}

int limits_mutex(const struct bench_cell *cell, uint64_t items,
		 struct bench_result *result)
{
	struct pipeline p = {
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.not_full = PTHREAD_COND_INITIALIZER,
		.not_empty = PTHREAD_COND_INITIALIZER,
		.window = cell->window,
		.may_block = cell->workers == 2,
	};
	uint64_t elapsed_ns;

	fused_init(&p.fused, cell, items);
	p.slots = bench_alloc(p.window * sizeof(*p.slots));
	if (p.may_block)
		elapsed_ns = bench_pair(run_before, run_behind, &p);
	else
		elapsed_ns = fused_by_turns(fill, drain, &p.fused, &p);
	*result = p.fused.got;
	result->elapsed_ns = elapsed_ns;
	bench_free(p.slots);
	fused_fini(&p.fused);
	return 0;
}
