/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several flows made one, and one made several. What takes several flows takes
 * over all of them, also when it fails. Inputs that have boundaries above are
 * actors of their own, with room for WEIR_FLOW_BATCH items between, and so run
 * ahead; others are fused, and run when they are asked.
 *
 * Where items pass through, all inputs must have the same weir_flow_items(); a
 * run of a flow where they differ fails with -EINVAL.
 */
#ifndef WEIR_FLOW_FAN_H
#define WEIR_FLOW_FAN_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Several flows made one -------------------------------------------------- */

/*
 * The items of all flows, in the order of each, as they come: from one after
 * the other in turn, as many as there are. Fails as the first one does; -EINVAL:
 * no flows.
 *
 * Emits: an item of any. Completes: when all have. Cancels: all of them, when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge(struct weir_flow *const *flows,
					   size_t n);

/*
 * The same, which is over with the first flow that is.
 *
 * Emits: an item of any. Completes: when one has. Cancels: the others when one
 * has completed; all when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge_eager(struct weir_flow *const *flows,
						 size_t n);

/*
 * A merge that asks earlier flows first each time: the second when the first
 * has nothing, and so on.
 *
 * Emits: an item of the first that has one. Completes: when all have. Cancels:
 * all of them, when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge_preferred(
	struct weir_flow *const *flows, size_t n);

/*
 * The first items of all flows together, then the second ones: `combine` makes
 * *result of the `n` items, which are its own then, and returns 0; or it returns
 * a negative errno, and they are dropped. What comes out are plain values, or
 * what weir_flow_items() says. The error of a flow comes behind its items;
 * -EINVAL: no flows.
 *
 * Emits: what `combine` has made. Completes: when one flow has and its items are
 * combined. Cancels: the others then; all when downstream does. Holds: up to
 * WEIR_FLOW_BATCH items of each flow, no more than were asked for; dropped at the
 * end.
 */
WEIR_API struct weir_flow *weir_flow_zip(struct weir_flow *const *flows,
					 size_t n,
					 int (*combine)(void *const *items,
							size_t n, void **result,
							void *context),
					 void *context);

/*
 * One flow after the other. Later ones are opened with the first: those that are
 * actors of their own run ahead into their links, those that are fused are not
 * asked before their time. -EINVAL: no flows.
 *
 * Emits: the items of the first flow, then those of the next. Completes: when
 * the last has. Cancels: all that are left, when downstream does or one fails.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_concat(struct weir_flow *const *flows,
					    size_t n);

/*
 * What `first` puts out comes before the flow; as weir_flow_concat() of the two.
 *
 * Emits: the items of `first`, then those of the flow. Completes: when the flow
 * has. Cancels: both, when downstream does or one fails. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_prepend(struct weir_flow *flow,
					     struct weir_flow *first);

/*
 * `other` instead of a flow that completes with no items; opened as those of
 * weir_flow_concat().
 *
 * Emits: the items of the flow, or of `other`. Completes: when that has whose
 * items they are. Cancels: `other` with the first item of the flow; both when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_or_else(struct weir_flow *flow,
					     struct weir_flow *other);

#ifdef __cplusplus
}
#endif

#endif
