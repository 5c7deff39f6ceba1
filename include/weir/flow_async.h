/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that do several things at once: calls outside of the flow's actors,
 * and flows inside of a flow.
 *
 * A nested flow is made by a function of yours: one for each run, for each
 * item, or for each part of a stream (flow_substream.h). It is freed when it
 * has ended.
 *
 * 1. A nested flow runs in the actor of the operator that asked for it. In it,
 *    weir_flow_async() without an executor does nothing. Flows that need an
 *    actor of their own (weir_flow_async() with another executor, buffers,
 *    delays that may drop items, outlets, circles, ports and subscribers) fail
 *    there with -ENOTSUP, and that operator as the origin. All others can be
 *    nested: also those that wait, as weir_flow_delay(), _throttle() and
 *    timeouts, fan-in, weir_flow_map_parallel() on any executor,
 *    weir_flow_from_publisher(), and operators with nested flows of their own.
 * 2. A nested flow must emit the items that the outer operator emits, as
 *    weir_flow_items() says behind it: else -EINVAL. That of
 *    weir_flow_delay_until() may emit any.
 */
#ifndef WEIR_FLOW_ASYNC_H
#define WEIR_FLOW_ASYNC_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Calls at once ------------------------------------------------------- */

enum weir_order {
	WEIR_ORDER_KEPT, /* results in the order of their items */
	WEIR_ORDER_ANY,	 /* results as they are ready */
};

/* 0 or NULL is the default of each. */
struct weir_flow_parallel_options {
	/*
	 * Where the calls run; it lives as long as the flow runs. On an
	 * executor whose turns may block (blocking.h) the calls may block.
	 * NULL: the executor that the operator runs on.
	 */
	struct weir_executor *executor;
	uint64_t reserved[4]; /* zero */
};

/*
 * As weir_flow_map(), but up to `n` calls of `map` run at once, each in an
 * actor of its own and on any thread; `map` and `context` must allow that.
 *
 * 1. A call that fails is reported at once, also before the results of items in
 *    front of it. It is the failure of one item (see weir_flow_supervise());
 *    WEIR_DIRECTIVE_RESTART does the same as WEIR_DIRECTIVE_RESUME.
 * 2. An error from upstream comes behind the results of the items before it.
 * 3. After a cancel or a failure, calls under way are not interrupted, and
 *    their results are dropped; the run is over when they have returned. In a
 *    nested flow that a timeout has ended they go on beside those of the next:
 *    more than `n` may then be under way.
 *
 * `options` is copied and may be NULL. -EINVAL: null, `n` 0 or above
 * WEIR_CAPACITY_MAX, a bad order, or something in `reserved`. If the executor
 * refuses a call, the stream fails with the executor's error.
 *
 * Emits: what `map` has made of an item. Completes: when upstream has, and all
 * results are emitted. Cancels: when downstream does, or a call fails. Holds:
 * `n` items.
 */
WEIR_API struct weir_flow *weir_flow_map_parallel(
	struct weir_flow *flow, size_t n, enum weir_order order,
	int (*map)(void **item, void *context), void *context,
	const struct weir_flow_parallel_options *options);

struct weir_flow_key_functions; /* flow_substream.h */

/*
 * As weir_flow_map_parallel() with WEIR_ORDER_KEPT, but calls for items with
 * equal keys are made one after the other, in the order of the items: as
 * Pekko's mapAsyncPartitioned. `key` sets *key for the item and returns 0, or
 * returns a negative errno, which is the failure of that item. Its calls, and
 * those of `keys`, are made one at a time, at the same time as calls of `map`.
 *
 * `keys` is copied, and gets the same `context`; NULL: keys are numbers. A key
 * that points into its item needs a `keep`, as `map` changes the item. -EINVAL:
 * also where `key` is NULL, or `keys` lacks a function.
 *
 * Emits: what `map` has made of an item. Completes: when upstream has, and all
 * results are emitted. Cancels: when downstream does, or a call fails. Holds:
 * `n` items; those that wait for a call with their key count, too.
 */
WEIR_API struct weir_flow *weir_flow_map_parallel_partitioned(
	struct weir_flow *flow, size_t n,
	int (*key)(void *item, uintptr_t *key, void *context),
	const struct weir_flow_key_functions *keys,
	int (*map)(void **item, void *context), void *context,
	const struct weir_flow_parallel_options *options);

/* --- Nested flows -------------------------------------------------------- */

/*
 * Makes a nested flow for each item, and emits the items of the nested flows.
 * `make` takes the item over. If `make` returns NULL or a failed flow, it has
 * failed on that item (see weir_flow_supervise()); WEIR_DIRECTIVE_RESTART then
 * ends all open nested flows, and so does an error from upstream. At most
 * `breadth` nested flows are open at once. With a `breadth` of 1 one runs after
 * the other; with more, items are taken from them in turn, from whichever has
 * some. Items are plain values unless weir_flow_items() says otherwise.
 * -EINVAL: null, `breadth` 0 or above WEIR_CAPACITY_MAX.
 *
 * Emits: each item of an open nested flow. Completes: when upstream and all
 * nested flows have. Cancels: all of them, when downstream does or one has
 * failed. Holds: `breadth` nested flows.
 */
WEIR_API struct weir_flow *weir_flow_flat_map(
	struct weir_flow *flow, size_t breadth,
	struct weir_flow *(*make)(void *item, void *context), void *context);

/*
 * As weir_flow_flat_map(), and the items come in the order of the items that
 * the nested flows were made for, as if one ran after the other: as RxJava's
 * concatMapEager. Up to `prefetch` items wait of each flow behind the first. An
 * error of a nested flow, or of upstream, comes behind the items of the flows
 * before it; a failure of `make` does not wait for them. -EINVAL: null,
 * `breadth` or `prefetch` 0 or above WEIR_CAPACITY_MAX.
 *
 * Emits: each item of the first open nested flow. Completes: when upstream and
 * all nested flows have. Cancels: all of them, when downstream does or the
 * first has failed. Holds: `breadth` nested flows, and `prefetch` items of
 * each.
 */
WEIR_API struct weir_flow *weir_flow_flat_map_ordered(
	struct weir_flow *flow, size_t breadth, size_t prefetch,
	struct weir_flow *(*make)(void *item, void *context), void *context);

/*
 * Makes a nested flow for each item, drops the items of that flow, and emits
 * the item when the flow has completed. (Reactor: delayUntil.) One item after
 * the other: while one waits, no other is taken. `make` gets the item borrowed
 * as long as the nested flow; that flow may emit items of any kind. If `make`
 * returns NULL or a failed flow, it has failed on that item (see
 * weir_flow_supervise()). If the nested flow fails, so does the stream, and the
 * item is dropped. An error of upstream comes behind the items before it.
 * -EINVAL: null.
 *
 * Emits: an item when its nested flow has completed. Completes: when upstream
 * has, and no item waits. Cancels: both, when downstream does or the nested
 * flow fails. Holds: an item and its nested flow.
 */
WEIR_API struct weir_flow *weir_flow_delay_until(
	struct weir_flow *flow,
	struct weir_flow *(*make)(void *item, void *context), void *context);

/*
 * As weir_flow_flat_map(), with the newest nested flow only: before another is
 * made, the one before it is cancelled. Of items that come together only the
 * last one counts, and the others are dropped.
 *
 * Emits: each item of the newest nested flow. Completes: when upstream and the
 * newest nested flow have. Cancels: both, when downstream does or one of them
 * has failed; the nested flow, when the next item comes. Holds: one nested
 * flow.
 */
WEIR_API struct weir_flow *weir_flow_switch_map(
	struct weir_flow *flow,
	struct weir_flow *(*make)(void *item, void *context), void *context);

#ifdef __cplusplus
}
#endif

#endif
