/* SPDX-License-Identifier: BSD-2-Clause */
/* How a nested flow is opened, pulled and closed. */
#include "flow/shared/nest.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "flow/engine/blueprint.h"
#include "flow/engine/island.h"
#include "flow/engine/items.h"
#include "flow/engine/subflow.h"

static struct weir_error *error_of(const struct weir__op *op, int code,
				   const char *origin, const char *message)
{
	/* the words are the nested flow's, which goes */
	return weir__error_format(weir__op_allocator(op), code, origin, "%s",
				  message);
}

/* The error of opening a flow that no other operators or items would help: its
 * origin is the operator to blame. NULL: it is another one. */
static struct weir_error *why_unfit(const struct weir__op *op,
				    const struct weir_flow *flow, int code)
{
	struct weir__misfit misfit;
	const char *name = NULL;

	if (code == -E2BIG)
		return error_of(op, code, weir__op_name(op),
				"too many flows upon each other");
	if (code == -EINVAL && weir__flow_misfit(flow, &misfit))
		return error_of(op, code, weir__flow_called(misfit.flow),
				misfit.text);
	if (code == -ENOTSUP)
		name = weir__flow_needs_island(flow,
					       op->island->actor.executor);
	return name ? error_of(op, code, name,
			       "not in a nested flow: needs an actor")
		    : NULL;
}

/* The error of opening a nested flow. Its origin is the operator to blame, if
 * that is in the nested flow. */
static struct weir_error *why_not(const struct weir__op *op,
				  const struct weir_flow *flow, int code,
				  bool *unfit)
{
	const char *origin = weir__op_name(op);
	const char *message = "a nested flow could not be made";
	int rc = flow ? weir__flow_check(flow, &origin, &message) : -EINVAL;
	struct weir_error *error = rc == 0 ? why_unfit(op, flow, code) : NULL;

	*unfit = *unfit || error;
	return error ? error : error_of(op, code, origin, message);
}

static struct weir_error *of_other_items(const struct weir__op *op,
					 const struct weir_flow *flow)
{
	const char *its = weir__items_called(weir__flow_items(flow));
	const char *here = weir__items_called(op->items);

	return weir__error_format(weir__op_allocator(op), -EINVAL,
				  weir__op_name(op),
				  "a nested flow has %s, and here are %s%s: "
				  "see weir_flow_items()",
				  its, strcmp(its, here) == 0 ? "other " : "",
				  here);
}

struct weir_error *weir__nest_open(struct weir__nest *nest, struct weir__op *op,
				   struct weir_flow *flow, bool *unfit)
{
	struct weir_error *error = NULL;
	bool any = false;
	int code;

	if (!unfit)
		unfit = &any;
	/* the nested flow before this one was closed */
	assert(!nest->op && !nest->flow);
	/* another operator has taken the flow over: it is not ours to free */
	nest->flow = flow && flow->taken ? NULL : flow;
	nest->op = weir__op_nest(op, flow, &code);
	if (!nest->op) {
		error = why_not(op, flow, code, unfit);
	} else if (nest->op->items != op->items &&
		   weir__flow_items(flow) != &weir__items_any) {
		error = of_other_items(op, flow);
		*unfit = true;
	} else if (op->delays) {
		nest->op->whole = op;
	}
	if (error)
		weir__nest_close(nest);
	return error;
}

bool weir__nest_open_for_item(struct weir__nest *nest, struct weir__op *op,
			      struct weir_flow *flow)
{
	int code = weir__flow_check(flow, NULL, NULL);
	struct weir_error *error;

	if (code < 0) {
		weir_flow_free(flow);
		weir__op_unmade(op, code);
		return false;
	}
	error = weir__nest_open(nest, op, flow, NULL);
	if (!error)
		return true;
	weir__op_end(op, error);
	weir_error_unref(error);
	return false;
}

size_t weir__nest_pull(struct weir__nest *nest, void **items, size_t room)
{
	struct weir__op *op = nest->op;
	struct weir__island *island = op->island;
	size_t got = 0, tries = op->island->ask;
	bool again = island->again;

	do {
		island->again = false;
		got += weir__pull(op, items + got, room - got);
	} while (island->again && !op->ended && got < room && --tries > 0);
	island->again = island->again || again;
	return got;
}

void weir__nest_close(struct weir__nest *nest)
{
	weir__op_free_nested(nest->op);
	nest->op = NULL;
	weir_flow_free(nest->flow);
	nest->flow = NULL;
}
