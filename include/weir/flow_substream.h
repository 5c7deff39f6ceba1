/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that send parts of a stream through flows of their own: by key, one
 * part behind the other, or by number and time.
 *
 * `make`, a function of yours, composes upon `upstream`, a flow that stands for
 * the items of one part, a substream, and returns the result: a nested flow
 * (flow_async.h).
 *
 * 1. `make` owns `upstream`, and frees it if it does not use it. `upstream` is
 *    of no use outside of the flow that is returned.
 * 2. The returned flow must emit the items that come in, or those that
 *    weir_flow_items() says behind the operator.
 * 3. If `make` returns NULL or a failed flow, it has failed on the first item
 *    of the substream: see weir_flow_supervise(). WEIR_DIRECTIVE_RESTART, after
 *    a failure of `make` or of another function of the operator, ends all
 *    substreams, and the next item begins a new one.
 * 4. The operator drives the flows that it has made. So no substream stands
 *    still because nobody takes from it, and none needs a timeout. Items that
 *    come for a flow that has ended, or that has cancelled `upstream`, are
 *    dropped.
 * 5. An error from upstream comes out of each `upstream`, behind its items, and
 *    also out of the operator, whatever the made flows make of it. The same
 *    holds for an error of weir_flow_group_by() itself, such as too many
 *    groups; items that still wait for room are dropped then.
 * 6. If a made flow fails by itself, the others are cancelled.
 */
#ifndef WEIR_FLOW_SUBSTREAM_H
#define WEIR_FLOW_SUBSTREAM_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- By key -------------------------------------------------------------- */

/*
 * Functions for keys that are not plain numbers. `hash` and `equal` are needed.
 * Plain numbers are hashed with a secret of the executor's (SipHash-1-3); on a
 * simulator the secret is its seed. If strangers choose the keys, give your
 * `hash` a secret, too.
 */
struct weir_flow_key_functions {
	/* Equal keys have equal hashes. */
	uint64_t (*hash)(uintptr_t key, void *context);
	bool (*equal)(uintptr_t a, uintptr_t b, void *context);
	/* Makes *key outlive the item that it was set from: 0, or a negative
	 * errno. NULL: keys outlive their items anyway. */
	int (*keep)(uintptr_t *key, void *context);
	/* Called once for each key that was kept. NULL: nothing to do. Must be
	 * NULL without `keep`. */
	void (*drop)(uintptr_t key, void *context);
};

/* 0 or NULL is the default of each. */
struct weir_flow_group_options {
	/* How many items may wait in front of each group's flow; 0: 16. */
	size_t buffer;
	/*
	 * True: when a group's flow has ended, the next item with its key
	 * begins a new group. False: such items are dropped, and the key is
	 * remembered and counts as a group.
	 */
	bool reopen;
	/* NULL: keys are numbers. Copied. */
	const struct weir_flow_key_functions *keys;
	uint64_t reserved[4]; /* zero */
};

/*
 * Sends items with equal keys through one flow, and emits the items of all
 * these flows. `key` sets *key for the item: 0, or a negative errno. `make`
 * gets the key as it was kept. The stream fails with -EMFILE if there would be
 * more than `max` groups, or with the error of one of the flows.
 *
 * An item is given to its group before the next one is looked at; so if the
 * flows emit a result for each item at once, the results come in the order of
 * the items. While the buffer of one group is full, no item is taken for the
 * others either: a group's flow that waits for an item of another group would
 * wait for ever.
 *
 * `context` is passed to all functions. `options` is copied and may be NULL.
 * -EINVAL: null, `max` or the buffer 0 or above WEIR_CAPACITY_MAX, keys that
 * lack a function, or something in `reserved`.
 *
 * Emits: each item of a group's flow. Completes: when upstream and the flows of
 * all groups have. Cancels: all of them, when downstream does or one has
 * failed. Holds: `max` nested flows, and `buffer` items for each.
 */
WEIR_API struct weir_flow *weir_flow_group_by(
	struct weir_flow *flow, size_t max,
	int (*key)(void *item, uintptr_t *key, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, uintptr_t key,
				  void *context),
	void *context, const struct weir_flow_group_options *options);

/* --- One behind the other ------------------------------------------------ */

/*
 * Begins a substream with the first item, and with each item for which `begins`
 * returns 1. 0: the item belongs to the substream under way. `begins` may also
 * return a negative errno. The next flow is made when the last has ended. If a
 * flow ends early, items are dropped up to the next one that begins a
 * substream. -EINVAL: null.
 *
 * Emits: each item of the substreams' flows. Completes: when upstream and the
 * last flow have. Cancels: both, when downstream does or one has failed. Holds:
 * one nested flow and two items.
 */
WEIR_API struct weir_flow *weir_flow_split_when(
	struct weir_flow *flow, int (*begins)(void *item, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context);

/*
 * As weir_flow_split_when(), but an item for which `ends` returns 1 is the last
 * of its substream. If a flow ends early, the rest of its substream is dropped,
 * the last item included.
 *
 * Emits: each item of the substreams' flows. Completes: when upstream and the
 * last flow have. Cancels: both, when downstream does or one has failed. Holds:
 * one nested flow and one item.
 */
WEIR_API struct weir_flow *weir_flow_split_after(
	struct weir_flow *flow, int (*ends)(void *item, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context);

/* --- Windows -------------------------------------------------------------- */

/* When a window ends: by what comes first. 0: not by that. */
struct weir_flow_window_options {
	uint64_t n;	      /* it has so many items */
	uint64_t within_ns;   /* so long after its first item */
	uint64_t quiet_ns;    /* no item has come for so long: a session */
	uint64_t reserved[4]; /* zero */
};

/*
 * Cuts the stream into windows: substreams that end by number and time. A
 * window begins with the first item behind the last window, so none is empty.
 * The next flow is made when the last has ended. (RxJava: window, Reactor:
 * windowTimeout.)
 *
 * An item belongs to the window in which it is taken from upstream; one item
 * waits for a window's flow that is slow, and none is taken meanwhile. Time
 * counts as quiet only while the operator asks upstream for an item: not while
 * one waits, or downstream asks for none. If a flow ends early, items are
 * dropped up to the end of its window; they count for that end as any others.
 *
 * `options` is copied. -EINVAL: null, nothing by which a window ends, or
 * something in `reserved`. A run fails with -ENOTSUP if there is a time, and
 * the executor has no timers.
 *
 * Emits: each item of the windows' flows. Completes: when upstream and the last
 * flow have. Cancels: both, when downstream does or one has failed. Holds: one
 * nested flow and one item.
 */
WEIR_API struct weir_flow *weir_flow_window(
	struct weir_flow *flow, const struct weir_flow_window_options *options,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context);

/*
 * As weir_flow_window(), but a window ends when `boundary` emits an item; such
 * items are dropped. Those of weir_flow_tick() (flow_source.h) make windows in
 * steps of the clock. Neither items nor boundaries are taken while downstream
 * asks for none. An error of `boundary` counts as one of upstream. When it has
 * completed, the window under way, or the next one, lasts until upstream has,
 * so that a drain, which ends all sources, loses no item. (RxJava: window with
 * a boundary, whose end ends all.) -EINVAL: null.
 *
 * Emits: each item of the windows' flows. Completes: when upstream and the last
 * flow have. Cancels: all of them, when downstream does or one has failed;
 * `boundary`, when upstream and the last flow have completed. Holds: one nested
 * flow and one item.
 */
WEIR_API struct weir_flow *weir_flow_window_by(
	struct weir_flow *flow, struct weir_flow *boundary,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context);

/* --- Behind the first ones ------------------------------------------------ */

/*
 * Gives the first `n` items (all, if there are fewer) to `make`, and the other
 * items to the flow that `make` returns, through `tail`. `make` takes the items
 * over, but not the array. The stream fails if upstream fails before `make` is
 * called, or if `make` returns NULL or a failed flow. A later error of upstream
 * comes out of `tail`, and what the flow makes of it counts. `n` may be 0.
 * -EINVAL: null, `n` above WEIR_CAPACITY_MAX.
 *
 * Emits: each item of the made flow. Completes: when the made flow does.
 * Cancels: the made flow and upstream, when downstream does; upstream, when the
 * made flow has ended or has cancelled `tail`. Holds: `n` items, then one
 * nested flow.
 */
WEIR_API struct weir_flow *weir_flow_prefix_and_tail(
	struct weir_flow *flow, size_t n,
	struct weir_flow *(*make)(void *const *items, size_t n,
				  struct weir_flow *tail, void *context),
	void *context);

#ifdef __cplusplus
}
#endif

#endif
