/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two intrusive lists of tasks. One, for a thread or a lock, is a fifo. An
 * inbox is a mailbox of tasks: any thread pushes, one worker takes it whole.
 */
#ifndef WEIR_EXECUTOR_INBOX_H
#define WEIR_EXECUTOR_INBOX_H

#include <assert.h>
#include <stddef.h>

#include <weir/executor.h>

#include "base/fifo.h"
#include "base/mailbox.h"

/* A task stands for a node. */
static_assert(offsetof(struct weir_task, next) == 0 &&
		      sizeof(struct weir_task) == sizeof(struct weir__node),
	      "a task is a pointer to the next one");

static inline void weir__tasks_push(struct weir__fifo *tasks,
				    struct weir_task *task)
{
	weir__fifo_push(tasks, (struct weir__node *)task);
}

/* NULL: there is none. */
static inline struct weir_task *weir__tasks_pop(struct weir__fifo *tasks)
{
	return (struct weir_task *)weir__fifo_pop(tasks);
}

/* Any thread. The task may run, and be gone, before this returns. */
static inline void weir__inbox_push(struct weir__mailbox *inbox,
				    struct weir_task *task)
{
	(void)weir__mailbox_push(inbox, (struct weir__node *)task);
}

/* By a worker: everything, linked by next, oldest first; NULL if empty. */
static inline struct weir_task *weir__inbox_take(struct weir__mailbox *inbox)
{
	return (struct weir_task *)weir__mailbox_take(inbox);
}

#endif
