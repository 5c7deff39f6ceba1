/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several flows made one, where items of one flow decide what becomes of the
 * items of another. As in flow_fan.h, the operator takes over all its inputs,
 * also when it fails.
 */
#ifndef WEIR_FLOW_COMBINE_H
#define WEIR_FLOW_COMBINE_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- The newest items ----------------------------------------------------- */

/*
 * Combines the newest items of all flows, each time a flow has a new item and
 * all have had one. (RxJava: combineLatest.) `combine` makes *result and
 * returns 0; or it returns a negative errno. The `n` items stay the operator's,
 * so `combine` shares or copies what it keeps of them. weir_flow_items() says
 * what results are.
 *
 * First an item of each flow is taken, then items are taken as
 * weir_flow_merge() takes them. The operator fails as soon as one flow fails.
 * -EINVAL: no flows, no function.
 *
 * Emits: what `combine` has made. Completes: when all flows have, or one has
 * without an item. Cancels: the other flows when it completes; all when
 * downstream does. Holds: the newest item of each flow.
 */
WEIR_API struct weir_flow *weir_flow_combine_latest(
	struct weir_flow *const *flows, size_t n,
	int (*combine)(void *const *items, size_t n, void **result,
		       void *context),
	void *context);

/*
 * Combines each item of the flow with the newest item of `other`. (RxJava:
 * withLatestFrom.) `combine` replaces *item by what it has made, or changes it,
 * and returns 0; or it returns a negative errno, and *item, as it was, is
 * dropped. `newest` stays the operator's. The items of the flow that come
 * before the first item of `other` are dropped. weir_flow_items() says what
 * results are.
 *
 * When `other` completes, its newest item stays. The operator fails as soon as
 * one of the two fails. While downstream asks for nothing, items of `other`
 * wait, too. -EINVAL: null.
 *
 * Emits: what `combine` has made. Completes: when the flow does. Cancels:
 * `other` when it completes; both when downstream does. Holds: the newest item
 * of `other`.
 */
WEIR_API struct weir_flow *weir_flow_with_latest_from(
	struct weir_flow *flow, struct weir_flow *other,
	int (*combine)(void **item, void *newest, void *context),
	void *context);

/* --- A sign of another flow ----------------------------------------------- */

/*
 * Passes the items of the flow until `other` emits an item or completes.
 * (RxJava: takeUntil.) Items of `other` may be of any kind; the first is
 * dropped. The operator fails as soon as `other` does. While downstream asks
 * for nothing, an item of `other` waits. -EINVAL: null.
 *
 * Emits: each item of the flow. Completes: when the flow does, when `other`
 * emits an item, or when `other` does. Cancels: `other` behind its item; both
 * when it completes, or when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_take_until(struct weir_flow *flow,
						struct weir_flow *other);

/*
 * Drops the items of the flow until `other` emits an item or completes, and
 * passes those behind. (RxJava: skipUntil.) Else as weir_flow_take_until().
 *
 * Emits: each item of the flow that comes behind the first item, or the end, of
 * `other`. Completes: when the flow does. Cancels: `other` behind its item, or
 * when the flow completes; both when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_skip_until(struct weir_flow *flow,
						struct weir_flow *other);

/* --- The first sign ------------------------------------------------------- */

/*
 * Passes the items of the flow that is the first to emit an item, to complete
 * or to fail; of several at once the first. (RxJava: amb, ambArray; Reactor:
 * firstWithSignal.) -EINVAL: no flows.
 *
 * Emits: each item of that flow. Completes: when that flow does. Cancels: the
 * other flows when it is known which flow that is; all when downstream does.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_amb(struct weir_flow *const *flows,
					 size_t n);

#ifdef __cplusplus
}
#endif

#endif
