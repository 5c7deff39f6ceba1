/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow beside another one, which gets its items, too. The operator has two
 * inputs: the items, and the flow beside, whose own items are dropped.
 */
#include <weir/flow_fan.h>
#include <weir/flow_sink.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/op.h"
#include "flow/operators/fan_out.h"
#include "flow/shared/fan.h"

/*
 * Ends when both have ended. If one has failed, the other is cancelled, unless
 * the same error is on its way to it. The error of a tap is not counted.
 */
static void tap_ends(struct weir__op *op, bool taps)
{
	struct weir__op *failed = NULL;
	uint32_t i;

	for (i = 2; i-- > 0;)
		if (op->up[i]->error && !(taps && i == 1))
			failed = op->up[i];
	for (i = 0; failed && i < 2; i++)
		if (!weir__op_awaits(op->up[i]))
			weir__op_cancel(op->up[i]);
	if (op->up[0]->ended && op->up[1]->ended)
		weir__op_end(op, failed ? failed->error : NULL);
}

static size_t pull_both(struct weir__op *op, void **items, size_t room,
			bool taps)
{
	size_t n = weir__pull(op->up[0], items, room);

	/* no items come from there */
	weir__pull_none(op->up[1]);
	tap_ends(op, taps);
	return n;
}

static size_t also_to_pull(struct weir__op *op, void **items, size_t room)
{
	return pull_both(op, items, room, false);
}

static size_t wire_tap_pull(struct weir__op *op, void **items, size_t room)
{
	return pull_both(op, items, room, true);
}

static const struct weir__kind also_to_kind = {
	.name = "also_to",
	.pull = also_to_pull,
	.any_input = true,
};

static const struct weir__kind wire_tap_kind = {
	.name = "wire_tap",
	.pull = wire_tap_pull,
	.any_input = true,
};

static const struct weir__kind also_to_fan = {
	.name = "also_to",
	.free = weir__fan_free,
};

static const struct weir__kind wire_tap_fan = {
	.name = "wire_tap",
	.free = weir__fan_free,
};

static struct weir_flow *beside(
	const struct weir__kind *fan, const struct weir__kind *kind,
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context, size_t capacity)
{
	struct weir_flow *both[2];

	if (!make) {
		flow = weir__flow_upon(kind, flow, NULL, 0, false);
		return weir__flow_wrong_as(flow, kind, "make is NULL");
	}
	/* on an error both are failed flows, as any */
	(void)weir__fan_double(fan, flow, capacity, both,
			       kind == &wire_tap_kind);
	both[1] = weir_flow_ignore(make(both[1], context));
	return weir__flow_new(kind, both, 2, NULL, 0, true);
}

struct weir_flow *weir_flow_also_to(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context, size_t capacity)
{
	return beside(&also_to_fan, &also_to_kind, flow, make, context,
		      capacity);
}

struct weir_flow *weir_flow_wire_tap(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context, size_t capacity)
{
	return beside(&wire_tap_fan, &wire_tap_kind, flow, make, context,
		      capacity);
}
