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

/* --- Those of about the same time ----------------------------------------- */

struct weir_flow_join_options {
	/* How long an item of the flow stays open, from when it comes;
	 * WEIR_FOREVER: until the end. Not 0. */
	uint64_t left_ns, right_ns;
	/* The most items of the flow that are open at a time. */
	size_t left_max, right_max;
	uint64_t reserved[4]; /* zero */
};

/*
 * Joins the items of two flows that are open at the same time. (RxJava: join;
 * Flink, Kafka Streams: interval join.) An item that comes is open for a while,
 * and `join` is called for it and each open item of the other flow, in the
 * order in which these came. `join` makes *result of the pair and returns 1; or
 * it returns 0, and the pair makes none; or it returns a negative errno. `left`
 * and `right` stay the operator's, which drops them when their time is over; so
 * `join` shares or copies what it keeps of them. weir_flow_items() says what
 * results are.
 *
 * 1. An item comes when the operator takes it, which is when downstream has
 *    asked. It meets all that are open then: as long as downstream leaves some
 *    of its results waiting, no time is over, and no other item is taken.
 * 2. A flow with `left_max` or `right_max` open items is not asked for more
 *    until the time of the oldest one is over. Where that is WEIR_FOREVER, one
 *    item more fails the operator: -EOVERFLOW.
 * 3. When a flow has completed, the open items of the other are dropped, as
 *    nothing can come that they could meet.
 * 4. The operator fails as soon as one of the two does, and drops what waits.
 *
 * -EINVAL: null, a time or a number that is 0, a number above
 * WEIR_CAPACITY_MAX, or something in `reserved`. A run fails with -ENOTSUP when
 * an item is to close, and the executor has no timers.
 *
 * Emits: what `join` has made. Completes: when both flows have, or one has and
 * none of its items is open. Cancels: the other flow when it completes; both
 * when downstream does. Holds: `left_max` and `right_max` items.
 */
WEIR_API struct weir_flow *weir_flow_join(
	struct weir_flow *left, struct weir_flow *right,
	int (*join)(void *left, void *right, void **result, void *context),
	void *context, const struct weir_flow_join_options *options);

/*
 * Joins each item of `left` with all items of `right` that it has met, when its
 * time is over. (RxJava: groupJoin, with an array for each flow.) `join` makes
 * *result of `left` and the `n` items, in the order in which these came, of
 * which there may be none; it returns as that of weir_flow_join() does. They
 * stay the operator's, as the array `rights` does.
 *
 * An item of `left` meets the items of `right` that are open when it comes, and
 * all that come while it is open. An item of `right` stays until its time and
 * that of all that it has met is over: there are at most `right_max`, and
 * `right` is not asked for more. Where time makes no room, as one of the two
 * is open for ever, one item more fails the operator: -EOVERFLOW.
 *
 * As long as an item of `left` whose time is over waits because downstream does
 * not ask, no other item is taken. When `right` has completed, all items of
 * `left` close at once, and so do those that come later. Else as
 * weir_flow_join().
 *
 * Emits: what `join` has made. Completes: when `left` has, and none of its
 * items is open. Cancels: `right` when it completes; both when downstream does.
 * Holds: `left_max` and `right_max` items.
 */
WEIR_API struct weir_flow *weir_flow_group_join(
	struct weir_flow *left, struct weir_flow *right,
	int (*join)(void *left, void *const *rights, size_t n, void **result,
		    void *context),
	void *context, const struct weir_flow_join_options *options);

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
