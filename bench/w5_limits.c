/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W5, limits: three stages on two pinned threads, of which one is the pacer,
 * with a queue before each stage whose slots tell by themselves whether they
 * hold a token: a hop between cores is the journey of one line.
 *
 * L1.spin: the stages are on the second thread, which spins, so one of the
 * three hops crosses between the cores.
 *
 * L1.cross: the pacer does the second stage's work while it waits: every hop
 * crosses, as in a chain with a core for each stage.
 *
 * L1.park0: as L1.spin, but who finds nothing sleeps at once.
 */
#include <errno.h>

#include "sleeper.h"
#include "support.h"
#include "w5.h"
#include "who.h"

/* A slot is 0, or a token. Of the indices each belongs to one side. */
struct queue {
	_Alignas(BENCH_CACHELINE) uint64_t n_put;
	_Alignas(BENCH_CACHELINE) uint64_t n_taken;
	_Alignas(BENCH_CACHELINE) uint64_t slots[W5_WINDOW];
};

struct chain {
	struct w5 *w5;
	struct queue queues[W5_STAGES]; /* before each stage */
	struct sleeper sleeper;
	bool crosses, sleeps;
};

static inline uint64_t *slot_of(struct queue *queue, uint64_t i)
{
	return &queue->slots[i & (W5_WINDOW - 1)];
}

static bool queued(void *argument)
{
	struct queue *queue = argument;

	return ck_pr_load_64(slot_of(queue, queue->n_taken)) != 0;
}

static bool full(struct queue *queue)
{
	return ck_pr_load_64(slot_of(queue, queue->n_put)) != 0;
}

static void queue_put(struct queue *queue, void *token)
{
	/* Nothing else is published: the token is all. */
	ck_pr_store_64(slot_of(queue, queue->n_put++), (uintptr_t)token);
}

/* There is one. */
static void *queue_take(struct queue *queue)
{
	uint64_t *slot = slot_of(queue, queue->n_taken++);
	uint64_t token = ck_pr_load_64(slot);

	ck_pr_store_64(slot, 0);
	return (void *)(uintptr_t)token;
}

/* A token through one of the first two stages. */
static bool pass(struct chain *chain, unsigned stage)
{
	struct queue *from = &chain->queues[stage], *to = from + 1;

	if (!queued(from) || full(to))
		return false;
	queue_put(to, w5_pass(queue_take(from)));
	return true;
}

static void pass_second(void *argument)
{
	(void)pass(argument, 1);
}

static bool take(struct chain *chain)
{
	struct queue *from = &chain->queues[W5_STAGES - 1];

	if (!queued(from))
		return false;
	w5_take(chain->w5, queue_take(from));
	return true;
}

static void put(void *argument, void *token)
{
	struct chain *chain = argument;
	struct queue *queue = &chain->queues[0];

	while (full(queue)) {
		if (chain->crosses)
			pass_second(chain); /* which may be what is full */
		ck_pr_stall();
	}
	queue_put(queue, token);
	if (chain->sleeps) {
		/* pairs with the fence in sleeper_wait() */
		ck_pr_fence_store_load();
		sleeper_wake(&chain->sleeper);
	}
}

static void run_pacer(void *argument)
{
	struct chain *chain = argument;
	struct w5 *w5 = chain->w5;

	w5_pace(w5, put, chain->crosses ? pass_second : NULL, chain);
	while (chain->crosses && chain->queues[1].n_taken < w5->items)
		pass_second(chain);
}

static void run_stages(void *argument)
{
	struct chain *chain = argument;
	struct w5 *w5 = chain->w5;

	while (w5->got.count < w5->items) {
		bool found = pass(chain, 0);

		if (!chain->crosses)
			found |= pass(chain, 1);
		found |= take(chain);
		if (!found && chain->sleeps)
			sleeper_wait(&chain->sleeper, queued,
				     &chain->queues[0]);
	}
}

static int run(uint64_t items, uint64_t interval_ns, bool crosses, bool sleeps,
	       struct bench_result *result)
{
	struct chain *chain = bench_alloc(sizeof(*chain));

	chain->w5 = w5_new(items, interval_ns);
	if (!chain->w5)
		return -EINVAL;
	chain->crosses = crosses;
	chain->sleeps = sleeps;
	(void)bench_pair(run_pacer, run_stages, chain);
	w5_finish(chain->w5, result);
	bench_free(chain);
	return 0;
}

int w5_spin(const struct bench_cell *cell, uint64_t items,
	    struct bench_result *result)
{
	return run(items, W5_BUSY_NS, false, false, result);
}

int w5_cross(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	return run(items, W5_BUSY_NS, true, false, result);
}

int w5_park0(const struct bench_cell *cell, uint64_t items,
	     struct bench_result *result)
{
	return run(items, W5_PARKED_NS, false, true, result);
}
