/* SPDX-License-Identifier: BSD-2-Clause */
/* What a nested flow takes from the operator around it. */
#include "flow/shared/inner.h"

#include <assert.h>
#include <errno.h>

#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"

static struct weir__inner *inner_of(const struct weir_flow *flow)
{
	return *(struct weir__inner *const *)(const void *)flow->args;
}

static size_t inner_pull(struct weir__op *op, void **items, size_t room)
{
	struct weir__inner *inner = inner_of(op->flow);

	assert(inner->source == op);
	return inner->pull(inner, items, room);
}

static void inner_close(struct weir__op *op)
{
	assert(inner_of(op->flow)->source == op);
	inner_of(op->flow)->source = NULL;
}

static struct weir__op *inner_build(struct weir__build *build,
				    const struct weir_flow *flow);

static const struct weir_items *inner_items(const struct weir_flow *flow)
{
	return weir__flow_items(inner_of(flow)->around->flow->up[0]);
}

static const struct weir__kind inner_kind = {
	.name = "upstream",
	.items = inner_items,
	.pull = inner_pull,
	.close = inner_close,
	.build = inner_build,
};

static struct weir__op *inner_build(struct weir__build *build,
				    const struct weir_flow *flow)
{
	struct weir__inner *inner = inner_of(flow);
	const struct weir__op *around = inner->around;

	if (build->island != around->island || inner->source) {
		*build->code = -EINVAL;
		return NULL;
	}
	inner->source =
		weir__op_leaf(build, flow, &inner_kind, around->up[0]->items);
	return inner->source;
}

struct weir_flow *weir__inner_flow(struct weir__inner *inner)
{
	struct weir_flow *flow =
		weir__flow_source(&inner_kind, &inner, sizeof(inner), true);

	/* it pulls what is above the operator around it */
	if (weir__flow_check(flow, NULL, NULL) == 0)
		flow->depth += inner->around->flow->up[0]->depth;
	return flow;
}

bool weir__inner_passes_through(const struct weir__inner *inner,
				const struct weir__op *nested)
{
	while (nested->n_up == 1 && !nested->kind->holds)
		nested = nested->up[0];
	return nested == inner->source;
}
