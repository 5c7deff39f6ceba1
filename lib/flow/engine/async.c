/* SPDX-License-Identifier: BSD-2-Clause */
/* weir_flow_async(): the operators above it are an actor of their own. */
#include "flow/engine/async.h"

#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"

struct async {
	size_t capacity;
	struct weir_executor *executor;
};

static struct weir__op *async_build(struct weir__build *build,
				    const struct weir_flow *flow)
{
	const struct async *args = (const void *)flow->args;

	/* nested: of this executor, see weir__flow_needs_island() */
	if (build->nested)
		return weir__build(build, flow->up[0]);
	return weir__build_cut(build, flow->up[0], args->executor,
			       args->capacity);
}

static const struct weir__kind async_kind = {
	.name = "async",
	.build = async_build,
	.boundary = true,
};

struct weir_flow *weir_flow_async(struct weir_flow *flow, size_t capacity,
				  struct weir_executor *executor)
{
	struct async args = {capacity, executor};

	flow = weir__flow_upon(&async_kind, flow, &args, sizeof(args),
			       weir__power_valid(capacity));
	return weir__flow_wrong_power(flow, &async_kind, "capacity", capacity);
}

/* --- What cannot be nested ------------------------------------------------ */

static bool needs_island(const struct weir_flow *flow,
			 const struct weir_executor *executor)
{
	const struct async *args = (const void *)flow->args;

	if (flow->kind != &async_kind)
		return flow->kind->needs_island;
	return args->executor && args->executor != executor;
}

/* Recursion is bounded: see struct weir_flow.
 * NOLINTNEXTLINE(misc-no-recursion) */
const char *weir__flow_needs_island(const struct weir_flow *flow,
				    const struct weir_executor *executor)
{
	const char *name = NULL;
	uint32_t i;

	if (needs_island(flow, executor))
		return weir__flow_called(flow);
	for (i = 0; i < flow->n_up && !name; i++)
		name = weir__flow_needs_island(flow->up[i], executor);
	return name;
}
