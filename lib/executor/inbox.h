/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two intrusive lists of tasks. A fifo is private to one thread. Into an inbox
 * any thread pushes; one worker takes it whole and gets the order of pushing
 * back, oldest first. Taking by exchange has no ABA: nothing is compared.
 */
#ifndef WEIR_EXECUTOR_INBOX_H
#define WEIR_EXECUTOR_INBOX_H

#include <stdbool.h>

#include <ck_pr.h>

#include <weir/executor.h>

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

struct weir__inbox {
	struct weir_task *newest;
};

/*
 * Any thread. The task may run, and be gone, before this returns. If the push
 * must be visible before the caller's next load, the caller passes
 * ck_pr_fence_atomic_load in between.
 */
static inline void weir__inbox_push(struct weir__inbox *inbox,
				    struct weir_task *task)
{
	struct weir_task *newest = ck_pr_load_ptr(&inbox->newest);

	do {
		/* A task that is alone was mostly alone the last time, too: its
		 * line stays shared. */
		if (task->next != newest)
			task->next = newest;
		/* release: publishes next and the task; pairs with the acquire
		 * in weir__inbox_take() */
		ck_pr_fence_release();
	} while (!ck_pr_cas_ptr_value(&inbox->newest, newest, task, &newest));
}

static inline bool weir__inbox_empty(const struct weir__inbox *inbox)
{
	return !ck_pr_load_ptr(&inbox->newest);
}

/* By a worker: everything, linked by next, oldest first; NULL if empty. */
static inline struct weir_task *weir__inbox_take(struct weir__inbox *inbox)
{
	struct weir_task *newest = ck_pr_fas_ptr(&inbox->newest, NULL);
	struct weir_task *oldest = NULL;

	/* acquire: pairs with the release in weir__inbox_push() */
	ck_pr_fence_acquire();
	while (newest) {
		struct weir_task *next = newest->next;

		if (next != oldest)
			newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

#endif
