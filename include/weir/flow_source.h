/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where flows begin. Sources put out plain values unless weir_flow_items() says
 * what they are.
 */
#ifndef WEIR_FLOW_SOURCE_H
#define WEIR_FLOW_SOURCE_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The items of an array, which is borrowed as long as the flow runs. Those that
 * a run does not put out are not dropped: they stay whose they were. -EINVAL:
 * null, unless `n` is 0.
 *
 * Emits: each item. Completes: behind the last. Cancels: when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_array(void *const *items, size_t n);

/*
 * The whole numbers from `first` to `last`, both included, as (void *)(intptr_t).
 * None if last < first.
 *
 * Emits: the next number. Completes: behind the last. Cancels: when downstream
 * does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_range(int64_t first, int64_t last);

#ifdef __cplusplus
}
#endif

#endif
