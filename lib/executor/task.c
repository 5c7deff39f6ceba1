/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An executor that runs at once, or that refuses, calls weir_task_run() inside
 * a slice. The task then waits in a list of the thread, so that the stack stays
 * flat.
 */
#include "executor/task.h"

const struct weir__task_ops *weir__tasks;

static __attribute__((noinline)) void put_off(struct weir__thread *thread,
					      struct weir_task *task)
{
	task->next = NULL;
	if (thread->pending_tail)
		thread->pending_tail->next = task;
	else
		thread->pending_head = task;
	thread->pending_tail = task;
}

void weir__task_run_pending(struct weir__thread *thread)
{
	bool (*outer)(void *worker_state) = thread->polls;
	struct weir_task *task;

	/* The pending actors do not poll: the worker runs no other task
	 * meanwhile. */
	thread->polls = NULL;
	while ((task = thread->pending_head)) {
		thread->pending_head = task->next;
		if (!thread->pending_head)
			thread->pending_tail = NULL;
		if (weir__task_slice(thread, task))
			weir__task_ops()->submit(task);
	}
	thread->polls = outer;
}

static inline void leave(struct weir__thread *thread)
{
	if (WEIR_UNLIKELY(thread->pending_head))
		weir__task_run_pending(thread);
	thread->running = false;
}

void weir_task_run(struct weir_task *task)
{
	struct weir__thread *thread = &weir__thread;

	if (WEIR_UNLIKELY(thread->running)) {
		put_off(thread, task);
		return;
	}
	thread->running = true;
	if (weir__task_slice(thread, task))
		weir__task_ops()->submit(task);
	leave(thread);
}

bool weir__hold_back(void)
{
	bool held = weir__thread.running;

	weir__thread.running = true;
	return held;
}

void weir__let_go(bool held)
{
	if (!held)
		leave(&weir__thread);
}
