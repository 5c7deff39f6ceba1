/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is done, and the drains that this completes. A drain is in the registry's
 * list from the call until a thread takes it out under the lock; that thread
 * completes it. A drain with a deadline is completed by the thread that gets
 * hold of its timer: by the last actor's thread if that can cancel the timer,
 * otherwise by the timer. The claims are in registry.h.
 */
#include "executor/registry_done.h"

#include <string.h>

#include <ck_pr.h>

#include "executor/registry.h"

void weir__registry_hold(struct weir_executor *executor)
{
	struct weir__registry *registry = executor->registry;

	weir__thread.holds++;
	weir__lock(&registry->lock);
	registry->alive++;
	weir__unlock(&registry->lock);
}

size_t weir__registry_alive(const struct weir__registry *registry)
{
	size_t alive = registry->alive;
	const struct weir__shard *shard;

	for (shard = registry->shards; shard; shard = shard->next)
		alive -= ck_pr_load_64(&shard->done);
	/* acquire: an actor that is counted as done is counted as started too,
	 * so the sum is never too small, and it has been released; pairs with
	 * the release in weir__registry_done() */
	ck_pr_fence_acquire();
	for (shard = registry->shards; shard; shard = shard->next)
		alive += ck_pr_load_64(&shard->started);
	return alive;
}

void weir__registry_dropped(struct weir_executor *executor, uint64_t n_items)
{
	/* relaxed: a counter, read later by the thread that completes a
	 * drain */
	if (n_items)
		ck_pr_add_64(&executor->registry->dropped, n_items);
}

static bool cancel_timer(struct weir_ending *drain)
{
	struct weir_executor *executor = drain->executor;

	return executor->ops->timer_cancel(executor, &drain->timer);
}

/*
 * Under the lock: takes a drain out that the last actor's thread may complete.
 */
static struct weir_ending *take_completed(struct weir__registry *registry)
{
	struct weir_ending **link = &registry->drains, *taken = NULL, *drain;

	while ((drain = *link)) {
		/* Its own executor's: a pool's workers have heads of theirs. */
		if (drain->timer.fire && !cancel_timer(drain)) {
			link = &drain->next; /* its timer will complete it */
			continue;
		}
		*link = drain->next;
		drain->next = taken;
		taken = drain;
	}
	return taken;
}

static void complete(struct weir_ending *drain, size_t alive, uint64_t dropped)
{
	drain->actors_left = alive;
	drain->items_dropped = (size_t)(dropped - drain->dropped_before);
	drain->done(drain);
}

static void complete_all(struct weir_ending *drain, uint64_t dropped)
{
	struct weir_ending *next;

	for (; drain; drain = next) {
		next = drain->next;
		complete(drain, 0, dropped);
	}
}

/* Under the lock: somebody is done. */
static void tell_awaiting(struct weir__registry *registry)
{
	if (!(registry->phase & WEIR__AWAITED))
		return;
	/* relaxed: its sleeper takes the lock before it reads anything else */
	ck_pr_store_32(&registry->departures, registry->departures + 1);
	weir__futex_wake(&registry->departures, 1);
}

/* Under the lock: claim 8, the caller is in the middle of something. */
static void enter(struct weir__registry *registry)
{
	registry->visitors++;
	weir__thread.holds++;
}

/*
 * Something has happened for which a thread that steps the executor may wait.
 */
static void wake_and_leave(struct weir_executor *executor)
{
	struct weir__registry *registry = executor->registry;

	if (executor->ops->wake)
		executor->ops->wake(executor);
	weir__thread.holds--;
	weir__lock(&registry->lock);
	registry->visitors--;
	tell_awaiting(registry);
	weir__unlock(&registry->lock);
}

void weir__registry_done_locked(struct weir_executor *executor, size_t n)
{
	struct weir__registry *registry = executor->registry;
	struct weir_ending *completed = NULL;
	bool visits = false;
	uint64_t dropped;

	weir__lock(&registry->lock);
	registry->alive -= n;
	tell_awaiting(registry);
	if (!weir__registry_alive(registry)) {
		completed = take_completed(registry);
		visits = completed || executor->ops->wake;
	}
	dropped = ck_pr_load_64(&registry->dropped);
	if (visits)
		enter(registry);
	weir__unlock(&registry->lock);
	complete_all(completed, dropped);
	if (visits)
		wake_and_leave(executor);
}

static void deadline(struct weir_timer *timer)
{
	struct weir_ending *drain =
		weir_container_of(timer, struct weir_ending, timer);
	struct weir_executor *executor = drain->executor;
	struct weir__registry *registry = executor->registry;
	struct weir_ending **link;
	uint64_t dropped;
	size_t alive;

	weir__lock(&registry->lock);
	for (link = &registry->drains; *link != drain;)
		link = &(*link)->next;
	*link = drain->next;
	alive = weir__registry_alive(registry);
	dropped = ck_pr_load_64(&registry->dropped);
	enter(registry);
	weir__unlock(&registry->lock);
	complete(drain, alive, dropped);
	wake_and_leave(executor);
}

int weir__registry_end(struct weir_executor *executor,
		       struct weir_ending *drain, uint64_t deadline_ns,
		       enum weir__phase phase)
{
	struct weir__registry *registry = executor->registry;
	int rc = 0;

	memset(&drain->timer, 0, sizeof(drain->timer));
	drain->executor = executor;
	weir__lock(&registry->lock);
	if (deadline_ns != WEIR_FOREVER) {
		drain->timer.fire = deadline;
		rc = executor->ops->timer_arm(executor, &drain->timer,
					      deadline_ns);
	}
	if (rc == 0) {
		if (weir__registry_phase(registry) < phase)
			ck_pr_store_32(&registry->phase,
				       (registry->phase & WEIR__PHASE_BITS) |
					       phase);
		drain->dropped_before = ck_pr_load_64(&registry->dropped);
		drain->next = registry->drains;
		registry->drains = drain;
		registry->alive++;
		weir__thread.holds++;
	}
	weir__unlock(&registry->lock);
	return rc;
}
