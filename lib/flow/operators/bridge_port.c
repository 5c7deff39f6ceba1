/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows that are linked to ports of the user's actors. Such a port has one
 * link, so the flow runs once.
 */
#include <weir/flow_bridge.h>

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/exit.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"

struct outport {
	uint32_t claimed; /* atomic */
	struct weir_out *out;
	size_t capacity;
};

struct inport {
	uint32_t claimed; /* atomic */
	struct weir_in *in;
};

static int claim(struct weir_flow *flow)
{
	uint32_t *claimed = (void *)flow->args;

	_Static_assert(offsetof(struct outport, claimed) == 0 &&
			       offsetof(struct inport, claimed) == 0,
		       "the claim comes first");
	return ck_pr_fas_32(claimed, 1) ? -EALREADY : 0;
}

static void unclaim(struct weir_flow *flow)
{
	ck_pr_store_32((uint32_t *)(void *)flow->args, 0);
}

/* --- From an out-port ----------------------------------------------------- */

static struct weir__op *from_out_build(struct weir__build *build,
				       const struct weir_flow *flow)
{
	const struct outport *args = (const void *)flow->args;

	assert(args->out->port.burst > 0);
	/* so that there is room for one of its turns, however few items are
	 * asked for */
	if (build->credit)
		build->ahead = args->out->port.burst - 1;
	return weir__build_inlet(build, flow, args->out,
				 flow->has_items ? flow->items
						 : args->out->items,
				 args->capacity);
}

/* The out-port is not touched when its actor may be gone. */
static const struct weir_items *from_out_items(const struct weir_flow *flow)
{
	const struct outport *args = (const void *)flow->args;

	/* relaxed: a hint */
	return ck_pr_load_32(&args->claimed) ? &weir__items_any
					     : args->out->items;
}

static const struct weir__kind from_out_kind = {
	.name = "from_out",
	.items = from_out_items,
	.build = from_out_build,
	.claim = claim,
	.unclaim = unclaim,
	.source = true,
	.boundary = true,
	.needs_island = true,
};

struct weir_flow *weir_flow_from_out(struct weir_out *out, size_t capacity)
{
	struct outport args = {.out = out, .capacity = capacity};
	struct weir_flow *flow =
		weir__flow_source(&from_out_kind, &args, sizeof(args),
				  out && weir__power_valid(capacity));

	return weir__flow_wrong_power(flow, &from_out_kind, "capacity",
				      capacity);
}

/* --- Into an in-port ------------------------------------------------------ */

static int into_in_join(struct weir__island *island,
			const struct weir_flow *flow,
			struct weir_reactive_out *reactive)
{
	const struct inport *args = (const void *)flow->args;

	int rc = weir_out_link(&island->out, args->in);

	if (rc == 0)
		weir__exit_linked(island, args->in);
	return rc;
}

static struct weir__op *into_in_build(struct weir__build *build,
				      const struct weir_flow *flow)
{
	return weir__exit_build(build, flow, into_in_join);
}

static const struct weir__kind into_in_kind = {
	.name = "into_in",
	.build = into_in_build,
	.needs_island = true,
	.claim = claim,
	.unclaim = unclaim,
	.makes = true,
};

struct weir_flow *weir_flow_into_in(struct weir_flow *flow, struct weir_in *in)
{
	struct inport args = {.in = in};

	return weir__flow_upon(&into_in_kind, flow, &args, sizeof(args), in);
}
