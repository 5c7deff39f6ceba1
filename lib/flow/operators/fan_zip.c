/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fan-in of items that belong together. Each input has a buffer, and is asked
 * only when its buffer is empty. So the island waits only for the inputs that a
 * tuple lacks.
 */
#include <weir/flow_fan.h>

#include <assert.h>
#include <errno.h>

#include "base/memory.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"
#include "flow/operators/fan_buffers.h"

struct zip_args {
	int (*combine)(void *const *items, size_t n, void **result,
		       void *context);
	void *context;
	void *const *padding; /* zip_all: of each input; zip: NULL */
};

/* Followed in memory by the tuple. */
struct zip {
	struct weir__fan_buffer *buffers; /* of each input */
	void **tuple;
	size_t size;
};

static int zip_open(struct weir__op *op)
{
	struct zip *state = weir__op_state(op);
	size_t buffers = op->n_up * sizeof(*state->buffers);
	size_t size = buffers + op->n_up * sizeof(*state->tuple);

	state->buffers = weir__alloc(weir__op_allocator(op), size);
	if (!state->buffers)
		return -ENOMEM;
	state->tuple = (void **)(void *)(state->buffers + op->n_up);
	state->size = size;
	return 0;
}

static void zip_close(struct weir__op *op)
{
	struct zip *state = weir__op_state(op);

	weir__fan_buffers_drop(op, state->buffers);
	weir__free(weir__op_allocator(op), state->buffers, state->size);
}

/* The buffer of input `i` is empty: puts padding in if the input has
 * completed. */
static void zip_pad(struct weir__op *op, uint32_t i,
		    struct weir__fan_buffer *buffer, size_t room)
{
	const struct zip_args *args = weir__op_args(op);

	if (!args->padding || !op->up[i]->ended || op->up[i]->error)
		return;
	buffer->padded = true;
	while (buffer->n < room)
		buffer->items[buffer->n++] = args->padding[i];
}

/*
 * Asks the inputs whose buffers are empty for `room` items. Returns how many
 * tuples there are.
 */
static size_t zip_fill(struct weir__op *op, size_t room)
{
	struct zip *state = weir__op_state(op);
	struct weir__fan_buffer *buffer;
	size_t least = room;
	bool any = false; /* that is no padding */
	uint32_t i;

	for (i = 0; i < op->n_up; i++) {
		buffer = &state->buffers[i];
		buffer->asked = buffer->n == 0;
		if (buffer->asked)
			weir__fan_buffer_fill(op, i, buffer, room);
		if (buffer->n == 0)
			zip_pad(op, i, buffer, room);
		any = any || !buffer->padded;
		if (buffer->n < least)
			least = buffer->n;
	}
	return any ? least : 0;
}

/* Ends as the first input that has no more items has ended; with padding, when
 * all have. */
static void zip_ends(struct weir__op *op)
{
	const struct zip_args *args = weir__op_args(op);
	struct zip *state = weir__op_state(op);
	uint32_t i, n_over = 0;

	for (i = 0; i < op->n_up; i++) {
		if (!weir__fan_buffer_is_over(op, i, &state->buffers[i]))
			continue;
		if (!args->padding || op->up[i]->error) {
			weir__op_end(op, op->up[i]->error);
			return;
		}
		n_over++;
	}
	if (n_over == op->n_up)
		weir__op_end(op, NULL);
}

/* Combines one tuple. False: it could not be combined, and is dropped. */
static bool zip_one(struct weir__op *op, void **result)
{
	const struct zip_args *args = weir__op_args(op);
	struct zip *state = weir__op_state(op);
	uint32_t i;
	int rc;

	/* zip_fill() has counted whole tuples only */
	for (i = 0; i < op->n_up; i++)
		weir__fan_buffer_take(&state->buffers[i], &state->tuple[i]);
	rc = args->combine(state->tuple, op->n_up, result, args->context);
	if (WEIR_LIKELY(rc == 0))
		return true;
	for (i = 0; i < op->n_up; i++)
		if (!state->buffers[i].padded)
			weir__op_drop_one(op->up[i], state->tuple[i]);
	(void)weir__op_survives(op, rc);
	return false;
}

static size_t zip_pull(struct weir__op *op, void **items, size_t room)
{
	size_t ask = room < WEIR_FLOW_BATCH ? room : WEIR_FLOW_BATCH;
	size_t k = zip_fill(op, ask), n = 0, i;

	for (i = 0; i < k && !op->ended; i++)
		n += zip_one(op, &items[n]);
	if (op->ended)
		return n;
	zip_ends(op);
	if (n == 0 && k > 0)
		weir__op_again(op);
	return n;
}

static const struct weir__kind zip_kind = {
	.name = "zip",
	.state_size = sizeof(struct zip),
	.pull = zip_pull,
	.open = zip_open,
	.close = zip_close,
	.stateless = true,
	.holds = true,
	.makes = true,
	.remakes = true,
	.delays = true,
};

static const struct weir__kind zip_all_kind = {
	.name = "zip_all",
	.state_size = sizeof(struct zip),
	.pull = zip_pull,
	.open = zip_open,
	.close = zip_close,
	.stateless = true,
	.holds = true,
	.makes = true,
	.remakes = true,
	.delays = true,
};

struct weir_flow *weir_flow_zip(struct weir_flow *const *flows, size_t n,
				int (*combine)(void *const *items, size_t n,
					       void **result, void *context),
				void *context)
{
	struct zip_args args = {combine, context, NULL};

	return weir__flow_upon_many(&zip_kind, flows, n, &args, sizeof(args),
				    combine);
}

struct weir_flow *weir_flow_zip_all(struct weir_flow *const *flows, size_t n,
				    void *const *padding,
				    int (*combine)(void *const *items, size_t n,
						   void **result,
						   void *context),
				    void *context)
{
	struct zip_args args = {combine, context, padding};

	return weir__flow_upon_many(&zip_all_kind, flows, n, &args,
				    sizeof(args), combine && padding);
}
