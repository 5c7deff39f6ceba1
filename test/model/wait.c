/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting and waking, under all interleavings. What was waited with is
 * overwritten as soon as the wait is over, and the executor that was run
 * meanwhile is freed: a waker that touches either too late is found.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fence.h"
#include "base/futex.h"
#include "base/lock.h"
#include "executor/wait.h"
#include "runner.h"

#define REUSED 77u

/* An executor that its owner steps: sleeps until woken. */
struct stepped {
	struct weir_executor executor;
	struct weir__owned owned;
	uint32_t woken;
};

static struct world {
	struct weir__lock lock;
	struct weir__waiters list;
	uint32_t permits;
	uint32_t payload; /* plain: written before each wake */
	uint32_t taken;	  /* plain: what takers got, in all */
	struct weir__parked parked;
} world;

static struct stepped *of(struct weir_executor *executor)
{
	return weir_container_of(executor, struct stepped, executor);
}

static uint64_t now(struct weir_executor *executor)
{
	return 0;
}

static int step(struct weir_executor *executor, uint64_t timeout_ns)
{
	struct stepped *self = of(executor);
	bool woken;

	if (timeout_ns)
		weir__futex_wait(&self->woken, 0, timeout_ns);
	woken = ck_pr_fas_32(&self->woken, 0);
	/* As the loop: what was stored before a wake is seen after a step. */
	ck_pr_fence_atomic_load();
	return woken ? 0 : -ETIMEDOUT;
}

static void wake(struct weir_executor *executor)
{
	struct stepped *self = of(executor);

	weir__fence_full();
	ck_pr_fas_32(&self->woken, 1);
	weir__futex_wake(&self->woken, 1);
}

static const struct weir_executor_ops ops = {
	.now = now,
	.step = step,
	.wake = wake,
};

static void give(struct world *w)
{
	struct weir__waiter *waiter;

	weir__lock(&w->lock);
	waiter = weir__waiters_pop(&w->list);
	if (!waiter)
		w->permits++;
	weir__unlock(&w->lock);
	if (waiter)
		waiter->wake(waiter);
}

static int wait_in_list(struct world *w, struct weir__parked *parked,
			uint64_t timeout_ns)
{
	bool listed;
	int rc;

	rc = weir__wait(parked, timeout_ns);
	if (rc == 0)
		return 0;
	weir__lock(&w->lock);
	listed = weir__waiters_remove(&w->list, &parked->waiter);
	weir__unlock(&w->lock);
	if (listed)
		return rc;
	weir__parked_settle(parked);
	return 0;
}

static bool take(struct world *w, uint64_t timeout_ns)
{
	struct weir__parked *parked = &w->parked;
	bool had;
	int rc = 0;

	weir__parked_init(parked);
	/* the explorer runs all threads on one */
	parked->thread = NULL;
	weir__lock(&w->lock);
	had = w->permits > 0;
	if (had)
		w->permits--;
	else
		weir__waiters_push(&w->list, &parked->waiter);
	weir__unlock(&w->lock);
	if (!had)
		rc = wait_in_list(w, parked, timeout_ns);
	/* A stack frame that is used again. */
	parked->waiter = (struct weir__waiter){NULL};
	parked->owned = NULL;
	ck_pr_store_32(&parked->word, REUSED);
	return rc == 0;
}

static void giver(void *context)
{
	struct world *w = context;

	w->payload = 1;
	give(w);
}

static void taker(void *context)
{
	struct world *w = context;

	explorer_assert(take(w, WEIR_FOREVER));
	explorer_assert(w->payload == 1);
	w->payload = 2;
}

static void impatient_taker(void *context)
{
	struct world *w = context;

	if (take(w, 0))
		w->taken++;
}

static void owner(void *context)
{
	struct world *w = context;
	struct stepped *stepped = explorer_alloc(sizeof(*stepped));

	stepped->executor.ops = &ops;
	stepped->owned.executor = &stepped->executor;
	weir__own(&stepped->owned);
	taker(w);
	weir__disown(&stepped->owned);
	explorer_free(stepped);
}

static void impatient_owner(void *context)
{
	struct world *w = context;
	struct stepped *stepped = explorer_alloc(sizeof(*stepped));

	stepped->executor.ops = &ops;
	stepped->owned.executor = &stepped->executor;
	weir__own(&stepped->owned);
	impatient_taker(w);
	weir__disown(&stepped->owned);
	explorer_free(stepped);
}

static void bare_giver(void *context)
{
	give(context);
}

static void frame_is_not_touched(void *context)
{
	struct world *w = context;

	explorer_assert(w->parked.word == REUSED);
}

static void one_permit_is_somewhere(void *context)
{
	struct world *w = context;

	frame_is_not_touched(w);

	explorer_assert(weir__waiters_empty(&w->list));
	explorer_assert(w->permits + w->taken == 1);
}

#define SCENARIO(...) \
	{ \
		.context = &world, .context_size = sizeof(world), __VA_ARGS__ \
	}

static const struct explorer_scenario scenarios[] = {
	SCENARIO(.name = "a thread sleeps", .thread = {taker, giver},
		 .check = frame_is_not_touched),
	SCENARIO(.name = "a thread runs what it owns", .thread = {owner, giver},
		 .check = frame_is_not_touched),
	SCENARIO(.name = "a thread gives up",
		 .thread = {impatient_taker, bare_giver},
		 .check = one_permit_is_somewhere),
	SCENARIO(.name = "an owner gives up",
		 .thread = {impatient_owner, bare_giver},
		 .check = one_permit_is_somewhere),
};

static const struct scene_group all = SCENE_GROUP(scenarios);

const struct model_case model_cases[] = {
	{.name = "no_wake_is_lost_and_nothing_touched_too_late",
	 .groups = GROUPS(&all)},
	{.name = "passes_under_tso",
	 .groups = GROUPS(&all),
	 .run = {.tso = true}},
	{.name = "every_fence_is_needed",
	 .groups = GROUPS(&all),
	 .files = "executor/wait.c"},
};
const size_t n_model_cases = N_OF(model_cases);
