/* SPDX-License-Identifier: BSD-2-Clause */
/* weir_flow_async(): the operators above it are an actor of their own. */
#include "flow/engine/async.h"

#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"

static struct weir__op *async_build(struct weir__build *build,
				    const struct weir_flow *flow)
{
	const struct weir__async *args = (const void *)flow->args;

	/* nested: of this executor, see weir__flow_needs_island() */
	if (build->nested)
		return weir__build(build, flow->up[0]);
	return weir__build_cut(build, flow->up[0], args->executor,
			       args->capacity);
}

const struct weir__kind weir__async_kind = {
	.name = "async",
	.build = async_build,
	.boundary = true,
};

struct weir_flow *weir_flow_async(struct weir_flow *flow, size_t capacity,
				  struct weir_executor *executor)
{
	struct weir__async args = {capacity, executor};

	flow = weir__flow_upon(&weir__async_kind, flow, &args, sizeof(args),
			       weir__power_valid(capacity));
	return weir__flow_wrong_power(flow, &weir__async_kind, "capacity",
				      capacity);
}
