/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of the process manager's runners, under all interleavings of who
 * puts and two takers: everything put comes out once, ordered after its put,
 * though slots are used again, and nobody is parked while something is queued:
 * who waits for a wake that was lost waits for ever.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/futex.h"
#include "runner.h"
#include "process/call_queue.h"

#define N_TAKERS 2
#define CAPACITY 2
#define N_ITEMS 3

struct item {
	uint32_t payload; /* plain: the queue has to order it */
	uint32_t runs;
};

struct taker {
	uint32_t parked; /* also a futex */
};

static struct world {
	struct weir__queue queue;
	void *slots[CAPACITY];
	struct taker takers[N_TAKERS];
	struct item items[N_ITEMS];
	uint32_t n_done; /* atomic, a futex */
} world;

static void setup(void *context)
{
	struct world *w = context;

	w->queue.slots = w->slots;
	w->queue.mask = CAPACITY - 1;
	explorer_name(&w->queue, sizeof(w->queue), "queue");
	explorer_name(w->slots, sizeof(w->slots), "slots");
	explorer_name(w->takers, sizeof(w->takers), "takers");
}

static void wake(struct world *w, uint64_t n)
{
	uint32_t i;

	if (!weir__queue_has_parked(&w->queue))
		return;
	for (i = 0; i < N_TAKERS && n > 0; i++) {
		if (!weir__queue_wake(&w->queue, &w->takers[i].parked))
			continue;
		weir__futex_wake(&w->takers[i].parked, 1);
		n--;
	}
}

/* There is a slot when that many have been done. */
static void await_done(struct world *w, uint32_t n)
{
	uint32_t done = ck_pr_load_32(&w->n_done);

	for (; done < n; done = ck_pr_load_32(&w->n_done))
		weir__futex_wait(&w->n_done, done, UINT64_MAX);
	/* acquire: the places; pairs with the release in run() */
	ck_pr_fence_acquire();
}

static void put(struct world *w, uint32_t i)
{
	w->items[i].payload = 1;
	weir__queue_put(&w->queue, &w->items[i]);
}

static void publish(struct world *w)
{
	wake(w, weir__queue_publish(&w->queue));
}

static void close_queue(struct world *w)
{
	ck_pr_store_32(&w->queue.closed, 1);
	wake(w, N_TAKERS);
}

static void run(struct world *w, struct item *item)
{
	explorer_assert(item->payload == 1);
	item->payload = 2;
	item->runs++;
	/* release: the place */
	ck_pr_fence_release();
	ck_pr_inc_32(&w->n_done);
	weir__futex_wake(&w->n_done, 1);
}

static void rest(struct world *w, struct taker *self)
{
	weir__queue_park(&w->queue, &self->parked);
	while (ck_pr_load_32(&self->parked))
		weir__futex_wait(&self->parked, 1, UINT64_MAX);
}

static uint32_t take(struct world *w, uint32_t parts)
{
	void *items[CAPACITY];
	uint32_t n = weir__queue_take(&w->queue, items, CAPACITY, parts), i;

	for (i = 0; i < n; i++)
		run(w, items[i]);
	return n;
}

static void take_until_closed(void *context)
{
	struct world *w = context;

	while (take(w, 1) || !ck_pr_load_32(&w->queue.closed))
		if (weir__queue_idle(&w->queue))
			rest(w, &w->takers[1]);
}

static void take_all_once(void *context)
{
	take(context, 1);
}

static void take_half_twice(void *context)
{
	take(context, 2);
	take(context, 2);
}

/* It has rested, and goes away: it may have had the other one's wake. */
static void leave(void *context)
{
	struct world *w = context;

	weir__queue_park(&w->queue, &w->takers[0].parked);
	(void)weir__queue_wake(&w->queue, &w->takers[0].parked);
	wake(w, 1);
}

/* Two come one by one; who takes parks between. */
static void put_and_wait(void *context)
{
	struct world *w = context;

	put(w, 0);
	publish(w);
	put(w, 1);
	publish(w);
	await_done(w, 2);
	close_queue(w);
}

static void put_one_and_wait(void *context)
{
	struct world *w = context;

	put(w, 0);
	publish(w);
	await_done(w, 1);
	close_queue(w);
}

/* The third in the slot of the first, if that has been done. */
static void put_three(void *context)
{
	struct world *w = context;

	put(w, 0);
	put(w, 1);
	(void)weir__queue_publish(&w->queue);
	if (ck_pr_load_32(&w->n_done) == 0)
		return;
	/* acquire: the place; pairs with the release in run() */
	ck_pr_fence_acquire();
	put(w, 2);
	(void)weir__queue_publish(&w->queue);
}

static void each_has_run_once(void *context)
{
	struct world *w = context;
	uint32_t i;

	while (take(w, 1))
		;
	for (i = 0; i < N_ITEMS; i++)
		explorer_assert(w->items[i].runs == w->items[i].payload / 2);
	explorer_assert(w->items[0].runs == 1);
}

#define SCENARIO(...) \
	{ \
		.setup = setup, .check = each_has_run_once, .context = &world, \
		.context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "one taker, which parks",
		 .thread = {put_and_wait, take_until_closed}),
	SCENARIO(.name = "two takers, one of which leaves",
		 .thread = {put_one_and_wait, leave, take_until_closed}),
	SCENARIO(.name = "two takers, and a slot is used again",
		 .thread = {put_three, take_all_once, take_half_twice}),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

static const struct explorer_exception exceptions[] = {
	{"call_queue.h", "weir__queue_take", "ck_pr_fence_release", 0,
	 "keeps the copies before the swap; that they could come after "
	 "it, load buffering, is not modelled"},
};

const struct model_case model_cases[] = {
	{.name = "all_come_out_once_and_nobody_sleeps_too_long",
	 .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "lib/",
	 EXCEPTIONS(exceptions)},
};
const size_t n_model_cases = N_OF(model_cases);
