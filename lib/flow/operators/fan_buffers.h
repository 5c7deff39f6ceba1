/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers of the inputs of zip, merge_sorted and merge_sequence: each input is
 * asked only when its buffer is empty. */
#ifndef WEIR_FLOW_OPERATORS_FAN_BUFFERS_H
#define WEIR_FLOW_OPERATORS_FAN_BUFFERS_H

#include <assert.h>

#include "flow/engine/op.h"

struct weir__fan_buffer {
	size_t from, n;
	bool asked;  /* its input, in the pull that is under way */
	bool padded; /* zip_all: its items are padding, and have no owner */
	void *items[WEIR_FLOW_BATCH];
};

/* The buffer of input `i` is empty: asks the input. */
static inline void weir__fan_buffer_fill(struct weir__op *op, uint32_t i,
					 struct weir__fan_buffer *buffer,
					 size_t room)
{
	assert(buffer->n == 0 && room <= WEIR_FLOW_BATCH);
	buffer->asked = true;
	buffer->from = 0;
	buffer->n = weir__pull(op->up[i], buffer->items, room);
}

static inline void weir__fan_buffer_take(struct weir__fan_buffer *buffer,
					 void **item)
{
	assert(buffer->n > 0 && buffer->from + buffer->n <= WEIR_FLOW_BATCH);
	*item = buffer->items[buffer->from++];
	buffer->n--;
}

/*
 * True: input `i` has ended, and its items are taken. An input whose buffer was
 * not empty before, and is now, is pulled without room to see whether it has
 * ended (rule 8).
 */
static inline bool weir__fan_buffer_is_over(
	struct weir__op *op, uint32_t i, const struct weir__fan_buffer *buffer)
{
	if (buffer->n > 0 && !buffer->padded)
		return false;
	if (!buffer->asked)
		weir__pull_none(op->up[i]);
	return op->up[i]->ended;
}

/* Ends when all inputs have no more items, or one has none and has failed. */
static inline void weir__fan_buffers_end(struct weir__op *op,
					 const struct weir__fan_buffer *buffers)
{
	uint32_t i, n_over = 0;

	for (i = 0; i < op->n_up; i++) {
		if (!weir__fan_buffer_is_over(op, i, &buffers[i]))
			continue;
		if (op->up[i]->error) {
			weir__op_end(op, op->up[i]->error);
			return;
		}
		n_over++;
	}
	if (n_over == op->n_up)
		weir__op_end(op, NULL);
}

/* Drops what is in the buffers of all inputs. */
static inline void weir__fan_buffers_drop(
	struct weir__op *op, const struct weir__fan_buffer *buffers)
{
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		if (!buffers[i].padded)
			weir__op_drop(op->up[i],
				      buffers[i].items + buffers[i].from,
				      buffers[i].n);
}

#endif
