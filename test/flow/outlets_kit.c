/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/outlets_kit.h"

struct gated_way gated_ways[WAYS];

struct weir_flow *gated(struct weir_flow **outlets, size_t n, size_t open)
{
	struct flow_world *gate;
	size_t i;

	memset(gated_ways, 0, sizeof(gated_ways));
	for (i = 0; i < n; i++) {
		gate = &gated_ways[i].gate;
		gate->open = open;
		gated_ways[i].got.counted = true;
		outlets[i] = weir__flow_upon(&gate_kind, outlets[i], &gate,
					     sizeof(gate), true);
		outlets[i] = into(outlets[i], &gated_ways[i].got);
	}
	return weir_flow_all(outlets, n);
}

void let(struct trial *trial, size_t way, size_t n)
{
	gated_ways[way].gate.open = n;
	if (gated_ways[way].gate.gate)
		weir__op_wake(gated_ways[way].gate.gate);
	rest(trial);
}

struct splitter {
	struct item *kept;
	bool over;
};

struct seen *seen_of(const struct weir_operator *op)
{
	return weir_operator_context(op);
}

static int splitter_give(struct weir_operator *op)
{
	struct splitter *self = weir_operator_state(op);
	size_t to = (size_t)self->kept->value % seen_of(op)->n;
	int rc = weir_operator_push_outlet(op, to, self->kept);

	if (rc == -EAGAIN)
		return 0;
	if (rc == -EPIPE)
		weir_operator_drop(op, self->kept);
	self->kept = NULL;
	if (self->over)
		return weir_operator_end(op, NULL);
	return 0;
}

static int splitter_pull(struct weir_operator *op)
{
	struct splitter *self = weir_operator_state(op);
	size_t i = weir_operator_outlet(op);
	int rc = 0;

	assert_true(i < seen_of(op)->n);
	assert_true(weir_operator_wanted_outlet(op, i));
	seen_of(op)->pulls[i]++;
	if (self->kept)
		rc = splitter_give(op);
	if (!self->kept)
		(void)weir_operator_pull(op);
	return rc;
}

static int splitter_push(struct weir_operator *op, void *item)
{
	struct splitter *self = weir_operator_state(op);

	assert_null(self->kept);
	assert_int_equal(weir_operator_outlet(op), 0);
	self->kept = item;
	(void)splitter_give(op);
	if (!self->kept)
		(void)weir_operator_pull(op);
	return 0;
}

static int splitter_end(struct weir_operator *op, struct weir_error *error)
{
	struct splitter *self = weir_operator_state(op);

	seen_of(op)->ends++;
	self->over = true;
	return self->kept && !error ? 0 : weir_operator_end(op, error);
}

static void splitter_cancel(struct weir_operator *op)
{
	struct splitter *self = weir_operator_state(op);
	size_t i = weir_operator_outlet(op);

	seen_of(op)->cancels[i]++;
	assert_false(weir_operator_wanted_outlet(op, i));
	if (seen_of(op)->ends_with_one)
		(void)weir_operator_end(op, NULL);
	else if (self->kept)
		(void)splitter_give(op);
	if (!self->kept)
		(void)weir_operator_pull(op);
}

static void splitter_close(struct weir_operator *op)
{
	struct splitter *self = weir_operator_state(op);

	seen_of(op)->closes++;
	if (self->kept)
		weir_operator_drop(op, self->kept);
}

const struct weir_operator_ops splits = {
	.name = "splits",
	.state_size = sizeof(struct splitter),
	.close = splitter_close,
	.on_pull = splitter_pull,
	.on_push = splitter_push,
	.on_end = splitter_end,
	.on_cancel = splitter_cancel,
};

void split(struct weir_flow *flow, const struct weir_operator_ops *ops,
	   struct seen *seen, size_t n, size_t capacity,
	   struct weir_flow **outlets)
{
	struct weir_flow_fan_options options = {.capacity = capacity};
	size_t i;

	*seen = (struct seen){.n = n};
	assert_int_equal(weir_flow_operator_outlets(&flow, 1, ops, seen, n,
						    outlets, &options),
			 0);
	for (i = 0; i < n; i++)
		outlets[i] = weir_flow_same_items(outlets[i]);
}

struct weir_flow *one_outlet(struct weir_flow *flow,
			     const struct weir_operator_ops *ops)
{
	static const struct weir_flow_fan_options narrow = {.capacity = 4};
	struct weir_flow *outlet;

	(void)weir_flow_operator_outlets(&flow, 1, ops, NULL, 1, &outlet,
					 &narrow);
	return outlet;
}
