/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all executors share: options, drain and abort. A drain is in the
 * registry's list from the call until a thread takes it out under the lock;
 * that thread completes it. A drain with a deadline is completed by the thread
 * that gets hold of its timer: by the last actor's thread if that can cancel
 * the timer, otherwise by the timer.
 */
#include <weir/executor.h>

#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "base/memory.h"
#include "base/options.h"
#include "executor/registry.h"

static bool pair(bool first, bool second)
{
	return first == second;
}

static void set_defaults(struct weir_executor_options *options)
{
	if (!options->allocator)
		options->allocator = weir_allocator_default();
	if (!options->budget_turns)
		options->budget_turns = 2048;
	if (!options->budget_ns)
		options->budget_ns = 25 * 1000;
	if (!options->publish_ns)
		options->publish_ns = 5 * 1000;
}

int weir_executor_init(struct weir_executor *executor,
		       const struct weir_executor_ops *ops,
		       const struct weir_executor_options *options)
{
	struct weir_executor made = {.ops = ops};

	if (!executor || !ops || !ops->submit || !ops->now)
		return -EINVAL;
	if (!pair(ops->timer_arm, ops->timer_cancel) ||
	    !pair(ops->watch_arm, ops->watch_cancel) ||
	    !pair(ops->step, ops->wake))
		return -EINVAL;
	if (options)
		made.options = *options;
	set_defaults(&made.options);
	if (!weir__reserved_zero(made.options.reserved) ||
	    made.options.budget_turns > WEIR_BUDGET_MAX ||
	    !made.options.allocator->alloc || !made.options.allocator->free)
		return -EINVAL;
	made.registry = weir__registry_new(made.options.allocator);
	if (!made.registry)
		return -ENOMEM;
	*executor = made;
	return 0;
}

int weir_executor_fini(struct weir_executor *executor)
{
	int rc;

	if (!executor || !executor->registry)
		return -EINVAL;
	rc = weir__registry_await(executor);
	if (rc < 0)
		return rc;
	weir__registry_free(executor->options.allocator, executor->registry);
	executor->registry = NULL;
	return 0;
}

uint64_t weir_executor_now(struct weir_executor *executor)
{
	return executor->ops->now(executor);
}

size_t weir_executor_alive(struct weir_executor *executor)
{
	struct weir__registry *registry = executor->registry;
	size_t alive;

	weir__lock(&registry->lock);
	alive = weir__registry_alive(registry);
	weir__unlock(&registry->lock);
	return alive;
}

int weir_timer_arm(struct weir_executor *executor, struct weir_timer *timer,
		   uint64_t at_ns)
{
	if (!executor || !timer || !timer->fire)
		return -EINVAL;
	if (!executor->ops->timer_arm)
		return -ENOTSUP;
	return executor->ops->timer_arm(executor, timer, at_ns);
}

bool weir_timer_cancel(struct weir_executor *executor, struct weir_timer *timer)
{
	if (!executor || !timer || !executor->ops->timer_cancel)
		return false;
	return executor->ops->timer_cancel(executor, timer);
}

void weir__registry_dropped(struct weir_executor *executor, uint64_t n_items)
{
	/* relaxed: a counter, read later by the thread that completes a
	 * drain */
	if (n_items)
		ck_pr_add_64(&executor->registry->dropped, n_items);
}

/*
 * Under the lock: takes a drain out that the last actor's thread may complete.
 */
static struct weir_ending *take_completed(struct weir__registry *registry)
{
	struct weir_ending **link = &registry->drains, *taken = NULL, *drain;

	while ((drain = *link)) {
		/* Its own executor's: a pool's workers have heads of theirs. */
		if (drain->timer.fire &&
		    !weir_timer_cancel(drain->executor, &drain->timer)) {
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

static void broadcast(struct weir__registry *registry, enum weir__phase phase)
{
	struct weir_task *tasks[WEIR__COLLECTED];
	uint32_t index = 0, n, i;

	weir__registry_fence(registry);
	while ((n = weir__registry_collect(registry, &index, tasks))) {
		for (i = 0; i < n; i++) {
			weir__task_end(tasks[i], phase);
			weir__task_unref(tasks[i]);
		}
	}
}

/*
 * The caller counts as one more living actor until the broadcast is over, so
 * that the executor cannot be done, and gone, in the middle of it.
 */
static int executor_end(struct weir_executor *executor,
			struct weir_ending *drain, uint64_t deadline_ns,
			enum weir__phase phase)
{
	struct weir__registry *registry;
	bool timed = deadline_ns != WEIR_FOREVER;
	int rc = 0;

	if (!executor || !executor->registry || !drain || !drain->done)
		return -EINVAL;
	if (timed && !executor->ops->timer_arm)
		return -ENOTSUP;
	registry = executor->registry;
	memset(&drain->timer, 0, sizeof(drain->timer));
	drain->executor = executor;
	weir__lock(&registry->lock);
	if (timed) {
		drain->timer.fire = deadline;
		rc = executor->ops->timer_arm(executor, &drain->timer,
					      deadline_ns);
	}
	if (rc == 0) {
		if (weir__registry_phase(registry) < phase)
			ck_pr_store_32(&registry->phase,
				       (registry->phase & WEIR__AWAITED) |
					       phase);
		drain->dropped_before = ck_pr_load_64(&registry->dropped);
		drain->next = registry->drains;
		registry->drains = drain;
		registry->alive++;
	}
	weir__unlock(&registry->lock);
	if (rc < 0)
		return rc;
	weir__thread.holds++;
	broadcast(registry, phase);
	weir__registry_done(executor);
	return 0;
}

int weir_executor_end_async(struct weir_executor *executor,
			    struct weir_ending *drain, uint64_t deadline_ns)
{
	return executor_end(executor, drain, deadline_ns, WEIR__DRAINING);
}

int weir_executor_stop_async(struct weir_executor *executor,
			     struct weir_ending *drain, uint64_t deadline_ns)
{
	return executor_end(executor, drain, deadline_ns, WEIR__ABORTING);
}
