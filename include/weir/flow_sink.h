/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that take all items and put out one result, or none.
 */
#ifndef WEIR_FLOW_SINK_H
#define WEIR_FLOW_SINK_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Gives each item to `take`: 0, and the item is the function's; or a negative
 * errno, and it is dropped.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_for_each(struct weir_flow *flow,
					      int (*take)(void *item,
							  void *context),
					      void *context);

#ifdef __cplusplus
}
#endif

#endif
