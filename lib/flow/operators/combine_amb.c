/* SPDX-License-Identifier: BSD-2-Clause */
/* The first of several flows that shows a sign of life. */
#include <weir/flow_combine.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

struct amb {
	struct weir__op *winner; /* NULL: not known yet */
};

/* Asks the flows in their order until one wins, and cancels the others. */
static size_t race(struct weir__op *op, void **items, size_t room)
{
	struct amb *state = weir__op_state(op);
	uint32_t i;
	size_t n = 0;

	for (i = 0; i < op->n_up && !state->winner; i++) {
		n = weir__pull(op->up[i], items, room);
		if (n > 0 || op->up[i]->ended)
			state->winner = op->up[i];
	}
	if (!state->winner)
		return 0;
	for (i = 0; i < op->n_up; i++)
		if (op->up[i] != state->winner)
			weir__op_cancel(op->up[i]);
	return n;
}

static size_t amb_pull(struct weir__op *op, void **items, size_t room)
{
	struct amb *state = weir__op_state(op);
	size_t n = state->winner ? weir__pull(state->winner, items, room)
				 : race(op, items, room);

	if (state->winner && state->winner->ended)
		weir__op_end(op, state->winner->error);
	return n;
}

static const struct weir__kind amb_kind = {
	.name = "amb",
	.state_size = sizeof(struct amb),
	.pull = amb_pull,
	.any_input = true,
};

struct weir_flow *weir_flow_amb(struct weir_flow *const *flows, size_t n)
{
	return weir__flow_upon_many(&amb_kind, flows, n, NULL, 0, true);
}
