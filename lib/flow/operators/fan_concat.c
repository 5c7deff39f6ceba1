/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows one after the other. Only the flow whose turn it is is asked. */
#include <weir/flow_fan.h>
#include <weir/flow_sink.h>

#include <assert.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

/* --- concat, prepend ------------------------------------------------------ */

static size_t concat_pull(struct weir__op *op, void **items, size_t room)
{
	uint32_t *at = weir__op_state(op);
	size_t n = 0;

	/* behind the last flow the operator has ended */
	assert(*at < op->n_up);
	for (; *at < op->n_up; ++*at) {
		struct weir__op *up = op->up[*at];

		n += weir__pull(up, n ? items + n : items, room - n);
		if (!up->ended)
			return n;
		if (up->error) {
			weir__op_end(op, up->error);
			return n;
		}
	}
	weir__op_end(op, NULL);
	return n;
}

static const struct weir__kind concat_kind = {
	.name = "concat",
	.state_size = sizeof(uint32_t),
	.pull = concat_pull,
	.delays = true,
};

struct weir_flow *weir_flow_concat(struct weir_flow *const *flows, size_t n)
{
	return weir__flow_upon_many(&concat_kind, flows, n, NULL, 0, true);
}

static const struct weir__kind prepend_kind = {
	.name = "prepend",
	.state_size = sizeof(uint32_t),
	.pull = concat_pull,
	.delays = true,
};

struct weir_flow *weir_flow_prepend(struct weir_flow *flow,
				    struct weir_flow *first)
{
	struct weir_flow *both[] = {first, flow};

	return weir__flow_new(&prepend_kind, both, 2, NULL, 0, true);
}

/* --- then ----------------------------------------------------------------- */

static const struct weir__kind then_kind = {
	.name = "then",
	.state_size = sizeof(uint32_t),
	.pull = concat_pull,
};

struct weir_flow *weir_flow_then(struct weir_flow *flow, struct weir_flow *next)
{
	struct weir_flow *both[] = {weir_flow_ignore(flow), next};

	return weir__flow_new(&then_kind, both, 2, NULL, 0, true);
}

/* --- or_else -------------------------------------------------------------- */

struct or_else {
	bool decided; /* it is known which of the two is passed */
	bool other;
};

static size_t or_else_pull(struct weir__op *op, void **items, size_t room)
{
	struct or_else *state = weir__op_state(op);
	struct weir__op *up = op->up[state->other];
	size_t n = weir__pull(up, items, room);

	assert(!state->other || state->decided);
	if (n > 0 && !state->decided) {
		state->decided = true;
		weir__op_cancel(op->up[1]);
	}
	if (up->ended && !up->error && !state->decided) {
		state->decided = state->other = true;
		up = op->up[1];
		n = weir__pull(up, items, room);
	}
	if (up->ended)
		weir__op_end(op, up->error);
	return n;
}

static const struct weir__kind or_else_kind = {
	.name = "or_else",
	.state_size = sizeof(struct or_else),
	.pull = or_else_pull,
};

struct weir_flow *weir_flow_or_else(struct weir_flow *flow,
				    struct weir_flow *other)
{
	struct weir_flow *both[] = {flow, other};

	return weir__flow_new(&or_else_kind, both, 2, NULL, 0, true);
}
