/* SPDX-License-Identifier: BSD-2-Clause */
/* Nested flows: made as a run is, of one flow more, in an island that runs. */
#include "flow/engine/subflow.h"

#include <assert.h>
#include <errno.h>

#include "flow/engine/async.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/build.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"

static bool needs_island(const struct weir_flow *flow,
			 const struct weir_executor *executor)
{
	const struct weir__async *args = (const void *)flow->args;

	if (flow->kind != &weir__async_kind)
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

/* Checks whether the nested flow can be made; if so, claims it. */
static int claim_nested(const struct weir__op *op, struct weir_flow *flow)
{
	int rc = weir__flow_check(flow, NULL, NULL);
	struct weir__misfit misfit;

	if (rc < 0)
		return rc;
	if (flow->taken)
		return -EBUSY;
	/* `op`, which is being pulled, will pull the nested flow */
	if (op->island->n_pulling + flow->depth > WEIR_FLOW_DEPTH_MAX)
		return -E2BIG;
	if (weir__flow_needs_island(flow, op->island->actor.executor))
		return -ENOTSUP;
	return weir__flow_misfit(flow, &misfit) ? -EINVAL
						: weir__flow_claim(flow);
}

/* Makes the operators of `flow`; NULL: *code says why. */
static struct weir__op *nest(struct weir__op *op, const struct weir_flow *flow,
			     int *code)
{
	struct weir__build build = {
		.run = op->island->run,
		.island = op->island,
		.executor = op->island->actor.executor,
		.decide = op->decide,
		.decide_context = op->decide_context,
		.nested = true,
		.code = code,
	};
	struct weir__op *nested = NULL;

	/* the close() of `op` closes the nested operators */
	assert(!op->ended);
	assert(op->kind->nests && op->island->nests);
	*code = -ENOMEM;
	build.tree = weir__tree_new(weir__op_allocator(op));
	if (build.tree)
		nested = weir__build(&build, flow);
	if (!nested)
		weir__tree_unref(build.tree);
	return nested;
}

struct weir__op *weir__op_nest(struct weir__op *op, struct weir_flow *flow,
			       int *code)
{
	struct weir__op *nested;

	*code = claim_nested(op, flow);
	if (*code < 0)
		return NULL;
	nested = nest(op, flow, code);
	if (!nested)
		weir__flow_unclaim(flow);
	return nested;
}

struct weir__op *weir__op_nest_up(struct weir__op *op, uint32_t i, int *code)
{
	assert(op->kind->lazy && i < op->flow->n_up);
	return nest(op, op->flow->up[i], code);
}

void weir__op_free_nested(struct weir__op *nested)
{
	if (!nested)
		return;
	assert(nested->tree != nested->island->tree);
	weir__op_cancel(nested);
	weir__tree_unref(nested->tree);
}
