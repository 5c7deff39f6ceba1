/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fan-in by numbers: of items that together are numbered 0, 1, 2 and so on, the
 * one that is next may be the first of any input. So the island waits for no
 * other input as soon as one has it, and fails where none can have it any more.
 */
#include <weir/flow_fan.h>

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/fan_buffers.h"

struct sequence_args {
	uint64_t (*sequence)(void *item, void *context);
	void *context;
};

struct sequence {
	struct weir__fan_buffer *buffers; /* of each input */
	uint64_t *numbers;		  /* of the first item of each buffer */
	uint64_t next;
};

static size_t sequence_size(const struct weir__op *op)
{
	return op->n_up * (sizeof(struct weir__fan_buffer) + sizeof(uint64_t));
}

static int sequence_open(struct weir__op *op)
{
	struct sequence *self = weir__op_state(op);

	self->buffers = weir__alloc(weir__op_allocator(op), sequence_size(op));
	if (!self->buffers)
		return -ENOMEM;
	self->numbers = (uint64_t *)(void *)(self->buffers + op->n_up);
	return 0;
}

static void sequence_close(struct weir__op *op)
{
	struct sequence *self = weir__op_state(op);

	weir__fan_buffers_drop(op, self->buffers);
	weir__free(weir__op_allocator(op), self->buffers, sequence_size(op));
}

/* Another item is the first of a buffer, or none is. */
static void number_first(struct weir__op *op, uint32_t i)
{
	const struct sequence_args *args = weir__op_args(op);
	struct sequence *self = weir__op_state(op);
	const struct weir__fan_buffer *buffer = &self->buffers[i];

	if (buffer->n > 0)
		self->numbers[i] = args->sequence(buffer->items[buffer->from],
						  args->context);
}

static void fail_on(struct weir__op *op, int code, const char *what,
		    uint64_t number)
{
	struct weir_error *error = weir__error_format(weir__op_allocator(op),
						      code, weir__op_name(op),
						      "number %" PRIu64 " %s",
						      number, what);

	weir__op_end(op, error);
	weir_error_unref(error);
}

/* The input whose first item is next; `n_up`: there is none. An item that comes
 * too late ends `op`. */
static uint32_t look_for_next(struct weir__op *op)
{
	const struct sequence *self = weir__op_state(op);
	uint32_t found = op->n_up, i;

	for (i = op->n_up; i-- > 0;) {
		if (self->buffers[i].n == 0)
			continue;
		if (WEIR_UNLIKELY(self->numbers[i] < self->next)) {
			fail_on(op, -EEXIST, "has come again, or out of order",
				self->numbers[i]);
			return op->n_up;
		}
		if (self->numbers[i] == self->next)
			found = i;
	}
	return found;
}

/* Asks all inputs whose buffers are empty. True: one of them has none, and may
 * have the item that is next, or has failed. */
static bool ask_all(struct weir__op *op, size_t room)
{
	struct sequence *self = weir__op_state(op);
	struct weir__fan_buffer *buffer;
	bool lacks = false;
	uint32_t i;

	for (i = 0; i < op->n_up; i++) {
		buffer = &self->buffers[i];
		if (buffer->n > 0)
			continue;
		weir__fan_buffer_fill(op, i, buffer, room);
		number_first(op, i);
		if (buffer->n == 0 && (!op->up[i]->ended || op->up[i]->error))
			lacks = true;
	}
	return lacks;
}

/* None of the items that have come is next, and no other can come. */
static void miss_next(struct weir__op *op)
{
	const struct sequence *self = weir__op_state(op);
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		if (self->buffers[i].n > 0) {
			fail_on(op, -ENODATA, "is missing", self->next);
			return;
		}
}

/* As look_for_next(); asks for more if it is not there. */
static uint32_t find_next(struct weir__op *op, size_t room)
{
	uint32_t found = look_for_next(op);
	bool lacks;

	if (found < op->n_up || op->ended)
		return found;
	lacks = ask_all(op, room);
	found = look_for_next(op);
	if (found == op->n_up && !op->ended && !lacks)
		miss_next(op);
	return found;
}

static size_t sequence_pull(struct weir__op *op, void **items, size_t room)
{
	struct sequence *self = weir__op_state(op);
	size_t n = 0, most = weir__at_most(room, WEIR_FLOW_BATCH);
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		self->buffers[i].asked = false;
	while ((i = find_next(op, most - n)) < op->n_up && n < most) {
		weir__fan_buffer_take(&self->buffers[i], &items[n++]);
		self->next++;
		number_first(op, i);
	}
	if (!op->ended)
		weir__fan_buffers_end(op, self->buffers);
	return n;
}

static const struct weir__kind sequence_kind = {
	.name = "merge_sequence",
	.state_size = sizeof(struct sequence),
	.pull = sequence_pull,
	.open = sequence_open,
	.close = sequence_close,
	.holds = true,
	.any_input = true,
};

struct weir_flow *weir_flow_merge_sequence(
	struct weir_flow *const *flows, size_t n,
	uint64_t (*sequence)(void *item, void *context), void *context)
{
	struct sequence_args args = {sequence, context};

	return weir__flow_upon_many(&sequence_kind, flows, n, &args,
				    sizeof(args), sequence);
}
