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

struct zip_args {
	int (*combine)(void *const *items, size_t n, void **result,
		       void *context);
	void *context;
};

struct zip_input {
	size_t from, n;
	bool asked; /* its input, in the pull that is under way */
	void *items[WEIR_FLOW_BATCH];
};

/* Followed in memory by the tuple. */
struct zip {
	struct zip_input *buffers; /* of each input */
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
	struct zip_input *buffer;
	uint32_t i;

	for (i = 0; i < op->n_up; i++) {
		buffer = &state->buffers[i];
		weir__op_drop(op->up[i], buffer->items + buffer->from,
			      buffer->n);
	}
	weir__free(weir__op_allocator(op), state->buffers, state->size);
}

/*
 * Asks the inputs whose buffers are empty for `room` items. Returns how many
 * tuples there are.
 */
static size_t zip_fill(struct weir__op *op, size_t room)
{
	struct zip *state = weir__op_state(op);
	size_t least = room;
	struct zip_input *buffer;
	uint32_t i;

	assert(room <= WEIR_FLOW_BATCH);
	for (i = 0; i < op->n_up; i++) {
		buffer = &state->buffers[i];
		buffer->asked = buffer->n == 0;
		if (buffer->asked) {
			buffer->from = 0;
			buffer->n = weir__pull(op->up[i], buffer->items, room);
		}
		if (buffer->n < least)
			least = buffer->n;
	}
	return least;
}

/*
 * Ends as the first input that has no more items has ended. An input whose
 * buffer was not empty before, and is now, is pulled without room to see
 * whether it has ended (rule 8).
 */
static void zip_ends(struct weir__op *op)
{
	struct zip *state = weir__op_state(op);
	const struct zip_input *buffer;
	uint32_t i;

	for (i = 0; i < op->n_up; i++) {
		buffer = &state->buffers[i];
		if (buffer->n > 0)
			continue;
		if (!buffer->asked)
			weir__pull_none(op->up[i]);
		if (op->up[i]->ended) {
			weir__op_end(op, op->up[i]->error);
			return;
		}
	}
}

/* Combines one tuple. False: it could not be combined, and is dropped. */
static bool zip_one(struct weir__op *op, void **result)
{
	const struct zip_args *args = weir__op_args(op);
	struct zip *state = weir__op_state(op);
	struct zip_input *buffer;
	uint32_t i;
	int rc;

	for (i = 0; i < op->n_up; i++) {
		buffer = &state->buffers[i];
		/* zip_fill() has counted whole tuples only */
		assert(buffer->n > 0 &&
		       buffer->from + buffer->n <= WEIR_FLOW_BATCH);
		state->tuple[i] = buffer->items[buffer->from++];
		buffer->n--;
	}
	rc = args->combine(state->tuple, op->n_up, result, args->context);
	if (WEIR_LIKELY(rc == 0))
		return true;
	for (i = 0; i < op->n_up; i++)
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
};

struct weir_flow *weir_flow_zip(struct weir_flow *const *flows, size_t n,
				int (*combine)(void *const *items, size_t n,
					       void **result, void *context),
				void *context)
{
	struct zip_args args = {combine, context};

	return weir__flow_upon_many(&zip_kind, flows, n, &args, sizeof(args),
				    combine);
}
