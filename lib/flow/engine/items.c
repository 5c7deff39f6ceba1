/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The items that the flows of a blueprint emit, and operators that cannot take
 * them, or of which nobody has said what they emit. This is checked when a flow
 * is checked or started, and not before: weir_flow_items() may be called for a
 * flow that another has taken over.
 */
#include "flow/engine/items.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct weir_items weir__items_any;

const struct weir_items *weir__gives_any(const struct weir_flow *flow)
{
	return &weir__items_any;
}

/* The flow that takes what this one makes its items of. */
static const struct weir_flow *maker_of(const struct weir_flow *flow)
{
	return flow->kind->maker ? flow->kind->maker(flow) : flow;
}

/* Recursion is bounded: see struct weir_flow.
 * NOLINTBEGIN(misc-no-recursion) */

/* The items of the first flow above, if it makes others of them. */
static const struct weir_items *same_items(const struct weir_flow *flow)
{
	const struct weir_flow *maker = maker_of(flow);

	return maker->n_up > 0 ? weir__flow_items(maker->up[0]) : NULL;
}

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
	if (flow->same_items && flow->kind->makes)
		return same_items(flow);
	if (flow->n_up == 0 || flow->kind->makes)
		return NULL;
	return leading(flow, &i);
}

bool weir__items_fit(const struct weir_items *a, const struct weir_items *b)
{
	return a == b || a == &weir__items_any || b == &weir__items_any;
}

/* --- What is wrong -------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void tell(
	struct weir__misfit *misfit, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(misfit->text, sizeof(misfit->text), format, arguments);
	va_end(arguments);
}

const char *weir__items_called(const struct weir_items *items)
{
	if (!items)
		return "plain values";
	return items->name ? items->name : "items without a name";
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

/* Two inputs have different items, and are to have the same. */
static bool inputs_differ(const struct weir_flow *flow,
			  struct weir__misfit *misfit)
{
	uint32_t first, i = 0;
	const char *it, *other;

	/* the flows above a kind with its own build() need not be inputs; a
	 * kind that says what it emits may take others besides */
	if (flow->n_up > 1 && !flow->kind->makes && !flow->kind->build &&
	    !flow->kind->items)
		i = differs(flow, &first);
	if (i == 0)
		return false;
	it = weir__items_called(weir__flow_items(flow->up[i]));
	other = weir__items_called(weir__flow_items(flow->up[first]));
	tell(misfit, "input %u has %s, input %u has %s%s", (unsigned)i + 1, it,
	     (unsigned)first + 1, strcmp(it, other) == 0 ? "other " : "",
	     other);
	return true;
}

/* The items that the operator emits whatever functions of the user's do; any,
 * if it depends on these. */
static const struct weir_items *known(const struct weir_flow *flow)
{
	const struct weir__kind *kind = flow->kind;
	/* flows of a function's */
	bool nests = kind->nests && !kind->lazy && !kind->beside;
	uint32_t i;

	if (kind->items && !nests)
		return kind->items(flow);
	if (flow->n_up == 0 || kind->remakes || nests)
		return &weir__items_any;
	return kind->makes ? NULL : leading(flow, &i);
}

/* Something has been said that is not so. Items that are dropped alike may have
 * a context of the user's. */
static bool is_belied(const struct weir_flow *flow, struct weir__misfit *misfit)
{
	const struct weir_items *said = flow->items, *is;

	if (!flow->has_items && !flow->same_items)
		return false;
	is = known(flow);
	if (flow->same_items)
		said = flow->kind->makes && maker_of(flow)->n_up > 0
			       ? same_items(flow)
			       : is;
	if (weir__items_fit(said, is) ||
	    (said && said->drop && is && said->drop == is->drop))
		return false;
	tell(misfit, "said to emit %s, and emits %s%s",
	     weir__items_called(said),
	     strcmp(weir__items_called(said), weir__items_called(is)) == 0
		     ? "other "
		     : "",
	     weir__items_called(is));
	return true;
}

/* Nobody has said what it makes of items that are no plain values. */
static bool is_unsaid(const struct weir_flow *flow, struct weir__misfit *misfit)
{
	const struct weir_flow *maker = maker_of(flow);
	const struct weir_items *items = NULL;
	uint32_t i;

	if (!flow->kind->remakes || flow->has_items || flow->same_items)
		return false;
	for (i = 0; i < maker->n_up && weir__items_fit(items, NULL); i++)
		items = weir__flow_items(maker->up[i]);
	if (weir__items_fit(items, NULL))
		return false;
	tell(misfit,
	     "takes %s: say by weir_flow_items() what it emits, or by "
	     "weir_flow_same_items() that it is the same",
	     weir__items_called(items));
	return true;
}

static bool refuses(const struct weir_flow *flow, struct weir__misfit *misfit)
{
	const char *why = flow->kind->refuses ? flow->kind->refuses(flow)
					      : NULL;

	if (!why)
		return is_unsaid(flow, misfit) || is_belied(flow, misfit) ||
		       inputs_differ(flow, misfit);
	tell(misfit, "%s", why);
	return true;
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
	misfit->flow = flow->name ? flow : maker_of(flow);
	return true;
}
/* NOLINTEND(misc-no-recursion) */
