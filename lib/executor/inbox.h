/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two intrusive lists of tasks. A fifo is private to one thread. An inbox is a
 * mailbox of tasks: any thread pushes, one worker takes it whole.
 */
#ifndef WEIR_EXECUTOR_INBOX_H
#define WEIR_EXECUTOR_INBOX_H

#include <assert.h>
#include <stddef.h>

#include <weir/executor.h>

#include "base/mailbox.h"

struct weir__fifo {
	struct weir_task *head; /* NULL: empty */
	struct weir_task *tail; /* valid unless empty */
};

static inline void weir__fifo_push(struct weir__fifo *fifo,
				   struct weir_task *task)
{
	task->next = NULL;
	if (fifo->head)
		fifo->tail->next = task;
	else
		fifo->head = task;
	fifo->tail = task;
}

/* NULL: it is empty. */
static inline struct weir_task *weir__fifo_pop(struct weir__fifo *fifo)
{
	struct weir_task *task = fifo->head;

	if (task)
		fifo->head = task->next;
	return task;
}

/* A task stands for a node. */
static_assert(offsetof(struct weir_task, next) == 0 &&
		      sizeof(struct weir_task) == sizeof(struct weir__node),
	      "a task is a pointer to the next one");

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
