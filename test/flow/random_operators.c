/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/random_operators.h"

#include "flow/random_fans.h"
#include "flow/random_kinds.h"

struct own_state {
	void *state;
	bool flushing;
};

static struct step *step_of(struct weir_operator *op)
{
	return weir_operator_context(op);
}

static int own_open(struct weir_operator *op)
{
	struct own_state *self = weir_operator_state(op);

	return state_create(&self->state, step_of(op));
}

static void own_close(struct weir_operator *op)
{
	struct own_state *self = weir_operator_state(op);

	state_destroy(self->state, step_of(op));
}

static int own_flush(struct weir_operator *op)
{
	struct own_state *self = weir_operator_state(op);
	void *item;

	if (state_flush(&self->state, &item, step_of(op)) == 1)
		return weir_operator_push(op, item);
	return weir_operator_end(op, NULL);
}

static int own_pull(struct weir_operator *op)
{
	const struct own_state *self = weir_operator_state(op);

	return self->flushing ? own_flush(op) : weir_operator_pull(op);
}

static int own_push(struct weir_operator *op, void *item)
{
	struct own_state *self = weir_operator_state(op);
	int rc = state_step(&self->state, &item, step_of(op));

	if (rc == 0)
		return weir_operator_pull(op);
	return rc < 0 ? rc : weir_operator_push(op, item);
}

static int own_end(struct weir_operator *op, struct weir_error *error)
{
	struct own_state *self = weir_operator_state(op);

	self->flushing = true;
	if (error)
		return weir_operator_end(op, error);
	return weir_operator_wanted(op) ? own_flush(op) : 0;
}

struct weir_flow *operator_make(struct weir_flow *up, struct step *step)
{
	const struct weir_operator_ops ops = {
		.state_size = sizeof(struct own_state),
		.open = own_open,
		.close = own_close,
		.on_pull = own_pull,
		.on_push = own_push,
		.on_end = own_end,
		.ahead = step->y % 4 == 0,
	};

	return of_items(weir_flow_operator(up, &ops, step), step);
}

/* --- Two inputs, one behind the other ------------------------------------- */

struct behind {
	bool over[2]; /* on_end() was called for that input */
};

static int behind_pull(struct weir_operator *op)
{
	const struct behind *self = weir_operator_state(op);

	return weir_operator_pull_input(op, self->over[0]);
}

static int behind_end(struct weir_operator *op, struct weir_error *error)
{
	struct behind *self = weir_operator_state(op);
	size_t input = weir_operator_input(op);

	self->over[input] = true;
	if (error || self->over[!input])
		return weir_operator_end(op, error);
	return input == 0 && weir_operator_wanted(op) ? behind_pull(op) : 0;
}

/* A concat. */
struct weir_flow *operator_inputs_make(struct weir_flow *up, struct step *step)
{
	static const struct weir_operator_ops ops = {
		.state_size = sizeof(struct behind),
		.on_pull = behind_pull,
		.on_end = behind_end,
	};
	struct weir_flow *flows[] = {up, other_numbers(step)};

	if (step->y % 2)
		flows[1] = weir_flow_async(flows[1], 2, NULL);
	return of_items(weir_flow_operator_inputs(flows, 2, &ops, NULL), step);
}
