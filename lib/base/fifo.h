/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list, first in, first out. What is in it has a node, or begins with a
 * pointer to the next one. A list has no lock: what it belongs to has one, or
 * one thread.
 */
#ifndef WEIR_BASE_FIFO_H
#define WEIR_BASE_FIFO_H

#include <stddef.h>

#include <weir/private.h>

/* All zero is empty. */
struct weir__fifo {
	struct weir__node *head; /* NULL: empty */
	struct weir__node *tail; /* valid unless empty */
};

static inline void weir__fifo_push(struct weir__fifo *fifo,
				   struct weir__node *node)
{
	node->next = NULL;
	if (fifo->head)
		fifo->tail->next = node;
	else
		fifo->head = node;
	fifo->tail = node;
}

/* Adds a node that is popped next. */
static inline void weir__fifo_push_first(struct weir__fifo *fifo,
					 struct weir__node *node)
{
	node->next = fifo->head;
	if (!fifo->head)
		fifo->tail = node;
	fifo->head = node;
}

/* NULL: it is empty. */
static inline struct weir__node *weir__fifo_pop(struct weir__fifo *fifo)
{
	struct weir__node *node = fifo->head;

	if (node)
		fifo->head = node->next;
	return node;
}

/* Moves all of `from` to the end of `to`. */
static inline void weir__fifo_append(struct weir__fifo *to,
				     struct weir__fifo *from)
{
	if (!from->head)
		return;
	if (to->head)
		to->tail->next = from->head;
	else
		to->head = from->head;
	to->tail = from->tail;
	from->head = NULL;
}

#endif
