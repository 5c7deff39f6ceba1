/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The items that the flows of a blueprint emit, and operators that cannot take
 * them. This is checked when a flow is checked or started, and not before:
 * weir_flow_items() may be called for a flow that another has taken over.
 */
#include "flow/engine/items.h"

#include <stdio.h>

const struct weir_items weir__items_any;

const struct weir_items *weir__gives_any(const struct weir_flow *flow)
{
	return &weir__items_any;
}

/* Recursion is bounded: see struct weir_flow.
 * NOLINTBEGIN(misc-no-recursion) */

/* The items of the first of several flows above that has items; *i is its
 * index. */
static const struct weir_items *leading(const struct weir_flow *flow,
					uint32_t *i)
{
	const struct weir_items *items = &weir__items_any;
	uint32_t n;

	*i = 0;
	for (n = 0; n < flow->n_up && items == &weir__items_any; n++) {
		items = weir__flow_items(flow->up[n]);
		*i = n;
	}
	return items;
}

const struct weir_items *weir__flow_items(const struct weir_flow *flow)
{
	uint32_t i;

	if (flow->has_items)
		return flow->items;
	if (flow->kind->items)
		return flow->kind->items(flow);
	if (flow->n_up == 0 || flow->kind->makes)
		return NULL;
	return leading(flow, &i);
}

bool weir__items_fit(const struct weir_items *a, const struct weir_items *b)
{
	return a == b || a == &weir__items_any || b == &weir__items_any;
}

/* The index of an input that has other items than the input *first; or 0. */
static uint32_t differs(const struct weir_flow *flow, uint32_t *first)
{
	const struct weir_items *items = leading(flow, first);
	uint32_t i;

	for (i = *first + 1; i < flow->n_up; i++)
		if (!weir__items_fit(weir__flow_items(flow->up[i]), items))
			return i;
	return 0;
}

static bool refuses(const struct weir_flow *flow, struct weir__misfit *misfit)
{
	const char *why = flow->kind->refuses ? flow->kind->refuses(flow)
					      : NULL;
	uint32_t first, i = 0;

	/* the flows above a kind with its own build() need not be inputs; a
	 * kind that says what it emits may take others besides */
	if (flow->n_up > 1 && !flow->kind->makes && !flow->kind->build &&
	    !flow->kind->items)
		i = differs(flow, &first);
	if (why)
		(void)snprintf(misfit->text, sizeof(misfit->text), "%s", why);
	else if (i)
		(void)snprintf(misfit->text, sizeof(misfit->text),
			       "input %u has other items than input %u",
			       (unsigned)i + 1, (unsigned)first + 1);
	return why || i;
}

bool weir__flow_misfit(const struct weir_flow *flow,
		       struct weir__misfit *misfit)
{
	const struct weir_flow *above =
		flow->kind->above ? flow->kind->above(flow) : NULL;
	bool found = above && weir__flow_misfit(above, misfit);
	uint32_t i;

	for (i = 0; i < flow->n_up && !found; i++)
		found = weir__flow_misfit(flow->up[i], misfit);
	if (found || !refuses(flow, misfit))
		return found;
	misfit->flow = flow;
	return true;
}
/* NOLINTEND(misc-no-recursion) */
