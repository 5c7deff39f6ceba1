/* SPDX-License-Identifier: BSD-2-Clause */
/* How the end of an executor comes to its actors. */
#include <ck_pr.h>

#include "actor/gate.h"
#include "executor/executor.h"

static bool task_tryref(struct weir_task *task)
{
	struct weir_actor *actor =
		weir_container_of(task, struct weir_actor, task);
	uint32_t refs = ck_pr_load_32(&actor->refs);

	/* relaxed: the registry's lock keeps the memory there meanwhile */
	while (refs)
		if (ck_pr_cas_32_value(&actor->refs, refs, refs + 1, &refs))
			return true;
	return false;
}

static void task_unref(struct weir_task *task)
{
	weir_actor_unref(weir_container_of(task, struct weir_actor, task));
}

static void task_end(struct weir_task *task, enum weir__phase phase)
{
	weir__actor_signal(weir_container_of(task, struct weir_actor, task),
			   phase == WEIR__ABORTING ? WEIR__SIGNAL_ABORT
						   : WEIR__SIGNAL_DRAIN);
}

static const struct weir__task_ops actors = {
	.tryref = task_tryref,
	.unref = task_unref,
	.end = task_end,
};

int weir_executor_end_async(struct weir_executor *executor,
			    struct weir_ending *drain, uint64_t deadline_ns)
{
	return weir__executor_end(executor, drain, deadline_ns, WEIR__DRAINING,
				  &actors);
}

int weir_executor_stop_async(struct weir_executor *executor,
			     struct weir_ending *drain, uint64_t deadline_ns)
{
	return weir__executor_end(executor, drain, deadline_ns, WEIR__ABORTING,
				  &actors);
}
