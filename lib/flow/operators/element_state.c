/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators that emit several items for one, or have a state of the user's. */
#include <weir/flow_element.h>

#include <assert.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/op.h"
#include "flow/operators/element_each.h"

/* --- map_concat ----------------------------------------------------------- */

struct map_concat {
	int (*next)(void *item, uint64_t i, void **out, void *context);
	void *context;
};

struct map_concating {
	void *item;
	uint64_t next;
	bool has_item;
};

/* The item is done with. */
static void map_concat_done(struct weir__op *op)
{
	struct map_concating *state = weir__op_state(op);

	state->has_item = false;
	weir__op_drop_one(op->up[0], state->item);
}

/* Fills in the items that are made of one item, which is done with if there are
 * no more. */
static size_t map_concat_item(struct weir__op *op, void **items, size_t room)
{
	const struct map_concat *args = weir__op_args(op);
	struct map_concating *state = weir__op_state(op);
	size_t n = 0;
	int rc = 1;

	assert(state->has_item);
	while (n < room && rc == 1) {
		rc = args->next(state->item, state->next, &items[n],
				args->context);
		if (rc != 1 && rc != WEIR_NEXT_LAST)
			break;
		n++;
		state->next++;
	}
	if (rc == 1)
		return n;
	map_concat_done(op);
	if (rc != 0 && rc != WEIR_NEXT_LAST)
		(void)weir__op_survives(op, rc);
	return n;
}

static bool map_concat_take(struct weir__op *op)
{
	struct map_concating *state = weir__op_state(op);
	void *item;

	/* else that item would be lost */
	assert(!state->has_item);
	if (weir__pull(op->up[0], &item, 1) == 0)
		return false;
	*state = (struct map_concating){.item = item, .has_item = true};
	return true;
}

static size_t map_concat_pull(struct weir__op *op, void **items, size_t room)
{
	struct map_concating *state = weir__op_state(op);
	unsigned taken = 0;
	size_t n = 0;

	while (n < room && !op->ended) {
		if (!state->has_item &&
		    (taken++ == op->island->ask || !map_concat_take(op)))
			break;
		n += map_concat_item(op, items + n, room - n);
	}
	if (!op->ended && !state->has_item) {
		if (taken == 0)
			weir__pull_none(op->up[0]);
		(void)weir__op_follow(op);
	}
	return n;
}

static void map_concat_close(struct weir__op *op)
{
	struct map_concating *state = weir__op_state(op);

	if (state->has_item)
		map_concat_done(op);
}

static const struct weir__kind map_concat_kind = {
	.name = "map_concat",
	.state_size = sizeof(struct map_concating),
	.pull = map_concat_pull,
	.close = map_concat_close,
	.holds = true,
	.makes = true,
	.remakes = true,
};

struct weir_flow *weir_flow_map_concat(struct weir_flow *flow,
				       int (*next)(void *item, uint64_t i,
						   void **out, void *context),
				       void *context)
{
	struct map_concat args = {next, context};

	return weir__flow_upon(&map_concat_kind, flow, &args, sizeof(args),
			       next);
}

/* --- stateful_map --------------------------------------------------------- */

struct stateful {
	struct weir_flow_stateful_map_functions functions;
	void *context;
};

struct users_state {
	void *state;
	bool flushing;
};

static int stateful_open(struct weir__op *op)
{
	const struct stateful *args = weir__op_args(op);
	struct users_state *self = weir__op_state(op);

	return args->functions.create
		       ? args->functions.create(&self->state, args->context)
		       : 0;
}

static void stateful_close(struct weir__op *op)
{
	const struct stateful *args = weir__op_args(op);
	struct users_state *self = weir__op_state(op);

	if (args->functions.destroy)
		args->functions.destroy(self->state, args->context);
}

static size_t flush(struct weir__op *op, void **items, size_t room)
{
	const struct stateful *args = weir__op_args(op);
	struct users_state *self = weir__op_state(op);
	size_t n = 0;
	int rc = 1;

	assert(self->flushing);
	while (n < room) {
		rc = args->functions.flush(&self->state, &items[n],
					   args->context);
		if (rc != 1)
			break;
		n++;
	}
	if (rc == 0)
		weir__op_end(op, NULL);
	else if (rc != 1)
		weir__op_fail_code(op, rc, "flush failed");
	return n;
}

/* As weir__each(), but an item that is left out is the function's. */
static size_t stateful_step(struct weir__op *op, void **items, size_t n)
{
	const struct stateful *args = weir__op_args(op);
	struct users_state *self = weir__op_state(op);
	size_t put = 0, i;
	void *item;
	int rc;

	for (i = 0; i < n && !op->ended; i++) {
		item = items[i];
		rc = args->functions.step(&self->state, &item, args->context);
		if (rc == 1) {
			items[put++] = item;
		} else if (rc != 0) {
			weir__op_drop_one(op->up[0], items[i]);
			(void)weir__op_survives(op, rc);
		}
	}
	weir__op_drop(op->up[0], items + i, n - i);
	return put;
}

static size_t stateful_pull(struct weir__op *op, void **items, size_t room)
{
	const struct stateful *args = weir__op_args(op);
	struct users_state *self = weir__op_state(op);
	struct weir__op *up = op->up[0];
	size_t n, put;

	if (self->flushing)
		return flush(op, items, room);
	n = weir__pull(up, items, room);
	put = stateful_step(op, items, n);
	if (op->ended)
		return put;
	if (up->ended && !up->error && args->functions.flush) {
		self->flushing = true;
		return put + flush(op, items + put, room - put);
	}
	(void)weir__op_follow(op);
	return put;
}

static const struct weir__kind stateful_kind = {
	.name = "stateful_map",
	.state_size = sizeof(struct users_state),
	.open = stateful_open,
	.pull = stateful_pull,
	.close = stateful_close,
	.holds = true,
	.makes = true,
	.remakes = true,
};

struct weir_flow *weir_flow_stateful_map(
	struct weir_flow *flow,
	const struct weir_flow_stateful_map_functions *functions, void *context)
{
	struct stateful args = {.context = context};

	if (functions)
		args.functions = *functions;
	return weir__flow_upon(&stateful_kind, flow, &args, sizeof(args),
			       functions && functions->step);
}
