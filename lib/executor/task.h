/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks, which executors run without knowing what they are. The actor layer
 * tells in a table. There is one table in a process and not one for each
 * executor, since weir_task_run() is not told of which executor a task is, and
 * executors may hand tasks on to one another.
 */
#ifndef WEIR_EXECUTOR_TASK_H
#define WEIR_EXECUTOR_TASK_H

#include <assert.h>

#include <ck_pr.h>

#include <weir/executor.h>

#include "executor/thread.h"

/*
 * States, and who moves them: running -> draining -> aborting, also running ->
 * aborting, by weir_executor_end_async() and weir_executor_stop_async(); never
 * back.
 */
enum weir__phase { WEIR__RUNNING, WEIR__DRAINING, WEIR__ABORTING };

struct weir__task_ops {
	/* One slice. True: the task is to be submitted again. */
	bool (*run)(struct weir_task *task);
	/* Submits the task to its own executor. */
	void (*submit)(struct weir_task *task);
	/* False when the task is on its way out. Under the registry's lock. */
	bool (*tryref)(struct weir_task *task);
	void (*unref)(struct weir_task *task);
	/* Tells it to end. */
	void (*end)(struct weir_task *task, enum weir__phase phase);
	/*
	 * An actor that a trace has marked (WEIR__GATE_TRACED) is about to wait,
	 * at ports if `bits`, which its gate gets, are 0. Owner.
	 */
	void (*waits)(struct weir_task *task, uint32_t bits);
};

/*
 * Atomic. Set before main(), by whoever defines the table; while a trace runs
 * another table stands here. So a slice that nobody traces pays nothing: it
 * reads this word anyway.
 */
extern const struct weir__task_ops *weir__tasks
	__attribute__((visibility("hidden")));

static inline const struct weir__task_ops *weir__task_ops(void)
{
	/* no acquire: both tables are constant, and each is as good */
	return ck_pr_load_ptr(&weir__tasks);
}

static inline bool weir__task_slice(struct weir__thread *thread,
				    struct weir_task *task)
{
	bool again;

	thread->task = task;
	again = weir__task_ops()->run(task);
	thread->task = NULL;
	return again;
}

/* Runs the tasks that were put off meanwhile. */
void weir__task_run_pending(struct weir__thread *thread);

/*
 * As weir_task_run(), on a thread that does nothing else and has set
 * weir__thread.running. True: the caller submits the task again.
 */
static inline bool weir__task_run(struct weir_task *task)
{
	struct weir__thread *thread = &weir__thread;
	bool again = weir__task_slice(thread, task);

	assert(thread->running);
	if (WEIR_UNLIKELY(thread->pending_head))
		weir__task_run_pending(thread);
	return again;
}

/*
 * Between the two calls, tasks that this thread submits to an executor that
 * runs at once are put off until weir__let_go(), so that a thread that holds a
 * lock can submit. weir__let_go() takes what weir__hold_back() returned. They
 * nest.
 */
bool weir__hold_back(void);
void weir__let_go(bool held);

#endif
