/* SPDX-License-Identifier: BSD-2-Clause */
/* What all executors share: options, and how they end. */
#include <weir/executor.h>

#include <errno.h>

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

int weir__executor_init(struct weir_executor *executor,
			const struct weir_executor_ops *ops,
			const struct weir_executor_options *options)
{
	struct weir_executor made = {.ops = ops};
	int rc;

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
	rc = weir__living_open();
	if (rc < 0)
		return rc;
	made.registry = weir__registry_new(made.options.allocator);
	if (!made.registry)
		return -ENOMEM;
	*executor = made;
	return 0;
}

int weir_executor_init(struct weir_executor *executor,
		       const struct weir_executor_ops *ops,
		       const struct weir_executor_options *options)
{
	int rc = weir__executor_init(executor, ops, options);

	if (rc == 0)
		weir__executor_living(executor);
	return rc;
}

int weir_executor_fini(struct weir_executor *executor)
{
	int rc;

	if (!executor || !executor->registry)
		return -EINVAL;
	rc = weir__registry_await(executor);
	if (rc < 0)
		return rc;
	weir__living_remove(&executor->registry->living);
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

static void broadcast(struct weir__registry *registry, enum weir__phase phase)
{
	struct weir_task *tasks[WEIR__COLLECTED];
	uint32_t index = 0, n, i;

	weir__registry_fence(registry);
	while ((n = weir__registry_collect(registry, &index, tasks))) {
		for (i = 0; i < n; i++) {
			weir__task_ops()->end(tasks[i], phase);
			weir__task_ops()->unref(tasks[i]);
		}
	}
}

static int executor_end(struct weir_executor *executor,
			struct weir_ending *drain, uint64_t deadline_ns,
			enum weir__phase phase)
{
	int rc;

	if (!executor || !executor->registry || !drain || !drain->done)
		return -EINVAL;
	if (deadline_ns != WEIR_FOREVER && !executor->ops->timer_arm)
		return -ENOTSUP;
	rc = weir__registry_end(executor, drain, deadline_ns, phase);
	if (rc < 0)
		return rc;
	broadcast(executor->registry, phase);
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
