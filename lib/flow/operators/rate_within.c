/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams that end, or begin, when some time has passed. */
#include <weir/flow_rate.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/op.h"

struct within {
	struct weir__op_timer timer; /* must be first */
	uint64_t due_ns;
};

static int within_open(struct weir__op *op)
{
	struct within *self = weir__op_state(op);

	self->due_ns = weir__later(weir__op_now(op),
				   *(const uint64_t *)weir__op_args(op));
	return 0;
}

static void within_close(struct weir__op *op)
{
	struct within *self = weir__op_state(op);

	weir__op_timer_off(&self->timer);
}

static bool time_is_up(struct weir__op *op)
{
	const struct within *self = weir__op_state(op);

	return weir__op_now(op) >= self->due_ns;
}

/* Ends as upstream has, or waits for the time. */
static void follow_or_wait(struct weir__op *op)
{
	struct within *self = weir__op_state(op);
	int rc = 0;

	if (!weir__op_follow(op))
		rc = weir__op_timer_at(&self->timer, op, self->due_ns);
	if (rc < 0)
		weir__op_fail_code(op, rc, "no timer");
}

static struct weir_flow *within(const struct weir__kind *kind,
				struct weir_flow *flow, uint64_t ns)
{
	return weir__flow_upon(kind, flow, &ns, sizeof(ns), true);
}

/* --- take_within ---------------------------------------------------------- */

static size_t take_within_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n;

	if (time_is_up(op)) {
		weir__op_end(op, NULL);
		return 0;
	}
	n = weir__pull(op->up[0], items, room);
	follow_or_wait(op);
	return n;
}

static const struct weir__kind take_within_kind = {
	.name = "take_within",
	.state_size = sizeof(struct within),
	.open = within_open,
	.pull = take_within_pull,
	.close = within_close,
	.keeps = sizeof(struct weir__op_timer),
	.awaits = WEIR_WAIT_TIME,
	.holds = true,
};

struct weir_flow *weir_flow_take_within(struct weir_flow *flow,
					uint64_t within_ns)
{
	return within(&take_within_kind, flow, within_ns);
}

/* --- drop_within ---------------------------------------------------------- */

/* It needs no timer: items come by themselves. */
static size_t drop_within_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n = weir__pull(op->up[0], items, room);

	if (n > 0 && !time_is_up(op)) {
		weir__op_drop(op->up[0], items, n);
		n = 0;
	}
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind drop_within_kind = {
	.name = "drop_within",
	.state_size = sizeof(struct within),
	.open = within_open,
	.pull = drop_within_pull,
};

struct weir_flow *weir_flow_drop_within(struct weir_flow *flow,
					uint64_t within_ns)
{
	return within(&drop_within_kind, flow, within_ns);
}

/* --- initial_delay -------------------------------------------------------- */

static size_t initial_delay_pull(struct weir__op *op, void **items, size_t room)
{
	size_t n;

	if (!time_is_up(op)) {
		weir__pull_none(op->up[0]);
		follow_or_wait(op);
		return 0;
	}
	n = weir__pull(op->up[0], items, room);
	(void)weir__op_follow(op);
	return n;
}

static const struct weir__kind initial_delay_kind = {
	.name = "initial_delay",
	.state_size = sizeof(struct within),
	.open = within_open,
	.pull = initial_delay_pull,
	.close = within_close,
	.keeps = sizeof(struct weir__op_timer),
	.awaits = WEIR_WAIT_TIME,
	.holds = true,
};

struct weir_flow *weir_flow_initial_delay(struct weir_flow *flow,
					  uint64_t delay_ns)
{
	return within(&initial_delay_kind, flow, delay_ns);
}
