/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that send parts of a stream through flows of their own: by key, or
 * one part behind the other.
 *
 * A function of yours, `make`, composes upon `upstream`, which stands for the
 * items of one part, a substream, and returns the flow. It takes `upstream`
 * over; one that it does not use it frees. The flow is a nested one, see
 * flow_async.h; its items must be those that come in, or what weir_flow_items()
 * says behind the operator. If `make` returns NULL or a failed flow, that is
 * the failure of the item that it was to begin with, see weir_flow_supervise().
 * WEIR_DIRECTIVE_RESTART, for this or a function that has failed, ends all
 * substreams, and the next item begins a new one.
 *
 * The operator drives what it has made, and `upstream` is of no use outside of
 * that flow. So there is no substream that nobody takes from, and none has to
 * be given up after a time. Items that a flow does not want any more, as it has
 * ended or cancelled `upstream`, are dropped.
 *
 * An error from upstream comes out of each `upstream`, behind its items, and of
 * the operator, also where the flows make something else of it. So does one of
 * weir_flow_group_by() itself, as where there are too many groups; what still
 * waits for room then is dropped. Where a flow fails by itself, the others are
 * cancelled.
 */
#ifndef WEIR_FLOW_SUBSTREAM_H
#define WEIR_FLOW_SUBSTREAM_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- By key -------------------------------------------------------------- */

/*
 * Keys that are more than a number. `hash` and `equal` are needed. Numbers are
 * hashed by a secret of the executor's (SipHash-1-3), which on a simulator is
 * its seed; where others choose the keys let your hash have a secret, too.
 */
struct weir_flow_key_functions {
	/* Equal keys have equal ones. */
	uint64_t (*hash)(uintptr_t key, void *context);
	bool (*equal)(uintptr_t a, uintptr_t b, void *context);
	/* Makes *key last, beyond the item that it came of: 0, or a negative
	 * errno. NULL: it does. */
	int (*keep)(uintptr_t *key, void *context);
	/* Once for each that was kept. NULL: nothing to do; as it must be
	 * without `keep`. */
	void (*drop)(uintptr_t key, void *context);
};

/* 0 or NULL is the default of each. */
struct weir_flow_group_options {
	/* How many items may wait in front of each group's flow; 0: 16. */
	size_t buffer;
	/*
	 * The next item of a key whose flow has ended begins a new group. Else
	 * it is dropped, and the key is remembered and counts as a group.
	 */
	bool reopen;
	/* NULL: keys are numbers. Copied. */
	const struct weir_flow_key_functions *keys;
	uint64_t reserved[3]; /* zero */
};

/*
 * Items with equal keys go through one flow, and what comes out of all of them
 * comes out here. `key` sets the item's *key: 0, or a negative errno. `make`
 * gets the key, as it was kept. The stream fails with -EMFILE where there would
 * be more than `max` groups, or with the error of one of the flows.
 *
 * An item is given to its group before the next is looked at, so results of
 * flows that put out at once come in the order of their items. While a group
 * has as many items waiting as it may, no item is taken for the others either:
 * one whose flow waits for another group's would wait for ever.
 *
 * `context` is passed to all functions. `options` is copied and may be NULL.
 * -EINVAL: null, `max` or the buffer 0 or above WEIR_CAPACITY_MAX, bad options.
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
 * The first item begins a substream, and so does each for which `begins`
 * returns 1 (0: it belongs to the one before; or a negative errno). The next
 * flow is made when the last has ended. What comes when a flow has ended early
 * is dropped, up to the next that begins one. -EINVAL: null.
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
 * The same, but an item for which `ends` returns 1 is the last of its
 * substream; what comes when a flow has ended early is dropped, that item
 * included.
 *
 * Emits: each item of the substreams' flows. Completes: when upstream and the
 * last flow have. Cancels: both, when downstream does or one has failed. Holds:
 * one nested flow and one item.
 */
WEIR_API struct weir_flow *weir_flow_split_after(
	struct weir_flow *flow, int (*ends)(void *item, void *context),
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context);

/*
 * The first `n` items, or all if there are fewer, are given to `make`, and the
 * others to the flow that it returns. It takes the items over, but not the
 * array. The stream fails if upstream does before that, or if there is no such
 * flow; an error of upstream behind those items comes out of `tail`, and what
 * the flow makes of it counts. `n` may be 0. -EINVAL: null, `n` above
 * WEIR_CAPACITY_MAX.
 *
 * Emits: each item of the made flow. Completes: when that does. Cancels: the
 * made flow and upstream, when downstream does or the made flow has ended;
 * upstream also when the made flow does. Holds: `n` items, then one nested
 * flow.
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
