/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that do several things at once: calls outside of the flow's actors,
 * and flows inside of a flow.
 *
 * A nested flow is made by a function of yours, one for each run, for an item,
 * or for a part of a stream (flow_substream.h), and freed when it has ended. It
 * runs in the actor of the operator that asked for it: weir_flow_async()
 * without an executor does nothing in it, and what needs an actor of its own
 * (weir_flow_async() with another executor, buffers, outlets, circles, ports
 * and subscribers) is -ENOTSUP there, with that operator as its origin. Its
 * items must be what the outer operator is said to put out, by
 * weir_flow_items(): else it is -EINVAL.
 */
#ifndef WEIR_FLOW_ASYNC_H
#define WEIR_FLOW_ASYNC_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Calls at once ------------------------------------------------------- */

enum weir_order {
	WEIR_ORDER_KEPT, /* results come out as their items came in */
	WEIR_ORDER_ANY,	 /* as they are ready */
};

/* 0 or NULL is the default of each. */
struct weir_flow_parallel_options {
	/*
	 * Where the calls run; it lives as long as the flow runs. One whose
	 * turns may block (blocking.h) lets them block. NULL: the executor that
	 * the operator runs on.
	 */
	struct weir_executor *executor;
	uint64_t reserved[3]; /* zero */
};

/*
 * As weir_flow_map(), but up to `n` calls of `map` are made at once, each by an
 * actor of its own and on any thread; so `map` and `context` must bear that. A
 * call that fails is told of as soon as it has, before results of items in
 * front of it; it is one item's failure (see weir_flow_supervise()):
 * WEIR_DIRECTIVE_RESTART is as WEIR_DIRECTIVE_RESUME. An error from upstream
 * comes behind the results of the items before it. After a cancel or a failure
 * calls under way are made to their end and their results dropped; the run is
 * over when they are. `options` is copied and may be NULL. -EINVAL: null, `n` 0
 * or above WEIR_CAPACITY_MAX, a bad order or option. An executor that takes no
 * calls fails the stream with its error.
 *
 * Emits: what `map` has made of an item. Completes: when upstream does and all
 * results are out. Cancels: when downstream does, or a call fails. Holds: `n`
 * items.
 */
WEIR_API struct weir_flow *weir_flow_map_parallel(
	struct weir_flow *flow, size_t n, enum weir_order order,
	int (*map)(void **item, void *context), void *context,
	const struct weir_flow_parallel_options *options);

/* --- Nested flows -------------------------------------------------------- */

/*
 * For each item `make` makes a flow, whose items come out here. `make` takes
 * the item over; if it returns NULL or a failed flow, that is the item's
 * failure (see weir_flow_supervise()), and WEIR_DIRECTIVE_RESTART ends all that
 * are open, as an error from upstream does. At most `breadth` are open at once;
 * with 1 one follows the other, with more they are taken from in turn,
 * whichever has items. Items come out as plain values unless weir_flow_items()
 * says what they are. -EINVAL: null, `breadth` 0 or above WEIR_CAPACITY_MAX.
 *
 * Emits: each item of an open flow. Completes: when upstream and all nested
 * flows have. Cancels: all of them, when downstream does or one has failed.
 * Holds: `breadth` nested flows.
 */
WEIR_API struct weir_flow *weir_flow_flat_map(
	struct weir_flow *flow, size_t breadth,
	struct weir_flow *(*make)(void *item, void *context), void *context);

/*
 * The same with the newest nested flow alone: the one before it is cancelled
 * before the next is made. Items that come at once count as one, the last: the
 * others are dropped.
 *
 * Emits: each item of the newest flow. Completes: when upstream and the newest
 * flow have. Cancels: both, when downstream does or one has failed; the one
 * before, when the next item comes. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_switch_map(
	struct weir_flow *flow,
	struct weir_flow *(*make)(void *item, void *context), void *context);

#ifdef __cplusplus
}
#endif

#endif
