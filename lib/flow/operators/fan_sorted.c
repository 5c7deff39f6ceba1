/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fan-in by the order of the items: the least of the first items of all inputs
 * is next. So the island waits until each input has an item, or has ended.
 */
#include <weir/flow_fan.h>

#include <errno.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/fan_buffers.h"

struct sorted_args {
	int (*compare)(void *a, void *b, void *context);
	void *context;
};

struct sorted {
	struct weir__fan_buffer *buffers; /* of each input */
};

static size_t sorted_size(const struct weir__op *op)
{
	return op->n_up * sizeof(struct weir__fan_buffer);
}

static int sorted_open(struct weir__op *op)
{
	struct sorted *state = weir__op_state(op);

	state->buffers = weir__alloc(weir__op_allocator(op), sorted_size(op));
	return state->buffers ? 0 : -ENOMEM;
}

static void sorted_close(struct weir__op *op)
{
	struct sorted *state = weir__op_state(op);

	weir__fan_buffers_drop(op, state->buffers);
	weir__free(weir__op_allocator(op), state->buffers, sorted_size(op));
}

static void *first_of(const struct weir__fan_buffer *buffer)
{
	return buffer->items[buffer->from];
}

/*
 * The buffer whose first item is the least; of equals the first. NULL: there is
 * none, or an input that may have more has no item now.
 */
static struct weir__fan_buffer *least_of(struct weir__op *op, size_t room)
{
	const struct sorted_args *args = weir__op_args(op);
	struct sorted *state = weir__op_state(op);
	struct weir__fan_buffer *least = NULL, *buffer;
	bool lacks = false;
	uint32_t i;

	for (i = 0; i < op->n_up; i++) {
		buffer = &state->buffers[i];
		if (buffer->n == 0)
			weir__fan_buffer_fill(op, i, buffer, room);
		if (buffer->n == 0)
			lacks = lacks || !op->up[i]->ended || op->up[i]->error;
		else if (!least ||
			 args->compare(first_of(buffer), first_of(least),
				       args->context) < 0)
			least = buffer;
	}
	return lacks ? NULL : least;
}

static size_t sorted_pull(struct weir__op *op, void **items, size_t room)
{
	struct sorted *state = weir__op_state(op);
	struct weir__fan_buffer *buffer;
	size_t n = 0, most = weir__at_most(room, WEIR_FLOW_BATCH);
	uint32_t i;

	for (i = 0; i < op->n_up; i++)
		state->buffers[i].asked = false;
	while (n < most && (buffer = least_of(op, most - n)))
		weir__fan_buffer_take(buffer, &items[n++]);
	weir__fan_buffers_end(op, state->buffers);
	return n;
}

static const struct weir__kind sorted_kind = {
	.name = "merge_sorted",
	.state_size = sizeof(struct sorted),
	.pull = sorted_pull,
	.open = sorted_open,
	.close = sorted_close,
	.holds = true,
	.delays = true,
};

struct weir_flow *weir_flow_merge_sorted(
	struct weir_flow *const *flows, size_t n,
	int (*compare)(void *a, void *b, void *context), void *context)
{
	struct sorted_args args = {compare, context};

	return weir__flow_upon_many(&sorted_kind, flows, n, &args, sizeof(args),
				    compare);
}
