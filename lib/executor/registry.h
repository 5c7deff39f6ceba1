/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is alive on an executor: needed to reach every actor when the executor
 * drains or aborts, and to say -EBUSY. Touched when an actor starts and when
 * it is released, never per turn.
 */
#ifndef WEIR_EXECUTOR_REGISTRY_H
#define WEIR_EXECUTOR_REGISTRY_H

#include <weir/executor.h>

#include "base/lock.h"

/*
 * States, and who moves them: running -> draining -> aborting, also running
 * -> aborting, by weir_executor_drain() and weir_executor_abort(); never back.
 */
enum weir__phase { WEIR__RUNNING, WEIR__DRAINING, WEIR__ABORTING };

struct weir__registry {
	struct weir__lock lock; /* over all but `dropped` */
	enum weir__phase phase;
	struct weir_task **tasks; /* NULL: free */
	uint32_t n_tasks, capacity;
	uint32_t *free; /* stack of free indices, n_free of them */
	uint32_t n_free;
	size_t alive; /* added and not done */
	struct weir_drain *drains;
	uint64_t dropped; /* atomic: items dropped undelivered */
};

/*
 * The task is alive from here on; its index in *index. -ESHUTDOWN: the
 * executor takes no more. -ENOMEM.
 */
int weir__registry_add(struct weir_executor *executor, struct weir_task *task,
		       uint32_t *index);

/* No broadcast reaches the task any more. Before its memory goes. */
void weir__registry_remove(struct weir_executor *executor, uint32_t index);

/* It is released: may complete a drain. The executor may be gone after. */
void weir__registry_done(struct weir_executor *executor);

void weir__registry_dropped(struct weir_executor *executor, uint64_t n_items);

/*
 * What tasks are is the actor layer's business, which defines these four.
 * run: as weir_task_run(), on a thread that does nothing else and has set
 * weir__thread.running; true: the caller submits the task again.
 * tryref: false when the task is on its way out.
 */
bool weir__task_run(struct weir_task *task);
bool weir__task_tryref(struct weir_task *task);
void weir__task_unref(struct weir_task *task);
void weir__task_end(struct weir_task *task, enum weir__phase phase);

#endif
